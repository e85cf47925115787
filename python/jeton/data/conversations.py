"""`Conversations`: how `prepare` turns records of messages into tokens with a loss mask."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from jeton.arguments import check_kind, check_text, checked_int, checked_texts, one_of
from jeton.errors import ArgumentError

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer


@dataclass(frozen=True)
class Conversations:
    """Options of `prepare` for records that hold conversations.

    Attributes:
        field: The field of records, or the column, that holds the messages: a list of dicts with
            `role` and `content`, or such a list as JSON text.
        tools: The field that holds JSON schemas of tools, if there is one. A record may lack it.
        template: As for `Tokenizer.chat`: by default the tokenizer's own.
        roles: The roles whose messages the model learns.
        max_tokens: The maximum number of tokens of a conversation.
        too_long: What to do with a longer conversation. `"truncate"` removes its oldest turns, like
            `Chat.truncate`, and drops it if the last turn alone is too long; `"drop"` leaves it
            out; `"error"` raises.
        bad_records: What to do with a bad record: `"error"` raises and says where, `"drop"` leaves
            it out. A record is bad if it lacks the field, if the template refuses its messages or
            reads only the role of one (for example because its content has another name), or if
            there is nothing to learn.
        date: The date for templates that write one, such as `"2026-11-23"`.
        variables: Further variables of the template, such as `{"enable_thinking": False}`.

    Raises:
        ArgumentTypeError, ArgumentError: A value is not valid.

    Example:
        >>> import jeton, tempfile
        >>> from jeton.data import Conversations, TokenDataset, prepare
        >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
        ...     "<|user>\\nsystem im_end assistant hey"
        ... )
        >>> records = [{"chat": [
        ...     {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hey"}
        ... ]}]
        >>> folder = tempfile.mkdtemp()
        >>> conversations = Conversations("chat", template="chatml")
        >>> manifest = prepare(records, tok, folder, messages=conversations)
        >>> manifest.documents, manifest.chats["learnt_tokens"]
        (1, 4)
        >>> tokens = TokenDataset(folder)
        >>> tok.decode(tokens[:][tokens.mask[:]])
        'hey<|im_end|>'
    """

    field: str = "messages"
    tools: str | None = None
    template: str | None = None
    roles: Iterable[str] = ("assistant",)
    max_tokens: int | None = None
    too_long: Literal["truncate", "drop", "error"] = "truncate"
    bad_records: Literal["error", "drop"] = "error"
    date: str | None = None
    variables: Mapping[str, object] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("field", "tools", "template", "date"):
            value = getattr(self, name)
            if value is not None or name == "field":
                check_text(name, value)
        if not self.field:
            raise ArgumentError("field is empty: name the field that holds the messages")
        object.__setattr__(self, "roles", checked_texts("roles", self.roles))
        if not self.roles:
            raise ArgumentError('roles is empty: name the roles to learn, such as ("assistant",)')
        if self.max_tokens is not None:
            checked_int("max_tokens", self.max_tokens, 1)
        one_of("too_long", self.too_long, ("truncate", "drop", "error"))
        one_of("bad_records", self.bad_records, ("error", "drop"))
        self.day()
        self._check_variables()

    def day(self) -> datetime.date | None:
        """The date that templates see; `None` without one."""
        if self.date is None:
            return None
        try:
            return datetime.date.fromisoformat(self.date)
        except ValueError:
            raise ArgumentError(
                f"date must be a date such as '2026-11-23', not {self.date[:40]!r}"
            ) from None

    def _check_variables(self) -> None:
        from jeton.tokenizer import Tokenizer

        check_kind("variables", self.variables, Mapping, "a mapping of names to values")
        parameters = inspect.signature(Tokenizer.chat).parameters
        for name in self.variables:
            check_kind("each name of variables", name, str, "a str")
            if name in parameters:
                raise ArgumentError(f"variables: {name!r} is an argument of chat, not a variable")
        try:
            json.dumps(dict(self.variables), allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ArgumentError(f"variables must be values that JSON can hold: {error}") from None

    def options(self, tokenizer: Tokenizer) -> dict[str, object]:
        """The options in the manifest, which must be unchanged to resume.

        Raises:
            ArgumentError: There is no such template, or it writes the date and no date is set.
        """
        from jeton.chat.templates.finding import template_of

        try:
            texts = [template_of(tokenizer, self.template, with_tools=False)]
            if self.tools is not None:
                texts.append(template_of(tokenizer, self.template, with_tools=True))
        except ArgumentError as error:
            raise error.reworded(f"messages: {error.message}") from None
        if self.date is None and any("strftime_now" in text for text in texts):
            raise ArgumentError(
                "the template writes the current date; pass date, such as '2026-11-23', so that "
                "the same call writes the same files on another day"
            )
        return {
            "field": self.field,
            "tools": self.tools,
            "template": hashlib.sha256("\0".join(texts).encode()).hexdigest(),
            "roles": list(self.roles),
            "max_tokens": self.max_tokens,
            "too_long": self.too_long,
            "bad_records": self.bad_records,
            "date": self.date,
            "variables": json.loads(json.dumps(dict(self.variables))),
        }
