"""Frames: the special tokens that a post-processor puts around one text, or around two.

Look here for how jeton finds the frame of a post-processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from jeton.components import post_processors
from jeton.results.encoding import Encoding


@dataclass(frozen=True)
class FramePart:
    """One special token of a frame, or the place of a text."""

    text: int | None
    """Which text goes here, 0 or 1; `None` for a special token."""
    id: int
    """The id of the special token."""
    type_id: int
    """The type id of the token, or of the text's tokens."""


Frame: TypeAlias = tuple[FramePart, ...]

_TEXTS: Final = (2**32 - 1, 2**32 - 2)
"""Ids that no token has, for two texts of one token each."""


def frame_of(
    post_processor: post_processors.PostProcessor | None, *, pair: bool, add_special_tokens: bool
) -> Frame:
    """The frame of one text, or of two: what the post-processor does to texts of one token.

    Example:
        >>> from jeton.components import post_processors
        >>> bert = post_processors.BertProcessing(sep=("[SEP]", 102), cls=("[CLS]", 101))
        >>> [piece.id for piece in frame_of(bert, pair=False, add_special_tokens=True)]
        [101, 4294967295, 102]
    """
    if post_processor is None:
        return tuple(FramePart(number, _TEXTS[number], number) for number in range(1 + pair))
    texts = [Encoding([id], [(0, 0)], [0], [0], [0], [False], [b""]) for id in _TEXTS[: 1 + pair]]
    framed = post_processor(*texts, add_special_tokens=add_special_tokens)
    return tuple(
        FramePart(_TEXTS.index(id) if id in _TEXTS else None, id, type_id)
        for id, type_id in zip(framed.ids, framed.type_ids, strict=True)
    )
