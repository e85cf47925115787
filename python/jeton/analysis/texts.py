"""The texts of named corpora in batches; each is read once for all tokenizers.

Look here for how long texts are split, and for which parts of a large corpus are its sample.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import jeton._core as _core
from jeton.arguments import check_text, checked_iterable, checked_path
from jeton.corpora.corpus import kind_of, paths_or_texts, size_of
from jeton.corpora.documents import documents_of
from jeton.corpora.progress import Progress
from jeton.display.human_readable import counted
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    JetonError,
    MissingFileError,
)
from jeton.files import expanded
from jeton.stores.local_copies import local_files
from jeton.stores.urls import is_url, shown

Errors = Literal["strict", "replace", "ignore"]

_READ: Final = 4 << 20
"""Bytes of a file, or characters of texts, that are read at a time."""

LONGEST: Final = 1 << 18
"""A longer text is measured in parts of about this many characters."""

_BLOCK: Final = 1 << 14
"""A sample consists of parts of about this many characters."""

SAMPLE: Final = 2 << 20
"""Maximum bytes of a sample; a smaller corpus is its own sample."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def cut(text: str, longest: int) -> list[str]:
    r"""Splits a text into parts of about `longest` characters at most; joined, they are the text.

    A part ends with a line if possible, otherwise before a space, otherwise anywhere.

    >>> cut("low low\nlower\nnew", 10)
    ['low low\n', 'lower\nnew']
    """
    return _core.cut_text(text, longest)


@dataclass
class Sample:
    """Parts of a corpus, chosen by a hash of their text, so that their order does not matter.

    A corpus of at most `limit` bytes is its own sample.
    """

    limit: int = field(default_factory=lambda: SAMPLE)
    bytes: int = 0
    #: The negated hash of each part, its text and its bytes.
    _heap: list[tuple[int, str, int]] = field(default_factory=list)
    left_out: bool = False
    _most: int = (1 << 32) - 1

    def add(self, texts: _core.TextParts) -> None:
        """Offers the parts of texts; the sample takes some of them."""
        for hashed, part, size in texts.hashed(_BLOCK, self._most):
            self._take(hashed, part, size)

    def _take(self, hashed: int, part: str, size: int) -> None:
        if hashed > self._most:
            return
        heapq.heappush(self._heap, (-hashed, part, size))
        self.bytes += size
        while self.bytes > self.limit and len(self._heap) > 1:
            self._most = -self._heap[0][0]
            self.bytes -= heapq.heappop(self._heap)[2]
            self.left_out = True

    def parts(self) -> list[str]:
        """The parts, in the order of their hashes."""
        return [text for _, text, _ in sorted(self._heap, reverse=True)]

    def joined(self, others: Iterable[Sample]) -> Sample:
        """The sample of several corpora together."""
        total, samples = Sample(self.limit), [self, *others]
        for sample in samples:
            total.left_out |= sample.left_out
            total._most = min(total._most, sample._most)
        for sample in samples:
            for negated, part, size in sample._heap:
                total._take(-negated, part, size)
        return total


T = TypeVar("T")


def ahead(batches: Iterator[T]) -> Generator[T, None, None]:
    """The same batches; another thread prepares the next one while the caller uses one.

    >>> list(ahead(iter([["low"], ["lower"]])))
    [['low'], ['lower']]
    """
    with ThreadPoolExecutor(1, "jeton-reader") as reader:
        following = reader.submit(next, batches, None)
        while (batch := following.result()) is not None:
            following = reader.submit(next, batches, None)
            yield batch


class Corpus:
    """The texts of one corpus, read once.

    Attributes:
        digest: SHA-256 as `Usage.corpus`, after everything was read.
        documents: The number of texts so far that are not empty.
        bytes: Their bytes of UTF-8.
        characters: Their code points.
        spaced_words: Their stretches without white space.
    """

    def __init__(
        self,
        name: str,
        data: Any,
        field: str | None,
        errors: Errors,
        argument: str | None = "corpora",
    ) -> None:
        self.name, self._field, self._errors = name, field, errors
        self._place = name if argument is None else f"{argument}[{name!r}]"
        if isinstance(data, Mapping):
            raise ArgumentTypeError(f"{self._place} must be texts or files, not a mapping")
        with self._named():
            self._paths, self._texts = paths_or_texts(data, field, errors)
        self.size = sum(map(size_of, self._paths))
        self.read = 0
        self.documents = self.bytes = self.characters = self.spaced_words = 0
        self._hash = hashlib.sha256()

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    @property
    def is_of_files(self) -> bool:
        """Whether it is read from files, and not from an iterable of the caller."""
        return bool(self._paths)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Makes errors of the caller's data name the argument."""
        try:
            yield
        except JetonError as error:
            # A file that is not there, or not as it should be, has its own name.
            place = "" if isinstance(error, (FileError, FormatError)) else f"{self._place}: "
            raise error.reworded(f"{place}{error.message}") from None

    def _texts_of_caller(self) -> Iterator[str]:
        """The texts, if the corpus is not files."""
        while True:
            with self._named():
                text = next(self._texts, None)
            if text is None:
                return
            yield text

    def batches(self) -> Iterator[_core.TextParts]:
        """The texts in batches of a few megabytes, long texts in parts."""
        self._batch = _core.TextParts(LONGEST)
        for _ in self._filling():
            if self._batch.bytes >= _READ:
                yield self._swap_batch()
        if self._batch.bytes:
            yield self._swap_batch()

    def _swap_batch(self) -> _core.TextParts:
        """Returns the batch, and begins an empty one."""
        batch, self._batch = self._batch, _core.TextParts(LONGEST)
        self.characters += batch.characters
        self.spaced_words += batch.spaced_words
        return batch

    def _filling(self) -> Iterator[None]:
        """Adds text by text, or part by part, to the batch."""
        for number, text in enumerate(self._texts_of_caller()):
            clean = self._clean(text, number)
            data = clean.encode()
            self._hash.update(b"text %d\n" % len(data))
            self._hash.update(data)
            self.read += len(data)
            self._add(clean, len(data))
            yield
        end = 0
        for here in local_files(self._paths):
            for path in here.paths:
                with here.named():
                    match kind_of(path, self._field):
                        case "text":
                            yield from self._of_text(path)
                        case _:
                            yield from self._of_records(path, end)
                end += size_of(path)
                self.read = end

    def _add(self, text: str, size: int) -> None:
        self._batch.add(text)
        self.bytes += size
        self.documents += bool(text)

    def _clean(self, text: str, number: int) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            if self._errors == "strict":
                raise ArgumentError(
                    f"text {number} of {self._place} is not valid Unicode: it has an unpaired "
                    "surrogate",
                    hint='set errors="replace" or errors="ignore"',
                    parameter="errors",
                ) from None
            return _SURROGATE.sub("\ufffd" if self._errors == "replace" else "", text)
        return text

    def _of_text(self, path: Path) -> Iterator[None]:
        file = _core.TextFile(os.fspath(path), self._errors)
        is_end = False
        while not is_end:
            data, text, begins = file.read(_READ, self._batch)
            is_end = data == 0
            self.read += data
            self.bytes += text
            self.documents += begins
            yield
        self._hash_file(*file.digest())

    def _of_records(self, path: Path, before: int) -> Iterator[None]:
        def read(size: int) -> None:
            self.read = before + size

        for document in documents_of(
            [path],
            field=self._field,
            errors=self._errors,
            read=read,
            digest=lambda size, sha256: self._hash_file(size, bytes.fromhex(sha256)),
        ):
            self._add(document.text, len(document.text.encode()))
            yield

    def _hash_file(self, size: int, sha256: bytes) -> None:
        self._hash.update(b"file %d %s\n" % (size, sha256.hex().encode()))


def corpora_of(
    corpora: object, field: str | None, errors: Errors, argument: str = "corpora"
) -> list[Corpus]:
    """Named corpora: those of a mapping, or a single one with the name `corpus`."""
    if not isinstance(corpora, Mapping):
        corpora = {"corpus": corpora}
    for name in corpora:
        check_text(f"each name of {argument}", name)
        if not name or name == "all":
            raise ArgumentError(f"{argument}: a corpus cannot be named {name!r}; give another name")
    return [Corpus(name, data, field, errors, argument) for name, data in corpora.items()]


def aligned(parallel: object) -> dict[str, list[str]]:
    """The lines of each language that are not blank in any."""
    if not isinstance(parallel, Mapping):
        kind = type(parallel).__name__
        raise ArgumentTypeError(f"parallel must be a mapping of languages to lines, not {kind}")
    lines = {
        check_text("each name of parallel", name): _lines(name, parallel[name]) for name in parallel
    }
    numbers = {name: len(language_lines) for name, language_lines in lines.items()}
    if len(set(numbers.values())) > 1:
        few, many = min(numbers, key=numbers.__getitem__), max(numbers, key=numbers.__getitem__)
        raise ArgumentError(
            f"parallel: line N of each language must say the same, but {few!r} has "
            f"{counted(numbers[few], 'line')} and {many!r} has {numbers[many]:,}"
        )
    if not lines:
        return {}
    whole = [
        all(row)
        for row in zip(
            *(map(str.strip, language_lines) for language_lines in lines.values()), strict=True
        )
    ]
    return {
        name: [line for line, is_whole in zip(language_lines, whole, strict=True) if is_whole]
        for name, language_lines in lines.items()
    }


def _lines(name: str, source: object) -> list[str]:
    if isinstance(source, (str, os.PathLike)):
        path = checked_path(f"parallel[{name!r}]", source, urls=True)
        try:
            with Corpus(name, path, None, "strict", "parallel")._named():
                files = paths_or_texts(path)[0] if is_url(path) else [Path(expanded(path))]
                if len(files) > 1:
                    raise ArgumentError(f"{shown(path)}: there are several files; name one")
                return [document.text for document in documents_of(files, unit=True)]
        except MissingFileError as error:
            raise error.reworded(f"parallel[{name!r}]: {error.message}") from None
    source = checked_iterable(
        f"parallel[{name!r}]", source, "a file or a list of lines", but=(bytes, Mapping)
    )
    return [check_text(f"each line of parallel[{name!r}]", line) for line in source]


class Watched:
    """Reports the progress of reading to a callback."""

    def __init__(self, watch: Callable[[Progress], None] | None, corpora: list[Corpus]) -> None:
        self._watch, self._corpora = watch, corpora
        self._total = (
            0 if any(not corpus.size for corpus in corpora) else sum(c.size for c in corpora)
        )

    def tell(self, *, at_end: bool = False) -> None:
        """Calls the callback."""
        if self._watch is not None:
            read = sum(corpus.read for corpus in self._corpora)
            text = sum(corpus.bytes for corpus in self._corpora)
            total = (self._total or read) if at_end else self._total
            self._watch(Progress("counting", total if at_end else read, total, text))
