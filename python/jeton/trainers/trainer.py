"""What trainers share: counting, and the stages around a model of words or their parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal

from jeton import _core
from jeton.arguments import checked_texts, names_checked, shown
from jeton.components import (
    AddedToken,
    decoders,
    normalizers,
    post_processors,
    pre_tokenizers,
)
from jeton.components.component import check_stage
from jeton.corpus import Progress, warn
from jeton.counting import (
    MAX_WORD_LENGTH,
    TOKEN_NEEDS,
    Counting,
    Cutting,
    Needs,
    Reading,
    checked_limits,
    count_words,
    counted_words,
    first_stages,
    named_pre_tokenizer,
)
from jeton.errors import ArgumentError, TrainingError
from jeton.tokenizer import Tokenizer
from jeton.word_counts import Corpus, WordCounts

__all__ = ["Trainer", "WordTrainer", "warn_if_short"]


class Trainer:
    """What all trainers share: from a corpus to the words that are learnt from."""

    @names_checked
    def count(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> WordCounts:
        """The words of a corpus as this trainer cuts it, to be saved and trained from.

        For `CharTrainer` a word is a character, and for `UnigramTrainer` in SentencePiece style a
        whole text.

        Args:
            data: As for `train`.
            field: As for `BPETrainer.train`.
            errors: As for `BPETrainer.train`.
            memory: As for `BPETrainer.train`.
            temp_dir: As for `BPETrainer.train`.
            watch: As for `BPETrainer.train`.

        Raises:
            ArgumentError: `WordCounts` that this trainer would have counted otherwise.
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: Words that need more than `memory`.

        Example:
            >>> import jeton
            >>> trainer = jeton.BPETrainer(258, pattern="whitespace")
            >>> counts = trainer.count(["hello hello help"])
            >>> counts.items()
            [('hello', 2), ('help', 1)]
            >>> trainer.train(counts).merges
            [(b'e', b'l'), (b'h', b'el')]
        """
        reading = Reading(field=field, errors=errors, memory=memory, temp_dir=temp_dir, watch=watch)
        return WordCounts.of_core(self._counts(data, reading))

    def _counts(self, data: Corpus, reading: Reading) -> _core.WordCounts:
        """The words of a corpus, or those of `WordCounts` that this trainer would have counted."""
        if isinstance(data, WordCounts):
            return counted_words(data, self._counting(), reading)
        return count_words(data, self._counting(), reading)

    def _counting(self) -> Counting:
        """What this trainer counts."""
        raise NotImplementedError

    _given: dict[str, Any]
    """The arguments that it was made with."""

    def _essentials(self) -> dict[str, Any]:
        """The parameters that are shown though they were not given."""
        raise NotImplementedError

    def __repr__(self) -> str:
        essential = self._essentials()
        rest = {
            name: value
            for name, value in self._given.items()
            if name not in ("new_tokens", "pattern", *essential)
        }
        return shown(self, essential | rest)


class WordTrainer(Trainer):
    """What trainers from words share: the stages around the model."""

    def __init__(
        self,
        parameters: dict[str, Any],
        *,
        pattern: str | None,
        default_pattern: str | None,
        normalizer: normalizers.Normalizer | None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None,
        post_processor: post_processors.PostProcessor | None,
        decoder: decoders.Decoder | None,
        special_tokens: Iterable[str],
        max_word_length: int | None = MAX_WORD_LENGTH,
        min_word_count: int = 0,
    ) -> None:
        self.special_tokens = checked_texts("special_tokens", special_tokens)
        self.parameters = {**parameters, "special_tokens": list(self.special_tokens)}
        self._check_parameters()
        self.max_word_length, self.min_word_count = checked_limits(max_word_length, min_word_count)
        if pattern is not None and pre_tokenizer is not None:
            raise ArgumentError("pattern and pre_tokenizer both say how text is cut; give one")
        if pattern is None and pre_tokenizer is None:
            pattern = default_pattern
        self.pattern = pattern
        self.normalizer = normalizer
        self.pre_tokenizer = pre_tokenizer if pattern is None else named_pre_tokenizer(pattern)
        self.post_processor = post_processor
        self.decoder = decoder
        check_stage(post_processors.PostProcessor, post_processor)
        check_stage(decoders.Decoder, decoder)
        self._first_stages()

    def _check_parameters(self) -> None:
        """Refuses parameters that make no sense."""
        _core.check_bpe_training(self.parameters)

    def _needs(self) -> Needs:
        """The memory that training needs at most."""
        return TOKEN_NEEDS * self.parameters["vocab_size"], 64, 32

    def _first_stages(self) -> Cutting:
        is_raw = self.parameters.get("alphabet") == "bytes"
        return first_stages(self.normalizer, self._cutter(), self._boundaries(), is_raw=is_raw)

    def _cutter(self) -> pre_tokenizers.PreTokenizer | None:
        """What cuts text into the words that are trained from."""
        return self.pre_tokenizer

    def _boundaries(self) -> tuple[str, ...]:
        """The special tokens, which no word spans."""
        return self.special_tokens

    def _counting(self) -> Counting:
        return Counting(
            self._first_stages(), self._needs(), self.max_word_length, self.min_word_count
        )

    def _words(self, data: Corpus, reading: Reading) -> _core.WordCounts:
        """The words to train from, of which there must be some."""
        counts = self._counts(data, reading)
        if not len(counts):
            raise TrainingError(
                "the corpus has no words to learn from (is it empty, min_word_count too high, or "
                "does the pattern find nothing in it?)"
            )
        return counts

    def _tokenizer(self, model: _core.Model) -> Tokenizer:
        return Tokenizer._of_trained(
            model,
            normalizer=self.normalizer,
            pre_tokenizer=self.pre_tokenizer,
            post_processor=self.post_processor,
            decoder=self._decoder() if self.decoder is None else self.decoder,
            added_tokens=self._added_tokens(model),
        )

    def _added_tokens(self, model: _core.Model) -> list[AddedToken]:
        return [AddedToken(token, id, special=True) for id, token in enumerate(self.special_tokens)]

    def _decoder(self) -> decoders.Decoder | None:
        raise NotImplementedError

    def _essentials(self) -> dict[str, Any]:
        how = {} if self.pattern is None else {"pattern": self.pattern}
        return {
            "vocab_size": self.parameters["vocab_size"],
            **how,
            "special_tokens": list(self.special_tokens),
        }


def warn_if_short(asked: int, tokenizer: Tokenizer, what: str = "pairs to merge") -> None:
    """Warns if there are fewer tokens than were asked for, or more: an alphabet is kept whole."""
    if tokenizer.vocab_size > asked:
        warn(
            f"vocab_size={asked:,} is below the {tokenizer.vocab_size:,} tokens that the special "
            "tokens and the alphabet are, so nothing was merged"
        )
    if tokenizer.vocab_size < asked:
        warn(
            f"vocab_size={asked:,} was not reached: the corpus has no more {what} than for "
            f"{tokenizer.vocab_size:,} tokens"
        )
