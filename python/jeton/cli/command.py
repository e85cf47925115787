"""What every command shares: how errors are printed, what `--quiet`, `--color` and `--debug` do.

Look here for exit codes: 0 for success, 1 for an error (printed in one line), 2 for a wrong
command line, 130 after Ctrl-C, 143 after SIGTERM, 141 if the reader of a pipe has gone.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, TextIO, TypeVar

import click

from jeton.cli.printing import styled
from jeton.cli.signals import exit_code
from jeton.cli.streams import BROKEN_PIPE, STDOUT, UNWRITABLE, tell
from jeton.errors import ChatWarning, FormatWarning, JetonError, TrainingWarning

__all__ = ["Command", "Context", "Group", "decorated", "echo_note", "format_option", "is_quiet"]

F = TypeVar("F", bound=Callable[..., Any])

_COMMON = "jeton.cli"

_RENAMED = {
    "--errors": [["--invalid"]],
    "--jsonl": [["--format", "jsonl"]],
    "--json": [["--progress", "json"], ["--save"], ["--format", "json"]],
}
"""Old names of options, and their replacements; the first that a command has is used."""

_HYPHEN = "\u2011"
"""Replaces hyphens while a help text is wrapped, so that no line ends inside a word."""


class _Formatter(click.HelpFormatter):
    """Wraps help texts without a break in `--start-from` or `byte-level`."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], *args: Any, **options: Any) -> None:
        whole = [(name, text.replace("-", _HYPHEN)) for name, text in rows]
        super().write_dl(whole, *args, **options)

    def write(self, string: str) -> None:
        super().write(string.replace(_HYPHEN, "-"))


class Context(click.Context):
    """The context of a command, whose help texts wrap at spaces only."""

    formatter_class = _Formatter


class Group(click.Group):
    """Commands below a command."""

    context_class = Context


class Command(click.Command):
    """A command whose errors are one line on standard error."""

    context_class = Context

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += [
            _common_flag("quiet", "-q", help="Say nothing but results and errors."),
            _common_flag("debug", help="Show the traceback of an error."),
            click.Option(
                ["--color"],
                type=click.Choice(["auto", "always", "never"]),
                default="auto",
                expose_value=False,
                callback=_set_colour,
                help="Colour: auto is on for terminals unless NO_COLOR is set.  [default: auto]",
            ),
            click.Option(
                ["--no-color"],
                is_flag=True,
                expose_value=False,
                callback=_set_no_colour,
                help="The same as --color never.",
            ),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(self._with_new_names(args)))

    def _with_new_names(self, args: list[str]) -> Iterator[str]:
        """The arguments with old names of options replaced, and a note about each."""
        names = {name for param in self.params for name in param.opts}
        for number, argument in enumerate(args):
            if argument == "--":
                yield from args[number:]
                return
            name, sign, value = argument.partition("=")
            new = next((it for it in _RENAMED.get(name, []) if it[0] in names), None)
            if name in names or new is None:
                yield argument
                continue
            tell(f"note: {name} is written {' '.join(new)} now")
            yield from [*new[:-1], f"{new[-1]}{sign}{value}"]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _warnings_as_notes():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise click.exceptions.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt as stop:
            code = exit_code(stop)
            how = "interrupted" if code == 128 + signal.SIGINT else "terminated"
            _end(ctx, f"{how}; nothing was left half-written", code)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.meta.get(f"{_COMMON}.debug"):
                tell(traceback.format_exc().rstrip("\n"))
                raise click.exceptions.Exit(1) from None
            _end(ctx, _in_terms_of_options(ctx.command, _one_line(error)), 1)


@contextlib.contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Shows jeton's warnings as notes, and others as Python does."""
    ours = (ChatWarning, FormatWarning, TrainingWarning)
    with warnings.catch_warnings():

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, ours):
                echo_note(f"warning: {message}")
            else:
                tell(warnings.formatwarning(message, category, filename, lineno, line).rstrip("\n"))

        for category in ours:
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


def _end(ctx: click.Context, message: str, code: int) -> NoReturn:
    label = styled("Error:" if code == 1 else "jeton:", fg="red", bold=True)
    tell(f"{label} {_in_one_line(message)}")
    raise click.exceptions.Exit(code) from None


def _one_line(error: Exception) -> str:
    if isinstance(error, JetonError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory (documents that are lines take less: --lines)"
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        name = error.filename or (STDOUT if error.errno in UNWRITABLE else None)
        return f"{os.fsdecode(name)}: {reason}" if name else reason
    return f"{type(error).__name__}: {error} (a mistake in jeton; --debug shows where)"


_OPTION_PHRASES = (
    ('set errors="replace" or errors="ignore"', "--invalid", "--invalid replace goes on"),
    ("name one by field=", "--field", "--field names one"),
    (
        "give tokens_per_part= what each such part has",
        "--tokens-per-part",
        "--tokens-per-part says what each such part has",
    ),
    (
        "name the model (model='gpt-4o'), or the chat template (template='chatml')",
        "--tokenizer",
        "--tokenizer takes a folder that has one",
    ),
    ("template= one of", "--template", "--template takes one of"),
    ("; jeton.names()", None, "; jeton list has all"),
    ("with folder= or JETON_DATA_DIR", None, "in JETON_DATA_DIR"),
)
"""Phrases of errors about Python's arguments; for each the option, and the phrase that names it."""


def _in_terms_of_options(command: click.Command, message: str) -> str:
    """An error about Python's arguments, rewritten for the options that the command has."""
    own = {name for parameter in command.params for name in parameter.opts}
    for of_python, option, instead in _OPTION_PHRASES:
        if option is None or option in own:
            message = message.replace(of_python, instead)
    return re.sub(r"^(?:corpora|parallel)\[[^]]*\]: ", "", message)


def _common_flag(name: str, *short: str, help: str) -> click.Option:
    def store(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[f"{_COMMON}.{name}"] = value

    return click.Option(
        [f"--{name}", *short], is_flag=True, expose_value=False, callback=store, help=help
    )


def _set_colour(ctx: click.Context, _: click.Parameter, value: str) -> None:
    if value != "auto":
        ctx.color = value == "always"
    elif os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False


def _set_no_colour(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.color = False


def format_option(*forms: str, help: str) -> Callable[[F], F]:
    """The option `--format`, which arrives as `form`; the first form is the default."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help=help,
    )


def is_quiet() -> bool:
    """Whether `--quiet` was given."""
    return bool(click.get_current_context().meta.get(f"{_COMMON}.quiet"))


def decorated(function: object, decorators: Iterable[Callable[[Any], Any]]) -> Any:
    """The function with these options; its help lists them in this order."""
    for decorator in reversed(list(decorators)):
        function = decorator(function)
    return function


def echo_note(message: str) -> None:
    """Prints a note about the work, not its result, on standard error."""
    if not is_quiet():
        tell(styled(_in_one_line(message), dim=True))


def _in_one_line(message: str) -> str:
    """The message with spaces for line ends, so that no name in it can begin a line of its own."""
    return " ".join(message.split("\n"))
