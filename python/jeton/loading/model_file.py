"""Reads and writes the pieces of a SentencePiece `.model`; the rest of the file is unchanged.

Look here for the protocol buffer: a file is a sequence of fields, each with a number; field 1 is a
piece (text, score, kind), field 2 the specification of the trainer, which repeats the number of
pieces. The format is that of `sentencepiece_model.proto`.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from jeton.components import normalizers
from jeton.errors import FormatError
from jeton.loading.protocol_buffers import BYTES, FIXED32, VARINT, Field, chunk, field, fields

NORMAL: Final = 1
UNKNOWN: Final = 2
CONTROL: Final = 3
USER_DEFINED: Final = 4
UNUSED: Final = 5
BYTE: Final = 6

_PIECES, _TRAINER, NORMALIZER, _SELF_TEST = 1, 2, 3, 4
_FLAGS = {"add_dummy_prefix": 3, "remove_extra_whitespaces": 4, "escape_whitespaces": 5}
"""The flags of a normalizer, with the numbers of their fields."""
_OF_TRAINER = {
    20: "max_piece_length",
    21: "split_by_unicode_script",
    22: "split_by_whitespace",
    23: "split_by_number",
    24: "treat_whitespace_as_suffix",
    25: "split_digits",
    26: "allow_whitespace_only_pieces",
}
_MODEL_TYPE, _VOCAB_SIZE, _UNK_SURFACE = 3, 4, 44
_META_IDS = {40: "unk", 41: "bos", 42: "eos", 43: "pad"}
_KINDS = {"unigram": 1, "bpe": 2, "word": 3, "char": 4}


@dataclass(frozen=True)
class ModelPiece:
    """A piece of the vocabulary."""

    text: str
    score: float
    kind: int = NORMAL


@dataclass(frozen=True)
class NormalizerSpec:
    """The specification of a normalizer in a model file."""

    name: str = ""
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True

    @classmethod
    def read(cls, message: bytes) -> NormalizerSpec:
        """Parses the bytes of a specification."""
        values: dict[str, Any] = {}
        flags = {number: flag for flag, number in _FLAGS.items()}
        for number, _, value in fields(message):
            if number == 1 and isinstance(value, bytes):
                values["name"] = value.decode("utf-8", "replace")
            elif number == 2 and isinstance(value, bytes):
                values["charsmap"] = value
            elif number in flags and isinstance(value, int):
                values[flags[number]] = bool(value)
        return cls(**values)

    def to_bytes(self) -> bytes:
        """The bytes of the message, without flags that are set, as that is the default."""
        parts = [
            chunk(1, self.name.encode()) if self.name else b"",
            chunk(2, self.charsmap) if self.charsmap else b"",
            *(field(at, VARINT, 0) for flag, at in _FLAGS.items() if not getattr(self, flag)),
        ]
        return b"".join(parts)


@dataclass(frozen=True)
class ModelFile:
    """A `.model` file as its pieces and everything else."""

    pieces: tuple[ModelPiece, ...]
    trainer: tuple[Field, ...]
    rest: tuple[Field, ...]

    @classmethod
    @functools.lru_cache(maxsize=1)
    def parse(cls, proto: bytes) -> ModelFile:
        """Parses the content of a file; the last result is cached."""
        pieces: list[ModelPiece] = []
        trainer: list[Field] = []
        rest: list[Field] = []
        for number, wire, value in fields(proto):
            if (number, wire) == (_PIECES, BYTES):
                pieces.append(_piece(cast(bytes, value)))
            elif (number, wire) == (_TRAINER, BYTES):
                trainer.extend(fields(cast(bytes, value)))
            else:
                rest.append((number, wire, value))
        return cls(tuple(pieces), tuple(trainer), tuple(rest))

    @property
    def kind(self) -> str:
        """`"unigram"`, `"bpe"`, `"word"` or `"char"`."""
        numbers = [_enumerated(it) for number, _, it in self.trainer if number == _MODEL_TYPE]
        names = {number: name for name, number in _KINDS.items()}
        return next((names[it] for it in reversed(numbers) if it in names), "unigram")

    @property
    def normalizer_spec(self) -> NormalizerSpec:
        """The specification of the normalizer."""
        # A message that occurs twice is merged.
        specs = [it for number, wire, it in self.rest if (number, wire) == (NORMALIZER, BYTES)]
        return NormalizerSpec.read(b"".join(cast("list[bytes]", specs)))

    @property
    def normalizer(self) -> normalizers.SentencePiece:
        """The normalizer that the file describes."""
        spec = self.normalizer_spec
        flags = {flag: getattr(spec, flag) for flag in _FLAGS}
        return normalizers.SentencePiece(charsmap=spec.charsmap or None, **flags)

    @property
    def unigram_settings(self) -> dict[str, Any]:
        """The options with which a `UnigramTrainer` treats text as this model does."""
        spec = self.normalizer_spec
        options: dict[str, Any] = {
            "normalizer": normalizers.Precompiled(spec.charsmap) if spec.charsmap else "identity",
            "add_dummy_prefix": spec.add_dummy_prefix,
            "remove_extra_whitespaces": spec.remove_extra_whitespaces,
        }
        for number, _, value in self.trainer:
            if number in _OF_TRAINER and isinstance(value, int):
                name = _OF_TRAINER[number]
                options[name] = value if name == "max_piece_length" else bool(value)
        return options

    def with_normalizer(self, spec: NormalizerSpec) -> ModelFile:
        """The file with another normalizer."""
        others = (it for it in self.rest if it[0] != NORMALIZER)
        return replace(self, rest=(*others, (NORMALIZER, BYTES, spec.to_bytes())))

    def has_role(self, piece: ModelPiece) -> bool:
        """Whether a piece is the unknown, begin, end or padding piece."""
        ids = {40: 0, 41: 1, 42: 2}  # the defaults
        ids |= {
            number: value
            for number, _, value in self.trainer
            if number in _META_IDS and isinstance(value, int)
        }
        return self.pieces.index(piece) in ids.values()

    def with_pieces(
        self,
        pieces: Iterable[ModelPiece],
        *,
        unk_surface: str | None = None,
        kind: str | None = None,
    ) -> bytes:
        """The content of the file with other pieces.

        Updates the number of pieces and the ids of the unknown, begin, end and padding pieces, and
        drops samples with the old ids.

        Args:
            pieces: All pieces, in the order of their ids.
            unk_surface: The text of the unknown piece; `None` for that of the file.
            kind: The kind of the model, as the property has it; `None` for that of the file.
        """
        new_pieces = tuple(pieces)
        ids = {piece.text: id for id, piece in enumerate(new_pieces)}
        old = {id: piece.text for id, piece in enumerate(self.pieces)}
        trainer = bytearray()
        numbers = {number for number, wire, _ in self.trainer if wire == VARINT}
        for number, wire, value in self.trainer:
            if number == _VOCAB_SIZE:
                wire, value = VARINT, len(new_pieces)
            elif number in _META_IDS and isinstance(value, int):
                value = _new_id(value, old, ids)
            trainer += field(number, wire, value)
        # A missing field has the default of the format.
        for number, default in ((40, 0), (41, 1), (42, 2)):
            if number not in numbers:
                new_id = _new_id(default, old, ids)
                if new_id != default:
                    trainer += field(number, VARINT, new_id)
        # If a field occurs twice, the last one counts.
        if kind is not None:
            trainer += field(_MODEL_TYPE, VARINT, _KINDS[kind])
        if unk_surface is not None:
            trainer += field(_UNK_SURFACE, BYTES, unk_surface.encode())
        body = bytearray()
        for piece in new_pieces:
            data = field(1, BYTES, piece.text.encode()) + field(
                2, FIXED32, struct.pack("<f", piece.score)
            )
            if piece.kind != NORMAL:
                data += field(3, VARINT, piece.kind)
            body += field(_PIECES, BYTES, data)
        body += field(_TRAINER, BYTES, bytes(trainer))
        for number, wire, value in self.rest:
            if number != _SELF_TEST:
                body += field(number, wire, value)
        return bytes(body)


def _enumerated(value: bytes | int) -> int:
    """The number of an enumeration value, as protocol buffers read it.

    For bytes it is 0, which no enumeration here has. Unknown numbers are ignored.
    """
    return value & 0xFFFF_FFFF if isinstance(value, int) else 0


def _new_id(id: int, old: dict[int, str], ids: dict[str, int]) -> int:
    """The new id of a piece, by its old id; -1 ("none") if it no longer exists."""
    return ids.get(old.get(id, ""), (1 << 64) - 1)


def _piece(data: bytes) -> ModelPiece:
    text, score, kind = "", 0.0, NORMAL
    for number, wire, value in fields(data):
        if (number, wire) == (1, BYTES):
            try:
                text = cast(bytes, value).decode()
            except UnicodeDecodeError as error:
                raise FormatError(f"model file: a piece is not UTF-8: {error}") from None
        elif (number, wire) == (2, FIXED32):
            (score,) = struct.unpack("<f", cast(bytes, value))
        elif number == 3 and NORMAL <= _enumerated(value) <= BYTE:
            kind = _enumerated(value)
    return ModelPiece(text, score, kind)
