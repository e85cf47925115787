"""The chat templates that jeton has by name, and which one a chat goes through.

They are written from the published descriptions of the formats, for texts of a system, a user and
an assistant, and write what the models' own templates do there; those know more: tools, reasoning,
images.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from jeton.arguments import suggestion
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownNameError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_NAMES: Final = """
    chatml qwen qwen2 qwen2.5 llama2 llama3 llama3.1 llama3.2 llama4 mistral mistral-small gemma phi
    phi4 deepseek zephyr vicuna gpt-oss command-r granite olmo
""".split()

_ALIASES: Final = {
    "harmony": "gpt-oss",
    "qwen3": "qwen",
    "gemma2": "gemma",
    "gemma3": "gemma",
    "phi3": "phi",
    "deepseekv3": "deepseek",
    "llama33": "llama3.1",
    "mistralv7": "mistral-small",
    "cohere": "command-r",
    "olmo2": "olmo",
}


class _Templates(Mapping[str, str]):
    """Texts of templates by name, read at their first use."""

    def __getitem__(self, name: str) -> str:
        if name not in _NAMES:
            raise KeyError(name)
        return (files("jeton.chat.templates") / "formats" / f"{name}.jinja").read_text("utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)

    def __repr__(self) -> str:
        return f"TEMPLATES({', '.join(_NAMES)})"


TEMPLATES: Final[Mapping[str, str]] = _Templates()
"""The templates by name."""


def _spelled(name: str) -> str:
    return re.sub(r"[\s._\-]", "", name.lower())


_BY_SPELLING: Final = {_spelled(name): name for name in _NAMES} | _ALIASES


@functools.cache
def _names() -> dict[str, str]:
    return {text: name for name, text in TEMPLATES.items()}


def name_of(template: str) -> str | None:
    """The name of a template of jeton, by its text; `None` for any other."""
    return _names().get(template)


def left_to_models(template: str, roles: Sequence[str | None]) -> str | None:
    """What the model's own template writes in a chat with these roles and jeton's template of
    this format does not; `None` if both write the same.
    """
    name = name_of(template)
    if name == "mistral-small" and "system" not in roles:
        return "models with this format write a system's message of their own"
    if name == "qwen" and roles[-1:] == ["assistant"]:
        return "Qwen 3 writes an empty <think> in front of the answer that ends a chat"
    return None


def template_of(tok: BaseTokenizer, template: object, *, with_tools: bool) -> str:
    """The text of the template that a chat goes through.

    Args:
        tok: The tokenizer, whose own template is taken if none is named.
        template: The text of a template, the name of one of the tokenizer's or of jeton's.
        with_tools: Whether there are tools: a tokenizer may have a template `tool_use` for these.
    """
    own = tok.settings.chat_template
    named = {} if own is None else {"default": own} if isinstance(own, str) else own
    if template is None:
        if with_tools and "tool_use" in named:
            return named["tool_use"]
        if "default" in named:
            return named["default"]
        if named:
            raise ArgumentError(
                f"the tokenizer has several chat templates: {', '.join(named)}",
                hint="template= one of them",
                parameter="template",
            )
        raise ArgumentError(
            "the tokenizer has no chat template",
            hint=f"template= one of {', '.join(TEMPLATES)}, or the text of one",
            parameter="template",
        )
    if not isinstance(template, str):
        raise ArgumentTypeError(f"template must be a str, not {type(template).__name__}")
    if template in named:
        return named[template]
    if len(template) < 40 and (known := _BY_SPELLING.get(_spelled(template))):
        return TEMPLATES[known]
    if "{" not in template and "\n" not in template:
        names = [*named, *TEMPLATES, *_ALIASES]
        hint = suggestion(template, names) or f"there are {', '.join(names)}"
        raise UnknownNameError(f"there is no chat template {template!r:.60} ({hint})")
    return template
