"""Known names: the published files of `gpt2`, `cl100k_base` and the others.

Look here for where a vocabulary comes from, how it is checked and where it is cached:

1. the folder of `folder=`, or of the environment variable `JETON_DATA_DIR`;
2. jeton itself, which ships with one small tokenizer;
3. the cache: `JETON_CACHE_DIR`, or the user's cache folder by the rules of the platform; or
   tiktoken's cache, if `TIKTOKEN_CACHE_DIR` names one;
4. its public source, once; never with `offline=True` or `JETON_OFFLINE=1`.

Each file is checked by its sha256, wherever it comes from.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from jeton.cache_folder import cache_folder
from jeton.errors import ChecksumError, DownloadError, MissingFileError
from jeton.files import digest_of
from jeton.loading import download


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A published file."""

    name: str
    """Its name in the cache."""
    sha256: str
    """In hexadecimal."""
    url: str | None = None
    """Where it is published; `None` if a licence is required."""
    aliases: tuple[tuple[str, str | None], ...] = ()
    """Other names that it may have in a local folder, each with its sha256 if that differs."""
    ships: bool = False
    """Whether it is part of jeton, in the folder of the sample texts."""


@dataclass(frozen=True, slots=True)
class KnownTokenizer:
    """A known tokenizer: its files, and the encoding of its ranks."""

    files: tuple[PublishedFile, ...]
    """The vocabulary first; then the merges, if there are any."""
    encoding: str | None = None
    """The name of the published encoding, which defines pattern and special tokens."""
    what: str = ""
    """A description in a few words."""
    chat_template: str | None = None
    """The name of the chat template whose control tokens it has."""


_ENCODINGS = "https://openaipublic.blob.core.windows.net/encodings"
_GPT2 = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main"

_R50K = PublishedFile(
    "r50k_base.tiktoken",
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    f"{_ENCODINGS}/r50k_base.tiktoken",
)
_P50K = PublishedFile(
    "p50k_base.tiktoken",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    f"{_ENCODINGS}/p50k_base.tiktoken",
)
_CL100K = PublishedFile(
    "cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    f"{_ENCODINGS}/cl100k_base.tiktoken",
)
_O200K = PublishedFile(
    "o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    f"{_ENCODINGS}/o200k_base.tiktoken",
)
_LLAMA3 = PublishedFile(
    "llama3_ranks.model",
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
    aliases=(("tokenizer.model", None),),
)
# There is also a copy of the merges without the first line, "#version: 0.2".
_MERGES_WITHOUT_VERSION = "ac33235097fe06d4a8fff0feac994644809e6eb6ab70669e1e9fd40ae032428e"
_GPT2_VOCAB = PublishedFile(
    "encoder.json",
    "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    f"{_GPT2}/encoder.json",
    aliases=(("gpt2_vocab.json", None), ("vocab.json", None)),
)
_GPT2_MERGES = PublishedFile(
    "vocab.bpe",
    "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    f"{_GPT2}/vocab.bpe",
    aliases=(
        ("gpt2_merges.txt", None),
        ("gpt2_merges.txt", _MERGES_WITHOUT_VERSION),
        ("merges.txt", None),
        ("merges.txt", _MERGES_WITHOUT_VERSION),
    ),
)
_JETON_4K = PublishedFile(
    "jeton-4k.json", "8fd541b3af360c69a569ed0aadd160a768aa3a9d3f3b911f1f16644a80551dbc", ships=True
)

KNOWN: Mapping[str, KnownTokenizer] = MappingProxyType(
    {
        "jeton-4k": KnownTokenizer(
            (_JETON_4K,), None, "ships with jeton, 4,096 tokens", chat_template="chatml"
        ),
        "gpt2": KnownTokenizer((_GPT2_VOCAB, _GPT2_MERGES), None, "GPT-2, 50,257 tokens"),
        "r50k_base": KnownTokenizer((_R50K,), "r50k_base", "GPT-3, 50,257 tokens"),
        "p50k_base": KnownTokenizer((_P50K,), "p50k_base", "Codex, 50,281 tokens"),
        "p50k_edit": KnownTokenizer((_P50K,), "p50k_edit", "Codex for edits, 50,284 tokens"),
        "cl100k_base": KnownTokenizer(
            (_CL100K,), "cl100k_base", "GPT-4 and GPT-3.5, 100,261 tokens"
        ),
        "o200k_base": KnownTokenizer((_O200K,), "o200k_base", "GPT-4o and GPT-5, 200,000 tokens"),
        "o200k_harmony": KnownTokenizer((_O200K,), "o200k_harmony", "gpt-oss, 201,088 tokens"),
        "llama3": KnownTokenizer((_LLAMA3,), "llama3", "Llama 3, 128,256 tokens"),
        "llama3.1": KnownTokenizer((_LLAMA3,), "llama3.1", "Llama 3.1 to 3.3, 128,256 tokens"),
    }
)
"""The known tokenizers by name."""

MODELS: Mapping[str, str] = MappingProxyType(
    {
        "o1": "o200k_base",
        "o3": "o200k_base",
        "o4-mini": "o200k_base",
        "gpt-5": "o200k_base",
        "gpt-4.1": "o200k_base",
        "gpt-4o": "o200k_base",
        "gpt-4": "cl100k_base",
        "gpt-3.5-turbo": "cl100k_base",
        "gpt-3.5": "cl100k_base",
        "gpt-35-turbo": "cl100k_base",
        "davinci-002": "cl100k_base",
        "babbage-002": "cl100k_base",
        "text-embedding-ada-002": "cl100k_base",
        "text-embedding-3-small": "cl100k_base",
        "text-embedding-3-large": "cl100k_base",
        "text-davinci-003": "p50k_base",
        "text-davinci-002": "p50k_base",
        "code-davinci-002": "p50k_base",
        "code-davinci-001": "p50k_base",
        "code-cushman-002": "p50k_base",
        "code-cushman-001": "p50k_base",
        "text-davinci-edit-001": "p50k_edit",
        "code-davinci-edit-001": "p50k_edit",
        "davinci-codex": "p50k_base",
        "cushman-codex": "p50k_base",
        "text-davinci-001": "r50k_base",
        "text-curie-001": "r50k_base",
        "text-babbage-001": "r50k_base",
        "text-ada-001": "r50k_base",
        "text-similarity-davinci-001": "r50k_base",
        "text-similarity-curie-001": "r50k_base",
        "text-similarity-babbage-001": "r50k_base",
        "text-similarity-ada-001": "r50k_base",
        "text-search-davinci-doc-001": "r50k_base",
        "text-search-curie-doc-001": "r50k_base",
        "text-search-babbage-doc-001": "r50k_base",
        "text-search-ada-doc-001": "r50k_base",
        "code-search-babbage-code-001": "r50k_base",
        "code-search-ada-code-001": "r50k_base",
        "davinci": "r50k_base",
        "curie": "r50k_base",
        "babbage": "r50k_base",
        "ada": "r50k_base",
        "gpt2": "gpt2",
        "gpt-2": "gpt2",
    }
)
"""The names of models, and the tokenizer of each, as tiktoken has them."""

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "o1-": "o200k_base",
        "o3-": "o200k_base",
        "o4-mini-": "o200k_base",
        "gpt-5": "o200k_base",
        "gpt-4.5-": "o200k_base",
        "gpt-4.1-": "o200k_base",
        "chatgpt-4o-": "o200k_base",
        "gpt-4o-": "o200k_base",
        "gpt-4-": "cl100k_base",
        "gpt-3.5-turbo-": "cl100k_base",
        "gpt-35-turbo-": "cl100k_base",
        "gpt-oss-": "o200k_harmony",
        "ft:gpt-4o": "o200k_base",
        "ft:gpt-4": "cl100k_base",
        "ft:gpt-3.5-turbo": "cl100k_base",
        "ft:davinci-002": "cl100k_base",
        "ft:babbage-002": "cl100k_base",
    }
)
"""Beginnings of the names of model versions, as in tiktoken; the first that matches counts."""

_SHORT = {"gpt-4.5": "o200k_base", "chatgpt-4o": "o200k_base", "gpt-oss": "o200k_harmony"}
"""Names of families; tiktoken knows only their versions."""


def known_name(name: str) -> str | None:
    """The known name of a tokenizer or model: `name` itself, or that of the model's tokenizer.

    >>> known_name("gpt2"), known_name("gpt-4"), known_name("tokenizer.json")
    ('gpt2', 'cl100k_base', None)
    """
    return name if name in KNOWN else name_for_model(name)


def name_for_model(model: str) -> str | None:
    """The known name of a model's tokenizer, or `None`.

    >>> name_for_model("gpt-4o-2024-05-13")
    'o200k_base'
    """
    # Names of fine-tuned models are ft:MODEL:ORGANISATION:NAME:ID.
    base = model.removeprefix("ft:").partition(":")[0]
    return encoding_of_model(model) or _SHORT.get(model) or encoding_of_model(base)


def encoding_of_model(model: str) -> str | None:
    """The encoding that tiktoken has for a model, or `None`."""
    if model in MODELS:
        return MODELS[model]
    return next((name for family, name in FAMILIES.items() if model.startswith(family)), None)


def is_offline(offline: bool | None = None) -> bool:
    """Whether downloads are forbidden, by the argument or else by `JETON_OFFLINE`."""
    if offline is not None:
        return offline
    return os.environ.get("JETON_OFFLINE", "").strip().lower() not in (
        "",
        "0",
        "false",
        "no",
    )


def files_of(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    offline: bool | None = None,
    progress: bool = True,
) -> list[Path]:
    """The files of the known name `name`, downloaded if they are not on this machine.

    Args:
        name: A key of `KNOWN`.
        folder: A folder that holds them; then nothing is downloaded. The folder of
            `JETON_DATA_DIR` is searched first.
        offline: Whether to download nothing. By default as in `JETON_OFFLINE`.
        progress: Whether to show progress on standard error, if that is a terminal.

    Raises:
        ChecksumError: A file differs from the published one.
        DownloadError: A file is not on this machine and cannot be downloaded.
        MissingFileError: `folder` lacks a file.
    """
    try:
        return [
            _file(
                source,
                name=name,
                folder=folder,
                offline=is_offline(offline),
                progress=progress,
            )
            for source in KNOWN[name].files
        ]
    except ChecksumError:
        raise
    except DownloadError as error:
        names = [source.name for source in KNOWN[name].files]
        whole = f"{name} consists of {' and '.join(names)}; " if len(names) > 1 else ""
        raise DownloadError(
            f"{error}; {whole}'jeton-4k' is a small tokenizer that ships with jeton"
        ) from error


def is_here(name: str) -> bool:
    """Whether the files of the known name `name` are on this machine."""
    try:
        files_of(name, offline=True)
    except DownloadError:
        return False
    return True


def _file(
    source: PublishedFile,
    *,
    name: str,
    folder: str | os.PathLike[str] | None,
    offline: bool,
    progress: bool,
) -> Path:
    if folder is not None:
        path = _in_folder(source, Path(os.path.expanduser(folder)))
        if path is None:
            names = dict.fromkeys([source.name, *(alias for alias, _ in source.aliases)])
            raise MissingFileError(
                f"{os.fspath(folder)}: {name} needs {' or '.join(names)}, which is not there"
            )
        return path
    if data_folder := os.environ.get("JETON_DATA_DIR"):
        path = _in_folder(source, Path(os.path.expanduser(data_folder)))
        if path is not None:
            return path
    if source.ships:
        return Path(str(files("jeton.samples") / source.name))
    cached = cache_folder() / source.name
    actual = digest_of(cached).sha256 if cached.is_file() else None
    if actual == source.sha256:
        return cached
    tiktoken_cache = os.environ.get("TIKTOKEN_CACHE_DIR")
    if tiktoken_cache and source.url is not None:
        path = Path(tiktoken_cache) / hashlib.sha1(source.url.encode()).hexdigest()
        if path.is_file() and digest_of(path).sha256 == source.sha256:
            return path
    if source.url is None:
        raise DownloadError(
            f"{name} is not published openly",
            hint=f"get {source.name} from its authors and name its folder in JETON_DATA_DIR",
        )
    if offline and actual is not None:
        raise ChecksumError(
            f"{cached}: damaged: its sha256 is {actual}, the published file has {source.sha256}; "
            f"and jeton is offline (replace it by {source.url}; or leave out offline=True and "
            "JETON_OFFLINE)"
        )
    if offline:
        raise DownloadError(
            f"{name} is not on this machine, and jeton is offline",
            hint=f"fetch {source.url} to {cached}, or name a folder that holds it in "
            "JETON_DATA_DIR; or leave out offline=True and JETON_OFFLINE",
        )
    show = download.show_progress(source.name) if progress else None
    download.fetch(source.url, cached, source.sha256, progress=show)
    return cached


def _in_folder(source: PublishedFile, folder: Path) -> Path | None:
    """The file in a local folder, under any of its names.

    Raises:
        ChecksumError: The file with its own name is another one.
    """
    own = folder / source.name
    hashes_of = {source.name: {source.sha256}}
    for alias, sha256 in source.aliases:
        hashes_of.setdefault(alias, set()).add(sha256 or source.sha256)
    for name, hashes in hashes_of.items():
        path = folder / name
        if os.path.isfile(path) and digest_of(path).sha256 in hashes:
            return path
    if os.path.isfile(own):
        raise ChecksumError(
            f"{own}: not the published file: its sha256 is {digest_of(own).sha256}, published is "
            f"{source.sha256}"
        )
    return None
