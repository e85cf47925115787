"""What `jeton train` writes: which files it may replace, and the writing.

Look here if a target is refused before counting begins.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jeton
from jeton.cli.targets import PathLike, check_moves, moves, publish, workshop
from jeton.cli.verify import holds_ranks
from jeton.errors import FileError, TrainingError


def rehearse(
    trainer: Any, path: Path, *, inputs: Iterable[PathLike] = (), force: bool = False
) -> None:
    """Fails if the path's format cannot hold the trainer's tokenizers, or if files are in the way.

    It trains on a letter and a digit: the answer depends on the trainer's parameters, and hardly on
    the corpus.
    """
    with warnings.catch_warnings(), workshop(path) as folder:
        warnings.simplefilter("ignore")
        try:
            tok = trainer.train({"a 1"})
        except TrainingError:
            return
        tok.save(folder / path.name)
        if path.suffix.lower() == ".model" and holds_ranks(folder / path.name):
            raise FileError(
                f"{path}: SentencePiece cannot read a BPE of bytes (train with --alphabet "
                "sentencepiece, or end the name in .tiktoken to write ranks)"
            )
        check_moves(moves(folder, path), inputs, force)


def save(
    tok: jeton.Tokenizer,
    path: Path,
    *,
    inputs: Iterable[PathLike] = (),
    force: bool = False,
) -> list[Path]:
    """Writes into a folder beside `path`, then moves the files; returns their paths."""
    with workshop(path) as folder:
        tok.save(folder / path.name)
        return publish(folder, path, inputs=inputs, force=force)
