"""README.md answers what a newcomer asks first. `test_docs.py` runs its code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jeton.cli import GROUPS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

QUESTIONS = {
    "What is it for?": ("loads tokenizers in every common", "trains new ones", "training batches"),
    "What do I need, and how do I install it?": ("Python 3.10", "rustup.rs", "pip install ."),
    "Does it work on this machine?": ("make demo", "make test"),
    "How do I turn text into ids and back?": ("tok.encode(", "tok.decode("),
    "How many tokens does my text have?": ("tok.count(", "docs/counting.md"),
    "Which tokenizers can I load, and what if I have no network?": (
        'jeton.load("jeton-4k")', '"gpt2"', '"org/name"', "Without a network",
    ),
    "Are the ids those of my library?": ("the same ids as its original library", "docs/parity.md"),
    "How do I train my own, and use it elsewhere?": ("BPETrainer(", 'mine.save("tokenizer.json")'),
    "I have code for another library: what changes?": tuple(
        f"docs/howto/{it}.md" for it in ("tiktoken", "tokenizers", "sentencepiece", "transformers")
    ),
    "Can a user's text forge a control token?": ("it stays text", 'special="allow"'),
    "How do I prepare a corpus for training?": ("docs/prepare.md", "docs/batches.md"),
    "How fast is it, and who says so?": ("Measured on two cores", "docs/benchmarks/encode.md"),
    "Where do I learn how it works?": ("docs/course/index.md", "`jeton learn`", "`jeton play`"),
    "How finished is it, and may I use it?": ("alpha", "Apache-2.0"),
}  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_of_a_newcomer(question: str) -> None:
    assert [it for it in QUESTIONS[question] if it not in README] == []


def test_the_readme_is_short() -> None:
    assert README.count("\n") <= 70


def test_its_links_lead_somewhere() -> None:
    paths = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_its_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {*re.findall(r"^    make (\w+)", README, re.MULTILINE)}
    assert targets and [it for it in targets if f"\n{it}:" not in makefile] == []
    known = {name for names in GROUPS.values() for name in names}
    named = {*re.findall(r"(?:^ *|\$ |`)jeton (\w+)", README, re.MULTILINE)}
    assert named and named <= known
    extras = re.findall(r"'\.\[([\w,]+)\]'", README)
    assert extras
    for extra in extras:
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        assert [it for it in extra.split(",") if f"\n{it} = [" not in project] == []


def test_the_readme_clones_from_the_address_of_the_project() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [address] = re.findall(r'^Repository = "(.+)"$', project, re.MULTILINE)
    assert f"git clone {address} " in README
    assert README.count(address) == 1
    assert f'repository = "{address}"' in (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    addresses = re.findall(r'"(https://github\.com/.+)"', project)
    assert addresses and [it for it in addresses if not it.startswith(address)] == []


def test_the_speed_comes_straight_after_the_claim() -> None:
    order = ("**Text to tokens", "docs/pictures/speed.svg", "## Install", "tok.encode(")
    places = [README.index(it) for it in (*order, "BPETrainer(", "from jeton.tiktoken import")]
    assert places == sorted(places)


def test_the_readme_names_the_supported_pythons() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [least] = re.findall(r'requires-python = ">=([\d.]+)"', project)
    [rust] = re.findall(r'rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text("utf-8"))
    assert f"Python {least} or newer" in README
    assert f"(https://rustup.rs) {rust} or newer" in README
    version = subprocess.run(
        [sys.executable, "-m", "jeton", "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r"version (\d+\.\d+)", README)[1] in version  # type: ignore[index]
