"""`tok(...)`: texts, pairs of texts and batches of them, made the rows of numbers a model takes.

A call goes through the files in this order: `inputs` reads what was given,
`padding_and_truncation` what was asked for of these two, `encoded_texts` encodes the texts,
`windows` cuts them, `rows` puts them and the special tokens where they belong, and `result` is what
the caller gets.
"""

from __future__ import annotations

from jeton.encoding.calls.caller import Call, Caller
from jeton.encoding.calls.padding_and_truncation import Asked
from jeton.encoding.calls.result import BatchEncoding, CharSpan, TokenSpan

__all__ = ["Asked", "BatchEncoding", "Call", "Caller", "CharSpan", "TokenSpan"]
