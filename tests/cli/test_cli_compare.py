"""`jeton compare`: its tables, Markdown, CSV and JSON, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from command_line import Run, error_of, here, run
from jeton.analysis import Comparison, compare
from kinds import ranks, word_piece


@pytest.fixture
def files(here: Path) -> None:
    ranks().save("ranks.json")
    word_piece().save("words.json")
    Path("news.txt").write_text("The weather there\nthe theory\n", encoding="utf-8")
    Path("de.txt").write_text("there\nthe\n", encoding="utf-8")
    Path("en.txt").write_text("the\nthe\n", encoding="utf-8")


@pytest.mark.usefixtures("files")
def test_tables_hold_what_was_measured(run: Run) -> None:
    shown = run("compare", "ranks.json", "words.json", "--corpus", "news.txt").stdout
    found = compare({"ranks": ranks(), "words": word_piece()}, {"news.txt": Path("news.txt")})
    rows = {line.split("  ")[1]: line.split() for line in shown.splitlines() if "  " in line}
    assert "── news.txt · 29 bytes in 1 text" in shown and "words †" in shown
    tokens = [str(found[name]["all"]["tokens"]) for name in found]
    assert rows["tokens"][-2:] == tokens
    each = [f"{found[name]['all']['bytes_per_token']:.3f}" for name in found]
    assert rows["bytes per token"][-2:] == each
    assert "† words loses text: " in shown and "† ranks" not in shown


@pytest.mark.usefixtures("files")
def test_the_best_is_marked_but_not_where_text_is_lost(run: Run) -> None:
    shown = run("--help").stdout
    assert "compare" in shown
    shown = run(
        *("compare", "ranks.json", "words.json", "--corpus", "a=news.txt"),
        *("--color", "always", "--all"),
    ).stdout
    [line] = [line for line in shown.splitlines() if "lines that come back" in line]
    assert "\x1b[32m100.0%" in line
    [line] = [line for line in shown.splitlines() if "bytes per token" in line]
    assert "\x1b[32m" not in line, "only one of the two loses nothing"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "command",
    [
        ["compare", "ranks.json", "--corpus", "bad.txt"],
        ["report", "ranks.json", "--corpus", "bad.txt", "-o", "report.html"],
        ["diff", "ranks.json", "words.json", "bad.txt"],
        ["sweep", "bad.txt", "--sizes", "270", "--family", "bpe"],
    ],
    ids=lambda command: command[0],
)
def test_bytes_that_are_not_utf8(run: Run, command: list[str]) -> None:
    lines = [b"the weather %d" % number for number in range(60)]
    Path("bad.txt").write_bytes(b"\xff\n" + b"\n".join(lines))
    told = error_of(run(*command, code=1))
    assert "bad.txt" in told and "not UTF-8" in told and "--invalid" in told
    run(*command, "--invalid", "replace")


@pytest.mark.usefixtures("files")
def test_languages(run: Run) -> None:
    shown = run(
        "compare", "ranks.json", "--parallel", "en=en.txt", "--parallel", "de=de.txt"
    ).stdout
    assert "premium, by language" in shown and "Gini across languages" in shown
    by_de = run(
        "compare", "ranks.json", "--parallel", "en=en.txt", "--parallel", "de=de.txt",
        "--pivot", "de", "--format", "csv",
    ).stdout  # fmt: skip
    rows = {(row["where"], row["measure"]): row for row in csv.DictReader(io.StringIO(by_de))}
    assert rows["language de", "premium"]["value"] == "1.0"
    assert "those of de" in rows["language en", "premium"]["how"]
    assert rows["all", "bytes_per_token"]["value"] == "", "not measured is empty"


@pytest.mark.usefixtures("files")
def test_markdown_is_escaped(run: Run) -> None:
    Path("a_b|<i>.json").write_bytes(Path("ranks.json").read_bytes())
    text = run(
        "compare", "a_b|<i>.json", "words.json", "--corpus", "*x*=news.txt", "--format", "markdown"
    ).stdout
    assert "a\\_b\\|\\<i\\>" in text and "<i>" not in text.replace("\\<i\\>", "")
    [tokens] = [line for line in text.splitlines() if line.startswith("| tokens |")]
    assert tokens.count("|") == 4


@pytest.mark.usefixtures("files")
def test_json_is_kept_and_compared_with(run: Run) -> None:
    command = ["compare", "ranks.json", "--corpus", "news=news.txt"]
    run(*command, "--format", "json", "-o", "now.json")
    loaded = Comparison.load("now.json")
    assert loaded["ranks"]["news"]["bytes"] == 29
    assert json.loads(run(*command, "--format", "json").stdout) == loaded.to_dict()
    assert "nothing has changed" in run(*command, "--baseline", "now.json").stdout
    Path("news.txt").write_text("the theory", encoding="utf-8")
    told = run(*command, "--baseline", "now.json").stdout
    assert "ranks, news: bytes 29 -> 10" in told and "news: the text has changed" in told
    other = ["compare", "other=ranks.json", "--corpus", "other=news.txt", "--baseline", "now.json"]
    told = run(*other).stdout
    assert "no earlier tokenizer" in told and "no earlier text is measured: news" in told


@pytest.mark.usefixtures("files")
def test_a_report_gives_the_same_names(run: Run) -> None:
    texts = ["--corpus", "news.txt", "--parallel", "en=en.txt"]
    run("report", "ranks.json", "mine=words.json", *texts, "--save", "r.json", "-o", "r.html")
    shown = run("compare", "ranks.json", "mine=words.json", *texts, "--baseline", "r.json").stdout
    assert "nothing has changed" in shown
    run("report", "--from", "r.json", "--save", "again.json", "-o", "again.html")
    assert Path("again.json").read_bytes() == Path("r.json").read_bytes()


@pytest.mark.usefixtures("files")
def test_two_of_one_name_are_called_by_their_paths(run: Run) -> None:
    Path("sub").mkdir()
    Path("sub/news.txt").write_text("other", encoding="utf-8")
    Path("all").write_text("the weather", encoding="utf-8")
    texts = ["--corpus", "news.txt", "--corpus", "sub/news.txt", "--corpus", f"{Path.cwd()}/all"]
    run("compare", "ranks.json", *texts, "--format", "json", "-o", "it.json")
    names = ["news.txt", "sub/news.txt", f"{Path.cwd()}/all", "all"]
    assert Comparison.load("it.json").corpora == names


@pytest.mark.usefixtures("files")
def test_a_text_of_nothing_is_told(run: Run) -> None:
    Path("empty.txt").touch()
    shown = run("compare", "ranks.json", "--corpus", "empty.txt").stdout
    assert "empty.txt · 0 bytes in 0 texts" in shown


@pytest.mark.usefixtures("files")
def test_morphemes(run: Run) -> None:
    Path("parts.txt").write_text("the|ory\nweather|s\n", encoding="utf-8")
    shown = run(
        "compare", "ranks.json", "--corpus", "news.txt", "--morphemes", "parts.txt", "--all"
    ).stdout
    assert "F1 of morphemes" in shown


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ranks.json"], "give text to measure on"),
        (["ranks.json", "--parallel", "en.txt"], "not LANGUAGE=FILE"),
        (["ranks.json", "--corpus", "a=news.txt", "--corpus", "a=de.txt"], "is there twice"),
        (["ranks.json", "ranks.json", "--corpus", "news.txt"], "is there twice"),
        (["a=ranks.json", "a=words.json", "--corpus", "news.txt"], "is there twice"),
        (["ranks.json", "--corpus", "=news.txt"], "not NAME=PATH"),
        (
            ["ranks.json", "--corpus", "news.txt", "--baseline", "x", "--format", "csv"],
            "--baseline",
        ),
    ],
)
def test_usage_errors(run: Run, arguments: list[str], message: str) -> None:
    assert message in run("compare", *arguments, code=2).stderr


@pytest.mark.usefixtures("files")
def test_errors(run: Run) -> None:
    Path("three.txt").write_text("a\nb\nc\n", encoding="utf-8")
    Path("bad.txt").write_bytes(b"\xff|")
    told = error_of(run("compare", "ranks.json", "--corpus", "none.txt", code=1))
    assert "no such file" in told
    told = error_of(
        run("compare", "ranks.json", "--parallel", "en=en.txt", "--parallel", "x=three.txt", code=1)
    )
    assert "'en' has 2 lines and 'x' has 3" in told
    told = error_of(
        run("compare", "ranks.json", "--corpus", "news.txt", "--baseline", "en.txt", code=1)
    )
    assert "saved comparison" in told
    told = error_of(
        run("compare", "ranks.json", "--corpus", "news.txt", "--morphemes", "bad.txt", code=1)
    )
    assert "not UTF-8" in told
