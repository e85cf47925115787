"""The command line: `jeton train`, `encode`, `decode`, `count`, `inspect`, `convert`, `list` …

One file a command. What they share: `command.py` for errors and colour, `documents.py` for what
they read, `token_files.py` for ids in files, `terminal.py` for what they show.
"""

from __future__ import annotations

import difflib
import importlib
import io
import sys
from typing import Any, NoReturn

import click

import jeton
import jeton._core as _core
from jeton.cli.command import Command
from jeton.cli.signals import exit_code, signals_stop
from jeton.cli.streams import BROKEN_PIPE, run_with_streams, tell

__all__ = ["main"]

COMMANDS = (
    "demo",
    "samples",
    "train",
    "encode",
    "decode",
    "count",
    "cost",
    "inspect",
    "check",
    "compare",
    "diff",
    "report",
    "sweep",
    "learn",
    "play",
    "chat",
    "convert",
    "prepare",
    "data",
    "edit",
    "fetch",
    "list",
)

_FILES = {"list": "list_names"}
"""The files that have another name than their command: a module `list` would hide Python's own."""

HELP = """Tokenizers: text to ids and back.

TOKENIZER, wherever it stands, is a known name (gpt2, cl100k_base, o200k_base …), a file or a
folder; which format a file has is told by its content.

\b
To begin:
  jeton demo                                what this is, on text that comes with it, in seconds
  jeton inspect gpt2 "How is this cut?"     the tokens of a text, in colour
  jeton check mine.json                     what is wrong with a tokenizer
  jeton compare gpt2 mine.json --corpus a.txt  how tokenizers compare, by many measures
  jeton diff gpt2 mine.json --corpus x.txt  where two tokenizers differ
  jeton report gpt2 mine.json --corpus x.txt -o report.html   a page that compares tokenizers
  jeton sweep corpus/ --sizes 4000,16000    how large a vocabulary should be
  jeton count gpt2 *.md                     how many tokens files have
  jeton cost gpt-4o *.md                    what they cost as prompts of a model
  jeton encode gpt2 book.txt -o book.npy    ids for training
  jeton train corpus/ -o mine.json          a tokenizer of your own
  jeton convert ranks.tiktoken tokenizer.json --pattern cl100k
  jeton chat ./model messages.json          a conversation as a model sees it, and who wrote what
  jeton prepare gpt2 corpus/ -o tokens/     files that a training loop reads
  jeton learn bpe                           how it works, step by step
  jeton play gpt2                           a page to play with
  jeton fetch o200k_base                    its files, for a machine that has no network later
  jeton list                                the names of tokenizers, models and patterns
"""


class Commands(click.Group):
    """The commands, each imported when it is first needed."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Runs a command line and ends the process; `sys.exit` says how it went."""
        sys.exit(run_with_streams(lambda: self._run(*args, **extra)))

    def _run(self, *args: Any, **extra: Any) -> int:
        stdout = sys.stdout
        try:
            with signals_stop():
                code = super().main(*args, **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            message = io.StringIO()
            error.show(message)
            tell(message.getvalue().rstrip("\n"))
            return error.exit_code
        except (click.Abort, KeyboardInterrupt) as stop:
            tell("jeton: interrupted")
            return exit_code(stop if isinstance(stop, KeyboardInterrupt) else stop.__cause__)
        except SystemExit:
            # What click makes of a reader that leaves before a command begins, as of --help: it
            # puts something in the place of the streams.
            if sys.stdout is not stdout:
                return BROKEN_PIPE
            raise
        return code if isinstance(code, int) else 0

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        close = difflib.get_close_matches(args[0], COMMANDS, 1)
        if close and args[0] not in COMMANDS:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"jeton.cli.{_FILES.get(name, name)}")
        command: Command = getattr(module, name)
        return command


@click.group(cls=Commands, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    jeton.__version__,
    "-V",
    "--version",
    prog_name="jeton",
    message="%(prog)s, version %(version)s"
    + ("" if _core.OPTIMISED else " (a build for development, not optimised)"),
)
def main() -> None: ...
