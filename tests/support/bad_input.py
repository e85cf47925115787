"""Calls of tokenizers and their parts with bad input, by name, and what is said of each.

`bad_training.py` has those of trainers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jeton
from jeton import errors
from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
from kinds import LLAMA, ranks

TOK: Any = ranks()
J: Any = jeton
M: Any = models
N: Any = normalizers
P: Any = pre_tokenizers


def sentence_pieces() -> jeton.Tokenizer:
    """A BPE as a `.model` file holds it."""
    trainer = jeton.BPETrainer(vocab_size=300, **LLAMA)
    return trainer.train(["a b"]).approximation(".model")


ROWS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "encode None": (lambda: TOK.encode(None), TypeError, "text must be a str, not NoneType"),
    "encode bytes": (lambda: TOK.encode(b"x"), TypeError, "text must be a str, not bytes"),
    "encode a list": (lambda: TOK.encode(["x"]), TypeError, "text must be a str, not list"),
    "encode_array": (lambda: TOK.encode_array(1), TypeError, "text must be a str, not int"),
    "encode_with_spans": (lambda: TOK.encode_with_spans(1), TypeError, "text must be a str"),
    "text_pair": (lambda: TOK.encode_with_spans("", 1), TypeError, "text_pair must be a str"),
    "unit": (
        lambda: TOK.encode_with_spans("", unit="byte"),
        errors.ArgumentError,
        'did you mean "bytes"',
    ),
    "count": (lambda: TOK.count(b""), TypeError, "text must be a str, not bytes"),
    "batch of one str": (lambda: TOK.encode_batch("x"), TypeError, "texts must be an iterable"),
    "batch of None": (lambda: TOK.encode_batch(None), TypeError, "texts must be an iterable"),
    "batch holds bytes": (
        lambda: TOK.encode_batch(["", b""]),
        TypeError,
        r"texts\[1\] must be a str, not bytes",
    ),
    "count_batch": (lambda: TOK.count_batch([1]), TypeError, r"texts\[0\] must be a str"),
    "special word": (
        lambda: TOK.encode("", special="alow"),
        errors.ArgumentError,
        'did you mean "allow"',
    ),
    "special name as a str": (
        lambda: TOK.encode("", special="<|pad|>"),
        errors.ArgumentError,
        r'special=\{"<\|pad\|>"\}',
    ),
    "special unknown name": (
        lambda: TOK.encode("", special={"<|pda|>"}),
        ValueError,
        r"<\|pad\|>",
    ),
    "special of ints": (lambda: TOK.encode("", special={1}), TypeError, "special must be a str"),
    "special None": (lambda: TOK.encode("", special=None), TypeError, "special must be"),
    "special lone surrogate": (
        lambda: TOK.encode("", special={"\ud800"}),
        errors.ArgumentError,
        "not valid Unicode.*position 0",
    ),
    "add_special_tokens": (
        lambda: TOK.encode("", add_special_tokens="no"),
        TypeError,
        "add_special_tokens",
    ),
    "dropout too large": (
        lambda: TOK.encode("", dropout=1.5),
        errors.ArgumentError,
        "dropout must lie between 0 and 1",
    ),
    "dropout nan": (lambda: TOK.encode("", dropout=float("nan")), ValueError, "dropout"),
    "dropout str": (lambda: TOK.encode("", dropout="x"), TypeError, "dropout must be a number"),
    "seed negative": (lambda: TOK.encode("", dropout=0.1, seed=-1), ValueError, "seed"),
    "seed huge": (lambda: TOK.encode("", dropout=0.1, seed=1 << 64), ValueError, "seed"),
    "seed float": (lambda: TOK.encode("", dropout=0.1, seed=1.0), TypeError, "seed must be an int"),
    "dropout of another model": (
        lambda: jeton.CharTrainer().train("x").encode("x", dropout=0.5),
        errors.UnsupportedError,
        "dropout is for BPE, and this model is Characters",
    ),
    "alpha of another model": (
        lambda: TOK.encode("x", alpha=0.5),
        errors.UnsupportedError,
        "alpha needs a tokenizer as",
    ),
    "alpha past a probability": (
        lambda: sentence_pieces().encode("x", alpha=2.0),
        errors.ArgumentError,
        "alpha must lie between 0 and 1, not be 2",
    ),
    "alpha bool": (
        lambda: sentence_pieces().encode("x", alpha=True),
        errors.ArgumentTypeError,
        "alpha must be a number, not bool",
    ),
    "nbest_size of merges": (
        lambda: sentence_pieces().encode("x", alpha=0.1, nbest_size=4),
        errors.ArgumentError,
        "nbest_size is for Unigram",
    ),
    "nbest of merges": (
        lambda: sentence_pieces().nbest("x", 2),
        errors.UnsupportedError,
        "a BPE model gives only one segmentation of a text",
    ),
    "lowercase as an int": (
        lambda: jeton.load("vocab.txt", lowercase=1),  # type: ignore[arg-type]
        errors.ArgumentTypeError,
        "lowercase must be a bool, not int",
    ),
    "decode None": (lambda: TOK.decode(None), TypeError, "ids must be an iterable of ints"),
    "decode int": (lambda: TOK.decode(1), TypeError, "ids must be an iterable of ints"),
    "decode str": (lambda: TOK.decode("12"), TypeError, "ids must be an iterable of ints"),
    "decode bytes": (lambda: TOK.decode(b"12"), TypeError, "ids must be an iterable of ints"),
    "decode float": (lambda: TOK.decode([1.0]), TypeError, r"ids\[0\] must be an int, not float"),
    "decode bool": (lambda: TOK.decode([True]), TypeError, r"ids\[0\] must be an int, not bool"),
    "decode None inside": (lambda: TOK.decode([1, None]), TypeError, r"ids\[1\] must be an int"),
    "decode negative": (lambda: TOK.decode([1, -1]), ValueError, r"ids\[1\] is -1"),
    "decode huge": (lambda: TOK.decode([1 << 40]), ValueError, r"ids\[0\] is 1099511627776"),
    "decode unknown": (lambda: TOK.decode([1, 299]), KeyError, "id 299 at position 1"),
    "decode float array": (
        lambda: TOK.decode(np.array([1.5])),
        TypeError,
        "ids must be an iterable of ints or a numpy array of integers",
    ),
    "decode negative array": (lambda: TOK.decode(np.array([-1])), ValueError, r"ids\[0\]"),
    "ranks of an empty pattern": (
        lambda: J.Tokenizer.from_ranks({}, pattern=""),
        errors.ArgumentError,
        "the pattern is empty",
    ),
    "a hub name of 300 characters": (
        lambda: J.load("org/" + "x" * 300, offline=True),
        errors.UnknownNameError,
        "is not a known name",
    ),
    "a home of nobody": (
        lambda: J.load("~nobody-at-all/x"),
        errors.MissingFileError,
        "there is no such file",
    ),
    "merges as an int": (
        lambda: J.load("x.json", merges=5),
        errors.ArgumentTypeError,
        "merges must be a path, not int",
    ),
    "folder as an int": (
        lambda: J.load("gpt2", folder=5),
        errors.ArgumentTypeError,
        "folder must be a path, not int",
    ),
    "offline as a str": (
        lambda: J.load("gpt2", offline="no"),
        errors.ArgumentTypeError,
        "offline must be a bool, not str",
    ),
    "with_added_tokens None": (
        lambda: TOK.with_added_tokens(None),
        errors.ArgumentTypeError,
        "tokens must be an iterable of tokens, not NoneType",
    ),
    "counts past 64 bits": (
        lambda: J.WordCounts([("a", 2**63), ("b", 2**63)]),
        errors.ArgumentError,
        r"add up to 2\*\*64 or more",
    ),
    "merged counts past 64 bits": (
        lambda: J.WordCounts([("a", 2**63)]).merged(J.WordCounts([("a", 2**63)])),
        errors.ArgumentError,
        r"add up to 2\*\*64 or more",
    ),
    "decode two axes": (
        lambda: TOK.decode(np.zeros((2, 2), np.int64)),
        ValueError,
        "one axis.*decode_batch",
    ),
    "decode errors": (lambda: TOK.decode([1], errors="x"), errors.ArgumentError, "errors='x'"),
    "decode errors type": (lambda: TOK.decode([1], errors=1), TypeError, "errors must be a str"),
    "decode errors nul": (lambda: TOK.decode([1], errors="\0"), errors.ArgumentError, "errors="),
    "decode_bytes": (lambda: TOK.decode_bytes([None]), TypeError, r"ids\[0\]"),
    "decode_batch of ids": (lambda: TOK.decode_batch([1]), TypeError, r"batch\[0\]"),
    "decode_batch None": (lambda: TOK.decode_batch(None), TypeError, "batch must be"),
    "decode_batch unknown": (lambda: TOK.decode_batch([[1], [299]]), KeyError, r"batch\[1\]"),
    "spelling unknown": (lambda: TOK.vocab.spelling(299), KeyError, "id 299 has no token"),
    "spelling negative": (lambda: TOK.vocab.spelling(-1), ValueError, "id is -1"),
    "spelling str": (
        lambda: TOK.vocab.spelling("1"),
        TypeError,
        "id must be an int, not str",
    ),
    "vocab unknown": (lambda: TOK.vocab[b"zzz"], KeyError, "b'zzz' is not a token"),
    "vocab int": (lambda: TOK.vocab[1], TypeError, "token must be bytes or a str"),
    "padded_size 0": (lambda: TOK.vocab.padded_size(0), ValueError, "at least 1"),
    "padded_size float": (lambda: TOK.vocab.padded_size(8.0), TypeError, "must be an int"),
    "model": (lambda: J.Tokenizer("x"), TypeError, "model must be one of"),
    "wrong stage": (
        lambda: TOK.replace(normalizer=decoders.Fuse()),
        TypeError,
        "normalizer must be one of jeton.components.normalizers, not Fuse",
    ),
    "added_tokens str": (lambda: TOK.replace(added_tokens="x"), TypeError, "added_tokens"),
    "added_tokens of str": (
        lambda: TOK.replace(added_tokens=["x"]),
        TypeError,
        r"added_tokens\[0\] must be an AddedToken, not str",
    ),
    "with_added_tokens str": (lambda: TOK.with_added_tokens("xy"), TypeError, "not one str"),
    "with_added_tokens of int": (
        lambda: TOK.with_added_tokens(["x", 5]),
        TypeError,
        r"tokens\[1\] must be a str or an AddedToken, not int",
    ),
    "with_added_tokens twice": (
        lambda: TOK.with_added_tokens(["<|pad|>"]),
        ValueError,
        r"<\|pad\|>",
    ),
    "AddedToken empty": (lambda: J.AddedToken(""), ValueError, "must not be empty"),
    "AddedToken type": (lambda: J.AddedToken(b"x"), TypeError, "AddedToken.content"),
    "AddedToken flag": (lambda: J.AddedToken("x", special=1), TypeError, "AddedToken.special"),
    "AddedToken id": (lambda: J.AddedToken("x", -1), ValueError, "must not be negative"),
    "ranks with a hole": (
        lambda: J.Tokenizer.from_ranks({b"a": 0}, pattern="gpt2"),
        errors.FormatError,
        "255 of the 256 bytes have no rank",
    ),
    "ranks pattern name": (
        lambda: J.Tokenizer.from_ranks({}, pattern="gtp2"),
        ValueError,
        'did you mean "gpt2"',
    ),
    "ranks pattern broken": (
        lambda: J.Tokenizer.from_ranks({bytes([b]): b for b in range(256)}, pattern="("),
        ValueError,
        "pattern",
    ),
    "ranks no mapping": (
        lambda: J.Tokenizer.from_ranks([1], pattern="gpt2"),
        TypeError,
        "ranks must map tokens to ids, not be a list",
    ),
    "ranks pattern surrogate": (
        lambda: J.Tokenizer.from_ranks({}, pattern="\ud800"),
        errors.ArgumentError,
        "pattern is not valid Unicode",
    ),
    "special token surrogate": (
        lambda: J.Tokenizer.from_ranks({}, pattern="gpt2", special_tokens={"a\ud800": 1}),
        errors.ArgumentError,
        "position 1",
    ),
    "ranks two ids": (
        lambda: J.Tokenizer.from_ranks({b"a": 0, "a": 1}, pattern="gpt2"),
        errors.FormatError,
        'token "a" has two ids',
    ),
    "special ids": (
        lambda: J.Tokenizer.from_ranks({}, pattern="gpt2", special_tokens=["x"]),
        TypeError,
        "special_tokens",
    ),
    "from_json": (lambda: J.Tokenizer.from_json("{"), errors.FormatError, "tokenizer.json"),
    "from_json type": (lambda: J.Tokenizer.from_json(b"{}"), TypeError, "text"),
    "save nowhere": (
        lambda: TOK.save("/no/such/folder/x.tiktoken"),
        OSError,
        "/no/such/folder",
    ),
    "save no format": (lambda: TOK.save("x.xyz"), ValueError, "format"),
    "save to no name": (lambda: TOK.save(""), errors.ArgumentError, "path is empty"),
    "save surrogate": (
        lambda: TOK.save("\ud800"),
        errors.ArgumentError,
        "path cannot be .*surrogate",
    ),
    "load surrogate": (
        lambda: J.load("\ud800"),
        errors.ArgumentError,
        "source cannot be .*surrogate",
    ),
    "from_json surrogate": (
        lambda: J.Tokenizer.from_json("\ud800"),
        errors.ArgumentError,
        "text is not valid Unicode",
    ),
    "save type": (lambda: TOK.save(1), TypeError, "path must be a path, not int"),
    "load missing": (lambda: J.load(Path("no-such.json")), FileNotFoundError, "no-such.json"),
    "load type": (lambda: J.load(1), TypeError, "source must be a name or a path"),
    "vocab type": (lambda: J.Tokenizer(M.BPE([], [])), TypeError, "vocab must be a mapping"),
    "vocab id type": (
        lambda: J.Tokenizer(M.WordLevel({"a": "x"})),
        TypeError,
        "vocab.*must be an int, not str",
    ),
    "vocab token type": (
        lambda: J.Tokenizer(M.WordLevel({1: 1})),
        TypeError,
        "each token of vocab must be bytes or a str",
    ),
    "merges type": (
        lambda: J.Tokenizer(M.BPE({"a": 0}, ["ab c"])),
        TypeError,
        r"merges\[0\] must be a pair of tokens",
    ),
    "merge of unknown": (
        lambda: J.Tokenizer(models.BPE({"a": 0}, [("a", "b")])),
        errors.FormatError,
        r"merges\[0\]",
    ),
    "alphabet": (
        lambda: M.BPE({}, [], alphabet="byte"),
        ValueError,
        "did you mean 'bytes'",
    ),
    "ranks with options": (
        lambda: models.BPE({}, None, dropout=0.5),
        ValueError,
        "has no options",
    ),
    "unigram pieces": (
        lambda: J.Tokenizer(M.Unigram(["a"])),
        TypeError,
        "pieces must be a list of pairs",
    ),
    "unigram score": (
        lambda: J.Tokenizer(models.Unigram([("a", float("nan"))])),
        errors.FormatError,
        "has no number as its score",
    ),
    "sentencepiece": (
        lambda: J.Tokenizer(models.SentencePiece(b"junk")),
        errors.FormatError,
        "only 2 are left",
    ),
    "flag": (
        lambda: N.Strip(left="yes"),
        TypeError,
        "Strip.left must be a bool, not str",
    ),
    "pattern": (
        lambda: N.Replace(b"x", ""),
        TypeError,
        "Replace.pattern must be a str or a Regex",
    ),
    "regex": (
        lambda: pre_tokenizers.Split(jeton.components.Regex("("), "removed"),
        ValueError,
        "parenthes",
    ),
    "behavior": (
        lambda: P.Punctuation("isolate"),
        ValueError,
        "did you mean 'isolated'",
    ),
    "character": (
        lambda: pre_tokenizers.CharDelimiterSplit("ab"),
        ValueError,
        "must be a single character",
    ),
    "length": (lambda: pre_tokenizers.FixedLength(0), ValueError, "at least 1"),
    "steps": (
        lambda: N.Sequence([decoders.Fuse()]),
        TypeError,
        "step 0 of Sequence must be a Normalizer, not Fuse",
    ),
    "template": (
        lambda: post_processors.TemplateProcessing("[CLS] $A", special_tokens={"[CSL]": 1}),
        ValueError,
        r"did you mean '\[CSL\]'",
    ),
    "template text": (
        lambda: post_processors.TemplateProcessing("$C"),
        ValueError,
        "not a text of a template",
    ),
    "component json": (
        lambda: normalizers.from_json('{"type": "Lowercse"}'),
        errors.FormatError,
        'did you mean "Lowercase"',
    ),
    "component broken json": (lambda: decoders.from_json("{"), errors.FormatError, "EOF"),
    "batch offsets": (lambda: J.TokenBatch([1, 2], [0, 3]), ValueError, "offsets must rise"),
    "batch ids": (lambda: J.TokenBatch([-1], [0, 1]), ValueError, "ids must be between"),
    "batch of no rows": (lambda: J.TokenBatch.from_rows(1), TypeError, "rows must be an iterable"),
    "pad length type": (
        lambda: J.TokenBatch([], [0]).pad("3", pad_id=0),
        TypeError,
        "length must be an int, not str",
    ),
    "pad_id type": (
        lambda: J.TokenBatch([], [0]).pad(pad_id="0"),
        TypeError,
        "pad_id must be an int, not str",
    ),
    "pad dtype": (
        lambda: J.TokenBatch([], [0]).pad(pad_id=0, dtype="float32"),
        TypeError,
        "dtype must be a numpy type of integers",
    ),
    "pad without an id": (
        lambda: J.TokenBatch([1], [0, 1]).pad(),
        ValueError,
        "has no pad token.*give pad_id",
    ),
    "batch float": (lambda: J.TokenBatch([1.5], [0, 1]), TypeError, "ids must be a sequence"),
}
