"""The stages that transformers 5 builds by the class of a folder with a `tokenizer.json`.

If a class has an `__init__` of its own, transformers 5 reads only vocabulary, merges and
post-processor from the file; normalizer, pre-tokenizer and the options of the model come from the
class. A Python class does not read the file at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from jeton.components import Regex, decoders, normalizers, pre_tokenizers
from jeton.loading.class_folders.classes import CLASSES
from jeton.loading.class_folders.known_class import CLS_SEP
from jeton.loading.patterns import named_expression
from jeton.loading.settings import json_value
from jeton.loading.transformers_classes import OWN_STAGES, bare_name, llama_scheme, spelling


def builds_other_stages(config: Mapping[str, Any], tokenizer_json: str) -> bool:
    """Whether the class of a folder builds other stages than its `tokenizer.json` has.

    This is also true for a class whose stages are not known here. For a class that transformers
    does not have, it reads the file unchanged.

    Args:
        config: The content of `tokenizer_config.json`.
        tokenizer_json: The text of `tokenizer.json`, as the core writes it.
    """
    name = bare_name(config)
    if name not in OWN_STAGES:
        return False
    return name not in _WHOLLY_KNOWN or not _has_stages(name, config, json_value(tokenizer_json))


_WHOLLY_KNOWN: Final = frozenset("GPT2 GPTNeoX Roberta Bart Qwen2 Bert DistilBert".split())
"""Classes of which all is known that they build: the frame, and the tokens that they add."""


def _has_stages(name: str, config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> bool:
    """Whether a `tokenizer.json` has the stages that the class builds."""
    of_class, model = _STAGES[name](config), tokenizer["model"]
    stages = ("normalizer", "pre_tokenizer")
    return (
        all(_compared(tokenizer[stage]) == _compared(of_class[stage]) for stage in stages)
        # An empty prefix or suffix counts as none.
        and all(
            (model.get(it) or None) == (value or None) for it, value in of_class["model"].items()
        )
        and _has_frame(name, config, tokenizer["post_processor"])
        and _has_tokens(name, config, tokenizer)
    )


def _compared(stage: Any) -> Any:
    """A stage without what has no effect on tokens."""
    if isinstance(stage, list):
        return [_compared(it) for it in stage]
    if not isinstance(stage, dict):
        return stage
    return {name: _compared(it) for name, it in stage.items() if name != "trim_offsets"}


def _has_frame(name: str, config: Mapping[str, Any], processor: Any) -> bool:
    """Whether a post-processor is the one that the class needs, if it needs one."""
    frame = processor or {"type": None}
    if name == "GPTNeoX":
        kinds = (None, "ByteLevel", "TemplateProcessing")
        return frame["type"] in kinds and not frame.get("special_tokens")
    tokens = _role_tokens(name, config)
    if "cls" not in tokens:
        return True
    cls, sep = tokens["cls"], tokens["sep"]
    is_bert = name in ("Bert", "DistilBert")
    if frame["type"] == ("BertProcessing" if is_bert else "RobertaProcessing"):
        return bool(frame["cls"][0] == cls and frame["sep"][0] == sep)
    if not is_bert or cls is None or sep is None:
        return False
    needed = CLS_SEP({"cls": (cls, 0), "sep": (sep, 0)})
    assert needed is not None
    return all(frame.get(it) == needed.to_dict()[it] for it in ("type", "single", "pair"))


def _has_tokens(name: str, config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> bool:
    """Whether the tokenizer has the tokens of all roles of the class.

    A missing token would be added with an id that the embedding of the model lacks.
    """
    tokens = {token["content"] for token in tokenizer["added_tokens"]}
    tokens |= tokenizer["model"]["vocab"].keys()
    return all(it is None or it in tokens for it in _role_tokens(name, config).values())


def _role_tokens(name: str, config: Mapping[str, Any]) -> dict[str, str | None]:
    """The token of each role that the class fills, by default its own."""
    roles = CLASSES["GPT2" if name == "GPTNeoX" else name].roles
    defaults = {role: token["content"] for role, token in roles.items() if token is not None}
    if name == "GPTNeoX":
        defaults["pad"] = "<|padding|>"
    return {role: spelling(config, role, token) for role, token in defaults.items()}


def stages_unknown(config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> bool:
    """Whether the class of a configuration builds stages that are not known here.

    Args:
        config: The content of `tokenizer_config.json`.
        tokenizer: The content of `tokenizer.json`.
    """
    name = bare_name(config)
    if name not in OWN_STAGES or _is_read_as_it_stands(name, tokenizer):
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
    model = tokenizer["model"]
    if name not in _STAGES or _is_read_as_it_stands(name, tokenizer):
        return None
    of_class = _STAGES[name](config)
    if model.get("type", "BPE") != of_class["model"]["type"]:
        return None
    of_file = {name: model[name] for name in ("vocab", "merges") if name in model}
    return {**tokenizer, **of_class, "model": {**of_class["model"], **of_file}}


def _stages(
    model: dict[str, Any],
    normalizer: normalizers.Normalizer | None,
    pre_tokenizer: pre_tokenizers.PreTokenizer,
    decoder: decoders.Decoder,
) -> dict[str, Any]:
    """Stages as a `tokenizer.json` holds them, with the options of the model."""
    return {
        "model": model,
        "normalizer": None if normalizer is None else normalizer.to_dict(),
        "pre_tokenizer": pre_tokenizer.to_dict(),
        "decoder": decoder.to_dict(),
    }


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
_PIECES: Final = {**_BPE, "fuse_unk": True, "byte_fallback": True}


def _gpt2(
    config: Mapping[str, Any], normalizer: normalizers.Normalizer | None = None
) -> dict[str, Any]:
    words = pre_tokenizers.ByteLevel(bool(config.get("add_prefix_space")))
    return _stages(_BPE, normalizer, words, decoders.ByteLevel())


def _gpt_neox(config: Mapping[str, Any]) -> dict[str, Any]:
    return _gpt2(config, normalizers.NFC())


def _qwen2(config: Mapping[str, Any]) -> dict[str, Any]:
    prefix = bool(config.get("add_prefix_space"))
    words = pre_tokenizers.Split(Regex(named_expression("qwen2")), "isolated")
    steps = (words, pre_tokenizers.ByteLevel(prefix, use_regex=False))
    return _stages(_BPE, normalizers.NFC(), pre_tokenizers.Sequence(steps), decoders.ByteLevel())


def _llama(config: Mapping[str, Any]) -> dict[str, Any]:
    scheme = llama_scheme(config)
    strip = [decoders.Strip(" ", 1)] * (scheme != "never")
    spaces = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    return _stages(_PIECES, None, spaces, decoders.Sequence((*_DECODERS, *strip)))


def _gemma(config: Mapping[str, Any]) -> dict[str, Any]:
    return _stages(
        {**_PIECES, "unk_token": spelling(config, "unk", "<unk>")},
        normalizers.Replace(" ", "▁"),
        pre_tokenizers.Split(" ", "merged_with_previous"),
        decoders.Sequence(_DECODERS),
    )


_DECODERS: Final = (decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse())


def _bert(config: Mapping[str, Any]) -> dict[str, Any]:
    model = {
        "type": "WordPiece",
        "unk_token": spelling(config, "unk", "[UNK]"),
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    strips = config.get("strip_accents")
    normalizer = normalizers.BertNormalizer(
        handle_chinese_chars=bool(config.get("tokenize_chinese_chars", True)),
        strip_accents=None if strips is None else bool(strips),
        lowercase=bool(config.get("do_lower_case", True)),
    )
    return _stages(model, normalizer, pre_tokenizers.BertPreTokenizer(), decoders.WordPiece())


_STAGES: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    **dict.fromkeys(
        "Bart CodeGen Deberta GPT2 LED Longformer Luke Mvp Roberta Whisper".split(), _gpt2
    ),
    **dict.fromkeys(
        """
        Bert DistilBert Electra LayoutLM LayoutLMv2 Lxmert MPNet MobileBert Splinter SqueezeBert
        """.split(),
        _bert,
    ),
    "GPTNeoX": _gpt_neox,
    "Qwen2": _qwen2,
    "Llama": _llama,
    "Gemma": _gemma,
}
"""For classes whose stages are known: the stages, and the options of the model."""
