"""`jeton fetch`: the files of known names, found, fetched, copied for another machine."""

from __future__ import annotations

from pathlib import Path

import pytest

import jeton
from command_line import Run, error_of, here, run
from jeton.files import digest_of
from shared_data import VOCABULARIES, needed


def test_files_that_are_here_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = needed(VOCABULARIES / "cl100k_base.tiktoken")
    monkeypatch.setenv("JETON_DATA_DIR", str(VOCABULARIES))
    monkeypatch.setenv("JETON_OFFLINE", "1")
    assert run("fetch", "cl100k_base", "gpt-4").stdout.splitlines() == [str(ranks)] * 2
    assert len(run("fetch", "gpt2").stdout.splitlines()) == 2


def test_copies_are_found_on_another_machine(
    run: Run,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed(VOCABULARIES / "gpt2_vocab.json")
    monkeypatch.setenv("JETON_DATA_DIR", str(VOCABULARIES))
    for _ in range(2):  # what is there already, and the same, is left
        told = run("fetch", "gpt2", "--folder", "data").stdout.splitlines()
        assert told == ["data/gpt2_vocab.json", "data/gpt2_merges.txt"]
    monkeypatch.setenv("JETON_DATA_DIR", str(here / "data"))
    monkeypatch.setenv("JETON_OFFLINE", "1")
    monkeypatch.setenv("JETON_CACHE_DIR", str(here / "empty"))
    assert jeton.load("gpt2").encode("hello world") == [31373, 995]
    (here / "data" / "gpt2_merges.txt").write_text("mine")
    monkeypatch.setenv("JETON_DATA_DIR", str(VOCABULARIES))
    assert "gpt2_merges.txt" in error_of(run("fetch", "gpt2", "--folder", "data", code=1))
    assert (here / "data" / "gpt2_merges.txt").read_text() == "mine"
    run("fetch", "gpt2", "--folder", "data", "--force")
    copy = here / "data" / "gpt2_merges.txt"
    assert digest_of(copy) == digest_of(VOCABULARIES / "gpt2_merges.txt")


def test_missing_files_and_unknown_names_are_errors(
    run: Run,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("JETON_DATA_DIR", raising=False)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("JETON_CACHE_DIR", str(here / "empty"))
    monkeypatch.setenv("JETON_OFFLINE", "1")
    told = error_of(run("fetch", "o200k_base", code=1))
    assert "o200k_base.tiktoken" in told and str(here / "empty") in told
    assert "did you mean 'gpt2'" in error_of(run("fetch", "gtp2", code=1))
    run("fetch", code=2)
