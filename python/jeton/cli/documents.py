"""Documents: what the commands read, from files and standard input.

Both are read as everywhere in jeton (`jeton.corpora.documents`). Look here for the options that say
what a document is.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import click

import jeton._core as _core
from jeton.arguments import checked_path
from jeton.cli import streams
from jeton.cli.command import decorated, echo_note, is_passed
from jeton.cli.progress import ProgressBar
from jeton.cli.streams import name_full_file, refuse_endless
from jeton.cli.targets import FilePath
from jeton.cli.terminal import human_bytes
from jeton.corpora.corpus import files_of, kind_of
from jeton.corpora.documents import documents_of
from jeton.errors import ArgumentError, FileError, FormatError, JetonError, MissingFileError
from jeton.stores.local_copies import local_files
from jeton.stores.urls import StorePath, is_url

STDIN = "-"
_STDIN_NAME = "standard input"
"""How errors name it."""

TEXT = "--text"
"""The source of a document on the command line."""

BATCH_BYTES = 4 << 20
"""Enough text in a batch to keep all cores busy, and little enough to be quick to interrupt."""

BATCH_DOCUMENTS = 16_384

_PACKED = (".gz", ".zst", ".xz", ".parquet")
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
    """Its line or record, where each is a document."""

    @property
    def place(self) -> str:
        """How errors name it."""
        source = _STDIN_NAME if self.source == STDIN else self.source
        return source if self.line is None else f"{source}:{self.line}"


def input_files(paths: Iterable[str | StorePath]) -> tuple[str, ...]:
    """The files of a command line: those that it names, those in folders, those of patterns. URLs
    stay."""
    found: list[str] = []
    for path in [os.fspath(it) for it in paths]:
        if path != STDIN and not is_url(path) and (os.path.isdir(path) or not os.path.exists(path)):
            try:
                found += map(str, files_of(Path(path)) or ())
            except MissingFileError:
                if os.path.exists(path):
                    raise
                raise _missing(path) from None
        else:
            found.append(path)
    return tuple(found)


def _missing(path: str) -> MissingFileError:
    params = click.get_current_context().command.params
    texts = (it for it in params if isinstance(it, click.Option) and "--text" in it.opts)
    hint = f"for a text: --text {shlex.quote(path)}" if any(texts) else None
    return MissingFileError(f"{path}: no such file", hint=hint)


def input_file(path: str, what: str) -> str:
    """The one file of a command that takes no more. `what`: what the file holds, as in `"one
    conversation"`."""
    files = input_files([path])
    if len(files) == 1 and not os.path.isdir(path):
        return files[0]
    kind = "a folder" if os.path.isdir(path) else f"a pattern of {len(files):,} files"
    raise FileError(f"{path}: is {kind}, and this reads {what}", hint=f"name one file: {files[0]}")


@dataclass(frozen=True, slots=True)
class Reader:
    """How files become documents."""

    lines: bool = False
    field: str | None = None
    errors: str = "strict"
    text: str | None = None
    """The one document, if it is on the command line."""
    split_on: str | None = None
    """The text between two documents of a text file."""

    @property
    def by_line(self) -> bool:
        """Whether each line of a file is a document."""
        return self.lines or self.field is not None

    @property
    def parts_files(self) -> bool:
        """Whether a text file may have several documents."""
        return self.by_line or self.split_on is not None

    def documents(self, paths: Iterable[str], progress: ProgressBar) -> Iterator[InputDocument]:
        """The documents of all files, in order.

        Raises:
            OSError: a file that cannot be read.
        """
        if self.text is not None:
            size = len(self.text.encode("utf-8", "surrogatepass"))
            yield InputDocument(self.text, TEXT, size)
        for path in paths:
            if path == STDIN:
                with name_full_file(streams.STDIN):
                    os.read(0, 0)  # fails if it is closed; the core takes that for an empty file
            elif not is_url(path):
                with open(path, "rb") as file:
                    refuse_endless(file, path)
            before = 0

            def advance(read: int) -> None:
                nonlocal before
                progress.advance(read - before)  # used up within this round
                before = read

            for document in documents_of(
                files_of(path) or [] if is_url(path) else [Path(path)],
                field=self.field,
                errors=self.errors,
                unit=self.by_line if self.split_on is None else self.split_on,
                read=advance,
            ):
                size = len(document.text.encode("utf-8", "surrogatepass"))
                source = document.file if is_url(path) else path
                yield InputDocument(document.text, source, size, document.line)

    def json_values(self, paths: Iterable[str], progress: ProgressBar) -> Iterator[InputDocument]:
        """JSON in files, as text: all of each file, or each of its lines."""
        yield from self.documents((), progress)  # the text of the command line
        for path in paths:
            if path == STDIN or self.field is not None:
                yield from self.documents([path], progress)
                continue
            for here in local_files(files_of(path) or [] if is_url(path) else [Path(path)]):
                for copy in map(os.fspath, here.paths):
                    with here.named():
                        yield from self._json_of(copy, here.name(copy), progress)

    def _json_of(self, path: str, name: str, progress: ProgressBar) -> Iterator[InputDocument]:
        contents = _core.FileContents(checked_path("FILES", path))
        data = b"".join(iter(lambda: contents.read(BATCH_BYTES), b""))
        progress.advance(len(data))
        if not self.by_line:
            yield InputDocument(self._text(data, name), name, len(data))
            return
        for number, line in enumerate(data.split(b"\n"), 1):
            text = self._text(line, f"{name}:{number}")
            yield InputDocument(text, name, len(line), number)

    def _text(self, data: bytes, place: str) -> str:
        if b"\0" in data:
            _core.check_text(place, data)
        try:
            return data.decode("utf-8", self.errors)
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{place}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8",
                hint="--invalid replace reads it as U+FFFD",
            ) from None


def only_document(path: str, progress: ProgressBar) -> InputDocument:
    """The text of a file; bytes that are not UTF-8 become U+FFFD.

    Raises:
        FileError: The path is a folder, or a pattern of several files.
        FormatError: The file has several texts.
        MissingFileError: The path is no file.
    """
    path = input_file(checked_path("FILE", path), "one text")
    if path != STDIN and kind_of(Path(path)) != "text":
        raise FormatError(f"{path}: a file of records has several texts, and this reads one")
    (document,) = Reader(errors="replace").documents([path], progress)
    return document


def input_size(paths: Iterable[str]) -> int | None:
    """How many bytes there are to read, if that is known before reading."""
    total = 0
    for path in paths:
        if (
            path == STDIN
            or is_url(path)
            or path.lower().endswith(_PACKED)
            or not Path(path).is_file()
        ):
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


file_or_line_option = click.option(
    "--documents",
    type=click.Choice(["file", "line"]),
    default="file",
    help="Whether a text file or each of its lines is a document.",
)


_split_on_option = click.option(
    "--split-on",
    metavar="TEXT",
    help=r"The text between two documents of a text file: '\n\n' for blank lines, or "
    "'<|endoftext|>'.",
)


def _separator(split_on: str) -> str:
    if not split_on:
        raise click.UsageError("--split-on needs the text between two documents.")
    return split_on.replace("\\n", "\n").replace("\\t", "\t")


def documents_option(function: F) -> F:
    """The options for what a document of a text file is; they arrive as `documents`."""

    @functools.wraps(function)
    def command(*, documents: str, split_on: str | None, **others: object) -> Any:
        if split_on is not None:
            if is_passed("documents"):
                raise click.UsageError("--documents and --split-on exclude each other.")
            documents = _separator(split_on)
        return function(documents=documents, **others)

    decorators = [
        file_or_line_option,
        _split_on_option,
    ]
    return cast(F, decorated(command, decorators))


def say_what_documents_are(
    inputs: Iterable[Path | StorePath], field: str | None, documents: str
) -> None:
    """Notes whether a file or a line is a document, unless the user said so.

    Commands with `--split-on` also advise on files that look as if they held several documents.
    """
    if is_passed("documents") or is_passed("split_on"):
        return
    files: list[Path | StorePath] = []
    for path in inputs:
        is_folder = isinstance(path, Path) and path.is_dir()
        files += map(Path, _core.find_files([os.fspath(path)])[0]) if is_folder else [path]
    texts = [path for path in files if kind_of(path, field) == "text"]
    if not texts:
        return
    note = f"each {documents} of text is a document (--documents line: each line is"
    if "split_on" not in click.get_current_context().params:
        echo_note(f"{note})")
        return
    echo_note(f"{note}; --split-on TEXT: what is between these texts is)")
    for path in texts[:_EXAMINED]:
        if isinstance(path, Path) and (advice := _advice_on_splitting(path)) is not None:
            echo_note(advice)


_EXAMINED = 3
"""Files of text that are examined for documents in them."""
_HEAD = 1 << 20
"""Bytes of each that are examined."""
_LARGE = 1 << 20
"""Size of a file that is seldom a single document."""
_SEPARATORS = ("<|endoftext|>", "</s>", "\n\n\n", "\n\n")
"""Common separators of documents, the most certain first."""


def _advice_on_splitting(path: Path) -> str | None:
    """How a file of text may be split into documents, if it looks as if it had several."""
    if not path.is_file():
        return None
    head = _core.FileContents(os.fspath(path)).read(_HEAD).decode("utf-8", "replace")
    size = path.stat().st_size
    for separator in _SEPARATORS:
        if times := head.strip().count(separator):
            break
    else:
        times = 0
    is_split = times and (separator.strip() or size > _LARGE)
    if not is_split and size <= _LARGE:
        return None
    advice = f"{path}: {human_bytes(size)} are one document"
    if times:
        shown = separator.replace("\n", "\\n")
        where = "in it" if len(head) < _HEAD else f"in its first {human_bytes(_HEAD)}"
        advice += f"; {shown!r} is {times:,} times {where}, so --split-on '{shown}' would split it"
    return advice


invalid_option = click.option(
    "--invalid",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    help="Bytes that are not UTF-8: an error, or U+FFFD in their place.",
)


errors_option = click.option(
    "--invalid",
    "errors",
    type=click.Choice(["strict", "replace", "ignore"]),
    default="strict",
    help="Bytes that are not UTF-8: an error, U+FFFD in their place, or left out.",
)

field_option = click.option(
    "--field", metavar="NAME", help="The field of JSON lines, or the column of a table."
)


def input_options(function: F) -> F:
    """The options of commands that read documents; they arrive as `paths` and `reader`.

    Without FILES and `--text`, standard input is read.
    """

    @functools.wraps(function)
    def command(
        *,
        paths: tuple[str | StorePath, ...],
        text: str | None,
        lines: bool,
        field: str | None,
        split_on: str | None,
        invalid: str,
        **others: object,
    ) -> Any:
        parts = lines or field is not None or split_on is not None
        if text is not None and (paths or parts):
            raise click.UsageError("--text goes without FILES, --lines, --field and --split-on.")
        if split_on is not None:
            if lines or field is not None:
                raise click.UsageError("--split-on goes without --lines and --field.")
            split_on = _separator(split_on)
        if lines and field is not None:
            raise click.UsageError(
                "--lines and --field exclude each other; --field reads lines anyway."
            )
        if not paths and text is None:
            paths = read_standard_input()
        reader = Reader(lines, field, invalid, text, split_on)
        return function(paths=input_files(paths), reader=reader, **others)

    decorators = [
        click.argument("paths", nargs=-1, type=FilePath(urls=True), metavar="[FILES|FOLDERS]..."),
        text_option,
        click.option("--lines", is_flag=True, help="Each line is a document (without its \\n)."),
        click.option(
            "--field",
            metavar="NAME",
            help="Each line is a JSON object, and the document its field NAME. In CSV, TSV and "
            "Parquet, the column.  [default in .jsonl, .csv, .tsv and .parquet: text]",
        ),
        _split_on_option,
        invalid_option,
    ]
    return cast(F, decorated(command, decorators))
