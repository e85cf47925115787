"""`jeton sweep`: how large a vocabulary should be, found by training several."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import click

from jeton import saved_json
from jeton.analysis import FAMILIES, Point, Sweep
from jeton.analysis import sweep as train
from jeton.analysis.swept import RARE_SHARE
from jeton.cli.command import Command, format_option
from jeton.cli.documents import file_or_line_option, invalid_option, say_what_documents_are
from jeton.cli.named_arguments import corpora_by_name
from jeton.cli.printing import styled
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import (
    FilePath,
    check_target,
    corpus_path,
    force_option,
    give,
    output_option,
)
from jeton.cli.terminal import heading, human_bytes, table
from jeton.cli.tiny_model import follow, model_options, tiny_model
from jeton.display.human_readable import bar
from jeton.stores.urls import StorePath

_Corpora = list[Path | StorePath] | dict[str, Path | StorePath]

_PARTS = 20
"""Parts of a corpus that the table shows."""

HELP = """Train tokenizers of several sizes on one corpus, and measure each.

For every kind and size: bytes per token on held-out text, the memory of the embedding and its
share of the model's parameters, how much text a context holds, the operations of the whole model
per byte of text, output layer included, and how many of the learned tokens are rare in the text.
Says where operations are fewest, which is the largest size with at most 5% rare tokens, and where
each curve bends: its highest point above the line from first to last point (Kneedle, Satopää et al.
2011), which also depends on the sizes that you choose. A size that a kind cannot have is skipped.

Several corpora, or one with a name as in de=german/, are trained on together, and each is measured
by itself, too.

With --bits-per-byte small models are trained with each tokenizer on the text that is not held out,
with equal compute (PyTorch on the CPU; about a minute for each model): bits per byte of the
held-out text, and their spread over seeds.

With --folder the tokenizers are kept, and an interrupted sweep resumes.

\b
Examples:
  jeton sweep corpus/ --sizes 4000,8000,16000,32000
  jeton sweep en=english/ de=german/ sw=swahili.txt
  jeton sweep train.txt --held-out valid.txt --family bpe --folder sweep/
  jeton sweep corpus/ --width 2048 --depth 24 --context 4096 --format csv \\
      -o sweep.csv
"""


def _sizes(_: click.Context, __: click.Parameter, value: str) -> list[int]:
    sizes = []
    for part in value.split(","):
        if not (part.isascii() and part.isdigit() and 0 < len(part) < 10 and int(part)):
            raise click.BadParameter(f"{part!r} is not a size; write sizes as in 4000,16000")
        sizes.append(int(part))
    return sizes


@click.command(cls=Command, help=HELP, short_help="Find the best vocabulary size.")
@click.argument(
    "corpus",
    type=FilePath(urls=True, named=True),
    nargs=-1,
    required=True,
    metavar="[NAME=]CORPUS...",
)
@click.option(
    "--sizes",
    default="1000,2000,4000,8000,16000,32000,64000",
    callback=_sizes,
    metavar="N,N...",
    help="Vocabulary sizes, with commas.",
)
@click.option(
    "--family",
    "families",
    type=click.Choice(FAMILIES),
    multiple=True,
    default=FAMILIES,
    show_default=", ".join(FAMILIES),
    help="What to train. Repeatable.",
)
@click.option(
    "--held-out",
    type=FilePath(urls=True, named=True),
    multiple=True,
    metavar="[NAME=]PATH",
    help="Text to measure on.  [default: a tenth of the corpus, not used in training]",
)
@file_or_line_option
@invalid_option
@click.option("--pattern", default="gpt4", help="How BPE splits text into words.")
@click.option(
    "--width",
    type=click.IntRange(1, 1 << 24),
    default=768,
    help="Width of the model: numbers per embedding.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, 1 << 24),
    default=12,
    help="Depth of the model: layers.",
)
@click.option(
    "--context",
    type=click.IntRange(1, 1 << 32),
    default=1024,
    help="Context of the model, in tokens.",
)
@click.option(
    "--bytes-per-parameter",
    type=click.IntRange(1, 16),
    default=4,
    help="4 for float32, 2 for bfloat16.",
)
@click.option(
    "--untied",
    is_flag=True,
    help="Count an output layer with a table of its own.",
)
@click.option(
    "--rare",
    type=click.IntRange(1, 1 << 32),
    default=100,
    metavar="N",
    help="Tokens that occur fewer times than this in the text are rare.",
)
@click.option("--bits-per-byte", is_flag=True, help="Judge tokenizers by small models, too.")
@model_options
@click.option("--folder", type=FilePath(), metavar="DIR", help="Keep tokenizers here, and resume.")
@format_option(
    "table",
    "json",
    "csv",
    help="A table for people, JSON with everything, or a line for each tokenizer.",
)
@output_option
@force_option
def sweep(
    corpus: tuple[str | StorePath, ...],
    held_out: tuple[str | StorePath, ...],
    documents: Literal["file", "line"],
    invalid: Literal["strict", "replace"],
    untied: bool,
    bits_per_byte: bool,
    operations: float | None,
    seeds: int | None,
    form: str,
    output: str | None,
    force: bool,
    **options: Any,
) -> None:
    model = tiny_model(bits_per_byte, "--bits-per-byte", operations, seeds)
    train_on, measure_on = _parts(corpus, "CORPUS"), _parts(held_out, "--held-out")
    inputs = [*_paths(train_on), *_paths(measure_on)]
    check_target(output, inputs=inputs, force=force, stream=True)
    with ProgressBar() as bars:
        result = train(
            train_on,
            held_out=measure_on or 0.1,
            tied=not untied,
            errors=invalid,
            documents=documents,
            model=model,
            watch=lambda label, step: follow(bars, label, step),
            **options,
        )
    say_what_documents_are(_paths(train_on), None, documents)
    if form == "json":
        text = saved_json.dumps(result.to_dict(), indent=1)
    else:
        text = result.to_csv().rstrip("\n") if form == "csv" else "\n".join(_lines(result))
    give(text, output, force=force)


def _parts(values: tuple[str | StorePath, ...], what: str) -> _Corpora:
    """Corpora by name; a list if there is only one, without a name."""
    paths = [os.fspath(value) for value in values]
    named = corpora_by_name(paths, what)
    corpora = [*named.values()]
    return corpora if corpora == [*map(corpus_path, paths[:1])] else named


def _paths(corpora: _Corpora) -> list[Path | StorePath]:
    return [*(corpora.values() if isinstance(corpora, dict) else corpora)]


def _lines(sweep: Sweep) -> Iterator[str]:
    most = max((point.bytes_per_token or 0 for point in sweep.points), default=0)
    yield heading(f"{human_bytes(sweep.held_out_bytes)} held out, {sweep.held_out_lines:,} lines")
    settings = sweep.settings
    yield f"  model: width {settings['width']:,}, {settings['depth']:,} layers"
    if "model" in settings:
        yield f"  bits/byte by models of {settings['model']}"
    names = (
        "vocabulary",
        "bytes/token",
        "",
        "embedding",
        "of model",
        "context",
        "operations/byte",
        "",
        f"rare (<{settings['rare']:,})",
        *(("bits/byte", "", "spread") if "model" in settings else ()),
    )
    for family in sweep.bends:
        yield ""
        yield styled(f"  {family}", bold=True)
        rows: list[tuple[str, ...]] = [names]
        for point in sweep.points:
            if point.family == family:
                rows.append(_row(point, most, sweep))
        yield table(rows, ">><>>>><>><>"[: len(names)])
        if sweep.parts:
            yield ""
            yield from _part_lines(sweep, family)
    yield ""
    for family, at in sweep.bends.items():
        where = "does not bend at these sizes" if at is None else f"bends at {at:,} tokens"
        fewest = sweep.cheapest[family]
        cost = "" if fewest is None else f", and has the fewest operations at {fewest:,}"
        yield f"  {family} {where}{cost}"
        most_tokens = sweep.supported[family]
        support = (
            f"more than {RARE_SHARE:.0%} of the learned tokens are rare at each size"
            if most_tokens is None
            else f"at most {RARE_SHARE:.0%} of the learned tokens are rare up to {most_tokens:,}"
        )
        yield f"    {support}"
    yield "  bends by Kneedle (Satopää et al. 2011): highest above the line from first to last"
    yield "  with more text of this kind, fewer tokens are rare and the best sizes are larger"
    if any(point.inexact for point in sweep.points):
        yield "  ≠ lines that are not restored; lost text may be why there are fewer tokens"
    for size in sweep.skipped:
        yield f"  {size.family} of {size.size:,} tokens is skipped: {size.reason}"


def _part_lines(sweep: Sweep, family: str) -> Iterator[str]:
    """Bytes per token of each part, a column for each size."""
    points = [point for point in sweep.points if point.family == family]
    rows = [("bytes/token of", *(f"{point.vocab_size:,}" for point in points))]
    for name in list(sweep.parts)[:_PARTS]:
        numbers = (point.parts[name] for point in points)
        rows.append((name, *("-" if each is None else f"{each:.3f}" for each in numbers)))
    yield table(rows, "<" + ">" * len(points))
    if len(sweep.parts) > _PARTS:
        yield f"  and {len(sweep.parts) - _PARTS:,} more, which JSON and CSV list"


def _row(point: Point, most: float, sweep: Sweep) -> tuple[str, ...]:
    each = point.bytes_per_token
    is_bend = point.vocab_size == sweep.bends[point.family]
    marks = " ←" * is_bend + (f" ≠ {point.inexact:,}" if point.inexact else "")
    return (
        f"{point.vocab_size:,}",
        "-" if each is None else f"{each:.3f}",
        ("" if each is None else bar(each / most, 20)) + marks,
        human_bytes(point.embedding_bytes),
        f"{point.share:.1%}",
        "-" if point.context_bytes is None else human_bytes(point.context_bytes),
        "-" if point.operations is None else f"{point.operations / 1e6:.2f} MFLOP",
        "←" if point.vocab_size == sweep.cheapest[point.family] else "",
        f"{point.rare:,} ({point.rare_share:.0%})",
        *(_bits(point, sweep) if "model" in sweep.settings else ()),
    )


def _bits(point: Point, sweep: Sweep) -> tuple[str, str, str]:
    bits, spread = point.bits_per_byte, point.bits_per_byte_spread
    fewest = "←" if point.vocab_size == sweep.best_modelled[point.family] else ""
    return (
        "-" if bits is None else f"{bits:.3f}",
        fewest,
        "-" if spread is None else f"{spread:.3f}",
    )
