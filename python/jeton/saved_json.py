"""Results saved as JSON, completely or not at all, and loaded; errors of reading name the file.

Look here for how a file identifies its content, and for the error about a file with other content.
"""

from __future__ import annotations

import json
import os
from typing import Any, ClassVar, Final, TypeVar

import jeton._core as _core
from jeton import files
from jeton.arguments import checked_path
from jeton.display.human_readable import CONTROLS
from jeton.errors import FormatError, JetonError
from jeton.record import Record

_ESCAPES: Final = {code: json.dumps(chr(code))[1:-1] for code in CONTROLS if code > 126}
"""JSON itself escapes the smaller ones."""


def dumps(content: object, indent: int | None = None) -> str:
    r"""JSON that is safe to print on any terminal and to write to any stream.

    Only characters that control a terminal and lone surrogates (as in the name of a file that is
    not UTF-8) are escaped; reading the JSON gives them back.

    >>> dumps({"file": "é.txt"}), dumps(["\udcff.txt", "\x9b"])
    ('{"file": "é.txt"}', '["\\udcff.txt", "\\u009b"]')
    """
    return json.dumps(content, ensure_ascii=False, indent=indent).translate(_ESCAPES)


def write(path: str | os.PathLike[str], content: dict[str, Any], indent: int | None = None) -> None:
    """Writes `content` to a temporary file first, which then takes its place."""
    folder, name = os.path.split(checked_path("path", path))
    text = dumps(content, indent) + "\n"
    _core.write_into(folder or ".", [(name, text.encode())])


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def read(path: str | os.PathLike[str], what: str) -> tuple[str, Any]:
    """The file's name and its content; `what` says in errors what the file should be.

    Raises:
        MissingFileError: There is no such file.
        FileError: It is not a file, is too large, or cannot be read.
        FormatError: It is not JSON.
    """
    source = checked_path("path", path)
    contents = files.read(source)
    try:
        return source, json.loads(contents.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source} is not a {what}: {error}") from None


_VERSION: Final = 1

Self = TypeVar("Self", bound="Saved")


class Saved(Record):
    """A result that can be saved and loaded."""

    _NOUN: ClassVar[str]
    """Its name in files and errors."""
    _INDENT: ClassVar[int | None] = 1

    def to_dict(self) -> dict[str, Any]:
        """The whole result as values for JSON."""
        record = super().to_dict()
        version = {"jeton": record.pop("version")} if "version" in record else {}
        return {**self._head(), **version, **record}

    @classmethod
    def from_dict(cls: type[Self], record: object) -> Self:
        """The result that `to_dict` gave.

        Raises:
            FormatError: The record is something else.
        """
        return cls._read(record, f"record is not a saved {cls._NOUN}")

    @classmethod
    def _of_record(cls: type[Self], record: Any) -> Self:
        """The result that `to_dict` gave; raises any error if the record is wrong."""
        return cls._of_fields({**record, "version": record.get("jeton")})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the result as JSON, completely or not at all.

        Raises:
            FileError: The file cannot be written.
        """
        write(path, self.to_dict(), self._INDENT)

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads what `save` wrote.

        Raises:
            MissingFileError: The file does not exist.
            FormatError: The file holds something else.
        """
        source, record = read(path, f"saved {cls._NOUN}")
        return cls._read(record, f"{source} is not a saved {cls._NOUN}")

    @classmethod
    def _read(cls: type[Self], record: Any, complaint: str) -> Self:
        """The result that `to_dict` gave, from an untrusted record."""
        try:
            head = cls._head()
            if any(record[name] != value for name, value in head.items()):
                raise ValueError(f"its format is not {head['format']!r}, version {_VERSION}")
            return cls._of_record(record)
        except KeyError as error:
            raise FormatError(f"{complaint}: it has no {error}") from None
        except (TypeError, ValueError, AttributeError, IndexError, JetonError) as error:
            raise FormatError(f"{complaint}: {error}") from None

    @classmethod
    def _head(cls) -> dict[str, Any]:
        """The first fields of every saved result of this class."""
        return {"format": f"jeton {cls._NOUN}", "version": _VERSION}
