"""Reads files of ranks into a dict and writes them, as `tiktoken.load` does."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path

from jeton import files
from jeton.arguments import checked_path
from jeton.cache_folder import cache_folder
from jeton.components.byte_alphabet import BYTES
from jeton.errors import ArgumentError, ChecksumError, DownloadError, FormatError
from jeton.loading import download
from jeton.loading.class_folders.rank_classes import parse_ranks
from jeton.loading.registry import is_offline


def load_tiktoken_bpe(
    tiktoken_bpe_file: str | os.PathLike[str], expected_hash: str | None = None
) -> dict[bytes, int]:
    """The ranks in a file.

    Args:
        tiktoken_bpe_file: A path; or an address, whose file is taken from tiktoken's cache
            (`TIKTOKEN_CACHE_DIR`, `DATA_GYM_CACHE_DIR`) or jeton's, and downloaded into it once.
        expected_hash: The sha256 of the file, in hexadecimal. Nothing is downloaded without it.

    Raises:
        FileNotFoundError: There is no such file.
        DownloadError: It cannot be downloaded.
        ValueError: The file has another hash, or a line is not a token and its rank; or an address
            without `expected_hash` whose file is in no cache.
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
    """The name and the content of a file, after a check of its hash."""
    name = checked_path(argument, path, urls=True)
    content = files.read(_cached(name, expected_hash) if "://" in name else name)
    if expected_hash is not None:
        actual = hashlib.sha256(content).hexdigest()
        if actual != expected_hash:
            raise ChecksumError(f"{name}: its sha256 is {actual}, not {expected_hash}")
    return name, content


def _cached(address: str, expected_hash: str | None) -> Path:
    """The file of an address in a cache, downloaded if it is not there."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    name = hashlib.sha1(address.encode()).hexdigest()
    path = Path(folder) / name if folder else cache_folder() / "tiktoken" / name
    if path.is_file() and expected_hash in (None, files.digest_of(path).sha256):
        return path
    if expected_hash is None:
        raise ArgumentError(
            f"{address}: a file is downloaded only if its sha256 is known (pass expected_hash, or "
            f"put the file at {path})"
        )
    if is_offline():
        raise DownloadError(f"{address} is not at {path}, and JETON_OFFLINE forbids to download it")
    download.fetch(address, path, expected_hash)
    return path
