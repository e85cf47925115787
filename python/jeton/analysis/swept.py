"""The result of a sweep: a point per tokenizer, saved and loaded.

Look here for the formulas of costs, and for how a saved file is checked.
"""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Final

from jeton._core import __version__
from jeton.analysis.knee import bend
from jeton.record import Record
from jeton.saved_json import Saved

RARE_SHARE: Final = 0.05
"""Maximum share of rare tokens of a vocabulary that the text supports."""


@dataclass(frozen=True)
class Point(Record):
    """One tokenizer of a sweep.

    Attributes:
        family: One of `jeton.analysis.FAMILIES`.
        size: The number of tokens that the sweep wanted.
        vocab_size: The number of tokens that it has: fewer, if the corpus supports no more.
        tokens: The number of tokens of the held-out text.
        bytes_per_token: Bytes of UTF-8 of the held-out text / tokens.
        inexact: The number of held-out lines that decoding does not restore byte by byte. If there
            are any, lost text may be why there are fewer tokens.
        embedding_bytes: Memory of the input embedding: vocab_size · width · bytes_per_parameter. An
            output layer that is not tied to it takes as much again.
        context_bytes: The text that the context holds: context · bytes_per_token.
        attention: Operations of attention per byte of text, forward, with a full context:
            depth · 4 · context · width / bytes_per_token. (Queries by keys, and weights by values,
            are 2 · context² · width multiply-and-adds, of two operations each, in each layer.)
        output: Operations of the output layer per byte of text, forward:
            2 · vocab_size · width / bytes_per_token.
        operations: All operations per byte of text, forward: attention, output, and those of the
            12 · width² parameters of each layer, depth · 24 · width² / bytes_per_token. (A layer
            has four projections of width², and a feed-forward part of 8 · width².)
        share: The embedding's share of the model's parameters, including the output layer unless
            the two are one table (`tied`).
        cache: Bytes of keys and values per byte of text:
            depth · 2 · width · bytes_per_parameter / bytes_per_token.
        tokenizer: The digest of the tokenizer.
        learned: The number of tokens without the special ones and the single bytes, which a
            tokenizer has whatever the text is.
        rare: How many of the learned tokens occur in the training text fewer than
            `settings["rare"]` times.
        parts: Bytes per token of each named part of the held-out text; `None` for an empty part.
        bits_per_byte: Bits of the held-out text / its bytes, by small models that are trained with
            the tokenizer with equal compute, their mean; `None` if none are. See `TinyModel`.
        bits_per_byte_spread: The highest of these less the lowest; `None` unless there are several.
    """

    family: str
    size: int
    vocab_size: int
    tokens: int
    bytes_per_token: float | None
    inexact: int
    embedding_bytes: int
    context_bytes: float | None
    attention: float | None
    output: float | None
    operations: float | None
    share: float
    cache: float | None
    tokenizer: str
    learned: int
    rare: int
    parts: dict[str, float | None] = field(default_factory=dict, hash=False)
    bits_per_byte: float | None = None
    bits_per_byte_spread: float | None = None

    @property
    def rare_share(self) -> float:
        """The share of the learned tokens that are rare; 0 if none is learned."""
        return self.rare / max(1, self.learned)


@dataclass(frozen=True)
class SkippedSize(Record):
    """A size that a family cannot have.

    Attributes:
        family: One of `jeton.analysis.FAMILIES`.
        size: The number of tokens that the sweep wanted.
        reason: Why there is no such tokenizer.
    """

    family: str
    size: int
    reason: str


@dataclass(frozen=True, repr=False)
class Sweep(Saved):
    """The result of a sweep.

    Attributes:
        points: A point for each family and size, in the order of the arguments.
        settings: The pattern, width, depth, context, bytes_per_parameter, tied, rare, documents,
            the held-out share, and the `model` if small models are trained.
        corpus: SHA-256 of the corpus's lines, and of the names of its parts, in hexadecimal.
        held_out: SHA-256 of the held-out lines, and of their parts, in hexadecimal.
        held_out_bytes: The size of these lines in bytes of UTF-8.
        held_out_lines: The number of these lines.
        version: The version of jeton.
        skipped: The sizes that a family cannot have, such as fewer than its alphabet.
        parts: The size of each named part of the held-out text in bytes of UTF-8.
    """

    _NOUN: ClassVar[str] = "sweep"

    points: tuple[Point, ...]
    settings: dict[str, str | int | float]
    corpus: str
    held_out: str
    held_out_bytes: int
    held_out_lines: int
    version: str = __version__
    skipped: tuple[SkippedSize, ...] = ()
    parts: dict[str, int] = field(default_factory=dict)
    bends: dict[str, int | None] = field(init=False)
    """The vocabulary size at which the curve of each family bends; see `bend`."""
    cheapest: dict[str, int | None] = field(init=False)
    """The vocabulary size of each family with the fewest `operations` per byte of text."""
    supported: dict[str, int | None] = field(init=False)
    """The largest vocabulary size of each family of whose learned tokens at most a twentieth is
    rare (Gowda and May 2020: 95 % of the classes with at least 100 examples); `None` if no size is
    like that."""

    best_modelled: dict[str, int | None] = field(init=False)
    """The vocabulary size of each family with the fewest bits per byte; `None` if no models were
    trained."""

    def __post_init__(self) -> None:
        super().__post_init__()
        bends, cheapest, supported, best = {}, {}, {}, {}
        for family in dict.fromkeys(point.family for point in self.points):
            own = [point for point in self.points if point.family == family]
            measured = [(it.vocab_size, it.bytes_per_token) for it in own]
            at = bend([(x, y) for x, y in measured if y is not None])
            bends[family] = None if at is None else int(at)
            costs = [(it.operations, it.vocab_size) for it in own if it.operations is not None]
            cheapest[family] = min(costs)[1] if costs else None
            bits = [(it.bits_per_byte, it.vocab_size) for it in own if it.bits_per_byte is not None]
            best[family] = min(bits)[1] if bits else None
            frequent = (it.vocab_size for it in own if it.learned and it.rare_share <= RARE_SHARE)
            supported[family] = max(frequent, default=None)
        object.__setattr__(self, "bends", bends)
        object.__setattr__(self, "cheapest", cheapest)
        object.__setattr__(self, "supported", supported)
        object.__setattr__(self, "best_modelled", best)

    def to_dict(self) -> dict[str, Any]:
        """The whole result as values for JSON, with what `points` show."""
        shown = ("bends", "cheapest", "supported", "best_modelled")
        return {**super().to_dict(), **{name: getattr(self, name) for name in shown}}

    def to_csv(self) -> str:
        """The points as comma-separated values, with a line of names.

        Each part has a column, `bytes_per_token[NAME]`.
        """
        out = io.StringIO()
        names = [name for name in Point.__dataclass_fields__ if name != "parts"]
        names += [f"bytes_per_token[{part}]" for part in self.parts]
        writer = csv.DictWriter(out, names, lineterminator="\n")
        writer.writeheader()
        for point in self.points:
            row = asdict(point)
            parts = row.pop("parts")
            writer.writerow(row | {f"bytes_per_token[{part}]": parts[part] for part in self.parts})
        return out.getvalue()

    def __repr__(self) -> str:
        bends = ", ".join(
            f"{family} bends at {'no size' if at is None else f'{at:,}'}"
            for family, at in self.bends.items()
        )
        return f"<Sweep of {len(self.points)} tokenizers: {bends or 'none'}>"
