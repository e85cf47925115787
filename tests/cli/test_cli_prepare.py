"""`jeton prepare` and `jeton data`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Run, error_of, here, run
from jeton import CharTrainer
from jeton.data import Manifest, Mixture, TokenDataset
from prepared import END, documents, flat, rows, tokenizer, tokens_of

TOK = tokenizer()
TEXTS = [text for text in documents(120) if "\n" not in text]


@pytest.fixture(autouse=True)
def corpus(here: Path) -> None:
    """A tokenizer and a corpus in the folder of the test."""
    TOK.save(here / "tok.json")
    (here / "in.txt").write_text("\n".join(TEXTS))


def test_prepare(run: Run, here: Path) -> None:
    done = run(
        *"prepare tok.json in.txt -o out --documents line --layout nanogpt --validation 0.1".split()
    )
    assert done.stdout == "out\n"
    tokens = flat(rows(TOK, TEXTS))
    cut = len(tokens) * 9 // 10
    assert f"train: {cut:,} tokens" in done.stderr
    assert f"{END} (0) between documents; " in done.stderr
    assert tokens_of(here / "out") == tokens[:cut]
    assert tokens_of(here / "out", "val") == tokens[cut:]
    # Once more is no more work, and other options are another set.
    run(
        *"prepare tok.json in.txt -o out --documents line --layout nanogpt --validation 0.1".split()
    )
    failed = run(*"prepare tok.json in.txt -o out --documents line".split(), code=1)
    assert error_of(failed).startswith("out: holds another set, with another layout; choose")


def test_filters_of_prepare(run: Run, here: Path) -> None:
    scores = [number % 4 for number in range(len(TEXTS))]
    records = [{"text": text, "score": it} for text, it in zip(TEXTS, scores, strict=True)]
    (here / "in.jsonl").write_text("".join(json.dumps(it) + "\n" for it in records))
    command = ["prepare", "tok.json", "in.jsonl", "-o", "out"]
    done = run(*command, "--filter", "score >= 2", "--filter", "score != 3")
    left_out = sum(it < 2 for it in scores)
    assert f"{left_out} records left out by score >= 2" in done.stderr
    manifest = Manifest.read(here / "out")
    kept = sum(it == 2 for it in scores)
    assert manifest.documents + manifest.empty_documents == kept
    failed = run(*command[:-1], "other", "--filter", "score", code=1)
    assert "'score' is not a rule such as" in error_of(failed)
    failed = run(*command[:-1], "other", "--filter", "score > 1", "--documents", "line", code=1)
    assert "filter is for records" in failed.stderr


def test_options_of_prepare(run: Run, here: Path) -> None:
    (here / "v.jsonl").write_text('{"body": "to be"}\n')
    (here / "in.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in TEXTS))
    run(
        *"prepare tok.json in.jsonl -o out --field body --validation v.jsonl --shuffle 3".split(),
        *"--shard-tokens 500 --layout megatron --end-of-text <|user|>".split(),
        *"--end-of-text-place before --memory 64MB --invalid replace".split(),
    )
    manifest = Manifest.read(here / "out")
    assert manifest.end_of_text == {"token": "<|user|>", "id": 1, "place": "before"}
    assert manifest.options["shuffle"] == 3
    assert manifest.splits["val"].documents == 1
    assert manifest.tokenizer["name"] == "tok.json"
    assert len(manifest.splits["train"].shards) > 2
    (here / "more.txt").write_text("to be")
    run(*"prepare tok.json in.txt more.txt -o two --no-end-of-text".split())
    assert Manifest.read(here / "two").end_of_text is None


def test_a_split_that_is_not_drawn_from_all_in_its_share_is_said(run: Run, here: Path) -> None:
    (here / "many").mkdir()
    for number in range(40):
        (here / "many" / f"{number:02}.txt").write_text("to be " * (1 + 2_000 * (number == 0)))
    line = "prepare tok.json many --validation 0.3 -o".split()
    drawn = run(*line, "drawn").stderr
    assert "% of the tokens, not 30.0%: whole documents are drawn, and 40 documents" in drawn
    end = "val is the end of the input, up to many/39.txt"
    ended = run(*line, "ended", "--split", "cut").stderr
    assert end in ended and "of the tokens" not in ended
    assert end not in run(*line, "mixed", "--split", "cut", "--shuffle", "1").stderr
    even = run(
        *"prepare tok.json in.txt -o even --documents line --split hash".split(),
        "--validation",
        "0.3",
    ).stderr
    assert "val: " in even and "of the tokens" not in even


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("prepare tok.json", "Missing argument 'INPUT...'"),
        ("prepare tok.json in.txt", "Missing option '-o'"),
        ("prepare tok.json in.txt -o x --layout nanogtp", "'nanogtp' is not one of"),
        ("prepare tok.json in.txt -o x --part 3", "'3' is not PART/PARTS"),
        ("prepare tok.json in.txt -o x --shuffle -1", "is not in the range x>=0"),
        ("prepare tok.json in.txt -o x --end-of-text a --no-end-of-text", "not both"),
        ("prepare tok.json in.txt -o in.txt", "in.txt is a file, and a set is a folder"),
        ("prepare tok.json in.txt -o x --split hash", "--split goes with --validation"),
        ("prepare tok.json in.txt -o x --set a=1", "--set goes with --messages"),
        ("data show x --ids --text", "not both"),
        ("data show x --split val", "--split goes with --at"),
    ],
)
def test_commands_that_make_no_sense(run: Run, command: str, told: str) -> None:
    assert told in run(*command.split(), code=2).stderr


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("prepare tok.json no.txt -o x", "'no.txt': there is no such file"),
        ("prepare no.json in.txt -o x", "no.json"),
        ("prepare tok.json in.txt -o x --validation 7", "must be between 0 and 1"),
        ("prepare tok.json in.txt -o x --end-of-text <|end|>", "is not a token of this tokenizer"),
        ("prepare tok.json in.txt -o x --part 3/2", "there is no part 3 of 2"),
        ("data show x", "there is no such file; a set that jeton has prepared completely has one"),
        ("data verify x", "there is no such file"),
        ("data merge x -o y", "there is no such file"),
        ("data mix x=1", "there is no such file"),
        ("data mix 1 x", "there is no such file"),
        ("data mix 1 x 2", "weights and paths in turn"),
    ],
)
def test_errors(run: Run, here: Path, command: str, told: str) -> None:
    assert told in error_of(run(*command.split(), code=1))
    assert not (here / "x").exists()


def test_verify(run: Run, here: Path) -> None:
    run(*"prepare tok.json in.txt -o out --documents line --validation 0.5".split())
    done = run("data", "verify", "out")
    assert done.stdout.startswith("out: 5 files, ")
    assert done.stdout.endswith(": all as they were written\n")
    path = here / "out" / "val-00000.bin"
    path.write_bytes(path.read_bytes()[:-2])
    (here / "out" / "train-00000.ends").unlink()
    failed = run("data", "verify", "out", code=1)
    assert "out/train-00000.ends: is missing\n" in failed.stdout
    assert "out/val-00000.bin: is truncated: " in failed.stdout
    assert "Error: out: 2 files are damaged" in failed.stderr


def test_show(run: Run, here: Path) -> None:
    run(
        *"prepare tok.json in.txt -o out --documents line --layout nanogpt --validation 0.5".split()
    )
    done = run("data", "show", "out")
    for told in (
        "out · nanogpt",
        "400 tokens, as uint16",
        f"{END} (0) after each",
        "in.txt",
        "val",
    ):
        assert told in done.stdout or told == "in.txt"
    tokens = flat(rows(TOK, TEXTS))
    ids = run(*"data show out --at 100 --tokens 30 --ids".split()).stdout
    assert ids == " ".join(map(str, tokens[100:130])) + "\n"
    text = run(*"data show out --at 100 --tokens 30 --text".split()).stdout
    assert text == TOK.decode(tokens[100:130])
    shown = run(*"data show out --at -20 --split val".split()).stdout
    assert f"val · tokens {len(tokens) - len(tokens) // 2 - 20:,} to " in shown
    assert "│" in shown
    failed = run(*"data show out --at 9999999".split(), code=2)
    assert "train has " in failed.stderr
    (here / "out" / "tokenizer.json").unlink()
    run(*"data show out --at 5".split(), code=1)
    run(*"data show out --at 5 --tokenizer tok.json".split())
    CharTrainer().train("to be").save(here / "other.json")
    failed = run(*"data show out --at 5 --tokenizer other.json".split(), code=1)
    assert "out: tokenizer is not the one that the set was prepared with" in error_of(failed)


def test_merge(run: Run, here: Path) -> None:
    for number in range(5):
        (here / f"{number}.txt").write_text("\n".join(TEXTS[number::5]))
    files = " ".join(f"{number}.txt" for number in range(5))
    run(*f"prepare tok.json {files} -o whole --documents line --shuffle 1".split())
    for part in (1, 2):
        more = f"--documents line --shuffle 1 --part {part}/2"
        run(*f"prepare tok.json {files} -o part-{part} {more}".split())
    assert "part 1 of 2" in run("data", "show", "part-1").stdout
    done = run(*"data merge part-1 part-2 -o out".split())
    assert done.stdout == "out\n"
    assert tokens_of(here / "out") == tokens_of(here / "whole")
    failed = run(*"data merge part-1 -o one".split(), code=1)
    assert error_of(failed) == "of 2 parts, these are missing: 2"


def test_progress_as_json(run: Run) -> None:
    done = run(*"prepare tok.json in.txt -o out --documents line --progress json".split())
    steps = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert steps[-1]["phase"] == "finishing"
    assert steps[-1]["tokens"] == Manifest.read("out").tokens
    quiet = run(*"prepare tok.json in.txt -o two --documents line --progress json -q".split())
    assert quiet.stderr == ""


def test_names_that_are_no_utf8(run: Run, here: Path) -> None:
    tokenizer, text = (os.fsdecode(b"\xff" + name) for name in (b".json", b".txt"))
    try:
        Path(text).write_text("hello", encoding="utf-8")
    except OSError:
        pytest.skip("the file system takes only names in UTF-8")
    os.rename("tok.json", tokenizer)
    run("prepare", tokenizer, text, "-o", "out")
    assert Manifest.read("out").tokenizer["name"] == "\ufffd.json"


@pytest.mark.parametrize(("signal_", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_it(here: Path, signal_: signal.Signals, code: int) -> None:
    # Standard input that does not end: there is always more to wait for.
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jeton",
            *"prepare tok.json - -o out --documents line --progress json".split(),
        ],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write("\n".join(TEXTS * 200).encode())
    process.stdin.flush()
    # It has begun.
    assert b'"phase": "encoding"' in process.stderr.readline()
    process.send_signal(signal_)
    told = process.communicate(timeout=60)[1].decode()
    assert process.returncode == code, told
    assert "stopped; the same command resumes" in told
    assert not (here / "out" / "manifest.json").exists()


def test_mix(run: Run, here: Path) -> None:
    for name in ("web", "code"):
        run(*f"prepare tok.json in.txt -o {name} --documents line".split())
    size = len(TokenDataset("web"))
    line = "data mix web=0.5 code=0.5 --tokens 1K --seed 3 -o mixture.json"
    assert "1,000" in run(*line.split()).stdout
    mixture = Mixture.read("mixture.json")
    assert mixture.seed == 3
    assert [(it.name, it.size, it.tokens) for it in mixture.sources] == [
        ("web", size, 500),
        ("code", size, 500),
    ]
    assert "exists already" in error_of(run(*line.split(), code=1))
    done = run(*"data mix web=2x code=0.1K --format json".split())
    record = json.loads(done.stdout)
    assert [(it["name"], it["tokens"]) for it in record["sources"]] == [
        ("web", 2 * size),
        ("code", 100),
    ]
    blend = json.loads(run(*"data mix 3 web 1 code --format json".split()).stdout)
    assert blend["tokens"] == size + size // 3
    again = run(*f"data mix web=1 code=1 --tokens {size * 9}".split(), code=1)
    assert "would come 4.5 times, and max_epochs is 4" in error_of(again)


@pytest.mark.parametrize("source", ["=1", "web=", "web=x", "web=-1", "web=0", "web=1/0", "a=1 a=2"])
def test_mix_of_wrong_sources(run: Run, source: str) -> None:
    run("data", "mix", *source.split(), code=2)


def test_help(run: Run) -> None:
    for command in (
        ["prepare"],
        ["data"],
        ["data", "verify"],
        ["data", "show"],
        ["data", "merge"],
        ["data", "mix"],
    ):
        assert run(*command, "--help").stdout.startswith("Usage: ")


def test_conversations(run: Run, here: Path) -> None:
    turns = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "It is so."}]
    records = [
        {"chat": turns * 3, "day": "x"},
        {"chat": [*turns, {"role": "user", "content": "y" * 300}, turns[1]]},
        {"other": 1},
    ]
    (here / "in.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (here / "t.jinja").write_text(
        "{% for m in messages %}<|user|>{{ m.content }}{{ mark }}{% endfor %}"
    )
    line = "prepare tok.json in.jsonl -o out --messages chat --template t.jinja --max-tokens 30"
    failed = run(*line.split(), code=1)
    assert error_of(failed).startswith("in.jsonl: line 3: there is no field 'chat'")
    options = "--set mark=. --roles user --roles assistant --too-long truncate --bad-records drop"
    done = run(*line.split(), *options.split())
    assert done.stdout == "out\n"
    told = done.stderr.splitlines()
    assert "of 1 document" in told[0] and "tokens are learnt, " in told[1]
    assert "1 conversation truncated, by " in told[2]
    assert told[3] == "1 record left out: too long"
    assert told[4] == "1 record left out: no conversation to learn from"
    assert Manifest.read(here / "out").chats is not None
    facts = run("data", "show", "out").stdout
    assert "1; 1 truncated, 1 too long and 1 bad left out" in facts and "tokens are learnt" in facts
    shown = run("data", "show", "out", "--at", "1").stdout
    assert "are learnt: 1-" in shown
    coloured = run("data", "show", "out", "--at", "1", "--color", "always").stdout
    assert "the others are pale" in coloured
    failed = run(*"prepare tok.json in.jsonl -o b --too-long drop".split(), code=2)
    assert "--too-long goes with --messages" in failed.stderr


def test_the_output_says_what_a_document_is(run: Run, here: Path) -> None:
    said = "each file of text is a document (--documents line: each line is;"
    (here / "in.jsonl").write_text('{"text": "to be"}\n')
    for name, files in {"lines": ["a.jsonl"], "mixed": ["a.jsonl", "b.txt"]}.items():
        (here / name).mkdir()
        for file in files:
            (here / name / file).write_text('{"text": "to be"}\n')
    cases = {
        "in.txt": True,
        "in.jsonl": False,
        "in.txt --documents file": False,
        "lines": False,
        "mixed": True,
    }
    for command in ("prepare tok.json {} -o {}", "train {} -o {} --kind char"):
        for number, (given, is_said) in enumerate(cases.items()):
            out = f"{command[0]}{number}" + ".json" * command.startswith("train")
            assert (said in run(*command.format(given, out).split()).stderr) == is_said


def test_bad_records_are_told(run: Run, here: Path) -> None:
    (here / "in.jsonl").write_text('{"text": "to be"}\n{"text": \n{"text": "or not"}\n')
    failed = run(*"prepare tok.json in.jsonl -o out".split(), code=1)
    assert error_of(failed).startswith("in.jsonl: line 2: no JSON object")
    done = run(*"prepare tok.json in.jsonl -o out --bad-records drop".split())
    assert "1 document left out: cannot be read or encoded" in done.stderr
    assert Manifest.read(here / "out").bad_documents == 1
    assert "2, and 0 empty and 1 bad" in run("data", "show", "out").stdout
