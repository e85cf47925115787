"""UnigramTrainer against SentencePiece's: how well the pieces fit, and whether both read them alike.

Look here for "tokens per byte" and "log-likelihood per byte". Both models are judged by
SentencePiece itself, on the text that they were trained on and on text that they were not.
"""

from __future__ import annotations

import math
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import jeton
import nasty
from conftest import Scale
from shared_data import SHARED, needed

sentencepiece = pytest.importorskip("sentencepiece")

MAX_TOKENS = 1.003
"""How many times the tokens of SentencePiece's own model ours may have."""


def _fit(model: Any, lines: list[str]) -> tuple[float, float]:
    """Tokens and log-likelihood of the best segmentations, each per byte of text.

    Scores are made to sum up to 1 as probabilities first, so that no model gains from scale.
    """
    pieces = range(model.get_piece_size())
    normal = [p for p in pieces if not (model.is_control(p) or model.is_unknown(p))]
    scores = {piece: model.get_score(piece) for piece in normal}
    scores[model.unk_id()] = min(scores.values()) - 10
    scale = math.log(sum(math.exp(scores[piece]) for piece in normal))
    tokens = likelihood = 0.0
    for ids in model.encode(lines):
        tokens += len(ids)
        likelihood += sum(scores[id] - scale for id in ids)
    size = sum(len(line.encode()) for line in lines)
    return tokens / size, likelihood / size


def _compare(lines: list[str], size: int, folder: Path, **options: Any) -> None:
    """Trains both on every other line, and judges both on the lines of either half."""
    normalization = options.pop("normalization", "nmt_nfkc")
    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(lines[::2]), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=str(folder / "theirs"),
        vocab_size=size,
        normalization_rule_name=normalization,
        num_threads=2,
        max_sentence_length=1 << 24,
        minloglevel=2,
        **options,
    )
    trainer = jeton.UnigramTrainer(size, normalizer=normalization, **options)
    trainer.train(corpus).save(folder / "ours.model")
    theirs, ours = (
        sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
        for name in ("theirs", "ours")
    )
    for half in (lines[::2], lines[1::2]):
        their_tokens, their_likelihood = _fit(theirs, half)
        our_tokens, our_likelihood = _fit(ours, half)
        assert our_tokens <= MAX_TOKENS * their_tokens
        assert our_likelihood >= their_likelihood


@pytest.mark.large
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"split_by_unicode_script": False},
        {"treat_whitespace_as_suffix": True},
        {"split_digits": True, "split_by_number": False},
        {"normalization": "identity", "character_coverage": 1.0},
    ],
)
def test_pieces_fit_as_well(
    options: dict[str, Any], documents: list[str], scale: Scale, tmp_path: Path
) -> None:
    lines = [line.strip() for text in documents for line in text.splitlines() if line.strip()]
    if not scale.full:
        lines = lines[:: max(1, len(lines) // 10_000)]
    # Source code alone, which is there where ../shared is not, supports few pieces.
    size = 1_000 if not SHARED.is_dir() else 8_000 if scale.full else 6_000
    _compare(lines, size, tmp_path, **options)


@pytest.mark.parametrize(("name", "size"), [("english", 32_000), ("multilingual", 32_000)])
def test_pieces_fit_real_corpora_as_well(
    name: str, size: int, scale: Scale, tmp_path: Path
) -> None:
    path = SHARED / "text" / f"{name}.txt"
    if not scale.full:
        pytest.skip("JETON_PARITY=full trains on real corpora")
    needed(path)
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    _compare(lines, size, tmp_path)


@pytest.mark.large
@pytest.mark.parametrize("name", ["nmt_nfkc", "nfkc"])
def test_the_map_has_all_of_their_rules(name: str, tmp_path: Path) -> None:
    trainer = jeton.UnigramTrainer(9, normalizer=name, hard_vocab_limit=False)
    trainer.train(["a b"]).save(tmp_path / "ours.model")
    theirs = dict(sentencepiece.SentencePieceNormalizer(rule_name=name).decompile())
    model = str(tmp_path / "ours.model")
    ours = dict(sentencepiece.SentencePieceNormalizer(model_file=model).decompile())
    assert {key: ours.get(key) for key in theirs} == theirs
    # What theirs has not is younger than their tables.
    for key in ours.keys() - theirs.keys():
        assert any(unicodedata.category(character) == "Cn" for character in key), key


def test_nasty_text_is_read_alike(scale: Scale, tmp_path: Path) -> None:
    lines = [text for text in nasty.strings(3_000, seed=11) if "\n" not in text]
    for number, options in enumerate(({}, {"byte_fallback": True, "normalizer": "identity"})):
        tok = jeton.UnigramTrainer(7_000, hard_vocab_limit=False, **options).train(lines)  # type: ignore[arg-type]
        path = tmp_path / f"{number}.model"
        tok.save(path)
        judge = sentencepiece.SentencePieceProcessor(model_file=str(path))
        for text in nasty.strings(scale.strings // 2, seed=12 + number):
            assert tok.encode(text) == judge.encode(text), text
