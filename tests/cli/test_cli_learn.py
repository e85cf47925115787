"""`jeton learn` where there is no terminal: what it prints, the pages, exercises, bad input."""

from __future__ import annotations

import io
import json
from pathlib import Path

import click
import pytest

from command_line import Run, here, run
from jeton import textbook
from jeton.cli import learn_views
from jeton.cli.learn_menu import LESSONS, choose

__all__ = ["here", "run"]


def test_bpe_prints_all_steps(run: Run) -> None:
    out = run("learn", "bpe", "--merges", "3").stdout
    assert "Merge 1: e + s = es" in out and "Merge 3: est + </w> = est</w>" in out
    assert "3 pairs tie; it wins: it was seen first." in out
    assert "\x1b" not in out


def test_words_come_from_arguments_a_file_and_a_pipe(run: Run, here: Path) -> None:
    text = "a refrain from rain in a train"
    (here / "rain.txt").write_text(text)
    options = ("--no-end", "--merges", "3")
    expected = run("learn", "bpe", *text.split(), *options).stdout
    assert "ra + in = rain" in expected
    assert run("learn", "bpe", text, *options).stdout == expected
    assert run("learn", "bpe", "--file", "rain.txt", *options).stdout == expected
    assert run("learn", "bpe", "-", *options, input=text).stdout == expected


def test_counts_and_sizes(run: Run) -> None:
    counts = ["low:5", "lower:2", "newest:6", "widest:3"]
    expected = run("learn", "bpe", "--merges", "5").stdout
    assert run("learn", "bpe", "--counts", *counts, "--merges", "5").stdout == expected
    assert run("learn", "bpe", "--vocab-size", "16").stdout == expected


def test_the_other_kinds(run: Run) -> None:
    out = run("learn", "wordpiece").stdout
    assert "Merge 1: ##g + ##s = ##gs" in out and "Tried" in out
    out = run("learn", "wordpiece", "--rule", "released", "--merges", "1").stdout
    assert "Merge 1: ##u + ##g = ##ug" in out
    out = run("learn", "unigram", "--size", "10").stdout
    assert "Round 1: estimate" in out and "prune to" in out and "The best way to split ▁hug" in out
    assert "ĠcafÃ©" in run("learn", "bytes", "un café").stdout
    assert "×" in run("learn", "unigram").stdout


def test_encode(run: Run, here: Path) -> None:
    textbook.hug_pug_pun_bun_hugs().save(here / "hug.json")
    out = run("learn", "encode", "hug.json", "thugs").stdout
    assert "rank 2 <unk>│hug*│s" in out
    assert run("learn", "encode", "hug.json", "-", input="thugs").stdout == out


def test_the_page_is_one_file_without_a_network(run: Run, here: Path) -> None:
    run("learn", "bpe", "<script>alert(1)</script> a&b", "--html", "steps.html")
    text = (here / "steps.html").read_text()
    assert text.count("<script>") == 1 and "&lt;script&gt;" in text
    assert "http://" not in text and "https://" not in text and "src=" not in text
    assert list(here.iterdir()) == [here / "steps.html"]


def test_a_page_is_not_replaced_without_force(run: Run, here: Path) -> None:
    (here / "steps.html").write_text("mine")
    assert "--force" in run("learn", "bpe", "--html", "steps.html", code=1).stderr
    assert (here / "steps.html").read_text() == "mine"
    run("learn", "bpe", "--html", "steps.html", "--force")
    assert "<section" in (here / "steps.html").read_text()


def test_options_of_all_commands_also_stand_before_a_lesson(run: Run, here: Path) -> None:
    assert "\033[" in run("learn", "--color", "always", "--exercises").stdout
    assert "\033[" in run("learn", "--color", "always", "bpe", "--step", "2").stdout
    assert run("learn", "-q", "bpe", "--html", "steps.html").stderr == ""
    assert run("learn", "bpe", "--html", "more.html").stderr != ""
    assert "--force goes with --new" in run("learn", "--force", "bpe", code=2).stderr


def test_what_may_be_graded(run: Run, here: Path) -> None:
    (here / "folder").mkdir()
    assert "is a folder" in run("learn", "--grade", "folder", code=1).stderr
    assert "--new my.py begins one" in run("learn", "--grade", "my.py", code=1).stderr


def test_a_single_step_is_shown(run: Run) -> None:
    out = run("learn", "bpe", "--step", "2").stdout
    assert out.startswith("2/12  Merge 1: e + s = es") and "Merge 2" not in out


def test_colours_on_demand(run: Run) -> None:
    assert "\x1b[" in run("learn", "bpe", "--all", "--color", "always").stdout
    assert "\x1b[" not in run("learn", "bpe", "--all", "--no-color").stdout


def test_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for kind in ("bpe", "wordpiece", "unigram", "bytes"):
        assert all(len(line) <= 40 for line in run("learn", kind).stdout.split("\n")), kind


def test_exercises(run: Run) -> None:
    assert "15  Bytes in print" in run("learn", "--exercises").stdout
    out = run("learn", "--exercise", "1", input="w e\n?\ne s\n").stdout
    assert "Wrong." in out and "Count the pairs" in out and "Right." in out
    out = run("learn", "--exercise", "1", input="s t\n", code=1).stdout
    assert "seen first" in out and "The answer is e s." in out
    assert "You gave up." in run("learn", "--exercise", "3", input="\n", code=1).stdout
    out = run("learn", "--exercise", "1", input="a\x1b b\n", code=1).stdout
    assert "\x1b" not in out and "nowhere neighbours" in out
    assert "last try" in run("learn", "--exercise", "3", input="x\n" * 9, code=1).stdout


def test_hints_are_no_tries(run: Run) -> None:
    assert "Right." in run("learn", "--exercise", "1", input="?\n" * 9 + "e s\n").stdout
    assert "The input has ended." in run("learn", "--exercise", "1", input="?\n" * 5, code=1).stdout
    out = run("learn", "--exercise", "1", input="x\n?\n" * 4 + "e s\n").stdout
    assert out.count("Wrong.") == 4 and "Right." in out


def test_how_a_new_word_is_cut(run: Run) -> None:
    by_merges = run("learn", "bpe", "##a ##a", "--merges", "1", "--step", "3").stdout
    assert "by doing them in this order" in by_merges
    by_match = run(
        "learn", "wordpiece", "--rule", "released", "ab ab", "--merges", "1", "--step", "3"
    ).stdout
    assert "by the longest match instead" in by_match


def test_marks_that_lean_on_nothing_are_seen(run: Run) -> None:
    out = run("learn", "bpe", "e\u0301x\ufe0f", "--step", "1").stdout
    assert "e│◌\u0301│x│‹U+FE0F›│</w>" in out
    out = run("learn", "unigram", "e\u0301 e\u0301", "--all").stdout
    assert "\n  \u0301" not in out and "◌\u0301" in out


@pytest.mark.large
def test_long_words_are_shown_in_part(run: Run) -> None:
    word = "".join(map(chr, range(0x4E00, 0x4E00 + 20_000)))
    for kind in ("bpe", "wordpiece"):
        out = run("learn", kind, word, "--all").stdout
        assert "… 19,6" in out and len(out) < 200_000


BAD = {
    "no exercise": (["--exercise", "99"], 1, "there is no exercise 99"),
    "exercise and command": (["--exercise", "1", "bpe"], 2, "exclude each other"),
    "no such kind": (["bqe"], 2, "No such command"),
    "no words": (["bpe", " "], 2, "no words"),
    "no bytes": (["bytes", ""], 2, "the text is empty"),
    "text and file": (["bpe", "a", "--file", "x"], 2, "not both"),
    "no such file": (["bpe", "--file", "nowhere.txt"], 1, "nowhere.txt"),
    "no counts": (["bpe", "--counts", "low"], 2, "is not WORD:COUNT"),
    "a count of nothing": (["bpe", "--counts", "low:0"], 2, "is not WORD:COUNT"),
    "a count too large": (["bpe", "--counts", "low:99999999999"], 2, "is not WORD:COUNT"),
    "too many merges": (["bpe", "--merges", "1000"], 2, "0<=x<=200"),
    "a vocabulary too small": (["bpe", "--vocab-size", "3"], 2, "does not hold the 11 symbols"),
    "a vocabulary too large": (["bpe", "--vocab-size", "999"], 2, "too many to watch"),
    "a long text": (["bpe", "x" * 30_000], 2, "30,000 characters"),
    "a long word": (["unigram", "x" * 300], 1, "300 characters"),
    "pieces for too few": (["unigram", "abc", "--size", "2"], 1, "does not hold the 4 characters"),
    "no text": (["encode", "x.json"], 2, "give a text"),
    "no tokenizer": (["encode", "nothing.json", "x"], 1, "nothing.json"),
    "two ways": (["bpe", "--all", "--step", "1"], 2, "three ways"),
    "no such step": (["bpe", "--step", "99"], 2, "there are 12 steps"),
    "no folder": (["bpe", "--html", "nowhere/x.html"], 1, "no such folder"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(run: Run, name: str) -> None:
    arguments, code, says = BAD[name]
    assert says in run("learn", *arguments, code=code).stderr


def test_a_text_that_is_no_unicode(run: Run, here: Path) -> None:
    (here / "odd.txt").write_bytes(b"ab \xff\xfe ab\x01")
    for kind in ("bpe", "wordpiece", "unigram", "bytes"):
        run("learn", kind, "--file", "odd.txt", "--html", f"{kind}.html")
        assert "<section" in (here / f"{kind}.html").read_text()


def test_control_characters_are_not_printed(run: Run) -> None:
    for kind in ("bpe", "wordpiece", "unigram", "bytes"):
        assert "\x1b" not in run("learn", kind, "a\x1b[31mb \x07\x9b").stdout, kind


def test_a_bpe_of_a_json_with_everything(run: Run, here: Path) -> None:
    tok = textbook.hug_pug_pun_bun_hugs("wordpiece")
    (here / "wp.json").write_text(json.dumps(json.loads(tok.to_json())))
    assert "##gs" in run("learn", "encode", "wp.json", "bugs").stdout


def test_without_textual_all_is_printed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_views, "_has_keys", lambda: True)
    monkeypatch.setattr(learn_views, "find_spec", lambda _: None)
    result = run("learn", "bpe", "--merges", "1")
    assert "3/3" in result.stdout and "pip install 'jeton[learn]'" in result.stderr
    assert run("learn", "bpe", "--merges", "1", "-q").stderr == ""


def test_the_menu_names_what_there_is(run: Run) -> None:
    out = run("learn").stdout
    for number, (title, _, _) in enumerate(LESSONS, 1):
        assert f"  {number}  {title}" in out
    assert "jeton learn guess" in out and "jeton learn --new my_bpe.py" in out


@pytest.mark.parametrize(("title", "_", "arguments"), LESSONS, ids=[it[0] for it in LESSONS])
def test_each_lesson_of_the_menu_runs(
    run: Run, here: Path, title: str, _: str, arguments: tuple[str, ...]
) -> None:
    assert run("learn", *arguments, input="\n").stdout or (here / "my_bpe.py").exists()


def test_guessing_keeps_a_streak(run: Run) -> None:
    wrong = run("learn", "guess", "--start", "3", input="x y\n\n").stdout
    assert "Wrong." in wrong and "0 of 1 guess right" in wrong and "--start 3" in wrong
    pair = wrong.partition("Wrong. ")[2].partition(" occurs")[0]
    right = run("learn", "guess", "--start", "3", input=f"{pair}\n").stdout
    assert "Right." in right and "the longest streak was 1" in right
    following = run("learn", "guess", "--start", "3", input=f"{pair}\nx y\n").stdout
    second = following.partition("Wrong. ")[2].partition(" occurs")[0]
    both = run("learn", "guess", "--start", "3", input=f"{pair}\n{second}\n").stdout
    assert "Streak: 2." in both and "2 of 2 guesses right; the longest streak was 2" in both


def test_a_merge_is_seen_before_and_after(run: Run) -> None:
    out = run("learn", "bpe", "--step", "2").stdout
    assert "6 × n│e│w│e=│s=│t│</w>│→│n│e│w│es*│t│</w>" in out
    assert "2 words stay as before" in out


def test_a_lesson_says_which_rule_training_has(run: Run) -> None:
    assert "--rule published changes that" in run("learn", "wordpiece").stdout.replace("\n", " ")
    out = run("learn", "wordpiece", "--rule", "released").stdout.replace("\n", " ")
    assert "uses this rule too" in out
    assert "--set tie_break=first" in run("learn", "bpe").stdout.replace("\n", " ")


def test_the_demo_names_what_comes_next(run: Run, here: Path) -> None:
    assert "  jeton learn " in run("demo", "--vocab-size", "300").stdout.splitlines()[-1]


class Keyboard(io.StringIO):
    """Standard input, as if somebody typed."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [("1\n", ["bpe"]), ("8\n", ["--new", "my_bpe.py"]), ("\n", None), ("", None)],
)
def test_the_menu_asks_in_a_terminal(
    typed: str,
    arguments: list[str] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    monkeypatch.setattr("sys.stdout", Keyboard())
    assert choose() == arguments


@pytest.mark.parametrize("typed", ["9\n", "0\n", "x\n", "²\n", "9" * 99 + "\n"])
def test_the_menu_refuses_other_numbers(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    monkeypatch.setattr("sys.stdout", Keyboard())
    with pytest.raises(click.UsageError, match="not a number of the menu"):
        choose()
