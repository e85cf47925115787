"""The colours of jeton, the same in terminals, notebooks, reports, lessons and on the page.

A token has one of eight hues, which follows from its id: a token looks the same everywhere, and an
edit changes no colours far from it. Look here before you write down a colour: `css` has them for
pages, `TERMINAL` for terminals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final


def _numbered(letter: str, colours: Iterable[str]) -> dict[str, str]:
    return {f"{letter}{at}": colour for at, colour in enumerate(colours)}


LIGHT: Final[Mapping[str, str]] = {
    **_numbered("h", "#c3e2ff #ffe0c4 #c5e9cb #ffdaf0 #e9deb5 #ede0ff #b4eaec #ffdad6".split()),
    "on": "#1b1d21",
    "ground": "#faf9f6",
    "card": "#ffffff",
    "line": "#dcd9d0",
    "text": "#1b1d21",
    "quiet": "#5c626b",
    "accent": "#1f5f8b",
    "on-accent": "#ffffff",
    "edge": "#1b1d2147",
    "bad": "#a3261d",
    "bad-ground": "#ffebe8",
    "special": "#4a4a96",
    "on-special": "#ffffff",
    "best": "#ffd479",
    "on-best": "#1b1d21",
}
"""On a light ground: the hues `h0` to `h7`, `on` for text on them, and the rest of a page."""

DARK: Final[Mapping[str, str]] = {
    **_numbered("h", "#233f5b #65452a #24462c #654055 #473d13 #524569 #034649 #6a403c".split()),
    "on": "#f2f0ea",
    "ground": "#15171b",
    "card": "#1d2025",
    "line": "#363b43",
    "text": "#f2f0ea",
    "quiet": "#a5abb5",
    "accent": "#86c1ec",
    "on-accent": "#10202d",
    "edge": "#f2f0ea47",
    "bad": "#ffb4ab",
    "bad-ground": "#4a1d19",
    "special": "#b9b9ff",
    "on-special": "#17172f",
    "best": "#e8b04a",
    "on-best": "#1b1d21",
}
"""The same on a dark ground."""

TERMINAL: Final = (153, 223, 157, 225, 187, 189, 159, 224)
"""The light hues as near colours of the 256 that terminals have; black reads well on each."""

SERIES: Final = (
    ("#2a6fb8", "#6fb1f0"), ("#b8521b", "#f0995f"), ("#2f7d48", "#74cc90"), ("#b0406f", "#ee82ad"),
    ("#7657b5", "#b09af0"), ("#826617", "#d8b75a"), ("#1c7a86", "#62ccd8"), ("#c0392f", "#f08b80"),
    ("#5d6470", "#a6aebb"), ("#9a4fc0", "#cf97ee"), ("#4c7717", "#a3d163"), ("#9c5273", "#e6a8c4"),
)  # fmt: skip
"""Colours of lines and points in charts, light and dark: stronger than hues, and distinct."""


STRONG: Final[Mapping[str, str]] = {
    "": "#3d7ab5",
    "best": "#9b6e00",
    "tie": "#8a7435",
    "added": "#6d6dc4",
    "unknown": "#c2543e",
    "dim": "#767676",
}
"""Colours by mark, for text and bars on an unknown ground, as in a terminal: on white and on black
they have a contrast of at least 4.5."""


def hues(ids: Iterable[int]) -> list[int]:
    """The hue, 0 to 7, of each token of a sequence.

    It is that of the id, or the next one if the token to the left has that.

    >>> hues([262, 262, 262, 5])
    [7, 0, 7, 0]
    """
    numbers: list[int] = []
    for id in ids:
        hue = (id * 0x9E3779B1 & 0xFFFFFFFF) >> 29
        numbers.append((hue + 1) % 8 if numbers and numbers[-1] == hue else hue)
    return numbers


def css(scope: str = ":root") -> str:
    """The colours as variables of CSS, `--h0` and so on, with a class for each hue.

    They follow the theme of the reader's system, unless an element of the scope has the class
    `light` or `dark`. In print they are light. `scope`: a selector of the elements that have the
    variables.

    >>> css(".jeton").splitlines()[0][:40]
    '.jeton { color-scheme: light; --h0: #c3e'
    """
    s_light, s_dark = (_numbered("s", colours) for colours in zip(*SERIES, strict=True))
    light, dark = (
        f"color-scheme: {name}; " + " ".join(f"--{key}: {value};" for key, value in colours.items())
        for name, colours in (("light", {**LIGHT, **s_light}), ("dark", {**DARK, **s_dark}))
    )
    classes = " ".join(
        f"{scope} .h{at} {{ background: var(--h{at}); color: var(--on); }}" for at in range(8)
    )
    return (
        f"{scope} {{ {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ {scope}:not(.light) {{ {dark} }} }}\n"
        f"@media screen {{ {scope}.dark {{ {dark} }} }}\n"
        f"{classes}\n"
    )
