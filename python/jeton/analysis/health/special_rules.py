"""Special and added tokens: which text can spell, and what becomes of that, here and elsewhere.

Look here for what `special=` does with each, and for what the library of a format does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.subject import Subject
from jeton.components import AddedToken, models
from jeton.display.human_readable import counted
from jeton.errors import EncodeError, SpecialTokenError

__all__ = ["controls_in_text", "frame", "specials"]

_CONTROL: Final = re.compile(
    r"<\|.+\|>|<｜.+｜>|</?[A-Za-z][\w-]*>|\[/?[A-Z][A-Z_0-9]*\]|<<.+>>|\{\{.+\}\}|<unused\d+>"
)
"""What control tokens are spelled like."""


def frame(subject: Subject) -> Iterator[Finding]:
    """Tokens around a text whose ids are those of others."""
    cases = [Case(id, subject.tokens[id], told=told) for id, told in subject.tok._core.misnamed()]
    if cases:
        number = counted(len(cases), "id")
        yield Finding("frame-ids", f"{number} of the frame not of the token named", tuple(cases))


def specials(subject: Subject) -> Iterator[Finding]:
    """What the spelling of each special token becomes under each setting."""
    leaks, lost, spelled = [], [], []
    elsewhere = _elsewhere(subject)
    of_text = {subject.unknown, *subject.byte_tokens.values()}  # given by what they do not spell
    for content, id in subject.tok.special_tokens.items():
        text = f"a {content} b" if _is_alone(subject, content) else content
        ignored = _ids(subject, text, "ignore")
        allowed = _ids(subject, text, "allow")
        token = subject.tokens[id]
        if ignored is not None and id in ignored and id not in of_text:
            leaks.append(_tried(id, token, text, ignored))
        if allowed is None or id not in allowed:
            lost.append(_tried(id, token, text, allowed))
            continue
        shown = "an error" if ignored is None else f"{len(ignored)} tokens of text"
        refused = "refused" if _is_refused(subject, text) else "not refused"
        told = f"ignore: {shown}; allow: id {id}; raise: {refused}; {elsewhere}"
        spelled.append(_tried(id, token, text, allowed, told))
    if leaks:
        message = f"{counted(len(leaks), 'control token comes', 'control tokens come')} from text"
        yield Finding("special-leaks", message, tuple(leaks))
    if lost:
        number = counted(len(lost), "special token")
        message = f"{number} not given by {'its' if len(lost) == 1 else 'their'} own spelling"
        yield Finding("special-not-found", message, tuple(lost))
    if spelled:
        number = counted(len(spelled), "special token")
        message = f"{number} that text can spell"
        yield Finding("special-in-text", message, tuple(spelled))


def controls_in_text(subject: Subject) -> Iterator[Finding]:
    """Added tokens that look like control tokens and are found in any text."""
    cases = []
    for id, token in subject.added.items():
        if token.special or not _CONTROL.fullmatch(token.content):
            continue
        text = f"a {token.content} b"
        ids = _ids(subject, text, "ignore")
        if ids is not None and id in ids:
            cases.append(_tried(id, subject.tokens[id], text, ids))
    if cases:
        one = "added token looks like a control token"
        many = "added tokens look like control tokens"
        message = counted(len(cases), one, many)
        yield Finding("control-in-text", message, tuple(cases))


def _tried(id: int, token: bytes, text: str, ids: list[int] | None, told: str = "") -> Case:
    gave = None if ids is None else tuple(ids)
    return Case(id, token, "", told, text, gave, "observed")


def _is_alone(subject: Subject, content: str) -> bool:
    token: AddedToken | None = next(
        (token for token in subject.added.values() if token.content == content), None
    )
    return token is not None and token.single_word


def _ids(subject: Subject, text: str, special: Literal["ignore", "allow"]) -> list[int] | None:
    try:
        return subject.tok.encode(text, special=special)
    except EncodeError:
        return None


def _is_refused(subject: Subject, text: str) -> bool:
    try:
        subject.tok.encode(text, special="raise")
    except SpecialTokenError:
        return True
    except EncodeError:
        return False
    return False


def _elsewhere(subject: Subject) -> str:
    """What the library of the format does with the spelling, unless told otherwise."""
    model = subject.model
    if isinstance(model, models.SentencePiece):
        return "sentencepiece: text"
    if isinstance(model, models.BPE) and model.merges is None:
        return "tiktoken: refused"
    return "tokenizers: the id"
