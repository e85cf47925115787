"""`Rollout`: a conversation as the ids that a model read and wrote, which never change.

`chat.extend(ids, messages=…)` makes one. The template writes only what is new; the ids in front of
it stay, even if the template would write them differently now. Look here for where the template's
text begins behind an answer, and for how its own rendering would differ.
"""

from __future__ import annotations

import bisect
import copy
import difflib
import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from jeton.arguments import checked_id, checked_iterable
from jeton.chat.encoding import encoded_stretch
from jeton.chat.messages import Sent, fields_of
from jeton.chat.templates.origins import (
    ANSWERING,
    RESULTS,
    RenderedChat,
    printed_again,
    segments_of,
)
from jeton.chat.templates.turn_shape import shared_length
from jeton.chat.training.parts import checked_parts, covered
from jeton.chat.unprinted import UnprintedError
from jeton.display.human_readable import counted
from jeton.encoding.once import ends_of
from jeton.errors import ArgumentError, ChatWarning, JetonError, warn_caller

if TYPE_CHECKING:
    from jeton.chat.answers.parsed import Parsed
    from jeton.chat.templates.origins import Origin
    from jeton.encoding.base_tokenizer import BaseTokenizer

_MAX_COMPARED: Final = 2_000
"""The most ids in which each difference is listed; in more, one from first to last is."""


class _RolloutChat(RenderedChat, Protocol):
    """A chat that goes on."""

    @property
    def tools(self) -> list[Any] | None: ...

    @property
    def call_count(self) -> int: ...

    @property
    def tokenizer(self) -> BaseTokenizer: ...

    def continued(self, messages: list[Any], prompt: bool) -> _RolloutChat: ...

    def say_losses(self, first: int = 0, moved: Sequence[Origin] = ()) -> None: ...


_ENDED: Final = ("stop", "tool_calls")
"""How an answer finishes that the model ended."""


@dataclass(frozen=True)
class Rewritten:
    """A stretch of ids that would differ if the template wrote the whole conversation again.

    Attributes:
        start: The first of these ids.
        end: Behind the last; equal to `start` where the template would insert something.
        text: What the template would write in their place.
    """

    start: int
    end: int
    text: str


class Rollout:
    """A conversation of several turns as ids, each answer as the model wrote it.

    Attributes:
        prompt: The same conversation, rendered from the beginning: the `prompt` to parse the next
            answer with.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
        ...     "<|user>\\nsystem im_end assistant hey"
        ... )
        >>> chat = tok.chat(
        ...     [{"role": "user", "content": "hey"}], template="chatml", add_generation_prompt=True
        ... )
        >>> sampled = [*tok.encode("yes"), tok.special_tokens["<|im_end|>"]]
        >>> rollout = chat.extend(sampled, messages=[{"role": "user", "content": "hm"}])
        >>> rollout.ids[: len(chat.ids) + len(sampled)] == chat.ids + sampled
        True
        >>> sum(rollout.loss_mask()) == len(sampled), rollout.rewritten
        (True, [])
    """

    def __init__(self, chat: _RolloutChat, messages: list[Any]) -> None:
        self.prompt: Any = chat
        self._ids: tuple[int, ...] = (*chat.ids,)
        self._sampled: tuple[tuple[int, int], ...] = ()
        self._answers: tuple[Parsed, ...] = ()
        self._rewritten: tuple[Rewritten, ...] = ()
        self._messages = messages
        self._asks = True
        """Whether the text ends by asking for an answer."""

    @property
    def tokenizer(self) -> BaseTokenizer:
        """The tokenizer."""
        tokenizer: BaseTokenizer = self.prompt.tokenizer
        return tokenizer

    @property
    def ids(self) -> list[int]:
        """All ids: of the prompt, of the answers, and of what the template wrote between. As the
        other lists of a rollout, it is new at each access.
        """
        return [*self._ids]

    @property
    def sampled(self) -> list[tuple[int, int]]:
        """Where the answers are in `ids`: start and end of each."""
        return [*self._sampled]

    @property
    def answers(self) -> list[Parsed]:
        """The answers, parsed."""
        return [*self._answers]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation as dicts, with the answers as messages."""
        return [_plain(message) for message in self._messages]

    @property
    def rewritten(self) -> list[Rewritten]:
        """Where `ids` differ from a rendering from the beginning: the reasoning of earlier turns,
        calls with other white space, an end that the model did not write.
        """
        return [*self._rewritten]

    def __len__(self) -> int:
        return len(self._ids)

    def loss_mask(self, *, parts: Iterable[str] | None = None) -> list[int]:
        """1 for each token that the model wrote, else 0.

        What the template added to an answer, such as the end of a turn that the model did not
        reach, is not learnt.

        Args:
            parts: What of the answers counts: any of `"reasoning"`, `"content"` and `"calls"`, as
                in `Chat.loss_mask`. By default all of them.

        Raises:
            ArgumentError: `parts` names a part that there is not.
        """
        named = checked_parts(parts)
        ends = ends_of(self.tokenizer)
        mask = [0] * len(self._ids)
        for (start, end), answer in zip(self._sampled, self._answers, strict=True):
            kinds = [""] * (end - start)
            for part in answer.parts:
                if part.kind not in ("mark", "rest"):
                    kind = "calls" if part.kind == "call" else part.kind
                    kinds[slice(*part.span)] = [kind] * (part.span[1] - part.span[0])
            is_end = [id in ends for id in self._ids[start:end]]
            learnt = [True] * len(kinds) if parts is None else covered(kinds, is_end, named)
            mask[start:end] = map(int, learnt)
        return mask

    def extend(
        self,
        ids: Iterable[int],
        *,
        messages: Iterable[Mapping[str, Any]] = (),
        add_generation_prompt: bool = True,
    ) -> Rollout:
        """A longer rollout, as by `Chat.extend`; this one does not change.

        Raises:
            ArgumentError: As by `Chat.extend`; or nothing was written that asks for an answer; or
                the template takes no result of a call that is cut off.
        """
        if not self._asks:
            raise ArgumentError(
                "the rollout asks for no answer: pass messages= to the extend before, with "
                "add_generation_prompt=True"
            )
        written = _checked(ids)
        new = _listed(messages)
        answer = self.tokenizer.parse(  # type: ignore[attr-defined]
            written, prompt=self.prompt, tools=self.prompt.tools
        )
        longer = copy.copy(self)
        start = len(self._ids)
        if not new:
            add_generation_prompt = False
        new = _matched(new, answer)
        said, follow, chat, place = self._continued(answer, new, add_generation_prompt)
        end, is_ended = _behind_answer(chat, place, written, answer)
        try:
            if new:
                chat.say_losses(len(said), _moved(chat, len(said), end))
        except UnprintedError:
            if follow != new or not self._repeats_ids(answer):
                raise
            # Some templates print a result only once for each id.
            said, follow, chat, place = self._continued(
                answer, new, add_generation_prompt, renames=True
            )
            end, is_ended = _behind_answer(chat, place, written, answer)
            chat.say_losses(len(said), _moved(chat, len(said), end))
        rendered, following = _divided(chat, end)
        longer._sampled = (*self._sampled, (start, start + len(written)))
        longer._answers = (*self._answers, answer)
        longer._messages = [*said, *follow]
        longer.prompt = chat
        longer._asks = add_generation_prompt
        before = [*self._ids, *written]
        longer._ids = (*before, *(following if new or not is_ended else []))
        longer._rewritten = (*_compared(self.tokenizer, before, rendered),)
        return longer

    def _continued(
        self, answer: Parsed, new: list[Any], prompt: bool, *, renames: bool = False
    ) -> tuple[list[Any], list[Any], _RolloutChat, _Place]:
        """The messages up to the answer, those that follow, the chat of both, and where the answer
        is in it.

        The answer is the first of its shapes that the template takes. If the template writes what
        follows in front of the words of the answer, the chat has the answer without words.
        `renames`: only shapes with new ids of calls count.
        """
        refusal: JetonError | None = None
        found: tuple[list[Any], list[Any], _RolloutChat, _Place] | None = None
        for message, ids in _messages_of(answer, self.prompt.call_count):
            if renames and not ids:
                continue
            if found is not None and not (message.get("content") or message.get("tool_calls")):
                break
            said, follow = [*self._messages, message], _renamed(new, ids)
            try:
                chat = self.prompt.continued([*said, *follow], prompt)
            except JetonError as error:
                refusal = refusal or error
                continue
            alone = self._alone(said) if _repeats(chat, len(said) - 1) else None
            place = _place(chat, alone, len(said) - 1)
            if found is None or place.is_in_order:
                said, follow = (said, follow) if found is None else found[:2]
                found = said, follow, chat, place
            if place.is_in_order:
                break
        if found is None:
            assert refusal is not None
            if answer.finish in _ENDED or answer.calls:
                raise refusal
            raise ArgumentError(
                f"{refusal}; the answer is cut off and has no whole call, so no result of a tool "
                "can follow: sample the rest of it, or pass a turn of the user"
            ) from refusal
        if refusal is not None:
            _say_what_is_missing(answer, found[0][-1], refusal, is_renamed=found[1] != new)
        return found

    def _repeats_ids(self, answer: Parsed) -> bool:
        """Whether calls of the answer have ids that are those of other calls."""
        ids = Counter(it.id for one in (*self._answers, answer) for it in one.calls if it.id)
        return any(ids[it.id] > 1 for it in answer.calls if it.id)

    def _alone(self, messages: list[Any]) -> _RolloutChat | None:
        """The chat that ends with an answer, if the template accepts that."""
        try:
            chat: _RolloutChat = self.prompt.continued(messages, False)
        except JetonError:
            return None
        return chat

    def __repr__(self) -> str:
        answers, parts = counted(len(self._answers), "answer"), len(self._rewritten)
        drift = f", {counted(parts, 'part')} would be rewritten" if parts else ""
        return f"Rollout({answers}, {len(self._ids):,} tokens{drift})"


def _plain(value: object) -> Any:
    """A copy of a message, or of its contents, in new dicts and lists."""
    fields = value.fields if isinstance(value, Sent) else fields_of(value)
    if fields is not None:
        return {name: _plain(it) for name, it in fields.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(it) for it in value]
    return value


def _checked(ids: object) -> list[int]:
    ids = checked_iterable("ids", ids, "the ids that the model wrote", but=(str, bytes, Mapping))
    return [checked_id("ids", id) for id in ids]


def _listed(messages: object) -> list[Any]:
    messages = checked_iterable("messages", messages, "a list of dicts", but=(str, bytes, Mapping))
    listed = list(messages)
    if listed and isinstance(listed[0], Mapping) and listed[0].get("role") in ANSWERING:
        raise ArgumentError(
            "messages must be what follows the answer (results of tools, or a turn of the user): "
            "pass the answer itself as ids"
        )
    return listed


def _matched(messages: list[Any], answer: Parsed) -> list[Any]:
    """The messages, in which each result of a tool has the id and the name of its call: that with
    its id, or else the next one."""
    calls, found = [*answer.calls], list[Any]()
    for message in messages:
        if calls and isinstance(message, Mapping) and message.get("role") in RESULTS:
            id = message.get("tool_call_id")
            call = next((it for it in calls if id is None or it.id == id), None)
            if call is not None:
                calls.remove(call)
                missing = {"tool_call_id": call.id, "name": call.name}
                message = {
                    **message,
                    **{k: it for k, it in missing.items() if it and message.get(k) is None},
                }
        found.append(message)
    return found


def _say_what_is_missing(
    answer: Parsed, message: Mapping[str, Any], refusal: JetonError, *, is_renamed: bool
) -> None:
    """Warns of what the template does not get of an answer that it refused at first."""
    said = ""
    if answer.calls and "tool_calls" not in message:
        said = (
            "the answer without its calls, since it does not take them, so it may write their "
            "results as those of other calls"
        )
    elif is_renamed:
        said = "other ids than those of their calls with the results of tools"
    elif answer.content and not answer.calls and not message["content"]:
        said = "the answer without its words, since it does not take them"
    if said:
        warn_caller(f"the chat template gets {said}: {refusal}", ChatWarning)


def _renamed(messages: list[Any], ids: Mapping[str, str]) -> list[Any]:
    """The messages, in which the results of tools have the new ids of their calls."""
    return [
        {**it, "tool_call_id": ids[given]}
        if isinstance(it, Mapping)
        and isinstance(given := it.get("tool_call_id"), str)
        and given in ids
        else it
        for it in messages
    ]


def _messages_of(answer: Parsed, count: int) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """The answer as a message, and in simpler shapes for templates that do not take it; each with
    the new ids of calls, by those that the answer has. `count`: the calls of earlier answers."""
    ids: dict[str, str] = {}
    yield copy.deepcopy(answer.message), ids
    simpler = copy.deepcopy(answer.message)
    for call in simpler.get("tool_calls", ()):
        if isinstance(call["function"]["arguments"], str):
            call["function"]["arguments"] = {}
    yield simpler, ids
    # Those of Mistral take only ids of nine letters and digits.
    ids = {it.id: f"call{at:05}" for at, it in enumerate(answer.calls, count) if it.id is not None}
    simpler = copy.deepcopy(simpler)
    for call in simpler.get("tool_calls", ()):
        if call.get("id") is not None:
            call["id"] = ids[call["id"]]
    yield simpler, ids
    if simpler.get("tool_calls"):
        yield {**simpler, "content": ""}, ids
        # That of gpt-oss takes no reasoning that spells its marks.
        yield {"role": "assistant", "content": "", "tool_calls": simpler["tool_calls"]}, ids
    text = "".join(part.text for part in answer.parts if part.kind != "mark")
    yield {"role": "assistant", "content": answer.content or text}, {}
    yield {"role": "assistant", "content": ""}, {}


@dataclass(frozen=True)
class _Place:
    """Where an answer ends in a chat, in characters, and whether all that follows is behind it."""

    end: int
    next: int
    is_said: bool
    """Whether the template prints anything of it."""
    is_in_order: bool


def _repeats(chat: _RolloutChat, message: int) -> bool:
    """Whether a chat has a field of a message in two places, so that it may be printed again. To
    tell, the template must write the conversation once more."""
    fields = Counter(it.field for _, _, _, it in segments_of(chat.segments, message))
    return max(fields.values(), default=0) > 1


def _place(chat: _RolloutChat, alone: _RolloutChat | None, answer: int) -> _Place:
    """The place of an answer in a chat. `alone`: the chat that ends with it."""
    segments = chat.segments
    again = set() if alone is None else printed_again(segments, answer, alone.segments, answer)
    end, following, is_said = 0, [len(chat.text)], False
    for number, (start, stop, it) in enumerate(segments):
        if it.kind != "message" or it.field == "role" or it.message is None or number in again:
            continue
        if it.message > answer:
            following.append(start)
        else:
            is_said |= it.message == answer
            end = stop
    first = min((it for it in following if it >= end), default=len(chat.text))
    return _Place(end, first, is_said, min(following) >= end)


def _behind_answer(
    chat: _RolloutChat, place: _Place, written: list[int], answer: Parsed
) -> tuple[int, bool]:
    """The character at which what follows an answer begins, and whether the answer has an end."""
    ids, spans = chat.ids, chat.spans
    first = bisect.bisect_left(spans, place.end, key=operator.itemgetter(0))
    behind = bisect.bisect_left(spans, place.next, key=operator.itemgetter(0))
    stream = chat.tokenizer.parse_stream(prompt=chat)  # type: ignore[attr-defined]
    texts = stream.closing_texts
    marks: frozenset[int | str] = stream.closing | texts
    ends: list[tuple[int, int, int | str]] = [
        (*spans[at], ids[at]) for at in range(first, behind) if ids[at] in marks
    ]
    # A tokenizer without the token that ends a turn has it as plain text.
    spelled = "|".join(map(re.escape, sorted(texts, key=len, reverse=True))) or "(?!)"
    ends += [
        (*it.span(), it[0]) for it in re.compile(spelled).finditer(chat.text, place.end, place.next)
    ]
    if marks_of_several := stream.closing_marks:
        # What the model has closed already is not closed again; what is open is.
        closing, text = (
            chat.text[place.end : place.next],
            chat.tokenizer.decode(written, unknown_ids="show"),
        )
        shared = next((it for it in range(len(closing), 0, -1) if text.endswith(closing[:it])), 0)
        is_ended = any(it in closing[:shared] for it in marks_of_several)
        return place.end + shared, is_ended
    if not ends:
        control = chat.control_tokens.values()
        starts = (spans[at][0] for at in range(first, behind) if ids[at] in control)
        return next(starts, place.end), True
    # Nothing divides an answer without text from the end of the turn before it.
    ends = sorted(ends) if place.is_said else [max(ends)]
    last, space = _own_end(chat.tokenizer, written, marks)
    if last is None:
        return ends[0][0], answer.finish in _ENDED
    start, end, mark = next((it for it in ends if it[2] == last), ends[0])
    if mark != last and not stream.has_ends:
        return start, True  # it begins the next turn
    for character in space:
        end += chat.text.startswith(character, end)
    return end, True


def _moved(chat: _RolloutChat, count: int, end: int) -> list[Origin]:
    """What the template writes of messages from number `count` on only in front of an answer that
    ends at a character: the ids of the rollout do not have it."""
    follows: dict[Origin, bool] = {}
    for start, _, it in chat.segments:
        if it.kind == "message" and it.field != "role" and (it.message or 0) >= count:
            follows[it] = follows.get(it, False) or start >= end
    return [it for it, is_behind in follows.items() if not is_behind]


def _own_end(
    tok: BaseTokenizer, written: list[int], marks: frozenset[int | str]
) -> tuple[int | str | None, str]:
    """The id or text of the mark that an answer ends with, if any; and the white space after it."""
    for at in reversed(range(len(written))):
        if written[at] in marks:
            return written[at], tok.decode(written[at + 1 :], unknown_ids="show")
        if not tok.decode([written[at]], unknown_ids="show").isspace():
            break
    text = tok.decode(written, unknown_ids="show")
    said = text.rstrip()
    found = [it for it in marks if isinstance(it, str) and said.endswith(it)]
    return max(found, key=len, default=None), text[len(said) :]


def _divided(chat: _RolloutChat, at: int) -> tuple[list[int], list[int]]:
    """The ids of a chat in front of a character and from it on.

    A token that the character divides becomes tokens of its two parts.
    """
    ids, spans = chat.ids, chat.spans
    first = bisect.bisect_right(spans, at, key=operator.itemgetter(1))
    if first == len(ids) or spans[first][0] >= at:
        first = bisect.bisect_left(spans, at, key=operator.itemgetter(0))
        return ids[:first], ids[first:]
    start, end = spans[first]
    behind = first
    while behind < len(ids) and spans[behind][0] < end:
        end = max(end, spans[behind][1])
        behind += 1
    before, after = (
        encoded_stretch(chat.tokenizer, chat.text, *it)[0] for it in ((start, at), (at, end))
    )
    return ids[:first] + before, after + ids[behind:]


def _compared(tok: BaseTokenizer, ids: list[int], rendered: list[int]) -> Iterator[Rewritten]:
    """Where the ids of a rollout differ from what the template would write."""
    same = shared_length(ids, rendered)
    behind = shared_length(ids[same:][::-1], rendered[same:][::-1])
    old, new = ids[same : len(ids) - behind], rendered[same : len(rendered) - behind]
    if not old and not new:
        return
    if max(len(old), len(new)) > _MAX_COMPARED:
        yield Rewritten(same, same + len(old), tok.decode(new))
        return
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield Rewritten(same + a, same + b, tok.decode(new[c:d]))
