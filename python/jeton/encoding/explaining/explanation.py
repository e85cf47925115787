"""`Explanation`: the result of `Tokenizer.explain`, as data that prints itself."""

from __future__ import annotations

from dataclasses import dataclass

from jeton.encoding.explaining.steps import ModelStep, Step, Token, tokens_of

__all__ = ["Explanation"]


@dataclass(frozen=True, repr=False)
class Explanation:
    """How a text became ids, step by step. Print it, or show it in a notebook, to see every step.

    Attributes:
        text: The text.
        steps: The steps in order: those before the model, the model, and the post-processor.

    Example:
        >>> from jeton.learn import textbook
        >>> explanation = textbook.low_lower_newest_widest().explain("lowest")
        >>> explanation.ids == textbook.low_lower_newest_widest().encode("lowest")
        True
        >>> [step.stage for step in explanation.steps]
        ['pre-tokenizer', 'model']
        >>> [merge.rank for merge in explanation.model.pieces[0].merges]
        [0, 1, 2, 3, 4]
    """

    text: str
    steps: tuple[Step, ...]

    @property
    def ids(self) -> list[int]:
        """The ids: those that `Tokenizer.encode` returns."""
        return [token.id for token in self.tokens]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens."""
        return tokens_of(self.steps)

    @property
    def model(self) -> ModelStep:
        """The step of the model."""
        return next(step for step in self.steps if isinstance(step, ModelStep))

    def __repr__(self) -> str:
        return f"<Explanation of {len(self.text):,} characters: {len(self.steps)} steps>"

    def __str__(self) -> str:
        from jeton.display.views.printed import text_of
        from jeton.encoding.explaining.view_frames import frames_of_encoding

        return text_of(frames_of_encoding(self.text, self.steps))

    def _repr_html_(self) -> str:
        from jeton.display.views.page import fragment
        from jeton.encoding.explaining.view_frames import frames_of_encoding

        return fragment(frames_of_encoding(self.text, self.steps))
