"""Streams: what they give, put together, is what one call gives for everything."""

from __future__ import annotations

import copy
import io
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jeton
from jeton import samples
from jeton.components import normalizers
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    DecodeError,
    UnknownTokenError,
    UnsupportedError,
)
from kinds import KINDS, LLAMA, byte_level, each_kind, ranks
from shared_data import VOCABULARIES, needed

FULL = os.environ.get("JETON_PARITY") == "full"
ROUNDS = 100_000 if FULL else 600
NAMES = [
    "r50k_base.tiktoken",
    "llama3_ranks.model",
    "llama2_sentencepiece_bpe.model",
    "t5_style_unigram.model",
    "bert_uncased_vocab.txt",
    "neox",
]
TEXT = [
    *("the", " weather", "  ", "\n", " ", "é", "🙂", "👩‍👩‍👧", "東京", "▁", "<unk>", "<|end|>"),
    *("x = 1", "\u0301", "ﬁ", "?!", " .", "n't", "[SEP]", "\0", "Ω"),
]
#: What Unicode's forms join, move and take apart, and what an added token may be.
IN_FORMS = [
    *("e", "the", " the", "\nthe", " ", "\n", "   ", " " * 9, "é", "\u0301", "\u0323", "\u0338"),
    *("ᄀ", "ᅡ", "ᆨ", "가", "각", "ﬁ", "Å", "\u212b", ">", "1", "<|end|>", "<tool>", "\u00a0", "東"),
]
MARKED = ["llama2_sentencepiece_bpe.model", "t5_style_unigram.model"]
FORMS = {
    f"{form.__name__} {pattern}": (form, pattern)
    for form in (normalizers.NFC, normalizers.NFD, normalizers.NFKC, normalizers.NFKD)
    for pattern in ("gpt2", "qwen2")
}


def published(name: str) -> jeton.Tokenizer:
    path = needed(VOCABULARIES / name)
    return jeton.load(path)


@pytest.fixture(params=[*KINDS, *NAMES])
def any_tok(request: pytest.FixtureRequest) -> jeton.Tokenizer:
    name = request.param
    return KINDS[name]() if name in KINDS else published(name)


def some_text(numbers: random.Random) -> str:
    return "".join(numbers.choices(TEXT, k=numbers.randint(0, 12)))


def cut(text: str, numbers: random.Random) -> Iterator[str]:
    """A text in parts of random lengths."""
    at = 0
    while at < len(text):
        length = numbers.randint(0, 9)
        yield text[at : at + length]
        at += length


def test_text_of_any_ids(any_tok: jeton.Tokenizer) -> None:
    numbers = random.Random(1)
    known = list(any_tok.vocab.values())
    for _ in range(ROUNDS // len([*KINDS, *NAMES])):
        ids = any_tok.encode(some_text(numbers), special="allow")
        # Ids that no text gives: parts of characters, lone bytes.
        for _ in range(numbers.randint(0, 3)):
            ids.insert(numbers.randint(0, len(ids)), numbers.choice(known))
        skip = numbers.random() < 0.5
        for errors in ("replace", "ignore"):
            expected = any_tok.decode(ids, skip_special_tokens=skip, errors=errors)
            stream = any_tok.decode_stream(skip_special_tokens=skip, errors=errors)
            parts = [stream.push(id) for id in ids]
            assert "".join(parts) + stream.finish() == expected, (ids, errors)
            # Nothing that was given is ever taken back, and nothing is sure that is not there.
            assert expected.startswith("".join(parts))


@each_kind
def test_bytes_that_are_no_text_are_an_error_where_decoding_says_so(tok: jeton.Tokenizer) -> None:
    numbers = random.Random(2)
    known = list(tok.vocab.values())
    for _ in range(300):
        ids = numbers.choices(known, k=4)
        stream = tok.decode_stream(errors="strict")
        try:
            expected = tok.decode(ids, errors="strict")
        except DecodeError:
            with pytest.raises(DecodeError, match="can't decode byte"):
                stream.push(ids)
                stream.finish()
        else:
            assert stream.push(ids) + stream.finish() == expected


def test_text_comes_as_soon_as_it_is_sure() -> None:
    stream = ranks().decode_stream()
    assert [stream.push(byte) for byte in "né🙂".encode()] == ["n", "", "é", "", "", "", "🙂"]
    llama = published("llama2_sentencepiece_bpe.model")
    model = llama.decode_stream()
    parts = [model.push(id) for id in llama.encode("a 🦙b")]
    assert parts[0] == "a" and "🦙" in parts and parts[-1] == "b"


def test_bytes_behind_a_stop_are_no_error() -> None:
    """A token may end a stop and begin a character that never comes."""
    alphabet = {bytes([byte]): byte for byte in range(256)}
    tok = jeton.Tokenizer.from_ranks({**alphabet, b"END\xe2": 256, b"END\xff": 257}, pattern="gpt2")
    for last in (256, 257):
        stream = tok.decode_stream(errors="strict", stop="END")
        assert (stream.push([65, last]), stream.stopped, stream.finish()) == ("A", "END", "")
        stream = tok.decode_stream(errors="strict", stop="END")
        assert stream.push([65, last, 0xFF]) + stream.finish() == "A"
        stream = tok.decode_stream(errors="strict", stop="END.")
        with pytest.raises(DecodeError):
            stream.push([65, last])
            stream.finish()


def test_stops_across_tokens() -> None:
    tok = ranks()
    text = "the theory\n\nHuman: then"
    stream = tok.decode_stream(stop=["\n\nHuman:", "\n\nAssistant:"])
    parts = [stream.push(id) for id in tok.encode(text)] + [stream.finish()]
    assert "".join(parts) == "the theory"
    assert stream.stopped == "\n\nHuman:"
    stream = tok.decode_stream(stop="\n\nX")
    assert "".join(stream.push(id) for id in tok.encode("a\n\n")) == "a"
    assert (stream.finish(), stream.stopped) == ("\n\n", None)
    # The first to be complete ends the text, wherever another one began.
    stream = tok.decode_stream(stop=["heory", "eo"])
    assert (stream.push(tok.encode("theory")), stream.stopped) == ("th", "eo")


def test_stop_ids_are_tokens_and_no_spellings() -> None:
    tok = ranks()
    end = tok.special_tokens["<|endoftext|>"]
    quoted = tok.encode("say <|endoftext|>, then")
    # A stop that is a text ends an answer that only quotes the token.
    stream = tok.decode_stream(stop="<|endoftext|>")
    assert stream.push(quoted) == "say "
    for skips in (False, True):
        stream = tok.decode_stream(stop_ids=[end], skip_special_tokens=skips)
        assert stream.push(quoted) == "say <|endoftext|>, then" and stream.stopped is None
        assert stream.push([*tok.encode(" the"), end, *tok.encode("weather")]) == " the"
        stopped: tuple[str | None, int | None] = (stream.stopped, stream.stopped_id)
        assert stopped == ("<|endoftext|>", end)
        assert stream.kept_tokens == len(quoted) + len(tok.encode(" the"))
        assert (stream.push(65), stream.finish()) == ("", "")
    # What was kept back is given: nothing follows.
    stream = tok.decode_stream(stop_ids=[end], stop="the end")
    assert [stream.push(tok.encode("the e")), stream.push(end)] == ["", "the e"]
    assert (stream.stopped_id, stream.kept_tokens) == (end, len(tok.encode("the e")))
    # Of half a character, what `decode` makes of it.
    stream = tok.decode_stream(stop_ids=[end])
    assert stream.push([0xC3, end]) == "\ufffd"


def test_the_id_0_is_a_stop_as_any_other() -> None:
    tok = byte_level()
    assert tok.special_tokens["<|end|>"] == 0
    stream = tok.decode_stream(stop_ids=np.array([0]))
    assert stream.push([*tok.encode("the"), 0]) == "the"
    assert (stream.stopped, stream.stopped_id) == ("<|end|>", 0)


@pytest.mark.parametrize(
    ("text", "stop", "kept"),
    [
        ("the theory\n\nHuman: then", "\n\nHuman:", "the theory"),
        # The token that holds the beginning of a stop holds text, too.
        ("weather", "ther", "wea"),
        ("the", "the", ""),
        ("né🙂!", "!", "né🙂"),
        ("né🙂!", "🙂", "né"),
        ("🙂 the", "the", "🙂 "),
    ],
)
@pytest.mark.parametrize("make", [byte_level, ranks])
def test_kept_tokens_are_the_fewest_that_give_the_text(
    make: Callable[[], jeton.Tokenizer], text: str, stop: str, kept: str
) -> None:
    tok = make()
    ids = tok.encode(text)
    for step in (1, 3, len(ids)):
        stream = tok.decode_stream(stop=stop)
        given = "".join(stream.push(ids[at : at + step]) for at in range(0, len(ids), step))
        assert (given + stream.finish(), stream.stopped) == (kept, stop)
        count = stream.kept_tokens
        assert tok.decode(ids[:count]).startswith(kept)
        assert count == 0 or not tok.decode(ids[: count - 1]).startswith(kept)
    stream = tok.decode_stream(stop="nowhere")
    stream.push(ids)
    assert stream.kept_tokens == len(ids)


@pytest.mark.parametrize("kind", [*KINDS, "llama2_sentencepiece_bpe.model"])
def test_kept_tokens_do_not_depend_on_how_long_the_stream_is(kind: str) -> None:
    tok = KINDS[kind]() if kind in KINDS else jeton.load(needed(VOCABULARIES / kind))
    rng = random.Random(kind)
    for round in range(12):
        ids = [rng.randrange(tok.vocab.max_id + 1) for _ in range(rng.randint(1, 400))]
        ids = [id for id in ids if id in tok.vocab.values()]
        skips = bool(round % 2)
        whole = tok.decode(ids, skip_special_tokens=skips)
        at = rng.randrange(len(whole) or 1)
        stop = whole[at : at + rng.randint(1, 5)] or "x"
        stream = tok.decode_stream(
            stop=stop, skip_special_tokens=skips, min_tokens=rng.choice([0, 200])
        )
        kept = "".join(stream.push(id) for id in ids) + stream.finish()
        assert whole.startswith(kept)
        if stream.stopped is None:
            assert stream.kept_tokens == len(ids)
            continue
        gives = (
            tok.decode(ids[:count], skip_special_tokens=skips).startswith(kept)
            for count in range(len(ids) + 1)
        )
        assert stream.kept_tokens == next(count for count, given in enumerate(gives) if given)


def test_no_stop_is_looked_for_among_the_first_tokens() -> None:
    tok = ranks()
    end = tok.special_tokens["<|endoftext|>"]
    ids = [end, *tok.encode("END END")]
    stream = tok.decode_stream(stop="END", stop_ids=[end], min_tokens=4)
    assert stream.push(ids) == "<|endoftext|>END "
    assert (stream.stopped, stream.kept_tokens) == ("END", 5)
    stream = tok.decode_stream(stop_ids=[end], min_tokens=1)
    assert stream.push([end, 65, end]) == "<|endoftext|>A" and stream.stopped_id == end
    for wrong, error in ((-1, ArgumentError), ("1", TypeError), (True, TypeError)):
        with pytest.raises(error, match="min_tokens"):
            tok.decode_stream(min_tokens=wrong)  # type: ignore[arg-type]


def test_stops_that_never_come_are_refused() -> None:
    tok = ranks()
    end = tok.special_tokens["<|endoftext|>"]
    for stop in ("<|endoftext|>", "\n<|endoftext|>"):
        with pytest.raises(ArgumentError, match=rf"leaves out.*stop_ids=\[{end}\]"):
            tok.decode_stream(stop=stop, skip_special_tokens=True)
        with pytest.raises(ArgumentError, match="leaves out"):
            tok.decode_stream(stop=stop, skip_special_tokens=["<|endoftext|>"])
        tok.decode_stream(stop=stop)
        tok.decode_stream(stop=stop, skip_special_tokens=["<|pad|>"])
    with pytest.raises(UnknownTokenError, match="stop_ids holds 299"):
        tok.decode_stream(stop_ids=[end, 299])
    with pytest.raises(ArgumentTypeError, match="stop_ids"):
        tok.decode_stream(stop_ids="END")  # type: ignore[arg-type]


@pytest.mark.parametrize("special", ["allow", {"<|endoftext|>"}])
def test_a_stream_of_ids_finds_the_special_tokens_of_the_text(special: Any) -> None:
    tok = ranks()
    text = ("the weather there<|endoftext|> then <|pad|>, the\n" * 3000) + "<|endoft" * 50
    for size in (1, 7, 100_000):
        if size == 1:
            text = text[-20_000:]
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        ids = [id for part in tok.encode_stream(parts, special=special) for id in part.tolist()]
        assert ids == tok.encode(text, special=special)
        assert tok.special_tokens["<|endoftext|>"] in ids
    with pytest.raises(UnsupportedError, match='special cannot be "raise"'):
        tok.encode_stream([text], special="raise")


@pytest.mark.parametrize("seed", range(20))
def test_stops_do_not_depend_on_tokens(seed: int) -> None:
    numbers = random.Random(seed)
    toks = [byte_level(), ranks(), KINDS["characters"]()]
    for _ in range(40):
        text = "".join(numbers.choices("the wa", k=20))
        stops = ["".join(numbers.choices("the wa", k=numbers.randint(1, 4))) for _ in range(3)]
        found = set()
        for tok in toks:
            stream = tok.decode_stream(stop=stops)
            given = "".join(stream.push(id) for id in tok.encode(text)) + stream.finish()
            found.add((given, stream.stopped))
            assert text.startswith(given + (stream.stopped or ""))
        assert len(found) == 1, (text, stops)


def test_many_streams_at_once_and_copies() -> None:
    tok = byte_level()
    texts = [f"the weather {number} 🙂" for number in range(2_000)]
    rows = tok.encode_batch(texts).tolist()
    streams = [tok.decode_stream() for _ in rows]
    given = [""] * len(rows)
    for step in range(max(map(len, rows))):
        for at, (row, stream) in enumerate(zip(rows, streams, strict=True)):
            if step < len(row):
                given[at] += stream.push(row[step])
    assert given == texts
    stream = tok.decode_stream()
    clef = tok.encode("𝄞")
    assert stream.push(clef[:-1]) == ""
    for other in (stream.copy(), copy.copy(stream), copy.deepcopy(stream)):
        assert other.push(clef[-1]) == "𝄞"
    assert stream.push(np.array(clef[-1:], np.uint32)) == "𝄞"
    assert stream.push(np.uint32(clef[0])) == ""
    assert stream.finish() == "\ufffd"


def test_wrong_ids_and_arguments_of_text() -> None:
    tok = ranks()
    stream = tok.decode_stream()
    with pytest.raises(UnknownTokenError, match="id 99999 at position 0"):
        stream.push(99_999)
    for wrong in (-1, 2**70):
        with pytest.raises(ArgumentError, match="is not a token id"):
            stream.push(wrong)
    for nothing in ("a", None, 1.5, True, [None], ["a"]):
        with pytest.raises(ArgumentTypeError):
            stream.push(nothing)  # type: ignore[arg-type]
    assert stream.push(tok.encode("the")) == "the"
    assert (stream.finish(), stream.finish()) == ("", "")
    with pytest.raises(ArgumentError, match="is finished"):
        stream.push(1)
    with pytest.raises(ArgumentError, match="errors cannot be"):
        tok.decode_stream(errors="backslashreplace")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"stop\[1\] is empty"):
        tok.decode_stream(stop=["a", ""])
    for stop in (5, [5], b"a", None):
        with pytest.raises(ArgumentTypeError, match="stop"):
            tok.decode_stream(stop=stop)  # type: ignore[arg-type]


def whole(tok: jeton.Tokenizer, parts: Iterator[str] | io.TextIOBase, **options: Any) -> list[int]:
    return [id for ids in tok.encode_stream(parts, **options) for id in ids.tolist()]


def test_ids_of_any_parts(any_tok: jeton.Tokenizer) -> None:
    try:
        any_tok.encode_stream([])
    except UnsupportedError:
        pytest.skip("only the whole text tells where its tokens are")
    numbers = random.Random(3)
    for _ in range(100):
        text = some_text(numbers)
        for add in (False, True):
            expected = any_tok.encode(text, add_special_tokens=add)
            assert whole(any_tok, cut(text, numbers), add_special_tokens=add) == expected


SURROGATES = {
    "a pair": ["\ud83d", "\ude00"],
    "a pair within text": ["the \ud83d", "", "\ude00 the"],
    "a pair and a half": ["\ud83d", "\ud83d\ude00"],
    "a pair and two halves": ["\ud83d", "\ud83d", "\ude00", "\ude00"],
    "halves in the wrong order": ["\ude00", "\ud83d"],
    "a half at the end": ["the", "\ud83d", ""],
    "a half before text": ["\ud83d", "the"],
}


@pytest.mark.parametrize("case", SURROGATES)
def test_halves_of_a_pair_in_two_parts_are_one_character(case: str) -> None:
    parts = SURROGATES[case]
    for tok in (byte_level("gpt2"), ranks(), in_form("NFC gpt2")):
        assert whole(tok, iter(parts)) == tok.encode("".join(parts))


def test_surrogates_cut_anywhere() -> None:
    tok, numbers = byte_level("gpt2"), random.Random(4)
    for _ in range(300):
        text = "".join(numbers.choices(["\ud83d", "\ude00", "\ude42", "the", " "], k=12))
        assert whole(tok, cut(text, numbers)) == tok.encode(text)


def in_form(name: str) -> jeton.Tokenizer:
    """GPT-NeoX, or one like it and Qwen: after a form, with tokens looked for in what it makes."""
    if name == "neox":
        return published(name)
    form, pattern = FORMS[name]
    tok = byte_level(pattern, normalizer=form())
    return tok.replace(
        added_tokens=[
            *tok.stages.added_tokens,
            jeton.AddedToken("  ", normalized=True),
            jeton.AddedToken("e\u0301", normalized=True),
            jeton.AddedToken("<tool>", normalized=False),
            jeton.AddedToken("e the", normalized=False),
        ]
    )


@pytest.mark.parametrize("name", ["neox", *FORMS])
def test_ids_of_any_parts_behind_a_form(name: str) -> None:
    tok, numbers = in_form(name), random.Random(5)
    # Texts longer than what is encoded at a time, which are cut many times.
    for length in (1, 7, 300, 150_000):
        text = "".join(numbers.choices(IN_FORMS, k=length))
        expected = tok.encode(text)
        for size in (3, 5_000, 300_000) if length > 300 else (1, 2, 3, 10, 1_000):
            parts = [text[at : at + size] for at in range(0, len(text), size)]
            given = [ids.tolist() for ids in tok.encode_stream(parts)]
            assert [id for ids in given for id in ids] == expected
        if length > 300:
            assert len(given) > 1


def test_an_empty_sequence_of_normalizers_changes_nothing() -> None:
    tok, numbers = byte_level("gpt2", normalizer=normalizers.Sequence([])), random.Random(6)
    text = "".join(numbers.choices(IN_FORMS, k=20_000))
    assert whole(tok, cut(text, numbers)) == tok.encode(text)


@pytest.mark.parametrize("name", ["byte-level", "ranks", "WordPiece", "characters"])
def test_long_texts_in_memory_that_does_not_grow(name: str) -> None:
    tok, numbers = KINDS[name](), random.Random(4)
    text = "".join(numbers.choices(TEXT, k=200_000))
    parts = list(tok.encode_stream(io.StringIO(text, newline="")))
    assert np.concatenate(parts).tolist() == tok.encode(text)
    assert len(parts) >= 3


def test_files(tmp_path: Path) -> None:
    tok = byte_level()
    path = tmp_path / "a.txt"
    path.write_text("the weather\n" * 1_000)
    with path.open() as file:
        assert whole(tok, file) == tok.encode(path.read_text())
    with path.open("rb") as file, pytest.raises(ArgumentTypeError, match="opened as text"):
        tok.encode_stream(file)  # type: ignore[arg-type]
    for wrong in ("text", b"text", 5, None):
        with pytest.raises(ArgumentTypeError, match="an open file or an iterable"):
            tok.encode_stream(wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="must be a str"):
        list(tok.encode_stream(["the", 5]))  # type: ignore[list-item]


def with_marks(name: str) -> jeton.Tokenizer:
    """A tokenizer that sees words with the spaces before them."""
    if not name.startswith("trained"):
        return KINDS[name]() if name in KINDS else published(name)
    trainer = jeton.BPETrainer(1_500, **LLAMA)
    tok = trainer.train([*samples.read_all().values()])
    added = [jeton.AddedToken("京the", normalized=False)] if "added" in name else []
    return tok.replace(added_tokens=[*tok.stages.added_tokens, *added])


@pytest.mark.large
@pytest.mark.parametrize("name", [*MARKED, "Unigram", "trained", "trained, added"])
def test_ids_of_any_parts_of_words_behind_spaces(name: str) -> None:
    tok, numbers = with_marks(name), random.Random(6)
    odd = ["，", "\u3000", "\u00a0", " ˜", "か", "\u3099", " " * 70, "\t", "\r\n", "the " * 20]
    counts = []
    for kinds in ([*TEXT, *odd], ["the", " "], ["\n", " ", "é"], ["e", " the", "▁"], odd):
        text = "".join(numbers.choices(kinds, k=150_000))
        expected = tok.encode(text)
        for size in (5_000, 300_000):
            parts = [text[at : at + size] for at in range(0, len(text), size)]
            given = [ids.tolist() for ids in tok.encode_stream(parts)]
            assert [id for ids in given for id in ids] == expected
            counts.append(len(given))
    assert max(counts) > 1


@pytest.mark.parametrize("token", ["<mask>", "<a b>", "T" * 500])
def test_tokens_far_before_a_split_point_are_emitted(token: str) -> None:
    """White space after a token, about as much as is searched for tokens before a cut."""
    tok = with_marks("trained")
    added = jeton.AddedToken(token, rstrip=True, normalized=False)
    tok = tok.replace(added_tokens=[*tok.stages.added_tokens, added])
    id, numbers = tok.encode(token)[-1], random.Random(7)
    for _ in range(6):
        spaces = [" " * numbers.randint(1_010, 1_030) + end for end in ("", "\n", "\t")]
        parts = ["the " * numbers.randint(1, 300), token, *spaces, "the", "\n"]
        chosen = numbers.choices(parts, k=1_000)
        text = "".join(part + numbers.choice(spaces) if part == token else part for part in chosen)
        # Of texts so short, no part is encoded by itself.
        first, *others = text.split(token)
        expected = tok.encode(first + token) if others else tok.encode(first)
        for at, piece in enumerate(others):
            ids = tok.encode(token + piece + token * (at + 1 < len(others)))
            expected += ids[ids.index(id) + 1 :]
        assert whole(tok, iter([text])) == tok.encode(text) == expected


def test_tokenizers_that_need_the_whole_text_are_refused() -> None:
    tok = jeton.UnigramTrainer(1_200).train([*samples.read_all().values()])
    with pytest.raises(UnsupportedError, match="encode the whole text"):
        tok.encode_stream(["the"])
    tok = with_marks("trained")
    long = jeton.AddedToken("T" * 2_000, normalized=False)
    tok = tok.replace(added_tokens=[*tok.stages.added_tokens, long])
    with pytest.raises(UnsupportedError, match="encode the whole text"):
        tok.encode_stream(["the"])
