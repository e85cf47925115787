"""The languages of translation and speech models, as the tokens that they put around a text.

Look here for `tok.replace(src_lang=…)`, and for the language of `text_target`. The classes of
transformers that have languages are known by the `tokenizer_class` of a folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from jeton.arguments import check_kind, suggestion
from jeton.components import post_processors
from jeton.encoding.base_tokenizer.settings import HasSettings
from jeton.errors import ArgumentError, UnsupportedError
from jeton.loading import languages
from jeton.loading.transformers_classes import bare_name, language_class

_SETTINGS: Final = ("src_lang", "tgt_lang", "language", "task")
"""The fields of a configuration that choose languages."""

_DEFAULTS: Final = {"MBart": "en_XX", "MBart50": "en_XX", "Nllb": "eng_Latn", "M2M100": "en"}
"""The classes of translation models, with the language that they begin with."""

_PUBLISHED: Final[Mapping[str, Sequence[str]]] = {
    "MBart": languages.MBART,
    "MBart50": languages.MBART50,
    "Nllb": languages.NLLB,
}
_TASKS: Final = ("transcribe", "translate")


def is_translator(config: Mapping[str, Any]) -> bool:
    """Whether texts have a source language, and labels a target language."""
    return language_class(config) in _DEFAULTS


def around_texts(tok: HasSettings, config: Mapping[str, Any]) -> post_processors.PostProcessor:
    """The post-processor of a tokenizer whose folder has this configuration.

    Raises:
        ArgumentTypeError: A language or a task is no str.
        ArgumentError: The model has no such language, or no such task.
        UnsupportedError: The tokenizer is of no class with languages.
    """
    name = language_class(config)
    if name is None:
        given = ", ".join(setting for setting in _SETTINGS if setting in config)
        classes = ", ".join([*_DEFAULTS, "Whisper"])
        raise UnsupportedError(
            f"{given}: the tokenizer has no languages: its tokenizer_class is "
            f"{bare_name(config)!r} ({classes} have; for others replace the post_processor)"
        )
    for setting in _SETTINGS:
        value = config.get(setting)
        if value is not None:
            check_kind(setting, value, str, "a str")
        is_speech = setting in ("language", "task")
        if value is not None and is_speech != (name == "Whisper"):
            has = "language and task" if name == "Whisper" else "src_lang and tgt_lang"
            raise ArgumentError(f"{setting}: a {name} tokenizer has {has}")
    if name == "Whisper":
        return _frame(tok, _of_speech(tok, config), [_end(tok)])
    for setting in ("src_lang", "tgt_lang"):
        if (language := config.get(setting)) is not None:
            _token_of(tok, name, setting, language)
    source = config.get("src_lang") or _DEFAULTS[name]
    language = _token_of(tok, name, "src_lang", source)
    if name == "MBart" or (name == "Nllb" and config.get("legacy_behaviour")):
        return _frame(tok, [], [_end(tok), language])
    return _frame(tok, [language], [_end(tok)])


def _end(tok: HasSettings) -> str:
    return tok.roles.get("eos", "</s>")


def _token_of(tok: HasSettings, name: str, setting: str, language: str) -> str:
    """The token of a language."""
    token = f"__{language}__" if name == "M2M100" else language
    codes = {it.content for it in tok.stages.added_tokens}.union(_PUBLISHED.get(name, ()))
    is_code = name == "M2M100" or token in codes
    if not is_code or token not in tok:
        hint = suggestion(language, sorted(it for it in codes if it in tok)) or None
        raise ArgumentError(f"{setting}: the model has no language {language!r}", hint=hint)
    return token


def _of_speech(tok: HasSettings, config: Mapping[str, Any]) -> list[str]:
    """What Whisper's class puts in front of a text."""
    tokens = ["<|startoftranscript|>"]
    if (language := config.get("language")) is not None:
        if (code := languages.whisper_code(language)) is None:
            names = [*languages.WHISPER.values(), *languages.WHISPER_ALIASES]
            hint = suggestion(language.lower(), names) or None
            raise ArgumentError(f"language: the model has no language {language!r}", hint=hint)
        tokens.append(f"<|{code}|>")
    if (task := config.get("task")) is not None:
        if task not in _TASKS:
            raise ArgumentError(f"task must be 'transcribe' or 'translate', not {task!r:.40}")
        tokens.append(f"<|{task}|>")
    if not config.get("predict_timestamps"):
        tokens.append("<|notimestamps|>")
    for token in tokens:
        if token not in tok:
            raise ArgumentError(f"the tokenizer has no token {token!r}")
    return tokens


def _frame(tok: HasSettings, before: list[str], behind: list[str]) -> post_processors.PostProcessor:
    return post_processors.TemplateProcessing(
        [*before, "$A", *behind],
        [*before, "$A", "$B", *behind],
        {it: tok.vocab[it] for it in (*before, *behind)},
    )
