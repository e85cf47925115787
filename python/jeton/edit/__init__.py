"""Edits vocabularies (prune, extend, merge, truncate, rename), and updates models accordingly.

Look here to make a tokenizer smaller or larger, or to change its tokens. Every change returns an
`Edited`: a new tokenizer, and an `IdMap` from the old ids to the new ones. With the map you can
update data, embeddings and checkpoints (`jeton.nn.remap`, `jeton.edit.rewrite_checkpoint`,
`jeton edit --model`).

Example:
    >>> import jeton
    >>> from jeton import edit
    >>> tok = jeton.BPETrainer(258, pattern="gpt4").train(["hello hello help"])
    >>> smaller = edit.truncate(tok, 257)
    >>> smaller.tok.vocab_size, smaller.id_map.apply(tok.encode("h"))
    (257, [71])
"""

from __future__ import annotations

from jeton.edit.checkpoint import rewrite_checkpoint
from jeton.edit.edit_result import Edited
from jeton.edit.extending import extend
from jeton.edit.id_map import IdMap
from jeton.edit.merging import merge
from jeton.edit.ordering import add_special_tokens, reorder, truncate
from jeton.edit.pruning import prune
from jeton.edit.renaming import rename
from jeton.edit.transplanting import Transplanted, transplant
from jeton.edit.words import add_words

__all__ = [
    "Edited",
    "IdMap",
    "Transplanted",
    "add_special_tokens",
    "add_words",
    "extend",
    "merge",
    "prune",
    "rename",
    "reorder",
    "rewrite_checkpoint",
    "transplant",
    "truncate",
]
