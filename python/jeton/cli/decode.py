"""`jeton decode`: token ids back to text."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator

import click
import numpy as np
import numpy.typing as npt

from jeton import saved_json
from jeton.cli.command import Command, echo_note, format_option
from jeton.cli.documents import input_files, read_standard_input
from jeton.cli.printing import for_terminal
from jeton.cli.targets import FilePath, check_inputs, check_target, force_option, output_option
from jeton.cli.token_files import read_array, read_ids, results
from jeton.cli.tokenizers import TokenizerSource, tokenizer_options
from jeton.display.human_readable import counted
from jeton.errors import FormatError, MissingFileError

HELP = """Decode token ids to text, byte for byte.

FILES hold ids in any format that `jeton encode` writes; their content shows which: numbers with
white space between them (each line is a document), JSON Lines, or a .npy array. Without FILES, or
for -, it reads standard input; --ids takes ids from the command line.

Nothing is added between documents, so one document comes back exactly. With --lines, each ends
with a line end, as `jeton encode --lines` read it.

\b
Examples:
  jeton decode gpt2 --ids "15496, 995"
  echo 15496 11 995 | jeton decode gpt2
  jeton decode gpt2 book.npy -o book.txt
  jeton decode tokenizer.json corpus.npy --offsets starts.npy --lines
  jeton encode gpt2 book.txt | jeton decode gpt2 | cmp - book.txt
"""


@click.command(cls=Command, help=HELP, short_help="Decode token ids to text.")
@tokenizer_options
@click.argument("paths", nargs=-1, type=FilePath(), metavar="[FILES|FOLDERS]...")
@output_option
@click.option("--ids", metavar="IDS", help="Decode these ids, with spaces or commas between them.")
@click.option("--lines", is_flag=True, help="End each document with a line end.")
@format_option("text", "jsonl", help='The text itself, or {"text": "…"} for each document.')
@click.option(
    "--offsets",
    type=FilePath(),
    metavar="FILE",
    help="Where the documents of a .npy file begin.",
)
@click.option("--skip-special-tokens", is_flag=True, help="Leave special tokens out.")
@click.option(
    "--invalid",
    type=click.Choice(["bytes", "replace", "strict"]),
    default="bytes",
    help="Bytes that are not UTF-8: written as they are, as U+FFFD, or an error.",
)
@force_option
def decode(
    source: TokenizerSource,
    paths: tuple[str, ...],
    output: str | None,
    ids: str | None,
    lines: bool,
    form: str,
    offsets: str | None,
    skip_special_tokens: bool,
    invalid: str,
    force: bool,
) -> None:
    jsonl = form == "jsonl"
    if jsonl and lines:
        raise click.UsageError("--format jsonl and --lines exclude each other.")
    if jsonl and invalid == "bytes":
        invalid = "replace"
    typed = None if ids is None else _ids_from_text(ids)
    if typed is not None:
        if paths or offsets is not None:
            raise click.UsageError("--ids goes without FILES and --offsets.")
    elif not paths:
        paths = read_standard_input()
    if paths and all(path.isdecimal() and not os.path.exists(path) for path in paths):
        hint = f"for ids: --ids '{' '.join(paths)}'"
        raise MissingFileError(f"{paths[0]}: no such file", hint=hint)
    paths = input_files(paths)
    inputs = [*paths, *([] if offsets is None else [offsets])]
    check_inputs(inputs)
    check_target(output, inputs=[*inputs, *source.files], force=force, stream=True)
    tok = source.load()
    rows = 0
    is_shown = output in (None, "-")
    with results(output, force=force) as file:
        for document in _documents(paths, offsets) if typed is None else [typed]:
            rows += 1
            if invalid == "bytes":
                data = tok.decode_bytes(document, skip_special_tokens=skip_special_tokens)
            else:
                text = tok.decode(document, skip_special_tokens=skip_special_tokens, errors=invalid)
                if jsonl:
                    text = saved_json.dumps({"text": text})
                data = text.encode("utf-8", "surrogatepass")
            data = data + b"\n" if lines or jsonl else data
            file.write(for_terminal(data) if is_shown else data)
    if not is_shown:
        echo_note(f"{output}: {counted(rows, 'document')}")


def _ids_from_text(text: str) -> list[int]:
    numbers = text.replace(",", " ").split()
    for number in numbers:
        if not (number.isascii() and number.isdigit() and len(number) <= 10):
            raise click.BadParameter(
                f"{number!r} is not an id; write ids as in '15496, 995'", param_hint="--ids"
            )
    return [int(number) for number in numbers]


def _documents(paths: Iterable[str], offsets: str | None) -> Iterator[npt.NDArray[np.uint32]]:
    starts = None
    if offsets is not None:
        with open(offsets, "rb") as file:
            starts = read_array(file, offsets)
    for path in paths:
        for ids in read_ids(path):
            if starts is None:
                yield ids
            else:
                yield from _split(ids, starts, f"{offsets}, of {path}")


def _split(
    ids: npt.NDArray[np.uint32], starts: npt.NDArray[np.integer], place: str
) -> Iterator[npt.NDArray[np.uint32]]:
    if len(starts) == 0 or starts[0] != 0 or starts[-1] != len(ids) or np.any(np.diff(starts) < 0):
        raise FormatError(f"{place}: offsets must rise from 0 to the number of ids, {len(ids):,}")
    for start, end in itertools.pairwise(starts):
        yield ids[start:end]
