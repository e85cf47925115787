"""Data sets of tokens: from a tokenizer and a corpus to what a training loop reads.

`prepare` makes a token set of a corpus, `merge` puts together what several machines have prepared,
and `verify` holds a set against its manifest. `TokenDataset` reads a set of any layout; its
`get_batch` and `loader` give batches. `pack` lays documents into rows. `layouts` are the file
formats, each with a writer and a reader.
"""

from __future__ import annotations

from jeton.data import layouts
from jeton.data.conversations import Conversations
from jeton.data.dataset import Batch, TokenDataset
from jeton.data.documents import Documents
from jeton.data.loader import Loader
from jeton.data.manifest import Damage, Manifest, verify
from jeton.data.masks import IGNORED, LossMask
from jeton.data.packing import PackedRows, Packing, PackingReport, pack
from jeton.data.prepare import AUTO, PrepareProgress, merge, prepare

__all__ = [
    "AUTO",
    "IGNORED",
    "Batch",
    "Conversations",
    "Damage",
    "Documents",
    "Loader",
    "LossMask",
    "Manifest",
    "PackedRows",
    "Packing",
    "PackingReport",
    "PrepareProgress",
    "TokenDataset",
    "layouts",
    "merge",
    "pack",
    "prepare",
    "verify",
]
