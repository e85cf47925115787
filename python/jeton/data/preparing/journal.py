"""What it takes to go on after any interruption: the folder in which a set grows.

Everything grows in `FOLDER/.preparing`; only what is whole is moved to `FOLDER`, `manifest.json`
last. `run.json` says what is prepared from what, `state.json` how far it is, and is replaced in one
step; `digests.jsonl` grows by a line for each input that was read to its end.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from jeton.data import manifest
from jeton.data.layouts.writer import synced
from jeton.data.manifest import Manifest
from jeton.errors import FileError, FormatError
from jeton.files import digest_of

__all__ = ["Consumed", "Journal"]

WORK = ".preparing"
RUN = "run.json"


class Journal:
    """The folder in which a set grows; one process at a time has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / WORK
        self.set = self.work / "set"
        """Where the files of the set grow."""
        #: Whether something is kept that took work.
        self._is_worth_keeping = False
        self._saved = 0
        self._is_new = False
        self._lock: BinaryIO | None = None
        self._digests: BinaryIO | None = None
        #: How many lines of digests there are.
        self._noted = 0

    def __enter__(self) -> Journal:
        self._is_new = not self.folder.exists()
        with self._file_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.work.mkdir(0o700)
            self._claim()
            no_link = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            lock = os.open(self.work / "lock", os.O_WRONLY | os.O_CREAT | no_link)
            self._lock = os.fdopen(lock, "wb")
        try:
            _lock(self._lock, self.folder)
            with self._file_errors():
                self._refuse_links()
                self.set.mkdir(exist_ok=True)
        except FileError:
            self._lock.close()
            raise
        self._is_worth_keeping = (self.work / "state.json").exists()
        return self

    def _claim(self) -> None:
        """Keeps others out of the folder in which a set grows.

        The names in it are known, so a link that was planted under one would be written through.

        Raises:
            FileError: The folder is a link, or belongs to somebody else.
        """
        found = self.work.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise FileError(f"{self.work}: is not a folder; remove it to begin")
        # A new file shows who this user is: file systems may map owners.
        with tempfile.TemporaryFile(dir=self.work) as own:
            if os.fstat(own.fileno()).st_uid != found.st_uid:
                raise FileError(f"{self.work}: belongs to another user; prepare in another folder")
        if stat.S_IMODE(found.st_mode) & 0o077:
            # Some file systems have no permissions.
            with contextlib.suppress(OSError):
                self.work.chmod(0o700)

    def _refuse_links(self) -> None:
        """Raises an error if something in the working folder is neither a folder nor a file of its
        own."""
        for folder, folders, names in os.walk(self.work):
            for path in (Path(folder, name) for name in (*folders, *names)):
                entry = path.lstat()
                is_file = stat.S_ISREG(entry.st_mode) and entry.st_nlink <= 1
                if not is_file and not stat.S_ISDIR(entry.st_mode):
                    raise FileError(
                        f"{path}: is a link, a pipe or a device; remove {self.work} to begin anew"
                    )

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and not self._is_worth_keeping:
            # So that the next call may have other options.
            shutil.rmtree(self.work, ignore_errors=True)
            if self._is_new:
                with contextlib.suppress(OSError):
                    self.folder.rmdir()
        for file in (self._digests, self._lock):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()

    def begin(
        self, run: dict[str, Any], read: Callable[[dict[str, Any] | None], dict[str, Consumed]]
    ) -> dict[str, Any] | None:
        """Notes what is prepared; gives the state to go on from, if it was begun before.

        `read` says what had been read of each split's inputs when a state was saved: that must be
        the same, and other inputs may have changed.

        Raises:
            FileError: Something else was begun in the folder, or an input has changed since.
        """
        run = json.loads(json.dumps(run))
        path = self.work / RUN
        if not path.exists():
            for left in self.set.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            self._put(path, run)
            return None
        begun = self._get(path)
        saved = self.work / "state.json"
        state = self._get(saved) if saved.exists() else None
        self._noted = 0 if state is None else state.pop("digests")
        if begun != run:
            difference = _difference(begun, run, read(state), self.digests())
            if difference is not None:
                raise FileError(f"{self.folder}: {difference}; {self._remedy()}")
            self._put(path, run)
        return state

    def save(self, state: dict[str, Any]) -> None:
        """Replaces the state in one step."""
        with self._file_errors():
            if self._digests is not None:
                self._digests.flush()
                os.fsync(self._digests.fileno())
        self._put(self.work / "state.json", {**state, "digests": self._noted})
        # The first state is that before any work.
        self._saved += 1
        self._is_worth_keeping |= self._saved > 1

    def forget(self) -> None:
        """Keeps nothing, if the run ends with an error."""
        self._is_worth_keeping = False

    def add_digest(self, pass_number: int, number: int, size: int, sha256: str) -> None:
        """Notes what was read of an input; with the next state it is on the disk."""
        with self._file_errors():
            if self._digests is None:
                path = self.work / "digests.jsonl"
                self._digests = path.open("ab")
                # What was cut short by a kill is no line.
                if self._digests.tell():
                    self._digests.write(b"\n")
            line = json.dumps([pass_number, number, size, sha256]).encode()
            self._digests.write(b"%08x %s\n" % (zlib.crc32(line), line))
            self._noted += 1

    def digests(self) -> dict[int, dict[int, tuple[int, str]]]:
        """For each pass, what was read of each input."""
        path = self.work / "digests.jsonl"
        found: dict[int, dict[int, tuple[int, str]]] = {}
        if self._digests is not None:
            self._digests.flush()
        whole = 0
        for line in path.read_bytes().splitlines() if path.exists() else []:
            sum_of_text, _, text = line.partition(b" ")
            if sum_of_text == b"%08x" % zlib.crc32(text):
                pass_number, number, size, sha256 = json.loads(text)
                found.setdefault(pass_number, {})[number] = (size, sha256)
                whole += 1
        # What was cut short by a kill is no line, and no state speaks of it.
        if whole < self._noted:
            raise FormatError(f"{path}: is damaged; remove {self.work} to begin anew")
        self._noted = whole
        return found

    def check(self, whole: Manifest) -> None:
        """Refuses files that have changed since the manifest was made.

        Raises:
            FormatError: One has.
        """
        with self._file_errors():
            for name, expected in whole.files.items():
                path = self.set / name if (self.set / name).exists() else self.folder / name
                if path.exists() and digest_of(path) != expected:
                    raise FormatError(f"{path}: is damaged since it was written; {self._remedy()}")

    def publish(self, whole: Manifest) -> None:
        """Moves what is whole to the folder, and removes what it grew in.

        The manifest comes last, and before it the main files of the first split: whoever finds
        these finds all others. What says that something is prepared here goes before the rest that
        is removed: what a kill leaves then is known to be of no use.
        """
        main = [shard.files[0] for split in whole.splits.values() for shard in split.shards]
        others = [name for name in whole.files if name not in main]
        with self._file_errors():
            for name in [*others, *reversed(main)]:
                grown, target = self.set / name, self.folder / name
                if grown.exists():
                    if os.path.lexists(target):
                        raise FileError(f"{target}: was put there by another; remove it to go on")
                    if target.parent != self.folder and target.parent.is_symlink():
                        raise FileError(f"{target.parent}: is a link; remove it to go on")
                    target.parent.mkdir(exist_ok=True)
                    os.replace(grown, target)
                elif not target.exists():
                    raise FileError(f"{target}: is gone since it was written; {self._remedy()}")
            part = self.work / manifest.NAME
            part.write_text(whole.to_json(), "utf-8")
            with part.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(part, self.folder / manifest.NAME)
            synced(self.folder)
            (self.work / RUN).unlink()
            shutil.rmtree(self.work, ignore_errors=True)

    def _remedy(self) -> str:
        return f"go on with what was begun, or remove {self.work} to begin anew"

    def _put(self, path: Path, record: dict[str, Any]) -> None:
        beside = path.with_suffix(".new")
        text = json.dumps(record)
        with self._file_errors():
            with beside.open("w", encoding="utf-8") as file:
                file.write(f"{text}\n{zlib.crc32(text.encode()):08x}\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
            synced(self.work)

    def _get(self, path: Path) -> dict[str, Any]:
        with self._file_errors():
            text, _, sum_of_text = path.read_bytes().partition(b"\n")
        if sum_of_text != b"%08x\n" % zlib.crc32(text):
            raise FormatError(f"{path}: is damaged; remove {self.work} to begin anew")
        record: dict[str, Any] = json.loads(text)
        return record

    @contextlib.contextmanager
    def _file_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if isinstance(error, FileError):
                raise
            place = error.filename or self.folder
            raise FileError(f"{place}: cannot be written: {error.strerror}") from None


def _lock(file: BinaryIO, folder: Path) -> None:
    """Keeps other processes from a folder for as long as the file is open."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise FileError(f"{folder}: another process is preparing a set in it") from None


@dataclass(frozen=True)
class Consumed:
    """What of the inputs of a split had been read."""

    pass_number: int
    """The pass that reads them."""
    files: int | None
    """How many were; `None` if all must be the same."""


def _difference(
    begun: dict[str, Any],
    wanted: dict[str, Any],
    read: dict[str, Consumed],
    digests: dict[int, dict[int, tuple[int, str]]],
) -> str | None:
    """In what two runs differ, first, if one cannot go on with the other."""
    if begun.get("tokenizer") != wanted["tokenizer"]:
        return "the tokenizer is not the one that this set was begun with"
    if begun.get("jeton") != wanted["jeton"]:
        return f"was begun by jeton {begun.get('jeton')}, which may do otherwise"
    options = begun.get("options")
    for name, value in wanted["options"].items():
        before = options.get(name) if isinstance(options, dict) else None
        if _as_lenient(name, before, value) != value:
            return f"holds a set that was begun with {name}={before!r}, not {value!r}"
    inputs = begun.get("inputs")
    for split, entries in wanted["inputs"].items():
        before, consumed = inputs.get(split) if isinstance(inputs, dict) else None, read[split]
        wholly = consumed.files is None and before != entries
        count = len(entries) if consumed.files is None else consumed.files
        if (
            not isinstance(before, list)
            or min(len(before), len(entries)) < count
            or (wholly and len(before) != len(entries))
        ):
            return "the inputs are not those that this set was begun with"
        known = digests.get(consumed.pass_number, {})
        for number, (old, new) in enumerate(zip(before[:count], entries[:count], strict=True)):
            if old != new and not _is_same_file(old, new, known.get(number)):
                return changed(old, new)
    return None


def _as_lenient(name: str, before: object, value: object) -> Any:
    """What an option was, or may be now: what was read under the strictest choice held nothing that
    another would have read otherwise."""
    if name == "messages" and isinstance(before, dict) and isinstance(value, dict):
        return {of: _as_lenient(of, it, value.get(of)) for of, it in before.items()}
    return value if name in _STRICTEST and before == _STRICTEST[name] else before


_STRICTEST = {"errors": "strict", "bad_records": "error"}


def _is_same_file(old: Any, new: Any, digest: tuple[int, str] | None) -> bool:
    """Whether a file that was read has the same content at another time."""
    if digest is None or any(old.get(name) != new.get(name) for name in ("path", "bytes")):
        return False
    return digest_of(Path(new["path"])).sha256 == digest[1]


def changed(old: dict[str, Any], new: dict[str, Any]) -> str:
    """How an input has changed."""
    place = new.get("path")
    if place is None or old.get("path") != place:
        return "the inputs are not those that this set was begun with"
    if old.get("bytes") != new.get("bytes"):
        return f"{place} has changed: it has {new.get('bytes'):,} bytes, and had {old['bytes']:,}"
    return f"{place} has changed since it was read first"
