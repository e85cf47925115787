"""`Vocabulary`: the tokens of a tokenizer with their ids, as a read-only mapping.

Look here for the type of `tok.vocab`, and for how a token is given: as bytes, or as text that is
encoded as UTF-8.
"""

from __future__ import annotations

import itertools
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TypeVar, overload

from jeton.errors import ArgumentTypeError, UnknownTokenError

__all__ = ["Vocabulary", "bytes_of"]

_T = TypeVar("_T")

_REPR_TOKENS = 4
"""How many tokens a `repr` shows."""


class Vocabulary(Mapping[bytes, int]):
    """Tokens with their ids, in the order of ids: a read-only mapping.

    Keys are bytes. It equals any mapping with the same tokens and ids; `dict(vocab)` is a mutable
    copy.

    Args:
        ids: Tokens with their ids.

    Example:
        >>> import jeton
        >>> vocab = jeton.CharTrainer().train("hello").vocab
        >>> vocab[b"h"], len(vocab), b"x" in vocab
        (1, 4, False)
        >>> vocab
        Vocabulary({b'e': 0, b'h': 1, b'l': 2, b'o': 3})
    """

    __slots__ = ("_ids",)

    _ids: dict[bytes, int]

    def __init__(self, ids: Mapping[bytes, int]) -> None:
        self._ids = dict(ids)

    def __getitem__(self, token: bytes) -> int:
        try:
            return self._ids[token]
        except KeyError:
            if isinstance(token, str):
                hint = f"tokens are bytes: {token.encode('utf-8', 'surrogatepass')!r}"
                raise UnknownTokenError(f"{token!r} is not a token ({hint})") from None
            raise UnknownTokenError(f"{token!r} is not a token of this tokenizer") from None

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def get(self, token: bytes) -> int | None: ...
    @overload
    def get(self, token: bytes, default: int | _T) -> int | _T: ...
    def get(self, token: bytes, default: object = None) -> object:
        """The id of a token, or `default`."""
        return self._ids.get(token, default)

    # The views of a dict are faster than those of `Mapping`.

    def keys(self) -> KeysView[bytes]:
        """The tokens."""
        return self._ids.keys()

    def values(self) -> ValuesView[int]:
        """The ids."""
        return self._ids.values()

    def items(self) -> ItemsView[bytes, int]:
        """Tokens with their ids."""
        return self._ids.items()

    def __or__(self, other: Mapping[bytes, int]) -> dict[bytes, int]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {**self._ids, **other}

    def __ror__(self, other: Mapping[bytes, int]) -> dict[bytes, int]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {**other, **self._ids}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Vocabulary):
            return self._ids == other._ids
        return self._ids == other if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as that of a dict

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[dict[bytes, int]]]:
        return Vocabulary, (self._ids,)

    def __repr__(self) -> str:
        first = ", ".join(
            f"{token!r}: {id}" for token, id in itertools.islice(self._ids.items(), _REPR_TOKENS)
        )
        rest = len(self._ids) - _REPR_TOKENS
        return f"Vocabulary({{{first}{f', … {rest:,} more' if rest > 0 else ''}}})"


def bytes_of(token: object) -> bytes:
    """The bytes of a token, given as bytes or as text that is encoded as UTF-8."""
    if isinstance(token, str):
        return token.encode("utf-8", "surrogatepass")
    if isinstance(token, (bytes, bytearray, memoryview)):
        return bytes(token)
    raise ArgumentTypeError(f"token must be bytes or a str, not {type(token).__name__}")
