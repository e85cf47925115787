"""SentencePiece: text as one sequence of characters, including spaces.

Source: Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer and
detokenizer for Neural Text Processing", 2018.

There are no words here. A space is the character `▁`, so that decoding is joining, and a language
without spaces is no special case. Three things happen:

**Normalization** rewrites characters by a table, from the front, the longest entry first (the
usual table does what Unicode's NFKC does). Spaces at the ends are removed, runs of spaces become
one, a space is added in front, and spaces are written `▁`.

    >>> normalize("  to  be ")
    '▁to▁be'
    >>> normalize("ﬁne　print", {"ﬁ": "fi", "　": " "})
    '▁fine▁print'

**Byte pair encoding by scores.** Of all neighbours that together are a piece, the two whose piece
has the highest score are merged, the leftmost first. Unlike in a list of merges, any two parts may
form a piece:

    >>> scores = {"a": 0.0, "b": 0.0, "c": 0.0, "bc": -1.0, "ab": -2.0, "abc": -3.0}
    >>> encode_bpe("abc", scores), encode_bpe("abbc", scores)
    (['abc'], ['ab', 'bc'])

**Unigram** as in `unigram.best`, but computed in 32-bit floats from the front, where of equal sums
the way with the longest last piece wins:

    >>> encode_unigram("abb", {"a": -2.0, "b": -2.0, "ab": -3.0})
    ['ab', 'b']

A character without a piece becomes its bytes, if there are pieces for bytes:

    >>> to_bytes("é")
    ['<0xC3>', '<0xA9>']
"""

from __future__ import annotations

import struct

SPACE = "▁"
UNKNOWN_PENALTY = 10.0


def normalize(
    text: str,
    rules: dict[str, str] | None = None,
    *,
    add_dummy_prefix: bool = True,
    remove_extra_whitespaces: bool = True,
) -> str:
    """What happens to a text before it is split.

    Args:
        text: The text.
        rules: What characters, or several together, become.
        add_dummy_prefix: Put a space in front.
        remove_extra_whitespaces: Remove spaces at the ends, and make one space of each run.
    """
    text = _rewrite(text, rules or {})
    if remove_extra_whitespaces:
        text = " ".join(part for part in text.split(" ") if part)
    if add_dummy_prefix and text:
        text = " " + text
    return text.replace(" ", SPACE)


def _rewrite(text: str, rules: dict[str, str]) -> str:
    longest = max(map(len, rules), default=0)
    out = []
    at = 0
    while at < len(text):
        for length in range(min(longest, len(text) - at), 0, -1):
            if text[at : at + length] in rules:
                out.append(rules[text[at : at + length]])
                at += length
                break
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def encode_bpe(text: str, scores: dict[str, float]) -> list[str]:
    """The pieces of a normalized text, by merges."""
    row = list(text)
    while True:
        possible = [
            (-scores[row[at] + row[at + 1]], at)
            for at in range(len(row) - 1)
            if row[at] + row[at + 1] in scores
        ]
        if not possible:
            return row
        _, at = min(possible)
        row[at : at + 2] = [row[at] + row[at + 1]]


def encode_unigram(text: str, scores: dict[str, float]) -> list[str]:
    """The pieces of a normalized text, by the greatest sum of scores."""
    unknown = float32(min(scores.values()) - UNKNOWN_PENALTY)
    sums = [0.0] + [float("-inf")] * len(text)
    starts = [0] * (len(text) + 1)
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            piece = text[start:end]
            if piece not in scores and end > start + 1:
                continue
            total = float32(sums[start] + float32(scores.get(piece, unknown)))
            if total > sums[end]:
                sums[end], starts[end] = total, start
    way: list[str] = []
    end = len(text)
    while end > 0:
        way.insert(0, text[starts[end] : end])
        end = starts[end]
    return way


def float32(number: float) -> float:
    """The nearest number that 32 bits can hold."""
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


def to_bytes(text: str) -> list[str]:
    """The pieces of the bytes of a text."""
    return [f"<0x{byte:02X}>" for byte in text.encode()]


def decode(pieces: list[str]) -> str:
    """The text of pieces: joined, `▁` as a space, without the one that was put in front.

    >>> decode(["▁to", "▁b", "e"])
    'to be'
    """
    text = "".join(pieces).replace(SPACE, " ")
    return text[1:] if text.startswith(" ") else text
