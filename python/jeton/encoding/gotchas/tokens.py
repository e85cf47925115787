"""What the tokenizer itself does to a text: special tokens, normalization, what is lost."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Final

from jeton.encoding.gotchas.hits import Check, GotchaSubject, Hit
from jeton.errors import EncodeError

__all__ = ["CHECKS"]

_FOREIGN: Final = re.compile(
    r"<\|[A-Za-z_][\w.\-]{0,40}\|>|<｜[^<>｜\s]{1,40}｜>|\[/?INST\]|<</?SYS>>|</?s>"
    r"|<(?:start|end)_of_(?:turn|text)>|<(?:bos|eos|pad|unk|mask)>"
    r"|\[(?:CLS|SEP|PAD|MASK|UNK|BOS|EOS)\]|</?think>|</?tool_call>"
)
"""How control tokens of well-known models are spelled."""


def special_tokens(subject: GotchaSubject) -> Iterator[Hit]:
    """Tokens of this tokenizer that are control tokens or found by their spelling."""
    added = {token.content: token for token in subject.tok.added_tokens if token.content}
    pattern = "|".join(map(re.escape, sorted(added, key=len, reverse=True)))
    for match in re.finditer(pattern, subject.text) if added else ():
        token = added[match[0]]
        if token.special:
            yield Hit(
                "special-token",
                *match.span(),
                f"The special token {match[0]!r}, spelled in text.",
                "If the text is not yours, leave special= as it is. If it is a control token, "
                'special="allow" or a chat template makes it one.',
                instead=match[0],
                instead_ids=() if token.id is None else (token.id,),
                apart=True,
                effect="text by default; the control token where special= allows it",
            )
        elif not match[0].isspace():
            yield Hit(
                "special-token",
                *match.span(),
                f"The added token {match[0]!r}, which is found in any text.",
                "In text that is not yours, take it out, or break it up.",
                apart=True,
                keeps=True,
                effect="one token, wherever it is spelled",
            )


def foreign_control(subject: GotchaSubject) -> Iterator[Hit]:
    """Control tokens of other models."""
    for match in _FOREIGN.finditer(subject.text):
        if match[0] not in subject.tok:
            yield Hit(
                "foreign-control",
                *match.span(),
                "It spells a control token of other models; this tokenizer has none of that name.",
                "Check that text and tokenizer are of the same model.",
                apart=True,
            )


def normalized(subject: GotchaSubject) -> Iterator[Hit]:
    """Words and white space that the normalizer changes."""
    normalizer = subject.tok.normalizer
    if normalizer is None:
        return
    made: list[list[str]] = [[] for _ in range(len(subject.text) + 1)]
    changed = normalizer.with_spans(subject.text)
    for character, (start, _) in zip(changed.text, changed.spans, strict=True):
        made[start].append(character)
    for match in re.finditer(r"\s+|\S+", subject.text):
        word = match[0]
        parts = ("".join(part) for part in made[match.start() : match.end()])
        now = "".join(parts).replace("▁", " ")
        # A space in front, or spaces around characters, change no character.
        same = now == word if word.isspace() else now.replace(" ", "") == word
        if not same:
            yield Hit(
                "normalized",
                *match.span(),
                f"The normalizer makes {now!r:.60} of it before the model sees it."
                if now
                else "The normalizer drops it before the model sees it.",
                "Do not count on what is lost; decoded text will not have it.",
                instead=now,
                keeps=True,
                apart=True,
                effect="the model cannot tell them apart",
            )


def round_trip(subject: GotchaSubject) -> Iterator[Hit]:
    """What is not the same when the ids are decoded."""
    text = subject.text
    if not subject.is_encoded:
        return
    back = subject.tok.decode(subject.tok.encode(text))
    if back == text:
        return
    start = _same(text, back)
    behind = _same(reversed(text[start:]), reversed(back[start:]))
    end = len(text) - behind
    yield Hit(
        "round-trip",
        start,
        end,
        f"Decoded, it comes back as {back[start : len(back) - behind]!r:.80}.",
        "Keep the text itself where it is needed; spans point into it.",
        apart=True,
        keeps=True,
        effect="decoding does not give the text back",
    )


def _same(one: Iterable[str], other: Iterable[str]) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def unknown(subject: GotchaSubject) -> Iterator[Hit]:
    """What no token spells."""
    if not subject.is_encoded:
        yield from _without_token(subject)
        return
    id = subject.tok.role_ids.get("unk")
    if id is None:
        return
    ids, spans = subject.tok.encode_array_with_spans(subject.text)
    name = subject.tok.roles["unk"]
    for start, end in spans[ids == id].tolist():
        if start < end:
            yield Hit(
                "unknown",
                start,
                end,
                f"No token spells it: it becomes {name!r}, whatever it was.",
                "Take it out, or choose a tokenizer that falls back to bytes.",
                apart=True,
                effect=f"{name}, id {id}",
            )


def _without_token(subject: GotchaSubject) -> Iterator[Hit]:
    lacking = set()
    for character in dict.fromkeys(subject.text):
        try:
            subject.tok.count(character)
        except EncodeError:
            lacking.add(character)
    for at, character in enumerate(subject.text):
        if character in lacking:
            yield Hit(
                "no-token",
                at,
                at + 1,
                f"U+{ord(character):04X}: the tokenizer has no token for it, and none for unknown "
                "text.",
                "Take it out, or choose another tokenizer.",
                apart=True,
                effect="an EncodeError",
            )


CHECKS: Final[tuple[Check, ...]] = (
    special_tokens,
    foreign_control,
    normalized,
    round_trip,
    unknown,
)
