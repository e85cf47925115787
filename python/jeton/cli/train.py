"""`jeton train`: a tokenizer from files of text."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import jeton
from jeton import _core
from jeton.cli.command import Command, echo_note, is_quiet
from jeton.cli.terminal import Progress, human_bytes
from jeton.corpus import Progress as Step
from jeton.errors import FileError, JetonError, UnsupportedError
from jeton.memory import memory_bytes
from jeton.word_counts import is_counts

__all__ = ["train"]

HELP = """Train a tokenizer on files of text.

FILES are files or folders; each line is a text of its own. They may be compressed by gzip or
Zstandard; .jsonl and .ndjson hold JSON lines, .parquet a table; - is the standard input. TARGET's
extension says which format is written: .json is a tokenizer.json, .tiktoken is ranks, .model is
SentencePiece's. Instead of FILES, one file of counts that --save-counts wrote will do.

\b
Examples:
  jeton train corpus/ -o tokenizer.json --vocab-size 32000 --pattern gpt4o
  jeton train web.jsonl.zst --field body -o web.json --special-token '<|endoftext|>'
  jeton train corpus/ --kind wordpiece -o vocab.txt
  jeton train corpus/ --alphabet sentencepiece -o tokenizer.model
  jeton train corpus/ --kind unigram -o tokenizer.model --vocab-size 32000
  jeton train corpus/ --kind unigram -o tokenizer.json --set byte_fallback=true
  jeton train corpus/ -o tok.json --memory 4GB --save-counts corpus.counts
  jeton train corpus.counts -o small.json --vocab-size 8000
  jeton train corpus/ -o tok.json --vocab-size 16000 --vocab-size 32000   # tok-16000.json, …
"""


@click.command(cls=Command, help=HELP, short_help="A tokenizer from files of text.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", "target", required=True, type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["bpe", "wordpiece", "unigram"]),
    default="bpe",
    show_default=True,
    help="The algorithm.",
)
@click.option(
    "--vocab-size",
    "sizes",
    type=click.IntRange(min=1),
    multiple=True,
    default=[30_000],
    show_default=True,
    help="How many tokens; given several times, a tokenizer of each size from one run.",
)
@click.option("--pattern", help="How text is cut: a name or an expression.  [default: gpt4]")
@click.option("--special-token", "specials", multiple=True, help="A special token; repeatable.")
@click.option(
    "--alphabet",
    type=click.Choice(["bytes", "characters", "sentencepiece"]),
    help="What words are before the first merge.  [default: bytes]",
)
@click.option(
    "--start-from",
    type=click.Path(path_type=Path),
    help="A tokenizer whose merges come first, and whose ids stay.",
)
@click.option(
    "--rule",
    type=click.Choice(["released", "published"]),
    help="Which WordPiece.  [default: released]",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of UnigramTrainer, its value as JSON or text; repeatable.",
)
@click.option("--min-frequency", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--max-word-length", type=click.IntRange(min=1), help="Longer words are cut.")
@click.option(
    "--min-word-count", type=click.IntRange(min=0), default=0, help="Rarer words are left out."
)
@click.option("--memory", help="How much memory to take, as 4GB; past it, counts go to disk.")
@click.option("--temp-dir", type=click.Path(path_type=Path), help="The folder for those.")
@click.option(
    "--save-counts",
    type=click.Path(path_type=Path),
    help="Keep the word counts in this file, to train from again.",
)
@click.option("--field", help="The field of JSON lines, or the column of a table.")
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace", "ignore"]),
    default="strict",
    show_default=True,
    help="What becomes of bytes that are not UTF-8.",
)
@click.option("--json", "as_json", is_flag=True, help="Progress as JSON lines on standard error.")
@click.option(
    "--force", is_flag=True, help="Replace TARGET, and the file of counts, if they exist."
)
def train(
    files: tuple[Path, ...],
    target: Path,
    kind: str,
    sizes: tuple[int, ...],
    pattern: str | None,
    specials: tuple[str, ...],
    alphabet: str | None,
    start_from: Path | None,
    rule: str | None,
    settings: tuple[str, ...],
    min_frequency: int,
    max_word_length: int | None,
    min_word_count: int,
    memory: str | None,
    temp_dir: Path | None,
    save_counts: Path | None,
    field: str | None,
    errors: str,
    as_json: bool,
    force: bool,
) -> None:
    sizes = tuple(sorted(set(sizes)))
    targets = {
        size: target if len(sizes) == 1 else target.with_stem(f"{target.stem}-{size}")
        for size in sizes
    }
    if len(sizes) > 1 and _companion(target) is not None:
        raise click.UsageError(f"{target}: a pair of files is written for one --vocab-size only")
    for path in targets.values():
        _check_ending(path, kind, alphabet, start_from is not None)
        for written in filter(None, (path, _companion(path))):
            _check_writable(written, files, force)
    if save_counts is not None:
        kept = files if start_from is None else (*files, start_from)
        _check_writable(save_counts, kept, force)
        if save_counts.resolve() in {path.resolve() for path in targets.values()}:
            raise FileError(f"{save_counts}: the tokenizer goes there (name another for counts)")
    from_counts = len(files) == 1 and is_counts(files[0])
    if from_counts:
        _refuse_options_of_counting(files[0])
    memory_bytes(memory)
    limits: dict[str, Any] = {"min_frequency": min_frequency, "min_word_count": min_word_count}
    if max_word_length is not None:
        limits["max_word_length"] = max_word_length
    if settings and kind != "unigram":
        raise click.UsageError("--set is for --kind unigram")
    if kind == "unigram":
        if len(sizes) > 1 or (pattern, alphabet, start_from, rule) != (None, None, None, None):
            raise click.UsageError(
                "unigram takes one --vocab-size, and no --pattern, --alphabet, --start-from or "
                "--rule"
            )
        if min_frequency or max_word_length is not None:
            raise click.UsageError("unigram takes no --min-frequency or --max-word-length")
        trainer: Any = jeton.UnigramTrainer(
            sizes[0],
            special_tokens=specials,
            min_word_count=min_word_count,
            **{"style": "huggingface" if target.suffix == ".json" else "sentencepiece"}
            | _settings(settings),
        )
    elif kind == "wordpiece":
        if len(sizes) > 1 or (pattern, alphabet, start_from) != (None, None, None):
            raise click.UsageError(
                "wordpiece takes one --vocab-size, and no --pattern, --alphabet or --start-from"
            )
        options: dict[str, Any] = {"special_tokens": specials} if specials else {}
        options["rule"] = rule or "released"
        trainer = jeton.WordPieceTrainer(sizes[0], **options, **limits)
    else:
        if rule is not None:
            raise click.UsageError("--rule is for --kind wordpiece")
        start = None if start_from is None else jeton.load(start_from)
        if start is not None and target.name.lower().endswith(".model") and _is_of_bytes(start):
            raise FileError(_RANKS_AS_MODEL.format(target))
        trainer = jeton.BPETrainer(
            sizes,
            pattern=pattern,
            special_tokens=specials or None,
            alphabet=alphabet,  # type: ignore[arg-type]
            start_from=start,
            **limits,
        )
    watch = _watch(as_json)
    if from_counts:
        counts = jeton.WordCounts.load(files[0])
        save_counts = files[0]
    else:
        counts = trainer.count(
            list(files),
            field=field,
            errors=errors,
            memory=memory,
            temp_dir=temp_dir,
            watch=watch,
        )
        if save_counts is not None:
            counts.save(save_counts)
    try:
        if kind != "bpe":
            trained = {sizes[0]: trainer.train(counts, memory=memory, watch=watch)}
        else:
            trained = trainer.train_all(counts, memory=memory, watch=watch)
    except KeyboardInterrupt:
        echo_note(
            "the counts are lost; --save-counts would have kept them"
            if save_counts is None
            else f"the counts are in {save_counts}: train from that file to go on"
        )
        raise
    for size, tok in trained.items():
        path = targets[size]
        _save(tok, path)
        click.echo(f"{path}")
        if tok.vocab_size < size:
            echo_note(f"{path}: {tok.vocab_size:,} tokens; the corpus has no more pairs to merge")


_RANKS_AS_MODEL = (
    "{}: SentencePiece does not read a BPE of bytes (--alphabet sentencepiece makes a model that "
    "it reads; a name that ends in .tiktoken holds ranks)"
)


def _check_ending(path: Path, kind: str, alphabet: str | None, continued: bool) -> None:
    """Refuses a name whose format cannot hold what is to be trained."""
    name = path.name.lower()
    if name.endswith(".json") or not path.suffix:
        return
    if name.endswith("vocab.txt"):
        if kind != "wordpiece":
            raise FileError(f"{path}: vocab.txt is for --kind wordpiece (.json holds any kind)")
    elif name.endswith((".model", ".tiktoken")):
        ending = path.suffix.lower()
        if kind == "wordpiece":
            raise FileError(f"{path}: {ending} holds no WordPiece (name it vocab.txt or .json)")
        if ending == ".tiktoken" and kind != "bpe":
            raise FileError(f"{path}: .tiktoken holds no Unigram (name it .model or .json)")
        is_bytes = kind == "bpe" and not continued and alphabet in (None, "bytes")
        if ending == ".model" and is_bytes:
            raise FileError(_RANKS_AS_MODEL.format(path))
        if ending == ".tiktoken" and alphabet not in (None, "bytes"):
            raise FileError(f"{path}: .tiktoken is for --alphabet bytes (name it .json)")
    else:
        raise FileError(
            f"{path}: the name says no format (end it in .json, vocab.json, .tiktoken, .model or "
            "vocab.txt)"
        )


def _companion(path: Path) -> Path | None:
    """The file of merges that is written beside a vocabulary of GPT-2's format."""
    name = path.name
    for vocabulary, merges in (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")):
        if name.lower().endswith(vocabulary):
            return path.with_name(name[: -len(vocabulary)] + merges)
    return None


def _check_writable(path: Path, inputs: tuple[Path, ...], force: bool) -> None:
    """Refuses a path that must not be replaced, or cannot be written."""
    if not path.parent.is_dir():
        raise FileError(f"{path.parent}: no such folder to write into")
    if path.is_symlink():
        raise FileError(f"{path}: is a link (name the file that it stands for)")
    if not path.exists():
        return
    if not path.is_file():
        raise FileError(f"{path}: exists and is not a file (name a new file)")
    real = path.resolve()
    for given in inputs:
        if given.resolve() in (real, *real.parents) or (given.exists() and given.samefile(path)):
            raise FileError(f"{path}: is one of the inputs (name another file)")
    if not force:
        raise FileError(f"{path}: exists already (--force replaces it)")


def _refuse_options_of_counting(counts: Path) -> None:
    """Refuses options that cannot act on words that have been counted."""
    context = click.get_current_context()
    for name in _COUNTING:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} is for counting, and {counts} holds counts already")


_COUNTING = ("field", "errors", "temp_dir", "min_word_count", "max_word_length", "save_counts")


def _is_of_bytes(tok: jeton.Tokenizer) -> bool:
    try:
        tok.as_tiktoken()
    except UnsupportedError:
        return False
    return True


def _save(tok: jeton.Tokenizer, path: Path) -> None:
    """Writes under the real name, which says the format, in a folder beside; then moves it all."""
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as name:
        folder = Path(name)
        try:
            tok.save(folder / path.name)
        except JetonError as error:
            told = str(error).replace(str(folder / path.name), str(path))
            raise type(error)(told) from None
        for file in sorted(folder.iterdir(), reverse=True):
            os.replace(file, path.parent / file.name)


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    """The parameters of a trainer that are given as NAME=VALUE."""
    has_options = ("vocab_size", "special_tokens", "min_word_count")
    parameters = inspect.signature(jeton.UnigramTrainer).parameters
    known = [name for name in parameters if name not in has_options]
    settings: dict[str, Any] = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--set {setting}: it must be NAME=VALUE")
        if name not in known:
            close = _core.did_you_mean(name, known)
            hint = f"did you mean {close!r}?" if close else f"it is one of {', '.join(known)}"
            raise click.UsageError(f"--set {name}: there is no such parameter ({hint})")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


def _watch(as_json: bool) -> Callable[[Step], None]:
    """What shows the progress: a line on a terminal, or JSON lines, at most one a second."""
    start = time.monotonic()
    shown: dict[str, Any] = {"phase": None, "next": 0.0}

    def line(step: Step) -> None:
        now = time.monotonic()
        if step.phase == shown["phase"] and now < shown["next"]:
            return
        if step.phase != shown["phase"]:
            # What is there when a phase begins was not made in it.
            shown.update(began=now, first=step.done if step.phase != "counting" else 0)
        shown.update(phase=step.phase, next=now + 1.0)
        told: dict[str, Any] = {"phase": step.phase, "done": step.done, "total": step.total}
        if step.phase == "counting":
            told["text"] = step.text
        elapsed = now - shown["began"]
        rate = (step.done - shown["first"]) / elapsed if elapsed > 0 else 0.0
        left = round((step.total - step.done) / rate, 1) if rate else None
        told.update(seconds=round(now - start, 1), rate=round(rate, 1), left=left)
        click.echo(json.dumps(told), err=True)

    def bar(step: Step) -> None:
        if step.phase != shown["phase"]:
            if (old := shown.get("bar")) is not None:
                old.__exit__(None, None, None)
            if shown["phase"] == "counting":
                seconds = time.monotonic() - start
                echo_note(f"counted {human_bytes(shown['text'])} of text in {seconds:.1f} s")
            unit = _UNITS[step.phase]
            shown.update(phase=step.phase, bar=Progress(step.phase, step.total or None, unit))
        progress: Progress = shown["bar"]
        progress.total = step.total or None
        if step.phase == "counting":
            shown["text"] = step.text
        # Files are read ahead of what is known of them: text tells sooner where none is compressed.
        done = max(step.done, min(step.text, step.total)) if step.total else step.text
        progress.advance(done - progress.done)
        if step.phase in ("merging", "fitting") and step.done == step.total:
            progress.__exit__(None, None, None)

    return line if as_json and not is_quiet() else bar


def _tokens(count: float) -> str:
    return f"{count:,.0f} tokens"


def _steps(count: float) -> str:
    return f"{count:,.0f} steps"


_UNITS: dict[str, Callable[[float], str]] = {
    "counting": human_bytes,
    "merging": _tokens,
    "seeding": _steps,
    "fitting": _steps,
}
