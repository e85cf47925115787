"""Word counts, from which every trainer starts: count once, train many times."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import (
    check_kind,
    check_text,
    checked_fraction,
    checked_iterable,
    checked_path,
    checked_texts,
    names_checked,
)
from jeton.components import normalizers, pre_tokenizers
from jeton.corpora.corpus import TextsOrFiles
from jeton.corpora.counting import (
    COUNTS_NEED,
    MAX_WORD_LENGTH,
    Counting,
    Reading,
    checked_limits,
    count_words,
    first_stages,
)
from jeton.corpora.progress import Progress
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    UnknownTokenError,
)
from jeton.loading.patterns import named_pre_tokenizer

_MAGIC = b"jeton word counts "

Corpus: TypeAlias = "TextsOrFiles | WordCounts"
"""The data that trainers accept."""


class WordCounts:
    """The distinct words of a corpus with their counts, in the order of their first occurrence.

    The words depend on how text is split, so counts remember their settings: normalizer, pattern or
    pre_tokenizer, special tokens, and `max_word_length` if it split a word. A trainer with other
    settings refuses the counts, and names the difference; a trainer's own `count` always fits.
    Every trainer accepts words that you pass here with their counts, and so
    `WordCounts(counts.items())`, which forgets the settings of `counts`.

    Example:
        >>> import jeton
        >>> counts = jeton.WordCounts.count(["to be or not to be"], pattern="whitespace")
        >>> counts.items()
        [('to', 2), ('be', 2), ('or', 1), ('not', 1)]
        >>> tok = jeton.BPETrainer(258, pattern="whitespace").train(counts)
        >>> tok.vocab.merges
        [(b'b', b'e'), (b't', b'o')]
    """

    __slots__ = ("__weakref__", "core")

    core: _core.WordCounts

    def __init__(self, words: Mapping[str, int] | Iterable[tuple[str, int]] = ()) -> None:
        if isinstance(words, Mapping):
            words = words.items()
        words = checked_iterable("words", words, "pairs of a word and its count")
        self.core = _core.WordCounts.of([_pair(at, pair) for at, pair in enumerate(words)])

    @classmethod
    @names_checked
    def count(
        cls,
        data: str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]],
        *,
        pattern: str | Sequence[str] | None = None,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        special_tokens: Iterable[str] = (),
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        documents: Literal["file", "line"] | str = "file",
        bad_records: Literal["error", "drop"] = "error",
        max_word_length: int | None = MAX_WORD_LENGTH,
        min_word_count: int = 0,
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> WordCounts:
        """Counts the words of a corpus.

        Args:
            data: Texts or files, as `BPETrainer.train` takes them.
            pattern: How text is split, by name or as an expression; by default `"gpt4"`.
            normalizer: The normalizer, applied first.
            pre_tokenizer: How text is split, instead of `pattern`.
            special_tokens: Tokens that no word spans.
            field, errors, documents, bad_records: As for `BPETrainer.train`.
            max_word_length: Longer words are split into words of this many characters and a rest;
                a warning says how often. `None` splits none.
            min_word_count: Words that occur less often are left out; a warning says how many.
            memory: As for `BPETrainer.train`; here the counts must fit into it.
            temp_dir: As for `BPETrainer.train`.
            checkpoint: As for `BPETrainer.count`.
            watch: As for `BPETrainer.train`.

        Raises:
            MissingFileError: A file does not exist.
            FormatError: A file is not UTF-8, or lacks the field.
            TrainingError: The distinct words need more than `memory`.

        Example:
            >>> import jeton
            >>> counts = jeton.WordCounts.count(["low, lower"], pattern="gpt2")
            >>> counts.items()
            [('low', 1), (',', 1), (' lower', 1)]
        """
        if isinstance(data, WordCounts):
            raise ArgumentError("data is word counts already; train from them directly")
        if pattern is not None and pre_tokenizer is not None:
            raise ArgumentError("pattern and pre_tokenizer both say how to split text; pass one")
        if pre_tokenizer is None:
            pre_tokenizer = named_pre_tokenizer("gpt4" if pattern is None else pattern)
        specials = checked_texts("special_tokens", special_tokens)
        max_word_length, min_word_count = checked_limits(max_word_length, min_word_count)
        counting = Counting(
            first_stages(normalizer, pre_tokenizer, specials),
            COUNTS_NEED,
            max_word_length=max_word_length,
            min_word_count=min_word_count,
        )
        reading = Reading.of(locals())
        return cls.of_core(count_words(data, counting, reading))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordCounts:
        """Counts that `save` wrote.

        Raises:
            MissingFileError: The file does not exist.
            FormatError: The file holds something else, is truncated or damaged, or is from another
                version of jeton.
        """
        return cls.of_core(_core.WordCounts.load(checked_path("path", path)))

    @classmethod
    def of_core(cls, core: _core.WordCounts) -> WordCounts:
        """Wraps counts of the core."""
        counts = cls.__new__(cls)
        counts.core = core
        return counts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the counts to a file, completely or not at all.

        Raises:
            FileError: The file cannot be written.

        Example:
            >>> import jeton, os, tempfile
            >>> counts = jeton.WordCounts.count(["to be or not to be"])
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "corpus.counts")
            ...     counts.save(path)
            ...     jeton.WordCounts.load(path) == counts
            True
        """
        self.core.save(checked_path("path", path))

    def merged(self, other: WordCounts) -> WordCounts:
        """The counts of both corpora; the words of `other` come later.

        Raises:
            ArgumentError: They were counted with different settings. Counts that were passed word
                by word fit any.

        Example:
            >>> import jeton
            >>> a, b = (jeton.WordCounts.count([text]) for text in ("to be", "to do"))
            >>> a.merged(b).items()
            [('to', 2), (' be', 1), (' do', 1)]
        """
        check_kind("other", other, WordCounts, "WordCounts")
        return self.of_core(self.core.merged(other.core))

    def at_least(self, count: int) -> WordCounts:
        """The words that occur at least `count` times.

        Example:
            >>> import jeton
            >>> jeton.WordCounts([("to", 2), ("be", 1)]).at_least(2).items()
            [('to', 2)]
        """
        return self.of_core(self.core.at_least(count))

    def scaled(self, factor: float | Fraction) -> WordCounts:
        """Every count times a factor, rounded half up; words whose count becomes 0 are left out.

        The settings of counting are kept, so the result merges with counts of other corpora.

        Args:
            factor: A positive number; a float is the decimal that it is written as.

        Raises:
            ArgumentError: The factor is not positive, or the counts become too large.

        Example:
            >>> import jeton
            >>> jeton.WordCounts([("to", 20), ("be", 5), ("or", 1)]).scaled(0.3).items()
            [('to', 6), ('be', 2)]
        """
        exact = checked_fraction("factor", factor).limit_denominator(10**12)
        scaled = None
        if 0 < exact.numerator < 2**63:
            scaled = self.core.scaled(exact.numerator, exact.denominator)
        if scaled is None:
            raise ArgumentError(f"factor {factor} makes the counts vanish, or exceed 2⁶³")
        return self.of_core(scaled)

    @classmethod
    def mixed(
        cls,
        counts: Iterable[WordCounts],
        *,
        weights: Sequence[float | Fraction] | None = None,
        temperature: float | Fraction | None = None,
    ) -> WordCounts:
        """The counts of several corpora, each with a share of the text of your choice.

        Shares are of bytes. The counts of each corpus are multiplied so that it has its share, by
        at least 1, so that no word is lost.

        Args:
            counts: The counts of each corpus, such as a language, counted with the same settings.
            weights: The share of each, relative to the others.
            temperature: Instead of weights: a corpus of `n` bytes has a share in proportion to
                `n ** (1 / temperature)`. 1 leaves the shares as they are, higher temperatures
                make small languages larger, and `math.inf` makes all equal.

        Raises:
            ArgumentError: They were counted with different settings, there are not as many weights
                as counts, or one has no words.

        Example:
            >>> import jeton
            >>> english, french = jeton.WordCounts([("to", 30)]), jeton.WordCounts([("et", 10)])
            >>> jeton.WordCounts.mixed([english, french], weights=[0.5, 0.5]).items()
            [('to', 30), ('et', 30)]
            >>> jeton.WordCounts.mixed([english, french], temperature=2).items()
            [('to', 30), ('et', 17)]
        """
        if isinstance(counts, (str, bytes, WordCounts)) or not isinstance(counts, Iterable):
            raise ArgumentTypeError("counts must be an iterable of WordCounts")
        corpora = list(counts)
        for at, corpus in enumerate(corpora):
            check_kind(f"counts[{at}]", corpus, WordCounts, "WordCounts")
        sizes = [corpus.core.text_bytes() for corpus in corpora]
        if not sizes or 0 in sizes:
            raise ArgumentError(
                f"counts[{sizes.index(0)}] has no words" if sizes else "counts is empty"
            )
        if (weights is None) == (temperature is None):
            raise ArgumentError("mixed takes either weights or a temperature")
        if weights is not None:
            if isinstance(weights, (str, bytes)) or not isinstance(weights, Iterable):
                raise ArgumentTypeError("weights must be numbers, one for each of counts")
            shares = [
                checked_fraction(f"weights[{at}]", weight) for at, weight in enumerate(weights)
            ]
            if len(shares) != len(sizes):
                raise ArgumentError(f"there are {len(shares)} weights for {len(sizes)} counts")
        else:
            if isinstance(temperature, float) and math.isinf(temperature) and temperature > 0:
                power = 0.0
            else:
                power = float(1 / checked_fraction("temperature", temperature))
            largest = max(sizes)
            shares = [Fraction((size / largest) ** power) for size in sizes]
        factors = [share / size for share, size in zip(shares, sizes, strict=True)]
        least = min(factors)
        scaled = [
            corpus.scaled(factor / least) for corpus, factor in zip(corpora, factors, strict=True)
        ]
        return functools.reduce(cls.merged, scaled)

    def items(self) -> list[tuple[str, int]]:
        """Words and their counts."""
        return self.core.words(0, len(self))

    @property
    def total(self) -> int:
        """The number of words of the corpus, counting each occurrence.

        Example:
            >>> import jeton
            >>> jeton.WordCounts([("to", 2), ("be", 1)]).total
            3
        """
        return self.core.total()

    def __len__(self) -> int:
        """The number of distinct words."""
        return len(self.core)

    def __iter__(self) -> Iterator[str]:
        """The words, in the order of their first occurrence."""
        for start in range(0, len(self), _SLICE):
            yield from (word for word, _ in self.core.words(start, start + _SLICE))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.core.find(word) is not None

    def __getitem__(self, word: str) -> int:
        """How often a word occurs.

        Example:
            >>> import jeton
            >>> counts = jeton.WordCounts([("to", 2), ("be", 1)])
            >>> counts["to"], "not" in counts, list(counts)
            (2, False, ['to', 'be'])
        """
        check_kind("a word", word, str, "a str")
        count = self.core.find(word)
        if count is None:
            raise UnknownTokenError(f"{word!r} is not among the {len(self):,} words")
        return count

    def __eq__(self, other: object) -> bool:
        """Whether the words, their order and their counts are equal, whatever the settings."""
        if not isinstance(other, WordCounts):
            return NotImplemented
        return self.core.equals(other.core)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[[bytes], WordCounts], tuple[bytes]]:
        return (_unpickled, (self.core.to_bytes(),))

    def __repr__(self) -> str:
        return f"<WordCounts of {len(self):,} words>"


_SLICE = 4096
"""Number of words that become Python objects at a time."""


def _unpickled(image: bytes) -> WordCounts:
    return WordCounts.of_core(_core.WordCounts.from_bytes(image))


def _pair(at: int, pair: object) -> tuple[str, int]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ArgumentTypeError(
            f"words[{at}] must be a pair of a word and its count, not {type(pair).__name__}"
        )
    word, count = pair
    return check_text(f"the word of words[{at}]", word), count


def is_counts(path: str | os.PathLike[str]) -> bool:
    """Whether `WordCounts.save` wrote the file."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
