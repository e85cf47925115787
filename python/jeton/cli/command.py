"""What every command shares: how errors are printed, what `--quiet`, `--color` and `--debug` do.

Look here for exit codes: 0 for success, 1 for an error (printed in one line), 2 for a wrong
command line, 130 after Ctrl-C, 143 after SIGTERM, 141 if the reader of a pipe has gone.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, NoReturn, TextIO, TypeVar

import click

import jeton._core as _core
from jeton import at_start
from jeton.cli.printing import styled
from jeton.cli.signals import exit_code, undisturbed
from jeton.cli.streams import BROKEN_PIPE, STDOUT, UNWRITABLE, tell
from jeton.errors import ChatWarning, FormatWarning, JetonError, TrainingWarning

F = TypeVar("F", bound=Callable[..., Any])

_COMMON = "jeton.cli"

_PATHS = re.compile("PATH|FILE|TOKENIZER")
"""Metavars of arguments that are paths, whose bytes may be any."""

_NO_TEXT = re.compile("[\udc80-\udcff]")
"""A byte of an argument that is not UTF-8, as Python passes it on."""

_MEANT = {
    **dict.fromkeys(("--model", "--algorithm", "--type", "--model-type", "--method"), "--kind"),
    **dict.fromkeys(("--size", "--vocab", "--vocabulary-size"), "--vocab-size"),
    **dict.fromkeys(("--out", "--to"), "--output"),
    **dict.fromkeys(("--json", "--jsonl"), "--format"),
    **dict.fromkeys(("--errors", "--encoding-errors"), "--invalid"),
    **dict.fromkeys(("--file", "--input"), "--corpus"),
}
"""Names of options by habit or from other libraries, with jeton's names."""

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


class TokenCount(click.IntRange):
    """A number of tokens; `8k` is refused with the two numbers that it may be."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            if found := re.fullmatch(r"(\d+)\s*[kK]", str(value)):
                thousands = int(found[1])
                add_hint(error, f"{value} is {thousands * 1000} or {thousands * 1024}")
            raise


def add_hint(error: click.ClickException, hint: str) -> None:
    """Adds what to do to an error of the command line; `Commands` prints it on its own line."""
    error.__notes__ = [hint]


class Group(click.Group):
    """Commands below a command."""

    context_class = Context
    meant: ClassVar[dict[str, str]] = {"info": "show", "list": "show", "check": "verify"}
    """Names of commands by habit or from other libraries, with jeton's names."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] not in names:
            close = difflib.get_close_matches(args[0], names, 1)
            name = self.meant.get(args[0]) or (close[0] if close else None)
            error = click.UsageError(f"No such command {args[0]!r}.", ctx)
            if name is not None and (command := self.get_command(ctx, name)) is not None:
                add_hint(error, f"{ctx.command_path} {name}: {command.get_short_help_str(80)}")
            raise error
        return super().resolve_command(ctx, args)


class Command(click.Command):
    """A command whose errors are one line on standard error."""

    context_class = Context

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for option in self.params:
            if isinstance(option, click.Option) and option.show_default is None:
                is_shown = isinstance(option.default, (str, int)) and not option.is_flag
                option.show_default = is_shown
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
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            meant = _MEANT.get(error.option_name)
            option = next((it for it in self.params if meant in it.opts), None)
            if isinstance(option, click.Option):
                # Without the names that only look alike.
                plain = click.NoSuchOption(error.option_name, ctx=error.ctx)
                add_hint(plain, f"{meant}: {option.help}")
                raise plain from None
            raise
        except click.MissingParameter as error:
            arguments = [it for it in self.params if isinstance(it, click.Argument)]
            value = ctx.params.get(arguments[0].name or "") if arguments else None
            if error.param in arguments[1:] and isinstance(value, str) and os.path.exists(value):
                add_hint(error, f"{value} is taken for {arguments[0].make_metavar(ctx)}")
            raise
        except JetonError as error:
            # As of a URL of a store that cannot be read.
            raise click.UsageError(error.message, ctx) from None
        for param in self.params:
            if not isinstance(param.type, click.Path) and not _PATHS.search(param.metavar or ""):
                _check_text(ctx, param, ctx.params.get(param.name or ""))
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with undisturbed():
                _load_numpy()
            with _warnings_as_notes(), _lack_of_memory_said_once():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise click.exceptions.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt as stop:
            code = exit_code(stop)
            how = "interrupted" if code == 128 + signal.SIGINT else "terminated"
            _end(ctx, f"{how}; nothing was left half-written", code)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and not is_out_of_memory(error):
                raise
            if ctx.meta.get(f"{_COMMON}.debug"):
                tell(traceback.format_exc().rstrip("\n"))
                raise click.exceptions.Exit(1) from None
            message = error.message if isinstance(error, JetonError) else _one_line(error)
            _end(ctx, message, 1, _hint_of(error, ctx.command))


def _check_text(ctx: click.Context, param: click.Parameter, value: object) -> None:
    """Refuses text that is not in the encoding of the locale, unless it is the name of a file."""
    if isinstance(value, (tuple, list, dict, frozenset)):
        for item in value.items() if isinstance(value, dict) else value:
            _check_text(ctx, param, item)
    elif isinstance(value, str) and (found := _NO_TEXT.search(value)):
        path = value if os.path.lexists(value) else value.partition("=")[2]
        if not os.path.lexists(path):
            byte = ord(found[0]) - 0xDC00
            encoding = sys.getfilesystemencoding().upper()
            where = f"byte 0x{byte:02x} at character {found.start()} is not {encoding}"
            raise click.BadParameter(f"{where}; text with such bytes goes in a file", ctx, param)


def _load_numpy() -> None:
    """Makes the core find numpy now: a signal during that would end as an error in it."""
    import numpy as np

    _core.lists(np.empty(0, np.uint32), np.zeros(1, np.int64))


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


@contextlib.contextmanager
def _lack_of_memory_said_once() -> Iterator[None]:
    """Hides a MemoryError that cannot be raised where it happens: the core raises its own."""
    shown = sys.unraisablehook

    def show(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, MemoryError):
            shown(unraisable)

    sys.unraisablehook = show
    try:
        yield
    finally:
        sys.unraisablehook = shown


def _end(ctx: click.Context, message: str, code: int, hint: str | None = None) -> NoReturn:
    label = styled("Error:" if code == 1 else "jeton:", fg="red", bold=True)
    tell(f"{label} {_in_one_line(message)}")
    if hint:
        tell(f"{styled('hint:', fg='cyan')} {_in_one_line(hint)}")
    raise click.exceptions.Exit(code) from None


def _one_line(error: BaseException) -> str:
    if is_out_of_memory(error):
        return "out of memory"
    if _is_out_of_threads(error):
        return "no thread or process can be started (ulimit -u, or a container, allows no more)"
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        name = error.filename or (STDOUT if error.errno in UNWRITABLE else None)
        return f"{os.fsdecode(name)}: {reason}" if name else reason
    return f"{type(error).__name__}: {error} (a mistake in jeton; --debug shows where)"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there is no memory, in its class or in its words."""
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    if _is_out_of_threads(error):
        return at_start.limits_memory()  # the stack of a thread does not fit
    return isinstance(error, MemoryError) or any(it in str(error) for it in _MEMORY_MESSAGES)


def _is_out_of_threads(error: BaseException) -> bool:
    """Whether an error says that a thread or a process cannot start."""
    if isinstance(error, OSError):
        return error.errno == errno.EAGAIN and error.filename is None
    return isinstance(error, RuntimeError) and "can't start new thread" in str(error)


_MEMORY_MESSAGES = (
    "PyObject pointer is null",  # a result that Python cannot hold
    "failed to map segment from shared object",
)


_OPTIONS = {"errors": "invalid"}
"""Other names that `click` knows the option for a parameter by."""


def _hint_of(error: BaseException, command: click.Command) -> str | None:
    """What to do: the option for the parameter that an error of Python is about, or its own hint.

    A command without such an option cannot do what the hint says, and shows none.
    """
    if is_out_of_memory(error):
        return _less_memory(command)
    if not isinstance(error, JetonError) or error.parameter is None:
        return error.hint if isinstance(error, JetonError) else None
    names = (error.parameter, _OPTIONS.get(error.parameter))
    for option in command.params:
        if option.name in names and isinstance(option, click.Option):
            value = option.make_metavar(click.get_current_context())
            return f"{option.opts[-1]} {value}: {option.help}"
    return None


def _less_memory(command: click.Command) -> str | None:
    options = {name for it in command.params for name in it.opts}
    # `decode` has --lines alone, for what it writes.
    for option, needed in (
        ("--documents line", {"--documents"}),
        ("--lines", {"--lines", "--field"}),
    ):
        if needed <= options:
            return f"documents that are lines take less memory: {option}"
    return None


def _common_flag(name: str, *short: str, help: str) -> click.Option:
    def store(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:  # a command above may have it
            ctx.meta[f"{_COMMON}.{name}"] = True

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
        help=help,
    )


def is_passed(name: str) -> bool:
    """Whether the user passed the option of a parameter, whatever its value is."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def refuse_passed(needed: str, *parameters: str) -> None:
    """Fails if the user passed one of these options, which has no effect without another."""
    options = options_of(click.get_current_context().command)
    for name in filter(is_passed, parameters):
        raise click.UsageError(f"{options[name]} goes with {needed}.")


def options_of(command: click.Command) -> dict[str, str]:
    """The options of a command by the names of their parameters."""
    return {it.name or "": it.opts[0] for it in command.params if isinstance(it, click.Option)}


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
