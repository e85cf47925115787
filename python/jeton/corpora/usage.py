"""How often each token of a tokenizer occurs in a corpus, and which never occur.

Look here for the result of `Tokenizer.usage`, and for its file format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from jeton._core import __version__
from jeton.arguments import check_text, checked_errors, checked_int, checked_numbers
from jeton.corpora.corpus import TextsOrFiles, batches, paths_or_texts
from jeton.corpora.progress import Progress, check_watch
from jeton.corpora.token_blocks.blocks import Blocks, DocumentEncoding
from jeton.corpora.token_blocks.blocks import SourcePosition as Read
from jeton.corpora.token_blocks.files import FileSource
from jeton.corpora.token_blocks.rows import TextBatch, blocks_of_texts, numbered
from jeton.display.human_readable import counted
from jeton.errors import ArgumentError
from jeton.saved_json import Saved

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_BATCH_CHARACTERS = 4_000_000
"""Text that is encoded at a time: enough for all cores, little enough to notice Ctrl-C."""


@dataclass(frozen=True, eq=False, repr=False)
class Usage(Saved):
    """How often each token occurs in a corpus.

    Attributes:
        ids: All ids that have a token, ascending: int64 of shape (vocabulary,).
        counts: How often each of these occurs: int64 of shape (vocabulary,).
        documents: The number of documents, without empty ones.
        bytes: The size of these in bytes of UTF-8.
        tokenizer: The digest of the tokenizer; see `Tokenizer.digest`.
        corpus: SHA-256 of the corpus, in hexadecimal: of its texts, or of the contents of its
            files, in order.
        version: The version of jeton that counted.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer().train("hello")
        >>> usage = tok.usage(["hole", "eel"])
        >>> usage
        Usage(7 tokens of 2 documents: 4 of 4 used)
        >>> usage[tok.vocab["e"]], usage.most_common(1)
        (3, [(0, 3)])
        >>> import jeton.analysis, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     usage.save(os.path.join(folder, "usage.json"))
        ...     jeton.analysis.Usage.load(os.path.join(folder, "usage.json")) == usage
        True
    """

    _NOUN: ClassVar[str] = "usage"
    _INDENT: ClassVar[int | None] = None

    ids: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    documents: int
    bytes: int
    tokenizer: str
    corpus: str
    version: str = __version__

    def __post_init__(self) -> None:
        for name in ("ids", "counts"):
            object.__setattr__(self, name, checked_numbers(name, getattr(self, name)))
        if len(self.ids) != len(self.counts) or (np.diff(self.ids) <= 0).any():
            raise ArgumentError(
                f"counts: {len(self.counts)} for {len(self.ids)} ids, which must be ascending"
            )
        for name in ("documents", "bytes"):
            checked_int(name, getattr(self, name), 0)
        for name in ("tokenizer", "corpus", "version"):
            check_text(name, getattr(self, name))

    @property
    def total(self) -> int:
        """The number of tokens of the corpus."""
        return int(self.counts.sum())

    @property
    def used(self) -> int:
        """The number of different tokens that occur."""
        return int(np.count_nonzero(self.counts))

    @property
    def coverage(self) -> float | None:
        """The share of the vocabulary that occurs; `None` for an empty vocabulary."""
        return self.used / len(self.ids) if len(self.ids) else None

    @property
    def never_used(self) -> npt.NDArray[np.int64]:
        """The ids of tokens that do not occur, ascending."""
        never: npt.NDArray[np.int64] = self.ids[self.counts == 0]
        return never

    def most_common(self, n: int) -> list[tuple[int, int]]:
        """The most frequent ids with their counts; equally frequent ones by id.

        Args:
            n: The maximum number of ids.

        Raises:
            ArgumentTypeError: `n` is not an int.
            ArgumentError: `n` is negative.
        """
        order = np.argsort(-self.counts, kind="stable")[: checked_int("n", n, 0)]
        order = order[self.counts[order] > 0]
        return list(zip(self.ids[order].tolist(), self.counts[order].tolist(), strict=True))

    def tokens_for(self, share: float) -> int:
        """How many of the most frequent tokens make up a share of all tokens of the corpus.

        Args:
            share: From 0 to 1.

        Raises:
            ArgumentError: `share` is not from 0 to 1.

        Example:
            >>> import jeton
            >>> usage = jeton.CharTrainer().train("hello").usage(["eee", "lo"])
            >>> usage.tokens_for(0.5), usage.tokens_for(1.0)
            (1, 3)
        """
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise ArgumentError(f"share must be a number from 0 to 1, not {share!r:.40}")
        running = np.cumsum(np.sort(self.counts)[::-1])
        target = share * self.total
        return min(self.used, int(np.searchsorted(running, target)) + 1) if target > 0 else 0

    def __getitem__(self, id: int) -> int:
        """How often the token of an id occurs; 0 for an id without a token."""
        number = checked_int("id", id, 0)
        at = int(np.searchsorted(self.ids, number))
        is_token = at < len(self.ids) and int(self.ids[at]) == number
        return int(self.counts[at]) if is_token else 0

    def __iter__(self) -> Iterator[int]:
        """The ids of all tokens, ascending."""
        return iter(self.ids.tolist())

    def __len__(self) -> int:
        """The number of tokens of the vocabulary."""
        return len(self.ids)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and bool(np.isin(id, self.ids))

    def to_dict(self) -> dict[str, Any]:
        """The whole result as values for JSON."""
        # Ascending ids as half-open ranges.
        runs = np.split(self.ids, np.flatnonzero(np.diff(self.ids) > 1) + 1)
        ids = [[int(run[0]), int(run[-1]) + 1] for run in runs if run.size]
        return {**super().to_dict(), "ids": ids, "counts": self.counts.tolist()}

    @classmethod
    def _of_record(cls, content: Any) -> Usage:
        if any(not 0 <= start < stop <= 1 << 32 for start, stop in content["ids"]):
            raise ValueError("its ids are not ranges")
        sizes = [stop - start for start, stop in content["ids"]]
        if sum(sizes) != len(content["counts"]):
            raise ValueError(f"{len(content['counts'])} counts for {sum(sizes)} ids")
        ids = [np.arange(start, stop, dtype=np.int64) for start, stop in content["ids"]]
        return cls(
            np.concatenate([np.empty(0, np.int64), *ids]),
            content["counts"],
            *(content[name] for name in ("documents", "bytes", "tokenizer", "corpus", "jeton")),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Usage):
            return NotImplemented
        return (
            (self.tokenizer, self.corpus) == (other.tokenizer, other.corpus)
            and np.array_equal(self.ids, other.ids)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]  # its arrays can be written to

    def __repr__(self) -> str:
        return (
            f"Usage({counted(self.total, 'token')} of {counted(self.documents, 'document')}: "
            f"{self.used:,} of {len(self.ids):,} used)"
        )


def usage_of(
    tok: BaseTokenizer,
    data: TextsOrFiles,
    *,
    field: str | None = None,
    errors: Literal["strict", "replace", "ignore"] = "strict",
    watch: Callable[[Progress], None] | None = None,
) -> Usage:
    """The usage that `Tokenizer.usage` returns."""
    if field is not None:
        check_text("field", field)
    checked_errors(errors)
    check_watch(watch)
    paths, texts = paths_or_texts(data, field, errors)
    counter = _Counter(tok, watch)
    encoding = DocumentEncoding(tok, field, errors)
    if paths:
        files = FileSource(paths, encoding)
        counter.add(files.blocks(Read()), files.size)
    else:
        counter.add(blocks_of_texts(counter.hashed(texts), encoding, Read()), 0)
    return counter.usage()


class _Counter:
    """Counts tokens, and hashes the corpus."""

    def __init__(self, tok: BaseTokenizer, watch: Callable[[Progress], None] | None) -> None:
        self.tok, self.watch = tok, watch
        self.ids = tok._core.token_ids().astype(np.int64)
        self.is_dense = len(self.ids) == tok.vocab.max_id + 1
        self.counts = np.zeros(len(self.ids), np.int64)
        self.corpus = hashlib.sha256()
        self.read = Read()

    def add(self, blocks: Blocks, size: int) -> None:
        """Counts the tokens of blocks; `size` is that of the files, or 0."""
        text = 0
        for block in blocks:
            places = block.tokens if self.is_dense else np.searchsorted(self.ids, block.tokens)
            self.counts += np.bincount(places, minlength=len(self.counts))
            for _, size_of_file, sha256 in block.digests:
                self.corpus.update(b"file %d %s\n" % (size_of_file, sha256.encode()))
            self.read = block.after or self.read
            text = max(text, self.read.bytes)
            self._tell(block.read or text, size, text)
        self._tell(size or text, size or text, text)

    def hashed(self, texts: Iterable[str]) -> Iterator[TextBatch]:
        """Batches of texts; hashes them."""
        first = 0
        for batch in batches(texts, _BATCH_CHARACTERS):
            for text in batch:
                data = text.encode("utf-8", "surrogatepass")
                self.corpus.update(b"text %d\n" % len(data))
                self.corpus.update(data)
            yield TextBatch(batch, numbered(first, "text"))
            first += len(batch)

    def _tell(self, done: int, total: int, text: int) -> None:
        if self.watch is not None:
            self.watch(Progress("counting", done, total, text))

    def usage(self) -> Usage:
        """The counts as a `Usage`."""
        return Usage(
            self.ids,
            self.counts,
            self.read.documents,
            self.read.bytes,
            self.tok.digest,
            self.corpus.hexdigest(),
        )
