"""Files of ranks, read into a dict and written from one, as `tiktoken.load` does."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os

from jeton import files
from jeton.arguments import checked_path
from jeton.errors import ArgumentError, ChecksumError, FormatError

__all__ = ["dump_tiktoken_bpe", "load_tiktoken_bpe"]


def load_tiktoken_bpe(
    tiktoken_bpe_file: str | os.PathLike[str], expected_hash: str | None = None
) -> dict[bytes, int]:
    """The ranks in a local file. Files with an address are fetched by `jeton.load`, by their names.

    Args:
        tiktoken_bpe_file: A path.
        expected_hash: The sha256 of the file, in hexadecimal.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is not the file expected, or a line of it is no token with its rank.
    """
    name = checked_path("tiktoken_bpe_file", tiktoken_bpe_file)
    if "://" in name:
        raise ArgumentError(f"{name}: only local files are read (jeton.load fetches by name)")
    content = files.read(name)
    if expected_hash is not None:
        found = hashlib.sha256(content).hexdigest()
        if found != expected_hash:
            raise ChecksumError(f"{name}: its sha256 is {found}, not {expected_hash}")
    ranks = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error):
            raise FormatError(
                f"{name}: line {number} is not a token in base64 and its rank"
            ) from None
    return ranks


def dump_tiktoken_bpe(
    bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str | os.PathLike[str]
) -> None:
    """Writes ranks to a local file, in the order of the ranks."""
    name = checked_path("tiktoken_bpe_file", tiktoken_bpe_file)
    rows = sorted(bpe_ranks.items(), key=lambda row: row[1])
    lines = [base64.b64encode(token) + b" %d\n" % rank for token, rank in rows]
    files.write(name, b"".join(lines))
