"""`tojson` with origins: the text of `json.dumps`, in which each value keeps who wrote it."""

from __future__ import annotations

import json
from typing import Any

from jeton.chat.limits import spend
from jeton.chat.origins import Origin
from jeton.chat.parts import TracedFloat, TracedInt, data_in, plain, raw, runs_of
from jeton.chat.traced import joined, marked, traced

__all__ = ["to_json"]


def to_json(
    value: Any,
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
    writer = _Writer(bool(ensure_ascii), step, item, key, bool(sort_keys))
    writer.write(value, "\n", None)
    return joined(writer.parts)


class _Writer:
    def __init__(
        self, ascii_only: bool, step: str | None, item: str, key: str, sort_keys: bool
    ) -> None:
        self.parts: list[str] = []
        self.ascii_only = ascii_only
        self.step = step
        self.item = item
        self.key = key
        self.sort_keys = sort_keys

    def write(self, value: Any, line: str, near: Origin | None) -> None:
        """Writes a value; what cannot say who wrote it is of who wrote its key."""
        spend()
        if isinstance(value, str):
            self.parts.append(self.string(value))
        elif isinstance(value, (TracedInt, TracedFloat)):
            self.parts.append(marked(json.dumps(plain(value)), data_in(value)))
        elif value is None or isinstance(value, (bool, int, float)):
            self.parts.append(marked(json.dumps(value), near))
        elif isinstance(value, (list, tuple)):
            self.nest("[", "]", line, [("", item, near) for item in value])
        elif isinstance(value, dict):
            items = sorted(value.items()) if self.sort_keys else value.items()
            self.nest("{", "}", line, [self.pair(key, item) for key, item in items])
        else:
            raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

    def pair(self, key: Any, value: Any) -> tuple[str, Any, Origin | None]:
        if not isinstance(key, (str, int, float, type(None))):
            raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")
        origin = data_in(key)
        name = key if isinstance(key, str) else marked(json.dumps(plain(key)), origin)
        return joined((self.string(name), self.key)), value, origin

    def nest(
        self, opening: str, closing: str, line: str, items: list[tuple[str, Any, Origin | None]]
    ) -> None:
        if not items:
            self.parts.append(opening + closing)
            return
        inner = line if self.step is None else joined((line, self.step))
        self.parts.append(opening)
        for number, (name, value, near) in enumerate(items):
            self.parts.append(self.item if number else "")
            self.parts.append("" if self.step is None else inner)
            self.parts.append(name)
            self.write(value, inner, near)
        self.parts.append("" if self.step is None else line)
        self.parts.append(closing)

    def string(self, text: str) -> str:
        inner = []
        whole, at = raw(text), 0
        for length, origin in runs_of(text):
            spend(length)
            spelled = self.escaped(whole[at : at + length])
            inner.append(traced(spelled, ((len(spelled), origin),)))
            at += length
        return joined(('"', *inner, '"'))

    def escaped(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self.ascii_only)[1:-1]
