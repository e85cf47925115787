"""Text can be read where colours are not the palette's alone: the site, the report's heat map, what
terminals show, and pictures. `test_palette.py` has the palette itself.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from rich.color import Color
from rich.style import Style

from jeton.chat import showing as chats
from jeton.display import palette
from jeton.display.views import printed
from pictures import contrast, rgb

ROOT = Path(__file__).parents[2]
LEAST = 4.5

CODE = "code-fg code-hl-comment code-hl-operator code-hl-string code-hl-number code-hl-keyword"
CODE += " code-hl-function code-hl-constant code-hl-special code-hl-punctuation code-hl-generic"
SITE = [
    *((f"md-{text}-color", "md-code-bg-color") for text in CODE.split()),
    ("md-default-fg-color", "md-default-bg-color"),
    ("md-default-fg-color--light", "md-default-bg-color"),
    ("md-typeset-a-color", "md-default-bg-color"),
    ("md-typeset-a-color", "md-code-bg-color"),
    ("md-accent-fg-color", "md-default-bg-color"),
]


def variables(rule: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})\b", rule))


def pairs() -> dict[str, tuple[str, str]]:
    """Every pair of a text and its ground, by where it is."""
    found = {}
    site = (ROOT / "docs/assets/site.css").read_text(encoding="utf-8")
    for scheme in ("default", "slate"):
        rule = site.split(f'[data-md-color-scheme="{scheme}"] {{')[1].split("}")[0]
        for text, ground in SITE:
            found[f"{scheme}: {text} on {ground}"] = variables(rule)[text], variables(rule)[ground]
    report = files("jeton.analysis.report").joinpath("report.css").read_text(encoding="utf-8")
    light, *dark = re.findall(r"[^{}]*--heat0:[^{}]*", report)
    for theme, rules in ((palette.LIGHT, [light]), (palette.DARK, dark)):
        for number, rule in enumerate(rules):
            for name, ground in variables(rule).items():
                found[f"report {len(rules)} {number}: text on {name}"] = theme["text"], ground
    styles = {f"steps {mark or 'plain'}": style for mark, style in printed.STYLES.items()}
    styles |= {f"chat {name}": style for name, (style, _) in chats.STYLES.items()}
    styles |= {f"pale token {it}": f"color(240) on color({it})" for it in (253, 255)}
    for name, written in styles.items():
        style = Style.parse(written)
        assert style.color is not None
        if style.bgcolor is not None:
            found[name] = _hexadecimal(style.color), _hexadecimal(style.bgcolor)
        else:  # on the ground of any terminal
            found[f"{name} on white"] = _hexadecimal(style.color), "#ffffff"
            found[f"{name} on black"] = _hexadecimal(style.color), "#000000"
    return found


def _hexadecimal(colour: Color) -> str:
    return colour.get_truecolor().hex


@pytest.mark.parametrize(("text", "ground"), pairs().values(), ids=list(pairs()))
def test_contrast(text: str, ground: str) -> None:
    assert contrast(rgb(text), rgb(ground)) >= LEAST


@pytest.mark.parametrize(
    "picture", sorted((ROOT / "docs/pictures").glob("*.svg")), ids=lambda path: path.name
)
def test_pictures_have_a_title_and_two_grounds(picture: Path) -> None:
    drawn = picture.read_text(encoding="utf-8")
    assert re.search(r"<title>[^<]{10,}</title>", drawn)
    assert "@media (prefers-color-scheme: dark)" in drawn
