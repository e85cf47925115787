"""What a rule of `jeton check` is, and all rules by name.

Look here for the form in which a rule is written. `docs/check.md` is written from the rules.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import check_text, checked_iterable
from jeton.errors import ArgumentError

Severity: TypeAlias = Literal["error", "warning", "note"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""The severities, the highest first."""


@dataclass(frozen=True)
class Rule:
    """A rule of `jeton check`.

    Attributes:
        name: Its name, in kebab-case.
        severity: `"error"`: text is lost or ids are wrong. `"warning"`: part of the vocabulary is
            wasted, or a trap for users. `"note"`: worth knowing, often intended.
        title: The fault, in a few words.
        why: Why it matters.
        remedy: What to do about it.
        details: What is looked at, and where the line is drawn.
    """

    name: str
    severity: Severity
    title: str
    why: str
    remedy: str
    details: str


def rule(text: str) -> Rule:
    """The rule that a text describes, in a form that reads well beside the code.

    >>> rule("id-gap (note): ids without a token\\nWhy it matters.\\nRemedy: Close them.").remedy
    'Close them.'
    """
    parts = re.fullmatch(
        r"(?P<name>[\w-]+) \((?P<severity>\w+)\): (?P<title>[^\n]+)\n(?P<why>.+?)"
        r"\nRemedy: (?P<remedy>.+?)(\nDetails: (?P<details>.+))?",
        inspect.cleandoc(text),
        re.DOTALL,
    )
    assert parts is not None, text
    fields = {name: " ".join((part or "").split()) for name, part in parts.groupdict().items()}
    return Rule(**fields)  # type: ignore[arg-type]  # a test checks the severities


_RULES: Final[dict[str, Rule]] = {}
RULES: Final = MappingProxyType(_RULES)
"""All rules by name, the most severe first, then in the order of their names."""


def register(rules: Iterable[Rule]) -> None:
    """Adds rules to `RULES`."""
    every = [*_RULES.values(), *rules]
    every.sort(key=lambda rule: (SEVERITIES.index(rule.severity), rule.name))
    _RULES.clear()
    _RULES.update((rule.name, rule) for rule in every)


def chosen_rules(only: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
    """The rules to check.

    Args:
        only: The rules; if empty, all.
        ignore: Rules to leave out.
    """
    names = _names("only", only) or set(RULES)
    return frozenset(names - _names("ignore", ignore))


def _names(argument: str, names: Iterable[str]) -> set[str]:
    names = checked_iterable(argument, names, "an iterable of names of rules")
    return {check_rule(name, argument) for name in names}


def check_rule(name: object, argument: str) -> str:
    """`name`, if it is the name of a rule."""
    rule = check_text(f"a name of {argument}", name)
    if rule not in RULES:
        close = _core.did_you_mean(rule, list(RULES))
        hint = f"did you mean {close!r}? " if close else ""
        rules = ", ".join(RULES)
        raise ArgumentError(f"{argument}: there is no rule {rule!r:.60} ({hint}Rules: {rules})")
    return rule
