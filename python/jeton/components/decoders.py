"""Decoders: turn the tokens of the model back into text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from jeton.arguments import (
    check_error_handler,
    check_field_word,
    check_kind,
    check_text,
    checked_iterable,
)
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
    """Base class of decoders. Called with tokens, a decoder returns their text.

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
            tokens: Tokens as a `tokenizer.json` spells them; or bytes, which are the plain tokens
                of a byte-level BPE, and otherwise UTF-8.
            errors: How to handle bytes that are not UTF-8, as in `bytes.decode`.

        Raises:
            ArgumentTypeError: `tokens` are not an iterable of `str` or of bytes.
            DecodeError: With `errors="strict"`, bytes that are not UTF-8.
        """
        tokens = checked_iterable("tokens", tokens, "an iterable of str or of bytes")
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
        return self._in_core(is_raw=kinds == {bytes}).decode(data, errors)


@dataclass(frozen=True)
class ByteLevel(Decoder):
    """Joins the bytes of the tokens.

    After a model other than a BPE over bytes, it first turns GPT-2's 256 printable characters into
    the bytes that they stand for.
    """

    UNREAD: ClassVar[dict[str, object]] = {
        "add_prefix_space": True,
        "trim_offsets": True,
        "use_regex": True,
    }


@dataclass(frozen=True)
class WordPiece(Decoder):
    """Puts a space before each token that does not begin with the prefix.

    Args:
        prefix: The mark of a token that continues a word.
        cleanup: Whether to remove the space before punctuation and contractions.
    """

    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True)
class Metaspace(Decoder):
    """Turns meta spaces (`▁`) into spaces.

    Args:
        replacement: The character of a meta space.
        prepend_scheme: Unless it is `"never"`, the pre-tokenizer added the first meta space, so
            decoding drops it.
        split: Only for the file format; decoding does not use it.
    """

    replacement: str = "▁"
    prepend_scheme: Literal["always", "never", "first"] = "always"
    split: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        one_character(self, "replacement", self.replacement)
        check_field_word(self, "prepend_scheme", self.prepend_scheme, ("always", "never", "first"))


@dataclass(frozen=True)
class BPEDecoder(Decoder):
    """Turns each end-of-word suffix into a space.

    Args:
        suffix: The suffix.
    """

    suffix: str = "</w>"


@dataclass(frozen=True)
class ByteFallback(Decoder):
    """Turns tokens such as `<0xE2>` into bytes."""


@dataclass(frozen=True)
class Fuse(Decoder):
    """Joins all tokens into one."""


LeadingSpaces: TypeAlias = Literal["keep", "drop_one", "drop_all"]
"""What to do with spaces at the front of a decoded text."""


@dataclass(frozen=True)
class SentencePiece(Decoder):
    """SentencePiece's decoder: joins pieces, and turns `▁` into a space and bytes into characters.

    Args:
        unk_piece: The unknown piece.
        unk_surface: The text of the unknown piece.
        byte_fallback: Whether pieces such as `<0xE2>` are bytes.
        leading_spaces: Which spaces at the front to drop: none (`"keep"`), the one that encoding
            added (`"drop_one"`), or one per piece until there is text (`"drop_all"`, if encoding
            keeps no spaces at the front).
        denormalizer: A normalizer that is applied to the decoded text.

    Example:
        >>> from jeton.components import decoders
        >>> decoders.SentencePiece(unk_piece="<unk>", leading_spaces="drop_one").unk_surface
        ' ⁇ '
    """

    unk_piece: str | None = None
    unk_surface: str = " \u2047 "
    byte_fallback: bool = False
    leading_spaces: LeadingSpaces = "drop_all"
    denormalizer: normalizers.SentencePiece | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field_word(self, "leading_spaces", self.leading_spaces, get_args(LeadingSpaces))
        denormalizer = self.denormalizer
        check_kind(
            "SentencePiece.denormalizer",
            denormalizer,
            normalizers.SentencePiece | None,
            "a normalizers.SentencePiece or None",
        )


@dataclass(frozen=True)
class Strip(Decoder):
    """Removes a character at the ends of each token.

    Args:
        content: The character.
        start: The maximum number to remove at the front.
        stop: The maximum number to remove at the end.
    """

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
class CTC(Decoder):
    """Connectionist temporal classification: merges repeated tokens and drops padding.

    Args:
        pad_token: The padding token.
        word_delimiter_token: The token between words.
        cleanup: Whether to remove the space before punctuation and contractions.
    """

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True


@dataclass(frozen=True)
class Sequence(Steps, Decoder):
    """Applies several decoders in order.

    Args:
        steps: The decoders.
    """

    STEPS_NAME: ClassVar[str] = "decoders"

    steps: tuple[Decoder, ...]

    def __init__(self, steps: Iterable[Decoder]) -> None:
        self.set_steps(steps)


def from_json(text: str) -> Decoder:
    """The decoder of a JSON text, as in a Hugging Face `tokenizer.json`.

    Raises:
        FormatError: There is no such component; the message names it.

    Example:
        >>> from jeton.components import decoders
        >>> decoders.from_json('{"type": "Fuse"}')
        Fuse()
    """
    return read_json(Decoder, text)
