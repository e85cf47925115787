"""Descriptions of answers: `response_template` of a folder, as transformers has it.

A description has fields; each says what opens and closes it and how its text is read. It becomes a
`Format` whose states are its fields (`format_of`). Look here for the keys that are known, and for
when a mark is certain.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jeton.chat.answers.field_values import (
    PARSERS,
    Unreadable,
    begun,
    expression,
    parsed_content,
    places,
    search,
    timed,
    transformed,
    wrong_options,
)
from jeton.chat.answers.formats import Format, State
from jeton.chat.answers.marks import Compiled, CompiledState, Found, control_tokens
from jeton.chat.answers.parsed import Kind
from jeton.chat.templates.trust import REASONING
from jeton.errors import FormatError, UnsupportedError

_LOOK_BEHIND: Final = 256
"""Characters in front of a place that an expression may look at."""
_LOOKS_BEHIND: Final = re.compile(r"(?<!\[)\^|\(\?<[=!]|\\[AbBGmM]")
"""What in an expression depends on the text in front."""
_KEYS: Final = frozenset(("version", "defaults", "fields", "start_anchor", "start_anchor_pattern"))
_FIELD_KEYS: Final = frozenset(
    """
    open open_pattern close close_pattern content content_args repeats join optional transform
    transform_each
    """.split()
)


class _Begun:
    """A match of a literal that the text ends within."""

    partial = True

    def __init__(self, start: int) -> None:
        self._start = start

    def start(self) -> int:
        """Where it begins."""
        return self._start


@dataclass(frozen=True)
class Delimiter:
    """What opens or closes a field."""

    pattern: Any
    literals: tuple[str, ...] = ()
    """The texts that it may be; none if it is an expression."""

    def grows(self, match: Any, text: str) -> bool:
        """Whether more text might change this match."""
        if match.end() == len(text):
            longer = any(a != b and a.startswith(b) for a in self.literals for b in self.literals)
            return match.start() == match.end() or not self.literals or longer
        if self.literals:
            return False
        again = timed(self.pattern, self.pattern.match, text + "\0", match.start())
        return (
            again is None or again.span() != match.span() or again.groupdict() != match.groupdict()
        )

    def search(self, text: _Spelled, at: int, *, last: bool) -> Any:
        """The first match in which whatever spells a control token is one; one that more text may
        complete has the attribute `partial`."""
        while True:
            if self.literals:
                match = self.pattern.search(text.text, at)
                if match is None and not last:
                    return self._begun(text.text, at)
            else:
                match = search(self.pattern, text.text, at, partial=not last)
                if match is not None and not last and match.start() == len(text.text):
                    # An empty match at the end of the text: a longer one may have begun before.
                    first = max(at, len(text.text) - _LOOK_BEHIND)
                    match = begun(self.pattern, text.text, first) or match
            if match is None or getattr(match, "partial", False) or text.is_real(match):
                return match
            at = match.start() + 1

    def _begun(self, text: str, at: int) -> _Begun | None:
        """The first end of the text, from `at` on, that may become a literal."""
        first = len(text)
        for literal in self.literals:
            start = text.find(literal[0], max(at, len(text) - len(literal) + 1))
            while -1 < start < first:
                if literal.startswith(text[start:]):
                    first = start
                else:
                    start = text.find(literal[0], start + 1)
        return _Begun(first) if first < len(text) else None


@dataclass(frozen=True)
class Field:
    """A field of a message: what opens and closes it, and how its text is read."""

    name: str
    open: Delimiter | None
    close: Delimiter | None
    content: str
    options: dict[str, Any]
    repeats: bool
    join: str | None
    optional: bool
    transform: Any
    each: bool

    @property
    def reported_as(self) -> Kind | None:
        """The kind of event that reports its text, if any does."""
        if self.name == "content":
            return "content"
        return "reasoning" if self.name in REASONING else None

    @property
    def kind(self) -> Kind | None:
        """The same, if the text is reported as it comes."""
        as_it_comes = self.content == "text" and self.transform is None and not self.repeats
        return self.reported_as if as_it_comes else None

    def value(self, text: str, captures: Mapping[str, str]) -> Any:
        """The value of a text, and of what the expressions around it captured.

        Raises:
            Unreadable: The text is not what the description expects.
        """
        value = parsed_content(self.content, text, self.options)
        if self.transform is not None and self.each:
            if not isinstance(value, list) or not all(isinstance(it, dict) for it in value):
                raise Unreadable("it is no list of objects")
            value = [transformed(self.transform, {**captures, **it}) for it in value]
        elif self.transform is not None:
            value = transformed(self.transform, {**captures, "content": value})
        if self.join is not None and not isinstance(value, str):
            raise Unreadable("what is joined is no text")
        return value


@dataclass(frozen=True)
class Description:
    """A `response_template`, checked.

    Attributes:
        fields: By name.
        defaults: Values of a message for fields that the answer does not have.
        anchor: The expression behind which an answer begins.
    """

    fields: Mapping[str, Field]
    defaults: Mapping[str, Any]
    anchor: Delimiter

    @property
    def rest(self) -> Field | None:
        """The field of text outside all others, which nothing opens."""
        return next((it for it in self.fields.values() if it.open is None), None)


def description_of(value: object) -> Description:
    """Checks the description of a `tokenizer_config.json`."""
    if not isinstance(value, dict):
        raise _wrong("must be a dict")
    if (version := value.get("version", 1)) != 1:
        raise UnsupportedError(f"{_PLACE} is of version {version!r:.20}: jeton knows version 1")
    _refuse_unknown("", value, _KEYS)
    fields, defaults = value.get("fields"), value.get("defaults", {})
    if not isinstance(fields, dict) or not fields or not isinstance(defaults, dict):
        raise _wrong("must have fields, and defaults as a dict")
    found = {name: _field(name, it) for name, it in fields.items()}
    for name, it in found.items():
        if it.repeats and it.join is None and not isinstance(defaults.get(name, []), list):
            raise _wrong(f"defaults: {name!r} repeats, so its default must be a list")
        if it.join is not None and not isinstance(defaults.get(name, ""), str):
            raise _wrong(f"defaults: {name!r} is joined, so its default must be a text")
    if sum(it.open is None for it in found.values()) > 1:
        raise _wrong("has more than one field that nothing opens")
    anchor = _delimiter("", value, "start_anchor")
    if anchor is None:
        raise _wrong("has no start_anchor")
    return Description(found, defaults, anchor)


_PLACE: Final = "tokenizer_config.json: response_template"


def _wrong(what: str) -> FormatError:
    return FormatError(f"{_PLACE} {what}")


def _refuse_unknown(place: str, value: Mapping[str, Any], known: frozenset[str]) -> None:
    if unknown := sorted({*value} - known):
        raise UnsupportedError(
            f"{_PLACE} {place}has keys that jeton does not know: {', '.join(unknown)}"
        )


def _field(name: str, value: object) -> Field:
    if not isinstance(value, dict):
        raise _wrong(f"field {name!r} must be a dict")
    _refuse_unknown(f"field {name!r} ", value, _FIELD_KEYS)
    content = value.get("content", "text")
    if not isinstance(content, str) or content not in PARSERS:
        raise _wrong(f"field {name!r}: content {content!r} is none of {', '.join(PARSERS)}")
    options = value.get("content_args", {})
    if what := wrong_options(content, options):
        raise _wrong(f"field {name!r}: content_args: {what}")
    for key in ("repeats", "optional", "transform_each"):
        if not isinstance(value.get(key, False), bool):
            raise _wrong(f"field {name!r}: {key} must be true or false")
    join = value.get("join")
    if join is not None and not (isinstance(join, str) and value.get("repeats")):
        raise _wrong(f"field {name!r}: join must be a str, of a field that repeats")
    open, close = _delimiter(name, value, "open"), _delimiter(name, value, "close")
    known = {"content"}.union(*(it.pattern.groupindex for it in (open, close) if it is not None))
    for place in () if value.get("transform_each") else places(value.get("transform")):
        if place.partition(".")[0] not in known:
            raise _wrong(f"field {name!r}: transform: nothing is called {place!r}")
    return Field(
        name,
        open,
        close,
        content,
        options,
        value.get("repeats", False),
        join,
        value.get("optional", True),
        value.get("transform"),
        value.get("transform_each", False),
    )


def _delimiter(name: str, value: Mapping[str, Any], key: str) -> Delimiter | None:
    place = f"field {name!r}: {key}" if name else key
    if key in value:
        source = value[key]
        texts = [source] if isinstance(source, str) else source
        if (
            not isinstance(texts, list)
            or not texts
            or not all(isinstance(it, str) and it for it in texts)
        ):
            raise _wrong(f"{place} must be a text or several")
        longest_first = sorted(texts, key=len, reverse=True)
        return Delimiter(re.compile("|".join(map(re.escape, longest_first))), tuple(texts))
    if (source := value.get(f"{key}_pattern")) is None:
        return None
    if not isinstance(source, str):
        raise _wrong(f"{place}_pattern must be a text")
    try:
        return Delimiter(expression(source))
    except ValueError as error:
        raise _wrong(f"{place}_pattern cannot be read: {error}") from None


class _Spelled:
    """A text of symbols with its control tokens as they are spelled."""

    def __init__(self, text: str, compiled: Compiled) -> None:
        self.text = compiled.spelled(text)
        self._tokens = compiled.tokens
        self._has_symbols = bool(compiled.spellings)
        self._starts, self._longer = list[int](), [0]
        for match in () if text.isascii() else compiled.symbol.finditer(text):
            self._starts.append(match.start() + self._longer[-1])
            self._longer.append(self._longer[-1] + len(compiled.spellings[match[0]]) - 1)

    def is_real(self, match: Any) -> bool:
        """Whether everything in a match that spells a control token is one."""
        spelled = self._tokens.finditer(match[0]) if self._has_symbols else ()
        starts = (match.start() + it.start() for it in spelled)
        return all(self.has_token(at, at + 1) for at in starts)

    def has_token(self, start: int, end: int) -> bool:
        """Whether a control token is in a stretch."""
        return bisect.bisect_left(self._starts, start) < bisect.bisect_left(self._starts, end)

    def back(self, at: int) -> int:
        """The offset in symbols of one in the spelled text; inside a token, the token's."""
        count = bisect.bisect_left(self._starts, at)
        return max(at - self._longer[count], self._starts[count - 1] - self._longer[count - 1] + 1
                   if count else 0)  # fmt: skip


@dataclass(frozen=True)
class FieldState(CompiledState):
    """A state of a described answer: a field, or the text outside of all fields."""

    watched: tuple[tuple[Delimiter, str, str], ...] = ()
    """What ends it, the state that each leads to, and the name of the field that it opens."""
    compiled: list[Compiled] = field(default_factory=list, compare=False)

    @functools.cached_property
    def looks_behind(self) -> int:
        """How many characters it looks at in front of the place where it searches."""
        expressions = [it.pattern.pattern for it, _, _ in self.watched if not it.literals]
        return _LOOK_BEHIND if any(map(_LOOKS_BEHIND.search, expressions)) else 0

    def next(self, text: str, at: int, *, last: bool) -> tuple[Found | None, int]:
        """The first mark that is certain, and where the text that is certain ends."""
        spelled = _Spelled(text, self.compiled[0])
        best: tuple[tuple[int, int, bool, str], Any, str] | None = None
        first, hold = len(self.compiled[0].spelled(text[:at])), len(spelled.text)
        for delimiter, target, name in self.watched:
            match = delimiter.search(spelled, first, last=last)
            if match is None:
                continue
            if not last and (
                getattr(match, "partial", False) or delimiter.grows(match, spelled.text)
            ):
                hold = min(hold, match.start())
                continue
            key = match.start(), match.start() - match.end(), not name, name
            if best is None or key < best[0]:
                best = key, match, target
        if best is None or (not last and best[1].start() >= hold):
            return None, len(text) if last else spelled.back(hold)
        _, match, target = best
        start, end = match.span()
        captures = {key: it for key, it in match.groupdict().items() if it is not None}
        text_mark = None if spelled.has_token(start, end) else match[0]
        return Found(spelled.back(start), spelled.back(end), target, "", text_mark, captures), 0


def compiled_description(description: Description, tokens: Mapping[str, int]) -> Compiled:
    """A description, ready for use: a format with a state for each field. `tokens`: the control
    tokens with their ids; empty where there is only text."""
    rest = description.rest
    opening = [
        (it.open, f"field {it.name}", it.name)
        for it in description.fields.values()
        if it.open is not None
    ]
    if rest is not None and rest.close is not None:
        opening.append((rest.close, "closed", ""))
    compiled: list[Compiled] = []

    def state(name: str, it: Field | None, watched: list[Any], *, done: bool) -> FieldState:
        spec = State("field", done=done, field=it)
        return FieldState(name, spec, (), watched=tuple(watched), compiled=compiled)

    states = {
        "start": state("start", rest, opening, done=False),
        "closed": state("closed", rest, opening, done=True),
    }
    for it in description.fields.values():
        if it.open is not None:
            closing = [(it.close, "closed", "")] if it.close else []
            states[f"field {it.name}"] = state(f"field {it.name}", it, closing, done=False)
    format = Format("response_template", {name: it.spec for name, it in states.items()})
    ends = rest.close.literals if rest is not None and rest.close is not None else ()
    used = {it: id for it, id in tokens.items() if not re.fullmatch(r"[\w\s]*", it)}
    with_symbols, symbol_of = control_tokens(used)
    compiled.append(
        Compiled(
            format,
            states,
            {used[it]: symbol for it, symbol in symbol_of.items()},
            {symbol: it for it, symbol in symbol_of.items()},
            "",
            with_symbols,
            description,
            {with_symbols(it): [True] for it in ends},
        )
    )
    return compiled[0]


def behind_anchor(compiled: Compiled, text: str, *, is_text: bool) -> str:
    """The beginning of the answer that is in a prompt, in symbols.

    Args:
        compiled: The format of a description.
        text: The prompt, with symbols for control tokens.
        is_text: Whether nobody knows the tokens of the prompt, so that it has no symbols.
    """
    assert compiled.description is not None
    spelled = _Spelled(text, compiled)
    ends = [
        match.end()
        for match in _matches(compiled.description.anchor, spelled.text)
        if is_text or spelled.is_real(match)
    ]
    if is_text:
        return compiled.with_symbols(text[ends[-1] :] if ends else text)
    return text[spelled.back(ends[-1]) :] if ends else text


def _matches(delimiter: Delimiter, text: str) -> Iterator[Any]:
    at = 0
    while at <= len(text):
        match = (
            delimiter.pattern.search(text, at)
            if delimiter.literals
            else search(delimiter.pattern, text, at)
        )
        if match is None:
            return
        yield match
        at = max(match.end(), at + 1)
