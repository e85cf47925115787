"""Joins the parts of several machines into the set that one machine would have made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from jeton import files
from jeton.corpora.dropped import DroppedRecord
from jeton.corpora.token_blocks.blocks import (
    Block,
    Blocks,
    DocumentSource,
    Facts,
    SourcePosition,
    nothing,
)
from jeton.data import layouts
from jeton.data.layouts.shard import mapped
from jeton.data.manifest import NAME, Manifest, verify
from jeton.data.preparing.document_keys import Keyed
from jeton.data.preparing.dropped_file import dropped_of
from jeton.data.preparing.loss_mask_bits import marked, summed
from jeton.data.preparing.record_pieces import PIECE, stands_for_its_file
from jeton.data.preparing.sinks import some_at_a_time
from jeton.errors import ArgumentError, FormatError, JetonError

_AT_A_TIME = 1 << 20
"""Approximate number of tokens of a block."""


def checked_parts(folders: list[Path]) -> list[tuple[Path, Manifest]]:
    """The parts in order, after verifying each."""
    if not folders:
        raise ArgumentError("there are no parts to merge")
    manifests = [(folder, Manifest.read(folder)) for folder in folders]
    by_number: dict[int, tuple[Path, Manifest]] = {}
    first_folder, first = manifests[0]
    for folder, manifest in manifests:
        if manifest.part is None:
            raise ArgumentError(f"{folder}: is a whole set, not a part of one")
        for what, own, others in (
            ("number of parts", manifest.part[1], (first.part or (0, 0))[1]),
            ("tokenizer", manifest.tokenizer["digest"], first.tokenizer["digest"]),
            ("end of text", manifest.end_of_text, first.end_of_text),
            ("options", manifest.options, first.options),
            ("version of jeton", manifest.jeton, first.jeton),
        ):
            if own != others:
                raise ArgumentError(
                    f"{folder}: is not a part of the same set as {first_folder}: another {what}"
                )
        number = manifest.part[0]
        if number in by_number:
            raise ArgumentError(f"{folder}: is part {number}, and so is {by_number[number][0]}")
        by_number[number] = (folder, manifest)
    parts = (first.part or (0, 0))[1]
    missing = [str(number) for number in range(1, parts + 1) if number not in by_number]
    if missing:
        some = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
        raise ArgumentError(f"of {parts} parts, these are missing: {some}")
    for folder, _ in manifests:
        damages = verify(folder)
        if damages:
            raise FormatError(f"{folder}/{damages[0]}")
    return [by_number[number] for number in sorted(by_number)]


class PartsSource(DocumentSource):
    """The documents of a split of all parts. A place is a part and the documents before it."""

    def __init__(self, parts: list[tuple[Path, Manifest]], split: str) -> None:
        self._parts, self._split = parts, split

    @property
    def size(self) -> int:
        return sum(
            manifest.splits[self._split].tokens * np.dtype(manifest.dtype).itemsize
            for _, manifest in self._parts
        )

    def identity(self) -> list[dict[str, object]]:
        return [
            {"part": str(folder), "sha256": hashlib.sha256(_manifest_of(folder)).hexdigest()}
            for folder, _ in self._parts
        ]

    def facts(self, end: SourcePosition, digests: Mapping[int, tuple[int, str]]) -> Facts:
        del end, digests
        properties = {} if self._split == "train" else {"split": self._split}
        inputs = tuple(
            {name: it for name, it in entry.items() if name != PIECE}
            for _, manifest in self._parts
            for entry in manifest.inputs
            # A file that was divided is named once.
            if entry.get("split") == properties.get("split") and stands_for_its_file(entry)
        )
        # A manifest has one count for all its splits.
        manifests = [manifest for _, manifest in self._parts if not properties]
        read = SourcePosition(
            (),
            sum(manifest.documents for manifest in manifests),
            sum(manifest.bytes for manifest in manifests),
            sum(manifest.empty_documents for manifest in manifests),
            sum(manifest.bad_documents for manifest in manifests),
            summed(manifest.chats for manifest in manifests),
            summed(manifest.filtered for manifest in manifests),
        )
        return Facts(inputs, read)

    def blocks(self, start: SourcePosition) -> Blocks:
        first, before = start.place or (0, 0)
        progress, read = start, 0
        for number, (folder, manifest) in enumerate(self._parts):
            if number < first:
                continue
            if not manifest.splits[self._split].documents:
                if left_out := self._dropped(folder, manifest):
                    bad = progress.bad + len(left_out)
                    after = SourcePosition((number + 1, 0), start.documents, bad=bad)
                    block = nothing(manifest.dtype, progress, after, read)
                    yield replace(block, dropped=left_out)
                    progress = after
                continue
            keys = mapped(folder / Keyed.FILE, "uint64") if self._split == "train" else None
            document = 0
            for shard in layouts.read(folder, split=self._split, layout="jeton"):
                ends = shard.ends
                if ends is None:
                    raise FormatError(f"{folder}: does not say where its documents end")
                skipped = max(0, min(before - document, len(ends))) if number == first else 0
                for row, stop in some_at_a_time(ends, _AT_A_TIME, skipped):
                    begin = int(ends[row - 1]) if row else 0
                    tokens = np.array(shard.tokens[begin : int(ends[stop - 1])])
                    if shard.mask is not None:
                        tokens = marked(tokens, shard.mask[begin : int(ends[stop - 1])])
                    lengths = np.diff(ends[row:stop], prepend=begin)
                    document_keys = np.empty(0, np.uint64)
                    if keys is not None:
                        document_keys = np.array(keys[document + row : document + stop])
                    read += tokens.nbytes
                    is_begun = document + row > 0
                    left_out = () if is_begun else self._dropped(folder, manifest)
                    after = SourcePosition(
                        (number, document + stop),
                        start.documents,
                        bad=progress.bad + len(left_out),
                    )
                    yield Block(
                        tokens, lengths, document_keys, progress, after, read, dropped=left_out
                    )
                    progress = after
                document += len(ends)

    def _dropped(self, folder: Path, manifest: Manifest) -> tuple[DroppedRecord, ...]:
        """The records that a part left out of the split. Those of no file are of `train`."""
        records = dropped_of(folder, manifest)
        if len(manifest.splits) == 1:
            return records
        of_split = {
            entry.get("path")
            for entry in manifest.inputs
            if entry.get("split", "train") == self._split
        }
        of_split |= {None} if self._split == "train" else set()
        return tuple(record for record in records if record.place.path in of_split)


def _manifest_of(folder: Path) -> bytes:
    try:
        return files.read(folder / NAME)
    except OSError as error:
        raise JetonError(str(error)) from None
