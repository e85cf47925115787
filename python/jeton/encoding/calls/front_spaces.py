"""Spaces at the front of tokens, for post-processors that leave all but the first out of spans.

Look here for spans that depend on where a text was truncated, and on the words before. Such a
post-processor trims spans after truncation and after joining words, but jeton computes spans
earlier: for each text and each word alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jeton.components import post_processors

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.calls.batch_tokenizer import BatchTokenizer


def shows_one_space(post_processor: post_processors.PostProcessor | None) -> bool:
    """Whether spans leave out spaces, except one space of the first token.

    Such a post-processor assumes that the pre-tokenizer added the first space of a text: the space
    is in the span of the first token of a window, and of a token that begins at 0.
    """
    if isinstance(post_processor, post_processors.Sequence):
        return any(map(shows_one_space, post_processor.steps))
    if isinstance(post_processor, (post_processors.ByteLevel, post_processors.RobertaProcessing)):
        return post_processor.trim_offsets and post_processor.add_prefix_space
    return False


@dataclass(frozen=True)
class FrontSpaces:
    """Adds the one space at the front of tokens to their spans, or removes it.

    A span that begins at 0 is the same either way. If a token begins with several spaces, its span
    never has them.
    """

    spelling: BatchTokenizer
    unit: str

    def with_space(
        self,
        ids: npt.NDArray[np.uint32],
        spans: npt.NDArray[np.int64],
        texts: Callable[[], Sequence[str | None]],
    ) -> npt.NDArray[np.int64]:
        """Adds the space to spans that lack it; `texts` returns the text of each token."""
        width, is_only = self._widths(ids, spans, texts, is_behind=False)
        starts, ends = spans.T
        # The span of a token that is only a space lost it at its end too.
        shrunk = is_only & (starts == ends)
        return np.stack([starts - width, ends - width * shrunk], axis=1)

    def without_space(
        self,
        ids: npt.NDArray[np.uint32],
        spans: npt.NDArray[np.int64],
        texts: Callable[[], Sequence[str | None]],
    ) -> npt.NDArray[np.int64]:
        """Removes the space from spans that have it; `texts` returns the text of each token."""
        width, is_only = self._widths(ids, spans, texts, is_behind=True)
        starts, ends = spans.T
        shifted = starts + width
        starts = np.where(is_only, shifted, np.minimum(shifted, ends))
        return np.stack([starts, np.maximum(starts, ends)], axis=1)

    def _widths(
        self,
        ids: npt.NDArray[np.uint32],
        spans: npt.NDArray[np.int64],
        texts: Callable[[], Sequence[str | None]],
        *,
        is_behind: bool,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The width of the one space of each token, and which tokens are nothing else.

        The width is 0 for no space, for several, and for a span that begins at 0. Otherwise it is
        the width of the character of the text in its place, which a normalizer may have changed.
        """
        widths, only = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
        later = spans[:, 0] > 0
        widths[later], only[later] = self.spelling.spaces(ids[later], self.unit)
        if self.unit == "characters":
            return widths, only
        text_of_token = texts()
        code, size = ("utf-8", 1) if self.unit == "bytes" else ("utf-16-le", 2)
        bytes_of_text: dict[str, bytes] = {}
        for at in np.flatnonzero(widths).tolist():
            text, place = text_of_token[at], int(spans[at, 0]) * size
            if text is None or text.isascii():
                continue
            if text not in bytes_of_text:
                bytes_of_text[text] = text.encode(code, "surrogatepass")
            data = bytes_of_text[text]
            near = data[place : place + 4] if is_behind else data[max(0, place - 4) : place]
            if characters := near.decode(code, "ignore"):
                widths[at] = len(characters[0 if is_behind else -1].encode(code)) // size
        return widths, only
