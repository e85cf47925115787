"""What all components share: checked fields, and the way to the core and back.

Look here when a component is refused with "must be", or to add a field type.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, TypeAlias

import jeton._core as _core
from jeton.arguments import check_id, check_text, token_and_id
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, UnsupportedError

__all__ = [
    "AddedFields",
    "AddedToken",
    "Component",
    "FunctionStage",
    "Regex",
    "Steps",
    "check_field_texts",
    "check_fields",
    "check_pattern",
    "check_stage",
    "one_character",
    "read_json",
    "read_stored",
    "short_repr",
    "stored_component",
]

_KINDS: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "bool": ((bool,), "a bool"),
    "int": ((int,), "an int"),
    "int | None": ((int, type(None)), "an int or None"),
    "str": ((str,), "a str"),
    "bytes": ((bytes,), "bytes"),
    "bytes | None": ((bytes, type(None)), "bytes or None"),
    "bool | None": ((bool, type(None)), "a bool or None"),
    "str | None": ((str, type(None)), "a str or None"),
    "float | None": ((float, int, type(None)), "a number or None"),
    "tuple[str, int]": ((tuple, list), "a token and its id"),
    "Vocabulary": ((Mapping,), "a mapping from tokens to ids"),
}

_MOST_INT = 2**63 - 1


def check_fields(value: Any) -> None:
    """Checks the fields of a dataclass whose annotations are among the simple ones."""
    for field in dataclasses.fields(value):
        name = f"{type(value).__name__}.{field.name}"
        given = getattr(value, field.name)
        types, expected = _KINDS.get(str(field.type), ((object,), ""))
        wrong_bool = isinstance(given, bool) and bool not in types and object not in types
        if wrong_bool or not isinstance(given, types):
            raise ArgumentTypeError(f"{name} must be {expected}, not {type(given).__name__}")
        if isinstance(given, str) and str in types:
            check_text(name, given)
        elif isinstance(given, int) and not -_MOST_INT <= given <= _MOST_INT:
            raise ArgumentError(f"{name} must be less than 2**63 in size")
        elif field.type == "tuple[str, int]":
            object.__setattr__(value, field.name, token_and_id(name, given))


def check_field_texts(owner: object, field: str, value: object) -> tuple[str, ...]:
    """Checks that a field holds texts, in any iterable but a `str`."""
    name = f"{type(owner).__name__}.{field}"
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ArgumentTypeError(f"{name} must be texts, not {type(value).__name__}")
    return tuple(check_text(f"each of {name}", text) for text in value)


def short_repr(value: Any) -> str:
    """A dataclass as its fields that are not at their defaults, with only the size of bytes."""
    given = []
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        if content != field.default:
            shown = f"<{len(content)} bytes>" if isinstance(content, bytes) else repr(content)
            given.append(f"{field.name}={shown}")
    return f"{type(value).__name__}({', '.join(given)})"


def one_character(owner: object, field: str, value: str) -> None:
    """Checks that a field, which holds a `str`, holds a single character."""
    if len(value) != 1:
        raise ArgumentError(
            f"{type(owner).__name__}.{field} must be a single character, not {value!r}"
        )


@dataclasses.dataclass(frozen=True)
class Component:
    """A stage of a tokenizer, as a value: equal to another with the same settings, unchanging."""

    STAGE: ClassVar[str]
    """The stage: `normalizer`, `pre_tokenizer`, `post_processor` or `decoder`."""
    TYPE: ClassVar[str]
    """What a `tokenizer.json` calls this kind."""
    JSON_NAMES: ClassVar[dict[str, str]] = {}
    """The fields that a `tokenizer.json` calls by another name."""

    UNREAD: ClassVar[dict[str, Any]] = {}
    """The fields that a `tokenizer.json` must hold and nothing reads."""

    _kinds: ClassVar[dict[tuple[str, str], type[Component]]] = {}

    def __init_subclass__(cls) -> None:
        if "TYPE" in cls.__dict__:
            Component._kinds[cls.STAGE, cls.TYPE] = cls

    def __post_init__(self) -> None:
        check_fields(self)

    def _built(self, *, is_raw: bool = False) -> _core.Component:
        """This component in the core, made when it is first called.

        Args:
            is_raw: Tokens are bytes as they are, and not spelled in GPT-2's characters.
        """
        name = "_raw" if is_raw else "_spelled"
        built: _core.Component | None = self.__dict__.get(name)
        if built is None:
            built = _core.Component(self.STAGE, json.dumps(self.to_dict()), is_raw)
            object.__setattr__(self, name, built)
        return built

    def __getstate__(self) -> dict[str, Any]:
        # What was built can be built again.
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(value, (_core.Component, _core.Function))
        }

    def to_json(self) -> str:
        """This component as it stands in a Hugging Face `tokenizer.json`.

        (`Matches`, `SentencePiece` and `Characters` are jeton's own: that library knows no such
        component.)
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        """What `to_json` writes, before it is text."""
        fields = {
            self.JSON_NAMES.get(field.name, field.name): _codec(field)[0](getattr(self, field.name))
            for field in dataclasses.fields(self)
        }
        return {"type": self.TYPE, **fields, **self.UNREAD}

    @classmethod
    def _from_dict(cls, stored: dict[str, Any]) -> Component:
        """The component of this class that `to_dict` gave, in the form that the core writes."""
        fields = {
            field.name: _codec(field)[1](stored[cls.JSON_NAMES.get(field.name, field.name)])
            for field in dataclasses.fields(cls)
        }
        return cls(**fields)


def check_stage(stage: type[Component], component: object) -> None:
    """Checks that what is given as a stage is one, or `None`."""
    if component is not None and not isinstance(component, stage):
        name = stage.STAGE
        raise ArgumentTypeError(
            f"{name} must be one of jeton.components.{name}s, not {type(component).__name__}"
        )


def stored_component(stage: type[Component], component: Component | None) -> dict[str, Any] | None:
    """What is given as a stage, as a `tokenizer.json` holds it."""
    check_stage(stage, component)
    return None if component is None else component.to_dict()


def read_stored(stage: str, stored: dict[str, Any] | None) -> Any:
    """A component of a stage, from what the core writes; `None` for none."""
    if stored is None:
        return None
    importlib.import_module(f"jeton.components.{stage}s")
    return Component._kinds[stage, stored["type"]]._from_dict(stored)


def read_json(stage: str, text: str) -> Any:
    """A component of a stage, from what stands in a `tokenizer.json`."""
    check_text("text", text)
    try:
        canonical = _core.canonical_component(stage, text)
    except FormatError as error:
        raise FormatError(f"text: {error}") from None
    return read_stored(stage, json.loads(canonical))


@dataclasses.dataclass(frozen=True)
class Regex:
    r"""A regular expression. Where a component takes a pattern, a `str` is a text to look for.

    The dialect is that of the library that the component comes from: Oniguruma's, as in Hugging
    Face tokenizers, but for `Matches`, whose is tiktoken's.

    Example:
        >>> from jeton.components import Regex, pre_tokenizers
        >>> pre_tokenizers.Split(Regex(r"\s+"), "removed")
        Split(pattern=Regex(source='\\s+'), behavior='removed', invert=False)
    """

    source: str

    def __post_init__(self) -> None:
        check_fields(self)


AddedFields: TypeAlias = tuple[str, int | None, tuple[bool, bool, bool, bool, bool]]
"""An added token as the core takes it: content, id, and flags in the order of the class."""


@dataclasses.dataclass(frozen=True)
class AddedToken:
    """A token that is found in text by its spelling, before any other stage sees the text.

    Args:
        content: How it is spelled.
        id: Its id; by default the id that the vocabulary has for it, or else the next free one.
        special: A control token: found only where the caller allows it (`special=`), and skipped
            in decoding on request.
        single_word: Found only as a whole word.
        lstrip: White space before it belongs to it.
        rstrip: White space after it belongs to it.
        normalized: Looked for in normalized text; by default exactly when it is not special.

    Example:
        >>> import jeton
        >>> jeton.AddedToken("<|user|>", special=True).normalized
        False
    """

    content: str
    id: int | None = None
    special: bool = dataclasses.field(default=False, kw_only=True)
    single_word: bool = dataclasses.field(default=False, kw_only=True)
    lstrip: bool = dataclasses.field(default=False, kw_only=True)
    rstrip: bool = dataclasses.field(default=False, kw_only=True)
    normalized: bool = dataclasses.field(default=None, kw_only=True)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.normalized is None:
            object.__setattr__(self, "normalized", self.special is not True)
        check_fields(self)
        if not self.content:
            raise ArgumentError("AddedToken.content must not be empty")
        if self.id is not None and self.id < 0:
            raise ArgumentError(f"AddedToken.id must not be negative, as {self.id} is")
        if self.id is not None:
            check_id("AddedToken.id", self.id)

    def _to_core(self) -> AddedFields:
        """The token as the core takes it."""
        flags = (self.special, self.single_word, self.lstrip, self.rstrip, self.normalized)
        return self.content, self.id, flags


def check_pattern(owner: object, pattern: object, dialect: str = "oniguruma") -> None:
    """Checks that a field called `pattern` holds a text or an expression of a dialect."""
    name = f"{type(owner).__name__}.pattern"
    if isinstance(pattern, Regex):
        _core.check_regex(pattern.source, dialect)
    elif isinstance(pattern, str):
        check_text(name, pattern)
    else:
        raise ArgumentTypeError(f"{name} must be a str or a Regex, not {type(pattern).__name__}")


def _same(value: object) -> Any:
    return value


def _pattern_to_json(pattern: str | Regex) -> dict[str, str]:
    return {"String": pattern} if isinstance(pattern, str) else {"Regex": pattern.source}


def _pattern_from_json(stored: dict[str, str]) -> str | Regex:
    return stored["String"] if "String" in stored else Regex(stored["Regex"])


def _camel(word: str) -> str:
    """`merged_with_next` as the format writes it: `MergedWithNext`."""
    return word.title().replace("_", "")


def _snake(word: str) -> str:
    """`MergedWithNext` as Python writes it: `merged_with_next`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in word)[1:]


def _bytes_to_json(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _or_none(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


_Codec: TypeAlias = tuple[Callable[[Any], Any], Callable[[Any], Any]]

_CODECS: Final[dict[str, _Codec]] = {
    "str | Regex": (_pattern_to_json, _pattern_from_json),
    "Behavior": (_camel, _snake),
    "bytes": (_bytes_to_json, base64.b64decode),
    "bytes | None": (_or_none(_bytes_to_json), _or_none(base64.b64decode)),
    "tuple[str, int]": (list, tuple),
    "tuple[str, ...]": (list, tuple),
    "LeadingSpaces": (_camel, _snake),
    "normalizers.SentencePiece | None": (
        _or_none(lambda normalizer: normalizer.to_dict()),
        _or_none(lambda stored: read_stored("normalizer", stored)),
    ),
}


def _codec(field: dataclasses.Field[Any]) -> _Codec:
    """How the values of a field are written and read, as its annotation says."""
    return _CODECS.get(str(field.type), (_same, _same))


class FunctionStage:
    """What a stage does that is a function of Python."""

    STAGE: ClassVar[str]
    function: Callable[[str], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ArgumentTypeError(
                f"{self.STAGE} Function.function must be a function of a str, "
                f"not {type(self.function).__name__}"
            )

    def to_json(self) -> str:
        """No file holds it.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(f"no file holds a function of Python ({self.function!r}); pickle it")

    def to_dict(self) -> dict[str, Any]:
        """How the core finds the function, as long as this component is there."""
        handle: _core.Function | None = self.__dict__.get("_handle")
        if handle is None:
            handle = _core.Function(self.function)
            object.__setattr__(self, "_handle", handle)
        return {"type": "Function", "number": handle.number}

    @classmethod
    def _from_dict(cls, stored: dict[str, Any]) -> Any:
        return cls(_core.Function.known(stored["number"]))  # type: ignore[call-arg]


class Steps:
    """What the `Sequence` of every stage does: one component after another."""

    STEP: ClassVar[type[Component]]
    """What the steps must be."""
    STEPS_NAME: ClassVar[str]
    """What a `tokenizer.json` calls them."""

    steps: tuple[Any, ...]

    def set_steps(self, given: object) -> None:
        """Sets the steps, checked to be components of one stage."""
        name = type(self).__name__
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise ArgumentTypeError(
                f"{name}.steps must be a list of components, not {type(given).__name__}"
            )
        steps = tuple(given)
        for position, step in enumerate(steps):
            if not isinstance(step, self.STEP):
                raise ArgumentTypeError(
                    f"step {position} of {name} must be a {self.STEP.__name__}, "
                    f"not {type(step).__name__}"
                )
        object.__setattr__(self, "steps", steps)

    def to_dict(self) -> dict[str, Any]:
        """What `to_json` writes, before it is text."""
        return {"type": "Sequence", self.STEPS_NAME: [step.to_dict() for step in self.steps]}

    @classmethod
    def _from_dict(cls, stored: dict[str, Any]) -> Any:
        """The sequence that `to_dict` gave."""
        steps = stored[cls.STEPS_NAME]
        return cls(tuple(read_stored(cls.STEP.STAGE, step) for step in steps))  # type: ignore[call-arg]
