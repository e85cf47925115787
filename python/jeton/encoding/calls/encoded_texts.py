"""The tokens of the first texts of all samples, or of the second ones, without special tokens.

Look here for when a text is encoded again: spans and words are computed at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jeton.encoding.calls.inputs import Column, is_column
from jeton.errors import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.calls.batch_tokenizer import BatchTokenizer
    from jeton.encoding.calls.call_arguments import CallArguments


class EncodedTexts:
    """The tokens of the first texts of all samples, or of the second, in one array.

    Attributes:
        ids: The ids of all texts, one after another.
        offsets: Sample `i` has those from `offsets[i]` up to `offsets[i + 1]`.
    """

    def __init__(self, spelling: BatchTokenizer, call: CallArguments, column: Column) -> None:
        self._spelling = spelling
        self._unit, self._special, self._nulls = call.unit, call.special, call.nulls
        self._column = column
        self._spans: npt.NDArray[np.int64] | None = None
        self._word_ids: dict[int, npt.NDArray[np.int64]] = {}
        if call.return_offsets_mapping:
            self.ids, self._ends, self._spans = self._with_spans()
        else:
            batch = spelling.tokenizer.encode_batch(
                column.texts, special=self._special, nulls=self._nulls
            )
            self.ids, self._ends = batch.ids, batch.offsets
        offsets = self._ends
        if column.words is not None:
            offsets = offsets[np.cumsum([0, *column.words])]
        if column.present is not None:
            lengths = np.zeros(len(column.present), np.int64)
            lengths[np.flatnonzero(column.present)] = offsets[1:] - offsets[:-1]
            offsets = np.concatenate([[0], np.cumsum(lengths)])
        self.offsets: npt.NDArray[np.int64] = offsets

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each sample has."""
        lengths: npt.NDArray[np.int64] = self.offsets[1:] - self.offsets[:-1]
        return lengths

    def spans(
        self, tokens: npt.NDArray[np.int64] | slice, lengths: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Where tokens came from, of shape (tokens, 2): ranges of their text, or of their word.

        Args:
            tokens: The tokens, by their indices: those of one window after another.
            lengths: How many tokens each window has.
        """
        if self._spans is None:
            ids, _, spans = self._with_spans()
            self.check_same(np.array_equal(ids, self.ids))
            self._spans = spans
        spans = self._spans[tokens]
        if not (len(spans) and self._spelling.trims):
            return spans
        is_first = np.zeros(len(spans), np.bool_)
        is_first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
        spans = self._spelling.trimmed(self.ids[tokens], spans, is_first)
        return spans if self._unit == "characters" else self._in_unit(tokens, spans)

    def _in_unit(
        self, tokens: npt.NDArray[np.int64] | slice, spans: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Spans in bytes or in UTF-16 code units, from those in characters."""
        texts: Any = self._column.texts
        if is_column(texts):
            to_list = getattr(texts, "to_pylist", None) or getattr(texts, "to_list", None)
            if to_list is None:
                raise UnsupportedError(
                    f"spans of a column's texts are not known in {self._unit} (give the texts "
                    "as a list)"
                )
            texts = to_list()
        texts = [text or "" for text in texts]
        if all(map(str.isascii, texts)):
            return spans
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
        wider = (0xFFFF,) if self._unit == "utf-16" else (0x7F, 0x7FF, 0xFFFF)
        widths = 1 + sum((codes > limit).astype(np.int64) for limit in wider)
        places = np.concatenate([[0], np.cumsum(widths)])
        numbers = np.searchsorted(self._ends, np.arange(len(self.ids))[tokens], side="right") - 1
        begins = np.cumsum([0, *map(len, texts)])[numbers, None]
        in_unit: npt.NDArray[np.int64] = places[begins + spans] - places[begins]
        return in_unit

    def word_ids(self, sample: int) -> npt.NDArray[np.int64]:
        """Which word each token of a sample belongs to."""
        if sample not in self._word_ids:
            self._word_ids[sample] = self._words_of(sample)
        return self._word_ids[sample]

    def _words_of(self, sample: int) -> npt.NDArray[np.int64]:
        column = self._column
        start, stop = self.offsets[sample : sample + 2]
        number = sample if column.present is None else sum(column.present[:sample])
        if column.words is not None:
            first = sum(column.words[:number])
            ends = self._ends[first : first + column.words[number] + 1]
            return np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        if start == stop:
            return np.empty(0, np.int64)
        text = None if is_column(column.texts) else column.texts[number]  # type: ignore[index]
        if text is None:
            raise UnsupportedError(
                "the words of a column's texts are not known (give the texts as a list)"
            )
        encoding = self._spelling.tokenizer.encode_with_spans(text, special=self._special)
        self.check_same(np.array_equal(encoding.to_numpy(), self.ids[start:stop]))
        return np.array(encoding.word_ids, np.int64)

    def _with_spans(
        self,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        spelling = self._spelling
        tokenizer, unit = spelling.tokenizer, self._unit
        if spelling.trims:
            # What is trimmed depends on the windows.
            tokenizer, unit = spelling.untrimmed, "characters"
        batch = tokenizer.encode_batch(
            self._column.texts,
            spans=unit,
            special=self._special,
            nulls=self._nulls,
        )
        return batch.ids, batch.offsets, batch.spans

    def check_same(self, is_same: bool) -> None:
        """Raises unless a text that was encoded again has the same tokens as before."""
        if not is_same:
            raise UnsupportedError(
                "a function in this tokenizer returns another text the second time, so a text that "
                "is encoded again has other tokens (give return_offsets_mapping=True for spans, or "
                "split the text into words for word ids)"
            )


def encoded(
    spelling: BatchTokenizer,
    call: CallArguments,
    first: Column,
    second: Column | None,
    names: tuple[str, str],
) -> tuple[EncodedTexts, EncodedTexts, npt.NDArray[np.bool_]]:
    """The first texts, the second ones, and which samples have a second text."""
    one = EncodedTexts(spelling, call, first)
    samples = len(one.offsets) - 1
    if second is None:
        second = Column([], None, [False] * samples)
    other = EncodedTexts(spelling, call, second)
    if len(other.offsets) - 1 != samples:
        raise ArgumentError(
            f"{names[0]} has {samples} entries and {names[1]} {len(other.offsets) - 1}; give both "
            "the same number"
        )
    present = np.ones(samples, np.bool_) if second.present is None else np.array(second.present)
    return one, other, present
