"""Decoders: from the tokens of the model back to text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from jeton.arguments import check_error_handler, check_field_word, check_text
from jeton.components import normalizers
from jeton.components.component import (
    Component,
    Regex,
    Steps,
    check_pattern,
    one_character,
    read_json,
)
from jeton.errors import ArgumentError, ArgumentTypeError

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
    """Any decoder. Called with tokens, it gives the text.

    Example:
        >>> from jeton.components import decoders
        >>> decoders.WordPiece()(["un", "##want", "##ed", "!"])
        'unwanted!'
        >>> decoders.ByteLevel()(["caf", "Ã", "©"])
        'café'
    """

    STAGE: ClassVar[str] = "decoder"

    def __call__(self, tokens: Iterable[str | bytes], *, errors: str = "replace") -> str:
        """The text of tokens.

        Args:
            tokens: Tokens as a `tokenizer.json` spells them; or bytes, which are the tokens of a
                byte-level BPE as they are, and otherwise UTF-8.
            errors: What becomes of bytes that are not UTF-8, as in `bytes.decode`.

        Raises:
            ArgumentTypeError: `tokens` are no iterable of `str`, nor of bytes.
            DecodeError: With `errors="strict"`, bytes that are not UTF-8.
        """
        if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
            raise ArgumentTypeError(
                f"tokens must be an iterable of str or of bytes, not {type(tokens).__name__}"
            )
        listed = list(tokens)
        kinds = {type(token) for token in listed}
        if not (all(issubclass(kind, str) for kind in kinds) or kinds == {bytes}):
            names = " and ".join(sorted(kind.__name__ for kind in kinds))
            raise ArgumentTypeError(f"tokens must be all str or all bytes, not {names}")
        check_error_handler(errors)
        data = [
            token if isinstance(token, bytes) else check_text(f"tokens[{at}]", token).encode()
            for at, token in enumerate(listed)
        ]
        return self._built(is_raw=kinds == {bytes}).decode(data, errors)


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
        one_character(self, "replacement", self.replacement)
        check_field_word(self, "prepend_scheme", self.prepend_scheme, ("always", "never", "first"))


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


LeadingSpaces: TypeAlias = Literal["keep", "drop_one", "drop_all"]
"""What becomes of spaces at the front of a decoded text."""


@dataclass(frozen=True)
class SentencePiece(Decoder):
    """SentencePiece's decoder: pieces joined, `▁` made a space, bytes made characters.

    Args:
        unk_piece: The unknown piece.
        unk_surface: What it is decoded to.
        byte_fallback: Pieces such as `<0xE2>` are bytes.
        leading_spaces: Which spaces at the front are dropped: none (`"keep"`), the one that
            encoding put there (`"drop_one"`), or one of each piece until there is text
            (`"drop_all"`, where encoding keeps none there).
        denormalizer: What is done to the text at last.

    Example:
        >>> from jeton.components import decoders
        >>> decoders.SentencePiece(unk_piece="<unk>", leading_spaces="drop_one").unk_surface
        ' ⁇ '
    """

    TYPE: ClassVar[str] = "SentencePiece"

    unk_piece: str | None = None
    unk_surface: str = " \u2047 "
    byte_fallback: bool = False
    leading_spaces: LeadingSpaces = "drop_all"
    denormalizer: normalizers.SentencePiece | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field_word(self, "leading_spaces", self.leading_spaces, get_args(LeadingSpaces))
        denormalizer = self.denormalizer
        if not isinstance(denormalizer, normalizers.SentencePiece | None):
            raise ArgumentTypeError(
                "SentencePiece.denormalizer must be a normalizers.SentencePiece or None, "
                f"not {type(denormalizer).__name__}"
            )


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
        one_character(self, "content", self.content)
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
        check_pattern(self, self.pattern)


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
class Sequence(Steps, Decoder):
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
    component: Decoder = read_json("decoder", text)
    return component
