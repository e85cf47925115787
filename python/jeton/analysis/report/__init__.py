"""Reports: a comparison as one page to look at, to mail and to print.

Look here for `page`, which `Comparison.html` and `jeton report` give, and for `write_pictures`, the
same as files. `svg_charts.py` draws for the page and `matplotlib_pictures.py` for files;
`samples.py` cuts the lines that are shown side by side.
"""

from __future__ import annotations

from jeton.analysis.report.matplotlib_pictures import write_pictures
from jeton.analysis.report.page import page
from jeton.analysis.report.samples import SampleLine, sample_lines

__all__ = ["SampleLine", "page", "sample_lines", "write_pictures"]
