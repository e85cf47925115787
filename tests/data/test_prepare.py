"""Token sets hold the tokens of their documents: in every layout, parted and shuffled by rule."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components.post_processors import TemplateProcessing
from jeton.data import Manifest, TokenDataset, prepare, verify
from jeton.data.preparing import queue, shuffling
from jeton.errors import ArgumentError, ArgumentTypeError, FileError
from prepared import (
    END,
    NAMES,
    by_hash,
    contents,
    documents,
    flat,
    lengths_of,
    rows,
    shuffled,
    tokenizer,
    tokens_of,
    without_waiting,
)
from shared_data import SHARED, needed

pytestmark = pytest.mark.usefixtures(without_waiting.__name__)

TEXTS = documents()
TOK = tokenizer()
SHAKESPEARE = SHARED / "text" / "tinyshakespeare.txt"


COMMAND = [sys.executable, *"-m jeton prepare tok.json in.txt --documents line --shuffle 3".split()]


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("split", [None, "cut", "hash"])
@pytest.mark.parametrize("layout", NAMES)
def test_every_layout_and_rule(tmp_path: Path, layout: Any, split: Any, seed: int | None) -> None:
    more: dict[str, Any] = {} if split is None else {"validation": 0.2, "split": split}
    manifest = prepare(TEXTS, TOK, tmp_path, layout=layout, shuffle=seed, **more)
    texts = list(filter(None, TEXTS))
    if seed is not None:
        texts = shuffled(TEXTS, seed, cut=(TOK, Fraction(4, 5)) if split == "cut" else None)
    if split == "hash":
        train, validate = by_hash(texts, Fraction(1, 5))
        expected = {"train": flat(rows(TOK, train)), "val": flat(rows(TOK, validate))}
    else:
        tokens = flat(rows(TOK, texts))
        cut = len(tokens) * 4 // 5 if split == "cut" else len(tokens)
        expected = {"train": tokens[:cut], "val": tokens[cut:]}
    for name, written in manifest.splits.items():
        assert tokens_of(tmp_path, name) == expected.pop(name)
        lengths = lengths_of(tmp_path, name)
        assert lengths is None or (sum(lengths), len(lengths)) == (
            written.tokens,
            written.documents,
        )
    assert not flat(expected.values())
    assert manifest.documents == len(texts)
    assert manifest.empty_documents == len(TEXTS) - len(texts)
    assert manifest.bytes == sum(len(text.encode()) for text in texts)
    assert verify(tmp_path) == []
    assert Manifest.read(tmp_path) == manifest
    assert not (tmp_path / ".preparing").exists()


@pytest.mark.parametrize("place", ["after", "before", None])
def test_end_of_text(tmp_path: Path, place: Any) -> None:
    more = {"end_of_text": None} if place is None else {"end_of_text_place": place}
    manifest = prepare(TEXTS, TOK, tmp_path, **more)
    assert tokens_of(tmp_path) == flat(rows(TOK, TEXTS, place=place))
    expected = None if place is None else {"token": END, "id": 0, "place": place}
    assert manifest.end_of_text == expected


def test_wide_tokens(tmp_path: Path) -> None:
    wide = jeton.Tokenizer.from_ranks(
        {bytes([byte]): byte for byte in range(256)},
        pattern="gpt2",
        special_tokens={END: 70_000},
    )
    manifest = prepare(TEXTS, wide, tmp_path, layout="nanogpt", validation=0.5)
    assert manifest.dtype == "uint32"
    read = tokens_of(tmp_path, dtype="uint32") + tokens_of(tmp_path, "val", "uint32")
    assert read == flat(rows(wide, TEXTS))


@pytest.mark.parametrize("layout", ["jeton", "datatrove", "llm.c", "megatron", "parquet"])
def test_shards(tmp_path: Path, layout: Any) -> None:
    manifest = prepare(TEXTS, TOK, tmp_path, layout=layout, shard_tokens=500)
    shards = manifest.splits["train"].shards
    assert len(shards) > 10
    assert all(shard.tokens <= 500 or shard.documents == 1 for shard in shards)
    assert tokens_of(tmp_path) == flat(rows(TOK, TEXTS))


def test_a_set_knows_its_tokenizer_and_its_documents(tmp_path: Path) -> None:
    prepare(TEXTS, TOK, tmp_path, layout="nanogpt", name="small")
    opened = TokenDataset(tmp_path)
    texts = [text for text in TEXTS if text]
    assert len(opened.documents) == len(texts)
    assert opened.decode(slice(0, 40)) == TOK.decode(opened[:40])
    assert opened.decode(opened.documents[3]) == texts[3] + END
    assert Manifest.read(tmp_path).tokenizer["name"] == "small"


def test_tiny_shakespeare(tmp_path: Path) -> None:
    text = needed(SHAKESPEARE).read_text("utf-8")
    tok = jeton.CharTrainer().train(text)
    assert tok.vocab_size == 65
    manifest = prepare(
        SHAKESPEARE, tok, tmp_path, layout="nanogpt", validation=0.1, end_of_text=None
    )
    sizes = {name: split.tokens for name, split in manifest.splits.items()}
    assert sizes == {"train": 1_003_854, "val": 111_540}
    assert manifest.tokens == 1_115_394
    ids = tokens_of(tmp_path) + tokens_of(tmp_path, "val")
    # As nanoGPT numbers characters.
    numbers = {character: number for number, character in enumerate(sorted(set(text)))}
    assert ids == [numbers[character] for character in text]


@pytest.mark.parametrize("share", [0.5, 0.1, 0.003, 0.999])
def test_a_validation_split_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    monkeypatch.setattr(queue, "_IN_MEMORY", 5_000)
    folder = tmp_path / "in"
    folder.mkdir()
    text = "\n".join(text for text in TEXTS if "\t" not in text)
    for number in range(3):
        (folder / f"{number}.txt").write_text(text * 12, "utf-8")
    options: dict[str, Any] = {"validation": share, "split": "cut", "documents": "line"}
    manifest = prepare(folder, TOK, tmp_path / "out", **options)
    tokens = flat(rows(TOK, "\n".join(text * 12 for _ in range(1)).split("\n"))) * 3
    cut = int(len(tokens) * (1 - Fraction(str(share))))
    assert manifest.splits["train"].tokens == cut
    assert tokens_of(tmp_path / "out") + tokens_of(tmp_path / "out", "val") == tokens


def test_the_order_of_a_seed_does_not_depend_on_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(TEXTS, TOK, tmp_path / "one", shuffle=1)
    monkeypatch.setattr(shuffling, "_AT_A_TIME", 100)
    monkeypatch.setattr("jeton.data.preparing.pipeline.buckets_for", lambda *_: 16)
    prepare(TEXTS, TOK, tmp_path / "many", shuffle=1)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")
    prepare(TEXTS, TOK, tmp_path / "other", shuffle=2)
    assert tokens_of(tmp_path / "other") != tokens_of(tmp_path / "one")
    assert sorted(tokens_of(tmp_path / "other")) == sorted(tokens_of(tmp_path / "one"))


def test_hashed_documents_stay_in_their_split(tmp_path: Path) -> None:
    prepare(TEXTS[:150], TOK, tmp_path / "some", validation=0.3, split="hash")
    prepare(TEXTS, TOK, tmp_path / "all", validation=0.3, split="hash")
    some, every = tokens_of(tmp_path / "some", "val"), tokens_of(tmp_path / "all", "val")
    assert every[: len(some)] == some


@pytest.mark.large
def test_the_number_of_threads_does_not_show(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\n".join(TEXTS) * 60, "utf-8")
    TOK.save(tmp_path / "tok.json")
    found = []
    for threads in ("1", "5"):
        done = subprocess.run(
            [*COMMAND, "-o", threads],
            cwd=tmp_path,
            env={**os.environ, "RAYON_NUM_THREADS": threads},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found.append(contents(tmp_path / threads))
    assert found[0] == found[1]


@pytest.mark.large
def test_whole_files_are_documents_of_any_size(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    texts = ["\n".join(TEXTS) * repeats for repeats in (150, 0, 1, 90)]
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text, "utf-8")
    for split in ("cut", "hash"):
        out = tmp_path / split
        prepare(folder, TOK, out, shard_tokens=100_000, validation=0.3, split=split)
        tokens = tokens_of(out) + tokens_of(out, "val")
        assert sorted(tokens) == sorted(flat(rows(TOK, texts)))
        if split == "cut":
            assert tokens == flat(rows(TOK, texts))
    prepare(folder, TOK, tmp_path / "shuffled", shuffle=4)
    assert tokens_of(tmp_path / "shuffled") == flat(rows(TOK, shuffled(texts, 4)))


@pytest.mark.large
@pytest.mark.parametrize("validation", [None, "cut", "hash"])
@pytest.mark.parametrize("buckets", [1, 256])
def test_copies_are_shuffled_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, buckets: int, validation: str | None
) -> None:
    """Copies lie side by side as often as chance has it, and are all of one split."""
    monkeypatch.setattr(shuffling, "_MAX_BUCKETS", buckets)
    monkeypatch.setattr(shuffling, "_COPIES_IN_MEMORY", 100)
    monkeypatch.setattr(shuffling, "_AT_A_TIME", 1_000)
    copied = {"once more": 1_500, "and again": 500}
    texts = [f"{number} times to be" for number in range(2_000)]
    texts += [text for text, times in copied.items() for _ in range(times)]
    more: dict[str, Any] = {} if validation is None else {"validation": 0.25, "split": validation}
    prepare(texts, TOK, tmp_path, shuffle=3, **more)
    splits = ["train"] if validation is None else ["train", "val"]
    cut = (TOK, Fraction(3, 4)) if validation == "cut" else None
    expected = shuffled(texts, 3, cut=cut)
    if validation == "hash":
        expected = list(chain(*by_hash(expected, Fraction(1, 4))))
    found = {name: TokenDataset(tmp_path, split=name) for name in splits}
    assert flat(rows(TOK, expected)) == [token for name in splits for token in found[name][:]]
    decoded = [[TOK.decode(row[:-1]) for row in found[name].documents] for name in splits]
    for text in copied:
        pairs = sum(left == right == text for some in decoded for left, right in pairwise(some))
        assert 0.8 < pairs / sum(some.count(text) ** 2 / len(some) for some in decoded) < 1.2
    # But for those of the document that is cut.
    of_both = sum(len(decoded) > 1 and all(text in some for some in decoded) for text in copied)
    assert of_both <= (validation == "cut")


def test_progress_is_told(tmp_path: Path) -> None:
    steps: list[Any] = []
    manifest = prepare(TEXTS, TOK, tmp_path, shuffle=1, watch=steps.append)
    assert steps[-1].phase == "finishing"
    assert steps[-1].tokens == manifest.tokens
    assert {step.phase for step in steps} >= {"encoding", "finishing"}


def test_the_manifest_says_what_a_set_is(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "to be"}\n{"text": "or not"}\n')
    prepare(tmp_path / "in.jsonl", TOK, tmp_path / "out", layout="megatron")
    record = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert list(record["files"]) == ["train.bin", "train.idx", "tokenizer.json"]
    raw = (tmp_path / "in.jsonl").read_bytes()
    sha256 = hashlib.sha256(raw).hexdigest()
    assert record["inputs"] == [
        {"path": str(tmp_path / "in.jsonl"), "bytes": len(raw), "sha256": sha256}
    ]
    assert record["tokenizer"]["digest"] == TOK.digest
    assert record["tokenizer"]["file"] == "tokenizer.json"
    assert record["jeton"] == jeton.__version__


FRAMES: dict[str, tuple[str, list[str], list[str]]] = {
    "BERT": ("[CLS] $A [SEP]", ["[CLS]"], ["[SEP]"]),
    "Llama": ("<s> $A", ["<s>"], []),
    "T5": ("$A </s>", [], ["</s>"]),
    "Whisper": ("<a> <b> $A </s>", ["<a>", "<b>"], ["</s>"]),
}


def framed(template: str) -> jeton.Tokenizer:
    special = ["[CLS]", "[SEP]", "<s>", "</s>", "<a>", "<b>"]
    tok = jeton.BPETrainer(300, special_tokens=special).train(TEXTS)
    ids = {name: tok.special_tokens[name] for name in special if name in template}
    return tok.replace(post_processor=TemplateProcessing(template, special_tokens=ids))


@pytest.mark.parametrize("layout", ["jeton", "nanogpt"])
@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_that_of_the_post_processor(tmp_path: Path, name: str, layout: Any) -> None:
    template, begin, end = FRAMES[name]
    tok = framed(template)
    given = [text for text in TEXTS if text]
    manifest = prepare(given, tok, tmp_path / "out", layout=layout, frame=True)
    expected = [tok.encode(text, add_special_tokens=True) for text in given]
    assert tokens_of(tmp_path / "out") == flat(expected)
    found = TokenDataset(tmp_path / "out")
    assert [row.tolist() for row in found.documents] == expected
    ids = tok.special_tokens
    assert manifest.options["frame"] == {
        "begin": [ids[token] for token in begin],
        "end": [ids[token] for token in end],
    }
    with pytest.raises(FileError, match=r"with another (end of text|frame)"):
        prepare(given, tok, tmp_path / "out", layout=layout, end_of_text="<a>")
    (tmp_path / "in.txt").write_text("to be or not to be, " * 200_000)
    prepare(tmp_path / "in.txt", tok, tmp_path / "long", frame=True)
    text = (tmp_path / "in.txt").read_text()
    assert tokens_of(tmp_path / "long") == tok.encode(text, add_special_tokens=True)


def test_frames_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="adds no tokens around a text; leave it out"):
        prepare(TEXTS, TOK, tmp_path, frame=True)
    with pytest.raises(ArgumentError, match="frame and end_of_text both set the tokens around"):
        prepare(TEXTS, framed("<s> $A"), tmp_path, frame=True, end_of_text="</s>")
    with pytest.raises(ArgumentError, match="frame and messages both set the tokens around"):
        prepare(TEXTS, framed("<s> $A"), tmp_path, frame=True, messages="messages")
    with pytest.raises(ArgumentTypeError, match="frame must be a bool, not str"):
        prepare(TEXTS, TOK, tmp_path, frame="[CLS]")  # type: ignore[arg-type]
