"""Trainers: turn text into a tokenizer. Parameters go to the constructor, data to `train`.

There is one file per trainer; `trainer` has the base classes.
"""

from __future__ import annotations

from jeton.training.bpe import BPETrainer
from jeton.training.characters import CharTrainer
from jeton.training.unigram import UnigramTrainer
from jeton.training.word_level import WordLevelTrainer
from jeton.training.wordpiece import WordPieceTrainer

__all__ = ["BPETrainer", "CharTrainer", "UnigramTrainer", "WordLevelTrainer", "WordPieceTrainer"]
