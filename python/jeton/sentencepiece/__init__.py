"""The interface of the sentencepiece library, on top of jeton: change one import line to use it.

    from jeton.sentencepiece import SentencePieceProcessor, SentencePieceTrainer

Names, arguments and results are those of sentencepiece 0.2.3, and of 0.2.1 if the later version
dropped them (samples with scores, entropy, restricted vocabularies, extra options). Positional
arguments are in the order of 0.2.1 and before, `encode(text, str)`, as in most code; keyword
arguments are those of both versions. The library itself is not needed. Only the module
`jeton.sentencepiece.sentencepiece_model_pb2` needs protobuf. `SentencePieceTrainer` maps
sentencepiece's options to `jeton.UnigramTrainer` and `jeton.BPETrainer(alphabet="sentencepiece")`.

For code that cannot be changed, replace sentencepiece's modules before it imports them:
`sys.modules["sentencepiece"] = jeton.sentencepiece`, and likewise for its modules
`sentencepiece_pb2` and `sentencepiece_model_pb2`.

Example:
    >>> import jeton, os, tempfile
    >>> from jeton.sentencepiece import SentencePieceProcessor
    >>> tok = jeton.UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tokenizer.model")
    ...     tok.save(path)
    ...     sp = SentencePieceProcessor(model_file=path)
    >>> sp.encode("lowest newer", out_type=str)
    ['▁lowest', '▁new', 'e', 'r']
    >>> sp.decode(sp.encode("lowest newer"))
    'lowest newer'
"""

from __future__ import annotations

from jeton.interop.sentencepiece import (
    NBestSentencePieceText,
    SentencePiece,
    SentencePieceNormalizer,
    SentencePieceProcessor,
    SentencePieceText,
    set_random_generator_seed,
)
from jeton.sentencepiece.training import SentencePieceTrainer
from jeton.sentencepiece.without_effect import ThreadPool, set_min_log_level, set_nbest_timeout

__all__ = [
    "ImmutableNBestSentencePieceText",
    "ImmutableSentencePieceText",
    "NBestSentencePieceText",
    "SentencePiece",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceText",
    "SentencePieceTrainer",
    "SetMinLogLevel",
    "SetNBestTimeout",
    "SetRandomGeneratorSeed",
    "ThreadPool",
    "__version__",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
]

__version__ = "0.2.3"
"""The version of sentencepiece whose interface this is."""

SetMinLogLevel, SetNBestTimeout = set_min_log_level, set_nbest_timeout
SetRandomGeneratorSeed = set_random_generator_seed
ImmutableSentencePieceText = SentencePieceText
ImmutableNBestSentencePieceText = NBestSentencePieceText
