"""Whether the ids of each turn begin those of the next: what a cache of a model depends on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from jeton.chat.templates.turn_shape import shared_length
from jeton.display.human_readable import counted


@dataclass(frozen=True)
class Step:
    """A rendering of the first messages of a chat.

    Attributes:
        messages: How many messages.
        prompt: Whether the generation prompt follows them.
        kept: How many of its ids begin the next rendering.
        length: How many ids it has.
    """

    messages: int
    prompt: bool
    kept: int = 0
    length: int = 0

    @property
    def parts_at(self) -> int | None:
        """The first token that the next rendering does not have in its place, if there is one."""
        return None if self.kept == self.length else self.kept


class Prefixes:
    """Whether each rendering begins the next. True where all do.

    Attributes:
        steps: The renderings, the shortest first.
        left_out: How many shorter ones were skipped.
    """

    def __init__(self, steps: Sequence[Step], left_out: int = 0) -> None:
        self.steps = list(steps)
        self.left_out = left_out

    def __bool__(self) -> bool:
        return all(step.parts_at is None for step in self.steps)

    def __repr__(self) -> str:
        for step in self.steps:
            if step.parts_at is not None:
                prompt = " and the generation prompt" * step.prompt
                return (
                    f"Prefixes(not kept: the rendering of {counted(step.messages, 'message')}"
                    f"{prompt} differs from the next one at token {step.parts_at} of {step.length})"
                )
        last = f" (the last; {self.left_out} were left out)" * (self.left_out > 0)
        count = counted(len(self.steps), "rendering")
        return f"Prefixes(kept: {count}{last}, each begins the next)"


def compared(steps: Sequence[tuple[Step, list[int]]], left_out: int) -> Prefixes:
    """How much of each rendering's ids begins the next one's."""
    found = [
        Step(step.messages, step.prompt, shared_length(ids, after), len(ids))
        for (step, ids), (_, after) in itertools.pairwise([*steps, steps[-1]])
    ]
    return Prefixes(found, left_out)
