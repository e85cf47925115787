"""What a new token was before: the old ids that spelled it, from whose rows its own is made.

Look here for what `IdMap.made_of` holds in each family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jeton.edit.derivations import cut

__all__ = ["best_path", "longest_first", "merged_by_scores", "merged_from"]


def merged_from(
    added: Mapping[bytes, int],
    merges: Sequence[tuple[bytes, bytes]],
    known: Mapping[bytes, int],
    prefix: bytes,
) -> dict[int, tuple[int, ...]]:
    """For each new id, the old ids of the tokens that it is merged from in the end."""
    # Where merges go by scores, each way to cut a token is listed, also into later tokens.
    parts: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for left, right in merges:
        token = left + right.removeprefix(prefix) if prefix else left + right
        if token in added:
            parts.setdefault(token, []).append((left, right))
    spelled: dict[bytes, tuple[int, ...]] = {token: (id,) for token, id in known.items()}
    for token in added:  # in the order of merges, so that what a token is merged from is there
        made = next((pair for pair in parts.get(token, ()) if set(pair) <= spelled.keys()), None)
        if made is not None:
            spelled[token] = spelled[made[0]] + spelled[made[1]]
        else:  # a character that was not there: its bytes, or nothing
            spelled[token] = _of_bytes(token, known)
    return {id: spelled[token] for token, id in added.items()}


def _of_bytes(token: bytes, known: Mapping[bytes, int]) -> tuple[int, ...]:
    names = [f"<0x{byte:02X}>".encode() for byte in token]
    return tuple(known[name] for name in names if name in known)


def merged_by_scores(
    text: str, scores: Mapping[str, float], known: Mapping[bytes, int]
) -> tuple[int, ...]:
    """The old ids that merging by scores leaves of a text; of characters that are none, bytes."""
    ids: list[int] = []
    for symbol in cut(text, scores, scores.__getitem__):
        token = symbol.encode()
        ids.extend((known[token],) if token in known else _of_bytes(token, known))
    return tuple(ids)


def longest_first(text: str, known: Mapping[str, int], prefix: str) -> tuple[int, ...]:
    """The old ids of the longest tokens from left to right, if a WordPiece can be cut so."""
    ids: list[int] = []
    inside = text.startswith(prefix)
    rest = text.removeprefix(prefix)
    while rest:
        for end in range(len(rest), 0, -1):
            id = known.get((prefix if inside else "") + rest[:end])
            if id is not None:
                ids.append(id)
                rest, inside = rest[end:], True
                break
        else:
            return ()
    return tuple(ids)


def best_path(
    text: str, known: Mapping[str, tuple[int, float]]
) -> tuple[float, tuple[int, ...]] | None:
    """The score and the old ids of the best segmentation of a Unigram model, if there is one."""
    ways: list[tuple[float, tuple[int, ...]] | None] = [(0.0, ())] + [None] * len(text)
    for start in range(len(text)):
        here = ways[start]
        if here is None:
            continue
        for end in range(start + 1, len(text) + 1):
            piece = known.get(text[start:end])
            there = ways[end]
            if piece is not None and (there is None or here[0] + piece[1] > there[0]):
                ways[end] = (here[0] + piece[1], (*here[1], piece[0]))
    return ways[-1]
