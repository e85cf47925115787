"""`load`: a tokenizer from a known name, a path or the Hugging Face hub."""

from __future__ import annotations

import os
from collections.abc import Mapping

from jeton.loading import sources
from jeton.tokenizer import Tokenizer

__all__ = ["load"]


def load(
    source: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    merges: str | os.PathLike[str] | None = None,
    lowercase: bool | None = None,
    folder: str | os.PathLike[str] | None = None,
    offline: bool | None = None,
    revision: str | None = None,
) -> Tokenizer:
    """Loads a tokenizer from a known name, a file, a folder or the Hugging Face hub.

    `source` is the first of these that applies:

    - a known name (`"gpt2"`, `"cl100k_base"`, `"o200k_base"`, …) or a model's (`"gpt-4o"`): its
      files are downloaded once, checked by their sha256 and cached. A file of that name is
      `"./gpt2"`;
    - a path to a file or a folder; `~` at the beginning of a `str` is a home folder. The content
      determines the format: Hugging Face `tokenizer.json`, tiktoken ranks, a GPT-2 `vocab.json`, a
      SentencePiece model, …; a folder also provides roles of special tokens, chat templates and the
      rest of its `tokenizer_config.json`;
    - a repository on the Hugging Face hub, `"organisation/name"`: needs the extra `jeton[hub]`.

    Args:
        source: What to load.
        encoding: For ranks: the name of the published encoding, if several share one file.
        pattern: For ranks: how text is split; the name of a known pattern, or a regular expression.
            Published files are recognised by their content and need none.
        special_tokens: For ranks and GPT-2 pairs: special tokens with their ids.
        merges: For a `vocab.json`: its `merges.txt`, if it is in another folder.
        lowercase: For a `vocab.txt`: whether to lower-case text. By default it does, unless a token
            would change in lower case (names in brackets such as `[CLS]` do not count).
        folder: For a known name: a folder with its files, so that nothing is downloaded.
        offline: Whether to download nothing. By default as in the environment variable
            `JETON_OFFLINE`.
        revision: For a repository: a branch, a tag or a commit.

    Raises:
        UnknownNameError: `source` is no known name, no path and no repository.
        MissingFileError: There is no such file.
        DownloadError: A file is not cached and cannot be downloaded.
        ChecksumError: A file differs from the published one.
        FormatError: The content has no known format, or breaks its format.
        ArgumentError: Ranks without a pattern; an argument for another kind of source.

    Warns:
        FormatWarning: A file that its library reads without complaint, but that seems truncated or
            damaged: a `.model` without the sections after its pieces, a `vocab.txt` with a byte
            order mark or with a token on two lines; a folder whose configuration names tokens that
            its tokenizer lacks.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bytes.tiktoken"
    >>> import base64
    >>> lines = [base64.b64encode(bytes([b])) + b" %d" % b for b in range(256)]
    >>> _ = path.write_bytes(b"\\n".join(lines))
    >>> load(path, pattern=r"\\w+|\\W", special_tokens={"<|end|>": 256}).encode("hi")
    [104, 105]
    """
    core, settings = sources.read(
        source,
        encoding=encoding,
        pattern=pattern,
        special_tokens=special_tokens,
        merges=merges,
        lowercase=lowercase,
        folder=folder,
        offline=offline,
        revision=revision,
    )
    return Tokenizer._of_core(core, settings)
