"""Which piece of a text is its first, by which `Metaspace` with `first` puts a space in front.

tokenizers goes by where the piece's first character was: the replacement of several characters stands
where the last of them did, so `"` for `''` at the start of a text is not its first piece.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import jeton

tokenizers = pytest.importorskip("tokenizers")


def replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def split(text: str, behavior: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"String": text}, "behavior": behavior, "invert": False}


def prepended(prefix: str, normalizer: dict[str, Any]) -> dict[str, Any]:
    steps = [{"type": "Prepend", "prepend": prefix}, normalizer]
    return {"type": "Sequence", "normalizers": steps}


NORMALIZERS: dict[str, Any] = {
    "none": None,
    "two quotes": replace({"String": "''"}, '"'),
    "nothing for two quotes": replace({"String": "''"}, ""),
    "a run": replace({"Regex": "'+"}, '"'),
    "longer": replace({"String": "a"}, "bb"),
    "one for one": replace({"String": "é"}, "e"),
    "NFC": {"type": "NFC"},
    "NFKC": {"type": "NFKC"},
    "strip": {"type": "Strip", "strip_left": True, "strip_right": True},
    "prepend": {"type": "Prepend", "prepend": "x"},
    "accents": {"type": "StripAccents"},
    "prepend, then two quotes": prepended("x", replace({"String": "''"}, '"')),
    "prepend, then the prefix and more": prepended("x", replace({"String": "xa"}, "b")),
    "prepend, then a run": prepended("ab", replace({"Regex": "[x'ab]+"}, "x")),
    "prepend, then nothing for the first": prepended("ab", replace({"Regex": "^."}, "")),
    "two quotes, then prepend": {
        "type": "Sequence",
        "normalizers": [replace({"String": "''"}, '"'), {"type": "Prepend", "prepend": "x"}],
    },
    "two quotes, then others": {
        "type": "Sequence",
        "normalizers": [replace({"String": "''"}, "é"), {"type": "NFD"}, {"type": "StripAccents"}],
    },
    "twice": {
        "type": "Sequence",
        "normalizers": [replace({"String": "''"}, '"'), replace({"String": '"'}, "ab")],
    },
}
PRE_TOKENIZERS: dict[str, Any] = {
    "none": None,
    "white space": {"type": "WhitespaceSplit"},
    "removed": split("a", "Removed"),
    "isolated": split('"', "Isolated"),
    "digits": {"type": "Digits", "individual_digits": True},
}
PARTS = ["'", "''", "a", "b", "x", " ", "é", "e\u0301", "\u0301", '"', "<s>", "½"]
VOCABULARY = {token: id for id, token in enumerate(["<unk>", "▁", *"\"ab'xeé½"])}


def pipeline(normalizer: Any, pre_tokenizer: Any) -> str:
    letters = [token for token in VOCABULARY if token not in ("<unk>", "▁")]
    vocabulary = {**VOCABULARY, **{f"▁{it}": 20 + at for at, it in enumerate(letters)}}
    metaspace = {
        "type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True,
    }  # fmt: skip
    chain = {"type": "Sequence", "pretokenizers": [pre_tokenizer, metaspace]}
    special = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [{"id": 40, "content": "<s>", "special": True, **special}],
            "normalizer": normalizer,
            "pre_tokenizer": metaspace if pre_tokenizer is None else chain,
            "model": {
                "type": "BPE",
                "vocab": vocabulary,
                "merges": [["▁", letter] for letter in letters],
                "unk_token": "<unk>",
            },
        }
    )


@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_the_first_piece_is_that_of_tokenizers(normalizer: str, pre_tokenizer: str) -> None:
    file = pipeline(NORMALIZERS[normalizer], PRE_TOKENIZERS[pre_tokenizer])
    theirs, ours = tokenizers.Tokenizer.from_str(file), jeton.Tokenizer.from_json(file)
    rng = random.Random(f"{normalizer} {pre_tokenizer}")
    texts = ["".join(rng.choices(PARTS, k=rng.randint(1, 8))) for _ in range(60)]
    for text in ["''a'' a", *texts]:
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert ours.encode(text, special="allow") == expected, text
        assert ours.encode_with_spans(text, special="allow").ids == expected, text
