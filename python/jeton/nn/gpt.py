"""A small GPT: token embeddings, positions of your choice, attention, in one file.

Look here for what a decoder-only transformer does with the ids of a tokenizer. It differs from
GPT-2 in that its layers have no biases, and in that positions may be learned (GPT-2), sinusoidal
(the first transformer), rotary (Llama) or linear biases (ALiBi).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from jeton.arguments import check_kind, checked_int, checked_number, one_of
from jeton.errors import ArgumentError
from jeton.nn.alibi import ALiBi
from jeton.nn.embedding import TokenEmbedding
from jeton.nn.learned import LearnedPositions
from jeton.nn.positions import check_integers
from jeton.nn.rotary import RotaryPositions
from jeton.nn.sinusoidal import SinusoidalPositions

POSITIONS: Final = ("learned", "sinusoidal", "rotary", "alibi")
"""The kinds of positions that a `GPT` can have."""


@dataclass(frozen=True)
class GPTConfig:
    """The shape of a `GPT`.

    Attributes:
        vocab_size: The number of ids: `tok.vocab.max_id + 1`.
        context: Maximum tokens that a prediction sees in training.
        depth: Layers.
        heads: Attention heads per layer.
        width: Numbers in a vector; a multiple of 2 · heads.
        positions: One of `POSITIONS`.

    Raises:
        ArgumentTypeError, ArgumentError: A size is not an int of at least 1, the width is not a
            multiple of 2 · heads, or there are no such positions.

    Example:
        >>> from jeton.nn import GPTConfig
        >>> GPTConfig(vocab_size=4000, width=64).depth
        4
    """

    vocab_size: int
    context: int = 128
    depth: int = 4
    heads: int = 4
    width: int = 128
    positions: str = "rotary"

    def __post_init__(self) -> None:
        for name in ("vocab_size", "context", "depth", "heads", "width"):
            checked_int(name, getattr(self, name), 1)
        if self.width % (2 * self.heads):
            raise ArgumentError(
                f"width must be a multiple of 2 · heads, {2 * self.heads:,}, not {self.width:,}"
            )
        one_of("positions", self.positions, POSITIONS)


class Attention(torch.nn.Module):
    """Each token gathers from those before it."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.into = torch.nn.Linear(config.width, 3 * config.width, bias=False)
        self.out = torch.nn.Linear(config.width, config.width, bias=False)
        head_dim = config.width // config.heads
        self.rotary = RotaryPositions(head_dim) if config.positions == "rotary" else None
        self.alibi = ALiBi(config.heads) if config.positions == "alibi" else None

    def forward(self, x: Tensor) -> Tensor:  # (batch, length, dim), in and out
        batch, length, dim = x.shape
        query, key, value = (
            part.view(batch, length, self.heads, dim // self.heads).transpose(1, 2)
            for part in self.into(x).chunk(3, dim=-1)
        )  # each (batch, heads, length, head_dim)
        if self.rotary is not None:
            query, key = self.rotary(query, key)
        bias = None if self.alibi is None else self.alibi.bias(length, dtype=x.dtype)
        mixed = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=bias, is_causal=bias is None
        )
        out: Tensor = self.out(mixed.transpose(1, 2).reshape(batch, length, dim))
        return out


class Block(torch.nn.Module):
    """Attention, then a small network for each token by itself; both are added to what was."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.attention_norm = torch.nn.LayerNorm(config.width, bias=False)
        self.attention = Attention(config)
        self.network_norm = torch.nn.LayerNorm(config.width, bias=False)
        self.network = torch.nn.Sequential(
            torch.nn.Linear(config.width, 4 * config.width, bias=False),
            torch.nn.GELU(),
            torch.nn.Linear(4 * config.width, config.width, bias=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        out: Tensor = x + self.network(self.network_norm(x))
        return out


class GPT(torch.nn.Module):
    """Ids to the scores of the token that comes next.

    Args:
        config: The shape.

    Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.

    Example:
        >>> import torch
        >>> from jeton.nn import GPT, GPTConfig
        >>> model = GPT(GPTConfig(vocab_size=65))
        >>> logits, loss = model(torch.zeros(2, 10, dtype=torch.long))
        >>> logits.shape, loss
        (torch.Size([2, 10, 65]), None)
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        check_kind("config", config, GPTConfig, "a GPTConfig")
        self.config = config
        self.tokens = TokenEmbedding(config.vocab_size, config.width)
        self.positions: torch.nn.Module = torch.nn.Identity()
        if config.positions == "learned":
            self.positions = LearnedPositions(config.context, config.width)
        elif config.positions == "sinusoidal":
            self.positions = SinusoidalPositions(config.width)
        self.blocks = torch.nn.ModuleList(Block(config) for _ in range(config.depth))
        self.norm = torch.nn.LayerNorm(config.width, bias=False)
        for name, weight in self.named_parameters():
            if name.startswith("blocks") and weight.ndim == 2:
                # What is added to the stream is smaller in deep models: GPT-2's rule.
                into_stream = name.endswith(("out.weight", "network.2.weight"))
                std = 0.02 / (2 * config.depth) ** 0.5 if into_stream else 0.02
                torch.nn.init.normal_(weight, 0.0, std)

    def forward(self, ids: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """The scores, and the mean loss where targets are given.

        Args:
            ids: Of shape (batch, length).
            targets: The id that comes next at each place; -100 for none.

        Returns:
            Scores of shape (batch, length, vocab_size), and the loss in nats or `None`.

        Raises:
            ArgumentError, ArgumentTypeError: An argument is no tensor of ids of that shape.
        """
        check_integers("ids", ids)
        if ids.ndim != 2:
            raise ArgumentError(f"ids must be of shape (batch, length), not {tuple(ids.shape)}")
        if targets is not None:
            check_integers("targets", targets)
            if targets.shape != ids.shape:
                shapes = f"{tuple(targets.shape)} and not {tuple(ids.shape)}"
                raise ArgumentError(f"targets must have the shape of ids; they have {shapes}")
        x = self.tokens(ids)
        if self.config.positions == "sinusoidal":
            x = x * self.config.width**0.5  # or the sinusoids, of size 1, drown the tokens
        x = self.positions(x)
        for block in self.blocks:
            x = block(x)
        logits = self.tokens.logits(self.norm(x))
        if targets is None:
            return logits, None
        return logits, functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def sample(
        self, ids: list[int], *, temperature: float = 0.8, seed: int | None = None
    ) -> Iterator[int]:
        """Ids that go on from these, one at a time, without an end.

        Args:
            ids: At least one id to go on from.
            temperature: Scores are divided by it: less than 1 prefers likely tokens.
            seed: The seed; `None` is 0.

        Raises:
            ArgumentError, ArgumentTypeError: There is no id, an id is not in the table, or the
                temperature is not above 0.
        """
        checked_number("temperature", temperature)
        numbers = torch.Generator().manual_seed(0 if seed is None else seed)
        seen = list(ids)
        if not seen:
            raise ArgumentError("ids is empty: give at least one id to go on from")
        while True:
            window = torch.tensor([seen[-self.config.context :]], device=self.tokens.weight.device)
            logits, _ = self(window)
            probabilities = (logits[0, -1].cpu() / temperature).softmax(-1)
            seen.append(int(torch.multinomial(probabilities, 1, generator=numbers)))
            yield seen[-1]

    def parameter_groups(self, weight_decay: float) -> list[dict[str, object]]:
        """The parameters for an optimizer: weights decay, those of norms do not."""
        checked_number("weight_decay", weight_decay, least=0.0)
        weights = [it for it in self.parameters() if it.ndim == 2]
        norms = [it for it in self.parameters() if it.ndim != 2]
        return [
            {"params": weights, "weight_decay": weight_decay},
            {"params": norms, "weight_decay": 0.0},
        ]

    def flops_per_token(self) -> int:
        """Floating-point operations to train on one token: forward and backward.

        Six for each weight that is multiplied (Kaplan et al., 2020), the output head among them
        and the look-up of embeddings not, and those of attention.
        """
        weights = sum(p.numel() for p in self.parameters() if p.ndim == 2)
        if not isinstance(self.positions, torch.nn.Identity):
            weights -= sum(p.numel() for p in self.positions.parameters())
        c = self.config
        return 6 * weights + 12 * c.depth * c.width * c.context
