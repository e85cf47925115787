"""A tokenizer for libraries that hold a model to a grammar: xgrammar and llguidance.

Look here for the results of `Tokenizer.as_xgrammar` and `Tokenizer.as_llguidance`, and for which
ids end an answer there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jeton.arguments import checked_id
from jeton.encoding.once import ends_of
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError, UnsupportedError

if TYPE_CHECKING:
    from llguidance import LLTokenizer
    from xgrammar import TokenizerInfo

    from jeton.encoding.base_tokenizer import BaseTokenizer


def xgrammar_info(
    tok: BaseTokenizer, size: int | None, stop_ids: Iterable[int] | None
) -> TokenizerInfo:
    """As `Tokenizer.as_xgrammar`."""
    try:
        import xgrammar
    except ImportError:
        raise _missing("xgrammar") from None
    tokens = tok.vocab.all_token_bytes(size)
    stops = _stops(tok, stop_ids, len(tokens))
    return xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.RAW, stop_token_ids=stops)


def llguidance_tokenizer(
    tok: BaseTokenizer, size: int | None, stop_ids: Iterable[int] | None
) -> LLTokenizer:
    """As `Tokenizer.as_llguidance`."""
    try:
        import llguidance
    except ImportError:
        raise _missing("llguidance") from None
    tokens = tok.vocab.all_token_bytes(size)
    stops = _stops(tok, stop_ids, len(tokens))
    wrapped = llguidance.TokenizerWrapper(_Tokens(tok, tokens, stops[0]))
    return llguidance.LLTokenizer(wrapped, eos_token=stops)


class _Tokens:
    """What `llguidance.TokenizerWrapper` takes."""

    def __init__(self, tok: BaseTokenizer, tokens: list[bytes], end: int) -> None:
        self._tok = tok
        self.eos_token_id, self.bos_token_id = end, tok.roles.ids.get("bos")
        self.tokens = tokens
        self.special_token_ids = sorted({*tok.special_tokens.values()})
        for spelled, id in tok.special_tokens.items():
            # Grammars name them so, as `<|im_end|>`; llguidance keeps them apart from text.
            self.tokens[id] = spelled.encode()

    def __call__(self, text: str | bytes) -> list[int]:
        # llguidance ends the process's thread by a panic if this raises; a text that a closed
        # alphabet does not have is none that a grammar can lead to.
        with contextlib.suppress(EncodeError):
            return self._tok.encode(
                text if isinstance(text, str) else text.decode("utf-8", "replace")
            )
        return []


def _stops(tok: BaseTokenizer, ids: Iterable[int] | None, size: int) -> list[int]:
    """The ids that end an answer: those that are given, or those that the tokenizer knows."""
    if ids is None:
        found = [*ends_of(tok)]
        if not found:
            raise ArgumentError(
                "nothing says which token ends an answer: give stop_ids, or give the tokenizer the "
                'role: tok.replace(roles={"eos": …})'
            )
    elif isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise ArgumentTypeError(f"stop_ids must be an iterable of ints, not {type(ids).__name__}")
    else:
        found = [checked_id("stop_ids", it) for it in ids]
        if not found:
            raise ArgumentError("stop_ids is empty: an answer would never end")
        if max(found) >= size:
            raise ArgumentError(f"stop_ids has {max(found)}, and the last id is {size - 1}")
    return [*dict.fromkeys(found)]


def _missing(library: str) -> UnsupportedError:
    return UnsupportedError(f"this needs {library}, which is not installed (pip install {library})")
