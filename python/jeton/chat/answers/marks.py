"""Marks of a format as regular expressions over text in which control tokens are single symbols.

A control token becomes a surrogate, which no decoded text holds. So a mark that is a token is found
by its id alone, a mark of plain text by its characters, and one search looks for both.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from jeton.chat.answers import readers
from jeton.chat.answers.formats import END, Format, State

__all__ = ["Compiled", "CompiledState", "compiled"]

_FIRST: Final = 0xD800
_MAX_SYMBOLS: Final = 0x800
_SYMBOL: Final = re.compile("[\ud800-\udfff]")
_SPACE: Final = " \t\r\n"
_OPEN: Final = ("{", "[")
_LONG: Final = 100
_MAX_AHEAD: Final = 256
_AHEAD: Final = rf"\s{{0,{_MAX_AHEAD}}}"
"""White space after a mark that counts only before certain texts."""


@dataclass(frozen=True)
class _Mark:
    text: str
    """The mark as in the format."""
    before: str
    core: str
    after: str
    kept: str
    """The bracket that belongs to what follows."""
    state: str
    followed_by: tuple[str, ...] = ()
    """What has to follow, after some white space; nothing if anything may."""

    @functools.cached_property
    def is_text(self) -> bool:
        """Whether it holds no control token."""
        return not _SYMBOL.search(self.core)

    def expression(self, longer: Iterable[str] | None = None) -> str:
        """A regular expression for the mark.

        Args:
            longer: Marks that begin with it; it is none of these, nor is there too little text to
                tell. `None` if no text follows.
        """
        before = ""
        for character in self.before:
            before = f"(?:{before}{re.escape(character)})?"
        ahead = f"(?={re.escape(self.kept)})" if self.kept else ""
        if self.followed_by:
            following = [*map(re.escape, self.followed_by), *["\\Z"] * (longer is None)]
            ahead = rf"(?={_AHEAD}(?:{'|'.join(following)}))"
        if rests := [it[len(self.core) :] for it in longer or ()]:
            ahead += rf"(?!(?:{'|'.join(_longest_first(_beginnings(rests)))})?\Z)"
        return f"({before}{re.escape(self.core)}{ahead})"

    def beginnings(self) -> set[str]:
        """Regular expressions for ends of a text that may become this mark."""
        befores = [self.before[at:] for at in range(len(self.before) + 1)]
        found = _beginnings([it + self.core + self.kept for it in befores])
        if self.followed_by:
            ahead = "|".join(_longest_first(_beginnings(self.followed_by)))
            found |= {re.escape(it + self.core) + rf"{_AHEAD}(?:{ahead})?" for it in befores}
        return found


def _longest_first(expressions: Iterable[str]) -> list[str]:
    return sorted(expressions, key=len, reverse=True)


def _beginnings(texts: Iterable[str]) -> set[str]:
    return {re.escape(it[:length]) for it in texts for length in range(1, len(it))}


@dataclass(frozen=True)
class CompiledState:
    """A state, ready to be searched for its marks."""

    name: str
    spec: State
    expression: re.Pattern[str]
    """Its marks, each a group."""
    last_expression: re.Pattern[str]
    """The same, if no text follows."""
    tail_expression: re.Pattern[str]
    """The end of a text that may be the beginning of a mark."""
    hot: Callable[[str], re.Match[str] | None]
    """Searches for the characters without which a text holds neither."""
    marks: tuple[_Mark, ...]
    pattern: re.Pattern[str] | None
    routes: tuple[tuple[re.Pattern[str], str], ...]

    def mark(self, text: str, at: int, *, last: bool = False) -> re.Match[str] | None:
        """The first mark from a place on; `last` if no text follows."""
        expression = self.last_expression if last else self.expression
        if len(text) - at > _LONG:
            # Looking for a part of each mark is ten times as fast as the expression.
            starts = [it for core in self.cores if (it := text.find(core, at)) >= 0]
            if not starts:
                return None
            at = max(at, min(starts) - self.reach)
        return expression.search(text, at)

    def tail(self, text: str, at: int) -> int:
        """Where the end of a text begins that may become a mark."""
        match = self.tail_expression.search(text, max(at, len(text) - self.longest))
        return match.start() if match else len(text)

    @functools.cached_property
    def cores(self) -> frozenset[str]:
        """What each text with a mark has one of."""
        return frozenset(it.core or it.kept for it in self.marks)

    @functools.cached_property
    def reach(self) -> int:
        """How much of a mark may be in front of that."""
        return max((len(it.before) for it in self.marks), default=0)

    @functools.cached_property
    def longest(self) -> int:
        """The characters of the longest mark, and of what has to follow it."""
        return max(
            (
                len(it.before + it.core + it.kept)
                + (_MAX_AHEAD + max(map(len, it.followed_by)) if it.followed_by else 0)
                for it in self.marks
            ),
            default=0,
        )


@dataclass(frozen=True)
class Compiled:
    """A format for the tokens of a tokenizer."""

    format: Format
    states: Mapping[str, CompiledState]
    symbols: Mapping[int, str]
    """By id."""
    spellings: Mapping[str, str]
    """By symbol."""
    quote: str
    """The mark around strings in Gemma's braces."""
    with_symbols: Callable[[str], str]
    """Puts symbols in place of the control tokens in a text of the template."""

    @functools.cached_property
    def endings(self) -> dict[str, list[bool]]:
        """Whether each mark ends an answer, by state."""
        done = {name for name, state in self.states.items() if state.spec.done or name == END}
        found: dict[str, list[bool]] = {}
        for mark in [mark for state in self.states.values() for mark in state.marks]:
            found.setdefault(mark.core, []).append(mark.state in done)
        return found

    def spelled(self, text: str) -> str:
        """The text with symbols as their tokens are spelled."""
        if text.isascii():
            return text
        return _SYMBOL.sub(lambda match: self.spellings.get(match[0], "\ufffd"), text)


def compiled(
    format: Format,
    tokens: Mapping[str, int],
    ends: Iterable[str],
    written: str | None = None,
) -> Compiled:
    """A format, ready for use.

    Args:
        format: The format.
        tokens: The control tokens with their ids; empty where there is only text.
        ends: Marks that end an answer in any state.
        written: What the template writes. Marks of plain text among words that are not in it are
            left out; `None` keeps all.
    """
    ends = list(ends)
    spelled = "\n".join(
        (format.quote, *(it for state in format.states.values() for it in state.marks))
    )
    used = [it for it in tokens if it in spelled or any(it in end for end in ends)]
    used = sorted(used, key=len, reverse=True)[:_MAX_SYMBOLS]
    symbol_of = {it: chr(_FIRST + at) for at, it in enumerate(used)}
    pattern = re.compile("|".join(map(re.escape, used)) or "(?!)")

    def with_symbols(text: str) -> str:
        return pattern.sub(lambda match: symbol_of[match[0]], text)

    # The bracket at the end of a mark in front of these belongs to them.
    keeping = {name for name, state in format.states.items() if state.takes in readers.READERS}
    states = {
        name: _state(name, state, with_symbols, ends, written, bool(tokens), keeping)
        for name, state in {**format.states, END: State("space")}.items()
    }
    for name, state in states.items():
        if state.spec.takes == "value":
            states[name] = _with_look_ahead(state, states)
    return Compiled(
        format,
        states,
        {tokens[it]: symbol for it, symbol in symbol_of.items()},
        {symbol: it for it, symbol in symbol_of.items()},
        symbol_of.get(format.quote, format.quote),
        with_symbols,
    )


def _state(
    name: str,
    state: State,
    with_symbols: Callable[[str], str],
    ends: list[str],
    written: str | None,
    has_tokens: bool,
    keeping: Collection[str],
) -> CompiledState:
    marks = []
    for text, target in state.marks.items():
        mark = _mark(text, target, with_symbols, keeps=target in keeping)
        is_written = written is None or mark.text.strip(_SPACE) in written
        if mark.is_text and state.takes in ("content", "reasoning") and not is_written:
            continue
        if mark.is_text and state.takes == "reasoning" and target == "calls" and has_tokens:
            continue  # reasoning may well mention a mark
        marks.append(mark)
    known = {mark.core for mark in marks}
    if name != END:
        marks += [it for end in ends if (it := _mark(end, END, with_symbols)).core not in known]
    return _searched(name, state, marks)


def _with_look_ahead(state: CompiledState, states: Mapping[str, CompiledState]) -> CompiledState:
    """The state of a value, which a mark of plain text ends only if the call goes on behind it."""
    marks = []
    for mark in state.marks:
        following = states[mark.state].marks if mark.is_text and mark.state != END else ()
        cores = tuple(it.core for it in following)
        marks.append(dataclasses.replace(mark, followed_by=cores))
    return _searched(state.name, state.spec, marks)


def _searched(name: str, state: State, marks: list[_Mark]) -> CompiledState:
    marks = sorted(marks, key=lambda it: -len(it.core))
    found: set[str] = set().union(*(it.beginnings() for it in marks))
    beginnings = _longest_first(found)
    longer = [
        [a.core for a in marks if a.core != b.core and a.core.startswith(b.core)] for b in marks
    ]
    hot = {(it.core + it.kept)[:1] for it in marks} | {c for it in marks for c in it.before}
    spelled = re.escape("".join(sorted(hot)))
    return CompiledState(
        name,
        state,
        re.compile("|".join(map(_Mark.expression, marks, longer)) or "(?!)"),
        re.compile("|".join(map(_Mark.expression, marks)) or "(?!)"),
        re.compile(f"(?:{'|'.join(beginnings)})\\Z" if beginnings else "(?!)"),
        re.compile(f"[{spelled}\ud800-\udfff]").search,
        tuple(marks),
        re.compile(state.pattern, re.DOTALL) if state.pattern else None,
        tuple((re.compile(route, re.DOTALL), target) for route, target in state.routes),
    )


def _mark(
    text: str, target: str, with_symbols: Callable[[str], str], *, keeps: bool = False
) -> _Mark:
    """A mark. `keeps`: a bracket at its end belongs to the text that follows."""
    spelled = with_symbols(text)  # a token may have white space at its ends
    body = spelled.strip(_SPACE)
    kept = body[-1] if keeps and body.endswith(_OPEN) else ""
    body = body[: len(body) - len(kept)]
    if not body and not kept:
        return _Mark(text, "", spelled, "", "", target)
    at = spelled.index(body + kept)
    after = spelled[at + len(body) + len(kept) :]
    return _Mark(text, spelled[:at], body, after, kept, target)
