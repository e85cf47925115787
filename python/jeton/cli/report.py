"""`jeton report`: tokenizers measured side by side, as one page to look at."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Literal

import click

from jeton.analysis import Comparison, Sweep, compare
from jeton.analysis.lines import Lines
from jeton.cli.command import Command, echo_note
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
from jeton.cli.targets import FilePath, check_target, force_option, replacing
from jeton.cli.terminal import human_bytes
from jeton.cli.tokenizers import load_tokenizer
from jeton.errors import FileError

HELP = """Measure tokenizers on text, and write a report as one HTML page.

It has bars by corpus and language, premiums of languages, lengths and frequencies of tokens, lines
side by side in colour, and a table of all measures to sort and filter. The page works offline, in
light and dark, by keyboard and in print, and loads nothing else.

Tokenizers, corpora and languages can have names: NAME=PATH. Parallel text is one file per language;
line N says the same in each.

\b
Examples:
  jeton report gpt2 mine.json --corpus book.txt -o report.html
  jeton report old=a.json new=b.json --corpus news=news/ \\
      --corpus code=src/ -o report.html
  jeton report gpt2 mine.json --parallel en=en.txt --parallel de=de.txt \\
      -o report.html
  jeton report --from comparison.json -o report.html
  jeton report gpt2 mine.json --corpus book.txt --sweep sweep.json \\
      -o report.html
"""

_LINES = 200
"""Lines of each text among which the page finds one to show."""

_READ = 200_000
"""Bytes of each text that are read for these lines."""


@click.command(cls=Command, help=HELP, short_help="Write a comparison as a page.")
@click.argument("tokenizers", nargs=-1, metavar="TOKENIZER...")
@corpus_option
@parallel_option
@pivot_option
@invalid_option
@click.option("--title", default="Tokenizers compared", help="The title.")
@click.option(
    "--from",
    "saved",
    type=FilePath(),
    metavar="FILE",
    help="A saved comparison (JSON) instead of tokenizers.",
)
@click.option(
    "--sweep",
    "swept",
    type=FilePath(),
    metavar="FILE",
    help="A saved sweep (JSON), to draw its curves too.",
)
@click.option(
    "--pictures",
    type=FilePath(),
    metavar="DIR",
    help="Also write the pictures as SVG.",
)
@click.option(
    "--save",
    "target_of_values",
    type=FilePath(),
    metavar="FILE",
    help="Also save the values as JSON, for --from and for jeton compare --baseline.",
)
@click.option(
    "-o", "--output", type=FilePath(), required=True, metavar="FILE", help="The page to write."
)
@force_option
def report(
    tokenizers: tuple[str, ...],
    corpora: tuple[str, ...],
    parallel: tuple[str, ...],
    pivot: str | None,
    invalid: Literal["strict", "replace"],
    title: str,
    saved: str | None,
    swept: str | None,
    pictures: str | None,
    target_of_values: str | None,
    output: str,
    force: bool,
) -> None:
    if bool(tokenizers) == (saved is not None):
        raise click.UsageError("give tokenizers, or --from with a saved comparison.")
    texts, languages = corpora_by_name(corpora), languages_by_name(parallel)
    paths = tokenizers_by_name(tokenizers)
    inputs = [*paths.values(), *texts.values(), *languages.values(), *filter(None, (saved, swept))]
    for target in filter(None, (output, target_of_values)):
        check_target(target, inputs=inputs, force=force)
    if target_of_values is not None and os.path.realpath(target_of_values) == os.path.realpath(
        output
    ):
        raise FileError(
            f"{target_of_values}: the page goes there (name another file for the values)"
        )
    sweep = None if swept is None else Sweep.load(swept)
    if saved is not None:
        if corpora or parallel or pivot:
            raise click.UsageError(
                "--from has measurements already; leave out --corpus and --parallel."
            )
        comparison = Comparison.load(saved)
        text = comparison.html(title, sweep=sweep)
    else:
        if not corpora and not parallel:
            raise click.UsageError("give text to measure on: --corpus or --parallel.")
        toks = {name: load_tokenizer(path) for name, path in paths.items()}
        with ProgressBar("measuring", None) as progress:
            comparison = compare(
                toks,
                texts,
                parallel=languages or None,
                pivot=pivot,
                errors=invalid,
                watch=progress.follow,
            )
        lines = {}
        for name, path in [*texts.items(), *languages.items()]:
            batches = Lines(path, limit=_READ, errors="replace")
            lines[name] = list(islice((line for batch in batches for line in batch), _LINES))
        text = comparison.html(title, tokenizers=toks, lines=lines, sweep=sweep)
    if target_of_values is not None:
        comparison.save(target_of_values)
    if pictures is not None:
        comparison.pictures(pictures)
    with replacing(Path(output), force=force) as file:
        file.write(text.encode())
    echo_note(f"{output}: {human_bytes(len(text.encode()))}")
