"""`check`: every rule over one tokenizer.

Look here for the order of the rules, and for the rules that need a corpus or a model's embeddings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from jeton.analysis.health import (
    class_rules,
    decoding_rules,
    encoding_rules,
    format_rules,
    special_rules,
    template_rules,
    unreachable_wording,
    vocabulary_rules,
)
from jeton.analysis.health.embeddings import candidates, read_embeddings
from jeton.analysis.health.findings import Case, Finding, Health
from jeton.analysis.health.rules import RULES, chosen_rules
from jeton.analysis.health.subject import Subject
from jeton.analysis.health.unreachable_tokens import Unreached, unreached
from jeton.arguments import check_kind, check_text, checked_path
from jeton.corpora.corpus import Progress, check_watch
from jeton.corpora.usage import Usage, usage_of
from jeton.display.human_readable import counted
from jeton.errors import ArgumentError
from jeton.tokenizer import Tokenizer

__all__ = ["check"]

Look = Callable[[Subject], Iterator[Finding]]

_OF_TEMPLATES: Final = frozenset(rule for rule in RULES if rule.startswith("template-"))

_LOOKS: Final[tuple[tuple[frozenset[str], Look], ...]] = (
    (frozenset({"id-gap"}), vocabulary_rules.gaps),
    (frozenset({"duplicate-token"}), vocabulary_rules.copies),
    (frozenset({"part-of-character"}), vocabulary_rules.parts_of_characters),
    (
        frozenset(
            {
                "encoding-damage",
                "markup",
                "url",
                "mixed-scripts",
                "long-token",
                "whitespace-token",
            }
        ),
        vocabulary_rules.scraps,
    ),
    (
        frozenset({"special-leaks", "special-not-found", "special-in-text"}),
        special_rules.specials,
    ),
    (frozenset({"frame-ids"}), special_rules.frame),
    (frozenset({"control-in-text"}), special_rules.controls_in_text),
    (frozenset({"missing-bytes", "dropped-text", "unknown-text"}), encoding_rules.alphabet),
    (frozenset({"decoder", "split-words"}), decoding_rules.decoding),
    (frozenset({"batch-differs"}), encoding_rules.batches),
    (frozenset({"format-loss"}), format_rules.formats),
    (frozenset({"class-differs"}), class_rules.classes),
    (_OF_TEMPLATES, template_rules.templates),
)
"""The functions that need only the tokenizer, with the rules that each may report."""

_OF_REACH: Final = frozenset(
    {
        "unreachable-bytes",
        "unreachable-added",
        "unreachable-normalizer",
        "unreachable-cut",
        "unreachable-merge",
        "unreachable-score",
        "unreachable-match",
        "unreached",
        "unused-piece",
        "spare-byte",
    }
)
_OF_EMBEDDINGS: Final = frozenset({"small-embedding", "unused-direction"})


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
        '13 tokens: bytes that no text has'
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
        tables = read_embeddings(path, tok.max_id + 1, tensor)
    subject = Subject(tok)
    findings = [finding for of_look, look in _LOOKS if of_look & rules for finding in look(subject)]
    skipped = {}
    needs_reach = rules & (_OF_REACH | {"other-alone", "never-used"}) or tables is not None
    used_ids = () if usage is None else usage.ids[usage.counts > 0].tolist()
    unreached_tokens = list(unreached(subject, used_ids)) if needs_reach else []
    findings += unreachable_wording.unreachable(subject, unreached_tokens)
    if "other-alone" in rules:
        findings += unreachable_wording.unstable(subject, unreached_tokens)
    if usage is not None:
        findings += _never_used(subject, usage, unreached_tokens)
    else:
        skipped["never-used"] = "there is no corpus"
    if "class-differs" in rules and (why := class_rules.why_not_checked(subject)) is not None:
        skipped["class-differs"] = why
    if tables is None:
        skipped.update(dict.fromkeys(_OF_EMBEDDINGS, "there are no embeddings"))
    else:
        unused = [it.id for it in unreached_tokens if it.rule != "unreached"]
        if not unused and len(tables.inputs) == len(subject.ids):
            skipped.update(dict.fromkeys(_OF_EMBEDDINGS, "no row is known to be unused"))
        findings += candidates(subject, tables, unused)
    order = {name: place for place, name in enumerate(RULES)}
    return Health(
        tuple(
            sorted(
                (finding for finding in findings if finding.rule in rules),
                key=lambda finding: order[finding.rule],
            )
        ),
        tok.digest,
        tok.vocab_size,
        frozenset(rules - skipped.keys()),
        {rule: why for rule, why in sorted(skipped.items()) if rule in rules},
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


def _never_used(
    subject: Subject, usage: Usage, unreached_tokens: list[Unreached]
) -> Iterator[Finding]:
    unreachable = {it.id for it in unreached_tokens}
    cases = tuple(
        Case(id, subject.tokens[id], evidence="observed")
        for id in usage.never_used.tolist()
        if id not in subject.apart and id not in unreachable
    )
    if cases:
        number = counted(len(cases), "token does", "tokens do")
        message = f"{number} not occur among the corpus's {usage.total:,}"
        yield Finding("never-used", message, cases)
