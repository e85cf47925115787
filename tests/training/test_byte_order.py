"""BPETrainer(byte_order="value"): the merges of minbpe and rustbpe, and where special tokens go."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable

import pytest

import jeton
from jeton import samples

PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
"""rustbpe's own, which is GPT-4's as of 2023."""

Pair = tuple[int, int]


def by_definition(
    chunks: list[bytes], merges: int, first: Callable[[Counter[Pair]], Pair]
) -> list[tuple[bytes, bytes]]:
    """Merges, with all pairs of all chunks counted again for each; `first` says which is next."""
    rows = [list(chunk) for chunk in chunks]
    spelled = {byte: bytes([byte]) for byte in range(256)}
    made = []
    for new in range(256, 256 + merges):
        pairs: Counter[Pair] = Counter()
        for row in rows:
            pairs.update(itertools.pairwise(row))
        if not pairs:
            break
        left, right = first(pairs)
        made.append((spelled[left], spelled[right]))
        spelled[new] = spelled[left] + spelled[right]
        rows = [_merged(row, (left, right), new) for row in rows]
    return made


def _merged(row: list[int], pair: Pair, new: int) -> list[int]:
    merged = []
    at = 0
    while at < len(row):
        found = (row[at], *row[at + 1 : at + 2]) == pair
        merged.append(new if found else row[at])
        at += 2 if found else 1
    return merged


def met_first(pairs: Counter[Pair]) -> Pair:
    """minbpe's rule: of the most frequent, the one that the corpus has first."""
    return max(pairs, key=pairs.__getitem__)


def smallest(pairs: Counter[Pair]) -> Pair:
    """rustbpe's rule: of the most frequent, the one with the smallest ids."""
    return min(pairs, key=lambda pair: (-pairs[pair], pair))


@pytest.mark.parametrize(
    ("tie_break", "rule"),
    [("first", met_first), ("huggingface", smallest)],
    ids=["minbpe", "rustbpe"],
)
def test_merges_are_those_of_the_definition(
    tie_break: str, rule: Callable[[Counter[Pair]], Pair]
) -> None:
    draw = random.Random(5)
    compared = 0
    for letters in ("ab", "abc", "aé🙂", "abcdefgh"):
        for _ in range(12):
            words = [
                "".join(draw.choices(letters, k=draw.randint(1, 12)))
                for _ in range(draw.randint(1, 30))
            ]
            chunks = [word.encode() for word in words]
            expected = by_definition(chunks, 12, rule)
            spelled = [left + right for left, right in expected]
            if len(set(spelled)) < len(spelled):
                continue  # two merges make one token, which has two ids there and one here
            trainer = jeton.BPETrainer(
                256 + len(expected),
                pattern=r"[^ ]+",
                byte_order="value",
                tie_break=tie_break,  # type: ignore[arg-type]
            )
            tok = trainer.train([" ".join(words)])
            assert tok.vocab.merges == expected
            assert list(tok.vocab.items())[256:] == [
                (token, id) for id, token in enumerate(spelled, 256)
            ]
            compared += 1
    assert compared > 30


def test_a_text_of_one_piece_as_in_minbpe() -> None:
    text = "aaabdaaabac"
    trainer = jeton.BPETrainer(259, pattern="none", byte_order="value", tie_break="first")
    assert trainer.train([text]).encode(text) == [258, 100, 258, 97, 99]


def test_rustbpe() -> None:
    rustbpe = pytest.importorskip("rustbpe")
    texts = list(samples.read_all().values())
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(iter(texts), 2_000, pattern=PATTERN)
    ours = jeton.BPETrainer(2_000, pattern=PATTERN, byte_order="value").train(texts)
    assert list(ours.vocab.items()) == [
        (bytes(token), id) for token, id in theirs.get_mergeable_ranks()
    ]
    for text in texts:
        assert ours.encode(text) == theirs.encode(text)


def test_special_tokens_come_last() -> None:
    specials = ["<|end|>", "<|user|>"]
    texts = list(samples.read_all().values())
    trainer = jeton.BPETrainer(
        [258, 300, 400], pattern="gpt4", byte_order="value", special_tokens=specials
    )
    plain = jeton.BPETrainer(398, pattern="gpt4", byte_order="value").train(texts)
    for size, tok in trainer.train_all(texts).items():
        assert tok.vocab_size == size == tok.vocab.max_id + 1
        assert tok.special_tokens == {"<|end|>": size - 2, "<|user|>": size - 1}
        assert tok.vocab.merges == plain.vocab.merges[: size - 258]
        assert jeton.Tokenizer.from_json(tok.to_json()) == tok
    assert trainer.train(texts) == tok
    ids = tok.encode("the<|end|>", special="allow")
    assert ids == [*plain.encode("the"), 398]


def test_training_resumes_in_byte_order() -> None:
    texts = list(samples.read_all().values())
    large = jeton.BPETrainer(400, byte_order="value").train(texts)
    small = jeton.BPETrainer(320, byte_order="value").train(texts)
    assert jeton.BPETrainer(400, start_from=small).train(texts) == large
    given = jeton.BPETrainer(
        401, start_from=small.vocab.merges, byte_order="value", special_tokens=["<|end|>"]
    ).train(texts)
    assert (given.vocab.merges, given.special_tokens) == (large.vocab.merges, {"<|end|>": 400})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"byte_order": "values"}, 'byte_order cannot be "values" \\(did you mean "value"'),
        ({"byte_order": "value", "alphabet": "characters"}, "byte_order is for bytes"),
        ({"byte_order": "value", "vocab_size": 256, "special_tokens": ["<s>"]}, "does not hold"),
    ],
    ids=["misspelled", "characters", "too small"],
)
def test_contradicting_arguments_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(jeton.errors.ArgumentError, match=message):
        jeton.BPETrainer(**options)  # type: ignore[arg-type]


def test_start_from_keeps_ids() -> None:
    start = jeton.BPETrainer(260).train(["hello hello help"])
    with pytest.raises(jeton.errors.ArgumentError, match="byte_order: start_from has its bytes"):
        jeton.BPETrainer(270, start_from=start, byte_order="value")
    with pytest.raises(jeton.errors.ArgumentTypeError, match="byte_order must be a str"):
        jeton.BPETrainer(270, byte_order=3)  # type: ignore[arg-type]
