"""Positions as a trained table: one vector per position, as in GPT-2 and BERT.

Look here for `LearnedPositions`.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from jeton.arguments import checked_int, checked_number
from jeton.errors import ArgumentError
from jeton.nn.positions import check_batch, check_place, check_vectors, insert_axes, positions_of


class LearnedPositions(torch.nn.Module):
    """Adds a trained vector for each position.

    It ends at the trained length: a position from `max_length` on is an error.

    Args:
        max_length: The number of positions.
        dim: The size of a vector.
        std: Standard deviation of the initial numbers; 0.02 as in GPT-2.
        dtype: The type of the table; PyTorch's default if `None`.
        device: The device of the table; PyTorch's default if `None`.

    Attributes:
        weight: The table, of shape (max_length, dim).

    Source: Gehring et al., "Convolutional Sequence to Sequence Learning", 2017; Radford et al.,
        2018 (GPT).

    Example:
        >>> import torch
        >>> from jeton.nn import LearnedPositions
        >>> positions = LearnedPositions(1024, 8)
        >>> x = torch.zeros(2, 5, 8)
        >>> torch.equal(positions(x, offset=3)[0], positions.weight[3:8])
        True
    """

    def __init__(
        self,
        max_length: int,
        dim: int,
        *,
        std: float = 0.02,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.max_length = checked_int("max_length", max_length, 1)
        self.dim = checked_int("dim", dim, 1)
        self.std = checked_number("std", std, least=0.0)
        check_place(dtype, device)
        self.weight = torch.nn.Parameter(
            torch.empty(self.max_length, self.dim, dtype=dtype, device=device)
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialises the table at random."""
        torch.nn.init.normal_(self.weight, 0.0, self.std)

    def forward(self, x: Tensor, *, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """Adds the vectors of the positions.

        Args:
            x: Floats of shape (..., length, dim); with three axes or more, the first is the batch.
            offset: The position of the first vector: the number of tokens in a cache.
            positions: The position of each token, of shape (length,) or (batch, length), instead
                of an offset: for packed rows.

        Returns:
            The sum, with the shape and dtype of `x`.

        Raises:
            ArgumentError: A position is `max_length` or more, or shapes do not match.
        """
        check_vectors("x", x, self.dim)
        places = positions_of(x.shape[-2], offset, positions, self.weight.device)
        check_batch("x", x, places)
        if positions is None:
            self._check(max(offset + x.shape[-2] - 1, 0))
        elif not torch.compiler.is_compiling() and places.device.type == "cpu" and places.numel():
            least, most = (int(it) for it in torch.aminmax(places))
            self._check(least if least < 0 else most)
        return x + insert_axes(x, functional.embedding(places, self.weight)).to(x.dtype)

    def _check(self, position: int) -> None:
        if not 0 <= position < self.max_length:
            raise ArgumentError(
                f"position {position} is not among the {self.max_length} of the table, where "
                "learned positions end (SinusoidalPositions, RotaryPositions and ALiBi do not end)"
            )

    def extra_repr(self) -> str:
        """The arguments in the printed form of the module."""
        return f"{self.max_length}, {self.dim}"
