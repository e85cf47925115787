"""Data sets of tokens: from a tokenizer and a corpus to what a training loop reads.

`TokenDataset` reads a token set of any layout; its `get_batch` and `loader` give batches. `pack`
lays documents into rows. `layouts` are the file formats, each with a writer and a reader.
"""

from __future__ import annotations

from jeton.data import layouts
from jeton.data.dataset import Batch, TokenDataset
from jeton.data.documents import Documents
from jeton.data.loader import Loader
from jeton.data.packing import IGNORED, PackedRows, Packing, PackingReport, pack

__all__ = [
    "IGNORED",
    "Batch",
    "Documents",
    "Loader",
    "PackedRows",
    "Packing",
    "PackingReport",
    "TokenDataset",
    "layouts",
    "pack",
]
