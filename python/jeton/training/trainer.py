"""Base classes of trainers: counting, training, and the stages around a model of words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import call_text, names_checked
from jeton.components import (
    AddedToken,
    decoders,
    normalizers,
    post_processors,
    pre_tokenizers,
)
from jeton.components.component import check_stage
from jeton.corpora.corpus import warn
from jeton.corpora.counting import (
    TOKEN_NEEDS,
    Counting,
    Cutting,
    Needs,
    Reading,
    checked_limits,
    count_words,
    counted_words,
    first_stages,
)
from jeton.corpora.progress import Progress
from jeton.corpora.word_counts import Corpus, WordCounts
from jeton.errors import ArgumentError, TrainingError
from jeton.loading.patterns import named_pre_tokenizer
from jeton.tokenizer import Tokenizer
from jeton.training.known_tokens import checked_tokens, shown
from jeton.training.languages import Corpora, refuse_languages

Algorithm: TypeAlias = Literal[
    "bpe", "wordpiece", "word_level", "unigram", "sentencepiece unigram", "sentencepiece bpe"
]

Phase: TypeAlias = Literal["merging", "seeding", "fitting"]

CoreWatch: TypeAlias = Callable[[Phase, int, int], None]
"""Called by the core during training, with the phase, the number of steps so far and in all."""


def core_watch(watch: Callable[[Progress], None] | None) -> CoreWatch | None:
    """A function for the core that calls `watch` with a `Progress`."""
    if watch is None:
        return None
    return lambda phase, done, total: watch(Progress(phase, done, total))


class Trainer:
    """Base class of all trainers: turns a corpus into words, and these into a tokenizer."""

    @names_checked
    def train(
        self,
        data: Corpus | Corpora,
        *,
        development: Corpora | None = None,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        documents: Literal["file", "line"] | str = "file",
        bad_records: Literal["error", "drop"] = "error",
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> Tokenizer:
        """Trains a tokenizer on a corpus; with several sizes, returns the largest.

        The result depends on the texts and how often each occurs; if ties are broken by the first
        occurrence, also on their order. It never depends on the number of threads.

        Args:
            data: An iterable of texts; or the path of a UTF-8 file, of a folder of such files, or
                a pattern of paths such as `"corpus/*.txt"`; or an iterable of `pathlib.Path`; or
                `WordCounts`; or a column, a table or a data set with texts or their UTF-8, as
                pyarrow, polars and Hugging Face have them. Files may be compressed by gzip,
                Zstandard or xz; `.jsonl` and `.ndjson` are JSON lines, `.csv` and `.tsv` have a
                header, `.parquet` is a table; a file that is not text, a JSON document or a file of
                counts is an error.
                In a folder and its subfolders, all files are read unless their names begin
                with a dot; links are followed, but each folder is read once. A file that occurs
                twice, by another name or through a link, is read once, with a warning.

                A byte order mark at the beginning of a file is left out. A field or a cell that is
                null is not a text.

                With `BPETrainer(languages=...)`, a mapping of names of languages to such corpora.
            development: With `BPETrainer(languages=...)`, a text for each language by which it is
                judged how well it is compressed: as `data`, and parallel, that is, the same
                sentences in each language.
            field: The field of JSON lines, or the column of a table, with the text; by default
                `"text"`. If it is given, every file except tables is read as JSON lines.
            errors: How to handle bytes that are not UTF-8, and lone surrogates (in a text, or
                escaped in JSON): raise an error, replace them by U+FFFD, or leave them out.
            documents: What a document of a text file is. `"file"`: the whole file, as in
                `jeton.data.prepare` and the commands; words are those of encoding the file, and
                runs of line ends are learnt. `"line"`: each line with its line end, as `tokenizers`
                reads files; `sentencepiece` takes lines too. Then no word crosses lines. Any other
                text is the separator of two documents, such as `"\\n\\n"` or
                `"<|endoftext|>"`, and belongs to none.
            bad_records: Whether a record, row, line or text that cannot be read is an error with
                its place (`"error"`) or is left out (`"drop"`), with a warning that says how many.
                A file that is one document is always an error.
            memory: The maximum memory of counting and training, besides the interpreter, pyarrow
                and texts in memory: `"4GB"`, or in bytes, at least `"32MB"`. Beyond it, counts are
                written to disk and merged from there, with the same result. The distinct words must
                fit in the end; if they do not, an error says which `min_word_count` would be
                enough. A line or text that cannot be split before it is normalized must fit too.
            temp_dir: The folder for temporary files; by default the system's. The files have no
                names, so none of them remain, however training ends.
            watch: Called from time to time, and at the end of each phase, with a `Progress`.

        Raises:
            ArgumentError: `WordCounts` that this trainer would have counted in another way.
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A corpus without words, or too small for `vocab_size`; words that need
                more than `memory`.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(258, pattern="whitespace").train(["hello hello help"])
            >>> tok.vocab.merges
            [(b'e', b'l'), (b'h', b'el')]
        """
        reading = Reading.of(locals())
        return self._trained(data, development, reading)

    @names_checked
    def count(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        documents: Literal["file", "line"] | str = "file",
        bad_records: Literal["error", "drop"] = "error",
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> WordCounts:
        """The words of a corpus as this trainer splits it, to save them and to train from them.

        For `CharTrainer` a word is a character, and for `UnigramTrainer` in SentencePiece style a
        whole text.

        Args:
            data, field, errors, documents, bad_records, memory, temp_dir: As for `train`.
            checkpoint: A file that keeps the counts so far, for files that take long. It is written
                every half minute, after about 256 MB of lines or after whole files; if counting is
                stopped or killed, the same call resumes from it. It stays when counting is done.
                The counts so far take memory besides `memory`.
            watch: As for `train`.

        Raises:
            ArgumentError: `WordCounts` that this trainer would have counted in another way.
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            FileError: A checkpoint of other files or settings, or one that cannot be written.
            TrainingError: Words that need more than `memory`.

        Example:
            >>> import jeton
            >>> trainer = jeton.BPETrainer(258, pattern="whitespace")
            >>> counts = trainer.count(["hello hello help"])
            >>> counts.items()
            [('hello', 2), ('help', 1)]
            >>> trainer.train(counts).vocab.merges
            [(b'e', b'l'), (b'h', b'el')]
        """
        reading = Reading.of(locals())
        refuse_languages(data, None)
        return WordCounts.of_core(self._counts(data, reading))

    def _trained(self, data: Any, development: Any, reading: Reading) -> Tokenizer:
        """The tokenizer trained on a corpus."""
        refuse_languages(data, development)
        counts = self._counts(data, reading)
        self._check_words(counts)
        return self._train(counts, core_watch(reading.watch))

    def _counts(self, data: Corpus, reading: Reading) -> _core.WordCounts:
        """The words of a corpus, or of `WordCounts` after a check of how they were counted."""
        if isinstance(data, WordCounts):
            return counted_words(data.core, self._counting(), reading)
        return count_words(data, self._counting(), reading)

    def _counting(self) -> Counting:
        """How this trainer counts words."""
        raise NotImplementedError

    def _check_words(self, counts: _core.WordCounts) -> None:
        """Raises for a corpus without words."""
        if not len(counts):
            raise TrainingError(
                "the corpus has no words to learn from (is it empty, min_word_count too high, or "
                "does the pattern find nothing in it?)"
            )

    def _tokenizer(self, model: _core.Model) -> Tokenizer:
        """The model with the stages around it."""
        raise NotImplementedError

    def _train(self, counts: _core.WordCounts, watch: CoreWatch | None) -> Tokenizer:
        """The tokenizer trained on words; warns if its size differs from `vocab_size`."""
        model = _core.train(self._algorithm, counts, self.parameters, watch)
        tokenizer = self._tokenizer(model)
        warn_if_short(self.parameters["vocab_size"], tokenizer, self._lacking)
        return tokenizer

    _algorithm: Algorithm
    """The core's name of the algorithm."""

    _lacking = "pairs to merge"
    """What a corpus has too few of if the vocabulary stays small."""

    parameters: dict[str, Any]
    """The parameters of the algorithm, by name."""

    _given: dict[str, Any]
    """The arguments that the constructor was called with, from `names_checked`."""

    _arguments: dict[str, Any]
    """All arguments of the constructor, with defaults."""

    def _essentials(self) -> dict[str, object]:
        """The parameters that `repr` shows even if they are not arguments."""
        raise NotImplementedError

    def __repr__(self) -> str:
        essential = self._essentials()
        rest = {
            name: value
            for name, value in self._given.items()
            if name not in ("new_tokens", "pattern", "user_defined_symbols", *essential)
        }
        return call_text(self, essential | rest)


class WordTrainer(Trainer):
    """Base class of trainers from words: the stages around the model."""

    def __init__(
        self,
        parameters: dict[str, Any],
        *,
        default_pattern: str | None = None,
        **changed: Any,
    ) -> None:
        """Checks the stages around the model, given by the trainer's arguments or `changed`."""
        given = {"pattern": None, "min_word_count": 0, **self._arguments, **changed}
        self.known_tokens = checked_tokens(given["special_tokens"], given["user_defined_symbols"])
        unk_token, start = parameters.get("unk_token"), parameters.get("start")
        old = {token for token, _ in start[0]} if start else set()
        spellings = [token.content for token in self.known_tokens]
        if unk_token and unk_token not in spellings and unk_token.encode() not in old:
            self.known_tokens = (AddedToken(unk_token, special=True), *self.known_tokens)
            spellings.insert(0, unk_token)
        self.parameters = {**parameters, "special_tokens": spellings}
        _core.check_trainer(self._algorithm, self.parameters)
        if parameters.get("alphabet") == "bytes":
            _warn_of_taken_bytes(self.known_tokens)
        self.max_word_length, self.min_word_count = checked_limits(
            given["max_word_length"], given["min_word_count"]
        )
        pattern, pre_tokenizer = given["pattern"], given["pre_tokenizer"]
        if pattern is not None and pre_tokenizer is not None:
            raise ArgumentError("pattern and pre_tokenizer both split text; give one")
        if pattern is None and pre_tokenizer is None:
            pattern = default_pattern
        self.pattern: str | Sequence[str] | None = pattern
        self.normalizer: normalizers.Normalizer | None = given["normalizer"]
        self.pre_tokenizer: pre_tokenizers.PreTokenizer | None = (
            pre_tokenizer if pattern is None else named_pre_tokenizer(pattern)
        )
        self.post_processor: post_processors.PostProcessor | None = given["post_processor"]
        self.decoder: decoders.Decoder | None = given["decoder"]
        check_stage(post_processors.PostProcessor, self.post_processor)
        check_stage(decoders.Decoder, self.decoder)
        self._check_frame()
        self._first_stages()

    def _check_frame(self) -> None:
        """Raises if the post-processor has a special token with another id than training will."""
        ids = self._special_ids()
        for name, id in () if self.post_processor is None else self.post_processor._tokens():
            if ids.get(name, id) != id:
                raise ArgumentError(
                    f"post_processor gives {name!r} the id {id}; among special_tokens it has "
                    f"{ids[name]}"
                )

    def _special_ids(self) -> dict[str, int]:
        """The ids of special tokens that are known before training."""
        return {token.content: id for id, token in enumerate(self.known_tokens)}

    def _needs(self) -> Needs:
        """The maximum memory of training."""
        return TOKEN_NEEDS * self.parameters["vocab_size"], 64, 32

    def _first_stages(self) -> Cutting:
        is_raw = self.parameters.get("alphabet") == "bytes"
        return first_stages(self.normalizer, self._splitter(), self._boundaries(), is_raw=is_raw)

    def _splitter(self) -> pre_tokenizers.PreTokenizer | None:
        """Splits text into the words to train from."""
        return self.pre_tokenizer

    def _boundaries(self) -> tuple[AddedToken, ...]:
        """The tokens that are known before training, which no word contains."""
        return self.known_tokens

    def _counting(self) -> Counting:
        return Counting(
            self._first_stages(), self._needs(), self.max_word_length, self.min_word_count
        )

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
        return [replace(token, id=id) for id, token in enumerate(self.known_tokens)]

    def _decoder(self) -> decoders.Decoder | None:
        raise NotImplementedError

    def _essentials(self) -> dict[str, object]:
        how = {} if self.pattern is None else {"pattern": self.pattern}
        return {
            "vocab_size": self.parameters["vocab_size"],
            **how,
            "special_tokens": shown(self.known_tokens),
        }


def _warn_of_taken_bytes(tokens: Iterable[AddedToken]) -> None:
    """Warns about special tokens that take the place of a byte, which text then never becomes."""
    taken = [it.content for it in tokens if it.special and len(it.content) == 1]
    taken = [it for it in taken if "!" <= it <= "~"]
    if taken:
        warn(
            f"special_tokens has {', '.join(map(repr, taken))}, which is also the token of a byte: "
            'text with it cannot be encoded but with special="allow" (give the special token '
            "another spelling)"
        )


def warn_if_short(vocab_size: int, tokenizer: Tokenizer, lacking: str) -> None:
    """Warns if there are fewer tokens than `vocab_size`, or more: the alphabet is kept whole."""
    if tokenizer.vocab_size > vocab_size:
        warn(
            f"vocab_size={vocab_size:,} is below the {tokenizer.vocab_size:,} special tokens and "
            "characters of the alphabet, so nothing was merged"
        )
    if tokenizer.vocab_size < vocab_size:
        warn(
            f"vocab_size={vocab_size:,} was not reached: the corpus has enough {lacking} for only "
            f"{tokenizer.vocab_size:,} tokens"
        )
