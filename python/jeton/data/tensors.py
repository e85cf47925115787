"""Arrays as torch tensors, on the device that was asked for."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from jeton.errors import ArgumentError, UnsupportedError

__all__ = ["checked_device", "on_device"]


def checked_device(device: Any) -> Any:
    """A `torch.device`.

    Raises:
        UnsupportedError: torch is not installed.
        ArgumentError: torch knows no such device.
    """
    try:
        import torch
    except ImportError:
        raise UnsupportedError(
            "tensors are made by torch (pip install 'jeton[torch]'); leave device out for numpy"
        ) from None
    try:
        return torch.device(device)
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:
        told = str(error).split("\n")[0]
        raise ArgumentError(f"device cannot be {device!r}: {told}") from None


def on_device(array: npt.NDArray[Any], device: Any) -> Any:
    """A tensor of the same contents.

    For a GPU it goes by pinned memory and without waiting: work that is queued on the device
    afterwards sees it whole.
    """
    import torch

    tensor = torch.as_tensor(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
