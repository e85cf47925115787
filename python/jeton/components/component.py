"""What all components share: checked fields, and the conversion to the core and back.

Look here for the "must be" errors of components, or to add a field type.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar, cast

import jeton._core as _core
from jeton.arguments import check_id, check_kind, check_text, checked_iterable, token_and_id
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, UnsupportedError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from typing_extensions import Self

_Stage = TypeVar("_Stage", bound="Component")

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

_MAX_INT = 2**63 - 1


def check_fields(owner: object) -> None:
    """Checks the fields of a dataclass that have one of the simple annotations."""
    for field in dataclasses.fields(cast("DataclassInstance", owner)):
        name = f"{type(owner).__name__}.{field.name}"
        value = getattr(owner, field.name)
        types, kinds = _KINDS.get(str(field.type), ((object,), ""))
        wrong_bool = isinstance(value, bool) and bool not in types and object not in types
        if wrong_bool or not isinstance(value, types):
            raise ArgumentTypeError(f"{name} must be {kinds}, not {type(value).__name__}")
        if isinstance(value, str) and str in types:
            check_text(name, value)
        elif isinstance(value, int) and not -_MAX_INT <= value <= _MAX_INT:
            raise ArgumentError(f"{name} must be less than 2**63 in size")
        elif field.type == "tuple[str, int]":
            object.__setattr__(owner, field.name, token_and_id(name, value))


def check_field_texts(owner: object, field: str, value: object) -> tuple[str, ...]:
    """Checks that a field holds texts, in any iterable except a `str`."""
    name = f"{type(owner).__name__}.{field}"
    value = checked_iterable(name, value, "texts")
    return tuple(check_text(f"each of {name}", text) for text in value)


def short_repr(owner: DataclassInstance) -> str:
    """A `repr` with the fields that are not at their defaults, and only the size of bytes."""
    fields = []
    for field in dataclasses.fields(owner):
        value = getattr(owner, field.name)
        if value != field.default:
            text = f"<{len(value)} bytes>" if isinstance(value, bytes) else repr(value)
            fields.append(f"{field.name}={text}")
    return f"{type(owner).__name__}({', '.join(fields)})"


def in_words(component: Component) -> str:
    """A component for people: its name, and the settings that are not at their defaults.

    >>> from jeton.components import Regex, pre_tokenizers
    >>> in_words(pre_tokenizers.Split(Regex(r" +"), "removed"))
    "Split pattern=·+ behavior='removed'"
    """
    words = [type(component).__name__]
    for field in dataclasses.fields(component):
        value = getattr(component, field.name)
        if value != field.default and (text := _setting_in_words(value)):
            words.append(f"{field.name}={text}")
    return " ".join(words)


def _setting_in_words(value: object) -> str:
    """A setting in a few words; a long value is only counted."""
    match value:
        case Regex():
            return value.source.replace(" ", "·")
        case bytes():
            return f"<{len(value):,} bytes>"
        case tuple() if len(value) > 8:
            return f"<{len(value):,} of them>"
        case tuple():
            return " ".join(str(getattr(item, "name", item)) for item in value)
    return repr(value)


def one_character(owner: object, field: str, value: str) -> None:
    """Checks that a field, which holds a `str`, holds a single character."""
    if len(value) != 1:
        raise ArgumentError(
            f"{type(owner).__name__}.{field} must be a single character, not {value!r}"
        )


@dataclasses.dataclass(frozen=True)
class Component:
    """A stage of a tokenizer as an immutable value: it equals others with the same settings.

    The name of its class is its `type` in a `tokenizer.json`.
    """

    STAGE: ClassVar[str]
    """The stage: `normalizer`, `pre_tokenizer`, `post_processor` or `decoder`."""
    JSON_NAMES: ClassVar[dict[str, str]] = {}
    """The fields that have another name in a `tokenizer.json`."""

    UNREAD: ClassVar[dict[str, object]] = {}
    """Fields that a `tokenizer.json` must have, although nothing reads them."""

    _kinds: ClassVar[dict[tuple[str, str], type[Component]]] = {}

    def __init_subclass__(cls) -> None:
        Component._kinds[cls.STAGE, cls.__name__] = cls

    def __post_init__(self) -> None:
        check_fields(self)

    def _in_core(self, *, is_raw: bool = False) -> _core.Component:
        """This component in the core, built at its first use.

        Args:
            is_raw: Whether tokens are plain bytes, not spelled in GPT-2's characters.
        """
        name = "_raw" if is_raw else "_spelled"
        component: _core.Component | None = self.__dict__.get(name)
        if component is None:
            component = _core.Component(self.STAGE, json.dumps(self.to_dict()), is_raw)
            object.__setattr__(self, name, component)
        return component

    def __getstate__(self) -> dict[str, object]:
        # Components of the core are not pickled: they are built again.
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(value, (_core.Component, _core.Function))
        }

    def to_json(self) -> str:
        """This component as JSON, as in a Hugging Face `tokenizer.json`.

        (`Matches`, `SentencePiece` and `Characters` are jeton's own: Hugging Face tokenizers does
        not know them.)
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_dict(self) -> dict[str, object]:
        """The JSON of `to_json` as a dict."""
        fields = {
            self.JSON_NAMES.get(field.name, field.name): _codec(field)[0](getattr(self, field.name))
            for field in dataclasses.fields(self)
        }
        return {"type": type(self).__name__, **fields, **self.UNREAD}

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Component:
        """The component of a dict of `to_dict`, as the core writes it."""
        fields = {
            field.name: _codec(field)[1](data[cls.JSON_NAMES.get(field.name, field.name)])
            for field in dataclasses.fields(cls)
        }
        return cls(**fields)


def check_stage(stage: type[Component], component: object) -> None:
    """Checks that a component is one of a stage, or `None`."""
    if component is not None and not isinstance(component, stage):
        name = stage.STAGE
        raise ArgumentTypeError(
            f"{name} must be one of jeton.components.{name}s, not {type(component).__name__}"
        )


def stored_component(
    stage: type[Component], component: Component | None
) -> dict[str, object] | None:
    """A component of a stage as a `tokenizer.json` holds it."""
    check_stage(stage, component)
    return None if component is None else component.to_dict()


def read_stored(stage: str, data: dict[str, Any] | None) -> Component | None:
    """A component of a stage from the dict that the core writes; `None` for none."""
    if data is None:
        return None
    importlib.import_module(f"jeton.components.{stage}s")
    return Component._kinds[stage, data["type"]]._from_dict(data)


def read_json(stage: type[_Stage], text: str) -> _Stage:
    """A component of a stage from its JSON in a `tokenizer.json`."""
    check_text("text", text)
    try:
        canonical = _core.canonical_component(stage.STAGE, text)
    except FormatError as error:
        raise FormatError(f"text: {error}") from None
    return cast("_Stage", read_stored(stage.STAGE, json.loads(canonical)))


@dataclasses.dataclass(frozen=True)
class Regex:
    r"""A regular expression. If a component takes a pattern, a plain `str` is matched literally.

    The dialect is that of the library that the component comes from: tiktoken's for `Matches`, and
    Oniguruma's for all others, as in Hugging Face tokenizers.

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
    """A token that is matched in text by its spelling, before any other stage sees the text.

    Args:
        content: Its spelling.
        id: Its id; by default the id that the vocabulary has for it, or else the next free one.
        special: Whether it is a control token: matched only if the caller allows it (`special=`),
            and skipped in decoding on request.
        single_word: Whether it is matched only as a whole word.
        lstrip: Whether white space before it belongs to it.
        rstrip: Whether white space after it belongs to it.
        normalized: Whether it is matched in normalized text; by default if it is not special.

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
    """Checks that a field named `pattern` holds a text or an expression of a dialect."""
    name = f"{type(owner).__name__}.pattern"
    if isinstance(pattern, Regex):
        _core.check_regex(pattern.source, dialect)
    elif isinstance(pattern, str):
        check_text(name, pattern)
    else:
        raise ArgumentTypeError(f"{name} must be a str or a Regex, not {type(pattern).__name__}")


_T = TypeVar("_T")


def _same(value: _T) -> _T:
    return value


def _pattern_to_json(pattern: str | Regex) -> dict[str, str]:
    return {"String": pattern} if isinstance(pattern, str) else {"Regex": pattern.source}


def _pattern_from_json(data: dict[str, str]) -> str | Regex:
    return data["String"] if "String" in data else Regex(data["Regex"])


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
        _or_none(lambda data: read_stored("normalizer", data)),
    ),
}


def _codec(field: dataclasses.Field[Any]) -> _Codec:
    """The functions that write and read the values of a field, by its annotation."""
    return _CODECS.get(str(field.type), (_same, _same))


class FunctionStage:
    """The methods of a stage that is a Python function."""

    STAGE: ClassVar[str]
    function: Callable[[str], object]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ArgumentTypeError(
                f"{self.STAGE} Function.function must be a function of a str, "
                f"not {type(self.function).__name__}"
            )

    def to_json(self) -> str:
        """Raises an error: no file can hold a function.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            f"no file can hold a Python function ({self.function!r}); pickle the component instead"
        )

    def to_dict(self) -> dict[str, object]:
        """The number by which the core finds the function, while this component exists."""
        handle: _core.Function | None = self.__dict__.get("_handle")
        if handle is None:
            handle = _core.Function(self.function)
            object.__setattr__(self, "_handle", handle)
        return {"type": "Function", "number": handle.number}

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Self:
        return cls(_core.Function.known(data["number"]))  # type: ignore[call-arg]


class Steps:
    """The methods of the `Sequence` of every stage: one component after another."""

    STAGE: ClassVar[str]
    STEPS_NAME: ClassVar[str]
    """The name of the steps in a `tokenizer.json`."""

    steps: tuple[Any, ...]

    def set_steps(self, value: object) -> None:
        """Sets the steps, after a check that they are components of one stage."""
        name = type(self).__name__
        value = checked_iterable(f"{name}.steps", value, "a list of components")
        steps = tuple(value)
        kind = next(base for base in type(self).__bases__ if issubclass(base, Component))
        for position, step in enumerate(steps):
            check_kind(f"step {position} of {name}", step, kind, f"a {kind.__name__}")
        object.__setattr__(self, "steps", steps)

    def to_dict(self) -> dict[str, object]:
        """The JSON of `to_json` as a dict."""
        return {"type": "Sequence", self.STEPS_NAME: [step.to_dict() for step in self.steps]}

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Self:
        """The sequence of a dict of `to_dict`."""
        steps = data[cls.STEPS_NAME]
        return cls(tuple(read_stored(cls.STAGE, step) for step in steps))  # type: ignore[call-arg]


def steps_of(stage: _Stage | None) -> list[_Stage]:
    """The steps of a stage, also those of a `Sequence` inside another; none without a stage."""
    if isinstance(stage, Steps):
        return [inner for step in stage.steps for inner in steps_of(step)]
    return [] if stage is None else [stage]
