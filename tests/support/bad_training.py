"""Calls of trainers with bad input, by name, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jeton
from jeton import errors
from jeton.components import pre_tokenizers

J: Any = jeton


def never() -> Iterator[str]:
    """A corpus that must not be read, since an argument is wrong."""
    raise AssertionError("the corpus was read")
    yield


ROWS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "trainer size": (lambda: J.BPETrainer("x"), TypeError, "vocab_size must be an int"),
    "trainer size negative": (
        lambda: J.BPETrainer(-1),
        ValueError,
        "vocab_size must be at least 0, not -1",
    ),
    "trainer small": (
        lambda: J.BPETrainer(10),
        errors.ArgumentError,
        "vocab_size 10 does not hold",
    ),
    "trainer small with special tokens": (
        lambda: J.BPETrainer(256, special_tokens=["<|end|>"]),
        errors.ArgumentError,
        "vocab_size 256 does not hold 1 special token and",
    ),
    "trainer small of several": (
        lambda: J.BPETrainer([300, 20]),
        errors.ArgumentError,
        "vocab_size 20 does not hold",
    ),
    "trainer temp_dir": (
        lambda: J.BPETrainer(300).train(never(), temp_dir="no-such-folder"),
        errors.FileError,
        "temp_dir 'no-such-folder' is not a folder",
    ),
    "trainer watch": (
        lambda: J.BPETrainer(300).train(never(), watch=1),
        errors.ArgumentTypeError,
        "watch must be callable or None, not int",
    ),
    "unigram watch": (
        lambda: J.UnigramTrainer(300).train(never(), watch="x"),
        errors.ArgumentTypeError,
        "watch must be callable",
    ),
    "trainer watch of counts": (
        lambda: J.BPETrainer(300).train(J.WordCounts([("a", 1)]), watch=1),
        errors.ArgumentTypeError,
        "watch must be callable",
    ),
    "trainer str paths": (
        lambda: J.BPETrainer(300).train([__file__, __file__]),
        errors.ArgumentError,
        "pathlib.Path",
    ),
    "trainer paths and texts": (
        lambda: J.BPETrainer(300).train([Path(__file__), "text"]),
        errors.ArgumentTypeError,
        "item 1 of data must be a path like the first, not str",
    ),
    "trainer tie_break": (
        lambda: J.BPETrainer(tie_break="frist"),
        ValueError,
        'did you mean "first"',
    ),
    "trainer pattern": (lambda: J.BPETrainer(pattern="gtp4"), ValueError, 'did you mean "gpt4"'),
    "trainer both": (
        lambda: J.BPETrainer(pattern="gpt4", pre_tokenizer=pre_tokenizers.Digits()),
        ValueError,
        "give one",
    ),
    "trainer special": (lambda: J.BPETrainer(special_tokens="x"), TypeError, "special_tokens"),
    "trainer no file": (
        lambda: J.BPETrainer(300).train("no-such-*.txt"),
        FileNotFoundError,
        "pass it in a list",
    ),
    "trainer text of many parts": (
        lambda: J.BPETrainer(300).train("*/" * 2_000),
        FileNotFoundError,
        "pass it in a list",
    ),
    "trainer bytes": (lambda: J.BPETrainer(300).train(b"x"), TypeError, "data must be"),
    "trainer of ints": (lambda: J.BPETrainer(300).train([1]), TypeError, "text 0 of data"),
    "char trainer empty": (lambda: J.CharTrainer().train(""), errors.TrainingError, "characters"),
    "char trainer unk": (lambda: J.CharTrainer(unk_token=1), TypeError, "unk_token"),
    "char trainer path": (lambda: J.CharTrainer().train(__file__), ValueError, "pathlib.Path"),
    "char trainer data": (lambda: J.CharTrainer().train(1), TypeError, "data must be"),
    "char trainer missing": (
        lambda: J.CharTrainer().train(Path("no-such.txt")),
        FileNotFoundError,
        "no-such.txt",
    ),
}
