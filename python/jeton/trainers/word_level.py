"""Trains word-level models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Literal

from jeton import _core
from jeton.arguments import check_text, checked_int, checked_texts, names_checked
from jeton.components import decoders, normalizers, post_processors, pre_tokenizers
from jeton.corpus import Progress
from jeton.counting import MAX_WORD_LENGTH, Reading
from jeton.errors import ArgumentError
from jeton.tokenizer import Tokenizer
from jeton.trainers.trainer import WordTrainer, warn_if_short
from jeton.word_counts import Corpus

__all__ = ["WordLevelTrainer"]


class WordLevelTrainer(WordTrainer):
    """Trains word-level models: the most frequent words are the tokens.

    Of equally frequent words, those come first that do in the order of code points, as in
    tokenizers.

    Args:
        vocab_size: How many tokens there are at most, special ones included.
        pattern: How text is cut into words, as for `BPETrainer`; `"whitespace"` if nothing is
            given.
        normalizer: What happens to text first.
        pre_tokenizer: How text is cut, where a pattern cannot say it; instead of `pattern`.
        post_processor: The special tokens around a text, for the tokenizer that comes out.
        decoder: From tokens back to text, likewise; by default they are joined by spaces.
        special_tokens: Special tokens; they have the first ids, and no word spans one.
        unk_token: What stands for a word that is no token, one of `special_tokens`; `None`: such a
            word is an error.
        min_frequency: A word less frequent than this is left out.
        max_word_length: As for `BPETrainer`.

    Raises:
        ArgumentError: A parameter that makes no sense, by name.

    Example:
        >>> import jeton
        >>> tok = jeton.WordLevelTrainer(6).train(["to be or not to be", "to see"])
        >>> tok.encode("to be or to sea")
        [1, 2, 4, 1, 0]
        >>> tok.decode([1, 2])
        'to be'
    """

    @names_checked
    def __init__(
        self,
        vocab_size: int = 30_000,
        *,
        pattern: str | None = None,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        special_tokens: Iterable[str] = ("[UNK]",),
        unk_token: str | None = "[UNK]",
        min_frequency: int = 0,
        max_word_length: int | None = MAX_WORD_LENGTH,
    ) -> None:
        if unk_token is not None and not check_text("unk_token", unk_token):
            raise ArgumentError("unk_token is empty; name it, or set unk_token=None")
        super().__init__(
            {
                "vocab_size": checked_int("vocab_size", vocab_size, 0),
                "min_frequency": min_frequency,
                "unk_token": unk_token,
            },
            pattern=pattern,
            default_pattern="whitespace",
            normalizer=normalizer,
            pre_tokenizer=pre_tokenizer,
            post_processor=post_processor,
            decoder=decoder,
            special_tokens=checked_texts("special_tokens", special_tokens),
            max_word_length=max_word_length,
        )

    @names_checked
    def train(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> Tokenizer:
        """The tokenizer that a corpus asks for.

        Args:
            data: As for `BPETrainer.train`.
            field: As for `BPETrainer.train`.
            errors: As for `BPETrainer.train`.
            memory: As for `BPETrainer.train`.
            temp_dir: As for `BPETrainer.train`.
            watch: As for `BPETrainer.train`.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A corpus without words; words that need more than `memory`.

        Example:
            >>> import jeton
            >>> trainer = jeton.WordLevelTrainer(3, special_tokens=[], unk_token=None)
            >>> trainer.train(["b a b a c"]).vocab
            Vocabulary({b'a': 0, b'b': 1, b'c': 2})
        """
        reading = Reading(field=field, errors=errors, memory=memory, temp_dir=temp_dir, watch=watch)
        model = self._words(data, reading).train_word_level(self.parameters)
        tokenizer = self._tokenizer(model)
        warn_if_short(self.parameters["vocab_size"], tokenizer, "words")
        return tokenizer

    def _check_parameters(self) -> None:
        _core.check_word_level_training(self.parameters)

    def _decoder(self) -> None:
        return None
