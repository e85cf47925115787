"""Documents from files: text, JSON lines, CSV and TSV (compressed or not), and Parquet."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from threading import Event

from jeton.corpora.corpus import size_of
from jeton.corpora.dropped import RecordPlace, from_core
from jeton.corpora.tables import ParquetColumn, is_table
from jeton.corpora.token_blocks.blocks import (
    Block,
    Blocks,
    DocumentEncoding,
    DocumentSource,
    SourcePosition,
    nothing,
)
from jeton.corpora.token_blocks.rows import Row, TextBatch, blocks_of_texts
from jeton.errors import FileError, JetonError
from jeton.files import digest_of, file_errors
from jeton.stores.files import InputFile, StoreFile
from jeton.stores.local_copies import LocalFiles, local_files

_BYTES = 8_000_000
"""Bytes of a table that are encoded at a time."""


class OfFiles(DocumentSource):
    """A source that is files."""

    def __init__(self, paths: list[InputFile]) -> None:
        self._paths = paths
        self._sizes = [size_of(path) for path in paths]
        self._identities = [identity_of(path) for path in paths]

    @property
    def size(self) -> int:
        """The bytes of the files on the disk; 0 if one is a pipe."""
        return sum(self._sizes) if all(path.is_file() for path in self._paths) else 0

    def identity(self) -> list[dict[str, object]]:
        """The files, with the properties that show whether one has changed."""
        return [dict(entry) for entry in self._identities]

    def consumed(self, start: SourcePosition) -> int | None:
        """The files before `start`, and a partly read table; the core compares a partly read text
        with what was read."""
        file, position, *_ = start.place or (0, 0)
        is_partly_read = file < len(self._paths) and position > 0 and is_table(self._paths[file])
        return file + is_partly_read

    def samples(self) -> list[tuple[SourcePosition, int]]:
        """The beginnings of the first, middle and last file."""
        sizes = self._sizes
        numbers = sorted({0, len(sizes) // 2, len(sizes) - 1})
        if any(isinstance(path, StoreFile) for path in self._paths):
            numbers = [0]  # since all of a file is fetched to read its beginning
        return [(SourcePosition((number, 0, 0, 0)), sum(sizes[:number])) for number in numbers]


class FileSource(OfFiles):
    """Files whose documents are files, lines, records or rows.

    A place is the number of a file, a byte of it (decompressed; for a table, a row), a line, and
    the first bytes of the SHA-256 of the bytes before.
    """

    def __init__(self, paths: list[InputFile], encoding: DocumentEncoding) -> None:
        super().__init__(paths)
        self._encoding = encoding
        # Tables that cannot be read are an error before any work.
        for path in paths:
            if isinstance(path, Path) and is_table(path):
                self._table(path)

    def blocks(self, start: SourcePosition) -> Blocks:
        """The blocks of all files, from `start` on."""
        progress = start
        first = start.place[0] if start.place else 0
        for here in local_files(self._paths, first):
            numbered = enumerate(here.paths, here.first)
            for tables, run in groupby(numbered, lambda entry: is_table(entry[1])):
                files = list(run)
                with here.named():
                    if tables:
                        for number, path in files:
                            progress = yield from self._of_table(number, path, here, progress)
                    else:
                        paths = [path for _, path in files]
                        progress = yield from self._of_text(files[0][0], paths, here, progress)

    def _of_text(
        self, first: int, paths: list[Path], here: LocalFiles, progress: SourcePosition
    ) -> Generator[Block, None, SourcePosition]:
        file, byte, line, digest = progress.place or (first, 0, 0, 0)
        core_blocks = self._encoding.of_files(
            list(map(os.fspath, paths)), (file - first, byte, line, digest)
        )
        documents, size, empty = progress.documents, progress.bytes, progress.empty
        bad = progress.bad
        before: SourcePosition | None = progress
        try:
            while (block := core_blocks.next()) is not None:
                tokens, lengths, unfinished, keys, size_here, empty_here, dropped = block[:7]
                at, read, ended = block[7:]
                documents += len(lengths) - unfinished
                size += size_here
                empty += empty_here
                bad += len(dropped)
                place = (first + at[0], *at[1:])
                after = None if unfinished else SourcePosition(place, documents, size, empty, bad)
                progress = after or progress
                for number, size_read, _ in ended:
                    self._check(first + number, size_read)
                yield Block(
                    tokens,
                    lengths,
                    keys,
                    before,
                    after,
                    sum(self._sizes[: place[0]]) + read,
                    tuple((first + number, read, sha256.hex()) for number, read, sha256 in ended),
                    tuple(from_core(*record).named(here.name) for record in dropped),
                )
                before = after
        finally:
            core_blocks.close()
        return progress

    def _of_table(
        self, number: int, path: Path, here: LocalFiles, progress: SourcePosition
    ) -> Generator[Block, None, SourcePosition]:
        row = progress.place[1] if progress.place else 0
        table = self._table(path)
        before, size = sum(self._sizes[:number]), self._sizes[number]
        stopped = Event()

        def batches() -> Iterator[TextBatch]:
            first = row
            for column in table.columns(_BYTES, row):
                yield TextBatch(column, partial(position, first))
                first += len(column)

        def position(first: int, at: int) -> Row:
            name = RecordPlace(here.name(os.fspath(path)), "row", first + at)
            read = before + size * (first + at + 1) // max(1, table.rows)
            return Row(name, (number, first + at + 1, 0, 0), read)

        with ThreadPoolExecutor(1) as thread:
            digest = thread.submit(digest_of, path, stopped)
            blocks = blocks_of_texts(batches(), self._encoding, progress)
            try:
                for block in blocks:
                    progress = block.after or progress
                    yield block
                file_digest = digest.result()
            except JetonError as error:
                if str(error).startswith((f"{path}: ", f"{here.name(os.fspath(path))}: ")):
                    raise
                raise error.reworded(f"{path}: {error.message}") from None
            finally:
                stopped.set()
        self._check(number, file_digest.bytes)
        after = replace(progress, place=(number + 1, 0, 0, 0))
        digests = ((number, file_digest.bytes, file_digest.sha256),)
        yield nothing(self._encoding.dtype, progress, after, before + size, digests)
        return after

    def _table(self, path: Path) -> ParquetColumn:
        return ParquetColumn(path, self._encoding.field or "text", self._encoding.errors)

    def _check(self, number: int, read: int) -> None:
        check_unchanged(self._paths[number], self._identities[number], read)


def check_unchanged(path: InputFile, identity: dict[str, object], read: int) -> None:
    """Fails if a file has changed since reading began."""
    if identity != identity_of(path) or identity.get("bytes", read) != read:
        at_first = identity.get("bytes", read)
        sizes = f"{read:,} bytes were read, and it had {at_first:,} at first"
        raise FileError(
            f"{path}: changed while it was read: "
            + (sizes if read != at_first else "it was written or replaced")
            + "; prepare the set again"
        )


def identity_of(path: InputFile) -> dict[str, object]:
    """The path of a file, with the properties that show whether it has changed."""
    if isinstance(path, StoreFile):
        return path.identity()
    with file_errors(path, "read"):
        status = path.stat() if path != Path("-") else None
    if status is None or not path.is_file():
        return {"path": os.fspath(path)}
    return {"path": os.fspath(path), "bytes": status.st_size, "mtime_ns": status.st_mtime_ns}
