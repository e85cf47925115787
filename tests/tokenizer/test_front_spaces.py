"""Spans that leave spaces out but for one at the front: in windows, and of words behind others.

It tests `BatchTokenizer.trimmed` of `jeton.encoding.calls` through the call.
"""

from __future__ import annotations

import itertools
import os
import random
from typing import Any

import pytest

import jeton
from call_cases import WORDS, gpt, lacking_bytes, quietly, theirs
from jeton.components import normalizers, post_processors, pre_tokenizers
from jeton.errors import JetonError
from peer_spans import all_spans, hold

pytestmark = pytest.mark.filterwarnings("ignore:the words .* puts no space between words")


FULL = os.environ.get("JETON_PARITY") == "full"

SPLIT = pre_tokenizers.Split(" ", "removed")
PRE_TOKENIZERS = {
    "no space put in front": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "a space put in front": pre_tokenizers.ByteLevel(add_prefix_space=True),
    "a space put in front of each part": pre_tokenizers.Sequence(
        [SPLIT, pre_tokenizers.ByteLevel(add_prefix_space=True)]
    ),
}
NORMALIZERS = {
    "none": None,
    "Strip": normalizers.Strip(),
    "NFKC": normalizers.NFKC(),
    "characters left out": normalizers.Replace("x", ""),
    "characters made spaces": normalizers.Replace("x", " "),
    "spaces doubled": normalizers.Replace(" ", "  "),
    "Prepend": normalizers.Prepend(" "),
}


def post_processor_of(name: str, *, shows_one: bool) -> post_processors.PostProcessor:
    """A post-processor that trims."""
    byte_level = post_processors.ByteLevel(add_prefix_space=shows_one)
    if name == "ByteLevel":
        return byte_level
    if name == "RoBERTa":
        end = "<|end|>", 0
        return post_processors.RobertaProcessing(sep=end, cls=end, add_prefix_space=shows_one)
    template = post_processors.TemplateProcessing(
        "<|end|> $A", "<|end|> $A <|end|>:1 $B:1", special_tokens={"<|end|>": 0}
    )
    return post_processors.Sequence([byte_level, template])


POST_PROCESSORS = [*itertools.product(("ByteLevel", "RoBERTa", "a template"), (True, False))]
PARTS = [
    *WORDS,
    "x the",
    "東 the",
    "東  the",
    " x the",
    "東\u00a0the",
    "x",
    "x  ",
    "\u00a0",
    "東 x a",
]


def some_call(numbers: random.Random) -> tuple[Any, Any, dict[str, Any]]:
    """Words or texts, single or many, alone or in pairs, whole or in windows."""
    is_split = numbers.random() < 0.6

    def make() -> Any:
        parts = numbers.choices(PARTS, k=numbers.randint(1, 6))
        return parts if is_split else " ".join(parts)

    is_pair, is_batch = numbers.random() < 0.4, numbers.random() < 0.6
    text = [make() for _ in range(numbers.randint(1, 3))] if is_batch else make()
    pair: Any = None
    if is_pair:
        pair = [make() for _ in text] if is_batch else make()
    options: dict[str, Any] = {
        "is_split_into_words": is_split,
        "add_special_tokens": numbers.random() < 0.7,
        "return_offsets_mapping": True,
    }
    if numbers.random() < 0.5:
        options |= {
            "truncation": numbers.choice([True, "only_first"]),
            "max_length": numbers.randint(5, 14),
            "stride": numbers.choice([0, 1]),
            "return_overflowing_tokens": numbers.random() < 0.7,
        }
    return text, pair, options


def tokenizers(pre_tokenizer: str) -> Any:
    """Tokenizers whose words differ in what they drop, and how spans are trimmed."""
    for base in (gpt(), lacking_bytes(None)):
        tok = base.replace(pre_tokenizer=PRE_TOKENIZERS[pre_tokenizer])
        for (name, shows_one), (other, normalizer) in itertools.product(
            POST_PROCESSORS, NORMALIZERS.items()
        ):
            post_processor = post_processor_of(name, shows_one=shows_one)
            yield (
                (name, shows_one, other),
                tok.replace(post_processor=post_processor, normalizer=normalizer),
            )


@pytest.mark.large
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
def test_spans_are_those_of_transformers(pre_tokenizer: str) -> None:
    compared = 0
    for name, tok in tokenizers(pre_tokenizer):
        other = theirs(tok)
        tok = tok.replace(roles={"pad": other.pad_token})
        for seed in range(200 if FULL else 12):
            numbers = random.Random(f"{name}{seed}")
            text, pair, options = some_call(numbers)
            if pair == "":
                continue  # where transformers forgets the second text
            side = other.truncation_side = numbers.choice(["right", "left"])
            expected = quietly(other, text, pair, **options)
            mine = quietly(tok, text, pair, special="allow", truncation_side=side, **options)
            if isinstance(expected, BaseException):
                # A stride that is too large is an error there even where there are no windows.
                assert isinstance(mine, JetonError) or "stride" in str(expected), (name, seed)
                continue
            if isinstance(mine, BaseException):
                assert "room for" in str(mine), (name, seed, mine)
                continue
            where = (name, seed, text, pair, options)
            assert mine["input_ids"] == expected["input_ids"], where
            spans, others = all_spans(mine["offset_mapping"]), all_spans(expected["offset_mapping"])
            assert hold(spans, others, tok.stages.normalizer), (where, spans, others)
            compared += 1
    assert compared > 600


@pytest.mark.large
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
def test_words_of_a_call_are_those_of_a_single_call_in_every_unit(pre_tokenizer: str) -> None:
    for name, tok in tokenizers(pre_tokenizer):
        for seed in range(100 if FULL else 6):
            numbers = random.Random(f"{name}{seed}")
            words = [numbers.choices(PARTS, k=numbers.randint(1, 6)) for _ in range(3)]
            pairs = [numbers.choices(PARTS, k=numbers.randint(1, 6)) for _ in words]
            for unit in ("characters", "bytes", "utf-16"):
                batch = tok(
                    words, pairs, unit=unit, is_split_into_words=True, return_offsets_mapping=True
                )
                for row, entry in enumerate(zip(words, pairs, strict=True)):
                    expected = tok.encode_with_spans(
                        *entry, is_split_into_words=True, unit=unit, add_special_tokens=True
                    )
                    assert batch["offset_mapping"][row] == expected.spans, (name, unit, entry)


@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
def test_windows_in_every_unit_are_those_in_characters(pre_tokenizer: str) -> None:
    """Also of a column; each character of the text has its width, whatever a normalizer makes."""
    pyarrow = pytest.importorskip("pyarrow")
    options: dict[str, Any] = {
        "return_offsets_mapping": True,
        "truncation": True,
        "max_length": 8,
        "return_overflowing_tokens": True,
    }
    for name, tok in tokenizers(pre_tokenizer):
        numbers = random.Random(str(name))
        texts = [" ".join(numbers.choices(PARTS, k=8)) for _ in range(20 if FULL else 3)]
        try:
            plain = tok(texts, **options)
        except JetonError:
            continue  # special tokens leave no room
        for unit, code, size in (("bytes", "utf-8", 1), ("utf-16", "utf-16-le", 2)):
            expected = [
                [tuple(len(texts[sample][:at].encode(code)) // size for at in span) for span in row]
                for sample, row in zip(
                    plain["overflow_to_sample_mapping"], plain["offset_mapping"], strict=True
                )
            ]
            for given in (texts, pyarrow.array(texts)):
                found = tok(given, unit=unit, **options)["offset_mapping"]
                assert found == expected, (name, unit)


SHOWN: dict[str, tuple[list[str], dict[str, Any], list[Any]]] = {
    # What the normalizer dropped comes before the space, so that no word begins at 0.
    "a word behind another": (["x the", "x the"], {}, [(1, 5), (2, 5)]),
    "a word at the front of a window": (
        ["x the", "x the"],
        {"max_length": 1, "truncation": True, "return_overflowing_tokens": True},
        [[(1, 5)], [(1, 5)]],
    ),
    "a token at the front of a window": (
        ["the the"],
        {"max_length": 1, "truncation": True, "return_overflowing_tokens": True},
        [[(0, 3)], [(3, 7)]],
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_single_space_is_in_spans_at_the_front_alone(name: str) -> None:
    words, options, spans = SHOWN[name]
    tok = gpt().replace(
        normalizer=normalizers.Replace("x", ""), post_processor=post_processors.ByteLevel()
    )
    made = tok(words, is_split_into_words=True, return_offsets_mapping=True, **options)
    assert made["offset_mapping"] == spans


def test_a_span_that_begins_at_0_has_its_space_already() -> None:
    tok = gpt().replace(
        normalizer=normalizers.Prepend(" "), post_processor=post_processors.ByteLevel()
    )
    options: dict[str, Any] = {"max_length": 1, "truncation": True}
    windows = tok(" the", return_overflowing_tokens=True, return_offsets_mapping=True, **options)
    assert windows["offset_mapping"] == [[(0, 0)], [(0, 4)]]


def test_a_wide_space_is_as_wide_as_it_is_in_bytes() -> None:
    tok = jeton.Tokenizer(
        jeton.components.models.BPE(
            {"a": 0, "\u3000": 1, "\u3000a": 2}, merges=[("\u3000", "a")], alphabet="characters"
        ),
        normalizer=normalizers.Replace("x", ""),
        post_processor=post_processors.ByteLevel(),
    )
    for unit, width in (("characters", 1), ("bytes", 3), ("utf-16", 1)):
        options: dict[str, Any] = {"unit": unit, "return_offsets_mapping": True}
        words = ["x\u3000a", "x\u3000a"]
        joined = tok(words, is_split_into_words=True, **options)["offset_mapping"]
        assert joined == [(1, width + 2), (width + 1, width + 2)]
        windows = tok(
            "a\u3000a", truncation=True, max_length=1, return_overflowing_tokens=True, **options
        )
        assert windows["offset_mapping"] == [[(0, 1)], [(1, width + 2)]]
