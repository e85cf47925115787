"""The algorithms, step by step: training and encoding, as data and on a screen.

Look here for what `jeton learn` shows. Data flows one way: an algorithm gives its steps, steps
become frames, and `jeton.display.views` shows frames on a terminal or as a page. `exercises.py`
asks questions about them. `reference` has each algorithm on one page of plain Python, `textbook`
the worked examples of the textbooks.

- `watch_bpe`, `watch_wordpiece`: the merges, with all pairs and why one wins.
- `watch_unigram`: expectation, maximization and pruning.
- `Tokenizer.explain`: the stages of encoding.
"""

from __future__ import annotations

from jeton.learn.merging import MergeStep, watch_bpe, watch_wordpiece
from jeton.learn.unigram import UnigramStep, watch_unigram

__all__ = ["MergeStep", "UnigramStep", "watch_bpe", "watch_unigram", "watch_wordpiece"]
