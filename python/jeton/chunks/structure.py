"""Where the parts of Markdown, of code and of HTML begin, coarsest first; the heads of tables.

Look here for what `boundaries="markdown"`, `"code"` and `"html"` mean. Each gives levels of places,
of which every one holds those of the one before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

__all__ = ["KINDS", "Table", "head_of", "tables"]

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
"""The line between the head of a table and its rows."""
_INDENTS: Final = (0, 4, 8)
"""Columns up to which the parts of code begin."""
_TAGS: Final = (
    "section|article|main|header|footer|nav|aside|body|head",
    "p|div|ul|ol|dl|table|blockquote|pre|figure|form|h[1-6]",
    "li|tr|td|th|dt|dd",
)
"""The elements of HTML whose ends part a text, coarsest first."""


class _Line(NamedTuple):
    text: str
    start: int
    is_fenced: bool
    """Whether it belongs to a block of code of Markdown."""


def _lines(text: str) -> Iterator[_Line]:
    start, fence = 0, ""
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        is_fenced = bool(fence) or found is not None
        if not fence and found is not None:
            fence = found[1]
        elif fence and line.strip(" \t\r\n").rstrip(fence[0]) == "" and fence in line:
            fence = ""
        yield _Line(line, start, is_fenced)
        start += len(line)


def _markdown(text: str) -> list[list[int]]:
    """In front of headings: those of the first rank, then those of the second too, …"""
    by_rank: list[list[int]] = [[] for _ in range(6)]
    for line in _lines(text):
        found = None if line.is_fenced else _HEADING.match(line.text)
        if found is not None:
            by_rank[len(found[1]) - 1].append(line.start)
    return _cumulative(by_rank)


def _code(text: str) -> list[list[int]]:
    """In front of what begins behind an empty line: outermost, then further in."""
    by_indent: list[list[int]] = [[] for _ in _INDENTS]
    is_behind_empty = False
    start = 0
    for line in text.splitlines(keepends=True):
        rest = line.expandtabs(4).lstrip(" ")
        is_empty = not rest.strip()
        if is_behind_empty and not is_empty and rest[0] not in ")]}":
            indent = len(line.expandtabs(4)) - len(rest)
            for level, most in enumerate(_INDENTS):
                if indent <= most:
                    by_indent[level].append(start)
                    break
        is_behind_empty = is_empty
        start += len(line)
    return _cumulative(by_indent)


def _html(text: str) -> list[list[int]]:
    """Behind the ends of sections, then of blocks too, then of rows and entries."""
    levels = []
    for tags in _TAGS:
        breaks = "|<br ?/?>" if "li" in tags else ""
        ends = re.compile(rf"(?:</(?:{tags})[ \t\r\n]*>{breaks})[ \t\r\n]*", re.IGNORECASE)
        levels.append([match.end() for match in ends.finditer(text)])
    return _cumulative(levels)


def _cumulative(levels: Sequence[list[int]]) -> list[list[int]]:
    """Each level with the places of those before it; without levels that have no more."""
    joined = accumulate(levels, lambda before, more: sorted({*before, *more}))
    return [level for level, more in zip(joined, levels, strict=True) if more and level != [0]]


KINDS: Final[dict[str, Callable[[str], list[list[int]]]]] = {
    "markdown": _markdown,
    "code": _code,
    "html": _html,
}
"""What texts have parts of their own, and the places where these begin."""


class Table(NamedTuple):
    """A table of Markdown: its head, and where the rows below it stand."""

    head: str
    """The names of the columns and the line below them."""
    start: int
    end: int


def tables(text: str) -> list[Table]:
    """The tables of a text of Markdown, in order.

    Example:
        >>> tables("| a | b |\\n| --- | --- |\\n| 1 | 2 |\\n")
        [Table(head='| a | b |\\n| --- | --- |\\n', start=24, end=34)]
    """
    found = []
    lines = [*_lines(text), _Line("", len(text), False)]
    at = 0
    while at + 2 < len(lines):
        names, rule = lines[at], lines[at + 1]
        is_head = "|" in names.text and "|" in rule.text and not (names.is_fenced or rule.is_fenced)
        if not is_head or _RULE.match(rule.text.rstrip("\r\n")) is None:
            at += 1
            continue
        start = at = at + 2
        while "|" in lines[at].text and not lines[at].is_fenced:
            at += 1
        found.append(Table(names.text + rule.text, lines[start].start, lines[at].start))
    return found


def head_of(place: int, within: Sequence[Table]) -> str:
    """The head of the table among whose rows a place stands; empty where it stands in none."""
    index = bisect_right(within, place, key=lambda table: table.start) - 1
    return within[index].head if index >= 0 and place < within[index].end else ""
