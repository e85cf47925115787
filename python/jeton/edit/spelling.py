"""The old ids that spell a new token; its embedding is computed from their rows.

Look here for the contents of `IdMap.made_of` for each family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jeton.edit.derivations import apply_scores


def token_text(token: bytes | str) -> str:
    """A token as text; bytes that are not UTF-8 become lone surrogates."""
    return token.decode("utf-8", "surrogateescape") if isinstance(token, bytes) else token


def merged_from(
    new_ids: Mapping[bytes, int],
    merges: Sequence[tuple[bytes, bytes]],
    old_ids: Mapping[bytes, int],
    prefix: bytes,
) -> dict[int, tuple[int, ...]]:
    """For each new id, the old ids of the tokens that it is ultimately merged from."""
    # With merges by scores, there is a pair for each way to split a token, even into later tokens.
    pairs_of: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for left, right in merges:
        token = left + right.removeprefix(prefix) if prefix else left + right
        if token in new_ids:
            pairs_of.setdefault(token, []).append((left, right))
    parts: dict[bytes, tuple[int, ...]] = {token: (id,) for token, id in old_ids.items()}
    for token in new_ids:  # in the order of merges, so that the parts of its pair are known
        pair = next((pair for pair in pairs_of.get(token, ()) if set(pair) <= parts.keys()), None)
        if pair is not None:
            parts[token] = parts[pair[0]] + parts[pair[1]]
        else:  # a new character: its bytes, or nothing
            parts[token] = _byte_ids(token, old_ids)
    return {id: parts[token] for token, id in new_ids.items()}


def _byte_ids(token: bytes, old_ids: Mapping[bytes, int]) -> tuple[int, ...]:
    names = [f"<0x{byte:02X}>".encode() for byte in token]
    return tuple(old_ids[name] for name in names if name in old_ids)


def merged_by_scores(
    text: str, scores: Mapping[str, float], old_ids: Mapping[bytes, int]
) -> tuple[int, ...]:
    """The old ids of a text after merging by scores; unknown characters become bytes."""
    ids: list[int] = []
    for symbol in apply_scores(text, scores, scores.__getitem__):
        token = symbol.encode()
        ids.extend((old_ids[token],) if token in old_ids else _byte_ids(token, old_ids))
    return tuple(ids)


def longest_first(text: str, old_ids: Mapping[str, int], prefix: str) -> tuple[int, ...]:
    """The old ids of the longest tokens from left to right, as in WordPiece; empty if none fit."""
    ids: list[int] = []
    inside = text.startswith(prefix)
    rest = text.removeprefix(prefix)
    while rest:
        for end in range(len(rest), 0, -1):
            id = old_ids.get((prefix if inside else "") + rest[:end])
            if id is not None:
                ids.append(id)
                rest, inside = rest[end:], True
                break
        else:
            return ()
    return tuple(ids)


def best_path(
    text: str, pieces: Mapping[str, tuple[int, float]]
) -> tuple[float, tuple[int, ...]] | None:
    """The score and the old ids of the best segmentation of a Unigram model, if there is one."""
    ways: list[tuple[float, tuple[int, ...]] | None] = [(0.0, ())] + [None] * len(text)
    for start in range(len(text)):
        here = ways[start]
        if here is None:
            continue
        for end in range(start + 1, len(text) + 1):
            piece = pieces.get(text[start:end])
            there = ways[end]
            if piece is not None and (there is None or here[0] + piece[1] > there[0]):
                ways[end] = (here[0] + piece[1], (*here[1], piece[0]))
    return ways[-1]
