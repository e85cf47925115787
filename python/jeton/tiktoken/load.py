"""Files of ranks, read into a dict and written from one, as `tiktoken.load` does."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os

from jeton import files
from jeton.arguments import checked_path
from jeton.errors import ArgumentError, ChecksumError, FormatError

__all__ = ["data_gym_to_mergeable_bpe_ranks", "dump_tiktoken_bpe", "load_tiktoken_bpe"]


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
    name, content = _content("tiktoken_bpe_file", tiktoken_bpe_file, expected_hash)
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


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str | os.PathLike[str],
    encoder_json_file: str | os.PathLike[str],
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """The ranks of GPT-2's two files: merges, and the vocabulary with GPT-2's spelling of bytes.

    Args:
        vocab_bpe_file: The path of the merges, `vocab.bpe`.
        encoder_json_file: The path of the vocabulary, `encoder.json`.
        vocab_bpe_hash: The sha256 of the merges, in hexadecimal.
        encoder_json_hash: The sha256 of the vocabulary.
        clobber_one_byte_tokens: Take the ranks of single bytes from the vocabulary, whatever they
            are.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is not the file expected, or the two do not belong together.
    """
    name, merges = _content("vocab_bpe_file", vocab_bpe_file, vocab_bpe_hash)
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in own]
    spelled = {chr(byte): byte for byte in own}
    spelled |= {chr(256 + at): byte for at, byte in enumerate(others)}

    def token(spelling: str) -> bytes:
        if unknown := next((it for it in spelling if it not in spelled), None):
            raise FormatError(f"{name}: {unknown!r} in {spelling[:40]!r} spells no byte")
        return bytes(spelled[character] for character in spelling)

    ranks = {bytes([byte]): rank for rank, byte in enumerate([*own, *others])}
    for number, line in enumerate(merges.decode("utf-8", "replace").split("\n")[1:], 2):
        parts = line.split()
        if line and len(parts) != 2:
            raise FormatError(f"{name}:{number}: {line[:40]!r} is not two tokens")
        if parts:
            ranks[token(parts[0]) + token(parts[1])] = len(ranks)
    name, vocabulary = _content("encoder_json_file", encoder_json_file, encoder_json_hash)
    try:
        listed = json.loads(vocabulary)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None
    if not isinstance(listed, dict):
        raise FormatError(f"{name}: it holds no vocabulary")
    special = ("<|endoftext|>", "<|startoftext|>")
    known = {token(text): rank for text, rank in listed.items() if text not in special}
    if clobber_one_byte_tokens:
        ranks.update((text, rank) for text, rank in known.items() if len(text) == 1)
    if ranks != known:
        raise FormatError(f"{name}: its ids are not those that the merges give")
    return ranks


def _content(
    argument: str, given: str | os.PathLike[str], expected_hash: str | None
) -> tuple[str, bytes]:
    """A local file, by name and what it holds, which must be as expected."""
    name = checked_path(argument, given)
    if "://" in name:
        raise ArgumentError(f"{name}: only local files are read (jeton.load fetches by name)")
    content = files.read(name)
    if expected_hash is not None:
        found = hashlib.sha256(content).hexdigest()
        if found != expected_hash:
            raise ChecksumError(f"{name}: its sha256 is {found}, not {expected_hash}")
    return name, content
