"""A finding: its name, where it is, the ids of both spellings, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, overload

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from jeton.tokenizer import Tokenizer

__all__ = ["NAMES", "Gotcha", "Gotchas"]

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "leading-space": "the first word has other tokens than behind a space",
        "trailing-space": "a space at the end, which belongs to the next word",
        "case": "capitals that take more tokens than lower case",
        "digits": "a number that is cut where no digit group begins",
        "special-token": "a special or added token of this tokenizer, spelled in the text",
        "foreign-control": "what spells a control token of other models",
        "normalized": "text that the normalizer changes",
        "round-trip": "text that does not come back when its ids are decoded",
        "unknown": "text that becomes the token for unknown text",
        "no-token": "a character that cannot be encoded",
        "look-alike": "letters that look like those of another script",
        "full-width": "full-width and mathematical forms of ordinary characters",
        "typographic": "quotes, dashes and dots that are not those of the keyboard",
        "odd-space": "a space that is not the ordinary one",
        "invisible": "characters that nobody sees",
        "bidi": "characters that turn the direction of writing around",
        "hidden-text": "tag characters, which spell text that nobody sees",
        "variation-selector": "a character that asks for another look of the one before it",
        "control-character": "control characters of the first computers",
        "unicode-form": "letters whose accents are characters of their own",
        "line-end": "line ends that are not \\n",
        "replacement-character": "U+FFFD, what wrong decoding leaves behind",
        "surrogate": "half of a character of UTF-16",
    }
)
"""What each name stands for, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Gotcha:
    """Something in a text that is not what it seems to be."""

    name: str
    """One of `NAMES`."""
    span: tuple[int, int]
    """Where it first stands, in characters."""
    text: str
    """What stands there."""
    times: int
    """How often the text has it."""
    what: str
    """What it is."""
    effect: str
    """What this tokenizer does with it."""
    do: str
    """What to do about it."""
    spelling: str
    """The word around it, as it is written."""
    ids: tuple[int, ...]
    """The ids of `spelling`."""
    instead: str | None = None
    """Another spelling of the same."""
    instead_ids: tuple[int, ...] = ()
    """The ids of `instead`."""


class Gotchas(Sequence[Gotcha]):
    """What was found in a text, in the order of the text. rich prints it in colour.

    Attributes:
        tokenizer: What the ids are of.
        text: The text.
        left_out: By name, how many more were not told. Of some of them both spellings may have the
            same ids.
    """

    def __init__(
        self, tokenizer: Tokenizer, text: str, found: Sequence[Gotcha], left_out: dict[str, int]
    ) -> None:
        self.tokenizer = tokenizer
        self.text = text
        self.left_out = left_out
        self._found = tuple(found)

    @overload
    def __getitem__(self, number: int) -> Gotcha: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Gotcha, ...]: ...
    def __getitem__(self, number: int | slice) -> Gotcha | tuple[Gotcha, ...]:
        return self._found[number]

    def __len__(self) -> int:
        return len(self._found)

    def named(self, name: str) -> list[Gotcha]:
        """The findings of one name."""
        return [gotcha for gotcha in self if gotcha.name == name]

    def __eq__(self, other: object) -> Any:
        return self._found == other._found if isinstance(other, Gotchas) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._found)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(gotcha.name for gotcha in self)) or "none"
        return f"Gotchas({len(self)}: {names})"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from jeton.gotchas.showing import shown

        yield from shown(self, colour=not console.no_color and console.color_system is not None)
