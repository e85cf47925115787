"""Losses: unknown tokens, texts that decoding does not restore, tokens that split characters."""

from __future__ import annotations

from jeton.analysis.values import Value


def unknown_rate(unknown: int, tokens: int) -> Value:
    """The share of tokens that are unknown tokens.

    Unit: share, from 0 to 1; 0 for a tokenizer without an unknown token. Source: out-of-vocabulary
    rate, as for any vocabulary.

    Example:
        `the`, `[UNK]`, `weather`, `##s`: 1 of 4.

        >>> unknown_rate(1, 4).value
        0.25
    """
    return Value.ratio(unknown, tokens, "share of tokens", "unknown tokens / tokens of all texts")


def exact_round_trips(
    exact: int, lines: int, how: str = "over all lines that are not empty"
) -> Value:
    """The share of lines that decode(encode(line)) restores byte by byte.

    Unit: share, from 0 to 1. Source: the definition of a lossless tokenizer.

    Args:
        exact: The number of lines that were restored.
        lines: The number of lines that were tried, without empty ones.
        how: Which lines were tried.

    Example:
        Of "The", "the", "a the", a tokenizer that lower-cases restores two.

        >>> round(exact_round_trips(2, 3).value, 4)
        0.6667
    """
    return Value.ratio(exact, lines, "share of lines", how)


def split_characters(split: int, tokens: int) -> Value:
    """The share of tokens that begin or end inside a character, so that they are not text alone.

    Unit: share, from 0 to 1. Source: a property of byte tokens, which need not respect UTF-8.

    Args:
        split: The number of tokens that begin or end inside a character.
        tokens: The number of tokens.

    Example:
        "né" as `n`, `\\xc3`, `\\xa9`: 2 of 3.

        >>> round(split_characters(2, 3).value, 4)
        0.6667
    """
    how = "tokens whose bytes begin or end inside a character / tokens of all texts"
    return Value.ratio(split, tokens, "share of tokens", how)
