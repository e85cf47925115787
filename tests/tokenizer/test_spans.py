"""Ids with spans as arrays: those of the stages, for every tokenizer, unit and text."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from encode_fallback import encode_fallback
from jeton import errors
from jeton.components import Regex, models, normalizers, post_processors, pre_tokenizers
from kinds import KINDS, LLAMA, read_ranks
from shared_data import VOCABULARIES, needed

Unit = Literal["characters", "bytes", "utf-16"]
UNITS: tuple[Unit, ...] = ("characters", "bytes", "utf-16")

LENGTHS: dict[Unit, Callable[[str], int]] = {
    "characters": len,
    "bytes": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
}

PARTS = [
    *["the", " weather", " there", "It's", " 1234", ".", ",", " ", "  ", "        ", "\n", "\r\n"],
    *[
        "\t",
        "\0",
        "\u00a0",
        "\u3000",
        "\ufeff",
        "\u200b",
        "\u2028",
        "\u2581",
        "\u2581\u2581",
        " \u2581",
    ],
    *[
        "é",
        "e\u0301",
        "\u0301",
        "\u0301\u0323",
        "\u302e\u0301",
        "\u0344",
        "İ",
        "I\u0307",
        "ß",
        "ς",
        "Σ",
    ],
    *[
        "ﬁ",
        "½",
        "…",
        "Ａｂ",
        "ｶﾞ",
        "한국",
        "\u1112\u1161\u11ab",
        "東京",
        "日本語。",
        "привет",
        "مرحبا",
    ],
    *[
        "，",
        "˜",
        "ﷺ",
        "\u212b",
        "\u0340",
        "क्षि",
        "ﬁ\u0301",
        "Ａ\u0301",
        "\u200d",
        "ગુજરાતી",
        "й",
        "\u115f",
    ],
    *["हिन्दी", "ไทย", "🙂", "👩\u200d👧", "🇫🇷", "\U0001d165", "\U00020000", "\ufffd", "\x7f"],
    *[
        "<|endoftext|>",
        "<|end|>",
        "[UNK]",
        "[CLS]",
        "[MASK]",
        "<s>",
        "</s>",
        "<unk>",
        "<0x41>",
        "<0x3C>",
        "##s",
    ],
]


def texts() -> st.SearchStrategy[str]:
    """What normalizers change, drop or join, what tokens are spelled as, and anything."""
    parts = st.one_of(st.sampled_from(PARTS), st.text(st.characters(exclude_categories=["Cs"])))
    return st.lists(parts, max_size=30).map("".join)


def published(name: str) -> Callable[[], jeton.Tokenizer]:
    """A tokenizer of a real vocabulary, or a skip where there is none."""

    def load() -> jeton.Tokenizer:
        path = needed(VOCABULARIES / name)
        if path.suffix == ".tiktoken":
            specials = {"<|endoftext|>": 300_000}
            pattern = {"cl100k_base": "cl100k", "o200k_base": "o200k"}.get(path.stem, "gpt2")
            return jeton.Tokenizer.from_ranks(
                read_ranks(name), pattern=pattern, special_tokens=specials
            )
        return jeton.load(path)

    return load


def trimming() -> jeton.Tokenizer:
    """As RoBERTa's: a space in front, and spans without spaces."""
    return KINDS["byte-level"]().replace(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
        post_processor=post_processors.RobertaProcessing(sep=("<|end|>", 0), cls=("<|end|>", 0)),
    )


def trimming_changed_text() -> jeton.Tokenizer:
    """The same, of text in NFKC, where a space may be another character before."""
    return trimming().replace(normalizer=normalizers.NFKC())


def composing() -> jeton.Tokenizer:
    """Byte-level, of text in NFC, with an added token that is looked for in it."""
    return KINDS["ranks"]().replace(normalizer=normalizers.NFC())


def marks_behind_a_form(fuse_unk: bool) -> jeton.Tokenizer:
    """As tokenizers' SentencePieceBPETokenizer: text in NFKC, spaces written as marks."""
    tokens = ["<unk>", *"▁theawr.,1/2éfi東\n", "▁t", "he", "▁the", "er"]
    return jeton.Tokenizer(
        models.BPE(
            {token: id for id, token in enumerate(tokens)},
            merges=[("▁", "t"), ("h", "e"), ("▁t", "he"), ("e", "r")],
            alphabet="characters",
            unk_token="<unk>",
            fuse_unk=fuse_unk,
        ),
        normalizer=normalizers.NFKC(),
        pre_tokenizer=pre_tokenizers.Metaspace(),
    )


def cased() -> jeton.Tokenizer:
    """As BERT's that keep case and accents."""
    return KINDS["WordPiece"]().replace(normalizer=normalizers.BertNormalizer(lowercase=False))


def sentence_pieces(trainer: Any) -> Callable[[], jeton.Tokenizer]:
    """A `.model` file's."""

    def train() -> jeton.Tokenizer:
        corpus = ["the theory of the weather there", "père 東京 there, 🙂 1/2"] * 9
        tokenizer: jeton.Tokenizer = trainer().train(corpus)
        return tokenizer.approximation(".model")

    return train


def mapped(*stages: Any, unigram: bool = False) -> Callable[[], jeton.Tokenizer]:
    """As the `tokenizer.json` of T5 or XLM-R: the character map of a real `.model` file, and what
    cuts the text and writes spaces as marks."""

    def load() -> jeton.Tokenizer:
        tok = published("t5_style_unigram.model")().approximation("tokenizer.json")
        assert isinstance(tok.stages.normalizer, normalizers.Sequence)
        map_alone = tok.stages.normalizer.steps[0]
        assert isinstance(map_alone, normalizers.Precompiled)
        cut: Any = stages[0] if len(stages) == 1 else pre_tokenizers.Sequence(stages)
        if unigram:
            pieces = "<unk> ▁ ▁the ▁we ather ere e é fi .".split()
            scored = [(piece, -1.0 - number) for number, piece in enumerate(pieces)]
            model = models.Unigram(scored, unk_id=0)
            return jeton.Tokenizer(model, normalizer=map_alone, pre_tokenizer=cut)
        return tok.replace(normalizer=map_alone, pre_tokenizer=cut)

    return load


def as_json(name: str) -> Callable[[], jeton.Tokenizer]:
    """A `.model` file of a real vocabulary as the `tokenizer.json` that comes near it."""
    return lambda: published(name)().approximation("tokenizer.json")


TOKENIZERS: dict[str, Callable[[], jeton.Tokenizer]] = {
    **KINDS,
    "trimming": trimming,
    "trimming changed text": trimming_changed_text,
    "trimming marks": lambda: trimming_changed_text().replace(
        pre_tokenizer=pre_tokenizers.Metaspace()
    ),
    "composing": composing,
    "marks behind a form": lambda: marks_behind_a_form(False),
    "marks behind a form, fused": lambda: marks_behind_a_form(True),
    "cased": cased,
    "SentencePiece BPE": sentence_pieces(lambda: jeton.BPETrainer(vocab_size=330, **LLAMA)),
    "SentencePiece Unigram": sentence_pieces(
        lambda: jeton.UnigramTrainer(60, hard_vocab_limit=False)
    ),
    **{
        name: published(name)
        for name in [
            *[
                "cl100k_base.tiktoken",
                "o200k_base.tiktoken",
                "r50k_base.tiktoken",
                "gpt2_vocab.json",
            ],
            *["llama3_ranks.model", "llama2_sentencepiece_bpe.model", "t5_style_unigram.model"],
            *["bert_uncased_vocab.txt", "neox"],
        ]
    },
    "character map": mapped(pre_tokenizers.Metaspace()),
    "character map, words": mapped(pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()),
    "character map, words of pieces": mapped(
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(), unigram=True
    ),
    "Llama 2 as tokenizer.json": as_json("llama2_sentencepiece_bpe.model"),
    "T5 as tokenizer.json": as_json("t5_style_unigram.model"),
}


@pytest.fixture(scope="module", params=list(TOKENIZERS))
def tok(request: pytest.FixtureRequest) -> jeton.Tokenizer:
    return TOKENIZERS[request.param]()


def in_unit(unit: Unit, text: str, spans: list[tuple[int, int]]) -> list[list[int]]:
    """Spans in characters as spans in another unit."""
    places = [0, *accumulate(map(LENGTHS[unit], text))]
    return [[places[start], places[end]] for start, end in spans]


def staged(tok: jeton.Tokenizer, text: str, unit: Unit, **options: Any) -> Any:
    """What the stages say; none of a text that cannot be encoded."""
    try:
        row = encode_fallback(tok, text, unit=unit, **options)
    except errors.EncodeError:
        with pytest.raises(errors.EncodeError):
            tok.encode_with_spans(text, unit=unit, **options)
        return None
    assert tok.encode_with_spans(text, unit=unit, **options) == row
    return row


@pytest.mark.large
@given(data=st.data())
def test_equal_to_the_stages(tok: jeton.Tokenizer, data: st.DataObject) -> None:
    some = data.draw(st.lists(texts(), min_size=1, max_size=4))
    options: dict[str, Any] = {
        "special": data.draw(st.sampled_from(["ignore", "allow"])),
        "add_special_tokens": data.draw(st.booleans()),
    }
    for unit in UNITS:
        rows = [staged(tok, text, unit, **options) for text in some]
        if None in rows:
            with pytest.raises(errors.EncodeError):
                tok.encode_batch(some, spans=unit, **options)
            continue
        batch = tok.encode_batch(some, spans=unit, **options)
        for text, row, (start, end) in zip(some, rows, pairwise(batch.offsets), strict=True):
            ids, own = tok.encode_array(text, spans=unit, **options)
            assert ids.tolist() == batch.ids[start:end].tolist() == row.ids
            expected = [list(span) for span in row.spans]
            assert own.tolist() == batch.spans[start:end].tolist() == expected
            characters = tok.encode_with_spans(text, **options).spans
            assert own.tolist() == in_unit(unit, text, characters)
        assert batch == tok.encode_batch(some, **options)


Spans = list[tuple[int, int]]

#: A normalizer, a text, and the spans of its tokens, which are characters.
COMPOSED: dict[str, tuple[Any, str, Spans]] = {
    "a letter and its mark": (normalizers.NFC(), "e\u0301", [(0, 2)]),
    "in a word": (normalizers.NFC(), "fe\u0301 x", [(0, 1), (1, 3), (3, 4), (4, 5)]),
    "two marks on one letter": (normalizers.NFC(), "a\u0302\u0301x", [(0, 3), (3, 4)]),
    "a mark that passes another": (normalizers.NFC(), "a\u0301\u0323", [(0, 3), (1, 3)]),
    "decomposed Hangul": (normalizers.NFC(), "x\u1112\u1161\u11ab", [(0, 1), (1, 4)]),
    "half width": (normalizers.NFKC(), "\uff76\uff9ex", [(0, 2), (2, 3)]),
    "a ligature and a mark": (normalizers.NFKC(), "\ufb01e\u0301", [(0, 1), (0, 1), (1, 3)]),
    "decomposed": (normalizers.NFD(), "\u00e9\u0323", [(0, 1), (0, 2), (0, 2)]),
    "in lower case": (
        normalizers.Sequence([normalizers.Lowercase(), normalizers.NFC()]),
        "XE\u0301",
        [(0, 1), (1, 3)],
    ),
    "replaced": (normalizers.Replace("--", "_"), "a--b", [(0, 1), (1, 3), (3, 4)]),
    "a run replaced": (
        normalizers.Replace(Regex(" +"), " "),
        "a   b",
        [(0, 1), (1, 4), (4, 5)],
    ),
    "removed at the front": (
        normalizers.Sequence([normalizers.NFC(), normalizers.Replace("_", "")]),
        "_e\u0301",
        [(1, 3)],
    ),
}


def of_characters(texts: list[str], normalizer: Any, model: str) -> jeton.Tokenizer:
    """Each character of these texts, normalized, is a token."""
    characters = dict.fromkeys("".join(map(normalizer, texts)))
    if model == "characters":
        pieces = [("<unk>", 0.0), *((character, -1.0) for character in characters)]
        return jeton.Tokenizer(models.Unigram(pieces, unk_id=0), normalizer=normalizer)
    # A character is merged byte by byte.
    wholes = [character.encode() for character in characters]
    merged = [whole[:end] for whole in wholes for end in range(2, len(whole) + 1)]
    tokens = dict.fromkeys([*(bytes([it]) for it in range(256)), *merged])
    ranks = {token: rank for rank, token in enumerate(tokens)}
    return jeton.Tokenizer.from_ranks(ranks, pattern="gpt4").replace(normalizer=normalizer)


@pytest.mark.parametrize("model", ["bytes", "characters"])
@pytest.mark.parametrize("name", COMPOSED)
def test_a_token_has_all_that_it_was_composed_of(name: str, model: str) -> None:
    normalizer, text, expected = COMPOSED[name]
    tok = of_characters([text], normalizer, model)
    assert normalizer.with_spans(text)[1] == expected
    rows = [list(span) for span in expected]
    for unit in UNITS:
        wanted = in_unit(unit, text, expected)
        assert [list(it) for it in tok.encode_with_spans(text, unit=unit).spans] == wanted
        assert tok.encode_array(text, spans=unit)[1].tolist() == wanted
        batch = tok.encode_batch([text, "", text], spans=unit)
        assert batch.spans.tolist() == wanted * 2
        assert batch.offsets.tolist() == [0, len(rows), len(rows), 2 * len(rows)]
    call = tok([text], return_offsets_mapping=True, return_tensors="np")
    assert call["offset_mapping"][0].tolist() == rows
    windows = tok(
        text,
        max_length=1,
        truncation=True,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    assert [list(span) for row in windows["offset_mapping"] for span in row] == rows


@pytest.mark.parametrize("make", [trimming, trimming_changed_text])
def test_margins_are_characters_in_each_unit(make: Callable[[], jeton.Tokenizer]) -> None:
    tok = make()
    # The space in front is a token by itself, and shares the span of the first character.
    assert tok.encode_with_spans("é").spans[0] == (0, 0)
    for add_prefix_space in (True, False):
        post_processor = post_processors.RobertaProcessing(
            sep=("<|end|>", 0), cls=("<|end|>", 0), add_prefix_space=add_prefix_space
        )
        some = tok.replace(post_processor=post_processor)
        for text in ("é", "🙂 é", "ethe", "東", "a\u3000é", "x\u00a0\u00a0the", "\u3000the", ""):
            spans = some.encode_with_spans(text).spans
            words = some.encode_with_spans([text, "é"], ["🙂"], is_split_into_words=True)
            pair = some.encode_with_spans("🙂", text)
            for unit in UNITS:
                assert some.encode_with_spans(text, unit=unit).spans == [
                    (start, end) for start, end in in_unit(unit, text, spans)
                ]
                own = some.encode_with_spans(
                    [text, "é"], ["🙂"], is_split_into_words=True, unit=unit
                )
                for ours, others, word, number in zip(
                    own.spans, words.spans, words.word_ids, words.sequence_ids, strict=True
                ):
                    source = [[text, "é"], ["🙂"]][number or 0][word or 0]
                    assert list(ours) == in_unit(unit, source, [others])[0]
                own = some.encode_with_spans("🙂", text, unit=unit)
                for ours, others, number in zip(
                    own.spans, pair.spans, pair.sequence_ids, strict=True
                ):
                    assert list(ours) == in_unit(unit, ["🙂", text][number or 0], [others])[0]


@pytest.mark.large
def test_large_texts_are_as_the_stages_say(tok: jeton.Tokenizer) -> None:
    """Texts that all cores share."""
    parts = random.Random(7).choices([*PARTS, " the", " weather", " and", "\n"] * 2, k=80_000)
    text = "".join(part + " " * (number % 3 == 0) for number, part in enumerate(parts))
    assert len(text.encode()) > 1 << 18
    calls: list[dict[str, Any]] = [{}, {"special": "allow", "add_special_tokens": True}]
    for options in calls:
        for unit in UNITS:
            row = staged(tok, text, unit, **options)
            if row is None:
                return
            ids, spans = tok.encode_array(text, spans=unit, **options)
            assert ids.tolist() == row.ids
            assert np.array_equal(spans, np.array(row.spans))


def test_shapes_and_types(tok: jeton.Tokenizer) -> None:
    for text in ("", "the weather"):
        ids, spans = tok.encode_array(text, spans="characters")
        assert ids.dtype == np.uint32 and spans.dtype == np.int64
        assert spans.shape == (len(ids), 2)
    batch = tok.encode_batch([], spans="characters")
    assert len(batch) == 0 and batch.spans.shape == (0, 2)


def test_surrogates_keep_the_callers_places() -> None:
    text = "\ud83d\ude42 x\ud800é"
    tok = jeton.CharTrainer(unk_token="?").train("x é")
    expected = {
        "characters": [[0, 2], [2, 3], [3, 4], [4, 5], [5, 6]],
        "bytes": [[0, 4], [4, 5], [5, 6], [6, 9], [9, 11]],
        "utf-16": [[0, 2], [2, 3], [3, 4], [4, 5], [5, 6]],
    }
    for unit in UNITS:
        assert tok.encode_array(text, spans=unit)[1].tolist() == expected[unit]
        assert tok.encode_batch([text], spans=unit).spans.tolist() == expected[unit]
        spans = tok.encode_with_spans(text, unit=unit).spans
        assert [list(span) for span in spans] == expected[unit]


@pytest.mark.parametrize(
    ("single", "pair", "order"),
    [
        ("$A $A", "$A $B", "aa"),
        ("$A ? $A ?", "$A $B", "aa"),
        ("$A", "$A $B $A", "aba"),
        ("$A", "? $B $A ? $B", "bab"),
    ],
)
def test_each_copy_of_a_text_has_the_callers_places(single: str, pair: str, order: str) -> None:
    texts = {"a": "\ud83d\ude42 x", "b": "xé\ud83d\ude42\ud800é"}
    tok = jeton.CharTrainer(unk_token="?").train("x é")
    template = post_processors.TemplateProcessing(single, pair, special_tokens={"?": 0})
    framed = tok.replace(post_processor=template)
    expected = [span for text in order for span in tok.encode_with_spans(texts[text]).spans]
    entry = texts["a"] if "b" not in order else (texts["a"], texts["b"])
    given = (entry,) if isinstance(entry, str) else entry
    encoding = framed.encode_with_spans(*given, add_special_tokens=True)
    of_texts = [index for index, word in enumerate(encoding.word_ids) if word is not None]
    assert [encoding.spans[index] for index in of_texts] == expected
    spans = framed.encode_batch([entry], spans="characters", add_special_tokens=True).spans
    assert [tuple(spans[index].tolist()) for index in of_texts] == expected
    words = [text.split() for text in given]
    row: Any = words[0] if len(words) == 1 else tuple(words)
    split = framed.encode_batch([row], spans="characters", is_split_into_words=True).spans
    expected = [
        span
        for text in order
        for word in texts[text].split()
        for span in tok.encode_with_spans(word).spans
    ]
    assert [tuple(span) for span in split.tolist()] == expected


def test_columns_and_nulls() -> None:
    pa = pytest.importorskip("pyarrow")
    tok = KINDS["ranks"]()
    column = pa.array(["the", None, "é the"])
    batch = tok.encode_batch(column, nulls="empty", spans="bytes")
    assert batch.tolist() == [tok.encode("the"), [], tok.encode("é the")]
    assert batch.spans[batch.offsets[2] :].tolist() == [[0, 2], [2, 6]]
    with pytest.raises(errors.ArgumentError, match=r"texts\[1\]"):
        tok.encode_batch(column, spans="bytes")


def test_drawn_segmentations_have_spans() -> None:
    tok = KINDS["byte-level"]()
    row = tok.encode_with_spans("the weather there", dropout=0.5, seed=3)
    ids, spans = tok.encode_array("the weather there", spans="characters", dropout=0.5, seed=3)
    assert ids.tolist() == row.ids
    assert spans.tolist() == [list(span) for span in row.spans]


MARKED_WORDS = {"[UNK]": 0, "▁w": 1, "▁hello": 2, "▁a": 3, "▁é": 4}
SUFFIX: dict[str, Any] = {"end_of_word_suffix": "</w>", "separate_suffix": True}

UNKNOWN_OR_DROPPED: dict[str, tuple[models.Model, dict[str, Any], str, list[tuple[int, int]]]] = {
    "an unknown word behind a mark": (
        models.WordLevel(MARKED_WORDS),
        {"pre_tokenizer": pre_tokenizers.Metaspace()},
        "hello 🙂 w",
        [(0, 5), (5, 8), (8, 10)],
    ),
    "two spaces before an unknown word": (
        models.WordLevel(MARKED_WORDS),
        {"pre_tokenizer": pre_tokenizers.Metaspace()},
        "hello  🙂 w",
        [(0, 5), (5, 6), (6, 9), (9, 11)],
    ),
    "a prefix that is the mark": (
        models.WordPiece(MARKED_WORDS, continuing_subword_prefix="▁"),
        {"pre_tokenizer": pre_tokenizers.Metaspace()},
        "a é",
        [(0, 1), (1, 3)],
    ),
    "an unknown token that is merged": (
        models.BPE(
            {"e": 0, "é": 1, "eé": 2, "s": 3},
            [("e", "é")],
            alphabet="characters",
            unk_token="e",
        ),
        {"pre_tokenizer": pre_tokenizers.Whitespace()},
        "s ﬁé",
        [(0, 1), (2, 4)],
    ),
    "a suffix inside a dropped character": (
        models.BPE({"t": 0, "</w>": 1}, [], alphabet="characters", **SUFFIX),
        {"pre_tokenizer": pre_tokenizers.WhitespaceSplit()},
        "ét",
        [(0, 1), (0, 0)],
    ),
    "a suffix behind what was put in front": (
        models.BPE({"▁": 0, "</w>": 1}, [], alphabet="characters", **SUFFIX),
        {"normalizer": normalizers.Prepend("▁")},
        "y",
        [(0, 1), (1, 1)],
    ),
    "dropped characters that spell the prefix": (
        models.BPE({"##x": 0, "x": 1}, [], alphabet="characters", continuing_subword_prefix="##"),
        {"pre_tokenizer": pre_tokenizers.WhitespaceSplit()},
        "##x",
        [(0, 1)],
    ),
}


@pytest.mark.parametrize("name", UNKNOWN_OR_DROPPED)
def test_unknown_and_dropped_text(name: str) -> None:
    model, stages, text, spans = UNKNOWN_OR_DROPPED[name]
    tok = jeton.Tokenizer(model, **stages)
    for _ in range(2):
        assert tok.encode_with_spans(text, unit="utf-16").spans == spans
    assert encode_fallback(tok, text, unit="utf-16").spans == spans


def test_unknown_words_end_where_they_end() -> None:
    tok = jeton.Tokenizer(
        models.WordPiece({"[UNK]": 0, "un": 1, "##able": 2, "able": 3}),
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
    )
    text = "x\u0301yz\u0301 unable\u00a0ABLE!"
    ids, spans = tok.encode_array(text, spans="characters")
    assert ids.tolist() == [0, 1, 2, 3, 0]
    assert [text[start:end] for start, end in spans] == ["x\u0301yz", "un", "able", "ABLE", "!"]


@pytest.mark.parametrize("unit", ["chars", "utf16", "", 16])
def test_other_units_are_refused(unit: Any) -> None:
    tok = KINDS["ranks"]()
    wrong = (errors.ArgumentError, errors.ArgumentTypeError)
    with pytest.raises(wrong, match=r"^unit"):
        tok.encode_with_spans("the", unit=unit)
    with pytest.raises(wrong, match=r"^spans"):
        tok.encode_array("the", spans=unit)
    with pytest.raises(wrong, match=r"^spans"):
        tok.encode_batch(["the"], spans=unit)


def test_tokens_that_cut_characters_have_whole_ones() -> None:
    """Tokens of every stretch of bytes of such a text, whatever they cut at either end."""
    text = "aé中🙂🙂中éb"
    data = text.encode()
    starts = [len(text[:number].encode()) for number in range(len(text) + 1)]
    stretches = {data[at:end] for at in range(len(data)) for end in range(at + 1, len(data) + 1)}
    ordered = sorted(
        stretches | {bytes([byte]) for byte in range(256)}, key=lambda it: (len(it), it)
    )
    ids = {token: number for number, token in enumerate(ordered)}
    draw = random.Random(0)
    for _ in range(200):
        cuts = sorted(draw.sample(range(1, len(data)), draw.randint(1, 9)))
        places = list(pairwise([0, *cuts, len(data)]))
        tokens = [data[start:end] for start, end in places]
        # Ranks that merge bytes to these tokens and no further.
        merged = {token[:end] for token in tokens for end in range(1, len(token) + 1)}
        tok = jeton.Tokenizer.from_ranks(
            {token: ids[token] for token in merged | {bytes([byte]) for byte in range(256)}},
            pattern="gpt4",
        )
        lengths = [len(tok.vocab.spelling(number)) for number in tok.encode(text)]
        whole = [0, *accumulate(lengths)]
        for unit in UNITS:
            _, spans = tok.encode_array(text, spans=unit)
            for (start, end), span in zip(pairwise(whole), spans.tolist(), strict=True):
                first = max(number for number, at in enumerate(starts) if at <= start)
                last = min(number for number, at in enumerate(starts) if at >= end)
                assert span == [LENGTHS[unit](text[:first]), LENGTHS[unit](text[:last])]
