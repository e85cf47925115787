"""Updates the ids in the configuration of a model.

Look here if an id in `config.json` or `generation_config.json` is not updated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jeton.edit.id_map import IdMap
from jeton.errors import FormatError

_ONE_ID = ("_token_id", "_token_ids", "_token_index")
"""Endings of the keys whose values are ids."""

_ALSO_IDS = {
    "begin_suppress_tokens",
    "bos_index",
    "eos_index",
    "mask_index",
    "pad_index",
    "suppress_tokens",
    "unk_index",
}

_SEQUENCES = {"bad_words_ids", "force_words_ids"}
"""Keys whose values are lists of ids that only have a meaning together."""

_IDS_BY_NAME = {"lang_to_id", "task_to_id"}
"""Keys whose values map texts of tokens to ids, in Whisper's configuration."""


def with_new_ids(values: object, id_map: IdMap) -> Any:
    """A configuration with the new ids.

    The id of a removed token becomes null, or is removed from its list. The same holds for an id
    beyond those of the old tokenizer, from a row of padding, because a new token may have it now. A
    sequence is removed as a whole. Numbers below 0 are no tokens, and are kept.
    """
    return _new_value(values, id_map, "")


def _new_value(values: object, id_map: IdMap, key: str) -> Any:
    if key in _SEQUENCES:
        return _sequence(values, id_map, key)
    if key == "forced_decoder_ids" and values is not None:
        return _pairs(values, id_map, key, id_at=1)
    if key == "sequence_bias" and values is not None:
        return _pairs(values, id_map, key, id_at=0)
    if isinstance(values, Mapping):
        if key in _IDS_BY_NAME:
            new_ids = {name: _new_id(id, id_map) for name, id in values.items()}
            return {name: id for name, id in new_ids.items() if id is not None}
        return {name: _new_value(value, id_map, name) for name, value in values.items()}
    is_id = _is_id(key)
    if isinstance(values, list):
        items = [_new_value(value, id_map, key) for value in values]
        if not is_id:
            return items
        rest = [item for item in items if item is not None]
        return None if items and not rest and key.endswith(_ONE_ID) else rest
    return _new_id(values, id_map) if is_id else values


def _is_id(key: str) -> bool:
    return key.endswith(_ONE_ID) or key in _ALSO_IDS


def _new_id(id: object, id_map: IdMap) -> object:
    """The new id; `None` if the token was removed. A value that is not an id is unchanged."""
    if isinstance(id, bool) or not isinstance(id, int) or id < 0:
        return id
    new = id_map.moved[id] if id < id_map.old_size else -1
    return None if new == -1 else new


def _sequence(values: object, id_map: IdMap, key: str) -> Any:
    """Lists of ids, or lists of such lists, without those that have the id of a removed token."""
    if not isinstance(values, list):
        if values is None:
            return None
        raise FormatError(f"{key} must hold lists of ids, not {values!r:.60}")
    if all(isinstance(id, int) for id in values):
        new_ids = [_new_id(id, id_map) for id in values]
        return None if None in new_ids else new_ids
    inner = [_sequence(value, id_map, key) for value in values]
    return [value for value in inner if value is not None] or None


def _pairs(values: object, id_map: IdMap, key: str, *, id_at: int) -> Any:
    """Pairs with an id, or with a list of ids, at `id_at`, without those of removed tokens."""
    if not isinstance(values, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in values
    ):
        raise FormatError(f"{key} must hold pairs, not {values!r:.60}")
    new_pairs = []
    for pair in values:
        new = list(pair)
        old = pair[id_at]
        new[id_at] = _sequence(old, id_map, key) if isinstance(old, list) else _new_id(old, id_map)
        if new[id_at] is not None or old is None:
            new_pairs.append(new)
    return new_pairs or None


def rows_of(config: Mapping[str, object]) -> object:
    """The number of rows in a configuration; `None` if it has none."""
    if "vocab_size" in config:
        return config["vocab_size"]
    inner = config.get("text_config")
    return inner.get("vocab_size") if isinstance(inner, Mapping) else None


def other_sizes(config: Mapping[str, Any]) -> set[int]:
    """All numbers in a configuration except the number of rows and ids: sizes, among others."""
    sizes: set[int] = set()
    for key, value in config.items():
        if isinstance(value, Mapping):
            sizes |= other_sizes(value)
        elif isinstance(value, int) and key != "vocab_size" and not _is_id(key):
            sizes.add(value)
    return sizes


def with_rows(config: dict[str, Any], rows: int) -> dict[str, Any]:
    """The configuration of a model with another number of rows."""
    new = {
        key: with_rows(value, rows) if key == "text_config" and isinstance(value, dict) else value
        for key, value in config.items()
    }
    return {**new, "vocab_size": rows} if "vocab_size" in new else new
