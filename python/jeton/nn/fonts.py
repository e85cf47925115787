"""Which installed fonts have the characters of labels, and what is written where none has them.

Look here for `drawable`, which pictures of pixels need; in an SVG the viewer chooses fonts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jeton.errors import warn_caller

__all__ = ["drawable"]

_PLACEHOLDERS = "Last Resort"
"""Fonts of this name have a box for every character."""

_MOST_NAMED = 8


def drawable(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """These texts as they can be drawn, and the families of fonts that draw them.

    Fonts beyond the usual ones are looked for only where those lack a character. A character that
    no installed font has is written escaped, as `\\u4e2d`, and a warning names it.

    Example:
        >>> texts, families = drawable(["the", "π"])
        >>> texts
        ['the', 'π']
    """
    import matplotlib

    families = list(matplotlib.rcParams["font.family"])
    lacking = {character for text in texts for character in text}
    for family in families:
        lacking -= _drawable(family, lacking)
    lacking, more = _covered(lacking)
    escaped = {ord(it): it.encode("unicode_escape").decode() for it in lacking}
    shown = [text.translate(escaped) for text in texts]
    touched = [new for old, new in zip(texts, shown, strict=True) if old != new]
    if touched:
        some = ", ".join(touched[:_MOST_NAMED]) + (", …" if len(touched) > _MOST_NAMED else "")
        warn_caller(
            f"labels with characters that no installed font has are written escaped: {some} "
            "(install a font that has them, or save as .svg, where the viewer chooses fonts)",
            UserWarning,
        )
    return shown, families + more


def _covered(lacking: set[str]) -> tuple[set[str], list[str]]:
    """The characters that no installed font has, and the fonts that have the others."""
    from matplotlib.font_manager import fontManager

    chosen: list[str] = []
    if not lacking:
        return lacking, chosen
    names = sorted({entry.name for entry in fontManager.ttflist})
    drawn = {name: _drawable(name, lacking) for name in names if not name.startswith(_PLACEHOLDERS)}
    while lacking and drawn:
        best = max(drawn, key=lambda name: len(drawn[name] & lacking))
        if not drawn[best] & lacking:
            break
        lacking = lacking - drawn.pop(best)
        chosen.append(best)
    return lacking, chosen


def _drawable(family: str, characters: Iterable[str]) -> set[str]:
    """Those of the characters for which a family has a glyph that is not empty."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        font: Any = get_font(findfont(FontProperties(family=[family]), fallback_to_default=False))
        glyphs = font.get_charmap()
    except (ValueError, OSError, RuntimeError):
        return set()  # a generic name that stands for nothing here, or a damaged file
    found = {character for character in characters if ord(character) in glyphs}
    return {
        character for character in found if character.isspace() or _has_outline(font, character)
    }


def _has_outline(font: Any, character: str) -> bool:
    """Whether anything would be seen: fonts of coloured pictures have glyphs without lines."""
    font.load_char(ord(character))
    return len(font.get_path()[0]) > 0
