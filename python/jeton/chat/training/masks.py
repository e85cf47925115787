"""Loss masks by who wrote what: which tokens of a chat a model learns to write.

An answer is the text of a message of these roles, with what the template wrote inside
of it. Look here for where an answer begins and ends: what opens and closes a call of a tool is
written by the template, and learnt all the same.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jeton.chat.templates.origins import ANSWERING, printed_again, segments_of
from jeton.chat.templates.turn_shape import shared_length
from jeton.chat.training.parts import part_of_field
from jeton.errors import JetonError

if TYPE_CHECKING:
    from jeton.chat.templates.origins import Origin, RenderedChat
    from jeton.chat.templates.turn_shape import TurnShape
    from jeton.chat.templates.writers import Writers


@dataclass(frozen=True)
class _MessagePart:
    """What a message says at one place: its tokens, with nothing of other messages between."""

    message: int
    start: int
    end: int
    begins_with: str
    """The field of the message that the first token is of."""
    ends_with: str

    @property
    def is_call(self) -> bool:
        """Whether it ends with a call of a tool."""
        return part_of_field(self.ends_with) == "calls"


@dataclass(frozen=True)
class Learnt:
    """A range of characters that a model learns: each token that has one of them."""

    start: int
    end: int
    is_apart: bool
    """Whether the range counts only if no token also covers the character before it."""


@dataclass
class _Alone:
    """A message as the last one of a short chat."""

    chat: RenderedChat
    before: list[Any]
    """The messages in front of it."""

    def __post_init__(self) -> None:
        said = [*segments_of(self.chat.segments, len(self.before))]
        self.start = min((start for _, start, _, _ in said), default=0)
        """Where what it says begins, in characters."""
        self.behind = self.chat.text[max((end for _, _, end, _ in said), default=0) :]
        """What the template writes behind that."""


class Answers:
    """What messages of some roles say in a chat.

    Args:
        chat_of: Makes the chat of other messages, with a generation prompt or not, to compare.
        writers: Who wrote its tokens.
        shape: How the template writes turns.
        control: The control tokens, with their ids.
        end: The id that ends a text; -1 if there is none.
        roles: Whose messages count.
    """

    def __init__(
        self,
        chat: RenderedChat,
        messages: list[Any],
        chat_of: Callable[[list[Any], bool], RenderedChat],
        writers: Writers,
        shape: TurnShape,
        *,
        control: Mapping[str, int],
        end: int,
        roles: set[str],
    ) -> None:
        self._chat = chat
        self._ids, self._spans, self._speakers = chat.ids, chat.spans, chat.roles
        self._messages = messages
        self._make = chat_of
        self._by_message = dict[int, _Alone | None]()
        self._shape = shape
        self._prompt = shape.prompt
        ends, opening = shape.end_of_question(frozenset(control))
        self._end_of_user = control.get(ends, -1)
        """The control token that ends a question; -1 if there is none."""
        self._after_questions = {control[it] for it in opening}
        """The control tokens between it and the next turn."""
        self._end = end
        self._roles = roles
        by_others = writers.any([it.kind != "template" for _, it in writers.runs])
        self._by_template = [not it for it in by_others]
        """Whether the template wrote all of each token."""
        known = frozenset(control.values())
        self._is_control = [
            by_template and id in known
            for by_template, id in zip(self._by_template, self._ids, strict=True)
        ]
        self._runs = writers.runs
        self._starts = [0, *itertools.accumulate(length for length, _ in self._runs)]
        """Where each run begins, in characters, and where the last one ends."""
        again = self._printed_again()
        self._said = [
            self._is_said(it) and at not in again for at, (_, it) in enumerate(self._runs)
        ]
        """Whether each run is of an answer."""
        self._run_of = writers.first(self._said)
        """The first of its runs that is of an answer, for each token; or -1."""
        self._parts = self._parts_of(writers)

    def mask(self) -> list[bool]:
        """Whether each token is learnt."""
        mask = [False] * len(self._ids)
        closing = {part: self._stop(part.end) for part in self._parts}
        ends = {
            it: self._end_in_text(it, at) or it.end - 1
            for it, at in closing.items()
            if self._in_text(it, at)
        }
        ends |= self._ends({it: at for it, at in closing.items() if it not in ends})
        for part in self._parts:
            if self._speakers[part.message] in ANSWERING:
                first = self._first_of_answer(part)
                mask[first : part.start] = [True] * (part.start - first)
            for at in range(part.start, part.end):
                mask[at] = self._by_template[at] or self._run_of[at] >= 0
            behind = max(part.end, ends[part] + 1)
            mask[part.end : behind] = [True] * (behind - part.end)
        for at in self._silences():
            mask[at] = True
        return mask

    def ranges(self) -> list[Learnt] | None:
        """The same in characters, if it depends on who wrote what alone; else `None`.

        That is so where each message is in one place, begins with its words or behind the
        generation prompt, and ends with a control token that ends all turns, directly behind its
        words. A chat that differs in its words alone has the same ranges.
        """
        said = [at for at, is_said in enumerate(self._said) if is_said]
        groups = [
            (message, [*runs])
            for message, runs in itertools.groupby(said, lambda at: self._runs[at][1].message)
        ]
        expected = [at for at, role in enumerate(self._speakers) if role in self._roles]
        parts = {part.message: part for part in self._parts}
        if sorted(message or 0 for message, _ in groups) != expected or len(parts) != len(groups):
            return None
        found = list[Learnt]()
        for message, (first, *rest) in groups:
            assert message is not None
            part, last = parts[message], [first, *rest][-1]
            stop, start = self._stop(part.end), self._starts[first]
            others = [self._runs[at][1] for at in range(first, last) if not self._said[at]]
            if any(it.kind != "template" for it in others) or not self._ends_all_turns(part, stop):
                return None
            if self._chat.text[self._starts[last + 1] : self._spans[stop][0]].strip():
                return None
            begin = start if self._speakers[message] not in ANSWERING else self._after_prompt(part)
            if begin is None:
                return None
            found.append(Learnt(begin, self._spans[stop][1], is_apart=begin < start))
        return found

    def _ends_all_turns(self, part: _MessagePart, at: int) -> bool:
        """Whether the token at an index ends a part, whatever chat shows it."""
        ids = self._ids
        if part.is_call or at >= len(ids) or not self._is_control[at]:
            return False
        if ids[at] == self._end:
            return True
        ends_texts = any(self._is_control[it] for it, id in enumerate(ids) if id == self._end)
        is_last = not any(self._is_control[at + 1 : at + 2])
        is_end = ids[at] == self._end_of_user and not ends_texts
        return is_end and (is_last or ids[at + 1] in self._after_questions)

    def _stop(self, at: int) -> int:
        """The first place from here on where a turn cannot continue."""
        size = len(self._ids)
        while at < size and self._by_template[at] and not self._is_control[at]:
            at += 1
        return at

    def _is_said(self, origin: Origin) -> bool:
        return origin.kind == "message" and origin.role in self._roles and origin.field != "role"

    def _parts_of(self, writers: Writers) -> list[_MessagePart]:
        """What the messages say, in the order of the text."""
        runs, run_of = writers.runs, self._run_of
        is_of_message = writers.any([it.kind == "message" for _, it in runs])
        parts, stretch = list[_MessagePart](), list[int]()
        speaker: int | None = None

        def end() -> None:
            if speaker is not None:
                start, last = stretch[0], stretch[-1]
                fields = (runs[run_of[at]][1].field for at in (start, last))
                parts.append(_MessagePart(speaker, start, last + 1, *fields))

        for at, (is_any, run) in enumerate(zip(is_of_message, run_of, strict=True)):
            if not is_any:
                continue
            message = runs[run][1].message if run >= 0 else None
            if message != speaker:
                end()
                stretch.clear()
            speaker = message
            stretch.append(at)
        end()
        return parts

    def _printed_again(self) -> set[int]:
        """The runs of calls that are in the text for later messages: some templates write the name
        of a tool again, around its result."""
        text, segments = self._chat.text, self._chat.segments
        words = [(it, text[start:end]) for start, end, it in segments]
        calls = [
            at
            for at, (it, _) in enumerate(words)
            if self._is_said(it) and part_of_field(it.field) == "calls"
        ]
        times = Counter(words[at] for at in calls)
        found = set[int]()
        for message in {words[at][0].message for at in calls if times[words[at]] > 1}:
            if message is not None and (alone := self._alone(message)):
                chat, last = alone.chat.segments, len(alone.before)
                found |= printed_again(segments, message, chat, last)
        return {at for at in calls if at in found and times[words[at]] > 1}

    def _ends(self, stops: dict[_MessagePart, int]) -> dict[_MessagePart, int]:
        """The last token of each part, from the first control token behind what it says.

        An answer may be closed by control tokens of its own, as a call of a tool is. If more follow
        that hold the end of text, or what ends another turn, the turn goes on up to it.
        """
        ids = self._ids
        ends_texts = any(self._is_control[at] for at, it in enumerate(ids) if it == self._end)
        known, ends = {self._end}, dict[_MessagePart, int]()
        for part, first in sorted(stops.items(), key=lambda stop: stop[0].is_call):
            closing = list(
                itertools.takewhile(self._is_control.__getitem__, range(first, len(ids)))
            )
            end = next((at for at in closing if part.is_call and ids[at] in known), None)
            goes_on = len(closing) > 1 or self._goes_on(closing[-1] + 1)
            if end is None and (part.is_call or ends_texts or goes_on):
                end = self._end_alone(part, first, ends_texts=ends_texts)
            end_or_first = first if end is None else end
            ends[part] = self._with_last_marks(part, end_or_first, closing[-1])
            if end is not None or not part.is_call:
                known.add(ids[end_or_first])
        return ends

    def _with_last_marks(self, part: _MessagePart, end: int, last: int) -> int:
        """The last of the control tokens that end a turn together: `<|im_end|><|endofturn|>`.

        No other turn has the further ones, and they end the chat that ends with the answer, too.
        """
        ids = self._ids
        if end >= last or ids[end] == self._end or ids[end + 1] in self._after_questions:
            return end
        same = self._same_until(part)
        while (
            end < last
            and ids[end + 1] not in self._after_questions
            and self._spans[end + 1][1] <= same
        ):
            end += 1
        return end

    def _goes_on(self, at: int) -> bool:
        """Whether the template wrote more than white space from this token on."""
        ids = itertools.takewhile(self._by_template.__getitem__, range(at, len(self._ids)))
        return any(not self._chat.text[slice(*self._spans[it])].isspace() for it in ids)

    def _in_text(self, part: _MessagePart, stop: int) -> bool:
        """Whether text ends a part, rather than the control token at `stop`."""
        if stop >= len(self._ids) or not self._is_control[stop]:
            return True
        start, end = self._said_until(part), self._spans[stop][0]
        if not self._chat.text[start:end].strip():
            return False
        last = self._end_in_text(part, stop)
        return last is not None and last < stop - 1

    def _end_in_text(self, part: _MessagePart, stop: int) -> int | None:
        """The last token in front of `stop` of the text that ends a part: what the template writes
        behind it in a chat that ends with it. `None` if that is not what follows here."""
        alone = self._alone(part.message)
        if alone is None:
            return None
        behind = alone.behind.removesuffix(self._prompt).rstrip()
        end = self._said_until(part) + len(behind)
        if self._same_until(part) < end:
            return None
        starts = [span[0] for span in self._spans[part.end : stop]]
        return part.end - 1 + bisect.bisect_left(starts, end)

    def _end_alone(self, part: _MessagePart, first: int, *, ends_texts: bool) -> int | None:
        """The control token that ends a turn, as a chat shows that ends with it.

        It is the end of text, if the template writes any; or else what ends a turn of the user; or
        else, behind a call, what ends that chat.
        """
        ids, spans, text = self._ids, self._spans, self._chat.text
        if ids[first] == self._end or (ids[first] == self._end_of_user and not ends_texts):
            return first
        same = self._same_until(part)
        closing = [
            at
            for at in itertools.takewhile(self._by_template.__getitem__, range(first, len(ids)))
            if self._is_control[at] and spans[at][1] <= same
        ]
        # White space divides the end of a turn from what follows all turns.
        divided = next((at for at in closing if ids[at] == self._end_of_user), len(ids))
        closing = [
            at
            for at in closing
            if at <= divided
            or not any(text[slice(*it)].isspace() for it in spans[divided + 1 : at])
        ]
        for ending in (self._end, self._end_of_user):
            for at in closing:
                if ids[at] == ending:
                    return at
        if not part.is_call or not closing:
            return None
        last = max(closing[-1], self._end_in_text(part, len(ids)) or 0)
        alone = self._alone(part.message)
        whole = self._said_until(part) + len(alone.behind if alone else "")
        if spans[last][1] == whole == same and not self._shape.has_ends:
            last += any(self._is_control[last + 1 : last + 2])
        return last

    def _same_until(self, part: _MessagePart) -> int:
        """Up to which character the template writes the same behind a part as in a chat that ends
        with it; 0 if it does not take that chat."""
        alone, start = self._alone(part.message), self._said_until(part)
        if alone is None:
            return 0
        here = self._chat.text[start : start + len(alone.behind)]
        return start + shared_length(alone.behind, here)

    def _silences(self) -> list[int]:
        """The tokens of answers without text, if the template shows where one begins: what it
        writes after the prompt, up to the token that ends the turn."""
        heard, answering = {part.message for part in self._parts}, self._roles & ANSWERING
        is_silent = any(it in answering and at not in heard for at, it in enumerate(self._speakers))
        text, size = self._chat.text, len(self._ids)
        found: list[int] = []
        at = text.find(self._prompt) if is_silent and self._prompt else -1
        while at >= 0:
            behind = at + len(self._prompt)
            begin = bisect.bisect_left(self._spans, behind, key=operator.itemgetter(0))
            first = bisect.bisect_right(self._starts, at) - 1
            writers = self._runs[first : bisect.bisect_left(self._starts, behind)]
            if all(it.kind == "template" or it.field == "role" for _, it in writers):
                by_template = [
                    *itertools.takewhile(self._by_template.__getitem__, range(begin, size))
                ]
                marks = [it for it in by_template if self._is_control[it]]
                known = (it for it in marks if self._ids[it] in (self._end, self._end_of_user))
                end = next(known, None)
                if end is None and marks and marks[0] == begin:
                    # The last turn may have an end of its own.
                    end = marks[-1] if by_template[-1] == size - 1 else begin
                found += [] if end is None else range(begin, end + 1)
            at = text.find(self._prompt, behind)
        return found

    def _first_of_answer(self, part: _MessagePart) -> int:
        """The first token of an answer that the model writes: it may be text of the template."""
        first, begin = part.start, self._after_prompt(part)
        if begin is None:
            # It begins where another answer would begin.
            opening, end = self._opening(part.message), self._starts[self._run_of[first]]
            if not opening or not self._chat.text.endswith(opening, 0, end):
                return first
            begin = end - len(opening)
        while first and self._by_template[first - 1] and self._spans[first - 1][1] > begin:
            first -= 1
        return first

    def _after_prompt(self, part: _MessagePart) -> int | None:
        """The end of the part of an answer that the generation prompt has, if it has any."""
        run = self._run_of[part.start]
        end = self._starts[run]
        while run:
            origin = self._runs[run - 1][1]
            is_role = origin.message == part.message and origin.field == "role"
            if origin.kind != "template" and not is_role:
                break
            run -= 1
        start = self._starts[run]
        head = self._chat.text[start:end]
        for prompt in self._shape.prompt_starts:
            at = head.rfind(prompt)
            if at >= 0:
                at += len(prompt)
                more = head[at:][: shared_length(head[at:], self._prompt[len(prompt) :])]
                return start + at + len(more) - len(more.lstrip())
        return None

    def _opening(self, message: int) -> str | None:
        """What a template writes in front of a call that it does not write to ask for an answer."""
        alone, opening = self._alone(message), self._shape.opening
        if alone is None or not opening:
            return None
        text, spans, start = alone.chat.text, alone.chat.spans, alone.start
        asked = [end for _, end, it in alone.chat.segments if it.message == len(alone.before) - 1]
        begin = max((it for it in asked if it <= start), default=0)
        head, ended = text[begin:start], self._shape.behind_question
        if not opening.startswith(ended) and head.startswith(ended):
            # The template puts a generation prompt after every question.
            return head[len(ended) :]
        # What differs begins with the bracket, or the token, that both may begin alike.
        same = begin + len(head[: shared_length(head, opening)].rstrip("<[{("))
        token = bisect.bisect_right(spans, same, key=operator.itemgetter(0)) - 1
        if spans[token][0] < begin + len(ended):
            token += 1  # white space of the question and of the answer may be one token
        return text[spans[token][0] : start] if spans[token][0] < start else None

    def _alone(self, message: int) -> _Alone | None:
        """A message as the answer to the first question; or in the chat up to it, if the template
        does not take that.
        """
        if message not in self._by_message:
            self._by_message[message] = None
            questions = self._speakers.index("user") + 1 if "user" in self._speakers else 0
            for before in (self._messages[:questions], self._messages[:message]):
                with contextlib.suppress(JetonError):
                    chat = self._make([*before, self._messages[message]], False)
                    self._by_message[message] = _Alone(chat, before)
                    break
        return self._by_message[message]

    def _said_until(self, part: _MessagePart) -> int:
        """Where a part ends, in characters: its last token may hold more."""
        run = bisect.bisect_left(self._starts, self._spans[part.end - 1][1]) - 1
        while not self._said[run]:
            run -= 1
        return self._starts[run + 1]
