"""A comparison as a page: one file that holds all it needs, works offline and can be mailed.

Look here for what the page consists of. The pictures are SVG made in `svg_charts.py`, the look is
in `report.css`, the colours in `jeton.display.palette`, sorting and filtering in `report.js`.
Nothing is loaded from anywhere, and the page's policy lets nothing run or style but these, by their
hashes: a text that looks like a script stays a text even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from jeton._core import __version__
from jeton.analysis.evaluation import Evaluation
from jeton.analysis.report.ladder import ladder
from jeton.analysis.report.page_pictures import bar_panels, curves
from jeton.analysis.report.parts import ReportedEvaluations, swatch, told_text
from jeton.analysis.report.samples import SampleLine, side_by_side
from jeton.analysis.report.svg_charts import COLOURS
from jeton.analysis.report.tables import glance, premiums, values
from jeton.display import palette

if TYPE_CHECKING:
    from jeton.analysis.swept import Sweep

__all__ = ["page"]

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#all">To the table of all values</a>
<header>
<div class="top"><h1>{title}</h1><button type="button" id="light">Light or dark</button></div>
<p class="quiet">{about}</p>
<nav aria-label="Parts">{parts}</nav>
</header>
<main>
{main}
</main>
<footer><p>{footer}</p></footer>
<script>{script}</script>
</body>
</html>
"""


def page(
    evaluations: Mapping[str, Evaluation],
    title: str = "Tokenizers compared",
    samples: Sequence[SampleLine] = (),
    sweep: Sweep | None = None,
) -> str:
    """The whole page.

    Args:
        evaluations: What was measured of each tokenizer, by its name.
        title: The title.
        samples: Lines that are shown as each tokenizer cuts them.
        sweep: A ladder of sizes that is drawn, too.
    """
    shown = ReportedEvaluations(evaluations)
    style = "\n" + palette.css("body") + _file("report.css")
    script = "\n" + _file("report.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [
        ("summary", "At a glance", glance(shown)),
        ("corpora", "Compression by corpus", bar_panels(shown, "bytes_per_token", shown.corpora)),
        ("languages", "Cost by language", bar_panels(shown, "tokens_per_line", shown.languages)),
        ("premiums", "Premiums of languages", premiums(shown)),
        ("curves", "Sizes, lengths, frequencies", curves(shown)),
        ("sweep", "A ladder of sizes", ladder(sweep)),
        ("lines", "Lines side by side", side_by_side(shown, samples)),
        ("all", "All values", values(shown)),
    ]
    parts = [part for part in parts if part[2]]
    return _PAGE.format(
        policy=policy,
        title=told_text(title),
        style=style,
        script=script,
        about=_about(shown),
        parts="".join(f'<a href="#{id}">{escape(name)}</a>' for id, name, _ in parts),
        main=_legend(shown)
        + "\n".join(
            f'<section id="{id}" aria-labelledby="of-{id}"><h2 id="of-{id}">{escape(name)}</h2>'
            f"\n{body}</section>"
            for id, name, body in parts
        ),
        footer=_footer(shown),
    )


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _about(shown: ReportedEvaluations) -> str:
    number = len(shown.all)
    told = f"{number} tokenizer{'s' * (number != 1)}"
    corpora = [told_text(name) for name in shown.corpora if name != "all"]
    if corpora:
        told += f" on {', '.join(corpora)}"
    if shown.languages:
        told += f"; parallel text in {', '.join(map(told_text, shown.languages))}"
    version = shown.all[0].version if shown.all else __version__
    return f"{told}. Measured by jeton {told_text(version)}."


def _legend(shown: ReportedEvaluations) -> str:
    buttons = "".join(
        f'<li><button type="button" data-series="{place % COLOURS}" aria-pressed="true">'
        f"{swatch(place)}{told_text(name)}</button></li>"
        for place, name in enumerate(shown.names)
    )
    return f'<ul class="legend" aria-label="Tokenizers to show in pictures">{buttons}</ul>\n'


def _footer(shown: ReportedEvaluations) -> str:
    digests = "; ".join(
        f"{told_text(name)} {told_text(one.tokenizer[:12])}"
        for name, one in zip(shown.names, shown.all, strict=True)
    )
    texts = dict(pair for one in shown.all for pair in one.digests.items())
    of_texts = "; ".join(f"{told_text(name)} {told_text(it[:12])}" for name, it in texts.items())
    return f"SHA-256 of tokenizers: {digests}. Of texts: {of_texts or 'none'}."
