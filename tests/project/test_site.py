"""The site of docs/: its navigation, its reference, and what its copy button copies."""

from __future__ import annotations

import codeop
import doctest
import importlib
import pkgutil
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jeton
import live
import search_order
from browser import BROWSER
from guide import FENCED, steps
from jeton import samples
from jeton.errors import UnsupportedError

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAVIGATION = set(re.findall(r'"([\w/.-]+\.md)"', (ROOT / "zensical.toml").read_text("utf-8")))


def test_every_page_is_in_the_navigation() -> None:
    assert {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} == NAVIGATION


def documented() -> set[str]:
    """What the pages of the reference name, and the public names of modules that they name."""
    names = set()
    for page in (DOCS / "reference").rglob("*.md"):
        for name in re.findall(r"^::: ([\w.]+)", page.read_text("utf-8"), re.MULTILINE):
            names.add(name.rpartition(".")[2])
            if "options" not in page.read_text("utf-8"):
                try:
                    names.update(getattr(pkgutil.resolve_name(name), "__all__", ()))
                except (AttributeError, ImportError, UnsupportedError):
                    pytest.skip(f"{name} stands on torch, which is not installed")
    return names


@pytest.mark.parametrize(
    "module", ["jeton", "jeton.data", "jeton.edit", "jeton.analysis", "jeton.cost"]
)
def test_every_public_name_is_in_the_reference(module: str) -> None:
    public = set(importlib.import_module(module).__all__)
    packages = {name for name in public if isinstance(getattr(jeton, name, None), type(jeton))}
    assert public - documented() - packages == set()


def test_every_method_of_a_tokenizer_is_in_the_reference() -> None:
    public = {name for name in dir(jeton.Tokenizer) if not name.startswith("_")}
    assert public - documented() == set(), "it goes to a page in docs/reference/tokenizer"


def test_tables_show_code_as_it_is() -> None:
    """A bar in code in a table is written `&#124;`: the site would show the backslash of `\\|`."""
    wrong = [
        f"{page.relative_to(DOCS)}: {line}"
        for page in DOCS.rglob("*.md")
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("|") and re.search(r"`[^`|]*\\\|[^`]*`", line)
    ]
    assert wrong == []


def test_search_finds_the_course_before_internals() -> None:
    items = [
        {"title": title, "path": path}
        for title, path in [
            ("Byte pair encoding", ["Internals", "Algorithms"]),
            ("BPETrainer", ["Reference", "Trainers"]),
            ("2. Byte pair encoding", ["Course"]),
            ("jeton", []),
        ]
    ]
    assert [item["title"] for item in search_order.ordered(items)] == [
        "2. Byte pair encoding",
        "jeton",
        "Reference: BPETrainer",
        "Internals: Byte pair encoding",
    ]


def test_the_page_on_counting_has_the_words_of_the_search_in_front() -> None:
    """The search ranks by how early the words are in a title."""
    assert (DOCS / "counting.md").read_text("utf-8").startswith("# Count tokens")


@pytest.fixture(scope="module")
def browser_page() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("no browser here (chromium, chromium-browser or google-chrome)")
    with api.sync_playwright() as run:
        browser = run.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page()
        page.add_script_tag(path=DOCS / "assets/copy.js")
        yield page
        browser.close()


PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if any(block["kind"] != "python" for block in FENCED.finditer(page.read_text("utf-8")))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_copied_examples_are_those_that_are_tested(page: Path, browser_page: Any) -> None:
    """What the button copies, pasted at a prompt, is the statements and commands of the block."""
    for block in FENCED.finditer(page.read_text("utf-8")):
        if block["kind"] == "pycon":
            copied = browser_page.evaluate("typedPython", block["code"])
            examples = doctest.DocTestParser().get_examples(block["code"])
            assert [it.rstrip() for it in statements(copied)] == [
                it.source.rstrip() for it in examples
            ]
        elif block["kind"] == "console":
            copied = browser_page.evaluate("typedCommands", block["code"])
            assert copied == "\n".join(command for command, _ in steps(block["code"]))
            checked = subprocess.run(["bash", "-n"], input=copied, text=True, capture_output=True)
            assert checked.returncode == 0, f"{copied}\n{checked.stderr}"


def statements(pasted: str) -> Iterator[str]:
    """The statements that Python's prompt takes from lines that are pasted there."""
    lines: list[str] = []
    for line in [*pasted.split("\n"), ""]:
        if not (lines or line.strip()):
            continue
        lines.append(line)
        if codeop.compile_command("\n".join(lines)) is not None:
            yield "\n".join(lines)
            lines = []
    assert not lines, f"the prompt waits for the end of {lines}"


SESSION = """>>> for word in ["a"]:
...     print(word)
a
>>> [1,
...  2]
[1, 2]
"""


@pytest.mark.large
def test_a_block_of_a_session_ends_in_an_empty_line(browser_page: Any) -> None:
    copied = browser_page.evaluate("typedPython", SESSION)
    assert copied == 'for word in ["a"]:\n    print(word)\n\n[1,\n 2]\n'


def test_the_live_view_has_the_ids_of_jeton(browser_page: Any) -> None:
    """On the samples, on odd texts, and on random ones."""
    tok = jeton.load("jeton-4k", offline=True)
    browser_page.add_script_tag(content=live.script())
    browser_page.add_script_tag(path=DOCS / "assets/live.js")
    numbers = random.Random(4096)
    letters = "ab Z12é'stmlrevdSTſ.,!_\n\r\t 図½\u00a0\u0085\ufeff\u3000\u2028🙂\u0345٣ﬆ"
    texts = [*samples.read_all().values(), "", " ", "\n\n", "'S'ſ'LL", "a" * 300, "<|endoftext|>"]
    texts += ["".join(numbers.choices(letters, k=numbers.randrange(1, 40))) for _ in range(600)]
    ids = browser_page.evaluate(
        """texts => { const encode = liveTokenizer(JETON_4K);
        return texts.map(text => encode(text).map(it => it.id)); }""",
        texts,
    )
    assert ids == [tok.encode(text) for text in texts]
    shown = browser_page.evaluate("liveTexts(liveTokenizer(JETON_4K)('a 🙂'))")
    assert shown[0] == "a" and shown[-1].endswith(f"⟨{len(shown) - 1}/{len(shown) - 1}⟩")
