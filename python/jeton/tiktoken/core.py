"""The counterpart of `tiktoken.core`, the module with tiktoken's class."""

from __future__ import annotations

from jeton.interop.tiktoken import Encoding, TiktokenEncoding

__all__ = ["Encoding", "TiktokenEncoding"]
