"""Former import paths give the modules that moved: one class of each name, and old pickles load."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import subprocess
import sys

import pytest

import jeton
from jeton.former_paths import MOVED

BELOW = [
    ("jeton.base_tokenizer.tokens", "jeton.encoding.base_tokenizer.tokens"),
    ("jeton.interfaces.tiktoken.encoding", "jeton.interop.tiktoken.encoding"),
    ("jeton.reference.byte_level", "jeton.learn.reference.byte_level"),
    ("jeton.trainers.bpe", "jeton.training.bpe"),
    ("jeton.views.frames", "jeton.display.views.frames"),
]


@pytest.mark.parametrize(
    ("former", "here"),
    [(f"jeton.{former}", f"jeton.{here}") for former, here in MOVED.items()] + BELOW,
    ids=lambda path: path,
)
def test_a_former_path_is_the_same_module(former: str, here: str) -> None:
    assert importlib.import_module(former) is importlib.import_module(here)


def test_statements_of_all_kinds() -> None:
    script = """
import jeton.reference.unigram
import jeton.textbook as textbook
from jeton.reference import byte_level
from jeton.trainers import BPETrainer
import jeton
assert jeton.reference.byte_level is byte_level
assert jeton.textbook is textbook
assert BPETrainer is jeton.BPETrainer
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("module", "name", "here"),
    [
        ("jeton.calls.result", "BatchEncoding", jeton.BatchEncoding),
        ("jeton.chunks.cutting", "Chunk", jeton.Chunk),
        ("jeton.corpus", "Progress", jeton.Progress),
        ("jeton.encoding", "Encoding", jeton.Encoding),
        ("jeton.encoding", "TokenBatch", jeton.TokenBatch),
        ("jeton.padding", "PaddedBatch", jeton.PaddedBatch),
        ("jeton.trainers.bpe", "BPETrainer", jeton.BPETrainer),
        ("jeton.word_counts", "WordCounts", jeton.WordCounts),
    ],
)
def test_old_pickles_find_their_classes(module: str, name: str, here: type) -> None:
    assert pickle.loads(f"c{module}\n{name}\n.".encode()) is here


@pytest.mark.parametrize("name", ["jeton.nothing", "jeton.views.nothing", "jeton.trainers_too"])
def test_no_module_is_made_up(name: str) -> None:
    assert importlib.util.find_spec(name) is None
