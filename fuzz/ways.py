"""Fuzzes encoding: of a random tokenizer and a random text, all ways to encode say the same.

    python fuzz/ways.py [OPTION OF LIBFUZZER | FOLDER OF INPUTS]...

An input chooses the stages and holds the text. An error in one way is an error in all.
"""

from __future__ import annotations

import json
import pickle
import sys
import warnings
from collections.abc import Callable
from typing import Any

import atheris

with atheris.instrument_imports(include=["jeton"]):
    import jeton
    from jeton.errors import JetonError

PIECES = ["a", "b", "ab", "##b", "▁", "▁a", "é", "e", "Ġ", "Ġa", "Ã", "©", "<s>", " ", "東", "\n"]

NORMALIZERS: list[dict[str, Any]] = [
    {"type": "NFC"},
    {"type": "NFKD"},
    {"type": "Lowercase"},
    {"type": "StripAccents"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Replace", "pattern": {"Regex": " +"}, "content": " "},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "ab"},
    {"type": "Prepend", "prepend": "▁"},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
]

SPACES = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
PRE_TOKENIZERS: list[dict[str, Any]] = [
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "BertPreTokenizer"},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True},
    {"type": "ByteLevel", **SPACES},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {
        "type": "Split",
        "pattern": {"String": " "},
        "behavior": "MergedWithPrevious",
        "invert": False,
    },
    {"type": "Split", "pattern": {"Regex": r"\s+|\w+"}, "behavior": "Isolated", "invert": False},
]

VOCAB = {piece: number for number, piece in enumerate(["<unk>", *PIECES])}
MODELS: list[dict[str, Any]] = [
    {"type": "WordLevel", "vocab": VOCAB, "unk_token": "<unk>"},
    {
        "type": "WordPiece",
        "vocab": VOCAB,
        "unk_token": "<unk>",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 20,
    },
    {"type": "Unigram", "unk_id": 0, "vocab": [[it, -1.0 - len(it)] for it in VOCAB]},
    {"type": "BPE", "vocab": VOCAB, "merges": ["a b", "▁ a", "Ġ a"], "unk_token": "<unk>"},
    {
        "type": "BPE",
        "vocab": VOCAB,
        "merges": ["a b", "▁ a"],
        "unk_token": "<unk>",
        "fuse_unk": True,
    },
]

DECODERS: list[dict[str, Any] | None] = [
    None,
    {"type": "ByteLevel", **SPACES},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
]


def tokenizer(data: Any) -> str:
    """A `tokenizer.json` of stages that the input chooses."""

    def some(kinds: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
        chosen = [data.PickValueInList(kinds) for _ in range(data.ConsumeIntInRange(0, 3))]
        return {"type": "Sequence", name: chosen} if chosen else None

    tokens = []
    for number, content in enumerate(["<s>", "ab", "É"][: data.ConsumeIntInRange(0, 3)]):
        flags = ("special", "single_word", "lstrip", "rstrip", "normalized")
        chosen = {flag: data.ConsumeBool() for flag in flags}
        tokens.append({"id": VOCAB.get(content, 100 + number), "content": content, **chosen})
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": sorted(tokens, key=lambda token: token["id"]),
            "normalizer": some(NORMALIZERS, "normalizers"),
            "pre_tokenizer": some(PRE_TOKENIZERS, "pretokenizers"),
            "model": data.PickValueInList(MODELS),
            "decoder": data.PickValueInList(DECODERS),
        }
    )


def told(call: Callable[[], object]) -> object:
    """What a call gives, or the kind of its error."""
    try:
        return call()
    except JetonError as error:
        return type(error)


def agree(given: bytes) -> None:
    data = atheris.FuzzedDataProvider(given)
    try:
        tok = jeton.Tokenizer.from_json(tokenizer(data))
    except JetonError:
        return
    special = data.PickValueInList(["ignore", "allow"])
    text = data.ConsumeUnicodeNoSurrogates(data.remaining_bytes())
    ids = told(lambda: tok.encode(text, special=special))
    again = pickle.loads(pickle.dumps(tok))
    ways: dict[str, Callable[[], object]] = {
        "array": lambda: tok.encode_array(text, special=special).tolist(),
        "batch": lambda: tok.encode_batch([text, text], special=special)[1].tolist(),
        "spans": lambda: list(tok.encode_with_spans(text, special=special).ids),
        "pickled": lambda: again.encode(text, special=special),
    }
    for name, way in ways.items():
        assert told(way) == ids, (name, tok.to_json(), text, ids, told(way))
    count = len(ids) if isinstance(ids, list) else ids
    assert told(lambda: tok.count(text, special=special)) == count, (tok.to_json(), text)
    if not isinstance(ids, list):
        return
    spans = tok.encode_with_spans(text, special=special).spans
    assert all(0 <= start <= end <= len(text) for start, end in spans), (tok.to_json(), text)
    decoded = told(lambda: tok.decode(ids))
    # Beyond a thousand ids a table decodes.
    told(lambda: tok.decode(ids * 400 if len(ids) < 100 else ids))
    assert told(lambda: tok.decode(ids)) == decoded, (tok.to_json(), ids)
    assert told(lambda: tok.decode_batch([ids])[0]) == decoded, (tok.to_json(), ids)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    atheris.Setup(sys.argv, agree)
    atheris.Fuzz()
