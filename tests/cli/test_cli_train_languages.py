"""`jeton train --languages`: a corpus for each language, development texts, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import jeton
from command_line import Run, error_of, here, run

__all__ = ["here", "run"]

TEXTS = {"en": "the cat and the dog\n" * 9, "de": "die katze und der hund\n" * 5}
FILES = ["en=en.txt", "de=de.txt"]


@pytest.fixture
def files(here: Path) -> dict[str, Path]:
    paths = {name: here / f"{name}.txt" for name in TEXTS}
    for name, path in paths.items():
        path.write_text(TEXTS[name], encoding="utf-8", newline="")
    return paths


@pytest.mark.parametrize(
    ("options", "parameters", "has_texts"),
    [
        (["--languages=base"], {"languages": "base"}, False),
        (
            ["--languages=window", "--set=window_size=3", "--set", "alpha=1.5"],
            {"languages": "window", "window_size": 3, "alpha": 1.5},
            False,
        ),
        (
            ["--languages=base", "--development=en=de.txt", "--development=de=en.txt"],
            {"languages": "base"},
            True,
        ),
        (["--languages=en=1,de=1.5"], {"languages": {"en": 1, "de": 1.5}}, False),
    ],
)
def test_the_tokenizer_is_that_of_the_trainer(
    run: Run,
    files: dict[str, Path],
    options: list[str],
    parameters: dict[str, Any],
    has_texts: bool,
) -> None:
    run("train", *FILES, "-o", "x.json", "--vocab-size=270", *options)
    texts = {"en": files["de"], "de": files["en"]} if has_texts else None
    expected = jeton.BPETrainer(270, **parameters).train(files, development=texts)
    assert jeton.load("x.json") == expected


def test_saved_counts_are_corpora(run: Run, files: dict[str, Path]) -> None:
    run("train", "en.txt", "-o", "y.json", "--vocab-size=260", "--save-counts=en.counts")
    for name, corpora in (("a", FILES), ("b", ["en=en.counts", FILES[1]])):
        options = ["--vocab-size=270", "--languages=base"]
        run("train", *corpora, "-o", f"{name}.json", *options)
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["en.txt", "--languages=base"], "FILES 'en.txt' is not LANGUAGE=FILE"),
        (["en=en.txt", "en=de.txt", "--languages=base"], "'en' is there twice"),
        ([*FILES, "--languages=fair"], "--languages 'fair' is neither base nor window"),
        ([*FILES, "--languages=en=1,de"], "--languages 'en=1,de' is neither"),
        ([*FILES, "--languages=en=1"], "must name the same languages"),
        ([*FILES, "--languages=base", "--development=en=en.txt"], "the same languages"),
        (["en.txt", "--development=en=en.txt"], "--development goes with --languages"),
        ([*FILES, "--languages=base", "--save-counts=c"], "--save-counts is for one corpus"),
        ([*FILES, "--languages=base", "--kind=wordpiece"], "--languages is for --kind bpe"),
        (["en=no.txt", "de=de.txt", "--languages=base"], "no.txt"),
    ],
)
def test_wrong_languages_and_development_texts_are_refused(
    run: Run, files: dict[str, Path], arguments: list[str], message: str
) -> None:
    code = 1 if "no.txt" in message or "same" in message else 2
    result = run("train", *arguments, "-o", "x.json", "--vocab-size=270", code=code)
    assert message in result.stderr
    assert not Path("x.json").exists()
