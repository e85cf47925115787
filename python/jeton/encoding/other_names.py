"""Names of methods in other libraries; using one raises an error with the name in jeton.

Look here for `AttributeError: Tokenizer has no 'get_vocab' (in jeton: tok.vocab)`. The names come
from tokenizers, transformers, tiktoken and sentencepiece. They are not part of the interface:
`hasattr` returns False for them, and `dir` does not show them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

_STAGES = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")

_SENTENCEPIECE = {
    "decode_ids": "tok.decode(ids)",
    "decode_ids_as_proto": "tok.as_sentencepiece().decode_ids_as_proto(ids)",
    "decode_pieces": "tok.as_sentencepiece().decode_pieces(pieces)",
    "decode_pieces_as_proto": "tok.as_sentencepiece().decode_pieces_as_proto(pieces)",
    "detokenize": "tok.decode(ids)",
    "encode_as_ids": "tok.encode(text)",
    "encode_as_numpy": "tok.encode_array(text)",
    "encode_as_offset_mapping": "tok.encode_with_spans(text).spans",
    "encode_as_pieces": "tok.tokens(text)",
    "encode_as_proto": "tok.encode_with_spans(text)",
    "get_piece_size": "tok.vocab_size",
    "get_score": "tok.vocab.scores[id]",
    "id_to_piece": "tok.vocab.spelling(id)",
    "is_byte": "tok.as_sentencepiece().is_byte(id)",
    "is_control": "id in tok.special_tokens.values()",
    "is_unknown": 'id == tok.roles.ids["unk"]',
    "is_unused": "tok.as_sentencepiece().is_unused(id)",
    "load": "jeton.load(path)",
    "load_from_file": "jeton.load(path)",
    "nbest_encode": "tok.nbest(text, n)",
    "nbest_encode_as_ids": "tok.nbest(text, n)",
    "nbest_encode_as_numpy": "tok.nbest(text, n)",
    "nbest_encode_as_pieces": "tok.nbest(text, n)",
    "nbest_encode_as_proto": "tok.nbest(text, n, scores=True)",
    "normalize": "tok.stages.normalizer(text)",
    "parallel_encode": "tok.encode(text)",
    "parallel_encode_as_ids": "tok.encode(text)",
    "parallel_encode_as_numpy": "tok.encode_array(text)",
    "parallel_encode_as_pieces": "tok.tokens(text)",
    "parallel_encode_as_proto": "tok.encode_with_spans(text)",
    "piece_to_id": "tok.vocab.get(token)",
    "sample_encode_as_ids": "tok.encode(text, alpha=...)",
}
"""Methods of a processor. Each has a second name there: `EncodeAsIds` for `encode_as_ids`."""


IN_JETON: dict[str, str] = {
    # tokenizers, transformers
    "SPECIAL_TOKENS_ATTRIBUTES": "list(tok.roles)",
    "add_special_tokens": "tok.with_added_tokens(tokens)",
    "add_tokens": "tok.with_added_tokens(tokens)",
    "added_tokens_decoder": "tok.stages.added_tokens",
    "added_tokens_encoder": "tok.stages.added_tokens",
    "additional_special_tokens": "list(tok.special_tokens)",
    "all_special_ids": "list(tok.special_tokens.values())",
    "all_special_tokens": "list(tok.special_tokens)",
    "apply_chat_template": "tok.chat(messages).ids",
    "backend_tokenizer": "tok.to_json()",
    "batch_decode": "tok.decode_batch(rows)",
    "batch_encode_plus": "tok(texts)",
    "clean_up_tokenization_spaces": "tok.settings.config",
    "convert_ids_to_tokens": "[tok.vocab.spelling(id) for id in ids]",
    "convert_tokens_to_ids": "[tok.vocab[token] for token in tokens]",
    "convert_tokens_to_string": "tok.decode(ids)",
    "enable_padding": "tok(texts, padding=True)",
    "enable_truncation": "tok(texts, truncation=True, max_length=n)",
    "encode_batch_fast": "tok.encode_batch(texts)",
    "encode_message_with_chat_template": "tok.chat(messages).ids",
    "encode_plus": "tok(text)",
    "encode_special_tokens": 'tok.encode(text, special="allow")',
    "extra_special_tokens": "list(tok.special_tokens)",
    "from_buffer": "jeton.Tokenizer.from_json(text)",
    "from_file": "jeton.load(path)",
    "from_pretrained": "jeton.load(name)",
    "from_str": "jeton.Tokenizer.from_json(text)",
    "get_added_tokens_decoder": "tok.stages.added_tokens",
    "get_added_vocab": "tok.stages.added_tokens",
    "chat_template": "tok.settings.chat_template",
    "get_chat_template": "tok.settings.chat_template",
    "get_special_tokens_mask": "[id in tok.special_tokens.values() for id in ids]",
    "get_vocab": "tok.vocab",
    "get_vocab_size": "tok.vocab_size",
    "id_to_token": "tok.vocab.spelling(id)",
    "init_kwargs": "tok.settings.config",
    "max_len_sentences_pair": (
        "tok.settings.model_max_length - tok.stages.post_processor.added(pair=True)"
    ),
    "max_len_single_sentence": "tok.settings.model_max_length - tok.stages.post_processor.added()",
    "model_input_names": "tok.settings.config",
    "model_max_length": "tok.settings.model_max_length",
    "no_padding": "tok(texts)",
    "no_truncation": "tok(texts)",
    "num_special_tokens_to_add": "tok.stages.post_processor.added(pair)",
    "pad": "jeton.TokenBatch.from_rows(rows).pad(pad_id=...)",
    "padding": "tok.settings.padding",
    "prepare_for_model": "tok(texts)",
    "save_model": "tok.save(path)",
    "save_pretrained": "tok.save(folder)",
    "save_vocabulary": "tok.save(folder)",
    "special_tokens_map": "tok.roles",
    "to_str": "tok.to_json()",
    "token_to_id": "tok.vocab.get(token)",
    "tokenize": "tok.tokens(text)",
    "train": "jeton.BPETrainer(...).train(texts)",
    "train_from_iterator": "jeton.BPETrainer(...).train(texts)",
    "train_new_from_iterator": "jeton.BPETrainer(...).train(texts)",
    "truncation": "tok.settings.truncation",
    **{name: f"tok.stages.{name}" for name in _STAGES},
    "post_process": "tok.stages.post_process(encoding)",
    **{f"{role}_token": f'tok.roles["{role}"]' for role in _ROLES},
    **{f"{role}_token_id": f'tok.roles.ids["{role}"]' for role in _ROLES},
    # tiktoken
    "decode_bytes_batch": "[tok.decode_bytes(ids) for ids in rows]",
    "is_special_token": "id in tok.special_tokens.values()",
    "decode_single_token_bytes": "tok.vocab.token_bytes(id)",
    "decode_tokens_bytes": "[tok.vocab.token_bytes(id) for id in ids]",
    "decode_with_offsets": "tok.encode_with_spans(text).spans",
    "encode_ordinary": "tok.encode(text)",
    "encode_ordinary_batch": "tok.encode_batch(texts)",
    "encode_single_token": "tok.vocab[token]",
    "encode_to_numpy": "tok.encode_array(text)",
    "encode_with_unstable": "tok.as_tiktoken().encode_with_unstable(text)",
    "eot_token": 'tok.special_tokens["<|endoftext|>"]',
    "max_token_value": "tok.vocab.max_id",
    "n_vocab": "tok.vocab.max_id + 1",
    "special_tokens_set": "set(tok.special_tokens)",
    "token_byte_values": "sorted(tok.vocab)",
    # minbpe, rustbpe
    "get_mergeable_ranks": "tok.vocab",
    "get_pattern": "tok.stages.pre_tokenizer",
    "register_special_tokens": "tok.with_added_tokens(tokens)",
    # sentencepiece
    **_SENTENCEPIECE,
    **{
        name.title().replace("_", "").replace("Nbest", "NBest"): here
        for name, here in _SENTENCEPIECE.items()
    },
    "Decode": "tok.decode(ids)",
    "Encode": "tok.encode(text)",
    "Tokenize": "tok.encode(text)",
    "bos_id": 'tok.roles.ids["bos"]',
    "eos_id": 'tok.roles.ids["eos"]',
    "pad_id": 'tok.roles.ids["pad"]',
    "piece_size": "tok.vocab_size",
    "sample_encode_and_score": "tok.as_sentencepiece().sample_encode_and_score(text)",
    "serialized_model_proto": 'tok.save("x.model")',
    "unk_id": 'tok.roles.ids["unk"]',
}
"""Methods and attributes of tokenizers in other libraries, and their equivalents in jeton."""

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
"""Names of other libraries' modules, and their equivalents in jeton."""


class KnowsOtherNames(type):
    """The type of tokenizers: a missing attribute of one is an error with the name in jeton."""

    if not TYPE_CHECKING:  # checkers should find missing attributes themselves

        def __getattr__(cls, name: str) -> NoReturn:
            raise no_attribute(cls, f"type object {cls.__name__!r}", name)


def no_attribute(kind: type, owner: str, name: str) -> AttributeError:
    """The error about a missing attribute."""
    if name in IN_JETON:
        return AttributeError(f"{kind.__name__} has no {name!r} (in jeton: {IN_JETON[name]})")
    return AttributeError(f"{owner} has no attribute {name!r}", name=name, obj=kind)
