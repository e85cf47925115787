"""The exceptions that jeton raises, one tree under `JetonError`, and its warnings.

Look here for what to catch. Each class is also a subclass of the built-in exception that a caller
would expect, so `except ValueError` and `except FileNotFoundError` keep working.
"""

from __future__ import annotations

import sys
import warnings

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "ChatWarning",
    "ChecksumError",
    "DecodeError",
    "DownloadError",
    "EncodeError",
    "FileError",
    "FormatError",
    "FormatWarning",
    "InternalError",
    "JetonError",
    "MissingFileError",
    "SpecialTokenError",
    "TrainingError",
    "TrainingWarning",
    "UnknownNameError",
    "UnknownTokenError",
    "UnsupportedError",
]


class JetonError(Exception):
    """Base class of all errors of jeton. The text says what went wrong, where, and what to do.

    Attributes:
        hint: What to do, which the text ends with in brackets; `None` if the message says it.
        parameter: The parameter that the hint is about, by its name in Python; `None` for none. The
            command line names its own option instead.
    """

    def __init__(
        self, *args: object, hint: str | None = None, parameter: str | None = None
    ) -> None:
        super().__init__(*args)
        self.hint = hint
        self.parameter = parameter

    @property
    def message(self) -> str:
        """What went wrong and where, without the hint."""
        # KeyError shows the repr of its argument; a message should read as a message.
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def reworded(self, message: str) -> JetonError:
        """An error of the same kind, with the same hint and another message."""
        return type(self)(message, hint=self.hint, parameter=self.parameter)


class ArgumentError(JetonError, ValueError):
    """An argument has a value that makes no sense."""


class ArgumentTypeError(JetonError, TypeError):
    """An argument has a type that makes no sense."""


class FormatError(JetonError, ValueError):
    """A file or a byte string does not follow its format."""


class UnsupportedError(JetonError, ValueError):
    """The request is clear, but it cannot be honoured exactly."""


class EncodeError(JetonError, ValueError):
    """The text contains something that the tokenizer has no token for."""


class SpecialTokenError(JetonError, ValueError):
    """The text contains a special token, which the caller does not allow."""


class UnknownTokenError(JetonError, KeyError, ValueError):
    """A token or an id is not in the vocabulary."""


class UnknownNameError(JetonError, KeyError, ValueError):
    """A name is not among the known ones, such as those of tokenizers or patterns."""


class FileError(JetonError, OSError):
    """A file could not be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that should exist does not."""


class DecodeError(JetonError, UnicodeDecodeError):
    """With `errors="strict"`, the bytes of the decoded tokens are not valid UTF-8.

    As with `UnicodeDecodeError`, `object` has the bytes, `start` and `end` the position.
    """


class TrainingError(JetonError, ValueError):
    """Training cannot proceed with this corpus or these parameters."""


class TrainingWarning(UserWarning):
    """Training or packing continued, but a part of the corpus is left out or changed."""


class ChatWarning(UserWarning):
    """A chat template did not print all of its input, or a name in it seems misspelled."""


class FormatWarning(UserWarning):
    """A file was read as its own library reads it but looks wrong, or the format of a written file
    cannot express everything."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warns, pointing at the line that called jeton."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("jeton."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class DownloadError(JetonError, OSError):
    """A file could not be downloaded."""


class ChecksumError(DownloadError, ValueError):
    """A downloaded file is not the published one."""


class InternalError(JetonError, RuntimeError):
    """A bug in jeton itself: please report it."""
