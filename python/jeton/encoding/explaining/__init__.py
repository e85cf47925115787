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

from jeton.components.component import in_words
from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.explaining.explanation import Explanation
from jeton.encoding.explaining.first_stages import FirstStages
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
    first_stages, explained_model = _parts(tok)
    ids = tok.encode(text, special=special, add_special_tokens=add_special_tokens)
    steps, stretches = first_stages.steps(text, special)
    pieces = tuple(
        Added(it.text, it.span, (Token(it.id, it.text.encode()),))
        if it.id is not None
        else explained_model.explain(it.text, it.span)
        for it in stretches
    )
    model = ModelStep(explained_model.name, pieces)
    # The tokenizer joins surrogate pairs and replaces lone surrogates.
    valid_text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    last = _post_steps(tok, model, add_special_tokens)
    explanation = Explanation(valid_text, (*steps, model, *last))
    if explanation.ids != ids:
        raise JetonError(
            f"the steps lead to {explanation.ids[:20]}, but encoding to {ids[:20]}; this is a bug "
            "in jeton, please report it with the tokenizer and the text"
        )
    return explanation


@once_per_tokenizer
def _parts(tok: BaseTokenizer) -> tuple[FirstStages, ExplainedModel]:
    """What the explanations of a tokenizer share: building it takes fifty times as long as one."""
    return FirstStages(tok), ExplainedModel(tok._core, tok.stages.model)


def _post_steps(tok: BaseTokenizer, model: ModelStep, add_special_tokens: bool) -> list[PostStep]:
    """The step of the post-processor after that of the model, if there is one."""
    post_processor = tok.stages.post_processor
    if post_processor is None:
        return []
    tokens, count = model.tokens, len(model.tokens)
    encoding = Encoding(
        model.ids,
        [piece.span for piece in model.pieces for _ in piece.tokens],
        [0] * count,
        [0] * count,
        [0] * count,
        [False] * count,
        [token.token for token in tokens],
    )
    processed = post_processor(encoding, add_special_tokens=add_special_tokens)
    after = tuple(Token(*it) for it in zip(processed.ids, processed.tokens, strict=True))
    added = tuple(processed.special_tokens_mask)
    return [PostStep(in_words(post_processor), tokens, after, added)]
