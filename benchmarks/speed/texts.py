"""The texts that are timed: prose, many languages, code, all of them mixed, and the worst cases."""

from __future__ import annotations

import lzma
import random
import sysconfig
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
KINDS = ("english", "multilingual", "code", "mixed")
WORST = ("equal characters", "random characters", "distinct words")


def text_of(kind: str, megabytes: float) -> str:
    """About this many megabytes of one kind of text."""
    limit = int(megabytes * 1e6)
    if kind == "code":
        return _code(limit)
    if kind == "mixed":
        parts = [text_of(other, megabytes / 3) for other in KINDS[:3]]
        pieces = [part[at : at + 2_000] for part in parts for at in range(0, len(part), 2_000)]
        random.Random(0).shuffle(pieces)
        return "".join(pieces)
    path = SHARED / "text" / f"{kind}.txt"
    if path.stat().st_size >= limit:
        data = path.read_bytes()
    else:
        data = lzma.decompress(path.with_name(f"{kind}-64mb.txt.xz").read_bytes())
    return data[:limit].decode("utf-8", errors="ignore")


def worst_of(kind: str) -> str:
    """A million characters, or words, of the kind that caches and merges dread."""
    numbers = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    match kind:
        case "equal characters":
            return "a" * 1_000_000
        case "random characters":
            return "".join(chr(numbers.randrange(0x20, 0x3000)) for _ in range(1_000_000))
        case _:
            words = {"".join(numbers.choices(letters, k=7)) for _ in range(1_001_000)}
            return " ".join(sorted(words, key=hash_free_order)[:1_000_000])


def hash_free_order(word: str) -> str:
    """An order that has nothing to do with the alphabet and is the same in every run."""
    return word[::-1]


def documents(text: str, characters: int) -> list[str]:
    """A text in documents of this many characters."""
    return [text[at : at + characters] for at in range(0, len(text), characters)]


def _code(limit: int) -> str:
    """The standard library of the Python that runs."""
    files: list[str] = []
    size = 0
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" not in path.parts:
            files.append(path.read_text(encoding="utf-8", errors="replace"))
            size += len(files[-1])
        if size > limit:
            break
    return "".join(files)[:limit]
