"""Where two tokenizers differ on a corpus: tokens that only one has, texts split differently.

Look here for what a stretch is, and for how its weight is counted.

Each tokenizer has boundaries: the places of the original text where a token begins. A boundary
moves past white space, so that ` the` and `the` begin at the same letter. A stretch is the text
between two neighbouring boundaries that both tokenizers have. It is split differently if the two
have different boundaries inside it, or different numbers of tokens. Stretches tile the text, so
their differences add up to the difference in tokens.

    A    un|happiness     Both begin a token at `un` and at `happi`, so they split `un` alike, and
    B    un|happi|ness    `happiness` is a stretch: 1 token and 2. Five times, it weighs 5.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from jeton._core import __version__
from jeton.analysis.lines import Lines
from jeton.arguments import check_kind, checked_int
from jeton.corpora.corpus import TextsOrFiles
from jeton.corpora.progress import Progress
from jeton.display.human_readable import counted, visible
from jeton.tokenizer import Tokenizer

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OnlyToken:
    """A token that the other tokenizer does not have.

    Attributes:
        id: Its id.
        token: Its bytes in the middle of a text; see `tok.vocab.token_bytes`.
        count: How often it occurs in the corpus.
    """

    id: int
    token: bytes
    count: int

    def to_dict(self) -> dict[str, Any]:
        """The token as values for JSON: bytes as hexadecimal, and as people see them."""
        text = visible(self.token)
        return {"id": self.id, "bytes": self.token.hex(), "shown": text, "count": self.count}


@dataclass(frozen=True)
class Stretch:
    """A piece of text that the two split differently, or a whole line.

    Attributes:
        text: The text.
        a: The tokens of the first tokenizer, as bytes.
        b: The tokens of the second.
        count: How often this occurs.
    """

    text: str
    a: tuple[bytes, ...]
    b: tuple[bytes, ...]
    count: int

    @property
    def difference(self) -> int:
        """How many tokens more the second needs for all occurrences; below 0, fewer."""
        return self.count * (len(self.b) - len(self.a))

    def to_dict(self) -> dict[str, Any]:
        """The stretch as values for JSON."""
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
        only_a: The tokens that only the first has, the most frequent first.
        only_b: The tokens that only the second has.
        stretches: The texts that the two split differently, ordered by difference in tokens, then
            by frequency.
        lines: The lines with the largest difference.
        stretches_in_all: The number of different stretches; `stretches` holds the first.
        lines_in_all: The number of lines of the corpus.
        lines_differing: The number of lines that the two split differently.
        bytes: The size of the lines in bytes of UTF-8.
        tokens: The number of tokens of each tokenizer.
        inexact: For each tokenizer, the number of lines that decoding does not restore byte by
            byte. If it is not 0, lost text may be why there are fewer tokens.
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
        """The whole result as values for JSON."""
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
            f"{counted(self.lines_in_all, 'line')} split differently>"
        )


_LINES: Final = 50
"""Maximum number of lines in the result."""


def diff(
    tok_a: Tokenizer,
    tok_b: Tokenizer,
    corpus: TextsOrFiles,
    *,
    limit: int = 1_000,
    errors: Literal["strict", "replace", "ignore"] = "strict",
    watch: Callable[[Progress], None] | None = None,
) -> Difference:
    """Where two tokenizers differ: tokens that only one has, texts that they split differently.

    Special tokens in the text stay text. The corpus is read line by line and encoded on all cores;
    memory grows with the number of different stretches, not with the corpus.

    Args:
        tok_a: The first tokenizer.
        tok_b: The second.
        corpus: Texts or files, as `Tokenizer.usage` takes them; files of text are read by lines.
        limit: The maximum number of stretches, and of lines if it is less than 50.
        errors: As for `Tokenizer.usage`.
        watch: Called with a `jeton.Progress` as the corpus is read.

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ArgumentError: `limit` is negative.
        MissingFileError, FileError, FormatError: The corpus cannot be read.
        EncodeError: A tokenizer cannot encode a text.

    Example:
        >>> import jeton
        >>> from jeton import analysis
        >>> before = jeton.BPETrainer(258).train(["low low lower"])
        >>> after = jeton.BPETrainer(260).train(["low low lower"])
        >>> difference = analysis.diff(before, after, ["low lower", "low"])
        >>> difference.tokens, difference.lines_differing
        ((6, 4), 1)
        >>> difference.stretches[0].text, difference.stretches[0].a
        ('er', (b'e', b'r'))
    """
    check_kind("tok_a", tok_a, Tokenizer, "a Tokenizer")
    check_kind("tok_b", tok_b, Tokenizer, "a Tokenizer")
    limit = checked_int("limit", limit, 0)
    lines = Lines(corpus, watch, errors=errors)
    sides = _Side(tok_a), _Side(tok_b)
    counts: Counter[tuple[str, tuple[int, ...], tuple[int, ...]]] = Counter()
    most: list[tuple[int, int, str]] = []
    differing = 0
    for batch in lines:
        text = _Text(batch)
        cuts = [side.cuts(batch, text) for side in sides]
        first = lines.number - len(batch)
        differing += _count_stretches(text, cuts[0], cuts[1], counts)
        sizes = [np.diff(side_cuts.offsets) for side_cuts in cuts]
        for at in np.flatnonzero(sizes[0] != sizes[1]).tolist():
            entry = (abs(int(sizes[1][at] - sizes[0][at])), -(first + at), batch[at])
            if len(most) < min(limit, _LINES):
                heapq.heappush(most, entry)
            elif most:
                heapq.heappushpop(most, entry)
    order = sorted(
        counts.items(),
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
        len(counts),
        lines.number,
        differing,
        lines.bytes,
        (a.total, b.total),
        (a.inexact, b.inexact),
        (tok_a.digest, tok_b.digest),
        lines.digest,
    )


class _Text:
    """A batch of lines as one text, and where boundaries move past white space."""

    def __init__(self, batch: list[str]) -> None:
        self.whole = "\n".join(batch) + "\n"
        lengths = np.fromiter(map(len, batch), np.int64, len(batch)) + 1
        #: Where each line begins in the whole.
        self.starts = np.cumsum(lengths) - lengths
        codes = np.frombuffer(self.whole.encode("utf-32-le", "surrogatepass"), np.uint32)
        is_space = np.isin(codes, _SPACES)
        is_space[self.starts + lengths - 1] = False  # no boundary moves past the end of a line
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
        at: Where each begins in the whole, moved past white space.
        offsets: The index of the first token of each line.
    """

    ids: Ints
    at: Ints
    offsets: Ints


class _Side:
    """One of the two tokenizers, and its counts on the corpus."""

    def __init__(self, tok: Tokenizer) -> None:
        self.tok = tok
        self.tokens = {id: tok.vocab.token_bytes(id) for id in tok._core.token_ids().tolist()}
        self.counts = np.zeros(tok.vocab.max_id + 1, np.int64)
        self.total = self.inexact = 0

    def cuts(self, batch: list[str], text: _Text) -> _BatchCuts:
        rows = self.tok.encode_batch(batch, spans="characters")
        spans = rows.spans
        ids, offsets = rows.ids.astype(np.int64), np.asarray(rows.offsets, np.int64)
        self.counts += np.bincount(ids, minlength=len(self.counts))
        self.total += len(ids)
        again = self.tok.decode_batch(rows)
        self.inexact += sum(line != back for line, back in zip(batch, again, strict=True))
        of_line = np.repeat(np.arange(len(batch)), np.diff(offsets))
        at = np.minimum(text.moved[spans[:, 0] + text.starts[of_line]], text.ends[of_line])
        return _BatchCuts(ids, at, offsets)

    def pieces(self, ids: Iterable[int]) -> tuple[bytes, ...]:
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
    counts: Counter[tuple[str, tuple[int, ...], tuple[int, ...]]],
) -> int:
    """Counts the stretches of a batch that differ; returns how many lines have one."""
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
        counts[text.whole[start:end].strip(), of_a, of_b] += 1
    lines = np.searchsorted(text.starts, common[stretches], "right") - 1
    return int(np.count_nonzero(np.diff(lines, prepend=-1)))
