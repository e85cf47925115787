"""Pre-tokenizers: split text into the pieces that the model sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias

from jeton.arguments import check_field_word
from jeton.components.component import (
    Component,
    FunctionStage,
    Regex,
    Steps,
    check_pattern,
    one_character,
    read_json,
)
from jeton.errors import ArgumentError

__all__ = [
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Function",
    "Matches",
    "Metaspace",
    "PreTokenizer",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "from_json",
]

Behavior: TypeAlias = Literal[
    "removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"
]
"""What to do with the delimiters of a split, shown on `the-final--countdown`:

- `removed`: `the` `final` `countdown`
- `isolated`: `the` `-` `final` `-` `-` `countdown`
- `merged_with_previous`: `the-` `final-` `-` `countdown`
- `merged_with_next`: `the` `-final` `-` `-countdown`
- `contiguous`: `the` `-` `final` `--` `countdown`
"""

_BEHAVIORS: Final = (
    "removed",
    "isolated",
    "merged_with_previous",
    "merged_with_next",
    "contiguous",
)
_SCHEMES: Final = ("always", "never", "first")


@dataclass(frozen=True)
class PreTokenizer(Component):
    """Base class of pre-tokenizers. Called with a text, it returns the pieces with their spans.

    Example:
        >>> from jeton.components import pre_tokenizers
        >>> pre_tokenizers.Whitespace()("Isn't it?")
        [('Isn', (0, 3)), ("'", (3, 4)), ('t', (4, 5)), ('it', (6, 8)), ('?', (8, 9))]
    """

    STAGE: ClassVar[str] = "pre_tokenizer"

    def __call__(
        self, text: str, *, unit: Literal["characters", "bytes", "utf-16"] = "characters"
    ) -> list[tuple[str, tuple[int, int]]]:
        """The pieces of a text, as a model of characters sees them, and the span of each.

        Args:
            text: The text, after a normalizer.
            unit: What spans count: `"characters"` of the `str`, `"bytes"` of its UTF-8, or
                `"utf-16"` code units.

        Raises:
            ArgumentTypeError: `text` is not a `str`.
        """
        return self._in_core().cut(text, unit)


@dataclass(frozen=True)
class ByteLevel(PreTokenizer):
    """GPT-2's: splits into words with the space before them; the model sees bytes.

    Before a BPE over bytes, text is unchanged. Any other model sees each byte written as one of
    GPT-2's 256 printable characters.

    Args:
        add_prefix_space: Whether to put a space in front of text that does not begin with one.
        trim_offsets: Only for the file format; the post-processor of this name trims.
        use_regex: Whether to split by GPT-2's pattern.
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True)
class BertPreTokenizer(PreTokenizer):
    """BERT's: splits at white space, which is dropped, and around each punctuation character."""


@dataclass(frozen=True)
class Metaspace(PreTokenizer):
    """SentencePiece's: writes spaces as a visible character, the meta space.

    Args:
        replacement: The visible character.
        prepend_scheme: Where to put one in front: of every piece (`"always"`), of the first piece
            of the text (`"first"`), or `"never"`.
        split: Whether to split before each.
    """

    replacement: str = "▁"
    prepend_scheme: Literal["always", "never", "first"] = "always"
    split: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        one_character(self, "replacement", self.replacement)
        check_field_word(self, "prepend_scheme", self.prepend_scheme, _SCHEMES)


@dataclass(frozen=True)
class Whitespace(PreTokenizer):
    r"""Splits into words and runs of other characters except white space: `\w+|[^\w\s]+`."""


@dataclass(frozen=True)
class WhitespaceSplit(PreTokenizer):
    """Splits at white space, which is dropped."""


@dataclass(frozen=True)
class CharDelimiterSplit(PreTokenizer):
    """Splits at one character, which is dropped.

    Args:
        delimiter: The character.
    """

    delimiter: str

    def __post_init__(self) -> None:
        super().__post_init__()
        one_character(self, "delimiter", self.delimiter)


@dataclass(frozen=True)
class Split(PreTokenizer):
    """Splits at the matches of a pattern.

    Args:
        pattern: A text, or a `Regex`.
        behavior: What to do with a match; see `Behavior`.
        invert: Whether matches are the pieces rather than the delimiters.
    """

    pattern: str | Regex
    behavior: Behavior
    invert: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pattern(self, self.pattern)
        check_field_word(self, "behavior", self.behavior, _BEHAVIORS)


@dataclass(frozen=True)
class Punctuation(PreTokenizer):
    """Splits at punctuation.

    Args:
        behavior: What to do with it; see `Behavior`.
    """

    behavior: Behavior = "isolated"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field_word(self, "behavior", self.behavior, _BEHAVIORS)


@dataclass(frozen=True)
class Digits(PreTokenizer):
    """Splits around numbers.

    Args:
        individual_digits: Whether each digit is a piece, rather than a run of digits.
    """

    individual_digits: bool = False


@dataclass(frozen=True)
class Function(FunctionStage, PreTokenizer):
    """A Python function, in training and in encoding.

    It is called with each stretch of normalized text, from any thread. Its exceptions reach the
    caller unchanged. No file can hold it, so saving fails; a tokenizer can be pickled if the
    function can. There is no fast path with it.

    Args:
        function: Called with a text. It returns its pieces in order, as substrings of the text or
            as pairs of start and end, in characters; text between pieces is dropped.

    Example:
        >>> import jeton
        >>> from jeton.components import pre_tokenizers
        >>> words = pre_tokenizers.Function(str.split)
        >>> words("to  be")
        [('to', (0, 2)), ('be', (4, 6))]
        >>> tok = jeton.BPETrainer(258, pre_tokenizer=words).train(["to be or not to be"])
        >>> tok.encode_with_spans("to  be").tokens
        [b'to', b'be']
    """

    function: Callable[[str], list[str] | list[tuple[int, int]]]


@dataclass(frozen=True)
class UnicodeScripts(PreTokenizer):
    """Splits where the script changes."""


@dataclass(frozen=True)
class FixedLength(PreTokenizer):
    """Splits into pieces of a fixed length.

    Args:
        length: The length in characters; at least 1.
    """

    length: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length < 1:
            raise ArgumentError(f"FixedLength.length must be at least 1, not {self.length}")


@dataclass(frozen=True)
class Matches(PreTokenizer):
    """tiktoken's: the matches of a pattern are the pieces; text between them is dropped.

    Args:
        pattern: A `Regex`, or a text.
    """

    pattern: str | Regex

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pattern(self, self.pattern, "tiktoken")


@dataclass(frozen=True)
class Sequence(Steps, PreTokenizer):
    """Applies several pre-tokenizers in order.

    Args:
        steps: The pre-tokenizers.
    """

    STEPS_NAME: ClassVar[str] = "pretokenizers"

    steps: tuple[PreTokenizer, ...]

    def __init__(self, steps: Iterable[PreTokenizer]) -> None:
        self.set_steps(steps)


def from_json(text: str) -> PreTokenizer:
    """The pre-tokenizer of a JSON text, as in a Hugging Face `tokenizer.json`.

    Raises:
        FormatError: There is no such component; the message names it.

    Example:
        >>> from jeton.components import pre_tokenizers
        >>> pre_tokenizers.from_json('{"type": "Digits", "individual_digits": true}')
        Digits(individual_digits=True)
    """
    return read_json(PreTokenizer, text)
