"""The modules of `python/jeton` import each other in one direction, without circles.

`LAYERS` is the order. An import inside a function counts like one at the top of a file; one under
`TYPE_CHECKING` does not, since it is never run. `HANDS_OVER` has the exceptions.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import jeton

PACKAGE = Path(jeton.__file__).parent

LAYERS = {
    "ground": "errors fields forks drawing streams compressed reference samples other_names cache "
    "arguments arrow memory unicode saved_json",
    "stages and results": "padding encoding encoding_plan vocabulary components assembly settings "
    "folder",
    "the tokenizer": "calls chunks gotchas for_transformers tokenizer",
    "names and files": "download registry known_names hub loading",
    "training": "corpus counting word_counts trainers",
    "the public face": "jeton",
    "other interfaces": "tiktoken sentencepiece",
    "chats and costs": "chat message_counts cost",
    "how it works": "textbook explaining learn",
    "token sets, vocabularies, models": "data edit nn ray",
    "judging": "analysis notebooks",
    "the command line": "cli __main__",
}
"""The layers, the lowest first; a layer's modules and packages stand in their order as well."""

ORDER = {name: at for at, name in enumerate(" ".join(LAYERS.values()).split())}

HANDS_OVER = {
    # Methods of values whose work is done, or whose picture is drawn, by a package above.
    "tokenizer.chat": "chat message_counts",
    "tokenizer.look": "explaining analysis.usage notebooks",
    "tokenizer.other_libraries": "sentencepiece tiktoken.core",
    "encoding": "notebooks",
    "explaining.steps": "learn.encoding learn.page learn.printed",
    "analysis.evaluation": "notebooks",
    "analysis.health.findings": "notebooks",
    # A checkpoint is rewritten by torch, which is imported with `jeton.nn`.
    "edit.tensors": "nn.remapping",
}
"""What a function imports that stands above its module."""


def _module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _imports(node: ast.AST, module: str, *, in_functions: bool = True) -> Iterator[str]:
    """The modules of jeton that run when a part of a module does."""
    if isinstance(node, ast.FunctionDef) and not in_functions:
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        names: list[str] = []
        if isinstance(child, ast.Import):
            names = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            names = [f"{child.module}.{alias.name}" for alias in child.names]
        for name in names:
            target = _where(name)
            if target is not None and target != module:
                yield target
        yield from _imports(child, module, in_functions=in_functions)


def _where(name: str) -> str | None:
    """The module that a dotted name stands in; `None` if jeton's own Python has no part in it."""
    if name.split(".")[0] != "jeton" or name.startswith("jeton._core"):
        return None
    if name in ("jeton.__version__", "jeton._core"):
        return None
    return name if name in MODULES else name.rpartition(".")[0]


def _unit(module: str) -> str:
    """The package or file directly in jeton that a module belongs to."""
    return module.split(".")[1] if "." in module else module


TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}
ARROWS = {(module, target) for module, tree in TREES.items() for target in _imports(tree, module)}

EXCEPTIONS = {
    (f"jeton.{module}", f"jeton.{target}")
    for module, targets in HANDS_OVER.items()
    for target in targets.split()
}


def test_every_module_has_a_layer() -> None:
    assert {_unit(module) for module in MODULES} == set(ORDER)


def test_imports_go_down() -> None:
    upwards = {
        (module, target)
        for module, target in ARROWS - EXCEPTIONS
        if ORDER[_unit(module)] < ORDER[_unit(target)]
    }
    assert upwards == set()


def test_no_modules_import_each_other() -> None:
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, target in ARROWS - EXCEPTIONS:
        graph[module].add(target)
    list(graphlib.TopologicalSorter(graph).static_order())  # names the circle where there is one


def test_exceptions_are_few_and_needed() -> None:
    assert set() == EXCEPTIONS - ARROWS
    at_the_top = {
        (module, target)
        for module, target in EXCEPTIONS
        if target in _imports(TREES[module], module, in_functions=False)
    }
    assert at_the_top == set(), "only functions hand over"


def test_packages_keep_private_what_is_private() -> None:
    private = {
        (module, target)
        for module, target in ARROWS
        if _unit(module) != _unit(target)
        and any(part.startswith("_") for part in target.split(".")[1:])
    }
    assert private == set()
