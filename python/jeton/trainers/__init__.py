"""Trainers: from text to a tokenizer. Parameters go to the constructor, data to `train`.

One file a trainer; `trainer` holds what those that train from words share.
"""

from __future__ import annotations

from jeton.trainers.bpe import BPETrainer
from jeton.trainers.characters import CharTrainer
from jeton.trainers.unigram import UnigramTrainer
from jeton.trainers.word_level import WordLevelTrainer
from jeton.trainers.wordpiece import WordPieceTrainer

__all__ = ["BPETrainer", "CharTrainer", "UnigramTrainer", "WordLevelTrainer", "WordPieceTrainer"]
