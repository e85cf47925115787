"""The parts of its input that a template did not print.

Text knows its origin, so an origin that is not in the result was probably left out. That is certain
if the template writes the same without it: it may also have printed a placeholder, or text by an
operation that follows no origins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from jeton.arguments import suggestion
from jeton.chat.messages import fields_of, is_media, is_text
from jeton.chat.templates.input import Group
from jeton.chat.templates.origins import Origin
from jeton.chat.templates.parts import raw, runs_of
from jeton.chat.templates.trust import KNOWN_ROLES, REASONING, Path
from jeton.chat.templates.variables import TemplateValues
from jeton.errors import JetonError, UnsupportedError

_STRUCTURE: Final = frozenset("role id type index tool_call_id".split())
"""Fields that say how messages belong together. A template may go by them and print none."""

_SAID: Final = frozenset("content parts refusal tool_calls function_call".split())
"""Fields that a model has to see."""

_SPEAKERS: Final = frozenset("system developer user assistant model".split())


class UnprintedError(UnsupportedError):
    """A template that promises a format does not print all of its input."""


class Unprinted:
    """The values of a call that its chat did not print."""

    def __init__(self, values: TemplateValues, text: str) -> None:
        self._template = values.template
        self._text = raw(text)
        self._values = values
        groups = values.input.groups
        self._printed = {(it.kind, it.message, it.field) for _, it in runs_of(text)}
        self._groups = [it for it in groups if self._counts(it, groups[it])]
        suspects = [
            group
            for group in self._groups
            if all((*group[:2], field) not in self._printed for field in groups[group])
        ]
        self._batches: dict[tuple[object, ...], list[Group]] = {}
        for group in suspects:
            self._batches.setdefault(self._batch_of(group), []).append(group)
        self._are_lost: dict[Group, bool] = {}
        """By the first of a batch."""
        self._unread = [
            name
            for name, value in values.variables.items()
            if value is not None and name not in values.renderer.source(self._template).names
        ]

    @property
    def is_possible(self) -> bool:
        """Whether anything may be among them: something that has no text in the chat."""
        return bool(self._batches or self._unread)

    def origins(self, *, with_media: bool, for_models: bool = False) -> list[Origin]:
        """All of them, each as the largest thing that was not printed at all.

        Args:
            with_media: Whether parts that are not text count.
            for_models: Whether only those count that a model should see: texts and parts of
                messages, calls, tools, documents, and variables that the template does not read.
        """
        return self._origins(
            [
                batch
                for batch in self._batches.values()
                if (with_media or not self._is_media(batch[0]))
                and (self._is_for_the_model(batch[0]) or not for_models)
            ]
        )

    def hints(self) -> Iterator[str]:
        """Probable misspellings: a role, a variable that the template does not read."""
        for name in self._unread:
            names = sorted(self._values.renderer.source(self._template).names)
            if question := suggestion(name, names):
                yield f"for the variable {name!r}, {question}"
        for at, message in enumerate(self._values.sent):
            if message.role is None or message.role in KNOWN_ROLES:
                continue
            question = suggestion(message.role, sorted(KNOWN_ROLES))
            if question and message.role not in self._template:
                yield f"for the role {message.role!r} of messages[{at}], {question}"

    def _counts(self, group: Group, fields: list[str]) -> bool:
        """Whether a template may print a group."""
        kind, message, path = group
        if kind == "variable":
            return False
        if kind != "message":
            return True
        if path[0] in _STRUCTURE or (path[0] == "name" and self._role(message) not in _SPEAKERS):
            return False
        # A part of text has a kind, which no template prints.
        part = self._part(group)
        return not (is_text(part) and all(it.endswith("].type") for it in fields))

    def _is_for_the_model(self, group: Group) -> bool:
        kind, _, path = group
        if kind != "message" or path[0] in _SAID:
            return True
        return path[0] in REASONING and not any(name in self._template for name in REASONING)

    def _role(self, message: int | None) -> str | None:
        return None if message is None else self._values.sent[message].role

    def _part(self, group: Group) -> object:
        """The item of a list in a message that a group is; `None` if it is something else."""
        kind, message, path = group
        if kind != "message" or message is None or len(path) < 2:
            return None
        items = self._values.sent[message].fields[str(path[0])]
        return items[path[1]]

    def _is_media(self, group: Group) -> bool:
        part = self._part(group)
        return part is not None and group[2][0] == "content" and is_media(part)

    def _batch_of(self, group: Group) -> tuple[object, ...]:
        """Groups that a template treats alike."""
        kind, message, path = group
        part = self._part(group)
        if self._is_media(group):
            return self._role(message), str((fields_of(part) or {}).get("type"))
        return kind, message, path[:1] if kind == "message" else (), is_text(part)

    def _find_lost(self, batches: list[list[Group]]) -> None:
        """Finds out which batches left no trace in the text, most often all."""
        unknown = [it for it in batches if it[0] not in self._are_lost]
        if len(unknown) > 1 and self._changes([it for batch in unknown for it in batch]) is False:
            self._are_lost |= dict.fromkeys((it[0] for it in unknown), True)
            return
        for batch in unknown:
            changes = self._changes(batch)
            # A placeholder, as of an image, does not show who wrote it.
            is_lost = not self._is_media(batch[0]) if changes is None else not changes
            self._are_lost[batch[0]] = is_lost

    def _changes(self, groups: list[Group]) -> bool | None:
        """Whether the text is another without these; `None` if the template takes no such chat."""
        try:
            return raw(self._values.text(groups)) != self._text
        except JetonError:
            return None

    def _origins(self, batches: list[list[Group]]) -> list[Origin]:
        """The origins of the lost groups among these."""
        self._find_lost(batches)
        groups = [group for batch in batches if self._are_lost[batch[0]] for group in batch]

        def parents(group: Group) -> Iterator[tuple[str, int | None, Path]]:
            kind, message, path = group
            if kind != "message" or ("message", message, "role") not in self._printed:
                yield kind, message, ()
            if kind == "message":
                yield kind, message, path[:1]
            yield kind, message, path

        counts = Counter(parent for group in self._groups for parent in set(parents(group)))
        losses = Counter(parent for group in groups for parent in set(parents(group)))
        found: dict[Origin, None] = {}
        for group in groups:
            _, message, path = next(it for it in parents(group) if counts[it] == losses[it])
            steps = (f"[{step}]" if isinstance(step, int) else step for step in path)
            found[Origin(group[0], message, self._role(message), "".join(map(str, steps)))] = None
        for name in self._unread:
            found[Origin("variable", field=name)] = None
        return list(found)
