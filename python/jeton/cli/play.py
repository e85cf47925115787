"""`jeton play`: a page on this machine that shows what tokenizers do with a text."""

from __future__ import annotations

import contextlib
import os
import threading
import webbrowser
from pathlib import Path
from typing import Final

import click

import jeton._core as _core
from jeton.cli.command import Command, echo_note
from jeton.cli.documents import input_file
from jeton.cli.printing import put
from jeton.cli.targets import FilePath
from jeton.cli.tokenizers import load_tokenizer

_MAX_BYTES: Final = 32 << 20

HELP = """Open a page that shows what tokenizers do with a text.

The page is served on this machine only and needs no network. Each TOKENIZER is a card; others are
added on the page, by name or by dropping a file. Tokens are coloured as you type; the other tabs
show the steps of encoding, the vocabulary, chats, training, and ids turned back into text.

\b
Examples:
  jeton play                               with the tokenizers that you add
  jeton play gpt2 mine.json                two side by side
  jeton play o200k_base --file notes.txt   with a text of your own
  jeton play mine.json --no-open           print the address only
"""


@click.command(cls=Command, help=HELP, short_help="Play with tokenizers in a browser.")
@click.argument("tokenizers", nargs=-1, metavar="[TOKENIZER]...")
@click.option("--file", type=FilePath(), metavar="FILE", help="Begin with the text of a file.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=False,
    metavar="N",
    help="Listen on this port; by default a free one.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Listen on this address, or 0.0.0.0 for all. Any but a loopback address lets others in.",
)
@click.option("--open/--no-open", "opens", default=True, help="Open the page in a browser.")
def play(tokenizers: tuple[str, ...], file: str | None, port: int, host: str, opens: bool) -> None:
    from jeton.play import Page
    from jeton.play.server import MAX_SHOWN

    text = "" if file is None else _text_of(Path(input_file(file, "one text")))
    if len(set(tokenizers)) > MAX_SHOWN:
        raise click.UsageError(f"the page shows up to {MAX_SHOWN} tokenizers")
    loaded = {name: load_tokenizer(name) for name in tokenizers}
    page = Page(loaded, text=text, host=host, port=port)
    put(page.url)
    if host in ("0.0.0.0", "::"):
        echo_note("on other devices, replace the host by an address of this machine")
    if host not in ("127.0.0.1", "localhost", "::1"):
        echo_note("anyone who knows this address and can reach this machine can use the page")
    echo_note("Ctrl-C ends it")
    if opens:
        # A browser inside the terminal returns only when the user quits it.
        threading.Thread(target=webbrowser.open, args=[page.url], daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        page.serve()


def _text_of(path: Path) -> str:
    content = _core.FileContents(os.fspath(path)).read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise click.UsageError(f"--file: {path} has more than {_MAX_BYTES >> 20} MB")
    try:
        return content.decode()
    except UnicodeDecodeError:
        echo_note(f"{path} is not all UTF-8; the page shows U+FFFD for the rest")
        return content.decode("utf-8", "replace")
