"""Recognises the kind of the data (paths, texts, records or columns) and selects a part of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from jeton.arguments import checked_iterable
from jeton.corpora.corpus import names_a_file, paths_or_texts, size_of
from jeton.corpora.token_blocks.blocks import DocumentEncoding, DocumentSource
from jeton.corpora.token_blocks.files import FileSource
from jeton.corpora.token_blocks.rows import Columns, IteratedTexts, column_rows
from jeton.data.preparing.record_encoder import RecordEncoder
from jeton.data.preparing.records import RecordFiles, RecordItems, RecordRows, rows_of
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.stores.files import InputFile


def source_of(
    data: object,
    encoding: DocumentEncoding,
    records: RecordEncoder | None,
    *,
    part: tuple[int, int] | None = None,
    name: str = "data",
    characters: int | None = None,
) -> DocumentSource:
    """The source of blocks for the data.

    Args:
        encoding: How documents are read and become tokens.
        records: The encoder of records, if they hold conversations or are filtered.
        part: The part to prepare, from 1, and the number of parts.
        name: The argument that holds the data.
        characters: About how many characters of an iterable are encoded at a time; by default as
            many as keep all cores at work.
    """
    paths = paths_of(data, name)
    if paths is not None:
        if part is not None:
            paths = _part(paths, *part)
        return source_of_files(paths, encoding, records)
    if encoding.unit:
        raise ArgumentError(
            f"documents is for files, and {name} holds documents that are not files"
        )
    rows = column_rows(data, encoding.field) if records is None else rows_of(data, records)
    if rows is not None:
        if part is not None:
            rows = rows.part(*part)
        if records is None:
            return Columns(rows, encoding)
        return RecordRows(rows, records)
    data = checked_iterable(
        name,
        data,
        "a path, paths, or an iterable of texts or records",
        but=(bytes, bytearray, Mapping),
    )
    if part is not None:
        if not isinstance(data, Sequence):
            raise ArgumentError(f"only files, tables and lists have parts, and {name} is another")
        number, parts = part
        data = data[len(data) * (number - 1) // parts : len(data) * number // parts]
    if records is not None:
        return RecordItems(data, records)
    return IteratedTexts(data, encoding, characters)


def source_of_files(
    paths: list[InputFile], encoding: DocumentEncoding, records: RecordEncoder | None
) -> DocumentSource:
    """The source of blocks for files."""
    if records is not None:
        return RecordFiles(paths, records, encoding.errors)
    return FileSource(paths, encoding)


def default_split(data: object, validation: object) -> str:
    """How the share for validation is chosen: by hash of documents if there are several files."""
    if validation is None or isinstance(data, (bytes, bytearray)):
        return "cut"
    return "hash" if len(paths_of(data, "data") or ()) > 1 else "cut"


def paths_of(data: object, name: str) -> list[InputFile] | None:
    """The files that `data` names; `None` if it does not name files."""
    if isinstance(data, (str, os.PathLike)):
        return paths_or_texts(data)[0]
    if not isinstance(data, (list, tuple)) or not data:
        return None
    paths = [isinstance(item, os.PathLike) for item in data]
    if any(paths) and not all(paths):
        raise ArgumentTypeError(f"{name} holds paths and other items; pass one kind")
    if paths[0] or all(map(names_a_file, data)):
        return paths_or_texts(data)[0]
    return None


def _part(paths: list[InputFile], number: int, parts: int) -> list[InputFile]:
    """The files of a part; parts are consecutive and have about the same size."""
    if parts > len(paths):
        raise ArgumentError(
            f"{len(paths):,} files cannot be divided into {parts:,} parts; split the files, or ask "
            "for fewer parts"
        )
    sizes = [size_of(path) for path in paths]
    total, before, files = sum(sizes), 0, []
    for at, (path, size) in enumerate(zip(paths, sizes, strict=True)):
        # The middle of a file decides which part it belongs to.
        place = (2 * before + size) * parts // (2 * total) if total else at * parts // len(paths)
        if min(place, parts - 1) == number - 1:
            files.append(path)
        before += size
    return files
