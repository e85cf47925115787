"""The call itself: what a tokenizer knows for all of its calls, and the steps of one.

Look here for the order of the steps, and for which columns a result has.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jeton.arguments import checked_flag, one_of
from jeton.calls.batch_tokenizer import BatchTokenizer
from jeton.calls.encoded_texts import EncodingOptions, encoded
from jeton.calls.frames import Frame, frame_of
from jeton.calls.front_spaces import FrontSpaces, shows_one_space
from jeton.calls.inputs import Inputs, read
from jeton.calls.padding_and_truncation import Asked, Defaults, Padding, Truncation, choose
from jeton.calls.result import BatchEncoding
from jeton.calls.rows import Rows
from jeton.calls.short_text import SHORT, columns_alone
from jeton.calls.windows import cut, share_room
from jeton.errors import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.base_tokenizer import BaseTokenizer

__all__ = ["Call", "Caller"]

_UNCUT: Final = Truncation("longest_first", 2**62, 0, "right")


@dataclass(slots=True)
class Call:
    """The arguments of a call, as `Tokenizer.__call__` has them."""

    text: object
    text_pair: object
    text_target: object
    text_pair_target: object
    asked: Asked
    add_special_tokens: bool
    is_split_into_words: bool
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

    def check(self) -> None:
        """Refuses what is no flag and no word that the call knows."""
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
        checked_flag("verbose", self.asked.verbose)
        one_of("unit", self.unit, ("characters", "bytes", "utf-16"))
        one_of("nulls", self.nulls, ("raise", "empty"))


class Caller:
    """What a tokenizer knows for all of its calls."""

    def __init__(self, tokenizer: BaseTokenizer) -> None:
        self._post_processor = tokenizer.post_processor
        self._frames: dict[tuple[bool, bool], Frame] = {}
        self._spelling = BatchTokenizer(tokenizer)
        self._shows_one_space = shows_one_space(self._post_processor)

    @cached_property
    def defaults(self) -> Defaults:
        """What the tokenizer says of rows."""
        return Defaults.of(self._spelling.tokenizer)

    def __call__(self, call: Call) -> BatchEncoding:
        """The rows of a call.

        Raises:
            As `Tokenizer.__call__`.
        """
        call.check()
        tensors = _tensors(call.return_tensors)
        if call.text is None and call.text_target is None:
            raise ArgumentError(
                "text is missing: give text, or text_target, or both (nulls= says what None means "
                "within a batch)"
            )
        result: BatchEncoding | None = None
        if call.text is not None:
            result = self._rows(call, call.text, call.text_pair, ("text", "text_pair"), tensors)
        if call.text_target is None:
            assert result is not None
            return result
        names = ("text_target", "text_pair_target")
        targets = self._rows(call, call.text_target, call.text_pair_target, names, tensors)
        if result is None:
            return targets
        result["labels"] = targets["input_ids"]
        return result

    def _rows(
        self,
        call: Call,
        text: object,
        text_pair: object,
        names: tuple[str, str],
        tensors: str | None,
    ) -> BatchEncoding:
        padding, truncation = choose(call.asked, self.defaults)
        inputs = read(
            text,
            text_pair,
            is_split_into_words=call.is_split_into_words,
            nulls=str(call.nulls),
            names=names,
        )
        how = EncodingOptions(self._spelling, call.unit, call.special, call.nulls)
        names_wanted = self._columns(call)
        is_alone = not (inputs.is_batch or call.return_overflowing_tokens)
        is_short = is_alone and not call.is_split_into_words and _leaves_alone(padding)
        if is_short and (short := self._alone(call, how, inputs, truncation, names_wanted)):
            rows = functools.partial(
                self._made_again, call, how, inputs, padding, truncation, tuple(short["input_ids"])
            )
            return BatchEncoding._of_lists(
                short, rows=rows, spelling=self._spelling, tensors=tensors
            )
        return BatchEncoding._of_rows(
            self._made(call, how, inputs, padding, truncation, names),
            names_wanted,
            spelling=self._spelling,
            tensors=tensors,
            is_single=is_alone,
        )

    def _alone(
        self,
        call: Call,
        how: EncodingOptions,
        inputs: Inputs,
        truncation: Truncation | None,
        names: list[str],
    ) -> dict[str, list[Any]] | None:
        """The columns of one short text, or of a pair, that is not cut."""
        columns = (inputs.first,) if inputs.second is None else (inputs.first, inputs.second)
        texts = [column.texts[0] for column in columns if isinstance(column.texts, list)]
        shorts = [text for text in texts if text is not None and len(text) <= SHORT]
        if len(shorts) < len(columns):
            return None
        frame = self._frame(
            pair=inputs.second is not None, add_special_tokens=call.add_special_tokens
        )
        most = None if truncation is None else truncation.max_length
        return columns_alone(how, shorts, frame, names, most)

    def _made_again(
        self,
        call: Call,
        how: EncodingOptions,
        inputs: Inputs,
        padding: Padding | None,
        truncation: Truncation | None,
        ids: tuple[int, ...],
    ) -> Rows:
        """The rows of a text that was encoded without them.

        Raises:
            UnsupportedError: Its tokens are others now, since they are drawn at random.
        """
        rows = self._made(call, how, inputs, padding, truncation, ("text", "text_pair"))
        rows.sides[0].check_same(rows.ids.tolist() == list(ids))
        return rows

    def _made(
        self,
        call: Call,
        how: EncodingOptions,
        inputs: Inputs,
        padding: Padding | None,
        truncation: Truncation | None,
        names: tuple[str, str],
    ) -> Rows:
        """The rows of what was given."""
        one, other, paired = encoded(
            how,
            inputs.first,
            inputs.second,
            with_spans=call.return_offsets_mapping,
            names=names,
        )
        frames = self._frames_of(paired, add_special_tokens=call.add_special_tokens)
        lengths = one.lengths, other.lengths
        kept, overflowing = lengths, False
        if truncation is not None:
            added = np.where(paired, *(_added(frame) for frame in reversed(frames)))
            kept = share_room(lengths, added, paired, truncation)
            overflowing = call.return_overflowing_tokens
        order = [piece.text for piece in frames[1] or () if piece.text is not None]
        if overflowing and len(set(order)) < len(order):
            raise UnsupportedError(
                "the post-processor puts a text into a row more than once, so windows cannot "
                "be made (leave return_overflowing_tokens out)"
            )
        windows = cut(
            lengths,
            kept,
            truncation or _UNCUT,
            overflowing=overflowing,
            second_first=order[:1] == [1],
        )
        front_spaces = None
        if self._shows_one_space:
            front_spaces = FrontSpaces(self._spelling, str(call.unit))
        return Rows(
            sides=(one, other),
            windows=windows,
            frames=frames,
            paired=paired[windows.sample],
            padding=padding,
            front_spaces=front_spaces,
        )

    def _columns(self, call: Call) -> list[str]:
        """What the result has, in the order of transformers."""
        type_ids, mask = call.return_token_type_ids, call.return_attention_mask
        wanted = {
            "input_ids": True,
            "token_type_ids": self.defaults.type_ids if type_ids is None else type_ids,
            "attention_mask": self.defaults.mask if mask is None else mask,
            "special_tokens_mask": call.return_special_tokens_mask,
            "offset_mapping": call.return_offsets_mapping,
            "length": call.return_length,
            "overflow_to_sample_mapping": call.return_overflowing_tokens,
        }
        return [name for name, is_wanted in wanted.items() if is_wanted]

    def _frames_of(
        self, paired: npt.NDArray[np.bool_], *, add_special_tokens: bool
    ) -> tuple[Frame | None, Frame | None]:
        """What stands around one text, and around two, where there are such samples."""
        single, pair = (
            self._frame(pair=pair, add_special_tokens=add_special_tokens)
            if (paired == pair).any()
            else None
            for pair in (False, True)
        )
        return single, pair

    def _frame(self, *, pair: bool, add_special_tokens: bool) -> Frame:
        key = pair, add_special_tokens
        if key not in self._frames:
            self._frames[key] = frame_of(
                self._post_processor, pair=pair, add_special_tokens=add_special_tokens
            )
        return self._frames[key]


def _leaves_alone(padding: Padding | None) -> bool:
    """Whether padding leaves a row alone that has no others beside it."""
    return padding is None or (padding.length is None and padding.multiple_of == 1)


def _added(frame: Frame | None) -> int:
    return sum(piece.text is None for piece in frame or ())


def _tensors(given: object) -> str | None:
    """What the columns are to be: lists, arrays of numpy or tensors of torch."""
    return None if given is None else one_of("return_tensors", given, ("np", "pt"))
