"""What a vocabulary and a context cost in a model: parameters, bytes, attention, KV cache."""

from __future__ import annotations

from dataclasses import dataclass

from jeton.arguments import check_kind, checked_int
from jeton.errors import ArgumentError


@dataclass(frozen=True)
class ModelCost:
    """The costs of a model's vocabulary and of a full context.

    Attributes:
        embedding_parameters: vocabulary · width.
        embedding_bytes: Its size in bytes.
        output_parameters: The same again, or 0 if the output shares the embedding.
        output_bytes: Their size in bytes.
        attention_parameters_per_layer: The four projections: 2 · width² for queries and outputs,
            2 · width · kv_heads · width / heads for keys and values.
        attention_pairs: context²: the pairs of tokens that a head of a layer compares, without the
            savings of causality.
        attention_operations_per_layer: Scores and weighted sums of values in one forward pass over
            a full context: 4 · context² · width, without the savings of causality.
        attention_scores_bytes_per_layer: heads · context² numbers, if all are kept.
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
    """The costs of a vocabulary and a context in a model, by textbook arithmetic.

    Source: Vaswani et al., "Attention Is All You Need" (2017); for fewer heads of keys and values,
    Ainslie et al., "GQA" (2023).

    Args:
        vocab_size: The number of rows of the embedding.
        width: The numbers per token.
        depth: The number of layers.
        heads: The number of attention heads; they share the width.
        kv_heads: The number of heads of keys and values; by default the same.
        context: The tokens of a full context.
        bytes_per_parameter: 4 for float32, 2 for bfloat16.
        tied: Whether the output shares the embedding.

    Raises:
        ArgumentTypeError, ArgumentError: An argument is not a number, or less than 1; `heads` does
            not divide the width; `kv_heads` does not divide `heads`.

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
