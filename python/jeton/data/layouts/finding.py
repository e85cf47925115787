"""Which layout a path has, and which of its files are the shards of a split."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

import jeton._core as _core
from jeton import files
from jeton.data.layouts.checks import checked_split
from jeton.data.layouts.layout import BaseLayout
from jeton.data.layouts.llmc import begins
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, MissingFileError

__all__ = ["chosen", "found", "split_names"]


def chosen(layouts: Mapping[str, BaseLayout], name: object) -> BaseLayout:
    """The layout of a name."""
    if not isinstance(name, str):
        raise ArgumentTypeError(f"layout must be a str, not {type(name).__name__}")
    if name not in layouts:
        close = _core.did_you_mean(name, list(layouts))
        hint = f"did you mean {close!r}?" if close else f"there are {', '.join(layouts)}"
        raise ArgumentError(f"there is no layout {name[:100]!r} ({hint})")
    return layouts[name]


def found(
    layouts: Mapping[str, BaseLayout], path: str, split: str | None, layout: str | None
) -> tuple[BaseLayout, list[Path]]:
    """The layout of a folder or a file, and the main files of a split in their order."""
    kind = None if layout is None else chosen(layouts, layout)
    at = Path(path)
    if split is not None:
        checked_split(split)
    if not _is_folder(at):
        if not at.is_file():
            raise FileError(f"{path}: this is a pipe or a device, not a file of tokens")
        if split is not None:
            raise ArgumentError(f"{path}: is one file; leave split out, or name its folder")
        return kind or layouts[_layout_of(at)], [_main(at)]
    kind, by_split = _splits(layouts, at, kind)
    if split is None:
        split = next(iter(by_split)) if len(by_split) == 1 else "train"
    if split not in by_split:
        there = ", ".join(by_split) or "no tokens at all"
        raise MissingFileError(f"{path}: there is no split {split!r}; it has {there}")
    return kind, by_split[split]


def split_names(layouts: Mapping[str, BaseLayout], path: str, layout: str | None) -> list[str]:
    """The splits of a folder."""
    at = Path(path)
    if not _is_folder(at):
        raise ArgumentError(f"{path}: is a file; name its folder")
    return list(_splits(layouts, at, None if layout is None else chosen(layouts, layout))[1])


def _is_folder(path: Path) -> bool:
    """Whether something that is there is a folder."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"{path}: there is no such file or folder") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None


def _splits(
    layouts: Mapping[str, BaseLayout], folder: Path, kind: BaseLayout | None
) -> tuple[BaseLayout, dict[str, list[Path]]]:
    files = sorted(
        path
        for pattern in ("*", "*/*.ds")
        for path in folder.glob(pattern)
        if path.is_file() and not path.name.startswith(".")
    )
    if kind is None:
        kinds = sorted({name for path in files if (name := _layout_of(path, folder))})
        if len(kinds) > 1:
            raise ArgumentError(
                f"{folder}: holds files of the layouts {' and '.join(kinds)}; give layout="
            )
        if not kinds:
            raise MissingFileError(f"{folder}: holds no tokens of a layout that is known")
        kind = layouts[kinds[0]]
    by_split: dict[str, list[Path]] = {}
    for path in files:
        split = kind.split_of(path.relative_to(folder).as_posix())
        if split is not None:
            by_split.setdefault(split, []).append(path)
    for shards in by_split.values():
        # Numbers have five digits at least, and may have more.
        shards.sort(key=lambda path: (len(path.name), path.name))
    return kind, dict(sorted(by_split.items()))


def _layout_of(path: Path, folder: Path | None = None) -> str:
    """The layout of a file, by what lies beside it and by its first bytes; `""` for other files."""
    if folder is None:
        path = _main(path)
    if path.suffix in (".ds", ".parquet"):
        return "datatrove" if path.suffix == ".ds" else "parquet"
    if path.suffix != ".bin":
        if folder is None:
            raise ArgumentError(f"{path}: its name is not that of a file of tokens; give layout=")
        return ""
    if path.with_suffix(".idx").exists():
        return "megatron"
    if path.with_suffix(".ends").exists():
        return "jeton"
    with files.opened(path) as file:
        return "llm.c" if begins(file.read(8)) else "nanogpt"


def _main(path: Path) -> Path:
    """The main file of a shard of which any file is named."""
    return {
        ".idx": path.with_suffix(".bin"),
        ".ends": path.with_suffix(".bin"),
        ".mask": path.with_suffix(".bin"),
        ".loss": path.with_suffix(""),
        ".index": path.with_suffix(""),
        ".metadata": path.with_suffix(""),
    }.get(path.suffix, path)
