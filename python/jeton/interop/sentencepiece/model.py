"""The model behind a processor: loading it, looking up pieces, restricting its vocabulary.

Look here for what a `SentencePieceProcessor` can do without a text.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import jeton._core as _core
from jeton import files
from jeton.arguments import check_kind, checked_int, checked_iterable, checked_path, suggestion
from jeton.components import decoders, models, normalizers
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, UnknownTokenError
from jeton.interop.sentencepiece.results import InputText
from jeton.loading import sources

Kind = Literal["normal", "unknown", "control", "user_defined", "unused", "byte"]
"""The type of a piece."""

_OPTIONS: Final = {
    "bos": "bos",
    "eos": "eos",
    "reverse": "reverse",
    "unk": "unk",
    "unk_piece": "unk",
}
"""The names of the extra options."""

_LAST_MARK: Final = 0x10FFFD
"""The last character for private use, the first that is tried for bytes that are not UTF-8."""

_LEAST: Final = -(2**63)
"""Smaller numbers are refused as such, before anything looks for a piece."""

_FLAGS: Final = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")


class NoPieceError(UnknownTokenError, IndexError):
    """An id that belongs to no piece."""


_OF_MODEL: Final = ("_reading", "_pieces", "_marks", "_bytes", "_controls")
"""The attributes that are derived from the model, and derived again when unpickled."""


class _Pieces(NamedTuple):
    """The columns of the vocabulary, in the order of ids."""

    texts: list[str]
    scores: list[float]
    kinds: list[Kind]


def map_list(function: Callable[[Any], Any], value: object) -> Any:
    """The result of a function for a value, or for each item of a list."""
    return [function(item) for item in value] if isinstance(value, list) else function(value)


def _map_items(function: Callable[[Any], Any], value: object) -> Any:
    """As `map_list`, for tuples, ranges and arrays, too."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return map_list(function, list(value) if isinstance(value, (tuple, range)) else value)


class Reading:
    """A tokenizer that reads texts, and its form for texts with bytes that are not UTF-8.

    SentencePiece reads such a byte as a U+FFFD and passes it by the rules of normalization, some of
    which change a U+FFFD of the text. Here the byte becomes a character that is nowhere else, which
    one more rule replaces.
    """

    def __init__(self, tokenizer: BaseTokenizer) -> None:
        self.tokenizer = tokenizer
        self.reader = _core.SentencePieceReader(tokenizer._core)
        self._marked: dict[str, Reading] = {}

    def of(self, source: InputText) -> tuple[BaseTokenizer, _core.SentencePieceReader, str]:
        """What reads a text, and the text as it must be given to it."""
        if not source.is_broken:
            return self.tokenizer, self.reader, source.text
        normalizer = self.tokenizer.stages.normalizer
        assert isinstance(normalizer, normalizers.SentencePiece)
        for mark in map(chr, range(_LAST_MARK, 0, -1)):
            if mark in source.text:
                continue
            if mark not in self._marked:
                rules = dict(
                    _core.charsmap_rules(normalizer.charsmap) if normalizer.charsmap else ()
                )
                texts = (*rules, *normalizer.user_defined_symbols)
                if any(mark in text for text in texts):
                    continue
                charsmap = _core.compiled_charsmap({**rules, mark: "\ufffd"})
                marked = dataclasses.replace(normalizer, charsmap=charsmap)
                self._marked[mark] = Reading(self.tokenizer.replace(normalizer=marked))
            reading = self._marked[mark]
            return reading.tokenizer, reading.reader, source.with_mark(mark)
        raise AssertionError("a text cannot hold all characters")

    def normalize(self, text: object, with_offsets: bool) -> Any:
        """The normalized text; on request with the source position of each character or byte."""
        source = InputText(text)
        _, reader, marked = self.of(source)
        return source.normalize(reader, marked, with_offsets)


class SentencePieceModel:
    """A SentencePiece model, its pieces, and the subset of them that encoding may use."""

    def __init__(self) -> None:
        self._encode_options: tuple[str, ...] = ()
        self._decode_options: tuple[str, ...] = ()
        # The loaded tokenizer, and the pieces that it is restricted to.
        self._loaded: BaseTokenizer | None = None
        self._valid: list[str] | None = None

    @property
    def tokenizer(self) -> BaseTokenizer:
        """The tokenizer, a `jeton.Tokenizer`, with its vocabulary as restricted."""
        self._require_loaded()
        return self._reading.tokenizer

    # Loading

    def load(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: bytes | Any | None = None,
    ) -> bool:
        """Loads a model, which replaces the current one."""
        if model_file and model_proto:
            raise ArgumentError("model_file and model_proto are both given; give one")
        if model_proto:
            return self.load_from_serialized_proto(model_proto)
        if model_file:
            return self.load_from_file(model_file)
        raise ArgumentError("there is nothing to load; give model_file or model_proto")

    def load_from_file(self, filename: str | os.PathLike[str]) -> bool:
        """Loads a file, which replaces the current model."""
        core, settings = sources.read(Path(checked_path("model_file", filename)))
        self._use(BaseTokenizer._for_users._of_core(core, settings))
        return True

    def load_from_serialized_proto(self, serialized: bytes | Any) -> bool:
        """Loads the contents of a file, which replace the current model."""
        if hasattr(serialized, "SerializeToString"):
            serialized = serialized.SerializeToString()
        check_kind("model_proto", serialized, bytes, "bytes")
        self._use(BaseTokenizer._for_users(models.SentencePiece(serialized)))
        return True

    def serialized_model_proto(self) -> bytes:
        """The contents of a file of this model."""
        return self._reading.reader.proto()

    # Pieces

    def piece_to_id(self, piece: object) -> Any:
        """The id of a piece, or of each of a list; the unknown piece's id for any other text."""
        return _map_items(self._id_of, piece)

    def id_to_piece(self, id: object) -> Any:
        """The spelling of a piece, or of each of a list of ids."""
        return _map_items(lambda id: self._pieces.texts[self._checked_id(id)], id)

    def get_score(self, id: object) -> Any:
        """The score of a piece, or of each of a list of ids."""
        return _map_items(lambda id: self._pieces.scores[self._checked_id(id)], id)

    def kind(self, id: object) -> Any:
        """The type of a piece, or of each of a list of ids: `"normal"`, `"unknown"`, `"control"`,
        `"user_defined"`, `"unused"` or `"byte"`."""
        return _map_items(lambda id: self._pieces.kinds[self._checked_id(id)], id)

    def is_unknown(self, id: object) -> Any:
        """Whether it is the unknown piece."""
        return self._is("unknown", id)

    def is_control(self, id: object) -> Any:
        """Whether it is a control piece, which text is never encoded to."""
        return self._is("control", id)

    def is_unused(self, id: object) -> Any:
        """Whether it is a piece that is never produced."""
        return self._is("unused", id)

    def is_byte(self, id: object) -> Any:
        """Whether it is the piece of a byte."""
        return self._is("byte", id)

    def is_user_defined(self, id: object) -> Any:
        """Whether it is a piece that is found in text before any other."""
        return self._is("user_defined", id)

    def get_piece_size(self) -> int:
        """How many pieces there are."""
        return len(self._pieces.texts)

    def unk_id(self) -> int:
        """The id of the unknown piece; -1 for none."""
        return self._marks["unk"]

    def bos_id(self) -> int:
        """The id of the piece that begins texts; -1 for none."""
        return self._marks["bos"]

    def eos_id(self) -> int:
        """The id of the piece that ends texts; -1 for none."""
        return self._marks["eos"]

    def pad_id(self) -> int:
        """The id of the piece that fills rows; -1 for none."""
        return self._marks["pad"]

    # What changes the model

    def set_vocabulary(self, valid_vocab: Iterable[str | bytes]) -> bool:
        """Restricts encoding to these pieces, single characters and user-defined pieces.

        Works for BPE and for Unigram: a piece that is left out splits into others. Ids do not
        change.
        """
        valid_vocab = checked_iterable("valid_vocab", valid_vocab, "an iterable of pieces")
        self._restrict([InputText(piece).text for piece in valid_vocab])
        return True

    def reset_vocabulary(self) -> bool:
        """Undoes `set_vocabulary`."""
        self._restrict(None)
        return True

    def load_vocabulary(self, filename: str | os.PathLike[str], threshold: int) -> bool:
        """Calls `set_vocabulary` with the pieces of a file that are at least this frequent.

        Args:
            filename: A file with one piece per line, which a tab and its frequency may follow
                (otherwise the frequency is 1).
            threshold: The minimum frequency.

        Raises:
            FileError: There is no such file, or it cannot be read.
            ArgumentError: A line has no piece, or an invalid frequency.
        """
        path = checked_path("filename", filename)
        least = checked_int("threshold", threshold, _LEAST)
        try:
            lines = files.read(path).decode().split("\n")
        except UnicodeDecodeError as error:
            raise FileError(f"{path}: not UTF-8 at byte {error.start}") from None
        valid = []
        for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
            piece, _, rest = line.removesuffix("\r").partition("\t")
            frequency = rest.partition("\t")[0]
            if not piece or (frequency and not frequency.lstrip("-").isdecimal()):
                raise ArgumentError(
                    f"{path}:{number}: {line[:40]!r} is not a piece, a tab and a frequency"
                )
            if int(frequency or 1) >= least:
                valid.append(piece)
        return self.set_vocabulary(valid)

    def set_encode_extra_options(self, extra_option: str) -> bool:
        """Sets what all encoding does before the options of the call: `"reverse"`, `"bos"`,
        `"eos"` and `"unk"`, in this order, with colons between; `""` for nothing."""
        self._encode_options = self._parse_options(extra_option)
        return True

    def set_decode_extra_options(self, extra_option: str) -> bool:
        """Sets what is done to items before decoding; as for `set_encode_extra_options`."""
        self._decode_options = self._parse_options(extra_option)
        return True

    def override_normalizer_spec(self, **options: object) -> bool:
        """Changes the normalization of text, and decoding to match: `add_dummy_prefix`,
        `remove_extra_whitespaces` and `escape_whitespaces`, each a bool."""
        tokenizer = self._require_loaded()
        normalizer, decoder = tokenizer.stages.normalizer, tokenizer.stages.decoder
        assert isinstance(normalizer, normalizers.SentencePiece)
        assert isinstance(decoder, decoders.SentencePiece)
        flags: dict[str, Any] = {}
        for name, value in options.items():
            if name not in _FLAGS:
                hint = suggestion(name, list(_FLAGS)) or f"it is one of {', '.join(_FLAGS)}"
                raise ArgumentError(f"a normalizer has no option {name!r} ({hint})")
            if str(value).lower() not in ("true", "false", "1", "0"):
                raise ArgumentTypeError(f"{name} must be a bool, not {value!r}")
            flags[name] = str(value).lower() in ("true", "1")
        normalizer = dataclasses.replace(normalizer, **flags)
        leading: decoders.LeadingSpaces = "keep"
        if normalizer.add_dummy_prefix:
            leading = "drop_one"
        if normalizer.remove_extra_whitespaces:
            leading = "drop_all"
        decoder = dataclasses.replace(decoder, leading_spaces=leading)
        valid = self._valid
        self._use(tokenizer.replace(normalizer=normalizer, decoder=decoder))
        self._restrict(valid)
        return True

    piece_size = vocab_size = GetPieceSize = get_piece_size
    Load, LoadFromFile = load, load_from_file
    LoadFromSerializedProto = load_from_serialized_proto
    PieceToId, IdToPiece, GetScore = piece_to_id, id_to_piece, get_score
    IsUnknown, IsControl, IsUnused, IsByte = is_unknown, is_control, is_unused, is_byte
    SetVocabulary, ResetVocabulary = set_vocabulary, reset_vocabulary
    LoadVocabulary = load_vocabulary
    SetEncodeExtraOptions = set_encode_extra_options
    SetDecodeExtraOptions = set_decode_extra_options
    OverrideNormalizerSpec = override_normalizer_spec

    # Inside

    def _use(self, tokenizer: BaseTokenizer) -> None:
        """Replaces the model, without a restriction."""
        self._set(tokenizer)
        self._loaded, self._valid = tokenizer, None

    def _restrict(self, valid: list[str] | None) -> None:
        """Restricts the loaded model to these pieces of text; `None` for all."""
        loaded = self._require_loaded()
        if valid is None:
            self._set(loaded)
        else:
            reader = _core.SentencePieceReader(loaded._core)
            self._set(type(loaded)._of_core(reader.restricted(valid)))
        self._valid = valid

    def _set(self, tokenizer: BaseTokenizer) -> None:
        self._reading = Reading(tokenizer)
        reader = self._reading.reader
        self._pieces = _Pieces(*reader.pieces())
        kinds = self._pieces.kinds
        self._bytes = frozenset(id for id, kind in enumerate(kinds) if kind == "byte")
        self._controls = frozenset(id for id, kind in enumerate(kinds) if kind == "control")
        ids = (-1 if id is None else id for id in reader.marks())
        self._marks = dict(zip(("unk", "bos", "eos", "pad"), ids, strict=True))

    def _require_loaded(self) -> BaseTokenizer:
        """The loaded tokenizer; raises if there is none."""
        if self._loaded is None:
            raise ArgumentError("no model is loaded; give model_file or model_proto")
        return self._loaded

    def __getattr__(self, name: str) -> Any:
        # The attributes of a model are missing if none is loaded.
        if name in _OF_MODEL and "_loaded" in self.__dict__:
            self._require_loaded()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _mark(self, name: str) -> int:
        """The id of the piece that begins or ends texts."""
        id = self._marks[name]
        if id < 0:
            what = {"bos": "begins", "eos": "ends"}[name]
            raise ArgumentError(f"this model has no piece that {what} texts; leave out {name!r}")
        return id

    def _parse_options(self, text: object) -> tuple[str, ...]:
        """The extra options in a text, checked."""
        if not isinstance(text, str):
            raise ArgumentTypeError(f"extra options must be a str, not {type(text).__name__}")
        options = []
        for name in text.split(":") if text else ():
            if name not in _OPTIONS:
                hint = suggestion(name, list(_OPTIONS)) or f"it is one of {', '.join(_OPTIONS)}"
                raise ArgumentError(f"there is no extra option {name!r} ({hint})")
            if name in ("bos", "eos"):
                self._mark(name)
            options.append(_OPTIONS[name])
        return tuple(options)

    def _id_of(self, piece: object) -> int:
        """The id of a piece, or of the unknown piece."""
        id = self._reading.reader.id(InputText(piece).text)
        return self._marks["unk"] if id is None else id

    def _checked_id(self, id: object) -> int:
        """An id that belongs to a piece."""
        size = len(self._pieces.texts)
        number = checked_int("id", id, _LEAST)
        if not 0 <= number < size:
            raise NoPieceError(f"id {number} belongs to no piece; there are {size:,}")
        return number

    def _is(self, kind: Kind, id: object) -> Any:
        return _map_items(lambda id: self._pieces.kinds[self._checked_id(id)] == kind, id)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in _OF_MODEL:
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any] | bytes) -> None:
        if isinstance(state, bytes):
            # Older versions of sentencepiece pickle only the model of a processor.
            type(self).__init__(self)
            self.load_from_serialized_proto(state)
            return
        self.__dict__.update(state)
        if self._loaded is not None:
            self._restrict(self._valid)

    def __len__(self) -> int:
        return self.get_piece_size()

    def __getitem__(self, piece: str | bytes) -> int:
        return self._id_of(piece)
