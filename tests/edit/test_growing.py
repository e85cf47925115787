"""Adding tokens: by training on, from another vocabulary, special ones; and reordering."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import jeton
from edit_families import FAMILIES, WITH_MORE, some_lines
from jeton import edit
from jeton.components import decoders, models, pre_tokenizers
from jeton.edit.scores import with_scores
from jeton.edit.spelling import merged_from
from jeton.edit.vocabulary import rebuild
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingFileError,
    TrainingError,
    UnsupportedError,
)
from jeton.loading.model_file import ModelFile, ModelPiece

ESTONIAN = [
    "vesi on külm ja vaikne, aga jõgi ei küsi",
    "kes küsib, see saab teada, ja kes teab, see vaikib",
    "külma vee ääres seisis vaikne mees ja küsis jõelt teed",
] * 30

GROWING = [name for name in FAMILIES if name != "words"]


def plain(token: bytes) -> bytes:
    """The text that a token stands for: without `##`, and bytes not by their names."""
    if token.startswith(b"<0x") and len(token) == 6:
        return bytes([int(token[3:5], 16)])
    return token.removeprefix(b"##")


@pytest.mark.parametrize("family", GROWING)
def test_extended_by_a_corpus(family: str) -> None:
    tok = FAMILIES[family](1)
    edited = edit.extend(tok, ESTONIAN, 25)
    new = edited.tok
    assert new.vocab_size == tok.vocab_size + 25 and len(edited.added) == 25
    assert min(edited.id_map.made_of) > tok.vocab.max_id
    assert {t: i for t, i in new.vocab.items() if i <= tok.vocab.max_id} == tok.vocab
    before, after = tok.count_batch(ESTONIAN), new.count_batch(ESTONIAN)
    assert sum(after) < sum(before)
    # English that needs no new token is cut as before.
    for text in some_lines(2, 30):
        ids = new.encode(text)
        if max(ids, default=0) <= tok.vocab.max_id and family not in ("wordpiece",):
            assert ids == tok.encode(text)
    used = set(new.encode_batch(ESTONIAN).ids.tolist())
    reached = {id for id in edited.id_map.made_of if id in used}
    assert len(reached) > 12
    for id, parts in edited.id_map.made_of.items():
        token = new.vocab.spelling(id).removeprefix(b"##")
        spelled = b"".join(plain(tok.vocab.spelling(part)) for part in parts)
        if family == "bpe of characters":  # which knows some of these characters not at all
            assert set(spelled) <= set(token)
        else:
            assert spelled in (token, b"")
        assert parts or family not in ("bpe", "ranks", "bpe with bytes")


def test_parts_of_a_new_token_precede_it() -> None:
    """Where scores order merges, a token is listed as made of a later one, too."""
    merges = [(b"ab", b"c"), (b"a", b"bc"), (b"a", b"b")]
    known = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3}
    assert merged_from({b"abc": 10, b"ab": 11}, merges, known, b"") == {10: (0, 3), 11: (0, 1)}


@pytest.mark.parametrize("family", ["bpe of characters", "bpe with bytes"])
@pytest.mark.parametrize("n", [1, 5, 10])
def test_more_new_characters_than_there_is_room_for(family: str, n: int) -> None:
    tok = FAMILIES[family](1)
    edited = edit.extend(
        tok, ["дождь и поезд и дождь идёт", "雨と電車と雨が降る", "vee ääres"] * 5, n
    )
    assert len(edited.added) == n and edited.tok.vocab_size == tok.vocab_size + n


@pytest.mark.parametrize("corpus", [[], [""]])
@pytest.mark.parametrize("family", GROWING)
def test_a_corpus_without_words(family: str, corpus: list[str]) -> None:
    with pytest.raises(TrainingError, match="no words"):
        edit.extend(FAMILIES[family](1), corpus, 3)


def ids_of(edited: edit.Edited) -> dict[str, int]:
    """The new pieces with their ids."""
    return {token.decode(): edited.tok.vocab[token] for token in edited.added}


def with_deep_pieces(seed: int) -> jeton.Tokenizer:
    """As Llama 2: runs of spaces have a score of -1e9, where float32 has no steps of one."""
    tok = WITH_MORE["sentencepiece bpe"](seed)
    model = tok.stages.model
    assert isinstance(model, models.SentencePiece)
    file = ModelFile.parse(model.proto)
    runs = [ModelPiece("▁" * length, -1e9) for length in (2, 3, 5)]
    return tok.replace(model=models.SentencePiece(file.with_pieces([*file.pieces, *runs])))


@pytest.mark.parametrize("joined", [False, True])
def test_new_pieces_are_merged_in_order_before_deep_ones(joined: bool, tmp_path: Path) -> None:
    tok = with_deep_pieces(1)
    if joined:
        edited = edit.merge(tok, edit.extend(WITH_MORE["sentencepiece bpe"](2), ESTONIAN, 40).tok)
    else:
        edited = edit.extend(tok, ESTONIAN, 40)
    model = edited.tok.stages.model
    assert isinstance(model, models.SentencePiece)
    new = ModelFile.parse(model.proto).pieces[-len(edited.added) :]
    assert [piece.text.encode() for piece in new] == list(edited.added) and len(new) >= 40
    assert all(a.score > b.score > -1e6 for a, b in itertools.pairwise(new))
    words = [(id, text[1:]) for text, id in ids_of(edited).items() if text.startswith("▁")]
    assert len(words) > 12
    for id, word in words:
        assert edited.tok.encode(word) == [id], word
    edited.tok.save(tmp_path / "tokenizer.json", lossy=True)


def test_pieces_with_parts_of_deep_ones() -> None:
    """A run of spaces is merged after the longer ones, which would not arise else."""
    tok = with_deep_pieces(1)
    model = tok.stages.model
    assert isinstance(model, models.SentencePiece)
    placed, unreached = with_scores(ModelFile.parse(model.proto).pieces, ["▁▁▁▁", "zqz", "qz"])
    assert [piece.text for piece in placed] == ["▁▁▁▁", "qz"] and unreached == ["zqz"]
    assert placed[0].score < -1e9 < -1e6 < placed[1].score


def test_extended_merges_continue() -> None:
    tok = FAMILIES["bpe"](1)
    new = edit.extend(tok, ESTONIAN, 25).tok
    assert new.vocab.merges[: len(tok.vocab.merges)] == tok.vocab.merges
    for token in edit.extend(tok, ESTONIAN, 25).added:
        text = token.decode("utf-8", "ignore")
        if text.encode() == token:
            assert new.encode(text) == [new.vocab[token]], "every new token is reachable"


@pytest.mark.parametrize("family", FAMILIES)
def test_joined_vocabularies(family: str) -> None:
    a, b = FAMILIES[family](0), FAMILIES[family](2)
    edited = edit.merge(a, b)
    new = edited.tok
    assert {t: i for t, i in new.vocab.items() if i <= a.vocab.max_id} == a.vocab
    everything = set(new.vocab) | set(edited.left_out)
    special = {name.encode() for name in b.special_tokens}
    assert set(b.vocab) - special <= everything
    for token in edited.added:
        try:
            text = token.decode()
        except UnicodeDecodeError:
            continue
        if family in ("bpe", "ranks") and b.encode(text) == [b.vocab[token]]:
            assert new.encode(text) == [new.vocab[token]]
    for text in some_lines(1, 20):
        if a.decode(a.encode(text)) == text and family != "words":
            assert new.decode(new.encode(text)) == text
    assert edit.merge(a, a).tok.vocab == a.vocab


@pytest.mark.parametrize("family", FAMILIES)
def test_special_tokens_are_added(family: str) -> None:
    tok = FAMILIES[family](0)
    edited = edit.add_special_tokens(tok, ["<|one|>", jeton.AddedToken("<|two|>", lstrip=True)])
    first = tok.vocab.max_id + 1
    assert edited.tok.special_tokens["<|one|>"] == first
    assert edited.tok.special_tokens["<|two|>"] == first + 1
    for text in some_lines(1, 10):
        assert edited.tok.encode(text) == tok.encode(text)
    with pytest.raises(ArgumentError, match=f"already exists, with id {first}"):
        edit.add_special_tokens(edited.tok, ["<|one|>"])


@pytest.mark.parametrize("family", ["bpe", "ranks", "bpe of characters", "wordpiece", "words"])
def test_reordered(family: str) -> None:
    tok = FAMILIES[family](0)
    order = sorted(tok.vocab.values(), reverse=True)
    edited = edit.reorder(tok, order)
    for text in some_lines(1, 20):
        assert edited.tok.encode(text) == edited.id_map.apply(tok.encode(text))
    back = edit.reorder(edited.tok, [edited.id_map.moved[id] for id in sorted(order)])
    assert list(back.tok.vocab) == list(tok.vocab)


def test_ids_in_the_post_processor_move() -> None:
    tok = FAMILIES["wordpiece"](0)
    edited = edit.reorder(tok, sorted(tok.vocab.values(), reverse=True))
    text = "the water"
    old = tok.encode(text, add_special_tokens=True)
    assert edited.tok.encode(text, add_special_tokens=True) == edited.id_map.apply(old)


@pytest.mark.parametrize("family", [name for name in WITH_MORE if name != "words"])
def test_joined_tokens_are_made_of_what_spelled_them(family: str) -> None:
    a, b = WITH_MORE[family](0), WITH_MORE[family](2)
    edited = edit.merge(a, b)
    assert edited.added
    for id, parts in edited.id_map.made_of.items():
        token = edited.tok.vocab.spelling(id)
        names = [a.vocab.spelling(part) for part in parts]
        if family in ("wordpiece", "prefixes"):
            assert all(name.startswith(b"##") for name in names[1:])
            assert not names or names[0].startswith(b"##") == token.startswith(b"##")
        spelled = b"".join(plain(name) for name in names)
        if family in ("bpe of characters", "prefixes", "sentencepiece bpe"):  # unknown characters
            assert set(spelled) <= set(token)
        else:
            assert spelled in (plain(token), b"")
        assert parts or "bpe" not in family or family == "bpe of characters"


def test_marks_of_other_families_are_text_to_bytes() -> None:
    a = jeton.BPETrainer(256, pattern="gpt2").train(["a"])
    b = jeton.BPETrainer(260, pattern="gpt2").train(["## ### ## ▁ ▁ ▁"] * 9)
    edited = edit.merge(a, b)
    for id, parts in edited.id_map.made_of.items():
        assert parts == tuple(a.vocab[bytes([byte])] for byte in edited.tok.vocab.spelling(id))


WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] ab ##cd a ##b ##c x ##y".split()


def wordpiece_without_characters(tokens: list[str]) -> jeton.Tokenizer:
    return jeton.Tokenizer(
        models.WordPiece({token: id for id, token in enumerate(tokens)}, unk_token="[UNK]"),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.WordPiece("##", cleanup=False),
    )


@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
@pytest.mark.parametrize("joined", [False, True])
def test_no_new_token_makes_a_word_unknown(joined: bool) -> None:
    """A token `abc` would leave `##d` of `abcd`, and that is no token."""
    tok = wordpiece_without_characters(WORDS)
    edited = (
        edit.merge(tok, wordpiece_without_characters([*WORDS, "abc", "xy"]))
        if joined
        else edit.extend(tok, ["abc abc abc xy"] * 20, 4)
    )
    assert b"xy" in edited.added and b"abc" not in edited.added
    assert edited.left_out == ((b"abc",) if joined else ())
    assert edited.tok.encode("abcd") == tok.encode("abcd") != [1]
    whole = wordpiece_without_characters([*WORDS, "##d"])
    again = edit.extend(whole, ["abc abc abc xy"] * 20, 4)
    assert b"abc" in again.added and 1 not in again.tok.encode("abcd")


@pytest.mark.parametrize("family", ["sentencepiece unigram", "sentencepiece bpe"])
def test_special_tokens_are_in_a_model_file_too(family: str, tmp_path: Path) -> None:
    tok = WITH_MORE[family](1)
    edited = edit.add_special_tokens(tok, ["<|q|>", "<|a|>"])
    edited.tok.save(tmp_path / "x.model")
    again = jeton.load(tmp_path / "x.model")
    assert again.special_tokens == edited.tok.special_tokens
    text = "the <|q|> sea"
    for special in ("allow", "ignore"):
        assert again.encode(text, special=special) == edited.tok.encode(text, special=special)
    assert again.decode(again.encode(text)) == tok.decode(tok.encode(text))


def test_user_defined_pieces_exchanged_are_in_a_model_file(tmp_path: Path) -> None:
    tok = jeton.UnigramTrainer(
        300, user_defined_symbols=["<one>", "<two>"], hard_vocab_limit=False
    ).train(some_lines(1))
    order = list(range(tok.vocab_size))
    one, two = (tok.vocab[text] for text in ("<one>", "<two>"))
    order[one], order[two] = two, one
    edited = edit.reorder(tok, order)
    edited.tok.save(tmp_path / "x.model")
    again = jeton.load(tmp_path / "x.model")
    assert again.encode("a <one> b <two>") == edited.tok.encode("a <one> b <two>")
    assert again.vocab["<one>"] == two


@pytest.mark.parametrize("n", [3, 20])
def test_bytes_that_are_missing_are_not_learned(n: int) -> None:
    """GPT-NeoX has no tokens for the bytes that UTF-8 never has."""
    tok = FAMILIES["bpe"](1)
    model = tok.stages.model
    assert isinstance(model, models.BPE)
    never = {bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))}
    order = [id for token, id in tok.vocab.items() if token not in never]
    tok = rebuild(tok, order)
    edited = edit.extend(tok, ESTONIAN, n)
    assert len(edited.added) == n and all(len(token) > 1 for token in edited.added)
    assert edited.tok.vocab.max_id == tok.vocab.max_id + n
    assert edited.tok.vocab.merges[: len(tok.vocab.merges)] == tok.vocab.merges
    assert {*edited.tok.encode_batch(ESTONIAN).ids.tolist()} & edited.id_map.made_of.keys()
    for text in [*ESTONIAN[:3], *some_lines(2, 9)]:
        assert edited.tok.decode(edited.tok.encode(text)) == text


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "two families": (
        lambda: edit.merge(FAMILIES["bpe"](0), FAMILIES["wordpiece"](0)),
        ArgumentError,
        "a is BPE and b is WordPiece",
    ),
    "two alphabets": (
        lambda: edit.merge(FAMILIES["bpe"](0), FAMILIES["bpe of characters"](0)),
        ArgumentError,
        "alphabet='bytes'",
    ),
    "no tokenizer": (lambda: edit.merge(FAMILIES["bpe"](0), "gpt2"), ArgumentTypeError, "b must"),  # type: ignore[arg-type]
    "no file": (lambda: edit.extend(FAMILIES["bpe"](0), "text", 3), MissingFileError, "in a list"),
    "counts": (lambda: edit.extend(FAMILIES["bpe"](0), {"a": 1}, 3), ArgumentTypeError, "corpus"),
    "words": (lambda: edit.extend(FAMILIES["words"](0), ["a"], 3), UnsupportedError, "WordLevel"),
    "none": (lambda: edit.extend(FAMILIES["bpe"](0), ["a"], 0), ArgumentError, "n must"),
    "larger": (lambda: edit.truncate(FAMILIES["bpe"](0), 10_000), ArgumentError, "extend"),
    "order": (lambda: edit.reorder(FAMILIES["words"](0), [0, 0]), ArgumentError, "once"),
    "one token": (
        lambda: edit.add_special_tokens(FAMILIES["bpe"](0), "<|x|>"),
        ArgumentTypeError,
        "iterable",
    ),
}


@pytest.mark.parametrize("call, error, message", BAD.values(), ids=BAD.keys())
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
