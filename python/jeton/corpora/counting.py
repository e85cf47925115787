"""Counting the words of a corpus for a trainer: what is counted, how it is read, what it needs.

Look here, too, for the stages before the model as the core takes them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import jeton._core as _core
from jeton.arguments import (
    check_text,
    checked_errors,
    checked_int,
    checked_path,
)
from jeton.components import normalizers, pre_tokenizers
from jeton.components.component import read_stored, stored_component
from jeton.corpora.corpus import Progress, are_lines, check_watch, count, drops_bad, warn
from jeton.corpora.memory_size import memory_bytes
from jeton.display.human_readable import counted
from jeton.errors import (
    ArgumentError,
    FileError,
    TrainingError,
)

__all__ = [
    "COUNTS_NEED",
    "MAX_WORD_LENGTH",
    "TOKEN_NEEDS",
    "Counting",
    "Cutting",
    "Needs",
    "Reading",
    "checked_limits",
    "count_words",
    "counted_words",
    "first_stages",
    "named_pre_tokenizer",
]

MAX_WORD_LENGTH = 10_000
"""Characters: longer than any word of a language, and short enough that merging stays quick."""

Needs: TypeAlias = tuple[int, int, int]
"""Bytes of memory that are needed in any case, for a distinct word, and for each byte of it."""

COUNTS_NEED: Needs = (0, 48, 2)
"""What putting words in order needs."""

TOKEN_NEEDS = 1_000
"""Bytes of memory that a token of a vocabulary needs while its tokenizer is made."""

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
    documents: str
    """`file` or `line`: what a document of a text file is."""
    bad_records: str
    """`error` or `drop`."""
    memory: int | str | None
    temp_dir: str | os.PathLike[str] | None
    watch: Callable[[Progress], None] | None


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
        raise FileError(f"temp_dir {folder!r} is not a folder; create it first")
    counter = _core.WordCounter(
        counting.cutting, max_word_length, min_word_count, allowed, folder, needs
    )
    try:
        bad = count(
            counter,
            data,
            field=reading.field,
            errors=reading.errors,
            documents=reading.documents,
            bad_records=reading.bad_records,
            memory=allowed,
            watch=reading.watch,
        )
        counts, (cut, rare, rare_total) = counter.finish()
    finally:
        counter.discard()
    if bad:
        warn(f"left out {counted(bad, 'record')} that cannot be read")
    if cut:
        warn(
            f"words of more than max_word_length={max_word_length:,} characters were cut, "
            f"{cut:,} times"
        )
    if rare:
        _warn_of_rare(rare, rare_total, min_word_count)
    return counts


def counted_words(
    counts: _core.WordCounts, counting: Counting, reading: Reading
) -> _core.WordCounts:
    """As `count_words`, of words that have been counted.

    Raises:
        ArgumentError: They were counted otherwise than `counting` says, or `reading` says how.
    """
    check_watch(reading.watch)
    checked_errors(reading.errors)
    for name, is_given in (
        ("field", reading.field is not None),
        ("errors", reading.errors != "strict"),
        ("documents", are_lines(reading.documents)),
        ("bad_records", drops_bad(reading.bad_records)),
        ("temp_dir", reading.temp_dir is not None),
    ):
        if is_given:
            raise ArgumentError(f"{name} is for counting, and data holds counts; leave it out")
    counts.check_counted_by(counting.cutting, counting.max_word_length)
    allowed = _allowed(reading.memory, counting.needs)
    kept = _without_rare(counts, counting.min_word_count)
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
                for id, token in enumerate(dict.fromkeys(special_tokens))
            ],
            "normalizer": stored_component(normalizers.Normalizer, normalizer),
            "pre_tokenizer": stored_component(pre_tokenizers.PreTokenizer, pre_tokenizer),
        }
    )
    return stages, is_raw


def named_pre_tokenizer(pattern: str | Sequence[str]) -> pre_tokenizers.PreTokenizer:
    """The pre-tokenizer of a pattern, or of several that split one after another.

    Args:
        pattern: Its name, or an expression in tiktoken's dialect.
    """
    if isinstance(pattern, (list, tuple)):
        if not pattern:
            raise ArgumentError("pattern is empty; 'none' leaves texts whole")
        steps = tuple(map(named_pre_tokenizer, pattern))
        return steps[0] if len(steps) == 1 else pre_tokenizers.Sequence(steps)
    if not (name := check_text("pattern", pattern)):
        raise ArgumentError("pattern is empty; 'none' leaves texts whole")
    stages = json.loads(_core.pattern_pre_tokenizer(name))
    return cast(
        "pre_tokenizers.PreTokenizer", read_stored("pre_tokenizer", stages["pre_tokenizer"])
    )
