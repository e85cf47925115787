"""Inputs of preparing: the same documents in every form make the same set."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.corpora import tables
from jeton.data import AUTO, Conversations, TokenDataset, prepare
from jeton.data.preparing.records import RecordTable
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    EncodeError,
    FormatError,
    JetonError,
    MissingFileError,
    TrainingWarning,
    UnsupportedError,
)
from prepared import END, contents, documents, flat, rows, tokenizer, tokens_of, without_waiting

pytestmark = pytest.mark.usefixtures(without_waiting.__name__)

TOK = tokenizer()
TEXTS = [text for text in documents(120) if "\n" not in text]


def _jsonl(texts: list[str], name: str = "text") -> bytes:
    return "".join(json.dumps({"n": 1, name: text}) + "\n" for text in texts).encode()


def _file(folder: Path, name: str, contents: bytes) -> Path:
    (folder / name).write_bytes(contents)
    return folder / name


def _zstandard(contents: bytes) -> bytes:
    compressed: bytes = pytest.importorskip("pyarrow").compress(contents, "zstd", asbytes=True)
    return compressed


def _parquet(folder: Path, texts: list[str | None], **options: Any) -> Path:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        pa.table({"id": range(len(texts)), "text": texts}), folder / "a.parquet", **options
    )
    return folder / "a.parquet"


def _several(folder: Path) -> Path:
    (folder / "in").mkdir()
    _file(folder / "in", "a.jsonl", _jsonl(TEXTS[:20]))
    _file(folder / "in", "b.txt", "\n".join(TEXTS[20:50]).encode())
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.table({"text": TEXTS[50:80]}), folder / "in" / "c.parquet"
    )
    _file(folder / "in", "d.jsonl.gz", gzip.compress(_jsonl(TEXTS[80:])))
    return folder / "in"


def _dataset() -> Any:
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_dict({"id": list(range(len(TEXTS))), "text": TEXTS})


def _nested() -> Any:
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_dict({"record": [{"text": text} for text in TEXTS]})


def _transformed() -> Any:
    """A data set whose rows a function makes of what its table holds."""
    datasets = pytest.importorskip("datasets")
    backwards = datasets.Dataset.from_dict({"text": [text[::-1] for text in TEXTS]})
    return backwards.with_transform(lambda rows: {"text": [text[::-1] for text in rows["text"]]})


FORMS: dict[str, Callable[[Path], tuple[Any, dict[str, Any]]]] = {
    "lines": lambda at: (_file(at, "a.txt", "\n".join(TEXTS).encode()), {"documents": "line"}),
    "lines with a newline at the end": lambda at: (
        _file(at, "a.txt", "".join(text + "\n" for text in TEXTS).encode()),
        {"documents": "line"},
    ),
    "lines behind a byte order mark": lambda at: (
        _file(at, "a.txt", b"\xef\xbb\xbf" + "\n".join(TEXTS).encode()),
        {"documents": "line"},
    ),
    "lines in gzip": lambda at: (
        str(_file(at, "a.txt.gz", gzip.compress("\n".join(TEXTS).encode()))),
        {"documents": "line"},
    ),
    "JSON lines": lambda at: (_file(at, "a.jsonl", _jsonl(TEXTS)), {}),
    "JSON lines with blank ones": lambda at: (
        _file(at, "a.jsonl", _jsonl(TEXTS).replace(b"\n", b"\n\n \n")),
        {},
    ),
    "JSON lines of another field": lambda at: (
        _file(at, "a", _jsonl(TEXTS, "body")),
        {"field": "body"},
    ),
    "JSON lines in Zstandard": lambda at: (
        _file(at, "a.jsonl.zst", _zstandard(_jsonl(TEXTS))),
        {},
    ),
    "Parquet": lambda at: (_parquet(at, [*TEXTS]), {}),
    "Parquet in row groups": lambda at: (_parquet(at, [*TEXTS], row_group_size=7), {}),
    "a pattern": lambda at: (_pattern(at), {}),
    "a folder of several forms": lambda at: (_several(at), {"documents": "line"}),
    "an iterable": lambda at: (iter(TEXTS), {}),
    "a generator of records": lambda at: (({"text": text} for text in TEXTS), {}),
    "records of another field": lambda at: ([{"body": text} for text in TEXTS], {"field": "body"}),
    "a data set": lambda at: (_dataset(), {}),
    "a data set that streams": lambda at: (_dataset().to_iterable_dataset(), {}),
    "a column of a data set": lambda at: (_dataset()["text"], {}),
    "a column within a column": lambda at: (_nested()["record"]["text"], {}),
    "a column that streams": lambda at: (_dataset().to_iterable_dataset()["text"], {}),
    "a data set of a function": lambda at: (_transformed(), {}),
    "a column of a function": lambda at: (_transformed()["text"], {}),
    "a table of Arrow": lambda at: (
        pytest.importorskip("pyarrow").table({"n": range(len(TEXTS)), "text": TEXTS}),
        {},
    ),
    "a column of Arrow": lambda at: (pytest.importorskip("pyarrow").array(TEXTS), {}),
    "a frame of polars": lambda at: (
        pytest.importorskip("polars").DataFrame({"n": 1, "text": TEXTS}),
        {},
    ),
    "a series of pandas": lambda at: (pytest.importorskip("pandas").Series(TEXTS), {}),
}


def _pattern(folder: Path) -> str:
    half = len(TEXTS) // 2
    _file(folder, "0.jsonl", _jsonl(TEXTS[:half]))
    _file(folder, "1.jsonl", _jsonl(TEXTS[half:]))
    return str(folder / "?.jsonl")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_makes_the_same_set(tmp_path: Path, form: str) -> None:
    data, options = FORMS[form](tmp_path)
    manifest = prepare(data, TOK, tmp_path / "out", validation=0.3, split="hash", **options)
    prepare(list(TEXTS), TOK, tmp_path / "same", validation=0.3, split="hash")
    sets = [contents(tmp_path / name) for name in ("out", "same")]
    for files in sets:
        del files["manifest.json"]
    assert sets[0] == sets[1]
    assert manifest.documents == sum(map(bool, TEXTS))
    assert manifest.empty_documents == sum(not text for text in TEXTS)


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TOK.save(tmp_path / "tok.json")
    command = [
        sys.executable,
        "-m",
        "jeton",
        "prepare",
        "tok.json",
        "-",
        "-o",
        "out",
        "--documents",
        "line",
    ]
    done = subprocess.run(command, cwd=tmp_path, input="\n".join(TEXTS).encode(), check=True)
    assert done.returncode == 0
    assert tokens_of(tmp_path / "out") == flat(rows(TOK, TEXTS))


def test_whole_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number, text in enumerate(TEXTS[:30]):
        _file(tmp_path / "in", f"{number:02}.txt", f"{text}\n{text}\n".encode())
    prepare(tmp_path / "in", TOK, tmp_path / "out")
    assert tokens_of(tmp_path / "out") == flat(
        rows(TOK, [f"{text}\n{text}\n" for text in TEXTS[:30]])
    )


def test_data_of_its_own_validates(tmp_path: Path) -> None:
    validation = _file(tmp_path, "v.jsonl", _jsonl(TEXTS[:9]))
    manifest = prepare(TEXTS, TOK, tmp_path / "out", validation=validation, shuffle=1)
    assert sorted(tokens_of(tmp_path / "out")) == sorted(flat(rows(TOK, TEXTS)))
    assert tokens_of(tmp_path / "out", "val") == flat(rows(TOK, TEXTS[:9]))
    assert [entry.get("split") for entry in manifest.inputs] == [None, "val"]
    assert manifest.documents == sum(map(bool, TEXTS)) + sum(map(bool, TEXTS[:9]))
    assert len(manifest.inputs[1]["sha256"]) == 64


def test_nulls_and_empty_texts_are_no_documents(tmp_path: Path) -> None:
    lines = b'{"text": null}\n{"text": ""}\n{"text": "to be"}\n'
    inputs = [
        _file(tmp_path, "a.jsonl", lines),
        _parquet(tmp_path, [None, "", "to be"]),
    ]
    manifest = prepare(inputs, TOK, tmp_path / "out")
    assert (manifest.documents, manifest.empty_documents) == (2, 4)
    assert tokens_of(tmp_path / "out") == flat(rows(TOK, ["to be", "to be"]))


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    raw = [b"caf\xe9", b"to be"]
    data: dict[str, Any] = {
        "text": _file(tmp_path, "a.txt", b"\n".join(raw)),
        "column": pa.array(raw),
    }
    for name, given in data.items():
        options: dict[str, Any] = {"documents": "line"} if name == "text" else {}
        with pytest.raises(FormatError, match=r"not UTF-8 at byte 3.*set errors="):
            prepare(given, TOK, tmp_path / name, **options)
        for errors in ("replace", "ignore"):
            out = tmp_path / f"{name} {errors}"
            prepare(given, TOK, out, errors=errors, **options)
            texts = [text.decode(errors=errors) for text in raw]
            assert tokens_of(out) == flat(rows(TOK, texts))


def test_special_tokens_in_documents_are_text(tmp_path: Path) -> None:
    prepare([f"{END}<|user|>"], TOK, tmp_path)
    ids = tokens_of(tmp_path)
    assert ids.count(TOK.special_tokens[END]) == 1
    assert TOK.decode(ids) == f"{END}<|user|>{END}"


def test_a_file_twice_is_read_once(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.jsonl", _jsonl(TEXTS))
    with pytest.warns(TrainingWarning, match="more than once"):
        manifest = prepare([path, path], TOK, tmp_path / "out")
    assert len(manifest.inputs) == 1


CHARACTERS = jeton.CharTrainer().train("to be or not to be")

BAD: dict[str, tuple[Callable[[Path], Any], dict[str, Any], type[Exception], str]] = {
    "no such file": (lambda at: at / "no", {}, MissingFileError, "there is no such file"),
    "a text for a path": (
        lambda at: "to be or not",
        {},
        MissingFileError,
        "if it is a text, pass it in a list",
    ),
    "paths as texts": (
        lambda at: [str(_file(at, "a", b"x"))],
        {},
        ArgumentError,
        "wrap them in pathlib.Path",
    ),
    "paths and texts": (lambda at: [at, "x"], {}, ArgumentTypeError, "paths and other items"),
    "a number": (lambda at: 7, {}, ArgumentTypeError, "data must be a path"),
    "bytes": (lambda at: b"to be", {}, ArgumentTypeError, "data must be a path"),
    "a mapping": (lambda at: {"to": "be"}, {}, ArgumentTypeError, "data must be a path"),
    "numbers": (lambda at: ["to", 7], {}, ArgumentTypeError, "document 1 must be a str"),
    "records without the field": (
        lambda at: [{"texts": "to be"}],
        {},
        ArgumentError,
        "document 0 has no field 'text' \\(did you mean 'texts'",
    ),
    "a table without the column": (
        lambda at: pytest.importorskip("pyarrow").table({"a": ["x"], "b": ["y"]}),
        {},
        ArgumentError,
        "no column 'text' \\(it has a, b\\)",
    ),
    "a column of numbers": (
        lambda at: pytest.importorskip("pyarrow").array([1, 2]),
        {"bad_records": "drop"},
        FormatError,
        "data: column 'text' holds int64, not text",
    ),
    "a dict of data sets": (
        lambda at: pytest.importorskip("datasets").DatasetDict({"train": _dataset()}),
        {},
        ArgumentError,
        "has the splits 'train': pass one",
    ),
    "lines of an iterable": (
        lambda at: ["to"],
        {"documents": "line"},
        ArgumentError,
        "documents is for files",
    ),
    "JSON that is none": (
        lambda at: _file(at, "a.jsonl", b'{"text": "a"}\n{"text": \n'),
        {},
        FormatError,
        r"a\.jsonl: line 2: no JSON object",
    ),
    "JSON without the field": (
        lambda at: _file(at, "a.jsonl", b'{"texts": "a"}\n'),
        {},
        FormatError,
        'did you mean "texts"',
    ),
    "gzip that is cut": (
        lambda at: _file(at, "a.txt.gz", gzip.compress(os.urandom(5000))[:-20]),
        {},
        JetonError,
        r"a\.txt\.gz",
    ),
    "Parquet that is none": (
        lambda at: _file(at, "a.parquet", b"PAR1 no more"),
        {},
        FormatError,
        "not a Parquet file",
    ),
    "Parquet that was not fetched": (
        lambda at: _file(at, "a.parquet", b"version https://git-lfs.github.com/spec/v1\noid 1\n"),
        {},
        FormatError,
        r"a\.parquet: this is a Git LFS pointer",
    ),
    "Parquet without rows": (
        lambda at: _parquet(at, []),
        {},
        ArgumentError,
        "there is no document for training",
    ),
    "nothing": (
        lambda at: [],
        {},
        ArgumentError,
        "there is no document for training, the split 'train'",
    ),
    "nothing but empty texts": (lambda at: ["", ""], {}, ArgumentError, r"left out \(2 empty\)"),
    "nothing but bad records": (
        lambda at: _file(at, "a.jsonl", b'{"text": "a", "n": 1}\n{"text": 1, "n": 2}\n[]\n'),
        {"bad_records": "drop", "filter": "n > 1"},
        ArgumentError,
        r"\(1 left out by filters, 2 bad\); the first bad record is .*a\.jsonl: line 2: ",
    ),
    "a table with fields for texts": (
        lambda at: pytest.importorskip("pyarrow").table({"text": [{"a": "to be"}], "id": [1]}),
        {},
        FormatError,
        "data: column 'text' holds struct<a: string>, not text",
    ),
    "a frame with two columns of one name": (
        lambda at: pytest.importorskip("pandas").DataFrame([["a", "b"]], columns=["text", "text"]),
        {},
        ArgumentError,
        "cannot be read as a column of Arrow: Duplicate column names",
    ),
    "too little to validate": (
        lambda at: ["to be", ""],
        {"validation": 0.001, "split": "hash"},
        ArgumentError,
        "there is no document for validation, the split 'val': there is too little data",
    ),
    "a share of more than all": (
        lambda at: ["to be"],
        {"validation": 1.5},
        ArgumentError,
        "must be between 0 and 1",
    ),
    "a share that is no number": (
        lambda at: ["to be"],
        {"validation": float("nan")},
        ArgumentError,
        "must be between 0 and 1",
    ),
    "a split by luck": (lambda at: ["to"], {"split": "luck"}, ArgumentError, "split must be"),
    "no such layout": (
        lambda at: ["to"],
        {"layout": "nanogtp"},
        ArgumentError,
        "did you mean 'nanogpt'",
    ),
    "a seed below 0": (lambda at: ["to"], {"shuffle": -1}, ArgumentError, "at least 0"),
    "no memory": (lambda at: ["to"], {"memory": "1kB"}, ArgumentError, "smallest budget"),
    "part 0": (lambda at: ["to"], {"part": (0, 2)}, ArgumentError, "the part must be at least 1"),
    "a part behind the last": (
        lambda at: ["to"],
        {"part": (3, 2)},
        ArgumentError,
        "no part 3 of 2",
    ),
    "half a part": (lambda at: ["to"], {"part": 3}, ArgumentTypeError, "part must be a pair"),
    "more parts than files": (
        lambda at: _file(at, "a.txt", b"x"),
        {"part": (1, 2)},
        ArgumentError,
        "1 files cannot be divided into 2 parts",
    ),
    "a part of an iterable": (
        lambda at: iter(["to"]),
        {"part": (1, 2)},
        ArgumentError,
        "only files, tables and lists have parts",
    ),
    "a field that is no name": (
        lambda at: ["to"],
        {"field": 3},
        ArgumentTypeError,
        "field must be",
    ),
    "errors by luck": (lambda at: ["to"], {"errors": "luck"}, ArgumentError, "errors cannot be"),
    "a watch that cannot be called": (
        lambda at: ["to"],
        {"watch": 3},
        ArgumentTypeError,
        "watch must be callable",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(tmp_path: Path, name: str) -> None:
    make, options, error, told = BAD[name]
    with pytest.raises(error, match=told):
        prepare(make(tmp_path), TOK, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_texts_without_tokens(tmp_path: Path) -> None:
    lines = _file(tmp_path, "a.txt", b"to be\nor what\n")
    with pytest.raises(EncodeError, match=r"a\.txt: line 2: 'w' at position 3 is not one of the"):
        prepare(lines, CHARACTERS, tmp_path / "out", end_of_text=None, documents="line")
    with pytest.raises(EncodeError, match=r"document 1: 'w' at position 0"):
        prepare(["to be", "what"], CHARACTERS, tmp_path / "out", end_of_text=None)


END_OF_TEXT: dict[str, tuple[list[str], Any, str | None]] = {
    "the known one": (["<|endoftext|>", "<|user|>"], AUTO, "<|endoftext|>"),
    "another known one": (["<s>", "</s>"], AUTO, "</s>"),
    "none that is known": (["<|user|>"], AUTO, "has no known end-of-text token; its special"),
    "none at all": ([], AUTO, "has no known end-of-text token \\(pass the token"),
    "two": (["<|endoftext|>", "</s>"], AUTO, "has several end-of-text tokens, <|endoftext|>, </s>"),
    "one that is named": (["<|endoftext|>", "</s>"], "</s>", "</s>"),
    "a token that is not special": ([], "e", "e"),
    "one by its id": (["<s>", "</s>"], 1, "</s>"),
    "one that is misspelled": (["<|endoftext|>"], "<|endotext|>", "did you mean '<|endoftext|>'"),
    "an id that is none": ([], 5000, "end_of_text=5000 is not a token"),
    "an id below 0": ([], -1, "must be at least 0"),
    "nothing": (["<|endoftext|>"], None, None),
    "a truth": ([], True, "must be a token, its id or None, not bool"),
}


@pytest.mark.parametrize("name", END_OF_TEXT)
def test_the_token_that_parts_documents(tmp_path: Path, name: str) -> None:
    special, given, told = END_OF_TEXT[name]
    tok = jeton.BPETrainer(300, special_tokens=special).train(["to be or not to be"])
    try:
        end = prepare(["to be"], tok, tmp_path, end_of_text=given).end_of_text
    except JetonError as error:
        assert told is not None and re.search(told.replace("|", "\\|"), str(error)), error
    else:
        assert (None if end is None else end["token"]) == told


def test_a_tokenizer_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="tokenizer must be a Tokenizer, not str"):
        prepare(["to be"], "gpt2", tmp_path)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="folder must be a path"):
        prepare(["to be"], TOK, 3)  # type: ignore[arg-type]


@pytest.mark.large
def test_a_table_with_a_vast_text_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """13 kB of a table hold a text of 400 MB."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a" * 80_000_000]}), path, compression="zstd")
    assert path.stat().st_size < 20_000
    for call in (
        lambda: prepare(path, TOK, tmp_path / "out"),
        lambda: jeton.CharTrainer().train(path),
        lambda: prepare(
            path, TOK, tmp_path / "out", messages=Conversations("text", template="chatml")
        ),
    ):
        tracemalloc.start()
        try:
            with pytest.raises(
                UnsupportedError, match=r"row group 0 has a text of more than 67 MB"
            ):
                call()
            assert tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()
    assert not (tmp_path / "out").exists()


@pytest.mark.large
def test_a_vast_text_among_others_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(tables, "_LONGEST_CELL", 10_000)
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": [*(["to be"] * 100), "a" * 20_000]}), path)
    with pytest.raises(UnsupportedError, match=r"^\S+a\.parquet: one of 1 rows has a"):
        prepare(path, TOK, tmp_path / "out")
    # A text that the file holds once may be that of many rows.
    parquet.write_table(pa.table({"text": ["ab" * 4_000] * 3_000}), path)
    assert path.stat().st_size < 10_000
    sizes = [
        column.nbytes for column in tables.ParquetColumn(path, "text", "strict").columns(1_000)
    ]
    assert len(sizes) > 10 and max(sizes) < 300 * 8_000
    assert prepare(path, TOK, tmp_path / "out").documents == 3_000
    # So fewer rows are decoded at a time where it is long.
    monkeypatch.setattr(tables, "_LONGEST_CELL", 100_000)
    table = tables.ParquetColumn(path, "text", "strict")
    assert max(column.nbytes for column in table.columns(20_000)) < 110_000
    assert [*table.texts(1 << 30)] == ["ab" * 4_000] * 3_000
    messages = [[{"role": "user", "content": "ab" * 4_000}]] * 99
    parquet.write_table(pa.table({"messages": messages}), tmp_path / "b.parquet")
    assert RecordTable(tmp_path / "b.parquet", ["messages"])._max_rows == 12


def test_a_damaged_name_of_a_column(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["to be"], "other": ["a"]}), path, store_schema=False)
    content = path.read_bytes()
    for at in (m.start() for m in re.finditer(b"other", content)):
        path.write_bytes(content[:at] + b"\xff" + content[at + 1 :])
        with contextlib.suppress(JetonError):
            prepare(path, TOK, tmp_path / "out")
        for messages in ("text", "other"):
            with pytest.raises(JetonError):
                prepare(path, TOK, tmp_path / "out2", messages=messages)


@pytest.mark.parametrize("compression", ["zstd", "snappy", "none"])
def test_the_size_of_a_dictionary_is_read(tmp_path: Path, compression: str) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    for size in (1, 30, 60, 100, 5_000, 3_000_000):
        table = pa.table({"text": ["a" * size] * 9})
        parquet.write_table(table, path, compression=compression, dictionary_pagesize_limit=1 << 30)
        with path.open("rb") as file:
            part = parquet.read_metadata(path).row_group(0).column(0)
            assert tables._dictionary_size(file, part) == size + 4
    parquet.write_table(table, path, use_dictionary=False)
    with path.open("rb") as file:
        part = parquet.read_metadata(path).row_group(0).column(0)
        assert tables._dictionary_size(file, part) == 0


def test_a_small_file_that_unpacks_to_a_vast_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(tables, "_LONGEST_CELL", 25_000)
    path = tmp_path / "a.parquet"
    texts = ["to be"] * 1_000 + ["a" * 20_000] * 50
    parquet.write_table(pa.table({"text": texts}), path, use_dictionary=False, compression="zstd")
    with pytest.raises(
        UnsupportedError, match=r"a\.parquet: row group 0 has 1,\d+,\d+ bytes of text"
    ):
        prepare(path, TOK, tmp_path / "out")
    parquet.write_table(pa.table({"text": texts}), path, use_dictionary=False, compression="none")
    assert prepare(path, TOK, tmp_path / "out").documents == 1_050


def test_a_share_of_several_files_is_drawn_from_all(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "abcdefgh":
        (folder / f"{name}.txt").write_text("".join(f"{name} {n}\n" for n in range(50)))
    options: dict[str, Any] = {"documents": "line", "validation": 0.2}
    manifest = prepare(folder, TOK, tmp_path / "all", **options)
    by_hash = prepare(folder, TOK, tmp_path / "hash", split="hash", **options)
    assert manifest.options["validation"]["by"] == "hash" and manifest.splits == by_hash.splits
    validation = TokenDataset(tmp_path / "all", split="val")
    assert {validation.decode(slice(0, len(validation)))[0]} <= set("abcdefgh")
    texts = [TOK.decode(document) for document in validation.documents]
    assert len({text[0] for text in texts}) == 8
    one = prepare(folder / "a.txt", TOK, tmp_path / "one", **options)
    assert one.options["validation"]["by"] == "cut"


def test_documents_are_parted_by_a_text(tmp_path: Path) -> None:
    texts = ["the first\n\nstory", "", "the second", "the <|end", "third 東京"]
    path = tmp_path / "in.txt"
    for separator in ("<|endoftext|>", "\n---\n"):
        path.write_text("\ufeff" + separator.join(texts), "utf-8")
        folder = tmp_path / str(len(separator))
        manifest = prepare(path, TOK, folder, documents=separator, end_of_text=None)
        assert (manifest.documents, manifest.empty_documents) == (4, 1)
        documents = TokenDataset(folder).documents
        assert [TOK.decode(document) for document in documents] == [it for it in texts if it]
        counts = jeton.BPETrainer(300).count(path, documents=separator)
        assert counts == jeton.BPETrainer(300).count(texts)


def test_records_that_are_left_out_are_named(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"text": "the"}\n[]\n\n{"text": "\xff"}\n{"text": 1}\n{"text": "there"}\n')
    manifest = prepare(path, TOK, tmp_path / "out", bad_records="drop")
    lines = (tmp_path / "out" / "dropped.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert [(record["path"], record["line"]) for record in records] == [
        (str(path), 2),
        (str(path), 4),
        (str(path), 5),
    ]
    assert all(record["reason"] for record in records)
    assert manifest.bad_documents == 3 and "dropped.jsonl" in manifest.files
