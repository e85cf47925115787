"""The options of `prepare` as one value, checked, and the request that they give.

Look here for options that exclude each other. `jeton.data.prepare` documents them;
`jeton.ray.prepare` takes the same on a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Literal

from jeton.arguments import check_text, checked_errors, checked_flag, checked_int
from jeton.corpora.corpus import drops_bad, unit_of
from jeton.corpora.memory_size import memory_bytes
from jeton.corpora.token_blocks.blocks import DocumentEncoding
from jeton.data import layouts
from jeton.data.conversations import Conversations
from jeton.data.layouts.checks import no_masks
from jeton.data.layouts.finding import layout_of
from jeton.data.preparing.chats import ChatEncoder
from jeton.data.preparing.end_of_text import Choice, Frame, end_of_text_of, frame_of
from jeton.data.preparing.filters import filters_of
from jeton.data.preparing.inputs import default_split
from jeton.data.preparing.pipeline import SetPlan
from jeton.data.preparing.record_encoder import RecordEncoder
from jeton.data.preparing.text_records import TextRecordEncoder
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.tokenizer import Tokenizer

AUTO = Choice.AUTO
"""The tokenizer's end-of-text token."""

MEMORY = "1GB"
"""The default memory for shuffling."""


@dataclass(frozen=True)
class PrepareRequest:
    """The request that options give: the plan of the set, and what encodes documents or records."""

    plan: SetPlan
    encoding: DocumentEncoding
    records: RecordEncoder | None
    """The encoder of records, if they hold conversations or are filtered."""


@dataclass(frozen=True, kw_only=True)
class PrepareOptions:
    """The arguments of `prepare` by name, as the caller passed them."""

    layout: str = "jeton"
    shard_tokens: int | None = None
    field: str | None = None
    documents: str = "file"
    errors: str = "strict"
    bad_records: str = "error"
    end_of_text: str | int | Choice | None = AUTO
    end_of_text_place: str = "after"
    frame: bool = False
    validation: object = None
    split: str = "cut"
    shuffle: int | None = None
    part: object = None
    memory: int | str = MEMORY
    name: str = ""
    messages: str | Conversations | None = None
    filter: object = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> PrepareOptions:
        """The options among the arguments of a function, by their names."""
        options = {it.name: arguments[it.name] for it in fields(cls) if it.name in arguments}
        if options.get("split") is None:
            options["split"] = default_split(arguments["data"], options.get("validation"))
        return cls(**options)

    def request(self, tokenizer: Tokenizer) -> PrepareRequest:
        """The request that the options give with this tokenizer."""
        if not isinstance(tokenizer, Tokenizer):
            kind = type(tokenizer).__name__
            raise ArgumentTypeError(f"tokenizer must be a Tokenizer, not {kind}")
        checked_errors(self.errors)
        layout_of(layouts.LAYOUTS, self.layout)
        for what, value in (("field", self.field), ("name", self.name)):
            if value is not None and not isinstance(value, str):
                raise ArgumentTypeError(f"{what} must be a str, not {type(value).__name__}")
            try:
                (value or "").encode()
            except UnicodeEncodeError:
                raise ArgumentError(
                    f"{what} cannot be {value!r}: it has an unpaired surrogate"
                ) from None
        unit, drops = unit_of(self.documents), drops_bad(self.bad_records)
        shard_tokens = self.shard_tokens
        if shard_tokens is not None:
            shard_tokens = checked_int("shard_tokens", shard_tokens, 1)
        conversations, end = None, None
        around: Frame = ((), ())
        if checked_flag("frame", self.frame):
            if self.messages is not None or self.end_of_text is not AUTO:
                other = "end_of_text" if self.messages is None else "messages"
                raise ArgumentError(
                    f"frame and {other} both set the tokens around documents; pass one"
                )
            around, end = frame_of(tokenizer)
        elif self.messages is None:
            end = end_of_text_of(tokenizer, self.end_of_text, place=self.end_of_text_place)
            around = around if end is None else end.frame
        else:
            conversations = self._conversations(unit=unit, drops=drops)
        filters = filters_of(self.filter)
        if filters.keep and unit:
            raise ArgumentError("filter is for records, and documents for files of text; pass one")
        by, share = self._validation()
        seed = None if self.shuffle is None else checked_int("shuffle", self.shuffle, 0)
        plan = SetPlan(
            tokenizer=tokenizer,
            name=self.name,
            end_of_text=end,
            memory=memory_bytes(self.memory) or 0,
            part=self._part(),
            options={
                "layout": self.layout,
                "shard_tokens": shard_tokens,
                "field": self.field,
                "documents": self.documents,
                "errors": self.errors,
                "bad_records": self.bad_records,
                "frame": dict(zip(("begin", "end"), map(list, around), strict=True))
                if self.frame
                else None,
                "validation": None if by is None else {"by": by, "share": str(share)},
                "shuffle": seed,
                "filter": [*filters.names] or None,
                "messages": None if conversations is None else conversations.options(tokenizer),
            },
        )
        keys = by == "hash" or seed is not None or plan.part is not None
        encoding = DocumentEncoding(
            tokenizer,
            field=self.field,
            errors=self.errors,
            unit=unit,
            start=around[0],
            end=around[1],
            keys=keys,
            drops_bad=drops,
        )
        records: RecordEncoder | None = None
        if conversations is not None:
            records = ChatEncoder(tokenizer, conversations, filters, keys=keys)
        elif filters.keep:
            records = TextRecordEncoder(encoding, filters)
        return PrepareRequest(plan, encoding, records)

    def _conversations(self, *, unit: bool | str, drops: bool) -> Conversations:
        """The options for conversations; fails if there are options for other documents."""
        messages, layout = self.messages, layouts.LAYOUTS[self.layout]
        if not isinstance(messages, (str, Conversations)):
            raise ArgumentTypeError(
                "messages must be the name of a field or jeton.data.Conversations, not "
                f"{type(messages).__name__}"
            )
        if isinstance(messages, str):
            messages = Conversations(check_text("messages", messages))
        if self.end_of_text is not None and self.end_of_text is not AUTO:
            raise ArgumentError(
                "a chat template writes the tokens between conversations; leave end_of_text out"
            )
        if not layout.holds_masks:
            raise no_masks(layout)
        for option, is_set in (
            ("field", self.field is not None),
            ("documents", unit),
            ("bad_records", drops),
        ):
            if is_set:
                raise ArgumentError(
                    f"{option} is for documents that hold a text; leave it out"
                    + "; Conversations has its own" * (option == "bad_records")
                )
        return messages

    def _validation(self) -> tuple[Literal["cut", "hash", "data"] | None, Fraction]:
        """How validation documents are chosen, and their share."""
        validation, split = self.validation, self.split
        if not isinstance(split, str) or split not in ("cut", "hash"):
            raise ArgumentError(f'split must be "cut" or "hash", not {split!r}')
        if validation is None:
            return None, Fraction(0)
        if isinstance(validation, bool) or not isinstance(validation, Real):
            return "data", Fraction(0)
        # 0.1 means exactly one tenth.
        is_exact = isinstance(validation, Rational)
        try:
            share = Fraction(validation if is_exact else repr(float(validation)))  # type: ignore[arg-type]
        except ValueError:
            share = Fraction(-1)
        if not 0 < share < 1:
            raise ArgumentError(f"validation must be between 0 and 1, or data, not {validation}")
        return ("hash" if split == "hash" else "cut"), share

    def _part(self) -> tuple[int, int] | None:
        part = self.part
        if part is None:
            return None
        if not isinstance(part, tuple) or len(part) != 2:
            raise ArgumentTypeError("part must be a pair: which part, from 1, and of how many")
        parts = checked_int("the number of parts", part[1], 1)
        number = checked_int("the part", part[0], 1)
        if number > parts:
            raise ArgumentError(f"there is no part {number} of {parts}; parts are counted from 1")
        return number, parts
