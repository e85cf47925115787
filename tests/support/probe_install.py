"""What must work in an environment with few packages: run there as a program, it prints what fails.

Look here for what `tests/project/test_bare_install.py` asks of each environment: that every module
and public name can be imported and documented, and that the help of every command appears. A module
may need an optional package only if it builds on its classes, as the arguments say:
`jeton.nn.=torch`.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import pydoc
import sys
from collections.abc import Iterator
from types import ModuleType

import click

import jeton
from jeton.cli import main

BUILT_ON = dict(argument.partition("=")[::2] for argument in sys.argv[1:])
"""Which packages a module may need when it is imported, by the module's path or a folder of it."""


def modules() -> Iterator[ModuleType]:
    """All modules but those that build on a package that is not here."""
    for found in pkgutil.walk_packages(jeton.__path__, "jeton."):
        base = next((BUILT_ON[it] for it in BUILT_ON if found.name.startswith(it)), None)
        if base is None or importlib.util.find_spec(base) is not None:
            yield importlib.import_module(found.name)


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
    print("all of it works")


if __name__ == "__main__":
    probe()
