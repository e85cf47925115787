"""Ids of a text, only parts of which may hold control tokens.

Control tokens are found where they lie wholly in text that the template wrote. The stretches
between them are encoded as in the whole text: not at its beginning or end, with
special tokens as text. Where no other text spells a control token, that is what encoding the whole
text with its special tokens gives, so the whole is encoded first, and taken if nothing is forged.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import secrets
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from jeton.chat.templates.origins import Runs
from jeton.components import AddedToken
from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.once import added_tokens_of
from jeton.errors import InternalError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_SPACE: Final = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BEFORE: Final = re.compile(f"[{_SPACE}]+\\Z")
_BEHIND: Final = re.compile(f"[{_SPACE}]+")
_NO_CHARACTER: Final = "\U0010fffe"


@dataclass(frozen=True)
class ControlTokens:
    """The control tokens of a chat."""

    tok: BaseTokenizer
    """The tokenizer, in which all of them are special."""
    of_call: BaseTokenizer
    """The tokenizer, in which only those are special that the call names."""
    of_answers: frozenset[int]
    """The ids of those that an answer may contain."""
    others: re.Pattern[str] | None = None
    """Added tokens that look like control tokens, but are not."""


@dataclass(frozen=True)
class Encoded:
    """A text with its ids."""

    control: ControlTokens
    text: str
    ids: list[int]
    spans: list[tuple[int, int]]
    """The span of each token, in characters."""
    is_forged: bool
    """Whether data spells a control token, so that the text was encoded by its stretches."""


@dataclass
class _AddedTokens:
    """The added tokens of a tokenizer, ready to be searched for."""

    specials: dict[int, AddedToken]
    """By id."""
    late: frozenset[int]
    """The ids of special tokens that are searched for in normalized text."""
    by_spelling: dict[str, AddedToken]
    """Those that are searched for in the original text."""
    pattern: re.Pattern[str]
    anywhere: re.Pattern[str]
    """The longest at each place, also within others."""
    plain: dict[int, str]
    """Special tokens, by id, that take no neighbouring characters and begin no longer token."""
    marked: list[tuple[BaseTokenizer, str]] = field(default_factory=list)
    guarded: dict[frozenset[str], BaseTokenizer] = field(default_factory=dict)
    """The same tokenizer in which more added tokens are special, by these."""
    control: dict[tuple[str, frozenset[str], frozenset[str]], ControlTokens] = field(
        default_factory=dict
    )
    """By the template, the tokens that the call names, and those that the template wrote."""

    @classmethod
    def of(cls, tok: BaseTokenizer) -> _AddedTokens:
        tokens = added_tokens_of(tok)
        normalizes = tok.stages.normalizer is not None
        by_spelling: dict[str, AddedToken] = {}
        for token in tokens:
            if not (token.normalized and normalizes):
                by_spelling.setdefault(token.content, token)
        longest_first = sorted(by_spelling, key=len, reverse=True)
        spellings = "|".join(map(re.escape, longest_first)) or "(?!)"
        in_order = sorted(token.content for token in tokens)
        begins = {it for it, longer in itertools.pairwise(in_order) if longer.startswith(it)}
        plain = {
            _id_of(token): content
            for content, token in by_spelling.items()
            if token.special
            and not (token.lstrip or token.rstrip or token.single_word or content in begins)
        }
        return cls(
            specials={_id_of(token): token for token in tokens if token.special},
            late=frozenset(_id_of(token) for token in tokens if token.special and token.normalized)
            if normalizes
            else frozenset(),
            by_spelling=by_spelling,
            pattern=re.compile(spellings),
            anywhere=re.compile(f"(?=({spellings}))"),
            plain=plain,
        )


@once_per_tokenizer
def known_tokens(tok: BaseTokenizer) -> _AddedTokens:
    """The added tokens of a tokenizer, read once."""
    return _AddedTokens.of(tok)


def guarding(tok: BaseTokenizer, names: frozenset[str]) -> BaseTokenizer:
    """The same tokenizer, in which more of its added tokens are special."""
    names -= {token.content for token in added_tokens_of(tok) if token.special} if names else names
    if not names:
        return tok
    guarded = known_tokens(tok).guarded
    if names not in guarded:
        tokens = [
            dataclasses.replace(token, special=token.special or token.content in names)
            for token in added_tokens_of(tok)
        ]
        guarded[names] = tok.replace(added_tokens=tokens)
    return guarded[names]


def _id_of(token: AddedToken) -> int:
    assert token.id is not None  # tokens of a tokenizer have one
    return token.id


class _Places:
    """Which characters of a text may be parts of control tokens.

    Args:
        runs: Who wrote the text.
        of_answers: The ids of control tokens that the assistant's own words may hold too.
    """

    def __init__(self, runs: Runs, of_answers: frozenset[int]) -> None:
        self._of_answers = of_answers
        self._ends = list(accumulate(length for length, _ in runs))
        self._is_control = [origin.is_control for _, origin in runs]
        self._is_open = [origin.is_control or origin.is_answer for _, origin in runs]

    def allow(self, id: int, start: int, end: int) -> bool:
        """Whether all characters of a range may be parts of this token."""
        first = bisect_right(self._ends, start)
        last = bisect_right(self._ends, max(start, end - 1))
        open_ = self._is_open if id in self._of_answers else self._is_control
        return all(open_[first : last + 1])

    def stretches(self) -> list[tuple[int, int]]:
        """The ranges that may be parts of any, each as long as can be."""
        found: list[tuple[int, int]] = []
        start = 0
        of_any = self._is_open if self._of_answers else self._is_control
        for end, is_open in zip(self._ends, of_any, strict=True):
            if is_open and found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            elif is_open:
                found.append((start, end))
            start = end
        return found


def encoded(control: ControlTokens, text: str, runs: Runs) -> Encoded:
    """The ids of a text, in which control tokens are such only where runs allow it. `runs`: who
    wrote it."""
    tok = control.tok
    whole = tok.encode_with_spans(text, special="allow")
    places = _Places(runs, control.of_answers)
    tokens = known_tokens(tok)
    found = _specials_in(text, whole.ids, whole.spans, tokens)
    allowed = [it for it in found if places.allow(_id_of(it[0]), *it[2])]
    if len(allowed) == len(found):
        return Encoded(control, text, whole.ids, whole.spans, False)
    late = [(token, *span) for token, span, _ in allowed if token.id in tokens.late]
    ids, spans = _by_stretches(tok, text, places, tokens, late)
    return Encoded(control, text, ids, spans, True)


def encoded_ids(control: ControlTokens, text: str, runs: Runs) -> list[int]:
    """The ids alone of `encoded`, quicker where what others wrote is in no spelling of a token."""
    tokens, places = known_tokens(control.tok), _Places(runs, frozenset())
    spelled = (match.span(1) for match in tokens.anywhere.finditer(text))
    if tokens.late or not all(places.allow(-1, *span) for span in spelled):
        return encoded(control, text, runs).ids
    return control.tok.encode(text, special="allow")


def _specials_in(
    text: str, ids: list[int], spans: list[tuple[int, int]], tokens: _AddedTokens
) -> list[tuple[AddedToken, tuple[int, int], tuple[int, int]]]:
    """The special tokens among ids, with their spans and where in these they are spelled.

    One that is not spelled there is the unknown token, unless normalization respelled it.
    """
    specials, found = tokens.specials, []
    for id, span in [it for it in zip(ids, spans, strict=True) if it[0] in specials]:
        token = specials[id]
        at = text.find(token.content, *span)
        if at >= 0:
            found.append((token, span, (at, at + len(token.content))))
        elif id in tokens.late:
            found.append((token, span, span))
    return found


def _by_stretches(
    tok: BaseTokenizer,
    text: str,
    places: _Places,
    tokens: _AddedTokens,
    late: list[tuple[AddedToken, int, int]],
) -> tuple[list[int], list[tuple[int, int]]]:
    ids: list[int] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for token, start, end in (*_control_tokens(text, places, tokens, late), (None, len(text), -1)):
        more, within = encoded_stretch(tok, text, at, start)
        ids += more
        spans += within
        if token is not None:
            ids.append(_id_of(token))
            spans.append((start, end))
        at = end
    for token, span, place in _specials_in(text, ids, spans, tokens):
        if not places.allow(_id_of(token), *place) and token.content not in _unknown(tok):
            raise InternalError(f"{text[slice(*span)]!r} became a control token")
    return ids, spans


def _unknown(tok: BaseTokenizer) -> set[str]:
    """The unknown token, which any text may become."""
    model = tok.stages.model
    named = {getattr(model, "unk_token", None), tok.roles.get("unk")}
    if (id := getattr(model, "unk_id", None)) is not None:
        named.add(tok.vocab.spelling(id).decode(errors="replace"))
    return {name for name in named if name is not None}


def _control_tokens(
    text: str, places: _Places, tokens: _AddedTokens, late: list[tuple[AddedToken, int, int]]
) -> list[tuple[AddedToken, int, int]]:
    """The control tokens with the ranges that they take, in order."""
    found = list(late)
    before = 0
    for token, start, end in _spellings(text, places, tokens):
        if token.lstrip and (match := _BEFORE.search(text, before, start)):
            start = match.start()
        if token.rstrip and (match := _BEHIND.match(text, end)):
            end = match.end()
        if token.special and start >= before:
            found.append((token, start, end))
            before = end
    apart: list[tuple[AddedToken, int, int]] = []
    for item in sorted(found, key=lambda it: it[1:]):
        if not apart or apart[-1][2] <= item[1]:
            apart.append(item)
    return apart


def _spellings(
    text: str, places: _Places, tokens: _AddedTokens
) -> Iterator[tuple[AddedToken, int, int]]:
    """Added tokens in what may hold control tokens: the longest of those that begin first."""
    for start, end in places.stretches():
        at = start
        while match := tokens.pattern.search(text, at, end):
            at = match.start() + 1
            for length in range(len(match[0]), 0, -1):
                token = tokens.by_spelling.get(match[0][:length])
                place = match.start(), match.start() + length
                if token is None or (token.special and not places.allow(_id_of(token), *place)):
                    continue
                if not token.single_word or _is_alone(text, *place):
                    at = place[1]
                    yield token, *place
                break


def _is_alone(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return not re.search(r"\w", around)


def encoded_stretch(
    tok: BaseTokenizer, text: str, start: int, end: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """The ids of a part of a text in which special tokens are text, with their spans."""
    if start == end:
        return [], []
    stretch = text[start:end]
    beside, mark = _with_mark(tok, known_tokens(tok), stretch)
    before = mark if start > 0 else ""
    behind = mark if end < len(text) else ""
    encoding = beside.encode_with_spans(before + stretch + behind, special={mark})
    first, last = bool(before), len(encoding.ids) - bool(behind)
    shift = start - len(before)
    within = [(low + shift, high + shift) for low, high in encoding.spans]
    marks = [(shift, start)] * bool(before) + [(end, end + len(mark))] * bool(behind)
    if within[:first] + within[last:] != marks:
        raise InternalError(f"a mark beside {stretch!r:.60} was not found")
    return encoding.ids[first:last], within[first:last]


def _with_mark(tok: BaseTokenizer, tokens: _AddedTokens, stretch: str) -> tuple[BaseTokenizer, str]:
    """A tokenizer that gives the same ids, and a special token of it that a text does not hold.

    A stretch next to it is not at the beginning or end of a text: no space is put in front of it.
    """
    for mark in itertools.islice(tokens.plain.values(), 8):
        beside = mark + stretch + mark
        last = len(beside) - len(mark)
        found = [match.span() for match in tokens.pattern.finditer(beside) if match[0] == mark]
        if found == [(0, len(mark)), (last, len(beside))] and beside.find(mark, 1) == last:
            return tok, mark
    if not tokens.marked or tokens.marked[0][1] in stretch:
        # No other token begins in the stretch and ends in the mark.
        name = f"{_NO_CHARACTER}jeton {secrets.token_hex(16)}{_NO_CHARACTER}"
        token = AddedToken(name, special=True, normalized=False)
        tokens.marked[:] = [(tok.with_added_tokens([token]), name)]
    return tokens.marked[0]
