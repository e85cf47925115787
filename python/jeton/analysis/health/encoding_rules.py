"""Faults of encoding: characters that are unknown or lost, batches that differ from single texts.

Look here for the characters that are tried. `unreachable_rules.py` is about tokens.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from jeton.analysis.health.attack import completions, is_part_of_utf8
from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.subject import Subject

_PROBES: Final = "🙂中éЖ\U0010fffd\ue123ა᚛𐌀ꙮ~Q"
"""Characters of many kinds; few vocabularies have all of them."""

_SOME: Final = 60
"""The number of texts in which a byte is tried."""

_BATCH: Final = 20_000
"""The number of texts that are encoded one by one, to compare them with a batch."""


@looks_for(
    rule("""
    missing-bytes (error): bytes without a token
    The vocabulary consists of bytes, and some have no token: text with them is dropped, unknown or
    refused.
    Remedy: Train with all 256 bytes in the alphabet (other trainers: initial_alphabet), or add the
    missing ones.
    Details: For models of bytes, also where a ByteLevel stage spells them as characters, and for
    byte fallback. Bytes that UTF-8 never has are not missed, nor is one whose characters all have
    tokens, or never reach the model. Each is shown with a text that contains it and the result.
    """),
    rule("""
    dropped-text (error): text is dropped without a sign
    A character without a token is dropped: the model never learns that it was there.
    Remedy: Add an unknown token to the model, or tokens for all 256 bytes.
    Details: The rule tries a dozen characters of many kinds in a model that has neither bytes nor
    an unknown token, and shows those that became no id at all.
    """),
    rule("""
    unknown-text (note): characters can be unknown
    A character without a token becomes the unknown token, and decoding does not restore it.
    Remedy: Measure how often on your own text; train with byte fallback if it matters.
    Details: The rule tries a dozen characters of many kinds and shows those that became the unknown
    token, or an error.
    """),
)
def alphabet(subject: Subject) -> Iterator[Finding]:
    """Text without tokens: missing bytes, unknown or lost characters."""
    if subject.spelling.has_bytes or subject.falls_back:
        yield from found("missing-bytes", _missing(subject))
        return
    unknown, dropped = [], []
    for character in _PROBES:
        if not any(piece.strip(" ▁") for piece in subject.pieces(character)):
            continue  # the stages before the model remove it
        ids = subject.ids_of(character)
        if ids is None:
            unknown.append(_observation(_character_name(character), character, None, "an error"))
        elif subject.unknown is not None and subject.unknown in ids:
            unknown.append(_observation(_character_name(character), character, ids))
        elif _normalized(subject, character).encode() not in subject.text_of(ids):
            dropped.append(_observation(_character_name(character), character, ids))
    yield from found("dropped-text", dropped)
    yield from found("unknown-text", unknown)


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
            ids = subject.ids_of(text)
            fate = _fate_of(subject, byte, ids) if _needs(subject, byte, text) else None
            if fate is not None:
                yield _observation(f"byte {byte:02X}", text, ids, fate)
                break


def _needs(subject: Subject, byte: int, text: str) -> bool:
    """Whether the model gets this byte, in a character that is not a token."""
    input_text = subject.spelling.of_pieces("".join(subject.pieces(text)))
    if byte not in input_text.encode():
        return False
    return subject.spelling.has_bytes or any(
        byte in character.encode() and character not in subject.characters
        for character in input_text
    )


def _fate_of(subject: Subject, byte: int, ids: Sequence[int] | None) -> str | None:
    """What happened to a byte of a text; `None` if it is still there."""
    if ids is None:
        return "an error"
    if subject.unknown is not None and subject.unknown in ids:
        return "unknown"
    return None if byte in subject.text_of(ids) else "dropped"


def _observation(name: str, text: str, ids: Sequence[int] | None, remark: str = "") -> Case:
    """A case that was observed in a text, and is not about a token."""
    gave = None if ids is None else tuple(ids)
    return Case(None, None, name, remark, text, gave, "observed")


def _normalized(subject: Subject, character: str) -> str:
    """A character after the normalizer, without the spaces that this may add."""
    normalizer = subject.tok.stages.normalizer
    normal = character if normalizer is None else normalizer(character)
    return subject.spelling.plain_text(normal).strip(" ▁")


def _character_name(character: str) -> str:
    return f"{character if character.isprintable() else ''} U+{ord(character):04X}".strip()


@looks_for(
    rule("""
    batch-differs (error): a batch has other ids than single texts
    Ids must not depend on how texts are grouped. This is a bug in jeton.
    Remedy: Report it with the text shown.
    Details: Up to 20,000 texts of tokens, and all of them as one text, are encoded one by one, in a
    batch, and counted.
    """),
)
def batches(subject: Subject) -> Iterator[Finding]:
    """Texts whose ids differ between a batch and a single call."""
    step = max(1, len(subject.alone) // _BATCH)
    texts = [text for text in subject.alone[::step] if subject.ids_of(text) is not None]
    texts.append("\n".join(texts))
    if subject.ids_of(texts[-1]) is None:
        texts.pop()
    rows = subject.encode(texts).tolist()
    counts = subject.tok.count_batch(texts)
    cases = []
    for at, text in enumerate(texts):
        ids = subject.tok.encode(text)
        if ids != rows[at] or len(ids) != counts[at]:
            cases.append(_observation(repr(text)[:60], text[:200], rows[at][:50]))
    yield from found("batch-differs", cases)
