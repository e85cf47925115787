"""Two tokenizers on one text: token runs that cover the same bytes, and the tokens that both have.

Look here for `align` and `shared_tokens`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jeton.arguments import check_kind, check_text
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.results.vocabulary import bytes_by_id


@dataclass(frozen=True, slots=True)
class AlignedRun:
    """The fewest tokens of two tokenizers that cover the same bytes of a text.

    Attributes:
        a: The tokens of the first tokenizer: a range of positions in its ids.
        b: Those of the second. One of the two can be empty, where a tokenizer drops text.
        start: Where the run begins, in bytes of the text as UTF-8.
        end: Where it ends.
    """

    a: range
    b: range
    start: int
    end: int


def align(
    a: BaseTokenizer, b: BaseTokenizer, text: str
) -> tuple[list[int], list[int], list[AlignedRun]]:
    """The tokens of two tokenizers on one text, and which of them cover the same bytes.

    Runs are as short as possible, in order, and together have every token of both once. Use them to
    move values per token from one tokenizer to another: log-probabilities for distillation,
    rewards, labels. Special tokens in the text are text; none are added around it.

    Args:
        a: The first tokenizer.
        b: The second.
        text: The text.

    Returns:
        The ids of `a`, the ids of `b`, and the runs. A run's `start` and `end` are bytes of the
        UTF-8 of the text. A token that holds a part of a character counts as the whole character.

    Raises:
        EncodeError: A tokenizer has no token for a part of the text.

    Example:
        >>> import jeton
        >>> a = jeton.BPETrainer(258).train(["low low lower"])
        >>> b = jeton.CharTrainer().train("low er")
        >>> a_ids, b_ids, runs = jeton.align(a, b, "lowe")
        >>> [(a.decode(a_ids[run.a.start : run.a.stop]), len(run.b)) for run in runs]
        [('low', 3), ('e', 1)]
    """
    check_kind("a", a, BaseTokenizer, "a Tokenizer")
    check_kind("b", b, BaseTokenizer, "a Tokenizer")
    check_text("text", text)
    of_a = a.encode_with_spans(text, unit="bytes")
    of_b = b.encode_with_spans(text, unit="bytes")
    size = len(text.encode())
    runs = []
    at_a = at_b = start = 0
    for end, stop_a, stop_b in _common(_gaps(of_a.spans, size), _gaps(of_b.spans, size)):
        if (stop_a, stop_b) == (at_a, at_b):
            continue
        runs.append(AlignedRun(range(at_a, stop_a), range(at_b, stop_b), start, end))
        at_a, at_b, start = stop_a, stop_b, end
    return list(of_a.ids), list(of_b.ids), runs


def _gaps(spans: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int, int]]:
    """A split between tokens: the number of tokens before it, and its first and last byte."""
    first, starts = size, [size] * (len(spans) + 1)
    for number in range(len(spans) - 1, -1, -1):
        start, end = spans[number]
        # A token of no bytes belongs to those after it.
        first = starts[number] = min(first, start) if end > start else first
    gaps, end = [(0, 0, starts[0])], 0
    for number, span in enumerate(spans, 1):
        end = max(end, span[1])
        if end <= starts[number] and (end, starts[number]) != gaps[-1][1:]:
            gaps.append((number, end, starts[number]))
    if len(spans) and gaps[-1][0] != len(spans):
        # Tokens of no bytes at the end of the text belong to those before.
        gaps[-1] = (len(spans), end, size)
    return gaps


def _common(
    a: Sequence[tuple[int, int, int]], b: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[int, int, int]]:
    """The bytes at which both can be split, with the numbers of tokens before."""
    at_a = at_b = 0
    while at_a < len(a) and at_b < len(b):
        (tokens_a, first_a, last_a), (tokens_b, first_b, last_b) = a[at_a], b[at_b]
        place = max(first_a, first_b)
        if place <= min(last_a, last_b):
            yield place, tokens_a, tokens_b
        at_a, at_b = at_a + (last_a <= last_b), at_b + (last_b <= last_a)


def shared_tokens(a: BaseTokenizer, b: BaseTokenizer) -> dict[int, int]:
    """The tokens that both vocabularies have: the ids of `b` by those of `a`.

    Tokens are the same if they stand for the same bytes, in whatever way a format spells them
    (`Ġlow` and `▁low` are both ` low`), or if both are special tokens with one text. Speculative
    decoding with a draft model of another tokenizer may propose just these; a distillation may
    compare their logits.

    Args:
        a: The first tokenizer.
        b: The second.

    Example:
        >>> import jeton
        >>> a, b = jeton.CharTrainer().train("abc"), jeton.CharTrainer().train("bcd")
        >>> jeton.shared_tokens(a, b)
        {1: 0, 2: 1}
    """
    check_kind("a", a, BaseTokenizer, "a Tokenizer")
    check_kind("b", b, BaseTokenizer, "a Tokenizer")
    # Of two with the same bytes, the later is a piece and the earlier the token of a byte.
    ids = {token: id for id, token in plain_tokens(b).items()}
    return {id: ids[token] for id, token in plain_tokens(a).items() if token in ids}


def plain_tokens(tok: BaseTokenizer) -> dict[int, tuple[bytes, str]]:
    """What each token stands for: the bytes that it adds to a text; or its own, and `special`."""
    special = set(tok.special_tokens.values())
    return {
        id: (token, "special") if id in special else (tok.vocab.token_bytes(id), "")
        for id, token in bytes_by_id(tok.vocab).items()
    }
