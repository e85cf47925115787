"""Text can be read: the contrast of every pair of colours, by the guidelines for web content.

Each page has its colours as variables of CSS, for light ground and for dark; terminals have them as
styles. A row names what is written on what.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from rich.color import Color
from rich.style import Style

from jeton.chat import showing as chats
from jeton.cli import colours
from jeton.gotchas import showing as gotchas
from jeton.human_readable import LIGHT
from jeton.views import printed
from pictures import contrast, rgb

ROOT = Path(__file__).parent.parent
LEAST = 4.5


def variables(css: str, selector: str) -> dict[str, str]:
    """The colours that the last rule of a selector names."""
    rule = css[css.rindex(selector) :].split("{", 1)[1].split("}")[0]
    found = re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{3,6})\b", rule)
    return {name: value if len(value) == 7 else _long(value) for name, value in found}


def _long(short: str) -> str:
    return "#" + "".join(2 * digit for digit in short[1:])


PLAY = [("on", f"h{hue}") for hue in range(8)] + [
    *(("text", ground) for ground in ("ground", "card")),
    *(("quiet", ground) for ground in ("ground", "card")),
    *(("accent", ground) for ground in ("ground", "card")),
    ("on-accent", "accent"),
    ("on-special", "special"),
    ("bad", "bad-ground"),
]
STEPS = [
    *(("on", chip) for chip in ("plain", "second", "tie", "unknown")),
    ("on-best", "best"),
    ("on-added", "added"),
    *((text, ground) for text in ("text", "quiet") for ground in ("ground", "card")),
]
REPORT = [
    *(("text", f"t{token}") for token in range(6)),
    *(("text", f"h{heat}") for heat in range(11)),
    *((text, ground) for text in ("text", "quiet") for ground in ("ground", "card")),
]
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
PAGES = {
    "jeton play": ("play/page/palette.css", ":root {", ':root[data-theme="dark"] {', PLAY),
    "steps": ("views/page.css", ".jeton {\n  --ground", ".jeton.dark {", STEPS),
    "report": ("analysis/report/report.css", "", "", REPORT),
}


def text_of(name: str) -> str:
    return files("jeton").joinpath(name).read_text(encoding="utf-8")


def pairs() -> dict[str, tuple[str, str]]:
    """Every pair, by where it is."""
    found = {}
    site = (ROOT / "docs/assets/site.css").read_text(encoding="utf-8")
    sheets = {
        "site light": (variables(site, '[data-md-color-scheme="default"] {'), SITE),
        "site dark": (variables(site, '[data-md-color-scheme="slate"] {'), SITE),
    }
    for name, (file, light, dark, rows) in PAGES.items():
        css = text_of(file)
        blocks = re.findall(r"[^{}]*\{[^{}]*--ground:[^{}]*\}", css)
        first, last = (variables(css, light), variables(css, dark)) if light else (None, None)
        sheets[f"{name} light"] = (first or variables(blocks[0], "{"), rows)
        sheets[f"{name} dark"] = (last or variables(blocks[-1], "{"), rows)
    for sheet, (values, rows) in sheets.items():
        for text, ground in rows:
            found[f"{sheet}: {text} on {ground}"] = values[text], values[ground]
    styles = {f"steps {mark or 'plain'}": style for mark, style in printed.STYLES.items()}
    styles |= {f"chat {name}": style for name, (style, _) in chats.STYLES.items()}
    styles |= {"gotchas control": gotchas.CONTROL}
    styles |= {f"token {colour}": f"color(16) on color({colour})" for colour in LIGHT}
    styles |= {"special token": "color({}) on color({})".format(*colours.SPECIAL)}
    styles |= {f"pale token {it}": f"color({colours.PALE}) on color({it})" for it in colours.PALES}
    for name, written in styles.items():
        style = Style.parse(written)
        if style.color is not None and style.bgcolor is not None:
            found[name] = _hexadecimal(style.color), _hexadecimal(style.bgcolor)
        elif style.color is not None:  # on the ground of any terminal
            found[f"{name} on white"] = _hexadecimal(style.color), "#ffffff"
            found[f"{name} on black"] = _hexadecimal(style.color), "#000000"
    return found


def _hexadecimal(colour: Color) -> str:
    return colour.get_truecolor().hex


@pytest.mark.parametrize(("text", "ground"), pairs().values(), ids=list(pairs()))
def test_contrast(text: str, ground: str) -> None:
    assert contrast(rgb(text), rgb(ground)) >= LEAST


@pytest.mark.parametrize(
    "picture", sorted((ROOT / "docs/pictures").glob("*.svg")), ids=lambda p: p.name
)
def test_pictures_have_a_title_and_two_grounds(picture: Path) -> None:
    drawn = picture.read_text(encoding="utf-8")
    assert re.search(r"<title>[^<]{10,}</title>", drawn)
    assert "@media (prefers-color-scheme: dark)" in drawn
