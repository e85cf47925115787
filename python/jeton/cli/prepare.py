"""`jeton prepare`: turns files of text into files that a training loop reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jeton.cli.chat import template_option, template_text, variables_option
from jeton.cli.command import Command, echo_note, refuse_passed
from jeton.cli.documents import (
    documents_option,
    errors_option,
    field_option,
    say_what_documents_are,
)
from jeton.cli.prepare_progress import note_on_resuming, progress_shown
from jeton.cli.printing import put
from jeton.cli.progress import progress_option
from jeton.cli.targets import FilePath, check_target, corpus_path
from jeton.cli.terminal import human_bytes
from jeton.cli.tokenizers import TokenizerSource, tokenizer_options
from jeton.display.human_readable import counted
from jeton.stores.urls import StorePath, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jeton.data import Manifest

F = TypeVar("F", bound=Callable[..., object])

LAYOUTS = (
    "jeton",
    "nanogpt",
    "llm.c",
    "megatron",
    "datatrove",
    "parquet",
    "olmo",
    "npy",
    "mds",
    "litdata",
)

HELP = """Encode a corpus once, into files that a training loop reads.

INPUT is files, folders or patterns: text, JSON Lines (.jsonl, .ndjson), CSV and TSV, also
compressed by gzip, Zstandard or xz, and Parquet; - is standard input. INPUT and the folder may be
URLs of object stores: s3://, gs://, hf://, https:// (input only). A document is a text file (with
--documents line, a line), a record or a row. If it is stopped or killed, the same command resumes
and writes the same files, byte for byte.

\b
Examples:
  jeton prepare gpt2 corpus/ -o tokens/
  jeton prepare gpt2 web.jsonl.zst -o tokens/ --layout nanogpt \\
      --validation 0.1
  jeton prepare gpt2 web/*.parquet -o tokens/ --validation 0.001 \\
      --split hash --shuffle 1
  jeton prepare characters.json input.txt -o tokens/ --layout nanogpt \\
      --no-end-of-text --validation 0.1
  jeton prepare gpt2 web/ -o part-3/ --part 3/8
  jeton data merge part-*/ -o tokens/
  jeton prepare gpt2 's3://bucket/web/*.jsonl.zst' -o s3://bucket/tokens/
  jeton prepare ./model chats.jsonl -o tokens/ --messages messages \\
      --max-tokens 4096

Conversations: --messages names the field with the messages. A chat template formats them, and a
loss mask marks the tokens that the model learns to write, those of the answers. Control tokens in
a message stay text.

\b
The layouts:
  jeton      train-00000.bin, …: flat tokens, where documents end; loss mask
  nanogpt    train.bin and val.bin
  llm.c      train_000000.bin, …: a header, then tokens
  megatron   train.bin and train.idx
  datatrove  train/00000.ds, …; loss mask
  parquet    train-00000.parquet, …: a column input_ids; loss mask as labels
  olmo       train-00000.npy, … without header, .csv.gz; loss mask
  npy        train_000000.npy, … as numpy has them
  mds        train/shard.00000.mds, …: samples, for mosaicml-streaming
  litdata    train/chunk-0-0.bin, …: chunks, for litdata's TokensLoader
"""


def _part(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    number, slash, parts = value.partition("/")
    if not (slash and number.isascii() and number.isdigit() and parts.isdigit()):
        raise click.BadParameter(f"{value!r} is not PART/PARTS, as in 3/8")
    return int(number), int(parts)


def _folder(_: click.Context, __: click.Parameter, value: str | StorePath) -> Path | StorePath:
    if value == "-":
        raise click.BadParameter("a set is a folder, not a stream; ./- names a folder")
    if isinstance(value, StorePath):
        return value
    if os.path.exists(value) and not os.path.isdir(value):
        raise click.BadParameter(f"{value} is a file, and a set is a folder")
    return Path(value)


def folder_option(function: F) -> F:
    """The option `--output`, which names a folder."""
    return click.option(
        "-o",
        "--output",
        "folder",
        required=True,
        type=FilePath(urls=True),
        callback=_folder,
        help="The folder to write, or its URL.",
    )(function)


memory_option = click.option("--memory", default="1GB", help="How much memory shuffling may use.")


def _validation(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> float | list[Path | StorePath] | None:
    """A single number is a share; anything else names files."""
    if not values:
        return None
    if "" in values:
        raise click.BadParameter("the path is empty")
    try:
        return float(values[0]) if len(values) == 1 else [*map(corpus_path, values)]
    except ValueError:
        return [corpus_path(values[0])]


@click.command(cls=Command, help=HELP, short_help="Encode a corpus into files to train on.")
@tokenizer_options
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=FilePath(urls=True))
@folder_option
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default="jeton",
    help="Which of the layouts above to write.",
)
@click.option(
    "--shard-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum tokens per file.  [default: that of the layout]",
)
@documents_option
@field_option
@errors_option
@click.option(
    "--end-of-text",
    metavar="TOKEN",
    help="The token between documents.  [default: the tokenizer's own]",
)
@click.option("--no-end-of-text", is_flag=True, help="No token between documents.")
@click.option(
    "--end-of-text-place",
    type=click.Choice(["after", "before"]),
    default="after",
    help="Whether it comes after or before each document.",
)
@click.option(
    "--frame",
    is_flag=True,
    help="Add the tokens of the tokenizer's post-processor instead of that token.",
)
@click.option(
    "--validation",
    multiple=True,
    metavar="SHARE|FILE",
    callback=_validation,
    help="What to validate with: a share, as 0.1, or other files (repeatable).",
)
@click.option(
    "--split",
    type=click.Choice(["cut", "hash"]),
    help="How to choose a share: the last tokens (cut), or documents by hash.  [default: hash if "
    "INPUT is several files, else cut]",
)
@click.option("--shuffle", type=click.IntRange(min=0), metavar="SEED", help="Shuffle documents.")
@memory_option
@click.option(
    "--part",
    metavar="I/N",
    callback=_part,
    help="Only part I of N, for `jeton data merge`; parts are counted from 1.",
)
@click.option("--messages", metavar="FIELD", help="The field that holds a conversation.")
@click.option("--tools", metavar="FIELD", help="The field that holds its tools, if any.")
@template_option
@click.option(
    "--roles",
    multiple=True,
    metavar="ROLE",
    help="Whose messages the model learns (repeatable).  [default: assistant]",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum tokens of a conversation.",
)
@click.option(
    "--too-long",
    type=click.Choice(["truncate", "drop", "error"]),
    help="For longer conversations: remove the oldest turns, leave them out, or fail.  "
    "[default: truncate]",
)
@click.option(
    "--bad-records",
    type=click.Choice(["error", "drop"]),
    help="For records that cannot be read or encoded, or are not conversations: fail, or leave "
    "them out.  [default: error]",
)
@click.option(
    "--filter",
    "filter",
    multiple=True,
    metavar="RULE",
    help="Which records stay, by a field: 'score >= 3', 'language == en' (repeatable; all must "
    "hold).",
)
@click.option("--date", metavar="YYYY-MM-DD", help="The date, for templates that use it.")
@variables_option
@progress_option
def prepare(
    source: TokenizerSource,
    inputs: tuple[str | StorePath, ...],
    folder: Path | StorePath,
    end_of_text: str | None,
    no_end_of_text: bool,
    progress: str,
    messages: str | None,
    tools: str | None,
    template: str | None,
    roles: tuple[str, ...],
    max_tokens: int | None,
    too_long: str | None,
    bad_records: str | None,
    date: str | None,
    variables: dict[str, object],
    filter: tuple[str, ...],
    **options: Any,
) -> None:
    if no_end_of_text and end_of_text is not None:
        raise click.UsageError("give --end-of-text or --no-end-of-text, not both.")
    if options["validation"] is None:
        refuse_passed("--validation", "split")
    from jeton import data

    conversation_options = {
        "tools": tools,
        "template": template_text(template),
        "roles": roles,
        "max_tokens": max_tokens,
        "too_long": too_long,
        "date": date,
        "variables": variables,
    }
    chosen_options: dict[str, Any] = {
        name: value for name, value in conversation_options.items() if value not in (None, (), {})
    }
    if messages is None:
        refuse_passed("--messages", *conversation_options)
    if bad_records is not None:
        (options if messages is None else chosen_options)["bad_records"] = bad_records
    check_target(None, inputs=inputs, force=False)
    tok = source.load()
    paths = [corpus_path(os.fspath(it)) for it in inputs]
    with note_on_resuming(), progress_shown(progress == "json") as watch:
        manifest = data.prepare(
            paths[0] if len(paths) == 1 else paths,
            tok,
            folder,
            end_of_text=None if no_end_of_text else end_of_text or data.AUTO,
            # A path need not be UTF-8, but a manifest must be.
            name=os.fsencode(source.name).decode(errors="replace"),
            messages=None if messages is None else data.Conversations(messages, **chosen_options),
            filter=[*filter] or None,
            watch=watch,
            **options,
        )
    if messages is None and not filter:
        say_what_documents_are(paths, options["field"], options["documents"])
        if not options["frame"] and tok._core.frame(True) not in (None, ([], [])):
            echo_note(
                "the tokens of the tokenizer's post-processor are left out (--frame adds them)"
            )
    say_set(folder, manifest)


def say_set(folder: Path | StorePath, manifest: Manifest) -> None:
    """Prints the sizes of a finished set."""
    for name, split in manifest.splits.items():
        documents, files = counted(split.documents, "document"), counted(len(split.shards), "file")
        echo_note(f"{name}: {split.tokens:,} tokens of {documents}, {files}")
    if manifest.chats is None:
        end = manifest.end_of_text
        between = "nothing" if end is None else f"{end['token']} ({end['id']})"
        empty = f"; {manifest.empty_documents:,} empty ones left out"
        echo_note(
            f"{human_bytes(manifest.bytes)} of text; {between} between documents"
            + empty * bool(manifest.empty_documents)
        )
        if manifest.bad_documents:
            left_out = counted(manifest.bad_documents, "document")
            echo_note(f"{left_out} left out: cannot be read or encoded")
    else:
        _say_chats(manifest.chats, manifest.tokens)
    for name, count in (manifest.filtered or {}).items():
        echo_note(f"{counted(count, 'record')} left out by {name}")
    _say_split(manifest)
    put(shown(os.fspath(folder)))


def _say_split(manifest: Manifest) -> None:
    """Says where validation documents come from, if not from everywhere, in the share asked for."""
    validation = manifest.options.get("validation")
    if not validation or "val" not in manifest.splits or not manifest.tokens:
        return
    if validation["by"] == "cut" and len(manifest.inputs) > 1 and not manifest.options["shuffle"]:
        last = manifest.inputs[-1].get("path", "the input")
        echo_note(
            f"val is the end of the input, up to {last} (--split hash draws documents from all "
            "files)"
        )
    share, asked = (
        manifest.splits["val"].tokens / manifest.tokens,
        float(Fraction(validation["share"])),
    )
    if validation["by"] == "hash" and not asked / 2 <= share <= asked * 2:
        echo_note(
            f"val has {share:.1%} of the tokens, not {asked:.1%}: whole documents are drawn, and "
            f"{counted(manifest.documents, 'document')} are few or of unequal length"
        )


def _say_chats(counts: Mapping[str, int], tokens: int) -> None:
    share = counts["learnt_tokens"] / max(1, tokens)
    echo_note(f"{counts['learnt_tokens']:,} tokens are learnt, {share:.1%} of all")
    if counts["truncated"]:
        echo_note(
            f"{counted(counts['truncated'], 'conversation')} truncated, by "
            f"{counted(counts['messages_left_out'], 'message')}"
        )
    for why, words in (("too_long", "too long"), ("bad", "no conversation to learn from")):
        if counts[why]:
            echo_note(f"{counted(counts[why], 'record')} left out: {words}")
