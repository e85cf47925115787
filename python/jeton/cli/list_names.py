"""`jeton list`: known names of tokenizers, models and split patterns."""

from __future__ import annotations

from collections.abc import Iterator

import click

import jeton
from jeton import saved_json
from jeton.cli.command import Command, format_option
from jeton.cli.printing import say, styled
from jeton.cli.terminal import columns, heading, shorten, table
from jeton.loading import registry

HELP = """List the known names of tokenizers, models and patterns.

Use the name of a tokenizer, or of a model that uses it, wherever a command takes TOKENIZER; its
files are downloaded once. Use the name of a pattern with --pattern.

\b
Examples:
  jeton list
  jeton list patterns
  jeton list --format json
"""


@click.command(cls=Command, help=HELP, short_help="List known tokenizers and patterns.")
@click.argument("kind", required=False, type=click.Choice(["tokenizers", "models", "patterns"]))
@format_option("table", "json", help="A table for people, or one JSON object.")
def list(kind: str | None, form: str) -> None:
    kinds = _KINDS if kind is None else {kind: _KINDS[kind]}
    if form == "json":
        say(saved_json.dumps({name: record() for name, (_, _, record) in kinds.items()}))
        return
    for number, (title, rows_of, _) in enumerate(kinds.values()):
        if number:
            say()
        say(heading(title))
        rows = [*rows_of()]
        say(table(rows, "<" * len(rows[0])))


def _tokenizers() -> dict[str, dict[str, object]]:
    return {
        name: {"what": tokenizer.what, "here": registry.is_here(name)}
        for name, tokenizer in registry.KNOWN.items()
    }


def _patterns() -> dict[str, dict[str, object]]:
    return {name: pattern._asdict() for name, pattern in jeton.patterns().items()}


def _tokenizer_rows() -> Iterator[tuple[str, ...]]:
    for name, tokenizer in registry.KNOWN.items():
        is_public = all(source.url is not None for source in tokenizer.files)
        where = "here" if registry.is_here(name) else "to download" if is_public else "licensed"
        yield styled(name, bold=True), tokenizer.what, styled(where, dim=True)


def _model_rows() -> Iterator[tuple[str, ...]]:
    """The models of each tokenizer, on one or more lines."""
    width = columns() - 20
    for name in registry.KNOWN:
        models = [model for model, tokenizer in registry.MODELS.items() if tokenizer == name]
        models += [
            f"{family}*" for family, tokenizer in registry.FAMILIES.items() if tokenizer == name
        ]
        line, label = "", styled(name, bold=True)
        for model in models:
            if line and len(line) + len(model) + 2 > width:
                yield label, line + ","
                line, label = "", ""
            line = f"{line}, {model}" if line else model
        if line:
            yield label, line


def _pattern_rows() -> Iterator[tuple[str, ...]]:
    room = columns() - 4 - max(map(len, jeton.patterns()))
    for name, pattern in jeton.patterns().items():
        yield styled(name, bold=True), shorten(pattern.origin, room)
        if pattern.aliases:
            yield "", shorten(f"also {', '.join(pattern.aliases)}", room)
        for expression in pattern.expressions:
            yield "", styled(shorten(expression, room), dim=True)


_KINDS = {
    "tokenizers": ("Tokenizers", _tokenizer_rows, _tokenizers),
    "models": ("Models, by tokenizer", _model_rows, lambda: dict(registry.MODELS)),
    "patterns": ("Patterns, for --pattern", _pattern_rows, _patterns),
}
"""What is listed: its title, the rows of its table, and its record in JSON."""
