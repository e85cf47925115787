"""Tokenizers with the flags of published ones: which control tokens are marked special, which not.

The vocabulary is small; the added tokens that a family's templates write are special where the
family's `tokenizer_config.json` says so. Seen in such files, or quoted from
them by others: Qwen 2.5 and 3, Phi 3.5, DeepSeek R1. The rest are from memory.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass

import jeton
from chat_cases import ROLES, byte_level

__all__ = ["FLAGS", "Flags", "as_published", "unmarked"]


@dataclass(frozen=True)
class Flags:
    """The added tokens of a family."""

    template: str
    """The name of its template in `chat_cases.templates`."""
    special: str
    plain: str = ""
    """Those that are not marked special."""
    rstrip: str = ""
    """Those of both that take the white space after them."""


_QWEN = (
    "<|endoftext|> <|im_start|> <|im_end|> <|vision_start|> <|vision_end|> <|image_pad|> "
    "<|video_pad|>"
)
_QWEN_PLAIN = "<tool_call> </tool_call> <|fim_prefix|> <|fim_suffix|> <|repo_name|> <|file_sep|>"
_THINKING = "<think> </think> <tool_response> </tool_response>"
_LLAMA = (
    "<|begin_of_text|> <|end_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|> <|eom_id|> "
    "<|python_tag|>"
)
_MISTRAL = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] "
    "[/TOOL_RESULTS] [TOOL_CALLS]"
)
_DEEPSEEK = "<｜begin▁of▁sentence｜> <｜end▁of▁sentence｜> <｜▁pad▁｜> <|EOT|>"
_DEEPSEEK_PLAIN = (
    "<｜User｜> <｜Assistant｜> <think> </think> <｜tool▁calls▁begin｜> <｜tool▁calls▁end｜> "
    "<｜tool▁call▁begin｜> <｜tool▁call▁end｜> <｜tool▁outputs▁begin｜> <｜tool▁outputs▁end｜> "
    "<｜tool▁output▁begin｜> <｜tool▁output▁end｜> <｜tool▁sep｜>"
)

FLAGS = {
    "Qwen 2.5": Flags("Qwen-Qwen2.5-7B-Instruct", _QWEN, _QWEN_PLAIN),
    "Qwen 3": Flags("Qwen-Qwen3-0.6B", _QWEN, f"{_QWEN_PLAIN} {_THINKING}"),
    "Qwen 3.5": Flags("Qwen3.5-4B", _QWEN, f"{_QWEN_PLAIN} {_THINKING}"),
    "Llama 3.1": Flags("meta-llama-Llama-3.1-8B-Instruct", _LLAMA),
    "Mistral Nemo": Flags("mistralai-Mistral-Nemo-Instruct-2407", _MISTRAL),
    "Mistral Small": Flags(
        "Mistral-Small-3.2-24B-Instruct-2506",
        f"{_MISTRAL} [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [ARGS] [CALL_ID] [TOOL_CONTENT] [IMG]",
    ),
    "Gemma 2": Flags(
        "google-gemma-2-2b-it",
        "<pad> <eos> <bos> <unk> <start_of_turn> <end_of_turn>",
        "<mask> <2mass> [@BOS@] <unused0> <table> </table> <h1> </h1>",
    ),
    "Phi 3.5": Flags(
        "microsoft-Phi-3.5-mini-instruct",
        "<s> <unk> <|endoftext|> <|assistant|> <|system|> <|end|> <|user|>",
        "</s>",
        rstrip="</s> <|assistant|> <|system|> <|end|> <|user|>",
    ),
    "DeepSeek R1": Flags("deepseek-ai-DeepSeek-R1-Distill-Llama-8B", _DEEPSEEK, _DEEPSEEK_PLAIN),
    "DeepSeek V3.1": Flags("deepseek-ai-DeepSeek-V3.1", _DEEPSEEK, _DEEPSEEK_PLAIN),
    "GLM 4.6": Flags(
        "GLM-4.6",
        "<|endoftext|> [gMASK] <sop> <|system|> <|user|> <|assistant|> <|observation|>",
        f"{_THINKING} <tool_call> </tool_call> <arg_key> </arg_key> <arg_value> </arg_value> "
        "/nothink",
    ),
    "Kimi K2": Flags(
        "Kimi-K2-Instruct",
        "[BOS] [EOS] <|im_end|> <|im_user|> <|im_assistant|> <|im_system|> <|im_middle|>",
        "<|tool_calls_section_begin|> <|tool_calls_section_end|> <|tool_call_begin|> "
        "<|tool_call_argument_begin|> <|tool_call_end|>",
    ),
    "gpt-oss": Flags(
        "openai-gpt-oss-120b",
        "<|startoftext|> <|endoftext|> <|start|> <|end|> <|message|> <|channel|> <|constrain|> "
        "<|return|> <|call|>",
    ),
    "Command R7B": Flags(
        "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
        "<PAD> <UNK> <BOS_TOKEN> <EOS_TOKEN> <|END_OF_TURN_TOKEN|>",
        "<|START_OF_TURN_TOKEN|> <|USER_TOKEN|> <|CHATBOT_TOKEN|> <|SYSTEM_TOKEN|> "
        "<|START_THINKING|> <|END_THINKING|> <|START_RESPONSE|> <|END_RESPONSE|> <|START_ACTION|> "
        "<|END_ACTION|> <|START_TOOL_RESULT|> <|END_TOOL_RESULT|>",
    ),
    "Granite 3.3": Flags(
        "ibm-granite-granite-3.3-2B-Instruct",
        "<|end_of_text|> <|start_of_role|> <|end_of_role|> <|tool_call|> <|start_of_cite|> "
        "<|end_of_cite|>",
        "<fim_prefix> <reponame>",
    ),
    "Hermes 3": Flags(
        "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
        "<|begin_of_text|> <|end_of_text|> <|im_start|> <|im_end|>",
        "<tools> </tools> <tool_call> </tool_call> <tool_response> </tool_response>",
    ),
    "functionary": Flags("meetkai-functionary-medium-v3.2", _LLAMA),
    "SmolLM 3": Flags(
        "HuggingFaceTB-SmolLM3-3B",
        "<|begin_of_text|> <|end_of_text|> <|im_start|> <|im_end|>",
        f"{_THINKING} <tool_call> </tool_call> <code> </code>",
    ),
}


@functools.cache
def as_published(family: str) -> jeton.Tokenizer:
    """A tokenizer with the added tokens of a family, and their flags."""
    flags = FLAGS[family]
    plain = flags.plain.split()
    special = dict.fromkeys([*flags.special.split(), *ROLES.values()])
    added = [
        jeton.AddedToken(
            it, special=it not in plain, rstrip=it in flags.rstrip.split(), normalized=False
        )
        for it in [*(it for it in special if it not in plain), *plain]
    ]
    bare = byte_level("").replace(added_tokens=[])
    return bare.with_added_tokens(added).replace(roles=ROLES)


@functools.cache
def unmarked(template: str) -> jeton.Tokenizer:
    """A tokenizer in which no control token of a template is marked special."""
    tok = byte_level(template)
    tokens = [
        dataclasses.replace(it, special=it.content in ROLES.values())
        for it in tok.stages.added_tokens
    ]
    return tok.replace(added_tokens=tokens)
