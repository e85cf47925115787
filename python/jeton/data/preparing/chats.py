"""Turns conversations into tokens with a loss mask: applies a chat template, truncates, counts.

Look here for what happens to a record that is not a conversation, or that is too long.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import pickle
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.arguments import suggestion
from jeton.corpora.dropped import DroppedRecord
from jeton.corpora.token_blocks.blocks import Block, Blocks, SourcePosition
from jeton.corpora.token_blocks.rows import added
from jeton.data.conversations import Conversations
from jeton.data.preparing.filters import Filters
from jeton.data.preparing.loss_mask_bits import DTYPE, marked
from jeton.data.preparing.record_encoder import RecordEncoder, SourceRecord
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    ChatWarning,
    EncodeError,
    FormatError,
    JetonError,
    warn_caller,
)

if TYPE_CHECKING:
    from jeton.chat import Chat
    from jeton.chat.chat import Notes
    from jeton.chat.outlines import Outlines
    from jeton.data.preparing.chat_processes import ChatProcesses
    from jeton.tokenizer import Tokenizer

_TOKENS = 1 << 16
"""Approximate number of tokens of a block."""

_RECORDS = 10_000
"""Maximum number of records of a block: filters may leave out almost all."""

_SECONDS = 1.0
"""How long this process encodes before it starts others, which takes about as long."""

_COUNTS = ("learnt_tokens", "truncated", "messages_left_out", "too_long", "bad")
"""The names of `SourcePosition.chats`; `Manifest.chats` says what they are."""


@dataclass(frozen=True)
class _Document:
    tokens: npt.NDArray[np.uint32]
    size: int
    key: int
    learnt_tokens: int
    left_out: int
    """The number of messages that were left out."""


@dataclass(frozen=True)
class _Outcome:
    """What a record became."""

    document: _Document | None
    error: JetonError | None
    """Why there is no document; `None` if it is too long."""
    losses: list[str]
    """What the template left out."""


def _kept(row: SourceRecord) -> Any:
    """The record, unless a filter leaves it out: then nobody reads what it becomes."""
    return row.record if row.filtered is None else None


class _TooLong(Exception):
    """A conversation is dropped because of its length."""


class _Bad(Exception):
    """A record is not a conversation, or has nothing to learn."""

    def __init__(self, error: JetonError) -> None:
        self.error = error


class ChatEncoder(RecordEncoder):
    """Encodes conversations: many on all cores, in processes."""

    dtype = DTYPE

    def __init__(
        self, tokenizer: Tokenizer, options: Conversations, filters: Filters, *, keys: bool
    ) -> None:
        super().__init__(filters, [options.field, *filter(None, [options.tools])])
        self._options, self._keys = options, keys
        self._conversation_encoder = ConversationEncoder(tokenizer, options)
        self._warnings = LossWarnings()
        #: How long this process encoded.
        self._seconds = 0.0
        self._processes: ChatProcesses | None = None

    def close(self) -> None:
        """Ends the processes."""
        if self._processes is not None:
            self._processes.close()
            self._processes = None

    def counted(self, position: SourcePosition) -> SourcePosition:
        position = super().counted(position)
        if position.chats is not None:
            return position
        return replace(position, chats=dict.fromkeys(_COUNTS, 0))

    def _blocks(self, rows: Iterator[SourceRecord], progress: SourcePosition) -> Blocks:
        before, documents, waiting = progress, list[_Document](), 0
        dropped, read, records = list[DroppedRecord](), 0, 0
        for row, outcome in self._outcomes(rows):
            document, progress = self._document(row, outcome, progress, dropped)
            read = row.read
            if document is not None:
                documents.append(document)
                waiting += len(document.tokens)
            records += 1
            if waiting >= _TOKENS or records >= _RECORDS:
                yield self._block(documents, before, progress, read, dropped)
                before, documents, waiting, dropped = progress, [], 0, []
                records = 0
        if progress != before:
            yield self._block(documents, before, progress, read, dropped)

    def _block(
        self,
        documents: list[_Document],
        before: SourcePosition,
        after: SourcePosition,
        read: int,
        dropped: list[DroppedRecord],
    ) -> Block:
        tokens = [np.empty(0, DTYPE), *(document.tokens for document in documents)]
        keys = [document.key for document in documents] if self._keys else []
        return Block(
            np.concatenate(tokens),
            np.array([len(document.tokens) for document in documents], np.int64),
            np.array(keys, np.uint64),
            before,
            after,
            read,
            dropped=tuple(dropped),
        )

    def _outcomes(self, rows: Iterator[SourceRecord]) -> Iterator[tuple[SourceRecord, _Outcome]]:
        """Each record with what it becomes."""
        for row in rows if self._processes is None else ():
            start = time.monotonic()
            outcome = self._conversation_encoder(_kept(row))
            self._seconds += time.monotonic() - start
            yield row, outcome
            if self._seconds >= _SECONDS:
                break
        from jeton.data.preparing.chat_processes import ChatProcesses, process_count

        enough = self._processes is None and self._seconds >= _SECONDS
        if enough and (count := process_count()):
            with contextlib.suppress(OSError, pickle.PicklingError, TypeError, AttributeError):
                self._processes = ChatProcesses(count, self._conversation_encoder)
        if self._processes is None:
            yield from ((row, self._conversation_encoder(_kept(row))) for row in rows)
        else:
            yield from self._processes.results(rows, _kept)

    def _document(
        self,
        row: SourceRecord,
        outcome: _Outcome,
        progress: SourcePosition,
        dropped: list[DroppedRecord],
    ) -> tuple[_Document | None, SourcePosition]:
        """The tokens of a record, unless it joins those `dropped`, and the position after it."""
        if row.filtered is not None:
            filtered = added(progress.filtered, [row.filtered])
            return None, replace(progress, place=row.place, filtered=filtered)
        counts = dict(progress.chats or {})
        document, error = outcome.document, outcome.error
        self._warnings.say(outcome.losses)
        if document is not None:
            counts["learnt_tokens"] += document.learnt_tokens
            counts["truncated"] += document.left_out > 0
            counts["messages_left_out"] += document.left_out
        elif error is None:
            counts["too_long"] += 1
            dropped.append(DroppedRecord(row.name, "it has more than max_tokens"))
        else:
            if self._options.bad_records == "error":
                raise type(error)(f"{row.name}: {error}")
            counts["bad"] += 1
            dropped.append(DroppedRecord(row.name, str(error)))
        after = replace(
            progress,
            place=row.place,
            documents=progress.documents + (document is not None),
            bytes=progress.bytes + (0 if document is None else document.size),
            bad=progress.bad + (error is not None),
            chats=counts,
        )
        return document, after


class LossWarnings:
    """Warnings of content that templates leave out, once per kind."""

    _ONCE = " (this warning comes once per kind)"

    def __init__(self) -> None:
        self._known = set[frozenset[str]]()
        """By what losses have in common that differ only in numbers and order."""

    def say(self, losses: Iterable[str]) -> None:
        """Warns about losses, or about warnings of them from other machines."""
        for loss in losses:
            loss = loss.removesuffix(self._ONCE)
            kind = frozenset(re.sub(r"\d+", "…", loss).split(", "))
            if kind not in self._known:
                self._known.add(kind)
                warn_caller(loss + self._ONCE, ChatWarning)


class ConversationEncoder:
    """Turns a record into tokens; this is the part that processes do."""

    def __init__(self, tokenizer: Tokenizer, options: Conversations) -> None:
        self._tokenizer, self._options = tokenizer, options
        self._outlines: Outlines | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return ConversationEncoder, (self._tokenizer, self._options)

    def __call__(self, record: Any) -> _Outcome:
        """What a record becomes."""
        losses = list[str]()
        try:
            messages, tools = self._read(record)
            document = None if tools else self._known(messages)
            document = document or self._document_of(
                messages, tools, lambda notes: losses.append(str(notes))
            )
        except _TooLong:
            return _Outcome(None, None, losses)
        except _Bad as bad:
            return _Outcome(None, bad.error, losses)
        return _Outcome(document, None, losses)

    def _read(self, record: Any) -> tuple[Any, Any]:
        """The messages of a record, and its tools."""
        options = self._options
        if isinstance(record, JetonError):
            raise _Bad(record)
        try:
            messages = _messages(_field(record, options.field))
            if options.tools is None or record.get(options.tools) is None:
                return messages, None
            return messages, _field(record, options.tools) or None
        except FormatError as error:
            raise _Bad(error) from None

    def _known(self, messages: Any) -> _Document | None:
        """A conversation that differs from an earlier one in its words alone."""
        if self._outlines is None or (chat := self._outlines.encoded(messages)) is None:
            return None
        most = self._options.max_tokens
        if most is not None and len(chat.ids) > most:
            return None
        try:
            text = chat.text.encode()
        except UnicodeEncodeError:
            return None  # rendering says what is wrong
        return _document(text, len(text), chat.ids, chat.mask, 0)

    def _document_of(
        self, messages: object, tools: object, says: Callable[[Notes], None]
    ) -> _Document:
        from jeton.chat import Request
        from jeton.chat.templates.limits import stopped
        from jeton.chat.unprinted import UnprintedError

        try:
            with stopped(self._options.day()):
                chat = Request(
                    self._tokenizer,
                    messages,
                    template=self._options.template,
                    tools=tools,
                    variables=tuple(self._options.variables.items()),
                    says=says,
                    with_spans=True,
                ).build()
                _check_read(messages, chat)
                mask, text = chat.loss_mask(self._options.roles), _utf8(chat.text)
                if not tools:
                    self._learn(messages, chat, mask)
                if self._options.max_tokens is not None and len(chat) > self._options.max_tokens:
                    chat, mask = self._shortened(chat, self._options.max_tokens)
        except (ArgumentError, ArgumentTypeError, EncodeError, UnprintedError) as error:
            raise _Bad(error) from None
        return _document(text, len(_utf8(chat.text)), chat.ids, mask, len(chat.dropped))

    def _learn(self, messages: Any, chat: Chat, mask: list[int]) -> None:
        from jeton.chat.outlines import EncodedChat, Outlines

        if self._outlines is None:
            self._outlines = Outlines()
        encoded = EncodedChat(chat.text, chat.ids, [*map(bool, mask)])
        self._outlines.learn(messages, encoded, lambda: chat.outline(self._options.roles))

    def _shortened(self, chat: Chat, most: int) -> tuple[Chat, list[int]]:
        """A conversation without its oldest turns, and its mask."""
        if self._options.too_long == "error":
            raise ArgumentError(
                f"the conversation has {len(chat):,} tokens, more than max_tokens={most:,} "
                '(too_long may be "truncate" or "drop")'
            )
        if self._options.too_long == "drop":
            raise _TooLong
        try:
            chat = chat.truncate(most)
            return chat, chat.loss_mask(self._options.roles)
        except ArgumentError:
            raise _TooLong from None


def _document(
    whole: bytes, size: int, ids: list[int], mask: Sequence[int], left_out: int
) -> _Document:
    """The tokens of a conversation.

    Args:
        whole: Its text before any truncation, so that its key does not depend on that.
        size: The bytes of its text.
        ids: Its tokens.
        mask: Which of them a model learns.
        left_out: How many messages were left out.
    """
    key = int.from_bytes(hashlib.sha256(whole).digest()[:8], "big")
    return _Document(marked(np.array(ids, np.uint32), mask), size, key, sum(mask), left_out)


def _check_read(messages: Any, chat: Chat) -> None:
    """Fails if a message has no content and only its role reached the text.

    Jinja prints a missing field as nothing, so a misspelled field would give an empty turn.
    """
    silent = {at: it for at, it in enumerate(messages) if it.get("content") is None}
    if not silent:
        return
    read = {it.message for _, _, it in chat.segments if it.field not in ("", "role")}
    for number, message in silent.items():
        fields = [
            str(name)
            for name, value in message.items()
            if name != "role" and isinstance(value, (str, list, tuple, Mapping)) and value
        ]
        if fields and number not in read:
            close = _core.did_you_mean("content", fields)
            hint = f"; is {close!r} its content?" if close else ""
            raise ArgumentError(
                f"messages[{number}] has no content, and the template reads only its role "
                f"(it has {', '.join(map(repr, fields[:8]))}{hint})"
            )


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ArgumentError("the text has an escaped surrogate without its other half") from None


def _field(record: object, name: str) -> Any:
    """The value of a field of a record, which may be JSON as text."""
    if not isinstance(record, Mapping):
        raise FormatError(
            f"expected a record with a field {name!r}, not a value of type {type(record).__name__}"
        )
    if name not in record:
        hint = suggestion(name, [str(key) for key in record]) or None
        raise FormatError(f"there is no field {name!r}", hint=hint)
    value = record[name]
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"field {name!r} is a text, not JSON: {error}") from None


def _messages(messages: object) -> Any:
    """Messages that each have a role."""
    if not isinstance(messages, (list, tuple)):
        raise FormatError(
            f"the messages must be a list, not a value of type {type(messages).__name__}"
        )
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise FormatError(f"messages[{number}] is not an object with a role and a content")
        role = message.get("role")
        if role is not None and not isinstance(role, str):
            raise FormatError(
                f"messages[{number}].role must be text, not a value of type {type(role).__name__}"
            )
        if role is None:
            hint = ""
            if "from" in message and "value" in message:
                hint = ": it has 'from' and 'value'; rename these to 'role' and 'content'"
            raise FormatError(f"messages[{number}] has no role{hint}")
    return messages
