"""Real byte-level vocabularies: the same ids as tiktoken and tokenizers, and the same bytes back."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import jeton
import nasty
from conftest import Scale

tiktoken = pytest.importorskip("tiktoken")
tokenizers = pytest.importorskip("tokenizers")

LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3_SPECIALS = {
    token: 128000 + number
    for number, token in enumerate(
        ["<|begin_of_text|>", "<|end_of_text|>"]
        + [f"<|reserved_special_token_{n}|>" for n in range(4)]
        + [
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|reserved_special_token_4|>",
            "<|eot_id|>",
        ]
        + [f"<|reserved_special_token_{n}|>" for n in range(5, 251)]
    )
}
ENDOFTEXT = {"<|endoftext|>": 50256}
NAMES = ("r50k_base", "cl100k_base", "o200k_base", "llama3")
#: Documents that a batch holds: enough to use all cores, few enough to name the one that differs.
BATCH = 2_000


@dataclass(frozen=True)
class Pair:
    """One vocabulary in both libraries."""

    ours: jeton.Tokenizer
    theirs: Any
    specials: Sequence[str]


def _ranks(path: Path) -> dict[bytes, int]:
    lines = path.read_bytes().splitlines()
    return {base64.b64decode(t): int(r) for t, r in (line.split() for line in lines if line)}


@pytest.fixture(scope="module", params=NAMES)
def pair(request: pytest.FixtureRequest, vocabularies: Path) -> Pair:
    """A vocabulary of ranks, loaded here and by tiktoken."""
    name: str = request.param
    if name == "llama3":
        path = vocabularies / "llama3_ranks.model"
        theirs = tiktoken.Encoding(
            name,
            pat_str=LLAMA3_PATTERN,
            mergeable_ranks=_ranks(path),
            special_tokens=LLAMA3_SPECIALS,
        )
        ours = jeton.load(path, pattern=LLAMA3_PATTERN, special_tokens=LLAMA3_SPECIALS)
        return Pair(ours, theirs, list(LLAMA3_SPECIALS)[:10])
    from tiktoken_ext import openai_public

    path = vocabularies / f"{name}.tiktoken"
    plan = _plan(openai_public, name, path)
    theirs = tiktoken.Encoding(**plan)
    ours = jeton.load(path)
    return Pair(ours, theirs, list(plan["special_tokens"]))


def _plan(openai_public: Any, name: str, path: Path) -> dict[str, Any]:
    """tiktoken's own pattern and special tokens, over the file that is here."""
    original = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = lambda *args, **kwargs: _ranks(path)
    try:
        plan: dict[str, Any] = getattr(openai_public, name)()
    finally:
        openai_public.load_tiktoken_bpe = original
    return plan


def _batches(items: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _differing(ours: Any, theirs: list[list[int]], texts: list[str]) -> list[str]:
    return [text for text, a, b in zip(texts, ours, theirs, strict=True) if a != b]


@pytest.mark.large
def test_documents(pair: Pair, documents: list[str]) -> None:
    for batch in _batches(iter(documents)):
        ours = pair.ours.encode_batch(batch).tolist()
        theirs = pair.theirs.encode_ordinary_batch(batch, num_threads=2)
        assert not _differing(ours, theirs, batch)
        assert pair.ours.decode_batch(ours) == batch


@pytest.mark.large
def test_generated_strings(pair: Pair, scale: Scale) -> None:
    texts = nasty.strings(scale.strings, seed=20, specials=pair.specials)
    for batch in _batches(texts):
        ordinary = pair.ours.encode_batch(batch).tolist()
        assert not _differing(
            ordinary, pair.theirs.encode_ordinary_batch(batch, num_threads=2), batch
        )
        special = pair.ours.encode_batch(batch, special="allow").tolist()
        theirs = pair.theirs.encode_batch(batch, allowed_special="all", num_threads=2)
        assert not _differing(special, theirs, batch)


def test_some_specials_allowed(pair: Pair, scale: Scale) -> None:
    allowed = set(pair.specials[:1])
    for text in nasty.strings(scale.strings // 10, seed=21, specials=pair.specials):
        theirs = pair.theirs.encode(text, allowed_special=allowed, disallowed_special=())
        assert pair.ours.encode(text, special=allowed) == theirs, text


def test_bytes_decode(pair: Pair, scale: Scale) -> None:
    for data in nasty.byte_strings(scale.strings // 10, seed=22):
        ids = [pair.ours.vocab[bytes([byte])] for byte in data]
        assert pair.ours.decode_bytes(ids) == pair.theirs.decode_bytes(ids) == data
        assert pair.ours.decode(ids) == pair.theirs.decode(ids)


def test_lone_surrogates(pair: Pair) -> None:
    for text in [
        "\ud800",
        "a\udfffb",
        "\ud83d\ude00",
        "x\ud83d",
        "\udc00\ud800 \ud800\udc00",
    ]:
        assert pair.ours.encode(text) == pair.theirs.encode(text, disallowed_special=())


def test_runs_of_one_character(pair: Pair) -> None:
    for character in ["a", " ", "\n", "1", "!", "é", "中", "🙂", "'", "\u0301", "A"]:
        for length in (1, 2, 3, 7, 63, 64, 65, 300, 1000):
            text = character * length
            for padded in (text, f"x{text}", f"{text}x", f" {text} "):
                theirs = pair.theirs.encode_ordinary(padded)
                assert pair.ours.encode(padded) == theirs, (character, length)


@pytest.fixture(scope="module")
def gpt2_pair(vocabularies: Path) -> Pair:
    """The GPT-2 pair of files, loaded here and by tokenizers."""
    vocab, merges = vocabularies / "gpt2_vocab.json", vocabularies / "gpt2_merges.txt"
    theirs = tokenizers.ByteLevelBPETokenizer(str(vocab), str(merges), add_prefix_space=False)
    theirs._tokenizer.encode_special_tokens = False
    theirs._tokenizer.add_special_tokens(list(ENDOFTEXT))
    return Pair(jeton.load(vocab, merges=merges), theirs._tokenizer, list(ENDOFTEXT))


def _columns(encoding: Any) -> tuple[list[int], list[tuple[int, int]]]:
    return encoding.ids, encoding.offsets


@pytest.mark.large
def test_gpt2_documents(gpt2_pair: Pair, documents: list[str]) -> None:
    gpt2_pair.theirs.encode_special_tokens = True
    for batch in _batches(iter(documents)):
        theirs = gpt2_pair.theirs.encode_batch_fast(batch, add_special_tokens=False)
        ours = gpt2_pair.ours.encode_batch(batch).tolist()
        assert not _differing(ours, [encoding.ids for encoding in theirs], batch)
        assert gpt2_pair.ours.decode_batch(ours) == batch


def test_gpt2_generated_strings(gpt2_pair: Pair, scale: Scale) -> None:
    gpt2_pair.theirs.encode_special_tokens = False
    texts = nasty.strings(scale.strings, seed=23, specials=gpt2_pair.specials)
    for batch in _batches(texts):
        theirs = gpt2_pair.theirs.encode_batch_fast(batch, add_special_tokens=False)
        ours = gpt2_pair.ours.encode_batch(batch, special="allow").tolist()
        assert not _differing(ours, [encoding.ids for encoding in theirs], batch)


def test_gpt2_spans(gpt2_pair: Pair, scale: Scale) -> None:
    gpt2_pair.theirs.encode_special_tokens = False
    for text in nasty.strings(scale.strings // 10, seed=24, specials=gpt2_pair.specials):
        theirs = gpt2_pair.theirs.encode(text, add_special_tokens=False)
        ours = gpt2_pair.ours.encode_with_spans(text, special="allow")
        # The bare pair trims nothing; ByteLevelBPETokenizer has a post-processor that may.
        assert list(ours.ids) == theirs.ids
