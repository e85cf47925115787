"""What each file format would lose of a tokenizer, found by saving it.

Look here for the formats that are tried; `docs/formats.md` says what each refuses, and why.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.subject import Subject
from jeton.errors import FormatWarning, JetonError

_NAMES: Final = {
    "tokenizer.json": "tokenizer.json",
    "tiktoken ranks": "ranks.tiktoken",
    "vocab.json + merges.txt": "vocab.json",
    "SentencePiece .model": "tokenizer.model",
    "vocab.txt": "vocab.txt",
    "a folder": "folder",
}


@looks_for(
    rule("""
    format-loss (note): what formats cannot hold
    Saving fails in a format that cannot hold the tokenizer; others leave some settings to the
    loader.
    Remedy: Save it in a format that loses nothing; see docs/formats.md.
    Details: Every format is written to a folder that is thrown away; see [Formats](formats.md).
    """),
)
def formats(subject: Subject) -> Iterator[Finding]:
    """The formats that refuse the tokenizer, or leave out a part of it."""
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for format, name in _NAMES.items():
            loss = _loss(subject, Path(folder), name)
            if loss is not None:
                cases.append(Case(name=format, told=loss, evidence="observed"))
    verb = "does" if len(cases) == 1 else "do"
    message = f"{len(cases)} of {len(_NAMES)} formats {verb} not hold all of it"
    yield from found("format-loss", cases, message)


def _loss(subject: Subject, folder: Path, name: str) -> str | None:
    with warnings.catch_warnings(record=True) as issues:
        warnings.simplefilter("always", FormatWarning)
        try:
            subject.tok.save(folder / name)
        except JetonError as error:
            return f"refused: {_without(str(error), folder)}"
    return "; ".join(_without(str(it.message), folder) for it in issues) or None


def _without(message: str, folder: Path) -> str:
    return " ".join(message.replace(f"{folder}/", "").split())
