"""Rewrites a model's files for a new vocabulary: tables, configuration and special ids.

Look here for `rewrite_checkpoint`. A checkpoint of Hugging Face layout is rewritten tensor by
tensor: tables with one row per token go through `jeton.nn.remap`, and all other tensors are copied
byte by byte, so the whole model is never in memory.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from jeton import files, saved_json
from jeton.arguments import check_kind, checked_flag, checked_int, checked_path, one_of
from jeton.corpora.progress import check_watch
from jeton.edit import configuration
from jeton.edit.edit_result import Edited
from jeton.edit.id_map import IdMap
from jeton.edit.tensors import Tables, is_head, is_input_table, read_header, rewrite, tensor_of
from jeton.errors import (
    ArgumentError,
    FileError,
    FormatError,
    FormatWarning,
    MissingFileError,
    UnsupportedError,
    warn_caller,
)
from jeton.results.vocabulary import bytes_by_id
from jeton.tokenizer import Tokenizer
from jeton.tokenizer.loading import load

_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"

_MAX_ROWS = 1 << 31
_MAX_PARAMETERS = 1 << 63
"""Greater numbers of rows or parameters mean that the file is damaged."""

_TOKENIZER_FILES = {
    "added_tokens.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "special_tokens_map.json",
    "spiece.model",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
}

_WEIGHTS = {
    ".bin",
    ".ckpt",
    ".gguf",
    ".h5",
    ".index",
    ".msgpack",
    ".onnx",
    ".ot",
    ".pt",
    ".pth",
    ".safetensors",
    ".tflite",
}
"""Files of weights: other copies of the model have the old vocabulary, and are left out."""


def rewrite_checkpoint(
    source: str | os.PathLike[str],
    edited: Edited,
    target: str | os.PathLike[str],
    *,
    init: Literal["mean", "zeros", "normal"] = "mean",
    multiple_of: int = 1,
    drop_padding: bool = False,
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
) -> None:
    """Rewrites a model for the changed vocabulary of its tokenizer.

    Tables with one row per token are found by their names and shapes, and rewritten one at a time;
    all other tensors are copied unchanged. Other files are copied too, except weights in other
    formats, which have the old vocabulary, and subfolders. The settings of the folder's tokenizer
    (roles, chat template) are kept. A model of SentencePiece that `tokenizer.json` cannot hold is
    written as `tokenizer.model`, and a warning names settings that are not in it. A link that
    leads out of the folder is not copied, and a warning names it.

    Args:
        source: A folder of Hugging Face layout: `config.json` with `model.safetensors`, or the
            shards that `model.safetensors.index.json` names.
        edited: The change of the model's tokenizer.
        target: The new folder; it must not exist. It gets the new tokenizer too.
        init: How to initialise rows of new tokens; see `jeton.nn.remap`.
        multiple_of: The number of rows is rounded up to a multiple of this.
        drop_padding: Whether to drop rows after the last token. By default a model keeps its number
            of rows, unless its vocabulary became smaller: new tokens take rows of padding.
        seed: For `init="normal"`.
        watch: Called with the number of bytes written so far, and about how many there will be.

    Raises:
        MissingFileError: There is no such folder, or it lacks a file.
        FormatError: A file breaks its format.
        ArgumentError: The tokenizer is not the model's: it has more ids than the model has rows, or
            other tokens than the tokenizer in the folder.
        FileError: The target exists, or cannot be written; then nothing remains of it. A file that
            the model needs is a link that leads out of its folder.
        UnsupportedError: There is no table with one row per token, or one has an unknown name;
            torch is not installed.

    Example:
        >>> from jeton import edit, load
        >>> tok = load("model/")  # doctest: +SKIP
        >>> smaller = edit.prune(tok, size=25_000, corpus=["…"])  # doctest: +SKIP
        >>> edit.rewrite_checkpoint("model/", smaller, "smaller/")  # doctest: +SKIP
    """
    folder, out = _folder(checked_path("source", source)), Path(checked_path("target", target))
    check_kind("edited", edited, Edited, "the result of a change of jeton.edit")
    one_of("init", init, ("mean", "zeros", "normal"))
    multiple_of, seed = checked_int("multiple_of", multiple_of, 1), checked_int("seed", seed, 0)
    checked_flag("drop_padding", drop_padding)
    check_watch(watch)
    leading_out = _leading_out(folder)
    _refuse_leading_out(folder, leading_out, ("config.json", _INDEX))
    config = _json(folder / "config.json")
    if os.path.lexists(out):
        raise FileError(f"target {out} exists already; name a new folder")
    rows = configuration.rows_of(config)
    if type(rows) is not int or not 0 < rows <= _MAX_ROWS:
        raise FormatError(f"{folder / 'config.json'} does not give the number of rows, vocab_size")
    id_map = edited.id_map
    if id_map.old_size > rows:
        raise ArgumentError(
            f"the tokenizer has ids up to {id_map.old_size - 1} but the model only {rows} rows: it "
            "is not this model's tokenizer"
        )
    reads_linked = any(it in _TOKENIZER_FILES or it.endswith(".jinja") for it in leading_out)
    keeps_own = reads_linked or edited.replaces_settings
    tok = edited.tok if keeps_own else _with_settings_of(folder, edited)
    keeps_padding = not drop_padding and id_map.new_size >= id_map.old_size
    new_rows = max(id_map.new_size, rows) if keeps_padding else id_map.new_size
    new_rows += -new_rows % multiple_of
    shards = _shards(folder)
    _refuse_leading_out(folder, leading_out, shards)
    if (folder / _INDEX).exists():
        _metadata(_json(folder / _INDEX), folder / _INDEX)
    configurations = _configurations(folder, leading_out, id_map, new_rows)
    try:
        other_sizes = configuration.other_sizes(config)
    except RecursionError as error:
        raise FormatError(f"{folder / 'config.json'}: {error}") from None
    weights, head_weights = edited.weights, edited.head_weights
    tables = Tables(id_map, rows, new_rows, init, seed, other_sizes, weights, head_weights)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise FileError(f"{out}: {error.strerror or error}") from None
    try:
        total = sum((folder / name).stat().st_size for name in shards)
        size, new_parameters, table_count = 0, 0, 0
        for name in shards:
            for tensor in rewrite(folder / name, beside / name, tables):
                size += tensor.size
                if tensor.new_parameters is not None:
                    new_parameters += tensor.new_parameters
                    table_count += 1
                if watch is not None:
                    watch(size, total)
        if not table_count:
            raise UnsupportedError(f"{folder} has no tensor with {rows} rows, one per token")
        if (folder / _INDEX).exists():
            index = _json(folder / _INDEX)
            metadata = _metadata(index, folder / _INDEX)
            metadata["total_size"] = size
            parameters = metadata.get("total_parameters")
            if type(parameters) is int and 0 <= parameters < _MAX_PARAMETERS:
                metadata["total_parameters"] = parameters + new_parameters
            index["metadata"] = metadata
            _write_json(beside / _INDEX, index)
        _copy_others(folder, leading_out, beside, tok, configurations)
        id_map.save(beside / "id_map.json")
        beside.chmod(0o755)
        beside.rename(out)
        if leading_out:
            names = ", ".join(sorted(leading_out))
            warn_caller(
                f"left out of {out}, because they are links that lead out of {folder}: {names}",
                FormatWarning,
            )
    except OSError as error:
        raise FileError(f"{out}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def input_table(folder: str | os.PathLike[str], rows: int) -> npt.NDArray[np.float32]:
    """The input embeddings of a model, float32 of shape (rows, width).

    Raises:
        MissingFileError, FormatError: The folder holds no model that can be read, or the table has
            numbers that are not finite.
        ArgumentError: The table has fewer than `rows` rows.
        UnsupportedError: No tensor is known as a table of embeddings, or it is quantised.
    """
    table = _table(_folder(folder), rows, is_input_table)
    if table is None:
        raise UnsupportedError(f"{folder} has no tensor that is known as a table of embeddings")
    return table


def head_table(folder: str | os.PathLike[str], rows: int) -> npt.NDArray[np.float32] | None:
    """The output head of a model, as `input_table`; `None` if it is its table of embeddings."""
    return _table(_folder(folder), rows, is_head)


def _table(
    folder: Path, rows: int, is_wanted: Callable[[str], bool]
) -> npt.NDArray[np.float32] | None:
    for name in _shards(folder):
        with files.opened(folder / name) as file:
            header, _ = read_header(file, folder / name)
        for tensor, entry in header.items():
            if tensor == "__metadata__" or not is_wanted(tensor) or len(entry["shape"]) != 2:
                continue
            if entry["shape"][0] < rows:
                raise ArgumentError(
                    f"{folder}: {tensor} has {entry['shape'][0]:,} rows, and the tokenizer "
                    f"{rows:,} ids: it is not this model's tokenizer"
                )
            read = tensor_of(folder / name, tensor)
            if not read.is_floating_point():
                raise UnsupportedError(
                    f"{folder}: {tensor} holds {read.dtype}, as quantised models do; name the "
                    "folder of the model before it was quantised"
                )
            table = np.asarray(read[:rows].float().numpy())
            if table.size:
                broken = ~(np.isfinite(table.min(1)) & np.isfinite(table.max(1)))
                if broken.any():
                    raise FormatError(
                        f"{folder}: {tensor} has numbers that are not finite in {broken.sum():,} "
                        f"rows, the first is {int(broken.argmax())}"
                    )
            return table
    return None


def check_tokenizer_of(folder: str | os.PathLike[str], tok: Tokenizer) -> None:
    """Checks that a tokenizer has the tokens of the one in a model's folder, if one is there."""
    own_tokens = _own_tokens(_folder(folder))
    if own_tokens is None:
        return
    for id, token in bytes_by_id(tok.vocab).items():
        own = own_tokens.get(id, b"")
        if _plain(own) != _plain(token):
            raise ArgumentError(
                f"{os.fspath(folder)}: id {id} is {own!r} in the tokenizer of this model and "
                f"{token!r} in the one given: it is not this model's tokenizer"
            )


def _own_tokens(folder: Path) -> dict[int, bytes] | None:
    try:
        return bytes_by_id(load(folder).vocab)
    except (MissingFileError, FormatError, ArgumentError, UnsupportedError):
        return None  # the folder need not have a tokenizer that loads without arguments


def _leading_out(folder: Path) -> set[str]:
    """The links in a folder that lead out of it, by their paths in the folder.

    A folder may come from a stranger and link to files of the user, which must not get into a
    checkpoint that the user may publish. In the cache of the Hugging Face hub, links from a
    snapshot to the blobs of its repository are allowed.
    """
    own = [folder.resolve()]
    if folder.resolve().parent.name == "snapshots":
        own.append(folder.resolve().parents[1] / "blobs")
    links = set()
    for path in (*folder.glob("*"), *folder.glob("*/*")):
        real = Path(os.path.realpath(path))
        if path.is_file() and not any(real.is_relative_to(it) for it in own):
            links.add(path.relative_to(folder).as_posix())
    return links


def _refuse_leading_out(folder: Path, leading_out: Container[str], names: Iterable[str]) -> None:
    """Checks that the files of a model are inside of its folder."""
    for name in names:
        if name in leading_out:
            raise FileError(
                f"{folder / name}: is a link that leads out of the folder; replace it by the file"
            )


def _folder(path: str | os.PathLike[str]) -> Path:
    """A model's folder."""
    if not os.path.isdir(path):
        raise MissingFileError(f"{os.fspath(path)}: no such folder")
    return Path(path)


def _shards(folder: Path) -> list[str]:
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
        if not os.path.isfile(folder / name):  # the index may hold anything
            raise MissingFileError(
                f"{folder / name}: named by the index, but there is no such file"
            )
    return names


def _metadata(index: Mapping[str, Any], path: Path) -> dict[str, Any]:
    metadata = index.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise FormatError(f"{path}: metadata must be an object, not {metadata!r:.60}")
    return dict(metadata)


def _with_settings_of(folder: Path, edited: Edited) -> Tokenizer:
    """The new tokenizer with the settings of the tokenizer in the folder."""
    try:
        own = load(folder)
    except (MissingFileError, ArgumentError, UnsupportedError):
        return edited.tok  # the folder need not have a tokenizer that loads without arguments
    own_tokens, new_tokens = bytes_by_id(own.vocab), bytes_by_id(edited.tok.vocab)
    names = dict(edited.renamed)
    for old, new in enumerate(edited.id_map.moved):
        token = own_tokens.get(old, b"")
        if new != -1 and _plain(names.get(token, token)) != _plain(new_tokens[new]):
            raise ArgumentError(
                f"id {old} is {own_tokens.get(old)!r} in the tokenizer of {folder} and "
                f"{new_tokens[new]!r} in the edited one: it is not this model's tokenizer"
            )
    tok = edited.tok
    if tok.settings.chat_template is None and own.settings.chat_template is not None:
        tok = tok.replace(chat_template=own.settings.chat_template)
    longest = own.settings.model_max_length
    if tok.settings.model_max_length is None and longest is not None:
        tok = tok.replace(model_max_length=longest)
    tok_roles = tok.roles
    own_roles = {
        role: names.get(token.encode(), token.encode()).decode()
        for role, token in own.roles.items()
    }
    roles = {
        role: token
        for role, token in own_roles.items()
        if role not in tok_roles and token.encode() in tok.vocab
    }
    return tok.replace(roles=roles) if roles else tok


def _plain(token: bytes) -> bytes:
    """A token with plain spaces, in whatever way its format writes them."""
    return token.replace("▁".encode(), b" ")


def _configurations(
    folder: Path, left_out: Container[str], id_map: IdMap, rows: int
) -> dict[str, dict[str, Any]]:
    """The configuration files with the new ids and number of rows."""
    new = {}
    for name in ("config.json", "generation_config.json"):
        if name in left_out or not (folder / name).is_file():
            continue
        try:
            new[name] = configuration.with_new_ids(_json(folder / name), id_map)
        except (FormatError, RecursionError) as error:
            raise FormatError(f"{folder / name}: {error}") from None
    new["config.json"] = configuration.with_rows(new["config.json"], rows)
    return new


def _copy_others(
    folder: Path,
    left_out: Container[str],
    out: Path,
    tok: Tokenizer,
    configurations: Mapping[str, Mapping[str, Any]],
) -> None:
    _save_tokenizer(tok, out)
    for name, values in configurations.items():
        _write_json(out / name, values)
    for entry in sorted(folder.iterdir()):
        is_weights = entry.suffix in _WEIGHTS or entry.name.endswith(".index.json")
        if not entry.is_file() or is_weights or entry.name in _TOKENIZER_FILES:
            continue
        if entry.name in left_out:
            continue
        if not (out / entry.name).exists():  # the tokenizer may have written it: a chat template
            shutil.copy2(entry, out / entry.name)


def _save_tokenizer(tok: Tokenizer, out: Path) -> None:
    """Saves as a folder, or a model of SentencePiece that tokenizer.json cannot hold as it is."""
    try:
        tok.save(out, lossy=True)
    except UnsupportedError as error:
        try:
            tok.save(out / "tokenizer.model")
        except UnsupportedError:
            raise error from None


def _json(path: Path) -> dict[str, Any]:
    contents = files.read(path)
    try:
        content = json.loads(contents)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise FormatError(f"{path} must be a JSON object")
    return content


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(saved_json.dumps(content, indent=2) + "\n", encoding="utf-8")
