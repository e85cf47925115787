"""What the panel shows about a token: its bytes, its spelling, and the merges that lead to it."""

from __future__ import annotations

from typing import Final

from jeton.display.human_readable import visible
from jeton.play.shelf import Card

_MAX_NEIGHBOURS: Final = 60
_MAX_SHOWN: Final = 400
"""Bytes or characters of a token that are shown."""
_MAX_DEPTH: Final = 64
_MAX_SPLIT: Final = 1000
"""Bytes of the longest token whose merges are drawn: each merge is two more lines."""

Tree = dict[str, object]


def token_text(token: bytes) -> str:
    """A token for people to read; only the beginning of a very long one."""
    return visible(token[:_MAX_SHOWN]) + "…" * (len(token) > _MAX_SHOWN)


def shortened(text: str) -> str:
    """Only the beginning of a very long text."""
    return text[:_MAX_SHOWN] + "…" * (len(text) > _MAX_SHOWN)


def details(card: Card, id: int) -> dict[str, object]:
    """A token: id, bytes, code points, merges."""
    tokenizer = card.tokenizer
    token = tokenizer.vocab.spelling(id)
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = ""
    names = [name for name, number in tokenizer.special_tokens.items() if number == id]
    return {
        "id": id,
        "bytes": token[:_MAX_SHOWN].hex(" ") + " …" * (len(token) > _MAX_SHOWN),
        "shown": token_text(token),
        "points": [f"U+{ord(it):04X}" for it in text[:64]],
        "special": names[0] if names else None,
        "score": f"{card.scores[id]:.4f}" if id < len(card.scores) else None,
        "tree": _tree(card, token),
    }


def neighbours(card: Card, id: int) -> dict[str, object]:
    """The merges that make a token, and those that it is a part of."""
    token = card.tokenizer.vocab.spelling(id)
    into = [pair for pair in card.tokenizer.vocab.merges if b"".join(pair) == token]
    uses = [pair for pair in card.tokenizer.vocab.merges if token in pair]

    def listed(pairs: list[tuple[bytes, bytes]]) -> list[dict[str, object]]:
        return [
            {
                "left": token_text(left),
                "right": token_text(right),
                "result": token_text(left + right),
                "id": card.tokenizer.vocab.get(left + right),
            }
            for left, right in pairs[:_MAX_NEIGHBOURS]
        ]

    return {"into": listed(into), "of": listed(uses), "more": max(0, len(uses) - _MAX_NEIGHBOURS)}


def _tree(card: Card, token: bytes, depth: int = 0) -> Tree:
    """A token as a tree of the merges that make it; leaves were never merged."""
    node: Tree = {"shown": token_text(token), "id": card.tokenizer.vocab.get(token)}
    pair = card.pairs.get(token)
    if pair is not None and depth < _MAX_DEPTH and len(token) <= _MAX_SPLIT:
        node["parts"] = [_tree(card, part, depth + 1) for part in pair]
    return node
