"""The pages of docs/benchmarks are those that their programs write, and docs quote them rightly.

Nothing is measured here: a page that was edited by hand, or a program that now writes other tables,
is found; figures that have become old are not.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "benchmarks").glob("*.md"))
PROGRAM = re.compile(r"[Mm]ade\s+by\s+`(?:python )?(benchmarks/\w+\.py)")
TABLE = re.compile(r"^\|.*(?:\n\|.*)*", re.MULTILINE)


def _program(page: Path) -> Path:
    named = PROGRAM.search(page.read_text(encoding="utf-8"))
    assert named is not None, "the page does not name its program"
    return ROOT / named[1]


def _tables(page: Path) -> list[list[list[str]]]:
    """The rows of each table, the head first, without the rule below it."""
    return [
        [[cell.strip() for cell in line.strip()[1:-1].split(" |")] for line in table.split("\n")]
        for table in TABLE.findall(page.read_text(encoding="utf-8"))
    ]


def _words(program: Path) -> set[str]:
    """The texts and names in a program and its package, and the parts of texts between bars."""
    source = program.read_text(encoding="utf-8")
    sources = [source]
    for name in re.findall(r"^from (\w+)\.\w+ import", source, re.MULTILINE):
        sources += [path.read_text("utf-8") for path in (program.parent / name).glob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    texts = {it.value for it in nodes if isinstance(it, ast.Constant) and isinstance(it.value, str)}
    texts |= {it.attr for it in nodes if isinstance(it, ast.Attribute)}  # signal.SIGINT
    parts = {part for text in texts for part in re.split(r"\||\n", text)}
    return {text.strip(" ,") for text in texts | parts}


def _is_written_by(words: set[str], cell: str) -> bool:
    known = (part in words or re.fullmatch(r"[\d.,]*", part) for part in cell.split(", "))
    return cell in words or all(known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_its_program_and_day(page: Path) -> None:
    assert _program(page).exists()
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", page.read_text(encoding="utf-8").split("\n| ")[0])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_rows_and_columns_of_its_program(page: Path) -> None:
    words = _words(_program(page))
    tables = _tables(page)
    assert tables
    cells = [cell for head, _, *rows in tables for cell in (*head, *(row[0] for row in rows))]
    assert [cell for cell in cells if not _is_written_by(words, cell)] == []


def test_cells_that_no_program_writes_are_found() -> None:
    words = _words(ROOT / "benchmarks" / "prepare.py")
    assert _is_written_by(words, "`--layout megatron`") and _is_written_by(words, "1,000")
    assert not _is_written_by(words, "`--layout tape`") and not _is_written_by(words, "peak, GB")


def _figure(page: str, row: str, column: str) -> float:
    [found] = [
        dict(zip(head, cells, strict=True))[column]
        for head, _, *rows in _tables(ROOT / "docs" / "benchmarks" / f"{page}.md")
        for cells in rows
        if row in cells and column in head
    ]
    return float(found.replace(",", ""))


def test_the_page_on_prepare_has_the_measured_speed() -> None:
    text = (ROOT / "docs" / "prepare.md").read_text(encoding="utf-8")
    quoted = re.search(
        r"1 GB takes (\d+) to (\d+) seconds, (\d+) times less than nanoGPT's way, (\d+) times", text
    )
    assert quoted is not None
    table = _tables(ROOT / "docs" / "benchmarks" / "prepare.md")[0]
    rates = [float(row[2]) for row in table[2:] if row[1] == "`jeton prepare`"]
    ratios = [
        _figure("prepare", way, "`jeton prepare` is faster by")
        for way in (
            "nanoGPT's: `datasets.map` with tiktoken, both cores",
            "Megatron's: its builder, with tokenizers",
        )
    ]
    figures = [1_000 / max(rates), 1_000 / min(rates), *ratios]
    assert [int(number) for number in quoted.groups()] == [round(figure) for figure in figures]


def test_the_page_on_sentencepiece_has_the_measured_tokens() -> None:
    text = (ROOT / "docs" / "howto" / "sentencepiece.md").read_text(encoding="utf-8")
    quoted = re.search(r"([\d.]+) times as many tokens on English: \[benchmarks\]", text)
    page = (ROOT / "docs" / "benchmarks" / "training.md").read_text(encoding="utf-8")
    measured = re.search(r"sentencepiece [\d.]+ \(tokens: ([\d.]+) times as many\)", page)
    assert quoted is not None and measured is not None
    assert float(quoted[1]) == round(float(measured[1]), 2)
