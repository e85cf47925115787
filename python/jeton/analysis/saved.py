"""What the results of analysis share: they are saved as JSON, whole or not at all, and loaded.

Look here for how a file says what it holds, and for the error about one that holds something else.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar, Final, TypeVar

from jeton import saved_json
from jeton.errors import FormatError, JetonError

__all__ = ["Saved"]

_VERSION: Final = 1

Self = TypeVar("Self", bound="Saved")


class Saved:
    """A result that is saved and loaded."""

    _NOUN: ClassVar[str]
    """What it is called in files and in errors."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        raise NotImplementedError

    @classmethod
    def _of_record(cls: type[Self], record: object) -> Self:
        """Undoes `to_dict`; errors of any kind say what is wrong."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything as JSON, whole or not at all.

        Raises:
            FileError: The file cannot be written.
        """
        saved_json.write(path, self.to_dict(), indent=1)

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads what `save` wrote.

        Raises:
            MissingFileError: There is no such file.
            FormatError: It holds something else.
        """
        source, record = saved_json.read(path, f"saved {cls._NOUN}")
        return cls._read(record, f"{source} is not a saved {cls._NOUN}")

    @classmethod
    def _read(cls: type[Self], record: Any, complaint: str) -> Self:
        """Undoes `to_dict`, of something that may be anything."""
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
        """How what is saved begins."""
        return {"format": f"jeton {cls._NOUN}", "version": _VERSION}
