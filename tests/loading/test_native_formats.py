"""Each kind of tokenizer in each format: saved and read again it gives the same ids, or the error
names what the format cannot hold.

Look here for which conversions there are; `docs/formats.md` holds the same table.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
import random
import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import models
from jeton.errors import EncodeError, FormatWarning, UnsupportedError
from kinds import KINDS, LLAMA
from model_bytes import field, piece

LINES = ["the theory of the weather there, then: père, 東京 x = 1"] * 4
TEXTS = [
    "",
    " ",
    "the weather",
    "  then   x ",
    "père 東京 there",
    "é\u0301 ①",
    "\u3000a\tb\n",
    "<s> </s> <unk> [UNK] ##s",
    "theweather" * 30,
]

#: The unknown piece, control, user-defined and ordinary ones.
PIECES = [
    ("<unk>", 0.0, 2),
    ("<s>", 0.0, 3),
    ("</s>", 0.0, 3),
    *((piece, -2.0 - at / 8, 1) for at, piece in enumerate(["▁", *"thew arxyn"])),
    ("▁t", -5.0, 1),
    ("he", -5.5, 1),
    ("▁the", -6.0, 1),
    ("▁weather", -6.5, 1),
]
UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4


def sentence_piece(algorithm: int) -> jeton.Tokenizer:
    """A `.model` file of these pieces."""
    file = b"".join(piece(*row) for row in PIECES)
    file += field(2, bytes([3 << 3, algorithm])) + field(3, b"")
    return jeton.Tokenizer(models.SentencePiece(file))


def trained(**options: object) -> Callable[[], jeton.Tokenizer]:
    """A BPE trained on a little text."""
    return lambda: jeton.BPETrainer(**options).train(LINES)  # type: ignore[arg-type]


_GGUF = json.loads(
    (Path(__file__).parents[2] / "testdata" / "gguf.json").read_text(encoding="utf-8")
)


def _gguf(name: str) -> jeton.Tokenizer:
    """One of the small files of llama.cpp's kinds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.gguf"
        path.write_bytes(gzip.decompress(base64.b64decode(_GGUF["files"][name])))
        return jeton.load(path)


_CLASSES = json.loads(
    (Path(__file__).parents[2] / "testdata" / "class_folders.json").read_text(encoding="utf-8")
)
FOLDERS = {
    "Llama": "llama_new",
    "T5": "t5",
    "XLM-R": "xlm_roberta",
    "ALBERT": "albert",
    "BERT": "bert",
    "GPT-2": "gpt2",
    "Qwen 2": "qwen2",
    "Whisper": "whisper",
    "CLIP": "clip",
}
"""Folders without `tokenizer.json`, by the class that they name."""


def _class_folder(name: str) -> jeton.Tokenizer:
    case = _CLASSES["folders"][name]
    with tempfile.TemporaryDirectory() as folder:
        for file, held in case["files"].items():
            content = gzip.decompress(base64.b64decode(_CLASSES["files"][held]))
            (Path(folder) / file).write_bytes(content)
        for file, value in case["beside"].items():
            (Path(folder) / file).write_text(json.dumps(value), encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FormatWarning)  # of what the class leaves open
            return jeton.load(folder)


def _tekken() -> jeton.Tokenizer:
    """Ranks with the special tokens in front."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"th", b"the", b" the", b"er"]
    return jeton.Tokenizer.from_ranks(
        {token: rank for rank, token in enumerate(tokens, 2)},
        pattern="tekken",
        special_tokens={"<s>": 0, "</s>": 1},
    )


def _fair() -> jeton.Tokenizer:
    trainer = jeton.BPETrainer(280, pattern="gpt2", languages="base")
    return trainer.train({"en": LINES, "reversed": [line[::-1] for line in LINES]})


VARIANTS: dict[str, Callable[[], jeton.Tokenizer]] = {
    "trained: fair to languages": _fair,
    "trained: with known tokens": trained(
        vocab_size=290, pattern="gpt2", user_defined_symbols=["~ing", "New York"]
    ),
    "trained: leaves pruned": lambda: (
        jeton.edit.prune(
            jeton.BPETrainer(300, pattern="gpt2").train(LINES), corpus=LINES[:1], leaves=9
        ).tok
    ),
}
"""Of GPT-2's pattern, trained beyond the textbook."""

MADE: dict[str, Callable[[], jeton.Tokenizer]] = {
    **KINDS,
    "trained: GPT-2's pattern": trained(vocab_size=280, pattern="gpt2"),
    "trained: characters' BPE": trained(
        vocab_size=40, alphabet="characters", special_tokens=["<unk>"], unk_token="<unk>"
    ),
    "trained: WordPiece": lambda: jeton.WordPieceTrainer(vocab_size=60).train(LINES),
    "trained: words": lambda: jeton.WordLevelTrainer(vocab_size=60).train(LINES),
    "trained: bytes by value": trained(vocab_size=280, byte_order="value", special_tokens=["<s>"]),
    "trained: without residues": trained(
        vocab_size=280, special_tokens=["<s>"], drop_residues=0.7, residues_become="pair"
    ),
    "trained: residues as bytes": trained(
        vocab_size=280, drop_residues=0.7, residues_become="bytes"
    ),
    "trained: superwords of these": trained(
        vocab_size=300, drop_residues=0.7, superwords="super", superword_tokens=5
    ),
    **VARIANTS,
    "trained: closed characters": lambda: jeton.CharTrainer().train("the weather"),
    "trained: SentencePiece's BPE": trained(vocab_size=330, **LLAMA),
    "trained: Unigram": lambda: jeton.UnigramTrainer(34).train(LINES),
    "trained: tokenizers' Unigram": lambda: jeton.UnigramTrainer(34, style="huggingface").train(
        LINES
    ),
    ".model: Unigram": lambda: sentence_piece(UNIGRAM),
    ".model: BPE": lambda: sentence_piece(BPE),
    ".model: words": lambda: sentence_piece(WORD),
    ".model: characters": lambda: sentence_piece(CHAR),
    **{f".gguf: {name}": functools.partial(_gguf, name) for name in _GGUF["cases"]},
    "tekken.json": lambda: _tekken(),
    **{f"folder: {it}": functools.partial(_class_folder, name) for it, name in FOLDERS.items()},
}

FORMATS = [
    "tokenizer.json",
    "x.tiktoken",
    "vocab.json",
    "x.model",
    "vocab.txt",
    "x.gguf",
    "tekken.json",
]

#: What each kind can be saved as. A name alone: the tokenizer read again is equal; with `~`, it
#: only gives the same ids, since the format spells it in another way.
HOLDS = {
    "byte-level": ["tokenizer.json", "~x.tiktoken", "~x.model"],
    "ranks": ["~tokenizer.json", "x.tiktoken", "x.model"],
    "WordPiece": ["tokenizer.json", "~x.gguf"],
    "Unigram": ["tokenizer.json"],
    "characters": ["~tokenizer.json"],
    "longest match": ["~x.gguf"],
    "superwords": ["tokenizer.json"],
    "trained: GPT-2's pattern": [
        "tokenizer.json",
        "~x.tiktoken",
        "~vocab.json",
        "~x.model",
        "~x.gguf",
    ],
    "trained: characters' BPE": ["tokenizer.json"],
    "trained: WordPiece": ["tokenizer.json", "vocab.txt", "~x.gguf"],
    "trained: words": ["tokenizer.json"],
    "trained: bytes by value": ["tokenizer.json", "~x.tiktoken", "~x.model"],
    "trained: without residues": ["tokenizer.json"],
    "trained: residues as bytes": ["tokenizer.json"],
    "trained: superwords of these": ["tokenizer.json"],
    "trained: fair to languages": [
        "tokenizer.json",
        "~x.tiktoken",
        "~vocab.json",
        "~x.model",
        "~x.gguf",
    ],
    "trained: with known tokens": ["tokenizer.json", "~x.gguf"],
    "trained: leaves pruned": [
        "tokenizer.json",
        "~x.tiktoken",
        "~vocab.json",
        "~x.model",
        "~x.gguf",
    ],
    "trained: closed characters": ["~tokenizer.json"],
    "trained: SentencePiece's BPE": ["~tokenizer.json", "x.model", "~x.gguf"],
    "trained: Unigram": ["x.model", "~x.gguf"],
    "trained: tokenizers' Unigram": ["tokenizer.json"],
    ".model: Unigram": ["x.model", "~x.gguf"],
    ".model: BPE": ["~tokenizer.json", "x.model"],
    ".model: words": ["x.model"],
    ".model: characters": ["~tokenizer.json", "x.model"],
    ".gguf: gpt-2": ["tokenizer.json", "x.gguf"],
    ".gguf: llama": ["~tokenizer.json", "x.gguf"],
    ".gguf: llama_bare": ["~tokenizer.json", "x.gguf"],
    ".gguf: t5": ["x.gguf"],
    ".gguf: bert": ["tokenizer.json", "x.gguf"],
    ".gguf: rwkv": ["x.gguf"],
    "tekken.json": ["~tokenizer.json", "x.tiktoken", "x.model", "~x.gguf", "tekken.json"],
    "folder: Llama": ["~tokenizer.json", "~x.gguf"],
    "folder: T5": [],
    "folder: XLM-R": [],
    "folder: ALBERT": [],
    "folder: BERT": ["tokenizer.json", "~x.gguf"],
    "folder: GPT-2": ["tokenizer.json", "~vocab.json"],
    "folder: Qwen 2": ["tokenizer.json"],
    "folder: Whisper": ["tokenizer.json"],
    "folder: CLIP": ["tokenizer.json"],
}


def encoded(tok: jeton.Tokenizer, text: str) -> list[int] | None:
    """The ids; `None` where the text holds something that the model has no token for."""
    try:
        return tok.encode(text)
    except EncodeError:
        return None


def _pattern(kind: str) -> str:
    """The pattern of a byte-level kind."""
    if kind == "tekken.json":
        return "tekken"
    named = {"folder: Qwen 2": "qwen2", "folder: Whisper": "gpt2", ".gguf: gpt-2": "gpt2"}
    is_gpt2 = "GPT-2" in kind or kind in VARIANTS
    return named.get(kind, "gpt2" if is_gpt2 else "gpt4")


def _given(tok: jeton.Tokenizer, name: str, pattern: str) -> dict[str, Any]:
    """What a format leaves to whoever loads a file of it."""
    if name not in ("x.tiktoken", "x.model") or not isinstance(tok.stages.model, models.BPE):
        return {}
    if tok.stages.model.alphabet != "bytes":
        return {}
    return {"pattern": pattern, "special_tokens": tok.special_tokens}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", MADE)
def test_every_kind_in_every_format(kind: str, name: str, tmp_path: Path) -> None:
    tok = MADE[kind]()
    path = tmp_path / name
    held = [entry for entry in HOLDS[kind] if entry.lstrip("~") == name]
    if not held:
        with pytest.raises(
            UnsupportedError,
            match=r"cannot hold|goes with GPT-2's pattern|has no model of|ranks would make",
        ):
            tok.save(path, lossy=True)
        assert not path.exists()
        return
    tok.save(path, lossy=True)
    given = _given(tok, name, _pattern(kind))
    again = jeton.load(path, **given)
    assert (again == tok) == (not held[0].startswith("~"))
    for text in TEXTS:
        if len(text) > 100 and name == "x.gguf" and isinstance(tok.stages.model, models.WordPiece):
            continue  # llama.cpp has no longest word, which saving warns of
        ids = encoded(tok, text)
        assert encoded(again, text) == ids, text
        if ids is not None:
            assert again.decode(ids) == tok.decode(ids)
    again.save(path, lossy=True)
    assert jeton.load(path, **given) == again


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "gpt4o", "llama3", "qwen2", "deepseek"])
def test_tokenizers_agrees_on_trained_characters(pattern: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok = jeton.BPETrainer(60, alphabet="characters", pattern=pattern).train(LINES)
    theirs = tokenizers.Tokenizer.from_str(tok.to_json())
    for text in [*TEXTS, *LINES, "THE  the\r\n there's 12345 '東京"]:
        assert tok.encode(text) == theirs.encode(text).ids, text
        assert tok.decode(tok.encode(text)) == theirs.decode(theirs.encode(text).ids)


def test_an_expression_of_ones_own_is_named(tmp_path: Path) -> None:
    tok = jeton.BPETrainer(60, alphabet="characters", pattern=r"\w+").train(LINES)
    with pytest.raises(
        UnsupportedError, match=r"pattern that has a name, or .*pre_tokenizers.Split"
    ):
        tok.save(tmp_path / "tokenizer.json")


def test_the_table_in_the_documentation() -> None:
    document = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) +" + r"\| (.+?) +" * len(FORMATS) + r"\|$", document, re.M)
    table = {row[0]: dict(zip(FORMATS, row[1:], strict=True)) for row in rows}
    for kind, held in HOLDS.items():
        for name in FORMATS:
            mark = "equal" if name in held else "same ids" if f"~{name}" in held else "—"
            assert table[kind][name] == mark, (kind, name)


def test_tokens_that_no_merge_makes(tmp_path: Path) -> None:
    """Llama 3's ranks have such: they are tokens as whole pieces only, there and back."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"xyz", b"ab", b" ab"]
    lines = [base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)]
    (tmp_path / "a.tiktoken").write_bytes(b"".join(lines))
    tok = jeton.load(tmp_path / "a.tiktoken", pattern="gpt2")
    assert (tok.encode("xyz"), tok.encode("axyz")) == ([256], [97, 120, 121, 122])
    tok.save(tmp_path / "tokenizer.json")
    again = jeton.load(tmp_path / "tokenizer.json")
    for text in ("xyz", "axyz ab", "xyzxyz xyz"):
        assert again.encode(text) == tok.encode(text)
    again.save(tmp_path / "b.tiktoken", lossy=True)
    assert (tmp_path / "b.tiktoken").read_bytes() == (tmp_path / "a.tiktoken").read_bytes()


def _texts(tok: jeton.Tokenizer, count: int = 1000) -> list[str]:
    """Texts of the tokenizer's own tokens and of odd characters."""
    rng = random.Random(7)
    spelled = [
        token.decode("utf-8", "ignore").replace("▁", " ").removeprefix("##") for token in tok.vocab
    ]
    parts = [*spelled, *"ab é\u0301①中🙂\n\t0", "  ", "the weather", "'s", "\r\n"]
    return ["".join(rng.choices(parts, k=rng.randint(1, 8))) for _ in range(count)]


@pytest.mark.parametrize("kind", MADE)
def test_chains_of_conversions(kind: str, tmp_path: Path) -> None:
    """From a tokenizer to a format to a format: the ids stay, wherever neither is refused."""
    tok = MADE[kind]()
    pattern = _pattern(kind)
    texts = _texts(tok)
    ids = [encoded(tok, text) for text in texts]
    steps = 0
    for first in FORMATS:
        try:
            tok.save(tmp_path / first, lossy=True)
        except UnsupportedError:
            continue
        middle = jeton.load(tmp_path / first, **_given(tok, first, pattern))
        for second in FORMATS:
            try:
                middle.save(tmp_path / f"2{second}", lossy=True)
            except UnsupportedError:
                continue
            again = jeton.load(tmp_path / f"2{second}", **_given(middle, second, pattern))
            assert [encoded(again, text) for text in texts] == ids, (first, second)
            for held in filter(None, ids[::10]):
                assert again.decode(held) == tok.decode(held), (first, second)
            steps += 1
    assert steps or not HOLDS[kind]
