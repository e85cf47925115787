"""What byte pair training continues from: `start_from=`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jeton.arguments import check_text
from jeton.components import AddedToken, models
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from jeton.tokenizer import Tokenizer

__all__ = ["Start"]


@dataclass(frozen=True)
class Start:
    """What training continues from."""

    tokenizer: Tokenizer | None
    merges: list[tuple[bytes, bytes]]
    is_sentencepiece: bool = False
    """Whether the tokenizer was a SentencePiece model."""

    @classmethod
    def of(cls, given: object) -> Start:
        """The start that was given, if one was."""
        if given is None:
            return cls(None, [])
        if isinstance(given, Tokenizer):
            is_sentencepiece = isinstance(given.model, models.SentencePiece)
            given = _by_merges(given)
            if not isinstance(given.model, models.BPE):
                raise ArgumentTypeError(
                    f"start_from: this tokenizer's model is {type(given.model).__name__}, and has "
                    "no merges to continue from"
                )
            return cls(given, list(given.merges), is_sentencepiece)
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise ArgumentTypeError(
                f"start_from must be a Tokenizer or a list of merges, not {type(given).__name__}"
            )
        return cls(None, [_merge(number, pair) for number, pair in enumerate(given)])

    @property
    def options(self) -> dict[str, Any]:
        """What the tokenizer's model says that training takes as a parameter."""
        if self.tokenizer is None:
            return {}
        model = self.tokenizer.model
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
        return [] if self.tokenizer is None else list(self.tokenizer.added_tokens)

    @property
    def parameter(self) -> Any:
        """The start as the core takes it."""
        if self.tokenizer is None:
            return ([], [], self.merges) if self.merges else None
        added = [(token.content, token.id) for token in self.added_tokens]
        return (list(self._vocab().items()), added, self.merges)

    def with_ids(self, special_tokens: Iterable[str]) -> list[AddedToken]:
        """The added tokens there are, and new special ones with the ids that come next."""
        added = self.added_tokens
        known = {token.content: token.id or 0 for token in added}
        vocab = self._vocab()
        model = None if self.tokenizer is None else self.tokenizer.model
        is_raw = isinstance(model, models.BPE) and model.alphabet == "bytes"
        new = [token for token in special_tokens if token not in known]
        return [*added, *numbered(new, vocab, known.values(), is_raw=is_raw)]

    def _vocab(self) -> dict[bytes, int]:
        if self.tokenizer is None:
            return {}
        vocab = self.tokenizer.model.vocab  # type: ignore[attr-defined]
        return {
            token if isinstance(token, bytes) else token.encode(): id for token, id in vocab.items()
        }


def numbered(
    special_tokens: Iterable[str],
    vocab: Mapping[bytes, int],
    taken: Iterable[int] = (),
    *,
    is_raw: bool,
) -> list[AddedToken]:
    """Special tokens with the ids that they have in a vocabulary, or else those that come next.

    In a model of raw bytes (`is_raw`), a token of text is spelled as a special token only where
    both are visible ASCII: other bytes are written in other characters.
    """
    following = max([-1, *vocab.values(), *taken]) + 1
    added = []
    for token in dict.fromkeys(special_tokens):
        spelled = token.encode()
        may_be_text = not is_raw or all(0x21 <= byte <= 0x7E for byte in spelled)
        id = vocab.get(spelled) if may_be_text else None
        if id is None:
            id, following = following, following + 1
        added.append(AddedToken(token, id, special=True))
    return added


def _by_merges(tokenizer: Tokenizer) -> Tokenizer:
    """A SentencePiece model of BPE as the same tokenizer with merges."""
    if not isinstance(tokenizer.model, models.SentencePiece):
        return tokenizer
    try:
        return Tokenizer.from_json(tokenizer.to_json())
    except UnsupportedError as error:
        raise ArgumentError(
            f"start_from: this SentencePiece model has no equal with merges: {error}; if it is a "
            'BPE, start_from=tok.approximation("tokenizer.json") continues from the closest one'
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
