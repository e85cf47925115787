"""`jeton diff`: where two tokenizers differ on a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import click

from jeton import samples, saved_json
from jeton.analysis import Difference, Stretch
from jeton.analysis import diff as compare
from jeton.cli.command import Command, format_option
from jeton.cli.documents import input_files, invalid_option, text_option
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import (
    FilePath,
    check_target,
    corpus_path,
    force_option,
    give,
    output_option,
)
from jeton.cli.terminal import columns, heading, human_bytes, paragraph, shorten, table
from jeton.cli.tokenizers import load_tokenizer
from jeton.display.human_readable import counted, visible

HELP = """Show where two tokenizers differ on a corpus, by default the text that ships with jeton.

Lists tokens that only one of them has, with how often they occur; texts that they split
differently, those with the largest difference first; and the lines that differ most. · is a space,
and │ separates tokens.

\b
Examples:
  jeton diff model.gguf folder/
  jeton diff gpt2 mine.json book.txt
  jeton diff gpt2 o200k_base --text "Where do 1,204 and café differ?"
  jeton diff old.json new.json corpus/ --format json -o differences.json
"""


@click.command(cls=Command, help=HELP, short_help="Show where two tokenizers differ.")
@click.argument("a", type=FilePath(), metavar="A")
@click.argument("b", type=FilePath(), metavar="B")
@click.argument("paths", nargs=-1, type=FilePath(urls=True), metavar="[FILES|FOLDERS]...")
@text_option
@invalid_option
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(0, 1_000_000),
    default=10,
    help="How many of each kind to show.",
)
@format_option("table", "json", help="Tables for people, or JSON with everything.")
@output_option
@force_option
def diff(
    a: str,
    b: str,
    paths: tuple[str, ...],
    text: str | None,
    invalid: Literal["strict", "replace"],
    limit: int,
    form: str,
    output: str | None,
    force: bool,
) -> None:
    if text is not None and paths:
        raise click.UsageError("--text goes without FILES.")
    files = input_files(paths)
    check_target(output, inputs=[a, b, *files], force=force, stream=True)
    tok_a, tok_b = load_tokenizer(a), load_tokenizer(b)
    texts = samples.read_all().values() if text is None else [text]
    lines = [line for it in texts for line in it.splitlines()]
    with ProgressBar("comparing", None) as progress:
        difference = compare(
            tok_a,
            tok_b,
            [*map(corpus_path, files)] or lines,
            limit=limit,
            errors=invalid,
            watch=progress.follow,
        )
    if form == "json":
        shown = saved_json.dumps(difference.to_dict(), indent=1)
    else:
        shown = "\n".join(_summary_lines(difference, a, b, limit))
    give(shown, output, force=force)


def _summary_lines(difference: Difference, a: str, b: str, limit: int) -> Iterator[str]:
    names = Path(a).name or a, Path(b).name or b
    if names[0] == names[1]:
        names = a, b
    yield heading(f"{names[0]} and {names[1]}")
    rows = [("", *names), ("tokens", *(f"{number:,}" for number in difference.tokens))]
    rows.append(
        (
            "bytes per token",
            *(
                f"{difference.bytes / number:.2f}" if number else "-"
                for number in difference.tokens
            ),
        )
    )
    own = [len(difference.only_a), len(difference.only_b)]
    rows.append(("tokens of its own", *(f"{number:,}" for number in own)))
    if any(difference.inexact):
        rows.append(("lines not restored", *(f"{number:,}" for number in difference.inexact)))
    yield table(rows, "<>>")
    yield (
        f"  {human_bytes(difference.bytes)}, {counted(difference.lines_in_all, 'line')}; "
        f"{difference.lines_differing:,} are split differently"
    )
    yield paragraph(
        "line ends are left out, as in jeton count --lines; whole files have more tokens"
    )
    for name, number in zip(names, difference.inexact, strict=True):
        if number:
            yield f"  {name} loses text, which may be why it has fewer tokens"
    for name, tokens in zip(names, (difference.only_a, difference.only_b), strict=True):
        if tokens and limit:
            yield ""
            yield heading(f"Only in {name}: {counted(len(tokens), 'token')}")
            rows = [("times", "id", "token")]
            rows += [
                (f"{it.count:,}", str(it.id), shorten(visible(it.token), 40))
                for it in tokens[:limit]
            ]
            yield table(rows, ">><")
    if difference.stretches:
        yield ""
        yield heading(f"Split differently: {counted(difference.stretches_in_all, 'text')}")
        yield _stretches(difference.stretches, names)
    if difference.lines:
        yield ""
        yield heading("Lines that differ most")
        rows = [(*(shorten(name, 12) for name in names), "line")]
        room = columns() - 32
        rows += [
            (f"{len(it.a):,}", f"{len(it.b):,}", shorten(visible(it.text.encode()), room))
            for it in difference.lines[:limit]
        ]
        yield table(rows, ">><")


def _stretches(stretches: Sequence[Stretch], names: Sequence[str]) -> str:
    width = (columns() - 22) // 2
    rows = [("tokens", "times", *(shorten(name, width) for name in names))]
    rows += [
        (
            f"{it.difference:+,}",
            f"{it.count:,}",
            shorten(_pieces(it.a), width),
            shorten(_pieces(it.b), width),
        )
        for it in stretches
    ]
    return table(rows, ">><<")


def _pieces(tokens: Sequence[bytes]) -> str:
    return "│".join(visible(token) or "∅" for token in tokens) or "nothing"
