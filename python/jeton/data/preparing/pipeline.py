"""The run that makes a token set: passes over sources, a state to resume from, and the finish.

Each pass takes the blocks of a source to a sink. Look here for when the state is saved, and for the
content of the manifest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from jeton._core import __version__
from jeton.corpora.dropped import DroppedRecord
from jeton.corpora.token_blocks.blocks import DocumentSource, Facts, SourcePosition
from jeton.data import layouts
from jeton.data.layouts import Writer
from jeton.data.layouts.growing_file import GrowingFile
from jeton.data.manifest import Manifest, WrittenSplit, digests_of
from jeton.data.preparing import loss_mask_bits
from jeton.data.preparing.disk import DiskNeed, disk_need
from jeton.data.preparing.document_keys import Keyed
from jeton.data.preparing.dropped_file import DROPPED, written
from jeton.data.preparing.end_of_text import EndOfText
from jeton.data.preparing.journal import Consumed, Journal, digests_in
from jeton.data.preparing.shuffling import Buckets, Shuffled, buckets_for
from jeton.data.preparing.sinks import ByHash, CutAtToken, Plain, Sink
from jeton.data.preparing.tokenizer_file import saved_tokenizer
from jeton.errors import ArgumentError
from jeton.files import FileDigest
from jeton.tokenizer import Tokenizer

CHECKPOINT_SECONDS = 30.0
"""The most work that an interruption can lose."""
TELL_SECONDS = 0.1
"""The minimum time between two reports of progress."""


@dataclass(frozen=True)
class PrepareProgress:
    """The progress of preparing: the argument of `watch`."""

    phase: Literal["encoding", "shuffling", "finishing"]
    """The current work."""
    done: int
    """The bytes that were read: of the inputs when encoding, of tokens when shuffling."""
    total: int
    """The bytes to read; 0 if unknown."""
    documents: int
    """The number of documents that were encoded."""
    tokens: int
    """The number of their tokens, including end-of-text tokens."""
    disk_needed: int = 0
    """The estimated bytes of disk that the set needs while it is prepared; 0 if unknown, for small
    data, and if an earlier run is resumed."""
    disk_free: int = 0
    """The bytes of disk that were free at the beginning, if that is known."""


@dataclass(frozen=True)
class SetPlan:
    """The plan of a set."""

    tokenizer: Tokenizer
    name: str
    """The name of the tokenizer; empty without one."""
    end_of_text: EndOfText | None
    memory: int
    """The memory for shuffling in bytes."""
    part: tuple[int, int] | None
    options: dict[str, Any]
    """The options in the manifest, which must be unchanged to resume."""

    @property
    def layout(self) -> str:
        """The layout of the whole set; its parts have `jeton`."""
        return str(self.options["layout"])

    @property
    def shard_tokens(self) -> int | None:
        """The maximum number of tokens per file, if it is set."""
        most: int | None = self.options["shard_tokens"]
        return most

    @property
    def dtype(self) -> str:
        """The type of the tokens."""
        return layouts.dtype_for(self.tokenizer.vocab.max_id)

    @property
    def by(self) -> Literal["cut", "hash", "data"] | None:
        """How the validation split is chosen, if there is one."""
        validation = self.options["validation"]
        by: Literal["cut", "hash", "data"] | None = validation and validation["by"]
        return by

    @property
    def share(self) -> Fraction:
        """The share of the set that validates, unless there is separate data."""
        validation = self.options["validation"]
        return Fraction(validation["share"] if validation else 0)

    @property
    def seed(self) -> int | None:
        """The seed of shuffling."""
        seed: int | None = self.options["shuffle"]
        return seed

    @property
    def end_record(self) -> dict[str, Any] | None:
        """The token that separates documents, as the manifest has it."""
        return None if self.end_of_text is None else asdict(self.end_of_text)

    def run_record(self, sources: Mapping[str, DocumentSource]) -> dict[str, Any]:
        """What must be unchanged to resume a run."""
        return {
            "jeton": __version__,
            "tokenizer": self.tokenizer.digest,
            "options": {**self.options, "end_of_text": self.end_record, "part": self.part},
            "inputs": {split: source.identity() for split, source in sources.items()},
        }

    @property
    def masks(self) -> bool:
        """Whether the set has a loss mask."""
        return self.options["messages"] is not None

    @property
    def is_shuffled(self) -> bool:
        """Whether documents are shuffled here; those of parts are shuffled by `merge`."""
        return self.seed is not None and self.part is None

    @property
    def block_dtype(self) -> str:
        """The type of the tokens of blocks."""
        return loss_mask_bits.DTYPE if self.masks else self.dtype

    @property
    def splits(self) -> list[str]:
        """The names of the splits."""
        return ["train"] if self.by is None or self._is_part_of_one else ["train", "val"]

    @property
    def _is_part_of_one(self) -> bool:
        # Parts are split by `merge`.
        return self.part is not None and self.by != "data"


@dataclass
class _Pass:
    """One source and the sink that takes its blocks."""

    phase: Literal["encoding", "shuffling"]
    source: DocumentSource
    sink: Callable[[dict[str, Any] | None], Sink]


class PrepareRun:
    """One run, which may resume another."""

    def __init__(
        self,
        plan: SetPlan,
        sources: dict[str, DocumentSource],
        journal: Journal,
        watch: Callable[[PrepareProgress], None] | None,
    ) -> None:
        self._plan, self._sources, self._journal = plan, sources, journal
        self._watch = watch
        self._writers: dict[str, Writer] = {}
        self._last_told = 0.0
        self._disk = DiskNeed()
        self._first_dropped: DroppedRecord | None = None

    def go(self) -> Manifest:
        """Makes the set, or resumes making it."""
        state = self._journal.begin(self._plan.run_record(self._sources), self._consumed)
        if state is not None and "manifest" in state:
            whole = Manifest.from_json(state["manifest"])
            self._journal.check(whole)
        else:
            whole = self._make_set(state)
        self._journal.publish(whole)
        return whole

    def _consumed(self, state: dict[str, Any] | None) -> dict[str, Consumed]:
        """How much of each source was read when the state was saved."""
        consumed = {}
        for name, source in self._sources.items():
            number = 0 if name == "train" else 1 + self._plan.is_shuffled
            files: int | None = 0
            if state is not None and ("manifest" in state or state["pass"] > number):
                files = None
            elif state is not None and state["pass"] == number:
                files = source.consumed(SourcePosition.from_json(state["progress"]))
            consumed[name] = Consumed(number, files)
        return consumed

    def _make_set(self, state: dict[str, Any] | None) -> Manifest:
        plan = self._plan
        if state is None:
            self._disk = disk_need(
                self._sources.values(),
                self._journal.set,
                dtype=plan.dtype,
                block_dtype=plan.block_dtype,
                waiting=Fraction(1) if plan.is_shuffled else plan.share * (plan.by == "cut"),
            )
            self._disk.check(self._journal.folder)
            size = self._sources["train"].size or 64 * plan.memory
            state = {
                "pass": 0,
                "progress": SourcePosition().to_json(),
                "sink": None,
                "writers": {},
                "read": [],
                "dropped": (0, 0),
                "digests": [],
                "buckets": buckets_for(size, plan.memory),
            }
        with ExitStack() as stack:
            for split in plan.splits:
                writer = layouts.create(
                    plan.layout if plan.part is None else "jeton",
                    self._journal.set,
                    split=split,
                    dtype=plan.dtype,
                    shard_tokens=plan.shard_tokens if plan.part is None else None,
                    tokenizer=plan.name,
                    masks=plan.masks,
                    state=state["writers"].get(split),
                )
                self._writers[split] = stack.enter_context(writer)
            if not state["writers"]:
                self._save(state)
            passes = self._passes(state)
            dropped = GrowingFile(self._journal.set / DROPPED, state["dropped"])
            self._dropped = stack.enter_context(closing(dropped))
            while state["pass"] < len(passes):
                self._run(passes[state["pass"]], state)
            facts = self._facts(state["read"], digests_in(state))
            self._check_splits(facts)
            self._tell("finishing", 0, 0, 0, 0, now=True)
            self._save(state, last=True)
            shards = {split: writer.finish() for split, writer in self._writers.items()}
        whole = self._manifest(shards, facts)
        self._journal.save({"manifest": whole.to_json(), "digests": state["digests"]})
        return whole

    def _passes(self, state: dict[str, Any]) -> list[_Pass]:
        plan, work, buckets = self._plan, self._journal.work, state["buckets"]
        writers: dict[str, Any] = dict(self._writers)
        if plan.masks:
            writers = {split: loss_mask_bits.Unmarking(it) for split, it in writers.items()}

        def parting(state: dict[str, Any] | None) -> Sink:
            if plan.part is not None:
                return Keyed(writers["train"], self._journal.set, state)
            if plan.by == "hash":
                return ByHash(writers["train"], writers["val"], plan.share)
            if plan.by == "cut":
                return CutAtToken(
                    writers["train"], writers["val"], plan.share, work, plan.block_dtype, state
                )
            return Plain(writers["train"])

        def bucketing(state: dict[str, Any] | None) -> Sink:
            return Buckets(
                work,
                dtype=plan.block_dtype,
                seed=plan.seed or 0,
                buckets=buckets,
                memory=plan.memory,
                state=state,
            )

        train = self._sources["train"]
        if not plan.is_shuffled:
            passes = [_Pass("encoding", train, parting)]
        else:
            shuffled = Shuffled(
                work,
                dtype=plan.block_dtype,
                seed=plan.seed or 0,
                buckets=buckets,
                validation=plan.share if plan.by == "cut" else None,
                sums=lambda: state["made"],
            )
            passes = [
                _Pass("encoding", train, bucketing),
                _Pass("shuffling", shuffled, parting),
            ]
        if "val" in self._sources:
            passes.append(_Pass("encoding", self._sources["val"], lambda _: Plain(writers["val"])))
        return passes

    def _run(self, work: _Pass, state: dict[str, Any]) -> None:
        """Takes all blocks of a pass to its sink; updates `state` to that after the pass."""
        progress, size = SourcePosition.from_json(state["progress"]), work.source.size
        with (
            closing(work.sink(state["sink"])) as sink,
            closing(work.source.blocks(progress)) as blocks,
        ):
            due = time.monotonic() + CHECKPOINT_SECONDS
            for block in blocks:
                state["digests"] += ([state["pass"], *digest] for digest in block.digests)
                if block.dropped:
                    self._first_dropped = self._first_dropped or block.dropped[0]
                    self._dropped.append(written(block.dropped))
                sink.append(block)
                progress = block.after or progress
                self._tell(work.phase, block.read, size, progress.documents, sink.tokens)
                if time.monotonic() >= due and (point := sink.resume_point()) is not None:
                    self._sync(sink, state)
                    state["progress"], state["sink"] = point.to_json(), sink.state()
                    self._save(state)
                    due = time.monotonic() + CHECKPOINT_SECONDS
            sink.finish()
            self._sync(sink, state)
            state["made"] = sink.handover()
        state["read"].append(progress.to_json())
        state["pass"] += 1
        state["progress"], state["sink"] = SourcePosition().to_json(), None
        self._save(state)

    def _sync(self, sink: Sink, state: dict[str, Any]) -> None:
        sink.sync()
        self._dropped.sync()
        state["dropped"] = self._dropped.state

    def _check_splits(self, facts: dict[str, Facts]) -> None:
        for split, writer in self._writers.items():
            if not writer.documents and self._plan.part is None:
                self._journal.forget()
                raise nothing_left(split, facts, self._first_dropped)

    def _save(self, state: dict[str, Any], last: bool = False) -> None:
        for split, writer in self._writers.items():
            state["writers"][split] = writer.checkpoint(last=last)
        self._journal.save(state)

    def _tell(
        self,
        phase: Any,
        done: int,
        total: int,
        documents: int,
        waiting: int,
        now: bool = False,
    ) -> None:
        if self._watch is None:
            return
        at = time.monotonic()
        if now or at >= self._last_told + TELL_SECONDS:
            self._last_told = at
            tokens = waiting + sum(writer.tokens for writer in self._writers.values())
            self._watch(
                PrepareProgress(
                    phase, done, total, documents, tokens, self._disk.needed, self._disk.free
                )
            )

    def _facts(
        self, read: list[Any], digests: dict[int, dict[int, tuple[int, str]]]
    ) -> dict[str, Facts]:
        """The facts about each source, once all of them are read."""
        return {
            name: source.facts(
                SourcePosition.from_json(read[number]), digests.get(number % len(read), {})
            )
            # Training data is read first, validation data last.
            for number, (name, source) in zip((0, -1), self._sources.items(), strict=False)
        }

    def _manifest(
        self, shards: dict[str, list[layouts.WrittenShard]], facts: dict[str, Facts]
    ) -> Manifest:
        folder = self._journal.set
        files = {} if self._plan.part is None else digests_of(folder, [Keyed.FILE])
        for writer in self._writers.values():
            files |= writer.digests
        if (folder / DROPPED).exists():
            files |= digests_of(folder, [DROPPED])
        return manifest_of(self._plan, folder, shards, facts, files)


def nothing_left(
    split: str, facts: Mapping[str, Facts], dropped: DroppedRecord | None = None
) -> ArgumentError:
    """The error for a split without documents.

    Args:
        facts: The facts about each source.
        dropped: A record that was left out because it cannot be read or encoded.
    """
    use = {"train": "training", "val": "validation"}[split]
    read = facts.get(split, facts["train"]).read
    chats = read.chats or {}
    counts = {
        "left out by filters": sum((read.filtered or {}).values()),
        "empty": read.empty,
        "bad": read.bad + chats.get("bad", 0),
        "too long": chats.get("too_long", 0),
    }
    left_out = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    why = "there is too little data"
    if left_out and not read.documents:
        why = f"what was read is left out ({left_out})"
        if dropped is not None:
            why += f"; the first bad record is {dropped}"
    return ArgumentError(f"there is no document for {use}, the split {split!r}: {why}")


def manifest_of(
    plan: SetPlan,
    folder: Path,
    shards: dict[str, list[layouts.WrittenShard]],
    facts: dict[str, Facts],
    digests: dict[str, FileDigest],
) -> Manifest:
    """The manifest of a set that was written to a folder; saves its tokenizer there too.

    Args:
        folder: The folder of its files.
        shards: The shards of each split.
        facts: The facts about each source.
        digests: The digests of the files, without that of the tokenizer.
    """
    splits = {
        split: WrittenSplit(
            sum(shard.documents for shard in some),
            sum(shard.tokens for shard in some),
            (*some,),
        )
        for split, some in shards.items()
    }
    read = [some.read for some in facts.values()]
    names = [name for some in shards.values() for shard in some for name in shard.files]
    tokenizer, tokenizer_files = saved_tokenizer(plan.tokenizer, plan.name, folder)
    files = {name: digests[name] for name in names} | digests
    files |= digests_of(folder, tokenizer_files)
    return Manifest(
        layout=plan.layout if plan.part is None else "jeton",
        dtype=plan.dtype,
        tokenizer=tokenizer,
        end_of_text=plan.end_record,
        options=plan.options,
        inputs=tuple(
            {**entry, "split": split} if split != "train" else entry
            for split, some in facts.items()
            for entry in some.inputs
        ),
        documents=sum(some.documents for some in read),
        bytes=sum(some.bytes for some in read),
        empty_documents=sum(some.empty for some in read),
        bad_documents=sum(some.bad for some in read),
        chats=loss_mask_bits.summed(some.chats for some in read),
        filtered=loss_mask_bits.summed(some.filtered for some in read),
        splits=splits,
        files=files,
        part=plan.part,
        jeton=__version__,
    )
