"""`SentencePieceNormalizer`: the normalization rules of a model, without the model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import jeton._core as _core
from jeton import files
from jeton.arguments import check_kind, checked_path
from jeton.components import models
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError
from jeton.interop.sentencepiece.model import Reading, map_list
from jeton.interop.sentencepiece.results import InputText
from jeton.loading.model_file import NORMALIZER, NormalizerSpec
from jeton.loading.protocol_buffers import chunk, fields, number


class SentencePieceNormalizer:
    """The normalizer of sentencepiece, with the interface of its `SentencePieceNormalizer`.

    All methods have names of both kinds, `normalize` and `Normalize`.

    Args:
        model_file: The path of a `.model` file, for the normalizer of that model.
        model_proto: The contents of such a file, as bytes or as a message of protobuf.
        normalizer_spec: The result of `serialized_normalizer_spec`, or such a message.
        rule_tsv: A file with one rule per line: code points in hexadecimal, a tab, and the code
            points that replace them.
        rule_name: `"nmt_nfkc"`, `"nfkc"`, `"nmt_nfkc_cf"`, `"nfkc_cf"` or `"identity"`.
        norm_map: Rules as pairs of texts, or of bytes of UTF-8.
        add_dummy_prefix: Put a space in front; by default what the rules say, or else true.
        escape_whitespaces: Write spaces as `▁`; the default is as above.
        remove_extra_whitespaces: Remove spaces at the ends and reduce runs of spaces to one; the
            default is as above.

    Raises:
        ArgumentError: No rules are given; a rule is invalid, or given twice.
        FileError: There is no such file, or it cannot be read.
        FormatError: It is not a SentencePiece model.

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
            spec = _spec_of(files.read(checked_path("model_file", model_file)))
        elif model_proto:
            spec = _spec_of(_bytes("model_proto", model_proto))
        elif normalizer_spec is not None:
            spec = NormalizerSpec.read(_bytes("normalizer_spec", normalizer_spec))
        elif rule_tsv:
            rules = _parse_rules(str(rule_tsv), files.read(checked_path("rule_tsv", rule_tsv)))
            spec = NormalizerSpec("user_defined", _core.compiled_charsmap(rules))
        elif rule_name:
            check_kind("rule_name", rule_name, str, "a str")
            spec = NormalizerSpec(rule_name, _core.charsmap(rule_name) or b"")
        elif norm_map:
            spec = NormalizerSpec("user_defined", _core.compiled_charsmap(_rules(norm_map)))
        else:
            raise ArgumentError(
                "no rules are given: pass model_file, model_proto, normalizer_spec, rule_tsv, "
                "rule_name or norm_map"
            )
        flags = {
            "add_dummy_prefix": add_dummy_prefix,
            "escape_whitespaces": escape_whitespaces,
            "remove_extra_whitespaces": remove_extra_whitespaces,
        }
        changes = {name: bool(value) for name, value in flags.items() if value is not None}
        self._use(replace(spec, **changes))  # type: ignore[arg-type]

    def _use(self, spec: NormalizerSpec) -> None:
        """Sets the specification, and builds what normalizes."""
        # Only a model can normalize, and every model must have an unknown piece and another one.
        pieces = (chunk(1, b"<unk>") + number(3, 2), chunk(1, "▁".encode()))
        parts = [*(chunk(1, piece) for piece in pieces), chunk(NORMALIZER, spec.to_bytes())]
        proto = b"".join(parts)
        self.spec = spec
        self._reading = Reading(BaseTokenizer(models.SentencePiece(proto)))

    def normalize(self, input: object, with_offsets: bool | None = None) -> Any:
        """The normalized text, or that of each of a list; as `SentencePieceProcessor.normalize`."""
        return map_list(lambda text: self._reading.normalize(text, bool(with_offsets)), input)

    def decompile(self) -> list[tuple[str, str]]:
        """The rules, sorted by the text that they replace."""
        return _core.charsmap_rules(self.spec.charsmap) if self.spec.charsmap else []

    def serialized_normalizer_spec(self) -> bytes:
        """The bytes of a model's specification of its normalizer."""
        return self.spec.to_bytes()

    def serialized_model_proto(self) -> bytes:
        """The bytes of a model that consists of this normalizer alone."""
        return chunk(NORMALIZER, self.spec.to_bytes())

    Normalize, Decompile = normalize, decompile

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, state: bytes) -> None:
        self._use(_spec_of(state))


def _spec_of(proto: bytes) -> NormalizerSpec:
    specs = [value for field, _, value in fields(proto) if field == NORMALIZER]
    if not specs or not isinstance(specs[-1], bytes):
        raise FormatError("not a SentencePiece model: it has no specification of a normalizer")
    return NormalizerSpec.read(specs[-1])


def _bytes(name: str, value: object) -> bytes:
    if hasattr(value, "SerializeToString"):
        value = value.SerializeToString()
    if not isinstance(value, bytes):
        raise ArgumentTypeError(f"{name} must be bytes, not {type(value).__name__}")
    return value


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
            why = "is given twice" if source in rules else why
            raise ArgumentError(f"norm_map: the rule for {source!r} {why}")
        rules[source] = target
    return rules


def _parse_rules(path: str, content: bytes) -> dict[str, str]:
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
