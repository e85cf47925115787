"""How code is split: operators, indentation, identifiers."""

from __future__ import annotations

from collections.abc import Sequence

from jeton.analysis.values import Value


def whole_operators(whole: int, operators: int) -> Value:
    """The share of operators such as `==` and `->` that are one token, between spaces.

    Unit: share, from 0 to 1. Source: the code part of TokEval-like suites; the list is in
    `jeton.analysis.probes`.

    Args:
        whole: The number of operators that are one token, which may also have a space.
        operators: The number of operators.

    Example:
        `==` as one token, `->` as `-`, `>`: 1 of 2.

        >>> whole_operators(1, 2).value
        0.5
    """
    how = "of 25 operators of more than one character, as in `a == b`"
    return Value.ratio(whole, operators, "share of operators", how)


def indentation_tokens(tokens: Sequence[int], levels: Sequence[int]) -> Value:
    """Tokens per level of indentation, the mean over depths.

    Unit: tokens per level; 0 if white space is lost. Source: as above.

    Args:
        tokens: The number of tokens that begin in each indentation.
        levels: The number of its levels: four spaces or a tab each.

    Example:
        Four spaces as 1 token, eight as 4 of two spaces: (1 / 1 + 4 / 2) / 2.

        >>> indentation_tokens([1, 4], [1, 2]).value
        1.5
    """
    rates = [number / depth for number, depth in zip(tokens, levels, strict=True)]
    how = "mean over 1 to 6 levels of four spaces and 1 to 4 of tabs"
    return Value.ratio(sum(rates), len(rates), "tokens/level", how)


def identifier_tokens(tokens: Sequence[int]) -> Value:
    """Tokens per identifier, the mean.

    Unit: tokens per identifier. Source: as above; the list is in `jeton.analysis.probes`.

    Example:
        `maxLength` as `max`, `Length`, and `user_id` as `user`, `_`, `id`: (2 + 3) / 2.

        >>> identifier_tokens([2, 3]).value
        2.5
    """
    how = "mean over 21 identifiers in snake_case and camelCase, after a space"
    return Value.ratio(sum(tokens), len(tokens), "tokens/identifier", how)


def identifier_boundaries(at_tokens: int, boundaries: int) -> Value:
    """The share of boundaries between the parts of identifiers where a token begins.

    In snake_case, before the underscore or after it.

    Unit: share, from 0 to 1. Source: as above.

    Example:
        `get|User|Name` as `getUser`, `Name`: 1 of 2 boundaries.

        >>> identifier_boundaries(1, 2).value
        0.5
    """
    how = "boundaries of all identifiers where a token begins / boundaries"
    return Value.ratio(at_tokens, boundaries, "share of boundaries", how)
