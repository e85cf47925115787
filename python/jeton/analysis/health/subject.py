"""A tokenizer under examination: its tokens by id, the text of each, and which are ordinary.

Look here for what all rules share and compute once: the vocabulary with its duplicates, the kinds
of its tokens, and the ids of many texts at a time.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from jeton.analysis.health.spellings import Spelling, text_or_none
from jeton.components import models
from jeton.corpora.usage import Usage
from jeton.errors import EncodeError
from jeton.loading.model_file import BYTE, CONTROL, UNKNOWN, UNUSED, ModelFile
from jeton.results.encoding import TokenBatch
from jeton.results.vocabulary import bytes_by_id
from jeton.tokenizer import Tokenizer

_T = TypeVar("_T")

_UNLIKELY: Final = ("\ue123", "\U0010fffd", "\ue000", "\u0378", "\U000e0100", "\u2fe0", "\x02")
"""Characters that few vocabularies have: private, unassigned, controls."""


Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Embeddings:
    """The tables of a model with a row for each id.

    Attributes:
        inputs: float32 of shape (rows, width).
        outputs: The same for the outputs; the inputs, if the model has one table for both.
    """

    inputs: Matrix
    outputs: Matrix


class Subject:
    """A tokenizer under examination.

    Attributes:
        usage: How a corpus uses it, if there is one.
        tables: The embeddings of its model, if there are any.
    """

    def __init__(
        self, tok: Tokenizer, usage: Usage | None = None, tables: Embeddings | None = None
    ) -> None:
        self.tok, self.usage, self.tables = tok, usage, tables
        self._results: dict[object, Any] = {}
        self.model = tok.stages.model
        self.spelling = Spelling(tok)
        self.tokens = bytes_by_id(tok.vocab)
        """All ids with their tokens as the vocabulary spells them."""
        self.ids = np.fromiter(self.tokens, np.int64, len(self.tokens))
        self.added = {token.id: token for token in tok.stages.added_tokens if token.id is not None}
        self.special = frozenset(tok.special_tokens.values())

    def once(self, compute: Callable[[Subject], _T]) -> _T:
        """The result of a function for this tokenizer, computed at its first use."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        result: _T = self._results[compute]
        return result

    @functools.cached_property
    def kinds(self) -> Sequence[int]:
        """The kind of each piece of a SentencePiece model; empty for other models."""
        if not isinstance(self.model, models.SentencePiece):
            return ()
        return [piece.kind for piece in ModelFile.parse(self.model.proto).pieces]

    @functools.cached_property
    def unknown(self) -> int | None:
        """The id of the unknown token."""
        model = self.model
        if isinstance(model, models.SentencePiece):
            return self.kinds.index(UNKNOWN) if UNKNOWN in self.kinds else None
        if isinstance(model, (models.Unigram, models.Characters)):
            return model.unk_id
        unknown = getattr(model, "unk_token", None)
        name = None if unknown is None else unknown.encode()
        return next((id for id, token in self.tokens.items() if token == name), None)

    @functools.cached_property
    def falls_back(self) -> bool:
        """Whether unknown characters are encoded as tokens such as `<0xF0>`."""
        return BYTE in self.kinds or bool(getattr(self.model, "byte_fallback", False))

    @functools.cached_property
    def byte_tokens(self) -> dict[int, int]:
        """The ids of tokens such as `<0xF0>`, by their byte."""
        if not self.falls_back:
            return {}
        names = {f"<0x{byte:02X}>".encode(): byte for byte in range(256)}
        return {names[token]: id for id, token in self.tokens.items() if token in names}

    @functools.cached_property
    def apart(self) -> frozenset[int]:
        """Ids that the model does not give for ordinary text: special, added, unknown and byte
        tokens, and the control and unused pieces of a SentencePiece model."""
        of_kind = {id for id, kind in enumerate(self.kinds) if kind in (CONTROL, UNUSED, UNKNOWN)}
        unknown = () if self.unknown is None else (self.unknown,)
        return frozenset(
            self.special | self.added.keys() | of_kind | {*self.byte_tokens.values()} | {*unknown}
        )

    @functools.cached_property
    def ordinary(self) -> npt.NDArray[np.int64]:
        """The ids that the model gives for ordinary text, or should."""
        return self.ids[~np.isin(self.ids, np.fromiter(self.apart, np.int64, len(self.apart)))]

    @functools.cached_property
    def characters(self) -> frozenset[str]:
        """The characters that are ordinary tokens; a space is among them if its mark is."""
        texts = (self.texts[id] for id in self.ordinary.tolist())
        return frozenset(text for text in texts if text is not None and len(text) == 1)

    @functools.cached_property
    def surfaces(self) -> dict[int, bytes]:
        """The bytes of text that each token represents, whatever the decoder gives."""
        if isinstance(self.model, models.SentencePiece):  # its pieces and its decoder are one file
            return {id: self.tok.vocab.token_bytes(id) for id in self.tokens}
        plain, bare = self.spelling.plain, self.spelling.bare
        of_bytes = {id: bytes([byte]) for byte, id in self.byte_tokens.items()}
        return {
            id: token if id in self.added else plain(bare(token))
            for id, token in self.tokens.items()
        } | of_bytes

    @functools.cached_property
    def texts(self) -> dict[int, str | None]:
        """The same as text; `None` for bytes that are not UTF-8."""
        return {id: text_or_none(data) for id, data in self.surfaces.items()}

    @functools.cached_property
    def alone(self) -> list[str]:
        """The text that each ordinary token decodes to on its own."""
        return self.tok.decode_batch([[id] for id in self.ordinary.tolist()])

    @functools.cached_property
    def alone_again(self) -> TokenBatch:
        """The ids of those texts."""
        return self.encode(self.alone)

    @functools.cached_property
    def stranger(self) -> str | None:
        """A character that no token has and no stage rewrites, so that nothing merges with it."""
        characters = {character for text in self.texts.values() for character in text or ""}
        normalizer = self.tok.stages.normalizer
        for character in _UNLIKELY:
            is_stable = normalizer is None or character in self.spelling.plain_text(
                normalizer(f"a{character}a")
            )
            if character not in characters and is_stable:
                with contextlib.suppress(EncodeError):
                    if self.tok.encode(character):
                        return character
        return None

    def pieces(self, text: str) -> list[str]:
        """The pieces that the stages before the model split a text into."""
        normalizer, cutter = self.tok.stages.normalizer, self.tok.stages.pre_tokenizer
        normal = text if normalizer is None else normalizer(text)
        return [normal] if cutter is None else [piece for piece, _ in cutter(normal)]

    def text_of(self, ids: Iterable[int]) -> bytes:
        """The bytes of text that tokens represent together, whatever the decoder gives."""
        return b"".join(self.surfaces[id] for id in ids)

    def ids_of(self, text: str, special: Literal["ignore", "allow"] = "ignore") -> list[int] | None:
        """The ids of a text; `None` if it cannot be encoded."""
        try:
            return self.tok.encode(text, special=special)
        except EncodeError:
            return None

    def encode(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of texts; no ids for a text that cannot be encoded."""
        try:
            return self.tok.encode_batch(texts)
        except EncodeError:
            if len(texts) == 1:
                return TokenBatch([], [0, 0])
            half = len(texts) // 2
            first, second = self.encode(texts[:half]), self.encode(texts[half:])
            offsets = np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]])
            return TokenBatch(np.concatenate([first.ids, second.ids]), offsets)
