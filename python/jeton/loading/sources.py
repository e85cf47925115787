"""Reads a tokenizer from a known name, a path, or the Hugging Face hub.

Look here for how these are distinguished; `jeton.load` builds a tokenizer from the result.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import jeton._core as _core
from jeton import files
from jeton.arguments import check_text, checked_path, special_ids
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    FormatWarning,
    MissingFileError,
    UnknownNameError,
    warn_caller,
)
from jeton.files import expanded
from jeton.loading.settings import (
    ADDITIONAL,
    CONFIG,
    FILES,
    GENERATION,
    NO_SETTINGS,
    SPECIAL_TOKENS,
    TEMPLATES,
    Settings,
    further_special_tokens,
    json_object,
    lists_for_tokens,
    read_beside,
)

if TYPE_CHECKING:
    from jeton._core import Pipeline

_TEMPLATES = Path(__file__).parents[1] / "chat" / "templates" / "formats"
"""The chat templates of jeton."""

_FILE_ENDINGS = (
    ".json",
    ".txt",
    ".model",
    ".tiktoken",
    ".bpe",
    ".spm",
    ".vocab",
    ".gguf",
    ".bin",
)


_WITHOUT_TOKENIZER_JSON = (
    *("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model", "source.spm"),
    *("vocab.json", "encoder.json", "merges.txt", "vocab.bpe", "vocab.txt", "qwen.tiktoken"),
    *("tiktoken.model", "tekken.json", "config.json"),
)
"""What a tokenizer may be read from in a folder without a `tokenizer.json`."""


def read(
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
) -> tuple[Pipeline, Settings]:
    """The pipeline and the settings of a source; see `jeton.load`."""
    from jeton.loading import registry

    open_path = checked_path("source", source, "a name or a path")
    for argument, text in (("encoding", encoding), ("pattern", pattern), ("revision", revision)):
        if text is not None:
            check_text(argument, text)
    for argument, flag in (("lowercase", lowercase), ("offline", offline)):
        if not (flag is None or isinstance(flag, bool)):
            raise ArgumentTypeError(f"{argument} must be a bool, not {type(flag).__name__}")
    specials = None if special_tokens is None else special_ids(special_tokens)
    if merges is not None:
        merges = checked_path("merges", merges)
    if folder is not None:
        folder = checked_path("folder", folder)
    may_be_name = isinstance(source, str) and not open_path.lower().endswith(_FILE_ENDINGS)
    name = registry.known_name(open_path) if may_be_name else None
    if name is not None:
        _refuse(
            f"the known name {open_path!r}",
            encoding=encoding,
            pattern=pattern,
            special_tokens=special_tokens,
            merges=merges,
            lowercase=lowercase,
            revision=revision,
        )
        paths = registry.files_of(name, folder=folder, offline=offline)
        merges_path = paths[1] if len(paths) > 1 else None
        core, settings = _of_path(paths[0], registry.KNOWN[name].encoding, merges=merges_path)
        if (template := registry.KNOWN[name].chat_template) is not None:
            text = (_TEMPLATES / f"{template}.jinja").read_text("utf-8")
            settings = dataclasses.replace(settings, chat_template=text)
        return core, settings

    # Unlike that of `Path`, this leaves `~name` of an unknown user unchanged.
    path = Path(expanded(open_path) if isinstance(source, str) else open_path)
    exists = True
    try:
        path.stat()
    except OSError as error:
        exists = error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
    if not exists and isinstance(source, str):
        from jeton.loading import hub

        _refuse(f"{open_path!r}", folder=folder)
        if not _is_path(open_path):
            if not hub.is_repository(open_path):
                raise _unknown(open_path)
            _refuse(f"the repository {open_path!r}", encoding=encoding)
            path = hub.repository_folder(
                open_path, revision=revision, offline=registry.is_offline(offline)
            )
            return _of_path(path, None, pattern, specials, merges, lowercase=lowercase)
        raise MissingFileError(f"{open_path}: there is no such file")
    _refuse(f"the path {open_path!r}", folder=folder, revision=revision)
    return _of_path(path, encoding, pattern, specials, merges, lowercase=lowercase)


def fetched(name: str) -> dict[str, Path]:
    """The files of a known name, or the folder of a repository, downloaded if necessary.

    Returns:
        The path of each, by a name that it may have in the folder of `JETON_DATA_DIR`.
    """
    from jeton.loading import hub, registry

    tokenizer = registry.known_name(check_text("name", name))
    if tokenizer is not None:
        sources, paths = registry.KNOWN[tokenizer].files, registry.files_of(tokenizer)
        return {
            path.name if path.name in dict(source.aliases) else source.name: path
            for source, path in zip(sources, paths, strict=True)
        }
    if not hub.is_repository(name):
        raise _unknown(name)
    offline = registry.is_offline(None)
    return {name: hub.repository_folder(name, revision=None, offline=offline)}


def _of_path(
    path: Path,
    encoding: str | None,
    pattern: str | None = None,
    special_tokens: list[tuple[str, int]] | None = None,
    merges: str | os.PathLike[str] | None = None,
    *,
    lowercase: bool | None = None,
) -> tuple[Pipeline, Settings]:
    options = (encoding, pattern, special_tokens, merges, lowercase)
    is_folder = path.is_dir()
    if is_folder:
        _check_folder(path)
    if is_folder and not (path / "tokenizer.json").is_file() and options == (None,) * len(options):
        from jeton.loading import class_folders

        if class_folders.names_a_class(path):
            try:
                core, roles, warnings = class_folders.read(path)
            except FormatError as error:
                if str(path) in error.message:
                    raise
                raise error.reworded(f"{path}: {error.message}") from None
            for warning in warnings:
                warn_caller(warning, FormatWarning)
            return _with_settings(path, core, roles, read_beside(path))
    core, warnings, roles, beside = _core.load(
        os.fspath(path),
        encoding,
        pattern,
        special_tokens,
        None if merges is None else os.path.expanduser(os.fspath(merges)),
        lowercase,
    )
    for warning in warnings:
        warn_caller(warning, FormatWarning)
    files_beside = read_beside(path) if is_folder else {}
    if CONFIG in files_beside and (path / "tokenizer.json").is_file():
        from jeton.loading.transformers_classes import differs_in_transformers_5

        config = json_object(files_beside, CONFIG)
        difference = differs_in_transformers_5(config, json.loads(core.stages()))
        if difference is not None:
            warn_caller(
                f"{path}: for {config['tokenizer_class']} transformers 5 gives other ids than "
                f"transformers 4 and jeton: {difference} (tokenizer.json decides here)",
                FormatWarning,
            )
    return _with_settings(path, core, roles, {**dict(beside), **files_beside})


def _check_folder(folder: Path) -> None:
    """Raises if a file that says what the tokenizer in a folder is cannot be read, or is something
    else: a link to nothing, a pipe, a pointer of Git LFS. Loaders would do without such a file, or
    take another in its place."""
    paths = [folder / name for name in ("tokenizer.json", *FILES)]
    paths += (folder / TEMPLATES).glob("*.jinja")
    if not os.path.lexists(folder / "tokenizer.json"):
        paths += [folder / name for name in _WITHOUT_TOKENIZER_JSON]
        found = [it for end in ("tiktoken", "gguf") for it in folder.glob(f"*.{end}")]
        paths += [it for it in found if not it.is_dir()]
    for path in paths:
        _check_file(path)
    try:
        _check_file(folder / GENERATION)
        if (folder / GENERATION).is_file():
            json_object({GENERATION: files.read(folder / GENERATION)}, GENERATION)
    except (FileError, FormatError) as error:
        place = "" if str(folder) in error.message else f"{folder}: "
        warn_caller(
            f"{place}{error.message}, so nothing says which tokens end an answer beside the roles",
            FormatWarning,
        )


def _check_file(path: Path) -> None:
    """Raises for a file as `_check_folder` says; it need not exist."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() and not path.exists():
        raise MissingFileError(
            f"{path}: this is a link to a file that is not there (fetch that file, or remove the "
            "link)"
        )
    files.refuse_not_fetched(path)


def _with_settings(
    path: Path, core: Pipeline, roles: list[tuple[str, str]], files: dict[str, bytes]
) -> tuple[Pipeline, Settings]:
    """A pipeline with its settings; warns about tokens in them that the tokenizer lacks."""
    if not (files or roles):
        return core, NO_SETTINGS
    try:
        settings = Settings.of_files(files, dict(roles))
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    lists = lists_for_tokens(files)
    if lists:
        warn_caller(
            f"{path}: a list is not a token, so {', '.join(lists)} gives no role (set the token "
            "with roles= of replace)",
            FormatWarning,
        )
    _, unread = further_special_tokens(
        json_object(files, CONFIG), json_object(files, SPECIAL_TOKENS)
    )
    special_tokens = core.special_tokens()
    left_out = [token for token in unread if token not in special_tokens]
    if left_out:
        warn_caller(
            f"{path}: transformers reads one list of special tokens, and so does jeton; of "
            f"{ADDITIONAL} these are not special: {', '.join(map(repr, left_out))}",
            FormatWarning,
        )
    missing = [
        f"{role} ({token})"
        for role, token in settings.roles.items()
        if token is not None and core.bytes_to_id(token.encode("utf-8", "surrogatepass")) is None
    ]
    if missing:
        warn_caller(
            f"{path}: the files beside the tokenizer name tokens that it does not have: "
            f"{', '.join(missing)}",
            FormatWarning,
        )
    return core, settings


def _refuse(what: str, **arguments: object) -> None:
    """Raises for arguments that a kind of source would ignore."""
    for name, value in arguments.items():
        if value is not None:
            raise ArgumentError(f"{name}= does not go with {what} (leave it out)")


def _is_path(source: str) -> bool:
    separators = source.count("/") + source.count(os.sep if os.sep != "/" else "\0")
    return (
        source.lower().endswith(_FILE_ENDINGS)
        or separators > 1
        or source.startswith((".", "~", "/"))
        or source.endswith("/")
    )


def _unknown(name: str) -> UnknownNameError:
    from jeton.loading.known_names import suggestion
    from jeton.loading.registry import KNOWN

    close = suggestion(name)
    hint = f"did you mean {close!r}?" if close else f"known are {', '.join(KNOWN)}"
    short = name if len(name) <= 80 else name[:75] + "…"
    exists = "names no download" if os.path.exists(name) else "there is no such file"
    return UnknownNameError(f"{short!r} is not a known name, and {exists}", hint=hint)
