"""The messages that `out_type="proto"` gives, in sentencepiece's place; protobuf is not needed."""

from __future__ import annotations

from jeton.interop.sentencepiece import NBestSentencePieceText, SentencePieceText

__all__ = ["NBestSentencePieceText", "SentencePieceText"]
