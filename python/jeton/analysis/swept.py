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
from jeton.analysis.saved import Saved
from jeton.analysis.values import check_number
from jeton.arguments import check_kind, check_text, checked_int

__all__ = ["RARE_SHARE", "Point", "SkippedSize", "Sweep"]

RARE_SHARE: Final = 0.05
"""Maximum share of rare tokens of a vocabulary that the text supports."""


@dataclass(frozen=True)
class Point:
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

    @property
    def rare_share(self) -> float:
        """The share of the learned tokens that are rare; 0 if none is learned."""
        return self.rare / max(1, self.learned)

    def __post_init__(self) -> None:
        for name in ("family", "tokenizer"):
            check_text(name, getattr(self, name))
        for name in ("size", "vocab_size", "tokens", "inexact", "learned", "rare"):
            checked_int(name, getattr(self, name), 0)
        check_number("embedding_bytes", self.embedding_bytes)
        check_number("share", self.share)
        per_byte = ("attention", "output", "operations", "cache")
        for name in ("bytes_per_token", "context_bytes", *per_byte):
            if (number := getattr(self, name)) is not None:
                check_number(name, number, "a number or None")
        check_kind("parts", self.parts, dict, "a dict")
        for part, number in self.parts.items():
            if number is not None:
                check_number(f"parts[{part!r:.60}]", number, "a number or None")


@dataclass(frozen=True)
class SkippedSize:
    """A size that a family cannot have.

    Attributes:
        family: One of `jeton.analysis.FAMILIES`.
        size: The number of tokens that the sweep wanted.
        reason: Why there is no such tokenizer.
    """

    family: str
    size: int
    reason: str

    def __post_init__(self) -> None:
        for name in ("family", "reason"):
            check_text(name, getattr(self, name))
        checked_int("size", self.size, 0)


@dataclass(frozen=True, repr=False)
class Sweep(Saved):
    """The result of a sweep.

    Attributes:
        points: A point for each family and size, in the order of the arguments.
        settings: The pattern, width, depth, context, bytes_per_parameter, tied, rare, documents,
            and the held-out share.
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

    def __post_init__(self) -> None:
        check_kind("points", self.points, tuple, "a tuple of Point")
        for point in self.points:
            check_kind("each of points", point, Point, "a Point")
        check_kind("skipped", self.skipped, tuple, "a tuple of SkippedSize")
        for size in self.skipped:
            check_kind("each of skipped", size, SkippedSize, "a SkippedSize")
        check_kind("settings", self.settings, dict, "a dict")
        for name, value in self.settings.items():
            if not isinstance(value, (str, bool)):
                check_number(f"settings[{name!r:.60}]", value, "a text or a number")
        for name in ("corpus", "held_out", "version"):
            check_text(name, getattr(self, name))
        for name in ("held_out_bytes", "held_out_lines"):
            checked_int(name, getattr(self, name), 0)
        check_kind("parts", self.parts, dict, "a dict")
        for part, size_of_part in self.parts.items():
            checked_int(f"parts[{part!r:.60}]", size_of_part, 0)
        bends, cheapest, supported = {}, {}, {}
        for family in dict.fromkeys(point.family for point in self.points):
            own = [point for point in self.points if point.family == family]
            measured = [(it.vocab_size, it.bytes_per_token) for it in own]
            at = bend([(x, y) for x, y in measured if y is not None])
            bends[family] = None if at is None else int(at)
            costs = [(it.operations, it.vocab_size) for it in own if it.operations is not None]
            cheapest[family] = min(costs)[1] if costs else None
            frequent = (it.vocab_size for it in own if it.learned and it.rare_share <= RARE_SHARE)
            supported[family] = max(frequent, default=None)
        object.__setattr__(self, "bends", bends)
        object.__setattr__(self, "cheapest", cheapest)
        object.__setattr__(self, "supported", supported)

    def to_dict(self) -> dict[str, Any]:
        """The whole result as values for JSON."""
        return {
            **self._head(),
            "jeton": self.version,
            "settings": self.settings,
            "corpus": self.corpus,
            "held_out": self.held_out,
            "held_out_bytes": self.held_out_bytes,
            "held_out_lines": self.held_out_lines,
            "parts": self.parts,
            "bends": self.bends,
            "cheapest": self.cheapest,
            "supported": self.supported,
            "skipped": [asdict(size) for size in self.skipped],
            "points": [asdict(point) for point in self.points],
        }

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

    @classmethod
    def _of_record(cls, record: Any) -> Sweep:
        return cls(
            tuple(Point(**point) for point in record["points"]),
            dict(record["settings"]),
            record["corpus"],
            record["held_out"],
            record["held_out_bytes"],
            record["held_out_lines"],
            record["jeton"],
            tuple(SkippedSize(**size) for size in record["skipped"]),
            dict(record["parts"]),
        )

    def __repr__(self) -> str:
        bends = ", ".join(
            f"{family} bends at {'no size' if at is None else f'{at:,}'}"
            for family, at in self.bends.items()
        )
        return f"<Sweep of {len(self.points)} tokenizers: {bends or 'none'}>"
