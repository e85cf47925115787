"""The command line: `jeton train`, `encode`, `decode`, `count`, `inspect`, `convert`, `list` …

One file per command. They share `command.py` (errors and colour), `documents.py` (what they read),
`token_files.py` (ids in files) and `terminal.py` (what they show).
"""

from __future__ import annotations

import importlib
import io
import sys
from typing import Any, ClassVar, NoReturn

import click

import jeton
import jeton._core as _core
from jeton import at_start
from jeton.cli.command import Command, Group
from jeton.cli.signals import exit_code, signals_stop, undisturbed
from jeton.cli.streams import BROKEN_PIPE, run_with_streams, tell

__all__ = ["main"]

GROUPS = {
    "Begin": ("demo", "learn", "play", "samples", "list"),
    "Use a tokenizer": ("encode", "decode", "count", "cost", "inspect", "chat"),
    "Make a tokenizer": ("train", "convert", "edit", "fetch"),
    "Judge tokenizers": ("check", "compare", "diff", "report", "sweep"),
    "Prepare data": ("prepare", "data"),
}
"""The commands, under the headings of `jeton --help`."""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)

_FILES = {"list": "list_names"}
"""Commands whose file has another name: a module `list` would hide Python's own."""

HELP = """Tokenizers: text to token ids and back.

TOKENIZER is a known name (jeton-4k, gpt2, o200k_base …), a file or a folder. The content of a file
shows which format it has.

\b
Examples:
  jeton demo                                     what jeton does, in seconds
  jeton learn                                    how it works, step by step
  jeton inspect jeton-4k --text "How so?"        the tokens of a text
  jeton encode gpt2 --text "Hello, world"        its ids
  jeton count gpt2 *.md                          how many tokens files have
  jeton train corpus/ -o mine.json               a tokenizer of your own
  jeton compare gpt2 mine.json --corpus a.txt    how they compare
  jeton prepare gpt2 corpus/ -o tokens/          files for a training loop

\b
Completion of commands and options, in ~/.bashrc (or zsh_source, ~/.zshrc):
  eval "$(_JETON_COMPLETE=bash_source jeton)"
"""


class Commands(Group):
    """The commands, each imported when it is first needed."""

    meant: ClassVar[dict[str, str]] = {
        "tokenize": "encode", "tokens": "inspect", "detokenize": "decode", "info": "inspect",
        "show": "inspect", "download": "fetch", "models": "list", "benchmark": "compare",
        "evaluate": "compare", "lint": "check", "tutorial": "learn", "price": "cost",
    }  # fmt: skip

    def main(self, *args: object, **extra: object) -> NoReturn:
        """Runs a command line and ends the process; `sys.exit` says how it went."""
        at_start.raises_when_interrupted()
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
            for hint in getattr(error, "__notes__", ()):
                tell(f"hint: {hint}")
            return error.exit_code
        except (click.Abort, KeyboardInterrupt) as stop:
            tell("jeton: interrupted")
            return exit_code(stop if isinstance(stop, KeyboardInterrupt) else stop.__cause__)
        except SystemExit:
            # If the reader of a pipe leaves before a command begins (as with --help), click
            # replaces the streams and exits.
            if sys.stdout is not stdout:
                return BROKEN_PIPE
            raise
        return code if isinstance(code, int) else 0

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, names in GROUPS.items():
            with formatter.section(title):
                commands = ((name, self.get_command(ctx, name)) for name in names)
                formatter.write_dl(
                    [
                        (name.ljust(width), command.get_short_help_str(formatter.width))
                        for name, command in commands
                        if command is not None
                    ]
                )

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        # A signal inside an import may end as another error, or leave half a module.
        with undisturbed():
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
