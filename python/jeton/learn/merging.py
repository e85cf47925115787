"""Training BPE and WordPiece, watched: the pairs at each step, the one that wins, and why.

Look here for `watch_bpe` and `watch_wordpiece`, which give steps as data, and for what a view
shows of them. The algorithms are the pages `jeton.learn.reference.words_bpe` and `wordpiece`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from jeton.display.human_readable import counted
from jeton.display.views.frames import Bar, Bars, Chip, Frame, Mark, Row, Rows, Table
from jeton.errors import ArgumentError
from jeton.learn.reference import wordpiece, words_bpe

__all__ = [
    "MergeStep",
    "frames_of_merging",
    "marked_rows",
    "start_rows",
    "watch_bpe",
    "watch_wordpiece",
]

Pair = tuple[str, str]
Symbols = tuple[tuple[str, ...], int]
"""A word as symbols, and how often it occurs."""

_MAX_BARS = 12
_MAX_WORDS = 12
_MAX_SYMBOLS = 400

_TIES = {
    "first": "it was seen first",
    "alphabetic": "it is the first by the alphabet",
    "lexicographic": "it is the last by the alphabet",
    "ids": "its symbols have the smallest ids",
}


@dataclass(frozen=True)
class MergeStep:
    """One merge of training.

    Attributes:
        number: Which, from 1.
        counts: How often each pair occurs, in the order in which pairs first occur.
        scores: What decides: the counts, or WordPiece's scores.
        parts: How often each symbol occurs, if that also decides.
        best: The pair that is merged.
        tied: The pairs as good as it, itself among them.
        made: The token that it becomes.
        tie_break: Which of several equal pairs wins.
        before: The words before.
        after: The words after.
    """

    number: int
    counts: dict[Pair, int]
    scores: dict[Pair, Fraction]
    parts: dict[str, int]
    best: Pair
    tied: tuple[Pair, ...]
    made: str
    tie_break: str
    before: tuple[Symbols, ...]
    after: tuple[Symbols, ...]


def start_rows(words: Mapping[str, int], end: str | None) -> tuple[Symbols, ...]:
    """The words as BPE begins with them."""
    return tuple((tuple(words_bpe.symbols(word, end or "")), n) for word, n in words.items())


def marked_rows(words: Mapping[str, int]) -> tuple[Symbols, ...]:
    """The words as WordPiece begins with them."""
    return tuple(
        ((word[0], *("##" + character for character in word[1:])), count)
        for word, count in words.items()
    )


def watch_bpe(
    words: Mapping[str, int],
    merges: int = 10,
    *,
    end: str | None = "</w>",
    tie_break: Literal["first", "alphabetic", "lexicographic"] = "first",
) -> Iterator[MergeStep]:
    """The merges of `jeton.learn.textbook.bpe`, each as it happens.

    Args:
        words: Words with their counts.
        merges: How many; fewer if every word has become one symbol.
        end: A symbol after the last character of each word, or `None`.
        tie_break: Of equally frequent pairs, the one seen first, or the smallest or greatest pair.

    Raises:
        ArgumentError: An unknown `tie_break`.

    Example:
        >>> from jeton.learn import watch_bpe
        >>> [(step.best, len(step.tied)) for step in watch_bpe({"hug": 2, "pug": 1}, 2, end=None)]
        [(('u', 'g'), 1), (('h', 'ug'), 1)]
    """
    if tie_break not in ("first", "alphabetic", "lexicographic"):
        raise ArgumentError(
            f"tie_break must be 'first', 'alphabetic' or 'lexicographic', not {tie_break!r}"
        )
    rows = start_rows(words, end)
    for number in range(1, merges + 1):
        counts = words_bpe.count_pairs([(list(row), count) for row, count in rows])
        if not counts:
            return
        best = words_bpe.most_frequent(counts, tie_break)
        tied = tuple(pair for pair, count in counts.items() if count == counts[best])
        after = tuple((tuple(words_bpe.merge(list(row), best)), count) for row, count in rows)
        scores = {pair: Fraction(count) for pair, count in counts.items()}
        yield MergeStep(
            number, counts, scores, {}, best, tied, "".join(best), tie_break, rows, after
        )
        rows = after


def watch_wordpiece(
    words: Mapping[str, int],
    merges: int = 10,
    *,
    rule: Literal["published", "released"] = "published",
    tie_break: Literal["first", "ids"] = "first",
) -> Iterator[MergeStep]:
    """The merges of `jeton.learn.textbook.wordpiece`, each as it happens.

    Args:
        words: Words with their counts.
        merges: How many; fewer if every word has become one token.
        rule: freq(ab) / (freq(a)·freq(b)) decides (`"published"`), or freq(ab) (`"released"`).
        tie_break: Of equally good pairs, the one seen first, or that with the smallest ids.

    Raises:
        ArgumentError: An unknown `rule` or `tie_break`.

    Example:
        >>> from jeton.learn import textbook
        >>> from jeton.learn import watch_wordpiece
        >>> [str(step.scores[step.best]) for step in watch_wordpiece(textbook.HUG_COUNTS, 2)]
        ['1/20', '1/36']
    """
    if rule not in ("published", "released"):
        raise ArgumentError(f"rule must be 'published' or 'released', not {rule!r}")
    if tie_break not in ("first", "ids"):
        raise ArgumentError(f"tie_break must be 'first' or 'ids', not {tie_break!r}")
    ids = {symbol: id for id, symbol in enumerate(wordpiece.alphabet(dict(words)))}
    rows = marked_rows(words)
    number = 1
    while number <= merges:
        counts, parts = wordpiece.count(rows)
        if not counts:
            return
        scores = {
            (a, b): Fraction(count, parts[a] * parts[b] if rule == "published" else 1)
            for (a, b), count in counts.items()
        }
        highest = max(scores.values())
        tied = tuple(pair for pair, score in scores.items() if score == highest)
        best = (
            tied[0] if tie_break == "first" else min(tied, key=lambda it: (ids[it[0]], ids[it[1]]))
        )
        token = wordpiece.join(best)
        after = tuple(
            (tuple(words_bpe.merge(list(row), best, token)), count) for row, count in rows
        )
        yield MergeStep(
            number,
            counts,
            scores,
            parts if rule == "published" else {},
            best,
            tied,
            token,
            tie_break,
            rows,
            after,
        )
        rows = after
        # A token that two pairs make is one token of the vocabulary.
        number += token not in ids
        ids.setdefault(token, len(ids))


def frames_of_merging(
    words: tuple[Symbols, ...],
    steps: list[MergeStep],
    *,
    longest_match: bool = False,
    on_training: str = "",
) -> list[Frame]:
    """What a view shows: the words, each merge, and what was learned.

    Args:
        words: The words before the first merge.
        steps: The merges.
        longest_match: Whether a new word is split by the longest match, as by WordPiece, and not by
            the merges.
        on_training: How `jeton train` differs from the view.
    """
    alphabet = sorted({symbol for row, _ in words for symbol in row})
    frames = [
        Frame(
            "The words, in symbols",
            f"{counted(len(words), 'word')}, {counted(sum(n for _, n in words), 'occurrence')}; "
            f"the alphabet has {counted(len(alphabet), 'symbol')}.",
            (
                _words(words),
                Rows((Row(tuple(Chip(symbol) for symbol in alphabet)),), "The alphabet"),
            ),
        )
    ]
    frames += [_frame(step) for step in steps]
    if not steps:
        note = "There is no pair of neighbours to merge, or `merges` is 0."
        return [*frames, Frame("Nothing was learned", note)]
    learned = tuple((str(it.number), it.best[0], it.best[1], it.made) for it in steps)
    how = "the longest match instead" if longest_match else "doing them in this order"
    frames.append(
        Frame(
            "What was learned",
            f"{counted(len(steps), 'merge')}; a new word is split by {how}. {on_training}".rstrip(),
            (Table(("", "left", "right", "token"), learned), _words(steps[-1].after)),
        )
    )
    return frames


def _frame(step: MergeStep) -> Frame:
    left, right = step.best
    return Frame(
        f"Merge {step.number}: {left} + {right} = {step.made}",
        _why(step),
        (_bars(step), _words_of_step(step)),
    )


def _why(step: MergeStep) -> str:
    """Why this pair is merged."""
    left, right = step.best
    count = step.counts[step.best]
    if step.parts:
        score = step.scores[step.best]
        a, b = step.parts[left], step.parts[right]
        text = (
            f"{left} {right} scores {count} / ({a} · {b}) = {float(score):.4f}: it occurs "
            f"{counted(count, 'time')}, its parts {a:,} and {counted(b, 'time')}."
        )
        others = "no other pair scores as much"
    else:
        text = f"{left} {right} occurs {counted(count, 'time')}."
        others = "no other pair occurs as often"
    if len(step.tied) == 1:
        return f"{text} It wins: {others}."
    return f"{text} {len(step.tied)} pairs tie; it wins: {_TIES[step.tie_break]}."


def _bars(step: MergeStep) -> Bars:
    order = {pair: number for number, pair in enumerate(step.scores)}
    ranked = sorted(step.scores, key=lambda it: (-step.scores[it], it != step.best, order[it]))
    highest = step.scores[step.best]
    bars = []
    for pair in ranked[:_MAX_BARS]:
        mark: Mark = "best" if pair == step.best else "tie" if pair in step.tied else ""
        count, score = step.counts[pair], step.scores[pair]
        number = f"{count:,}" if not step.parts else f"{float(score):.4f} ({count:,})"
        bars.append(Bar(" ".join(pair), float(score / highest), number, mark))
    title = "Pairs, by score (and count)" if step.parts else "Pairs, by how often they occur"
    return Bars(tuple(bars), title, max(0, len(ranked) - _MAX_BARS))


def _words_of_step(step: MergeStep) -> Rows:
    """The words that a merge changes, before and after, and how many it leaves as they are."""
    both = list(zip(step.before, step.after, strict=True))
    changed = [(before, after) for before, after in both if before != after]
    lines = [
        Row(
            (
                *_marked(before[0], _places(before[0], step.best), "tie"),
                Chip("→", "dim"),
                *_marked(after[0], [it == step.made for it in after[0]], "best"),
            ),
            f"{after[1]:,} ×",
        )
        for before, after in changed[:_MAX_WORDS]
    ]
    unchanged = len(both) - len(changed)
    notes = [f"{len(changed) - len(lines):,} more" if len(changed) > len(lines) else ""]
    notes.append(f"{counted(unchanged, 'word stays', 'words stay')} as before" if unchanged else "")
    title = "The words it changes, before and after"
    extra = ", ".join(filter(None, notes))
    return Rows(tuple(lines), f"{title} ({extra})" if extra else title)


def _places(row: tuple[str, ...], pair: Pair) -> list[bool]:
    """Which symbols of a word are merged, from the left."""
    marks = [False] * len(row)
    for at in range(len(row) - 1):
        if row[at : at + 2] == pair and not marks[at]:
            marks[at] = marks[at + 1] = True
    return marks


def _marked(row: tuple[str, ...], places: list[bool], mark: Mark) -> list[Chip]:
    most = _MAX_SYMBOLS
    marked = zip(row[:most], places[:most], strict=True)
    chips = [Chip(it, mark if place else "") for it, place in marked]
    return chips + [Chip(f"… {len(row) - most:,} more", "dim")] * (len(row) > most)


def _words(rows: tuple[Symbols, ...]) -> Rows:
    words = [
        Row(tuple(_marked(row, [False] * len(row), "")), f"{count:,} ×")
        for row, count in rows[:_MAX_WORDS]
    ]
    more = len(rows) - len(words)
    return Rows(tuple(words), "The words" + (f" (and {more:,} more)" if more else ""))
