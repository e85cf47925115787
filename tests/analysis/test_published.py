"""Figures of measures are those of others who published theirs, on the same tokens.

`tokenization-scorer` is by the authors of the Rényi efficiency, and runs here; so does `toklens`,
for fertility and compression. TokEval is in no
registry of packages, so its formulas are written out below, as its source of 2026 has them; what it
calls otherwise or counts otherwise is told in docs/measures.md.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import pytest

import jeton
from jeton.analysis import evaluate
from kinds import each_kind

TEXTS = ["the weather there", "the theory of the weather", "then there"]
PARALLEL = {
    "en": ["the weather there", "the theory"],
    "de": ["then the other weather", "that theory of the weather"],
    "fr": ["there", "the the the the"],
}


@each_kind
def test_efficiency_is_that_of_the_papers_own_code(tok: jeton.Tokenizer) -> None:
    scorer = pytest.importorskip("tokenization_scorer")
    cut = [" ".join(map(str, tok.encode(text))) for text in TEXTS]
    found = evaluate(tok, TEXTS)["all"]
    for name, options in (
        ("renyi_efficiency_used", {}),
        ("renyi_efficiency", {"vocab": tok.vocab_size}),
    ):
        theirs = scorer.score(cut, metric="renyi_efficiency", power=2.5, **options)
        assert found[name] == pytest.approx(theirs), name
    assert found["entropy"] == pytest.approx(scorer.score(cut, metric="shannon_entropy"))


def test_figures_are_those_of_toklens(tmp_path: Path) -> None:
    theirs = pytest.importorskip("toklens.metrics")
    tokenizers = pytest.importorskip("tokenizers")
    tok = jeton.BPETrainer(290, pattern="gpt2").train(TEXTS * 3)
    tok.save(tmp_path / "tokenizer.json")
    same = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    # Words there have no space before them, so each has a line here.
    words = {name: "\n".join(" ".join(lines).split()) for name, lines in PARALLEL.items()}
    for name, text in words.items():
        ours = evaluate(tok, [text], parallel={"en": [words["en"]], name: [text]})
        expected = {
            "fertility": theirs.compute_fertility(same, text),
            "single_token_words": theirs.compute_strr(same, text),
            "characters_per_token": theirs.compute_cpt(same, text),
            "bytes_per_token": theirs.compute_compression_ratio(same, text),
        }
        assert {it: ours["all"][it] for it in expected} == pytest.approx(expected)
        parity = theirs.compute_parity(same, text, words["en"])
        assert ours.languages[name]["premium"] == pytest.approx(parity)


@each_kind
def test_figures_are_those_of_tokeval(tok: jeton.Tokenizer) -> None:
    rows = [tok.encode(text) for text in TEXTS]
    counts = Counter(itertools.chain(*rows))
    tokens = counts.total()
    entropy = -sum(n / tokens * math.log2(n / tokens) for n in counts.values())
    renyi = math.log2(sum((n / tokens) ** 2.5 for n in counts.values())) / (1 - 2.5)
    theirs = {
        "bytes_per_token": sum(len(text.encode()) for text in TEXTS) / tokens,
        "renyi_efficiency": renyi / math.log2(tok.vocab_size),
        "renyi_efficiency_used": renyi / math.log2(len(counts)),
        "entropy": entropy,
        "type_token_ratio": len(counts) / tokens,
    }
    found = evaluate(tok, TEXTS)["all"]
    assert {name: found[name] for name in theirs} == pytest.approx(theirs)
    if not set(tok.special_tokens.values()) & counts.keys():
        # Theirs is a share of all tokens; special ones are left out here.
        plain = tok.vocab_size - len(set(tok.special_tokens.values()))
        assert found["vocabulary_used"] == pytest.approx(len(counts) / plain)


@each_kind
def test_gini_is_that_of_tokeval(tok: jeton.Tokenizer) -> None:
    costs = [
        sum(len(tok.encode(line)) for line in lines) / len(lines) for lines in PARALLEL.values()
    ]
    mean = sum(costs) / len(costs)
    differences = sum(abs(a - b) for a in costs for b in costs)
    found = evaluate(tok, parallel=PARALLEL)
    assert found.overall["gini"] == pytest.approx(differences / (2 * len(costs) ** 2 * mean))
    assert [found[name]["tokens_per_line"] for name in PARALLEL] == pytest.approx(costs)
