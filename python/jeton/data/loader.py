"""`Loader`: batches in an order given by a seed, shared by ranks and workers, resumable anywhere.

An epoch is one order of all examples. Each step takes the next `world_size * batch_size` of them,
and rank `r` the `r`-th `batch_size` of these. The workers of a rank take its steps in turn, and
torch's `DataLoader` asks them in turn, so their number does not affect the order. A state is the
epoch, and the number of examples that all ranks have taken from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from jeton.arguments import check_kind, checked_flag, checked_int
from jeton.data.tensors import checked_device
from jeton.errors import ArgumentError

B = TypeVar("B", bound=tuple[Any, ...])
B_co = TypeVar("B_co", bound=tuple[Any, ...], covariant=True)

_AT_A_TIME = 1 << 12
"""Number of examples whose order is computed at a time."""


class Source(Protocol[B_co]):
    """Numbered examples, each of which a loader returns once per epoch."""

    def __len__(self) -> int: ...

    def settings(self) -> dict[str, Any]:
        """The settings that determine the number of each example; part of a saved state."""

    def order(
        self, places: npt.NDArray[np.int64], *, seed: int | None, epoch: int
    ) -> npt.NDArray[np.int64]:
        """The numbers of the examples at these places of an epoch; `seed=None` does not shuffle."""

    def gather(self, numbers: npt.NDArray[np.int64]) -> B_co:
        """The batch of examples with these numbers: a named tuple of arrays."""


class Loader(Generic[B]):
    """Batches of a token set or of packed sequences, every example exactly once per epoch.

    An iteration runs to the end of an epoch, from where the last one stopped; the next epoch has
    another order. With a `device` it is also a `torch.utils.data.IterableDataset`, for a
    `DataLoader` with `batch_size=None`. But workers of a `DataLoader` do not report their progress,
    and `state_dict` is an error then: pass `workers` here instead, or use torchdata's
    `StatefulDataLoader`, which asks its workers.

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
        self._shuffle = checked_flag("shuffle", shuffle)
        self._drop_last = checked_flag("drop_last", drop_last)
        self._world_size = checked_int("world_size", world_size, 1)
        self._rank = checked_int("rank", rank, 0)
        if self._rank >= self._world_size:
            raise ArgumentError(
                f"rank is {rank}, but ranks run from 0 to world_size - 1, {self._world_size - 1}"
            )
        self._workers = checked_int("workers", workers, 0)
        if workers and device is None:
            raise ArgumentError('workers return tensors: pass device="cpu" too, or no workers')
        self._device = None if device is None else checked_device(device)
        self._epoch = self._position = 0
        if drop_last and not len(self):
            raise ArgumentError(
                f"{len(source):,} examples do not fill a batch of {self._batch_size:,} on each of "
                f"{self._world_size:,} ranks, so with drop_last there is no batch"
            )

    @property
    def epoch(self) -> int:
        """The number of the next batch's epoch, from 0."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Moves to the start of an epoch."""
        self._epoch, self._position = checked_int("epoch", epoch, 0), 0

    def __len__(self) -> int:
        """The number of batches of a whole epoch on this rank."""
        return self._steps(0)

    def __iter__(self) -> Iterator[B]:
        return self._share(0, 1)

    def state_dict(self) -> dict[str, Any]:
        """The position of the next batch, as a dict for JSON or `torch.save`; it is the same on all
        ranks that have taken the same number of batches."""
        return {
            **self._settings(),
            "epoch": self._epoch,
            "taken": self._position,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resumes with the next batch after a state.

        The number of workers, the number of ranks and the size of batches may have changed: the
        rest of the epoch is distributed again.

        Raises:
            ArgumentError: The state is of another set, seed or window, or not a state.
        """
        check_kind("state", state, Mapping, "a dict")
        for name, value in self._settings().items():
            if name not in state:
                raise ArgumentError(f"the state has no {name!r}; it is not one of this loader")
            if state[name] != value:
                raise ArgumentError(
                    f"the state was saved with {name}={state[name]!r}, but here it is {value!r}; "
                    "the order is not the same"
                )
        epoch = checked_int("epoch of the state", state.get("epoch"), 0)
        position = checked_int("taken of the state", state.get("taken"), 0)
        if position >= len(self._source):
            raise ArgumentError(
                f"the state has taken {position:,} examples of {len(self._source):,}; it is damaged"
            )
        self._epoch, self._position = epoch, position

    def _settings(self) -> dict[str, Any]:
        return {**self._source.settings(), "seed": self._seed, "shuffle": self._shuffle}

    def _share(self, worker: int, workers: int) -> Iterator[B]:
        """The batches of worker `worker` of `workers`, from here to the end of the epoch."""
        epoch, before = self._epoch, self._position
        numbers = range(worker, self._steps(before), workers)
        for number, examples in self._examples(epoch, before, numbers):
            batch = self._in_form(self._source.gather(examples))
            # So that this worker resumes with its next batch.
            self._advance(epoch, before, number - worker + workers)
            yield batch
        if self._epoch == epoch:
            self.set_epoch(epoch + 1)

    def _advance(self, epoch: int, before: int, steps: int) -> None:
        """Moves to `steps` steps after `before`; at the end of the epoch, to the next one."""
        step = self._world_size * self._batch_size
        self._epoch, self._position = epoch, before + steps * step
        if len(self._source) - self._position < (step if self._drop_last else 1):
            self.set_epoch(epoch + 1)

    def _in_form(self, batch: B) -> B:
        """A batch in the form that the caller wants: arrays here, tensors in a subclass."""
        return batch

    def _steps(self, position: int) -> int:
        """The number of batches of this rank after `taken` examples of an epoch."""
        whole, rest = divmod(len(self._source) - position, self._world_size * self._batch_size)
        first, last = self._split(rest)
        return whole + (last > first and not self._drop_last)

    def _split(self, rest: int) -> tuple[int, int]:
        """The range of this rank among the examples that do not fill a step."""
        return rest * self._rank // self._world_size, rest * (self._rank + 1) // self._world_size

    def _examples(
        self, epoch: int, position: int, numbers: range
    ) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """The numbers of the examples of these batches."""
        many = max(1, _AT_A_TIME // self._batch_size)
        for at in range(0, len(numbers), many):
            places = [self._places(position, number) for number in numbers[at : at + many]]
            seed = self._seed if self._shuffle else None
            order = self._source.order(np.concatenate(places), seed=seed, epoch=epoch)
            ends = np.cumsum([len(some) for some in places])
            yield from zip(numbers[at : at + many], np.split(order, ends[:-1]), strict=True)

    def _places(self, position: int, number: int) -> npt.NDArray[np.int64]:
        """The places of a batch in the order of an epoch."""
        first = position + number * self._world_size * self._batch_size
        rest = len(self._source) - first
        if rest >= self._world_size * self._batch_size:
            first += self._rank * self._batch_size
            return np.arange(first, first + self._batch_size)
        begin, end = self._split(rest)
        return np.arange(first + begin, first + end)
