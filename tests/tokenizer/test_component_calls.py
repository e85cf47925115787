"""Components called by themselves: what they give, and what they refuse."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

import jeton
from jeton.components import (
    Regex,
    decoders,
    models,
    normalizers,
    post_processors,
    pre_tokenizers,
)
from jeton.errors import ArgumentError, ArgumentTypeError, DecodeError, UnsupportedError
from kinds import KINDS


def test_stages_of_a_tokenizer_are_called_in_their_order() -> None:
    """What the stages give one after another is what the tokenizer encodes."""
    vocab = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "un": 3, "##able": 4, "the": 5}
    tok = jeton.Tokenizer(
        models.WordPiece(vocab),
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        post_processor=post_processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
        decoder=decoders.WordPiece(),
    )
    assert tok.stages.normalizer is not None and tok.stages.pre_tokenizer is not None
    assert tok.stages.post_processor is not None and tok.stages.decoder is not None
    text = "The UNABLE\tthe"
    normalized = tok.stages.normalizer(text)
    pieces = tok.stages.pre_tokenizer(normalized)
    assert pieces == [("the", (0, 3)), ("unable", (4, 10)), ("the", (11, 14))]
    plain = tok.replace(post_processor=None).encode_with_spans(text)
    whole = tok.encode_with_spans(text, add_special_tokens=True)
    assert tok.stages.post_processor(plain) == whole
    assert tok.stages.decoder([token.decode() for token in plain.tokens]) == tok.decode(plain.ids)


@pytest.mark.parametrize("kind", KINDS)
def test_every_stage_of_every_kind(kind: str) -> None:
    tok = KINDS[kind]()
    text = "the weather, é 🙂"
    normalizer, pre_tokenizer, decoder = (
        tok.stages.normalizer,
        tok.stages.pre_tokenizer,
        tok.stages.decoder,
    )
    if normalizer is not None:
        assert normalizer.with_spans(text).text == normalizer(text)
    if pre_tokenizer is not None:
        assert "".join(piece for piece, _ in pre_tokenizer(text))
    if decoder is not None:
        ids = tok.encode("the weather")
        tokens = [tok.vocab.spelling(id) for id in ids]
        assert decoder(tokens) == tok.decode(ids)


def test_spans() -> None:
    normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    assert normalizer.with_spans("né") == ("ne", [(0, 1), (1, 2)])
    assert normalizer.with_spans("né", unit="bytes").spans == [(0, 1), (1, 3)]
    cut = pre_tokenizers.Digits(individual_digits=True)
    assert cut("é12") == [("é", (0, 1)), ("1", (1, 2)), ("2", (2, 3))]
    assert cut("é12", unit="bytes")[1] == ("1", (2, 3))
    calls: list[Any] = [normalizer.with_spans, cut]
    for call in calls:
        with pytest.raises(ArgumentError, match='unit="char": did you mean "characters"'):
            call("a", unit="char")


def test_surrogates_count_as_they_stand() -> None:
    """A pair is the character that it spells, alone it is U+FFFD, and spans are the caller's."""
    text = "a\ud83d\ude42b\udc00"
    assert normalizers.NFC()(text) == "a🙂b\ufffd"
    assert normalizers.NFC().with_spans(text).spans == [(0, 1), (1, 3), (3, 4), (4, 5)]
    pieces = pre_tokenizers.FixedLength(1)(text)
    assert pieces == [("a", (0, 1)), ("🙂", (1, 3)), ("b", (3, 4)), ("\ufffd", (4, 5))]


def test_tokens_of_bytes_are_taken_as_they_are() -> None:
    decoder = decoders.ByteLevel()
    assert decoder([b" caf\xc3", b"\xa9"]) == " café"
    assert decoder(["Ġcaf", "Ã", "©"]) == " café"
    assert decoder([b"\xc3"]) == "\ufffd"
    assert decoder([b"\xc3"], errors="ignore") == ""
    assert decoder([b"\xc3"], errors="backslashreplace") == "\\xc3"
    with pytest.raises(DecodeError):
        decoder([b"\xc3"], errors="strict")
    assert decoders.WordPiece()([b"un", b"##do"]) == "undo"
    assert decoder([]) == ""


def test_a_component_is_a_value_after_a_call() -> None:
    for component in (normalizers.NFC(), decoders.ByteLevel(), pre_tokenizers.Digits()):
        fresh = type(component)()
        if isinstance(component, decoders.Decoder):
            component([b"a"])
            component(["a"])
        else:
            component("a")
        assert component == fresh and hash(component) == hash(fresh)
        assert repr(component) == repr(fresh)
        assert pickle.loads(pickle.dumps(component)) == fresh
        assert copy.deepcopy(component) == fresh
        assert dataclasses.replace(component) == fresh
        assert component.to_json() == fresh.to_json()


def test_long_texts() -> None:
    text = "word " * 200_000
    assert normalizers.Lowercase()(text.upper()) == text
    assert len(pre_tokenizers.WhitespaceSplit()(text)) == 200_000
    assert len(decoders.BPEDecoder()(["word</w>"] * 200_000)) == 1_000_000 - 1


nfc: Any = normalizers.NFC()
digits: Any = pre_tokenizers.Digits()
fuse: Any = decoders.Fuse()
trim: Any = post_processors.ByteLevel()

BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "text": (lambda: nfc(b"a"), ArgumentTypeError, "text must be a str, not bytes"),
    "text of spans": (
        lambda: nfc.with_spans(None),
        ArgumentTypeError,
        "text must be a str",
    ),
    "text to cut": (lambda: digits(3), ArgumentTypeError, "text must be a str"),
    "tokens": (lambda: fuse("abc"), ArgumentTypeError, "an iterable of str or of bytes"),
    "no tokens": (lambda: fuse(None), ArgumentTypeError, "an iterable of str"),
    "mixed tokens": (
        lambda: fuse(["a", b"b"]),
        ArgumentTypeError,
        "all str or all bytes, not bytes and str",
    ),
    "ids": (lambda: fuse([1, 2]), ArgumentTypeError, "all str or all bytes, not int"),
    "surrogate": (lambda: fuse(["\ud800"]), ArgumentError, "tokens\\[0\\] is not valid"),
    "errors": (lambda: fuse([], errors="x"), ArgumentError, "not an error handler"),
    "encoding": (
        lambda: trim([1]),
        ArgumentTypeError,
        "encoding must be an Encoding, not list",
    ),
    "flag": (
        lambda: trim(encoding(), add_special_tokens=1),
        ArgumentTypeError,
        "add_special_tokens must be a bool",
    ),
    "columns": (
        lambda: trim(dataclasses.replace(encoding(), spans=[])),
        ArgumentError,
        "differ in length",
    ),
    "template": (
        lambda: post_processors.TemplateProcessing("$B")(encoding()),
        UnsupportedError,
        "the second text",
    ),
    "map": (
        lambda: normalizers.Precompiled.named("nfck"),
        ArgumentError,
        'did you mean "nfkc"',
    ),
    "no map": (lambda: normalizers.Precompiled.named("identity"), ArgumentError, "has no map"),
}


def encoding() -> jeton.Encoding:
    return jeton.CharTrainer().train("ab").encode_with_spans("ab")


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_refused(name: str) -> None:
    call, error, message = BAD[name]
    with pytest.raises(error, match=message):
        call()


def test_an_expression_that_gives_up_says_so() -> None:
    """Look-behind of any length is not run for ever."""
    cut = pre_tokenizers.Split(Regex(r"(a+)+(?!b)\1c"), "isolated")
    try:
        assert cut("a" * 40)
    except jeton.JetonError as error:
        assert "pattern" in str(error)
