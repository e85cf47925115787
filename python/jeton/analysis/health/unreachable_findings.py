"""Tokens that encoding never gives, or not for the text that they decode to: what is said of each.

Look here for the words of the findings. `unreachable_proofs.py` has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from jeton.analysis.health.attack import continued
from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.subject import Subject
from jeton.analysis.health.unreachable_proofs import Unreached
from jeton.display.human_readable import counted

__all__ = ["unreachable", "unstable"]

_TOLD: Final = {
    "unreachable-bytes": "bytes that no text has",
    "unreachable-added": "hidden by added tokens",
    "unreachable-normalizer": "always rewritten by the normalizer",
    "unreachable-cut": "always cut by the pre-tokenizer",
    "unreachable-merge": "not made by merging",
    "unreachable-score": "their parts always score more",
    "unreachable-match": "in no word that the model takes",
    "unreached": "not given by any text that was tried",
    "spare-byte": "bytes whose character is a token",
    "unused-piece": "unused, by the model file",
}


def unreachable(subject: Subject, found: list[Unreached]) -> Iterator[Finding]:
    """Tokens that no text gives, by the reason."""
    tried = [(it, it.tried) for it in found if it.tried is not None]
    rows = subject.encode([text for _, text in tried])
    gave = {it.id: tuple(rows[at]) for at, (it, _) in enumerate(tried)}
    for rule, told in _TOLD.items():
        cases = [
            Case(
                it.id,
                subject.tokens[it.id],
                told=it.why if it.is_proved else _observed(it),
                tried=it.tried,
                gave=gave.get(it.id),
                evidence="proved" if it.is_proved else "observed",
            )
            for it in found
            if it.rule == rule
        ]
        if cases:
            number = counted(len(cases), "token")
            yield Finding(rule, f"{number}: {told}", tuple(cases))


def _observed(it: Unreached) -> str:
    tried = f"{counted(it.texts, 'text was', 'texts were')} tried"
    return f"{tried}; {it.why}" if it.why else tried


def unstable(subject: Subject, found: list[Unreached]) -> Iterator[Finding]:
    """Tokens that some text gives, but not the text that they decode to."""
    nothing = {it.id for it in found}
    rows, ids = subject.alone_again, subject.ordinary
    cases = []
    for at in np.flatnonzero(~rows.only(ids)).tolist():
        id = int(ids[at])
        if id in nothing or subject.texts[id] is None:
            continue
        text = subject.alone[at]
        told = "" if continued(subject, id) is None else "continues a word"
        token, gave = subject.tokens[id], tuple(rows[at])
        cases.append(Case(id, token, "", told, text, gave, "observed"))
    if cases:
        yield Finding(
            "other-alone",
            counted(len(cases), "token decodes", "tokens decode")
            + " to a text that encodes otherwise",
            tuple(cases),
        )
