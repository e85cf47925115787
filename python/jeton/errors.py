"""The exceptions that jeton raises, one tree under `JetonError`, and its warnings.

Look here to learn what to catch. Each class is also the built-in exception that a caller would
expect in its place, so `except ValueError` and `except FileNotFoundError` keep working.
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
    """Whatever jeton raises by itself. Its text says what went wrong, where, and what to do."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument; a message should read as a message.
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class ArgumentError(JetonError, ValueError):
    """An argument has a value that makes no sense."""


class ArgumentTypeError(JetonError, TypeError):
    """An argument has a type that makes no sense."""


class FormatError(JetonError, ValueError):
    """A file or a byte string is not what its format says."""


class UnsupportedError(JetonError, ValueError):
    """The request is clear, but it cannot be honoured exactly."""


class EncodeError(JetonError, ValueError):
    """The text holds something that the tokenizer has no token for."""


class SpecialTokenError(JetonError, ValueError):
    """A special token stands in text where the caller said that none may."""


class UnknownTokenError(JetonError, KeyError, ValueError):
    """A token or an id is not in the vocabulary."""


class UnknownNameError(JetonError, KeyError, ValueError):
    """A name is not among the known ones, such as those of tokenizers or patterns."""


class FileError(JetonError, OSError):
    """A file could not be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that should exist does not."""


class DecodeError(JetonError, UnicodeDecodeError):
    """The bytes of the decoded tokens are not valid UTF-8, and `errors="strict"` was asked for.

    As with `UnicodeDecodeError`, `object` holds the bytes, `start` and `end` the place.
    """


class TrainingError(JetonError, ValueError):
    """Training cannot proceed with this corpus or these parameters."""


class TrainingWarning(UserWarning):
    """Training went on, but not with all of the corpus as it is."""


class ChatWarning(UserWarning):
    """A chat template did not print all of what it was given, or a name in it seems misspelled."""


class FormatWarning(UserWarning):
    """A file was read as its library reads it, but it seems not to be what it was meant to be; or
    one was written that does not hold all."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warns in the name of whoever called jeton."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("jeton."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class DownloadError(JetonError, OSError):
    """A file could not be fetched."""


class ChecksumError(DownloadError, ValueError):
    """A fetched file is not the one that was published."""


class InternalError(JetonError, RuntimeError):
    """A mistake in jeton itself, for you to report."""
