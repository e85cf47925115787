"""Files that make memory grow faster than they or the text do: what `test_growth.py` runs.

    python growing.py

Each row of `CASES` is read and called in a process of its own that may have `MEMORY` bytes. Prints
how each ended, as JSON: "" if it did, or the error of jeton, or what else happened.

Look here to add a case: what it is called, the files that it needs and what is done with them.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import signal
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jeton
from jeton.data import prepare
from jeton.errors import JetonError
from model_bytes import field, piece

MEMORY = 2 << 30
SECONDS = 40
KILO, MEGA = 1 << 10, 1 << 20

Read = Callable[[Path], object]


def word_level(**parts: Any) -> str:
    """A `tokenizer.json` of a few words with these parts."""
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2}, "unk_token": "[UNK]"}
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model} | parts)


def unigram(**parts: Any) -> str:
    vocab = [["<unk>", 0.0], ["a", -1.0], ["aa", -1.5], ["▁", -2.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab}
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model} | parts)


def bpe(**options: Any) -> str:
    model = {"type": "BPE", "vocab": {"<unk>": 0, "a": 1, "b": 2}, "merges": []}
    model |= {"unk_token": "<unk>"} | options
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model})


def sequence(*stages: dict[str, Any]) -> dict[str, Any]:
    """Normalizers or decoders one after another."""
    return {"type": "Sequence", "normalizers": stages, "decoders": stages}


def cuts(*stages: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": stages}


def replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def added(content: str, number: int, **flags: bool) -> dict[str, Any]:
    given = {"special": False, "single_word": False, "lstrip": False, "rstrip": False}
    return {"id": number, "content": content, "normalized": False} | given | flags


def template(pieces: list[dict[str, Any]], tokens: dict[str, list[int]]) -> dict[str, Any]:
    special = {
        name: {"id": name, "ids": ids, "tokens": ["a"] * len(ids)} for name, ids in tokens.items()
    }
    return {
        "type": "TemplateProcessing",
        "single": pieces,
        "pair": pieces,
        "special_tokens": special,
    }


TEXT = {"Sequence": {"id": "A", "type_id": 0}}


def token(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def ranks(more: bytes = b"") -> bytes:
    """Ranks of the bytes."""
    lines = (base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))
    return b"".join(lines) + more


def split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def sp_model(trainer: bytes = b"", normalizer: bytes = b"") -> bytes:
    pieces = piece("<unk>", 0, 2) + b"".join(piece(text, -1) for text in ["▁", "a", "b"])
    return pieces + field(2, trainer) + field(3, normalizer)


def charsmap(replacement: str) -> bytes:
    """A map of "a" alone, as a double array: the root, the unit of the letter and its value."""
    letter, value = 256 ^ ord("a"), 400
    units = [0] * 512
    units[0] = 256 << 10
    units[letter] = (letter ^ value) << 10 | 1 << 8 | ord("a")
    units[value] = 1 << 31
    return struct.pack("<513I", 2048, *units) + replacement.encode() + b"\0"


def charsmap_json(replacement: str) -> dict[str, Any]:
    blob = base64.b64encode(charsmap(replacement)).decode()
    return {"type": "Precompiled", "precompiled_charsmap": blob}


def encode(text: str, **options: Any) -> Read:
    """Encodes a text in all ways; what one says, all say."""

    def call(path: Path) -> None:
        tok = jeton.load(path)
        ways: list[Callable[[], object]] = [
            lambda: tok.encode(text, **options),
            lambda: tok.encode_array(text, **options),
            lambda: tok.count(text, **options),
            lambda: tok.encode_with_spans(text, **options),
            lambda: tok.encode_batch([text] * 3, **options),
        ]
        errors = [raised(way) for way in ways]
        told = [error for error in errors if error is not None]
        assert len(told) in (0, len(ways)), errors
        if told:
            raise told[0]

    return call


def raised(call: Callable[[], object]) -> JetonError | None:
    try:
        call()
    except JetonError as error:
        return error
    return None


def decode(ids: list[int]) -> Read:
    def call(path: Path) -> None:
        tok = jeton.load(path)
        errors = [raised(lambda: tok.decode(ids)), raised(lambda: tok.decode_bytes(ids))]
        for error in errors:
            if error is not None:
                raise error

    return call


def decoded(tok: jeton.Tokenizer) -> None:
    tok.decode([1] * 5000)


def whole_texts(folder: Path) -> jeton.Tokenizer:
    """A tokenizer that cuts no text anywhere."""
    file = folder / "tokenizer.json"
    file.write_text(word_level())
    return jeton.load(file)


def zstd(blocks: int) -> bytes:
    """So many blocks of 128 KiB, each a byte that is repeated."""
    block = ((128 * KILO) << 3 | 0b010).to_bytes(3, "little") + b"a"
    last = ((128 * KILO) << 3 | 0b011).to_bytes(3, "little") + b"a"
    return b"\x28\xb5\x2f\xfd\x00\x58" + block * (blocks - 1) + last


DOUBLING = sequence(*[replace("a", "aa")] * 60)
EMPTY = sequence(*[replace("", "a")] * 60)
REGEX = sequence(*[replace("a", "aa", "Regex")] * 60)
LONG = "x" * MEGA
SPACE = {"add_prefix_space": True, "trim_offsets": True}
MANY = "<s>a" * 4000
SECTIONS = [added("<s>", 3)]

CASES: dict[str, tuple[str, str | bytes, Read]] = {
    # normalizers
    "Replace doubles": ("tokenizer.json", word_level(normalizer=DOUBLING), encode("a")),
    "Replace of nothing": ("tokenizer.json", word_level(normalizer=EMPTY), encode("a")),
    "Replace by a pattern": ("tokenizer.json", word_level(normalizer=REGEX), encode("a")),
    "Replace of Unigram": ("tokenizer.json", unigram(normalizer=DOUBLING), encode("a")),
    "Replace by a long text": (
        "tokenizer.json",
        word_level(normalizer=replace("a", LONG)),
        encode("a" * 10_000),
    ),
    "Replace in words": (
        "tokenizer.json",
        unigram(
            normalizer=sequence(replace("a", "a" * KILO)),
            pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        ),
        encode("a b " * 100_000),
    ),
    "Prepend to each section": (
        "tokenizer.json",
        word_level(
            normalizer={"type": "Prepend", "prepend": "a " * (MEGA // 2)},
            pre_tokenizer={"type": "Whitespace"},
            added_tokens=SECTIONS,
        ),
        encode(MANY),
    ),
    "Prepend to each section, Metaspace": (
        "tokenizer.json",
        unigram(
            normalizer={"type": "Prepend", "prepend": "a " * (MEGA // 2)},
            pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
            added_tokens=[added("<s>", 4)],
        ),
        encode(MANY),
    ),
    "ByteLevel on ByteLevel": (
        "tokenizer.json",
        word_level(normalizer=sequence(*[{"type": "ByteLevel"}] * 60)),
        encode("é"),
    ),
    "Prepend and split": (
        "tokenizer.json",
        word_level(
            pre_tokenizer=cuts(
                *[
                    {"type": "ByteLevel", **SPACE, "use_regex": False},
                    {
                        "type": "Split",
                        "pattern": {"String": ""},
                        "behavior": "Isolated",
                        "invert": False,
                    },
                ]
                * 40
            )
        ),
        encode("a b"),
    ),
    "ByteLevel pre-tokenizers": (
        "tokenizer.json",
        word_level(pre_tokenizer=cuts(*[{"type": "ByteLevel", "use_regex": True, **SPACE}] * 60)),
        encode("é"),
    ),
    "Normalized added tokens": (
        "tokenizer.json",
        word_level(
            normalizer={"type": "Prepend", "prepend": LONG},
            added_tokens=[added(f"<{n}>", 3 + n, normalized=True) for n in range(5000)],
        ),
        encode("a"),
    ),
    "A character map": (
        "tokenizer.json",
        word_level(normalizer=charsmap_json("b" * MEGA)),
        encode("a" * 10_000),
    ),
    "A character map of SentencePiece": (
        "x.model",
        sp_model(normalizer=field(2, charsmap("b" * MEGA))),
        encode("a" * 10_000),
    ),
    # templates
    "A text many times": (
        "tokenizer.json",
        word_level(
            pre_tokenizer={"type": "Whitespace"}, post_processor=template([TEXT] * 20_000, {})
        ),
        encode("a " * 10_000, add_special_tokens=True),
    ),
    "Special tokens of many tokens": (
        "tokenizer.json",
        word_level(post_processor=template([token("x")] * 20_000 + [TEXT], {"x": [1] * 20_000})),
        encode("a", add_special_tokens=True),
    ),
    "Many special tokens": (
        "tokenizer.json",
        word_level(
            post_processor=template(
                [token(str(n)) for n in range(60_000)] + [TEXT],
                {str(n): [1] for n in range(60_000)},
            )
        ),
        encode("a", add_special_tokens=True),
    ),
    "Templates of templates": (
        "tokenizer.json",
        word_level(
            pre_tokenizer={"type": "Whitespace"},
            post_processor={
                "type": "Sequence",
                "processors": [
                    template([TEXT, TEXT], {}),
                    *[{"type": "BertProcessing", "sep": ["a", 1], "cls": ["b", 2]}] * 20_000,
                ],
            },
        ),
        encode("a", add_special_tokens=True),
    ),
    # decoders
    "A decoder doubles": ("tokenizer.json", word_level(decoder=DOUBLING), decode([1])),
    "A decoder doubles, many ids": (
        "tokenizer.json",
        word_level(decoder=sequence(*[replace("a", "aa")] * 18)),
        decode([1] * 100_000),
    ),
    "A decoder by a long text": (
        "tokenizer.json",
        word_level(decoder=replace("a", LONG)),
        decode([1] * 10_000),
    ),
    "A suffix of nothing": (
        "tokenizer.json",
        word_level(decoder=sequence(*[{"type": "BPEDecoder", "suffix": ""}] * 60)),
        decode([1, 2]),
    ),
    "A delimiter of nothing": (
        "tokenizer.json",
        word_level(
            decoder=sequence(
                *[
                    {
                        "type": "CTC",
                        "pad_token": "x",
                        "word_delimiter_token": "",
                        "cleanup": True,
                    }
                ]
                * 60
            )
        ),
        decode([1, 2]),
    ),
    "The surface of the unknown piece": (
        "x.model",
        sp_model(trainer=field(44, LONG.encode())),
        decode([0] * 10_000),
    ),
    # patterns
    "Counts in counts": (
        "tokenizer.json",
        word_level(pre_tokenizer=split("(((a{1000}){1000}){1000}){1000}")),
        encode("a" * 100),
    ),
    "Counts in counts, as ranks": (
        "x.tiktoken",
        ranks(),
        lambda path: jeton.load(path, pattern="(((a{1000}){1000}){1000}){1000}", special_tokens={}),
    ),
    "Counts of classes": (
        "tokenizer.json",
        word_level(pre_tokenizer=split(r"(\p{L}{500}){500}")),
        encode("a" * 100),
    ),
    "Counts of classes, as ranks": (
        "x.tiktoken",
        ranks(),
        lambda path: jeton.load(path, pattern=r"(\p{L}{500}){500}", special_tokens={}),
    ),
    "Counts beside each other": (
        "tokenizer.json",
        word_level(pre_tokenizer=split("|".join(["(a{1000}){100}"] * 1000))),
        encode("a" * 100),
    ),
    "A stack of a match": (
        "tokenizer.json",
        word_level(pre_tokenizer=split(r"((a|b)*\2)*c")),
        encode("ab" * 500_000),
    ),
    "Nested groups": (
        "tokenizer.json",
        word_level(pre_tokenizer=split("(" * 100_000 + "a" + ")" * 100_000)),
        encode("a"),
    ),
    # vocabularies
    "A huge id": (
        "tokenizer.json",
        json.dumps(
            {
                "model": {
                    "type": "WordLevel",
                    "vocab": {"a": 2**31, "b": 4_294_967_294},
                    "unk_token": "a",
                }
            }
        ),
        decode([2**31] * 5000),
    ),
    "A huge id of a tokenizer.json": (
        "tokenizer.json",
        word_level(added_tokens=[added("x", 4_294_967_294)]),
        decode([1] * 5000),
    ),
    "A huge id among ranks": (
        "x.tiktoken",
        ranks(b"b3RoZXI= 4294967294\n"),
        lambda path: decoded(jeton.load(path, pattern="gpt2", special_tokens={})),
    ),
    "A length of 2^60": ("x.model", sp_model() + b"\x0a" + b"\xff" * 8 + b"\x0f", decode([0])),
    "A charsmap of a huge length": (
        "x.model",
        sp_model(normalizer=field(2, b"\xfc\xff\xff\xff" + bytes(100))),
        decode([0]),
    ),
    "A long prefix of continuations": (
        "tokenizer.json",
        bpe(continuing_subword_prefix="#" * 200_000, byte_fallback=True),
        encode("ab" * 500),
    ),
    "A long suffix of words": (
        "tokenizer.json",
        bpe(end_of_word_suffix="#" * MEGA),
        encode("ab" * 500),
    ),
    "Nested lists": ("tokenizer.json", "[" * MEGA, decode([0])),
    # calls
    "nbest of a huge n": (
        "x.model",
        sp_model(),
        lambda path: jeton.load(path).nbest("ab" * 50, 2**40),
    ),
    "nbest of many": (
        "tokenizer.json",
        unigram(),
        lambda path: jeton.load(path).nbest("a" * 2000, 2**31),
    ),
    # corpora
    "A bomb to train on": (
        "x.jsonl.zst",
        zstd(5000),
        lambda path: jeton.BPETrainer(vocab_size=300).train(str(path)),
    ),
    "A bomb to prepare": (
        "x.txt.zst",
        zstd(5000),
        lambda path: prepare(
            str(path), whole_texts(path.parent), path.parent / "out", end_of_text=None
        ),
    ),
}


def outcome(name: str) -> str:
    """How one case ends, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with os.fdopen(writing, "w") as told, tempfile.TemporaryDirectory() as folder:
            file, content, call = CASES[name]
            path = Path(folder) / file
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            try:
                call(path)
            except JetonError as error:
                told.write(f"{type(error).__name__}: {error}")
            except BaseException as error:
                told.write(f"not jeton's: {type(error).__name__}: {error}")
            told.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        message = told.read()
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    return message if ended == 0 else f"not jeton's: {signal.Signals(-ended).name}"


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(json.dumps([name, outcome(name)]), flush=True)
