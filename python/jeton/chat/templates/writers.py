"""Who wrote each token of a chat: the stretches of its text that each token has characters of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jeton.chat.templates.origins import TEMPLATE, Origin, Runs


class Writers:
    """The runs of a text, by the tokens that it was encoded to."""

    def __init__(self, runs: Runs, spans: list[tuple[int, int]]) -> None:
        self.runs = runs
        ends = np.cumsum([length for length, _ in runs], dtype=np.int64)
        of_tokens = np.array(spans, np.int64).reshape(-1, 2)
        starts, last_of_all = of_tokens[:, 0], len(ends) - 1
        first = np.searchsorted(ends, starts, side="right")
        last = np.searchsorted(ends, np.maximum(starts, of_tokens[:, 1] - 1), side="right")
        self._first = np.minimum(first, max(0, last_of_all))
        self._last = np.minimum(last, last_of_all)

    def origins(self) -> list[Origin]:
        """Who wrote each token. A token of several is of the data in it."""
        each = [it for _, it in self.runs]
        bounds = zip(self._first.tolist(), self._last.tolist(), strict=True)
        return [each[low] if low == high else _writer(each[low : high + 1]) for low, high in bounds]

    def any(self, is_wanted: Sequence[bool]) -> npt.NDArray[np.bool_]:
        """For each token whether one of its runs is wanted."""
        before = np.concatenate(([0], np.cumsum(is_wanted, dtype=np.int64)))
        found: npt.NDArray[np.bool_] = before[self._last + 1] > before[self._first]
        return found

    def numbers(self, of_runs: Sequence[int | None]) -> npt.NDArray[np.int64]:
        """For each token the number of the first of its runs that has one; or -1."""
        numbers = np.array([-1 if it is None else it for it in [*of_runs, None]], np.int64)
        # For each run that which is the first with a number, from it on.
        following = np.where(numbers >= 0, np.arange(len(numbers)), len(of_runs))
        following = np.minimum.accumulate(following[::-1])[::-1]
        found = following[self._first]
        return np.where(found <= self._last, numbers[found], -1)


def _writer(origins: list[Origin]) -> Origin:
    data = [origin for origin in origins if origin.kind != "template"]
    for origin in data or origins:
        return origin
    return TEMPLATE
