"""Positions as sines and cosines of rising wavelength: nothing to train.

Look here for `SinusoidalPositions`; the formula stands in `reference.sinusoids`.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from jeton.arguments import checked_int, one_of
from jeton.errors import ArgumentError
from jeton.nn.checks import checked_number
from jeton.nn.positions import (
    check_batch,
    check_positions,
    check_vectors,
    laid_along,
    positions_of,
)

__all__ = ["SinusoidalPositions"]


class SinusoidalPositions(torch.nn.Module):
    """Adds sines and cosines of the position.

    Beyond the trained length the numbers are defined as within it, and a model has seen none of
    them: quality falls quickly. No parameter and no table: they are computed at each call, in
    float32, for any position.

    Args:
        dim: Numbers in a vector; even.
        form: `"interleaved"` (sine, cosine, sine, cosine: the paper) or `"concatenated"` (all
            sines, then all cosines: tensor2tensor, GPT-J's table).
        base: The longest wavelength is 2π times this.

    Raises:
        ArgumentError: An odd `dim`, or another form.

    Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.5.

    Example:
        >>> import torch
        >>> from jeton.nn import SinusoidalPositions
        >>> SinusoidalPositions(4)(torch.zeros(1, 2, 4))
        tensor([[[0.0000, 1.0000, 0.0000, 1.0000],
                 [0.8415, 0.5403, 0.0100, 0.9999]]])
    """

    def __init__(
        self,
        dim: int,
        *,
        form: Literal["interleaved", "concatenated"] = "interleaved",
        base: float = 10_000.0,
    ) -> None:
        super().__init__()
        self.dim = checked_int("dim", dim, 2)
        if self.dim % 2:
            raise ArgumentError(f"dim must be even, a sine and a cosine each, not {dim}")
        one_of("form", form, ("interleaved", "concatenated"))
        self.form = form
        self.base = checked_number("base", base, above=1.0)

    def forward(self, x: Tensor, *, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """These vectors with the sinusoids of their positions added.

        Args:
            x: Floats of shape (..., length, dim); of three axes or more, the first is the batch.
            offset: The position of the first place.
            positions: The position of each token, of shape (length,) or (batch, length), instead
                of an offset.

        Returns:
            As `x` in shape and dtype.

        Raises:
            ArgumentError: Shapes that do not fit.
        """
        check_vectors("x", x, self.dim)
        places = positions_of(x.shape[-2], offset, positions, x.device)
        check_batch("x", x, places)
        return x + laid_along(x, self.table(places)).to(x.dtype)

    def table(self, positions: Tensor) -> Tensor:
        """The sinusoids of these positions: float32, of shape (*positions.shape, dim)."""
        check_positions(positions)
        exponents = torch.arange(0, self.dim, 2, device=positions.device).float() / self.dim
        angles = positions.float()[..., None] / self.base**exponents
        parts = [angles.sin(), angles.cos()]
        if self.form == "concatenated":
            return torch.cat(parts, dim=-1)
        return torch.stack(parts, dim=-1).flatten(-2)

    def extra_repr(self) -> str:
        """What stands between the brackets when the module is printed."""
        return f"{self.dim}, form={self.form!r}, base={self.base:g}"
