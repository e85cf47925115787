"""What the arguments of commands mean: files, folders, texts, names that people guess."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Run, error_of, here, run

TOK = "jeton-4k"


class TestFilesAndTexts:
    """A positional argument is a file; a text goes in `--text`, and the message says so."""

    @pytest.mark.parametrize("command", ["encode", "count", "inspect", "chat"])
    def test_an_argument_that_is_no_file_is_no_text(self, run: Run, command: str) -> None:
        told = error_of(run(command, TOK, "Hello, world", code=1))
        assert told == "Hello, world: no such file (for a text: --text 'Hello, world')"

    def test_a_file_of_diff_that_is_none(self, run: Run) -> None:
        assert "--text 'Hello, world'" in error_of(run("diff", TOK, TOK, "Hello, world", code=1))

    def test_inspect_shows_the_text_of_a_file_and_not_its_name(self, run: Run, here: Path) -> None:
        (here / "README.md").write_text("low lower")
        shown = run("inspect", TOK, "README.md").stdout
        assert "9 characters" in shown and "READ" not in shown

    def test_every_command_takes_a_text(self, run: Run) -> None:
        assert run("count", TOK, "--text", "low lower", "--total").stdout == "2\n"
        assert run("encode", TOK, "--text", "low").stdout.split()
        assert "9 characters" in run("inspect", TOK, "--text", "low lower").stdout
        assert "9 B, 1 line; " in run("diff", TOK, TOK, "--text", "low lower").stdout
        assert "<|im_start|>user" in run("chat", TOK, "--text", "Hi", "--format", "text").stdout

    @pytest.mark.parametrize("command", ["count", "encode"])
    def test_a_text_goes_without_files(self, run: Run, here: Path, command: str) -> None:
        (here / "a.txt").write_text("a")
        assert "--text goes" in run(command, TOK, "a.txt", "--text", "b", code=2).stderr

    def test_folders_are_taken_where_files_are(self, run: Run, here: Path) -> None:
        (here / "in" / "deep").mkdir(parents=True)
        (here / "in" / "a.txt").write_text("low")
        (here / "in" / "deep" / "b.txt").write_text("lower lower")
        one = run("count", TOK, "in/a.txt", "in/deep/b.txt", "--total").stdout
        assert run("count", TOK, "in", "--total").stdout == one
        assert len(run("encode", TOK, "in").stdout.splitlines()) == 2
        assert "14 B, 2 lines" in run("diff", TOK, TOK, "in").stdout

    def test_inspect_shows_the_files_of_a_folder_one_after_another(
        self, run: Run, here: Path
    ) -> None:
        (here / "in").mkdir()
        (here / "in" / "a.txt").write_text("low")
        (here / "in" / "b.txt").write_text("lower lower")
        shown = run("inspect", TOK, "in").stdout
        assert shown.index("in/a.txt · 1 token ·") < shown.index("in/b.txt · 3 tokens ·")
        assert run("inspect", TOK, "in/a.txt", "in/b.txt").stdout == shown
        assert run("inspect", TOK, "in/b*").stdout == run("inspect", TOK, "in/b.txt").stdout
        found = run("inspect", TOK, "in", "--gotchas", "--format", "json").stdout
        assert [json.loads(it)["file"] for it in found.splitlines()] == ["in/a.txt", "in/b.txt"]

    def test_inspect_shows_each_record_of_a_file(self, run: Run, here: Path) -> None:
        (here / "two.jsonl").write_text('{"text": "low"}\n{"text": "lower lower"}\n')
        shown = run("inspect", TOK, "two.jsonl").stdout
        assert shown.index("two.jsonl:1 · 1 token ·") < shown.index("two.jsonl:2 · 3 tokens ·")
        found = run("inspect", TOK, "two.jsonl", "--gotchas", "--format", "json").stdout
        assert [json.loads(it)["line"] for it in found.splitlines()] == [1, 2]

    def test_inspect_takes_bytes_that_are_no_text_if_it_may(self, run: Run, here: Path) -> None:
        (here / "bad.txt").write_bytes(b"low\xff")
        told = error_of(run("inspect", TOK, "bad.txt", code=1))
        assert told.startswith("bad.txt: not UTF-8 at byte 3 (--invalid")
        assert "4 characters" in run("inspect", TOK, "bad.txt", "--invalid", "replace").stdout

    def test_decode_reads_the_files_of_a_folder(self, run: Run, here: Path) -> None:
        (here / "ids").mkdir()
        run("encode", TOK, "--text", "low ", "-o", "ids/a.npy")
        run("encode", TOK, "--text", "lower", "-o", "ids/b.txt")
        assert run("decode", TOK, "ids").stdout == run("decode", TOK, "ids/*").stdout == "low lower"

    @pytest.mark.parametrize(
        ("command", "what"),
        [
            (("chat", TOK), "one conversation"),
            (("learn", "bpe", "--file"), "one text"),
            (("play", "--file"), "one text"),
        ],
        ids=lambda it: it[0] if isinstance(it, tuple) else "",
    )
    @pytest.mark.parametrize(
        ("path", "kind"), [("in", "a folder"), ("in/*", "a pattern of 2 files")]
    )
    def test_a_command_that_reads_one_file_names_one_of_several(
        self, run: Run, here: Path, command: tuple[str, ...], what: str, path: str, kind: str
    ) -> None:
        (here / "in").mkdir()
        for name in ("a.json", "b.json"):
            (here / "in" / name).write_text("[]")
        told = error_of(run(*command, path, code=1))
        assert told == f"{path}: is {kind}, and this reads {what} (name one file: in/a.json)"

    @pytest.mark.parametrize(
        "command", [("encode",), ("count",), ("inspect",), ("chat",), ("diff", TOK)]
    )
    def test_a_pattern_that_matches_nothing(self, run: Run, command: tuple[str, ...]) -> None:
        told = error_of(run(*command, TOK, "no/*.txt", code=1))
        assert told == "no/*.txt: no such file (for a text: --text 'no/*.txt')"

    def test_a_text_in_place_of_a_tokenizer(self, run: Run, here: Path) -> None:
        (here / "README.md").write_text("# Title\n\nSome words about it.\n")
        told = error_of(run("count", "README.md", code=1))
        assert told.startswith("README.md: this is no tokenizer (a tokenizer comes first: ")
        assert told.endswith("count jeton-4k README.md)")

    @pytest.mark.parametrize(
        ("command", "hint"),
        [
            (("inspect",), "a tokenizer comes first: jeton inspect jeton-4k README.md"),
            (("diff", TOK), "two tokenizers come first: jeton diff jeton-4k gpt2 README.md"),
            (("compare", "--corpus", "README.md", TOK), "for a text: --corpus README.md"),
            (("play", TOK), "for a text: --file README.md"),
            (("prepare",), "a tokenizer comes first: jeton prepare jeton-4k README.md"),
            (("chat",), "a tokenizer comes first: jeton chat jeton-4k README.md"),
        ],
        ids=lambda it: it[0] if isinstance(it, tuple) else "",
    )
    def test_a_text_in_place_of_a_tokenizer_is_told_its_place(
        self, run: Run, here: Path, command: tuple[str, ...], hint: str
    ) -> None:
        (here / "README.md").write_text("# The title\n\nSome words.\n")
        more = ["x", "-o", "out"] if command == ("prepare",) else []
        code = 2 if command == ("chat",) else 1
        told = run(*command, "README.md", *more, code=code).stderr
        assert f"hint: {hint}\n" in told.replace("first: main ", "first: jeton ")

    @pytest.mark.parametrize(
        ("command", "hint"),
        [
            (("count", "in"), "; a tokenizer comes first: jeton count jeton-4k in"),
            (("prepare", "in", "x", "-o", "out"), "first: jeton prepare jeton-4k in"),
            (("compare", TOK, "in", "--corpus", TOK), "; for a text: --corpus in"),
            (("chat", "in"), "hint: a tokenizer comes first: jeton chat jeton-4k in"),
            (("prepare", "in"), "hint: in is taken for TOKENIZER"),
            (("convert", "in", "x.json"), "hint: give the path of the file"),
        ],
    )
    def test_a_folder_of_texts_in_place_of_a_tokenizer(
        self, run: Run, here: Path, command: tuple[str, ...], hint: str
    ) -> None:
        (here / "in").mkdir()
        (here / "in" / "a.txt").write_text("low")
        failed = run(*command, code=2 if len(command) == 2 and command[0] != "count" else 1)
        assert failed.stderr.replace("first: main ", "first: jeton ").endswith(f"{hint}\n")

    @pytest.mark.parametrize(
        ("command", "told"),
        [
            (("data", "show", "a.txt"), "a.txt: is a file; name the folder of a token set"),
            (("data", "verify", "a.txt"), "a.txt: is a file; name the folder of a token set"),
            (
                ("data", "merge", "a.txt", "-o", "x"),
                "a.txt: is a file; name the folder of a token set",
            ),
            (("data", "mix", "a.txt"), "a.txt: its name is not that of a file of tokens"),
            (("edit", "merge", TOK, "a.txt", "-o", "x"), "a.txt: this is no tokenizer"),
        ],
        ids=lambda it: it if isinstance(it, str) else it[1],
    )
    def test_a_text_where_a_command_needs_something_else(
        self, run: Run, here: Path, command: tuple[str, ...], told: str
    ) -> None:
        (here / "a.txt").write_text("low lower\n")
        assert error_of(run(*command, code=1)) == told

    def test_a_file_where_a_command_needs_a_name(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("low lower\n")
        told = error_of(run("fetch", "a.txt", code=1))
        assert told.startswith("'a.txt' is not a known name, and names no download (known are")

    def test_a_command_that_takes_no_text_gives_no_hint_about_it(
        self, run: Run, here: Path
    ) -> None:
        (here / "README.md").write_text("# The title\n\nSome words.\n")
        told = run("convert", "README.md", "x.json", code=1).stderr
        assert told == "Error: README.md: this is no tokenizer\n"

    def test_a_damaged_tokenizer_is_still_named_as_one(self, run: Run, here: Path) -> None:
        (here / "tok.json").write_text('{"model": 5}')
        assert "comes first" not in error_of(run("count", "tok.json", code=1))

    def test_text_that_is_not_utf8_is_refused(self, run: Run) -> None:
        for arguments in (
            ("encode", TOK, "--text", "a\udcffb"),
            ("inspect", TOK, "--text", "\udcff"),
        ):
            assert "byte 0xff at character" in run(*arguments, code=2).stderr

    @pytest.mark.parametrize("command", ["inspect", "count", "chat"])
    def test_output_is_not_appended_to_an_input(self, here: Path, command: str) -> None:
        from command_line import shell

        (here / "in.txt").write_text("low lower\n")
        code, _, told = shell(f"jeton {command} {TOK} in.txt >> in.txt")
        assert code == 1 and "is one of the inputs" in told
        assert (here / "in.txt").read_text() == "low lower\n"

    def test_a_file_named_as_the_home_folder_is_that_file(self, run: Run, here: Path) -> None:
        (here / "~").write_text("low lower low lower\n")
        assert run("count", TOK, "~", "--total").stdout == "5\n"
        run("train", "~", "-o", "tok.json", "--vocab-size", "260", "-q")
        assert (here / "tok.json").exists()

    def test_json_lines_may_begin_with_a_mark_of_their_byte_order(
        self, run: Run, here: Path
    ) -> None:
        line = '{"text": "low lower"}\n'
        (here / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + line.encode() * 2)
        assert run("count", TOK, "a.jsonl", "--field", "text", "--total").stdout == "4\n"


class TestGuessedNames:
    """A name that people know from elsewhere leads to the one here, on a line `hint:`."""

    @pytest.mark.parametrize(
        ("arguments", "hint"),
        [
            (("tokenize", "x"), "main encode: Encode text to token ids."),
            (("detokenize", "x"), "main decode: "),
            (("inspec", "x"), "main inspect: "),
            (("data", "info", "x"), "main data show: "),
            (("train", "x", "--model", "bpe", "-o", "t.json"), "--kind: "),
            (("train", "x", "--algorithm", "bpe", "-o", "t.json"), "--kind: "),
            (("train", "x", "--vocab-size", "8k", "-o", "t.json"), "8k is 8000 or 8192"),
        ],
    )
    def test_guesses_get_the_right_hint(
        self, run: Run, arguments: tuple[str, ...], hint: str
    ) -> None:
        assert f"\nhint: {hint}" in run(*arguments, code=2).stderr

    def test_a_name_that_only_looks_alike_is_not_named_beside_the_right_one(self, run: Run) -> None:
        assert "Did you mean" not in run("train", "x", "--model", "bpe", code=2).stderr

    def test_a_file_in_the_place_of_the_tokenizer_is_named(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("low")
        told = run("prepare", "a.txt", "-o", "set", code=2).stderr
        assert "\nhint: a.txt is taken for TOKENIZER" in told

    def test_ids_that_are_taken_for_files_lead_to_the_option(self, run: Run, here: Path) -> None:
        assert "hint: for ids: --ids '1 2 3'" in run("decode", TOK, "1", "2", "3", code=1).stderr

    def test_an_error_of_python_names_the_option(self, run: Run, here: Path) -> None:
        (here / "bad.txt").write_bytes(b"low \xff lower")
        told = error_of(run("diff", TOK, TOK, "bad.txt", code=1))
        assert "(--invalid " in told and "errors=" not in told
        told = error_of(run("train", "bad.txt", "-o", "tok.json", code=1))
        assert "(--invalid " in told and "errors=" not in told


def test_the_chat_of_the_tokenizer_that_ships_needs_no_template(run: Run, here: Path) -> None:
    (here / "chat.json").write_text('[{"role": "user", "content": "Hi"}]')
    assert run("chat", TOK, "chat.json", "--format", "text").stdout.startswith(
        "<|im_start|>user\nHi"
    )


def test_a_template_whose_marks_the_tokenizer_lacks_is_warned_of(run: Run) -> None:
    told = run("chat", TOK, "--text", "Hi", "--template", "llama3").stderr
    assert "has none of the control tokens of 'llama3', such as " in told
    assert "control tokens" not in run("chat", TOK, "--text", "Hi").stderr


def test_compare_shows_eight_rows_unless_all_are_asked_for(run: Run, here: Path) -> None:
    (here / "a.txt").write_text("low lower lowest\n" * 20)
    shown = run("compare", TOK, "--corpus", "a.txt").stdout
    everything = run("compare", TOK, "--corpus", "a.txt", "--all").stdout
    assert "more rows (--all)" in shown and "(--all)" not in everything
    assert len(shown.splitlines()) < 14 < len(everything.splitlines())
