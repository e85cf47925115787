"""The modules of `python/jeton` import each other in one direction, without circles.

`LAYERS` is the order. An import inside a function counts like one at the top of a file.
`HANDS_OVER` has the exceptions. An import under `TYPE_CHECKING` never runs, and counts too, but for
those that `KNOWS_BY_NAME` allows.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import jeton

PACKAGE = Path(jeton.__file__).parent

LAYERS = {
    "ground": "errors fields forks drawing notebooks streams compressed reference samples "
    "other_names cache arguments arrow argument_types memory unicode saved_json file_digest ids",
    "stages and results": "padding encoding encoding_plan vocabulary components assembly settings "
    "folder",
    "names and files": "download registry known_names hub",
    "the tokenizer by itself": "base_tokenizer",
    "what a tokenizer is asked for": "calls chunks gotchas chat message_counts views explaining "
    "for_transformers corpus token_blocks usage",
    "the tokenizer": "tokenizer loading",
    "training": "counting word_counts trainers",
    "other interfaces": "tiktoken sentencepiece",
    "costs and lessons": "cost textbook learn",
    "token sets, vocabularies, models": "data edit nn ray",
    "judging": "analysis",
    "the public face": "jeton",
    "the command line": "cli __main__",
}
"""The layers, the lowest first; a layer's modules and packages stand in their order as well."""

ORDER = {name: at for at, name in enumerate(" ".join(LAYERS.values()).split())}

HANDS_OVER = {
    # A tokenizer becomes one of another library, and that one becomes a tokenizer: a circle.
    "tokenizer.other_libraries": "sentencepiece tiktoken.core",
}
"""What a method imports that stands above its module."""

KNOWS_BY_NAME = {
    # A method names what it gives.
    "tokenizer.other_libraries": "tiktoken",
}
"""Types above a module that it names."""

OF_THE_TOKENIZER = {"jeton.tokenizer", "jeton.argument_types"}
"""Where the types are that every module may name: what stands below the tokenizer works on one."""


def _module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _imports(
    node: ast.AST, module: str, *, in_functions: bool = True, for_types: bool = False
) -> Iterator[str]:
    """The modules of jeton that run when a part of a module does, or that are read for types."""
    if isinstance(node, ast.FunctionDef) and not in_functions:
        return
    for child in ast.iter_child_nodes(node):
        is_for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if is_for_types and not for_types:
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
        yield from _imports(child, module, in_functions=in_functions, for_types=for_types)


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


def _exceptions(of: dict[str, str]) -> set[tuple[str, str]]:
    return {
        (f"jeton.{module}", f"jeton.{target}")
        for module, targets in of.items()
        for target in targets.split()
    }


TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}
ARROWS = {(module, target) for module, tree in TREES.items() for target in _imports(tree, module)}
TYPES = {
    (module, target)
    for module, tree in TREES.items()
    for target in _imports(tree, module, for_types=True)
} - ARROWS
EXCEPTIONS, NAMED = _exceptions(HANDS_OVER), _exceptions(KNOWS_BY_NAME)
OTHER_TYPES = {arrow for arrow in TYPES if arrow[1] not in OF_THE_TOKENIZER}


def _upwards(arrows: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {
        (module, target) for module, target in arrows if ORDER[_unit(module)] < ORDER[_unit(target)]
    }


def test_every_module_has_a_layer() -> None:
    assert {_unit(module) for module in MODULES} == set(ORDER)


def test_imports_go_down() -> None:
    assert _upwards(ARROWS - EXCEPTIONS) == set()


def test_types_go_down() -> None:
    assert _upwards(OTHER_TYPES - NAMED) == set()


def test_no_modules_import_each_other() -> None:
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, target in (ARROWS - EXCEPTIONS) | (OTHER_TYPES - NAMED):
        graph[module].add(target)
    list(graphlib.TopologicalSorter(graph).static_order())  # names the circle where there is one


def test_exceptions_are_few_and_needed() -> None:
    assert set() == EXCEPTIONS - ARROWS
    assert set() == NAMED - TYPES
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
