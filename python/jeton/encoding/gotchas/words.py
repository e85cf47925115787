"""Spaces at both ends, capitals, and numbers: small differences that lead to other tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from jeton.encoding.gotchas.gotcha import Check, GotchaSubject, Hit
from jeton.errors import EncodeError

_WORD: Final = re.compile(r"[^\W\d_]+")
_NUMBER: Final = re.compile(r"(?<![0-9])[0-9]{2,}(?![0-9])")
_LONGEST: Final = 64


def leading_space(subject: GotchaSubject) -> Iterator[Hit]:
    """The first word, at the beginning of the text and after a space."""
    match = re.match(r"( *)([^\s]+)", subject.text)
    if match is None:
        return
    space, word = match[1], match[2][:_LONGEST]
    yield Hit(
        "leading-space",
        0,
        len(space) + len(word),
        "At the beginning of a text a word has no space before it."
        if not space
        else "The text begins with a space, which most tokenizers put into the first token.",
        "If you append the text to another one, put the space in front of its first word."
        if not space
        else "Leave it out, unless the text continues another one.",
        instead=word if space else f" {word}",
        apart=True,
    )


def trailing_space(subject: GotchaSubject) -> Iterator[Hit]:
    """A space at the end, which is a separate token."""
    text = subject.text
    end = len(text)
    start = len(text.rstrip(" \t"))
    if 0 < start < end:
        yield Hit(
            "trailing-space",
            start,
            end,
            "The text ends with a space. Tokens hold the space before a word, so a model has "
            "rarely seen a space at the end.",
            "Strip it, and let the answer begin with the space.",
            instead="",
        )


def case(subject: GotchaSubject) -> Iterator[Hit]:
    """Words whose capitals cost tokens."""
    text = subject.text
    places: dict[str, list[int]] = {}
    for match in _WORD.finditer(text):
        word = match[0]
        if len(word) <= _LONGEST and word != word.lower() and len(word) > 1:
            space = text[match.start() - 1 : match.start()] == " " if match.start() else False
            places.setdefault(f" {word}" if space else word, []).append(match.start())
    words = list(places)
    counts = subject.counts(words)
    lower = subject.counts([word.lower() for word in words])
    for word, here, there in zip(words, counts, lower, strict=True):
        if here <= there:
            continue
        bare = word.removeprefix(" ")
        for start in places[word]:
            yield Hit(
                "case",
                start,
                start + len(bare),
                "Capitals: vocabularies hold most words in their usual case only.",
                "Write words in their usual case.",
                instead=bare.lower(),
            )


def digits(subject: GotchaSubject) -> Iterator[Hit]:
    """Numbers that are split neither into single digits nor into groups from the right."""
    is_odd: dict[str, bool] = {}
    for match in _NUMBER.finditer(subject.text):
        number = match[0]
        if len(number) > _LONGEST:
            continue
        if number not in is_odd:
            is_odd[number] = _is_split_oddly(subject, number)
        if is_odd[number]:
            yield Hit(
                "digits",
                *match.span(),
                "A number whose tokens are not groups of digits from the right: the place value of "
                "a digit in its token depends on the length of the number.",
                "If a model calculates with it, group the digits from the right, or separate them.",
                instead=f"{int(number):,}" if number[0] != "0" else " ".join(number),
            )


def _is_split_oddly(subject: GotchaSubject, number: str) -> bool:
    try:
        encoding = subject.tok.encode_with_spans(f" {number}")
    except EncodeError:
        return False
    starts = sorted({start for start, end in encoding.spans if end > start and start > 0})
    if not starts:
        return False  # one token holds the space and all digits
    sizes = [end - start for start, end in zip(starts, [*starts[1:], len(number) + 1], strict=True)]
    # A token of the space and digits begins before the number.
    if starts[0] > 1:
        sizes.insert(0, starts[0] - 1)
    rest = set(sizes[1:])
    return len(sizes) > 1 and not (len(rest) == 1 and sizes[0] <= min(rest))


CHECKS: Final[tuple[Check, ...]] = (leading_space, trailing_space, case, digits)
