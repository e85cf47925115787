"""Lines as several tokenizers split them, side by side.

Look here for which lines of a corpus are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jeton.arguments import check_named, check_text, checked_iterable
from jeton.display.human_readable import visible
from jeton.display.palette import hues
from jeton.errors import JetonError
from jeton.tokenizer import Tokenizer

_LONGEST = 400
"""Maximum characters of a line that are shown."""


class ShownToken(NamedTuple):
    """A token of a line."""

    id: int
    hue: int
    text: str
    bytes: str
    """In hexadecimal."""


def typical_lines(
    tokenizers: Mapping[str, Tokenizer], texts: Mapping[str, Sequence[str]]
) -> list[tuple[str, str]]:
    """A line of each corpus or language, with its name."""
    check_named("tokenizers", tokenizers, Tokenizer, "a Tokenizer")
    found = []
    for label, lines in texts.items():
        check_text("each name of lines", label)
        if line := _typical(checked_iterable("each of lines", lines, "a list of texts")):
            found.append((label, line))
    return found


def _typical(lines: Iterable[str]) -> str | None:
    """The first line that is neither very short nor very long; `None` if all are blank."""
    texts = [check_text("each text of lines", line)[:_LONGEST] for line in lines]
    texts = [text for text in texts if text.strip()]
    fitting = [text for text in texts if 40 <= len(text) <= 160]
    return next(iter(fitting or sorted(texts, key=lambda text: abs(len(text) - 100))), None)


def split_line(tok: Tokenizer, line: str) -> tuple[list[ShownToken], bool] | None:
    """The tokens of a line, and whether they decode to it; `None` if it cannot be encoded."""
    try:
        ids = tok.encode(line)
    except JetonError:
        return None
    tokens = [tok.vocab.token_bytes(id) for id in ids]
    shown = [
        ShownToken(id, hue, visible_token(token) or "∅", token.hex(" ") or "none")
        for id, token, hue in zip(ids, tokens, hues(ids), strict=True)
    ]
    return shown, tok.decode(ids) == line


def visible_token(token: bytes) -> str:
    """A token for the page: a plain space stays a space, other white space is made visible.

    >>> visible_token(b" the"), visible_token(b"\\n"), visible_token(b"\\xe2\\x96")
    (' the', '⏎', '‹e2 96›')
    """
    return visible(token).replace("·", " ") if b"\xc2\xb7" not in token else visible(token)
