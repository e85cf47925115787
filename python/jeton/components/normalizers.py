"""Normalizers: what happens to text before it is cut into pieces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from jeton.components import _base
from jeton.components._base import Component, Regex

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "SentencePiece",
    "Sequence",
    "Strip",
    "StripAccents",
    "from_json",
]


@dataclass(frozen=True)
class Normalizer(Component):
    """Any normalizer."""

    STAGE: ClassVar[str] = "normalizer"


@dataclass(frozen=True)
class NFC(Normalizer):
    """Canonical composition: `e` and a combining acute become `é`."""

    TYPE: ClassVar[str] = "NFC"


@dataclass(frozen=True)
class NFD(Normalizer):
    """Canonical decomposition: `é` becomes `e` and a combining acute."""

    TYPE: ClassVar[str] = "NFD"


@dataclass(frozen=True)
class NFKC(Normalizer):
    """Compatibility composition: also `ﬁ` becomes `fi`, and full-width letters ordinary ones."""

    TYPE: ClassVar[str] = "NFKC"


@dataclass(frozen=True)
class NFKD(Normalizer):
    """Compatibility decomposition."""

    TYPE: ClassVar[str] = "NFKD"


@dataclass(frozen=True)
class Lowercase(Normalizer):
    """Every character in lower case."""

    TYPE: ClassVar[str] = "Lowercase"


@dataclass(frozen=True)
class StripAccents(Normalizer):
    """Without combining marks. Put `NFD` or `NFKD` before it: composed characters hold none."""

    TYPE: ClassVar[str] = "StripAccents"


@dataclass(frozen=True)
class Strip(Normalizer):
    """White space removed at the ends of the text.

    Args:
        left: At the front.
        right: At the back.
    """

    TYPE: ClassVar[str] = "Strip"
    JSON_NAMES: ClassVar[dict[str, str]] = {"left": "strip_left", "right": "strip_right"}

    left: bool = True
    right: bool = True


@dataclass(frozen=True)
class Nmt(Normalizer):
    """The clean-up of neural machine translation: controls removed, odd white space a space."""

    TYPE: ClassVar[str] = "Nmt"


@dataclass(frozen=True)
class SentencePiece(Normalizer):
    """What the `.model` file of the SentencePiece model says of text before it is encoded.

    It belongs to a `SentencePiece` model and goes with no other.
    """

    TYPE: ClassVar[str] = "SentencePiece"


@dataclass(frozen=True)
class Replace(Normalizer):
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
class Prepend(Normalizer):
    """A text put in front, unless there is no text.

    Args:
        prefix: The text.
    """

    TYPE: ClassVar[str] = "Prepend"
    JSON_NAMES: ClassVar[dict[str, str]] = {"prefix": "prepend"}

    prefix: str


@dataclass(frozen=True, repr=False)
class Precompiled(Normalizer):
    """SentencePiece's precompiled character map.

    Args:
        charsmap: The map, as it stands in a `.model` file.
    """

    TYPE: ClassVar[str] = "Precompiled"
    JSON_NAMES: ClassVar[dict[str, str]] = {"charsmap": "precompiled_charsmap"}

    charsmap: bytes

    def __repr__(self) -> str:
        return f"Precompiled({len(self.charsmap)} bytes)"


@dataclass(frozen=True)
class BertNormalizer(Normalizer):
    """BERT's clean-up.

    Args:
        clean_text: Controls removed, white space made a space.
        handle_chinese_chars: A space on both sides of each CJK character.
        strip_accents: Combining marks removed; `None` means exactly when lower-casing.
        lowercase: Lower case.
    """

    TYPE: ClassVar[str] = "BertNormalizer"

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True


@dataclass(frozen=True)
class ByteLevel(Normalizer):
    """Each byte of the text written as one of GPT-2's 256 printable characters."""

    TYPE: ClassVar[str] = "ByteLevel"


@dataclass(frozen=True)
class Sequence(_base.Steps, Normalizer):
    """One after another.

    Args:
        steps: The normalizers, first to last.
    """

    TYPE: ClassVar[str] = "Sequence"
    STEP: ClassVar[type[Component]] = Normalizer
    STEPS_NAME: ClassVar[str] = "normalizers"

    steps: tuple[Normalizer, ...]

    def __init__(self, steps: Iterable[Normalizer]) -> None:
        self.set_steps(steps)


def from_json(text: str) -> Normalizer:
    """The normalizer that stands so in a Hugging Face `tokenizer.json`.

    Raises:
        FormatError: No such component; the message names it.

    Example:
        >>> from jeton.components import normalizers
        >>> normalizers.from_json('{"type": "Strip", "strip_left": true, "strip_right": false}')
        Strip(left=True, right=False)
    """
    component: Normalizer = _base.read_json("normalizer", text)
    return component
