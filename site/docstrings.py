"""What the reference makes of docstrings: those of the compiled core, and examples as code.

Look here if the built site misses a method that `single_text_calls.rs` documents, or shows an
example as text.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

_EXAMPLES = re.compile(r"^( *)(?:>>> .*\n?)(?:\1\S.*\n?)*(?:\n+\1>>> .*\n?(?:\1\S.*\n?)*)*", re.M)
"""Lines from a prompt on, and further ones behind empty lines."""


class Docstrings(griffe.Extension):
    """Completes each docstring when its object has been read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None and obj.module.path == "jeton._core":
            text = _of_compiled(obj)
            if text:
                obj.docstring = griffe.Docstring(text, parent=obj)
        if obj.docstring is not None:
            obj.docstring.value = _with_fences(obj.docstring.value)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        # `_core` is also an attribute of the class, which would be taken for the module.
        cls.bases = [
            f"jeton.{base}" if str(base).startswith("_core.") else base for base in cls.bases
        ]


def _of_compiled(obj: griffe.Object) -> str | None:
    found: Any = importlib.import_module("jeton._core")
    for name in obj.path.removeprefix("jeton._core.").split("."):
        found = getattr(found, name, None)
    return inspect.getdoc(found)


def _with_fences(text: str) -> str:
    """A docstring with its examples as fenced code, below a word in bold instead of a section."""

    def fenced(match: re.Match[str]) -> str:
        code = inspect.cleandoc(match[0]).replace(" # doctest: +SKIP", "").replace(" +ELLIPSIS", "")
        return f"\n```pycon\n{code}\n```\n"

    return re.sub(r"^Examples?:\n", "**Example**\n", _EXAMPLES.sub(fenced, text), flags=re.M)
