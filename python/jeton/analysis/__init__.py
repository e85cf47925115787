"""Judging tokenizers: what is wrong with a vocabulary, how corpora use it, how several compare.

Look here for `check`, `compare`, `evaluate`, `diff` and `sweep`, and for the result of
`Tokenizer.usage`.

Example:
    >>> import jeton
    >>> from jeton import analysis
    >>> tok = jeton.BPETrainer(260, pattern="gpt4").train(["low lower lowest"])
    >>> analysis.check(tok, only=["unreachable-bytes"])
    <Health of 260 tokens: 1 note>
"""

from __future__ import annotations

from jeton.analysis.comparison import Comparison
from jeton.analysis.difference import Difference, OnlyToken, Stretch, diff
from jeton.analysis.evaluating import compare, evaluate
from jeton.analysis.evaluation import Change, Evaluation
from jeton.analysis.health import RULES, Case, Finding, Health, Rule, check
from jeton.analysis.knee import bend
from jeton.analysis.known_measures import MEASURES, Measure
from jeton.analysis.measures import ModelCost, cost_of_model
from jeton.analysis.sweeping import FAMILIES, sweep
from jeton.analysis.swept import Point, SkippedSize, Sweep
from jeton.analysis.tiny_model import TinyModel
from jeton.analysis.values import Curve, Measured, Value
from jeton.corpora.usage import Usage

__all__ = [
    "FAMILIES",
    "MEASURES",
    "RULES",
    "Case",
    "Change",
    "Comparison",
    "Curve",
    "Difference",
    "Evaluation",
    "Finding",
    "Health",
    "Measure",
    "Measured",
    "ModelCost",
    "OnlyToken",
    "Point",
    "Rule",
    "SkippedSize",
    "Stretch",
    "Sweep",
    "TinyModel",
    "Usage",
    "Value",
    "bend",
    "check",
    "compare",
    "cost_of_model",
    "diff",
    "evaluate",
    "sweep",
]
