"""`jeton samples`: the text that ships with jeton, to try things on."""

from __future__ import annotations

from pathlib import Path

import click

from jeton import samples as texts
from jeton.cli.command import Command
from jeton.cli.printing import put, say, styled
from jeton.cli.targets import FilePath, check_target, force_option, replacing
from jeton.cli.terminal import human_bytes, table
from jeton.errors import FileError

HELP = """Show the text that ships with jeton, or write it to files.

NAME is essays, tales, dialogue, letters, recipes, notes, languages (thirty of them), code or
figures. Without NAME, lists the names. All texts are in the public domain (CC0).

\b
Examples:
  jeton samples
  jeton samples languages | head
  jeton samples -o corpus/
  jeton samples essays -o essays.txt
"""


@click.command(cls=Command, help=HELP, short_help="Show or write sample texts.")
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(texts.NAMES))
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    metavar="PATH",
    help="The file to write; without NAME, a folder for all texts.",
)
@force_option
def samples(name: str | None, output: str | None, force: bool) -> None:
    if output is None:
        if name is None:
            rows = []
            for text_name in texts.NAMES:
                text = texts.read(text_name)
                size = human_bytes(len(text.encode()))
                rows.append((styled(text_name, bold=True), size, text.split("\n")[0]))
            say(table(rows, "<><"))
        else:
            put(texts.read(name), end="")
        return
    path = Path(output)
    if name is not None:
        _write({path: name}, force)
        return
    if path.exists() and not path.is_dir():
        raise FileError(f"{path}: is not a folder (name a text to write one file)")
    check_target(path, force=force, folder=True)
    path.mkdir(exist_ok=True)
    _write({path / f"{text_name}.txt": text_name for text_name in texts.NAMES}, force)


def _write(files: dict[Path, str], force: bool) -> None:
    for path in files:
        check_target(path, force=force)
    for path, name in files.items():
        with replacing(path, force=force) as new:
            new.write(texts.read(name).encode())
        put(f"{path}")
