"""A ladder of vocabularies on one corpus: how much each size saves, what it costs, where it bends.

Look here for what is trained and measured. The formulas of costs stand at `Point` in `swept.py`,
the rule for the bend in `knee.py`.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from jeton.analysis.lines import Corpus, Lines
from jeton.analysis.swept import Point, SkippedSize, Sweep
from jeton.arguments import check_text, checked_flag, checked_int, checked_path
from jeton.corpora.corpus import Progress, are_lines
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

__all__ = ["FAMILIES", "sweep"]

FAMILIES: Final = ("bpe", "unigram", "wordpiece")
"""What is trained: BPE of bytes; Unigram with byte fallback and without a normalizer, so that both
give text back; WordPiece, which does not."""

SIZES: Final = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
"""The sizes, unless others are given."""

_HELD_OUT_BYTES: Final = 20_000_000
"""How much text is held out at most: more moves the third digit no more."""

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
    errors: Literal["strict", "replace", "ignore"] = "strict",
    documents: Literal["file", "line"] = "file",
    folder: str | os.PathLike[str] | None = None,
    watch: Watch | None = None,
) -> Sweep:
    """Trains tokenizers of several families and sizes on one corpus, and measures each.

    Args:
        corpus: Texts or files, as `Tokenizer.usage` takes them; they are read line by line, once
            for each family.
        sizes: Sizes of vocabularies.
        families: Some of `FAMILIES`.
        held_out: Text that is measured and not trained on: a share of the corpus's lines, drawn by
            a checksum so that equal lines stay together, 20 MB at most; or another corpus.
        pattern: How BPE cuts text into words, as `BPETrainer` takes it.
        width: Numbers in the embedding of a token, for the costs; see `Point`.
        depth: Layers.
        context: Tokens in a context.
        bytes_per_parameter: Bytes of a number: 4 of float32, 2 of bfloat16.
        tied: Whether the output layer and the embedding are one table. The output layer's
            operations are the same in any case.
        errors: As for `Tokenizer.usage`.
        documents: What a document of text is. `"file"`: the whole file or text, so line ends are
            text that is trained on and measured, and blank lines stay with the line in front of
            them. `"line"`: a line without its end.
        folder: Where each tokenizer is kept, and `sweep.json` is written after each family's. If
            it was interrupted, the same call goes on with what is missing.
        watch: Called with what is being done (`"bpe"`, `"unigram 8000"`) and a `jeton.Progress`.

    Raises:
        ArgumentError: No size or family, one that there is not, or a share that leaves no text.
        ArgumentTypeError: Something is not what it should be.
        MissingFileError, FileError, FormatError: The corpus cannot be read.
        FormatError: `folder` holds a sweep of another corpus, or with other settings.
        ArgumentError, TrainingError: No family can have any of the sizes.
        FileError: `folder` cannot be written.

    Warns:
        TrainingWarning: A size that a family cannot have; it is skipped, and in `Sweep.skipped`.

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
        errors,
        are_lines(documents),
        None if folder is None else Path(os.path.expanduser(checked_path("folder", folder))),
        watch,
    )
    if watch is not None and not callable(watch):
        raise ArgumentTypeError(f"watch must be callable or None, not {type(watch).__name__}")
    run.split(corpus, held_out)
    return run.sweep()


def _checked_sizes(sizes: object) -> tuple[int, ...]:
    if isinstance(sizes, (str, bytes)) or not isinstance(sizes, Iterable):
        raise ArgumentTypeError(f"sizes must be an iterable of ints, not {type(sizes).__name__}")
    found = sorted({checked_int("each of sizes", size, 1) for size in sizes})
    if not found:
        raise ArgumentError("sizes holds no size")
    return tuple(found)


def _checked_families(families: object) -> tuple[str, ...]:
    if isinstance(families, (str, bytes)) or not isinstance(families, Iterable):
        told = type(families).__name__
        raise ArgumentTypeError(f"families must be an iterable of names, not {told}")
    found = tuple(dict.fromkeys(check_text("each of families", name) for name in families))
    for name in found:
        if name not in FAMILIES:
            known = ", ".join(FAMILIES)
            raise ArgumentError(f"families: there is no family {name!r:.40}; there are {known}")
    if not found:
        raise ArgumentError("families holds no family")
    return found


@dataclass
class _SweepRun:
    """A sweep that is being made."""

    sizes: tuple[int, ...]
    families: tuple[str, ...]
    pattern: str
    width: int
    depth: int
    context: int
    bytes_per_parameter: int
    tied: bool
    errors: Literal["strict", "replace", "ignore"]
    by_line: bool
    folder: Path | None
    watch: Watch | None
    share: float = 0.0
    held_out: list[str] = field(default_factory=list)
    points: dict[tuple[str, int], Point] = field(default_factory=dict)
    skipped: dict[tuple[str, int], ArgumentError | TrainingError] = field(default_factory=dict)

    def split(self, corpus: Corpus, held_out: float | Corpus) -> None:
        """Parts the corpus into what is trained on and what is measured, and looks at both."""
        if isinstance(held_out, bool) or held_out is None:
            raise ArgumentTypeError("held_out must be a share or a corpus, not None or a bool")
        is_given = not isinstance(held_out, (int, float))
        if not is_given and not 0 < held_out < 1:  # type: ignore[operator]
            raise ArgumentError(f"held_out must be a share between 0 and 1, not {held_out!r:.40}")
        if isinstance(corpus, Iterator):
            corpus = list(corpus)
        self.corpus = corpus
        self.share = 0.0 if is_given else float(held_out)  # type: ignore[arg-type]
        digest, size, drawn = hashlib.sha256(), 0, 0
        if is_given:
            for batch in self._read(cast(Corpus, held_out), _HELD_OUT_BYTES):
                self.held_out += batch
        whole = self._read(corpus)
        for batch in whole:
            for line in batch:
                if not self._is_held_out(line):
                    continue
                drawn += 1
                if size < _HELD_OUT_BYTES:
                    self.held_out.append(line)
                    size += len(line.encode("utf-8", "surrogatepass"))
        for line in self.held_out:
            data = line.encode("utf-8", "surrogatepass")
            digest.update(b"line %d\n" % len(data) + data)
        self.digest, self.held_out_digest = whole.digest, digest.hexdigest()
        if not self.held_out:
            raise ArgumentError(
                "held_out: no line of the corpus is left to measure; give a larger share or corpus"
            )
        if drawn and drawn == whole.number:
            raise ArgumentError(
                "held_out: all lines of the corpus were drawn to measure on (equal ones stay "
                "together), none is left to train on; give a smaller share or more text"
            )
        self.bytes = sum(len(line.encode("utf-8", "surrogatepass")) for line in self.held_out)

    def _read(self, corpus: Corpus, limit: int | None = None) -> Lines:
        return Lines(corpus, limit=limit, errors=self.errors, with_ends=not self.by_line)

    def _is_held_out(self, line: str) -> bool:
        if not self.share:
            return False
        data = line.encode("utf-8", "surrogatepass")
        return zlib.crc32(data) < self.share * (1 << 32)

    def _lines(self) -> Iterator[str]:
        for batch in self._read(self.corpus):
            yield from (line for line in batch if not self._is_held_out(line))

    @property
    def settings(self) -> dict[str, Any]:
        names = ("pattern", "width", "depth", "context", "bytes_per_parameter", "tied", "share")
        documents = "line" if self.by_line else "file"
        return {**{name: getattr(self, name) for name in names}, "documents": documents}

    def sweep(self) -> Sweep:
        """Trains and measures what is not there yet."""
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                told = f"{self.folder!s:.80}: cannot be made: {error.strerror}"
                raise FileError(f"folder {told}") from None
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
        wanted = [(family, size) for family in self.families for size in self.sizes]
        if self.skipped.keys() == {*wanted}:
            raise self.skipped[wanted[0]]
        for (family, size), refusal in self.skipped.items():
            warn_caller(f"{family} of {size:,} tokens is skipped: {refusal}", TrainingWarning)
        if self.folder is not None and self.skipped:
            self._result(tuple(self.points.values())).save(self.folder / "sweep.json")
        return self._result(tuple(self.points[key] for key in wanted if key in self.points))

    def _why_not(self, family: str, size: int, tok: Tokenizer) -> str | None:
        """Why a tokenizer does not have `size` tokens; `None` if it may be shown for it."""
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
        )

    def _trained(self, family: str, sizes: list[int]) -> Iterator[tuple[int, Tokenizer]]:
        if family == "bpe":
            held = [size for size in sizes if self._trainer(family, size) is not None]
            if held:
                trainer = BPETrainer(held, pattern=self.pattern)
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
        """What trains a tokenizer of one size; `None` where the family cannot have it."""
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
        )
