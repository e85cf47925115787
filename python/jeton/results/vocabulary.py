"""`Vocabulary`: the tokens of a tokenizer with their ids, as a read-only mapping.

Look here for the type of `tok.vocab`, and for how a token is given: as bytes, or as text that is
encoded as UTF-8.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TypeVar, overload

from jeton._core import Pipeline
from jeton.arguments import checked_int
from jeton.errors import ArgumentTypeError, UnknownTokenError

_T = TypeVar("_T")

_REPR_TOKENS = 4
"""How many tokens a `repr` shows."""


class Vocabulary(Mapping[bytes, int]):
    """The tokens of a tokenizer with their ids, in the order of ids: `tok.vocab`.

    A read-only mapping that has all tokens, also the added ones. Its keys are bytes; a token is
    looked up by its bytes, or by text that is encoded as UTF-8. It equals any mapping with the same
    tokens and ids; `dict(vocab)` is a mutable copy.

    Example:
        >>> import jeton
        >>> vocab = jeton.CharTrainer().train("hello").vocab
        >>> vocab["h"], vocab[b"h"], len(vocab), "x" in vocab, vocab.get("x")
        (1, 1, 4, False, None)
        >>> vocab.spelling(1)
        b'h'
        >>> vocab
        Vocabulary({b'e': 0, b'h': 1, b'l': 2, b'o': 3})
    """

    __slots__ = ("_core", "_ids")

    _core: Pipeline
    _ids: dict[bytes, int] | None

    def __init__(self, core: Pipeline) -> None:
        self._core, self._ids = core, None

    def __getitem__(self, token: bytes | str) -> int:
        id = self._core.bytes_to_id(bytes_of(token))
        if id is None:
            raise UnknownTokenError(f"{token!r} is not a token of this tokenizer")
        return id

    def __contains__(self, token: object) -> bool:
        return self._core.bytes_to_id(bytes_of(token)) is not None

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._by_token())

    def __len__(self) -> int:
        return len(self._by_token())

    @overload
    def get(self, token: bytes | str) -> int | None: ...
    @overload
    def get(self, token: bytes | str, default: int | _T) -> int | _T: ...
    def get(self, token: bytes | str, default: object = None) -> object:
        """The id of a token, or `default` if there is no such token."""
        id = self._core.bytes_to_id(bytes_of(token))
        return default if id is None else id

    # The views of a dict are faster than those of `Mapping`.

    def keys(self) -> KeysView[bytes]:
        """The tokens."""
        return self._by_token().keys()

    def values(self) -> ValuesView[int]:
        """The ids."""
        return self._by_token().values()

    def items(self) -> ItemsView[bytes, int]:
        """Tokens with their ids."""
        return self._by_token().items()

    def _by_token(self) -> dict[bytes, int]:
        """All tokens with their ids, made at the first use."""
        if self._ids is None:
            self._ids = self._core.vocab()
        return self._ids

    def spelling(self, id: int) -> bytes:
        """A token as the vocabulary spells it, with marks such as `##`, `▁` and `<0xF0>`.

        `token_bytes` is what it adds to text; `vocab[token]` gives the id of a spelling.

        Raises:
            UnknownTokenError: The id belongs to no token.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").vocab.spelling(1)
            b'h'
        """
        return self._checked_bytes(id, self._core.id_to_bytes(id))

    def token_bytes(self, id: int) -> bytes:
        """The bytes that a token adds to decoded text, when it is neither first nor last.

        The decoder turns `▁` into a space and `<0xF0>` into the byte, removes `##`, and puts a
        space in front of a word; a control piece of a SentencePiece model becomes nothing.
        Byte-level tokens are unchanged.

        Raises:
            UnknownTokenError: The id belongs to no token.

        Example:
            >>> import jeton
            >>> tok = jeton.WordPieceTrainer(17).train(["hug pug pun bun hugs"] * 5)
            >>> [tok.vocab.spelling(id) for id in tok.encode("hugs")]
            [b'h', b'##ug', b'##s']
            >>> [tok.vocab.token_bytes(id) for id in tok.encode("hugs")]
            [b' h', b'ug', b's']
        """
        return self._checked_bytes(id, self._core.surface(id))

    def all_token_bytes(self, size: int | None = None) -> list[bytes]:
        """The bytes of each token by id, for engines that hold a model to a grammar.

        A special token has none, since no text may become one, nor has an id without a token: both
        are `b""`. All others are those of `token_bytes`.

        Args:
            size: The length of the list, if a model has more ids than the tokenizer: the last
                dimension of its logits. By default `max_id + 1`.

        Raises:
            ArgumentError: `size` is too small for the tokens.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|end|>"]).train("hello")
            >>> tok.vocab.all_token_bytes(size=8)
            [b'e', b'h', b'l', b'o', b'', b'', b'', b'']
        """
        count = self.max_id + 1
        size = count if size is None else checked_int("size", size, count)
        found = [b""] * size
        surface, special = self._core.surface, {*self._core.special_tokens().values()}
        for id in range(count):
            if id not in special:
                found[id] = surface(id) or b""
        return found

    def _checked_bytes(self, id: int, token: bytes | None) -> bytes:
        if token is None:
            raise UnknownTokenError(f"id {id} has no token; the largest id is {self.max_id}")
        return token

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges of a BPE, first to last; those of a rank file are derived from the ranks.

        Other models have none. A new list each time.
        """
        return self._core.merges()

    @property
    def scores(self) -> list[float]:
        """The score of each token, by id, of a Unigram or SentencePiece model.

        Other models have none. A new list each time.
        """
        return self._core.scores() or []

    @property
    def max_id(self) -> int:
        """The largest id; -1 if there are no tokens."""
        largest = self._core.max_id
        return -1 if largest is None else largest

    def padded_size(self, multiple_of: int) -> int:
        """The number of rows of an embedding that holds every id, rounded up.

        Args:
            multiple_of: The result is a multiple of this, such as 64.

        Raises:
            ArgumentTypeError: `multiple_of` is not an int.
            ArgumentError: It is not at least 1.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").vocab.padded_size(64)
            64
        """
        rows = self.max_id + 1
        return rows + -rows % checked_int("multiple_of", multiple_of, 1)

    def __or__(self, other: Mapping[bytes, int]) -> dict[bytes, int]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {**self._by_token(), **other}

    def __ror__(self, other: Mapping[bytes, int]) -> dict[bytes, int]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {**other, **self._by_token()}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Vocabulary):
            return self._by_token() == other._by_token()
        return self._by_token() == other if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as that of a dict

    def __copy__(self) -> Vocabulary:
        return self

    def __deepcopy__(self, memo: object) -> Vocabulary:
        return self

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        core = self._core
        if core.holds_functions():  # which are no part of a vocabulary
            stages = {**json.loads(core.stages()), "normalizer": None, "pre_tokenizer": None}
            core = Pipeline.build(core.model(), json.dumps(stages), core)
        return _of_image, (core.image(),)

    def __repr__(self) -> str:
        ids = self._by_token()
        first = ", ".join(
            f"{token!r}: {id}" for token, id in itertools.islice(ids.items(), _REPR_TOKENS)
        )
        rest = len(ids) - _REPR_TOKENS
        return f"Vocabulary({{{first}{f', … {rest:,} more' if rest > 0 else ''}}})"


def _of_image(image: bytes) -> Vocabulary:
    """Undoes `Vocabulary.__reduce__`."""
    return Vocabulary(Pipeline.from_image(image))


def bytes_by_id(vocab: Vocabulary) -> dict[int, bytes]:
    """All ids with the bytes of their tokens, in order.

    An added token may have the bytes of a token of the model. These bytes then have two ids, and
    the mapping holds one of them.
    """
    return {id: vocab.spelling(id) for id in vocab._core.token_ids().tolist()}


def bytes_of(token: object) -> bytes:
    """The bytes of a token, given as bytes or as text that is encoded as UTF-8."""
    if isinstance(token, str):
        return token.encode("utf-8", "surrogatepass")
    if isinstance(token, (bytes, bytearray, memoryview)):
        return bytes(token)
    raise ArgumentTypeError(f"token must be bytes or a str, not {type(token).__name__}")
