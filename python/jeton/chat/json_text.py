"""`tojson` with origins: the text of `json.dumps`, in which each value keeps who wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Final

from jeton.chat.templates.limits import spend, written_of
from jeton.chat.templates.origins import Origin
from jeton.chat.templates.parts import (
    TextParts,
    TracedFloat,
    TracedInt,
    data_in,
    plain,
    raw,
    runs_of,
)
from jeton.chat.templates.traced import joined, whole

__all__ = ["to_json"]

_MAX_WRITTEN: Final = 1000
"""Texts that are kept of one list of tools."""


def to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: object = None,
    sort_keys: bool = False,
) -> str:
    """A value as JSON, as transformers' filter of that name writes it: nothing for HTML."""
    texts = written_of(value)
    options = (id(value), bool(ensure_ascii), indent, bool(sort_keys))
    if texts is None or separators is not None or type(indent) not in (int, type(None)):
        return _json(value, ensure_ascii, indent, separators, sort_keys)
    if options in texts:
        spend(len(texts[options]))
        return texts[options]
    text = _json(value, ensure_ascii, indent, None, sort_keys)
    if len(texts) < _MAX_WRITTEN:
        texts[options] = text
    return text


def _json(value: Any, ensure_ascii: bool, indent: Any, separators: Any, sort_keys: bool) -> str:
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
        elif isinstance(value, dict):
            self.nest("{", sorted(value.items()) if self.sort_keys else value.items(), "}", line)
        else:
            raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

    def nest(
        self, opening: str, items: Any, closing: str, line: str, near: Origin | None = None
    ) -> None:
        self.add_of(opening, None)
        inner = line if self.step is None else joined((line, self.step))
        for number, value in enumerate(items):
            if number:
                self.add(self.item)
            if self.step is not None:
                self.add(inner)
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
        shown, at = raw(text), 0
        self.add_of('"', None)
        for length, origin in runs_of(text):
            self.add_of(self.encode(shown[at : at + length])[1:-1], origin)
            at += length
        self.add_of('"', None)
