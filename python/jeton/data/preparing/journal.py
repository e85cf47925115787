"""The working folder of a set, from which preparing resumes after any interruption.

All files are written in `FOLDER/.preparing`, and moved to `FOLDER` only when the set is complete,
`manifest.json` last. `run.json` describes the run, and `state.json` its progress; it is replaced
atomically. `growing_file` says how the files of the set are continued.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from jeton import files
from jeton.data import manifest
from jeton.data.layouts.writer import synced
from jeton.data.manifest import Manifest
from jeton.errors import FileError, FormatError
from jeton.files import digest_of, file_errors

WORK = ".preparing"
RUN = "run.json"


class Journal:
    """The working folder of a set; one process at a time can use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / WORK
        self.set = self.work / "set"
        """The folder for the files of the set."""
        #: Whether the folder holds results of work.
        self._is_worth_keeping = False
        self._save_count = 0
        self._is_new = False
        self._lock: BinaryIO | None = None

    def __enter__(self) -> Journal:
        self._is_new = not self.folder.exists()
        with file_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.work.mkdir(0o700)
            self._claim()
            no_link = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            lock = os.open(self.work / "lock", os.O_WRONLY | os.O_CREAT | no_link)
            self._lock = os.fdopen(lock, "wb")
        try:
            _lock(self._lock, self.folder)
            with file_errors(self.folder):
                self._refuse_links()
                self.set.mkdir(exist_ok=True)
        except FileError:
            self._lock.close()
            raise
        self._is_worth_keeping = (self.work / "state.json").exists()
        return self

    def _claim(self) -> None:
        """Makes sure that only this user can write to the working folder.

        The names in it are known, so somebody else could plant a link that jeton would write
        through.
        """
        status = self.work.lstat()
        if not stat.S_ISDIR(status.st_mode):
            raise FileError(f"{self.work}: is not a folder; remove it to start")
        # A new file shows the id of this user, since file systems may map owners.
        with tempfile.TemporaryFile(dir=self.work) as own:
            if os.fstat(own.fileno()).st_uid != status.st_uid:
                raise FileError(f"{self.work}: belongs to another user; prepare in another folder")
        if stat.S_IMODE(status.st_mode) & 0o077:
            # Some file systems have no permissions.
            with contextlib.suppress(OSError):
                self.work.chmod(0o700)

    def _refuse_links(self) -> None:
        """Fails if the working folder has anything but folders and files without other links."""
        for folder, folders, names in os.walk(self.work):
            for path in (Path(folder, name) for name in (*folders, *names)):
                entry = path.lstat()
                is_file = stat.S_ISREG(entry.st_mode) and entry.st_nlink <= 1
                if not is_file and not stat.S_ISDIR(entry.st_mode):
                    raise FileError(
                        f"{path}: is a link, a pipe or a device; remove {self.work} to start again"
                    )

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and not self._is_worth_keeping:
            # So that the next call can have other options.
            shutil.rmtree(self.work, ignore_errors=True)
            if self._is_new:
                with contextlib.suppress(OSError):
                    self.folder.rmdir()
        if self._lock is not None:
            self._lock.close()

    def begin(
        self, run: dict[str, Any], read: Callable[[dict[str, Any] | None], dict[str, Consumed]]
    ) -> dict[str, Any] | None:
        """Records the run; returns the state to resume from, if it was started before.

        `read` returns how much of each split's inputs was read when the state was saved: that part
        must be unchanged, while other inputs may have changed.
        """
        run = json.loads(json.dumps(run))
        path = self.work / RUN
        if not path.exists():
            for leftover in self.set.iterdir():
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
            self._put(path, run)
            return None
        earlier = self._get(path)
        state_file = self.work / "state.json"
        state = self._get(state_file) if state_file.exists() else None
        if earlier != run:
            difference = _difference(earlier, run, read(state), digests_in(state))
            if difference is not None:
                raise FileError(f"{self.folder}: {difference}; {self._remedy()}")
            self._put(path, run)
        return state

    def save(self, state: dict[str, Any]) -> None:
        """Replaces the state atomically."""
        self._put(self.work / "state.json", state)
        # The first state is saved before any work.
        self._save_count += 1
        self._is_worth_keeping |= self._save_count > 1

    def forget(self) -> None:
        """Makes an error remove the working folder."""
        self._is_worth_keeping = False

    def check(self, whole: Manifest) -> None:
        """Fails if a file has changed since the manifest was written."""
        with file_errors(self.folder):
            for name, digest in whole.files.items():
                path = self.set / name if (self.set / name).exists() else self.folder / name
                if path.exists() and digest_of(path) != digest:
                    raise FormatError(f"{path}: is damaged since it was written; {self._remedy()}")

    def publish(self, whole: Manifest) -> None:
        """Moves the complete set to the folder, and removes the working folder.

        The manifest is moved last, and the main files of the first split before it: whoever finds
        these also finds the others. `run.json` is removed first, so that after a kill the rest of
        the working folder is known to be useless.
        """
        main = [shard.files[0] for split in whole.splits.values() for shard in split.shards]
        others = [name for name in whole.files if name not in main]
        with file_errors(self.folder):
            for name in [*others, *reversed(main)]:
                grown, target = self.set / name, self.folder / name
                if grown.exists():
                    if os.path.lexists(target):
                        raise FileError(f"{target}: is from another program; remove it to resume")
                    if target.parent != self.folder and target.parent.is_symlink():
                        raise FileError(f"{target.parent}: is a link; remove it to resume")
                    target.parent.mkdir(exist_ok=True)
                    os.replace(grown, target)
                elif not target.exists():
                    raise FileError(f"{target}: is missing since it was written; {self._remedy()}")
            part = self.work / manifest.NAME
            part.write_text(whole.to_json(), "utf-8")
            with part.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(part, self.folder / manifest.NAME)
            synced(self.folder)
            (self.work / RUN).unlink()
            shutil.rmtree(self.work, ignore_errors=True)

    def _remedy(self) -> str:
        return f"resume the run that was started, or remove {self.work} to start again"

    def _put(self, path: Path, record: dict[str, Any]) -> None:
        text = json.dumps(record)
        files.write(path, f"{text}\n{zlib.crc32(text.encode()):08x}\n".encode())
        with file_errors(self.folder):
            synced(self.work)

    def _get(self, path: Path) -> dict[str, Any]:
        with file_errors(self.folder):
            text, _, sum_of_text = path.read_bytes().partition(b"\n")
        if sum_of_text != b"%08x\n" % zlib.crc32(text):
            raise FormatError(f"{path}: is damaged; remove {self.work} to start again")
        record: dict[str, Any] = json.loads(text)
        return record


def _lock(file: BinaryIO, folder: Path) -> None:
    """Locks a folder against other processes while the file is open."""
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
    """How much of the inputs of a split was read."""

    pass_number: int
    """The pass that reads them."""
    files: int | None
    """The number of inputs that must be unchanged; `None` for all."""


def digests_in(state: dict[str, Any] | None) -> dict[int, dict[int, tuple[int, str]]]:
    """For each pass, the size and SHA-256 of each input that it has read to its end."""
    by_pass: dict[int, dict[int, tuple[int, str]]] = {}
    for pass_number, number, size, sha256 in (state or {}).get("digests", ()):
        by_pass.setdefault(pass_number, {})[number] = (size, sha256)
    return by_pass


def _difference(
    earlier: dict[str, Any],
    current: dict[str, Any],
    read: dict[str, Consumed],
    digests: dict[int, dict[int, tuple[int, str]]],
) -> str | None:
    """The first difference that prevents one run from resuming the other; `None` without any."""
    if earlier.get("tokenizer") != current["tokenizer"]:
        return "the tokenizer is not the one that this set was started with"
    if earlier.get("jeton") != current["jeton"]:
        return f"was started by jeton {earlier.get('jeton')}, which may give other files"
    options = earlier.get("options")
    for name, value in current["options"].items():
        before = options.get(name) if isinstance(options, dict) else None
        if _as_lenient(name, before, value) != value:
            return f"holds a set that was started with {name}={before!r}, not {value!r}"
    inputs = earlier.get("inputs")
    for split, entries in current["inputs"].items():
        before, consumed = inputs.get(split) if isinstance(inputs, dict) else None, read[split]
        wholly = consumed.files is None and before != entries
        count = len(entries) if consumed.files is None else consumed.files
        if (
            not isinstance(before, list)
            or min(len(before), len(entries)) < count
            or (wholly and len(before) != len(entries))
        ):
            return "the inputs are not those that this set was started with"
        known_digests = digests.get(consumed.pass_number, {})
        for number, (old, new) in enumerate(zip(before[:count], entries[:count], strict=True)):
            if old != new and not _is_same_file(old, new, known_digests.get(number)):
                return change_of(old, new)
    return None


def _as_lenient(name: str, before: object, value: object) -> Any:
    """The value of an option when the run was started, or its value now if that is as good: data
    that passed the strictest choice reads the same with any other."""
    if name == "messages" and isinstance(before, dict) and isinstance(value, dict):
        return {of: _as_lenient(of, it, value.get(of)) for of, it in before.items()}
    return value if name in _STRICTEST and before == _STRICTEST[name] else before


_STRICTEST = {"errors": "strict", "bad_records": "error"}


def _is_same_file(old: Any, new: Any, digest: tuple[int, str] | None) -> bool:
    """Whether a file that was read has the same content at another time."""
    if digest is None or any(old.get(name) != new.get(name) for name in ("path", "bytes")):
        return False
    return digest_of(Path(new["path"])).sha256 == digest[1]


def change_of(old: dict[str, Any], new: dict[str, Any]) -> str:
    """A description of how an input has changed."""
    place = new.get("path")
    if place is None or old.get("path") != place:
        return "the inputs are not those that this set was started with"
    if old.get("bytes") != new.get("bytes"):
        return f"{place} has changed: it has {new.get('bytes'):,} bytes, and had {old['bytes']:,}"
    return f"{place} has changed since it was read first"
