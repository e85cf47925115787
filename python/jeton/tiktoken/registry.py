"""Encodings by name: the published ones, and those of installed plugins of tiktoken."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable
from typing import Any

from jeton.arguments import suggestion
from jeton.errors import ArgumentError, UnknownNameError
from jeton.interop.tiktoken import Encoding
from jeton.tokenizer.loading import load

_PUBLISHED = (
    "gpt2",
    "r50k_base",
    "p50k_base",
    "p50k_edit",
    "cl100k_base",
    "o200k_base",
    "o200k_harmony",
)
_OWN_PLUGIN = "tiktoken_ext.openai_public"
"""tiktoken's own encodings, which jeton has itself."""

_lock = threading.RLock()
_encodings: dict[str, Encoding] = {}
_plugins: dict[str, Callable[[], dict[str, Any]]] | None = None


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding with this name; the same object each time.

    Raises:
        ValueError: There is no such encoding, or the argument is not a name.
        DownloadError: Its file is not on this machine and cannot be downloaded.
    """
    if not isinstance(encoding_name, str):
        raise ArgumentError(
            f"get_encoding takes the name of an encoding, a str, not {type(encoding_name).__name__}"
        )
    with _lock:
        if encoding_name not in _encodings:
            _encodings[encoding_name] = _load(encoding_name)
        return _encodings[encoding_name]


def list_encoding_names() -> list[str]:
    """The names of all encodings."""
    return [*_PUBLISHED, *_constructors()]


def _load(name: str) -> Encoding:
    if name in _PUBLISHED:
        return load(name).as_tiktoken(name)
    constructors = _constructors()
    if name in constructors:
        return Encoding(**constructors[name]())
    names = list_encoding_names()
    hint = suggestion(name, names) or f"there are {', '.join(names)}"
    raise UnknownNameError(f"there is no encoding {name!r} ({hint})")


def _constructors() -> dict[str, Callable[[], dict[str, Any]]]:
    """The constructors of encodings in plugins: modules in the namespace `tiktoken_ext`."""
    global _plugins
    with _lock:
        if _plugins is None:
            constructors: dict[str, Callable[[], dict[str, Any]]] = {}
            try:
                namespace = importlib.import_module("tiktoken_ext")
            except ModuleNotFoundError:
                return {}
            for module in pkgutil.iter_modules(namespace.__path__, "tiktoken_ext."):
                if module.name != _OWN_PLUGIN:
                    plugin = importlib.import_module(module.name)
                    constructors |= {
                        name: constructor
                        for name, constructor in plugin.ENCODING_CONSTRUCTORS.items()
                        if name not in _PUBLISHED
                    }
            _plugins = constructors
        return _plugins
