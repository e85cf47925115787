"""A process may fork at any moment: no child waits for a thread that it does not have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import Regex, normalizers, pre_tokenizers
from kinds import LLAMA, byte_level, characters, unigram, word_piece

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

TEXTS = ["The weather, père 東京 ﬁne ①2 かな Ωμέγα'll 🙂 x = 1\t\n"] * 3

ROUNDS = int(os.environ.get("JETON_FORKS", "4"))
"""How often each tokenizer's first calls are forked from. It takes some 30 to be sure of a lock."""

PATTERNS = {
    "linear": r"\p{L}{1,3}|\p{N}+|[^\p{L}\p{N}]",
    "around": r"\p{L}+(?=\s)|\w|[^\w]",
    "backtracking": r"(\p{L})\1|(?>\w+)|\W",
}


def tokenizers() -> dict[str, jeton.Tokenizer]:
    """One for each family, and for each table that is made when it is first asked for."""
    made = {f"{name}.tiktoken.json": byte_level(name) for name in ("gpt2", "o200k", "deepseek-v3")}
    made |= {
        "wordpiece.json": word_piece(),
        "unigram.json": unigram(),
        "bpe.model": jeton.BPETrainer(300, **LLAMA).train(TEXTS),
        "unigram.model": jeton.UnigramTrainer(45).train(TEXTS),
    }
    stages: dict[str, Any] = {
        "nfc": {"normalizer": normalizers.NFC()},
        "nfd": {"normalizer": normalizers.NFD()},
        "nfkc": {"normalizer": normalizers.NFKC()},
        "nfkd": {"normalizer": normalizers.NFKD()},
        "whitespace": {"pre_tokenizer": pre_tokenizers.Whitespace()},
        "scripts": {"pre_tokenizer": pre_tokenizers.UnicodeScripts()},
        "byte-level": {"pre_tokenizer": pre_tokenizers.ByteLevel()},
    }
    for name, source in PATTERNS.items():
        split = pre_tokenizers.Split(Regex(source), "isolated")
        stages[name] = {"pre_tokenizer": split}
    for name, changed in stages.items():
        made[f"{name}.json"] = characters().replace(**changed)
    return made


@pytest.mark.large
def test_a_child_forked_during_first_calls_finishes(tmp_path: Path) -> None:
    paths = []
    for name, tok in tokenizers().items():
        paths.append(str(tmp_path / name))
        tok.save(paths[-1])
    program = Path(__file__).parents[1] / "support" / "forked_calls.py"
    # Python warns of forks beside threads, from 3.12 on; that is what this is about.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program), str(ROUNDS), *paths],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
