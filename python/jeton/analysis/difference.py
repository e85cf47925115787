"""Where two tokenizers differ on a corpus: tokens that only one has, texts that are cut otherwise.

Look here for what a stretch is, and for how its weight is counted.

Both tokenizers give boundaries: where a token begins, in the original text. White space before a
boundary is passed over, so that ` the` and `the` begin at the same letter. Between two boundaries
that both have and that have none between them lies a stretch. A stretch is cut otherwise if the
tokens of the one begin elsewhere in it, or are another number, than those of the other. Stretches
part the text, so their differences add up to the difference in tokens.

    A    un|happiness     Both begin a token at `un` and at `happi`, so `un` is cut alike, and
    B    un|happi|ness    `happiness` is a stretch: 1 token and 2. Five times, it weighs 5.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from jeton._core import __version__
from jeton.analysis.lines import Corpus, Lines
from jeton.arguments import check_kind, checked_int
from jeton.corpora.corpus import Progress
from jeton.display.human_readable import counted, visible
from jeton.tokenizer import Tokenizer

__all__ = ["Difference", "OnlyToken", "Stretch", "diff"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OnlyToken:
    """A token that the other tokenizer does not have.

    Attributes:
        id: Its id.
        token: Its bytes in the middle of a text; see `Tokenizer.token_bytes`.
        count: How often the corpus gives it.
    """

    id: int
    token: bytes
    count: int

    def to_dict(self) -> dict[str, Any]:
        """The same, for JSON: bytes as hexadecimal, and as they are shown."""
        shown = visible(self.token)
        return {"id": self.id, "bytes": self.token.hex(), "shown": shown, "count": self.count}


@dataclass(frozen=True)
class Stretch:
    """A piece of text that is cut otherwise, or a whole line.

    Attributes:
        text: The text.
        a: What the first tokenizer makes of it: the bytes of its tokens.
        b: The same of the second.
        count: How often this occurs.
    """

    text: str
    a: tuple[bytes, ...]
    b: tuple[bytes, ...]
    count: int

    @property
    def difference(self) -> int:
        """How many tokens more the second needs for all that occur; below 0, fewer."""
        return self.count * (len(self.b) - len(self.a))

    def to_dict(self) -> dict[str, Any]:
        """The same, for JSON."""
        return {
            "text": self.text,
            "count": self.count,
            "difference": self.difference,
            "a": [visible(token) for token in self.a],
            "b": [visible(token) for token in self.b],
        }


@dataclass(frozen=True, repr=False)
class Difference:
    """Where two tokenizers differ on a corpus.

    Attributes:
        only_a: The tokens that only the first has, what occurs most first.
        only_b: The same of the second.
        stretches: The texts that are cut otherwise, the weightiest first: those that make the
            largest difference in tokens, of equals those that occur most.
        lines: The lines that make the largest difference.
        stretches_in_all: How many different stretches there are; `stretches` holds the first.
        lines_in_all: How many lines the corpus has.
        lines_differing: How many of them are cut otherwise somewhere.
        bytes: How many bytes of UTF-8 the lines have.
        tokens: How many tokens each makes of them.
        inexact: How many lines each does not give back byte by byte. Where this is not 0, fewer
            tokens may come of lost text.
        tokenizers: The digests of the two; see `Tokenizer.digest`.
        corpus: SHA-256 of the lines, in hexadecimal.
        version: The version of jeton that compared.
    """

    only_a: tuple[OnlyToken, ...]
    only_b: tuple[OnlyToken, ...]
    stretches: tuple[Stretch, ...]
    lines: tuple[Stretch, ...]
    stretches_in_all: int
    lines_in_all: int
    lines_differing: int
    bytes: int
    tokens: tuple[int, int]
    inexact: tuple[int, int]
    tokenizers: tuple[str, str]
    corpus: str
    version: str = __version__

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "format": "jeton diff",
            "version": 1,
            "jeton": self.version,
            "tokenizers": list(self.tokenizers),
            "corpus": self.corpus,
            "bytes": self.bytes,
            "tokens": list(self.tokens),
            "inexact": list(self.inexact),
            "lines_in_all": self.lines_in_all,
            "lines_differing": self.lines_differing,
            "stretches_in_all": self.stretches_in_all,
            "only_a": [token.to_dict() for token in self.only_a],
            "only_b": [token.to_dict() for token in self.only_b],
            "stretches": [stretch.to_dict() for stretch in self.stretches],
            "lines": [line.to_dict() for line in self.lines],
        }

    def __repr__(self) -> str:
        a, b = self.tokens
        share = f" ({(b - a) / a:+.1%})" if a else ""
        return (
            f"<Difference: {a:,} and {b:,} tokens{share}; {len(self.only_a):,} and "
            f"{len(self.only_b):,} tokens of their own; {self.lines_differing:,} of "
            f"{counted(self.lines_in_all, 'line')} cut otherwise>"
        )


_LINES: Final = 50
"""How many lines are kept, at most."""


def diff(
    tok_a: Tokenizer,
    tok_b: Tokenizer,
    corpus: Corpus,
    *,
    limit: int = 1_000,
    errors: Literal["strict", "replace", "ignore"] = "strict",
    watch: Callable[[Progress], None] | None = None,
) -> Difference:
    """Where two tokenizers differ: tokens that only one has, texts that are cut otherwise.

    Special tokens in the text are text. The corpus is read line by line and encoded on all cores;
    memory grows with the number of different stretches, not with the corpus.

    Args:
        tok_a: The first tokenizer.
        tok_b: The second.
        corpus: Texts or files, as `Tokenizer.usage` takes them; files of text are read by lines.
        limit: How many stretches are kept, and how many lines if fewer than 50.
        errors: As for `Tokenizer.usage`.
        watch: Called with a `jeton.Progress` as the corpus is read.

    Raises:
        ArgumentTypeError: Something is not what it should be.
        ArgumentError: `limit` is negative.
        MissingFileError, FileError, FormatError: The corpus cannot be read.
        EncodeError: A text that a tokenizer refuses.

    Example:
        >>> import jeton
        >>> from jeton import analysis
        >>> before = jeton.BPETrainer(258).train(["low low lower"])
        >>> after = jeton.BPETrainer(260).train(["low low lower"])
        >>> found = analysis.diff(before, after, ["low lower", "low"])
        >>> found.tokens, found.lines_differing
        ((6, 4), 1)
        >>> found.stretches[0].text, found.stretches[0].a, found.stretches[0].difference
        ('er', (b'e', b'r'), -1)
    """
    check_kind("tok_a", tok_a, Tokenizer, "a Tokenizer")
    check_kind("tok_b", tok_b, Tokenizer, "a Tokenizer")
    limit = checked_int("limit", limit, 0)
    lines = Lines(corpus, watch, errors=errors)
    sides = _Side(tok_a), _Side(tok_b)
    found: Counter[tuple[str, tuple[int, ...], tuple[int, ...]]] = Counter()
    most: list[tuple[int, int, str]] = []
    differing = 0
    for batch in lines:
        text = _Text(batch)
        cuts = [side.cuts(batch, text) for side in sides]
        first = lines.number - len(batch)
        differing += _count_stretches(text, cuts[0], cuts[1], found)
        sizes = [np.diff(cut.offsets) for cut in cuts]
        for at in np.flatnonzero(sizes[0] != sizes[1]).tolist():
            entry = (abs(int(sizes[1][at] - sizes[0][at])), -(first + at), batch[at])
            if len(most) < min(limit, _LINES):
                heapq.heappush(most, entry)
            elif most:
                heapq.heappushpop(most, entry)
    order = sorted(
        found.items(),
        key=lambda it: (-it[1] * abs(len(it[0][2]) - len(it[0][1])), -it[1], it[0]),
    )
    a, b = sides
    return Difference(
        a.only(b),
        b.only(a),
        tuple(
            Stretch(text, a.pieces(of_a), b.pieces(of_b), count)
            for (text, of_a, of_b), count in order[:limit]
        ),
        tuple(
            Stretch(line, a.pieces(tok_a.encode(line)), b.pieces(tok_b.encode(line)), 1)
            for _, _, line in sorted(most, reverse=True)
        ),
        len(found),
        lines.number,
        differing,
        lines.bytes,
        (a.total, b.total),
        (a.inexact, b.inexact),
        (tok_a.digest, tok_b.digest),
        lines.digest,
    )


class _Text:
    """A batch of lines as one text, and where boundaries behind white space move to."""

    def __init__(self, batch: list[str]) -> None:
        self.whole = "\n".join(batch) + "\n"
        lengths = np.fromiter(map(len, batch), np.int64, len(batch)) + 1
        #: Where each line begins in the whole.
        self.starts = np.cumsum(lengths) - lengths
        codes = np.frombuffer(self.whole.encode("utf-32-le", "surrogatepass"), np.uint32)
        is_space = np.isin(codes, _SPACES)
        is_space[self.starts + lengths - 1] = False  # the end of a line is passed by nothing
        places = np.where(is_space, len(codes), np.arange(len(codes)))
        #: For each place, the next that is not white space.
        self.moved = np.minimum.accumulate(places[::-1])[::-1]
        self.ends = self.starts + lengths - 1


_SPACES: Final = np.array(
    [number for number in range(0x3001) if chr(number).isspace()], dtype=np.uint32
)


@dataclass(frozen=True, eq=False)
class _BatchCuts:
    """Tokens of a batch.

    Attributes:
        ids: All of them.
        at: Where each begins in the whole, white space passed over.
        offsets: Where the tokens of each line begin.
    """

    ids: Ints
    at: Ints
    offsets: Ints


class _Side:
    """One of the two tokenizers, and what it makes of the corpus."""

    def __init__(self, tok: Tokenizer) -> None:
        self.tok = tok
        self.tokens = {id: tok.token_bytes(id) for id in tok._core.token_ids().tolist()}
        self.counts = np.zeros(tok.max_id + 1, np.int64)
        self.total = self.inexact = 0

    def cuts(self, batch: list[str], text: _Text) -> _BatchCuts:
        rows, spans = self.tok.encode_batch_with_spans(batch)
        ids, offsets = rows.ids.astype(np.int64), np.asarray(rows.offsets, np.int64)
        self.counts += np.bincount(ids, minlength=len(self.counts))
        self.total += len(ids)
        again = self.tok.decode_batch(rows)
        self.inexact += sum(line != back for line, back in zip(batch, again, strict=True))
        of_line = np.repeat(np.arange(len(batch)), np.diff(offsets))
        at = np.minimum(text.moved[spans[:, 0] + text.starts[of_line]], text.ends[of_line])
        return _BatchCuts(ids, at, offsets)

    def pieces(self, ids: Any) -> tuple[bytes, ...]:
        return tuple(self.tokens[int(id)] for id in ids)

    def only(self, other: _Side) -> tuple[OnlyToken, ...]:
        theirs = {*other.tokens.values()}
        mine = [
            OnlyToken(id, token, int(self.counts[id]))
            for id, token in self.tokens.items()
            if token not in theirs
        ]
        return tuple(sorted(mine, key=lambda token: (-token.count, token.id)))


def _count_stretches(
    text: _Text,
    a: _BatchCuts,
    b: _BatchCuts,
    found: Counter[tuple[str, tuple[int, ...], tuple[int, ...]]],
) -> int:
    """Counts the stretches of a batch that differ; gives how many lines have some."""
    order_a, order_b = np.argsort(a.at, kind="stable"), np.argsort(b.at, kind="stable")
    at_a, at_b = a.at[order_a], b.at[order_b]
    has_a, has_b = (np.zeros(len(text.moved), np.bool_) for _ in range(2))
    has_a[at_a] = has_b[at_b] = True
    is_common = has_a & has_b
    is_common[text.moved[text.starts]] = True
    common = np.flatnonzero(is_common)
    in_a, in_b = (np.searchsorted(common, at, "right") - 1 for at in (at_a, at_b))
    number_a, number_b = (np.bincount(it, minlength=len(common)) for it in (in_a, in_b))
    differs = number_a != number_b
    differs[in_a[at_a != common[in_a]]] = True
    differs[in_b[at_b != common[in_b]]] = True
    first_a, first_b = (np.cumsum(number) - number for number in (number_a, number_b))
    ids_a, ids_b = a.ids[order_a].tolist(), b.ids[order_b].tolist()
    ends = np.append(common[1:], len(text.whole))
    stretches = np.flatnonzero(differs)
    for start, end, in_first, n_a, in_second, n_b in zip(
        common[stretches].tolist(),
        ends[stretches].tolist(),
        first_a[stretches].tolist(),
        number_a[stretches].tolist(),
        first_b[stretches].tolist(),
        number_b[stretches].tolist(),
        strict=True,
    ):
        of_a = tuple(ids_a[in_first : in_first + n_a])
        of_b = tuple(ids_b[in_second : in_second + n_b])
        found[text.whole[start:end].strip(), of_a, of_b] += 1
    lines = np.searchsorted(text.starts, common[stretches], "right") - 1
    return int(np.count_nonzero(np.diff(lines, prepend=-1)))
