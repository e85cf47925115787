"""The tokens of a tokenizer with their ids, merges and scores."""

from __future__ import annotations

from typing import Final, TypeVar, overload

from jeton.arguments import checked_int
from jeton.encoding.base_tokenizer.core import Core
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError
from jeton.results.vocabulary import Vocabulary, bytes_of

__all__ = ["HasTokens", "bytes_by_id"]

_T = TypeVar("_T")

_NO_DEFAULT: Final = object()


class HasTokens(Core):
    """The methods of `Tokenizer` for its tokens."""

    __slots__ = ()

    @property
    def vocab(self) -> Vocabulary:
        """All tokens with their ids, in the order of ids, including added tokens.

        A read-only mapping, built at the first use.
        """
        if self._vocab is None:
            self._vocab = Vocabulary(self._core.vocab())
        return self._vocab

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

    def token_spelling(self, id: int) -> bytes:
        """A token as the vocabulary spells it, with marks such as `##`, `▁` and `<0xF0>`.

        `token_bytes` is what it adds to text; `id_of` gives the id of a spelling.

        Raises:
            UnknownTokenError: The id belongs to no token.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").token_spelling(1)
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
            >>> [tok.token_spelling(id) for id in tok.encode("hugs")]
            [b'h', b'##ug', b'##s']
            >>> [tok.token_bytes(id) for id in tok.encode("hugs")]
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
            >>> tok.all_token_bytes(size=8)
            [b'e', b'h', b'l', b'o', b'', b'', b'', b'']
        """
        count = self.max_id + 1
        size = count if size is None else checked_int("size", size, count)
        found = [b""] * size
        surface, special = self._core.surface, {*self.special_tokens.values()}
        for id in range(count):
            if id not in special:
                found[id] = surface(id) or b""
        return found

    def _checked_bytes(self, id: int, token: bytes | None) -> bytes:
        if token is None:
            raise UnknownTokenError(f"id {id} has no token; the largest id is {self.max_id}")
        return token

    @overload
    def id_of(self, token: bytes | str) -> int: ...
    @overload
    def id_of(self, token: bytes | str, default: _T) -> int | _T: ...
    def id_of(self, token: bytes | str, default: object = _NO_DEFAULT) -> object:
        """The id of a token, given as bytes, or as text that is encoded as UTF-8.

        `token in tok` says whether there is one.

        Args:
            token: The token, as the vocabulary spells it.
            default: What to return if there is no such token; without it, that is an error.

        Raises:
            UnknownTokenError: There is no such token, and no `default`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.id_of("h"), tok.id_of(b"h"), tok.id_of("x", None), "x" in tok
            (1, 1, None, False)
        """
        id = self._core.bytes_to_id(bytes_of(token))
        if id is not None:
            return id
        if default is _NO_DEFAULT:
            raise UnknownTokenError(f"{token!r} is not a token of this tokenizer")
        return default

    def __contains__(self, token: bytes | str) -> bool:
        return self._core.bytes_to_id(bytes_of(token)) is not None

    def __len__(self) -> int:
        return self._core.vocab_size

    def __bool__(self) -> bool:
        """Always true, also for a tokenizer without tokens."""
        return True

    @property
    def vocab_size(self) -> int:
        """How many ids belong to a token: `len(tok)`. If there are gaps, `max_id` is larger."""
        return self._core.vocab_size

    @property
    def max_id(self) -> int:
        """The largest id; -1 if there are no tokens."""
        largest = self._core.max_id
        return -1 if largest is None else largest

    def padded_vocab_size(self, multiple_of: int) -> int:
        """The number of rows of an embedding that holds every id, rounded up.

        Args:
            multiple_of: The result is a multiple of this, such as 64.

        Raises:
            ArgumentError: `multiple_of` is not at least 1.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").padded_vocab_size(64)
            64
        """
        if not isinstance(multiple_of, int) or isinstance(multiple_of, bool):
            raise ArgumentTypeError(f"multiple_of must be an int, not {type(multiple_of).__name__}")
        if multiple_of < 1:
            raise ArgumentError(f"multiple_of must be at least 1, not {multiple_of}")
        rows = self.max_id + 1
        return rows + -rows % multiple_of

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens with their ids, in the order of ids."""
        return self._core.special_tokens()


def bytes_by_id(tokenizer: HasTokens) -> dict[int, bytes]:
    """All ids with the bytes of their tokens, in order.

    An added token may have the bytes of a token of the model. These bytes then have two ids, and
    `Tokenizer.vocab` holds one of them.
    """
    return {id: tokenizer.token_spelling(id) for id in tokenizer._core.token_ids().tolist()}
