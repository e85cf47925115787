"""Findings as SARIF 2.1.0, the format in which code hosts show the results of checks.

Source: Static Analysis Results Interchange Format (SARIF) Version 2.1.0, OASIS Standard, 2020.
A token has no line in a file: it is a logical location, and the file is that of the tokenizer.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jeton.analysis.health.findings import Case, Finding, Health
from jeton.analysis.health.rules import RULES
from jeton.arguments import check_kind, check_text

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST: Final = 100
"""Maximum number of tokens that a result names; hosts refuse files with many thousands."""


def to_sarif(health: Health, source: str) -> dict[str, Any]:
    """A SARIF log with a result for each finding. `source`: the file of the tokenizer, or its name.

    Example:
        >>> from jeton import analysis
        >>> from jeton.learn import textbook
        >>> from jeton.analysis.health.sarif import to_sarif
        >>> log = to_sarif(analysis.check(textbook.low_lower_newest_widest()), "tokenizer.json")
        >>> log["runs"][0]["results"][0]["ruleId"]
        'dropped-text'
    """
    check_kind("health", health, Health, "a Health")
    check_text("source", source)
    rules = list(RULES.values())
    places = {rule.name: place for place, rule in enumerate(rules)}
    parts = health.version.split(".")
    release, rest = ".".join(parts[:3]), ".".join(parts[3:])
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "jeton check",
                        # As semantic versioning writes it: 0.1.0-dev0 for Python's 0.1.0.dev0.
                        "semanticVersion": "-".join(filter(None, (release, rest))),
                        "rules": [
                            {
                                "id": rule.name,
                                "name": rule.name.title().replace("-", ""),
                                "shortDescription": {"text": rule.title},
                                "fullDescription": {"text": rule.why},
                                "help": {"text": rule.remedy},
                                "defaultConfiguration": {"level": rule.severity},
                            }
                            for rule in rules
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, source, places) for finding in health],
                "properties": {
                    "tokenizer": health.tokenizer,
                    "vocabSize": health.vocab_size,
                    "corpus": health.corpus,
                    "skipped": dict(health.skipped),
                },
            }
        ],
    }


def _result(finding: Finding, source: str, places: dict[str, int]) -> dict[str, Any]:
    examples = [_case_text(case) for case in finding.cases[:3]]
    more = len(finding.cases) - len(examples)
    rest = f"; {more:,} more" if more else ""
    places_of = {(case.id, case.key): _place(case) for case in finding.cases[:_MOST]}
    keys = "\n".join(sorted(case.key for case in finding.cases))
    return {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": finding.severity,
        "message": {"text": f"{finding.message}: {'; '.join(examples)}{rest}."},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": quote(Path(source).as_posix())}},
                "logicalLocations": list(places_of.values()),
            }
        ],
        "occurrenceCount": len(finding.cases),
        "partialFingerprints": {
            "cases/v1": hashlib.sha256(f"{finding.rule}\n{keys}".encode()).hexdigest()
        },
        "properties": {"evidence": finding.evidence, "ids": finding.ids[:_MOST]},
    }


def _case_text(case: Case) -> str:
    id = "" if case.id is None else f" (id {case.id})"
    return f"{case}{id}" + (f", {case.told}" if case.told else "")


def _place(case: Case) -> dict[str, str]:
    qualified = case.key if case.id is None else f"{case.id}/{case.key}"
    kind = "part" if case.id is None else "token"
    return {"name": str(case) or "an empty token", "fullyQualifiedName": qualified, "kind": kind}
