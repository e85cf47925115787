"""Split patterns: their names, the pre-tokenizer of each, and a text split by one.

Look here for `jeton.patterns()` and `jeton.split()`, and for what `pattern=` takes everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, cast

import jeton._core as _core
from jeton.arguments import check_text
from jeton.components import pre_tokenizers
from jeton.components.component import read_stored
from jeton.errors import ArgumentError


class Pattern(NamedTuple):
    """A named way to split text."""

    origin: str
    """Its author, and where it was published; or what it does."""
    aliases: tuple[str, ...]
    """Its other names."""
    expressions: tuple[str, ...]
    """The regular expressions that split, in order; empty if it uses none."""


def patterns() -> dict[str, Pattern]:
    """The names that `pattern=` takes, each with its pattern. They are not case-sensitive.

    Example:
        >>> import jeton
        >>> jeton.patterns()["cl100k"].aliases
        ('cl100k_base', 'gpt4', 'gpt-4', 'gpt-3.5')
    """
    return {
        name: Pattern(origin, tuple(aliases), tuple(expressions))
        for name, aliases, origin, expressions in _core.named_patterns()
    }


def split(text: str, pattern: str | Sequence[str] = "gpt4") -> list[str]:
    """The pieces of a text, split by a pattern as before any merge. No tokenizer is needed.

    Args:
        text: The text.
        pattern: What `pattern=` of a trainer takes: a name (`jeton.patterns()`), a regular
            expression, or several that split one after another. `"whitespace"` drops the white
            space; with all others, the pieces join to the text if the expression leaves nothing
            out.

    Raises:
        ArgumentTypeError: `text` or `pattern` is not text.
        ArgumentError: There is no pattern of that name, or the expression is wrong.

    Example:
        >>> import jeton
        >>> jeton.split("It's 12345 teapots", "gpt4")
        ['It', "'s", ' ', '123', '45', ' teapots']
    """
    check_text("text", text)
    stage = named_pre_tokenizer(pattern)
    return [text[start:end] for _, (start, end) in stage(text)]


def named_expression(name: str) -> str:
    """The regular expression of a named pattern that has one."""
    [expression] = patterns()[name].expressions
    return expression


def named_pre_tokenizer(pattern: str | Sequence[str]) -> pre_tokenizers.PreTokenizer:
    """The pre-tokenizer of a pattern, or of several patterns that split one after another.
    `pattern`: a name, or an expression in tiktoken's dialect."""
    if isinstance(pattern, (list, tuple)):
        if not pattern:
            raise ArgumentError("pattern is empty; pass 'none' to keep texts whole")
        steps = tuple(map(named_pre_tokenizer, pattern))
        return steps[0] if len(steps) == 1 else pre_tokenizers.Sequence(steps)
    if not (name := check_text("pattern", pattern)):
        raise ArgumentError("pattern is empty; pass 'none' to keep texts whole")
    stages = json.loads(_core.pattern_pre_tokenizer(name))
    return cast(
        "pre_tokenizers.PreTokenizer", read_stored("pre_tokenizer", stages["pre_tokenizer"])
    )
