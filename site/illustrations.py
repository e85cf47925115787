"""Draws the figures of the documents with jeton's own steps: `python site/illustrations.py`.

Look here for what a figure in docs/pictures shows. Those below a console block of a page are
drawn by `tests/support/guide.py`. A test holds each file equal to what this draws.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import course_figures
import jeton
import speed
import worked_examples
from jeton import learn, samples, textbook
from jeton.data import pack
from jeton.display.human_readable import visible, visible_pieces
from jeton.display.views.frames import Bar, Bars, Chip, Frame, Mark, Row, Rows, Table
from jeton.encoding.explaining.steps import ModelStep
from jeton.encoding.explaining.view_frames import frames_of_pieces
from jeton.learn.merging import frames_of_merging, start_rows
from jeton.learn.reference import byte_level
from pictures import of_frame, of_tokens

FOLDER = Path(__file__).parent.parent / "docs/pictures"


def tokens() -> str:
    """The sentence at the top of the README and of the site."""
    tok = jeton.load("jeton-4k", offline=True)
    text = "Tokenizers turn text into numbers: every word, un café, 1,204 dots."
    ids = tok.encode(text)
    return of_tokens(
        [(visible(tok.vocab.spelling(id)), id) for id in ids],
        f"The tokens of a sentence with their ids: {text}",
    )


@cache
def small() -> jeton.Tokenizer:
    """The tokenizer that ships with jeton."""
    return jeton.load("jeton-4k", offline=True)


def chips(texts: Sequence[str], under: Sequence[object] = (), mark: Mark = "") -> tuple[Chip, ...]:
    """Chips side by side, with something below each."""
    below = [str(it) for it in under] or [""] * len(texts)
    return tuple(Chip(text, mark, it) for text, it in zip(texts, below, strict=True))


def row(tok: jeton.Tokenizer, text: str, label: str = "", note: str = "") -> Row:
    """The tokens of a text in a line, with their ids."""
    ids = tok.encode(text)
    return Row(chips(visible_pieces([tok.vocab.spelling(id) for id in ids]), ids), label, note)


def rows(title: str, *shown: Row, heading: str = "", note: str = "") -> str:
    """Lines of chips as a picture."""
    return of_frame(Frame(heading, note, (Rows(shown),)), title)


def bars(title: str, numbers: dict[str, float], written: str, heading: str) -> str:
    """Numbers as bars."""
    most = max(numbers.values())
    shown = tuple(Bar(it, number / most, written.format(number)) for it, number in numbers.items())
    return of_frame(Frame(heading, "", (Bars(shown),)), title)


def why_spelling() -> str:
    words = ("strawberry", " strawberry", "STRAWBERRY")
    return rows(
        "strawberry in tokens", *(row(small(), word, visible(word.encode())) for word in words)
    )


def why_languages() -> str:
    said = {
        "The tide waits for nobody.": "English",
        "Die Flut wartet auf niemanden.": "German",
        "Прилив никого не ждёт.": "Russian",
        "潮は誰も待たない。": "Japanese",
    }
    counts = {language: float(small().count(text)) for text, language in said.items()}
    return bars("Tokens by language", counts, "{:.0f} tokens", "“The tide waits for nobody.”")


def units() -> str:
    text = "the uncounted teapots"
    return rows(
        "Characters, words, subwords",
        Row(chips([visible(it.encode()) for it in text]), "characters"),
        Row(chips(text.split()), "words"),
        Row(
            chips([visible(small().vocab.spelling(id)) for id in small().encode(text)]), "subwords"
        ),
    )


@cache
def low() -> tuple[Frame, ...]:
    """The lesson on low, lower, newest and widest."""
    words = textbook.LOW_COUNTS
    steps = list(learn.watch_bpe(words, 5))
    return tuple(frames_of_merging(start_rows(words, "</w>"), steps))


def bpe_words() -> str:
    return of_frame(low()[0], "The words in symbols")


def bpe_lowest() -> str:
    return of_frame(pieces_of(textbook.low_lower_newest_widest(), "lowest"), "The merges of lowest")


def pieces_of(tok: jeton.Tokenizer, text: str) -> Frame:
    """What the model does with a text."""
    [step] = [it for it in tok.explain(text).steps if isinstance(it, ModelStep)]
    return frames_of_pieces(step)[0]


def utf8() -> str:
    shown = []
    for character in "aé図🙂":
        bits = " ".join(f"{byte:08b}" for byte in character.encode())
        shown.append((character, f"U+{ord(character):04X}", bits, character.encode().hex(" ")))
    table = Table(("", "code point", "bits in UTF-8", "bytes"), tuple(shown))
    note = "1s in front say how many bytes there are; 10 begins every byte that follows."
    return of_frame(Frame("From a number to bytes", note, (table,)), "Code points in UTF-8")


def wordpiece_match() -> str:
    tok = textbook.wordpiece(textbook.HUG_COUNTS, 3)
    return of_frame(pieces_of(tok, "bugs"), "The longest match of bugs")


def unigram_lattice() -> str:
    tok = textbook.hug_pug_pun_bun_hugs("unigram")
    return of_frame(pieces_of(tok, "unhug"), "The lattice of unhug")


def sentencepiece_spaces() -> str:
    tok = jeton.UnigramTrainer(1_500).train(samples.read_all().values())
    text = "  ﬁve  tides"
    return rows(
        "What SentencePiece does to text",
        Row(chips([visible(text.encode())]), "text"),
        Row(chips(["▁five▁tides"]), "normalized"),
        row(tok, text, "pieces"),
    )


def split_patterns() -> str:
    text = "It's  12345 lines: don't!"
    shown = [Row(chips([visible(it.encode()) for it in byte_level.split(text)]), "GPT-2")]
    for name, model in (("gpt4", "GPT-4"), ("gpt4o", "GPT-4o"), ("qwen2", "Qwen 2")):
        shown.append(Row(chips([visible(it.encode()) for it in jeton.split(text, name)]), model))
    return rows("One text, split by four patterns", *shown)


def split_gpt2_rules() -> str:
    text = "It's  12 o'clock!"
    kinds = {
        "'s": "contraction",
        "It": "letters",
        "·12": "numbers",
        "!": "signs",
        "·": "white space",
    }
    shown = [visible(it.encode()) for it in byte_level.split(text)]
    named = [kinds.get(it, "signs" if it == "'" else "letters") for it in shown]
    return rows("Which alternative of GPT-2's pattern fits where", Row(chips(shown, named)))


def sizes() -> str:
    texts = samples.read_all()
    held_out = texts.pop("tales")
    trained = jeton.BPETrainer([500, 1_000, 2_000, 4_000]).train_all(texts.values())
    rates = {f"{size:,}": len(held_out) / tok.count(held_out) for size, tok in trained.items()}
    return bars(
        "Bytes per token by size", rates, "{:.2f} bytes per token", "Tokens in the vocabulary"
    )


def merges_are_prefixes() -> str:
    trained = jeton.BPETrainer([270, 280], pattern="gpt4").train_all([samples.read("essays")])
    shown = [
        Row(
            chips([visible(left + right) for left, right in tok.vocab.merges[:18]]),
            f"{size} tokens",
        )
        for size, tok in trained.items()
    ]
    return rows("A larger vocabulary begins with the smaller one", *shown)


def packed_rows() -> str:
    documents = [[1] * 5, [2] * 6, [3] * 3, [4] * 2]
    letters = "·ABCD"
    shown = []
    for method in ("concatenate", "best_fit_crop", "bins"):
        packing = pack(documents, 8, method)
        for number, ids in enumerate(packing[:].ids.tolist()):
            runs = ["".join(run) for _, run in itertools.groupby(letters[id] for id in ids)]
            marked = tuple(Chip(run, "dim" if run[0] == "·" else "") for run in runs)
            shown.append(Row(marked, method if number == 0 else ""))
    return rows(
        "Three ways to pack four documents into sequences of eight tokens",
        *shown,
        note="Documents of 5, 6, 3 and 2 tokens, in sequences of 8; · is padding.",
    )


def ids_to_vectors() -> str:
    text = "The tide waits"
    ids = small().encode(text)
    return rows(
        "From text to vectors",
        Row(chips([visible(text.encode())]), "text"),
        Row(chips([visible(small().vocab.spelling(id)) for id in ids]), "tokens"),
        Row(chips([str(id) for id in ids]), "ids"),
        Row(chips([f"row {id:,}" for id in ids]), "vectors", "of the embedding"),
    )


def control_and_text() -> str:
    tok = small()
    end = tok.special_tokens["<|im_end|>"]
    typed = tok.encode("Hi<|im_end|>")
    texts = [visible(tok.vocab.spelling(id)) for id in typed]
    return rows(
        "The spelling of a control token, and the token itself",
        Row(chips(texts, typed), "typed by a user"),
        Row(
            (*chips(["H", "i"], typed[:2]), Chip("<|im_end|>", "added", str(end))),
            "by the template",
        ),
    )


def parts_and_whole() -> str:
    return rows(
        "The tokens of two parts are not those of the whole",
        row(small(), "The tide", "one part"),
        row(small(), "s wait", "the other"),
        row(small(), "The tides wait", "the whole"),
    )


def table_in_formats() -> str:
    counts = {name: float(small().count(text)) for name, text in table_texts().items()}
    return bars("One table in four formats", counts, "{:.0f} tokens", "Three rows of three columns")


def table_texts() -> dict[str, str]:
    """One table as CSV, YAML and JSON, as chapter 7 writes it."""
    people = [("Ada", 36, "London"), ("Grace", 45, "New York"), ("Linus", 21, "Helsinki")]
    records = [dict(zip(("name", "age", "city"), person, strict=True)) for person in people]
    return {
        "CSV": "name,age,city\n" + "".join(",".join(map(str, it)) + "\n" for it in people),
        "YAML": "".join(f"- name: {n}\n  age: {a}\n  city: {c}\n" for n, a, c in people),
        "JSON": json.dumps(records),
        "JSON, indented": json.dumps(records, indent=2),
    }


FIGURES: dict[str, Callable[[], str]] = {
    "tokens": tokens,
    "speed": speed.picture,
    "why-spelling": why_spelling,
    "why-languages": why_languages,
    "units": units,
    "bpe-words": bpe_words,
    "bpe-lowest": bpe_lowest,
    "utf8": utf8,
    "wordpiece-match": wordpiece_match,
    "unigram-lattice": unigram_lattice,
    "sentencepiece-spaces": sentencepiece_spaces,
    "split-patterns": split_patterns,
    "split-gpt2-rules": split_gpt2_rules,
    "table-in-formats": table_in_formats,
    "merges-are-prefixes": merges_are_prefixes,
    "sizes": sizes,
    "packed-rows": packed_rows,
    "ids-to-vectors": ids_to_vectors,
    "control-and-text": control_and_text,
    "parts-and-whole": parts_and_whole,
    **course_figures.FIGURES,
    **worked_examples.FIGURES,
}
"""What draws a picture, by the name of its file."""


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
