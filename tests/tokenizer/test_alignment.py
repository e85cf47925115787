"""Two tokenizers on one text: aligned runs and shared tokens (`encoding/alignment.py`)."""

from __future__ import annotations

import itertools
import random

import pytest

import jeton
from kinds import KINDS

TEXTS = [
    "",
    "the theory",
    " low  lower\n\n lowest ",
    "déjà vu 東京 🙂🙂",
    "\u200b e\u0301 \t x",
]

BYTE_LEVEL = jeton.BPETrainer(300, pattern="gpt4").train(["the lowest of the low"] * 5)
CHARACTERS = jeton.BPETrainer(270, pattern="none").train(["the theory 東京 🙂 low lower"] * 5)


def pairs() -> list[tuple[str, str]]:
    return list(itertools.product(sorted(KINDS), ["byte-level", "characters"]))


@pytest.mark.parametrize(("kind", "other"), pairs())
def test_runs_tile_the_tokens_and_cover_the_same_bytes(kind: str, other: str) -> None:
    a = KINDS[kind]()
    b = BYTE_LEVEL if other == "byte-level" else CHARACTERS
    for text in TEXTS:
        try:
            ids = a.encode(text)
        except jeton.JetonError:
            continue
        a_ids, b_ids, runs = jeton.align(a, b, text)
        assert (a_ids, b_ids) == (ids, b.encode(text))
        assert [at for run in runs for at in run.a] == list(range(len(a_ids)))
        assert [at for run in runs for at in run.b] == list(range(len(b_ids)))
        spans = a.encode_with_spans(text, unit="bytes").spans
        for run in runs:
            for at in run.a:
                start, end = spans[at]
                assert run.start <= start or start == end
                assert end <= run.end
        assert [run.start for run in runs[1:]] == [run.end for run in runs[:-1]]


def test_runs_of_lossless_tokenizers_decode_to_the_same_text() -> None:
    draw = random.Random(1)
    for _ in range(200):
        text = "".join(draw.choices("ab low the\n东🙂é", k=draw.randrange(20)))
        a_ids, b_ids, runs = jeton.align(BYTE_LEVEL, CHARACTERS, text)
        for run in runs:
            part = text.encode()[run.start : run.end]
            assert BYTE_LEVEL.decode_bytes(a_ids[run.a.start : run.a.stop]) == part
            assert CHARACTERS.decode_bytes(b_ids[run.b.start : run.b.stop]) == part


def test_no_run_can_be_split() -> None:
    text = "the lowest theory 東"
    a_ids, b_ids, runs = jeton.align(BYTE_LEVEL, CHARACTERS, text)
    for run in runs:
        ends_a = list(
            itertools.accumulate(len(BYTE_LEVEL.vocab.token_bytes(a_ids[at])) for at in run.a)
        )
        ends_b = list(
            itertools.accumulate(len(CHARACTERS.vocab.token_bytes(b_ids[at])) for at in run.b)
        )
        common = set(ends_a) & set(ends_b)
        whole = text.encode()[run.start :]
        inner = [end for end in common if end != ends_a[-1]]
        assert all(whole[end] & 0xC0 == 0x80 for end in inner)


def test_shared_tokens_stand_for_the_same_bytes() -> None:
    shared = jeton.shared_tokens(BYTE_LEVEL, CHARACTERS)
    assert len(shared) >= 256
    for a, b in shared.items():
        assert BYTE_LEVEL.vocab.token_bytes(a) == CHARACTERS.vocab.token_bytes(b)
    assert jeton.shared_tokens(BYTE_LEVEL, BYTE_LEVEL) == {
        id: id for id in range(BYTE_LEVEL.vocab_size)
    }
