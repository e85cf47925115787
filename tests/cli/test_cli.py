"""The command line, command by command, inside this process.

Look here for what each command prints and how it fails; `test_cli_train.py` has `train`, and
`test_cli_process.py` what needs a process of its own (pipes, signals, terminals).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import jeton
from command_line import Run, error_of, here, run
from jeton import samples
from jeton.cli import COMMANDS, GROUPS, main
from jeton.cli.printing import isolated, terminal_text
from jeton.cli.terminal import width_of
from jeton.cli.verify import Check
from jeton.components import post_processors
from model_bytes import BPE, GOOD

END = "<|endoftext|>"

MERGES = ["h e", "l l", "he ll", "Ġ t", "Ġt he", "hell o", "Ġ w", "o r", "Ġw or", "l d"]


def printable() -> list[str]:
    """The 256 characters that stand for bytes in GPT-2's files, by byte."""
    own = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in own else chr(next(others)) for byte in range(256)]


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with GPT-2's pair of files: 256 bytes, ten merges, one special token."""
    folder = tmp_path_factory.mktemp("pair")
    tokens = [*printable(), *(merge.replace(" ", "") for merge in MERGES), END]
    vocab = {token: number for number, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(MERGES) + "\n", "utf-8")
    return str(folder)


@pytest.fixture
def special(pair: str) -> list[str]:
    return [pair, "--special-token", f"{END}=266"]


def ids_of(text: str, pair: str) -> list[int]:
    return jeton.load(pair).encode(text)


class TestEncode:
    def test_a_file_is_a_document(self, run: Run, here: Path, pair: str) -> None:
        (here / "a.txt").write_bytes(b"hello\r\nthe world\n")
        ids = ids_of("hello\r\nthe world\n", pair)
        assert run("encode", pair, "a.txt").stdout == " ".join(map(str, ids)) + "\n"

    def test_standard_input(self, run: Run, pair: str) -> None:
        expected = " ".join(map(str, ids_of("hello", pair))) + "\n"
        assert run("encode", pair, input="hello").stdout == expected
        assert run("encode", pair, "-", input="hello").stdout == expected

    def test_lines_are_documents(self, run: Run, pair: str) -> None:
        result = run("encode", pair, "--lines", input="hello\n\r\n\nhe")
        rows = [[int(number) for number in line.split()] for line in result.stdout.split("\n")]
        assert rows == [ids_of(text, pair) for text in ("hello", "\r", "", "he")] + [[]]

    def test_a_field_of_json_lines(self, run: Run, pair: str) -> None:
        data = '{"text": "he"}\n\n{"id": 1, "text": "hello\\nhe"}'
        result = run("encode", pair, "--field", "text", "--format", "jsonl", input=data)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        assert rows == [{"ids": ids_of(text, pair)} for text in ("he", "hello\nhe")]

    def test_spans(self, run: Run, pair: str) -> None:
        result = run("encode", pair, "--format", "jsonl", "--spans", input="é the")
        assert json.loads(result.stdout)["spans"] == [[0, 1], [0, 1], [1, 5]]

    def test_numpy_with_offsets(self, run: Run, here: Path, pair: str) -> None:
        text = "hello\n\nthe world\n"
        result = run("encode", pair, "--lines", "-o", "a.npy", "--offsets", "o.npy", input=text)
        assert "as uint16" in result.stderr
        ids, offsets = np.load("a.npy"), np.load("o.npy")
        assert (ids.dtype, offsets.dtype) == (np.uint16, np.int64)
        expected = [ids_of(line, pair) for line in text.splitlines()]
        rows = pairwise(offsets)
        assert [ids[start:end].tolist() for start, end in rows] == expected
        assert sorted(path.name for path in here.iterdir()) == ["a.npy", "o.npy"]

    def test_large_ids_need_uint32(self, run: Run, pair: str) -> None:
        done = run("encode", pair, "--special-token", "<|far|>=70000", "-o", "a.npy", input="he")
        assert done.stdout == ""
        assert np.load("a.npy").dtype == np.uint32

    def test_special_tokens(self, run: Run, special: list[str]) -> None:
        text = f"he{END}"
        ignored = run("encode", *special, input=text).stdout.split()
        assert "266" not in ignored
        assert run("encode", *special, "--special", "allow", input=text).stdout == "256 266\n"
        assert run("encode", *special, "--special", END, input=text).stdout == "256 266\n"
        assert END in error_of(run("encode", *special, "--special", "raise", input=text, code=1))
        run("encode", *special, "--special", "allow", "--special", END, input=text, code=2)

    def test_a_huge_line(self, run: Run, pair: str) -> None:
        text = "hello" * 400_000
        assert run("count", pair, "--lines", "--total", input=text).stdout == "400000\n"

    @pytest.mark.parametrize(
        ("arguments", "data", "message"),
        [
            (["nothing.txt"], b"", "nothing.txt: no such file"),
            (["."], b"", "holds no files"),
            ([], b"ab\xffcd", "-: not UTF-8 at byte 2"),
            (["--lines"], b"ab\nc\xff", "-: not UTF-8 at byte 4"),
            (["--field", "x"], b'{"y": 1}', '-: line 1: there is no field "x"'),
            (["--field", "x"], b'{"x": 1}', '-: line 1: no JSON object with a text "x"'),
            (["--field", "x"], b"[]", "-: line 1: no JSON object"),
            (["--field", "x"], b"{", "-: line 1: no JSON object"),
            (["--field", "x"], b"[" * 200_000, "-: line 1: "),
            (["-o", "no/where.txt"], b"a", "no: no such folder to write into"),
        ],
    )
    def test_errors(
        self, run: Run, pair: str, arguments: list[str], data: bytes, message: str
    ) -> None:
        assert message in error_of(run("encode", pair, *arguments, input=data, code=1))

    def test_a_failed_file_is_not_left(self, run: Run, here: Path, pair: str) -> None:
        (here / "out.txt").write_text("before")
        command = ["encode", pair, "--lines", "-o", "out.txt", "--force"]
        failed = run(*command, input=b"he\n\xff", code=1)
        assert "-: not UTF-8 at byte 3" in error_of(failed)
        assert (here / "out.txt").read_text() == "before"
        assert [path.name for path in here.iterdir()] == ["out.txt"]

    def test_invalid_bytes_can_be_replaced(self, run: Run, pair: str) -> None:
        result = run("encode", pair, "--invalid", "replace", input=b"he\xff")
        assert result.stdout.split() == [str(number) for number in ids_of("he\ufffd", pair)]

    def test_options_that_exclude_each_other(self, run: Run, pair: str) -> None:
        for arguments in (["--lines", "--field", "x"], ["--spans"], ["--offsets", "o.npy"]):
            assert "Error: " in run("encode", pair, *arguments, code=2).stderr


class TestDecode:
    @pytest.mark.parametrize("form", ["text", "jsonl", "npy"])
    @pytest.mark.parametrize("text", ["", "hello", "a\r\n\n b\u2028", samples.read("languages")])
    def test_decoding_restores_a_document_exactly(
        self, run: Run, here: Path, pair: str, form: str, text: str
    ) -> None:
        (here / "a.txt").write_bytes(text.encode())
        run("encode", pair, "a.txt", "--format", form, "-o", "ids")
        assert run("decode", pair, "ids").stdout_bytes == text.encode()
        assert run("decode", pair, input=(here / "ids").read_bytes()).stdout_bytes == text.encode()

    def test_lines_come_back_exactly(self, run: Run, pair: str) -> None:
        text = "hello\n\n the\nworld\n"
        ids = run("encode", pair, "--lines", input=text).stdout
        assert run("decode", pair, "--lines", input=ids).stdout == text
        run("encode", pair, "--lines", "-o", "a.npy", "--offsets", "o.npy", input=text)
        assert run("decode", pair, "a.npy", "--offsets", "o.npy", "--lines").stdout == text

    def test_json_lines(self, run: Run, pair: str) -> None:
        result = run("decode", pair, "--format", "jsonl", input="[256, 10]\n195\n")
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        assert rows == [{"text": "he\n"}, {"text": "\ufffd"}]

    def test_bytes_that_are_not_text(self, run: Run, pair: str) -> None:
        assert run("decode", pair, input="195").stdout_bytes == b"\xc3"
        assert run("decode", pair, "--invalid", "replace", input="195").stdout == "\ufffd"
        error_of(run("decode", pair, "--invalid", "strict", input="195", code=1))

    def test_special_tokens_can_be_left_out(self, run: Run, special: list[str]) -> None:
        assert run("decode", *special, input="256 266").stdout == f"he{END}"
        result = run("decode", *special, "--skip-special-tokens", input="256 266")
        assert result.stdout == "he"

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"1 two 3", "-:1: 'two' is not a token id"),
            (b"\n-2", "-:2: '-2' is not a token id"),
            (b"99999999999999999999", "is not a token id"),
            (b"[4294967296]", "-:1: 4294967296 is not a token id"),
            (b"[-1]", "-1 is not a token id"),
            (b"[1.5]", "expected"),
            (b"[true]", "expected"),
            (b'{"tokens": []}', "expected"),
            (b"{", "not JSON"),
            (b"\x93NUMPY\x01", "-: not a whole .npy file"),
            (b"\x93NUMPY\x01\x00\x04\x00{'(\n", "-: not a whole .npy file"),
            (b"5000", "5000"),
        ],
    )
    def test_errors(self, run: Run, pair: str, data: bytes, message: str) -> None:
        assert message in error_of(run("decode", pair, input=data, code=1))

    @pytest.mark.parametrize("array", [np.zeros((2, 2), int), np.zeros(2), np.array([-1])])
    def test_arrays_that_hold_no_ids(
        self, run: Run, here: Path, pair: str, array: np.ndarray
    ) -> None:
        np.save("a.npy", array)
        error_of(run("decode", pair, "a.npy", code=1))

    def test_offsets_must_fit(self, run: Run, pair: str) -> None:
        np.save("a.npy", np.array([1, 2, 3]))
        np.save("o.npy", np.array([0, 2]))
        assert "rise from 0" in error_of(run("decode", pair, "a.npy", "--offsets", "o.npy", code=1))


class TestCount:
    def test_the_table(self, run: Run, here: Path, pair: str) -> None:
        (here / "a.txt").write_text("hello the")
        (here / "b.txt").write_text("")
        lines = run("count", pair, "a.txt", "b.txt").stdout.splitlines()
        assert [line.split() for line in lines] == [
            ["tokens", "bytes", "bytes/token"],
            ["2", "9", "4.50", "a.txt"],
            ["0", "0", "–", "b.txt"],
            ["2", "9", "4.50", "total"],
        ]

    def test_other_forms(self, run: Run, pair: str) -> None:
        text = "hello\nhe the\n"
        assert run("count", pair, "--total", input="hello the").stdout == "2\n"
        assert run("count", pair, "--lines", "--each", input=text).stdout == "1\n2\n"
        (record,) = run(
            "count", pair, "--lines", "--format", "jsonl", input=text
        ).stdout.splitlines()
        assert json.loads(record) == {
            "file": "-",
            "documents": 2,
            "tokens": 3,
            "bytes": 11,
            "bytes_per_token": 11 / 3,
        }

    def test_counts_agree_with_encode(self, run: Run, here: Path, pair: str) -> None:
        for name, text in samples.read_all().items():
            (here / name).write_bytes(text.encode())
        expected = sum(len(ids_of(text, pair)) for text in samples.read_all().values())
        assert run("count", pair, "--total", *samples.NAMES).stdout == f"{expected}\n"

    def test_a_file_that_is_no_tokenizer(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("not a tokenizer")
        assert "a.txt" in error_of(run("count", "a.txt", "a.txt", code=1))
        assert "missing.json" in error_of(run("count", "missing.json", "a.txt", code=1))


class TestInspect:
    def test_a_tokenizer(self, run: Run, special: list[str]) -> None:
        output = run("inspect", *special).stdout
        for part in ("267", "uint16", "all 256", "BPE by merges", END, "Latin", "ByteLevel"):
            assert part in output

    def test_a_text(self, run: Run, pair: str) -> None:
        output = run("inspect", pair, "--text", "hello the\té\n", "--rows", "3").stdout
        assert "hello│·the│→│é‹1/2›│é‹2/2›│⏎" in output
        assert "6 tokens · 12 characters · 13 bytes" in output
        assert "3 more" in output

    def test_colour_replaces_the_separators(self, run: Run, pair: str) -> None:
        output = run("inspect", pair, "--text", "hello the", "--color", "always").stdout
        assert "│" not in output
        assert output.count("\x1b[") > 4

    def test_special_tokens_are_told_apart(self, run: Run, special: list[str]) -> None:
        output = run("inspect", *special, "--text", f"he{END}", "--special", "allow").stdout
        assert f"he│{END}" in output

    def test_nothing(self, run: Run, pair: str) -> None:
        assert "0 tokens" in run("inspect", pair, "--text", "").stdout

    def test_files_and_standard_input(self, run: Run, here: Path, pair: str) -> None:
        (here / "a.txt").write_bytes(b"he\xff")
        assert "‹U+" not in run("inspect", pair, "a.txt", "--invalid", "replace").stdout
        assert "1 token ·" in run("inspect", pair, "-", input="hello").stdout
        both = run("inspect", pair, "--text", "text", "a.txt", code=2).stderr
        assert "--text goes without FILE" in both

    @pytest.mark.parametrize("columns", ["20", "40", "50", "200"])
    def test_output_fits_any_width(
        self, run: Run, pair: str, columns: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", columns)
        for arguments in ([pair], [pair, "--text", "hello the world, 図書館 and a long text " * 4]):
            shown = run("inspect", *arguments).stdout
            assert pair in shown or "characters ·" in shown


class TestConvert:
    def test_convert_says_what_it_compared(self, run: Run, here: Path, pair: str) -> None:
        output = run("convert", pair, "out.json").stdout
        assert output.startswith("out.json\n")
        assert "0 differences" in output
        text = samples.read("essays")
        assert jeton.load("out.json").encode(text) == ids_of(text, pair)
        assert [path.name for path in here.iterdir()] == ["out.json"]

    @pytest.mark.filterwarnings("ignore::jeton.errors.FormatWarning")
    def test_a_dropout_does_not_count(self, run: Run, here: Path) -> None:
        """tokenizers leaves merges out at random by itself."""
        trained = jeton.BPETrainer(300, pattern="gpt2").train([samples.read("tales")])
        document = json.loads(trained.to_json())
        document["model"]["dropout"] = 0.5
        (here / "a.json").write_text(json.dumps(document))
        output = run("convert", "a.json", "folder").stdout
        assert output.count("  0 differences") == output.count(" differences") >= 2
        kept = json.loads((here / "folder" / "tokenizer.json").read_text())
        assert kept["model"]["dropout"] == 0.5

    @pytest.mark.large
    def test_there_and_back(self, run: Run, here: Path, special: list[str]) -> None:
        assert "0 differences" in run("convert", *special, "a.json").stdout
        pair = run("convert", "a.json", "vocab.json").stdout
        assert pair.startswith("merges.txt\nvocab.json\n")
        assert (here / "merges.txt").exists()
        last = run("convert", "vocab.json", "b.json", "--special-token", f"{END}=266")
        assert "0 differences" in last.stdout
        text = samples.read("languages") + END
        first, second = jeton.load("a.json"), jeton.load("b.json")
        assert first.encode(text, special="allow") == second.encode(text, special="allow")

    def test_ranks(self, run: Run, pair: str) -> None:
        for name in ("a.tiktoken", "a.MODEL"):
            result = run("convert", pair, name)
            assert "does not hold the pattern" in result.stderr
        again = jeton.load("a.tiktoken", pattern="gpt2")
        assert again.encode("hello the world") == ids_of("hello the world", pair)

    @pytest.mark.large
    @pytest.mark.parametrize(
        ("source", "target", "library"),
        [
            ("pair", "B.JSON", "tokenizers"),
            ("pair", "VOCAB.JSON", "tokenizers"),
            ("pair", "b-encoder.json", "tokenizers"),
            ("pair", "B.TikToken", "tiktoken"),
            ("pair", "b.model", "tiktoken"),
            ("word pieces", "b-vocab.txt", "tokenizers"),
            ("word pieces", "VOCAB.TXT", "tokenizers"),
            ("word pieces", "folder", "tokenizers"),
            ("sentence pieces", "B.MODEL", "sentencepiece"),
        ],
    )
    def test_the_library_of_each_format_agrees(
        self, run: Run, pair: str, source: str, target: str, library: str
    ) -> None:
        pytest.importorskip(library)
        if source == "word pieces":
            trained = jeton.WordPieceTrainer(vocab_size=80).train(["hello the world"] * 3)
            trained.save(pair := "from.json")
        elif source == "sentence pieces":
            text = samples.read("essays").splitlines()
            jeton.UnigramTrainer(200).train(text).save(pair := "from.model")
        output = run("convert", pair, target).stdout
        assert output.splitlines()[-1].endswith(f"0 differences  {library}")

    def test_case_and_warnings_of_a_vocab_txt(self, run: Run, here: Path) -> None:
        (here / "vocab.txt").write_text("[UNK]\na\nb\na\n", encoding="utf-8")
        result = run("convert", "vocab.txt", "cased.json", "--cased")
        assert "warning: vocab.txt: 1 of the lines repeat a token" in result.stderr
        run("convert", "vocab.txt", "lower.json")
        assert jeton.load("cased.json").encode("A b") == [0, 2]
        assert jeton.load("lower.json").encode("A b") == [3, 2]
        message = error_of(run("convert", "cased.json", "b.json", "--lowercase", code=1))
        assert "lowercase is not accepted for Hugging Face files" in message

    @pytest.mark.large
    def test_approximations(self, run: Run, here: Path) -> None:
        text = samples.read("languages").splitlines()
        jeton.UnigramTrainer(900).train(text).save("a.model")
        message = error_of(run("convert", "a.model", "a.json", code=1))
        assert "--approximate on the command line" in message
        result = run("convert", "a.model", "A.JSON", "--approximate")
        assert "texts differ from the original (near ties;" in result.stderr
        assert "left out" not in result.stderr
        near = jeton.load("A.JSON")
        frame = post_processors.TemplateProcessing("<s> $A", special_tokens={"<s>": 1})
        framed = near.replace(post_processor=frame)
        framed.save("b.json")
        result = run("convert", "b.json", "b.model", "--approximate")
        assert "left out, because the format has no place for it: post-processor" in result.stderr
        plain = [line for line in text if line.isascii()]
        assert [jeton.load("b.model").encode(line) for line in plain] == near.encode_batch(
            plain
        ).tolist()
        error_of(run("convert", "a.model", "c.tiktoken", "--approximate", code=1))

    def test_an_approximation_in_its_own_format_is_its_equal(self, run: Run, here: Path) -> None:
        jeton.UnigramTrainer(12).train(["low lower lowest"] * 9).save("a.model")
        result = run("convert", "a.model", "b.model", "--approximate")
        assert "0 of" in result.stderr and "left out" not in result.stderr
        assert (here / "a.model").read_bytes() == (here / "b.model").read_bytes()

    def test_a_closed_alphabet(self, run: Run, here: Path) -> None:
        jeton.CharTrainer().train("the weather").save("a.json")
        result = run("convert", "a.json", "b.json")
        assert "0 differences" in result.stdout
        assert "texts have characters outside the alphabet" in result.stderr
        assert jeton.load("b.json") == jeton.load("a.json")

    def test_warnings_are_given_once(self, run: Run, here: Path) -> None:
        (here / "b.model").write_bytes(GOOD + BPE)
        result = run("convert", "b.model", "c.model")
        assert result.stderr.count("warning:") == 1
        assert "warning: b.model: there is no normalizer_spec" in result.stderr

    def test_a_file_that_the_library_cannot_read_is_not_kept(
        self, run: Run, here: Path, pair: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("tokenizers")

        def fail(path: str) -> None:
            raise ValueError(f"no luck with {path}")

        monkeypatch.setattr("tokenizers.Tokenizer.from_file", fail)
        message = error_of(run("convert", pair, "a.json", "--quiet", code=1))
        assert "a.json: not kept, because tokenizers cannot read it: no luck with a.json" in message
        assert list(here.iterdir()) == []

    @pytest.mark.parametrize("target", ["a.unknown", "no/where.json"])
    def test_targets_that_cannot_be(self, run: Run, here: Path, pair: str, target: str) -> None:
        error_of(run("convert", pair, target, code=1))
        assert list(here.iterdir()) == []

    def test_a_result_that_differs_is_not_kept(
        self, run: Run, here: Path, pair: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "jeton.cli.convert.compare", lambda against, *_: Check(against, 9, 99, ("a b",))
        )
        message = error_of(run("convert", pair, "a.json", "--quiet", code=1))
        assert "not kept, because 1 of 9 texts differ (read back); the first: a·b" in message
        assert list(here.iterdir()) == []


class TestDemo:
    def test_demo_leaves_the_files_that_it_names(self, run: Run, here: Path) -> None:
        output = run("demo", "--vocab-size", "600", "--out", "out").stdout
        assert "byte for byte" in output
        tok = jeton.load("out/tokenizer.json")
        tokens = np.load("out/tokens.npy")
        assert tok.vocab_size == 600
        text = tok.decode(tokens, skip_special_tokens=True)
        assert text == "".join(samples.read_all().values())


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_teaches_by_example(self, run: Run, command: str) -> None:
        output = run(command, "--help").stdout
        parted = output.partition("Examples:")[2]
        assert f"jeton {command}" in parted or "Commands:" in output

    def test_the_group(self, run: Run) -> None:
        output = run("--help").stdout
        assert all(f"  {command} " in output for command in COMMANDS)
        assert jeton.__version__ in run("--version").stdout

    def test_a_misspelt_command(self, run: Run) -> None:
        assert "main inspect: " in run("inspec", code=2).stderr

    def test_bad_special_token(self, run: Run, pair: str) -> None:
        assert "TOKEN=ID" in run("encode", pair, "--special-token", "x", code=2).stderr


def test_debug_shows_the_traceback(here: Path, pair: str) -> None:
    result = CliRunner().invoke(main, ["encode", pair, "nothing", "--debug"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith(
        "jeton.errors.MissingFileError: nothing: no such"
    )


def test_quiet_leaves_results_alone(run: Run, pair: str) -> None:
    result = run("encode", pair, "-q", "-o", "a.npy", input="he")
    assert (result.stdout, result.stderr) == ("", "")


def every_command() -> list[click.Context]:
    """Each command in a context that knows its name and a terminal of 80 columns."""

    def below(command: click.Command, ctx: click.Context) -> Iterator[click.Context]:
        yield ctx
        if isinstance(command, click.Group):
            for name in command.list_commands(ctx):
                inner = command.get_command(ctx, name)
                assert inner is not None
                yield from below(inner, inner.context_class(inner, info_name=name, parent=ctx))

    return [*below(main, main.context_class(main, info_name="jeton", terminal_width=80))]


@pytest.mark.parametrize("ctx", every_command(), ids=lambda ctx: ctx.command_path)
class TestHelpOfEachCommand:
    def test_no_line_is_longer_than_the_terminal(self, ctx: click.Context) -> None:
        assert [line for line in ctx.get_help().split("\n") if width_of(line) > 80] == []

    def test_no_word_is_broken(self, ctx: click.Context, monkeypatch: pytest.MonkeyPatch) -> None:
        written = ctx.get_help().split()
        monkeypatch.setattr(ctx, "terminal_width", 10_000)
        assert written == ctx.get_help().split()

    def test_every_option_has_help(self, ctx: click.Context) -> None:
        options = [it for it in ctx.command.params if isinstance(it, click.Option)]
        assert [it.opts for it in options if not (it.help or "").strip()] == []

    def test_each_option_has_one_spelling(self, ctx: click.Context) -> None:
        spelled = {name for it in ctx.command.params for name in it.opts}
        assert not spelled & {"--json", "--jsonl", "--errors", "--colour", "--special-tokens"}
        if not isinstance(ctx.command, click.Group):
            assert {"--color", "--no-color", "--quiet"} <= spelled

    def test_without_memory_the_hint_is_an_option_of_the_command(
        self,
        ctx: click.Context,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        def without_memory(*_: object, **__: object) -> None:
            raise MemoryError

        if isinstance(ctx.command, click.Group):
            return
        monkeypatch.setattr(ctx.command, "callback", without_memory)
        with pytest.raises(click.exceptions.Exit):
            ctx.command.invoke(ctx)
        error, *hints = capsys.readouterr().err.splitlines()
        assert error.removesuffix(".") == "Error: out of memory"
        name = ctx.command_path.removeprefix("jeton ")
        reads = {
            "--documents line": ["train", "prepare", "sweep"],
            "--lines": ["encode", "count", "cost", "edit extend", "edit prune"],
        }
        options = [it for it, names in reads.items() if name in names]
        assert hints == [f"hint: documents that are lines take less memory: {it}" for it in options]


def test_the_list_of_commands_has_five_groups(run: Run) -> None:
    output = run("--help").stdout
    for title, names in GROUPS.items():
        section = output.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.split("\n") if line] == [*names]
    assert len(GROUPS) == 5


def test_a_text_and_ids_on_the_command_line(run: Run, pair: str) -> None:
    ids = run("encode", pair, "--text", "hello the é").stdout
    assert ids == run("encode", pair, input="hello the é").stdout
    assert run("decode", pair, "--ids", ids).stdout == "hello the é"
    assert run("decode", pair, "--ids", ids.strip().replace(" ", ", ")).stdout == "hello the é"
    for arguments, told in [
        (("encode", pair, "x.txt", "--text", "a"), "--text goes without FILES"),
        (("encode", pair, "--lines", "--text", "a"), "--text goes without FILES"),
        (("decode", pair, "x.txt", "--ids", "1"), "--ids goes without FILES"),
        (("decode", pair, "--ids", "1, two"), "'two' is not an id"),
        (("decode", pair, "--ids", "9" * 11), "is not an id"),
    ]:
        assert told in run(*arguments, code=2).stderr
    assert "has no token" in run("decode", pair, "--ids", "4294967295", code=1).stderr
    assert "9999999999" in run("decode", pair, "--ids", "9999999999", code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("encode", "jeton-4k", "--lines", "two.txt"), 'two.txt:2: the special token "<|im_end|>"'),
        (("count", "jeton-4k", "--lines", "two.txt"), "two.txt:2: the special token"),
        (("encode", "jeton-4k", "two.txt", "--format", "npy"), "two.txt: the special token"),
        (
            ("encode", "jeton-4k", "two.txt", "--format", "jsonl", "--spans"),
            "two.txt: the special token",
        ),
        (("encode", "jeton-4k", "--text", "<|im_end|>"), "the special token"),
    ],
)
def test_an_error_names_the_place_of_a_text(
    run: Run, here: Path, arguments: tuple[str, ...], said: str
) -> None:
    (here / "two.txt").write_text("one\ntwo <|im_end|>\n")
    shown = run(*arguments, "--special", "raise", code=1).stderr
    assert said in shown and "texts[" not in shown


def test_an_error_names_no_argument_of_python(run: Run, here: Path) -> None:
    shown = run("compare", "jeton-4k", "--corpus", "none.txt", code=1).stderr
    assert shown.startswith("Error: 'none.txt': ")
    shown = run("encode", "jeton-4k", "--text", "a", "--special", "none", code=1).stderr
    assert shown.startswith('Error: "none" is not a special token')


def test_a_long_text_is_shown_in_part(run: Run, pair: str, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("hello the " * 20_000)
    output = run("inspect", pair, str(long), "--rows", "5").stdout
    assert len(output) < 20_000 and "more tokens" in output and "(--rows " in output


def test_completion_is_there() -> None:
    environment = {**os.environ, "_JETON_COMPLETE": "bash_source"}
    command = [sys.executable, "-c", "from jeton.cli import main; main(prog_name='jeton')"]
    script = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "complete" in script.stdout and "_JETON_COMPLETE=bash_complete" in script.stdout


def test_text_from_right_to_left_is_laid_out_by_itself() -> None:
    for text in ("שלום", "a سلام 12"):
        assert terminal_text(isolated(text), colour=False, isolates=True) == f"\u2068{text}\u2069"
        assert terminal_text(isolated(text), colour=False) == text
    assert isolated("un café 12") == "un café 12"
    assert "\u2068" not in terminal_text("\u2068a stranger's", colour=True, isolates=True)


def test_tokens_from_right_to_left_are_isolated_on_a_terminal(run: Run) -> None:
    output = run("inspect", "jeton-4k", "--text", "שלום 12 a", "--color", "always").stdout
    assert "\u2068·" not in output and "\u2068ש\u2069" in output
    assert "\u2068" not in run("inspect", "jeton-4k", "--text", "שלום 12 a").stdout


def test_the_best_of_a_row_has_a_sign(run: Run, pair: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("hello the tide waits\n" * 9)
    lines = run("compare", f"a={pair}", "b=jeton-4k", "--corpus", str(corpus)).stdout.split("\n")
    [tokens] = [line for line in lines if line.strip().startswith("tokens  ")]
    first, last = tokens.split()[1:]
    assert last.endswith("*") and not first.endswith("*")
    assert "  * the best of its row" in lines


def test_count_and_diff_say_why_they_differ(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("one line\n\nand another\n")
    whole = run("count", "jeton-4k", "--total", str(text)).stdout.strip()
    lines = run("count", "jeton-4k", "--total", "--lines", str(text)).stdout.strip()
    compared = run("compare", "jeton-4k", "--corpus", str(text), "--format", "csv").stdout
    assert f"jeton-4k,all,tokens,{whole}," in compared
    told = run("diff", "jeton-4k", "jeton-4k", str(text), "--format", "json").stdout
    assert json.loads(told)["tokens"] == [int(lines)] * 2 and whole != lines
    shown = run("diff", "jeton-4k", "jeton-4k", str(text)).stdout
    assert "line ends are left out, as in jeton count --lines" in shown
