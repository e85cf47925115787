"""Unigram: every piece has a probability, and a text is split the most probable way.

Source: Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple
Subword Candidates", 2018; the steps of training and their thresholds are those of SentencePiece.

**Encoding.** The probability of a segmentation is the product of its pieces' probabilities; with
logarithms (scores), their sum. The best way to a place in the text is the best way to an earlier
place plus one piece, so one pass finds it (Viterbi):

    >>> pieces = {"h": -3.0, "u": -3.0, "g": -3.0, "s": -3.0, "hu": -4.0, "ug": -4.5, "hug": -5.0}
    >>> best("hugs", pieces)
    ['hug', 's']
    >>> [(" ".join(way), score) for score, way in n_best("hugs", pieces, 3)]
    [('hug s', -8.0), ('hu g s', -10.0), ('h ug s', -10.5)]

**Training.** Begin with far too many pieces: all frequent substrings. Then, repeatedly, estimate
probabilities by expectation and maximization: split all words in all ways, each way counted by its
probability; the share of a piece in all uses is its new probability. Then drop the quarter of the
pieces that cost the least, until few enough are left. Characters are never dropped.

    >>> words = {"▁hug": 10, "▁pug": 5, "▁pun": 12, "▁bun": 4, "▁hugs": 5}
    >>> seeds(words)["▁hug"], "▁hu" in seeds(words)
    (60, False)
    >>> trained = train(words, 13)
    >>> len(trained), max(trained, key=trained.get)
    (13, '▁pun')
"""

from __future__ import annotations

import itertools
import math
import random

SPACE = "▁"
UNKNOWN_PENALTY = 10.0
"""By how much an unknown character is worse than the worst piece."""


def best(text: str, pieces: dict[str, float], *, fuse: bool = True) -> list[str]:
    """The most probable segmentation; of equally good ones, the first found.

    A character that is no piece costs ten more than the worst piece; neighbouring ones are one.

    >>> best("aXYb", {"a": -1.0, "b": -1.0})
    ['a', 'XY', 'b']
    """
    unknown = min(pieces.values()) - UNKNOWN_PENALTY
    ways: list[tuple[float, int] | None] = [(0.0, 0)] + [None] * len(text)
    for start in range(len(text)):
        here = ways[start]
        assert here is not None  # the character before is a piece, or unknown
        for end in range(start + 1, len(text) + 1):
            piece = text[start:end]
            if piece in pieces:
                score = here[0] + pieces[piece]
            elif end == start + 1:
                score = here[0] + unknown
            else:
                continue
            there = ways[end]
            if there is None or score > there[0]:
                ways[end] = (score, start)
    way: list[str] = []
    end = len(text)
    while end > 0:
        step = ways[end]
        assert step is not None
        piece = text[step[1] : end]
        if fuse and way and piece not in pieces and way[0] not in pieces:
            way[0] = piece + way[0]
        else:
            way.insert(0, piece)
        end = step[1]
    return way


def n_best(text: str, pieces: dict[str, float], n: int) -> list[tuple[float, list[str]]]:
    """The `n` most probable segmentations with their scores, best first.

    The n best ways to a place are among the n best ways to each earlier place.
    """
    ways: list[list[tuple[float, list[str]]]] = [[(0.0, [])]]
    for end in range(1, len(text) + 1):
        every_way = [
            (score + pieces[text[start:end]], [*way, text[start:end]])
            for start in range(end)
            if text[start:end] in pieces
            for score, way in ways[start]
        ]
        every_way.sort(key=lambda way: -way[0])
        ways.append(every_way[:n])
    return ways[-1]


def sample(text: str, pieces: dict[str, float], alpha: float, numbers: random.Random) -> list[str]:
    """A segmentation drawn at random, in proportion to its probability to the power of `alpha`.

    From the front, each place gets the weight of all ways that lead to it; then the pieces are
    drawn from the back.

    >>> pieces = {"a": -1.0, "b": -1.0, "ab": -1.5}
    >>> numbers = random.Random(0)
    >>> drawn = [" ".join(sample("ab", pieces, 1.0, numbers)) for _ in range(20_000)]
    >>> round(drawn.count("ab") / 20_000, 2), round(1 / (1 + math.exp(-0.5)), 2)
    (0.62, 0.62)
    """
    weights = [1.0]
    for end in range(1, len(text) + 1):
        weights.append(
            sum(
                weights[start] * math.exp(alpha * pieces[text[start:end]])
                for start in range(end)
                if text[start:end] in pieces
            )
        )
    way: list[str] = []
    end = len(text)
    while end > 0:
        starts = [start for start in range(end) if text[start:end] in pieces]
        shares = [weights[start] * math.exp(alpha * pieces[text[start:end]]) for start in starts]
        (start,) = numbers.choices(starts, shares)
        way.insert(0, text[start:end])
        end = start
    return way


def train(
    words: dict[str, int],
    size: int,
    *,
    longest_piece: int = 16,
    shrinking_factor: float = 0.75,
    sub_iterations: int = 2,
    exact: bool = True,
) -> dict[str, float]:
    """The pieces that words and their counts ask for, with their scores, best first.

    Args:
        words: Words with their counts; a space is written `▁` in front of a word.
        size: How many pieces there are in the end, characters included.
        longest_piece: In characters.
        shrinking_factor: What share of the pieces stays in each round.
        sub_iterations: How often probabilities are estimated in each round.
        exact: Pieces that are hardly used stay where there would be fewer than `size` without them.
    """
    characters = sorted({character for word in words for character in word})
    if size < len(characters):
        raise ValueError(f"size {size} does not hold the {len(characters)} characters")
    uses = seeds(words, longest_piece)
    total = sum(uses.values())
    pieces = {piece: math.log(number / total) for piece, number in sorted(uses.items())}
    goal = size + size // 10  # the least probable of these go in the end
    least = size - len(characters) if exact else 0  # how many longer pieces must stay
    while True:
        for _ in range(sub_iterations):
            pieces = maximize(expected_uses(words, pieces), least)
        if len(pieces) <= goal:
            break
        pieces_left = prune(words, pieces, max(int(shrinking_factor * len(pieces)), goal), least)
        if len(pieces_left) == len(pieces):
            break
        pieces = pieces_left
    longer = sorted((p for p in pieces if len(p) > 1), key=lambda piece: (-pieces[piece], piece))
    vocabulary = characters + longer[: size - len(characters)]
    return dict(sorted(((p, pieces[p]) for p in vocabulary), key=lambda item: (-item[1], item[0])))


def seeds(words: dict[str, int], longest_piece: int = 16) -> dict[str, int]:
    """What training begins with: all characters, and substrings that occur twice or more, each with
    its number of occurrences times its length.

    A substring that is always followed, or always preceded, by the same character is left out: the
    longer one is as frequent. No piece holds a space but at its front.
    """
    by_prefix: dict[str, list[tuple[str, str, int]]] = {}
    for word, count in words.items():
        for unit in _units(word):
            for start in range(len(unit)):
                for end in range(start + 1, min(start + longest_piece, len(unit)) + 1):
                    before = unit[start - 1] if start else ""
                    after = unit[end] if end < len(unit) else ""
                    by_prefix.setdefault(unit[start:end], []).append((before, after, count))
    result = {}
    for piece, places in by_prefix.items():
        occurs = sum(count for _, _, count in places)
        befores = {before for before, _, _ in places}
        afters = {after for _, after, _ in places}
        varies = [len(around) > 1 or around == {""} for around in (befores, afters)]
        if len(piece) == 1 or (occurs >= 2 and all(varies)):
            result[piece] = occurs * len(piece)
    return result


def _units(word: str) -> list[str]:
    """A word split before each space: no piece crosses that."""
    cuts = [0, *(at for at in range(1, len(word)) if word[at] == SPACE), len(word)]
    return [word[a:b] for a, b in itertools.pairwise(cuts) if a < b]


def expected_uses(words: dict[str, int], pieces: dict[str, float]) -> dict[str, float]:
    """How often each piece is used if all ways to split each word count by their probability.

    A piece from `start` to `end` is in the ways that lead to `start`, through it, and on from
    `end`: forward[start] · p(piece) · backward[end], of all ways forward[length].

    >>> half = math.log(0.5)
    >>> uses = expected_uses({"ab": 6}, {"a": half, "b": half, "ab": half})
    >>> {piece: round(number, 4) for piece, number in uses.items()}
    {'a': 2.0, 'b': 2.0, 'ab': 4.0}
    """
    expected = dict.fromkeys(pieces, 0.0)
    probability = {piece: math.exp(score) for piece, score in pieces.items()}
    longest = max(map(len, pieces))
    for word, count in words.items():
        for unit in _units(word):
            length = len(unit)
            spans = [
                (start, end)
                for start in range(length)
                for end in range(start + 1, min(start + longest, length) + 1)
                if unit[start:end] in pieces
            ]
            forward = [1.0] + [0.0] * length
            for start, end in spans:
                forward[end] += forward[start] * probability[unit[start:end]]
            backward = [0.0] * length + [1.0]
            for start, end in reversed(spans):
                backward[start] += probability[unit[start:end]] * backward[end]
            for start, end in spans:
                through = forward[start] * probability[unit[start:end]] * backward[end]
                expected[unit[start:end]] += count * through / forward[length]
    return expected


def maximize(expected: dict[str, float], least: int) -> dict[str, float]:
    """The scores that expected uses ask for.

    Pieces used less than half a time go, but no characters, and so that `least` longer ones stay.
    The logarithm of a count is its digamma: it makes rare pieces rarer, so that more of them go.
    """
    stays = {piece for piece, uses in expected.items() if uses >= 0.5 or len(piece) == 1}
    _fill_up(stays, expected, least)
    uses = {piece: max(expected[piece], 0.5) for piece in expected if piece in stays}
    total = digamma(sum(uses.values()))
    return {piece: digamma(number) - total for piece, number in uses.items()}


def _fill_up(stays: set[str], merits: dict[str, float], least: int) -> None:
    """Has more pieces stay until `least` of those longer than a character do, the best first."""
    missing = least - sum(len(piece) > 1 for piece in stays)
    going = [piece for piece in merits if piece not in stays and len(piece) > 1]
    going.sort(key=lambda piece: (-merits[piece], piece))
    stays.update(going[: max(missing, 0)])


def prune(
    words: dict[str, int], pieces: dict[str, float], size: int, least: int
) -> dict[str, float]:
    """Drops the pieces that cost the least, down to `kept`.

    The cost of a piece is by how much the best segmentations of all words become less probable if
    each of its uses is replaced by the best segmentation of its own text into others. Pieces that
    no best segmentation uses cost nothing, nor do those whose own text is better split.
    """
    uses = dict.fromkeys(pieces, 0)
    for word, count in words.items():
        for unit in _units(word):
            for piece in _from_the_back(unit, pieces, len(unit))[1]:
                uses[piece] += count
    total = sum(uses.values())
    costs: dict[str, float] = {}
    for piece, score in pieces.items():
        if len(piece) == 1:
            costs[piece] = math.inf
            continue
        if uses[piece] == 0:
            continue
        other, parts = _from_the_back(piece, pieces, len(piece) - 1)
        if other > score:
            continue
        freed = uses[piece]
        # The uses of the piece become uses of each of its parts.
        new_total = math.log(total + freed * (len(parts) - 1))
        without = sum(math.log(uses[part] + freed) - new_total for part in parts)
        costs[piece] = freed * (math.log(freed) - math.log(total) - without)
    stays = set(sorted(costs, key=lambda piece: (-costs[piece], piece))[:size])
    _fill_up(stays, pieces, least)
    return {piece: score for piece, score in pieces.items() if piece in stays}


def _from_the_back(text: str, pieces: dict[str, float], longest: int) -> tuple[float, list[str]]:
    """The score and the pieces of the best segmentation into pieces of up to `longest` characters;
    of equally good ones, that whose first piece is the longest."""
    ways: list[tuple[float, int]] = [(0.0, 0)] * (len(text) + 1)
    for start in reversed(range(len(text))):
        best = (-math.inf, start)
        for end in range(min(start + longest, len(text)), start, -1):
            piece = text[start:end]
            if piece in pieces and pieces[piece] + ways[end][0] > best[0]:
                best = (pieces[piece] + ways[end][0], end)
        ways[start] = best
    way, at = [], 0
    while at < len(text):
        way.append(text[at : ways[at][1]])
        at = ways[at][1]
    return ways[0][0], way


def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function: nearly log(x), less for small numbers.

    Small numbers are raised by digamma(x) = digamma(x + 1) - 1/x; then its asymptotic series holds.

    >>> round(digamma(1.0), 6), round(digamma(100.0) - math.log(100.0), 6)
    (-0.577216, -0.005008)
    """
    result = 0.0
    while x < 7.0:
        result -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
    tail = sum(term * square ** (power + 1) for power, term in enumerate(series))
    return result + math.log(x) - 0.5 / x - tail
