"""The methods of a processor that are named after the form of the result, as `encode_as_ids`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from jeton.arguments import checked_int

_Method: TypeAlias = Callable[..., Any]


def _encode(form: object) -> _Method:
    def method(self: Any, input: Any, **options: Any) -> Any:
        return self.encode(input, out_type=form, **options)

    return _with_docstring(method, "encode", form)


def _sample(form: object) -> _Method:
    def method(
        self: Any,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        sampling = {"enable_sampling": True, "nbest_size": nbest_size, "alpha": alpha}
        return self.encode(input, out_type=form, **sampling, **options)

    return _with_docstring(method, "encode", form, " and `enable_sampling=True`")


def _nbest(form: object) -> _Method:
    def method(self: Any, input: Any, nbest_size: int | None = None, **options: Any) -> Any:
        return self.nbest_encode(input, nbest_size=nbest_size, out_type=form, **options)

    return _with_docstring(method, "nbest_encode", form)


def _score(form: object) -> _Method:
    def method(
        self: Any,
        input: Any,
        num_samples: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        sampling = {"num_samples": num_samples, "alpha": alpha}
        return self.sample_encode_and_score(input, out_type=form, **sampling, **options)

    return _with_docstring(method, "sample_encode_and_score", form)


def _parallel(form: object) -> _Method:
    def method(self: Any, input: Any, chunk_len: int = 1, **options: Any) -> Any:
        checked_int("chunk_len", chunk_len, 1)
        if form is not None:
            options["out_type"] = form
        return self.encode(input, **options)

    return _with_docstring(method, "encode", form, ": a large text uses all cores anyway")


def _decode(form: object) -> _Method:
    def method(self: Any, input: Any, out_type: object = None, **options: Any) -> Any:
        if "return_type" not in options and out_type is None:
            out_type = form
        return self.decode(input, out_type=out_type, **options)

    return _with_docstring(method, "decode", form)


def _with_docstring(method: _Method, target: str, form: object, more: str = "") -> _Method:
    out_type = form.__name__ if isinstance(form, type) else repr(form)
    option = "" if form is None else f" with `out_type={out_type}`"
    method.__doc__ = f"`{target}`{option}{more}."
    return method


class NamesByForm:
    """Other names of `encode`, `nbest_encode`, `sample_encode_and_score` and `decode`."""

    EncodeAsIds = encode_as_ids = _encode(int)
    EncodeAsPieces = encode_as_pieces = _encode(str)
    EncodeAsNumpy = encode_as_numpy = _encode("numpy")
    EncodeAsOffsetMapping = encode_as_offset_mapping = _encode("offset_mapping")
    EncodeAsProto = encode_as_proto = _encode("proto")
    EncodeAsSerializedProto = encode_as_serialized_proto = _encode("serialized_proto")
    EncodeAsImmutableProto = encode_as_immutable_proto = _encode("immutable_proto")

    SampleEncodeAsIds = sample_encode_as_ids = _sample(int)
    SampleEncodeAsPieces = sample_encode_as_pieces = _sample(str)
    SampleEncodeAsNumpy = sample_encode_as_numpy = _sample("numpy")
    SampleEncodeAsProto = sample_encode_as_proto = _sample("proto")
    SampleEncodeAsSerializedProto = sample_encode_as_serialized_proto = _sample("serialized_proto")
    SampleEncodeAsImmutableProto = sample_encode_as_immutable_proto = _sample("immutable_proto")

    NBestEncodeAsIds = nbest_encode_as_ids = _nbest(int)
    NBestEncodeAsPieces = nbest_encode_as_pieces = _nbest(str)
    NBestEncodeAsNumpy = nbest_encode_as_numpy = _nbest("numpy")
    NBestEncodeAsProto = nbest_encode_as_proto = _nbest("proto")
    NBestEncodeAsSerializedProto = nbest_encode_as_serialized_proto = _nbest("serialized_proto")
    NBestEncodeAsImmutableProto = nbest_encode_as_immutable_proto = _nbest("immutable_proto")

    SampleEncodeAndScoreAsIds = sample_encode_and_score_as_ids = _score(int)
    SampleEncodeAndScoreAsPieces = sample_encode_and_score_as_pieces = _score(str)
    SampleEncodeAndScoreAsSerializedProto = sample_encode_and_score_as_serialized_proto = _score(
        "serialized_proto"
    )
    SampleEncodeAndScoreAsImmutableProto = sample_encode_and_score_as_immutable_proto = _score(
        "immutable_proto"
    )

    ParallelEncode = parallel_encode = _parallel(None)
    ParallelEncodeAsIds = parallel_encode_as_ids = _parallel(int)
    ParallelEncodeAsPieces = parallel_encode_as_pieces = _parallel(str)
    ParallelEncodeAsNumpy = parallel_encode_as_numpy = _parallel("numpy")
    ParallelEncodeAsProto = parallel_encode_as_proto = _parallel("proto")

    DecodeIds = decode_ids = _decode(None)
    DecodePieces = decode_pieces = _decode(None)
    DecodeIdsAsProto = decode_ids_as_proto = _decode("proto")
    DecodePiecesAsProto = decode_pieces_as_proto = _decode("proto")
    DecodeIdsAsSerializedProto = decode_ids_as_serialized_proto = _decode("serialized_proto")
    DecodePiecesAsSerializedProto = decode_pieces_as_serialized_proto = _decode("serialized_proto")
    DecodeIdsAsImmutableProto = decode_ids_as_immutable_proto = _decode("immutable_proto")
    DecodePiecesAsImmutableProto = decode_pieces_as_immutable_proto = _decode("immutable_proto")
