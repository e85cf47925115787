"""Where the parts of Markdown, of code and of HTML begin, coarsest first; the heads of tables.

Look here for what `boundaries="markdown"`, `"code"` and `"html"` mean. Each returns levels of
positions; a level includes the positions of the coarser ones. Headings and code blocks of Markdown
are those of CommonMark (https://spec.commonmark.org), read line by line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
"""Makes the paragraph in front of it a heading."""
_CONTAINER: Final = re.compile(r" {0,3}(?:>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))")
"""The start of a quote or list item, which goes on up to an empty line."""
_CODE: Final = re.compile(r"(?: {4}| {0,3}\t)")
_BREAK: Final = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FIELD: Final = re.compile(r"[\w-]+:")
"""The start of the first line of front matter."""
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE: Final = re.compile(r"[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$")
"""The line between the head of a table and its rows."""
_INDENTS: Final = (0, 4, 8)
"""Columns up to which the parts of code begin."""
_TAGS: Final = (
    "section|article|main|header|footer|nav|aside|body|head",
    "p|div|ul|ol|dl|table|blockquote|pre|figure|form|h[1-6]",
    "li|tr|td|th|dt|dd",
)
"""The elements of HTML after which a text is split, coarsest first; headings follow the first."""
_HTML_HEADING: Final = re.compile(r"<h([1-6])(?=[ \t\r\n>])", re.IGNORECASE)
_OF_TABLES: Final = re.compile(
    r"<(/?)(table|thead|tr|th|td)(?:[ \t\r\n][^<>]*)?>[ \t\r\n]*", re.IGNORECASE
)


class _Line(NamedTuple):
    text: str
    start: int
    is_fenced: bool
    """Whether it belongs to a block of code of Markdown."""
    opens: bool = False
    """Whether it begins one."""


def _lines(text: str) -> Iterator[_Line]:
    start, fence = 0, ""
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line)
        is_fenced = bool(fence) or match is not None
        opens = not fence and match is not None
        if not fence and match is not None:
            fence = match[1]
        elif fence and line.strip(" \t\r\n").rstrip(fence[0]) == "" and fence in line:
            fence = ""
        yield _Line(line, start, is_fenced, opens)
        start += len(line)


def _markdown(text: str) -> list[list[int]]:
    """Before headings: of level 1, then of level 2 too, …; then around blocks of code."""
    levels: list[list[int]] = [[] for _ in range(7)]
    *by_rank, around_code = levels
    paragraph: int | None = None
    """Where the paragraph begins that a line may continue."""
    was_fenced = is_contained = False
    lines = [*_lines(text)]
    for line in lines[_front_matter_lines(lines) :]:
        content = line.text.rstrip("\r\n")
        if line.opens or was_fenced > line.is_fenced:
            around_code.append(line.start)
        was_fenced = line.is_fenced
        heading = None if line.is_fenced else _HEADING.match(content)
        underline = None if paragraph is None else _UNDERLINE.match(content)
        if heading is not None:
            by_rank[len(heading[1]) - 1].append(line.start)
        elif underline is not None and not line.is_fenced and paragraph is not None:
            by_rank["=-".index(underline[1][0])].append(paragraph)
        elif content.strip() and not line.is_fenced and _BREAK.match(content) is None:
            is_contained = is_contained or _CONTAINER.match(content) is not None
            if is_contained:
                paragraph = None
            elif paragraph is None and _CODE.match(content) is None:
                paragraph = line.start
            continue
        paragraph, is_contained = None, False
    return _cumulative(levels)


def _front_matter_lines(lines: list[_Line]) -> int:
    """How many lines are front matter: fields between two `---` that a text may begin with."""
    if len(lines) > 1 and lines[0].text.rstrip() == "---" and _FIELD.match(lines[1].text):
        for number, line in enumerate(lines[1:], 2):
            if line.text.rstrip() in ("---", "..."):
                return number
    return 0


def _code(text: str) -> list[list[int]]:
    """Before the lines that follow an empty line: outermost, then further in."""
    by_indent: list[list[int]] = [[] for _ in _INDENTS]
    is_behind_empty = False
    start = 0
    for line in text.splitlines(keepends=True):
        rest = line.expandtabs(4).lstrip(" ")
        is_empty = not rest.strip()
        if is_behind_empty and not is_empty and rest[0] not in ")]}":
            indent = len(line.expandtabs(4)) - len(rest)
            for level, limit in enumerate(_INDENTS):
                if indent <= limit:
                    by_indent[level].append(start)
                    break
        is_behind_empty = is_empty
        start += len(line)
    return _cumulative(by_indent)


def _html(text: str) -> list[list[int]]:
    """After sections, then before headings by level, then after blocks, then after entries."""
    levels = []
    for tags in _TAGS:
        breaks = "|<br ?/?>" if "li" in tags else ""
        ends = re.compile(rf"(?:</(?:{tags})[ \t\r\n]*>{breaks})[ \t\r\n]*", re.IGNORECASE)
        levels.append([match.end() for match in ends.finditer(text)])
    headings: list[list[int]] = [[] for _ in range(6)]
    for match in _HTML_HEADING.finditer(text):
        headings[int(match[1]) - 1].append(match.start())
    return _cumulative([levels[0], *headings, *levels[1:]])


def _cumulative(levels: Sequence[list[int]]) -> list[list[int]]:
    """Each level with the positions of the coarser ones; without levels that add none."""
    unions = accumulate(levels, lambda before, more: sorted({*before, *more}))
    return [level for level, more in zip(unions, levels, strict=True) if more and level != [0]]


KINDS: Final[dict[str, Callable[[str], list[list[int]]]]] = {
    "markdown": _markdown,
    "code": _code,
    "html": _html,
}
"""The kinds of text, each with the function that returns where its parts begin."""


class TableWithHead(NamedTuple):
    """A table: its head, and where the rows below it are."""

    head: str
    """The names of the columns and the line below them; in HTML, everything up to the end of
    `<thead>`, or of the first row if that has only `<th>`."""
    start: int
    end: int


def _markdown_tables(text: str) -> list[TableWithHead]:
    """The tables of a text of Markdown, in order.

    Example:
        >>> _markdown_tables("| a | b |\\n| --- | --- |\\n| 1 | 2 |\\n")
        [TableWithHead(head='| a | b |\\n| --- | --- |\\n', start=24, end=34)]
    """
    tables = []
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
        tables.append(TableWithHead(names.text + rule.text, lines[start].start, lines[at].start))
    return tables


def _html_tables(text: str) -> list[TableWithHead]:
    """The tables of HTML that have a head, in order, without those inside others.

    Example:
        >>> _html_tables("<table><tr><th>a</th></tr><tr><td>1</td></tr></table>")
        [TableWithHead(head='<table><tr><th>a</th></tr>', start=26, end=45)]
    """
    tables = []
    depth = begin = 0
    head: int | None = None
    """Where the head ends."""
    in_head = has_names = has_cells = False
    for match in _OF_TABLES.finditer(text):
        ends, tag = bool(match[1]), match[2].lower()
        if tag == "table":
            if not ends and depth == 0:
                begin, head = match.start(), None
                in_head = has_names = has_cells = False
            elif ends and depth == 1 and head is not None:
                tables.append(TableWithHead(text[begin:head], head, match.start()))
            depth = max(depth - 1, 0) if ends else depth + 1
        elif depth != 1 or head is not None:
            continue
        elif tag == "thead":
            in_head = not ends
            if ends:
                head = match.end()
        elif tag == "tr" and ends and has_names and not (in_head or has_cells):
            head = match.end()
        elif not ends:
            has_names, has_cells = has_names or tag == "th", has_cells or tag == "td"
    if depth and head is not None:
        tables.append(TableWithHead(text[begin:head], head, len(text)))
    return tables


TABLES: Final[dict[str, Callable[[str], list[TableWithHead]]]] = {
    "markdown": _markdown_tables,
    "html": _html_tables,
}
"""For the kinds of text that have tables, the function that finds them."""


def head_of(place: int, within: Sequence[TableWithHead]) -> str:
    """The head of the table whose rows contain a position; empty if none does."""
    index = bisect_right(within, place, key=lambda table: table.start) - 1
    return within[index].head if index >= 0 and place < within[index].end else ""
