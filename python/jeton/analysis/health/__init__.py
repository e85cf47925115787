"""The health of a tokenizer: what `jeton check` finds, one subject a file.

`checking.py` runs the rules of `rules.py` and gives the `Health` of `findings.py`. `subject.py` is
what all of them share; `attack.py` looks for a text that gives a token, `unreachable_proofs.py`
proves that none does, and `unreachable_findings.py` says so.
"""

from __future__ import annotations

from jeton.analysis.health.checking import check
from jeton.analysis.health.findings import Case, Finding, Health
from jeton.analysis.health.rules import RULES, SEVERITIES, Rule, Severity

__all__ = ["RULES", "SEVERITIES", "Case", "Finding", "Health", "Rule", "Severity", "check"]
