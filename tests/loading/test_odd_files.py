"""Files that are nearly tokenizers: what they lack is named, and what is loaded can be kept.

Look here for tokens that are there twice, ids that no table can hold, scores that are no numbers,
and JSON whose fields are those of a `tokenizer.json` but whose values are not.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
import kinds
from jeton.errors import FileError, FormatError, FormatWarning, JetonError
from model_bytes import GOOD

RANKS = {bytes([byte]): byte for byte in range(256)}

NO_TOKENIZERS: dict[str, tuple[bytes, str]] = {
    "only a version": (b'{"version": 1}', "not a tokenizer of a known format"),
    "only a padding": (b'{"padding": 5}', "not a tokenizer of a known format"),
    "numbers for fields": (b'{"padding": 5, "model": 3}', "not a tokenizer of a known format"),
    "a byte-order mark": (b'\xef\xbb\xbf{"model": {}}', "after a byte-order mark"),
    "a vocabulary after one": (b'\xef\xbb\xbf{"a": 0}', "after a byte-order mark"),
    "UTF-16": ('{"model": {}}'.encode("utf-16"), "text in UTF-16"),
    "only [UNK]": (b"[UNK]\n", "not a tokenizer of a known format"),
}


@pytest.mark.parametrize("name", NO_TOKENIZERS)
@pytest.mark.parametrize("file", ["tokenizer.json", "vocab.txt", "tokenizer.model"])
def test_files_that_are_no_tokenizer_are_refused(name: str, file: str, tmp_path: Path) -> None:
    content, message = NO_TOKENIZERS[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(FormatError, match=message):
        jeton.load(tmp_path / file)


def test_a_vocabulary_may_have_the_names_of_fields(tmp_path: Path) -> None:
    vocab = {"version": 0, "model": 1, "padding": 2, "a": 3, "b": 4, "ab": 5}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    assert jeton.load(tmp_path / "vocab.json").encode("ab") == [5]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("added_tokens.json", '{"<a>": 300, "<a>": 301}', r"<a>.*: this token is there twice"),
        (
            "tokenizer_config.json",
            '{"added_tokens_decoder": {"300": {"content": "x"}, "0300": {"content": "y"}}}',
            'id 300 is there twice, as "x" and as "y"',
        ),
    ],
)
def test_tokens_that_are_there_twice_are_refused(
    file: str, content: str, message: str, tmp_path: Path
) -> None:
    kinds.byte_level().save(tmp_path)
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        (tmp_path / name).unlink()
    (tmp_path / file).write_text(content)
    with pytest.raises(FormatError, match=message) as error:
        jeton.load(tmp_path)
    assert file in str(error.value)


@pytest.mark.parametrize("id", [1 << 24, 2**31 - 1, 2**32 - 1])
def test_ids_past_the_limit_are_refused(id: int) -> None:
    with pytest.raises(JetonError, match="past the largest supported id 16777215"):
        jeton.Tokenizer.from_ranks(RANKS, pattern="gpt4", special_tokens={"<big>": id})


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
def test_scores_that_are_no_numbers_are_refused(score: float, tmp_path: Path) -> None:
    tok = jeton.BPETrainer(
        274,
        alphabet="sentencepiece",
        normalizer="identity",
        remove_extra_whitespaces=False,
        byte_fallback=True,
    ).train(["to be or not to be"] * 9)
    tok.save(tmp_path / "x.gguf", lossy=True)
    data = (tmp_path / "x.gguf").read_bytes()
    scores = struct.pack("<3f", -3, -4, -5)
    assert data.count(scores) == 1
    (tmp_path / "x.gguf").write_bytes(data.replace(scores, struct.pack("<3f", -3, score, -5)))
    with pytest.raises(FormatError, match=r"tokenizer.ggml.scores\[\d+\]: the score of .* is "):
        jeton.load(tmp_path / "x.gguf")


KINDS = {
    "byte level": (kinds.byte_level, ["x.json", "folder", "vocab.json"]),
    "ranks": (kinds.ranks, ["x.json", "folder", "x.tiktoken", "x.gguf"]),
    "WordPiece": (kinds.word_piece, ["x.json", "folder", "x.txt"]),
    "Unigram": (kinds.unigram, ["x.json", "folder", "x.model", "x.gguf"]),
    "characters": (kinds.characters, ["x.json", "folder"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_loaded_tokenizers_can_be_pickled_and_saved(kind: str, tmp_path: Path) -> None:
    make, names = KINDS[kind]
    tok = make()
    assert pickle.loads(pickle.dumps(tok)) == tok
    for name in names:
        try:
            tok.save(tmp_path / name, lossy=True)
        except jeton.errors.UnsupportedError:
            continue
        options: dict[str, Any] = {"pattern": "gpt4"} if name == "x.tiktoken" else {}
        again = jeton.load(tmp_path / name, **options)
        assert pickle.loads(pickle.dumps(again)) == again
        again.save(tmp_path / f"again-{name}", lossy=True)


_NAMES = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"


def _folder(path: Path) -> Path:
    """A tokenizer's folder, with a model beside it that has other ids."""
    jeton.BPETrainer(300, special_tokens=["<s>"]).train(["a b"]).save(path)
    (path / "special_tokens_map.json").write_text("{}")
    (path / "tokenizer.model").write_bytes(GOOD)
    return path


def _link(file: Path) -> None:
    file.symlink_to("nowhere")


def _loop(file: Path) -> None:
    file.symlink_to(file.name)


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("put", [_link, _loop, os.mkfifo, os.mkdir])
def test_a_file_of_a_folder_that_cannot_be_read_is_no_missing_one(
    put: Callable[[Path], None], name: str, tmp_path: Path
) -> None:
    folder = _folder(tmp_path / "model")
    (folder / name).unlink()
    put(folder / name)
    with pytest.raises(FileError, match=name):
        jeton.load(folder)


@pytest.mark.parametrize("name", ["additional_chat_templates/tools.jinja", "a.tiktoken", "a.gguf"])
def test_links_to_nothing_are_named_whatever_their_names_are(name: str, tmp_path: Path) -> None:
    folder = _folder(tmp_path / "model")
    if not name.startswith("add"):
        (folder / "tokenizer.json").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    _link(folder / name)
    with pytest.raises(FileError, match=f"{name}: this is a link to a file that is not there"):
        jeton.load(folder)


_CLASSES = {
    "tokenizer.json": "GPT2",
    "tokenizer.model": "Llama",
    "spiece.model": "T5",
    "vocab.txt": "Bert",
    "merges.txt": "GPT2",
    "tiktoken.model": "TikToken",
}


@pytest.mark.parametrize("name", _CLASSES)
@pytest.mark.parametrize(
    ("contents", "said"),
    [(_POINTER, "Git LFS pointer"), (b"<!DOCTYPE html>", "web page"), (b"\x1f\x8b\x08", "gzip")],
)
def test_a_folder_that_was_not_fetched_whole_is_named(
    name: str, contents: bytes, said: str, tmp_path: Path
) -> None:
    configuration = {"tokenizer_class": f"{_CLASSES[name]}Tokenizer"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(configuration))
    (tmp_path / "vocab.json").write_text('{"a": 0}')
    (tmp_path / name).write_bytes(contents)
    with pytest.raises(FormatError, match=rf"{name}: this is .*{said}"):
        jeton.load(tmp_path)


def test_errors_of_a_class_name_the_folder(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "LlamaTokenizer"}')
    (tmp_path / "tokenizer.model").write_bytes(b"")
    with pytest.raises(
        FormatError, match=rf"^{re.escape(str(tmp_path))}: there is no unknown piece"
    ):
        jeton.load(tmp_path)


@pytest.mark.parametrize("contents", [b"", b"<html>", b"[]", _POINTER])
def test_an_unreadable_generation_config_is_said(contents: bytes, tmp_path: Path) -> None:
    folder = _folder(tmp_path / "model")
    (folder / "generation_config.json").write_bytes(contents)
    with pytest.warns(FormatWarning, match="generation_config.json.*which tokens end an answer"):
        jeton.load(folder)


def test_merges_that_are_cut_short_are_said_of_a_class_too(tmp_path: Path) -> None:
    tok = jeton.BPETrainer(400, pattern="gpt2").train(jeton.samples.read_all().values())
    tok.save(tmp_path / "vocab.json")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer"}')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jeton.load(tmp_path)
    lines = (tmp_path / "merges.txt").read_text().splitlines(keepends=True)
    (tmp_path / "merges.txt").write_text("".join(lines[:100]))
    with pytest.warns(FormatWarning, match="come of no merge"):
        jeton.load(tmp_path)
