"""Models that move to another tokenizer, words that become tokens, and sums of vectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import jeton
from jeton import edit
from jeton.edit.pursuit import sparse_sums
from jeton.errors import ArgumentError, FormatError, JetonError, TrainingError, UnsupportedError

TEXT = ["the lowest of the low, the newest of the new, the widest of the wide"] * 4
OLD = jeton.BPETrainer(280, pattern="gpt4", special_tokens=["<|old|>"]).train(TEXT)
NEW = jeton.BPETrainer(290, pattern="gpt2", special_tokens=["<|new|>"]).train(
    ["the theory there, the weather there, the lowest of the low"] * 4
)


def model(
    folder: Path, tok: jeton.Tokenizer, table: np.ndarray, head: np.ndarray | None = None
) -> Path:
    safetensors = pytest.importorskip("safetensors.numpy")
    folder.mkdir()
    tensors = {
        "model.embed_tokens.weight": table,
        "lm_head.weight": -table if head is None else head,
    }
    safetensors.save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"vocab_size": len(table), "hidden_size": 48}))
    tok.save(folder)
    return folder


def tables_of(folder: Path) -> dict[str, np.ndarray]:
    safetensors = pytest.importorskip("safetensors.numpy")
    tables: dict[str, np.ndarray] = safetensors.load_file(folder / "model.safetensors")
    return tables


def random_table(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 48)).astype(np.float32)


@pytest.mark.large
def test_shared_rows_are_copied_and_the_others_are_means(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    table = random_table(OLD.vocab_size)
    source = model(tmp_path / "old", OLD, table)
    moved = edit.transplant(OLD, NEW, model=source)
    edit.rewrite_checkpoint(source, moved, tmp_path / "new")
    for name, sign in (("model.embed_tokens.weight", 1), ("lm_head.weight", -1)):
        new = sign * tables_of(tmp_path / "new")[name]
        for id, other in jeton.shared_tokens(OLD, NEW).items():
            assert np.array_equal(new[other], table[id])
        for id, parts in moved.id_map.made_of.items():
            if parts:
                assert b"".join(map(OLD.vocab.token_bytes, parts)) == NEW.vocab.token_bytes(id)
                np.testing.assert_allclose(
                    new[id], table[list(parts)].mean(0), rtol=1e-5, atol=1e-6
                )
    assert moved.shared + moved.by_role + moved.by_mean + moved.without == NEW.vocab_size
    assert moved.cosine is not None and -1 <= moved.cosine <= 1
    assert jeton.load(tmp_path / "new").encode("the theory") == NEW.encode("the theory")


@pytest.mark.large
def test_pursuit_finds_rows_that_a_linear_map_of_the_donor_gives(tmp_path: Path) -> None:
    """Where the model's table is the donor's, rotated, sums that are exact in one are in both."""
    pytest.importorskip("torch")
    rotation = np.linalg.qr(np.random.default_rng(3).normal(size=(48, 48)))[0].astype(np.float32)
    donor_table = random_table(NEW.vocab_size, 1)
    table = random_table(OLD.vocab_size, 2)
    for old, new in jeton.shared_tokens(OLD, NEW).items():
        table[old] = donor_table[new] @ rotation
    source = model(tmp_path / "old", OLD, table)
    donor = model(tmp_path / "donor", NEW, donor_table)
    moved = edit.transplant(OLD, NEW, model=source, donor=donor, terms=48)
    assert moved.by_pursuit == NEW.vocab_size - moved.shared - moved.by_role - moved.without
    assert moved.cosine is not None and moved.cosine > 0.999
    edit.rewrite_checkpoint(source, moved, tmp_path / "new")
    new_table = tables_of(tmp_path / "new")["model.embed_tokens.weight"]
    for id in moved.weights:
        np.testing.assert_allclose(new_table[id], donor_table[id] @ rotation, atol=1e-3)
    few = edit.transplant(OLD, NEW, model=source, donor=donor, terms=2)
    assert few.cosine is not None and few.cosine < moved.cosine
    assert all(len(ids) <= 2 for ids, _ in few.weights.values())


@pytest.mark.large
def test_heads_have_sums_of_their_own(tmp_path: Path) -> None:
    """The donor's head, rotated otherwise than the embeddings, is found for new tokens."""
    pytest.importorskip("torch")
    rotate = [np.linalg.qr(random_table(48, seed))[0].astype(np.float32) for seed in (3, 4)]
    of_donor = [random_table(NEW.vocab_size, seed) for seed in (1, 5)]
    of_model = [random_table(OLD.vocab_size, seed) for seed in (2, 6)]
    for old, new in jeton.shared_tokens(OLD, NEW).items():
        for table, donor_table, rotation in zip(of_model, of_donor, rotate, strict=True):
            table[old] = donor_table[new] @ rotation
    source = model(tmp_path / "old", OLD, *of_model)
    donor = model(tmp_path / "donor", NEW, *of_donor)
    moved = edit.transplant(OLD, NEW, model=source, donor=donor, terms=48)
    assert moved.head_weights is not None and moved.head_weights.keys() == moved.weights.keys()
    edit.rewrite_checkpoint(source, moved, tmp_path / "new")
    tables = tables_of(tmp_path / "new")
    names = ("model.embed_tokens.weight", "lm_head.weight")
    for name, donor_table, rotation in zip(names, of_donor, rotate, strict=True):
        for id in moved.weights:
            np.testing.assert_allclose(tables[name][id], donor_table[id] @ rotation, atol=1e-3)


@pytest.mark.large
def test_special_tokens_of_the_same_role_share_a_row(tmp_path: Path) -> None:
    old, new = OLD.replace(roles={"eos": "<|old|>"}), NEW.replace(roles={"eos": "<|new|>"})
    moved = edit.transplant(old, new)
    assert moved.by_role == 1
    assert moved.id_map.moved[old.special_tokens["<|old|>"]] == new.special_tokens["<|new|>"]
    assert moved.cosine is None and moved.held == 0


def test_sums_are_least_squares_over_the_chosen() -> None:
    draw = np.random.default_rng(5)
    basis = draw.normal(size=(60, 16)).astype(np.float32)
    targets = draw.normal(size=(20, 16)).astype(np.float32)
    errors = []
    for terms in (1, 2, 4, 8):
        chosen, values = sparse_sums(targets, basis, terms)
        for row, target in enumerate(targets):
            best = np.linalg.lstsq(basis[chosen[row]].T, target, rcond=None)[0]
            np.testing.assert_allclose(values[row], best, rtol=1e-3, atol=1e-4)
        made = np.einsum("nt,ntw->nw", values, basis[chosen])
        errors.append(float(np.linalg.norm(targets - made)))
    assert errors == sorted(errors, reverse=True)


def test_the_first_term_has_the_largest_cosine() -> None:
    basis, targets = random_table(50, 1), random_table(9, 2)
    chosen, _ = sparse_sums(targets, basis, 1)
    unit = basis / np.linalg.norm(basis, axis=1, keepdims=True)
    assert chosen[:, 0].tolist() == np.abs(targets @ unit.T).argmax(1).tolist()


def plain_pursuit(target: np.ndarray, unit: np.ndarray, terms: int) -> list[int]:
    """Orthogonal matching pursuit as its definition has it."""
    chosen: list[int] = []
    left = target
    for _ in range(terms):
        cosines = np.abs(unit @ left)
        cosines[chosen] = -1
        chosen.append(int(cosines.argmax()))
        basis = unit[chosen].T
        left = target - basis @ np.linalg.lstsq(basis, target, rcond=None)[0]
    return chosen


@pytest.mark.large
def test_sums_are_those_of_the_definition_and_of_scikit_learn() -> None:
    basis, targets = (
        random_table(400, 1) + np.float32(0.3),
        random_table(30, 2) - np.float32(0.1),
    )
    basis *= np.random.default_rng(3).uniform(0.1, 9, (400, 1)).astype(np.float32)
    unit = basis / np.linalg.norm(basis, axis=1, keepdims=True)
    chosen, values = sparse_sums(targets, basis, 12)
    for row, target in enumerate(targets):
        assert chosen[row].tolist() == plain_pursuit(target, unit, 12)
    linear_model = pytest.importorskip("sklearn.linear_model")
    expected = linear_model.orthogonal_mp(unit.T, targets.T, n_nonzero_coefs=12).T
    found = np.zeros_like(expected)
    np.put_along_axis(found, chosen, values, 1)
    np.testing.assert_allclose(
        found, expected / np.linalg.norm(basis, axis=1), rtol=1e-3, atol=1e-5
    )


def test_sums_end_where_nothing_is_left() -> None:
    basis = np.concatenate([random_table(9, 1), np.zeros((1, 48), np.float32)])
    targets = np.stack([2 * basis[3] - basis[5], np.zeros(48, np.float32), basis[7]])
    chosen, values = sparse_sums(targets, basis, 9)
    made = np.einsum("nt,ntw->nw", values, basis[chosen])
    np.testing.assert_allclose(made, targets, atol=1e-5)
    assert np.count_nonzero(np.abs(values) > 1e-4, axis=1).tolist() == [2, 0, 1]
    assert np.count_nonzero(values[1]) == 0


@pytest.mark.large
def test_the_model_of_another_tokenizer_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    source = model(tmp_path / "old", OLD, random_table(OLD.vocab_size))
    other = model(tmp_path / "new", NEW, random_table(NEW.vocab_size))
    with pytest.raises(ArgumentError, match="is not this model's tokenizer"):
        edit.transplant(OLD, NEW, model=other)
    with pytest.raises(ArgumentError, match="is not this model's tokenizer"):
        edit.transplant(OLD, NEW, model=source, donor=source)


def test_tokenizers_without_a_common_token_are_refused() -> None:
    a, b = jeton.CharTrainer().train("abc"), jeton.CharTrainer().train("xyz")
    with pytest.raises(ArgumentError, match="no token in common"):
        edit.transplant(a, b)


def test_words_become_tokens_with_their_old_pieces() -> None:
    words = ["ibuprofen", "weather", "東京"]
    edited = edit.add_words(NEW, words)
    tok = edited.tok
    assert edited.added == tuple(word.encode() for word in words)
    for word, id in zip(words, range(NEW.vocab.max_id + 1, tok.vocab.max_id + 1), strict=True):
        assert tok.encode(word) == [id]
        assert edited.id_map.made_of[id] == tuple(NEW.encode(word))
    text = "the theory there"
    assert tok.encode(text) == NEW.encode(text)
    inside = "ibuprofens"
    assert tok.encode(inside) == NEW.encode(inside)
    everywhere = edit.add_words(NEW, words, single_word=False).tok
    assert everywhere.encode(inside)[0] == NEW.vocab.max_id + 1
    assert tok.decode(tok.encode("take ibuprofen, then 東京!")) == "take ibuprofen, then 東京!"


def test_words_that_are_tokens_already_are_left_out() -> None:
    edited = edit.add_words(NEW, ["the", "ibuprofen"])
    assert edited.left_out == (b"the",)
    with pytest.raises(ArgumentError, match="is a token already"):
        edit.add_words(NEW, ["the"])


@pytest.mark.parametrize("word", ["", " a", "a\n", "<|new|>"])
def test_words_that_cannot_be_added_are_refused(word: str) -> None:
    with pytest.raises(ArgumentError):
        edit.add_words(NEW, ["good", word])
    with pytest.raises(ArgumentError, match="twice"):
        edit.add_words(NEW, ["good", "good"])


def test_extending_by_nothing_is_an_error() -> None:
    with pytest.raises(TrainingError, match="no token to add"):
        edit.extend(NEW, ["a b c d"], 500)


@pytest.mark.large
def test_models_of_sentencepiece_that_tokenizer_json_cannot_hold_are_written_as_such(
    tmp_path: Path,
) -> None:
    pytest.importorskip("torch")
    pieces = jeton.UnigramTrainer(60, hard_vocab_limit=False).train(TEXT)
    with pytest.raises(UnsupportedError, match=r"save it as \.model"):
        pieces.save(tmp_path / "refused")
    source = model(tmp_path / "old", OLD, random_table(OLD.vocab_size))
    moved = edit.transplant(OLD, pieces, model=source)
    edit.rewrite_checkpoint(source, moved, tmp_path / "new")
    assert not (tmp_path / "new" / "tokenizer.json").exists()
    written = jeton.load(tmp_path / "new")
    assert written.digest == jeton.load(tmp_path / "new" / "tokenizer.model").digest
    assert written.encode(TEXT[0]) == pieces.encode(TEXT[0])
    smaller = edit.truncate(written, pieces.vocab_size - 5)
    edit.rewrite_checkpoint(tmp_path / "new", smaller, tmp_path / "smaller")
    assert jeton.load(tmp_path / "smaller").vocab == smaller.tok.vocab


TABLES_THAT_ARE_REFUSED: dict[str, tuple[float | None, type[JetonError], str]] = {
    "not a number": (float("nan"), FormatError, "not finite in 2 rows, the first is 7"),
    "infinite": (float("-inf"), FormatError, "not finite in 2 rows, the first is 7"),
    "quantised": (None, UnsupportedError, r"embed_tokens\.weight holds torch\.int8"),
}


@pytest.mark.large
@pytest.mark.parametrize("whose", ["model", "donor"])
@pytest.mark.parametrize(
    ("value", "error", "told"), TABLES_THAT_ARE_REFUSED.values(), ids=TABLES_THAT_ARE_REFUSED
)
def test_tables_that_would_spoil_sums_are_refused(
    tmp_path: Path, whose: str, value: float | None, error: type[JetonError], told: str
) -> None:
    pytest.importorskip("torch")
    tables = {"model": random_table(OLD.vocab_size), "donor": random_table(NEW.vocab_size, 1)}
    table = tables[whose]
    if value is None:
        table = (table * 30).astype(np.int8)
    else:
        table[7, 3] = table[9] = value
    tables[whose] = table
    source = model(tmp_path / "model", OLD, tables["model"])
    donor = model(tmp_path / "donor", NEW, tables["donor"])
    with pytest.raises(error, match=told):
        edit.transplant(OLD, NEW, model=source, donor=donor)
