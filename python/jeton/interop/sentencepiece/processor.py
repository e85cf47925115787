"""`SentencePieceProcessor`, sentencepiece's interface for using a model, with a jeton tokenizer."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from jeton.arguments import checked_int
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.interop.sentencepiece.model import SentencePieceModel, map_list
from jeton.interop.sentencepiece.names import NamesByForm
from jeton.interop.sentencepiece.results import (
    InputText,
    PieceRow,
    decoded_as,
    encoded_as,
    form_of,
    nbest_as,
    scored_as,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from jeton.encoding.base_tokenizer import BaseTokenizer

_MAX_SEGMENTATIONS: Final = 512
"""The limit of an n-best search, as in sentencepiece."""

_MAX_SAMPLES: Final = 100_000

_MAX_ALPHA: Final = 3.4e38
"""Larger numbers are infinite in 32 bits."""

_seeds = random.Random()


def set_random_generator_seed(seed: int) -> None:
    """Seeds the random numbers with which all processors sample segmentations."""
    _seeds.seed(checked_int("seed", seed, 0))


class SentencePieceProcessor(SentencePieceModel, NamesByForm):
    """A SentencePiece model with the interface of `sentencepiece.SentencePieceProcessor`.

    `Tokenizer.as_sentencepiece()` makes one of a tokenizer. All methods have sentencepiece's names
    of both kinds, `encode_as_ids` and `EncodeAsIds`. A text is a `str` or bytes of UTF-8; for a
    list of texts the result is a list.

    Differences from sentencepiece: batches use all cores whatever `num_threads` says; options such
    as `add_bos` act on messages (`"proto"`) too; if a model lacks what is needed (a piece that
    begins texts, several segmentations) it is an error instead of -1 or an empty result; sampled
    segmentations have the same probabilities but differ for a seed; pieces for bytes keep their
    type in a restricted vocabulary, and `reset_vocabulary` restores the original model.

    Args:
        model_file: The path of a `.model` file.
        model_proto: The contents of such a file, as bytes or as a message of protobuf.
        out_type: The form of encoded texts: `int` for ids (the default), `str` or `bytes` for
            pieces, `"numpy"` for an array of ids, `"offset_mapping"` for a dict of ids, pieces and
            offsets, `"proto"` for a `SentencePieceText` with positions in bytes,
            `"immutable_proto"` for one with positions in characters, `"serialized_proto"` for the
            bytes of the former.
        add_bos: Add the piece that begins texts.
        add_eos: Add the piece that ends texts.
        reverse: Reverse the pieces (before these two are added).
        emit_unk_piece: Return the unknown piece itself instead of the text that it replaces.
        enable_sampling: Sample the segmentation.
        nbest_size: Sample from this number of the best segmentations; -1 for all.
        alpha: How strongly better segmentations are preferred; for BPE, the probability of leaving
            out a merge.
        num_threads: Without effect.
        return_type: Another name of `out_type`.

    Raises:
        MissingFileError: There is no such file.
        FormatError: It is not a SentencePiece model.
        UnsupportedError: It is another kind of tokenizer.

    Example:
        >>> import jeton
        >>> tok = jeton.UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
        >>> sp = tok.as_sentencepiece()
        >>> sp.encode("lowest", out_type=str, add_bos=True)
        ['<s>', '▁lowest']
        >>> sp.id_to_piece(sp.unk_id()), sp.is_unknown(sp.unk_id())
        ('<unk>', True)
    """

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: bytes | Any | None = None,
        out_type: object = None,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
        emit_unk_piece: bool = False,
        enable_sampling: bool = False,
        nbest_size: int = -1,
        alpha: float = 0.1,
        num_threads: int = -1,
        return_type: object = None,
    ) -> None:
        super().__init__()
        self._form = form_of(out_type, return_type, int)
        self._defaults = {
            "add_bos": add_bos,
            "add_eos": add_eos,
            "reverse": reverse,
            "emit_unk_piece": emit_unk_piece,
            "enable_sampling": enable_sampling,
            "nbest_size": nbest_size,
            "alpha": alpha,
        }
        if model_file or model_proto:
            self.load(model_file, model_proto)

    def __repr__(self) -> str:
        return f"<SentencePieceProcessor of {self.__dict__.get('_loaded')!r}>"

    @classmethod
    def of_tokenizer(cls, tokenizer: BaseTokenizer) -> Self:
        """The processor of a tokenizer, which must be a SentencePiece model."""
        processor = cls()
        processor._use(tokenizer)
        return processor

    @classmethod
    def from_file(cls, model_file: str | os.PathLike[str], **options: Any) -> Self:
        """The processor of a file; `options` are those of the class."""
        if "model_proto" in options:
            raise ArgumentError("model_proto is for from_proto; leave it out")
        return cls(model_file, **options)

    @classmethod
    def from_proto(cls, model_proto: bytes | Any, **options: Any) -> Self:
        """The processor of the contents of a file; `options` are those of the class."""
        if "model_file" in options:
            raise ArgumentError("model_file is for from_file; leave it out")
        return cls(None, model_proto, **options)

    # Text to pieces

    def encode(
        self,
        input: object,
        out_type: object = None,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        enable_sampling: bool | None = None,
        nbest_size: int | None = None,
        alpha: float | None = None,
        num_threads: int | None = None,
        thread_pool: object = None,
        return_type: object = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Encodes a text.

        Args:
            input: The text.
            return_bytes: For `"offset_mapping"`: return pieces as bytes and positions in bytes; by
                default if `input` is bytes.

        The other arguments override those of the class.
        """
        form = form_of(out_type, return_type, self._form)
        if return_bytes is not None and form != "offset_mapping":
            raise ArgumentError("return_bytes is for return_type='offset_mapping'; leave it out")
        sampling = self._sampling(enable_sampling, nbest_size, alpha)
        finish = self._finish(add_bos, add_eos, reverse, emit_unk_piece)
        if isinstance(input, list) and sampling is None and form is int:
            sources = [InputText(text) for text in input]
            if not any(source.is_broken for source in sources):
                batch = self.tokenizer.encode_batch([source.text for source in sources]).tolist()
                return [finish(ids, None) for ids in batch]

        def one(text: object) -> Any:
            source = InputText(text)
            tokenizer, reader, marked = self._reading.of(source)
            if sampling is None and form in (int, "numpy"):
                items = finish(tokenizer.encode(marked), None)
                return items if form is int else encoded_as(form, source, items)
            seeded = (None, None, None) if sampling is None else (*sampling, _seeds.getrandbits(64))
            rows = _piece_rows(reader.encode(marked, *seeded))
            return encoded_as(form, source, finish(rows, len(source.text)), return_bytes)

        return map_list(one, input)

    def nbest_encode(
        self,
        input: object,
        out_type: object = None,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        nbest_size: int | None = None,
        return_type: object = None,
    ) -> Any:
        """The best segmentations of a text, best first; only a Unigram model has several.

        Args:
            input: The text.
            nbest_size: How many, at most 512.

        The other arguments are those of `encode`. A message is an `NBestSentencePieceText`, with
        the score of each.
        """
        form = form_of(out_type, return_type, self._form)
        size = self._defaults["nbest_size"] if nbest_size is None else nbest_size
        size = max(1, _checked_segmentations(size))
        finish = self._finish(add_bos, add_eos, reverse, emit_unk_piece)

        def one(text: object) -> Any:
            source = InputText(text)
            tokenizer, reader, marked = self._reading.of(source)
            if form in (int, str, "numpy"):
                best = [finish(ids, None) for ids in tokenizer.nbest(marked, size)]
                if form is not str:
                    return [ids if form is int else encoded_as(form, source, ids) for ids in best]
                unk, texts = self._marks["unk"], self._pieces.texts
                # An unknown piece is spelled as its text, which the ids do not have.
                if not any(unk in ids for ids in best):
                    return [[texts[id] for id in ids] for ids in best]
            paths = reader.n_best(marked, size)
            length = len(source.text)
            rows = [(finish(_piece_rows(path), length), score) for path, score in paths]
            return nbest_as(form, source, rows)

        return map_list(one, input)

    def sample_encode_and_score(
        self,
        input: object,
        out_type: object = None,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        num_samples: int | None = None,
        alpha: float | None = None,
        wor: bool | None = None,
        include_best: bool | None = None,
        return_type: object = None,
    ) -> Any:
        """Random segmentations of a text, each with a score; only for a Unigram model.

        Args:
            input: The text.
            num_samples: How many; 1 by default.
            alpha: How strongly better segmentations are preferred: 1 (the default) as the model
                says, 0 not at all.
            wor: Sample without replacement: no segmentation comes twice, and its score is the
                logarithm of the probability that it is among the samples. Otherwise samples are
                independent, and the score is the logarithm of their probability. If there are no
                more segmentations than `num_samples`, one of them is left out.
            include_best: Return the best segmentation first in any case, with the score 0; only
                with `wor`.

        The other arguments are those of `encode`. The result is a list of pairs, of ids or pieces
        and a score, or an `NBestSentencePieceText`.
        """
        form = form_of(out_type, return_type, self._form)
        count = checked_int("num_samples", 1 if num_samples is None else num_samples, 1)
        if count > _MAX_SAMPLES:
            raise ArgumentError(f"num_samples must be at most {_MAX_SAMPLES:,}, not {count:,}")
        if include_best and not wor:
            raise ArgumentError("include_best needs wor=True")
        preference = _checked_alpha(1.0 if alpha is None else alpha)
        finish = self._finish(add_bos, add_eos, reverse, emit_unk_piece)

        def one(text: object) -> Any:
            source = InputText(text)
            _, reader, marked = self._reading.of(source)
            paths = reader.sample(
                marked,
                count,
                preference,
                bool(wor),
                bool(include_best),
                _seeds.getrandbits(64),
            )
            length = len(source.text)
            rows = [(finish(_piece_rows(path), length), score) for path, score in paths]
            return scored_as(form, source, rows)

        return map_list(one, input)

    def calculate_entropy(self, input: object, alpha: float, num_threads: int | None = None) -> Any:
        """How uncertain the segmentation of a text is: the entropy of the distribution, in nats.

        Args:
            input: The text.
            alpha: As for `sample_encode_and_score`.
            num_threads: Without effect.
        """
        preference = _checked_alpha(alpha)

        def one(text: object) -> float:
            _, reader, marked = self._reading.of(InputText(text))
            return reader.entropy(marked, preference)

        return map_list(one, input)

    def normalize(self, input: object, with_offsets: bool | None = None) -> Any:
        """The normalized text that the model segments.

        Args:
            input: The text. If it is bytes, offsets are in bytes instead of characters.
            with_offsets: Also return, for each character of the result and for its end, the
                position in the text that it comes from.
        """
        return map_list(lambda text: self._reading.normalize(text, bool(with_offsets)), input)

    # Pieces to text

    def decode(
        self,
        input: object,
        out_type: object = None,
        num_threads: int | None = None,
        thread_pool: object = None,
        return_type: object = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """The text of ids, or of pieces; for a list of such lists, a list.

        A piece that the model does not have is decoded to itself, the unknown piece to the text
        that the model has for it (` ⁇ `).

        Args:
            input: Ids or pieces in a list or an array, or a single one; or a list of these.
            out_type: `str` (the default), `bytes`, `"offset_mapping"`, or one of the messages.
            num_threads: Without effect.
            thread_pool: Without effect.
            return_type: Another name of `out_type`.
            return_bytes: For `"offset_mapping"`: return text and pieces as bytes, and positions in
                bytes; by default if the pieces are bytes.

        Raises:
            NoPieceError: An id belongs to no piece; it is an `IndexError`.
        """
        form = form_of(out_type, return_type, str)
        if form in (int, "numpy"):
            raise ArgumentError(f"return_type={form!r} is not for decoding")
        if return_bytes is not None and form != "offset_mapping":
            raise ArgumentError("return_bytes is for return_type='offset_mapping'; leave it out")
        items = _items(input)
        is_batch = bool(items) and _is_list(items[0])
        rows = [_items(row) for row in items] if is_batch else [items]
        for row in rows:
            self._check_ids(row)
        is_plain = form is str and not self._decode_options and not any(map(_are_pieces, rows))
        if is_plain and not any(map(self._splits_bytes, rows)):
            texts: list[Any] = self.tokenizer.decode_batch(rows, skip_special_tokens=True)
        else:
            texts = [self._decode_row(row, form, return_bytes) for row in rows]
        return texts if is_batch else texts[0]

    def _splits_bytes(self, ids: list[int]) -> bool:
        """Whether a control piece follows a byte, so that the character ends there."""
        return not self._controls.isdisjoint(ids) and any(
            before in self._bytes and id in self._controls for before, id in pairwise(ids)
        )

    def _decode_row(self, items: list[Any], form: object, return_bytes: bool | None) -> Any:
        are_bytes = any(isinstance(item, bytes) for item in items[:1])
        as_bytes = are_bytes if return_bytes is None else return_bytes
        items = [InputText(item).text if isinstance(item, (str, bytes)) else item for item in items]
        for option in self._decode_options:
            items = self._with_option(items, option)
        rows, text = self._reading.reader.decode(items)
        if form is str or form is bytes:
            return text if form is str else text.encode()
        pieces, start = [], 0
        for id, piece, surface in rows:
            pieces.append(PieceRow(id, piece, start, start + len(surface), True, surface))
            start += len(surface)
        return decoded_as(form, text, pieces, as_bytes)

    def _with_option(self, items: list[Any], option: str) -> list[Any]:
        """The items to decode, after one of the extra options."""
        if option == "reverse":
            return items[::-1]
        are_pieces = _are_pieces(items)
        if option == "unk":
            unk = self._marks["unk"]
            if not are_pieces or unk < 0:
                return items
            return [self._pieces.texts[unk] if self._id_of(it) == unk else it for it in items]
        mark = self._mark(option)
        item = self._pieces.texts[mark] if are_pieces else mark
        return [item, *items] if option == "bos" else [*items, item]

    Init = init = __init__
    Encode = Tokenize = tokenize = encode
    NBestEncode = nbest_encode
    SampleEncodeAndScore = sample_encode_and_score
    CalculateEntropy = calculate_entropy
    Normalize = normalize
    Decode = Detokenize = detokenize = decode

    # Inside

    def _finish(
        self,
        add_bos: bool | None,
        add_eos: bool | None,
        reverse: bool | None,
        emit_unk_piece: bool | None,
    ) -> Callable[[list[Any], int | None], list[Any]]:
        """A function that applies the options to the ids of a text, or to its rows and length."""
        arguments = {
            "unk": ("emit_unk_piece", emit_unk_piece),
            "reverse": ("reverse", reverse),
            "bos": ("add_bos", add_bos),
            "eos": ("add_eos", add_eos),
        }
        options = [
            *self._encode_options,
            *(
                option
                for option, (name, value) in arguments.items()
                if (self._defaults[name] if value is None else value)
            ),
        ]
        marks = {option: self._mark(option) for option in options if option in ("bos", "eos")}
        unk = self._marks["unk"]

        def finish(items: list[Any], length: int | None) -> list[Any]:
            for option in options:
                if option == "reverse":
                    items = items[::-1]
                elif option == "unk":
                    if length is not None and unk >= 0:
                        spelling = self._pieces.texts[unk]
                        items = [
                            replace(row, piece=spelling) if row.id == unk else row for row in items
                        ]
                else:
                    item: Any = marks[option]
                    if length is not None:
                        at = 0 if option == "bos" else length
                        item = PieceRow(item, self._pieces.texts[item], at, at, False)
                    items = [item, *items] if option == "bos" else [*items, item]
            return items

        return finish

    def _sampling(
        self, enable_sampling: bool | None, nbest_size: int | None, alpha: float | None
    ) -> tuple[float, int | None] | None:
        """With which preference and from how many segmentations to sample; `None` if not at all."""
        enabled = self._defaults["enable_sampling"] if enable_sampling is None else enable_sampling
        size = self._defaults["nbest_size"] if nbest_size is None else nbest_size
        preference = self._defaults["alpha"] if alpha is None else alpha
        if not enabled:
            return None
        if size is None or size in (0, 1) or preference is None:
            raise ArgumentError(
                "enable_sampling needs an alpha, and an nbest_size of -1 (all segmentations) or "
                "more than 1"
            )
        size = _checked_segmentations(size)
        return _checked_alpha(preference), size if size > 0 else None

    def _check_ids(self, items: list[Any]) -> None:
        """Raises for ids that belong to no piece, and for pieces among ids."""
        if _are_pieces(items):
            if not all(isinstance(item, (str, bytes)) for item in items):
                raise ArgumentTypeError("decode takes ids or pieces, not both together")
            return
        for item in items:
            if not isinstance(item, int) or not 0 <= item < len(self._pieces.texts):
                self._checked_id(item)


def _piece_rows(rows: list[tuple[int, str, int, int, bool]]) -> list[PieceRow]:
    return [PieceRow(*row) for row in rows]


def _is_list(value: object) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _items(value: Any) -> list[Any]:
    """The items of a list or an array, or a list of the single item."""
    if value is None or (isinstance(value, (str, bytes)) and not value):
        return []
    if hasattr(value, "tolist") and _is_list(value):
        items: list[Any] = value.tolist()
        return items
    return list(value) if _is_list(value) else [value]


def _are_pieces(items: list[Any]) -> bool:
    return any(isinstance(item, (str, bytes)) for item in items[:1])


def _checked_segmentations(size: object) -> int:
    number = checked_int("nbest_size", size, -(2**63))
    if number > _MAX_SEGMENTATIONS:
        raise ArgumentError(f"nbest_size must be at most {_MAX_SEGMENTATIONS}, not {number}")
    return number


def _checked_alpha(alpha: object) -> float:
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)):
        raise ArgumentTypeError(f"alpha must be a number, not {type(alpha).__name__}")
    if not 0 <= alpha <= _MAX_ALPHA:
        raise ArgumentError(f"alpha must be at least 0 and finite, not {alpha}")
    return float(alpha)
