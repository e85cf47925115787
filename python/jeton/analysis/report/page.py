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
from jeton.analysis.evaluation import Evaluations, names_of_corpora, names_of_languages
from jeton.analysis.report.ladder import ladder
from jeton.analysis.report.page_pictures import bar_panels, curves
from jeton.analysis.report.parts import swatch
from jeton.analysis.report.samples import side_by_side
from jeton.analysis.report.svg_charts import COLOURS
from jeton.analysis.report.tables import glance, premiums, values
from jeton.display import palette
from jeton.display.human_readable import counted
from jeton.display.notebooks import escaped

if TYPE_CHECKING:
    from jeton.analysis.swept import Sweep
    from jeton.tokenizer import Tokenizer

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
    evaluations: Evaluations,
    title: str,
    tokenizers: Mapping[str, Tokenizer],
    texts: Mapping[str, Sequence[str]],
    sweep: Sweep | None,
) -> str:
    """The whole page.

    Args:
        title: The title.
        tokenizers: The tokenizers that split lines, by their names.
        texts: Lines by the name of the corpus or language; one of each is shown.
        sweep: A sweep of sizes to draw too.
    """
    style = "\n" + palette.css("body") + _file("report.css")
    script = "\n" + _file("report.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [
        ("summary", "At a glance", glance(evaluations)),
        (
            "corpora",
            "Compression by corpus",
            bar_panels(evaluations, "bytes_per_token", names_of_corpora(evaluations)),
        ),
        (
            "languages",
            "Cost by language",
            bar_panels(evaluations, "tokens_per_line", names_of_languages(evaluations)),
        ),
        ("premiums", "Premiums of languages", premiums(evaluations)),
        ("curves", "Sizes, lengths, frequencies", curves(evaluations)),
        ("sweep", "A ladder of sizes", ladder(sweep)),
        ("lines", "Lines side by side", side_by_side(evaluations, tokenizers, texts)),
        ("all", "All values", values(evaluations)),
    ]
    parts = [part for part in parts if part[2]]
    return _PAGE.format(
        policy=policy,
        title=escaped(title),
        style=style,
        script=script,
        about=_about(evaluations),
        parts="".join(f'<a href="#{id}">{escape(name)}</a>' for id, name, _ in parts),
        main=_legend(evaluations)
        + "\n".join(
            f'<section id="{id}" aria-labelledby="of-{id}"><h2 id="of-{id}">{escape(name)}</h2>'
            f"\n{body}</section>"
            for id, name, body in parts
        ),
        footer=_footer(evaluations),
    )


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _about(evaluations: Evaluations) -> str:
    summary = counted(len(evaluations), "tokenizer")
    corpora = [escaped(name) for name in names_of_corpora(evaluations) if name != "all"]
    languages = [escaped(name) for name in names_of_languages(evaluations)]
    if corpora:
        summary += f" on {', '.join(corpora)}"
    if languages:
        summary += f"; parallel text in {', '.join(languages)}"
    version = next((it.version for it in evaluations.values()), __version__)
    return f"{summary}. Measured by jeton {escaped(version)}."


def _legend(evaluations: Evaluations) -> str:
    buttons = "".join(
        f'<li><button type="button" data-series="{place % COLOURS}" aria-pressed="true">'
        f"{swatch(place)}{escaped(name)}</button></li>"
        for place, name in enumerate(evaluations)
    )
    return f'<ul class="legend" aria-label="Tokenizers to show in pictures">{buttons}</ul>\n'


def _footer(evaluations: Evaluations) -> str:
    digests = "; ".join(
        f"{escaped(name)} {escaped(one.tokenizer[:12])}" for name, one in evaluations.items()
    )
    texts = dict(pair for one in evaluations.values() for pair in one.digests.items())
    of_texts = "; ".join(f"{escaped(name)} {escaped(it[:12])}" for name, it in texts.items())
    return f"SHA-256 of tokenizers: {digests}. Of texts: {of_texts or 'none'}."
