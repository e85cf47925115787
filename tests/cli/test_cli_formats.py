"""Commands read the same texts from every format, and refuse what is not text."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path

import pytest

import jeton
from command_line import Run, error_of, here, run

TEXTS = ['low, "lower"', "two lines", "déjà\tvu", "plain"]
LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
QUOTED = "".join('1,"' + text.replace('"', '""') + '"\r\n' for text in TEXTS)
TABBED = "".join('1\t"' + text.replace('"', '""') + '"\r\n' for text in TEXTS)
FORMS = {
    "a.csv": b"id,text\r\n" + QUOTED.encode(),
    "b.tsv": b"id\ttext\r\n" + TABBED.encode(),
    "c.csv.xz": lzma.compress(b"id,text\r\n" + QUOTED.encode()),
    "d.jsonl": LINES,
}


def tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return file.getvalue()


@pytest.fixture
def tok(here: Path) -> jeton.Tokenizer:
    tok = jeton.BPETrainer(300).train(["low lower two lines plain"] * 3)
    tok.save("tok.json")
    return tok


@pytest.mark.parametrize("name", FORMS)
def test_records_are_the_documents(run: Run, tok: jeton.Tokenizer, name: str) -> None:
    Path(name).write_bytes(FORMS[name])
    total = f"{sum(tok.count_batch(TEXTS))}\n"
    assert run("count", "tok.json", name, "--field", "text", "--total").stdout == total
    assert run("count", "tok.json", name, "--total").stdout == total
    run("prepare", "tok.json", name, "-o", "set", "--no-end-of-text")
    assert json.loads(Path("set/manifest.json").read_text())["documents"] == len(TEXTS)


@pytest.mark.parametrize(
    "command",
    [
        ["count", "tok.json", "a.tar"],
        ["encode", "tok.json", "a.tar"],
        ["train", "a.tar", "-o", "t.json"],
        ["prepare", "tok.json", "a.tar", "-o", "set", "--no-end-of-text"],
        ["compare", "tok.json", "--corpus", "a.tar"],
        ["inspect", "tok.json", "a.tar"],
    ],
    ids=lambda command: command[0],
)
def test_archives_are_refused_by_name(run: Run, tok: jeton.Tokenizer, command: list[str]) -> None:
    Path("a.tar").write_bytes(tar())
    assert "a.tar: this is a tar archive, not text" in error_of(run(*command, code=1))


def test_standard_input_with_nul_bytes_is_refused(run: Run, tok: jeton.Tokenizer) -> None:
    assert "NUL" in error_of(run("count", "tok.json", input=b"a\0", code=1))
