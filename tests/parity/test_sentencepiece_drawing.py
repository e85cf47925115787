"""N-best, sampling and conversion of SentencePiece models, against the libraries."""

from __future__ import annotations

import collections
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import jeton
from conftest import Scale
from jeton.errors import UnsupportedError
from model_bytes import field, piece
from nasty import strings
from test_sentencepiece import OPTIONS, nasty, train

sentencepiece = pytest.importorskip("sentencepiece")

SAMPLES = 4_000


def model_file(pieces: dict[str, float], user_defined: Sequence[str] = ()) -> bytes:
    """A Unigram model of these pieces, that does nothing to text but write spaces as `▁`."""

    rows = [("<unk>", 0.0, 2), *((text, score, 1) for text, score in pieces.items())]
    rows += [(text, 0.0, 4) for text in user_defined]
    trainer = bytes([24, 1])
    normalizer = bytes([24, 0, 32, 0, 40, 1])
    return b"".join(piece(*row) for row in rows) + field(2, trainer) + field(3, normalizer)


def _pair(tmp_path: Path, **options: Any) -> tuple[Any, jeton.Tokenizer]:
    """SentencePiece and jeton on one model; what `options` leaves open is the first choice."""
    first = {name: values[0] for name, values in OPTIONS.items()}
    file = train({**first, **options})
    path = tmp_path / "test.model"
    path.write_bytes(file)
    return sentencepiece.SentencePieceProcessor(model_proto=file), jeton.load(path)


@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("user_defined", [0, 1])
def test_nbest(byte_fallback: bool, user_defined: int, tmp_path: Path) -> None:
    """The best segmentations, in their order."""
    symbols = OPTIONS["user_defined_symbols"][user_defined]
    judge, tokenizer = _pair(tmp_path, byte_fallback=byte_fallback, user_defined_symbols=symbols)
    rng = random.Random(user_defined)
    for text in ["the quick brown fox", *(nasty(rng) for _ in range(60))]:
        if not judge.encode(text):
            continue
        for n in (1, 2, 5, 20, 64):
            assert tokenizer.nbest(text, n) == judge.nbest_encode(text, nbest_size=n), text


@pytest.mark.large
@pytest.mark.parametrize(
    "pieces",
    [
        {"a": -1.0, "aa": -1.9, "b": -3.0, "bb": -5.5},
        {"a": -1.0, "aa": -2.0, "aaa": -3.0, "b": -3.0, "ab": -4.25, "ba": -4.125},
    ],
)
def test_nbest_among_equals(pieces: dict[str, float], tmp_path: Path) -> None:
    """Where thousands are as good as each other: the same order, and the same end of patience."""
    path = tmp_path / "test.model"
    path.write_bytes(model_file(pieces))
    judge = sentencepiece.SentencePieceProcessor(model_file=str(path))
    tokenizer = jeton.load(path)
    rng = random.Random(1)
    for length in (60, 1000, 2000, 4000, 9000):
        for text in ("a" * length, "".join(rng.choices("aab", k=length))):
            for n in (2, 20, 512):
                assert tokenizer.nbest(text, n) == judge.nbest_encode(text, nbest_size=n)


def test_user_defined_pieces_against_others(tmp_path: Path) -> None:
    """A user-defined piece has a bonus that grows with its length; a better piece still wins."""
    path = tmp_path / "test.model"
    for score in (-2.0, -0.91, -0.89, -0.71, -0.69, -0.51, -0.49, 0.5, 3.0):
        for symbol in ("x", "é", "xyz", "ééé"):
            pieces = {"a": -1.0, "m": 1.0, symbol + "a": score, "xyzxyz": score}
            path.write_bytes(model_file(pieces, user_defined=[symbol]))
            judge = sentencepiece.SentencePieceProcessor(model_file=str(path))
            tokenizer = jeton.load(path)
            for text in (symbol + "a", (symbol + "a") * 3, "xyzxyza", "am" + symbol):
                assert tokenizer.encode(text) == judge.encode(text), (score, symbol, text)
                assert tokenizer.nbest(text, 5) == judge.nbest_encode(text, nbest_size=5)


@pytest.mark.parametrize(
    ("model_type", "alpha", "nbest_size"),
    [
        ("unigram", 0.1, None),
        ("unigram", 0.5, None),
        ("unigram", 1.0, None),
        ("unigram", 0.2, 8),
        ("bpe", 0.1, None),
        ("bpe", 0.5, None),
    ],
)
def test_sampling(model_type: str, alpha: float, nbest_size: int | None, tmp_path: Path) -> None:
    """Segmentations are drawn as often; by one seed, the same ones."""
    judge, tokenizer = _pair(tmp_path, model_type=model_type)
    text = "the tests"
    theirs = collections.Counter(
        tuple(judge.encode(text, enable_sampling=True, alpha=alpha, nbest_size=nbest_size or -1))
        for _ in range(SAMPLES)
    )
    ours = collections.Counter(
        tuple(tokenizer.encode(text, alpha=alpha, nbest_size=nbest_size, seed=seed))
        for seed in range(SAMPLES)
    )
    for ids in {*theirs, *ours}:
        # Five standard deviations of the difference of two counts.
        expected = (theirs[ids] + ours[ids]) / 2
        assert abs(theirs[ids] - ours[ids]) <= 5 * (2 * expected) ** 0.5 + 1, (ids, theirs, ours)
    drawn = [tokenizer.encode(text, alpha=alpha, seed=7) for _ in range(3)]
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize("model_type", ["bpe", "char"])
@pytest.mark.parametrize("byte_fallback", [False, True])
def test_conversion(model_type: str, byte_fallback: bool, tmp_path: Path) -> None:
    """To tokenizer.json and back: the ids of SentencePiece and of tokenizers."""
    tokenizers = pytest.importorskip("tokenizers")
    judge, tokenizer = _pair(
        tmp_path,
        model_type=model_type,
        byte_fallback=byte_fallback,
        normalization_rule_name="identity",
    )
    theirs = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    # Text never becomes a control piece.
    theirs.encode_special_tokens = True
    jeton.Tokenizer.from_json(tokenizer.to_json()).save(tmp_path / "again.model")
    again = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
    rng = random.Random(1)
    for text in ["", " ", "▁", *(nasty(rng) for _ in range(300))]:
        ids = judge.encode(text)
        assert theirs.encode(text, add_special_tokens=False).ids == ids, text
        assert again.encode(text) == ids, text


@pytest.mark.large
def test_conversion_of_llama_2(vocabularies: Path, documents: list[str], scale: Scale) -> None:
    """Llama 2's file as a tokenizer.json, on real text and generated strings."""
    tokenizers = pytest.importorskip("tokenizers")
    path = vocabularies / "llama2_sentencepiece_bpe.model"
    judge = sentencepiece.SentencePieceProcessor(model_file=str(path))
    theirs = tokenizers.Tokenizer.from_str(jeton.load(path).to_json())
    theirs.encode_special_tokens = True
    for text in [*documents, *strings(scale.strings, seed=8)]:
        assert theirs.encode(text, add_special_tokens=False).ids == judge.encode(text), text


def test_models_that_cannot_be_converted_are_refused(tmp_path: Path) -> None:
    """The error names what cannot be kept."""
    _, tokenizer = _pair(tmp_path, model_type="bpe")
    with pytest.raises(UnsupportedError, match="the character map"):
        tokenizer.to_json()
    _, tokenizer = _pair(tmp_path, normalization_rule_name="identity")
    with pytest.raises(UnsupportedError, match="this Unigram model"):
        tokenizer.save(tmp_path / "tokenizer.json")


def test_stages(tmp_path: Path) -> None:
    """What is around the model can be replaced."""
    _, tokenizer = _pair(tmp_path)
    assert tokenizer.replace(normalizer=tokenizer.stages.normalizer) == tokenizer
    with_more = tokenizer.with_added_tokens(["<|end|>"])
    assert with_more.special_tokens.keys() - tokenizer.special_tokens.keys() == {"<|end|>"}
    assert with_more.encode("the test") == tokenizer.encode("the test")


def test_models_that_cannot_be_sampled_are_refused(tmp_path: Path) -> None:
    """Bad arguments and models that know of one segmentation only."""
    _, tokenizer = _pair(tmp_path)
    with pytest.raises(ValueError, match="n must lie between 1 and 512, not be 0"):
        tokenizer.nbest("a", 0)
    with pytest.raises(ValueError, match="nothing is drawn without alpha"):
        tokenizer.encode("a", nbest_size=2)
    with pytest.raises(ValueError, match="alpha must be at least 0"):
        tokenizer.encode("a", alpha=-1)
    _, tokenizer = _pair(tmp_path, model_type="word")
    with pytest.raises(UnsupportedError, match="only one segmentation"):
        tokenizer.encode("a", alpha=0.5)
    with pytest.raises(UnsupportedError, match="alpha"):
        jeton.CharTrainer().train("hello").encode("hole", alpha=0.5)
