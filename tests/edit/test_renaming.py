"""`edit.rename`: reserved tokens get names in every family, ids and weights stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import jeton
from command_line import Run, error_of, here, run  # noqa: F401
from jeton import edit
from jeton.components import post_processors
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatWarning,
    UnknownTokenError,
    UnsupportedError,
)
from kinds import byte_level, characters, ranks, unigram, word_piece
from shared_data import VOCABULARIES, needed

LINES = ["the weather there, then: a b", "<|end|>", "<|tool|> the", "[unused5] x", "[TOOL]"]


def sentencepiece() -> jeton.Tokenizer:
    trainer = jeton.UnigramTrainer(
        40, hard_vocab_limit=False, special_tokens=["<r0>"], user_defined_symbols=["<r1>"]
    )
    return trainer.train(["the weather there, then: a b <r1>"] * 9)


def bert() -> jeton.Tokenizer:
    return jeton.load(needed(VOCABULARIES / "bert_uncased_vocab.txt"))


def llama3() -> jeton.Tokenizer:
    return jeton.load(needed(VOCABULARIES / "llama3_ranks.model"))


def unigram_with_reserve() -> jeton.Tokenizer:
    tok = unigram()
    return tok.replace(added_tokens=[jeton.AddedToken("<unk>", special=True)])


FAMILIES: dict[str, tuple[Any, str, str]] = {
    "byte-level": (byte_level, "<|end|>x", "<|tool|>"),
    "ranks": (ranks, "<|pad|>", "<|tool|>"),
    "WordPiece": (word_piece, "[SEP]", "[TOOL]"),
    "WordPiece, the unknown": (word_piece, "[UNK]", "[NEW]"),
    "BERT's reserve": (bert, "[unused5]", "[TOOL]"),
    "Llama 3's reserve": (llama3, "<|reserved_special_token_5|>", "<|tool|>"),
    "characters": (characters, "<|end|>", "<|tool|>"),
    "Unigram": (unigram_with_reserve, "<unk>", "<new>"),
    "SentencePiece, control": (sentencepiece, "<r0>", "<tool>"),
    "SentencePiece, user's": (sentencepiece, "<r1>", "<tool>"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_only_the_name_changes(family: str, tmp_path: Path) -> None:
    make, old, new = FAMILIES[family]
    tok = make()
    edited = edit.rename(tok, {old: new})
    renamed, id = edited.tok, tok.vocab[old]
    assert renamed.vocab[new] == id and old not in renamed
    assert renamed.vocab.spelling(id) == new.encode()
    assert renamed.vocab_size == tok.vocab_size and renamed.vocab.max_id == tok.vocab.max_id
    ids = tok._core.token_ids().tolist()
    assert ids == renamed._core.token_ids().tolist()
    assert all(edited.id_map.moved[it] == it for it in ids)
    assert edited.renamed == ((old.encode(), new.encode()),)
    assert (edited.added, edited.removed) == ((), ())
    assert renamed.roles == {role: new if it == old else it for role, it in tok.roles.items()}
    assert renamed.encode(f"the {new}", special="allow")[-1] == id
    for line in LINES:
        if family == "characters" and not set(line) <= set("the weather é"):
            continue
        if new not in line and old not in line:
            for add in (False, True):
                options: dict[str, Any] = {"special": "allow", "add_special_tokens": add}
                assert renamed.encode(line, **options) == tok.encode(line, **options), line
    assert (
        edit.rename(renamed, {new: old}).tok.encode(old, special="allow")
        == tok.encode(old, special="allow")
        or old == "[unused5]"
    )
    if family in ("byte-level", "WordPiece", "Unigram", "BERT's reserve"):
        renamed.save(tmp_path / "folder")
        assert jeton.load(tmp_path / "folder").vocab[new] == id
    if family.startswith("SentencePiece"):
        renamed.save(tmp_path / "x.model")
        again = jeton.load(tmp_path / "x.model")
        assert again.encode(LINES[0]) == tok.encode(LINES[0]) and again.vocab[new] == id


def test_two_change_places() -> None:
    tok = byte_level()
    swapped = edit.rename(tok, {"<|end|>": "<|end|>x", "<|end|>x": "<|end|>"}).tok
    assert swapped.special_tokens == {"<|end|>x": 0, "<|end|>": 1}


def test_everything_that_spells_it_follows(tmp_path: Path) -> None:
    """Frame, padding and roles; and in a folder, what its files list."""
    tok = byte_level().replace(
        roles={"eos": "<|end|>", "pad": "<|end|>x"},
        post_processor=post_processors.TemplateProcessing(
            "$A <|end|>", special_tokens={"<|end|>": 0}
        ),
        padding={
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 1,
            "pad_type_id": 0,
            "pad_token": "<|end|>x",
        },
    )
    tok.save(tmp_path / "old")
    tok = jeton.load(tmp_path / "old")
    edited = edit.rename(tok, {"<|end|>": "<|stop|>", "<|end|>x": "<|fill|>"}).tok
    edited.save(tmp_path / "new")
    for found in (edited, jeton.load(tmp_path / "new")):
        assert found.roles == {"eos": "<|stop|>", "pad": "<|fill|>"}
        assert found.special_tokens == {"<|stop|>": 0, "<|fill|>": 1}
        assert found.encode("the", add_special_tokens=True)[-1] == 0
        assert (
            found.settings.padding is not None and found.settings.padding["pad_token"] == "<|fill|>"
        )
    for path in (tmp_path / "new").iterdir():
        assert "<|end|>" not in path.read_text(encoding="utf-8"), path.name


def test_only_reserved_tokens_are_renamed() -> None:
    tok = byte_level()
    for names, error, told in (
        ({"<|no|>": "x"}, UnknownTokenError, "there is no token '<|no|>'"),
        ({"<|end|>": "<|end|>x"}, ArgumentError, "'<|end|>x' is another token already"),
        ({"<|end|>": "x", "<|end|>x": "x"}, ArgumentError, "'x' is another token already"),
        ({"<|end|>": ""}, ArgumentError, "is empty"),
        ({"the": "x2"}, ArgumentError, "'the' is a token of ordinary text"),
        ({"<|end|>": 5}, ArgumentTypeError, "must be a str"),
        (["<|end|>"], ArgumentTypeError, "a dict of names"),
    ):
        with pytest.raises(error) as caught:
            edit.rename(tok, names)  # type: ignore[arg-type]
        assert told in str(caught.value)
    with pytest.raises(UnsupportedError, match="the SentencePiece model finds '</s>'"):
        edit.rename(sentencepiece(), {"</s>": "<end>"})


def test_a_template_that_spells_it_is_left_and_said() -> None:
    tok = byte_level().replace(chat_template="{{ messages[0].content }}<|end|>")
    with pytest.warns(FormatWarning, match=r"the chat template contains '<\|end\|>', and was not"):
        assert (
            edit.rename(tok, {"<|end|>": "<|stop|>"}).tok.settings.chat_template
            == tok.settings.chat_template
        )


def test_a_model_keeps_its_weights(run: Run, here: Path) -> None:  # noqa: F811
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    tok = byte_level().replace(roles={"eos": "<|end|>"})
    tok.save(here / "model")
    table = torch.randn(tok.vocab.max_id + 5, 4)
    safetensors.save_file({"model.embed_tokens.weight": table}, here / "model/model.safetensors")
    config = {"vocab_size": tok.vocab.max_id + 5, "eos_token_id": 0}
    (here / "model" / "config.json").write_text(json.dumps(config))
    told = run(
        *("edit", "rename", "model", "<|end|>", "<|stop|>", "<|end|>x", "<|tool|>"),
        *("-o", "new", "--model", "model"),
    ).stdout
    assert "renamed" in told
    new = jeton.load(here / "new")
    assert new.special_tokens == {"<|stop|>": 0, "<|tool|>": 1} and new.roles == {"eos": "<|stop|>"}
    again = safetensors.load_file(here / "new" / "model.safetensors")
    assert torch.equal(again["model.embed_tokens.weight"], table)
    assert json.loads((here / "new" / "config.json").read_text()) == config
    run("edit", "rename", "model", "<|end|>", "-o", "x", code=2)
    assert "no token" in error_of(run("edit", "rename", "model", "<|no|>", "y", "-o", "x", code=1))
