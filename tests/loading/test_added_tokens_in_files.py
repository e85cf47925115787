"""Any tokenizer with any added tokens, saved in each format that takes it and loaded, gives the
same ids, and so does the library that the format belongs to.

Tokens are drawn with all their options, among them such as spell a token of the model, the bytes of
one, or its printable spelling; texts are made of the tokens and of what is around them.
"""

from __future__ import annotations

import json
import os
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.cli.verify import pattern_of
from jeton.components import normalizers
from jeton.errors import ArgumentError, FormatError, UnsupportedError
from kinds import LLAMA, byte_level, characters, ranks, unigram, word_piece

tokenizers = pytest.importorskip("tokenizers")
tiktoken = pytest.importorskip("tiktoken")
sentencepiece = pytest.importorskip("sentencepiece")

FULL = os.environ.get("JETON_PARITY") == "full"

TEXT = [
    "the theory of the weather there, then: père, 東京 \n\n  x = 1\n",
    " a a a",
    "##s [UNK]",
] * 4

FAMILIES: dict[str, Callable[[], jeton.Tokenizer]] = {
    "byte-level": lambda: byte_level("gpt4"),
    "byte-level, GPT-2": lambda: byte_level("gpt2"),
    "byte-level, NFC": lambda: byte_level("gpt2").replace(normalizer=normalizers.NFC()),
    "byte-level, no special tokens": lambda: jeton.BPETrainer(300, pattern="gpt2").train(TEXT),
    "ranks": lambda: ranks("gpt2"),
    "BPE of characters": lambda: jeton.BPETrainer(
        120,
        alphabet="characters",
        pattern="whitespace",
        unk_token="<unk>",
        special_tokens=["<unk>"],
    ).train(TEXT),
    "SentencePiece's BPE": lambda: (
        jeton.BPETrainer(320, **LLAMA).train(TEXT).approximation("tokenizer.json")
    ),
    "WordPiece": word_piece,
    "WordPiece, trained": lambda: jeton.WordPieceTrainer(120).train(TEXT),
    "Unigram": unigram,
    ".model of Unigram": lambda: jeton.UnigramTrainer(60, hard_vocab_limit=False).train(TEXT),
    "characters": characters,
    "characters, closed": lambda: jeton.CharTrainer().train(TEXT),
}

SPELLINGS = (
    "\n", " ", "\t", "\r", "  ", "\n\n", " the", "the", "th", "t", "é", "è", "東", "東京", "Ġ",
    "Ġthe", "Ċ", "Ã©", "\u0100", "▁", "▁the", "##s", "[CLS]", "<|x|>", "<|x|><|y|>", "<|end|>", "x",
    "<unk>", "\u00a0", "\u0301", "e\u0301", "<0x0A>", "<s>", "0", "\0", "🙂", "the weather", ",",
)  # fmt: skip


def draw_tokens(numbers: random.Random, tok: jeton.Tokenizer) -> list[jeton.AddedToken]:
    """Up to four tokens, most of them plain special ones."""

    def flag(share: float) -> bool:
        return numbers.random() < share

    drawn = []
    for spelling in numbers.sample(SPELLINGS, numbers.randint(1, 4)):
        # Text never becomes a special token, so what text needs must not be one.
        special = flag(0.6) and spelling not in tok
        options = {
            name: flag(0.15) for name in ("single_word", "lstrip", "rstrip") if not flag(0.5)
        }
        id = tok.vocab.max_id + numbers.randint(1, 9) if flag(0.15) else None
        normalized = flag(0.5) if not special else flag(0.1)
        drawn.append(
            jeton.AddedToken(spelling, special=special, normalized=normalized, id=id, **options)
        )
    return drawn


def draw_texts(numbers: random.Random, tok: jeton.Tokenizer, count: int) -> Iterator[str]:
    parts = [
        *(token.content for token in tok.stages.added_tokens),
        *SPELLINGS,
        *" \nathe,é東",
        "weather",
    ]
    for _ in range(count):
        yield "".join(numbers.choices(parts, k=numbers.randint(0, 7)))


def ids(encode: Callable[[str], Any], text: str) -> list[int] | None:
    """The ids, or `None` where an alphabet is closed."""
    try:
        return list(encode(text))
    except jeton.errors.EncodeError:
        return None
    except BaseException as error:
        # What tokenizers raises, and its panic where tokens overlap in white space.
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        return None


def judge(path: Path, tok: jeton.Tokenizer) -> tuple[Callable[[str], Any], str] | None:
    """How the library of a format encodes with a file, and whether it finds special tokens."""
    if path.name == "vocab.json" or path.is_dir():
        # The library gives special tokens ids of its own; transformers reads folders.
        return None
    if path.suffix == ".json":
        theirs: Any = tokenizers.Tokenizer.from_file(str(path))
        looked_for = (token.content for token in tok.stages.added_tokens if token.normalized)
        if theirs.normalizer and not all(map(theirs.normalizer.normalize_str, looked_for)):
            return None  # it looks for an empty token until memory ends
        return lambda text: theirs.encode(text, add_special_tokens=False).ids, "allow"
    if path.name == "vocab.txt":
        theirs = tokenizers.BertWordPieceTokenizer(str(path))
        return lambda text: theirs.encode(text, add_special_tokens=False).ids, "allow"
    if path.suffix == ".model" and path.read_bytes()[:1] == b"\n":
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
        return theirs.encode, "ignore"
    lines = (line.split() for line in path.read_bytes().splitlines())
    theirs = tiktoken.Encoding(
        "x",
        pat_str=str(pattern_of(tok)),
        mergeable_ranks={__import__("base64").b64decode(token): int(rank) for token, rank in lines},
        special_tokens=tok.special_tokens,
    )
    return lambda text: theirs.encode(text, allowed_special="all"), "allow"


def load(path: Path, tok: jeton.Tokenizer) -> jeton.Tokenizer:
    """What was saved, loaded with what its format leaves open."""
    if path.name == "vocab.json":
        return jeton.load(path, special_tokens=tok.special_tokens)
    if path.suffix == ".tiktoken" or (path.suffix == ".model" and path.read_bytes()[:1] != b"\n"):
        return jeton.load(path, pattern=pattern_of(tok), special_tokens=tok.special_tokens)
    return jeton.load(path)


NAMES = ("x.json", "folder", "x.tiktoken", "vocab.json", "x.model", "vocab.txt")


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES)
def test_added_tokens_survive_every_format(family: str, tmp_path: Path) -> None:
    plain = FAMILIES[family]()
    saved: Counter[str] = Counter()
    for seed in range(400 if FULL else 12):
        numbers = random.Random(f"{family} {seed}")
        try:
            tok = plain.replace(
                added_tokens=[*plain.stages.added_tokens, *draw_tokens(numbers, plain)]
            )
        except (ArgumentError, FormatError):
            continue  # a token that is there already
        texts = list(draw_texts(numbers, tok, 200 if FULL else 60))
        for name in NAMES:
            path = tmp_path / f"{seed}" / name
            path.parent.mkdir(exist_ok=True)
            try:
                tok.save(path, lossy=True)
            except UnsupportedError:
                assert not path.exists()
                continue
            saved[name] += 1
            where = f"{family} {seed} {name}: {tok.stages.added_tokens}"
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                again = load(path, tok)
            theirs = judge(path, tok)
            for text in texts:
                for special in ("ignore", "allow"):
                    expected = ids(lambda text: tok.encode(text, special=special), text)  # noqa: B023
                    found = ids(lambda text: again.encode(text, special=special), text)  # noqa: B023
                    assert found == expected, f"{where}: {text!r}, special={special!r}"
                    if theirs is not None and theirs[1] == special:
                        given = ids(theirs[0], text)
                        assert given in (expected, None), f"{where}: {text!r}, the library"
                if expected is not None:
                    assert again.decode(expected) == tok.decode(expected), f"{where}: {text!r}"
    assert saved["x.json"] or family.startswith(".model"), saved


def test_added_tokens_are_decoded_from_a_file_as_they_were() -> None:
    """What a normalizer makes of an added token decides, since that is what is decoded."""

    def normalized(content: str, normalizer: normalizers.Normalizer) -> jeton.Tokenizer:
        token = jeton.AddedToken(content, normalized=True)
        return byte_level().replace(normalizer=normalizer).with_added_tokens([token])

    # The file writes a byte as `İ`, which NFD takes apart and NFC puts together.
    tok = normalized("İİ", normalizers.NFD())
    again = jeton.Tokenizer.from_json(tok.to_json())
    ids = tok.encode("the İİ", special="allow")
    assert again.encode("the İİ", special="allow") == ids and again.decode(ids) == tok.decode(ids)
    with pytest.raises(UnsupportedError, match="other bytes"):
        normalized("I\u0307" * 2, normalizers.NFC()).to_json()


def test_an_added_token_may_have_the_id_of_a_byte_that_is_spelled_so() -> None:
    """As tokenizers makes it of `add_tokens(["é"])`: a file writes the byte E9 as `é`."""
    content = json.loads(byte_level().to_json())
    id = content["model"]["vocab"]["é"]
    token = {"id": id, "content": "é", "normalized": True, "special": False}
    token |= {"single_word": False, "lstrip": False, "rstrip": False}
    content["added_tokens"] = [token]
    for form in ("NFC", "NFD", "NFKD"):
        content["normalizer"] = {"type": form}
        tok = jeton.Tokenizer.from_json(json.dumps(content))
        assert tok.encode("é", special="allow") == [id], form
        assert jeton.Tokenizer.from_json(tok.to_json()).encode("é", special="allow") == [id]
