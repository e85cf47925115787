"""Which tokenizer a command uses, and which special tokens it may find in text.

Look here for the argument TOKENIZER and for `--merges`, `--pattern`, `--special-token`,
`--lowercase`, `--special` and `--add-special-tokens`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, cast

import click

import jeton
from jeton.cli.command import decorated, echo_note
from jeton.cli.targets import FilePath, check_target
from jeton.errors import ArgumentError, FormatError, MissingFileError, UnsupportedError

F = TypeVar("F", bound=Callable[..., Any])

Special = Literal["ignore", "allow", "raise"] | Set[str]


class EncodingFlags(TypedDict):
    """Options of the methods that encode, from the command line."""

    special: Special
    add_special_tokens: bool


_OF_TOKENIZERS = ("", ".json", ".model", ".gguf", ".tiktoken", ".bpe")
"""Endings of files that may be a damaged tokenizer, and not a text in its place."""

_TEXTS = ("paths", "file", "messages", "inputs", "corpora")
"""Parameters of commands that take files of text."""

_EXAMPLES = ("jeton-4k", "gpt2")

_LOADING = ("merges", "encoding", "pattern", "special_tokens", "lowercase")
"""The options that complete the file of a tokenizer."""

POLICIES = ("ignore", "allow", "raise")


def _special_token(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[str, int] | None:
    tokens: dict[str, int] = {}
    for value in values:
        name, equals, number = value.rpartition("=")
        if not (name and equals and number.isascii() and number.isdigit()):
            raise click.BadParameter(f"{value!r} is not TOKEN=ID, as in '<|endoftext|>=50256'")
        tokens[name] = int(number)
    return tokens or None


@dataclass(frozen=True, slots=True)
class TokenizerSource:
    """The tokenizer of a command line: its name, and the options that complete its file."""

    name: str
    options: dict[str, Any]
    """Those of `jeton.load`."""

    @property
    def files(self) -> list[str]:
        """The file or folder that it is read from, and the file of merges if there is one."""
        return [path for path in (self.name, self.options["merges"]) if path is not None]

    def load(self) -> jeton.Tokenizer:
        """Loads the tokenizer."""
        return load_tokenizer(self.name, **self.options)


def load_tokenizer(name: str, **options: Any) -> jeton.Tokenizer:
    """Loads a tokenizer; the error about a text in its place says where the command takes texts."""
    try:
        return jeton.load(name, **options)
    except (ArgumentError, FormatError, UnsupportedError):
        path = Path(name)
        if path.suffix.lower() in _OF_TOKENIZERS or path.stem in ("vocab", "merges"):
            raise
        raise FormatError(f"{name}: this is no tokenizer", hint=_place_of_text(name)) from None
    except MissingFileError as error:
        place = _place_of_text(name)
        if place is None or not Path(name).is_dir():
            raise
        hint = place if error.hint is None else f"{error.hint}; {place}"
        raise MissingFileError(error.message, hint=hint) from None


def _place_of_text(name: str) -> str | None:
    """How the command that runs is given a text; `None` if it takes none."""
    ctx = click.get_current_context()
    before = 0
    for parameter in ctx.command.params:
        if parameter.name in _TEXTS and isinstance(parameter, click.Option):
            return f"for a text: {parameter.opts[0]} {name}"
        if parameter.name in _TEXTS:
            first = "two tokenizers come" if before == 2 else "a tokenizer comes"
            return f"{first} first: {ctx.command_path} {' '.join(_EXAMPLES[:before])} {name}"
        before += isinstance(parameter, click.Argument)
    return None


def tokenizer_options(function: F) -> F:
    """The argument TOKENIZER and the options that complete its file, as one `source`."""

    @functools.wraps(function)
    def command(*, tokenizer: str, **others: Any) -> Any:
        source = TokenizerSource(tokenizer, {name: others.pop(name) for name in _LOADING})
        check_target(None, inputs=source.files, force=False)
        return function(source=source, **others)

    decorators = [
        click.argument("tokenizer", type=FilePath()),
        click.option(
            "--merges", type=FilePath(), metavar="FILE", help="The merges.txt beside a vocab.json."
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            help="Which published encoding to use, if a file of ranks serves several.",
        ),
        click.option(
            "--pattern",
            metavar="NAME|REGEX",
            help="How a file of ranks splits text: a name (gpt2, cl100k, o200k …) or a regex.",
        ),
        click.option(
            "--special-token",
            "special_tokens",
            multiple=True,
            metavar="TOKEN=ID",
            callback=_special_token,
            help="A special token that is not in the file. Repeatable.",
        ),
        click.option(
            "--lowercase/--cased",
            default=None,
            help="Whether a vocab.txt lower-cases text.  [default: as its tokens show]",
        ),
    ]
    return cast(F, decorated(command, decorators))


def encoding_options(function: F) -> F:
    """The options for special tokens; they arrive as `options`, for the methods that encode."""

    @functools.wraps(function)
    def command(*, special: tuple[str, ...], add_special_tokens: bool, **others: object) -> Any:
        options = EncodingFlags(special=special_of(special), add_special_tokens=add_special_tokens)
        return function(options=options, **others)

    decorators = [
        click.option(
            "--special",
            multiple=True,
            default=["ignore"],
            metavar="POLICY|TOKEN",
            help="Special tokens in text: ignore (they stay text; the default), allow, raise (an "
            "error), or a token to allow. Repeatable with tokens.",
        ),
        click.option(
            "--add-special-tokens",
            is_flag=True,
            help="Put the tokenizer's own special tokens around each document.",
        ),
    ]
    return cast(F, decorated(command, decorators))


def note_on_special_tokens(tok: jeton.Tokenizer, options: EncodingFlags) -> None:
    """Warns if `--add-special-tokens` adds nothing."""
    if options["add_special_tokens"] and tok.encode("", add_special_tokens=True) == tok.encode(""):
        echo_note(
            "warning: --add-special-tokens adds nothing: this tokenizer puts none around text"
        )


def special_of(values: tuple[str, ...]) -> Special:
    """The policy that the values of `--special` name."""
    policies = [value for value in values if value in POLICIES]
    if not policies:
        return frozenset(values)
    if len(values) > 1:
        raise click.UsageError(f"--special {policies[0]} cannot be combined with others.")
    return cast(Literal["ignore", "allow", "raise"], policies[0])
