"""Training a small tokenizer on a text of the page: the merges in their order, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jeton.errors import ArgumentError
from jeton.play.shelf import Shelf, noting
from jeton.play.token_details import token_text
from jeton.training import BPETrainer, UnigramTrainer, WordPieceTrainer

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer

MAX_SIZE: Final = 20_000
_MAX_TEXT: Final = 8 << 20
_MAX_MERGES: Final = 20_000

_KINDS: Final = ("BPE", "WordPiece", "Unigram")
_POINTS: Final = 16
"""Sizes between the smallest and the largest vocabulary whose tokens are counted."""
_MAX_COUNTED: Final = 1 << 20
"""Characters of the text whose tokens are counted."""
_MAX_JOINED: Final = 700
"""Characters of the text in which tokens join."""


def trained(shelf: Shelf, text: str, kind: str, size: int) -> dict[str, object]:
    """A tokenizer trained on `text`, as a card; its merges, and how they shorten the text."""
    if kind not in _KINDS:
        raise ArgumentError(f"a tokenizer is one of {', '.join(_KINDS)}")
    if not text.strip():
        raise ArgumentError("there is no text to train on")
    if len(text) > _MAX_TEXT:
        raise ArgumentError(
            f"the page trains on up to {_MAX_TEXT:,} characters; `jeton train` on any"
        )
    if not 2 <= size <= MAX_SIZE:
        raise ArgumentError(f"the page trains up to {MAX_SIZE:,} tokens")
    with noting() as notes:
        steps = _trained(text.splitlines(keepends=True), kind, size)
    tokenizer = steps[-1]
    name = f"{kind} {tokenizer.vocab_size:,}"
    card = shelf.add(name, tokenizer, "trained on the page: save it, and give its path", notes)
    return {
        "card": card.summary(),
        "merges": [
            {
                "left": token_text(left),
                "right": token_text(right),
                "result": token_text(left + right),
                "bytes": [_as_text(left), _as_text(right)],
            }
            for left, right in tokenizer.vocab.merges[:_MAX_MERGES]
        ],
        "counts": [
            [len(step.vocab.merges), step.count(text[:_MAX_COUNTED])]
            for step in steps
            if step.vocab.merges
        ],
        "pieces": _pieces(tokenizer, text) if tokenizer.vocab.merges else [],
    }


def _trained(lines: list[str], kind: str, size: int) -> list[Tokenizer]:
    """Tokenizers of growing size, the last of the size that was asked for."""
    if kind == "WordPiece":
        return [WordPieceTrainer(vocab_size=size).train(lines)]
    if kind == "Unigram":
        # A short text may support fewer pieces than the question wants.
        return [UnigramTrainer(vocab_size=size, hard_vocab_limit=False).train(lines)]
    whole = BPETrainer(size).train(lines)
    most = len(whole.vocab.merges)
    first = whole.vocab_size - most
    smaller = {first + most * at * at // _POINTS**2 for at in range(1, _POINTS)} - {first, size}
    if not most or not smaller:
        return [whole]
    return [*BPETrainer(sorted(smaller)).train_all(lines).values(), whole]


def _pieces(tokenizer: Tokenizer, text: str) -> list[list[str]]:
    """The pieces in which merges happen, at the beginning of the text, each as its bytes."""
    stage = tokenizer.stages.pre_tokenizer
    part = text[:_MAX_JOINED]
    spans = [(0, len(part))] if stage is None else [span for _, span in stage(part)]
    return [
        [_as_text(bytes([byte])) for byte in part[start:end].encode("utf-8", "replace")]
        for start, end in spans
    ]


def _as_text(token: bytes) -> str:
    """Bytes for JSON: a character per byte."""
    return token.decode("latin-1")
