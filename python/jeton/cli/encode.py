"""`jeton encode`: text to token ids."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import click
import numpy as np

import jeton
from jeton.cli.command import Command, echo_note
from jeton.cli.documents import (
    InputDocument,
    Reader,
    batches,
    input_options,
    input_size,
    named_by_place,
)
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import FilePath, check_inputs, check_target, force_option, output_option
from jeton.cli.token_files import FORMS, Form, NpyWriter, dtype_for, form_for, results
from jeton.cli.tokenizers import (
    EncodingFlags,
    TokenizerSource,
    encoding_options,
    note_on_special_tokens,
    tokenizer_options,
)
from jeton.display.human_readable import counted
from jeton.errors import FileError

HELP = """Encode text to token ids, one line per document.

TOKENIZER can be a known name (gpt2, cl100k_base …), a file (tokenizer.json, ranks, a
SentencePiece model, vocab.json with --merges, vocab.txt) or a folder with such a file. Without
FILES, or for -, the command reads standard input; --text takes a text from the command line. A
document is a whole file, a line with --lines or --field, what is between two --split-on, or a row
of Parquet. Files can be
compressed by gzip, Zstandard or xz.

\b
Examples:
  jeton encode gpt2 --text "Hello, world"
  echo "Hello, world" | jeton encode gpt2
  jeton encode gpt2 book.txt -o book.npy
  jeton encode tokenizer.json --lines corpus.txt -o corpus.npy \\
      --offsets starts.npy
  jeton encode tokenizer.json --field text data.jsonl -o ids.jsonl

\b
Formats:
  text   ids with spaces between them, one line per document
  jsonl  {"ids": [15496, 11]} for each document; with --spans also where each
         token came from
  npy    all ids in one numpy array: uint16 if all ids of the tokenizer fit,
         otherwise uint32
"""


@click.command(cls=Command, help=HELP, short_help="Encode text to token ids.")
@tokenizer_options
@input_options
@encoding_options
@output_option
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="How to write ids.  [default: by the ending of --output, or text]",
)
@click.option("--spans", is_flag=True, help="jsonl: add the span of each token, in characters.")
@click.option(
    "--offsets",
    type=FilePath(),
    metavar="FILE",
    help="npy: write where each document begins, and the end of the last, as int64.",
)
@force_option
def encode(
    source: TokenizerSource,
    paths: tuple[str, ...],
    reader: Reader,
    options: EncodingFlags,
    output: str | None,
    form: Form | None,
    spans: bool,
    offsets: str | None,
    force: bool,
) -> None:
    form = form_for(output, form)
    if spans and form != "jsonl":
        raise click.UsageError("--spans needs --format jsonl.")
    if offsets and form != "npy":
        raise click.UsageError(
            "--offsets needs --format npy; the other formats separate documents themselves."
        )
    check_inputs(paths)
    inputs = [*paths, *source.files]
    check_target(output, inputs=inputs, force=force, stream=True)
    if offsets:
        check_target(offsets, inputs=inputs, force=force)
        if output is not None and os.path.realpath(output) == os.path.realpath(offsets):
            raise FileError(f"{offsets}: the ids go there (name another file for offsets)")
    tok = source.load()
    note_on_special_tokens(tok, options)

    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(ProgressBar("encoding", input_size(paths)))
        groups = batches(reader.documents(paths, progress))
        file = stack.enter_context(results(output, force=force))
        rows = count = 0
        if form == "npy":
            starts = stack.enter_context(results(offsets, force=force)) if offsets else None
            dtype = dtype_for(tok.vocab.max_id)
            rows, count = _write_npy(tok, groups, options, NpyWriter(file, dtype), starts)
            detail = f" as {np.dtype(dtype)} (the largest id possible is {tok.vocab.max_id:,})"
        else:
            detail = ""
            for record in _records(tok, groups, options, spans):
                line = (
                    " ".join(map(str, record["ids"]))
                    if form == "text"
                    else json.dumps(record, separators=(",", ":"))
                )
                file.write(line.encode() + b"\n")
                rows += 1
                count += len(record["ids"])
    if output not in (None, "-"):
        echo_note(f"{output}: {count:,} ids of {counted(rows, 'document')}{detail}")


def _write_npy(
    tok: jeton.Tokenizer,
    groups: Iterable[list[InputDocument]],
    options: EncodingFlags,
    ids: NpyWriter,
    starts: BinaryIO | None,
) -> tuple[int, int]:
    rows = 0
    offsets = NpyWriter(starts, np.int64) if starts else None
    if offsets:
        offsets.write(np.zeros(1, np.int64))
    for group in groups:
        with named_by_place(group):
            batch = tok.encode_batch([document.text for document in group], **options)
        if offsets:
            offsets.write(batch.offsets[1:] + ids.length)
        ids.write(batch.ids)
        rows += len(group)
    ids.finish()
    if offsets:
        offsets.finish()
    return rows, ids.length


def _records(
    tok: jeton.Tokenizer,
    groups: Iterable[list[InputDocument]],
    options: EncodingFlags,
    spans: bool,
) -> Iterator[dict[str, list[Any]]]:
    for group in groups:
        with named_by_place(group):
            batch = tok.encode_batch(
                [document.text for document in group],
                spans="characters" if spans else None,
                **options,
            )
        rows: list[dict[str, list[Any]]] = [{"ids": ids} for ids in batch.tolist()]
        if spans:
            for row, (start, end) in zip(rows, itertools.pairwise(batch.offsets), strict=True):
                row["spans"] = batch.spans[start:end].tolist()
        yield from rows
