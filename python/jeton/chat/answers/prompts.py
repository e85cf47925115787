"""Finds the beginning of an answer that is in its prompt, such as a `<think>` of the template.

An answer begins behind the anchor, what the template writes to ask for one. A text may spell the
anchor, as the result of a tool may: in ids, control tokens of the anchor count only as tokens.
"""

from __future__ import annotations

import bisect
import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from jeton.arguments import checked_id
from jeton.chat.answers.field_values import Unreadable
from jeton.chat.answers.response_templates import behind_anchor
from jeton.chat.answers.turns import Turn
from jeton.chat.chat import Chat
from jeton.chat.templates.origins import ANSWERING
from jeton.encoding.once import added_tokens_of
from jeton.errors import UnsupportedError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_WORDS: Final = re.compile(r"[\w\s]*")


@dataclass(frozen=True)
class BegunAnswer:
    """The beginning of an answer that is in its prompt.

    Attributes:
        text: Its text, in symbols.
        space: White space that the model may write before the answer.
        last_of_prompt: The last id of the prompt, if it has ids.
    """

    text: str = ""
    space: str = ""
    last_of_prompt: int | None = None


def begun_answer(
    tok: BaseTokenizer, turn: Turn, prompt: Chat | Iterable[int] | str | None
) -> BegunAnswer:
    """The beginning of the answer to a prompt."""
    ids = None if prompt is None or isinstance(prompt, str) else _ids(prompt)
    last = ids[-1] if ids else None
    if turn.compiled.description is not None:
        if prompt is None:
            return BegunAnswer()
        text = prompt if isinstance(prompt, str) else _in_symbols(tok, turn, ids or [], {})[0]
        try:
            begun = behind_anchor(turn.compiled, text, is_text=ids is None)
        except Unreadable as error:
            raise UnsupportedError(f"response_template: start_anchor_pattern: {error}") from None
        return BegunAnswer(begun, "", last)
    anchor = turn.compiled.with_symbols(turn.anchor)
    # Tokens of the anchor that the format does not have are spelled in its text.
    spelled = {
        it.id: it.content
        for it in added_tokens_of(tok)
        if it.id is not None and it.content in anchor and not _WORDS.fullmatch(it.content)
    }
    starts: set[int] | None = None
    if prompt is None or isinstance(prompt, str):
        text = turn.compiled.with_symbols(prompt or "")
    else:
        end = _end_of(prompt) if isinstance(prompt, Chat) else ids or []
        text, starts = _in_symbols(tok, turn, end, spelled)
    # The text of a chat is only its end; in it, a message that goes on may spell the anchor.
    places = _places(text, anchor, spelled, starts, from_end=not isinstance(prompt, Chat))
    at = next(places, -1) if anchor else -1
    begun = text[at + len(anchor) :] if at >= 0 else ""
    if not anchor:
        opened = (text.rpartition(it.core) for it in turn.compiled.states["start"].marks)
        begun = next(
            (it + head[2] for head in opened if (it := head[1]) and not head[2].strip()), ""
        )
    space = turn.lead
    if at < 0 and anchor:
        shared = next((it for it in range(len(anchor), 0, -1) if text.endswith(anchor[:it])), 0)
        space = f"{anchor[shared:]}{space}" if not anchor[shared:].strip() else space
    return BegunAnswer(begun.removeprefix(space) if begun.strip() else "", space, last)


def _ids(prompt: Chat | Iterable[Any]) -> list[int]:
    if isinstance(prompt, Chat):
        return prompt.ids
    return [checked_id("prompt", id) for id in prompt]


def _in_symbols(
    tok: BaseTokenizer, turn: Turn, ids: list[int], spelled: dict[int, str]
) -> tuple[str, set[int]]:
    """The text of ids, with symbols for control tokens, and where the spelled ones begin."""
    symbols = turn.compiled.symbols
    texts, starts = list[str](), set[int]()
    first = length = 0
    for at, id in enumerate(chain(ids, [-1])):
        if at == len(ids) or id in symbols or id in spelled:
            texts.append(tok.decode(ids[first:at], unknown_ids="show"))
            length += len(texts[-1])
            if id not in symbols:
                starts.add(length)
            texts.append("" if at == len(ids) else symbols.get(id) or spelled[id])
            length += len(texts[-1])
            first = at + 1
    return "".join(texts), starts


def _end_of(chat: Chat) -> list[int]:
    """The ids of a chat behind its last message that is not an answer."""
    last = len(chat.roles) - (chat.roles[-1] in ANSWERING)
    said = (
        end for _, end, it in chat.segments if it.kind == "message" and (it.message or 0) < last
    )
    first = bisect.bisect_left(chat.spans, max(said, default=0), key=operator.itemgetter(0))
    return chat.ids[first:]


def _places(
    text: str, anchor: str, spelled: dict[int, str], starts: set[int] | None, *, from_end: bool
) -> Iterator[int]:
    """Where an anchor is whose control tokens are tokens; `starts=None`: wherever it is spelled."""
    tokens = re.compile("|".join(map(re.escape, sorted(spelled.values(), key=len, reverse=True))))
    offsets = [it.start() for it in tokens.finditer(anchor)] if spelled and starts else []
    if starts is not None and spelled and not starts:
        return
    at = text.rfind(anchor) if from_end else text.find(anchor)
    while at >= 0:
        if starts is None or all(at + offset in starts for offset in offsets):
            yield at
        at = text.rfind(anchor, 0, at + len(anchor) - 1) if from_end else text.find(anchor, at + 1)
