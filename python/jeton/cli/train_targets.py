"""What `jeton train` writes: which names are allowed, which files it may replace, and the writing.

Look here if a target is refused before counting begins.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jeton
from jeton.cli.signals import temporary_folder
from jeton.cli.targets import PathLike, check_moves, moves, publish, workshop
from jeton.errors import FileError, JetonError, TrainingError, UnsupportedError

RANKS_AS_MODEL = (
    "{}: SentencePiece cannot read a BPE of bytes (train with --alphabet sentencepiece, or end the "
    "name in .tiktoken to write ranks)"
)


def check_ending(path: Path, kind: str, alphabet: str | None, continued: bool) -> None:
    """Fails if the format that the name says cannot hold this kind of tokenizer."""
    name = path.name.lower()
    if path.is_dir():
        return
    if name == "-":
        raise FileError("-: standard output takes text, and a tokenizer is not text (name a file)")
    if name.endswith(".json") or not path.suffix:
        return
    if kind in ("char", "wordlevel"):
        raise FileError(f"{path}: --kind {kind} is saved as tokenizer.json (name it .json)")
    if name.endswith(".txt"):
        if kind != "wordpiece":
            raise FileError(f"{path}: .txt is for --kind wordpiece (.json holds any kind)")
    elif name.endswith((".model", ".tiktoken")):
        ending = path.suffix.lower()
        if kind == "wordpiece":
            raise FileError(f"{path}: {ending} holds no WordPiece (name it .txt or .json)")
        if ending == ".tiktoken" and kind != "bpe":
            raise FileError(f"{path}: .tiktoken holds no Unigram (name it .model or .json)")
        is_bytes = kind == "bpe" and not continued and alphabet in (None, "bytes")
        if ending == ".model" and is_bytes:
            raise FileError(RANKS_AS_MODEL.format(path))
        if ending == ".tiktoken" and alphabet not in (None, "bytes"):
            raise FileError(f"{path}: .tiktoken is for --alphabet bytes (name it .json)")
    else:
        raise FileError(
            f"{path}: the name does not say the format (end it in .json, vocab.json, "
            ".tiktoken, .model or .txt; without an ending it is a folder)"
        )


def companion(path: Path) -> Path | None:
    """The file of merges that is written beside a vocabulary of GPT-2's format."""
    name = path.name
    for vocabulary, merges in (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")):
        if name.lower().endswith(vocabulary):
            return path.with_name(name[: -len(vocabulary)] + merges)
    return None


def is_of_bytes(tok: jeton.Tokenizer) -> bool:
    """Whether this is a BPE of bytes, which `.model` would hold as ranks."""
    try:
        tok.as_tiktoken()
    except UnsupportedError:
        return False
    return True


def rehearse(
    trainer: Any, path: Path, *, inputs: Iterable[PathLike] = (), force: bool = False
) -> None:
    """Fails if the path's format cannot hold the trainer's tokenizers, or if files are in the way.

    It trains on a text of one letter: the answer depends on the trainer's parameters, and hardly
    on the corpus.
    """
    with warnings.catch_warnings(), temporary_folder() as folder:
        warnings.simplefilter("ignore")
        try:
            tok = trainer.train({"a"})
        except TrainingError:
            return
        if path.is_dir():
            (folder / path.name).mkdir(exist_ok=True)  # `.` has no name
        _write(tok, folder, path)
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
        _write(tok, folder, path)
        return publish(folder, path, inputs=inputs, force=force)


def _write(tok: jeton.Tokenizer, folder: Path, path: Path) -> None:
    """Writes into a folder, under the name of `path`, which says the format."""
    try:
        tok.save(folder / path.name)
    except JetonError as error:
        raise error.reworded(error.message.replace(str(folder / path.name), str(path))) from None
