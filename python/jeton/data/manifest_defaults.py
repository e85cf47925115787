"""Defaults for opening a token set, from the manifest in its folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jeton.data.manifest import NAME, Manifest
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, JetonError, MissingFileError

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer


@dataclass(frozen=True)
class SetFacts:
    """The facts that the manifest of a set has, if there is one."""

    path: Path
    manifest: Manifest | None

    @property
    def layout(self) -> str | None:
        """Its layout."""
        return None if self.manifest is None else self.manifest.layout

    @property
    def dtype(self) -> str | None:
        """The type of its tokens."""
        return None if self.manifest is None else self.manifest.dtype

    @property
    def end_of_text(self) -> tuple[int, Any] | None:
        """The id of the token between documents, and whether it is `after` or `before` each."""
        end = None if self.manifest is None else self.manifest.end_of_text
        return None if end is None else (int(end["id"]), end["place"])

    @property
    def masks(self) -> bool:
        """Whether it has a loss mask."""
        return self.manifest is not None and self.manifest.options.get("messages") is not None

    def check_shards(self, paths: Iterable[Path]) -> None:
        """Fails if these files of the folder are not the shards that the manifest lists for a
        split: a copy is incomplete, or files of another set are there too."""
        found = {path.relative_to(self.path).as_posix(): path for path in paths}
        splits = {} if self.manifest is None else self.manifest.splits
        for split in splits.values():
            missing = [shard for shard in split.shards if found.keys().isdisjoint(shard.files)]
            if len(missing) == len(split.shards):
                continue
            if missing:
                tokens = sum(shard.tokens for shard in missing)
                raise MissingFileError(
                    f"{self.path / missing[0].files[0]}: is missing, and {NAME} lists it; "
                    f"{len(missing):,} of {len(split.shards):,} shards with {tokens:,} tokens are "
                    "not there (copy the whole folder)"
                )
            listed = {name for shard in split.shards for name in shard.files}
            if other := min(found.keys() - listed, default=None):
                raise FormatError(
                    f"{found[other]}: {NAME} does not list it, so it is of another set (move it to "
                    "a folder of its own)"
                )

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that was saved with it."""
        if self.manifest is None:
            raise ArgumentError(f"{self.path}: decoding needs a tokenizer; open it with tokenizer=")
        return tokenizer_of(self.path, self.manifest)

    def check(self, tokenizer: object) -> None:
        """Fails unless the tokenizer is that of the set; the ids of another mean other text."""
        from jeton.tokenizer import Tokenizer

        if not isinstance(tokenizer, Tokenizer):
            raise ArgumentTypeError(
                f"tokenizer must be a Tokenizer, not {type(tokenizer).__name__}"
            )
        if self.manifest is None or tokenizer.digest == self.manifest.tokenizer["digest"]:
            return
        file = self.manifest.tokenizer.get("file")
        remedy = f"leave it out: {file} is there" if file else "load the one of the set"
        raise ArgumentError(
            f"{self.path}: tokenizer is not the one that the set was prepared with: its digest is "
            f"{tokenizer.digest[:16]}, and the manifest has "
            f"{self.manifest.tokenizer['digest'][:16]} ({remedy})"
        )


def facts_of(path: str | os.PathLike[str]) -> SetFacts:
    """The facts of the set in a folder, or of the set that a file belongs to.

    They are empty without a manifest, or if it does not list the file.
    """
    place = Path(path) if isinstance(path, (str, os.PathLike)) else Path()
    if os.path.exists(place / NAME):
        return SetFacts(place, Manifest.read(place))
    # A split may have its own folder.
    for folder in list(place.parents)[:2] if os.path.isfile(place) else []:
        with contextlib.suppress(JetonError):
            manifest = Manifest.read(folder)
            if place.relative_to(folder).as_posix() in manifest.files:
                return SetFacts(folder, manifest)
    return SetFacts(place, None)


def tokenizer_of(folder: Path, manifest: Manifest) -> Tokenizer:
    """The tokenizer that was saved with a set."""
    from jeton.tokenizer.loading import load

    file = manifest.tokenizer.get("file")
    if not isinstance(file, str) or file not in manifest.files:
        raise ArgumentError(
            f"{folder}: no format can hold its tokenizer, so it was not saved there; pass the "
            "tokenizer that the set was prepared with"
        )
    tokenizer = load(folder / file)
    if tokenizer.digest != manifest.tokenizer["digest"]:
        raise ArgumentError(f"{folder / file}: is not the tokenizer that the set was prepared with")
    return tokenizer
