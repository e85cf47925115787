"""Times encoding against other libraries, and checks in the same run that the ids are the same.

    python benchmarks/encode.py                      # all vocabularies and texts of ../shared
    python benchmarks/encode.py --vocab cl100k_base --mb 4

Needs the `benchmarks` group of `pyproject.toml` and the data of `../shared`. Every figure is the
time of one library on the same documents in the same process: the first pass with a tokenizer
that has seen nothing, and the median of later passes. Ratios are against the fastest peer.
"""

from __future__ import annotations

import argparse
import base64
import importlib.metadata
import platform
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jeton

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
VOCABULARIES = ("r50k_base", "cl100k_base", "o200k_base")
LATER_PASSES = 5


@dataclass(frozen=True)
class Library:
    """One way to encode a document, made anew so that its first pass is a first pass."""

    name: str
    output: str
    make: Callable[[str, Path], Callable[[str], Any]]


def _jeton(method: str) -> Callable[[str, Path], Callable[[str], Any]]:
    return lambda name, path: getattr(jeton.load(path), method)


def _ranks(path: Path) -> dict[bytes, int]:
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def _tiktoken(name: str, path: Path) -> Callable[[str], Any]:
    import tiktoken
    from tiktoken_ext import openai_public

    original = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = lambda *args, **kwargs: _ranks(path)
    try:
        plan = getattr(openai_public, name)()
    finally:
        openai_public.load_tiktoken_bpe = original
    encoding = tiktoken.Encoding(**plan)
    return encoding.encode_ordinary


def _gigatoken(output: str) -> Callable[[str, Path], Callable[[str], Any]]:
    def make(name: str, path: Path) -> Callable[[str], Any]:
        import gigatoken

        encode = gigatoken.Tokenizer.from_tiktoken(str(path)).encode
        return encode if output == "numpy" else lambda text: encode(text).tolist()

    return make


LIBRARIES = (
    Library("jeton", "numpy", _jeton("encode_array")),
    Library("gigatoken", "numpy", _gigatoken("numpy")),
    Library("jeton", "list", _jeton("encode")),
    Library("gigatoken", "list", _gigatoken("list")),
    Library("tiktoken", "list", _tiktoken),
    Library("jeton", "count", _jeton("count")),
)


def _texts(megabytes: float) -> Iterator[tuple[str, str]]:
    limit = int(megabytes * 1e6)
    for kind in ("english", "multilingual"):
        path = SHARED / "text" / f"{kind}.txt"
        yield kind, path.read_bytes()[:limit].decode("utf-8", errors="ignore")
    code: list[str] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" not in path.parts:
            code.append(path.read_text(encoding="utf-8", errors="replace"))
        if sum(map(len, code)) > limit:
            break
    yield "code", "".join(code)[:limit]


def _passes(encode: Callable[[str], Any], documents: Sequence[str]) -> tuple[float, float]:
    """Seconds of the first pass, and the median of later ones."""
    seconds = []
    for _ in range(1 + LATER_PASSES):
        start = time.process_time()
        for document in documents:
            encode(document)
        seconds.append(time.process_time() - start)
    return seconds[0], statistics.median(seconds[1:])


def _same(name: str, path: Path, documents: Sequence[str]) -> int:
    """How many documents jeton and tiktoken encode differently."""
    ours, theirs = jeton.load(path).encode, _tiktoken(name, path)
    return sum(ours(document) != theirs(document) for document in documents)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vocab", nargs="*", default=VOCABULARIES)
    parser.add_argument("--mb", type=float, default=12.0, help="megabytes of each text")
    parser.add_argument("--chars", type=int, nargs="*", default=[100, 4_000, 1_000_000])
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        sys.exit("the benchmark reads ../shared/data, which is not here")

    versions = [f"{n} {importlib.metadata.version(n)}" for n in ("jeton", "gigatoken", "tiktoken")]
    print(f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, {', '.join(versions)}")
    print("CPU time, one thread, MB of UTF-8 a second: first pass / later passes\n")
    print("| vocabulary | text | characters | output | library | first | later | differ |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for vocab in arguments.vocab:
        path = SHARED / "vocab" / f"{vocab}.tiktoken"
        for kind, text in _texts(arguments.mb):
            size = len(text.encode())
            for length in arguments.chars:
                documents = [text[at : at + length] for at in range(0, len(text), length)]
                differ = _same(vocab, path, documents[:2000])
                for library in LIBRARIES:
                    first, later = _passes(library.make(vocab, path), documents)
                    print(
                        f"| {vocab} | {kind} | {length} | {library.output} | {library.name} "
                        f"| {size / first / 1e6:.0f} | {size / later / 1e6:.0f} | {differ} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
