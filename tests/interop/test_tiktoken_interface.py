"""`as_tiktoken()` against tiktoken itself: the same signatures, results and types of errors."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jeton
from jeton.components import normalizers
from jeton.tiktoken import TiktokenEncoding
from kinds import byte_level, ranks, read_ranks, word_piece

tiktoken = pytest.importorskip("tiktoken")

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"


def pair(name: str) -> tuple[Any, TiktokenEncoding]:
    """tiktoken's encoding and ours, of the same ranks."""
    tokens = {
        "made up": lambda: ranks().as_tiktoken()._mergeable_ranks,
        "r50k_base": lambda: read_ranks("r50k_base.tiktoken"),
    }[name]()
    special = {"<|endoftext|>": len(tokens) + 7, "<|pad|>": 60_000}
    theirs = tiktoken.Encoding(name, pat_str=GPT2, mergeable_ranks=tokens, special_tokens=special)
    ours = jeton.Tokenizer.from_ranks(tokens, pattern=GPT2, special_tokens=special)
    return theirs, ours.as_tiktoken(name)


@pytest.fixture(scope="module", params=["made up", "r50k_base"])
def both(request: pytest.FixtureRequest) -> tuple[Any, TiktokenEncoding]:
    """The two encodings."""
    return pair(request.param)


TEXTS = [
    "",
    "hello world",
    "hello fanta",
    "<|endoftext|>",
    "a<|pad|><|endoftext|>\n\n  b",
    "père 東京 🙂",
    "  \n \n",
    "\ud83d\ude42 \ud800",
]


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the built-in exception that it raises."""
    try:
        return call()
    except Exception as error:
        for kind in (UnicodeError, KeyError, ValueError, OverflowError, TypeError):
            if isinstance(error, kind):
                return kind
        raise


def unordered(result: Any) -> Any:
    """The result of `encode_with_unstable`; tiktoken's completions come in the order of a table."""
    return (result[0], sorted(result[1])) if isinstance(result, tuple) else result


def same(both: tuple[Any, TiktokenEncoding], name: str, *arguments: Any, **options: Any) -> None:
    """A method gives the same from both, or raises the same."""
    results = [outcome(lambda: getattr(one, name)(*arguments, **options)) for one in both]  # noqa: B023
    if name == "encode_with_unstable":
        results = [unordered(result) for result in results]
    if name == "encode_to_numpy":
        results = [r if isinstance(r, type) else (r.dtype, r.tolist()) for r in results]
    assert results[1] == results[0], (name, arguments, options)


WAYS: list[dict[str, Any]] = [
    {},
    {"disallowed_special": ()},
    {"allowed_special": "all"},
    {"allowed_special": {"<|pad|>", "not special"}, "disallowed_special": ()},
    {"disallowed_special": {"hello"}},
    {"allowed_special": {"<|pad|>"}},
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(way) or "defaults")
def test_encoding(both: tuple[Any, TiktokenEncoding], text: str, way: dict[str, Any]) -> None:
    same(both, "encode", text, **way)
    same(both, "encode_batch", [text, "", text], **way)
    if not any("\ud800" <= character <= "\udfff" for character in text):
        same(both, "encode_to_numpy", text, **way)
        same(both, "encode_with_unstable", text, **way)


@pytest.mark.parametrize("text", TEXTS)
def test_ordinary_encoding(both: tuple[Any, TiktokenEncoding], text: str) -> None:
    same(both, "encode_ordinary", text)
    same(both, "encode_ordinary_batch", [text, "x"])
    assert both[1]._encode_only_native_bpe(text) == both[0].encode_ordinary(text)


IDS = [
    [],
    [104, 105],
    [230, 1],
    [10**6],
    [-1],
    [1 << 40],
    ["x"],
    [1.5],
    [None],
]


@pytest.mark.parametrize("ids", IDS, ids=str)
def test_decoding(both: tuple[Any, TiktokenEncoding], ids: Any) -> None:
    for name in ("decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"):
        same(both, name, ids)
    for name in ("decode_batch", "decode_bytes_batch"):
        same(both, name, [ids, []])
    for errors in ("strict", "replace", "ignore"):
        same(both, "decode", ids, errors)


MADE_UP = pair("made up")


@given(data=st.binary(max_size=20))
def test_bytes(data: bytes) -> None:
    same(MADE_UP, "_encode_bytes", data)
    if data:
        same(MADE_UP, "_encode_single_piece", data)
    same(MADE_UP, "encode_single_token", data)
    same(MADE_UP, "decode_with_offsets", MADE_UP[1]._encode_bytes(data))


@given(text=st.text(st.sampled_from("the rn\n é東'1"), max_size=12))
@settings(max_examples=300)
def test_unstable(text: str) -> None:
    same(MADE_UP, "encode_with_unstable", text)


def test_an_encoding_has_tiktokens_attributes(both: tuple[Any, TiktokenEncoding]) -> None:
    theirs, ours = both
    assert repr(ours) == repr(theirs)
    for name in ("name", "max_token_value", "n_vocab", "eot_token", "special_tokens_set"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("_pat_str", "_mergeable_ranks", "_special_tokens", "_special_token_values"):
        assert getattr(ours, name) == getattr(theirs, name), name
    same(both, "token_byte_values")
    for token in ("<|pad|>", "the", b"a", "no such token"):
        same(both, "encode_single_token", token)
    for id in (0, ours.eot_token, 10**6):
        same(both, "is_special_token", id)
        same(both, "decode_single_token_bytes", id)
    again = pickle.loads(pickle.dumps(ours))
    assert again.encode("hello") == ours.encode("hello") and again.name == ours.name


def test_the_interface_is_whole() -> None:
    theirs = vars(tiktoken.Encoding)
    state = {"__getstate__", "__setstate__"}
    missing = {name for name, member in theirs.items() if callable(member)} - state
    assert missing <= set(vars(TiktokenEncoding)), missing - set(vars(TiktokenEncoding))
    for name, member in theirs.items():
        if not inspect.isfunction(member) or name.startswith("__"):
            continue
        ours = inspect.signature(getattr(TiktokenEncoding, name)).parameters
        expected = inspect.signature(member).parameters
        assert [(p.name, p.kind) for p in ours.values()] == [
            (p.name, p.kind) for p in expected.values()
        ], name
        for parameter in expected.values():
            if not isinstance(parameter.default, set):
                assert ours[parameter.name].default == parameter.default, name


def test_threads_must_be_some() -> None:
    _, ours = MADE_UP
    for call in (ours.encode_batch, ours.encode_ordinary_batch, ours.decode_batch):
        with pytest.raises(ValueError, match="num_threads"):
            call([], num_threads=0)


def test_merges_speak_it_too() -> None:
    tok = byte_level()
    enc = tok.as_tiktoken("trained")
    text = "the weather there"
    assert enc.encode(text) == tok.encode(text)
    assert enc.decode(enc.encode(text)) == text
    stable, completions = enc.encode_with_unstable(text)
    rest = text.encode()[len(enc.decode_bytes(stable)) :]
    assert completions and all(enc.decode_bytes(row).startswith(rest) for row in completions)


def test_others_are_refused() -> None:
    with pytest.raises(jeton.errors.UnsupportedError, match="not a BPE over bytes"):
        word_piece().as_tiktoken()
    with pytest.raises(jeton.errors.ArgumentTypeError, match="name must be a str"):
        ranks().as_tiktoken(5)  # type: ignore[arg-type]
    with pytest.raises(jeton.errors.UnsupportedError, match="normalizes"):
        byte_level().replace(normalizer=normalizers.NFC()).as_tiktoken()


def test_ranks_of_the_two_files_of_gpt2(tmp_path: Path) -> None:
    from jeton.tiktoken.load import data_gym_to_mergeable_bpe_ranks

    judge = pytest.importorskip("tiktoken.load")
    tok = jeton.BPETrainer(300, pattern="gpt2").train(["the weather there, the theory: père"] * 4)
    tok.save(tmp_path / "vocab.json")
    files = (str(tmp_path / "merges.txt"), str(tmp_path / "vocab.json"))
    for clobber in (False, True):
        ranks = data_gym_to_mergeable_bpe_ranks(*files, clobber_one_byte_tokens=clobber)
        assert ranks == judge.data_gym_to_mergeable_bpe_ranks(
            *files, clobber_one_byte_tokens=clobber
        )
    assert ranks == dict(tok.vocab)
    other = tmp_path / "other.json"
    other.write_text('{"a": 0}', "utf-8")
    with pytest.raises(ValueError, match="not those that the merges give"):
        data_gym_to_mergeable_bpe_ranks(files[0], other)
    other.write_text("[]", "utf-8")
    with pytest.raises(ValueError, match="holds no vocabulary"):
        data_gym_to_mergeable_bpe_ranks(files[0], other)
    with pytest.raises(ValueError, match="sha256"):
        data_gym_to_mergeable_bpe_ranks(*files, vocab_bpe_hash="0")
