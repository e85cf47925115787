"""How rules of `jeton check` are registered with the functions that look for their cases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jeton.analysis import RULES
from jeton.analysis.health import rules
from jeton.analysis.health.findings import Finding
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import SEARCHES, looks_for
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


def test_a_function_is_registered_with_its_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = list(SEARCHES)
    monkeypatch.setattr("jeton.analysis.health.searches.SEARCHES", searches)
    monkeypatch.setattr("jeton.analysis.health.searches.register", lambda added: None)
    text = """
    planted (note): only here
    It is there to be found.
    Remedy: Nothing.
    Details: Of a test.
    """

    @looks_for(rule(text), unless=lambda subject: "not now")
    def search(subject: Subject) -> Iterator[Finding]:
        yield from ()

    assert len(searches) == len(SEARCHES) + 1
    assert searches[-1].run is search and searches[-1].rules == {"planted"}
    assert searches[-1].skipped(Subject(byte_level())) == "not now"
    assert "planted" not in rules.RULES
