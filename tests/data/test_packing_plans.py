"""Plans of packing by themselves: every token where it belongs; layouts told by their files."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jeton.data import layouts, plans
from jeton.data.layouts.finding import find_layout, layout_of, split_names
from jeton.data.layouts.llmc import begins
from jeton.errors import ArgumentError, MissingFileError

LENGTHS: list[list[int]] = [[], [0], [8], [3, 0, 5, 1, 8, 2, 0], [1] * 20, [7, 7, 7]]
ROW = 8


def drawn(seed: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(0, ROW + 1) for _ in range(60)]


@pytest.mark.parametrize("lengths", [*LENGTHS, *map(drawn, range(5))])
@pytest.mark.parametrize("method", ["concatenate", "best_fit_crop", "bins", "pieces"])
def test_every_token_has_one_place(method: str, lengths: list[int]) -> None:
    sizes = np.array(lengths, np.int64)
    make: Any = getattr(plans, method)
    plan = make(sizes, ROW, 3) if method == "best_fit_crop" else make(sizes, ROW)
    assert plan.rows[0] == 0 and plan.rows[-1] == len(plan.documents)
    filled = [
        int(plan.lengths[first:stop].sum())
        for first, stop in zip(plan.rows[:-1], plan.rows[1:], strict=True)
    ]
    assert all(0 < size <= ROW for size in filled)
    if method not in ("bins", "pieces"):
        # Only the last row may be padded.
        assert all(size == ROW for size in filled[:-1])
    places = [
        (int(document), place)
        for document, start, length in zip(plan.documents, plan.starts, plan.lengths, strict=True)
        for place in range(int(start), int(start + length))
    ]
    assert len(set(places)) == len(places)
    every = {(document, place) for document, size in enumerate(lengths) for place in range(size)}
    if method == "best_fit_crop":
        assert set(places) <= every
        # Every document begins somewhere, and rows begin with documents.
        assert {document for document, place in places if place == 0} == {
            number for number, size in enumerate(lengths) if size
        }
        assert not plan.starts.any()
    else:
        assert set(places) == every


HEADS = [
    (struct.pack("<2i", 20240520, 1), True),
    (struct.pack("<2i", 20240801, 7), True),
    (struct.pack("<2i", 20240520, 7), False),
    (struct.pack("<2i", 20240520, 1)[:7], False),
    (b"", False),
]


@pytest.mark.parametrize("head, is_known", HEADS)
def test_a_header_is_known(head: bytes, is_known: bool) -> None:
    assert begins(head) == is_known


@pytest.mark.parametrize("name", sorted(layouts.LAYOUTS))
def test_a_layout_is_told_by_its_files(tmp_path: Path, name: str) -> None:
    more: dict[str, Any] = {} if name == "nanogpt" else {"shard_tokens": 4}
    for split in ("train", "val"):
        with layouts.create(name, tmp_path, split=split, dtype="uint16", **more) as writer:
            writer.append(np.arange(1, 10), np.array([4, 4, 1]))
            writer.finish()
    kind, files = find_layout(layouts.LAYOUTS, str(tmp_path), "val", None)
    assert kind is layout_of(layouts.LAYOUTS, name)
    assert len(files) == (1 if name == "nanogpt" else 3) and files == sorted(files)
    assert split_names(layouts.LAYOUTS, str(tmp_path), None) == ["train", "val"]
    with pytest.raises(MissingFileError, match="there is no split 'test'; it has train, val"):
        find_layout(layouts.LAYOUTS, str(tmp_path), "test", None)
    # A file by itself, or one that lies beside it.
    for path in (files[0], *(files[0].parent / Path(it).name for it in kind.beside(files[0].name))):
        assert find_layout(layouts.LAYOUTS, str(path), None, None) == (kind, [files[0]])
    with pytest.raises(ArgumentError, match="is a file; name its folder"):
        split_names(layouts.LAYOUTS, str(files[0]), None)
