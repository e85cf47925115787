"""Former import paths: modules that were once directly in `jeton` are still found there.

Look here to keep `import jeton.corpus` working. The table says where each module is now. A former
path gives the same module object as the new one, so there is one class of each name and old pickles
load. Type checkers know only the new paths.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "find_moved_modules"]

MOVED = {
    "arrow": "argument_types",
    "assembly": "components.assembly",
    "base_tokenizer": "encoding.base_tokenizer",
    "cache": "encoding.cache",
    "calls": "encoding.calls",
    "chunks": "encoding.chunks",
    "class_folders": "loading.class_folders",
    "corpus": "corpora.corpus",
    "counting": "corpora.counting",
    "download": "loading.download",
    "encoding_plan": "encoding.encoding_plan",
    "explaining": "encoding.explaining",
    "file_digest": "files",
    "folder": "loading.folder",
    "for_transformers": "interop.for_transformers",
    "gotchas": "encoding.gotchas",
    "hub": "loading.hub",
    "human_readable": "display.human_readable",
    "ids": "corpora.token_blocks.ids",
    "interfaces": "interop",
    "known_names": "loading.known_names",
    "memory_size": "corpora.memory_size",
    "message_counts": "chat.message_counts",
    "model_file": "loading.model_file",
    "notebooks": "display.notebooks",
    "other_names": "encoding.other_names",
    "padding": "results.pad_batch",
    "palette": "display.palette",
    "reference": "learn.reference",
    "registry": "loading.registry",
    "settings": "loading.settings",
    "sources": "loading.sources",
    "streams": "encoding.streams",
    "textbook": "learn.textbook",
    "token_blocks": "corpora.token_blocks",
    "trainers": "training",
    "transformers_classes": "loading.transformers_classes",
    "unicode": "encoding.unicode",
    "usage": "corpora.usage",
    "views": "display.views",
    "vocabulary": "results.vocabulary",
    "word_counts": "corpora.word_counts",
}
"""Where each module is now, both within `jeton`."""


class _MovedModules:
    """Finds a former path, or a module below one, and imports the module of today in its place.

    It comes before Python's own finders: these would find the modules of a moved package by its
    `__path__`, and load them a second time.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, inside = name.partition(".")
        former, dot, below = inside.partition(".")
        if package != "jeton" or former not in MOVED:
            return None
        from importlib.util import find_spec

        here = f"jeton.{MOVED[former]}{dot}{below}"
        if find_spec(here) is None:
            return None
        return ModuleSpec(name, self, loader_state=here)  # type: ignore[arg-type]  # has its methods

    def create_module(self, spec: ModuleSpec) -> None:
        """Leaves the empty module to Python; `exec_module` replaces it."""

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        sys.modules[module.__name__] = importlib.import_module(module.__spec__.loader_state)


def find_moved_modules() -> None:
    """Lets `import` find the former paths."""
    sys.meta_path.insert(0, _MovedModules())
