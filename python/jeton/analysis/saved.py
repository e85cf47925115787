"""The base class of results, which are saved as JSON (complete or not at all) and loaded.

Look here for how a file identifies its content, and for the error about a file with other content.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar, Final, TypeVar

from jeton import saved_json
from jeton.analysis.record import Record
from jeton.errors import FormatError, JetonError

_VERSION: Final = 1

Self = TypeVar("Self", bound="Saved")


class Saved(Record):
    """A result that can be saved and loaded."""

    _NOUN: ClassVar[str]
    """Its name in files and errors."""

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
        saved_json.write(path, self.to_dict(), indent=1)

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads what `save` wrote.

        Raises:
            MissingFileError: The file does not exist.
            FormatError: The file holds something else.
        """
        source, record = saved_json.read(path, f"saved {cls._NOUN}")
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
