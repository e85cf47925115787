"""The two tokens that each token of a byte pair encoding is merged from.

Look here for why a token cannot be removed. A token is *derived* from two others if merging its own
characters ends with these two. A rank or score decides each merge, so the same merges happen inside
of every text, and no text merges the token from any other two.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from jeton.components import models


def by_merges(
    vocab: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], model: models.BPE
) -> dict[int, list[tuple[int, int]]]:
    """For the id of each merged token, the pairs that it is merged from.

    A list may have several merges for a token, but at most one of them happens. If none happens,
    as for tokens that are only looked up as a whole, all are returned.
    """
    pairs_of: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for pair in merges:
        token = join(pair, model)
        if token in vocab:
            pairs_of.setdefault(token, []).append(pair)
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    needs = {}
    for token, pairs in pairs_of.items():
        if len(pairs) > 1:
            last = apply_merges(symbols(token, model), ranks, model, until=2)
            pairs = [pair for pair in pairs if list(pair) == last] or pairs
        needs[vocab[token]] = [(vocab[left], vocab[right]) for left, right in pairs]
    return needs


def join(pair: tuple[bytes, bytes], model: models.BPE) -> bytes:
    """The token that merging a pair results in."""
    prefix = (model.continuing_subword_prefix or "").encode()
    return pair[0] + (pair[1].removeprefix(prefix) if prefix else pair[1])


def symbols(token: bytes, model: models.BPE) -> list[bytes]:
    """The symbols of a token before the first merge."""
    if model.alphabet == "bytes":
        return [bytes([byte]) for byte in token]
    prefix = (model.continuing_subword_prefix or "").encode()
    suffix = (model.end_of_word_suffix or "").encode()
    inside = bool(prefix) and token.startswith(prefix)
    bare = token.removeprefix(prefix) if inside else token
    ends = bool(suffix) and bare.endswith(suffix)
    characters = [c.encode() for c in (bare.removesuffix(suffix) if ends else bare).decode()]
    if ends and characters and not model.separate_suffix:
        characters[-1] += suffix
    elif ends:
        characters.append(suffix)
    return [prefix + c if inside or at else c for at, c in enumerate(characters)]


def apply_merges(
    symbols: list[bytes],
    ranks: Mapping[tuple[bytes, bytes], int],
    model: models.BPE,
    until: int = 1,
) -> list[bytes]:
    """The symbols after all merges, or as soon as only `until` of them remain."""
    row = list(symbols)
    while len(row) > until:
        pairs = [(ranks.get((row[at], row[at + 1]), -1), at) for at in range(len(row) - 1)]
        possible = [pair for pair in pairs if pair[0] >= 0]
        if not possible:
            return row
        _, at = min(possible)
        row[at : at + 2] = [join((row[at], row[at + 1]), model)]
    return row


def by_scores(
    pieces: Mapping[str, int], score: Callable[[str], float], fixed: frozenset[str]
) -> dict[int, list[tuple[int, int]]]:
    """For the id of each piece of a SentencePiece BPE, the two that it is merged from.

    Args:
        pieces: The pieces that merges may result in, with their ids.
        score: Returns the score of a piece; the greatest is merged first.
        fixed: Pieces that are matched as a whole and never merged.
    """
    needs: dict[int, list[tuple[int, int]]] = {}
    for text, id in pieces.items():
        if text in fixed or len(text) < 2:
            continue
        parts = last_two(text, pieces, score)
        if parts is not None:
            # A character need not be a piece: then only the other part is needed.
            ids = [pieces[part] for part in parts if part in pieces]
            if ids:
                needs[id] = [(ids[0], ids[-1])]
    return needs


def last_two(
    text: str, pieces: Container[str], score: Callable[[str], float]
) -> tuple[str, str] | None:
    """The two symbols of a text before the last merge; `None` if it does not get there."""
    symbols = apply_scores(text, pieces, score, until=2)
    return (symbols[0], symbols[1]) if len(symbols) == 2 else None


def apply_scores(
    text: str, pieces: Container[str], score: Callable[[str], float], until: int = 1
) -> list[str]:
    """The symbols of a text after all merges by scores, or as soon as only `until` remain."""
    symbols = list(text)
    while len(symbols) > until:
        best = None
        for at in range(len(symbols) - 1):
            piece = symbols[at] + symbols[at + 1]
            if piece in pieces:
                value = score(piece)
                if best is None or value > best[0]:
                    best = (value, at)
        if best is None:
            return symbols
        symbols[best[1] : best[1] + 2] = ["".join(symbols[best[1] : best[1] + 2])]
    return symbols
