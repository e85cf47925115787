"""The documents of files, as texts: what a document is, for everything that reads its text.

Look here for documents that are measured, shown or encoded one by one. Word counts and token blocks
are made from the same files by the same reader of the core (`crates/training/src/corpus`), which
needs no text in Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import jeton._core as _core
from jeton.corpora.corpus import size_of
from jeton.corpora.tables import ParquetColumn, is_table
from jeton.files import digest_of
from jeton.stores.files import InputFile
from jeton.stores.local_copies import LocalFiles, local_files

_TABLE_BYTES = 4 << 20
"""Bytes of a table that are read at a time."""


@dataclass(frozen=True, slots=True)
class FileDocument:
    """A document of a file."""

    text: str
    file: str
    """The path or the URL of the file."""
    line: int | None
    """Its line or record, from 1; `None` if it is the whole file, or a row of a table."""


def documents_of(
    paths: Iterable[InputFile],
    *,
    field: str | None = None,
    errors: str = "strict",
    unit: bool | str = False,
    read: Callable[[int], None] | None = None,
    digest: Callable[[int, str], None] | None = None,
) -> Iterator[FileDocument]:
    """The documents of files, in order.

    Args:
        field: The field or column that holds the text; `text` if it is `None`.
        errors: What to do with bytes that are not UTF-8.
        unit: Whether each line of a text file is a document; or the text between documents.
        read: Called with the bytes of all files that were read from the disk so far.
        digest: Called with the size and the SHA-256 of each file that was read.
    """
    before = 0
    for here in local_files([*paths]):
        with here.named():
            yield from _of_local(here, field, errors, unit, _later(read, before), digest)
        before += sum(map(size_of, here.paths))


def _later(read: Callable[[int], None] | None, before: int) -> Callable[[int], None] | None:
    """`read` for files that come after this many bytes."""
    return None if read is None else lambda size: read(before + size)


def _of_local(
    here: LocalFiles,
    field: str | None,
    errors: str,
    unit: bool | str,
    read: Callable[[int], None] | None,
    digest: Callable[[int, str], None] | None,
) -> Iterator[FileDocument]:
    before = 0
    for of_tables, run in groupby(here.paths, is_table):
        files = list(run)
        names = [here.name(os.fspath(path)) for path in files]
        if of_tables:
            for path, name in zip(files, names, strict=True):
                table = ParquetColumn(path, field or "text", errors)
                for text in table.texts(_TABLE_BYTES):
                    if read is not None:
                        read(before + int(table.share()))
                    yield FileDocument(text, name, None)
                before += size_of(path)
                if digest is not None:
                    of_file = digest_of(path)
                    digest(of_file.bytes, of_file.sha256)
            continue
        documents, ended = _core.Documents([*map(os.fspath, files)], field, errors, unit), 0
        while (part := documents.next()) is not None:
            texts, bytes_of_file, digests = part
            for number, text, line in texts:
                yield FileDocument(text, names[number], line)
            for number, size, sha256 in digests:
                if digest is not None:
                    digest(size, sha256.hex())
                ended = number + 1
                before += size_of(files[number])
            if read is not None:
                is_between = not texts or texts[-1][0] < ended
                read(before + (0 if is_between else bytes_of_file))
