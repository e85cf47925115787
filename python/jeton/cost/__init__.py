"""What tokens cost: input, output and cached tokens, by a dated table of prices.

`estimate` prices numbers of tokens; `jeton cost` counts files and prices them. The table that comes
with jeton says the date of each price, and `prices=` uses your own table instead.

Example:
    >>> from jeton import cost
    >>> table = cost.Prices({"mine": cost.Price(input=2, cached=0.5, output=8)})
    >>> total = cost.estimate("mine", 10_000, cached_tokens=4_000, output_tokens=500, prices=table)
    >>> print(total.input, total.cached, total.output, total)
    0.012 0.002 0.004 $0.018
"""

from __future__ import annotations

from jeton.cost.estimating import Cost, estimate, tokenizer_of
from jeton.cost.prices import Above, Price, Prices, money, shipped

__all__ = ["Above", "Cost", "Price", "Prices", "estimate", "money", "shipped", "tokenizer_of"]
