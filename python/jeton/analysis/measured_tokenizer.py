"""A tokenizer while it is measured: its tokens as arrays, and its counts on a corpus.

Look here for what is counted on the lines of a sample (`CorpusTally.lines`) and on the different
words (`CorpusTally.words`), and for how the counts of corpora are added up.
"""

from __future__ import annotations

import contextlib
import functools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.analysis.texts import Sample
from jeton.errors import EncodeError, JetonError
from jeton.results.encoding import TokenBatch
from jeton.tokenizer import Tokenizer

Counts = npt.NDArray[np.int64]

_SPACE_PROBES: Final = ("a", "the", "of", "x", "7")
"""Words that show whether a word alone is split as after a space."""


class Judged:
    """A tokenizer with the properties of its vocabulary that measures need.

    Attributes:
        ids: All ids that have a token, ascending.
        unknown: The id of the unknown token; `None` without one.
        special: Whether each is a special token.
        counter: Counts tokens, in the order of the ids.
    """

    def __init__(self, name: str, tok: Tokenizer) -> None:
        self.name, self.tok = name, tok
        self.ids = tok._core.token_ids()
        self.unknown = tok._core.unknown_id()
        self.special = np.isin(self.ids, list(tok.special_tokens.values()))
        self.counter = _core.TokenCounter(self.ids)

    @functools.cached_property
    def shapes(self) -> tuple[Counts, npt.NDArray[np.bool_]]:
        """The bytes that each token adds to a text; whether it splits a character."""
        return self.tok._core.surface_shapes(self.ids)

    @functools.cached_property
    def stands_behind_space(self) -> bool:
        """Whether a word alone is encoded as one after a space, as SentencePiece does."""
        for word in _SPACE_PROBES:
            try:
                one, two = self.tok.encode(word), self.tok.encode(f"{word} {word}")
            except EncodeError:
                continue
            if one + one != two:
                return False
        return True

    def encode(self, texts: Sequence[str], where: str) -> TokenBatch:
        """The ids of texts."""
        with self.named(where):
            return self.tok.encode_batch(texts)

    @contextlib.contextmanager
    def named(self, where: str) -> Iterator[None]:
        """Makes errors name the tokenizer."""
        try:
            yield
        except JetonError as error:
            raise error.reworded(f"{self._at(where)}: {error.message}") from None

    def _at(self, where: str) -> str:
        return f"{self.name}, {where}"


def count(
    texts: _core.TextParts, words: _core.UnicodeWords, everyone: Sequence[Judged], where: str
) -> None:
    """Counts the words of texts, and their tokens by each tokenizer; these share the threads."""
    counters = [(it.tok._core, it.counter, it._at(where)) for it in everyone]
    _core.count_parts(texts, words, counters)


class WordKinds:
    """The different words of a corpus with their counts, counted once for all tokenizers.

    Attributes:
        weights: The count of each; for words that represent others, including these.
        kinds: The number of different words in the corpus.
        total: The number of words.
    """

    MOST: ClassVar[int] = 1 << 15
    HOW: ClassVar[str] = "over words as often as they occur, each different word encoded alone"

    def __init__(self, words: _core.UnicodeWords) -> None:
        self._counts = counts = words.finish(self.MOST)
        self.kinds, self.total = counts.kinds, counts.total
        self.weights = counts.counts().astype(np.float64)
        common, others = self.weights[: counts.common], self.weights[counts.common :]
        if tail := others.sum():
            others *= (self.total - common.sum()) / tail

    def lengths(self, judged: Judged) -> tuple[Counts, npt.NDArray[np.bool_]]:
        """The number of tokens of each word alone, and whether all of them are known."""
        with judged.named("words"):
            return self._counts.lengths(judged.tok._core, judged.stands_behind_space)

    @property
    def how(self) -> str:
        """How values over these words are aggregated."""
        if len(self.weights) == self.kinds:
            return self.HOW
        return f"{self.HOW}; {len(self.weights):,} of {self.kinds:,} words, all the common ones"


@dataclass
class CorpusTally:
    """The counts of one tokenizer on one corpus, which can be added to those of others."""

    counts: Counts
    """How often each token of the tokenizer occurs."""
    pieces: float = 0.0
    continued: float = 0.0
    single: float = 0.0
    worded: float = 0.0
    lines_tried: int = 0
    lines_exact: int = 0
    lines_all: bool = True
    """Whether all lines were tried."""
    causes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, tuple[str, str]] = field(default_factory=dict)
    sampled: dict[str, npt.NDArray[np.uint32]] = field(default_factory=dict)

    def words(self, judged: Judged, words: WordKinds) -> None:
        """Counts the tokens of each different word alone."""
        pieces, is_known = words.lengths(judged)
        self.pieces += float((pieces * words.weights).sum())
        self.continued += float(words.weights[pieces > 1].sum())
        self.single += float(words.weights[(pieces == 1) & is_known].sum())
        self.worded += float(words.weights.sum())

    def sample(self, judged: Judged, parts: Sequence[str]) -> None:
        """Keeps the ids of the parts of a sample, for pairs."""
        batch = judged.encode(parts, "a sample")
        self.sampled = {part: batch[row] for row, part in enumerate(parts)}

    def lines(self, judged: Judged, lines: Sequence[str], *, are_all: bool) -> None:
        """Counts the lines that decoding restores, and notes the first that it does not."""
        self.lines_all = are_all
        with judged.named("lines"):
            differences = _core.changed_lines(judged.tok._core, lines)
        self.lines_tried += len(lines)
        self.lines_exact += len(lines)
        for row, gave, is_known in differences:
            line = lines[row]
            # A line may itself have the character that replaces bytes that are not UTF-8.
            if line == gave:
                continue
            self.lines_exact -= 1
            cause = cause_of(line, gave) if is_known else "unknown tokens"
            self.causes[cause] += 1
            if cause not in self.examples:
                self.examples[cause] = _differing(line, gave)

    @classmethod
    def sum(cls, tallies: Iterable[CorpusTally], sample: Sample, size: int) -> CorpusTally:
        """The tally of several corpora together, with their common sample."""
        total = cls(np.zeros(size, np.int64))
        samples: dict[str, npt.NDArray[np.uint32]] = {}
        for tally in tallies:
            total.counts += tally.counts
            total.causes += tally.causes
            total.lines_all &= tally.lines_all
            for name in ("pieces", "continued", "single", "worded", "lines_tried", "lines_exact"):
                setattr(total, name, getattr(total, name) + getattr(tally, name))
            for cause, example in tally.examples.items():
                total.examples.setdefault(cause, example)
            samples |= tally.sampled
        total.sampled = {part: samples[part] for part in sample.parts()}
        return total

    def pairs(self, times: Counter[str]) -> tuple[Counts, Counts]:
        """The counts of pairs of neighbours in the sample, and of the first ids of pairs. `times`:
        how often each part of the sample occurs."""
        rows = [ids for part, ids in self.sampled.items() for _ in range(times[part]) if len(ids)]
        ids = np.concatenate([np.empty(0, np.uint32), *rows])
        # In place, because touching fresh memory takes longer than computing the numbers.
        keys = ids[:-1].astype(np.uint64)
        keys <<= np.uint64(32)
        keys |= ids[1:]
        # Pairs across the border of two sequences sort last, and are removed.
        keys[np.cumsum([len(row) for row in rows[:-1]], dtype=np.int64) - 1] = _LARGEST
        keys.sort()
        keys = keys[: len(keys) - len(rows[1:])]
        starts = _starts(keys)
        pairs = np.diff(starts, append=len(keys))
        firsts = _starts(keys[starts] >> np.uint64(32))
        return pairs, np.diff(starts[firsts], append=len(keys))


_LARGEST: Final = np.uint64((1 << 64) - 1)


def _starts(numbers: npt.NDArray[np.uint64]) -> Counts:
    """The index of the first of each run of equal numbers in a sorted list."""
    changes = np.empty(len(numbers), np.bool_)
    changes[:1] = True
    np.not_equal(numbers[1:], numbers[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def cause_of(line: str, gave: str) -> str:
    """Why a text has changed: the mildest change that explains it.

    >>> cause_of("a  b", "a b"), cause_of("A, b", "a , b"), cause_of("é", "e"), cause_of("x", "y")
    ('white space', 'lower case', 'normalisation', 'other')
    """
    before, after = ("".join(text.split()) for text in (line, gave))
    if before == after:
        return "white space"
    if before.lower() == after:
        return "lower case"
    if _plain(before) == _plain(after):
        return "normalisation"
    return "other"


def _plain(text: str) -> str:
    """A text without case, marks and white space, in compatibility characters."""
    decomposed = unicodedata.normalize("NFKD", text).lower()
    return "".join(c for c in decomposed if not unicodedata.combining(c) and not c.isspace())


_AROUND: Final = 20


def _differing(line: str, gave: str) -> tuple[str, str]:
    """Both texts around the first place where they differ."""
    at = next((i for i, (a, b) in enumerate(zip(line, gave, strict=False)) if a != b), None)
    at = min(len(line), len(gave)) if at is None else at
    start = max(0, at - _AROUND)
    return line[start : at + _AROUND], gave[start : at + _AROUND]
