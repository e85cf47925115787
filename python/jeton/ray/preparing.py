"""A token set made on a cluster: the files of `jeton.data.prepare`, byte for byte.

Tasks encode stretches of the input, each into its own part. The lengths of all documents then say
which documents go to which file, and tasks write the files; if a split is one file, the machine
that called does. Parts and files are written under temporary names and renamed when they are
complete, so a task that runs twice does no harm.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import uuid
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from jeton.arguments import checked_int, checked_path
from jeton.corpora.corpus import size_of
from jeton.corpora.pieces import is_compressed
from jeton.corpora.token_blocks.blocks import DocumentSource
from jeton.data.conversations import Conversations
from jeton.data.manifest import NAME, Manifest
from jeton.data.prepare import merged_parts, whole_set
from jeton.data.preparing.chats import LossWarnings
from jeton.data.preparing.end_of_text import Choice
from jeton.data.preparing.inputs import paths_of, source_of, source_of_files
from jeton.data.preparing.journal import Journal
from jeton.data.preparing.options import AUTO, MEMORY, PrepareOptions, PrepareRequest
from jeton.data.preparing.pipeline import PrepareRun
from jeton.data.preparing.record_pieces import FilePiece, RecordPiece, divided
from jeton.errors import ArgumentError, ChatWarning
from jeton.ray.running import (
    checked_cpus,
    in_order,
    map_tables,
    ray_data,
    run_rows,
    single_threaded,
)
from jeton.ray.writing import written_in_parallel
from jeton.stores.files import only_paths

PARTS = ".parts"
"""The folder of the parts, in the folder of the set, until the set is complete."""


def prepare(
    data: Any,
    tokenizer: Any,
    folder: str | os.PathLike[str],
    *,
    layout: str = "jeton",
    shard_tokens: int | None = None,
    field: str | None = None,
    documents: Literal["file", "line"] | str = "file",
    errors: Literal["strict", "replace", "ignore"] = "strict",
    bad_records: Literal["error", "drop"] = "error",
    end_of_text: str | int | Choice | None = AUTO,
    end_of_text_place: Literal["after", "before"] = "after",
    frame: bool = False,
    validation: Any = None,
    split: Literal["cut", "hash"] | None = None,
    shuffle: int | None = None,
    memory: int | str = MEMORY,
    name: str = "",
    messages: str | Conversations | None = None,
    filter: Any = None,
    part_size: int = 10**9,
    num_cpus: float = 1,
) -> Manifest:
    """Encodes a corpus on all machines, into the files that `jeton.data.prepare` writes on one.

    Complete files are kept: after an interruption, the same call resumes with the files that are
    left. A `ray.data.Dataset` is read from its beginning.

    Args:
        data: Paths, as `jeton.data.prepare` takes them, of files that every machine can read; or a
            `ray.data.Dataset`, in which each row is a document.
        tokenizer: What encodes.
        folder: Where the files go: a folder that every machine can write to. While it runs,
            it needs twice the space of the set, or three times if the set is shuffled.
        layout: As for `jeton.data.prepare`. Where a split is one file, the machine that asked
            writes it.
        shard_tokens, field, documents, errors, bad_records, end_of_text, end_of_text_place, frame:
            As for `jeton.data.prepare`.
        validation: As for `jeton.data.prepare`; or a `ray.data.Dataset`.
        split, shuffle, name, messages: As for `jeton.data.prepare`.
        memory: As for `jeton.data.prepare`, of each task.
        filter: As for `jeton.data.prepare`; a function runs on all machines.
        part_size: About how many bytes of files a task encodes. With `messages` or `filter`, files
            are divided, unless they are compressed; others are not.
        num_cpus: How many cores a task takes.

    Returns:
        What `manifest.json` says.

    Raises:
        ArgumentError, FileError, FormatError, EncodeError: As `jeton.data.prepare`.
        UnsupportedError: Ray Data is not installed.

    Warns:
        ChatWarning: As `jeton.data.prepare`.

    Example:
        >>> import jeton, jeton.ray
        >>> tokenizer = jeton.load("gpt2")  # doctest: +SKIP
        >>> manifest = jeton.ray.prepare(
        ...     "corpus/*.jsonl.zst", tokenizer, "tokens", layout="llm.c", validation=0.001
        ... )  # doctest: +SKIP
    """
    ray = ray_data()
    size = checked_int("part_size", part_size, 1)
    num_cpus = checked_cpus(num_cpus)
    options = PrepareOptions.of(locals())
    request = replace(options, part=(1, 1)).request(tokenizer)
    plan = replace(request.plan, part=None)
    inputs = {"train": data}
    if plan.by == "data":
        inputs["val"] = validation
    target = Path(checked_path("folder", folder))
    task = _EncodeTask(request, target / PARTS, num_cpus)
    groups: list[tuple[str, list[Path]]] = []
    datasets: dict[str, Any] = {}
    sources: dict[str, DocumentSource] = {}
    for of, some in inputs.items():
        if isinstance(some, ray.Dataset):
            if request.encoding.unit:
                raise ArgumentError("documents is for files, and data is a dataset")
            datasets[of] = some
            continue
        paths = paths_of(some, "data" if of == "train" else "validation")
        if paths is None:
            raise ArgumentError(
                "data must be a ray.data.Dataset or paths; for texts that are here, use "
                "jeton.data.prepare"
            )
        local = only_paths(paths, "pass a ray.data.Dataset that reads them")
        sources[of] = task.source(local)
        groups += [(of, group) for group in _grouped(local, size)]
    if not datasets:
        whole = whole_set(plan, sources, target)
        if whole is not None:
            return whole
    parts = []
    if groups:
        parts = _parts_of_files(groups, task, size)
    for of, dataset in datasets.items():
        parts += _parts_of_dataset(dataset, of, task)
    try:
        manifest = written_in_parallel(plan, parts, target, target / PARTS / "shuffle", num_cpus)
        if manifest is None:
            manifest = merged_parts(plan, parts, str(target))
    except ArgumentError:
        # A split has no documents: it needs other options, and so other parts.
        shutil.rmtree(target / PARTS)
        raise
    shutil.rmtree(target / PARTS)
    return manifest


def _grouped(paths: list[Path], size: int) -> Iterator[list[Path]]:
    """Groups of consecutive files, each of about the same number of bytes."""
    group: list[Path] = []
    total = 0
    for path in paths:
        more = size_of(path)
        if group and total + more > size:
            yield group
            group, total = [], 0
        group.append(path)
        total += more
    if group:
        yield group


def _parts_of_files(
    groups: list[tuple[str, list[Path]]], task: _EncodeTask, size: int
) -> list[tuple[Path, Manifest]]:
    """The parts of groups of files, of which records are divided further."""
    # Pickled, since names of files need not be text.
    rows = [{"split": split, "inputs": pickle.dumps(group)} for split, group in groups]
    if task.records is not None:
        groups_of_files = ray_data().from_items(rows, override_num_blocks=len(rows))
        pieces = map_tables(groups_of_files, partial(_divided, size), 1, task.num_cpus)
        with in_order(pieces):
            rows = pieces.take_all()
    numbered = [{"number": number, **row} for number, row in enumerate(rows)]
    return _parts(run_rows(numbered, task.of_files, task.num_cpus), task.folder)


def _divided(size: int, groups: Any) -> Any:
    """The rows of groups of files; one for each piece of a file that is alone and larger."""
    import pyarrow

    rows = []
    for row in groups.to_pylist():
        paths: list[Path] = pickle.loads(row["inputs"])  # of `_parts_of_files`
        inputs: list[list[Path] | FilePiece] = [paths]
        if len(paths) == 1 and size_of(paths[0]) > size and not is_compressed(paths[0]):
            inputs = [*divided(paths[0], size)]
        rows += [{**row, "inputs": pickle.dumps(it)} for it in inputs]
    return pyarrow.Table.from_pylist(rows)


def _parts_of_dataset(dataset: object, split: str, task: _EncodeTask) -> list[Any]:
    """The parts of a dataset; their order gives the names, once it is known."""
    for leftover in task.folder.glob(f"{split}-*"):
        shutil.rmtree(leftover)

    def encode(table: object) -> Any:
        return task.of_rows(table, split)

    with in_order(blocks := map_tables(dataset, encode, None, task.num_cpus)):
        parts = _parts(blocks.take_all(), task.folder)
    names = []
    for number, (folder, manifest) in enumerate(parts):
        target = task.folder / f"{split}-{number:06d}"
        folder.rename(target)
        names.append((target, manifest))
    return names


def _parts(rows: list[dict[str, Any]], folder: Path) -> list[tuple[Path, Manifest]]:
    """The parts that tasks have made; warns once of each kind of loss."""
    losses = LossWarnings()
    for row in rows:
        losses.say(json.loads(row["losses"]))
    return [(folder / row["part"], Manifest.read(folder / row["part"])) for row in rows]


class _EncodeTask:
    """Encodes documents into a part, on any machine."""

    def __init__(self, request: PrepareRequest, folder: Path, num_cpus: float) -> None:
        self._plan, self._encoding, self.records = request.plan, request.encoding, request.records
        self.folder, self.num_cpus = folder.absolute(), num_cpus

    def source(self, inputs: list[Path] | FilePiece) -> DocumentSource:
        """The documents of files."""
        if isinstance(inputs, FilePiece):
            assert self.records is not None
            return RecordPiece(inputs, self.records, self._encoding.errors)
        return source_of_files([*inputs], self._encoding, self.records)

    def of_files(self, number: int, split: str, inputs: bytes) -> dict[str, str]:
        """Encodes a group of files, or a piece of one, unless its part is there and fits."""
        source = self.source(pickle.loads(inputs))  # of `_parts_of_files`
        # A call with another `part_size` has other groups and pieces.
        own = json.dumps([split, source.identity()]).encode()
        name = f"{number:06d}-{hashlib.sha256(own).hexdigest()[:16]}"
        sources = self._sources(split, source)
        if not (self.folder / name / NAME).exists() or (
            whole_set(self._plan, sources, self.folder / name) is None
        ):
            return self._make(sources, name)
        return {"part": name, "losses": "[]"}

    def of_rows(self, table: object, split: str) -> Any:
        """Encodes a block of a dataset."""
        name = f"{split}-{uuid.uuid4().hex}"
        source = source_of(table, self._encoding, self.records)
        import pyarrow

        return pyarrow.Table.from_pylist([self._make(self._sources(split, source), name)])

    def _sources(self, split: str, source: DocumentSource) -> dict[str, DocumentSource]:
        """The sources of a part; one of them has all documents."""
        names = ["train", "val"] if self._plan.by == "data" else ["train"]
        return {name: source if name == split else self.source([]) for name in names}

    def _make(self, sources: dict[str, DocumentSource], name: str) -> dict[str, str]:
        """Makes a part; returns its name, and what its chats lose, as JSON."""
        single_threaded(self.num_cpus)
        attempt = self.folder / f".{uuid.uuid4().hex}"
        with ExitStack() as stack:
            caught = stack.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always", ChatWarning)
            for source in sources.values():
                stack.callback(source.close)
            journal = stack.enter_context(Journal(attempt))
            PrepareRun(self._plan, sources, journal, None).go()
        losses = [str(it.message) for it in caught if issubclass(it.category, ChatWarning)]
        for it in caught:
            if not issubclass(it.category, ChatWarning):
                warnings.warn_explicit(it.message, it.category, it.filename, it.lineno)
        try:
            attempt.rename(self.folder / name)
        except OSError:
            # Another attempt was faster.
            if not (self.folder / name / NAME).exists():
                raise
            shutil.rmtree(attempt)
        return {"part": name, "losses": json.dumps(losses)}
