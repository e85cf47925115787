"""The steps of encoding as data: the input and the output of each stage.

Look here for the classes in the result of `Tokenizer.explain`. `Explanation` in `explanation.py`
holds all steps, and `view_frames.py` turns them into frames for a view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    "TextStage",
    "TextStep",
    "Token",
    "Unit",
    "tokens_of",
]

Span: TypeAlias = tuple[int, int]
TextStage: TypeAlias = Literal["added tokens", "normalizer", "pre-tokenizer"]


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its id, and how the vocabulary spells it."""

    id: int
    token: bytes


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the text between two of the first stages.

    Attributes:
        text: The part, after the stages so far.
        span: Where it comes from: characters of the original text, half open.
        id: The id, if it is an added token; no later stage sees it.
    """

    text: str
    span: Span
    id: int | None = None


@dataclass(frozen=True)
class TextStep:
    """A stage before the model: the text before it and after it.

    Attributes:
        stage: The kind of stage.
        name: The component, with its settings.
        before: Its input.
        after: Its output.
    """

    stage: TextStage
    name: str
    before: tuple[Stretch, ...]
    after: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a piece that a model looks up: a character, a byte or a word.

    Attributes:
        text: Its bytes, with the marks that the model adds.
        tokens: Its tokens. None if it is dropped, or is part of a longer unknown run.
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
        rank: The index of the merge in the list; for ranks, the id of the merged token.
        score: In a SentencePiece BPE, which merges by scores, the score of the merged token.
        left, right: The bytes of the two.
        made: The merged token; its id is -1 if no token has these bytes.
        at: The index of the first symbol of `left`, among the symbols before the first merge.
    """

    rank: int | None
    score: float | None
    left: bytes
    right: bytes
    made: Token
    at: int


@dataclass(frozen=True, slots=True)
class Match:
    """A position in a word, and the longest token there.

    Attributes:
        start: The position, in characters.
        tried: The candidates, longest first; the last is the token, if there is one.
        token: The token; `None` if nothing fits.
    """

    start: int
    tried: tuple[str, ...]
    token: Token | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A piece that may cover a range of the text.

    Attributes:
        start, end: The range, in characters.
        text: The text of the range.
        id: The id of the piece; `None` for a character that no piece covers.
        score: The score of the piece.
        total: The best sum of scores up to `end` on a path through this edge.
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
    """An input of the model, and its tokens.

    Attributes:
        text: The piece.
        span: Where it comes from: characters of the original text, half open.
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
        whole: Whether the whole piece is a token, so that nothing is merged.
        units: The parts that it is split into, and their tokens; in a SentencePiece model, which
            merges first, the parts after merging.
        symbols: The symbols before the first merge.
        merges: The merges in their order.
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
        matches: The longest match at each position, up to the first where nothing fits.
        too_long: Whether the word has more characters than the model takes: then it is unknown.
    """

    matches: tuple[Match, ...]
    too_long: bool = False


@dataclass(frozen=True)
class Lattice(Piece):
    """Unigram at work.

    Attributes:
        edges: All pieces that occur in the text, by their start and their length.
        score: The sum of scores of the best path.
    """

    edges: tuple[Edge, ...]
    score: float

    @property
    def path(self) -> tuple[Edge, ...]:
        """The pieces of the best path, before unknown neighbours become one token or bytes."""
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
    """The model: how it encoded each piece.

    Attributes:
        name: Its kind.
        pieces: The pieces in the order of the text, including added tokens.
    """

    name: str
    pieces: tuple[Piece, ...]
    stage: Literal["model"] = "model"

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of all pieces."""
        return tuple(token for piece in self.pieces for token in piece.tokens)

    @property
    def ids(self) -> list[int]:
        """The ids of all tokens."""
        return [token.id for token in self.tokens]


@dataclass(frozen=True)
class PostStep:
    """The post-processor: the tokens before it and after it.

    Attributes:
        name: The component.
        before: The tokens of the model.
        after: The tokens of the text.
        added: Which tokens of `after` the post-processor added.
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
    """The tokens after the last step."""
    last = steps[-1]
    assert not isinstance(last, TextStep)  # the model always comes after the text
    return last.after if isinstance(last, PostStep) else last.tokens
