"""Where commands write: which files they may replace, and how files appear only when complete.

One rule for every command: an existing file is replaced only with `--force`, and a file that the
command reads is never replaced, under any name. A symbolic link stays, and its target is written.
Pipes and devices are written to directly.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

import click

from jeton import files
from jeton.cli.printing import say, terminal_text
from jeton.cli.signals import temporary_folder, undisturbed
from jeton.cli.streams import STDOUT, name_full_file
from jeton.errors import FileError, JetonError, MissingFileError
from jeton.stores.urls import StorePath, is_url, shown

F = TypeVar("F", bound=Callable[..., object])

PathLike: TypeAlias = str | os.PathLike[str]


class FilePath(click.Path):
    """A path that is not empty: an empty one is usually a shell variable that is not set.

    A path that ends in `..` is resolved, so that its last part is a name. A path loses a separator
    at its end; so `name.with-dot/` is an error if that folder does not exist. `~` is the home
    folder, unless a file has that very name. With `urls`, a URL of an object store is a
    `StorePath`; with `named`, a URL may have a name, `NAME=URL`, and then stays a `str`.
    """

    def __init__(self, *args: Any, urls: bool = False, named: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self._urls, self._named = urls, named

    def convert(
        self, value: PathLike, param: click.Parameter | None, ctx: click.Context | None
    ) -> PathLike | bytes:
        if value == "":
            self.fail("the path is empty", param, ctx)
        if is_url(value):
            if self._urls:
                return StorePath(os.fspath(value))
            self.fail(
                f"{shown(os.fspath(value))} is a URL, which is not taken here (copy the files from "
                "or to the store)",
                param,
                ctx,
            )
        if self._named and is_url(os.fspath(value).partition("=")[2]):
            return value
        value = files.expanded(value)
        if os.path.basename(os.fspath(value).rstrip(os.sep)) == os.pardir:
            value = os.path.realpath(value)
        path = Path(value)
        if os.fspath(value).endswith(os.sep) and path.suffix and not path.exists():
            self.fail(f"{value}: there is no such folder (make it first)", param, ctx)
        return super().convert(value, param, ctx)


def corpus_path(path: str) -> Path | StorePath:
    """A path or URL of text, as the library takes it."""
    return StorePath(path) if is_url(path) else Path(path)


STREAM = "-"
"""Means standard input among inputs, and standard output as a target."""


def output_option(function: F) -> F:
    """The option `--output`, which arrives as `output`."""
    option = click.option(
        "-o", "--output", type=FilePath(), metavar="FILE", help="The file to write."
    )
    return option(function)


def force_option(function: F) -> F:
    """The option `--force`."""
    return click.option("--force", is_flag=True, help="Replace files that exist.")(function)


def check_inputs(paths: Iterable[PathLike]) -> None:
    """Fails before any work if an input does not exist, or if standard output goes to it.

    Raises:
        FileError: A shell has opened the file for standard output, as `>>` does.
        MissingFileError: There is no such file.
        OSError: The file cannot be looked at.
    """
    inputs = list(paths)
    check_target(None, inputs=inputs, force=False)
    for path in inputs:
        if os.fspath(path) != STREAM and not is_url(path):
            try:
                os.stat(path)
            except FileNotFoundError:
                raise MissingFileError(f"{os.fspath(path)}: no such file") from None


def check_folders(*folders: PathLike) -> None:
    """Fails before any work if standard output goes to a file in one of these folders."""
    inputs = [path for folder in folders for path in sorted(Path(folder).rglob("*"))]
    check_target(None, inputs=inputs, force=False)


def check_target(
    target: PathLike | None,
    *,
    inputs: Iterable[PathLike] = (),
    force: bool,
    folder: bool = False,
    stream: bool = False,
) -> None:
    """Fails before any work if the target must not be replaced or cannot be written.

    Args:
        target: Where the command will write; `-` or `None` for standard output.
        inputs: Everything that the command reads: files, folders, `-` for standard input. Names of
            known tokenizers, which are not paths, are ignored.
        force: Whether the user passed `--force`.
        folder: Whether the target may be a folder, into which `publish` puts files.
        stream: Whether the target may be standard output, a pipe or a device.
    """
    input_paths = list(inputs)
    if target is not None and os.fspath(target) == STREAM and not stream:
        raise FileError(f"{STREAM}: this is not written to standard output (name a file)")
    if target is None or os.fspath(target) == STREAM:
        _refuse_input(STDOUT, _stat_of_stream(sys.stdout), input_paths)
        return
    path = Path(target)
    try:
        there = os.stat(path)
    except FileNotFoundError:
        there = None
    real = Path(os.path.realpath(path))
    if not real.parent.is_dir():
        missing = real.parent if path.is_symlink() else path.parent
        raise FileError(f"{missing}: no such folder to write into")
    _refuse_input(str(path), there, input_paths)
    if there is None:
        _try_to_write(real)
    elif stat.S_ISDIR(there.st_mode):
        if not folder:
            raise FileError(f"{path}: is a folder (name a file in it)")
        _try_to_write(real / "x")
    elif stat.S_ISREG(there.st_mode):
        for source in input_paths:
            if os.path.isdir(source) and Path(os.path.realpath(source)) in real.parents:
                raise FileError(f"{path}: is one of the inputs, in {source} (name another file)")
        if not force:
            raise _exists(path)
        _try_to_write(real)
    elif not (stream and (stat.S_ISFIFO(there.st_mode) or stat.S_ISCHR(there.st_mode))):
        raise FileError(f"{path}: exists and is not a file (name a new file)")


@contextlib.contextmanager
def replacing(target: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `target` on success and is removed otherwise.

    If `target` is a link, it stays one. Devices and pipes are written to directly.
    """
    if target.exists() and not target.is_file():
        with name_full_file(str(target)), target.open("wb") as stream:
            yield stream
        return
    real = Path(os.path.realpath(target))
    with undisturbed():
        partial, file = files.create_beside(real)
    try:
        with name_full_file(str(target)), file:
            yield file
        if not force and real.exists():
            raise _exists(target)  # made while the command ran
        os.replace(partial, real)
    finally:
        with undisturbed(), contextlib.suppress(FileNotFoundError):
            partial.unlink()


def give(text: str, output: PathLike | None, *, force: bool) -> None:
    """Prints the text, or writes it to a file without colours; either way with a line end."""
    if output is None or os.fspath(output) == STREAM:
        say(text)
        return
    with replacing(Path(output), force=force) as file:
        file.write(f"{terminal_text(text, colour=False)}\n".encode())


@contextlib.contextmanager
def workshop(target: Path) -> Iterator[Path]:
    """A folder beside `target`, in which files are completed before `publish` moves them.

    Errors name the final path instead of the one in this folder.
    """
    with temporary_folder(prefix=".jeton-", dir=target.parent) as folder:
        try:
            with name_full_file(str(target)):
                if target.is_dir():
                    (folder / target.name).mkdir(exist_ok=True)  # `.` has no name
                yield folder
        except JetonError as error:
            message = error.message.replace(str(folder / target.name), str(target))
            message = message.replace(str(folder), str(target.parent))
            raise error.reworded(message) from None


def moves(folder: Path, target: Path) -> list[tuple[Path, Path]]:
    """The files of a workshop, each with its final path.

    The file named `target` is last: whoever finds it also finds the files that belong to it.
    """
    finished = sorted(path for path in folder.rglob("*") if path.is_file())
    pairs = [(file, target.parent / file.relative_to(folder)) for file in finished]
    return sorted(pairs, key=lambda pair: pair[1].name == target.name)


def check_moves(pairs: list[tuple[Path, Path]], inputs: Iterable[PathLike], force: bool) -> None:
    """Fails if a file must not be replaced, by the rules of `check_target`."""
    input_paths = list(inputs)
    for _, final in pairs:
        if final.parent.is_dir():
            check_target(final, inputs=input_paths, force=force)


def publish(
    folder: Path, target: Path, *, inputs: Iterable[PathLike] = (), force: bool
) -> list[Path]:
    """Moves the files of a workshop to their final paths, and returns these.

    Other files in an existing folder stay as they are.
    """
    pairs = moves(folder, target)
    check_moves(pairs, inputs, force)
    with undisturbed():
        for file, final in pairs:
            final.parent.mkdir(exist_ok=True)
            _move(file, Path(os.path.realpath(final)))
    return sorted(final for _, final in pairs)


def _exists(path: Path) -> FileError:
    return FileError(f"{path}: exists already (--force replaces it)")


def _refuse_input(name: str, there: os.stat_result | None, inputs: list[PathLike]) -> None:
    if there is None or not (stat.S_ISREG(there.st_mode) or stat.S_ISDIR(there.st_mode)):
        return
    for source in inputs:
        if os.fspath(source) == STREAM:
            read = _stat_of_stream(sys.stdin)
        else:
            read = None
            with contextlib.suppress(OSError, ValueError):
                read = os.stat(source)
        if read is not None and os.path.samestat(there, read):
            which = "" if os.fspath(source) == name else f", {os.fspath(source)}"
            raise FileError(f"{name}: is one of the inputs{which} (name another file)")


def _stat_of_stream(stream: object) -> os.stat_result | None:
    try:
        return os.fstat(stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None


def _try_to_write(path: Path) -> None:
    """Creates a file beside `path`, and removes it."""
    with undisturbed():
        trial, file = files.create_beside(path)
        file.close()
        trial.unlink()


def _move(file: Path, final: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        file.chmod(stat.S_IMODE(final.stat().st_mode))  # as the file that it replaces
    try:
        os.replace(file, final)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # A link may lead to another file system, where renaming fails.
        partial, copy = files.create_beside(final)
        try:
            with name_full_file(str(final)), copy, file.open("rb") as source:
                shutil.copyfileobj(source, copy)
            os.replace(partial, final)
        finally:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()
