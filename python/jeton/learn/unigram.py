"""Training Unigram, watched: seeds, expectation and maximization, pruning, and the best paths.

Look here for `watch_unigram`, which gives steps as data, and for what a view shows of them. The
algorithm is the page `jeton.learn.reference.unigram`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from jeton.display.views.frames import Arc, Arcs, Bar, Bars, Block, Chip, Frame, Row, Rows, Table
from jeton.errors import ArgumentError
from jeton.learn.reference import unigram
from jeton.learn.textbook import Words, word_counts

__all__ = ["UnigramStep", "frames_of_unigram", "watch_unigram"]

_LONGEST = 65
"""Characters of a word, `▁` among them."""

_MAX_BARS = 14
_MAX_ROWS = 24
_MAX_WORDS = 4


@dataclass(frozen=True)
class UnigramStep:
    """One step of training.

    Attributes:
        kind: The `"seeds"`, one estimate of probabilities (`"em"`), a `"prune"`, or what comes out
            in the `"end"`.
        round: Which round of estimating and pruning, from 1.
        pieces: The pieces and their scores after the step.
        uses: Of seeds, how much each weighs; of an estimate, how often each piece is expected to
            be used, by the scores before it.
        dropped: The pieces that the step dropped, with their scores before.
        likelihood: The logarithm of the probability of all words, by the scores after the step.
    """

    kind: Literal["seeds", "em", "prune", "end"]
    round: int
    pieces: dict[str, float]
    uses: dict[str, float]
    dropped: dict[str, float]
    likelihood: float


def watch_unigram(words: Words, size: int, *, sub_iterations: int = 2) -> Iterator[UnigramStep]:
    """The steps of `jeton.learn.textbook.unigram`, each as it happens.

    Args:
        words: A text, several texts, or words with their counts.
        size: How many pieces there are in the end, characters and `▁` included.
        sub_iterations: How often probabilities are estimated in each round.

    Raises:
        ArgumentError: A `size` that does not hold the characters; no words, or a very long one.

    Example:
        >>> from jeton.learn import textbook
        >>> from jeton.learn import watch_unigram
        >>> [(step.kind, len(step.pieces)) for step in watch_unigram(textbook.HUG_COUNTS, 10)]
        [('seeds', 16), ('em', 14), ('em', 13), ('prune', 11), ('em', 11), ('em', 11), ('end', 10)]
    """
    spaced = {unigram.SPACE + word: count for word, count in word_counts(words).items()}
    if not spaced:
        raise ArgumentError("there are no words to learn from")
    if long := [word for word in spaced if len(word) > _LONGEST]:
        raise ArgumentError(
            f"{long[0][1:41]!r}… has {len(long[0]) - 1:,} characters; the probabilities of words "
            f"of more than {_LONGEST - 1} are too small for plain numbers"
        )
    characters = sorted({character for word in spaced for character in word})
    if size < len(characters):
        raise ArgumentError(
            f"size={size} does not hold the {len(characters)} characters, ▁ among them"
        )
    weights = unigram.seeds(spaced)
    total = sum(weights.values())
    pieces = {piece: math.log(n / total) for piece, n in sorted(weights.items())}
    seeds = {piece: float(n) for piece, n in weights.items()}
    yield UnigramStep("seeds", 0, pieces, seeds, {}, _likelihood(spaced, pieces))
    goal, least, round = size + size // 10, size - len(characters), 0
    while True:
        round += 1
        for _ in range(sub_iterations):
            uses = unigram.expected_uses(spaced, pieces)
            after = unigram.maximize(uses, least)
            dropped = {piece: pieces[piece] for piece in pieces if piece not in after}
            pieces = after
            yield UnigramStep("em", round, pieces, uses, dropped, _likelihood(spaced, pieces))
        if len(pieces) <= goal:
            break
        after = unigram.prune(spaced, pieces, max(int(0.75 * len(pieces)), goal), least)
        if len(after) == len(pieces):
            break
        dropped = {piece: pieces[piece] for piece in pieces if piece not in after}
        pieces = after
        yield UnigramStep("prune", round, pieces, {}, dropped, _likelihood(spaced, pieces))
    longer = sorted((it for it in pieces if len(it) > 1), key=lambda it: (-pieces[it], it))
    vocabulary = [*characters, *longer[: size - len(characters)]]
    dropped = {piece: pieces[piece] for piece in pieces if piece not in vocabulary}
    end = dict(sorted(((it, pieces[it]) for it in vocabulary), key=lambda it: (-it[1], it[0])))
    yield UnigramStep("end", round, end, {}, dropped, _likelihood(spaced, end))


def _likelihood(words: Mapping[str, int], pieces: Mapping[str, float]) -> float:
    """The logarithm of the probability of all words, each split in all ways."""
    total = 0.0
    for word, count in words.items():
        forward = [1.0]
        for end in range(1, len(word) + 1):
            forward.append(
                sum(
                    forward[start] * math.exp(pieces[word[start:end]])
                    for start in range(max(0, end - 16), end)
                    if word[start:end] in pieces
                )
            )
        total += count * math.log(forward[-1]) if forward[-1] > 0 else -math.inf
    return total


def frames_of_unigram(words: Words, steps: list[UnigramStep]) -> list[Frame]:
    """What a view shows: the words, each step, and the lattices of the first words."""
    counts = word_counts(words)
    rows = tuple(
        Row((Chip(unigram.SPACE + word),), f"{count:,} ×")
        for word, count in list(counts.items())[:12]
    )
    frames = [
        Frame(
            "The words",
            "The space before a word is written ▁ and belongs to it.",
            (Rows(rows, "The words" + (f" (12 of {len(counts):,})" if len(counts) > 12 else "")),),
        )
    ]
    for before, step in zip([None, *steps], steps, strict=False):
        frames.append(_frame(step, before is not None and before.kind == step.kind))
    frames += [_lattice(word, steps[-1].pieces) for word in list(counts)[:_MAX_WORDS]]
    return frames


def _frame(step: UnigramStep, again: bool) -> Frame:
    count = f"{len(step.pieces):,} pieces"
    text = f" The logarithm of the probability of all words is {step.likelihood:.1f}."
    if step.kind == "seeds":
        return Frame(
            f"The seeds: {count}",
            "Training begins with far too many pieces: all characters, and all substrings that "
            "occur twice or more. Each weighs its occurrences times its length." + text,
            (_uses(step, "Weights"),),
        )
    if step.kind == "em":
        note = (
            "Expectation: all words are split in all ways, each way weighted by its probability. "
            "Maximization: how often a piece is used in that is its new probability." + text
        )
        blocks: list[Block] = [_uses(step, "Expected uses"), *_dropped(step)]
        return Frame(
            f"Round {step.round}: estimate{' again' * again}, {count}", note, tuple(blocks)
        )
    if step.kind == "prune":
        note = (
            "The quarter of the pieces that cost the least goes: the best ways to split all words "
            "lose hardly any probability without them. Characters stay." + text
        )
        return Frame(f"Round {step.round}: prune to {count}", note, tuple(_dropped(step)))
    ranked = sorted(step.pieces.items(), key=lambda it: (-it[1], it[0]))
    rows = tuple((it, f"{score:.4f}", f"{math.exp(score):.4f}") for it, score in ranked)
    table = Table(
        ("piece", "score", "probability"),
        rows[:_MAX_ROWS],
        title="The pieces",
        more=max(0, len(rows) - _MAX_ROWS),
    )
    return Frame(
        f"What was learned: {count}",
        "Few enough are left; the scores are logarithms of probabilities." + text,
        (table, *_dropped(step)),
    )


def _uses(step: UnigramStep, title: str) -> Bars:
    ranked = sorted(step.uses.items(), key=lambda it: (-it[1], it[0]))
    highest = ranked[0][1] or 1.0
    bars = tuple(
        Bar(
            piece,
            uses / highest,
            f"{uses:,.2f}".removesuffix(".00"),
            "" if piece in step.pieces else "dim",
        )
        for piece, uses in ranked[:_MAX_BARS]
    )
    return Bars(bars, title, max(0, len(ranked) - _MAX_BARS))


def _dropped(step: UnigramStep) -> list[Rows]:
    if not step.dropped:
        return []
    chips = tuple(Chip(it, "dim") for it in list(step.dropped)[:60])
    more = len(step.dropped) - len(chips)
    title = f"{len(step.dropped):,} dropped" + (f", {more:,} of them not shown" if more else "")
    return [Rows((Row(chips),), title)]


def _lattice(word: str, pieces: dict[str, float]) -> Frame:
    text = unigram.SPACE + word
    path = unigram.best(text, pieces, fuse=False)
    ends = [0]
    for piece in path:
        ends.append(ends[-1] + len(piece))
    best = set(itertools.pairwise(ends))
    arcs = tuple(
        Arc(
            start,
            end,
            text[start:end],
            f"{pieces[text[start:end]]:.3f}",
            "best" if (start, end) in best else "",
        )
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        if text[start:end] in pieces
    )
    total = sum(pieces.get(piece, 0.0) for piece in path)
    return Frame(
        f"The best way to split {text}",
        f"Of all ways through these pieces, {' '.join(path)} has the greatest sum of scores, "
        f"{total:.3f}: the probability {math.exp(total):.6f}.",
        (Arcs(tuple(text), arcs), Rows((Row(tuple(Chip(it, "best") for it in path)),), "Tokens")),
    )
