"""Arrays as torch tensors on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from jeton.errors import ArgumentError, UnsupportedError


def checked_device(device: Any) -> Any:
    """A `torch.device`."""
    try:
        import torch
    except ImportError:
        raise UnsupportedError(
            "tensors need torch (pip install 'jeton[torch]'); leave device out for numpy"
        ) from None
    try:
        return torch.device(device)
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:
        reason = str(error).split("\n")[0]
        raise ArgumentError(f"device cannot be {device!r}: {reason}") from None


def on_device(array: npt.NDArray[np.integer], device: Any) -> Any:
    """A tensor with the same contents.

    To a GPU it is copied from pinned memory without waiting; work queued on the device afterwards
    sees the complete tensor.
    """
    import torch

    tensor = torch.as_tensor(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
