"""Docstrings name the arguments that functions and classes have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python/jeton"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = re.compile(r"^ {4}(?! )([\w*`, ]+):", re.M)


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    every = function.args
    more = [it for it in (every.vararg, every.kwarg) if it is not None]
    return {it.arg for it in (*every.posonlyargs, *every.args, *every.kwonlyargs, *more)}


def constructor_parameters(kind: ast.ClassDef) -> set[str]:
    """Those of `__init__` or `__new__`, or the fields of a dataclass."""
    found = {it.target.id for it in kind.body
             if isinstance(it, ast.AnnAssign) and isinstance(it.target, ast.Name)}  # fmt: skip
    for member in kind.body:
        if isinstance(member, FUNCTIONS) and member.name in ("__init__", "__new__"):
            found |= parameters(member)
    return found


def wrongly_documented(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        section = re.search(r"^Args:\n((?: {4}.*\n?|\n)*)", ast.get_docstring(node) or "", re.M)
        if section is None:
            continue
        is_class = isinstance(node, ast.ClassDef)
        has = constructor_parameters(node) if is_class else parameters(node)  # type: ignore[arg-type]
        if is_class and not has:
            continue  # its constructor is inherited
        for names in DOCUMENTED.findall(section[1]):
            for name in names.split(","):
                if name.strip("*` ") not in has:
                    yield f"{file.relative_to(PACKAGE)}: {node.name} has no argument {name.strip()}"


@pytest.mark.parametrize("folder", sorted(it.name for it in PACKAGE.iterdir() if it.is_dir()))
def test_docstrings_name_arguments_that_exist(folder: str) -> None:
    files = sorted((PACKAGE / folder).rglob("*.py"))
    assert [line for file in files for line in wrongly_documented(file)] == []


def test_docstrings_of_single_modules_name_arguments_that_exist() -> None:
    assert [
        line for file in sorted(PACKAGE.glob("*.py")) for line in wrongly_documented(file)
    ] == []
