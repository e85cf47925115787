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
    """A tokenizer, from wherever it is.

    `source` is, in this order,

    - a known name (`"gpt2"`, `"cl100k_base"`, `"o200k_base"`, …) or a model's (`"gpt-4o"`): fetched
      once, checked by its sha256 and cached. A file of that name is `"./gpt2"`;
    - a path to a file or a folder; `~` at the beginning of a `str` is a home. The content tells the
      format: Hugging Face `tokenizer.json`, tiktoken ranks, a GPT-2 `vocab.json`, a SentencePiece
      model, …; of a folder, roles of special tokens, chat templates and the rest of its
      `tokenizer_config.json` are kept as well;
    - a repository on the Hugging Face hub, `"organisation/name"`: needs the extra `jeton[hub]`.

    Args:
        source: What to load.
        encoding: For ranks: the published encoding that they are, where one file serves several.
        pattern: For ranks: how text is cut; the name of a known pattern, or a regular expression.
            Published files are known by their content and need none.
        special_tokens: For ranks and GPT-2 pairs: special tokens with their ids.
        merges: For a `vocab.json`: its `merges.txt`, where that does not lie beside it.
        lowercase: For a `vocab.txt`: whether text is lower-cased. By default it is, unless a token
            would change in lower case (names in brackets such as `[CLS]` do not count).
        folder: For a known name: a folder that holds its files; nothing is fetched then.
        offline: Fetch nothing. By default, as the environment variable `JETON_OFFLINE` says.
        revision: For a repository: a branch, a tag or a commit.

    Raises:
        UnknownNameError: `source` is no known name, no path and no repository.
        MissingFileError: there is no such file.
        DownloadError: a file is not here and cannot be fetched.
        ChecksumError: a file is not the published one.
        FormatError: the content is of no known format, or breaks its own.
        ArgumentError: ranks without a pattern; an argument that goes with another kind of source.

    Warns:
        FormatWarning: a file that its library reads as it stands, but that seems to be cut or
            damaged: a `.model` without what follows its pieces, a `vocab.txt` with a byte order
            mark or with a token on two lines; a folder whose configuration names tokens that its
            tokenizer lacks.

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
