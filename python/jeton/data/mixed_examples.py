"""`MixedExamples`: the examples of several sources in the order of a mixture.

The examples of all sources are numbered one source after another. A place of the order belongs to
example `k` of its source, counted from the start of training; that is window `k % size` of epoch
`k // size` of the source, by the order of that epoch. So a source comes once before it comes again,
and a state needs no more than the place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from jeton.arguments import check_kind, checked_int, checked_numbers
from jeton.data.examples import Examples
from jeton.data.interleaving import Interleaving
from jeton.data.packing import PackedRows, Packing
from jeton.errors import ArgumentError

B = TypeVar("B", bound=tuple[Any, ...])

_Numbers = npt.NDArray[np.int64]


class MixedExamples(Examples[B]):
    """The examples of a mixture; `Mixture.windows` and `Mixture.pack` return them.

    An epoch of its loader is the whole mixture; the next epoch goes on in every source. `mixed[i]`
    is the example at place `i` of the first epoch, in the order of the mixture's seed.
    """

    def __init__(
        self,
        sources: Mapping[str, Examples[B]],
        counts: Sequence[int],
        seed: int,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        self._sources = dict(sources)
        self._counts = list(counts)
        self.seed = seed
        self._sizes = np.array([len(source) for source in sources.values()], np.int64)
        self._offsets = np.concatenate(([0], np.cumsum(self._sizes)))
        self._skipped = [0] * len(self._counts)
        self._order: tuple[int | None, Interleaving] | None = None
        self._after_shuffle: bool | None = None
        if after is not None:
            taken = taken_of(after, "after")
            for at, (name, own) in enumerate(self._own_settings().items()):
                before = after["mixture"].get(name)
                if before is None:
                    continue
                if before["of"] != own["of"] or after["seed"] != seed:
                    raise ArgumentError(
                        f"after is of another seed, set or block size, so what {name} has given "
                        "cannot be left out"
                    )
                self._skipped[at] = taken[name]
            self._after_shuffle = bool(after["shuffle"])

    def __len__(self) -> int:
        return sum(self._counts)

    @property
    def counts(self) -> dict[str, int]:
        """The number of examples of an epoch from each source."""
        return dict(zip(self._sources, self._counts, strict=True))

    def _own_settings(self) -> dict[str, dict[str, Any]]:
        return {
            name: {"of": source.settings(), "size": size, "count": count, "skipped": skipped}
            for (name, source), size, count, skipped in zip(
                self._sources.items(),
                self._sizes.tolist(),
                self._counts,
                self._skipped,
                strict=True,
            )
        }

    def settings(self) -> dict[str, Any]:
        """The sources, how many examples of each there are, and how many an epoch takes."""
        return {"mixture": self._own_settings()}

    def taken(self, state: Mapping[str, Any]) -> dict[str, int]:
        """The number of examples that each source had given when a loader saved this state.

        Raises:
            ArgumentError: The state is not of a loader of this mixture.
        """
        check_kind("state", state, Mapping, "a dict")
        if state.get("mixture") != self._own_settings():
            raise ArgumentError("the state is not of a loader of this mixture")
        return taken_of(state)

    def order(self, places: _Numbers, *, seed: int | None, epoch: int) -> _Numbers:
        """The numbers of the examples at these places of an epoch."""
        places = checked_numbers("places", places, len(self))
        if seed is not None:
            checked_int("seed", seed, 0)
        checked_int("epoch", epoch, 0)
        if self._after_shuffle not in (None, seed is not None):
            raise ArgumentError("shuffle must be as in the state that the mixture is after")
        if self._order is None or self._order[0] != seed:
            self._order = (seed, Interleaving(self._counts, seed))
        draws = self._order[1].draws(places)
        numbers = np.empty_like(places)
        for at, (name, source) in enumerate(self._sources.items()):
            chosen = np.flatnonzero(draws.sources == at)
            own = draws.numbers[chosen] + (epoch * self._counts[at] + self._skipped[at])
            epochs, within = np.divmod(own, self._sizes[at])
            for number in np.unique(epochs).tolist():
                some = epochs == number
                within[some] = source.order(within[some], seed=_seed_of(seed, name), epoch=number)
            numbers[chosen] = within + self._offsets[at]
        return numbers

    def numbers_of(self, places: _Numbers) -> _Numbers:
        return self.order(places, seed=self.seed, epoch=0)

    def gather(self, numbers: _Numbers) -> B:
        """The batch of the examples with these numbers, counted over all sources."""
        numbers = checked_numbers("numbers", numbers, int(self._offsets[-1]))
        owners = self._owners(numbers)
        parts: list[tuple[_Numbers, B]] = []
        for at, source in enumerate(self._sources.values()):
            chosen = np.flatnonzero(owners == at)
            if len(chosen) or (at == 0 and not len(numbers)):
                batch = source.gather(numbers[chosen] - self._offsets[at])
                parts.append((chosen, self._renamed(at, batch)))
        return self._joined(parts, len(numbers))

    def _owners(self, numbers: _Numbers) -> _Numbers:
        """The source of each example."""
        return np.searchsorted(self._offsets, numbers, side="right") - 1

    def source_of(self, numbers: _Numbers) -> list[str]:
        """The names of the sources of the examples with these numbers."""
        numbers = checked_numbers("numbers", numbers, int(self._offsets[-1]))
        names = list(self._sources)
        return [names[at] for at in self._owners(numbers).tolist()]

    def _renamed(self, source: int, batch: B) -> B:
        return batch

    def _joined(self, parts: list[tuple[_Numbers, B]], count: int) -> B:
        """One batch of the rows of several, each row in its place."""
        _, first = parts[0]
        arrays = []
        for at, array in enumerate(first):
            joined = np.empty((count, *array.shape[1:]), array.dtype)
            for rows, batch in parts:
                joined[rows] = batch[at]
            arrays.append(joined)
        return type(first)(*arrays)

    def record(self, number: int) -> dict[str, npt.NDArray[np.int64]]:
        """One example for `transformers.Trainer`."""
        [number] = checked_numbers("number", [number], int(self._offsets[-1])).tolist()
        at = int(self._owners(np.array([number]))[0])
        source = list(self._sources.values())[at]
        return source.record(number - int(self._offsets[at]))

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {count:,}" for name, count in self.counts.items())
        return f"{type(self).__name__}({len(self):,} examples: {counts})"


class MixedRows(MixedExamples[PackedRows]):
    """Packed sequences of several sources, each of documents of one source.

    `document_ids` count over the documents of all sources.
    """

    _sources: dict[str, Any]

    def _renamed(self, source: int, batch: PackedRows) -> PackedRows:
        packings: list[Packing] = list(self._sources.values())
        before = sum(packing.report.documents for packing in packings[:source])
        ids = batch.document_ids
        return batch._replace(document_ids=np.where(ids < 0, ids, ids + before))

    def _joined(self, parts: list[tuple[_Numbers, PackedRows]], count: int) -> PackedRows:
        # The bounds of segments are not an array of rows: they follow from the positions.
        flat = [(rows, batch._replace(cu_seqlens=batch.ids)) for rows, batch in parts]
        joined = super()._joined(flat, count)
        starts = np.flatnonzero(joined.position_ids.ravel() == 0)
        bounds = np.append(starts, joined.position_ids.size).astype(np.int32)
        return joined._replace(cu_seqlens=bounds)


def _seed_of(seed: int | None, name: str) -> int | None:
    """The seed of a source, which does not depend on the other sources."""
    if seed is None:
        return None
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def taken_of(state: Mapping[str, Any], argument: str = "state") -> dict[str, int]:
    """The number of examples that each source of a mixture had given at a state of its loader."""
    check_kind(argument, state, Mapping, "a dict")
    try:
        sources = state["mixture"]
        counts = [checked_int("count", source["count"], 1) for source in sources.values()]
        skipped = [checked_int("skipped", source["skipped"], 0) for source in sources.values()]
        epoch = checked_int("epoch", state["epoch"], 0)
        place = checked_int("taken", state["taken"], 0)
        order = Interleaving(counts, checked_int("seed", state["seed"], 0))
        if not state["shuffle"]:
            order = Interleaving(counts, None)
        for source in sources.values():
            _ = source["of"]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ArgumentError(
            f"{argument} is not a state of a loader of a mixture, or damaged"
        ) from None
    before = order.counts_before(place).tolist()
    return {
        name: skip + epoch * count + some
        for name, skip, count, some in zip(sources, skipped, counts, before, strict=True)
    }
