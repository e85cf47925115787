"""`tekken.json`, `tokenizer.bin`, and merges as texts: files of other programs, told by content."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.errors import FormatError, FormatWarning, UnsupportedError

TEXTS = ["", "hello there", "<s> hé 12345", "\n\n  x", "the theory of the weather", "中文 🙂"]


def _tekken(**changes: Any) -> dict[str, Any]:
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"th", b"the", b" the", b"er", b"he", b"ll", b"unused"]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    names = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"]
    special = [
        {"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(names)
    ]
    config = {
        "pattern": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+",
        "num_vocab_tokens": len(tokens),
        "default_vocab_size": len(tokens) - 1 + 8,
        "default_num_special_tokens": 8,
        "version": "v11",
    }
    return {"config": config, "vocab": vocab, "special_tokens": special, **changes}


def _load(content: Any, folder: Path) -> jeton.Tokenizer:
    path = folder / "tekken.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return jeton.load(path)


def test_special_tokens_come_first(tmp_path: Path) -> None:
    tok = _load(_tekken(), tmp_path)
    assert tok.special_tokens["[INST]"] == 3 and tok.special_tokens["<SPECIAL_7>"] == 7
    assert tok.encode(" the") == [8 + 258]
    assert tok.encode("unused") == [8 + byte for byte in b"unused"]  # it has no room
    assert tok.roles["bos"] == "<s>"
    with pytest.warns(FormatWarning, match="the version"):
        tok.save(tmp_path / "again.tekken.json")
    again = jeton.load(tmp_path / "again.tekken.json")
    assert again == tok


@pytest.mark.parametrize("version", ["v3", "v7", "v11", "v13"])
def test_mistral_common_agrees(version: str, tmp_path: Path) -> None:
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    content = _tekken()
    content["config"]["version"] = version
    if version in ("v3", "v7"):
        del content["special_tokens"]
        content["config"]["default_num_special_tokens"] = 30
        content["config"]["default_vocab_size"] += 22
    tok = _load(content, tmp_path)
    theirs = tekken.Tekkenizer.from_file(tmp_path / "tekken.json")
    for text in TEXTS:
        assert tok.encode(text) == theirs.encode(text, bos=False, eos=False), text
    tok.save(tmp_path / "written.tekken.json", lossy=True)
    theirs = tekken.Tekkenizer.from_file(tmp_path / "written.tekken.json")
    for text in TEXTS:
        assert tok.encode(text) == theirs.encode(text, bos=False, eos=False), text


def test_tokenizers_that_tekken_cannot_hold_are_refused(tmp_path: Path) -> None:
    lines = ["the theory of the weather"] * 3
    rows = [
        (jeton.BPETrainer(280, pattern="gpt4", special_tokens=["<s>"]).train(lines), "dialect|id"),
        (jeton.WordPieceTrainer(60).train(lines), "a WordPiece model"),
    ]
    for tok, message in rows:
        with pytest.raises(UnsupportedError, match=message):
            tok.save(tmp_path / "x.tekken.json", lossy=True)


def _bin(heading: list[int]) -> bytes:
    pieces = ["<unk>", "\n<s>\n", "\n</s>\n", *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += [" ", "h", "e", "l", "o", "he", "ll", " he", " hell", " hello"]
    file = struct.pack(f"<{len(heading)}I", *heading)
    for at, piece in enumerate(pieces):
        file += struct.pack("<fI", -float(at), len(piece)) + piece.encode()
    return file


@pytest.mark.parametrize("heading", [[6], [269, 1, 2, 6]], ids=["llama2.c", "ExecuTorch"])
def test_tokenizer_bin(heading: list[int], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.bin"
    path.write_bytes(_bin(heading))
    tok = jeton.load(path)
    assert tok.encode("hello") == [268]
    assert tok.encode("é") == [259, *(3 + byte for byte in "é".encode())]
    assert tok.decode([268, 259, 260]) == "hello h"
    assert tok.special_tokens == {"<s>": 1, "</s>": 2}
    path.write_bytes(_bin(heading)[:-1])
    with pytest.raises(FormatError):
        jeton.load(path)


def _with_merges(merges: list[str], **vocab: int) -> str:
    tokens = {"a": 0, " ": 1, "b": 2, "a b": 3, "c": 4, "a bc": 5, "b c": 6, " b": 7, **vocab}
    model = {"type": "BPE", "vocab": tokens, "merges": merges}
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model})


def test_merges_whose_tokens_hold_spaces(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(_with_merges(["  b", "a  b", "a b c"]))
    tok = jeton.load(path)
    assert tok.encode("a bc") == [5]
    path.write_text(_with_merges(["a b c"], **{"ab c": 8}))
    with pytest.raises(FormatError, match="only one way to read it"):
        jeton.load(path)
