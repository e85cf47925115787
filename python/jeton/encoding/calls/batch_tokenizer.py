"""The tokenizer of a batch: how its tokens are spelled, and how it is pickled with the batch.

Look here for the size of a pickled batch: a tokenizer is pickled once for all of its batches, and
another process unpickles it at its first use.
"""

from __future__ import annotations

import functools
import pickle
from functools import cached_property
from typing import TYPE_CHECKING

from jeton.components import post_processors
from jeton.components.byte_alphabet import BYTES
from jeton.components.component import steps_of

if TYPE_CHECKING:
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
    def keeps_front_space(self) -> bool:
        """Whether the span of a window's first token keeps the one space at its front.

        Spans of other tokens leave their spaces out. Such a post-processor assumes that the
        pre-tokenizer added the space.
        """
        kinds = post_processors.ByteLevel, post_processors.RobertaProcessing
        return any(
            isinstance(step, kinds) and step.trim_offsets and step.add_prefix_space
            for step in steps_of(self.tokenizer.stages.post_processor)
        )

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
