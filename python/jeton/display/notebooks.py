"""What notebooks show: tables, tokens in colour and findings, as HTML without scripts, all escaped.

Look here for the parts of a `_repr_html_`. Tokens have a light background and dark letters of
their own, so that they can be read on a light and on a dark page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from jeton.display.human_readable import visible, without_controls
from jeton.display.palette import LIGHT, hues

MAX_ROWS: Final = 20
"""How many rows of a table, or tokens of a list, are shown."""

MAX_TOKENS: Final = 400
"""How many tokens of a text are shown in colour."""

_MAX_CASES: Final = 3
_COLOURS: Final = {"error": "#d0433a", "warning": "#c98a1b", "note": "#4a90b9"}
_CHIP: Final = (
    "display:inline-block;margin:1px;padding:0 3px;border-radius:3px;white-space:pre;"
    f"font-family:monospace;text-align:center;line-height:1.25;color:{LIGHT['on']};background:"
)


def boxed(title: str, inner: str) -> str:
    """HTML under a title."""
    return f"<div><div><b>{escaped(shortened(title))}</b></div>{inner}</div>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, numbers to the right; without heads, everything to the left."""

    def is_number(text: str) -> bool:
        return text.replace(",", "").replace(".", "", 1).isdigit()

    rows = list(rows)
    # A whole column of numbers is aligned to the right; names of rows are not.
    sides = [
        "right" if heads and at and all(map(is_number, column)) else "left"
        for at, column in enumerate(zip(*rows, strict=True))
    ] or ["left"] * len(heads)

    def cells(row: Sequence[str], tag: str) -> Iterator[str]:
        for text, side in zip(row, sides, strict=True):
            yield f'<{tag} style="text-align:{side};padding:1px 8px">{escaped(text)}</{tag}>'

    head = f"<thead><tr>{''.join(cells(heads, 'th'))}</tr></thead>" if heads else ""
    body = "".join(f"<tr>{''.join(cells(row, 'td'))}</tr>" for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def chips(
    total: int, ids: Sequence[int], tokens: Sequence[bytes], spans: Sequence[tuple[int, int]]
) -> str:
    """Tokens in colour, with the ids below; pointing at one shows its span and bytes.

    The columns have the first of `total` tokens, `MAX_TOKENS` of them or all.
    """
    markup = "".join(
        f'<span style="{_CHIP}{LIGHT[f"h{hue}"]}" title="span {start} to {end}, bytes '
        f'{token.hex(" ") or "none"}">{escaped(visible(token)) or "∅"}<br><small>{int(id)}</small>'
        "</span>"
        for id, token, (start, end), hue in zip(ids, tokens, spans, hues(ids), strict=False)
    )
    hidden = total - MAX_TOKENS
    return markup + (f"<div>… {hidden:,} more</div>" if hidden > 0 else "")


def detail(
    severity: str,
    name: str,
    text: str,
    evidence: str,
    cases: Sequence[tuple[str, int | None, str]],
    *,
    why: str,
    remedy: str,
) -> str:
    """A finding that opens.

    Args:
        severity: `"error"`, `"warning"` or `"note"`.
        name: The name of its rule.
        evidence: How it was found.
        cases: The tokens of the finding: each with its id, if it has one, and its own note.
        why: Why it matters.
        remedy: What to do.
    """
    markup = "".join(
        f"<li><code>{escaped(case)}</code>{'' if id is None else f' id {id}'} {escaped(note)}</li>"
        for case, id, note in cases[:_MAX_CASES]
    )
    hidden = len(cases) - _MAX_CASES
    more = f"<li>… {hidden:,} more</li>" if hidden > 0 else ""
    return (
        f'<details><summary><b style="color:{_COLOURS[severity]}">{severity}'
        f"</b> <code>{escaped(name)}</code> {escaped(text)} "
        f"<small>({evidence})</small></summary><ul>{markup}{more}</ul>"
        f"<p>{escaped(why)}<br>→ {escaped(remedy)}</p></details>"
    )


def shortened(text: str) -> str:
    """The text, or its beginning if it is long."""
    return text if len(text) <= 300 else f"{text[:299]}…"


def escaped(text: str) -> str:
    """Untrusted text, escaped and without characters that reverse or hide what follows.

    >>> escaped("</b>\\u202e")
    '&lt;/b&gt;‹U+202E›'
    """
    return escape(without_controls(text))
