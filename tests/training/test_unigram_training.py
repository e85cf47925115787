"""UnigramTrainer: its parameters, what a corpus may be, and the libraries that read its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import jeton
import jeton.samples
from jeton.components import models, normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError, TrainingError

LINES = [
    line
    for path in sorted(Path(jeton.samples.__file__).parent.glob("*.txt"))
    for line in path.read_text(encoding="utf-8").splitlines()
]

ODD_TEXTS = [
    "",
    " ",
    "  two  spaces ",
    "▁",
    "<s>text</s><unk>",
    "ﬁ Ｈｅｌｌｏ ｶﾞ e\u0301 각",
    "\u200b\ufeff\u00a0\t",
    "naïve 東京 🙂 12345",
    "\x01\x7f",
    "a\x00b",
    "<sep>",
]


def test_the_worked_example() -> None:
    counts = jeton.WordCounts([("low", 5), ("lower", 2), ("newest", 6), ("widest", 3)])
    trainer = jeton.UnigramTrainer(15, bos_id=None, eos_id=None)
    tok = trainer.train(counts)
    best = [tok.vocab.spelling(id).decode() for id in range(1, 4)]
    assert tok.vocab_size == 15
    assert best == ["▁newest", "▁low", "▁widest"]
    assert [tok.vocab.spelling(id).decode() for id in tok.encode("low lower")][:2] == [
        "▁low",
        "▁low",
    ]


def test_no_unknown_token() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    trainer = jeton.UnigramTrainer(
        20, style="huggingface", unk_token=None, bos_id=None, eos_id=None, character_coverage=1.0
    )
    tok = trainer.train(["low lower lowest", "new newer newest", "wide wider widest"] * 9)
    assert tok.special_tokens == {}
    assert isinstance(tok.stages.model, models.Unigram) and tok.stages.model.unk_id is None
    theirs = tokenizers.Tokenizer.from_str(tok.to_json())
    for text in ("lowest wider", "new", "w i d e"):
        assert tok.encode(text) == theirs.encode(text).ids
    with pytest.raises(EncodeError, match="x"):
        tok.encode("lox")
    with pytest.raises(Exception, match="unk_id"):
        theirs.encode("lox")
    with pytest.raises(ArgumentError, match="must have an unk_token"):
        jeton.UnigramTrainer(20, unk_token=None)


STYLES: dict[str, dict[str, Any]] = {
    "default": {},
    "nfkc": {"normalizer": "nfkc"},
    "identity": {"normalizer": "identity"},
    "bytes": {"byte_fallback": True},
    "no prefix": {"add_dummy_prefix": False},
    "all spaces": {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    "across spaces": {"split_by_whitespace": False},
    "digits": {"split_digits": True, "split_by_number": False},
    "scripts": {"split_by_unicode_script": False, "max_piece_length": 8},
    "coverage": {"character_coverage": 0.98, "required_chars": "ƵϞ"},
    "symbols": {"user_defined_symbols": ["<sep>", "ing"], "special_tokens": ["<mask>"]},
    "ids": {"unk_id": 3, "bos_id": 0, "eos_id": None, "pad_id": 1},
}


@pytest.mark.large
@pytest.mark.parametrize("options", [*STYLES.values(), {"treat_whitespace_as_suffix": True}])
def test_sentencepiece_agrees(options: dict[str, Any], tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    tok = jeton.UnigramTrainer(1_200, **options).train(LINES)
    assert tok.vocab_size == 1_200
    path = tmp_path / "trained.model"
    tok.save(path)
    assert jeton.load(path) == tok
    judge = sentencepiece.SentencePieceProcessor(model_file=str(path))
    for text in [*LINES[::3], *ODD_TEXTS]:
        assert tok.encode(text) == judge.encode(text), text
        assert tok.decode(tok.encode(text)) == judge.decode(judge.encode(text)), text


@pytest.mark.parametrize(
    "options",
    [
        *STYLES.values(),
        {"normalizer": normalizers.Lowercase()},
        {"pre_tokenizer": pre_tokenizers.Whitespace()},
    ],
)
def test_tokenizers_agrees(options: dict[str, Any], tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok = jeton.UnigramTrainer(1_200, style="huggingface", **options).train(LINES)
    assert tok.vocab_size == 1_200
    path = tmp_path / "tokenizer.json"
    tok.save(path)
    assert jeton.load(path) == tok
    judge = tokenizers.Tokenizer.from_file(str(path))
    for text in [*LINES[::3], *ODD_TEXTS]:
        ids = judge.encode(text, add_special_tokens=False).ids
        assert tok.encode(text, special="allow") == ids, text
        assert tok.decode(ids) == judge.decode(ids, skip_special_tokens=False), text


def test_ids_are_where_they_were_asked_for() -> None:
    tok = jeton.UnigramTrainer(
        600,
        unk_id=3,
        bos_id=None,
        eos_id=0,
        pad_id=1,
        special_tokens=["<mask>"],
        user_defined_symbols=["<sep>"],
        byte_fallback=True,
        character_coverage=0.9,
    ).train(LINES)
    names = [tok.vocab.spelling(id).decode() for id in range(7)]
    assert names == ["</s>", "<pad>", "<mask>", "<unk>", "<sep>", "<0x00>", "<0x01>"]
    assert tok.special_tokens == {"</s>": 0, "<pad>": 1, "<mask>": 2}
    assert 4 in tok.encode("a<sep>b")
    assert tok.decode(tok.encode("東京 🙂 zebra")) == "東京 🙂 zebra"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"style": "huggingfase"}, "huggingface"),
        ({"normalizer": "nmt_nfck"}, 'did you mean "nmt_nfkc"'),
        ({"normalizer": 3}, "normalizer must be a name"),
        ({"normalizer": normalizers.NFC()}, "cannot hold the normalizer NFC"),
        ({"pre_tokenizer": pre_tokenizers.Whitespace()}, "has no pre_tokenizer"),
        ({"vocab_size": -1}, "vocab_size must be"),
        ({"vocab_size": 2**40}, "larger than the largest id"),
        ({"vocab_size": 2}, "vocab_size 2 does not hold"),
        ({"vocab_size": "many"}, "vocab_size must be"),
        ({"character_coverage": float("nan")}, "character_coverage cannot be NaN"),
        ({"character_coverage": 0.0}, "character_coverage cannot be 0"),
        ({"character_coverage": 1.5}, "character_coverage cannot be 1.5"),
        ({"shrinking_factor": 1.0}, "shrinking_factor cannot be 1"),
        ({"shrinking_factor": float("inf")}, "shrinking_factor cannot be inf"),
        ({"num_sub_iterations": 0}, "num_sub_iterations cannot be 0"),
        ({"seed_size": 0}, "seed_size cannot be 0"),
        ({"max_piece_length": 0}, "max_piece_length cannot be 0"),
        ({"max_piece_length": 513}, "max_piece_length cannot be 513"),
        ({"min_word_count": -1}, "min_word_count must be at least 0"),
        ({"required_chars": "a\0"}, r"U\+0000"),
        ({"required_chars": "\ud800"}, "required_chars (must be|is not valid)"),
        ({"bos_id": 0}, "both have the id 0"),
        ({"special_tokens": "abc"}, "special_tokens must be an iterable"),
        ({"special_tokens": ["<m>", "<m>"]}, "'<m>' is there twice"),
        ({"user_defined_symbols": ["<unk>"]}, '"<unk>" is there twice'),
        ({"special_tokens": [""]}, "empty"),
        ({"user_defined_symbols": [3]}, "each of user_defined_symbols"),
        ({"user_defined_symbols": ["\ud800"]}, "each of user_defined_symbols is not valid Unicode"),
        ({"style": "huggingface", "treat_whitespace_as_suffix": True}, "suffix"),
        (
            {
                "style": "huggingface",
                "add_dummy_prefix": False,
                "pre_tokenizer": pre_tokenizers.Whitespace(),
            },
            "add_dummy_prefix",
        ),
    ],
)
def test_parameters_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        jeton.UnigramTrainer(**options)


@pytest.mark.parametrize("style", ["sentencepiece", "huggingface"])
def test_corpora_that_cannot_be_learnt_from(style: Any) -> None:
    trainer = jeton.UnigramTrainer(100, style=style)
    for corpus in ([], [""], ["   "], [" \n", "\t"], iter(())):
        with pytest.raises(TrainingError, match="the corpus has no words to learn from"):
            trainer.train(corpus)
    with pytest.raises(TrainingError, match=r"at least \d+.* lower character_coverage"):
        jeton.UnigramTrainer(20, style=style).train(LINES)
    with pytest.raises(TrainingError, match=r"100 is more than the \d+ pieces .* hard_vocab_limit"):
        trainer.train(["one word"])
    few = jeton.UnigramTrainer(100, style=style, hard_vocab_limit=False).train(["one word"])
    assert few.vocab_size < 20
    assert few.decode(few.encode("word one")) == "word one"


@pytest.mark.parametrize("style", ["sentencepiece", "huggingface"])
def test_odd_corpora(style: Any) -> None:
    trainer = jeton.UnigramTrainer(60, style=style, hard_vocab_limit=False, byte_fallback=False)
    for corpus in (
        ["a"],
        ["a" * 300_000],
        ["ab" * 100_000 + " x"],
        ["\x01\x02\x7f b", "\0 a \0"],
        ["lone \ufffd surrogate"],
        ["<unk> <s> </s>", "x<s>y"],
        ["▁▁▁ ▁", "▁a"],
        ["\u0301\u0301"] * 3,
        ["🙂👩‍👩‍👧" * 50],
        ODD_TEXTS,
    ):
        tok = trainer.train(corpus)
        assert tok.encode("a b")


def test_the_cut_into_files_does_not_matter(tmp_path: Path) -> None:
    trainer = jeton.UnigramTrainer(900)
    expected = trainer.train(LINES)
    assert trainer.train(reversed(LINES)) == expected
    assert trainer.train(line + "\n" for line in LINES) == expected
    assert trainer.train(["\n".join(LINES)]) == expected
    (tmp_path / "one.txt").write_text("\n".join(LINES), encoding="utf-8")
    assert trainer.train(tmp_path / "one.txt") == expected
    for part in range(7):
        text = "\r\n".join(LINES[part::7])
        (tmp_path / f"part{part}.text").write_bytes(text.encode())
    assert trainer.train(str(tmp_path / "*.text")) == expected
    counts = trainer.count(LINES)
    counts.save(tmp_path / "x.counts")
    assert trainer.train(jeton.WordCounts.load(tmp_path / "x.counts")) == expected
    assert trainer.train(counts.merged(counts)) != expected
    assert trainer.train(LINES, memory="1GB") == expected


@pytest.mark.large
def test_neither_threads_nor_hash_seeds_matter() -> None:
    program = (
        "import jeton, jeton.samples, hashlib, pathlib, sys\n"
        "folder = pathlib.Path(jeton.samples.__file__).parent\n"
        "text = sorted(set(folder.glob('*.txt')))\n"
        "lines = [line for path in text for line in path.read_text('utf-8').splitlines()]\n"
        "tok = jeton.UnigramTrainer(900).train(lines)\n"
        "print(hashlib.sha256(tok.stages.model.proto).hexdigest())\n"
    )
    digests = set()
    for threads, seed in [("1", "0"), ("2", "1"), ("5", "2")]:
        environment = {**os.environ, "RAYON_NUM_THREADS": threads, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_progress_is_told() -> None:
    steps: list[jeton.Progress] = []
    jeton.UnigramTrainer(1_000).train(LINES, watch=steps.append)
    phases = [phase for phase, _ in groupby(steps, key=lambda step: step.phase)]
    assert phases == ["counting", "seeding", "fitting"]
    assert steps[-1].phase == "fitting"
    assert steps[-1].done == steps[-1].total

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jeton.UnigramTrainer(1_000).train(LINES, watch=interrupt)


def test_rare_words_are_left_out() -> None:
    texts = ["common words here"] * 5 + ["zzyzx"]
    tok = jeton.UnigramTrainer(30, min_word_count=2, hard_vocab_limit=False).train(texts)
    assert not any(b"z" in token for token in tok.vocab)


def test_a_map_of_ones_own() -> None:
    stored = jeton.UnigramTrainer(900, normalizer="nfkc").train(LINES)
    assert isinstance(stored.stages.model, models.SentencePiece)
    charsmap = normalizers.Precompiled(_charsmap(stored.stages.model.proto))
    tok = jeton.UnigramTrainer(900, normalizer=charsmap).train(LINES)
    assert tok.encode("ﬁ") == stored.encode("fi")


def _charsmap(proto: bytes) -> bytes:
    """The character map in a `.model` file."""
    at = proto.index(b"nfkc") + 4
    assert proto[at] == 0x12
    size, shift = 0, 0
    while True:
        at += 1
        size |= (proto[at] & 127) << shift
        shift += 7
        if proto[at] < 128:
            return proto[at + 1 : at + 1 + size]


def test_json_of_the_written_file(tmp_path: Path) -> None:
    tok = jeton.UnigramTrainer(300, style="huggingface", hard_vocab_limit=False).train(LINES[:200])
    written = json.loads(tok.to_json())
    assert written["model"]["type"] == "Unigram"
    assert written["model"]["unk_id"] == 0
    assert written["pre_tokenizer"]["type"] == "Metaspace"


@pytest.mark.parametrize("size", [5, 6, 8, 12, 18, 19])
def test_every_size_that_the_corpus_has_substrings_for(size: int) -> None:
    assert jeton.UnigramTrainer(size).train(["a" * 20_000]).vocab_size == size
