"""What a vocabulary and a context cost in a model: parameters, bytes, attention, KV cache."""

from __future__ import annotations

from dataclasses import dataclass

from jeton.arguments import check_kind, checked_int
from jeton.errors import ArgumentError

__all__ = ["ModelCost", "cost_of_model"]


@dataclass(frozen=True)
class ModelCost:
    """What a model of some shape spends on its vocabulary and on a full context.

    Attributes:
        embedding_parameters: vocabulary · width.
        embedding_bytes: These times the bytes of a number.
        output_parameters: The same again, or 0 if the output shares the embedding.
        output_bytes: These times the bytes of a number.
        attention_parameters_per_layer: The four projections: 2 · width² for queries and outputs,
            2 · width · kv_heads · width / heads for keys and values.
        attention_pairs: context²: how many pairs of tokens a head of a layer compares, without what
            causality would save.
        attention_operations_per_layer: Of one forward pass over a full context, scores and their
            sums of values: 4 · context² · width, without what causality would save.
        attention_scores_bytes_per_layer: heads · context² numbers, where all are kept.
        kv_cache_bytes_per_token: 2 · depth · kv_heads · width / heads numbers.
        kv_cache_bytes: The same for a full context.
    """

    embedding_parameters: int
    embedding_bytes: int
    output_parameters: int
    output_bytes: int
    attention_parameters_per_layer: int
    attention_pairs: int
    attention_operations_per_layer: int
    attention_scores_bytes_per_layer: int
    kv_cache_bytes_per_token: int
    kv_cache_bytes: int


def cost_of_model(
    vocab_size: int,
    *,
    width: int,
    depth: int,
    heads: int,
    kv_heads: int | None = None,
    context: int,
    bytes_per_parameter: int = 4,
    tied: bool = False,
) -> ModelCost:
    """What a vocabulary and a context cost in a model, by the textbook's arithmetic.

    Source: Vaswani et al., "Attention Is All You Need" (2017); for fewer heads of keys and values,
    Ainslie et al., "GQA" (2023).

    Args:
        vocab_size: How many rows the embedding has.
        width: How many numbers a token is.
        depth: How many layers there are.
        heads: How many heads attention has; they share the width.
        kv_heads: How many heads of keys and values; by default as many.
        context: How many tokens a full context has.
        bytes_per_parameter: 4 of float32, 2 of bfloat16.
        tied: Whether the output shares the embedding.

    Raises:
        ArgumentTypeError, ArgumentError: A number that is none, or less than 1; heads that do not
            divide the width, or among which those of keys and values cannot be shared.

    Example:
        30,000 tokens of 768 numbers of 4 bytes are 92,160,000 bytes, 87.89 MiB; GPT-3 has
        50,257 · 12,288 = 617,558,016 parameters in its embedding:

        >>> cost = cost_of_model(30_000, width=768, depth=12, heads=12, context=1024)
        >>> cost.embedding_bytes, round(cost.embedding_bytes / 2**20, 2)
        (92160000, 87.89)
        >>> cost.attention_pairs, cost.attention_operations_per_layer == 4 * 768 * 1024**2
        (1048576, True)
        >>> cost_of_model(
        ...     50_257, width=12_288, depth=96, heads=96, context=2048, bytes_per_parameter=2
        ... ).embedding_parameters
        617558016
    """
    vocab_size = checked_int("vocab_size", vocab_size, 1)
    width, depth = checked_int("width", width, 1), checked_int("depth", depth, 1)
    heads = checked_int("heads", heads, 1)
    kv_heads = heads if kv_heads is None else checked_int("kv_heads", kv_heads, 1)
    context = checked_int("context", context, 1)
    size = checked_int("bytes_per_parameter", bytes_per_parameter, 1)
    check_kind("tied", tied, bool, "a bool")
    if width % heads:
        raise ArgumentError(f"heads: {heads:,} do not divide the width, {width:,}")
    if heads % kv_heads:
        raise ArgumentError(f"kv_heads: {kv_heads:,} cannot be shared by {heads:,} heads")
    embedding = vocab_size * width
    output = 0 if tied else embedding
    of_keys = kv_heads * (width // heads)
    cache = 2 * depth * of_keys * size
    return ModelCost(
        embedding,
        embedding * size,
        output,
        output * size,
        2 * width * width + 2 * width * of_keys,
        context**2,
        4 * context**2 * width,
        heads * context**2 * size,
        cache,
        cache * context,
    )
