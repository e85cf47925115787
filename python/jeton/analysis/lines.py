"""The lines of a corpus in batches, on which tokenizers are compared side by side.

Look here for which files can be read, and for the digest of the lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from jeton.arguments import checked_errors
from jeton.corpora.corpus import TextsOrFiles, batches, kind_of, paths_or_texts, size_of
from jeton.corpora.documents import documents_of
from jeton.corpora.progress import Progress, check_watch
from jeton.errors import ArgumentTypeError
from jeton.stores.local_copies import LocalFiles, local_files

_BATCH_CHARACTERS: Final = 1_000_000


class Lines:
    """The lines of a corpus that are not blank, in order.

    Files are those that training takes; of records, their field `text` is read.

    Args:
        watch: Called with a `jeton.Progress` while they are read.
        limit: The maximum number of bytes to read; `None` reads all.
        errors: What to do with bytes that are not UTF-8: `"strict"` raises, `"replace"` puts U+FFFD
            in their place, `"ignore"` leaves them out.
        with_ends: Whether a line keeps its end and the blank lines that follow. The lines joined
            are then the text, except for blank lines at its beginning.

    Example:
        >>> lines = Lines(["one\\n\\ntwo", "three"])
        >>> list(lines)
        [['one', 'two', 'three']]
        >>> lines.number, lines.bytes
        (3, 11)
    """

    def __init__(
        self,
        data: TextsOrFiles,
        watch: Callable[[Progress], None] | None = None,
        limit: int | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        *,
        with_ends: bool = False,
    ) -> None:
        check_watch(watch)
        checked_errors(errors)
        if isinstance(data, Mapping):
            raise ArgumentTypeError(
                "corpus must be one corpus, not a mapping: pass one of its values"
            )
        self._paths, self._texts = paths_or_texts(data, None, errors)
        self._watch, self._limit, self._errors = watch, limit, errors
        self._of = _with_ends if with_ends else _without_ends
        self._sha256 = hashlib.sha256()
        self._total = sum(map(size_of, self._paths))
        #: The number of lines so far, and of their bytes of UTF-8.
        self.number = self.bytes = 0

    @property
    def digest(self) -> str:
        """SHA-256 of the lines so far, in hexadecimal."""
        return self._sha256.hexdigest()

    def __iter__(self) -> Iterator[list[str]]:
        documents = self._of_files() if self._paths else ([text] for text in self._texts)
        lines = (line for document in documents for line in self._of(document))
        for batch in batches(lines, _BATCH_CHARACTERS):
            yield self._with_counts(batch)
            if self._limit is not None and self.bytes >= self._limit:
                break
        self._tell(self.bytes)

    def _with_counts(self, batch: list[str]) -> list[str]:
        lines = []
        for line in batch:
            if self._limit is not None and self.bytes >= self._limit:
                break
            data = line.encode("utf-8", "surrogatepass")
            self._sha256.update(b"line %d\n" % len(data))
            self._sha256.update(data)
            self.bytes += len(data)
            self.number += 1
            lines.append(line)
        self._tell(max(self._total, self.bytes) if self._total else 0)
        return lines

    def _tell(self, total: int) -> None:
        if self._watch is not None:
            self._watch(Progress("counting", self.bytes, total, self.bytes))

    def _of_files(self) -> Iterator[Iterable[str]]:
        """The documents, each as texts that end with a line."""
        for here in local_files(self._paths):
            for path in here.paths:
                if kind_of(path) == "text":
                    yield self._lines_of(path, here)
                else:
                    yield from ([text] for text in self._texts_of(path, here))

    def _texts_of(self, path: Path, here: LocalFiles) -> Iterator[str]:
        with here.named():
            for document in documents_of([path], errors=self._errors, unit="\n"):
                yield document.text

    def _lines_of(self, path: Path, here: LocalFiles) -> Iterator[str]:
        """The lines of a text file with their ends; what follows the last end is one, too."""
        lines = self._texts_of(path, here)
        line = next(lines, "")
        for following in lines:
            yield f"{line}\n"
            line = following
        if line:
            yield line


def _without_ends(document: Iterable[str]) -> Iterator[str]:
    return (line for text in document for line in text.splitlines() if line.strip())


def _with_ends(document: Iterable[str]) -> Iterator[str]:
    parts: list[str] = []
    for line in (line for text in document for line in text.splitlines(keepends=True)):
        if line.strip():
            if parts:
                yield "".join(parts)
            parts = [line]
        elif parts:
            parts.append(line)
    if parts:
        yield "".join(parts)
