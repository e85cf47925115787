"""Parts of a text: they cover it, fit when they are encoded by themselves, and cut no character."""

from __future__ import annotations

import os
import random
from itertools import pairwise
from typing import Any

import pytest

import jeton
from jeton.components import models, post_processors, pre_tokenizers
from jeton.encoding.chunks import boundaries, structure
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError, SpecialTokenError
from kinds import KINDS, byte_level, ranks, word_piece
from shared_data import VOCABULARIES, needed

FULL = os.environ.get("JETON_PARITY") == "full"
ROUNDS = 100_000 if FULL else 1_500
PUBLISHED = [
    "cl100k_base.tiktoken",
    "gpt2_vocab.json",
    "llama2_sentencepiece_bpe.model",
    "t5_style_unigram.model",
    "bert_uncased_vocab.txt",
    "neox",
]
UNITS = ("sentence", "line", "word", "token")
PARTS = [
    *(
        "the",
        " weather",
        "The end.",
        " Dr. Bell said:",
        ' "What?"',
        " she asked.",
        "No! ",
        "x" * 70,
    ),
    *(" ", "  ", " " * 40, "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u3000", "\u2028", "\u200b"),
    *("1234567", "3.14", "1. ", "U.S.", "e.g. ", "http://x.org/?q=1", "...", "?!", "__init__()"),
    *(
        "東京に行きました。",
        "「はい。」",
        "今天天气很好，",
        "你好！",
        "カタカナ",
        "ｶﾞ",
        "한국어",
        "ᄒ",
        "ᅡ",
        "ᆫ",
    ),
    *("मैं घर गया। ", "क्ष", "สวัสดีครับ ", "น้ำ", "ແລະ", "ကမ္ဘာ။", "مرحبا؟ ", "שלום", "Привет. "),
    *("é", "e\u0301", "\u0301", "\u0301" * 20, "ﬁ", "½", "ﷺ", "İ", "Ａ", "\ufeff", "\0"),
    *(
        "🙂",
        "👩‍👩‍👧",
        "👍🏽",
        "🇫🇷",
        "🇩🇪🇫",
        "🏴\U000e0067\U000e0062\U000e007f",
        "❤️",
        "\u200d",
        "\ufe0f",
    ),
    *("▁", "<0x41>", "<unk>", "[UNK]", "[SEP]", "<|end|>", "<|endoftext|>", "##s", "unable"),
    *("\ud83d", "\ude42", "\ud83d\ude42", "\U00010ffff", "𝔘", "𠮷"),
]


def test_a_short_text_is_one_chunk(any_tok: jeton.Tokenizer) -> None:
    """Also where it has just as many tokens as a chunk may have, or one more."""
    for text in ("The end.", "the weather", "No! The end. "):
        try:
            tokens = any_tok.count(text)
        except EncodeError:
            continue
        [chunk] = any_tok.chunk(text, tokens)
        assert (chunk.text, chunk.start, chunk.end, chunk.tokens) == (text, 0, len(text), tokens)
        assert chunk == jeton.encoding.chunks.Chunk(text, 0, len(text), tokens) and hash(chunk)
        if tokens > 3:
            assert len(any_tok.chunk(text, tokens - 1, overlap=0)) > 1
    assert any_tok.chunk("", 5) == []


def published(name: str) -> jeton.Tokenizer:
    path = needed(VOCABULARIES / name)
    return jeton.load(path)


@pytest.fixture(params=[*KINDS, *PUBLISHED])
def any_tok(request: pytest.FixtureRequest) -> jeton.Tokenizer:
    name = request.param
    return KINDS[name]() if name in KINDS else published(name)


def some_text(numbers: random.Random) -> str:
    parts = numbers.choices(PARTS, k=numbers.randint(0, 4))
    # Long runs of few things, and mixtures.
    return "".join(
        numbers.choices([*parts, *numbers.choices(PARTS, k=9)], k=numbers.randint(0, 60))
    )


def check(
    tok: jeton.Tokenizer, text: str, chunks: list[jeton.Chunk], most: int, overlap: int, **how: Any
) -> None:
    """What holds of all chunks."""
    special = {name: value for name, value in how.items() if name == "special"}
    assert bool(chunks) == bool(text)
    if not chunks:
        return
    assert chunks[0].start == 0 and chunks[-1].end == len(text)
    for chunk in chunks:
        assert chunk.start < chunk.end and chunk.text == text[chunk.start : chunk.end]
        assert chunk.tokens == len(tok.encode(chunk.text, **how)) <= most, chunk
        for place in (chunk.start, chunk.end):
            assert not (0 < place < len(text) and boundaries.splits_pair(text, place)), chunk
    for before, after in pairwise(chunks):
        assert before.start < after.start <= before.end < after.end, (before, after)
        assert len(tok.encode(text[after.start : before.end], **special)) <= overlap


def test_chunks_of_random_texts_join_to_the_text(any_tok: jeton.Tokenizer) -> None:
    numbers = random.Random(1)
    for round in range(ROUNDS // len([*KINDS, *PUBLISHED])):
        text = some_text(numbers)
        at: Any = numbers.choice(UNITS)
        how: dict[str, Any] = {}
        if round % 3 == 0:
            how["special"] = "allow"
        if round % 4 == 0:
            how["add_special_tokens"] = True
        frame = any_tok.count("", **how)
        # The longest character, U+FDFA normalized, is 33 bytes; with a space in front.
        most = frame + numbers.choice([36, 40, 64, 100, 512])
        overlap = numbers.choice([0, 1, 5, 16, most - frame - 1])
        chunks = any_tok.chunk(text, most, overlap=overlap, at=at, **how)
        check(any_tok, text, chunks, most, overlap, **how)
        check_two_parts(any_tok, text, numbers.randint(frame, 60), at, **how)


def check_two_parts(tok: jeton.Tokenizer, text: str, n: int, at: Any, **how: Any) -> None:
    right = tok.truncate(text, n, at=at, **how)
    head, tail = right.text, right.dropped_text
    assert head + tail == text and len(tok.encode(head, **how)) <= max(n, tok.count("", **how))
    special = {name: value for name, value in how.items() if name == "special"}
    left = tok.truncate(text, n, at=at, side="left", **how)
    assert right.start == 0
    assert left.dropped_text + left.text == text and left.end == len(text)
    for kept in (left, right):
        assert kept.text == text[kept.start : kept.end]
        assert kept.tokens == len(tok.encode(kept.text, **how)) <= n
        assert kept.dropped_tokens == len(tok.encode(kept.dropped_text, **special))
        if tok.count(text, **how) <= n:
            assert kept.text == text and not kept.dropped_text


@pytest.mark.large
@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        " " * 100_000,
        "\n" * 100_000,
        "." * 100_000,
        ". " * 40_000,
        ".\u201d" * 100_000,
        "!? 。" * 60_000,
        "a\u0301" + "\u0301" * 60_000,
        "👩‍👩‍👧" * 30_000,
        "👩" + "\u200d👩" * 60_000,
        "🇫🇷" * 60_000,
        "東京に行きました" * 20_000,
        "กขค " * 50_000,
        "\u3000" * 100_000,
        "x\n" * 100_000,
        "(" * 60_000,
        "1." * 100_000,
        "\r\n" * 100_000,
        "\ud83d\ude42" * 50_000,
    ],
    ids=lambda text: repr(text[:8]).encode("ascii", "backslashreplace").decode(),
)
@pytest.mark.parametrize("name", ["byte-level", "WordPiece", "Unigram", "cl100k", "llama2"])
def test_hostile_texts(name: str, text: str) -> None:
    files = {"cl100k": "cl100k_base.tiktoken", "llama2": "llama2_sentencepiece_bpe.model"}
    tok = KINDS[name]() if name in KINDS else published(files[name])
    for at in ("sentence", "token"):
        check(tok, text, tok.chunk(text, 512, overlap=128, at=at), 512, 128)


def test_a_text_of_many_parts_is_as_one() -> None:
    # Longer than what is encoded at a time; the places at which it is cut do not show.
    tok = ranks()
    text = "the weather there. The theory, then? " * 40_000
    chunks = tok.chunk(text, 600, overlap=100)
    check(tok, text, chunks, 600, 100)
    assert len({(len(chunk.text), chunk.tokens) for chunk in chunks[:-1]}) <= 2


def test_the_unit_asked_for_ends_each_chunk() -> None:
    tok = ranks()
    text = "The weather is fine. Is it? It is!\nSo we go out, all of us.\n\nThe end of it. " * 20
    for at in ("sentence", "line", "word"):
        ends = {0, len(text), *boundaries.ends(at, text, 0, len(text) - 1)}
        chunks = tok.chunk(text, 120, overlap=60, at=at)
        check(tok, text, chunks, 120, 60)
        assert {chunk.end for chunk in chunks} <= ends
        assert {chunk.start for chunk in chunks} <= ends, at


def test_chunks_are_as_full_as_they_can_be() -> None:
    tok = ranks()
    text = "The weather is fine. Is it? It is! So we go out, all of us. " * 30
    ends = [*boundaries.ends("sentence", text, 0, len(text) - 1), len(text)]
    for chunk in tok.chunk(text, 100, overlap=0)[:-1]:
        following = ends[ends.index(chunk.end) + 1]
        assert tok.count(text[chunk.start : following]) > 100


def test_tokens_are_those_of_the_whole_text() -> None:
    tok = byte_level()
    text = "the theory of the weather there, then: père, 東京, 🙂🙂 " * 50
    starts = {start for start, _ in tok.encode_with_spans(text).spans}
    for overlap in (0, 7):
        for chunk in tok.chunk(text, 20, overlap=overlap, at="token"):
            assert chunk.start in starts
        assert all(chunk.tokens >= 17 for chunk in tok.chunk(text, 20, overlap=0, at="token")[:-1])


def test_long_parts_are_split_at_the_next_finer_boundary() -> None:
    tok = ranks()
    wrapped = "no full stop here\n" * 40
    for chunk in tok.chunk(wrapped, 60, overlap=0):
        assert chunk.text.endswith("\n")
    long_line = "One sentence. And one more. " * 40
    for chunk in tok.chunk(long_line, 60, overlap=0, at="line"):
        assert chunk.text.endswith(". ")
    assert [chunk.text for chunk in tok.chunk("a bc def", 3, overlap=0)] == ["a ", "bc ", "def"]
    assert [chunk.text for chunk in tok.chunk("abcdefgh", 3, overlap=0)] == ["abc", "def", "gh"]
    family = "👩‍👩‍👧"
    assert {chunk.text for chunk in tok.chunk(family * 9, 30, overlap=0)} == {family}
    assert all(chunk.tokens <= 10 for chunk in tok.chunk(family * 9, 10, overlap=0))


def test_overlap_gives_way_to_a_whole_sentence() -> None:
    tok = ranks()
    text = "Short one. Short two. " + "X" * 20 + " is a long one. Short."
    chunks = tok.chunk(text, 40, overlap=15)
    assert [chunk.text for chunk in chunks] == [
        "Short one. Short two. ",
        "X" * 20 + " is a long one. ",
        "is a long one. Short.",
    ]
    assert [chunk.text for chunk in tok.chunk(text, 48, overlap=15)][1].startswith("Short two. X")


SENTENCES = {
    "Dr. Bell said it. We agree.": ["Dr. Bell said it. ", "We agree."],
    "J. R. R. Tolkien wrote. So do I. Then?": ["J. R. R. Tolkien wrote. ", "So do I. ", "Then?"],
    'He said "No." Then he left.': ['He said "No." ', "Then he left."],
    '"What?" she asked. (Yes!) Ok': ['"What?" she asked. ', "(Yes!) ", "Ok"],
    "It costs 3.14, e.g. here. See x.org/?q=1 now": [
        "It costs 3.14, e.g. here. ",
        "See x.org/?q=1 now",
    ],
    "1. One thing\n2. Two. Three": ["1. One thing\n2. Two. ", "Three"],
    "wrapped\nlines go on\n\nA heading\n \nText": [
        "wrapped\nlines go on\n\n",
        "A heading\n \n",
        "Text",
    ],
    "今天天气很好。我们出去吧！“好。”他说": ["今天天气很好。", "我们出去吧！", "“好。”", "他说"],
    "「はい。」と言った。東京です？！ええ": ["「はい。」", "と言った。", "東京です？！", "ええ"],
    "मैं घर गया। वह आया॥ ठीक": ["मैं घर गया। ", "वह आया॥ ", "ठीक"],
    "สวัสดีครับ ผมชื่อ John นะ 25 บาท": ["สวัสดีครับ ", "ผมชื่อ John นะ 25 บาท"],
    "هل أنت هنا؟ نعم۔ شكرا": ["هل أنت هنا؟ ", "نعم۔ ", "شكرا"],
    "Er sagte „Nein.“ Dann ging er.": ["Er sagte „Nein.“ ", "Dann ging er."],
    "**Bold.** Next… But… and so": ["**Bold.** ", "Next… ", "But… and so"],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences(text: str) -> None:
    places = [0, *boundaries.ends("sentence", text, 0, len(text) - 1), len(text)]
    assert [text[start:end] for start, end in pairwise(places)] == SENTENCES[text]


@pytest.mark.large
def test_every_terminator_of_unicode_ends_a_sentence() -> None:
    regex = pytest.importorskip("regex")
    # Of newer Unicode than that of the oldest `regex` that may be installed.
    new = {"\u1b4e", "\u1b4f", "\u1b7f", "\u2e60", "\u2e61"}
    for code in [*range(0xD800), *range(0xE000, 0x20000)]:
        character = chr(code)
        ends = boundaries.first("sentence", f"x{character} Y", 1, 4, 0) == 3
        if regex.match(r"\p{Sentence_Terminal}", character):
            assert ends, hex(code)
        elif character not in new | set("…\x85\n\r\u2029") and code < 0x10000:
            assert not ends, hex(code)


def test_characters_are_those_of_unicode() -> None:
    regex = pytest.importorskip("regex")
    numbers = random.Random(2)
    letters = [*"ae\r\n \u0301\u0323\u200d\ufe0f🙂👩👍🏽🇫🇷🇩क्षि한한가ำกｶﾞ東", "\U000e0067"]
    for _ in range(5_000):
        text = "".join(numbers.choices(letters, k=8))
        whole = {0, *(match.end() for match in regex.finditer(r"\X", text))}
        for place in range(1, len(text)):
            if boundaries.is_between_characters(text, place, 0):
                assert place in whole, (ascii(text), place)


def test_searches_agree_with_all_ends() -> None:
    numbers = random.Random(3)
    for _ in range(300):
        text = "".join(numbers.choices(PARTS, k=60))
        for unit in ("sentence", "line", "word"):
            low, high = sorted(numbers.sample(range(len(text)), 2))
            every = boundaries.ends(unit, text, 0, len(text) - 1)
            within = [place for place in every if low < place <= high]
            assert boundaries.last(unit, text, low, high) == (within[-1] if within else None)
            within = [place for place in every if low <= place < high]
            assert boundaries.first(unit, text, low, high, 0) == (within[0] if within else None)


def test_special_tokens_count() -> None:
    tok = word_piece()
    text = "the weather, unable. " * 60
    for chunk in tok.chunk(text, 20, add_special_tokens=True, overlap=4):
        ids = tok.encode(chunk.text, add_special_tokens=True)
        assert len(ids) == chunk.tokens <= 20 and ids[0] == 1
    ordinary = ranks().chunk("<|endoftext|>" * 9, 8, overlap=0)
    allowed = ranks().chunk("<|endoftext|>" * 9, 8, overlap=0, special="allow")
    assert len(ordinary) > len(allowed) == 2
    with pytest.raises(SpecialTokenError, match="endoftext"):
        ranks().chunk("the end <|endoftext|>", 8, special="raise")
    assert ranks().chunk("the end", 8, special="raise")


def test_windows_for_questions() -> None:
    """As in docs/chunks.md: a question with each window of a context, within a limit."""
    tok = word_piece()
    question, context = "the weather?", "the weather, unable, the weathers. " * 30
    most = 32
    taken = len(tok.encode_with_spans(question, "", add_special_tokens=True))
    seen: set[int] = set()
    for chunk in tok.chunk(context, most - taken, overlap=8, at="word"):
        both = tok.encode_with_spans(question, chunk.text, add_special_tokens=True)
        assert len(both) <= most
        for (start, end), which in zip(both.spans, both.sequence_ids, strict=True):
            if which == 1:
                seen.update(range(chunk.start + start, chunk.start + end))
    assert seen >= {place for place, character in enumerate(context) if character != " "}


def test_defaults() -> None:
    text = "The weather is fine. " * 200
    tok = ranks()
    assert tok.chunk(text) == tok.chunk(text, max_tokens=512, overlap=128, at="sentence")
    assert tok.chunk("") == []
    assert tok.chunk(" ") == [jeton.Chunk(" ", 0, 1, 1)]
    framed = word_piece()
    assert framed.chunk("the the the", 3, add_special_tokens=True) == [
        jeton.Chunk("the ", 0, 4, 3),
        jeton.Chunk("the ", 4, 8, 3),
        jeton.Chunk("the", 8, 11, 3),
    ]


def test_contradicting_arguments_are_refused() -> None:
    tok = ranks()
    for call, message in (
        (lambda: tok.chunk("x", 0), "max_tokens must be at least 1"),
        (lambda: tok.chunk("x", 10, overlap=10), "overlap=10 must be less than the 10 tokens"),
        (lambda: tok.chunk("x", 10, overlap=-1), "overlap must be at least 0"),
        (lambda: tok.chunk("x", at="sentences"), "^at must be .* did you mean 'sentence'"),  # type: ignore[arg-type]
        (lambda: tok.chunk("a 🙂", 3), r"max_tokens=3 is less than the 4 tokens of .* at 2"),
        (lambda: word_piece().chunk("x", 2, add_special_tokens=True), "no room for text"),
        (lambda: word_piece().truncate("x", 1, add_special_tokens=True), "n=1 has no room"),
        (lambda: tok.truncate("x", 1, side="top"), "^side must be one of"),  # type: ignore[arg-type]
        (lambda: tok.truncate("x", -1), "n must be at least 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
    with pytest.raises(ArgumentTypeError, match="text must be a str"):
        tok.chunk(b"x")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="max_tokens must be an int"):
        tok.chunk("x", 5.0)  # type: ignore[arg-type]
    closed = jeton.CharTrainer().train("ab. ")
    with pytest.raises(EncodeError, match="5000"):
        closed.chunk("ab. a" * 1_000 + "x", 50)


def test_a_limit_of_one_character() -> None:
    tok = ranks()
    assert [chunk.text for chunk in tok.chunk("é🙂", 4, overlap=3)] == ["é", "🙂"]
    assert (kept := tok.truncate("🙂x", 3)).text == "" and kept.dropped_text == "🙂x"
    assert tok.truncate("x🙂", 3, side="left").text == ""


def test_a_piece_that_is_more_tokens_by_itself() -> None:
    """A word that is unknown as a whole, cut at lines: its parts are many tokens each."""
    tok = jeton.Tokenizer(
        models.WordPiece({"[UNK]": 0, "a": 1, "##a": 2, "##\n": 3}, max_input_chars_per_word=9),
        pre_tokenizer=pre_tokenizers.Split("X", "removed"),
    )
    text = "aaa\naaa\naaaaaaaa" * 20 + "X" + "aa" * 50
    check(tok, text, tok.chunk(text, 4, overlap=1, at="line"), 4, 1)


def test_a_template_that_repeats_counts_too() -> None:
    tok = ranks().replace(
        post_processor=post_processors.TemplateProcessing(
            "<|pad|> $A <|pad|>", special_tokens={"<|pad|>": 301}
        )
    )
    text = "the weather there. " * 30
    check(
        tok,
        text,
        tok.chunk(text, 30, overlap=9, add_special_tokens=True),
        30,
        9,
        add_special_tokens=True,
    )


MARKDOWN = """# A
intro text here. more.

## B
some words. other words.
```python
# no heading
## neither
```
### C
deep

# D

| name | size |
| ---- | ---: |
| one | 1 |
| two | 2 |
| three | 3 |
| four | 4 |

end
"""
CODE = """import x


def f():
    a = 1

    b = 2
    return a


class C:
    def g(self):
        pass

    def h(self):
        return (

        )
"""
HTML = (
    "<section><h1>T</h1><p>one</p ><ul><li>a</li><LI>b</LI>\n</ul></section>\n"
    "<section><p>two<br>three</p></section>"
)
STRUCTURES: dict[str, tuple[str, list[list[str]]]] = {
    # A text, and of each level the beginnings of its parts.
    "markdown": (
        MARKDOWN,
        [
            ["# A", "# D"],
            ["# A", "## B", "# D"],
            ["# A", "## B", "### C", "# D"],
            ["# A", "## B", "```python", "### C", "# D"],
        ],
    ),
    "code": (
        CODE,
        [
            ["def f():", "class C:"],
            ["def f():", "    b = 2", "class C:", "    def h(self):"],
        ],
    ),
    "html": (
        HTML,
        [
            ["<section><p>two", ""],
            ["<h1>", "<section><p>two", ""],
            ["<h1>", "<p>one", "<ul>", "</section>", "<section><p>two", "</section>", ""],
            [
                *("<h1>", "<p>one", "<ul>", "<LI>", "</ul>", "</section>", "<section><p>two"),
                *("three", "</section>", ""),
            ],
        ],
    ),
}


HEADINGS: dict[str, tuple[str, list[list[str]]]] = {
    "underlined": ("One\n===\na\n\nTwo\nlines\n---\nb\n", [["One"], ["One", "Two\nlines"]]),
    "no paragraph": ("- item\n---\n> quote\nlazy\n===\n\n---\n    code\n---\n", []),
    "behind a list": ("- item\n\nTitle\n=====\nx\n", [["Title"]]),
    "a table": ("x\n\na | b\n--- | ---\n1 | 2\n", []),
    "rules": ("x\n\n---\n\ny\n***\nz\n", []),
    "front matter": ("---\ntitle: x\n---\n# A\nb\n", [["# A"]]),
    "a rule that begins": ("---\n\nA\n-\nb\n", [["A\n-"]]),
    "in a fence": (
        "x\n```\nA\n===\n# b\n```\ny\n~~~\nz\n~~~\n```\nq\n```",
        [["```\nA", "y", "~~~\nz", "```\nq"]],
    ),
    "a fence below": ("# A\n```\nc\n```\nd\n", [["# A"], ["# A", "```\nc", "d"]]),
}


@pytest.mark.parametrize("name", HEADINGS)
def test_headings_and_fences(name: str) -> None:
    text, expected = HEADINGS[name]
    levels = structure.KINDS["markdown"](text)
    # A level whose only place is the beginning of the text is none.
    expected = [level for level in expected if [text.index(it) for it in level] != [0]]
    assert [[text.index(it) for it in level] for level in expected] == levels


def test_headings_of_html_part_it() -> None:
    text = "<h1>A</h1>x<H2 id=a>B</H2>y<h1 >C</h1><header>z</header><hr>"
    first, second, third, *_ = structure.KINDS["html"](text)
    assert first == [text.index("<hr>")]
    assert second == [0, text.index("<h1 >"), text.index("<hr>")]
    assert third == [0, text.index("<H2"), text.index("<h1 >"), text.index("<hr>")]


HTML_TABLES: dict[str, tuple[str, str]] = {
    "thead": (
        "<table class='a'>\n<thead><tr><td>n</td></tr></thead>\n",
        "<tbody><tr><td>1</td></tr></tbody></table>",
    ),
    "a row of names": ("<TABLE><TR><TH>n<TH>m</TR>\n", "<TR><TD>1</TR></table>"),
    "names of rows": ("", "<table><tr><th>n</th><td>1</td></tr></table>"),
    "no head": ("", "<table><tr><td>1</td></tr></table>"),
    "one within": (
        "<table><thead><tr><th>n</th></tr></thead>",
        "<tr><td><table><tr><th>x</th></tr></table></td></tr></table>",
    ),
    "without an end": ("<table><thead><tr><th>n</th></tr></thead>", "<tr><td>1"),
}


@pytest.mark.parametrize("name", HTML_TABLES)
def test_heads_of_tables_of_html(name: str) -> None:
    head, rows = HTML_TABLES[name]
    text = f"<p>a</p>{head}{rows}<p>b</p>" if rows.endswith("</table>") else f"a{head}{rows}"
    found = structure.TABLES["html"](text)
    assert [table.head for table in found] == ([head] if head else [])
    for table in found:
        inner = rows.removesuffix("</table>")
        assert text[table.start : table.end] == inner


def test_a_chunk_of_rows_of_html_has_the_head_of_its_table() -> None:
    tok = ranks()
    head = "<table><tr><th>name</th><th>km</th></tr>"
    text = "<p>Rivers</p>" + head + "<tr><td>x</td><td>1</td></tr>" * 20 + "</table><p>End.</p>"
    chunks = tok.chunk(text, 100, overlap=0, boundaries="html")
    check_cover(text, chunks)
    rows = range(text.index("<tr><td>"), text.index("</table>"))
    assert all(chunk.head == head * (chunk.start in rows) for chunk in chunks)
    assert sum(chunk.start in rows for chunk in chunks) > 3
    assert all(chunk.tokens == tok.count(chunk.head + chunk.text) <= 100 for chunk in chunks)
    # Time stays linear where nothing ends.
    assert structure.TABLES["html"]("<table><th>" * 50_000) == []
    assert structure.TABLES["html"]("<table " * 50_000) == []


@pytest.mark.parametrize("kind", STRUCTURES)
def test_where_parts_of_a_kind_of_text_begin(kind: str) -> None:
    text, expected = STRUCTURES[kind]
    for ends in ("\n", "\r\n"):
        written = text.replace("\n", ends)
        levels = structure.KINDS[kind](written)
        assert len(levels) == len(expected)
        for places, beginnings in zip(levels, expected, strict=True):
            assert places == sorted(places)
            assert len(places) == len(beginnings)
            for place, beginning in zip(places, beginnings, strict=True):
                assert written.startswith(beginning, place)
    assert structure.KINDS[kind]("") == structure.KINDS[kind]("x") == []


@pytest.mark.large
@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("limit", [9, 20, 40, 200])
@pytest.mark.parametrize("overlap", [0, None])
def test_parts_of_a_kind_of_text_are_kept_whole(
    kind: Any, limit: int, overlap: int | None, any_tok: jeton.Tokenizer
) -> None:
    text, _ = STRUCTURES[kind]
    try:
        any_tok.encode(text)
    except EncodeError:
        return
    chunks = any_tok.chunk(text, limit, overlap=overlap, boundaries=kind)
    check_cover(text, chunks)
    for chunk in chunks:
        assert chunk.tokens == any_tok.count(chunk.head + chunk.text) <= limit
        assert not chunk.head or (
            (kind == "markdown" and chunk.text.lstrip("-").startswith(("|", " "))) or chunk.head
        )
    places = [0, *structure.KINDS[kind](text)[0], len(text)]
    if overlap == 0:  # a part that fits is cut by no chunk
        ends = {chunk.end for chunk in chunks}
        for start, end in pairwise(places):
            inner = [place for place in ends if start < place < end]
            assert not inner or any_tok.count(text[start:end]) > limit


def check_cover(text: str, chunks: list[Any]) -> None:
    assert chunks[0].start == 0 and chunks[-1].end == len(text)
    for chunk, following in pairwise(chunks):
        assert chunk.start < following.start <= chunk.end < following.end
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)


def test_a_chunk_of_rows_has_the_head_of_its_table() -> None:
    tok = ranks()
    head = "| name | size |\n| ---- | ---: |\n"
    chunks = tok.chunk(MARKDOWN, 70, overlap=0, boundaries="markdown", at="line")
    of_rows = [chunk for chunk in chunks if chunk.head]
    assert of_rows and all(chunk.head == head for chunk in of_rows)
    assert all(chunk.text.startswith("| ") for chunk in of_rows)
    # A head that leaves less room than it takes is left out.
    assert not any(it.head for it in tok.chunk(MARKDOWN, 40, overlap=0, boundaries="markdown"))
    assert not any(it.head for it in tok.chunk(MARKDOWN, 70, overlap=0))


def test_boundaries_of_the_caller() -> None:
    tok = jeton.CharTrainer().train("abcdefghij|")
    text = "abc|defgh|ij|abcdefghij"
    places = [text.index("d"), text.index("i"), text.index("|a") + 1]
    for given in (places, reversed(places), lambda _: places, range(4, 5)):
        chunks = tok.chunk(text, 10, overlap=0, boundaries=given, at="token")
        check_cover(text, chunks)
    chunks = tok.chunk(text, 10, overlap=0, boundaries=places, at="token")
    assert [chunk.text for chunk in chunks] == ["abc|defgh|", "ij|", "abcdefghij"]
    assert tok.chunk(text, 10, boundaries=[]) == tok.chunk(text, 10)
    for wrong, error, told in (
        ([99], ArgumentError, "99 is outside of the text, which has 23 characters"),
        ([-1], ArgumentError, "each of boundaries"),
        (["a"], ArgumentTypeError, "each of boundaries"),
        ("markup", ArgumentError, r'must be one of "markdown", "code", "html", not .markup'),
        (5, ArgumentTypeError, "boundaries must be"),
    ):
        with pytest.raises(error, match=told):
            tok.chunk(text, 10, boundaries=wrong)  # type: ignore[arg-type]


def test_chunks_of_many_texts_are_those_of_each(any_tok: jeton.Tokenizer) -> None:
    texts = ["The end. No! ", "the weather", ""]
    try:
        any_tok.encode_batch(texts)
    except EncodeError:
        return
    for options in (
        {},
        {"at": "word", "overlap": 1},
        {"boundaries": lambda text: [len(text) // 2]},
    ):
        found = any_tok.chunk_batch(texts, 8, **options)
        assert found == [any_tok.chunk(text, 8, **options) for text in texts]
    assert any_tok.chunk_batch(iter([])) == []
    with pytest.raises(ArgumentTypeError, match=r"texts\[1\]: text must be a str"):
        any_tok.chunk_batch(["the", 5])  # type: ignore[list-item]
    with pytest.raises(ArgumentTypeError, match="texts must be an iterable of str"):
        any_tok.chunk_batch("the")
    with pytest.raises(ArgumentError, match="max_tokens"):
        any_tok.chunk_batch([], 0)


def test_the_middle_of_a_text_is_cut(any_tok: jeton.Tokenizer) -> None:
    numbers = random.Random(7)
    for _ in range(120):
        text = "".join(numbers.choices(PARTS, k=numbers.randrange(1, 30)))
        limit = numbers.randrange(0, 40)
        unit = numbers.choice(UNITS)
        try:
            tokens = any_tok.count(text)
        except EncodeError:
            continue
        kept = any_tok.truncate(text, limit, side="middle", at=unit)  # type: ignore[arg-type]
        assert kept.tokens == any_tok.count(kept.text) <= limit
        assert (kept.start, kept.end) == (0, len(text))
        if tokens <= limit:
            assert kept.text == text and kept.gap is None and kept.dropped_text == ""
            continue
        assert kept.gap is not None
        head, tail = kept.text[: kept.gap], kept.text[kept.gap :]
        assert head + kept.dropped_text + tail == text
        assert kept.dropped_tokens == any_tok.count(kept.dropped_text)
        assert any_tok.count(head) <= (limit + 1) // 2


def test_both_ends_stay() -> None:
    tok = jeton.CharTrainer().train("to be or not to be")
    kept = tok.truncate("to be or not to be", 11, side="middle", at="word")
    assert (kept.text, kept.gap, kept.dropped_text) == ("to be to be", 6, "or not ")
