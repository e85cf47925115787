"""`tiktoken.core`, the module in which tiktoken has its class."""

from __future__ import annotations

from jeton.interop.tiktoken import Encoding, TiktokenEncoding

__all__ = ["Encoding", "TiktokenEncoding"]
