"""The reading interface of the sentencepiece library, spoken by jeton: one import line changes.

    from jeton.sentencepiece import SentencePieceProcessor

Names, arguments and results are those of sentencepiece 0.2.3, and of 0.2.1 where the later one
dropped them (samples with scores, entropy, restricted vocabularies, extra options). Arguments by
place are in the order of 0.2.1 and before, `encode(text, str)`, as most code has them; by name they
are those of both. The library itself is not needed, nor is protobuf. To train, see
`jeton.UnigramTrainer` and `jeton.BPETrainer(alphabet="sentencepiece")`.

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

from jeton.interfaces.sentencepiece import (
    NBestSentencePieceText,
    SentencePiece,
    SentencePieceProcessor,
    SentencePieceText,
    set_random_generator_seed,
)

__all__ = [
    "ImmutableNBestSentencePieceText",
    "ImmutableSentencePieceText",
    "NBestSentencePieceText",
    "SentencePiece",
    "SentencePieceProcessor",
    "SentencePieceText",
    "SetRandomGeneratorSeed",
    "set_random_generator_seed",
]

SetRandomGeneratorSeed = set_random_generator_seed
ImmutableSentencePieceText = SentencePieceText
ImmutableNBestSentencePieceText = NBestSentencePieceText
