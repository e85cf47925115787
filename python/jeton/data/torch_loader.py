"""A `Loader` that returns tensors and is a data set of torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from jeton.data.loader import Loader
from jeton.data.tensors import on_device

__all__ = ["TorchLoader"]

B = TypeVar("B", bound=tuple[Any, ...])


class TorchLoader(Loader[B], IterableDataset[B]):
    """Batches of tensors, read by workers if there are any."""

    def __iter__(self) -> Iterator[B]:
        worker = get_worker_info()
        if worker is not None:
            return self._share(worker.id, worker.num_workers)
        return self._by_workers() if self._workers else self._share(0, 1)

    def _by_workers(self) -> Iterator[B]:
        epoch, before = self._epoch, self._position
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
