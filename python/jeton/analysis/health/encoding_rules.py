"""What encoding does with text: characters that are unknown or lost, batches unlike single texts.

Look here for the characters that are tried. Tokens are the subject of `unreachable_findings.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from jeton.analysis.health.attack import completions, is_part_of_utf8
from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.subject import Subject
from jeton.display.human_readable import counted
from jeton.errors import EncodeError

__all__ = ["alphabet", "batches"]

_PROBES: Final = "🙂中éЖ\U0010fffd\ue123ა᚛𐌀ꙮ~Q"
"""Characters of many kinds, of which some are in hardly any vocabulary."""

_SOME: Final = 60
"""In how many texts a byte is tried."""

_BATCH: Final = 20_000
"""How many texts are encoded one by one, to be compared with a batch."""


def alphabet(subject: Subject) -> Iterator[Finding]:
    """Text that has no token: bytes that are missing, characters that are unknown or lost."""
    if subject.spelling.has_bytes or subject.falls_back:
        cases = list(_missing(subject))
        if cases:
            message = f"{counted(len(cases), 'byte has', 'bytes have')} no token"
            yield Finding("missing-bytes", message, tuple(cases))
        return
    unknown, lost = [], []
    for character in _PROBES:
        if not _is_seen(subject, character):
            continue
        ids = _ids(subject, character)
        if ids is None:
            unknown.append(_tried(_named(character), character, None, "an error"))
        elif subject.unknown is not None and subject.unknown in ids:
            unknown.append(_tried(_named(character), character, ids))
        elif _normal(subject, character).encode() not in subject.text_of(ids):
            lost.append(_tried(_named(character), character, ids))
    if lost:
        message = f"characters without a token that are dropped: {len(lost)} of those tried"
        yield Finding("dropped-text", message, tuple(lost))
    if unknown:
        message = f"characters that are unknown or refused: {len(unknown)} of those tried"
        yield Finding("unknown-text", message, tuple(unknown))


def _missing(subject: Subject) -> Iterator[Case]:
    if subject.spelling.has_bytes:
        surfaces = (subject.surfaces[id] for id in subject.tokens if id not in subject.special)
        there = {surface[0] for surface in surfaces if len(surface) == 1}
    else:
        there = {*subject.byte_tokens}
    for byte in range(256):
        if byte in there or not is_part_of_utf8(bytes([byte])):
            continue
        for text in itertools.islice(completions(bytes([byte])), _SOME):
            ids = _ids(subject, text)
            told = _lost(subject, byte, ids) if _needs(subject, byte, text) else None
            if told is not None:
                yield _tried(f"byte {byte:02X}", text, ids, told)
                break


def _needs(subject: Subject, byte: int, text: str) -> bool:
    """Whether the model is given a text with this byte in a character that is no token."""
    seen = subject.spelling.of_pieces("".join(subject.pieces(text)))
    if byte not in seen.encode():
        return False
    return subject.spelling.has_bytes or any(
        byte in character.encode() and character not in subject.characters for character in seen
    )


def _lost(subject: Subject, byte: int, ids: Sequence[int] | None) -> str | None:
    """What became of a text with a byte; `None` if that is still there."""
    if ids is None:
        return "an error"
    if subject.unknown is not None and subject.unknown in ids:
        return "unknown"
    return None if byte in subject.text_of(ids) else "dropped"


def _tried(name: str, text: str, ids: Sequence[int] | None, told: str = "") -> Case:
    """A case that is about no token, seen in a text."""
    gave = None if ids is None else tuple(ids)
    return Case(None, None, name, told, text, gave, "observed")


def _normal(subject: Subject, character: str) -> str:
    """A character as the normalizer leaves it, without the spaces that it may put there."""
    normalizer = subject.tok.normalizer
    normal = character if normalizer is None else normalizer(character)
    return subject.spelling.plain_text(normal).strip(" ▁")


def _is_seen(subject: Subject, character: str) -> bool:
    """Whether the stages before the model leave a character to it."""
    return any(piece.strip(" ▁") for piece in subject.pieces(character))


def _ids(subject: Subject, text: str) -> list[int] | None:
    try:
        return subject.tok.encode(text)
    except EncodeError:
        return None


def _named(character: str) -> str:
    return f"{character if character.isprintable() else ''} U+{ord(character):04X}".strip()


def batches(subject: Subject) -> Iterator[Finding]:
    """Texts whose ids are others in a batch than alone."""
    step = max(1, len(subject.alone) // _BATCH)
    texts = [text for text in subject.alone[::step] if _ids(subject, text) is not None]
    texts.append("\n".join(texts))
    if _ids(subject, texts[-1]) is None:
        texts.pop()
    rows = subject.encode(texts)
    counts = subject.tok.count_batch(texts)
    cases = []
    for at, text in enumerate(texts):
        ids = subject.tok.encode(text)
        if ids != rows[at] or len(ids) != counts[at]:
            cases.append(_tried(repr(text)[:60], text[:200], rows[at][:50]))
    if cases:
        message = f"{counted(len(cases), 'text has', 'texts have')} other ids in a batch"
        yield Finding("batch-differs", message, tuple(cases))
