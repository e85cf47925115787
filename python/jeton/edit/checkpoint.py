"""A model's files under a new vocabulary: tables moved, configuration and special ids put right.

Look here for `rewrite_checkpoint`. A checkpoint of Hugging Face layout is rewritten tensor by
tensor: tables with a row a token go through `jeton.nn.remap`, all others are copied as the bytes
they are, so a model is never in memory at once.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal

from jeton import Tokenizer
from jeton.arguments import checked_int, checked_path
from jeton.edit.edited import Edited
from jeton.edit.id_map import IdMap
from jeton.errors import ArgumentError, FileError, FormatError, MissingFileError, UnsupportedError

__all__ = ["rewrite_checkpoint"]

_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_LARGEST_HEADER = 100_000_000
_BLOCK = 16 << 20

_IS_ID = ("_token_id", "_token_ids", "_token_index", "_tokens", "bad_words_ids")
"""How the keys of configurations end whose values are ids."""

_TOKENIZER_FILES = {
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "spiece.model",
}


def rewrite_checkpoint(
    source: str | os.PathLike[str],
    edited: Edited,
    target: str | os.PathLike[str],
    *,
    init: Literal["mean", "zeros", "normal"] = "mean",
    multiple_of: int = 1,
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
) -> None:
    """Writes a model again, for the vocabulary that its tokenizer was changed to.

    Args:
        source: A folder of Hugging Face layout: `config.json` with `model.safetensors`, or the
            shards that `model.safetensors.index.json` names.
        edited: The change of the model's tokenizer.
        target: The new folder; it must not exist. It gets the new tokenizer too.
        init: What rows of new tokens are; see `jeton.nn.remap`.
        multiple_of: The number of rows is rounded up to a multiple of this.
        seed: For `init="normal"`.
        watch: Called with the bytes written, and how many there will be about.

    Raises:
        MissingFileError: No such folder, or a file that it should hold.
        FormatError: A file that is not what its format says.
        ArgumentError: A tokenizer that is not the model's: more ids than the model has rows.
        FileError: The target exists, or cannot be written. Nothing is left of it then.
        UnsupportedError: No table with a row a token was found; torch is not installed.

    Example:
        >>> from jeton import edit, load
        >>> tok = load("model/")  # doctest: +SKIP
        >>> smaller = edit.prune(tok, size=25_000, corpus=["…"])  # doctest: +SKIP
        >>> edit.rewrite_checkpoint("model/", smaller, "smaller/")  # doctest: +SKIP
    """
    folder, out = Path(checked_path("source", source)), Path(checked_path("target", target))
    multiple_of = checked_int("multiple_of", multiple_of, 1)
    if out.exists():
        raise FileError(f"{out} exists already; name a new folder")
    config = _json(folder / "config.json")
    rows = _find(config, "vocab_size")
    if not isinstance(rows, int) or isinstance(rows, bool):
        raise FormatError(f"{folder / 'config.json'} does not say how many rows: no vocab_size")
    id_map = edited.id_map
    if id_map.old_size > rows:
        raise ArgumentError(
            f"the tokenizer has ids up to {id_map.old_size - 1} and the model {rows} rows: it "
            "is not this model's tokenizer"
        )
    new_rows = -(-id_map.new_size // multiple_of) * multiple_of
    shards = _shards(folder)
    tables = _Tables(id_map, rows, new_rows, init, seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise FileError(f"{out}: {error.strerror}") from None
    try:
        total = sum((folder / name).stat().st_size for name in shards)
        written, sizes, found = 0, {}, 0
        for name in shards:
            for tensor, size, is_table in _rewrite(folder / name, beside / name, tables):
                written += size
                sizes[tensor] = (name, size)
                found += is_table
                if watch is not None:
                    watch(written, total)
        if not found:
            raise UnsupportedError(f"{folder} holds no tensor of {rows} rows, one a token")
        if (folder / _INDEX).exists():
            index = _json(folder / _INDEX)
            index["metadata"] = {
                **index.get("metadata", {}),
                "total_size": sum(size for _, size in sizes.values()),
            }
            _write_json(beside / _INDEX, index)
        _copy_others(folder, beside, set(shards), edited.tok, id_map, new_rows)
        beside.chmod(0o755)
        beside.rename(out)
    except OSError as error:
        raise FileError(f"{out}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


class _Tables:
    """Which tensors have a row a token, and what becomes of them."""

    def __init__(self, id_map: IdMap, rows: int, new_rows: int, init: Any, seed: int) -> None:
        self.id_map, self.rows, self.new_rows = id_map, rows, new_rows
        self.init, self.seed = init, seed

    def has_row_a_token(self, name: str, shape: list[int]) -> bool:
        """By shape; of a square matrix, by name, since its width may be that number by chance."""
        if not shape or len(shape) > 2 or shape[0] != self.rows:
            return False
        named = any(
            word in name for word in ("embed", "wte", "lm_head", "output", "decoder", "shared")
        )
        return named or (len(shape) == 2 and shape[1] != self.rows)

    def moved(self, path: Path, name: str) -> Any:
        """The new tensor."""
        try:
            from safetensors import safe_open

            from jeton.nn.remapping import remap
        except ModuleNotFoundError as error:
            raise UnsupportedError(
                f"rewriting a checkpoint needs {error.name} (pip install 'jeton[edit,torch]')"
            ) from None
        with safe_open(path, framework="pt") as file:
            table = file.get_tensor(name)
        return remap(
            table, self.id_map, init=self.init, rows=self.new_rows, seed=self.seed
        ).contiguous()


def _rewrite(source: Path, target: Path, tables: _Tables) -> list[tuple[str, int, bool]]:
    """Writes one file of tensors; gives each with its size in bytes, and whether it is a table."""
    with source.open("rb") as file:
        header, data_at = _header(file, source)
        metadata = header.pop("__metadata__", None)
        placed: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
        at, results = 0, []
        # In the order of the data, so that the file is read from front to back.
        names = sorted(header, key=lambda name: header[name]["data_offsets"][0])
        for name in names:
            entry = header[name]
            is_table = tables.has_row_a_token(name, entry["shape"])
            shape = [tables.new_rows, *entry["shape"][1:]] if is_table else entry["shape"]
            start, end = entry["data_offsets"]
            size = (
                (end - start) // max(entry["shape"][0], 1) * shape[0] if is_table else end - start
            )
            placed[name] = {
                "dtype": entry["dtype"],
                "shape": shape,
                "data_offsets": [at, at + size],
            }
            results.append((name, size, is_table))
            at += size
        packed = json.dumps(placed, separators=(",", ":")).encode()
        packed += b" " * (-len(packed) % 8)
        with target.open("wb") as out:
            out.write(struct.pack("<Q", len(packed)) + packed)
            for name, size, is_table in results:
                if is_table:
                    moved = tables.moved(source, name)
                    import torch

                    data = moved.flatten().view(torch.uint8).numpy().tobytes()
                    if len(data) != size:
                        raise FormatError(f"{source}: {name} is not of the type that it says")
                    out.write(data)
                else:
                    start, end = header[name]["data_offsets"]
                    file.seek(data_at + start)
                    _copy(file, out, end - start)
    return results


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    while size:
        block = source.read(min(size, _BLOCK))
        if not block:
            raise FormatError(f"{source.name} is cut off")
        target.write(block)
        size -= len(block)


def _header(file: BinaryIO, path: Path) -> tuple[dict[str, Any], int]:
    head = file.read(8)
    length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
    size = path.stat().st_size
    if not 2 <= length <= min(_LARGEST_HEADER, size - 8):
        raise FormatError(f"{path} is no safetensors file")
    try:
        header: dict[str, Any] = json.loads(file.read(length))
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            start, end = entry["data_offsets"]
            fits = 0 <= start <= end <= size - 8 - length
            if not fits or not all(isinstance(n, int) for n in entry["shape"]):
                raise FormatError(f"{path} is cut off or damaged at tensor {name!r}")
            entry["dtype"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path} is no safetensors file: {error}") from None
    return header, 8 + length


def _shards(folder: Path) -> list[str]:
    if not folder.is_dir():
        raise MissingFileError(f"{folder}: no such folder")
    if (folder / _INDEX).exists():
        try:
            names = sorted(set(_json(folder / _INDEX)["weight_map"].values()))
        except (KeyError, AttributeError, TypeError):
            raise FormatError(f"{folder / _INDEX} names no shards") from None
        for name in names:
            if not isinstance(name, str) or Path(name).name != name:
                raise FormatError(f"{folder / _INDEX} names a file outside its folder: {name!r}")
    elif (folder / _SINGLE).exists():
        names = [_SINGLE]
    else:
        raise MissingFileError(
            f"{folder} holds neither {_SINGLE} nor {_INDEX} (other formats: save the model as "
            "safetensors first)"
        )
    for name in names:
        if not (folder / name).is_file():
            raise MissingFileError(f"{folder / name}: no such file, though the index names it")
    return names


def _copy_others(
    folder: Path, out: Path, shards: set[str], tok: Tokenizer, id_map: IdMap, rows: int
) -> None:
    for entry in sorted(folder.iterdir()):
        if not entry.is_file() or entry.name in shards | _TOKENIZER_FILES | {_INDEX}:
            continue
        if entry.name in ("config.json", "generation_config.json"):
            values = _moved(_json(entry), id_map)
            if entry.name == "config.json":
                _set(values, "vocab_size", rows)
            _write_json(out / entry.name, values)
        else:
            shutil.copy2(entry, out / entry.name)
    tok.save(out / "tokenizer.json")
    id_map.save(out / "id_map.json")


def _moved(values: Any, id_map: IdMap, is_id: bool = False) -> Any:
    """A configuration with its ids moved; an id whose token is gone becomes null."""
    if isinstance(values, Mapping):
        return {
            key: _moved(value, id_map, is_id or key.endswith(_IS_ID))
            for key, value in values.items()
        }
    if isinstance(values, list):
        moved = [_moved(value, id_map, is_id) for value in values]
        return [value for value in moved if value is not None] if is_id else moved
    if is_id and isinstance(values, int) and not isinstance(values, bool):
        if not 0 <= values < id_map.old_size:
            return values  # such as -1 or a row of padding, which stand for no token
        new = id_map.moved[values]
        return None if new == -1 else new
    return values


def _find(config: Mapping[str, Any], key: str) -> Any:
    if key in config:
        return config[key]
    inner = config.get("text_config")
    return inner.get(key) if isinstance(inner, Mapping) else None


def _set(config: dict[str, Any], key: str, value: int) -> None:
    for holder in (config, config.get("text_config")):
        if isinstance(holder, dict) and key in holder:
            holder[key] = value


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    except ValueError as error:
        raise FormatError(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise FormatError(f"{path} must be a JSON object")
    return content


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
