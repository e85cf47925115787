"""GGUF files: llama.cpp's ids, hostile files, large ones, and what is written.

The answers are llama.cpp's: of its own vocabularies in `../shared/data/gguf`, and of small ones of
every kind, `testdata/make_gguf.py`.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import struct
import warnings
from pathlib import Path
from typing import Any

import pytest

import jeton
from command_line import Run, here, run  # noqa: F401
from jeton.components import normalizers, pre_tokenizers
from jeton.errors import ArgumentError, FormatError, FormatWarning, UnsupportedError
from shared_data import SHARED, needs

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "testdata" / "gguf.json").read_text(encoding="utf-8")
)
TEXTS: list[str] = GOLDEN["texts"]
PLAIN: list[str] = TEXTS[: GOLDEN["plain"]]
NAMES = "bert-bge deepseek-llm falcon gpt-2 llama-spm mpt qwen2 starcoder".split()


def _file(name: str, folder: Path, changed: dict[str, str] | None = None) -> Path:
    """One of the small files, with other texts for some keys."""
    data = gzip.decompress(base64.b64decode(GOLDEN["files"][name]))
    for key, value in (changed or {}).items():
        start = data.index(_text(key)) + len(_text(key))
        assert data[start : start + 4] == struct.pack("<I", 8)
        (length,) = struct.unpack_from("<Q", data, start + 4)
        data = data[: start + 4] + _text(value) + data[start + 12 + length :]
    path = folder / f"{name}.gguf"
    path.write_bytes(data)
    return path


def _framed(tok: jeton.Tokenizer, text: str) -> list[int]:
    return tok.encode(text, special="allow", add_special_tokens=True)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _entry(key: str, kind: int, value: bytes) -> bytes:
    return _text(key) + struct.pack("<I", kind) + value


def _head(entries: list[bytes], *, tensors: int = 0, count: int | None = None) -> bytes:
    count = len(entries) if count is None else count
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, count) + b"".join(entries)


@needs(SHARED / "gguf")
@pytest.mark.parametrize("name", NAMES)
def test_llamas_own_vocabularies(name: str) -> None:
    path = SHARED / "gguf" / f"ggml-vocab-{name}.gguf"
    tok = jeton.load(path)
    texts = (path.parent / f"{path.name}.inp").read_text(encoding="utf-8")
    expected = (path.parent / f"{path.name}.out").read_text(encoding="utf-8").splitlines()
    split = texts.split("\n__ggml_vocab_test__\n")
    for text, ids in zip(split, expected, strict=False):
        assert tok.encode(text) == [int(id) for id in ids.split()], text


@pytest.mark.parametrize("name", GOLDEN["cases"])
def test_every_model(name: str, tmp_path: Path) -> None:
    case = GOLDEN["cases"][name]
    tok = jeton.load(_file(name, tmp_path))
    for text, ids in zip(TEXTS, case["ids"], strict=True):
        if name == "rwkv" and "<s>" in text:
            continue  # a control token to llama.cpp, whatever the caller says
        assert tok.encode(text) == ids, text
    for text, ids in zip(PLAIN, case["framed"], strict=True):
        assert tok.encode(text, special="allow", add_special_tokens=True) == ids, text


WAYS = [name for name in GOLDEN["pres"] if name != "sarvam-moe"]
"""The ways to split text into what bytes spell; the one that is left out has text as tokens."""


@pytest.mark.parametrize("name", WAYS)
def test_every_way_to_split_text(name: str, tmp_path: Path) -> None:
    case = GOLDEN["pres"][name]
    for alias in case["names"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FormatWarning)  # of the default way
            tok = jeton.load(_file("gpt-2", tmp_path, {"tokenizer.ggml.pre": alias}))
        for text, ids in zip(TEXTS, case["ids"], strict=True):
            assert tok.encode(text) == ids, (alias, text)
            if alias != name:
                break


@pytest.mark.parametrize("name", ["gemma4", "whitespace", "xyz", "qwen3"])
def test_ways_that_are_not_known_are_refused_by_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=f'"{name}"'):
        jeton.load(_file("gpt-2", tmp_path, {"tokenizer.ggml.pre": name}))


@pytest.mark.parametrize("name", ["plamo2", "none", "xyz"])
def test_models_that_are_not_known_are_refused_by_name(name: str, tmp_path: Path) -> None:
    with pytest.raises((UnsupportedError, FormatError), match=f'"{name}"'):
        jeton.load(_file("gpt-2", tmp_path, {"tokenizer.ggml.model": name}))


def test_the_default_way_is_warned_of(tmp_path: Path) -> None:
    with pytest.warns(FormatWarning, match="default"):
        jeton.load(_file("gpt-2", tmp_path, {"tokenizer.ggml.pre": "default"}))


def test_roles_and_templates(tmp_path: Path) -> None:
    data = _file("gpt-2", tmp_path).read_bytes()
    (count,) = struct.unpack_from("<Q", data, 16)
    more = [
        _entry("tokenizer.chat_template", 8, _text("{{ messages }}")),
        _entry("tokenizer.chat_template.tool_use", 8, _text("tools")),
    ]
    path = tmp_path / "more.gguf"
    path.write_bytes(data[:16] + struct.pack("<Q", count + 2) + b"".join(more) + data[24:])
    tok = jeton.load(path)
    assert tok.settings.chat_template == {"default": "{{ messages }}", "tool_use": "tools"}
    assert tok.roles == {"bos": "<s>", "eos": "</s>"}
    tok.save(tmp_path / "again.gguf")
    assert jeton.load(tmp_path / "again.gguf").settings.chat_template == tok.settings.chat_template
    bad = _entry("tokenizer.chat_template.../x", 8, _text("tools"))
    path.write_bytes(data[:16] + struct.pack("<Q", count + 1) + bad + data[24:])
    with pytest.raises(FormatError, match="not the name of a chat template"):
        jeton.load(path)


def _array(key: str, kind: int, items: list[bytes]) -> bytes:
    return _entry(key, 9, struct.pack("<IQ", kind, len(items)) + b"".join(items))


@pytest.mark.parametrize("way", ["gpt-2", "llama-bpe"])
def test_a_spelling_that_means_no_bytes_is_found_in_no_text(way: str, tmp_path: Path) -> None:
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    texts = [chr(byte) for byte in shown] + [chr(256 + at) for at in range(len(others))]
    texts += ["\U0001f999", "ab", "<s>"]
    kinds = [1] * (len(texts) - 1) + [3]
    entries = [
        _entry("tokenizer.ggml.model", 8, _text("gpt2")),
        _entry("tokenizer.ggml.pre", 8, _text(way)),
        _array("tokenizer.ggml.tokens", 8, [_text(text) for text in texts]),
        _array("tokenizer.ggml.token_type", 5, [struct.pack("<i", kind) for kind in kinds]),
        _array("tokenizer.ggml.merges", 8, [_text("a b")]),
    ]
    path = tmp_path / "llama.gguf"
    path.write_bytes(_head(entries))
    tok = jeton.load(path)
    llama = texts.index("\U0001f999")
    assert len(tok) == len(texts) and tok.vocab.token_bytes(llama) == "\U0001f999".encode()
    for text in ("\U0001f999", "ab \U0001f999ab", "<s>\U0001f999"):
        policies = ("ignore", "allow") if way == "gpt-2" else ("ignore",)
        for special in policies:
            ids = tok.encode(text, special=special)
            assert llama not in ids and tok.decode(ids) == text
    if way == "gpt-2":
        assert "\U0001f999" not in tok.special_tokens
        tok.save(tmp_path / "again.gguf")
        again = jeton.load(tmp_path / "again.gguf")
        assert again.encode("ab\U0001f999") == tok.encode("ab\U0001f999")


_HUGE = struct.pack("<Q", 1 << 63)
HOSTILE = [
    ("2^63 entries", _head([], count=1 << 63), "entries follow"),
    ("2^63 tensors", _head([], tensors=1 << 63), "tensors"),
    ("a text of 2^63 bytes", _head([_entry("k", 8, _HUGE)]), "k: it says"),
    ("2^63 texts", _head([_entry("k", 9, struct.pack("<I", 8) + _HUGE)]), "texts follow"),
    ("arrays of arrays", _head([_entry("k", 9, struct.pack("<IQ", 9, 1) * 99)]), "array of arrays"),
    ("no tokenizer", _head([]), "holds no tokenizer"),
    ("no kind", _head([_entry("k", 99, bytes(8))]), "99 is not a kind of value"),
    ("version 1", b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
    ("big-endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
    ("no tokens", _head([_entry("tokenizer.ggml.model", 8, _text("gpt2"))]), "ggml.tokens"),
    ("a number", _head([_entry("tokenizer.ggml.model", 4, bytes(4))]), "expected a text"),
    ("the end", b"GGUF\x03", "too early"),
]  # fmt: skip


@pytest.mark.parametrize("row", HOSTILE, ids=[row[0] for row in HOSTILE])
def test_hostile_files_are_refused_at_once(row: tuple[str, bytes, str], tmp_path: Path) -> None:
    _, data, message = row
    path = tmp_path / "hostile.gguf"
    path.write_bytes(data)
    with pytest.raises((FormatError, UnsupportedError), match=message):
        jeton.load(path)


def test_every_beginning_is_refused(tmp_path: Path) -> None:
    data = _file("rwkv", tmp_path).read_bytes()
    path = tmp_path / "cut.gguf"
    for end in range(4, len(data) - 40, max(1, len(data) // 50)):
        path.write_bytes(data[:end])
        with pytest.raises((FormatError, UnsupportedError)):
            jeton.load(path)


def _with_tensor(tok: jeton.Tokenizer, folder: Path, embeddings: int) -> bytes:
    """A file with a tensor's description after its entries."""
    tok.save(folder / "bare.gguf")
    data = (folder / "bare.gguf").read_bytes()
    info = _text("token_embd.weight") + struct.pack("<IQQIQ", 2, 4, embeddings, 0, 0)
    head = data[:8] + struct.pack("<Q", 1) + data[16:] + info
    return head + bytes(-len(head) % 32)


def test_a_large_file_is_read_as_far_as_its_tensors(tmp_path: Path) -> None:
    """Four gigabytes that are not there are not read."""
    tok = jeton.load(_file("rwkv", tmp_path))
    path = tmp_path / "large.gguf"
    path.write_bytes(_with_tensor(tok, tmp_path, tok.vocab.max_id + 1))
    os.truncate(path, 4 << 30)
    assert jeton.load(path) == tok


@pytest.mark.parametrize("name", GOLDEN["cases"])
def test_written_files_load_again(name: str, tmp_path: Path) -> None:
    tok = jeton.load(_file(name, tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        tok.save(tmp_path / "again.gguf")
    again = jeton.load(tmp_path / "again.gguf")
    for text in TEXTS:
        assert again.encode(text) == tok.encode(text), text
    for text in PLAIN:
        assert _framed(again, text) == _framed(tok, text), text
    assert again.roles == tok.roles


@pytest.mark.parametrize("name", GOLDEN["cases"])
def test_the_gguf_package_reads_what_is_written(name: str, tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    tok = jeton.load(_file(name, tmp_path))
    tok.save(tmp_path / "again.gguf", lossy=True)
    fields = gguf.GGUFReader(tmp_path / "again.gguf").fields
    before = gguf.GGUFReader(tmp_path / f"{name}.gguf").fields
    for key in ("model", "tokens", "token_type", "scores", "merges"):
        field = before.get(f"tokenizer.ggml.{key}")
        # llama.cpp has other types for some names, and several spellings for RWKV's bytes.
        if field is not None and (name, key) not in {("gpt-2", "token_type"), ("rwkv", "tokens")}:
            assert fields[f"tokenizer.ggml.{key}"].contents() == field.contents(), key


def test_a_tokenizer_is_put_into_a_model(tmp_path: Path) -> None:
    """Its tensors stay, and so does all that is said of them."""
    tok = jeton.load(_file("gpt-2", tmp_path))
    model = tmp_path / "model.gguf"
    weights = os.urandom(1 << 12)
    model.write_bytes(_with_tensor(tok, tmp_path, tok.vocab.max_id + 1) + weights)
    changed = tok.replace(chat_template="{{ messages }}!")
    changed.save(tmp_path / "new.gguf", into=model)
    written = (tmp_path / "new.gguf").read_bytes()
    assert written.endswith(weights) and len(written) % 32 == 0
    assert jeton.load(tmp_path / "new.gguf").settings.chat_template == "{{ messages }}!"
    assert model.read_bytes().endswith(weights)
    model.write_bytes(_with_tensor(tok, tmp_path, tok.vocab.max_id) + weights)
    with pytest.raises(UnsupportedError, match="embeddings"):
        changed.save(tmp_path / "other.gguf", into=model)
    assert not (tmp_path / "other.gguf").exists()
    with pytest.raises(ArgumentError, match="into="):
        tok.save(tmp_path / "tokenizer.json", into=model)


@pytest.mark.parametrize("name", ["gpt-2", "llama", "llama_bare", "bert", "t5", "rwkv"])
def test_embeddings_without_a_token(name: str, tmp_path: Path) -> None:
    """Models are often padded to a round number of them."""
    tok = jeton.load(_file(name, tmp_path))
    model = tmp_path / "model.gguf"
    weights = os.urandom(1 << 10)
    model.write_bytes(_with_tensor(tok, tmp_path, tok.vocab.max_id + 4) + weights)
    with pytest.warns(FormatWarning, match="3 ids without a token"):
        tok.save(tmp_path / "new.gguf", into=model)
    assert (tmp_path / "new.gguf").read_bytes().endswith(weights)
    again = jeton.load(tmp_path / "new.gguf")
    assert again.vocab.max_id == tok.vocab.max_id + 3
    for text in [
        *TEXTS,
        f"[PAD{again.vocab.max_id}]",
        f"[PAD {again.vocab.max_id}]",
        "\\xff[PAD600]",
    ]:
        assert again.encode(text) == tok.encode(text), text
    for text in PLAIN:
        assert _framed(again, text) == _framed(tok, text), text


def _part(number: int) -> bytes:
    """A later part of a split model: it holds no tokenizer."""
    name = _entry("general.architecture", 8, _text("gpt2"))
    return _head([name, _entry("split.no", 2, struct.pack("<H", number))])


def test_a_folder_with_a_gguf(tmp_path: Path) -> None:
    tok = jeton.load(_file("gpt-2", tmp_path)).replace(chat_template="{{ messages }}")
    (tmp_path / "gpt-2.gguf").unlink()
    first = tmp_path / "m-00001-of-00003.gguf"
    tok.save(first)
    read = jeton.load(tmp_path)
    assert (
        read == tok
        and read.settings.chat_template == tok.settings.chat_template
        and read.roles == tok.roles
    )
    (tmp_path / "m-00002-of-00003.gguf").write_bytes(_part(1))
    (tmp_path / "m-00003-of-00003.gguf").write_bytes(_part(2))
    (tmp_path / "mmproj.gguf").write_bytes(_head([]))
    (tmp_path / "folder.gguf").mkdir()
    assert jeton.load(tmp_path) == tok
    with pytest.raises(FormatError, match=r"load the first, …-00001-of-"):
        jeton.load(tmp_path / "m-00002-of-00003.gguf")
    with pytest.raises(UnsupportedError, match="into the first part"):
        tok.save(tmp_path / "new.gguf", into=tmp_path / "m-00003-of-00003.gguf")
    tok.save(tmp_path / "other.gguf")
    with pytest.raises(ArgumentError, match=r"more than one .*: m-00001-of-00003.gguf, other"):
        jeton.load(tmp_path)


def test_components_that_gguf_cannot_hold_are_named(tmp_path: Path) -> None:
    gpt2 = jeton.load(_file("gpt-2", tmp_path))
    rows = [
        (gpt2.replace(normalizer=normalizers.NFC()), "the normalizer NFC"),
        (gpt2.replace(pre_tokenizer=pre_tokenizers.Whitespace()), "the pre-tokenizer"),
        (jeton.CharTrainer().train("abc"), "a Characters model"),
        (jeton.WordLevelTrainer().train(["a b"]), "a WordLevel model"),
    ]
    for tok, message in rows:
        with pytest.raises(UnsupportedError, match=message):
            tok.save(tmp_path / "refused.gguf")
    assert not (tmp_path / "refused.gguf").exists()


@pytest.mark.large
def test_the_command_converts_and_compares(here: Path, run: Run) -> None:  # noqa: F811
    tok = jeton.load(_file("gpt-2", here))
    weights = bytes((tok.vocab.max_id + 1) * 4 * 4)
    (here / "model.gguf").write_bytes(_with_tensor(tok, here, tok.vocab.max_id + 1) + weights)
    run("convert", "gpt-2.gguf", "folder")
    run("convert", "folder", "new.gguf", "--into", "model.gguf")
    assert (here / "new.gguf").read_bytes().endswith(weights)
    again = jeton.load(here / "new.gguf")
    assert [again.encode(text) for text in TEXTS] == [tok.encode(text) for text in TEXTS]
    (here / "text.txt").write_text("\n".join(PLAIN), encoding="utf-8", newline="")
    run("diff", "new.gguf", "folder", "text.txt")
    refused = run("convert", "folder", "new.json", "--into", "model.gguf", code=1)
    assert "into= goes with a .gguf" in refused.stderr
