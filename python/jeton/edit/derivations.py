"""Which tokens a merge needs: what each token of a byte pair encoding is merged from.

Look here for why a token may not go. A token is *derived* from two others if merging its own
characters ends in these two; as merges never cross what is merged already, no text makes it from
any other two (a rank or score decides each merge, so the same happens inside every text).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from jeton.components import models

__all__ = ["by_merges", "by_scores", "cut", "joined", "last_two", "merged", "symbols"]


def by_merges(
    vocab: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], model: models.BPE
) -> dict[int, list[tuple[int, int]]]:
    """For the id of each merged token, the two that merges make it from.

    A list may have several merges for one token, of which one at most happens; if none does, as
    for tokens that are only ever looked up whole, all are given.
    """
    found: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for pair in merges:
        token = joined(pair, model)
        if token in vocab:
            found.setdefault(token, []).append(pair)
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    needs = {}
    for token, pairs in found.items():
        if len(pairs) > 1:
            last = merged(symbols(token, model), ranks, model, until=2)
            pairs = [pair for pair in pairs if list(pair) == last] or pairs
        needs[vocab[token]] = [(vocab[left], vocab[right]) for left, right in pairs]
    return needs


def joined(pair: tuple[bytes, bytes], model: models.BPE) -> bytes:
    """The token that two make."""
    prefix = (model.continuing_subword_prefix or "").encode()
    return pair[0] + (pair[1].removeprefix(prefix) if prefix else pair[1])


def symbols(token: bytes, model: models.BPE) -> list[bytes]:
    """What a token is before the first merge."""
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


def merged(
    row: list[bytes], ranks: Mapping[tuple[bytes, bytes], int], model: models.BPE, until: int = 1
) -> list[bytes]:
    """What a row of symbols is once all merges are done, or when `until` of them are left."""
    row = list(row)
    while len(row) > until:
        pairs = [(ranks.get((row[at], row[at + 1]), -1), at) for at in range(len(row) - 1)]
        possible = [pair for pair in pairs if pair[0] >= 0]
        if not possible:
            return row
        _, at = min(possible)
        row[at : at + 2] = [joined((row[at], row[at + 1]), model)]
    return row


def by_scores(
    pieces: Mapping[str, int], score: Callable[[str], float], fixed: frozenset[str]
) -> dict[int, list[tuple[int, int]]]:
    """For the id of each piece of a SentencePiece BPE, the two that it is merged from.

    Args:
        pieces: Those that merges may make, with their ids.
        score: Of a piece; the greatest is merged first.
        fixed: Pieces that are cut out as they are and never merged.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for text, id in pieces.items():
        if text in fixed or len(text) < 2:
            continue
        parts = last_two(text, pieces, score)
        if parts is not None:
            # A character need not be a piece: then the other part alone is needed.
            known = [pieces[part] for part in parts if part in pieces]
            if known:
                found[id] = [(known[0], known[-1])]
    return found


def last_two(
    text: str, pieces: Container[str], score: Callable[[str], float]
) -> tuple[str, str] | None:
    """The two symbols that a text's own characters are just before they are one."""
    symbols = cut(text, pieces, score, until=2)
    return (symbols[0], symbols[1]) if len(symbols) == 2 else None


def cut(
    text: str, pieces: Container[str], score: Callable[[str], float], until: int = 1
) -> list[str]:
    """What merging by scores leaves of a text's characters, or `until` symbols of them."""
    symbols = list(text)
    while len(symbols) > until:
        best = None
        for at in range(len(symbols) - 1):
            joined = symbols[at] + symbols[at + 1]
            if joined in pieces:
                value = score(joined)
                if best is None or value > best[0]:
                    best = (value, at)
        if best is None:
            return symbols
        symbols[best[1] : best[1] + 2] = ["".join(symbols[best[1] : best[1] + 2])]
    return symbols
