"""What is odd about the vocabulary as a list of tokens: gaps, copies, scraps, mixtures.

Look here for what counts as mark-up, as an address, as encoding damage and as very long.
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
"""Characters from which on a token is very long. The longest English word in use has 28."""

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
    """Ids below the largest that stand for no token."""
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
            f"{'stands' if missing == 1 else 'stand'} for no token",
            tuple(cases),
        )


def copies(subject: Subject) -> Iterator[Finding]:
    """Tokens with the bytes of another."""
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
    """Tokens of several bytes that are no UTF-8 by themselves."""
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
    """Tokens that look like what a corpus should not have, or hardly needs."""
    tests: tuple[tuple[str, str, str, str, Callable[[str], bool]], ...] = (
        ("encoding-damage", "is", "are", "text that was decoded wrongly", is_damaged),
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
    for rule, one, many, told, test in tests:
        cases = [
            Case(id, subject.tokens[id], told=_why(rule, text)) for id, text in texts if test(text)
        ]
        if cases:
            number = counted(len(cases), f"token {one}", f"tokens {many}")
            yield Finding(rule, f"{number} {told}", tuple(cases))


def _why(rule: str, text: str) -> str:
    match rule:
        case "encoding-damage":
            if "\ufffd" in text:
                return "holds U+FFFD"
            mended = _RUN.sub(lambda run: _meant(run[0]) or run[0], text)
            return "part of a character, decoded wrongly" if mended == text else f"was {mended}"
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
"""What Latin-1 shows bytes beyond ASCII as."""
_WINDOWS: Final = {
    character: byte
    for byte in range(0x80, 0xA0)
    if (character := bytes([byte]).decode("cp1252", "ignore"))
}
"""What Windows shows the bytes as that are controls in Latin-1."""
_BYTE_OF: Final = {**_LATIN, **_WINDOWS}
_RUN: Final = re.compile(f"[{''.join(map(re.escape, _BYTE_OF))}]+")


def is_damaged(text: str) -> bool:
    """Whether a text holds U+FFFD, or UTF-8 that was decoded as Latin-1 or Windows-1252.

    A run of two such characters is told by what it was: letters of other scripts that happen to
    spell valid UTF-8 are hardly met, punctuation and Latin letters are.

    >>> is_damaged("cafÃ©"), is_damaged("donâ€™t"), is_damaged("ÃO"), is_damaged("café à Œ")
    (True, True, False, False)
    """
    if "\ufffd" in text or _TWICE.search(text):
        return True
    return any(_meant(run[0]) for run in _RUN.finditer(text))


_TWICE: Final = re.compile("ÃÂ|ÂÃ|Ãƒ|Ã‚|â€")
"""What is left of text that was decoded wrongly twice, or cut in the middle of a character."""


def _meant(run: str) -> str | None:
    """What a run of characters was before it was decoded wrongly, if that is so."""
    if len(run) < 2:
        return None
    data = bytes(_BYTE_OF[character] for character in run)
    for start, end in itertools.combinations(range(len(data) + 1), 2):
        if data[start] < 0xC2 or end - start < 2:
            continue
        try:
            meant = data[start:end].decode()
        except UnicodeDecodeError:
            continue
        if all(character in _PLAUSIBLE for character in meant):
            return run[:start] + meant + run[end:]
    return None


_PLAUSIBLE: Final = frozenset(
    [chr(number) for number in (*range(0xA0, 0x180), *range(0x2010, 0x2027), 0x20AC, 0x2122)]
)
"""Latin letters, and punctuation of books: what damaged text has mostly been."""
