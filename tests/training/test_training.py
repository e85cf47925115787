"""Trainers: worked examples, equality with tokenizers, and what a corpus may be."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import normalizers, pre_tokenizers

TEXTS = [
    "the weather there, then the theory: père 東京 🙂\n\n  x = 1\n",
    "she sells sea shells by the sea shore; the shells she sells are sea-shells\n",
    "don't can't won't 12345 67890 3.14159\n",
] * 7


@pytest.mark.parametrize(
    ("corpus", "options", "merges", "text", "tokens"),
    [
        (
            ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3,
            {"end_of_word_suffix": "</w>", "separate_suffix": True},
            ["es", "est", "est</w>", "lo", "low"],
            "lowest",
            ["low", "est</w>"],
        ),
        (["a refrain from rain in a train"], {}, ["in", "ra", "rain"], "rain", ["rain"]),
        (["hello", "hello", "help"], {}, ["he"], "he", ["he"]),
    ],
    ids=["lowest", "refrain", "hello"],
)
def test_worked_examples(
    corpus: list[str], options: dict[str, bool], merges: list[str], text: str, tokens: list[str]
) -> None:
    characters = set("".join(corpus)) - {" "}
    size = len(characters) + len(merges) + ("end_of_word_suffix" in options)
    trainer = jeton.BPETrainer(
        size,
        pattern="whitespace",
        alphabet="characters",
        tie_break="first",
        **options,  # type: ignore[arg-type]
    )
    tok = trainer.train(corpus)
    assert [left + right for left, right in tok.vocab.merges] == [
        merge.encode() for merge in merges
    ]
    assert [tok.vocab.spelling(id) for id in tok.encode(text)] == [
        token.encode() for token in tokens
    ]


@pytest.mark.parametrize("rule", ["bpe", "released", "published"])
def test_a_size_below_the_alphabet_trains_no_merges(rule: str) -> None:
    def trainer(size: int) -> jeton.BPETrainer | jeton.WordPieceTrainer:
        if rule == "bpe":
            return jeton.BPETrainer(
                size, pattern="whitespace", alphabet="characters", special_tokens=["<s>"]
            )
        return jeton.WordPieceTrainer(
            size,
            rule=rule,  # type: ignore[arg-type]
            special_tokens=["[UNK]"],
        )

    text = ["cake cakes"]
    alphabet = 6 if rule == "bpe" else 10  # `##s` and so on are tokens of their own
    exact = trainer(alphabet).train(text)
    for size in (0, 1, alphabet - 1):
        with pytest.warns(jeton.errors.TrainingWarning, match="so nothing was merged"):
            assert trainer(size).train(text) == exact
    assert exact.vocab.merges == []


def test_sizes_around_the_alphabet() -> None:
    trainer = jeton.BPETrainer([2, 4, 5], pattern="whitespace", alphabet="characters")
    with pytest.warns(
        jeton.errors.TrainingWarning, match="vocab_size=2 is below the 4 special tokens"
    ):
        trained = trainer.train_all(["cake cake"])
    assert [len(tok.vocab.merges) for tok in trained.values()] == [0, 0, 1]


def test_equal_to_tokenizers(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer, models, trainers
    from tokenizers import pre_tokenizers as theirs_pre

    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = theirs_pre.ByteLevel(add_prefix_space=False)
    theirs.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<|end|>"],
            initial_alphabet=theirs_pre.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    ours = jeton.BPETrainer(
        400,
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        special_tokens=["<|end|>"],
    ).train(TEXTS)
    written = json.loads(ours.to_json())["model"]
    judge = json.loads(theirs.to_str())["model"]
    assert written["vocab"] == judge["vocab"]
    assert written["merges"] == judge["merges"]
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text).ids


def test_bytes_spelled_as_characters_equal_tokenizers() -> None:
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer, models, trainers
    from tokenizers import pre_tokenizers as theirs_pre

    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = theirs_pre.ByteLevel(add_prefix_space=False)
    theirs.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=150, show_progress=False, initial_alphabet=["ÿ"])
    )
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = jeton.BPETrainer(150, alphabet="characters", pre_tokenizer=cut, initial_alphabet="ÿ")
    ours = trainer.train(TEXTS)
    written = json.loads(ours.to_json())["model"]
    judge = json.loads(theirs.to_str())["model"]
    assert (written["vocab"], written["merges"]) == (judge["vocab"], judge["merges"])
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text).ids
        assert ours.decode(ours.encode(text)) == text
    raw = jeton.WordCounts.count(TEXTS, pre_tokenizer=cut)
    with pytest.raises(jeton.errors.ArgumentError, match="pattern or pre_tokenizer: "):
        trainer.train(raw)


def test_a_corpus_in_files(tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number:02}.txt").write_text(text, encoding="utf-8", newline="")
    trainer = jeton.BPETrainer(330, normalizer=normalizers.Lowercase())
    lines = [line for text in TEXTS for line in text.splitlines(keepends=True)]
    for documents, texts in (("file", TEXTS), ("line", lines)):
        expected = trainer.train(texts)
        given: dict[str, Any] = {"documents": documents}
        assert trainer.train(str(tmp_path), **given) == expected
        assert trainer.train(tmp_path, **given) == expected
        assert trainer.train(str(tmp_path / "*.txt"), **given) == expected
        assert trainer.train(iter(texts)) == expected
    assert expected.encode("THE") == expected.encode("the")
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe")
    with pytest.raises(jeton.errors.FormatError, match=r"x\.bin.*UTF-8"):
        trainer.train(tmp_path)


def test_special_tokens_are_boundaries() -> None:
    tok = jeton.BPETrainer(300, pattern="none", special_tokens=["<|end|>"]).train(
        ["ab<|end|>cd"] * 100
    )
    assert tok.special_tokens == {"<|end|>": 0}
    assert not any(
        b"<" in left + right or b"bc" in left + right for left, right in tok.vocab.merges
    )


def test_characters() -> None:
    tok = jeton.CharTrainer().train("hello")
    assert tok.vocab == {b"e": 0, b"h": 1, b"l": 2, b"o": 3}
    tok = jeton.CharTrainer(unk_token="<UNK>", special_tokens=["<|end|>"]).train(["he", "llo"])
    assert tok.encode("help<|end|>", special="allow") == [2, 1, 3, 0, 5]
    assert tok.decode([2, 1, 0]) == "he<UNK>"
    assert tok.vocab["<UNK>"] == 0


def test_a_path_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("abc", encoding="utf-8")
    assert set(jeton.CharTrainer().train(path).vocab) == {b"a", b"b", b"c"}
    with pytest.raises(jeton.errors.ArgumentError, match="pathlib"):
        jeton.CharTrainer().train(str(path))


def test_forms_of_a_corpus(tmp_path: Path) -> None:
    lines = [line for text in TEXTS for line in text.splitlines(keepends=True)]
    trainer = jeton.BPETrainer(330)
    expected = trainer.train(lines)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("".join(lines).encode()))
    rows = [{"n": n, "body": line} for n, line in enumerate(lines)]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert trainer.train(tmp_path / "a.txt.gz", documents="line") == expected
    assert trainer.train(tmp_path / "a.txt.gz") == trainer.train(["".join(lines)])
    assert trainer.train([tmp_path / "b.jsonl"], field="body") == expected
    with pytest.raises(
        jeton.errors.FormatError, match=r"b\.jsonl: line 1: .*field 'text'|\"text\""
    ):
        trainer.train(tmp_path / "b.jsonl")
    with pytest.raises(jeton.errors.ArgumentError, match="did you mean 'strict'"):
        trainer.train(lines, errors="strct")  # type: ignore[arg-type]


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "c.parquet"
    parquet.write_table(pyarrow.table({"text": [*TEXTS, None]}), path)
    trainer = jeton.BPETrainer(330)
    assert trainer.train(path) == trainer.train(TEXTS)
    with pytest.raises(jeton.errors.FormatError, match="did you mean 'text'"):
        trainer.train(path, field="txt")


def test_a_ladder_of_sizes() -> None:
    ladder = jeton.BPETrainer([300, 260, 330]).train_all(TEXTS)
    assert list(ladder) == [260, 300, 330]
    for size, tok in ladder.items():
        assert tok == jeton.BPETrainer(size).train(TEXTS)


def test_word_counts(tmp_path: Path) -> None:
    counts = jeton.WordCounts.count(TEXTS)
    counts.save(tmp_path / "x.counts")
    again = jeton.WordCounts.load(tmp_path / "x.counts")
    assert again.items() == counts.items()
    trainer = jeton.BPETrainer(330)
    assert trainer.train(again) == trainer.train(TEXTS)
    twice = counts.merged(jeton.WordCounts([("new", 1)]))
    assert (len(twice), twice.total) == (len(counts) + 1, counts.total + 1)
    assert len(twice.at_least(2)) < len(twice)


def test_wordpiece_equals_tokenizers() -> None:
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer, models, trainers
    from tokenizers import normalizers as theirs_norm
    from tokenizers import pre_tokenizers as theirs_pre

    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    ours = jeton.WordPieceTrainer(150).train(TEXTS)
    theirs = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    theirs.normalizer = theirs_norm.BertNormalizer()
    theirs.pre_tokenizer = theirs_pre.BertPreTokenizer()
    theirs.train_from_iterator(
        TEXTS,
        trainers.WordPieceTrainer(vocab_size=150, special_tokens=specials, show_progress=False),
    )
    # Whose ids the marked letters have, and so who wins a tie, varies there from run to run: what
    # is certain are the alphabet, and how many tokens there are.
    vocab = {token.decode() for token in ours.vocab}
    letters = {token for token in theirs.get_vocab() if len(token.removeprefix("##")) == 1}
    assert letters == {token for token in vocab if len(token.removeprefix("##")) == 1}
    assert len(vocab) == theirs.get_vocab_size()
    assert ours.vocab["[MASK]"] == 4
    for text in TEXTS[:3]:
        assert ours.decode(ours.encode(text))
        assert b"[UNK]" not in [ours.vocab.spelling(id) for id in ours.encode(text)]


def test_progress_is_told() -> None:
    steps: list[object] = []
    jeton.BPETrainer(330).train(TEXTS, watch=steps.append)
    assert steps

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jeton.BPETrainer(330).train(TEXTS, watch=interrupt)


@pytest.mark.parametrize("affix", ["end_of_word_suffix", "continuing_subword_prefix"])
def test_affixes_are_refused_where_decoding_would_go_wrong(
    affix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is tried on a text is not taken for the name of a file.
    monkeypatch.chdir(tmp_path)
    Path("a b").touch()

    def trainer(**options: object) -> jeton.BPETrainer:
        return jeton.BPETrainer(300, **{affix: "##"}, **options)  # type: ignore[arg-type]

    for alphabet in (None, "bytes"):
        with pytest.raises(jeton.errors.ArgumentError, match="use alphabet='characters'"):
            trainer(alphabet=alphabet)
    for cut in ({}, {"pattern": "gpt2"}, {"pre_tokenizer": pre_tokenizers.Metaspace()}):
        with pytest.raises(jeton.errors.ArgumentError, match="use pattern='whitespace'"):
            trainer(alphabet="characters", **cut)
    tok = trainer(alphabet="characters", pattern="whitespace").train(["low newest widest"] * 3)
    assert tok.decode(tok.encode("low newest widest")) == "low newest widest"


@pytest.mark.parametrize(
    "name", ["alphabet", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"]
)
def test_an_empty_text_is_not_the_default(name: str) -> None:
    with pytest.raises(jeton.errors.ArgumentError, match=name):
        jeton.BPETrainer(300, **{name: ""})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "trainer", [jeton.BPETrainer, jeton.UnigramTrainer, jeton.WordPieceTrainer, jeton.CharTrainer]
)
def test_special_tokens_have_an_order(trainer: type[jeton.BPETrainer]) -> None:
    for tokens in ({"<a>", "<b>"}, frozenset({"<a>"})):
        with pytest.raises(jeton.errors.ArgumentTypeError, match="give a list"):
            trainer(special_tokens=tokens)
    trainer(special_tokens=dict.fromkeys(["[UNK]", "<a>"]))
