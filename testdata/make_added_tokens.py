"""Computes added_tokens.toml with the library whose behaviour it pins, Hugging Face tokenizers.

Run it when a case is added: python testdata/make_added_tokens.py
"""

import json
from pathlib import Path
from typing import Any

from make_normalizers import (
    LOWERCASE,
    NFC,
    NFD,
    NFKC,
    STRIP_ACCENTS,
    bert,
    prepend,
    replace,
    sequence,
    strip,
    toml,
)
from tokenizers import Tokenizer

HERE = Path(__file__).parent
FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")


def token(content: str, flags: str = "", *, at: int = 0) -> dict[str, Any]:
    given = flags.split()
    assert set(given) <= set(FLAGS)
    return {"id": at, "content": content, **{flag: flag in given for flag in FLAGS}}


BERT = bert(True, True, None, True)

# name, normalizer, tokens, texts
CASES: list[tuple[str, Any, list[dict[str, Any]], list[str]]] = [
    ("nothing to find", None, [], ["", "abc"]),
    (
        "the longest of those that begin first",
        None,
        [token("<a>"), token("<a><b>"), token("<b><c><d>"), token("<c>")],
        ["<a><b><c><d>", "<a><b", "x<a>y<b><c>", "<b><c><d><a>", "<<a>>"],
    ),
    (
        "runs of spaces",
        None,
        [token(" " * n) for n in range(2, 9)] + [token("\n\n"), token("\t\t")],
        [" " * n + "x" for n in range(1, 20)] + ["\n\n\n x\t\t\t"],
    ),
    (
        "special and not, one inside the other",
        None,
        [token("<|end|>", "special"), token("end"), token("|>x"), token("d|", "special")],
        ["<|end|> end", "<|end|>x", "end|>x", "<|end|"],
    ),
    (
        "a whole word",
        None,
        [token("ab", "single_word"), token("-é", "single_word"), token("§", "single_word")],
        [
            "ab",
            "cab ab abc",
            "ab.ab-ab",
            "_ab ab_ 1ab éab ab\u0301 ab\u200d ab‿ ab² ab①",
            "-é x-é -éx",
            "§§ a§ §a §",
            "我ab ab👍",
        ],
    ),
    (
        "white space before",
        None,
        [token("<a>", "lstrip"), token("<b>")],
        [
            "x <a> y",
            "  <a>",
            "<b> \t\n\u00a0\u3000\u2028<a>",
            "<a> <a>",
            "x\u200b<a>\u180e<a>\x1c<a>",
        ],
    ),
    (
        "white space after",
        None,
        [token("<a>", "rstrip"), token("<b>")],
        [
            "x <a> y",
            "<a>  ",
            "<a> \t\n\u00a0\u3000\u2028<b> x",
            "<a> <a>",
            "<a>\u200bx<a>\x85<a>\ufeff",
        ],
    ),
    (
        "white space on both sides",
        None,
        [token("<a>", "lstrip rstrip"), token("<b>", "lstrip"), token("<c>", "rstrip special")],
        ["x <a> y", " <a> <a> ", "<c> <b> <c> <a> ", "  <c>  ", "<a> <b>"],
    ),
    (
        "found in what an earlier one took",
        None,
        [token("<a>", "rstrip"), token(" "), token(" b")],
        ["x<a>   b", "<a> y z", "<a>  ", "<a>   bc<a> "],
    ),
    (
        "whole words with white space",
        None,
        [token("ab", "single_word lstrip rstrip"), token("b", "rstrip")],
        ["x ab y", "xab ab ", "b ab b", "ab b ab"],
    ),
    (
        "looked for in normalized text",
        LOWERCASE,
        [token("Yes", "normalized"), token("NO"), token("Éa", "normalized")],
        ["YES yes Yes", "NO no No", "NOyes", "éA ÉA", "İYES"],
    ),
    (
        "of normalized and original ones, the original first",
        LOWERCASE,
        [token("<A><B>", "normalized"), token("<B>"), token("<a>", "normalized special")],
        ["<a><b>", "<a><B>", "<A><A>", "<B><a>"],
    ),
    (
        "a prefix that each stretch gets",
        prepend("_"),
        [token("<a>", "normalized"), token("<b>"), token("_x", "normalized")],
        ["x<a>y", "<a>", "<b><a>", "x", "ax<b>x<b>", "y_x"],
    ),
    (
        "accents gone",
        sequence(NFD, STRIP_ACCENTS),
        [token("é", "normalized"), token("à"), token("oo", "normalized lstrip single_word")],
        ["é e e\u0301", "à a\u0300 a", "x ôo y oo\u0301", "ooo"],
    ),
    (
        "widths",
        NFKC,
        [token("ﬁ", "normalized"), token("①", "normalized"), token("㍍")],
        ["ﬁsh fish", "①1", "㍍メートル", "ｆｉ"],
    ),
    (
        "BERT",
        BERT,
        [token("[MASK]", "special lstrip"), token("[CLS]", "special"), token("Ünï", "normalized")],
        ["[CLS] [MASK] a [mask]", "ünï UNI\u0308", "我[MASK]们", "\u0000[CLS]\u200b[MASK]"],
    ),
    (
        "composed",
        NFC,
        [token("é", "normalized"), token("e\u0301", ""), token("\u0301", "normalized")],
        ["é e\u0301", "\u0301a", "e\u0316\u0301"],
    ),
    (
        "nothing left of a token",
        replace("String", "_", ""),
        [token("_", "normalized"), token("ab", "normalized")],
        ["ab  bab", "x_y", "_"],
    ),
    (
        "nothing left of a token that takes white space",
        replace("String", "_", ""),
        [token("_", "normalized lstrip rstrip")],
        ["a  b", " a"],
    ),
    (
        "nothing left of the text",
        strip(True, True),
        [token("<a>"), token("x ", "normalized")],
        [" ", " <a> ", " x y ", "x<a>\n<a> x"],
    ),
    (
        "spans through a replacement",
        replace("Regex", r"\s+", "▁▁"),
        [token("▁", "normalized"), token("a▁▁", "normalized"), token(" b")],
        ["a b", "x  a \n c", "  b"],
    ),
    (
        "NUL and astral",
        None,
        [token("\0"), token("a\0b"), token("👍🏽"), token("👍")],
        ["x\0ya\0b", "👍👍🏽👍", "🏽"],
    ),
]

# name, model's vocabulary, list in the file
LOADED: list[tuple[str, dict[str, int], list[dict[str, Any]]]] = [
    ("in order", {"?": 0, "a": 1}, [token("<a>", at=2), token("<b>", at=3)]),
    ("out of order", {"?": 0, "a": 1}, [token("<a>", at=3), token("<b>", at=2)]),
    ("a gap", {"?": 0, "a": 1}, [token("<a>", at=7), token("<b>", at=9)]),
    ("in the model", {"?": 0, "a": 1}, [token("a", at=1), token("<b>", at=2)]),
    ("in the model, by another id", {"?": 0, "a": 1}, [token("a", at=5), token("<b>", at=2)]),
    ("one twice", {"?": 0}, [token("<a>", at=1), token("<b>", at=2), token("<a>", "lstrip", at=3)]),
    ("one id twice", {"?": 0}, [token("<a>", at=1), token("<b>", at=1)]),
    ("empty", {"?": 0}, [token("", at=1), token("<b>", at=2)]),
    ("the model has a gap", {"?": 0, "a": 1, "b": 10}, [token("<a>", at=11)]),
    ("on an id of the model", {"?": 0, "a": 1, "b": 3}, [token("<a>", at=3), token("b", at=3)]),
]


def tokenizer(normalizer: Any, tokens: list[dict[str, Any]], vocab: dict[str, int]) -> Tokenizer:
    """Without a pre-tokenizer, so that each stretch of text is one unknown token."""
    return Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": tokens,
                "normalizer": normalizer,
                "pre_tokenizer": None,
                "post_processor": None,
                "decoder": None,
                "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "?"},
            }
        )
    )


def cuts(tokenizer: Tokenizer, text: str, ignore: bool) -> list[list[int]]:
    tokenizer.encode_special_tokens = ignore
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return [[i, *span] for i, span in zip(encoding.ids, encoding.offsets, strict=True)]


def main() -> None:
    out = [
        "# Added tokens: where they are cut out of a text. A cut is an id (0 for text between) and\n"
        "# its span in characters. Made by make_added_tokens.py.\n"
    ]
    for name, normalizer, tokens, texts in CASES:
        for i, entry in enumerate(tokens):
            entry["id"] = i + 1
        theirs, ours = normalizer or (None, None)
        judge = tokenizer(theirs, tokens, {"?": 0})
        out.append(f"\n[[case]]\nname = {toml(name)}\n")
        if ours is not None:
            out.append(f"normalizer = {toml(ours)}\n")
        out.append("tokens = [\n" + "".join(f"    {toml(entry)},\n" for entry in tokens) + "]\n")
        out.append("rows = [\n")
        for text in texts:
            row = {
                "text": text,
                "allow": cuts(judge, text, False),
                "ignore": cuts(judge, text, True),
            }
            out.append(f"    {toml(row)},\n")
        out.append("]\n")
    for name, vocab, tokens in LOADED:
        judge = tokenizer(None, tokens, vocab)
        ids = sorted((i, t.content, t.lstrip) for i, t in judge.get_added_tokens_decoder().items())
        out.append(f"\n[[loaded]]\nname = {toml(name)}\nmodel = {toml(list(vocab.items()))}\n")
        out.append("tokens = [\n" + "".join(f"    {toml(entry)},\n" for entry in tokens) + "]\n")
        out.append(f"ids = {toml(ids)}\n")
    (HERE / "added_tokens.toml").write_text("".join(out))


if __name__ == "__main__":
    main()
