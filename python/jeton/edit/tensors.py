"""Rewrites safetensors files: remaps tables with one row per token, and copies all other bytes.

Look here for which tensors have one row per token. The format is a length, a JSON header with the
type, shape and position of each tensor, and the bytes of all tensors.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

from jeton import files
from jeton.edit.id_map import IdMap
from jeton.errors import FormatError, UnsupportedError

if TYPE_CHECKING:
    import torch

_LARGEST_HEADER = 100_000_000
"""The largest header that safetensors reads, in bytes."""
_BLOCK = 16 << 20
"""How many bytes are copied at a time."""

_HEADS = re.compile(
    r"(^|\.)("
    r"embed_out|lm_head|generator_lm_head|output_projection|predictions|output|output_layer|head"
    r"|(lm_head|mlm_score|predictions|head)\.decoder|lm_head\.out_proj"
    r"|lm_loss|pred_layer\.proj|proj_out|vocab_projector"
    r")(\.(weight|bias))?$|^decoder\.(weight|bias)$"
)
"""Names of output heads. `output` is Llama's own name for its head."""

_EMBEDDINGS = re.compile(
    r"(^|\.)("
    r"wte|embed_tokens|word_embeddings?|tok_embeddings|embed_in|shared|embeddings?|tokens_embed"
    r"|transformer\.w"
    r")(\.(weight|bias))?$"
)
"""Names of embeddings with one row per token."""

_INPUT = re.compile(
    r"(^|\.)(wte|embed_tokens|word_embeddings?|tok_embeddings|embed_in|shared|tokens_embed)\.weight$"
)
"""Names of the tables of input embeddings."""

_COLUMNS = re.compile(r"(^|\.)(final_logits_bias|predictions\.dense\.weight)$")
"""Names of tensors with one column per token: of BART and Marian, and of MobileBERT."""

_INSIDE = re.compile(r"(^|\.)(layers?|blocks?|h)\.\d+\.")
"""The part of a name that shows that a tensor belongs to a layer."""


_BITS = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
}
"""The number of bits of each type."""


Weights = Mapping[int, tuple[tuple[int, ...], tuple[float, ...]]]
"""For new ids: the old ids whose rows are summed, and their coefficients."""


class Tensor(NamedTuple):
    """A tensor of a rewritten file."""

    size: int
    """Its size in bytes."""
    new_parameters: int | None
    """How many numbers it has more than before; `None` if it is not a table."""


class Tables:
    """Finds the tensors with one row per token, and remaps them."""

    def __init__(
        self,
        id_map: IdMap,
        rows: int,
        new_rows: int,
        init: Literal["mean", "zeros", "normal"],
        seed: int,
        other_sizes: Container[int] = (),
        weights: Weights | None = None,
        head_weights: Weights | None = None,
    ) -> None:
        """`other_sizes` are the sizes of the model that are not a number of tokens; `weights` and
        `head_weights` are those of `Edited`."""
        self.id_map, self.rows, self.new_rows = id_map, rows, new_rows
        self.unclear = rows in other_sizes
        self.init, self.seed = init, seed
        self.weights: Weights = weights or {}
        self.head_weights: Weights = self.weights if head_weights is None else head_weights

    def axis(self, name: str, shape: list[int]) -> int | None:
        """The axis along which a tensor has one entry per token; `None` if it has none.

        The number of rows alone does not show it: some layers may have the same number.
        """
        if self.rows not in shape or len(shape) > 2 or _INSIDE.search(name):
            return None
        if _COLUMNS.search(name) and shape[-1] == self.rows:
            return len(shape) - 1
        if (_EMBEDDINGS.search(name) or _HEADS.search(name)) and shape[0] == self.rows:
            return 0
        if self.unclear:
            return None
        raise UnsupportedError(
            f"the tensor {name} of shape {shape} seems to have a row for each of the "
            f"{self.rows} ids, but no known table has this name"
        )

    def remap(self, path: Path, name: str, axis: int) -> torch.Tensor:
        """The new tensor."""
        table = tensor_of(path, name).transpose(0, axis)
        from jeton.edit.remapping import remap

        new = remap(table, self.id_map, init=self.init, rows=self.new_rows, seed=self.seed)
        weights = self.head_weights if is_head(name) else self.weights
        for id, (old_ids, coefficients) in weights.items():
            shape = [-1, *[1] * (table.dim() - 1)]
            of_rows = table.new_tensor(coefficients).float().reshape(shape)
            new[id] = (of_rows * table[list(old_ids)].float()).sum(0).to(table.dtype)
        return new.transpose(0, axis).contiguous()


def tensor_of(path: Path, name: str) -> torch.Tensor:
    """A tensor of a file."""
    try:
        import torch  # noqa: F401  # what safetensors makes its tensors of
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError as error:
        raise UnsupportedError(
            f"rewriting a checkpoint needs {error.name} (pip install 'jeton[edit,torch]')"
        ) from None
    try:
        with safe_open(path, framework="pt") as file:
            tensor: torch.Tensor = file.get_tensor(name)
    except SafetensorError as error:
        raise FormatError(f"{path} is not a safetensors file: {error}") from None
    return tensor


def is_input_table(name: str) -> bool:
    """Whether a tensor is a model's table of input embeddings, by its name."""
    return _INPUT.search(name) is not None and not _INSIDE.search(name)


def is_head(name: str) -> bool:
    """Whether a tensor is an output head, by its name."""
    return _HEADS.search(name) is not None and not _INSIDE.search(name)


def rewrite(source: Path, target: Path, tables: Tables) -> list[Tensor]:
    """Rewrites one file of tensors."""
    with files.opened(source) as file:
        header, data_at = read_header(file, source)
        metadata = header.pop("__metadata__", None)
        new_header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
        at = 0
        plan: list[tuple[str, int, int | None]] = []
        tensors: list[Tensor] = []
        # In the order of the data, so that the file is read sequentially.
        names = sorted(header, key=lambda name: header[name]["data_offsets"][0])
        for name in names:
            entry = header[name]
            axis = tables.axis(name, entry["shape"])
            shape = list(entry["shape"])
            start, end = entry["data_offsets"]
            size = end - start
            if axis is not None:
                size = size // max(shape[axis], 1) * tables.new_rows
                shape[axis] = tables.new_rows
            new_header[name] = {
                "dtype": entry["dtype"],
                "shape": shape,
                "data_offsets": [at, at + size],
            }
            plan.append((name, size, axis))
            more = math.prod(shape) - math.prod(entry["shape"])
            tensors.append(Tensor(size, None if axis is None else more))
            at += size
        head = json.dumps(new_header, separators=(",", ":")).encode()
        head += b" " * (-len(head) % 8)
        with target.open("wb") as out:
            out.write(struct.pack("<Q", len(head)) + head)
            for name, size, axis in plan:
                if axis is not None:
                    new_table = tables.remap(source, name, axis)
                    import torch

                    data = new_table.flatten().view(torch.uint8).numpy().tobytes()
                    if len(data) != size:
                        raise FormatError(f"{source}: {name} has another type than the header says")
                    out.write(data)
                else:
                    start, end = header[name]["data_offsets"]
                    file.seek(data_at + start)
                    for first in range(start, end, _BLOCK):
                        block = file.read(min(_BLOCK, end - first))
                        if len(block) < min(_BLOCK, end - first):
                            raise FormatError(f"{source} is truncated")
                        out.write(block)
    return tensors


def read_header(file: BinaryIO, path: Path) -> tuple[dict[str, Any], int]:
    """The tensors of a file by name, and where their bytes begin."""
    head = file.read(8)
    length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
    size = path.stat().st_size
    if not 2 <= length <= min(_LARGEST_HEADER, size - 8):
        raise FormatError(f"{path} is not a safetensors file")
    try:
        header: dict[str, Any] = json.loads(file.read(length))
        if not isinstance(header, dict):
            raise FormatError(f"{path}: its header is not an object")
        for name, entry in header.items():
            if name == "__metadata__":
                if not isinstance(entry, dict):
                    raise FormatError(f"{path}: its metadata is not an object")
                continue
            start, end = entry["data_offsets"]
            numbers = [start, end, *entry["shape"]]
            are_valid = all(type(number) is int and number >= 0 for number in numbers)
            if not are_valid or not start <= end <= size - 8 - length:
                raise FormatError(f"{path} is truncated or damaged at tensor {name!r}")
            dtype, shape = entry["dtype"], entry["shape"]
            if dtype not in _BITS:
                raise FormatError(f"{path}: tensor {name!r} has the unknown type {dtype!r:.40}")
            count = 1
            for length_of_axis in shape:
                count *= length_of_axis
                if count >= 1 << 64:  # as safetensors, even if a later axis is 0
                    raise FormatError(f"{path}: tensor {name!r} has too many numbers")
            if 8 * (end - start) != count * _BITS[dtype]:
                raise FormatError(
                    f"{path}: tensor {name!r} has {end - start} bytes, which is not the size of "
                    f"{dtype} of shape {shape}"
                )
        _check_that_all_is_covered(header, size - 8 - length, path)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path} is not a safetensors file: {error}") from None
    return header, 8 + length


def _check_that_all_is_covered(header: Mapping[str, Any], size: int, path: Path) -> None:
    """Checks that tensors share no bytes and leave none out, as safetensors does.

    Otherwise a small file could hold tensors of many times its size.
    """
    tensors = (item for item in header.items() if item[0] != "__metadata__")
    at = 0
    for name, entry in sorted(tensors, key=lambda item: item[1]["data_offsets"]):
        start, end = entry["data_offsets"]
        if start != at:
            what = "begins in another" if start < at else "begins after bytes of no tensor"
            raise FormatError(f"{path}: tensor {name!r} {what}, at byte {start:,}")
        at = end
    if at != size:
        raise FormatError(f"{path}: its last {size - at:,} bytes belong to no tensor")
