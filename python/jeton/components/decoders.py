"""Decoders: from the tokens of the model back to text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from jeton.components import _base
from jeton.components._base import Component, Regex
from jeton.errors import ArgumentError

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "Decoder",
    "Fuse",
    "Metaspace",
    "Replace",
    "SentencePiece",
    "Sequence",
    "Strip",
    "WordPiece",
    "from_json",
]


@dataclass(frozen=True)
class Decoder(Component):
    """Any decoder."""

    STAGE: ClassVar[str] = "decoder"


@dataclass(frozen=True)
class ByteLevel(Decoder):
    """The bytes of the tokens, joined.

    After a model other than a BPE over bytes, tokens are spelled in GPT-2's 256 printable
    characters, and are read as such.
    """

    TYPE: ClassVar[str] = "ByteLevel"
    UNREAD: ClassVar[dict[str, Any]] = {
        "add_prefix_space": True,
        "trim_offsets": True,
        "use_regex": True,
    }


@dataclass(frozen=True)
class WordPiece(Decoder):
    """A space before each token that does not begin with the prefix.

    Args:
        prefix: What marks a continuation.
        cleanup: Remove the space before punctuation and contractions.
    """

    TYPE: ClassVar[str] = "WordPiece"

    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True)
class Metaspace(Decoder):
    """Meta spaces made spaces.

    Args:
        replacement: The visible character.
        prepend_scheme: Unless `"never"`, the first was put there by the pre-tokenizer, and is
            dropped.
        split: Kept for the file format alone; decoding splits nothing.
    """

    TYPE: ClassVar[str] = "Metaspace"

    replacement: str = "▁"
    prepend_scheme: Literal["always", "never", "first"] = "always"
    split: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _base.one_character(self, "replacement", self.replacement)
        _base.one_of(self, "prepend_scheme", self.prepend_scheme, ("always", "never", "first"))


@dataclass(frozen=True)
class BPEDecoder(Decoder):
    """A space for each end-of-word suffix.

    Args:
        suffix: The suffix.
    """

    TYPE: ClassVar[str] = "BPEDecoder"

    suffix: str = "</w>"


@dataclass(frozen=True)
class ByteFallback(Decoder):
    """`<0xE2>` tokens made bytes."""

    TYPE: ClassVar[str] = "ByteFallback"


@dataclass(frozen=True)
class Fuse(Decoder):
    """All tokens made one."""

    TYPE: ClassVar[str] = "Fuse"


@dataclass(frozen=True)
class SentencePiece(Decoder):
    """What the `.model` file of the SentencePiece model says of decoded text.

    It belongs to a `SentencePiece` model and goes with no other.
    """

    TYPE: ClassVar[str] = "SentencePiece"


@dataclass(frozen=True)
class Strip(Decoder):
    """A character removed at the ends of each token.

    Args:
        content: The character.
        start: At most how many at the front.
        stop: At most how many at the back.
    """

    TYPE: ClassVar[str] = "Strip"

    content: str = " "
    start: int = 0
    stop: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        _base.one_character(self, "content", self.content)
        if min(self.start, self.stop) < 0:
            raise ArgumentError("Strip.start and Strip.stop must not be negative")


@dataclass(frozen=True)
class Replace(Decoder):
    """Each match of a pattern replaced by a text.

    Args:
        pattern: A text, or a `Regex`.
        content: What stands there afterwards.
    """

    TYPE: ClassVar[str] = "Replace"

    pattern: str | Regex
    content: str

    def __post_init__(self) -> None:
        super().__post_init__()
        _base.check_pattern(self, self.pattern)


@dataclass(frozen=True)
class CTC(Decoder):
    """Connectionist temporal classification: repeated tokens made one, padding dropped.

    Args:
        pad_token: The padding token.
        word_delimiter_token: What separates words.
        cleanup: Remove the space before punctuation and contractions.
    """

    TYPE: ClassVar[str] = "CTC"

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True


@dataclass(frozen=True)
class Sequence(_base.Steps, Decoder):
    """One after another.

    Args:
        steps: The decoders, first to last.
    """

    TYPE: ClassVar[str] = "Sequence"
    STEP: ClassVar[type[Component]] = Decoder
    STEPS_NAME: ClassVar[str] = "decoders"

    steps: tuple[Decoder, ...]

    def __init__(self, steps: Iterable[Decoder]) -> None:
        self.set_steps(steps)


def from_json(text: str) -> Decoder:
    """The decoder that stands so in a Hugging Face `tokenizer.json`.

    Raises:
        FormatError: No such component; the message names it.

    Example:
        >>> from jeton.components import decoders
        >>> decoders.from_json('{"type": "Fuse"}')
        Fuse()
    """
    component: Decoder = _base.read_json("decoder", text)
    return component
