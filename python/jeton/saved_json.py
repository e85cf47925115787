"""Results saved as JSON: written whole or not at all, read with errors that name the file."""

from __future__ import annotations

import json
import os
from typing import Any

import jeton._core as _core
from jeton.arguments import checked_path
from jeton.errors import FileError, FormatError, MissingFileError

__all__ = ["dumps", "read", "write"]


def dumps(content: object, indent: int | None = None) -> str:
    r"""JSON that is text whatever it holds: signs as they are, unless a surrogate stands alone.

    That is so in the name of a file that is not UTF-8.

    >>> dumps({"file": "é.txt"}), dumps(["\udcff.txt"])
    ('{"file": "é.txt"}', '["\\udcff.txt"]')
    """
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(content, indent=indent)
    return text


def write(path: str | os.PathLike[str], content: dict[str, Any], indent: int | None = None) -> None:
    """Writes `content`, beside the place first.

    Raises:
        FileError: The file cannot be written.
    """
    folder, name = os.path.split(checked_path("path", path))
    text = dumps(content, indent) + "\n"
    _core.write_into(folder or ".", [(name, text.encode())])


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def read(path: str | os.PathLike[str], what: str) -> tuple[str, Any]:
    """The file's name, and what it holds; `what` is what it should be, for errors.

    Raises:
        MissingFileError: There is no such file.
        FileError: It cannot be read.
        FormatError: It is no JSON.
    """
    source = checked_path("path", path)
    try:
        with open(source, encoding="utf-8") as file:
            return source, json.load(file, parse_constant=_no_number)
    except FileNotFoundError:
        raise MissingFileError(f"{source}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{source}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source} is not a {what}: {error}") from None
