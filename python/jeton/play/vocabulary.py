"""The vocabulary of a tokenizer as a table to search and sort; the page gets a window of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from jeton.components import Regex, normalizers
from jeton.encoding.unicode import scripts
from jeton.errors import ArgumentError
from jeton.play.shelf import Card
from jeton.play.token_details import token_text

SORTS: Final = ("id", "length", "script", "frequency", "text")
_KINDS: Final = ("text", "bytes", "id", "regex")
_FOUND: Final = "\U0010fffe"
"""A character that no token has, which replaces what a regular expression finds."""
_HEX: Final = re.compile(r"(?:0x|\\x|\s|,|<0x|>)+", re.IGNORECASE)


class TokenTable:
    """The tokens of a card, with the columns that the page sorts by."""

    def __init__(self, card: Card) -> None:
        self.card = card
        ids = sorted(card.tokenizer.vocab.values())
        self.ids = np.array([*dict.fromkeys(ids)], np.int64)
        self._last: tuple[tuple[str, str], npt.NDArray[np.int64]]
        self._last = ("", ""), self.ids

    @functools.cached_property
    def tokens(self) -> list[bytes]:
        """The bytes of each token, in the order of ids."""
        token_of = self.card.tokenizer.vocab.spelling
        return [token_of(int(id)) for id in self.ids]

    @functools.cached_property
    def texts(self) -> list[str]:
        """The tokens as text; what is not UTF-8 is U+FFFD."""
        return [token.decode("utf-8", "replace") for token in self.tokens]

    @functools.cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each token."""
        return np.array([len(token) for token in self.tokens], np.int64)

    @functools.cached_property
    def scripts(self) -> list[str]:
        """The script of each token: that of its first letter."""
        return [_script(text) for text in self.texts]

    @functools.cached_property
    def unreachable(self) -> dict[int, str]:
        """Ids that were found to come from no text, with the name of the rule that found them."""
        from jeton.analysis.health import RULES, check

        rules = [rule for rule in RULES if rule.startswith("unreach")]
        return {
            case.id: finding.rule
            for finding in check(self.card.tokenizer, only=rules).findings
            for case in finding.cases
            if case.id is not None
        }

    def _matches(self, query: str, kind: str) -> npt.NDArray[np.int64]:
        """The places of the tokens that a query finds; those of the last query are kept."""
        if not query:
            return np.arange(len(self.ids))
        key, places = self._last
        if key != (query, kind):
            fits = _search(query, kind, self)
            places = np.array([at for at in range(len(self.ids)) if fits(at)], np.int64)
            self._last = (query, kind), places
        return places

    def rows(
        self,
        query: str,
        kind: str,
        sort: str,
        descending: bool,
        start: int,
        stop: int,
        uses: npt.NDArray[np.int64],
    ) -> dict[str, object]:
        """Rows `start` to `stop` of what a query finds.

        Args:
            query: What to look for; all tokens if empty.
            kind: `"text"`, `"bytes"` (hexadecimal), `"id"` (one, or a range) or `"regex"`.
            sort: One of `SORTS`.
            descending: Greatest first.
            start, stop: Which rows.
            uses: How often each id occurs in the text of the page.
        """
        if kind not in _KINDS or sort not in SORTS:
            raise ArgumentError(f"the vocabulary is searched by {', '.join(_KINDS)}")
        places = self._matches(query[:1000], kind)
        counts = uses[np.minimum(self.ids, len(uses) - 1)] if len(uses) else np.zeros_like(self.ids)
        keys: dict[str, Callable[[], npt.NDArray[np.integer] | npt.NDArray[np.str_]]] = {
            "length": lambda: self.lengths[places],
            "frequency": lambda: counts[places],
            "script": lambda: np.array([self.scripts[at] for at in places]),
            "text": lambda: np.array([self.texts[at] for at in places]),
        }
        if sort in keys and len(places):
            places = places[np.argsort(keys[sort](), kind="stable")]
        if descending:
            places = places[::-1]
        known = self.__dict__.get("unreachable", {})
        rows = [
            {
                "id": int(self.ids[at]),
                "shown": token_text(self.tokens[at]),
                "bytes": self.tokens[at][:48].hex(" "),
                "length": int(self.lengths[at]),
                "script": self.scripts[at],
                "used": int(counts[at]),
                "unreachable": known.get(int(self.ids[at])),
            }
            for at in places[max(0, start) : min(stop, start + 500)]
        ]
        return {"total": len(places), "start": start, "rows": rows}


def _script(text: str) -> str:
    found_scripts = [
        name for name in scripts(text[:16]) if name not in ("Common", "Inherited", "Unknown")
    ]
    return found_scripts[0] if found_scripts else "Common"


def _search(query: str, kind: str, table: TokenTable) -> Callable[[int], bool]:
    """A function that says whether the token at a place matches."""
    if kind == "text":
        plain = query.casefold()
        return lambda at: plain in table.texts[at].casefold()
    if kind == "bytes":
        try:
            pattern = bytes.fromhex(_HEX.sub("", query))
        except ValueError:
            raise ArgumentError("bytes are looked for in hexadecimal, such as e2 96") from None
        return lambda at: pattern in table.tokens[at]
    if kind == "id":
        numbers = [int(it) for it in re.findall(r"\d{1,9}", query)]
        if not 1 <= len(numbers) <= 2:
            raise ArgumentError("ids are looked for as a number or a range, such as 100-200")
        first, last = numbers[0], numbers[-1]
        return lambda at: first <= table.ids[at] <= last
    # jeton's own engine stops with an error where Python's would run forever.
    replace = normalizers.Replace(Regex(query), _FOUND)
    return lambda at: replace(table.texts[at]) != table.texts[at]
