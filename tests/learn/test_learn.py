"""The steps of `jeton learn` as data: equal to the reference and to the trainers, and well told."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest

from jeton import learn, textbook
from jeton.display.views.frames import Arc, Arcs, Bar, Bars, Chip, Frame, Row, Rows, Table
from jeton.display.views.printed import text_of
from jeton.encoding.explaining.view_frames import frames_of_encoding
from jeton.errors import ArgumentError
from jeton.learn.byte_alphabet import frames_of_bytes
from jeton.learn.exercises import EXERCISES, exercise
from jeton.learn.merging import frames_of_merging, marked_rows, start_rows
from jeton.learn.reference import unigram, wordpiece, words_bpe
from jeton.learn.unigram import frames_of_unigram


def some_counts(numbers: random.Random) -> dict[str, int]:
    letters = "abcdeé字"[: numbers.randint(1, 7)]
    words = ["".join(numbers.choices(letters, k=numbers.randint(1, 6))) for _ in range(7)]
    return {word: numbers.randint(1, 4) for word in words}


@pytest.mark.parametrize("tie", ["first", "alphabetic", "lexicographic"])
def test_bpe_is_the_reference(tie: str) -> None:
    for seed in range(30):
        numbers = random.Random(seed)
        counts, end = some_counts(numbers), numbers.choice(["", "</w>"])
        steps = list(learn.watch_bpe(counts, 8, end=end or None, tie_break=tie))  # type: ignore[arg-type]
        assert [step.best for step in steps] == words_bpe.train(counts, 8, end=end, tie=tie)
        for step in steps:
            assert step.best in step.tied
            assert {step.counts[pair] for pair in step.tied} == {max(step.counts.values())}
        for before, after in itertools.pairwise(steps):
            assert before.after == after.before


@pytest.mark.parametrize("rule", ["published", "released"])
def test_wordpiece_is_the_reference(rule: str) -> None:
    for seed in range(30):
        counts = some_counts(random.Random(seed))
        steps = learn.watch_wordpiece(counts, 6, rule=rule, tie_break="ids")  # type: ignore[arg-type]
        made = list(dict.fromkeys(step.made for step in steps))
        assert made == wordpiece.train(counts, 6, rule=rule), seed


def test_wordpiece_of_the_textbooks_has_the_tokens_of_the_trainer() -> None:
    steps = list(learn.watch_wordpiece(textbook.HUG_COUNTS, 5))
    tok = textbook.wordpiece(textbook.HUG_COUNTS, 5)
    assert [token.decode() for token in tok.vocab][-5:] == [step.made for step in steps]


def test_unigram_is_the_reference() -> None:
    for seed in range(15):
        counts = some_counts(random.Random(seed))
        spaced = {"▁" + word: count for word, count in counts.items()}
        size = len({it for word in spaced for it in word}) + seed % 6
        steps = list(learn.watch_unigram(counts, size))
        assert steps[-1].pieces == unigram.train(spaced, size), seed
        assert [step.kind for step in steps][0 :: len(steps) - 1] == ["seeds", "end"]
        likelihoods = [step.likelihood for step in steps if step.kind == "em"]
        assert all(number < 0 for number in likelihoods)


def every_frame() -> dict[str, list[Frame]]:
    low, hug = textbook.LOW_COUNTS, textbook.HUG_COUNTS
    tok = textbook.hug_pug_pun_bun_hugs("unigram")
    told, nothing = tok.explain("unhugs pun"), tok.explain("")
    return {
        "bpe": frames_of_merging(start_rows(low, "</w>"), list(learn.watch_bpe(low, 4))),
        "wordpiece": frames_of_merging(marked_rows(hug), list(learn.watch_wordpiece(hug, 3))),
        "unigram": frames_of_unigram(hug, list(learn.watch_unigram(hug, 10))),
        "bytes": frames_of_bytes("un café 🙂\n"),
        "encode": frames_of_encoding(told.text, told.steps),
        "nothing": [
            *frames_of_merging(start_rows({"a": 1}, None), []),
            *frames_of_bytes(""),
            *frames_of_encoding(nothing.text, nothing.steps),
        ],
    }


def test_printed_frames_fit_any_width() -> None:
    for width in (20, 40, 61, 100):
        for name, frames in every_frame().items():
            lines = text_of(frames, width).split("\n")
            assert all(len(line) <= width for line in lines), (name, width)


def test_a_merge_step_names_its_pair() -> None:
    first = every_frame()["bpe"][1]
    assert first.title == "Merge 1: e + s = es"
    assert first.note == "e s occurs 9 times. 3 pairs tie; it wins: it was seen first."
    bars, words = first.blocks
    assert isinstance(bars, Bars) and isinstance(words, Rows)
    assert [(it.label, it.number, it.mark) for it in bars.bars[:4]] == [
        ("e s", "9", "best"),
        ("s t", "9", "tie"),
        ("t </w>", "9", "tie"),
        ("w e", "8", ""),
    ]
    assert Chip("es", "best") in words.rows[0].chips


def test_wordpiece_steps_are_explained() -> None:
    assert every_frame()["wordpiece"][1].note == (
        "##g ##s scores 5 / (20 · 5) = 0.0500: it occurs 5 times, its parts 20 and 5 times. It "
        "wins: no other pair scores as much."
    )


def test_counts_of_one_are_singular() -> None:
    words = {"ab": 1}
    (step,) = learn.watch_wordpiece(words, 1)
    assert "it occurs 1 time, its parts 1 and 1 time." in (
        frames_of_merging(marked_rows(words), [step])[1].note
    )


def test_rounds_of_estimates_have_titles_of_their_own() -> None:
    titles = [frame.title for frame in every_frame()["unigram"]]
    assert "Round 1: estimate, 14 pieces" in titles
    assert "Round 1: estimate again, 13 pieces" in titles
    assert len(set(titles)) == len(titles)


def test_wide_and_odd_characters_in_print() -> None:
    frame = Frame(
        "東京",
        "",
        (
            Rows((Row((Chip("東京都" * 9), Chip("e\u0301")), "行"),)),
            Bars((Bar("図書館" * 9, 2.0, "1"), Bar("x", -1.0, "0", "dim"))),
            Table(("a", "b"), (("東" * 50, "x"),), more=3),
            Arcs(tuple("図書"), tuple(Arc(0, 2, "図書", str(it)) for it in range(90))),
        ),
    )
    text = text_of([frame], 30)
    assert "and 3 more" in text and "and 50 more" in text


def test_every_exercise_knows_its_answer() -> None:
    for number in range(1, len(EXERCISES) + 1):
        asked = exercise(number)
        right = asked.check(" ".join(asked.answer))
        assert right.right and right.told, number
        assert asked.check(" + ".join(f"'{part}'" for part in asked.answer)).right, number
        for wrong in ("zz", "zz yy", "'", "?? !!", "a b c d e f g", "low", "\x00", "( , )"):
            verdict = asked.check(wrong)
            assert not verdict.right and verdict.told, (number, wrong)
        assert asked.question and asked.hint and asked.form and asked.why
        text_of(list(asked.frames()))


PUBLISHED = {
    1: "e s",
    2: "est </w>",
    3: "low est</w>",
    5: "u g",
    6: "<unk> hug",
    7: "##g ##s",
    8: "b ##u ##gs",
    9: "un hug",
    11: "258 100 258 97 99",
    12: "r a",
    13: "t rain",
    14: "a k",
    15: "U+010A",
}


@pytest.mark.parametrize("number", PUBLISHED)
def test_the_published_answers_are_right(number: int) -> None:
    assert exercise(number).check(PUBLISHED[number]).right


TOLD = {
    "another pair is more frequent": (1, "w e", "occurs 8 times; another pair occurs 9 times"),
    "a tie": (1, "t </w>", "as good as another pair (9 times), but that one was seen first"),
    "no neighbours": (1, "e e", "nowhere neighbours"),
    "no pair": (1, "es", "A pair is two symbols"),
    "a lower score": (7, "p ##u", "another pair scores 5 / (20 · 5) = 0.0500"),
    "another word": (3, "low er", "spell 'lower', not 'lowest'"),
    "no token": (3, "lowe st</w>", "'lowe' is not a token"),
    "too early": (3, "lo w est</w>", "follow its order"),
    "nothing": (3, " , ", "There is no answer in that"),
}


@pytest.mark.parametrize("name", TOLD)
def test_wrong_answers_are_explained(name: str) -> None:
    number, given, says = TOLD[name]
    assert says in exercise(number).check(given).told


def test_bad_input() -> None:
    with pytest.raises(ArgumentError, match="no exercise 0"):
        exercise(0)
    with pytest.raises(ArgumentError, match="tie_break must be"):
        list(learn.watch_bpe({"a": 1}, 1, tie_break="last"))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="rule must be"):
        list(learn.watch_wordpiece({"a": 1}, 1, rule="paper"))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="tie_break must be"):
        list(learn.watch_wordpiece({"a": 1}, 1, tie_break="last"))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="no words"):
        list(learn.watch_unigram("", 5))
    with pytest.raises(ArgumentError, match="does not hold the 3 characters"):
        list(learn.watch_unigram("ab", 2))
    with pytest.raises(ArgumentError, match="99 characters"):
        list(learn.watch_unigram("a" * 99, 20))


def test_only_the_command_line_imports_the_command_line() -> None:
    package = Path(learn.__file__).parent.parent
    importing = [
        str(path.relative_to(package))
        for path in sorted(package.rglob("*.py"))
        if re.search(r"^\s*(from|import) jeton\.cli\b", path.read_text(encoding="utf-8"), re.M)
    ]
    assert [path for path in importing if not path.startswith("cli/")] == ["__main__.py"]
