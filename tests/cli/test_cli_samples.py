"""`jeton samples`: the texts that ship with jeton, listed, shown and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Run, error_of, here, run
from jeton import samples


def test_names_are_listed(run: Run) -> None:
    listed = [line.split()[0] for line in run("samples").stdout.splitlines()]
    assert listed == list(samples.NAMES)


def test_a_text_is_shown_as_it_is(run: Run) -> None:
    assert run("samples", "figures").stdout_bytes == samples.read("figures").encode()


def test_texts_are_written(run: Run, here: Path) -> None:
    assert run("samples", "-o", "corpus").stdout.split() == [
        f"corpus/{name}.txt" for name in samples.NAMES
    ]
    for name, text in samples.read_all().items():
        assert (here / "corpus" / f"{name}.txt").read_bytes() == text.encode()
    run("samples", "essays", "-o", "one.txt")
    assert (here / "one.txt").read_bytes() == samples.read("essays").encode()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-o", "kept.txt"), "kept.txt: is not a folder (name a text to write one file)"),
        (("essays", "-o", "kept.txt"), "kept.txt: exists already"),
        (("-o", "no/such"), "no: no such folder to write into"),
        (("essays", "-o", "no/such.txt"), "no: no such folder to write into"),
        (("essays", "-o", "."), ".: is a folder"),
    ],
)
def test_unwritable_targets_are_errors(
    arguments: tuple[str, ...], says: str, run: Run, here: Path
) -> None:
    (here / "kept.txt").write_text("kept")
    assert error_of(run("samples", *arguments, code=1)).startswith(says)
    assert (here / "kept.txt").read_text() == "kept"
    assert run("samples", "essays", "-o", "kept.txt", "--force").stdout == "kept.txt\n"


def test_an_unknown_name_is_a_usage_error(run: Run) -> None:
    assert "'essay'" in run("samples", "essay", code=2).stderr
