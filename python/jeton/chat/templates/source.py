"""What the source of a template shows before it runs: literal text, and the names that it reads."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final

from jinja2 import nodes

from jeton.chat.templates.sandbox import Sandbox

GAP: Final = "\0"
"""Replaces, in literal text, a value that is only known when the template runs."""


@dataclass(frozen=True)
class TemplateText:
    """What a template says."""

    literals: tuple[str, ...]
    """Its literal texts; texts that it writes directly after one another are one."""
    names: frozenset[str]
    """The variables that it reads."""


@functools.lru_cache(maxsize=64)
def source_of(template: str) -> TemplateText:
    """What a template says that compiles.

    >>> source_of("{{ '<|' + role + '|>' }}").literals
    ('<|\\x00|>',)
    """
    tree = Sandbox().parse(template)
    found: dict[str, None] = {}
    _collect(tree, found)
    names = frozenset(name.name for name in tree.find_all(nodes.Name) if name.ctx == "load")
    return TemplateText(tuple(found), names)


def _collect(node: nodes.Node, found: dict[str, None]) -> None:
    text = "".join(_flat(child, found) for child in node.iter_child_nodes())
    if text.strip(GAP):
        found[text] = None


def _flat(node: nodes.Node, found: dict[str, None]) -> str:
    """What a node writes; literals inside nodes that write nothing themselves go into `found`."""
    if isinstance(node, (nodes.Const, nodes.TemplateData)):
        value = node.value if isinstance(node, nodes.Const) else node.data
        return value if isinstance(value, str) else GAP
    if isinstance(node, (nodes.Add, nodes.Concat, nodes.Output)):
        return "".join(_flat(child, found) for child in node.iter_child_nodes())
    _collect(node, found)
    return GAP
