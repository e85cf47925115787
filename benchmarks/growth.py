"""How the time of encoding grows with the text, for texts made to be slow: 100,000 to 1,000,000.

Run it by hand: `python benchmarks/growth.py`. Ten times the text should take little more than ten
times as long (caches grow cold on the way). Nothing is asserted; times are of the processor.
"""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Iterator

import jeton
from jeton.components import models

SHORT, LONG = 100_000, 1_000_000
UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4
NORMAL, USER_DEFINED = 1, 4

Pieces = list[tuple[str, float, int]]

#: Pieces that lead far before they match, that lie in each other, that are all as good.
VOCABULARIES: dict[str, Pieces] = {
    "ties": [
        (text, -float(len(text)), NORMAL) for text in ("▁", "a", "aa", "aaa", "b", "ab", "ba")
    ],
    "nested": [("a" * n, n / 1000 - n, NORMAL) for n in range(1, 200)] + [("b", -2.0, NORMAL)],
    "user-defined": [
        ("a", -1.0, NORMAL),
        ("b", -2.0, NORMAL),
        ("aab", 0.0, USER_DEFINED),
        ("a" * 29 + "b", 0.0, USER_DEFINED),
    ],
    "a long way for nothing": [
        ("a", -1.0, NORMAL),
        ("b", -2.0, NORMAL),
        ("a" * 1000 + "b", -3.0, NORMAL),
    ],
}


def field(number: int, value: bytes) -> bytes:
    """A field of a `.model` file that holds bytes."""
    length, left = bytearray(), len(value)
    while left >= 0x80:
        length.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([number << 3 | 2, *length, left]) + value


def sentence_piece(pieces: Pieces, algorithm: int) -> jeton.Tokenizer:
    """A model that does nothing to text but write spaces as `▁`."""
    file = b""
    for text, score, kind in [("<unk>", 0.0, 2), *pieces]:
        number = struct.pack("<Bf", 2 << 3 | 5, score)
        file += field(1, field(1, text.encode()) + number + bytes([3 << 3, kind]))
    file += field(2, bytes([3 << 3, algorithm]))
    file += field(3, bytes([3 << 3, 0, 4 << 3, 0]))
    return jeton.Tokenizer(models.SentencePiece(file))


def tokenizers() -> Iterator[tuple[str, jeton.Tokenizer]]:
    """Each model over each vocabulary that it can have."""
    for name, pieces in VOCABULARIES.items():
        for algorithm, model in (
            (UNIGRAM, "Unigram"),
            (BPE, "BPE"),
            (WORD, "words"),
            (CHAR, "characters"),
        ):
            yield f".model: {model}, {name}", sentence_piece(pieces, algorithm)
        scored = [("<unk>", 0.0), *((text, score) for text, score, _ in pieces)]
        yield f"Unigram, {name}", jeton.Tokenizer(models.Unigram(scored, unk_id=0))
        words = ["[UNK]", *(text for text, _, _ in pieces), *(f"##{text}" for text, _, _ in pieces)]
        vocab = {word: id for id, word in enumerate(dict.fromkeys(words))}
        yield (
            f"WordPiece without limit, {name}",
            jeton.Tokenizer(
                models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=LONG)
            ),
        )


def texts(length: int) -> dict[str, str]:
    """Texts of a length: one character, two in turn, at random, nested, spaces, unknown."""
    numbers = random.Random(1)
    return {
        "equal": "a" * length,
        "alternating": "ab" * (length // 2),
        "random": "".join(numbers.choices("aab x", k=length)),
        "nested": ("a" * 200 + "b") * (length // 201),
        "spaces": " " * length,
        "unknown": "é" * length,
    }


def seconds(tok: jeton.Tokenizer, text: str) -> float:
    """Processor time of one encoding."""
    start = time.process_time()
    tok.encode_array(text)
    return time.process_time() - start


def main() -> None:
    short, long = texts(SHORT), texts(LONG)
    print(f"{'':52}{'text':12}{'100,000':>9}{'1,000,000':>11}{'ratio':>7}")
    for name, tok in tokenizers():
        for kind, text in short.items():
            once, more = seconds(tok, text), seconds(tok, long[kind])
            print(f"{name:52}{kind:12}{once:8.3f}s{more:10.3f}s{more / max(once, 1e-4):7.1f}")


if __name__ == "__main__":
    main()
