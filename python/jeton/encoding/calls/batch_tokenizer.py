"""The tokenizer of a batch: how its tokens are spelled, and how it is pickled with the batch.

Look here for the size of a pickled batch: a tokenizer is pickled once for all of its batches, and
another process unpickles it at its first use.
"""

from __future__ import annotations

import functools
import pickle
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jeton.components.byte_alphabet import BYTES

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.base_tokenizer import BaseTokenizer


class BatchTokenizer:
    """How the tokens of a tokenizer are spelled, and the tokenizer itself."""

    def __init__(self, tokenizer: BaseTokenizer) -> None:
        self.__dict__["tokenizer"] = tokenizer

    @cached_property
    def tokenizer(self) -> BaseTokenizer:
        """The tokenizer; after unpickling, it is built at its first use."""
        return _unpickled(self._image)

    @cached_property
    def _image(self) -> bytes:
        return pickle.dumps(self.tokenizer)

    def __getstate__(self) -> dict[str, bytes]:
        return {"_image": self._image}

    def __call__(self, id: int) -> str:
        """A token as a `tokenizer.json` spells it: `Ġthe`, `##s`, `▁the`, `<0xF0>`."""
        token = self.tokenizer.vocab.spelling(id)
        if self._has_raw_tokens and id not in self._added_ids:
            return "".join(_ALPHABET[byte] for byte in token)
        return token.decode("utf-8", "replace")

    def spaces(
        self, ids: npt.NDArray[np.uint32], unit: str
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The width of the one space that each token begins with, and which tokens are only it.

        The width is 0 if the token begins with no space, or with several.
        """
        different, numbers = np.unique(ids, return_inverse=True)
        tokens = [self(id) for id in different.tolist()]
        fronts = [[_is_space(character) for character in token[:2]] for token in tokens]
        widths = np.array(
            [
                _width(token[0], unit) if front in ([True], [True, False]) else 0
                for token, front in zip(tokens, fronts, strict=True)
            ],
            np.int64,
        )
        only = np.array([front == [True] for front in fronts], np.bool_)
        return widths[numbers], only[numbers]

    @cached_property
    def _added_ids(self) -> set[int]:
        return {token.id for token in self.tokenizer.stages.added_tokens if token.id is not None}

    @cached_property
    def _has_raw_tokens(self) -> bool:
        return self.tokenizer._core.has_raw_tokens


@functools.lru_cache(maxsize=4)
def _unpickled(image: bytes) -> BaseTokenizer:
    tokenizer: BaseTokenizer = pickle.loads(image)
    return tokenizer


_ALPHABET = {byte: character for character, byte in BYTES.items()}
"""GPT-2's printable character for each byte."""


def _is_space(character: str) -> bool:
    """Whether trimming removes a character: Unicode's white space, and GPT-2's space."""
    return character == _ALPHABET[ord(" ")] or (
        character.isspace() and not "\x1c" <= character <= "\x1f"
    )


def _width(space: str, unit: str) -> int:
    """The width of a space in a text; GPT-2's character for a space is one byte of the text."""
    return len(space.encode()) if unit == "bytes" and space != _ALPHABET[ord(" ")] else 1
