"""`filter=` of `prepare`: rules, functions and contamination, counted, resumed and merged.

These tests hold `jeton.data.preparing.filters`, and `jeton.data.preparing.record_encoder`, which
counts the records that each filter leaves out.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from chat_cases import byte_level
from jeton.chat import TEMPLATES
from jeton.data import Contamination, Conversations, Manifest, PrepareProgress, merge, prepare
from jeton.data.preparing import chat_processes, chats, pipeline, text_records
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, FormatError, UnsupportedError

TOK = byte_level(TEMPLATES["chatml"]).with_added_tokens([jeton.AddedToken("<|endoftext|>")])
TOK = TOK.replace(roles={"eos": "<|endoftext|>"})
RECORDS: list[dict[str, Any]] = [
    {
        "text": f"document {number} " * (number % 5),
        "score": None if number == 7 else number % 6,
        "language": ["en", "de", "fr"][number % 3],
    }
    for number in range(90)
]
RULES = ["score >= 2", "language != de"]
KEPT = [it for it in RECORDS if (it["score"] or 0) >= 2 and it["language"] != "de"]
COUNTS = {
    "score >= 2": sum((it["score"] or 0) < 2 for it in RECORDS),
    'language != "de"': sum((it["score"] or 0) >= 2 and it["language"] == "de" for it in RECORDS),
}


def files(folder: Path) -> list[Path]:
    import pyarrow
    from pyarrow import parquet

    folder.mkdir()
    lines = [json.dumps(it) + "\n" for it in RECORDS]
    (folder / "a.jsonl").write_text("".join(lines[:30]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress("".join(lines[30:60]).encode()))
    parquet.write_table(pyarrow.Table.from_pylist(RECORDS[60:]), folder / "c.parquet")
    return sorted(folder.iterdir())


def table(folder: Path) -> Any:
    return pytest.importorskip("pyarrow").Table.from_pylist(RECORDS)


def dataset(folder: Path) -> Any:
    return pytest.importorskip("datasets").Dataset.from_list(RECORDS)


KINDS: dict[str, Callable[[Path], Any]] = {
    "records": lambda _: RECORDS,
    "an iterator": lambda _: iter(RECORDS),
    "files": files,
    "a table": table,
    "a data set": dataset,
}


def set_of(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "train-00000.bin").read_bytes(), (folder / "train-00000.ends").read_bytes()


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_records, "_CHARACTERS", 100)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", ["rules", "a function"])
def test_the_set_is_that_of_the_records_that_stay(kind: str, by: str, tmp_path: Path) -> None:
    def stays(record: Any) -> bool:
        return (record["score"] or 0) >= 2 and record["language"] != "de"

    expected = prepare(KEPT, TOK, tmp_path / "expected", shuffle=3)
    chosen: Any = RULES if by == "rules" else stays
    manifest = prepare(
        KINDS[kind](tmp_path / "in"), TOK, tmp_path / "set", shuffle=3, filter=chosen
    )
    assert set_of(tmp_path / "set") == set_of(tmp_path / "expected")
    assert manifest.documents == expected.documents
    assert manifest.empty_documents == expected.empty_documents > 0
    assert manifest.bad_documents == 0 and expected.filtered is None
    if by == "rules":
        assert manifest.filtered == COUNTS
        assert manifest.options["filter"] == [*COUNTS]
    else:
        [(name, count)] = (manifest.filtered or {}).items()
        assert name.endswith("<locals>.stays") and count == sum(COUNTS.values())
    assert Manifest.read(tmp_path / "set") == manifest


def test_a_filter_of_texts_and_of_records_that_cannot_be_read(tmp_path: Path) -> None:
    manifest = prepare(["a", "bb", "ccc"], TOK, tmp_path / "a", filter=lambda it: len(it) > 1)
    assert (manifest.documents, [*(manifest.filtered or {}).values()]) == (2, [1])
    (tmp_path / "in.jsonl").write_text(
        '{"text": "a", "n": 1}\nno JSON\n{"text": "b", "n": "x"}\n{"n": 5}\n'
        '{"text": null, "n": 5}\n'
        '{"text": "c", "n": 7}\n{"text": 5, "n": 0}\n'
    )
    manifest = prepare(
        tmp_path / "in.jsonl", TOK, tmp_path / "b", filter="n > 0", bad_records="drop"
    )
    # The last record is left out by the rule before its text is looked at.
    assert (manifest.documents, manifest.bad_documents, manifest.empty_documents) == (2, 3, 1)
    assert manifest.filtered == {"n > 0": 1}
    dropped = [json.loads(it) for it in (tmp_path / "b/dropped.jsonl").read_text().splitlines()]
    assert [it["line"] for it in dropped] == [2, 3, 4]
    assert "cannot be compared" in dropped[1]["reason"] and "no field" in dropped[2]["reason"]
    with pytest.raises(FormatError, match=r"in\.jsonl: line 2: not a JSON object"):
        prepare(tmp_path / "in.jsonl", TOK, tmp_path / "c", filter="n > 0")


@pytest.mark.usefixtures("small_batches")
def test_a_stopped_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(pipeline, "TELL_SECONDS", 0.0)
    data = files(tmp_path / "in")
    whole = prepare(data, TOK, tmp_path / "whole", filter=RULES)
    stops = 0
    for at in range(2, 40, 6):
        steps = 0

        def stop(_: PrepareProgress, at: int = at) -> None:
            nonlocal steps
            steps += 1
            if steps == at:
                raise KeyboardInterrupt

        try:
            prepare(data, TOK, tmp_path / "set", filter=RULES, watch=stop)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 1
    again = prepare(data, TOK, tmp_path / "set", filter=RULES)
    assert again == whole and set_of(tmp_path / "set") == set_of(tmp_path / "whole")
    with pytest.raises(FileError, match="filter"):
        prepare(data, TOK, tmp_path / "set", filter=RULES[:1])


def test_parts_are_merged(tmp_path: Path) -> None:
    data = files(tmp_path / "in")
    whole = prepare(data, TOK, tmp_path / "whole", filter=RULES, shuffle=1)
    folders = [tmp_path / f"part-{number}" for number in (1, 2)]
    for number, folder in enumerate(folders, 1):
        prepare(data, TOK, folder, filter=RULES, shuffle=1, part=(number, 2))
    merged = merge(folders, tmp_path / "merged", tokenizer=TOK)
    assert merged.filtered == whole.filtered == COUNTS
    assert set_of(tmp_path / "merged") == set_of(tmp_path / "whole")


@pytest.mark.large
@pytest.mark.parametrize("processes", [0, 2])
def test_conversations(processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_processes, "process_count", lambda: processes)
    monkeypatch.setattr(chats, "_SECONDS", 0)
    records = [
        {
            "messages": [
                {"role": "user", "content": it["text"] or "nothing"},
                {"role": "assistant", "content": it["language"]},
            ],
            **it,
        }
        for it in RECORDS
    ]
    kept = [it for it in records if (it["score"] or 0) >= 2 and it["language"] != "de"]
    messages = Conversations(template="chatml")
    expected = prepare(kept, TOK, tmp_path / "expected", messages=messages)
    manifest = prepare(records, TOK, tmp_path / "set", messages=messages, filter=RULES)
    assert set_of(tmp_path / "set") == set_of(tmp_path / "expected")
    assert manifest.chats == expected.chats and manifest.filtered == COUNTS


def test_filters_that_leave_out_almost_all_let_it_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chats, "_RECORDS", 10)
    monkeypatch.setattr(text_records, "_RECORDS", 10)
    monkeypatch.setattr(pipeline, "TELL_SECONDS", 0.0)
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    records = [{"messages": turns, "text": "a", "n": number} for number in range(100)]
    steps: list[PrepareProgress] = []
    for messages in (None, Conversations(template="chatml")):
        folder = tmp_path / f"{messages is None}"
        manifest = prepare(
            records, TOK, folder, filter="n == 99", messages=messages, watch=steps.append
        )
        assert manifest.documents == 1
    assert len(steps) > 2 * 10


@pytest.mark.parametrize("errors", ["strict", "replace", "ignore"])
def test_a_filter_leaves_the_texts_as_they_are(errors: Any, tmp_path: Path) -> None:
    """Bytes and halves of surrogates, in files that are read in another way without a filter."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": "a\\ud800b"}\n"no object"\n')
    column = pa.array([b"one", "caf\u00e9".encode(), b"a\xffb", None])
    parquet.write_table(pa.table({"text": column}), tmp_path / "b.parquet")
    parquet.write_table(pa.table({"text": column.cast("binary_view")}), tmp_path / "c.parquet")
    options: dict[str, Any] = {"errors": errors, "bad_records": "drop"}
    for name in ("a.jsonl", "b.parquet", "c.parquet"):
        plain = prepare(tmp_path / name, TOK, tmp_path / "plain" / name, **options)
        kept = prepare(
            tmp_path / name, TOK, tmp_path / "kept" / name, filter=lambda _: True, **options
        )
        assert set_of(tmp_path / "plain" / name) == set_of(tmp_path / "kept" / name)
        counts = [(it.bad_documents, it.empty_documents) for it in (plain, kept)]
        assert counts[0] == counts[1]
        assert kept.bad_documents == (name == "a.jsonl") + (errors == "strict")


RULE_CASES: list[tuple[str, Any, bool]] = [
    ("a == 1", {"a": 1}, True),
    ("a==1.0", {"a": 1}, True),
    ("a == x y", {"a": "x y"}, True),
    ('a == "1"', {"a": 1}, False),
    ('a == "1"', {"a": "1"}, True),
    ("a != 1", {"a": 2}, True),
    ("a != 1", {}, False),
    ("a != 1", {"a": None}, False),
    ("a == null", {}, True),
    ("a != null", {"a": 0}, True),
    ("a == true", {"a": True}, True),
    ("a < b", {"a": "a"}, True),
    ("a >= 2", {"a": 2}, True),
    ("a > 2", {"a": 2}, False),
    ("meta.score <= 2", {"meta.score": 2}, True),
    ("a == b", {"a": b"b"}, True),
]


@pytest.mark.parametrize(("rule", "record", "stays"), RULE_CASES)
def test_rules(rule: str, record: Any, stays: bool) -> None:
    from jeton.data.preparing.filters import filters_of

    assert (filters_of(rule).failed(record) is None) is stays


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "no rule": ("score", ArgumentError, "'score' is not a rule such as"),
    "no value": ("score >=", ArgumentError, "is not a rule"),
    "a list": ("score == [1]", ArgumentError, "something else than one value"),
    "an order of null": ("score < null", ArgumentError, "something else than one value"),
    "a number": (5, ArgumentTypeError, "filter must be a rule"),
    "a list of numbers": ([5], ArgumentTypeError, "each of filter must be"),
    "twice": (["a == 1", "a==1"], ArgumentError, "'a == 1' twice"),
    "a rule on texts": ("a == 1", FormatError, "record 0: .*needs a record with fields"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_filters(name: str, tmp_path: Path) -> None:
    chosen, error, match = BAD[name]
    with pytest.raises(error, match=match):
        prepare(["a text"], TOK, tmp_path / "set", filter=chosen)
    assert not (tmp_path / "set").exists()


def test_files_that_have_no_records(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\na\n")
    with pytest.raises(UnsupportedError, match="separated values are not read as records"):
        prepare(tmp_path / "a.csv", TOK, tmp_path / "set", filter="a == 1")
    (tmp_path / "a.txt").write_text("text\n")
    with pytest.raises(ArgumentError, match="filter is for records, and documents for files"):
        prepare(tmp_path / "a.txt", TOK, tmp_path / "set", filter="a == 1", documents="line")
    with pytest.raises(FormatError, match="line 1: not a JSON object"):
        prepare(tmp_path / "a.txt", TOK, tmp_path / "set", filter="a == 1")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table(tmp_path), tmp_path / "a.parquet")
    with pytest.raises(FormatError, match=r"no column 'scores' \(did you mean 'score'\?\)"):
        prepare(tmp_path / "a.parquet", TOK, tmp_path / "set", filter="scores == 1")


def test_an_error_of_a_function_is_raised_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="missing"):
        prepare(RECORDS, TOK, tmp_path / "set", filter=lambda it: it["missing"])


TESTS = ["How many legs does a spider have, and why?", "Yes, no"]


@pytest.mark.parametrize(
    ("text", "n", "stays"),
    [
        ("Say: HOW many\nlegs does — a spider have!", 7, False),
        ("how many legs does a", 6, True),
        ("how many legs does a", 5, False),
        ("many legs have a spider does", 4, True),
        ("a spider have and why", 5, False),
        ("he said yes, no, and left", 9, False),
        ("he said yes but no", 9, True),
        ("", 3, True),
    ],
)
def test_contamination(text: str, n: int, stays: bool) -> None:
    assert Contamination(TESTS, n)(text) is stays
    assert Contamination(TESTS, n, field="body")({"body": text}) is stays
    # As the definition says, word by word.
    words = "".join(it if it.isalnum() else " " for it in text.casefold()).split()
    found = False
    for test in TESTS:
        of_test = "".join(it if it.isalnum() else " " for it in test.casefold()).split()
        size = min(n, len(of_test))
        grams = {tuple(of_test[at : at + size]) for at in range(len(of_test) - size + 1)}
        found |= any(tuple(words[at : at + size]) in grams for at in range(len(words)))
    assert found is not stays


def test_contamination_in_the_manifest(tmp_path: Path) -> None:
    texts = ["a page", "riddle: how many legs does a spider have?", "another page"]
    contamination = Contamination(TESTS, 5)
    manifest = prepare(texts, TOK, tmp_path / "set", filter=[contamination])
    assert manifest.filtered == {str(contamination): 1} and manifest.documents == 2
    assert str(contamination) == str(Contamination(reversed(TESTS), 5))
    assert str(contamination) != str(Contamination(TESTS, 6))
    with pytest.raises(ArgumentError, match="no words to look for"):
        Contamination(["…", ""])
    with pytest.raises(ArgumentTypeError, match="texts must be an iterable of texts"):
        Contamination("a text")
    with pytest.raises(FormatError, match=r"record 0: there is no field 'text' \(did you mean"):
        prepare([{"texts": "a"}], TOK, tmp_path / "b", filter=contamination)
