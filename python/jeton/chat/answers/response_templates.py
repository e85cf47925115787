"""Descriptions of answers: `response_template` of a folder, as transformers has it.

A description has fields; each says what opens and closes it and how its text is read. Look here for
the keys that are known. `described_machine.py` reads answers by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jeton.chat.answers.described_values import PARSERS, expressions, transformed
from jeton.chat.answers.parsed import Kind
from jeton.chat.templates.trust import REASONING
from jeton.errors import FormatError

__all__ = ["Delimiter", "Description", "Field", "description_of"]

_KEYS: Final = frozenset(("version", "defaults", "fields", "start_anchor", "start_anchor_pattern"))
_FIELD_KEYS: Final = frozenset(
    """
    open open_pattern close close_pattern content content_args repeats join optional transform
    transform_each
    """.split()
)


@dataclass(frozen=True)
class Delimiter:
    """What opens or closes a field."""

    pattern: Any
    literals: tuple[str, ...] = ()
    """The texts that it may be; none if it is an expression."""

    @property
    def is_open_ended(self) -> bool:
        """Whether nobody can tell what it may still match: the standard library has no partial
        matches."""
        return not self.literals and isinstance(self.pattern, re.Pattern)

    def grows(self, match: Any, text: str) -> bool:
        """Whether more text might change this match."""
        if match.end() == len(text):
            longer = any(a != b and a.startswith(b) for a in self.literals for b in self.literals)
            return match.start() == match.end() or not self.literals or longer
        if self.literals:
            return False
        again = self.pattern.match(text + "\0", match.start())
        return (
            again is None or again.span() != match.span() or again.groupdict() != match.groupdict()
        )


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
        """The value of a text, and of what the expressions around it captured."""
        value = PARSERS[self.content](text, self.options)
        if self.transform is None:
            return value
        if self.each:
            return [transformed(self.transform, {**captures, **it}) for it in value]
        return transformed(self.transform, {**captures, "content": value})


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
    anchor: Any

    @property
    def rest(self) -> Field | None:
        """The field of text outside all others, which nothing opens."""
        return next((it for it in self.fields.values() if it.open is None), None)


def description_of(value: object) -> Description:
    """Checks the description of a `tokenizer_config.json`.

    Raises:
        FormatError: It is invalid, or has a key that jeton does not know.
    """
    if not isinstance(value, dict) or value.get("version", 1) != 1:
        raise _wrong("must be a dict of version 1")
    if unknown := sorted({*value} - _KEYS):
        raise _wrong(f"has keys that jeton does not know: {', '.join(unknown)}")
    fields, defaults = value.get("fields"), value.get("defaults", {})
    if not isinstance(fields, dict) or not fields or not isinstance(defaults, dict):
        raise _wrong("must have fields, and defaults as a dict")
    found = {name: _field(name, it) for name, it in fields.items()}
    if sum(it.open is None for it in found.values()) > 1:
        raise _wrong("has more than one field that nothing opens")
    anchor = _delimiter("", value, "start_anchor")
    if anchor is None:
        raise _wrong("has no start_anchor")
    return Description(found, defaults, anchor.pattern)


def _wrong(what: str) -> FormatError:
    return FormatError(f"tokenizer_config.json: response_template {what}")


def _field(name: str, value: object) -> Field:
    if not isinstance(value, dict):
        raise _wrong(f"field {name!r} must be a dict")
    if unknown := sorted({*value} - _FIELD_KEYS):
        raise _wrong(f"field {name!r} has keys that jeton does not know: {', '.join(unknown)}")
    content = value.get("content", "text")
    if content not in PARSERS:
        raise _wrong(f"field {name!r}: content {content!r} is none of {', '.join(PARSERS)}")
    join = value.get("join")
    if join is not None and not (isinstance(join, str) and value.get("repeats")):
        raise _wrong(f"field {name!r}: join must be a str, of a field that repeats")
    return Field(
        name,
        _delimiter(name, value, "open"),
        _delimiter(name, value, "close"),
        content,
        value.get("content_args", {}),
        bool(value.get("repeats")),
        join,
        value.get("optional", True),
        value.get("transform"),
        bool(value.get("transform_each")),
    )


def _delimiter(name: str, value: Mapping[str, Any], key: str) -> Delimiter | None:
    if key in value:
        source = value[key]
        texts = [source] if isinstance(source, str) else source
        if not isinstance(texts, list) or not texts or not all(isinstance(it, str) for it in texts):
            raise _wrong(f"field {name!r}: {key} must be a text or several")
        longest_first = sorted(texts, key=len, reverse=True)
        return Delimiter(expressions.compile("|".join(map(re.escape, longest_first))), tuple(texts))
    if (source := value.get(f"{key}_pattern")) is None:
        return None
    try:
        return Delimiter(expressions.compile(source, expressions.DOTALL))
    except (expressions.error, TypeError) as error:
        raise _wrong(
            f"field {name!r}: {key}_pattern cannot be read: {error}"
            + (" (pip install regex for more syntax)" if expressions is re else "")
        ) from None
