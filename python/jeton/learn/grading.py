"""Grades functions that a learner wrote: finds the smallest call that goes wrong, and says why.

Look here for what `jeton learn --grade` asks for. No right answers are stored: the pages of
`jeton.learn.reference` compute them. A task has calls from small to large, drawn with a fixed seed;
the first that goes wrong is made smaller while it stays wrong.
"""

from __future__ import annotations

import itertools
import math
import random
import string
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from jeton import samples
from jeton.display.human_readable import counted
from jeton.learn import grading_process
from jeton.learn.grading_process import CallResult, LearnerProcess
from jeton.learn.reference import byte_level, ranks, words_bpe
from jeton.learn.reference import unigram as unigram_page

Arguments: TypeAlias = tuple[Any, ...]

_RANDOM_CALLS = 150
TIMES_AS_FAST = 8
"""How many times as fast as the page of plain Python a function has to be in a race."""

_SHRINKING_CALLS = 400
"""How many calls to try in the search for a smaller wrong one."""


@dataclass(frozen=True)
class Task:
    """A function to write.

    Attributes:
        name: Its name.
        signature: Its parameters and what it returns, as written in Python.
        goal: What it does.
        right: What a right one returns.
        calls: Arguments to try, small ones first.
        is_call: Whether arguments that were made smaller still make sense.
        why: Explains a wrong answer.
        is_right: Whether an answer is right; by default if it equals that of `right`.
        race: A large call, where the function has to be fast: `TIMES_AS_FAST` as `right`.
    """

    name: str
    signature: str
    goal: str
    right: Callable[..., Any]
    calls: Callable[[random.Random], Iterator[Arguments]]
    is_call: Callable[..., bool]
    why: Callable[[Arguments, Any, Any], str]
    is_right: Callable[[Arguments, Any, Any], bool] = lambda _, right, got: bool(right == got)
    race: Callable[[], Arguments] | None = None

    @property
    def returns(self) -> str:
        """The type that the signature returns."""
        return self.signature.rpartition(" -> ")[2]


@dataclass(frozen=True)
class Grade:
    """The result for a function.

    Attributes:
        task: The function.
        outcome: It is right or wrong, raised an exception, took too long, ended the process, is
            right but slow, or is not there.
        calls: How many calls were made before one went wrong.
        arguments: Those of the smallest call that went wrong.
        right: What it should have returned.
        got: What it returned, as it is printed, or the text of its exception.
        why: An explanation for the learner.
        times_as_fast: Of a function that has to be fast, compared with the page of plain Python.
    """

    task: Task
    outcome: Literal["right", "wrong", "raised", "too long", "ended", "slow", "missing"]
    calls: int = 0
    arguments: Arguments = ()
    right: Any = None
    got: str = ""
    why: str = ""
    times_as_fast: float | None = None


def grade(path: Path) -> list[Grade]:
    """Grades the functions of a file, in the order of `TASKS`.

    The file runs in a separate process, each call for ten seconds at most.

    Raises:
        FileError: The file cannot be read.
        FormatError: It cannot be run; the error says where.
    """
    with LearnerProcess(path) as answers:
        return [_graded(task, answers) for task in TASKS]


def template() -> str:
    """A file of empty functions."""
    functions = [
        f'def {task.name}{task.signature}:\n    """{task.goal}"""\n    raise NotImplementedError\n'
        for task in TASKS
    ]
    return "\n\n".join(
        ['"""My tokenizer: `jeton learn --grade` says how far it is."""\n', *functions]
    )


def _graded(task: Task, answers: LearnerProcess) -> Grade:
    if task.name not in answers.functions:
        return Grade(task, "missing")
    calls = 0
    for arguments in task.calls(random.Random(46)):
        calls += 1
        wrong = _wrong(task, answers, arguments)
        if wrong is not None:
            if calls == 1 and wrong.got.startswith("NotImplementedError"):
                return Grade(task, "missing")
            return _smallest(task, answers, wrong, calls)
    return Grade(task, "right", calls) if task.race is None else _raced(task, answers, calls)


def _raced(task: Task, answers: LearnerProcess, calls: int) -> Grade:
    """The grade of a function that is right, by its time for a large call."""
    assert task.race is not None
    arguments = task.race()
    answer = answers.ask(task.name, arguments)
    start = time.process_time()
    right = task.right(*arguments)
    seconds = time.process_time() - start
    if answer.kind != "value":
        why = f"It does not answer a call with {counted(len(arguments[0]), 'word')}."
        return Grade(task, "slow", calls, why=why)
    if answer.value != right:
        why = f"Its answer to a call with {counted(len(arguments[0]), 'word')} is another."
        return Grade(task, "slow", calls, why=why)
    times = seconds / max(answer.seconds, 1e-6)
    if times >= TIMES_AS_FAST:
        return Grade(task, "right", calls, times_as_fast=times)
    why = (
        f"It is right, and {times:.1f} times as fast as the page of plain Python with "
        f"{counted(len(arguments[0]), 'word')} and {arguments[1]} merges ({answer.seconds:.2f} and "
        f"{seconds:.2f} s). {TIMES_AS_FAST} times are asked for: after a merge, count again only "
        "the words that have the pair."
    )
    return Grade(task, "slow", calls, why=why, times_as_fast=times)


def _wrong(task: Task, answers: LearnerProcess, arguments: Arguments) -> Grade | None:
    """The fault of the answer to a call; `None` if it is right."""
    answer: CallResult = answers.ask(task.name, arguments)
    right = task.right(*arguments)
    value = answer.value
    match answer.kind:
        case "too long":
            why = f"It gives no answer within {grading_process.SECONDS:g} seconds."
            return Grade(task, "too long", 0, arguments, right, "", why)
        case "ended":
            why = "It ends the process, or crashes it."
            return Grade(task, "ended", 0, arguments, right, "", why)
        case "raised":
            why = f"It raises an exception at {answer.place}." if answer.place else ""
            return Grade(task, "raised", 0, arguments, right, value, why)
    text = value if answer.kind == "other value" else repr(value)
    if answer.type_name != type(right).__name__:
        kind = "nothing (None)" if value is None else f"a {answer.type_name}"
        why = f"It returns {kind} and not a {type(right).__name__}."
        return Grade(task, "wrong", 0, arguments, right, text, why)
    if answer.kind == "other value" or not _holds(value, task.returns):
        why = f"It should return {task.returns}, and yours holds something else."
    elif task.is_right(arguments, right, value):
        return None
    else:
        why = task.why(arguments, right, value)
    return Grade(task, "wrong", 0, arguments, right, text, why)


def _holds(value: Any, kind: str) -> bool:
    """Whether a value is of the kind that a signature names."""
    match kind:
        case "str":
            return isinstance(value, str)
        case "list[str]":
            return all(isinstance(it, str) for it in value)
        case "list[bytes]":
            return all(isinstance(it, bytes) for it in value)
    return all(
        isinstance(it, tuple) and len(it) == 2 and all(isinstance(part, bytes) for part in it)
        for it in value
    )


def _smallest(task: Task, answers: LearnerProcess, wrong: Grade, calls: int) -> Grade:
    """The wrong call, made smaller as long as it stays wrong."""
    budget = _SHRINKING_CALLS
    again = wrong.outcome != "too long"  # each smaller one would take as long
    while again and budget > 0:
        again = False
        for arguments in _smaller(wrong.arguments):
            if not task.is_call(*arguments):
                continue
            budget -= 1
            fault = _wrong(task, answers, arguments)
            if fault is not None and fault.outcome == "too long":
                break
            if fault is not None:
                wrong, again = fault, True
                break
            if budget <= 0:
                break
    return Grade(task, wrong.outcome, calls, wrong.arguments, wrong.right, wrong.got, wrong.why)


def _smaller(value: object) -> Iterator[Any]:
    """Values of the same kind that are smaller."""
    match value:
        case bool() | float():
            return
        case int():
            yield from dict.fromkeys(it for it in (0, 1, value // 2, value - 1) if 0 <= it < value)
        case str() | bytes() | list():
            parts: Any = value
            half = len(parts) // 2
            if half > 1:
                yield from (parts[half:], parts[:half])
            yield from (parts[:at] + parts[at + 1 :] for at in range(len(parts)))
        case tuple():
            for at, part in enumerate(value):
                yield from ((*value[:at], it, *value[at + 1 :]) for it in _smaller(part))
        case dict():
            for key in value:
                yield {other: it for other, it in value.items() if other != key}
            for key, number in value.items():
                yield from ({**value, key: it} for it in _smaller(number) if it)
            for key in value:
                for shorter in _smaller(key):
                    if shorter and shorter not in value:
                        yield {(shorter if it == key else it): n for it, n in value.items()}


# Training.

Pair: TypeAlias = tuple[bytes, bytes]


def _race() -> Arguments:
    """Words of the sample texts; the page of plain Python takes a second or so for them."""
    words = Counter(word for text in samples.read_all().values() for word in byte_level.split(text))
    return dict(words), 100


def _train_calls(numbers: random.Random) -> Iterator[Arguments]:
    yield from [
        ({"ab": 1}, 1),
        ({"aaa": 1}, 2),
        ({"ab": 1, "cd": 2}, 1),
        ({"ab": 1, "bc": 1}, 2),
        ({"a": 3, "b": 3}, 1),
        ({"é": 2, "è": 1}, 2),
        ({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 6),
        ({"aaabdaaabac": 1}, 3),
        ({}, 1),
        ({"ab": 1}, 0),
    ]
    for number in range(_RANDOM_CALLS):
        letters = "ab" if number % 3 else "abcé"
        words = {
            _word(numbers, letters, 1 + number // 20): numbers.randint(1, 4)
            for _ in range(1 + number // 15)
        }
        yield words, 1 + number // 10


def _word(numbers: random.Random, letters: str, most: int) -> str:
    return "".join(numbers.choices(letters, k=numbers.randint(1, most)))


def _train_why(arguments: Arguments, right: list[Pair], got: list[Pair]) -> str:
    words, _ = arguments
    at = next(
        (at for at, (a, b) in enumerate(zip(right, got, strict=False)) if a != b),
        min(len(right), len(got)),
    )
    if at == len(right):
        return f"It must stop after {at} merges: no pair is left, or the number is reached."
    rows = [([bytes([it]) for it in word.encode()], n) for word, n in words.items()]
    for pair in right[:at]:
        rows = [(words_bpe.merge(row, pair), n) for row, n in rows]
    counts: dict[Pair, int] = {}
    for row, number in rows:
        for pair in itertools.pairwise(row):
            counts[pair] = counts.get(pair, 0) + number
    wins = (
        f"Merge {at + 1} is {_pair(right[at])}, which occurs {counted(counts[right[at]], 'time')}"
    )
    if at == len(got):
        return f"{wins}; it stops before that."
    theirs = got[at]
    if theirs not in counts:
        return f"{wins}; {_pair(theirs)} are not neighbours in any word then."
    if counts[theirs] == counts[right[at]]:
        return f"{wins}, as often as {_pair(theirs)}; of equals the pair seen first wins."
    return (
        f"{wins}, and {_pair(theirs)} {counts[theirs]}: every neighbouring pair counts, in every "
        "occurrence of its word."
    )


def _pair(pair: Pair) -> str:
    return f"{pair[0]!r} + {pair[1]!r}"


# Encoding a piece by merges.


def _encode_calls(numbers: random.Random) -> Iterator[Arguments]:
    ab, bc = (b"a", b"b"), (b"b", b"c")
    yield from [
        (b"", []),
        (b"a", []),
        (b"ab", [ab]),
        (b"abc", [ab, bc]),
        (b"abc", [bc, ab]),
        (b"aaa", [(b"a", b"a")]),
        (b"abab", [ab, (b"ab", b"ab")]),
        (b"abcd", [(b"c", b"d"), ab, (b"ab", b"cd")]),
        (b"abc", [bc, ab, (b"ab", b"c")]),
        ("é".encode(), [(b"\xc3", b"\xa9")]),
        ("é".encode(), []),
        (b"\xff\xfe", []),
    ]
    for number in range(_RANDOM_CALLS):
        words = {_word(numbers, "abc", 3 + number // 20): 1 for _ in range(4)}
        merges = byte_level.train(words, 6)
        # Every order in which parts come before what they make is a list of merges.
        while numbers.random() < 0.7 and len(merges) > 1:
            at = numbers.randrange(len(merges) - 1)
            swapped = [*merges[:at], merges[at + 1], merges[at], *merges[at + 2 :]]
            merges = swapped if _are_merges(b"", swapped) else merges
        yield _word(numbers, "abc", 3 + number // 15).encode(), merges


def _are_merges(piece: bytes, merges: list[Pair]) -> bool:
    tokens: set[bytes] = set()
    for left, right in merges:
        if not all(len(it) == 1 or it in tokens for it in (left, right)) or left + right in tokens:
            return False
        tokens.add(left + right)
    return True


def _encode_why(arguments: Arguments, right: list[bytes], got: list[bytes]) -> str:
    piece, merges = arguments
    if b"".join(got) != piece:
        return "The tokens do not join to the piece: no byte may be lost or added."
    unmerged = [pair for pair in itertools.pairwise(got) if pair in merges]
    if unmerged:
        return f"{_pair(unmerged[0])} are still side by side, and there is a merge for them."
    order = {pair: place for place, pair in enumerate(merges)}
    row = [bytes([it]) for it in piece]
    while True:
        candidates = [pair for pair in itertools.pairwise(row) if pair in order]
        if not candidates:
            break
        first = min(candidates, key=lambda it: order[it])
        merged = words_bpe.merge(row, first)
        if len(candidates) > 1 and not _refines(merged, got):
            later = (
                next(it for it in candidates if it != first) if len(set(candidates)) > 1 else first
            )
            if later == first:
                return f"{_pair(first)} overlaps itself here: it is merged from the left."
            return (
                f"{_pair(first)} was learned before {_pair(later)}, so it is merged first, "
                "wherever it is."
            )
        row = merged
    parts = {unmerged + second: (unmerged, second) for unmerged, second in merges}
    token = next((it for it in got if it in parts and it not in right), None)
    if token is not None:
        return f"{token!r} is merged from {_pair(parts[token])} only, not from other parts."
    return "The merges are done in the order in which they were learned, each everywhere at once."


def _refines(row: Sequence[bytes], tokens: Sequence[bytes]) -> bool:
    """Whether merging more of a row can still give these tokens."""
    ends = set(itertools.accumulate(map(len, row)))
    return ends.issuperset(itertools.accumulate(map(len, tokens)))


# Decoding.


def _decode(tokens: list[bytes]) -> str:
    return b"".join(tokens).decode("utf-8", "replace")


def _decode_calls(numbers: random.Random) -> Iterator[Arguments]:
    for tokens in (
        [],
        [b"a"],
        [b"he", b"llo"],
        ["é".encode()],
        [b"\xc3", b"\xa9"],
        [b"\xff"],
        [b"a", b"\xc3"],
        [b" a", b"\n"],
        ["\ufeff".encode(), b"a"],
        [b"\xe5\x9b", b"\xb3 ", "🙂".encode()],
    ):
        yield (tokens,)
    for number in range(_RANDOM_CALLS):
        data = _word(numbers, "ab é図🙂", 2 + number // 15).encode()
        if number % 4 == 0:
            data += bytes([numbers.randrange(128, 256)])
        ends = sorted(numbers.sample(range(len(data) + 1), min(len(data), numbers.randint(0, 4))))
        yield ([data[a:b] for a, b in itertools.pairwise([0, *ends, len(data)])],)


def _decode_why(arguments: Arguments, right: str, got: str) -> str:
    (tokens,) = arguments
    if "".join(it.decode("utf-8", "replace") for it in tokens) == got:
        return "A character can be split over tokens: join the bytes first, and decode then."
    if "�" in right and "�" not in got:
        return "Bytes that are no character become U+FFFD (�); none is left out."
    return "The text of the tokens is their bytes, one after another, read as UTF-8."


# Splitting as GPT-2 does.


def _split_calls(numbers: random.Random) -> Iterator[Arguments]:
    for text in (
        "",
        "a",
        "a b",
        "a  b",
        "a1",
        "it's",
        "IT'S",
        "a\nb",
        "a \n b",
        "a!?",
        "  ",
        "a ",
        "don't we'll",
        "he's I've you're I'm he'd",
        "a 12345",
        "été 12 ok",
        "x_y",
        "²½ ٣",
        "\u00a0a",
        "'s'",
    ):
        yield (text,)
    letters = "ab Z12é'stmlrevd.,!_\n\t 図½\u00a0"
    for number in range(4 * _RANDOM_CALLS):
        yield (_word(numbers, letters, 2 + number // 40),)


def _split_why(arguments: Arguments, right: list[str], got: list[str]) -> str:
    (text,) = arguments
    if "".join(got) != text:
        return "The pieces do not join to the text: a split must not lose characters."
    if "" in got:
        return "A piece is never empty."
    at = next(
        (at for at, (a, b) in enumerate(zip(right, got, strict=False)) if a != b),
        min(len(right), len(got)),
    )
    piece = right[at]
    if piece.startswith("'") and piece[1:] in ("s", "t", "re", "ve", "m", "ll", "d"):
        return f"{piece!r} is a separate piece: 's 't 're 've 'm 'll 'd, in small letters only."
    theirs = got[at] if at < len(got) else ""
    if piece.isspace() and theirs.startswith(piece) and theirs != piece:
        return f"White space before a word leaves the last character to it: {piece!r} ends there."
    if piece.isspace():
        return f"{piece!r} is white space to the end, or up to the last before a word: one piece."
    if piece.startswith(" "):
        return f"A space goes with what follows it, so {piece!r} is one piece."
    return (
        f"{piece!r} is a piece: letters, numbers and other signs are three kinds, by Unicode's "
        "categories, and a piece is a whole run of one kind."
    )


# Special tokens.


def _split_special(text: str, special: list[str]) -> list[str]:
    parts, start, at = [], 0, 0
    while at < len(text):
        token = max((it for it in special if text.startswith(it, at)), key=len, default="")
        if token:
            parts += [text[start:at], token]
            start = at + len(token)
        at += len(token) or 1
    return [part for part in (*parts, text[start:]) if part]


def _special_calls(numbers: random.Random) -> Iterator[Arguments]:
    end = "<|end|>"
    yield from [
        ("", []),
        ("a", []),
        ("a", [end]),
        (end, [end]),
        (f"a{end}", [end]),
        (f"{end}a", [end]),
        (f"a{end}{end}b", [end]),
        ("a.b", ["."]),
        ("<a><a>", ["<a>", "<a><a>"]),
        ("<a><a>", ["<a><a>", "<a>"]),
        ("abab", ["aba", "ba"]),
    ]
    for number in range(_RANDOM_CALLS):
        special = list({_word(numbers, "ab|.", 3) for _ in range(numbers.randint(1, 3))})
        yield _word(numbers, "ab|.", 3 + number // 15), sorted(special)


def _special_why(arguments: Arguments, right: list[str], got: list[str]) -> str:
    text, special = arguments
    if "".join(got) != text:
        return "The parts do not join to the text: the special tokens are parts, too."
    if "" in got:
        return "A part is never empty, not even between two special tokens that touch."
    missed = [it for it in right if it in special and it not in got]
    for token in missed:
        if any(other != token and token.startswith(other) for other in special):
            return f"Of special tokens that begin at one place the longest wins: {token!r}."
    if missed and any(it in string.punctuation for it in missed[0]):
        return f"{missed[0]!r} is plain text, not a pattern: in a regex, escape it."
    if [it for it in got if it in special and it not in right]:
        return "The leftmost special token is split off first, and its characters are used up."
    return "Each special token is a separate part, and the text between two is one part."


# Merges from ranks.


def _ranks_calls(numbers: random.Random) -> Iterator[Arguments]:
    yield from [
        ({},),
        ({b"a": 0},),
        ({b"a": 0, b"b": 1, b"ab": 2},),
        ({b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"abc": 5},),
        ({b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4, b"abc": 5},),
        ({b"a": 0, b"aa": 1, b"aaa": 2, b"aaaa": 3},),
        ({b"a": 0, b"b": 1, b"abb": 2},),
        ({b"a": 3, b"b": 7, b"ab": 20},),
        ({b"aba": 3, b"ab": 2, b"a": 0, b"b": 1},),
        ({b"\xc3": 0, b"\xa9": 1, b"\xc3\xa9": 2},),
    ]
    for number in range(_RANDOM_CALLS):
        words = {_word(numbers, "abc", 3 + number // 20): 1 for _ in range(5)}
        merges = byte_level.train(words, 3 + number // 15)
        tokens = list(dict.fromkeys([b"a", b"b", b"c", *(left + right for left, right in merges)]))
        if number % 5 == 0:
            tokens.append(b"cabbac")
        yield ({token: rank for rank, token in enumerate(tokens)},)


def _are_ranks(table: dict[bytes, int]) -> bool:
    single = {bytes([byte]) for token in table for byte in token}
    return single <= table.keys() and len(set(table.values())) == len(table) and b"" not in table


def _ranks_why(arguments: Arguments, right: list[Pair], got: list[Pair]) -> str:
    (table,) = arguments
    tokens = {left + part for left, part in right}
    for pair in got:
        if pair[0] + pair[1] not in tokens:
            return f"{pair[0] + pair[1]!r} has no merge: lower ranks do not merge it to two parts."
    if sorted(right) == sorted(got):
        return "The merges are in the order of the ranks of what they make."
    of = {left + part: (left, part) for left, part in got}
    token = next(left + part for left, part in right if of.get(left + part) != (left, part))
    parts = ranks.parts(token, table, below=table[token])
    return (
        f"{token!r} is {' + '.join(map(repr, parts))}: its bytes, merged by the ranks below its "
        f"own ({table[token]}), end in these two."
    )


# Viterbi.


def _viterbi(text: str, scores: dict[str, float]) -> list[str]:
    return unigram_page.best(text, scores) if text else []


def _viterbi_calls(numbers: random.Random) -> Iterator[Arguments]:
    ab = {"a": -1.0, "b": -1.5}
    yield from [
        ("", ab),
        ("a", ab),
        ("ab", ab),
        ("ab", {**ab, "ab": -2.0}),
        ("ab", {**ab, "ab": -3.0}),
        ("abb", {**ab, "ab": -3.25, "bb": -1.25}),
        ("aab", {**ab, "aa": -1.75, "ab": -0.5}),
        ("a" * 40, {"a": -1.0, "aa": -1.5}),
    ]
    for number in range(_RANDOM_CALLS):
        pieces = ["a", "b", "c", *(_word(numbers, "abc", 4) for _ in range(2 + number // 15))]
        # Sums of sixty-fourths are exact, so rounding does not matter.
        scores = {piece: -numbers.randint(20, 400) / 64 for piece in pieces}
        yield _word(numbers, "abc", 2 + number // 10), scores


def _is_scored(text: str, scores: dict[str, float]) -> bool:
    return set(text) <= scores.keys()


def _is_best(arguments: Arguments, right: list[str], got: list[str]) -> bool:
    """Whether the pieces join to the text, with a sum as great as the best."""
    text, scores = arguments
    if "".join(got) != text or not all(it in scores for it in got):
        return False
    return math.isclose(_sum(got, scores), _sum(right, scores))


def _sum(pieces: list[str], scores: dict[str, float]) -> float:
    return sum(scores[piece] for piece in pieces)


def _viterbi_why(arguments: Arguments, right: list[str], got: list[str]) -> str:
    text, scores = arguments
    if "".join(got) != text:
        return "The pieces do not join to the text."
    unknown = [it for it in got if it not in scores]
    if unknown:
        return f"{unknown[0]!r} has no score, so it is not a piece."
    return (
        f"The sum of your scores is {_sum(got, scores):g}, that of the best "
        f"{_sum(right, scores):g}: the longest or the best first piece may not lead there."
    )


TASKS: tuple[Task, ...] = (
    Task(
        "train",
        "(words: dict[str, int], merges: int) -> list[tuple[bytes, bytes]]",
        "Learns byte pair encoding from words with counts: the merges, first to last.",
        byte_level.train,
        _train_calls,
        lambda words, merges: merges < 1_000,
        _train_why,
    ),
    Task(
        "encode",
        "(piece: bytes, merges: list[tuple[bytes, bytes]]) -> list[bytes]",
        "The tokens of a piece, by merges in the order in which they were learned.",
        byte_level.encode_piece,
        _encode_calls,
        _are_merges,
        _encode_why,
    ),
    Task(
        "decode",
        "(tokens: list[bytes]) -> str",
        "The text of tokens; bytes that are no character become U+FFFD.",
        _decode,
        _decode_calls,
        lambda tokens: True,
        _decode_why,
    ),
    Task(
        "split",
        "(text: str) -> list[str]",
        "The pieces of a text, split as GPT-2 does.",
        byte_level.split,
        _split_calls,
        lambda text: True,
        _split_why,
    ),
    Task(
        "split_special",
        "(text: str, special: list[str]) -> list[str]",
        "The parts of a text: each special token, and the text between two of them.",
        _split_special,
        _special_calls,
        lambda text, special: "" not in special,
        _special_why,
    ),
    Task(
        "merges_of",
        "(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]",
        "The merges of a table of ranks, first to last.",
        ranks.merges_of,
        _ranks_calls,
        _are_ranks,
        _ranks_why,
    ),
    Task(
        "viterbi",
        "(text: str, scores: dict[str, float]) -> list[str]",
        "The pieces of a text whose sum of scores is greatest; every character has a score.",
        _viterbi,
        _viterbi_calls,
        _is_scored,
        _viterbi_why,
        _is_best,
    ),
    Task(
        "train_fast",
        "(words: dict[str, int], merges: int) -> list[tuple[bytes, bytes]]",
        f"The merges of `train`, {TIMES_AS_FAST} times as fast as by counting all words again.",
        byte_level.train,
        _train_calls,
        lambda words, merges: merges < 1_000,
        _train_why,
        race=_race,
    ),
)
"""The functions, in the order to write them in."""
