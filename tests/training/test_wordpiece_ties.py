"""Which of equally good pairs WordPiece merges first, by either rule."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import jeton
from jeton.errors import ArgumentError

WORDS = ["hug"] * 10 + ["pug"] * 5 + ["pun"] * 12 + ["bun"] * 4 + ["hugs"] * 5
TIES = {
    "huggingface": ["##gs", "bu", "bun"],
    "first": ["##gs", "hu", "hugs"],
    "alphabetic": ["##gs", "##ug", "##ugs"],
    "lexicographic": ["##gs", "pu", "hu"],
}


def new_tokens(**options: Any) -> list[str]:
    trainer = jeton.WordPieceTrainer(15, special_tokens=["[UNK]"], **options)
    tok = trainer.train([" ".join(WORDS)])
    alphabet = {token for token in tok.vocab if len(token.removeprefix(b"##")) == 1}
    return [token.decode() for token in tok.vocab if token not in {*alphabet, b"[UNK]"}]


def course(merges: int) -> list[str]:
    """The published rule as courses write it: of equals the pair that was seen first."""
    splits = {word: [word[0], *(f"##{letter}" for letter in word[1:])] for word in WORDS}
    counts = Counter(WORDS)
    made = []
    for _ in range(merges):
        letters: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        for word, count in counts.items():
            for letter in splits[word]:
                letters[letter] += count
            for pair in zip(splits[word], splits[word][1:], strict=False):
                pairs[pair] += count
        best = max(pairs, key=lambda pair: pairs[pair] / (letters[pair[0]] * letters[pair[1]]))
        token = best[0] + best[1].removeprefix("##")
        made.append(token)
        for word, split in splits.items():
            at = 0
            while at < len(split) - 1:
                if (split[at], split[at + 1]) == best:
                    split[at : at + 2] = [token]
                at += 1
            splits[word] = split
    return made


@pytest.mark.parametrize("tie_break", TIES)
def test_the_published_rule(tie_break: str) -> None:
    found = new_tokens(rule="published", tie_break=tie_break)
    assert found == TIES[tie_break]


def test_courses_take_the_first() -> None:
    assert new_tokens(rule="published", tie_break="first") == course(3)


def test_the_released_rule_takes_it_too() -> None:
    trainer = jeton.WordPieceTrainer(8, special_tokens=["[UNK]"], tie_break="first")
    assert b"da" in trainer.train(["da ba da ba"]).vocab
    trainer = jeton.WordPieceTrainer(6, special_tokens=["[UNK]"], tie_break="alphabetic")
    assert "ba" in (vocab := trainer.train(["da ba da ba"])) and "da" not in vocab


def test_a_tie_break_that_there_is_not() -> None:
    with pytest.raises(ArgumentError, match='did you mean "first"'):
        jeton.WordPieceTrainer(14, tie_break="firts")  # type: ignore[arg-type]
