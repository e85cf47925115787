"""`jeton inspect`: what is in a tokenizer, and how it splits a text."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING, Literal

import click

import jeton
from jeton.cli.colours import LEGEND, ColouredToken, flow, paint
from jeton.cli.command import Command, format_option
from jeton.cli.documents import input_files, invalid_option, only_document, text_option
from jeton.cli.printing import say, styled, use_colour
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import FilePath, check_inputs
from jeton.cli.terminal import columns, heading, shorten, show, table
from jeton.cli.token_use import token_use
from jeton.cli.tokenizer_summary import tokenizer_summary
from jeton.cli.tokenizers import (
    EncodingFlags,
    TokenizerSource,
    encoding_options,
    note_on_special_tokens,
    tokenizer_options,
)
from jeton.display.human_readable import counted, visible
from jeton.display.palette import hues

if TYPE_CHECKING:
    from jeton.encoding.gotchas import Gotchas

__all__ = ["inspect"]

_MAX_SHOWN = 1_000
"""How many tokens are shown in running text: a few screens, however long the text is."""

HELP = """Show what is in a tokenizer, or how it splits a text.

Without a text: its sizes, its stages in order, its special tokens, what its tokens consist of, and
the longest and oddest ones. With --corpus: how often tokens occur in files and folders, and which
never do.

With a text: its tokens in alternating colours, with white space visible, and a table of ids,
tokens and bytes. With --gotchas: what in the text leads to unexpected tokens, such as spaces at
its ends, capitals, numbers, special tokens, look-alikes, invisible characters, and lost text.

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
@click.argument("file", required=False, type=FilePath())
@text_option
@click.option(
    "--corpus",
    type=FilePath(),
    multiple=True,
    metavar="PATH",
    help="Show how often tokens occur in a file or folder. Repeatable.",
)
@invalid_option
@click.option(
    "--rows",
    default=48,
    metavar="N",
    help="Maximum number of rows of the table.",
)
@click.option("--gotchas", is_flag=True, help="Show what in the text gives unexpected tokens.")
@format_option("show", "json", help="With --gotchas: for people, or one JSON object.")
@encoding_options
def inspect(
    source: TokenizerSource,
    file: str | None,
    text: str | None,
    corpus: tuple[str, ...],
    invalid: Literal["strict", "replace"],
    rows: int,
    gotchas: bool,
    form: str,
    options: EncodingFlags,
) -> None:
    if text is not None and file is not None:
        raise click.UsageError("--text goes without FILE.")
    if corpus and not (text is file is None):
        raise click.UsageError("--corpus goes without a text.")
    if gotchas and text is file is None:
        raise click.UsageError("--gotchas needs a FILE or --text.")
    if form != "show" and not gotchas:
        raise click.UsageError("--format goes with --gotchas.")
    check_inputs([*corpus, *([] if file is None else input_files([file]))])
    if file is not None:
        with ProgressBar("reading", None) as progress:
            text = only_document(file, progress).text
    tok = source.load()
    note_on_special_tokens(tok, options)
    if corpus:
        for line in token_use(tok, corpus, invalid):
            say(line)
    elif text is None:
        for line in tokenizer_summary(tok, source.name):
            say(line)
    elif gotchas:
        _show_gotchas(tok.gotchas(text), form)
    else:
        _show_text(tok, text, options, rows)


def _show_gotchas(gotchas: Gotchas, form: str) -> None:
    if form == "json":
        record = {
            "characters": len(gotchas.text),
            "gotchas": [dataclasses.asdict(gotcha) for gotcha in gotchas],
            "left_out": gotchas.left_out,
        }
        # A text may hold surrogates, and JSON in UTF-8 cannot.
        say(json.dumps(record, ensure_ascii=True))
        return
    size = counted(len(gotchas.text), "character")
    say(heading(f"{counted(len(gotchas), 'gotcha')} · {size}"))
    say()
    show(gotchas)


def _show_text(tok: jeton.Tokenizer, text: str, options: EncodingFlags, limit: int) -> None:
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
