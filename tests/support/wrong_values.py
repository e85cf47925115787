"""Wrong values for everything public: what `test_wrong_values.py` calls, and with what.

Look here to have a new function, class or method called with wrong values: add its module to
`modules`, a way to make one to `OWNERS`, and a good value for each parameter that must be given
to `GOOD`, by the parameter's name or by that of the call and the parameter.
"""

from __future__ import annotations

import datetime
import inspect
import math
import types
import warnings
from collections import UserDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

import jeton
from jeton import analysis, chat, components, cost, errors, samples
from jeton.components import decoders as d
from jeton.components import models as m
from jeton.components import normalizers as n
from jeton.components import post_processors as pp
from jeton.components import pre_tokenizers as p
from kinds import ranks

STAGES = (n, p, m, pp, d)


def modules() -> list[types.ModuleType]:
    """The modules whose `__all__` is public, but for those that raise what another library does."""
    return [jeton, components, *STAGES, samples, analysis, cost]


class Anything:
    """What takes any arguments."""

    def __init__(self, *_: object, **__: object) -> None: ...


WRONG: dict[str, Any] = {
    "None": None,
    "a bool": True,
    "negative": -1,
    "a huge int": 2**70,
    "a float": 1.5,
    "no number": math.nan,
    "no text": "",
    "a lone surrogate": "\ud800",
    "NUL": "\0",
    "a long text": "x" * 5_000,
    "a home of nobody": "~nobody-at-all/x",
    "bytes": b"\xff",
    "a list of None": [None],
    "a list of texts": ["a"],
    "a list of bad numbers": [-1, 2**70],
    "a list of lists": [[1, [2]]],
    "an empty list": [],
    "a dict of None": {None: None},
    "a dict of wrong pairs": {"a": "b", 1: 2},
    "a set of mixed types": {1, "a"},
    "an object": object(),
    "a class": Anything,
    "a generator that fails": "replaced by a new one for each call",
    "an array of floats": np.zeros((2, 2)),
    "big-endian": np.array([1, 2**20], dtype=">i4"),
    "a component of no stage": d.Fuse(),
}
"""What no parameter, or hardly any, can make sense of."""


class Failed(Exception):
    """What a generator of the caller raises; it comes out as it is."""


def failing() -> Iterator[Any]:
    """A generator that fails at once."""
    raise Failed
    yield


TOK = ranks()
PIECES = jeton.UnigramTrainer(20, hard_vocab_limit=False).train(["the weather", "there"])
BYTES = {bytes([byte]): byte for byte in range(256)}
COUNTS = jeton.WordCounts([("hello", 3), ("help", 1)])
PRICE = cost.Price(input=2, output=8)

EVALUATION = analysis.evaluate(TOK, ["the"])

OWNERS: dict[type | str, Callable[[], Any]] = {
    jeton.Tokenizer: lambda: TOK,
    "Tokenizer.nbest": lambda: PIECES,
    "Tokenizer.as_xgrammar": lambda: TOK.with_added_tokens(
        [jeton.AddedToken("<e>", special=True)]
    ).replace(roles={"eos": "<e>"}),
    "Tokenizer.as_llguidance": lambda: TOK.with_added_tokens(
        [jeton.AddedToken("<e>", special=True)]
    ).replace(roles={"eos": "<e>"}),
    "Tokenizer.chat": lambda: TOK.replace(chat_template="{{ messages[0].content }}"),
    "Tokenizer.count_messages": lambda: TOK.replace(chat_template="{{ messages[0].content }}"),
    "Tokenizer.fit_messages": lambda: TOK.replace(chat_template="{{ messages[0].content }}"),
    "Tokenizer.parse": lambda: TOK.replace(chat_template=chat.TEMPLATES["chatml"]),
    "Tokenizer.parse_stream": lambda: TOK.replace(chat_template=chat.TEMPLATES["chatml"]),
    jeton.Encoding: lambda: TOK.encode_with_spans("the theory"),
    jeton.CountedText: lambda: TOK.counted_text("the theory"),
    jeton.TokenBatch: lambda: TOK.encode_batch(["the", "theory there"]),
    jeton.BatchEncoding: lambda: TOK(["the theory", "there"]),
    jeton.PaddedBatch: lambda: TOK.encode_batch(["the", "theory there"]).pad(),
    jeton.WordCounts: lambda: COUNTS,
    jeton.BPETrainer: lambda: jeton.BPETrainer(260),
    jeton.CharTrainer: lambda: jeton.CharTrainer(),
    jeton.UnigramTrainer: lambda: jeton.UnigramTrainer(30, hard_vocab_limit=False),
    jeton.WordPieceTrainer: lambda: jeton.WordPieceTrainer(40),
    m.Model: lambda: m.WordLevel({b"[UNK]": 0}),
    analysis.Comparison: lambda: analysis.compare({"it": TOK}, ["the"]),
    analysis.Evaluation: lambda: EVALUATION,
    analysis.Health: lambda: analysis.check(TOK, only=["id-gap"]),
    analysis.Difference: lambda: analysis.diff(TOK, PIECES, LINES),
    analysis.OnlyToken: lambda: analysis.diff(TOK, PIECES, LINES).only_a[0],
    analysis.Stretch: lambda: analysis.diff(TOK, PIECES, LINES).stretches[0],
    analysis.Sweep: lambda: analysis.sweep(LINES, sizes=[258], families=["bpe"], held_out=0.6),
    analysis.Usage: lambda: TOK.usage(["the theory"]),
    cost.Price: lambda: PRICE,
    cost.Cost: lambda: cost.estimate(9, PRICE),
}
"""An object of each class that has methods; for single methods, one that has what they need."""

LINES: list[str] = ["hello hello help", "the weather there"]

GOOD: dict[str, Any] = {
    "WordCounts.mixed.counts": [COUNTS],
    "WordCounts.mixed.weights": [1],
    "WordCounts.scaled.factor": 2,
    "text": "the theory",
    "a": TOK,
    "b": PIECES,
    "encoding": TOK.encode_with_spans("the theory"),
    "max_length": 2,
    "length": 9,
    "pad_id": 0,
    "texts": ["the", "theory"],
    "ids": [1, 2],
    "max_tokens": 100,
    "batch": [[1], [2, 3]],
    "id": 65,
    "n": 2,
    "token": b"a",
    "multiple_of": 8,
    "function": str.lower,
    "names": {"<|pad|>": "<|fill|>"},
    "tokens": ["<|new|>"],
    "format": "tokenizer.json",
    "data": LINES,
    "vocab": {b"a": 0, b"[UNK]": 1},
    "merges": [],
    "events": [],
    "models.PickyBPE.vocab": {bytes([byte]): byte for byte in range(256)},
    "pattern": "gpt2",
    "content": "x",
    "name": "essays",
    "source": "gpt2",
    "limit": 1 << 20,
    "prefix": "x",
    "charsmap": b"",
    "delimiter": "-",
    "steps": [],
    "sep": ("[SEP]", 1),
    "cls": ("[CLS]", 2),
    "piece": "$A",
    "proto": b"",
    "pieces": [(b"a", -1.0)],
    "model": m.BPE(BYTES, []),
    "ranks": BYTES,
    "words": [("a", 1)],
    "counts": COUNTS,
    "other": COUNTS,
    "offsets": [0, 2],
    "vocab_size": 300,
    "spans": [(0, 1)],
    "mask": np.ones((1, 2), bool),
    "phase": "counting",
    "done": 1,
    "total": 2,
    "rows": [[1], [2]],
    "count": 2,
    "path": "somewhere.json",
    "folder": "somewhere",
    "special_tokens_mask": [0],
    "word_ids": [0],
    "post_processors.TemplateToken.ids": [1],
    "models.Superwords.words": m.BPE(BYTES, []),
    "models.Superwords.pre_tokenizer": p.ByteLevel(add_prefix_space=False),
    "load.source": "tokenizer.json",
    "behavior": "isolated",
    "analysis.Usage.ids": [0, 2],
    "analysis.Value.value": 4.5,
    "unit": "tokens",
    "how": "of all texts",
    "analysis.Curve.x": (1, 2),
    "analysis.Curve.y": (3, 4),
    "width": 8,
    "depth": 2,
    "heads": 2,
    "context": 4,
    "x_unit": "tokens",
    "y_unit": "tokens",
    "tokenizers": {"it": TOK},
    "analysis.Evaluation.from_dict.record": EVALUATION.to_dict(),
    "analysis.Comparison.from_dict.record": analysis.Comparison({"it": EVALUATION}).to_dict(),
    "analysis.Health.from_dict.record": analysis.check(TOK, only=["id-gap"]).to_dict(),
    "analysis.Sweep.from_dict.record": {"format": "jeton sweep"},
    "analysis.Comparison.changes.other": analysis.Comparison({"it": EVALUATION}),
    "analysis.Usage.counts": [1, 2],
    "analysis.Usage.from_dict.record": TOK.usage(["the theory"]).to_dict(),
    "tok": TOK,
    "tok_a": TOK,
    "tok_b": TOK,
    "analysis.diff.corpus": LINES,
    "analysis.sweep.corpus": [f"the weather {n}" for n in range(40)],
    "points": [(0, 0), (1, 6), (2, 8)],
    "baseline": analysis.check(TOK, only=["id-gap"]),
    "severity": "note",
    "documents": 1,
    "bytes": 5,
    "tokenizer": "a digest",
    "corpus": "a digest",
    "share": 0.5,
    "type_ids": [0],
    "sequence_ids": [0],
    "single_token_bytes": b"a",
    "text_or_token": "a",
    "word": "a",
    "input": 2,
    "cost.Cost.input": Decimal(2),
    "cost.Cost.cached": Decimal(1),
    "cost.Cost.output": Decimal(1),
    "on": datetime.date(2026, 11, 23),
    "amount": Decimal(2),
    "price": PRICE,
    "input_tokens": 9,
    "cached_tokens": 1,
    "output_tokens": 1,
    "exact": True,
    "notes": (),
    "messages": [{"role": "user", "content": "the theory"}],
    "device": "cpu",
    "batch_or_token_index": 0,
    "batch_or_char_index": 0,
    "batch_or_word_index": 0,
    "start": 0,
    "end": 3,
}
"""Values that make sense, for parameters that must be given."""

NOT_PUBLIC = {
    "Chunk",
    "Truncated",
    "WordCounts.of_core",
    "analysis.Case",
    "analysis.Case.from_dict",
    "analysis.Change",
    "analysis.Comparison",
    "analysis.Curve.from_dict",
    "analysis.Difference",
    "analysis.Evaluation",
    "analysis.Finding",
    "analysis.Finding.from_dict",
    "analysis.Health",
    "analysis.Measure",
    "analysis.Measured",
    "analysis.ModelCost",
    "analysis.Measured.from_dict",
    "analysis.OnlyToken",
    "analysis.Point",
    "analysis.Point.from_dict",
    "analysis.Rule",
    "analysis.SkippedSize",
    "analysis.SkippedSize.from_dict",
    "analysis.Stretch",
    "analysis.Sweep",
    "analysis.Value.from_dict",
    "analysis.Value.ratio",
}
"""What takes or gives objects of the core, which only jeton itself has; results that it makes."""

OTHER_NAMES = {
    "data": ("corpus", "the text"),
    "corpus": ("data",),
    "held_out": ("data", "corpus"),
    "from_json.text": ("tokenizer.json",),
}
"""What messages call a parameter, of one call or of all, where not by its name."""


@dataclass(frozen=True)
class Call:
    """Something that can be called with arguments by name."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[inspect.Parameter, ...]


def calls(given: Iterable[types.ModuleType] | None = None) -> list[Call]:
    """Everything public that takes arguments, of these modules or of `modules()`."""
    found: dict[str, Call] = {}
    for module in modules() if given is None else given:
        for name in module.__all__:
            thing = getattr(module, name)
            place = name if module is jeton else f"{module.__name__.rpartition('.')[2]}.{name}"
            if inspect.isclass(thing):
                if not issubclass(thing, BaseException):
                    _add_class(found, place, thing)
            elif callable(thing):
                _add(found, place, thing)
    return list(found.values())


def _add_class(found: dict[str, Call], place: str, made: type) -> None:
    if place not in NOT_PUBLIC:
        _add(found, place, made)
    _add_methods(found, place, made)


def _add_methods(found: dict[str, Call], place: str, owner: type) -> None:
    for name in dir(owner):
        if name.startswith("_") or f"{place}.{name}" in NOT_PUBLIC or hasattr(UserDict, name):
            continue
        static = inspect.getattr_static(owner, name)
        if isinstance(static, (classmethod, staticmethod)):
            _add(found, f"{place}.{name}", getattr(owner, name))
        else:
            make = OWNERS.get(f"{place}.{name}") or OWNERS.get(owner)
            if make is not None and callable(getattr(make(), name, None)):
                _add(found, f"{place}.{name}", _on_new(make, name))


def _on_new(make: Callable[[], Any], name: str) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        return getattr(make(), name)(**arguments)

    call.__signature__ = inspect.signature(getattr(make(), name))  # type: ignore[attr-defined]
    return call


def _add(found: dict[str, Call], place: str, function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return
    parameters = tuple(
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )
    if parameters:
        found[place] = Call(place, function, parameters)


def good(call: Call, parameter: inspect.Parameter) -> Any:
    """A value for a parameter that makes sense."""
    place = call.name.split(".")[0]
    for name in (f"{call.name}.{parameter.name}", f"{place}.{parameter.name}", parameter.name):
        if name in GOOD:
            return GOOD[name]
    raise AssertionError(f"wrong_values.GOOD has no value for {call.name}.{parameter.name}")


def is_named(call: Call, parameter: str, value: object, message: str) -> bool:
    """Whether an error's message says which argument it is about: its name, or what it was."""
    short = call.name.rpartition(".")[2]
    others = (*OTHER_NAMES.get(parameter, ()), *OTHER_NAMES.get(f"{short}.{parameter}", ()))
    if any(name in message for name in (parameter, parameter.removesuffix("s"), *others)):
        return True
    if not isinstance(value, (str, bytes)) or not value:
        return False
    return str(value)[:40] in message or repr(value) in message


def accepted(error: BaseException) -> bool:
    """Whether an exception is one that a caller of jeton may meet."""
    return isinstance(error, errors.JetonError) and not isinstance(error, errors.InternalError)


def taken_amiss(call: Call, tidy: Callable[[], object] = lambda: None) -> Iterator[str]:
    """The wrong values that a call does not take or refuse as it should, with what it says.

    `tidy` removes what a call may have left behind.
    """
    given: dict[str, Any] = {
        parameter.name: good(call, parameter)
        for parameter in call.parameters
        if parameter.default is parameter.empty
    }
    for parameter in call.parameters:
        for what, value in WRONG.items():
            if parameter.name in ("watch", "progress", "function") and callable(value):
                continue  # whatever can be called will do
            value = failing() if what == "a generator that fails" else value
            told = _outcome(call, {**given, parameter.name: value}, parameter.name)
            tidy()
            if told is not None:
                yield f"{parameter.name} = {what}: {told}"


def _outcome(call: Call, arguments: dict[str, Any], parameter: str) -> str | None:
    """What is wrong with how a call ends, if something is."""
    value = arguments[parameter]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call.function(**arguments)
            repr(result)
    except Failed:
        return None
    except Exception as error:
        if not accepted(error):
            return f"{type(error).__name__}: {str(error)[:200]}"
        if not is_named(call, parameter, value, str(error)):
            return f"does not name it: {type(error).__name__}: {str(error)[:200]}"
    return None
