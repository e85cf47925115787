"""The examples in README.md and docs/: Python blocks run, console blocks run and say what is shown.

Look here to learn which blocks are run: ```python and ```console, those of one file one after
another in one folder and one namespace.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import jeton
from jeton.components import decoders, models

ROOT = Path(__file__).parent.parent
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_examples(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    for block in BLOCK.finditer(text):
        kind, code = block.groups()
        line = text.count("\n", 0, block.start(2))
        if kind == "python":
            exec(compile("\n" * line + code, str(path), "exec"), namespace)
        else:
            run_console(code, f"{path.name}:{line + 1}")


def run_console(block: str, place: str) -> None:
    """Runs the lines that begin with `$`; what stands below one is what it must print."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        command = re.sub(r"\bjeton(?= )", f"{sys.executable} -m jeton", command, count=1)
        result = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
        assert result.returncode == 0, f"{place}: {command}\n{result.stderr}"
        if shown.strip():
            assert result.stdout == shown, f"{place}: {command}"


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_programs(path: Path, tmp_path: Path) -> None:
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
