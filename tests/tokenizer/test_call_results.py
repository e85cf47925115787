"""What the tokenizer's file says of `tok(...)`, and what its result knows of the rows."""

from __future__ import annotations

import copy
import json
import math
import pickle
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import jeton
from call_cases import (
    TOKENIZERS,
    bert,
    gpt,
    quietly,
    roberta,
    rows_of,
    theirs,
)
from jeton import BatchEncoding
from jeton.errors import ArgumentError, FormatError, UnsupportedError

BERT = bert()


# What the tokenizer says

SECTIONS: dict[str, Any] = {
    "padding": {
        "strategy": "BatchLongest",
        "direction": "Left",
        "pad_to_multiple_of": 4,
        "pad_id": 9,
        "pad_type_id": 1,
        "pad_token": "e",
    },
    "truncation": {
        "direction": "Left",
        "max_length": 4,
        "strategy": "OnlyFirst",
        "stride": 1,
    },
}


def test_a_file_says_how_rows_are_padded_and_cut() -> None:
    tok = jeton.Tokenizer.from_json(json.dumps({**json.loads(BERT.to_json()), **SECTIONS}))
    tokenizers = pytest.importorskip("tokenizers")
    texts = ["the weather un e", "the"]
    expected = tokenizers.Tokenizer.from_str(tok.to_json()).encode_batch(texts)
    batch = tok(texts)
    assert batch["input_ids"] == [row.ids for row in expected] == [[1, 6, 9, 2], [9, 1, 3, 2]]
    assert batch["token_type_ids"] == [row.type_ids for row in expected]
    windows = tok(texts[:1], return_overflowing_tokens=True)["input_ids"]
    assert windows[1:] == [row.ids for row in expected[0].overflowing]
    assert tok(texts, padding=False, truncation=False) == BERT(texts)
    assert tok(texts, max_length=3)["input_ids"] == [[9, 1, 9, 2], [9, 1, 3, 2]]
    assert tok(texts, padding=False)["input_ids"] == [[1, 6, 9, 2], [1, 3, 2]]
    assert tok.encode(texts[0]) == BERT.encode(texts[0])
    again = jeton.Tokenizer.from_json(tok.to_json())
    assert (
        again.settings.padding == SECTIONS["padding"]
        and again.settings.truncation == SECTIONS["truncation"]
    )
    assert again(texts) == batch


@pytest.mark.parametrize(
    ("section", "field"), [("truncation", "direction"), ("padding", "pad_to_multiple_of")]
)
def test_a_file_may_leave_out_what_older_ones_do_not_say(section: str, field: str) -> None:
    left_out = {key: value for key, value in SECTIONS[section].items() if key != field}
    stored = {**json.loads(BERT.to_json()), **SECTIONS, section: left_out}
    tok = jeton.Tokenizer.from_json(json.dumps(stored))
    tokenizers = pytest.importorskip("tokenizers")
    texts = ["the weather un e", "the"]
    expected = tokenizers.Tokenizer.from_str(json.dumps(stored)).encode_batch(texts)
    assert tok(texts)["input_ids"] == [row.ids for row in expected]


@pytest.mark.parametrize(
    ("section", "field", "value", "message"),
    [
        ("padding", "strategy", "x", r'padding\.strategy: expected "BatchLongest" or .*\'x\''),
        ("padding", "strategy", {"Fixed": -1}, r"padding\.strategy: .*found \{'Fixed': -1"),
        ("padding", "direction", "up", r'padding\.direction: expected "Left" or "Right"'),
        ("padding", "pad_to_multiple_of", 1.5, r"padding\.pad_to_multiple_of: expected a whole"),
        ("padding", "pad_id", None, r"padding\.pad_id: .*None \(tok\.replace\(padding=None\)"),
        ("truncation", "strategy", "x", r"truncation\.strategy: expected \"LongestFirst\" or"),
        ("truncation", "max_length", -1, r"truncation\.max_length: .*\(tok\.replace\(truncation="),
        ("truncation", "stride", True, r"truncation\.stride: expected a whole number"),
    ],
)
def test_a_file_that_says_something_else_of_rows(
    section: str, field: str, value: object, message: str
) -> None:
    stored = {**json.loads(BERT.to_json()), section: {**SECTIONS[section], field: value}}
    tok = jeton.Tokenizer.from_json(json.dumps(stored))
    with pytest.raises(FormatError, match=message):
        tok("the")
    assert tok.replace(padding=None, truncation=None)("the") == BERT("the")


def test_a_file_says_how_long_rows_are() -> None:
    section = {**SECTIONS["padding"], "strategy": {"Fixed": 6}, "pad_to_multiple_of": None}
    tok = BERT.replace(padding=section)
    assert tok("the")["input_ids"] == [9, 9, 9, 1, 3, 2]
    assert tok("the", padding="max_length", max_length=4)["input_ids"] == [9, 1, 3, 2]


@pytest.mark.filterwarnings("ignore:.*transformers 5 gives other ids")
def test_a_folder_says_which_columns_a_model_takes(tmp_path: Any) -> None:
    def told(**config: Any) -> jeton.Tokenizer:
        BERT.save(tmp_path / "folder", roles={"pad": "[PAD]"})
        path = tmp_path / "folder" / "tokenizer_config.json"
        stored = json.loads(path.read_text())
        del stored["model_input_names"]
        path.write_text(json.dumps({**stored, **config}))
        return jeton.load(tmp_path / "folder")

    assert list(BERT("the")) == ["input_ids", "token_type_ids", "attention_mask"]
    assert list(gpt()("the")) == ["input_ids", "attention_mask"]
    assert list(told(tokenizer_class="DistilBertTokenizer")("the")) == [
        "input_ids",
        "attention_mask",
    ]
    assert list(told(tokenizer_class="BertTokenizerFast")("the"))[1] == "token_type_ids"
    assert list(told()("the")) == ["input_ids", "attention_mask"]
    assert list(told(model_input_names=["input_ids"])("the")) == ["input_ids"]
    left = told(tokenizer_class="LlamaTokenizer", truncation_side="left", model_max_length=4)
    batch = left(["the weather un", "e"], padding=True, truncation=True)
    assert batch["input_ids"] == [[1, 4, 6, 2], [10, 1, 9, 2]]
    assert left("e", padding="max_length")["input_ids"] == [10, 1, 9, 2]
    right = left(["the weather un", "e"], padding=True, truncation=True, padding_side="right")
    assert right["input_ids"][1] == [1, 9, 2, 10]


def test_arguments_without_effect_are_told() -> None:
    for options, message in (
        ({"truncation": True}, "truncation has no effect"),
        ({"padding": "max_length"}, "has no effect: neither max_length nor the tokenizer"),
        ({"padding": True, "max_length": 3}, "max_length has no effect"),
    ):
        with pytest.warns(UserWarning, match=message):
            BERT("the", **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            BERT("the", verbose=False, **options)


# What a result is


def test_a_result_is_a_mapping() -> None:
    batch = BERT(["the weather", "un"], return_offsets_mapping=True)
    assert isinstance(batch, Mapping) and dict(**batch) == batch.data
    assert batch.input_ids is batch["input_ids"] and "labels" not in batch
    batch["labels"] = [1, 0]
    assert batch.pop("offset_mapping")[1] == [(0, 0), (0, 2), (0, 0)]
    assert list(batch) == ["input_ids", "token_type_ids", "attention_mask", "labels"]
    assert batch[:1] == {name: column[:1] for name, column in batch.items()}
    assert batch[1].tokens == [b"[CLS]", b"un", b"[SEP]"] == batch[-1].tokens
    assert batch == BatchEncoding(dict(batch)) and len(batch) == 4
    with pytest.raises(AttributeError, match="no column and no method 'nothing'"):
        batch.nothing  # noqa: B018
    with pytest.raises(KeyError, match=r"no column 'nothing' .it has input_ids, token_type_ids"):
        batch["nothing"]
    with pytest.raises(KeyError, match="did you mean 'labels'"):
        batch["label"]
    with pytest.raises(KeyError, match="with return_length=True"):
        batch["length"]
    with pytest.raises(AttributeError, match="with return_length=True"):
        batch.length  # noqa: B018
    with pytest.raises(KeyError, match=r"no column 'length' .it has a"):
        BatchEncoding({"a": [1]})["length"]
    assert batch.get("nothing", 3) == batch.pop("nothing", 3) == 3
    with pytest.raises(IndexError, match="row 2 of a batch of 2"):
        batch.tokens(2)
    assert repr(batch).startswith("BatchEncoding(input_ids: [[1, 3, 4, 2], [1, 6, 2]], ")
    assert repr(BERT("the", return_tensors="np")).startswith(
        "BatchEncoding(input_ids: ndarray 1×3,"
    )


def test_a_result_of_columns_knows_nothing_else() -> None:
    batch = BatchEncoding({"input_ids": [[1]]})
    assert not batch.is_fast and batch.encodings is None and batch.n_sequences is None
    with pytest.raises(UnsupportedError, match="built from columns"):
        batch.tokens()


def test_a_result_knows_the_words_and_spans_of_its_rows() -> None:
    batch = BERT("the weathers", "un, the", padding="max_length", max_length=12)
    assert batch.is_fast and batch.n_sequences == 2
    assert batch.tokens()[:5] == ["[CLS]", "the", "weather", "##s", "[SEP]"]
    assert batch.char_to_token(5) == 2 and batch.char_to_token(0, 5, 1) == 7
    assert batch.char_to_token(3) is None and batch.char_to_token(99) is None
    assert batch.token_to_chars(3) == (11, 12) and batch.token_to_chars(0) is None
    assert batch.token_to_chars(99) is None and batch.token_to_word(-1) is None
    assert batch.word_to_tokens(1) == (2, 4) and batch.word_to_tokens(9) is None
    assert batch.word_to_chars(1) == (4, 12) and batch.word_to_chars(9) is None
    assert batch.char_to_word(11) == 1 and batch.char_to_word(0, 4, 1) == 2
    assert batch.token_to_sequence(1) == 0 and batch.token_to_sequence(0, 5) == 1


def test_offsets_count_what_was_asked_for() -> None:
    tok = gpt()
    for unit, ends in (("characters", 2), ("bytes", 6), ("utf-16", 3)):
        batch = tok("é🙂", return_offsets_mapping=True, unit=unit)  # type: ignore[arg-type]
        assert max(end for _, end in batch["offset_mapping"]) == ends
        assert tok("é🙂", unit=unit)[0].spans == batch["offset_mapping"]  # type: ignore[arg-type]


@pytest.mark.parametrize("tensors", [None, "np", "pt"])
def test_a_result_is_copied_and_pickled(tensors: Any) -> None:
    if tensors == "pt":
        pytest.importorskip("torch")
    tok = roberta()
    batch = tok(["the weather", "un"], padding=True, return_tensors=tensors)
    for again in (pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)):
        assert rows_of(again) == rows_of(batch) and again.tokens(1) == batch.tokens(1)
        assert again.word_ids(0) == batch.word_ids(0) and again[0] == batch[0]
    assert pickle.dumps(pickle.loads(pickle.dumps(batch)))


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    batch = BERT(["the weather", "un"], padding=True, return_tensors="pt")
    assert batch["input_ids"].dtype == torch.int64
    assert batch.to("cpu") is batch and batch["input_ids"].device.type == "cpu"
    lists = BERT(["the weather", "un"], padding=True)
    assert torch.equal(lists.to_torch()["input_ids"], batch["input_ids"])
    assert lists.to_torch().tokens(1) == lists.tokens(1)
    assert batch.to_numpy()["input_ids"].tolist() == lists["input_ids"]
    assert lists.convert_to_tensors("pt")["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
    single = BERT("the").convert_to_tensors("np", prepend_batch_axis=True)
    assert single["input_ids"].shape == (1, 3)
    with pytest.raises(ArgumentError, match="rows of input_ids differ in length"):
        BERT(["the", "the un"]).to_torch()
    collated = torch.utils.data.default_collate([BERT("the").to_torch(), BERT("un").to_torch()])
    assert collated["input_ids"].tolist() == [[1, 3, 2], [1, 6, 2]]


def test_other_results_become_arrays_and_tensors() -> None:
    batch = BERT.encode_batch(["the weather", "un"])
    assert [row.tolist() for row in batch.to_numpy()] == [[3, 4], [6]]
    assert {row.dtype for row in batch.to_numpy()} == {np.dtype(np.int64)}
    ids, mask = batch.pad().to_numpy()
    assert ids.tolist() == [[3, 4], [6, 10]] and mask.tolist() == [[1, 1], [1, 0]]
    encoding = BERT.encode_with_spans("the un")
    assert encoding.to_numpy().tolist() == [3, 6] and encoding.to_numpy().dtype == np.int64
    torch = pytest.importorskip("torch")
    assert torch.equal(encoding.to_torch(), torch.tensor([3, 6]))
    assert torch.equal(batch.to_torch()[0], torch.tensor([3, 4]))
    assert torch.equal(batch.pad().to_torch()[1], torch.tensor([[1, 1], [1, 0]]))


def test_words_of_a_tokenizer_whose_text_changes() -> None:
    from jeton.components import normalizers

    calls = iter(range(1, 1000))
    longer = normalizers.Function(lambda text: text + "x" * next(calls))
    tok = jeton.CharTrainer().train("lowx").replace(normalizer=longer)
    batch = tok(["low"] * 9, return_offsets_mapping=True)
    assert [row[0] for row in batch["offset_mapping"]] == [(0, 1)] * 9
    with pytest.raises(UnsupportedError, match="returns another text the second time"):
        batch.word_ids(0)
    with pytest.raises(UnsupportedError, match="returns another text the second time"):
        tok("low").tokens()


def test_where_transformers_differs() -> None:
    """The table in `docs/calls.md`: what transformers does that jeton does not."""
    tok, other = BERT.replace(roles={"pad": "[PAD]"}), theirs(BERT)
    sep = tok.special_tokens["[SEP]"]

    def kind(call: Any, *texts: Any, **options: Any) -> str:
        return type(quietly(call, *texts, **options)).__name__

    assert sep in other("a [SEP] b")["input_ids"][1:-1]
    assert sep not in tok("a [SEP] b")["input_ids"][1:-1]
    assert kind(other, []) == "IndexError" and tok([])["input_ids"] == []
    assert other("the", "")["input_ids"] != other(["the"], [""])["input_ids"][0]
    for missing in (None, math.nan):
        assert "1" not in str(quietly(other, ["the", missing]))
        assert "text[1]" in str(quietly(tok, ["the", missing]))
    options: dict[str, Any] = {
        "truncation": True,
        "max_length": 7,
        "return_overflowing_tokens": True,
    }
    t5 = TOKENIZERS["T5"]()
    options["return_token_type_ids"] = True
    windows = theirs(t5)("the weather", "the un the", **options)
    mine = t5("the weather", "the un the", **options)
    assert mine["input_ids"] == windows["input_ids"]
    assert any(map(any, windows["token_type_ids"])) and not any(map(any, mine["token_type_ids"]))
    assert len(other("the un e", truncation=True, max_length=1)["input_ids"]) == 5
    options["max_length"] = 2
    assert max(map(len, other("the un e", **options)["input_ids"])) > 2
    options.update(max_length=4, stride=2)
    assert kind(other, "the un e", **options) == "PanicException"
    assert kind(tok, "the un e", **options) == "ArgumentError"
    before = tok.to_json()
    for call in (tok, other):
        call("the", truncation=True, max_length=4, padding="max_length")
    assert tok.to_json() == before and other.backend_tokenizer.truncation["max_length"] == 4
    assert kind(other("the un").word_to_chars, 9) == "TypeError"
    assert (
        other("the un").char_to_token(0, 1, 1) == 1 and tok("the un").char_to_token(0, 1, 1) is None
    )
    assert "東京" in theirs(t5)("東京").tokens() and "<unk>" in t5("東京").tokens()


def test_a_column_of_datasets() -> None:
    datasets = pytest.importorskip("datasets")
    column = datasets.Dataset.from_dict({"text": ["the", "un"]})["text"]
    assert BERT(column)["input_ids"] == [[1, 3, 2], [1, 6, 2]]
    mapped = datasets.Dataset.from_dict({"text": ["the", "un"]}).map(
        lambda rows: BERT(rows["text"]), batched=True
    )
    assert mapped["input_ids"][1] == [1, 6, 2]


def test_a_row_that_is_longer_than_the_model_takes_is_a_warning_once() -> None:
    tok = jeton.CharTrainer().train("ab").replace(model_max_length=3)
    for texts in ("abab", ["a", "abab"]):
        new = tok.replace(model_max_length=3)
        assert new("aba", truncation=False)["input_ids"]
        with pytest.warns(UserWarning, match="a row has 4 tokens, and the model takes 3"):
            new(texts)
        new(texts)
    again = tok.replace(model_max_length=3)
    again("abab", truncation=True)
    again("abab", verbose=False)
