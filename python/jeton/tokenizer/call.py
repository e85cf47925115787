"""`tok(texts)`: batches as models take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from jeton.argument_types import SpecialPolicy, Texts
from jeton.arguments import names_checked
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.loading.settings import NO_SETTINGS, Settings

if TYPE_CHECKING:
    from jeton._core import Pipeline
    from jeton.encoding.calls import BatchEncoding, Caller

__all__ = ["Calls"]


class Calls(BaseTokenizer):
    """The part of `Tokenizer` for `tok(texts)`."""

    __slots__ = ("_caller",)

    _caller: Caller | None

    def _set_core(self, core: Pipeline, settings: Settings = NO_SETTINGS) -> None:
        super()._set_core(core, settings)
        self._caller = None

    @names_checked
    def __call__(
        self,
        text: Texts | None = None,
        text_pair: Texts | None = None,
        text_target: Texts | None = None,
        text_pair_target: Texts | None = None,
        *,
        add_special_tokens: bool = True,
        padding: bool | str | None = None,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int | None = None,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: Literal["right", "left"] | None = None,
        truncation_side: Literal["right", "left"] | None = None,
        return_tensors: Literal["np", "pt"] | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        unit: Literal["characters", "bytes", "utf-16"] = "characters",
        special: SpecialPolicy = "ignore",
        nulls: Literal["raise", "empty"] = "raise",
        verbose: bool = True,
    ) -> BatchEncoding:
        """Texts as the rows that a model takes: the call that fast tokenizers of transformers have.

        The result is theirs for the same tokenizer, but that special tokens in text are text unless
        `special` says otherwise, and that what a `tokenizer.json` says of padding and truncation
        counts where the call says nothing. Many texts are encoded on all cores.

        Args:
            text: A text, or a batch: texts, pairs of texts, or a column of Arrow. With
                `is_split_into_words`, a list of words takes the place of a text.
            text_pair: A second text, for models that take two; for a batch, one to each text.
            text_target, text_pair_target: Texts whose ids become `labels`; without `text`, they
                are encoded as that would be.
            add_special_tokens: Whether the post-processor adds its special tokens.
            padding: `True` or `"longest"` makes rows as long as the longest; `"max_length"` as
                long as `max_length`, or as the model takes; `False` leaves them. By default as the
                `tokenizer.json` says, if it does.
            truncation: `True` or `"longest_first"` cuts the longer of two texts first,
                `"only_first"` and `"only_second"` one of them, `False` none. By default as the
                `tokenizer.json` says; if it does not, `max_length` cuts where rows are not padded.
            max_length: The most tokens of a row, special ones among them; by default what the model
                takes.
            stride: How many tokens a window has in common with the one before.
            is_split_into_words: Whether a text is a list of words, each encoded by itself.
            pad_to_multiple_of: Round the length of padded rows up to a multiple of this.
            padding_side, truncation_side: Where padding goes, and where tokens are taken away; by
                default as the tokenizer's configuration says, or else on the right.
            return_tensors: `"np"` for arrays of int64, `"pt"` for tensors; otherwise lists.
            return_token_type_ids, return_attention_mask: Whether there are such columns; by default
                if the model takes them.
            return_overflowing_tokens: Whether a text that is cut has a row for each of its windows,
                which together hold all of its tokens. Of two texts that are cut, each window of
                the one meets each of the other.
            return_special_tokens_mask, return_offsets_mapping, return_length: Whether there are
                such columns.
            unit: What offsets count: `"characters"`, `"bytes"` of UTF-8, or `"utf-16"` code units.
            special: What special tokens in a text mean; see `SpecialPolicy`.
            nulls: Entries of a batch that are None or NaN: an error that names the first of them,
                or texts without tokens (`"empty"`).
            verbose: Whether there is a warning of arguments that have no effect.

        Raises:
            ArgumentError: Arguments that make no sense, or not together; no room for special
                tokens or windows; padding without a pad token; tensors of rows of several lengths.
            ArgumentTypeError: What is no text, by its place.
            FormatError: A `tokenizer.json` whose padding or truncation is not as its format has it.
            UnsupportedError: Windows where a template repeats a text.
            EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<pad>"]).train("abcde")
            >>> batch = tok(["abc", "e"], padding=True, return_tensors="np")
            >>> batch["input_ids"]
            array([[0, 1, 2],
                   [4, 5, 5]])
            >>> tok("abcde", max_length=3, stride=1, return_overflowing_tokens=True)["input_ids"]
            [[0, 1, 2], [2, 3, 4]]
        """
        from jeton.encoding.calls import Asked, Call, Caller

        if self._caller is None:
            self._caller = Caller(self)
        return self._caller(
            Call(
                text=text,
                text_pair=text_pair,
                text_target=text_target,
                text_pair_target=text_pair_target,
                asked=Asked(
                    padding=padding,
                    truncation=truncation,
                    max_length=max_length,
                    stride=stride,
                    pad_to_multiple_of=pad_to_multiple_of,
                    padding_side=padding_side,
                    truncation_side=truncation_side,
                    verbose=verbose,
                ),
                add_special_tokens=add_special_tokens,
                is_split_into_words=is_split_into_words,
                return_tensors=return_tensors,
                return_token_type_ids=return_token_type_ids,
                return_attention_mask=return_attention_mask,
                return_overflowing_tokens=return_overflowing_tokens,
                return_special_tokens_mask=return_special_tokens_mask,
                return_offsets_mapping=return_offsets_mapping,
                return_length=return_length,
                unit=unit,
                special=special,
                nulls=nulls,
            )
        )
