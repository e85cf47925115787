"""`Tokenizer.usage`: how often each token occurs in a corpus, saved, loaded and shown."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from command_line import Run, error_of, here, run  # noqa: F401
from jeton.analysis import Usage
from jeton.errors import ArgumentError, FormatError, MissingFileError
from kinds import KINDS, each_kind, ranks

TEXTS = ["the weather there", "", "père: x = 1\n", "the the"]


def counted(tok: jeton.Tokenizer, texts: list[str]) -> dict[int, int]:
    return dict(Counter(id for text in texts for id in tok.encode(text)))


def as_dict(usage: Usage) -> dict[int, int]:
    return dict(usage.most_common(len(usage.ids)))


@each_kind
def test_counts_are_those_of_encode(tok: jeton.Tokenizer) -> None:
    usage = tok.usage(TEXTS)
    assert as_dict(usage) == counted(tok, TEXTS)
    assert usage.total == sum(tok.count_batch(TEXTS))
    assert usage.ids.tolist() == sorted(set(tok.vocab.values()))
    assert set(usage.never_used.tolist()) == set(usage.ids.tolist()) - counted(tok, TEXTS).keys()
    assert (usage.documents, usage.bytes) == (3, sum(len(text.encode()) for text in TEXTS))
    assert usage.tokenizer == tok.digest and usage.version == jeton.__version__


@pytest.mark.large
@given(st.lists(st.text(max_size=20), max_size=6), st.integers(0, 6))
def test_parts_add_up(texts: list[str], at: int) -> None:
    tok = KINDS["byte-level"]()
    whole, parts = tok.usage(texts), [tok.usage(texts[:at]), tok.usage(texts[at:])]
    assert whole.counts.tolist() == (parts[0].counts + parts[1].counts).tolist()
    assert whole.tokens_for(1.0) == whole.used
    assert whole.tokens_for(0.0) == 0


def test_files_of_every_kind_count_alike(tmp_path: Path) -> None:
    tok = ranks()
    texts = [text for text in TEXTS if text]
    (tmp_path / "texts").mkdir()
    for number, text in enumerate(texts):
        (tmp_path / "texts" / f"{number}.txt").write_bytes(text.encode())
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "lines.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "lines.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pytest.importorskip("pyarrow")
    from pyarrow import parquet, table

    parquet.write_table(table({"text": texts}), tmp_path / "table.parquet")
    expected = tok.usage(texts)
    for name in ("texts", "lines.jsonl", "lines.jsonl.gz", "table.parquet"):
        usage = tok.usage(tmp_path / name)
        assert as_dict(usage) == as_dict(expected), name
        assert (usage.documents, usage.bytes) == (expected.documents, expected.bytes), name
    assert tok.usage(str(tmp_path / "texts" / "*.txt")) == tok.usage(tmp_path / "texts")


def test_the_digest_of_a_corpus_is_of_its_texts_in_order() -> None:
    tok = ranks()
    digests = {
        tok.usage(texts).corpus for texts in (["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"])
    }
    assert len(digests) == 4
    assert tok.usage(["ab", "c"]).corpus == tok.usage(iter(["ab", "c"])).corpus


def test_a_usage_names_its_ids() -> None:
    usage = jeton.CharTrainer().train("hello").usage(["eel"])
    assert {id: usage[id] for id in usage} == {0: 2, 1: 0, 2: 1, 3: 0}
    assert len(usage) == 4 and 3 in usage and 4 not in usage and "e" not in usage
    assert repr(usage) == "Usage(3 tokens of 1 document: 2 of 4 used)"


def test_gaps_in_ids_are_no_tokens() -> None:
    tok = ranks()
    assert tok.vocab.max_id + 1 > tok.vocab_size
    usage = tok.usage(["the"])
    assert len(usage.ids) == tok.vocab_size
    assert usage[tok.vocab.max_id - 20] == 0 and usage[tok.vocab["the"]] == 1
    far = tok.with_added_tokens([jeton.AddedToken("<far>", id=2**24 - 1, special=True)])
    assert far.usage(["the"]).ids[-1] == 2**24 - 1


def test_progress_is_reported(tmp_path: Path) -> None:
    steps: list[jeton.Progress] = []
    ranks().usage(TEXTS, watch=steps.append)
    assert steps[-1].done == steps[-1].total == steps[-1].text == 37
    (tmp_path / "a.txt").write_text("the theory", encoding="utf-8")
    ranks().usage(tmp_path, watch=steps.append)
    assert steps[-1] == jeton.Progress("counting", 10, 10, 10)


@each_kind
def test_saved_and_loaded_it_is_the_same(tok: jeton.Tokenizer, tmp_path: Path) -> None:
    usage = tok.usage(TEXTS)
    usage.save(tmp_path / "usage.json")
    loaded = Usage.load(tmp_path / "usage.json")
    assert loaded == usage and repr(loaded) == repr(usage)
    assert (loaded.documents, loaded.bytes) == (usage.documents, usage.bytes)
    assert loaded != tok.usage(TEXTS[1:])


SAVED = {
    "format": "jeton usage",
    "version": 1,
    "jeton": "1",
    "tokenizer": "a",
    "corpus": "b",
    "documents": 1,
    "bytes": 3,
    "ids": [[0, 2], [5, 6]],
    "counts": [1, 0, 2],
}


@pytest.mark.parametrize(
    "change",
    [
        {"format": "another"},
        {"version": 2},
        {"counts": [1, 2]},
        {"counts": [1, -1, 2]},
        {"counts": [1, 2.5, 2]},
        {"counts": [1, 2**70, 2]},
        {"counts": "123"},
        {"ids": [[0, 2], [1, 2]]},
        {"ids": [[0, 2**70]]},
        {"ids": [[0, 2**31]]},
        {"ids": [[2, 0], [0, 3]]},
        {"ids": [0, 1, 2]},
        {"documents": -1},
        {"bytes": None},
        {"tokenizer": 5},
    ],
    ids=str,
)
def test_files_that_are_damaged(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "usage.json"
    path.write_text(json.dumps(SAVED))
    assert Usage.load(path).ids.tolist() == [0, 1, 5]
    path.write_text(json.dumps({**SAVED, **change}))
    with pytest.raises(FormatError, match=r"usage\.json is not a saved usage"):
        Usage.load(path)


def test_files_that_hold_something_else(tmp_path: Path) -> None:
    for content in ("", "[", "[1]", "null", "[" * 100_000, '{"format": 1}'):
        (tmp_path / "x.json").write_text(content)
        with pytest.raises(FormatError, match="not a saved usage"):
            Usage.load(tmp_path / "x.json")
    with pytest.raises(MissingFileError):
        Usage.load(tmp_path / "missing.json")


def test_shares_that_make_no_sense() -> None:
    usage = ranks().usage(TEXTS)
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ArgumentError, match="share"):
            usage.tokens_for(share)
    with pytest.raises(ArgumentError, match="field"):
        ranks().usage(TEXTS, field="text")


def test_counts_that_are_wide() -> None:
    counts = np.array([2**40, 1])
    usage = Usage(np.array([3, 9]), counts, 1, 1, "", "")
    assert usage.total == 2**40 + 1 and usage[3] == 2**40 and usage[4] == 0


def test_inspect_shows_it(run: Run, here: Path) -> None:  # noqa: F811
    ranks().save("tok.json")
    (here / "a.txt").write_text("the the weather", encoding="utf-8")
    output = run("inspect", "tok.json", "--corpus", "a.txt").stdout
    assert "vocabulary used" in output and "tokens never occur" in output and "·the" in output
    (here / "empty.txt").write_text("")
    assert "no text" in run("inspect", "tok.json", "--corpus", "empty.txt").stdout
    assert "missing.txt" in error_of(run("inspect", "tok.json", "--corpus", "missing.txt", code=1))
    run("inspect", "tok.json", "--text", "the", "--corpus", "a.txt", code=2)
