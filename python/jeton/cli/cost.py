"""`jeton cost`: what files cost as prompts of a model."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

import jeton
from jeton import saved_json
from jeton.chat.message_counts import has_encoding, is_fine_tuned
from jeton.cli.chat import conversation_of
from jeton.cli.command import Command, echo_note, format_option
from jeton.cli.documents import STDIN, InputDocument, Reader, batches, input_options, input_size
from jeton.cli.printing import put, say, use_colour
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import FilePath, check_inputs
from jeton.cli.terminal import show
from jeton.corpora import corpus
from jeton.cost.estimating import amounts, estimate, is_private, tokenizer_of
from jeton.cost.prices import Price, Prices, money, places_of
from jeton.errors import ArgumentError, JetonError
from jeton.loading import registry

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["cost"]

HELP = """Show what files cost as prompts of a model, each and in total.

MODEL is a model of OpenAI, Anthropic or Google, or one in a table of your own (--prices). FILES
are text files, folders and patterns, also compressed by gzip or Zstandard. Each file is one
request; with --lines or --field each line is, and in Parquet each row. Prices are per million
tokens, as of the date shown; a price older than 90 days is marked as stale. `jeton list prices`
shows all of them.

Tokens are counted with the model's own tokenizer. If that is not public (Claude, Gemini), name
another one with --tokenizer; the number is then an estimate.

\b
Examples:
  jeton cost gpt-4o docs/
  jeton cost gpt-4o-mini prompts.txt --lines --output-tokens 200
  jeton cost claude-sonnet-5 'src/**/*.py' --tokenizer o200k_base
  jeton cost gpt-4o chats.jsonl --lines --messages --format json
  jeton cost mine report.md --prices prices.toml --cached-tokens 1000
"""


@dataclass
class RequestTally:
    """The tokens of some requests, at the usual price and at the price of long prompts."""

    documents: int = 0
    usual: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Tokens of prompts, how many of them are cached, and tokens of answers."""
    long: list[int] = field(default_factory=lambda: [0, 0, 0])

    def request(self, price: Price, tokens: int, cached: int, output: int) -> None:
        """Adds a request."""
        is_long = price.above is not None and tokens > price.above.tokens
        self.documents += 1
        sums = self.long if is_long else self.usual
        for at, number in enumerate((tokens, cached, output)):
            sums[at] += number

    def add(self, other: RequestTally) -> None:
        """Adds another tally."""
        self.documents += other.documents
        self.usual = [a + b for a, b in zip(self.usual, other.usual, strict=True)]
        self.long = [a + b for a, b in zip(self.long, other.long, strict=True)]

    def tokens(self) -> list[int]:
        """Tokens of prompts, how many of them are cached, and tokens of answers."""
        return [a + b for a, b in zip(self.usual, self.long, strict=True)]

    def amounts(self, price: Price) -> list[Decimal]:
        """The cost of uncached prompt tokens, of cached ones and of answers."""
        usual = amounts(price, *self.usual)
        if price.above is None:
            return list(usual)
        return [a + b for a, b in zip(usual, amounts(price.above, *self.long), strict=True)]


@dataclass
class Bill:
    """The result that is printed."""

    model: str
    price: Price
    tokenizer: str
    tallies: dict[str, RequestTally]
    notes: list[str]
    exact: bool = True

    def total(self) -> RequestTally:
        """All files."""
        everything = RequestTally()
        for tally in self.tallies.values():
            everything.add(tally)
        return everything


@click.command(cls=Command, help=HELP, short_help="Show what files cost as prompts.")
@click.argument("model")
@input_options
@click.option(
    "--tokenizer",
    type=FilePath(),
    metavar="TOKENIZER",
    help="Count with this tokenizer.  [default: the model's own]",
)
@click.option(
    "--output-tokens",
    type=click.IntRange(min=0, max=1 << 40),
    default=0,
    metavar="N",
    help="How many tokens each answer has.",
)
@click.option(
    "--cached-tokens",
    type=click.IntRange(min=0, max=1 << 40),
    default=0,
    metavar="N",
    help="How many tokens of each prompt come from the provider's cache.",
)
@click.option(
    "--messages",
    is_flag=True,
    help="Each document is a conversation in JSON, as `jeton chat` reads it.",
)
@click.option(
    "--tokens-per-part",
    type=click.IntRange(min=0, max=1 << 40),
    metavar="N",
    help="With --messages: estimated tokens of each image or other part that is not text.",
)
@click.option(
    "--prices",
    type=FilePath(),
    metavar="FILE",
    help="A table of prices, JSON or TOML, instead of jeton's.",
)
@format_option(
    "table",
    "json",
    "csv",
    "plain",
    help="A table for people, JSON, CSV, or lines of cost, tokens and file with tabs.",
)
def cost(
    model: str,
    paths: tuple[str, ...],
    reader: Reader,
    tokenizer: str | None,
    output_tokens: int,
    cached_tokens: int,
    messages: bool,
    tokens_per_part: int | None,
    prices: str | None,
    form: str,
) -> None:
    if tokens_per_part is not None and not messages:
        raise click.UsageError("--tokens-per-part goes with --messages.")
    table = None if prices is None else Prices.load(prices)
    pricing = estimate(model, cached_tokens, cached_tokens=cached_tokens,
                     output_tokens=output_tokens, prices=table)  # fmt: skip
    on_disk = [Path(path) for path in paths if path != STDIN]
    files = [STDIN] if STDIN in paths else []
    files += map(os.fspath, corpus.files_of(on_disk) or []) if on_disk else []
    check_inputs(files)
    own = tokenizer_of(model, prices=table)
    tok, name = _tokenizer(model, own, tokenizer)
    bill = Bill(
        model, pricing.price, name, {path: RequestTally() for path in files}, list(pricing.notes)
    )
    if own is None or not (name == own or has_encoding(tok, own)):
        bill.exact = False
        whose = "not public" if is_private(model) else own or "not known"
        bill.notes.append(f"estimated: counted with {name}; the tokenizer of {model} is {whose}")
    elif is_fine_tuned(model) and pricing.price.tokenizer is None:
        bill.exact = False
        bill.notes.append(f"estimated: the tokenizer of {model} is assumed to be {own}")
    lengths = (
        _of_messages(tok, model, bill, tokens_per_part)
        if messages
        else lambda group: tok.count_batch([document.text for document in group])
    )
    with ProgressBar("counting", input_size(files)) as progress:
        for group in batches(reader.documents(files, progress)):
            if messages:
                group = [document for document in group if document.text.strip()]
            for document, tokens in zip(group, lengths(group), strict=True):
                if 0 < tokens < cached_tokens:
                    text = document.text
                    raise ArgumentError(
                        f"--cached-tokens is {cached_tokens:,}, more than the {tokens:,} of a "
                        f"request in {document.place}: "
                        f"{text if len(text) <= 40 else text[:39] + '…'!r}"
                    )
                cached = cached_tokens if tokens else 0
                tally = bill.tallies[document.source]
                tally.request(pricing.price, tokens, cached, output_tokens)
    several = any(tally.documents > 1 for tally in bill.tallies.values())
    _WRITERS[form](bill, reader.by_line or several)


def _tokenizer(model: str, own: str | None, option: str | None) -> tuple[jeton.Tokenizer, str]:
    name = option or own
    if name is None:
        why = "is not public" if is_private(model) else "is not known to jeton"
        raise ArgumentError(
            f"the tokenizer of {model} {why}: name another with --tokenizer, for an estimate "
            "(as --tokenizer o200k_base)"
        )
    return jeton.load(name), name


Lengths = Callable[[list[InputDocument]], Iterable[int]]


def _of_messages(
    tok: jeton.Tokenizer, model: str, bill: Bill, tokens_per_part: int | None
) -> Lengths:
    by_name = registry.name_for_model(model.lower()) is not None or is_private(model)

    def length(document: InputDocument) -> int:
        conversation = conversation_of(
            document.text, document.place, "--lines reads each line as a conversation"
        )
        try:
            count = tok.count_messages(
                conversation["messages"],
                model=model if by_name else None,
                tools=conversation.get("tools"),
                tokens_per_part=tokens_per_part,
            )
        except JetonError as error:
            raise type(error)(f"{document.place}: {error}") from None
        bill.exact &= count.exact
        if not count.exact and count.basis not in bill.notes:
            bill.notes.append(count.basis)
        return count.tokens

    return lambda group: [length(document) for document in group]


def _write_table(bill: Bill, by_line: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    everything = bill.total()
    tokens = everything.tokens()
    several = len(bill.tallies) > 1
    table = Table(box=box.SIMPLE_HEAD, show_footer=several, pad_edge=False, header_style="dim")
    about = "" if bill.exact else "~"
    places = places_of(_total(bill, tally) for tally in bill.tallies.values())

    def cost_of(tally: RequestTally) -> str:
        return about + money(_total(bill, tally), bill.price.currency, places=places)

    def add(title: str, footer: str, style: str | None = None) -> None:
        table.add_column(title, footer, justify="right", style=style, no_wrap=True)

    columns = [True, bool(tokens[1]), bool(tokens[2])]
    if by_line:
        add("requests", f"{everything.documents:,}")
    for title, number, is_shown in zip(
        ("tokens", "cached", "output"), tokens, columns, strict=True
    ):
        if is_shown:
            add(title, f"{about if title != 'output' else ''}{number:,}")
    add("cost", cost_of(everything), "bold")
    table.add_column("", "total", overflow="fold")
    for path, tally in bill.tallies.items():
        row = [f"{tally.documents:,}"] if by_line else []
        row += [
            f"{about if at < 2 else ''}{number:,}"
            for at, number in enumerate(tally.tokens())
            if columns[at]
        ]
        table.add_row(*row, cost_of(tally), Text("standard input" if path == STDIN else path))
    notes = [Text(f"! {note}", "yellow") for note in bill.notes]
    # Names are not shortened where a program may read them.
    is_wide = not (sys.stdout.isatty() or use_colour(sys.stdout))
    show(*_heading(bill), table, *notes, width=1_000 if is_wide else None)


def _heading(bill: Bill) -> Iterator[Text]:
    from rich.text import Text

    price = bill.price
    parts = [f"{money(price.input, price.currency)} per million tokens"]
    if price.cached is not None:
        parts.append(f"{money(price.cached, price.currency)} cached")
    if price.output is not None:
        parts.append(f"{money(price.output, price.currency)} output")
    yield Text(bill.model, "bold").append(f"  {' · '.join(parts)}", "not bold")
    where = ", ".join(str(part) for part in (price.source, price.date) if part)
    if where:
        yield Text(f"price of {where}", "dim")


def _total(bill: Bill, tally: RequestTally) -> Decimal:
    return sum(tally.amounts(bill.price), Decimal())


def _record(bill: Bill, tally: RequestTally) -> dict[str, int | float]:
    tokens, cached, output = tally.tokens()
    parts = tally.amounts(bill.price)
    return {
        "requests": tally.documents,
        "tokens": tokens,
        "cached_tokens": cached,
        "output_tokens": output,
        "input_cost": float(parts[0]),
        "cached_cost": float(parts[1]),
        "output_cost": float(parts[2]),
        "cost": float(sum(parts)),
    }


def _write_json(bill: Bill, _: bool) -> None:
    price = bill.price
    numbers = {
        name: None if getattr(price, name) is None else float(getattr(price, name))
        for name in ("input", "cached", "output")
    }
    date = None if price.date is None else price.date.isoformat()
    record = {
        "model": bill.model,
        "tokenizer": bill.tokenizer,
        "exact": bill.exact,
        "currency": price.currency,
        "price": {**numbers, "date": date, "source": price.source},
        "notes": bill.notes,
        "files": [{"file": path, **_record(bill, tally)} for path, tally in bill.tallies.items()],
        "total": _record(bill, bill.total()),
    }
    say(saved_json.dumps(record))


def _write_csv(bill: Bill, _: bool) -> None:
    rows = [
        {"file": path, **_record(bill, tally), "currency": bill.price.currency, "exact": bill.exact}
        for path, tally in bill.tallies.items()
    ]
    lines = io.StringIO()
    writer = csv.DictWriter(lines, [*rows[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    put(lines.getvalue(), end="")
    _note(bill)


def _write_plain(bill: Bill, _: bool) -> None:
    rows = [*bill.tallies.items()]
    if len(rows) > 1:
        rows.append(("total", bill.total()))
    for name, tally in rows:
        put(f"{_total(bill, tally).normalize():f}\t{tally.tokens()[0]}\t{name}")
    _note(bill)


def _note(bill: Bill) -> None:
    for note in bill.notes:
        echo_note(note)


_WRITERS = {"table": _write_table, "json": _write_json, "csv": _write_csv, "plain": _write_plain}
