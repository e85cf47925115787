"""Turns the hits of all checks into findings: each once, with the ids of both spellings."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from jeton.arguments import check_kind, checked_int
from jeton.display.human_readable import counted
from jeton.encoding.gotchas import characters, look_alikes, tokens, words
from jeton.encoding.gotchas.gotcha import NAMES, Check, Gotcha, GotchaSubject, Hit
from jeton.encoding.gotchas.gotchas import Gotchas

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_CHECKS: tuple[Check, ...] = (
    *words.CHECKS,
    *tokens.CHECKS,
    *look_alikes.CHECKS,
    *characters.CHECKS,
)

_AROUND = 24
"""The maximum number of characters on each side of a hit that belong to its word."""

_LONGEST = 96
"""The longest spelling whose ids are shown, in characters."""


def find_gotchas(tok: BaseTokenizer, text: str, limit: int = 20) -> Gotchas:
    """The findings of `Tokenizer.gotchas`."""
    check_kind("text", text, str, "a str")
    limit = checked_int("limit", limit, 1)
    subject = GotchaSubject(tok, text)
    first: dict[tuple[str, str], Hit] = {}
    times: dict[tuple[str, str], int] = {}
    for hit in itertools.chain.from_iterable(check(subject) for check in _CHECKS):
        key = (hit.name, text[hit.start : hit.end])
        first.setdefault(key, hit)
        times[key] = times.get(key, 0) + 1
    gotchas: list[Gotcha] = []
    left_out: dict[str, int] = {}
    by_name: dict[str, int] = {}
    for key, hit in first.items():
        if by_name.get(hit.name, 0) >= limit:
            left_out[hit.name] = left_out.get(hit.name, 0) + 1
            continue
        gotcha = _gotcha_of(subject, hit, times[key])
        if gotcha is not None:
            by_name[hit.name] = by_name.get(hit.name, 0) + 1
            gotchas.append(gotcha)
    order = list(NAMES)
    gotchas.sort(key=lambda gotcha: (gotcha.span, order.index(gotcha.name)))
    return Gotchas(tok, text, gotchas, left_out)


def _gotcha_of(subject: GotchaSubject, hit: Hit, times: int) -> Gotcha | None:
    start, end = (hit.start, hit.end) if hit.apart else _word(subject.text, hit.start, hit.end)
    here = subject.text[hit.start : hit.end]
    spelling = subject.text[start:end][:_LONGEST]
    ids = subject.ids(spelling)
    instead: str | None = None
    instead_ids: tuple[int, ...] = ()
    if hit.instead is not None:
        before, after = subject.text[start : hit.start], subject.text[hit.end : end]
        instead = f"{before}{hit.instead}{after}"[:_LONGEST]
        instead_ids = subject.ids(instead) if hit.instead_ids is None else hit.instead_ids
        if ids == instead_ids and not hit.keeps:
            return None
    effect = hit.effect
    if effect is None:
        effect = _effect(ids, instead, instead_ids)
    return Gotcha(
        hit.name, (hit.start, hit.end), here, times, hit.what, effect, hit.do, spelling, ids,
        instead, instead_ids,
    )  # fmt: skip


def _effect(ids: tuple[int, ...], instead: str | None, instead_ids: tuple[int, ...]) -> str:
    here = counted(len(ids), "token")
    if instead is None:
        return f"{here} of text"
    if ids == instead_ids:
        return f"the same ids either way: {here}"
    there = len(instead_ids)
    return f"{here}, other ones" if len(ids) == there else f"{here} instead of {there}"


def _word(text: str, start: int, end: int) -> tuple[int, int]:
    """The range of the word around a hit, with the space before it."""
    first, last = start, end
    while first > max(0, start - _AROUND) and not text[first - 1].isspace():
        first -= 1
    if first and text[first - 1] == " ":
        first -= 1
    while last < min(len(text), end + _AROUND) and not text[last].isspace():
        last += 1
    return first, last
