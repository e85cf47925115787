"""`manifest.json` of a token set: its inputs, its options, and the digests of its files.

`verify` compares a set with it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path, PurePosixPath
from threading import Event
from typing import Any

from jeton import files, saved_json
from jeton.arguments import check_kind, checked_path
from jeton.corpora.progress import check_watch
from jeton.data.layouts import LAYOUTS, WrittenShard, splits
from jeton.errors import FileError, FormatError, JetonError, MissingFileError
from jeton.files import FileDigest, digest_of, file_errors
from jeton.stores.folders import local_copy

NAME = "manifest.json"
_FORMAT = 1
_THREADS = 4
"""Threads that read files."""


@dataclass(frozen=True)
class WrittenSplit:
    """A split of a token set."""

    documents: int
    """The number of documents; one that is split between two splits counts in both."""
    tokens: int
    """The number of their tokens, including end-of-text tokens."""
    shards: tuple[WrittenShard, ...]
    """Its shards, in order."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The description of a token set, from its `manifest.json` or returned by `prepare`.

    Example:
        >>> import jeton, tempfile
        >>> from jeton.data import Manifest, prepare
        >>> folder = tempfile.mkdtemp()
        >>> tok = jeton.CharTrainer().train("to be or not to be")
        >>> _ = prepare(["to be", "or not", "to be"], tok, folder, end_of_text=None)
        >>> manifest = Manifest.read(folder)
        >>> manifest.splits["train"].documents, manifest.tokens, manifest.dtype
        (3, 16, 'uint16')
    """

    jeton: str = ""
    """The version of jeton that wrote it."""
    layout: str
    """A name of `jeton.data.layouts.LAYOUTS`."""
    dtype: str
    """The type of a token in the files: `uint16` or `uint32`."""
    tokenizer: Mapping[str, Any]
    """`digest`, `vocab_size` and `max_id` of the tokenizer; its `name`, if there is one; and the
    `file` in the folder that holds it, if a format can."""
    end_of_text: Mapping[str, Any] | None
    """The `token` that separates documents, its `id` and its `place`: `after` or `before` each."""
    documents: int
    """The number of documents that were read, without empty ones."""
    bytes: int
    """The size of these in bytes of UTF-8."""
    empty_documents: int
    """The number of empty documents that were left out."""
    bad_documents: int = 0
    """The number of records, rows and lines left out because they cannot be read or encoded."""
    chats: Mapping[str, int] | None = None
    """For conversations: `learnt_tokens`; the number that were `truncated`, and
    `messages_left_out` of these; the number left out as `too_long` or `bad`. Otherwise `None`."""
    filtered: Mapping[str, int] | None = None
    """How many records each filter has left out, by the rule or the name of the function; `None`
    without filters. A record counts for the first filter that it does not pass."""
    options: Mapping[str, Any]
    """The other options of `prepare`."""
    part: tuple[int, int] | None = None
    """For a part, its number from 1, and the number of parts."""
    splits: Mapping[str, WrittenSplit]
    """The splits by name."""
    files: Mapping[str, FileDigest]
    """All files but this one, by name."""
    inputs: tuple[Mapping[str, Any], ...]
    """The inputs: files with `path`, `bytes` and `sha256`, or other sources."""

    @property
    def tokens(self) -> int:
        """The number of tokens of all splits."""
        return sum(split.tokens for split in self.splits.values())

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Manifest:
        """The manifest of a folder.

        Raises:
            MissingFileError: There is no manifest.
            FileError: It is not a file, or cannot be read.
            FormatError: It is damaged, or from a later version of jeton.
        """
        path = Path(local_copy(checked_path("folder", folder, urls=True)), NAME)
        if os.path.isfile(path.parent):
            raise FileError(f"{path.parent}: is a file; name the folder of a token set")
        try:
            text = files.read(path).decode()
        except MissingFileError:
            raise MissingFileError(
                f"{path}: there is no such file; a set that jeton has prepared completely has one"
            ) from None
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}: not UTF-8 at byte {error.start}") from None
        return cls.from_json(text, str(path))

    @classmethod
    def from_json(cls, text: str, place: str = NAME) -> Manifest:
        """The manifest in a text; errors begin with `place`."""
        check_kind("text", text, str, "a str")
        try:
            return _read(json.loads(text))
        except (
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            if isinstance(error, JetonError):
                raise FormatError(f"{place}: {error}") from None
            raise FormatError(
                f"{place}: is not a manifest of a token set, or damaged: {type(error).__name__}: "
                f"{error}"
            ) from None

    def to_json(self) -> str:
        """The manifest as text, always the same for the same set."""
        record: dict[str, Any] = {"format": _FORMAT}
        for name, value in asdict(self).items():
            if value is not None or name not in ("chats", "filtered"):
                record[name] = value
            if name == "bytes":
                record["tokens"] = self.tokens
        return saved_json.dumps(record, indent=1) + "\n"


def _read(record: Any) -> Manifest:
    if record["format"] != _FORMAT:
        raise FormatError(
            f"has format {record['format']!r}, and this version of jeton reads {_FORMAT}; use the "
            "version that wrote it"
        )
    if record["layout"] not in LAYOUTS:
        raise FormatError(f"names a layout {record['layout']!r} that is not known")
    files = {
        _name(name): FileDigest(_count(file["bytes"]), str(file["sha256"]))
        for name, file in record["files"].items()
    }
    split_entries = {
        str(name): WrittenSplit(
            _count(split["documents"]),
            _count(split["tokens"]),
            tuple(
                WrittenShard(
                    tuple(_name(file) for file in shard["files"]),
                    _count(shard["tokens"]),
                    _count(shard["documents"]),
                )
                for shard in split["shards"]
            ),
        )
        for name, split in record["splits"].items()
    }
    tokenizer, end, part = record["tokenizer"], record["end_of_text"], record["part"]
    if not isinstance(tokenizer["digest"], str):
        raise FormatError("names no digest of its tokenizer")
    if tokenizer.get("file") is not None:
        _name(tokenizer["file"])
    _count(tokenizer["vocab_size"])
    if end is not None:
        _count(end["id"])
        if not isinstance(end["token"], str) or end["place"] not in ("after", "before"):
            raise FormatError("does not say whether its end of text is after or before documents")
    if record["dtype"] not in ("uint16", "uint32"):
        raise FormatError(f"has tokens of type {record['dtype']!r}, not of uint16 or uint32")
    _check_options(record["options"])
    return Manifest(
        layout=record["layout"],
        dtype=str(record["dtype"]),
        tokenizer={**tokenizer},
        end_of_text=None if end is None else {**end},
        options={**record["options"]},
        inputs=tuple({**entry} for entry in record["inputs"]),
        documents=_count(record["documents"]),
        bytes=_count(record["bytes"]),
        empty_documents=_count(record["empty_documents"]),
        bad_documents=_count(record.get("bad_documents", 0)),
        chats={str(name): _count(count) for name, count in record["chats"].items()}
        if "chats" in record
        else None,
        filtered={str(name): _count(count) for name, count in record["filtered"].items()}
        if "filtered" in record
        else None,
        splits=split_entries,
        files=files,
        part=None if part is None else (_count(part[0]), _count(part[1])),
        jeton=str(record["jeton"]),
    )


def _check_options(options: Any) -> None:
    """Fails if the options, which joining parts relies on, are not those of any set."""
    validation, messages = options["validation"], options["messages"]
    if options["layout"] not in LAYOUTS:
        raise FormatError(f"names a layout {options['layout']!r} that is not known")
    for name in ("shard_tokens", "shuffle"):
        if options[name] is not None:
            _count(options[name])
    if messages is not None:
        _ = messages["field"]
    if validation is not None:
        share = Fraction(validation["share"])
        if validation["by"] not in ("cut", "hash", "data") or not 0 <= share < 1:
            raise FormatError("does not say how its splits were chosen")


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FormatError(f"has {value!r} where a number should be")
    return value


def _name(value: object) -> str:
    """The name of a file inside the folder."""
    name = str(value)
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in name:
        raise FormatError(f"names a file {name!r} that is not in its folder")
    if not name.isprintable():
        raise FormatError(f"names a file {name!r}, and no file of a set has such a name")
    return name


# Verifying


@dataclass(frozen=True)
class Damage:
    """A damaged file of a token set."""

    file: str
    """The file, relative to the folder."""
    what: str
    """The damage."""

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


def verify(
    folder: str | os.PathLike[str], *, watch: Callable[[str, int], None] | None = None
) -> list[Damage]:
    """Compares a token set with its manifest.

    Args:
        folder: A folder that `prepare` or `merge` wrote.
        watch: Called with each file that was read, and its bytes.

    Returns:
        The damaged files; an empty list if the set is as it was written.

    Raises:
        MissingFileError: There is no manifest.
        FormatError: The manifest is damaged.
    """
    check_watch(watch)
    root = Path(local_copy(checked_path("folder", folder, urls=True)))
    manifest = Manifest.read(root)
    damages: list[Damage] = []
    with _stopping() as (threads, stopped):
        entries = list(manifest.files.items())
        results = threads.map(lambda entry: _damage(root, entry[0], entry[1], stopped), entries)
        for (name, file), what in zip(entries, results, strict=True):
            if what is not None:
                damages.append(Damage(name, what))
            if watch is not None:
                watch(name, file.bytes)
    damages.extend(Damage(name, "is not in the manifest") for name in _strangers(root, manifest))
    return damages


def _damage(root: Path, name: str, digest: FileDigest, stopped: Event) -> str | None:
    try:
        size = (root / name).stat().st_size
        if size != digest.bytes:
            short = "is truncated" if size < digest.bytes else "is longer than it was"
            return f"{short}: {size:,} bytes, and {digest.bytes:,} were written"
        if digest_of(root / name, stopped).sha256 != digest.sha256:
            return "is damaged: its SHA-256 has changed"
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None


def _strangers(root: Path, manifest: Manifest) -> Iterator[str]:
    """Shards that a reader of the folder would find, although they are not part of the set."""
    layout = LAYOUTS[manifest.layout]
    try:
        names = splits(root, layout=manifest.layout)
    except MissingFileError:
        return
    if not names:
        return
    for path in sorted(path for pattern in ("*", "*/*") for path in root.glob(pattern)):
        name = path.relative_to(root).as_posix()
        is_shard = path.is_file() and layout.split_of(name) is not None and layout.holds(path)
        if is_shard and not path.name.startswith(".") and name not in manifest.files:
            yield name


@contextlib.contextmanager
def _stopping() -> Iterator[tuple[ThreadPoolExecutor, Event]]:
    """Threads that read files, and an event that stops them if the caller is interrupted."""
    stopped = Event()
    with ThreadPoolExecutor(_THREADS) as threads:
        try:
            yield threads, stopped
        finally:
            stopped.set()


def digests_of(folder: Path, names: list[str]) -> dict[str, FileDigest]:
    """Sizes and digests of files in a folder, several at a time."""
    with file_errors(folder, "read"), _stopping() as (threads, stopped):
        digests = threads.map(lambda name: digest_of(folder / name, stopped), names)
        of_files = dict(zip(names, digests, strict=True))
    return of_files
