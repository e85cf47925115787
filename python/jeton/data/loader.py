"""`Loader`: batches in an order by seed, shared by ranks and workers, and resumed anywhere.

An epoch is one order of all examples. Of what is left of it, step `k` takes the next
`world_size * batch_size`, and rank `r` of them the `r`-th `batch_size`. Workers of a rank take
its steps in turns, and torch's `DataLoader` asks them in turns, so their number does not show. A
state is the epoch, and how many examples all ranks have taken of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from jeton.arguments import checked_int
from jeton.data.arguments import checked_bool
from jeton.data.order import shuffled
from jeton.data.tensors import checked_device
from jeton.errors import ArgumentError, ArgumentTypeError

__all__ = ["Loader", "Source"]

B = TypeVar("B", bound=tuple[Any, ...])
B_co = TypeVar("B_co", bound=tuple[Any, ...], covariant=True)

_AT_A_TIME = 1 << 12
"""Of how many examples the order is found at a time."""


class Source(Protocol[B_co]):
    """Examples, each of which a loader gives once an epoch: they are counted, and have numbers."""

    def __len__(self) -> int: ...

    def settings(self) -> dict[str, Any]:
        """What decides which example has which number; part of a saved state."""

    def gather(self, numbers: npt.NDArray[np.int64]) -> B_co:
        """The batch of some examples: a named tuple of arrays."""


class Loader(Generic[B]):
    """Batches of a token set or of packed rows, every example exactly once an epoch.

    An iteration goes up to the end of an epoch, from where the last one stopped; the next epoch
    has another order. With a `device` it is a `torch.utils.data.IterableDataset` as well, to be
    given to a `DataLoader` with `batch_size=None`. Then only workers know how far they are:
    rather give `workers` here, so that `state_dict` counts what was taken.

    Example:
        >>> import numpy as np, tempfile
        >>> from jeton.data import TokenDataset, layouts
        >>> folder = tempfile.mkdtemp()
        >>> with layouts.create("jeton", folder, dtype="uint16") as writer:
        ...     writer.append(np.arange(25), np.array([25]))
        ...     _ = writer.finish()
        >>> loader = TokenDataset(folder).loader(batch_size=2, block_size=4, seed=1)
        >>> len(loader)
        3
        >>> batches = iter(loader)
        >>> first = next(batches)
        >>> state = loader.state_dict()
        >>> rest = [x.tolist() for x, y in batches]
        >>> again = TokenDataset(folder).loader(batch_size=2, block_size=4, seed=1)
        >>> again.load_state_dict(state)
        >>> [x.tolist() for x, y in again] == rest
        True
    """

    def __init__(
        self,
        source: Source[B],
        batch_size: int,
        *,
        seed: int,
        shuffle: bool,
        rank: int,
        world_size: int,
        drop_last: bool,
        workers: int,
        device: object,
    ) -> None:
        self._source = source
        self._batch_size = checked_int("batch_size", batch_size, 1)
        self._seed = checked_int("seed", seed, 0)
        self._shuffle = checked_bool("shuffle", shuffle)
        self._drop_last = checked_bool("drop_last", drop_last)
        self._world_size = checked_int("world_size", world_size, 1)
        self._rank = checked_int("rank", rank, 0)
        if self._rank >= self._world_size:
            raise ArgumentError(
                f"rank is {rank}, but ranks run from 0 to world_size - 1, {self._world_size - 1}"
            )
        self._workers = checked_int("workers", workers, 0)
        if workers and device is None:
            raise ArgumentError('workers give tensors: give device="cpu" too, or leave workers out')
        self._device = None if device is None else checked_device(device)
        self._epoch = self._taken = 0
        if drop_last and not len(self):
            raise ArgumentError(
                f"{len(source):,} examples do not fill a batch of {self._batch_size:,} on each of "
                f"{self._world_size:,} ranks: with drop_last none is left"
            )

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next batch is of, from 0 on."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Goes to the start of an epoch."""
        self._epoch, self._taken = checked_int("epoch", epoch, 0), 0

    def __len__(self) -> int:
        """How many batches a whole epoch has on this rank."""
        return self._steps(0)

    def __iter__(self) -> Iterator[B]:
        return self._share(0, 1)

    def state_dict(self) -> dict[str, Any]:
        """Where the next batch comes from, as a dict for JSON or `torch.save`; it is the same on
        all ranks that have taken equally many batches."""
        return {
            **self._settings(),
            "epoch": self._epoch,
            "taken": self._taken,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on with the very next batch after a state.

        The number of workers, of ranks and the size of batches may have changed: what is left of
        the epoch is shared anew.

        Raises:
            ArgumentError: The state is of another set, seed or window, or no state at all.
        """
        if not isinstance(state, Mapping):
            raise ArgumentTypeError(f"state must be a dict, not {type(state).__name__}")
        for name, value in self._settings().items():
            if name not in state:
                raise ArgumentError(f"the state has no {name!r}; it is not one of this loader")
            if state[name] != value:
                raise ArgumentError(
                    f"the state was saved with {name}={state[name]!r}, but here it is {value!r}; "
                    "the order is not the same"
                )
        epoch = checked_int("epoch of the state", state.get("epoch"), 0)
        taken = checked_int("taken of the state", state.get("taken"), 0)
        if taken >= len(self._source):
            raise ArgumentError(
                f"the state has taken {taken:,} examples of {len(self._source):,}; it is damaged"
            )
        self._epoch, self._taken = epoch, taken

    def _settings(self) -> dict[str, Any]:
        return {**self._source.settings(), "seed": self._seed, "shuffle": self._shuffle}

    def _share(self, worker: int, workers: int) -> Iterator[B]:
        """The batches of one of some workers, from where this loader is up to the epoch's end."""
        epoch, before = self._epoch, self._taken
        numbers = range(worker, self._steps(before), workers)
        for number, examples in self._examples(epoch, before, numbers):
            batch = self._in_form(self._source.gather(examples))
            # Such that this very worker goes on with its next batch.
            self._advance(epoch, before, number - worker + workers)
            yield batch
        if self._epoch == epoch:
            self.set_epoch(epoch + 1)

    def _advance(self, epoch: int, before: int, steps: int) -> None:
        """Goes to so many steps after `before`, and to the next epoch if no rank has one left."""
        step = self._world_size * self._batch_size
        self._epoch, self._taken = epoch, before + steps * step
        if len(self._source) - self._taken < (step if self._drop_last else 1):
            self.set_epoch(epoch + 1)

    def _in_form(self, batch: B) -> B:
        """A batch in the form that is asked for."""
        return batch

    def _steps(self, taken: int) -> int:
        """How many batches this rank has after so many examples of an epoch."""
        whole, rest = divmod(len(self._source) - taken, self._world_size * self._batch_size)
        first, last = self._split(rest)
        return whole + (last > first and not self._drop_last)

    def _split(self, rest: int) -> tuple[int, int]:
        """Which of the examples that do not fill a step this rank has."""
        return rest * self._rank // self._world_size, rest * (self._rank + 1) // self._world_size

    def _examples(
        self, epoch: int, taken: int, numbers: range
    ) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """The numbers of the examples of some batches."""
        many = max(1, _AT_A_TIME // self._batch_size)
        for at in range(0, len(numbers), many):
            places = [self._places(taken, number) for number in numbers[at : at + many]]
            order = np.concatenate(places)
            if self._shuffle:
                order = shuffled(order, len(self._source), self._seed, epoch)
            ends = np.cumsum([len(some) for some in places])
            yield from zip(numbers[at : at + many], np.split(order, ends[:-1]), strict=True)

    def _places(self, taken: int, number: int) -> npt.NDArray[np.int64]:
        """Which places in the order of an epoch a batch takes."""
        first = taken + number * self._world_size * self._batch_size
        rest = len(self._source) - first
        if rest >= self._world_size * self._batch_size:
            first += self._rank * self._batch_size
            return np.arange(first, first + self._batch_size)
        begin, end = self._split(rest)
        return np.arange(first + begin, first + end)
