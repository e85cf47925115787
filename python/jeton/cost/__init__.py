"""What tokens cost: input, output and cached tokens, by a dated table of prices.

`estimate` prices numbers of tokens; `jeton cost` counts files and prices them. The table that comes
with jeton is of the days that it says, and `prices=` puts your own in its place.

Example:
    >>> from jeton import cost
    >>> table = cost.Prices({"mine": cost.Price(input=2, cached=0.5, output=8)})
    >>> told = cost.estimate("mine", 10_000, cached_tokens=4_000, output_tokens=500, prices=table)
    >>> print(told.input, told.cached, told.output, told)
    0.012 0.002 0.004 $0.018
"""

from __future__ import annotations

from jeton.cost.estimating import Cost, estimate, tokenizer_of
from jeton.cost.prices import Above, Price, Prices, money, shipped

__all__ = ["Above", "Cost", "Price", "Prices", "estimate", "money", "shipped", "tokenizer_of"]
