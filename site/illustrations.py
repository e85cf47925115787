"""Draws the figures of the documents with jeton's own steps: `python site/illustrations.py`.

Look here for what a figure in docs/pictures shows. Those below a console block of a page are
drawn by `tests/support/guide.py`. A test holds each file equal to what this draws.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jeton
import speed
from jeton.human_readable import visible
from pictures import of_tokens

FOLDER = Path(__file__).parent.parent / "docs/pictures"


def tokens() -> str:
    """The sentence at the top of the README and of the site."""
    tok = jeton.load("jeton-4k", offline=True)
    text = "Tokenizers turn text into numbers: every word, un café, 1,204 dots."
    ids = tok.encode(text)
    return of_tokens(
        [(visible(tok.id_to_bytes(id)), id) for id in ids],
        f"The tokens of a sentence with their ids: {text}",
    )


FIGURES: dict[str, Callable[[], str]] = {
    "tokens": tokens,
    "speed": speed.picture,
}
"""What draws a picture, by the name of its file."""


def write() -> None:
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    write()
