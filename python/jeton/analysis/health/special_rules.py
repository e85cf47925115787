"""Special and added tokens: which of them text can spell, and how jeton and others encode that.

Look here for the effect of `special=` on each, and for what the library of a format does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.subject import Subject
from jeton.components import models
from jeton.display.human_readable import counted
from jeton.errors import EncodeError, SpecialTokenError

__all__ = ["controls_in_text", "frame", "specials"]

_CONTROL: Final = re.compile(
    r"<\|.+\|>|<｜.+｜>|</?[A-Za-z][\w-]*>|\[/?[A-Z][A-Z_0-9]*\]|<<.+>>|\{\{.+\}\}|<unused\d+>"
)
"""The usual spellings of control tokens."""


def frame(subject: Subject) -> Iterator[Finding]:
    """Tokens around a text that have the ids of other tokens."""
    cases = [
        Case(id, subject.tokens[id], told=remark) for id, remark in subject.tok._core.misnamed()
    ]
    if cases:
        number = counted(len(cases), "id")
        yield Finding("frame-ids", f"{number} of the frame not of the token named", tuple(cases))


def specials(subject: Subject) -> Iterator[Finding]:
    """How the spelling of each special token is encoded with each setting of `special=`."""
    leaks, not_found, spellable = [], [], []
    elsewhere = _elsewhere(subject)
    of_text = {subject.unknown, *subject.byte_tokens.values()}  # given by what they do not spell
    for content, id in subject.tok.special_tokens.items():
        needs_spaces = any(
            token.single_word for token in subject.added.values() if token.content == content
        )
        text = f"a {content} b" if needs_spaces else content
        ignored = _ids(subject, text, "ignore")
        allowed = _ids(subject, text, "allow")
        token = subject.tokens[id]
        if ignored is not None and id in ignored and id not in of_text:
            leaks.append(_observation(id, token, text, ignored))
        if allowed is None or id not in allowed:
            not_found.append(_observation(id, token, text, allowed))
            continue
        when_ignored = "an error" if ignored is None else f"{len(ignored)} tokens of text"
        when_raising = "refused" if _is_refused(subject, text) else "not refused"
        remark = f"ignore: {when_ignored}; allow: id {id}; raise: {when_raising}; {elsewhere}"
        spellable.append(_observation(id, token, text, allowed, remark))
    if leaks:
        message = f"{counted(len(leaks), 'control token comes', 'control tokens come')} from text"
        yield Finding("special-leaks", message, tuple(leaks))
    if not_found:
        number = counted(len(not_found), "special token")
        message = f"{number} not given by {'its' if len(not_found) == 1 else 'their'} own spelling"
        yield Finding("special-not-found", message, tuple(not_found))
    if spellable:
        number = counted(len(spellable), "special token")
        message = f"{number} that text can spell"
        yield Finding("special-in-text", message, tuple(spellable))


def controls_in_text(subject: Subject) -> Iterator[Finding]:
    """Added tokens that look like control tokens, and that encoding finds in any text."""
    cases = []
    for id, token in subject.added.items():
        if token.special or not _CONTROL.fullmatch(token.content):
            continue
        text = f"a {token.content} b"
        ids = _ids(subject, text, "ignore")
        if ids is not None and id in ids:
            cases.append(_observation(id, subject.tokens[id], text, ids))
    if cases:
        one = "added token looks like a control token"
        many = "added tokens look like control tokens"
        message = counted(len(cases), one, many)
        yield Finding("control-in-text", message, tuple(cases))


def _observation(id: int, token: bytes, text: str, ids: list[int] | None, remark: str = "") -> Case:
    gave = None if ids is None else tuple(ids)
    return Case(id, token, "", remark, text, gave, "observed")


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
    """What the library of the format does with the spelling by default."""
    model = subject.model
    if isinstance(model, models.SentencePiece):
        return "sentencepiece: text"
    if isinstance(model, models.BPE) and model.merges is None:
        return "tiktoken: refused"
    return "tokenizers: the id"
