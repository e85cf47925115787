"""Where a text may be split: after a sentence, a line or a word, and between two characters.

Look here for how sentences end in each script. The rules are those of Unicode's text segmentation
(UAX #29, https://www.unicode.org/reports/tr29/), with the exceptions noted at each; the terminators
of sentences are the characters with Unicode's property `Sentence_Terminal`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_NEEDS_SPACE = ".!?…․‼‽⁇⁈⁉﹒．"
"""Terminators that also occur in numbers, names and addresses: white space must follow."""

_TERMINATORS = (
    "։؝-؟۔܀-܂߹࠷࠹࠽࠾।॥၊။።፧፨᙮᜵᜶។៕᠃᠉᥄᥅᪨-᪫"
    "\u1b4e\u1b4f᭚᭛᭞᭟᭽-\u1b7f᰻᰼᱾᱿⳹-⳻⸮⸼⹓⹔\u2e60\u2e61。꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧈꧉꩝-꩟꫰꫱꯫︒︕︖﹖﹗！？｡"
)
_TERMINATORS_BEYOND = (
    "\U00010a56\U00010a57\U00010f55-\U00010f59\U00010f86-\U00010f89\U00011047\U00011048"
    "\U000110be-\U000110c1\U00011141-\U00011143\U000111c5\U000111c6\U000111cd\U000111de\U000111df"
    "\U00011238\U00011239\U0001123b\U0001123c\U000112a9\U000113d4\U000113d5\U0001144b\U0001144c"
    "\U000115c2\U000115c3\U000115c9-\U000115d7\U00011641\U00011642\U0001173c-\U0001173e"
    "\U00011944\U00011946\U00011a42\U00011a43\U00011a9b\U00011a9c\U00011c41\U00011c42"
    "\U00011ef7\U00011ef8\U00011f43\U00011f44\U00016a6e\U00016a6f\U00016af5\U00016b37\U00016b38"
    "\U00016b44\U00016d6e\U00016d6f\U00016e98\U0001bc9f\U0001da88"
)
"""All other terminators, as bodies of character classes: they end a sentence without a space."""

_CLOSING = r"\"'”’»›)\]}」』）】〉》〕］｝〗〙〛〞〟"
"""Characters that may come between a terminator and the end of its sentence."""

_CLOSING_BEFORE_SPACE = _CLOSING + "“‘«‹*_`"
"""The same if white space follows: also German quotes, and the marks of Markdown."""

_SPACE = r"[\s\u200b]"
_LINE_BREAK = r"(?:\r\n|\r(?!\n)|[\n\x85])"
_WITHOUT_TERMINATORS = "ก-ฺเ-๎ກ-ຽເ-໎"
"""Letters of Thai and Lao, in which white space separates sentences and phrases, not words."""

_ENDING = _TERMINATORS + _TERMINATORS_BEYOND

# Each pattern begins with one class, so that `re` can skip to a match. `re` tests characters above
# U+FFFF range by range, so the class has one range for all of them.
_SENTENCE: Final = re.compile(
    rf"[{_NEEDS_SPACE}{_TERMINATORS}\U00010a56-\U0001da88{_WITHOUT_TERMINATORS}\n\r\x85\u2029](?:"
    rf"(?<=[{_NEEDS_SPACE}])(?<![{_NEEDS_SPACE}]{{2}})"
    rf"[{_NEEDS_SPACE}]*[{_CLOSING_BEFORE_SPACE}]*{_SPACE}+"
    rf"|(?<=[{_ENDING}])[{_ENDING}{_NEEDS_SPACE}]*[{_CLOSING}]*{_SPACE}*"
    rf"|(?:(?<=[\n\x85])|(?<=\r)(?!\n))[ \t]*{_LINE_BREAK}{_SPACE}*"
    rf"|(?<=\u2029){_SPACE}*"
    rf"|(?<=[{_WITHOUT_TERMINATORS}]){_SPACE}+(?=[{_WITHOUT_TERMINATORS}])"
    rf")"
)
"""A sentence ends after a terminator, closing marks and white space, or after a blank line.

Two rules differ from UAX #29. A single line break ends no sentence, since much text is wrapped.
`.`, `!` and `?` need white space after them, and end no sentence if a lower-case letter follows, or
a title, an initial or the number of a line comes before: UAX #29 splits "Mr. Bell", and addresses
at their `?`.
"""
_LINE: Final = re.compile(r"[\n\v\f\r\x85\u2028\u2029](?:(?<=\r)\n)?")
"""A line ends after any line break of Unicode."""

_BREAKING_SPACE = r"\t-\r\x1c- \x85\u1680\u2000-\u2006\u2008-\u200b\u2028\u2029\u205f\u3000"
_IDEOGRAPHIC_MARKS = "、。，．…！？；：）｝］」』】〉》〕〗〙〛〟・"
_WORD: Final = re.compile(
    rf"[{_BREAKING_SPACE}{_IDEOGRAPHIC_MARKS}]"
    rf"(?:(?<=[{_IDEOGRAPHIC_MARKS}])[{_IDEOGRAPHIC_MARKS}]*)?[{_BREAKING_SPACE}]*"
)
"""A word ends after white space, and after Chinese and Japanese punctuation.

Words of Chinese, Japanese, Thai, Lao, Khmer and Burmese cannot be separated without a dictionary.
UAX #29 splits between any two ideographs; jeton splits such text at tokens instead.
"""
_PATTERNS: Final = {"sentence": _SENTENCE, "line": _LINE, "word": _WORD}

_TITLE: Final = re.compile(
    r"\b(?:Mr|Ms|Dr|St|Lt|Hr|Sr|Mrs|Rev|Hon|Gen|Col|Sgt|Mme|Sra|Prof|Capt|Mlle)\.$"
)
_NUMBER_OF_A_LINE: Final = re.compile(r"(?:^|[\n\r\x85\u2028\u2029])[ \t]*\d{1,4}\.$")
_CONTEXT = 32
"""How many characters around a position decide whether it is an end."""
_BLOCK = 128
"""How many characters a search for the last end reads first."""


def ends(unit: str, text: str, low: int, high: int) -> list[int]:
    """The positions after `low` and up to `high` where a unit ends within the text. `unit`:
    `"sentence"`, `"line"` or `"word"`.

    Example:
        >>> ends("sentence", "One. Two. Three.", 0, 12)
        [5, 10]
    """
    return [
        match.end() for match in _matches(unit, text, low, high) if _is_end(unit, text, match, low)
    ]


def last(unit: str, text: str, low: int, high: int) -> int | None:
    """The last position after `low` and up to `high` where a unit ends.

    Args:
        unit: As in `ends`; the end of the text ends every unit.
        low: An earlier split of the text.

    Example:
        >>> last("sentence", "One. Two. Three.", 0, 12)
        10
    """
    if high == len(text):
        return high if high > low else None
    size = _BLOCK
    while True:
        begin = max(low, high - size)
        for match in reversed(list(_matches(unit, text, begin, high))):
            if _is_end(unit, text, match, low):
                return match.end()
        if begin == low:
            return None
        size *= 4


def first(unit: str, text: str, low: int, high: int, since: int) -> int | None:
    """The first position from `low` on and before `high` where a unit ends. `since`: an earlier
    split of the text, at `low` or before.

    Example:
        >>> first("word", "One. Two. Three.", 6, 12, since=0)
        10
    """
    for match in _matches(unit, text, low - 1, high - 1):
        if _is_end(unit, text, match, since):
            return match.end()
    return None


def _matches(unit: str, text: str, low: int, high: int) -> Iterator[re.Match[str]]:
    """The possible ends of a unit, after `low` and up to `high`."""
    # A match may begin before `low` and go on beyond `high`.
    begin, stop = max(0, low - _CONTEXT), min(len(text), high + _CONTEXT)
    for match in _PATTERNS[unit].finditer(text, begin, stop):
        end = match.end()
        if end > high:
            return
        if end > low:
            yield match


def _is_end(unit: str, text: str, match: re.Match[str], since: int) -> bool:
    if unit == "sentence" and text[match.start()] in _NEEDS_SPACE and _goes_on(text, match):
        return False
    return is_between_characters(text, match.end(), since)


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the sentence goes on after a full stop or another terminator."""
    follows = text[match.end() : match.end() + 8].lstrip("\"'“‘«‹([{¿¡*_`")[:1]
    if follows.islower() or follows in (",", ";", ":"):
        return True
    dot = match.start()
    if text[dot] != "." or text[dot + 1] in _NEEDS_SPACE:
        return False
    before = text[max(0, dot - _CONTEXT) : dot + 1]
    letter = before[-2:-1]
    is_initial = letter.isupper() and letter != "I" and not before[-3:-2].isalnum()
    if is_initial or _TITLE.search(before):
        return True
    return bool(_NUMBER_OF_A_LINE.search(before)) if letter.isdigit() else False


_EXTENDING: Final = frozenset("\u200c\u200dำຳﾞﾟ") | {
    chr(code) for code in (*range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080))
}
"""Characters besides marks that belong to the one before: joiners, skin tones, tags, vowels."""
_HANGUL: Final = re.compile(
    "[\u1100-\u115f\ua960-\ua97c][\u1100-\u115f\ua960-\ua97c가-힣]|.[\u1160-\u11ffힰ-\ud7fb]"
)
"""Two letters of one syllable, or a letter in the middle or at the end of one."""
_VIRAMA = 9
"""The combining class of viramas, which join two consonants into one character."""


def is_between_characters(text: str, place: int, since: int) -> bool:
    r"""Whether a position is between two characters, as a reader sees them.

    Such a character is a grapheme cluster of UAX #29: a letter with its marks, CR LF, a flag, an
    emoji with its joiners, a syllable of Hangul, consonants joined by a virama in any script.
    `since`: an earlier position between two characters, from which to count flags.

    Example:
        >>> [is_between_characters("e\u0301x", place, 0) for place in (1, 2)]
        [False, True]
    """
    if not 0 < place < len(text):
        return True
    before, after = text[place - 1], text[place]
    if after < "\u0300":
        return (before, after) != ("\r", "\n")
    if after in _EXTENDING or before == "\u200d" or unicodedata.category(after)[0] == "M":
        return False
    if splits_pair(text, place) or _HANGUL.match(text, place - 1):
        return False
    if _is_flag_letter(after) and _is_flag_letter(before):
        at = place
        while at > since and _is_flag_letter(text[at - 1]):
            at -= 1
        return (place - at) % 2 == 0
    for at in range(place - 1, max(since, place - _CONTEXT) - 1, -1):
        if unicodedata.combining(text[at]) == _VIRAMA:
            return False
        if text[at] not in _EXTENDING and unicodedata.category(text[at])[0] != "M":
            break
    return True


def splits_pair(text: str, place: int) -> bool:
    """Whether a position is within a surrogate pair, which is one character."""
    return "\ud800" <= text[place - 1] <= "\udbff" and "\udc00" <= text[place] <= "\udfff"


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
