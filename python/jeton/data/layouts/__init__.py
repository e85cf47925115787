"""File formats of token sets, one module each: how tokens of documents are written and read back.

| layout | files of the split `train` | read by |
| --- | --- | --- |
| `jeton` | `train-00000.bin`, `train-00000.ends`, … | jeton, and whatever maps a flat file |
| `nanogpt` | `train.bin` | nanoGPT |
| `llm.c` | `train_000000.bin`, … | llm.c, modded-nanogpt |
| `megatron` | `train.bin`, `train.idx`; or `train-00000.bin`, … | Megatron-LM, NeMo |
| `datatrove` | `train/00000.ds`, `.ds.index`, `.ds.metadata`, … | datatrove, nanotron |
| `parquet` | `train-00000.parquet`, … | datasets, polars, pandas, DuckDB |

**Writing.** `create(layout, folder, ...)` gives a `Writer` of one split; each of its calls is for
any layout the same:

- `append(tokens, lengths)`: the tokens of any number of documents in one flat array, and how many
  each document has. How documents are spread over calls never shows in the files. With
  `create(..., masks=True)` also a `mask`, which says of each token whether it is to be learnt.
- `checkpoint()`: everything appended so far is on the disk; gives a state to keep as JSON.
  `create(..., state=state)` goes on exactly there, whatever happened after, and `writer.documents`
  says how many documents are already written. A first checkpoint, before anything is appended,
  makes even the very start something to go back to.
- `finish()`: the last shard gets its name too; gives all shards.
- `close()`: lets go of the files without finishing; a `with` block does so.

A shard holds whole documents and at most `shard_tokens` tokens, or a single document that is
longer. It grows under a name that begins with a dot and ends in `.part`, and gets its own name when
it is whole, its main file last.

Two more are read and not written: `datasets`, what `save_to_disk` of that library writes, and
`npy`, arrays of numpy.

**Reading.** `read(path)` tells the layout and gives one `Shard` a file: its `tokens`, mapped into
memory, the `ends` of its documents, and a loss `mask` if there is one.

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
    llmc,
    megatron,
    nanogpt,
    npy,
    parquet,
    saved_datasets,
)
from jeton.data.layouts.checks import checked_dtype
from jeton.data.layouts.finding import find_layout, layout_of
from jeton.data.layouts.shard import Shard, Tokens
from jeton.data.layouts.writer import Writer, WrittenShard

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

Layout = Literal["jeton", "nanogpt", "llm.c", "megatron", "datatrove", "parquet"]

LAYOUTS = {
    "jeton": jeton_layout.OwnLayout(),
    "nanogpt": nanogpt.NanoGPTLayout(),
    "llm.c": llmc.LlmcLayout(),
    "megatron": megatron.MegatronLayout(),
    "datatrove": datatrove.DatatroveLayout(),
    "parquet": parquet.ParquetLayout(),
}
"""The layouts by name."""

_READ_ONLY = {"datasets": saved_datasets.SavedDatasetLayout(), "npy": npy.NpyLayout()}
_READ = {**LAYOUTS, **_READ_ONLY}
"""Those that can be read, of which two are not written."""


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
        folder: Where the files go; it is made if it is not there.
        split: What the names of the files begin with, `train` or `val` as a rule.
        dtype: `"uint16"` or `"uint32"`: see `dtype_for`.
        shard_tokens: The most tokens of a shard; by default as many as the layout takes, or 10⁸
            where it is made for many shards. `nanogpt` knows one shard only.
        tokenizer: What the tokenizer is called, for layouts that note it down (`datatrove`).
        masks: Whether each token is marked as one to be learnt or not: `append` takes a `mask`
            then. `jeton`, `datatrove` and `parquet` have room for that.
        state: What `checkpoint` gave, to go on from there. The other arguments must be the same.

    Raises:
        ArgumentError: A value that makes no sense, or a state of other arguments; a layout that
            has no room for masks.
        FileError: Files of the split are there already and no `state` is given; the folder cannot
            be written to; what the state speaks of is not there.
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
    """The shards of a split in their order.

    Args:
        path: A folder, one file of a set, or Megatron's name of two files without their ending.
        split: Which split of a folder; by default the only one, or `train`. A name as
            `fineweb_train` is found by its end, too.
        layout: By default told by the files. A `.bin` file without anything beside it is flat.
        dtype: `"uint16"` or `"uint32"`, where the files do not say (`nanogpt`).
        column: The column of a table that holds the ids; by default `input_ids`, or the only one
            that can.

    Raises:
        MissingFileError: There is no such path, or no such split.
        FormatError: A file is cut short or damaged, or is not what its name says.
        ArgumentError: Files of several layouts, or a flat file without a `dtype`.
    """
    if dtype is not None:
        checked_dtype(dtype)
    kind, chosen_files = find_layout(_READ, checked_path("path", path), split, layout)
    if column is not None:
        kind = kind.of_column(check_text("column", column))
    return [kind.open(file, dtype) for file in chosen_files]


def splits(path: str | os.PathLike[str], *, layout: str | None = None) -> list[str]:
    """The names of the splits in a folder, sorted."""
    from jeton.data.layouts.finding import split_names

    return split_names(_READ, checked_path("path", path), layout)
