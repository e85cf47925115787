"""How gotchas look in a terminal: the text with marks, then each finding with its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from jeton.display.human_readable import visible
from jeton.display.palette import TERMINAL, hues

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from jeton.encoding.base_tokenizer import BaseTokenizer
    from jeton.encoding.gotchas.gotcha import Gotcha

_CONTROL: Final = "bold color(231) on color(61)"
_MAX_TEXT: Final = 400
"""The longest text that is shown, in characters."""
_MAX_TOKENS: Final = 14
_MAX_FINDING: Final = 48
"""The maximum number of characters that are shown of a finding."""

_DANGEROUS: Final = frozenset(
    "special-token foreign-control look-alike invisible bidi hidden-text control-character "
    "no-token".split()
)
"""Findings that may be an attack: their names are red."""


def renderables(
    tok: BaseTokenizer,
    text: str,
    gotchas: Sequence[Gotcha],
    left_out: Mapping[str, int],
    *,
    colour: bool,
) -> Iterator[RenderableType]:
    """The output of rich.

    Args:
        tok: The tokenizer of the ids.
        gotchas: Its findings.
        left_out: By name, how many more there are.
        colour: Whether to use colours.
    """
    from rich.padding import Padding
    from rich.text import Text

    if not gotchas:
        yield Text("no gotchas", "green")
        return
    if len(text) <= _MAX_TEXT:
        yield Padding(_with_marks(text, gotchas), (0, 0, 0, 2))
        yield Text()
    for number, gotcha in enumerate(gotchas, 1):
        yield from _finding(tok, number, gotcha, colour)
        yield Text()
    for name, more in left_out.items():
        yield Text(f"… {more:,} more of the name {name}", "dim")


def _with_marks(text: str, gotchas: Sequence[Gotcha]) -> Text:
    """The text, with the numbers of findings after each of them."""
    from rich.text import Text

    marks: dict[int, list[int]] = {}
    is_odd = bytearray(len(text))
    for number, gotcha in enumerate(gotchas, 1):
        start, end = gotcha.span
        marks.setdefault(end, []).append(number)
        if end - start < max(2, len(text)):
            is_odd[start:end] = b"\1" * (end - start)
    output = Text()
    for at in range(len(text) + 1):
        if at in marks:
            output.append("".join(f"[{number}]" for number in marks[at]), "bold yellow")
        if at < len(text):
            sign = text[at] if text[at] == " " and not is_odd[at] else _visible(text[at])
            output.append(sign, "color(16) on color(223)" if is_odd[at] else "")
    return output


def _finding(
    tok: BaseTokenizer, number: int, gotcha: Gotcha, colour: bool
) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    start, end = gotcha.span
    title = Text(f"{number:>2}  ", "dim")
    title.append(gotcha.name, "bold color(203)" if gotcha.name in _DANGEROUS else "bold color(38)")
    title.append(f"  {start}–{end}" + (f", {gotcha.times:,} times" * (gotcha.times > 1)), "dim")
    title.append(f"  {_shorten(_visible(gotcha.text))}", "bold")
    yield title
    yield Padding(Text(gotcha.what), (0, 0, 0, 4))
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(ratio=1)
    rows.add_row("written", _tokens(tok, gotcha.ids, gotcha.spelling, colour))
    if gotcha.instead is not None:
        control = gotcha.name == "special-token"
        label = "control" if control else "instead"
        rows.add_row(label, _tokens(tok, gotcha.instead_ids, gotcha.instead, colour))
    rows.add_row("so", Text(gotcha.effect))
    rows.add_row("do", Text(gotcha.do, "green"))
    yield Padding(rows, (0, 0, 0, 4))


def _tokens(tok: BaseTokenizer, ids: Sequence[int], spelling: str, colour: bool) -> Text:
    """Tokens side by side, and their ids."""
    from rich.text import Text

    control = set(tok.special_tokens.values())
    output = Text()
    if not ids:
        return output.append("nothing" if not spelling else "no tokens", "dim")
    first = ids[:_MAX_TOKENS]
    for number, (id, hue) in enumerate(zip(first, hues(first), strict=True)):
        if number and not colour:
            output.append("│")
        piece = visible(tok.vocab.token_bytes(id) or tok.vocab.spelling(id))
        light = f"color(16) on color({TERMINAL[hue]})"
        output.append(_shorten(piece), _CONTROL if id in control else light)
    more = len(ids) - _MAX_TOKENS
    output.append(" …" * (more > 0))
    output.append("  " + " ".join(map(str, first)) + f" … ({more} more)" * (more > 0), "dim")
    return output


def _visible(text: str) -> str:
    return "".join(map(_sign, text))


def _sign(character: str) -> str:
    if "\u0300" <= character <= "\u036f":
        return character
    if "\ud800" <= character <= "\udfff":
        return f"‹U+{ord(character):04X}›"
    return visible(character.encode())


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_FINDING else text[:_MAX_FINDING] + "…"
