"""A token set made on a cluster: the files of `jeton.data.prepare`, byte for byte.

Tasks encode stretches of the input, each into its own part. The lengths of all documents then say
which documents go to which file, and tasks write the files; if a split is one file, or is shuffled,
the machine that called does. Parts and files are written under temporary names and renamed when
they are complete, so a task that runs twice does no harm.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from jeton.arguments import checked_int, checked_path
from jeton.corpora.corpus import size_of
from jeton.corpora.token_blocks.blocks import DocumentEncoding, DocumentSource
from jeton.corpora.token_blocks.files import FileSource
from jeton.data.manifest import NAME, Manifest
from jeton.data.prepare import merged_parts, whole_set
from jeton.data.preparing.end_of_text import Choice
from jeton.data.preparing.inputs import DataReading, default_split, paths_of, source_of
from jeton.data.preparing.journal import Journal
from jeton.data.preparing.options import AUTO, MEMORY, PrepareOptions
from jeton.data.preparing.pipeline import PrepareRun, SetPlan
from jeton.errors import ArgumentError
from jeton.ray.running import checked_cpus, in_order, mapped, ray_data, single_threaded
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
        folder: Where the files go: a folder that every machine can write to. Until the set is
            whole it needs the room of it twice.
        layout: As for `jeton.data.prepare`. Where a split is one file, the machine that asked
            writes it.
        shard_tokens: As for `jeton.data.prepare`.
        field: As for `jeton.data.prepare`.
        documents: As for `jeton.data.prepare`.
        errors: As for `jeton.data.prepare`.
        bad_records: As for `jeton.data.prepare`.
        end_of_text: As for `jeton.data.prepare`.
        end_of_text_place: As for `jeton.data.prepare`.
        frame: As for `jeton.data.prepare`.
        validation: As for `jeton.data.prepare`; or a `ray.data.Dataset`.
        split: As for `jeton.data.prepare`.
        shuffle: As for `jeton.data.prepare`; the machine that asked writes the files.
        memory: As for `jeton.data.prepare`.
        name: As for `jeton.data.prepare`.
        part_size: About how many bytes of files a task encodes. A file is not divided.
        num_cpus: How many cores a task takes.

    Returns:
        What `manifest.json` says.

    Raises:
        ArgumentError, FileError, FormatError, EncodeError: As `jeton.data.prepare`.
        UnsupportedError: Ray Data is not installed.

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
    options = PrepareOptions(
        layout=layout,
        shard_tokens=shard_tokens,
        field=field,
        documents=documents,
        errors=errors,
        bad_records=bad_records,
        end_of_text=end_of_text,
        end_of_text_place=end_of_text_place,
        frame=frame,
        validation=validation,
        split=default_split(data, validation) if split is None else split,
        shuffle=shuffle,
        memory=memory,
        name=name,
    )
    request = options.request(tokenizer)
    plan, encoding, reading = request.plan, request.encoding, request.reading
    inputs = {"train": data}
    if plan.by == "data":
        inputs["val"] = validation
    target = Path(checked_path("folder", folder))
    groups: list[dict[str, Any]] = []
    datasets: dict[str, Any] = {}
    sources: dict[str, DocumentSource] = {}
    for of, some in inputs.items():
        if isinstance(some, ray.Dataset):
            if reading.unit:
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
        sources[of] = _files(local, encoding, reading)
        groups += [{"split": of, "paths": group} for group in _grouped(local, size)]
    if not datasets:
        whole = whole_set(plan, sources, target)
        if whole is not None:
            return whole
    task = _EncodeTask(replace(plan, part=(1, 1)), encoding, reading, target / PARTS, num_cpus)
    parts = []
    if groups:
        rows = [{"number": number, **group} for number, group in enumerate(groups)]
        files = ray.from_items(rows, override_num_blocks=len(rows))
        parts = _parts(mapped(files, task.of_files, 1, task.num_cpus), task.folder)
    for of, dataset in datasets.items():
        parts += _parts_of_dataset(dataset, of, task)
    manifest = written_in_parallel(plan, parts, target, num_cpus)
    if manifest is None:
        manifest = merged_parts(plan, parts, str(target))
    shutil.rmtree(target / PARTS)
    return manifest


def _files(paths: list[Path], encoding: DocumentEncoding, reading: DataReading) -> FileSource:
    return FileSource(
        [*paths], encoding, field=reading.field, errors=reading.errors, unit=reading.unit
    )


def _grouped(paths: list[Path], size: int) -> Iterator[list[bytes]]:
    """Groups of consecutive files, each of about the same number of bytes."""
    group: list[bytes] = []
    total = 0
    for path in paths:
        more = size_of(path)
        if group and total + more > size:
            yield group
            group, total = [], 0
        group.append(os.fsencode(path))
        total += more
    if group:
        yield group


def _parts_of_dataset(dataset: object, split: str, task: _EncodeTask) -> list[Any]:
    """The parts of a dataset; their order gives the names, once it is known."""
    for leftover in task.folder.glob(f"{split}-*"):
        shutil.rmtree(leftover)

    def encode(table: object) -> Any:
        return task.of_rows(table, split)

    parts = _parts(mapped(dataset, encode, None, task.num_cpus), task.folder)
    names = []
    for number, (folder, manifest) in enumerate(parts):
        target = task.folder / f"{split}-{number:06d}"
        folder.rename(target)
        names.append((target, manifest))
    return names


def _parts(blocks: Any, folder: Path) -> list[tuple[Path, Manifest]]:
    with in_order(blocks):
        names = [row["part"] for row in blocks.take_all()]
    return [(folder / name, Manifest.read(folder / name)) for name in names]


class _EncodeTask:
    """Encodes documents into a part, on any machine."""

    def __init__(
        self,
        plan: SetPlan,
        encoding: DocumentEncoding,
        reading: DataReading,
        folder: Path,
        num_cpus: float,
    ) -> None:
        self._plan, self._encoding, self._reading = plan, replace(encoding, keys=True), reading
        self.folder, self.num_cpus = folder.absolute(), num_cpus

    def of_files(self, groups: Any) -> Any:
        """Encodes groups of files, except those whose parts are there already and fit."""
        return _rows(self._of_group(**row) for row in groups.to_pylist())

    def _of_group(self, number: int, split: str, paths: list[bytes]) -> str:
        files = [Path(os.fsdecode(path)) for path in paths]
        source = _files(files, self._encoding, self._reading)
        name = f"{number:06d}"
        sources = self._sources(split, source)
        if not (self.folder / name / NAME).exists() or (
            whole_set(self._plan, sources, self.folder / name) is None
        ):
            self._make(sources, name)
        return name

    def of_rows(self, table: object, split: str) -> Any:
        """Encodes a block of a dataset."""
        name = f"{split}-{uuid.uuid4().hex}"
        self._make(self._sources(split, source_of(table, self._encoding, self._reading)), name)
        return _rows([name])

    def _sources(self, split: str, source: DocumentSource) -> dict[str, DocumentSource]:
        """The sources of a part; one of them has all documents."""
        names = ["train", "val"] if self._plan.by == "data" else ["train"]
        none = _files([], self._encoding, self._reading)
        return {name: source if name == split else none for name in names}

    def _make(self, sources: dict[str, DocumentSource], name: str) -> None:
        single_threaded(self.num_cpus)
        attempt = self.folder / f".{uuid.uuid4().hex}"
        with Journal(attempt) as journal:
            PrepareRun(self._plan, sources, journal, None).go()
        try:
            attempt.rename(self.folder / name)
        except OSError:
            # Another attempt was faster.
            if not (self.folder / name / NAME).exists():
                raise
            shutil.rmtree(attempt)


def _rows(names: Iterable[str]) -> Any:
    import pyarrow

    return pyarrow.table({"part": pyarrow.array(list(names), pyarrow.string())})
