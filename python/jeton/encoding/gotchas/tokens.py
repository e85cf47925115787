"""What the tokenizer does to a text: special tokens, normalization, losses."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Final

from jeton.encoding.gotchas.gotcha import Check, GotchaSubject, Hit
from jeton.errors import EncodeError

_FOREIGN: Final = re.compile(
    r"<\|[A-Za-z_][\w.\-]{0,40}\|>|<｜[^<>｜\s]{1,40}｜>|\[/?INST\]|<</?SYS>>|</?s>"
    r"|<(?:start|end)_of_(?:turn|text)>|<(?:bos|eos|pad|unk|mask)>"
    r"|\[(?:CLS|SEP|PAD|MASK|UNK|BOS|EOS)\]|</?think>|</?tool_call>"
)
"""How control tokens of well-known models are spelled."""


def special_tokens(subject: GotchaSubject) -> Iterator[Hit]:
    """The spellings of special and added tokens of this tokenizer."""
    tokens = {token.content: token for token in subject.tok.stages.added_tokens if token.content}
    pattern = "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))
    for match in re.finditer(pattern, subject.text) if tokens else ():
        token = tokens[match[0]]
        if token.special:
            yield Hit(
                "special-token",
                *match.span(),
                f"The spelling of the special token {match[0]!r}.",
                "If the text is not yours, leave special= at its default. If you want the control "
                'token, use special="allow" or a chat template.',
                instead=match[0],
                instead_ids=() if token.id is None else (token.id,),
                apart=True,
                effect="text by default; the control token if special= allows it",
            )
        elif not match[0].isspace():
            yield Hit(
                "special-token",
                *match.span(),
                f"The added token {match[0]!r}, which is matched in any text.",
                "In text that is not yours, remove it, or break it up.",
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
                "It spells a control token of other models; this tokenizer has no such token.",
                "Check that the text and the tokenizer belong to the same model.",
                apart=True,
            )


def normalized(subject: GotchaSubject) -> Iterator[Hit]:
    """Words and white space that the normalizer changes."""
    normalizer = subject.tok.stages.normalizer
    if normalizer is None:
        return
    output_of: list[list[str]] = [[] for _ in range(len(subject.text) + 1)]
    output = normalizer.with_spans(subject.text)
    for character, (start, _) in zip(output.text, output.spans, strict=True):
        output_of[start].append(character)
    for match in re.finditer(r"\s+|\S+", subject.text):
        word = match[0]
        parts = ("".join(part) for part in output_of[match.start() : match.end()])
        now = "".join(parts).replace("▁", " ")
        # A space in front, and spaces around characters, are no change.
        same = now == word if word.isspace() else now.replace(" ", "") == word
        if not same:
            yield Hit(
                "normalized",
                *match.span(),
                f"The normalizer changes it to {now!r:.60} before the model sees it."
                if now
                else "The normalizer drops it before the model sees it.",
                "Do not rely on the original: decoded text will not have it.",
                instead=now,
                keeps=True,
                apart=True,
                effect="the model cannot distinguish them",
            )


def round_trip(subject: GotchaSubject) -> Iterator[Hit]:
    """Text that is different after encoding and decoding."""
    text = subject.text
    if not subject.is_encoded:
        return
    back = subject.tok.decode(subject.tok.encode(text))
    if back == text:
        return
    start = _same(text, back)
    after = _same(reversed(text[start:]), reversed(back[start:]))
    end = len(text) - after
    yield Hit(
        "round-trip",
        start,
        end,
        f"Decoding returns {back[start : len(back) - after]!r:.80}.",
        "Keep the original text if you need it; spans refer to it.",
        apart=True,
        keeps=True,
        effect="decoding returns another text",
    )


def _same(one: Iterable[str], other: Iterable[str]) -> int:
    """How many characters two texts share at their beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def unknown(subject: GotchaSubject) -> Iterator[Hit]:
    """Text that no token spells."""
    if not subject.is_encoded:
        yield from _without_token(subject)
        return
    id = subject.tok.roles.ids.get("unk")
    if id is None:
        return
    ids, spans = subject.tok.encode_array(subject.text, spans="characters")
    name = subject.tok.roles["unk"]
    for start, end in spans[ids == id].tolist():
        if start < end:
            yield Hit(
                "unknown",
                start,
                end,
                f"No token spells it: it becomes {name!r}, and the original is lost.",
                "Remove it, or choose a tokenizer with byte fallback.",
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
                f"U+{ord(character):04X}: the tokenizer has no token for it, and no unknown token.",
                "Remove it, or choose another tokenizer.",
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
