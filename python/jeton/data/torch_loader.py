"""A `Loader` that returns tensors and is a data set of torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from jeton.data.loader import Loader
from jeton.data.tensors import on_device
from jeton.errors import UnsupportedError

B = TypeVar("B", bound=tuple[Any, ...])


class TorchLoader(Loader[B], IterableDataset[B]):
    """Batches of tensors, read by workers if there are any."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        #: Whether workers of another's `DataLoader` read, which this process is not told otherwise.
        shared: Any = torch.zeros(1, dtype=torch.bool)
        self._is_read_elsewhere: torch.Tensor = shared.share_memory_()
        self._has_own_workers = False

    def __iter__(self) -> Iterator[B]:
        worker = get_worker_info()
        if worker is not None:
            if not self._has_own_workers:
                self._is_read_elsewhere[0] = True
            return self._share(worker.id, worker.num_workers)
        self._is_read_elsewhere[0] = False
        return self._by_workers() if self._workers else self._share(0, 1)

    def state_dict(self) -> dict[str, Any]:
        """As `Loader.state_dict`.

        Raises:
            UnsupportedError: Workers of a `DataLoader` read the batches, and know the position.
        """
        if get_worker_info() is None and self._is_read_elsewhere.item():
            raise UnsupportedError(
                "workers of a DataLoader read these batches, and do not tell the position (pass "
                "workers= to loader() and iterate it without a DataLoader, or use torchdata's "
                "StatefulDataLoader and its state_dict)"
            )
        return super().state_dict()

    def _by_workers(self) -> Iterator[B]:
        epoch, before = self._epoch, self._position
        self._has_own_workers = True
        batches = DataLoader(self, batch_size=None, num_workers=self._workers)
        for number, batch in enumerate(batches, start=1):
            self._advance(epoch, before, number)
            yield self._moved(batch)
        if self._epoch == epoch:
            self.set_epoch(epoch + 1)

    def _in_form(self, batch: B) -> B:
        if get_worker_info() is None:
            return self._moved(batch)
        # A worker has no device; its tensors go to the main process in shared memory.
        return self._mapped(batch, torch.as_tensor)

    def _moved(self, batch: B) -> B:
        return self._mapped(batch, lambda array: on_device(array, self._device))

    def _mapped(self, batch: B, change: Any) -> B:
        return type(batch)(*map(change, batch))
