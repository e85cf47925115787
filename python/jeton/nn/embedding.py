"""The table of token vectors, padded to a multiple of rows, and the output head that may share it.

Look here for `TokenEmbedding`.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from jeton.arguments import check_kind, checked_int, checked_number
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.nn.positions import check_integers, check_place


class TokenEmbedding(torch.nn.Module):
    """One vector per token: converts ids to vectors, and hidden vectors to logits.

    The table has `vocab_size` rows, followed by rows of zeros up to a multiple of `multiple_of`,
    since matrices of such sizes multiply faster. The rows of padding are never read, never
    predicted and have a gradient of zero, so they stay zero.

    Args:
        vocab_size: The number of ids: `tok.vocab_size`, or `tok.vocab.max_id + 1` if ids have gaps.
        dim: The size of a vector.
        multiple_of: The number of rows is a multiple of this; 1 for no padding.
        tied: Whether `logits` multiplies by the table itself (GPT-2) or by a second table, `head`
            (Llama).
        std: Standard deviation of the initial numbers; 0.02 as in GPT-2.
        dtype: The type of the tables; PyTorch's default if `None`.
        device: The device of the tables; PyTorch's default if `None`.

    Attributes:
        weight: The table, of shape (padded_vocab_size, dim).
        head: The second table if not `tied`, else `None`.

    Raises:
        ArgumentError: A size is below 1.

    Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, for the
        initial numbers; Press and Wolf, "Using the Output Embedding", 2017, for the tied head.

    Example:
        >>> import torch
        >>> from jeton.nn import TokenEmbedding
        >>> embedding = TokenEmbedding(50_257, 8)
        >>> embedding.weight.shape
        torch.Size([50304, 8])
        >>> vectors = embedding(torch.tensor([[15496, 995]]))
        >>> vectors.shape, embedding.logits(vectors).shape
        (torch.Size([1, 2, 8]), torch.Size([1, 2, 50257]))
    """

    head: torch.nn.Parameter | None

    def __init__(
        self,
        vocab_size: int,
        dim: int,
        *,
        multiple_of: int = 64,
        tied: bool = True,
        std: float = 0.02,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = checked_int("vocab_size", vocab_size, 1)
        self.dim = checked_int("dim", dim, 1)
        multiple_of = checked_int("multiple_of", multiple_of, 1)
        check_kind("tied", tied, bool, "a bool")
        self.std = checked_number("std", std, least=0.0)
        check_place(dtype, device)
        self.padded_vocab_size = -(-self.vocab_size // multiple_of) * multiple_of
        self.weight = self._new_table(dtype, device)
        self.head = None if tied else self._new_table(dtype, device)
        self.reset_parameters()

    def _new_table(
        self, dtype: torch.dtype | None, device: torch.device | str | None
    ) -> torch.nn.Parameter:
        return torch.nn.Parameter(
            torch.empty(self.padded_vocab_size, self.dim, dtype=dtype, device=device)
        )

    def reset_parameters(self) -> None:
        """Initialises all rows at random, and those of padding with zeros."""
        with torch.no_grad():
            for table in (self.weight, self.head):
                if table is not None:
                    table[: self.vocab_size].normal_(0.0, self.std)
                    table[self.vocab_size :].zero_()

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors of these ids.

        Args:
            ids: Integers of any shape and size.

        Returns:
            Shape (*ids.shape, dim), in the dtype of the table.

        Raises:
            ArgumentError: An id has no row. This is checked on the CPU only: on an accelerator and
                in a compiled graph, PyTorch just checks that the row is in the padded table.
            ArgumentTypeError: `ids` is not a tensor of integers.
        """
        check_integers("ids", ids)
        if ids.dtype not in (torch.int32, torch.int64):  # PyTorch accepts no others
            ids = ids.to(torch.int64)
        if not torch.compiler.is_compiling():
            self._check(ids)
        return functional.embedding(ids, self.weight)

    def _check(self, ids: Tensor) -> None:
        if ids.device.type == "cpu" and ids.numel():
            least, most = (int(it) for it in torch.aminmax(ids))
            if least < 0 or most >= self.vocab_size:
                raise ArgumentError(
                    f"id {least if least < 0 else most} is not in the table: the embedding has "
                    f"{self.vocab_size} tokens, ids 0 to {self.vocab_size - 1} (a table for "
                    "another tokenizer, or a padding value such as -100 among the ids?)"
                )

    def logits(self, hidden: Tensor, *, padded: bool = False) -> Tensor:
        """The score of each token after these hidden vectors.

        Args:
            hidden: Floats of shape (..., dim), in the dtype of the table unless autocast converts.
            padded: Return the columns of padding too, filled with -inf, so that the result is
                contiguous, as fused losses on an accelerator need it.

        Returns:
            Shape (..., vocab_size), or (..., padded_vocab_size).

        Raises:
            ArgumentError: The hidden vectors have another size or dtype than the table.
            ArgumentTypeError: `hidden` is not a tensor of floats.
        """
        check_kind("padded", padded, bool, "a bool")
        if not isinstance(hidden, Tensor) or not hidden.is_floating_point():
            kind = hidden.dtype if isinstance(hidden, Tensor) else type(hidden).__name__
            raise ArgumentTypeError(f"hidden must be a tensor of floats, not {kind}")
        if hidden.shape[-1:] != (self.dim,):
            raise ArgumentError(
                f"hidden must have the shape (..., {self.dim}), like the table, not "
                f"{tuple(hidden.shape)}"
            )
        table = self.weight if self.head is None else self.head
        # Autocast converts to one dtype, but leaves float64 as it is.
        autocasts = torch.is_autocast_enabled(hidden.device.type) and torch.float64 not in (
            hidden.dtype,
            table.dtype,
        )
        if hidden.dtype != table.dtype and not autocasts:
            raise ArgumentError(
                f"hidden is {hidden.dtype} and the table {table.dtype}: convert one, or multiply "
                "under torch.autocast"
            )
        scores = functional.linear(hidden, table)
        if not padded:
            return scores[..., : self.vocab_size]
        is_padding = torch.arange(self.padded_vocab_size, device=scores.device) >= self.vocab_size
        return scores.masked_fill(is_padding, float("-inf"))

    def extra_repr(self) -> str:
        """The arguments in the printed form of the module."""
        return (
            f"{self.vocab_size}, {self.dim}, padded_vocab_size={self.padded_vocab_size}, "
            f"tied={self.head is None}"
        )
