"""Training without residues: what is merged and deleted, how it encodes, files, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jeton
from jeton import samples
from jeton.components import models
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, UnsupportedError
from shared_data import SHARED, needs

VARIANTS = SHARED / "variants"

ALPHABET = 243
"""The bytes of UTF-8, which the authors' vocabulary begins with; here it begins with all 256."""

ENGLISH = samples.read("tales").splitlines()[:60]

DECODER = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}

WORDS = re.compile(r" ?[a-eé]+|\s+(?!\S)|\s+")
"""GPT-2's pattern, for letters and white space."""

Residue = Literal["pair", "bytes"]


def picky(tok: jeton.Tokenizer) -> models.PickyBPE:
    assert isinstance(tok.stages.model, models.PickyBPE)
    return tok.stages.model


def spelled_bytes(tokens: list[str]) -> dict[str, bytes]:
    """The bytes of tokens that are spelled in GPT-2's printable alphabet."""
    words = {"type": "WordLevel", "unk_token": "", "vocab": {it: n for n, it in enumerate(tokens)}}
    file = {"model": words, "decoder": DECODER}
    tok = jeton.Tokenizer.from_json(json.dumps(file))
    return {token: tok.decode_bytes([id]) for id, token in enumerate(tokens)}


def lines_of(corpus: dict[str, Any]) -> list[str]:
    """The lines of the files, one of each in turn."""
    number = int(corpus["lines"].split()[2])
    files = []
    for name in corpus["files"]:
        lines = (SHARED / name).read_text(encoding="utf-8").split("\n")
        files.append([line for line in lines if line.strip()][:number])
    return [line for lines in zip(*files, strict=True) for line in lines]


def replayed(piece: bytes, model: models.PickyBPE) -> list[bytes]:
    """The tokens of a piece, by the definition: all events in their order."""
    tokens = [bytes([byte]) for byte in piece]
    pairs: dict[bytes, tuple[bytes, ...]] = {}

    def replaced(token: bytes, by: tuple[bytes, ...]) -> list[bytes]:
        return [part for it in tokens for part in (by if it == token else (it,))]

    for event in model.events:
        parts = tuple(it if isinstance(it, bytes) else it.encode() for it in event)
        if len(parts) == 1:
            as_bytes = tuple(bytes([byte]) for byte in parts[0])
            by = pairs[parts[0]] if model.residues_become == "pair" else as_bytes
            tokens = replaced(parts[0], by)
            continue
        at = 0
        while at + 1 < len(tokens):
            if (tokens[at], tokens[at + 1]) == parts:
                tokens[at : at + 2] = [b"".join(parts)]
            at += 1
        pairs[b"".join(parts)] = parts
    while unknown := next((it for it in tokens if it not in model.vocab), None):
        tokens = replaced(unknown, pairs[unknown])
    return tokens


@needs(VARIANTS)
@pytest.mark.parametrize("become", ["pair", "bytes"])
@pytest.mark.parametrize("texts", ["en", "ml"])
def test_merges_deletions_and_tokens_are_those_of_the_authors(texts: str, become: Residue) -> None:
    path = VARIANTS / f"{texts}_word_tau0.9_{become}.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    size = len(expected["vocabulary"]) - ALPHABET + 256
    trainer = jeton.BPETrainer(size, pattern="gpt4o", drop_residues=0.9, residues_become=become)
    tok = trainer.train(lines_of(expected["corpus"]))
    model = picky(tok)
    merges = expected["words"]["merges"]
    deleted = expected["words"]["deletions_after_merge"]
    named = {part for left, right, _ in merges for part in (left, right)}
    named |= {*expected["vocabulary"], *(token for _, token in deleted)}
    bytes_of = spelled_bytes(sorted(named))
    assert [event for event in model.events if len(event) == 2] == [
        (bytes_of[left], bytes_of[right]) for left, right, _ in merges
    ]
    deletions = [(at, *event) for at, event in enumerate(model.events) if len(event) == 1]
    assert deletions == [(at, bytes_of[token]) for at, token in deleted]
    assert {bytes_of[token] for token in expected["vocabulary"]} <= {*model.vocab}
    failed = 0
    for text, tokens in expected["encodings"]:
        ids = tok.encode(text)
        assert tok.decode(ids) == text
        if tokens is None:
            failed += 1
        else:
            found = [tok.vocab.token_bytes(id).decode(errors="replace") for id in ids]
            assert found == tokens, text
    assert (failed > 0) == (become == "pair")


@given(
    words=st.lists(st.text("abcé ", min_size=1, max_size=12), min_size=1, max_size=9),
    texts=st.lists(st.text("abcdé \n", max_size=30), max_size=5),
    share=st.sampled_from([0.5, 0.7, 0.9]),
    become=st.sampled_from(["pair", "bytes"]),
)
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
def test_encoding_is_that_of_the_definition(
    words: list[str], texts: list[str], share: float, become: Residue
) -> None:
    options: dict[str, Any] = {"drop_residues": share, "residues_become": become}
    tok = jeton.BPETrainer(275, pattern="gpt2", **options).train([" ".join(words)])
    for text in [*texts, *words]:
        ids = tok.encode(text)
        pieces = WORDS.findall(text)
        expected = [token for piece in pieces for token in replayed(piece.encode(), picky(tok))]
        assert [tok.vocab.token_bytes(id) for id in ids] == expected
        assert tok.decode(ids) == text
    assert jeton.Tokenizer.from_json(tok.to_json()) == tok


def test_a_text_is_encoded_as_one_piece_without_a_pattern() -> None:
    tok = jeton.BPETrainer(330, pattern="none", drop_residues=0.8).train(ENGLISH)
    assert any(len(event) == 1 for event in picky(tok).events)
    for text in (*ENGLISH[:5], "packag" * 50, "", "ψ\0"):
        ids = tok.encode(text)
        assert [tok.vocab.token_bytes(id) for id in ids] == replayed(text.encode(), picky(tok))


def test_a_deleted_token_that_comes_back_becomes_its_own_pair() -> None:
    """`ab` is deleted, and the deletion of `abc` brings it back."""
    vocab = {bytes([byte]): byte for byte in range(256)} | {b"abcd": 256}
    events = [(b"a", b"b"), (b"ab", b"c"), (b"ab",), (b"abc", b"d"), (b"abc",)]
    for become, expected in (("pair", [97, 98, 99]), ("bytes", [97, 98, 99])):
        model = models.PickyBPE(vocab, events, become)  # type: ignore[arg-type]
        assert jeton.Tokenizer(model).encode("abc") == expected
        assert jeton.Tokenizer(model).encode("abcd") == [256]


def test_smaller_sizes_are_those_of_their_own_training() -> None:
    options: dict[str, Any] = {"drop_residues": 0.7, "special_tokens": ["<|end|>", "package"]}
    sizes = [262, 400, 507]
    each = jeton.BPETrainer(sizes, **options).train_all(ENGLISH)
    for size in sizes:
        assert each[size] == jeton.BPETrainer(size, **options).train(ENGLISH)
        assert each[size].vocab_size == size
        assert sorted(each[size].vocab.values()) == [*range(size)]


@pytest.mark.parametrize("order", ["printable", "value"])
def test_special_tokens_have_their_ids_and_no_text_becomes_one(order: Any) -> None:
    trainer = jeton.BPETrainer(
        280,
        drop_residues=0.6,
        byte_order=order,
        special_tokens=["<|end|>", "ab"],
        user_defined_symbols=["~ing"],
    )
    tok = trainer.train(["ababab abab ab", *ENGLISH])
    specials = [tok.vocab["<|end|>"], tok.vocab["ab"], tok.vocab["~ing"]]
    assert specials == ([0, 1, 2] if order == "printable" else [277, 278, 279])
    for text in ("ab", "abab", "x<|end|>ab~ing"):
        ids = tok.encode(text)
        assert tok.decode(ids) == text and not {*ids} & {*specials[:2]}
    assert specials[2] in tok.encode("x~ing")


def test_counts_files_and_threads_give_the_same(tmp_path: Path) -> None:
    trainer = jeton.BPETrainer(400, drop_residues=0.8)
    expected = trainer.train(ENGLISH)
    trainer.count(ENGLISH).save(tmp_path / "words.counts")
    assert trainer.train(jeton.WordCounts.load(tmp_path / "words.counts")) == expected
    assert trainer.train([*reversed(ENGLISH)]) == expected
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(ENGLISH), encoding="utf-8", newline="")
    lines = [line + "\n" for line in ENGLISH]
    assert trainer.train(file, documents="line") == trainer.train([*lines[:-1], ENGLISH[-1]])


def test_pruned_tokens_are_deleted_after_all_others() -> None:
    tok = jeton.BPETrainer(400, drop_residues=0.8).train(ENGLISH)
    pruned = jeton.edit.prune(tok, corpus=["the package"], leaves=9)
    assert pruned.removed
    for text in ENGLISH:
        ids = pruned.tok.encode(text)
        assert pruned.tok.decode(ids) == text
        first = replayed(text.partition(" ")[0].encode(), picky(pruned.tok))
        assert [pruned.tok.vocab.token_bytes(id) for id in ids[: len(first)]] == first
    assert jeton.Tokenizer.from_json(pruned.tok.to_json()) == pruned.tok


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a share above 1": ({"drop_residues": 1.1}, ArgumentError, "drop_residues"),
    "no share": ({"drop_residues": 0.0}, ArgumentError, "drop_residues cannot be 0"),
    "not a number": ({"drop_residues": "0.9"}, ArgumentTypeError, "drop_residues must be a float"),
    "what residues become, alone": ({"residues_become": "pair"}, ArgumentError, "set drop_res"),
    "another word": (
        {"drop_residues": 0.9, "residues_become": "words"},
        ArgumentError,
        "residues_become",
    ),
    "characters": (
        {"drop_residues": 0.9, "alphabet": "characters"},
        ArgumentError,
        "for words of bytes",
    ),
    "SentencePiece's alphabet": (
        {"drop_residues": 0.9, "alphabet": "sentencepiece"},
        ArgumentError,
        "drop_residues is not for alphabet='sentencepiece'",
    ),
    "languages": (
        {"drop_residues": 0.9, "languages": "base"},
        ArgumentError,
        "drop_residues and languages",
    ),
    "another order of ties": (
        {"drop_residues": 0.9, "tie_break": "first"},
        ArgumentError,
        "an order of its own",
    ),
    "merges to start from": (
        {"drop_residues": 0.9, "start_from": [("a", "b")]},
        ArgumentError,
        "start_from",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_parameters_that_do_not_go_together(case: str) -> None:
    options, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        jeton.BPETrainer(300, **options)


def test_the_steps_are_explained_and_usage_is_counted() -> None:
    tok = jeton.BPETrainer(400, drop_residues=0.8, special_tokens=["<|end|>"]).train(ENGLISH)
    for text in (*ENGLISH[:9], "Ωμέγα <|end|>\n"):
        assert list(tok.explain(text).ids) == tok.encode(text)
    assert tok.usage(ENGLISH).total == sum(map(len, map(tok.encode, ENGLISH)))


def test_transformers_refuses_by_name() -> None:
    pytest.importorskip("transformers")
    tok = jeton.BPETrainer(400, drop_residues=0.8).train(ENGLISH)
    with pytest.raises(UnsupportedError, match="no model that does what PickyBPE does"):
        tok.as_transformers()


def test_a_picky_tokenizer_is_nothing_to_start_from() -> None:
    tok = jeton.BPETrainer(270, drop_residues=0.9).train(ENGLISH)
    with pytest.raises(ArgumentTypeError, match="PickyBPE, which has no merges"):
        jeton.BPETrainer(300, start_from=tok)


def _file(**changes: Any) -> str:
    tok = jeton.BPETrainer(300, drop_residues=0.9).train(ENGLISH)
    file = json.loads(tok.to_json())
    file["model"] |= changes
    return json.dumps(file)


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "an event of three tokens": (
        {"events": [["a", "b", "c"]]},
        r"model.events\[0\]: expected an array of two tokens, a merge, or of one",
    ),
    "an event that is a text": ({"events": ["a b"]}, r"model.events\[0\]: expected an array"),
    "a token that spells no bytes": ({"events": [["a", "\u4e2d"]]}, r"model.events\[0\]"),
    "events that are no array": ({"events": {}}, "model.events: expected an array"),
    "no such residue": ({"residues_become": "x"}, "model.residues_become"),
    "a deletion before its merge": ({"events": [["th"]]}, 'event 0 has the token "th"'),
    "a vocabulary without bytes": ({"vocab": {"a": 0}, "events": []}, "no token for the byte 0x00"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_files_that_are_not_as_they_should_be(case: str) -> None:
    changes, message = BROKEN[case]
    with pytest.raises(FormatError, match=message):
        jeton.Tokenizer.from_json(_file(**changes))


def test_a_model_refuses_what_makes_no_sense() -> None:
    vocab = {bytes([byte]): byte for byte in range(256)}
    with pytest.raises(ArgumentTypeError, match=r"events\[0\] must be a tuple of one or two"):
        jeton.Tokenizer(models.PickyBPE(vocab, [("a", "b", "c")]))  # type: ignore[list-item]
    with pytest.raises(ArgumentTypeError, match="must be a list of tuples"):
        models.PickyBPE(vocab, "ab")  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="not in the vocabulary"):
        jeton.Tokenizer(models.PickyBPE(vocab, [("a", "b")]))


def test_the_command_line_trains_without_residues(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from jeton.cli import main

    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(ENGLISH), encoding="utf-8", newline="")
    target = tmp_path / "tok.json"
    options = ["--vocab-size", "280", "--drop-residues", "0.8", "--residues-become", "bytes"]
    result = CliRunner().invoke(main, ["train", str(corpus), "-o", str(target), *options])
    assert result.exit_code == 0, result.output
    trainer = jeton.BPETrainer(280, drop_residues=0.8, residues_become="bytes")
    assert jeton.load(target) == trainer.train(corpus)
