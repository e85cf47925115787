"""Records that cannot be read or encoded: left out and counted, or mended before going on."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.data import Conversations, Manifest, TokenDataset, merge, prepare
from jeton.errors import ArgumentError, EncodeError, FileError, FormatError, JetonError
from prepared import contents, flat, looks_whole, often, rows, tokenizer, tokens_of, without_waiting

pytestmark = pytest.mark.usefixtures(without_waiting.__name__, often.__name__)

TOK = tokenizer()
GOOD = ["to be", "or not", "to be, that is", "the question"]


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _json_lines(at: Path) -> Path:
    good = [json.dumps({"text": text}).encode() for text in GOOD]
    bad = [b'{"text": ', b'{"texts": "to"}', b'{"text": 5}', b"5", b'{"text": "\xff"}']
    bad.append(b'{"text": "\\ud800"}')
    return _written(at / "in.jsonl", b"\n".join([bad[0], *good[:2], *bad[1:], b"", *good[2:]]))


def _lines(at: Path) -> Path:
    return _written(at / "in.txt", "\n".join(["\udcff", *GOOD]).encode(errors="surrogateescape"))


def _table(at: Path) -> Path:
    pa = pytest.importorskip("pyarrow")
    raw = [text.encode() for text in [*GOOD[:3], "", *GOOD[3:]]]
    raw[3] = b"\xff\xfe"
    column = pa.array(raw, pa.binary()).view(pa.string())
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.table({"text": column}), at / "in.parquet"
    )
    return at / "in.parquet"


DATA: dict[str, tuple[Callable[[Path], Any], int, dict[str, Any]]] = {
    "JSON lines": (_json_lines, 6, {}),
    "lines": (_lines, 1, {"documents": "line"}),
    "a table": (_table, 1, {}),
    "texts": (lambda at: [*GOOD[:1], 5, None, *GOOD[1:]], 2, {}),
    "records": (
        lambda at: [{"text": text} for text in GOOD] + [{"texts": "to"}, {"text": 5}],
        2,
        {},
    ),
    "a generator": (lambda at: iter([{}, *GOOD]), 1, {}),
}


@pytest.mark.parametrize("more", [{}, {"shuffle": 1}], ids=["in order", "shuffled"])
@pytest.mark.parametrize("name", DATA)
def test_bad_records_are_dropped_and_counted(tmp_path: Path, name: str, more: Any) -> None:
    data, bad, options = DATA[name]
    options = {**options, **more}
    with pytest.raises((FormatError, ArgumentError, TypeError)):
        prepare(data(tmp_path), TOK, tmp_path / "strict", **options)
    assert not (tmp_path / "strict").exists()
    manifest = prepare(data(tmp_path), TOK, tmp_path / "out", bad_records="drop", **options)
    assert (manifest.bad_documents, manifest.documents) == (bad, len(GOOD))
    assert Manifest.read(tmp_path / "out") == manifest
    prepare(GOOD, TOK, tmp_path / "good", **more)
    assert tokens_of(tmp_path / "out") == tokens_of(tmp_path / "good")


@pytest.mark.parametrize("name", ["lines", "JSON lines", "texts"])
def test_documents_that_cannot_be_encoded_are_dropped(tmp_path: Path, name: str) -> None:
    closed = jeton.CharTrainer().train("".join(GOOD))
    texts = [*GOOD[:2], "naïve", "", *GOOD[2:], "日"]
    options: dict[str, Any] = {"end_of_text": None}
    data: Any = texts
    if name != "texts":
        path, is_json = tmp_path / ("in.jsonl" if name != "lines" else "in.txt"), name != "lines"
        path.write_text("".join((json.dumps({"text": t}) if is_json else t) + "\n" for t in texts))
        data, options = path, {**options, "documents": "line"}
    with pytest.raises(EncodeError):
        prepare(data, closed, tmp_path / "strict", **options)
    manifest = prepare(data, closed, tmp_path / "out", bad_records="drop", **options)
    assert (manifest.bad_documents, manifest.empty_documents, manifest.documents) == (2, 1, 4)
    assert tokens_of(tmp_path / "out") == flat(map(closed.encode, GOOD))


def test_a_file_that_is_one_document_is_not_dropped(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="not UTF-8 at byte 2"):
        prepare(_written(tmp_path / "a.txt", b"to\xff"), TOK, tmp_path / "out", bad_records="drop")


def test_bad_records_of_conversations(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="bad_records is for documents that hold a text"):
        prepare([{}], TOK, tmp_path, messages="messages", bad_records="drop")
    with pytest.raises(ArgumentError, match='must be "error" or "drop", not \'skip\''):
        prepare(GOOD, TOK, tmp_path, bad_records="skip")  # type: ignore[arg-type]


RECORDS = [f"record {number} " + "to be or not to be " * 50 for number in range(5_000)]


def _chat(text: str) -> Any:
    return [{"role": "user", "content": text[:9]}, {"role": "assistant", "content": text}]


def _record(text: str, *, chats: bool) -> str:
    return json.dumps({"messages": _chat(text)} if chats else {"text": text}) + "\n"


@pytest.mark.large
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("in.jsonl", {}),
        ("in.jsonl.gz", {"shuffle": 3}),
        ("in.jsonl", {"validation": 0.2}),
        ("chats.jsonl", {"messages": Conversations("messages", template="chatml")}),
    ],
)
def test_a_mended_record_lets_it_go_on(tmp_path: Path, name: str, options: Any) -> None:
    """Only what was read must be the same."""
    chats = name.startswith("chats")
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tok = jeton.BPETrainer(300, special_tokens=special).train(RECORDS[:9])
    texts = RECORDS[:1_500] if chats else RECORDS
    last = len(texts) - 200

    def write(*lines: str) -> None:
        data = "".join(lines).encode()
        _written(tmp_path / name, gzip.compress(data, 1) if name.endswith(".gz") else data)

    def go(out: str = "out") -> Manifest:
        return prepare(tmp_path / name, tok, tmp_path / out, **options)

    good = [_record(text, chats=chats) for text in texts]
    write(*good[:last], "{broken\n", *good[last:])
    with pytest.raises(FormatError, match=rf"line {last + 1}: (no|not a) JSON object"):
        go()
    saved = (tmp_path / "out" / ".preparing" / "state.json").read_text()
    state = json.loads(saved.partition("\n")[0])
    read = state["progress"][1]
    assert 0 < read <= last
    # What was read must be as it was.
    write(good[0].replace("0", "1"), *good[1:])
    with pytest.raises(FileError, match=r"has changed in its first [\d,]+ bytes, which were read"):
        go()
    write(good[0])
    with pytest.raises(FileError, match=r"is shorter than it was|has changed in its first"):
        go()
    assert not looks_whole(tmp_path / "out")
    mended = [*good[:last], _record("mended", chats=chats), *good[last:]]
    write(*mended)
    manifest = go()
    assert manifest.documents == len(texts) + 1
    go("whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert manifest.inputs[0]["bytes"] == (tmp_path / name).stat().st_size


def test_a_choice_that_reads_the_same_goes_on(tmp_path: Path) -> None:
    """What was read under the strictest choice is the same under another."""
    path = tmp_path / "in.jsonl"
    lines = [_record(text, chats=False) for text in RECORDS]
    path.write_text("".join([*lines[:-100], "{broken\n", *lines[-100:]]))
    with pytest.raises(FormatError):
        prepare(path, TOK, tmp_path / "out")
    for errors in ("strict", "replace"):
        with pytest.raises(JetonError, match=r"(no|not a) JSON object"):
            prepare(path, TOK, tmp_path / "out", errors=errors, layout="jeton")
    with pytest.raises(FileError, match="started with errors='replace', not 'ignore'"):
        prepare(path, TOK, tmp_path / "out", errors="ignore", bad_records="drop")
    manifest = prepare(path, TOK, tmp_path / "out", errors="replace", bad_records="drop")
    assert (manifest.documents, manifest.bad_documents) == (len(RECORDS), 1)
    assert manifest.options["bad_records"] == "drop"
    assert tokens_of(tmp_path / "out") == flat(rows(TOK, RECORDS))


def test_files_that_were_read_and_files_that_were_not(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(6):
        lines = [_record(text, chats=False) for text in RECORDS[number::6]]
        (folder / f"{number}.jsonl").write_text("".join(lines))
    bad = folder / "4.jsonl"
    good = bad.read_text()
    bad.write_text(good + "{")
    with pytest.raises(FormatError, match=r"4\.jsonl: line"):
        prepare(folder, TOK, tmp_path / "out")
    first = folder / "0.jsonl"
    before = first.read_text()
    first.write_text(before.replace("record 0", "recorD 0"))
    with pytest.raises(FileError, match=r"0\.jsonl has changed since it was read first"):
        prepare(folder, TOK, tmp_path / "out")
    # The same content at another time is the same.
    first.write_text(before)
    os.utime(first, (2**31, 2**31))
    bad.write_text(good)
    (folder / "6.jsonl").write_text(_record("one more", chats=False))
    manifest = prepare(folder, TOK, tmp_path / "out")
    assert manifest.documents == len(RECORDS) + 1
    assert [Path(entry["path"]).name for entry in manifest.inputs] == [
        f"{number}.jsonl" for number in range(7)
    ]
    prepare(folder, TOK, tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert TOK.decode(TokenDataset(tmp_path / "out").documents[-1][:-1]) == "one more"


@pytest.mark.large
@pytest.mark.parametrize("options", [{}, {"shuffle": 1}, {"validation": 0.1, "split": "cut"}])
def test_bad_records_are_named_once_over_stops_and_parts(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(4)]
    good, lines = json.dumps({"text": "the theory there"}), 4_000
    for path in paths:
        path.write_text("".join(("[]" if n % 97 == 5 else good) + "\n" for n in range(lines)))
    prepare(paths, TOK, tmp_path / "whole", bad_records="drop", **options)
    whole = (tmp_path / "whole" / "dropped.jsonl").read_bytes()
    assert [json.loads(line)["line"] for line in whole.splitlines()] == 4 * [*range(6, lines, 97)]

    class Stopped(Exception):
        pass

    reports = iter([Stopped, None, Stopped, None, None, Stopped])

    def watch(_: object) -> None:
        stop = next(reports, None)
        if stop is not None:
            raise stop

    for _ in range(4):
        with contextlib.suppress(Stopped):
            prepare(paths, TOK, tmp_path / "parts", bad_records="drop", watch=watch, **options)
    assert (tmp_path / "parts" / "dropped.jsonl").read_bytes() == whole
    if not options:
        parts = [tmp_path / f"part-{number}" for number in (1, 2)]
        for number, part in enumerate(parts, 1):
            prepare(paths, TOK, part, bad_records="drop", part=(number, 2))
        merged = merge(parts, tmp_path / "merged")
        assert (tmp_path / "merged" / "dropped.jsonl").read_bytes() == whole
        assert merged.bad_documents == len(whole.splitlines())
