"""Names that other libraries have for what a tokenizer can do: they say what jeton calls it.

Look here for `AttributeError: Tokenizer has no 'get_vocab' (in jeton: tok.vocab)`. The names are
those of tokenizers, transformers, tiktoken and sentencepiece. They are no part of the interface:
`hasattr` knows nothing of them, and `dir` does not show them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

__all__ = ["IMPORTED_FROM", "IN_JETON", "HidesOtherNames", "knows_other_names"]

_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")

IN_JETON: dict[str, str] = {
    # tokenizers, transformers
    "add_special_tokens": "tok.with_added_tokens(tokens)",
    "add_tokens": "tok.with_added_tokens(tokens)",
    "additional_special_tokens": "list(tok.special_tokens)",
    "all_special_ids": "list(tok.special_tokens.values())",
    "all_special_tokens": "list(tok.special_tokens)",
    "batch_decode": "tok.decode_batch(rows)",
    "batch_encode_plus": "tok.encode_batch(texts)",
    "convert_ids_to_tokens": "[tok.id_to_bytes(id) for id in ids]",
    "convert_tokens_to_ids": "[tok.bytes_to_id(token) for token in tokens]",
    "convert_tokens_to_string": "tok.decode(ids)",
    "enable_padding": "tok.encode_batch(texts).pad(length)",
    "enable_truncation": "tok.encode_batch(texts).pad(length, truncate=True)",
    "encode_batch_fast": "tok.encode_batch(texts)",
    "encode_plus": "tok.encode_with_spans(text)",
    "from_buffer": "jeton.Tokenizer.from_json(text)",
    "from_file": "jeton.load(path)",
    "from_pretrained": "jeton.load(name)",
    "from_str": "jeton.Tokenizer.from_json(text)",
    "get_added_vocab": "tok.added_tokens",
    "get_vocab": "tok.vocab",
    "get_vocab_size": "tok.vocab_size",
    "id_to_token": "tok.id_to_bytes(id)",
    "get_added_tokens_decoder": "tok.added_tokens",
    "prepare_for_model": "tok.encode_batch(texts, add_special_tokens=True)",
    "save_model": "tok.save(path)",
    "save_pretrained": "tok.save(folder)",
    "save_vocabulary": "tok.save(folder)",
    "special_tokens_map": "tok.roles",
    "to_str": "tok.to_json()",
    "token_to_id": "tok.id_of(token)",
    "tokenize": "tok.encode_with_spans(text).tokens",
    "train": "jeton.BPETrainer(...).train(texts)",
    "train_from_iterator": "jeton.BPETrainer(...).train(texts)",
    "train_new_from_iterator": "jeton.BPETrainer(...).train(texts)",
    **{f"{role}_token": f'tok.roles["{role}"]' for role in _ROLES},
    **{f"{role}_token_id": f'tok.role_ids["{role}"]' for role in _ROLES},
    # tiktoken
    "decode_single_token_bytes": "tok.token_bytes(id)",
    "decode_tokens_bytes": "[tok.token_bytes(id) for id in ids]",
    "decode_with_offsets": "tok.encode_with_spans(text).spans",
    "encode_ordinary": "tok.encode(text)",
    "encode_ordinary_batch": "tok.encode_batch(texts)",
    "encode_single_token": "tok.bytes_to_id(token)",
    "encode_to_numpy": "tok.encode_array(text)",
    "encode_with_unstable": "tok.as_tiktoken().encode_with_unstable(text)",
    "eot_token": 'tok.special_tokens["<|endoftext|>"]',
    "max_token_value": "tok.max_id",
    "n_vocab": "tok.max_id + 1",
    "special_tokens_set": "set(tok.special_tokens)",
    "token_byte_values": "sorted(tok.vocab)",
    # minbpe, rustbpe
    "get_mergeable_ranks": "tok.vocab",
    "get_pattern": "tok.pre_tokenizer",
    "register_special_tokens": "tok.with_added_tokens(tokens)",
    # sentencepiece
    "EncodeAsIds": "tok.encode(text)",
    "EncodeAsPieces": "tok.encode_with_spans(text).tokens",
    "DecodeIds": "tok.decode(ids)",
    "GetPieceSize": "tok.vocab_size",
    "GetScore": "tok.scores[id]",
    "IdToPiece": "tok.id_to_bytes(id)",
    "PieceToId": "tok.id_of(token)",
    "bos_id": 'tok.role_ids["bos"]',
    "decode_ids": "tok.decode(ids)",
    "encode_as_ids": "tok.encode(text)",
    "decode_pieces": "tok.as_sentencepiece().decode_pieces(pieces)",
    "encode_as_pieces": "tok.encode_with_spans(text).tokens",
    "eos_id": 'tok.role_ids["eos"]',
    "get_piece_size": "tok.vocab_size",
    "get_score": "tok.scores[id]",
    "id_to_piece": "tok.id_to_bytes(id)",
    "nbest_encode_as_ids": "tok.nbest(text, n)",
    "pad_id": 'tok.role_ids["pad"]',
    "piece_size": "tok.vocab_size",
    "piece_to_id": "tok.id_of(token)",
    "sample_encode_and_score": "tok.as_sentencepiece().sample_encode_and_score(text)",
    "sample_encode_as_ids": "tok.encode(text, alpha=...)",
    "unk_id": 'tok.role_ids["unk"]',
}
"""What each of these names of a tokenizer is in jeton."""

IMPORTED_FROM: dict[str, str] = {
    "AutoTokenizer": "jeton.load(name)",
    "BpeTrainer": "jeton.BPETrainer",
    "ByteLevelBPETokenizer": "jeton.BPETrainer",
    "PreTrainedTokenizerFast": "jeton.load(path)",
    "SentencePieceProcessor": "from jeton.sentencepiece import SentencePieceProcessor",
    "SentencePieceTrainer": "jeton.UnigramTrainer, jeton.BPETrainer and others",
    "encoding_for_model": "from jeton.tiktoken import encoding_for_model",
    "from_pretrained": "jeton.load(name)",
    "get_encoding": "from jeton.tiktoken import get_encoding",
    "list_encoding_names": "from jeton.tiktoken import list_encoding_names",
}
"""What each of these names of a module is in jeton."""


class _Elsewhere:
    """An attribute that is not there, and says what is."""

    __slots__ = ("_here", "_name")

    def __init__(self, name: str, here: str) -> None:
        self._name = name
        self._here = here

    def __get__(self, owner: object, kind: type) -> NoReturn:
        raise AttributeError(f"{kind.__name__} has no {self._name!r} (in jeton: {self._here})")


class HidesOtherNames(type):
    """The class of a class that knows other names: its `dir` is what is there."""

    def __dir__(cls) -> Iterable[str]:
        return [name for name in super().__dir__() if name not in IN_JETON]


def knows_other_names(kind: type) -> None:
    """Makes a class say what it has in place of what is asked for by another library's name.

    Attributes do it, not a `__getattr__`, which would make every call of a method dearer.
    """
    for name, here in IN_JETON.items():
        if not hasattr(kind, name):
            setattr(kind, name, _Elsewhere(name, here))
