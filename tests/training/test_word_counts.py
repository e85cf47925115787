"""WordCounts: what they were counted by, and what is refused because of it; files of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from jeton.components import normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError
from kinds import LLAMA

TEXTS = ["low lower<|end|>lowest", "new newer, newest"] * 9

#: What differs between how words were counted and how a trainer would count them, and what is said.
DIFFERENT: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "pattern": (
        {"pattern": "gpt2"},
        {},
        'pattern or pre_tokenizer: .* counted with the pattern "gpt2", .* has the pattern "cl100k"',
    ),
    "no pattern": ({"pattern": "none"}, {}, "counted with none"),
    "pre_tokenizer": (
        {"pre_tokenizer": pre_tokenizers.Punctuation()},
        {"pattern": "whitespace"},
        r'counted with \{"type":"Punctuation".* has \{"type":"WhitespaceSplit"',
    ),
    "normalizer": (
        {"normalizer": normalizers.Lowercase()},
        {},
        "normalizer: .* counted with .*Lowercase.*has none",
    ),
    "special tokens": (
        {},
        {"special_tokens": ["<|end|>", "<|a|>"]},
        r'special_tokens: .* counted with none, .* has \["<\|a\|>", "<\|end\|>"\]',
    ),
    "more special tokens": (
        {"special_tokens": ["<|end|>"]},
        {},
        r'special_tokens: .* counted with \["<\|end\|>"\], and the trainer has none',
    ),
    "shorter words": (
        {},
        {"max_word_length": 3},
        "max_word_length: .* counted with one that split no word, and the trainer has 3",
    ),
    "longer words": (
        {"max_word_length": 3},
        {},
        "max_word_length: .* counted with 3, and the trainer has 10000",
    ),
    "SentencePiece's words": (
        {},
        {"alphabet": "sentencepiece", "hard_vocab_limit": False},
        "words: the words were counted with a pattern",
    ),
}


def counted(**options: Any) -> jeton.WordCounts:
    return jeton.WordCounts.count(TEXTS, **options)


@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
@pytest.mark.parametrize(("counting", "training", "told"), DIFFERENT.values(), ids=list(DIFFERENT))
def test_counts_of_another_making_are_refused(
    counting: dict[str, Any], training: dict[str, Any], told: str, tmp_path: Path
) -> None:
    counts = counted(**counting)
    counts.save(tmp_path / "x.counts")
    trainer = jeton.BPETrainer(400, **training)
    for some in (counts, jeton.WordCounts.load(tmp_path / "x.counts"), counts.at_least(0)):
        for use in (trainer.train, trainer.count):
            with pytest.raises(ArgumentError, match=told):
                use(some)
    trainer.train(jeton.WordCounts(counts.items()))
    with pytest.raises(ArgumentError, match="these counts cannot be merged: "):
        counts.merged(trainer.count(TEXTS))


def test_bytes_spelled_as_characters_are_other_words() -> None:
    cut = pre_tokenizers.ByteLevel(add_prefix_space=True)
    raw = counted(pre_tokenizer=cut)
    jeton.BPETrainer(300, pre_tokenizer=cut).train(raw)
    with pytest.raises(ArgumentError, match="bytes spelled as characters"):
        jeton.BPETrainer(300, alphabet="characters", pre_tokenizer=cut).train(raw)


#: Settings that say the same in different ways, so that counts fit.
ALIKE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "names": ({"pattern": "gpt4"}, {"pattern": "cl100k"}),
    "GPT-2's": (
        {"pattern": "gpt2"},
        {"pre_tokenizer": pre_tokenizers.ByteLevel(add_prefix_space=False)},
    ),
    "order of special tokens": (
        {"special_tokens": ["<|end|>", "<|a|>"]},
        {"special_tokens": ["<|a|>", "<|end|>"]},
    ),
    "no word that long": ({"max_word_length": 100}, {"max_word_length": None}),
    "long enough": ({}, {"max_word_length": 7}),
    "rare words": ({}, {"min_word_count": 1}),
}


@pytest.mark.parametrize(("counting", "training"), ALIKE.values(), ids=list(ALIKE))
def test_counts_of_the_same_making_fit(counting: dict[str, Any], training: dict[str, Any]) -> None:
    counts = counted(**counting)
    trainer = jeton.BPETrainer(300, **training)
    assert trainer.train(counts) == trainer.train(TEXTS)
    assert counts.merged(trainer.count(TEXTS)).total == 2 * counts.total


@pytest.mark.parametrize(
    "trainer",
    [
        jeton.BPETrainer(300),
        jeton.BPETrainer(300, **LLAMA),
        jeton.BPETrainer(60, alphabet="characters", pattern="whitespace"),
        jeton.WordPieceTrainer(60),
        jeton.UnigramTrainer(30),
        jeton.UnigramTrainer(30, style="huggingface"),
    ],
)
def test_a_trainers_own_counts_fit(trainer: Any, tmp_path: Path) -> None:
    counts = trainer.count(TEXTS)
    counts.save(tmp_path / "x.counts")
    expected = trainer.train(TEXTS)
    assert trainer.train(counts) == expected
    assert trainer.train(jeton.WordCounts.load(tmp_path / "x.counts")) == expected
    assert trainer.train(counts.merged(jeton.WordCounts())) == expected
    # What is stored may spell its stages in another way, and means the same.
    if isinstance(trainer, jeton.BPETrainer) and "sentencepiece" not in repr(trainer):
        jeton.BPETrainer(310, start_from=expected).train(counts)
    with pytest.raises(ArgumentError, match="cannot be merged"):
        counts.merged(jeton.WordCounts.count(["x"], pattern="deepseek"))


def test_counts_of_lines_serve_every_sentencepiece_model() -> None:
    lines = jeton.UnigramTrainer(30, split_by_whitespace=False).count(TEXTS)
    words = jeton.UnigramTrainer(30).count(TEXTS)
    assert jeton.UnigramTrainer(30).train(lines) == jeton.UnigramTrainer(30).train(words)
    with pytest.raises(ArgumentError, match=r"what lies between spaces.*whole lines"):
        jeton.UnigramTrainer(30, split_by_whitespace=False).train(words)
    with pytest.raises(ArgumentError, match=r"words: .*pattern.*what lies between spaces"):
        jeton.UnigramTrainer(30).train(counted())


@pytest.mark.parametrize(
    ("option", "value"), [("field", "text"), ("errors", "replace"), ("temp_dir", ".")]
)
@pytest.mark.parametrize("trainer", [jeton.BPETrainer(300), jeton.UnigramTrainer(30)])
def test_options_of_counting_are_refused(trainer: Any, option: str, value: str) -> None:
    counts = trainer.count(TEXTS)
    with pytest.raises(ArgumentError, match=f"{option} is for counting, and data holds counts"):
        trainer.train(counts, **{option: value})


def test_files_that_are_not_as_written(tmp_path: Path) -> None:
    path = tmp_path / "x.counts"
    counted().save(path)
    image = path.read_bytes()
    for broken, told in (
        (image[:-1], "the word counts are cut short"),
        (image[:30], "the word counts are cut short"),
        (image + b"\n", "the word counts were changed"),
        (image.replace(b"lowest", b"lowess"), "the word counts were changed"),
        (b"jeton word counts 1\n" + image[20:], "by another version of jeton"),
        (b"", "not a file of word counts"),
        (b"text\n", "not a file of word counts"),
    ):
        path.write_bytes(broken)
        with pytest.raises(FormatError, match=rf"x\.counts: .*{told}"):
            jeton.WordCounts.load(path)


@pytest.mark.filterwarnings("ignore:special_tokens has:jeton.errors.TrainingWarning")
@pytest.mark.parametrize(
    ("token", "fits"),
    [
        ("<|pad|>", True),
        ("<|end|><", False),
        ("<|end|>", False),
        ("|", False),
        ("newer,", False),
        # Each part is a word or the end of one; that no text has them side by side is not known.
        ("newest,", False),
        ("with space", False),
    ],
)
def test_a_special_token_that_no_text_spells_does_no_harm(token: str, fits: bool) -> None:
    counts = counted()
    trainer = jeton.BPETrainer(300, special_tokens=[token])
    if fits:
        assert trainer.train(counts) == trainer.train(TEXTS)
        assert trainer.count(counts).items() == trainer.count(TEXTS).items()
        return
    with pytest.raises(ArgumentError, match=r"special_tokens: .* counted with none"):
        trainer.train(counts)


# Shares


LANGUAGES = {
    "a": jeton.WordCounts.count(["low lower lowest"] * 300, pattern="gpt2"),
    "b": jeton.WordCounts.count(["nieder niedriger"] * 30 + ["am"], pattern="gpt2"),
    "c": jeton.WordCounts.count(["bas"], pattern="gpt2"),
}


def size(counts: jeton.WordCounts, like: jeton.WordCounts | None = None) -> int:
    """The bytes of the words, or of those that are in `like` too."""
    return sum(
        len(word.encode()) * count for word, count in counts.items() if like is None or word in like
    )


@given(
    st.lists(st.integers(1, 2**40), min_size=1, max_size=9),
    st.integers(1, 500) | st.floats(1e-6, 500),
)
def test_scaled_counts_are_rounded_half_up(numbers: list[int], factor: float) -> None:
    counts = jeton.WordCounts([(f"w{at}", number) for at, number in enumerate(numbers)])
    exact = Fraction(repr(factor)).limit_denominator(10**12)
    expected = [math.floor(number * exact + Fraction(1, 2)) for number in numbers]
    scaled = counts.scaled(factor)
    assert counts.scaled(np.float64(factor)) == scaled
    assert scaled.items() == [(f"w{at}", it) for at, it in enumerate(expected) if it]


def test_scaled_counts_keep_how_words_were_counted(tmp_path: Path) -> None:
    LANGUAGES["a"].scaled(0.5).save(tmp_path / "a.counts")
    again = jeton.WordCounts.load(tmp_path / "a.counts")
    assert jeton.BPETrainer(258, pattern="gpt2").train(again).vocab_size == 258
    for counts in (again, jeton.WordCounts.mixed([again], weights=[2])):
        with pytest.raises(ArgumentError, match="counted with the pattern"):
            jeton.BPETrainer(258, pattern="cl100k").train(counts)


@pytest.mark.parametrize(
    "options, shares",
    [
        ({"weights": [1, 1, 2]}, [0.25, 0.25, 0.5]),
        ({"weights": [0.7, 0.2, 0.1]}, [0.7, 0.2, 0.1]),
        ({"weights": [Fraction(1, 3)] * 3}, [1 / 3] * 3),
        ({"temperature": math.inf}, [1 / 3] * 3),
        ({"temperature": 1}, None),
        ({"temperature": 2}, None),
        ({"temperature": 0.5}, None),
    ],
)
def test_mixed_counts_have_their_shares(
    options: dict[str, Any], shares: list[float] | None
) -> None:
    sizes = [size(it) for it in LANGUAGES.values()]
    if shares is None:
        powers = [it ** (1 / options["temperature"]) for it in sizes]
        shares = [it / sum(powers) for it in powers]
    mixed = jeton.WordCounts.mixed(LANGUAGES.values(), **options)
    for share, counts in zip(shares, LANGUAGES.values(), strict=True):
        assert size(mixed, counts) / size(mixed) == pytest.approx(share, rel=0.01)
        assert all(mixed[word] >= count for word, count in counts.items())
    words = [word for counts in LANGUAGES.values() for word in counts]
    assert list(mixed) == words


def test_a_temperature_of_1_is_merging() -> None:
    merged = LANGUAGES["a"].merged(LANGUAGES["b"]).merged(LANGUAGES["c"])
    assert jeton.WordCounts.mixed([*LANGUAGES.values()], temperature=1) == merged


WRONG_SHARES: list[tuple[Callable[[jeton.WordCounts], object], str]] = [
    (lambda it: it.scaled(0), "factor must be greater than 0"),
    (lambda it: it.scaled(-1), "factor must be greater than 0"),
    (lambda it: it.scaled(math.nan), "must be a finite number"),
    (lambda it: it.scaled(1e300), "exceed"),
    (lambda it: it.scaled(2**62), "exceed"),
    (lambda it: it.scaled(1e-30), "vanish"),
    (lambda it: it.scaled("2"), "must be a number, not str"),  # type: ignore[arg-type]
    (lambda it: it.scaled(True), "must be a number, not bool"),
    (lambda it: it.mixed([it]), "either weights or a temperature"),
    (lambda it: it.mixed([it], weights=[1], temperature=1), "either weights or a temperature"),
    (lambda it: it.mixed([it], weights=[1, 2]), "there are 2 weights for 1 counts"),
    (lambda it: it.mixed([it], weights=[0]), r"weights\[0\] must be greater than 0"),
    (lambda it: it.mixed([it], weights="1"), "weights must be numbers"),  # type: ignore[arg-type]
    (lambda it: it.mixed([it], temperature=0), "temperature must be greater than 0"),
    (lambda it: it.mixed([it], temperature="2"), "must be a number"),  # type: ignore[arg-type]
    (lambda it: it.mixed([], weights=[]), "counts is empty"),
    (lambda it: it.mixed([jeton.WordCounts()], weights=[1]), r"counts\[0\] has no words"),
    (
        lambda it: it.mixed(it, weights=[1]),  # type: ignore[arg-type]
        "must be an iterable of WordCounts",
    ),
    (lambda it: it.mixed(["a"], weights=[1]), r"counts\[0\] must be WordCounts"),  # type: ignore[list-item]
    (
        lambda it: it.mixed([it, jeton.WordCounts.count(["x"], pattern="o200k")], weights=[1, 1]),
        "cannot be merged",
    ),
]


@pytest.mark.parametrize("call, told", WRONG_SHARES, ids=[it[1] for it in WRONG_SHARES])
def test_wrong_shares(call: Callable[[jeton.WordCounts], object], told: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=told):
        call(LANGUAGES["a"])
