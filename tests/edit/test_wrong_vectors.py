"""`jeton.nn` and `jeton.edit` with wrong values: a result, or one of jeton's errors."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import torch

import jeton
from jeton import edit, nn
from jeton.nn import reference
from wrong_values import GOOD, OWNERS, TOK, Call, calls, taken_amiss

pytestmark = pytest.mark.large

OLD = jeton.BPETrainer(262, pattern="gpt4").train(["low lower lowest"])
MAP = edit.truncate(OLD, 260).id_map
TABLE = torch.randn(TOK.vocab.max_id + 1, 4, generator=torch.Generator().manual_seed(0))
ADAM = torch.optim.AdamW([torch.nn.Parameter(torch.ones(2, 2))])

OWNERS.update(
    {
        edit.IdMap: lambda: MAP,
        nn.TokenEmbedding: lambda: nn.TokenEmbedding(10, 4),
        nn.LearnedPositions: lambda: nn.LearnedPositions(8, 4),
        nn.SinusoidalPositions: lambda: nn.SinusoidalPositions(4),
        nn.RotaryPositions: lambda: nn.RotaryPositions(4),
        nn.ALiBi: lambda: nn.ALiBi(2),
        nn.GPT: lambda: nn.GPT(nn.GPTConfig(10, width=8, heads=2, depth=1)),
        nn.EmbeddingMap: lambda: nn.embedding_map(TABLE, TOK, [65, 66, 67]),
    }
)

GOOD.update(
    {
        "edit.tok": OLD,
        "edit.a": OLD,
        "edit.b": OLD,
        "edit.other": OLD,
        "edit.model": None,
        "edit.donor": None,
        "edit.terms": 4,
        "edit.words": ["slowest"],
        "edit.corpus": ["the theory"],
        "edit.size": 260,
        "edit.order": list(range(262)),
        "edit.moved": (0, 1),
        "edit.new_size": 2,
        "edit.made_of": {},
        "edit.IdMap.from_dict.record": MAP.to_dict(),
        "edit.later": MAP.inverse,
        "edit.ids": [1],
        "nn.tok": TOK,
        "nn.table": TABLE,
        "nn.remap.table": torch.ones(2, 2),
        "nn.id_map": edit.IdMap((0, 1), 2, {}),
        "nn.state": ADAM.state_dict(),
        "nn.parameters": [],
        "nn.GPT.config": nn.GPTConfig(10, width=8, heads=2, depth=1),
        "nn.GPTConfig.positions": "rotary",
        "nn.weight_decay": 0.1,
        "nn.GPT.forward.ids": torch.zeros(1, 2, dtype=torch.long),
        "nn.GPT.forward.targets": torch.zeros(1, 2, dtype=torch.long),
        "nn.GPT.sample.ids": [1],
        "nn.GPT.sample.temperature": 1.0,
        "nn.dim": 4,
        "nn.head_dim": 4,
        "nn.max_length": 8,
        "nn.heads": 2,
        "nn.factor": 2.0,
        "nn.original_length": 32,
        "nn.short_factors": (1.0, 1.0),
        "nn.long_factors": (1.0, 2.0),
        "nn.x": torch.zeros(1, 2, 4),
        "nn.query": torch.zeros(1, 2, 4),
        "nn.key": torch.zeros(1, 2, 4),
        "nn.hidden": torch.zeros(1, 4),
        "nn.ids": torch.tensor([1]),
        "nn.positions": torch.tensor([0, 1]),
        "nn.query_length": 2,
        "nn.counts": [1, 2],
        "nn.tokens": [65, 66, 67],
        "nn.token": 65,
        "nn.config": {"head_dim": 4},
        "nn.frequencies.length": 4,
        "nn.rotary_dim": 4,
        "nn.base": 10_000.0,
        "nn.length": 4,
        "nn.EmbeddingMap.save.path": "map.svg",
        "reference.positions": [0, 1],
        "reference.dim": 4,
        "reference.rotary_dim": 4,
        "reference.heads": 2,
        "reference.query_length": 2,
        "reference.base": 10_000.0,
        "reference.factor": 2.0,
        "reference.length": 4,
        "reference.original_length": 32,
        "reference.low_freq_factor": 1.0,
        "reference.high_freq_factor": 4.0,
        "reference.frequencies": [1.0, 0.1],
        "reference.angles": [0.5],
        "reference.x": [1.0, 2.0],
    }
)

RESULTS = {"edit.Edited", "edit.Transplanted", "nn.EmbeddingMap", "nn.Neighbour", "nn.UnderTrained"}
"""What only jeton makes."""

SEPARATE = {"edit.rewrite_checkpoint"}
"""What needs a model: `tests/edit/test_checkpoint.py`."""


def is_ours(call: Call) -> bool:
    """Whether it is jeton's, and not what a module has from PyTorch."""
    name = call.name.split(".")[-1]
    inherited = hasattr(torch.nn.Module, name) and name != "forward"
    return call.name not in RESULTS | SEPARATE and not inherited


CALLS = [call for call in calls([edit, nn, reference]) if is_ours(call)]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
def test_wrong_values(call: Call) -> None:
    wrong = list(taken_amiss(call))
    assert not wrong, "\n".join(wrong)
