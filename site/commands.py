"""Writes docs/reference/commands.md: every command with its options, as `--help` has them.

Run it after a change of a command: `python site/commands.py`. A test holds the page to be what it
writes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from jeton.cli import main

PAGE = Path(__file__).parent.parent / "docs/reference/commands.md"
COMMON = ("quiet", "debug", "color", "no_color")
"""Options that every command has, described once."""

BEGINNING = """# Commands

What `jeton COMMAND --help` says, of all commands. `jeton` is there once the package is installed;
`python -m jeton` is the same.

"""


def page() -> str:
    """The whole page."""
    commands = list(commands_below(main, click.Context(main, info_name="jeton")))
    rows = [
        f"| [`{ctx.command_path}`](#{ctx.command_path.replace(' ', '-')}) "
        f"| {_prose(ctx.command.get_short_help_str(100))} |"
        for ctx in commands[1:]
    ]
    common = next(ctx.command for ctx in commands if _common(ctx.command))
    parts = [
        BEGINNING + "| command | what it does |\n| --- | --- |\n" + "\n".join(rows),
        _help(main.help or ""),
        "Every command takes these, and a group of commands the last:",
        "\n".join(map(_option, _common(common))) + "\n- `-h`, `--help`: This.",
        *(_section(ctx) for ctx in commands[1:]),
    ]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def commands_below(command: click.Command, ctx: click.Context) -> Iterator[click.Context]:
    """A command and those below it, each with the context that knows its name."""
    yield ctx
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            if inner is not None and not inner.hidden:
                yield from commands_below(inner, click.Context(inner, info_name=name, parent=ctx))


def _section(ctx: click.Context) -> str:
    command = ctx.command
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    options = [
        it
        for it in command.params
        if isinstance(it, click.Option) and it not in _common(command) and not it.hidden
    ]
    parts = [
        f"{'##' if ctx.parent and ctx.parent.parent is None else '###'} {ctx.command_path}",
        f"```text\n{usage}\n```",
        _help(command.help or ""),
        "\n".join(map(_option, options)),
    ]
    return "\n\n".join(part for part in parts if part)


def _common(command: click.Command) -> list[click.Option]:
    return [it for it in command.params if isinstance(it, click.Option) and it.name in COMMON]


def _help(text: str) -> str:
    """A help text: prose, and what is in lines of its own as a block."""
    parts = []
    for part in inspect.cleandoc(text).split("\n\n"):
        lines = part.split("\n")
        if lines[0] != "\b":
            parts.append(_prose(part))
            continue
        title = [_prose(lines[1])] if lines[1].endswith(":") else []
        block = inspect.cleandoc("\n".join(lines[1 + len(title) :]))
        kind = "sh" if re.search(r"^(.*\| )?jeton ", block) else "text"
        parts += [*title, f"```{kind}\n{block}\n```"]
    return "\n\n".join(parts)


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len))
    names += "".join(f" / `{name}`" for name in option.secondary_opts)
    told = [_prose(part) for part in [re.sub(r"\s*\[default:.*", "", option.help or "")] if part]
    if option.required:
        told.append("Required.")
    if isinstance(option.type, click.IntRange):
        told += _range(option.type)
    told += _default(option)
    return f"- {names}{_value(option)}: {' '.join(told)}".rstrip(": ")


def _value(option: click.Option) -> str:
    """What follows the name of an option."""
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice) and option.metavar is None:
        return (
            " "
            + ", ".join(f"*{choice}*" for choice in option.type.choices[:-1])
            + (f" or *{option.type.choices[-1]}*")
        )
    kind = "INTEGER" if isinstance(option.type, click.IntRange) else option.type.name.upper()
    return f" `{option.metavar or kind}`"


def _range(kind: click.IntRange) -> list[str]:
    if kind.max is None:
        return [] if kind.min is None else [f"At least {kind.min:,}."]
    return [f"{kind.min:,} to {kind.max:,}."]


def _default(option: click.Option) -> list[str]:
    written = re.search(r"\[default: (.*?)\]", option.help or "", re.DOTALL)
    if written:
        return [f"Default: {_prose(written[1])}."]
    return [f"Default: `{option.default}`."] if option.show_default else []


def _prose(text: str) -> str:
    """Text as markdown: code in backticks stays code, options and other names become it."""
    parts = re.split(r"(`[^`]+`|(?<![\w-])--?[a-z][\w-]*|\b\w+_\w+)", " ".join(text.split()))
    for number, part in enumerate(parts):
        escaped = re.sub(r"([\\`*_\[\]])", r"\\\1", part).replace("&", "&amp;").replace("<", "&lt;")
        parts[number] = f"`{part.strip('`')}`" if number % 2 else escaped
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
