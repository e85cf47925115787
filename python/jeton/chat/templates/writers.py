"""Who wrote each token of a chat: the stretches of its text that each token has characters of."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence

from jeton.chat.templates.origins import TEMPLATE, Origin, Runs


class Writers:
    """The runs of a text, by the tokens that it was encoded to.

    Lists, not arrays: most chats are short, where a call of NumPy takes longer than such a loop.
    """

    def __init__(self, runs: Runs, spans: list[tuple[int, int]]) -> None:
        self.runs = runs
        # A token behind the text is of the last run.
        ends = [*itertools.accumulate(length for length, _ in runs[:-1])]
        self._bounds = [
            (bisect_right(ends, start), bisect_right(ends, end - 1 if end > start else start))
            if runs
            else (0, -1)
            for start, end in spans
        ]
        """The first and the last run of each token."""

    def origins(self) -> list[Origin]:
        """Who wrote each token. A token of several is of the data in it."""
        each = [it for _, it in self.runs]
        return [
            each[first] if first == last else _writer(each[first : last + 1])
            for first, last in self._bounds
        ]

    def any(self, is_wanted: Sequence[bool]) -> list[bool]:
        """For each token whether one of its runs is wanted."""
        return [
            is_wanted[first] if first == last else any(is_wanted[first : last + 1])
            for first, last in self._bounds
        ]

    def first(self, is_wanted: Sequence[bool]) -> list[int]:
        """For each token the first of its runs that is wanted; or -1."""
        return [
            next((at for at in range(first, last + 1) if is_wanted[at]), -1)
            if first != last
            else (first if is_wanted[first] else -1)
            for first, last in self._bounds
        ]


def _writer(origins: list[Origin]) -> Origin:
    data = (origin for origin in origins if origin.kind != "template")
    return next(itertools.chain(data, origins), TEMPLATE)
