"""The interface of `tiktoken.Encoding` for a jeton tokenizer, for code that already uses it.

Look here for the result of `Tokenizer.as_tiktoken()` and `jeton.tiktoken.get_encoding()`.
"""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal, TypeVar

from jeton.argument_types import SpecialPolicy
from jeton.arguments import check_text
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.errors import ArgumentError, EncodeError, UnknownTokenError
from jeton.interop.tiktoken.conditions import pattern_of, refuse_others

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_NOTHING: frozenset[str] = frozenset()
_Result = TypeVar("_Result")


class Encoding:
    r"""A byte-level tokenizer with the interface of `tiktoken.Encoding`.

    Differences from tiktoken: batches use all cores whatever `num_threads` says; of special tokens
    that begin at the same position the longest wins, where tiktoken leaves it to chance;
    `encode_to_numpy` accepts text with lone surrogates as `encode` does; completions are sorted by
    their ids.

    Args:
        name: The name of the encoding.
        pat_str: An expression whose matches are the pieces of a text.
        mergeable_ranks: Tokens with their ids, which are also the order of the merges. Text with a
            byte that is not among them is an `EncodeError`.
        special_tokens: Special tokens with their ids.
        explicit_n_vocab: The expected number of tokens.

    Raises:
        FormatError: Ranks contradict each other; the expression is invalid.
        ArgumentError: There are not `explicit_n_vocab` tokens, or their ids are not all below it.

    Example:
        >>> import jeton
        >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
        >>> tok = jeton.Tokenizer.from_ranks(
        ...     ranks, pattern=r"\w+|\W+", special_tokens={"<|endoftext|>": 257}
        ... )
        >>> enc = tok.as_tiktoken("tiny")
        >>> enc
        <Encoding 'tiny'>
        >>> enc.encode("ab<|endoftext|>", allowed_special="all")
        [256, 257]
        >>> enc.decode_with_offsets([256, 97])
        ('aba', [0, 2])
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        tokens = len(mergeable_ranks) + len(special_tokens)
        if explicit_n_vocab is not None and tokens != explicit_n_vocab:
            raise ArgumentError(
                f"explicit_n_vocab is {explicit_n_vocab}, but there are {tokens} tokens"
            )
        stand_ins = _stand_ins(mergeable_ranks, special_tokens)
        tokenizer = BaseTokenizer._for_users.from_ranks(
            {**mergeable_ranks, **stand_ins}, pattern=pat_str, special_tokens=special_tokens
        )
        max_id = tokenizer.vocab.max_id - len(stand_ins)
        if explicit_n_vocab is not None and max_id != explicit_n_vocab - 1:
            raise ArgumentError(
                f"explicit_n_vocab is {explicit_n_vocab}, but the largest id is {max_id}"
            )
        self._set(tokenizer, name, stand_ins)
        self._pat_str = pat_str

    @classmethod
    def of_tokenizer(cls, tokenizer: BaseTokenizer, name: str) -> Encoding:
        """The encoding of a tokenizer.

        Raises:
            UnsupportedError: It is not a byte-level BPE, or changes text when encoding or decoding.
        """
        encoding = cls.__new__(cls)
        encoding._set(tokenizer, name)
        return encoding

    def _set(
        self, tokenizer: BaseTokenizer, name: str, stand_ins: Mapping[bytes, int] | None = None
    ) -> None:
        check_text("name", name)
        refuse_others(tokenizer)
        self.name = name
        self._tokenizer = tokenizer
        self._stand_ins = {id: byte for byte, id in (stand_ins or {}).items()}
        self._special_tokens = tokenizer.special_tokens
        self._special_token_values = set(self._special_tokens.values())
        self.max_token_value = tokenizer.vocab.max_id - len(self._stand_ins)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text, in which special tokens are ordinary text."""
        return self._encoded(self._tokenizer.encode(text))

    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = _NOTHING,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[int]:
        """The ids of a text.

        Args:
            text: The text.
            allowed_special: The special tokens to encode to their own ids.
            disallowed_special: The texts that are an error; by default all special tokens that are
                not allowed. With `()`, they are text like any other.

        Raises:
            ValueError: The text contains a disallowed one.
            EncodeError: A byte of the text has no rank.
        """
        special = self._policy(text, allowed_special, disallowed_special)
        return self._encoded(self._tokenizer.encode(text, special=special))

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = _NOTHING,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> npt.NDArray[np.uint32]:
        """As `encode`, as a numpy array."""
        special = self._policy(text, allowed_special, disallowed_special)
        ids = self._tokenizer.encode_array(text, special=special)
        if self._stand_ins:
            self._encoded(ids.tolist())
        return ids

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """As `encode_ordinary`, of many texts."""
        _check_threads(num_threads)
        return [self._encoded(ids) for ids in self._tokenizer.encode_batch(text).tolist()]

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Literal["all"] | AbstractSet[str] = _NOTHING,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[list[int]]:
        """As `encode`, of many texts."""
        _check_threads(num_threads)
        texts = list(text)
        special = self._allowed(allowed_special)
        check = self._check(allowed_special, disallowed_special)
        for item in texts:
            check(item)
        batch = self._tokenizer.encode_batch(texts, special=special).tolist()
        return [self._encoded(ids) for ids in batch]

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of a token, special or not.

        Raises:
            KeyError: There is no such token.
        """
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        id = self._tokenizer.vocab[token]
        if id in self._stand_ins:
            raise UnknownTokenError(f"byte 0x{token[0]:02X} has no rank")
        return id

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = _NOTHING,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that more text cannot change, and possible ids for the rest of the text.

        Returns:
            The stable ids, and all lists of ids that may follow if the text continues: the bytes
            of each begin with the rest of the text.
        """
        special = self._policy(text, allowed_special, disallowed_special)
        ids, unstable = self._split_unstable(text, special)
        rest = self.decode_bytes(unstable)
        return ids, sorted(map(list, self._completions(rest))) if rest else []

    def _split_unstable(self, text: str, special: SpecialPolicy) -> tuple[list[int], list[int]]:
        """The ids of a text, split where its last piece begins."""
        encoding = self._tokenizer.encode_with_spans(text, special=special)
        ids = self._encoded(encoding.ids)
        if not ids or ids[-1] in self._special_token_values:
            return ids, []
        last_word = encoding.word_ids[-1]
        start = len(ids)
        while start and encoding.word_ids[start - 1] == last_word:
            start -= 1
        # White space at the end may be split in another way together with the pieces before it.
        if self._is_space(ids[start]):
            while start and self._is_space(ids[start - 1]):
                start -= 1
        return ids[:start], ids[start:]

    def _is_space(self, id: int) -> bool:
        return id not in self._special_token_values and not self._tokenizer.vocab.spelling(
            id
        ).strip(b" \n\t")

    def _completions(self, rest: bytes) -> set[tuple[int, ...]]:
        """All lists of ids that text beginning with `rest` may begin with."""
        completions: set[tuple[int, ...]] = {
            (self._mergeable_ranks[token],) for token in self._tokens_with_prefix(rest)
        }
        for cut in range(1, len(rest)):
            for token in self._tokens_with_prefix(rest[cut:]):
                completions.add(self._first_ids(rest[:cut] + token, len(rest)))
        # A pattern may leave the last white space to the next word.
        last = _last_character(rest)
        if len(last) < len(rest) and last.decode("utf-8", "replace").isspace():
            before = rest[: len(rest) - len(last)]
            completions.add((*self._merge(before), *self._merge(last)))
        return completions

    def _tokens_with_prefix(self, prefix: bytes) -> Iterator[bytes]:
        """The mergeable tokens that begin with `prefix`."""
        tokens = self._sorted_tokens
        start = bisect_left(tokens, prefix)
        return itertools.takewhile(
            lambda token: token.startswith(prefix), itertools.islice(tokens, start, None)
        )

    def _first_ids(self, data: bytes, length: int) -> tuple[int, ...]:
        """The ids that cover the first `length` bytes of `data`."""
        try:
            ids = self.encode_ordinary(data.decode())
        except UnicodeDecodeError:
            ids = self._merge(data)
        ends = itertools.accumulate(len(self._tokenizer.vocab.spelling(id)) for id in ids)
        count = next((n for n, end in enumerate(ends, 1) if end >= length), len(ids))
        return tuple(ids[:count])

    def _merge(self, data: bytes) -> list[int]:
        """The ids of bytes after all merges, even if the bytes together are a token."""
        if data not in self._mergeable_ranks or len(data) == 1:
            return self._encode_single_piece(data)
        parts = [data[i : i + 1] for i in range(len(data))]
        ranks = self._mergeable_ranks
        while True:
            pairs = [
                (ranks[left + right], at)
                for at, (left, right) in enumerate(itertools.pairwise(parts))
                if left + right in ranks
            ]
            if not pairs:
                return [ranks[part] for part in parts]
            _, at = min(pairs)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]

    # Decoding

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of ids.

        Raises:
            KeyError: An id belongs to no token.
        """
        self._check_known(tokens)
        return _in_range(lambda: self._tokenizer.decode_bytes(tokens))

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text of ids; `errors` is as in `bytes.decode`."""
        return self.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of a token, special or not.

        Raises:
            KeyError: The id belongs to no token.
        """
        self._check_known((token,))
        return _in_range(lambda: self._tokenizer.vocab.spelling(token))

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """The bytes of each token."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of ids, and the position of the character in which each token begins.

        Raises:
            UnicodeDecodeError: The bytes are not UTF-8.
        """
        pieces = self.decode_tokens_bytes(tokens)
        offsets = []
        characters = 0
        for piece in pieces:
            offsets.append(max(0, characters - _continues(piece[0])))
            characters += sum(not _continues(byte) for byte in piece)
        return b"".join(pieces).decode("utf-8", errors="strict"), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """As `decode`, of many rows."""
        _check_threads(num_threads)
        if self._stand_ins or errors not in ("replace", "strict", "ignore"):
            # As in tiktoken, an unknown handler is an error only if there is something to handle.
            return [self.decode(tokens, errors) for tokens in batch]
        return _in_range(lambda: self._tokenizer.decode_batch(batch, errors=errors))

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """As `decode_bytes`, of many rows."""
        _check_threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # The vocabulary

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens that are not special, sorted."""
        return list(self._sorted_tokens)

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`.

        Raises:
            KeyError: There is no such token.
        """
        return self._special_tokens["<|endoftext|>"]

    @functools.cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether an id is that of a special token."""
        assert isinstance(token, int)
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """One more than the largest id."""
        return self.max_token_value + 1

    @functools.cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return {
            token: id
            for token, id in self._tokenizer._core.model().vocab().items()
            if id not in self._special_token_values and id not in self._stand_ins
        }

    @functools.cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self._mergeable_ranks)

    @functools.cached_property
    def _pat_str(self) -> str:
        return pattern_of(self._tokenizer)

    # Private in tiktoken, but used by other code

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """The ids of bytes, without splitting them by the pattern."""
        piece = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        return self._encoded(self._tokenizer._core.encode_piece(piece))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """As `encode_ordinary`."""
        return self.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """The ids of any bytes: from the first byte on that is not UTF-8, all are one piece."""
        try:
            return self.encode_ordinary(text.decode())
        except UnicodeDecodeError as error:
            valid = text[: error.start]
        ids, unstable = self._split_unstable(valid.decode(), "ignore")
        rest = self.decode_bytes(unstable) + text[len(valid) :]
        return ids + self._encode_single_piece(rest)

    def __reduce__(self) -> tuple[object, ...]:
        if not self._stand_ins:
            return Encoding.of_tokenizer, (self._tokenizer, self.name)
        ranks, special = self._mergeable_ranks, self._special_tokens
        return _of_ranks, (self.name, self._pat_str, ranks, special)

    # Bytes without a rank

    def _encoded(self, ids: list[int]) -> list[int]:
        """The ids of a text; raises if one is that of a byte without a rank."""
        for id in ids if self._stand_ins else ():
            if byte := self._stand_ins.get(id):
                raise EncodeError(f"byte 0x{byte[0]:02X} has no rank, so no token holds it")
        return ids

    def _check_known(self, tokens: Iterable[int]) -> None:
        for token in tokens if self._stand_ins else ():
            if token in self._stand_ins:
                raise UnknownTokenError(
                    f"id {token} belongs to no token; the largest is {self.max_token_value}"
                )

    # Special tokens

    def _policy(
        self,
        text: str,
        allowed: Literal["all"] | AbstractSet[str],
        disallowed: Literal["all"] | Collection[str],
    ) -> SpecialPolicy:
        """`special=` for jeton, after a check for disallowed texts."""
        self._check(allowed, disallowed)(text)
        return self._allowed(allowed)

    def _allowed(self, allowed: Literal["all"] | AbstractSet[str]) -> SpecialPolicy:
        if allowed == "all":
            return "allow"
        # A name that is not a special token has no effect.
        return self.special_tokens_set.intersection(allowed) or "ignore"

    def _check(
        self,
        allowed: Literal["all"] | AbstractSet[str],
        disallowed: Literal["all"] | Collection[str],
    ) -> Callable[[str], None]:
        """A function that raises if a text contains a disallowed one."""
        if disallowed == "all":
            disallowed = set() if allowed == "all" else self.special_tokens_set - allowed
        if not disallowed:
            return lambda text: None
        pattern = _any_of(frozenset(disallowed))

        def check(text: str) -> None:
            if match := pattern.search(text):
                token = match.group()
                raise ValueError(
                    f"the text contains the disallowed special token {token!r}. To encode it as "
                    f"that token, pass allowed_special={{{token!r}}}; to encode it as text, pass "
                    f"disallowed_special=(enc.special_tokens_set - {{{token!r}}}), or "
                    "disallowed_special=() for all special tokens"
                )

        return check


TiktokenEncoding = Encoding


def _stand_ins(ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]) -> dict[bytes, int]:
    """Ids, above all others, for the bytes that have no rank.

    tiktoken takes ranks that lack some, as those of a lesson do. No merge depends on the rank of a
    single byte, so the ids of all other text are the same.
    """
    ids = [id for id in (*ranks.values(), *special_tokens.values()) if isinstance(id, int)]
    missing = [bytes([byte]) for byte in range(256) if bytes([byte]) not in ranks]
    return dict(zip(missing, itertools.count(max(ids, default=-1) + 1), strict=False))


def _of_ranks(
    name: str, pat_str: str, ranks: dict[bytes, int], special_tokens: dict[str, int]
) -> Encoding:
    return Encoding(name, pat_str=pat_str, mergeable_ranks=ranks, special_tokens=special_tokens)


@functools.lru_cache(maxsize=128)
def _any_of(tokens: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))


def _check_threads(num_threads: int) -> None:
    if num_threads <= 0:
        raise ArgumentError("num_threads must be greater than 0")


def _in_range(decode: Callable[[], _Result]) -> _Result:
    """Decodes; an int outside the range of ids is an `OverflowError`, as in tiktoken."""
    try:
        return decode()
    except UnknownTokenError:
        raise
    except ArgumentError as error:
        raise OverflowError(str(error)) from None


def _continues(byte: int) -> bool:
    """Whether a byte continues a character of UTF-8."""
    return 0x80 <= byte < 0xC0


def _last_character(data: bytes) -> bytes:
    """The bytes of the last character, or the last byte if no character ends there."""
    for length in range(1, min(4, len(data)) + 1):
        tail = data[-length:]
        try:
            if len(tail.decode()) == 1:
                return tail
        except UnicodeDecodeError:
            continue
    return data[-1:]
