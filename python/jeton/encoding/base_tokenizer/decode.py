"""Ids to text, all at once or as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from jeton.arguments import check_error_handler, checked_int
from jeton.encoding.base_tokenizer.core import Core
from jeton.errors import ArgumentTypeError, UnknownTokenError

if TYPE_CHECKING:
    from jeton._core import DecodeStream

__all__ = ["Decodes"]

UnknownIds: TypeAlias = Literal["error", "skip", "show"]
"""What becomes of ids that stand for no token."""


class Decodes(Core):
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
            skip_special_tokens: Leave special tokens out; or the tokens to leave out, by spelling
                or id, as `["<|startoftranscript|>", "<|endoftext|>"]` where timestamps are to stay.
            errors: What becomes of bytes that are not UTF-8, as in `bytes.decode`: `"replace"`,
                `"strict"`, `"ignore"`, `"backslashreplace"`, …
            unknown_ids: What becomes of ids that stand for no token, as those of the padded rows of
                a model's output layer: `"error"`, `"skip"`, or `"show"`, which writes
                `[unknown id 50300]`.

        Raises:
            ArgumentTypeError: `ids` are no integers.
            UnknownTokenError: An id stands for no token; the message names it. A token to leave out
                is not in the vocabulary.
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
        """Where each of these ids stands in the text that `decode` makes of them.

        For ids that a model wrote, with a log-probability each: `tok.decode(ids)[start:end]` is
        what an id adds to the text. One that holds part of a character has the span of the whole
        character; one that is left out, an empty one.

        Args:
            ids: As in `decode`; so are `skip_special_tokens` and `unknown_ids`.
            unit: What spans count, as in `encode_with_spans`.

        Raises:
            UnsupportedError: A decoder by which tokens do not add up to the text, as `CTC`.
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

        Other arguments and errors are those of `decode`; an error names the row it is about.

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
        """A stream that gives the text of ids as they come, each part as soon as it is sure.

        Put together, its parts are what `decode` gives for all ids. Part of a character is kept
        until the rest is there; so is a run of byte tokens (`<0xF0>`) where its end decides what it
        is, and what may begin a stop. A decoder that needs all tokens gives everything at the end.

        Args:
            skip_special_tokens: Leave special tokens out, or these tokens, as in `decode`.
            errors: What becomes of bytes that are not UTF-8: as in `decode`, these three.
            unknown_ids: What becomes of ids that stand for no token, as in `decode`.
            stop: Texts before which the text ends: before the first of them to be complete, however
                tokens cut it. What follows is dropped. An answer that quotes `<|im_end|>` holds its
                spelling: to end at the token, pass its id in `stop_ids`.
            stop_ids: Tokens before which the text ends. They end it whether or not they are left
                out of the text; a text that spells them does not.
            min_tokens: How many ids come before a stop counts: none begins in the text of these
                ids. A character belongs to the id that completes it.

        Raises:
            ArgumentTypeError: `stop` holds something else than `str`, or `stop_ids` than integers.
            ArgumentError: An unknown `errors`; an empty stop, or one that holds the spelling of a
                token that is left out and so never comes.
            UnknownTokenError: An id of `stop_ids` stands for no token.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(257).train(["aa"])
            >>> stream = tok.decode_stream()
            >>> [stream.push(id) for id in tok.encode("né")] + [stream.finish()]
            ['n', '', 'é', '']
            >>> stream = tok.decode_stream(stop_ids=[tok.id_of("!")])
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
        """Whether special tokens are left out, or the ids of the tokens that are."""
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
