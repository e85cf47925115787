"""Chooses the loader for numpy arrays or for torch tensors."""

from __future__ import annotations

from typing import Any, TypeVar

from jeton.data.loader import Loader, Source
from jeton.data.tensors import checked_device

B = TypeVar("B", bound=tuple[Any, ...])


def loader_of(source: Source[B], batch_size: int, **options: Any) -> Loader[B]:
    """A loader; for tensors it is also a torch data set."""
    if options["device"] is None:
        return Loader(source, batch_size, **options)
    checked_device(options["device"])
    from jeton.data.torch_loader import TorchLoader

    return TorchLoader(source, batch_size, **options)
