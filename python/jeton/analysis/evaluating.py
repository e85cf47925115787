"""`evaluate` and `compare`: every text is read once, encoded by each tokenizer, and counted.

Look here for the order of the work, and for what is measured on a sample of a large corpus.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np

import jeton._core as _core
from jeton.analysis import measures
from jeton.analysis.comparison import Comparison
from jeton.analysis.evaluation import Evaluation
from jeton.analysis.measured_tokenizer import CorpusTally, Judged, WordKinds, cause_of, count
from jeton.analysis.texts import Corpus, Errors, Sample, Watched, ahead, aligned, corpora_of
from jeton.analysis.tiny_model import (
    TRAINING_BYTES,
    TinyModel,
    bits_per_byte,
    check_for_torch,
    sample_of,
)
from jeton.analysis.values import Curve, Measured, Value
from jeton.analysis.values_without_text import Morphemes, checked_morphemes, overall_values
from jeton.arguments import check_kind, check_named, check_text, checked_errors
from jeton.corpora.corpus import TextsOrFiles
from jeton.corpora.progress import Progress, check_watch
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError
from jeton.tokenizer import Tokenizer

Corpora: TypeAlias = "TextsOrFiles | Mapping[str, TextsOrFiles]"
Parallel: TypeAlias = "str | os.PathLike[str] | Iterable[str]"

_LINES = 1 << 18
"""Characters of a sample that are tried line by line."""

_PIVOTS = ("en", "eng", "english")

_ODD = ("Élan naïve", "Straße №Ⅷ ﬁn", "a  b\tc", "東京 🙂", " x ")
"""Lines that a tokenizer restores only if it loses nothing."""


def evaluate(
    tok: Tokenizer,
    corpora: Corpora = (),
    *,
    parallel: Mapping[str, Parallel] | None = None,
    pivot: str | None = None,
    morphemes: Morphemes | None = None,
    name: str | None = None,
    field: str | None = None,
    errors: Errors = "strict",
    watch: Callable[[Progress], None] | None = None,
) -> Evaluation:
    """Measures a tokenizer on corpora, on all cores, while reading them.

    The measures, with formulas and sources, are the functions of `jeton.analysis.measures`. If a
    corpus has more than 2 MiB, pairs of tokens are measured on a sample, and restored lines on
    262,144 characters of it. If it has more than 32,768 different words, fertility is measured on
    the common ones and a part of the others. Each value says so in its `how`. A text of more than
    262,144 characters is measured in parts that end with a line.

    Args:
        tok: The tokenizer.
        corpora: Texts or files, as `Tokenizer.usage` takes them; or a mapping from names to these.
        parallel: A file or a list of lines for each language. Line N says the same in all.
        pivot: The language that premiums are relative to; by default English, if it is among them.
        morphemes: Words with their morphemes: `{"unbelievable": ["un", "believ", "able"]}`.
        name: The name of the tokenizer; by default its kind and size.
        field, errors: As for `Tokenizer.usage`.
        watch: Called with a `jeton.Progress` from time to time.

    Raises:
        ArgumentTypeError, ArgumentError: An argument is not a corpus, the lines of languages are
            not aligned, or the pivot is not one of the languages.
        MissingFileError: A file does not exist.
        FormatError: A file is not UTF-8, or lacks the field.
        EncodeError: As `Tokenizer.encode`.

    Example:
        >>> import jeton
        >>> from jeton import analysis
        >>> tok = jeton.CharTrainer().train("low lower")
        >>> result = analysis.evaluate(tok, ["low lower", "lower"])
        >>> result["all"]["tokens"], result["all"]["fertility"]
        (14, 4.333333333333333)
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    name = _name_of(tok) if name is None else check_text("name", name)
    comparison = compare(
        {name: tok},
        corpora,
        parallel=parallel,
        pivot=pivot,
        morphemes=morphemes,
        field=field,
        errors=errors,
        watch=watch,
    )
    return comparison[name]


def compare(
    tokenizers: Mapping[str, Tokenizer] | Iterable[Tokenizer],
    corpora: Corpora = (),
    *,
    parallel: Mapping[str, Parallel] | None = None,
    pivot: str | None = None,
    morphemes: Morphemes | None = None,
    train: TextsOrFiles | None = None,
    model: TinyModel | None = None,
    field: str | None = None,
    errors: Errors = "strict",
    watch: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Measures several tokenizers on the same corpora, each text read once.

    With `train`, small models are trained with each tokenizer on that text, with equal compute, and
    judge it by bits per byte of the corpora and languages. That takes minutes and needs PyTorch.

    Args:
        tokenizers: Tokenizers by name; or several, which are named by their kinds and sizes.
        corpora: As for `evaluate`, as are the other arguments.
        train: Text to train the models on: texts or files, none of which should be in `corpora`. Of
            more than 64 MiB, parts chosen by a hash are used.
        model: The models; by default `TinyModel()`.

    Raises:
        As `evaluate`, with the name of the tokenizer; ArgumentError: There is no tokenizer, `model`
            is given without `train`, or `train` is too short; UnsupportedError: PyTorch is missing.

    Example:
        >>> import jeton
        >>> from jeton import analysis
        >>> toks = [jeton.CharTrainer().train("low lower"),
        ...         jeton.BPETrainer(258, pattern="gpt4").train(["low lower"])]
        >>> analysis.compare(toks, {"news": ["low lower"]})
        <Comparison of Characters 6, BPE 258 on news, all>
    """
    toks = _by_name(tokenizers)
    if field is not None:
        check_text("field", field)
    checked_errors(errors)
    check_watch(watch)
    morphemes = checked_morphemes(morphemes)
    if model is not None:
        check_kind("model", model, TinyModel, "a TinyModel")
        if train is None:
            raise ArgumentError("model: there is no text to train it on; give `train`, too")
    training = None if train is None else Corpus("train", train, field, errors, None)
    if training is not None:
        check_for_torch()
    lines = aligned({} if parallel is None else parallel)
    if pivot is None:
        pivot = next((name for name in lines if name.lower() in _PIVOTS), None)
    elif check_text("pivot", pivot) not in lines:
        names = ", ".join(lines) or "there is no parallel text"
        raise ArgumentError(f"pivot: {pivot!r} is not one of the languages ({names})")
    texts = [_CountedCorpus(corpus) for corpus in corpora_of(corpora, field, errors)]
    languages = [_CountedCorpus(corpus) for corpus in corpora_of(lines, None, errors, "parallel")]
    for name in lines:
        if any(it.corpus.name == name for it in texts):
            raise ArgumentError(f"parallel: {name!r} is also a corpus; rename one of them")
    everyone = [Judged(name, tok) for name, tok in toks.items()]
    watched = Watched(watch, [it.corpus for it in (*texts, *languages)])
    for measured in texts:
        measured.read(everyone, watched)
    curves = [judged.counter.curve() for judged in everyone]
    for measured in languages:
        measured.read(everyone, watched)
    sample = Sample().joined(it.sample for it in texts)
    watched.tell(at_end=True)
    modelled: dict[str, dict[str, dict[str, Value]]] = {}
    if training is not None:
        samples = {it.corpus.name: it.sample for it in (*texts, *languages)}
        seen = sample_of(training.batches(), TRAINING_BYTES)
        modelled = bits_per_byte(
            model or TinyModel(), toks, seen, {**samples, "all": sample}, watch
        )

    def evaluation(judged: Judged, curve: list[tuple[int, int]]) -> Evaluation:
        by_model = modelled.get(judged.name, {})
        return _evaluation(judged, texts, languages, sample, curve, pivot, morphemes, by_model)

    with ThreadPoolExecutor(os.cpu_count(), "jeton-measure") as threads:
        evaluations = threads.map(evaluation, everyone, curves)
        return Comparison(dict(zip(toks, evaluations, strict=True)))


def _name_of(tok: Tokenizer) -> str:
    return f"{tok._core.model_kind} {tok.vocab_size:,}"


def _by_name(tokenizers: object) -> dict[str, Tokenizer]:
    if isinstance(tokenizers, Mapping):
        check_named("tokenizers", tokenizers, Tokenizer, "a Tokenizer")
        toks = dict(tokenizers)
    elif isinstance(tokenizers, (Tokenizer, str, bytes)) or not isinstance(tokenizers, Iterable):
        kind = type(tokenizers).__name__
        raise ArgumentTypeError(f"tokenizers must be a list or a mapping of them, not {kind}")
    else:
        toks = {}
        for tok in tokenizers:
            check_kind("each of tokenizers", tok, Tokenizer, "a Tokenizer")
            name, number = _name_of(tok), 1
            while name in toks:
                number += 1
                name = f"{_name_of(tok)} ({number})"
            toks[name] = tok
    if not toks:
        raise ArgumentError("tokenizers: none to measure")
    return toks


class _CountedCorpus:
    """A corpus with its counts."""

    words: WordKinds

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.sample = Sample()
        self.tallies: dict[str, CorpusTally] = {}

    def read(self, everyone: Sequence[Judged], watched: Watched) -> None:
        """Reads the corpus once."""
        words = _core.UnicodeWords()
        place = f"corpus {self.corpus.name!r}"
        batches = self._offering_to_sample()
        with contextlib.closing(ahead(batches) if self.corpus.is_of_files else batches) as source:
            for batch in source:
                count(batch, words, everyone, place)
                watched.tell()
        self.words = WordKinds(words)
        parts = self.sample.parts()
        lines = list(_lines(parts))
        are_all = not self.sample.left_out and self.corpus.characters <= _LINES

        for judged in everyone:
            tally = self.tallies[judged.name] = CorpusTally(judged.counter.take())
            tally.words(judged, self.words)
            tally.sample(judged, parts)
            tally.lines(judged, lines, are_all=are_all)

    def _offering_to_sample(self) -> Generator[_core.TextParts, None, None]:
        """The batches of the corpus; each is offered to the sample first."""
        for batch in self.corpus.batches():
            self.sample.add(batch)
            yield batch


def _lines(parts: Iterable[str]) -> Iterable[str]:
    size = 0
    for part in parts:
        if size >= _LINES:
            return
        size += len(part)
        yield from filter(None, part.split("\n"))


def _evaluation(
    judged: Judged,
    texts: Sequence[_CountedCorpus],
    languages: Sequence[_CountedCorpus],
    sample: Sample,
    curve: list[tuple[int, int]],
    pivot: str | None,
    morphemes: Morphemes | None,
    by_model: Mapping[str, Mapping[str, Value]],
) -> Evaluation:
    name, size = judged.name, len(judged.ids)
    by_corpus = {
        it.corpus.name: _measured(judged, it.tallies[name], [it], it.sample) for it in texts
    }
    tallies = [it.tallies[name] for it in texts]
    total = CorpusTally.sum(tallies, sample, size)
    by_corpus["all"] = _measured(judged, total, texts, sample)
    by_language = {
        it.corpus.name: _measured(judged, it.tallies[name], [it], it.sample) for it in languages
    }
    for place, values in by_model.items():
        (by_corpus if place in by_corpus else by_language)[place].values.update(values)
    costs = _parallel(by_language, languages, pivot)
    overall = overall_values(judged.tok, morphemes)
    if languages:
        overall["gini"] = measures.gini(costs)
    return Evaluation(
        name,
        judged.tok.digest,
        judged.tok._core.model_kind,
        judged.tok.vocab_size,
        by_corpus,
        by_language,
        Measured(overall, {}),
        _curves(judged, total, curve),
        {it.corpus.name: it.corpus.digest for it in (*texts, *languages)},
        _lossy(judged, [*tallies, *(it.tallies[name] for it in languages)]),
    )


def _measured(
    judged: Judged, tally: CorpusTally, texts: Sequence[_CountedCorpus], sample: Sample
) -> Measured:
    corpora = [it.corpus for it in texts]
    counts, (_, splits) = tally.counts, judged.shapes
    tokens, distinct = int(counts.sum()), int(np.count_nonzero(counts))
    size, words = sum(it.bytes for it in corpora), sum(it.words.total for it in texts)
    characters = sum(it.characters for it in corpora)
    unknown = 0 if judged.unknown is None else int(counts[judged.ids == judged.unknown].sum())
    pairs, firsts = tally.pairs(Counter(sample.parts()))
    how = "of all texts"
    of_pairs = "of all pairs within texts"
    if sample.left_out:
        of_pairs = f"of pairs within {sample.bytes:,} of {size:,} bytes, chosen by a hash"
    values = {
        "tokens": Value(tokens, "tokens", how),
        "bytes": Value(size, "bytes", how),
        "characters": Value(characters, "characters", how),
        "words": Value(words, "words", "by UAX #29; characters in scripts without spaces"),
        "documents": Value(sum(it.documents for it in corpora), "documents", "that hold text"),
        "bytes_per_token": measures.bytes_per_token(size, tokens),
        "characters_per_token": measures.characters_per_token(characters, tokens),
        "words_per_token": measures.words_per_token(words, tokens),
        **_of_words(tally, texts),
        "fertility_by_spaces": measures.fertility_by_spaces(
            tokens, sum(it.spaced_words for it in corpora)
        ),
        "renyi_efficiency": measures.renyi_efficiency(counts, len(counts)),
        "renyi_efficiency_used": measures.renyi_efficiency_used(counts),
        "entropy": measures.entropy(counts),
        "bigram_entropy": measures.bigram_entropy(pairs, of_pairs),
        "conditional_entropy": measures.conditional_entropy(pairs, firsts, of_pairs),
        "type_token_ratio": measures.type_token_ratio(distinct, tokens),
        "unknown_rate": measures.unknown_rate(unknown, tokens),
        "exact_round_trips": measures.exact_round_trips(
            tally.lines_exact,
            tally.lines_tried,
            "over all lines that are not empty"
            if tally.lines_all
            else f"over {tally.lines_tried:,} lines of a sample, none empty",
        ),
        "split_characters": measures.split_characters(int(counts[splits].sum()), tokens),
    }
    if tokens:
        plain = counts[~judged.special]
        values["vocabulary_used"] = measures.vocabulary_used(plain)
        values["dead_tokens"] = measures.dead_tokens(plain)
        values["rare_tokens"] = measures.rare_tokens(plain)
    return Measured(values, dict(tally.examples))


def _of_words(tally: CorpusTally, texts: Sequence[_CountedCorpus]) -> dict[str, Value]:
    hows = {it.words.how for it in texts}
    how = hows.pop() if len(hows) == 1 else WordKinds.HOW
    numbers = {
        "fertility": (tally.pieces, "tokens/word"),
        "continued_words": (tally.continued, "share of words"),
        "single_token_words": (tally.single, "share of words"),
    }
    return {
        name: Value.ratio(number, tally.worded, unit, how)
        for name, (number, unit) in numbers.items()
    }


def _parallel(
    spoken: Mapping[str, Measured], languages: Sequence[_CountedCorpus], pivot: str | None
) -> list[float]:
    """Adds the measures of aligned lines to each language; returns the costs of all."""
    costs = []
    for it in languages:
        measured = spoken[it.corpus.name]
        tokens, lines = measured["tokens"], it.corpus.documents
        cost = measures.tokens_per_line(int(tokens or 0), lines)
        measured.values["tokens_per_line"] = cost
        if pivot is not None:
            others = int(spoken[pivot]["tokens"] or 0)
            measured.values["premium"] = measures.premium(int(tokens or 0), others, pivot)
        if cost.value is not None:
            costs.append(float(cost.value))
    return costs


_RANKS = 64


def _curves(
    judged: Judged, total: CorpusTally, curve: Sequence[tuple[int, int]]
) -> dict[str, Curve]:
    ordered = np.sort(total.counts[total.counts > 0])[::-1]
    ranks = np.unique(np.geomspace(1, max(1, len(ordered)), _RANKS).astype(np.int64))[
        : len(ordered)
    ]
    lengths = np.minimum(judged.shapes[0], _LONGEST)
    bars = tuple(range(_LONGEST + 1))
    vocabulary = np.bincount(lengths, minlength=_LONGEST + 1)
    in_text = np.bincount(lengths, weights=total.counts, minlength=_LONGEST + 1).astype(np.int64)
    return {
        "rank_frequency": Curve(
            tuple(ranks.tolist()), tuple(ordered[ranks - 1].tolist()), "rank", "occurrences"
        ),
        "type_token": Curve(
            tuple(tokens for tokens, _ in curve),
            tuple(types for _, types in curve),
            "tokens",
            "different tokens",
        ),
        "token_lengths": Curve(bars, tuple(vocabulary.tolist()), _LENGTH, "tokens"),
        "token_lengths_in_text": Curve(bars, tuple(in_text.tolist()), _LENGTH, "occurrences"),
    }


_LONGEST = 32
_LENGTH = f"bytes, {_LONGEST} or more as {_LONGEST}"


def _lossy(judged: Judged, tallies: Iterable[CorpusTally]) -> tuple[str, ...]:
    """What the tokenizer loses, of the corpora and of lines that are hard to restore."""
    causes: Counter[str] = Counter()
    lines = 0
    for tally in tallies:
        causes += tally.causes
        lines += tally.lines_tried
    reasons = [f"{cause} ({number:,} of {lines:,} lines)" for cause, number in causes.most_common()]
    for line in _ODD:
        try:
            ids = judged.tok.encode(line)
        except EncodeError:
            cause = "characters without a token"
        else:
            gave = judged.tok.decode(ids)
            cause = "unknown tokens" if judged.unknown in ids else cause_of(line, gave)
            if gave == line:
                continue
        if not any(reason.startswith(cause) for reason in reasons):
            reasons.append(f"{cause} (as in {line!r})")
    return tuple(reasons)
