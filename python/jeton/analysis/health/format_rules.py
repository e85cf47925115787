"""What each file format would lose of a tokenizer, found out by saving it.

Look here for the formats that are tried; `docs/formats.md` says why each refuses what it refuses.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.subject import Subject
from jeton.errors import FormatWarning, JetonError

__all__ = ["formats"]

_NAMES: Final = {
    "tokenizer.json": "tokenizer.json",
    "tiktoken ranks": "ranks.tiktoken",
    "vocab.json + merges.txt": "vocab.json",
    "SentencePiece .model": "tokenizer.model",
    "vocab.txt": "vocab.txt",
    "a folder": "folder",
}


def formats(subject: Subject) -> Iterator[Finding]:
    """The formats that refuse the tokenizer, or leave something of it out."""
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for format, name in _NAMES.items():
            told = _loss(subject, Path(folder), name)
            if told is not None:
                cases.append(Case(name=format, told=told, evidence="observed"))
    if cases:
        verb = "does" if len(cases) == 1 else "do"
        message = f"{len(cases)} of {len(_NAMES)} formats {verb} not hold all of it"
        yield Finding("format-loss", message, tuple(cases))


def _loss(subject: Subject, folder: Path, name: str) -> str | None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        try:
            subject.tok.save(folder / name)
        except JetonError as error:
            return f"refused: {_without(str(error), folder)}"
    return "; ".join(_without(str(it.message), folder) for it in caught) or None


def _without(message: str, folder: Path) -> str:
    return " ".join(message.replace(f"{folder}/", "").split())
