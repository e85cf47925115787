"""`tok.fit_messages`: drops the oldest turns of a conversation until it fits a number of tokens.

Look here for what is dropped first. A turn is a message of the user and everything after it up to
the next one. A call of a tool is dropped together with its results.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jeton.arguments import checked_int
from jeton.chat.messages import fields_of
from jeton.chat.templates.origins import ANSWERING, SYSTEM
from jeton.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from jeton.chat.chat import Chat
    from jeton.chat.messages import Sent


@dataclass(frozen=True)
class Fitted:
    """Messages that fit.

    Attributes:
        messages: The messages that are kept, as the caller passed them.
        dropped: The indices of the others.
        tokens: The number of tokens of the chat.
        chat: The kept messages as a chat.
    """

    messages: list[Any]
    dropped: list[int]
    tokens: int
    chat: Chat


@dataclass(frozen=True)
class _DropUnit:
    """Messages that are dropped together."""

    all: frozenset[int]
    calls: frozenset[int]
    """The calls of an older turn, with their results, which may be dropped without the rest."""


def fitted(
    messages: Sequence[Any],
    sent: Sequence[Sent],
    max_tokens: int,
    keep: Iterable[int],
    chat_of: Callable[[list[Sent]], Chat],
) -> Fitted:
    """The messages that fit.

    Args:
        messages: The messages, as the caller gave them.
        sent: The same messages, checked.
        max_tokens: The most tokens that they may have.
        keep: The indices of messages that stay.
        chat_of: Returns the chat of some of them.
    """
    units = _units(sent, _checked(keep, len(sent)))

    @functools.cache
    def without(gone: frozenset[int]) -> Chat:
        return chat_of([it for at, it in enumerate(sent) if at not in gone])

    def dropped(count: int) -> frozenset[int]:
        return frozenset().union(*(it.all for it in units[:count]))

    low, high = 0, len(units)
    while low < high:
        # Fewer messages have fewer tokens, so a binary search finds how many units to drop.
        middle = (low + high) // 2
        if len(without(dropped(middle)).ids) <= max_tokens:
            high = middle
        else:
            low = middle + 1
    gone = dropped(low)
    if len(without(gone).ids) > max_tokens:
        raise ArgumentError(
            f"what must stay has {len(without(gone).ids):,} tokens, more than "
            f"max_tokens={max_tokens:,} (keep fewer messages, or shorten one)"
        )
    if low and (calls := units[low - 1].calls):
        # The last turn that was dropped may fit without its calls.
        shorter = dropped(low - 1) | calls
        if len(without(shorter).ids) <= max_tokens:
            gone = shorter
    left = [it for at, it in enumerate(messages) if at not in gone]
    return Fitted(left, sorted(gone), len(without(gone).ids), without(gone))


def _checked(keep: object, count: int) -> frozenset[int]:
    if isinstance(keep, (str, bytes)) or not isinstance(keep, Iterable):
        raise ArgumentTypeError(f"keep must hold indices of messages, not {type(keep).__name__}")
    found = []
    for index in keep:
        index = checked_int("each of keep", index, -sys.maxsize)
        if not -count <= index < count:
            raise ArgumentError(f"keep: there is no message {index} (there are {count:,})")
        found.append(index % count)
    return frozenset(found)


def _units(sent: Sequence[Sent], kept: frozenset[int]) -> list[_DropUnit]:
    """What may be dropped, in that order: older turns, then calls of the last turn."""
    starts = [at for at, it in enumerate(sent) if it.role == "user"]
    bounds = [*starts, len(sent)] if starts[:1] == [0] else [0, *starts, len(sent)]
    turns = [
        [at for at in range(start, end) if sent[at].role not in SYSTEM]
        for start, end in itertools.pairwise(bounds)
    ]
    groups = _calls(sent)
    units = []
    for turn in turns[:-1]:
        calls = frozenset(at for it in groups if not it.isdisjoint(turn) for at in it)
        units.append(_DropUnit(calls.union(turn), calls))
    # What the model is about to answer stays: a call may only be dropped if a message follows its
    # results.
    ends = [it for it in groups if turns and not it.isdisjoint(turns[-1])]
    units += [_DropUnit(it, frozenset()) for it in ends]
    last = len(sent) - 1
    return [it for it in units if it.all and last not in it.all and not it.all & kept]


def _calls(sent: Sequence[Sent]) -> list[frozenset[int]]:
    """The messages with calls, each with its results.

    A result belongs to the last call with its id. Without one it belongs to the calls before it,
    all of them if several messages with calls follow each other.
    """
    groups: dict[int, set[int]] = {}
    """By each of their messages."""
    by_id: dict[object, int] = {}
    pending: list[int] = []
    is_answered = False
    for at, message in enumerate(sent):
        if message.role == "user" or message.role in ANSWERING:
            if is_answered:
                pending, is_answered = [], False
            calls = message.fields.get("tool_calls")
            if message.role in ANSWERING and (calls or message.fields.get("function_call")):
                pending.append(at)
                groups[at] = {at}
                for call in calls if isinstance(calls, (list, tuple)) else ():
                    if isinstance(id := (fields_of(call) or {}).get("id"), (str, int)):
                        by_id[id] = at
        elif message.role not in SYSTEM:
            is_answered = True
            id = message.fields.get("tool_call_id")
            named = by_id.get(id) if isinstance(id, (str, int)) else None
            joined = {at}.union(*(groups[it] for it in (pending if named is None else [named])))
            if len(joined) > 1:
                groups |= dict.fromkeys(joined, joined)
    return [frozenset(it) for at, it in groups.items() if at == min(it)]
