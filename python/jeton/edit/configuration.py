"""Ids in the configuration of a model: which keys hold them, and what becomes of them.

Look here when an id in `config.json` or `generation_config.json` is not put right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jeton.edit.id_map import IdMap

__all__ = ["moved", "rows_of", "with_rows"]

_ONE_ID = ("_token_id", "_token_ids", "_token_index")
"""How the keys of configurations end whose values are ids."""

_SEVERAL_IDS = {"bad_words_ids", "begin_suppress_tokens", "force_words_ids", "suppress_tokens"}

_PLACED_IDS = {"forced_decoder_ids"}
"""Keys whose values are pairs of a place and an id."""


def moved(values: Any, id_map: IdMap, key: str = "") -> Any:
    """A configuration with its ids moved; an id whose token is gone becomes null."""
    if isinstance(values, Mapping):
        return {name: moved(value, id_map, name) for name, value in values.items()}
    is_id = key.endswith(_ONE_ID) or key in _SEVERAL_IDS
    if isinstance(values, list):
        if key in _PLACED_IDS:
            pairs = [(at, moved(id, id_map, "_token_id")) for at, id in values]
            return [[at, id] for at, id in pairs if id is not None]
        items = [moved(value, id_map, key) for value in values]
        return [item for item in items if item is not None] if is_id else items
    if is_id and isinstance(values, int) and not isinstance(values, bool):
        if not 0 <= values < id_map.old_size:
            return values  # such as -1 or a row of padding, which stand for no token
        new = id_map.moved[values]
        return None if new == -1 else new
    return values


def rows_of(config: Mapping[str, Any]) -> Any:
    """What a configuration says of the number of rows, if it does."""
    if "vocab_size" in config:
        return config["vocab_size"]
    inner = config.get("text_config")
    return inner.get("vocab_size") if isinstance(inner, Mapping) else None


def with_rows(config: dict[str, Any], rows: int) -> dict[str, Any]:
    """The configuration of a model with another number of rows."""
    changed = {
        key: with_rows(value, rows) if key == "text_config" and isinstance(value, dict) else value
        for key, value in config.items()
    }
    return {**changed, "vocab_size": rows} if "vocab_size" in changed else changed
