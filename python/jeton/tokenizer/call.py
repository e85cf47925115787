"""`tok(texts)`: batches as models take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from jeton.argument_types import SpecialPolicy, Texts
from jeton.arguments import names_checked
from jeton.encoding.base_tokenizer import BaseTokenizer

if TYPE_CHECKING:
    from jeton.encoding.calls import BatchEncoding


class CallMethods(BaseTokenizer):
    """The call of a `Tokenizer`: `tok(texts)`."""

    __slots__ = ()

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
        """Encodes texts as rows for a model, as the fast tokenizers of transformers do.

        The result equals theirs for the same tokenizer, with two differences: special tokens in
        text are text unless `special` says otherwise, and the padding and truncation of a
        `tokenizer.json` apply unless the call sets its own. Many texts are encoded on all cores.

        Args:
            text: A text, or a batch: texts, pairs of texts, or an Arrow column. With
                `is_split_into_words`, each text is a list of words.
            text_pair: A second text, for models that take two; for a batch, one per text.
            text_target, text_pair_target: Texts whose ids become `labels`. Without `text`, they
                are encoded in its place.
            add_special_tokens: Whether the post-processor adds its special tokens.
            padding: `True` or `"longest"` pads rows to the longest; `"max_length"` pads them to
                `max_length`, or to the limit of the model; `False` does not pad. By default as in
                the `tokenizer.json`, if it has a padding section.
            truncation: `True` or `"longest_first"` truncates the longer of two texts first,
                `"only_first"` and `"only_second"` one of them, `False` none. By default as in the
                `tokenizer.json`; if it has no such section, `max_length` truncates unless
                `padding` is given.
            max_length: The maximum number of tokens per row, including special tokens; by default
                the limit of the model.
            stride: How many tokens a window shares with the one before.
            is_split_into_words: Whether a text is a list of words, each encoded separately.
            pad_to_multiple_of: Round the length of padded rows up to a multiple of this.
            padding_side, truncation_side: Where padding goes, and which side loses tokens; by
                default as in the tokenizer's configuration, or else on the right.
            return_tensors: `"np"` for arrays of int64, `"pt"` for tensors; otherwise lists.
            return_token_type_ids, return_attention_mask: Whether to return these columns; by
                default if the model takes them.
            return_overflowing_tokens: Whether a truncated text has one row per window; the windows
                together hold all of its tokens. For two truncated texts, there is one row per
                window of the first and window of the second.
            return_special_tokens_mask, return_offsets_mapping, return_length: Whether to return
                these columns.
            unit: What offsets count: `"characters"`, `"bytes"` of UTF-8, or `"utf-16"` code units.
            special: What special tokens in a text mean; see `SpecialPolicy`.
            nulls: How to handle entries of a batch that are None or NaN: raise an error that names
                the first of them, or return no tokens for them (`"empty"`).
            verbose: Whether to warn about arguments that have no effect.

        Raises:
            ArgumentError: Arguments that are invalid or contradict each other; no room for special
                tokens or windows; padding without a pad token; tensors of rows that differ in
                length.
            ArgumentTypeError: An entry that is not a text; the message says where.
            FormatError: The padding or truncation section of a `tokenizer.json` breaks the format.
            UnsupportedError: Windows, although a template repeats a text.
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
        from jeton.encoding.calls import CallArguments, caller_of

        return caller_of(self)(CallArguments.checked(locals()))
