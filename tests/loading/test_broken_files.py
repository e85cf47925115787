"""Broken files of WordPiece, Unigram and SentencePiece: an error that says what and where.

Rows of a file's bytes and of what the error says. The readers are also held to random damage, in
`crates/core/tests/files/hostile_files.rs`.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import analysis, edit
from jeton.components import models
from jeton.errors import FormatError, FormatWarning, JetonError
from jeton.loading.model_file import ModelFile
from model_bytes import BPE, GOOD, UNK, field, piece


def charsmap(*units: int, texts: bytes = b"") -> bytes:
    """A normalizer with a character map of these units."""
    blob = struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + texts
    return field(3, field(2, blob))


def unigram(**changes: Any) -> bytes:
    """A `tokenizer.json` of a Unigram model."""
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model | changes}).encode()


def section(**sections: Any) -> bytes:
    """A `tokenizer.json` with sections of another type."""
    return json.dumps({**json.loads(unigram()), **sections}).encode()


BROKEN: dict[str, tuple[str, bytes, str]] = {
    ".model: nothing": ("x.model", b"", "the file is empty"),
    ".model: truncated in a piece": ("x.model", GOOD[:-3], "10 bytes should follow, but only 7"),
    ".model: another file's magic": (
        "x.model",
        b"\x89PNG\r\n\x1a\n" + bytes(40),
        "not a tokenizer of a known format",
    ),
    ".model: a length past the end": (
        "x.model",
        GOOD + b"\x0a\xff\xff\xff\xff\x07a",
        "byte 48: 2147483647 bytes should",
    ),
    ".model: a length of 2^63": (
        "x.model",
        GOOD + b"\x0a" + b"\xff" * 8 + b"\x7f",
        "9223372036854775807 bytes should",
    ),
    ".model: a number without end": (
        "x.model",
        GOOD + b"\x0a" + b"\xff" * 12,
        "more than ten bytes",
    ),
    ".model: a field number 0": ("x.model", GOOD + b"\x02\x00", "0 is not a field number"),
    ".model: a group without end": ("x.model", GOOD + b"\x0b", "the group 1 never ends"),
    ".model: the same piece twice": ("x.model", GOOD + piece("a"), '"a" has two ids, 2 and 3'),
    ".model: NaN": ("x.model", UNK + piece("a", float("nan")), "score of .a. is NaN"),
    ".model: infinity": ("x.model", UNK + piece("a", float("inf")), "score of .a. is inf"),
    ".model: two unknown pieces": ("x.model", GOOD + piece("u", 0, 2), "a second unknown piece"),
    ".model: no unknown piece": ("x.model", piece("a"), "there is no unknown piece"),
    ".model: an empty piece": ("x.model", GOOD + piece(""), "piece 3: it is empty"),
    ".model: no UTF-8": ("x.model", GOOD + piece(b"\xff"), "UTF-8"),
    ".model: a byte without byte_fallback": (
        "x.model",
        GOOD + piece("<0x41>", 0, 6),
        "byte_fallback is off",
    ),
    ".model: cut behind a piece for a byte": (
        "x.model",
        GOOD + piece("<0x41>", 0, 6),
        "the file seems to be cut",
    ),
    ".model: byte_fallback without bytes": (
        "x.model",
        GOOD + field(2, b"\x98\x02\x01"),
        "there is no piece .<0x00>",
    ),
    ".model: a map that leads to itself": (
        "x.model",
        GOOD + charsmap(0, 1 << 10 | 1),
        "leads to itself",
    ),
    ".model: a map with a unit that leads past its end, though no key leads there": (
        "x.model",
        GOOD + charsmap(1 << 10, *[0] * 254, 1 << 20, texts=b"x\0"),
        "unit 255 of its trie points past the end",
    ),
    ".model: a map whose trie is cut": (
        "x.model",
        GOOD + charsmap(1 << 10, *[0] * 100, texts=b"x\0"),
        "404 bytes, not a multiple of 1024",
    ),
    ".model: a map whose replacements do not end": (
        "x.model",
        GOOD + charsmap(1 << 10, *[0] * 255, texts=b"x"),
        "do not end in a NUL",
    ),
    ".model: a map of absurd size": (
        "x.model",
        GOOD + field(3, field(2, struct.pack("<II", 0xFFFF_FFFC, 0))),
        "should have 4294967292 bytes",
    ),
    ".model: a map that ends early": ("x.model", GOOD + field(3, field(2, b"\x08")), "ends before"),
    ".model: BPE with NaN": ("x.model", UNK + piece("a", float("nan")) + BPE, "is NaN"),
    "vocab.txt: nothing": ("vocab.txt", b"", "the file is empty"),
    "vocab.txt: no UTF-8": ("vocab.txt", b"[UNK]\n\xff\xfe\n", "UTF-8"),
    "vocab.txt: no unknown token": ("vocab.txt", b"a\nb\n##c\n", r"\[UNK\]"),
    "vocab.txt: binary": ("vocab.txt", bytes(range(256)) * 4, "not a tokenizer of a known format"),
    "Unigram: no tokens": ("tokenizer.json", unigram(vocab=[]), "at least one token"),
    "Unigram: truncated": ("tokenizer.json", unigram()[:-20], "not valid JSON"),
    "Unigram: unk_id outside": (
        "tokenizer.json",
        unigram(unk_id=7),
        "unk_id 7 is not the id of one of the 2",
    ),
    "Unigram: unk_id negative": ("tokenizer.json", unigram(unk_id=-1), "unk_id"),
    "Unigram: no score": ("tokenizer.json", unigram(vocab=[["a"]]), "a piece and its score"),
    "Unigram: a score that is null": ("tokenizer.json", unigram(vocab=[["a", None]]), "its score"),
    "Unigram: a score that is NaN": (
        "tokenizer.json",
        unigram(vocab=[["a", float("nan")]]),
        "not valid JSON",
    ),
    "Unigram: a score of 1e999": (
        "tokenizer.json",
        unigram().replace(b"-1.0", b"-1e999"),
        "out of range",
    ),
    "Unigram: a piece that is a number": ("tokenizer.json", unigram(vocab=[[1, 1.0]]), "piece"),
    "Unigram: a map of absurd size": (
        "tokenizer.json",
        unigram().replace(
            b'"added_tokens"',
            b'"normalizer": {"type": "Precompiled", "precompiled_charsmap": "'
            + base64.b64encode(b"\xfc\xff\xff\xff\0\0\0\0")
            + b'"}, "added_tokens"',
        ),
        r"normalizer.*should have 4294967292 bytes",
    ),
    "padding that is a number": (
        "tokenizer.json",
        section(padding=5),
        "padding: expected an object",
    ),
    "padding that is a list": (
        "tokenizer.json",
        section(padding=[]),
        "padding: expected an object",
    ),
    "truncation that is a truth": (
        "tokenizer.json",
        section(truncation=True),
        "truncation: expected an object",
    ),
    "truncation that is text": (
        "tokenizer.json",
        section(truncation="x"),
        "truncation: expected an object",
    ),
    "Unigram: nested a million deep": (
        "tokenizer.json",
        b"[" * 1_000_000,
        "not a tokenizer of a known format",
    ),
}


@pytest.mark.parametrize("row", BROKEN)
def test_broken_files(row: str, tmp_path: Path) -> None:
    name, content, expected = BROKEN[row]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(JetonError, match=expected) as raised:
        jeton.load(path)
    assert isinstance(raised.value, FormatError), raised.value
    assert name in str(raised.value)


NUMBERS = {
    "9": (b"\x18\x09", "unigram"),
    "0": (b"\x18\x00", "unigram"),
    "2, past 32 bits": (b"\x18\x82\x80\x80\x80\x10", "bpe"),
    "2, then 9": (b"\x18\x02\x18\x09", "bpe"),
    "-1": (b"\x18" + b"\xff" * 9 + b"\x01", "unigram"),
    "a text": (b"\x1a\x01x", "unigram"),
}
"""What a `.model` says of its algorithm, and which it is: a number that none has says nothing."""


@pytest.mark.parametrize("trainer, kind", NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_of_no_algorithm(trainer: bytes, kind: str, tmp_path: Path) -> None:
    content = GOOD + piece("ab") + piece("b") + field(2, trainer) + field(3, b"")
    (tmp_path / "x.model").write_bytes(content)
    tok = jeton.load(tmp_path / "x.model")
    sentencepiece = pytest.importorskip("sentencepiece")
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    assert tok.encode("ab a") == theirs.encode("ab a")
    assert ModelFile.parse(content).kind == kind
    assert tok.explain("ab a").ids == tok.encode("ab a")
    assert edit.prune(tok, corpus=["ab a"], size=4).tok.vocab_size == 4


WIRES = {
    "a text of four bytes": GOOD + field(1, b"\x0d\xc0\xc0\xc0\xc0" + piece("b")[2:]),
    "a piece of four bytes": GOOD + b"\x0d\xc0\xc0\xc0\xc0" + piece("b"),
    "a number of eight bytes": GOOD + piece("b") + field(2, b"\x19" + bytes(8)),
    "an id that is text": GOOD + piece("b") + field(2, b"\xc2\x02\x01x\x22\x01x"),
    "a specification of eight bytes": GOOD + piece("b") + b"\x11" + b"\xc0" * 8,
}
"""Fields of another type than the format says, which say nothing."""


@pytest.mark.parametrize("content", WIRES.values(), ids=WIRES.keys())
def test_fields_of_another_type(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.model").write_bytes(content + field(2, b"") + field(3, b""))
    tok = jeton.load(tmp_path / "x.model")
    assert isinstance(tok.stages.model, models.SentencePiece)
    assert [it.text for it in ModelFile.parse(tok.stages.model.proto).pieces] == [
        "<unk>",
        "▁",
        "a",
        "b",
    ]
    assert tok.encode("a b") == tok.explain("a b").ids == [1, 2, 1, 3]
    assert edit.prune(tok, size=4, corpus=["a"]).tok.vocab_size == 4
    assert analysis.check(tok).vocab_size == 4


def test_kinds_of_pieces_that_there_are_not(tmp_path: Path) -> None:
    """As SentencePiece has it: a number of no kind says nothing."""
    content = GOOD + piece("b", kind=9) + piece("c", kind=0) + field(2, b"") + field(3, b"")
    (tmp_path / "x.model").write_bytes(content)
    tok = jeton.load(tmp_path / "x.model")
    assert [it.kind for it in ModelFile.parse(content).pieces] == [2, 1, 1, 1, 1]
    assert tok.encode("b") == tok.explain("b").ids == [1, 3]


@pytest.mark.parametrize("content", [GOOD + BPE + field(3, b""), unigram()])
def test_every_truncation(content: bytes, tmp_path: Path) -> None:
    """No shorter file is read in silence: it is refused, or a warning says what it lacks."""
    path = tmp_path / ("tokenizer.json" if content.startswith(b"{") else "x.model")
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises((JetonError, FormatWarning), match=re.escape(path.name)):
            jeton.load(path)
    path.write_bytes(content)
    assert jeton.load(path).encode("a")


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (GOOD, "there is no trainer_spec and no normalizer_spec after the pieces"),
        (GOOD + BPE, "there is no normalizer_spec after the pieces"),
        (GOOD + field(3, b""), "there is no trainer_spec after the pieces"),
        (
            GOOD + field(2, bytes([3 << 3, 2, 4 << 3, 9])) + field(3, b""),
            "trainer_spec says that there are 9 pieces, and the file holds 3",
        ),
    ],
)
def test_models_that_seem_cut(content: bytes, warning: str, tmp_path: Path) -> None:
    """They are read as by SentencePiece, with a warning."""
    path = tmp_path / "x.model"
    path.write_bytes(content)
    with pytest.warns(FormatWarning, match=f"x.model: {warning}"):
        assert jeton.load(path).encode("a") == [1, 2]


def test_lists_of_pieces_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.vocab"
    path.write_text("<unk>\t0\n<s>\t0\n▁the\t-3.0157\n", encoding="utf-8")
    with pytest.raises(
        FormatError, match=r"x\.vocab: each line holds a piece and its score.*the \.model"
    ):
        jeton.load(path)


def test_vocab_txt_with_a_token_twice(tmp_path: Path) -> None:
    """As in tokenizers, the later line counts; a warning tells."""
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"[UNK]\n[CLS]\n[SEP]\na\nb\na\n")
    tokenizers = pytest.importorskip("tokenizers")
    judge = tokenizers.BertWordPieceTokenizer(str(path))
    with pytest.warns(FormatWarning, match='"a" on lines 4 and 6'):
        tok = jeton.load(path)
    assert tok.encode("a b") == judge.encode("a b", add_special_tokens=False).ids


def test_vocab_txt_with_a_byte_order_mark(tmp_path: Path) -> None:
    """As in tokenizers, it belongs to the first token; a warning tells."""
    path = tmp_path / "vocab.txt"
    path.write_bytes("\ufeffa\n[UNK]\n[CLS]\n[SEP]\nb\n".encode())
    tokenizers = pytest.importorskip("tokenizers")
    judge = tokenizers.BertWordPieceTokenizer(str(path))
    with pytest.warns(FormatWarning, match="begins with a byte order mark"):
        tok = jeton.load(path)
    assert tok.encode("a b") == judge.encode("a b", add_special_tokens=False).ids == [1, 4]
