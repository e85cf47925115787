"""Token healing: the tokens of a prompt to keep, and the bytes with which the next must begin.

Look here for `heal`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from jeton.arguments import checked_int, checked_iterable
from jeton.encoding.alignment import plain_tokens
from jeton.errors import UnknownTokenError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer


class Healed(NamedTuple):
    """The result of `Tokenizer.heal`."""

    ids: list[int]
    """The tokens to keep, from which the model continues."""
    prefix: bytes
    """The bytes with which the continuation must begin; empty if nothing was removed."""
    allowed: list[int]
    """The ids that the next token may have: they begin with `prefix`, or `prefix` begins with
    them. Empty if any token may follow."""


def heal(tok: BaseTokenizer, ids: Sequence[int]) -> Healed:
    """The tokens of a prompt without those at its end that a longer token could continue."""
    given = checked_iterable("ids", ids, "a sequence of ids")
    kept = [checked_int("each of ids", id, 0) for id in given]
    tokens = plain_tokens(tok)
    for id in kept:
        if id not in tokens:
            raise UnknownTokenError(f"{id} is not the id of a token")
    texts = {id: token for id, (token, kind) in tokens.items() if token and not kind}
    longer = sorted(texts.values())
    prefix = b""
    while kept and kept[-1] in texts:
        grown = texts[kept[-1]] + prefix
        if not _is_continued(grown, longer):
            break
        prefix = grown
        kept.pop()
    if not prefix:
        return Healed(kept, b"", [])
    allowed = [
        id for id, token in texts.items() if token.startswith(prefix) or prefix.startswith(token)
    ]
    return Healed(kept, prefix, allowed)


def _is_continued(token: bytes, in_order: Sequence[bytes]) -> bool:
    """Whether a longer token begins with `token`."""
    at = bisect_right(in_order, token)
    return at < len(in_order) and in_order[at].startswith(token)
