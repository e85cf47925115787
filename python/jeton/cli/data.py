"""`jeton data`: verify, show, merge and mix token sets."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from jeton.cli.colours import LEGEND, ColouredToken, flow
from jeton.cli.command import Command, Group, refuse_passed
from jeton.cli.mix import mix
from jeton.cli.prepare import folder_option, memory_option, say_set
from jeton.cli.prepare_progress import note_on_resuming, progress_shown
from jeton.cli.printing import put, say, styled, use_colour
from jeton.cli.progress import ProgressBar, progress_option
from jeton.cli.targets import FilePath, check_folders
from jeton.cli.terminal import columns, heading, human_bytes, shorten, table
from jeton.cli.tokenizers import load_tokenizer
from jeton.display.human_readable import counted
from jeton.errors import FormatError
from jeton.stores.folders import local_copy
from jeton.stores.urls import StorePath


@click.group(cls=Group, help="Show, verify, merge and mix token sets.")
def data() -> None: ...


data.add_command(mix)

tokenizer_option = click.option(
    "--tokenizer",
    metavar="TOKENIZER",
    type=FilePath(),
    help="The tokenizer, if none was saved beside the tokens.",
)


VERIFY = """Compare a token set with its manifest, and name damaged files.

Compares the size and the SHA-256 of every file in FOLDER with those that were written. Exits with
1 if something is damaged. """


@data.command(cls=Command, help=VERIFY, short_help="Check all files for damage.")
@click.argument("folder", type=FilePath(path_type=Path, urls=True))
def verify(folder: Path | StorePath) -> None:
    from jeton.data import Manifest
    from jeton.data import verify as verified

    folder = Path(local_copy(folder))
    check_folders(folder)
    manifest = Manifest.read(folder)
    total = sum(file.bytes for file in manifest.files.values())
    with ProgressBar("verifying", total) as progress:
        damages = verified(folder, watch=lambda _, size: progress.advance(size))
    for damage in damages:
        say(f"{folder / damage.file}: {damage.what}")
    if damages:
        others = f"{len(damages):,} file{'s are' if len(damages) > 1 else ' is'} damaged"
        raise FormatError(f"{folder}: {others}")
    files = counted(len(manifest.files), "file")
    say(f"{folder}: {files}, {human_bytes(total)}: all as they were written")


SHOW = """Show what is in a token set; or, with --at, decode a window of its tokens.

\b
Examples:
  jeton data show tokens/
  jeton data show tokens/ --at 1000000
  jeton data show tokens/ --at -200 --split val
"""


@data.command(cls=Command, help=SHOW, short_help="What is in a set.")
@click.argument("folder", type=FilePath(path_type=Path, urls=True))
@click.option("--at", type=int, metavar="N", help="The first token; below 0, from the end.")
@click.option(
    "--tokens",
    type=click.IntRange(min=1),
    default=200,
    help="How many tokens to show.",
)
@click.option("--split", default="train", help="Which part of the set: train or val.")
@tokenizer_option
@click.option("--ids", is_flag=True, help="Show only ids.")
@click.option("--text", is_flag=True, help="Show only the text, unchanged.")
def show(
    folder: Path | StorePath,
    at: int | None,
    tokens: int,
    split: str,
    tokenizer: str | None,
    ids: bool,
    text: bool,
) -> None:
    if ids and text:
        raise click.UsageError("give --ids or --text, not both.")
    if at is None:
        refuse_passed("--at", "tokens", "split", "tokenizer", "ids", "text")
    folder = Path(local_copy(folder))
    check_folders(folder)
    if at is None:
        _show_set(folder)
        return
    from jeton.data import Manifest, TokenDataset
    from jeton.data.manifest_defaults import tokenizer_of

    option = None if tokenizer is None else load_tokenizer(tokenizer)
    dataset = TokenDataset(folder, split=split, tokenizer=option)
    if not -len(dataset) <= at < len(dataset):
        raise click.UsageError(f"--at {at}: {split} has {len(dataset):,} tokens.")
    at %= len(dataset)
    window = dataset[at : at + tokens]
    mask = None if dataset.mask is None else dataset.mask[at : at + tokens].tolist()
    if ids:
        say(" ".join(map(str, window.tolist())))
        return
    tok = tokenizer_of(folder, Manifest.read(folder)) if option is None else option
    if text:
        put(tok.decode(window), end="")
        return
    specials = set(tok.special_tokens.values())
    is_learnt = [True] * len(window) if mask is None else mask
    pieces = [
        ColouredToken(tok.vocab.spelling(id), id, id in specials, not on)
        for id, on in zip(window.tolist(), is_learnt, strict=True)
    ]
    last = f"{at + len(window) - 1:,}"
    say(heading(f"{split} · tokens {at:,} to {last} of {len(dataset):,}"))
    say()
    say(flow(pieces, columns(), use_colour(sys.stdout)))
    say()
    say(styled(f"  {shorten(LEGEND, columns() - 2)}", dim=True))
    if mask is not None:
        note = f"{sum(mask):,} of {len(mask):,} are learnt"
        note += "; the others are pale" if use_colour(sys.stdout) else f": {_runs(mask, at)}"
        say(styled(f"  {note}", dim=True))


def _runs(mask: list[bool], first: int) -> str:
    """Which tokens are learnt, as `3-8, 12-14`."""
    edges = [
        at
        for at in range(len(mask) + 1)
        if (at < len(mask) and mask[at]) != (at > 0 and mask[at - 1])
    ]
    runs = zip(edges[::2], edges[1::2], strict=True)
    return ", ".join(f"{first + begin:,}-{first + end - 1:,}" for begin, end in runs)


def _show_set(folder: Path) -> None:
    from jeton.data import Manifest

    manifest = Manifest.read(folder)
    end = manifest.end_of_text
    part = "" if manifest.part is None else f" · part {manifest.part[0]} of {manifest.part[1]}"
    say(heading(f"{folder} · {manifest.layout}{part}"))
    say()
    ends = "no token between documents"
    if end is not None:
        ends = f"{end['token']} ({end['id']}) {end['place']} each document"
    bad = f" and {manifest.bad_documents:,} bad" * bool(manifest.bad_documents)
    facts = [
        ("tokenizer", f"{manifest.tokenizer.get('name', '')} {manifest.tokenizer['digest'][:16]}"),
        ("vocabulary", f"{manifest.tokenizer['vocab_size']:,} tokens, as {manifest.dtype}"),
        ("end of text", ends),
        ("documents", f"{manifest.documents:,}, and {manifest.empty_documents:,} empty{bad}"),
        ("text", human_bytes(manifest.bytes)),
        ("tokens", f"{manifest.tokens:,}"),
        ("prepared", f"from {counted(len(manifest.inputs), 'input')}, by jeton {manifest.jeton}"),
    ]
    if manifest.chats is not None:
        counts = manifest.chats
        facts[3] = (
            "conversations",
            f"{manifest.documents:,}; {counts['truncated']:,} truncated, "
            f"{counts['too_long']:,} too long and {counts['bad']:,} bad left out",
        )
        facts.insert(-1, ("loss mask", f"{counts['learnt_tokens']:,} tokens are learnt"))
    rows = [(styled(name, dim=True), value.strip()) for name, value in facts]
    say(table(rows, "<<"))
    say()
    header = tuple(styled(name, dim=True) for name in ("split", "tokens", "documents", "files"))
    splits = [
        (name, f"{split.tokens:,}", f"{split.documents:,}", f"{len(split.shards):,}")
        for name, split in manifest.splits.items()
    ]
    say(table([header, *splits], "<>>>"))


MERGE = """Merge the parts of a token set, after verifying each.

The result is the same, byte for byte, as if one machine had prepared everything.

\b
Example:
  jeton data merge part-*/ -o tokens/
"""


@data.command(cls=Command, help=MERGE, short_help="Merge parts from several machines.")
@click.argument("parts", nargs=-1, required=True, type=FilePath(path_type=Path, urls=True))
@folder_option
@tokenizer_option
@memory_option
@progress_option
def merge(
    parts: tuple[Path | StorePath, ...],
    folder: Path | StorePath,
    tokenizer: str | None,
    memory: str,
    progress: str,
) -> None:
    from jeton import data

    check_folders(*(part for part in parts if isinstance(part, Path)))
    tok = None if tokenizer is None else load_tokenizer(tokenizer)
    with note_on_resuming(), progress_shown(progress == "json") as watch:
        manifest = data.merge(parts, folder, tokenizer=tok, memory=memory, watch=watch)
    say_set(folder, manifest)
