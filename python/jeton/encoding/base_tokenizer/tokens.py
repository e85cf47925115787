"""The tokens of a tokenizer with their ids, merges and scores."""

from __future__ import annotations

from typing import TypeVar

from jeton.encoding.base_tokenizer.core import Core
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError
from jeton.results.vocabulary import Vocabulary, bytes_of

__all__ = ["HasTokens", "bytes_by_id"]

_T = TypeVar("_T")


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

        `token_bytes` is what it adds to text; `bytes_to_id` gives the id of a spelling.

        Raises:
            UnknownTokenError: The id belongs to no token.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").token_spelling(1)
            b'h'
        """
        return self._checked_bytes(id, self._core.id_to_bytes(id))

    def id_to_bytes(self, id: int) -> bytes:
        """The old name of `token_spelling`.

        Raises:
            UnknownTokenError: The id belongs to no token.
        """
        return self.token_spelling(id)

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

    def _checked_bytes(self, id: int, token: bytes | None) -> bytes:
        if token is None:
            raise UnknownTokenError(f"id {id} has no token; the largest id is {self.max_id}")
        return token

    def bytes_to_id(self, token: bytes | str) -> int:
        """The id of a token, given as bytes, or as text that is encoded as UTF-8.

        Raises:
            UnknownTokenError: There is no such token.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").bytes_to_id(b"h")
            1
        """
        id = self._core.bytes_to_id(bytes_of(token))
        if id is None:
            raise UnknownTokenError(f"{token!r} is not a token of this tokenizer")
        return id

    def id_of(self, token: bytes | str, default: _T | None = None) -> int | _T | None:
        """The id of a token, as in `bytes_to_id`, or `default` if there is no such token.

        `token in tok` says whether there is one.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.id_of("h"), tok.id_of("x"), tok.id_of("x", -1), "x" in tok
            (1, None, -1, False)
        """
        id = self._core.bytes_to_id(bytes_of(token))
        return default if id is None else id

    def __contains__(self, token: bytes | str) -> bool:
        return self._core.bytes_to_id(bytes_of(token)) is not None

    @property
    def vocab_size(self) -> int:
        """How many ids belong to a token. If there are gaps, `max_id` is larger than this."""
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
