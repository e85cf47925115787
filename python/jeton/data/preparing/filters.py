"""Filters of `prepare`: which records stay, by rules on their fields or by functions.

A filter sees a record before it is encoded, and must depend on nothing else, since a run that was
stopped does not show it the earlier records again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jeton.arguments import check_text, checked_int, checked_iterable, suggestion
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError

_COMPARISONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON: Final = re.compile(r"(?:==|!=|<=|>=|<|>)(?!=)")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class Filters:
    """Filters, one after another."""

    names: tuple[str, ...] = ()
    """The rules, or the names of the functions."""
    columns: tuple[str, ...] | None = ()
    """The fields that they read; `None` for all."""
    keep: tuple[Callable[[Any], object], ...] = ()

    def failed(self, record: object) -> str | None:
        """The name of the first filter that the record does not pass; `None` if it stays."""
        for name, keep in zip(self.names, self.keep, strict=True):
            if not keep(record):
                return name
        return None


def filters_of(filter: object) -> Filters:
    """The filters that a caller passed."""
    if filter is None:
        return Filters()
    is_single = isinstance(filter, str) or callable(filter)
    if not is_single and not isinstance(filter, (list, tuple)):
        raise ArgumentTypeError(
            "filter must be a rule such as 'score >= 3', a function, or a list of these, not "
            f"{type(filter).__name__}"
        )
    some: list[Any] = [filter] if is_single else [*filter]  # type: ignore[misc]
    names, columns, keep = list[str](), list[str](), list[Callable[[Any], object]]()
    is_any_function = False
    for one in some:
        if isinstance(one, str):
            rule = _Rule.of(one)
            names.append(f"{rule.field} {rule.comparison} {json.dumps(rule.value)}")
            columns.append(rule.field)
            keep.append(rule)
        elif callable(one):
            names.append(_name_of(one))
            keep.append(one)
            is_any_function = True
        else:
            raise ArgumentTypeError(
                f"each of filter must be a rule or a function, not {type(one).__name__}"
            )
    if len(set(names)) < len(names):
        raise ArgumentError(f"filter has {max(names, key=names.count)!r} twice")
    return Filters((*names,), None if is_any_function else (*dict.fromkeys(columns),), (*keep,))


def _name_of(function: Callable[[Any], object]) -> str:
    if isinstance(function, Contamination):
        return str(function)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '')}.{name}"


@dataclass(frozen=True)
class _Rule:
    """A comparison of a field with a value. A record without the field, or with null, fails."""

    field: str
    comparison: str
    value: Any

    @classmethod
    def of(cls, text: str) -> _Rule:
        """The rule that a text says."""
        rule = text.strip()
        match = _COMPARISON.search(rule, 1)
        value: Any = rule[match.end() :].lstrip() if match else ""
        if match is None or not value:
            raise ArgumentError(
                f"filter {text!r} is not a rule such as 'score >= 3' or 'language == en'"
            )
        field, comparison = rule[: match.start()].rstrip(), match[0]
        with contextlib.suppress(ValueError, RecursionError):  # a text without quotes
            value = json.loads(value)
        if isinstance(value, (dict, list)) or (value is None and comparison not in ("==", "!=")):
            raise ArgumentError(f"filter {text!r} compares with something else than one value")
        return cls(field, comparison, value)

    def __call__(self, record: object) -> bool:
        if not isinstance(record, Mapping):
            raise FormatError(
                f"the rule on {self.field!r} needs a record with fields, not a value of type "
                f"{type(record).__name__}"
            )
        found = record.get(self.field)
        if self.value is None:
            return bool(_COMPARISONS[self.comparison](found, None))
        if found is None:
            return False
        if isinstance(found, bytes):  # a column of text that is not marked as text
            found = found.decode("utf-8", "replace")
        try:
            return bool(_COMPARISONS[self.comparison](found, self.value))
        except TypeError:
            raise FormatError(
                f"field {self.field!r} is {found!r:.40}, which cannot be compared with "
                f"{self.value!r:.40}"
            ) from None


class Contamination:
    """A filter that leaves out documents which share words with test sets.

    A document is left out if `n` words in a row are also in a row in one of the test texts,
    whatever their case and the characters between them. Texts with fewer words are compared as a
    whole: they contaminate a document that has all of their words in a row.

    Args:
        texts: The texts of the test sets, such as questions.
        n: The number of words.
        field: The field of records that holds the text of a document.

    Raises:
        ArgumentError: No text has a word.

    Example:
        >>> from jeton.data import Contamination
        >>> keeps = Contamination(["How many legs has a spider?"], n=4)
        >>> keeps({"text": "A riddle: how many legs has it?"})
        False
        >>> keeps("How many words has a page?")
        True
    """

    def __init__(self, texts: Iterable[str], n: int = 13, *, field: str = "text") -> None:
        self._n, self._field = checked_int("n", n, 1), check_text("field", field)
        texts = checked_iterable("texts", texts, "an iterable of texts")
        grams = set[tuple[str, ...]]()
        for text in texts:
            words = _words(check_text("each of texts", text))
            grams.update(_grams(words, self._n) if len(words) >= self._n else [(*words,)])
        grams.discard(())
        if not grams:
            raise ArgumentError("texts has no words to look for")
        self._grams = frozenset(grams)
        self._sizes = sorted({len(gram) for gram in grams})

    def __call__(self, record: object) -> bool:
        """Whether a document stays.

        Raises:
            FormatError: The record has no text in the field.
        """
        text = record
        if isinstance(record, Mapping):
            text = record.get(self._field)
            if text is None and self._field not in record:
                hint = suggestion(self._field, [str(name) for name in record]) or None
                raise FormatError(f"there is no field {self._field!r}", hint=hint)
        if text is None:
            return True
        if not isinstance(text, str):
            raise FormatError(
                f"Contamination needs a text, not a value of type {type(text).__name__}"
            )
        words = _words(text)
        return not any(gram in self._grams for size in self._sizes for gram in _grams(words, size))

    def __str__(self) -> str:
        digest = hashlib.sha256(json.dumps(sorted(self._grams)).encode()).hexdigest()
        return f"Contamination(n={self._n}, field={self._field!r}, sha256={digest[:16]})"


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _grams(words: list[str], n: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(n)), strict=False)
