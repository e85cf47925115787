"""Writes packaging/data/share/man/man1/jeton.1, the page that `man jeton` shows.

Run it after a change of a command: `python site/man_page.py`. It is installed with the package, and
a test holds it equal to what this writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from commands import COMMON, commands_below
from jeton.cli import GROUPS, main

PAGE = Path(__file__).parent.parent / "packaging/data/share/man/man1/jeton.1"


def page() -> str:
    """The whole page."""
    return "\n".join([*_beginning(), *_commands(), *_end()]) + "\n"


def _beginning() -> Iterator[str]:
    yield '.TH JETON 1 "" jeton "User commands"'
    yield from (".SH NAME", r"jeton \- tokenizers: text to token ids and back")
    yield from (".SH SYNOPSIS", ".B jeton", r"\fICOMMAND\fR [\fIOPTIONS\fR] \fIARGUMENTS\fR")
    yield ".SH DESCRIPTION"
    yield from _prose(main.help or "")


def _commands() -> Iterator[str]:
    contexts = commands_below(main, click.Context(main, info_name="jeton"))
    by_name = {ctx.command_path: ctx for ctx in contexts}
    yield ".SH COMMANDS"
    for title, names in GROUPS.items():
        yield f".SS {title}"
        for name in names:
            yield from (".TP", f".B {name}")
            yield _escaped(by_name[f"jeton {name}"].command.get_short_help_str(200))
    for path, ctx in by_name.items():
        if path == "jeton":
            continue
        pieces = " ".join(ctx.command.collect_usage_pieces(ctx))
        yield f".SH {path.upper()}"
        yield from (f".B {path}", _escaped(pieces), ".PP")
        yield from _prose(ctx.command.help or "")
        for option in ctx.command.params:
            if isinstance(option, click.Option) and option.name not in COMMON:
                yield from _option(option, ctx)


def _option(option: click.Option, ctx: click.Context) -> Iterator[str]:
    record = option.get_help_record(ctx)
    if record is not None:
        yield from (".TP", f".B {_escaped(record[0])}", _escaped(record[1]))


def _end() -> Iterator[str]:
    yield ".SH OPTIONS OF EVERY COMMAND"
    command = main.get_command(click.Context(main), "encode")
    assert command is not None
    for option in command.params:
        if isinstance(option, click.Option) and option.name in COMMON:
            yield from _option(option, click.Context(command))
    yield from (
        ".SH EXIT STATUS",
        "0 when all went well, 1 for an error, 2 for a command line that is wrong, 130 after",
        "Ctrl\\-C, 141 when the reader of a pipe has gone, 143 after SIGTERM.",
        ".SH ENVIRONMENT",
    )
    for name, what in {
        "JETON_CACHE_DIR": "Where fetched files are kept.",
        "JETON_DATA_DIR": "A folder to look for known tokenizers in first.",
        "JETON_OFFLINE": "If set to 1, nothing is fetched.",
        "NO_COLOR": "If set, nothing is coloured.",
    }.items():
        yield from (".TP", f".B {name}", what)


def _prose(text: str) -> Iterator[str]:
    for part in inspect.cleandoc(text).split("\n\n"):
        lines = part.split("\n")
        if lines[0] == "\b":
            yield from (".PP", ".nf", *map(_escaped, lines[1:]), ".fi")
        else:
            yield from (".PP", _escaped(" ".join(lines)))


def _escaped(text: str) -> str:
    """Text that no request of roff begins, with hyphens that can be copied."""
    text = " ".join(text.split("\n")).replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
