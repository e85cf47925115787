"""Computes normalizers.toml with the library whose behaviour it pins, Hugging Face tokenizers.

Run it when a normalizer or a text is added: python testdata/make_normalizers.py
"""

import base64
import json
from pathlib import Path
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer

HERE = Path(__file__).parent
CHARSMAP = HERE / "charsmap.bin"

TEXTS = {
    "plain": "Hello world",
    "white space at both ends": " \t\u3000Hé l\u00a0\u2003\n",
    "only white space": " \u00a0\u3000\n",
    "composed": "Éléphant ÅÇ",
    "decomposed": "e\u0301l\u00e9 A\u030aC\u0327",
    "marks out of order": "a\u0301\u0316\u0327 q\u0307\u0323 \u1e0b\u0323",
    "a mark first": "\u0301\u0316abc",
    "only marks": "\u0301\u0345\u0316",
    "iota below": "α\u0301\u0345 ᾳ\u0301 ᾼ \u0345a",
    "Hangul syllables": "각한글",
    "Hangul jamo": "\u1100\u1161\u11a8 \u1100\u1161\u11a7 가\u11a8",
    "half width": "ｶﾞﾊﾟｱ ﾡﾤ",
    "full width": "ＡＢＣ！１２　￥",
    "Arabic presentation forms": "ﷺ ﻼ ﺍ ﭐ",
    "ligatures": "ﬁﬂﬃ ﬅ ĳ Ǆ",
    "squared and circled": "㍍㌔ ㈱ ① ⑴ ½ ²",
    "signs that compose to other signs": "Å K Ω ;",
    "composition exclusions": "\u0958 \u2adc \ufb1d \u0344",
    "case of many": "İIıi ẞß ſS ΑΣ ΣΣ. Ǆǅǆ Ⅷ Ⓐ Ꭰ ᏸ Აა",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00ad",
    "family": "👩\u200d👩\u200d👧 🇫🇷 👍🏽 ☺\ufe0f",
    "controls": "a\0b\x01\x08\t\n\x0b\x0c\r\x1f\x7f\x80\x85\x8f\x9fz",
    "line ends": "a\r\nb\u2028c\u2029d",
    "private use, unassigned, noncharacter": "\ue000 \u0378 \U000e0001 \ufdd0 \U0010ffff",
    "replacement character": "a\ufffdb",
    "ideographs": "我x中\u3400\U00020000\U0002b820\U0002b920\uf900ａ",
    "Thai, Devanagari": "กำ नमस्ते क़",
    "Tibetan": "\u0f73\u0f71\u0f72 \u0fb3\u0f81",
    "musical": "\U0001d15e\U0001d165 \U0001d1bb",
    "lower one eighth block": "▁a▁▁b",
    "underscores": "a__b_",
    "apostrophes": "``a'' “b” ‘c’ …",
}

CHARSMAP_RULES = {
    "A": "a",
    "É": "e",
    "E": "e",
    "E\u0301": "é",
    "ﬁ": "fi",
    "ｶ": "カ",
    "ｶﾞ": "ガ",
    "\u200b": "",
    "\u00a0": " ",
    "\u3000": " ",
    "…": "...",
    "½": "1⁄2",
    "\t": " ",
    "👍": "+1",
    "\u0301": "",
    "ß": "ss",
}

# Where a map removes the first characters, the library gives all that follow the spans of earlier ones.
CHARSMAP_SPANS = {
    "a mark first": [(2, 3), (3, 4), (4, 5)],
    "only marks": [(1, 2), (2, 3)],
    "a removed character first": [(1, 2), (2, 3), (4, 5)],
    "shorter after longer": [(0, 1), (0, 1), (0, 1), (3, 4)],
}

CHARSMAP_TEXTS = {
    "a key of one character": "xAx",
    "a removed character first": "\u200bAb\u200bc",
    "only a removed character": "\u200b",
    "a grapheme by its shortest key": "E\u0301x É\u0301",
    "a grapheme of six bytes": "👍🏽 ｶﾞ e\u0301",
    "a mark removed": "o\u0301o\u0301\u0301",
    "longer": "½…ﬁß",
    "shorter after longer": "½\u200b\u200bx",
    "a carriage return and a line end": "A\r\nA\t",
    "Hangul": "각A",
}


def strip(left: bool, right: bool) -> Any:
    return (
        {"type": "Strip", "strip_left": left, "strip_right": right},
        {"Strip": {"left": left, "right": right}},
    )


def replace(kind: str, pattern: str, content: str) -> Any:
    ours = {"Literal": pattern}
    if kind == "Regex":
        ours = {"Regex": {"source": pattern, "dialect": "Oniguruma"}}
    return (
        {"type": "Replace", "pattern": {kind: pattern}, "content": content},
        {"Replace": {"pattern": ours, "content": content}},
    )


def bert(clean: bool, chinese: bool, accents: bool | None, lower: bool) -> Any:
    ours = {"clean_text": clean, "handle_chinese_chars": chinese, "lowercase": lower}
    if accents is not None:
        ours["strip_accents"] = accents
    return (
        {
            "type": "BertNormalizer",
            "clean_text": clean,
            "handle_chinese_chars": chinese,
            "strip_accents": accents,
            "lowercase": lower,
        },
        {"Bert": ours},
    )


def prepend(prefix: str) -> Any:
    return {"type": "Prepend", "prepend": prefix}, {"Prepend": {"prefix": prefix}}


def simple(theirs: str, ours: str) -> Any:
    return {"type": theirs}, ours


def sequence(*parts: Any) -> Any:
    return (
        {"type": "Sequence", "normalizers": [theirs for theirs, _ in parts]},
        {"Sequence": [ours for _, ours in parts]},
    )


NFC, NFD = simple("NFC", "Nfc"), simple("NFD", "Nfd")
NFKC, NFKD = simple("NFKC", "Nfkc"), simple("NFKD", "Nfkd")
LOWERCASE = simple("Lowercase", "Lowercase")
STRIP_ACCENTS = simple("StripAccents", "StripAccents")
NMT, BYTE_LEVEL = simple("Nmt", "Nmt"), simple("ByteLevel", "ByteLevel")

NORMALIZERS = [
    NFC,
    NFD,
    NFKC,
    NFKD,
    LOWERCASE,
    STRIP_ACCENTS,
    strip(True, True),
    strip(True, False),
    strip(False, True),
    NMT,
    replace("String", "_", ""),
    replace("String", "_", "--"),
    replace("String", "a", "é▁"),
    replace("String", "", "|"),
    replace("Regex", r"\s+", " "),
    replace("Regex", r"\p{L}\p{M}*", "X"),
    replace("Regex", r"^|(?<=\s)", "▁"),
    replace("Regex", r"[^a-z]", ""),
    replace("Regex", r"$", "</s>"),
    prepend("▁"),
    prepend("<s> é"),
    bert(True, True, None, True),
    bert(True, True, None, False),
    bert(False, True, True, False),
    bert(True, False, False, True),
    bert(False, False, None, False),
    BYTE_LEVEL,
    sequence(NFD, LOWERCASE, STRIP_ACCENTS),
    sequence(NFKC, strip(True, True), prepend("▁"), replace("String", " ", "▁")),
    sequence(NFKD, NFC, BYTE_LEVEL),
    sequence(strip(True, False), NFD, STRIP_ACCENTS, prepend("_"), LOWERCASE),
    sequence(NMT, NFKC, replace("Regex", " {2,}", " "), LOWERCASE),
    sequence(NFKD, STRIP_ACCENTS, strip(True, True), replace("Regex", r"\W", ""), prepend("x")),
    sequence(prepend("▁"), BYTE_LEVEL, LOWERCASE, NFKD),
    sequence(LOWERCASE, NFC, replace("String", "i", ""), NFD, NFKC),
    sequence(),
]


def charsmap() -> bytes:
    """A small character map, compiled by SentencePiece from CHARSMAP_RULES."""
    rules = HERE / "rules.tsv"
    model = HERE / "charsmap.model"

    def hexed(text: str) -> str:
        return " ".join(f"{ord(c):X}" for c in text)

    try:
        rules.write_text(
            "".join(f"{hexed(old)}\t{hexed(new)}\n" for old, new in CHARSMAP_RULES.items())
        )
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["a b c d e f g"] * 10),
            model_prefix=str(model.with_suffix("")),
            vocab_size=12,
            hard_vocab_limit=False,
            normalization_rule_tsv=str(rules),
            minloglevel=2,
        )
        proto = sentencepiece_model_pb2.ModelProto()
        proto.ParseFromString(model.read_bytes())
        return proto.normalizer_spec.precompiled_charsmap
    finally:
        for leftover in (rules, model, model.with_suffix(".vocab")):
            leftover.unlink(missing_ok=True)


def character_tokenizer(normalizer: Any) -> Tokenizer:
    """One unknown token a character, so that each character's span shows."""
    return Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [],
                "normalizer": normalizer,
                "pre_tokenizer": {
                    "type": "Split",
                    "pattern": {"Regex": r"[\s\S]"},
                    "behavior": "Isolated",
                    "invert": False,
                },
                "post_processor": None,
                "decoder": None,
                "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"},
            }
        )
    )


def toml_string(text: str) -> str:
    escaped = (
        c
        if (c.isalnum() and c.isascii()) or c in " .,;:!?'-_<>|/()+*[]{}^$="
        else f"\\U{ord(c):08x}"
        for c in text
    )
    return '"' + "".join(escaped) + '"'


def toml(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return toml_string(value)
        case dict():
            return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(toml, value)) + "]"
        case _:
            return str(value)


def rows(
    theirs: Any, texts: dict[str, str], spans: dict[str, list[tuple[int, int]]] | None = None
) -> list[str]:
    """The rows of a normalizer; `spans` are those of texts whose own the library has wrong."""
    tokenizer = character_tokenizer(theirs)
    lines = []
    for name, text in texts.items():
        # The library's own panics are not pinned.
        try:
            encoding = tokenizer.encode(text)
        except BaseException as error:
            print("left out:", theirs, repr(text), error)
            continue
        normalized = text
        if tokenizer.normalizer is not None:
            normalized = tokenizer.normalizer.normalize_str(text)
        if normalized != text or name == "plain":
            offsets = (spans or {}).get(name, encoding.offsets)
            row = {"name": name, "text": text, "normalized": normalized, "spans": offsets}
            lines.append(f"    {toml(row)},\n")
    return lines


def main() -> None:
    out = [
        "# Normalizers: what becomes of a text, and which characters of it each new character\n"
        "# came from: of what was composed the first, of what was replaced the last. Made by\n"
        "# make_normalizers.py.\n"
    ]
    for theirs, ours in NORMALIZERS:
        lines = rows(theirs, TEXTS)
        out.append(f"\n[[normalizer]]\nis = {toml(ours)}\nrows = [\n{''.join(lines)}]\n")
    blob = charsmap()
    CHARSMAP.write_bytes(blob)
    theirs = {
        "type": "Precompiled",
        "precompiled_charsmap": base64.b64encode(blob).decode(),
    }
    lines = rows(theirs, TEXTS | CHARSMAP_TEXTS, CHARSMAP_SPANS)
    out.append(f'\n[[normalizer]]\ncharsmap = "{CHARSMAP.name}"\nrows = [\n{"".join(lines)}]\n')
    (HERE / "normalizers.toml").write_text("".join(out))


if __name__ == "__main__":
    main()
