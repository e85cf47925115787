"""Where commands write: what is there already, what they read, links, folders and long names."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import jeton
from command_line import Run, error_of, here, run
from jeton.cli import main

TEXT = "hello hello help\n" * 9

WRITERS: dict[str, tuple[str, str]] = {
    "encode": ("encode tok.json in.txt -o", "new.txt"),
    "encode: jsonl": ("encode tok.json in.txt -o", "new.jsonl"),
    "encode: offsets": ("encode tok.json in.txt -o x.npy --offsets", "new.npy"),
    "decode": ("decode tok.json ids.txt -o", "new.text"),
    "convert": ("convert tok.json", "new.json"),
    "diff": ("diff tok.json tok.json in.txt -o", "new.report"),
    "report": ("report tok.json --corpus in.txt -o", "new.html"),
    "sweep": ("sweep in.txt --sizes 257 --family bpe --held-out ids.txt -o", "new.report"),
    "compare": ("compare tok.json --corpus in.txt -o", "new.report"),
    "check": ("check tok.json --fail-on never -o", "new.report"),
    "train": ("train in.txt --vocab-size 258 -o", "new.json"),
    "train: counts": ("train in.txt --vocab-size 258 -o x.json --save-counts", "new.counts"),
}
"""The start of a command, and a name that it writes to if that comes next."""


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    """A corpus, a tokenizer, ids."""
    (here / "in.txt").write_text(TEXT, encoding="utf-8")
    (here / "ids.txt").write_text("104 105\n", encoding="utf-8")
    jeton.BPETrainer(258, pattern="gpt2").train([TEXT]).save("tok.json")


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> tuple[list[str], str]:
    """A row of `WRITERS`."""
    start, name = WRITERS[request.param]
    return start.split(), name


def test_nothing_is_replaced_without_force(run: Run, writer: tuple[list[str], str]) -> None:
    start, name = writer
    Path(name).write_text("mine", encoding="utf-8")
    message = error_of(run(*start, name, code=1))
    assert f"{name}: exists already (--force replaces it)" in message
    assert Path(name).read_text(encoding="utf-8") == "mine"
    Path(name).chmod(0o640)
    run(*start, name, "--force")
    assert Path(name).read_bytes() != b"mine"
    assert Path(name).stat().st_mode & 0o777 == 0o640


def test_a_hyphen_is_standard_output_and_never_a_file(writer: tuple[list[str], str]) -> None:
    start, _ = writer
    result = CliRunner().invoke(main, [*start, "-"])
    assert not Path("-").exists()
    if result.exit_code == 0:
        assert result.stdout
    else:
        assert "(name a file)" in error_of(result)


def test_nothing_that_is_read_is_written_to(run: Run, writer: tuple[list[str], str]) -> None:
    start, name = writer
    read = start[2] if start[0] in ("encode", "decode") else start[1]
    before = Path(read).read_bytes()
    os.link(read, f"hard-{name}")
    os.symlink(read, f"soft-{name}")
    for spelling in (read, f"./{read}", os.path.abspath(read), f"hard-{name}", f"soft-{name}"):
        forced = [*start, spelling, "--force"]
        if start[0] == "encode" and "--offsets" not in start:
            forced += ["--format", "text"]
        result = CliRunner().invoke(main, forced)
        assert result.exit_code == 1
        told = ("is one of the inputs", "the name does not say the format", "vocab.txt cannot hold")
        assert any(words in result.stderr for words in told), result.stderr
        assert Path(read).read_bytes() == before


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("encode tok.json in.txt -o tok.json --format text", "tok.json: is one of the inputs"),
        ("decode tok.json ids.npy --offsets o.npy -o o.npy", "o.npy: is one of the inputs"),
        ("convert vocab.json other.json --merges m.txt", None),
        ("convert vocab.json m.txt --merges m.txt", "m.txt: is one of the inputs"),
        ("train . -o in.txt --kind wordpiece", "in.txt: is one of the inputs, in ."),
        ("train tok.json -o folder --start-from in.txt", None),
        ("encode tok.json in.txt -o x.npy --offsets ./x.npy", "./x.npy: the ids go there"),
        ("convert folder/tokenizer.json folder", "folder/tokenizer.json: is one of the inputs"),
    ],
)
def test_whatever_it_is_read_for(run: Run, command: str, told: str | None) -> None:
    tok = jeton.load("tok.json")
    tok.save("vocab.json")
    Path("folder").mkdir()
    tok.save("folder")
    os.rename("merges.txt", "m.txt")
    np.save("ids.npy", np.arange(9))
    np.save("o.npy", np.array([0, 9]))
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    if told is not None:
        assert told in error_of(run(*command.split(), "--force", code=1))
    else:
        CliRunner().invoke(main, command.split())
    assert all(path.read_bytes() == data for path, data in before.items())


def test_standard_input_is_an_input(run: Run) -> None:
    command = f"{sys.executable} -m jeton encode tok.json -o in.txt --force < in.txt"
    assert os.waitstatus_to_exitcode(os.system(f"{command} 2> told")) == 1
    assert "in.txt: is one of the inputs" in Path("told").read_text(encoding="utf-8")
    assert Path("in.txt").read_text(encoding="utf-8") == TEXT


@pytest.mark.large
@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("count tok.json in.txt", "in.txt"),
        ("encode tok.json in.txt", "in.txt"),
        ("inspect tok.json --text hello", "tok.json"),
        ("convert tok.json new.json", "tok.json"),
        ("prepare tok.json in.txt -o set --no-end-of-text", "in.txt"),
        ("train in.txt -o new.json --vocab-size 258", "in.txt"),
        ("cost tok.json in.txt --input-price 1", "in.txt"),
        ("chat tok.json turns.json --template chatml", "turns.json"),
        ("chat tok.json turns.json --template own.jinja", "own.jinja"),
        ("decode tok.json ids.txt", "ids.txt"),
        ("diff tok.json tok.json in.txt", "in.txt"),
        ("check tok.json --baseline turns.json", "turns.json"),
        ("compare tok.json --corpus text=in.txt", "in.txt"),
        ("compare tok.json --corpus in.txt --baseline turns.json", "turns.json"),
        ("compare tok.json --parallel de=in.txt --parallel en=ids.txt", "ids.txt"),
        ("compare tok.json --corpus in.txt --morphemes ids.txt", "ids.txt"),
        ("sweep in.txt --held-out ids.txt --sizes 258", "ids.txt"),
        ("edit add tok.json --words in.txt -o new.json", "in.txt"),
        ("learn bpe --file in.txt", "in.txt"),
        ("learn wordpiece --file in.txt", "in.txt"),
        ("learn unigram --file in.txt", "in.txt"),
        ("learn bytes --file in.txt", "in.txt"),
        ("learn encode tok.json --file in.txt", "in.txt"),
        ("learn encode tok.json hello", "tok.json"),
        ("learn --grade in.txt", "in.txt"),
    ],
)
def test_standard_output_is_no_input(run: Run, command: str, read: str) -> None:
    Path("turns.json").write_text('[{"role": "user", "content": "hello"}]', encoding="utf-8")
    Path("own.jinja").write_text("{{ messages[0].content }}", encoding="utf-8")
    before = Path(read).read_bytes()
    shell = f"{sys.executable} -m jeton {command} >> {read} 2> told"
    assert os.waitstatus_to_exitcode(os.system(shell)) == 1
    told = Path("told").read_text(encoding="utf-8")
    assert told == f"Error: standard output: is one of the inputs, {read} (name another file)\n"
    assert Path(read).read_bytes() == before
    assert not Path("new.json").exists() and not Path("set").exists()


@pytest.mark.large
@pytest.mark.parametrize("command", ["data show set", "data verify set", "data mix set"])
def test_standard_output_is_no_file_of_a_set(run: Run, command: str) -> None:
    run("prepare", "tok.json", "in.txt", "-o", "set", "--no-end-of-text")
    read = Path("set/tokenizer.json")
    before = read.read_bytes()
    shell = f"{sys.executable} -m jeton {command} >> {read} 2> told"
    assert os.waitstatus_to_exitcode(os.system(shell)) == 1
    told = Path("told").read_text(encoding="utf-8")
    assert told == f"Error: standard output: is one of the inputs, {read} (name another file)\n"
    assert read.read_bytes() == before


RESUMED = {"prepare", "data merge"}
"""Commands that fill a folder, and go on with one that they have begun."""


def commands(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands, those of groups too."""
    for part in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), part)
        if isinstance(command, click.Group):
            yield from commands(command, f"{name}{part} ")
        elif command is not None:
            yield f"{name}{part}", command


def test_each_command_that_writes_has_force() -> None:
    writing = set()
    for name, command in commands(main):
        options = {option for parameter in command.params for option in parameter.opts}
        if options & {"-o", "--output", "--html"} and name not in RESUMED:
            writing.add(name)
            assert "--force" in options, name
    assert {"encode", "train", "check", "diff", "edit prune"} <= writing


@pytest.mark.parametrize("name", ["val.bin", "val", "val.np", "a.tokens"])
def test_an_ending_that_says_no_form(run: Run, here: Path, name: str) -> None:
    message = error_of(run("encode", "tok.json", "in.txt", "-o", name, code=1))
    assert f"{name}: the name does not say the format of the ids" in message
    assert not (here / name).exists()
    run("encode", "tok.json", "in.txt", "-o", name, "--format", "jsonl")
    assert (here / name).read_bytes().startswith(b'{"ids":')


@pytest.mark.parametrize("start", ["convert tok.json", "train in.txt --vocab-size 258 -o"])
class TestFolders:
    @pytest.mark.large
    def test_existing_targets_are_not_overwritten(self, run: Run, start: str) -> None:
        folder = Path("folder.v2")
        folder.mkdir()
        (folder / "weights").write_text("mine", encoding="utf-8")
        run(*start.split(), "folder.v2")
        assert jeton.load(folder).vocab_size == 258
        (folder / "tokenizer.json").write_text("mine", encoding="utf-8")
        message = error_of(run(*start.split(), "folder.v2", code=1))
        assert message.startswith("folder.v2/") and message.endswith("(--force replaces it)")
        run(*start.split(), "folder.v2", "--force")
        assert jeton.load(folder).vocab_size == 258
        assert (folder / "weights").read_text(encoding="utf-8") == "mine"

    @pytest.mark.large
    def test_a_new_one(self, run: Run, start: str) -> None:
        run(*start.split(), "folder")
        assert jeton.load("folder").vocab_size == 258
        error_of(run(*start.split(), "folder", code=1))
        run(*start.split(), "folder", "--force")

    @pytest.mark.large
    def test_this_one_and_the_one_above(
        self, run: Run, start: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        command = start.replace("tok", "../../tok").replace("in.txt", "../../in.txt").split()
        inner = Path("outer", "inner")
        inner.mkdir(parents=True)
        monkeypatch.chdir(inner)
        for name, folder in ((".", "."), ("..", ".."), ("./", "."), ("../inner/../", "..")):
            run(*command, name)
            assert jeton.load(folder).vocab_size == 258
            assert error_of(run(*command, name, code=1)).endswith("(--force replaces it)")
            for written in Path(folder).glob("*.json"):
                written.unlink()
        assert os.listdir() == [] and os.listdir("..") == ["inner"]

    def test_folders_may_have_a_dot_in_their_names(self, run: Run, here: Path, start: str) -> None:
        message = run(*start.split(), "folder.v2/", code=2).stderr
        assert "folder.v2/: there is no such folder (make it first)" in " ".join(message.split())
        (here / "folder.v2").mkdir()
        run(*start.split(), "folder.v2/")
        assert jeton.load("folder.v2").vocab_size == 258

    def test_help_says_so(self, run: Run, start: str) -> None:
        assert "folder as transformers" in " ".join(run(start.split()[0], "--help").stdout.split())


def test_several_sizes_need_a_name(run: Run) -> None:
    command = "train in.txt --vocab-size 258 --vocab-size 259 -o ."
    assert "several sizes need a file name" in run(*command.split(), code=2).stderr


def test_a_folder_is_no_file(run: Run, here: Path) -> None:
    (here / "new.txt").mkdir()
    for command in ("encode tok.json in.txt", "decode tok.json ids.txt"):
        message = error_of(run(*command.split(), "-o", "new.txt", "--force", code=1))
        assert message == "new.txt: is a folder (name a file in it)"
    assert "is not a folder" in error_of(run("demo", "--out", "in.txt", code=1))


def test_links_stay_links(run: Run, writer: tuple[list[str], str]) -> None:
    start, name = writer
    Path("elsewhere").mkdir()
    os.symlink("elsewhere/there", name)
    run(*start, name)
    assert os.readlink(name) == "elsewhere/there"
    first = Path("elsewhere/there").read_bytes()
    Path("x.json").unlink(missing_ok=True)
    Path("x.npy").unlink(missing_ok=True)
    error_of(run(*start, name, code=1))
    run(*start, name, "--force")
    assert os.readlink(name) == "elsewhere/there"
    assert Path("elsewhere/there").read_bytes() == first


def test_a_name_as_long_as_names_are(run: Run, writer: tuple[list[str], str]) -> None:
    start, name = writer
    ending = Path(name).suffix
    longest = "x" * (255 - len(ending)) + ending
    run(*start, longest)
    assert Path(longest).stat().st_size > 0
    for part in ("x.json", "x.npy"):
        Path(part).unlink(missing_ok=True)
    before = sorted(os.listdir())
    assert "file name too long" in error_of(run(*start, f"x{longest}", code=1))
    assert sorted(os.listdir()) == before


def test_a_name_that_is_no_utf8(run: Run, writer: tuple[list[str], str]) -> None:
    start, name = writer
    strange = os.fsdecode(b"\xff") + name
    try:
        Path(strange).touch()
    except OSError:
        pytest.skip("the file system takes only names in UTF-8")
    Path(strange).unlink()
    run(*start, strange)
    assert Path(strange).stat().st_size > 0
    if name.endswith(".json"):
        assert jeton.load(strange).vocab_size == 258
    if start[0] == "train":
        os.rename("in.txt", os.fsdecode(b"\xfe.txt"))
        run("train", os.fsdecode(b"\xfe.txt"), "-o", "y.json", "--vocab-size", "258")
        run("count", "y.json", os.fsdecode(b"\xfe.txt"))


@pytest.mark.parametrize("start", ["encode tok.json", "count tok.json", "decode tok.json"])
def test_missing_folders_are_named(run: Run, start: str) -> None:
    output = [] if start.startswith("count") else ["-o", "x.txt"]
    message = error_of(run(*start.split(), "ids.txt", "missing.txt", *output, code=1))
    assert message.startswith("missing.txt: no such file")
    assert not Path("x.txt").exists()


def test_files_that_appear_meanwhile_are_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(function: Callable[..., object]) -> Callable[..., object]:
        def made(*arguments: object, **options: object) -> object:
            for name in ("new.npy", "new.json"):
                Path(name).write_text("mine", encoding="utf-8")
            return function(*arguments, **options)

        return made

    monkeypatch.setattr(jeton.Tokenizer, "encode_batch", mine(jeton.Tokenizer.encode_batch))
    monkeypatch.setattr(jeton.Tokenizer, "save", mine(jeton.Tokenizer.save))
    for command in ("encode tok.json in.txt -o new.npy", "convert tok.json new.json"):
        Path("new.npy").unlink(missing_ok=True)
        Path("new.json").unlink(missing_ok=True)
        assert "exists already" in error_of(run(*command.split(), code=1))
        assert Path(command.split()[-1]).read_text(encoding="utf-8") == "mine"


def test_the_demo_asks_too(run: Run) -> None:
    run("demo", "--vocab-size", "300", "--out", "out")
    assert "out/tokenizer.json: exists already" in error_of(run("demo", "--out", "out", code=1))
    run("demo", "--vocab-size", "301", "--out", "out", "--force")
    assert jeton.load("out/tokenizer.json").vocab_size == 301


def test_tokens_that_are_added_in_vain(run: Run) -> None:
    for command in (
        ["encode", "tok.json"],
        ["count", "tok.json"],
        ["inspect", "tok.json", "--text", "he"],
    ):
        result = run(*command, "--add-special-tokens", input="he")
        assert "warning: --add-special-tokens adds nothing" in result.stderr
    assert "adds nothing" not in run("encode", "tok.json", input="he").stderr


def test_a_txt_target_holds_word_pieces(run: Run) -> None:
    trainer = jeton.WordPieceTrainer(40)
    trainer.train([TEXT]).save("wp40.txt")
    run("train", "in.txt", "-o", "wp.txt", "--kind", "wordpiece", "--vocab-size", "40")
    run("convert", "wp.txt", "again.TXT")
    assert jeton.load("wp40.txt").vocab == jeton.load("again.TXT").vocab
    with pytest.raises(jeton.errors.UnsupportedError, match=r"x\.txt: .* BPE"):
        jeton.load("tok.json").save("x.txt")
