"""Ids to text, all at once or as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from jeton.arguments import check_error_handler, checked_int
from jeton.encoding.base_tokenizer.core import Core
from jeton.errors import ArgumentTypeError, UnknownTokenError

if TYPE_CHECKING:
    from jeton._core import DecodeStream

UnknownIds: TypeAlias = Literal["error", "skip", "show"]
"""What to do with ids that belong to no token."""


class DecodeMethods(Core):
    """The part of `Tokenizer` for ids to text."""

    __slots__ = ()

    def decode(
        self,
        ids: Iterable[int],
        *,
        skip_special_tokens: bool | Iterable[str | int] = False,
        errors: str = "replace",
        unknown_ids: UnknownIds = "error",
    ) -> str:
        """The text of ids.

        Args:
            ids: Any iterable of ints, or a numpy array of integers.
            skip_special_tokens: Whether to leave out special tokens; or a list of the tokens to
                leave out, by spelling or id, such as `["<|startoftranscript|>", "<|endoftext|>"]`
                to keep timestamps.
            errors: How to handle bytes that are not UTF-8, as in `bytes.decode`: `"replace"`,
                `"strict"`, `"ignore"`, `"backslashreplace"`, …
            unknown_ids: What to do with ids that belong to no token, such as those of the padding
                of a model's output layer: `"error"`, `"skip"`, or `"show"`, which writes
                `[unknown id 50300]`.

        Raises:
            ArgumentTypeError: `ids` are not integers.
            UnknownTokenError: An id belongs to no token; the message names it. Or a token to leave
                out is not in the vocabulary.
            DecodeError: With `errors="strict"`, bytes that are not UTF-8.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.decode([1, 3, 2, 0])
            'hole'
            >>> tok.decode([1, 3, 9], unknown_ids="show")
            'ho[unknown id 9]'
        """
        check_error_handler(errors)
        return self._core.decode(ids, self._skipped(skip_special_tokens), unknown_ids, errors)

    def decode_bytes(
        self,
        ids: Iterable[int],
        *,
        skip_special_tokens: bool | Iterable[str | int] = False,
        unknown_ids: UnknownIds = "error",
    ) -> bytes:
        r"""The bytes of ids, whether they are UTF-8 or not.

        Arguments and errors are those of `decode`.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("é").decode_bytes([0])
            b'\xc3\xa9'
        """
        return self._core.decode_bytes(ids, self._skipped(skip_special_tokens), unknown_ids)

    def spans_of(
        self,
        ids: Iterable[int],
        *,
        skip_special_tokens: bool | Iterable[str | int] = False,
        unknown_ids: UnknownIds = "error",
        unit: Literal["characters", "bytes", "utf-16"] = "characters",
    ) -> list[tuple[int, int]]:
        """The span of each of these ids in the text that `decode` returns for them.

        Useful for ids that a model wrote, with a log-probability each: `tok.decode(ids)[start:end]`
        is what an id adds to the text. An id that holds part of a character has the span of the
        whole character; an id that is left out has an empty span.

        Args:
            ids: As in `decode`; so are `skip_special_tokens` and `unknown_ids`.
            unit: What spans count, as in `encode_with_spans`.

        Raises:
            UnsupportedError: The decoder does not join tokens one after another, as `CTC`.
            UnknownTokenError: As `decode`.

        Example:
            >>> import jeton
            >>> tok = jeton.WordPieceTrainer(17).train(["hug pug pun bun hugs"] * 5)
            >>> ids = tok.encode("hugs pun")
            >>> tok.decode(ids), tok.spans_of(ids)
            ('hugs pun', [(0, 1), (1, 3), (3, 4), (4, 6), (6, 7), (7, 8)])
        """
        return self._core.spans_of(ids, self._skipped(skip_special_tokens), unknown_ids, unit)

    def decode_batch(
        self,
        batch: Iterable[Iterable[int]],
        *,
        skip_special_tokens: bool | Iterable[str | int] = False,
        errors: str = "replace",
        unknown_ids: UnknownIds = "error",
    ) -> list[str]:
        """The texts of many sequences of ids, such as a `TokenBatch`, decoded on all cores.

        Other arguments and errors are those of `decode`; an error names the sequence it is about.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.decode_batch([[1, 3], [2, 0]])
            ['ho', 'le']
        """
        check_error_handler(errors)
        skipped = self._skipped(skip_special_tokens)
        return self._core.decode_batch(batch, skipped, unknown_ids, errors)

    def decode_stream(
        self,
        *,
        skip_special_tokens: bool | Iterable[str | int] = False,
        errors: Literal["replace", "strict", "ignore"] = "replace",
        unknown_ids: UnknownIds = "error",
        stop: str | Iterable[str] = (),
        stop_ids: Iterable[int] = (),
        min_tokens: int = 0,
    ) -> DecodeStream:
        """A stream that returns the text of ids as they arrive, each part as soon as it is certain.

        Joined, its parts are what `decode` returns for all ids. The stream holds back part of a
        character until the rest arrives; a run of byte tokens (`<0xF0>`) whose end decides how it
        is read; and what may be the beginning of a stop. A decoder that needs all tokens returns
        everything at the end.

        Args:
            skip_special_tokens: Whether to leave out special tokens, or which, as in `decode`.
            errors: How to handle bytes that are not UTF-8: one of these three, as in `decode`.
            unknown_ids: What to do with ids that belong to no token, as in `decode`.
            stop: Texts that end the stream. The text ends before the first of them that is
                complete, however tokens split it; the rest is dropped. An answer that quotes
                `<|im_end|>` contains its spelling: to stop at the token, pass its id in `stop_ids`.
            stop_ids: Tokens that end the stream. The text ends before them, whether or not
                `skip_special_tokens` leaves them out; text that spells them does not end it.
            min_tokens: How many ids must come before a stop counts: no stop begins in the text of
                these ids. A character belongs to the id that completes it.

        Raises:
            ArgumentTypeError: `stop` holds something other than `str`, or `stop_ids` something
                other than integers.
            ArgumentError: An unknown `errors`; an empty stop, or one that holds the spelling of a
                token that is left out and so never appears.
            UnknownTokenError: An id of `stop_ids` belongs to no token.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(257).train(["aa"])
            >>> stream = tok.decode_stream()
            >>> [stream.push(id) for id in tok.encode("né")] + [stream.finish()]
            ['n', '', 'é', '']
            >>> stream = tok.decode_stream(stop_ids=[tok.vocab["!"]])
            >>> stream.push(tok.encode("aa! b")), stream.stopped, stream.kept_tokens
            ('aa', '!', 1)
        """
        from jeton.encoding import streams

        stops = streams.checked_stops(stop, errors)
        return self._core.decode_stream(
            self._skipped(skip_special_tokens),
            unknown_ids,
            errors,
            stops,
            stop_ids,
            checked_int("min_tokens", min_tokens, 0),
        )

    def _skipped(self, tokens: bool | Iterable[str | int]) -> bool | list[int]:
        """Whether to leave out special tokens, or the ids of the tokens to leave out."""
        if isinstance(tokens, (str, bytes)):
            raise ArgumentTypeError(
                "skip_special_tokens must be a bool or a list of tokens, not "
                f"{type(tokens).__name__}"
            )
        if isinstance(tokens, bool) or not isinstance(tokens, Iterable):
            return tokens
        known = []
        for token in tokens:
            if not isinstance(token, str):
                # If it is not an id, the core says what is wrong.
                known.append(token)
                continue
            id = self._core.bytes_to_id(token.encode())
            if id is None:
                raise UnknownTokenError(f"skip_special_tokens: {token!r} is not a token")
            known.append(id)
        return known
