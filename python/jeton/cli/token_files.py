"""Token ids in files: as text, as JSON Lines, as numpy arrays.

Look here for the three formats in which `encode` writes ids and `decode` reads them. Lines are
written and read one at a time, so memory does not grow with the file.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tokenize
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from jeton.cli.streams import STDIN, STDOUT, name_full_file, refuse_endless
from jeton.cli.targets import replacing
from jeton.errors import FileError, FormatError

Form = Literal["text", "jsonl", "npy"]
FORMS: tuple[Form, ...] = ("text", "jsonl", "npy")

_MAGIC = b"\x93NUMPY"


_ENDINGS: dict[str, Form] = {".txt": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npy": "npy"}


def form_for(path: str | None, option: Form | None) -> Form:
    """The format: `option` if there is one, otherwise by the ending of the output file."""
    if option is not None:
        return option
    if path is None or path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        return "text"
    form = _ENDINGS.get(Path(path).suffix.lower())
    if form is None:
        raise FileError(
            f"{path}: the name does not say the format of the ids (end it in .txt, .jsonl or .npy, "
            "or pass --format)"
        )
    return form


def dtype_for(max_id: int) -> type[np.uint16] | type[np.uint32]:
    """The smallest type of numpy that holds every id.

    >>> dtype_for(50_256).__name__, dtype_for(65_535).__name__, dtype_for(65_536).__name__
    ('uint16', 'uint16', 'uint32')
    """
    return np.uint16 if max_id <= 0xFFFF else np.uint32


@contextlib.contextmanager
def results(path: str | None, *, force: bool) -> Iterator[BinaryIO]:
    """The file for results, which appears only when complete, or standard output."""
    if path is None or path == "-":
        with name_full_file(STDOUT):
            stdout = sys.stdout.buffer
            yield stdout
            stdout.flush()
    else:
        with replacing(Path(path), force=force) as file:
            yield file
            file.flush()
            if file.seekable():
                os.fsync(file.fileno())


class NpyWriter:
    """A one-dimensional `.npy` file of unknown length, written as it grows."""

    def __init__(self, file: BinaryIO, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.length = 0
        self._file = file
        if not file.seekable():
            raise FileError(
                "a .npy file begins with its length, so it cannot be piped (name a file)"
            )
        self._start = file.tell()
        self._write_header()

    def write(self, ids: npt.NDArray[np.integer]) -> None:
        """Appends ids."""
        self._file.write(ids.astype(self.dtype, copy=False).tobytes())
        self.length += len(ids)

    def finish(self) -> None:
        """Writes the final length into the header."""
        end = self._file.tell()
        self._file.seek(self._start)
        self._write_header()
        self._file.seek(end)

    def _write_header(self) -> None:
        # 128 bytes for any length: numpy makes it a multiple of 64.
        fields = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self._file, fields)  # type: ignore[no-untyped-call]


def read_ids(path: str) -> Iterator[npt.NDArray[np.uint32]]:
    """The ids of each document in a file; how the file begins shows its format.

    A `.npy` file is one document; in the other formats, each line is one.
    """
    if path == "-":
        with name_full_file(STDIN):
            yield from _read(sys.stdin.buffer, path)
    else:
        with open(path, "rb") as file:
            refuse_endless(file, path)
            yield from _read(file, path)


def _read(file: BinaryIO, path: str) -> Iterator[npt.NDArray[np.uint32]]:
    first = file.readline()
    if first.startswith(_MAGIC):
        yield _as_ids(read_array(io.BytesIO(first + file.read()), path), path)
        return
    for number, line in enumerate(chain([first] if first else [], file), 1):
        place = f"{path}:{number}"
        words = line.split()
        if words and words[0][:1] in (b"{", b"["):
            yield _as_ids(_json_ids(line, place), place)
        else:
            yield _as_ids([_text_id(word, place) for word in words], place)


def read_array(file: BinaryIO, place: str) -> npt.NDArray[np.integer]:
    """A one-dimensional array of whole numbers from a `.npy` file."""
    try:
        array: npt.NDArray[np.integer] = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, tokenize.TokenError):
        raise FormatError(f"{place}: not a whole .npy file of numbers") from None
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise FormatError(
            f"{place}: expected one sequence of integers, not {array.dtype} of shape {array.shape}"
        )
    return array


def _text_id(word: bytes, place: str) -> int:
    if not word.isdigit() or len(word) > 10:
        raise FormatError(f"{place}: {word[:24].decode('utf-8', 'replace')!r} is not a token id")
    return int(word)


def _json_ids(line: bytes, place: str) -> list[int]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{place}: not JSON: {error}") from None
    ids = record.get("ids") if isinstance(record, dict) else record
    if not isinstance(ids, list) or any(type(item) is not int for item in ids):
        raise FormatError(f'{place}: expected {{"ids": [1, 2, …]}} or [1, 2, …]')
    return ids


def _as_ids(ids: list[int] | npt.NDArray[np.integer], place: str) -> npt.NDArray[np.uint32]:
    if len(ids) == 0:
        return np.empty(0, np.uint32)
    extremes = (ids.min(), ids.max()) if isinstance(ids, np.ndarray) else (min(ids), max(ids))
    for extreme in extremes:
        if not 0 <= extreme <= 0xFFFF_FFFF:
            raise FormatError(f"{place}: {extreme} is not a token id")
    return np.asarray(ids, dtype=np.uint32)
