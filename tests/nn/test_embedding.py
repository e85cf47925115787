"""The table of token vectors: padding, tying, bad ids."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from jeton import nn
from jeton.errors import ArgumentError, ArgumentTypeError

pytestmark = pytest.mark.large


@pytest.mark.parametrize(
    "size, multiple_of, padded",
    [(50_257, 64, 50_304), (64, 64, 64), (65, 64, 128), (5, 1, 5), (1, 128, 128)],
)
def test_rows_are_padded(size: int, multiple_of: int, padded: int) -> None:
    table = nn.TokenEmbedding(size, 4, multiple_of=multiple_of)
    assert table.weight.shape == (padded, 4)
    assert not table.weight[size:].any()


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_padding_has_no_gradient_and_is_never_predicted(tied: bool, padded: bool) -> None:
    table = nn.TokenEmbedding(70, 8, tied=tied)
    optimiser = torch.optim.AdamW(table.parameters(), lr=0.1)
    for _ in range(3):
        ids = torch.randint(0, 70, (4, 6))
        logits = table.logits(table(ids), padded=padded)
        assert int(logits.argmax(-1).max()) < 70
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, -2), ids.flatten())
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        for parameter in table.parameters():
            assert parameter.grad is not None
            assert not parameter.grad[70:].any()
        optimiser.step()
    for parameter in table.parameters():
        assert not parameter[70:].any()
    probabilities = table.logits(torch.randn(3, 8), padded=True).softmax(-1)
    assert not probabilities[:, 70:].any()


def test_the_head_is_the_table_where_tied() -> None:
    tied, own = nn.TokenEmbedding(10, 4), nn.TokenEmbedding(10, 4, tied=False)
    assert [name for name, _ in tied.named_parameters()] == ["weight"]
    assert [name for name, _ in own.named_parameters()] == ["weight", "head"]
    hidden = torch.randn(2, 4)
    torch.testing.assert_close(tied.logits(hidden), hidden @ tied.weight[:10].T)
    assert own.head is not None
    torch.testing.assert_close(own.logits(hidden), hidden @ own.head[:10].T)


def test_padding_changes_no_logit() -> None:
    padded, plain = nn.TokenEmbedding(70, 16), nn.TokenEmbedding(70, 16, multiple_of=1)
    with torch.no_grad():
        plain.weight.copy_(padded.weight[:70])
    hidden = torch.randn(5, 16)
    torch.testing.assert_close(padded.logits(hidden), plain.logits(hidden))


def test_initialised_as_gpt2() -> None:
    torch.manual_seed(1)
    table = nn.TokenEmbedding(2_000, 64, multiple_of=1)
    assert float(table.weight.detach().std()) == pytest.approx(0.02, rel=0.02)
    assert float(table.weight.detach().mean()) == pytest.approx(0.0, abs=1e-3)


def test_state_and_copies() -> None:
    table = nn.TokenEmbedding(10, 4, dtype=torch.bfloat16)
    other = nn.TokenEmbedding(10, 4, dtype=torch.bfloat16)
    other.load_state_dict(table.state_dict())
    assert torch.equal(other.weight, copy.deepcopy(table).weight)
    assert table(torch.tensor([1])).dtype == torch.bfloat16
    assert repr(table) == "TokenEmbedding(10, 4, padded_vocab_size=64, tied=True)"


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"])
def test_integers_of_any_size_are_ids(name: str) -> None:
    table = nn.TokenEmbedding(100, 4)
    ids = torch.tensor([[3, 99], [0, 3]])
    dtype = getattr(torch, name)
    assert torch.equal(table(ids.to(dtype)), table(ids))
    compiled: Any = torch.compile(table, fullgraph=True, backend="eager")
    assert torch.equal(compiled(ids.to(dtype)), table(ids))
    with pytest.raises(ArgumentError, match="id 120"):
        table(torch.tensor([120]).to(dtype))


def test_logits_under_autocast() -> None:
    table = nn.TokenEmbedding(10, 4)
    hidden = torch.randn(2, 4).bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = table.logits(hidden)
        with pytest.raises(ArgumentError, match=r"torch\.float64 and the table torch\.float32"):
            table.logits(hidden.double())
    assert torch.equal(logits, hidden @ table.weight[:10].bfloat16().T)


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "no tokens": (lambda: nn.TokenEmbedding(0, 4), ArgumentError, "vocab_size"),
    "no width": (lambda: nn.TokenEmbedding(4, 0), ArgumentError, "dim"),
    "no int": (lambda: nn.TokenEmbedding(4.0, 4), ArgumentTypeError, "vocab_size"),  # type: ignore[arg-type]
    "std": (lambda: nn.TokenEmbedding(4, 4, std=-1.0), ArgumentError, "std"),
    "id of padding": (
        lambda: nn.TokenEmbedding(4, 4)(torch.tensor([1, 5])),
        ArgumentError,
        "id 5 is not in the table: the embedding has 4 tokens",
    ),
    "ignored id": (
        lambda: nn.TokenEmbedding(4, 4)(torch.tensor([1, -100])),
        ArgumentError,
        "id -100",
    ),
    "floats": (
        lambda: nn.TokenEmbedding(4, 4)(torch.zeros(2)),
        ArgumentTypeError,
        "integers, not torch.float32",
    ),
    "complex": (
        lambda: nn.TokenEmbedding(4, 4)(torch.zeros(2, dtype=torch.complex64)),
        ArgumentTypeError,
        "integers, not torch.complex64",
    ),
    "another dtype": (
        lambda: nn.TokenEmbedding(4, 4).logits(torch.zeros(2, 4, dtype=torch.bfloat16)),
        ArgumentError,
        r"hidden is torch\.bfloat16 and the table torch\.float32",
    ),
    "hidden of integers": (
        lambda: nn.TokenEmbedding(4, 4).logits(torch.zeros(2, 4, dtype=torch.long)),
        ArgumentTypeError,
        "floats, not torch.int64",
    ),
    "a list": (lambda: nn.TokenEmbedding(4, 4)([1]), ArgumentTypeError, "list"),
    "hidden": (
        lambda: nn.TokenEmbedding(4, 4).logits(torch.zeros(2, 5)),
        ArgumentError,
        r"4\), like the table, not \(2, 5\)",
    ),
}


@pytest.mark.parametrize("call, error, message", BAD.values(), ids=BAD.keys())
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
