"""`Examples`: numbered training examples, by index, in batches, or for the trainer of transformers.

The windows of a token set, packed sequences and mixtures of both are examples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from jeton.arguments import checked_int, checked_numbers, index_of
from jeton.data.loader import Loader
from jeton.data.order import shuffled
from jeton.data.tensors import checked_device
from jeton.errors import ArgumentTypeError
from jeton.results.datasets import dataset_of

B = TypeVar("B", bound=tuple[Any, ...])


class Examples(ABC, Generic[B]):
    """Numbered examples, each a named tuple of arrays.

    A data set in the style of maps, as `torch.utils.data.DataLoader` takes one: `len(examples)`,
    `examples[i]`.

    Example:
        >>> import numpy as np, tempfile
        >>> from jeton.data import TokenDataset, layouts
        >>> folder = tempfile.mkdtemp()
        >>> with layouts.create("jeton", folder, dtype="uint16") as writer:
        ...     writer.append(np.arange(10), np.array([10]))
        ...     _ = writer.finish()
        >>> windows = TokenDataset(folder).windows(4)
        >>> len(windows), windows[1].x.tolist(), windows[1].y.tolist()
        (2, [4, 5, 6, 7], [5, 6, 7, 8])
        >>> windows[:].x.shape, windows.as_transformers()[0]["labels"].tolist()
        ((2, 4), [-100, 1, 2, 3])
    """

    seed = 0
    """The seed of a loader that is given none."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of examples of an epoch."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The settings that determine the number of each example; part of a saved state."""

    @abstractmethod
    def gather(self, numbers: npt.NDArray[np.int64]) -> B:
        """The batch of the examples with these numbers, in any order."""

    @abstractmethod
    def record(self, number: int) -> dict[str, npt.NDArray[np.int64]]:
        """An example as `transformers.Trainer` takes it: see `as_transformers`."""

    def order(
        self, places: npt.NDArray[np.int64], *, seed: int | None, epoch: int
    ) -> npt.NDArray[np.int64]:
        """The numbers of the examples at these places of an epoch, which `seed` shuffles."""
        places = checked_numbers("places", places, len(self))
        if seed is None:
            return places
        seed, epoch = checked_int("seed", seed, 0), checked_int("epoch", epoch, 0)
        return shuffled(places, len(self), seed, epoch)

    def numbers_of(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The numbers of the examples that `examples[place]` returns."""
        return self.order(places, seed=None, epoch=0)

    @overload
    def __getitem__(self, place: int) -> B: ...
    @overload
    def __getitem__(self, place: slice) -> B: ...
    def __getitem__(self, place: int | slice) -> B:
        """An example, whose arrays have one axis; or a slice of them as a batch."""
        if isinstance(place, slice):
            return self.gather(self.numbers_of(np.arange(*place.indices(len(self)))))
        batch = self.gather(self.numbers_of(np.array([self._checked(place)])))
        return type(batch)(*(array if _is_flat(array) else array[0] for array in batch))

    def _checked(self, place: object) -> int:
        at = index_of(place)
        if at is None:
            raise ArgumentTypeError(
                f"an index must be an int or a slice, not {type(place).__name__}"
            )
        if not -len(self) <= at < len(self):
            raise IndexError(f"there is no example {at} among {len(self):,}")
        return at % len(self)

    def __iter__(self) -> Iterator[B]:
        return (self[place] for place in range(len(self)))

    def as_transformers(self) -> TrainerRecords:
        """The examples as dicts for `transformers.Trainer`: `input_ids`, and as `labels` the same
        ids, since its models shift labels themselves; or -100 where nothing is learnt, as at the
        beginning."""
        return TrainerRecords(self)

    def to_datasets(self) -> Any:
        """The records of `as_transformers` as a `datasets.Dataset`, for trainers that take one.

        Each of their fields is a column of lists. They are copied into memory: for large sets write
        the layout `parquet`, which `datasets` maps into memory.

        Raises:
            UnsupportedError: `datasets` is not installed.
        """
        records = self.as_transformers()
        rows = [records[at] for at in range(len(records))]
        return dataset_of({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})

    def loader(
        self,
        batch_size: int,
        *,
        seed: int | None = None,
        shuffle: bool = True,
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = False,
        workers: int = 0,
        device: object = None,
    ) -> Loader[B]:
        """Batches of the examples, each exactly once per epoch: see `TokenDataset.loader`."""
        kind: type[Loader[B]] = Loader
        if device is not None:
            checked_device(device)
            from jeton.data.torch_loader import TorchLoader

            kind = TorchLoader
        return kind(
            self,
            batch_size,
            seed=self.seed if seed is None else seed,
            shuffle=shuffle,
            rank=rank,
            world_size=world_size,
            drop_last=drop_last,
            workers=workers,
            device=device,
        )


def _is_flat(array: Any) -> bool:
    return bool(array.ndim == 1)


class TrainerRecords:
    """Examples as dicts of arrays: a data set that `transformers.Trainer` takes."""

    def __init__(self, examples: Examples[Any]) -> None:
        self._examples = examples

    def __len__(self) -> int:
        return len(self._examples)

    def __getitem__(self, place: int) -> dict[str, npt.NDArray[np.int64]]:
        at = self._examples._checked(place)
        return self._examples.record(int(self._examples.numbers_of(np.array([at]))[0]))
