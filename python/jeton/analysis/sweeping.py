"""A sweep of vocabulary sizes on one corpus: what each size saves and costs, and the best one.

Look here for what is trained and measured. The formulas of costs are at `Point` in `swept.py`, the
rule for the bend in `knee.py`.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.analysis.lines import Lines
from jeton.analysis.swept import Point, SkippedSize, Sweep
from jeton.analysis.texts import LONGEST, Sample
from jeton.analysis.tiny_model import (
    TRAINING_BYTES,
    TinyModel,
    bits_per_byte,
    check_for_torch,
    sample_of,
)
from jeton.arguments import (
    check_kind,
    check_text,
    checked_flag,
    checked_int,
    checked_iterable,
    checked_path,
    one_of,
)
from jeton.corpora.corpus import TextsOrFiles, unit_of
from jeton.corpora.progress import Progress
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    TrainingError,
    TrainingWarning,
    warn_caller,
)
from jeton.tokenizer import Tokenizer
from jeton.training import BPETrainer, UnigramTrainer, WordPieceTrainer

FAMILIES: Final = ("bpe", "unigram", "wordpiece")
"""The kinds of tokenizers: BPE of bytes; Unigram with byte fallback and without a normalizer, so
that both restore text; WordPiece, which does not."""

SIZES: Final = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
"""The default sizes."""

_HELD_OUT_BYTES: Final = 20_000_000
"""Maximum held-out text per part: more does not change the third digit."""

Corpus: TypeAlias = "TextsOrFiles | Mapping[str, TextsOrFiles]"
Watch: TypeAlias = Callable[[str, Progress], None]


def sweep(
    corpus: Corpus,
    *,
    sizes: Iterable[int] = SIZES,
    families: Iterable[str] = FAMILIES,
    held_out: float | Corpus = 0.1,
    pattern: str = "gpt4",
    width: int = 768,
    depth: int = 12,
    context: int = 1_024,
    bytes_per_parameter: int = 4,
    tied: bool = True,
    rare: int = 100,
    model: TinyModel | None = None,
    errors: Literal["strict", "replace", "ignore"] = "strict",
    documents: Literal["file", "line"] = "file",
    folder: str | os.PathLike[str] | None = None,
    watch: Watch | None = None,
) -> Sweep:
    """Trains tokenizers of several families and sizes on one corpus, and measures each.

    Args:
        corpus: Texts or files, as `Tokenizer.usage` takes them; they are read line by line, once
            for each family and once for each tokenizer. A mapping names the parts of a corpus, such
            as languages: all are trained on together, and each is measured by itself, too.
        sizes: Sizes of vocabularies.
        families: Some of `FAMILIES`.
        held_out: Text to measure on, without training on it: a share of the corpus's lines, chosen
            by a checksum so that equal lines stay together, 20 MB of a part at most; or another
            corpus, or parts of one by name.
        pattern: How BPE splits text into words, as `BPETrainer` takes it.
        width: Numbers in the embedding of a token, for the costs; see `Point`.
        depth: Layers.
        context: Tokens in a context.
        bytes_per_parameter: Bytes per number: 4 for float32, 2 for bfloat16.
        tied: Whether the output layer and the embedding are one table. The operations of the output
            layer are the same either way.
        rare: A token that occurs in the training text fewer times than this is rare: a model sees
            it too seldom to learn it.
        model: Small models to train with each tokenizer on the text that is not held out, to
            judge it by bits per byte; see `TinyModel`. By default none are.
        errors: As for `Tokenizer.usage`.
        documents: What a document of text is. `"file"`: the whole file or text, so line ends are
            trained on and measured, and blank lines stay with the line before them. `"line"`: a
            line without its end.
        folder: The folder for each tokenizer and for `sweep.json`, written after each tokenizer. If
            the sweep is interrupted, the same call resumes it.
        watch: Called with the current work (`"bpe"`, `"unigram 8000"`) and a `jeton.Progress`.

    Raises:
        ArgumentError: There are no sizes or families, a family is unknown, or the share leaves no
            text, or not enough to train `model`.
        ArgumentTypeError: An argument has the wrong type.
        MissingFileError, FileError, FormatError: The corpus cannot be read.
        FormatError: `folder` holds a sweep of another corpus, or with other settings.
        ArgumentError, TrainingError: No family can have any of the sizes.
        FileError: `folder` cannot be written.
        UnsupportedError: `model` is given, and PyTorch is not installed.

    Warns:
        TrainingWarning: A family cannot have a size; it is skipped and listed in `Sweep.skipped`.

    Example:
        >>> from jeton import analysis, samples
        >>> lines = samples.read("tales").splitlines()
        >>> found = analysis.sweep(lines, sizes=[300, 500, 900], families=["bpe"])
        >>> [point.vocab_size for point in found.points]
        [300, 500, 900]
        >>> first, _, last = (point.bytes_per_token for point in found.points)
        >>> first < last
        True
    """
    run = _SweepRun(
        _checked_sizes(sizes),
        _checked_families(families),
        check_text("pattern", pattern),
        checked_int("width", width, 1),
        checked_int("depth", depth, 1),
        checked_int("context", context, 1),
        checked_int("bytes_per_parameter", bytes_per_parameter, 1),
        checked_flag("tied", tied),
        checked_int("rare", rare, 1),
        model,
        errors,
        _by_line(documents),
        None if folder is None else Path(os.path.expanduser(checked_path("folder", folder))),
        watch,
    )
    if watch is not None and not callable(watch):
        raise ArgumentTypeError(f"watch must be callable or None, not {type(watch).__name__}")
    if model is not None:
        check_kind("model", model, TinyModel, "a TinyModel")
        check_for_torch()
    run.split(corpus, held_out)
    return run.sweep()


def _checked_sizes(sizes: object) -> tuple[int, ...]:
    sizes = checked_iterable("sizes", sizes, "an iterable of ints")
    checked_sizes = sorted({checked_int("each of sizes", size, 1) for size in sizes})
    if not checked_sizes:
        raise ArgumentError("sizes holds no size")
    return tuple(checked_sizes)


def _checked_families(families: object) -> tuple[str, ...]:
    families = checked_iterable("families", families, "an iterable of names")
    names = tuple(dict.fromkeys(one_of("each of families", name, FAMILIES) for name in families))
    if not names:
        raise ArgumentError("families holds no family")
    return names


def _by_name(what: str, corpus: Corpus) -> dict[str | None, TextsOrFiles]:
    """The parts of a corpus by name; a corpus that is not a mapping is one without a name.

    Iterators become lists, to be read again.
    """
    parts: dict[str | None, TextsOrFiles] = {}
    if isinstance(corpus, Mapping):
        if not corpus:
            raise ArgumentError(f"{what} is a mapping without a part")
        parts |= {check_text(f"each name of {what}", name): it for name, it in corpus.items()}
    else:
        parts[None] = corpus
    return {name: list(it) if isinstance(it, Iterator) else it for name, it in parts.items()}


def _by_line(documents: object) -> bool:
    unit = unit_of(documents)
    if isinstance(unit, str):
        raise ArgumentError(
            f'documents must be "file" or "line" in a sweep, not {documents!r}',
            hint="it trains on lines and measures others, whatever is between documents",
        )
    return unit


@dataclass
class _SweepRun:
    """A running sweep."""

    sizes: tuple[int, ...]
    families: tuple[str, ...]
    pattern: str
    width: int
    depth: int
    context: int
    bytes_per_parameter: int
    tied: bool
    rare: int
    model: TinyModel | None
    errors: Literal["strict", "replace", "ignore"]
    by_line: bool
    folder: Path | None
    watch: Watch | None
    share: float = 0.0
    held_out: list[str] = field(default_factory=list)
    parts: dict[str, slice] = field(default_factory=dict)
    points: dict[tuple[str, int], Point] = field(default_factory=dict)
    skipped: dict[tuple[str, int], ArgumentError | TrainingError] = field(default_factory=dict)
    samples: tuple[Sample, Sample] | None = None

    def split(self, corpus: Corpus, held_out: float | Corpus) -> None:
        """Splits the corpus into lines to train on and lines to measure, and checks both."""
        if isinstance(held_out, bool) or held_out is None:
            raise ArgumentTypeError("held_out must be a share or a corpus, not None or a bool")
        if isinstance(held_out, (int, float)):
            if not 0 < held_out < 1:
                raise ArgumentError(
                    f"held_out must be a share between 0 and 1, not {held_out!r:.40}"
                )
            self.share = float(held_out)
        else:
            for name, part in _by_name("held_out", held_out).items():
                batches = self._read(part, _HELD_OUT_BYTES)
                self._hold_out(name, [line for batch in batches for line in batch])
        self.corpora = _by_name("corpus", corpus)
        digest, selected_lines, all_lines = hashlib.sha256(), 0, 0
        for name, part in self.corpora.items():
            whole, kept, size = self._read(part), [], 0
            for line in (line for batch in whole for line in batch if self._is_held_out(line)):
                selected_lines += 1
                if size < _HELD_OUT_BYTES:
                    kept.append(line)
                    size += _bytes_of([line])
            if self.share:
                self._hold_out(name, kept)
            all_lines += whole.number
            digest.update(f"part {name!r} {whole.digest}\n".encode())
        self.digest = whole.digest if None in self.corpora else digest.hexdigest()
        self.held_out_digest = self._digest_of_held_out()
        if not self.held_out:
            raise ArgumentError(
                "held_out: the share selects no line of the corpus; give a larger share or corpus"
            )
        if selected_lines and selected_lines == all_lines:
            raise ArgumentError(
                "held_out: the share selects all lines of the corpus (equal ones stay together), "
                "none is left to train on; give a smaller share or more text"
            )
        self.bytes = _bytes_of(self.held_out)

    def _hold_out(self, name: str | None, lines: list[str]) -> None:
        if name is not None:
            self.parts[name] = slice(len(self.held_out), len(self.held_out) + len(lines))
        self.held_out += lines

    def _digest_of_held_out(self) -> str:
        digest = hashlib.sha256(repr(self.parts).encode() if self.parts else b"")
        for line in self.held_out:
            data = line.encode("utf-8", "surrogatepass")
            digest.update(b"line %d\n" % len(data) + data)
        return digest.hexdigest()

    def _read(
        self,
        corpus: TextsOrFiles,
        limit: int | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> Lines:
        return Lines(corpus, watch, limit, self.errors, with_ends=not self.by_line)

    def _is_held_out(self, line: str) -> bool:
        if not self.share:
            return False
        data = line.encode("utf-8", "surrogatepass")
        return zlib.crc32(data) < self.share * (1 << 32)

    def _batches(self, watch: Callable[[Progress], None] | None = None) -> Iterator[list[str]]:
        """The lines to train on."""
        for corpus in self.corpora.values():
            for batch in self._read(corpus, watch=watch):
                yield [line for line in batch if not self._is_held_out(line)]

    def _lines(self) -> Iterator[str]:
        return (line for batch in self._batches() for line in batch)

    @property
    def settings(self) -> dict[str, str | int | float]:
        names = ("pattern", "width", "depth", "context", "bytes_per_parameter", "tied", "rare")
        documents = "line" if self.by_line else "file"
        settings = {name: getattr(self, name) for name in (*names, "share")}
        modelled = {} if self.model is None else {"model": str(self.model)}
        return {**settings, "documents": documents, **modelled}

    def sweep(self) -> Sweep:
        """Trains and measures the tokenizers that an earlier run has not."""
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FileError(
                    f"folder {self.folder!s:.80}: cannot create it: {error.strerror}"
                ) from None
            self._resume(self.folder / "sweep.json")
        for family in self.families:
            missing = [size for size in self.sizes if (family, size) not in self.points]
            if missing:
                for size, tok in self._trained(family, missing):
                    reason = self._why_not(family, size, tok)
                    if reason is not None:
                        self.skipped[family, size] = TrainingError(reason)
                        continue
                    self.points[family, size] = self._measured(family, size, tok)
                    if self.folder is not None:
                        ending = "model" if family == "unigram" else "json"
                        tok.save(self.folder / f"{family}-{size}.{ending}")
                        self._result(tuple(self.points.values())).save(self.folder / "sweep.json")
        keys = [(family, size) for family in self.families for size in self.sizes]
        if self.skipped.keys() == {*keys}:
            raise self.skipped[keys[0]]
        for (family, size), refusal in self.skipped.items():
            warn_caller(f"{family} of {size:,} tokens is skipped: {refusal}", TrainingWarning)
        if self.folder is not None and self.skipped:
            self._result(tuple(self.points.values())).save(self.folder / "sweep.json")
        return self._result(tuple(self.points[key] for key in keys if key in self.points))

    def _why_not(self, family: str, size: int, tok: Tokenizer) -> str | None:
        """Why a tokenizer cannot represent `size`; `None` if it can."""
        if tok.vocab_size > size:
            return f"its alphabet and special tokens alone are {tok.vocab_size:,} tokens"
        others = {it.vocab_size for it in self.points.values() if it.family == family}
        if tok.vocab_size < size and tok.vocab_size in others:
            return f"the corpus has no more than {tok.vocab_size:,} tokens"
        return None

    def _resume(self, path: Path) -> None:
        if not path.exists():
            return
        before = Sweep.load(path)
        here = self._result(())
        for name in ("settings", "corpus", "held_out"):
            if getattr(before, name) != getattr(here, name):
                raise FormatError(
                    f"{path} belongs to a sweep with another {name.replace('_', '-')}; give "
                    "another folder, or remove it"
                )
        self.points = {(point.family, point.size): point for point in before.points}

    def _result(self, points: tuple[Point, ...]) -> Sweep:
        lines = len(self.held_out)
        skipped = (SkippedSize(*key, str(error)) for key, error in self.skipped.items())
        return Sweep(
            points,
            self.settings,
            self.digest,
            self.held_out_digest,
            self.bytes,
            lines,
            skipped=tuple(skipped),
            parts={name: _bytes_of(self.held_out[part]) for name, part in self.parts.items()},
        )

    def _trained(self, family: str, sizes: list[int]) -> Iterator[tuple[int, Tokenizer]]:
        if family == "bpe":
            possible_sizes = [size for size in sizes if self._trainer(family, size) is not None]
            if possible_sizes:
                trainer = BPETrainer(possible_sizes, pattern=self.pattern)
                yield from trainer.train_all(self._lines(), watch=self._phase_watch(family)).items()
            return
        counts = None
        for size in sizes:
            one = self._trainer(family, size)
            if one is None:
                continue
            try:
                if counts is None:
                    counts = one.count(self._lines(), watch=self._phase_watch(family))
                tok = one.train(counts, watch=self._phase_watch(f"{family} {size}"))
            except TrainingError as error:
                self.skipped[family, size] = error
            else:
                yield size, tok

    def _trainer(
        self, family: str, size: int
    ) -> BPETrainer | UnigramTrainer | WordPieceTrainer | None:
        """The trainer for a size; `None` if the family cannot have it."""
        try:
            if family == "bpe":
                return BPETrainer(size, pattern=self.pattern)
            if family == "wordpiece":
                return WordPieceTrainer(size)
            return UnigramTrainer(
                size,
                normalizer="identity",
                remove_extra_whitespaces=False,
                allow_whitespace_only_pieces=True,
                byte_fallback=True,
                hard_vocab_limit=False,
            )
        except ArgumentError as error:
            self.skipped[family, size] = error
            return None

    def _phase_watch(self, label: str) -> Callable[[Progress], None] | None:
        watch = self.watch
        return None if watch is None else lambda step: watch(label, step)

    def _measured(self, family: str, size: int, tok: Tokenizer) -> Point:
        rows = tok.encode_batch(self.held_out)
        parts: dict[str, float | None] = {}
        for name, part in self.parts.items():
            tokens = int(rows.offsets[part.stop] - rows.offsets[part.start])
            parts[name] = _bytes_of(self.held_out[part]) / tokens if tokens else None
        learned = _learned(tok)
        counts = np.zeros(tok.vocab.max_id + 1, np.int64)
        for batch in self._batches(self._phase_watch(f"{family} {size}")):
            counts += np.bincount(tok.encode_batch(batch).ids, minlength=len(counts))
        back = tok.decode_batch(rows)
        tokens = len(rows.ids)
        each = self.bytes / tokens if tokens else None
        embedding = tok.vocab_size * self.width
        tables = embedding if self.tied else 2 * embedding
        layers = self.depth * 12 * self.width**2
        attention = self.depth * 4 * self.context * self.width
        cache = self.depth * 2 * self.width * self.bytes_per_parameter

        def per_byte(number: int) -> float | None:
            return None if each is None else number / each

        return Point(
            family,
            size,
            tok.vocab_size,
            tokens,
            each,
            sum(line != again for line, again in zip(self.held_out, back, strict=True)),
            embedding * self.bytes_per_parameter,
            None if each is None else self.context * each,
            per_byte(attention),
            per_byte(2 * embedding),
            per_byte(2 * layers + attention + 2 * embedding),
            tables / (tables + layers),
            per_byte(cache),
            tok.digest,
            len(learned),
            int((counts[learned] < self.rare).sum()),
            parts,
            *self._modelled(family, size, tok),
        )

    def _modelled(
        self, family: str, size: int, tok: Tokenizer
    ) -> tuple[float | None, float | None]:
        """Bits per byte of models trained with a tokenizer, and their spread."""
        if self.model is None:
            return None, None
        if self.samples is None:
            held_out = [self.held_out]
            self.samples = (
                sample_of(map(self._parts_of, self._batches()), TRAINING_BYTES),
                sample_of(map(self._parts_of, held_out), TRAINING_BYTES),
            )
        train, held_out_sample = self.samples
        name = f"{family} {size}"
        found = bits_per_byte(
            self.model, {name: tok}, train, {"": held_out_sample}, self._phase_watch(name)
        )
        values = found[name][""]
        return values["bits_per_byte"].value, values["bits_per_byte_spread"].value

    def _parts_of(self, lines: list[str]) -> _core.TextParts:
        parts = _core.TextParts(LONGEST)
        parts.add(("\n" if self.by_line else "").join(lines))
        return parts


def _bytes_of(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "surrogatepass")) for line in lines)


def _learned(tok: Tokenizer) -> npt.NDArray[np.int64]:
    """The ids of the tokens that are neither special nor a single byte."""
    special = {*tok.special_tokens.values(), *tok.roles.ids.values()}
    ids = [id for id in tok._core.token_ids().tolist() if id not in special]
    return np.array([id for id in ids if len(tok.vocab.token_bytes(id)) > 1], np.int64)
