"""Counting the words of a corpus for a trainer: what is counted, how it is read, memory.

Look here also for the stages before the model in the form that the core takes.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import jeton._core as _core
from jeton.arguments import (
    checked_errors,
    checked_int,
    checked_path,
)
from jeton.components import AddedToken, normalizers, pre_tokenizers
from jeton.components.component import stored_component
from jeton.corpora.checkpoints import count_with_checkpoint
from jeton.corpora.corpus import TextsOrFiles, count, drops_bad, files_of, unit_of, warn
from jeton.corpora.memory_size import memory_bytes
from jeton.corpora.progress import Progress, check_watch
from jeton.display.human_readable import counted
from jeton.errors import (
    ArgumentError,
    FileError,
    TrainingError,
)

MAX_WORD_LENGTH = 10_000
"""Characters: longer than any word of a language, and short enough that merging stays quick."""

Needs: TypeAlias = tuple[int, int, int]
"""Bytes of memory needed in any case, per distinct word, and per byte of a word."""

COUNTS_NEED: Needs = (0, 48, 2)
"""The memory for sorting words."""

TOKEN_NEEDS = 1_000
"""Bytes of memory per token of a vocabulary while its tokenizer is built."""

Cutting: TypeAlias = "tuple[str, bool] | bytes"
"""How texts are split into words: stages as JSON, and whether the model sees raw bytes; or the
ASCII characters that separate words."""


@dataclass(frozen=True)
class Counting:
    """What to count: how words are split, and the memory that training needs besides."""

    cutting: Cutting
    needs: Needs
    max_word_length: int | None = None
    min_word_count: int = 0


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read a corpus: the options that `count` and `train` of every trainer take."""

    field: str | None
    errors: str
    documents: str
    """`file` or `line`: what a document of a text file is."""
    bad_records: str
    """`error` or `drop`."""
    memory: int | str | None
    temp_dir: str | os.PathLike[str] | None
    watch: Callable[[Progress], None] | None
    checkpoint: str | os.PathLike[str] | None = None
    """The file from which counting resumes."""

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Reading:
        """The options among the arguments of a method, by their names."""
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: arguments[name] for name in names if name in arguments})


def count_words(
    data: TextsOrFiles,
    counting: Counting,
    reading: Reading,
    counter_of: Callable[[int | None, str, Needs], _core.WordCounter] | None = None,
) -> _core.WordCounts:
    """The words of a corpus; warns about words that were split or left out.

    Args:
        reading: How to read the corpus.
        counter_of: Makes another counter, of what is counted instead of words, for a budget of
            memory, a folder for temporary files and the memory that is needed in the end.
    """
    needs, temp_dir = counting.needs, reading.temp_dir
    max_word_length, min_word_count = counting.max_word_length, counting.min_word_count
    check_watch(reading.watch)
    allowed = _allowed(reading.memory, needs)
    folder = tempfile.gettempdir() if temp_dir is None else checked_path("temp_dir", temp_dir)
    if not os.path.isdir(folder):
        raise FileError(f"temp_dir {folder!r} is not a folder", hint="create it first")

    def new_counter(min_word_count: int) -> _core.WordCounter:
        if counter_of is not None:
            return counter_of(allowed, folder, needs)
        return _core.WordCounter(
            counting.cutting, max_word_length, min_word_count, allowed, folder, needs
        )

    how: dict[str, Any] = {
        "field": reading.field,
        "errors": reading.errors,
        "documents": reading.documents,
        "bad_records": reading.bad_records,
        "memory": allowed,
        "watch": reading.watch,
    }
    rare = rare_total = 0
    if reading.checkpoint is not None:
        path, files = checked_path("checkpoint", reading.checkpoint), files_of(data)
        if files is None:
            raise ArgumentError("checkpoint is for files, and data holds texts; leave it out")
        settings = {"cutting": counting.cutting, "max_word_length": max_word_length}
        # Which words are rare is known at the end.
        counts, splits, dropped = count_with_checkpoint(
            path, files, lambda: new_counter(0), settings=settings, **how
        )
    else:
        counter = new_counter(min_word_count)
        try:
            dropped = count(counter, data, **how)
            counts, (splits, rare, rare_total) = counter.finish()
        finally:
            counter.discard()
    if dropped.number:
        warn(str(dropped))
    if splits:
        warn(
            f"words of more than max_word_length={max_word_length:,} characters were split, "
            + counted(splits, "time")
        )
    if rare:
        _warn_of_rare(rare, rare_total, min_word_count)
    if reading.checkpoint is not None:
        return _within_limits(counts, min_word_count, allowed, needs)
    return counts


def counted_words(
    counts: _core.WordCounts, counting: Counting, reading: Reading
) -> _core.WordCounts:
    """As `count_words`, for words that are counted already."""
    check_watch(reading.watch)
    checked_errors(reading.errors)
    for name, is_given in (
        ("field", reading.field is not None),
        ("errors", reading.errors != "strict"),
        ("documents", bool(unit_of(reading.documents))),
        ("bad_records", drops_bad(reading.bad_records)),
        ("temp_dir", reading.temp_dir is not None),
        ("checkpoint", reading.checkpoint is not None),
    ):
        if is_given:
            raise ArgumentError(f"{name} is for counting, and data holds counts; leave it out")
    counts.check_counted_by(counting.cutting, counting.max_word_length)
    allowed = _allowed(reading.memory, counting.needs)
    return _within_limits(counts, counting.min_word_count, allowed, counting.needs)


def _within_limits(
    counts: _core.WordCounts, min_word_count: int, allowed: int | None, needs: Needs
) -> _core.WordCounts:
    """The words that occur often enough, which fit into the memory."""
    common = _without_rare(counts, min_word_count)
    if allowed is not None:
        common.check_memory(allowed, needs)
    return common


def _allowed(memory: int | str | None, needs: Needs) -> int | None:
    """The memory budget in bytes; fails if it is less than is needed in any case."""
    allowed = memory_bytes(memory)
    if allowed is not None and allowed <= needs[0]:
        raise TrainingError(
            f"memory={memory!r} is not enough: training for this vocab_size needs "
            f"{needs[0] / 1e6:,.0f} MB whatever the corpus is",
            parameter="memory",
        )
    return allowed


def _without_rare(counts: _core.WordCounts, min_word_count: int) -> _core.WordCounts:
    """The words that occur often enough; warns about those that are left out."""
    if min_word_count <= 1:
        return counts
    common = counts.at_least(min_word_count)
    if rare := len(counts) - len(common):
        _warn_of_rare(rare, counts.total() - common.total(), min_word_count)
    return common


def checked_limits(max_word_length: int | None, min_word_count: int) -> tuple[int | None, int]:
    """The limits as ints; fails, and names the limit, if one is not valid."""
    if max_word_length is not None:
        max_word_length = checked_int("max_word_length", max_word_length, 1)
    return max_word_length, checked_int("min_word_count", min_word_count, 0)


def _warn_of_rare(distinct: int, total: int, min_word_count: int) -> None:
    warn(
        f"left out {counted(distinct, 'word')} with a count below "
        f"min_word_count={min_word_count:,}; together they occur {counted(total, 'time')}"
    )


def first_stages(
    normalizer: normalizers.Normalizer | None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None,
    known_tokens: Iterable[str | AddedToken],
    *,
    is_raw: bool = True,
) -> tuple[str, bool]:
    """The stages before the model, as in a `tokenizer.json`.

    No word contains a known token; those that are a text are special. If the model does not see raw
    bytes, a byte-level pre-tokenizer spells them out.
    """
    tokens = [
        AddedToken(token, special=True) if isinstance(token, str) else token
        for token in dict.fromkeys(known_tokens)
    ]
    stages = json.dumps(
        {
            "added_tokens": [
                dataclasses.asdict(dataclasses.replace(token, id=id))
                for id, token in enumerate(tokens)
            ],
            "normalizer": stored_component(normalizers.Normalizer, normalizer),
            "pre_tokenizer": stored_component(pre_tokenizers.PreTokenizer, pre_tokenizer),
        }
    )
    return stages, is_raw
