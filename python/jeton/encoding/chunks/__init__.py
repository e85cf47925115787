"""Splits texts by their number of tokens: into chunks that overlap, or into a part and the rest.

This is the code of `Tokenizer.chunk` and `Tokenizer.truncate`. Look in
`boundaries` for where a sentence, a line, a word and a character end, in `structure` for Markdown,
code and HTML.
"""

from __future__ import annotations

from jeton.encoding.chunks.cutting import Boundaries, Chunk, Side, Truncated, Unit

__all__ = ["Boundaries", "Chunk", "Side", "Truncated", "Unit"]
