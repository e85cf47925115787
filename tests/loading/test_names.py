"""Names: those that are known, what is suggested for others, and those that other libraries use."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import jeton
from jeton.encoding.other_names import IMPORTED_FROM, IN_JETON
from jeton.errors import ArgumentError, DownloadError, UnknownNameError
from jeton.files import digest_of
from jeton.loading import registry

ROOT = Path(__file__).parents[2]
SUGGESTIONS = {
    "gpt4": "gpt-4",
    "GPT-4O": "gpt-4o",
    "gpt3.5": "gpt-3.5",
    "gpt4-turbo": "gpt-4-turbo",
    "gtp2": "gpt2",
    "cl100k": "cl100k_base",
    "o200k": "o200k_base",
    "p50k": "p50k_base",
    "llama-3": "llama3",
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "Bert-Base-Cased": "google-bert/Bert-Base-Cased",
    "roberta-base": "FacebookAI/roberta-base",
    "gpt2-medium": "openai-community/gpt2-medium",
    "t5-small": "google-t5/t5-small",
    "bert": "google-bert/bert-base-uncased",
    "GPT-3": "r50k_base",
    "gpt3": "r50k_base",
    "chatgpt": "gpt-4o",
    "llama2": "meta-llama/Llama-2-7b-hf",
    "Llama-2-7b": "meta-llama/Llama-2-7b-hf",
    "Qwen2.5": "Qwen/Qwen2.5-7B",
    "mistral": "mistralai/Mistral-7B-v0.1",
    "quux": None,
}


@pytest.mark.parametrize(("name", "meant"), SUGGESTIONS.items(), ids=list(SUGGESTIONS))
def test_suggestions(name: str, meant: str | None) -> None:
    with pytest.raises(UnknownNameError) as caught:
        jeton.load(name, offline=True)
    message = str(caught.value)
    if meant is None:
        assert "known are jeton-4k, gpt2, r50k_base" in message
    else:
        assert f"did you mean {meant!r}?" in message


def test_a_small_tokenizer_ships_with_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JETON_CACHE_DIR", str(tmp_path))  # empty
    tok = jeton.load("jeton-4k", offline=True)
    assert tok.vocab_size == 4096
    assert tok.decode(tok.encode("Any text: 図書館 ☕️")) == "Any text: 図書館 ☕️"
    [path] = registry.files_of("jeton-4k", offline=True)
    [source] = registry.KNOWN["jeton-4k"].files
    assert digest_of(path).sha256 == source.sha256


def test_the_tokenizer_that_ships_is_trained_on_the_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT / "testdata")
    program = importlib.import_module("make_sample_tokenizer")
    assert program.FILE.read_bytes() == program.content(), f"python {program.__file__} writes it"


def test_without_a_network_it_is_said_which_file_goes_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JETON_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("JETON_DATA_DIR", raising=False)
    with pytest.raises(DownloadError) as caught:
        jeton.load("gpt2", offline=True)
    for part in (
        f"/encoder.json to {tmp_path / 'encoder.json'}",
        "gpt2 consists of encoder.json and vocab.bpe",
        "'jeton-4k' is a small tokenizer that ships with jeton",
    ):
        assert part in str(caught.value)


def test_a_long_name_is_cut() -> None:
    with pytest.raises(UnknownNameError) as caught:
        jeton.load("x" * 9_999, offline=True)
    assert len(str(caught.value)) < 300 and "xxx…" in str(caught.value)


PATTERNS = {
    "gpt6": "gpt5",
    "gpt-2": "gpt2",
    "cl100": "cl100k",
    "lama3": "llama3",
    "tekken2": "tekken",
}


@pytest.mark.parametrize(("name", "meant"), PATTERNS.items(), ids=list(PATTERNS))
def test_suggested_patterns(name: str, meant: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(f'did you mean "{meant}"?')):
        jeton.BPETrainer(300, pattern=name)


def test_gpt5_cuts_as_gpt4o() -> None:
    assert jeton.BPETrainer(300, pattern="gpt5") == jeton.BPETrainer(300, pattern="o200k") or (
        jeton.BPETrainer(300, pattern="gpt5").pre_tokenizer
        == jeton.BPETrainer(300, pattern="gpt4o").pre_tokenizer
    )


def test_names() -> None:
    names = jeton.names()
    assert set(names) == {*registry.KNOWN, *registry.MODELS}
    assert next(iter(names)) == "jeton-4k"
    for name, what in names.items():
        assert what and registry.known_name(name) in registry.KNOWN
    assert names["gpt-4"] == "a model, with cl100k_base"


def test_patterns() -> None:
    patterns = jeton.patterns()
    assert {"gpt2", "cl100k", "o200k", "whitespace", "none"} <= set(patterns)
    for name, pattern in patterns.items():
        assert pattern.origin
        for other in (name, *pattern.aliases, name.upper()):
            jeton.BPETrainer(300, pattern=other)
    assert patterns["whitespace"].expressions == ()
    [expression] = patterns["cl100k"].expressions
    named, spelled = (
        jeton.BPETrainer(300, pattern=it).pre_tokenizer for it in ("cl100k", expression)
    )
    assert named == spelled


# Names of other libraries

TOKENIZER = jeton.CharTrainer().train("abc")


@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
@pytest.mark.parametrize("name", [name for name, it in jeton.patterns().items() if it.expressions])
def test_an_expression_that_has_a_name_is_what_the_name_says(name: str) -> None:
    texts = ["the weather's 123, né\n\n  e\u0301 x"]
    expressions = jeton.patterns()[name].expressions
    given, named = (jeton.BPETrainer(270, pattern=it).train(texts) for it in (expressions, name))
    assert given == named and given.to_json() == named.to_json()
    assert jeton.WordCounts.count(texts, pattern=expressions) == jeton.WordCounts.count(
        texts, pattern=name
    )
    # Each by itself as it was published: one of several leaves the text beside its matches.
    for expression in expressions:
        alone = jeton.BPETrainer(270, pattern=expression).train(texts)
        assert jeton.Tokenizer.from_json(alone.to_json()) == alone
        assert alone.decode(alone.encode(texts[0])) == texts[0]


@pytest.mark.parametrize("name", sorted(IN_JETON))
def test_names_of_other_libraries(name: str) -> None:
    for owner in (TOKENIZER, jeton.Tokenizer):
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        assert str(caught.value) == f"Tokenizer has no {name!r} (in jeton: {IN_JETON[name]})"
        assert not hasattr(owner, name)
        assert name not in dir(owner)
    for owner, used in re.findall(r"\b(tok|jeton)\.(\w+)", IN_JETON[name]):
        assert hasattr(TOKENIZER if owner == "tok" else jeton, used)


@pytest.mark.parametrize("name", sorted(IMPORTED_FROM))
def test_names_of_modules_of_other_libraries(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(jeton, name)
    meant = IMPORTED_FROM[name]
    assert str(caught.value) == f"module 'jeton' has no attribute {name!r} (in jeton: {meant})"
    if meant.startswith("from "):
        exec(meant)
    for used in re.findall(r"\bjeton\.(\w+)[(,]", meant):
        assert hasattr(jeton, used)


def test_names_of_nobody() -> None:
    for owner in (TOKENIZER, jeton.Tokenizer):
        with pytest.raises(AttributeError, match="no attribute 'quux'"):
            getattr(owner, "quux")  # noqa: B009
    assert getattr(TOKENIZER, "get_vocab", None) is None
    assert "encode" in dir(TOKENIZER) and "encode" in dir(jeton.Tokenizer)


def test_dir_shows_what_is_public() -> None:
    assert dir(jeton) == sorted(jeton.__all__)
