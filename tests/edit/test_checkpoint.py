"""Models that follow their vocabulary: tables, optimisers, checkpoints, logits to the last bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import jeton
from edit_families import FAMILIES, LINES, some_lines
from jeton import edit

pytest.importorskip("torch")
pytest.importorskip("safetensors", reason="safetensors is not installed")

import torch

from jeton import nn
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MissingFileError,
    UnsupportedError,
)

pytestmark = pytest.mark.large


@pytest.mark.parametrize("init", ["mean", "zeros", "normal"])
@pytest.mark.parametrize("shape", [(3, 4), (3,)])
def test_rows_move_to_the_last_bit(init: Any, shape: tuple[int, ...]) -> None:
    table = torch.randn(5, *shape[1:]).bfloat16()
    id_map = edit.IdMap((2, -1, 0), 5, {1: (0, 2), 3: ()})
    new = nn.remap(table, id_map, init=init, rows=8)
    assert new.shape == (8, *shape[1:]) and new.dtype == torch.bfloat16
    assert torch.equal(new[2], table[0]) and torch.equal(new[0], table[2])
    assert torch.equal(new[4], table[4]), "padding stays what it was"
    assert not new[5:].any()
    if init == "zeros":
        assert not new[1].any() and not new[3].any()
    if init == "mean":
        assert torch.equal(new[1], table[[0, 2]].float().mean(0).bfloat16())
        assert torch.equal(new[3], table[:3].float().mean(0).bfloat16())
    assert torch.equal(new, nn.remap(table, id_map, init=init, rows=8))


def test_drawn_rows_have_the_distribution_of_the_old() -> None:
    torch.manual_seed(0)
    mixing = torch.randn(6, 6)
    table = torch.randn(2_000, 6) @ mixing + 3.0
    made_of: dict[int, tuple[int, ...]] = {2_000 + i: () for i in range(20_000)}
    id_map = edit.IdMap(tuple(range(2_000)), 22_000, made_of)
    drawn = nn.remap(table, id_map, init="normal")[2_000:]
    torch.testing.assert_close(drawn.mean(0), table.mean(0), atol=0.1, rtol=0)
    torch.testing.assert_close(drawn.T.cov(), table.T.cov(), atol=0.4, rtol=0.1)


def test_an_optimiser_follows() -> None:
    table = torch.nn.Parameter(torch.randn(6, 3))
    other = torch.nn.Parameter(torch.randn(6, 3))
    optimizer = torch.optim.AdamW([table, other])
    torch.autograd.backward(table.square().sum() + other.square().sum())
    optimizer.step()
    id_map = edit.IdMap((1, -1, 0, 2, -1, -1), 4, {3: (0,)})
    moved = nn.remap_optimizer(optimizer.state_dict(), [0], id_map)
    old = optimizer.state_dict()["state"][0]["exp_avg"]
    new = moved["state"][0]["exp_avg"]
    assert torch.equal(new[1], old[0]) and not new[3].any()
    assert moved["state"][1] == optimizer.state_dict()["state"][1]
    resumed = torch.optim.AdamW([torch.nn.Parameter(nn.remap(table, id_map)), other])
    resumed.load_state_dict(moved)
    with pytest.raises(ArgumentError, match=r"parameter 1 is not a table.* for 7 ids.* \[6\] rows"):
        nn.remap_optimizer(optimizer.state_dict(), [1], edit.IdMap((-1,) * 7, 4, {}))
    with pytest.raises(ArgumentError, match=r"has no state for parameter 2; it has \[0, 1\]"):
        nn.remap_optimizer(optimizer.state_dict(), [2], id_map)


@pytest.mark.parametrize("columns", [3, 9])
def test_a_factored_optimiser_follows(columns: int) -> None:
    """Adafactor keeps a number a row and a number a column; only those of rows move."""
    table = torch.nn.Parameter(torch.randn(6, columns))
    optimizer = torch.optim.Adafactor([table])
    torch.autograd.backward(table.square().sum())
    optimizer.step()  # type: ignore[no-untyped-call]
    id_map = edit.IdMap((1, -1, 0, 2, -1, -1), 4, {3: (0,)})
    old = optimizer.state_dict()["state"][0]
    moved = nn.remap_optimizer(optimizer.state_dict(), [0], id_map)["state"][0]
    assert torch.equal(moved["row_var"][1], old["row_var"][0]) and len(moved["row_var"]) == 4
    assert torch.equal(moved["col_var"], old["col_var"])


def gpt2(folder: Path, tok: jeton.Tokenizer, *, tied: bool = True, shards: bool = False) -> Any:
    """A random checkpoint of GPT-2's shape, small, saved as transformers saves it."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    end = tok.special_tokens["<|end|>"]
    config = transformers.GPT2Config(
        vocab_size=tok.vocab.padded_size(64),
        n_embd=48,
        n_layer=2,
        n_head=4,
        n_positions=256,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=tok.special_tokens.get("<|pad|>"),
        tie_word_embeddings=tied,
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    model.save_pretrained(folder, **({"max_shard_size": "60KB"} if shards else {}))
    (folder / "README.md").write_text("about")
    return model


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("shards", [True, False])
def test_pruned_to_half_the_logits_of_kept_tokens_stay(
    tmp_path: Path, tied: bool, shards: bool
) -> None:
    transformers = pytest.importorskip("transformers")
    tok = jeton.BPETrainer(900, pattern="gpt2", special_tokens=["<|end|>", "<|pad|>"]).train(
        some_lines(1, 150)
    )
    model = gpt2(tmp_path / "old", tok, tied=tied, shards=shards)
    edited = edit.prune(tok, size=450, corpus=some_lines(1, 10))
    told: list[tuple[int, int]] = []
    edit.rewrite_checkpoint(
        tmp_path / "old", edited, tmp_path / "new", watch=lambda *step: told.append(step)
    )
    smaller = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "new").eval()
    assert smaller.config.vocab_size == 450
    assert smaller.config.eos_token_id == edited.tok.special_tokens["<|end|>"]
    assert smaller.generation_config.pad_token_id == edited.tok.special_tokens["<|pad|>"]
    assert jeton.load(tmp_path / "new").encode("the sea") == edited.tok.encode("the sea")
    assert edit.IdMap.load(tmp_path / "new" / "id_map.json") == edited.id_map
    assert (tmp_path / "new" / "README.md").read_text() == "about"
    kept = [old for old, new in enumerate(edited.id_map.moved) if new != -1]
    tested = 0
    for text in some_lines(1, 150):
        ids = tok.encode(text)[:200]
        if set(ids) <= set(kept) and ids and tested < 6:
            tested += 1
            with torch.no_grad():
                hidden = model.transformer(torch.tensor([ids])).last_hidden_state
                moved = torch.tensor([edited.id_map.apply(ids)])
                again = smaller.transformer(moved).last_hidden_state
                assert torch.equal(hidden, again), "to the last bit"
                head, small = model.lm_head.weight, smaller.lm_head.weight
                assert torch.equal(head[kept], small[[edited.id_map.moved[i] for i in kept]])
                places = [edited.id_map.moved[i] for i in kept]
                logits = torch.nn.functional.linear(hidden, head[kept])
                assert torch.equal(torch.nn.functional.linear(again, small[places]), logits)
                # Whole tables of other sizes may be added up in another order, which float32
                # rounds otherwise: by some 2⁻²⁴ of numbers of about 1.
                whole = model(torch.tensor([ids])).logits[..., kept]
                torch.testing.assert_close(
                    smaller(moved).logits[..., places], whole, atol=1e-6, rtol=1e-6
                )
    assert tested >= 5
    assert told[-1][0] > 0


def test_extended_by_a_thousand_and_resumed(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    from safetensors import safe_open

    tok = FAMILIES["bpe"](1)
    model = gpt2(tmp_path / "old", tok).train()
    text = tok.encode(" ".join(some_lines(3, 8)))[:200]

    def train(model: Any, optimizer: Any, ids: list[int], steps: int) -> list[float]:
        losses = []
        for _ in range(steps):
            loss = model(torch.tensor([ids]), labels=torch.tensor([ids])).loss
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            losses.append(float(loss.detach()))
        return losses

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    before = train(model, optimizer, text, 3)
    model.save_pretrained(tmp_path / "old")
    edited = edit.extend(tok, LINES, 1_000)
    assert len(edited.added) == 1_000
    assert edited.tok.vocab.max_id == tok.vocab.max_id + 1_000
    edit.rewrite_checkpoint(tmp_path / "old", edited, tmp_path / "new", multiple_of=64)

    rows = -(-(tok.vocab.max_id + 1_001) // 64) * 64
    old_file, new_file = (tmp_path / name / "model.safetensors" for name in ("old", "new"))
    with safe_open(old_file, "pt") as old, safe_open(new_file, "pt") as new:
        table, names = new.get_tensor("transformer.wte.weight"), list(new.keys())
        assert table.shape == (rows, 48)
        was = old.get_tensor("transformer.wte.weight")
        assert torch.equal(table[: tok.vocab.max_id + 1], was[: tok.vocab.max_id + 1])
        for id, parts in list(edited.id_map.made_of.items())[::100]:
            assert torch.equal(table[id], was[list(parts)].mean(0)), "the mean of its old tokens"
        assert not table[edited.tok.vocab.max_id + 1 :].any(), (
            "padding that the old table did not have"
        )
        for name in names:
            if "wte" not in name:
                assert torch.equal(new.get_tensor(name), old.get_tensor(name))
    grown = 4 * 48 * (rows - tok.vocab.padded_size(64))
    data = [path.stat().st_size - 8 - header_size(path) for path in (old_file, new_file)]
    assert data[1] - data[0] == grown, "the size is as computed"

    resumed = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "new").train()
    again = torch.optim.AdamW(resumed.parameters(), lr=1e-3)
    number = [name for name, _ in resumed.named_parameters()].index("transformer.wte.weight")
    again.load_state_dict(
        nn.remap_optimizer(optimizer.state_dict(), [number], edited.id_map, rows=rows)
    )
    ids = edited.tok.encode(tok.decode(text))[:200]
    assert (
        max(ids) > tok.vocab.max_id
        and edited.tok.decode(ids) == tok.decode(text)[: len(edited.tok.decode(ids))]
    )
    after = train(resumed, again, ids, 3)
    assert after[-1] < after[0] and before[-1] < before[0]


PADDED: dict[str, tuple[int, dict[str, Any], int]] = {
    # Rows of a model of 266 tokens, what is asked, and its rows after two more tokens.
    "rows of padding stay": (320, {}, 320),
    "new tokens take them": (267, {}, 268),
    "none to keep": (266, {}, 268),
    "a multiple": (320, {"multiple_of": 64}, 320),
    "a larger multiple": (320, {"multiple_of": 128}, 384),
    "dropped": (320, {"drop_padding": True}, 268),
    "dropped, and a multiple": (384, {"drop_padding": True, "multiple_of": 8}, 272),
}


@pytest.mark.parametrize("case", PADDED)
@pytest.mark.parametrize("tied", [True, False])
def test_a_model_has_no_fewer_rows_than_before(case: str, tied: bool, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    rows, asked, expected = PADDED[case]
    tok = jeton.BPETrainer(266, pattern="gpt2").train(some_lines(1, 20))
    config = transformers.GPT2Config(
        vocab_size=rows, n_embd=8, n_layer=1, n_head=1, tie_word_embeddings=tied
    )
    model = transformers.GPT2LMHeadModel(config)
    model.save_pretrained(tmp_path / "old")
    edited = edit.add_special_tokens(tok, ["<|a|>", "<|b|>"])
    edit.rewrite_checkpoint(tmp_path / "old", edited, tmp_path / "new", **asked)
    again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "new")
    assert again.config.vocab_size == expected
    for old, new in (
        (model.transformer.wte.weight, again.transformer.wte.weight),
        (model.lm_head.weight, again.lm_head.weight),
    ):
        assert len(new) == expected
        assert torch.equal(new[:266], old[:266])
        kept = min(rows, expected)
        assert torch.equal(new[268:kept], old[268:kept]), "padding stays what it was"
        assert not new[max(268, kept) :].any()


def test_rows_of_gaps_stay() -> None:
    """An id that no token has keeps its row, as long as the ids around it stay."""
    table = torch.arange(12.0).reshape(6, 2)
    grown = edit.IdMap((0, -1, 2), 4, {3: (0, 2)})
    expected = torch.cat([table[:3], table[[0, 2]].mean(0)[None], table[4:]])
    assert torch.equal(nn.remap(table, grown, rows=6), expected)
    assert torch.equal(nn.remap(table, grown), expected[:4])
    shrunk = edit.IdMap((0, -1, 1), 2, {})
    assert torch.equal(
        nn.remap(table, shrunk, rows=4)[:3], torch.stack([*table[[0, 2]], 0 * table[0]])
    )


HEADS = {
    "DistilBertForMaskedLM": {"dim": 8, "hidden_dim": 8, "n_layers": 1, "n_heads": 1},
    "XLNetLMHeadModel": {"d_model": 8, "d_inner": 8, "n_layer": 1, "n_head": 1},
    "XLMWithLMHeadModel": {"emb_dim": 8, "n_layers": 1, "n_heads": 1},
    "MobileBertForMaskedLM": {
        "hidden_size": 16,
        "embedding_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "true_hidden_size": 8,
        "intra_bottleneck_size": 8,
    },
    "RobertaForMaskedLM": {
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
    },
    "CTRLLMHeadModel": {"n_embd": 8, "dff": 8, "n_layer": 1, "n_head": 1},
    "OpenAIGPTLMHeadModel": {"n_embd": 8, "n_layer": 1, "n_head": 1},
    "BartForConditionalGeneration": {
        "d_model": 8,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 1,
        "decoder_attention_heads": 1,
    },
}


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", HEADS)
def test_heads_of_many_models_are_known(name: str, tied: bool, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tok = FAMILIES["bpe"](1)
    kind = getattr(transformers, name)
    config = kind.config_class(
        vocab_size=tok.vocab_size, tie_word_embeddings=tied, pad_token_id=1, **HEADS[name]
    )
    model = kind(config)
    model.save_pretrained(tmp_path / "old")
    edited = edit.truncate(tok, 290)
    edit.rewrite_checkpoint(tmp_path / "old", edited, tmp_path / "new")
    smaller = kind.from_pretrained(tmp_path / "new")
    kept = [old for old, new in enumerate(edited.id_map.moved) if new != -1]
    old = model.get_input_embeddings().weight
    assert torch.equal(smaller.get_input_embeddings().weight, old[kept])
    head, small = model.get_output_embeddings(), smaller.get_output_embeddings()
    if head is not None and head.weight.shape[0] == tok.vocab_size:
        assert torch.equal(small.weight, head.weight[kept])


def header_size(path: Path) -> int:
    """The bytes of the JSON in front of the tensors."""
    return int.from_bytes(path.read_bytes()[:8], "little")


def test_bad_input(tmp_path: Path) -> None:
    tok = FAMILIES["bpe"](0)
    edited = edit.truncate(tok, tok.vocab_size - 5)
    gpt2(tmp_path / "model", tok)
    out = tmp_path / "out"

    def refused(error: type[Exception], message: str, edited: edit.Edited = edited) -> None:
        with pytest.raises(error, match=message):
            edit.rewrite_checkpoint(tmp_path / "model", edited, out)
        assert not out.exists() and not list(tmp_path.glob(".out*")), "nothing is left"

    with pytest.raises(MissingFileError, match="nowhere"):
        edit.rewrite_checkpoint(tmp_path / "nowhere", edited, out)
    with pytest.raises(FileError, match="exists already"):
        edit.rewrite_checkpoint(tmp_path / "model", edited, tmp_path)
    large = jeton.BPETrainer(1_000, pattern="gpt4").train(some_lines(1, 150))
    refused(ArgumentError, "not this model's", edit.truncate(large, 900))
    weights = tmp_path / "model" / "model.safetensors"
    content = weights.read_bytes()
    for damaged in (b"", content[:4], content[:-100], b"\xff" * 100, content[:8] + b"x" * 200):
        weights.write_bytes(damaged)
        refused(FormatError, r"model\.safetensors")
    weights.unlink()
    refused(MissingFileError, "safetensors")
    index = tmp_path / "model" / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "../x.safetensors"}}))
    refused(FormatError, "outside its folder")
    index.unlink()
    from safetensors.torch import save_file

    save_file({"small": torch.zeros(2, 2)}, weights)
    refused(UnsupportedError, "has no tensor")
    (tmp_path / "model" / "config.json").write_text("{}")
    refused(FormatError, "vocab_size")


def test_bad_tables() -> None:
    id_map = edit.IdMap((0, 1, 2), 3, {})
    with pytest.raises(ArgumentError, match="2 rows but the map is for 3 ids"):
        nn.remap(torch.zeros(2, 2), id_map)
    with pytest.raises(ArgumentTypeError, match="int64"):
        nn.remap(torch.zeros(3, 2, dtype=torch.long), id_map)
    with pytest.raises(ArgumentTypeError, match="dict"):
        nn.remap(torch.zeros(3, 2), {})  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="init"):
        nn.remap(torch.zeros(3, 2), id_map, init="ones")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="rows=2"):
        nn.remap(torch.zeros(3, 2), id_map, rows=2)
