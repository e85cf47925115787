"""Results saved as JSON: written completely or not at all; errors of reading name the file."""

from __future__ import annotations

import json
import os
from typing import Any, Final

import jeton._core as _core
from jeton import files
from jeton.arguments import checked_path
from jeton.display.human_readable import CONTROLS
from jeton.errors import FormatError

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
