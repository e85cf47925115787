"""`jeton compare`: tokenizers beside each other on the same text, by all measures."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

import jeton
from jeton.analysis import Comparison
from jeton.analysis import compare as measure
from jeton.cli.command import Command
from jeton.cli.comparison import changed, shown, to_csv, to_markdown
from jeton.cli.targets import FilePath, check_target, force_option, replacing
from jeton.cli.terminal import Progress
from jeton.errors import FormatError

__all__ = ["compare", "named_corpora"]

HELP = """Tokenizers beside each other on the same text: compression, fertility, entropy, what is
lost, digits, code, and what each language pays.

Every measure has a formula and a source (docs: Measures of tokenizers). What was not measured is
shown as -; the best of each row is marked. A tokenizer that loses text is marked with †, and its
compression does not compare with that of others.

A corpus may have a name, as in news=news/; `--parallel` takes files whose line N says the same.

\b
Examples:
  jeton compare gpt2 mine.json --corpus book.txt
  jeton compare old.json new.json --corpus news=news/ --corpus code=src/
  jeton compare gpt2 o200k_base --parallel en=en.txt --parallel de=de.txt
  jeton compare gpt2 mine.json --corpus book.txt --format json -o now.json
  jeton compare gpt2 mine.json --corpus book.txt --baseline now.json
"""


def _parted(
    _: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if parameter.name == "corpora" and (
            not equals or os.path.exists(os.path.expanduser(value))
        ):
            name, path = Path(value).name or value, value
        if not name or not path:
            raise click.BadParameter(f"{value!r} is not NAME=PATH, as in de=german.txt")
        if name in found:
            raise click.BadParameter(f"{name!r} is named twice")
        found[name] = path
    return found


@click.command(cls=Command, help=HELP, short_help="Tokenizers beside each other, measured.")
@click.argument("tokenizers", type=FilePath(), nargs=-1, required=True, metavar="TOKENIZER...")
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    callback=_parted,
    metavar="[NAME=]PATH",
    help="A file or folder to measure on. Repeatable.",
)
@click.option(
    "--parallel",
    multiple=True,
    callback=_parted,
    metavar="LANGUAGE=FILE",
    help="A file whose line N says what line N of the others does. Repeatable.",
)
@click.option("--pivot", metavar="LANGUAGE", help="What premiums are relative to.  [default: en]")
@click.option(
    "--morphemes",
    type=FilePath(),
    metavar="FILE",
    help="Words in their morphemes, a line each, as in un|believ|able.",
)
@click.option("--field", metavar="NAME", help="The field of JSON lines that holds the text.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="A table for people or for a page, a line a value, or JSON with everything.",
)
@click.option("-o", "--output", type=FilePath(), metavar="FILE", help="Write there.")
@click.option(
    "--baseline",
    type=FilePath(),
    metavar="FILE",
    help="An earlier result (JSON): what has changed since.",
)
@force_option
def compare(
    tokenizers: tuple[str, ...],
    corpora: Mapping[str, str],
    parallel: Mapping[str, str],
    pivot: str | None,
    morphemes: str | None,
    field: str | None,
    form: str,
    output: str | None,
    baseline: str | None,
    force: bool,
) -> None:
    if not corpora and not parallel:
        raise click.UsageError("There is nothing to measure on: give --corpus or --parallel.")
    read = [*tokenizers, *corpora.values(), *parallel.values()]
    read += filter(None, (morphemes, baseline))
    check_target(output, inputs=read, force=force, stream=True)
    before = None if baseline is None else Comparison.load(baseline)
    named = dict(zip(short_names(tokenizers), map(jeton.load, tokenizers), strict=True))
    with Progress("measuring", None) as progress:

        def watch(step: jeton.Progress) -> None:
            progress.total = step.total or None
            progress.advance(step.done - progress.done)

        found = measure(
            named,
            named_corpora(corpora),
            parallel={name: Path(path) for name, path in parallel.items()},
            pivot=pivot,
            morphemes=None if morphemes is None else _morphemes(morphemes),
            field=field,
            progress=watch,
        )
    text = _written(found, form)
    if before is not None and form == "table":
        text += "\n" + changed(before.changes(found))
    if output is None:
        click.echo(text)
        return
    with replacing(Path(output), force=force) as path:
        path.write_text(click.unstyle(text) + "\n", encoding="utf-8")


def _written(found: Comparison, form: str) -> str:
    if form == "json":
        return json.dumps(found.to_dict(), ensure_ascii=False, indent=1)
    if form == "csv":
        return to_csv(found).rstrip("\n")
    return to_markdown(found) if form == "markdown" else shown(found)


def named_corpora(given: Mapping[str, str]) -> dict[str, Path]:
    """Corpora by name; one that would be called `all` is called by its path."""
    return {path if name == "all" else name: Path(path) for name, path in given.items()}


def short_names(given: Sequence[str]) -> list[str]:
    """What to call tokenizers in a table: their last parts, where these differ."""
    parts = [Path(name.rstrip("/")) for name in given]
    short = [part.parent.name if part.name == "tokenizer.json" else part.stem for part in parts]
    short = [name or source for name, source in zip(short, given, strict=True)]
    if len(set(short)) == len(short):
        return short
    if len(set(given)) == len(given):
        return list(given)
    raise click.UsageError("The same tokenizer is named twice.")


def _morphemes(path: str) -> dict[str, list[str]]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte {error.start}") from None
    parts = [line.strip().split("|") for line in text.splitlines() if line.strip()]
    return {"".join(morphemes): morphemes for morphemes in parts}
