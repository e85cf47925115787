"""Folders between jeton and transformers: tokens and their roles, templates, and the same ids."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import post_processors
from kinds import LLAMA, byte_level, characters, unigram, word_piece

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    transformers = pytest.importorskip("transformers")

TEXTS = ["the weather", "the<|end|>x there", " a  b\n", "[CLS] e[UNK]", "<unk> the", "père, 東京"]


def auto(folder: Path) -> Any:
    """The folder as transformers loads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.AutoTokenizer.from_pretrained(folder)


def bert() -> jeton.Tokenizer:
    return jeton.WordPieceTrainer(60).train(["the weather there"] * 4)


def sentencepiece_bpe() -> jeton.Tokenizer:
    return jeton.BPETrainer(280, **LLAMA).train(["the weather there"] * 4)


def with_pad() -> jeton.Tokenizer:
    return byte_level().with_added_tokens(["<|pad|>"])


@pytest.mark.parametrize(
    ("make", "roles"),
    [
        (word_piece, {}),
        (bert, {}),
        (unigram, {}),
        (characters, {}),
        (sentencepiece_bpe, {}),
        (byte_level, {}),
        (with_pad, {"eos": "<|end|>", "pad": "<|pad|>", "image": "<|end|>x"}),
    ],
)
def test_transformers_knows_the_roles(
    make: Any, roles: dict[str, str | None], tmp_path: Path
) -> None:
    tok = make()
    tok.save(tmp_path, roles=roles, chat_template="{{ messages[0]['content'] }}!")
    theirs, again = auto(tmp_path), jeton.load(tmp_path)
    expected = {f"{role}_token": token for role, token in {**tok.roles, **roles}.items()}
    assert theirs.special_tokens_map == expected
    assert {f"{role}_token": token for role, token in again.roles.items()} == expected
    for role, id in again.role_ids.items():
        assert theirs.convert_tokens_to_ids(again.roles[role]) == id
    assert theirs.chat_template == again.chat_template == "{{ messages[0]['content'] }}!"
    assert theirs.apply_chat_template([{"role": "", "content": "hi"}], tokenize=False) == "hi!"
    for text in TEXTS:
        if make is characters and not set(text) <= set("the weather é"):
            continue
        found = theirs(text, add_special_tokens=False)["input_ids"]
        assert again.encode(text, special="allow") == found, text
        found = theirs(text)["input_ids"]
        assert again.encode(text, special="allow", add_special_tokens=True) == found, text
        if tok.added_tokens == again.added_tokens:
            assert again == tok


def test_what_transformers_saved_comes_back(tmp_path: Path) -> None:
    tok = with_pad().replace(
        post_processor=post_processors.TemplateProcessing(
            "$A <|end|>", special_tokens={"<|end|>": 0}
        )
    )
    tok.save(tmp_path / "ours", roles={"eos": "<|end|>"})
    theirs = auto(tmp_path / "ours")
    theirs.add_special_tokens({"pad_token": "<|pad|>", "extra_special_tokens": ["<|new|>"]})
    theirs.chat_template = {"default": "a", "rag": "b"}
    theirs.model_max_length = 77
    theirs.save_pretrained(tmp_path / "theirs")
    again = jeton.load(tmp_path / "theirs")
    assert again.roles == {"eos": "<|end|>", "pad": "<|pad|>"}
    assert again.chat_template == {"default": "a", "rag": "b"}
    assert again.model_max_length == 77
    assert again.special_tokens["<|new|>"] == theirs.convert_tokens_to_ids("<|new|>")
    again.save(tmp_path / "again")
    for path in (tmp_path / "theirs").rglob("*.*"):
        if path.is_file() and path.name != "tokenizer.json":
            copy = tmp_path / "again" / path.relative_to(tmp_path / "theirs")
            assert copy.read_bytes() == path.read_bytes(), path.name
    last = auto(tmp_path / "again")
    for text in [*TEXTS, "<|new|>x"]:
        assert last(text)["input_ids"] == theirs(text)["input_ids"]
        assert (
            again.encode(text, special="allow", add_special_tokens=True) == last(text)["input_ids"]
        )


OLD_FILES: dict[str, dict[str, Any]] = {
    "a map says more than the configuration": {
        "tokenizer_config.json": {"eos_token": "<|a|>", "pad_token": "<|b|>"},
        "special_tokens_map.json": {"eos_token": "<|c|>"},
    },
    "a configuration that lists tokens says more than the map": {
        "tokenizer_config.json": {
            "eos_token": "<|a|>",
            "added_tokens_decoder": {"294": {"content": "<|a|>", "special": True}},
        },
        "special_tokens_map.json": {"eos_token": "<|c|>", "pad_token": "<|d|>"},
    },
    "a list of added tokens": {
        "tokenizer_config.json": {"eos_token": "<|b|>"},
        "added_tokens.json": {"<|b|>": 295, "<|a|>": 294, "<|end|>": 0},
    },
    "tokens with options": {
        "tokenizer_config.json": {},
        "special_tokens_map.json": {
            "pad_token": {"content": "<|p|>", "lstrip": True, "rstrip": False, "single_word": False}
        },
    },
    "tokens of a model": {
        "tokenizer_config.json": {
            "extra_special_tokens": {"image_token": "<|i|>"},
            "boi_token": "<|j|>",
            "eos_token": "<|a|>",
        },
    },
    "further special tokens": {
        "tokenizer_config.json": {"additional_special_tokens": ["<|a|>", "<|b|>"]},
    },
}


@pytest.mark.parametrize("row", OLD_FILES)
def test_files_of_all_ages_are_read_alike(row: str, tmp_path: Path) -> None:
    byte_level().save(tmp_path)
    (tmp_path / "special_tokens_map.json").unlink()
    for name, content in OLD_FILES[row].items():
        extra = {"tokenizer_class": "PreTrainedTokenizerFast"} if "config" in name else {}
        (tmp_path / name).write_text(json.dumps({**content, **extra}))
    theirs, ours = auto(tmp_path), jeton.load(tmp_path)
    expected = {name: token for name, token in theirs.special_tokens_map.items() if token}
    assert {
        f"{role}_token".replace("_token_token", "_token"): it for role, it in ours.roles.items()
    } == expected
    tokens = {token.content: token.id for token in ours.added_tokens}
    assert tokens == {str(it): id for id, it in theirs.added_tokens_decoder.items()}
    for text in [" <|a|><|b|>x", "<|c|> <|d|>", "x <|p|> y", "<|i|><|j|>", *TEXTS]:
        found = theirs(text, add_special_tokens=False)["input_ids"]
        assert ours.encode(text, special="allow") == found, text
    ours.save(tmp_path / "again")
    for name in OLD_FILES[row]:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()
