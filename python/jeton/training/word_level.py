"""Trains word-level models."""

from __future__ import annotations

from collections.abc import Sequence

from jeton.arguments import check_text, checked_int, names_checked
from jeton.components import decoders, normalizers, post_processors, pre_tokenizers
from jeton.corpora.counting import MAX_WORD_LENGTH
from jeton.errors import ArgumentError
from jeton.training.known_tokens import SpecialTokens
from jeton.training.trainer import WordTrainer


class WordLevelTrainer(WordTrainer):
    """Trains word-level models: the most frequent words are the tokens.

    Equally frequent words are in the order of code points, as in tokenizers.

    Args:
        vocab_size: The maximum size of the vocabulary, including special tokens.
        pattern: How text is split into words, as for `BPETrainer`; by default `"whitespace"`.
        normalizer: Changes the text first.
        pre_tokenizer: Splits the text, if a pattern is not enough; instead of `pattern`.
        post_processor: The post-processor of the trained tokenizer.
        decoder: The decoder of the trained tokenizer; by default tokens are joined by spaces.
        special_tokens: As for `BPETrainer`; they have the first ids.
        user_defined_symbols: As for `BPETrainer`.
        unk_token: The token for a word outside of the vocabulary; a special token, with id 0 unless
            it is in `special_tokens`. With `None`, such a word is an error.
        min_frequency: A word less frequent than this is left out.
        max_word_length: As for `BPETrainer`.

    Raises:
        ArgumentError: A parameter has an invalid value; the message names it.

    Example:
        >>> import jeton
        >>> tok = jeton.WordLevelTrainer(6).train(["to be or not to be", "to see"])
        >>> tok.encode("to be or to sea")
        [1, 2, 4, 1, 0]
        >>> tok.decode([1, 2])
        'to be'
    """

    _algorithm = "word_level"
    _lacking = "words"

    @names_checked
    def __init__(
        self,
        vocab_size: int = 30_000,
        *,
        pattern: str | Sequence[str] | None = None,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        special_tokens: SpecialTokens = ("[UNK]",),
        user_defined_symbols: SpecialTokens = (),
        unk_token: str | None = "[UNK]",
        min_frequency: int = 0,
        max_word_length: int | None = MAX_WORD_LENGTH,
    ) -> None:
        if unk_token is not None and not check_text("unk_token", unk_token):
            raise ArgumentError(
                "unk_token is empty", hint="name it, or set unk_token=None", parameter="unk_token"
            )
        super().__init__(
            {
                "vocab_size": checked_int("vocab_size", vocab_size, 0),
                "min_frequency": min_frequency,
                "unk_token": unk_token,
            },
            default_pattern="whitespace",
        )

    def _decoder(self) -> None:
        return None
