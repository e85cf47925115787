"""How a text becomes ids, as the frames of `jeton learn`, in JSON."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from jeton.display.human_readable import counted, visible, visible_pieces, without_controls
from jeton.display.views.frames import Arcs, Frame
from jeton.encoding.explaining import explain
from jeton.encoding.explaining.steps import Merging
from jeton.encoding.explaining.view_frames import frames_of_encoding
from jeton.errors import ArgumentError
from jeton.play.shelf import Card
from jeton.play.token_details import token_text

MAX_EXPLAINED: Final = 400
"""Characters that are explained: each is a step or several."""


def steps(card: Card, text: str, special: str) -> dict[str, object]:
    """The steps of encoding a short text, and the tokens that they end with."""
    if not text:
        raise ArgumentError("select a word in the text, or a token")
    if len(text) > MAX_EXPLAINED:
        raise ArgumentError(
            f"{len(text):,} characters are too many to explain: select up to {MAX_EXPLAINED}"
        )
    policy: Any = "allow" if special == "allow" else "ignore"
    explanation = explain(card.tokenizer, text, special=policy, add_special_tokens=False)
    return {
        "frames": frames_as_json(
            frames_of_encoding(explanation.text, explanation.steps, _merging(card))
        ),
        "tokens": [
            {"id": token.id, "shown": token_text(token.token)} for token in explanation.tokens
        ],
    }


@dataclass(frozen=True)
class Joining:
    """The symbols of a piece in their places, before a merge or after the last.

    Attributes:
        numbers: For each two neighbours, the number of the merge that would join them.
        joins: The index of the first of the two that are merged next; -1 if none are.
        made: The index of the symbol that the merge before made; -1 if there was none.
    """

    symbols: tuple[str, ...]
    numbers: tuple[int | None, ...]
    joins: int
    made: int
    title: str = ""


def _merging(card: Card) -> Callable[[str, Merging], Iterator[Frame]]:
    """Draws the merges of a piece in place, with the numbers that merges have in training."""

    def frames(title: str, piece: Merging) -> Iterator[Frame]:
        places = list(range(len(piece.symbols)))
        note = f"{counted(len(places), 'symbol')}."
        made = -1
        for number, row in enumerate(piece.rows()):
            merge = piece.merges[number] if number < len(piece.merges) else None
            joins = -1 if merge is None else places.index(merge.at)
            pairs = list(itertools.pairwise(row))
            numbers = tuple(map(card.merge_numbers.get, pairs))
            ahead = [it for it in numbers if it is not None]
            if merge is None:
                note += " No two neighbours have a merge." if not ahead else ""
            elif numbers[joins] is not None:
                note += (
                    f" Of the neighbours with a merge, merge {numbers[joins]:,} was learnt first."
                )
            else:
                note += " The two with the best score are joined."
            yield Frame(title, note, (Joining(tuple(visible_pieces(row)), numbers, joins, made),))  # type: ignore[arg-type]
            if merge is not None:
                which = numbers[joins]
                how = f"Merge {which:,}" if which is not None else f"Score {merge.score:g}"
                note = f"{how}: {visible(merge.left)} + {visible(merge.right)}."
                made = joins
                del places[joins + 1]

    return frames


def frames_as_json(frames: list[Frame]) -> list[dict[str, object]]:
    """Frames as JSON; each block says its kind."""
    return [
        {
            "title": frame.title,
            "note": frame.note,
            "blocks": [
                {
                    "kind": type(block).__name__,
                    **dataclasses.asdict(block),
                    **(
                        {"arcs": [(dataclasses.asdict(arc), lane) for arc, lane in block.lanes()]}
                        if isinstance(block, Arcs)
                        else {}
                    ),
                }
                for block in frame.blocks
            ],
        }
        for frame in map(without_controls, frames)
    ]
