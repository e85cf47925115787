"""Reads files of ranks into a dict and writes them, as `tiktoken.load` does."""

from __future__ import annotations

import base64
import hashlib
import json
import os

from jeton import files
from jeton.arguments import checked_path
from jeton.components.byte_alphabet import BYTES
from jeton.errors import ArgumentError, ChecksumError, FormatError
from jeton.loading.class_folders.rank_classes import parse_ranks

__all__ = ["data_gym_to_mergeable_bpe_ranks", "dump_tiktoken_bpe", "load_tiktoken_bpe"]


def load_tiktoken_bpe(
    tiktoken_bpe_file: str | os.PathLike[str], expected_hash: str | None = None
) -> dict[bytes, int]:
    """The ranks in a local file. To download a published file, use `jeton.load` with its name.

    Args:
        tiktoken_bpe_file: A path.
        expected_hash: The sha256 of the file, in hexadecimal.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file has another hash, or a line is not a token and its rank.
    """
    name, content = _content("tiktoken_bpe_file", tiktoken_bpe_file, expected_hash)
    return parse_ranks(name, content)


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
        clobber_one_byte_tokens: Whether to take the ranks of single bytes from the vocabulary.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: A file has another hash, or the two do not belong together.
    """
    name, merges = _content("vocab_bpe_file", vocab_bpe_file, vocab_bpe_hash)

    def token(spelling: str) -> bytes:
        if unknown := next((it for it in spelling if it not in BYTES), None):
            raise FormatError(f"{name}: {unknown!r} in {spelling[:40]!r} spells no byte")
        return bytes(BYTES[character] for character in spelling)

    ranks = {bytes([byte]): rank for rank, byte in enumerate(BYTES.values())}
    for number, line in enumerate(merges.decode("utf-8", "replace").split("\n")[1:], 2):
        parts = line.split()
        if line and len(parts) != 2:
            raise FormatError(f"{name}:{number}: {line[:40]!r} is not two tokens")
        if parts:
            ranks[token(parts[0]) + token(parts[1])] = len(ranks)
    name, vocabulary = _content("encoder_json_file", encoder_json_file, encoder_json_hash)
    try:
        ids = json.loads(vocabulary)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None
    if not isinstance(ids, dict):
        raise FormatError(f"{name}: it holds no vocabulary")
    special = ("<|endoftext|>", "<|startoftext|>")
    vocabulary_ranks = {token(text): rank for text, rank in ids.items() if text not in special}
    if clobber_one_byte_tokens:
        ranks.update((text, rank) for text, rank in vocabulary_ranks.items() if len(text) == 1)
    if ranks != vocabulary_ranks:
        raise FormatError(f"{name}: its ids are not those that the merges give")
    return ranks


def _content(
    argument: str, path: str | os.PathLike[str], expected_hash: str | None
) -> tuple[str, bytes]:
    """The name and the content of a local file, after a check of its hash."""
    name = checked_path(argument, path)
    if "://" in name:
        raise ArgumentError(f"{name}: only local files are read (jeton.load downloads by name)")
    content = files.read(name)
    if expected_hash is not None:
        actual = hashlib.sha256(content).hexdigest()
        if actual != expected_hash:
            raise ChecksumError(f"{name}: its sha256 is {actual}, not {expected_hash}")
    return name, content
