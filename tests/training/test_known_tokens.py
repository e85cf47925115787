"""`jeton.training.known_tokens`: tokens that every trainer takes before training."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import jeton
from jeton import AddedToken
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingWarning

pytestmark = pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")

TEXTS = ["walking and talking in New York, New York: walking on", "talk of the walk"] * 9

TRAINERS: dict[str, Callable[..., Any]] = {
    "bytes": lambda **known: jeton.BPETrainer(300, **known),
    "bytes by value": lambda **known: jeton.BPETrainer(300, byte_order="value", **known),
    "characters": lambda **known: jeton.BPETrainer(
        50, alphabet="characters", pattern="gpt2", unk_token="<unk>", **known
    ),
    "SentencePiece's BPE": lambda **known: jeton.BPETrainer(
        40, alphabet="sentencepiece", hard_vocab_limit=False, **known
    ),
    "Unigram": lambda **known: jeton.UnigramTrainer(40, hard_vocab_limit=False, **known),
    "Unigram for tokenizers": lambda **known: jeton.UnigramTrainer(
        40, style="huggingface", hard_vocab_limit=False, **known
    ),
    "WordPiece": lambda **known: jeton.WordPieceTrainer(60, **known),
    "words": lambda **known: jeton.WordLevelTrainer(20, **known),
    "characters alone": lambda **known: jeton.CharTrainer(**known),
}


@pytest.fixture(params=TRAINERS.values(), ids=list(TRAINERS))
def trainer(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_plain_token_is_found_in_text_and_no_other_token_contains_it(trainer: Any) -> None:
    tok = trainer(special_tokens=["<a>"], user_defined_symbols=["~ing", "New York"]).train(
        [text.replace("ing", "~ing") for text in TEXTS]
    )
    marked = isinstance(tok.stages.model, jeton.components.models.SentencePiece)
    spellings = {"~ing": "~ing", "New York": "New▁York" if marked else "New York"}
    ids = {text: tok.vocab[spelling] for text, spelling in spellings.items()}
    # WordPiece's normalizer lowers plain tokens too, as tokenizers does.
    spelled = {id: tok.decode([id]).strip().lower() for id in ids.values()}
    assert sorted(spelled.values()) == ["new york", "~ing"]
    assert not set(ids.values()) & set(tok.special_tokens.values())
    found = tok.encode("talk~ing in New York")
    assert [id for id in found if id in spelled] == [ids["~ing"], ids["New York"]]
    assert "<a>" in tok.special_tokens
    others = [tok.vocab.spelling(id) for id in range(tok.vocab_size) if id not in spelled]
    assert not any(b"~i" in other or b"New" in other for other in others)


def test_added_tokens_may_be_named_in_special_tokens(trainer: Any) -> None:
    texts = [text.replace("ing", "~ing") for text in TEXTS]
    named = trainer(special_tokens=["<a>", AddedToken("~ing")]).train(texts)
    assert named == trainer(special_tokens=["<a>"], user_defined_symbols=["~ing"]).train(texts)
    with_flag = AddedToken("<a>", special=True)
    assert trainer(special_tokens=[with_flag]).train(TEXTS) == trainer(
        special_tokens=["<a>"]
    ).train(TEXTS)


@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        ({"special_tokens": ["a", AddedToken("a")]}, ArgumentError, "twice"),
        ({"special_tokens": ["<x>"], "user_defined_symbols": ["<x>"]}, ArgumentError, "twice"),
        ({"user_defined_symbols": ["x", ""]}, ArgumentError, "user_defined_symbols.*empty"),
        ({"special_tokens": [AddedToken("a", 7)]}, ArgumentError, "leave out id=7"),
        (
            {"user_defined_symbols": [AddedToken("a", special=True)]},
            ArgumentError,
            "name it in special_tokens",
        ),
        ({"user_defined_symbols": "ab"}, ArgumentTypeError, "must be an iterable of str"),
        ({"user_defined_symbols": {"a", "b"}}, ArgumentTypeError, "has no order"),
        ({"special_tokens": [b"a"]}, ArgumentTypeError, "each of special_tokens"),
    ],
)
def test_known_tokens_that_make_no_sense(
    trainer: Any, known: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        trainer(**known)


def test_flags_are_kept_where_the_format_holds_them() -> None:
    single = AddedToken("York", single_word=True)
    tok = jeton.BPETrainer(300, special_tokens=[single]).train(TEXTS)
    assert tok.vocab["York"] == 0
    assert 0 in tok.encode("New York") and 0 not in tok.encode("Yorkshire")
    with pytest.raises(ArgumentError, match="single_word, which a SentencePiece model cannot"):
        jeton.UnigramTrainer(30, special_tokens=[single])


def test_counts_remember_plain_tokens() -> None:
    trainer = jeton.BPETrainer(300, user_defined_symbols=["~ing"])
    counts = trainer.count(TEXTS)
    assert trainer.train(counts) == trainer.train(TEXTS)
    with pytest.raises(ArgumentError):
        jeton.BPETrainer(300).train(counts)


def test_plain_tokens_come_after_those_of_the_start() -> None:
    start = jeton.BPETrainer(280, special_tokens=["<a>"]).train(TEXTS)
    tok = jeton.BPETrainer(
        new_tokens=5, start_from=start, user_defined_symbols=["New York"], special_tokens=["<b>"]
    ).train(TEXTS)
    assert [token.content for token in tok.stages.added_tokens] == ["<a>", "<b>", "New York"]
    assert tok.special_tokens == {"<a>": 0, "<b>": 280}
    assert tok.vocab["New York"] == 281 and tok.encode("New York") == [281]


def test_a_special_token_in_place_of_a_byte_is_said() -> None:
    with pytest.warns(TrainingWarning, match=r"special_tokens has '\|', .* cannot be encoded"):
        trainer = jeton.BPETrainer(300, special_tokens=["<end>", "|", " ", "é", "ab"])
    with pytest.warns(TrainingWarning, match="was not reached"):
        tok = trainer.train(["a b é ab"])
    assert tok.decode(tok.encode("a b é ab")) == "a b é ab"
    with pytest.raises(jeton.errors.EncodeError, match="the only token for"):
        tok.encode("a|b")
