"""Writing one split: documents go into shards, which get their names when they are complete."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jeton.arguments import check_kind
from jeton.data.layouts.checks import (
    checked_dtype,
    checked_masks,
    checked_shard_tokens,
    checked_split,
    integers,
)
from jeton.data.layouts.growing_file import GrowingFile
from jeton.data.layouts.layout import BaseLayout, part_of
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MissingFileError,
)
from jeton.files import FileDigest, digest_of, file_errors


@dataclass(frozen=True)
class WrittenShard:
    """A shard that was written."""

    files: tuple[str, ...]
    """Its files, relative to the folder, the one with the tokens first."""
    tokens: int
    """The number of tokens."""
    documents: int
    """The number of documents."""


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
        #: The types of the arrays that are written, a file each: tokens, and the loss mask.
        self._types = [self._dtype, *([np.dtype("uint8")] if self._masks else [])]
        self._shard_tokens = checked_shard_tokens(layout, shard_tokens)
        #: Whether the names of shards have a number: a single shard needs none.
        self._numbered = layout.default_shard is not None or shard_tokens is not None
        #: Tokens and documents of each closed shard, and of the open one.
        self._closed: list[tuple[int, int]] = []
        self._tokens = self._documents = 0
        #: The tokens of an unfinished document, which follow those; `None` without one.
        self._open: int | None = None
        self._before = (0, 0)
        #: How many of the closed shards have their names, and how many a saved state includes.
        self._name_count = self._saved_count = 0
        #: The files of the open shard, that of the ends first, and their states after its last
        #: whole document.
        self._files: list[GrowingFile] | None = None
        self._whole: list[tuple[int, int]] = []
        #: The files of each closed shard; how many shards are from the state of another writer.
        self._digests: list[dict[str, FileDigest]] = []
        self._restored = 0
        self._index: dict[str, FileDigest] = {}
        self._ended = False
        with file_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            if state is None:
                self._begin()
            else:
                self._resume(state)

    @property
    def tokens(self) -> int:
        """The number of tokens that were appended, including those before a resumption."""
        return self._before[0] + self._tokens + (self._open or 0)

    @property
    def documents(self) -> int:
        """The number of whole documents that were appended, including those before a resumption."""
        return self._before[1] + self._documents

    @property
    def shards(self) -> list[WrittenShard]:
        """The complete shards."""
        return [
            WrittenShard(self._layout.names(file, self._masks), tokens, documents)
            for number, (tokens, documents) in enumerate(self._closed)
            for file in [self._name(number)]
        ]

    @property
    def digests(self) -> dict[str, FileDigest]:
        """Size and SHA-256 of the files of the complete shards, as they were written, and of their
        index."""
        return {name: it for shard in self._digests for name, it in shard.items()} | self._index

    def append(
        self,
        tokens: npt.NDArray[np.integer],
        lengths: npt.NDArray[np.integer],
        *,
        mask: npt.ArrayLike | None = None,
        unfinished: bool = False,
    ) -> None:
        """Appends documents.

        Args:
            tokens: The tokens of all documents, one after another.
            lengths: The number of tokens of each; a document may have 0.
            mask: For each token whether it is learnt, if the writer has `masks`.
            unfinished: Whether the last document continues with the first of the next call.

        Raises:
            ArgumentError: The lengths do not add up to the tokens, a token is too large for the
                type, a document is too long for the layout, or the mask is missing or does not
                fit. Nothing is appended then.
            FileError: The disk is full, or fails in another way.
        """
        if self._ended:
            raise ArgumentError("this writer has ended; nothing can be appended to it")
        flat, ends = self._checked(tokens, lengths)
        columns = [flat, *self._checked_mask(mask, len(flat))]
        if not len(ends):
            return
        with file_errors(self._folder):
            at = number = 0
            if self._open is not None:
                at, number = int(ends[0]), 1
                self._continue(_cut(columns, 0, at), last=len(ends) > 1 or not unfinished)
            if unfinished and len(ends) > number:
                start = int(ends[-2]) if len(ends) > 1 else 0
                self._append(_cut(columns, at, start), ends[number:-1] - at)
                self._open = 0
                self._continue(_cut(columns, start, len(flat)), last=False)
            else:
                self._append(_cut(columns, at, len(flat)), ends[number:] - at)

    def _append(self, columns: _Columns, ends: npt.NDArray[np.int64]) -> None:
        """Appends whole documents."""
        at = number = 0
        while number < len(ends):
            room = self._shard_tokens - self._tokens
            # As many documents as fit into the shard.
            stop = int(np.searchsorted(ends, at + room, side="right"))
            if stop <= number:
                if self._documents:
                    self._close_shard()
                    continue
                stop = number + 1
            upto = int(ends[stop - 1])
            self._write(_cut(columns, at, upto), ends[number:stop] - at)
            at, number = upto, stop

    def _continue(self, columns: _Columns, *, last: bool) -> None:
        """Appends to the unfinished document; `last` finishes it."""
        so_far, size = self._open or 0, len(columns[0])
        self._check_document(so_far + size)
        if self._documents and self._tokens + so_far + size > self._shard_tokens:
            self._move()
        self._put(columns)
        self._open = so_far + size
        if last:
            self._tokens += self._open
            self._documents += 1
            self._open = None
            self._put_ends(np.array([self._tokens], np.int64))

    def _move(self) -> None:
        """Closes the shard, and moves the unfinished document, which does not fit, to the next."""
        files, after = self._open_files(), self._begun(len(self._closed) + 1)
        for file, whole, target in zip(files, self._whole, after, strict=True):
            file.move_after(whole, target)
        self._close_shard()
        self._files = after

    def checkpoint(self, *, last: bool = False) -> dict[str, Any]:
        """Brings everything so far to the disk, except an unfinished document.

        Args:
            last: Whether there are no more documents, so that the last shard is closed. Save the
                state and call `finish`; after a kill in between, a writer with that state finishes.

        Returns:
            A state of a few bytes per shard, for JSON. Save each state before the next checkpoint,
            which gives the shards that are closed in this state their names.
        """
        if last and self._open is not None:
            raise ArgumentError("the last document is not finished")
        with file_errors(self._folder):
            self._name_shards(self._saved_count)
            if last and not self._ended:
                if self._documents:
                    self._close_shard()
                self._ended = True
            self._sync()
        self._saved_count = len(self._closed)
        return {
            **self._settings(),
            "shards": [
                [*counts, [[name, it.bytes, it.sha256] for name, it in digests.items()]]
                for counts, digests in zip(self._closed, self._digests, strict=True)
            ],
            "growing": [self._tokens, self._documents],
            "files": self._whole,
            "last": self._ended,
        }

    def finish(self) -> list[WrittenShard]:
        """Gives all shards their names, and returns them; without documents there are none.

        Raises:
            FormatError: A shard from before a resumption has changed since it was written.
        """
        self.checkpoint(last=True)
        with file_errors(self._folder):
            self._name_shards(len(self._closed))
            for shard in self._digests[: self._restored]:
                for name, digest in shard.items():
                    if digest_of(self._folder / name) != digest:
                        raise _damaged(self._folder / name)
            shards = [(self._name(at), count) for at, (_, count) in enumerate(self._closed)]
            self._index = write_index(self._layout, self._folder, self._dtype.name, shards)
        self.close()
        return self.shards

    def close(self) -> None:
        """Closes the files. An unfinished shard keeps its temporary names."""
        self._ended = True
        if self._files is not None:
            for file in self._files:
                # A full disk loses buffered data; a checkpoint would have raised an error.
                with contextlib.suppress(FileError):
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

    def _spooled(self, number: int) -> list[Path]:
        """The files into which a shard is written: its ends, its tokens, and its loss mask."""
        spool = self._layout.spool(self._folder, self._name(number))
        return [spool.ends, spool.tokens, spool.mask][: 1 + len(self._types)]

    def _finals(self, number: int) -> list[Path]:
        """The files of a shard, the main one last."""
        main, *beside = self._layout.names(self._name(number), self._masks)
        return [self._folder / name for name in (*beside, main)]

    def _begin(self) -> None:
        paths = self._finals(0)
        if self._layout.index is not None:
            paths.append(paths[-1].with_name(self._layout.index))
        for path in paths:
            if path.exists():
                raise FileError(
                    f"{path}: exists already, from another run; choose another folder, or empty "
                    "this one"
                )
        self._remove_parts(0)

    def _resume(self, state: Mapping[str, Any]) -> None:
        check_kind("state", state, Mapping, "a result of checkpoint")
        for name, value in self._settings().items():
            if state.get(name) != value:
                raise ArgumentError(
                    f"the state was saved with {name}={state.get(name)!r}, not {value!r}; resume "
                    "with the same arguments, or start again"
                )
        self._closed = [(int(tokens), int(documents)) for tokens, documents, _ in state["shards"]]
        self._digests = [
            {name: FileDigest(size, sha256) for name, size, sha256 in files}
            for *_, files in state["shards"]
        ]
        self._restored = len(self._closed)
        self._whole = [(size, checksum) for size, checksum in state["files"]]
        self._tokens, self._documents = map(int, state["growing"])
        self._ended = bool(state["last"])
        self._saved_count = len(self._closed)
        self._before = tuple(map(sum, zip((0, 0), *self._closed, strict=True)))  # type: ignore[assignment]
        for path in [] if self._ended else self._finals(len(self._closed)):
            if path.exists():
                raise FileError(
                    f"{path}: is newer than the saved state; remove the files of {self._split!r} "
                    "and start again"
                )
        if self._numbered:
            self._remove_parts(len(self._closed) + 1)
        if not self._ended:
            self._open_files()
        self._name_shards(self._saved_count)

    def _open_files(self) -> list[GrowingFile]:
        """The files of the open shard, as they were after its last whole document."""
        if self._files is None:
            self._files = self._begun(len(self._closed), self._whole)
            self._whole = [file.state for file in self._files]
        return self._files

    def _begun(self, number: int, states: Sequence[tuple[int, int]] = ()) -> list[GrowingFile]:
        """The files of a shard, which are new unless they have these states."""
        paths = self._spooled(number)
        paths[0].parent.mkdir(exist_ok=True)
        heads, remedy = (0, self._layout.header_size, 0), f"remove the files of {self._split!r}"
        files = [
            GrowingFile(path, state, head=head, remedy=remedy)
            for path, state, head in zip(
                paths, states or [(0, 0)] * len(paths), heads, strict=False
            )
        ]
        for file in files:
            file.append(b"")
        return files

    def _put(self, columns: _Columns) -> None:
        """Writes tokens and their loss mask."""
        _, *files = self._open_files()
        for file, values, kind in zip(files, columns, self._types, strict=True):
            file.append(np.ascontiguousarray(values, kind).data)

    def _put_ends(self, ends: npt.NDArray[np.int64]) -> None:
        """Writes the ends of documents, which completes these."""
        files = self._open_files()
        files[0].append(ends.astype("<i8").data)
        self._whole = [file.state for file in files]

    def _write(self, columns: _Columns, ends: npt.NDArray[np.int64]) -> None:
        self._put(columns)
        self._put_ends(ends + self._tokens)
        self._tokens += len(columns[0])
        self._documents += len(ends)

    def _close_shard(self) -> None:
        for file in self._open_files():
            file.close()
        self._files, self._whole = None, []
        main = self._folder / self._name(len(self._closed))
        spool = self._layout.spool(self._folder, self._name(len(self._closed)))
        self._layout.close(spool, main, self._dtype.name, self._tokenizer, self._masks)
        finals = self._finals(len(self._closed))
        names = [path.relative_to(self._folder).as_posix() for path in finals]
        parts = map(part_of, finals)
        self._digests.append(dict(zip(names, map(digest_of, parts), strict=True)))
        self._closed.append((self._tokens, self._documents))
        self._before = self._before[0] + self._tokens, self.documents
        self._tokens = self._documents = 0

    def _name_shards(self, upto: int) -> None:
        """Gives shards their names, whatever a process that was killed doing this has left."""
        for number in range(self._name_count, upto):
            finals = self._finals(number)
            for path in finals:
                part = part_of(path)
                if part.exists():
                    os.replace(part, path)
                elif not path.exists():
                    raise MissingFileError(
                        f"{path}: is missing since the state was saved; remove the files of "
                        f"{self._split!r} and start again"
                    )
            for leftover in self._spooled(number):
                leftover.unlink(missing_ok=True)
        if self._name_count < upto:
            synced(self._finals(0)[0].parent)
            self._name_count = upto

    def _remove_parts(self, first: int) -> None:
        """Removes the temporary files of shards from `first` on."""
        leftovers = [self._folder]
        while leftovers:
            parts = [part_of(path) for path in self._finals(first)]
            leftovers = [path for path in (*parts, *self._spooled(first)) if path.exists()]
            for path in leftovers:
                path.unlink(missing_ok=True)
            first += 1

    def _sync(self) -> None:
        """Brings everything that the next state includes to the disk."""
        for number in range(self._saved_count, len(self._closed)):
            for path in self._finals(number):
                synced(part_of(path))
        if self._files is not None:
            for file in self._files:
                file.sync()

    def _checked(
        self, tokens: object, lengths: object
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]:
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
                raise ArgumentError("mask is for a writer with masks=True")
            return []
        if mask is None:
            raise ArgumentError("this writer has masks=True; pass a mask with the tokens")
        flags = np.asarray(mask)
        if flags.ndim != 1 or (flags.size and flags.dtype.kind not in "biu"):
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
                f"a document has {tokens:,} tokens; layout {self._layout.name!r} holds at most "
                f"{most:,}"
            )


def write_index(
    layout: BaseLayout, folder: Path, dtype: str, shards: Sequence[tuple[str, int]]
) -> dict[str, FileDigest]:
    """Writes the file that lists the shards of a split, if the layout has one; its digest by name.

    Args:
        folder: The folder of the set.
        dtype: The type of the tokens.
        shards: The main file of each shard, and its documents.
    """
    if layout.index is None or not shards:
        return {}
    path = folder / Path(shards[0][0]).with_name(layout.index)
    part = part_of(path)
    part.write_bytes(layout.index_of(dtype, [(folder / file, count) for file, count in shards]))
    synced(part)
    os.replace(part, path)
    return {path.relative_to(folder).as_posix(): digest_of(path)}


def _damaged(path: Path) -> FormatError:
    return FormatError(
        f"{path}: is damaged since it was written; remove it and the files written with it, and "
        "start again"
    )


_Columns = list[npt.NDArray[np.integer]]
"""Tokens and their loss mask: arrays of one length."""


def _cut(columns: _Columns, start: int, stop: int) -> _Columns:
    return [values[start:stop] for values in columns]


def synced(path: Path) -> None:
    """Waits until the system has written a file or folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
