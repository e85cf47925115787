"""Arguments of public calls, checked before any work: names, whole numbers, paths.

Look here for the "did you mean" of a keyword, and for the errors about a number or a path.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import inspect
import math
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import PurePath
from types import UnionType
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, cast

import jeton._core as _core
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from jeton.stores.urls import checked_url, is_broken_url, is_url, shown

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

F = TypeVar("F", bound=Callable[..., Any])

_MAX_INT = 2**63 - 1


def names_checked(function: F) -> F:
    """Raises for a keyword that a method does not have, with the one that may be meant.

    A constructor stores its arguments, so that they can be shown and passed on: those of the call,
    and all of them, with defaults.
    """
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1:]
    known = [parameter.name for parameter in parameters]

    @functools.wraps(function)
    def checked(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in known:
                hint = suggestion(name, known) or f"it has {', '.join(known)}"
                # The class may have inherited the function from one that is not public.
                kind = owner.__name__ if isinstance(owner, type) else type(owner).__name__
                method = f"{kind}.{function.__name__}".removesuffix(".__init__")
                raise ArgumentTypeError(f"{method} has no parameter {name!r} ({hint})")
        if function.__name__ == "__init__":
            with contextlib.suppress(TypeError):
                bound = signature.bind(owner, *args, **kwargs)
                owner._given = dict(list(bound.arguments.items())[1:])
                bound.apply_defaults()
                owner._arguments = dict(list(bound.arguments.items())[1:])
        return function(owner, *args, **kwargs)

    return cast(F, checked)


def suggestion(name: str, known: Sequence[str]) -> str:
    """The question whether a known name is meant; empty if none is close.

    >>> suggestion("erors", ["errors", "field"])
    "did you mean 'errors'?"
    """
    close = _core.did_you_mean(name, known)
    return f"did you mean {close!r}?" if close else ""


def check_kind(
    name: str, value: object, kind: type | tuple[type, ...] | UnionType, expected: str
) -> None:
    """Raises for a value of another type, before it is compared or converted."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"{name} must be {expected}, not {type(value).__name__}")


def check_named(name: str, values: object, kind: type, expected: str) -> None:
    """Raises for anything but a mapping from names to values of one type."""
    if not isinstance(values, Mapping):
        raise ArgumentTypeError(
            f"{name} must map each name to {expected}, not {type(values).__name__}"
        )
    for key, value in values.items():
        check_text(f"each name of {name}", key)
        check_kind(f"each of {name}", value, kind, expected)


def checked_iterable(
    name: str, value: object, expected: str, *, but: tuple[type, ...] = (str, bytes)
) -> Iterable[Any]:
    """The value, if it can be gone through, and is not a single text in the place of several."""
    if isinstance(value, but) or not isinstance(value, Iterable):
        raise ArgumentTypeError(f"{name} must be {expected}, not {type(value).__name__}")
    return value


def call_text(owner: object, values: dict[str, Any]) -> str:
    """A call of a constructor with these arguments; long ones are shortened.

    >>> call_text(1, {"name": "x" * 99, "size": 3})
    "int(name='xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…, size=3)"
    """
    texts = ((name, repr(value)) for name, value in values.items())
    short = (f"{name}={t if len(t) <= 60 else t[:55] + '…'}" for name, t in texts)
    return f"{type(owner).__name__}({', '.join(short)})"


def index_of(value: object) -> int | None:
    """The int that a value is, if it is one, and no bool."""
    try:
        return None if isinstance(value, bool) else operator.index(cast(SupportsIndex, value))
    except TypeError:
        # Arrays have an `__index__` too, but only those of a single number give one.
        return None


def checked_int(name: str, value: object, least: int) -> int:
    """A whole number from `least` to 2⁶³ - 1, and no bool."""
    number = index_of(value)
    if number is None:
        raise ArgumentTypeError(f"{name} must be an int, not {type(value).__name__}")
    if number < least:
        raise ArgumentError(f"{name} must be at least {least}, not {_number_text(number)}")
    if number > _MAX_INT:
        raise ArgumentError(f"{name} must be less than 2**63, not {_number_text(number)}")
    return number


def checked_numbers(
    name: str,
    numbers: object,
    below: int = _MAX_INT + 1,
    *,
    dtype: str = "int64",
) -> npt.NDArray[Any]:
    """Integers from 0 up to `below`, as an array with one axis; it may share memory."""
    import numpy as np

    try:
        array = np.asarray(numbers)
    except (ValueError, TypeError, OverflowError):  # such as rows of several lengths
        array = np.empty((0, 0))
    if array.ndim == 1 and not array.size:
        array = array.astype(dtype)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name} must be a sequence of ints with one axis")
    if array.size and not 0 <= int(array.min()) <= int(array.max()) < below:
        worst = int(array.min()) if int(array.min()) < 0 else int(array.max())
        raise ArgumentError(f"{name} must be between 0 and {below - 1:,}, and has {worst:,}")
    return np.ascontiguousarray(array, dtype)


def checked_number(
    name: str, value: object, *, above: float = 0.0, least: float | None = None
) -> float:
    """A finite number greater than `above`, or at least `least` if that is given."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{name} must be a number, not {type(value).__name__}")
    bound = f"above {above:g}" if least is None else f"of at least {least:g}"
    fits = value > above if least is None else value >= least
    if not fits or not value <= 1e300 or math.isnan(value):
        is_short = isinstance(value, float) or value.bit_length() < 99
        raise ArgumentError(
            f"{name} must be a finite number {bound}, not {value if is_short else 'so large'}"
        )
    return float(value)


def checked_fraction(name: str, value: object) -> Fraction:
    """A positive number, exactly; a float is the decimal that it is written as."""
    from fractions import Fraction

    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise ArgumentTypeError(f"{name} must be a number, not {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ArgumentError(f"{name} must be a finite number, not {value}")
    # Those of numpy are floats, and write themselves in another way.
    number = Fraction(float.__repr__(value) if isinstance(value, float) else value)
    if number <= 0:
        raise ArgumentError(f"{name} must be greater than 0, not {value}")
    return number


def _number_text(number: int) -> str:
    return str(number) if number.bit_length() < 130 else "one of so many digits"


def checked_texts(name: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Several texts of valid Unicode in a fixed order: neither a set nor a single text."""
    texts = checked_iterable(name, texts, "an iterable of str")
    if isinstance(texts, Set):
        raise ArgumentTypeError(f"{name} is a set, which has no order for ids; give a list")
    return tuple(check_text(f"each of {name}", text) for text in texts)


def checked_characters(name: str, characters: Iterable[str]) -> list[str]:
    """Single characters: a text of them, or an iterable."""
    characters = checked_iterable(
        name, characters, "a str or an iterable of characters", but=(bytes,)
    )
    listed = [check_text(f"each of {name}", character) for character in characters]
    for character in listed:
        if len(character) != 1:
            raise ArgumentError(f"each of {name} must be a single character, not {character!r}")
    return listed


def checked_path(name: str, path: object, expected: str = "a path", *, urls: bool = False) -> str:
    """A path that the file system accepts; or a URL of an object store, with `urls`."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"{name} must be {expected}, not {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise ArgumentTypeError(f"{name} must be a path of str, not of {type(text).__name__}")
    if not text:
        raise ArgumentError(f"{name} is empty: name a file or a folder")
    if is_url(text):
        if urls:
            return checked_url(name, text)
        raise UnsupportedError(
            f"{name}: {shown(text)[:200]} is a URL, which is not taken here: pass a path, and copy "
            "the files from or to the store"
        )
    if isinstance(path, PurePath) and is_broken_url(text):
        raise ArgumentError(
            f"{name}: pathlib drops a slash of URLs, as in {shown(text)[:100]!r}: pass the URL "
            "as a str, or in a list as jeton.data.StorePath"
        )
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ArgumentError(f"{name} cannot be {text!r}: it has a lone surrogate") from None
    if "\0" in text:
        raise ArgumentError(f"{name} cannot be {text!r}: a path cannot contain U+0000")
    return text


def checked_errors(errors: object) -> None:
    """Checks how to treat bytes that are not UTF-8: one of three words."""
    words = ["strict", "replace", "ignore"]
    if not isinstance(errors, str):
        raise ArgumentTypeError(
            f"errors must be 'strict', 'replace' or 'ignore', not {type(errors).__name__}"
        )
    if errors not in words:
        hint = suggestion(errors, words) or "it is strict, replace or ignore"
        raise ArgumentError(f"errors cannot be {errors!r} ({hint})")


def one_of(name: str, value: object, choices: tuple[str, ...], others: str = "") -> str:
    """An argument that is one of a few words."""
    if isinstance(value, str) and value in choices:
        return value
    expected = ", ".join([*filter(None, [others]), *(f'"{choice}"' for choice in choices)])
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} must be one of {expected}, not {type(value).__name__}")
    close = _core.did_you_mean(value, list(choices))
    hint = f"; did you mean {close!r}?" if close else ""
    raise ArgumentError(f"{name} must be one of {expected}, not {value!r:.60}{hint}")


def check_field_word(owner: object, field: str, value: str, choices: tuple[str, ...]) -> None:
    """Checks that a field has one of its allowed values."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        hint = _core.did_you_mean(value, choices) if isinstance(value, str) else None
        question = f"; did you mean {hint!r}?" if hint else ""
        raise ArgumentError(
            f"{type(owner).__name__}.{field} must be one of {listed}, not {value!r}{question}"
        )


def check_text(name: str, value: object) -> str:
    """Checks that the argument called `name` is a `str` of valid Unicode."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} must be a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"{name} is not valid Unicode: there is a lone surrogate at position {error.start}"
        ) from None
    return value


def checked_flag(name: str, value: object) -> bool:
    """Checks that the argument called `name` is a bool, of Python or of numpy."""
    kind = type(value)
    if kind is not bool and (kind.__module__, kind.__name__.rstrip("_")) != ("numpy", "bool"):
        raise ArgumentTypeError(f"{name} must be a bool, not {kind.__name__}")
    return bool(value)


def check_id(name: str, value: object) -> int:
    """Checks that a value is an id: an int of 32 bits."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentTypeError(f"{name} must be an int, not {type(value).__name__}")
    if not 0 <= value < 1 << 32:
        raise ArgumentError(f"{name} must be from 0 to 2**32 - 1")
    return value


def checked_id(name: str, value: object) -> int:
    """One of the ids called `name`, which may be of an array's type, but no bool."""
    id = index_of(value)
    if id is None:
        raise ArgumentTypeError(f"{name} must hold ints, not {type(value).__name__}")
    if not 0 <= id < 1 << 32:
        raise ArgumentError(
            f"{name} must hold ids, which run from 0 to 2**32 - 1, not {_number_text(id)}"
        )
    return int(id)


def token_and_id(name: str, value: object) -> tuple[str, int]:
    """Checks that a value is a token with its id."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ArgumentTypeError(f"{name} must be a token and its id, as in ('[SEP]', 102)")
    return check_text(f"the token of {name}", value[0]), check_id(f"the id of {name}", value[1])


def special_ids(special_tokens: Mapping[str, int]) -> list[tuple[str, int]]:
    """Special tokens with their ids, checked."""
    if not isinstance(special_tokens, Mapping):
        raise ArgumentTypeError(
            "special_tokens must map tokens to ids, as in {'<|end|>': 100257}, not be a "
            f"{type(special_tokens).__name__}"
        )
    for token, id in special_tokens.items():
        if not isinstance(token, str) or isinstance(id, bool) or not isinstance(id, int):
            raise ArgumentTypeError(f"special_tokens must map str to int, not {token!r} to {id!r}")
        check_text(f"special_tokens: {token!r}", token)
        if not 0 <= id < 1 << 32:
            raise ArgumentError(
                f"special_tokens: {token!r} has id {id}, which is not a 32-bit number"
            )
    return list(special_tokens.items())


def check_error_handler(errors: object) -> None:
    """Raises for anything that does not name an error handler of Python."""
    if not isinstance(errors, str):
        raise ArgumentTypeError(f"errors must be a str, not {type(errors).__name__}")
    if errors in ("replace", "strict", "ignore"):
        return
    try:
        codecs.lookup_error(errors)
    except (LookupError, ValueError):
        raise ArgumentError(
            f'errors={errors!r} is not an error handler; "replace", "strict" and "ignore" are'
        ) from None
