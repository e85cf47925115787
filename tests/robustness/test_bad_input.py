"""Bad input: each public entry says which argument is wrong, and how."""

from __future__ import annotations

from typing import Any

import pytest

import bad_input
import bad_training
from bad_input import J
from jeton import errors
from jeton.components import (
    models,
)

ROWS = bad_input.ROWS | bad_training.ROWS


@pytest.mark.parametrize("name", ROWS)
def test_bad_input(name: str) -> None:
    call, kind, message = ROWS[name]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, J.JetonError)
    assert str(caught.value) != repr(caught.value.args[0]), "KeyError shows messages as reprs"


def test_the_tree_of_exceptions() -> None:
    expected = {
        "ArgumentError": ValueError,
        "ArgumentTypeError": TypeError,
        "ChecksumError": ValueError,
        "DecodeError": UnicodeDecodeError,
        "DownloadError": OSError,
        "EncodeError": ValueError,
        "FileError": OSError,
        "FormatError": ValueError,
        "InternalError": RuntimeError,
        "JetonError": Exception,
        "MissingFileError": FileNotFoundError,
        "SpecialTokenError": ValueError,
        "TrainingError": ValueError,
        "UnknownNameError": KeyError,
        "UnknownTokenError": KeyError,
        "UnsupportedError": ValueError,
    }
    warnings = ("ChatWarning", "FormatWarning", "TrainingWarning")
    assert sorted([*expected, *warnings]) == errors.__all__
    assert all(issubclass(getattr(errors, name), UserWarning) for name in warnings)
    for name, builtin in expected.items():
        kind = getattr(errors, name)
        assert issubclass(kind, errors.JetonError) and issubclass(kind, builtin)
        assert kind.__doc__
    assert str(errors.UnknownTokenError("plain")) == "plain"


def test_a_mistake_in_jeton_is_an_exception(capfd: pytest.CaptureFixture[str]) -> None:
    vocab: Any = {"a": 0}

    class Id:
        def __index__(self) -> int:
            vocab[str(len(vocab))] = 1
            return 1

    vocab["b"] = Id()
    vocab["c"] = 2
    with pytest.raises(errors.InternalError, match=r"changed.*please report it"):
        J.Tokenizer(models.WordLevel(vocab))
    assert capfd.readouterr() == ("", "")
