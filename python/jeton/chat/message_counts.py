"""How many tokens a conversation has as a model is sent it, and whether that is exact or estimated.

`tok.count_messages` is the way in. Look here for the arithmetic of OpenAI's chat models, which is
that of OpenAI's cookbook ("How to count tokens with tiktoken"), and for what makes an estimate of a
count.
"""

from __future__ import annotations

import difflib
import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from jeton.arguments import check_kind, checked_flag, checked_int
from jeton.chat.messages import TEXTS, fields_of, is_media
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from jeton.loading import registry

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["PRIVATE", "MessageCount", "counted", "has_encoding", "is_fine_tuned"]

PRIVATE: Final = ("claude", "gemini", "grok")
"""How the names of models begin whose tokenizers are not public."""

_FINE_TUNED: Final = "ft:"
"""How the names of models begin that users have tuned: `ft:MODEL:ORGANISATION:NAME:ID`."""

_MAX_DEPTH: Final = 100

_REPLY: Final = 3
"""The tokens that begin the model's answer."""

_CALL: Final = 3
"""What a call of a tool is taken for, beside its name and its arguments."""

_PUBLISHED: Final = re.compile(
    r"gpt-3\.5-turbo(-0125|-0301|-0613|-16k-0613)?|gpt-4(-32k)?(-0314|-0613)?"
    r"|gpt-4o(-2024-05-13|-2024-08-06)?|gpt-4o-mini(-2024-07-18)?"
)
"""The models for which the cookbook has the arithmetic, and the service gave the same counts."""

_OTHER_CHAT_MODELS: Final = re.compile(
    r"gpt-3\.5-turbo-(?!instruct).*|(gpt-4|gpt-4o|chatgpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|o1|o3|o4)(\b.*)?"
)

_PROBE: Final = "Jeton counts 1234 tokens, naïvely: 図書館 🙂"
_PROBED: Final = {
    "cl100k_base": (
        [41, 35794, 14921, 220, 4513, 19, 11460, 11, 95980, 16637, 25, 50702, 111, 27552, 116, 165,
         97, 101, 28584],
        100_257,
    ),
    "o200k_base": (
        [46270, 263, 28991, 220, 7633, 19, 20290, 11, 153475, 1002, 88, 25, 9537, 111, 33528, 89001,
         26192],
        199_999,
    ),
}  # fmt: skip
"""What identifies an encoding: the ids of the probe, and the id of `<|endoftext|>`."""


@dataclass(frozen=True, slots=True)
class MessageCount:
    """How many tokens messages have. `int(count)` is the number.

    Example:
        >>> from jeton.chat.message_counts import MessageCount
        >>> count = MessageCount(12, False, "estimated: …")
        >>> int(count), count.exact
        (12, False)
    """

    tokens: int
    """The tokens of the whole prompt, control tokens included."""
    exact: bool
    """Whether it is the number that the model is sent, rather than an estimate."""
    basis: str
    """How the number was computed; for an estimate, also what is not known."""

    def __int__(self) -> int:
        return self.tokens

    __index__ = __int__


_OF_CHAT: Final = ("documents", "continue_final_message", "trusted", "control")
"""What `Tokenizer.chat` takes by name beside the variables of a template."""


def counted(
    tok: BaseTokenizer,
    messages: object,
    *,
    model: str | None,
    template: str | None,
    tools: object,
    add_generation_prompt: bool,
    tokens_per_part: int | None,
    variables: Mapping[str, Any],
) -> MessageCount:
    """The count that `Tokenizer.count_messages` gives."""
    checked_flag("add_generation_prompt", add_generation_prompt)
    if tokens_per_part is not None:
        tokens_per_part = checked_int("tokens_per_part", tokens_per_part, 0)
    if model is not None:
        check_kind("model", model, str, "the name of a model")
    listed = _listed(messages)
    parts = _MediaParts(tokens_per_part)
    for number, message in enumerate(listed):
        parts.find(number, message)
    if model is not None and not model.startswith("gpt-oss"):
        if template is not None or variables:
            option = "template" if template is not None else next(iter(variables))
            raise ArgumentError(
                f"{option} is for chat templates, and {model!r} is counted by arithmetic (give "
                "model or template)"
            )
        return _by_arithmetic(tok, model, listed, tools, add_generation_prompt, parts)
    if template is None and tok.chat_template is None:
        if model is None:
            raise ArgumentError(
                "the tokenizer has no chat template: name the model (model='gpt-4o'), or the chat "
                "template (template='chatml')"
            )
        template = "gpt-oss"
    from jeton.chat import Request
    from jeton.chat.templates.finding import left_to_models

    chat = Request(
        tok,
        listed,
        template=template,
        tools=tools,
        add_generation_prompt=add_generation_prompt,
        variables=tuple((name, it) for name, it in variables.items() if name not in _OF_CHAT),
        counts_media=True,
        says=lambda losses: None,  # the count says it
        **{name: it for name, it in variables.items() if name in _OF_CHAT},
    ).build()
    whose = "the tokenizer's own chat template"
    if template is not None:
        is_name = len(template) < 60 and "{" not in template and "\n" not in template
        whose = (
            f"the chat template {template!r}" if is_name else "the chat template that was passed"
        )
    guesses = parts.guesses()
    if left_out := chat.left_out(with_media=False):
        guesses.append(f"it does not print {', '.join(map(str, left_out))}")
    if more := left_to_models(chat.template, chat.roles):
        guesses.append(more)
    if model is not None and template is not None:
        guesses.append(f"{model} has a template of its own, which this tokenizer lacks")
    return _labelled(len(chat.ids) + parts.tokens, f"by {whose}", guesses)


def _labelled(tokens: int, basis: str, guesses: list[str]) -> MessageCount:
    if not guesses:
        return MessageCount(tokens, True, f"exact: {basis}")
    return MessageCount(tokens, False, f"estimated: {basis}; {'; '.join(dict.fromkeys(guesses))}")


def _listed(messages: object) -> list[Any]:
    messages = getattr(messages, "messages", messages)
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
        raise ArgumentTypeError(
            'messages must be a list of dicts, as [{"role": "user", "content": "Hello"}], not '
            f"{type(messages).__name__}"
        )
    listed = list(messages)
    if not listed:
        raise ArgumentError("messages is empty: a chat has at least one message")
    return listed


@dataclass
class _MediaParts:
    """The parts of messages that are not text: images, audio, files."""

    each: int | None
    kinds: list[str] = field(default_factory=list)

    def find(self, number: int, message: object) -> None:
        for name, value in (fields_of(message) or {}).items():
            if name in _CONTENTS and _holds_parts(value):
                for piece in _pieces(f"messages[{number}].{name}", value):
                    if isinstance(piece, _Media):
                        self._add(piece)

    def _add(self, media: _Media) -> None:
        if self.each is None:
            raise ArgumentError(
                f"{media.place} is not text ({media.kind}), and its tokens cannot be counted here: "
                "give tokens_per_part= what each such part has, for an estimate"
            )
        self.kinds.append(media.kind)

    @property
    def tokens(self) -> int:
        return len(self.kinds) * (self.each or 0)

    def guesses(self) -> list[str]:
        kinds = ", ".join(dict.fromkeys(self.kinds))
        return [f"{self.each:,} tokens for each part that is not text ({kinds})"] if kinds else []


_CONTENTS: Final = ("content", "parts")
"""The fields of a message that may be a list of parts; Gemini's is the second."""

_WORDS: Final = frozenset(
    "text content parts output title context caption alt name transcript thinking".split()
)
"""The fields with text beside an image or a file."""

_NO_WORDS: Final = frozenset(
    """
    type id index status role signature is_error cache_control citations media_type mime_type
    mimeType format detail
    """.split()
)
"""Fields that a model is not sent as text."""


@dataclass(frozen=True)
class _Media:
    """A part that is not text."""

    place: str
    kind: str


def _pieces(place: str, value: object, depth: int = 0) -> Iterator[str | _Media]:
    """The texts of a content, or of a part of one, however deep, and its parts that are not text.

    Raises:
        ArgumentTypeError, ArgumentError: A part that says it is text, but has none.
    """
    if depth > _MAX_DEPTH:
        raise ArgumentError(f"{place:.60}… is nested too deep")
    if isinstance(value, str):
        yield value
        return
    if isinstance(value, (list, tuple)):
        for at, item in enumerate(value):
            yield from _pieces(f"{place}[{at}]", item, depth + 1)
        return
    fields = fields_of(value)
    kind = None if fields is None else fields.get("type")
    if fields is None:
        yield _Media(place, type(value).__name__)
    elif isinstance(kind, str) and kind in TEXTS:
        yield _text_of(place, kind, fields)
    elif is_media(fields):
        yield _Media(place, f"{kind:.40}" if isinstance(kind, str) else type(value).__name__)
        for name in _WORDS.intersection(fields):
            if isinstance(fields[name], (str, list, tuple)):
                yield from _pieces(f"{place}.{name}", fields[name], depth + 1)
    else:
        found = [
            piece
            for name, item in fields.items()
            if name not in _NO_WORDS and not str(name).endswith("_id") and item is not None
            for piece in _inside(f"{place}.{name}", item, depth)
        ]
        yield from found or [_Media(place, f"{kind:.40}" if isinstance(kind, str) else "dict")]


def _holds_parts(value: object) -> bool:
    """Whether a value is parts of a content, or one."""
    fields = fields_of(value)
    is_part = fields is not None and ("type" in fields or is_media(fields))
    return is_part or isinstance(value, (list, tuple))


def _inside(place: str, value: object, depth: int) -> Iterator[str | _Media]:
    """The pieces of a field of a part; if it holds no parts, such as arguments, its JSON."""
    if isinstance(value, str) or _holds_parts(value):
        yield from _pieces(place, value, depth + 1)
    else:
        as_json = _Sum()
        _add_value(as_json, place, value)
        yield from as_json.texts


def _text_of(place: str, kind: str, fields: Mapping[Any, Any]) -> str:
    name = TEXTS[kind]
    text = fields.get(name, fields.get("data"))  # the second of a document of text
    if isinstance(text, str):
        return text
    if text is None:
        raise ArgumentError(f"{place} has no {name} (as {{'type': {kind!r}, {name!r}: …}})")
    raise ArgumentTypeError(f"{place}.{name} must be a str, not {type(text).__name__}")


@dataclass
class _Sum:
    """Texts to count, tokens to add, and which of these are guesses."""

    texts: list[str] = field(default_factory=list)
    more: int = 0
    guesses: list[str] = field(default_factory=list)

    def json(self, place: str, value: object, *, default: Callable[[Any], Any] = str) -> None:
        """Adds a value as JSON; `default` converts values that JSON does not have."""
        try:
            self.texts.append(json.dumps(value, ensure_ascii=False, default=default))
        except ArgumentTypeError:
            raise
        except (ValueError, TypeError, RecursionError) as error:
            raise ArgumentError(f"{place} cannot be written as JSON: {error}") from None


def _by_arithmetic(
    tok: BaseTokenizer,
    model: str,
    messages: list[Any],
    tools: object,
    reply: bool,
    parts: _MediaParts,
) -> MessageCount:
    base = _base(model)
    encoding = registry.name_for_model(base)
    total = _Sum()
    if base.startswith(PRIVATE):
        like = "gpt-4o"
        basis = "the tokens of the texts, with the overhead of gpt-4o"
        total.guesses.append(f"neither the tokenizer of {model} nor its chat format is public")
    else:
        _check_chat_model(model, base, encoding)
        like = base
        basis = f"by the arithmetic that OpenAI publishes for {base}"
        if not _PUBLISHED.fullmatch(base):
            basis = "by the arithmetic that OpenAI publishes for gpt-4o"
            total.guesses.append(f"nothing is published for {model}")
        if is_fine_tuned(model):
            total.guesses.append(f"nothing is published for {model}, which is taken for {base}")
        if encoding is not None and not has_encoding(tok, encoding):
            total.guesses.append(f"this tokenizer is not {encoding}, which {model} has")
    per_message, per_name = (4, -1) if base == "gpt-3.5-turbo-0301" else (3, 1)
    for number, message in enumerate(messages):
        total.more += per_message
        _add_message(total, number, message, per_name)
    if tools is not None:
        _add_tools(total, tools, per_function=10 if re.match(r"gpt-(3\.5|4\b(?!\.))", like) else 7)
    if reply:
        total.more += _REPLY
    else:
        total.guesses.append("the prompt as it is sent ends with what begins the answer")
    tokens = sum(tok.count_batch(total.texts)) + total.more + parts.tokens
    return _labelled(tokens, basis, total.guesses + parts.guesses())


def is_fine_tuned(model: str) -> bool:
    """Whether a name is that of a model that a user of OpenAI has tuned."""
    return model.lower().startswith(_FINE_TUNED)


def _base(model: str) -> str:
    """A model's name without what fine-tuning adds, in lower case."""
    base = model.lower().removeprefix(_FINE_TUNED).partition(":")[0]
    return base.replace("gpt-35", "gpt-3.5", 1) if base.startswith("gpt-35") else base


def _check_chat_model(model: str, base: str, encoding: str | None) -> None:
    if _PUBLISHED.fullmatch(base) or _OTHER_CHAT_MODELS.fullmatch(base):
        return
    if encoding is not None:
        raise ArgumentError(f"model: {model!r} takes text, not messages (tok.count counts text)")
    names = [*registry.MODELS, "gpt-4o-mini", "gpt-oss-20b", "gpt-oss-120b", *PRIVATE]
    close = difflib.get_close_matches(base, names, 3)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise UnknownNameError(
        f"no chat format is known for a model {model!r:.60} ({hint}a model with a chat template is "
        "counted without model=)"
    )


def has_encoding(tok: BaseTokenizer, name: str) -> bool:
    """Whether a tokenizer is a published encoding, as far as a few tokens show."""
    ids, end = _PROBED.get(name, ([], -1))
    return tok.special_tokens.get("<|endoftext|>") == end and tok.encode(_PROBE) == ids


def _add_message(total: _Sum, number: int, message: object, per_name: int) -> None:
    place = f"messages[{number}]"
    fields = fields_of(message)
    if fields is None:
        raise ArgumentTypeError(
            f"{place} must be a dict, a dataclass or a pydantic model, not {type(message).__name__}"
        )
    role = fields.get("role")
    if role is None:
        raise ArgumentError(f"{place} has no role (as {{'role': 'user', 'content': …}})")
    if not isinstance(role, str):
        raise ArgumentTypeError(f"{place}.role must be a str, not {type(role).__name__}")
    if role not in ("system", "user", "assistant"):
        total.guesses.append(f"the format of {role:.40} messages is not published")
    for name, value in fields.items():
        if value is None:
            continue
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"{place}: each name of a field must be a str, not {name!r:.40}"
            )
        if name == "name":
            total.more += per_name
        if name == "tool_calls" and isinstance(value, (list, tuple)):
            _add_calls(total, f"{place}.{name}", value)
        elif name == "function_call":
            _add_calls(total, f"{place}.{name}", [{"function": value}])
        elif name in _CONTENTS and _holds_parts(value):
            total.guesses.append("how the parts of a content are joined is not published")
            texts = _pieces(f"{place}.{name}", value)
            total.texts += [text for text in texts if isinstance(text, str)]
        else:
            if name not in ("role", "content", "name") or not isinstance(value, str):
                total.guesses.append(f"how the field {name!r:.40} is written is not published")
            if isinstance(value, str):
                total.texts.append(value)
            else:
                _add_value(total, f"{place}.{name:.40}", value)


def _add_value(total: _Sum, place: str, value: object) -> None:
    """What a message holds, as JSON, if it is of the types that `Tokenizer.chat` takes."""

    def plain(inner: Any) -> Any:
        if (fields := fields_of(inner)) is not None:
            return dict(fields)
        if callable(getattr(inner, "item", None)) and getattr(inner, "shape", None) == ():
            return inner.item()
        where = place if inner is value else f"each value in {place}"
        raise ArgumentTypeError(
            f"{where} must be text, a number, a list or a dict, not {type(inner).__name__}"
        )

    total.json(place, value, default=plain)


def _add_calls(total: _Sum, place: str, calls: Iterable[Any]) -> None:
    total.guesses.append("how calls of tools are written is not published")
    for call in calls:
        function = (fields_of(call) or {}).get("function")
        total.more += _CALL
        for value in (fields_of(function) or {"call": call}).values():
            if isinstance(value, str):
                total.texts.append(value)
            elif value is not None:
                _add_value(total, place, value)


def _add_tools(total: _Sum, tools: object, *, per_function: int) -> None:
    """The definitions of functions, by the cookbook's arithmetic."""
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        raise ArgumentTypeError(
            f"tools must be a list of dicts or functions, not {type(tools).__name__}"
        )
    listed = list(tools)
    if not listed:
        return
    total.guesses.append("tools by the arithmetic that OpenAI publishes for flat schemas")
    for number, tool in enumerate(listed):
        place = f"tools[{number}]"
        if isinstance(tool, (types.FunctionType, types.MethodType)):
            from jeton.chat.schemas import schema_of

            tool = schema_of(tool, place)
        fields = fields_of(tool)
        if fields is None:
            raise ArgumentTypeError(
                f"{place} must be a function, or a dict with the JSON schema of one, not "
                f"{type(tool).__name__}"
            )
        function = fields_of(fields.get("function", fields)) or {}
        name = function.get("name")
        if not isinstance(name, str):
            total.json(place, fields)
            total.guesses.append("a tool without a name is counted as its JSON")
            continue
        total.more += per_function
        total.texts.append(f"{name}:{_without_full_stop(function)}")
        parameters = fields_of(function.get("parameters")) or {}
        _add_properties(total, place, fields_of(parameters.get("properties")) or {})
    total.more += 12


def _add_properties(total: _Sum, place: str, properties: Mapping[Any, Any]) -> None:
    if properties:
        total.more += 3
    for key, schema in properties.items():
        fields = fields_of(schema) or {}
        kind, choices = fields.get("type"), fields.get("enum", [])
        is_flat = isinstance(kind, str) and not {"items", "properties"} & {*fields}
        if not (is_flat and isinstance(choices, (list, tuple))):
            total.json(place, {str(key): schema})
            total.guesses.append("nested schemas are counted as their JSON")
            continue
        total.more += 3
        if "enum" in fields:
            total.more += -3 + 3 * len(choices)
            total.texts += map(str, choices)
        total.texts.append(f"{key}:{kind}:{_without_full_stop(fields)}")


def _without_full_stop(fields: Mapping[Any, Any]) -> str:
    """A description, without the full stop at its end."""
    description = fields.get("description")
    return description.removesuffix(".") if isinstance(description, str) else ""
