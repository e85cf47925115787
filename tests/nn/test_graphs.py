"""Every module in one graph: `torch.compile(fullgraph=True)`, `torch.export`, `flex_attention`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from jeton import nn
from jeton.errors import ArgumentError

pytestmark = pytest.mark.large


class Rotated(torch.nn.Module):
    """Queries and keys by one input."""

    def __init__(self, rotary: nn.RotaryPositions, **options: Any) -> None:
        super().__init__()
        self.rotary, self.options = rotary, options

    def forward(self, x: Any) -> Any:
        query, key = self.rotary(x, x[:, :1], **self.options)
        return query + key


class Logits(torch.nn.Module):
    """From ids to vectors and back."""

    def __init__(self, *, tied: bool, padded: bool) -> None:
        super().__init__()
        self.tokens, self.padded = nn.TokenEmbedding(100, 16, tied=tied), padded

    def forward(self, ids: Any) -> Any:
        return self.tokens.logits(self.tokens(ids), padded=self.padded)


class Added(torch.nn.Module):
    """Positions by an offset, and by token."""

    def __init__(self, positions: torch.nn.Module) -> None:
        super().__init__()
        self.positions = positions

    def forward(self, x: Any) -> Any:
        places = torch.arange(x.shape[-2]) % 3
        return self.positions(x, offset=3) + self.positions(x, positions=places)


class Biased(torch.nn.Module):
    """Attention under linear biases."""

    def __init__(self, *, causal: bool) -> None:
        super().__init__()
        self.alibi, self.causal = nn.ALiBi(6), causal

    def forward(self, x: Any) -> Any:
        bias = self.alibi.bias(x.shape[-2], causal=self.causal)
        return torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=bias)


def ids() -> torch.Tensor:
    return torch.arange(20).reshape(2, 10) * 5 % 100


def vectors() -> torch.Tensor:
    return torch.randn(2, 10, 16)


def heads() -> torch.Tensor:
    return torch.randn(2, 6, 10, 16)


def rotated(scaling: Any = None, **options: Any) -> Callable[[], torch.nn.Module]:
    return lambda: Rotated(nn.RotaryPositions(16, scaling=scaling, **options))


MODULES: dict[str, tuple[Callable[[], torch.nn.Module], Callable[[], torch.Tensor]]] = {
    "TokenEmbedding": (lambda: nn.TokenEmbedding(100, 16), ids),
    "logits, tied": (lambda: Logits(tied=True, padded=False), ids),
    "logits, untied and padded": (lambda: Logits(tied=False, padded=True), ids),
    "LearnedPositions": (lambda: Added(nn.LearnedPositions(64, 16)), vectors),
    "SinusoidalPositions": (lambda: Added(nn.SinusoidalPositions(16)), vectors),
    "SinusoidalPositions, concatenated": (
        lambda: Added(nn.SinusoidalPositions(16, form="concatenated")),
        vectors,
    ),
    "RotaryPositions": (rotated(), heads),
    "RotaryPositions, neighbours, partial": (rotated(pairing="neighbours", rotary_dim=8), heads),
    "RotaryPositions, packed": (
        lambda: Rotated(nn.RotaryPositions(16), positions=torch.arange(20).reshape(2, 10) % 4),
        heads,
    ),
    "RotaryPositions, linear": (rotated(nn.LinearScaling(2.0)), heads),
    "RotaryPositions, dynamic": (rotated(nn.DynamicNTKScaling(2.0, 4)), heads),
    "RotaryPositions, YaRN": (rotated(nn.YaRNScaling(2.0, 32)), heads),
    "RotaryPositions, Llama 3": (rotated(nn.Llama3Scaling(8.0, 8192)), heads),
    "ALiBi, causal": (lambda: Biased(causal=True), heads),
    "ALiBi, both ways": (lambda: Biased(causal=False), heads),
}


@pytest.mark.parametrize("make, example", MODULES.values(), ids=MODULES.keys())
def test_compiles_without_a_break(make: Any, example: Any) -> None:
    module, given = make().eval(), example()
    compiled: Any = torch.compile(module, fullgraph=True, backend="aot_eager")
    # The same operations in the same order: the same numbers.
    assert torch.equal(compiled(given), module(given))


@pytest.mark.parametrize("make, example", MODULES.values(), ids=MODULES.keys())
def test_exports(make: Any, example: Any) -> None:
    module, given = make().eval(), example()
    exported = torch.export.export(module, (given,), strict=True)
    assert torch.equal(exported.module()(given), module(given))


class Decoding(torch.nn.Module):
    """One token after another, with a cache."""

    def __init__(self, positions: torch.nn.Module) -> None:
        super().__init__()
        self.positions = positions

    def forward(self, x: Any, offset: int) -> Any:
        if isinstance(self.positions, nn.RotaryPositions):
            return torch.cat(self.positions(x, x, offset=offset))
        return self.positions(x, offset=offset)


POSITIONS: dict[str, Callable[[], torch.nn.Module]] = {
    "learned": lambda: nn.LearnedPositions(64, 16),
    "sinusoidal": lambda: nn.SinusoidalPositions(16),
    "rotary": lambda: nn.RotaryPositions(16),
    "linear": lambda: nn.RotaryPositions(16, scaling=nn.LinearScaling(2.0)),
    "dynamic": lambda: nn.RotaryPositions(16, scaling=nn.DynamicNTKScaling(2.0, 4)),
    "YaRN": lambda: nn.RotaryPositions(16, scaling=nn.YaRNScaling(2.0, 32)),
    "Llama 3": lambda: nn.RotaryPositions(16, scaling=nn.Llama3Scaling(8.0, 8192)),
}


class Counted:
    """A backend that counts the graphs that it is given."""

    def __init__(self) -> None:
        self.graphs = 0

    def __call__(self, graph: Any, inputs: Any) -> Any:
        self.graphs += 1
        return graph.forward


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch.compiler.reset()


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("make", POSITIONS.values(), ids=POSITIONS.keys())
def test_few_graphs_hold_for_every_offset_and_length(make: Any, dynamic: bool | None) -> None:
    module, backend = Decoding(make()).eval(), Counted()
    compiled: Any = torch.compile(module, fullgraph=True, backend=backend, dynamic=dynamic)
    for offset in range(12):
        x = torch.randn(1, 2, 1, 16)
        torch.testing.assert_close(compiled(x, offset), module(x, offset), atol=1e-6, rtol=1e-6)
    # PyTorch has graphs of their own for 0 and 1, and one for all else.
    assert backend.graphs <= 3
    for length in range(2, 30):
        x = torch.randn(1, 2, length, 16)
        torch.testing.assert_close(compiled(x, 0), module(x, 0), atol=1e-6, rtol=1e-6)
    assert backend.graphs <= 6


@pytest.mark.parametrize("dynamic", [None, True])
def test_modules_that_differ_in_numbers_compile(dynamic: bool | None) -> None:
    """PyTorch makes a number that differs between two modules a symbol."""
    families: list[list[torch.nn.Module]] = [
        [nn.RotaryPositions(16, scaling=nn.YaRNScaling(f, 64)) for f in (2.0, 4.0, 8.0)],
        [nn.RotaryPositions(16, scaling=nn.DynamicNTKScaling(f, 8)) for f in (2.0, 4.0, 8.0)],
        [nn.RotaryPositions(16, base=b) for b in (1e4, 2e4, 5e5)],
        [nn.SinusoidalPositions(16, base=b) for b in (1e4, 2e4, 5e5)],
    ]
    x = torch.randn(1, 1, 12, 16)
    for family in families:
        for positions in family:
            module = Decoding(positions).eval()
            compiled: Any = torch.compile(module, fullgraph=True, backend="eager", dynamic=dynamic)
            torch.testing.assert_close(compiled(x, 3), module(x, 3), atol=1e-6, rtol=1e-6)


def test_a_compiled_module_refuses_an_offset_below_zero() -> None:
    compiled: Any = torch.compile(Decoding(nn.SinusoidalPositions(16)), backend="eager")
    with pytest.raises(ArgumentError, match="offset must be at least 0"):
        compiled(torch.zeros(1, 2, 16), -2)


OF_ANY_LENGTH = [name for name in MODULES if not name.endswith("packed")]
"""A fixed row of positions has one length."""


@pytest.mark.parametrize("name", OF_ANY_LENGTH)
def test_exports_for_any_length(name: str) -> None:
    make, example = MODULES[name]
    module, given = make().eval(), example()
    axis = 1 if given.ndim < 4 else 2
    length = torch.export.Dim("length", min=2, max=50)
    exported = torch.export.export(module, (given,), dynamic_shapes=({axis: length},))
    shorter = given.narrow(axis, 0, 7)
    torch.testing.assert_close(exported.module()(shorter), module(shorter))


@pytest.mark.parametrize("heads", [4, 6])
def test_flex_attention_compiles_with_the_score_function(heads: int) -> None:
    from torch.nn.attention import flex_attention as flex

    alibi = nn.ALiBi(heads)
    query, key, value = (torch.randn(2, heads, 128, 16) for _ in range(3))
    causal = flex.create_block_mask(
        lambda batch, head, query, key: query >= key, None, None, 128, 128, device="cpu"
    )

    def attend(query: Any, key: Any, value: Any) -> Any:
        return flex.flex_attention(
            query, key, value, score_mod=alibi.score_mod(), block_mask=causal
        )

    ours = torch.compile(attend, fullgraph=True, backend="aot_eager")(query, key, value)
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=alibi.bias(128)
    )
    # Sums of 128 products of float32, added up in another order.
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)
