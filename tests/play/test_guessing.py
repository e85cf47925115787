"""The guessing game of the page: its words, its pairs, and which pair is the next merge."""

from __future__ import annotations

from typing import Any

import pytest

import jeton
from jeton.errors import ArgumentError
from jeton.play.guessing import round_of_game

TEXT = "lowest newest widest " * 3 + "lower low weather" + " newest" * 3


def rounds(text: str = TEXT) -> list[Any]:
    found: list[Any] = []
    while True:
        found.append(round_of_game(text, len(found)))
        if not found[-1]["pairs"]:
            return found


def test_counts_are_those_of_the_words_that_are_shown() -> None:
    for shown in rounds():
        for pair in shown["pairs"]:
            count = sum(
                row["count"]
                * sum(
                    it == (pair["left"], pair["right"])
                    for it in zip(row["symbols"], row["symbols"][1:], strict=False)
                )
                for row in shown["rows"]
            )
            assert pair["count"] == count


def test_the_next_merge_is_a_most_frequent_pair() -> None:
    for shown, after in zip(rounds(), rounds()[1:], strict=False):
        [best] = [pair for pair in shown["pairs"] if pair["best"]]
        assert best["count"] == max(pair["count"] for pair in shown["pairs"])
        assert after["learnt"] == [*shown["learnt"], best["left"] + best["right"]]


def test_rounds_are_the_merges_of_training() -> None:
    words = ["lowest"] * 3 + ["newest"] * 6 + ["widest"] * 3 + ["lower", "weather"]
    assert [row["count"] for row in rounds()[0]["rows"]] == [6, 3, 3, 1, 1]
    tok = jeton.BPETrainer(
        300, alphabet="characters", tie_break="first", pattern="whitespace"
    ).train(words)
    merges = [(left + right).decode() for left, right in tok.vocab.merges]
    assert rounds()[-1]["learnt"][:5] == merges[:5]


def test_words_are_letters_and_of_some_length() -> None:
    found: Any = round_of_game("The 12345 a_b don't WEATHER weather theory, there! " * 2, 0)
    assert {"".join(row["symbols"]) for row in found["rows"]} == {"weather", "theory", "there"}


def test_the_game_ends_when_each_word_is_one_symbol() -> None:
    last = rounds()[-1]
    assert last["rows"] == last["pairs"] == [] and "newest" in last["learnt"]


@pytest.mark.parametrize("text", ["", "low lower", "a b c d e f", "123 456 789"])
def test_a_text_of_few_words_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="a few words"):
        round_of_game(text, 0)


@pytest.mark.parametrize("merges", [-1, 41])
def test_numbers_of_merges_have_limits(merges: int) -> None:
    with pytest.raises(ArgumentError, match="up to 40 merges"):
        round_of_game(TEXT, merges)
