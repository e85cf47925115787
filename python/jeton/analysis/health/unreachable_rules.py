"""Rules about tokens that encoding never gives, or that a corpus never uses.

`unreachable_tokens.py` has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jeton.analysis.health.attack import continued
from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.subject import Subject
from jeton.analysis.health.unreachable_tokens import unreached_ids, unreached_tokens
from jeton.display.human_readable import counted


@looks_for(
    rule("""
    unreachable-added (warning): an added token hides it
    Added tokens are found first, so the model never sees a token that contains one whole.
    Remedy: Remove the hidden tokens, or the added one if it is there by mistake.
    Details: Proved: in any surroundings the added token in it, or a longer one, is found first.
    After a normalizer, only added tokens that are looked for in normalized text.
    """),
    rule("""
    unreachable-normalizer (warning): the normalizer always rewrites it
    No normalized text contains it, so no text gives it.
    Remedy: Remove it from the vocabulary (jeton edit prune --drop), or train again with the stages
    that encoding uses. In a trained model it wastes a row of the embedding, and does no other harm.
    Details: Proved for normal forms, lower case, accents and BERT's normalizer, whose output has no
    part that they would change, where no later step may undo it. The effect of other normalizers on
    a token is in [unreached](#unreached). BERT's `##` tokens of Chinese are such: spaces are put
    around each character.
    """),
    rule("""
    unreachable-cut (warning): the pre-tokenizer always splits it
    No piece of text contains it whole, so no text gives it.
    Remedy: Remove it from the vocabulary (jeton edit prune --drop), or train again with the stages
    that encoding uses. In a trained model it wastes a row of the embedding, and does no other harm.
    Details: Proved for pre-tokenizers that decide by two neighbouring characters (BERT's, white
    space, punctuation, digits). The effect of expressions on a token is in [unreached](#unreached).
    """),
    rule("""
    unreachable-merge (warning): no merges lead to it
    Merging its own text ends in other tokens, and so does every text that contains it.
    Remedy: Remove it from the vocabulary (jeton edit prune --drop), or train again with the stages
    that encoding uses. In a trained model it wastes a row of the embedding, and does no other harm.
    Details: Proved: merges inside a token never cross its edges, so what its own text ends in, it
    ends in everywhere.
    """),
    rule("""
    unreachable-score (warning): its parts always score more
    In every text, the best path through its characters uses other pieces.
    Remedy: Remove it from the vocabulary (jeton edit prune --drop), or train again with the stages
    that encoding uses. In a trained model it wastes a row of the embedding, and does no other harm.
    Details: Proved: a best path holds best paths only. Sums that differ less than 32-bit rounding
    are left alone.
    """),
    rule("""
    unreachable-match (warning): no word is matched with it
    The words that could contain it are longer than the model takes, or no token can precede it.
    Remedy: Remove it from the vocabulary (jeton edit prune --drop), or train again with the stages
    that encoding uses. In a trained model it wastes a row of the embedding, and does no other harm.
    Details: A word longer than `max_input_chars_per_word` is unknown whole, so a longer token is
    never met; a `##` token needs a token before it.
    """),
    rule("""
    unreachable-bytes (note): bytes that no text has
    UTF-8 never has these bytes. The 13 single ones (C0, C1, F5 to FF) are in every alphabet of 256
    bytes, which saves a special case.
    Remedy: Nothing for single bytes. They are known unused rows, a reference for --embeddings.
    Details: Proved by the definition of UTF-8: C0, C1 and F5 to FF, surrogates, four continuation
    bytes in a row.
    """),
    rule("""
    spare-byte (note): byte tokens whose character is a token
    A character that is a token is never encoded as its byte, so these tokens never occur.
    Remedy: Nothing: every byte fallback has them. They are known unused rows, a reference for
    --embeddings.
    Details: `<0x41>` where `A` is a token. Bytes from 80 on may occur in characters that are not
    tokens.
    """),
    rule("""
    unreached (note): no text was found that gives it
    None of the texts that were tried gives the token; there is no proof that no text does.
    Remedy: Look for it in the training corpus (--corpus).
    Details: The token was tried alone, between some 50 characters of all kinds, and with parts of
    characters completed in hundreds of ways. The finding names the stage that loses its simplest
    text, and claims no more than was tried.
    """),
    rule("""
    unused-piece (note): pieces that the model file lists as unused
    SentencePiece never gives a piece of type UNUSED.
    Remedy: Use them for future special tokens, or leave them out.
    Details: Type 5 in the model file.
    """),
)
def unreachable(subject: Subject) -> Iterator[Finding]:
    """Tokens that no text gives, by the reason."""
    for name, cases in subject.once(unreached_tokens).items():
        yield from found(name, cases)


@looks_for(
    rule("""
    other-alone (note): tokens whose own text encodes differently
    Some text gives the token, but the text that it decodes to alone gives other ids: a model's
    output, decoded and encoded again, may have other tokens.
    Remedy: In generation loops, keep the ids instead of encoding decoded text again.
    Details: `decode([id])` is encoded again. Parts of characters are left to `part-of-character`. A
    `##` token is one by nature, and so is, in SentencePiece, a piece without `▁`: a space is put in
    front of every text.
    """),
)
def unstable(subject: Subject) -> Iterator[Finding]:
    """Tokens that some text gives, but not the text that they decode to."""
    nothing = unreached_ids(subject)
    rows, ids = subject.alone_again, subject.ordinary
    cases = []
    is_stable = np.diff(rows.offsets) == 1
    is_stable[is_stable] = rows.ids[rows.offsets[:-1][is_stable]] == ids[is_stable]
    for at in np.flatnonzero(~is_stable).tolist():
        id = int(ids[at])
        if id in nothing or subject.texts[id] is None:
            continue
        text = subject.alone[at]
        remark = "" if continued(subject, id) is None else "continues a word"
        token, gave = subject.tokens[id], tuple(rows[at].tolist())
        cases.append(Case(id, token, "", remark, text, gave, "observed"))
    yield from found("other-alone", cases)


@looks_for(
    rule("""
    never-used (note): tokens that the corpus does not use
    If the training corpus never gives a token, its embedding is never trained.
    Remedy: Remove them (jeton edit prune CORPUS), or train the vocabulary on this corpus.
    Details: With `--corpus`. Tokens that no text gives are not repeated here.
    """),
    unless=lambda subject: "there is no corpus" if subject.usage is None else None,
)
def never_used(subject: Subject) -> Iterator[Finding]:
    """Tokens that the corpus does not use, though some text gives them."""
    assert subject.usage is not None
    unreachable = unreached_ids(subject)
    cases = [
        Case(id, subject.tokens[id], evidence="observed")
        for id in subject.usage.never_used.tolist()
        if id not in subject.apart and id not in unreachable
    ]
    number = counted(len(cases), "token does", "tokens do")
    message = f"{number} not occur among the corpus's {subject.usage.total:,}"
    yield from found("never-used", cases, message)
