"""`jeton edit`: vocabularies that change, and models that follow them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import click

import jeton
from jeton.cli.command import Command, Group, decorated, echo_note, refuse_passed
from jeton.cli.documents import Reader, input_options, input_size
from jeton.cli.printing import put, say
from jeton.cli.progress import ProgressBar
from jeton.cli.signals import undisturbed
from jeton.cli.targets import (
    FilePath,
    check_inputs,
    check_target,
    force_option,
    moves,
    publish,
    workshop,
)
from jeton.cli.terminal import table
from jeton.cli.tokenizers import TokenizerSource, load_tokenizer, tokenizer_options
from jeton.edit import (
    Edited,
    add_special_tokens,
    add_words,
    extend,
    merge,
    prune,
    rename,
    rewrite_checkpoint,
    transplant,
    truncate,
)
from jeton.errors import FileError

HELP = """Change a vocabulary: remove tokens, learn more, join two, rename reserved ones.

The result is a new tokenizer; --map writes which old id became which new id. With --model FOLDER
(config.json and safetensors, as Hugging Face has them) the model changes too: OUTPUT is then a new
folder with the new tokenizer, moved embeddings and an updated configuration.

\b
Examples:
  jeton edit prune gpt2 corpus.txt --size 25000 -o small.json
  jeton edit extend llama/ estonian.txt -n 1000 -o larger/ --model llama/
  jeton edit truncate mine.json 16000 -o mine-16k.json --map ids.json
  jeton edit merge english.json estonian.json -o both.json
  jeton edit add chat.json '<|user|>' '<|end|>' -o chat-2.json
  jeton edit add mine.json --words drugs.txt -o medical/ --model model/
  jeton edit transplant llama/ qwen/ -o moved/ --model llama/ --donor qwen/
  jeton edit rename llama/ '<|reserved_special_token_5|>' '<|tool|>' \\
      -o tools/ --model llama/
"""

F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=Group, help=HELP, short_help="Change a vocabulary, and its model.")
def edit() -> None: ...


def _target_options(function: F) -> F:
    """The options of the result; the command returns an `Edited`."""

    @functools.wraps(function)
    def command(
        *,
        source: TokenizerSource,
        output: str,
        map_path: str | None,
        model: str | None,
        init: str,
        multiple_of: int,
        drop_padding: bool,
        force: bool,
        **others: Any,
    ) -> None:
        target = Path(output)
        inputs = [*source.files, *others.get("paths", ()), *([model] if model else [])]
        inputs += [others["other"]] if "other" in others else []
        if model is None:
            refuse_passed("--model", "init", "multiple_of", "drop_padding")
            check_target(target, inputs=inputs, force=force, folder=True)
        elif os.path.lexists(target):  # before the work, which may be long
            raise FileError(f"--model: {target} exists already; name a new folder")
        if map_path is not None:
            check_target(map_path, inputs=inputs, force=force)
        tok = source.load()
        edited: Edited = function(tok=tok, **others)
        if model is not None:
            with ProgressBar("writing", None) as progress:

                def watch(written: int, _: int) -> None:
                    progress.advance(written - progress.done)

                rewrite_checkpoint(
                    model,
                    edited,
                    target,
                    init=cast(Any, init),
                    multiple_of=multiple_of,
                    drop_padding=drop_padding,
                    watch=watch,
                )
            files = [target]
            _save_map(edited, map_path, force=force)
        else:
            with workshop(target) as folder:
                edited.tok.save(folder / target.name)
                finals = {os.path.realpath(final) for _, final in moves(folder, target)}
                if map_path is not None and os.path.realpath(map_path) in finals:
                    raise FileError(
                        f"{map_path}: the tokenizer goes there (name another file for the map)"
                    )
                with undisturbed():
                    # The tokenizer is on the disk already: only the map may find no room.
                    _save_map(edited, map_path, force=force)
                    files = list(publish(folder, target, inputs=inputs, force=force))
        for file in files:
            put(f"{file}")
        _say_changes(tok, edited)

    decorators: list[Callable[[F], F]] = [
        click.option(
            "-o",
            "--output",
            required=True,
            type=FilePath(),
            help="The new tokenizer, in the format that its name says; or, with --model, a new "
            "folder.",
        ),
        click.option(
            "--map", "map_path", type=FilePath(), help="Write the map of old to new ids, as JSON."
        ),
        click.option("--model", type=FilePath(), help="The folder of a model to change too."),
        click.option(
            "--init",
            type=click.Choice(["mean", "zeros", "normal"]),
            default="mean",
            help="Embeddings of new tokens: the mean of the old tokens that spelled them, "
            "zeros, or samples of a normal distribution fitted to the table.",
        ),
        click.option(
            "--multiple-of",
            type=click.IntRange(1),
            default=1,
            help="Round the rows of the model's embedding up to a multiple of this.",
        ),
        click.option(
            "--drop-padding",
            is_flag=True,
            help="Remove rows of the embedding after the last token. Without it, rows are "
            "removed only if the vocabulary becomes smaller.",
        ),
        force_option,
    ]
    return cast(F, decorated(command, decorators))


def _save_map(edited: Edited, path: str | None, *, force: bool) -> None:
    if path is not None:
        check_target(path, force=force)  # another program may have made it meanwhile
        edited.id_map.save(path)


def _say_changes(tok: jeton.Tokenizer, edited: Edited) -> None:
    rows = [
        ("tokens before", f"{tok.vocab_size:,}"),
        ("tokens after", f"{edited.tok.vocab_size:,}"),
        ("removed", f"{len(edited.removed):,}"),
        ("added", f"{len(edited.added):,}"),
    ]
    if edited.renamed:
        rows.append(("renamed", f"{len(edited.renamed):,}"))
    if edited.left_out:
        rows.append(("left out", f"{len(edited.left_out):,}"))
    say(table(rows, "<>"))


@dataclass(frozen=True)
class _Texts:
    """The texts of files, which are read again by each iteration."""

    paths: tuple[str, ...]
    reader: Reader

    def __iter__(self) -> Iterator[str]:
        with ProgressBar("reading", input_size(self.paths)) as progress:
            for document in self.reader.documents(self.paths, progress):
                yield document.text


@edit.command(cls=Command, name="prune", short_help="Remove tokens.")
@tokenizer_options
@input_options
@_target_options
@click.option("--size", type=click.IntRange(1), help="How many tokens to keep.")
@click.option("--min-count", type=click.IntRange(1), help="Remove tokens that occur less often.")
@click.option(
    "--leaves",
    type=click.IntRange(1),
    metavar="ROUNDS",
    help="Only tokens that no merge needs; FILES are counted again after each round.",
)
@click.option(
    "--script", "scripts", multiple=True, help="Keep this script (Latin, Han, …); repeatable."
)
@click.option("--drop", multiple=True, metavar="TOKEN", help="Remove this token; repeatable.")
@click.option("--keep", multiple=True, metavar="TOKEN", help="Keep this token; repeatable.")
def _prune(
    tok: jeton.Tokenizer,
    paths: tuple[str, ...],
    reader: Reader,
    size: int | None,
    min_count: int | None,
    leaves: int | None,
    scripts: tuple[str, ...],
    drop: tuple[str, ...],
    keep: tuple[str, ...],
) -> Edited:
    """Remove tokens: those that FILES use least, or by name or script.

    With --size and no FILES, the tokens learned last are removed. Byte pair encoding keeps every
    token that a kept one is merged from. Bytes, special tokens and the unknown token always stay.
    """
    if leaves is not None and leaves > 1 and "-" in paths:
        raise click.UsageError("--leaves reads FILES in each round, so not standard input")
    counted = paths != ("-",) or not (size or scripts or drop)
    if counted:
        check_inputs(paths)
    return prune(
        tok,
        size=size,
        corpus=_Texts(paths, reader) if counted else None,
        min_count=min_count,
        leaves=leaves,
        scripts=scripts or None,
        drop=drop or None,
        keep=keep,
    )


@edit.command(cls=Command, name="extend", short_help="Learn more tokens.")
@tokenizer_options
@input_options
@_target_options
@click.option(
    "-n", "--tokens", type=click.IntRange(1, 2**31), required=True, help="How many tokens to add."
)
def _extend(tok: jeton.Tokenizer, paths: tuple[str, ...], reader: Reader, tokens: int) -> Edited:
    """Learn more tokens from FILES, continuing from the old merges."""
    check_inputs(paths)
    return extend(tok, _Texts(paths, reader), tokens)


@edit.command(cls=Command, name="truncate", short_help="Remove the tokens learned last.")
@tokenizer_options
@click.argument("size", type=click.IntRange(1))
@_target_options
def _truncate(tok: jeton.Tokenizer, size: int) -> Edited:
    """Keep the first SIZE tokens, as training for that size would have given."""
    return truncate(tok, size)


@edit.command(cls=Command, name="merge", short_help="Join two vocabularies.")
@tokenizer_options
@click.argument("other")
@_target_options
def _merge(tok: jeton.Tokenizer, other: str) -> Edited:
    """Keep TOKENIZER, and add the tokens that only OTHER has."""
    edited = merge(tok, load_tokenizer(other))
    if edited.left_out:
        echo_note("tokens that the merges of TOKENIZER make unreachable are left out")
    return edited


@edit.command(cls=Command, name="add", short_help="Add special tokens, or given words.")
@tokenizer_options
@click.argument("tokens", nargs=-1)
@click.option(
    "--words",
    type=FilePath(),
    metavar="FILE",
    help="Add the words in FILE, one per line, as plain tokens.",
)
@_target_options
def _add(tok: jeton.Tokenizer, tokens: tuple[str, ...], words: str | None) -> Edited:
    """Add special TOKENS, with ids after the largest; or, with --words, the words of a file.

    A word is found in a text before everything else is encoded, where no letter or digit touches
    it. Its embedding is the mean of those of its old tokens.
    """
    if bool(tokens) == (words is not None):
        raise click.UsageError("Name special TOKENS, or a file of --words.")
    if words is None:
        return add_special_tokens(tok, tokens)
    check_inputs([words])
    with ProgressBar("reading", None) as progress:
        lines = [line.text.strip() for line in Reader(lines=True).documents([words], progress)]
    edited = add_words(tok, [line for line in lines if line])
    if edited.left_out:
        echo_note(
            f"words that are one token already, so left as they are: {len(edited.left_out):,}"
        )
    return edited


@edit.command(cls=Command, name="transplant", short_help="Move a model to another tokenizer.")
@tokenizer_options
@click.argument("other")
@click.option(
    "--donor",
    type=FilePath(),
    metavar="FOLDER",
    help="The model of OTHER: embeddings of tokens that TOKENIZER lacks are sums of shared tokens "
    "that approximate them there.  [default: the mean of the old tokens that spell them]",
)
@click.option(
    "--terms",
    type=click.IntRange(1, 1_024),
    default=16,
    help="With --donor, how many shared tokens such a sum may have.",
)
@_target_options
def _transplant(tok: jeton.Tokenizer, other: str, donor: str | None, terms: int) -> Edited:
    """Move a model (--model FOLDER) from its TOKENIZER to OTHER: shared tokens keep their
    embeddings."""
    model = click.get_current_context().params["model"]
    if model is None:
        raise click.UsageError("transplant needs the model, --model FOLDER.")
    if donor is None:
        refuse_passed("--donor", "terms")
    moved = transplant(tok, load_tokenizer(other), model=model, donor=donor, terms=terms)
    rows = [
        ("copied", f"{moved.shared:,}"),
        ("copied by role", f"{moved.by_role:,}"),
        ("sums of shared tokens", f"{moved.by_pursuit:,}"),
        ("means of old tokens", f"{moved.by_mean:,}"),
        ("by --init", f"{moved.without:,}"),
    ]
    if moved.cosine is not None:
        rows.append((f"cosine on {moved.held:,} held-out tokens", f"{moved.cosine:.3f}"))
    say(table(rows, "<>"))
    return moved


@edit.command(cls=Command, name="rename", short_help="Rename reserved tokens.")
@tokenizer_options
@click.argument("names", nargs=-1, required=True, metavar="OLD NEW...")
@_target_options
def _rename(tok: jeton.Tokenizer, names: tuple[str, ...]) -> Edited:
    """Rename special tokens, each OLD to the NEW after it. Ids and weights stay."""
    if len(names) % 2:
        raise click.UsageError("each OLD name needs a NEW one after it")
    return rename(tok, dict(zip(names[::2], names[1::2], strict=True)))
