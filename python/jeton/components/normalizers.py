"""Normalizers: what happens to text before it is cut into pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import jeton._core as _core
from jeton.arguments import check_text
from jeton.components.component import (
    Component,
    FunctionStage,
    Regex,
    Steps,
    check_field_texts,
    check_pattern,
    read_json,
    short_repr,
)
from jeton.errors import ArgumentError

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "BertNormalizer",
    "ByteLevel",
    "Function",
    "Lowercase",
    "Nmt",
    "Normalized",
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


class Normalized(NamedTuple):
    """A normalized text, and where it comes from."""

    text: str
    """The text as normalized."""
    spans: list[tuple[int, int]]
    """For each character of it, where in the original text it comes from: half open, in the unit
    that was asked for. What is inserted has the span of what stands before it."""


@dataclass(frozen=True)
class Normalizer(Component):
    """Any normalizer. Called with a text, it gives the normalized one.

    Example:
        >>> from jeton.components import normalizers
        >>> normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()])
        >>> normalizer("Ｃafé ½")
        'Cafe 1⁄2'
        >>> normalizer.with_spans("½ é")
        Normalized(text='1⁄2 e', spans=[(0, 1), (0, 1), (0, 1), (1, 2), (2, 3)])
    """

    STAGE: ClassVar[str] = "normalizer"

    def __call__(self, text: str) -> str:
        """The normalized text.

        Raises:
            ArgumentTypeError: `text` is no `str`.
        """
        return self._built().normalize(text)

    def with_spans(
        self, text: str, *, unit: Literal["characters", "bytes", "utf-16"] = "characters"
    ) -> Normalized:
        """The normalized text, and for each character of it where it comes from.

        Args:
            text: The text.
            unit: What spans count: `"characters"` of the `str`, `"bytes"` of its UTF-8, or
                `"utf-16"` code units.

        Raises:
            ArgumentTypeError: `text` is no `str`.
        """
        return Normalized(*self._built().normalize_with_spans(text, unit))


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


@dataclass(frozen=True, repr=False)
class SentencePiece(Normalizer):
    """SentencePiece's normalizer: its character map, and what it does with white space.

    From the front of the text: the longest user-defined symbol stays as it is; else the longest
    key of the character map is replaced; else a character stays as it is. (`Precompiled` replaces
    grapheme clusters, as Hugging Face tokenizers do.)

    Args:
        charsmap: The character map, as it stands in a `.model` file; `None` for none.
        add_dummy_prefix: Put a space in front.
        remove_extra_whitespaces: Remove spaces at the ends, and make runs of them one.
        escape_whitespaces: Write spaces as `▁`.
        treat_whitespace_as_suffix: Put the space at the end instead of in front.
        user_defined_symbols: Texts that are left as they are.
        legacy: Treat each stretch between added tokens as a text by itself, with a space of its own
            in front, as transformers does with `legacy=True`. Else only the text has ends: what
            stands behind a special token gets no space. A `.model` file does not hold this.

    Example:
        >>> import jeton
        >>> from jeton.components import models, normalizers
        >>> vocab = {"▁": 0, "a": 1, "b": 2}
        >>> tok = jeton.Tokenizer(
        ...     models.Characters(vocab), normalizer=normalizers.SentencePiece()
        ... )
        >>> tok.encode("  a   b ")
        [0, 1, 0, 2]
    """

    TYPE: ClassVar[str] = "SentencePiece"
    JSON_NAMES: ClassVar[dict[str, str]] = {"charsmap": "precompiled_charsmap"}

    charsmap: bytes | None = None
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    user_defined_symbols: tuple[str, ...] = ()
    legacy: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        symbols = check_field_texts(self, "user_defined_symbols", self.user_defined_symbols)
        object.__setattr__(self, "user_defined_symbols", symbols)

    def __repr__(self) -> str:
        return short_repr(self)


@dataclass(frozen=True)
class Function(FunctionStage, Normalizer):
    """A function of Python, in training and in encoding.

    It is called with each stretch of text between added tokens, which are found before, from any
    thread. What it raises reaches the caller as it is. No file holds it: saving is refused, and a
    tokenizer is pickled if the function is. There is no fast path with it.

    Args:
        function: What is called with a text. It gives the new text, of which what is the same at
            the front and at the back has its own spans and the rest has one; or a list of parts,
            each with the number of characters of the old text that it came from.

    Example:
        >>> import jeton
        >>> from jeton.components import normalizers
        >>> american = normalizers.Function(lambda text: text.replace("colour", "color"))
        >>> tok = jeton.BPETrainer(256, normalizer=american).train(["colour"])
        >>> tok.decode(tok.encode("colour"))
        'color'
        >>> normalizers.Function(lambda text: [(c * 2, 1) for c in text])("ab")
        'aabb'
    """

    TYPE: ClassVar[str] = "Function"

    function: Callable[[str], str | list[tuple[str, int]]]


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
        check_pattern(self, self.pattern)


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

    @classmethod
    def named(cls, name: str) -> Precompiled:
        """The map of rules that SentencePiece has by name, made from Unicode's tables.

        Args:
            name: `"nfkc"`; `"nmt_nfkc"`, which also makes odd white space a space and removes
                controls; `"nfkc_cf"` or `"nmt_nfkc_cf"`, which also fold case.

        Raises:
            ArgumentError: There is no such map.

        Example:
            >>> from jeton.components import normalizers
            >>> normalizers.Precompiled.named("nmt_nfkc_cf")("Ｓtraße\u200bNº 5")
            'straße no 5'
        """
        check_text("name", name)
        try:
            charsmap = _core.charsmap(name)
        except ArgumentError as error:
            raise ArgumentError(str(error).replace("normalizer cannot", "name cannot")) from None
        if charsmap is None:
            raise ArgumentError(f"name {name!r} changes nothing, and has no map")
        return cls(charsmap)

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
class Sequence(Steps, Normalizer):
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
    component: Normalizer = read_json("normalizer", text)
    return component
