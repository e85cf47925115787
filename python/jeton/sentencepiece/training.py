"""`SentencePieceTrainer`: sentencepiece's options, mapped to jeton's trainers."""

from __future__ import annotations

import csv
import math
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Any, Final

from jeton.arguments import check_kind, check_text, checked_path, checked_texts, suggestion
from jeton.components import models, normalizers
from jeton.corpora.corpus import warn
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    TrainingError,
    TrainingWarning,
    UnsupportedError,
)
from jeton.files import write
from jeton.interop.sentencepiece import SentencePieceNormalizer
from jeton.loading.model_file import NORMAL, ModelFile, ModelPiece
from jeton.tokenizer import Tokenizer
from jeton.training import BPETrainer, UnigramTrainer

_FLAGS: Final = (
    "remove_extra_whitespaces",
    "add_dummy_prefix",
    "escape_whitespaces",
    "split_by_whitespace",
    "treat_whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "split_by_unicode_script",
    "split_by_number",
    "split_digits",
    "byte_fallback",
    "hard_vocab_limit",
    "vocabulary_output_piece_score",
    "allow_inconsistent_pretokenization",
    "shuffle_input_sentence",
    "use_all_vocab",
)
_NUMBERS: Final = {
    "vocab_size": "vocab_size",
    "max_sentencepiece_length": "max_piece_length",
    "max_sentence_length": "max_sentence_length",
    "unk_id": "unk_id",
    "bos_id": "bos_id",
    "eos_id": "eos_id",
    "pad_id": "pad_id",
    "seed_sentencepiece_size": "seed_size",
    "num_sub_iterations": "num_sub_iterations",
    "input_sentence_size": "input_sentence_size",
}
_SHARES: Final = ("character_coverage", "shrinking_factor")
_TEXTS: Final = {
    "model_type": "model_type",
    "model_prefix": "model_prefix",
    "unk_piece": "unk_token",
    "bos_piece": "bos_token",
    "eos_piece": "eos_token",
    "pad_piece": "pad_token",
    "required_chars": "required_chars",
    "normalization_rule_name": "normalizer",
    "normalization_rule_tsv": "normalization_rule_tsv",
    "pretokenization_delimiter": "pretokenization_delimiter",
    "unk_surface": "unk_surface",
}
_LISTS: Final = {
    "input": "input",
    "control_symbols": "special_tokens",
    "user_defined_symbols": "user_defined_symbols",
}
_OBJECTS: Final = ("sentence_iterator", "model_writer", "normalizer", "pretokenizer")
_WITHOUT_EFFECT: Final = (
    "num_threads",
    "minloglevel",
    "random_seed",
    "accept_language",
    "train_extremely_large_corpus",
    "self_test_sample_size",
    # Of what enable_differential_privacy turns on, and of older versions.
    "differential_privacy_noise_level",
    "differential_privacy_clipping_threshold",
    "mining_sentence_size",
    "training_sentence_size",
)
_FIXED: Final = {
    "input_format": ("", "text"),
    "enable_differential_privacy": ("False", "false", "0"),
    "auto_character_coverage": ("False", "false", "0"),
    "denormalization_rule_tsv": ("",),
    "seed_sentencepieces_file": ("",),
}
"""Options that are accepted only with these values, which do not change anything."""

_KNOWN: Final = (
    *_FLAGS,
    *_NUMBERS,
    *_SHARES,
    *_TEXTS,
    *_LISTS,
    *_OBJECTS,
    *_WITHOUT_EFFECT,
    *_FIXED,
)

_OF_UNIGRAM: Final = ("seed_size", "num_sub_iterations", "shrinking_factor")

_BOUNDARY: Final = "\x1f"
"""Separates parts of a text for a trainer: no piece contains it."""

_RESERVED: Final = "▅"
"""sentencepiece leaves out lines with this character, which it uses internally."""

_COUNTED: Final = ("word", "char")
"""The types of models that hold the most frequent words or characters."""


class SentencePieceTrainer:
    """Trains SentencePiece models with the interface of `sentencepiece.SentencePieceTrainer`.

    `train` and `Train` take sentencepiece's options, by name or in one text, and write
    `model_prefix.model` and `model_prefix.vocab`, or pass the model to `model_writer.write`. The
    trainers are `jeton.UnigramTrainer` and `jeton.BPETrainer(alphabet="sentencepiece")`; the latter
    learns the same pieces as sentencepiece.

    Example:
        >>> import io
        >>> from jeton.sentencepiece import SentencePieceProcessor, SentencePieceTrainer
        >>> model = io.BytesIO()
        >>> SentencePieceTrainer.train(
        ...     sentence_iterator=iter(["low lower lowest", "new newer newest"] * 9),
        ...     model_writer=model,
        ...     model_type="bpe",
        ...     vocab_size=20,
        ... )
        >>> SentencePieceProcessor(model_proto=model.getvalue()).encode("newest", out_type=str)
        ['▁ne', 'west']
    """

    @staticmethod
    def train(arg: str | None = None, logstream: object = None, **options: object) -> None:
        """Trains a model and writes it.

        Args:
            arg: The options as on a command line, `"--input=a.txt --model_prefix=m"`.
            logstream: Without effect.
            options: sentencepiece's options by name. `input` is a file or a list of files;
                `sentence_iterator` yields lines, as texts or bytes, instead. `pretokenizer` is
                called with each normalized line and returns its parts; no piece crosses them.

        Raises:
            ArgumentError: An option that does not exist, or has an invalid value.
            UnsupportedError: An option that jeton's trainers do not have.
            TrainingError: The corpus is too small for `vocab_size`.
        """
        if arg is not None:
            check_kind("arg", arg, str, "a str")
        parts = (part.removeprefix("--").partition("=") for part in (arg or "").split())
        of_text = {name: value if equals else "true" for name, equals, value in parts}
        request = _TrainerRequest()
        for name, value in {**of_text, **options}.items():
            request.take("sentence_iterator" if name == "sentence_reader" else name, value)
        request.train()

    Train = train


@dataclass
class _TrainerRequest:
    """The options of a call: parameters of a trainer, and the others."""

    parameters: dict[str, Any] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)
    option_names: set[str] = field(default_factory=set)

    def take(self, name: str, value: object) -> None:
        """Adds an option."""
        if name not in _KNOWN:
            hint = suggestion(name, _KNOWN) or None
            raise ArgumentError(f"SentencePieceTrainer has no option {name!r}", hint=hint)
        self.option_names.add(name)
        if name in _FIXED:
            if str(value) not in _FIXED[name]:
                raise UnsupportedError(f"{name}={value!r}: jeton's trainers have no such option")
        elif name in _FLAGS:
            text = str(value).lower()
            if text not in ("true", "false", "1", "0"):
                raise ArgumentTypeError(f"{name} must be a bool, not {value!r}")
            self.parameters[name] = text in ("true", "1")
        elif name in _NUMBERS:
            self.parameters[_NUMBERS[name]] = _number(name, value, int)
        elif name in _SHARES:
            self.parameters[name] = _number(name, value, float)
        elif name in _LISTS:
            if isinstance(value, (str, os.PathLike)):  # one text with commas
                self.parameters[_LISTS[name]] = next(csv.reader([str(os.fspath(value))]), [])
            elif isinstance(value, (list, tuple)):
                texts = checked_texts(name, [os.fspath(text) for text in value])
                self.parameters[_LISTS[name]] = list(texts)
            else:
                raise ArgumentTypeError(f"{name} must be a str or a list of str")
        elif name in _TEXTS:
            self.parameters[_TEXTS[name]] = check_text(name, value)
        elif name in _OBJECTS:
            self.rest[name] = value

    def train(self) -> None:
        """Trains, and writes the result."""
        options = dict(self.parameters)
        kind = options.pop("model_type", "unigram").lower()
        if kind not in ("unigram", "bpe", *_COUNTED):
            raise ArgumentError(f"model_type must be unigram, bpe, word or char, not {kind!r}")
        prefix = options.pop("model_prefix", "")
        if not prefix and self.rest.get("model_writer") is None:
            raise ArgumentError("the model has no destination: give model_prefix")
        with_scores = options.pop("vocabulary_output_piece_score", True)
        takes_all = options.pop("use_all_vocab", False)
        if takes_all and kind not in _COUNTED:
            raise ArgumentError("use_all_vocab is for model_type='word' and 'char'")
        unk_surface = options.pop("unk_surface", None)
        lines = self._lines(options)
        normalizer = self._normalizer(options)
        split = self._pretokenizer(options)
        symbols = options.get("user_defined_symbols", [])
        for name in ("bos_id", "eos_id", "pad_id"):
            if options.get(name, 0) < 0:
                options[name] = None
        if split is not None:
            lines = _with_boundaries(lines, normalizer, *split)
            flags = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}
            options.update(normalizer="identity", **flags)
        else:
            spec = normalizer.spec
            charsmap = normalizers.Precompiled(spec.charsmap) if spec.charsmap else "identity"
            is_named = spec.name not in ("", "user_defined")
            options["normalizer"] = spec.name if is_named else charsmap
            options["add_dummy_prefix"] = spec.add_dummy_prefix
            options["remove_extra_whitespaces"] = spec.remove_extra_whitespaces
        if kind in _COUNTED:
            if split is not None or symbols or options.get("treat_whitespace_as_suffix"):
                raise UnsupportedError(
                    f"model_type={kind!r} has no user_defined_symbols, pretokenizer, "
                    "pretokenization_delimiter and treat_whitespace_as_suffix here"
                )
            if takes_all:
                options["character_coverage"] = 1.0
            model = _of_counts(kind, list(lines), normalizer, options, takes_all)
            self._write(model, unk_surface, prefix, with_scores)
            return
        trainer = _trainer(kind, options)
        # sentencepiece keeps a space in the spelling of symbols, although text never matches it.
        trainer.parameters["user_defined_symbols"] = list(symbols)
        tokenizer = trainer.train(lines)
        if split is not None:
            file = _file(tokenizer).with_normalizer(normalizer.spec)
            tokenizer = Tokenizer(models.SentencePiece(file.with_pieces(file.pieces)))
        self._write(tokenizer, unk_surface, prefix, with_scores)

    def _write(
        self, tokenizer: Tokenizer, unk_surface: str | None, prefix: str, with_scores: bool
    ) -> None:
        if unk_surface is not None:
            file = _file(tokenizer)
            proto = file.with_pieces(file.pieces, unk_surface=unk_surface)
            tokenizer = Tokenizer(models.SentencePiece(proto))
        writer = self.rest.get("model_writer")
        if writer is not None:
            writer.write(tokenizer.as_sentencepiece().serialized_model_proto())
        else:
            tokenizer.save(f"{prefix}.model")
            _write_vocab(f"{prefix}.vocab", tokenizer, with_scores)

    def _lines(self, options: dict[str, Any]) -> Iterator[str]:
        """The lines to train from."""
        limit = options.pop("max_sentence_length", 4192)
        paths = options.pop("input", [])
        lines = self.rest.get("sentence_iterator")
        if bool(paths) == (lines is not None):
            raise ArgumentError("give either input or sentence_iterator")
        if lines is not None:
            check_kind("sentence_iterator", lines, Iterable, "an iterable of lines")
        read = _training_lines(_lines_of_files(paths) if lines is None else iter(lines), limit)
        size = options.pop("input_sentence_size", 0)
        shuffles = options.pop("shuffle_input_sentence", True)
        if size <= 0:
            return read
        return _sample(read, size) if shuffles else islice(read, size)

    def _normalizer(self, options: dict[str, Any]) -> SentencePieceNormalizer:
        """The normalizer for training, and of the model."""
        rules = ("normalization_rule_name", "normalization_rule_tsv")
        flags = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
        name, tsv = options.pop("normalizer", "nmt_nfkc"), options.pop(rules[1], "")
        own = {flag: options.pop(flag) for flag in flags if flag in options}
        normalizer = self.rest.get("normalizer")
        if normalizer is None:
            normalizer = SentencePieceNormalizer(
                rule_tsv=tsv or None, rule_name=None if tsv else name, **own
            )
        elif not isinstance(normalizer, SentencePieceNormalizer):
            raise ArgumentTypeError(
                f"normalizer must be a SentencePieceNormalizer, not {type(normalizer).__name__}"
            )
        else:
            twice = sorted(self.option_names.intersection(rules + flags))
            if twice:
                raise ArgumentError(f"{twice[0]} and normalizer contradict each other; give one")
        if not normalizer.spec.escape_whitespaces:
            raise ArgumentError("escape_whitespaces=False: models are trained with spaces as ▁")
        return normalizer

    def _pretokenizer(
        self, options: dict[str, Any]
    ) -> tuple[Callable[[str], Iterable[str]], bool] | None:
        """The function that splits normalized lines, if any, and whether it may change them."""
        delimiter = options.pop("pretokenization_delimiter", "")
        may_change = options.pop("allow_inconsistent_pretokenization", False)
        function = self.rest.get("pretokenizer")
        if function is not None and delimiter:
            raise ArgumentError(
                "pretokenizer and pretokenization_delimiter both split text; give one"
            )
        if delimiter:
            return lambda text: text.split(delimiter), True
        if function is None:
            return None
        if not callable(function):
            raise ArgumentTypeError(
                f"pretokenizer must be callable, but {type(function).__name__} is not"
            )
        return function, may_change


def _trainer(kind: str, options: dict[str, Any]) -> UnigramTrainer | BPETrainer:
    options = {"vocab_size": 8_000, **options}
    if kind == "unigram":
        return UnigramTrainer(**options)
    options = {name: value for name, value in options.items() if name not in _OF_UNIGRAM}
    names = {"max_piece_length": "max_token_length", "required_chars": "initial_alphabet"}
    options = {names.get(name, name): value for name, value in options.items()}
    return BPETrainer(alphabet="sentencepiece", **options)


def _of_counts(
    kind: str,
    lines: list[str],
    normalizer: SentencePieceNormalizer,
    options: dict[str, Any],
    takes_all: bool,
) -> Tokenizer:
    """The model of the most frequent words or characters, each with the logarithm of its share."""
    size = options.pop("vocab_size", 8_000)
    is_strict = kind == "word" and options.get("hard_vocab_limit", True) and not takes_all
    counts: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for line in lines:
        text = normalizer.normalize(line)
        characters.update(text)
        if kind == "word":
            words = text.replace("▁", "\n▁").split("\n")
            counts.update(word for word in words if word)
    # It has the other pieces, and the characters that the options choose.
    specials = len(options.get("special_tokens", []))
    options = {**options, "vocab_size": 300 + len(characters) + specials, "hard_vocab_limit": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)  # that there are fewer pieces
        begun = _trainer("bpe", options).train(lines)
    processor = begun.as_sentencepiece()
    normal = {
        processor.id_to_piece(id) for id in range(len(processor)) if processor.kind(id) == "normal"
    }
    source = characters if kind == "char" else counts
    total = math.log(source.total())
    counts = Counter({it: count for it, count in source.items() if normal.issuperset(it)})
    if kind == "char":
        total = math.log(counts.total())
    file = _file(begun)
    kept = [piece for piece in file.pieces if piece.kind != NORMAL]
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    chosen = ranked if takes_all else ranked[: max(0, size - len(kept))]
    if is_strict and len(kept) + len(chosen) < size:
        raise TrainingError(
            f"vocab_size={size} is too high: the corpus has {len(ranked)} of model_type={kind!r} "
            "(lower it, or pass hard_vocab_limit=False)"
        )
    pieces = [ModelPiece(text, math.log(count) - total) for text, count in chosen]
    file = file.with_normalizer(normalizer.spec)
    return Tokenizer(models.SentencePiece(file.with_pieces([*kept, *pieces], kind=kind)))


def _number(name: str, value: object, kind: type[int] | type[float]) -> int | float:
    try:
        return kind(value if isinstance(value, (int, float)) else str(value))
    except ValueError:
        raise ArgumentTypeError(f"{name} must be a number, not {value!r}") from None


def _lines_of_files(paths: list[str]) -> Iterator[bytes]:
    for entry in paths:
        path = checked_path("input", entry)
        try:
            with open(path, "rb") as file:
                yield from file
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from None


def _training_lines(lines: Iterable[str | bytes], limit: int) -> Iterator[str]:
    """The lines without those that sentencepiece leaves out."""
    left_out = 0
    for line in lines:
        check_kind("a line", line, (str, bytes), "a str or bytes")
        data = line.encode("utf-8", "replace") if isinstance(line, str) else line
        data = data.removesuffix(b"\n")
        text = data.decode("utf-8", "replace")
        if len(data) > limit or _RESERVED in text:
            left_out += 1
        elif text:
            yield text
    if left_out:
        warn(
            f"{left_out:,} lines were left out: they have more than max_sentence_length={limit:,} "
            f"bytes, or {_RESERVED}"
        )


def _sample(lines: Iterator[str], size: int) -> Iterator[str]:
    """That many of the lines, each as likely; all of them, in order, if there are no more."""
    chosen = list(islice(lines, size))
    draw = Random(0).randrange
    count = len(chosen)
    for count, line in enumerate(lines, len(chosen) + 1):
        place = draw(count)
        if place < size:
            chosen[place] = line
    if count > len(chosen):
        warn(
            f"{size:,} of {count:,} lines were drawn (input_sentence_size): as likely as "
            "sentencepiece's, but not the same"
        )
    yield from chosen


def _with_boundaries(
    lines: Iterable[str],
    normalizer: SentencePieceNormalizer,
    split: Callable[[str], Iterable[str]],
    may_change: bool,
) -> Iterator[str]:
    """The normalized lines, with boundaries between their parts."""
    for line in lines:
        text = normalizer.normalize(line)
        parts = list(split(text))
        if not may_change and "".join(parts) != text:
            raise ArgumentError(
                f"pretokenizer: the parts of {text[:40]!r} do not join to that text (set "
                "allow_inconsistent_pretokenization=True if that is intended)"
            )
        yield _BOUNDARY.join(parts)


def _file(tokenizer: Tokenizer) -> ModelFile:
    return ModelFile.parse(tokenizer.as_sentencepiece().serialized_model_proto())


def _write_vocab(path: str, tokenizer: Tokenizer, with_scores: bool) -> None:
    processor = tokenizer.as_sentencepiece()
    ids = list(range(len(processor)))
    pieces, scores = processor.id_to_piece(ids), processor.get_score(ids)
    lines = (
        f"{piece}\t{score:g}\n" if with_scores else f"{piece}\n"
        for piece, score in zip(pieces, scores, strict=True)
    )
    write(path, "".join(lines).encode())
