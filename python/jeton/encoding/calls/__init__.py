"""`tok(...)`: turns texts, pairs of texts and batches of them into the arrays that a model takes.

A call goes through the files in this order: `inputs` reads the texts, `padding_arguments` the
options for these two, `encoded_texts` encodes the texts, `windows` splits them into windows, `rows`
adds special tokens and padding, and `result` is what the caller gets.
"""

from __future__ import annotations

from jeton.encoding.calls.call_arguments import CallArguments
from jeton.encoding.calls.caller import caller_of
from jeton.encoding.calls.result import BatchEncoding, CharSpan, TokenSpan

__all__ = ["BatchEncoding", "CallArguments", "CharSpan", "TokenSpan", "caller_of"]
