"""Encoding, explained: every stage of a tokenizer, and each step of its model, as data.

Look here for what `Tokenizer.explain` does. `steps.py` has the classes of its result; the stages
before the model are in `first_stages.py`, and each kind of model has a file of its own.

The stages before the model are the tokenizer's own. The model takes its steps in the core, which
says each one while it encodes; `pieces.py` makes data of them. The core encodes a text by a faster
way than one step after another, so the ids at the end are compared with those of the tokenizer: an
explanation is never wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.explaining.explanation import Explanation
from jeton.encoding.explaining.first_stages import FirstStages, component_name
from jeton.encoding.explaining.pieces import ExplainedModel
from jeton.encoding.explaining.steps import Added, ModelStep, PostStep, Token
from jeton.errors import JetonError
from jeton.results.encoding import Encoding

if TYPE_CHECKING:
    from jeton.argument_types import SpecialPolicy
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["Explanation", "explain"]


def explain(
    tok: BaseTokenizer, text: str, *, special: SpecialPolicy, add_special_tokens: bool
) -> Explanation:
    """How `tok` encodes a text; see `Tokenizer.explain`."""
    parts = _parts(tok)
    ids = tok.encode(text, special=special, add_special_tokens=add_special_tokens)
    steps, stretches = parts.first.steps(text, special)
    pieces = tuple(
        Added(it.text, it.span, (Token(it.id, it.text.encode()),))
        if it.id is not None
        else parts.model.explain(it.text, it.span)
        for it in stretches
    )
    model = ModelStep(parts.model.name, pieces)
    # The tokenizer joins surrogate pairs and replaces lone surrogates.
    valid_text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    explanation = Explanation(valid_text, (*steps, model))
    if tok.stages.post_processor is not None:
        last = _post_step(tok, model, add_special_tokens)
        explanation = Explanation(explanation.text, (*explanation.steps, last))
    if explanation.ids != ids:
        raise JetonError(
            f"the steps lead to {explanation.ids[:20]}, but encoding to {ids[:20]}; this is a bug "
            "in jeton, please report it with the tokenizer and the text"
        )
    return explanation


class _TokenizerParts:
    """What the explanations of a tokenizer share."""

    def __init__(self, tok: BaseTokenizer) -> None:
        model = tok.stages.model
        self.first = FirstStages(tok)
        self.model = ExplainedModel(tok._core, model)


_parts = once_per_tokenizer(_TokenizerParts)
# Building them takes fifty times as long as explaining a sentence.


def _post_step(tok: BaseTokenizer, model: ModelStep, add_special_tokens: bool) -> PostStep:
    """The step of the post-processor, after that of the model."""
    post_processor = tok.stages.post_processor
    assert post_processor is not None
    rows = [(token, piece.span) for piece in model.pieces for token in piece.tokens]
    count = len(rows)
    processed = post_processor(
        Encoding(
            [token.id for token, _ in rows],
            [span for _, span in rows],
            [0] * count,
            [0] * count,
            [0] * count,
            [False] * count,
            [token.token for token, _ in rows],
        ),
        add_special_tokens=add_special_tokens,
    )
    return PostStep(
        component_name(post_processor),
        tuple(token for token, _ in rows),
        tuple(Token(*it) for it in zip(processed.ids, processed.tokens, strict=True)),
        tuple(processed.special_tokens_mask),
    )
