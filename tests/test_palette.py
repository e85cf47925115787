"""The colours: every pair that is read has enough contrast, and all that show tokens take them."""

from __future__ import annotations

import re
from itertools import pairwise, product
from pathlib import Path

import pytest

import jeton
from jeton import palette

PACKAGE = Path(jeton.__file__).parent

THEMES = {"light": palette.LIGHT, "dark": palette.DARK}
PAIRS = [
    *((f"h{at}", "on") for at in range(8)),
    *product(("ground", "card"), ("text", "quiet", "accent", "bad", "special")),
    ("accent", "on-accent"),
    ("special", "on-special"),
    ("best", "on-best"),
    ("bad-ground", "bad"),
]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [it / 12.92 if it <= 0.03928 else ((it + 0.055) / 1.055) ** 2.4 for it in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def in_terminal(code: int) -> str:
    """One of the 216 colours of a terminal's cube."""
    red, rest = divmod(code - 16, 36)
    levels = (0, 95, 135, 175, 215, 255)
    return "#" + "".join(f"{levels[at]:02x}" for at in (red, rest // 6, rest % 6))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("pair", PAIRS, ids=" on ".join)
def test_contrast(theme: str, pair: tuple[str, str]) -> None:
    ground, text = (THEMES[theme][name] for name in pair)
    assert contrast(ground, text) >= 4.5


def test_hues_are_read_better_still() -> None:
    found = [contrast(theme[f"h{at}"], theme["on"]) for theme in THEMES.values() for at in range(8)]
    assert min(found) >= 7.5


@pytest.mark.parametrize("code", palette.TERMINAL)
def test_black_is_read_on_the_hues_of_a_terminal(code: int) -> None:
    assert contrast(in_terminal(code), "#000000") >= 7.5
    assert palette.TERMINAL.count(code) == 1


@pytest.mark.parametrize("colour", palette.STRONG.values())
@pytest.mark.parametrize("ground", ["#ffffff", "#000000"])
def test_text_on_an_unknown_ground(colour: str, ground: str) -> None:
    assert contrast(colour, ground) >= 4.5


@pytest.mark.parametrize("pair", palette.SERIES)
def test_lines_of_charts(pair: tuple[str, str]) -> None:
    for colour, theme in zip(pair, THEMES.values(), strict=True):
        assert contrast(colour, theme["card"]) >= 4.5


def test_neighbours_differ_and_a_token_keeps_its_hue() -> None:
    run = palette.hues([5] * 9 + [900, 900])
    assert all(left != right for left, right in pairwise(run))
    ids = [5, 900, 7, 900, 12]
    found = palette.hues(ids)
    assert palette.hues(range(50_000)).count(3) > 5_000
    # An edit in front changes at most the token behind it.
    assert palette.hues([1, 2, 3, *ids])[4:] == found[1:]


def test_no_other_hues_are_written_down() -> None:
    """The grounds of tokens stand in one file; a page names them."""
    hues = {theme[f"h{at}"] for theme in THEMES.values() for at in range(8)}
    for path in PACKAGE.rglob("*"):
        if path.suffix in (".py", ".css", ".js", ".html") and path.name != "palette.py":
            found = set(re.findall(r"#[0-9a-f]{6}\b", path.read_text("utf-8").lower()))
            assert not found & hues, path
