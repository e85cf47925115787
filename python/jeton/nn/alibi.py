"""Positions as a penalty on distance: attention scores fall linearly, steeper in some heads.

Look here for `ALiBi`; the formula is in `reference.alibi_slopes` and `alibi_bias`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from jeton.arguments import check_kind, checked_int
from jeton.errors import ArgumentTypeError
from jeton.nn import reference


class ALiBi(torch.nn.Module):
    """Attention with linear biases: `-slope · distance` is added to each score.

    Beyond the trained length nothing changes: the penalty keeps growing, and quality falls little
    or not at all, since far tokens have little weight. It has no parameters.

    Args:
        heads: The number of heads, which need not be a power of two.

    Attributes:
        slopes: float32 of shape (heads,).

    Source: Press et al., "Train Short, Test Long: Attention with Linear Biases Enables Input Length
        Extrapolation", 2022.

    Example:
        >>> import torch
        >>> from torch.nn.functional import scaled_dot_product_attention
        >>> from jeton.nn import ALiBi
        >>> alibi = ALiBi(8)
        >>> query = key = value = torch.randn(1, 8, 16, 32)
        >>> mixed = scaled_dot_product_attention(query, key, value, attn_mask=alibi.bias(16))
        >>> mixed.shape
        torch.Size([1, 8, 16, 32])
        >>> alibi.bias(2)[0]
        tensor([[ 0.0000,    -inf],
                [-0.5000,  0.0000]])
    """

    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = checked_int("heads", heads, 1)
        self.register_buffer("slopes", self._compute_slopes(), persistent=False)

    def _compute_slopes(self) -> Tensor:
        return torch.from_numpy(reference.alibi_slopes(self.heads)).float()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> ALiBi:
        """Moves the slopes with the module, but keeps them in float32, and initialises them."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.slopes = self._compute_slopes().to(self.slopes.device)
        return self

    def bias(
        self,
        query_length: int,
        key_length: int | None = None,
        *,
        causal: bool = True,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """The bias to add to the scores before the softmax.

        Args:
            query_length: The number of queries; the last one has the position of the last key.
            key_length: The number of keys, including those of a cache; `query_length` if `None`.
            causal: Whether keys after a query get `-inf`; otherwise the penalty is the same in both
                directions.
            dtype: The type of the result; it is computed in float32.

        Returns:
            Shape (heads, query_length, key_length).

        Raises:
            ArgumentError: There are fewer keys than queries.
        """
        check_kind("causal", causal, bool, "a bool")
        if torch.compiler.is_compiling():  # lengths may be symbols
            keys = query_length if key_length is None else key_length
        else:
            query_length, keys = reference.lengths_of(query_length, key_length)
        if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
            raise ArgumentTypeError(f"dtype must be a torch.dtype of floats, not {dtype!r:.60}")
        key = torch.arange(keys, device=self.slopes.device)
        distance = key[keys - query_length :, None] - key[None, :]
        bias = -self.slopes.float()[:, None, None] * distance.abs() + 0.0
        if causal:
            bias = bias.masked_fill(distance < 0, float("-inf"))
        return bias.to(dtype)

    def score_mod(
        self, *, offset: int = 0
    ) -> Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]:
        """The function that `torch.nn.attention.flex_attention` calls with each score.

        It only adds the penalty. For causal attention pass a `block_mask` too, as in
        `flex_attention(query, key, value, score_mod=alibi.score_mod(), block_mask=causal)`.

        Args:
            offset: The position of the first query, if keys of a cache come before it.

        Returns:
            `score_mod(score, batch, head, query, key)`.

        Example:
            >>> import torch
            >>> from jeton.nn import ALiBi
            >>> batch, head, query, key = (torch.tensor(it) for it in (0, 0, 5, 3))
            >>> ALiBi(8).score_mod()(torch.tensor(4.0), batch, head, query, key)
            tensor(3.)
        """
        offset = checked_int("offset", offset, 0)
        slopes = self.slopes

        def add_penalty(
            score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor
        ) -> Tensor:
            return score - slopes[head] * (query + offset - key).abs()

        return add_penalty

    def extra_repr(self) -> str:
        """The arguments in the printed form of the module."""
        return f"{self.heads}"
