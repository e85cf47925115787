"""`jeton inspect`: what is in a tokenizer, and how it splits a text."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import numpy as np

import jeton
from jeton.analysis import Usage
from jeton.cli.colours import LEGEND, ColouredToken, flow, paint
from jeton.cli.command import Command, format_option, refuse_passed
from jeton.cli.documents import InputDocument, Reader, input_files, invalid_option, text_option
from jeton.cli.printing import say, styled, use_colour
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import FilePath, check_inputs
from jeton.cli.terminal import columns, heading, human_bytes, shorten, show, table
from jeton.cli.tokenizer_summary import tokenizer_summary
from jeton.cli.tokenizers import (
    EncodingFlags,
    TokenizerSource,
    encoding_options,
    note_on_special_tokens,
    tokenizer_options,
)
from jeton.display.human_readable import bar, counted, visible
from jeton.display.palette import hues
from jeton.stores.urls import StorePath, shown

if TYPE_CHECKING:
    from jeton.encoding.gotchas import Gotchas

_MAX_SHOWN = 1_000
"""How many tokens are shown in running text: a few screens, however long the text is."""

HELP = """Show what is in a tokenizer, or how it splits a text.

Without a text: its sizes, its stages in order, its special tokens, what its tokens consist of, and
the longest and oddest ones. With --corpus: how often tokens occur in files and folders, and which
never do.

With a text: its tokens in alternating colours, with white space visible, and a table of ids,
tokens and bytes. Several files, and the records of a file of records, are shown one after another.
With --gotchas: what in the text leads to unexpected tokens, such as spaces at its ends, capitals,
numbers, special tokens, look-alikes, invisible characters, and lost text.

\b
Examples:
  jeton inspect gpt2
  jeton inspect gpt2 --text "How is this split?"
  jeton inspect tokenizer.json story.txt
  jeton inspect tokenizer.json --text "<|user|> hi" --special allow
  jeton inspect gpt2 --corpus texts/
  jeton inspect gpt2 --gotchas --text "Ask the аssistant: 1234567 + 1 = "
  date | jeton inspect gpt2 -
"""


@click.command(cls=Command, help=HELP, short_help="Show a tokenizer, or how it splits text.")
@tokenizer_options
@click.argument("paths", nargs=-1, type=FilePath(urls=True), metavar="[FILES|FOLDERS]...")
@text_option
@click.option(
    "--corpus",
    type=FilePath(path_type=Path, urls=True),
    multiple=True,
    metavar="PATH",
    help="Show how often tokens occur in a file or folder. Repeatable.",
)
@invalid_option
@click.option(
    "--rows",
    default=48,
    type=click.IntRange(0),
    metavar="N",
    help="Maximum number of rows of the table.",
)
@click.option("--gotchas", is_flag=True, help="Show what in the text gives unexpected tokens.")
@format_option("show", "json", help="With --gotchas: for people, or a JSON object per text.")
@encoding_options
def inspect(
    source: TokenizerSource,
    paths: tuple[str, ...],
    text: str | None,
    corpus: tuple[Path | StorePath, ...],
    invalid: Literal["strict", "replace"],
    rows: int,
    gotchas: bool,
    form: str,
    options: EncodingFlags,
) -> None:
    if text is not None and paths:
        raise click.UsageError("--text goes without FILES.")
    if corpus and (text is not None or paths):
        raise click.UsageError("--corpus goes without a text.")
    if gotchas and text is None and not paths:
        raise click.UsageError("--gotchas needs a FILE or --text.")
    if form != "show" and not gotchas:
        raise click.UsageError("--format goes with --gotchas.")
    if gotchas or (text is None and not paths):
        refuse_passed("a text, without --gotchas", "rows", "special", "add_special_tokens")
    files = input_files(paths)
    check_inputs([*corpus, *files])
    tok = source.load()
    note_on_special_tokens(tok, options)
    if corpus:
        for line in token_use(tok, corpus, invalid):
            say(line)
    elif text is None and not files:
        for line in tokenizer_summary(tok, source.name):
            say(line)
    for number, document in enumerate(_documents(files, text, invalid)):
        if number and form == "show":
            say()
        named = len(files) > 1 or document.line is not None
        if gotchas:
            _show_gotchas(tok.gotchas(document.text), form, document if named else None)
        else:
            _show_text(tok, document.text, options, rows, document.place if named else None)


def _documents(
    files: tuple[str, ...], text: str | None, invalid: Literal["strict", "replace"]
) -> Iterator[InputDocument]:
    """The text of the command line, or those of files; the bar is away while one is shown."""
    with ProgressBar("reading", None) as progress:
        for document in Reader(errors=invalid, text=text).documents(files, progress):
            progress.close()
            yield document


def _show_gotchas(gotchas: Gotchas, form: str, document: InputDocument | None) -> None:
    if form == "json":
        record = {
            **({} if document is None else {"file": document.source, "line": document.line}),
            "characters": len(gotchas.text),
            "gotchas": [dataclasses.asdict(gotcha) for gotcha in gotchas],
            "left_out": gotchas.left_out,
        }
        # A text may hold surrogates, and JSON in UTF-8 cannot.
        say(json.dumps(record, ensure_ascii=True))
        return
    size = counted(len(gotchas.text), "character")
    sizes = [counted(len(gotchas), "gotcha"), size]
    say(heading(" · ".join(sizes if document is None else [document.place, *sizes])))
    say()
    show(gotchas)


def _show_text(
    tok: jeton.Tokenizer, text: str, options: EncodingFlags, limit: int, name: str | None
) -> None:
    encoding = tok.encode_with_spans(text, **options)
    most = max(limit, _MAX_SHOWN)
    ids, spans = encoding.ids[:most], encoding.spans[:most]
    specials = set(tok.special_tokens.values())
    tokens = [tok.vocab.spelling(id) for id in ids]
    # A token without text, such as a control piece, is shown by its name.
    pieces = [
        ColouredToken(
            token if id in specials else tok.vocab.token_bytes(id) or token, id, id in specials
        )
        for id, token in zip(ids, tokens, strict=True)
    ]
    colour = use_colour(sys.stdout)
    count = len(encoding.ids)
    size = len(text.encode("utf-8", "surrogatepass"))
    sizes = [counted(count, "token"), counted(len(text), "character"), counted(size, "byte")]
    sizes = sizes if name is None else [name, *sizes]
    if count:
        sizes.append(f"{size / count:.2f} bytes per token")
    say(heading(" · ".join(sizes)))
    if not pieces:
        return
    say()
    say(flow(pieces[:_MAX_SHOWN], columns(), colour))
    if count > _MAX_SHOWN:
        say(styled(f"  … {count - _MAX_SHOWN:,} more tokens", dim=True))
    say()
    say(_rows(ids[:limit], tokens, spans, pieces, columns()))
    if count > limit:
        say(styled(f"  … {count - limit:,} more (--rows {count})", dim=True))
    say()
    say(styled(f"  {shorten(LEGEND, columns() - 2)}", dim=True))


def _rows(
    ids: list[int],
    tokens: list[bytes],
    spans: list[tuple[int, int]],
    pieces: list[ColouredToken],
    width: int,
) -> str:
    """The table: number, id, token as the vocabulary spells it, span, and its bytes in text.

    On a narrow terminal, cells are shortened and the last columns left out.
    """
    header = ("", "id", "token", "span", "bytes")
    rows = [tuple(styled(name, dim=True) for name in header)]
    colours = hues(ids)
    for number, (token_id, span) in enumerate(zip(ids, spans, strict=False)):
        piece = pieces[number]
        token = shorten(visible(tokens[number]), max(12, width // 3))
        start, end = span
        rows.append(
            (
                styled(str(number), dim=True),
                str(token_id),
                paint(token, piece, colours[number]),
                f"{start}–{end}",
                styled(shorten(piece.data.hex(" "), max(11, width // 3)), dim=True),
            )
        )
    if width < 60:
        rows = [row[:3] for row in rows]
    return table(rows, ">><><"[: len(rows[0])])


_ROWS = 10
"""Rows of a table."""
_BAR = 30
"""Columns of the longest bar."""


def token_use(
    tok: jeton.Tokenizer, paths: Sequence[Path | StorePath], invalid: Literal["strict", "replace"]
) -> Iterator[str]:
    """Counts the tokens of files and folders, and yields the lines of a summary."""
    with ProgressBar("counting", None) as progress:
        usage = tok.usage([*paths], errors=invalid, watch=progress.follow)
    yield heading(" ".join(shown(os.fspath(path)) for path in paths))
    yield from _summary(usage)
    yield ""
    yield heading("The most frequent tokens")
    yield _most(tok, usage)
    never = usage.never_used
    if len(never):
        yield ""
        yield heading(f"{len(never):,} tokens never occur")
        # A few of them, spread over the vocabulary.
        places = np.linspace(0, len(never) - 1, min(_ROWS, len(never))).astype(np.int64)
        rows = [
            (f"{id:,}", shorten(_token_text(tok, id), columns() - 16))
            for id in never[places].tolist()
        ]
        yield table(rows, "><")


def _summary(usage: Usage) -> Iterator[str]:
    rows = [
        ("documents", f"{usage.documents:,}"),
        ("text", human_bytes(usage.bytes)),
        ("tokens", f"{usage.total:,}"),
    ]
    if usage.total:
        rows.append(("bytes per token", f"{usage.bytes / usage.total:.2f}"))
    if usage.coverage is not None:
        share = styled(bar(usage.coverage, _BAR), fg="green")
        rows.append(
            (
                "vocabulary used",
                f"{usage.used:,} of {len(usage.ids):,}, {usage.coverage:.1%}  {share}",
            )
        )
    for part in (0.5, 0.9, 0.99):
        rows.append((f"{part:.0%} of them are", f"{usage.tokens_for(part):,} different tokens"))
    yield table([(styled(name, fg="cyan"), value) for name, value in rows], "<<")


def _most(tok: jeton.Tokenizer, usage: Usage) -> str:
    most = usage.most_common(_ROWS)
    rows = [
        (
            f"{id:,}",
            shorten(_token_text(tok, id), 24),
            f"{count:,}",
            f"{count / usage.total:.1%}",
            styled(bar(count / most[0][1], _BAR), fg="green"),
        )
        for id, count in most
    ]
    return table(rows, "><>><") if rows else "  none: the corpus has no text"


def _token_text(tok: jeton.Tokenizer, id: int) -> str:
    return visible(tok.vocab.token_bytes(id) or tok.vocab.spelling(id))
