"""Prepared sets as nanoGPT, llm.c, Megatron, datatrove and datasets read them: tiktoken's ids.

With published ranks where `../shared` has them, and with ranks that were trained here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import jeton
import peer_readers
from jeton import samples
from jeton.data import prepare
from prepared import END, documents
from shared_data import VOCABULARIES, needed

TEXTS = [
    *filter(None, documents(250)),
    *samples.read_all().values(),
    "naïve 東京 नमस्ते 👩‍👩‍👧 \r\n\t  1234567\u00a0don't",
    " ",
]


@pytest.fixture(scope="module", params=["trained", "r50k_base", "cl100k_base"])
def both(request: pytest.FixtureRequest) -> tuple[jeton.Tokenizer, list[list[int]], str]:
    """A tokenizer; tiktoken's ids of each document, with the end of text; their type."""
    tiktoken = pytest.importorskip("tiktoken")
    if request.param == "trained":
        # An end of text above all ranks.
        trained = jeton.BPETrainer(600).train(samples.read_all().values())
        ranks = trained.as_tiktoken()._mergeable_ranks
        special = {END: 600}
        tok = jeton.Tokenizer.from_ranks(ranks, pattern="gpt4", special_tokens=special)
    else:
        needed(VOCABULARIES / f"{request.param}.tiktoken")
        tok = jeton.load(request.param, folder=VOCABULARIES)
    same = tok.as_tiktoken()
    theirs = tiktoken.Encoding(
        "theirs",
        pat_str=same._pat_str,
        mergeable_ranks=same._mergeable_ranks,
        special_tokens=tok.special_tokens,
    )
    expected = [[*ids, theirs.eot_token] for ids in theirs.encode_ordinary_batch(TEXTS)]
    return tok, expected, "uint16" if tok.max_id < 2**16 else "uint32"


def read(folder: Path, layout: str, split: str, dtype: str) -> list[list[int]] | list[int]:
    """A split as its own readers give it: documents, or flat tokens where these know no more."""
    if layout == "nanogpt":
        return peer_readers.nanogpt(folder, split, dtype)
    if layout == "llm.c":
        files = sorted(folder.glob(f"{split}_*.bin"))
        return [token for file in files for token in peer_readers.llmc(file)]
    if layout == "megatron":
        prefixes = sorted(path.with_suffix("") for path in folder.glob(f"{split}*.idx"))
        return [row for prefix in prefixes for row in peer_readers.megatron(prefix)]
    if layout == "datatrove":
        size = 2 if dtype == "uint16" else 4
        files = sorted((folder / split).glob("*.ds"))
        return [row for file in files for row in peer_readers.datatrove(file, size)]
    files = sorted(folder.glob(f"{split}-*.parquet"))
    return peer_readers.parquet(files, folder / "cache")


@pytest.mark.parametrize("layout", ["nanogpt", "llm.c", "megatron", "datatrove", "parquet"])
def test_ids_are_those_of_tiktoken(
    tmp_path: Path, both: tuple[jeton.Tokenizer, list[list[int]], str], layout: Any
) -> None:
    tok, expected, dtype = both
    more: dict[str, Any] = {} if layout == "nanogpt" else {"shard_tokens": 5_000}
    # 5 documents validate, which are given; so documents stay whole.
    manifest = prepare(TEXTS[5:], tok, tmp_path, layout=layout, validation=TEXTS[:5], **more)
    assert manifest.dtype == dtype
    assert layout == "nanogpt" or len(manifest.splits["train"].shards) > 2
    for split, rows in (("val", expected[:5]), ("train", expected[5:])):
        flat = [token for row in rows for token in row]
        found = read(tmp_path, layout, split, dtype)
        assert found == (rows if isinstance(found[0], list) else flat)
