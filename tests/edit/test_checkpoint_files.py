"""What is in a model's folder: which tensors move, which keys hold ids, which files go too."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import jeton
from edit_families import FAMILIES, some_lines
from jeton import edit
from jeton.edit.configuration import with_new_ids
from jeton.edit.tensors import read_header
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, FormatError, UnsupportedError

pytest.importorskip("torch")
pytest.importorskip("safetensors", reason="safetensors is not installed")

import safetensors
import torch
from safetensors.torch import load_file, save_file

pytestmark = pytest.mark.large

ROWS = 306
"""Tokens of the tokenizer, and rows of the model."""

CONFIG = {
    "vocab_size": ROWS,
    "hidden_size": 8,
    "intermediate_size": ROWS,
    "eos_token_id": [0, 1],
    "pad_token_id": -1,
    "text_config": {"vocab_size": ROWS, "bos_token_id": 0},
}

GENERATION = {
    "max_new_tokens": 300,
    "suppress_tokens": [0, 305],
    "forced_decoder_ids": [[1, 305], [2, 4]],
    "bad_words_ids": [[0], [305, 304]],
}

TENSORS = {
    "model.embed_tokens.weight": (ROWS, 8),
    "lm_head.weight": (ROWS, 8),
    "lm_head.bias": (ROWS,),
    "final_logits_bias": (1, ROWS),
    "model.layers.0.mlp.up_proj.weight": (ROWS, 8),
    "encoder.layer.0.output": (ROWS,),
    "model.norm.weight": (8,),
}

MOVED = {"model.embed_tokens.weight", "lm_head.weight", "lm_head.bias", "final_logits_bias"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    tensors = {name: torch.randn(shape) for name, shape in TENSORS.items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "generation_config.json").write_text(json.dumps(GENERATION))
    for name in ("pytorch_model.bin", "consolidated.safetensors", "LICENSE"):
        (folder / name).write_text("x")
    return folder


def changed(tok: jeton.Tokenizer) -> edit.Edited:
    """A tokenizer of which ids 290 and later are other ones."""
    return edit.prune(tok, drop=[next(t for t, id in tok.vocab.items() if id == 305)])


def test_tables_are_known_by_name_and_shape(model: Path, tmp_path: Path) -> None:
    """As many rows as tokens do not make a table: a layer may have as many."""
    tok = FAMILIES["bpe"](1)
    assert tok.vocab_size == ROWS
    edited = changed(tok)
    edit.rewrite_checkpoint(model, edited, tmp_path / "new")
    old, new = (load_file(folder / "model.safetensors") for folder in (model, tmp_path / "new"))
    assert old.keys() == new.keys()
    for name, tensor in new.items():
        if name in MOVED:
            axis = 1 if name == "final_logits_bias" else 0
            assert tensor.shape[axis] == ROWS - 1
            assert torch.equal(tensor, old[name].narrow(axis, 0, ROWS - 1))
        else:
            assert torch.equal(tensor, old[name])


def test_configuration(model: Path, tmp_path: Path) -> None:
    edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "new")
    config = json.loads((tmp_path / "new" / "config.json").read_text())
    assert config["vocab_size"] == config["text_config"]["vocab_size"] == ROWS - 1
    assert config["intermediate_size"] == ROWS
    assert (config["eos_token_id"], config["pad_token_id"]) == ([0, 1], -1)
    assert json.loads((tmp_path / "new" / "generation_config.json").read_text()) == {
        "max_new_tokens": 300,
        "suppress_tokens": [0],
        "forced_decoder_ids": [[2, 4]],
        "bad_words_ids": [[0]],
    }


BAD_IDS: dict[str, tuple[Any, Any]] = {
    "a row of padding": ({"pad_token_id": 3}, {"pad_token_id": None}),
    "beyond the table": ({"pad_token_id": 99}, {"pad_token_id": None}),
    "no token": ({"pad_token_id": -1}, {"pad_token_id": -1}),
    "one of several": ({"eos_token_id": [0, 1]}, {"eos_token_id": [0]}),
    "all of several": ({"eos_token_id": [1]}, {"eos_token_id": None}),
    "none of several": ({"suppress_tokens": []}, {"suppress_tokens": []}),
    "a sequence": ({"bad_words_ids": [[2, 1], [2]]}, {"bad_words_ids": [[1]]}),
    "all sequences": ({"bad_words_ids": [[2, 1]]}, {"bad_words_ids": None}),
    "one of a choice": ({"force_words_ids": [[[2, 1], [0]]]}, {"force_words_ids": [[[0]]]}),
    "a choice": ({"force_words_ids": [[[2, 1]], [[2]]]}, {"force_words_ids": [[[1]]]}),
    "by name": ({"lang_to_id": {"<|en|>": 2, "<|et|>": 1}}, {"lang_to_id": {"<|en|>": 1}}),
    "biased": ({"sequence_bias": [[[2, 1], 1.5], [[2], 2]]}, {"sequence_bias": [[[1], 2]]}),
    "forced": (
        {"forced_decoder_ids": [[1, None], [2, 2], [3, 1]]},
        {"forced_decoder_ids": [[1, None], [2, 1]]},
    ),
    "not forced": ({"forced_decoder_ids": None}, {"forced_decoder_ids": None}),
    "inside": ({"decoder": {"pad_index": 2}}, {"decoder": {"pad_index": 1}}),
}


@pytest.mark.parametrize("old, new", BAD_IDS.values(), ids=BAD_IDS.keys())
def test_ids_of_tokens_that_are_gone(old: Any, new: Any) -> None:
    assert with_new_ids(old, edit.IdMap((0, -1, 1), 2, {})) == new


@pytest.mark.parametrize(
    "values",
    [
        {"forced_decoder_ids": [3]},
        {"forced_decoder_ids": 3},
        {"bad_words_ids": 3},
        {"bad_words_ids": [[3], 4]},
        {"sequence_bias": [[[3]]]},
    ],
)
def test_no_ids_where_ids_belong(model: Path, tmp_path: Path, values: Any) -> None:
    (model / "generation_config.json").write_text(json.dumps(values))
    with pytest.raises(FormatError, match=rf"generation_config\.json: {next(iter(values))} must"):
        edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "new")


def test_a_padding_token_in_a_row_of_padding(tmp_path: Path) -> None:
    """The row may be gone, or be that of a new token."""
    transformers = pytest.importorskip("transformers")
    tok = FAMILIES["bpe"](1)
    config = transformers.LlamaConfig(
        vocab_size=ROWS + 14,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        pad_token_id=ROWS + 2,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path / "old")
    for name, edited in (
        ("smaller", edit.truncate(tok, 300)),
        ("larger", edit.add_special_tokens(tok, [f"<{n}>" for n in range(5)])),
    ):
        edit.rewrite_checkpoint(tmp_path / "old", edited, tmp_path / name)
        again = transformers.LlamaForCausalLM.from_pretrained(tmp_path / name)
        assert again.config.pad_token_id is None


@pytest.mark.parametrize("shape", [(ROWS, 8), (8, ROWS), (ROWS,)])
def test_a_table_of_an_unknown_name_is_refused(
    model: Path, tmp_path: Path, shape: tuple[int, ...]
) -> None:
    config = {**CONFIG, "intermediate_size": 9}
    (model / "config.json").write_text(json.dumps(config))
    tensors = load_file(model / "model.safetensors")
    save_file({**tensors, "novel.way.out": torch.zeros(shape)}, model / "model.safetensors")
    with pytest.raises(UnsupportedError, match=r"novel\.way\.out of shape .*306 ids"):
        edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


F32 = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}

HEADERS: dict[str, Any] = {
    "type and size": {"a": {**F32, "dtype": "F64"}},
    "unknown type": {"a": {**F32, "dtype": "F33"}},
    "no type": {"a": {**F32, "dtype": [1]}},
    "shape and size": {"a": {**F32, "shape": [2, 3]}},
    "negative": {"a": {**F32, "shape": [-2, -2]}},
    "offsets": {"a": {**F32, "data_offsets": [0.0, 16.0]}},
    "metadata": {"__metadata__": 3, "a": F32},
    "metadata of numbers": {"__metadata__": {"a": 3}, "wte": {**F32, "shape": [ROWS, 0]}},
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS.keys())
def test_damaged_headers(model: Path, tmp_path: Path, header: Any) -> None:
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % 8)
    data = len(packed).to_bytes(8, "little") + packed + bytes(4 * ROWS)
    (model / "model.safetensors").write_bytes(data)
    with pytest.raises(FormatError, match=r"model\.safetensors"):
        edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def tensor(*offsets: int, count: int | None = None, shape: list[int] | None = None) -> Any:
    """A tensor of bytes."""
    start, end = offsets
    shape = [end - start if count is None else count] if shape is None else shape
    return {"dtype": "U8", "shape": shape, "data_offsets": [start, end]}


LAYOUTS: dict[str, Any] = {
    "one after another": {"a": tensor(0, 4), "b": tensor(4, 12)},
    "in another order": {"a": tensor(4, 12), "b": tensor(0, 4)},
    "empty ones": {"a": tensor(0, 0), "b": tensor(0, 12), "c": tensor(12, 12)},
    "no tensor": {},
    "the same bytes twice": {"a": tensor(0, 12), "b": tensor(0, 12)},
    "an overlap of one byte": {"a": tensor(0, 5), "b": tensor(4, 12)},
    "one within another": {"a": tensor(0, 12), "b": tensor(4, 6)},
    "an empty one within": {"a": tensor(0, 12), "b": tensor(4, 4)},
    "a hole": {"a": tensor(0, 4), "b": tensor(5, 12)},
    "a hole in front": {"a": tensor(1, 12)},
    "bytes left over": {"a": tensor(0, 11)},
    "sizes that wrap around": {"a": tensor(0, 12, shape=[2**63, 2, 12])},
    "a size past 64 bits": {"a": tensor(0, 12, count=2**64 + 12)},
    "nothing times much": {"a": tensor(0, 12), "b": tensor(12, 12, shape=[0, 2**63, 4])},
    "much times nothing": {"a": tensor(0, 12), "b": tensor(12, 12, shape=[2**63, 4, 0])},
}


@pytest.mark.parametrize("header", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_tensors_lie_where_safetensors_has_them(tmp_path: Path, header: Any) -> None:
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % 8)
    content = len(packed).to_bytes(8, "little") + packed + bytes(12)
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    try:
        with safetensors.safe_open(path, framework="numpy"):
            theirs = True
    except safetensors.SafetensorError:
        theirs = False
    try:
        with path.open("rb") as file:
            read_header(file, path)
        ours = True
    except FormatError as error:
        assert "x.safetensors" in str(error)
        ours = False
    assert ours == theirs


def test_a_small_file_gives_no_large_one(model: Path, tmp_path: Path) -> None:
    size = 1 << 20
    shared = {f"t{at}": {**tensor(0, size)} for at in range(400)}
    packed = json.dumps(shared).encode()
    data = len(packed).to_bytes(8, "little") + packed + bytes(size)
    (model / "model.safetensors").write_bytes(data)
    with pytest.raises(FormatError, match="begins in another"):
        edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


VALUES: dict[str, Any] = {
    "a lone surrogate": {"_name": "\ud800", "\udfff": "x"},
    "a vast number of rows": {"vocab_size": 10**4000},
    "rows that are a truth": {"vocab_size": True},
    "no rows": {"vocab_size": 0},
    "rows below none": {"vocab_size": -1},
    "no numbers": {"hidden_size": float("inf"), "rope_theta": float("nan")},
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_odd_configurations(model: Path, tmp_path: Path, values: Any) -> None:
    (model / "config.json").write_text(json.dumps({**CONFIG, **values}))
    edited = changed(FAMILIES["bpe"](1))
    if "vocab_size" in values:
        with pytest.raises(FormatError, match=r"config\.json"):
            edit.rewrite_checkpoint(model, edited, tmp_path / "new")
        return
    edit.rewrite_checkpoint(model, edited, tmp_path / "new")
    again = json.loads((tmp_path / "new" / "config.json").read_text())
    assert all(repr(again[name]) == repr(value) for name, value in values.items())


def test_vast_numbers_in_an_index(model: Path, tmp_path: Path) -> None:
    index = model / "model.safetensors.index.json"
    names = dict.fromkeys(TENSORS, "model.safetensors")
    many = "9" * 4300
    index.write_text(
        f'{{"metadata": {{"total_parameters": {many}}}, "weight_map": {json.dumps(names)}}}'
    )
    edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "new")
    index.write_text(f'{{"metadata": {{"total_size": {many}9}}, "weight_map": {{}}}}')
    with pytest.raises(FormatError, match=index.name):
        edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "again")


def test_a_target_that_cannot_be(model: Path) -> None:
    edited = changed(FAMILIES["bpe"](1))
    for target in (model / "LICENSE" / "new", Path("/proc/nowhere/new")):
        with pytest.raises(FileError, match="new: "):
            edit.rewrite_checkpoint(model, edited, target)


@pytest.mark.filterwarnings("ignore:.*which tokens end an answer:jeton.errors.FormatWarning")
@pytest.mark.parametrize("name", ["config.json", "generation_config.json"])
def test_a_deep_configuration(model: Path, tmp_path: Path, name: str) -> None:
    for depth in (600, 100_000):
        (model / name).write_text('{"vocab_size": 306, "a": ' + "[" * depth + "]" * depth + "}")
        with pytest.raises(FormatError, match=name):
            edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "new")


def test_an_index_names_the_file_of_each_tensor(model: Path, tmp_path: Path) -> None:
    index = model / "model.safetensors.index.json"
    names = dict.fromkeys(TENSORS, "model.safetensors")
    numbers = sum(tensor.numel() for tensor in load_file(model / "model.safetensors").values())
    metadata = {"total_size": 4 * numbers, "total_parameters": numbers}
    index.write_text(json.dumps({"metadata": metadata, "weight_map": names}))
    edited = changed(FAMILIES["bpe"](1))
    edit.rewrite_checkpoint(model, edited, tmp_path / "new")
    left = sum(
        tensor.numel() for tensor in load_file(tmp_path / "new" / "model.safetensors").values()
    )
    assert json.loads((tmp_path / "new" / index.name).read_text())["metadata"] == {
        "total_size": 4 * left,
        "total_parameters": left,
    }
    index.write_text(json.dumps({"metadata": 3, "weight_map": names}))
    with pytest.raises(FormatError, match="metadata must be"):
        edit.rewrite_checkpoint(model, edited, tmp_path / "again")


def test_other_weights_are_left_out(model: Path, tmp_path: Path) -> None:
    edit.rewrite_checkpoint(model, changed(FAMILIES["bpe"](1)), tmp_path / "new")
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert {"LICENSE", "config.json", "id_map.json", "model.safetensors"} <= names
    assert not names & {"pytorch_model.bin", "consolidated.safetensors"}


def test_other_files_of_the_folder_are_copied(model: Path, tmp_path: Path) -> None:
    tok = FAMILIES["bpe"](1)
    tok.save(model, roles={"eos": "<|end|>"}, chat_template="{{ messages }}")
    edit.rewrite_checkpoint(model, changed(tok), tmp_path / "new")
    again = jeton.load(tmp_path / "new")
    assert again == changed(tok).tok
    assert (again.roles["eos"], again.settings.chat_template) == ("<|end|>", "{{ messages }}")


def test_a_damaged_tokenizer_beside_the_model_is_an_error(model: Path, tmp_path: Path) -> None:
    tok = FAMILIES["bpe"](1)
    (model / "tokenizer.json").write_text('{"model": ')
    with pytest.raises(FormatError, match=r"tokenizer\.json: this is not valid JSON"):
        edit.rewrite_checkpoint(model, changed(tok), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_another_tokenizer_is_refused(model: Path, tmp_path: Path) -> None:
    tok = FAMILIES["bpe"](1)
    tok.save(model, lossy=True)
    other = jeton.BPETrainer(ROWS, pattern="gpt4", special_tokens=["<|end|>", "<|pad|>"]).train(
        some_lines(77)
    )
    with pytest.raises(ArgumentError, match=r"id \d+ is b'.*' in the tokenizer of .*model and b'"):
        edit.rewrite_checkpoint(model, edit.truncate(other, 300), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ArgumentTypeError, match="edited must be the result"):
        edit.rewrite_checkpoint(model, tok, tmp_path / "new")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="init must be"):
        edit.rewrite_checkpoint(
            model,
            changed(tok),
            tmp_path / "new",
            init="ones",  # type: ignore[arg-type]
        )


def test_a_model_is_never_in_memory_at_once(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables are the only tensors that are opened; of others no more than a block is there."""
    from jeton.edit import tensors

    size, blocks = 24_000_000, 1 << 20
    large = {f"model.layers.{n}.weight": torch.zeros(size // 8) for n in range(2)}
    save_file(
        {**load_file(model / "model.safetensors"), **large},
        model / "model.safetensors",
    )
    monkeypatch.setattr(tensors, "_BLOCK", blocks)
    opened: list[str] = []
    moved = tensors.Tables.remap

    def listed(self: Any, path: Path, name: str, axis: int) -> Any:
        opened.append(name)
        return moved(self, path, name, axis)

    monkeypatch.setattr(tensors.Tables, "remap", listed)
    edited = changed(FAMILIES["bpe"](1))
    tracemalloc.start()
    edit.rewrite_checkpoint(model, edited, tmp_path / "new")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert set(opened) == MOVED
    assert peak < size // 2 // 2, "less than half of one tensor"
