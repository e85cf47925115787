"""`SentencePieceNormalizer`: the rules by which a model changes text, by themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jeton._core as _core
from jeton.arguments import check_kind, checked_path
from jeton.components import models
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, FormatError
from jeton.interop.sentencepiece.model import mapped
from jeton.interop.sentencepiece.results import InputText
from jeton.interop.sentencepiece.wire import chunk, fields, number

__all__ = ["NormalizerSpec", "SentencePieceNormalizer"]

_FLAGS = {"add_dummy_prefix": 3, "remove_extra_whitespaces": 4, "escape_whitespaces": 5}
"""The flags of a specification, and the numbers of their fields."""

_NORMALIZER_SPEC = 3
"""Where a model has the specification of its normalizer."""


@dataclass(frozen=True)
class NormalizerSpec:
    """What a model file says of its normalizer."""

    name: str = ""
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True

    @classmethod
    def read(cls, message: bytes) -> NormalizerSpec:
        """The specification that these bytes are."""
        found: dict[str, Any] = {}
        flags = {field: flag for flag, field in _FLAGS.items()}
        for field, value in fields(message):
            if field == 1 and isinstance(value, bytes):
                found["name"] = value.decode("utf-8", "replace")
            elif field == 2 and isinstance(value, bytes):
                found["charsmap"] = value
            elif field in flags and isinstance(value, int):
                found[flags[field]] = bool(value)
        return cls(**found)

    def written(self) -> bytes:
        """Its bytes; a flag that is set is left out, being so by default."""
        parts = [
            chunk(1, self.name.encode()) if self.name else b"",
            chunk(2, self.charsmap) if self.charsmap else b"",
            *(number(field, 0) for flag, field in _FLAGS.items() if not getattr(self, flag)),
        ]
        return b"".join(parts)


class SentencePieceNormalizer:
    """The normalizer of sentencepiece, under the interface of its `SentencePieceNormalizer`.

    All methods have names of both kinds, `normalize` and `Normalize`.

    Args:
        model_file: The path of a `.model` file, whose normalizer it is.
        model_proto: What such a file holds, as bytes or as a message of protobuf.
        normalizer_spec: What `serialized_normalizer_spec` gave, or such a message.
        rule_tsv: A file of rules, a line each: code points in hexadecimal, a tab, and the code
            points that they become.
        rule_name: `"nmt_nfkc"`, `"nfkc"`, `"nmt_nfkc_cf"`, `"nfkc_cf"` or `"identity"`.
        norm_map: Rules as pairs of texts, or of bytes of UTF-8.
        add_dummy_prefix: Put a space in front; by default as the rules say, or else so.
        escape_whitespaces: Write spaces as `▁`; likewise.
        remove_extra_whitespaces: Remove spaces at the ends, and make runs of them one; likewise.

    Raises:
        ArgumentError: Nothing says which rules; a rule that is none, or that is there twice.
        FileError: There is no such file, or it cannot be read.
        FormatError: It is no SentencePiece model.

    Example:
        >>> from jeton.sentencepiece import SentencePieceNormalizer
        >>> SentencePieceNormalizer(rule_name="nfkc_cf").normalize("  Ｆｏｏ  bar")
        '▁foo▁bar'
        >>> SentencePieceNormalizer(norm_map=[("foo", "bar")]).decompile()
        [('foo', 'bar')]
    """

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: bytes | Any | None = None,
        normalizer_spec: bytes | Any | None = None,
        rule_tsv: str | os.PathLike[str] | None = None,
        rule_name: str | None = None,
        norm_map: Iterable[tuple[str | bytes, str | bytes]] | None = None,
        add_dummy_prefix: bool | None = None,
        escape_whitespaces: bool | None = None,
        remove_extra_whitespaces: bool | None = None,
    ) -> None:
        if model_file:
            spec = _of_model(_content("model_file", model_file))
        elif model_proto:
            spec = _of_model(_bytes("model_proto", model_proto))
        elif normalizer_spec is not None:
            spec = NormalizerSpec.read(_bytes("normalizer_spec", normalizer_spec))
        elif rule_tsv:
            rules = _rules_of_file(str(rule_tsv), _content("rule_tsv", rule_tsv))
            spec = NormalizerSpec("user_defined", _core.compiled_charsmap(rules))
        elif rule_name:
            check_kind("rule_name", rule_name, str, "a str")
            spec = NormalizerSpec(rule_name, _core.charsmap(rule_name) or b"")
        elif norm_map:
            spec = NormalizerSpec("user_defined", _core.compiled_charsmap(_rules(norm_map)))
        else:
            raise ArgumentError(
                "nothing says which rules: give model_file, model_proto, normalizer_spec, "
                "rule_tsv, rule_name or norm_map"
            )
        flags: dict[str, Any] = {
            "add_dummy_prefix": add_dummy_prefix,
            "escape_whitespaces": escape_whitespaces,
            "remove_extra_whitespaces": remove_extra_whitespaces,
        }
        given = {name: bool(value) for name, value in flags.items() if value is not None}
        self._use(replace(spec, **given))  # type: ignore[arg-type]

    def _use(self, spec: NormalizerSpec) -> None:
        """Makes a specification the normalizer's."""
        # What normalizes is a model, with an unknown piece and another, which all must have.
        pieces = (chunk(1, b"<unk>") + number(3, 2), chunk(1, "▁".encode()))
        parts = [*(chunk(1, piece) for piece in pieces), chunk(_NORMALIZER_SPEC, spec.written())]
        proto = b"".join(parts)
        self.spec = spec
        self._reader = _core.SentencePieceReader(BaseTokenizer(models.SentencePiece(proto))._core)

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """A text as it becomes, or each of a list; as `SentencePieceProcessor.normalize`."""
        return mapped(
            lambda text: InputText(text).normalized(self._reader, bool(with_offsets)), input
        )

    def decompile(self) -> list[tuple[str, str]]:
        """The rules, in the order of what they replace."""
        return _core.charsmap_rules(self.spec.charsmap) if self.spec.charsmap else []

    def serialized_normalizer_spec(self) -> bytes:
        """The bytes of a model's specification of its normalizer."""
        return self.spec.written()

    def serialized_model_proto(self) -> bytes:
        """The bytes of a model that has nothing but this normalizer."""
        return chunk(_NORMALIZER_SPEC, self.spec.written())

    Normalize, Decompile = normalize, decompile

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, state: bytes) -> None:
        self._use(_of_model(state))


def _of_model(proto: bytes) -> NormalizerSpec:
    specs = [value for field, value in fields(proto) if field == _NORMALIZER_SPEC]
    if not specs or not isinstance(specs[-1], bytes):
        raise FormatError("no SentencePiece model: it says nothing of a normalizer")
    return NormalizerSpec.read(specs[-1])


def _bytes(name: str, given: Any) -> bytes:
    if hasattr(given, "SerializeToString"):
        given = given.SerializeToString()
    if not isinstance(given, bytes):
        raise ArgumentTypeError(f"{name} must be bytes, not {type(given).__name__}")
    return given


def _content(name: str, given: str | os.PathLike[str]) -> bytes:
    path = checked_path(name, given)
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None


def _rules(pairs: Iterable[tuple[str | bytes, str | bytes]]) -> dict[str, str]:
    rules: dict[str, str] = {}
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ArgumentTypeError(f"each of norm_map must be a pair of texts, not {pair!r}")
        try:
            source, target = (
                part.decode() if isinstance(part, bytes) else InputText(part).text for part in pair
            )
        except UnicodeDecodeError:
            raise ArgumentError(f"norm_map: {pair!r} is not UTF-8") from None
        if not source or source == target or source in rules:
            why = "has nothing to replace" if not source else "changes nothing"
            why = "is there twice" if source in rules else why
            raise ArgumentError(f"norm_map: the rule for {source!r} {why}")
        rules[source] = target
    return rules


def _rules_of_file(path: str, content: bytes) -> dict[str, str]:
    rules = {}
    for at, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        source, _, rest = line.partition("\t")
        target = rest.partition("\t")[0]
        try:
            source, target = (
                "".join(chr(int(point, 16)) for point in points.split())
                for points in (source, target)
            )
        except (ValueError, OverflowError):
            raise ArgumentError(
                f"{path}:{at}: {line[:40]!r} is not code points, a tab and code points"
            ) from None
        if source and source != target:
            rules[source] = target
    return rules
