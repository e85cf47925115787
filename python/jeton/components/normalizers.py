"""Normalizers: change text before it is split into pieces."""

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
    """The normalized text."""
    spans: list[tuple[int, int]]
    """The span of the original text that each character comes from: half open, in the `unit` of the
    call. An inserted character has the span of the character before it."""


@dataclass(frozen=True)
class Normalizer(Component):
    """Base class of normalizers. Called with a text, a normalizer returns the normalized text.

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
            ArgumentTypeError: `text` is not a `str`.
        """
        return self._in_core().normalize(text)

    def with_spans(
        self, text: str, *, unit: Literal["characters", "bytes", "utf-16"] = "characters"
    ) -> Normalized:
        """The normalized text, and the span of the original text for each of its characters.

        Args:
            text: The text.
            unit: What spans count: `"characters"` of the `str`, `"bytes"` of its UTF-8, or
                `"utf-16"` code units.

        Raises:
            ArgumentTypeError: `text` is not a `str`.
        """
        return Normalized(*self._in_core().normalize_with_spans(text, unit))


@dataclass(frozen=True)
class NFC(Normalizer):
    """Canonical composition: `e` and a combining acute become `é`."""


@dataclass(frozen=True)
class NFD(Normalizer):
    """Canonical decomposition: `é` becomes `e` and a combining acute."""


@dataclass(frozen=True)
class NFKC(Normalizer):
    """Compatibility composition: also `ﬁ` becomes `fi`, and full-width letters ordinary ones."""


@dataclass(frozen=True)
class NFKD(Normalizer):
    """Compatibility decomposition."""


@dataclass(frozen=True)
class Lowercase(Normalizer):
    """Lower-cases every character."""


@dataclass(frozen=True)
class StripAccents(Normalizer):
    """Removes combining marks. Put `NFD` or `NFKD` before it: composed characters have none."""


@dataclass(frozen=True)
class Strip(Normalizer):
    """Removes white space at the ends of the text.

    Args:
        left: Whether to remove it at the front.
        right: Whether to remove it at the end.
    """

    JSON_NAMES: ClassVar[dict[str, str]] = {"left": "strip_left", "right": "strip_right"}

    left: bool = True
    right: bool = True


@dataclass(frozen=True)
class Nmt(Normalizer):
    """The clean-up of neural machine translation: no controls, and spaces for all white space."""


@dataclass(frozen=True, repr=False)
class SentencePiece(Normalizer):
    """SentencePiece's normalizer: its character map, and its rules for white space.

    It goes through the text from the front: the longest user-defined symbol stays unchanged; else
    the longest key of the character map is replaced; else one character stays unchanged.
    (`Precompiled` replaces grapheme clusters, as Hugging Face tokenizers does.)

    Args:
        charsmap: The character map, as in a `.model` file; `None` for none.
        add_dummy_prefix: Whether to put a space in front.
        remove_extra_whitespaces: Whether to remove spaces at the ends, and to make runs of spaces
            one.
        escape_whitespaces: Whether to write spaces as `▁`.
        treat_whitespace_as_suffix: Whether to put the space at the end instead of in front.
        user_defined_symbols: Texts that stay unchanged.
        legacy: Whether to treat each stretch between added tokens as a separate text, with a space
            in front, as transformers does with `legacy=True`. Otherwise only the whole text has
            ends, and text after a special token gets no space. A `.model` file does not hold this.

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
    """A Python function, in training and in encoding.

    It is called with each stretch of text between added tokens, from any thread. Its exceptions
    reach the caller unchanged. No file can hold it, so saving fails; a tokenizer can be pickled if
    the function can. There is no fast path with it.

    Args:
        function: Called with a text. It returns the new text, or a list of parts, each with the
            number of characters of the old text that it comes from. For a new text, the characters
            at both ends that are unchanged keep their spans, and the rest has one span.

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

    function: Callable[[str], str | list[tuple[str, int]]]


@dataclass(frozen=True)
class Replace(Normalizer):
    """Replaces each match of a pattern by a text.

    Args:
        pattern: A text, or a `Regex`.
        content: The replacement.
    """

    pattern: str | Regex
    content: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pattern(self, self.pattern)


@dataclass(frozen=True)
class Prepend(Normalizer):
    """Puts a prefix in front of a text, unless the text is empty.

    Args:
        prefix: The prefix.
    """

    JSON_NAMES: ClassVar[dict[str, str]] = {"prefix": "prepend"}

    prefix: str


@dataclass(frozen=True, repr=False)
class Precompiled(Normalizer):
    """SentencePiece's precompiled character map.

    Args:
        charsmap: The map, as in a `.model` file.
    """

    JSON_NAMES: ClassVar[dict[str, str]] = {"charsmap": "precompiled_charsmap"}

    charsmap: bytes

    @classmethod
    def named(cls, name: str) -> Precompiled:
        """The map of a rule name of SentencePiece, built from Unicode's tables.

        Args:
            name: `"nfkc"`; `"nmt_nfkc"`, which also turns other white space into spaces and removes
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
            raise ArgumentError(f"name {name!r} changes nothing, so it has no map")
        return cls(charsmap)

    def __repr__(self) -> str:
        return f"Precompiled({len(self.charsmap)} bytes)"


@dataclass(frozen=True)
class BertNormalizer(Normalizer):
    """BERT's clean-up.

    Args:
        clean_text: Whether to remove controls, and to turn white space into spaces.
        handle_chinese_chars: Whether to put a space on both sides of each CJK character.
        strip_accents: Whether to remove combining marks; `None` means if `lowercase` is set.
        lowercase: Whether to lower-case the text.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True


@dataclass(frozen=True)
class ByteLevel(Normalizer):
    """Writes each byte of the text as one of GPT-2's 256 printable characters."""


@dataclass(frozen=True)
class Sequence(Steps, Normalizer):
    """Applies several normalizers in order.

    Args:
        steps: The normalizers.
    """

    STEPS_NAME: ClassVar[str] = "normalizers"

    steps: tuple[Normalizer, ...]

    def __init__(self, steps: Iterable[Normalizer]) -> None:
        self.set_steps(steps)


def from_json(text: str) -> Normalizer:
    """The normalizer of a JSON text, as in a Hugging Face `tokenizer.json`.

    Raises:
        FormatError: There is no such component; the message names it.

    Example:
        >>> from jeton.components import normalizers
        >>> normalizers.from_json('{"type": "Strip", "strip_left": true, "strip_right": false}')
        Strip(left=True, right=False)
    """
    return read_json(Normalizer, text)
