"""Turns a corpus into a token set: files that a training loop reads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from jeton.arguments import checked_path
from jeton.corpora.memory_size import memory_bytes
from jeton.corpora.progress import check_watch
from jeton.corpora.token_blocks.blocks import DocumentSource
from jeton.data import layouts
from jeton.data.conversations import Conversations
from jeton.data.layouts.finding import layout_of
from jeton.data.manifest import NAME, Manifest
from jeton.data.manifest_defaults import SetFacts, tokenizer_of
from jeton.data.preparing.end_of_text import Choice, EndOfText
from jeton.data.preparing.inputs import source_of
from jeton.data.preparing.journal import RUN, WORK, Journal
from jeton.data.preparing.options import AUTO, MEMORY, PrepareOptions
from jeton.data.preparing.parts import PartsSource, checked_parts
from jeton.data.preparing.pipeline import PrepareProgress, PrepareRun, SetPlan
from jeton.data.preparing.target import written_to
from jeton.data.preparing.tokenizer_file import NAMES as TOKENIZER_FILES
from jeton.errors import ArgumentTypeError, FileError, JetonError
from jeton.stores.folders import local_copy
from jeton.tokenizer import Tokenizer

__all__ = ["AUTO", "PrepareProgress", "merge", "prepare"]

Filter: TypeAlias = "str | Callable[[Any], object]"


def prepare(
    data: str | os.PathLike[str] | Iterable[Any],
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    *,
    layout: layouts.Layout = "jeton",
    shard_tokens: int | None = None,
    field: str | None = None,
    documents: Literal["file", "line"] | str = "file",
    errors: Literal["strict", "replace", "ignore"] = "strict",
    bad_records: Literal["error", "drop"] = "error",
    end_of_text: str | int | Choice | None = AUTO,
    end_of_text_place: Literal["after", "before"] = "after",
    frame: bool = False,
    validation: float | Fraction | str | os.PathLike[str] | Iterable[Any] | None = None,
    split: Literal["cut", "hash"] | None = None,
    shuffle: int | None = None,
    part: tuple[int, int] | None = None,
    memory: int | str = MEMORY,
    name: str = "",
    messages: str | Conversations | None = None,
    filter: Filter | Sequence[Filter] | None = None,
    watch: Callable[[PrepareProgress], None] | None = None,
) -> Manifest:
    """Encodes a corpus once, into files of a layout that training loops read.

    Files are written in `FOLDER/.preparing`, and moved to the folder when the set is complete, the
    manifest last. After an interruption or a kill the same call resumes, and gives the same files,
    byte for byte; they depend neither on the number of cores nor on memory. If the set is complete
    already, the call only returns the manifest.

    The spelling of a special token in a document stays text. Empty documents are left out and
    counted.

    Args:
        data: Files, folders or patterns of paths: text, JSON lines (`.jsonl`, `.ndjson`), CSV
            and TSV, also compressed by gzip, Zstandard or xz, and Parquet. Or an iterable of texts,
            or of records; a data set of Hugging Face; a table or a column of Arrow. A document is
            a file of text, or a record, a row, an item. Files may also be named by URLs of object
            stores (`s3://`, `gs://`, `hf://`, `https://`): see `StorePath`. To resume, the part of
            the files that was read must be unchanged, and so must all other data.
        tokenizer: The tokenizer.
        folder: The folder for the files; it is created if it does not exist. If it is a URL of an
            object store, the set is made in the folder of fetched files (`JETON_CACHE_DIR`), where
            the same call resumes, and then written there whole, the manifest last.
        layout: The format of the files: see `jeton.data.layouts`.
        shard_tokens: The maximum number of tokens per file; by default that of the layout.
        field: The field of records, or the column, that holds the text; by default `text`. If you
            pass one, all files but Parquet are read as JSON lines.
        documents: What a document of a text file is: `"file"`, the whole file; `"line"`, each
            line without its newline; or the text between two documents, such as `"\\n\\n"` or
            `"<|endoftext|>"`.
        errors: What to do with bytes that are not UTF-8: raise an error that says where, replace
            them by U+FFFD, or leave them out.
        bad_records: What to do with a record, a row or a line that cannot be read or encoded:
            `"error"` raises and says where, `"drop"` leaves it out and counts it in the manifest. A
            file that is one document is always an error. For conversations, `Conversations` has
            this option.
        end_of_text: The token that separates documents, or its id; `None` for none. By default the
            tokenizer's end-of-text token; it is an error if it has none or several.
        end_of_text_place: Whether it comes after or before each document.
        frame: Whether documents begin and end with the tokens of the tokenizer's post-processor,
            `[CLS]` … `[SEP]` or `<s>` …, instead of an end-of-text token. By default the
            post-processor is not used.
        validation: The share of the data to validate with, from 0 to 1; or separate data, read as
            `data` is.
        split: How to choose such a share. `"cut"`: of N tokens the first ⌊N (1 - validation)⌋
            train, even if that splits a document. `"hash"`: the SHA-256 of a document's first 64
            KiB decides, so a document stays in its split when the corpus grows. By default by hash
            if `data` is several files, since a cut would take the end of the last, and else a cut.
        shuffle: A seed to shuffle documents by. The order depends on the seed and the first bytes
            of each document; all copies of a document train, or all validate. Takes as much of the
            disk again.
        part: `(3, 8)` prepares the third of eight parts of the files, or of the rows of a table,
            for `merge`.
        memory: The memory for shuffling, such as `"4GB"`; the files do not depend on it.
        name: The name of the tokenizer in the manifest.
        messages: The field of records that holds messages. A chat template turns these
            conversations into tokens, with a loss mask. All files but Parquet are read as JSON
            lines. `jeton.data.Conversations` has more options, such as the roles to learn. The
            layouts `jeton`, `datatrove`, `parquet` and `olmo` can hold a loss mask.
        filter: Which records stay, for JSON lines, Parquet, tables, data sets and iterables: a rule
            on a field, such as `"score >= 3"` or `"language == en"`, which a record without the
            field does not pass; a function that takes a record (a dict of its fields, or the text)
            and returns whether it stays, such as a `Contamination`; or a list of these, all of
            which must hold. A function must always give the same answer for a record; it runs in
            this process. The manifest counts what each has left out, as `filtered`. All files but
            Parquet are read as JSON lines.
        watch: Called with a `PrepareProgress` from time to time.

    Returns:
        The content of `manifest.json`.

    Raises:
        ArgumentError: An option is not valid, or the tokenizer has no end-of-text token.
        FileError: The folder holds something else or cannot be written to, the disk is full or has
            less than half of the space that the set will need, or an input has changed.
        FormatError: An input is not what its name says, or not UTF-8.
        EncodeError: The tokenizer has no tokens for a text.

    Example:
        >>> import jeton, tempfile
        >>> from jeton.data import TokenDataset, prepare
        >>> trainer = jeton.BPETrainer(300, special_tokens=["<|endoftext|>"])
        >>> tok = trainer.train(["to be or not to be"])
        >>> folder = tempfile.mkdtemp()
        >>> manifest = prepare(["to be", "or not to be"], tok, folder, layout="nanogpt")
        >>> manifest.documents, manifest.splits["train"].tokens
        (2, 8)
        >>> tok.decode(TokenDataset(folder)[:])
        'to be<|endoftext|>or not to be<|endoftext|>'
    """
    check_watch(watch)
    request = PrepareOptions.of(locals()).request(tokenizer)
    target = checked_path("folder", folder, urls=True)
    plan, how = request.plan, (request.encoding, request.records)
    sources = {"train": source_of(data, *how, part=plan.part)}
    if plan.by == "data":
        sources["val"] = source_of(validation, *how, part=plan.part, name="validation")
    return _run(plan, sources, target, watch)


def merge(
    parts: Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    tokenizer: Tokenizer | None = None,
    memory: int | str = MEMORY,
    watch: Callable[[PrepareProgress], None] | None = None,
) -> Manifest:
    """Joins the parts of a set, after verifying each against its manifest.

    The files are the same, byte for byte, as if one machine had prepared everything: the layout,
    the splits and the shuffling are those that the parts were prepared for. It resumes like
    `prepare`.

    Args:
        parts: The folders of all parts, in any order; or their URLs.
        folder: The folder for the files; or its URL.
        tokenizer: The tokenizer of the parts, if no format can hold it.
        memory: The memory for shuffling.
        watch: Called with a `PrepareProgress` from time to time.

    Returns:
        The content of `manifest.json`.

    Raises:
        ArgumentError: A part is missing, there twice, or of another set.
        FormatError: A part is damaged.
        FileError: As `prepare`.
    """
    if isinstance(parts, (str, os.PathLike)) or not isinstance(parts, Iterable):
        raise ArgumentTypeError("parts must be an iterable of folders")
    check_watch(watch)
    folders = [Path(local_copy(checked_path("each of parts", part, urls=True))) for part in parts]
    target = checked_path("folder", folder, urls=True)
    checked = checked_parts(folders)
    first_folder, first = checked[0]
    if tokenizer is None:
        tokenizer = tokenizer_of(first_folder, first)
    else:
        SetFacts(first_folder, first).check(tokenizer)
    end = first.end_of_text
    plan = SetPlan(
        tokenizer=tokenizer,
        name=str(first.tokenizer.get("name", "")),
        end_of_text=None if end is None else EndOfText(end["token"], end["id"], end["place"]),
        memory=memory_bytes(memory) or 0,
        part=None,
        options=dict(first.options),
    )
    return merged_parts(plan, checked, target, watch)


def merged_parts(
    plan: SetPlan,
    parts: list[tuple[Path, Manifest]],
    folder: str,
    watch: Callable[[PrepareProgress], None] | None = None,
) -> Manifest:
    """Joins parts that are checked and in order."""
    sources: dict[str, DocumentSource] = {
        split: PartsSource(parts, split) for split in parts[0][1].splits
    }
    return _run(plan, sources, folder, watch)


def _run(
    plan: SetPlan,
    sources: dict[str, DocumentSource],
    target: str,
    watch: Callable[[PrepareProgress], None] | None,
) -> Manifest:
    with ExitStack() as stack:
        for source in sources.values():
            stack.callback(source.close)
        place = stack.enter_context(written_to(target, partial(_is_taken, plan)))
        try:
            whole = whole_set(plan, sources, place.folder)
        except FileError:
            if not place.is_waiting:
                raise
            # It may be of other data, and is nowhere else: the store takes it only if it is not.
            shutil.rmtree(place.folder)
            whole = None
        if whole is None:
            with Journal(place.folder) as journal:
                whole = PrepareRun(plan, sources, journal, watch).go()
        place.publish(whole)
        return whole


def _is_taken(plan: SetPlan, name: str) -> bool:
    """Whether a file of a set with this plan may have such a name."""
    layout = layout_of(layouts.LAYOUTS, plan.layout)
    indexes = [f"{split}/{layout.index}" for split in ("train", "val")]
    return name in (*TOKENIZER_FILES, *indexes) or layout.split_of(name) is not None


def whole_set(plan: SetPlan, sources: dict[str, DocumentSource], folder: Path) -> Manifest | None:
    """The manifest, if a folder holds exactly this set already."""
    try:
        is_begun, is_whole = (folder / WORK / RUN).exists(), (folder / NAME).exists()
    except OSError as error:
        raise FileError(f"folder {folder}: cannot be read: {error.strerror}") from None
    if is_begun:
        return None
    if not is_whole:
        for path in sorted((*folder.glob("*"), *folder.glob("*/*"))):
            name = path.relative_to(folder).as_posix()
            if _is_taken(plan, name) and (path.is_file() or path.is_symlink()):
                raise FileError(
                    f"{path}: exists already, and is not of a set that was prepared here; choose "
                    "another folder, or remove it"
                )
        return None
    remedy = "choose another folder, or empty this one"
    try:
        manifest = Manifest.read(folder)
    except JetonError as error:
        raise FileError(f"{error}; {remedy}") from None
    # A run that was killed after completing the set may have left some of its working files.
    shutil.rmtree(folder / WORK, ignore_errors=True)
    for what, own, expected_value in (
        ("tokenizer", manifest.tokenizer["digest"], plan.tokenizer.digest),
        ("end of text", manifest.end_of_text, plan.end_record),
        ("part", manifest.part, plan.part),
        *((name, manifest.options.get(name), value) for name, value in plan.options.items()),
    ):
        if own != expected_value:
            raise FileError(f"{folder}: holds another set, with another {what}; {remedy}")
    written_at = (folder / NAME).stat().st_mtime_ns
    inputs = [dict(entry) for entry in manifest.inputs]
    for entry in (entry for source in sources.values() for entry in source.identity()):
        mtime = entry.pop("mtime_ns", None)
        has_changed = isinstance(mtime, int) and mtime > written_at
        same = any(entry.items() <= entry_of_manifest.items() for entry_of_manifest in inputs)
        if has_changed or not same or "path" not in entry:
            place = entry.get("path", "its input")
            raise FileError(
                f"{folder}: holds a set already, and {place} may have changed since; {remedy}"
            )
    return manifest
