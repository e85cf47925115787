"""`check`: every rule over one tokenizer.

Look here for what a check reads before the rules run. Each module of rules registers its own when
it is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from jeton.analysis.health import (  # noqa: F401  # they register their rules
    class_rules,
    decoding_rules,
    embedding_rules,
    encoding_rules,
    format_rules,
    special_rules,
    template_rules,
    unreachable_rules,
    vocabulary_rules,
)
from jeton.analysis.health.findings import Finding, Health
from jeton.analysis.health.rules import RULES, chosen_rules
from jeton.analysis.health.searches import SEARCHES
from jeton.analysis.health.subject import Subject
from jeton.arguments import check_kind, check_text, checked_path
from jeton.corpora.progress import Progress, check_watch
from jeton.corpora.usage import Usage, usage_of
from jeton.errors import ArgumentError
from jeton.tokenizer import Tokenizer


def check(
    tok: Tokenizer,
    *,
    corpus: object = None,
    embeddings: str | os.PathLike[str] | None = None,
    tensor: str | None = None,
    only: Iterable[str] = (),
    ignore: Iterable[str] = (),
    watch: Callable[[Progress], None] | None = None,
) -> Health:
    """Finds faults of a tokenizer, and what else to know about it before training a model.

    Each finding names a rule of `jeton.analysis.RULES` and its tokens, with a text that was tried.
    A finding says that no text gives a token only if that is proved. A token that no tried text
    has given, without a proof, is `unreached`.

    Args:
        tok: The tokenizer.
        corpus: Texts or files as `Tokenizer.usage` takes them, or a `Usage`, to find tokens that it
            never uses.
        embeddings: A safetensors file with the model's embedding, to find rows that look untrained
            by the indicators of Land & Bartolo 2024 (arXiv:2405.05417). Takes four bytes of memory
            per number.
        tensor: The name of the input embedding, if it is unusual.
        only: Names of the only rules to check.
        ignore: Names of rules to skip.
        watch: Called with a `jeton.Progress` while a corpus is counted.

    Raises:
        ArgumentTypeError: `tok` is not a tokenizer.
        ArgumentError: There is no rule with a name, the usage is of another tokenizer, or the
            embedding does not fit the tokenizer.
        MissingFileError, FormatError: A corpus or a file of embeddings cannot be read.

    Example:
        >>> import jeton
        >>> from jeton import analysis
        >>> tok = jeton.BPETrainer(260, pattern="gpt4").train(["low lower lowest"])
        >>> health = analysis.check(tok)
        >>> health.worst
        'note'
        >>> health["unreachable-bytes"].message
        'bytes that no text has (13)'
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    rules = chosen_rules(only, ignore)
    check_watch(watch)
    if tensor is not None:
        check_text("tensor", tensor)
        if embeddings is None:
            raise ArgumentError("tensor names a table in embeddings=: pass embeddings= too")
    usage = _usage(tok, corpus, watch)
    tables = None
    if embeddings is not None:
        path = Path(os.path.expanduser(checked_path("embeddings", embeddings)))
        tables = embedding_rules.read_embeddings(path, tok.vocab.max_id + 1, tensor)
    subject = Subject(tok, usage, tables)
    findings: list[Finding] = []
    skipped: dict[str, str] = {}
    for search in SEARCHES:
        chosen = search.rules & rules
        if chosen and (why := search.skipped(subject)) is not None:
            skipped |= dict.fromkeys(chosen, why)
        elif chosen:
            findings += (it for it in search.run(subject) if it.rule in rules)
    order = list(RULES)
    return Health(
        tuple(sorted(findings, key=lambda finding: order.index(finding.rule))),
        tok.digest,
        tok.vocab_size,
        frozenset(rules - skipped.keys()),
        dict(sorted(skipped.items())),
        None if usage is None else usage.corpus,
    )


def _usage(
    tok: Tokenizer, corpus: object, watch: Callable[[Progress], None] | None
) -> Usage | None:
    if corpus is None:
        return None
    if not isinstance(corpus, Usage):
        return usage_of(tok, corpus, watch=watch)  # type: ignore[arg-type]
    if corpus.tokenizer != tok.digest:
        raise ArgumentError("corpus: this usage was counted with another tokenizer")
    return corpus
