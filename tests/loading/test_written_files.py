"""What jeton writes, the libraries that the formats belong to read, and give the same ids."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

import jeton
from jeton.components.pre_tokenizers import Matches
from shared_data import SHARED, VOCABULARIES, needs

pytestmark = needs(SHARED)


def sample() -> list[str]:
    """Some of each real text, in lines, and strings that are hard to cut."""
    texts = [
        "",
        " ",
        "\n\n",
        "don't DON'T",
        "a<|endoftext|>b",
        "  x\u3000\u0085y  ",
        "१२३ 12345",
    ]
    for path in sorted((SHARED / "text").rglob("*.txt")):
        with path.open(encoding="utf-8") as file:
            texts += file.read(20_000).splitlines(keepends=True)
    return texts


def pattern_of(tok: jeton.Tokenizer) -> str:
    """The expression that cuts text before ranks."""
    assert isinstance(tok.stages.pre_tokenizer, Matches)
    pattern = tok.stages.pre_tokenizer.pattern
    return pattern if isinstance(pattern, str) else pattern.source


@pytest.mark.large
@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base", "llama3"])
def test_tiktoken_reads_our_ranks(name: str, tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    tok = jeton.load(name, folder=VOCABULARIES)
    path = tmp_path / "out.tiktoken"
    tok.save(path)
    lines = (line.split() for line in path.read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    theirs = tiktoken.Encoding(
        name,
        pat_str=pattern_of(tok),
        mergeable_ranks=ranks,
        special_tokens=tok.special_tokens,
    )
    for text in sample():
        assert tok.encode(text) == theirs.encode_ordinary(text)
        ids = tok.encode(text, special="allow")
        assert ids == theirs.encode(text, allowed_special="all")
        assert tok.decode_bytes(ids) == theirs.decode_bytes(ids)


@pytest.mark.large
@pytest.mark.parametrize("source", ["gpt2", "r50k_base"])
def test_tokenizers_and_transformers_read_our_pair(source: str, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok = jeton.load(source, folder=VOCABULARIES)
    tok.save(tmp_path / "vocab.json")
    pair = tokenizers.ByteLevelBPETokenizer.from_file(
        str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    )
    texts = sample()
    assert [tok.encode(text) for text in texts] == [row.ids for row in pair.encode_batch(texts)]
    assert jeton.load(tmp_path) == jeton.load("gpt2", folder=VOCABULARIES)

    transformers = pytest.importorskip("transformers")
    fast = transformers.GPT2TokenizerFast.from_pretrained(tmp_path)
    for text in texts:
        assert tok.encode(text, special="allow") == fast(text)["input_ids"]


@pytest.mark.large
@pytest.mark.parametrize("name", ["gpt2", "r50k_base", "cl100k_base", "o200k_base"])
def test_tokenizers_and_transformers_read_our_folder(name: str, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok = jeton.load(name, folder=VOCABULARIES)
    folder = tmp_path / "out"
    tok.save(folder)
    texts = sample()
    ours = [tok.encode(text, special="allow") for text in texts]
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert ours == [row.ids for row in theirs.encode_batch(texts)]
    again = jeton.load(folder)
    assert ours == [again.encode(text, special="allow") for text in texts]
    transformers = pytest.importorskip("transformers")
    fast = transformers.AutoTokenizer.from_pretrained(folder)
    assert ours[:50] == [fast(text)["input_ids"] for text in texts[:50]]


def test_components_that_a_format_cannot_hold_are_named(tmp_path: Path) -> None:
    tok = jeton.load("cl100k_base", folder=VOCABULARIES)
    with pytest.raises(jeton.errors.UnsupportedError, match=r"fim_prefix|GPT-2's pattern"):
        tok.save(tmp_path / "vocab.json")
    assert list(tmp_path.iterdir()) == []
    json_path = tmp_path / "tokenizer.json"
    with pytest.warns(jeton.errors.FormatWarning, match="does not hold the role eos"):
        tok.save(json_path)
    assert json.loads(json_path.read_text())["model"]["type"] == "BPE"
