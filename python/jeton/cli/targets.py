"""Where commands write: what may be replaced, and files that appear only when they are whole.

One rule for every command: nothing that is there is replaced without `--force`, and nothing that
the command reads is replaced at all, by whatever name it goes. A link stays a link, and what it
stands for is written; a pipe or a device is written to as it is.
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
from jeton.errors import FileError, JetonError

__all__ = [
    "FilePath",
    "check_inputs",
    "check_moves",
    "check_target",
    "force_option",
    "give",
    "moves",
    "output_option",
    "publish",
    "replacing",
    "workshop",
]

F = TypeVar("F", bound=Callable[..., object])

PathLike: TypeAlias = str | os.PathLike[str]


class FilePath(click.Path):
    """A path; an empty one is no name of this folder, but of a variable that is not set.

    One that ends in `..` is resolved, so that the last part of a path is the name of what is there.
    A separator at the end is lost, so it must not be what says that a name with a dot is a folder.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the path is empty", param, ctx)
        if os.path.basename(os.fspath(value).rstrip(os.sep)) == os.pardir:
            value = os.path.realpath(value)
        path = Path(value)
        if os.fspath(value).endswith(os.sep) and path.suffix and not path.exists():
            self.fail(f"{value}: there is no such folder (make it first)", param, ctx)
        return super().convert(value, param, ctx)


STREAM = "-"
"""Stands for standard input among inputs, and for standard output as a target."""


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
    """Refuses, before any work, a file that is not there, or that standard output goes to.

    Raises:
        FileError: A shell has opened it for standard output, as `>>` does.
        OSError: That of looking at it.
    """
    given = list(paths)
    check_target(None, inputs=given, force=False)
    for path in given:
        if os.fspath(path) != STREAM:
            os.stat(path)


def check_target(
    target: PathLike | None,
    *,
    inputs: Iterable[PathLike] = (),
    force: bool,
    folder: bool = False,
    stream: bool = False,
) -> None:
    """Refuses, before any work, a target that must not be replaced or cannot be written.

    Args:
        target: Where the command is to write; `-` or `None` for standard output.
        inputs: All that the command reads: files, folders, `-` for standard input. Names that are
            no paths, as of known tokenizers, are passed over.
        force: Whether `--force` was given.
        folder: Whether a folder will do, into which `publish` puts files.
        stream: Whether a pipe or a device will do.

    Raises:
        FileError: It is an input, or exists already, or cannot be written.
    """
    given = list(inputs)
    if target is None or os.fspath(target) == STREAM:
        _refuse_input(STDOUT, _stat_of_stream(sys.stdout), given)
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
    _refuse_input(str(path), there, given)
    if there is None:
        _try_to_write(real)
    elif stat.S_ISDIR(there.st_mode):
        if not folder:
            raise FileError(f"{path}: is a folder (name a file in it)")
        _try_to_write(real / "x")
    elif stat.S_ISREG(there.st_mode):
        for read in given:
            if os.path.isdir(read) and Path(os.path.realpath(read)) in real.parents:
                raise FileError(f"{path}: is one of the inputs, in {read} (name another file)")
        if not force:
            raise _exists(path)
        _try_to_write(real)
    elif not (stream and (stat.S_ISFIFO(there.st_mode) or stat.S_ISCHR(there.st_mode))):
        raise FileError(f"{path}: exists and is not a file (name a new file)")


@contextlib.contextmanager
def replacing(target: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `target` when all went well and vanishes otherwise.

    A link stays a link; a device or a pipe is written to as it is, never replaced by a file.
    """
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    real = Path(os.path.realpath(target))
    with undisturbed():
        partial, file = files.create_beside(real)
    try:
        with file:
            yield file
        if not force and real.exists():
            raise _exists(target)  # made while the command ran
        os.replace(partial, real)
    finally:
        with undisturbed(), contextlib.suppress(FileNotFoundError):
            partial.unlink()


def give(text: str, output: PathLike | None, *, force: bool) -> None:
    """Prints the text, or writes it to a file without colours, with a line end behind it."""
    if output is None:
        say(text)
        return
    with replacing(Path(output), force=force) as file:
        file.write(f"{terminal_text(text, colour=False)}\n".encode())


@contextlib.contextmanager
def workshop(target: Path) -> Iterator[Path]:
    """A folder beside `target`, in which files are finished before `publish` moves them.

    What goes wrong in it is told of where it was to go.
    """
    with temporary_folder(prefix=".jeton-", dir=target.parent) as folder:
        try:
            with name_full_file(str(target)):
                if target.is_dir():
                    (folder / target.name).mkdir(exist_ok=True)  # `.` has no name
                yield folder
        except JetonError as error:
            message = str(error).replace(str(folder / target.name), str(target))
            message = message.replace(str(folder), str(target.parent))
            raise type(error)(message) from None


def moves(folder: Path, target: Path) -> list[tuple[Path, Path]]:
    """The files of a workshop, each with where it goes.

    What is named comes last: who finds it finds what belongs to it as well.
    """
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    pairs = [(file, target.parent / file.relative_to(folder)) for file in found]
    return sorted(pairs, key=lambda pair: pair[1].name == target.name)


def check_moves(pairs: list[tuple[Path, Path]], inputs: Iterable[PathLike], force: bool) -> None:
    """Refuses files that must not be replaced, as `check_target` has it."""
    read = list(inputs)
    for _, final in pairs:
        if final.parent.is_dir():
            check_target(final, inputs=read, force=force)


def publish(
    folder: Path, target: Path, *, inputs: Iterable[PathLike] = (), force: bool
) -> list[Path]:
    """Moves what is in a workshop beside it; gives where each file now is.

    In a folder that is there already, other files stay as they are.

    Raises:
        FileError: One of the files must not be replaced. None was moved then.
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
    for given in inputs:
        if os.fspath(given) == STREAM:
            read = _stat_of_stream(sys.stdin)
        else:
            read = None
            with contextlib.suppress(OSError, ValueError):
                read = os.stat(given)
        if read is not None and os.path.samestat(there, read):
            which = "" if os.fspath(given) == name else f", {os.fspath(given)}"
            raise FileError(f"{name}: is one of the inputs{which} (name another file)")


def _stat_of_stream(stream: object) -> os.stat_result | None:
    try:
        return os.fstat(stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None


def _try_to_write(path: Path) -> None:
    """Makes a file beside `path`, and removes it."""
    with undisturbed():
        trial, file = files.create_beside(path)
        file.close()
        trial.unlink()


def _keep_mode(new: Path, old: Path) -> None:
    """Gives a file the permissions of the one that it replaces."""
    with contextlib.suppress(FileNotFoundError):
        new.chmod(stat.S_IMODE(old.stat().st_mode))


def _move(file: Path, final: Path) -> None:
    _keep_mode(file, final)
    try:
        os.replace(file, final)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # A link may lead to another file system, into which nothing can be renamed.
        partial, copy = files.create_beside(final)
        try:
            with copy, file.open("rb") as source:
                shutil.copyfileobj(source, copy)
            os.replace(partial, final)
        finally:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()
