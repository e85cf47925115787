"""How a text becomes ids, as the frames of `jeton learn`, in JSON."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from jeton.display.human_readable import without_controls
from jeton.display.views.frames import Arcs, Frame
from jeton.encoding.explaining import explain
from jeton.encoding.explaining.view_frames import frames_of_encoding
from jeton.errors import ArgumentError
from jeton.play.shelf import Card
from jeton.play.token_details import token_text

__all__ = ["MAX_EXPLAINED", "frames_as_json", "steps"]

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
        "frames": frames_as_json(frames_of_encoding(explanation.text, explanation.steps)),
        "tokens": [
            {"id": token.id, "shown": token_text(token.token)} for token in explanation.tokens
        ],
    }


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
