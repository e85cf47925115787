"""`load`: a tokenizer from a known name, a path or the Hugging Face hub."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from jeton.arguments import checked_flag
from jeton.errors import FormatWarning, UnsupportedError, warn_caller
from jeton.loading import sources
from jeton.tokenizer import Tokenizer


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
    fix_mistral_regex: bool | None = None,
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
        fix_mistral_regex: Whether to split by the pattern of Mistral's models in place of the one
            in the file, as this argument of transformers does. By default as the folder's
            configuration says, else not.

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
            its tokenizer lacks; one whose class is known to give other ids in transformers 5.

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
    tok = Tokenizer._of_core(core, settings)
    if fix_mistral_regex is not None:
        checked_flag("fix_mistral_regex", fix_mistral_regex)
    config = tok.settings.config if settings.files else {}
    if "response_template" in config:
        _check_description(config["response_template"])
    if fix_mistral_regex is None:
        fix_mistral_regex = config.get("fix_mistral_regex") is True
        return _by_mistral_pattern(tok) if fix_mistral_regex and _may_be_mistrals(tok) else tok
    if fix_mistral_regex and not _may_be_mistrals(tok):
        warn_caller(
            "fix_mistral_regex has no effect, as in transformers: the tokenizer has no more than "
            "100,000 tokens, or no pre_tokenizer",
            FormatWarning,
        )
        return tok
    return _by_mistral_pattern(tok) if fix_mistral_regex else tok


def _check_description(value: object) -> None:
    """Refuses a damaged description of answers. One that jeton cannot follow is refused by `parse`
    alone, which nothing else needs."""
    from jeton.chat.answers.response_templates import description_of

    with contextlib.suppress(UnsupportedError):
        description_of(value)


def _may_be_mistrals(tok: Tokenizer) -> bool:
    """Whether transformers applies `fix_mistral_regex` to such a tokenizer."""
    return tok.vocab_size > 100_000 and tok.stages.pre_tokenizer is not None


def _by_mistral_pattern(tok: Tokenizer) -> Tokenizer:
    """The tokenizer, splitting as transformers has it with `fix_mistral_regex=True`."""
    from jeton.components import Regex, pre_tokenizers
    from jeton.loading.patterns import named_expression

    split = pre_tokenizers.Split(Regex(named_expression("tekken")), "isolated")
    old = tok.stages.pre_tokenizer
    rest = [old]
    if isinstance(old, pre_tokenizers.Sequence):
        rest = list(old.steps[1:])
    elif isinstance(old, pre_tokenizers.Metaspace):
        rest = [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    return tok.replace(pre_tokenizer=pre_tokenizers.Sequence([split, *filter(None, rest)]))
