"""A small GPT: token embeddings, positions of your choice, attention, one file.

Look here for what a decoder-only transformer does with the ids of a tokenizer; `train.py` trains
it. It differs from GPT-2 in that its layers have no biases, and in that positions may be learned
(GPT-2), sinusoidal (the first transformer), rotary (Llama) or linear biases (ALiBi).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from jeton import nn

POSITIONS = ("learned", "sinusoidal", "rotary", "alibi")


@dataclass(frozen=True)
class Config:
    """The shape of a model."""

    vocab_size: int
    block_size: int = 128  # tokens that a prediction sees, in training
    layers: int = 4
    heads: int = 4
    dim: int = 128  # numbers in a vector; a multiple of 2 * heads
    positions: str = "rotary"  # one of POSITIONS


class Attention(torch.nn.Module):
    """Each token gathers from those before it."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.heads
        self.into = torch.nn.Linear(config.dim, 3 * config.dim, bias=False)
        self.out = torch.nn.Linear(config.dim, config.dim, bias=False)
        head_dim = config.dim // config.heads
        self.rotary = nn.RotaryPositions(head_dim) if config.positions == "rotary" else None
        self.alibi = nn.ALiBi(config.heads) if config.positions == "alibi" else None

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

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention_norm = torch.nn.LayerNorm(config.dim, bias=False)
        self.attention = Attention(config)
        self.network_norm = torch.nn.LayerNorm(config.dim, bias=False)
        self.network = torch.nn.Sequential(
            torch.nn.Linear(config.dim, 4 * config.dim, bias=False),
            torch.nn.GELU(),
            torch.nn.Linear(4 * config.dim, config.dim, bias=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        out: Tensor = x + self.network(self.network_norm(x))
        return out


class GPT(torch.nn.Module):
    """Ids to the scores of the token that comes next.

    >>> model = GPT(Config(vocab_size=65))
    >>> logits, loss = model(torch.zeros(2, 10, dtype=torch.long))
    >>> logits.shape, loss
    (torch.Size([2, 10, 65]), None)
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.TokenEmbedding(config.vocab_size, config.dim)
        self.positions: torch.nn.Module = torch.nn.Identity()
        if config.positions == "learned":
            self.positions = nn.LearnedPositions(config.block_size, config.dim)
        elif config.positions == "sinusoidal":
            self.positions = nn.SinusoidalPositions(config.dim)
        self.blocks = torch.nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = torch.nn.LayerNorm(config.dim, bias=False)
        for name, weight in self.named_parameters():
            if name.startswith("blocks") and weight.ndim == 2:
                # What is added to the stream is smaller in deep models: GPT-2's rule.
                into_stream = name.endswith(("out.weight", "network.2.weight"))
                std = 0.02 / (2 * config.layers) ** 0.5 if into_stream else 0.02
                torch.nn.init.normal_(weight, 0.0, std)

    def forward(self, ids: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """The scores, and the mean loss in nats where targets are given; -100 is no target."""
        x = self.tokens(ids)
        if self.config.positions == "sinusoidal":
            x = x * self.config.dim**0.5  # or the sinusoids, of size 1, drown the tokens
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
        """Ids that go on from these, one at a time, without an end."""
        numbers = torch.Generator().manual_seed(0 if seed is None else seed)
        seen = list(ids)
        while True:
            window = torch.tensor([seen[-self.config.block_size :]])
            logits, _ = self(window)
            probabilities = (logits[0, -1] / temperature).softmax(-1)
            seen.append(int(torch.multinomial(probabilities, 1, generator=numbers)))
            yield seen[-1]

    def flops_per_token(self) -> int:
        """Floating-point operations to train on one token: forward and backward.

        Six for each weight that is multiplied (Kaplan et al., 2020), the output head among them
        and the look-up of embeddings not, and those of attention.
        """
        weights = sum(p.numel() for p in self.parameters() if p.ndim == 2)
        if not isinstance(self.positions, torch.nn.Identity):
            weights -= sum(p.numel() for p in self.positions.parameters())
        c = self.config
        return 6 * weights + 12 * c.layers * c.dim * c.block_size
