"""Defaults for whoever opens a token set: what the manifest in its folder says."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jeton.data.manifest import NAME, Manifest
from jeton.errors import ArgumentError

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer

__all__ = ["Known", "known_of", "tokenizer_of"]


@dataclass(frozen=True)
class Known:
    """What is known of a set."""

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
        """The id of the token that parts its documents, and whether it is `after` each."""
        end = None if self.manifest is None else self.manifest.end_of_text
        return None if end is None else (int(end["id"]), end["place"])

    @property
    def masks(self) -> bool:
        """Whether it has a loss mask."""
        return self.manifest is not None and self.manifest.options.get("messages") is not None

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that was saved with it.

        Raises:
            ArgumentError: There is none.
        """
        if self.manifest is None:
            raise ArgumentError(f"{self.path}: was opened without tokenizer=, which decodes")
        return tokenizer_of(self.path, self.manifest)


def known_of(path: str | os.PathLike[str]) -> Known:
    """What is known of the set in a folder; nothing, if no manifest lies there.

    Raises:
        FormatError: The manifest is damaged.
    """
    folder = Path(path) if isinstance(path, (str, os.PathLike)) else Path()
    has_one = os.path.isfile(folder / NAME)
    return Known(folder, Manifest.read(folder) if has_one else None)


def tokenizer_of(folder: Path, manifest: Manifest) -> Tokenizer:
    """The tokenizer of a set, as it was saved with it.

    Raises:
        ArgumentError: It was not saved, or is not the one that the set was made with.
    """
    from jeton.loading import load

    file = manifest.tokenizer.get("file")
    if not isinstance(file, str) or file not in manifest.files:
        raise ArgumentError(
            f"{folder}: no format holds its tokenizer, so it was not saved there; give the "
            "tokenizer that it was prepared with"
        )
    tokenizer = load(folder / file)
    if tokenizer.digest != manifest.tokenizer["digest"]:
        raise ArgumentError(f"{folder / file}: is not the tokenizer that the set was made with")
    return tokenizer
