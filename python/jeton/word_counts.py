"""Word counts: what every trainer starts from, counted once and trained from many times.

Look here, too, for the stages before the model as the core takes them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jeton import _core
from jeton.arguments import (
    check_text,
    checked_errors,
    checked_int,
    checked_path,
    checked_texts,
    names_checked,
)
from jeton.components import normalizers, pre_tokenizers
from jeton.components.component import read_stored, stored_component
from jeton.corpus import Progress, check_watch, count, warn
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    TrainingError,
    UnknownTokenError,
)
from jeton.memory import memory_bytes

__all__ = [
    "COUNTS_NEED",
    "MAX_WORD_LENGTH",
    "TOKEN_NEEDS",
    "Corpus",
    "Counting",
    "Cutting",
    "Needs",
    "Reading",
    "WordCounts",
    "checked_limits",
    "count_words",
    "counted_words",
    "first_stages",
    "is_counts",
    "named_pre_tokenizer",
]

MAX_WORD_LENGTH = 10_000
"""Characters: longer than any word of a language, and short enough that merging stays quick."""

_MAGIC = b"jeton word counts "

Needs: TypeAlias = tuple[int, int, int]
"""Bytes of memory that are needed in any case, for a distinct word, and for each byte of it."""

COUNTS_NEED: Needs = (0, 48, 2)
"""What putting words in order needs."""

TOKEN_NEEDS = 1_000
"""Bytes of memory that a token of a vocabulary needs while its tokenizer is made."""


class WordCounts:
    """The distinct words of a corpus with their counts, in the order in which each was first met.

    Which words there are depends on how text is cut, so counts remember what they were counted by:
    normalizer, pattern or pre_tokenizer, special tokens, and `max_word_length` where a word was
    cut. A trainer that would have counted otherwise refuses them, and names what differs; a
    trainer's own `count` always fits. Words given here with their counts are taken as they are, by
    every trainer: so are `WordCounts(counts.items())`, which forgets how `counts` was made.

    Example:
        >>> import jeton
        >>> counts = jeton.WordCounts.count(["to be or not to be"], pattern="whitespace")
        >>> counts.items()
        [('to', 2), ('be', 2), ('or', 1), ('not', 1)]
        >>> tok = jeton.BPETrainer(258, pattern="whitespace").train(counts)
        >>> tok.merges
        [(b'b', b'e'), (b't', b'o')]
    """

    __slots__ = ("__weakref__", "core")

    core: _core.WordCounts

    def __init__(self, words: Mapping[str, int] | Iterable[tuple[str, int]] = ()) -> None:
        if isinstance(words, Mapping):
            words = words.items()
        if isinstance(words, (str, bytes)) or not isinstance(words, Iterable):
            raise ArgumentTypeError(
                f"words must be pairs of a word and its count, not {type(words).__name__}"
            )
        self.core = _core.WordCounts.of([_pair(at, pair) for at, pair in enumerate(words)])

    @classmethod
    @names_checked
    def count(
        cls,
        data: str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]],
        *,
        pattern: str | None = None,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        special_tokens: Iterable[str] = (),
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        max_word_length: int | None = MAX_WORD_LENGTH,
        min_word_count: int = 0,
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> WordCounts:
        """Counts the words of a corpus.

        Args:
            data: Texts or files, as `BPETrainer.train` takes them.
            pattern: How text is cut, by name or as an expression; `"gpt4"` if nothing is given.
            normalizer: What happens to text first.
            pre_tokenizer: How text is cut, instead of `pattern`.
            special_tokens: No word spans one of these.
            field: As for `BPETrainer.train`.
            errors: As for `BPETrainer.train`.
            max_word_length: A word of more characters is cut, between characters, into words of
                so many and a rest; a warning says how often. `None`: none is.
            min_word_count: Words that occur less often are left out; a warning says how many.
            memory: As for `BPETrainer.train`; here the counts must fit.
            temp_dir: As for `BPETrainer.train`.
            watch: As for `BPETrainer.train`.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: The distinct words need more than `memory`.

        Example:
            >>> import jeton
            >>> counts = jeton.WordCounts.count(["low, lower"], pattern="gpt2")
            >>> counts.items()
            [('low', 1), (',', 1), (' lower', 1)]
        """
        if isinstance(data, WordCounts):
            raise ArgumentError("data holds counts already; train from them as they are")
        if pattern is not None and pre_tokenizer is not None:
            raise ArgumentError("pattern and pre_tokenizer both say how text is cut; give one")
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
        reading = Reading(field=field, errors=errors, memory=memory, temp_dir=temp_dir, watch=watch)
        return cls.of_core(count_words(data, counting, reading))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordCounts:
        """Counts that `save` wrote.

        Raises:
            MissingFileError: There is no such file.
            FormatError: The file holds something else, was cut short or changed, or is of another
                version of jeton.
        """
        return cls.of_core(_core.WordCounts.load(checked_path("path", path)))

    @classmethod
    def of_core(cls, core: _core.WordCounts) -> WordCounts:
        """The counts that the core has made."""
        counts = cls.__new__(cls)
        counts.core = core
        return counts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the counts to a file, whole or not at all.

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
        """The counts of both corpora, those of `other` met later.

        Raises:
            ArgumentError: They were counted otherwise; counts that were given word by word go with
                any.

        Example:
            >>> import jeton
            >>> a, b = (jeton.WordCounts.count([text]) for text in ("to be", "to do"))
            >>> a.merged(b).items()
            [('to', 2), (' be', 1), (' do', 1)]
        """
        if not isinstance(other, WordCounts):
            raise ArgumentTypeError(f"other must be WordCounts, not {type(other).__name__}")
        return self.of_core(self.core.merged(other.core))

    def at_least(self, count: int) -> WordCounts:
        """The words that occur at least `count` times.

        Example:
            >>> import jeton
            >>> jeton.WordCounts([("to", 2), ("be", 1)]).at_least(2).items()
            [('to', 2)]
        """
        return self.of_core(self.core.at_least(count))

    def items(self) -> list[tuple[str, int]]:
        """Words and their counts."""
        return self.core.words(0, len(self))

    @property
    def total(self) -> int:
        """How many words the corpus has, each occurrence counted.

        Example:
            >>> import jeton
            >>> jeton.WordCounts([("to", 2), ("be", 1)]).total
            3
        """
        return self.core.total()

    def __len__(self) -> int:
        """How many distinct words there are."""
        return len(self.core)

    def __iter__(self) -> Iterator[str]:
        """The words, in the order in which each was first met."""
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
        if not isinstance(word, str):
            raise ArgumentTypeError(f"a word must be a str, not {type(word).__name__}")
        found = self.core.find(word)
        if found is None:
            raise UnknownTokenError(f"{word!r} is not among the {len(self):,} words")
        return found

    def __eq__(self, other: object) -> bool:
        """Whether these are the same words in the same order, as often, however counted."""
        if not isinstance(other, WordCounts):
            return NotImplemented
        return self.core.equals(other.core)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[[bytes], WordCounts], tuple[bytes]]:
        return (_unpickled, (self.core.to_bytes(),))

    def __repr__(self) -> str:
        return f"<WordCounts of {len(self):,} words>"


_SLICE = 4096
"""How many words are made Python's at a time."""


def _unpickled(image: bytes) -> WordCounts:
    return WordCounts.of_core(_core.WordCounts.from_bytes(image))


def _pair(at: int, pair: object) -> tuple[str, int]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ArgumentTypeError(
            f"words[{at}] must be a pair of a word and its count, not {type(pair).__name__}"
        )
    word, count = pair
    return check_text(f"the word of words[{at}]", word), count


Corpus: TypeAlias = (
    "str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]] | WordCounts"
)
"""What may be trained from."""

Cutting: TypeAlias = "tuple[str, bool] | bytes"
"""What makes words of texts: stages as JSON, and whether the model sees bytes as they are; or ASCII
characters, between which words lie."""


@dataclass(frozen=True)
class Counting:
    """What is counted: which words a corpus has, and how much memory must be left beside them."""

    cutting: Cutting
    needs: Needs
    max_word_length: int | None = None
    min_word_count: int = 0


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a corpus is read: what `count` and `train` of every trainer take beside it."""

    field: str | None
    errors: str
    memory: int | str | None
    temp_dir: str | os.PathLike[str] | None
    watch: Callable[[Progress], None] | None


def is_counts(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds word counts that `WordCounts.save` wrote."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def count_words(
    data: str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]],
    counting: Counting,
    reading: Reading,
) -> _core.WordCounts:
    """The words of a corpus; warns of those that were cut or left out."""
    needs, temp_dir = counting.needs, reading.temp_dir
    max_word_length, min_word_count = counting.max_word_length, counting.min_word_count
    check_watch(reading.watch)
    allowed = _allowed(reading.memory, needs)
    folder = tempfile.gettempdir() if temp_dir is None else checked_path("temp_dir", temp_dir)
    if not os.path.isdir(folder):
        raise FileError(f"temp_dir {folder!r} is no folder; create it first")
    counter = _core.WordCounter(
        counting.cutting, max_word_length, min_word_count, allowed, folder, needs
    )
    try:
        count(
            counter,
            data,
            field=reading.field,
            errors=reading.errors,
            memory=allowed,
            watch=reading.watch,
        )
        counts, (cut, rare, rare_total) = counter.finish()
    finally:
        counter.discard()
    if cut:
        warn(
            f"words of more than max_word_length={max_word_length:,} characters were cut, "
            f"{cut:,} times"
        )
    if rare:
        _warn_of_rare(rare, rare_total, min_word_count)
    return counts


def counted_words(counts: WordCounts, counting: Counting, reading: Reading) -> _core.WordCounts:
    """As `count_words`, of words that have been counted.

    Raises:
        ArgumentError: They were counted otherwise than `counting` says, or `reading` says how.
    """
    check_watch(reading.watch)
    checked_errors(reading.errors)
    for name, is_given in (
        ("field", reading.field is not None),
        ("errors", reading.errors != "strict"),
        ("temp_dir", reading.temp_dir is not None),
    ):
        if is_given:
            raise ArgumentError(f"{name} is for counting, and data holds counts; leave it out")
    counts.core.check_counted_by(counting.cutting, counting.max_word_length)
    allowed = _allowed(reading.memory, counting.needs)
    kept = _without_rare(counts.core, counting.min_word_count)
    if allowed is not None:
        kept.check_memory(allowed, counting.needs)
    return kept


def _allowed(memory: int | str | None, needs: Needs) -> int | None:
    """A budget, which must be more than what is needed in any case."""
    allowed = memory_bytes(memory)
    if allowed is not None and allowed <= needs[0]:
        raise TrainingError(
            f"memory={memory!r} is not enough: training for this vocab_size needs "
            f"{needs[0] / 1e6:,.0f} MB whatever the corpus is"
        )
    return allowed


def _without_rare(counts: _core.WordCounts, min_word_count: int) -> _core.WordCounts:
    """The words that occur often enough; warns of those that are left out."""
    if min_word_count <= 1:
        return counts
    kept = counts.at_least(min_word_count)
    if rare := len(counts) - len(kept):
        _warn_of_rare(rare, counts.total() - kept.total(), min_word_count)
    return kept


def checked_limits(max_word_length: int | None, min_word_count: int) -> tuple[int | None, int]:
    """The limits as whole numbers; refuses those that make no sense, by name."""
    if max_word_length is not None:
        max_word_length = checked_int("max_word_length", max_word_length, 1)
    return max_word_length, checked_int("min_word_count", min_word_count, 0)


def _warn_of_rare(distinct: int, total: int, min_word_count: int) -> None:
    warn(
        f"{distinct:,} distinct words that occur less than min_word_count={min_word_count:,} "
        f"times were left out; together they occur {total:,} times"
    )


def first_stages(
    normalizer: normalizers.Normalizer | None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None,
    special_tokens: Iterable[str],
    *,
    is_raw: bool = True,
) -> tuple[str, bool]:
    """The stages before the model, in the shape of a `tokenizer.json`.

    Where the model does not see bytes as they are, a byte-level pre-tokenizer spells them out.
    """
    stages = json.dumps(
        {
            "added_tokens": [
                {
                    "id": id,
                    "content": token,
                    "special": True,
                    "single_word": False,
                    "lstrip": False,
                    "rstrip": False,
                    "normalized": False,
                }
                for id, token in enumerate(special_tokens)
            ],
            "normalizer": stored_component(normalizers.Normalizer, normalizer),
            "pre_tokenizer": stored_component(pre_tokenizers.PreTokenizer, pre_tokenizer),
        }
    )
    return stages, is_raw


def named_pre_tokenizer(pattern: str) -> pre_tokenizers.PreTokenizer:
    """The pre-tokenizer of a pattern: of its name, or of an expression in tiktoken's dialect."""
    if not check_text("pattern", pattern):
        raise ArgumentError("pattern is empty; 'none' leaves texts whole")
    stages = json.loads(_core.pattern_pre_tokenizer(pattern))
    component: pre_tokenizers.PreTokenizer = read_stored("pre_tokenizer", stages["pre_tokenizer"])
    return component
