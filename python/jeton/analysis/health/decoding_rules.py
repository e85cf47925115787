"""Whether decoding restores words, that is, undoes the stages before the model.

Look here for the words that are tried, and for which texts count as the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from jeton import samples
from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.spellings import text_or_none
from jeton.analysis.health.subject import Subject
from jeton.components import models
from jeton.display.human_readable import counted

_PARTS: Final = ("essays", "languages", "code")
_WORDS: Final = 400
"""The number of different words of each sample that are tried."""

_SHOWN: Final = 12


@looks_for(
    rule("""
    decoder (error): decoding gives other text
    The tokens hold the text, but the decoder does not fit the other stages, or there is no decoder:
    a model's output comes out as the vocabulary spells it, or worse.
    Remedy: Set the decoder that undoes the stages before the model: ByteLevel, Metaspace,
    WordPiece, BPEDecoder or ByteFallback.
    Details: A thousand words of the samples are encoded and decoded; white space is left out of the
    comparison, and so are words with unknown characters.
    """),
    rule("""
    split-words (warning): decoding puts spaces into words
    Without a decoder that joins tokens, there is a space between them, even inside a word: decoded
    text no longer shows where words begin.
    Remedy: Train with a mark where words begin or end (Metaspace, ByteLevel, ## or </w>) and set
    the decoder that undoes it.
    Details: Of words of letters that the pre-tokenizer leaves whole.
    """),
)
def decoding(subject: Subject) -> Iterator[Finding]:
    """Words whose tokens represent them, but decode to other text or to several words."""
    words: list[str] = []
    for name in _PARTS:
        words += itertools.islice(dict.fromkeys(samples.read(name).split()), _WORDS)
    words = list(dict.fromkeys(words))
    apart = subject.apart - {*subject.byte_tokens.values()}
    rows = subject.encode(words).tolist()
    covered_words = [at for at in range(len(words)) if rows[at] and apart.isdisjoint(rows[at])]
    decoded = subject.tok.decode_batch([rows[at] for at in covered_words])
    other, split = [], []
    for at, text in zip(covered_words, decoded, strict=True):
        word, ids = words[at], rows[at]
        expected_text = text_or_none(subject.text_of(ids))
        if expected_text is None or not expected_text.strip():
            continue
        case = Case(None, None, word, f"decode gives {text!r}", word, tuple(ids), "observed")
        if _letters(text) not in (_letters(expected_text), _letters(word)):
            other.append(case)
        elif len(expected_text.split()) == 1 < len(text.split()) and _is_one(subject, word):
            split.append(case)
    cases, how = (other, "as other text") if other else (split, "in parts")
    number = counted(len(cases), "word comes", "words come")
    tried = f"{len(covered_words):,} tried"
    message = f"{_decoder_note(subject)}: {number} back {how}, of {tried}"
    yield from found("decoder" if other else "split-words", cases[:_SHOWN], message)


def _letters(text: str) -> str:
    return "".join(text.split())


def _is_one(subject: Subject, word: str) -> bool:
    """Whether the stages before the model keep a word of letters whole."""
    pieces = subject.pieces(word)
    return word.isalpha() and len(pieces) == 1 and len(pieces[0].split()) == 1


def _decoder_note(subject: Subject) -> str:
    decoder = subject.tok.stages.decoder
    if decoder is None or isinstance(subject.model, models.SentencePiece):
        return "there is no decoder" if decoder is None else "the decoder"
    return f"the decoder {type(decoder).__name__}"
