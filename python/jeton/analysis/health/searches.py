"""The searches for the cases of rules: each is a function below `@looks_for` with its rules.

Look here to see how a rule is registered, and how it says why it cannot be checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from jeton.analysis.health.findings import Finding
from jeton.analysis.health.rules import Rule, register
from jeton.analysis.health.subject import Subject


@dataclass(frozen=True)
class Search:
    """A function that looks for the cases of some rules."""

    rules: frozenset[str]
    run: Callable[[Subject], Iterator[Finding]]
    skipped: Callable[[Subject], str | None]
    """Returns why the rules cannot be checked; `None` if they can."""


SEARCHES: Final[list[Search]] = []
"""All searches, in the order of their modules."""


def looks_for(
    *rules: Rule, unless: Callable[[Subject], str | None] = lambda _: None
) -> Callable[[Callable[[Subject], Iterator[Finding]]], Callable[[Subject], Iterator[Finding]]]:
    """Registers rules with the function that looks for their cases. `unless`: returns why they
    cannot be checked for a tokenizer; `None` if they can."""

    def add(
        run: Callable[[Subject], Iterator[Finding]],
    ) -> Callable[[Subject], Iterator[Finding]]:
        SEARCHES.append(Search(frozenset(rule.name for rule in rules), run, unless))
        register(rules)
        return run

    return add
