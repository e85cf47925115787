"""Oddities of the vocabulary as a list of tokens: gaps, copies, remains of damage, mixtures.

Look here for which tokens count as mark-up, as addresses, as encoding damage and as very long.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import Rule, rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.subject import Subject
from jeton.display.human_readable import counted
from jeton.encoding.unicode import letter_scripts

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


@looks_for(
    rule("""
    id-gap (note): ids without a token
    An embedding needs a row for them, and decoding them is an error.
    Remedy: Nothing if they are reserved for special tokens; otherwise close the gaps (jeton edit).
    Details: Ranges of ids below the largest.
    """),
)
def gaps(subject: Subject) -> Iterator[Finding]:
    """Ids below the largest that have no token."""
    ids = np.concatenate([[-1], np.sort(subject.ids)])
    before = np.flatnonzero(np.diff(ids) > 1)
    cases = []
    for first, after in zip((ids[before] + 1).tolist(), ids[before + 1].tolist(), strict=True):
        name = f"{first}" if after == first + 1 else f"{first} to {after - 1}"
        cases.append(Case(name=name, told="no token"))
    missing = int(ids[-1]) + 1 - len(subject.ids)
    has = "has" if missing == 1 else "have"
    message = f"{counted(missing, 'id')} up to {int(ids[-1]):,} {has} no token"
    yield from found("id-gap", cases, message)


@looks_for(
    rule("""
    duplicate-token (warning): one token has several ids
    Two ids have the same bytes: encoding gives one of them, and the model never learns the other.
    Remedy: Keep one (jeton edit prune --drop removes ids by token), or train again without the
    copy.
    Details: By bytes, over all ids, added tokens included. In GPT-NeoX the runs of spaces are in
    the vocabulary and among the added tokens.
    """),
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
    tokens = sum(len(ids) > 1 for ids in by_bytes.values())
    number = counted(tokens, "token has", "tokens have")
    yield from found("duplicate-token", cases, f"{number} several ids")


@looks_for(
    rule("""
    part-of-character (note): tokens that begin or end inside a character
    Alone they decode to U+FFFD, and training often sees them rarely.
    Remedy: Decode streams with tok.decode_stream(), which waits for whole characters.
    Details: Single bytes are not listed. Land & Bartolo (2024) found such tokens among the seldom
    trained.
    """),
)
def parts_of_characters(subject: Subject) -> Iterator[Finding]:
    """Tokens of several bytes that are not UTF-8 on their own."""
    broken = [id for id in subject.ordinary.tolist() if subject.texts[id] is None]
    cases = [Case(id, subject.tokens[id]) for id in broken if len(subject.surfaces[id]) > 1]
    single = len(broken) - len(cases)
    beside = f", beside {counted(single, 'single byte')}" if single else ""
    number = counted(len(cases), "token begins or ends", "tokens begin or end")
    yield from found("part-of-character", cases, f"{number} inside a character{beside}")


def _looks_at_texts(of: Rule, remark: Callable[[str], str | None]) -> None:
    """Registers a rule that looks at the text of each ordinary token. `remark`: returns a remark on
    a text that breaks the rule, perhaps empty; otherwise `None`."""

    @looks_for(of)
    def look(subject: Subject) -> Iterator[Finding]:
        texts = ((id, subject.texts[id]) for id in subject.ordinary.tolist())
        cases = (
            Case(id, subject.tokens[id], told=told)
            for id, text in texts
            if text is not None and (told := remark(text)) is not None
        )
        yield from found(of.name, cases)


def _characters(text: str) -> str:
    return f"{len(text.strip() or text)} characters"


_looks_at_texts(
    rule("""
    whitespace-token (note): tokens of white space only
    Runs of spaces are useful in code; elsewhere they are remains of layout.
    Remedy: Check whether the long ones come from one document.
    Details: Two characters or more.
    """),
    lambda text: _characters(text) if len(text) > 1 and text.isspace() else None,
)
_looks_at_texts(
    rule("""
    long-token (note): very long tokens
    A token this long is rarely a word; often it is a line that a corpus repeats.
    Remedy: Deduplicate the corpus; train with max_token_length.
    Details: More than 40 characters, spaces at the ends not counted.
    """),
    lambda text: _characters(text) if len(text.strip() or text) > LONG else None,
)
_looks_at_texts(
    rule("""
    markup (note): remains of mark-up
    HTML that was not removed from the corpus fills the vocabulary; for a model of code that is
    intended.
    Remedy: Extract text before training, if the model is to read text.
    Details: Tags, entities, comments, attributes of HTML.
    """),
    lambda text: "" if _MARKUP.search(text) else None,
)
_looks_at_texts(
    rule("""
    url (note): remains of addresses
    Hosts and schemes are learned if a corpus repeats its links.
    Remedy: Check whether they are worth their rows.
    Details: `http`, `www`, `://`, and names that end in a common domain or in `.html`.
    """),
    lambda text: "" if _ADDRESS.search(text) else None,
)
_looks_at_texts(
    rule("""
    mixed-scripts (note): letters of several scripts
    Words rarely mix scripts: such tokens are damage, look-alikes or joined words.
    Remedy: Check the corpus that they come from.
    Details: By Unicode's script property. Han with kana, hangul or bopomofo is one language; a
    single Greek letter among Latin ones is a unit.
    """),
    lambda text: ", ".join(sorted(letter_scripts(text))) if _is_mixed(text) else None,
)
_looks_at_texts(
    rule("""
    encoding-damage (note): remains of wrongly decoded text
    UTF-8 that was read as another encoding (Ã© for é), or U+FFFD: the corpus is damaged.
    Remedy: Repair the corpus before training.
    Details: U+FFFD; or characters of Latin-1 and Windows-1252 whose bytes are the UTF-8 of a Latin
    letter or of punctuation. `Ã©` was `é`.
    """),
    lambda text: _damage(text) if is_damaged(text) else None,
)


def _damage(text: str) -> str:
    if "\ufffd" in text:
        return "holds U+FFFD"
    repair = _RUN.sub(lambda run: _undamaged(run[0]) or run[0], text)
    return "part of a wrongly decoded character" if repair == text else f"was {repair}"


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
