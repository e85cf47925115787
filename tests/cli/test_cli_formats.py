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


PARTED = "\ufefflow lower\n\ntwo\nlines\n\n\n\nplain"


def test_documents_between_a_text_are_the_same_from_a_file_and_standard_input(
    run: Run, tok: jeton.Tokenizer
) -> None:
    documents = PARTED.removeprefix("\ufeff").split("\n\n")
    counts = "".join(f"{number}\n" for number in tok.count_batch(documents))
    ids = "".join(" ".join(map(str, row)) + "\n" for row in tok.encode_batch(documents))
    data = PARTED.encode()
    Path("a.txt").write_bytes(data)
    Path("a.xz").write_bytes(lzma.compress(data))
    packed = lzma.compress(data)
    for path, given in (("a.txt", b""), ("a.xz", b""), ("-", data), ("-", packed)):
        options = [path, "--split-on", r"\n\n"]
        assert run("count", "tok.json", *options, "--each", input=given).stdout == counts
        assert run("encode", "tok.json", *options, input=given).stdout == ids
        table = run("count", "tok.json", *options, input=given).stdout
        assert "documents" in table and " 4 " in table
    run("prepare", "tok.json", "a.txt", "-o", "set", "--no-end-of-text", "--split-on", r"\n\n")
    manifest = json.loads(Path("set/manifest.json").read_text())
    assert manifest["tokens"] == sum(tok.count_batch(documents))


@pytest.mark.parametrize("options", [[], ["--lines"], ["--field", "t"]], ids=str)
def test_standard_input_is_read_as_a_file_is(
    run: Run, tok: jeton.Tokenizer, options: list[str]
) -> None:
    data = b'\xef\xbb\xbf{"t": "low"}\r\n\n{"t": "lower"}'
    Path("a.txt").write_bytes(data)
    from_file = run("encode", "tok.json", "a.txt", *options).stdout
    assert run("encode", "tok.json", *options, input=data).stdout == from_file


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--split-on", ""], "--split-on needs the text between two documents"),
        (["--split-on", "x", "--lines"], "--split-on goes without --lines and --field"),
        (["--split-on", "x", "--field", "a"], "--split-on goes without --lines and --field"),
        (["--split-on", "x", "--text", "b"], "--text goes without"),
    ],
)
def test_options_for_documents_exclude_each_other(
    run: Run, tok: jeton.Tokenizer, options: list[str], message: str
) -> None:
    assert message in run("count", "tok.json", *options, code=2).stderr


STREAMS = {
    "late NUL": (b"text\n" * 40_000 + b"a\0", "NUL"),
    "UTF-16": ("東京".encode("utf-16"), "UTF-16"),
    "zip": (b"PK\x03\x04rest", "a ZIP archive"),
}


@pytest.mark.parametrize("options", [[], ["--lines"], ["--split-on", "x"]], ids=str)
@pytest.mark.parametrize("name", STREAMS)
def test_standard_input_that_is_not_text_is_refused(
    run: Run, tok: jeton.Tokenizer, name: str, options: list[str]
) -> None:
    data, message = STREAMS[name]
    done = run("count", "tok.json", "-", "--invalid", "replace", *options, input=data, code=1)
    assert message in error_of(done)
