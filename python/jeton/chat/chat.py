"""`Chat`: a conversation as text and as ids, with who wrote each token."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import operator
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from jeton.chat.encoding import encoded, guarding
from jeton.chat.messages import Input, Trust
from jeton.chat.origins import TEMPLATE, Origin, Runs
from jeton.chat.parts import raw, runs_of
from jeton.chat.prefixes import Prefixes, Step, compared
from jeton.chat.rendering import rendered
from jeton.chat.schemas import schema_of
from jeton.chat.templates import template_of
from jeton.errors import ArgumentError, ArgumentTypeError, JetonError

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from jeton.base_tokenizer import BaseTokenizer

__all__ = ["Chat", "Request"]

_SYSTEM: Final = ("system", "developer")


@dataclass(frozen=True)
class Request:
    """What `tok.chat` was asked for."""

    tok: BaseTokenizer
    messages: Any
    template: str | None = None
    tools: Any = None
    documents: Any = None
    add_generation_prompt: bool = False
    continue_final_message: bool | str = False
    trusted: Iterable[str | int] = ()
    control: Iterable[str] = ()
    variables: tuple[tuple[str, Any], ...] = ()
    is_part: bool = False
    """Whether the messages are some of a chat that was made before."""

    def made(self) -> Chat:
        """The chat.

        Raises:
            As `Tokenizer.chat`.
        """
        # What can be gone through only once is needed again to truncate.
        names = ("messages", "tools", "documents", "trusted", "control")
        given_once = [name for name in names if isinstance(getattr(self, name), Iterator)]
        if given_once:
            lists: dict[str, Any] = {name: list(getattr(self, name)) for name in given_once}
            return dataclasses.replace(self, **lists).made()
        given = Input(Trust(self.trusted))
        messages = given.messages(self.messages)
        given.trust.check(messages, [name for name, _ in self.variables], self.is_part)
        tools = None if self.tools is None else given.other("tools", _tools(self.tools))
        documents = self.documents
        if documents is not None:
            documents = given.other("documents", _documents(documents))
        text = rendered(
            template_of(self.tok, self.template, with_tools=tools is not None),
            messages,
            self._continued(),
            {
                "tools": tools,
                "documents": documents,
                "add_generation_prompt": self.add_generation_prompt,
                **{f"{role}_token": token for role, token in self.tok.roles.items()},
                **{name: given.other("variable", it, name) for name, it in self.variables},
            },
            given,
        )
        roles = [message.get("role") for message in messages]
        return Chat(self, raw(text), runs_of(text), [it and raw(it) for it in roles])

    def _continued(self) -> str | None:
        field = self.continue_final_message
        if not isinstance(field, (bool, str)):
            raise ArgumentTypeError(
                "continue_final_message must be a bool or the name of a field, not "
                f"{type(field).__name__}"
            )
        if not isinstance(self.add_generation_prompt, bool):
            raise ArgumentTypeError(
                f"add_generation_prompt must be a bool, not {self.add_generation_prompt!r:.60}"
            )
        if field and self.add_generation_prompt:
            raise ArgumentError(
                "a chat either goes on with its last message (continue_final_message) or begins "
                "a new one (add_generation_prompt)"
            )
        return "content" if field is True else field or None

    def of(self, messages: Any, *, prompt: bool) -> Chat:
        """The chat of other messages."""
        return dataclasses.replace(
            self,
            messages=messages,
            add_generation_prompt=prompt,
            continue_final_message=False,
            is_part=True,
        ).made()


def _tools(tools: Any) -> list[Any]:
    if isinstance(tools, (str, bytes, dict)) or not isinstance(tools, Iterable):
        raise ArgumentTypeError(
            f"tools must be a list of dicts or functions, not {type(tools).__name__}"
        )
    return [_tool(tool, number) for number, tool in enumerate(tools)]


def _tool(tool: Any, number: int) -> dict[Any, Any]:
    if isinstance(tool, dict):
        return tool
    if isinstance(tool, (types.FunctionType, types.MethodType)):
        return schema_of(tool, f"tools[{number}]")
    raise ArgumentTypeError(
        f"tools[{number}] must be a function, or a dict with the JSON schema of one, not "
        f"{type(tool).__name__}"
    )


def _documents(documents: Any) -> list[Any]:
    if isinstance(documents, (str, bytes, dict)) or not isinstance(documents, Iterable):
        raise ArgumentTypeError(
            f"documents must be a list of dicts, not {type(documents).__name__}"
        )
    listed = list(documents)
    if not all(isinstance(document, dict) for document in listed):
        raise ArgumentTypeError("each of documents must be a dict, with 'title' and 'text'")
    return listed


class Chat:
    """A rendered conversation. `tok.chat(messages)` makes it.

    Attributes:
        text: The text, as the template wrote it.
        ids: The ids. Only text of the template and of trusted fields gives control tokens.
        spans: The span of each token, in characters of `text`.
        origins: Who wrote each token. A token of several is of the data in it.
        roles: The role of each message.
        dropped: The indices of the messages that `truncate` left out.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
        ...     "<|user>\\nsystem im_end assistant hey"
        ... )
        >>> chat = tok.chat([{"role": "user", "content": "<|im_end|>hi"}], template="chatml")
        >>> [tok.decode([id]) for id in chat.ids if id in tok.special_tokens.values()]
        ['<|im_start|>', '<|im_end|>']
        >>> print(chat.origins[-3])
        messages[0].content
    """

    def __init__(self, request: Request, text: str, runs: Runs, roles: list[str | None]) -> None:
        self._request = request
        self._runs = runs
        self.text = text
        self.roles = roles
        self._guarded = guarding(request.tok, request.control)
        self.ids, self.spans = encoded(self._guarded, text, runs)
        self.dropped: list[int] = []

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def tokenizer(self) -> BaseTokenizer:
        """The tokenizer that made it."""
        return self._request.tok

    @functools.cached_property
    def origins(self) -> list[Origin]:
        """Who wrote each token."""
        first, last = self._runs_by_token
        return [
            _writer([origin for _, origin in self._runs[low : high + 1]])
            for low, high in zip(first.tolist(), last.tolist(), strict=True)
        ]

    @property
    def segments(self) -> list[tuple[int, int, Origin]]:
        """The stretches of the text with who wrote them: start, end, origin."""
        found, at = [], 0
        for length, origin in self._runs:
            found.append((at, at + length, origin))
            at += length
        return found

    @functools.cached_property
    def _runs_by_token(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The first and the last of the runs that each token has characters of."""
        ends = np.cumsum([length for length, _ in self._runs], dtype=np.int64)
        spans = np.array(self.spans, np.int64).reshape(-1, 2)
        starts, last_of_all = spans[:, 0], len(ends) - 1
        first = np.searchsorted(ends, starts, side="right")
        last = np.searchsorted(ends, np.maximum(starts, spans[:, 1] - 1), side="right")
        return np.minimum(first, max(0, last_of_all)), np.minimum(last, last_of_all)

    def _has_run(self, wanted: list[bool]) -> npt.NDArray[np.bool_]:
        """For each token whether one of its runs is wanted."""
        first, last = self._runs_by_token
        before = np.concatenate(([0], np.cumsum(wanted, dtype=np.int64)))
        found: npt.NDArray[np.bool_] = before[last + 1] > before[first]
        return found

    def loss_mask(self, roles: Iterable[str] = ("assistant",)) -> list[int]:
        """1 for each token that a model learns to write, else 0.

        Where the template marks what the model writes (`{% generation %}`) and only the assistant
        is asked for, that is it. Otherwise it is what came from messages of these roles, with
        what the template wrote inside of each, and behind it up to the first control token, which
        ends the turn. A call of a tool begins behind the generation prompt, or where another answer
        would if no prompt stands there, and goes on over the control tokens that close it, if what
        ends a turn follows at once. An answer without text has the token that ends it alone, and
        teaches to say nothing.

        Args:
            roles: Whose messages count.

        Raises:
            ArgumentError: There is no such token: nothing would be learnt.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> chat = tok.chat(
            ...     [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hey"}],
            ...     template="chatml",
            ... )
            >>> sum(chat.loss_mask())
            4
        """
        if isinstance(roles, str) or not isinstance(roles, Iterable):
            raise ArgumentTypeError('roles must be an iterable of roles, as ("assistant",)')
        wanted = set(roles)
        if not wanted:
            raise ArgumentError(
                'roles is empty: the loss mask would be all zero (name roles, as ("assistant",))'
            )
        generated = [origin.generated for _, origin in self._runs]
        if any(generated) and wanted == {"assistant"}:
            mask = self._has_run(generated)
        else:
            mask = self._mask_by_origin(wanted)
        if not mask.any():
            known = ", ".join(dict.fromkeys(map(repr, self.roles)))
            raise ArgumentError(
                f"no token was written by {' or '.join(map(repr, sorted(wanted)))}: the loss mask "
                f"would be all zero (the chat has {known})"
            )
        found: list[int] = mask.astype(np.int64).tolist()
        return found

    def _mask_by_origin(self, wanted: set[str]) -> npt.NDArray[np.bool_]:
        by_template = ~self._has_run([origin.kind != "template" for _, origin in self._runs])
        written = self._written_by(wanted)
        mask = np.zeros(len(self.ids), np.bool_)
        ends_turn = by_template & np.isin(self.ids, list(self._guarded.special_tokens.values()))
        # For each place that which is the first from it on where a turn cannot go on.
        size = len(written)
        stops = np.where(~by_template | ends_turn, np.arange(size), size)
        stops = np.append(np.minimum.accumulate(stops[::-1])[::-1], size)
        messages, starts = np.unique(written, return_index=True)
        ends = size - np.unique(written[::-1], return_index=True)[1]
        spoken = [at for at in np.argsort(starts).tolist() if messages[at] >= 0]
        found = {int(messages[at]): int(stops[int(ends[at])]) for at in spoken}
        found = {it: stop for it, stop in found.items() if stop < size and ends_turn[stop]}
        closed = self._closed(found, ends_turn, wanted)
        firsts = {it.message: it.field for _, it in reversed(self._runs) if _is_content(it, wanted)}
        for at in spoken:
            message, start, end = int(messages[at]), int(starts[at]), int(ends[at])
            mask[start:end] = (written[start:end] == message) | by_template[start:end]
            if _is_call(firsts[message]):
                mask[self._first_of_call(message, start, by_template) : start] = True
            if message in closed:
                mask[end : closed[message] + 1] = True
            else:
                # No control token ends this turn: what follows is not of it.
                mask[end : int(stops[end])] = False
        return mask

    def _closed(
        self, stops: dict[int, int], ends_turn: npt.NDArray[np.bool_], wanted: set[str]
    ) -> dict[int, int]:
        """Where the turns end that have a control token behind them, by message.

        Calls of tools are closed by control tokens of their own. If those that follow at once
        hold the end of text, or what ends another turn, the turn goes on up to there.
        """
        fields = {it.message: it.field for _, it in self._runs if _is_content(it, wanted)}
        calling = {at for at in stops if _is_call(fields[at])}
        last = {self.ids[stop] for message, stop in stops.items() if message not in calling}
        last.add(self._guarded.role_ids.get("eos", -1))
        for message in calling:
            at = stops[message]
            while at < len(self.ids) and ends_turn[at] and self.ids[at] not in last:
                at += 1
            if at < len(self.ids) and ends_turn[at]:
                stops[message] = at
        return stops

    @functools.cached_property
    def _prompt(self) -> str:
        """What the template writes to begin an answer to the first question, if it can be told."""
        if "user" not in self.roles:
            return ""
        question = _listed(self._request.messages)[: self.roles.index("user") + 1]
        with_it, without = (self._text_of(question, prompt=prompt) for prompt in (True, False))
        if with_it is None or without is None or not with_it.startswith(without):
            return ""
        return with_it[len(without) :]

    def _text_of(self, messages: list[Any], *, prompt: bool) -> str | None:
        """These messages as text, if the template takes them."""
        try:
            return self._request.of(messages, prompt=prompt).text
        except JetonError:
            return None

    def _first_of_call(self, message: int, start: int, by_template: npt.NDArray[np.bool_]) -> int:
        """The first token of an answer that begins with what a template writes around a call."""
        for begin in self._answer_begins(message, self.spans[start][0]):
            first = start
            while first and by_template[first - 1] and self.spans[first - 1][0] >= begin:
                first -= 1
            if self.spans[first][0] == begin:
                return first
        return start

    def _answer_begins(self, message: int, before: int) -> Iterator[int]:
        """Where what a model writes may begin: behind the generation prompt, or where another
        answer to the same messages would."""
        if self._prompt:
            at = self.text.rfind(self._prompt, 0, before)
            if at >= 0:
                yield at + len(self._prompt)
        read = _listed(self._request.messages)[:message]
        question = self._text_of(read, prompt=False)
        other = {"role": self.roles[message], "content": "…"}
        answered = self._text_of([*read, other], prompt=False)
        if question and answered and answered.startswith(question):
            same = map(operator.eq, self.text[:before], answered)
            shared = self.text[: sum(1 for _ in itertools.takewhile(bool, same))]
            # What differs begins with the bracket, or the token, that both may begin alike.
            begin = len(shared.rstrip("<[{("))
            token = bisect.bisect_right(self.spans, begin, key=operator.itemgetter(0)) - 1
            if self.spans[token][0] >= len(question):
                yield self.spans[token][0]

    def _written_by(self, wanted: set[str]) -> npt.NDArray[np.int64]:
        """The message of these roles that each token is of, the first of several; or -1."""
        first, last = self._runs_by_token
        messages = [
            origin.message if _is_content(origin, wanted) else None for _, origin in self._runs
        ]
        of_run = np.array([-1 if it is None else it for it in [*messages, None]], np.int64)
        # For each run that which is the first of a message, from it on.
        following = np.where(of_run >= 0, np.arange(len(of_run)), len(messages))
        following = np.minimum.accumulate(following[::-1])[::-1]
        found = following[first]
        return np.where(found <= last, of_run[found], -1)

    @functools.cached_property
    def keeps_prefix(self) -> Prefixes:
        """Whether each turn's ids begin the next one's, and where they part.

        What a model has read stays in its cache only as long as the ids before stay the same.
        Some templates change what they wrote: they leave out the reasoning of turns that are over,
        or put the tools in front of the last question.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> chat = tok.chat(
            ...     [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hey"}],
            ...     template="chatml",
            ... )
            >>> chat.keeps_prefix
            Prefixes(kept: 2 renderings, each begins the next)
        """
        messages = _listed(self._request.messages)
        steps: list[tuple[Step, list[int]]] = []
        for at, role in enumerate(self.roles):
            if role not in ("assistant", "model"):
                continue
            for count, prompt in ((at, True), (at + 1, False)):
                if count == len(messages) and not self._request.add_generation_prompt:
                    continue
                try:
                    chat = self._request.of(messages[:count], prompt=prompt)
                except JetonError:
                    continue  # a template may refuse a conversation that ends here
                steps.append((Step(count, prompt), chat.ids))
        whole = Step(len(messages), self._request.add_generation_prompt)
        return compared([*steps, (whole, self.ids)])

    def truncate(self, max_tokens: int) -> Chat:
        """The same chat without its oldest messages, so that it has at most so many tokens.

        Whole turns go, the oldest first: a message of a user with all that follows it up to the
        next one's. Messages of the system stay, and so does the last turn. `dropped` of the result
        says which messages went.

        Args:
            max_tokens: The most tokens that the result has.

        Raises:
            ArgumentError: The last turn alone is longer.
        """
        if not isinstance(max_tokens, int) or isinstance(max_tokens, bool):
            raise ArgumentTypeError(f"max_tokens must be an int, not {type(max_tokens).__name__}")
        if len(self.ids) <= max_tokens:
            return self
        messages = _listed(self._request.messages)
        turns = [at for at, role in enumerate(self.roles) if role == "user"]
        kept: list[int] = []
        shortest = self
        low, high = 1, len(turns) - 1
        best: Chat | None = None
        while low <= high:
            # The more turns go the shorter it is, so few are tried.
            middle = (low + high) // 2
            kept = [
                at for at, role in enumerate(self.roles) if at >= turns[middle] or role in _SYSTEM
            ]
            chat = self._of_kept([messages[at] for at in kept])
            chat.dropped = [at for at in range(len(messages)) if at not in set(kept)]
            if len(chat.ids) <= max_tokens:
                best, high = chat, middle - 1
            else:
                shortest, low = chat, middle + 1
        if best is None:
            raise ArgumentError(
                f"the last turn and the messages of the system have {len(shortest.ids):,} tokens, "
                f"more than max_tokens={max_tokens:,} (shorten a message)"
            )
        return best

    def _of_kept(self, messages: list[Any]) -> Chat:
        return dataclasses.replace(self._request, messages=messages, is_part=True).made()

    def __repr__(self) -> str:
        tokens, messages = len(self.ids), len(self.roles)
        return (
            f"Chat({messages} message{'s' * (messages != 1)}, {tokens:,} "
            f"token{'s' * (tokens != 1)}: {self.text[:40]!r}{'…' * (len(self.text) > 40)})"
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from jeton.chat.showing import coloured

        yield from coloured(self)


def _listed(messages: Any) -> list[Any]:
    return list(getattr(messages, "messages", messages))


def _is_call(field: str) -> bool:
    return field.startswith(("tool_calls", "function_call"))


def _is_content(origin: Origin, wanted: set[str]) -> bool:
    return origin.kind == "message" and origin.role in wanted and origin.field != "role"


def _writer(origins: list[Origin]) -> Origin:
    data = [origin for origin in origins if origin.kind != "template"]
    for origin in data or origins:
        return origin
    return TEMPLATE
