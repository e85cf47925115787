"""`tok.gotchas`: each name is found where it is, and nowhere else."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest

import jeton
import jeton.encoding.gotchas
from jeton.components import normalizers
from jeton.errors import ArgumentError, ArgumentTypeError
from kinds import byte_level, characters, ranks, unigram, word_piece

TOK = ranks()
KINDS = [byte_level(), ranks(), word_piece(), unigram(), characters()]
ZWJ, ZWSP = "\u200d", "\u200b"

FOUND: list[tuple[str, str, str, str | None]] = [
    # text, name, what stands there, the word as it could be
    ("the theory", "leading-space", "the", " the"),
    (" the theory", "leading-space", " the", "the"),
    ("the the ", "trailing-space", " ", " the"),
    ("the the \t", "trailing-space", " \t", " the"),
    ("a THE b", "case", "THE", " the"),
    ("a <|endoftext|> b", "special-token", "<|endoftext|>", "<|endoftext|>"),
    ("a <|im_end|> b", "foreign-control", "<|im_end|>", None),
    ("[INST] a", "foreign-control", "[INST]", None),
    ("a <｜User｜> b", "foreign-control", "<｜User｜>", None),
    ("a p\u0430ypal b", "look-alike", "p\u0430ypal", " paypal"),
    ("the \u0441\u043e\u0440 is", "look-alike", "\u0441\u043e\u0440", " cop"),
    ("\u043c\u043e\u0441\u043a\u0432a", "look-alike", "\u043c\u043e\u0441\u043a\u0432a",
     "\u043c\u043e\u0441\u043a\u0432\u0430"),
    ("a \u0391lpha b", "look-alike", "\u0391lpha", " Alpha"),
    ("a ｆｕｌｌ b", "full-width", "ｆｕｌｌ", " full"),
    ("a 𝗯𝗼𝗹𝗱 b", "full-width", "𝗯𝗼𝗹𝗱", " bold"),
    ("a ＜|x|＞ b", "full-width", "＜", " <|x|＞"),
    ("a ﬁne b", "ligature", "ﬁ", " fine"),
    ("a ﬆep b", "ligature", "ﬆ", " step"),
    ("a “b” c", "typographic", "“", ' "b”'),
    ("a – b", "typographic", "–", " -"),
    ("a…", "typographic", "…", "a..."),
    ("a\u00a0b", "odd-space", "\u00a0", "a b"),
    ("a\u3000b", "odd-space", "\u3000", "a b"),
    (f"a{ZWSP}b", "invisible", ZWSP, "ab"),
    ("\ufeffab", "invisible", "\ufeff", "ab"),
    ("a\u00adb", "invisible", "\u00ad", "ab"),
    ("a\u2060b", "invisible", "\u2060", "ab"),
    ("\u3164", "invisible", "\u3164", ""),
    ("a\u202eb", "bidi", "\u202e", "ab"),
    ("a\u2066\u2067b", "bidi", "\u2066\u2067", "ab"),
    ("a\U000e0068\U000e0069", "hidden-text", "\U000e0068\U000e0069", "a"),
    ("❤\ufe0f", "variation-selector", "\ufe0f", "❤"),
    ("a\x00b", "control-character", "\x00", "ab"),
    ("a\x1b[31m", "control-character", "\x1b", "a[31m"),
    ("cafe\u0301", "unicode-form", "cafe\u0301", "café"),
    ("a\r\nb", "line-end", "\r\n", "a\nb"),
    ("a\ufffdb", "replacement-character", "\ufffd", None),
    ("a\ud800b", "surrogate", "\ud800", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "here_", "instead"), FOUND)
def test_each_name(text: str, name: str, here_: str, instead: str | None) -> None:
    gotcha = TOK.gotchas(text).named(name)[0]
    start, end = gotcha.span
    assert (gotcha.text, text[start:end]) == (here_, here_)
    assert gotcha.instead == instead
    assert gotcha.ids == tuple(TOK.encode(gotcha.spelling))
    if instead is not None and name != "special-token":
        assert gotcha.instead_ids == tuple(TOK.encode(instead))
    assert gotcha.what and gotcha.effect and gotcha.do


def test_every_name_is_tried() -> None:
    elsewhere = {"digits", "normalized", "round-trip", "unknown", "no-token"}
    assert {name for _, name, _, _ in FOUND} | elsewhere == set(jeton.encoding.gotchas.NAMES)


PLAIN = [
    "",
    "the",
    "Привет, мир",
    "Это сор, а то",
    "Ελλάδα και Κόσμος",
    "東京の天気，は！",
    "x = 1\n\ty = 22\n",
    "the iPhone of 10 or 12",
]


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_has_none(text: str) -> None:
    usual = {"leading-space", "case", "digits"}
    assert {gotcha.name for gotcha in TOK.gotchas(text)} <= usual


def test_numbers_that_are_cut_oddly() -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [b"12", b"123", b"34", b"01"]
    some = {token: rank for rank, token in enumerate(tokens)}
    tok = jeton.Tokenizer.from_ranks(some, pattern="gpt4")
    found = tok.gotchas("a 1234567, 0123, 12, 1, 9876, 123, 12345").named("digits")
    assert [(it.text, it.instead) for it in found] == [
        ("1234567", " 1,234,567,"),
        ("0123", " 0 1 2 3,"),
        ("12345", " 12,345"),
    ]
    assert TOK.gotchas("a 1234567 b").named("digits") == []  # each digit is a token


def test_numbers_that_one_token_holds_with_the_space_before_them() -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [b" 1", b" 12", b" 12345", b"23", b"45"]
    some = {token: rank for rank, token in enumerate(tokens)}
    tok = jeton.Tokenizer.from_ranks(some, pattern="gpt2")
    assert tok.encode(" 12345") == [258]
    assert tok.gotchas("12, 12345, 1").named("digits") == []
    assert [it.text for it in tok.gotchas("a 123456").named("digits")] == ["123456"]


def test_losses_by_normalization_and_decoding_are_found() -> None:
    tok = word_piece().replace(normalizer=normalizers.BertNormalizer())
    found = tok.gotchas("The wéather \u0430nd")
    assert [gotcha.text for gotcha in found.named("normalized")] == ["The", "wéather"]
    assert found.named("normalized")[1].instead == "weather"
    assert "cannot distinguish them" in found.named("normalized")[0].effect
    assert found.named("round-trip")
    assert [gotcha.text for gotcha in found.named("unknown")] == ["\u0430nd"]
    assert "[UNK]" in found.named("unknown")[0].what
    assert TOK.gotchas("The wéather").named("round-trip") == []


def test_text_that_cannot_be_encoded_is_found() -> None:
    tok = jeton.CharTrainer().train("the weather")
    found = tok.gotchas("the X weather X Y ")
    assert [(it.text, it.times, it.span) for it in found.named("no-token")] == [
        ("X", 2, (4, 5)), ("Y", 1, (16, 17)),
    ]  # fmt: skip
    assert found.named("no-token")[0].ids == ()


def test_special_tokens() -> None:
    gotcha = TOK.gotchas("a <|endoftext|>").named("special-token")[0]
    assert gotcha.ids == tuple(TOK.encode("<|endoftext|>")) and gotcha.instead_ids == (300,)
    added = TOK.with_added_tokens([jeton.AddedToken("<think>"), jeton.AddedToken("   ")])
    [found] = added.gotchas("a <think>   b").named("special-token")
    assert found.text == "<think>" and "matched in any text" in found.what
    assert added.gotchas("a <think> b").named("foreign-control") == []


def test_advice_knows_where_it_is() -> None:
    def told(text: str, name: str = "invisible") -> str:
        return TOK.gotchas(text).named(name)[0].do

    assert "joins several emoji" in told(f"👩{ZWJ}💻")
    assert "form of letters" in told("\u0646\u0645\u06cc\u200c\u062e")
    assert "utf-8-sig" in told("\ufeffab")
    assert "Delete it" in told(f"a{ZWSP}b")
    assert "spell 'hi'" in TOK.gotchas("a\U000e0068\U000e0069").named("hidden-text")[0].what
    assert "Keep it" in told("❤\ufe0f", "variation-selector")


def test_findings_are_counted_and_limited() -> None:
    text = "".join(f"a{chr(number)}b " for number in range(0x2000, 0x200B)) * 3
    found = TOK.gotchas(text, limit=4)
    assert len(found.named("odd-space")) == 4 and found.left_out == {"odd-space": 7}
    assert {gotcha.times for gotcha in found.named("odd-space")} == {3}
    everything = TOK.gotchas(text)
    assert everything.left_out == {} and everything == TOK.gotchas(text)
    assert hash(everything) == hash(TOK.gotchas(text)) and everything != found
    assert [gotcha.span for gotcha in everything] == sorted(it.span for it in everything)
    assert everything[0:2] == tuple(everything)[:2]
    assert "odd-space" in repr(found) and "none" in repr(TOK.gotchas(""))


SIGNS = [
    *"aB1 9\t\n\r.<|>[]é", "e\u0301", "\u0430", "\u043c", "\u03bf", ZWSP, ZWJ, "\u202e", "\ufe0f",
    "\U000e0041", "\ud800", "\udc00", "\ufffd", "\x00", "\ufeff", "“", "\u00a0", "ｆ", "１", "東",
    "🙂", f"👩{ZWJ}💻", "ﬁ", "½", "İ", "ß", "\u1100\u1161", "<|end|>", "<s>", "[INST]", "1234567",
    "HELLO", "the", "\u0345", "\u3164",
]  # fmt: skip


@pytest.mark.large
@pytest.mark.parametrize("number", range(len(KINDS)))
def test_gotchas_of_random_texts_for_all_kinds(number: int) -> None:
    tok, draw = KINDS[number], random.Random(number)
    from rich.console import Console

    for _ in range(100):
        text = "".join(draw.choices(SIGNS, k=draw.randrange(30)))
        found = tok.gotchas(text, limit=draw.choice([1, 3, 20]))
        for gotcha in found:
            start, end = gotcha.span
            assert text[start:end] == gotcha.text and gotcha.times >= 1
            assert gotcha.name in jeton.encoding.gotchas.NAMES
        console = Console(file=io.StringIO(), width=60)
        console.print(found)


@pytest.mark.parametrize(
    "sign", ["a", "А", "a\u0430", "“", "e\u0301", " ", "12 ", "<|", ZWSP, "1", "AB cd ", "é", "["]
)
def test_long_text_of_one_kind_ends(sign: str) -> None:
    assert len(TOK.gotchas(sign * 30_000)) < 30  # ways that are quadratic take minutes


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"text": 3}, ArgumentTypeError, "text must be a str"),
    ({"text": b"a"}, ArgumentTypeError, "text must be a str"),
    ({"text": "a", "limit": 0}, ArgumentError, "limit must be at least 1"),
    ({"text": "a", "limit": "b"}, ArgumentTypeError, "limit must be an int"),
]


@pytest.mark.parametrize(("arguments", "error", "says"), BAD)
def test_bad_input(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        TOK.gotchas(**arguments)
