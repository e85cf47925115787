"""Special and added tokens: which of them text can spell, and how jeton and others encode that.

Look here for the effect of `special=` on each, and for what the library of a format does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.subject import Subject
from jeton.components import models
from jeton.errors import EncodeError, SpecialTokenError

_CONTROL: Final = re.compile(
    r"<\|.+\|>|<｜.+｜>|</?[A-Za-z][\w-]*>|\[/?[A-Z][A-Z_0-9]*\]|<<.+>>|\{\{.+\}\}|<unused\d+>"
)
"""The usual spellings of control tokens."""


@looks_for(
    rule("""
    frame-ids (error): tokens around a text have the ids of other tokens
    The post-processor names one token and has the id of another. Encoding adds the id around each
    text, as the library of the file does, so the model gets the other token.
    Remedy: Set a post_processor with the id that the vocabulary has for the name.
    Details: `jeton.load` warns of it; a tokenizer that is built or trained with such a
    post-processor is refused.
    """),
)
def frame(subject: Subject) -> Iterator[Finding]:
    """Tokens around a text that have the ids of other tokens."""
    cases = [
        Case(id, subject.tokens[id], told=remark) for id, remark in subject.tok._core.misnamed()
    ]
    yield from found("frame-ids", cases)


@looks_for(
    rule("""
    special-leaks (error): text becomes a control token
    With special="ignore" the spelling of a special token must stay text. This is a bug in jeton.
    Remedy: Report it with the text shown.
    Details: The spelling of each special token is encoded with `special="ignore"`; the unknown
    token is left out, for unknown text may well become it.
    """),
    rule("""
    special-not-found (warning): a special token that its own spelling does not give
    Even with special="allow" the text of the token gives other ids, so a prompt cannot contain it.
    Remedy: Check its flags (normalized, single_word) and the normalizer.
    Details: The spelling of each special token is encoded with `special="allow"`.
    """),
    rule("""
    special-in-text (note): special tokens that text can spell
    jeton treats their spelling as text (special="ignore") unless the call says otherwise; other
    libraries may not.
    Remedy: Encode untrusted text only with special="ignore" or "raise".
    Details: Each token is shown with what its spelling becomes under each `special=`, and what the
    library of the format does by default: tokenizers and transformers give the id, tiktoken
    refuses, sentencepiece takes it for text.
    """),
)
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
        ignored = subject.ids_of(text, "ignore")
        allowed = subject.ids_of(text, "allow")
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
    yield from found("special-leaks", leaks)
    yield from found("special-not-found", not_found)
    yield from found("special-in-text", spellable)


@looks_for(
    rule("""
    control-in-text (warning): a control token that any text can spell
    It looks like a control token but is an added token that is not special: it is found in any
    text, with every special=, so untrusted text can contain it.
    Remedy: Mark it special=True if it controls the model.
    Details: Added tokens that are not special, but spelled as `<|…|>`, `<…>`, `[…]` are. With
    `special="ignore"` they are found all the same: that flag is about special tokens.
    """),
)
def controls_in_text(subject: Subject) -> Iterator[Finding]:
    """Added tokens that look like control tokens, and that encoding finds in any text."""
    cases = []
    for id, token in subject.added.items():
        if token.special or not _CONTROL.fullmatch(token.content):
            continue
        text = f"a {token.content} b"
        ids = subject.ids_of(text, "ignore")
        if ids is not None and id in ids:
            cases.append(_observation(id, subject.tokens[id], text, ids))
    yield from found("control-in-text", cases)


def _observation(id: int, token: bytes, text: str, ids: list[int] | None, remark: str = "") -> Case:
    gave = None if ids is None else tuple(ids)
    return Case(id, token, "", remark, text, gave, "observed")


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
