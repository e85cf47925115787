"""`jeton cost`: what files cost as prompts of a model, at prices that you give."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

import jeton
from jeton import saved_json
from jeton.cli.chat import conversation_of
from jeton.cli.command import Command, echo_note, format_option
from jeton.cli.documents import STDIN, InputDocument, Reader, batches, input_options, input_size
from jeton.cli.printing import put, say, styled
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import check_inputs
from jeton.cli.terminal import table
from jeton.cli.tokenizers import TokenizerSource, tokenizer_options
from jeton.corpora import corpus
from jeton.cost import Price, estimate, money
from jeton.errors import ArgumentError, JetonError
from jeton.stores.urls import is_url

F = TypeVar("F", bound=Callable[..., Any])

HELP = """Show what files cost as prompts of a model, each and in total.

Prices are those that you give, in dollars per million tokens. FILES are text files, folders and
patterns, also compressed by gzip, Zstandard or xz. Each file is one request; with --lines or
--field each line is, and in JSON Lines, CSV, TSV and Parquet each record.

Tokens are counted with TOKENIZER. If the model's own is not public (Claude, Gemini), the tokens of
another one are only an estimate.

\b
Examples:
  jeton cost gpt-4o docs/ --input-price 2.5
  jeton cost gpt-4o prompts.txt --lines --input-price 2.5 --output-price 10 \\
      --output-tokens 200
  jeton cost model/ chats.jsonl --lines --messages --input-price 2 \\
      --format json
"""


def _checked_price(_: click.Context, option: click.Parameter, price: float | None) -> float | None:
    if price is not None and math.isnan(price):
        raise click.BadParameter("nan is no price", param=option)
    return price


def _price_option(name: str, what: str, **settings: Any) -> Callable[[F], F]:
    return click.option(
        name,
        type=click.FloatRange(min=0, max=1e9),
        callback=_checked_price,
        metavar="USD",
        help=what,
        **settings,
    )


def _number_option(name: str, what: str, default: int | None = 0) -> Callable[[F], F]:
    kind = click.IntRange(min=0, max=1 << 40)
    return click.option(name, type=kind, default=default, metavar="N", help=what)


@click.command(cls=Command, help=HELP, short_help="Show what files cost as prompts.")
@tokenizer_options
@input_options
@_price_option("--input-price", "The price of a million tokens of a prompt.", required=True)
@_price_option("--output-price", "The price of a million tokens of an answer.")
@_price_option("--cached-price", "The price of a million cached tokens.  [default: --input-price]")
@_number_option("--output-tokens", "How many tokens each answer has.")
@_number_option("--cached-tokens", "How many tokens of each prompt come from the provider's cache.")
@click.option(
    "--messages",
    is_flag=True,
    help="Each document is a conversation in JSON, as `jeton chat` reads it.",
)
@_number_option(
    "--tokens-per-part",
    "With --messages: estimated tokens of each image or other part that is not text.",
    None,
)
@format_option(
    "table",
    "json",
    "csv",
    "plain",
    help="A table for people, JSON, CSV, or lines of cost, tokens and file with tabs.",
)
def cost(
    source: TokenizerSource,
    paths: tuple[str, ...],
    reader: Reader,
    input_price: float,
    output_price: float | None,
    cached_price: float | None,
    output_tokens: int,
    cached_tokens: int,
    messages: bool,
    tokens_per_part: int | None,
    form: str,
) -> None:
    if tokens_per_part is not None and not messages:
        raise click.UsageError("--tokens-per-part goes with --messages.")
    if messages and reader.split_on is not None:
        raise click.UsageError("--messages reads conversations; leave out --split-on.")
    if output_tokens and output_price is None:
        raise click.UsageError("--output-tokens needs --output-price.")
    price = Price(input_price, output_price, cached_price)
    urls = [path for path in paths if is_url(path)]
    on_disk = [Path(path) for path in paths if path != STDIN and path not in urls]
    files = [STDIN] if STDIN in paths else []
    files += map(os.fspath, corpus.files_of(on_disk) or []) if on_disk else []
    files += urls
    check_inputs(files)
    tok = source.load()
    notes: dict[str, None] = {}
    # Files behind a URL are found when they are read.
    tallies = {path: _Tally(price) for path in files if not is_url(path)}
    with ProgressBar("counting", input_size(files)) as progress:
        # A conversation is JSON itself, whatever its file is called.
        read = reader.json_values if messages else reader.documents
        for group in batches(read(files, progress)):
            counts: Iterable[int]
            if messages:
                group = [document for document in group if document.text.strip()]
                counts = [_of_messages(tok, it, tokens_per_part, notes) for it in group]
            else:
                counts = tok.count_batch([document.text for document in group])
            for document, tokens in zip(group, counts, strict=True):
                if 0 < tokens < cached_tokens:
                    text = document.text
                    raise ArgumentError(
                        f"--cached-tokens is {cached_tokens:,}, more than the {tokens:,} of a "
                        f"request in {document.place}: "
                        f"{text if len(text) <= 40 else text[:39] + '…'!r}"
                    )
                cached = cached_tokens if tokens else 0
                tally = tallies.setdefault(document.source, _Tally(price))
                tally.add(1, tokens, cached, output_tokens)
    total = _Tally(price)
    for tally in tallies.values():
        total.add(*tally.counts)
    if form == "json":
        records = [{"file": path, **tally.record()} for path, tally in tallies.items()]
        result = {"exact": not notes, "notes": [*notes], "files": records, "total": total.record()}
        say(saved_json.dumps(result))
        return
    if form == "csv":
        lines = io.StringIO()
        writer = csv.DictWriter(lines, ["file", *total.record()], lineterminator="\n")
        writer.writeheader()
        writer.writerows({"file": path, **tally.record()} for path, tally in tallies.items())
        put(lines.getvalue(), end="")
    else:
        rows = [*tallies.items()]
        if len(rows) > 1:
            rows.append(("total", total))
        if form == "plain":
            for name, tally in rows:
                put(f"{tally.cost().total.normalize():f}\t{tally.counts[1]}\t{name}")
        else:
            say(_table(rows, total, "~" if notes else ""))
    for note in notes:
        echo_note(note)


class _Tally:
    """Numbers of requests, of prompt tokens, of cached ones among them, and of answer tokens."""

    def __init__(self, price: Price) -> None:
        self.price = price
        self.counts = [0, 0, 0, 0]

    def add(self, *counts: int) -> None:
        self.counts = [a + b for a, b in zip(self.counts, counts, strict=True)]

    def cost(self) -> jeton.cost.Cost:
        _, tokens, cached, output = self.counts
        return estimate(tokens, self.price, cached_tokens=cached, output_tokens=output)

    def record(self) -> dict[str, int | float]:
        cost = self.cost()
        names = ("requests", "tokens", "cached_tokens", "output_tokens")
        return {
            **dict(zip(names, self.counts, strict=True)),
            "input_cost": float(cost.input),
            "cached_cost": float(cost.cached),
            "output_cost": float(cost.output),
            "cost": float(cost.total),
        }


def _of_messages(
    tok: jeton.Tokenizer,
    document: InputDocument,
    tokens_per_part: int | None,
    notes: dict[str, None],
) -> int:
    """The tokens of a conversation; what makes their number an estimate goes to `notes`."""
    conversation = conversation_of(
        document.text, document.place, "--lines reads each line as a conversation"
    )
    try:
        count = tok.count_messages(
            conversation["messages"],
            tools=conversation.get("tools"),
            tokens_per_part=tokens_per_part,
        )
    except JetonError as error:
        raise error.reworded(f"{document.place}: {error.message}") from None
    if not count.exact:
        notes[count.basis] = None
    return count.tokens


def _table(rows: list[tuple[str, _Tally]], total: _Tally, about: str) -> str:
    """The table for people; columns of zeros are left out."""
    names = ("requests", "tokens", "cached", "output")
    signs = ("", about, about, "")
    shown = [at for at, number in enumerate(total.counts) if number or at < 2]
    titles = (*(names[at] for at in shown), "cost", "")
    cells = [tuple(styled(title, dim=True) for title in titles)]
    for name, tally in rows:
        numbers = (f"{signs[at]}{tally.counts[at]:,}" for at in shown)
        amount = styled(about + money(tally.cost().total), bold=True)
        cells.append((*numbers, amount, "standard input" if name == STDIN else name))
    return table(cells, ">" * (len(shown) + 1) + "<", indent="")
