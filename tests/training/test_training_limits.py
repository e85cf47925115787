"""Limits of training: long words, rare words, memory; and that none changes what is not cut."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

import jeton
from jeton.components import normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError, TrainingWarning


def mixed(seed: int, words: int = 30_000) -> list[str]:
    """Lines of words, some frequent, most met once or twice."""
    numbers = random.Random(seed)
    letters = "abcdefghé東"

    def word() -> str:
        length = numbers.randint(1, 3) if numbers.random() < 0.6 else numbers.randint(4, 24)
        return "".join(numbers.choices(letters, k=length))

    return [" ".join(word() for _ in range(10)) + "\n" for _ in range(words // 10)]


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets may be as small as one likes, so that a little corpus outgrows them."""
    monkeypatch.setattr("jeton.corpora.memory_size.LEAST", 1)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    "first",
    [
        {"pattern": "gpt2"},
        {"pattern": "whitespace"},
        {
            "normalizer": normalizers.BertNormalizer(),
            "pre_tokenizer": pre_tokenizers.BertPreTokenizer(),
        },
    ],
    ids=["scanner", "blanks", "bert"],
)
def test_memory_changes_nothing(first: dict[str, object], tmp_path: Path) -> None:
    lines = mixed(1)
    expected = jeton.WordCounts.count(lines, **first)  # type: ignore[arg-type]
    path = tmp_path / "corpus.txt"
    path.write_text("".join(lines), encoding="utf-8", newline="")
    for memory in ("3MB", "100MB"):
        counts = jeton.WordCounts.count(path, memory=memory, **first)  # type: ignore[arg-type]
        assert counts.items() == expected.items()
    # 9 words in 10 do not fit, and are left out.
    with pytest.warns(TrainingWarning, match=r"left out .* with a count below min_word_count=3;"):
        few = jeton.WordCounts.count(
            path,
            memory="500kB",
            min_word_count=3,
            temp_dir=tmp_path,
            **first,  # type: ignore[arg-type]
        )
    assert few.items() == expected.at_least(3).items()
    assert [entry.name for entry in tmp_path.iterdir()] == ["corpus.txt"]


@pytest.mark.usefixtures("little_memory")
def test_training_within_memory(tmp_path: Path) -> None:
    lines = mixed(2)
    expected = jeton.BPETrainer(600, pattern="gpt2").train(lines)
    assert jeton.BPETrainer(600, pattern="gpt2").train(lines, memory="40MB") == expected
    with pytest.raises(
        TrainingError, match=r"distinct words need .* min_word_count=\d+ to"
    ) as told:
        jeton.BPETrainer(600, pattern="gpt2").train(lines, memory="2 MB", temp_dir=tmp_path)
    assert not list(tmp_path.iterdir())
    least = int(str(told.value).split("min_word_count=")[1].split()[0])
    counts = jeton.WordCounts.count(lines, pattern="gpt2")
    with pytest.raises(TrainingError, match="distinct words need"):
        jeton.BPETrainer(600, pattern="gpt2").train(counts, memory="2 MB")
    with pytest.warns(TrainingWarning, match="left out"):
        trainer = jeton.BPETrainer(600, pattern="gpt2", min_word_count=least)
        kept = trainer.train(lines, memory="2 MB")
    assert kept == trainer.train(counts.at_least(least))
    with pytest.raises(TrainingError, match=r"memory='30MB' is not enough: .* needs 30 MB"):
        jeton.BPETrainer(30_000, pattern="gpt2").train(lines, memory="30MB")


@pytest.mark.usefixtures("little_memory")
def test_an_interrupt_leaves_no_files(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("".join(mixed(3)), encoding="utf-8")
    folder = tmp_path / "spill"
    folder.mkdir()

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jeton.BPETrainer(600).train(path, memory="2MB", temp_dir=folder, watch=interrupt)
    assert not list(folder.iterdir())
    with pytest.raises(jeton.errors.FileError, match="nowhere"):
        jeton.BPETrainer(600).train(path, memory="2MB", temp_dir=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("memory", "error", "message"),
    [
        ("4XB", ArgumentError, "no unit 'XB'"),
        ("lots", ArgumentError, 'write it as "4GB"'),
        (0, ArgumentError, "memory cannot be 0"),
        (-1, ArgumentError, "memory cannot be -1"),
        ("1MB", ArgumentError, "memory cannot be '1MB': .* take 32 MB, the smallest budget"),
        (31_999_999, ArgumentError, "the smallest budget"),
        ("4G", ArgumentError, "there is no unit 'G' .did you mean 'GB'"),
        ("4k", ArgumentError, "did you mean 'kB'"),
        (10**30, ArgumentError, "memory cannot be 10{30} "),
        (1 << 10_000, ArgumentError, "memory cannot be this much"),
        ("9" * 5000, ArgumentError, "memory cannot be this much"),
        ("0 GB", ArgumentError, "memory cannot be '0 GB'"),
        (1.5, ArgumentTypeError, "memory must be an int or a str, not float"),
        (True, ArgumentTypeError, "not bool"),
    ],
)
def test_memory_that_makes_no_sense(memory: int | str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        jeton.BPETrainer(300).train(["a"], memory=memory)


@pytest.mark.large
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize("form", ["lines", "files", "one line", "JSON lines", "normalized"])
def test_the_budget_holds(form: str, tmp_path: Path) -> None:
    text = "".join(mixed(4, 600_000)).encode()
    if form == "files":
        for number in range(16):
            (tmp_path / f"{number}.txt").write_bytes(text)
    elif form == "JSON lines":
        rows = (f'{{"text": "{line}"}}\n' for line in text.decode().splitlines())
        (tmp_path / "x.jsonl").write_bytes("".join(rows).encode() * 16)
    else:
        whole = text.replace(b"\n", b" ") if form == "one line" else text
        (tmp_path / "x.txt").write_bytes(whole * 16)
    # Where all stages run on a text it must fit in memory, so a whole file would not.
    documents = "line" if form == "normalized" else "file"
    normalizer = "jeton.components.normalizers.Lowercase()" if form == "normalized" else "None"
    program = f"""
import re, jeton

def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024

jeton.WordCounts.count(["begin"], pattern="gpt2")
before = peak()
counts = jeton.WordCounts.count(
    {str(tmp_path)!r}, pattern="gpt2", normalizer={normalizer}, memory="32MB", min_word_count=33,
    documents={documents!r}
)
print(len(counts), peak() - before)
"""
    options = ["-W", "ignore", "-c", program]
    done = subprocess.run([sys.executable, *options], capture_output=True, text=True, check=True)
    words, taken = map(int, done.stdout.split())
    assert words > 1_000
    assert taken < 32_000_000


@pytest.mark.usefixtures("little_memory")
def test_texts_that_cannot_be_cut_must_fit(tmp_path: Path) -> None:
    text = "word " * 40_000
    path = tmp_path / "x.txt"
    path.write_text(text, encoding="utf-8")
    options = {"pattern": "gpt2", "normalizer": normalizers.Lowercase()}
    for data in (path, [text]):
        with pytest.raises(TrainingError, match=r"a text of 200 kB .*\(allow 26 MB, or") as told:
            jeton.WordCounts.count(data, memory="20 MB", **options)  # type: ignore[arg-type]
        least = str(told.value).split("allow ")[1].split(",")[0]
        counts = jeton.WordCounts.count(data, memory=least, **options)  # type: ignore[arg-type]
        assert counts.items()[:2] == [("word", 1), (" word", 39_999)]
    path.with_suffix(".jsonl").write_text('{"text": "' + text + '"}')
    with pytest.raises(TrainingError, match=r"x\.jsonl: line 1: the line has more than 66 kB"):
        jeton.WordCounts.count(path.with_suffix(".jsonl"), pattern="gpt2", memory="1 MB")
    counts = jeton.WordCounts.count(path, pattern="gpt2", memory="1 MB")
    assert counts.items()[:2] == [("word", 1), (" word", 39_999)]


def test_long_words_are_cut_between_characters() -> None:
    text = "é" * 25 + " abc"
    with pytest.warns(TrainingWarning, match="max_word_length=10 characters were split, 1 time"):
        counts = jeton.WordCounts.count([text], pattern="whitespace", max_word_length=10)
    assert counts.items() == [("é" * 10, 2), ("é" * 5, 1), ("abc", 1)]
    whole = jeton.WordCounts.count([text], pattern="whitespace", max_word_length=None)
    assert whole.items() == [("é" * 25, 1), ("abc", 1)]
    # Without spaces, and by default: words stay short enough to be merged quickly.
    with pytest.warns(TrainingWarning, match="max_word_length=10,000"):
        tok = jeton.BPETrainer(300, pattern="whitespace").train(["ab" * 100_000])
    assert tok.decode(tok.encode("ab" * 20)) == "ab" * 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_word_length": 0}, "max_word_length must be at least 1, not 0"),
        ({"min_word_count": -1}, "min_word_count must be at least 0, not -1"),
    ],
)
def test_limits_that_make_no_sense(options: dict[str, int], message: str) -> None:
    for trainer in (jeton.BPETrainer, jeton.WordPieceTrainer):
        with pytest.raises(ArgumentError, match=message):
            trainer(300, **options)  # type: ignore[arg-type]
