"""The modules of `python/jeton` import each other in one direction, without circles.

`LAYERS` is the order. An import inside a function counts like one at the top of a file, and so does
one under `TYPE_CHECKING`, which never runs. So does another package's module that is named in a
string, by which it may be imported. There are no exceptions. What is taken from `jeton` itself is
the public face's, so the core is imported as `jeton._core`.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import jeton

PACKAGE = Path(jeton.__file__).parent

LAYERS = {
    "ground": "at_start errors files cache_folder stores argument_types arguments forks processes "
    "display record saved_json samples",
    "stages and results": "results components",
    "names and files": "loading",
    "the tokenizer by itself": "encoding",
    "what else a tokenizer is asked for": "chat corpora cost interop",
    "the tokenizer": "tokenizer",
    "training": "training",
    "in the place of other libraries": "tiktoken sentencepiece transformers_patch serving",
    "token sets, vocabularies, models": "data edit nn ray",
    "lessons": "learn",
    "judging": "analysis",
    "the page": "play",
    "the public face": "jeton",
    "the command line": "cli __main__",
}
"""The layers, the lowest first; a layer's modules and packages are in their order as well."""

ORDER = {name: at for at, name in enumerate(" ".join(LAYERS.values()).split())}


def _module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _imports(tree: ast.AST, module: str) -> Iterator[str]:
    """The modules of jeton that a module imports, wherever in it, to run or for types."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            if node.module == "jeton":
                names = [name if name in MODULES else "jeton" for name in names]
        elif isinstance(node, ast.Constant) and node.value in MODULES:
            names = [node.value] if _unit(node.value) not in ("jeton", _unit(module)) else []
        for name in names:
            target = _where(name)
            if target is not None and target != module:
                yield target


def _where(name: str) -> str | None:
    """The module that a dotted name is in; `None` if jeton's own Python has no part in it."""
    if name.split(".")[0] != "jeton" or name.startswith("jeton._core"):
        return None
    return name if name in MODULES else name.rpartition(".")[0]


def _unit(module: str) -> str:
    """The package or file directly in jeton that a module belongs to."""
    return module.split(".")[1] if "." in module else module


ARROWS = {
    (module, target)
    for module, path in MODULES.items()
    for target in _imports(ast.parse(path.read_text(encoding="utf-8")), module)
}


def test_every_module_has_a_layer() -> None:
    assert {_unit(module) for module in MODULES} == set(ORDER)


def test_imports_go_down() -> None:
    upwards = {
        (module, target) for module, target in ARROWS if ORDER[_unit(module)] < ORDER[_unit(target)]
    }
    assert upwards == set()


def test_no_modules_import_each_other() -> None:
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, target in ARROWS:
        graph[module].add(target)
    list(graphlib.TopologicalSorter(graph).static_order())  # names the circle where there is one


def test_packages_keep_private_what_is_private() -> None:
    private = {
        (module, target)
        for module, target in ARROWS
        if _unit(module) != _unit(target)
        and any(part.startswith("_") for part in target.split(".")[1:])
    }
    assert private == set()
