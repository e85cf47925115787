"""The parts of answers that a loss mask covers: their reasoning, their words, their calls.

Look here for which part the text of the template belongs to. What it writes in front of a part
belongs to that part, so that a model that learns only words still learns what begins them. What it
writes behind the last part belongs to that, but for the token that ends the turn, if the tokenizer
knows it: that is always learnt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from jeton.chat.templates.trust import REASONING
from jeton.errors import ArgumentError, ArgumentTypeError

PARTS: Final = ("reasoning", "content", "calls")
"""What an answer has, in order."""


def checked_parts(parts: Iterable[str] | None) -> frozenset[str]:
    """The parts that are named; all for `None`."""
    if parts is None:
        return frozenset(PARTS)
    if isinstance(parts, (str, bytes)) or not isinstance(parts, Iterable):
        raise ArgumentTypeError('parts must be an iterable of parts, as ("content", "calls")')
    named = list(parts)
    if not named:
        raise ArgumentError(f"parts is empty: nothing would be learnt (name {', '.join(PARTS)})")
    for it in named:
        if it not in PARTS:
            raise ArgumentError(f"parts: {it!r:.40} is none of {', '.join(PARTS)}")
    return frozenset(named)


def part_of_field(field: str) -> str:
    """The part that a field of a message is, as `content` or `tool_calls[0].function.name`."""
    if field.startswith(("tool_calls", "function_call")):
        return "calls"
    return "reasoning" if field.startswith(REASONING) else "content"


def covered(kinds: Sequence[str], ends: Sequence[bool], parts: frozenset[str]) -> list[bool]:
    """Which tokens of an answer some of its parts cover.

    Args:
        kinds: The part that each token is of; empty for what the template writes.
        ends: Whether each is a token that ends a turn.
        parts: The parts that count.

    >>> kinds = ["", "reasoning", "", "content", ""]
    >>> covered(kinds, [False, False, False, False, True], frozenset(["reasoning"]))
    [True, True, False, False, True]
    """
    last = max((at for at, kind in enumerate(kinds) if kind), default=-1)
    behind = range(last + 1, len(kinds))
    end = max((at for at in behind if ends[at]), default=len(kinds))
    found = [True] * len(kinds)
    following = kinds[last] if last >= 0 else ""
    for at in reversed(range(end if last >= 0 else 0)):
        following = kinds[at] or following
        found[at] = following in parts
    return found
