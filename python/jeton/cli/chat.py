"""`jeton chat`: a conversation through a chat template, in colours that say who wrote what."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jeton import saved_json
from jeton.cli.command import Command, add_hint, echo_note, format_option
from jeton.cli.documents import input_file
from jeton.cli.printing import put, say, use_colour
from jeton.cli.streams import refuse_endless
from jeton.cli.targets import STREAM, FilePath, check_inputs
from jeton.cli.terminal import show, table
from jeton.cli.tokenizers import TokenizerSource, tokenizer_options
from jeton.errors import FormatError
from jeton.files import file_errors

if TYPE_CHECKING:
    from jeton.chat import Chat

HELP = """Show a conversation as a model sees it, and who wrote what.

MESSAGES is a file of JSON, or - for standard input: a list of messages, each with a role and a
content, or an object with "messages" and, if there are, "tools" and "documents". Control tokens in
messages stay text; only those of the template are control tokens. For many conversations, use
`jeton cost --messages` or `jeton prepare`.

\b
Examples:
  jeton chat jeton-4k --text "Who hurries the water?"
  jeton chat ./model messages.json
  jeton chat gpt2 messages.json --template chatml \\
      --special-token '<|im_end|>=50257'
  jeton chat ./model messages.json --add-generation-prompt --format ids
"""


def _variables_of(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[str, object]:
    """The variables of `--set NAME=VALUE`."""
    variables: dict[str, object] = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not (equals and name.isidentifier()):
            raise click.BadParameter(f"{value!r} is not NAME=VALUE, as in enable_thinking=false")
        try:
            variables[name] = json.loads(text)
        except ValueError:
            variables[name] = text
    return variables


template_option = click.option(
    "--template",
    metavar="NAME|FILE",
    help="A chat template by name (chatml, llama3 …), or a Jinja file.  [default: the tokenizer's]",
)

variables_option = click.option(
    "--set",
    "variables",
    multiple=True,
    callback=_variables_of,
    metavar="NAME=VALUE",
    help="A variable of the template; VALUE is JSON or text. Repeatable.",
)


@click.command(cls=Command, help=HELP, short_help="Show a chat as ids, and who wrote what.")
@tokenizer_options
@click.argument("messages", required=False, type=FilePath())
@click.option("--text", metavar="TEXT", help="A chat of one message: this text of a user.")
@template_option
@click.option("--add-generation-prompt", is_flag=True, help="End where the model's answer begins.")
@click.option("--continue-final-message", is_flag=True, help="Leave the last message open.")
@click.option(
    "--trust",
    "trusted",
    multiple=True,
    metavar="FIELD",
    help="Allow control tokens in a role, content, messages[0].content or tools. Repeatable.",
)
@variables_option
@format_option(
    "show",
    "text",
    "ids",
    "json",
    help="The chat for people, its text, its ids, or all of it as JSON.",
)
def chat(
    source: TokenizerSource,
    messages: str | None,
    text: str | None,
    template: str | None,
    add_generation_prompt: bool,
    continue_final_message: bool,
    trusted: tuple[str, ...],
    variables: dict[str, Any],
    form: str,
) -> None:
    if (messages is None) == (text is None):
        error = click.UsageError("give MESSAGES or --text, one of them.")
        if messages is None and Path(source.name).exists():
            add_hint(error, f"a tokenizer comes first: jeton chat jeton-4k {source.name}")
        raise error
    conversation: dict[str, Any] = {"messages": [{"role": "user", "content": text}]}
    if messages is not None:
        path = input_file(messages, "one conversation")
        check_inputs([path])
        conversation = conversation_of(
            _contents(path),
            "standard input" if path == STREAM else path,
            "of JSON lines, give one: head -n 1 FILE | jeton chat TOKENIZER -",
        )
    result = source.load().chat(
        conversation.pop("messages"),
        template=template_text(template),
        tools=conversation.get("tools"),
        documents=conversation.get("documents"),
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        trusted=trusted,
        **variables,
    )
    if form == "text":
        put(result.text, end="")
    elif form == "ids":
        say(" ".join(map(str, result.ids)))
    elif form == "json":
        record = {
            "text": result.text,
            "ids": result.ids,
            "spans": result.spans,
            "origins": [str(origin) for origin in result.origins],
        }
        say(saved_json.dumps(record))
    else:
        _show(result)


def _contents(path: str) -> bytes:
    with file_errors(path, "read"):
        if path == STREAM:
            contents = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                refuse_endless(file, path)
                contents = file.read()
    return contents


def conversation_of(data: str | bytes, name: str, if_lines: str) -> dict[str, Any]:
    """The messages in a JSON text, and the fields beside them.

    Args:
        name: How errors name the text.
        if_lines: What the error advises if the text is JSON lines, each a conversation.
    """
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        # `name` already says which line of a file it is.
        place = f"line {error.lineno} " if "\n" in error.doc.strip() else ""
        hint = f"; {if_lines}" if error.msg == "Extra data" else ""
        raise FormatError(
            f"{name}: not valid JSON: {error.msg}: {place}column {error.colno}{hint}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: not valid JSON: {error}") from None
    if isinstance(value, list):
        return {"messages": value}
    if isinstance(value, dict) and "messages" in value:
        return dict(value)
    raise FormatError(f'{name}: expected a list of messages, or an object with "messages"')


def template_text(name: str | None) -> str | None:
    """The text of a template, if `name` is a file; otherwise `name` itself."""
    if name is None or not (name.endswith((".jinja", ".jinja2", ".j2", ".txt")) or "/" in name):
        return name
    check_inputs([name])
    try:
        return _contents(name).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: not UTF-8: {error.reason} at byte {error.start}") from None


def _show(chat: Chat) -> None:
    if use_colour(sys.stdout):
        show(chat)
    else:
        rows = []
        for start, end, origin in chat.segments:
            rows.append((str(origin), repr(chat.text[start:end])))
        say(table(rows, "<<"))
    counts = Counter(origin.role or origin.kind for origin in chat.origins)
    parts = ", ".join(f"{who} {count:,}" for who, count in counts.most_common())
    echo_note(f"{len(chat.ids):,} tokens: {parts}")
