"""`tojson` with origins: the text of `json.dumps`, in which each value keeps who wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Final

from jeton.chat.templates.limits import ITEM, spend
from jeton.chat.templates.origins import TEMPLATE, Origin
from jeton.chat.templates.parts import (
    KeptTool,
    TextParts,
    TracedFloat,
    TracedInt,
    data_in,
    plain,
    raw,
    runs_of,
)
from jeton.chat.templates.traced import joined, whole

_QUOTE: Final = (1, TEMPLATE)
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
    return whole(writer)


class _JsonWriter(TextParts):
    __slots__ = ("encode", "item", "key", "sort_keys", "step")

    def __init__(
        self,
        encode: Callable[[str], str],
        step: str | None,
        item: str,
        key: str,
        sort_keys: bool,
    ) -> None:
        super().__init__()
        self.encode = encode
        self.step = step
        self.item = item
        self.key = key
        self.sort_keys = sort_keys

    def write(self, value: object, line: str, near: Origin | None) -> None:
        """Writes a value; what cannot say who wrote it is of who wrote its key."""
        if isinstance(value, str):
            self.string(value)
        elif isinstance(value, (TracedInt, TracedFloat)):
            self.add_of(json.dumps(plain(value)), data_in(value))
        elif value is None or isinstance(value, (bool, int, float)):
            self.add_of(json.dumps(value), near)
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
            writer = _JsonWriter(self.encode, self.step, self.item, self.key, self.sort_keys)
            writer.write(dict(tool), line, None)
            known = whole(writer)
            if len(tool._json) < _MAX_WRITTEN and all(type(it) is str for it in texts):
                tool._json[key] = known
        self.add(known)

    def nest(
        self, opening: str, items: Any, closing: str, line: str, near: Origin | None = None
    ) -> None:
        self.add_of(opening, None)
        inner = line if self.step is None else joined((line, self.step))
        first = "" if self.step is None else inner
        between = joined((self.item, first))
        for number, value in enumerate(items):
            self.add(between if number else first)
            if opening == "{":
                key, value = value
                near = self.name(key)
            self.write(value, inner, near)
        if items and self.step is not None:
            self.add(line)
        self.add_of(closing, None)

    def name(self, key: object) -> Origin | None:
        """Writes the name of a value, and says who wrote it."""
        origin = data_in(key)
        if isinstance(key, str):
            self.string(key)
        elif isinstance(key, (int, float, type(None))):
            self.add_of(f'"{json.dumps(plain(key))}"', origin)
        else:
            raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")
        self.add(self.key)
        return origin

    def string(self, text: str) -> None:
        shown, runs = raw(text), runs_of(text)
        written = self.encode(shown)
        if len(runs) > 1:
            at = 0
            inner = []
            for length, origin in runs:
                inner.append((len(self.encode(shown[at : at + length])) - 2, origin))
                at += length
        else:
            inner = [(len(written) - 2, origin) for _, origin in runs]
        self.texts.append(written)
        self.runs += (_QUOTE, *inner, _QUOTE)
        spend(ITEM + len(written))
