"""`jeton demo`: all steps on text that ships with jeton, with explanations.

Look here for the main job end to end: train a tokenizer, encode and decode with it, compare it
with bytes and characters, write the tokenizer and the token file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

import jeton
from jeton import samples
from jeton.cli.colours import ColouredToken, flow
from jeton.cli.command import Command
from jeton.cli.printing import say, styled, use_colour
from jeton.cli.targets import FilePath, check_target, force_option, replacing
from jeton.cli.terminal import columns, heading, human_bytes, paragraph, table
from jeton.cli.token_files import NpyWriter, dtype_for
from jeton.display.human_readable import bar, visible
from jeton.encoding.explaining.steps import Merging
from jeton.errors import FileError

HELP = """Train a tokenizer on text that ships with jeton, and show what it does.

Takes a few seconds and downloads nothing. Writes a tokenizer and a token file into ./jeton-demo,
to try more things with.

\b
Examples:
  jeton demo
  jeton demo --vocab-size 1000 --out small-demo
"""

SENTENCE = (
    "The tokenizer counted 1,204 tokens by the sea, took the last train, "
    "and ordered un café — 図書館で ☕️."
)
WORD = " counting"
END = "<|endoftext|>"

FILES = ("tokenizer.json", "tokens.npy")
"""The files that the demo writes."""

WIDEST_BAR = 34
"""The columns of the widest bar."""


@dataclass(frozen=True)
class SampleResult:
    """The sizes of one sample."""

    name: str
    characters: int
    bytes: int
    tokens: int


@click.command(cls=Command, help=HELP, short_help="See what jeton does, in seconds.")
@click.option(
    "--vocab-size",
    default=3_000,
    type=click.IntRange(258, 1_000_000),
    help="Size of the vocabulary.",
)
@click.option(
    "--out",
    type=FilePath(),
    default="jeton-demo",
    metavar="FOLDER",
    help="The folder to write.",
)
@force_option
def demo(vocab_size: int, out: str, force: bool) -> None:
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{out}: exists and is not a folder (--out names another)")
    if folder.is_dir():
        for name in FILES:
            check_target(folder / name, force=force)
    texts = samples.read_all()
    size = sum(len(text.encode()) for text in texts.values())

    _section("1", "Some text")
    _say(
        f"{len(texts)} files come with jeton, {human_bytes(size)} in all: stories, recipes, code, "
        "thirty languages. A model cannot read text. It reads numbers."
    )

    _section("2", "Training: which pieces deserve a number?")
    start = time.perf_counter()
    trainer = jeton.BPETrainer(vocab_size=vocab_size, pattern="gpt4", special_tokens=[END])
    tok = trainer.train(list(texts.values()))
    seconds = time.perf_counter() - start
    _say(
        "Begin with the 256 bytes. Join the two neighbours that are seen together most often, "
        f"make that a token, and repeat. {len(tok.vocab.merges):,} merges took {seconds:.2f} s."
    )
    say()
    say(_merges_of_note(tok))

    _section("3", "One word, merge by merge")
    for line in _merging(tok, WORD):
        say(line)

    _section("4", "A sentence that it has never seen")
    _sentence(tok)

    _section("5", "There and back")
    encoded = {name: tok.encode_array(text) for name, text in texts.items()}
    for name, text in texts.items():
        if tok.decode(encoded[name]) != text:
            raise jeton.JetonError(f"{name} did not survive the round trip; please report this")
    _say("Every sample was encoded and decoded again. All came back, byte for byte.")
    say()
    results = [
        SampleResult(name, len(text), len(text.encode()), len(encoded[name]))
        for name, text in texts.items()
    ]
    _comparison(results)

    _section("6", "To keep")
    _write(tok, texts, encoded, folder)

    _section("7", "And now?")
    path = f"{out}/tokenizer.json"
    say(
        table(
            [
                (f'jeton inspect {path} --text "your own words"', "see them split"),
                (f"jeton count {path} README.md", "tokens in a file"),
                (f"jeton decode {path} {out}/tokens.npy", "the text again"),
                ("jeton --help", "everything else"),
                ("jeton learn", "how it works, step by step"),
            ],
            "<<",
        )
    )


def _section(number: str, title: str) -> None:
    say()
    say(heading(f"{number}  {title}"))


def _say(text: str) -> None:
    say(paragraph(text))


def _merges_of_note(tok: jeton.Tokenizer) -> str:
    merges = tok.vocab.merges
    last = len(merges)
    rows: list[tuple[str, ...]] = []
    for number in (1, 2, 3, 4, 5, 10, 50, 200, 1_000, 2_000, last):
        if number <= last and (not rows or rows[-1][0] != f"{number:,}"):
            first, second = merges[number - 1]
            rows.append(
                (f"{number:,}", visible(first), "+", visible(second), "→", visible(first + second))
            )
    return table([("merge", "", "", "", "", ""), *rows], "><<<<<", gap=" ", indent="  ")


def _merging(tok: jeton.Tokenizer, word: str) -> Iterator[str]:
    """The word after each merge, with the number of the merge."""
    (piece,) = tok.explain(word).model.pieces
    assert isinstance(piece, Merging)
    colour = use_colour(sys.stdout)
    numbers = ["", *(f"merge {(merge.rank or 0) + 1:,}" for merge in piece.merges)]
    for number, row in zip(numbers, piece.rows(), strict=True):
        yield f"  {number:>13}  {_row(tok, row, colour)}"


def _row(tok: jeton.Tokenizer, pieces: list[bytes], colour: bool) -> str:
    return flow(
        (ColouredToken(piece, tok.vocab[piece]) for piece in pieces), 10_000, colour, indent=""
    )


def _sentence(tok: jeton.Tokenizer) -> None:
    ids = tok.encode(SENTENCE)
    pieces = [ColouredToken(tok.vocab.spelling(id), id) for id in ids]
    say(flow(pieces, columns(), use_colour(sys.stdout)))
    say()
    _say(" ".join(map(str, ids)))
    say()
    size = len(SENTENCE.encode())
    _say(
        f"{len(SENTENCE)} characters, {size} bytes, {len(ids)} tokens. A common word is one "
        "token; a rare one is spelled out, at worst byte by byte. No text is unknown."
    )


def _comparison(results: list[SampleResult]) -> None:
    """Bytes, characters and tokens of each sample, with bars on one scale."""
    total = SampleResult(
        "all",
        sum(sample.characters for sample in results),
        sum(sample.bytes for sample in results),
        sum(sample.tokens for sample in results),
    )
    room = max(8, min(WIDEST_BAR, columns() - 58))
    rows: list[tuple[str, ...]] = [("", "bytes", "characters", "tokens", "bytes/token", "")]
    for sample in [*results, total]:
        share = sample.bytes / sample.tokens
        best = max(row.bytes / row.tokens for row in results)
        rows.append(
            (
                sample.name,
                f"{sample.bytes:,}",
                f"{sample.characters:,}",
                f"{sample.tokens:,}",
                f"{share:.2f}",
                styled(bar(share / best, room), fg="green"),
            )
        )
    rows[-1] = tuple(styled(cell, bold=True) for cell in rows[-1])
    say(table(rows, "<>>>><"))
    say()
    _say(
        f"The text is {total.bytes:,} bytes, {total.characters:,} characters, or {total.tokens:,} "
        f"tokens: {total.tokens / total.bytes:.0%} of the steps that a model of bytes would take, "
        f"{total.tokens / total.characters:.0%} of those of a model of characters. (It was trained "
        "on this very text; on other text it does less well.)"
    )


def _write(
    tok: jeton.Tokenizer,
    texts: dict[str, str],
    encoded: dict[str, npt.NDArray[np.uint32]],
    folder: Path,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, tokens = (folder / name for name in FILES)
    tok.save(tokenizer)
    again = jeton.load(tokenizer)
    if not all(np.array_equal(again.encode_array(texts[name]), encoded[name]) for name in texts):
        raise jeton.JetonError(f"{tokenizer} encodes differently; please report this")
    dtype = dtype_for(tok.vocab.max_id)
    end = np.array([tok.special_tokens[END]], np.uint32)
    with replacing(tokens, force=True) as file:
        writer = NpyWriter(file, dtype)
        for ids in encoded.values():
            writer.write(ids)
            writer.write(end)
        writer.finish()
    rows = []
    for path, what in (
        (tokenizer, "the tokenizer, as Hugging Face reads it"),
        (tokens, f"{writer.length:,} ids, each a {writer.dtype}"),
    ):
        rows.append((str(path), human_bytes(path.stat().st_size), what))
    say(table(rows, "<><"))
    say()
    size = sum(len(text.encode()) for text in texts.values())
    _say(
        f"The ids take {human_bytes(tokens.stat().st_size)}, the text {human_bytes(size)}. Each "
        f"sample ends in {END}, as training scripts expect."
    )
