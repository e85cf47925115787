"""The call itself: what all calls of a tokenizer share, and the steps of one.

Look here for the order of the steps, and for which columns a result has.
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.calls.batch_tokenizer import BatchTokenizer
from jeton.encoding.calls.call_arguments import CallArguments
from jeton.encoding.calls.encoded_texts import encoded
from jeton.encoding.calls.frames import Frame, frame_of
from jeton.encoding.calls.inputs import Column, Inputs, read
from jeton.encoding.calls.padding_arguments import Defaults, Padding, Truncation, choose
from jeton.encoding.calls.result import BatchEncoding
from jeton.encoding.calls.rows import BatchRows
from jeton.encoding.calls.windows import RowWindows, share_room, windows_of
from jeton.encoding.languages import is_translator
from jeton.errors import ArgumentError, ChatWarning, JetonError, UnsupportedError, warn_caller

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.base_tokenizer import BaseTokenizer

_TEXTS: Final = ("text", "text_pair")
_TARGETS: Final = ("text_target", "text_pair_target")

SHORT: Final = 2_000
"""The maximum length of a short text, in characters: for longer ones arrays are as fast."""


class Caller:
    """What all calls of a tokenizer share."""

    def __init__(self, tokenizer: BaseTokenizer) -> None:
        self._post_processor = tokenizer.stages.post_processor
        self._frames: dict[tuple[bool, bool], Frame] = {}
        self.spelling = BatchTokenizer(tokenizer)
        self.has_warned_of_length = False

    @cached_property
    def defaults(self) -> Defaults:
        """The tokenizer's own padding and truncation."""
        return Defaults.of(self.spelling.tokenizer)

    @property
    def _of_targets(self) -> Caller:
        """What texts in the target language share, for a translation model."""
        tokenizer = self.spelling.tokenizer
        config = tokenizer.settings.config
        if not is_translator(config):
            return self
        if config.get("tgt_lang") is None:
            warn_caller(
                "the tokenizer has no tgt_lang, so text_target is in its src_lang, as in "
                "transformers (tok.replace(tgt_lang=…) names the language of the labels)",
                UserWarning,
            )
            return self
        return self._of_target_language

    @cached_property
    def _of_target_language(self) -> Caller:
        tokenizer = self.spelling.tokenizer
        return Caller(tokenizer.replace(src_lang=tokenizer.settings.config["tgt_lang"]))

    def frame(self, *, pair: bool, add_special_tokens: bool) -> Frame:
        """The special tokens around one text, or around two."""
        key = pair, add_special_tokens
        if key not in self._frames:
            self._frames[key] = frame_of(
                self._post_processor, pair=pair, add_special_tokens=add_special_tokens
            )
        return self._frames[key]

    def __call__(self, call: CallArguments) -> BatchEncoding:
        """The rows of a call.

        Raises:
            As `Tokenizer.__call__`.
        """
        if call.text is None and call.text_target is None:
            raise ArgumentError(
                "text is missing: give text, or text_target, or both (nulls= says what None means "
                "within a batch)"
            )
        if call.special != "ignore" and call.add_special_tokens:
            self._warn_of_two_begins(call)
        if call.text is None:
            return self._of_targets._result(call, _TARGETS)
        result = self._result(call, _TEXTS)
        if call.text_target is not None:
            result["labels"] = self._of_targets._result(call, _TARGETS)["input_ids"]
        return result

    def _warn_of_two_begins(self, call: CallArguments) -> None:
        """Warns if a text (a chat's, say) begins with the token that the call puts in front."""
        begin = next(iter(self.frame(pair=False, add_special_tokens=True)), None)
        if begin is None or begin.text is not None:
            return
        tokenizer = self.spelling.tokenizer
        spelling = tokenizer.vocab.spelling(begin.id).decode(errors="replace")
        is_token = call.special == "allow" or (
            isinstance(call.special, (set, frozenset, list, tuple)) and spelling in call.special
        )
        texts = call.text if isinstance(call.text, (list, tuple)) else [call.text]
        if is_token and any(isinstance(it, str) and it.startswith(spelling) for it in texts):
            warn_caller(
                f"the text begins with {spelling!r}, and the call puts another one in front "
                "(give add_special_tokens=False; the ids of a chat are chat.ids)",
                ChatWarning,
            )

    def _result(self, call: CallArguments, names: tuple[str, str]) -> BatchEncoding:
        padding, truncation = choose(call, self.defaults)
        inputs = read(
            getattr(call, names[0]),
            getattr(call, names[1]),
            is_split_into_words=call.is_split_into_words,
            nulls=call.nulls,
            names=names,
        )
        if call.is_split_into_words and call.verbose:
            warning = glued_words(self.spelling.tokenizer, inputs.first)
            if warning is not None:
                warn_caller(warning, UserWarning)
        return _RowRequest(self, call, names, inputs, padding, truncation).result()


@once_per_tokenizer
def caller_of(tokenizer: BaseTokenizer) -> Caller:
    """What all calls of a tokenizer share, the same each time."""
    return Caller(tokenizer)


@dataclass(slots=True)
class _RowRequest:
    """The encoding of a call's texts, or of its targets, into rows."""

    caller: Caller
    call: CallArguments
    names: tuple[str, str]
    """The names of the arguments that the texts came from."""
    inputs: Inputs
    padding: Padding | None
    truncation: Truncation | None

    def result(self) -> BatchEncoding:
        """The columns that the call asks for; the rows that they show are built when needed."""
        names, spelling = self._columns(), self.caller.spelling
        tensors = self.call.return_tensors
        is_single = not (self.inputs.is_batch or self.call.return_overflowing_tokens)
        short = self._short_columns(names) if is_single else None
        if short is not None:
            self._warn_of_length(len(short["input_ids"]))
            rows = functools.partial(self._rows_again, tuple(short["input_ids"]))
            return BatchEncoding._of_lists(short, rows=rows, spelling=spelling, tensors=tensors)
        rows_of_all = self._rows()
        self._warn_of_length(int(rows_of_all.lengths.max(initial=0)))
        return BatchEncoding._of_rows(
            rows_of_all, names, spelling=spelling, tensors=tensors, is_single=is_single
        )

    def _warn_of_length(self, length: int) -> None:
        """Warns, once per tokenizer, of a row that is longer than the model takes."""
        caller, longest = self.caller, self.caller.defaults.longest
        if longest is None or length <= longest or self.truncation is not None:
            return
        if self.call.verbose and not caller.has_warned_of_length:
            caller.has_warned_of_length = True
            warn_caller(
                f"a row has {length:,} tokens, and the model takes {longest:,} (model_max_length): "
                "give truncation=True, or chunk the text",
                UserWarning,
            )

    def _columns(self) -> list[str]:
        """The names of the columns, in the order of transformers."""
        call, defaults = self.call, self.caller.defaults
        type_ids, mask = call.return_token_type_ids, call.return_attention_mask
        columns = {
            "input_ids": True,
            "token_type_ids": defaults.type_ids if type_ids is None else type_ids,
            "attention_mask": defaults.mask if mask is None else mask,
            "special_tokens_mask": call.return_special_tokens_mask,
            "offset_mapping": call.return_offsets_mapping,
            "length": call.return_length,
            "overflow_to_sample_mapping": call.return_overflowing_tokens,
        }
        return [name for name, is_wanted in columns.items() if is_wanted]

    def _short_columns(self, names: list[str]) -> dict[str, list[object]] | None:
        """The columns of one short text, or of a pair, that needs no padding or truncation."""
        padding = self.padding
        pads = padding is not None and (padding.length is not None or padding.multiple_of != 1)
        if self.call.is_split_into_words or pads:
            return None
        first, second = self.inputs.first, self.inputs.second
        columns = (first,) if second is None else (first, second)
        texts = [column.texts[0] for column in columns if isinstance(column.texts, list)]
        shorts = [text for text in texts if text is not None and len(text) <= SHORT]
        if len(shorts) < len(columns):
            return None
        frame = self.caller.frame(
            pair=second is not None, add_special_tokens=self.call.add_special_tokens
        )
        return self._columns_alone(shorts, frame, names)

    def _columns_alone(
        self, texts: list[str], frame: Frame, names: list[str]
    ) -> dict[str, list[object]] | None:
        """The columns of one row by name; `None` if it has more than the maximum of tokens."""
        tokenizer, call = self.caller.spelling.tokenizer, self.call
        with_spans = "offset_mapping" in names
        ids: list[list[int]] = []
        spans: list[list[tuple[int, ...]]] = []
        for text in texts:
            if with_spans:
                array, places = tokenizer.encode_array(text, spans=call.unit, special=call.special)
                ids.append(array.tolist())
                spans.append(list(map(tuple, places.tolist())))
            else:
                ids.append(tokenizer.encode(text, special=call.special))
        lengths = [1 if piece.text is None else len(ids[piece.text]) for piece in frame]
        total = sum(lengths)
        if self.truncation is not None and total > self.truncation.max_length:
            return None
        columns: dict[str, list[object]] = {name: [] for name in names}
        for piece, length in zip(frame, lengths, strict=True):
            number = piece.text
            columns["input_ids"] += [piece.id] if number is None else ids[number]
            if "token_type_ids" in columns:
                columns["token_type_ids"] += [piece.type_id] * length
            if "special_tokens_mask" in columns:
                columns["special_tokens_mask"] += [int(number is None)] * length
            if with_spans:
                columns["offset_mapping"] += [(0, 0)] if number is None else spans[number]
        if "attention_mask" in columns:
            columns["attention_mask"] = [1] * total
        if "length" in columns:
            columns["length"] = [total]
        return columns

    def _rows_again(self, ids: tuple[object, ...]) -> BatchRows:
        """The rows of a text whose columns were computed without them, with these ids."""
        rows = self._rows()
        rows.sides[0].check_same(rows.ids.tolist() == list(ids))
        return rows

    def _rows(self) -> BatchRows:
        """The rows of all texts, as arrays."""
        first, second, paired = encoded(
            self.caller.spelling,
            self.call,
            self.inputs.first,
            self.inputs.second,
            self.names,
        )
        frames = self._frames(paired)
        windows = self._windows(np.stack([first.lengths, second.lengths]), paired, frames)
        return BatchRows(
            sides=(first, second),
            windows=windows,
            frames=frames,
            paired=paired[windows.sample],
            padding=self.padding,
        )

    def _frames(self, paired: npt.NDArray[np.bool_]) -> tuple[Frame | None, Frame | None]:
        """The frames of one text and of two, each if there are such samples."""
        single, pair = (
            self.caller.frame(pair=pair, add_special_tokens=self.call.add_special_tokens)
            if (paired == pair).any()
            else None
            for pair in (False, True)
        )
        return single, pair

    def _windows(
        self,
        lengths: npt.NDArray[np.int64],
        paired: npt.NDArray[np.bool_],
        frames: tuple[Frame | None, Frame | None],
    ) -> RowWindows:
        """The part of its texts that each row holds, for texts with these numbers of tokens."""
        if self.truncation is None:
            return RowWindows.whole(lengths)
        single, pair = frames
        added_tokens = np.where(paired, _special_count(pair), _special_count(single))
        room = share_room(lengths, added_tokens, paired, self.truncation)
        overflowing = self.call.return_overflowing_tokens
        order = [piece.text for piece in frames[1] or () if piece.text is not None]
        if overflowing and len(set(order)) < len(order):
            raise UnsupportedError(
                "the post-processor puts a text into a row more than once, so it cannot be split "
                "into windows (leave return_overflowing_tokens out)"
            )
        return windows_of(
            lengths, room, self.truncation, overflowing=overflowing, second_first=order[:1] == [1]
        )


def _special_count(frame: Frame | None) -> int:
    return sum(piece.text is None for piece in frame or ())


_WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
"""How the Unicode names of letters begin, for scripts that do not separate words by spaces."""


def glued_words(tokenizer: BaseTokenizer, column: Column) -> str | None:
    """A warning about words that get no space between them; `None` if the first two get one.

    BERT's tokens mark where a word begins, and SentencePiece puts a space in front of each word.
    Byte-level tokenizers encode each word unchanged: `["New", "York"]` has the tokens of `NewYork`.
    """
    words = _first_two(column)
    if words is None:
        return None
    first, second = words
    try:
        both, one, other = (
            tokenizer.decode(tokenizer.encode_with_spans(part, is_split_into_words=True).ids)
            for part in ([first, second], [first], [second])
        )
    except JetonError:
        return None
    if both != one + other:
        return None
    return (
        f"the words {first!r} and {second!r} have the tokens of {both!r}: this tokenizer puts no "
        f"space between words (give them with their spaces, as {' ' + second!r})"
    )


def _first_two(column: Column) -> tuple[str, str] | None:
    """The first two neighbouring words, if a space belongs between them."""
    if column.words is None or not isinstance(column.texts, list):
        return None
    start = 0
    for count in column.words:
        for first, second in itertools.pairwise(column.texts[start : start + count]):
            if first and second:
                is_word = first[-1].isalnum() and second[0].isalnum()
                name = unicodedata.name(second[0], "")
                return (first, second) if is_word and not name.startswith(_WITHOUT_SPACES) else None
        start += count
    return None
