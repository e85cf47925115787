"""`jeton train`: trains a tokenizer on files of text."""

from __future__ import annotations

import functools
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import click

import jeton
from jeton.cli.command import Command, TokenCount, add_hint, echo_note, is_passed, options_of
from jeton.cli.documents import (
    documents_option,
    errors_option,
    field_option,
    say_what_documents_are,
)
from jeton.cli.named_arguments import languages_by_name
from jeton.cli.printing import put
from jeton.cli.progress import progress_option
from jeton.cli.targets import FilePath, check_target, force_option
from jeton.cli.train_options import (
    DEFAULT_SIZES,
    TRAINERS,
    balance,
    check_kind,
    parameters_of,
    settings,
)
from jeton.cli.train_progress import watcher
from jeton.cli.train_targets import rehearse, save
from jeton.corpora.memory_size import memory_bytes
from jeton.corpora.word_counts import is_counts
from jeton.errors import ArgumentError, FileError
from jeton.stores.urls import StorePath, shown

HELP = """Train a tokenizer on files of text.

FILES are files or folders: text, JSON Lines (.jsonl, .ndjson), CSV or TSV, also compressed by
gzip, Zstandard or xz, or Parquet; or URLs, such as s3://bucket/web/*.txt; - is standard input. A
text file is one document; with --documents line, each line is, and with --split-on TEXT what is
between these texts. A file that is named twice is read once, and files in folders whose names begin
with a dot are skipped. Instead of FILES, give what --save-counts wrote: one file, or several that
are added, or mixed by --weight or --temperature so that small languages get their share. With
--languages, each of FILES is NAME=PATH: the corpus, or the counts, of one language.

The ending of --output sets the format: .json is a tokenizer.json, .tiktoken is ranks, .model is
SentencePiece's, .txt is BERT's list, vocab.json is GPT-2's pair. Without an ending, or if it is an
existing folder, it is a folder as transformers reads it. With --kind unigram the ending also sets
the style: .model is trained for SentencePiece's library, .json for Hugging Face's. The two have
different ids.

Errors and warnings name the parameters of the trainer: vocab_size is --vocab-size, and a parameter
without an option of its own is set by --set, as in --set hard_vocab_limit=false.

\b
Examples:
  jeton train corpus/ -o tokenizer.json --vocab-size 32000 --pattern gpt4o
  jeton train web.jsonl.zst --field body -o web.json \\
      --special-token '<|endoftext|>'
  jeton train corpus/ --kind wordpiece -o vocab.txt
  jeton train corpus/ --alphabet sentencepiece -o tokenizer.model
  jeton train corpus/ --kind unigram -o tokenizer.model --vocab-size 32000
  jeton train corpus/ --kind unigram -o tokenizer.json \\
      --set byte_fallback=true
  jeton train corpus/ --kind wordlevel -o words.json --pattern whitespace
  jeton train corpus/ --kind char -o characters.json
  jeton train corpus/ -o longer.json --start-from gpt2 --vocab-size 60000
  jeton train corpus/ -o tok.json --memory 4GB --save-counts corpus.counts
  jeton train corpus.counts -o small.json --vocab-size 8000
  jeton train en.counts de.counts -o tok.json --weight 0.7 --weight 0.3
  jeton train *.counts -o tok.json --temperature 3
  jeton train corpus/ -o tok.json --vocab-size 16000 --vocab-size 32000
  jeton train corpus/ -o tok.json --superwords boundless
  jeton train en=english/ de=german/ -o tok.json --languages base \\
      --development en=dev.en --development de=dev.de
"""


_PATH = FilePath(path_type=Path)
_NAME = 240
"""The bytes of a file's name that leave room for an ending: 255 is all that file systems take."""


@click.command(cls=Command, help=HELP, short_help="Train a tokenizer on files of text.")
@click.argument(
    "files", nargs=-1, required=True, type=FilePath(path_type=Path, urls=True, named=True)
)
@click.option(
    "-o",
    "--output",
    "target",
    required=True,
    type=_PATH,
    metavar="TARGET",
    help="The file or the folder to write.",
)
@click.option(
    "--kind",
    type=click.Choice(list(TRAINERS)),
    default="bpe",
    help="The algorithm.",
)
@click.option(
    "--vocab-size",
    type=TokenCount(min=1),
    multiple=True,
    help="How many tokens. Repeat it to train several sizes in one run.  "
    "[default: 30000; for Unigram, 8000]",
)
@click.option(
    "--new-tokens",
    type=click.IntRange(min=1),
    multiple=True,
    help="How many tokens to add to those of --start-from.",
)
@click.option(
    "--pattern",
    help="How to split text: a name or a regex.  [default: gpt4; for words, whitespace]",
)
@click.option(
    "--special-token", "special_tokens", multiple=True, help="Add this special token. Repeatable."
)
@click.option(
    "--alphabet",
    type=click.Choice(["bytes", "characters", "sentencepiece"]),
    help="What words consist of before the first merge.  [default: bytes]",
)
@click.option(
    "--start-from",
    type=FilePath(),
    metavar="TOKENIZER",
    help="Continue from this tokenizer: its merges come first, and its ids stay.",
)
@click.option(
    "--languages",
    help="Fair to languages: base or window, or ratios as en=1,de=1.5. FILES are NAME=PATH.",
)
@click.option(
    "--development",
    multiple=True,
    metavar="NAME=PATH",
    help="Parallel text of a language, by which --languages judges. Repeatable.",
)
@click.option(
    "--superwords",
    type=click.Choice(["super", "boundless"]),
    help="Learn tokens of several words too: after the words, or in competition with them.",
)
@click.option(
    "--drop-residues",
    type=float,
    metavar="SHARE",
    help="Take out tokens again of which this share is in a longer one, as 0.9.",
)
@click.option(
    "--residues-become",
    type=click.Choice(["pair", "bytes"]),
    help="What is left of such a token becomes its pair or its bytes.  [default: pair]",
)
@click.option(
    "--rule",
    type=click.Choice(["released", "published"]),
    help="Which rule of WordPiece.  [default: released]",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other parameter of the trainer; VALUE is JSON or text. Repeatable.",
)
@click.option(
    "--min-frequency",
    type=click.IntRange(min=0),
    default=0,
    help="How often a pair must occur to be merged.",
)
@click.option("--max-word-length", type=click.IntRange(min=1), help="Split longer words.")
@click.option(
    "--min-word-count", type=click.IntRange(min=0), default=0, help="Leave out rarer words."
)
@click.option("--memory", help="Memory limit, as 4GB; beyond it, counts go to disk.")
@click.option("--temp-dir", type=_PATH, help="The folder for counts on disk.")
@click.option(
    "--save-counts",
    type=_PATH,
    help="Write the word counts to this file, to train from again; the same command resumes "
    "counting if it is stopped.",
)
@click.option(
    "--weight",
    "weights",
    type=click.FloatRange(min=0, min_open=True),
    multiple=True,
    help="The share of a file of counts, by bytes: once for each file, in order.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0, min_open=True),
    metavar="T",
    help="Mix files of counts: one of n bytes has a share as n^(1/T). 1 keeps the shares.",
)
@field_option
@documents_option
@errors_option
@click.option(
    "--bad-records",
    type=click.Choice(["error", "drop"]),
    default="error",
    help="Records and lines that cannot be read: an error, or left out.",
)
@progress_option
@force_option
def train(
    files: tuple[Path | StorePath, ...],
    target: Path,
    *,
    kind: str,
    vocab_size: tuple[int, ...],
    new_tokens: tuple[int, ...],
    alphabet: str | None,
    start_from: str | None,
    languages: str | None,
    development: tuple[str, ...],
    superwords: str | None,
    assignments: tuple[str, ...],
    memory: str | None,
    temp_dir: Path | None,
    save_counts: Path | None,
    weights: tuple[float, ...],
    temperature: float | None,
    field: str | None,
    documents: str,
    errors: str,
    bad_records: str,
    progress: str,
    force: bool,
    **options: Any,
) -> None:
    start, sizes = None, vocab_size
    if new_tokens:
        if sizes or start_from is None:
            raise click.UsageError("--new-tokens goes with --start-from, and without --vocab-size")
        start = jeton.load(start_from)
        sizes = tuple(start.vocab_size + size for size in new_tokens)
    sizes = tuple(sorted(set(sizes))) or (DEFAULT_SIZES.get(kind, 30_000),)
    check_kind(kind, sizes)
    if len(sizes) > 1 and not target.name:
        raise click.UsageError(f"{target}: several sizes need a file name to add the sizes to")
    targets = {
        size: target if len(sizes) == 1 else target.with_stem(f"{target.stem}-{size}")
        for size in sizes
    }
    if len(sizes) > 1 and target.name.lower().endswith(("vocab.json", "encoder.json")):
        raise click.UsageError(f"{target}: a pair of files goes with a single --vocab-size")
    corpora, texts = _corpora(files, languages, development)
    if corpora is not None:
        files = (*corpora.values(), *texts.values())
        if save_counts is not None:
            raise click.UsageError("--save-counts is for one corpus; count each language alone")
    inputs = files if start_from is None else (*files, Path(start_from))
    check_target(None, inputs=inputs, force=force)
    for path in targets.values():
        check_target(path, inputs=inputs, force=force, folder=True)
    if save_counts is not None:
        check_target(save_counts, inputs=inputs, force=force)
        if save_counts.resolve() in {path.resolve() for path in targets.values()}:
            raise FileError(f"{save_counts}: the tokenizer goes there (name another for counts)")
    of_counts = [is_counts(file) for file in files if corpora is None]
    from_counts = bool(of_counts) and all(of_counts)
    if any(of_counts) and not from_counts:
        error = click.UsageError(
            f"{files[of_counts.index(True)]} is a file of word counts, not text"
        )
        add_hint(error, "name only files of counts, or only text")
        raise error
    if superwords is not None:
        _check_superwords(files, from_counts=from_counts, saves_counts=save_counts is not None)
    if from_counts:
        _refuse_options_of_counting(files[0])
    elif weights or temperature is not None:
        option = "--weight" if weights else "--temperature"
        raise click.UsageError(f"{option} is for files of word counts (--save-counts writes them)")
    memory_bytes(memory)
    if start_from is not None and start is None:
        start = jeton.load(start_from)
    options |= {"alphabet": alphabet, "start_from": start, "superwords": superwords}
    options["vocab_size"] = sizes if kind == "bpe" else sizes[0]
    if kind == "unigram":
        is_model = target.name.lower().endswith(".model")
        options["style"] = "sentencepiece" if is_model else "huggingface"
    parameters = parameters_of(kind, options)
    parameters |= settings(kind, assignments, options_of(click.get_current_context().command))
    fair = {} if languages is None else {"languages": balance(languages)}
    trainer = TRAINERS[kind](**parameters, **fair)
    for name in ("global_merges", "window_size", "alpha"):
        parameters.pop(name, None)
    is_limited = kind == "unigram" or (alphabet == "sentencepiece" and start is None)
    without_limit = {"hard_vocab_limit": False} if is_limited else {}
    miniature = TRAINERS[kind](**(parameters | without_limit))
    rehearse(miniature, targets[sizes[0]], inputs=inputs, force=force)
    with closing(watcher(progress == "json")) as watch:
        reading = {
            "field": field,
            "errors": errors,
            "documents": documents,
            "bad_records": bad_records,
            "memory": memory,
            "temp_dir": temp_dir,
            "watch": watch,
        }
        if corpora is not None:
            trained = trainer.train_all(
                {name: _corpus(path) for name, path in corpora.items()},
                development={name: _corpus(path) for name, path in texts.items()} or None,
                **reading,
            )
        elif superwords is not None:
            trained = trainer.train_all(list(files), **reading)
        else:
            if from_counts:
                counts = _mixed(trainer, files, weights, temperature)
            else:
                checkpoint = _checkpoint(save_counts, files)
                try:
                    counts = trainer.count(list(files), checkpoint=checkpoint, **reading)
                except KeyboardInterrupt:
                    watch.close()
                    if checkpoint is not None:
                        echo_note("stopped; the same command resumes counting")
                    raise
                if save_counts is not None:
                    counts.save(save_counts)
                if checkpoint is not None:
                    checkpoint.unlink(missing_ok=True)
            try:
                if kind == "bpe":
                    trained = trainer.train_all(counts, memory=memory, watch=watch)
                else:
                    trained = {sizes[0]: trainer.train(counts, memory=memory, watch=watch)}
            except KeyboardInterrupt:
                watch.close()
                kept = files[0] if from_counts else save_counts
                echo_note(
                    "the counts are lost; --save-counts would have kept them"
                    if kept is None
                    else f"the counts are in {kept}: train from that file to resume"
                )
                raise
    for size, tok in trained.items():
        save(tok, targets[size], inputs=inputs, force=force)
        put(f"{targets[size]}")
    if not from_counts and progress != "json":
        texts_read = [file for file in files if not is_counts(file)]
        say_what_documents_are(texts_read, field, documents)
    if kind == "unigram" and progress != "json":
        echo_note(_STYLES[trainer.style])


def _checkpoint(save_counts: Path | None, files: tuple[Path | StorePath, ...]) -> Path | None:
    """The file beside the counts from which counting resumes; none for pipes."""
    if save_counts is None or any(
        str(file) == "-" or (isinstance(file, Path) and file.is_fifo()) for file in files
    ):
        return None
    name = os.fsencode(save_counts.name)[:_NAME] + b".checkpoint"
    return save_counts.with_name(os.fsdecode(name))


def _mixed(
    trainer: Any,
    files: tuple[Path | StorePath, ...],
    weights: tuple[float, ...],
    temperature: float | None,
) -> jeton.WordCounts:
    """The counts in these files, which the trainer accepts, in their shares."""
    corpora: list[jeton.WordCounts] = []
    for file in files:
        counts = jeton.WordCounts.load(file)
        try:
            trainer.count(counts)
            if corpora:
                corpora[0].merged(counts.at_least(2**62))
        except ArgumentError as error:
            raise error.reworded(f"{file}: {error.message}") from None
        corpora.append(counts)
    if weights or temperature is not None:
        return jeton.WordCounts.mixed(corpora, weights=weights or None, temperature=temperature)
    return functools.reduce(jeton.WordCounts.merged, corpora)


def _corpora(
    files: tuple[Path | StorePath, ...], languages: str | None, development: tuple[str, ...]
) -> tuple[dict[str, Path | StorePath] | None, dict[str, Path | StorePath]]:
    """The corpus and the development text of each language; `None` without languages."""
    if languages is None:
        if development:
            raise click.UsageError("--development goes with --languages")
        if named_urls := [shown(file) for file in files if isinstance(file, str)]:
            raise click.UsageError(f"{named_urls[0]}: a URL with a name goes with --languages")
        return None, {}
    balance(languages)
    corpora = languages_by_name([os.fspath(file) for file in files], "with --languages, FILES")
    return corpora, languages_by_name(development, "--development")


def _check_superwords(
    files: tuple[Path | StorePath, ...], *, from_counts: bool, saves_counts: bool
) -> None:
    """Fails if superwords cannot be learnt from what is named, or counted for later."""
    if from_counts:
        raise click.UsageError(
            f"--superwords needs text, and {files[0]} holds counts, which have no neighbours"
        )
    if saves_counts:
        raise click.UsageError("--save-counts does not go with --superwords, which needs the text")
    if any(str(file) == "-" for file in files):
        raise click.UsageError("--superwords reads the text several times, and - only once")


def _corpus(path: Path | StorePath) -> list[Path | StorePath] | jeton.WordCounts:
    """The counts in a file, or the file or folder as a corpus."""
    return jeton.WordCounts.load(path) if is_counts(path) else [path]


_STYLES = {
    "sentencepiece": "style: sentencepiece, as a .model holds it (a .json gets Hugging Face's)",
    "huggingface": "style: huggingface, as a .json holds it (a .model gets SentencePiece's)",
}


def _refuse_options_of_counting(counts: Path | StorePath) -> None:
    """Fails if the user passed an option that has no effect on existing counts."""
    options = options_of(click.get_current_context().command)
    for name in filter(is_passed, _COUNTING):
        raise click.UsageError(
            f"{options[name]} is for counting, and {counts} holds counts already"
        )


_COUNTING = (
    "field",
    "errors",
    "documents",
    "bad_records",
    "temp_dir",
    "min_word_count",
    "max_word_length",
    "save_counts",
)
