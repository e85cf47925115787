"""Whether decoding restores words, that is, undoes the stages before the model.

Look here for the words that are tried, and for which texts count as the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from jeton import samples
from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.spellings import text_or_none
from jeton.analysis.health.subject import Subject
from jeton.components import models
from jeton.display.human_readable import counted

__all__ = ["decoding"]

_PARTS: Final = ("essays", "languages", "code")
_WORDS: Final = 400
"""The number of different words of each sample that are tried."""

_SHOWN: Final = 12


def decoding(subject: Subject) -> Iterator[Finding]:
    """Words whose tokens represent them, but decode to other text or to several words."""
    words: list[str] = []
    for name in _PARTS:
        words += itertools.islice(dict.fromkeys(samples.read(name).split()), _WORDS)
    words = list(dict.fromkeys(words))
    apart = subject.apart - {*subject.byte_tokens.values()}
    rows = subject.encode(words)
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
    subject_of_message = _decoder_note(subject)
    if other:
        number = counted(len(other), "word comes", "words come")
        message = (
            f"{subject_of_message}: {number} back as other text, of {len(covered_words):,} tried"
        )
        yield Finding("decoder", message, tuple(other[:_SHOWN]))
    elif split:
        number = counted(len(split), "word comes", "words come")
        message = f"{subject_of_message}: {number} back in parts, of {len(covered_words):,} tried"
        yield Finding("split-words", message, tuple(split[:_SHOWN]))


def _letters(text: str) -> str:
    return "".join(text.split())


def _is_one(subject: Subject, word: str) -> bool:
    """Whether the stages before the model keep a word of letters whole."""
    pieces = subject.pieces(word)
    return word.isalpha() and len(pieces) == 1 and len(pieces[0].split()) == 1


def _decoder_note(subject: Subject) -> str:
    decoder = subject.tok.decoder
    if decoder is None or isinstance(subject.model, models.SentencePiece):
        return "there is no decoder" if decoder is None else "the decoder"
    return f"the decoder {type(decoder).__name__}"
