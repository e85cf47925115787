"""Rendering: messages through a template to text that knows who wrote it."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from jinja2 import Template, TemplateSyntaxError, UndefinedError
from jinja2.exceptions import SecurityError

from jeton.chat.templates.limits import LimitError, check_output, running
from jeton.chat.templates.origins import Origin
from jeton.chat.templates.parts import raw, runs_of
from jeton.chat.templates.sandbox import Refusal, Sandbox
from jeton.chat.templates.traced import Traced
from jeton.chat.templates.trust import REASONING
from jeton.errors import ArgumentError, FormatError, UnsupportedError

_LONGEST_TEMPLATE: Final = 1 << 17
"""Compiling takes some 25 microseconds for each character, and a nested list more."""

_CACHED: Final = 1 << 19
"""Characters of the templates that stay compiled; each may take a kilobyte."""

_LONGEST_REASON: Final = 2_000
_OWN_TYPE: Final = re.compile(r"(['\"])Traced(Int|Float)?\1")
_TAG: Final = "CONTINUE_FINAL_MESSAGE_TAG "
"""Marks where the last message ends. Templates may trim its space, so it has one."""


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """A template and its input.

    Attributes:
        template: The text of the template.
        messages: The messages, as `TemplateInput.messages` returns them.
        continued: The field of the last message that is left open.
        variables: Its other variables.
        characters: The number of characters of the input.
    """

    template: str
    messages: list[dict[str, Any]]
    continued: str | None
    variables: Mapping[str, Any]
    characters: int


def rendered(request: RenderRequest) -> str:
    """The text of a chat.

    Raises:
        FormatError: The template is not valid Jinja.
        ArgumentError: The template refuses the messages, or fails.
        UnsupportedError: It leaves the sandbox or its limits.
    """
    template, messages, variables = request.template, request.messages, request.variables
    if len(template) > _LONGEST_TEMPLATE:
        raise FormatError(
            f"the template has {len(template):,} characters; {_LONGEST_TEMPLATE:,} are allowed"
        )
    ending, is_spelled = None, False
    if request.continued is not None:
        is_spelled = _spells_tag([messages, variables])
        messages, ending = _tagged(template, messages, request.continued)
    with running(request.characters + len(template)):
        text = _run(template, {"messages": messages, **variables})
        check_output(len(text), request.characters)
    return text if ending is None else _cut_at_tag(text, *ending, is_spelled=is_spelled)


_COMPILED: Final[dict[str, Template]] = {}
"""The templates that ran last, the last one last."""


@functools.cache
def _sandbox() -> Sandbox:
    return Sandbox()


def _compiled(template: str) -> Template:
    compiled = _COMPILED.pop(template, None) or _sandbox().from_string(template)
    _COMPILED[template] = compiled
    kept = 0
    for text in reversed(list(_COMPILED)):
        kept += len(text) + _CACHED // 64
        if kept > _CACHED and text != template:
            _COMPILED.pop(text, None)
    return compiled


def _run(template: str, variables: dict[str, Any]) -> str:
    try:
        compiled = _compiled(template)
        context = compiled.new_context(variables)
        return Sandbox.concat(compiled.root_render_func(context))
    except TemplateSyntaxError as error:
        raise FormatError(
            f"the template is not valid Jinja: line {error.lineno}: {_cut(error)}"
        ) from None
    except SyntaxError as error:
        # Python refuses the compiled template.
        raise FormatError(f"the template is not valid Jinja: {error.msg}") from None
    except LimitError as error:
        raise LimitError(f"{error}{_place(error)}") from None
    except Refusal as error:
        raise ArgumentError(
            f"the template refuses these messages: {_cut(error)} ({_roles(variables['messages'])})"
        ) from None
    except SecurityError as error:
        raise UnsupportedError(
            f"the template may not do that: {_cut(error)}{_place(error)}"
        ) from None
    except RecursionError:
        raise LimitError("the template calls itself without end") from None
    except MemoryError:
        raise LimitError("the template takes more memory than there is") from None
    except UndefinedError as error:
        raise ArgumentError(
            f"the template needs a value that is not there: {_cut(error)}{_place(error)}"
            f"{_lacking(str(error), variables['messages'])}"
        ) from error
    except OverflowError as error:
        raise LimitError(f"the template goes too far: {error}{_place(error)}") from None
    except Exception as error:
        raise ArgumentError(
            f"the template fails on these messages: {type(error).__name__}: {_cut(error)}"
            f"{_place(error)}{_no_text(variables['messages'])}"
        ) from error


def _cut(error: Exception) -> str:
    """The message of an error, shortened, since a template may write a very long one."""
    reason = _OWN_TYPE.sub(_plain_type, str(error))
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"


def _plain_type(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2].lower() if match[2] else 'str'}{match[1]}"


def _roles(messages: list[dict[str, Any]]) -> str:
    """The roles of the messages."""
    roles = [str(message.get("role", "none")) for message in messages]
    more = f" … {len(roles) - 8:,} more" if len(roles) > 8 else ""
    return f"roles: {', '.join(role[:40] for role in roles[:8])}{more}"


def _lacking(error: str, messages: list[dict[str, Any]]) -> str:
    """The message that lacks the field that an error names, or the role without its token."""
    if token := re.fullmatch(r"'(([a-z]+)_token)' is undefined", error):
        return (
            f"; the tokenizer has no token of that role (give {token[1]}= to the chat, or name it: "
            f"tok.replace(roles={{{token[2]!r}: …}}))"
        )
    match = re.search(r"'dict object' has no attribute '(\w+)'", error)
    for number, message in enumerate(messages if match else []):
        if match and match[1] not in message:
            return f"; messages[{number}] has no {match[1]!r}"
    return ""


def _no_text(messages: list[dict[str, Any]]) -> str:
    """The message whose content is neither text nor parts, if there is one."""
    for number, message in enumerate(messages):
        content = message.get("content", "")
        if not isinstance(content, (str, list, tuple)):
            kind = "a number" if isinstance(content, (int, float)) else "a dict"
            return f"; messages[{number}].content is {kind}, not text"
    return ""


def _place(error: BaseException) -> str:
    """The line of the template that an error comes from."""
    line, step = None, error.__traceback__
    while step is not None:
        template = step.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template) and isinstance(step.tb_frame.f_code, CodeType):
            line = template.get_corresponding_lineno(step.tb_lineno)
        step = step.tb_next
    return "" if line is None else f" (line {line} of the template)"


def _tagged(
    template: str, messages: list[dict[str, Any]], field: str
) -> tuple[list[dict[str, Any]], tuple[str, Origin]]:
    last = dict(messages[-1])
    final = last.get(field)
    if final is None:
        raise ArgumentError(
            f"continue_final_message: the last message has no {field!r} to continue"
        )
    names = [field]
    if field in REASONING:
        names = [name for name in REASONING if last.get(name) == final]
    if not any(name in template for name in names):
        raise ArgumentError(f"continue_final_message: the template does not read {field!r}")
    tag_origin = Origin("message", len(messages) - 1, None, f"{field} (its end)")
    tag = Traced(_TAG, ((len(_TAG), tag_origin),))
    if isinstance(final, (list, tuple)):
        blocks = list(final)
        for at in reversed(range(len(blocks))):
            if isinstance(blocks[at], dict) and isinstance(blocks[at].get("text"), str):
                final = blocks[at]["text"]
                blocks[at] = {**blocks[at], "text": final + tag}
                break
        else:
            raise ArgumentError("continue_final_message: the last message holds no text")
        last[field] = blocks
    elif isinstance(final, str):
        for name in names:
            last[name] = final + tag
    else:
        raise ArgumentError(f"continue_final_message: {field!r} of the last message is not text")
    return [*messages[:-1], last], (raw(final).strip(), tag_origin)


def _cut_at_tag(text: str, final: str, tag: Origin, *, is_spelled: bool) -> str:
    """The text up to the last whole tag.

    Args:
        text: What the template made.
        final: The last message.
        is_spelled: Whether the input spells the tag too, so that its origin must decide.
    """
    spelling, string = _TAG.strip(), raw(text)
    at = string.rfind(spelling)
    if is_spelled:
        found = _last_of(text, spelling, tag)
        # An operation that follows no origins may have taken the tag up.
        at = at if found < 0 else found
    if final not in string or at < 0:
        raise ArgumentError(
            "continue_final_message: the template changes the last message or leaves it out, so "
            "its end cannot be found"
        )
    head = text[:at]
    return head if string.startswith(_TAG, at) else head.rstrip()


def _last_of(text: str, spelling: str, origin: Origin) -> int:
    """Where the last of these spellings begins that a field wrote, or a part of; or -1."""
    string, beside, end = raw(text), len(spelling) - 1, len(text)
    for length, other in reversed(runs_of(text)):
        start = end - length
        if (other.field, other.message) == (origin.field, origin.message):
            found = string.rfind(spelling, max(0, start - beside), end + beside)
            if found >= 0:
                return found
        end = start
    return -1


def _spells_tag(value: object) -> bool:
    """Whether a value spells the tag, however deep."""
    if isinstance(value, str):
        return _TAG.strip() in raw(value)
    if isinstance(value, Mapping):
        return any(_spells_tag(key) or _spells_tag(item) for key, item in value.items())
    return isinstance(value, (list, tuple)) and any(map(_spells_tag, value))
