"""Spaces at the front of tokens, where a post-processor leaves them out of spans but for the first.

Look here for spans that depend on where a text was cut, and on which words stand before. Such a
post-processor trims after texts are cut and words are joined, while spans are found before: of each
text and of each word by itself.
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

__all__ = ["FrontSpaces", "shows_one_space"]


def shows_one_space(post_processor: post_processors.PostProcessor | None) -> bool:
    """Whether spans leave out spaces, but one of the first token.

    Such a post-processor takes the first space of a text for one that the pre-tokenizer put there:
    it is in the span of the token that comes first in a window, and of one that begins at 0.
    """
    if isinstance(post_processor, post_processors.Sequence):
        return any(map(shows_one_space, post_processor.steps))
    if isinstance(post_processor, (post_processors.ByteLevel, post_processors.RobertaProcessing)):
        return post_processor.trim_offsets and post_processor.add_prefix_space
    return False


@dataclass(frozen=True)
class FrontSpaces:
    """Puts the one space at the front of tokens into their spans, or leaves it out.

    A span that begins at 0 is the same either way. Of more spaces than one, all are left out.
    """

    spelling: BatchTokenizer
    unit: str

    def with_space(
        self,
        ids: npt.NDArray[np.uint32],
        spans: npt.NDArray[np.int64],
        texts: Callable[[], Sequence[str | None]],
    ) -> npt.NDArray[np.int64]:
        """Spans with the space, of those without it; `texts` gives the text of each token."""
        width, is_only = self._widths(ids, spans, texts, is_behind=False)
        starts, ends = spans.T
        # A space by itself, left out at the front, is left out at the back too.
        shrunk = is_only & (starts == ends)
        return np.stack([starts - width, ends - width * shrunk], axis=1)

    def left_out(
        self,
        ids: npt.NDArray[np.uint32],
        spans: npt.NDArray[np.int64],
        texts: Callable[[], Sequence[str | None]],
    ) -> npt.NDArray[np.int64]:
        """Spans without the space, of those with it; `texts` gives the text of each token."""
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
        """How wide the one space of each token is, and which tokens are nothing else.

        It is 0 wide where there is none, or several, or where the span begins at 0. It is as wide
        as the character that the text has in its place, which a normalizer may have changed.
        """
        widths, only = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
        later = spans[:, 0] > 0
        widths[later], only[later] = self.spelling.spaces(ids[later], self.unit)
        if self.unit == "characters":
            return widths, only
        given = texts()
        code, size = ("utf-8", 1) if self.unit == "bytes" else ("utf-16-le", 2)
        encoded: dict[str, bytes] = {}
        for at in np.flatnonzero(widths).tolist():
            text, place = given[at], int(spans[at, 0]) * size
            if text is None or text.isascii():
                continue
            if text not in encoded:
                encoded[text] = text.encode(code, "surrogatepass")
            data = encoded[text]
            near = data[place : place + 4] if is_behind else data[max(0, place - 4) : place]
            if characters := near.decode(code, "ignore"):
                widths[at] = len(characters[0 if is_behind else -1].encode(code)) // size
        return widths, only
