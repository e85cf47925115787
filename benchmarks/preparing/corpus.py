"""The corpus that is prepared: documents made of the texts of `../shared`, or of jeton's samples.

Documents are windows of a few thousand characters at random places. One word in a hundred is
reversed, so that new words keep coming as they do in a corpus that does not repeat itself.
"""

from __future__ import annotations

import json
import lzma
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

from jeton import samples

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
FILE_BYTES = 32_000_000
"""About how large each file of JSON lines is."""
TEXT_CHARACTERS = 200_000
"""How many characters a document has that is a file of its own."""
CHARACTERS = 4_000
"""How many other documents have, about."""

_RARE = re.compile(r"(?s)(.{600}\S* )(\w+)")


def source() -> str:
    """Text of several languages."""
    texts = [
        lzma.decompress(path.read_bytes()).decode()
        for path in sorted((SHARED / "text").glob("*-64mb.txt.xz"))
    ]
    return "\n".join(texts or samples.read_all().values())


def documents(size: int, characters: int, seed: int) -> Iterator[str]:
    """Documents of this many bytes of UTF-8 in all."""
    text, draw = source(), random.Random(seed)
    while size > 0:
        length = max(1, int(draw.expovariate(1 / characters)))
        start = draw.randrange(max(1, len(text) - length))
        document = text[start : start + length].strip()
        document = _RARE.sub(lambda found: found[1] + found[2][::-1], document)
        if document:
            yield document
            size -= len(document.encode())


def make(folder: Path, size: int) -> dict[str, list[Path]]:
    """Writes a corpus of this many bytes, as text and as JSON lines, if it is not there yet."""
    done = folder / f"{size}.made"
    if not done.exists():
        _make_text(folder / "text", size)
        _make_lines(folder / "lines", size)
        done.touch()
    return {kind: sorted((folder / kind).iterdir()) for kind in ("text", "lines")}


def _make_text(folder: Path, size: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, document in enumerate(documents(size, TEXT_CHARACTERS, 1)):
        (folder / f"{number:06d}.txt").write_text(document, "utf-8", newline="")


def _make_lines(folder: Path, size: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # As many files for any size: some ways divide the work by files.
    files = max(4, 4 * round(size / FILE_BYTES / 4))
    per_file, waiting = size // files + 1, documents(size, CHARACTERS, 2)
    for number in range(files):
        with (folder / f"{number:04d}.jsonl").open("w", encoding="utf-8") as file:
            written = 0
            while written < per_file and (document := next(waiting, None)) is not None:
                file.write(json.dumps({"text": document}, ensure_ascii=False) + "\n")
                written += len(document.encode())


def texts_of(paths: list[Path]) -> Iterator[str]:
    """The documents of files, read as simply as can be."""
    for path in paths:
        if path.suffix == ".txt":
            yield path.read_bytes().decode()
        else:
            with path.open("rb") as file:
                yield from (json.loads(line)["text"] for line in file)


def forget(paths: list[Path]) -> None:
    """Has the system read files from the disk again."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
