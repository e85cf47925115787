"""Whether two tokenizers give the same ids: on the text that ships with jeton and on hard strings.

Look here for what `jeton convert` compares before it keeps a file: the tokenizer read back from
what was written, and the library that the format belongs to, where that is installed.
"""

from __future__ import annotations

import base64
import importlib.util
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jeton
from jeton import samples

__all__ = ["Check", "compare", "library_encoder", "pattern_of", "sample_texts"]

Encode = Callable[[str], Sequence[int]]

HARD_STRINGS = 2_000

GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ'’sStTdDmM",
    "0123456789٠١٢٣४५६½²Ⅻ",
    "     \t\n\r\u00a0\u2003\u3000\u2028\u0085\u200b",
    ".,;:!?'\"()[]{}<>|/\\-_=+*&^%$#@~`",
    "éüñçßøåœæıİĞşłźžőű",
    "e\u0301n\u0303a\u0308\u0327\u0336\u200d\ufe0f",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяЁЇ",
    "αβγδεζηθικλμνξοπρσςτυφχψωάέή",
    "אבגדהוזחטיכלמנסעפצקרשתְּ",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهويًّ",
    "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसहािीुूेैोौ्ं",
    "的一是不了人我在有他这中大来上国学而時習之",
    "あいうえおかきくけこアイウエオカキクケコー々",
    "가나다라마바사아자차카타파하한국어",
    "😀👍🏽👩‍👩‍👧🇫🇷🏴󠁧󠁢☀️♥🪞",
    "\x00\x01\x07\x1b\x7f\ufeff\ufffd\uffff\U0010ffff",
    "▁Ġ##<>/w</w>[UNK]",
)


@dataclass(frozen=True, slots=True)
class Check:
    """What a comparison found."""

    against: str
    texts: int
    tokens: int
    differing: tuple[str, ...]
    """The texts whose ids differ."""


def sample_texts(specials: Sequence[str]) -> list[str]:
    """The samples, whole and in lines; hard strings, the same each time; special tokens in text.

    >>> texts = sample_texts(["<|end|>"])
    >>> len(texts) > 3_000, "" in texts, texts == sample_texts(["<|end|>"])
    (True, True, True)
    """
    texts = ["", *samples.read_all().values()]
    for text in samples.read_all().values():
        texts += text.splitlines(keepends=True)
    numbers = random.Random(20)
    for _ in range(HARD_STRINGS):
        parts = []
        for _ in range(numbers.randint(1, 6)):
            alphabet = numbers.choice(_ALPHABETS)
            part = "".join(numbers.choices(alphabet, k=numbers.randint(1, 8)))
            parts.append(part * numbers.choice((1, 1, 1, 1, 2, 7)))
        texts.append(numbers.choice(("", "", " ")).join(parts))
    for special in list(specials)[:64]:
        texts += [special, f"a{special}b", f" {special} \n{special}{special}", special[:-1]]
    return texts


def compare(against: str, expected: Encode, found: Encode, texts: Sequence[str]) -> Check:
    """Encodes every text on both sides."""
    tokens = 0
    differing = []
    for text in texts:
        ids = list(expected(text))
        tokens += len(ids)
        if ids != list(found(text)):
            differing.append(text)
    return Check(against, len(texts), tokens, tuple(differing))


def pattern_of(tok: jeton.Tokenizer) -> str | None:
    """The pattern that cuts text before ranks, where the tokenizer has one."""
    stages = [tok.pre_tokenizer, *getattr(tok.pre_tokenizer, "steps", ())]
    for stage in stages:
        source = getattr(getattr(stage, "pattern", None), "source", None)
        if source is not None:
            return str(source)
        if getattr(stage, "use_regex", False):
            return GPT2_PATTERN
    return None


def library_encoder(
    path: Path, pattern: str | None, specials: dict[str, int]
) -> tuple[str, Encode] | None:
    """How the library that the format of `path` belongs to encodes with it, special tokens found.

    `None` where it is not installed.
    """
    name, make = {
        ".json": ("tokenizers", _tokenizers),
        ".tiktoken": ("tiktoken", _tiktoken),
        ".model": ("sentencepiece", _sentencepiece),
    }.get(path.suffix, ("", None))
    if make is None or importlib.util.find_spec(name) is None:
        return None
    encode = make(path, pattern, specials)
    return None if encode is None else (name, encode)


def _tokenizers(path: Path, pattern: str | None, specials: dict[str, int]) -> Encode | None:
    import tokenizers

    if path.name.endswith("vocab.json"):
        return None
    theirs: Any = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    return lambda text: theirs.encode(text, add_special_tokens=False).ids


def _tiktoken(path: Path, pattern: str | None, specials: dict[str, int]) -> Encode | None:
    import tiktoken

    if pattern is None:
        return None
    ranks = {}
    for line in path.read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    theirs = tiktoken.Encoding(
        path.stem, pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials
    )
    return lambda text: theirs.encode(text, allowed_special="all")


def _sentencepiece(path: Path, pattern: str | None, specials: dict[str, int]) -> Encode | None:
    import sentencepiece

    if not path.read_bytes().startswith(b"\n"):
        return None  # ranks, as Llama 3 has them
    theirs: Any = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return lambda text: theirs.encode(text)
