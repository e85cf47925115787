"""Documents: what the commands read, from files and standard input.

Look here for what a document is (a file, a line, a field of a JSON object, a row of a table), and
for how compressed files and bytes that are not UTF-8 are read. Memory holds one batch of documents.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import click

from jeton.cli import streams
from jeton.cli.command import decorated, echo_note
from jeton.cli.progress import ProgressBar
from jeton.cli.streams import name_full_file, refuse_endless
from jeton.cli.targets import FilePath
from jeton.corpora.compressed import DAMAGED, decompressed
from jeton.corpora.corpus import ParquetColumn, files_of, is_table, kind_of
from jeton.errors import ArgumentError, FileError, FormatError, JetonError, MissingFileError

__all__ = [
    "InputDocument",
    "Reader",
    "batches",
    "documents_option",
    "input_files",
    "input_options",
    "input_size",
    "invalid_option",
    "named_by_place",
    "only_document",
    "read_standard_input",
    "say_what_documents_are",
    "text_option",
]

STDIN = "-"
TEXT = "--text"
"""The source of a document on the command line."""

BATCH_BYTES = 4 << 20
"""Enough text in a batch to keep all cores busy, and little enough to be quick to interrupt."""

BATCH_DOCUMENTS = 16_384

MAX_LINE = 68_000_000
MAX_DOCUMENT = 537_000_000
"""Maximum bytes of a line and of a document in a compressed file, which may expand enormously."""

_PACKED = (".gz", ".zst", ".parquet")
"""Endings of files that hold more text than their size says."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class InputDocument:
    """One text to encode."""

    text: str
    source: str
    """The file it came from; `-` for standard input."""
    size: int
    """How many bytes it took in the file."""
    line: int | None = None
    """Its line, where each line is a document."""

    @property
    def place(self) -> str:
        """How errors name it."""
        source = "standard input" if self.source == STDIN else self.source
        return source if self.line is None else f"{source}:{self.line}"


def input_files(paths: Iterable[str]) -> tuple[str, ...]:
    """The files of a command line, and those in its folders.

    Raises:
        MissingFileError: A path is no file.
    """
    found: list[str] = []
    for path in paths:
        if path != STDIN and not os.path.exists(path):
            if any(sign in path for sign in "*?["):
                found += map(str, files_of(path) or ())
                continue
            params = click.get_current_context().command.params
            texts = (it for it in params if isinstance(it, click.Option) and "--text" in it.opts)
            hint = f"for a text: --text {shlex.quote(path)}" if any(texts) else None
            raise MissingFileError(f"{path}: no such file", hint=hint)
        inner = files_of(Path(path)) if os.path.isdir(path) else None
        found += [path] if inner is None else map(str, inner)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Reader:
    """How files become documents."""

    lines: bool = False
    field: str | None = None
    errors: str = "strict"
    text: str | None = None
    """The one document, if it is on the command line."""

    @property
    def by_line(self) -> bool:
        """Whether each line of a file is a document."""
        return self.lines or self.field is not None

    def documents(self, paths: Iterable[str], progress: ProgressBar) -> Iterator[InputDocument]:
        """The documents of all files, in order.

        Raises:
            FormatError: bytes that are not UTF-8, or a line that is no object with the field.
            OSError: a file that cannot be read.
        """
        if self.text is not None:
            size = len(self.text.encode("utf-8", "surrogatepass"))
            yield InputDocument(self.text, TEXT, size)
        for path in paths:
            if path != STDIN and is_table(Path(path)):
                table = ParquetColumn(Path(path), self.field or "text", self.errors)
                for text in table.texts(BATCH_BYTES):
                    size = len(text.encode("utf-8", "surrogatepass"))
                    progress.advance(size)
                    yield InputDocument(text, path, size)
                continue
            with _opened(path) as (file, is_compressed):
                if self.by_line:
                    for number, line in enumerate(_lines(path, file, is_compressed), 1):
                        progress.advance(len(line))
                        if number == 1 and self.field is not None:
                            line = line.removeprefix(codecs.BOM_UTF8)
                        line = line.removesuffix(b"\n")
                        text = self._text(line, f"{path}:{number}")
                        if self.field is None:
                            yield InputDocument(text, path, len(line), number)
                        elif text.strip():
                            text = _field(text, self.field, f"{path}:{number}")
                            size = len(text.encode("utf-8", "surrogatepass"))
                            yield InputDocument(text, path, size, number)
                else:
                    data = _whole(path, file, is_compressed)
                    yield InputDocument(self._text(data, path), path, len(data))
                    progress.advance(len(data))

    def _text(self, data: bytes, place: str) -> str:
        try:
            return data.decode("utf-8", self.errors)
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{place}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8",
                hint="--invalid replace reads it as U+FFFD",
            ) from None


def _field(line: str, field: str, place: str) -> str:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise FormatError(
            f"{place}: not JSON: {error} (with --field, each line is a JSON object)"
        ) from None
    except RecursionError:
        raise FormatError(f"{place}: JSON nested too deeply") from None
    if not isinstance(record, dict):
        raise FormatError(f"{place}: not a JSON object, so it has no field {field!r}")
    if field not in record:
        names = ", ".join(map(repr, list(record)[:8])) or "none"
        raise FormatError(f"{place}: no field {field!r} (its fields: {names})")
    if not isinstance(record[field], str):
        raise FormatError(f"{place}: the field {field!r} is not a string")
    return str(record[field])


@contextlib.contextmanager
def _opened(path: str) -> Iterator[tuple[BinaryIO, bool]]:
    """A file's content, and whether it was compressed."""
    if path == STDIN:
        with name_full_file(streams.STDIN):
            yield sys.stdin.buffer, False
        return
    with open(path, "rb") as file:
        refuse_endless(file, path)
        content = decompressed(path, file)
        if content is file:
            yield file, False
            return
        try:
            yield cast(BinaryIO, content), True
        except DAMAGED as error:
            reason = " ".join(str(error).split())
            raise FormatError(f"{path}: cannot be read: {reason}") from None


def _lines(path: str, file: BinaryIO, is_compressed: bool) -> Iterator[bytes]:
    if not is_compressed:
        yield from file
        return
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise FormatError(f"{path}: a line has more than {MAX_LINE // 10**6} MB")
        yield line


def _whole(path: str, file: BinaryIO, is_compressed: bool) -> bytes:
    if not is_compressed:
        return file.read()
    data = file.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        raise FormatError(f"{path}: the document has more than {MAX_DOCUMENT // 10**6} MB")
    return data


def only_document(path: str, progress: ProgressBar) -> InputDocument:
    """The text of a file; bytes that are not UTF-8 become U+FFFD.

    Raises:
        FormatError: The file is a table, which has several texts.
    """
    if path != STDIN and is_table(Path(path)):
        raise FormatError(f"{path}: a table has several texts, and this reads one")
    if os.path.isdir(path):
        raise FileError(f"{path}: is a folder, and this reads one text")
    (document,) = Reader(errors="replace").documents([path], progress)
    return document


def input_size(paths: Iterable[str]) -> int | None:
    """How many bytes there are to read, if that is known before reading."""
    total = 0
    for path in paths:
        if path == STDIN or path.lower().endswith(_PACKED) or not Path(path).is_file():
            return None
        total += Path(path).stat().st_size
    return total


def batches(documents: Iterable[InputDocument]) -> Iterator[list[InputDocument]]:
    """Documents in groups of a few megabytes."""
    batch: list[InputDocument] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += document.size
        if size >= BATCH_BYTES or len(batch) >= BATCH_DOCUMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@contextlib.contextmanager
def named_by_place(group: Sequence[InputDocument]) -> Iterator[None]:
    """Makes errors of a call on `group` name the file and line of a text instead of its number."""
    try:
        yield
    except JetonError as error:
        of_a_text = re.match(r"texts\[(\d+)\]: ", error.message)
        number = int(of_a_text[1]) if of_a_text else 0
        if of_a_text is None and len(group) > 1:
            raise
        message = error.message[of_a_text.end() :] if of_a_text else error.message
        # A wrong argument is wrong for every text.
        place = "" if isinstance(error, ArgumentError) else f"{group[number].place}: "
        raise error.reworded(f"{place}{message}") from None


def read_standard_input() -> tuple[str, ...]:
    """The paths when the command line names none; says so if a person is at the keyboard."""
    if sys.stdin is not None and sys.stdin.isatty():
        echo_note("reading from the keyboard; Ctrl-D at the start of a line ends it")
    return (STDIN,)


text_option = click.option(
    TEXT, metavar="TEXT", help="Take this text, in place of files and standard input."
)

documents_option = click.option(
    "--documents",
    type=click.Choice(["file", "line"]),
    default="file",
    show_default=True,
    help="Whether a text file or each of its lines is a document.",
)


def say_what_documents_are(inputs: Iterable[Path], field: str | None, documents: str) -> None:
    """Notes whether a file or a line is a document, unless the user passed `--documents`."""
    source = click.get_current_context().get_parameter_source("documents")
    if source is click.core.ParameterSource.COMMANDLINE:
        return
    if any(kind_of(path, field) == "text" for path in inputs):
        echo_note(f"each {documents} of text is a document (--documents line: each line is)")


invalid_option = click.option(
    "--invalid",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    show_default=True,
    help="Bytes that are not UTF-8: an error, or U+FFFD in their place.",
)


def input_options(function: F) -> F:
    """The options of commands that read documents; they arrive as `paths` and `reader`.

    Without FILES and `--text`, standard input is read.
    """

    @functools.wraps(function)
    def command(
        *,
        paths: tuple[str, ...],
        text: str | None,
        lines: bool,
        field: str | None,
        invalid: str,
        **others: object,
    ) -> Any:
        if text is not None and (paths or lines or field is not None):
            raise click.UsageError("--text goes without FILES, --lines and --field.")
        if lines and field is not None:
            raise click.UsageError(
                "--lines and --field exclude each other; --field reads lines anyway."
            )
        if not paths and text is None:
            paths = read_standard_input()
        reader = Reader(lines, field, invalid, text)
        return function(paths=input_files(paths), reader=reader, **others)

    decorators = [
        click.argument("paths", nargs=-1, type=FilePath(), metavar="[FILES|FOLDERS]..."),
        text_option,
        click.option("--lines", is_flag=True, help="Each line is a document (without its \\n)."),
        click.option(
            "--field",
            metavar="NAME",
            help="Each line is a JSON object, and the document its field NAME. In Parquet, the "
            "column.  [default in Parquet: text]",
        ),
        invalid_option,
    ]
    return cast(F, decorated(command, decorators))
