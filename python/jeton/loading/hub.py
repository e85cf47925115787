"""Tokenizers on the Hugging Face hub, through `huggingface_hub`: the extra `jeton[hub]`.

Look here for the files that are downloaded from a repository. Its cache, tokens for gated
repositories and mirrors are those that `huggingface_hub` is configured with.
"""

from __future__ import annotations

import re
from pathlib import Path

from jeton.errors import DownloadError, UnsupportedError

FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "additional_chat_templates/*.jinja",
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "*.tiktoken",
    "config.json",
    "generation_config.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
    "source.spm",
    "target.spm",
    "tekken.json",
)
"""The files to download from a repository: tokenizers, never weights."""

_LONGEST = 96 + 1 + 96
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def is_repository(name: str) -> bool:
    """Whether `name` has the form `organisation/name`, and is not longer than the hub allows."""
    return len(name) <= _LONGEST and _REPOSITORY.fullmatch(name) is not None


def repository_folder(repository: str, *, revision: str | None, offline: bool) -> Path:
    """A local folder with the tokenizer of a repository.

    Args:
        repository: `organisation/name`.
        revision: A branch, a tag or a commit; by default the main branch.
        offline: Whether to use only files that are cached on this machine.

    Raises:
        UnsupportedError: `huggingface_hub` is not installed.
        DownloadError: The repository does not exist, needs permission, or cannot be reached.
    """
    try:
        import huggingface_hub
    except ImportError as error:
        raise UnsupportedError(
            f"{repository!r} is on the Hugging Face hub, but huggingface_hub is not installed "
            '(pip install "jeton[hub]"; if you meant a path, there is no such file)'
        ) from error
    try:
        folder = huggingface_hub.snapshot_download(
            repository,
            revision=revision,
            allow_patterns=list(FILES),
            local_files_only=offline,
        )
    # The errors come from several libraries; they all mean that the download failed.
    except Exception as error:
        if offline:
            raise DownloadError(
                f"{repository} is not on this machine, and jeton is offline (fetch it with a "
                f"network, `jeton fetch {repository}`, or load a folder that holds its files)"
            ) from error
        what = str(error).strip().partition("\n")[0] or type(error).__name__
        raise DownloadError(
            f"{repository}: {what} (is the name right? A gated repository needs `hf auth login`)"
        ) from error
    return Path(folder)
