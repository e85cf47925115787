"""What is in a tokenizer: sizes, stages, special tokens, notable tokens.

Look here for how `jeton inspect` sorts tokens into scripts, and which tokens it calls odd.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from statistics import median

import numpy as np

import jeton
from jeton.cli.printing import styled
from jeton.cli.terminal import columns, heading, shorten, table, width_of
from jeton.cli.token_files import dtype_for
from jeton.components import models
from jeton.components.component import Component, in_words, steps_of
from jeton.display.human_readable import bar, visible
from jeton.encoding.unicode import letter_scripts

_BAR = 30
"""Columns of the longest bar."""
_LONGEST = 8
"""Maximum number of longest tokens to show."""
_KINDS = 12
"""Maximum number of kinds of tokens to show."""
_ODD = 4
"""Maximum number of odd tokens of a kind to show."""


def tokenizer_summary(tok: jeton.Tokenizer, name: str) -> Iterator[str]:
    """The lines that describe `tok`."""
    specials = tok.special_tokens
    # Tokens of words are shown with their marks, such as `##`; others as they are in text.
    by_name = isinstance(tok.stages.model, (models.WordPiece, models.WordLevel))
    tokens = sorted(
        (number, token if by_name else tok.vocab.token_bytes(number) or token)
        for token, number in tok.vocab.items()
        if number not in specials.values()
    )
    yield heading(name)
    yield _facts(_sizes(tok, {token for _, token in tokens}))
    yield ""
    yield heading("The stages, in order")
    yield _facts(_stages(tok))
    yield ""
    if specials:
        yield heading("Special tokens")
        yield _specials(specials)
        yield ""
    yield heading("What the tokens are made of")
    yield _shares(Counter(_kind(token) for _, token in tokens))
    yield ""
    yield heading("How long they are, in bytes")
    yield _lengths([len(token) for _, token in tokens])
    yield ""
    yield heading("The longest")
    longest = sorted(tokens, key=lambda item: (-len(item[1]), item[0]))[:_LONGEST]
    yield _tokens((f"{len(token)} bytes", number, token) for number, token in longest)
    if odd := list(_odd(tok, tokens)):
        yield ""
        yield heading("The oddest")
        yield _tokens(odd)


def _sizes(tok: jeton.Tokenizer, tokens: set[bytes]) -> Iterator[tuple[str, str]]:
    merges = len(tok.vocab.merges)
    yield "tokens", f"{tok.vocab_size:,}" + (f", made by {merges:,} merges" if merges else "")
    dtype = np.dtype(dtype_for(tok.vocab.max_id))
    gaps = tok.vocab.max_id + 1 - tok.vocab_size
    yield (
        "ids",
        f"0 to {tok.vocab.max_id:,}"
        + (f", {gaps:,} of them unused" if gaps else "")
        + (f"; they fit in {dtype}"),
    )
    single = sum(bytes([byte]) in tokens for byte in range(256))
    if single == 256:
        yield "bytes", "all 256 are tokens, so no text is unknown"
    else:
        yield "bytes", f"{single} of 256 are tokens"


def _stages(tok: jeton.Tokenizer) -> Iterator[tuple[str, str]]:
    yield "added tokens", f"{len(tok.stages.added_tokens):,}" if tok.stages.added_tokens else "none"
    yield from _steps("normalizer", tok.stages.normalizer)
    yield from _steps("pre-tokenizer", tok.stages.pre_tokenizer)
    yield "model", _model(tok)
    yield from _steps("post-processor", tok.stages.post_processor)
    yield from _steps("decoder", tok.stages.decoder)
    plan = tok.stages.encoding_plan()
    slow = (f"Some calls run the stages all the same: {obstacle}." for obstacle in plan.detours)
    yield "encoding", " ".join((plan.meaning, *slow))


def _steps(label: str, stage: Component | None) -> Iterator[tuple[str, str]]:
    """A stage, or each step of a sequence."""
    steps = [in_words(step) for step in steps_of(stage)] or ["none"]
    return zip(itertools.chain([label], itertools.repeat("")), steps, strict=False)


def _model(tok: jeton.Tokenizer) -> str:
    """The model's kind, its rule, and its settings that are not the defaults."""
    model = tok.stages.model
    rule = ""
    if isinstance(model, models.BPE):
        rule = "by ranks" if model.merges is None else "by merges"
    settings = [
        f"{field.name}={getattr(model, field.name)!r}"
        for field in dataclasses.fields(model)  # type: ignore[arg-type]
        if field.default is not dataclasses.MISSING and getattr(model, field.name) != field.default
    ]
    return " ".join(filter(None, [type(model).__name__, rule, ", ".join(settings)]))


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    """Labels with their texts; long texts are wrapped and indented."""
    return table([(styled(label, fg="cyan"), text) for label, text in rows], "<<", wraps=True)


def _specials(specials: dict[str, int]) -> str:
    items = sorted(specials.items(), key=lambda item: item[1])
    rows_shown = items if len(items) <= 12 else items[:6] + items[-5:]
    rows = [(f"{number:,}", styled(shorten(name, 50), bold=True)) for name, number in rows_shown]
    if len(items) > len(rows_shown):
        rows.insert(6, ("…", f"{len(items) - len(rows_shown):,} more"))
    return table(rows, "><")


def _shares(counts: Counter[str]) -> str:
    total = sum(counts.values()) or 1
    rows = []
    kinds = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if len(kinds) > _KINDS:
        others = kinds[_KINDS - 1 :]
        kinds[_KINDS - 1 :] = [(f"{len(others)} others", sum(count for _, count in others))]
    width = min(_BAR, columns() - 37)
    for kind, count in kinds:
        share = count / total
        line = styled(bar(share, width), fg="green")
        rows.append((kind, f"{count:,}", f"{share:.1%}", line))
    return table(rows, "<>><")


def _lengths(lengths: list[int]) -> str:
    counts = Counter(min(length, 16) for length in lengths)
    most = max(counts.values(), default=1)
    rows = [
        (
            f"{length}" if length < 16 else "16+",
            f"{counts[length]:,}",
            styled(bar(counts[length] / most, _BAR), fg="green"),
        )
        for length in range(1, 17)
        if counts[length]
    ]
    middle = f"  median {median(lengths):g}, mean {sum(lengths) / len(lengths):.2f}"
    return table(rows, ">><") + "\n" + styled(middle, dim=True)


def _tokens(rows: Iterable[tuple[str, int, bytes]]) -> str:
    cells = [(why, f"{number:,}", token) for why, number, token in rows]
    taken_columns = (
        max(width_of(why) for why, *_ in cells) + max(len(number) for _, number, _ in cells) + 4
    )
    room = max(16, columns() - taken_columns - 2)
    return table(
        [(why, number, shorten(visible(token), room)) for why, number, token in cells], "<><"
    )


def _kind(token: bytes) -> str:
    """What a token consists of: a script, or one of a few other things."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "parts of characters"
    letters = letter_scripts(text)
    if len(letters) == 1:
        return letters.pop().replace("_", " ")
    if letters:
        return "Japanese" if letters <= {"Han", "Hiragana", "Katakana"} else "mixed scripts"
    kinds = {_kind_of_character(character) for character in text}
    return next((kind for kind in _KINDS_OF_CHARACTERS.values() if kind in kinds), "white space")


_KINDS_OF_CHARACTERS = {
    "N": "digits",
    "S": "symbols and emoji",
    "P": "punctuation",
    "C": "controls",
    "M": "marks",
    "L": "marks",
    "Z": "white space",
}
"""What characters without a script are, by their category; of several, the first here counts."""


@cache
def _kind_of_character(character: str) -> str:
    is_space = character.isspace() or character == "▁"
    return _KINDS_OF_CHARACTERS["Z" if is_space else unicodedata.category(character)[0]]


def _longest_first(text: str) -> tuple[int, ...]:
    return (-len(text),)


Entry = tuple[int, bytes, str]
"""A token: its id, its bytes, and its text."""


def _odd(tok: jeton.Tokenizer, tokens: list[tuple[int, bytes]]) -> Iterator[tuple[str, int, bytes]]:
    """Tokens worth a second look: long runs, mixed scripts, those that encoding never returns."""
    texts = []
    for number, token in tokens:
        with contextlib.suppress(UnicodeDecodeError):
            if text := token.decode():
                texts.append((number, token, text))
    runs = [item for item in texts if len(item[2]) > 3 and len(set(item[2])) == 1]
    yield from _some("one character, repeated", runs, _longest_first)
    camels = [item for item in texts if _humps(item[2]) >= 2]
    yield from _some("glued words", camels, lambda text: (-_humps(text), -len(text)))
    mixed = [item for item in texts if _kind(item[1]) == "mixed scripts"]
    yield from _some("two scripts", mixed, _longest_first)
    if all(bytes([byte]) in tok.vocab for byte in range(256)):
        batch = tok.encode_batch([text for _, _, text in texts])
        lost = [item for item, ids in zip(texts, batch.tolist(), strict=True) if ids != [item[0]]]
        yield from _some(f"not one token alone ({len(lost):,})", lost, _longest_first)


def _some(
    why: str, items: list[Entry], order: Callable[[str], tuple[int, ...]]
) -> Iterator[tuple[str, int, bytes]]:
    """The first few by `order`; only the first has the reason beside it."""
    first = sorted(items, key=lambda item: (*order(item[2]), item[0]))[:_ODD]
    for position, (number, token, _) in enumerate(first):
        yield ("" if position else why), number, token


def _humps(text: str) -> int:
    """How often a small letter is followed by a capital one.

    >>> _humps(" SolidGoldMagikarp"), _humps("McDonald")
    (2, 1)
    """
    return sum(a.islower() and b.isupper() for a, b in itertools.pairwise(text))
