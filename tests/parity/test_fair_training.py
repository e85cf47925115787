"""Training that is fair to languages against tokenizers, on random corpora."""

from __future__ import annotations

import json
import random
import warnings
from typing import Any

import pytest

import jeton
from jeton.components import pre_tokenizers
from jeton.errors import TrainingWarning


def corpus(numbers: random.Random, length: int) -> list[str]:
    letters = numbers.choice(["ab", "abc", "aäb東🙂", "abcd ", "xyz ab"])
    return [
        "".join(numbers.choices(f"{letters} ", k=numbers.randint(0, length)))
        for _ in range(numbers.randint(1, 6))
    ] + [letters]


def test_merges_equal_those_of_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers import models, trainers
    from tokenizers import pre_tokenizers as theirs_pre

    if not hasattr(trainers, "ParityBpeTrainer"):
        pytest.skip("this release of tokenizers has no ParityBpeTrainer")
    numbers = random.Random(3)
    for _ in range(150):
        names = ["en", "de", "hi", "zh"][: numbers.randint(1, 4)]
        data = [corpus(numbers, 40) for _ in names]
        texts = numbers.choice([None, [corpus(numbers, 25) for _ in names]])
        ratios = None
        if texts is None:
            ratios = numbers.choice([None, [numbers.choice([0.5, 1.0, 1.5, 2.0]) for _ in names]])
        has_window = numbers.random() < 0.5
        window: Any = {
            "window_size": numbers.choice([3, 5, 10]),
            "alpha": numbers.choice([1.5, 2.0]),
        }
        # There, training does not end if all languages wait and one has no pairs left.
        frequency = 0 if has_window else numbers.choice([0, 2, 3])
        merges = numbers.randint(1, 8 if has_window else 40)
        first = numbers.choice([0, 0, 3, 10])
        judge = tokenizers.Tokenizer(models.BPE())
        judge.pre_tokenizer = theirs_pre.ByteLevel(add_prefix_space=False)
        trainers.ParityBpeTrainer(
            num_merges=merges,
            variant="window" if has_window else "base",
            global_merges=first,
            min_frequency=frequency,
            initial_alphabet=theirs_pre.ByteLevel.alphabet(),
            show_progress=False,
            **window,
        ).train_from_iterator(
            judge,
            train_iterators=[iter(lines) for lines in data],
            dev_iterators=None if texts is None else [iter(lines) for lines in texts],
            ratio=ratios,
        )
        expected: list[list[str]] = json.loads(judge.to_str())["model"]["merges"]
        given: Any = dict(zip(names, ratios, strict=True)) if ratios else "base"
        if has_window and not ratios:
            given = "window"
        trainer = jeton.BPETrainer(
            256 + merges,
            pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
            languages=given,
            global_merges=first,
            min_frequency=frequency,
            **(window if has_window else {}),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingWarning)
            tok = trainer.train(
                dict(zip(names, data, strict=True)),
                development=None if texts is None else dict(zip(names, texts, strict=True)),
            )
        found = json.loads(tok.to_json())["model"]["merges"]
        # Merges that make a token once more do not count as tokens, of which there are 256 more.
        assert found[: len(expected)] == expected, (data, texts, given, window, frequency)
