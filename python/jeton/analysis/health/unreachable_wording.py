"""Findings about tokens that encoding never gives, or not for the text that they decode to.

Look here for the wording of the findings. `unreachable_tokens.py` has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from jeton.analysis.health.attack import continued
from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.subject import Subject
from jeton.analysis.health.unreachable_tokens import Unreached
from jeton.display.human_readable import counted

__all__ = ["unreachable", "unstable"]

_DESCRIPTIONS: Final = {
    "unreachable-bytes": "bytes that no text has",
    "unreachable-added": "hidden by added tokens",
    "unreachable-normalizer": "always rewritten by the normalizer",
    "unreachable-cut": "always split by the pre-tokenizer",
    "unreachable-merge": "not a result of merging",
    "unreachable-score": "their parts always score more",
    "unreachable-match": "in no word that the model takes",
    "unreached": "not given by any text that was tried",
    "spare-byte": "bytes whose character is a token",
    "unused-piece": "unused, as the model file says",
}


def unreachable(subject: Subject, tokens: list[Unreached]) -> Iterator[Finding]:
    """Tokens that no text gives, by the reason."""
    examples = [(it, it.tried) for it in tokens if it.tried is not None]
    rows = subject.encode([text for _, text in examples])
    gave = {it.id: tuple(rows[at]) for at, (it, _) in enumerate(examples)}
    for rule, description in _DESCRIPTIONS.items():
        cases = [
            Case(
                it.id,
                subject.tokens[it.id],
                told=it.why if it.is_proved else _observed(it),
                tried=it.tried,
                gave=gave.get(it.id),
                evidence="proved" if it.is_proved else "observed",
            )
            for it in tokens
            if it.rule == rule
        ]
        if cases:
            number = counted(len(cases), "token")
            yield Finding(rule, f"{number}: {description}", tuple(cases))


def _observed(it: Unreached) -> str:
    attempts = f"{counted(it.texts, 'text was', 'texts were')} tried"
    return f"{attempts}; {it.why}" if it.why else attempts


def unstable(subject: Subject, tokens: list[Unreached]) -> Iterator[Finding]:
    """Tokens that some text gives, but not the text that they decode to."""
    nothing = {it.id for it in tokens}
    rows, ids = subject.alone_again, subject.ordinary
    cases = []
    for at in np.flatnonzero(~rows.only(ids)).tolist():
        id = int(ids[at])
        if id in nothing or subject.texts[id] is None:
            continue
        text = subject.alone[at]
        remark = "" if continued(subject, id) is None else "continues a word"
        token, gave = subject.tokens[id], tuple(rows[at])
        cases.append(Case(id, token, "", remark, text, gave, "observed"))
    if cases:
        yield Finding(
            "other-alone",
            counted(len(cases), "token decodes", "tokens decode")
            + " to a text that encodes differently",
            tuple(cases),
        )
