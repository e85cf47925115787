"""`.model` files with user-defined pieces beside a space in front, as Mistral's, and what comes
nearest to them as `tokenizer.json`: SentencePiece and tokenizers are the judges of each."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.errors import UnsupportedError

sentencepiece = pytest.importorskip("sentencepiece")
tokenizers = pytest.importorskip("tokenizers")

PIECES = ["[INST]", "[/INST]", "<|x|>", "[TOOL.CALLS]", "\n\n"]


@pytest.fixture(scope="module")
def model() -> bytes:
    """A small BPE with byte fallback, made here."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the weather there", "then the theory [INST]"] * 20),
        model_writer=written,
        vocab_size=320,
        model_type="bpe",
        byte_fallback=True,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        user_defined_symbols=PIECES,
        minloglevel=2,
    )
    return written.getvalue()


def test_user_defined_pieces_have_an_approximation(model: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(model)
    tok = jeton.load(path)
    with pytest.raises(UnsupportedError, match="a text that begins with it gets no space in front"):
        tok.save(tmp_path / "x.json")
    near = tok.approximation("tokenizer.json")
    near.save(tmp_path / "x.json")
    again = jeton.load(tmp_path / "x.json")
    theirs: Any = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    expected: Any = sentencepiece.SentencePieceProcessor(model_proto=model)
    numbers = random.Random(1)
    parts = [*PIECES, " ", "  ", "the", " weather", "é", "\n", "x", "[INST", "▁", "東"]
    texts = ["", *("".join(numbers.choices(parts, k=numbers.randint(1, 6))) for _ in range(800))]
    for text in texts:
        ids = tok.encode(text)
        assert ids == expected.encode(text), text
        found = again.encode(text)
        assert found == near.encode(text) == theirs.encode(text, add_special_tokens=False).ids, text
        if text.startswith(tuple(PIECES)):
            assert ids == [tok.vocab["▁"], *found], text
        else:
            assert found == ids, text
