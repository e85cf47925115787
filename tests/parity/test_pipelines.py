"""Composed pipelines: ids, spans, masks and decoded text equal to those of tokenizers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import nasty

pytest.importorskip("tokenizers")
pytest.importorskip("sentencepiece")
pytest.importorskip("transformers")

from tokenizers import Tokenizer

import jeton
import model_pipelines
import pipelines
from absent import judge_without_specials
from conftest import Scale
from jeton.errors import EncodeError
from peer_spans import agree

NUMBERS = range(120)
#: A call that ended in a panic of tokenizers, which says nothing of what is right.
PANIC = object()
SPECIALS = (
    "<|end|>",
    "<|end|>of",
    "[CLS]",
    "<mask>",
    " <mask> ",
    "brown fox",
    "Naïve",
    "don",
)


def _reloaded(theirs: Any) -> Any:
    """The same tokenizer read from its file: scores are what the file says, to the last bit."""
    return Tokenizer.from_str(theirs.to_str())


def _outcome(call: Callable[[], Any]) -> Any:
    """What a call into tokenizers gives: a result, `None` for an error, or nothing but a panic."""
    try:
        return call()
    except Exception:
        return None
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        return PANIC


def _compare(ours: jeton.Tokenizer, theirs: Any, texts: list[str]) -> None:
    absent = judge_without_specials(theirs.to_str())
    for text, pair in zip(texts, [*texts[1:], ""], strict=True):
        for other, around in ((None, False), (None, True), (pair, True)):
            _compare_encodings(ours, theirs, text, other, around)
        expected = _outcome(partial(absent.encode, text, add_special_tokens=False))
        if expected is None:
            with pytest.raises(EncodeError):
                ours.encode(text)
        elif expected is not PANIC:
            assert ours.encode(text) == expected.ids, text
            _compare_decoded(ours, theirs, expected.ids)


def _compare_encodings(
    ours: jeton.Tokenizer, theirs: Any, text: str, other: str | None, around: bool
) -> None:
    where = (text, other, around)
    given = text if other is None else (text, other)

    def encoded(given: Any) -> Any:
        texts = given if isinstance(given, tuple) else (given,)
        return _outcome(lambda: theirs.encode(*texts, add_special_tokens=around))

    expected = encoded(given)
    if expected is PANIC:
        return
    if expected is None:
        with pytest.raises(EncodeError):
            ours.encode_with_spans(text, other, special="allow", add_special_tokens=around)
        return
    got = ours.encode_with_spans(text, other, special="allow", add_special_tokens=around)
    assert list(got.ids) == expected.ids, where
    assert agree(got.spans, expected, given, theirs.normalizer, encoded), where
    assert list(got.type_ids) == expected.type_ids, where
    assert list(got.special_tokens_mask) == [bool(m) for m in expected.special_tokens_mask], where
    assert list(got.word_ids) == expected.word_ids, where
    assert list(got.sequence_ids) == expected.sequence_ids, where
    if other is None and not around:
        assert ours.encode(text, special="allow") == expected.ids, where


def _compare_decoded(ours: jeton.Tokenizer, theirs: Any, ids: list[int]) -> None:
    for skip in (False, True):
        expected = _outcome(partial(theirs.decode, ids, skip_special_tokens=skip))
        if expected is not PANIC:
            assert ours.decode(ids, skip_special_tokens=skip) == expected, ids


@pytest.mark.large
@pytest.mark.parametrize("number", NUMBERS)
def test_composed(number: int, scale: Scale) -> None:
    theirs = _reloaded(pipelines.compose(number))
    ours = jeton.Tokenizer.from_json(theirs.to_str())
    texts = [pipelines.PUNCTUATED, ""]
    texts += nasty.strings(scale.pipeline_strings, seed=number, specials=SPECIALS)
    _compare(ours, theirs, texts)


@pytest.mark.large
@pytest.mark.parametrize("name", model_pipelines.CLASSICS)
def test_classic(name: str, scale: Scale) -> None:
    theirs = _reloaded(model_pipelines.classic(name))
    ours = jeton.Tokenizer.from_json(theirs.to_str())
    texts = [pipelines.PUNCTUATED, ""]
    texts += nasty.strings(4 * scale.pipeline_strings, seed=1, specials=SPECIALS)
    _compare(ours, theirs, texts)


@pytest.mark.large
@pytest.mark.parametrize("number", NUMBERS)
def test_written_files_load_and_agree(number: int, tmp_path: Any) -> None:
    ours = jeton.Tokenizer.from_json(pipelines.compose(number).to_str())
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    assert jeton.load(path) == ours
    theirs = Tokenizer.from_file(str(path))
    for text in nasty.strings(40, seed=number, specials=SPECIALS):
        _compare_encodings(ours, theirs, text, None, True)


@pytest.mark.large
def test_every_component_appears() -> None:
    seen: set[str] = set()
    for number in NUMBERS:
        seen |= pipelines.kinds(pipelines.compose(number))
    expected = {
        "normalizer": "NFC NFD NFKC NFKD Lowercase StripAccents Strip Nmt Replace Prepend Precompiled "
        "BertNormalizer ByteLevel Sequence",
        "pre_tokenizer": "ByteLevel BertPreTokenizer Metaspace Whitespace WhitespaceSplit "
        "CharDelimiterSplit Split Punctuation Digits UnicodeScripts FixedLength Sequence",
        "model": "BPE WordLevel WordPiece Unigram",
        "post_processor": "TemplateProcessing BertProcessing RobertaProcessing ByteLevel Sequence",
        "decoder": "ByteLevel WordPiece Metaspace BPEDecoder ByteFallback Fuse Strip Replace CTC "
        "Sequence",
    }
    missing = {
        f"{stage}:{kind}" for stage, names in expected.items() for kind in names.split()
    } - seen
    assert not missing
