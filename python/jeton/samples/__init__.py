"""Text that ships with jeton: essays, tales, letters, recipes, code, figures and thirty languages.

Look here for texts to try a tokenizer on without downloading anything. All of it was written
for jeton and is in the public domain (CC0 1.0): copy it, change it, print it.

>>> from jeton import samples
>>> samples.read("essays").split(",")[0]
'On the counter\\n\\nBefore it was a coin'
"""

from __future__ import annotations

from importlib.resources import files

from jeton.arguments import check_kind
from jeton.errors import UnknownNameError

__all__ = ["NAMES", "read", "read_all"]

NAMES: tuple[str, ...] = (
    "essays",
    "tales",
    "dialogue",
    "letters",
    "recipes",
    "notes",
    "languages",
    "code",
    "figures",
)
"""The samples by kind, in a good order to read them."""


def read(name: str) -> str:
    """The sample of this name.

    Raises:
        ArgumentTypeError: `name` is not a `str`.
        UnknownNameError: `name` is not in `NAMES`.

    >>> "🎶⛴️" in read("figures")
    True
    """
    check_kind("name", name, str, "a str")
    if name not in NAMES:
        names = ", ".join(NAMES)
        raise UnknownNameError(f"no sample has the name {name[:80]!r}; there are {names}")
    return files(__name__).joinpath(f"{name}.txt").read_bytes().decode()


def read_all() -> dict[str, str]:
    """Every sample, by name.

    >>> list(read_all())[:2]
    ['essays', 'tales']
    """
    return {name: read(name) for name in NAMES}
