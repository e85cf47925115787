"""Bytes and numbers in a readable form: white space, odd bytes, bars, numbers with words.

Look here for what `·`, `⏎` and `‹e2 96›` mean, wherever a token is shown, and for how control
characters are made harmless.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import re
import unicodedata
from collections.abc import Sequence
from typing import Final, TypeVar

_HIDDEN = frozenset(
    map(chr, [0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)])
) - {"\u200d"} | {"\ufeff"}
"""Characters that a terminal does not show, or that turn its text around; not what joins emoji."""

_BROKEN = re.compile("([\udc80-\udcff]+)")
"""Bytes that are not UTF-8, as `surrogateescape` decodes them."""

_SIGNS = {" ": "·", "\t": "→", "\n": "⏎", "\r": "␍", "\x7f": "␡", "\u00a0": "⍽"}

CONTROLS: Final = {
    **{code: chr(0x2400 + code) for code in range(32)},
    127: "␡",
    **{
        code: f"‹U+{code:04X}›"
        for code in (*range(0x80, 0xA0), 0x61C, 0x180E, 0x200B, 0x200E, 0x200F,
                     *range(0x2028, 0x202F), *range(0x2060, 0x2070), *range(0xD800, 0xE000),
                     0xFEFF, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))
    },
    **{0xDC00 + byte: f"‹{byte:02x}›" for byte in range(0x80, 0x100)},
}  # fmt: skip
"""A sign for each character that could move the cursor, turn text or hide it, and for each lone
surrogate, which no stream takes: U+DC80 to U+DCFF are bytes of a file's name. U+200C and U+200D
join letters and emoji; they move nothing, and stay."""

_CONTROLS_IN_LINES: Final = {code: sign for code, sign in CONTROLS.items() if code not in (9, 10)}

_T = TypeVar("_T")


def visible(data: bytes) -> str:
    r"""The bytes of a token as text in which nothing is invisible.

    >>> visible("\u0301".encode()), visible("\ufe0f".encode())
    ('◌́', '‹U+FE0F›')
    >>> visible(b" the"), visible(b"\n\n"), visible("é".encode()), visible(b"\xe2\x96")
    ('·the', '⏎⏎', 'é', '‹e2 96›')
    """
    start, text = leaning(data.decode("utf-8", "surrogateescape"))
    return start + "".join(
        f"‹{part.encode('utf-8', 'surrogateescape').hex(' ')}›"
        if _BROKEN.match(part)
        else "".join(map(_sign, part))
        for part in _BROKEN.split(text)
    )


def visible_pieces(tokens: Sequence[bytes]) -> list[str]:
    """Each token of a text as `visible` shows it; a character split over tokens is shown in each.

    >>> visible_pieces([b"a ", b"\\xe5\\x9b", b"\\xb3", b"b"])
    ['a·', '図‹1/2›', '図‹2/2›', 'b']
    >>> visible_pieces([b"\\xe5", b"b"])
    ['‹e5›', 'b']
    """
    text = b"".join(tokens)
    ends = list(itertools.accumulate(map(len, tokens)))
    pieces, place, split = [], 0, (0, 0)
    for number, (token, end) in enumerate(zip(tokens, ends, strict=True)):
        parts, at = "", place
        while at < end:
            if not split[0] <= at < split[1]:
                split = _split_character(text, at, end)
            inside = split[0] <= at < split[1]
            stop = min(end, split[1]) if inside else min(end, max(split[0], at))
            stop = end if stop == at else stop
            if inside:
                first, last = (bisect.bisect_right(ends, it) for it in (split[0], split[1] - 1))
                holding = [it for it in range(first, last + 1) if tokens[it]]
                of = f"‹{holding.index(number) + 1}/{len(holding)}›"
                parts += visible(text[slice(*split)]) + of
            else:
                parts += visible(text[at:stop])
            at = stop
        pieces.append(parts if token else "")
        place = end
    return pieces


def _split_character(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """The span of the character that begins at or after `begin` and ends past `end`, if any."""
    for start in range(max(begin, end - 3), end):
        length = 4 if text[start] >= 0xF0 else 3 if text[start] >= 0xE0 else 2
        if text[start] >= 0xC2 and start + length > end:
            try:
                text[start : start + length].decode()
            except UnicodeDecodeError:
                continue
            return start, start + length
    return end, end


def leaning(text: str) -> tuple[str, str]:
    r"""What shows the first character of a text, if it leans on one before it; and the rest.

    >>> leaning("\u0301e"), leaning("\ufe0f"), leaning("e")
    (('◌́', 'e'), ('‹U+FE0F›', ''), ('', 'e'))
    """
    if not text or unicodedata.category(text[0]) not in ("Mn", "Mc", "Me", "Cf"):
        return "", text
    character, rest = text[0], text[1:]
    selector = 0xFE00 <= ord(character) <= 0xFE0F or ord(character) >= 0xE0000
    if unicodedata.category(character) == "Cf" or selector:
        return f"‹U+{ord(character):04X}›", rest
    return f"◌{character}", rest


def _sign(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character < " ":
        return chr(0x2400 + ord(character))
    category = unicodedata.category(character)
    if category in ("Cc", "Cn", "Co", "Cs", "Zl", "Zp", "Zs") or character in _HIDDEN:
        return f"‹U+{ord(character):04X}›"
    return character


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number before its words; by default an `s` makes the plural.

    >>> counted(1, "token"), counted(1200, "token")
    ('1 token', '1,200 tokens')
    >>> counted(1, "token holds", "tokens hold"), counted(2, "token holds", "tokens hold")
    ('1 token holds', '2 tokens hold')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def bar(share: float, width: int) -> str:
    """A bar of up to `width` columns, in eighths.

    >>> bar(0.5, 4), bar(1.0, 4), bar(0.3, 4)
    ('██', '████', '█▎')
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    parts: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")
    return "█" * (eighths // 8) + parts[eighths % 8]


def printable(text: str, *, lines: bool = True) -> str:
    r"""A text in which every character that could move the cursor or turn text is a sign for it.
    `lines`: whether line ends and tabs stay as they are.

    >>> printable("a\x1b[2J\n\u202eb"), printable("a\n", lines=False), printable("\udc9b")
    ('a␛[2J\n‹U+202E›b', 'a␊', '‹9b›')
    """
    return text.translate(_CONTROLS_IN_LINES if lines else CONTROLS)


def without_controls(cells: _T) -> _T:
    r"""A text as `printable` makes it, with signs for line ends and tabs, too.

    A text that begins with a combining mark gets a `◌` to carry it.
    Of a tuple or a dataclass, every text in it.

    >>> without_controls("a\x1b[31m\u202eb"), without_controls(("\u0301",))
    ('a␛[31m‹U+202E›b', ('◌́',))
    """
    if isinstance(cells, str):
        return "".join(leaning(printable(cells, lines=False)))  # type: ignore[return-value]
    if isinstance(cells, tuple):
        return tuple(map(without_controls, cells))  # type: ignore[return-value]
    if dataclasses.is_dataclass(cells) and not isinstance(cells, type):
        fields = {it.name: getattr(cells, it.name) for it in dataclasses.fields(cells)}
        return dataclasses.replace(
            cells, **{name: without_controls(value) for name, value in fields.items()}
        )
    return cells
