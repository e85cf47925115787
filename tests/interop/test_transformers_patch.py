"""`jeton.patch_transformers`: what `AutoTokenizer` loads encodes with jeton, or it says why not."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import samples
from jeton.errors import FormatWarning
from kinds import KINDS
from shared_data import SHARED, needs

transformers = pytest.importorskip("transformers")

TEXTS = ["the theory of the weather", "", "é東京 🙂\n\n  x<|end|>y", "a" * 300]
CALLS: dict[str, Callable[[Any], Any]] = {
    "a call": lambda it: dict(it(TEXTS[0])),
    "a batch": lambda it: dict(it(TEXTS)),
    "without special tokens": lambda it: it(TEXTS, add_special_tokens=False)["input_ids"],
    "encode": lambda it: [it.encode(text) for text in TEXTS],
    "offsets": lambda it: it(TEXTS, return_offsets_mapping=True)["offset_mapping"],
    "special tokens mask": lambda it: it(TEXTS, return_special_tokens_mask=True)[
        "special_tokens_mask"
    ],
    "type ids": lambda it: it(TEXTS, return_token_type_ids=True)["token_type_ids"],
    "truncated": lambda it: it(TEXTS, truncation=True, max_length=4)["input_ids"],
    "padded": lambda it: it(TEXTS, padding="max_length", max_length=400)["input_ids"]
    if it.pad_token
    else None,
    "pairs": lambda it: it(TEXTS[0], "x")["input_ids"],
    "split words": lambda it: it(["the", "weather"], is_split_into_words=True)["input_ids"],
    "special tokens as text": lambda it: it(TEXTS, split_special_tokens=True)["input_ids"],
    "tokens and words": lambda it: (
        it(TEXTS[0]).tokens(), it(TEXTS[0]).word_ids(), it(TEXTS[0]).char_to_token(4)
    ),
    "tokenize": lambda it: it.tokenize(TEXTS[0]),
    "decode": lambda it: it.decode(it.encode(TEXTS[0])),
    "after all that": lambda it: it(TEXTS)["input_ids"],
}  # fmt: skip


def folder_of(tok: jeton.Tokenizer, folder: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tok.save(folder)
        except jeton.errors.UnsupportedError as error:
            pytest.skip(f"no folder holds it: {error}")
    return folder


def loaded(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.AutoTokenizer.from_pretrained(folder)


NEOX = SHARED / "vocab" / "neox"


@pytest.mark.medium
@needs(NEOX)
def test_a_published_tokenizer_has_the_offsets_of_transformers() -> None:
    """Its normalizer composes characters; jeton's spans cover both parts."""
    theirs = loaded(NEOX)
    with jeton.patch_transformers() as patch:
        ours = loaded(NEOX)
    assert (patch.encoded_by_jeton, patch.refused) == (1, [])
    for text in [*TEXTS, "é e\u0301 ﬁ", *samples.read_all().values()]:
        for options in ({}, {"return_offsets_mapping": True}):
            assert dict(ours(text, **options)) == dict(theirs(text, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_calls_are_those_of_transformers(kind: str, tmp_path: Path) -> None:
    folder = folder_of(KINDS[kind](), tmp_path / "tok")
    theirs = loaded(folder)
    with jeton.patch_transformers() as patch:
        ours = loaded(folder)
    assert (patch.encoded_by_jeton, patch.refused) == (1, [])
    assert type(ours) is type(theirs)
    for name, called in CALLS.items():
        expected, found = (_answer(called, it) for it in (theirs, ours))
        assert found == expected, name
    for again in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert again(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
    ours.save_pretrained(tmp_path / "saved")
    assert loaded(tmp_path / "saved")(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
    for it in (theirs, ours):
        it.add_tokens(["weather"])
    assert ours(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]


def _answer(called: Callable[[Any], Any], tokenizer: Any) -> Any:
    try:
        return called(tokenizer)
    except Exception as error:
        return type(error)


def test_jeton_does_the_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tok = jeton.BPETrainer(400, special_tokens=["<|end|>"]).train(samples.read_all().values())
    folder = folder_of(tok, tmp_path / "tok")
    with jeton.patch_transformers() as patch:
        fast = loaded(folder)
    assert (patch.encoded_by_jeton, patch.refused) == (1, [])
    called = list[Any]()
    encode = jeton.Tokenizer.__call__

    def counted(self: Any, *args: Any, **options: Any) -> Any:
        called.append(args)
        return encode(self, *args, **options)

    monkeypatch.setattr(jeton.Tokenizer, "__call__", counted)
    assert fast("hello<|end|>")["input_ids"] == tok.encode("hello<|end|>", special="allow")
    assert called
    # What is loaded afterwards is as before.
    called.clear()
    assert loaded(folder)("hello")["input_ids"] == tok.encode("hello")
    assert not called


def test_what_differs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tok = jeton.BPETrainer(400).train(samples.read_all().values())
    folder = folder_of(tok, tmp_path / "tok")
    other = jeton.BPETrainer(300).train(samples.read_all().values())
    monkeypatch.setattr(jeton.Tokenizer, "from_json", staticmethod(lambda text: other))
    with jeton.patch_transformers() as patch, pytest.warns(FormatWarning, match="differ from"):
        fast = transformers.AutoTokenizer.from_pretrained(folder)
    assert patch.encoded_by_jeton == 0 and "differ from jeton's" in patch.refused[0]
    assert fast("hello")["input_ids"] == tok.encode("hello")


def test_patches_are_undone_in_any_order(tmp_path: Path) -> None:
    folder_of(jeton.BPETrainer(300).train(["the theory of the weather"]), tmp_path)
    before = transformers.AutoTokenizer.__dict__["from_pretrained"]
    with jeton.patch_transformers(), jeton.patch_transformers():
        pass
    assert transformers.AutoTokenizer.__dict__["from_pretrained"] is before
    first, second = jeton.patch_transformers(), jeton.patch_transformers()
    first.undo()
    loaded(tmp_path)
    assert (first.encoded_by_jeton, second.encoded_by_jeton) == (0, 1)
    second.undo()
    loaded(tmp_path)
    assert (first.encoded_by_jeton, second.encoded_by_jeton) == (0, 1)
    first.undo()
    assert transformers.AutoTokenizer.__dict__["from_pretrained"] is before
