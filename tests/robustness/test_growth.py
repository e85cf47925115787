"""Files that make memory grow: each is refused by name, or costs no more than it should.

The files, and the process that reads them with little memory, are in `growing.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from growing import CASES

REPLACE = r'Replace "a" by "aa": a text of 1 bytes becomes one of more than'
OUTGROWN = "past the limit of 32 times as many and 4096"

SAID: dict[str, str] = {
    "Replace doubles": f"normalizer {REPLACE} 4128, {OUTGROWN}",
    "Replace of nothing": 'normalizer Replace "" by "a": a text of 1 bytes',
    "Replace by a pattern": f"normalizer {REPLACE} 4128, {OUTGROWN}",
    "Replace of Unigram": f"normalizer {REPLACE} 4128, {OUTGROWN}",
    "Replace by a long text": f"becomes one of more than 324096, {OUTGROWN}",
    "Replace in words": OUTGROWN,
    "Prepend to each section": "normalizer Prepend: a text of 16000 bytes",
    "Prepend to each section, Metaspace": "normalizer Prepend: a text of 16000 bytes",
    "ByteLevel on ByteLevel": "normalizer ByteLevel: a text of 2 bytes",
    "Prepend and split": "pre-tokenizer ByteLevel: a text of 3 bytes",
    "ByteLevel pre-tokenizers": "pre-tokenizer ByteLevel: a text of 2 bytes",
    "Normalized added tokens": 'added token "<0>": normalizer Prepend: a text of 28890 bytes',
    "A character map": "it replaces something by more than 128 bytes, which is the limit",
    "A character map of SentencePiece": "it replaces something by more than 128 bytes",
    "A text many times": "post-processor: a text of 10000 tokens becomes one of more than 324096",
    "Special tokens of many tokens": "post-processor: a text of 1 tokens",
    "Many special tokens": "post-processor: a text of 1 tokens",
    "Templates of templates": "post-processor: a text of 1 tokens",
    "A decoder doubles": 'decoder Replace "a" by "aa": a text of 2 bytes',
    "A decoder doubles, many ids": 'decoder Replace "a" by "aa": a text of 200000 bytes',
    "A decoder by a long text": 'decoder Replace "a" by "xxxxxxxx',
    "A suffix of nothing": "decoder BPEDecoder: a text of 4 bytes",
    "A delimiter of nothing": "decoder CTC: a text of 4 bytes",
    "The surface of the unknown piece": "the surface of the unknown piece: a text of 60000 bytes",
    "Counts in counts, as ranks": "does not accept the pattern",
    "Counts of classes, as ranks": "does not accept the pattern",
    "Nested groups": "Oniguruma does not accept the pattern",
    "A long prefix of continuations": "continuing_subword_prefix has 200000 bytes",
    "A long suffix of words": "end_of_word_suffix has 1048576 bytes, and may have 128 at most",
    "A huge id": "past the largest supported id 16777215",
    "A huge id among ranks": "past the largest supported id 16777215",
    "A length of 2^60": "1152921504606846975 bytes should follow, but only 0 are left",
    "A charsmap of a huge length": "its trie should have 4294967292 bytes, and only 100 are there",
    "Nested lists": "not a tokenizer of a known format",
    "nbest of a huge n": "n must lie between 1 and 512",
    "nbest of many": "n must lie between 1 and 512",
    "A bomb to train on": "x.jsonl.zst: line 1: the line has more than 68 MB",
    "A bomb to prepare": "x.txt.zst: the document has more than 537 MB",
}
"""What the error says; the cases that are not here come to an end without one."""


@pytest.fixture(scope="session")
def outcomes() -> dict[str, str]:
    program = Path(__file__).parents[1] / "support" / "growing.py"
    command = [sys.executable, str(program)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.large
@pytest.mark.parametrize("case", CASES)
def test_memory_is_bounded(case: str, outcomes: dict[str, str]) -> None:
    said = outcomes[case]
    assert not said.startswith("not jeton's"), said
    assert SAID.get(case, "") in said and (case in SAID or said == "")
