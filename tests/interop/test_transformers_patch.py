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
tokenizers = pytest.importorskip("tokenizers")

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


@pytest.mark.large
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


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"superwords"}))
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


COMPONENTS: dict[str, Callable[[Any], Any]] = {
    "pre-tokenizer": lambda it: setattr(it.pre_tokenizer, "add_prefix_space", True),
    "normalizer": lambda it: setattr(it.normalizer, "prepend", "yy"),
    "post-processor": lambda it: setattr(it.post_processor, "trim_offsets", False),
    "prefix of a model": lambda it: setattr(it.model, "continuing_subword_prefix", "e"),
    "whole words": lambda it: setattr(it.model, "ignore_merges", True),
    "Python class": lambda it: setattr(
        it, "pre_tokenizer", tokenizers.pre_tokenizers.PreTokenizer.custom(_Halves())
    ),
}


class _Halves:
    def pre_tokenize(self, text: Any) -> None:
        text.split(lambda _, part: [part[:1], part[1:]])


def byte_level(folder: Path) -> Path:
    """A folder with a tokenizer that has a component of each kind."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: id for id, token in enumerate([*alphabet, "th", "the", "Ġweather"])}
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, [("t", "h"), ("th", "e")]))
    theirs.normalizer = tokenizers.normalizers.Prepend("x")
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.post_processor = tokenizers.processors.ByteLevel()
    theirs.decoder = tokenizers.decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=theirs, eos_token=None)
    fast.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("change", COMPONENTS)
def test_changed_components_have_effect(change: str, tmp_path: Path) -> None:
    folder = byte_level(tmp_path)
    theirs = loaded(folder)
    with jeton.patch_transformers() as patch:
        ours = loaded(folder)
    assert (patch.encoded_by_jeton, patch.refused) == (1, [])
    for it in (theirs, ours):
        COMPONENTS[change](it.backend_tokenizer)
    with_offsets = {"return_offsets_mapping": True}
    for text in TEXTS:  # These are encoded on this thread, which has a cache of its own.
        assert dict(ours(text, **with_offsets)) == dict(theirs(text, **with_offsets))
    if change != "Python class":
        again = copy.deepcopy(ours)
        assert dict(again(TEXTS, **with_offsets)) == dict(theirs(TEXTS, **with_offsets))
    assert dict(ours(TEXTS, **with_offsets)) == dict(theirs(TEXTS, **with_offsets))


@pytest.mark.parametrize("by", ["the tokenizer", "its model in another"])
def test_training_has_effect(by: str, tmp_path: Path) -> None:
    vocab = {"the": 0, "weather": 1, "of": 2}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocab, unk_token="the"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    folder = tmp_path / "tok"
    transformers.PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(folder)
    theirs = loaded(folder)
    with jeton.patch_transformers() as patch:
        ours = loaded(folder)
    assert (patch.encoded_by_jeton, patch.refused) == (1, [])
    for it in (theirs, ours):
        trained = it.backend_tokenizer
        if by == "its model in another":
            trained = tokenizers.Tokenizer(trained.model)
            trained.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        trainer = tokenizers.trainers.WordLevelTrainer(show_progress=False)
        trained.train_from_iterator(["of weather the sun"], trainer)
    texts = ["of", "weather", "the weather"]
    assert ours(texts)["input_ids"] == theirs(texts)["input_ids"]


SETTINGS: dict[str, dict[str, Any]] = {
    "truncated": {"truncation": True, "max_length": 3},
    "padded": {"padding": "max_length", "max_length": 400},
    "special tokens as text": {"split_special_tokens": True},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_of_a_later_call_do_not_change_an_encoding(setting: str, tmp_path: Path) -> None:
    folder = byte_level(tmp_path)
    theirs = loaded(folder)
    with jeton.patch_transformers():
        ours = loaded(folder)
    results = []
    for it in (theirs, ours):
        it.add_special_tokens({"pad_token": "<|end|>"})
        first, second = it(TEXTS[0]), it(TEXTS[2])
        it(TEXTS[0], **SETTINGS[setting])
        results.append((first.word_ids(), first.tokens(), second.tokens(), second.char_to_token(4)))
    assert results[1] == results[0]


def test_an_encoding_of_a_changed_tokenizer_is_refused_or_the_same(tmp_path: Path) -> None:
    with jeton.patch_transformers():
        ours = loaded(byte_level(tmp_path))
    the, weather, seen = ours("the"), ours("weather"), ours("weather")
    assert seen.tokens() == ["x", "w", "e", "a", "the", "r"]
    ours.add_tokens(["weather"])
    assert the.tokens() == ["x", "the"]
    assert seen.tokens() == ["x", "w", "e", "a", "the", "r"]
    with pytest.raises(jeton.errors.UnsupportedError, match="encode the text again for its tokens"):
        weather.tokens()
    with pytest.raises(jeton.errors.UnsupportedError, match="again for its type_ids"):
        _ = weather.encodings[0].type_ids


ENCODING_CHANGES: dict[str, Callable[[Any], Any]] = {
    "truncate": lambda encoding: encoding.truncate(4, stride=1),
    "truncate to nothing": lambda encoding: encoding.truncate(0),
    "pad": lambda encoding: encoding.pad(20, direction="left", pad_id=7, pad_token="g"),
    "truncate and pad": lambda encoding: (encoding.truncate(4), encoding.pad(8)),
}


@pytest.mark.parametrize("change", ENCODING_CHANGES)
def test_encodings_change_in_place(change: str, tmp_path: Path) -> None:
    folder = byte_level(tmp_path)
    theirs = loaded(folder)
    with jeton.patch_transformers():
        ours = loaded(folder)
    found = []
    for it in (theirs, ours):
        encoding = it._tokenizer.encode("the weather")
        _ = encoding.offsets
        ENCODING_CHANGES[change](encoding)
        names = "ids attention_mask type_ids offsets tokens word_ids n_sequences".split()
        values = [getattr(encoding, name) for name in names]
        found.append((len(encoding), values, [one.ids for one in encoding.overflowing]))
    assert found[1] == found[0]


@pytest.mark.parametrize(
    "setting", [{"enable_truncation": 4}, {"enable_padding": None}], ids=["truncation", "padding"]
)
def test_saved_settings_and_tokens_added_under_settings_keep_jeton(
    setting: dict[str, int | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of published sentence encoders hold a truncation and a padding."""
    plain = loaded(byte_level(tmp_path))
    for name, value in setting.items():
        getattr(plain._tokenizer, name)(*([value] if value else []))
    plain._tokenizer.save(str(tmp_path / "tokenizer.json"))
    theirs = loaded(tmp_path)
    with jeton.patch_transformers() as patch:
        ours = loaded(tmp_path)
    assert (patch.encoded_by_jeton, patch.refused) == (1, [])
    for it in (theirs, ours):
        it(TEXTS, truncation=True, max_length=4)
        it.add_tokens(["weather"])
    assert ours(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
    monkeypatch.setattr(jeton.Tokenizer, "__call__", None)
    with pytest.raises(TypeError, match="NoneType"):
        ours("the")


def test_a_component_that_the_caller_has_set_may_change_later(tmp_path: Path) -> None:
    folder = byte_level(tmp_path)
    theirs = loaded(folder)
    with jeton.patch_transformers():
        ours = loaded(folder)
    for it in (theirs, ours):
        prepended = tokenizers.normalizers.Prepend("the")
        it.backend_tokenizer.normalizer = tokenizers.normalizers.Sequence([prepended])
        prepended.prepend = "th"
    assert ours(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]


@pytest.mark.parametrize("sampling", [{"dropout": 0.99}, {"alpha": 0.1, "nbest_size": 64}])
def test_a_model_that_begins_to_sample_is_left_to_the_library(
    sampling: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "alpha" in sampling:
        folder = folder_of(KINDS["Unigram"](), tmp_path / "tok")
    else:
        folder = byte_level(tmp_path)
    with jeton.patch_transformers() as patch:
        ours = loaded(folder)
    assert (patch.encoded_by_jeton, patch.refused) == (1, [])
    for name, value in sampling.items():
        setattr(ours.backend_tokenizer.model, name, value)
    ours("the first call sees the change")
    monkeypatch.setattr(jeton.Tokenizer, "__call__", None)
    assert len({tuple(ours("the theory of the weather " * 9)["input_ids"]) for _ in range(20)}) > 1


def test_jeton_encodes_after_components_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with jeton.patch_transformers():
        ours = loaded(byte_level(tmp_path))
    backend = ours.backend_tokenizer
    assert all((backend.normalizer, backend.pre_tokenizer, backend.model, backend.post_processor))
    monkeypatch.setattr(jeton.Tokenizer, "__call__", None)
    with pytest.raises(TypeError, match="NoneType"):
        ours("the")


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"superwords"}))
def test_text_is_streamed_as_engines_do(kind: str, tmp_path: Path) -> None:
    """vLLM and `transformers serve` step a `DecodeStream` with `tokenizer._tokenizer`."""
    stream_class = tokenizers.decoders.DecodeStream
    folder = folder_of(KINDS[kind](), tmp_path / "tok")
    theirs = loaded(folder)
    with jeton.patch_transformers() as patch:
        ours = loaded(folder)
    assert (patch.encoded_by_jeton, patch.refused) == (1, [])
    assert tokenizers.decoders.DecodeStream is stream_class
    ids = theirs(TEXTS[0])["input_ids"]
    expected_stream = stream_class(skip_special_tokens=True)
    expected = [expected_stream.step(theirs._tokenizer, id) for id in ids]
    for it in (ours, pickle.loads(pickle.dumps(ours)), theirs):
        stream = stream_class(skip_special_tokens=True)
        assert [stream.step(it._tokenizer, id) for id in ids] == expected
        prefilled = stream_class(ids[:1], skip_special_tokens=True)
        prefilled.step(tokenizer=it._tokenizer, id=ids[1:])
    with pytest.raises(TypeError, match="str"):
        stream_class().step("a tokenizer", 1)


TEMPLATE = tokenizers.processors.TemplateProcessing("$A:0 x:1", "$A:0 x:1 $B:1", [("x", 0)])
TAKERS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "merge": lambda _, them: tokenizers.Encoding.merge(them),
    "merge of a tuple": lambda _, them: tokenizers.Encoding.merge(
        encodings=(*them,), growing_offsets=False
    ),
    "post_process": lambda backend, them: backend.post_process(them[0]),
    "post_process of a pair": lambda backend, them: backend.post_process(
        them[0], pair=them[1], add_special_tokens=False
    ),
    "process": lambda backend, them: (backend.post_processor or TEMPLATE).process(them[0]),
    "process of a pair": lambda _, them: TEMPLATE.process(*them, add_special_tokens=True),
    "a row": lambda _, them: transformers.BatchEncoding({}, them[0]).encodings[0],
    "itself": lambda _, them: them[0],
    "a pickle": lambda _, them: pickle.loads(pickle.dumps(them[0])),
    "a copy": lambda _, them: copy.deepcopy(them[0]),
    "padded before": lambda _, them: (
        them[0].pad(9, pad_id=1), tokenizers.Encoding.merge(them)
    )[1],
    "a tokenizer of `implementations`": lambda backend, _: tokenizers.implementations.BaseTokenizer(
        backend
    ).encode("the weather"),
}  # fmt: skip


@pytest.mark.parametrize("taker", TAKERS)
def test_the_library_takes_encodings(taker: str, tmp_path: Path) -> None:
    for kind in ("byte-level", "WordPiece"):
        folder = folder_of(KINDS[kind](), tmp_path / kind)
        theirs = loaded(folder)
        with jeton.patch_transformers() as patch:
            ours = loaded(folder)
        assert patch.encoded_by_jeton == 1
        found, expected = (
            TAKERS[taker](it._tokenizer, it._tokenizer.encode_batch(TEXTS[:3:2]))
            for it in (ours, theirs)
        )
        for name in ("ids", "offsets", "tokens", "sequence_ids", "type_ids", "attention_mask"):
            assert getattr(found, name) == getattr(expected, name), name
        assert isinstance(found, tokenizers.Encoding) and repr(found) == repr(expected)
    with pytest.raises(TypeError):
        tokenizers.Encoding.merge(["a"])


def test_tokenizers_that_would_differ_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tok = jeton.BPETrainer(400).train(samples.read_all().values())
    folder = folder_of(tok, tmp_path / "tok")
    other = jeton.BPETrainer(300).train(samples.read_all().values())
    monkeypatch.setattr(jeton.Tokenizer, "from_json", staticmethod(lambda text: other))
    with jeton.patch_transformers() as patch, pytest.warns(FormatWarning, match="differ from"):
        fast = transformers.AutoTokenizer.from_pretrained(folder)
    assert patch.encoded_by_jeton == 0 and "differ from jeton's" in patch.refused[0]
    assert fast("hello")["input_ids"] == tok.encode("hello")


def test_tokenizers_that_transformers_cannot_encode_load_as_before(tmp_path: Path) -> None:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0}, unk_token="absent"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(tmp_path)
    with jeton.patch_transformers() as patch, pytest.warns(FormatWarning, match="does not encode"):
        fast = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert patch.encoded_by_jeton == 0
    assert fast("the")["input_ids"] == [0]


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
