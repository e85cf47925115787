"""The tokenizer of a batch: how its tokens are spelled, and how it is pickled with the batch.

Look here for the size of a pickled batch: a tokenizer is pickled once for all of its batches, and
another process unpickles it at its first use. Look here, too, for spans without the spaces of their
tokens.
"""

from __future__ import annotations

import functools
import pickle
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jeton.components import post_processors
from jeton.components.byte_alphabet import BYTES
from jeton.components.component import steps_of

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

    @cached_property
    def trims(self) -> tuple[bool, ...]:
        """For each stage of the post-processor that leaves spaces out of spans, whether it keeps
        one at the front; empty if none keeps one.

        Such a stage assumes that the pre-tokenizer added that space: it stays in the span of the
        first token of a window, and of a token that begins at 0.
        """
        kinds = post_processors.ByteLevel, post_processors.RobertaProcessing
        stages = tuple(
            step.add_prefix_space
            for step in steps_of(self.tokenizer.stages.post_processor)
            if isinstance(step, kinds) and step.trim_offsets
        )
        return stages if any(stages) else ()

    @cached_property
    def untrimmed(self) -> BaseTokenizer:
        """A tokenizer of the same tokens, whose spans have their spaces."""
        return self.tokenizer.replace(post_processor=None)

    def trimmed(
        self,
        ids: npt.NDArray[np.uint32],
        spans: npt.NDArray[np.int64],
        is_first: npt.NDArray[np.bool_],
    ) -> npt.NDArray[np.int64]:
        """Trims spans as the post-processor does, in characters.

        Args:
            ids: The id of each token.
            spans: Its span.
            is_first: Whether it is the first of its window.
        """
        spaces = np.zeros((2, int(ids.max(initial=0)) + 1), np.int64)
        for id in np.flatnonzero(np.bincount(ids)).tolist():
            token = self(id)
            spaces[:, id] = [
                len(token) - len(rest) for rest in (token.lstrip(_SPACES), token.rstrip(_SPACES))
            ]
        leading, trailing = spaces[:, ids]
        starts, ends = spans.T
        for keeps_one in self.trims:
            keeps = keeps_one & (leading == 1) & (is_first | (starts == 0))
            starts = np.minimum(starts + np.where(keeps, 0, leading), ends)
            ends = np.where(ends >= trailing, np.maximum(ends - trailing, starts), ends)
        return np.stack([starts, ends], axis=1)

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


_SPACES = _ALPHABET[ord(" ")] + "".join(
    character
    for character in map(chr, range(0x3001))
    if character.isspace() and not "\x1c" <= character <= "\x1f"
)
"""The characters that trimming removes: Unicode's white space, and GPT-2's space."""
