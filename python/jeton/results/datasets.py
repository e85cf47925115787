"""Columns of results as data sets of Hugging Face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jeton.errors import UnsupportedError


def dataset_of(columns: Mapping[str, Any]) -> Any:
    """A `datasets.Dataset` of columns: each a list array of Arrow, or arrays of whole numbers."""
    try:
        import pyarrow
        from datasets import Dataset
        from datasets.table import InMemoryTable
    except ImportError:
        raise UnsupportedError("to_datasets needs datasets (pip install datasets)") from None
    import numpy as np

    arrays = {}
    for name, column in columns.items():
        if hasattr(column, "__arrow_c_array__"):
            arrays[name] = pyarrow.array(column)
            continue
        ends = np.cumsum([0, *map(len, column)], dtype=np.int64)
        is_large = ends[-1] > np.iinfo(np.int32).max
        lists = pyarrow.LargeListArray if is_large else pyarrow.ListArray
        offsets = ends if is_large else ends.astype(np.int32)
        arrays[name] = lists.from_arrays(offsets, np.concatenate(column))
    return Dataset(InMemoryTable(pyarrow.table(arrays)))
