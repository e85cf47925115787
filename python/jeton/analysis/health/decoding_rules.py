"""What decoding does with words: whether the decoder undoes what the stages before the model do.

Look here for the words that are tried, and for what is taken for the same text.
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
"""How many different words of each sample are tried."""

_SHOWN: Final = 12


def decoding(subject: Subject) -> Iterator[Finding]:
    """Words whose tokens stand for them, but decode to other text or to several words."""
    words = _words()
    apart = subject.apart - {*subject.byte_tokens.values()}
    rows = subject.encode(words)
    known = [at for at in range(len(words)) if rows[at] and apart.isdisjoint(rows[at])]
    decoded = subject.tok.decode_batch([rows[at] for at in known])
    other, split = [], []
    for at, text in zip(known, decoded, strict=True):
        word, ids = words[at], rows[at]
        meant = text_or_none(subject.text_of(ids))
        if meant is None or not meant.strip():
            continue
        case = Case(None, None, word, f"decode gives {text!r}", word, tuple(ids), "observed")
        if _letters(text) not in (_letters(meant), _letters(word)):
            other.append(case)
        elif len(meant.split()) == 1 < len(text.split()) and _is_one(subject, word):
            split.append(case)
    told = _decoder_note(subject)
    if other:
        number = counted(len(other), "word comes", "words come")
        message = f"{told}: {number} back as other text, of {len(known):,} tried"
        yield Finding("decoder", message, tuple(other[:_SHOWN]))
    elif split:
        number = counted(len(split), "word comes", "words come")
        message = f"{told}: {number} back in parts, of {len(known):,} tried"
        yield Finding("split-words", message, tuple(split[:_SHOWN]))


def _words() -> list[str]:
    found: list[str] = []
    for name in _PARTS:
        found += itertools.islice(dict.fromkeys(samples.read(name).split()), _WORDS)
    return list(dict.fromkeys(found))


def _letters(text: str) -> str:
    return "".join(text.split())


def _is_one(subject: Subject, word: str) -> bool:
    """Whether the stages before the model leave a word of letters whole."""
    pieces = subject.pieces(word)
    return word.isalpha() and len(pieces) == 1 and len(pieces[0].split()) == 1


def _decoder_note(subject: Subject) -> str:
    decoder = subject.tok.decoder
    if decoder is None or isinstance(subject.model, models.SentencePiece):
        return "there is no decoder" if decoder is None else "the decoder"
    return f"the decoder {type(decoder).__name__}"
