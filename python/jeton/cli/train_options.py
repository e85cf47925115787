"""Translates between parameters of trainers and options of `jeton train`.

Look here for `--set`, and for which options go with which kind.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

import click

import jeton
from jeton.arguments import suggestion
from jeton.cli.command import is_passed, options_of
from jeton.components import decoders, normalizers, post_processors, pre_tokenizers

TRAINERS: dict[str, type[Any]] = {
    "bpe": jeton.BPETrainer,
    "wordpiece": jeton.WordPieceTrainer,
    "unigram": jeton.UnigramTrainer,
    "wordlevel": jeton.WordLevelTrainer,
    "char": jeton.CharTrainer,
}

DEFAULT_SIZES = {"unigram": 8_000}
"""Default vocabulary sizes of the kinds whose default is not 30,000."""

_STAGES = {
    "normalizer": normalizers.from_json,
    "pre_tokenizer": pre_tokenizers.from_json,
    "post_processor": post_processors.from_json,
    "decoder": decoders.from_json,
}


_PYTHON = {"True": "true", "False": "false", "None": "null"}
"""Values as Python writes them, as in an error that says `hard_vocab_limit=False`, in JSON."""


def check_kind(kind: str, sizes: tuple[int, ...]) -> None:
    """Fails if the user passed an option that is for other kinds."""
    for name, option in options_of(click.get_current_context().command).items():
        # Text for development goes to the method that trains.
        needed = "languages" if name == "development" else name
        kinds = [it for it, trainer in TRAINERS.items() if needed in _parameters(trainer)]
        if kinds and kind not in kinds and is_passed(name):
            *others, last = kinds
            names = f"{', '.join(others)} or {last}" if others else last
            raise click.UsageError(f"{option} is for --kind {names}")
    if len(sizes) > 1 and kind != "bpe":
        raise click.UsageError(f"--kind {kind} takes one --vocab-size")


def _parameters(trainer: type[Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(trainer).parameters


def parameters_of(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are parameters of the trainer, without those that are not set."""
    parameters = _parameters(TRAINERS[kind])
    return {name: it for name, it in options.items() if name in parameters and it not in (None, ())}


def balance(languages: str) -> str | dict[str, float]:
    """The value of `languages=` of a trainer: a name, or ratios from `en=1,de=1.5`."""
    if languages in ("base", "window"):
        return languages
    ratios = {}
    for part in languages.split(","):
        name, _, number = part.partition("=")
        try:
            ratio = float(number)
        except ValueError:
            ratio = 0.0
        if not name or not 0 < ratio < float("inf"):
            raise click.UsageError(
                f"--languages {languages!r} is neither base nor window nor ratios above 0, as in "
                "en=1,de=1.5"
            )
        ratios[name] = ratio
    return ratios


def settings(kind: str, assignments: tuple[str, ...], options: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of a trainer from `--set NAME=VALUE`.

    Args:
        options: The options of the command; a parameter that has one is not set in this way.
    """
    parameters = _parameters(TRAINERS[kind])
    names = [name for name in parameters if name not in options]
    values: dict[str, Any] = {}
    for setting in assignments:
        name, equals, text = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--set {setting}: it must be NAME=VALUE")
        if name in options:
            raise click.UsageError(f"--set {name}: this has an option of its own, {options[name]}")
        if name not in names:
            hint = suggestion(name, names) or f"it is one of {', '.join(names)}"
            raise click.UsageError(f"--set {name}: --kind {kind} has no such parameter ({hint})")
        try:
            value = json.loads(_PYTHON.get(text, text))
        except (json.JSONDecodeError, RecursionError):
            value = text
        if isinstance(value, (int, float)) and str(parameters[name].annotation).startswith("str"):
            value = text
        values[name] = value
        if name in _STAGES and isinstance(value, dict):
            values[name] = _STAGES[name](text)
    return values
