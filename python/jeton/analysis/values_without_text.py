"""Measures that need no corpus: numbers, code, variants of words, morphemes of the caller."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping, Sequence

from jeton.analysis import measures
from jeton.analysis.probes import (
    IDENTIFIERS,
    INDENTS,
    NUMBERS,
    OPERATORS,
    SUMS,
    WORDS,
    cuts_of,
    within,
)
from jeton.analysis.values import Value
from jeton.arguments import check_text
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError
from jeton.tokenizer import Tokenizer

Morphemes = Mapping[str, Sequence[str]]

_MARKS = ".,!?;:)"


def overall_values(tok: Tokenizer, morphemes: Morphemes | None) -> dict[str, Value]:
    """The values of all measures whose texts the tokenizer can encode."""
    values: dict[str, Value] = {}
    for family in (_numbers, _code, _variants):
        # A vocabulary of characters may lack a character of the test.
        with contextlib.suppress(EncodeError):
            values |= family(tok)
    if morphemes is not None:
        with contextlib.suppress(EncodeError):
            values |= _morphemes(tok, morphemes)
    return values


def _numbers(tok: Tokenizer) -> dict[str, Value]:
    sizes = [cuts.sizes for cuts in cuts_of(tok, [within("", it) for it in NUMBERS])]
    terms = cuts_of(tok, [within("", number) for numbers in SUMS for number in numbers])
    sums = [[it.sizes for it in terms[at : at + 3]] for at in range(0, len(terms), 3)]
    kinds = ("left", "right", "single", "mixed")
    return {
        **{f"digits_{kind}": measures.digit_grouping(sizes, kind) for kind in kinds},
        "arithmetic_alignment": measures.arithmetic_alignment(sums),
    }


def _code(tok: Tokenizer) -> dict[str, Value]:
    operators = cuts_of(tok, [within("a ", it, " b") for it in OPERATORS])
    indents = cuts_of(tok, [within("x\n", it, "y") for it in INDENTS])
    levels = [it.count("\t") + it.count(" ") // 4 for it in INDENTS]
    names = cuts_of(tok, [within(" ", "".join(it)) for it in IDENTIFIERS])
    hits = boundaries = 0
    for cuts, parts in zip(names, IDENTIFIERS, strict=True):
        inside, at = set(cuts.inside), 0
        for part, following in itertools.pairwise(parts):
            at += len(part)
            boundaries += 1
            hits += at in inside or (following.startswith("_") and at + 1 in inside)
    return {
        "whole_operators": measures.whole_operators(
            sum(len(it.ids) == 1 and it.only for it in operators), len(operators)
        ),
        "indentation_tokens": measures.indentation_tokens([len(it.ids) for it in indents], levels),
        "identifier_tokens": measures.identifier_tokens([len(it.ids) for it in names]),
        "identifier_boundaries": measures.identifier_boundaries(hits, boundaries),
    }


def _variants(tok: Tokenizer) -> dict[str, Value]:
    plain = [it.ids for it in cuts_of(tok, [within("a ", word) for word in WORDS])]
    capitals = cuts_of(tok, [within("a ", word.upper()) for word in WORDS])
    first = cuts_of(tok, [within("", word) for word in WORDS])
    before_marks = cuts_of(tok, [within("a ", word, mark) for mark in _MARKS for word in WORDS])
    same = sum(cuts.ids == ids for cuts, ids in zip(before_marks, itertools.cycle(plain)))
    lengths = list(map(len, plain))
    return {
        "case_cost": measures.case_cost([len(it.ids) for it in capitals], lengths),
        "space_cost": measures.space_cost([len(it.ids) for it in first], lengths),
        "punctuation_kept": measures.punctuation_kept(same, len(before_marks)),
    }


def _morphemes(tok: Tokenizer, words: Morphemes) -> dict[str, Value]:
    right = split_count = boundaries = 0
    splits = cuts_of(tok, [within(" ", word) for word in words])
    for cuts, parts in zip(splits, words.values(), strict=True):
        inside, ends = set(cuts.inside), set(itertools.accumulate(map(len, parts[:-1])))
        right += len(inside & ends)
        split_count += len(inside)
        boundaries += len(ends)
    return {
        "morpheme_precision": measures.morpheme_precision(right, split_count),
        "morpheme_recall": measures.morpheme_recall(right, boundaries),
        "morpheme_f1": measures.morpheme_f1(right, split_count, boundaries),
    }


def checked_morphemes(words: object) -> Morphemes | None:
    """Words with their morphemes; fails unless the morphemes joined are the word."""
    if words is None:
        return None
    if not isinstance(words, Mapping):
        kind = type(words).__name__
        raise ArgumentTypeError(f"morphemes must map words to their morphemes, not {kind}")
    for word, parts in words.items():
        check_text("each word of morphemes", word)
        if isinstance(parts, str) or not isinstance(parts, Sequence):
            kind = type(parts).__name__
            raise ArgumentTypeError(f"morphemes[{word!r:.60}] must be a list of str, not {kind}")
        if "".join(check_text(f"each of morphemes[{word!r:.60}]", part) for part in parts) != word:
            raise ArgumentError(f"morphemes[{word!r:.60}]: joined, they must be the word")
    return words
