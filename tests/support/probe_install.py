"""What must work in an environment with few packages: run there as a program, it prints what fails.

Look here for what `tests/project/test_bare_install.py` asks of each environment: that every module
and public name can be imported and documented, that the help of every command appears, and that a
free-threaded Python stays so.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import pydoc
import sys
import sysconfig
from collections.abc import Iterator
from types import ModuleType

import click

import jeton
from jeton.cli import main

BUILT_ON = {
    "jeton.data.torch_loader": "torch",
    "jeton.edit.remapping": "torch",
    "jeton.nn.": "torch",
    "jeton.display.views.screen": "textual",
    "jeton.interop.sentencepiece.protobuf_messages": "google.protobuf",
    "jeton.sentencepiece.sentencepiece_model_pb2": "google.protobuf",
}
"""Modules of classes that derive from those of an optional package; the names that users import
them by are elsewhere, and say which extra is needed."""


def modules() -> Iterator[ModuleType]:
    """All modules but those that build on a package that is not here."""
    for found in pkgutil.walk_packages(jeton.__path__, "jeton."):
        base = next((BUILT_ON[it] for it in BUILT_ON if found.name.startswith(it)), None)
        if base is None or is_installed(base):
            yield importlib.import_module(found.name)


def is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of what it is in
        return False


def commands(context: click.Context, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of each command and subcommand."""
    yield path
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None, name
            inner = command.context_class(command, parent=context, info_name=name)
            yield from commands(inner, (*path, name))


def probe() -> None:
    exec("from jeton import *", {})
    for module in (jeton, *modules()):
        # pydoc cannot show the classes of protobuf, which have no module.
        assert module.__name__.endswith("_pb2") or pydoc.render_doc(module)
        for name in dir(module):
            getattr(module, name)
        inspect.getmembers(module)
    for name in set(jeton.__all__) - {"__version__"}:
        assert pydoc.render_doc(getattr(jeton, name)), name
    for words in commands(click.Context(main, info_name="jeton")):
        try:
            main.main([*words, "--help"])
        except SystemExit as end:
            assert not end.code, words
    if hasattr(sys, "_is_gil_enabled") and sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not sys._is_gil_enabled(), "a module has switched the GIL on"
    print("all of it works")


if __name__ == "__main__":
    probe()
