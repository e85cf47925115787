"""How a corpus uses a vocabulary: the output of `jeton inspect TOKENIZER --corpus FILE`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

import jeton
from jeton.analysis import Usage
from jeton.cli.printing import styled
from jeton.cli.progress import ProgressBar
from jeton.cli.terminal import columns, heading, human_bytes, shorten, table
from jeton.display.human_readable import bar, visible
from jeton.stores.urls import StorePath, shown

_ROWS = 10
"""Rows of a table."""
_BAR = 30
"""Columns of the longest bar."""


def token_use(
    tok: jeton.Tokenizer, paths: Sequence[Path | StorePath], invalid: Literal["strict", "replace"]
) -> Iterator[str]:
    """Counts the tokens of files and folders, and yields the lines of a summary."""
    with ProgressBar("counting", None) as progress:
        usage = tok.usage([*paths], errors=invalid, watch=progress.follow)
    yield heading(" ".join(shown(os.fspath(path)) for path in paths))
    yield from _summary(usage)
    yield ""
    yield heading("The most frequent tokens")
    yield _most(tok, usage)
    never = usage.never_used
    if len(never):
        yield ""
        yield heading(f"{len(never):,} tokens never occur")
        # A few of them, spread over the vocabulary.
        places = np.linspace(0, len(never) - 1, min(_ROWS, len(never))).astype(np.int64)
        rows = [
            (f"{id:,}", shorten(_token_text(tok, id), columns() - 16))
            for id in never[places].tolist()
        ]
        yield table(rows, "><")


def _summary(usage: Usage) -> Iterator[str]:
    rows = [
        ("documents", f"{usage.documents:,}"),
        ("text", human_bytes(usage.bytes)),
        ("tokens", f"{usage.total:,}"),
    ]
    if usage.total:
        rows.append(("bytes per token", f"{usage.bytes / usage.total:.2f}"))
    if usage.coverage is not None:
        share = styled(bar(usage.coverage, _BAR), fg="green")
        rows.append(
            (
                "vocabulary used",
                f"{usage.used:,} of {len(usage.ids):,}, {usage.coverage:.1%}  {share}",
            )
        )
    for part in (0.5, 0.9, 0.99):
        rows.append((f"{part:.0%} of them are", f"{usage.tokens_for(part):,} different tokens"))
    yield table([(styled(name, fg="cyan"), value) for name, value in rows], "<<")


def _most(tok: jeton.Tokenizer, usage: Usage) -> str:
    most = usage.most_common(_ROWS)
    rows = [
        (
            f"{id:,}",
            shorten(_token_text(tok, id), 24),
            f"{count:,}",
            f"{count / usage.total:.1%}",
            styled(bar(count / most[0][1], _BAR), fg="green"),
        )
        for id, count in most
    ]
    return table(rows, "><>><") if rows else "  none: the corpus has no text"


def _token_text(tok: jeton.Tokenizer, id: int) -> str:
    return visible(tok.vocab.token_bytes(id) or tok.vocab.spelling(id))
