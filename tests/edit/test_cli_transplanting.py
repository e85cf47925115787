"""`jeton edit transplant` and `jeton edit add --words`: values of rows, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import jeton
from command_line import Run, error_of, here, run  # noqa: F401
from jeton import edit
from test_transplanting import NEW, OLD, model, random_table, tables_of

pytestmark = pytest.mark.large

WORDS = "ibuprofen\n\n  weather \nthe\n"


@pytest.fixture
def models(here: Path) -> Path:  # noqa: F811
    """The folder with the models `old` and `new`, and the tokenizers alone."""
    pytest.importorskip("torch")
    model(here / "old", OLD, random_table(OLD.vocab_size))
    model(here / "new", NEW, random_table(NEW.vocab_size, 1))
    OLD.save("old.json")
    NEW.save("new.json")
    (here / "words.txt").write_text(WORDS, encoding="utf-8")
    return here


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def report_of(output: str) -> dict[str, str]:
    """The lines of the report: what, and how many."""
    rows = (line.rsplit(maxsplit=1) for line in output.splitlines() if "  " in line.strip())
    return {what.strip(): number for what, number in rows}


def test_words_of_a_file_become_tokens(run: Run, models: Path) -> None:  # noqa: F811
    line = ["edit", "add", "new.json", "--words", "words.txt", "-o", "out.json"]
    done = run(*line, "--map", "map.json")
    assert "words that are one token already, so left as they are: 1" in done.stderr
    report = report_of(done.stdout)
    assert (report["added"], report["removed"]) == ("2", "0")
    assert report["tokens after"] == f"{NEW.vocab_size + 2}"
    tok, first = jeton.load("out.json"), NEW.vocab.max_id + 1
    assert tok.encode("ibuprofen") == [first] and tok.encode("weather") == [first + 1]
    assert tok.encode("the theory there") == NEW.encode("the theory there")
    made_of = json.loads((models / "map.json").read_text())["made_of"]
    assert made_of == {str(first): NEW.encode("ibuprofen"), str(first + 1): NEW.encode("weather")}


def test_words_get_the_mean_of_their_old_rows(run: Run, models: Path) -> None:  # noqa: F811
    run("edit", "add", "new", "--words", "words.txt", "--model", "new", "-o", "out")
    before, after = tables_of(models / "new"), tables_of(models / "out")
    for name, table in before.items():
        assert after[name].shape == (NEW.vocab_size + 2, 48)
        assert np.array_equal(after[name][: NEW.vocab_size], table)
        for id, word in enumerate(("ibuprofen", "weather"), NEW.vocab.max_id + 1):
            mean = table[NEW.encode(word)].mean(0)
            np.testing.assert_allclose(after[name][id], mean, rtol=1e-5, atol=1e-6)
    config = json.loads((models / "out" / "config.json").read_text())
    assert config["vocab_size"] == NEW.vocab_size + 2
    assert jeton.load("out").encode("ibuprofen") == [NEW.vocab.max_id + 1]


REFUSED_WORDS: dict[str, tuple[bytes | None, list[str], int, str]] = {
    "neither": (None, [], 2, "Name special TOKENS, or a file of --words"),
    "both": (b"a b\n", ["<|x|>", "--words", "words.txt"], 2, "Name special TOKENS"),
    "no file": (None, ["--words", "none.txt"], 1, "none.txt"),
    "an empty file": (b"\n \n", ["--words", "words.txt"], 1, "nothing to add"),
    "tokens already": (b"the\n", ["--words", "words.txt"], 1, "is a token already"),
    "twice": (b"aspirin\naspirin\n", ["--words", "words.txt"], 1, "'aspirin' is there twice"),
    "special": (b"<|new|>\n", ["--words", "words.txt"], 1, "'<|new|>' is there twice, or is an"),
    "not text": (b"PK\x03\x04\0\0\n", ["--words", "words.txt"], 1, "words.txt"),
    "not UTF-8": (b"caf\xe9\n", ["--words", "words.txt"], 1, "words.txt"),
}


@pytest.mark.parametrize(
    ("content", "options", "code", "told"), REFUSED_WORDS.values(), ids=REFUSED_WORDS
)
def test_words_that_are_refused(
    run: Run,  # noqa: F811
    models: Path,
    content: bytes | None,
    options: list[str],
    code: int,
    told: str,
) -> None:
    if content is not None:
        (models / "words.txt").write_bytes(content)
    before = files_of(models)
    refused = run("edit", "add", "new.json", *options, "-o", "out.json", code=code)
    assert told in refused.stderr
    assert files_of(models) == before


def test_a_model_moves_to_another_tokenizer(run: Run, models: Path) -> None:  # noqa: F811
    done = run("edit", "transplant", "old", "new", "-o", "out", "--model", "old", "--map", "m.json")
    expected = edit.transplant(OLD, NEW, model="old")
    report = report_of(done.stdout)
    shared = jeton.shared_tokens(OLD, NEW)
    assert report["copied"] == f"{len(shared)}" and report["sums of shared tokens"] == "0"
    assert report["means of old tokens"] == f"{expected.by_mean}"
    assert report["by --init"] == f"{expected.without}"
    assert report[f"cosine on {expected.held} held-out tokens"] == f"{expected.cosine:.3f}"
    assert report["tokens after"] == f"{NEW.vocab_size}"
    before, after = tables_of(models / "old"), tables_of(models / "out")
    made_of = json.loads((models / "m.json").read_text())["made_of"]
    for name, table in before.items():
        assert after[name].shape == (NEW.vocab_size, 48)
        for old, new in shared.items():
            assert np.array_equal(after[name][new], table[old])
        for id, parts in made_of.items():
            if parts:
                mean = table[parts].mean(0)
                np.testing.assert_allclose(after[name][int(id)], mean, rtol=1e-5, atol=1e-6)
    assert jeton.load("out").encode("the theory") == NEW.encode("the theory")
    config = json.loads((models / "out" / "config.json").read_text())
    assert config["vocab_size"] == NEW.vocab_size


def test_a_donor_gives_sums_of_at_most_so_many_terms(run: Run, models: Path) -> None:  # noqa: F811
    line = ["edit", "transplant", "old", "new", "--model", "old", "--donor", "new"]
    for terms in (1, 4):
        done = run(*line, "--terms", f"{terms}", "-o", f"out-{terms}")
        expected = edit.transplant(OLD, NEW, model="old", donor="new", terms=terms)
        report = report_of(done.stdout)
        assert report["sums of shared tokens"] == f"{expected.by_pursuit}" != "0"
        assert report["means of old tokens"] == "0"
        before, after = tables_of(models / "old"), tables_of(models / f"out-{terms}")
        for id, (ids, values) in expected.weights.items():
            assert len(ids) <= terms
            for name, table in before.items():
                made = np.array(values, np.float32) @ table[list(ids)]
                np.testing.assert_allclose(after[name][id], made, rtol=1e-4, atol=1e-5)


REFUSED_MOVES: dict[str, tuple[list[str], int, str]] = {
    "no model": (["old", "new", "-o", "out"], 2, "--model FOLDER"),
    "model that is not there": (
        ["old", "new", "-o", "out", "--model", "none"],
        1,
        "none: no such folder",
    ),
    "model without weights": (["old", "new", "-o", "out", "--model", "bare"], 1, "bare"),
    "donor that is not there": (
        ["old", "new", "-o", "out", "--model", "old", "--donor", "gone"],
        1,
        "gone",
    ),
    "donor of another size": (
        ["old", "new", "-o", "out", "--model", "old", "--donor", "few"],
        1,
        "few",
    ),
    "other that is not there": (["old", "gone.json", "-o", "out", "--model", "old"], 1, "gone"),
    "nothing in common": (["a.json", "b.json", "-o", "out", "--model", "old"], 1, "in common"),
    "no terms": (["old", "new", "-o", "out", "--model", "old", "--terms", "0"], 2, "--terms"),
    "terms without a donor": (
        ["old", "new", "-o", "out", "--model", "old", "--terms", "5"],
        2,
        "--terms goes with --donor",
    ),
    "output that is there": (["old", "new", "-o", "new", "--model", "old"], 1, "new exists"),
}


@pytest.mark.parametrize(
    ("options", "code", "told"), REFUSED_MOVES.values(), ids=REFUSED_MOVES.keys()
)
def test_moves_that_are_refused(
    run: Run,  # noqa: F811
    models: Path,
    options: list[str],
    code: int,
    told: str,
) -> None:
    model(models / "few", NEW, random_table(NEW.vocab_size - 5))
    (models / "bare").mkdir()
    jeton.CharTrainer().train("abc").save("a.json")
    jeton.CharTrainer().train("xyz").save("b.json")
    before = files_of(models)
    refused = run("edit", "transplant", *options, code=code)
    assert told in (error_of(refused) if code == 1 else refused.stderr)
    assert files_of(models) == before
    assert not (models / "out").exists()


@pytest.mark.parametrize("option", [["--init", "mean"], ["--multiple-of", "8"], ["--drop-padding"]])
def test_options_of_a_model_need_one(run: Run, models: Path, option: list[str]) -> None:  # noqa: F811
    line = ["edit", "add", "new.json", "<|x|>", "-o", "out.json"]
    assert f"{option[0]} goes with --model" in run(*line, *option, code=2).stderr
    assert not (models / "out.json").exists()
