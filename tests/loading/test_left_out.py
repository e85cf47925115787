"""What a file does not hold is named when it is saved: one rule for every format."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.errors import ArgumentTypeError, FormatWarning, UnsupportedError
from kinds import byte_level, ranks, word_piece
from shared_data import VOCABULARIES, needed

PADDING = {
    "strategy": "BatchLongest",
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "[UNK]",
}
TRUNCATION = {"direction": "Right", "max_length": 9, "strategy": "LongestFirst", "stride": 0}


def bert() -> jeton.Tokenizer:
    return jeton.WordPieceTrainer(60).train(["the weather there"] * 4)


def sentencepiece() -> jeton.Tokenizer:
    return jeton.UnigramTrainer(15).train(["the weather there"] * 9)


def gpt2() -> jeton.Tokenizer:
    return byte_level("gpt2")


def harmony() -> jeton.Tokenizer:
    """A published encoding in which two special tokens have one id."""
    needed(VOCABULARIES / "o200k_base.tiktoken")
    return jeton.load("o200k_harmony", folder=VOCABULARIES)


def templated() -> jeton.Tokenizer:
    return byte_level().replace(
        roles={"eos": "<|end|>", "pad": "<|end|>x"}, chat_template="x", model_max_length=7
    )


LEFT_OUT: dict[str, tuple[Any, str, list[str]]] = {
    "ranks: a known pattern": (
        lambda: jeton.BPETrainer(300, pattern="gpt4").train(["the weather"]),
        "x.tiktoken",
        ['the pattern "cl100k"'],
    ),
    "ranks: special tokens": (
        ranks,
        "x.tiktoken",
        ['the pattern "cl100k"', 'the special tokens "<|endoftext|>", "<|pad|>"'],
    ),
    "ranks named .model": (
        ranks,
        "x.model",
        ['the pattern "cl100k"', 'the special tokens "<|endoftext|>", "<|pad|>"'],
    ),
    "ranks: an expression": (
        lambda: jeton.Tokenizer.from_ranks(
            {bytes([byte]): byte for byte in range(256)}, pattern=r"\w+|\W"
        ),
        "x.tiktoken",
        [r'the pattern "\\w+|\\W"'],
    ),
    "ranks: many special tokens": (
        lambda: ranks().replace(
            added_tokens=[jeton.AddedToken(f"<{n}>", special=True) for n in range(9)]
        ),
        "x.tiktoken",
        ['the pattern "cl100k"', 'the special tokens "<0>", "<1>", "<2>", "<3>" and 5 more'],
    ),
    "GPT-2's pair": (gpt2, "vocab.json", ['the special tokens "<|end|>", "<|end|>x"']),
    "vocab.txt": (
        lambda: bert().replace(padding=PADDING, truncation=TRUNCATION),
        "vocab.txt",
        ["the padding", "the truncation"],
    ),
    "vocab.txt: nothing": (bert, "vocab.txt", []),
    ".model": (
        lambda: sentencepiece().replace(
            padding={**PADDING, "pad_token": "</s>"}, chat_template="x", roles={"pad": "</s>"}
        ),
        "x.model",
        ["the padding", "the chat template"],
    ),
    ".model: nothing": (sentencepiece, "x.model", []),
    "tokenizer.json: settings": (
        templated,
        "x.json",
        ["the roles eos, pad", "the chat template", "model_max_length"],
    ),
    "tokenizer.json: nothing": (
        lambda: word_piece().replace(padding=PADDING, roles={"cls": "[CLS]"}),
        "x.json",
        [],
    ),
    "ranks: all": (
        templated,
        "x.tiktoken",
        [
            'the pattern "cl100k"',
            'the special tokens "<|end|>", "<|end|>x"',
            "the roles eos, pad",
            "the chat template",
            "model_max_length",
        ],
    ),
    "folder: nothing": (templated, "x", []),
    "tokenizer.json: a second name of an id": (
        harmony,
        "x.json",
        ['the special token "<|reserved_200018|>"', "the roles bos, eos, pad"],
    ),
    "folder: a second name of an id": (harmony, "x", ['the special token "<|reserved_200018|>"']),
}


@pytest.mark.large
@pytest.mark.parametrize("row", LEFT_OUT)
def test_settings_that_are_not_saved_are_named(row: str, tmp_path: Path) -> None:
    make, name, left_out = LEFT_OUT[row]
    path = tmp_path / name
    tok = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tok.save(path)
    told = [str(warning.message) for warning in caught]
    elsewhere = (
        ""
        if name == "x" or make is harmony
        else "; a name without an ending saves a folder, which holds everything"
    )
    assert told == [
        f"{name} does not hold {', '.join(left_out)} (pass it again when you load the file"
        f"{elsewhere})"
    ] * bool(left_out)
    assert all(warning.category is FormatWarning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    assert path.exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok.save(path, lossy=True)


@pytest.mark.parametrize("lossy", [False, True])
@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        (word_piece, "x.tiktoken", "cannot hold a WordPiece model"),
        (
            lambda: gpt2().replace(added_tokens=[jeton.AddedToken("plain")]),
            "vocab.json",
            'cannot hold the added token "plain", which is not special',
        ),
        (
            lambda: gpt2().replace(added_tokens=[jeton.AddedToken("x", special=True, lstrip=True)]),
            "x.tiktoken",
            "cannot hold the options lstrip",
        ),
    ],
)
def test_losses_that_change_ids_are_refused(
    make: Any, name: str, said: str, lossy: bool, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError, match=said):
        make().save(tmp_path / name, lossy=lossy)
    assert not (tmp_path / name).exists()


def test_lossy_is_a_bool(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="lossy must be a bool, not str"):
        gpt2().save(tmp_path / "x.tiktoken", lossy="no")  # type: ignore[arg-type]
    assert not any(tmp_path.iterdir())


def test_settings_that_were_left_out_are_arguments_of_load(tmp_path: Path) -> None:
    tok = ranks()
    tok.save(tmp_path / "x.tiktoken", lossy=True)
    again = jeton.load(tmp_path / "x.tiktoken", pattern="gpt4", special_tokens=tok.special_tokens)
    assert again == tok
    pair = gpt2()
    pair.save(tmp_path / "vocab.json", lossy=True)
    again = jeton.load(tmp_path / "vocab.json", special_tokens=pair.special_tokens)
    text = "the weather<|end|>x there"
    assert again.encode(text, special="allow") == pair.encode(text, special="allow")


@pytest.mark.large
def test_of_two_names_of_an_id_the_one_that_decoding_gives_is_kept(tmp_path: Path) -> None:
    tok = harmony()
    name = tok.decode([200_018])
    tok.save(tmp_path / "x.json", lossy=True)
    again = jeton.load(tmp_path / "x.json")
    assert again.decode([200_018]) == name
    assert again.encode(f"a{name}", special="allow") == tok.encode(f"a{name}", special="allow")
