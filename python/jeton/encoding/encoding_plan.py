"""How a tokenizer encodes text: its strategy of the fast path, and why no faster one applies.

`tok.stages.encoding_plan()` returns it. docs/fast-path.md describes the strategies.
"""

from __future__ import annotations

from dataclasses import dataclass

from jeton._core import Pipeline

__all__ = ["EncodingPlan", "Obstacle"]


@dataclass(frozen=True)
class Obstacle:
    """A stage of a tokenizer that rules out a strategy."""

    stage: str
    """The stage, such as `"normalizer"`."""
    kind: str | None
    """The `type` of the stage in a `tokenizer.json`, or of the step that matters; `None` if the
    tokenizer lacks the stage."""
    why: str
    """Why it rules out the strategy."""

    def __str__(self) -> str:
        stage = f"no {self.stage}" if self.kind is None else f"{self.stage} {self.kind}"
        return f"{stage}: {self.why}"


@dataclass(frozen=True)
class EncodingPlan:
    """How a tokenizer encodes text, and why not faster. `str` describes it in words."""

    strategy: str
    """`"byte_level"`, `"sentencepiece"`, `"metaspace"`, `"whitespace_words"` or
    `"cached_pieces"`; `"stages"` if each text goes through all stages."""
    meaning: str
    """How a text is encoded, in a sentence."""
    passed_over: dict[str, Obstacle]
    """The strategies that were tried before this one, each with the stage that rules it out."""
    detours: tuple[Obstacle, ...]
    """Stages that send calls through all stages, although the strategy takes the tokenizer."""

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
    """The plan of the core for a pipeline."""
    strategy, meaning, passed_over, detours = core.encoding_plan()
    return EncodingPlan(
        strategy,
        meaning,
        {name: Obstacle(*obstacle) for name, obstacle in passed_over},
        tuple(Obstacle(*obstacle) for obstacle in detours),
    )
