"""Tokenizers: everything between raw text and the tensors that enter a language model.

Example:
    >>> import jeton
    >>> tok = jeton.CharTrainer().train("to be or not to be")
    >>> tok.encode("robot")
    [5, 4, 1, 4, 6]
    >>> tok.decode([5, 4, 1, 4, 6])
    'robot'
"""

from jeton import components, errors
from jeton._core import __version__
from jeton.components import AddedToken
from jeton.encoding import Encoding, PaddedBatch, TokenBatch
from jeton.errors import JetonError
from jeton.loading import load
from jeton.tokenizer import Tokenizer
from jeton.trainers import BPETrainer, CharTrainer, WordPieceTrainer
from jeton.word_counts import WordCounts

__all__ = [
    "AddedToken",
    "BPETrainer",
    "CharTrainer",
    "Encoding",
    "JetonError",
    "PaddedBatch",
    "TokenBatch",
    "Tokenizer",
    "WordCounts",
    "WordPieceTrainer",
    "__version__",
    "components",
    "errors",
    "load",
]
