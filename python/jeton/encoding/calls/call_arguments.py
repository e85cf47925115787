"""The arguments of `tok(...)` as one value, by the names that `Tokenizer.__call__` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from jeton.arguments import checked_flag, checked_int, one_of
from jeton.errors import warn_caller

Side: TypeAlias = Literal["right", "left"]

SIDES: Final = ("right", "left")
_PADDING: Final = ("longest", "max_length", "do_not_pad")
_TRUNCATION: Final = ("longest_first", "only_first", "only_second", "do_not_truncate")


@dataclass(slots=True)
class CallArguments:
    """The arguments of a call; after `checked`, of valid types and values."""

    text: object
    text_pair: object
    text_target: object
    text_pair_target: object
    add_special_tokens: bool
    padding: str | None
    """A strategy by its name; `None`, as below, where the tokenizer decides."""
    truncation: str | None
    max_length: int | None
    stride: int | None
    is_split_into_words: bool
    pad_to_multiple_of: int | None
    padding_side: Side | None
    truncation_side: Side | None
    return_tensors: str | None
    return_token_type_ids: bool | None
    return_attention_mask: bool | None
    return_overflowing_tokens: bool
    return_special_tokens_mask: bool
    return_offsets_mapping: bool
    return_length: bool
    unit: Any
    special: Any
    nulls: Any
    verbose: bool
    length_cuts: bool
    """Whether `max_length` alone truncates: not if `padding` is given, even as `"do_not_pad"`."""

    @classmethod
    def checked(cls, arguments: Mapping[str, Any]) -> CallArguments:
        """The arguments among the local names of the method, checked.

        Raises:
            ArgumentError, ArgumentTypeError: An argument is invalid.
        """
        length_cuts = arguments["padding"] is None or arguments["padding"] is False
        values: list[Any] = [*(arguments[name] for name in cls.__slots__[:-1]), length_cuts]
        call = cls(*values)
        call._check()
        return call

    def warn(self, message: str) -> None:
        """Warns of an argument that has no effect, unless warnings are unwanted."""
        if self.verbose:
            warn_caller(message, UserWarning)

    def _check(self) -> None:
        for name in (
            "add_special_tokens",
            "is_split_into_words",
            "return_overflowing_tokens",
            "return_special_tokens_mask",
            "return_offsets_mapping",
            "return_length",
        ):
            checked_flag(name, getattr(self, name))
        for name in ("return_token_type_ids", "return_attention_mask"):
            if getattr(self, name) is not None:
                checked_flag(name, getattr(self, name))
        checked_flag("verbose", self.verbose)
        one_of("unit", self.unit, ("characters", "bytes", "utf-16"))
        one_of("nulls", self.nulls, ("raise", "empty"))
        if self.return_tensors is not None:
            self.return_tensors = one_of("return_tensors", self.return_tensors, ("np", "pt"))
        self.padding = _strategy("padding", self.padding, _PADDING)
        self.truncation = _strategy("truncation", self.truncation, _TRUNCATION)
        for name, least in (("max_length", 0), ("stride", 0), ("pad_to_multiple_of", 1)):
            if (number := getattr(self, name)) is not None:
                setattr(self, name, checked_int(name, number, least))
        for name in ("padding_side", "truncation_side"):
            if (side := getattr(self, name)) is not None:
                setattr(self, name, one_of(name, side, SIDES))


def _strategy(name: str, value: object, names: tuple[str, ...]) -> str | None:
    """A strategy by its name; `True` means the first name and `False` the last."""
    if value is None:
        return None
    if isinstance(value, bool):
        return names[0] if value else names[-1]
    # What transformers calls `PaddingStrategy.LONGEST` is a str and an enum.
    return one_of(name, getattr(value, "value", value), names, "True, False")
