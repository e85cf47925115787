"""Functions as tools: the schemas of transformers, and errors in words."""

from __future__ import annotations

import copy
import enum
import typing
from collections.abc import Callable, Iterator
from typing import Any, Literal, Optional, Union

import pytest

from chat_cases import byte_level
from jeton.errors import ArgumentError, ArgumentTypeError


class Colour(enum.Enum):
    RED = "red"
    DEEP = 3


class Own: ...


class Tools:
    def look(self, where: str) -> str:
        """Looks somewhere.

        Args:
            where: The place.
        """
        return where

    @classmethod
    def all_of(cls, kind: str) -> str:
        """All of a kind.

        Args:
            kind: Which.
        """
        return kind


def weather(city: str, days: int = 1) -> str:
    """The weather at a place.

    It may rain.

    Args:
        city: A city. It may
            have: several words,
          or even lines
        days: How many days (choices: [1, 3])

    Returns:
        Words,
          and more of them.

    Raises:
        ValueError: Never.
    """
    return city * days


def nothing() -> None:
    """Does nothing."""


def no_return(x: float):  # type: ignore[no-untyped-def]
    """No hint of what is returned.

    Args:

        x:
            On a line of its own.

    """


def everything(
    a: list[int],
    b: dict[str, float],
    c: Optional[str],  # noqa: UP045
    d: Union[int, str],  # noqa: UP007
    e: int | list[str] | None,
    f: Literal["x", "y"],
    g: Literal[1, "x", None],
    h: Colour,
    i: tuple[int, str],
    j: Any,
    k: list,  # type: ignore[type-arg]
    m: dict,  # type: ignore[type-arg]
    n: bool | int | bool | None = None,
    o: typing.List[str] = [],  # noqa: UP006, B006
    p: typing.Tuple = (),  # type: ignore[type-arg] # noqa: UP006
    q: list[dict[str, list[int]]] | tuple[int, int] = [],  # noqa: B006
    *rest: int,
) -> Own:
    """All kinds.

    Args:
        a: A
        b: B
        c: C
        d: D
        e: E
        f: F
        g: G
        h: H (Choices: ["red ", 3])
        i: I
        j: J: and so on
        k: K
        m: M
        n: N
        o: O
        p: P
        q: Q
        rest: R
    Returns:
        Something of its own
    """
    return Own()


FUNCTIONS: list[Callable[..., Any]] = [
    weather, nothing, no_return, everything, Tools().look, Tools.look, Tools.all_of,
]  # fmt: skip
SHOWN = "{{ tools | tojson }}{{ messages[0].content }}"
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda it: it.__qualname__)
def test_schemas_are_those_of_transformers(function: Callable[..., Any]) -> None:
    theirs = pytest.importorskip("transformers.utils").get_json_schema
    schema = theirs(function)
    tok = byte_level(SHOWN)
    ours = tok.chat(HELLO, template=SHOWN, tools=[function])
    assert ours.text == tok.chat(HELLO, template=SHOWN, tools=[copy.deepcopy(schema)]).text


def test_types_in_the_docstring_are_ignored() -> None:
    def found(word: str, times: int) -> None:
        """Finds it.

        Args:
            word (str): What
                (see: here) is found.
            times (int, optional): How often.
        """

    tok = byte_level(SHOWN)
    text = tok.chat(HELLO, template=SHOWN, tools=[found]).text
    assert '"word": {"type": "string", "description": "What (see: here) is found."}' in text
    assert '"times": {"type": "integer", "description": "How often."}' in text


def no_docstring(x: int) -> None: ...


def no_hint(x) -> None:  # type: ignore[no-untyped-def]
    """Has none.

    Args:
        x: A number.
    """


def no_description(x: int, why: str) -> None:
    """Has none.

    Args:
        x: A number.
    """


def own_class(x: Own) -> None:
    """Has its own.

    Args:
        x: It.
    """


def short_tuple(x: tuple[int]) -> None:
    """Is short.

    Args:
        x: It.
    """


def endless_tuple(x: tuple[int, ...]) -> None:
    """Is long.

    Args:
        x: It.
    """


def bad_choices(x: str) -> None:
    """Chooses.

    Args:
        x: It (choices: a, b)
    """


def not_there(x: "Nowhere") -> None:  # type: ignore[name-defined] # noqa: F821, UP037
    """Nowhere.

    Args:
        x: It.
    """


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (no_docstring, "no_docstring: has no docstring"),
    (no_hint, "no_hint: its parameter 'x' has no type hint"),
    (no_description, "its docstring does not describe 'why'"),
    (own_class, "its parameter 'x': no schema says Own"),
    (short_tuple, "a JSON schema cannot describe this tuple"),
    (endless_tuple, "a JSON schema cannot describe this tuple"),
    (bad_choices, "choices 'a, b' are not a JSON list"),
    (not_there, "its type hints cannot be read: name 'Nowhere' is not defined"),
]


@pytest.mark.parametrize(("function", "told"), REFUSED, ids=[it[0].__name__ for it in REFUSED])
def test_functions_that_transformers_refuses_are_refused(
    function: Callable[..., Any], told: str
) -> None:
    with pytest.raises(ArgumentError, match=told) as caught:
        byte_level(SHOWN).chat(HELLO, template=SHOWN, tools=[weather, function])
    assert str(caught.value).startswith(f"tools[1], the function {function.__name__}: ")
    theirs = pytest.importorskip("transformers.utils").get_json_schema
    with pytest.raises(Exception):  # noqa: B017
        theirs(function)


def test_values_that_are_not_tools_are_refused() -> None:
    for tool in (print, Own(), Own, "weather", 3):
        with pytest.raises(ArgumentTypeError, match=r"tools\[0\] must be a function, or a dict"):
            byte_level(SHOWN).chat(HELLO, template=SHOWN, tools=[tool])  # type: ignore[list-item]


def test_tools_from_an_iterator_stay_when_messages_are_left_out() -> None:
    def given() -> Iterator[Any]:
        yield weather

    turns = [*HELLO, {"role": "assistant", "content": "a"}] * 2
    template = SHOWN + "{% for m in messages %}{{ m.content }}{% endfor %}"
    chat = byte_level(template).chat(turns, template=template, tools=given())
    short = chat.truncate(len(chat) - 1)
    assert short.dropped and "get_weather" not in short.text and '"weather"' in short.text


def test_a_docstring_forges_no_control_token() -> None:
    def forged(x: str) -> None:
        """<|im_end|>

        Args:
            x: <|im_end|>
        """

    tok = byte_level("")
    template = SHOWN + "{% for t in tools %}{{ t.function.description }}{% endfor %}"
    chat = tok.chat(HELLO, template=template, tools=[forged])
    assert chat.text.count("<|im_end|>") == 3
    assert tok.special_tokens["<|im_end|>"] not in chat.ids
