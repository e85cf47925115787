"""Files as SuperBPE's authors publish them: merges across spaces, in phrases left whole."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import jeton
from jeton import samples
from jeton.components import pre_tokenizers

LOOSE = (r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)",)
"""Parts numbers, runs of signs and white space from phrases of words."""

PUBLISHED = (r"\p{N}+", r"(?=(\d{3})+(?!\d))")
"""Parts numbers only, and groups their digits from the right."""

TALES = samples.read("tales").splitlines(keepends=True)
ODD = [
    "",
    " ",
    "  a",
    "a  b ",
    "of the of the" * 99,
    "日本 語の the 12345 of",
    "\r\n of\n the  \n",
    "é ü",
    "a 1234567, ½12٣٤٥٦ of 1",
]


def superbpe(
    words: int = 500, size: int = 800, patterns: tuple[str, ...] = LOOSE
) -> jeton.Tokenizer:
    """Words first; then merges within phrases, which start from those of words."""
    loose = pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(jeton.components.Regex(it), "isolated") for it in patterns),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    first = jeton.BPETrainer(words, pattern="gpt4o").train(TALES)
    trainer = jeton.BPETrainer(size, start_from=first, pre_tokenizer=loose)
    return trainer.train(TALES)


@pytest.fixture(scope="module", params=[LOOSE, PUBLISHED], ids=["loose", "published"])
def tok(request: pytest.FixtureRequest) -> jeton.Tokenizer:
    return superbpe(patterns=request.param)


def texts(seed: int) -> list[str]:
    drawn = random.Random(seed)
    words = [
        " of",
        " the",
        "the",
        " a",
        ".",
        ",",
        "...",
        "  ",
        "\n",
        " 12",
        "3",
        " é",
        "語",
        "x" * 70,
    ]
    words += " ".join(TALES[:9]).split(" ")
    return ["".join(drawn.choices(words, k=drawn.randrange(1, 90))) for _ in range(60)]


def crosses(tok: jeton.Tokenizer) -> list[bytes]:
    return [token for token in tok.vocab if b"e " in token]


def test_ids_are_those_of_the_stages_and_of_tokenizers(tok: jeton.Tokenizer) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    assert crosses(tok)
    assert tok.stages.encoding_plan().strategy == "byte_level"
    theirs = tokenizers.Tokenizer.from_str(tok.to_json())
    for text in [*TALES[:40], *ODD, *texts(1), "".join(TALES)]:
        ids = tok.encode(text)
        assert ids == tok.encode(text) == theirs.encode(text).ids
        assert tok.count(text) == len(ids)
        assert tok.decode(ids) == text
        if len(text) < 2_000:
            assert list(tok.explain(text).ids) == ids
            encoding = tok.encode_with_spans(text)
            assert encoding.ids == ids


def test_a_stream_gives_the_ids_of_the_whole(tok: jeton.Tokenizer) -> None:
    text = "".join(TALES[:60])
    parts = [text[at : at + 11] for at in range(0, len(text), 11)]
    assert [id for ids in tok.encode_stream(parts) for id in ids] == tok.encode(text)


@pytest.mark.parametrize(
    "merges",
    [
        # The merge of `bc` comes after the first one across a space, and ` bc` before it.
        [["Ġ", "bc"], ["a", "Ġ"], ["b", "c"], ["aĠ", "bc"]],
        [["a", "Ġ"], ["aĠ", "b"], ["b", "c"], ["Ġ", "bc"], ["Ġb", "x"], ["Ġ", "b"]],
        [["b", "c"], ["Ġ", "b"], ["c", "Ġ"], ["Ġ", "bc"], ["bcĠ", "bc"], ["bc", "Ġ"]],
    ],
)
def test_merges_across_spaces_may_come_in_any_order(merges: list[list[str]]) -> None:
    file: dict[str, Any] = json.loads(superbpe().to_json())
    file["model"]["merges"] = merges
    for pair in merges:
        for token in (*pair, "".join(pair)):
            file["model"]["vocab"].setdefault(token, len(file["model"]["vocab"]))
    tok = jeton.Tokenizer.from_json(json.dumps(file))
    for text in ("a bc", "a b c bc bx", "xa b", "a  bc a b", "bc bc bc  bc", "x bc"):
        assert tok.encode(text) == list(tok.explain(text).ids)


def test_equal_words_are_joined_in_about_linear_time() -> None:
    tok = superbpe()
    ids = tok.encode(" the" * 300_000)
    assert tok.decode(ids) == " the" * 300_000
