"""The files of a token set, written from its parts by all machines."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from jeton.corpora.token_blocks.blocks import Facts, SourcePosition
from jeton.data import layouts
from jeton.data.layouts import WrittenShard
from jeton.data.layouts.growing_file import GrowingFile
from jeton.data.layouts.writer import write_index
from jeton.data.manifest import Manifest, digests_of
from jeton.data.preparing.dropped_file import DROPPED, dropped_of, written
from jeton.data.preparing.journal import Consumed, Journal
from jeton.data.preparing.loss_mask_bits import Unmarking
from jeton.data.preparing.parts import PartsSource
from jeton.data.preparing.pipeline import SetPlan, manifest_of, nothing_left
from jeton.files import FileDigest, digest_of
from jeton.ray.running import run_rows
from jeton.ray.shuffling import shuffled_stretches
from jeton.ray.stretches import Stretch, files_of, part_stretches, stretches_of


def written_in_parallel(
    plan: SetPlan,
    parts: list[tuple[Path, Manifest]],
    folder: Path,
    scratch: Path,
    num_cpus: float,
) -> Manifest | None:
    """Writes each file in its own task.

    Args:
        plan: The plan of the set.
        parts: The parts, in their order.
        folder: Where the files go.
        scratch: Folder for the temporary files of a shuffle.
        num_cpus: How many cores a task takes.

    Returns:
        The manifest; `None` if a split is one file.
    """
    most = plan.shard_tokens or layouts.LAYOUTS[plan.layout].default_shard
    if most is None:
        return None
    sources = {split: PartsSource(parts, split) for split in parts[0][1].splits}
    with Journal(folder) as journal:
        state = journal.begin(
            plan.run_record(sources),
            lambda _: dict.fromkeys(sources, Consumed(0, None)),
        )
        if state is not None and "manifest" in state:
            whole = Manifest.from_json(state["manifest"])
        else:
            journal.save({})
            wholes = {split: part_stretches(parts, split) for split in sources}
            facts = {split: source.facts(SourcePosition(), {}) for split, source in sources.items()}
            _check_for_documents(
                journal,
                {it: sum(of.splits[it].documents for _, of in parts) for it in sources},
                facts,
            )
            if plan.seed is not None:
                wholes["train"] = shuffled_stretches(plan, parts, scratch, num_cpus)
            by_split = stretches_of(wholes, plan.by, plan.share)
            _check_for_documents(
                journal,
                {it: sum(len(some.documents()) for some in of) for it, of in by_split.items()},
                facts,
            )
            rows = list(_rows(by_split, most))
            # From here on, a call that is interrupted leaves files for the next one.
            journal.save({"files": len(rows)})
            shards, files = _written(plan, rows, journal.set, num_cpus)
            with closing(GrowingFile(journal.set / DROPPED)) as dropped:
                for part in parts:
                    if records := dropped_of(*part):
                        dropped.append(written(records))
            if (journal.set / DROPPED).exists():
                files |= digests_of(journal.set, [DROPPED])
            whole = manifest_of(plan, journal.set, shards, facts, files)
            journal.save({"manifest": whole.to_json()})
        journal.publish(whole)
    return whole


def _check_for_documents(
    journal: Journal, documents: dict[str, int], facts: dict[str, Facts]
) -> None:
    """Leaves nothing behind if a split has no documents."""
    for split, count in documents.items():
        if not count:
            journal.forget()
            raise nothing_left(split, facts)


def _rows(stretches_by_split: dict[str, list[Stretch]], most: int) -> Iterator[dict[str, object]]:
    """The content of each file."""
    for split, stretches in stretches_by_split.items():
        for number, places in enumerate(files_of(stretches, most)):
            content = [
                # Anew, without open files.
                (replace(stretches[place.stretch]), place.first, place.stop)
                for place in places
            ]
            yield {"split": split, "number": number, "content": pickle.dumps(content)}


def _written(
    plan: SetPlan, rows: list[dict[str, object]], folder: Path, num_cpus: float
) -> tuple[dict[str, list[WrittenShard]], dict[str, FileDigest]]:
    """The shards of each split, and the digests of all of their files."""
    task = _WriteTask(plan, folder.absolute())
    results = run_rows(rows, task.write, num_cpus)
    shards: dict[str, list[WrittenShard]] = {split: [] for split in plan.splits}
    files: dict[str, FileDigest] = {}
    for row in results:
        digests = {name: FileDigest(*file) for name, file in json.loads(row["files"]).items()}
        shards[row["split"]].append(WrittenShard(tuple(digests), row["tokens"], row["documents"]))
        files |= digests
    layout = layouts.LAYOUTS[plan.layout]
    for of_split in shards.values():
        listed = [(shard.files[0], shard.documents) for shard in of_split]
        files |= write_index(layout, folder, plan.dtype, listed)
    return shards, files


class _WriteTask:
    """Writes files, on any machine."""

    def __init__(self, plan: SetPlan, folder: Path) -> None:
        self._plan, self._folder = plan, folder

    def write(self, split: str, number: int, content: bytes) -> dict[str, object]:
        """Writes a file, unless it is there."""
        layout = layouts.LAYOUTS[self._plan.layout]
        main = layout.file(split, number)
        names = layout.names(main, self._plan.masks)
        places: list[tuple[Stretch, int, int]] = pickle.loads(content)  # of `_rows`
        lengths = [stretch.documents()["length"][first:stop] for stretch, first, stop in places]
        if not (self._folder / main).exists():
            self._make(split, names, places)
        digests = {name: digest_of(self._folder / name) for name in names}
        return {
            "split": split,
            "tokens": sum(int(some.sum()) for some in lengths),
            "documents": sum(map(len, lengths)),
            "files": json.dumps({name: (it.bytes, it.sha256) for name, it in digests.items()}),
        }

    def _make(
        self, split: str, names: tuple[str, ...], places: list[tuple[Stretch, int, int]]
    ) -> None:
        attempt = self._folder / f".{uuid.uuid4().hex}"
        plan = self._plan
        with layouts.create(
            plan.layout,
            attempt,
            split=split,
            dtype=plan.dtype,
            shard_tokens=plan.shard_tokens,
            tokenizer=plan.name,
            masks=plan.masks,
        ) as writer:
            documents: Any = Unmarking(writer) if plan.masks else writer
            for stretch, first, stop in places:
                for tokens, lengths in stretch.tokens(first, stop):
                    documents.append(tokens, lengths)
            [shard] = writer.finish()
        # The main file comes last: where it is, all are.
        for file, name in reversed(list(zip(shard.files, names, strict=True))):
            target = self._folder / name
            target.parent.mkdir(exist_ok=True)
            os.replace(attempt / file, target)
        shutil.rmtree(attempt)
