"""`HeldText`: the words of a message, held back from the template that writes them.

A template may print such a text, add it to others and trim it. It may ask whether the text is, has,
begins or ends with a word: the answer becomes a condition. Nothing else works. So the template
writes the same around the words of each chat that has these roles and fields and meets the
conditions. `outlines.py` builds on this; the sandbox names the places where text is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from jeton.chat.templates.origins import Origin
from jeton.chat.templates.traced import Traced

Messages = Sequence[Mapping[str, Any]]
"""Messages as they were sent, each with words in the fields that an outline names."""

Trim = tuple[Literal["strip", "lstrip", "rstrip"], str | None]
"""A method of a text that takes white space off, with its argument."""


class Blank(NamedTuple):
    """Where the words of a message go."""

    message: int
    field: str
    trims: tuple[Trim, ...]
    """What the template takes off them, in order."""
    origin: Origin

    def text(self, messages: Messages) -> str:
        """The words of these messages that go here."""
        text: str = messages[self.message][self.field]
        for method, chars in self.trims:
            text = getattr(text, method)(chars)
        return text


class Condition(NamedTuple):
    """What a template found out about words."""

    blank: Blank
    question: Literal["__contains__", "__eq__", "startswith", "endswith"]
    word: str

    def holds(self, messages: Messages) -> bool:
        """The answer for these messages."""
        return bool(getattr(self.blank.text(messages), self.question)(self.word))


class ReadError(Exception):
    """A template reads what is held back."""


class Reading:
    """What a template asked about the words of some messages."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self.answers: dict[Condition, bool] = {}
        self.is_refused = False

    def refuse(self) -> ReadError:
        """The error for any other question. It counts even where a template catches it."""
        self.is_refused = True
        return ReadError("the template reads the words of a message")

    def ask(self, condition: Condition) -> bool:
        """The answer for the messages."""
        return self.answers.setdefault(condition, condition.holds(self._messages))


class HeldText(Traced):
    """Text with words that are held back. As a `str` it is one character that no text has.

    It is a kind of `Traced`, so that Python asks it first where the two are compared.

    Templates see its names, so all but those of a `str` begin with an underscore.
    """

    __slots__ = ("_parts", "_reading")
    _parts: tuple[str | Blank, ...]
    _reading: Reading

    def __new__(cls, parts: Iterable[str | Blank], reading: Reading) -> HeldText:
        self = str.__new__(cls, "\U0010ffff")
        self._parts, self._reading = tuple(parts), reading
        return self

    def __str__(self) -> str:
        return self

    @staticmethod
    def _joined(parts: Sequence[Any]) -> HeldText:
        found: list[str | Blank] = []
        for part in parts:
            found += part._parts if type(part) is HeldText else [part] if part else []
        reading = next(part._reading for part in parts if type(part) is HeldText)
        return HeldText(found, reading)

    def __bool__(self) -> bool:
        return True  # no words that are held back are blank

    def __add__(self, other: object) -> Any:
        return self._joined((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: object) -> Any:
        return self._joined((other, self)) if isinstance(other, str) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self._ask("__eq__", other) if isinstance(other, str) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        raise self._reading.refuse()

    def __contains__(self, word: object) -> bool:
        return self._ask("__contains__", word)

    def startswith(self, *words: object) -> bool:
        return self._ask("startswith", *words)

    def endswith(self, *words: object) -> bool:
        return self._ask("endswith", *words)

    def strip(self, chars: object = None) -> HeldText:
        return self._trimmed("strip", chars)

    def lstrip(self, chars: object = None) -> HeldText:
        return self._trimmed("lstrip", chars)

    def rstrip(self, chars: object = None) -> HeldText:
        return self._trimmed("rstrip", chars)

    def _blank(self) -> Blank:
        """The blank that the text is, if it is nothing else."""
        if len(self._parts) == 1 and isinstance(self._parts[0], Blank):
            return self._parts[0]
        raise self._reading.refuse()

    def _ask(self, question: Any, *words: object) -> bool:
        blank = self._blank()
        if len(words) != 1 or not isinstance(words[0], str) or type(words[0]) is HeldText:
            raise self._reading.refuse()
        return self._reading.ask(Condition(blank, question, str.__str__(words[0])))

    def _trimmed(self, method: Any, chars: object) -> HeldText:
        blank = self._blank()
        if chars is not None and not (type(chars) is str and chars.isspace()):
            raise self._reading.refuse()  # no words might be left
        return HeldText([blank._replace(trims=(*blank.trims, (method, chars)))], self._reading)


_KEPT: Final = frozenset(
    """
    __class__ __delattr__ __dir__ __doc__ __getattribute__ __init__ __init_subclass__ __len__
    __new__ __setattr__ __sizeof__ __subclasshook__
    """.split()
)
"""What shows no words. The length is that of the one character; only limits read it."""


def _refused(text: HeldText, *_: object, **__: object) -> Any:
    raise text._reading.refuse()


for _name in {*dir(Traced)} - {*vars(HeldText)} - _KEPT:
    setattr(HeldText, _name, _refused if _name.startswith("__") else property(_refused))


class _Searched(str):
    """A text in which a template looks for another one."""

    __slots__ = ()

    def __contains__(self, word: object) -> bool:
        refuse(word)
        return str.__contains__(self, word)  # type: ignore[operator]


def searched(value: Any) -> Any:
    """Prepares the right side of `in`, so that a plain text refuses to search for held words."""
    return _Searched(value) if isinstance(value, str) and type(value) is not HeldText else value


def is_held(*values: object) -> bool:
    """Whether one of some values is held back."""
    return any(type(it) is HeldText for it in values)


def parts_of(text: HeldText) -> tuple[str | Blank, ...]:
    """The parts of a text that is held back."""
    return text._parts


def mapped(text: HeldText, change: Callable[[Any], str | Blank]) -> HeldText:
    """The text with each of its parts changed."""
    return HeldText(map(change, text._parts), text._reading)


def refuse(*values: object) -> None:
    """Raises if one of some values is held back: what follows would read it."""
    for it in values:
        if type(it) is HeldText:
            raise it._reading.refuse()
