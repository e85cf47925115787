"""`.model` files in any spelling that protocol buffers allow: read as SentencePiece reads them.

A table of files, made with the classes of the `sentencepiece` package and by hand where those
write no such thing; that library is the judge of what is read, of ids, and of what is refused.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.errors import FormatError, FormatWarning
from model_bytes import field, varint

sentencepiece = pytest.importorskip("sentencepiece")
messages: Any = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

TEXTS = ["ab ba x", "", "aab zz pp qq yy", "  b", "▁a", "<s>a</s>"]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def proto(model_type: int = 1) -> Any:
    """A small model whose first pieces have no score."""
    model = messages.ModelProto()
    model.trainer_spec.model_type = model_type
    model.normalizer_spec.name = "identity"
    rows: list[tuple[str, float | None, int | None]] = [
        ("<unk>", None, UNKNOWN),
        ("<s>", None, CONTROL),
        ("</s>", None, CONTROL),
        ("▁a", -1.0, None),
        ("a", -2.0, NORMAL),
        ("b", -3.0, None),
        ("▁", -4.0, None),
        ("x", None, USER_DEFINED),
    ]
    for text, score, kind in rows:
        piece = model.pieces.add(piece=text)
        if score is not None:
            piece.score = score
        if kind is not None:
            piece.type = kind
    return model


def key(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def piece(*fields: bytes) -> bytes:
    return field(1, b"".join(fields))


WHOLE = proto().SerializeToString()
PIECES = [field(1, it.SerializeToString()) for it in proto().pieces]
ALL = b"".join(PIECES)
TRAINER = field(2, proto().trainer_spec.SerializeToString())
NORMALIZER = field(3, proto().normalizer_spec.SerializeToString())
BOTH = TRAINER + NORMALIZER
ONE = b"\0\0\x80\x3f"
"""A score of 1."""

LEGAL: dict[str, bytes] = {
    "as it is written": WHOLE,
    "BPE": proto(2).SerializeToString(),
    "specifications first": BOTH + ALL,
    "specifications among the pieces": PIECES[0] + NORMALIZER + b"".join(PIECES[1:]) + TRAINER,
    "a score first": piece(key(2, 5), ONE, field(1, b"zz")) + ALL + BOTH,
    "a type first": piece(key(3, 0), b"\4", field(1, b"zz")) + ALL + BOTH,
    "no score and no type": piece(field(1, b"zz")) + ALL + BOTH,
    "an unknown number first": key(77, 0) + b"\5" + WHOLE,
    "an unknown 64-bit number first": key(77, 1) + b"12345678" + WHOLE,
    "an unknown group first": key(77, 3) + key(1, 0) + b"\5" + key(77, 4) + WHOLE,
    "an unknown group within a group": key(9, 3) + key(8, 3) + key(8, 4) + key(9, 4) + WHOLE,
    "an extension": WHOLE + field(200, b"abc"),
    "an extension of a piece": piece(field(200, b"k"), field(1, b"pp")) + WHOLE,
    "pieces that are numbers": key(1, 0) + b"\5" + WHOLE,
    "a specification that is a number": key(2, 5) + b"abcd" + WHOLE,
    "a score that is an integer": piece(field(1, b"zz"), key(2, 0), b"\7") + ALL + BOTH,
    "a type that is text": ALL + piece(field(1, b"zz"), field(3, b"\4")) + BOTH,
    "a text that is also a number": ALL + piece(key(1, 0), b"\4", field(1, b"qq")) + BOTH,
    "two scores": ALL + piece(field(1, b"zz"), key(2, 5), b"\0\0\0\xc1", key(2, 5), ONE) + BOTH,
    "two texts": ALL + piece(field(1, b"zz"), field(1, b"yy")) + BOTH,
    "a type that is none": ALL + piece(field(1, b"zz"), key(3, 0), b"\0") + BOTH,
    "a type of many bits": ALL + piece(field(1, b"zz"), key(3, 0), b"\xac\x02") + BOTH,
    "two trainers": ALL + TRAINER + field(2, key(3, 0) + b"\2") + NORMALIZER,
    "a model type that is none": ALL + TRAINER + field(2, key(3, 0) + b"\x09") + NORMALIZER,
    "a model type of 33 bits": ALL + BOTH + field(2, key(3, 0) + b"\x82\x80\x80\x80\x10"),
    "a flag of 64 bits": ALL + TRAINER + field(3, key(3, 0) + b"\x80" * 9 + b"\1"),
    "a flag of two bytes": ALL + TRAINER + field(3, key(3, 0) + b"\x80\0"),
    "a tag of three bytes": ALL + TRAINER + b"\x9a\x80\x00" + NORMALIZER[1:],
    "a length of two bytes": b"\x0a" + bytes([ALL[1] | 128, 0]) + ALL[2:] + BOTH,
}


def judge(content: bytes) -> Any:
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(content)
    return processor


@pytest.mark.parametrize("row", LEGAL)
def test_legal_spellings(row: str, tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(LEGAL[row])
    expected = judge(LEGAL[row])
    tok = jeton.load(path)
    for text in TEXTS:
        assert tok.encode(text) == expected.encode(text), text
    tok.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == LEGAL[row]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (WHOLE + key(77, 4), "a group of the number 77 ends that never began"),
        (WHOLE + key(77, 3), "the group 77 never ends"),
        (WHOLE + key(77, 3) + key(78, 4), "a group of the number 78 ends that never began"),
        (WHOLE + key(7, 3) * 101 + key(7, 4) * 101, "nested too deeply"),
        (WHOLE + b"\0", "0 is not a field number"),
        (WHOLE + b"\x80\x80\x80\x80\x80\x01\x01", "4294967296 is not a field number"),
        (WHOLE + key(99, 6), "wire type 6"),
        (WHOLE + field(99, b"abc")[:-1], "3 bytes should follow, but only 2"),
        (BOTH, "not a tokenizer of a known format"),
    ],
)
def test_illegal_spellings(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(content)
    with pytest.raises(RuntimeError):
        judge(content)
    with pytest.raises(FormatError, match=said):
        jeton.load(path)


def test_fields_may_have_any_order(tmp_path: Path) -> None:
    """Pieces keep their order among themselves; what is between them does not matter."""
    numbers = random.Random(1)
    path = tmp_path / "x.model"
    for _ in range(60):
        others = [
            TRAINER,
            NORMALIZER,
            key(77, 0) + b"\5",
            field(99, bytes(3)),
            key(6, 3) + key(6, 4),
        ]
        places = sorted(numbers.choices(range(len(PIECES) + 1), k=len(others)))
        parts = list(PIECES)
        for place, part in reversed(list(zip(places, numbers.sample(others, 5), strict=True))):
            parts.insert(place, part)
        content = b"".join(parts)
        path.write_bytes(content)
        tok, expected = jeton.load(path), judge(content)
        assert [tok.encode(text) for text in TEXTS] == [expected.encode(text) for text in TEXTS]
        tok.save(tmp_path / "again.model")
        assert (tmp_path / "again.model").read_bytes() == content


@pytest.mark.parametrize("left_out", ["trainer_spec", "normalizer_spec"])
def test_specifications_may_be_left_out(left_out: str, tmp_path: Path) -> None:
    model = proto()
    model.ClearField(left_out)
    content = model.SerializeToString()
    path = tmp_path / "x.model"
    path.write_bytes(content)
    with pytest.warns(FormatWarning, match=f"there is no {left_out} after the pieces"):
        tok = jeton.load(path)
    expected = judge(content)
    assert [tok.encode(text) for text in TEXTS] == [expected.encode(text) for text in TEXTS]


def test_text_is_no_model(tmp_path: Path) -> None:
    """Lines that could be read as fields with a piece are text all the same."""
    path = tmp_path / "prose.txt"
    letters = "abcdefghijklmnopqrstuvwxyz"
    for first, second in itertools.product("!)09AZaz", repeat=2):
        lines = f"\n{first}\n{second}" + letters * 6
        path.write_text(lines, encoding="utf-8")
        with pytest.raises(FormatError, match="not a tokenizer of a known format"):
            jeton.load(path)
