"""How a chat looks in a terminal: its text in colours that say who wrote what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from rich.text import Text

    from jeton.chat.chat import Chat
    from jeton.chat.origins import Origin

__all__ = ["LEGEND", "STYLES", "Look", "coloured", "pieces"]

Look = Literal["control", "template", "system", "user", "assistant", "tool", "other", "spelled"]

STYLES: Final[dict[Look, tuple[str, str]]] = {
    "control": ("bold color(231) on color(61)", "control token"),
    "template": ("color(246)", "template"),
    "system": ("color(16) on color(223)", "system"),
    "user": ("color(16) on color(157)", "user"),
    "assistant": ("color(16) on color(153)", "assistant"),
    "tool": ("color(16) on color(225)", "tool"),
    "other": ("color(16) on color(229)", "other data"),
    "spelled": ("bold color(231) on color(160)", "spelled, but text"),
}
"""Of each look the style of rich, and what it says."""

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


def pieces(chat: Chat) -> Iterator[tuple[str, Look]]:
    """The text of a chat in stretches of one look."""
    specials = chat.tokenizer.special_tokens
    controls = {
        span[0]: span[1]
        for id, span in zip(chat.ids, chat.spans, strict=True)
        if id in _ids(specials)
    }
    named = sorted(specials, key=len, reverse=True)
    spelled: dict[int, int] = {}
    for name in named:
        at = chat.text.find(name)
        while at >= 0:
            if not any(start <= at < end for start, end in controls.items()):
                spelled.setdefault(at, at + len(name))
            at = chat.text.find(name, at + len(name))
    for start, end, origin in chat.segments:
        at = start
        while at < end:
            special = controls.get(at)
            forged = None if origin.kind == "template" else spelled.get(at)
            if special is not None and special > at:
                yield chat.text[at:special], "control"
                at = special
                continue
            if forged is not None and forged <= end:
                yield chat.text[at:forged], "spelled"
                at = forged
                continue
            stops = [it for it in (*controls, *spelled) if at < it < end]
            stop = min(stops, default=end)
            yield chat.text[at:stop], _look(origin)
            at = stop


def _ids(specials: dict[str, int]) -> set[int]:
    return set(specials.values())


def _look(origin: Origin) -> Look:
    if origin.kind == "template":
        return "template"
    if origin.kind == "message":
        return _LOOKS.get(origin.role or "", "other")
    return "other"


def coloured(chat: Chat) -> Iterator[Text]:
    """The text of a chat and a legend, for rich."""
    from rich.text import Text

    shown = Text()
    used: list[Look] = []
    for text, look in pieces(chat):
        shown.append(text, STYLES[look][0])
        if look not in used:
            used.append(look)
    yield shown
    legend = Text().append(LEGEND, "dim")
    for look in STYLES:
        if look in used:
            legend.append(f" {STYLES[look][1]} ", STYLES[look][0]).append(" ")
    yield legend
