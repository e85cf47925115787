"""Padding and truncation of one call, from its arguments, the folder and the file.

Look here for which of these takes precedence, and for the meaning of the names in transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from jeton.encoding.base_tokenizer.encode import sources_of
from jeton.encoding.calls.call_arguments import SIDES, CallArguments, Side
from jeton.errors import ArgumentError, FormatError
from jeton.loading.folder import tells_texts_apart
from jeton.loading.transformers_classes import bare_name, input_names, padding_side
from jeton.results.pad_batch import BatchSource

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_STRATEGIES: Final = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}
"""The names of the ways to truncate in a `tokenizer.json`, and in a call."""

_NO_PAD: Final = (
    'tok.replace(roles={"pad": TOKEN}) makes one of its tokens that; '
    'tok.with_added_tokens([AddedToken("<pad>", special=True)]) adds one'
)


@dataclass(frozen=True)
class _Section:
    """A section of a `tokenizer.json`, whose fields are checked as they are read."""

    name: str
    fields: Mapping[str, object]

    @classmethod
    def of(cls, name: str, fields: Mapping[str, object] | None) -> _Section | None:
        """The section, if there is one."""
        return None if fields is None else cls(name, fields)

    def number(self, field: str) -> int:
        """A field that holds a number."""
        value = self.fields.get(field)
        if type(value) is not int or not 0 <= value < 2**63:
            raise self.error(field, "a whole number of 0 or more")
        return value

    def error(self, field: str, rule: str) -> FormatError:
        """The error for a field that breaks its rule, or that is missing."""
        return FormatError(
            f"{self.name}.{field}: expected {rule}, found {self.fields.get(field)!r:.60} "
            f"(tok.replace({self.name}=None) removes the section)"
        )


@dataclass(frozen=True)
class Padding:
    """How rows are padded to the same length."""

    length: int | None
    """The length of a row in tokens; `None` for that of the longest row."""
    multiple_of: int
    side: Side
    id: int
    type_id: int

    @classmethod
    def of_section(cls, section: _Section, side: Side) -> Padding:
        """The padding of a `tokenizer.json`, on another side."""
        length: int | None = None
        match section.fields.get("strategy"):
            case "BatchLongest":
                pass
            case {"Fixed": int(fixed)} if 0 <= fixed < 2**63:
                length = fixed
            case _:
                raise section.error("strategy", '"BatchLongest" or {"Fixed": LENGTH}')
        is_rounded = section.fields.get("pad_to_multiple_of") is not None
        multiple_of = section.number("pad_to_multiple_of") if is_rounded else 0
        return cls(
            length=length,
            multiple_of=multiple_of or 1,
            side=side,
            id=section.number("pad_id"),
            type_id=section.number("pad_type_id"),
        )


@dataclass(frozen=True)
class Truncation:
    """How texts are truncated."""

    strategy: str
    max_length: int
    """The maximum number of tokens per row, including special tokens."""
    stride: int
    """How many tokens a window shares with the one before."""
    side: Side
    """The side that loses tokens."""

    @classmethod
    def of_section(cls, section: _Section, side: Side) -> Truncation:
        """The truncation of a `tokenizer.json`, on another side."""
        strategy = section.fields.get("strategy")
        if not isinstance(strategy, str) or strategy not in _STRATEGIES:
            raise section.error("strategy", " or ".join(f'"{name}"' for name in _STRATEGIES))
        return cls(
            strategy=_STRATEGIES[strategy],
            max_length=section.number("max_length"),
            stride=section.number("stride"),
            side=side,
        )


@dataclass(frozen=True)
class Defaults:
    """The padding and truncation of a tokenizer, for what a call does not say."""

    type_ids: bool
    """Whether the model takes `token_type_ids`."""
    mask: bool
    """Whether it takes an `attention_mask`."""
    padding_side: Side
    truncation_side: Side
    padding: Padding | None
    """Those of its `tokenizer.json`."""
    truncation: Truncation | None
    padded_length: int | None
    """The length of rows with `padding="max_length"`, in tokens."""
    truncated_length: int | None
    """The length of truncated rows, in tokens."""
    longest: int | None
    """How many tokens the model takes."""
    origin: BatchSource
    """Where the id of padding comes from."""

    @classmethod
    def of(cls, tokenizer: BaseTokenizer) -> Defaults:
        """The defaults of a tokenizer."""
        config, longest = tokenizer.settings.config, tokenizer.settings.model_max_length
        name = bare_name(config)
        as_bert = not config and tells_texts_apart(tokenizer._core, tokenizer.roles)
        names = config.get("model_input_names")
        inputs = names if names and isinstance(names, list) else input_names(name)
        section = _Section.of("padding", tokenizer.settings.padding)
        side = _side_of(config.get("padding_side"), section, padding_side(name))
        padding = None if section is None else Padding.of_section(section, side)
        section = _Section.of("truncation", tokenizer.settings.truncation)
        truncation_side = _side_of(config.get("truncation_side"), section, "right")
        truncation = None if section is None else Truncation.of_section(section, truncation_side)
        origin = sources_of(tokenizer)[False]
        if padding is not None:
            origin = replace(origin, pad_id=tokenizer.roles.ids.get("pad", padding.id))
        return cls(
            type_ids="token_type_ids" in inputs or as_bert,
            mask="attention_mask" in inputs,
            padding_side=side,
            truncation_side=truncation_side,
            padding=padding,
            truncation=truncation,
            padded_length=longest if longest is not None or padding is None else padding.length,
            truncated_length=(
                longest if longest is not None or truncation is None else truncation.max_length
            ),
            longest=longest,
            origin=origin,
        )


def _side_of(configured: object, section: _Section | None, default: Side) -> Side:
    if configured in SIDES:
        return configured
    if section is None:
        return default
    # Older files have no direction: they truncate on the right.
    side = str(section.fields.get("direction", "Right")).lower()
    if side not in SIDES:
        raise section.error("direction", '"Left" or "Right"')
    return cast(Side, side)


def choose(call: CallArguments, defaults: Defaults) -> tuple[Padding | None, Truncation | None]:
    """How to pad the rows of a call and truncate its texts."""
    truncation = _truncation_of(call, defaults)
    return _padding_of(call, defaults, truncation), truncation


def _truncation_of(call: CallArguments, defaults: Defaults) -> Truncation | None:
    of_file, side = defaults.truncation, call.truncation_side or defaults.truncation_side
    max_length, stride = call.max_length, call.stride
    if call.truncation is None and of_file is not None:
        return Truncation(
            strategy=of_file.strategy,
            max_length=of_file.max_length if max_length is None else max_length,
            stride=of_file.stride if stride is None else stride,
            side=side,
        )
    strategy = _strategy_of_length(call) if call.truncation is None else call.truncation
    if strategy is None or strategy == "do_not_truncate":
        return None
    max_length = defaults.truncated_length if max_length is None else max_length
    if max_length is None:
        call.warn(
            "truncation has no effect: neither max_length nor the tokenizer says how long rows are"
        )
        return None
    return Truncation(strategy=strategy, max_length=max_length, stride=stride or 0, side=side)


def _strategy_of_length(call: CallArguments) -> str | None:
    """How `max_length` truncates if `truncation` is not given; `None` if it does not."""
    if call.max_length is None:
        return None
    if call.length_cuts:
        return "longest_first"
    if call.padding == "longest":
        call.warn(
            "max_length has no effect on padding to the longest row (give truncation=True, or "
            'padding="max_length")'
        )
    return None


def _padding_of(
    call: CallArguments, defaults: Defaults, truncation: Truncation | None
) -> Padding | None:
    of_file, side = defaults.padding, call.padding_side or defaults.padding_side
    if call.padding == "do_not_pad":
        return None
    if call.padding is None:
        if of_file is None:
            return None
        return replace(
            of_file, side=side, multiple_of=call.pad_to_multiple_of or of_file.multiple_of
        )
    length = None
    if call.padding == "max_length":
        length = defaults.padded_length if call.max_length is None else call.max_length
        if length is None:
            call.warn(
                'padding="max_length" has no effect: neither max_length nor the tokenizer says how '
                "long"
            )
            return None
    multiple_of = call.pad_to_multiple_of or 1
    if truncation is not None and truncation.max_length % multiple_of:
        raise ArgumentError(
            f"max_length={truncation.max_length} is not a multiple of "
            f"pad_to_multiple_of={multiple_of}: change one of the two"
        )
    return Padding(
        length=length,
        multiple_of=multiple_of,
        side=side,
        id=defaults.origin.pad(_NO_PAD),
        type_id=0 if of_file is None else of_file.type_id,
    )
