"""`jeton.textbook`: published results, what `jeton.learn.reference` makes of it, bad input."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import jeton
from jeton import textbook
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError, UnsupportedError
from jeton.learn.reference import byte_level, wordpiece


def some_counts(numbers: random.Random) -> dict[str, int]:
    letters = "abcdeé字"[: numbers.randint(1, 7)]
    words = ["".join(numbers.choices(letters, k=numbers.randint(1, 6))) for _ in range(9)]
    return {word: numbers.randint(1, 4) for word in words}


@pytest.mark.parametrize("rule", ["published", "released"])
def test_wordpiece_is_the_page_of_the_reference(rule: Any) -> None:
    for seed in range(20):
        counts = some_counts(random.Random(seed))
        tok = textbook.wordpiece(counts, 4, rule=rule)
        vocab = {token.decode(): id for token, id in tok.vocab.items()}
        assert list(vocab)[: len(wordpiece.alphabet(counts)) + 1] == [
            "[UNK]",
            *wordpiece.alphabet(counts),
        ]
        for word in counts:
            assert tok.tokens(word) == wordpiece.encode(word, vocab)


def test_bytes_are_the_page_of_the_reference() -> None:
    for seed in range(30):
        numbers = random.Random(seed)
        text = "".join(numbers.choices("ab é", k=numbers.randint(1, 30)))
        expected = byte_level.train({text.encode(): 1}, 5)
        if len({a + b for a, b in expected}) < len(expected):
            continue
        assert textbook.byte_bpe(text, 5).vocab.merges == expected, seed


def test_fewer_merges_where_there_are_no_more() -> None:
    assert textbook.merges(textbook.bpe("ab", merges=100, end=None)) == [("a", "b")]
    assert textbook.merges(textbook.bpe("ab", merges=0)) == []


def test_decoding_restores_the_text_of_presets() -> None:
    tok = textbook.low_lower_newest_widest()
    assert tok.decode(tok.encode("low lower newest")) == "low lower newest"


Call = Callable[[], object]
BAD: dict[str, tuple[Call, type[Exception], str]] = {
    "a number": (lambda: textbook.bpe(3), ArgumentTypeError, "words must be a text"),  # type: ignore[arg-type]
    "bytes": (lambda: textbook.bpe(b"low"), ArgumentTypeError, "not bytes"),  # type: ignore[arg-type]
    "a count of none": (lambda: textbook.bpe({"a": 0}), ArgumentError, "at least 1"),
    "a count in words": (
        lambda: textbook.bpe({"a": "x"}),
        ArgumentTypeError,
        "the count of 'a'",
    ),
    "a word of two": (lambda: textbook.bpe({"a b": 1}), ArgumentError, "white space"),
    "no word": (lambda: textbook.bpe({"": 1}), ArgumentError, "is not a word"),
    "words of bytes": (lambda: textbook.bpe([b"a"]), ArgumentTypeError, "each of words"),  # type: ignore[list-item]
    "a lone surrogate": (lambda: textbook.bpe("\ud800"), ArgumentError, "surrogate"),
    "no words": (lambda: textbook.bpe(" "), TrainingError, "no words"),
    "no words at all": (lambda: textbook.substrings([]), TrainingError, "no words"),
    "no text": (lambda: textbook.byte_bpe(""), TrainingError, "no words"),
    "merges below none": (lambda: textbook.bpe("a", -1), ArgumentError, "at least 0"),
    "merges of a kind": (lambda: textbook.bpe("a", 1.5), ArgumentTypeError, "an int"),  # type: ignore[arg-type]
    "an empty end": (lambda: textbook.bpe("a", end=""), ArgumentError, "end is empty"),
    "a tie of no kind": (
        lambda: textbook.bpe("a", tie_break="last"),  # type: ignore[arg-type]
        ArgumentError,
        "tie_break",
    ),
    "a rule of no kind": (
        lambda: textbook.wordpiece("a", rule="paper"),  # type: ignore[arg-type]
        ArgumentError,
        "rule",
    ),
    "a kind of no kind": (
        lambda: textbook.hug_pug_pun_bun_hugs("bert"),  # type: ignore[arg-type]
        ArgumentError,
        "kind must be",
    ),
    "merges of a WordPiece": (
        lambda: textbook.merges(textbook.hug_pug_pun_bun_hugs("wordpiece")),
        UnsupportedError,
        "watch_wordpiece",
    ),
    "merges of a Unigram": (
        lambda: textbook.merges(textbook.substrings("a b")),
        UnsupportedError,
        "only a BPE",
    ),
    "pieces of none": (lambda: textbook.unigram("a", 0), ArgumentError, "at least 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    call, error, says = BAD[name]
    with pytest.raises(error, match=says):
        call()


def test_presets_are_there_after_import_jeton() -> None:
    assert jeton.textbook is textbook
