"""`Tokenizer.explain` on pipelines of every component and on published vocabularies."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import nasty

pytest.importorskip("tokenizers")

import jeton
import pipelines
from conftest import Scale
from jeton.errors import EncodeError

SPECIALS = ("<|end|>", "[CLS]", "<mask>", " <mask> ", "Naïve", "don", "<0x41>")


def _compare(tok: jeton.Tokenizer, texts: list[str]) -> None:
    some = list(tok.special_tokens)[:1]
    for text, special in itertools.product(texts, ("ignore", "allow", some)):
        try:
            tok.encode(text, special=special)
        except EncodeError:
            with pytest.raises(EncodeError):
                tok.explain(text, special=special)
        else:
            # It compares its ids with those of `encode` by itself.
            tok.explain(text, special=special, add_special_tokens=True)


@pytest.mark.large
def test_composed_pipelines(scale: Scale) -> None:
    for number in range(120 if scale.full else 8):
        tok = jeton.Tokenizer.from_json(pipelines.compose(number).to_str())
        _compare(tok, list(nasty.strings(12, seed=number, specials=SPECIALS)))


@pytest.mark.parametrize(
    "name",
    [
        "cl100k_base.tiktoken",
        "llama2_sentencepiece_bpe.model",
        "t5_style_unigram.model",
        "bert_uncased_vocab.txt",
        "neox",
    ],
)
def test_published_vocabularies(name: str, scale: Scale, vocabularies: Path) -> None:
    count = 400 if scale.full else 10
    _compare(jeton.load(vocabularies / name), list(nasty.strings(count, seed=5, specials=SPECIALS)))
