"""Byte pair training against tokenizers, on random corpora, wherever that library is certain."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import jeton
from jeton.components import pre_tokenizers

SPECIALS = ["<|end|>", "<s>"]


def corpus(numbers: random.Random) -> list[str]:
    """Texts of few letters, so that pairs are equally frequent often.

    They hold no special tokens: these are boundaries here, and text like any other there.
    """
    letters = numbers.choice(["ab", "abc", "abcé", "aäb東🙂", "ab 12'.", "the rain in spain"])
    atoms = [*letters, " ", "\n"]
    weights = [8] * len(letters) + [6, 1]
    return [
        "".join(numbers.choices(atoms, weights, k=numbers.randint(0, 60)))
        for _ in range(numbers.randint(1, 20))
    ]


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_equal_to_tokenizers(alphabet: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers import models, trainers
    from tokenizers import pre_tokenizers as theirs_pre

    numbers = random.Random(5)
    for _ in range(150):
        texts = corpus(numbers)
        shared: dict[str, Any] = {
            "min_frequency": numbers.choice([0, 0, 2, 5]),
            "max_token_length": numbers.choice([None, None, 3, 5]),
            "special_tokens": SPECIALS[: numbers.randint(0, 2)],
        }
        ours: dict[str, Any] = dict(shared)
        theirs: dict[str, Any] = dict(shared)
        if shared["max_token_length"] is not None:
            # There, tokens are shorter than this.
            ours["max_token_length"] = shared["max_token_length"] - 1
        if alphabet == "bytes":
            stage: Any = theirs_pre.ByteLevel(add_prefix_space=False)
            theirs["initial_alphabet"] = theirs_pre.ByteLevel.alphabet()
            ours["pre_tokenizer"] = pre_tokenizers.ByteLevel(add_prefix_space=False)
        else:
            stage = theirs_pre.WhitespaceSplit()
            ours["pattern"] = "whitespace"
            ours["limit_alphabet"] = numbers.choice([None, None, 3])
            ours["initial_alphabet"] = numbers.choice([[], ["x", "東"]])
            # Which of equally rare characters are dropped is not certain there.
            if ours["limit_alphabet"] is not None:
                characters = "".join("".join(texts).split())
                counts = {c: characters.count(c) for c in characters}
                if len(set(counts.values())) < len(counts) or shared["special_tokens"]:
                    ours["limit_alphabet"] = None
                ours["initial_alphabet"] = []
            theirs["initial_alphabet"] = ours["initial_alphabet"]
            if ours["limit_alphabet"] is not None:
                theirs["limit_alphabet"] = ours["limit_alphabet"]
        size = numbers.randint(260, 330) if alphabet == "bytes" else numbers.randint(14, 60)
        judge = tokenizers.Tokenizer(models.BPE())
        judge.pre_tokenizer = stage
        judge.train_from_iterator(
            texts, trainers.BpeTrainer(vocab_size=size, show_progress=False, **theirs)
        )
        tok = jeton.BPETrainer(size, alphabet=alphabet, **ours).train(texts)
        written = json.loads(tok.to_json())["model"]
        expected = json.loads(judge.to_str())["model"]
        assert written["vocab"] == expected["vocab"], (texts, ours)
        assert written["merges"] == expected["merges"], (texts, ours)
