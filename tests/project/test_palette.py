"""The palette: text is readable on every ground it is used on, and no other file has hues."""

from __future__ import annotations

import re
from itertools import pairwise, product
from pathlib import Path

import pytest

import jeton
from jeton.display import palette
from pictures import contrast, rgb

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


def in_terminal(code: int) -> tuple[int, int, int]:
    """One of the 216 colours of a terminal's cube."""
    red, rest = divmod(code - 16, 36)
    levels = (0, 95, 135, 175, 215, 255)
    return levels[red], levels[rest // 6], levels[rest % 6]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("pair", PAIRS, ids=" on ".join)
def test_contrast(theme: str, pair: tuple[str, str]) -> None:
    ground, text = (THEMES[theme][name] for name in pair)
    assert contrast(rgb(ground), rgb(text)) >= 4.5


def test_hues_are_read_better_still() -> None:
    for theme in THEMES.values():
        assert min(contrast(rgb(theme[f"h{at}"]), rgb(theme["on"])) for at in range(8)) >= 7.5


@pytest.mark.parametrize("code", palette.TERMINAL)
def test_black_is_read_on_the_hues_of_a_terminal(code: int) -> None:
    assert contrast(in_terminal(code), (0, 0, 0)) >= 7.5
    assert palette.TERMINAL.count(code) == 1


@pytest.mark.parametrize("colour", palette.STRONG.values())
@pytest.mark.parametrize("ground", ["#ffffff", "#000000"])
def test_text_on_an_unknown_ground(colour: str, ground: str) -> None:
    assert contrast(rgb(colour), rgb(ground)) >= 4.5


@pytest.mark.parametrize("pair", palette.SERIES)
def test_lines_of_charts(pair: tuple[str, str]) -> None:
    for colour, theme in zip(pair, THEMES.values(), strict=True):
        assert contrast(rgb(colour), rgb(theme["card"])) >= 4.5


def test_neighbours_differ_and_a_token_keeps_its_hue() -> None:
    run = palette.hues([5] * 9 + [900, 900])
    assert all(left != right for left, right in pairwise(run))
    ids = [5, 900, 7, 900, 12]
    found = palette.hues(ids)
    assert palette.hues(range(50_000)).count(3) > 5_000
    # An edit in front changes at most the token after it.
    assert palette.hues([1, 2, 3, *ids])[4:] == found[1:]


def test_no_other_hues_are_written_down() -> None:
    """Only `palette.py` has the hues: pages use its variables."""
    hues = {theme[f"h{at}"] for theme in THEMES.values() for at in range(8)}
    for path in PACKAGE.rglob("*"):
        if path.suffix in (".py", ".css", ".js", ".html") and path.name != "palette.py":
            found = set(re.findall(r"#[0-9a-f]{6}\b", path.read_text("utf-8").lower()))
            assert not found & hues, path
