"""`jeton.tiktoken` in place of tiktoken: names, models, encodings by name, files of ranks."""

from __future__ import annotations

import base64
import hashlib
import inspect
import pickle
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import jeton.tiktoken
import jeton.tiktoken.load
import jeton.tiktoken.model
from jeton.errors import (
    ArgumentError,
    ChecksumError,
    DownloadError,
    EncodeError,
    FormatError,
    UnknownTokenError,
)
from jeton.loading import registry
from jeton.tiktoken import Encoding, encoding_name_for_model, get_encoding, list_encoding_names
from kinds import ranks
from shared_data import VOCABULARIES, needed

tiktoken = pytest.importorskip("tiktoken")
theirs_load = pytest.importorskip("tiktoken.load")
pytest.importorskip("tiktoken.model")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all encodings as published.

    Two follow from others: p50k_base is r50k_base with runs of 2 to 25 spaces, and vocab.bpe is the
    merges with a line of their version.
    """
    needed(VOCABULARIES)
    folder = tmp_path_factory.mktemp("published")
    for name in ("r50k_base", "cl100k_base", "o200k_base"):
        (folder / f"{name}.tiktoken").symlink_to(VOCABULARIES / f"{name}.tiktoken")
    runs = ((b" " * length, 50_257 + at) for at, length in enumerate(range(2, 26)))
    lines = (b"%s %d\n" % (base64.b64encode(run), rank) for run, rank in runs)
    ranks = (VOCABULARIES / "r50k_base.tiktoken").read_bytes()
    (folder / "p50k_base.tiktoken").write_bytes(ranks + b"".join(lines))
    merges = (VOCABULARIES / "gpt2_merges.txt").read_bytes()
    (folder / "vocab.bpe").write_bytes(b"#version: 0.2\n" + merges)
    (folder / "encoder.json").symlink_to(VOCABULARIES / "gpt2_vocab.json")
    return folder


@pytest.fixture
def vocabularies(monkeypatch: pytest.MonkeyPatch, published: Path) -> Path:
    """Files are taken from the folder of published ones, for tiktoken as well."""
    monkeypatch.setenv("JETON_DATA_DIR", str(published))
    monkeypatch.setattr(jeton.tiktoken.registry, "_encodings", {})
    return published


def their_constructor(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    """What tiktoken makes an encoding of, with its files taken from a folder."""
    import tiktoken_ext.openai_public as published

    def local(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        path = str(folder / url.rsplit("/", 1)[1])
        ranks: dict[bytes, int] = theirs_load.load_tiktoken_bpe(path, expected_hash)
        return ranks

    def local_pair(vocab_bpe_file: str, encoder_json_file: str, **hashes: str) -> dict[bytes, int]:
        files = {
            "vocab_bpe_file": str(folder / "vocab.bpe"),
            "encoder_json_file": str(folder / "encoder.json"),
        }
        ranks: dict[bytes, int] = theirs_load.data_gym_to_mergeable_bpe_ranks(**files, **hashes)
        return ranks

    monkeypatch.setattr(published, "load_tiktoken_bpe", local)
    monkeypatch.setattr(published, "data_gym_to_mergeable_bpe_ranks", local_pair)
    made: dict[str, Any] = published.ENCODING_CONSTRUCTORS[name]()
    return made


def test_the_names_are_tiktokens() -> None:
    assert list_encoding_names() == tiktoken.list_encoding_names()
    assert dict(jeton.tiktoken.model.MODEL_TO_ENCODING) == tiktoken.model.MODEL_TO_ENCODING
    prefixes = jeton.tiktoken.model.MODEL_PREFIX_TO_ENCODING
    assert list(prefixes.items()) == list(tiktoken.model.MODEL_PREFIX_TO_ENCODING.items())
    public = {name for name, thing in vars(tiktoken).items() if callable(thing)}
    assert public <= set(dir(jeton.tiktoken))
    for name in ("get_encoding", "encoding_for_model", "encoding_name_for_model"):
        ours, theirs = (
            [*inspect.signature(getattr(module, name)).parameters]
            for module in (jeton.tiktoken, tiktoken)
        )
        assert ours == theirs
    own, other = (inspect.signature(it) for it in (Encoding, tiktoken.Encoding))
    assert [*own.parameters] == [*other.parameters]


MODELS = [
    *tiktoken.model.MODEL_TO_ENCODING,
    *(f"{prefix}x" for prefix in tiktoken.model.MODEL_PREFIX_TO_ENCODING),
    *tiktoken.model.MODEL_PREFIX_TO_ENCODING,
    "gpt-4-0314", "gpt-4o-mini", "gpt-4.5-preview", "gpt-5.1", "ft:gpt-3.5-turbo:me:x:1",
    "gpt-4.5", "gpt-oss", "chatgpt-4o", "gpt4", "ft:davinci", "", "GPT-4", "llama3",
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_models_have_the_encoding_that_they_have_there(model: str) -> None:
    try:
        expected = tiktoken.encoding_name_for_model(model)
    except KeyError:
        with pytest.raises(KeyError, match="get_encoding"):
            encoding_name_for_model(model)
    else:
        assert encoding_name_for_model(model) == expected
        assert registry.name_for_model(model) == expected


@pytest.mark.parametrize("name", ["gpt3", "", "cl100k", "GPT2", "../x", "\ud800"])
def test_unknown_encodings(name: str) -> None:
    for module in (tiktoken, jeton.tiktoken):
        with pytest.raises(ValueError):
            module.get_encoding(name)
    with pytest.raises(ValueError, match="there is no encoding"):
        get_encoding(name)


@pytest.mark.parametrize("wrong", [None, 3, b"gpt2", ["gpt2"]])
def test_unknown_names_are_refused(wrong: Any) -> None:
    for module in (tiktoken, jeton.tiktoken):
        with pytest.raises(ValueError):
            module.get_encoding(wrong)


@pytest.mark.large
@pytest.mark.parametrize("name", tiktoken.list_encoding_names())
def test_encodings_are_tiktokens(
    name: str, monkeypatch: pytest.MonkeyPatch, vocabularies: Path
) -> None:
    made = their_constructor(name, monkeypatch, vocabularies)
    ours = get_encoding(name)
    assert ours is get_encoding(name) and isinstance(ours, Encoding) and ours.name == name
    assert ours._special_tokens == made["special_tokens"]
    assert ours._mergeable_ranks == made["mergeable_ranks"]
    assert ours._pat_str == made["pat_str"]
    theirs = tiktoken.Encoding(**made)
    assert (ours.n_vocab, ours.max_token_value) == (theirs.n_vocab, theirs.max_token_value)
    text = "Hello, père 東京\n\n  \n\n            it's 12345 🙂 <|endoftext|>"
    assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
    assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)
    with pytest.raises(ValueError):
        ours.encode(text)
    model = {"gpt2": "gpt-2", "cl100k_base": "gpt-4", "o200k_base": "gpt-5"}.get(name)
    if model is not None:
        assert jeton.tiktoken.encoding_for_model(model) is ours


@pytest.mark.usefixtures("vocabularies")
def test_an_encoding_is_extended_as_there() -> None:
    base = get_encoding("cl100k_base")
    options: dict[str, Any] = {
        "name": "cl100k_im",
        "pat_str": base._pat_str,
        "mergeable_ranks": base._mergeable_ranks,
        "special_tokens": {**base._special_tokens, "<|im_start|>": 100264, "<|im_end|>": 100265},
    }
    ours, theirs = Encoding(**options), tiktoken.Encoding(**options)
    text = "<|im_start|>user\nhello<|im_end|>"
    assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
    again = pickle.loads(pickle.dumps(ours))
    assert again.encode_ordinary(text) == ours.encode_ordinary(text)


def test_how_many_tokens_there_must_be() -> None:
    made = ranks().as_tiktoken()
    options: dict[str, Any] = {
        "pat_str": r"\w+|\W+",
        "mergeable_ranks": made._mergeable_ranks,
        "special_tokens": {"<|e|>": len(made._mergeable_ranks)},
    }
    tokens = len(made._mergeable_ranks) + 1
    assert Encoding("x", **options, explicit_n_vocab=tokens).n_vocab == tokens
    with pytest.raises(ArgumentError, match=f"there are {tokens} tokens"):
        Encoding("x", **options, explicit_n_vocab=tokens + 1)
    options["special_tokens"] = {"<|e|>": 9_999}
    with pytest.raises(ArgumentError, match="the largest id is 9999"):
        Encoding("x", **options, explicit_n_vocab=tokens)


def test_ranks_may_lack_bytes() -> None:
    spellings = (b"a", b"b", b"c", b"ab", b"bc", b"abc", b"ac", b"bb", b"acbb")
    options: dict[str, Any] = {
        "pat_str": r"[\s\S]+",
        "mergeable_ranks": {spelling: rank for rank, spelling in enumerate(spellings)},
        "special_tokens": {"<|e|>": 12},
    }
    ours, theirs = Encoding("toy", **options), tiktoken.Encoding("toy", **options)
    assert ours.encode("abacbb") == theirs.encode("abacbb") == [3, 8]
    for text in ("", "a", "abc", "cab", "bbabacbbc", "abc<|e|>a"):
        expected = theirs.encode(text, allowed_special="all")
        for made in (ours, pickle.loads(pickle.dumps(ours))):
            assert made.encode(text, allowed_special="all") == expected
            assert made.encode_batch([text], allowed_special="all") == [expected]
            assert made.encode_to_numpy(text, allowed_special="all").tolist() == expected
        assert ours.decode(expected) == ours.decode_batch([expected])[0] == text
    assert (ours.n_vocab, ours.max_token_value) == (theirs.n_vocab, theirs.max_token_value)
    assert ours.token_byte_values() == theirs.token_byte_values()
    stable, completions = theirs.encode_with_unstable("ab")  # these in the order of a hash
    assert ours.encode_with_unstable("ab") == (stable, sorted(completions))
    for encode in (
        ours.encode,
        ours.encode_ordinary,
        ours.encode_to_numpy,
        ours.encode_with_unstable,
        ours._encode_single_piece,
        lambda text: ours.encode_batch([text]),
        lambda text: ours.encode_ordinary_batch([text]),
    ):
        with pytest.raises(EncodeError, match="byte 0x64 has no rank"):
            encode("abd")
    for decode in (ours.decode_single_token_bytes, lambda id: ours.decode([id])):
        for id in (13, 200):
            with pytest.raises(UnknownTokenError, match="the largest is 12"):
                decode(id)
    with pytest.raises(UnknownTokenError, match="0x00 has no rank"):
        ours.encode_single_token(b"\0")


@pytest.mark.usefixtures("vocabularies")
def test_files_that_tiktoken_keeps_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [source] = registry.KNOWN["r50k_base"].files
    kept = tmp_path / hashlib.sha1((source.url or "").encode()).hexdigest()
    shutil.copy(VOCABULARIES / "r50k_base.tiktoken", kept)
    monkeypatch.delenv("JETON_DATA_DIR")
    monkeypatch.setenv("JETON_CACHE_DIR", str(tmp_path / "nothing"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert registry.files_of("r50k_base", offline=True) == [kept]


def test_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = ranks().as_tiktoken()
    plugin = ModuleType("tiktoken_ext.of_a_test")
    plugin.ENCODING_CONSTRUCTORS = {  # type: ignore[attr-defined]
        "of_a_test": lambda: {
            "name": "of_a_test",
            "pat_str": r"\w+|\W+",
            "mergeable_ranks": made._mergeable_ranks,
            "special_tokens": {},
        },
        "gpt2": None,
    }
    (tmp_path / "of_a_test.py").write_text("")
    namespace = ModuleType("tiktoken_ext")
    namespace.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, "tiktoken_ext", namespace)
    monkeypatch.setitem(sys.modules, "tiktoken_ext.of_a_test", plugin)
    monkeypatch.setattr(jeton.tiktoken.registry, "_plugins", None)
    monkeypatch.setattr(jeton.tiktoken.registry, "_encodings", {})
    assert list_encoding_names()[-2:] == ["o200k_harmony", "of_a_test"]
    assert get_encoding("of_a_test").encode("the") == made._encode_single_piece("the")


def test_an_address_is_read_from_a_cache_and_downloaded_only_by_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("JETON_OFFLINE", "1")
    made = ranks().as_tiktoken()._mergeable_ranks
    address = "https://example.org/x.tiktoken"
    with pytest.raises(ArgumentError, match=r"its sha256 is known \(pass expected_hash"):
        jeton.tiktoken.load.load_tiktoken_bpe(address)
    cached = tmp_path / hashlib.sha1(address.encode()).hexdigest()
    jeton.tiktoken.load.dump_tiktoken_bpe(made, cached)
    digest = hashlib.sha256(cached.read_bytes()).hexdigest()
    assert jeton.tiktoken.load.load_tiktoken_bpe(address) == made
    assert jeton.tiktoken.load.load_tiktoken_bpe(address, digest) == made
    assert theirs_load.load_tiktoken_bpe(address, digest) == made
    with pytest.raises(DownloadError, match="JETON_OFFLINE forbids"):
        jeton.tiktoken.load.load_tiktoken_bpe(address, "0" * 64)


def test_files_of_ranks(tmp_path: Path) -> None:
    made = ranks().as_tiktoken()._mergeable_ranks
    ours = tmp_path / "ours"
    jeton.tiktoken.load.dump_tiktoken_bpe(made, ours)
    assert theirs_load.load_tiktoken_bpe(str(ours)) == made
    digest = hashlib.sha256(ours.read_bytes()).hexdigest()
    assert jeton.tiktoken.load.load_tiktoken_bpe(ours, digest) == made
    with pytest.raises(ChecksumError, match="sha256"):
        jeton.tiktoken.load.load_tiktoken_bpe(ours, "0" * 64)
    with pytest.raises(FileNotFoundError):
        jeton.tiktoken.load.load_tiktoken_bpe(tmp_path / "nothing")
    for broken in (b"YQ==", b"YQ== x", b"\xff\xff 1", b"!!! 1", b"YQ== 1 2"):
        ours.write_bytes(b"Yg== 0\n" + broken)
        with pytest.raises(FormatError, match="line 2"):
            jeton.tiktoken.load.load_tiktoken_bpe(ours)
