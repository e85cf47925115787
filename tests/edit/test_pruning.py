"""Taking tokens away: what is promised, over random vocabularies of every family."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from edit_families import FAMILIES, LINES, check_promises, check_reachable, some_lines
from jeton import edit
from jeton.edit.derivations import by_scores
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingFileError,
    UnknownTokenError,
    UnsupportedError,
)

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_that_a_corpus_does_not_use_are_pruned(family: str, seed: int) -> None:
    tok = FAMILIES[family](seed)
    corpus = some_lines(seed, 5)
    edited = edit.prune(tok, corpus=corpus)
    assert edited.tok.vocab_size < tok.vocab_size
    check_promises(tok, edited, corpus + random.Random(seed).sample(LINES, 60))
    check_reachable(tok, edited)
    for text in corpus:
        assert edited.tok.encode(text) == edited.id_map.apply(tok.encode(text))


@pytest.mark.parametrize("family", FAMILIES)
def test_leaves_go_in_rounds_that_count_anew(family: str) -> None:
    tok = FAMILIES[family](1)
    corpus = some_lines(7, 12)
    step, removed = tok, []
    for rounds in range(1, 4):
        edited = edit.prune(tok, corpus=corpus, min_count=3, leaves=rounds)
        step = edit.prune(step, corpus=corpus, min_count=3, leaves=1).tok
        assert edited.tok == step
        check_promises(tok, edited, corpus + some_lines(3, 30))
        check_reachable(tok, edited)
        removed.append(len(edited.removed))
    assert removed[0] and removed == sorted(removed)
    end = edit.prune(tok, corpus=corpus, min_count=3, leaves=99)
    assert edit.prune(end.tok, corpus=corpus, min_count=3, leaves=1).removed == ()


def test_a_leaf_is_removed_before_what_it_is_merged_from() -> None:
    tok = jeton.BPETrainer(259, pattern="whitespace").train(["abcd"] * 9)
    longest, *rest = sorted(set(tok.vocab) - {bytes([byte]) for byte in range(256)}, key=len)[::-1]
    once = edit.prune(tok, corpus=["ab"], leaves=1)
    assert once.removed == (longest,) and len(rest) == 2
    thrice = edit.prune(tok, corpus=["x"], leaves=3)
    assert set(thrice.removed) == {longest, *rest}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"leaves": 1}, ArgumentError, "leaves needs a corpus"),
        ({"leaves": 1, "counts": {}}, ArgumentError, "leaves needs a corpus"),
        ({"leaves": 0, "corpus": ["a"]}, ArgumentError, "leaves must be at least 1"),
        ({"leaves": "2", "corpus": ["a"]}, ArgumentTypeError, "leaves must be an int"),
        ({"leaves": 1, "corpus": ["a"], "size": 9}, ArgumentError, "not down to a size"),
        ({"leaves": 2, "corpus": iter(["a"])}, ArgumentError, "an iterator can be read once"),
    ],
)
def test_leaves_that_make_no_sense(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    tok = jeton.BPETrainer(259, pattern="whitespace").train(["abcd"] * 9)
    with pytest.raises(error, match=message):
        edit.prune(tok, **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_sizes(family: str) -> None:
    tok = FAMILIES[family](1)
    least = edit.prune(tok, counts={}).tok.vocab_size
    for size in (least, (least + tok.vocab_size) // 2, tok.vocab_size):
        edited = edit.prune(tok, size=size, corpus=some_lines(7, 20))
        assert edited.tok.vocab_size == size
        assert sorted(edited.tok.vocab.values()) == list(range(size))
        check_promises(tok, edited, some_lines(3, 30))
        check_reachable(tok, edited)
    if least > 1:
        with pytest.raises(ArgumentError, match="cannot be reached"):
            edit.prune(tok, size=least - 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_rarest_go_first(family: str) -> None:
    tok = FAMILIES[family](2)
    counts = {id: random.Random(id).randrange(100) for id in tok.vocab.values()}
    size = (edit.prune(tok, counts={}).tok.vocab_size + tok.vocab_size) // 2
    edited = edit.prune(tok, size=size, counts=counts)
    removed = [tok.vocab[token] for token in edited.removed]
    # Of what was free to go at the end, nothing is rarer than all that went.
    again = (
        edit.prune(
            edited.tok,
            size=size - 1,
            counts={
                edited.id_map.moved[id]: number
                for id, number in counts.items()
                if edited.id_map.moved[id] != -1
            },
        )
        if size > 1 and edit.prune(edited.tok, counts={}).tok.vocab_size < size
        else None
    )
    if again is not None:
        (next_gone,) = again.removed
        assert counts[tok.vocab[next_gone]] >= min(counts[id] for id in removed)


@pytest.mark.parametrize("family", ["bpe", "ranks", "bpe with bytes"])
def test_truncating_is_training_for_less(family: str) -> None:
    large = FAMILIES[family](1)
    for size in (large.vocab_size, large.vocab_size - 1, large.vocab_size - 30):
        edited = edit.truncate(large, size)
        assert edited.tok.vocab_size == size
        check_reachable(large, edited)
        if family != "bpe with bytes":  # which lists several merges for a token
            assert edited.tok.vocab.merges == large.vocab.merges[: len(edited.tok.vocab.merges)]


def test_truncating_gives_the_trained_tokenizer() -> None:
    large, small = (jeton.BPETrainer(size).train(some_lines(1)) for size in (600, 560))
    assert edit.truncate(large, 560).tok == small


def test_truncating_sentencepiece_gives_the_trained_pieces() -> None:
    """Characters score one less than the last merge in training, and keep what they had here."""
    large, small = (
        jeton.BPETrainer(size, alphabet="sentencepiece").train(some_lines(1)) for size in (600, 560)
    )
    tok = edit.truncate(large, 560).tok
    assert tok.vocab == small.vocab and tok.vocab.merges == small.vocab.merges
    assert tok.replace(model=small.stages.model) == small
    scores, expected = tok.vocab.scores, small.vocab.scores
    assert scores is not None and expected is not None
    merged = {id for token, id in tok.vocab.items() if len(token.decode()) > 1}
    assert all(scores[id] == expected[id] for id in merged)
    for text in some_lines(2, 60):
        assert tok.encode(text) == small.encode(text), text


@pytest.mark.parametrize("family", FAMILIES)
def test_saved_wherever_the_old_one_could(family: str, tmp_path: Path) -> None:
    tok = FAMILIES[family](0)
    edited = edit.prune(tok, corpus=some_lines(4, 5))
    for name in ("t.json", "t.model", "t.tiktoken", "vocab.txt"):
        try:
            tok.save(tmp_path / f"old-{name}", lossy=True)
        except (UnsupportedError, ArgumentError):
            continue
        edited.tok.save(tmp_path / name, lossy=True)
        if name == "t.json" or (name == "t.model" and "sentencepiece" in family):
            again = jeton.load(tmp_path / name)
            for text in some_lines(5, 10):
                assert again.encode(text) == edited.tok.encode(text)


@pytest.mark.parametrize("family", ["bpe", "wordpiece", "sentencepiece unigram"])
def test_files_are_a_corpus(family: str, tmp_path: Path) -> None:
    tok, lines = FAMILIES[family](0), [line + "\n" for line in some_lines(3, 40)]
    path = tmp_path / "text.txt"
    path.write_text("".join(lines), encoding="utf-8")
    for corpus in (path, str(path), [path], str(tmp_path / "*.txt")):
        pruned = edit.prune(tok, corpus=corpus)
        assert pruned.tok == edit.prune(tok, corpus=["".join(lines)]).tok
        assert edit.extend(tok, corpus, 5).tok == edit.extend(tok, iter(lines), 5).tok


def test_scripts() -> None:
    tok = jeton.BPETrainer(420, pattern="gpt4").train(
        ["the rain and the train", "дождь и поезд и дождь", "雨と電車と雨"] * 20
    )
    edited = edit.prune(tok, scripts=["latin"])
    assert b" the" in edited.tok.vocab
    assert not any("д" in token.decode("utf-8", "ignore") for token in edited.tok.vocab)
    assert edited.tok.decode(edited.tok.encode("дождь")) == "дождь"
    check_promises(tok, edited, ["the train", "дождь и", "雨と"])


def test_a_part_that_is_no_piece_hides_no_need() -> None:
    """Of `abc`, merged from `ab` and a character `c` that is no piece, `ab` is needed."""
    scores = {"a": -1.0, "b": -2.0, "ab": -3.0, "abc": -4.0}
    ids = {text: id for id, text in enumerate(scores)}
    needs = by_scores(ids, scores.__getitem__, frozenset())
    assert needs[3] == [(2, 2)] and needs[2] == [(0, 1)]


def test_dropped_by_name() -> None:
    tok = jeton.BPETrainer(262, pattern="gpt4").train(["low lower lowest"] * 9)
    chain = [left + right for left, right in tok.vocab.merges]
    edited = edit.prune(tok, drop=[chain[-1]])
    assert edited.removed == (chain[-1],)
    needed = next(
        left + right
        for left, right in tok.vocab.merges
        if any(left + right in p for p in tok.vocab.merges)
    )
    with pytest.raises(ArgumentError, match="is merged from it; drop that too"):
        edit.prune(tok, drop=[needed])
    assert set(edit.prune(tok, drop=chain).removed) == set(chain)
    kept = edit.prune(tok, counts={}, keep=[chain[-1]])
    assert chain[-1] in kept.tok.vocab and kept.tok.encode(chain[-1].decode())


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "nothing said": ({}, ArgumentError, "say what to remove"),
    "min_count alone": ({"min_count": 2}, ArgumentError, "corpus= or counts="),
    "both": ({"corpus": ["a"], "counts": {}}, ArgumentError, "not both"),
    "no file": ({"corpus": "text"}, MissingFileError, "there is no such file"),
    "no texts": ({"corpus": {"a": 1}}, ArgumentTypeError, "iterable of texts"),
    "size": ({"size": 0}, ArgumentError, "size"),
    "counts of another": ({"counts": {99_999: 1}}, ArgumentError, "another tokenizer"),
    "negative": ({"counts": {1: -1}}, ArgumentError, "counts"),
    "unknown drop": ({"drop": [b"nowhere"]}, UnknownTokenError, "nowhere"),
    "unknown id": ({"drop": [99_999]}, UnknownTokenError, "99999"),
    "a byte": ({"drop": [b"a"]}, ArgumentError, "cannot be removed"),
    "a special": ({"drop": ["<|end|>"]}, ArgumentError, "cannot be removed"),
    "script": ({"scripts": ["Klingon"]}, ArgumentError, "Klingon"),
    "scripts": ({"scripts": "Latin"}, ArgumentTypeError, "scripts"),
}


@pytest.mark.parametrize("options, error, message", BAD.values(), ids=BAD.keys())
def test_bad_input(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        edit.prune(FAMILIES["bpe"](0), **options)
