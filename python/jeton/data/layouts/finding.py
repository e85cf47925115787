"""Detects the layout of a path, and which of its files are the shards of a split."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from jeton import files
from jeton.arguments import check_text, suggestion
from jeton.data.layouts.layout import BaseLayout
from jeton.data.layouts.llmc import begins
from jeton.data.layouts.npy import is_npy
from jeton.errors import (
    ArgumentError,
    FileError,
    FormatError,
    MissingFileError,
    UnsupportedError,
)


def layout_of(layouts: Mapping[str, BaseLayout], name: object) -> BaseLayout:
    """The layout with this name."""
    name = check_text("layout", name)
    if name not in layouts:
        hint = suggestion(name, list(layouts)) or f"there are {', '.join(layouts)}"
        raise ArgumentError(f"there is no layout {name[:100]!r} ({hint})")
    return layouts[name]


def find_layout(
    layouts: Mapping[str, BaseLayout], path: str, split: str | None, layout: str | None
) -> tuple[BaseLayout, list[Path]]:
    """The layout of a folder or a file, and the main files of a split in order."""
    kind = None if layout is None else layout_of(layouts, layout)
    at = Path(path)
    # Megatron names a pair of files without its ending. These functions accept any name.
    pair = [f"{path}{ending}" for ending in (".bin", ".idx")]
    if not os.path.exists(path) and all(map(os.path.isfile, pair)):
        at = Path(pair[0])
    if not _is_folder(at):
        if not at.is_file():
            raise FileError(f"{path}: is a pipe or a device, not a file of tokens")
        if split is not None:
            raise ArgumentError(f"{path}: is one file; leave split out, or pass its folder")
        return kind or layouts[_layout_of(at)], [_main(at)]
    kind, by_split = _splits(layouts, at, kind)
    name = _split_named(split, list(by_split))
    if name is None:
        there = ", ".join(by_split) or "no tokens at all"
        raise MissingFileError(f"{path}: there is no split {split or 'train'!r}; it has {there}")
    shards = by_split[name]
    index = None if kind.index is None else shards[0].with_name(kind.index)
    if index is not None and index.exists():
        shards = _listed(kind, index)
    return kind, shards


def _split_named(split: object, names: list[str]) -> str | None:
    """The split with this name, or whose name ends in it, as in `fineweb_train`; by default the
    only one, or `train`."""
    if split is None and len(names) == 1:
        return names[0]
    target = "train" if split is None else check_text("split", split) or "train"
    if target in names:
        return target
    ending = [name for name in names if name.endswith("_" + target)]
    return ending[0] if len(ending) == 1 else None


def split_names(layouts: Mapping[str, BaseLayout], path: str, layout: str | None) -> list[str]:
    """The splits of a folder."""
    at = Path(path)
    if not _is_folder(at):
        raise ArgumentError(f"{path}: is a file; name its folder")
    return list(_splits(layouts, at, None if layout is None else layout_of(layouts, layout))[1])


def _is_folder(path: Path) -> bool:
    """Whether an existing path is a folder."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"{path}: there is no such file or folder") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None


def _splits(
    layouts: Mapping[str, BaseLayout], folder: Path, kind: BaseLayout | None
) -> tuple[BaseLayout, dict[str, list[Path]]]:
    files: list[Path] = []
    # A split may have its own folder, unless there are such files in the folder itself.
    for pattern in ("*", "*/*.ds", "*/*.arrow", "*/*.mds", "*/chunk-*.bin"):
        if any(path.suffix == Path(pattern).suffix != "" for path in files):
            continue
        files += (
            path
            for path in folder.glob(pattern)
            if path.is_file() and not path.name.startswith(".")
        )
    files.sort()
    if kind is None:
        kinds = sorted({name for path in files if (name := _layout_of(path, folder))})
        if len(kinds) > 1:
            raise ArgumentError(
                f"{folder}: holds files of the layouts {' and '.join(kinds)}",
                hint="pass layout=",
                parameter="layout",
            )
        if not kinds:
            raise MissingFileError(f"{folder}: holds no tokens of a known layout")
        kind = layouts[kinds[0]]
    by_split: dict[str, list[Path]] = {}
    for path in files:
        split = kind.split_of(path.relative_to(folder).as_posix())
        if split is not None and kind.holds(path):
            by_split.setdefault(split, []).append(path)
    for shards in by_split.values():
        # Numbers have at least five digits.
        shards.sort(key=lambda path: (len(path.name), path.name))
    return kind, dict(sorted(by_split.items()))


def _listed(kind: BaseLayout, index: Path) -> list[Path]:
    """The files that an index lists, in its order, which may differ from that of their names."""
    try:
        with files.opened(index) as file:
            listed = [(str.__str__(name), least) for name, least in kind.listed(json.load(file))]
    except UnsupportedError as error:
        raise error.reworded(f"{index}: {error.message}") from None
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        raise FormatError(f"{index}: is damaged, or not an index of {kind.name}") from None
    return [_listed_file(index, name, least) for name, least in listed]


def _listed_file(index: Path, name: str, least: int) -> Path:
    """The path of a file that an index lists. It must have at least `least` bytes."""
    path = index.parent / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise FormatError(f"{index}: lists {name!r:.100}, which is in another folder")
    try:
        size = path.stat().st_size
    except OSError:
        raise MissingFileError(
            f"{path}: is missing, and {index.name} lists it; copy the whole folder"
        ) from None
    if size < least:
        raise FormatError(
            f"{path}: has {size:,} bytes, and {index.name} lists {least:,}; it is truncated"
        )
    return path


def _layout_of(path: Path, folder: Path | None = None) -> str:
    """The layout of a file, by the files beside it and its first bytes; `""` for other files."""
    if folder is None:
        path = _main(path)
    if path.suffix in _BY_SUFFIX:
        kind = _BY_SUFFIX[path.suffix]
        if kind == "npy" and not is_npy(path):
            # dolma names files without a header so too.
            kind = "olmo"
        return "" if folder is not None and path.name.startswith("cache-") else kind
    if path.suffix != ".bin":
        if folder is None:
            raise ArgumentError(
                f"{path}: its name is not that of a file of tokens",
                hint="pass layout=",
                parameter="layout",
            )
        return ""
    if re.fullmatch(r"chunk-\d+-\d+\.bin", path.name) and path.with_name("index.json").exists():
        return "litdata"
    if path.with_suffix(".idx").exists():
        return "megatron"
    if path.with_suffix(".ends").exists():
        return "jeton"
    with files.opened(path) as file:
        return "llm.c" if begins(file.read(8)) else "nanogpt"


_BY_SUFFIX = {
    ".ds": "datatrove",
    ".parquet": "parquet",
    ".arrow": "datasets",
    ".npy": "npy",
    ".mds": "mds",
}
"""Layouts that the ending of a file name identifies."""


def _main(path: Path) -> Path:
    """The main file of a shard, from any of its files."""
    for ending in (".csv.gz", ".mask.npy"):
        if path.name.endswith(ending):
            return path.with_name(path.name.removesuffix(ending) + ".npy")
    return {
        ".idx": path.with_suffix(".bin"),
        ".ends": path.with_suffix(".bin"),
        ".mask": path.with_suffix(".bin"),
        ".loss": path.with_suffix(""),
        ".index": path.with_suffix(""),
        ".metadata": path.with_suffix(""),
    }.get(path.suffix, path)
