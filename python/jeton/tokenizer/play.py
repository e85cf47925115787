"""`tok.play()`: opens the page of `jeton play` with a tokenizer.

The page uses all of jeton, so its package is in a layer above this one; `jeton/__init__.py`, which
imports both, sets the function that opens a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

from jeton.arguments import check_named
from jeton.encoding.base_tokenizer import BaseTokenizer


class ServedPage(Protocol):
    """The part of `jeton.play.Page` that this module uses."""

    url: str

    def close(self) -> None:
        """Ends the server."""


class OpensPage(Protocol):
    """Starts a page with tokenizers, each under the name on its card, and a text."""

    def __call__(self, tokenizers: Mapping[str, BaseTokenizer], text: str) -> ServedPage: ...


class PlayMethod(BaseTokenizer):
    """The part of `Tokenizer` that opens a page."""

    __slots__ = ()

    _open_page: ClassVar[OpensPage]

    def play(
        self, text: str = "", *, beside: Mapping[str, BaseTokenizer] | None = None
    ) -> ServedPage:
        """Opens the page of `jeton play` with this tokenizer; a notebook shows it in a frame.

        It is served on this machine, at a secret address, until it is closed or the program ends.

        Args:
            text: The text to begin with.
            beside: Other tokenizers to compare with, by the names on their cards.

        Returns:
            A `jeton.play.Page`: `url` is its address, `close()` ends it.

        Raises:
            ArgumentTypeError: `text` is not a `str`, or `beside` not a mapping of names to
                tokenizers.
            UnsupportedError: starlette or uvicorn is not installed (`pip install 'jeton[play]'`).

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> page = tok.play("hello")
            >>> page.url.startswith("http://127.0.0.1:")
            True
            >>> page.close()
        """
        others = {} if beside is None else beside
        check_named("beside", others, BaseTokenizer, "a Tokenizer")
        return self._open_page({"tokenizer": self, **others}, text)
