"""`jeton data mix`: several token sets in given shares, as a small file that loaders read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jeton import saved_json
from jeton.cli.command import Command, format_option
from jeton.cli.printing import say, styled
from jeton.cli.targets import check_folders, check_target, force_option, output_option
from jeton.cli.terminal import table
from jeton.stores.urls import is_url

if TYPE_CHECKING:
    from jeton.data import MixSource, Mixture

HELP = """Mix token sets in given shares, for jeton.data.Mixture.read.

SOURCE is FOLDER=AMOUNT: a weight as 0.7, a number of epochs as 2x, or of tokens as 500M (K, M, B
and T are thousands, millions, billions and trillions). Weights share what --tokens leaves, or as
many tokens as there are without repeating one. Or SOURCE... is a blend of Megatron, weights and
paths in turn. Nothing is copied: the file has the shares, the counts of each source and digests.

\b
Examples:
  jeton data mix web=0.7 code=0.3
  jeton data mix web=0.7 code=0.3 --tokens 10B -o mixture.json
  jeton data mix web=0.9 code=0.1 books=2x wiki=500M --tokens 10B \\
      -o mixture.json
  jeton data mix 0.7 web_text_document 0.3 code_text_document
"""

_UNITS = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def _number(text: str) -> Fraction:
    """A positive number, with the unit that it may end in."""
    unit = _UNITS.get(text[-1:].upper(), 1)
    try:
        number = Fraction(text[:-1] if unit > 1 else text) * unit
    except (ValueError, ZeroDivisionError):
        number = Fraction(0)
    if number <= 0:
        raise click.BadParameter(f"{text!r} is not a number such as 0.7, 2x or 500M")
    return number


def _tokens(_: click.Context, __: click.Parameter, text: str | None) -> int | None:
    return None if text is None else max(1, int(_number(text)))


def _source(text: str) -> tuple[str, MixSource]:
    from jeton.data import MixSource

    path, _, amount = text.rpartition("=")
    if not path:
        raise click.BadParameter(f"{text!r} is not FOLDER=AMOUNT, as in web=0.7")
    if amount.endswith("x") and amount != "x":
        return path, MixSource(path, epochs=_number(amount[:-1]))
    number = _number(amount)
    if amount[-1:].upper() in _UNITS:
        return path, MixSource(path, tokens=max(1, int(number)))
    return path, MixSource(path, weight=number)


@click.command(cls=Command, help=HELP, short_help="Mix sets in given shares.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "--tokens",
    metavar="N",
    callback=_tokens,
    help="How many tokens, as 10B.  [default: no source repeats]",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Sets the order."
)
@click.option(
    "--max-epochs",
    type=click.FloatRange(min=0, min_open=True),
    default=4.0,
    show_default=True,
    help="How many times a source with a weight may come.",
)
@click.option("--split", metavar="NAME", help="The split of each set.  [default: train]")
@output_option
@force_option
@format_option("table", "json", help="A table for people, or one JSON object.")
def mix(
    sources: tuple[str, ...],
    tokens: int | None,
    seed: int,
    max_epochs: float,
    split: str | None,
    output: str | None,
    force: bool,
    form: str,
) -> None:
    from jeton import data

    named: dict[str, MixSource] = {}
    if any("=" in source for source in sources):
        for path, source in map(_source, sources):
            if path in named:
                raise click.BadParameter(f"{path} is there twice")
            named[path] = source
    check_folders(*(source for source in named or sources if not is_url(source)))
    if output is not None:
        check_target(output, inputs=list(named), force=force)
    mixture = data.mix(
        named or sources, tokens=tokens, seed=seed, max_epochs=max_epochs, split=split
    )
    if output is not None:
        mixture.save(Path(output))
    if form == "json":
        say(saved_json.dumps(_record(mixture)))
        return
    header = ("", "tokens", "share", "epochs", "of")
    rows = [
        (
            source.name,
            f"{source.tokens:,}",
            f"{source.tokens / mixture.tokens:.1%}",
            f"{source.epochs:.3g}",
            f"{source.size:,}",
        )
        for source in mixture.sources
    ]
    rows.append(("total", f"{mixture.tokens:,}", "", "", ""))
    say(table([tuple(styled(name, dim=True) for name in header), *rows], "<>>>>"))


def _record(mixture: Mixture) -> dict[str, object]:
    return {
        "tokens": mixture.tokens,
        "seed": mixture.seed,
        "sources": [
            {
                "name": source.name,
                "tokens": source.tokens,
                "share": source.tokens / mixture.tokens,
                "epochs": source.epochs,
                "size": source.size,
            }
            for source in mixture.sources
        ],
    }
