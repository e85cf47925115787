"""Maps of ids: applied, turned round, joined, saved, and damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies

from edit_families import FAMILIES, some_lines
from jeton import TokenBatch, edit
from jeton.edit import IdMap
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    MissingFileError,
    UnknownTokenError,
)


@given(strategies.permutations(range(12)), strategies.integers(0, 12))
def test_there_and_back(order: list[int], kept: int) -> None:
    moved = tuple(new if new < kept else -1 for new in order)
    id_map = IdMap(moved, max(kept, 1), {})
    ids = [old for old, new in enumerate(moved) if new != -1]
    assert id_map.inverse.apply(id_map.apply(ids)) == ids
    assert id_map.apply(np.array(ids, np.uint16)).dtype == np.uint16


def test_ids_that_are_gone() -> None:
    id_map = IdMap((0, -1, 1), 2, {})
    with pytest.raises(UnknownTokenError, match="the token of id 1 was removed"):
        id_map.apply([0, 1])
    assert id_map.apply([0, 1, 2], missing="drop") == [0, 1]
    assert id_map.apply([0, 1, 2], missing=0) == [0, 0, 1]
    batch = id_map.apply(TokenBatch.from_rows([[0, 2], [], [2]]))
    assert batch.tolist() == [[0, 1], [], [1]]


def test_arrays_keep_their_shape() -> None:
    id_map = IdMap((0, -1, 1), 2, {})
    rows = np.array([[0, 1], [2, 0]])
    assert id_map.apply(rows, missing=0).tolist() == [[0, 0], [1, 0]]
    with pytest.raises(ArgumentError, match=r"missing='drop' .* shape \(2, 2\)"):
        id_map.apply(rows, missing="drop")


def test_equal_maps_have_equal_hashes() -> None:
    one, same = (IdMap((0, -1, 1), 3, {2: (0,)}) for _ in range(2))
    assert len({one, same, IdMap((0, 1), 2, {})}) == 2


def test_two_changes_as_one() -> None:
    tok = FAMILIES["bpe"](1)
    first = edit.prune(tok, corpus=some_lines(1, 8))
    second = edit.add_special_tokens(first.tok, ["<|new|>"])
    both = first.id_map.then(second.id_map)
    text = some_lines(1, 8)[0]
    assert both.apply(tok.encode(text)) == second.tok.encode(text)
    assert both.made_of.keys() == second.id_map.made_of.keys()
    with pytest.raises(ArgumentError, match="do not follow"):
        second.id_map.then(first.id_map)


def test_saved_and_loaded(tmp_path: Path) -> None:
    edited = edit.prune(FAMILIES["wordpiece"](0), corpus=some_lines(0, 5))
    edited.id_map.save(tmp_path / "map.json")
    assert IdMap.load(tmp_path / "map.json") == edited.id_map
    assert [path.name for path in tmp_path.iterdir()] == ["map.json"]


DAMAGE: dict[str, Any] = {
    "no JSON": "{",
    "a list": "[]",
    "another format": json.dumps({"format": "x", "version": 1}),
    "no ids": json.dumps({"format": "jeton id map", "version": 1}),
    "two to one": json.dumps(
        {
            "format": "jeton id map",
            "version": 1,
            "old": {"size": 2, "digest": ""},
            "new": {"size": 1, "digest": ""},
            "moved": [0, 0],
            "made_of": {},
        }
    ),
    "cut": json.dumps(
        {
            "format": "jeton id map",
            "version": 1,
            "old": {"size": 9, "digest": ""},
            "new": {"size": 1, "digest": ""},
            "moved": [0, -1],
            "made_of": {},
        }
    ),
}


def saved(made_of: Any) -> str:
    return json.dumps(
        {
            "format": "jeton id map",
            "version": 1,
            "old": {"size": 1, "digest": ""},
            "new": {"size": 2, "digest": ""},
            "moved": [0],
            "made_of": made_of,
        }
    )


DAMAGE |= {
    "no id": saved({"x": [0]}),
    "no ids of parts": saved({"1": ["x"]}),
    "deep": "[" * 100_000,
    "a vast size": saved({}).replace('"size": 2', '"size": 4000000000'),
    "a size of many digits": saved({}).replace('"size": 2', '"size": 1' + "0" * 4000),
    "a size of too many digits": saved({}).replace('"size": 2', '"size": 1' + "0" * 5000),
    "an id of many digits": saved({"1" + "0" * 4000: [0]}),
    "a part of many digits": saved({"1": [10**4000]}),
    "a size that is no number": saved({}).replace('"size": 2', '"size": 1e999'),
    "an id that is no number": saved({}).replace("[0]", "[1e999]"),
    "a lone surrogate": saved({"\ud800": [0]}),
}


@pytest.mark.parametrize("content", DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "map.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=r"map\.json"):
        IdMap.load(path)


def test_bad_input(tmp_path: Path) -> None:
    id_map = IdMap((0, 1), 2, {})
    with pytest.raises(MissingFileError):
        IdMap.load(tmp_path / "none.json")
    with pytest.raises(UnknownTokenError, match="id 2"):
        id_map.apply([2])
    with pytest.raises(ArgumentError, match="each of ids"):
        id_map.apply([-1])
    with pytest.raises(ArgumentTypeError):
        id_map.apply("ab")
    with pytest.raises(ArgumentTypeError, match="timedelta"):
        id_map.apply(np.array([1], "m8[s]"))
    with pytest.raises(ArgumentTypeError, match="float"):
        id_map.apply(np.zeros(2))
    with pytest.raises(ArgumentError, match="missing=7"):
        id_map.apply([0], missing=7)
    with pytest.raises(ArgumentError, match="two tokens have the same"):
        IdMap((0, 0), 1, {})
    with pytest.raises(ArgumentError, match="does not fit uint8"):
        IdMap((300, -1), 301, {}).apply(np.zeros(1, np.uint8))
