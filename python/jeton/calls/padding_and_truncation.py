"""Padding and truncation of one call: what the arguments, the folder and the file say together.

Look here for which of them counts, and for what the names that transformers has for them mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from jeton.arguments import checked_int, one_of
from jeton.base_tokenizer.encode import origin_of
from jeton.errors import ArgumentError, warn_caller
from jeton.folder import tells_texts_apart
from jeton.padding import Origin

if TYPE_CHECKING:
    from jeton.base_tokenizer import BaseTokenizer

__all__ = ["Asked", "Defaults", "Padding", "Side", "Truncation", "choose"]

Side: TypeAlias = Literal["right", "left"]

_PADDING: Final = ("longest", "max_length", "do_not_pad")
_TRUNCATION: Final = ("longest_first", "only_first", "only_second", "do_not_truncate")
_SIDES: Final = ("right", "left")
_STRATEGIES: Final = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}
"""What a `tokenizer.json` calls the ways to truncate."""

_WITH_TYPE_IDS: Final = frozenset(
    "Bert Canine ConvBert DPRContextEncoder DPRQuestionEncoder Deberta DebertaV2 Electra FNet "
    "LayoutLM LayoutLMv2 Lxmert MarkupLM MobileBert SqueezeBert Tapas".split()
)
"""The classes of transformers whose models take `token_type_ids`."""
_WITHOUT_MASK: Final = frozenset(["FNet"])
"""Those whose models take no `attention_mask`."""
_PADDED_LEFT: Final = frozenset("CodeLlama Cohere Gemma Llama Siglip2 XLNet".split())
"""Those that pad on the left where nothing else is said."""
_NO_PAD: Final = (
    'tok.replace(roles={"pad": TOKEN}) makes one of its tokens that; '
    'tok.with_added_tokens([AddedToken("<pad>", special=True)]) adds one'
)


@dataclass(frozen=True)
class Padding:
    """How rows are made equally long."""

    length: int | None
    """How long; `None` for as long as the longest row."""
    multiple_of: int
    side: Side
    id: int
    type_id: int


@dataclass(frozen=True)
class Truncation:
    """How texts are cut."""

    strategy: str
    max_length: int
    """The most tokens of a row, special ones among them."""
    stride: int
    """How many tokens a window has in common with the one before."""
    side: Side
    """Where tokens are taken away."""


@dataclass(slots=True)
class Asked:
    """The arguments of a call that padding and truncation depend on."""

    padding: object
    truncation: object
    max_length: object
    stride: object
    pad_to_multiple_of: object
    padding_side: object
    truncation_side: object
    verbose: bool


@dataclass(frozen=True)
class Defaults:
    """What a tokenizer says of rows, where a call does not."""

    type_ids: bool
    """Whether the model takes `token_type_ids`."""
    mask: bool
    """Whether it takes an `attention_mask`."""
    padding_side: Side
    truncation_side: Side
    max_length: int | None
    """How many tokens the model takes."""
    padding: Mapping[str, Any] | None
    """What its `tokenizer.json` says."""
    truncation: Mapping[str, Any] | None
    pad_id: int | None
    origin: Origin
    """For what is said where there is no pad token."""

    @classmethod
    def of(cls, tokenizer: BaseTokenizer) -> Defaults:
        """Those of a tokenizer."""
        config, padding, truncation = tokenizer.config, tokenizer.padding, tokenizer.truncation
        name = str(config.get("tokenizer_class") or "")
        name = name.removesuffix("Fast").removesuffix("Tokenizer")
        as_bert = not config and tells_texts_apart(tokenizer._core, tokenizer.roles)
        names = config.get("model_input_names")
        listed = names if isinstance(names, list) else None
        origin = origin_of(tokenizer, False)
        pad_id = tokenizer.role_ids.get("pad")
        if pad_id is None:
            pad_id = origin.pad_id if padding is None else int(padding["pad_id"])
        return cls(
            type_ids="token_type_ids" in listed if listed else name in _WITH_TYPE_IDS or as_bert,
            mask="attention_mask" in listed if listed else name not in _WITHOUT_MASK,
            padding_side=_side_of(
                config.get("padding_side"), padding, "left" if name in _PADDED_LEFT else "right"
            ),
            truncation_side=_side_of(config.get("truncation_side"), truncation, "right"),
            max_length=tokenizer.model_max_length,
            padding=padding,
            truncation=truncation,
            pad_id=pad_id,
            origin=origin,
        )


def _side_of(configured: object, section: Mapping[str, Any] | None, default: Side) -> Side:
    found = configured if section is None or configured in _SIDES else section["direction"].lower()
    return cast(Side, found) if found in _SIDES else default


def choose(asked: Asked, defaults: Defaults) -> tuple[Padding | None, Truncation | None]:
    """How the rows of a call are padded and its texts cut.

    Raises:
        ArgumentError, ArgumentTypeError: An argument that makes no sense, or that does not go with
            another; padding without a pad token.
    """
    pads = _strategy("padding", asked.padding, _PADDING)
    cuts = _strategy("truncation", asked.truncation, _TRUNCATION)
    max_length = (
        None if asked.max_length is None else checked_int("max_length", asked.max_length, 0)
    )
    stride = None if asked.stride is None else checked_int("stride", asked.stride, 0)
    multiple_of = asked.pad_to_multiple_of
    multiple = None if multiple_of is None else checked_int("pad_to_multiple_of", multiple_of, 1)
    padding_side = _side("padding_side", asked.padding_side, defaults.padding_side)
    truncation_side = _side("truncation_side", asked.truncation_side, defaults.truncation_side)

    cut = _cut(asked, defaults, pads, cuts, max_length)
    truncation = None
    if cut is not None:
        strategy, most = cut
        if stride is None:
            is_of_file = cuts is None and defaults.truncation is not None
            stride = int(defaults.truncation["stride"]) if is_of_file and defaults.truncation else 0
        truncation = Truncation(strategy, most, stride, truncation_side)

    section = defaults.padding
    length: int | None = None
    if pads == "do_not_pad" or (pads is None and section is None):
        return None, truncation
    if pads is None and section is not None:
        fixed = section["strategy"]
        length = int(fixed["Fixed"]) if isinstance(fixed, Mapping) else None
        multiple = multiple or section["pad_to_multiple_of"]
    elif pads == "max_length":
        length = max_length if max_length is not None else defaults.max_length
        if length is None and section is not None and isinstance(section["strategy"], Mapping):
            length = int(section["strategy"]["Fixed"])
        if length is None:
            _warn(
                asked,
                'padding="max_length" pads nothing: neither max_length nor the tokenizer says how '
                "long",
            )
            return None, truncation
    most_allowed = None if truncation is None else truncation.max_length
    if pads is not None and multiple and most_allowed is not None and most_allowed % multiple:
        raise ArgumentError(
            f"max_length={most_allowed} is not a multiple of pad_to_multiple_of={multiple}: "
            "change one of the two"
        )
    filler = defaults.pad_id
    if pads is None and section is not None:
        filler = int(section["pad_id"])
    return (
        Padding(
            length=length,
            multiple_of=multiple or 1,
            side=padding_side,
            id=defaults.origin.pad(_NO_PAD) if filler is None else filler,
            type_id=0 if section is None else int(section["pad_type_id"]),
        ),
        truncation,
    )


def _cut(
    asked: Asked, defaults: Defaults, pads: str | None, cuts: str | None, max_length: int | None
) -> tuple[str, int] | None:
    """The strategy and the length of truncation, if there is any."""
    section = defaults.truncation
    if cuts == "do_not_truncate":
        return None
    if cuts is None:
        if section is not None:
            most = int(section["max_length"]) if max_length is None else max_length
            return _STRATEGIES[section["strategy"]], most
        if max_length is None:
            return None
        if asked.padding is None or asked.padding is False:
            return "longest_first", max_length
        if pads == "longest":
            _warn(
                asked,
                "max_length has no effect: padding to the longest row does not go by it (give "
                'truncation=True, or padding="max_length")',
            )
        return None
    if max_length is None:
        max_length = defaults.max_length
    if max_length is None and section is not None:
        max_length = int(section["max_length"])
    if max_length is None:
        _warn(
            asked,
            "truncation cuts nothing: neither max_length nor the tokenizer says how long rows are",
        )
        return None
    return cuts, max_length


def _warn(asked: Asked, message: str) -> None:
    if asked.verbose:
        warn_caller(message, UserWarning)


def _strategy(name: str, value: object, names: tuple[str, ...]) -> str | None:
    """A strategy by its name, of which `True` means the first and `False` the last."""
    if value is None:
        return None
    if isinstance(value, bool):
        return names[0] if value else names[-1]
    # What transformers calls `PaddingStrategy.LONGEST` is a str and an enum.
    return one_of(name, getattr(value, "value", value), names, "True, False")


def _side(name: str, value: object, default: Side) -> Side:
    return default if value is None else cast(Side, one_of(name, value, _SIDES))
