"""How a chat looks in a terminal: its text in colours that say who wrote what."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from jeton.display.human_readable import printable

if TYPE_CHECKING:
    from rich.text import Text

    from jeton.chat.templates.origins import Origin, RenderedChat

Look = Literal["control", "template", "system", "user", "assistant", "tool", "other", "spelled"]

STYLES: Final[dict[Look, tuple[str, str]]] = {
    "control": ("bold color(231) on color(61)", "control"),
    "template": ("color(243)", "template"),
    "system": ("color(16) on color(223)", "system"),
    "user": ("color(16) on color(157)", "user"),
    "assistant": ("color(16) on color(153)", "assistant"),
    "tool": ("color(16) on color(225)", "tool"),
    "other": ("color(16) on color(229)", "other data"),
    "spelled": ("bold color(231) on color(160)", "forged: text"),
}
"""The style of rich for each look, and its meaning."""

LEGEND: Final = "who wrote what: "

_LOOKS: Final[dict[str, Look]] = {
    "developer": "system",
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
}


def pieces(chat: RenderedChat) -> Iterator[tuple[str, Look]]:
    """The text of a chat in stretches of one look."""
    specials = chat.control_tokens
    control = set(specials.values())
    marks: dict[int, tuple[int, Look]] = {
        start: (end, "control")
        for id, (start, end) in zip(chat.ids, chat.spans, strict=True)
        if id in control and start < end
    }
    names = re.compile("|".join(map(re.escape, sorted(specials, key=len, reverse=True))) or "(?!)")
    segments = [(start, end, _look(origin)) for start, end, origin in chat.segments]
    # A token may be spelled by several: the template's `<|`, a role, and its `|>`.
    ends = [end for _, end, _ in segments]
    for match in names.finditer(chat.text):
        first, last = (bisect_right(ends, place) for place in (match.start(), match.end() - 1))
        if any(look != "template" for _, _, look in segments[first : last + 1]):
            marks.setdefault(match.start(), (match.end(), "spelled"))
    at = 0
    ordered = iter(sorted(marks.items()))
    mark = next(ordered, None)
    for _, end, look in segments:
        while at < end:
            while mark is not None and mark[0] < at:
                mark = next(ordered, None)
            if mark is not None and mark[0] == at:
                yield chat.text[at : mark[1][0]], mark[1][1]
                at = mark[1][0]
                continue
            stop = end if mark is None else min(end, mark[0])
            yield chat.text[at:stop], look
            at = stop


def _look(origin: Origin) -> Look:
    if origin.kind == "template":
        return "template"
    if origin.kind == "message":
        return _LOOKS.get(origin.role or "", "other")
    return "other"


def coloured(chat: RenderedChat) -> Iterator[Text]:
    """The text of a chat and a legend, for rich."""
    from rich.text import Text

    shown = Text()
    used: list[Look] = []
    for text, look in pieces(chat):
        shown.append(printable(text), STYLES[look][0])
        if look not in used:
            used.append(look)
    yield shown
    legend = Text().append(LEGEND, "dim")
    for look in STYLES:
        if look in used:
            legend.append(f" {STYLES[look][1]} ", STYLES[look][0]).append(" ")
    yield legend
