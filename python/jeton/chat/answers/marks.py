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
from typing import Any, Final, Literal, NamedTuple

from jeton.chat.answers import call_readers
from jeton.chat.answers.formats import BARE_CALLS, END, Format, State

_FIRST: Final = 0xD800
_SHORTEST: Final = 4
_BRACKETS: Final = ("<", "[", "]")
"""How marks and control tokens begin, unless they are words."""
_LONG_PROSE: Final = 12
"""Shorter marks of plain text, in brackets or as words, count only where the format has them."""
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
    fault: str = ""
    """What is wrong where it comes; nothing if the format has it there."""
    names: Literal["", "tool", "argument", "call"] = ""
    """What has to follow: the name of a tool, or of an argument of the open call; or the rest of a
    call, and then one of `behind`."""
    behind: tuple[str, ...] = ()
    may_end: bool = False
    """Whether the end of the text will do behind a call."""
    is_draft: bool = False
    """Whether it counts only if its state, reasoning, is never closed."""
    is_stray: bool = False
    """Whether it leads nowhere, so that it is text."""

    @functools.cached_property
    def is_text(self) -> bool:
        """Whether it holds no control token."""
        return not _SYMBOL.search(self.core)

    @property
    def is_prose(self) -> bool:
        """Whether it is plain text that looks like no mark, as a word without a bracket does."""
        return self.is_text and self.core[:1] not in _BRACKETS and not self.kept

    @functools.cached_property
    def shown(self) -> str | None:
        """The mark, if it holds no control token."""
        return (self.text.strip() or self.text) if self.is_text else None

    def expression(self, longer: Iterable[str] | None = None) -> str:
        """A regular expression for the mark. `longer`: longer marks that begin with it, or
        `None` if the text ends here. It matches neither these nor a text too short to tell."""
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


def _either(expressions: Iterable[str]) -> re.Pattern[str]:
    """Any of some expressions; nothing if there are none."""
    return re.compile("|".join(expressions) or "(?!)")


def _longest_first(expressions: Iterable[str]) -> list[str]:
    return sorted(expressions, key=len, reverse=True)


def _beginnings(texts: Iterable[str]) -> set[str]:
    return {re.escape(it[:length]) for it in texts for length in range(1, len(it))}


class Found(NamedTuple):
    """A mark in a text.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        state: The state that it leads to.
        drop: White space after it that belongs to it.
        text_mark: The mark, if it holds no control token.
        captures: What an expression of a description captured.
        mark: The mark of the format.
    """

    start: int
    end: int
    state: str
    drop: str = ""
    text_mark: str | None = None
    captures: Mapping[str, str] | None = None
    mark: _Mark | None = None


@dataclass(frozen=True)
class CompiledState:
    """A state, ready to be searched for its marks."""

    name: str
    spec: State
    marks: tuple[_Mark, ...]

    def next(self, text: str, at: int, *, last: bool) -> tuple[Found | None, int]:
        """The first mark from a place on; if there is none, where the text that is certain ends.
        `last`: no text follows."""
        raise NotImplementedError


@dataclass(frozen=True)
class MarkedState(CompiledState):
    """A state of a format. Its marks are in the order of their length, the longest first."""

    @functools.cached_property
    def expression(self) -> re.Pattern[str]:
        """Its marks, each a group."""
        cores = [it.core for it in self.marks]
        longer = ([a for a in cores if a != b and a.startswith(b)] for b in cores)
        return _either(map(_Mark.expression, self.marks, longer))

    @functools.cached_property
    def last_expression(self) -> re.Pattern[str]:
        """The same, if no text follows."""
        return _either(map(_Mark.expression, self.marks))

    @functools.cached_property
    def tail_expression(self) -> re.Pattern[str]:
        """The end of a text that may be the beginning of a mark."""
        found = set[str]().union(*(it.beginnings() for it in self.marks))
        return _either(rf"(?:{it})\Z" for it in _longest_first(found))

    @functools.cached_property
    def hot(self) -> Callable[[str], re.Match[str] | None]:
        """Searches for the characters without which a text holds neither."""
        first = {(it.core + it.kept)[:1] for it in self.marks}
        first |= {character for it in self.marks for character in it.before}
        return re.compile(f"[{re.escape(''.join(sorted(first)))}\ud800-\udfff]").search

    def next(self, text: str, at: int, *, last: bool) -> tuple[Found | None, int]:
        """As in `CompiledState`."""
        match = self.mark(text, at, last=last)
        if match is None:
            return None, len(text) if last else self.tail(text, at)
        if self.is_nested and not last and (tail := self.tail(text, at)) < match.start():
            return None, tail
        mark = self.mark_of(match)
        return Found(*match.span(), mark.state, mark.after, mark.shown, None, mark), 0

    def mark_of(self, match: re.Match[str]) -> _Mark:
        """The mark that a match is."""
        return self.marks[(match.lastindex or 1) - 1]

    def mark(self, text: str, at: int, *, last: bool = False) -> re.Match[str] | None:
        """The first mark from a place on; `last` if no text follows."""
        if len(text) - at > _LONG:
            # Looking for a part of each mark is ten times as fast as the expression.
            starts = [it for core in self.cores if (it := text.find(core, at)) >= 0]
            if not starts:
                return None
            at = max(at, min(starts) - self.reach)
        return (self.last_expression if last else self.expression).search(text, at)

    def tail(self, text: str, at: int) -> int:
        """Where the end of a text begins that may become a mark."""
        match = self.tail_expression.search(text, max(at, len(text) - self.longest))
        return match.start() if match else len(text)

    @functools.cached_property
    def is_nested(self) -> bool:
        """Whether a mark may be in the middle of another."""
        return any(a.core and a.core in b.core[1:-1] for a in self.marks for b in self.marks)

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
    description: Any = None
    """The description, of a folder that has one."""
    ends: Mapping[str, list[bool]] | None = None
    """What ends an answer by a description, as in `endings`."""

    @functools.cached_property
    def endings(self) -> dict[str, list[bool]]:
        """Whether each mark ends an answer, by state."""
        if self.ends is not None:
            return dict(self.ends)
        done = {name for name, state in self.states.items() if state.spec.done or name == END}
        found: dict[str, list[bool]] = {}
        marks = [mark for state in self.states.values() for mark in state.marks]
        for mark in (it for it in marks if it.state == END or not it.fault):
            found.setdefault(mark.core, []).append(mark.state in done)
        return found

    @functools.cached_property
    def symbol(self) -> re.Pattern[str]:
        """Any symbol."""
        return re.compile(f"[{''.join(self.spellings)}]" if self.spellings else "(?!)")

    @functools.cached_property
    def tokens(self) -> re.Pattern[str]:
        """Whatever spells a control token."""
        return _either(map(re.escape, _longest_first(self.spellings.values())))

    @functools.cached_property
    def any_mark(self) -> re.Pattern[str]:
        """Any mark that is no short prose, and any symbol."""
        marks = {mark.core for state in self.states.values() for mark in state.marks}
        long = {
            it for it in marks if len(it) >= (_SHORTEST if it[:1] in _BRACKETS else _LONG_PROSE)
        }
        symbols = ["[\ud800-\udfff]"] if self.spellings else []
        return _either([*map(re.escape, _longest_first(long)), *symbols])

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
    *,
    recovers: bool = True,
) -> Compiled:
    """A format, ready for use.

    Args:
        tokens: The control tokens with their ids; empty where there is only text.
        ends: Marks that end an answer in any state.
        written: What the template writes. Marks of plain text among words that are not in it are
            left out; `None` keeps all.
        recovers: Whether marks also count where the format does not have them, as a problem.
    """
    ends = list(ends)
    spelled = "\n".join(
        (format.quote, *(it for state in format.states.values() for it in state.marks))
    )
    used = [it for it in tokens if it in spelled or any(it in end for end in ends)]
    others = [it for it in tokens if it not in used and it[:1] in _BRACKETS] if recovers else []
    with_symbols, symbol_of = control_tokens([*used, *others[: _MAX_SYMBOLS - len(used)]])

    # The bracket at the end of a mark in front of these belongs to them.
    keeping = {name for name, state in format.states.items() if state.takes in call_readers.READERS}
    states = {
        name: _state(name, state, with_symbols, ends, written, keeping, recovers=recovers)
        for name, state in {**format.states, END: State("space")}.items()
    }
    for name, state in states.items():
        if state.spec.takes == "value" and not format.nests:
            states[name] = _with_look_ahead(state, states)
    if recovers:
        misplaced = {name: _misplaced(name, states, written) for name in states if name != END}
        for name in (it for it in misplaced if states[it].spec.takes in ("content", "reasoning")):
            for mark in (_mark(it, name, with_symbols) for it in format.unread):
                fault = f"{mark.text!r} begins a call in a format that jeton does not know"
                misplaced[name].append(dataclasses.replace(mark, fault=fault, is_stray=True))
        for name, marks in misplaced.items():
            state = states[name]
            bare = _bare_calls(state, states)
            states[name] = _searched(name, state.spec, [*state.marks, *marks, *bare])
    return Compiled(
        format,
        states,
        {tokens[it]: symbol for it, symbol in symbol_of.items()},
        {symbol: it for it, symbol in symbol_of.items()},
        symbol_of.get(format.quote, format.quote),
        with_symbols,
    )


def control_tokens(
    tokens: Iterable[str],
) -> tuple[Callable[[str], str], dict[str, str]]:
    """Puts symbols in place of control tokens; and the symbol of each."""
    used = _longest_first(tokens)[:_MAX_SYMBOLS]
    symbol_of = {it: chr(_FIRST + at) for at, it in enumerate(used)}
    pattern = _either(map(re.escape, used))
    return lambda text: pattern.sub(lambda match: symbol_of[match[0]], text), symbol_of


def _state(
    name: str,
    state: State,
    with_symbols: Callable[[str], str],
    ends: list[str],
    written: str | None,
    keeping: Collection[str],
    *,
    recovers: bool,
) -> MarkedState:
    marks = []
    for text, target in state.marks.items():
        mark = _mark(text, target, with_symbols, keeps=target in keeping)
        is_written = written is None or mark.text.strip(_SPACE) in written
        if mark.is_text and state.takes in ("content", "reasoning") and not is_written:
            continue
        marks.append(mark)
    known = {mark.core for mark in marks}
    if name != END:
        fault = "the reasoning has no end" if state.takes == "reasoning" and recovers else ""
        found = (_mark(end, END, with_symbols) for end in ends)
        marks += [dataclasses.replace(it, fault=fault) for it in found if it.core not in known]
    return _searched(name, state, marks)


_OUTER: Final = ("content", "space", "head", "inside")
"""Kinds of states whose marks are also looked for in others."""
_NAMED: Final = frozenset(("name", "id", "head"))
"""Kinds of states with which a call begins."""


def _misplaced(name: str, states: Mapping[str, MarkedState], written: str | None) -> list[_Mark]:
    """The marks that a state does not have, but that models write there all the same.

    Among words, marks of plain text count only if the template writes them.

    A control token leads to where it leads elsewhere. So does a mark of plain text, if no words are
    around it; among words, if it names a known tool; in reasoning, if that is never closed.
    """
    spec = states[name].spec
    is_words = spec.takes in ("content", "reasoning")
    known = {it.core for it in states[name].marks}
    # Where the end of a value is missing, the white space around it may be there.
    before = max((it.before + it.after for it in states[name].marks), key=len, default="")
    found: dict[str, _Mark] = {}
    for other in states.values():
        for mark in other.marks:
            core = mark.core
            is_long = not mark.is_text or len(core) >= (_LONG_PROSE if mark.is_prose else _SHORTEST)
            if core in known or core in found or not core or not is_long:
                continue
            if is_words and mark.is_text and written is not None and core not in written:
                continue
            target = states[mark.state].spec.takes if mark.state in states else "head"
            is_outer = other.spec.takes in _OUTER
            is_outer = is_outer or (spec.takes == "key" and other.spec.takes == "value")
            is_lost = not is_outer or mark.state in ("?", END)
            if is_words:
                # Without its call, an argument belongs nowhere.
                is_lost = is_lost or other.spec.takes == "inside" or target in ("key", "value")
            if is_words and mark.is_text:
                is_lost = is_lost or mark.is_prose or not _may_call(states[mark.state], states)
            if is_lost:
                if is_words and mark.is_text:
                    fault = f"the mark {mark.shown!r} is left in the {spec.takes}"
                    found[core] = dataclasses.replace(
                        mark, state=name, fault=fault, is_stray=True, followed_by=()
                    )
                continue
            names: Literal["", "tool", "argument"] = ""
            is_draft = False
            if mark.is_text and is_words:
                is_draft = spec.takes == "reasoning"
                names = "tool" if other.spec.takes == "space" and target == "name" else ""
            elif mark.is_text and spec.takes == "value":
                if target != "key":
                    continue
                names = "argument"
            found[core] = dataclasses.replace(
                mark,
                fault=_fault(spec.takes, mark.text.strip() or mark.text),
                names=names,
                before=before if spec.takes == "value" else mark.before,
                is_draft=is_draft,
                followed_by=(),
            )
    return [*found.values()]


def _may_call(state: MarkedState, states: Mapping[str, MarkedState]) -> bool:
    """Whether a call may begin in a state."""
    if state.spec.takes == "space":
        return any(
            states[it.state].spec.takes in _NAMED for it in state.marks if it.state in states
        )
    if state.spec.takes == "content":
        return bool(state.spec.shapes)
    return state.spec.takes != "reasoning"


def _bare_calls(state: MarkedState, states: Mapping[str, MarkedState]) -> list[_Mark]:
    """What a call may begin with among words whose mark is missing."""
    if state.spec.takes != "content":
        return []
    for mark in (it for it in state.marks if it.state in states):
        target = states[mark.state]
        within = [target, *(states[it.state] for it in target.spec.shapes)]
        calls = next((it for it in within if it.spec.takes in BARE_CALLS), None)
        if calls is not None:
            # Text alone is no call, but where the format itself knows calls by their shape.
            may_end = any("{names}" in it.steps for it in state.spec.shapes)
            ending = (it for it in (*state.marks, *calls.marks) if not it.is_prose)
            behind = tuple({it.core for it in ending if it.core and (may_end or it.state != END)})
            fault = f"the mark {mark.text.strip()!r} is missing in front of a call"
            bare = _Mark("", "", "", "", "", calls.name, (), fault, "call", behind, may_end)
            first = {it[0].removeprefix("\\") for it in BARE_CALLS[calls.spec.takes]}
            return [dataclasses.replace(bare, text=it, core=it) for it in sorted(first)]
    return []


def _fault(takes: str, mark: str) -> str:
    if takes == "reasoning":
        return f"the reasoning has no end in front of {mark!r}"
    if takes == "content":
        return f"a mark is missing in front of {mark!r}"
    return f"a mark is missing in front of {mark!r}, or it comes twice"


def _with_look_ahead(state: MarkedState, states: Mapping[str, MarkedState]) -> MarkedState:
    """The state of a value, which a mark of plain text ends only if the call goes on behind it."""
    marks = []
    for mark in state.marks:
        following = states[mark.state].marks if mark.is_text and mark.state != END else ()
        cores = tuple(it.core for it in following)
        marks.append(dataclasses.replace(mark, followed_by=cores))
    return _searched(state.name, state.spec, marks)


def _searched(name: str, state: State, marks: Iterable[_Mark]) -> MarkedState:
    return MarkedState(name, state, (*sorted(marks, key=lambda it: -len(it.core)),))


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
