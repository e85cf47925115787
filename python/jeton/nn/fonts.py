"""Finds installed fonts that have the characters of labels, and escapes characters without a font.

Look here for `drawable_texts`, which bitmap pictures need; in an SVG the viewer chooses fonts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jeton.errors import warn_caller

__all__ = ["drawable_texts"]

_PLACEHOLDERS = "Last Resort"
"""Fonts with this name draw a box for every character."""

_MAX_NAMED = 8


def drawable_texts(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """These texts in a form that can be drawn, and the font families that draw them.

    Other than the default fonts are searched only if those lack a character. A character that no
    installed font has is escaped, as `\\u4e2d`, and a warning names it.

    Example:
        >>> texts, families = drawable_texts(["the", "π"])
        >>> texts
        ['the', 'π']
    """
    import matplotlib

    families = list(matplotlib.rcParams["font.family"])
    missing = {character for text in texts for character in text}
    for family in families:
        missing -= _characters_of(family, missing)
    missing, more = _find_fonts(missing)
    escapes = {ord(it): it.encode("unicode_escape").decode() for it in missing}
    results = [text.translate(escapes) for text in texts]
    changes = [new for old, new in zip(texts, results, strict=True) if old != new]
    if changes:
        some = ", ".join(changes[:_MAX_NAMED]) + (", …" if len(changes) > _MAX_NAMED else "")
        warn_caller(
            f"characters of labels that no installed font has are escaped: {some} (install a font "
            "that has them, or save as .svg, where the viewer chooses fonts)",
            UserWarning,
        )
    return results, families + more


def _find_fonts(missing: set[str]) -> tuple[set[str], list[str]]:
    """The characters that no installed font has, and fonts that have the others."""
    from matplotlib.font_manager import fontManager

    fonts: list[str] = []
    if not missing:
        return missing, fonts
    names = sorted({entry.name for entry in fontManager.ttflist})
    by_font = {
        name: _characters_of(name, missing) for name in names if not name.startswith(_PLACEHOLDERS)
    }
    while missing and by_font:
        best = max(by_font, key=lambda name: len(by_font[name] & missing))
        if not by_font[best] & missing:
            break
        missing = missing - by_font.pop(best)
        fonts.append(best)
    return missing, fonts


def _characters_of(family: str, characters: Iterable[str]) -> set[str]:
    """Those of the characters for which a family has a glyph that is not empty."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        font: Any = get_font(findfont(FontProperties(family=[family]), fallback_to_default=False))
        glyphs = font.get_charmap()
    except (ValueError, OSError, RuntimeError):
        return set()  # a generic name without a font on this machine, or a damaged file
    result = set()
    for character in characters:
        if ord(character) in glyphs:
            font.load_char(ord(character))
            # Fonts of coloured pictures have glyphs without an outline, which would be invisible.
            if character.isspace() or len(font.get_path()[0]) > 0:
                result.add(character)
    return result
