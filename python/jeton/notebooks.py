"""What a notebook shows of a tokenizer and of what it gives: HTML without scripts, all escaped.

Look here for what `_repr_html_` gives. Colours are see-through, so that they stand on a light and
on a dark page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from jeton.drawing import counted, visible
from jeton.learn.frames import without_controls

if TYPE_CHECKING:
    from jeton.analysis import Comparison, Health
    from jeton.encoding import Encoding, TokenBatch
    from jeton.tokenizer import Tokenizer

__all__ = ["of_batch", "of_comparison", "of_encoding", "of_health", "of_tokenizer"]

_TOKENS: Final = 400
_ROWS: Final = 20
_IDS: Final = 24
_CASES: Final = 3
_BACK: Final = ("#4a90d940", "#e0873c40", "#4caf6640", "#cf5c8f40", "#8a6fd040", "#c7a53040")
_COLOURS: Final = {"error": "#d0433a", "warning": "#c98a1b", "note": "#4a90b9"}
_CHIP: Final = (
    "display:inline-block;margin:1px;padding:0 3px;border-radius:3px;white-space:pre;"
    "font-family:monospace;text-align:center;line-height:1.25;background:"
)


def of_tokenizer(tok: Tokenizer) -> str:
    """A table: its size, its stages, its special tokens."""
    special = list(tok.special_tokens)
    shown = ", ".join(special[:_ROWS]) + (f" … {len(special):,} in all" * (len(special) > _ROWS))
    stages = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
    rows = [
        ("vocabulary", f"{tok.vocab_size:,} tokens"),
        *((name.replace("_", "-"), _short(repr(getattr(tok, name)))) for name in stages),
        ("special tokens", shown or "none"),
        ("digest", tok.digest[:16]),
    ]
    return _box("Tokenizer", _table([], rows))


def of_encoding(encoding: Encoding) -> str:
    """The tokens in colour, the ids below; pointing at one tells its span and bytes."""
    chips = "".join(
        f'<span style="{_CHIP}{_BACK[at % len(_BACK)]}" title="span {start} to {end}, bytes '
        f'{token.hex(" ") or "none"}">{_text(visible(token)) or "∅"}<br><small>{int(id)}</small>'
        "</span>"
        for at, (id, token, (start, end)) in enumerate(
            zip(encoding.ids, encoding.tokens, encoding.spans, strict=False)
        )
        if at < _TOKENS
    )
    return _box(f"Encoding of {counted(len(encoding), 'token')}", chips + _more(len(encoding)))


def of_batch(batch: TokenBatch) -> str:
    """A row a text: how many tokens, and the first ids."""
    rows = [
        (
            str(at),
            f"{len(row):,}",
            " ".join(map(str, row[:_IDS].tolist())) + " …" * (len(row) > _IDS),
        )
        for at, row in zip(range(_ROWS), batch, strict=False)
    ]
    more = f"<div>… {len(batch) - _ROWS:,} more</div>" if len(batch) > _ROWS else ""
    title = f"{counted(len(batch), 'text')}, {counted(len(batch.ids), 'token')}"
    return _box(title, _table(["text", "tokens", "ids"], rows) + more)


def of_health(health: Health) -> str:
    """A row a finding; opened, its tokens, why it matters and what to do."""
    from jeton.analysis import RULES

    rows = []
    for finding in health:
        rule = RULES[finding.rule]
        cases = "".join(
            f"<li><code>{_text(str(case))}</code>{'' if case.id is None else f' id {case.id}'} "
            f"{_text(case.told)}</li>"
            for case in finding.cases[:_CASES]
        )
        left = len(finding.cases) - _CASES
        more = f"<li>… {left:,} more</li>" if left > 0 else ""
        rows.append(
            f'<details><summary><b style="color:{_COLOURS[finding.severity]}">{finding.severity}'
            f"</b> <code>{_text(finding.rule)}</code> {_text(finding.message)} "
            f"<small>({finding.evidence})</small></summary><ul>{cases}{more}</ul>"
            f"<p>{_text(rule.why)}<br>→ {_text(rule.remedy)}</p></details>"
        )
    return _box(repr(health).strip("<>"), "".join(rows) or "Nothing was found.")


def of_comparison(comparison: Comparison) -> str:
    """A row a tokenizer with what matters most; all of it is in `Comparison.html`."""
    from jeton.analysis import MEASURES
    from jeton.analysis.report.charts import number
    from jeton.analysis.report.parts import Shown, value_of
    from jeton.analysis.report.tables import SUMMARY

    shown = Shown(comparison)
    columns = [it for it in SUMMARY if any(value_of(one, it) is not None for one in shown.all)]
    rows = [
        (
            f"{name} ⚠" if one.lossy else name,
            f"{one.vocab_size:,}",
            *(number(value_of(one, it)) for it in columns),
        )
        for name, one in zip(shown.names, shown.all, strict=True)
    ]
    lossy = [
        f"<div>⚠ {_text(name)} loses text: {_text('; '.join(one.lossy))}</div>"
        for name, one in zip(shown.names, shown.all, strict=True)
        if one.lossy
    ]
    heads = ["tokenizer", "vocabulary", *(MEASURES[name].title for _, name in columns)]
    return _box(repr(comparison).strip("<>"), _table(heads, rows) + "".join(lossy))


def _box(title: str, inner: str) -> str:
    return f"<div><div><b>{_text(_short(title))}</b></div>{inner}</div>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def cells(row: Sequence[str], tag: str) -> Iterator[str]:
        for at, text in enumerate(row):
            is_number = text.replace(",", "").replace(".", "", 1).isdigit()
            side = "right" if heads and at and is_number else "left"
            yield f'<{tag} style="text-align:{side};padding:1px 8px">{_text(text)}</{tag}>'

    head = f"<thead><tr>{''.join(cells(heads, 'th'))}</tr></thead>" if heads else ""
    body = "".join(f"<tr>{''.join(cells(row, 'td'))}</tr>" for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _more(tokens: int) -> str:
    return f"<div>… {tokens - _TOKENS:,} more</div>" if tokens > _TOKENS else ""


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:299]}…"


def _text(text: str) -> str:
    return escape(without_controls(text))
