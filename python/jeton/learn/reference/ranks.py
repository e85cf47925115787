"""Byte pair encoding by ranks: tiktoken's way, where a token's id says when it is merged.

Source: the encodings that OpenAI publishes, and the library tiktoken that reads them.

A file of ranks is a list of tokens with a number each, and no merges. Two neighbours may be merged
if together they are a token; of all such pairs, the one with the lowest rank is merged first, and
of equal ones the leftmost. A piece that is a token as a whole is not merged: it is that token.

    >>> ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"abc": 5}
    >>> encode_piece(b"abc", ranks), encode_piece(b"abcb", ranks)
    ([5], [5, 1])

**It is not the same as a list of merges.** With the merges `a b`, `b c` and `a bc` the piece `abc`
becomes `ab` first, and no merge joins `ab` and `c`:

    >>> from jeton.learn.reference import byte_level
    >>> byte_level.encode_piece(b"abc", [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")])
    [b'ab', b'c']

**Ranks as merges.** Which two tokens make a token? Merge its own bytes by the ranks below its own:
the last two parts are its merge.

    >>> merges_of(ranks)
    [(b'a', b'b'), (b'b', b'c'), (b'ab', b'c')]
"""

from __future__ import annotations


def encode_piece(piece: bytes, ranks: dict[bytes, int]) -> list[int]:
    """The ids of a piece."""
    if piece in ranks:
        return [ranks[piece]]
    return [ranks[part] for part in parts(piece, ranks)]


def parts(piece: bytes, ranks: dict[bytes, int], below: int | None = None) -> list[bytes]:
    """What merging a piece's bytes ends in; merges of the rank `below` and above are left out.

    >>> parts(b"abc", {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"abc": 4}, below=4)
    [b'ab', b'c']
    """
    row = [piece[at : at + 1] for at in range(len(piece))]
    while True:
        possible = []
        for at in range(len(row) - 1):
            rank = ranks.get(row[at] + row[at + 1])
            if rank is not None and (below is None or rank < below):
                possible.append((rank, at))
        if not possible:
            return row
        _, at = min(possible)
        row[at : at + 2] = [row[at] + row[at + 1]]


def merges_of(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """The merges of a table of ranks, first to last; tokens that no two others make have none."""
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) > 1:
            last = parts(token, ranks, below=rank)
            if len(last) == 2:
                merges.append((last[0], last[1]))
    return merges
