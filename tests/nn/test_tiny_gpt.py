"""The example that trains a small GPT: it learns, resumes to the same losses, sees no future."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from jeton.errors import ArgumentError
from jeton.nn import GPT, GPTConfig

pytestmark = pytest.mark.large

FOLDER = Path(__file__).parents[2] / "examples" / "tiny_gpt"
SMALL = ["--depth", "1", "--width", "16", "--heads", "2", "--context", "16", "--batch-size", "4"]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("train", "compare", "embeddings"):
        sys.modules.pop(name, None)
    return {name: importlib.import_module(name) for name in ("train", "compare", "embeddings")}


def losses(folder: Path) -> list[float]:
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [json.loads(line)["loss"] for line in lines]


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "rotary", "alibi"])
def test_no_position_sees_the_future(kind: str) -> None:
    torch.manual_seed(0)
    model = GPT(GPTConfig(20, 16, 2, 2, 16, kind)).eval()
    ids = torch.randint(0, 20, (1, 16))
    other = ids.clone()
    other[0, 9:] = (other[0, 9:] + 1) % 20
    with torch.no_grad():
        torch.testing.assert_close(model(ids)[0][:, :9], model(other)[0][:, :9])
        assert not torch.equal(model(ids)[0][:, 9:], model(other)[0][:, 9:])


def test_learns_and_resumes_to_the_same_losses(
    modules: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = modules["train"].main
    common = [*SMALL, "--tokenizer", "bpe:300", "--steps", "24", "--eval-every", "12"]
    train(["--out", str(tmp_path / "whole"), "--sample", "20", *common])
    shown = capsys.readouterr().out
    assert "bits per byte" in shown
    whole = losses(tmp_path / "whole")
    assert len(whole) == 24 and sum(whole[-6:]) < sum(whole[:6])
    train(["--out", str(tmp_path / "parts"), "--stop-after", "9", *common])
    with (tmp_path / "parts" / "log.jsonl").open("a") as log:  # as a run that is cut leaves it
        log.write('{"step": 10, "loss": 9.0}\n')
    train(["--out", str(tmp_path / "parts"), "--resume", "--sample", "0"])
    assert losses(tmp_path / "parts") == whole
    with pytest.raises(SystemExit, match="holds a run already"):
        train(["--out", str(tmp_path / "parts"), *common])


def test_a_finished_run_is_sampled_again(
    modules: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train, out = modules["train"].main, tmp_path / "run"
    train(["--out", str(out), *SMALL, "--steps", "3", "--eval-every", "3", "--sample", "20"])
    first, logged = capsys.readouterr().out, (out / "log.jsonl").read_text()
    train(["--out", str(out), "--resume", "--sample", "20"])
    again = capsys.readouterr().out
    assert first.split(" s\n", 1)[1] in again, "the same weights and seed write the same text"
    assert (out / "log.jsonl").read_text() == logged


def test_a_run_that_is_cut_before_its_first_step_goes_on(
    modules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, out = modules["train"], tmp_path / "run"
    common = [*SMALL, "--steps", "3", "--eval-every", "3", "--sample", "0"]

    def cut(loader: Any) -> Any:
        raise KeyboardInterrupt
        yield

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(train, "endless", cut)
        train.main(["--out", str(out), *common])
    train.main(["--out", str(out), "--resume", "--sample", "0"])
    train.main(["--out", str(tmp_path / "whole"), *common])
    assert losses(out) == losses(tmp_path / "whole")


@pytest.mark.parametrize("prepared", [False, True])
def test_too_short_a_text_leaves_nothing_behind(
    modules: Any, tmp_path: Path, prepared: bool
) -> None:
    train, out, text = modules["train"].main, tmp_path / "run", tmp_path / "text.txt"
    text.write_text("the water " * 14)
    common = ["--out", str(out), "--text", str(text), *SMALL, "--steps", "2", "--sample", "0"]
    if prepared:
        train([*common, "--out", str(tmp_path / "other"), "--context", "4"])
        common += ["--data", str(tmp_path / "other" / "data")]
    with pytest.raises(
        SystemExit, match="14 tokens to validate with are too few for windows of 16"
    ):
        train(common)
    assert not out.exists()
    train([*common, "--context", "8"])
    assert len(losses(out)) == 2


def test_folders_without_a_run_are_named(modules: Any, tmp_path: Path) -> None:
    train, out = modules["train"].main, tmp_path / "run"
    with pytest.raises(SystemExit, match="no run to resume"):
        train(["--out", str(out), "--resume"])
    out.mkdir()
    (out / "tokenizer.json").write_text("mine")
    with pytest.raises(SystemExit, match="no checkpoint"):
        train(["--out", str(out), *SMALL])
    assert (out / "tokenizer.json").read_text() == "mine"


def test_both_experiments_run(modules: Any, tmp_path: Path, monkeypatch: Any) -> None:
    compare = modules["compare"]
    monkeypatch.setattr(compare, "TOKENIZERS", ("characters", "bpe:300"))
    monkeypatch.setattr(compare, "POSITIONS", ("learned", "rotary"))
    monkeypatch.setattr(compare, "LENGTHS", (128, 256))
    text = tmp_path / "text.txt"
    text.write_text("the sea is a filing system, and nobody hurries the water.\n" * 400)
    for name in ("tokenizers", "positions"):
        compare.main([name, "--text", str(text), "--flops", "1e10", "--out", str(tmp_path / name)])
        table = (tmp_path / name / f"{name}.md").read_text()
        assert table.count("\n") >= 4
        assert b"<svg" in (tmp_path / name / f"{name}.svg").read_bytes()
    assert "—" in table, "learned positions have no value beyond their length"
    run, picture = tmp_path / "positions" / "bpe-1024-rotary", tmp_path / "map.svg"
    modules["embeddings"].main([str(run), str(picture), "--text", str(text), "--tokens", "12"])
    assert b"<svg" in picture.read_bytes()


@pytest.mark.parametrize(
    ("ids", "temperature", "message"),
    [
        ([], 1.0, "ids is empty"),
        ([1], 0, "temperature must be a finite number above 0"),
        ([1], -1.0, "temperature must be a finite number above 0"),
        ([10], 1.0, "id 10 is not in the table"),
    ],
)
def test_sampling_refuses_wrong_ids_and_temperatures(
    ids: list[int], temperature: float, message: str
) -> None:
    model = GPT(GPTConfig(10, context=4, depth=1, heads=1, width=8))
    with pytest.raises(ArgumentError, match=message):
        next(model.sample(ids, temperature=temperature))


def test_ids_are_sampled_on_the_device_of_the_model() -> None:
    model = GPT(GPTConfig(10, context=4, depth=1, heads=1, width=8)).to("meta")
    devices = []

    def look(_: object, arguments: tuple[torch.Tensor]) -> None:
        devices.append(arguments[0].device.type)
        raise InterruptedError

    model.register_forward_pre_hook(look)
    with pytest.raises(InterruptedError):
        next(model.sample([1]))
    assert devices == ["meta"]
