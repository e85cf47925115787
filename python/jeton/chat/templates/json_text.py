"""`tojson` with origins: the text of `json.dumps`, in which each value keeps who wrote it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Final

from jeton.chat.templates.limits import PIECE, spend
from jeton.chat.templates.origins import Origin
from jeton.chat.templates.parts import (
    KeptTool,
    TracedFloat,
    TracedInt,
    data_in,
    plain,
    raw,
    runs_of,
)
from jeton.chat.templates.traced import joined, marked

_MAX_WRITTEN: Final = 8
"""The JSON texts that are cached per tool."""


def to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    """A value as JSON, as transformers' filter of that name writes it: nothing for HTML."""
    if separators is None:
        separators = (", ", ": ") if indent is None else (",", ": ")
    item, key = separators
    step = " " * indent if isinstance(indent, int) else indent
    encode = encode_basestring_ascii if ensure_ascii else encode_basestring
    writer = _JsonWriter(encode, step, item, key, bool(sort_keys))
    writer.write(value, "\n", None)
    return joined(writer.parts)


@dataclass(slots=True)
class _JsonWriter:
    encode: Callable[[str], str]
    step: str | None
    item: str
    key: str
    sort_keys: bool
    parts: list[str] = field(default_factory=list)

    def write(self, value: object, line: str, near: Origin | None) -> None:
        """Writes a value; what cannot say who wrote it is of who wrote its key."""
        spend(PIECE)
        if isinstance(value, str):
            self.string(value)
        elif isinstance(value, (TracedInt, TracedFloat)):
            self.parts.append(marked(json.dumps(plain(value)), data_in(value)))
        elif value is None or isinstance(value, (bool, int, float)):
            self.parts.append(marked(json.dumps(value), near))
        elif isinstance(value, (list, tuple)):
            self.nest("[", value, "]", line, near)
        elif isinstance(value, KeptTool):
            self.tool(value, line)
        elif isinstance(value, dict):
            self.nest("{", sorted(value.items()) if self.sort_keys else value.items(), "}", line)
        else:
            raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

    def tool(self, tool: KeptTool, line: str) -> None:
        """Writes a tool that may have been written before."""
        texts = (self.item, self.key, self.step or "", line)
        key = (*texts, self.step, self.encode, self.sort_keys)
        known = tool._json.get(key) if all(type(it) is str for it in texts) else None
        if known is None:
            writer = dataclasses.replace(self, parts=[])
            writer.write(dict(tool), line, None)
            known = joined(writer.parts)
            if len(tool._json) < _MAX_WRITTEN and all(type(it) is str for it in texts):
                tool._json[key] = known
        self.parts.append(known)

    def nest(
        self, opening: str, items: Any, closing: str, line: str, near: Origin | None = None
    ) -> None:
        self.parts.append(opening)
        inner = line if self.step is None else joined((line, self.step))
        first = "" if self.step is None else inner
        between = joined((self.item, first))
        for number, value in enumerate(items):
            self.parts.append(between if number else first)
            if opening == "{":
                key, value = value
                near = self.name(key)
            self.write(value, inner, near)
        if items and self.step is not None:
            self.parts.append(line)
        self.parts.append(closing)

    def name(self, key: object) -> Origin | None:
        """Writes the name of a value, and says who wrote it."""
        origin = data_in(key)
        if isinstance(key, str):
            self.string(key)
        elif isinstance(key, (int, float, type(None))):
            self.parts.append(marked(f'"{json.dumps(plain(key))}"', origin))
        else:
            raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")
        self.parts.append(self.key)
        return origin

    def string(self, text: str) -> None:
        if type(text) is str:
            self.parts.append(self.encode(text))
            return
        shown, at = raw(text), 0
        self.parts.append('"')
        for length, origin in runs_of(text):
            self.parts.append(marked(self.encode(shown[at : at + length])[1:-1], origin))
            at += length
        self.parts.append('"')
