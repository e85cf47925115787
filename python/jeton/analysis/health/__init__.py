"""The health of a tokenizer: what `jeton check` finds, one file per subject.

Each rule is in one file, such as `vocabulary_rules.py`: its text, and the function that looks for
its cases in `subject.py`. `checking.py` runs them and returns the `Health` of `findings.py`.
`attack.py` looks for a text that gives a token; `unreachable_tokens.py` proves that no text does.
"""

from __future__ import annotations

from jeton.analysis.health.checking import check
from jeton.analysis.health.findings import Case, Finding, Health
from jeton.analysis.health.rules import RULES, SEVERITIES, Rule, Severity

__all__ = ["RULES", "SEVERITIES", "Case", "Finding", "Health", "Rule", "Severity", "check"]
