"""Arguments that may have a name, `NAME=PATH`: tokenizers, corpora and languages of a comparison.

Look here for the name of an argument that has none: a result can be compared with an earlier one
only if the names are the same. The options that take such values are here too.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from jeton import files
from jeton.arguments import checked_path
from jeton.cli.targets import corpus_path
from jeton.stores.urls import StorePath, is_url, shown

corpus_option = click.option(
    "--corpus",
    "corpora",
    multiple=True,
    metavar="[NAME=]PATH",
    help="A file or folder to measure on. Repeatable.",
)

parallel_option = click.option(
    "--parallel",
    multiple=True,
    metavar="LANGUAGE=FILE",
    help="A file whose line N says what line N of the others does. Repeatable.",
)

pivot_option = click.option(
    "--pivot", metavar="LANGUAGE", help="What premiums are relative to.  [default: en]"
)


def tokenizers_by_name(values: Sequence[str]) -> dict[str, str]:
    """Tokenizers by name; without one, by the last part of the path without its ending."""

    def short(path: str) -> str:
        parts = Path(path.rstrip("/"))
        return parts.parent.name if parts.name == "tokenizer.json" else parts.stem

    return _by_name(values, "TOKENIZER", short)


def corpora_by_name(values: Sequence[str], what: str = "--corpus") -> dict[str, Path | StorePath]:
    """Corpora by name; without one, by the last part of the path (`all` is reserved)."""

    def short(path: str) -> str:
        name = Path(shown(path)).name
        return "" if name == "all" else name

    named = _by_name(values, what, short, urls=True)
    return {name: corpus_path(path) for name, path in named.items()}


def languages_by_name(
    values: Sequence[str], what: str = "--parallel"
) -> dict[str, Path | StorePath]:
    """Files by language, which each must name; `what` is the option."""
    for value in values:
        if not _parted(value)[0]:
            raise click.UsageError(
                f"{what} {shown(value)!r} is not LANGUAGE=FILE, as in de=german.txt"
            )
    named = _by_name(values, what, str, urls=True)
    return {name: corpus_path(path) for name, path in named.items()}


def _by_name(
    values: Sequence[str], what: str, short: Callable[[str], str], *, urls: bool = False
) -> dict[str, str]:
    times = Counter(name or short(path) for name, path in map(_parted, values))
    paths: dict[str, str] = {}
    for name, path in map(_parted, values):
        checked_path(what, path, urls=urls)
        key = name or short(path) or shown(path)
        if not name and times[key] > 1:
            key = shown(path)
        if key in paths:
            raise click.UsageError(
                f"{what}: {key!r} is there twice; name one, as in NAME={shown(path)}"
            )
        paths[key] = path
    return paths


def _parted(value: str) -> tuple[str, str]:
    """The name, empty if there is none, and the path."""
    name, equals, path = value.partition("=")
    if not equals or is_url(value) or os.path.exists(files.expanded(value)):
        return "", value
    if not name or not path:
        raise click.UsageError(f"{shown(value)!r} is not NAME=PATH, as in de=german.txt")
    return name, path
