"""The messages of `out_type="proto"`: protobuf's where it is installed, else jeton's own."""

from __future__ import annotations

try:
    from jeton.interop.sentencepiece.protobuf_messages import (
        NBestSentencePieceText,
        SentencePieceText,
    )
except ImportError:
    from jeton.interop.sentencepiece import (
        NBestSentencePieceText,
        SentencePieceText,
    )

__all__ = ["NBestSentencePieceText", "SentencePieceText"]
