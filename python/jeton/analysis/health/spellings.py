"""What stands in text where the model sees a token, read off the stages in front of the model.

Look here for how a token's own spelling is undone: bytes that are spelled as characters, marks for
spaces, marks of the beginning or end of a word. The decoder is not asked: it may be missing, or not
fit.
"""

from __future__ import annotations

from collections.abc import Sequence

from jeton.components import models, normalizers, pre_tokenizers
from jeton.components.byte_alphabet import BYTES
from jeton.tokenizer import Tokenizer

__all__ = ["Spelling", "steps", "text_or_none"]


class Spelling:
    """How the stages of a tokenizer spell text for its model, undone.

    Attributes:
        has_bytes: The model's alphabet is that of 256 bytes, as they are or spelled as characters.
        prefix: What stands before tokens inside of words; `""` where nothing does.
        suffix: What stands behind tokens that end words; `""` where nothing does.
        inserts: Whether a pre-tokenizer may put a space, or its mark, in front of text.
    """

    def __init__(self, tok: Tokenizer) -> None:
        model = tok.model
        normal, cuts = steps(tok.normalizer), steps(tok.pre_tokenizer)
        self._is_raw = isinstance(model, models.BPE) and model.alphabet == "bytes"
        late = sum(isinstance(step, pre_tokenizers.ByteLevel) for step in cuts)
        early = sum(isinstance(step, normalizers.ByteLevel) for step in normal)
        self._is_odd = late + early > 1  # bytes of bytes, which nobody means
        self._spells_pieces = late + early == 1
        self._printed_late = late == 1 and not self._is_raw
        self._printed = self._printed_late or (early == 1 and not self._is_raw)
        self.has_bytes = self._is_raw or (
            self._printed and isinstance(model, (models.BPE, models.Unigram, models.Characters))
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
        """A token without the marks of its place in a word."""
        prefix, suffix = self.prefix.encode(), self.suffix.encode()
        inner = token.removeprefix(prefix) if token != prefix else token
        return inner.removesuffix(suffix) if self._is_apart or inner != suffix else inner

    def plain(self, spelled: bytes) -> bytes:
        """The bytes of text that are spelled so for the model."""
        return self._undone(spelled, self._printed, self._marks)

    def plain_text(self, spelled: str) -> str:
        """The same of text that a stage gave."""
        return self.plain(spelled.encode()).decode(errors="replace")

    def of_pieces(self, spelled: str) -> str:
        """The text of pieces of the pre-tokenizer, which may spell bytes for a raw model, too."""
        if self._spells_pieces and all(character in BYTES for character in spelled):
            return bytes(BYTES[character] for character in spelled).decode(errors="replace")
        return self.plain_text(spelled)

    def normal(self, spelled: bytes) -> str | None:
        """The normalized text that the pre-tokenizer spells so; `None` where it is no text."""
        if self._is_odd:
            return None
        return text_or_none(self._undone(spelled, self._printed_late, self._late_marks))

    def _undone(self, spelled: bytes, printed: bool, marks: Sequence[str]) -> bytes:
        if self._is_raw:
            return spelled
        text = text_or_none(spelled)
        if text is None:
            return spelled
        if printed and all(character in BYTES for character in text):
            return bytes(BYTES[character] for character in text)
        for mark in marks:
            text = text.replace(mark, " ")
        return text.encode()


def _inserts(step: object) -> bool:
    if isinstance(step, pre_tokenizers.ByteLevel):
        return step.add_prefix_space
    return isinstance(step, pre_tokenizers.Metaspace) and step.prepend_scheme != "never"


def steps(stage: object) -> Sequence[object]:
    """The steps of a stage, all sequences undone."""
    if stage is None:
        return ()
    if isinstance(stage, (normalizers.Sequence, pre_tokenizers.Sequence)):
        return [inner for step in stage.steps for inner in steps(step)]
    return (stage,)


def text_or_none(data: bytes) -> str | None:
    """Bytes as text, if they are."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
