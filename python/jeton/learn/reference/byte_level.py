"""Byte pair encoding on bytes: GPT-2's way, where no text is ever unknown.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.

A text is split into pieces by a pattern: words with the space before them, numbers, signs, spaces.
Each piece is written in UTF-8, and its bytes are the first symbols. As there are only 256 bytes,
every text has an encoding, in any language, and decoding gives the very same text back.

    >>> split("Hello world,  it's 2024!")
    ['Hello', ' world', ',', ' ', ' it', "'s", ' 2024', '!']

Merging is that of `words_bpe`, on bytes. The bytes of `aaabdaaabac` after three merges:

    >>> merges = train({b"aaabdaaabac": 1}, 3)
    >>> vocab = vocabulary(merges)
    >>> encode("aaabdaaabac", vocab, merges, split=lambda text: [text])
    [258, 100, 258, 97, 99]
    >>> decode([258, 100, 258, 97, 99], vocab)
    'aaabdaaabac'

**Printing bytes.** GPT-2's files must hold tokens that are not valid text, and spaces that nothing
may trim. So each byte is printed as a visible character: the byte of a visible character as that
character, the others as characters from 256 on.

    >>> printed(" café".encode())
    'ĠcafÃ©'
"""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping

from jeton.learn.reference.words_bpe import merge

Pair = tuple[bytes, bytes]


def bytes_to_unicode() -> dict[int, str]:
    """The character for each byte in GPT-2's files.

    >>> table = bytes_to_unicode()
    >>> table[ord("A")], table[ord(" ")], table[ord("\\n")], len(set(table.values()))
    ('A', 'Ġ', 'Ċ', 256)
    """
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {byte: chr(byte) for byte in visible}
    for byte in range(256):
        if byte not in table:
            table[byte] = chr(256 + len(table) - len(visible))
    return table


PRINTED = bytes_to_unicode()
BYTES = {character: byte for byte, character in PRINTED.items()}


def printed(token: bytes) -> str:
    """A token as GPT-2's files write it."""
    return "".join(PRINTED[byte] for byte in token)


def read_gpt2(vocab_json: str, merges_txt: str) -> tuple[dict[bytes, int], list[Pair]]:
    """The vocabulary and the merges from the texts of `vocab.json` and `merges.txt`.

    >>> read_gpt2('{"a": 0, "Ġ": 1, "Ġa": 2}', "#version: 0.2\\nĠ a\\n")
    ({b'a': 0, b' ': 1, b' a': 2}, [(b' ', b'a')])
    """

    def as_bytes(token: str) -> bytes:
        return bytes(BYTES[character] for character in token)

    vocab = {as_bytes(token): id for token, id in json.loads(vocab_json).items()}
    merges = []
    for line in merges_txt.splitlines():
        if line and not line.startswith("#version"):
            left, right = line.split(" ")
            merges.append((as_bytes(left), as_bytes(right)))
    return vocab, merges


def split(text: str) -> list[str]:
    r"""The pieces of a text, by GPT-2's pattern.

    The pattern is `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: at
    each place the first of these that fits is a piece. Spaces before a word are a piece of their
    own, but for the last one, which belongs to the word.

    >>> split("we'll  see\n")
    ['we', "'ll", ' ', ' see', '\n']
    """
    pieces = []
    at = 0
    while at < len(text):
        end = _match(text, at)
        pieces.append(text[at:end])
        at = end
    return pieces


def _match(text: str, at: int) -> int:
    for ending in ("'s", "'d", "'m", "'t", "'ll", "'ve", "'re"):
        if text.startswith(ending, at):
            return at + len(ending)
    start = at + 1 if text[at] == " " and at + 1 < len(text) else at
    for kind in (_is_letter, _is_number, _is_sign):
        end = start
        while end < len(text) and kind(text[end]):
            end += 1
        if end > start:
            return end
    end = at
    while end < len(text) and _is_space(text[end]):
        end += 1
    # A run of spaces leaves its last one to what follows.
    return end - 1 if end < len(text) and end - at > 1 else end


def _is_letter(character: str) -> bool:
    return unicodedata.category(character).startswith("L")


def _is_number(character: str) -> bool:
    return unicodedata.category(character).startswith("N")


def _is_space(character: str) -> bool:
    # What Unicode calls white space; Python's isspace() counts four separators of ASCII as well.
    return character.isspace() and character not in "\x1c\x1d\x1e\x1f"


def _is_sign(character: str) -> bool:
    return not (_is_space(character) or _is_letter(character) or _is_number(character))


def train(pieces: Mapping[str, int] | Mapping[bytes, int], merges: int) -> list[Pair]:
    """Learns merges from pieces and their counts; of equally frequent pairs the one seen first.

    A piece that is text begins as its bytes in UTF-8.

    >>> train({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 3)
    [(b'e', b's'), (b'es', b't'), (b'l', b'o')]
    """
    rows = []
    for piece, count in pieces.items():
        symbols = piece.encode() if isinstance(piece, str) else piece
        rows.append(([bytes([byte]) for byte in symbols], count))
    learned: list[Pair] = []
    while len(learned) < merges:
        counts: dict[Pair, int] = {}
        for row, count in rows:
            for pair in itertools.pairwise(row):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        best = max(counts, key=lambda pair: counts[pair])
        rows = [(merge(row, best), count) for row, count in rows]
        learned.append(best)
    return learned


def vocabulary(merges: Iterable[Pair]) -> dict[bytes, int]:
    """The ids of a vocabulary whose first 256 are the bytes by value, then the merges."""
    tokens = {bytes([byte]): byte for byte in range(256)}
    for left, right in merges:
        tokens.setdefault(left + right, len(tokens))
    return tokens


def encode_piece(piece: bytes, merges: list[Pair]) -> list[bytes]:
    """The tokens of a piece: at each step the pair that was learned first is merged.

    >>> encode_piece(b"abcd", [(b"c", b"d"), (b"a", b"b"), (b"ab", b"cd")])
    [b'abcd']
    """
    order = {pair: place for place, pair in enumerate(merges)}
    row = [bytes([byte]) for byte in piece]
    while True:
        candidates = [(order[pair], pair) for pair in itertools.pairwise(row) if pair in order]
        if not candidates:
            return row
        row = merge(row, min(candidates)[1])


def encode(
    text: str,
    vocab: dict[bytes, int],
    merges: list[Pair],
    split: Callable[[str], list[str]] = split,
) -> list[int]:
    """The ids of a text: its pieces one by one."""
    return [vocab[token] for piece in split(text) for token in encode_piece(piece.encode(), merges)]


def decode(ids: Iterable[int], vocab: dict[bytes, int]) -> str:
    """The text of ids; bytes that are no UTF-8, as half a character, become U+FFFD.

    >>> decode([0xC3], vocabulary([])), decode([0xC3, 0xA9], vocabulary([]))
    ('�', 'é')
    """
    tokens = {id: token for token, id in vocab.items()}
    return b"".join(tokens[id] for id in ids).decode("utf-8", errors="replace")
