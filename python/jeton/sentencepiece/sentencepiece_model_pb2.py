"""The messages of a `.model` file, as protobuf has them, which must be installed.

Code that reads such files piece by piece, such as transformers, imports this module. The messages
have sentencepiece's names and fields, but are registered nowhere, so that they do not clash with
those of sentencepiece or of other copies in the same process.

Example:
    >>> from jeton import UnigramTrainer
    >>> from jeton.sentencepiece.sentencepiece_model_pb2 import ModelProto
    >>> tok = UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
    >>> model = ModelProto.FromString(tok.as_sentencepiece().serialized_model_proto())
    >>> [piece.piece for piece in model.pieces[:3]], model.trainer_spec.model_type
    (['<unk>', '<s>', '</s>'], 1)
"""

from __future__ import annotations

from typing import Final

from jeton.interop.sentencepiece.protobuf_messages import message_classes

_FIELDS: Final = {
    "TrainerSpec": """
        1 input string*
        2 model_prefix string
        3 model_type .TrainerSpec.ModelType UNIGRAM
        4 vocab_size int32 8000
        5 accept_language string*
        6 self_test_sample_size int32 0
        7 input_format string
        10 character_coverage float 0.9995
        11 input_sentence_size uint64 0
        12 mining_sentence_size int32
        13 training_sentence_size int32
        14 seed_sentencepiece_size int32 1000000
        15 shrinking_factor float 0.75
        16 num_threads int32 16
        17 num_sub_iterations int32 2
        18 max_sentence_length int32 4192
        19 shuffle_input_sentence bool true
        20 max_sentencepiece_length int32 16
        21 split_by_unicode_script bool true
        22 split_by_whitespace bool true
        23 split_by_number bool true
        24 treat_whitespace_as_suffix bool false
        25 split_digits bool false
        26 allow_whitespace_only_pieces bool false
        30 control_symbols string*
        31 user_defined_symbols string*
        32 vocabulary_output_piece_score bool true
        33 hard_vocab_limit bool true
        34 use_all_vocab bool false
        35 byte_fallback bool false
        36 required_chars string
        40 unk_id int32 0
        41 bos_id int32 1
        42 eos_id int32 2
        43 pad_id int32 -1
        44 unk_surface string \u2047
        45 unk_piece string <unk>
        46 bos_piece string <s>
        47 eos_piece string </s>
        48 pad_piece string <pad>
        49 train_extremely_large_corpus bool false
        50 enable_differential_privacy bool false
        51 differential_privacy_noise_level float 0
        52 differential_privacy_clipping_threshold uint64 0
        53 pretokenization_delimiter string
        54 seed_sentencepieces_file string
        55 auto_character_coverage bool false
    """,
    "NormalizerSpec": """
        1 name string
        2 precompiled_charsmap bytes
        3 add_dummy_prefix bool true
        4 remove_extra_whitespaces bool true
        5 escape_whitespaces bool true
        6 normalization_rule_tsv string
    """,
    "SelfTestData.Sample": """
        1 input string
        2 expected string
    """,
    "SelfTestData": """
        1 samples .SelfTestData.Sample*
    """,
    "ModelProto.SentencePiece": """
        1 piece string
        2 score float
        3 type .ModelProto.SentencePiece.Type NORMAL
    """,
    "ModelProto": """
        1 pieces .ModelProto.SentencePiece*
        2 trainer_spec .TrainerSpec
        3 normalizer_spec .NormalizerSpec
        4 self_test_data .SelfTestData
        5 denormalizer_spec .NormalizerSpec
    """,
}

_ENUMERATIONS: Final = {
    "TrainerSpec.ModelType": {"UNIGRAM": 1, "BPE": 2, "WORD": 3, "CHAR": 4},
    "ModelProto.SentencePiece.Type": {
        "NORMAL": 1,
        "UNKNOWN": 2,
        "CONTROL": 3,
        "USER_DEFINED": 4,
        "UNUSED": 5,
        "BYTE": 6,
    },
}

_classes = message_classes(
    __name__, "sentencepiece_model.proto", _FIELDS, _ENUMERATIONS, closed=("SelfTestData.Sample",)
)
TrainerSpec = _classes["TrainerSpec"]
NormalizerSpec = _classes["NormalizerSpec"]
SelfTestData = _classes["SelfTestData"]
ModelProto = _classes["ModelProto"]
DESCRIPTOR = ModelProto.DESCRIPTOR.file
