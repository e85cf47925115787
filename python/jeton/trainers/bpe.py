"""Trains byte pair encodings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
from jeton.corpus import Progress, merging
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.tokenizer import Tokenizer
from jeton.trainers._base import WordTrainer
from jeton.word_counts import Corpus

__all__ = ["BPETrainer"]


class BPETrainer(WordTrainer):
    r"""Trains byte pair encodings: the most frequent pair of neighbours becomes a token, and again.

    Args:
        vocab_size: How many tokens there are in the end, special ones and alphabet included; or
            several such sizes, for `train_all`.
        pattern: How text is cut into words, which no merge crosses: the name of a known pattern
            (`"gpt2"`, `"gpt4"`, `"gpt4o"`, `"llama3"`, `"qwen2"`, `"whitespace"`, `"none"`, …), or
            an expression in tiktoken's dialect whose matches are the words.
        normalizer: What happens to text first.
        pre_tokenizer: How text is cut, where a pattern cannot say it; instead of `pattern`.
        post_processor: The special tokens around a text, for the tokenizer that comes out.
        decoder: From tokens back to text, likewise; by default the one that fits.
        special_tokens: Special tokens; they have the first ids, and no word spans one.
        min_frequency: A pair less frequent than this is not merged.
        max_token_length: Two tokens are merged only if they have fewer bytes (or characters, as
            the alphabet has it) than this together.
        alphabet: What a word is before the first merge: its `"bytes"`, all 256 of which are in the
            vocabulary, or its `"characters"`.
        initial_alphabet: Characters that are in the alphabet though the corpus may lack them.
        limit_alphabet: How many characters the alphabet may have; the rarest are dropped.
        character_coverage: What share of the corpus's characters the alphabet shall make up, as
            `0.9995`; the rarest beyond that are dropped.
        unk_token: What stands for a character outside the alphabet; one of `special_tokens`.
        continuing_subword_prefix: Put before each character but the first of a word, as `"##"`.
        end_of_word_suffix: Put after the last character of a word, as `"</w>"`.
        separate_suffix: The suffix is a symbol of its own, not a part of the last character.
        tie_break: Which of equally frequent pairs is merged first: that with the smallest left,
            then right id (`"huggingface"`); the greatest (`"lexicographic"`) or smallest
            (`"alphabetic"`) pair of byte strings; the one met `"first"`.

    Raises:
        ArgumentError: A parameter that makes no sense, by name.

    Example:
        >>> import jeton
        >>> trainer = jeton.BPETrainer(
        ...     vocab_size=12, pattern="whitespace", alphabet="characters", tie_break="first"
        ... )
        >>> tok = trainer.train(["a refrain from rain in a train"])
        >>> tok.merges
        [(b'i', b'n'), (b'r', b'a'), (b'ra', b'in')]
    """

    def __init__(
        self,
        vocab_size: int | Sequence[int] = 30_000,
        *,
        pattern: str | None = None,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        special_tokens: Iterable[str] = (),
        min_frequency: int = 0,
        max_token_length: int | None = None,
        alphabet: Literal["bytes", "characters"] = "bytes",
        initial_alphabet: Iterable[str] = (),
        limit_alphabet: int | None = None,
        character_coverage: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        separate_suffix: bool = False,
        tie_break: Literal["huggingface", "lexicographic", "alphabetic", "first"] = "huggingface",
    ) -> None:
        self.vocab_sizes = _sizes(vocab_size)
        super().__init__(
            {
                "vocab_size": max(self.vocab_sizes),
                "min_frequency": min_frequency,
                "max_token_length": max_token_length,
                "alphabet": alphabet,
                "initial_alphabet": list(initial_alphabet),
                "limit_alphabet": limit_alphabet,
                "character_coverage": character_coverage,
                "unk_token": unk_token,
                "continuing_subword_prefix": continuing_subword_prefix,
                "end_of_word_suffix": end_of_word_suffix,
                "separate_suffix": separate_suffix,
                "tie_break": tie_break,
            },
            pattern=pattern,
            default_pattern="gpt4",
            normalizer=normalizer,
            pre_tokenizer=pre_tokenizer,
            post_processor=post_processor,
            decoder=decoder,
            special_tokens=special_tokens,
        )

    def train(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        watch: Callable[[Progress], None] | None = None,
    ) -> Tokenizer:
        """The tokenizer that a corpus asks for; of several sizes, the largest.

        The result depends on the corpus alone, not on the number of threads.

        Args:
            data: An iterable of texts; or the path of a file of UTF-8, of a folder of such files,
                or a pattern of paths such as `"corpus/*.txt"`; or a list of `pathlib.Path`; or
                `WordCounts`. A file is taken line by line. Files may be compressed by gzip or
                Zstandard; `.jsonl` and `.ndjson` are JSON lines, `.parquet` is a table.
            field: The field of JSON lines, or the column of a table, that holds the text; `"text"`
                if not given. Given, every file that is no table is taken to be JSON lines.
            errors: What becomes of bytes that are not UTF-8: an error, U+FFFD, or nothing.
            watch: Called every now and then with how far the work has come.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A `vocab_size` that does not hold the special tokens and the alphabet.
        """
        largest = max(self.vocab_sizes)
        return self._train([largest], data, field, errors, watch)[largest]

    def train_all(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        watch: Callable[[Progress], None] | None = None,
    ) -> dict[int, Tokenizer]:
        """The tokenizers of all sizes, by size, from one run; each is what training for it gives.

        Args:
            data: As for `train`.
            field: As for `train`.
            errors: As for `train`.
            watch: As for `train`.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A size that does not hold the special tokens and the alphabet.

        Example:
            >>> import jeton
            >>> trainer = jeton.BPETrainer([257, 258], pattern="whitespace")
            >>> {size: tok.merges for size, tok in trainer.train_all(["hello hello help"]).items()}
            {257: [(b'e', b'l')], 258: [(b'e', b'l'), (b'h', b'el')]}
        """
        return self._train(self.vocab_sizes, data, field, errors, watch)

    def _train(
        self,
        sizes: Sequence[int],
        data: Corpus,
        field: str | None,
        errors: str,
        watch: Callable[[Progress], None] | None,
    ) -> dict[int, Tokenizer]:
        counts = self._counts(data, field, errors, watch)
        trained = counts.train_bpe(self.parameters, list(sizes), merging(watch))
        return {
            size: self._tokenizer(models.from_core(model))
            for size, model in zip(sizes, trained, strict=True)
        }

    def _decoder(self) -> decoders.Decoder:
        if self.parameters["alphabet"] == "bytes":
            return decoders.ByteLevel()
        if self.parameters["end_of_word_suffix"]:
            return decoders.BPEDecoder(self.parameters["end_of_word_suffix"])
        if self.parameters["continuing_subword_prefix"]:
            return decoders.WordPiece(self.parameters["continuing_subword_prefix"], cleanup=False)
        return decoders.Fuse()


def _sizes(vocab_size: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(vocab_size, int):
        return (vocab_size,)
    if isinstance(vocab_size, (list, tuple, range)) and all(
        isinstance(size, int) for size in vocab_size
    ):
        if not vocab_size:
            raise ArgumentError("vocab_size holds no sizes; give at least one")
        return tuple(sorted(set(vocab_size)))
    raise ArgumentTypeError(
        f"vocab_size must be an int or a list of int, not {type(vocab_size).__name__}"
    )
