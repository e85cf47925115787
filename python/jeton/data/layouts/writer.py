"""Writing one split: documents go into shards, which get their names when they are whole."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from jeton.data.layouts.checks import (
    checked_dtype,
    checked_masks,
    checked_shard_tokens,
    checked_split,
    integers,
)
from jeton.data.layouts.layout import BaseLayout, Spool, part_of
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MissingFileError,
)
from jeton.files import FileDigest, digest_of

__all__ = ["Writer", "WrittenShard", "synced"]


@dataclass(frozen=True)
class WrittenShard:
    """A shard that was written."""

    files: tuple[str, ...]
    """Its files, relative to the folder, the one with the tokens first."""
    tokens: int
    """How many tokens it has."""
    documents: int
    """How many documents it has."""


class Writer:
    """Writes the documents of one split: see `jeton.data.layouts`, whose `create` makes it."""

    def __init__(
        self,
        layout: BaseLayout,
        folder: str,
        *,
        split: str,
        dtype: str,
        shard_tokens: int | None,
        tokenizer: str,
        masks: bool,
        state: Mapping[str, Any] | None,
    ) -> None:
        checked_split(split)
        checked_dtype(dtype)
        self._layout, self._folder, self._split = layout, Path(folder), split
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._tokenizer = tokenizer
        self._masks = checked_masks(layout, masks)
        #: What is written of each token, a file each: the token, and whether it is to be learnt.
        self._types = [self._dtype, *([np.dtype("uint8")] if self._masks else [])]
        self._shard_tokens = checked_shard_tokens(layout, shard_tokens)
        #: Whether the names of shards have a number: one that is alone needs none.
        self._numbered = layout.default_shard is not None or shard_tokens is not None
        #: Tokens and documents of each shard that is closed, and of the one that grows.
        self._closed: list[tuple[int, int]] = []
        self._tokens = self._documents = 0
        #: The tokens of a document that is not finished, which stand behind those; `None` without
        #: one.
        self._open: int | None = None
        self._before = (0, 0)
        #: How many of the closed shards have their names, and how many a saved state knows of.
        self._named = self._saved = 0
        self._files: tuple[BinaryIO, list[BinaryIO]] | None = None
        #: CRC-32 of what the shard that grows has in each file: up to its last whole document, and
        #: with the one that is not finished.
        self._sums = [0] * (1 + len(self._types))
        self._open_sums = list(self._sums)
        #: Of each closed shard, what its files are; how many of them a state speaks of that was
        #: saved by another writer.
        self._digests: list[dict[str, FileDigest]] = []
        self._restored = 0
        self._ended = False
        with self._file_errors():
            self._folder.mkdir(parents=True, exist_ok=True)
            if state is None:
                self._begin()
            else:
                self._go_on(state)

    @property
    def tokens(self) -> int:
        """How many tokens were appended, before a resumption too."""
        return self._before[0] + self._tokens + (self._open or 0)

    @property
    def documents(self) -> int:
        """How many whole documents were appended, before a resumption too."""
        return self._before[1] + self._documents

    @property
    def shards(self) -> list[WrittenShard]:
        """The shards that are whole."""
        return [
            WrittenShard((file, *self._beside(file)), tokens, documents)
            for number, (tokens, documents) in enumerate(self._closed)
            for file in [self._name(number)]
        ]

    @property
    def digests(self) -> dict[str, FileDigest]:
        """Size and SHA-256 of the files of the shards that are whole, as they were written."""
        return {name: it for shard in self._digests for name, it in shard.items()}

    def append(
        self,
        tokens: npt.NDArray[np.integer[Any]],
        lengths: npt.NDArray[np.integer[Any]],
        *,
        mask: npt.ArrayLike | None = None,
        unfinished: bool = False,
    ) -> None:
        """Appends documents.

        Args:
            tokens: The tokens of all of them, one after another.
            lengths: How many tokens each has; 0 is a document too.
            mask: For each token whether it is to be learnt, if the writer was made for `masks`.
            unfinished: Whether the last document goes on with the first of the next call.

        Raises:
            ArgumentError: The lengths do not add up to the tokens; a token that the type has no
                room for; a document that the layout has no room for; a mask is missing, or does
                not fit. Nothing is appended then.
            FileError: The disk is full, or fails otherwise.
        """
        if self._ended:
            raise ArgumentError("this writer has ended; nothing can be appended to it")
        flat, ends = self._checked(tokens, lengths)
        columns = [flat, *self._checked_mask(mask, len(flat))]
        if not len(ends):
            return
        with self._file_errors():
            at = done = 0
            if self._open is not None:
                at, done = int(ends[0]), 1
                self._continue(_cut(columns, 0, at), last=len(ends) > 1 or not unfinished)
            if unfinished and len(ends) > done:
                begun = int(ends[-2]) if len(ends) > 1 else 0
                self._append(_cut(columns, at, begun), ends[done:-1] - at)
                self._open = 0
                self._continue(_cut(columns, begun, len(flat)), last=False)
            else:
                self._append(_cut(columns, at, len(flat)), ends[done:] - at)

    def _append(self, columns: _Columns, ends: npt.NDArray[np.int64]) -> None:
        """Appends whole documents."""
        at = done = 0
        while done < len(ends):
            room = self._shard_tokens - self._tokens
            # As many documents as the shard has room for.
            stop = int(np.searchsorted(ends, at + room, side="right"))
            if stop <= done:
                if self._documents:
                    self._close_shard()
                    continue
                stop = done + 1
            upto = int(ends[stop - 1])
            self._write(_cut(columns, at, upto), ends[done:stop] - at)
            at, done = upto, stop

    def _continue(self, columns: _Columns, *, last: bool) -> None:
        """Appends to the document that is not finished; `last` finishes it."""
        so_far, size = self._open or 0, len(columns[0])
        self._check_document(so_far + size)
        if self._documents and self._tokens + so_far + size > self._shard_tokens:
            self._move(so_far)
        self._put(columns)
        self._open = so_far + size
        if last:
            self._tokens += self._open
            self._documents += 1
            self._open = None
            self._put_ends(np.array([self._tokens], np.int64))

    def _move(self, tokens: int) -> None:
        """Closes the shard, without the unfinished document that it has no room for."""
        _, files = self._open_files()
        spool, after = self._spool(len(self._closed)), self._spool(len(self._closed) + 1)
        starts, heads = self._sizes(self._tokens), self._sizes(0)
        sums = [0]
        for into, path, target_path, start, head in zip(
            files, self._growing(spool), self._growing(after), starts, heads, strict=True
        ):
            into.flush()
            with path.open("rb") as source, target_path.open("wb") as target:
                source.seek(start)
                target.seek(head)
                sums.append(0)
                while some := source.read(1 << 20):
                    target.write(some)
                    sums[-1] = zlib.crc32(some, sums[-1])
            into.truncate(start)
        self._close_shard()
        self._open_sums = sums
        moved: list[BinaryIO] = [path.open("r+b") for path in self._growing(after)]
        for file, size in zip(moved, self._sizes(tokens), strict=True):
            file.seek(size)
        self._files = (after.ends.open("wb"), moved)

    def checkpoint(self, *, last: bool = False) -> dict[str, Any]:
        """Brings everything appended so far to the disk, but for a document that is not finished.

        Args:
            last: There will be no more documents, so the last shard is closed. Save the state and
                call `finish`; killed in between, a writer of that state still finishes.

        Returns:
            A state of few bytes a shard, for JSON. Save each one before asking for the next:
            shards that it calls closed get their names then.
        """
        if last and self._open is not None:
            raise ArgumentError("the last document is not finished")
        with self._file_errors():
            self._name_shards(self._saved)
            if last and not self._ended:
                if self._documents:
                    self._close_shard()
                self._ended = True
            self._sync()
        self._saved = len(self._closed)
        return {
            **self._settings(),
            "shards": [
                [*counts, [[name, it.bytes, it.sha256] for name, it in digests.items()]]
                for counts, digests in zip(self._closed, self._digests, strict=True)
            ],
            "growing": [self._tokens, self._documents],
            "crc32": list(self._sums),
            "last": self._ended,
        }

    def finish(self) -> list[WrittenShard]:
        """Gives all shards their names; without a single document there are none.

        Raises:
            FormatError: A shard that was written before a resumption has changed since.
        """
        self.checkpoint(last=True)
        with self._file_errors():
            self._name_shards(len(self._closed))
            for shard in self._digests[: self._restored]:
                for name, written in shard.items():
                    if digest_of(self._folder / name) != written:
                        raise _damaged(self._folder / name)
        self.close()
        return self.shards

    def close(self) -> None:
        """Lets go of the files. What is not finished keeps the name of a part."""
        self._ended = True
        if self._files is not None:
            for file in _all(self._files):
                # What was buffered is lost with a full disk; a checkpoint would have said so.
                with contextlib.suppress(OSError):
                    file.close()
            self._files = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _settings(self) -> dict[str, Any]:
        return {
            "layout": self._layout.name,
            "split": self._split,
            "dtype": self._dtype.name,
            "shard_tokens": self._shard_tokens,
            "masks": self._masks,
        }

    def _name(self, number: int) -> str:
        return self._layout.file(self._split, number if self._numbered else None)

    def _spool(self, number: int) -> Spool:
        return self._layout.spool(self._folder, self._name(number))

    def _finals(self, number: int) -> list[Path]:
        """The files of a shard, the main one last."""
        file = self._name(number)
        return [self._folder / name for name in (*self._beside(file), file)]

    def _beside(self, file: str) -> tuple[str, ...]:
        """The names of the files beside a main file."""
        mask = self._layout.mask(file) if self._masks else None
        return (*self._layout.beside(file), *([] if mask is None else [mask]))

    def _growing(self, spool: Spool) -> list[Path]:
        """The files into which a shard's tokens, and what belongs to each, are written."""
        return [spool.tokens, spool.mask][: len(self._types)]

    def _sizes(self, tokens: int) -> list[int]:
        """How many bytes these files have with so many tokens."""
        heads = (self._layout.header_size, 0)
        sizes = zip(heads, self._types, strict=False)
        return [head + tokens * kind.itemsize for head, kind in sizes]

    def _begin(self) -> None:
        for path in self._finals(0):
            if path.exists():
                raise FileError(
                    f"{path}: exists already, from another run; choose another folder, or remove "
                    "what is in this one"
                )
        self._remove_parts(0)

    def _go_on(self, state: Mapping[str, Any]) -> None:
        if not isinstance(state, Mapping):
            raise ArgumentTypeError(
                f"state must be what checkpoint gave, not {type(state).__name__}"
            )
        for name, value in self._settings().items():
            if state.get(name) != value:
                raise ArgumentError(
                    f"the state was saved with {name}={state.get(name)!r}, not {value!r}; go on "
                    "with what it began with, or begin anew"
                )
        self._closed = [(int(tokens), int(documents)) for tokens, documents, _ in state["shards"]]
        self._digests = [
            {name: FileDigest(size, sha256) for name, size, sha256 in files}
            for *_, files in state["shards"]
        ]
        self._restored = len(self._closed)
        self._sums = list(state["crc32"])
        self._open_sums = list(self._sums)
        self._tokens, self._documents = map(int, state["growing"])
        self._ended = bool(state["last"])
        self._saved = len(self._closed)
        self._before = tuple(map(sum, zip((0, 0), *self._closed, strict=True)))  # type: ignore[assignment]
        for path in [] if self._ended else self._finals(len(self._closed)):
            if path.exists():
                raise FileError(
                    f"{path}: is newer than the state that was saved; remove the files of "
                    f"{self._split!r} and begin anew"
                )
        if self._numbered:
            self._remove_parts(len(self._closed) + 1)
        if not self._ended:
            self._check(self._open_files())
        self._name_shards(self._saved)

    def _open_files(self) -> tuple[BinaryIO, list[BinaryIO]]:
        """The files of the shard that grows, that of the ends first, cut to what is counted."""
        if self._files is None:
            spool = self._spool(len(self._closed))
            spool.tokens.parent.mkdir(exist_ok=True)
            paths = [spool.ends, *self._growing(spool)]
            sizes = [self._documents * 8, *self._sizes(self._tokens)]
            for path, size in zip(paths, sizes, strict=True):
                if self._documents and (not path.exists() or path.stat().st_size < size):
                    raise MissingFileError(
                        f"{path}: is gone or cut short since the state was saved; remove the files "
                        f"of {self._split!r} and begin anew"
                    )
            opened: list[BinaryIO] = []
            for path, size in zip(paths, sizes, strict=True):
                opened.append(path.open("r+b" if self._documents else "wb"))
                opened[-1].truncate(size)
                opened[-1].seek(size)
            self._files = (opened[0], opened[1:])
        return self._files

    def _check(self, files: tuple[BinaryIO, list[BinaryIO]]) -> None:
        """Refuses a shard that grows if it is not what the state speaks of."""
        for file, head, expected in zip(_all(files), [0, *self._sizes(0)], self._sums, strict=True):
            path, found = Path(file.name), 0
            with path.open("rb") as written:
                written.seek(head)
                while some := written.read(1 << 20):
                    found = zlib.crc32(some, found)
            if found != expected:
                self.close()
                raise _damaged(path)

    def _put(self, columns: _Columns) -> None:
        """Writes tokens and what belongs to each."""
        _, files = self._open_files()
        if self._open is None:
            self._open_sums = list(self._sums)
        for number, (into, values, kind) in enumerate(
            zip(files, columns, self._types, strict=True), 1
        ):
            data = np.ascontiguousarray(values, kind).data
            into.write(data)
            self._open_sums[number] = zlib.crc32(data, self._open_sums[number])

    def _put_ends(self, ends: npt.NDArray[np.int64]) -> None:
        """Writes the ends of documents, which are whole with that."""
        beside, _ = self._open_files()
        data = ends.astype("<i8").tobytes()
        beside.write(data)
        self._open_sums[0] = zlib.crc32(data, self._sums[0])
        self._sums = list(self._open_sums)

    def _write(self, columns: _Columns, ends: npt.NDArray[np.int64]) -> None:
        self._put(columns)
        self._put_ends(ends + self._tokens)
        self._tokens += len(columns[0])
        self._documents += len(ends)

    def _close_shard(self) -> None:
        files = self._open_files()
        self._files = None
        for file in _all(files):
            file.close()
        main = self._folder / self._name(len(self._closed))
        spool = self._spool(len(self._closed))
        self._layout.close(spool, main, self._dtype.name, self._tokenizer, self._masks)
        finals = self._finals(len(self._closed))
        names = [path.relative_to(self._folder).as_posix() for path in finals]
        parts = map(part_of, finals)
        self._digests.append(dict(zip(names, map(digest_of, parts), strict=True)))
        self._closed.append((self._tokens, self._documents))
        self._sums = [0] * len(self._sums)
        self._open_sums = list(self._sums)
        self._before = self._before[0] + self._tokens, self.documents
        self._tokens = self._documents = 0

    def _name_shards(self, upto: int) -> None:
        """Gives shards their names, in any state that a process killed at this can have left."""
        for number in range(self._named, upto):
            finals = self._finals(number)
            for path in finals:
                part = part_of(path)
                if part.exists():
                    os.replace(part, path)
                elif not path.exists():
                    raise MissingFileError(
                        f"{path}: is gone since the state was saved; remove the files of "
                        f"{self._split!r} and begin anew"
                    )
            spool = self._spool(number)
            for left in (spool.ends, *self._growing(spool)):
                left.unlink(missing_ok=True)
        if self._named < upto:
            synced(self._finals(0)[0].parent)
            self._named = upto

    def _remove_parts(self, first: int) -> None:
        """Removes what shards from `first` on have left under the names of parts."""
        left = [self._folder]
        while left:
            spool = self._spool(first)
            parts = [part_of(path) for path in self._finals(first)]
            left = [path for path in (*parts, spool.ends, *self._growing(spool)) if path.exists()]
            for path in left:
                path.unlink(missing_ok=True)
            first += 1

    def _sync(self) -> None:
        """Brings to the disk what the next state says is there."""
        for number in range(self._saved, len(self._closed)):
            for path in self._finals(number):
                synced(part_of(path))
        if self._files is not None:
            for file in _all(self._files):
                file.flush()
                os.fsync(file.fileno())

    def _checked(
        self, tokens: object, lengths: object
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        flat, counts = integers("tokens", tokens), integers("lengths", lengths)
        if len(counts) and int(counts.min()) < 0:
            raise ArgumentError("lengths must not be negative")
        ends = np.cumsum(counts, dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        if total != len(flat):
            raise ArgumentError(f"lengths add up to {total:,}, but there are {len(flat):,} tokens")
        self._check_document(int(counts.max()) if len(counts) else 0)
        if flat.dtype != self._dtype and len(flat):
            least, most = int(flat.min()), int(flat.max())
            if least < 0 or most > np.iinfo(self._dtype).max:
                raise ArgumentError(
                    f"token {least if least < 0 else most} does not fit {self._dtype.name}: see "
                    "jeton.data.layouts.dtype_for"
                )
        return flat, ends

    def _checked_mask(self, mask: object, tokens: int) -> list[npt.NDArray[np.uint8]]:
        if not self._masks:
            if mask is not None:
                raise ArgumentError("mask is for a writer that was made with masks=True")
            return []
        if mask is None:
            raise ArgumentError("this writer was made with masks=True; give a mask with the tokens")
        flags = np.asarray(mask)
        if flags.ndim != 1 or flags.dtype.kind not in "biu":
            raise ArgumentTypeError("mask must be an array of bools, or of 0 and 1, with one axis")
        if len(flags) != tokens:
            raise ArgumentError(f"mask has {len(flags):,} values for {tokens:,} tokens")
        if not ((flags == 0) | (flags == 1)).all():
            raise ArgumentError("mask must hold bools, or 0 and 1")
        return [flags.astype(np.uint8)]

    def _check_document(self, tokens: int) -> None:
        most = self._layout.most_document
        if most is not None and tokens > most:
            raise ArgumentError(
                f"a document has {tokens:,} tokens; layout {self._layout.name!r} has room for "
                f"{most:,}"
            )

    @contextlib.contextmanager
    def _file_errors(self) -> Iterator[None]:
        """Errors of the file system as jeton's, with the place."""
        try:
            yield
        except FileError:
            raise
        except OSError as error:
            place = error.filename or self._folder
            raise FileError(f"{place}: cannot be written: {error.strerror or error}") from None


def _damaged(path: Path) -> FormatError:
    return FormatError(
        f"{path}: is damaged since it was written; remove it and what was written with it, and "
        "begin anew"
    )


_Columns = list[npt.NDArray[Any]]
"""Tokens, and what belongs to each: arrays of one length."""


def _cut(columns: _Columns, start: int, stop: int) -> _Columns:
    return [values[start:stop] for values in columns]


def _all(files: tuple[BinaryIO, list[BinaryIO]]) -> list[BinaryIO]:
    return [files[0], *files[1]]


def synced(path: Path) -> None:
    """Waits until what the system has of a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
