"""A comparison as a page: one self-contained file, which works offline and can be mailed.

Look here for the parts of the page. `svg_charts.py` draws the pictures as SVG, `report.css` has the
style, `jeton.display.palette` the colours, `report.js` sorts and filters. The page loads nothing.
Its policy allows only this script and style, by their hashes: a text that looks like a script could
not run even if it were not escaped.
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
from jeton.analysis.report.parts import ReportedEvaluations, swatch
from jeton.analysis.report.samples import SampleLine, side_by_side
from jeton.analysis.report.svg_charts import COLOURS
from jeton.analysis.report.tables import glance, premiums, values
from jeton.display import palette
from jeton.display.human_readable import counted
from jeton.display.notebooks import escaped

if TYPE_CHECKING:
    from jeton.analysis.swept import Sweep

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
        evaluations: The evaluation of each tokenizer, by its name.
        title: The title.
        samples: Lines to show as each tokenizer splits them.
        sweep: A sweep of sizes to draw too.
    """
    report = ReportedEvaluations(evaluations)
    style = "\n" + palette.css("body") + _file("report.css")
    script = "\n" + _file("report.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [
        ("summary", "At a glance", glance(report)),
        ("corpora", "Compression by corpus", bar_panels(report, "bytes_per_token", report.corpora)),
        ("languages", "Cost by language", bar_panels(report, "tokens_per_line", report.languages)),
        ("premiums", "Premiums of languages", premiums(report)),
        ("curves", "Sizes, lengths, frequencies", curves(report)),
        ("sweep", "A ladder of sizes", ladder(sweep)),
        ("lines", "Lines side by side", side_by_side(report, samples)),
        ("all", "All values", values(report)),
    ]
    parts = [part for part in parts if part[2]]
    return _PAGE.format(
        policy=policy,
        title=escaped(title),
        style=style,
        script=script,
        about=_about(report),
        parts="".join(f'<a href="#{id}">{escape(name)}</a>' for id, name, _ in parts),
        main=_legend(report)
        + "\n".join(
            f'<section id="{id}" aria-labelledby="of-{id}"><h2 id="of-{id}">{escape(name)}</h2>'
            f"\n{body}</section>"
            for id, name, body in parts
        ),
        footer=_footer(report),
    )


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _about(report: ReportedEvaluations) -> str:
    summary = counted(len(report.all), "tokenizer")
    corpora = [escaped(name) for name in report.corpora if name != "all"]
    if corpora:
        summary += f" on {', '.join(corpora)}"
    if report.languages:
        summary += f"; parallel text in {', '.join(map(escaped, report.languages))}"
    version = report.all[0].version if report.all else __version__
    return f"{summary}. Measured by jeton {escaped(version)}."


def _legend(report: ReportedEvaluations) -> str:
    buttons = "".join(
        f'<li><button type="button" data-series="{place % COLOURS}" aria-pressed="true">'
        f"{swatch(place)}{escaped(name)}</button></li>"
        for place, name in enumerate(report.names)
    )
    return f'<ul class="legend" aria-label="Tokenizers to show in pictures">{buttons}</ul>\n'


def _footer(report: ReportedEvaluations) -> str:
    digests = "; ".join(
        f"{escaped(name)} {escaped(one.tokenizer[:12])}"
        for name, one in zip(report.names, report.all, strict=True)
    )
    texts = dict(pair for one in report.all for pair in one.digests.items())
    of_texts = "; ".join(f"{escaped(name)} {escaped(it[:12])}" for name, it in texts.items())
    return f"SHA-256 of tokenizers: {digests}. Of texts: {of_texts or 'none'}."
