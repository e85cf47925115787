"""Pairs and words that were split before: ids and spans equal to those of tokenizers' batches."""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("sentencepiece")
pytest.importorskip("transformers")

import jeton
import model_pipelines
import nasty
import pipelines
from jeton.errors import EncodeError
from peer_spans import agree
from test_pipelines import PANIC, SPECIALS, _outcome, _reloaded

NUMBERS = range(60)


def entries(number: int) -> tuple[list[Any], list[Any]]:
    """Texts and pairs, and the same of words; most words are such, some are anything."""
    rng = random.Random(number)
    odd = [*nasty.strings(30, seed=number, specials=SPECIALS), "", " ", " the"]
    plain = pipelines.PUNCTUATED.split()

    def words() -> list[str]:
        return [rng.choice(plain if rng.random() < 0.7 else odd) for _ in range(rng.randrange(6))]

    texts: list[Any] = [*odd, *((rng.choice(odd), rng.choice(odd)) for _ in range(20))]
    split: list[Any] = [*(words() for _ in range(20)), *((words(), words()) for _ in range(20))]
    return texts, split


def compare(ours: jeton.Tokenizer, theirs: Any, number: int) -> None:
    """Batches of all that tokenizers encodes, and errors for what it refuses."""
    for is_split, given in enumerate(entries(number)):
        for around in (False, True):
            compare_batch(ours, theirs, given, bool(is_split), around)


def compare_batch(
    ours: jeton.Tokenizer, theirs: Any, given: list[Any], is_split: bool, around: bool
) -> None:
    def batch_of(entry: Any) -> Any:
        rows = theirs.encode_batch([entry], is_pretokenized=is_split, add_special_tokens=around)
        return rows[0]

    def encoded_again(entry: Any) -> Any:
        return _outcome(partial(batch_of, entry))

    said = [_outcome(partial(batch_of, entry)) for entry in given]
    options: dict[str, Any] = {
        "is_split_into_words": is_split,
        "special": "allow",
        "add_special_tokens": around,
    }
    known = [
        (entry, row)
        for entry, row in zip(given, said, strict=True)
        if row is not None and row is not PANIC
    ]
    encoded = [entry for entry, _ in known]
    batch = ours.encode_batch(encoded, spans="characters", **options)
    for (entry, row), (start, end) in zip(known, pairwise(batch.offsets), strict=True):
        assert batch.ids[start:end].tolist() == row.ids, (entry, around)
        mine = batch.spans[start:end].tolist()
        assert agree(mine, row, entry, theirs.normalizer, encoded_again), (entry, around)
        first, second = entry if isinstance(entry, tuple) else (entry, None)
        single = ours.encode_with_spans(first, second, **options)
        if is_split:
            assert single.word_ids == row.word_ids, entry
        assert single.type_ids == row.type_ids, entry
    assert ours.encode_batch(encoded, **options) == batch
    for entry, row in zip(given, said, strict=True):
        if row is None:
            with pytest.raises(EncodeError):
                ours.encode_batch([entry], **options)


@pytest.mark.parametrize("name", model_pipelines.CLASSICS)
def test_classics(name: str) -> None:
    theirs = _reloaded(model_pipelines.classic(name))
    compare(jeton.Tokenizer.from_json(theirs.to_str()), theirs, 1)


@pytest.mark.large
@pytest.mark.parametrize("number", NUMBERS)
def test_composed(number: int) -> None:
    theirs = _reloaded(pipelines.compose(number))
    compare(jeton.Tokenizer.from_json(theirs.to_str()), theirs, number)
