"""`jeton count`: how many tokens."""

from __future__ import annotations

import sys
from collections import Counter

import click

from jeton import saved_json
from jeton.cli.command import Command, format_option
from jeton.cli.documents import TEXT, Reader, batches, input_options, input_size, named_by_place
from jeton.cli.printing import say, styled
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import check_inputs
from jeton.cli.terminal import table
from jeton.cli.tokenizers import (
    EncodingFlags,
    TokenizerSource,
    encoding_options,
    note_on_special_tokens,
    tokenizer_options,
)
from jeton.stores.urls import is_url

HELP = """Count tokens, per file and in total.

Shows tokens, bytes and bytes per token of each file; more bytes per token are fewer tokens. With
--lines or --field it also shows the number of documents.

\b
Examples:
  jeton count gpt2 README.md
  jeton count cl100k_base src/*.py
  jeton count gpt2 docs/
  jeton count gpt2 --text "How many tokens?" --total
  jeton count gpt2 --total - < prompt.txt
  jeton count gpt2 --lines --each prompts.txt | sort -n | tail -1
"""


def _tally() -> Counter[str]:
    """The counts of one file, or of all."""
    return Counter(documents=0, tokens=0, bytes=0)


def _bytes_per_token(tally: Counter[str]) -> float | None:
    """The compression; `None` if there are no tokens."""
    return tally["bytes"] / tally["tokens"] if tally["tokens"] else None


@click.command(cls=Command, help=HELP, short_help="Count tokens.")
@tokenizer_options
@input_options
@encoding_options
@click.option("--total", is_flag=True, help="Print only the total number of tokens.")
@click.option(
    "--each", is_flag=True, help="Print the number of tokens of each document, one per line."
)
@format_option("table", "jsonl", help="A table for people, or a JSON object for each file.")
def count(
    source: TokenizerSource,
    paths: tuple[str, ...],
    reader: Reader,
    options: EncodingFlags,
    total: bool,
    each: bool,
    form: str,
) -> None:
    if total + each + (form == "jsonl") > 1:
        raise click.UsageError("--total, --each and --format jsonl exclude each other.")
    check_inputs(paths)
    tok = source.load()
    note_on_special_tokens(tok, options)
    sources = paths if reader.text is None else (TEXT,)
    # Which files a URL names shows when they are read.
    tallies = {path: _tally() for path in sources if not is_url(path)}
    stdout = sys.stdout.buffer
    with ProgressBar("counting", input_size(paths)) as progress:
        for group in batches(reader.documents(paths, progress)):
            with named_by_place(group):
                counts = tok.count_batch([document.text for document in group], **options)
            for document, tokens in zip(group, counts, strict=True):
                tally = tallies.setdefault(document.source, _tally())
                tally.update(documents=1, tokens=tokens, bytes=document.size)
                if each:
                    stdout.write(b"%d\n" % tokens)
    everything = _tally()
    for tally in tallies.values():
        everything.update(tally)
    if total:
        say(f"{everything['tokens']}")
    elif form == "jsonl":
        for path, tally in tallies.items():
            ratio = _bytes_per_token(tally)
            say(saved_json.dumps({"file": path, **tally, "bytes_per_token": ratio}))
    elif not each:
        rows = [_row(path, tally) for path, tally in tallies.items()]
        if len(rows) > 1:
            rows.append(_row("total", everything))
        has_documents = reader.parts_files
        header = ("tokens", "documents", "bytes", "bytes/token", "")
        rows = [tuple(styled(name, dim=True) for name in header), *rows]
        if not has_documents:
            rows = [row[:1] + row[2:] for row in rows]
        say(table(rows, ">>>><" if has_documents else ">>><", indent=""))


def _row(name: str, tally: Counter[str]) -> tuple[str, ...]:
    ratio = _bytes_per_token(tally)
    return (
        f"{tally['tokens']:,}",
        f"{tally['documents']:,}",
        f"{tally['bytes']:,}",
        "–" if ratio is None else f"{ratio:.2f}",
        name,
    )
