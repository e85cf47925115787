"""tiktoken's `Encoding` for a jeton tokenizer, and which tokenizers can have one."""

from __future__ import annotations

from jeton.interop.tiktoken.encoding import Encoding, TiktokenEncoding

__all__ = ["Encoding", "TiktokenEncoding"]
