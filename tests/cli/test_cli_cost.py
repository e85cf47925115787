"""`jeton cost`: what files cost, in a terminal and for programs, and what it says of bad input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

import jeton
from chat_cases import TURNS
from command_line import Run, error_of, here, needs_full, run, shell
from jeton.chat import TEMPLATES
from jeton.cli import documents
from kinds import ranks

TOK = ranks()
MINE = ("--input-price", "2", "--cached-price", "0.5", "--output-price", "8")


@pytest.fixture(autouse=True)
def files(here: Path) -> Path:
    """A tokenizer, one with a chat template, and texts."""
    TOK.save("tok.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TOK.save("model", chat_template=TEMPLATES["chatml"])
    os.makedirs("sub/deep")
    for name, text in {"a.txt": "the weather\n", "sub/b.md": "there", "sub/deep/c.md": ""}.items():
        Path(name).write_text(text, encoding="utf-8")
    return here


def record(run: Run, *arguments: str, **options: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(run("cost", *arguments, "--format", "json", **options).stdout)
    return made


def test_files_folders_and_patterns(run: Run) -> None:
    told = record(run, "tok.json", "a.txt", "sub", *MINE)
    assert [file["file"] for file in told["files"]] == ["a.txt", "sub/b.md", "sub/deep/c.md"]
    tokens = [TOK.count("the weather\n"), TOK.count("there"), 0]
    assert [file["tokens"] for file in told["files"]] == tokens
    assert told["total"]["cost"] == sum(tokens) * 2 / 1e6
    assert told["exact"] and told["notes"] == []
    assert record(run, "tok.json", "**/*.md", *MINE)["total"]["requests"] == 2
    again = run("cost", "tok.json", "a.txt", "./a.txt", *MINE, "--format", "plain")
    assert "more than once" in again.stderr and again.stdout.count("\n") == 1


def test_requests(run: Run) -> None:
    Path("lines.txt").write_text("the\nthe weather there\n\n")
    options = ("--lines", "--output-tokens", "10", "--cached-tokens", "1")
    told = record(run, "tok.json", "lines.txt", *options, *MINE)["total"]
    counts = TOK.count_batch(["the", "the weather there", ""])
    cached = sum(min(1, count) for count in counts)
    assert (told["requests"], told["tokens"]) == (3, sum(counts))
    assert (told["cached_tokens"], told["output_tokens"]) == (cached, 30)
    want = (sum(counts) - cached) * 2 + cached * 0.5 + 30 * 8
    assert told["cost"] == pytest.approx(want / 1e6, rel=1e-12)
    assert "requests" in run("cost", "tok.json", "lines.txt", *options, *MINE).stdout


def test_packed_files(run: Run) -> None:
    texts = ["the weather", "there", "the\nweather"]
    lines = "".join(json.dumps({"text": text, "other": 1}) + "\n" for text in texts).encode()
    Path("a.jsonl.gz").write_bytes(gzip.compress(lines[:40]) + gzip.compress(lines[40:]))
    Path("b.jsonl.zst").write_bytes(pyarrow.compress(lines, "zstd", asbytes=True))
    table = pyarrow.table({"text": [*texts, None], "other": [1, 2, 3, 4]})
    parquet.write_table(table, "c.parquet")
    names = ["a.jsonl.gz", "b.jsonl.zst", "c.parquet"]
    told = record(run, "tok.json", *names, "--field", "text", *MINE)
    want = (3, sum(TOK.count_batch(texts)))
    assert [(file["requests"], file["tokens"]) for file in told["files"]] == [want] * 3
    whole = record(run, "tok.json", "a.jsonl.gz", "c.parquet", *MINE)["files"]
    assert [file["requests"] for file in whole] == [3, 3]
    assert whole[0]["tokens"] == want[1]
    counted = run("count", "tok.json", *names, "--field", "text", "--total").stdout
    assert counted == f"{3 * want[1]}\n"
    refused = run("learn", "bpe", "--file", "c.parquet", code=1)
    assert "has several texts" in error_of(refused)


def test_formats(run: Run) -> None:
    plain = run("cost", "tok.json", "a.txt", "sub/b.md", *MINE, "--format", "plain").stdout
    rows = [line.split("\t") for line in plain.splitlines()]
    assert [row[2] for row in rows] == ["a.txt", "sub/b.md", "total"]
    assert sum(Decimal(row[0]) for row in rows[:2]) == Decimal(rows[2][0])
    table = [
        *csv.DictReader(
            io.StringIO(run("cost", "tok.json", "a.txt", *MINE, "--format", "csv").stdout)
        )
    ]
    assert table[0]["file"] == "a.txt" and float(table[0]["cost"]) == float(rows[0][0])
    shown = run("cost", "tok.json", "a.txt", "sub", *MINE).stdout
    assert "total" in shown and "\x1b" not in shown
    assert "\x1b[1m" in run("cost", "tok.json", "a.txt", *MINE, "--color", "always").stdout
    assert "standard input" in run("cost", "tok.json", *MINE, input="the").stdout


def test_conversations(run: Run) -> None:
    Path("c.jsonl").write_text(f"{json.dumps(TURNS)}\n\n{json.dumps({'messages': TURNS[:1]})}\n")
    told = record(run, "model", "c.jsonl", "--lines", "--messages", *MINE)
    tok = jeton.load("model")
    want = [tok.count_messages(messages).tokens for messages in (TURNS, TURNS[:1])]
    assert (told["total"]["requests"], told["total"]["tokens"]) == (2, sum(want))
    told = record(run, "model", "--text", json.dumps(TURNS), "--messages", *MINE)
    assert (told["total"]["requests"], told["total"]["tokens"]) == (1, want[0])
    assert told["exact"]
    image = [{"role": "user", "content": [{"type": "image"}]}]
    Path("c.json").write_text(json.dumps(image))
    told = record(run, "model", "c.json", "--messages", "--tokens-per-part", "85", *MINE)
    assert told["total"]["tokens"] > 85 and "85 tokens for each part" in told["notes"][0]
    assert not told["exact"]
    run("cost", "model", "c.json", "--tokens-per-part", "85", *MINE, code=2)
    wrong = {
        "{}": "c.jsonl: expected a list of messages",
        "[]": "c.jsonl: messages is empty",
        json.dumps(image): "c.jsonl: messages[0].content[0] is not text (image), and its tokens "
        "cannot be counted here (--tokens-per-part N",
        "[]\n[]": "c.jsonl: not valid JSON: Extra data: line 2 column 1; --lines reads each",
    }
    for text, says in wrong.items():
        Path("c.jsonl").write_text(text)
        result = run("cost", "model", "c.jsonl", "--messages", *MINE, code=1)
        assert says in error_of(result)


def test_conversations_are_named_by_their_line(run: Run) -> None:
    good = json.dumps(TURNS)
    wrong = {
        '{"messages': "not valid JSON: Unterminated string starting at: column 2",
        "{}": "expected a list of messages",
        '{"messages": null}': "messages must be a list of dicts",
        '[{"content": "a"}]': "messages[0] has no 'role'",
    }
    for text, says in wrong.items():
        Path("c.jsonl").write_text(f"{good}\n\n{text}\n")
        result = run("cost", "model", "c.jsonl", "--lines", "--messages", *MINE, code=1)
        assert error_of(result).startswith("c.jsonl:3: ") and says in error_of(result)
    Path("c.jsonl").write_text(good)
    result = run("cost", "tok.json", "c.jsonl", "--messages", *MINE, code=1)
    assert "no chat template" in error_of(result)


BAD: list[tuple[tuple[str, ...], str]] = [
    (
        ("tok.json", "a.txt.gz", *MINE),
        "a.txt.gz: cannot be read: its gzip data is damaged or cut short",
    ),
    (("tok.json", "bad.zst", *MINE), "bad.zst: cannot be read: "),
    (("tok.json", "bad.parquet", *MINE), "bad.parquet: not a Parquet file"),
    (
        ("tok.json", "a.txt", "--cached-tokens", "1000", *MINE),
        "--cached-tokens is 1,000, more than the 8 of a request in a.txt: 'the weather\\n'",
    ),
    (("tok.json", "none.txt", *MINE), "none.txt: no such file"),
    (("tok.json", "*.none", *MINE), "*.none: no such file"),
    (
        ("tok.json", "bad.txt", *MINE),
        "bad.txt: not UTF-8 at byte 0 (--invalid",
    ),
    (("none.json", "a.txt", *MINE), "none.json"),
    (("tok.json", "a.txt", "--field", "x", *MINE), 'a.txt: line 1: no JSON object with a text "x"'),
]


@pytest.mark.parametrize(("arguments", "says"), BAD)
def test_bad_input(run: Run, arguments: tuple[str, ...], says: str) -> None:
    Path("bad.txt").write_bytes(b"\xff")
    Path("a.txt.gz").write_bytes(gzip.compress(b"the weather")[:-9])
    Path("bad.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    Path("bad.parquet").write_bytes(b"PAR1")
    assert says in error_of(run("cost", *arguments, code=1))


def test_options_of_wrong_values(run: Run) -> None:
    run("cost", code=2)
    run("cost", "tok.json", "a.txt", *MINE, "--format", "xml", code=2)
    run("cost", "tok.json", "a.txt", code=2)
    run("cost", "tok.json", "a.txt", "--input-price", "-1", code=2)
    run("cost", "tok.json", "a.txt", *MINE, "--output-tokens", "-1", code=2)
    without = run("cost", "tok.json", "a.txt", *MINE[:2], "--output-tokens", "1", code=2)
    assert "--output-tokens needs --output-price" in without.stderr
