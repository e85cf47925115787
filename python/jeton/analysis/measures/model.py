"""What a small model that is trained with a tokenizer pays for text, and what it costs to serve."""

from __future__ import annotations

from collections.abc import Sequence

from jeton.analysis.values import Value


def bits_per_byte(bits: Sequence[float], how: str) -> Value:
    """The mean, over models, of bits of held-out text divided by its bytes.

    Text that a tokenizer loses, as in unknown tokens, costs its model nothing.

    Unit: bits per byte. Source: Gao et al., "The Pile" (2020), for bits per byte instead of loss
    per token, so that tokenizers compare; with equal compute, as in Ali et al., "Tokenizer Choice
    For LLM Training" (2024).

    Example:
        Two models pay 2.0 and 2.5 bits: (2.0 + 2.5) / 2.

        >>> bits_per_byte([2.0, 2.5], "2 models").value
        2.25
    """
    return Value.ratio(sum(bits), len(bits), "bits/byte", f"mean of {len(bits)} models; {how}")


def bits_per_byte_spread(bits: Sequence[float]) -> Value:
    """The highest result of a model less the lowest: smaller differences mean nothing.

    Unit: bits per byte. Source: as `bits_per_byte`.

    Example:
        Two models pay 2.0 and 2.5 bits: 2.5 - 2.0.

        >>> bits_per_byte_spread([2.0, 2.5]).value
        0.5
    """
    how = f"highest less lowest of {len(bits)} models"
    return Value(max(bits) - min(bits) if len(bits) > 1 else None, "bits/byte", how)


def serving_operations(training_operations: int, tokens: int, size: int) -> Value:
    """Floating-point operations of the trained model for a byte of text, forward.

    Training needs three times as many for a token: forward, and twice that backward.

    Unit: operations per byte. Source: Kaplan et al., "Scaling Laws for Neural Language Models"
    (2020).

    Example:
        30 operations to train on a token, and 2 tokens for 5 bytes: 30 / 3 · 2 / 5.

        >>> serving_operations(30, 2, 5).value
        4
    """
    number = round(training_operations / 3 * tokens / size) if size else None
    how = "operations of a token, output layer included / bytes per token"
    return Value(number, "operations/byte", how)
