"""`jeton train`: a tokenizer from files of text."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import jeton
from jeton.cli.command import Command, echo_note, is_quiet, replacing
from jeton.cli.terminal import Progress, human_bytes
from jeton.corpus import Progress as Step
from jeton.errors import FileError

__all__ = ["train"]

HELP = """Train a tokenizer on files of text.

FILES are files or folders; each line is a text of its own. They may be compressed by gzip or
Zstandard; .jsonl and .ndjson hold JSON lines, .parquet a table; - is the standard input. TARGET's
extension says which format is written: .json is a tokenizer.json, .tiktoken is ranks.

\b
Examples:
  jeton train corpus/ -o tokenizer.json --vocab-size 32000 --pattern gpt4o
  jeton train web.jsonl.zst --field body -o web.json --special-token '<|endoftext|>'
  jeton train corpus/ --kind wordpiece -o bert.json
  jeton train corpus/ -o tok.json --vocab-size 16000 --vocab-size 32000   # tok-16000.json, …
"""


@click.command(cls=Command, help=HELP, short_help="A tokenizer from files of text.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", "target", required=True, type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["bpe", "wordpiece"]),
    default="bpe",
    show_default=True,
    help="The algorithm.",
)
@click.option(
    "--vocab-size",
    "sizes",
    type=click.IntRange(min=1),
    multiple=True,
    default=[30_000],
    show_default=True,
    help="How many tokens; given several times, a tokenizer of each size from one run.",
)
@click.option("--pattern", help="How text is cut: a name or an expression.  [default: gpt4]")
@click.option("--special-token", "specials", multiple=True, help="A special token; repeatable.")
@click.option("--min-frequency", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--field", help="The field of JSON lines, or the column of a table.")
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace", "ignore"]),
    default="strict",
    show_default=True,
    help="What becomes of bytes that are not UTF-8.",
)
@click.option("--json", "as_json", is_flag=True, help="Progress as JSON lines on standard error.")
@click.option("--force", is_flag=True, help="Replace TARGET if it exists.")
def train(
    files: tuple[Path, ...],
    target: Path,
    kind: str,
    sizes: tuple[int, ...],
    pattern: str | None,
    specials: tuple[str, ...],
    min_frequency: int,
    field: str | None,
    errors: str,
    as_json: bool,
    force: bool,
) -> None:
    sizes = tuple(sorted(set(sizes)))
    targets = {
        size: target if len(sizes) == 1 else target.with_stem(f"{target.stem}-{size}")
        for size in sizes
    }
    for path in targets.values():
        if path.exists() and not force:
            raise FileError(f"{path}: exists already (--force replaces it)")
        if not path.parent.is_dir():
            raise FileError(f"{path.parent}: no such folder to write into")
    given: dict[str, Any] = {"field": field, "errors": errors, "watch": _watch(as_json)}
    if kind == "wordpiece":
        if pattern is not None or len(sizes) > 1:
            raise click.UsageError("wordpiece takes no --pattern and one --vocab-size")
        options: dict[str, Any] = {"special_tokens": specials} if specials else {}
        wordpiece = jeton.WordPieceTrainer(sizes[0], min_frequency=min_frequency, **options)
        trained = {sizes[0]: wordpiece.train(list(files), **given)}
    else:
        bpe = jeton.BPETrainer(
            sizes, pattern=pattern, special_tokens=specials, min_frequency=min_frequency
        )
        trained = bpe.train_all(list(files), **given)
    for size, tok in trained.items():
        path = targets[size]
        with replacing(path) as partial:
            # The extension says the format, so it stays at the end of the name.
            beside = partial.with_suffix(path.suffix)
            try:
                tok.save(beside)
                beside.replace(partial)
            finally:
                beside.unlink(missing_ok=True)
        click.echo(f"{path}")
        if tok.vocab_size < size:
            echo_note(f"{path}: {tok.vocab_size:,} tokens; the corpus has no more pairs to merge")


def _watch(as_json: bool) -> Callable[[Step], None]:
    """What shows the progress: a line on a terminal, or JSON lines, at most one a second."""
    start = time.monotonic()
    shown: dict[str, Any] = {"phase": None, "next": 0.0}

    def line(step: Step) -> None:
        now = time.monotonic()
        if step.phase == shown["phase"] and now < shown["next"]:
            return
        shown.update(phase=step.phase, next=now + 1.0)
        told = {"phase": step.phase, "done": step.done, "total": step.total}
        if step.phase == "counting":
            told["text"] = step.text
        click.echo(json.dumps({**told, "seconds": round(now - start, 1)}), err=True)

    def bar(step: Step) -> None:
        if step.phase != shown["phase"]:
            if (old := shown.get("bar")) is not None:
                old.__exit__(None, None, None)
                seconds = time.monotonic() - start
                echo_note(f"counted {human_bytes(shown['text'])} of text in {seconds:.1f} s")
            unit = human_bytes if step.phase == "counting" else _tokens
            shown.update(phase=step.phase, bar=Progress(step.phase, step.total or None, unit))
        progress: Progress = shown["bar"]
        if step.phase == "counting":
            shown["text"] = step.text
        # Files are read ahead of what is known of them: text tells sooner where none is compressed.
        done = max(step.done, min(step.text, step.total)) if step.total else step.text
        progress.advance(done - progress.done)
        if step.phase == "merging" and step.done == step.total:
            progress.__exit__(None, None, None)

    return line if as_json and not is_quiet() else bar


def _tokens(count: float) -> str:
    return f"{count:,.0f} tokens"
