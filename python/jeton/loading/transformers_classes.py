"""The tokenizer classes of transformers, and which of them read a `tokenizer.json` unchanged.

If a class has an `__init__` of its own, transformers 5 reads only vocabulary, merges and
post-processor from the file; normalizer, pre-tokenizer and the options of the model come from the
class. A Python class does not read the file at all. Look here if transformers has a new class: a
test compares the names with those of the installed version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from jeton.loading.languages import whisper_code
from jeton.loading.settings import json_value

AS_IT_STANDS: Final = "PreTrainedTokenizerFast"
"""The class for which transformers, 4 and 5, reads a `tokenizer.json` unchanged."""

_OWN_STAGES: Final = frozenset(
    """
    Albert Bart Barthez Bert BertGeneration BertJapanese BertTokenizerLegacy Bartpho Bertweet
    BigBird BioGpt Blenderbot BlenderbotSmall ByT5 CLIP CTRL Camembert Canine Clvp CodeGen
    CodeLlama Cohere ConvBert Cpm CpmAnt DPRContextEncoder DPRQuestionEncoder DPRReader Deberta
    DebertaV2 Dia DistilBert Electra Esm Esmc FNet FSMT FastSpeech2Conformer Flaubert Funnel
    GPT2 GPTNeoX GPTNeoXJapanese GPTSw3 Gemma Herbert LED Lasr LayoutLM LayoutLMv2 LayoutLMv3
    LayoutXLM Llama Longformer Luke Lxmert M2M100 MBart MBart50 MLuke MPNet Marian MarkupLM
    Mgpstr MistralCommonBackend MobileBert Mvp MyT5 Nllb Nougat OpenAIGPT PLBart Pegasus
    Perceiver Phobert ProphetNet Qwen2 Qwen3_5 Reformer RemBert RoCBert RoFormer Roberta
    SeamlessM4T Siglip Siglip2 Speech2Text SpeechT5 Splinter SqueezeBert T5 Tapas Tipsv2 Udop
    VideoPrism Vits Wav2Vec2CTC Wav2Vec2PhonemeCTC Whisper XGLM XLM XLMRoberta XLNet
    """.split()
)
"""Names without `Tokenizer` and `Fast` at their end, and old names of such classes."""

_WITH_TYPE_IDS: Final = frozenset(
    "Bert Canine ConvBert DPRContextEncoder DPRQuestionEncoder Deberta DebertaV2 Electra FNet "
    "LayoutLM LayoutLMv2 Lxmert MarkupLM MobileBert SqueezeBert Tapas".split()
)
"""The classes whose models take `token_type_ids`."""
_WITHOUT_MASK: Final = frozenset(["FNet"])
"""The classes whose models take no `attention_mask`."""
_PADDED_LEFT: Final = frozenset("CodeLlama Cohere Gemma Llama Siglip2 XLNet".split())
"""The classes that pad on the left by default."""

_BPE: Final = {
    "type": "BPE",
    "dropout": None,
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": False,
    "ignore_merges": False,
}
_END: Final = "<|endoftext|>"
_QWEN2_WORDS: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def bare_name(config: Mapping[str, Any]) -> str:
    """The class of a configuration without `Tokenizer` and `Fast` at its end; empty without one."""
    name = str(config.get("tokenizer_class") or "")
    return name.removesuffix("Fast").removesuffix("Tokenizer")


LANGUAGE_CLASS: Final = "language_class"
"""The field of a configuration that names a class with languages where another reads the file."""


def language_class(config: Mapping[str, Any]) -> str | None:
    """The class of a configuration if it has languages, as `bare_name` has it."""
    name = config.get(LANGUAGE_CLASS) or bare_name(config)
    return name if name in ("MBart", "MBart50", "Nllb", "M2M100", "Whisper") else None


def input_names(name: str) -> list[str]:
    """The default inputs of the models of a class."""
    types = ["token_type_ids"] * (name in _WITH_TYPE_IDS)
    return ["input_ids", *types, *["attention_mask"] * (name not in _WITHOUT_MASK)]


def padding_side(name: str) -> Literal["left", "right"]:
    """The side on which a class pads by default."""
    return "left" if name in _PADDED_LEFT else "right"


def builds_other_stages(config: Mapping[str, Any], tokenizer_json: str) -> bool:
    """Whether the class of a folder builds other stages than its `tokenizer.json` has.

    This is also true for a class whose stages are not known here. For a class that transformers
    does not have, it reads the file unchanged.

    Args:
        config: The content of `tokenizer_config.json`.
        tokenizer_json: The text of `tokenizer.json`.
    """
    name = bare_name(config)
    if name not in _OWN_STAGES:
        return False
    return name not in _ROLES or not _has_stages(name, config, json_value(tokenizer_json))


_BERT_ROLES: Final = {role: f"[{role.upper()}]" for role in ("unk", "sep", "pad", "cls", "mask")}
_ROBERTA_ROLES: Final = {
    "unk": "<unk>",
    "sep": "</s>",
    "pad": "<pad>",
    "cls": "<s>",
    "mask": "<mask>",
    "bos": "<s>",
    "eos": "</s>",
}
_GPT2_ROLES: Final = dict.fromkeys(("unk", "bos", "eos"), _END)
_ROLES: Final[Mapping[str, Mapping[str, str]]] = {
    "GPT2": _GPT2_ROLES,
    "GPTNeoX": {**_GPT2_ROLES, "pad": "<|padding|>"},
    "Roberta": _ROBERTA_ROLES,
    "Bart": _ROBERTA_ROLES,
    "Qwen2": dict.fromkeys(("unk", "eos", "pad"), _END),
    "Bert": _BERT_ROLES,
    "DistilBert": _BERT_ROLES,
}
"""For classes of which all is known that they build: the tokens that they add if they lack them."""


def _has_stages(name: str, config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> bool:
    """Whether a `tokenizer.json` has the stages that the class builds."""
    of_class, model = _STAGES[name][1](config), tokenizer["model"]
    stages = ("normalizer", "pre_tokenizer")
    return (
        all(_compared(tokenizer[stage]) == _compared(of_class[stage]) for stage in stages)
        # An empty prefix or suffix counts as none.
        and all(
            (model.get(it) or None) == (value or None) for it, value in of_class["model"].items()
        )
        and _has_frame(name, config, tokenizer["post_processor"])
        and _knows(config, tokenizer, _ROLES[name])
    )


def _compared(stage: Any) -> Any:
    """A stage as it is compared: without what has no effect on tokens, with what is left out."""
    if isinstance(stage, list):
        return [_compared(it) for it in stage]
    if not isinstance(stage, dict):
        return stage
    fields = {name: _compared(it) for name, it in stage.items() if name != "trim_offsets"}
    return {"use_regex": True, **fields} if fields.get("type") == "ByteLevel" else fields


def _has_frame(name: str, config: Mapping[str, Any], processor: Any) -> bool:
    """Whether a post-processor is the one that the class needs, if it needs one."""
    frame = processor or {"type": None}
    if name in ("Bert", "DistilBert"):
        return _is_berts_frame(processor, config)
    if name in ("Roberta", "Bart"):
        return frame["type"] == "RobertaProcessing" and all(
            frame[role][0] == _spelling(config, role, _ROBERTA_ROLES[role])
            for role in ("cls", "sep")
        )
    if name == "GPTNeoX":
        kinds = (None, "ByteLevel", "TemplateProcessing")
        return frame["type"] in kinds and not frame.get("special_tokens")
    return True


def _knows(
    config: Mapping[str, Any], tokenizer: Mapping[str, Any], roles: Mapping[str, str]
) -> bool:
    """Whether the tokenizer has the tokens of these roles, by default those of the class.

    A missing token would be added with an id that the embedding of the model lacks.
    """
    tokens = {token["content"] for token in tokenizer["added_tokens"]}
    tokens |= tokenizer["model"]["vocab"].keys()
    spellings = (_spelling(config, role, token) for role, token in roles.items())
    return all(token is None or token in tokens for token in spellings)


def _spelling(config: Mapping[str, Any], role: str, default: str) -> str | None:
    token = config.get(f"{role}_token", default)
    return token.get("content") if isinstance(token, dict) else token


def _is_berts_frame(processor: object, config: Mapping[str, Any]) -> bool:
    """Whether it puts `[CLS] A [SEP]` around a text, and `[CLS] A [SEP] B [SEP]` around two."""
    cls, sep = (_spelling(config, role, f"[{role.upper()}]") for role in ("cls", "sep"))
    if not isinstance(processor, dict):
        return False
    if processor["type"] == "BertProcessing":
        return bool(processor["cls"][0] == cls and processor["sep"][0] == sep)
    first = [
        {"SpecialToken": {"id": cls, "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": sep, "type_id": 0}},
    ]
    second = [
        {"Sequence": {"id": "B", "type_id": 1}},
        {"SpecialToken": {"id": sep, "type_id": 1}},
    ]
    return processor.get("single") == first and processor.get("pair") == [*first, *second]


def stages_unknown(config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> bool:
    """Whether the class of a configuration builds stages that are not known here.

    Args:
        config: The content of `tokenizer_config.json`.
        tokenizer: The content of `tokenizer.json`.
    """
    name = bare_name(config)
    if name not in _OWN_STAGES or _is_read_as_it_stands(name, tokenizer):
        return False
    return rebuilt(config, tokenizer) is None


def _is_read_as_it_stands(name: str, tokenizer: Mapping[str, Any]) -> bool:
    """Whether transformers 5 itself reads the file unchanged, because its class would break it.

    This is so for a byte-level file, such as Llama 3's, with the class of Llama 2.
    """
    return name == "Llama" and "ByteLevel" in json.dumps(tokenizer["pre_tokenizer"])


def rebuilt(config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The tokenizer that transformers 5 builds from a `tokenizer.json` for the class of a config.

    It reads the vocabulary, merges, added tokens and post-processor from the file; the other stages
    come from the class. `None` if the class reads the file unchanged, or its stages are not known.

    Args:
        config: The content of `tokenizer_config.json`.
        tokenizer: The content of `tokenizer.json`.
    """
    name = bare_name(config)
    stages = _STAGES.get(name)
    model = tokenizer["model"]
    if _is_read_as_it_stands(name, tokenizer):
        return None
    if stages is None or model.get("type", "BPE") != stages[0]:
        return None
    of_class = stages[1](config)
    of_file = {name: model[name] for name in ("vocab", "merges") if name in model}
    return {**tokenizer, **of_class, "model": {**of_class["model"], **of_file}}


_SPLIT_AT_SPACE: Final = frozenset("Albert Camembert MBart T5 XLMRoberta XLNet".split())
"""Classes with a SentencePiece model for which transformers 5 splits text at white space."""


_PLACES: Final = {
    "always": "each text between added tokens",
    "first": "the beginning alone",
    "never": "no text",
}


def differs_in_transformers_5(config: Mapping[str, Any], stages: Mapping[str, Any]) -> str | None:
    """How transformers 5 treats text otherwise for a class, where that is known of these stages.

    Args:
        config: The content of `tokenizer_config.json`.
        stages: The stages of the `tokenizer.json`, without its model.
    """
    name = bare_name(config)
    if name == "Whisper":
        of_class = _around_speech(config)
        of_file = _around(stages.get("post_processor"))
        if of_class is None or of_class == of_file:
            return None
        said = [" ".join(it) or "no token" for it in (of_class, of_file)]
        return f"around a text it puts {said[0]}, and the file {said[1]}"
    steps, kinds = _steps(stages.get("pre_tokenizer")), _steps(stages.get("normalizer"))
    if name in _SPLIT_AT_SPACE and "Metaspace" in steps and "WhitespaceSplit" not in steps:
        if "Precompiled" not in kinds:
            return "it splits text at white space, so line ends and several spaces get lost"
        return "it splits text at white space, so spaces at the ends of a text get lost"
    if name == "Llama" and "ByteLevel" not in steps:
        of_class = _llama_stages(config)["pre_tokenizer"]["prepend_scheme"]
        of_file = (stages.get("pre_tokenizer") or {}).get("prepend_scheme", "never")
        if "Prepend" in kinds and of_class == "always":
            return "it puts no space in front of a text that begins with one, and the file does"
        if ("always" if "Prepend" in kinds else of_file) != of_class:
            return (
                f"by legacy={config.get('legacy')} it puts a space in front of "
                f"{_PLACES[of_class]}, and the file does not"
            )
    return None


def _around_speech(config: Mapping[str, Any]) -> list[str] | None:
    """The tokens that Whisper's class puts around a text; `None` if it has no such language."""
    language, task = config.get("language"), config.get("task")
    code = whisper_code(language) if isinstance(language, str) else ""
    if code is None:
        return None
    before = ["<|startoftranscript|>", *[f"<|{it}|>" for it in (code, task) if it]]
    before += [] if config.get("predict_timestamps") else ["<|notimestamps|>"]
    return [*before, _spelling(config, "eos", "<|endoftext|>") or ""]


def _around(post_processor: Any) -> list[str]:
    """The tokens that a post-processor puts around a text."""
    if not isinstance(post_processor, Mapping):
        return []
    pieces = post_processor.get("single") or ()
    return [it["SpecialToken"]["id"] for it in pieces if "SpecialToken" in it]


def _steps(stage: Any) -> set[str]:
    """The types of a stage, or of the steps in it."""
    if not isinstance(stage, Mapping):
        return set()
    inner = stage.get("normalizers") or stage.get("pretokenizers") or [stage]
    return {str(it.get("type")) for it in inner if isinstance(it, Mapping)}


def _of_bytes(config: Mapping[str, Any], **stages: object) -> dict[str, Any]:
    prefix = bool(config.get("add_prefix_space"))
    return {
        "model": _BPE,
        "normalizer": None,
        "pre_tokenizer": _bytes_by_pattern(prefix, use_regex=True),
        "decoder": _bytes_by_pattern(True, use_regex=True),
        **stages,
    }


def _bytes_by_pattern(prefix: bool, *, use_regex: bool) -> dict[str, Any]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": prefix,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def _qwen2_stages(config: Mapping[str, Any]) -> dict[str, Any]:
    split = {
        "type": "Split",
        "pattern": {"Regex": _QWEN2_WORDS},
        "behavior": "Isolated",
        "invert": False,
    }
    steps = [split, _bytes_by_pattern(bool(config.get("add_prefix_space")), use_regex=False)]
    pre_tokenizer = {"type": "Sequence", "pretokenizers": steps}
    return _of_bytes(config, normalizer={"type": "NFC"}, pre_tokenizer=pre_tokenizer)


def _replace(text: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


def _llama_stages(config: Mapping[str, Any]) -> dict[str, Any]:
    prefix = config.get("add_prefix_space") in (None, True)
    decoders = [_replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
    if prefix:
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    # With `legacy`, text after an added token gets a space too.
    scheme = "never" if not prefix else "always" if config.get("legacy") else "first"
    return {
        "model": {**_BPE, "fuse_unk": True, "byte_fallback": True},
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": scheme,
            "split": False,
        },
        "decoder": {"type": "Sequence", "decoders": decoders},
    }


def _gemma_stages(config: Mapping[str, Any]) -> dict[str, Any]:
    unknown = _spelling(config, "unk", "<unk>")
    return {
        "model": {**_BPE, "fuse_unk": True, "byte_fallback": True, "unk_token": unknown},
        "normalizer": _replace(" ", "▁"),
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [_replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}],
        },
    }


def _bert_stages(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": {
            "type": "WordPiece",
            "unk_token": _spelling(config, "unk", "[UNK]"),
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": config.get("tokenize_chinese_chars", True),
            "strip_accents": config.get("strip_accents"),
            "lowercase": config.get("do_lower_case", True),
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    }


def _gpt_neox_stages(config: Mapping[str, Any]) -> dict[str, Any]:
    return _of_bytes(config, normalizer={"type": "NFC"})


_STAGES: Final[Mapping[str, tuple[str, Callable[[Mapping[str, Any]], dict[str, Any]]]]] = {
    **dict.fromkeys(
        "Bart CodeGen Deberta GPT2 LED Longformer Luke Mvp Roberta Whisper".split(),
        ("BPE", _of_bytes),
    ),
    **dict.fromkeys(
        """
        Bert DistilBert Electra LayoutLM LayoutLMv2 Lxmert MPNet MobileBert Splinter SqueezeBert
        """.split(),
        ("WordPiece", _bert_stages),
    ),
    "GPTNeoX": ("BPE", _gpt_neox_stages),
    "Qwen2": ("BPE", _qwen2_stages),
    "Llama": ("BPE", _llama_stages),
    "Gemma": ("BPE", _gemma_stages),
}
"""For classes whose stages are known: the type of their model, and the stages around it."""
