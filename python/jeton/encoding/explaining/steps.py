"""The steps of encoding as data: what each stage was given, and what it made of that.

Look here for the classes that `Tokenizer.explain` gives. They hold what happened and nothing else;
`Explanation` in `explanation.py` holds all of them, and `view_frames.py` makes frames of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Added",
    "Edge",
    "Lattice",
    "LongestMatch",
    "LookUp",
    "Match",
    "Merge",
    "Merging",
    "ModelStep",
    "Piece",
    "PostStep",
    "Step",
    "Stretch",
    "TextStep",
    "Token",
    "Unit",
    "model_step",
    "tokens_of",
]

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its id, and how the vocabulary spells it."""

    id: int
    token: bytes


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the text on its way through the first stages.

    Attributes:
        text: What it has become.
        span: Where it comes from: characters of the text, half open.
        id: The id, of an added token; no later stage sees it.
    """

    text: str
    span: Span
    id: int | None = None


@dataclass(frozen=True)
class TextStep:
    """A stage before the model: the text before it and after it.

    Attributes:
        stage: Which stage.
        name: The component, with its settings.
        before: The stretches that it was given.
        after: What it made of them.
    """

    stage: Literal["added tokens", "normalizer", "pre-tokenizer"]
    name: str
    before: tuple[Stretch, ...]
    after: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """What a model looks up: a character, a byte or a word.

    Attributes:
        text: The bytes of it, with the marks that the model puts there.
        tokens: What it becomes. None where it is dropped, or is part of an unknown run.
        how: Whether it is a token (`"known"`), is written as `<0xNN>` (`"bytes"`), is
            `"unknown"`, belongs to the unknown token before it (`"fused"`), or is `"dropped"`.
    """

    text: bytes
    tokens: tuple[Token, ...]
    how: Literal["known", "bytes", "unknown", "fused", "dropped"]


@dataclass(frozen=True, slots=True)
class Merge:
    """Two neighbours become one token.

    Attributes:
        rank: The place of the merge in the list, from 0; for ranks, the id that it makes.
        score: The score of what it makes, in a SentencePiece BPE, which goes by that.
        left, right: The bytes of the two.
        made: What they become; without an id (-1) where no token has these bytes.
        at: Which of the symbols that the piece began with is the first of the left one.
    """

    rank: int | None
    score: float | None
    left: bytes
    right: bytes
    made: Token
    at: int


@dataclass(frozen=True, slots=True)
class Match:
    """A place in a word, and the longest token there.

    Attributes:
        start: The place, in characters.
        tried: The candidates, longest first; the last is the token, if there is one.
        token: The token; `None` where nothing fits.
    """

    start: int
    tried: tuple[str, ...]
    token: Token | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A piece that may stand from one place to another, in characters.

    Attributes:
        start, end: The places.
        text: What stands there.
        id: Its id; `None` for a character that no piece covers.
        score: Its score.
        total: The best sum of scores up to `end` by way of it.
        best: Whether it is on the best path.
    """

    start: int
    end: int
    text: str
    id: int | None
    score: float
    total: float
    best: bool


@dataclass(frozen=True)
class Piece:
    """What the model was given at once, and the tokens that it made.

    Attributes:
        text: The piece.
        span: Where it comes from: characters of the text, half open.
        tokens: Its tokens.
    """

    text: str
    span: Span
    tokens: tuple[Token, ...]


@dataclass(frozen=True)
class Added(Piece):
    """An added token: the model does not see it."""


@dataclass(frozen=True)
class Merging(Piece):
    """A BPE at work.

    Attributes:
        whole: The piece is a token as it stands, and nothing is merged.
        units: What it is cut into, and what each of these becomes; of a SentencePiece model, which
            merges first, the parts that merging leads to.
        symbols: What is there before the first merge.
        merges: The merges in the order in which they are done.
    """

    whole: bool
    units: tuple[Unit, ...]
    symbols: tuple[bytes, ...]
    merges: tuple[Merge, ...]

    def rows(self) -> Iterator[list[bytes]]:
        """The symbols before the first merge, and after each."""
        row = dict(enumerate(self.symbols))
        yield list(row.values())
        following = {at: at + 1 for at in row}
        for merge in self.merges:
            right = following[merge.at]
            row[merge.at] = merge.made.token
            following[merge.at] = following.pop(right)
            del row[right]
            yield list(row.values())


@dataclass(frozen=True)
class LongestMatch(Piece):
    """WordPiece at work.

    Attributes:
        matches: The longest match at each place, up to the first where nothing fits.
        too_long: The word has more characters than the model takes, and is unknown at once.
    """

    matches: tuple[Match, ...]
    too_long: bool = False


@dataclass(frozen=True)
class Lattice(Piece):
    """Unigram at work.

    Attributes:
        edges: All pieces that may stand in the text, by where they begin and how long they are.
        score: The sum of scores of the best path.
    """

    edges: tuple[Edge, ...]
    score: float

    @property
    def path(self) -> tuple[Edge, ...]:
        """The pieces of the best path, before unknown neighbours become one or bytes."""
        return tuple(edge for edge in self.edges if edge.best)


@dataclass(frozen=True)
class LookUp(Piece):
    """A model that looks up words or characters.

    Attributes:
        units: The words or characters.
    """

    units: tuple[Unit, ...]


@dataclass(frozen=True)
class ModelStep:
    """The model: what it made of each piece.

    Attributes:
        name: Its kind.
        pieces: The pieces in the order of the text, added tokens among them.
    """

    name: str
    pieces: tuple[Piece, ...]
    stage: Literal["model"] = "model"

    @property
    def ids(self) -> list[int]:
        """The ids of all tokens."""
        return [token.id for piece in self.pieces for token in piece.tokens]


@dataclass(frozen=True)
class PostStep:
    """The post-processor: the tokens before it and after it.

    Attributes:
        name: The component.
        before: The tokens of the model.
        after: The tokens of the text.
        added: Which of `after` it has added.
    """

    name: str
    before: tuple[Token, ...]
    after: tuple[Token, ...]
    added: tuple[bool, ...]
    stage: Literal["post-processor"] = "post-processor"

    @property
    def ids(self) -> list[int]:
        """The ids of all tokens."""
        return [token.id for token in self.after]


Step: TypeAlias = TextStep | ModelStep | PostStep
"""One stage, or one step of a stage that is a sequence."""


def tokens_of(steps: Sequence[Step]) -> tuple[Token, ...]:
    """The tokens that all steps together give."""
    last = steps[-1]
    return last.after if isinstance(last, PostStep) else _tokens(model_step(steps))


def model_step(steps: Iterable[Step]) -> ModelStep:
    """What the model did."""
    return next(step for step in steps if isinstance(step, ModelStep))


def _tokens(model: ModelStep) -> tuple[Token, ...]:
    return tuple(token for piece in model.pieces for token in piece.tokens)
