"""The text that a token represents, derived from the stages before the model.

Look here for how a token's spelling is undone: bytes spelled as characters, marks for spaces, marks
for the beginning or end of a word. The decoder plays no part, since it may be missing or not fit.
"""

from __future__ import annotations

from collections.abc import Sequence

from jeton.components import models, normalizers, pre_tokenizers
from jeton.components.byte_alphabet import BYTES
from jeton.components.component import steps_of
from jeton.tokenizer import Tokenizer


class Spelling:
    """Undoes the spelling that the stages of a tokenizer give to text for its model.

    Attributes:
        has_bytes: Whether the model's alphabet is the 256 bytes, raw or spelled as characters.
        prefix: The mark before tokens inside words; `""` without one.
        suffix: The mark after tokens that end words; `""` without one.
        inserts: Whether a pre-tokenizer may put a space, or its mark, in front of text.
    """

    def __init__(self, tok: Tokenizer) -> None:
        model = tok.stages.model
        normal = steps_of(tok.stages.normalizer)
        cuts = steps_of(tok.stages.pre_tokenizer)
        self._is_raw = tok._core.has_raw_tokens
        late = sum(isinstance(step, pre_tokenizers.ByteLevel) for step in cuts)
        early = sum(isinstance(step, normalizers.ByteLevel) for step in normal)
        self._is_odd = late + early > 1  # bytes of bytes, which is never intended
        self._spells_pieces = late + early == 1
        self._has_printable_bytes_late = late == 1 and not self._is_raw
        self._has_printable_bytes = self._has_printable_bytes_late or (
            early == 1 and not self._is_raw
        )
        self.has_bytes = self._is_raw or (
            self._has_printable_bytes
            and isinstance(model, (models.BPE, models.Unigram, models.Characters))
        )
        self._late_marks = [s.replacement for s in cuts if isinstance(s, pre_tokenizers.Metaspace)]
        self._marks = self._late_marks + [
            step.content
            for step in normal
            if isinstance(step, normalizers.Replace) and step.pattern == " " and step.content
        ]
        if isinstance(model, models.SentencePiece):
            self._marks.append("▁")
        self.prefix: str = getattr(model, "continuing_subword_prefix", None) or ""
        self.suffix: str = getattr(model, "end_of_word_suffix", None) or ""
        self._is_apart = bool(getattr(model, "separate_suffix", False))
        self.inserts = any(map(_inserts, cuts))

    def bare(self, token: bytes) -> bytes:
        """A token without the marks for its place in a word."""
        prefix, suffix = self.prefix.encode(), self.suffix.encode()
        inner = token.removeprefix(prefix) if token != prefix else token
        return inner.removesuffix(suffix) if self._is_apart or inner != suffix else inner

    def plain(self, spelled: bytes) -> bytes:
        """The bytes of text that the stages spell this way."""
        return self._undone(spelled, self._has_printable_bytes, self._marks)

    def plain_text(self, spelled: str) -> str:
        """The same for a text that a stage gave."""
        return self.plain(spelled.encode()).decode(errors="replace")

    def of_pieces(self, spelled: str) -> str:
        """The text of pieces of the pre-tokenizer, which may spell bytes even for a raw model."""
        if self._spells_pieces and all(character in BYTES for character in spelled):
            return bytes(BYTES[character] for character in spelled).decode(errors="replace")
        return self.plain_text(spelled)

    def normal(self, spelled: bytes) -> str | None:
        """The normalized text that the pre-tokenizer spells this way; `None` if there is none."""
        if self._is_odd:
            return None
        return text_or_none(self._undone(spelled, self._has_printable_bytes_late, self._late_marks))

    def _undone(self, spelled: bytes, has_printable_bytes: bool, marks: Sequence[str]) -> bytes:
        if self._is_raw:
            return spelled
        text = text_or_none(spelled)
        if text is None:
            return spelled
        if has_printable_bytes and all(character in BYTES for character in text):
            return bytes(BYTES[character] for character in text)
        for mark in marks:
            text = text.replace(mark, " ")
        return text.encode()


def _inserts(step: object) -> bool:
    if isinstance(step, pre_tokenizers.ByteLevel):
        return step.add_prefix_space
    return isinstance(step, pre_tokenizers.Metaspace) and step.prepend_scheme != "never"


def text_or_none(data: bytes) -> str | None:
    """Bytes as text; `None` if they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
