"""`jeton train` inside this process: what it writes, what it refuses, and in which terms."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import jeton
from command_line import Run, error_of, here, run
from jeton.cli import main
from jeton.components import normalizers
from jeton.corpora import checkpoints, corpus


class TestTrain:
    def test_a_ladder_of_sizes_beside_other_files(self, run: Run, here: Path) -> None:
        for name in ("corpus.txt", *"abcdefgh"):
            (here / name).write_text("hello hello help\n" * 9, encoding="utf-8")
        done = run("train", "corpus.txt", "-o", "x.json", "--vocab-size=258", "--vocab-size=259")
        assert done.stdout.split() == ["x-258.json", "x-259.json"]
        assert jeton.load(here / "x-259.json").vocab_size == 259

    def test_progress_as_json(self, run: Run, here: Path) -> None:
        (here / "corpus.txt").write_text("hello hello help\n" * 9, encoding="utf-8")
        done = run("train", "corpus.txt", "-o", "x.json", "--vocab-size=258", "--progress", "json")
        steps = [json.loads(line) for line in done.stderr.splitlines()]
        assert {step["phase"] for step in steps} == {"counting", "merging"}
        assert all({"done", "total", "seconds", "rate", "left"} <= set(step) for step in steps)
        quiet = run(
            "train", "corpus.txt", "-o", "y.json", "--vocab-size=258", "--progress", "json", "-q"
        )
        assert quiet.stderr == ""

    def test_counts_are_kept(self, run: Run, here: Path) -> None:
        (here / "corpus.txt").write_text("hello hello help\n" * 9, encoding="utf-8")
        run("train", "corpus.txt", "-o", "x.json", "--vocab-size=258", "--save-counts", "x.counts")
        run("train", "x.counts", "-o", "y.json", "--vocab-size=258")
        assert (here / "x.json").read_bytes() == (here / "y.json").read_bytes()

    def test_stopped_counting_resumes(
        self, run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (here / "a.txt").write_text("hello hello help\n" * 9, encoding="utf-8")
        (here / "b.txt").write_text("held\n" * 9, encoding="utf-8")
        monkeypatch.setattr(checkpoints, "_PIECE", 99)
        monkeypatch.setattr(checkpoints, "_SECONDS", 0.0)
        asked = ["train", "a.txt", "b.txt", "-o", "x.json", "--vocab-size=259"]
        asked += ["--save-counts", "x.counts"]
        count, counted = corpus.count, list[str]()

        def stopped(counter: Any, files: Any, **how: Any) -> Any:
            paths = list(files)
            counted.extend(path.name for path in paths)
            if counted == ["a.txt", "b.txt"]:
                raise KeyboardInterrupt
            return count(counter, iter(paths), **how)

        monkeypatch.setattr(checkpoints, "count", stopped)
        result = run(*asked, code=130)
        assert "stopped; the same command resumes counting" in result.stderr
        assert (here / "x.counts.checkpoint").exists() and not (here / "x.counts").exists()
        run(*asked)
        assert counted == ["a.txt", "b.txt", "b.txt"]
        assert sorted(path.name for path in here.glob("x*")) == ["x.counts", "x.json"]
        run("train", "a.txt", "b.txt", "-o", "y.json", "--vocab-size=259")
        assert (here / "x.json").read_bytes() == (here / "y.json").read_bytes()

    def test_words(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("to be or not to be\n", encoding="utf-8")
        options = ["--kind=wordlevel", "--special-token=[UNK]", "--min-frequency=2"]
        run("train", "a.txt", "-o", "words.json", *options, "--vocab-size=3")
        assert jeton.load("words.json").vocab == {b"[UNK]": 0, b"be": 1, b"to": 2}
        run("train", "a.txt", "-o", "any.json", *options[:2], "--pattern=none", "--vocab-size=2")
        assert jeton.load("any.json").encode("to be or not to be\n") == [1]
        result = run("train", "a.txt", "-o", "a.model", *options, code=1)
        assert "(save it as tokenizer.json)" in error_of(result)

    def test_limits_are_told(self, run: Run, here: Path) -> None:
        (here / "corpus.txt").write_text("hello hello help\n" * 9 + "once\n", encoding="utf-8")
        options = ["--max-word-length=3", "--min-word-count=2", "--memory=64MB"]
        done = run("train", "corpus.txt", "-o", "x.json", "--vocab-size=258", *options)
        assert "max_word_length=3 characters were split, 28 times" in done.stderr
        assert "min_word_count=2; together they occur 2 times" in done.stderr
        result = run("train", "corpus.txt", "-o", "z.json", "--memory=64QB", code=1)
        assert "no unit 'QB'" in error_of(result)
        assert not (here / "z.json").exists()

    def test_every_file_is_looked_for_first(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("hello\n" * 9, encoding="utf-8")
        (here / "b.jsonl").write_text('{"body": "x"}\n', encoding="utf-8")
        result = run("train", "a.txt", "nothing.txt", "-o", "x.json", "--progress", "json", code=1)
        assert "nothing.txt" in error_of(result) and "counting" not in result.stderr
        result = run("train", "a.txt", "b.jsonl", "-o", "x.json", "--progress", "json", code=1)
        assert "b.jsonl: line 1" in error_of(result) and "counting" not in result.stderr

    def test_a_tokenizer_is_continued_in_another_format(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("hello hello help\n" * 9, encoding="utf-8")
        run("train", "a.txt", "-o", "a.model", "--alphabet=sentencepiece", "--vocab-size=15")
        assert jeton.load(here / "a.model").vocab_size == 15
        run("train", "a.txt", "-o", "a.json", "--vocab-size=257")
        run("train", "a.txt", "-o", "b.json", "--vocab-size=259", "--start-from=a.json")
        longer = jeton.load(here / "b.json")
        assert longer.vocab.merges[:1] == jeton.load(here / "a.json").vocab.merges
        assert longer.vocab_size == 259

    def test_unigram_in_both_formats(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("hello hello help shell\n" * 9, encoding="utf-8")
        options = ["--kind=unigram", "--vocab-size=13", "--set", "byte_fallback=false"]
        run(
            "train",
            "a.txt",
            "-o",
            "a.model",
            *options,
            "--save-counts",
            "x.counts",
            "--progress",
            "json",
        )
        assert jeton.load(here / "a.model").vocab_size == 13
        run("train", "x.counts", "-o", "b.model", *options)
        assert jeton.load(here / "b.model") == jeton.load(here / "a.model")
        run("train", "a.txt", "-o", "a.json", *options, "--special-token=<mask>")
        assert jeton.load(here / "a.json").special_tokens["<mask>"] == 3
        run("train", "a.txt", "-o", "A.JSON", *options, "--special-token=<mask>")
        run("train", "a.txt", "-o", "folder", *options, "--special-token=<mask>")
        assert jeton.load("a.json") == jeton.load("A.JSON") == jeton.load("folder")
        for wrong, code, told in (
            (["--set", "byte_falback=true"], 2, "did you mean 'byte_fallback'"),
            (["--set", "byte_fallback"], 2, "NAME=VALUE"),
            (["--set", "byte_fallback=3"], 1, "byte_fallback must be a bool"),
            (["--set", "shrinking_factor=NaN"], 1, "shrinking_factor cannot be NaN"),
            (["--pattern=gpt2"], 2, "--pattern is for --kind bpe"),
            (["--set", "vocab_size=9"], 2, "an option of its own, --vocab-size"),
            (["--vocab-size=14"], 2, "--kind unigram takes one --vocab-size"),
        ):
            result = run("train", "a.txt", "-o", "c.model", *options, *wrong, code=code)
            assert told in result.stderr and not (here / "c.model").exists()

    def test_characters(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("hello help", encoding="utf-8")
        run("train", "a.txt", "-o", "a.json", "--kind=char", "--save-counts=x.counts")
        expected = jeton.CharTrainer().train("hello help")
        assert jeton.load(here / "a.json").encode("hole") == expected.encode("hole")
        options = ["--kind=char", "--set", "unk_token=<u>", "--special-token=<s>"]
        run("train", "x.counts", "-o", "b.json", *options)
        assert jeton.load(here / "b.json").encode("x") == [0]
        result = run("train", "a.txt", "-o", "c.model", "--kind=char", code=1)
        assert "(save it as tokenizer.json)" in error_of(result)
        result = run("train", "a.txt", "-o", "c.json", "--kind=char", "--vocab-size=9", code=2)
        assert "--vocab-size is for --kind bpe, wordpiece, unigram or wordlevel" in result.stderr

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            (["--set", "tie_breaks=first"], "no such parameter (did you mean 'tie_break'?)"),
            (["--set", "tie_break=frist"], 'tie_break cannot be "frist" (did you mean "first"?)'),
            (["--set", "limit_alphabet=9"], "set alphabet="),
            (["--memory=4G"], "there is no unit 'G' (did you mean 'GB'?)"),
            (["--memory=1MB"], "memory cannot be '1MB': "),
            (["--memory=33MB", "--vocab-size=40000"], "whatever the corpus is (--memory TEXT: "),
            (["--pattern=gtp4"], "no pattern is called"),
            (["--pattern=(", "--vocab-size=258"], "pattern: "),
            (["--vocab-size=9"], "vocab_size 9 does not hold"),
            (["--temp-dir=no"], "temp_dir 'no' is not a folder (create it first)"),
            (["--field=body"], "it has text (--field NAME: "),
            (["--start-from=gtp2"], "did you mean"),
            (["--set", "normalizer={}"], "normalizer"),
        ],
    )
    def test_errors_name_the_parameter_and_the_remedy(
        self, run: Run, here: Path, options: list[str], told: str
    ) -> None:
        (here / "a.jsonl").write_text('{"text": "hello"}\n', encoding="utf-8")
        result = CliRunner().invoke(main, ["train", "a.jsonl", "-o", "x.json", *options])
        assert result.exit_code in (1, 2)
        assert told in result.stderr.replace("\nhint: ", " (").replace("\n", ")")

    def test_parameters_of_bpe_are_set_by_name(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("Hello hello help\n" * 9, encoding="utf-8")
        options = ["--set", "tie_break=first", "--set", 'normalizer={"type": "Lowercase"}']
        run("train", "a.txt", "-o", "x.json", "--vocab-size=258", *options)
        expected = jeton.BPETrainer(258, tie_break="first", normalizer=normalizers.Lowercase())
        assert jeton.load(here / "x.json") == expected.train(here / "a.txt")
        run("train", "a.txt", "-o", "z.json", "--kind=char", "--set", "unk_token=7")
        assert jeton.load(here / "z.json").encode("7x") == [0, 0]
        done = run("train", "a.txt", "-o", "y.json", "--vocab-size=999")
        assert "warning: vocab_size=999 was not reached" in done.stderr

    def test_counts_of_another_making(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("hello hello help\n" * 9, encoding="utf-8")
        run("train", "a.txt", "-o", "x.json", "--vocab-size=258", "--save-counts=x.counts")
        size = "--vocab-size=258"
        for options, told in (
            (["--pattern=gpt2"], "pattern or pre_tokenizer: the words were counted with"),
            (["--special-token=help"], "special_tokens: the words were counted with none"),
            (["--kind=wordpiece"], "normalizer: "),
        ):
            result = run("train", "x.counts", "-o", "y.json", size, *options, code=1)
            assert error_of(result).startswith(f"x.counts: {told}")
        result = run("train", "x.counts", "a.txt", "-o", "y.json", size, code=2)
        assert "x.counts is a file of word counts" in result.stderr
        assert "\nhint: name only files of counts, or only text" in result.stderr
        run("train", "a.txt", "-o", "z.json", size, "--pattern=gpt2", "--save-counts=z.counts")
        result = run("train", "x.counts", "z.counts", "-o", "y.json", size, code=1)
        assert error_of(result).startswith("z.counts: pattern or pre_tokenizer: the words were")

    def test_several_counts(self, run: Run, here: Path) -> None:
        for name, text in (("a", "hello hello help\n" * 9), ("b", "niedrig niemand\n")):
            (here / f"{name}.txt").write_text(text, encoding="utf-8")
            run("train", f"{name}.txt", "-o", f"{name}.json", "--save-counts", f"{name}.counts")
        both = [jeton.WordCounts.load(here / f"{name}.counts") for name in "ab"]
        trainer = jeton.BPETrainer(262)
        mixed = jeton.WordCounts.mixed
        for options, expected in (
            ([], both[0].merged(both[1])),
            (["--weight=0.3", "--weight=0.7"], mixed(both, weights=[0.3, 0.7])),
            (["--temperature=4"], mixed(both, temperature=4)),
            (["--temperature=inf"], mixed(both, weights=[1, 1])),
        ):
            line = ["train", "a.counts", "b.counts", "-o", "x.json", "--vocab-size=262", "--force"]
            run(*line, *options)
            assert jeton.load(here / "x.json") == trainer.train(expected)
        for files, options, told in (
            (["a.counts"], ["--weight=1", "--weight=2"], "there are 2 weights for 1 counts"),
            (["a.counts"], ["--weight=1", "--temperature=2"], "either weights or a temperature"),
        ):
            result = run("train", *files, "-o", "y.json", *options, code=1)
            assert told in result.stderr
        for files, options, told in (
            (["a.txt"], ["--temperature=2"], "--temperature is for files of word counts"),
            (["a.counts"], ["--weight=0"], "Invalid value for '--weight'"),
        ):
            result = run("train", *files, "-o", "y.json", *options, code=2)
            assert told in result.stderr

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            (["-o", "folder.json"], "folder.json/tokenizer.json: exists already"),
            (["-o", "x.json", "--save-counts=folder.json"], "folder.json: is a folder"),
            (["-o", "pipe.json", "--force"], "pipe.json: exists and is not a file"),
            (["-o", "link.json"], "link.json: exists already"),
            (["-o", "input.json", "--force"], "input.json: is one of the inputs, a.json"),
            (["-o", f"{'long' * 70}.json"], "file name too long"),
            (["-o", "a.json", "--force"], "a.json: is one of the inputs"),
            (["-o", "x.json", "--save-counts=a.json", "--force"], "a.json: is one of the inputs"),
            (["-o", "x.json", "--save-counts=mine"], "mine: exists already"),
            (["-o", "x.json", "--save-counts=x.json"], "x.json: the tokenizer goes there"),
            (["-o", "x.json", "--save-counts=no/c"], "no: no such folder"),
            (["-o", "vocab.json", "--pattern=gpt2"], "merges.txt: exists already"),
            (["-o", "a.bin"], "a.bin: the name does not say the format"),
            (["-o", "a."], "a.: the name does not say the format"),
            (["-o", "-"], "-: this is not written to standard output"),
            (["-o", "encoder.json"], "encoder.json: a GPT-2 pair goes with GPT-2's pattern"),
            (["-o", "encoder.json", "--kind=wordpiece"], "cannot hold a WordPiece model"),
            (["-o", "a.tiktoken", "--pattern=whitespace"], "a file of ranks goes with one pattern"),
            (["-o", "a.model", "--alphabet=characters"], "cannot hold a model without an unknown"),
            (["-o", "a.model", "--kind=unigram", "--set", "style=huggingface"], "summed in 64"),
            (["-o", "a.model"], "a.model: SentencePiece cannot read a BPE of bytes"),
            (["-o", "a.model", "--start-from=bytes.json"], "a.model: SentencePiece cannot read"),
            (["-o", "vocab.txt"], "vocab.txt cannot hold a BPE model, only WordPiece"),
            (["-o", "a.tiktoken", "--kind=unigram"], "cannot hold a Unigram model"),
            (
                ["-o", "a.tiktoken", "--alphabet=characters"],
                "begins with characters, only one of bytes",
            ),
        ],
    )
    def test_refused_before_counting(
        self, run: Run, here: Path, options: list[str], told: str
    ) -> None:
        (here / "a.json").write_text("hello hello help\n", encoding="utf-8")
        for name in ("mine", "merges.txt"):
            (here / name).write_text("mine", encoding="utf-8")
        jeton.BPETrainer(257).train(["hello hello"]).save(here / "bytes.json")
        (here / "folder.json").mkdir()
        (here / "folder.json" / "tokenizer.json").write_text("mine", encoding="utf-8")
        os.mkfifo(here / "pipe.json")
        (here / "link.json").symlink_to("mine")
        (here / "input.json").symlink_to("a.json")
        before = sorted(here.iterdir())
        result = run("train", "a.json", *options, "--vocab-size=258", "--progress", "json", code=1)
        assert told in error_of(result) and "counting" not in result.stderr
        assert sorted(here.iterdir()) == before
        assert (here / "mine").read_text(encoding="utf-8") == "mine"
        assert (here / "a.json").read_text(encoding="utf-8") == "hello hello help\n"

    @pytest.mark.parametrize(
        "arguments",
        [
            ["", "-o", "x.json"],
            ["a.txt", "-o", ""],
            ["a.txt", "-o", "x.json", "--save-counts="],
            ["a.txt", "-o", "x.json", "--temp-dir="],
        ],
    )
    def test_an_empty_path_is_not_this_folder(
        self, run: Run, here: Path, arguments: list[str]
    ) -> None:
        (here / "a.txt").write_text("hello hello help\n", encoding="utf-8")
        assert "the path is empty" in run("train", *arguments, code=2).stderr
        assert [path.name for path in here.iterdir()] == ["a.txt"]

    def test_the_whole_name_says_the_format(self, run: Run, here: Path) -> None:
        (here / "a.txt").write_text("hello hello help\n" * 9, encoding="utf-8")
        run("train", "a.txt", "-o", "vocab.txt", "--kind=wordpiece", "--vocab-size=20")
        assert jeton.load(here / "vocab.txt").vocab_size <= 20
        run("train", "a.txt", "-o", "vocab.json", "--pattern=gpt2", "--vocab-size=258")
        assert jeton.load(here / "vocab.json").vocab_size == 258
        names = sorted(path.name for path in here.iterdir())
        assert names == ["a.txt", "merges.txt", "vocab.json", "vocab.txt"]

    @pytest.mark.parametrize(
        "option",
        [
            "field=x",
            "invalid=strict",
            "temp-dir=.",
            "min-word-count=2",
            "max-word-length=3",
            "save-counts=y.counts",
        ],
    )
    def test_options_of_counting_with_counts(self, run: Run, here: Path, option: str) -> None:
        jeton.WordCounts([("hello", 1)]).save(here / "x.counts")
        result = run("train", "x.counts", "-o", "y.json", f"--{option}", code=2)
        assert f"--{option.partition('=')[0]} is for counting" in result.stderr

    def test_ctrl_c_leaves_nothing_and_says_what_is_kept(
        self, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (here / "a.txt").write_text("hello hello help\n" * 9, encoding="utf-8")

        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(jeton.BPETrainer, "train_all", interrupted)
        for saved, told in ((["--save-counts=a.counts"], "are in a.counts"), ([], "--save-counts")):
            result = CliRunner().invoke(main, ["train", "a.txt", "-o", "x.json", *saved])
            assert result.exit_code == 130
            assert told in result.stderr and "nothing was left half-written" in result.stderr
        assert sorted(path.name for path in here.glob("*")) == ["a.counts", "a.txt"]
