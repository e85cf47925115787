"""A sample of what `full_scale.py` compares: ids, decoding, spans that tile, pieces, n-best."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("sentencepiece")
pytest.importorskip("tokenizers")

import pairs
from nasty import strings
from test_sentencepiece import LINES, nasty_strings

TEXTS = ["", " ", *LINES[:10], *strings(150, seed=11), *nasty_strings(150, seed=12)]


def _compare(chosen: Sequence[pairs.Pair]) -> None:
    assert chosen
    for pair in chosen:
        differences = pair.comparer()(TEXTS)
        assert not differences.count, (pair.name, differences.found)


def test_options(tmp_path: Path) -> None:
    _compare(list(pairs.option_pairs(tmp_path, 24)))


def test_trained_by_tokenizers(tmp_path: Path) -> None:
    trained = [*pairs.word_pieces(tmp_path, LINES * 3), *pairs.unigrams(tmp_path, LINES * 3)]
    _compare(trained[::3])


def test_published(vocabularies: Path) -> None:
    _compare(list(pairs.real_pairs(vocabularies)))
