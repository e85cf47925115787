"""Folders without a `tokenizer.json`: ids as those of the class that the configuration names.

The answers are of transformers' classes in Python: `testdata/make_class_folders.py`.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.errors import FormatError, FormatWarning, JetonError, UnsupportedError
from jeton.loading.class_folders import CLASSES
from jeton.loading.model_file import ModelFile, ModelPiece

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "testdata" / "class_folders.json").read_text(encoding="utf-8")
)
TEXTS: list[str] = GOLDEN["texts"]

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(tokenizer_config.json does not set|a space in front of '<mask>'):"
    "jeton.errors.FormatWarning"
)


def _folder(name: str, folder: Path) -> Path:
    case = GOLDEN["folders"][name]
    for file, held in case["files"].items():
        (folder / file).write_bytes(gzip.decompress(base64.b64decode(GOLDEN["files"][held])))
    for file, content in case["beside"].items():
        (folder / file).write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", GOLDEN["folders"])
def test_ids_are_those_of_the_class(name: str, tmp_path: Path) -> None:
    case = GOLDEN["folders"][name]
    tok = jeton.load(_folder(name, tmp_path))
    for text, ids in zip(TEXTS, case["ids"], strict=True):
        assert tok.encode(text, special="allow") == ids, text
    for text, ids in zip(TEXTS, case["framed"], strict=False):
        assert tok.encode(text, special="allow", add_special_tokens=True) == ids, text
    assert {role: it for role, it in tok.roles.items() if role in case["roles"]} == case["roles"]
    for ids, text in zip(case["ids"], case["decoded"], strict=False):
        assert tok.decode(ids) == text


@pytest.mark.parametrize("name", GOLDEN["folders"])
def test_text_is_text_and_comes_back(name: str, tmp_path: Path) -> None:
    """The spelling of a special token in text is text, and what the class knows is decoded."""
    tok = jeton.load(_folder(name, tmp_path))
    special = {*tok.special_tokens.values()}
    for text in TEXTS:
        ids = tok.encode(text)
        unknown = tok.special_tokens.get(tok.roles.get("unk") or "")
        assert not special.difference({unknown}).intersection(ids), text
    assert tok.decode(tok.encode("hello world")).strip() == "hello world"


def test_the_end_of_a_word_is_not_shown(tmp_path: Path) -> None:
    tok = jeton.load(_folder("clip", tmp_path))
    assert tok.decode(tok.encode("Hello, world")).split() == ["hello", ",", "world"]


def test_ctrl_marks_what_goes_on(tmp_path: Path) -> None:
    vocab = {"<unk>": 0, "t@@": 1, "h@@": 2, "e": 3, "the": 4, "th@@": 5, "n": 6, "e@@": 7}
    vocab |= {"t": 8, "h": 9, "n@@": 10}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    (tmp_path / "merges.txt").write_text("#version: 0.2\nt h\nth e</w>\n")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "CTRLTokenizer"}')
    tok = jeton.load(tmp_path)
    assert tok.encode("the then x") == [4, 5, 7, 6, 0]
    assert tok.decode([4, 5, 7, 6]) == "the then"


@pytest.mark.parametrize("name", ["QWen", "TikToken"])
def test_ranks_with_tokens_behind(name: str, tmp_path: Path) -> None:
    ranks = b"".join(base64.b64encode(bytes([it])) + b" %d\n" % it for it in range(256))
    file = {"QWen": "qwen.tiktoken", "TikToken": "tiktoken.model"}[name]
    (tmp_path / file).write_bytes(ranks + base64.b64encode(b"ab") + b" 256\n")
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": f"{name}Tokenizer",
                "added_tokens_decoder": {"258": {"content": "<|im_start|>", "special": True}},
            }
        )
    )
    tok = jeton.load(tmp_path)
    assert tok.encode("ab<|im_start|>中", special="allow") == [256, 258, *"中".encode()]


def test_ids_of_a_file_are_kept(tmp_path: Path) -> None:
    """They may leave gaps, and go backwards."""
    tok = jeton.load(_folder("llama_added", tmp_path))
    assert [tok.vocab[it] for it in ("<|im_end|>", "plain", "<|x|>")] == [601, 602, 605]
    assert tok.encode("plain<|x|>") == [602, 605]


_CONFIG = "tokenizer_config.json"


def _class(name: str, **options: object) -> dict[str, str]:
    return {_CONFIG: json.dumps({"tokenizer_class": name, **options})}


BROKEN = [
    ("unknown class", "llama", _class("XyzTokenizer"), "XyzTokenizer"),
    ("no vocabulary", "bert", _class("LlamaTokenizer"), "needs tokenizer.model"),
    ("no model", "llama", {"tokenizer.model": "\x0a\x7f"}, "truncated at byte"),
    ("a flag", "llama", _class("Llama", legacy=7), "legacy: expected true"),
    ("a token", "llama", _class("Llama", bos_token=7), "expected a token"),
    ("an id twice", "gpt2", {"added_tokens.json": '{"a": 700, "b": 700}'}, "the same id, 700"),
    ("another id", "gpt2", {"added_tokens.json": '{"<unk>": 700}'}, "has the id 700"),
    ("a negative id", "gpt2", {"added_tokens.json": '{"x": -1}'}, "expected an id"),
    ("a language", "mbart", _class("MBart", src_lang="xx"), "src_lang"),
    ("a merge", "gpt2", {"merges.txt": "#version: 0.2\na b c\n"}, "line 2"),
    ("no tokens", "gpt2", {"merges.txt": "#version: 0.2\nqqq zzz\n"}, "not in the vocabulary"),
    ("a list", "gpt2", {"vocab.json": "[]"}, "expected an object"),
    ("deep", "gpt2", {"vocab.json": "[" * 100_000}, "not valid JSON"),
    ("gaps", "marian", {"vocab.json": '{"<unk>": 7}'}, "the ids are not"),
    ("punctuation", "deberta_v2", _class("DebertaV2", split_by_punct=True), "split_by_punct"),
]


BROKEN += [
    (
        "code of its own",
        "llama",
        {_CONFIG: json.dumps({"auto_map": {"AutoTokenizer": ["x.XyzTokenizer", None]}})},
        "the class, XyzTokenizer, is not known",
    ),
    ("never split", "bert", _class("Bert", never_split=["x"]), "never_split"),
    ("T5 without a space", "t5", _class("T5", legacy=False, add_prefix_space=False), "one space"),
    ("no padding", "nllb", _class("Nllb", pad_token=None), "needs it at a fixed id"),
    ("a foreign language", "nllb", _class("Nllb", src_lang="xx"), "src_lang"),
    ("an unlisted language", "nllb", _class("Nllb", additional_special_tokens=["x"]), "src_lang"),
    ("no offset", "pegasus", _class("Pegasus", offset=0), "offset=0"),
    ("a task", "whisper", _class("Whisper", task="sing"), "'sing' is neither"),
    ("a spoken language", "whisper", _class("Whisper", language="xx"), "'xx' is not a language"),
    ("no start", "whisper", _class("Whisper", unk_token=None, bos_token=None), "lack"),
    (
        "a language id",
        "whisper",
        _class("Whisper", language="yue", unk_token="<unk>"),
        "has the id",
    ),
]


@pytest.mark.parametrize("row", BROKEN, ids=[row[0] for row in BROKEN])
def test_broken_folders_are_refused(
    row: tuple[str, str, dict[str, str], str], tmp_path: Path
) -> None:
    _, name, changed, message = row
    folder = _folder(name, tmp_path)
    for file, content in changed.items():
        (folder / file).write_text(content, encoding="utf-8")
    with pytest.raises((FormatError, UnsupportedError, JetonError)) as caught:
        jeton.load(folder)
    assert message in str(caught.value)


WARNED = [
    ("a first token", "llama", _class("Llama", legacy=True), "does not set add_bos_token"),
    ("a first token", "gemma", _class("Gemma"), "does not set add_bos_token"),
    ("legacy", "llama", _class("Llama", add_bos_token=True), "does not set legacy"),
    ("sampling", "t5", _class("T5", sp_model_kwargs={"enable_sampling": True}), "enable_sampling"),
]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("row", WARNED, ids=[" ".join(row[:2]) for row in WARNED])
def test_ignored_and_missing_settings_are_warned_of(
    row: tuple[str, str, dict[str, str], str], tmp_path: Path
) -> None:
    _, name, changed, message = row
    folder = _folder(name, tmp_path)
    for file, content in changed.items():
        (folder / file).write_text(content, encoding="utf-8")
    with pytest.warns(FormatWarning, match=message) as warned:
        jeton.load(folder)
    assert len(warned) == 1


@pytest.mark.filterwarnings("default")
def test_numbers_that_a_class_encodes_twice_are_warned_of(tmp_path: Path) -> None:
    folder = _folder("xlnet", tmp_path)
    model = ModelFile.parse((folder / "spiece.model").read_bytes())
    assert not [piece for piece in model.pieces if piece.text == "▁9,"]
    pieces = [*model.pieces, ModelPiece("▁9,", -5.0)]
    (folder / "spiece.model").write_bytes(model.with_pieces(pieces))
    with pytest.warns(FormatWarning, match="such as '▁9,'"):
        jeton.load(folder)


def test_a_type_of_model_that_is_not_known_is_refused(tmp_path: Path) -> None:
    folder = _folder("gpt2", tmp_path)
    (folder / _CONFIG).unlink()
    (folder / "config.json").write_text('{"model_type": "xlm"}')
    with pytest.raises(UnsupportedError, match=r"model_type of config\.json, xlm, is"):
        jeton.load(folder)


def test_a_file_that_says_all_itself_needs_no_class(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "xlm"}')
    (tmp_path / _CONFIG).write_text('{"tokenizer_class": "LlamaTokenizer"}')
    jeton.BPETrainer(258, pattern="gpt2").train(["ab ab"]).save(tmp_path / "model.gguf", lossy=True)
    assert jeton.load(tmp_path).encode("ab") == [256]


def test_the_type_of_the_model_says_the_class(tmp_path: Path) -> None:
    folder = _folder("gpt2", tmp_path)
    (folder / _CONFIG).write_text("{}")
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    assert jeton.load(folder).roles["eos"] == "<|endoftext|>"


def test_every_class_has_a_folder() -> None:
    named = {
        case["beside"][_CONFIG]["tokenizer_class"].removesuffix("Fast").removesuffix("Tokenizer")
        for case in GOLDEN["folders"].values()
    }
    elsewhere = {"CTRL", "QWen", "TikToken"}
    like = {"MobileBert": "Bert", "Longformer": "Roberta", "LED": "Bart"}
    assert named | elsewhere | like.keys() == CLASSES.keys()


@pytest.mark.parametrize("token", ["‹｜end▁of▁sentence｜>", "<my token>", "🙂"])
@pytest.mark.parametrize("merges", ["a b\n", "a b \n", "\na  b\n\n"])
def test_a_special_token_may_have_any_characters_and_merges_any_spaces(
    token: str, merges: str, tmp_path: Path
) -> None:
    """As transformers' classes read them; they do not read `vocab.json` as bytes."""
    letters = [*jeton.components.byte_alphabet.BYTES]
    vocabulary = {piece: id for id, piece in enumerate([*letters, "ab", token])}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "merges.txt").write_text(f"#version: 0.2\n{merges}")
    listed = {str(vocabulary[token]): {"content": token, "special": True}}
    config = {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": listed}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tok = jeton.load(tmp_path)
    assert tok.encode(f"ab{token}", special="allow") == [256, 257]
    assert tok.decode([256, 257]) == f"ab{token}"
