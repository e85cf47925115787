"""The pages of `jeton.learn.reference` against the core, on random small corpora of every family.

Corpora where the two cannot be compared are not counted. `JETON_PARITY=full` makes it 10,000 of
every family: ten minutes and more.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import textbook
from jeton.components import models
from jeton.errors import EncodeError, TrainingWarning
from jeton.learn.reference import (
    byte_level,
    characters,
    ranks,
    sentencepiece,
    unigram,
    wordpiece,
    words_bpe,
)
from kinds import LLAMA

ROUNDS = 10_000 if os.environ.get("JETON_PARITY") == "full" else 150


def some_words(numbers: random.Random) -> list[str]:
    """A row of words of few letters, in which many pairs are equally frequent."""
    letters = "abcdeé字"[: numbers.randint(1, 7)]
    length = numbers.randint(2, 8)
    return [
        "".join(numbers.choices(letters, k=numbers.randint(1, length)))
        for _ in range(numbers.randint(1, 14))
    ]


def counted(words: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


@pytest.mark.parametrize("unk_token", [None, "<UNK>"])
def test_characters(unk_token: str | None) -> None:
    for seed in range(ROUNDS):
        numbers = random.Random(seed)
        text, other = " ".join(some_words(numbers)), " ".join(some_words(numbers))
        tok = jeton.CharTrainer(unk_token=unk_token).train(text)
        vocab = characters.train(text, unk_token)
        assert {token.decode(): id for token, id in tok.vocab.items()} == vocab
        try:
            expected = characters.encode(other, vocab, None if unk_token is None else 0)
        except ValueError:
            with pytest.raises(EncodeError):
                tok.encode(other)
        else:
            assert tok.encode(other) == expected


@pytest.mark.parametrize("tie", ["first", "alphabetic", "lexicographic"])
@pytest.mark.parametrize("end", ["", "</w>"])
def test_bpe_on_words(tie: Any, end: str) -> None:
    compared = 0
    for seed in itertools.count():
        if compared == ROUNDS:
            break
        numbers = random.Random(seed)
        words, wanted = some_words(numbers), numbers.randint(1, 10)
        expected = words_bpe.train(counted(words), wanted, end=end, tie=tie)
        # A pair that is merged twice, or a token that two pairs make, has one place in a list.
        alphabet = {symbol for word in words for symbol in words_bpe.symbols(word, end)}
        made = ["".join(pair) for pair in expected]
        if len(set(made)) < len(made) or alphabet & set(made):
            continue
        compared += 1
        tok = textbook.bpe(" ".join(words), wanted, end=end or None, tie_break=tie)
        assert textbook.merges(tok) == expected, (seed, words)
        for word in words + some_words(numbers):
            if set(words_bpe.symbols(word, end)) <= alphabet:
                tokens = [tok.vocab.spelling(id).decode() for id in tok.encode(word)]
                assert tokens == words_bpe.encode(word, expected, end=end)


def _trained(trainer: jeton.BPETrainer, texts: list[str]) -> jeton.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        return trainer.train(texts)


@pytest.mark.large
def test_bpe_on_bytes() -> None:
    compared = 0
    for seed in itertools.count():
        if compared == ROUNDS:
            break
        numbers = random.Random(seed)
        words, wanted = some_words(numbers), numbers.randint(1, 12)
        pieces = counted(byte_level.split(" ".join(words)))
        merges = byte_level.train({p.encode(): n for p, n in pieces.items()}, wanted)
        made = [a + b for a, b in merges]
        if len(set(made)) < len(made):
            continue
        compared += 1
        tok = _trained(
            jeton.BPETrainer(256 + wanted, pattern="gpt2", tie_break="first", byte_order="value"),
            [" ".join(words)],
        )
        assert tok.vocab.merges == merges, (seed, words)
        vocab = byte_level.vocabulary(merges)
        assert tok.vocab == vocab
        text = " ".join(some_words(numbers)) + " it's  2 \n\n!? "
        assert tok.encode(text) == byte_level.encode(text, vocab, merges)
        assert tok.decode(tok.encode(text)) == text


def test_ranks() -> None:
    for seed in range(ROUNDS):
        numbers = random.Random(seed)
        merges = byte_level.train(
            {word.encode(): 1 for word in some_words(numbers)}, numbers.randint(1, 12)
        )
        table = byte_level.vocabulary(merges)
        shuffled = list(table)[256:]
        numbers.shuffle(shuffled)
        table = {**dict(list(table.items())[:256]), **{t: 256 + i for i, t in enumerate(shuffled)}}
        tok = jeton.Tokenizer.from_ranks(table, pattern=r"\S+|\s+")
        for word in some_words(numbers):
            assert tok.encode(word) == ranks.encode_piece(word.encode(), table), (seed, word)
        in_order = byte_level.vocabulary(merges)
        proper = jeton.Tokenizer.from_ranks(in_order, pattern=r"\S+|\s+")
        assert proper.vocab.merges == ranks.merges_of(in_order)


@pytest.mark.parametrize("rule", ["released", "published"])
def test_wordpiece(rule: str) -> None:
    for seed in range(ROUNDS):
        numbers = random.Random(seed)
        words, wanted = some_words(numbers), numbers.randint(1, 10)
        alphabet = wordpiece.alphabet(counted(words))
        learned = wordpiece.train(counted(words), wanted, rule=rule)
        tok = _trained_wordpiece(rule, 1 + len(alphabet) + wanted, words)
        found = {token.decode(): id for token, id in tok.vocab.items()}
        expected = ["[UNK]", *alphabet, *learned]
        assert list(found) == expected, (seed, words)
        for word in words + some_words(numbers):
            tokens = [tok.vocab.spelling(id).decode() for id in tok.encode(word)]
            assert tokens == wordpiece.encode(word, found)


def _trained_wordpiece(rule: str, size: int, words: list[str]) -> jeton.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        return jeton.WordPieceTrainer(
            size,
            rule=rule,  # type: ignore[arg-type]
            special_tokens=["[UNK]"],
            normalizer=jeton.components.normalizers.Sequence([]),
            pre_tokenizer=jeton.components.pre_tokenizers.WhitespaceSplit(),
        ).train([" ".join(words)])


def test_unigram_training() -> None:
    swapped = 0
    for seed in range(ROUNDS):
        numbers = random.Random(seed)
        words = some_words(numbers)
        words = [word.replace("字", "f").replace("é", "g") for word in words] * 3
        counts = {unigram.SPACE + word: number for word, number in counted(words).items()}
        least = len({character for word in counts for character in word})
        size = least + numbers.randint(0, 12)
        expected = unigram.train(counts, size, exact=False)
        model = textbook.unigram(" ".join(words), size).stages.model
        assert isinstance(model, models.Unigram)
        found = {_text(piece): score for piece, score in model.pieces[1:]}
        if set(found) != set(expected):
            # Of pieces that are equally probable but for how sums are rounded, either is the last.
            swapped += 1
            assert swapped <= 1 + seed // 1_000, (seed, words)
        # Files hold scores of 32 bits.
        assert _scores_apart(found, expected) == pytest.approx(
            _scores_apart(expected, found), rel=1e-6
        ), (seed, words)
        for piece in set(expected) & set(found):
            assert found[piece] == pytest.approx(expected[piece], rel=1e-6), (seed, piece)


def _scores_apart(pieces: dict[str, float], others: dict[str, float]) -> list[float]:
    """The scores of the pieces that the others do not have."""
    return sorted(score for piece, score in pieces.items() if piece not in others)


def _text(piece: bytes | str) -> str:
    return piece.decode() if isinstance(piece, bytes) else piece


def test_unigram_encoding() -> None:
    for seed in range(ROUNDS):
        numbers = random.Random(seed)
        pieces = {"<unk>": 0.0}
        for word in some_words(numbers):
            # Few distinct scores, so that many ways are equally good.
            pieces.setdefault(word[: numbers.randint(1, 4)], -float(numbers.randint(1, 4)))
        tok = jeton.Tokenizer(models.Unigram(list(pieces.items()), unk_id=0))
        without = {piece: score for piece, score in pieces.items() if piece != "<unk>"}
        lowest = min(without.values())
        for word in some_words(numbers):
            encoding = tok.encode_with_spans(word)
            cut = [word[start:end] for start, end in encoding.spans]
            assert cut == unigram.best(word, {**without, "\0": lowest}), (seed, word, pieces)


def test_unigram_n_best(tmp_path: Path) -> None:
    tok = jeton.UnigramTrainer(40, normalizer="identity", hard_vocab_limit=False).train(
        ["hug pug pun bun hugs", "hugs and bugs and puns"] * 5
    )
    file = _scores(tok)
    for word in ("hugs", "puns", "bug"):
        text = sentencepiece.normalize(word)
        expected = unigram.n_best(text, file, 8)
        found = tok.nbest(word, 8)
        scores = [sum(file[tok.vocab.spelling(id).decode()] for id in ids) for ids in found]
        assert scores == pytest.approx([score for score, _ in expected], abs=1e-5)
    drawn: dict[tuple[int, ...], int] = {}
    for seed in range(3_000):
        ids = tuple(tok.encode("hugs", alpha=0.5, seed=seed))
        drawn[ids] = drawn.get(ids, 0) + 1
    numbers = random.Random(0)
    ours: dict[str, int] = {}
    for _ in range(3_000):
        way = " ".join(unigram.sample(sentencepiece.normalize("hugs"), file, 0.5, numbers))
        ours[way] = ours.get(way, 0) + 1
    for ids, number in drawn.items():
        way = " ".join(tok.vocab.spelling(id).decode() for id in ids)
        # Four standard deviations of the difference of two such counts.
        assert abs(number - ours.get(way, 0)) < 4 * math.sqrt(2 * max(number, 10))


def _scores(tok: jeton.Tokenizer) -> dict[str, float]:
    """The scores of a SentencePiece model's normal pieces."""
    by_id = tok.vocab.scores
    assert by_id is not None
    special = {b"<unk>", *(name.encode() for name in tok.special_tokens)}
    return {token.decode(): by_id[id] for token, id in tok.vocab.items() if token not in special}


@pytest.mark.large
def test_sentencepiece_encoding(tmp_path: Path) -> None:
    for seed in range(ROUNDS):
        numbers = random.Random(seed)
        lines = [" ".join(some_words(numbers)) for _ in range(3)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingWarning)
            trained = [
                jeton.UnigramTrainer(
                    40, normalizer="identity", character_coverage=1.0, hard_vocab_limit=False
                ).train(lines),
            ]
            bpe = jeton.BPETrainer(300, **LLAMA).train(lines)
        bpe.save(tmp_path / "bpe.model")
        trained.append(jeton.load(tmp_path / "bpe.model"))
        for number, tok in enumerate(trained):
            scores = _scores(tok)
            scores = {piece: score for piece, score in scores.items() if piece[:3] != "<0x"}
            encode = [sentencepiece.encode_unigram, sentencepiece.encode_bpe][number]
            for _ in range(3):
                text = " ".join(some_words(numbers))
                if not set(text) - {" "} <= set("".join(scores)):
                    continue
                normal = sentencepiece.normalize(text, remove_extra_whitespaces=number == 0)
                tokens = [tok.vocab.spelling(id).decode() for id in tok.encode(text)]
                assert tokens == encode(normal, scores), (seed, text)
                assert tok.decode(tok.encode(text)) == sentencepiece.decode(tokens)
