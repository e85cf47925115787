"""Byte pair encoding on words: repeatedly, the most frequent pair of neighbours becomes a token.

Source: Gage, "A New Algorithm for Data Compression", 1994; Sennrich, Haddow and Birch, "Neural
Machine Translation of Rare Words with Subword Units", 2016.

**Training.** A word is a sequence of symbols: its characters, and `</w>` for its end. Count how
often each pair of neighbours occurs in all words; merge the most frequent pair into one symbol
everywhere; repeat. The list of merges is all that is learned.

    >>> words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    >>> merges = train(words, 5, end="</w>")
    >>> merges
    [('e', 's'), ('es', 't'), ('est', '</w>'), ('l', 'o'), ('lo', 'w')]

**Encoding.** A new word is split into the same symbols, and the merges are done in the order in
which they were learned. So a word that was never seen is made of parts that were:

    >>> encode("lowest", merges, end="</w>")
    ['low', 'est</w>']

**Ties.** Counts are often equal, and then a rule must say which pair is first. Libraries differ
here, and textbooks take the pair that was seen first:

    >>> train({"a": 2, "refrain": 1, "from": 1, "rain": 1, "in": 1, "train": 1}, 3)
    [('i', 'n'), ('r', 'a'), ('ra', 'in')]
    >>> train({"hello": 2, "help": 1}, 1)
    [('h', 'e')]
    >>> {tie: train({"cake": 1}, 1, tie=tie)[0] for tie in ("first", "alphabetic", "lexicographic")}
    {'first': ('c', 'a'), 'alphabetic': ('a', 'k'), 'lexicographic': ('k', 'e')}
"""

from __future__ import annotations

import itertools
from typing import AnyStr

Pair = tuple[str, str]


def train(words: dict[str, int], merges: int, *, end: str = "", tie: str = "first") -> list[Pair]:
    """Learns merges from words and how often each occurs.

    Args:
        words: Words with their counts, in the order in which they first occur.
        merges: How many to learn; fewer if every word has become one symbol.
        end: A symbol after the last character of each word, so that `est` at the end of a word is
            another token than inside one.
        tie: Of equally frequent pairs, the `"first"` to occur; the smallest (`"alphabetic"`) or
            greatest (`"lexicographic"`) pair of strings.
    """
    if tie not in ("first", "alphabetic", "lexicographic"):
        raise ValueError(f"tie must be 'first', 'alphabetic' or 'lexicographic', not {tie!r}")
    rows = [(symbols(word, end), count) for word, count in words.items()]
    learned: list[Pair] = []
    while len(learned) < merges:
        counts = count_pairs(rows)
        if not counts:
            break
        best = most_frequent(counts, tie)
        rows = [(merge(row, best), count) for row, count in rows]
        learned.append(best)
    return learned


def symbols(word: str, end: str = "") -> list[str]:
    """What a word is before the first merge.

    >>> symbols("low", "</w>")
    ['l', 'o', 'w', '</w>']
    """
    return list(word) + ([end] if end else [])


def count_pairs(rows: list[tuple[list[str], int]]) -> dict[Pair, int]:
    """How often each pair of neighbours occurs, in the order in which pairs first occur.

    >>> count_pairs([(["l", "o", "w"], 5), (["l", "o"], 2)])
    {('l', 'o'): 7, ('o', 'w'): 5}
    """
    counts: dict[Pair, int] = {}
    for row, count in rows:
        for pair in itertools.pairwise(row):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def most_frequent(counts: dict[Pair, int], tie: str = "first") -> Pair:
    """The pair with the greatest count; of equal ones, the one that the rule for ties says."""
    highest = max(counts.values())
    best = [pair for pair, count in counts.items() if count == highest]
    if tie == "alphabetic":
        return min(best)
    if tie == "lexicographic":
        return max(best)
    return best[0]


def merge(
    row: list[AnyStr], pair: tuple[AnyStr, AnyStr], token: AnyStr | None = None
) -> list[AnyStr]:
    """Joins the pair everywhere, from the left, into a token: by default its two parts together.

    >>> merge(["a", "a", "a", "b"], ("a", "a"))
    ['aa', 'a', 'b']
    """
    merged: list[AnyStr] = []
    at = 0
    while at < len(row):
        if tuple(row[at : at + 2]) == pair:
            merged.append(row[at] + row[at + 1] if token is None else token)
            at += 2
        else:
            merged.append(row[at])
            at += 1
    return merged


def encode(word: str, merges: list[Pair], *, end: str = "") -> list[str]:
    """The tokens of a word: its symbols, with all merges done in their order.

    Where one merge is done over and over, as by a list of merges, it is the same as taking at each
    step the pair whose merge was learned first: that is how fast encoders do it.
    """
    row = symbols(word, end)
    for pair in merges:
        row = merge(row, pair)
    return row


def decode(tokens: list[str], end: str = "") -> str:
    """The text of tokens: `</w>` becomes the space between two words.

    >>> decode(["low", "est</w>", "in", "</w>"], "</w>")
    'lowest in'
    """
    text = "".join(tokens)
    return text.replace(end, " ").rstrip(" ") if end else text
