"""From a corpus and a tokenizer to a token set: files that a training loop reads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from jeton.arguments import checked_path
from jeton.corpora.corpus import check_watch
from jeton.corpora.memory_size import memory_bytes
from jeton.corpora.token_blocks.blocks import DocumentSource
from jeton.data import layouts
from jeton.data.conversations import Conversations
from jeton.data.layouts.finding import layout_of
from jeton.data.manifest import NAME, Manifest
from jeton.data.manifest_defaults import SetFacts, tokenizer_of
from jeton.data.preparing.end_of_text import (
    Choice,
    EndOfText,
)
from jeton.data.preparing.inputs import source_of
from jeton.data.preparing.journal import RUN, WORK, Journal
from jeton.data.preparing.options import AUTO, MEMORY, PrepareOptions, plan_of
from jeton.data.preparing.parts import PartsSource, checked_parts
from jeton.data.preparing.pipeline import PrepareProgress, PrepareRun, SetPlan
from jeton.data.preparing.tokenizer_file import NAMES as TOKENIZER_FILES
from jeton.errors import ArgumentTypeError, FileError, JetonError
from jeton.tokenizer import Tokenizer

__all__ = ["AUTO", "PrepareProgress", "merge", "prepare"]


def prepare(
    data: str | os.PathLike[str] | Iterable[Any],
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    *,
    layout: layouts.Layout = "jeton",
    shard_tokens: int | None = None,
    field: str | None = None,
    documents: Literal["file", "line"] = "file",
    errors: Literal["strict", "replace", "ignore"] = "strict",
    bad_records: Literal["error", "drop"] = "error",
    end_of_text: str | int | Choice | None = AUTO,
    end_of_text_place: Literal["after", "before"] = "after",
    frame: bool = False,
    validation: float | Fraction | str | os.PathLike[str] | Iterable[Any] | None = None,
    split: Literal["cut", "hash"] = "cut",
    shuffle: int | None = None,
    part: tuple[int, int] | None = None,
    memory: int | str = MEMORY,
    name: str = "",
    messages: str | Conversations | None = None,
    watch: Callable[[PrepareProgress], None] | None = None,
) -> Manifest:
    """Encodes a corpus once, into files of a layout that training loops read.

    Everything grows in `FOLDER/.preparing`, and what is whole is moved to the folder, the
    manifest last. Interrupted or killed at any moment, the same call goes on and gives the same
    files, byte for byte; they depend neither on the number of cores nor on memory. Of a set that
    is whole already, it only gives the manifest.

    Special tokens that are spelled in documents are text. Documents without text are left out
    and counted.

    Args:
        data: Files, folders or patterns of paths: text, JSON lines (`.jsonl`, `.ndjson`) and
            Parquet, the first two also compressed by gzip or Zstandard. Or an iterable of texts,
            or of records; a data set of Hugging Face; a table or a column of Arrow. A document is
            a file of text, or a record, a row, an item. To go on, what was read of files
            must be the same, and all other data.
        tokenizer: What encodes.
        folder: Where the files go; it is made if it is not there.
        layout: Which files: see `jeton.data.layouts`.
        shard_tokens: The most tokens of a file; by default as the layout has it.
        field: The field of records, or the column, that holds the text; by default `text`. Set,
            all files but Parquet are read as JSON lines.
        documents: What a document of a text file is: `"file"`, the whole file, or `"line"`, each
            line without its newline.
        errors: Bytes that are not UTF-8: an error with the place, U+FFFD, or left out.
        bad_records: What becomes of a record, a row or a line that cannot be read or encoded:
            `"error"` with the place, or `"drop"`, which leaves it out and counts it in the
            manifest. A file that is one document is an error always. For conversations,
            `Conversations` says this.
        end_of_text: The token that separates documents, or its id; `None` for none. By default the
            end of text that the tokenizer has, and an error if it has none or several.
        end_of_text_place: Whether it stands after or before each document.
        frame: Documents begin and end as the tokenizer's post-processor has it, `[CLS]` … `[SEP]`
            or `<s>` …, instead of with an end of text. Without it the post-processor is not run.
        validation: How much validates, from 0 to 1; or data of its own, read as `data` is.
        split: How such a share is told from the rest. `"cut"`: of N tokens the first
            ⌊N (1 - validation)⌋ train, wherever that cuts. `"hash"`: a document validates if the
            SHA-256 of its first 64 KiB says so, and so it does when the corpus grows.
        shuffle: A seed: documents are put in a random order, by what they begin with and the
            seed, copies too; all copies of a document train, or all validate. This takes as much
            of the disk again.
        part: `(3, 8)` prepares the third of eight parts, for `merge`: of the files, or of the
            rows of a table.
        memory: What shuffling may take, as `"4GB"`; the files do not depend on it.
        name: What the tokenizer is called in the manifest.
        messages: The field of records that holds messages: conversations become tokens by a chat
            template, with a loss mask beside them. All files but Parquet are read as JSON lines.
            `jeton.data.Conversations` says more, as whose messages are to be learnt. The layouts
            `jeton`, `datatrove` and `parquet` have room for a loss mask.
        watch: Called with a `PrepareProgress` now and then.

    Returns:
        What `manifest.json` says.

    Raises:
        ArgumentError: An option that makes no sense; a tokenizer without an end of text.
        FileError: The folder holds something else, or cannot be written to; the disk is full; an
            input has changed.
        FormatError: An input is not what its name says, or not UTF-8.
        EncodeError: A text that the tokenizer has no tokens for.

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
    options = PrepareOptions(
        layout=layout,
        shard_tokens=shard_tokens,
        field=field,
        documents=documents,
        errors=errors,
        bad_records=bad_records,
        end_of_text=end_of_text,
        end_of_text_place=end_of_text_place,
        frame=frame,
        validation=validation,
        split=split,
        shuffle=shuffle,
        part=part,
        memory=memory,
        name=name,
        messages=messages,
    )
    request = options.request(tokenizer)
    target = Path(checked_path("folder", folder))
    sources = {"train": source_of(data, request.encoding, request.reading)}
    if request.plan.by == "data":
        sources["val"] = source_of(validation, request.encoding, request.reading, name="validation")
    return _run(request.plan, sources, target, watch)


def merge(
    parts: Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    tokenizer: Tokenizer | None = None,
    memory: int | str = MEMORY,
    watch: Callable[[PrepareProgress], None] | None = None,
) -> Manifest:
    """Puts together the parts of a set, each of which is held against its manifest first.

    The files are those that one machine would have made, byte for byte: of the layout, parted and
    shuffled as the parts were told. It is interrupted and goes on as `prepare` does.

    Args:
        parts: The folders of all parts, in any order.
        folder: Where the files go.
        tokenizer: What the parts were prepared with, where no format holds it.
        memory: What shuffling may take.
        watch: Called with a `PrepareProgress` now and then.

    Returns:
        What `manifest.json` says.

    Raises:
        ArgumentError: A part is missing, there twice, or of another set.
        FormatError: A part is damaged.
        FileError: As `prepare`.
    """
    if isinstance(parts, (str, os.PathLike)) or not isinstance(parts, Iterable):
        raise ArgumentTypeError("parts must be an iterable of folders")
    check_watch(watch)
    folders = [Path(checked_path("each of parts", part)) for part in parts]
    target = Path(checked_path("folder", folder))
    found = checked_parts(folders)
    first_folder, first = found[0]
    if tokenizer is None:
        tokenizer = tokenizer_of(first_folder, first)
    else:
        SetFacts(first_folder, first).check(tokenizer)
    end = first.end_of_text
    plan = plan_of(
        tokenizer,
        str(first.tokenizer.get("name", "")),
        None if end is None else EndOfText(end["token"], end["id"], end["place"]),
        dict(first.options),
        part=None,
        memory=memory_bytes(memory) or 0,
    )
    return merged_parts(plan, found, target, watch)


def merged_parts(
    plan: SetPlan,
    parts: list[tuple[Path, Manifest]],
    folder: Path,
    watch: Callable[[PrepareProgress], None] | None = None,
) -> Manifest:
    """The set that parts in their order make."""
    sources: dict[str, DocumentSource] = {
        split: PartsSource(parts, split) for split in parts[0][1].splits
    }
    return _run(plan, sources, folder, watch)


def _run(
    plan: SetPlan,
    sources: dict[str, DocumentSource],
    folder: Path,
    watch: Callable[[PrepareProgress], None] | None,
) -> Manifest:
    whole = whole_set(plan, sources, folder)
    if whole is not None:
        return whole
    with Journal(folder) as journal:
        return PrepareRun(plan, sources, journal, watch).go()


def whole_set(plan: SetPlan, sources: dict[str, DocumentSource], folder: Path) -> Manifest | None:
    """The manifest of a folder that holds just this set already.

    Raises:
        FileError: It holds another one.
    """
    try:
        is_begun, is_whole = (folder / WORK / RUN).exists(), (folder / NAME).exists()
    except OSError as error:
        raise FileError(f"folder {folder}: cannot be read: {error.strerror}") from None
    if is_begun:
        return None
    if not is_whole:
        layout = layout_of(layouts.LAYOUTS, plan.layout)
        for path in sorted((*folder.glob("*"), *folder.glob("*/*.ds"))):
            name = path.relative_to(folder).as_posix()
            is_taken = name in TOKENIZER_FILES or layout.split_of(name)
            if is_taken and (path.is_file() or path.is_symlink()):
                raise FileError(
                    f"{path}: exists already, and holds no set that was prepared here; choose "
                    "another folder, or remove it"
                )
        return None
    remedy = "choose another folder, or remove what is in this one"
    try:
        manifest = Manifest.read(folder)
    except JetonError as error:
        raise FileError(f"{error}; {remedy}") from None
    # A run that was killed when the set was whole may have left some of it.
    shutil.rmtree(folder / WORK, ignore_errors=True)
    end = None if plan.end_of_text is None else plan.end_of_text.to_json()
    for what, own, wanted in (
        ("tokenizer", manifest.tokenizer["digest"], plan.tokenizer.digest),
        ("end of text", manifest.end_of_text, end),
        ("part", manifest.part, plan.part),
        *((name, manifest.options.get(name), value) for name, value in plan.options.items()),
    ):
        if own != wanted:
            raise FileError(f"{folder}: holds another set, with another {what}; {remedy}")
    made = (folder / NAME).stat().st_mtime_ns
    inputs = [dict(entry) for entry in manifest.inputs]
    for entry in (entry for source in sources.values() for entry in source.identity()):
        changed = entry.pop("mtime_ns", made) > made
        same = any(entry.items() <= known.items() for known in inputs)
        if changed or not same or "path" not in entry:
            place = entry.get("path", "what it was made of")
            raise FileError(
                f"{folder}: holds a set already, and {place} may have changed since; {remedy}"
            )
    return manifest
