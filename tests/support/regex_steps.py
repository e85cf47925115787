"""A backtracking matcher that counts its steps, and texts on which an expression may take many.

Look here for how `test_regular_expressions.py` finds an expression whose time grows faster than
its input: steps are counted, since times vary. The matcher runs what Python's own parser makes of
an expression, in the order in which Python tries it, without its short cuts.
"""

from __future__ import annotations

import functools
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_constants as op
    import sre_parse

__all__ = ["Matcher", "TooManySteps", "attacks", "steps", "tree_of"]

Then = Callable[[int], int]
"""What follows: returns the end of the whole match, or -1."""

_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda it: it.isalnum() or it == "_",
    op.CATEGORY_NOT_DIGIT: lambda it: not it.isdecimal(),
    op.CATEGORY_NOT_SPACE: lambda it: not it.isspace(),
    op.CATEGORY_NOT_WORD: lambda it: not (it.isalnum() or it == "_"),
}
_CHARACTERS = [chr(code) for code in [*range(32, 127), 10, 13, 9, 0xE9, 0x3000, 0x7F, 0xD800]]
_POSSESSIVE = getattr(op, "POSSESSIVE_REPEAT", None)
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, _POSSESSIVE)
_ATOMIC = getattr(op, "ATOMIC_GROUP", None)


class TooManySteps(Exception):
    """The budget is used up."""


class Matcher:
    """Matches what Python's parser made of an expression, and counts its steps."""

    def __init__(self, tree: Any, flags: int, text: str, budget: int) -> None:
        self.tree, self.flags, self.text, self.budget = tree, flags, text, budget
        self.steps = 0
        self.groups: dict[int, tuple[int, int]] = {}

    def match(self, at: int) -> int:
        """The end of the match at a place; -1 if there is none."""
        self.groups.clear()
        return self._all(list(self.tree), 0, at, lambda end: end)

    def _fits(self, node: tuple[Any, Any], character: str) -> bool:
        kind, value = node
        if kind is op.ANY:
            return bool(self.flags & re.DOTALL) or character != "\n"
        if kind is op.IN:
            negated = value[0][0] is op.NEGATE
            return any(self._fits(it, character) for it in value[negated:]) != negated
        if kind is op.CATEGORY:
            return _CATEGORIES[value](character)
        forms = {character, character.lower(), character.upper()}
        if not self.flags & re.IGNORECASE:
            forms = {character}
        if kind is op.RANGE:
            return any(len(it) == 1 and value[0] <= ord(it) <= value[1] for it in forms)
        return any(len(it) == 1 and ord(it) == value for it in forms) != (kind is op.NOT_LITERAL)

    def _all(self, nodes: list[Any], index: int, at: int, then: Then) -> int:
        """The end of a match of the nodes from an index on, and of what follows."""
        while index < len(nodes):
            self.steps += 1
            if self.steps > self.budget:
                raise TooManySteps
            kind, value = nodes[index]
            index += 1
            if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
                if at >= len(self.text) or not self._fits((kind, value), self.text[at]):
                    return -1
                at += 1
            elif kind is op.AT:
                if not self._is_at(value, at):
                    return -1
            elif kind in (op.ASSERT, op.ASSERT_NOT):
                if self._asserted(value, at) != (kind is op.ASSERT):
                    return -1
            else:
                rest = functools.partial(self._all, nodes, index, then=then)
                return self._branching(kind, value, at, rest)
        return then(at)

    def _branching(self, kind: Any, value: Any, at: int, then: Then) -> int:
        if kind is op.BRANCH:
            ends = (self._all(list(it), 0, at, then) for it in value[1])
            return next((end for end in ends if end >= 0), -1)
        if kind is op.SUBPATTERN:
            group, *_, inner = value

            def close(end: int) -> int:
                if group is not None:
                    self.groups[group] = (at, end)
                return then(end)

            return self._all(list(inner), 0, at, close)
        if kind is _ATOMIC:
            end = self._all(list(value), 0, at, lambda it: it)
            return -1 if end < 0 else then(end)
        if kind is op.GROUPREF:
            start, end = self.groups.get(value, (0, -1))
            same = end >= 0 and self.text.startswith(self.text[start:end], at)
            return then(at + end - start) if same else -1
        if kind in _REPEATS:
            return self._repeated(kind, value, at, then)
        raise NotImplementedError(kind)

    def _repeated(self, kind: Any, value: Any, at: int, then: Then) -> int:
        least, most, inner = int(value[0]), int(value[1]), list(value[2])
        single = len(inner) == 1 and inner[0][0] in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)
        if single:
            most = min(most, len(self.text) - at)
            count = 0
            while count < most and self._fits(inner[0], self.text[at + count]):
                count += 1
            self.steps += count
            if count < least:
                return -1
            counts = range(count, least - 1, -1)
            if kind is op.MIN_REPEAT:
                counts = range(least, count + 1)
            elif kind is _POSSESSIVE:
                counts = range(count, count + 1)
            for it in counts:
                self.steps += 1
                end = then(at + it)
                if end >= 0:
                    return end
            return -1
        if kind is _POSSESSIVE:
            for _ in range(most):
                end = self._all(inner, 0, at, lambda it: it)
                if end <= at:
                    break
                at = end
            return then(at)

        def more(count: int, at: int, before: int) -> int:
            def again(end: int) -> int:
                return more(count + 1, end, at)

            if count < least:
                return self._all(inner, 0, at, again)
            if count >= most or at == before:
                return then(at)
            if kind is op.MIN_REPEAT:
                end = then(at)
                return end if end >= 0 else self._all(inner, 0, at, again)
            end = self._all(inner, 0, at, again)
            return end if end >= 0 else then(at)

        return more(0, at, -1)

    def _is_at(self, where: Any, at: int) -> bool:
        text = self.text
        if where in (op.AT_BOUNDARY, op.AT_NON_BOUNDARY):
            word = _CATEGORIES[op.CATEGORY_WORD]
            before = at > 0 and word(text[at - 1])
            behind = at < len(text) and word(text[at])
            return (before != behind) == (where is op.AT_BOUNDARY)
        if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            lines = where is op.AT_BEGINNING and bool(self.flags & re.MULTILINE)
            return at == 0 or (lines and text[at - 1] == "\n")
        if where is op.AT_END:
            lines = bool(self.flags & re.MULTILINE) and text[at : at + 1] == "\n"
            return at == len(text) or lines or text[at:] == "\n"
        return at == len(text)

    def _asserted(self, value: Any, at: int) -> bool:
        direction, inner = value
        if direction < 0:
            at -= inner.getwidth()[0]
        return at >= 0 and self._all(list(inner), 0, at, lambda end: end) >= 0


def steps(pattern: re.Pattern[Any], text: str, *, scans: bool, budget: int = 60_000) -> int:
    """The steps of looking for all matches in a text, or of one match at its start.

    Raises:
        TooManySteps: There are more than `budget`.
    """
    matcher = Matcher(tree_of(pattern), pattern.flags, text, budget)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        at = 0
        while at <= len(text):
            end = matcher.match(at)
            if not scans:
                break
            at = max(end, at + 1)
    finally:
        sys.setrecursionlimit(limit)
    return matcher.steps


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Texts that may take long, as what comes first, what is repeated, and what comes last.

    What is repeated is an example of each part of the expression, of what leads to it with it, and
    each kind of character that a part can begin with.
    """
    tree = tree_of(pattern)
    found: dict[tuple[str, str], None] = {}
    for before, part in _parts(list(tree), ""):
        example = _example(part)
        for pump in (example, before + example, _example(part, variant=1), example[:1]):
            if pump:
                found[("", pump)] = None
                found[(before, pump)] = None
    for before, pump in found:
        for after in ("", "\x00"):
            yield before, pump, after


def tree_of(pattern: re.Pattern[Any]) -> Any:
    """What Python's parser makes of an expression."""
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    return sre_parse.parse(text, pattern.flags & (re.I | re.S | re.M | re.X))


def _parts(nodes: list[Any], before: str) -> Iterator[tuple[str, list[Any]]]:
    """Each run of nodes up to a repeat and each body of one, with what leads to it."""
    for index, (kind, value) in enumerate(nodes):
        lead = before + _example(nodes[:index])
        if kind in _REPEATS:
            yield lead, list(value[2])
            yield lead, [(kind, value)]
            yield from _parts(list(value[2]), lead)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _parts(list(branch), lead)
        elif kind is op.SUBPATTERN:
            yield from _parts(list(value[-1]), lead)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _parts(list(value[1]), lead)
    if nodes:
        yield before, nodes


def _example(nodes: list[Any], variant: int = 0) -> str:
    """A text that the nodes match, if they can alone: each repeat twice or as often as it must."""
    text = ""
    for kind, value in nodes:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            if kind is op.LITERAL:
                text += chr(value)
                continue
            matcher = Matcher((), 0, "", 0)
            fitting = [it for it in _CHARACTERS if matcher._fits((kind, value), it)]
            text += fitting[-variant % len(fitting)] if fitting else ""
        elif kind in _REPEATS:
            least, most = int(value[0]), int(value[1])
            text += _example(list(value[2]), variant) * max(least, min(most, 1 + variant))
        elif kind is op.BRANCH:
            text += _example(list(value[1][variant % len(value[1])]), variant)
        elif kind is op.SUBPATTERN:
            text += _example(list(value[-1]), variant)
        elif kind is _ATOMIC:
            text += _example(list(value), variant)
    return text
