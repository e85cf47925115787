"""The examples in README.md and docs/ run, and show what is shown; `guide.py` says how.

With `JETON_DOCS=write`, what is shown and the pictures are written instead of compared.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unittest import mock

import pytest

import check_rules
import commands
import illustrations
import jeton
import lessons
import man_page
from guide import FENCED, Page, tools
from jeton.components import decoders, models

ROOT = Path(__file__).parents[2]
FILES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if FENCED.search(path.read_text(encoding="utf-8"))
]
FRAMEWORKS = (
    "datasets", "datasketch", "datatrove", "duckdb", "langchain_text_splitters", "llama_index",
    "pandas", "polars", "pyspark", "ray", "torch", "trl",
)  # fmt: skip
NEEDS = re.compile(
    rf"(?:^ *(?:>>> )?(?:import|from) |jeton\[)({'|'.join(FRAMEWORKS)})\b", re.MULTILINE
)
MOVES_TENSORS = "batch.to("
"""A call of transformers that needs torch, on a page that imports none."""


def needed_by(path: Path) -> list[str]:
    """The frameworks that a page or program stands on; the test is skipped where one is missing."""
    text = path.read_text(encoding="utf-8")
    names = sorted({*NEEDS.findall(text), *(["torch"] if MOVES_TENSORS in text else [])})
    for name in names:
        pytest.importorskip(name, reason=f"{path.name} stands on {name}, which is not installed")
    return names


def has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=None if home is None else f"{home}/bin") is not None


@pytest.mark.large
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
@pytest.mark.filterwarnings("error::jeton.errors.TrainingWarning")
def test_examples(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = needed_by(path)
    if "pyspark" in needed and not has_java():
        pytest.skip("the page stands on Spark, and there is no Java here (JAVA_HOME, or PATH)")
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    if "ray" in needed:
        # Where Ray ran, a second cluster in the same process is not reached by its nodes.
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn) as apart:
            apart.submit(run_page, path, folder, tmp_path / "bin").result(timeout=600)
    else:
        run_page(path, folder, tmp_path / "bin")


def run_page(path: Path, folder: Path, bin: Path) -> None:
    # tiktoken keeps a copy of each file that it reads, also from one test to the next.
    with mock.patch.dict(os.environ, {"TIKTOKEN_CACHE_DIR": ""}):
        Page(path, folder, tools(bin)).run()


@pytest.mark.parametrize("name", illustrations.FIGURES)
def test_figures(name: str) -> None:
    drawn = (illustrations.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == illustrations.FIGURES[name](), "python site/illustrations.py draws it anew"


def test_lessons_in_pages() -> None:
    chapters = "".join(it.read_text("utf-8") for it in (ROOT / "docs/course").glob("*.md"))
    assert sorted(re.findall(r'src="steps/(\w+)\.html"', chapters)) == sorted(lessons.LESSONS)
    for lesson in lessons.LESSONS.values():
        assert lesson().count("<section") > 1, "a lesson has steps"


def test_every_chapter_and_algorithm_has_a_figure() -> None:
    chapters = sorted((ROOT / "docs/course").glob("[0-9]*.md"))
    pages = {*(ROOT / "docs/algorithms").glob("*.md")} - {ROOT / "docs/algorithms/index.md"}
    without = [
        it.name for it in (*chapters, *pages) if "](../pictures/" not in it.read_text("utf-8")
    ]
    assert without == []


def test_the_page_of_commands_is_their_help() -> None:
    written = commands.PAGE.read_text(encoding="utf-8")
    assert written == commands.page(), "python site/commands.py writes it anew"


def test_the_page_on_checks_has_the_rules_texts() -> None:
    written = check_rules.PAGE.read_text(encoding="utf-8")
    assert written == check_rules.page(), "python site/check_rules.py writes it anew"


def test_the_manual_page_is_their_help() -> None:
    written = man_page.PAGE.read_text(encoding="utf-8")
    assert written == man_page.page(), "python site/man_page.py writes it anew"
    if shutil.which("groff"):
        checked = subprocess.run(
            ["groff", "-k", "-Kutf8", "-man", "-Tutf8", "-ww", str(man_page.PAGE)],
            capture_output=True,
            text=True,
        )
        assert checked.stderr == ""


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_programs(path: Path, tmp_path: Path) -> None:
    needed_by(path)
    arguments = []
    if path.name == "count_tokens.py":
        tokenizer = tmp_path / "tokenizer.json"
        model = models.BPE({bytes([byte]): byte for byte in range(256)}, merges=[])
        jeton.Tokenizer(model, decoder=decoders.ByteLevel()).save(tokenizer)
        arguments = [str(tokenizer), str(ROOT / "README.md")]
    result = subprocess.run(
        [sys.executable, str(path), *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
