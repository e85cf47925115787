"""Oddities of the vocabulary as a list of tokens: gaps, copies, remains of damage, mixtures.

Look here for which tokens count as mark-up, as addresses, as encoding damage and as very long.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.subject import Subject
from jeton.display.human_readable import counted
from jeton.encoding.unicode import letter_scripts

__all__ = ["copies", "gaps", "is_damaged", "parts_of_characters", "scraps"]

LONG: Final = 40
"""A token of more characters is very long. The longest English word in use has 28."""

_MARKUP: Final = re.compile(
    r"</?[A-Za-z][\w:-]*[ />]|</[A-Za-z]|&(?:nbsp|amp|lt|gt|quot|apos|#\d+);?|<!--|<!DOCTYPE"
    r"|\b(?:href|src|class|style|colspan|rowspan)=[\"']",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"https?:?(?:/|$)|\bwww\b|://|\w\.(?:com|org|net|edu|gov|html?|php)\b", re.IGNORECASE
)
_TOGETHER: Final = (
    {"Han", "Hiragana", "Katakana"},
    {"Han", "Hangul"},
    {"Han", "Bopomofo"},
)
"""Scripts that one language writes together."""


def gaps(subject: Subject) -> Iterator[Finding]:
    """Ids below the largest that have no token."""
    ids = np.concatenate([[-1], np.sort(subject.ids)])
    before = np.flatnonzero(np.diff(ids) > 1)
    cases = []
    for first, after in zip((ids[before] + 1).tolist(), ids[before + 1].tolist(), strict=True):
        name = f"{first}" if after == first + 1 else f"{first} to {after - 1}"
        cases.append(Case(name=name, told="no token"))
    if cases:
        missing = int(ids[-1]) + 1 - len(subject.ids)
        yield Finding(
            "id-gap",
            f"{counted(missing, 'id')} up to {int(ids[-1]):,} "
            f"{'has' if missing == 1 else 'have'} no token",
            tuple(cases),
        )


def copies(subject: Subject) -> Iterator[Finding]:
    """Tokens with the same bytes as another."""
    by_bytes: dict[bytes, list[int]] = {}
    for id, token in subject.tokens.items():
        by_bytes.setdefault(token, []).append(id)
    cases = [
        Case(id, token, told=f"the same bytes as {', '.join(map(str, others))}")
        for token, ids in by_bytes.items()
        if len(ids) > 1
        for id in ids
        if (others := [other for other in ids if other != id])
    ]
    if cases:
        tokens = sum(len(ids) > 1 for ids in by_bytes.values())
        number = counted(tokens, "token has", "tokens have")
        yield Finding("duplicate-token", f"{number} several ids", tuple(cases))


def parts_of_characters(subject: Subject) -> Iterator[Finding]:
    """Tokens of several bytes that are not UTF-8 on their own."""
    cases = [
        Case(id, subject.tokens[id])
        for id in subject.ordinary.tolist()
        if subject.texts[id] is None and len(subject.surfaces[id]) > 1
    ]
    if cases:
        single = sum(
            subject.texts[id] is None and len(subject.surfaces[id]) == 1
            for id in subject.ordinary.tolist()
        )
        beside = f", beside {counted(single, 'single byte')}" if single else ""
        number = counted(len(cases), "token begins or ends", "tokens begin or end")
        yield Finding(
            "part-of-character",
            f"{number} inside a character{beside}",
            tuple(cases),
        )


def scraps(subject: Subject) -> Iterator[Finding]:
    """Tokens that look like content that a corpus should not have, or rarely needs."""
    tests: tuple[tuple[str, str, str, str, Callable[[str], bool]], ...] = (
        ("encoding-damage", "is", "are", "wrongly decoded text", is_damaged),
        ("markup", "holds", "hold", "mark-up", lambda text: _MARKUP.search(text) is not None),
        (
            "url",
            "holds",
            "hold",
            "parts of addresses",
            lambda text: _ADDRESS.search(text) is not None,
        ),
        ("mixed-scripts", "has", "have", "letters of several scripts", _is_mixed),
        (
            "long-token",
            "has",
            "have",
            f"more than {LONG} characters",
            lambda text: len(text.strip() or text) > LONG,
        ),
        (
            "whitespace-token",
            "is",
            "are",
            "several characters of white space",
            lambda text: len(text) > 1 and text.isspace(),
        ),
    )
    texts = [
        (id, text) for id in subject.ordinary.tolist() if (text := subject.texts[id]) is not None
    ]
    for rule, one, many, what, test in tests:
        cases = [
            Case(id, subject.tokens[id], told=_why(rule, text)) for id, text in texts if test(text)
        ]
        if cases:
            number = counted(len(cases), f"token {one}", f"tokens {many}")
            yield Finding(rule, f"{number} {what}", tuple(cases))


def _why(rule: str, text: str) -> str:
    match rule:
        case "encoding-damage":
            if "\ufffd" in text:
                return "holds U+FFFD"
            repair = _RUN.sub(lambda run: _undamaged(run[0]) or run[0], text)
            return "part of a wrongly decoded character" if repair == text else f"was {repair}"
        case "mixed-scripts":
            return ", ".join(sorted(letter_scripts(text)))
        case "long-token" | "whitespace-token":
            return f"{len(text.strip() or text)} characters"
        case _:
            return ""


def _is_mixed(text: str) -> bool:
    if text.isascii():
        return False
    scripts = letter_scripts(text)
    if scripts == {"Greek", "Latin"} and sum("Ͱ" <= letter <= "Ͽ" for letter in text) == 1:
        return False  # a unit or a variable, such as μm
    return len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER)


_LATIN: Final = {chr(number): number for number in range(0x80, 0x100)}
"""The bytes beyond ASCII by their characters in Latin-1."""
_WINDOWS: Final = {
    character: byte
    for byte in range(0x80, 0xA0)
    if (character := bytes([byte]).decode("cp1252", "ignore"))
}
"""The bytes that are controls in Latin-1, by their characters in Windows-1252."""
_BYTE_OF: Final = {**_LATIN, **_WINDOWS}
_RUN: Final = re.compile(f"[{''.join(map(re.escape, _BYTE_OF))}]+")


def is_damaged(text: str) -> bool:
    """Whether a text has U+FFFD, or UTF-8 that was decoded as Latin-1 or Windows-1252.

    A run of such characters counts as damage if it is UTF-8 for a Latin letter or punctuation.
    Genuine text hardly ever spells these by chance; it may well spell letters of other scripts.

    >>> is_damaged("cafÃ©"), is_damaged("donâ€™t"), is_damaged("ÃO"), is_damaged("café à Œ")
    (True, True, False, False)
    """
    if "\ufffd" in text or _TWICE.search(text):
        return True
    return any(_undamaged(run[0]) for run in _RUN.finditer(text))


_TWICE: Final = re.compile("ÃÂ|ÂÃ|Ãƒ|Ã‚|â€")
"""Remains of text that was wrongly decoded twice, or split inside a character."""


def _undamaged(run: str) -> str | None:
    """A run of characters as it was before wrong decoding; `None` if it was not damaged."""
    if len(run) < 2:
        return None
    data = bytes(_BYTE_OF[character] for character in run)
    for start, end in itertools.combinations(range(len(data) + 1), 2):
        if data[start] < 0xC2 or end - start < 2:
            continue
        try:
            original = data[start:end].decode()
        except UnicodeDecodeError:
            continue
        if all(character in _PLAUSIBLE for character in original):
            return run[:start] + original + run[end:]
    return None


_PLAUSIBLE: Final = frozenset(
    [chr(number) for number in (*range(0xA0, 0x180), *range(0x2010, 0x2027), 0x20AC, 0x2122)]
)
"""Latin letters and typographic punctuation: most damaged text consists of these."""
