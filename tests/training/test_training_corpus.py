"""What a corpus may be: paths of every kind, in the order given; pipes that wait; and nothing.

Look here for interrupts while a pipe is read, and for tables; `test_training.py` has the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import normalizers
from jeton.data import prepare
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    JetonError,
    TrainingError,
    TrainingWarning,
)


def words(data: Any, **options: Any) -> list[str]:
    counts = jeton.WordCounts.count(data, pattern="whitespace", **options)
    return [word for word, _ in counts.items()]


@pytest.mark.large
@pytest.mark.parametrize("pipe", ["standard input", "silent FIFO", "FIFO nobody writes to"])
def test_an_interrupt_while_a_pipe_brings_nothing(pipe: str, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    target = tmp_path / "tokenizer.json"
    source = "-" if pipe == "standard input" else str(fifo)
    with subprocess.Popen(
        [sys.executable, "-m", "jeton", "train", source, "-o", str(target)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What runs in the background ignores SIGINT, and so do its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr
        writer = os.open(fifo, os.O_RDWR) if pipe == "silent FIFO" else None
        try:
            wait_for_the_reader(process)
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
        finally:
            process.kill()
            if writer is not None:
                os.close(writer)
        assert process.stderr.read().decode().startswith("jeton: interrupted")
    assert not target.exists()


def wait_for_the_reader(process: subprocess.Popen[bytes]) -> None:
    """Until the process has been at rest for a while, so that it waits for the pipe."""
    stat = Path(f"/proc/{process.pid}/stat")
    if not stat.exists():
        time.sleep(5)
        return
    until, last, since = time.monotonic() + 60, "", time.monotonic()
    while time.monotonic() < until and time.monotonic() - since < 1.5:
        time.sleep(0.1)
        used = " ".join(stat.read_text().rsplit(")")[-1].split()[11:12])
        state = stat.read_text().rsplit(")")[-1].split()[0]
        if used != last or state != "S":
            last, since = used, time.monotonic()


def test_a_fifo_is_read_whole(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=("one two three\n",))
    writer.start()
    assert words(fifo) == ["one", "two", "three"]
    writer.join()


def test_tables_are_counted_where_they_stand(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = ["a.txt", "b.PARQUET", "c.txt", "d.parquet"]
    paths = [tmp_path / name for name in names]
    for path in paths:
        if path.suffix == ".txt":
            path.write_text(path.stem)
        else:
            parquet.write_table(pyarrow.table({"text": [path.stem]}), path)
    assert words(paths) == ["a", "b", "c", "d"]
    assert words(paths[::-1]) == ["d", "c", "b", "a"]
    steps: list[Any] = []
    words(paths, watch=steps.append)
    size = sum(path.stat().st_size for path in paths)
    assert [step.text for step in steps] == [1, 2, 3, 4, 4]
    assert all(step.total == size for step in steps)
    done = [step.done for step in steps]
    assert done == sorted(done) and done[-1] == size


def test_a_column_that_holds_no_text(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "numbers.parquet"
    texts = pyarrow.array(["one", None, "one"])
    parquet.write_table(
        pyarrow.table({"text": [1, 2, 3], "lists": [["x"]] * 3, "few": texts.dictionary_encode()}),
        path,
    )
    for column, kind in (("text", "int64"), ("lists", "list")):
        steps: list[object] = []
        (tmp_path / "a.txt").write_text("a")
        with pytest.raises(
            FormatError, match=rf"numbers\.parquet: column '{column}' holds {kind}.*, not text"
        ):
            words([tmp_path / "a.txt", path], field=column, watch=steps.append)
        assert not steps, "nothing was counted"
    assert words(path, field="few") == ["one"]


ARROW_TYPES = [f"{size}{kind}" for kind in ("string", "binary") for size in ("", "large_")]


@pytest.mark.parametrize("type", [*ARROW_TYPES, "string_view", "binary_view"])
def test_columns_of_arrow_are_a_corpus(type: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    texts = ["one", None, "zw\u00f6lf", "one"]
    raw = [text.encode() if text and "binary" in type else text for text in texts]
    array = pyarrow.array(raw, type)
    expected = words([text for text in texts if text])
    for data in (
        array,
        pyarrow.chunked_array([array[:1], array[1:]]),
        array.dictionary_encode(),
        pyarrow.table({"text": array, "number": range(4)}),
        pyarrow.record_batch({"only": array}),
    ):
        assert words(data) == expected
    assert words(pyarrow.table({"body": array, "n": range(4)}), field="body") == expected


def test_columns_of_arrow_that_are_no_corpus(caplog: pytest.LogCaptureFixture) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    broken = pyarrow.table({"text": pyarrow.array([b"a", b"b\xff\xe4c"])})
    with pytest.raises(
        FormatError, match=r"data: row 0 or one soon after it is not UTF-8.*errors="
    ):
        words(broken)
    assert words(broken, errors="replace") == ["a", "b\ufffd\ufffdc"]
    assert words(broken, errors="ignore") == ["a", "bc"]
    with pytest.warns(TrainingWarning, match="left out 1 record that cannot be read"):
        assert words(broken, bad_records="drop") == ["a"]
    assert caplog.messages == ["left out row 1: it is not UTF-8"]
    with pytest.raises(FormatError, match="data: column 'text' holds int64, not text"):
        words(pyarrow.table({"text": [1]}))
    with pytest.raises(ArgumentError, match=r"no column 'txet' .*did you mean 'text'"):
        words(broken, field="txet")
    with pytest.raises(ArgumentError, match="field names a column, and data is one; leave it out"):
        words(broken["text"], field="text")


TWICE: dict[str, str] = {
    "a.csv": "text,n,text\na,1,b\n",
    "a.tsv": "text\ttext\na\tb\n",
    "a.jsonl": '{"text": "a", "text": "b"}\n',
}


@pytest.mark.parametrize("name", [*TWICE, "a.parquet", "a table"])
def test_a_column_that_is_there_twice_is_refused(name: str, tmp_path: Path) -> None:
    data: Any = tmp_path / name
    if name in TWICE:
        data.write_text(TWICE[name])
    else:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table([["a"], ["b"]], names=["text", "text"])
        if name == "a table":
            data = table
        else:
            pytest.importorskip("pyarrow.parquet").write_table(table, data)
    said = r"more than one column ['\"]text['\"] \(rename all but one\)"
    if name == "a.jsonl":
        said = r"a\.jsonl: line 1: the object has a field twice: \"text\""
    with pytest.raises((FormatError, ArgumentError), match=said):
        words(data)
    tok = jeton.CharTrainer().train("ab")
    with pytest.raises((FormatError, ArgumentError), match=said):
        prepare(data, tok, tmp_path / "out", end_of_text=None)
    # A filter reads whole records.
    if name not in ("a.csv", "a.tsv"):
        said = r"more than one column 'text'|an object has the field 'text' twice"
        with pytest.raises((FormatError, ArgumentError), match=said):
            prepare(data, tok, tmp_path / "out", end_of_text=None, filter=lambda record: True)


@pytest.mark.parametrize("type", ["binary", "large_binary"])
def test_a_column_of_bytes_is_utf8(tmp_path: Path, type: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "unmarked.parquet"
    cells = pyarrow.array(["é".encode(), None, b"b", b"b"], type)
    parquet.write_table(pyarrow.table({"text": cells, "few": cells.dictionary_encode()}), path)
    assert words(path) == words(path, field="few") == ["é", "b"]
    assert prepare(path, jeton.load("jeton-4k"), tmp_path / "set").documents == 3
    parquet.write_table(pyarrow.table({"text": pyarrow.array([b"a", b"\xff"], type)}), path)
    with pytest.raises(FormatError, match="row 0 or one soon after it is not UTF-8"):
        words(path)


def test_a_corpus_may_be_any_iterable_of_paths(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(name)
    paths = sorted(tmp_path.glob("*.txt"))
    assert sorted(words(tmp_path.glob("*.txt"))) == ["a", "b", "c"]
    assert words(path for path in paths[::-1]) == ["c", "b", "a"]
    assert words(set(paths)) == ["a", "b", "c"]
    assert words(dict.fromkeys(paths)) == ["a", "b", "c"]
    assert words(iter([str(paths[0])])) == words([str(paths[0]), "a text"])[:-2] != ["a"]


@pytest.mark.parametrize("kind", [jeton.BPETrainer, jeton.WordPieceTrainer, jeton.UnigramTrainer])
def test_an_empty_corpus(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    empty: list[Iterable[object]] = [[], [""], iter(()), [path], jeton.WordCounts()]
    for corpus in empty:
        with pytest.raises(TrainingError, match="the corpus has no words to learn from"):
            kind(300).train(corpus)


def test_rare_words_of_counts_are_left_out() -> None:
    texts = ["often often rare"]
    counts = jeton.WordCounts.count(texts, pattern="gpt2")
    trainer = jeton.BPETrainer(300, pattern="gpt2", min_word_count=1)
    assert trainer.train(counts).vocab_size > 260
    texts *= 2
    counts = jeton.WordCounts.count([*texts, "once"], pattern="gpt2")
    trainer = jeton.BPETrainer(300, pattern="gpt2", min_word_count=2)
    with pytest.warns(TrainingWarning, match="1 word .* min_word_count=2"):
        kept = trainer.train(counts)
    assert kept == jeton.BPETrainer(300, pattern="gpt2").train(counts.at_least(2))
    with pytest.raises(TrainingError, match="min_word_count too high"), pytest.warns():
        jeton.BPETrainer(300, pattern="gpt2", min_word_count=9).train(counts)


def test_a_file_is_read_once(tmp_path: Path) -> None:
    for name in ("a.txt", "sub/b.txt", "sub/.hidden", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(Path(name).stem)
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "z.txt").symlink_to("a.txt")
    with pytest.warns(
        TrainingWarning, match=r"^1 file is in the corpus more than once, but read only once"
    ):
        assert words(tmp_path) == ["a", "b"]
    twice = [tmp_path / "sub" / "b.txt", tmp_path / "a.txt", tmp_path / "a.txt"]
    with pytest.warns(TrainingWarning, match="more than once, but read only once"):
        assert words(twice) == ["b", "a"]
    with pytest.warns(TrainingWarning, match="more than once"):
        assert sorted(words(str(tmp_path / "**" / "*.txt"))) == ["a", "b"]
    assert words(tmp_path / ".git") == ["config"]


def test_items_that_are_not_texts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text('[{"text": "a"}]')
    jeton.WordCounts([("a", 1)]).save(tmp_path / "corpus.counts")
    for name, told in (
        ("list.json", r"list\.json: this is a JSON document.*\.jsonl"),
        ("corpus.counts", r"corpus\.counts: this is a file of word counts.*WordCounts\.load"),
    ):
        steps: list[object] = []
        (tmp_path / "a.txt").write_text("a")
        with pytest.raises(FormatError, match=told):
            words([tmp_path / "a.txt", tmp_path / name], watch=steps.append)
        assert not steps


def test_nulls_and_bytes_of_tables_and_lines(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table, lines = tmp_path / "x.parquet", tmp_path / "x.jsonl"
    parquet.write_table(pyarrow.table({"text": ["one", None, "two"]}), table)
    lines.write_text('{"text": "one"}\n{"text": null}\n\n{"text": "two"}\n')
    assert words(table) == words(lines) == ["one", "two"]
    raw = pyarrow.array([b"good", b"ba\xff\xe4d", None], pyarrow.binary())
    broken = pyarrow.Array.from_buffers(pyarrow.string(), 3, raw.buffers())
    parquet.write_table(pyarrow.table({"text": broken}), table)
    with pytest.raises(FormatError, match=r"x\.parquet: row 0 or one soon after it is not UTF-8"):
        words(table)
    assert words(table, errors="replace") == ["good", "ba\ufffd\ufffdd"]
    assert words(table, errors="ignore") == ["good", "bad"]
    escaped = '{"text": "a\\ud800b"}\n'
    lines.write_text('{"text": "fine"}\n' + escaped)
    with pytest.raises(FormatError, match=r"x\.jsonl: line 2: a surrogate is escaped without"):
        words(lines)
    assert words(lines, errors="replace") == ["fine", "a\ufffdb"]
    assert words(lines, errors="ignore") == ["fine", "ab"]


def test_tables_that_are_damaged(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    texts = [f"text {n} " * 9 for n in range(3_000)]
    for codec in ("none", "snappy", "zstd"):
        parquet.write_table(pyarrow.table({"text": texts}), path, compression=codec)
        image = path.read_bytes()
        for at in range(4, len(image) // 2, len(image) // 40):
            path.write_bytes(image[:at] + b"\xff" * 16 + image[at + 16 :])
            # What is damaged without a trace is read as it is.
            with contextlib.suppress(FormatError):
                words(path)
        path.write_bytes(image[: len(image) // 2])
        with pytest.raises(FormatError, match=r"x\.parquet: not a Parquet file"):
            words(path)


def test_byte_order_marks(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("\ufefffirst\n\ufeffsecond\n", encoding="utf-8")
    assert words(path) == ["first", "\ufeffsecond"]
    path.write_text("first", encoding="utf-16")
    with pytest.raises(FormatError, match="in UTF-16, not in UTF-8"):
        words(path)


def test_progress_is_reported_while_counting(tmp_path: Path) -> None:
    def told(data: Any) -> list[tuple[int, int, int]]:
        steps: list[jeton.Progress] = []
        words(data, watch=steps.append)
        assert {step.phase for step in steps} == {"counting"}
        return [(step.done, step.total, step.text) for step in steps]

    assert told(["ö", "b"]) == [(3, 0, 3), (3, 3, 3)]
    assert told([]) == [(0, 0, 0)]
    (tmp_path / "a.txt").write_text("abc")
    (tmp_path / "b.txt").write_text("de")
    assert told(tmp_path)[-1] == (5, 5, 5)
    many = told(f"{n} " * 500_000 for n in range(10))
    assert len(many) > 2 and many[-1][0] == many[-1][1] == 10_000_000
    steps: list[jeton.Progress] = []
    trainers: list[Any] = [jeton.BPETrainer(9_999), jeton.WordPieceTrainer(9_999)]
    trainers.append(jeton.WordPieceTrainer(9_999, rule="published"))
    trainers.append(jeton.UnigramTrainer(9_999, hard_vocab_limit=False))
    for trainer in trainers:
        trainer.train(["a corpus of few words"] * 3, watch=steps.append)
        assert steps[-1].phase != "counting" and steps[-1].done == steps[-1].total > 0


def test_lines_are_texts_as_tokenizers_has_them(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "x.txt"
    path.write_text("one\n\n\n  two\r\n\nthree" * 9, encoding="utf-8", newline="")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = theirs.pre_tokenizer.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=270, show_progress=False, initial_alphabet=alphabet
    )
    theirs.train([str(path)], trainer)
    tok = jeton.BPETrainer(270, pattern="gpt2").train(path, documents="line")
    assert (
        json.loads(tok.to_json())["model"]["merges"]
        == json.loads(theirs.to_str())["model"]["merges"]
    )
    assert b"\n\n" not in tok.vocab
    whole = jeton.BPETrainer(270, pattern="gpt2").train([path.read_bytes().decode()])
    assert b"\n\n" in whole.vocab


@pytest.mark.parametrize("source", ["lines", "paths", "JSON lines", "counts"])
def test_characters_of_any_corpus(source: str, tmp_path: Path) -> None:
    trainer = jeton.CharTrainer(unk_token="<u>", special_tokens=["<s>"])
    expected = trainer.train("bä 東\nc<s>")
    path = tmp_path / "x.txt"
    path.write_text("bä 東\nc<s>", encoding="utf-8")
    data: Any = ["c<s>", "bä 東\n"]
    options: dict[str, Any] = {}
    if source == "paths":
        data = [path]
    elif source == "JSON lines":
        data = path.with_suffix(".ndjson")
        data.write_text(json.dumps({"body": path.read_text(encoding="utf-8")}))
        options = {"field": "body", "memory": "1GB", "errors": "replace"}
    elif source == "counts":
        trainer.count(path).save(tmp_path / "x.counts")
        data = jeton.WordCounts.load(tmp_path / "x.counts")
    steps: list[jeton.Progress] = []
    assert trainer.train(data, watch=steps.append, **options) == expected
    assert bool(steps) == (source != "counts")
    assert trainer.train(jeton.WordCounts([("bä ", 2), ("東\nc<s>", 1)])) == expected


PARAGRAPHS = "One line.\nAnother line.\n\nA paragraph.\n\nThe last.\n" * 40


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "whitespace", "none"])
def test_a_file_is_one_document_unless_its_lines_are(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(PARAGRAPHS.encode())
    trainer = jeton.BPETrainer(300, pattern=pattern)
    whole = trainer.count(path)
    assert whole == trainer.count(path, documents="file") == trainer.count([PARAGRAPHS])
    lines = trainer.count(path, documents="line")
    assert lines == trainer.count(PARAGRAPHS.splitlines(keepends=True))
    assert jeton.WordCounts.count(path, pattern=pattern) == whole
    if pattern == "gpt4":
        assert any(b"\n\n" in token for token in trainer.train(path).vocab)
        of_lines = trainer.train(path, documents="line")
        assert not any(b"\n\n" in token for token in of_lines.vocab)
        assert trainer.train_all(path, documents="line") == trainer.train_all(lines)


@pytest.mark.large
def test_words_of_a_long_file_are_those_of_its_text(tmp_path: Path) -> None:
    """However it is read and cut, on all cores and in little memory."""
    text = "".join(f"{number} déjà vu,\n\n  the end{number % 7}\n" for number in range(300_000))
    path = tmp_path / "a.txt"
    path.write_text(text)
    for pattern in ("gpt2", "gpt4o", "whitespace"):
        trainer = jeton.BPETrainer(300, pattern=pattern)
        assert trainer.count(path) == trainer.count([text])
        assert trainer.count(path, memory="128MB") == trainer.count([text])
    with_form = jeton.BPETrainer(300, normalizer=normalizers.NFC(), pattern="gpt4")
    assert with_form.count(path) == with_form.count([text])


def test_documents_that_are_neither(tmp_path: Path) -> None:
    trainer = jeton.BPETrainer(300)
    with pytest.raises(ArgumentError, match=r"documents must be .*, not 'lines'"):
        trainer.train(tmp_path, documents="lines")
    with pytest.raises(ArgumentError, match="documents is for files, and data holds texts"):
        trainer.train(["to be"], documents="line")
    with pytest.raises(ArgumentError, match="documents is for counting, and data holds counts"):
        trainer.train(trainer.count(["to be"]), documents="line")


GOOD = ["to be", "or not", "to be, that is", "the question"]


def json_lines(at: Path) -> Path:
    good = [json.dumps({"text": text}).encode() for text in GOOD]
    bad = [b'{"text": ', b'{"texts": "to"}', b'{"text": 5}', b"5", b'{"text": "\xff"}']
    bad.append(b'{"text": "\\ud800"}')
    path = at / "in.jsonl"
    path.write_bytes(b"\n".join([bad[0], *good[:2], *bad[1:], b"", *good[2:]]))
    return path


def lines(at: Path) -> Path:
    path = at / "in.txt"
    path.write_bytes("\n".join(["\udcff", *GOOD]).encode(errors="surrogateescape"))
    return path


def table(at: Path) -> Path:
    pa = pytest.importorskip("pyarrow")
    raw = [*(text.encode() for text in GOOD[:3]), b"\xff\xfe", GOOD[3].encode()]
    column = pa.array(raw, pa.binary()).view(pa.string())
    path = at / "in.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(pa.table({"text": column}), path)
    return path


def json_lines_and_a_table(at: Path) -> Path:
    return json_lines(at).parent if table(at) else at


BAD_RECORDS: dict[str, tuple[Callable[[Path], Any], dict[str, Any], int, list[str]]] = {
    "JSON lines": (json_lines, {}, 6, GOOD),
    "lines": (lines, {"documents": "line"}, 1, [*(f"{it}\n" for it in GOOD[:3]), GOOD[3]]),
    "a table": (table, {}, 1, GOOD),
    "texts": (lambda at: [*GOOD[:1], "to \ud800", *GOOD[1:]], {}, 1, GOOD),
    "a folder": (json_lines_and_a_table, {}, 7, GOOD * 2),
}


@pytest.mark.parametrize("row", BAD_RECORDS)
def test_bad_records_are_left_out_and_said(row: str, tmp_path: Path) -> None:
    """As `prepare` has it."""
    corpus, options, bad, good = BAD_RECORDS[row]
    data, trainer = corpus(tmp_path), jeton.BPETrainer(260, pattern="gpt2")
    with pytest.raises(JetonError):
        trainer.count(data, **options)
    with pytest.warns(TrainingWarning) as caught:
        counts = trainer.count(data, bad_records="drop", **options)
        tok = trainer.train(data, bad_records="drop", **options)
        assert trainer.train_all(data, bad_records="drop", **options)[260] == tok
    told = f"left out {bad} record{'s' * (bad > 1)} that cannot be read"
    assert [str(it.message) for it in caught if "left out" in str(it.message)] == [told] * 3
    assert counts == trainer.count(good)
    assert tok == trainer.train(good)
    with pytest.raises(ArgumentError, match="bad_records is for counting"):
        trainer.train(counts, bad_records="drop")
    with pytest.raises(ArgumentError, match='bad_records must be "error" or "drop"'):
        trainer.train(GOOD, bad_records="dorp")  # type: ignore[arg-type]


def test_a_file_that_is_one_document_is_never_left_out(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"in\.txt: not UTF-8 at byte 0"):
        jeton.BPETrainer(260).train(lines(tmp_path), bad_records="drop")


ROWS = [{"text": "hello hello", "body": "other"}, {"text": "help", "body": None}]


def _of_datasets(kind: str) -> Any:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(ROWS)
    return rows.to_iterable_dataset() if kind == "IterableDataset" else rows


@pytest.mark.parametrize("kind", ["list", "generator", "Dataset", "IterableDataset"])
def test_rows_have_their_text_in_a_field(kind: str) -> None:
    """Null cells are left out, as those of tables."""

    def rows() -> Any:
        return {"list": ROWS, "generator": iter(ROWS)}.get(kind) or _of_datasets(kind)

    texts, bodies = ["hello hello", "help"], ["other"]
    trainer = jeton.BPETrainer(258)
    tok = trainer.train(texts)
    assert trainer.train(rows()) == tok
    assert jeton.WordCounts.count(rows(), field="body") == jeton.WordCounts.count(bodies)
    assert tok.usage(rows()).counts.tolist() == tok.usage(texts).counts.tolist()
    measured = jeton.analysis.evaluate(tok, rows(), field="text")
    assert measured.overall == jeton.analysis.evaluate(tok, texts).overall


@pytest.mark.parametrize(
    "data, field, told",
    [
        (ROWS, "txt", "record 0 of data has no field 'txt' .*did you mean 'text'"),
        ([{}], None, r"no field 'text' \(it has none\)"),
        ([dict.fromkeys(map(str, range(50)))], None, r"\(it has 0, 1, .*, 19 and 30 more\)"),
        ([{"text": 3}], None, "field 'text' of record 0 of data must be a str, not int"),
        ([{"text": "a"}, "b"], None, "item 1 of data must be a record like the first"),
        (["a"], "text", "data holds texts"),
    ],
)
def test_rows_without_text(data: Any, field: str | None, told: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=told):
        jeton.BPETrainer(258).train(data, field=field)


def test_the_splits_of_a_data_set_are_no_texts() -> None:
    datasets = pytest.importorskip("datasets")
    both = datasets.DatasetDict(train=_of_datasets("Dataset"), test=_of_datasets("Dataset"))
    with pytest.raises(ArgumentError, match="data has the splits 'train', 'test'"):
        jeton.WordCounts.count(both)
