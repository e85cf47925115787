"""Functions of Python as normalizers and pre-tokenizers: in training and encoding, in no file."""

from __future__ import annotations

import functools
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError

CORPUS = ["the weather there", "then the theory, the Weather"] * 3


def lowered(text: str) -> str:
    return text.lower()


def words(text: str) -> list[str]:
    return text.split(" ")


def trained(**stages: Any) -> jeton.Tokenizer:
    stages.setdefault("pre_tokenizer", pre_tokenizers.Function(words))
    return jeton.BPETrainer(270, special_tokens=["<|end|>"], **stages).train(CORPUS)


def test_training_and_encoding_are_those_of_the_same_component() -> None:
    functions = trained(normalizer=normalizers.Function(lowered))
    components = trained(
        normalizer=normalizers.Lowercase(), pre_tokenizer=pre_tokenizers.Split(" ", "removed")
    )
    assert functions.vocab == components.vocab and functions.vocab.merges == components.vocab.merges
    for text in [*CORPUS, "", " ", "The WEATHER  there", "É x", "a<|end|>B"]:
        for special in ("ignore", "allow"):
            theirs = components.encode_with_spans(text, special=special)
            ours = functions.encode_with_spans(text, special=special)
            assert ours.ids == theirs.ids == functions.encode(text, special=special)
            assert functions.encode_batch([text] * 3, special=special).tolist() == [ours.ids] * 3
            assert functions.count(text, special=special) == len(ours.ids)
            assert functions.explain(text, special=special).ids == ours.ids
    assert functions.stages.encoding_plan().strategy == "stages"


def test_the_vocabulary_is_pickled_without_the_functions() -> None:
    tok = trained(normalizer=normalizers.Function(lambda text: text))
    copied = pickle.loads(pickle.dumps(tok.vocab))
    assert copied == tok.vocab and copied.merges == tok.vocab.merges
    assert copied.token_bytes(256) == tok.vocab.token_bytes(256)


REWRITES: dict[str, tuple[Callable[[str], Any], str, str, list[tuple[int, int]]]] = {
    "nothing": (lambda text: text, "añb", "añb", [(0, 1), (1, 2), (2, 3)]),
    "the middle": (
        lambda text: text.replace("--", "—"),
        "a--b",
        "a—b",
        [(0, 1), (1, 3), (3, 4)],
    ),
    "more at the end": (lambda text: text + "!", "ab", "ab!", [(0, 1), (1, 2), (1, 2)]),
    "parts": (
        lambda text: [(character * 2, 1) for character in text],
        "aé",
        "aaéé",
        [(0, 1), (0, 1), (1, 2), (1, 2)],
    ),
    "a part left out": (
        lambda text: [("", 1), (text[1:], len(text) - 1)],
        "xab",
        "ab",
        [(1, 3), (1, 3)],
    ),
    "everything": (lambda text: "z", "ab", "z", [(0, 2)]),
}


@pytest.mark.parametrize("name", REWRITES)
def test_spans_of_what_a_normalizer_gives(name: str) -> None:
    function, text, expected, spans = REWRITES[name]
    normalized = normalizers.Function(function).with_spans(text)
    assert normalized.text == expected
    if name != "more at the end":  # what is inserted has an empty span, where it stands
        assert normalized.spans == spans


CUTS: dict[str, tuple[Callable[[str], Any], str, list[tuple[str, tuple[int, int]]]]] = {
    "pieces": (str.split, " é  be", [("é", (1, 2)), ("be", (4, 6))]),
    "pairs": (lambda text: [(0, 1), (2, 4)], "éabc", [("é", (0, 1)), ("bc", (2, 4))]),
    "nothing": (lambda text: [], "ab", []),
    "an empty piece": (lambda text: ["", "ab"], "ab", [("ab", (0, 2))]),
}


@pytest.mark.parametrize("name", CUTS)
def test_pieces(name: str) -> None:
    function, text, pieces = CUTS[name]
    assert pre_tokenizers.Function(function)(text) == pieces


WRONG_TEXTS: dict[str, tuple[Any, type[Exception], str]] = {
    "an int": (1, ArgumentTypeError, "must be a str"),
    "parts that are too long": ([("a", 9)], ArgumentError, "more characters than"),
    "parts without lengths": (["a"], ArgumentTypeError, "must be a str"),
    "half a surrogate": ("\ud800", ArgumentError, "not valid Unicode"),
}
WRONG_PIECES: dict[str, tuple[Any, type[Exception], str]] = {
    "a str": ("ab", ArgumentTypeError, "a list of pieces"),
    "an int": ([1], ArgumentTypeError, "a list of pieces"),
    "another text": (["x"], ArgumentError, 'the piece "x" .* is not in the text'),
    "out of order": ([(1, 2), (0, 1)], ArgumentError, r"\(0, 1\).* overlaps"),
    "beyond the end": ([(0, 9)], ArgumentError, r"\(0, 9\)"),
    "backwards": ([(2, 1)], ArgumentError, r"\(2, 1\)"),
}


@pytest.mark.parametrize("name", WRONG_TEXTS)
def test_results_that_are_not_texts_are_refused(name: str) -> None:
    given, error, message = WRONG_TEXTS[name]
    tok = trained().replace(normalizer=normalizers.Function(lambda text: given))
    with pytest.raises(error, match=message):
        tok.encode("ab")


@pytest.mark.parametrize("name", WRONG_PIECES)
def test_results_that_are_not_pieces_are_refused(name: str) -> None:
    given, error, message = WRONG_PIECES[name]
    tok = trained().replace(pre_tokenizer=pre_tokenizers.Function(lambda text: given))
    with pytest.raises(error, match=message):
        tok.encode("ab")


def test_values_that_are_not_functions_are_refused() -> None:
    for kind in (normalizers.Function, pre_tokenizers.Function):
        with pytest.raises(ArgumentTypeError, match="must be a function"):
            kind("str.lower")  # type: ignore[arg-type]


class OfTheCaller(Exception):
    pass


def raising(text: str) -> Any:
    if "x" in text:
        raise OfTheCaller(text)
    return text


def raising_words(text: str) -> list[str]:
    return words(raising(text))


@pytest.mark.parametrize("stage", ["normalizer", "pre_tokenizer"])
def test_exceptions_of_a_function_reach_the_caller(stage: str) -> None:
    made: Any = {
        "normalizer": normalizers.Function(raising),
        "pre_tokenizer": pre_tokenizers.Function(raising_words),
    }[stage]
    tok = trained().replace(**{stage: made})
    assert tok.encode("the")
    calls: list[Callable[[], Any]] = [
        lambda: tok.encode("a x"),
        lambda: tok.encode_with_spans("a x"),
        lambda: tok.count("a x"),
        lambda: tok.encode_batch(["a", "a x"] * 500),
        lambda: tok(["a", "a x"]),
        lambda: made("a x"),
        lambda: trained(**{stage: made}) and jeton.BPETrainer(300, **{stage: made}).train(["a x"]),
    ]
    for call in calls:
        with pytest.raises(OfTheCaller, match="x"):
            call()


def test_threads_and_batches() -> None:
    tok = trained(normalizer=normalizers.Function(lowered))
    texts = [f"The WEATHER {number} theory" for number in range(2000)]
    expected = [tok.encode(text) for text in texts]
    found: list[list[list[int]]] = []

    def encode() -> None:
        found.append(tok.encode_batch(texts).tolist())

    threads = [threading.Thread(target=encode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_pickling_and_equality() -> None:
    tok = trained(normalizer=normalizers.Function(lowered))
    again = pickle.loads(pickle.dumps(tok))
    assert again == tok
    assert again.encode("The WEATHER") == tok.encode("the weather")
    assert again.special_tokens == tok.special_tokens
    assert tok.replace() == tok
    assert (
        isinstance(tok.stages.normalizer, normalizers.Function)
        and tok.stages.normalizer.function is lowered
    )
    assert tok.stages.normalizer == normalizers.Function(lowered)
    other = tok.replace(normalizer=normalizers.Function(lambda text: text))
    assert other != tok
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(other)


def test_a_tokenizer_with_a_function_has_a_hash_but_no_digest() -> None:
    tok = trained(normalizer=normalizers.Function(lowered))
    again = trained(normalizer=normalizers.Function(lowered))
    assert tok == again and {tok: 1}[again] == 1
    with pytest.raises(UnsupportedError, match="a Python function has no digest"):
        _ = tok.digest
    with pytest.raises(UnsupportedError, match="no digest"):
        tok.usage(CORPUS)
    assert "Function" in tok._repr_html_()


def test_no_file_holds_it(tmp_path: Path) -> None:
    tok = trained(normalizer=normalizers.Function(lowered))
    for name in ("tokenizer.json", "vocab.json", "x.tiktoken", "folder"):
        with pytest.raises(UnsupportedError):
            tok.save(tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(UnsupportedError, match="normalizer, which is a function of Python"):
        tok.to_json()
    with pytest.raises(UnsupportedError, match="Python function"):
        normalizers.Function(lowered).to_json()
    plain = tok.replace(normalizer=None, pre_tokenizer=pre_tokenizers.Split(" ", "removed"))
    plain.save(tmp_path / "tokenizer.json")


def test_added_tokens_are_found_in_the_text_as_it_is() -> None:
    tok = trained(normalizer=normalizers.Function(lowered)).with_added_tokens(
        [jeton.AddedToken("<Tool>")]
    )
    tool = tok.vocab["<Tool>"]
    assert tok.encode("a<Tool>b").count(tool) == 1
    assert tool not in tok.encode("a<tool>b")


def added(more: str, text: str) -> str:
    return text + more


def test_a_function_lives_as_long_as_its_tokenizer() -> None:
    toks = [
        trained().replace(normalizer=normalizers.Function(functools.partial(added, str(n))))
        for n in range(5)
    ]
    for n, tok in enumerate(toks):
        assert tok.decode(tok.encode("a")) == f"a{n}"
