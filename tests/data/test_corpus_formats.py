"""Every reader of corpora reads CSV, TSV and xz alike, and refuses files that are not text."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import jeton
from jeton import data
from jeton.analysis import evaluate
from jeton.corpora.documents import documents_of
from jeton.errors import FormatError

TEXTS = ['low, "lower"', "two\nlines\r\nhere", "", "déjà\tvu  \\n", "plain", "\u2028 \x1f end"]
TOK = jeton.BPETrainer(300).train(["low lower lowest two lines here plain end"] * 3)


def separated(delimiter: str, texts: list[str] = TEXTS) -> bytes:
    """The texts as a column between others, as Python's `csv` writes it."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow(["id", "text", "note"])
    writer.writerows([number, text, "a,\tb"] for number, text in enumerate(texts))
    return file.getvalue().encode()


LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()

FORMS: dict[str, bytes] = {
    "a.csv": separated(","),
    "b.tsv": separated("\t"),
    "c.CSV.gz": gzip.compress(separated(",")),
    "d.csv.xz": lzma.compress(separated(",")),
    "e.jsonl.xz": lzma.compress(LINES) + lzma.compress(b""),
    "f.csv": b"\xef\xbb\xbf" + separated(","),
    "g.csv": separated(",").replace(b"\r\n", b"\n").replace(b"lines\n", b"lines\r\n").rstrip(),
}


def words_of(path: Path) -> list[tuple[str, int]]:
    return jeton.BPETrainer(300).count(path, field="text").items()


def usage_of(path: Path) -> list[int]:
    return list(TOK.usage(path, field="text").counts)


def measured(path: Path) -> object:
    result = evaluate(TOK, path, field="text")
    measured = result.corpora["corpus"]
    return {name: value for name, value in measured.values.items() if "second" not in value.unit}


def documents(path: Path) -> list[str]:
    return [document.text for document in documents_of([path], field="text")]


def prepared(path: Path) -> list[int]:
    folder = path.with_name(path.name + ".set")
    data.prepare(path, TOK, folder, field="text", end_of_text=None)
    return [int(token) for token in data.TokenDataset(folder)[:]]


READERS: list[Callable[[Path], object]] = [words_of, usage_of, measured, documents, prepared]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FORMS)
def test_each_form_gives_the_texts_of_json_lines(
    tmp_path: Path, name: str, reader: Callable[[Path], object]
) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(LINES)
    form = tmp_path / name
    form.write_bytes(FORMS[name])
    assert reader(form) == reader(lines)


def test_texts_are_those_of_the_csv_module_and_of_pyarrow(tmp_path: Path) -> None:
    arrow_csv = pytest.importorskip("pyarrow.csv")
    path = tmp_path / "a.csv"
    path.write_bytes(FORMS["a.csv"])
    assert documents(path) == TEXTS
    options = arrow_csv.ParseOptions(newlines_in_values=True)
    strings = arrow_csv.ConvertOptions(strings_can_be_null=False)
    table = arrow_csv.read_csv(path, parse_options=options, convert_options=strings)
    assert documents(path) == table["text"].to_pylist()


def tar(names: list[str]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(b"abc"))
    return file.getvalue()


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "abc")
    return file.getvalue()


BINARY = {
    "a.tar": (tar(["a.txt"]), "a tar archive"),
    "a.tar.gz": (gzip.compress(tar(["a.txt", "a.json"])), "a tar archive"),
    "a.txt": (zipped(), "a ZIP archive"),
    "b.txt": (b"text" * 9_000 + b"\0more", "byte 36000 is NUL"),
    "b-late.txt": (b'{"text": "a"}\n' * 399_999 + b"\0", "byte 5599986 is NUL"),
    "b-late.gz": (gzip.compress(b'{"text": "a"}\n' * 9_999 + b"\0"), "byte 139986 is NUL"),
    "b-late.jsonl.xz": (lzma.compress(b'{"text": "a"}\n' * 9_999 + b"\0"), "byte 139986 is NUL"),
    "b-late.csv": (b"text\n" + b"a\n" * 99_999 + b"\0\n", "byte 200003 is NUL"),
    "c.jsonl": (b'{"text": "a\0"}\n', "byte 11 is NUL"),
    "d.csv": ("text\na\n".encode("utf-16"), "UTF-16"),
    "d.gz": (gzip.compress(gzip.compress(b"text")), "compressed, not text"),
    "d32.txt": ("text".encode("utf-32"), "UTF-32"),
    "d.txt": (b"\xff\xfe" + "東京".encode("utf-16-le"), "UTF-16"),
    "e": (b"%PDF-1.7\n", "a PDF"),
    "lfs.parquet": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\n", "Git LFS"),
    "f.txt.xz": (lzma.compress(b"PAR1\x15\x04"), "a Parquet table"),
    "g.txt": (b"BZh91AY&SY\x01", "bzip2"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", BINARY)
def test_files_that_are_not_text_are_refused_by_name(
    tmp_path: Path, name: str, reader: Callable[[Path], object]
) -> None:
    path = tmp_path / name
    path.write_bytes(BINARY[name][0])
    with pytest.raises(FormatError, match=BINARY[name][1]) as caught:
        reader(path)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"id,txt\n1,a\n", 'there is no column "text"; it has id, txt'),
        (b"id;text\n1;a\n", "separate values by commas"),
        (b"id,text\n1\n", "record 1: the record has 1 fields, and the header 2"),
        (b"id,text\n1,a\n2,b,c\n", "record 2: the record has 3 fields"),
        (b'id,text\n1,"a\n', "record 1: a quote is opened and not closed"),
        (b"id,text\n1,\xff\n", "record 1: not UTF-8"),
    ],
)
def test_bad_separated_values_say_where(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        jeton.BPETrainer(300).count(path)


def test_columns_are_suggested(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,texts\n")
    with pytest.raises(FormatError, match=r"did you mean \"texts\""):
        jeton.BPETrainer(300).count(path)


@pytest.mark.parametrize("content", [b"", b"text\n", b"\n\n", b"\xef\xbb\xbf"])
def test_separated_values_without_records_have_no_documents(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    assert documents(path) == []
