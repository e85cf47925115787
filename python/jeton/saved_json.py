"""Results saved as JSON: written whole or not at all, read with errors that name the file."""

from __future__ import annotations

import json
import os
from typing import Any, Final

import jeton._core as _core
from jeton import files
from jeton.arguments import checked_path
from jeton.display.human_readable import CONTROLS
from jeton.errors import FormatError

__all__ = ["dumps", "read", "write"]

_ESCAPES: Final = {code: json.dumps(chr(code))[1:-1] for code in CONTROLS if code > 126}
"""JSON escapes what is smaller by itself."""


def dumps(content: object, indent: int | None = None) -> str:
    r"""JSON that any terminal and any stream takes, whatever it holds.

    Characters stand as they are, but for those that command a terminal and for lone surrogates, as
    in the name of a file that is not UTF-8: these are escaped, and read back as they were.

    >>> dumps({"file": "é.txt"}), dumps(["\udcff.txt", "\x9b"])
    ('{"file": "é.txt"}', '["\\udcff.txt", "\\u009b"]')
    """
    return json.dumps(content, ensure_ascii=False, indent=indent).translate(_ESCAPES)


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
        FileError: It is no file, is too large, or cannot be read.
        FormatError: It is no JSON.
    """
    source = checked_path("path", path)
    contents = files.read(source)
    try:
        return source, json.loads(contents.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source} is not a {what}: {error}") from None
