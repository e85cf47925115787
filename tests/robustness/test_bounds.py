"""No text and no source takes more than its share: budgets of patterns, pipes and devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import Regex, models, pre_tokenizers
from kinds import byte_level, characters
from shared_data import SHARED, VOCABULARIES, needed

MAX_SECONDS = 120
"""The patterns of the first test took 52 and 167 seconds before, and some would take days."""

OVER = {
    "a group again and again": (r"(a)\1*\1*b|.", "a" * 2_000),
    "to the end and back": (r"(?:a{400})*b|a", "a" * 100_000),
    "to the end and back, with a look": (r"(?:a{400})*b(?=c)|a", "a" * 100_000),
    "exponential": (r"(?:(a|a|a)+)+(?=b)\1|.", "a" * 64),
    "each place in vain": (r"(a)\1*c", "a" * 100_000),
}
"""Names, patterns, and texts that these go over again and again."""

PROGRAM = """
import json, sys
import jeton
from jeton.components import Regex, decoders, models, normalizers, pre_tokenizers
from kinds import byte_level, characters

way, pattern, text = json.load(sys.stdin)
split = pre_tokenizers.Split(Regex(pattern), "isolated")
calls = {
    "split": lambda: characters().replace(pre_tokenizer=split).encode(text),
    "split with spans": lambda: characters().replace(pre_tokenizer=split).encode_with_spans(text),
    "byte-level": lambda: byte_level().replace(pre_tokenizer=split).encode(text),
    "tiktoken's": lambda: jeton.Tokenizer.from_ranks(
        {bytes([byte]): byte for byte in range(256)}, pattern=pattern
    ).encode(text),
    "by itself": lambda: split(text),
    "normalizer": lambda: normalizers.Replace(Regex(pattern), "c")(text),
    "decoder": lambda: decoders.Replace(Regex(pattern), "c")([text]),
}
try:
    calls[way]()
except jeton.errors.EncodeError as error:
    print(error)
"""


WAYS = [("split", name) for name in OVER]
WAYS += [("tiktoken's", name) for name in ("a group again and again", "each place in vain")]
WAYS += [
    (way, "exponential")
    for way in ("split with spans", "byte-level", "by itself", "normalizer", "decoder")
]


@pytest.mark.large
@pytest.mark.parametrize(("way", "name"), WAYS)
def test_a_pattern_that_goes_over_a_text_again_and_again_is_ended(way: str, name: str) -> None:
    pattern, text = OVER[name]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        input=json.dumps([way, pattern, text]),
        capture_output=True,
        text=True,
        timeout=MAX_SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.stderr == ""
    shown = pattern.replace("\\", "\\\\")
    assert f'the pattern "{shown}" gave up at byte' in done.stdout


@pytest.mark.large
@pytest.mark.parametrize("pattern", ["a+b|a", "a+b(?=c)|a", "(?:aa)+b|a", r"a+(?=b)|\s+$|a"])
def test_nothing_is_read_in_vain_twice(pattern: str) -> None:
    """A match is known at the end of the text only, which is a million times a million letters."""
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    text = "a" * 1_000_000
    assert characters().replace(pre_tokenizer=split).count(text) == len(text)
    assert len(split(text)) == len(text)


@pytest.mark.parametrize("part", ["[", "[^", "[a&&", "(?=", "(?:"])
@pytest.mark.parametrize("kind", ["pre_tokenizer", "normalizer", "decoder"])
def test_a_pattern_that_is_nested_too_deep_is_refused(kind: str, part: str) -> None:
    stage: dict[str, Any] = {"type": "Replace", "pattern": {"Regex": part * 3_900}, "content": "x"}
    if kind == "pre_tokenizer":
        stage = {**stage, "type": "Split", "behavior": "Isolated", "invert": False}
    content = {**json.loads(characters().to_json()), kind: stage}
    with pytest.raises(jeton.JetonError, match="does not accept the pattern"):
        jeton.Tokenizer.from_json(json.dumps(content))


@pytest.mark.parametrize("pattern", ["(?~b)b|a", "(?~|b|a*)c|.", "x(?~)"])
def test_expressions_without_step_counts_are_refused(pattern: str) -> None:
    """Absent operators took time in proportion to the square of the text."""
    with pytest.raises(jeton.JetonError, match="absent operator"):
        characters().replace(pre_tokenizer=pre_tokenizers.Split(Regex(pattern), "isolated"))
    escaped = characters().replace(pre_tokenizer=pre_tokenizers.Split(Regex(r"\(?~"), "isolated"))
    assert escaped.encode("the") == characters().encode("the")


@pytest.mark.parametrize("name", ["continuing_subword_prefix", "end_of_word_suffix"])
def test_marks_of_words_are_short(name: str) -> None:
    """Each part of a word is looked up with them."""
    marked: Any = {name: "x" * 129}
    with pytest.raises(jeton.errors.UnsupportedError, match=f"{name} has 129 bytes"):
        jeton.Tokenizer(models.BPE({"a": 0}, [], **marked))
    if name == "continuing_subword_prefix":
        with pytest.raises(jeton.errors.UnsupportedError, match=f"{name} has 129 bytes"):
            jeton.Tokenizer(models.WordPiece({"[UNK]": 0}, **marked))
    marked[name] = "x" * 128
    assert jeton.Tokenizer(models.BPE({"a": 0}, [], **marked)).vocab_size == 1


def test_results_within_the_budget_are_unchanged() -> None:
    """A budget is for what is done again and again, not for what is long."""
    split = pre_tokenizers.Split(Regex(r"(\w)\1*|\s+(?=(\s))|."), "isolated")
    text = "aaa bb  c.\n\n" * 2_000
    pieces = [piece for piece, _ in split(text)]
    assert "".join(pieces) == text
    assert pieces[:7] == ["aaa", " ", "bb", " ", " ", "c", "."]


MILLION = 1_000_000
NASTY = {
    name: (part * MILLION)[:MILLION] + end
    for name, part, end in [
        ("a letter", "a", ""),
        ("capitals", "A", "b"),
        ("spaces", " ", ""),
        ("spaces and a letter", " ", "a"),
        ("newlines", "\n", ""),
        ("newlines and spaces", "\n ", "a"),
        ("digits", "1", ""),
        ("apostrophes", "'", "s"),
        ("marks", "\u0301", ""),
        ("ideographs", "東", ""),
        ("signs", "!", "\n"),
    ]
}


@pytest.mark.large
@pytest.mark.parametrize("pattern", jeton.patterns())
def test_well_known_patterns_never_meet_the_budget(pattern: str) -> None:
    cut = jeton.Tokenizer.from_ranks({bytes([byte]): byte for byte in range(256)}, pattern=pattern)
    for text in NASTY.values():
        cut.count(text)


@pytest.mark.parametrize("pattern", jeton.patterns())
def test_nor_do_their_expressions_one_by_one(pattern: str) -> None:
    for source in jeton.patterns()[pattern].expressions:
        split = pre_tokenizers.Split(Regex(source), "isolated")
        tok = characters().replace(pre_tokenizer=split)
        for text in list(NASTY.values())[::3]:
            tok.count(text[: MILLION // 4])


PUBLISHED = sorted(it for it in VOCABULARIES.rglob("*") if it.suffix in (".json", ".model"))


@pytest.mark.large
@pytest.mark.parametrize(
    "path", PUBLISHED or [VOCABULARIES], ids=lambda path: path.relative_to(SHARED).as_posix()
)
def test_published_tokenizers_never_meet_it(path: Path) -> None:
    needed(path)
    if path.name not in ("tokenizer.json", "gpt2_vocab.json") and path.suffix != ".model":
        pytest.skip("no tokenizer by itself")
    try:
        tok = jeton.load(path)
    except jeton.JetonError as error:
        pytest.skip(str(error))
    for text in NASTY.values():
        tok.count(text)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    path = tmp_path / "tokenizer.json"
    os.mkfifo(path)
    return path


def test_only_regular_files_are_loaded(pipe: Path) -> None:
    for load in (jeton.load, jeton.WordCounts.load):
        for path, what in ((pipe, "a pipe"), (Path("/dev/zero"), "a device")):
            with pytest.raises(jeton.errors.FileError, match=f"{path}: this is {what}"):
                load(path)
    with pytest.raises(jeton.errors.FileError, match=r"tokenizer\.json: this is a pipe"):
        jeton.load(pipe.parent)


def test_nor_are_tokens_read_from_it(pipe: Path) -> None:
    from jeton.data import TokenDataset

    for path in (pipe, "/dev/zero"):
        with pytest.raises(jeton.errors.FileError, match="a pipe or a device"):
            TokenDataset(path)


@pytest.mark.large
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("inspect PIPE", "this is a pipe"),
        ("count PIPE text.txt", "this is a pipe"),
        ("inspect /dev/zero", "this is a device"),
        ("encode tok.json /dev/zero", "this is a device"),
        ("count tok.json /dev/zero", "this is a device"),
        ("decode tok.json /dev/zero", "this is a device"),
    ],
)
def test_nor_does_a_command_wait_for_it(command: str, says: str, pipe: Path) -> None:
    byte_level().save(pipe.parent / "tok.json")
    (pipe.parent / "text.txt").write_text("a")
    arguments = [str(pipe) if word == "PIPE" else word for word in command.split()]
    done = subprocess.run(
        [sys.executable, "-m", "jeton", *arguments],
        cwd=pipe.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert says in done.stderr
