"""What is measured on no corpus: numbers, code, words in other shapes, given morphemes."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from jeton import Tokenizer
from jeton.analysis import measures
from jeton.analysis.probes import IDENTIFIERS, INDENTS, NUMBERS, OPERATORS, SUMS, WORDS, Cuts
from jeton.analysis.values import Value
from jeton.components._base import check_text
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError

__all__ = ["Morphemes", "checked_morphemes", "overall_values"]

Morphemes = Mapping[str, Sequence[str]]

_MARKS = ".,!?;:)"


def overall_values(tok: Tokenizer, morphemes: Morphemes | None) -> dict[str, Value]:
    """The values of all that can be measured; what the tokenizer has no tokens for is `None`."""
    found: dict[str, Value] = {}
    families: list[Callable[[], dict[str, Value]]] = [
        lambda: _numbers(tok),
        lambda: _code(tok),
        lambda: _variants(tok),
    ]
    if morphemes is not None:
        families.append(lambda: _morphemes(tok, morphemes))
    for family in families:
        # A vocabulary of characters may lack one of those that are tried.
        with contextlib.suppress(EncodeError):
            found |= family()
    return found


def _numbers(tok: Tokenizer) -> dict[str, Value]:
    sizes = [Cuts.of(tok, number).sizes for number in NUMBERS]
    sums = [[Cuts.of(tok, number).sizes for number in numbers] for numbers in SUMS]
    kinds = ("left", "right", "single", "mixed")
    return {
        **{f"digits_{kind}": measures.digit_grouping(sizes, kind) for kind in kinds},
        "arithmetic_alignment": measures.arithmetic_alignment(sums),
    }


def _code(tok: Tokenizer) -> dict[str, Value]:
    operators = [Cuts(tok, f"a {it} b", 2, 2 + len(it)) for it in OPERATORS]
    indents = [len(Cuts(tok, f"x\n{it}y", 2, 2 + len(it)).ids) for it in INDENTS]
    levels = [it.count("\t") + it.count(" ") // 4 for it in INDENTS]
    names = [(Cuts(tok, f" {''.join(it)}", 1, 1 + len("".join(it))), it) for it in IDENTIFIERS]
    met = boundaries = 0
    for cuts, parts in names:
        inside, at = set(cuts.inside), 0
        for part, following in itertools.pairwise(parts):
            at += len(part)
            boundaries += 1
            met += at in inside or (following.startswith("_") and at + 1 in inside)
    return {
        "whole_operators": measures.whole_operators(
            sum(len(it.ids) == 1 and it.only for it in operators), len(operators)
        ),
        "indentation_tokens": measures.indentation_tokens(indents, levels),
        "identifier_tokens": measures.identifier_tokens([len(cuts.ids) for cuts, _ in names]),
        "identifier_boundaries": measures.identifier_boundaries(met, boundaries),
    }


def _variants(tok: Tokenizer) -> dict[str, Value]:
    plain = [Cuts(tok, f"a {it}", 2, 2 + len(it)).ids for it in WORDS]
    capitals = [Cuts(tok, f"a {it.upper()}", 2, 2 + len(it)).ids for it in WORDS]
    first = [Cuts.of(tok, it).ids for it in WORDS]
    kept = sum(
        Cuts(tok, f"a {it}{mark}", 2, 2 + len(it)).ids == ids
        for it, ids in zip(WORDS, plain, strict=True)
        for mark in _MARKS
    )
    lengths = list(map(len, plain))
    return {
        "case_cost": measures.case_cost(list(map(len, capitals)), lengths),
        "space_cost": measures.space_cost(list(map(len, first)), lengths),
        "punctuation_kept": measures.punctuation_kept(kept, len(WORDS) * len(_MARKS)),
    }


def _morphemes(tok: Tokenizer, given: Morphemes) -> dict[str, Value]:
    right = made = boundaries = 0
    for word, parts in given.items():
        cuts = set(Cuts(tok, f" {word}", 1, 1 + len(word)).inside)
        expected = set(_ends(parts))
        right += len(cuts & expected)
        made += len(cuts)
        boundaries += len(expected)
    return {
        "morpheme_precision": measures.morpheme_precision(right, made),
        "morpheme_recall": measures.morpheme_recall(right, boundaries),
        "morpheme_f1": measures.morpheme_f1(right, made, boundaries),
    }


def _ends(parts: Sequence[str]) -> Iterator[int]:
    at = 0
    for part in parts[:-1]:
        at += len(part)
        yield at


def checked_morphemes(given: Any) -> Morphemes | None:
    """Words with their morphemes, which joined are the word."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        told = type(given).__name__
        raise ArgumentTypeError(f"morphemes must map words to their morphemes, not {told}")
    for word, parts in given.items():
        check_text("each word of morphemes", word)
        if isinstance(parts, str) or not isinstance(parts, Sequence):
            told = type(parts).__name__
            raise ArgumentTypeError(f"morphemes[{word!r:.60}] must be a list of str, not {told}")
        if "".join(check_text(f"each of morphemes[{word!r:.60}]", part) for part in parts) != word:
            raise ArgumentError(f"morphemes[{word!r:.60}]: joined, they must be the word")
    return given
