"""The special tokens around a text: their names decide, and an id that is another's is refused.

In a file the id counts, as in the library of the file, and loading says so.
"""

from __future__ import annotations

import dataclasses
import json
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jeton
from jeton import data
from jeton.analysis import check
from jeton.components import models, post_processors
from jeton.errors import ArgumentError, FormatError, FormatWarning

BOS = "<|bos|>"
CORPUS = ["the weather there", "then the theory"]

Template = post_processors.TemplateProcessing
PAIR: Any = {"sep": (BOS, 0), "cls": (BOS, 0)}
WRONG: dict[str, tuple[Callable[[int], post_processors.PostProcessor], str]] = {
    "a template": (lambda id: Template(f"{BOS} $A", special_tokens={BOS: id}), BOS),
    "only for a pair": (lambda id: Template("$A", f"{BOS} $A $B", special_tokens={BOS: id}), BOS),
    "a token of several ids": (
        lambda id: Template(
            "x $A", special_tokens=[post_processors.TemplateToken("x", (0, id), (BOS, BOS))]
        ),
        BOS,
    ),
    "Bert, cls": (lambda id: post_processors.BertProcessing((BOS, 0), (BOS, id)), BOS),
    "Bert, sep": (lambda id: post_processors.BertProcessing((BOS, id), (BOS, 0)), BOS),
    "Roberta": (lambda id: post_processors.RobertaProcessing((BOS, id), (BOS, 0)), BOS),
    "a sequence": (
        lambda id: post_processors.Sequence(
            [post_processors.ByteLevel(), Template(f"{BOS} $A", special_tokens={BOS: id})]
        ),
        BOS,
    ),
    "an unknown token": (lambda id: Template("<no> $A", special_tokens={"<no>": id}), "<no>"),
}

TRAINERS: dict[str, Callable[..., Any]] = {
    "BPE": lambda **given: jeton.BPETrainer(300, special_tokens=[BOS], **given),
    "BPE, bytes by value": lambda **given: jeton.BPETrainer(
        300, byte_order="value", special_tokens=[BOS], **given
    ),
    "WordPiece": lambda **given: jeton.WordPieceTrainer(60, special_tokens=[BOS, "[UNK]"], **given),
    "words": lambda **given: jeton.WordLevelTrainer(9, special_tokens=[BOS, "[UNK]"], **given),
}


def trained() -> jeton.Tokenizer:
    return jeton.BPETrainer(257, special_tokens=[BOS], pattern="gpt2").train(CORPUS)


@pytest.mark.parametrize("id", [2, 9999])
@pytest.mark.parametrize("name", WRONG)
def test_a_frame_with_the_id_of_another_is_refused(name: str, id: int) -> None:
    make, token = WRONG[name]
    tok = trained()
    with pytest.raises(
        (ArgumentError, FormatError), match=f"gives '?\"?{token!s}".replace("|", r"\|")
    ):
        tok.replace(post_processor=make(id))
    with pytest.raises((ArgumentError, FormatError), match="post-processor gives"):
        jeton.Tokenizer(
            tok.stages.model, post_processor=make(id), added_tokens=tok.stages.added_tokens
        )


@pytest.mark.filterwarnings("ignore:vocab_size")
@pytest.mark.parametrize("name", TRAINERS)
def test_a_trainer_takes_no_such_frame(name: str) -> None:
    tok = TRAINERS[name]().train(CORPUS)
    right = tok.special_tokens[BOS]
    frame = Template(f"{BOS} $A", special_tokens={BOS: right})
    framed = TRAINERS[name](post_processor=frame).train(CORPUS)
    assert framed.encode("the", add_special_tokens=True)[0] == right
    wrong = Template(f"{BOS} $A", special_tokens={BOS: right + 2})
    with pytest.raises(ArgumentError, match="the id"):
        TRAINERS[name](post_processor=wrong).train(CORPUS)


def test_bad_frames_are_refused_before_the_corpus_is_read() -> None:
    frame = Template(f"{BOS} $A", special_tokens={BOS: 2})
    with pytest.raises(ArgumentError, match="the id 2; among special_tokens it has 0"):
        jeton.BPETrainer(300, special_tokens=[BOS], post_processor=frame)


def file_with(tmp_path: Path, post_processor: dict[str, Any]) -> Path:
    path = tmp_path / "tokenizer.json"
    document = json.loads(trained().to_json())
    document["post_processor"] = post_processor
    path.write_text(json.dumps(document))
    return path


def test_in_a_file_the_id_counts_and_is_told(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    frame = Template(f"{BOS} $A", special_tokens={BOS: 2})
    path = file_with(tmp_path, frame.to_dict())
    with pytest.warns(
        FormatWarning, match=r"'?\"?<\|bos\|>\"? the id 2, which is .*; its own is 0"
    ):
        tok = jeton.load(path)
    ids = tok.encode("the", add_special_tokens=True)
    assert ids[0] == 2
    assert tokenizers.Tokenizer.from_file(str(path)).encode("the").ids == ids
    with pytest.warns(FormatWarning, match="the id 2"):
        jeton.Tokenizer.from_json(path.read_text())
    [finding] = [it for it in check(tok).findings if it.rule == "frame-ids"]
    assert [case.id for case in finding.cases] == [2] and finding.severity == "error"
    # What is changed elsewhere may keep it; what is given again may not.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        changed = tok.replace(normalizer=jeton.components.normalizers.NFC())
        assert changed.encode("the", add_special_tokens=True) == ids
        assert tok.with_added_tokens(["<x>"]).encode("the", add_special_tokens=True) == ids
        assert pickle.loads(pickle.dumps(tok)) == tok
    assert not [it for it in check(trained()).findings if it.rule == "frame-ids"]


def test_an_id_of_no_token_is_refused_in_a_file(tmp_path: Path) -> None:
    frame = Template(f"{BOS} $A", special_tokens={BOS: 9999})
    with pytest.raises(FormatError, match="id 9999, which has no token; its own is 0"):
        jeton.load(file_with(tmp_path, frame.to_dict()))


def test_a_template_that_lacks_what_it_names_is_refused_in_a_file(tmp_path: Path) -> None:
    frame = Template(f"{BOS} $A", special_tokens={BOS: 0}).to_dict()
    frame["special_tokens"] = {}
    with pytest.raises(FormatError, match="which its special_tokens do not hold"):
        jeton.load(file_with(tmp_path, frame))


def dropping(dropout: float) -> jeton.Tokenizer:
    vocab = {b"l": 0, b"o": 1, b"w": 2, b"lo": 3, b"low": 4}
    merges = [(b"l", b"o"), (b"lo", b"w")]
    model = models.BPE(vocab, merges, alphabet="characters", dropout=dropout)
    return jeton.Tokenizer(model, decoder=jeton.components.decoders.Fuse())


def test_dropout_is_off_unless_a_call_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    dropping(0.5).save(path)
    assert json.loads(path.read_text())["model"]["dropout"] == 0.5
    with pytest.warns(FormatWarning, match=r"dropout=0\.5"):
        tok = jeton.load(path)
    text = "lowlow" * 9
    ids = [4] * 18
    for _ in range(9):
        assert tok.encode(text) == tok.encode_array(text).tolist() == ids
        assert tok.encode_with_spans(text).ids == tok(text)["input_ids"] == ids
        assert tok.count(text) == len(ids)
        assert tok.encode_batch([text, text]).tolist() == [ids, ids]
        assert tok.explain(text).ids == ids
    drawn = {tuple(tok.encode(text, dropout=0.5, seed=seed)) for seed in range(9)}
    assert len(drawn) > 1
    assert isinstance(tok.stages.model, models.BPE) and tok.stages.model.dropout == 0.5
    tok.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["model"]["dropout"] == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dropping(0.0).save(tmp_path / "none.json")
        jeton.load(tmp_path / "none.json")


def in_pieces(tok: jeton.Tokenizer, texts: list[str], folder: Path) -> Any:
    parts = [text[at : at + 7] for text in texts for at in range(0, len(text), 7)]
    return np.concatenate([*tok.encode_stream(parts)]).tolist()


def prepared(tok: jeton.Tokenizer, texts: Any, folder: Path, **options: Any) -> list[int]:
    made = Path(tempfile.mkdtemp(dir=folder)) / "set"
    data.prepare(texts, tok, made, end_of_text=None, **options)
    return [int(id) for id in data.TokenDataset(made)[:]]


def prepared_chats(tok: jeton.Tokenizer, texts: list[str], folder: Path) -> list[int]:
    chats = [[{"role": "assistant", "content": text}] for text in texts]
    path = folder / "chats.jsonl"
    path.write_text("".join(json.dumps({"messages": chat}) + "\n" for chat in chats))
    return prepared(tok, path, folder, messages=data.Conversations(template="zephyr"))


WAYS: dict[str, Callable[[jeton.Tokenizer, list[str], Path], Any]] = {
    "encode": lambda tok, texts, _: [tok.encode(text) for text in texts],
    "encode_array": lambda tok, texts, _: [tok.encode_array(text).tolist() for text in texts],
    "encode_batch": lambda tok, texts, _: tok.encode_batch(texts).tolist(),
    "encode_with_spans": lambda tok, texts, _: [tok.encode_with_spans(text) for text in texts],
    "spans of a batch": lambda tok, texts, _: [
        it.tolist() for it in tok.encode_batch(texts, spans="characters").spans
    ],
    "bytes of spans": lambda tok, texts, _: [
        tok.encode_with_spans(text, unit="bytes").spans for text in texts
    ],
    "encode_stream": in_pieces,
    "count": lambda tok, texts, _: [tok.count(text) for text in texts],
    "count_batch": lambda tok, texts, _: tok.count_batch(texts),
    "exceeds": lambda tok, texts, _: [tok.exceeds(text, 40) for text in texts],
    "chunk": lambda tok, texts, _: [tok.chunk(text, 11, overlap=2) for text in texts],
    "chunk_batch": lambda tok, texts, _: list(tok.chunk_batch(texts, 11)),
    "truncate": lambda tok, texts, _: [tok.truncate(text, 11, side="middle") for text in texts],
    "a call": lambda tok, texts, _: tok(texts, padding="longest")["input_ids"],
    "windows of a call": lambda tok, texts, _: tok(
        texts, truncation=True, max_length=9, stride=2, return_overflowing_tokens=True
    )["input_ids"],
    "pairs in a call": lambda tok, texts, _: tok(texts, texts)["input_ids"],
    "explain": lambda tok, texts, _: [tok.explain(text).ids for text in texts],
    "chat": lambda tok, texts, _: [
        tok.chat([{"role": "user", "content": text}], template="chatml").ids for text in texts
    ],
    "count_messages": lambda tok, texts, _: [
        tok.count_messages([{"role": "user", "content": text}], template="chatml").tokens
        for text in texts
    ],
    "usage": lambda tok, texts, _: tok.usage(texts).most_common(99),
    "transformers": lambda tok, texts, _: tok.as_transformers()(texts)["input_ids"],
    "tiktoken": lambda tok, texts, _: [tok.as_tiktoken("x").encode(text) for text in texts],
    "prepare": prepared,
    "prepare chats": prepared_chats,
}


@pytest.mark.filterwarnings("ignore:.* none of the control tokens:jeton.errors.ChatWarning")
@pytest.mark.parametrize("way", WAYS)
def test_no_way_drops_out_by_itself(way: str, tmp_path: Path) -> None:
    """Whatever reads a file with a dropout gives what it gives without it, every time."""
    if way in ("transformers", "tiktoken"):
        pytest.importorskip(way)
    plain = jeton.BPETrainer(330, pattern="gpt2", special_tokens=[BOS]).train(CORPUS)
    plain = plain.replace(roles={"eos": BOS, "pad": BOS})
    model = dataclasses.replace(plain.stages.model, dropout=0.5)  # type: ignore[type-var]
    plain.replace(model=model).save(tmp_path / "dropping")
    with pytest.warns(FormatWarning, match=r"dropout=0\.5"):
        tok = jeton.load(tmp_path / "dropping")
    texts = ["the weather there, " * 5, "then the theory\n\n" * 9, "the"]
    assert tok.encode(texts[0], dropout=0.5, seed=1) != plain.encode(texts[0])
    expected = WAYS[way](plain, texts, tmp_path)
    for _ in range(3):
        assert WAYS[way](tok, texts, tmp_path) == expected


def test_dropout_keeps_the_fast_path() -> None:
    tok = jeton.BPETrainer(300, pattern="gpt2").train(CORPUS)
    assert isinstance(tok.stages.model, models.BPE) and tok.stages.model.merges is not None
    dropping = tok.replace(model=dataclasses.replace(tok.stages.model, dropout=0.1))
    assert (
        dropping.stages.encoding_plan().strategy
        == tok.stages.encoding_plan().strategy
        == "byte_level"
    )
    assert dropping.encode("the weather") == tok.encode("the weather")
