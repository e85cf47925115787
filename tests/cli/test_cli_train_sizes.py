"""`jeton train`: how many tokens there are where nothing is said, and how many more than before."""

from __future__ import annotations

from pathlib import Path

import pytest

import jeton
from command_line import Run, error_of, here, run

CORPUS = "the weather there, then the theory\nshe sells sea shells by the sea shore\n" * 9


@pytest.fixture
def corpus(here: Path) -> str:
    (here / "corpus.txt").write_text(CORPUS)
    return "corpus.txt"


def test_new_tokens(run: Run, here: Path, corpus: str) -> None:
    run("train", corpus, "-o", "start.json", "--vocab-size", "270", "--special-token", "<a>")
    start = jeton.load("start.json")
    more = ["--start-from", "start.json", "--new-tokens", "7", "--special-token", "<b>"]
    assert run("train", corpus, "-o", "more.json", *more).stdout == "more.json\n"
    tok = jeton.load("more.json")
    assert tok.vocab_size == start.vocab_size + 7
    assert {token: tok.vocab[token] for token in start.vocab} == start.vocab
    several = ["--start-from", "start.json", "--new-tokens", "2", "--new-tokens", "4"]
    shown = run("train", corpus, "-o", "more.json", *several).stdout
    assert shown == "more-272.json\nmore-274.json\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--new-tokens", "3"], "goes with --start-from"),
        (["--new-tokens", "3", "--start-from", "x.json", "--vocab-size", "9"], "without"),
        (["--new-tokens", "0", "--start-from", "x.json"], "0 is not in the range"),
        (["--new-tokens", "3", "--start-from", "x.json", "--kind", "unigram"], "for --kind bpe"),
    ],
)
def test_new_tokens_that_make_no_sense(
    run: Run, here: Path, corpus: str, options: list[str], message: str
) -> None:
    jeton.BPETrainer(260).train(CORPUS.splitlines()).save("x.json")
    assert message in run("train", corpus, "-o", "y.json", *options, code=2).stderr
    assert not (here / "y.json").exists()


def test_a_start_that_is_not_there(run: Run, corpus: str) -> None:
    options = ["--new-tokens", "3", "--start-from", "nothing.json"]
    assert "no such file" in error_of(run("train", corpus, "-o", "y.json", *options, code=1))


def test_sizes_are_those_of_python(run: Run, here: Path, corpus: str) -> None:
    told = run("train", corpus, "-o", "u.json", "--kind", "unigram", code=1).stderr
    assert "vocab_size 8000 " in told
    told = run("train", corpus, "-o", "b.json").stderr
    assert "vocab_size=30,000 was not reached" in told
    shown = " ".join(run("train", "--help").stdout.split())
    assert "[default: 30000; for Unigram, 8000]" in shown


@pytest.mark.parametrize(
    ("name", "style"), [("u.json", "huggingface"), ("u.model", "sentencepiece")]
)
def test_the_style_of_a_unigram_is_told(
    run: Run, here: Path, corpus: str, name: str, style: str
) -> None:
    options = ["--kind", "unigram", "--vocab-size", "30"]
    result = run("train", corpus, "-o", name, *options)
    assert f"style: {style}, as a {Path(name).suffix} holds it" in result.stderr
    assert result.stdout == f"{name}\n"
    assert "the ending also sets the style" in " ".join(run("train", "--help").stdout.split())
    assert "style" not in run("train", corpus, "-o", f"2{name}", *options, "--quiet").stderr
