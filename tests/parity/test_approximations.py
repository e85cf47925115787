"""SentencePiece models as the nearest `tokenizer.json` and back: tokenizers agrees, few texts differ.

Look here for what `Tokenizer.approximation` promises.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.errors import ArgumentError, UnsupportedError
from nasty import strings
from test_sentencepiece import LINES, OPTIONS, nasty_strings, train

sentencepiece = pytest.importorskip("sentencepiece")
tokenizers = pytest.importorskip("tokenizers")

FIRST = {name: values[0] for name, values in OPTIONS.items()}


def _made(tmp_path: Path, **options: Any) -> jeton.Tokenizer:
    path = tmp_path / "made.model"
    path.write_bytes(train({**FIRST, **options}))
    return jeton.load(path)


def _difference(ours: Any, theirs: Any, texts: list[str]) -> int:
    return sum(ours.encode(text) != theirs.encode(text) for text in texts)


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("rule", ["nmt_nfkc", "identity"])
def test_there_and_back(model_type: str, byte_fallback: bool, rule: str, tmp_path: Path) -> None:
    tok = _made(
        tmp_path,
        model_type=model_type,
        byte_fallback=byte_fallback,
        normalization_rule_name=rule,
    )
    near = tok.approximation("tokenizer.json")
    assert type(near.model).__name__ == {"unigram": "Unigram", "bpe": "BPE"}[model_type]
    plain = [*LINES[:10], *(" ".join(random.Random(1).sample(LINES, 9)) for _ in range(50))]
    assert _difference(tok, near, plain) == 0
    assert [near.decode(near.encode(text)) for text in LINES[:2]] == LINES[:2]

    hard = [*strings(400, seed=3), *nasty_strings(400, seed=4)]
    judge = tokenizers.Tokenizer.from_str(near.to_json())
    judge.encode_special_tokens = True
    for text in plain + hard:
        assert judge.encode(text).ids == near.encode(text), text
    hard = [
        text for text in hard if not any(name in text for name in ("<s>", "</s>", "<unk>", "<0x"))
    ]
    assert _difference(tok, near, hard) <= len(hard) // 50

    if model_type == "unigram":
        again = near.approximation(".model")
        again.save(tmp_path / "again.model")
        judge = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
        for text in plain + hard:
            assert again.encode(text) == tok.encode(text) == judge.encode(text), text


def test_what_has_no_approximation(tmp_path: Path) -> None:
    tok = _made(tmp_path, model_type="word")
    with pytest.raises(UnsupportedError, match="a model of whole words"):
        tok.approximation("tokenizer.json")
    tok = _made(tmp_path, treat_whitespace_as_suffix=True)
    with pytest.raises(UnsupportedError, match="a space that is put at the end"):
        tok.approximation("tokenizer.json")
    with pytest.raises(UnsupportedError, match="of which there is no approximation"):
        tok.approximation(".model")
    with pytest.raises(ArgumentError, match=r"format must be one of 'tokenizer\.json', '\.model'"):
        tok.approximation("vocab.txt")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="this Unigram model"):
        _made(tmp_path, normalization_rule_name="identity").save(tmp_path / "tokenizer.json")
