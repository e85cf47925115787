"""Token sets: from a tokenizer and a corpus to training batches.

`prepare` turns a corpus into a token set, `merge` joins the parts that several machines have
prepared, and `verify` compares a set with its manifest. `TokenDataset` reads a set of any layout;
its `get_batch` and `loader` return batches. `mix` reads several sets in given
shares. `pack` packs documents into sequences of one length.
`stream` encodes texts while a model trains, and writes nothing.
`layouts` are the file formats, each with a writer and a reader. `StorePath` names files of object
stores.
"""

from __future__ import annotations

from jeton.data import layouts
from jeton.data.conversations import Conversations
from jeton.data.dataset import Batch, TokenDataset, Windows
from jeton.data.documents import Documents
from jeton.data.examples import Examples
from jeton.data.loader import Loader
from jeton.data.manifest import Damage, Manifest, verify
from jeton.data.masks import IGNORED, LossMask
from jeton.data.mixed_examples import MixedExamples
from jeton.data.mixing import MixSource, Mixture, PlannedSource, mix
from jeton.data.packing import PackedRows, Packing, PackingReport, pack
from jeton.data.prepare import AUTO, PrepareProgress, merge, prepare
from jeton.data.preparing.filters import Contamination
from jeton.data.streaming import TokenStream, stream
from jeton.stores.urls import StorePath

__all__ = [
    "AUTO",
    "IGNORED",
    "Batch",
    "Contamination",
    "Conversations",
    "Damage",
    "Documents",
    "Examples",
    "Loader",
    "LossMask",
    "Manifest",
    "MixSource",
    "MixedExamples",
    "Mixture",
    "PackedRows",
    "Packing",
    "PackingReport",
    "PlannedSource",
    "PrepareProgress",
    "StorePath",
    "TokenDataset",
    "TokenStream",
    "Windows",
    "layouts",
    "merge",
    "mix",
    "pack",
    "prepare",
    "stream",
    "verify",
]
