"""File formats of token sets, one module each: writing tokens of documents and reading them.

| layout | files of the split `train` | read by |
| --- | --- | --- |
| `jeton` | `train-00000.bin`, `train-00000.ends`, … | jeton, and anything that maps a flat file |
| `nanogpt` | `train.bin` | nanoGPT |
| `llm.c` | `train_000000.bin`, … | llm.c, modded-nanogpt |
| `megatron` | `train.bin`, `train.idx`; or `train-00000.bin`, … | Megatron-LM, NeMo |
| `datatrove` | `train/00000.ds`, `.ds.index`, `.ds.metadata`, … | datatrove, nanotron |
| `parquet` | `train-00000.parquet`, … | datasets, polars, pandas, DuckDB |
| `olmo` | `train-00000.npy`, `train-00000.csv.gz`, … | OLMo-core, and what reads sets of dolma |
| `npy` | `train_000000.npy`, … | numpy; build-nanogpt |
| `mds` | `train/shard.00000.mds`, …, `train/index.json` | mosaicml-streaming, Composer |
| `litdata` | `train/chunk-0-0.bin`, …, `train/index.json` | litdata, LitGPT |

**Writing.** `create(layout, folder, ...)` returns a `Writer` for one split. Its calls are the same
for every layout:

- `append(tokens, lengths)` appends the tokens of any number of documents as one flat array, with
  the number of tokens of each. The files do not depend on how documents are split into calls. With
  `create(..., masks=True)` there is also a `mask`: for each token whether it is learnt.
- `checkpoint()` brings everything so far to the disk, and returns a state to keep as JSON.
  `create(..., state=state)` resumes exactly there, whatever happened afterwards, and
  `writer.documents` is the number of documents already written. A first checkpoint, before any
  append, makes even the start resumable.
- `finish()` also gives the last shard its name, and returns all shards.
- `close()` closes the files without finishing; a `with` block does so.

A shard holds whole documents and at most `shard_tokens` tokens, or a single longer document. Until
it is complete its name begins with a dot and ends in `.part`; then its files get their own names,
the main file last.

One more layout can be read but not written: `datasets`, the files of `save_to_disk` of that
library.

**Reading.** `read(path)` detects the layout and returns one `Shard` per file: its `tokens`, mapped
into memory, the `ends` of its documents, and a loss `mask` if there is one.

Example:
    >>> import numpy as np, tempfile
    >>> from jeton.data import layouts
    >>> folder = tempfile.mkdtemp()
    >>> with layouts.create("jeton", folder, dtype=layouts.dtype_for(50_256)) as writer:
    ...     writer.append(np.array([7, 8, 50_256, 9, 50_256]), np.array([3, 2]))
    ...     files = writer.finish()
    >>> files
    [WrittenShard(files=('train-00000.bin', 'train-00000.ends'), tokens=5, documents=2)]
    >>> [shard] = layouts.read(folder)
    >>> shard.tokens.dtype.name, shard.tokens[3:5].tolist(), shard.ends.tolist()
    ('uint16', [9, 50256], [3, 5])
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from jeton.arguments import check_text, checked_path
from jeton.corpora.token_blocks.ids import dtype_for
from jeton.data.layouts import (
    datatrove,
    jeton_layout,
    litdata,
    llmc,
    mds,
    megatron,
    nanogpt,
    npy,
    olmo,
    parquet,
    saved_datasets,
)
from jeton.data.layouts.checks import checked_dtype
from jeton.data.layouts.finding import find_layout, layout_of, split_names
from jeton.data.layouts.shard import Shard, Tokens
from jeton.data.layouts.writer import Writer, WrittenShard
from jeton.stores.folders import local_copy

__all__ = [
    "LAYOUTS",
    "Layout",
    "Shard",
    "Tokens",
    "Writer",
    "WrittenShard",
    "create",
    "dtype_for",
    "read",
    "splits",
]

Layout = Literal[
    "jeton", "nanogpt", "llm.c", "megatron", "datatrove", "parquet", "olmo", "npy", "mds", "litdata"
]

LAYOUTS = {
    "jeton": jeton_layout.OwnLayout(),
    "nanogpt": nanogpt.NanoGPTLayout(),
    "llm.c": llmc.LlmcLayout(),
    "megatron": megatron.MegatronLayout(),
    "datatrove": datatrove.DatatroveLayout(),
    "parquet": parquet.ParquetLayout(),
    "olmo": olmo.OlmoLayout(),
    "npy": npy.NpyLayout(),
    "mds": mds.MdsLayout(),
    "litdata": litdata.LitdataLayout(),
}
"""The layouts by name."""

_READ = {**LAYOUTS, "datasets": saved_datasets.SavedDatasetLayout()}
"""The layouts that can be read, including one that cannot be written."""


def create(
    layout: str,
    folder: str | os.PathLike[str],
    *,
    split: str = "train",
    dtype: str,
    shard_tokens: int | None = None,
    tokenizer: str = "",
    masks: bool = False,
    state: Mapping[str, Any] | None = None,
) -> Writer:
    """A writer of one split.

    Args:
        layout: A name of `LAYOUTS`.
        folder: The folder for the files; it is created if it does not exist.
        split: The start of the file names, usually `train` or `val`.
        dtype: `"uint16"` or `"uint32"`: see `dtype_for`.
        shard_tokens: The maximum number of tokens of a shard; by default the layout's maximum, or
            10⁸ for layouts with many shards. `nanogpt` has a single shard.
        tokenizer: The name of the tokenizer, for layouts that record it (`datatrove`).
        masks: Whether there is a loss mask: then `append` takes a `mask`. `jeton`, `datatrove`,
            `parquet` and `olmo` can hold one.
        state: A state of `checkpoint`, to resume from. The other arguments must be the same.

    Raises:
        ArgumentError: A value is not valid, the state is of other arguments, or the layout cannot
            hold masks.
        FileError: Files of the split exist already and there is no `state`, the folder cannot be
            written to, or a file of the state is missing.
    """
    return Writer(
        layout_of(LAYOUTS, layout),
        checked_path("folder", folder),
        split=split,
        dtype=dtype,
        shard_tokens=shard_tokens,
        tokenizer=tokenizer,
        masks=masks,
        state=state,
    )


def read(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    layout: str | None = None,
    dtype: str | None = None,
    column: str | None = None,
) -> list[Shard]:
    """The shards of a split in order.

    Args:
        path: A folder, one file of a set, or Megatron's name of two files without their ending; or
            the URL of a folder, which is copied to this machine.
        split: Which split of a folder; by default the only one, or `train`. `train` also finds a
            name such as `fineweb_train`.
        layout: By default detected from the files. A `.bin` file without others beside it is flat.
        dtype: `"uint16"` or `"uint32"`, if the files do not say (`nanogpt`).
        column: The column of a table that holds the ids; by default `input_ids`, or the only
            possible one.

    Raises:
        MissingFileError: The path or the split does not exist.
        FormatError: A file is truncated or damaged, or is not what its name says.
        ArgumentError: There are files of several layouts, or a flat file has no `dtype`.
    """
    if dtype is not None:
        checked_dtype(dtype)
    kind, chosen_files = find_layout(_READ, _local(path), split, layout)
    if column is not None:
        kind = kind.of_column(check_text("column", column))
    return [kind.open(file, dtype) for file in chosen_files]


def _local(path: str | os.PathLike[str]) -> str:
    return os.fspath(local_copy(checked_path("path", path, urls=True)))


def splits(path: str | os.PathLike[str], *, layout: str | None = None) -> list[str]:
    """The names of the splits in a folder, sorted."""
    return split_names(_READ, _local(path), layout)
