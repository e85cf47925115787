"""The health of a tokenizer: what `jeton check` finds, one file per subject.

`checking.py` runs the rules of `rules.py` and returns the `Health` of `findings.py`. All rules
share `subject.py`. `attack.py` looks for a text that gives a token, `unreachable_tokens.py` proves
that no text does, and `unreachable_wording.py` reports it.
"""

from __future__ import annotations

from jeton.analysis.health.checking import check
from jeton.analysis.health.findings import Case, Finding, Health
from jeton.analysis.health.rules import RULES, SEVERITIES, Rule, Severity

__all__ = ["RULES", "SEVERITIES", "Case", "Finding", "Health", "Rule", "Severity", "check"]
