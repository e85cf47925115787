"""`jeton fetch`: downloads the files of tokenizers before they are needed."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from jeton.cli.command import Command
from jeton.cli.printing import put
from jeton.cli.targets import FilePath, check_target, force_option, replacing
from jeton.errors import ArgumentError, FileError
from jeton.files import digest_of
from jeton.loading import sources

HELP = """Download tokenizers in advance, and say where their files are.

NAME is a known name (gpt2, o200k_base …, as `jeton list` has them), the name of a model that uses
one, or a repository of the Hugging Face hub (organisation/name). Files that are already on this
machine are not downloaded again.

For a machine without a network, --folder writes copies into a folder. Copy that folder to the
machine, and set the environment variable JETON_DATA_DIR to it.

\b
Examples:
  jeton fetch gpt2 o200k_base
  jeton fetch cl100k_base --folder data/
"""


@click.command(cls=Command, help=HELP, short_help="Download tokenizers in advance.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--folder",
    type=FilePath(),
    metavar="DIR",
    help="Write copies into this folder, for JETON_DATA_DIR.",
)
@force_option
def fetch(names: tuple[str, ...], folder: str | None, force: bool) -> None:
    files = [item for name in names for item in sources.fetched(name).items()]
    if folder is not None:
        files = [(name, _copy(path, Path(folder) / name, force)) for name, path in files]
    for _, path in files:
        put(f"{path}")


def _copy(path: Path, target: Path, force: bool) -> Path:
    if path.is_dir():
        raise ArgumentError(f"--folder goes with known names, and {path} is from a repository")
    folder = target.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot create it: {error.strerror}") from None
    if target.is_file() and digest_of(target) == digest_of(path):
        return target
    check_target(target, inputs=[path], force=force)
    with replacing(target, force=force) as file, path.open("rb") as source:
        shutil.copyfileobj(source, file)
    return target
