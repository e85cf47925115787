"""`Outline`: what chats have in common that differ in their words alone.

Most chats of a data set have the same roles and fields. Their template is run once with the words
held back (`templates/held_text.py`). What it writes around them, where control tokens are and what
a model learns is then the same for the next chats, so these are encoded without the template.
Where any of this cannot be shown, there is no outline, or it gives nothing, and the chat is made
as any other.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jeton.chat.encoding import Encoded, known_tokens
from jeton.chat.templates.held_text import Blank, Condition, HeldText, Messages, Reading, parts_of
from jeton.chat.templates.limits import current
from jeton.chat.templates.parts import raw
from jeton.chat.templates.traced import joined
from jeton.chat.templates.variables import TemplateValues
from jeton.chat.training.masks import Learnt
from jeton.errors import JetonError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_CALLS: Final = ("tool_calls", "function_call")

_MAX_MESSAGES: Final = 256
_MAX_PRINTED: Final = 32
"""How often a template may print each text, so that no limit depends on the words."""
_MAX_FIXED: Final = 1 << 20
_MAX_KEYS: Final = 4_096
_MAX_TRIES: Final = 9
"""For chats of one key, which may meet different conditions."""

_VARYING: Final = re.compile(r"""random|safe|escape|urlize|xmlattr|[|'"]\s*e\b""")
"""Filters that draw by chance, or make HTML, which Python compares before it asks `HeldText`."""

Key = tuple[tuple[str, ...], ...]


def key_of(messages: Any) -> Key | None:
    """The roles and the names of the fields of messages; `None` if one has more than text, or a
    blank text. Fields that are `None`, as columns of Parquet may be, reach no template."""
    if len(messages) > _MAX_MESSAGES:
        return None
    key = []
    for message in messages:
        if type(message) is not dict:
            return None
        fields = list[str]()
        for name, value in message.items():
            if value is None and name != "content":
                continue
            if type(value) is not str or type(name) is not str or not value.strip():
                return None
            if name in _CALLS:
                return None
            fields += (name, value) if name == "role" else (name,)
        if "content" not in message:
            return None
        key.append((*fields,))
    return (*key,)


class EncodedChat(NamedTuple):
    """A chat as `Chat` gives it."""

    text: str
    ids: list[int]
    mask: list[bool]


class _Fixed(NamedTuple):
    """What a template writes between words."""

    text: str
    learnt: bytes
    """A byte per character: whether a model learns it."""
    special: tuple[tuple[int, tuple[int, int]], ...]
    """The special tokens, with their spans."""
    edges: tuple[int, ...]
    """Where no token may cross."""


class _Words(NamedTuple):
    """What a message says, printed once."""

    blank: Blank
    learnt: bool


@dataclass(frozen=True)
class Outline:
    """What chats have in common that differ in their words alone."""

    tok: BaseTokenizer
    """The tokenizer, in which the control tokens are special."""
    conditions: tuple[tuple[Condition, bool], ...]
    """What the template asked about the words, with the answers."""
    parts: tuple[_Fixed | _Words, ...]
    """What it writes, and where words go, with whether a model learns them."""

    def encoded(self, messages: Messages) -> EncodedChat | None:
        """The chat of messages of the same key; `None` if it does not have this outline."""
        if any(it.holds(messages) is not answer for it, answer in self.conditions):
            return None
        texts, learnt, at = list[str](), list[bytes](), 0
        special, edges = list[tuple[int, tuple[int, int]]](), list[int]()
        for part in self.parts:
            if isinstance(part, _Fixed):
                text, flags, tokens, apart = part
                special += [(id, (start + at, end + at)) for id, (start, end) in tokens]
                edges += [at + edge for edge in apart]
            else:
                blank, is_learnt = part
                text = blank.text(messages)
                flags = (b"\1" if is_learnt else b"\0") * len(text)
            texts.append(text)
            learnt.append(flags)
            at += len(text)
        text = "".join(texts)
        try:
            encoding = self.tok.encode_with_spans(text, special="allow")
        except JetonError:
            return None  # the chat says what is wrong
        ids, spans = encoding.ids, encoding.spans
        known = known_tokens(self.tok).specials
        # A token without characters counts as of the text before or behind it: that is not known.
        found = [
            (id, it) for id, it in zip(ids, spans, strict=True) if id in known or it[0] == it[1]
        ]
        if found != special or any(start < edge < end for edge in edges for start, end in spans):
            return None
        find = b"".join(learnt).find
        mask = [find(1, start, end) >= 0 for start, end in spans]
        return EncodedChat(text, ids, mask) if True in mask else None


def outlined(values: TemplateValues, encoded: Encoded, learnt: Iterable[Learnt]) -> Outline | None:
    """The outline of a chat that has nothing but messages, if it can be shown.

    Args:
        values: Its values.
        encoded: Its text and tokens.
        learnt: What a model learns of it.
    """
    messages = [message.fields for message in values.sent]
    tok, template = encoded.control.tok, values.template
    varies = _VARYING.search(template) or ("strftime_now" in template and current().day is None)
    if varies or values.renderer.apart or key_of(messages) is None:
        return None
    if encoded.is_forged or known_tokens(tok).late:
        return None
    reading = Reading(messages)
    try:
        text = values.held(reading).text()
    except JetonError:
        return None  # the template reads the words
    if type(text) is not HeldText or reading.is_refused:
        return None
    parts = [*_merged(parts_of(text))]
    if not _is_small(parts):
        return None
    found = _with_tokens(parts, messages, encoded, learnt)
    return None if found is None else Outline(tok, (*reading.answers.items(),), found)


def _merged(parts: Iterable[str | Blank]) -> Iterator[str | Blank]:
    """The parts, with one text between two blanks."""
    for is_blank, some in itertools.groupby(parts, lambda it: isinstance(it, Blank)):
        if is_blank:
            yield from some
        else:
            yield joined([part for part in some if isinstance(part, str)])


def _is_small(parts: list[str | Blank]) -> bool:
    """Whether the limits of templates allow it, whatever the words."""
    times = Counter(part[:2] for part in parts if isinstance(part, Blank))
    fixed = sum(len(part) for part in parts if isinstance(part, str))
    return max(times.values()) <= _MAX_PRINTED and fixed <= _MAX_FIXED


def _with_tokens(
    parts: list[str | Blank], messages: Messages, encoded: Encoded, learnt: Iterable[Learnt]
) -> tuple[_Fixed | _Words, ...] | None:
    """The parts with their special tokens and with what is learnt of them; `None` if a special
    token is in words or takes some, or if only a part of some words is learnt."""
    specials, flags, edges = (
        known_tokens(encoded.control.tok).specials,
        bytearray(len(encoded.text)),
        [],
    )
    for stretch in learnt:
        flags[stretch.start : stretch.end] = b"\1" * (stretch.end - stretch.start)
        edges += [stretch.start] * stretch.is_apart
    tokens = []
    for id, (start, end) in zip(encoded.ids, encoded.spans, strict=True):
        if id in specials:
            tokens.append((id, start, end))
            if encoded.text[start:end] != specials[id].content:
                return None
    found, at, fixed = list[_Fixed | _Words](), 0, 0
    for part in parts:
        begin, at = at, at + len(part if isinstance(part, str) else part.text(messages))
        own = bytes(flags[begin:at])
        if isinstance(part, Blank):
            if len({*own}) != 1:
                return None
            found.append(_Words(part, own[0] == 1))
            continue
        within = [
            (id, (start - begin, end - begin))
            for id, start, end in tokens
            if begin <= start and end <= at
        ]
        fixed += len(within)
        here = tuple(edge - begin for edge in edges if begin <= edge < at)
        found.append(_Fixed(raw(part), own, tuple(within), here))
    return (*found,) if fixed == len(tokens) else None


class Outlines:
    """The outlines of the chats of one template, as they come."""

    def __init__(self) -> None:
        self._known: dict[Key, list[Outline]] = {}
        """Of the chats of one key, by the conditions."""
        self._tries = Counter[Key]()

    def encoded(self, messages: Any) -> EncodedChat | None:
        """The chat of messages, if its outline is known."""
        key = key_of(messages)
        for outline in () if key is None else self._known.get(key, ()):
            if (chat := outline.encoded(messages)) is not None:
                return chat
        return None

    def learn(
        self, messages: Any, chat: EncodedChat, outline_of: Callable[[], Outline | None]
    ) -> None:
        """Takes the outline of a chat that has none yet.

        Only from the second chat of a key on, as many keys come once.
        """
        if (key := key_of(messages)) is None:
            return
        if key in self._tries or len(self._tries) < _MAX_KEYS:
            self._tries[key] += 1
        if not 1 < self._tries[key] <= _MAX_TRIES or self.encoded(messages) is not None:
            return
        outline = outline_of()
        if outline is not None and outline.encoded(messages) == chat:
            self._known.setdefault(key, []).append(outline)
