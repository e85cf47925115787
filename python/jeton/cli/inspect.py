"""`jeton inspect`: what is in a tokenizer, and how it cuts a text."""

from __future__ import annotations

import sys
from typing import Any

import click

import jeton
from jeton.cli.anatomy import anatomy
from jeton.cli.colours import LEGEND, Piece, flow, paint
from jeton.cli.command import Command, use_colour
from jeton.cli.documents import Reader
from jeton.cli.targets import FilePath
from jeton.cli.terminal import Progress, columns, heading, shorten, table
from jeton.cli.tokenizers import (
    Source,
    encoding_options,
    note_on_special_tokens,
    tokenizer_options,
)
from jeton.drawing import visible

__all__ = ["inspect"]

HELP = """Show what is in a tokenizer; or, with a text, how it cuts the text.

The first gives sizes, stages in order, special tokens, what the tokens are made of, the longest
and the oddest. The second shows the tokens in alternating colours, white space visible, and a
table with the id of each, the token as the vocabulary spells it, and its bytes in text.

\b
Examples:
  jeton inspect gpt2
  jeton inspect gpt2 "How is this cut?"
  jeton inspect tokenizer.json --file story.txt
  jeton inspect tokenizer.json "<|user|> hi" --special allow
  date | jeton inspect gpt2 -
"""


@click.command(cls=Command, help=HELP, short_help="What is in a tokenizer; how it cuts a text.")
@tokenizer_options
@click.argument("text", required=False)
@click.option("--file", type=FilePath(), metavar="FILE", help="Take the text from a file.")
@click.option(
    "--rows", default=48, show_default=True, metavar="N", help="Rows of the table, at most."
)
@encoding_options
def inspect(
    source: Source,
    text: str | None,
    file: str | None,
    rows: int,
    options: dict[str, Any],
) -> None:
    if text is not None and file is not None:
        raise click.UsageError("give TEXT or --file, not both.")
    path = "-" if text == "-" else file
    if path is not None:
        with Progress("reading", None) as progress:
            (document,) = Reader(errors="replace").documents([path], progress)
            text = document.text
    tok = source.load()
    note_on_special_tokens(tok, options)
    if text is None:
        for line in anatomy(tok, source.name):
            click.echo(line)
    else:
        _show_text(tok, text, options, rows)


def _show_text(tok: jeton.Tokenizer, text: str, options: dict[str, Any], limit: int) -> None:
    encoding = tok.encode_with_spans(text, **options)
    ids, spans = encoding.ids, encoding.spans
    specials = set(tok.special_tokens.values())
    tokens = encoding.tokens
    # What no text shows, such as a control piece, is shown by its name.
    pieces = [
        Piece(token if number in specials else tok.token_bytes(number) or token, number in specials)
        for number, token in zip(ids, tokens, strict=True)
    ]
    colour = use_colour(sys.stdout)
    click.echo(_summary(text, len(ids)))
    if not pieces:
        return
    click.echo()
    click.echo(flow(pieces, columns(), colour))
    click.echo()
    click.echo(_rows(ids[:limit], tokens, spans, pieces, columns()))
    if len(ids) > limit:
        click.echo(click.style(f"  … {len(ids) - limit:,} more (--rows {len(ids)})", dim=True))
    click.echo()
    click.echo(click.style(f"  {shorten(LEGEND, columns() - 2)}", dim=True))


def _summary(text: str, tokens: int) -> str:
    size = len(text.encode("utf-8", "surrogatepass"))
    parts = [_many(tokens, "token"), _many(len(text), "character"), _many(size, "byte")]
    if tokens:
        parts.append(f"{size / tokens:.2f} bytes a token")
    return heading(" · ".join(parts))


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _rows(
    ids: list[int],
    tokens: list[bytes],
    spans: list[tuple[int, int]],
    pieces: list[Piece],
    width: int,
) -> str:
    """The table: number, id, token as the vocabulary spells it, span, and its bytes in text.

    What a narrow terminal has no room for is cut.
    """
    header = ("", "id", "token", "span", "bytes")
    rows = [tuple(click.style(name, dim=True) for name in header)]
    for number, (token_id, span) in enumerate(zip(ids, spans, strict=False)):
        piece = pieces[number]
        shown = shorten(visible(tokens[number]), max(12, width // 3))
        start, end = span
        rows.append(
            (
                click.style(str(number), dim=True),
                str(token_id),
                paint(shown, number, piece.special),
                f"{start}–{end}",
                click.style(shorten(piece.data.hex(" "), max(11, width // 3)), dim=True),
            )
        )
    if width < 60:
        rows = [row[:3] for row in rows]
    return table(rows, ">><><"[: len(rows[0])])
