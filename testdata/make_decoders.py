"""Computes decoders.toml and post_processors.toml with Hugging Face tokenizers, whose behaviour they pin.

Run it when a component or a row is added: python testdata/make_decoders.py
"""

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

HERE = Path(__file__).parent

PIECE = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
SEP_CLS: dict[str, Any] = {"sep": ["[SEP]", 1], "cls": ["[CLS]", 0]}

DECODERS: dict[str, dict[str, Any]] = {
    "ByteLevel": {"type": "ByteLevel", **PIECE},
    "WordPiece": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "WordPiece without cleanup": {
        "type": "WordPiece",
        "prefix": "##",
        "cleanup": False,
    },
    "WordPiece without prefix": {"type": "WordPiece", "prefix": "", "cleanup": True},
    "Metaspace always": {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": True,
    },
    "Metaspace never": {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "never",
        "split": False,
    },
    "Metaspace first": {
        "type": "Metaspace",
        "replacement": "_",
        "prepend_scheme": "first",
        "split": True,
    },
    "BPEDecoder": {"type": "BPEDecoder", "suffix": "</w>"},
    "BPEDecoder without suffix": {"type": "BPEDecoder", "suffix": ""},
    "ByteFallback": {"type": "ByteFallback"},
    "Fuse": {"type": "Fuse"},
    "Strip": {"type": "Strip", "content": "▁", "start": 1, "stop": 0},
    "Strip both": {"type": "Strip", "content": "a", "start": 2, "stop": 1},
    "Replace text": {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    "Replace nothing": {"type": "Replace", "pattern": {"String": ""}, "content": "-"},
    "Replace regex": {
        "type": "Replace",
        "pattern": {"Regex": "[▁a]+"},
        "content": "<>",
    },
    "Replace empty matches": {
        "type": "Replace",
        "pattern": {"Regex": "a*"},
        "content": "-",
    },
    "CTC": {
        "type": "CTC",
        "pad_token": "<pad>",
        "word_delimiter_token": "|",
        "cleanup": True,
    },
    "CTC without cleanup": {
        "type": "CTC",
        "pad_token": "<pad>",
        "word_delimiter_token": "|",
        "cleanup": False,
    },
    "Llama 2": {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
    "nothing": {"type": "Sequence", "decoders": []},
}

TOKENS = {
    "none": [],
    "empty": [""],
    "words": ["hello", "world"],
    "printable bytes": ["Hello", "Ġworld", "Ċ", "Ã©", "ðŁĺ", "Ģ"],
    "broken bytes": ["Ã", "a", "âĤ", "ÿ"],
    "outside the printable alphabet": [" ", "漢", "Ġ a", "é"],
    "word pieces": [
        "we",
        "'",
        "re",
        "##ally",
        "do",
        "not",
        "care",
        ".",
        "is",
        "n't",
        ",",
        "##",
    ],
    "a prefix first": ["##a", "##b", "c"],
    "spaces inside": ["a .", " do not", " ' ", " 's 've"],
    "meta spaces": ["▁Hello", "▁▁", "▁", "a▁b", "_x", "y_"],
    "suffixes": ["lo", "w</w>", "est</w>"],
    "suffix alone": ["</w>", "</w>"],
    "byte tokens": ["<0x48>", "<0xC3>", "<0xA9>", "x", "<0xe2>", "<0x82>"],
    "byte tokens run broken": ["<0x61>", "<0xFF>", "<0x62>"],
    "nearly byte tokens": ["<0xG0>", "<0x1>", "<0x+A>", "<0xé>", "<0X41>", "<0x041>"],
    "repeated": [
        "<pad>",
        "h",
        "h",
        "e",
        "l",
        "l",
        "<pad>",
        "l",
        "o",
        "o",
        "|",
        "|",
        "w",
        "<pad>",
    ],
    "pad inside": ["a<pad>b", "|x| .", "<pad>"],
    "runs of a": ["aaaa", "baab", "a▁", "ba"],
    "wide": ["👩‍👩‍👧", "ＡＢ", "e\u0301"],
}

TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ],
    "pair": [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
        {"Sequence": {"id": "B", "type_id": 1}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
    ],
    "special_tokens": {
        "[CLS]": {"id": "[CLS]", "ids": [0], "tokens": ["[CLS]"]},
        "[SEP]": {"id": "[SEP]", "ids": [1, 1], "tokens": ["[SEP]", "[SEP]"]},
    },
}


def sequence(kind: str, type_id: int) -> dict[str, Any]:
    return {"Sequence": {"id": kind, "type_id": type_id}}


POST_PROCESSORS: dict[str, dict[str, Any] | None] = {
    "none": None,
    "TemplateProcessing": TEMPLATE,
    "a template that swaps and repeats": {
        **TEMPLATE,
        "single": [sequence("A", 3), sequence("A", 4)],
        "pair": [
            sequence("B", 1),
            {"SpecialToken": {"id": "[SEP]", "type_id": 7}},
            sequence("A", 2),
        ],
    },
    "a template that leaves out the first": {
        **TEMPLATE,
        "pair": [sequence("B", 5), TEMPLATE["single"][0]],
    },
    "BertProcessing": {"type": "BertProcessing", **SEP_CLS},
    "RobertaProcessing": {
        "type": "RobertaProcessing",
        **SEP_CLS,
        "trim_offsets": True,
        "add_prefix_space": True,
    },
    "RobertaProcessing without trimming": {
        "type": "RobertaProcessing",
        **SEP_CLS,
        "trim_offsets": False,
        "add_prefix_space": True,
    },
    "RobertaProcessing without a prefix space": {
        "type": "RobertaProcessing",
        **SEP_CLS,
        "trim_offsets": True,
        "add_prefix_space": False,
    },
    "ByteLevel": {"type": "ByteLevel", **PIECE},
    "ByteLevel without a prefix space": {
        "type": "ByteLevel",
        **PIECE,
        "add_prefix_space": False,
    },
    "ByteLevel without trimming": {"type": "ByteLevel", **PIECE, "trim_offsets": False},
    "trimmed, then filled": {
        "type": "Sequence",
        "processors": [{"type": "ByteLevel", **PIECE}, TEMPLATE],
    },
    "filled, then trimmed": {
        "type": "Sequence",
        "processors": [TEMPLATE, {"type": "ByteLevel", **PIECE}],
    },
    "trimmed twice": {
        "type": "Sequence",
        "processors": [{"type": "ByteLevel", **PIECE, "add_prefix_space": False}] * 2,
    },
    "Bert after a template": {
        "type": "Sequence",
        "processors": [TEMPLATE, {"type": "BertProcessing", **SEP_CLS}],
    },
    "no stages": {"type": "Sequence", "processors": []},
}

BYTES = [
    *map(chr, [*range(33, 127), *range(161, 173), *range(174, 256)]),
    *(chr(256 + n) for n in range(68)),
]
MERGES = [["Ġ", "Ġ"], ["Ġ", "a"], ["b", "Ġ"], ["Ċ", "Ġ"], ["ãĢ", "Ģ"]]
MERGES.insert(0, ["ã", "Ģ"])
VOCAB = [
    "[CLS]",
    "[SEP]",
    *BYTES,
    *dict.fromkeys(left + right for left, right in MERGES),
]

TEXTS: dict[str, tuple[str, str | None]] = {
    "empty": ("", None),
    "one": ("a b", None),
    "spaces at the ends": ("  a   b  ", None),
    "white space of all kinds": (" \n a\u3000b\u00a0", None),
    "an added token": ("a <m> b", None),
    "a pair": ("b a", " a  b"),
    "a pair with an empty text": ("a", ""),
    "a pair with accents": ("é a", "\u3000é"),
}


def tokenizer(**parts: Any) -> Tokenizer:
    """A byte-level tokenizer, with these parts in place of its own."""
    mask = {
        "single_word": False,
        "lstrip": True,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    file = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": len(VOCAB), "content": "<m>", **mask}],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "ByteLevel",
            **PIECE,
            "add_prefix_space": False,
            "use_regex": False,
        },
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE",
            "vocab": {token: id for id, token in enumerate(VOCAB)},
            "merges": MERGES,
        },
    }
    return Tokenizer.from_str(json.dumps({**file, **parts}))


def toml(value: Any) -> str:
    """A value as TOML; its strings are those of JSON, with characters beyond ASCII as they are."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(toml, value)) + "]"
        case None:
            return "-1"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return json.dumps(value)


def decoder_rows(component: dict[str, Any]) -> list[dict[str, Any]]:
    decoder = tokenizer(decoder=component).decoder
    rows = []
    for name, tokens in TOKENS.items():
        try:
            text = decoder.decode(tokens)
        except BaseException as error:  # the library panics where a token is shorter than the cut
            if type(error).__name__ != "PanicException":
                raise
            continue
        rows.append({"name": name, "tokens": tokens, "text": text})
    return rows


def post_processor_rows(component: dict[str, Any] | None) -> list[dict[str, Any]]:
    built = tokenizer(post_processor=component)
    rows = []
    for name, (text, pair) in TEXTS.items():
        for add in (True, False):
            encoding = built.encode(text, pair, add_special_tokens=add)
            row: dict[str, Any] = {"name": name, "text": text}
            if pair is not None:
                row["pair"] = pair
            rows.append(
                {
                    **row,
                    "add_special_tokens": add,
                    "ids": encoding.ids,
                    "spans": encoding.offsets,
                    "word_ids": encoding.word_ids,
                    "type_ids": encoding.type_ids,
                    "sequence_ids": encoding.sequence_ids,
                    "special_tokens_mask": encoding.special_tokens_mask,
                }
            )
    return rows


def write(
    path: Path,
    header: str,
    kind: str,
    cases: dict[str, Any],
    rows_of: Any,
    base: str = "",
) -> None:
    lines = [f"# {header} Made by make_decoders.py.", ""]
    if base:
        lines += [f"tokenizer = {toml(base)}", ""]
    for name, component in cases.items():
        lines += [
            f"[[{kind}]]",
            f"name = {toml(name)}",
            f"json = '''{json.dumps(component, ensure_ascii=False)}'''",
        ]
        lines += [
            "rows = [",
            *(f"    {toml(row)}," for row in rows_of(component)),
            "]",
            "",
        ]
    path.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write(
        HERE / "decoders.toml",
        "Decoders: what becomes of tokens.",
        "decoder",
        DECODERS,
        decoder_rows,
    )
    write(
        HERE / "post_processors.toml",
        "Post-processors: the tokens around a text or two, and all that is said of each; -1 is none.",
        "post_processor",
        POST_PROCESSORS,
        post_processor_rows,
        tokenizer().to_str(),
    )
