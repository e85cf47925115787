"""The script of each character of a text, from Unicode's data.

Look here to separate the tokens of one writing system from those of another.
"""

from __future__ import annotations

import jeton._core as _core
from jeton.arguments import check_text


def scripts(text: str) -> list[str]:
    """The script of each character, by Unicode's name for it.

    Digits, punctuation and symbols are `"Common"`, combining marks `"Inherited"`.

    Example:
        >>> from jeton.encoding.unicode import scripts
        >>> scripts("aя字7")
        ['Latin', 'Cyrillic', 'Han', 'Common']
    """
    return _core.scripts(check_text("text", text))


def letter_scripts(text: str) -> set[str]:
    """The scripts of a text's letters, without `"Common"`, `"Inherited"` and `"Unknown"`.

    Example:
        >>> from jeton.encoding.unicode import letter_scripts
        >>> sorted(letter_scripts("Naïve, 7 × я"))
        ['Cyrillic', 'Latin']
    """
    return set(scripts(text)) - {"Common", "Inherited", "Unknown"}
