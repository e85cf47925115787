"""Word counts of a corpus on a cluster: counted where the text is, and merged as a tree.

A task counts a piece of the corpus. Then tasks merge eight neighbours each, until one is left, so
no machine holds more than the distinct words of eight branches. Neighbours stay in the order of the
corpus: words are in the order in which one machine would have counted them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jeton._core as _core
from jeton.arguments import checked_errors, checked_int
from jeton.corpora.corpus import count as count_corpus
from jeton.corpora.corpus import files_of, unit_of, warn
from jeton.corpora.counting import Counting
from jeton.corpora.pieces import CorpusPiece, pieces_of
from jeton.corpora.tables import as_text, check_text_type, texts_of_cells
from jeton.corpora.word_counts import WordCounts
from jeton.display.human_readable import counted
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError
from jeton.ray.running import checked_cpus, in_order, map_tables, ray_data, single_threaded
from jeton.stores.files import only_paths
from jeton.training.trainer import Trainer

_FAN = 8
"""How many counts a task merges."""


def count(
    data: object,
    trainer: Trainer,
    *,
    field: str | None = None,
    errors: str = "strict",
    documents: str = "file",
    piece_size: int = 10**9,
    num_cpus: float = 1,
) -> WordCounts:
    """Counts the words of a corpus on all machines, with the result of `trainer.count`.

    Args:
        data: A `ray.data.Dataset` with a column of texts; or paths, as `BPETrainer.train` takes
            them, of files that every machine can read.
        trainer: The trainer that will train from the counts.
        field: The column of a dataset or of Parquet files, or the field of JSON lines, that holds
            the text; by default `"text"`. Null texts are skipped.
        errors: What happens to bytes that are not UTF-8: `"strict"`, `"replace"` or `"ignore"`.
        documents: What a document of a text file is, `"file"` or `"line"`, as for
            `BPETrainer.train`.
        piece_size: About how many bytes of a file a task counts. Tables, compressed files and files
            that are one document are not divided.
        num_cpus: How many cores a task takes.

    Returns:
        Counts to save, and to train from on one machine.

    Raises:
        MissingFileError: There is no such file.
        FormatError: Text that is not UTF-8, or no field or column of that name.
        UnsupportedError: Ray Data is not installed.

    Example:
        >>> import jeton, jeton.ray
        >>> trainer = jeton.BPETrainer(32_000)
        >>> counts = jeton.ray.count("corpus/*.txt", trainer)  # doctest: +SKIP
        >>> tokenizer = trainer.train(counts)  # doctest: +SKIP
    """
    ray = ray_data()
    if not isinstance(trainer, Trainer):
        raise ArgumentTypeError(f"trainer must be one of jeton, not {type(trainer).__name__}")
    if field is not None and not isinstance(field, str):
        raise ArgumentTypeError(f"field must be a str or None, not {type(field).__name__}")
    checked_errors(errors)
    unit = unit_of(documents)
    size = checked_int("piece_size", piece_size, 1)
    num_cpus = checked_cpus(num_cpus)
    task = _CountTask(trainer._counting(), field, errors, documents, num_cpus)
    if isinstance(data, ray.Dataset):
        counts = map_tables(data, task.of_texts, None, num_cpus)
    else:
        pieces = list(map(asdict, pieces_of(_files(data), size, field, unit=unit)))
        dataset = ray.from_items(pieces, override_num_blocks=len(pieces))
        counts = map_tables(dataset, task.of_pieces, 1, num_cpus)
    with in_order(counts):
        counts = counts.materialize()
        while counts.count() > 1:
            with in_order(merged := map_tables(counts, _merge, _FAN, num_cpus)):
                counts = merged.materialize()
        rows = counts.take_all()
    if not rows:
        return trainer.count(iter(()))
    [row] = rows
    if row["cut"]:
        warn(
            f"words of more than max_word_length={task.counting.max_word_length:,} characters were "
            f"split, {counted(row['cut'], 'time')}"
        )
    # The trainer leaves rare words out: no single machine can know which are rare.
    return trainer.count(_counts(row["counts"]))


def _files(data: object) -> list[Path]:
    """The files that paths name, before any task runs."""
    files = files_of(data)
    if files is None:
        raise ArgumentTypeError(
            "data must be a ray.data.Dataset or paths; for texts that are here, use trainer.count"
        )
    if any(os.fspath(path) == "-" for path in files):
        raise ArgumentError("the standard input cannot be read from a cluster; name files")
    return only_paths(files, "pass a ray.data.Dataset that reads them")


class _CountTask:
    """Counts pieces, on any machine."""

    def __init__(
        self,
        counting: Counting,
        field: str | None,
        errors: str,
        documents: str,
        num_cpus: float,
    ) -> None:
        self.counting, self._field, self._errors = counting, field, errors
        self._documents, self._num_cpus = documents, num_cpus

    def of_pieces(self, pieces: Any) -> Any:
        """Counts pieces of files."""

        def count(counter: _core.WordCounter) -> None:
            for row in pieces.to_pylist():
                piece = CorpusPiece(**row)
                path = os.fsdecode(piece.path)
                if piece.stop:
                    counter.count_part(path, piece.start, piece.stop, self._field, self._errors)
                else:
                    count_corpus(
                        counter,
                        iter([Path(path)]),
                        field=self._field,
                        errors=self._errors,
                        documents=self._documents,
                        memory=None,
                        watch=None,
                    )

        return self._counted(count)

    def of_texts(self, table: Any) -> Any:
        """Counts a block of texts."""
        column = self._field or "text"
        if column not in table.column_names:
            there = ", ".join(table.column_names)
            raise FormatError(f"the dataset has no column {column!r} (it has {there})")
        check_text_type(f"column {column!r} of the dataset", table[column].type)
        texts = texts_of_cells(as_text(table[column]), self._errors, "the dataset: in a block, ")
        return self._counted(lambda counter: counter.count(texts, 0, self._errors))

    def _counted(self, count: Callable[[_core.WordCounter], object]) -> Any:
        single_threaded(self._num_cpus)
        counter = _core.WordCounter(
            self.counting.cutting,
            self.counting.max_word_length,
            0,
            None,
            tempfile.gettempdir(),
            self.counting.needs,
        )
        try:
            count(counter)
            counts, (splits, *_) = counter.finish()
        finally:
            counter.discard()
        return _row(counts.to_bytes(), splits)


def _merge(table: Any) -> Any:
    """Merges the counts of neighbours."""
    images: Iterable[Any] = table["counts"]
    first, *others = (_counts(image.as_buffer()) for image in images)
    for other in others:
        first = first.merged(other)
    return _row(first.core.to_bytes(), sum(table["cut"].to_pylist()))


def _counts(image: Any) -> WordCounts:
    return WordCounts.of_core(_core.WordCounts.from_bytes(bytes(image)))


def _row(image: bytes, splits: int) -> Any:
    import pyarrow

    return pyarrow.table(
        {
            "counts": pyarrow.array([image], pyarrow.large_binary()),
            "cut": pyarrow.array([splits], pyarrow.int64()),
        }
    )
