"""Standard streams in any state: closed, full, of another encoding; and signals that end a command.

Look here for what a shell sees: exit codes, and one line on standard error.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import jeton
from command_line import JETON, needs_full, shell
from jeton.cli.signals import exit_code, signals_stop, temporary_folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the test is in, with a tokenizer and a text."""
    monkeypatch.chdir(tmp_path)
    jeton.BPETrainer(258).train(["hello hello"]).save("tok.json")
    Path("in.txt").write_text("hello\n", encoding="utf-8")
    return tmp_path


CLOSED = "bad file descriptor"
FULL = "no space left on device"


@pytest.mark.large
@needs_full
@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("jeton --help >&-", 1, f"standard output: {CLOSED}"),
        ("jeton --help > /dev/full", 1, f"standard output: {FULL}"),
        ("jeton encode --help > /dev/full", 1, f"standard output: {FULL}"),
        ("jeton --version > /dev/full", 1, f"standard output: {FULL}"),
        ("jeton demo --vocab-size 300 >&-", 1, f"standard output: {CLOSED}"),
        ("jeton demo --vocab-size 300 > /dev/full", 1, f"standard output: {FULL}"),
        ("jeton encode tok.json in.txt >&-", 1, f"standard output: {CLOSED}"),
        ("jeton encode tok.json in.txt > /dev/full", 1, f"standard output: {FULL}"),
        ("jeton encode tok.json in.txt -o /dev/full", 1, f"/dev/full: {FULL}"),
        ("jeton count tok.json in.txt --each > /dev/full", 1, f"standard output: {FULL}"),
        ("jeton cost tok.json in.txt --input-price 2 > /dev/full", 1, f"standard output: {FULL}"),
        ("jeton inspect tok.json --gotchas in.txt > /dev/full", 1, f"standard output: {FULL}"),
        ("jeton encode tok.json <&-", 1, f"standard input: {CLOSED}"),
        ("jeton decode tok.json <&-", 1, f"standard input: {CLOSED}"),
        ("jeton count tok.json in.txt <&-", 0, ""),
        ("jeton encode tok.json in.txt -o x.npy 2>&-", 0, ""),
        ("jeton encode tok.json none.txt 2>&-", 1, ""),
        ("jeton encode tok.json none.txt 2> /dev/full", 1, ""),
        ("jeton nothing 2> /dev/full", 2, ""),
        ("jeton convert tok.json a.json >&- 2>&- <&-", 1, ""),
    ],
)
def test_closed_and_full(command: str, code: int, told: str) -> None:
    ended, _, errors = shell(command)
    assert ended == code
    assert errors == (f"Error: {told}\n" if code == 1 and told else errors)
    assert "Traceback" not in errors and "mistake" not in errors


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def unbuffered(request: pytest.FixtureRequest) -> str:
    """A value of `PYTHONUNBUFFERED`, which takes the buffer from Python's own streams."""
    return str(request.param)


LONG = "hello world\n" * 30_000
PRINTING = {
    "encode": "jeton encode tok.json long.txt",
    "encode lines": "jeton encode tok.json --lines long.txt",
    "decode": "jeton decode tok.json ids.txt",
    "count": "jeton count tok.json --lines --each long.txt",
    "samples": "jeton samples languages",
    "data show": "jeton data show set --at 0 --tokens 30000 --ids",
    "check": "jeton check tok.json --format json",
    "compare": "jeton compare tok.json same.json --corpus long.txt --format json",
    "diff": "jeton diff tok.json same.json long.txt --format json",
}


@pytest.fixture
def long_output(folder: Path) -> None:
    """What `PRINTING` reads; each of its commands but a few prints more than a pipe holds."""
    Path("long.txt").write_text(LONG, encoding="utf-8")
    tok = jeton.load("tok.json")
    tok.save("same.json")
    Path("ids.txt").write_text(" ".join(map(str, tok.encode(LONG))), encoding="utf-8")


@pytest.mark.large
@pytest.mark.usefixtures("long_output")
@pytest.mark.parametrize("name", PRINTING)
def test_output_that_does_not_fit_is_an_error(name: str, unbuffered: str) -> None:
    if name == "data show":
        assert shell("jeton prepare tok.json long.txt -o set --no-end-of-text")[0] == 0
    whole = shell(PRINTING[name], PYTHONUNBUFFERED=unbuffered)
    assert whole[0] in (0, 1) and whole[2] == ""
    blocks = len(whole[1]) // 2048
    code, _, errors = shell(
        f"ulimit -f {blocks}; {PRINTING[name]} > cut",
        PYTHONUNBUFFERED=unbuffered,
    )
    assert Path("cut").stat().st_size == 1024 * blocks
    assert (code, errors) == (1, "Error: standard output: file too large\n")


@pytest.mark.large
@pytest.mark.usefixtures("long_output")
@pytest.mark.parametrize("name", ["encode", "decode", "count"])
def test_a_reader_that_leaves_ends_a_command(name: str, unbuffered: str) -> None:
    command = f"{PRINTING[name]} | head -c 10 > /dev/null; exit ${{PIPESTATUS[0]}}"
    assert shell(command, PYTHONUNBUFFERED=unbuffered) == (141, "", "")


@pytest.mark.large
@pytest.mark.usefixtures("long_output")
def test_a_pipe_that_does_not_block_is_waited_for(unbuffered: str) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    command = PRINTING["decode"].replace("jeton", JETON, 1).split()
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(command, stdout=write, env=environment) as process:
        os.close(write)
        time.sleep(0.5)  # so that it fills
        with open(read, "rb") as reader:
            assert reader.read() == LONG.encode()
        assert process.wait(30) == 0


FILES = {
    "report": "jeton report tok.json --corpus in.txt -o",
    "compare": "jeton compare tok.json --corpus in.txt --format json -o",
    "check": "jeton check tok.json --fail-on never --format json -o",
    "sweep": "jeton sweep in.txt --held-out in.txt --sizes 258,259 --format json -o",
    "samples": "jeton samples essays -o",
    "learn": "jeton learn bpe hello --html",
    "encode": "jeton encode tok.json in.txt --format text -o",
}


@pytest.mark.large
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_does_not_fit_is_named(name: str, folder: Path) -> None:
    Path("in.txt").write_text("hello\n" * 300, encoding="utf-8")
    before = sorted(os.listdir())
    code, _, errors = shell(f"ulimit -f 1; {FILES[name]} out.json")
    assert (code, errors.splitlines()[-1]) == (1, "Error: out.json: file too large")
    assert sorted(os.listdir()) == before


def test_a_closed_stream_is_not_the_next_file() -> None:
    assert shell("jeton encode tok.json in.txt -o x.txt >&- 2>&- <&-")[0] == 0
    assert Path("x.txt").read_text() == shell("jeton encode tok.json in.txt")[1]


@pytest.mark.large
@pytest.mark.parametrize("command", ["--help", "encode --help", "encode tok.json in.txt"])
def test_a_reader_that_never_came(command: str) -> None:
    code, _, errors = shell(f"jeton {command} | true; exit ${{PIPESTATUS[0]}}")
    assert code in (0, 141)
    assert errors == ""


@pytest.mark.large
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp437", "utf-16"])
@pytest.mark.parametrize(
    "command",
    [
        "jeton --help",
        "jeton demo --vocab-size 300",
        "jeton inspect tok.json --text 'hé 図 ─'",
        "jeton inspect tok.json --gotchas --text 'hé 図 \u200b \u202e'",
        "jeton cost tok.json 図.txt --input-price 2",
    ],
)
def test_output_in_every_encoding_of_the_terminal(command: str, encoding: str) -> None:
    Path("図.txt").write_text("hello")
    code, output, errors = shell(command, PYTHONIOENCODING=encoding)
    assert (code, errors) == (0, "")
    assert output


@pytest.mark.large
def test_signs_that_an_encoding_lacks_have_others() -> None:
    _, output, _ = shell("jeton inspect tok.json --text 'h 図'", PYTHONIOENCODING="latin-1")
    assert "-- 5 tokens · 3 characters" in output
    assert "h|·|?<1/3>|?<2/3>|?<3/3>" in output


@pytest.mark.large
def test_names_that_are_no_utf8_are_shown_by_their_bytes() -> None:
    name = os.fsdecode(b"\xff.txt")
    try:
        Path(name).write_text("hello", encoding="utf-8")
    except OSError:
        pytest.skip("the file system takes only names in UTF-8")
    sign = "‹ff›.txt".encode().decode("latin-1")
    assert shell(f"jeton count tok.json {name}")[1].endswith(f"{sign}\n")
    assert '"\\udcff.txt"' in shell(f"jeton count --format jsonl tok.json {name}")[1]
    assert shell(f"jeton count tok.json no{name}")[2].startswith(f"Error: no{sign}: no such")


@pytest.mark.large
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_nothing_behind(number: signal.Signals, folder: Path) -> None:
    before = sorted(os.listdir())
    command = [*JETON.split(), "encode", "tok.json", "--lines", "-o", "out.npy"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What runs in the background ignores SIGINT, and what outlives a terminal SIGHUP.
        preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in (1, 2, 15)],
    ) as process:
        assert process.stdin and process.stderr
        process.stdin.write(b"a line\n" * 200_000)
        process.stdin.flush()
        until = time.monotonic() + 30
        while sorted(os.listdir()) == before and time.monotonic() < until:
            time.sleep(0.01)
        assert sorted(os.listdir()) != before, "work has begun"
        process.send_signal(number)
        assert process.wait(30) == 128 + number
        assert b"nothing was left half-written" in process.stderr.read()
    assert sorted(os.listdir()) == before


def test_ignored_signals_stay_ignored() -> None:
    code, output, _ = shell("trap '' TERM HUP; (kill -TERM $BASHPID; jeton encode tok.json in.txt)")
    assert (code, bool(output)) == (0, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_waits_for_what_cleans_up(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = tempfile.TemporaryDirectory.cleanup

    def disturbed(folder: tempfile.TemporaryDirectory[str]) -> None:
        signal.raise_signal(number)
        remove(folder)

    monkeypatch.setattr(tempfile.TemporaryDirectory, "cleanup", disturbed)
    before = signal.signal(number, signal.SIG_DFL)
    if number == signal.SIGINT:
        signal.signal(number, signal.default_int_handler)
    try:
        with signals_stop(), pytest.raises(KeyboardInterrupt) as stopped:  # noqa: SIM117
            with temporary_folder() as folder:
                (folder / "file").touch()
    finally:
        signal.signal(number, before)
    assert exit_code(stopped.value) == 128 + number
    assert not folder.exists()
