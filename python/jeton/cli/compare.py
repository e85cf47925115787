"""`jeton compare`: tokenizers beside each other on the same text, by all measures."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from jeton import saved_json
from jeton.analysis import Comparison
from jeton.analysis import compare as measure
from jeton.cli.command import Command, format_option
from jeton.cli.comparison import changed, measure_tables, to_csv, to_markdown
from jeton.cli.documents import invalid_option
from jeton.cli.named_arguments import (
    corpora_by_name,
    corpus_option,
    languages_by_name,
    parallel_option,
    pivot_option,
    tokenizers_by_name,
)
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import FilePath, check_target, force_option, give, output_option
from jeton.cli.tiny_model import follow, model_options, tiny_model
from jeton.cli.tokenizers import load_tokenizer
from jeton.errors import FormatError
from jeton.stores.urls import StorePath

_ROWS = 8
"""The rows of a table without `--all`."""

HELP = """Compare tokenizers on the same text: compression, fertility, entropy, lost text, digits,
code, and what each language pays.

Every measure has a formula and a source (docs: Measures of tokenizers). * marks the best of each
row, - what was not measured. † marks a tokenizer that loses text: its compression cannot be
compared with that of the others.

Tokenizers and corpora can have names, as in news=news/. --parallel takes translations: line N of
each file says the same.

With --train, small models are trained with each tokenizer on that text, with equal compute (PyTorch
on the CPU; about a minute for each model), and judge it by bits per byte of the corpora: their mean
over seeds, their spread, and what a byte costs in serving.

\b
Examples:
  jeton compare gpt2 mine.json --corpus book.txt
  jeton compare old.json new.json --corpus news=news/ --corpus code=src/
  jeton compare gpt2 o200k_base --parallel en=en.txt --parallel de=de.txt
  jeton compare gpt2 mine.json --corpus book.txt --train other-books/
  jeton compare gpt2 mine.json --corpus book.txt --format json -o now.json
  jeton compare gpt2 mine.json --corpus book.txt --baseline now.json
"""


@click.command(cls=Command, help=HELP, short_help="Measure tokenizers side by side.")
@click.argument("tokenizers", nargs=-1, required=True, metavar="TOKENIZER...")
@corpus_option
@parallel_option
@pivot_option
@click.option(
    "--morphemes",
    type=FilePath(),
    metavar="FILE",
    help="Words split into morphemes, one per line, as in un|believ|able.",
)
@click.option(
    "--train",
    multiple=True,
    type=FilePath(path_type=Path, urls=True),
    metavar="PATH",
    help="Text to train small models on, for bits per byte. Repeatable.",
)
@model_options
@click.option("--all", "shows_all", is_flag=True, help=f"Show all rows, not only {_ROWS}.")
@click.option("--field", metavar="NAME", help="The field of JSON Lines that holds the text.")
@invalid_option
@format_option(
    "table",
    "markdown",
    "csv",
    "json",
    help="A table, Markdown, one line per value (CSV), or JSON with everything.",
)
@output_option
@click.option(
    "--baseline",
    type=FilePath(),
    metavar="FILE",
    help="An earlier result (JSON), to show what has changed.",
)
@force_option
def compare(
    tokenizers: tuple[str, ...],
    corpora: tuple[str, ...],
    parallel: tuple[str, ...],
    pivot: str | None,
    morphemes: str | None,
    train: tuple[Path | StorePath, ...],
    operations: float | None,
    seeds: int | None,
    shows_all: bool,
    field: str | None,
    invalid: Literal["strict", "replace"],
    form: str,
    output: str | None,
    baseline: str | None,
    force: bool,
) -> None:
    if not corpora and not parallel:
        raise click.UsageError("give text to measure on: --corpus or --parallel.")
    if baseline is not None and form != "table":
        raise click.UsageError("--baseline adds to a table; leave out --format.")
    model = tiny_model(bool(train), "--train", operations, seeds)
    paths, texts = tokenizers_by_name(tokenizers), corpora_by_name(corpora)
    languages = languages_by_name(parallel)
    read = [*paths.values(), *texts.values(), *languages.values(), *train]
    read += filter(None, (morphemes, baseline))
    check_target(output, inputs=read, force=force, stream=True)
    before = None if baseline is None else Comparison.load(baseline)
    toks = {name: load_tokenizer(path) for name, path in paths.items()}
    with ProgressBar() as bars:
        comparison = measure(
            toks,
            texts,
            parallel=languages,
            pivot=pivot,
            morphemes=None if morphemes is None else _morphemes(morphemes),
            train=[*train] or None,
            model=model,
            field=field,
            errors=invalid,
            watch=lambda step: follow(bars, "", step),
        )
    if form == "json":
        text = saved_json.dumps(comparison.to_dict(), indent=1)
    elif form == "csv":
        text = to_csv(comparison).rstrip("\n")
    else:
        rows = None if shows_all else _ROWS
        text = to_markdown(comparison) if form == "markdown" else measure_tables(comparison, rows)
    if before is not None and form == "table":
        text += "\n" + changed(before, comparison)
    give(text, output, force=force)


def _morphemes(path: str) -> dict[str, list[str]]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte {error.start}") from None
    parts = [line.strip().split("|") for line in text.splitlines() if line.strip()]
    return {"".join(morphemes): morphemes for morphemes in parts}
