"""`analysis.diff` and `jeton diff`: what differs is found, and adds up."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from command_line import Run, error_of, here, run  # noqa: F401
from jeton.analysis import diff, lines
from jeton.components import decoders, models, normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, FormatError
from kinds import byte_level, each_kind, ranks, word_piece


def words(*pieces: str) -> jeton.Tokenizer:
    """A Unigram that has these pieces and single letters."""
    letters = [(letter, -9.0) for letter in "abcdefghijklmnopqrstuvwxyz ."]
    rows = [("<unk>", 0.0), *letters, *((piece, -1.0) for piece in pieces)]
    return jeton.Tokenizer(models.Unigram(rows, unk_id=0), decoder=decoders.Fuse())


def test_by_hand() -> None:
    """The example of the module: `un|happiness` and `un|happi|ness`, five times."""
    a, b = words("un", "happiness", "the"), words("un", "happi", "ness", "the")
    found = diff(a, b, ["unhappiness the"] * 4 + ["unhappiness"])
    (stretch,) = found.stretches
    # `un` is cut alike by both, so the stretch is what follows it.
    assert (stretch.text, stretch.a, stretch.b) == (
        "happiness",
        (b"happiness",),
        (b"happi", b"ness"),
    )
    assert (stretch.count, stretch.difference) == (5, 5)
    assert (found.lines_in_all, found.lines_differing) == (5, 5)
    assert [(it.token, it.count) for it in found.only_a] == [(b"happiness", 5)]
    assert [(it.token, it.count) for it in found.only_b] == [(b"happi", 5), (b"ness", 5)]
    assert found.tokens == (4 * 4 + 2, 4 * 5 + 3) and found.inexact == (0, 0)


def test_white_space_in_front_of_a_token_is_no_difference() -> None:
    a = jeton.Tokenizer(
        models.WordPiece({"[UNK]": 0, "low": 1, "er": 2}),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
    )
    b = words(" low", "low")
    assert diff(a, b, ["low low"]).stretches == ()


def test_the_weightiest_is_first_and_few_are_kept() -> None:
    a, b = words("ab", "cd", "efg"), words()
    found = diff(a, b, ["ab", "cd", "cd", "efg"])
    assert [it.text for it in found.stretches] == ["cd", "efg", "ab"]
    few = diff(a, b, ["ab", "cd", "cd", "efg"], limit=1)
    assert [it.text for it in few.stretches] == ["cd"] and few.stretches_in_all == 3
    assert [it.text for it in found.lines] == ["efg", "ab", "cd", "cd"] and len(few.lines) == 1


def test_lost_text_is_told() -> None:
    lower = words("low").replace(normalizer=normalizers.Lowercase())
    assert diff(lower, words("low"), ["Low", "low"]).inexact == (1, 1)


@each_kind
def test_nothing_differs_from_itself(tok: jeton.Tokenizer) -> None:
    found = diff(tok, tok, ["the weather there", "  two\tspaces ", "é🙂 東京"])
    assert not any((found.only_a, found.only_b, found.stretches, found.lines))
    assert found.lines_differing == 0


TEXTS = st.lists(st.text(alphabet="the rwa\t\n é🙂東", min_size=1, max_size=30), max_size=6)
PAIRS = [(byte_level(), ranks()), (word_piece(), byte_level()), (ranks(), words("the", "he"))]


@given(texts=TEXTS, pair=st.sampled_from(PAIRS))
def test_differences_add_up(
    texts: list[str], pair: tuple[jeton.Tokenizer, jeton.Tokenizer]
) -> None:
    found = diff(*pair, iter(texts))
    assert sum(it.difference for it in found.stretches) == found.tokens[1] - found.tokens[0]
    back = diff(*pair[::-1], iter(texts))
    assert {(it.text, it.b, it.a, it.count) for it in back.stretches} == {
        (it.text, it.a, it.b, it.count) for it in found.stretches
    }
    twice = diff(*pair, iter(texts * 2))
    assert [it.count for it in twice.stretches] == [2 * it.count for it in found.stretches]
    json.dumps(found.to_dict())


def test_nothing_to_compare_on() -> None:
    found = diff(byte_level(), ranks(), iter([]))
    assert found.tokens == (0, 0) and "0 and 0 tokens;" in repr(found)


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_lines_with_their_ends_are_the_text(tmp_path: Path, end: str) -> None:
    text = "the wéather\n\nthere\r\n" + "the " * 9 + "\nend" + end
    (tmp_path / "a.txt").write_bytes(("\ufeff" + text).encode())
    whole = [line for batch in lines.Lines(tmp_path / "a.txt") for line in batch]
    assert whole == ["the wéather", "there", "the " * 9, "end"]
    with_ends = lines.Lines(tmp_path / "a.txt", with_ends=True)
    assert "".join(line for batch in with_ends for line in batch) == text


@pytest.mark.skipif(shutil.which("zstd") is None, reason="there is no zstd to compress with")
def test_zstandard(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the weather\nthere\n")
    subprocess.run(["zstd", "-q", tmp_path / "a.txt"], check=True)
    every = [diff(byte_level(), ranks(), tmp_path / name) for name in ("a.txt", "a.txt.zst")]
    assert every[0] == every[1]


def test_files(tmp_path: Path) -> None:
    text = "the weather\nthere\n"
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "c.jsonl").write_text(json.dumps({"text": text}) + "\n")
    every = [diff(byte_level(), ranks(), path) for path in sorted(tmp_path.iterdir())]
    assert every[0] == every[1] == every[2] == diff(byte_level(), ranks(), iter([text]))
    (tmp_path / "bad.txt").write_bytes(b"\xff")
    (tmp_path / "bad.jsonl").write_text("{}")
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"x" * 99)[:-9])
    for name in ("bad.txt", "bad.jsonl", "bad.gz"):
        with pytest.raises((FormatError, FileError), match=name):
            diff(byte_level(), ranks(), tmp_path / name)
    with pytest.raises(ArgumentTypeError, match="mapping"):
        diff(byte_level(), ranks(), {"news": [text]})
    with pytest.raises(ArgumentError, match="limit"):
        diff(byte_level(), ranks(), text.split(), limit=-1)


class TestCommand:
    def test_tables_and_json(self, run: Run, here: Path) -> None:  # noqa: F811
        words("un", "happiness").save("a.json")
        words("un", "happi", "ness").save("b.json")
        (here / "x.txt").write_text("unhappiness\n" * 3)
        output = run("diff", "a.json", "b.json", "x.txt").stdout
        assert "happi│ness" in output and "+3" in output and "Only in b.json: 2 tokens" in output
        run("diff", "a.json", "b.json", "x.txt", "--format", "json", "-o", "d.json")
        saved = json.loads((here / "d.json").read_text())
        assert saved["stretches"][0]["b"] == ["happi", "ness"] and saved["tokens"] == [6, 9]

    def test_wrong_lines(self, run: Run, here: Path) -> None:  # noqa: F811
        words().save("a.json")
        same = run("diff", "a.json", "a.json").stdout  # on the text that ships with jeton
        assert "0 are split differently" in same
        run("diff", "a.json", code=2)
        missing = run("diff", "a.json", "a.json", "none.txt", code=1)
        assert "none.txt" in error_of(missing)
