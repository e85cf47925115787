"""Bits per byte of small models: equal compute, the same results again, what is refused."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jeton
from command_line import Run, here, run  # noqa: F401
from jeton import analysis
from jeton.analysis import TinyModel
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, UnsupportedError

TEXT = "the weather there is low, and lower in the north. " * 40
TOKS = {
    "characters": jeton.CharTrainer().train(TEXT),
    "pairs": jeton.BPETrainer(300, pattern="gpt4").train([TEXT]),
}
SMALL = TinyModel(operations=2e8, seeds=2, width=16, depth=1, heads=2, context=16, batch=4)
NAMES = {"bits_per_byte", "bits_per_byte_spread", "serving_operations"}


class TestWithTorch:
    @pytest.fixture(autouse=True)
    def torch(self) -> Iterator[Any]:
        torch = pytest.importorskip("torch")
        before = torch.get_num_threads()
        torch.set_num_threads(1)  # the tests run in several processes
        yield torch
        torch.set_num_threads(before)

    def test_compare_has_them_for_each_corpus_and_language(self) -> None:
        parallel = {"en": ["the weather"], "de": ["das Wetter"]}
        found = analysis.compare(
            {"pairs": TOKS["pairs"]}, {"news": [TEXT]}, parallel=parallel, train=[TEXT], model=SMALL
        )
        assert all(set(found["pairs"][it].values) >= NAMES for it in ("news", "all", "en", "de"))
        value = found["pairs"]["news"].values["bits_per_byte"]
        assert value.unit == "bits/byte" and "mean of 2 models; " in value.how
        assert "2,000 bytes" in value.how and "depth 1" in value.how
        assert (found["pairs"]["news"]["bits_per_byte_spread"] or 0) > 0

    @pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
    def test_models_learn_where_the_caller_has_switched_gradients_off(
        self, torch: Any, mode: str
    ) -> None:
        with getattr(torch, mode)():
            found = analysis.compare([TOKS["pairs"]], [TEXT], train=[TEXT], model=SMALL)
        same = analysis.compare([TOKS["pairs"]], [TEXT], train=[TEXT], model=SMALL)
        assert found.to_dict() == same.to_dict()

    def test_each_tokenizer_gets_the_same_work(self) -> None:
        found = analysis.compare(TOKS, [TEXT], train=[TEXT], model=SMALL)
        work = []
        for name, tok in TOKS.items():
            how = found[name]["corpus"].values["bits_per_byte"].how
            steps = int(how.split(" steps")[0].split()[-1].replace(",", ""))
            # Rows of the embedding are padded to a multiple of 64.
            rows = -(-(tok.vocab.max_id + 1) // 64) * 64
            weights = rows * 16 + 12 * 16 * 16
            work.append(steps * 4 * 16 * (6 * weights + 12 * 16 * 16))
            serving = found[name]["corpus"]["serving_operations"]
            tokens = found[name]["corpus"]["tokens"]
            each = (6 * weights + 12 * 16 * 16) / 3
            assert serving == round(each * (tokens or 0) / len(TEXT))
        assert all(0.9 < it / SMALL.operations < 1.1 for it in work)

    def test_a_text_that_repeats_costs_little_and_an_untrained_model_a_guess(self) -> None:
        def bits(operations: float) -> float:
            model = TinyModel(operations, 1, width=32, depth=2, heads=2, context=32, batch=8)
            tok = {"characters": TOKS["characters"]}
            found = analysis.compare(tok, [TEXT], train=[TEXT], model=model)
            return found["characters"]["corpus"]["bits_per_byte"] or 0.0

        guess = math.log2(TOKS["characters"].vocab_size)
        assert abs(bits(1) - guess) < 0.5
        assert bits(2e10) < 0.2

    def test_the_same_again_without_a_trace_in_the_caller_s_numbers(self, torch: Any) -> None:
        torch.manual_seed(7)
        before = torch.random.get_rng_state()
        first, second = (
            analysis.compare(TOKS, [TEXT], train=[TEXT], model=SMALL).to_dict() for _ in range(2)
        )
        assert first == second
        assert torch.equal(before, torch.random.get_rng_state())

    def test_progress_reaches_its_end(self) -> None:
        steps: list[jeton.Progress] = []
        analysis.compare(TOKS, [TEXT], train=[TEXT], model=SMALL, watch=steps.append)
        models = [it for it in steps if it.phase == "modelling"]
        assert models[-1].done == models[-1].total == len(models)

    @pytest.mark.parametrize("text", ["", "the"])
    def test_too_short_a_text_to_train_on(self, text: str) -> None:
        with pytest.raises(ArgumentError, match="tokens of characters are fewer than a window"):
            analysis.compare(TOKS, [TEXT], train=[text], model=SMALL)

    def test_text_of_nothing_has_no_bits(self) -> None:
        found = analysis.compare(TOKS, [""], train=[TEXT], model=SMALL)
        assert found["pairs"]["corpus"]["bits_per_byte"] is None

    def test_a_sweep_judges_each_size_and_resumes(self, tmp_path: Path) -> None:
        lines = [f"{number} is the weather there, lower\n" for number in range(400)]

        def swept(model: TinyModel | None = SMALL, **given: Any) -> analysis.Sweep:
            return analysis.sweep(
                lines, sizes=[270, 300], families=["bpe"], model=model, folder=tmp_path, **given
            )

        found = swept()
        bits = {it.vocab_size: it.bits_per_byte for it in found.points}
        assert found.best_modelled == {"bpe": min(bits, key=lambda it: bits[it] or 0)}
        assert all(it.bits_per_byte_spread for it in found.points)
        assert analysis.Sweep.load(tmp_path / "sweep.json") == found == swept()
        with pytest.raises(FormatError, match="another settings"):
            swept(TinyModel())
        with pytest.raises(FormatError, match="another settings"):
            swept(None)

    def test_the_commands(self, run: Run, tmp_path: Path) -> None:  # noqa: F811
        (tmp_path / "text.txt").write_text(TEXT)
        TOKS["pairs"].save(tmp_path / "pairs.json")
        few = ("--operations", "1e9", "--seeds", "1")
        files = (str(tmp_path / "pairs.json"), "--corpus", str(tmp_path / "text.txt"))
        shown = run("compare", *files, "--train", str(tmp_path / "text.txt"), *few).stdout
        assert "bits per byte of a small model" in shown
        (tmp_path / "lines.txt").write_text("".join(f"{it} is low there\n" for it in range(900)))
        swept = ("sweep", str(tmp_path / "lines.txt"), "--sizes", "270,300", "--family", "bpe")
        shown = run(*swept, "--bits-per-byte", *few).stdout
        assert "bits/byte by models of operations 1,000,000,000" in shown
        assert "bits/byte" in shown and "spread" in shown


def test_values_that_make_no_model() -> None:
    with pytest.raises(ArgumentError, match=r"width must be a multiple of 2 · heads, 8, not 12"):
        TinyModel(width=12)
    for name in ("seeds", "width", "depth", "heads", "context", "batch"):
        with pytest.raises(ArgumentError, match=f"{name} must be at least"):
            TinyModel(**{name: 0})
        with pytest.raises(ArgumentTypeError, match=f"{name} must be an int"):
            TinyModel(**{name: "3"})  # type: ignore[arg-type]
    for wrong in (0, float("nan"), -1.0):
        with pytest.raises(ArgumentError, match="operations must be"):
            TinyModel(operations=wrong)


def test_a_model_without_text_to_train_on() -> None:
    with pytest.raises(ArgumentError, match="give `train`, too"):
        analysis.compare(TOKS, [TEXT], model=SMALL)


def test_without_torch_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "torch" else found(name, *a)
    )
    for call in (
        lambda: analysis.compare(TOKS, ["not/there.txt"], train=[TEXT]),
        lambda: analysis.sweep(["low"], model=SMALL),
    ):
        with pytest.raises(UnsupportedError, match=r"pip install 'jeton\[torch\]'"):
            call()


@pytest.mark.parametrize(
    ("command", "by"),
    [
        (("compare", "a.json", "--corpus", "b.txt"), "--train"),
        (("sweep", "b.txt"), "--bits-per-byte"),
    ],
)
@pytest.mark.parametrize("option", [("--operations", "1e9"), ("--seeds", "2")])
def test_an_option_of_models_that_nobody_asked_for(
    run: Run,  # noqa: F811
    command: tuple[str, ...],
    by: str,
    option: tuple[str, str],
) -> None:
    told = run(*command, *option, code=2).stderr
    assert f"{option[0]} is of the models that {by} asks for" in " ".join(told.split())
