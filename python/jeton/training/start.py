"""The tokenizer or merges that BPE training continues from: `start_from=`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jeton.arguments import check_text, checked_iterable
from jeton.components import AddedToken, models
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from jeton.tokenizer import Tokenizer


@dataclass(frozen=True)
class Start:
    """The tokenizer or merges that training continues from."""

    tokenizer: Tokenizer | None
    merges: list[tuple[bytes, bytes]]
    is_sentencepiece: bool = False
    """Whether the tokenizer was a SentencePiece model."""

    @classmethod
    def of(cls, start_from: object) -> Start:
        """The start for a value of `start_from`."""
        if start_from is None:
            return cls(None, [])
        if isinstance(start_from, Tokenizer):
            is_sentencepiece = isinstance(start_from.stages.model, models.SentencePiece)
            tokenizer = _with_merges(start_from)
            model = tokenizer.stages.model
            if not isinstance(model, models.BPE):
                raise ArgumentTypeError(
                    f"start_from: this tokenizer's model is {type(model).__name__}, which has no "
                    "merges to continue from"
                )
            return cls(tokenizer, list(tokenizer.vocab.merges), is_sentencepiece)
        start_from = checked_iterable("start_from", start_from, "a Tokenizer or a list of merges")
        return cls(None, [_merge(number, pair) for number, pair in enumerate(start_from)])

    @property
    def options(self) -> dict[str, Any]:
        """The options of the tokenizer's model that are parameters of training."""
        if self.tokenizer is None:
            return {}
        model = self.tokenizer.stages.model
        assert isinstance(model, models.BPE)
        has_marks = self.is_sentencepiece or model.byte_fallback
        return {
            "alphabet": "sentencepiece" if has_marks else model.alphabet,
            "byte_fallback": model.byte_fallback,
            "unk_token": model.unk_token,
            "continuing_subword_prefix": model.continuing_subword_prefix,
            "end_of_word_suffix": model.end_of_word_suffix,
            "separate_suffix": model.separate_suffix,
        }

    @property
    def added_tokens(self) -> list[AddedToken]:
        """The added tokens of the tokenizer."""
        return [] if self.tokenizer is None else list(self.tokenizer.stages.added_tokens)

    @property
    def parameter(
        self,
    ) -> (
        tuple[list[tuple[bytes, int]], list[tuple[str, int | None]], list[tuple[bytes, bytes]]]
        | None
    ):
        """The vocabulary, added tokens and merges to start from, as the core takes them."""
        if self.tokenizer is None:
            return ([], [], self.merges) if self.merges else None
        tokens = [(token.content, token.id) for token in self.added_tokens]
        return (list(self._vocab().items()), tokens, self.merges)

    def with_ids(self, tokens: Iterable[AddedToken]) -> list[AddedToken]:
        """The existing added tokens, and new ones with the ids that come next."""
        old = self.added_tokens
        ids = {token.content: token.id or 0 for token in old}
        vocab = self._vocab()
        model = None if self.tokenizer is None else self.tokenizer.stages.model
        is_raw = isinstance(model, models.BPE) and model.alphabet == "bytes"
        new = [token for token in tokens if token.content not in ids]
        return [*old, *numbered(new, vocab, ids.values(), is_raw=is_raw)]

    def _vocab(self) -> dict[bytes, int]:
        if self.tokenizer is None:
            return {}
        vocab = self.tokenizer.stages.model.vocab  # type: ignore[attr-defined]
        return {
            token if isinstance(token, bytes) else token.encode(): id for token, id in vocab.items()
        }


def numbered(
    tokens: Iterable[AddedToken],
    vocab: Mapping[bytes, int],
    other_ids: Iterable[int] = (),
    *,
    is_raw: bool,
) -> list[AddedToken]:
    """Added tokens with the ids that they have in a vocabulary, or else those that come next.

    In a model of raw bytes (`is_raw`), a token of text has the spelling of an added token only if
    both are visible ASCII: other bytes are written as other characters.
    """
    next_id = max([-1, *vocab.values(), *other_ids]) + 1
    with_ids = []
    for token in tokens:
        spelling = token.content.encode()
        may_be_text = not is_raw or all(0x21 <= byte <= 0x7E for byte in spelling)
        id = vocab.get(spelling) if may_be_text else None
        if id is None:
            id, next_id = next_id, next_id + 1
        with_ids.append(replace(token, id=id))
    return with_ids


def _with_merges(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer; a SentencePiece BPE as the same tokenizer with merges."""
    if not isinstance(tokenizer.stages.model, models.SentencePiece):
        return tokenizer
    try:
        with_merges = Tokenizer.from_json(tokenizer.to_json())
        settings = replace(tokenizer._settings, implied=dict(tokenizer.roles))
        return Tokenizer._of_core(with_merges._core, settings)
    except UnsupportedError as error:
        raise ArgumentError(
            f"start_from: this SentencePiece model has no equivalent with merges: {error}; if it "
            'is a BPE, start_from=tok.approximation("tokenizer.json") continues from the nearest'
        ) from None


def _merge(number: int, pair: object) -> tuple[bytes, bytes]:
    if isinstance(pair, (tuple, list)) and len(pair) == 2:
        name = f"each part of start_from[{number}]"
        left, right = (
            check_text(name, part).encode() if isinstance(part, str) else part for part in pair
        )
        if isinstance(left, bytes) and isinstance(right, bytes):
            return left, right
    raise ArgumentTypeError(f"start_from[{number}] must be a pair of tokens, not {pair!r}")
