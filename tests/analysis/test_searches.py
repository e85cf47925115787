"""How rules of `jeton check` are registered with the functions that look for their cases."""

from __future__ import annotations

from jeton.analysis import RULES
from jeton.analysis.health.searches import SEARCHES
from jeton.analysis.health.subject import Subject
from kinds import byte_level


def test_each_rule_has_one_search() -> None:
    named = [name for search in SEARCHES for name in search.rules]
    assert sorted(named) == sorted(RULES)


def test_a_search_gives_findings_of_its_own_rules_or_says_why_not() -> None:
    subject = Subject(byte_level())
    for search in SEARCHES:
        why = search.skipped(subject)
        assert why is None or why
        if why is None:
            assert {finding.rule for finding in search.run(subject)} <= search.rules
