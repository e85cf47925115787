"""WordPiece: repeatedly the longest token that fits, and two ways to learn the tokens.

Source: Schuster and Nakajima, "Japanese and Korean Voice Search", 2012; Wu et al., "Google's Neural
Machine Translation System", 2016; Devlin et al., "BERT", 2019, which released the encoder.

**Encoding.** Take the longest token that fits at the front of a word, and repeat to its end.
Tokens inside a word are marked `##`. If no token fits at some place, the whole word is unknown.

    >>> vocab = {"[UNK]", "un", "##aff", "##able"}
    >>> encode("unaffable", vocab), encode("unaffected", vocab)
    (['un', '##aff', '##able'], ['[UNK]'])

**Training, two ways.** The library that everybody uses merges the most frequent pair, as byte pair
encoding does. The paper's rule asks for more: the pair must be frequent relative to its parts,
freq(ab) / (freq(a) · freq(b)). So `##g ##s`, rare letters that go together, comes before
`##u ##g`, frequent letters that go together:

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> train(words, 3, rule="released")
    ['##ug', '##un', 'hug']
    >>> train(words, 3, rule="published")
    ['##gs', 'bu', 'bun']
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction

from jeton.learn.reference.words_bpe import merge

Pair = tuple[str, str]


def encode(
    word: str,
    vocab: set[str] | dict[str, int],
    *,
    unk_token: str = "[UNK]",
    prefix: str = "##",
    longest_word: int = 100,
) -> list[str]:
    """The tokens of a word."""
    if len(word) > longest_word:
        return [unk_token]
    tokens = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            token = (prefix if start else "") + word[start:end]
            if token in vocab:
                tokens.append(token)
                start = end
                break
        else:
            return [unk_token]
    return tokens


def alphabet(words: dict[str, int], prefix: str = "##") -> list[str]:
    """The symbols of words before the first merge, in the order in which they get their ids.

    Characters by code point, and then those inside words, marked, likewise.

    >>> alphabet({"hug": 1, "pug": 1})
    ['g', 'h', 'p', 'u', '##g', '##u']
    """
    all_characters = {character for word in words for character in word}
    inside = {character for word in words for character in word[1:]}
    return sorted(all_characters) + [prefix + character for character in sorted(inside)]


def train(
    words: dict[str, int], merges: int, *, rule: str = "released", prefix: str = "##"
) -> list[str]:
    """The tokens that are learned from words and their counts, first to last.

    Of equally good pairs the one with the smaller left, then right id is taken.
    """
    if rule not in ("released", "published"):
        raise ValueError(f"rule must be 'released' or 'published', not {rule!r}")
    ids = {symbol: id for id, symbol in enumerate(alphabet(words, prefix))}
    rows = [
        ([word[0], *(prefix + character for character in word[1:])], count)
        for word, count in words.items()
        if word
    ]
    learned: list[str] = []
    while len(learned) < merges:
        pairs, singles = count(rows)
        if not pairs:
            break

        scores = {
            (a, b): Fraction(number, 1 if rule == "released" else singles[a] * singles[b])
            for (a, b), number in pairs.items()
        }
        highest = max(scores.values())
        equal = [pair for pair, score in scores.items() if score == highest]
        _, best = min(((ids[a], ids[b]), (a, b)) for a, b in equal)
        token = join(best, prefix)
        rows = [(merge(row, best, token), number) for row, number in rows]
        if token not in ids:
            ids[token] = len(ids)
            learned.append(token)
    return learned


def join(pair: Pair, prefix: str = "##") -> str:
    """The token that two make: only its front is marked.

    >>> join(("hu", "##g")), join(("##u", "##g"))
    ('hug', '##ug')
    """
    return pair[0] + pair[1].removeprefix(prefix)


def count(
    rows: Iterable[tuple[Sequence[str], int]],
) -> tuple[dict[Pair, int], dict[str, int]]:
    """How often each pair of neighbours occurs, and how often each symbol.

    >>> count([(["h", "##u"], 5), (["h"], 2)])
    ({('h', '##u'): 5}, {'h': 7, '##u': 5})
    """
    pairs: dict[Pair, int] = {}
    singles: dict[str, int] = {}
    for row, number in rows:
        for symbol in row:
            singles[symbol] = singles.get(symbol, 0) + number
        for pair in itertools.pairwise(row):
            pairs[pair] = pairs.get(pair, 0) + number
    return pairs, singles
