"""Every regular expression of the package takes time in proportion to its input.

An expression is run on texts made from its own parts, and on texts twice as long: the steps of a
plain backtracking matcher may double, and not more. Those that only ever see a short text are
listed with what bounds it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jeton
from regex_steps import Matcher, TooManySteps, attacks, steps, tree_of

PACKAGE = Path(jeton.__file__).parent
SCANNING = {"search", "sub", "subn", "findall", "finditer", "split"}
METHODS = {*SCANNING, "compile", "match", "fullmatch"}

BOUNDED: dict[str, str] = {
    "chat/schemas.py:_CHOICES": "the docstring of a function that the caller passes as a tool",
}
"""Expressions that may take longer, each with what bounds its input."""


def expressions() -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    """Each expression that is written out, where it is, and whether it is looked for everywhere."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text()
        tree = ast.parse(source)
        names = {
            node.value: target.id
            for node in ast.walk(tree)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in METHODS
                and isinstance(node.args[0], ast.Constant)
            ):
                continue
            pattern: Any = node.args[0].value
            flags = 0
            is_compiled = node.func.attr == "compile"
            for given in (
                [*node.args[1:], *(it.value for it in node.keywords)] if is_compiled else []
            ):
                for name in re.findall(r"\bre\.([A-Z]+)", ast.unparse(given)):
                    flags |= re.RegexFlag[name]
            name = names.get(node, "") if is_compiled else ""
            uses = set(re.findall(rf"\b{name}\.(\w+)", source)) if name else {node.func.attr}
            scans = bool(uses & SCANNING) or not uses
            yield (
                f"{path.relative_to(PACKAGE)}:{name or repr(pattern)}",
                re.compile(pattern, flags),
                scans,
            )


EXPRESSIONS = {name: (pattern, scans) for name, pattern, scans in expressions()}


def growth(pattern: re.Pattern[str] | re.Pattern[bytes], scans: bool) -> tuple[float, str]:
    """The greatest ratio of the steps for a text to those for half of it, and that text."""
    worst = (0.0, "")
    for before, pump, after in attacks(pattern):
        times = max(3, 40 // len(pump))
        try:
            half = steps(pattern, before + pump * times + after, scans=scans)
            whole = steps(pattern, before + pump * 2 * times + after, scans=scans)
            ratio = whole / half
        except TooManySteps:
            ratio = float("inf")
        worst = max(worst, (ratio, f"{before!r} + {pump!r} * n + {after!r}"))
        if ratio > 3:
            break
    return worst


@pytest.mark.large
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_steps_double_when_the_input_does(name: str) -> None:
    if name in BOUNDED:
        pytest.skip(BOUNDED[name])
    ratio, text = growth(*EXPRESSIONS[name])
    assert ratio < 2.6, text


def test_bounded_expressions_are_there() -> None:
    assert BOUNDED.keys() <= EXPRESSIONS.keys()


@pytest.mark.parametrize(
    ("pattern", "scans"),
    [
        (r"(?:dtype|shape)\s*=\s*\([^)]*\)", True),
        (r"\s+$", True),
        (r"(?:a|aa)+$", False),
        (r"(\w+\s?)+:", False),
        (r"a.*b", True),
        (r"<!--.*?-->", True),
    ],
)
def test_an_expression_that_takes_long_is_found(pattern: str, scans: bool) -> None:
    assert growth(re.compile(pattern, re.DOTALL), scans)[0] > 3


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"(?i)(?:ab|a)*c\b", ["abac", "ABaC d", "abacd"]),
        (r"(?<=x)\d{2,3}?(?!\d)", ["x12", "x1234", "x123"]),
        (r"(['\"])(?:[^\\]|\\.)*?\1", ["'a'", '"a\\"b"', "'a\""]),
        (r"(?s)^a.+?\s*$", ["a\n b ", "ab", "a"]),
    ],
)
def test_the_matcher_finds_what_python_finds(pattern: str, texts: list[str]) -> None:
    compiled = re.compile(pattern)
    for text in texts:
        for at in range(len(text)):
            found = compiled.match(text, at)
            matcher = Matcher(tree_of(compiled), compiled.flags, text, 10_000)
            assert matcher.match(at) == (found.end() if found else -1), (text, at)
