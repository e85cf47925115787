"""Training a small tokenizer on a text of the page: the merges in their order, and the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jeton.errors import ArgumentError
from jeton.play.shelf import Shelf, noting
from jeton.play.token_details import token_text
from jeton.training import BPETrainer, UnigramTrainer, WordPieceTrainer
from jeton.training.trainer import Trainer

__all__ = ["MAX_SIZE", "trained"]

MAX_SIZE: Final = 20_000
_MAX_TEXT: Final = 8 << 20
_MAX_MERGES: Final = 20_000

_TRAINERS: Final[dict[str, Callable[[int], Trainer]]] = {
    "BPE": lambda size: BPETrainer(vocab_size=size),
    "WordPiece": lambda size: WordPieceTrainer(vocab_size=size),
    # A short text may support fewer pieces than the question wants.
    "Unigram": lambda size: UnigramTrainer(vocab_size=size, hard_vocab_limit=False),
}


def trained(shelf: Shelf, text: str, kind: str, size: int) -> dict[str, object]:
    """A tokenizer that is trained on `text`, as a card, and its merges with what they make."""
    if kind not in _TRAINERS:
        raise ArgumentError(f"a tokenizer is one of {', '.join(_TRAINERS)}")
    if not text.strip():
        raise ArgumentError("there is no text to train on")
    if len(text) > _MAX_TEXT:
        raise ArgumentError(
            f"the page trains on up to {_MAX_TEXT:,} characters; `jeton train` on any"
        )
    if not 2 <= size <= MAX_SIZE:
        raise ArgumentError(f"the page trains up to {MAX_SIZE:,} tokens")
    with noting() as notes:
        tokenizer = _TRAINERS[kind](size).train(text.splitlines(keepends=True))
    name = f"{kind} {tokenizer.vocab_size:,}"
    card = shelf.add(name, tokenizer, "trained on the page: save it, and give its path", notes)
    merges = [
        {"left": token_text(left), "right": token_text(right), "result": token_text(left + right)}
        for left, right in card.tokenizer.merges[:_MAX_MERGES]
    ]
    return {"card": card.summary(), "merges": merges}
