"""How a tokenizer encodes text: by which strategy of the fast path, and why not by a faster one.

`tok.encoding_plan()` is the way in. The strategies are told in docs/fast-path.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from jeton._core import Pipeline

__all__ = ["EncodingPlan", "Obstacle"]


@dataclass(frozen=True)
class Obstacle:
    """A stage that keeps a strategy from taking a tokenizer."""

    stage: str
    """The stage, such as `"normalizer"`."""
    kind: str | None
    """What a `tokenizer.json` calls its kind, or that of the step that matters; `None` if the
    tokenizer lacks the stage."""
    why: str
    """What is wrong with it."""

    def __str__(self) -> str:
        stage = f"no {self.stage}" if self.kind is None else f"{self.stage} {self.kind}"
        return f"{stage}: {self.why}"


@dataclass(frozen=True)
class EncodingPlan:
    """How a tokenizer encodes text, and why not faster. `str` tells it to a person."""

    strategy: str
    """`"byte_level"`, `"sentencepiece"`, `"metaspace"`, `"whitespace_words"` or
    `"cached_pieces"`; `"stages"` if each text goes through all stages."""
    meaning: str
    """What becomes of a text, in a sentence."""
    passed_over: dict[str, Obstacle]
    """The strategies that are asked before this one, each with what was in the way."""
    detours: tuple[Obstacle, ...]
    """What keeps calls off the strategy although it takes the tokenizer."""

    @property
    def is_fast(self) -> bool:
        """Whether plain calls are encoded by the fast path."""
        return self.strategy != "stages" and not self.detours

    def __str__(self) -> str:
        lines = [f"{self.strategy}: {self.meaning}"]
        lines += [f"  calls go through the stages all the same: {it}" for it in self.detours]
        lines += [f"  not {name}: {obstacle}" for name, obstacle in self.passed_over.items()]
        return "\n".join(lines)


def plan_of(core: Pipeline) -> EncodingPlan:
    """What the core says."""
    strategy, meaning, passed_over, detours = core.encoding_plan()
    return EncodingPlan(
        strategy,
        meaning,
        {name: Obstacle(*obstacle) for name, obstacle in passed_over},
        tuple(Obstacle(*obstacle) for obstacle in detours),
    )
