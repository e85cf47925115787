"""The arguments of `tok(...)` as one value, by the names that `Tokenizer.__call__` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jeton.arguments import checked_flag, one_of


@dataclass(slots=True)
class CallArguments:
    """The arguments of a call. `padding_arguments` checks those of padding and truncation."""

    text: object
    text_pair: object
    text_target: object
    text_pair_target: object
    add_special_tokens: bool
    padding: object
    truncation: object
    max_length: object
    stride: object
    is_split_into_words: bool
    pad_to_multiple_of: object
    padding_side: object
    truncation_side: object
    return_tensors: object
    return_token_type_ids: bool | None
    return_attention_mask: bool | None
    return_overflowing_tokens: bool
    return_special_tokens_mask: bool
    return_offsets_mapping: bool
    return_length: bool
    unit: object
    special: object
    nulls: object
    verbose: bool

    @classmethod
    def of(cls, arguments: Mapping[str, object]) -> CallArguments:
        """The arguments among the local names of the method."""
        names = cls.__slots__
        return cls(*(arguments[name] for name in names))  # type: ignore[arg-type]

    def check(self) -> None:
        """Raises for a flag that is not a bool, and for an unknown word."""
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
