"""Tokens of an edited text: those of the whole text, found by encoding what is near the edit."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

import jeton
from jeton import samples
from jeton.components import normalizers, pre_tokenizers
from jeton.play.documents import TabTexts
from jeton.play.shelf import Card, Shelf
from jeton.play.tokens import TokenColumns

TEXTS = list(samples.read_all().values())
BOOKS = "\n".join(TEXTS)
NASTY = [
    *[" ", "\n", "\r\n", "\r", "\t", "  ", "\n\n", "\u00a0", "\u2028", "\0", "don't ", "12345 "],
    *["é", "e", "\u0301", "\u0323", "ᄀ", "ᅡ", "ᆨ", "東京", "ﬁ", "▁", "1", "'ll", ",", "a" * 400],
    *["🙂", "👍🏽", "👩\u200d👩\u200d👧", "\ud83d", "\ude00", "x" * 9000],
    *["<|e|>", "<|e", "|>", "<", "|", ">"],
]
SPECIAL: Any = {"special_tokens": ["<|e|>"]}
BYTES = jeton.BPETrainer(600, pattern="gpt4", **SPECIAL).train(TEXTS)

HAVE_SPLIT_POINTS = {
    "bytes, gpt4": BYTES,
    "bytes, gpt2": jeton.BPETrainer(600, pattern="gpt2", **SPECIAL).train(TEXTS),
    "bytes, NFC": BYTES.replace(normalizer=normalizers.NFC()),
    "white space": jeton.BPETrainer(600, pattern="whitespace", **SPECIAL).train(TEXTS),
    "SentencePiece BPE": jeton.BPETrainer(
        1_500, alphabet="sentencepiece", byte_fallback=True
    ).train(TEXTS),
    "WordPiece": jeton.WordPieceTrainer(1_500, **SPECIAL).train(TEXTS),
    "Unigram": jeton.UnigramTrainer(1_200, style="huggingface").train(TEXTS),
    "characters": jeton.CharTrainer(unk_token="<unk>", **SPECIAL).train(TEXTS),
}
HAVE_NONE = {
    "SentencePiece Unigram": jeton.UnigramTrainer(1_200).train(TEXTS),
    "bytes, one piece": BYTES.replace(pre_tokenizer=pre_tokenizers.ByteLevel(use_regex=False)),
}
TOKENIZERS = HAVE_SPLIT_POINTS | HAVE_NONE


def card_of(tok: jeton.Tokenizer) -> Card:
    (card,) = Shelf({"it": tok})
    return card


def columns(tokens: TokenColumns) -> list[Any]:
    return [it.tolist() for it in (tokens.ids, tokens.starts, tokens.ends, tokens.flags)]


@pytest.mark.parametrize("special", ["ignore", "allow"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_tokens_after_edits_are_those_of_the_text(
    name: str, special: Any, pytestconfig: pytest.Config
) -> None:
    edits = 60 if pytestconfig.getoption("size") == "large" else 20
    numbers = random.Random(name)
    card = card_of(TOKENIZERS[name])
    documents = TabTexts()
    start = numbers.randrange(len(BOOKS) - 30_000)
    document = documents.whole("a", 0, BOOKS[start : start + 30_000])
    for version in range(1, edits + 1):
        place = numbers.choice([0, len(document), numbers.randrange(len(document) + 1)])
        removed = min(numbers.choice([0, 0, 1, 2, 7, 300, 5_000]), len(document) - place)
        inserted = "".join(numbers.choices(NASTY, k=numbers.choice([0, 1, 1, 3, 30])))
        if numbers.random() < 0.3:
            inserted = BOOKS[place : place + numbers.randrange(3_000)]
        after = documents.edited("a", version, version - 1, place, removed, inserted)
        assert after is not None
        document = after
        if numbers.random() < 0.3:
            continue  # The next tokens are those after several edits.
        text = document.text
        assert (document.characters, document.utf8) == (len(text), len(text.encode()))
        found = document.tokens(card, special)
        assert columns(found) == columns(TokenColumns.of(text, card, special)), (
            version,
            place,
            inserted,
        )


@pytest.mark.parametrize("name", HAVE_SPLIT_POINTS)
def test_text_far_from_an_edit_is_not_encoded_again(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = card_of(TOKENIZERS[name])
    documents = TabTexts()
    text = BOOKS * 4
    documents.whole("a", 0, text).tokens(card, "ignore")
    sizes: list[int] = []
    encode = TokenColumns.of

    def sized(text: str, card: Card, special: Any) -> TokenColumns:
        sizes.append(len(text))
        return encode(text, card, special)

    monkeypatch.setattr(TokenColumns, "of", sized)
    for version, place in enumerate([0, 5, 100_000, len(text) // 2, len(text)], 1):
        document = documents.edited("a", version, version - 1, place, 0, "x y")
        assert document is not None
        document.tokens(card, "ignore")
    assert max(sizes) < 40_000 < len(text)


def test_an_edit_can_make_and_break_a_character() -> None:
    """A browser edits UTF-16; half a character is U+FFFD."""
    card = card_of(BYTES)
    documents = TabTexts()
    text = "the weather " * 2000
    documents.whole("a", 0, f"{text}🙂{text}").tokens(card, "ignore")
    edits = [(len(text), 1, ""), (len(text), 0, "\ud83d"), (len(text) + 1, 1, "\ude00")]
    seen = []
    for version, (start, removed, inserted) in enumerate(edits, 1):
        document = documents.edited("a", version, version - 1, start, removed, inserted)
        assert document is not None
        found = document.tokens(card, "ignore")
        assert columns(found) == columns(TokenColumns.of(document.text, card, "ignore"))
        assert document.characters == len(document.text)
        seen.append(document.units.text(len(text), len(text) + 2))
    assert seen == ["\ufffdt", "🙂", "😀"]


def test_a_number_of_units_before_zero_moves_tokens_back() -> None:
    tokens = TokenColumns.of("the weather", card_of(BYTES), "ignore")
    back = tokens.moved(5).moved(-5)
    assert columns(back) == columns(tokens) and back.starts.dtype == np.uint32
