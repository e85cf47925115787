"""`jeton.data` and `jeton.ray` with wrong values: a result, or one of jeton's errors."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

import jeton.ray
from jeton import data
from jeton.data import layouts
from prepared import documents, tokenizer
from wrong_values import GOOD, OTHER_NAMES, OWNERS, Call, calls, taken_amiss

TOK = tokenizer()
TEXTS = documents(30)
ROWS = data.pack([[1, 2, 3], [4, 5]], 8, shift_labels=False)
PLACE = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, PLACE)
MADE, PART = str(PLACE / "made"), str(PLACE / "part")
data.prepare(TEXTS, TOK, MADE)
data.prepare(TEXTS, TOK, PART, part=(1, 1))
data.mix({MADE: 1}).save(PLACE / "mixture.json")

OWNERS.update(
    {
        data.TokenDataset: lambda: data.TokenDataset(MADE),
        data.Packing: lambda: ROWS,
        data.Loader: lambda: ROWS.loader(1),
        data.PackedRows: lambda: ROWS[:],
        data.Windows: lambda: data.TokenDataset(MADE).windows(4),
        data.Examples: lambda: data.TokenDataset(MADE).windows(4),
        data.Mixture: lambda: data.mix({MADE: 1}),
        data.MixedExamples: lambda: data.mix({MADE: 1}).windows(4),
        data.TokenStream: lambda: data.stream(TEXTS, TOK, 1, 4),
    }
)

GOOD.update(
    {
        "data.data": TEXTS,
        "data.tokenizer": TOK,
        "data.folder": "out",
        "data.verify.folder": MADE,
        "data.Manifest.read.folder": MADE,
        "data.parts": [PART],
        "data.path": MADE,
        "data.documents": [[1, 2, 3], [4, 5]],
        "data.length": 8,
        "data.batch_size": 2,
        "data.block_size": 4,
        "data.window": slice(0, 5),
        "data.starts": np.array([0, 3]),
        "data.Manifest.from_json.text": Path(MADE, "manifest.json").read_text("utf-8"),
        "data.epoch": 1,
        "data.sources": {MADE: 1},
        "data.MixSource.data": MADE,
        "data.StorePath.url": "memory://b/a.txt",
        "data.Mixture.save.path": "mixture.json",
        "data.Mixture.read.path": str(PLACE / "mixture.json"),
        "data.places": np.array([0]),
        "data.number": 0,
        "data.texts": ["to be"],
        "data.seed": 0,
        "data.MixedExamples.taken.state": data.mix({MADE: 1}).loader(1, 4).state_dict(),
        "data.TokenStream.load_state_dict.state": data.stream(TEXTS, TOK, 1, 4).state_dict(),
        "data.numbers": np.array([0]),
        "data.state": ROWS.loader(1).state_dict(),
        "layouts.layout": "jeton",
        "layouts.folder": "out",
        "layouts.dtype": "uint16",
        "layouts.path": MADE,
        "layouts.max_id": 300,
        # Nothing that exists: what is right must not start a cluster.
        "ray.data": "nowhere/*.txt",
        "ray.trainer": jeton.BPETrainer(300),
        "ray.tokenizer": TOK,
        "ray.folder": "out",
    }
)

OTHER_NAMES["folder"] = ("manifest.json",)
OTHER_NAMES["from_json.text"] = ("tokenizer.json", "manifest.json")
OTHER_NAMES["prepare.data"] = ("document ",)
OTHER_NAMES["prepare.filter"] = ("record ",)
OTHER_NAMES["validation"] = ("document ", "data is empty", "split 'val'")
OTHER_NAMES["pack.documents"] = ("rows",)
OTHER_NAMES["merge.parts"] = ("manifest.json",)
OTHER_NAMES["MixSource.data"] = ("a source has",)
OTHER_NAMES["mix.sources"] = ("there is no such", "weight must be")
OTHER_NAMES["decode.window"] = ("ids", "id ")

RESULTS = {
    "data.Batch",
    "data.Damage",
    "data.Documents",
    "data.Examples",
    "data.Loader",
    "data.LossMask",
    "data.Manifest",
    "data.MixedExamples",
    "data.Mixture",
    "data.PackedRows",
    "data.Packing",
    "data.PackingReport",
    "data.PlannedSource",
    "data.PrepareProgress",
    "data.TokenStream",
    "data.Windows",
    "layouts.Shard",
    "layouts.Writer",
    "layouts.WrittenShard",
}
"""What only jeton makes."""

INHERITED = {"count", "index"}
"""What named tuples have from Python."""


def is_ours(call: Call) -> bool:
    """Whether it is jeton's, and for callers to make or call."""
    return call.name not in RESULTS and call.name.split(".")[-1] not in INHERITED


MODULES = [data, layouts, *([jeton.ray] if importlib.util.find_spec("ray") else [])]
CALLS = [call for call in calls(MODULES) if is_ours(call) or call.name == "ray.count"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.mark.large
@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
def test_wrong_values(call: Call) -> None:
    found = taken_amiss(call, lambda: shutil.rmtree("out", ignore_errors=True))
    # `ray` has no right data here, and says so last.
    wrong = [told for told in found if "'nowhere/*.txt': there is no such" not in told]
    assert not wrong, "\n".join(wrong)
