"""BERT's `vocab.txt` against tokenizers' own BERT tokenizer: ids with and without `[CLS]`."""

from __future__ import annotations

from pathlib import Path

import pytest

import jeton
from conftest import Scale
from nasty import strings

implementations = pytest.importorskip("tokenizers").BertWordPieceTokenizer


@pytest.mark.large
@pytest.mark.parametrize("lowercase", [True, False])
def test_bert(lowercase: bool, vocabularies: Path, documents: list[str], scale: Scale) -> None:
    """The uncased vocabulary, read as uncased and as cased."""
    path = vocabularies / "bert_uncased_vocab.txt"
    judge = implementations(str(path), lowercase=lowercase)
    # Text never becomes a special token, as with special="ignore" here.
    judge._tokenizer.encode_special_tokens = True
    tokenizer = jeton.load(path, lowercase=lowercase)
    for text in [*documents, *strings(scale.strings, seed=4)]:
        ids = judge.encode(text).ids
        assert tokenizer.encode(text, add_special_tokens=True) == ids, text


def test_writing(vocabularies: Path, tmp_path: Path) -> None:
    """What is read is written line for line; case is recognized by the tokens."""
    path = vocabularies / "bert_uncased_vocab.txt"
    tokenizer = jeton.load(path)
    assert tokenizer == jeton.load(path, lowercase=True)
    tokenizer.save(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_bytes().split() == path.read_bytes().split()
