"""WordCounts: what they were counted by, and what is refused because of it; files of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import normalizers, pre_tokenizers
from jeton.errors import ArgumentError, FormatError
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
    for given in (counts, jeton.WordCounts.load(tmp_path / "x.counts"), counts.at_least(0)):
        for use in (trainer.train, trainer.count):
            with pytest.raises(ArgumentError, match=told):
                use(given)
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
