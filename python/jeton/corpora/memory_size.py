"""Amounts of memory, such as `memory="4GB"`."""

from __future__ import annotations

import re
from decimal import Decimal

import jeton._core as _core
from jeton.errors import ArgumentError, ArgumentTypeError

LEAST = 32_000_000
"""The smallest budget: reading, sorting and merging take this much for any text."""

_UNITS = {
    "": 1,
    "B": 1,
    **{f"{letter}B": 1000**n for n, letter in enumerate("kMGT", 1)},
    **{f"{letter}iB": 1024**n for n, letter in enumerate("KMGT", 1)},
}


def memory_bytes(memory: int | str | None) -> int | None:
    """An amount of memory in bytes: a number of them, or a text such as `"4GB"` or `"512 MiB"`.

    Example:
        >>> from jeton.corpora.memory_size import memory_bytes
        >>> memory_bytes("1.5GB"), memory_bytes("64 MiB"), memory_bytes(100_000_000)
        (1500000000, 67108864, 100000000)
    """
    if memory is None:
        return None
    if isinstance(memory, bool) or not isinstance(memory, (int, str)):
        raise ArgumentTypeError(f"memory must be an int or a str, not {type(memory).__name__}")
    if isinstance(memory, int):
        amount = memory
    else:
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", memory)
        if match is None:
            raise ArgumentError(f'memory cannot be {memory!r} (write it as "4GB" or "512MB")')
        number, unit = match.groups()
        units = {name.lower(): size for name, size in _UNITS.items()}
        if unit.lower() not in units:
            whole = next((name for name in _UNITS if name.lower() == f"{unit}b".lower()), None)
            close = whole or _core.did_you_mean(unit, [name for name in _UNITS if len(name) > 1])
            hint = f"did you mean {close!r}?" if close else "units are kB, MB, GB, TB, KiB, …"
            raise ArgumentError(f"memory cannot be {memory!r}: there is no unit {unit!r} ({hint})")
        amount = int(Decimal(number) * units[unit.lower()])
    if not 0 < amount < 2**63:
        text = repr(memory) if amount.bit_length() < 130 else "this much"
        raise ArgumentError(f'memory cannot be {text} (write it as "4GB" or "512MB")')
    if amount < LEAST:
        raise ArgumentError(
            f"memory cannot be {memory!r}: reading, sorting and merging alone take "
            f"{LEAST // 1_000_000} MB, the smallest budget"
        )
    return amount
