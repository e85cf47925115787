"""Saving changes no tokenizer: what a folder or a file makes special, and which roles it holds.

Look here for why a role is not written, and for the warning about one that a file does not hold.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
import kinds
from jeton.errors import FormatWarning
from pipelines import compose
from shared_data import VOCABULARIES, needed

PLAIN: dict[str, Any] = {
    "alphabet": "sentencepiece",
    "normalizer": "identity",
    "remove_extra_whitespaces": False,
}
"""A model that a `tokenizer.json` holds, too."""

TEXTS = ["a <unk> b", "the end", "[UNK] and [CLS]", "to </s> be<s>", "<|end|> ▁ <0x41>"]


def same(tok: jeton.Tokenizer, again: jeton.Tokenizer, texts: list[str]) -> None:
    """Checks that two tokenizers agree on special tokens, roles and ids."""
    assert again.special_tokens == tok.special_tokens
    assert again.roles == tok.roles
    for text in texts:
        try:
            ids = tok.encode(text, special="allow")
        except jeton.errors.EncodeError:
            continue
        assert again.encode(text, special="allow") == ids, text
        for skips in (False, True):
            assert again.decode(ids, skip_special_tokens=skips, errors="replace") == tok.decode(
                ids, skip_special_tokens=skips, errors="replace"
            )


@pytest.mark.large
@pytest.mark.parametrize("number", range(60))
def test_a_folder_changes_no_random_tokenizer(number: int, tmp_path: Path) -> None:
    rng = random.Random(number)
    stages = json.loads(compose(number).to_str())
    # Tokens of processors and models that are ordinary, as in files that list few added tokens.
    ordinary = rng.sample(["[UNK]", "[CLS]", "[SEP]", "<|end|>"], rng.randrange(4))
    stages["added_tokens"] = [
        it for it in stages["added_tokens"] if it["content"] not in ordinary or rng.random() < 0.2
    ]
    tok = jeton.Tokenizer.from_json(json.dumps(stages))
    tokens = [*tok.special_tokens, *ordinary]
    words = [tok.decode([id], errors="replace") for id in list(tok.vocab.values())[:40]]
    try:
        tok.save(tmp_path / "folder")
    except jeton.errors.UnsupportedError:
        pytest.skip("a tokenizer.json cannot hold it")
    texts = [" ".join(rng.choices([*tokens, *words, "the"], k=9)) for _ in range(9)]
    again = jeton.load(tmp_path / "folder")
    same(tok, again, texts + TEXTS)
    assert again == tok


KINDS: dict[str, Callable[[], jeton.Tokenizer]] = {
    "byte level": kinds.byte_level,
    "WordPiece": kinds.word_piece,
    "Unigram": kinds.unigram,
    "characters": kinds.characters,
    "SentencePiece": lambda: jeton.BPETrainer(40, **PLAIN).train(TEXTS * 9),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_changes_no_kind(kind: str, tmp_path: Path) -> None:
    tok = KINDS[kind]()
    tok.save(tmp_path / "folder")
    same(tok, jeton.load(tmp_path / "folder"), TEXTS)


@pytest.mark.filterwarnings("ignore:.* decodes the unknown token")
@pytest.mark.large
@pytest.mark.parametrize("name", ["llama2_sentencepiece_bpe.model", "bert_uncased_vocab.txt"])
def test_a_folder_changes_no_published_tokenizer(name: str, tmp_path: Path) -> None:
    tok = jeton.load(needed(VOCABULARIES / name))
    tok.save(tmp_path / "folder")
    same(tok, jeton.load(tmp_path / "folder"), TEXTS)


WORDS = {
    "model": {
        "type": "WordLevel",
        "unk_token": "?",
        "vocab": {"?": 0, "the": 1, "a": 2, "end": 3},
    },
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "BertProcessing", "sep": ["end", 3], "cls": ["the", 1]},
}


def test_words_with_inferred_roles_stay_words(tmp_path: Path) -> None:
    tok = jeton.Tokenizer.from_json(json.dumps(WORDS))
    assert tok.roles == {"unk": "?", "sep": "end", "cls": "the"}
    tok.save(tmp_path)
    same(tok, jeton.load(tmp_path), ["the end", "a the", "? a"])


@pytest.mark.parametrize("from_folder", [False, True])
@pytest.mark.parametrize("kind", ["characters", "SentencePiece"])
def test_a_role_that_repeats_an_inferred_one_makes_nothing_special(
    kind: str, from_folder: bool, tmp_path: Path
) -> None:
    tok = KINDS[kind]()
    if from_folder:
        tok.save(tmp_path / "first")
        tok = jeton.load(tmp_path / "first")
    tok = tok.with_added_tokens([jeton.AddedToken("<pad>", special=True)])
    assert tok.roles["unk"] not in tok.special_tokens
    again = tok.replace(roles={**tok.roles, "pad": "<pad>"})
    again.save(tmp_path / "folder")
    same(again, jeton.load(tmp_path / "folder"), [*TEXTS, "<pad> a <UNK> b"])


def test_a_role_that_makes_a_token_special_is_a_warning(tmp_path: Path) -> None:
    tok = KINDS["characters"]()
    unknown = tok.roles["unk"]
    with pytest.warns(FormatWarning, match=f'that "{unknown}" is not special'):
        tok.replace(roles={"mask": unknown}).save(tmp_path)
    assert unknown in jeton.load(tmp_path).special_tokens


def sentencepiece(folder: Path) -> jeton.Tokenizer:
    jeton.BPETrainer(40, **PLAIN, bos_token="<s>", eos_token="</s>", bos_id=1, eos_id=2).train(
        TEXTS * 9
    ).save(folder / "x.model")
    return jeton.load(folder / "x.model")


def test_a_file_that_drops_roles_of_its_format_says_so(tmp_path: Path) -> None:
    tok = sentencepiece(tmp_path)
    lost = [role for role in tok.roles if role != "unk"]
    assert lost == ["bos", "eos"]
    with pytest.warns(FormatWarning, match="does not hold the roles bos, eos"):
        tok.save(tmp_path / "x.json")
    assert jeton.load(tmp_path / "x.json").roles == {"unk": tok.roles["unk"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok.save(tmp_path / "y.model")
    assert jeton.load(tmp_path / "y.model").roles == tok.roles


def test_ranks_that_are_published_keep_their_roles(tmp_path: Path) -> None:
    tok = jeton.load(needed(VOCABULARIES / "cl100k_base.tiktoken"))
    with pytest.warns(FormatWarning, match="does not hold the role eos"):
        tok.save(tmp_path / "x.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok.save(tmp_path / "x.tiktoken")
    assert jeton.load(tmp_path / "x.tiktoken").roles == tok.roles


@pytest.mark.filterwarnings("ignore:.* does not hold the role")
@pytest.mark.parametrize("name", ["folder", "x.json"])
def test_another_text_of_the_unknown_token_is_a_warning(name: str, tmp_path: Path) -> None:
    tok = jeton.BPETrainer(280, **PLAIN, byte_fallback=True).train(["the weather there"])
    with pytest.warns(FormatWarning, match=f"{name} decodes the unknown token to '<unk>', not to"):
        tok.save(tmp_path / name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tok.save(tmp_path / "x.model")
        tok.save(tmp_path / f"quiet-{name}", lossy=True)
    assert not caught
    unknown = tok.vocab["<unk>"]
    decoded = [jeton.load(tmp_path / it).decode([unknown]) for it in ("x.model", f"quiet-{name}")]
    assert decoded == [" \u2047 ", "<unk>"]
