"""`jeton learn`: training and encoding step by step, and exercises that check themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from jeton.cli.command import Command, Group, decorated
from jeton.cli.learn_views import View, read_text, view_options
from jeton.cli.targets import STREAM, FilePath, force_option
from jeton.cli.tokenizers import (
    EncodingFlags,
    TokenizerSource,
    encoding_options,
    note_on_special_tokens,
    tokenizer_options,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

HELP = """Watch the algorithms step by step, answer exercises, and write your own.

Without a command, shows a menu. In a terminal, → and ← step forward and back, p plays and pauses,
? shows the other keys, and q quits. Elsewhere, or with --all, all steps are printed; --html writes
them as a page. Without TEXT, shows an example from textbooks.

\b
Examples:
  jeton learn                               a menu
  jeton learn bpe                           an example from textbooks
  jeton learn bpe "a refrain from rain in a train" --no-end
  jeton learn wordpiece --counts hug:10 pug:5 pun:12 bun:4 hugs:5
  jeton learn unigram --size 10
  jeton learn bytes "un café"
  jeton learn encode gpt2 "How is this split?" --html steps.html
  jeton learn guess                         which pair is merged next?
  jeton learn --exercise 1                  questions that check themselves
  jeton learn --new my_bpe.py               write your own tokenizer
  jeton learn --grade my_bpe.py             and see where it goes wrong
"""

_TIES = click.Choice(["first", "alphabetic", "lexicographic"])
_MERGES = click.IntRange(0, 200)


class _Learn(Group, Command):
    """Commands below a command that can itself do something."""


@click.group(
    cls=_Learn,
    help=HELP,
    invoke_without_command=True,
    short_help="Watch the algorithms step by step.",
)
@click.option(
    "--exercise", "number", type=int, metavar="N", help="Ask exercise N, and explain the answer."
)
@click.option("--exercises", "is_list", is_flag=True, help="List the exercises.")
@click.option(
    "--grade", "path_to_grade", type=FilePath(), metavar="FILE", help="Grade your own functions."
)
@click.option(
    "--new", type=FilePath(), metavar="FILE", help="Write a file of empty functions to fill in."
)
@force_option
@click.pass_context
def learn(
    ctx: click.Context,
    number: int | None,
    is_list: bool,
    path_to_grade: str | None,
    new: str | None,
    force: bool,
) -> None:
    choices = [number is not None, is_list, path_to_grade is not None, new is not None]
    if sum(choices) + (ctx.invoked_subcommand is not None) > 1:
        raise click.UsageError(
            "--exercise, --exercises, --grade, --new and a command exclude each other."
        )
    if force and new is None:
        raise click.UsageError("before a command, --force goes with --new.")
    if ctx.invoked_subcommand is not None:
        return
    from jeton.cli import learn_exercises, learn_grade, learn_menu

    if path_to_grade is not None:
        learn_grade.show_grades(path_to_grade)
    elif new is not None:
        learn_grade.begin(new, force=force)
    elif number is not None:
        learn_exercises.ask(number)
    elif is_list:
        learn_exercises.list_exercises()
    elif (arguments := learn_menu.choose()) is not None:
        with learn.make_context("learn", arguments, parent=ctx.parent) as context:
            learn.invoke(context)


GUESS = """Guess the next merges of byte pair encoding.

Shows words of the sample texts in symbols. Type the two symbols that are merged next: the most
frequent pair, or of equally frequent ones the pair seen first. An empty line ends the game.

\b
Examples:
  jeton learn guess
  jeton learn guess --start 7
"""


@learn.command("guess", cls=Command, help=GUESS, short_help="Which pair is merged next?")
@click.option(
    "--start",
    type=click.IntRange(0, 1 << 31),
    metavar="N",
    help="Begin with the words of game N.  [default: at random]",
)
def guess(start: int | None) -> None:
    from jeton.cli.learn_guess import play

    play(start)


def _words_options(function: object) -> Any:
    """The words that training begins with."""
    decorators = [
        click.argument("text", nargs=-1),
        click.option("--file", type=FilePath(), metavar="FILE", help="Take the text from a file."),
        click.option(
            "--counts", is_flag=True, help="TEXT is words with counts, as in hug:10 pug:5."
        ),
    ]
    return decorated(function, decorators)


def _words(
    text: tuple[str, ...], file: str | None, counts: bool, example: Mapping[str, int]
) -> dict[str, int]:
    """The words with their counts."""
    from jeton.learn.textbook import word_counts

    content = read_text(text, file)
    if content is None:
        return dict(example)
    words = word_counts(content)
    if counts:
        words = dict(_word_with_count(word) for word in content.split())
    if not words:
        raise click.UsageError("there are no words in the text.")
    return words


def _word_with_count(word: str) -> tuple[str, int]:
    name, colon, count = word.rpartition(":")
    if not (name and colon and count.isascii() and count.isdigit() and 0 < int(count[:10]) < 10**9):
        raise click.UsageError(f"{word!r} is not WORD:COUNT, as in hug:10.")
    return name, int(count[:10])


BPE = """Train byte pair encoding: the most frequent pair becomes a token, again and again.

\b
Examples:
  jeton learn bpe
  jeton learn bpe "hello hello help" --merges 3 --no-end
  jeton learn bpe cake --no-end --tie-break alphabetic
"""


@learn.command("bpe", cls=Command, help=BPE, short_help="Pairs become tokens.")
@_words_options
@click.option("--merges", default=10, type=_MERGES, help="How many merges.")
@click.option("--vocab-size", type=click.IntRange(1), help="How many tokens, instead of --merges.")
@click.option("--end", default="</w>", help="The mark at the end of a word.")
@click.option("--no-end", is_flag=True, help="No mark at the end of a word.")
@click.option(
    "--tie-break",
    default="first",
    type=_TIES,
    help="Which of equally frequent pairs wins.",
)
@view_options
def bpe(
    text: tuple[str, ...],
    file: str | None,
    counts: bool,
    merges: int,
    vocab_size: int | None,
    end: str,
    no_end: bool,
    tie_break: Literal["first", "alphabetic", "lexicographic"],
    view: View,
) -> None:
    from jeton.learn.merging import frames_of_merging, start_rows, watch_bpe
    from jeton.learn.textbook import LOW_COUNTS

    view.check(_read(text, file))
    words = _words(text, file, counts, LOW_COUNTS)
    mark = None if no_end or not end else end
    start = start_rows(words, mark)
    if vocab_size is not None:
        merges = _merges_for(vocab_size, {symbol for row, _ in start for symbol in row})
    steps = list(watch_bpe(words, merges, end=mark, tie_break=tie_break))
    on_training = (
        "Of equally frequent pairs, jeton train takes the one with the smallest ids; "
        f"--set tie_break={tie_break} makes it take this one."
    )
    frames = frames_of_merging(start, steps, on_training=on_training)
    view.show(frames, _title("BPE", words))


def _merges_for(vocab_size: int, alphabet: set[str]) -> int:
    if vocab_size < len(alphabet):
        raise click.UsageError(
            f"--vocab-size {vocab_size} does not hold the {len(alphabet)} symbols of the words."
        )
    if vocab_size - len(alphabet) > _MERGES.max:  # type: ignore[operator]
        raise click.UsageError(f"that makes more than {_MERGES.max} merges, too many to watch.")
    return vocab_size - len(alphabet)


WORDPIECE = """Train WordPiece: merge pairs that occur together more often than by chance.

\b
Examples:
  jeton learn wordpiece
  jeton learn wordpiece --rule released --merges 4
"""


@learn.command(
    "wordpiece", cls=Command, help=WORDPIECE, short_help="Pairs by score; the longest match."
)
@_words_options
@click.option("--merges", default=6, type=_MERGES, help="How many merges.")
@click.option(
    "--rule",
    default="published",
    type=click.Choice(["published", "released"]),
    help="freq(ab) / (freq(a)·freq(b)), or freq(ab).",
)
@view_options
def wordpiece(
    text: tuple[str, ...],
    file: str | None,
    counts: bool,
    merges: int,
    rule: Literal["published", "released"],
    view: View,
) -> None:
    from jeton.encoding.explaining.view_frames import frames_of_pieces
    from jeton.learn import textbook
    from jeton.learn.merging import frames_of_merging, marked_rows, watch_wordpiece

    view.check(_read(text, file))
    words = _words(text, file, counts, textbook.HUG_COUNTS)
    steps = list(watch_wordpiece(words, merges, rule=rule))
    tok = textbook.wordpiece(words, len({step.made for step in steps}), rule=rule)
    explanation = tok.explain(" ".join(list(words)[:6]))
    on_training = (
        "jeton train --kind wordpiece uses this rule too."
        if rule == "released"
        else "This is the published rule. jeton train --kind wordpiece uses the released one, "
        "the most frequent pair; --rule published changes that."
    )
    merging = frames_of_merging(
        marked_rows(words), steps, longest_match=True, on_training=on_training
    )
    frames = [*merging, *frames_of_pieces(explanation.model)]
    view.show(frames, _title("WordPiece", words))


UNIGRAM = """Train Unigram: begin with too many pieces, estimate, prune; then find the best path.

\b
Examples:
  jeton learn unigram
  jeton learn unigram "the theory of the weather there" --size 20
"""


@learn.command("unigram", cls=Command, help=UNIGRAM, short_help="Prune pieces; find the best path.")
@_words_options
@click.option(
    "--size",
    type=click.IntRange(1, 2_000),
    help="How many pieces to keep.  [default: a few more than characters]",
)
@view_options
def unigram(
    text: tuple[str, ...],
    file: str | None,
    counts: bool,
    size: int | None,
    view: View,
) -> None:
    from jeton.learn.textbook import HUG_COUNTS
    from jeton.learn.unigram import frames_of_unigram, watch_unigram

    view.check(_read(text, file))
    words = _words(text, file, counts, HUG_COUNTS)
    if size is None:
        size = len({character for word in words for character in word}) + 3
    steps = list(watch_unigram(words, size))
    frames = frames_of_unigram(words, steps)
    view.show(frames, _title("Unigram", words))


BYTES = """Show a text as bytes, and the characters that GPT-2's files write for them.

\b
Examples:
  jeton learn bytes
  jeton learn bytes "東京 🙂"
"""


@learn.command("bytes", cls=Command, help=BYTES, short_help="UTF-8, and how GPT-2 writes bytes.")
@click.argument("text", nargs=-1)
@click.option("--file", type=FilePath(), metavar="FILE", help="Take the text from a file.")
@view_options
def bytes_(text: tuple[str, ...], file: str | None, view: View) -> None:
    from jeton.learn.byte_alphabet import frames_of_bytes

    view.check(_read(text, file))
    content = read_text(text, file)
    if content == "":
        raise click.UsageError("the text is empty: it has no bytes to show.")
    frames = frames_of_bytes("un café 🙂" if content is None else content)
    view.show(frames, "Bytes")


ENCODE = """Encode a text with any tokenizer, and show every stage and every merge.

\b
Examples:
  jeton learn encode gpt2 "How is this split?"
  jeton learn encode tokenizer.json "<|user|> hi" --special allow --all
  date | jeton learn encode gpt2 -
"""


@learn.command("encode", cls=Command, help=ENCODE, short_help="Every stage and every merge.")
@tokenizer_options
@click.argument("text", nargs=-1)
@click.option("--file", type=FilePath(), metavar="FILE", help="Take the text from a file.")
@encoding_options
@view_options
def encode(
    source: TokenizerSource,
    text: tuple[str, ...],
    file: str | None,
    options: EncodingFlags,
    view: View,
) -> None:
    from jeton.encoding.explaining.view_frames import frames_of_encoding

    view.check([*source.files, *_read(text, file)])
    content = read_text(text, file)
    if content is None:
        raise click.UsageError('give a text, as in "How is this split?", or --file.')
    tok = source.load()
    note_on_special_tokens(tok, options)
    explanation = tok.explain(content, **options)
    view.show(
        frames_of_encoding(explanation.text, explanation.steps), f"Encoding with {source.name}"
    )


def _read(text: tuple[str, ...], file: str | None) -> list[str]:
    """The file that a text comes from, if it comes from one."""
    if file is not None:
        return [file]
    return [STREAM] if text == (STREAM,) else []


def _title(kind: str, words: dict[str, int]) -> str:
    first_words = " ".join(list(words)[:5])
    return f"{kind}: {first_words if len(first_words) <= 60 else first_words[:59]}" + " …" * (
        len(words) > 5
    )
