"""Ids in the configuration of a model: which keys hold them, and what becomes of them.

Look here when an id in `config.json` or `generation_config.json` is not put right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jeton.edit.id_map import IdMap
from jeton.errors import FormatError

__all__ = ["moved", "other_sizes", "rows_of", "with_rows"]

_ONE_ID = ("_token_id", "_token_ids", "_token_index")
"""How the keys of configurations end whose values are ids."""

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
"""Keys whose values are lists of ids that stand for something only together."""

_NAMED_IDS = {"lang_to_id", "task_to_id"}
"""Keys whose values are ids by the texts of their tokens, of Whisper."""


def moved(values: object, id_map: IdMap) -> Any:
    """A configuration with its ids moved.

    An id whose token is gone becomes null, in a list it goes; so does an id beyond those of the
    old tokenizer, which a row of padding has: a new token may have it now. A sequence of ids goes
    as a whole. Numbers below 0 stand for no token, and stay.

    Raises:
        FormatError: Something else where the format has ids.
    """
    return _moved(values, id_map, "")


def _moved(values: object, id_map: IdMap, key: str) -> Any:
    if key in _SEQUENCES:
        return _sequence(values, id_map, key)
    if key == "forced_decoder_ids" and values is not None:
        return _pairs(values, id_map, key, id_at=1)
    if key == "sequence_bias" and values is not None:
        return _pairs(values, id_map, key, id_at=0)
    if isinstance(values, Mapping):
        if key in _NAMED_IDS:
            places = {name: _place(id, id_map) for name, id in values.items()}
            return {name: id for name, id in places.items() if id is not None}
        return {name: _moved(value, id_map, name) for name, value in values.items()}
    is_id = _is_id(key)
    if isinstance(values, list):
        items = [_moved(value, id_map, key) for value in values]
        if not is_id:
            return items
        left = [item for item in items if item is not None]
        return None if items and not left and key.endswith(_ONE_ID) else left
    return _place(values, id_map) if is_id else values


def _is_id(key: str) -> bool:
    return key.endswith(_ONE_ID) or key in _ALSO_IDS


def _place(id: object, id_map: IdMap) -> Any:
    """The new id; `None` if there is none, and what is no id as it is."""
    if isinstance(id, bool) or not isinstance(id, int) or id < 0:
        return id
    new = id_map.moved[id] if id < id_map.old_size else -1
    return None if new == -1 else new


def _sequence(values: object, id_map: IdMap, key: str) -> Any:
    """Lists of ids, or lists of such lists, without those of which an id is gone."""
    if not isinstance(values, list):
        if values is None:
            return None
        raise FormatError(f"{key} must hold lists of ids, not {values!r:.60}")
    if all(isinstance(id, int) for id in values):
        places = [_place(id, id_map) for id in values]
        return None if None in places else places
    inner = [_sequence(value, id_map, key) for value in values]
    return [value for value in inner if value is not None] or None


def _pairs(values: object, id_map: IdMap, key: str, *, id_at: int) -> Any:
    """Pairs of something and an id, or of ids and something, without those that are gone."""
    if not isinstance(values, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in values
    ):
        raise FormatError(f"{key} must hold pairs, not {values!r:.60}")
    kept = []
    for pair in values:
        new = list(pair)
        given = pair[id_at]
        new[id_at] = (
            _sequence(given, id_map, key) if isinstance(given, list) else _place(given, id_map)
        )
        if new[id_at] is not None or given is None:
            kept.append(new)
    return kept or None


def rows_of(config: Mapping[str, Any]) -> Any:
    """What a configuration says of the number of rows, if it does."""
    if "vocab_size" in config:
        return config["vocab_size"]
    inner = config.get("text_config")
    return inner.get("vocab_size") if isinstance(inner, Mapping) else None


def other_sizes(config: Mapping[str, Any]) -> set[int]:
    """The numbers in a configuration, but for that of the rows: sizes, and what else."""
    found: set[int] = set()
    for key, value in config.items():
        if isinstance(value, Mapping):
            found |= other_sizes(value)
        elif isinstance(value, int) and key != "vocab_size" and not _is_id(key):
            found.add(value)
    return found


def with_rows(config: dict[str, Any], rows: int) -> dict[str, Any]:
    """The configuration of a model with another number of rows."""
    changed = {
        key: with_rows(value, rows) if key == "text_config" and isinstance(value, dict) else value
        for key, value in config.items()
    }
    return {**changed, "vocab_size": rows} if "vocab_size" in changed else changed
