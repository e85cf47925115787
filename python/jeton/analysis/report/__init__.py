"""Reports: a comparison as one page to read, mail and print.

Look here for `page`, which `Comparison.html` and `jeton report` return, and for `write_pictures`,
which writes the pictures as files. `svg_charts.py` draws; `samples.py` splits the lines that are
shown side by side.
"""

from __future__ import annotations

from jeton.analysis.report.page import page
from jeton.analysis.report.page_pictures import write_pictures

__all__ = ["page", "write_pictures"]
