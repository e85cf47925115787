"""Invisible characters, and forms of Unicode that look the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from jeton.encoding.gotchas.gotcha import Check, GotchaSubject, Hit

_BIDI: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TAGS: Final = "\U000e0001\U000e0020-\U000e007f"
_SELECTORS: Final = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_OTHERS: Final = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_HIDDEN: Final = re.compile(
    f"(?P<bidi>[{_BIDI}]+)|(?P<tags>[{_TAGS}]+)|(?P<selectors>[{_SELECTORS}]+)"
    f"|(?P<others>[{_OTHERS}]+)|(?P<controls>[{_CONTROLS}]+)"
)
_KINDS: Final = {
    "bidi": "bidi",
    "tags": "hidden-text",
    "selectors": "variation-selector",
    "others": "invisible",
    "controls": "control-character",
}
_SHAPED: Final = re.compile("[\u0590-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u18af]")
"""Scripts in which joiners choose the form of a letter."""

_NAMES: Final = {"\x00": "NULL", "\x1b": "ESCAPE", "\x7f": "DELETE", "\x0b": "LINE TABULATION"}


def hidden(subject: GotchaSubject) -> Iterator[Hit]:
    """Characters without a glyph of their own."""
    text = subject.text
    for match in _HIDDEN.finditer(text):
        name = _KINDS[match.lastgroup or ""]
        start, end = match.span()
        yield Hit(
            name,
            start,
            end,
            _what(name, match[0]),
            _do(name, text, start, end),
            instead="",
            keeps=True,
        )


def _what(name: str, characters: str) -> str:
    names = ", ".join(map(unicode_name, dict.fromkeys(characters[:100])))
    if name == "hidden-text":
        text = "".join(chr(ord(sign) - 0xE0000) for sign in characters if ord(sign) >= 0xE0020)
        return f"{len(characters)} tag characters, which spell {text.rstrip(chr(127))!r:.80}."
    if name == "bidi":
        return f"{names:.120}: the text after it may be shown in another order than it is read."
    if name == "variation-selector":
        return f"{names:.120}: it selects another look of the character before it."
    return f"{names:.120}: it is invisible."


def _do(name: str, text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    is_emoji = any(
        sign and (unicodedata.category(sign) in ("So", "Sk") or sign in "\ufe0f\u2640\u2642\u2764")
        for sign in (before, after)
    )
    if "\u200d" in text[start:end] and is_emoji and after:
        return "It joins several emoji into one: keep it if that is intended."
    if name == "variation-selector" and before:
        return "Keep it if the look matters: it selects an emoji, or a variant of an ideograph."
    if name == "invisible" and (_SHAPED.match(before) or _SHAPED.match(after)):
        return "In this script it selects the form of letters: keep it."
    if start == 0 and text[0] == "\ufeff":
        return "It is the byte order mark of a file: read files as utf-8-sig."
    if name in ("hidden-text", "bidi"):
        return "Delete it in text that is not yours: people do not see what the model reads."
    return "Delete it, unless you know what it is for."


def unicode_name(character: str) -> str:
    """The code point of a character, and its name in Unicode."""
    name = _NAMES.get(character) or unicodedata.name(character, "CONTROL CHARACTER")
    return f"U+{ord(character):04X} {name}"


def forms(subject: GotchaSubject) -> Iterator[Hit]:
    """Words that are not in Unicode's composed form (NFC)."""
    if unicodedata.is_normalized("NFC", subject.text):
        return
    for match in re.finditer(r"\S+", subject.text):
        if match[0].isascii():
            continue
        for part in re.finditer(r"(?s).{1,64}[\u0300-\u036f]*", match[0]):
            composed = unicodedata.normalize("NFC", part[0])
            if composed != part[0]:
                yield Hit(
                    "unicode-form",
                    match.start() + part.start(),
                    match.start() + part.end(),
                    "Not in Unicode's composed form (NFC): it looks the same but has other "
                    "characters.",
                    "Normalize the text to NFC.",
                    instead=composed,
                )


def line_ends(subject: GotchaSubject) -> Iterator[Hit]:
    """Carriage returns."""
    for match in re.finditer(r"\r\n|\r", subject.text):
        yield Hit(
            "line-end",
            *match.span(),
            "A line end of Windows (\\r\\n)." if len(match[0]) == 2 else "A carriage return (\\r).",
            "Write \\n: read the file with Python's newline=None, or replace them.",
            instead="\n",
        )


def broken(subject: GotchaSubject) -> Iterator[Hit]:
    """The traces of wrong decoding."""
    for match in re.finditer("\ufffd+", subject.text):
        yield Hit(
            "replacement-character",
            *match.span(),
            "U+FFFD replaces bytes that could not be decoded: the original is lost.",
            "Read the text again with the right encoding.",
        )
    for match in re.finditer("[\ud800-\udfff]+", subject.text):
        yield Hit(
            "surrogate",
            *match.span(),
            f"U+{ord(match[0][0]):04X}, half of a UTF-16 character: not valid Unicode.",
            "Read the text again: they come from errors='surrogateescape', or from truncated JSON.",
            apart=True,
            effect="a pair is read as its character, a lone one as U+FFFD",
        )


CHECKS: Final[tuple[Check, ...]] = (hidden, forms, line_ends, broken)
