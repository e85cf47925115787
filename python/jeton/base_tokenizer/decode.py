"""Ids to text, all at once or as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from jeton.arguments import check_error_handler
from jeton.base_tokenizer.core import Core

if TYPE_CHECKING:
    from jeton._core import DecodeStream

__all__ = ["Decodes"]


class Decodes(Core):
    """The part of `Tokenizer` for ids to text."""

    __slots__ = ()

    def decode(
        self,
        ids: Iterable[int],
        *,
        skip_special_tokens: bool = False,
        errors: str = "replace",
    ) -> str:
        """The text of ids.

        Args:
            ids: Any iterable of ints, or a numpy array of integers.
            skip_special_tokens: Leave special tokens out.
            errors: What becomes of bytes that are not UTF-8, as in `bytes.decode`: `"replace"`,
                `"strict"`, `"ignore"`, `"backslashreplace"`, …

        Raises:
            ArgumentTypeError: `ids` are no integers.
            UnknownTokenError: An id stands for no token; the message names it.
            DecodeError: With `errors="strict"`, bytes that are not UTF-8.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").decode([1, 3, 2, 0])
            'hole'
        """
        check_error_handler(errors)
        return self._core.decode(ids, skip_special_tokens, errors)

    def decode_bytes(self, ids: Iterable[int], *, skip_special_tokens: bool = False) -> bytes:
        r"""The bytes of ids, whether they are UTF-8 or not.

        Arguments and errors are those of `decode`.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("é").decode_bytes([0])
            b'\xc3\xa9'
        """
        return self._core.decode_bytes(ids, skip_special_tokens)

    def decode_batch(
        self,
        batch: Iterable[Iterable[int]],
        *,
        skip_special_tokens: bool = False,
        errors: str = "replace",
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
        return self._core.decode_batch(batch, skip_special_tokens, errors)

    def decode_stream(
        self,
        *,
        skip_special_tokens: bool = False,
        errors: Literal["replace", "strict", "ignore"] = "replace",
        stop: str | Iterable[str] = (),
    ) -> DecodeStream:
        """A stream that gives the text of ids as they come, each part as soon as it is sure.

        Put together, its parts are what `decode` gives for all ids. Part of a character is kept
        until the rest is there; so is a run of byte tokens (`<0xF0>`) where its end decides what it
        is, and what may begin a stop. A decoder that needs all tokens gives everything at the end.

        Args:
            skip_special_tokens: Leave special tokens out.
            errors: What becomes of bytes that are not UTF-8: as in `decode`, these three.
            stop: Texts before which the text ends: before the first of them to be complete, however
                tokens cut it. What follows is dropped.

        Raises:
            ArgumentTypeError: `stop` holds something else than `str`.
            ArgumentError: An unknown `errors`; an empty stop.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(257).train(["aa"])
            >>> stream = tok.decode_stream()
            >>> [stream.push(id) for id in tok.encode("né")] + [stream.finish()]
            ['n', '', 'é', '']
        """
        from jeton import streams

        stops = streams.checked_stops(stop, errors)
        return self._core.decode_stream(skip_special_tokens, errors, stops)
