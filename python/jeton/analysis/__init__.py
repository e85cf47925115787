"""Judging tokenizers: what is wrong with a vocabulary, and how a corpus uses it.

Look here for `check`, `diff` and `sweep`, and for what `Tokenizer.usage` gives.

Example:
    >>> import jeton
    >>> from jeton import analysis
    >>> tok = jeton.BPETrainer(260, pattern="gpt4").train(["low lower lowest"])
    >>> analysis.check(tok, only=["unreachable-bytes"])
    <Health of 260 tokens: 1 note>
"""

from __future__ import annotations

from jeton.analysis.bends import bend
from jeton.analysis.difference import Difference, OnlyToken, Stretch, diff
from jeton.analysis.health import RULES, Case, Finding, Health, Rule, check
from jeton.analysis.sweeping import FAMILIES, Point, Sweep, sweep
from jeton.analysis.usage import Usage

__all__ = [
    "FAMILIES",
    "RULES",
    "Case",
    "Difference",
    "Finding",
    "Health",
    "OnlyToken",
    "Point",
    "Rule",
    "Stretch",
    "Sweep",
    "Usage",
    "bend",
    "check",
    "diff",
    "sweep",
]
