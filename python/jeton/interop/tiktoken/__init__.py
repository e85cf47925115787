"""tiktoken's `Encoding` over a tokenizer, and which tokenizers can be one."""

from __future__ import annotations

from jeton.interop.tiktoken.encoding import Encoding, TiktokenEncoding

__all__ = ["Encoding", "TiktokenEncoding"]
