"""`Gotchas`: the result of `Tokenizer.gotchas`, the findings of one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from jeton.encoding.gotchas.gotcha import Gotcha

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from jeton.encoding.base_tokenizer import BaseTokenizer


class Gotchas(Sequence[Gotcha]):
    """The findings of a text, in its order. rich prints them in colour.

    Attributes:
        tokenizer: The tokenizer of the ids.
        text: The text.
        left_out: By name, how many more there are beyond the limit. Some of these may be no
            findings, because both spellings have the same ids.
    """

    def __init__(
        self,
        tokenizer: BaseTokenizer,
        text: str,
        gotchas: Sequence[Gotcha],
        left_out: dict[str, int],
    ) -> None:
        self.tokenizer = tokenizer
        self.text = text
        self.left_out = left_out
        self._gotchas = tuple(gotchas)

    @overload
    def __getitem__(self, number: int) -> Gotcha: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Gotcha, ...]: ...
    def __getitem__(self, number: int | slice) -> Gotcha | tuple[Gotcha, ...]:
        return self._gotchas[number]

    def __len__(self) -> int:
        return len(self._gotchas)

    def named(self, name: str) -> list[Gotcha]:
        """The findings with a name."""
        return [gotcha for gotcha in self if gotcha.name == name]

    def __eq__(self, other: object) -> bool:
        return self._gotchas == other._gotchas if isinstance(other, Gotchas) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._gotchas)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(gotcha.name for gotcha in self)) or "none"
        return f"Gotchas({len(self)}: {names})"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from jeton.encoding.gotchas.showing import renderables

        colour = not console.no_color and console.color_system is not None
        yield from renderables(self.tokenizer, self.text, self, self.left_out, colour=colour)
