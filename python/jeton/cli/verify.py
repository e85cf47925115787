"""Whether two tokenizers give the same ids: on the text that ships with jeton and on hard strings.

Look here for what `jeton convert` compares before it keeps a file: the tokenizer read back from
the file, and the library that the format belongs to, if that is installed.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import mmap
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jeton
from jeton import samples
from jeton.cli.command import is_out_of_memory
from jeton.errors import InternalError, UnsupportedError
from jeton.interop.tiktoken import conditions

Encode = Callable[[str], Sequence[int]]

HARD_STRINGS = 2_000

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
    """The result of a comparison."""

    against: str
    texts: int
    tokens: int
    differing: tuple[str, ...]
    """The texts whose ids differ."""
    refused: int = 0
    """How many texts neither side encodes."""


def sample_texts(specials: Sequence[str]) -> list[str]:
    """The samples, whole and by line; fixed hard strings; special tokens in text.

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


def compare(against: str, first: Encode, second: Encode, texts: Sequence[str]) -> Check:
    """Encodes every text on both sides. A text that both refuse is not a difference."""
    tokens = both_refuse = 0
    differing = []
    for text in texts:
        ids = _ids(first, text)
        if ids != _ids(second, text):
            differing.append(text)
        elif ids is None:
            both_refuse += 1
        tokens += len(ids or ())
    return Check(against, len(texts), tokens, tuple(differing), both_refuse)


def _ids(encode: Encode, text: str) -> list[int] | None:
    """The ids; `None` if the text has a character outside a closed alphabet."""
    try:
        return list(encode(text))
    except (InternalError, MemoryError):
        raise
    except Exception:  # tokenizers raises no other
        return None


def pattern_of(tok: jeton.Tokenizer) -> str | None:
    """The pattern that splits text before ranks apply; `None` without one."""
    with contextlib.suppress(UnsupportedError):
        return conditions.pattern_of(tok)
    return None


@dataclass(frozen=True, slots=True)
class Library:
    """A library that reads the format of a file, and its function to encode with that file."""

    name: str
    encode: Encode
    finds_special: bool
    """Whether it finds special tokens in text; otherwise they stay text."""


def library_of(written: Path, tok: jeton.Tokenizer) -> Library | None:
    """The library that the format of a file belongs to, with that file opened.

    `None` if it is not installed, if it needs settings that the file does not have, or if the name
    of the file is not UTF-8, as the libraries need it.

    Args:
        written: The file, or the folder of a `tokenizer.json`.
        tok: The tokenizer that was saved.
    """
    name, make = _library(written)
    is_utf8 = str(written).encode(errors="ignore").decode() == str(written)
    if importlib.util.find_spec(name) is None or not is_utf8:
        return None
    try:
        if name != "gguf":
            _ask_for_room(written)
        encode = make(written, tok)
    except Exception as error:
        if is_out_of_memory(error):
            raise MemoryError from error
        raise UnsupportedError(
            f"{written}: not kept, because {name} cannot read it: {error}"
        ) from (error)
    finds_special = name not in ("sentencepiece", "mistral_common")
    return None if encode is None else Library(name, encode, finds_special)


def _ask_for_room(path: Path) -> None:
    """Raises MemoryError if a compiled library has no room for a file: it would abort the process.

    Read from `tokenizer.json`, a tokenizer takes 12 times the size of the file in tokenizers; from
    ranks, up to 26 times in tiktoken. The rest is for its threads.
    """
    files = path.parent.iterdir() if path.is_file() else path.iterdir()
    size = sum(file.stat().st_size for file in files)
    try:
        mmap.mmap(-1, (64 << 20) + 32 * size).close()
    except OSError as error:
        raise MemoryError from error


_Maker = Callable[[Path, jeton.Tokenizer], Encode | None]


def _library(path: Path) -> tuple[str, _Maker]:
    name = path.name.lower()
    if name.endswith(("vocab.json", "encoder.json")):
        return "tokenizers", _gpt2_pair
    if name.endswith(".txt"):
        return "tokenizers", _bert
    if name.endswith(".gguf"):
        return "gguf", _gguf
    if name.endswith("tekken.json"):
        return "mistral_common", _tekken
    if holds_ranks(path):
        return "tiktoken", _tiktoken
    if name.endswith(".model"):
        return "sentencepiece", _sentencepiece
    return "tokenizers", _hugging_face


def holds_ranks(path: Path) -> bool:
    """Whether a written file holds ranks: a `.tiktoken`, or a `.model` like Llama 3's."""
    if not path.name.lower().endswith(".model"):
        return path.name.lower().endswith(".tiktoken")
    with path.open("rb") as file:
        fields = file.readline(1 << 16).split()
    return len(fields) == 2 and fields[1].isdigit()


def _hugging_face(path: Path, tok: jeton.Tokenizer) -> Encode | None:
    import tokenizers

    path = path / "tokenizer.json" if path.is_dir() else path
    theirs: Any = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    if getattr(theirs.model, "dropout", None):
        theirs.model.dropout = None  # it would skip merges at random; jeton only when asked
    return lambda text: theirs.encode(text, add_special_tokens=False).ids


def _gpt2_pair(path: Path, tok: jeton.Tokenizer) -> Encode | None:
    import tokenizers

    merges = next(file for file in path.parent.iterdir() if file != path)
    theirs: Any = tokenizers.ByteLevelBPETokenizer(str(path), str(merges))
    theirs.add_special_tokens(sorted(tok.special_tokens, key=tok.special_tokens.__getitem__))
    return lambda text: theirs.encode(text).ids


def _bert(path: Path, tok: jeton.Tokenizer) -> Encode | None:
    import tokenizers

    lowercase = getattr(tok.stages.normalizer, "lowercase", True)
    theirs: Any = tokenizers.BertWordPieceTokenizer(str(path), lowercase=lowercase)
    return lambda text: theirs.encode(text, add_special_tokens=False).ids


def _gguf(path: Path, tok: jeton.Tokenizer) -> Encode | None:
    import gguf

    # gguf reads files and does not encode.
    gguf.GGUFReader(path)
    return None


def _tekken(path: Path, tok: jeton.Tokenizer) -> Encode | None:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    theirs: Any = Tekkenizer.from_file(path)
    return lambda text: theirs.encode(text, bos=False, eos=False)


def _tiktoken(path: Path, tok: jeton.Tokenizer) -> Encode | None:
    import tiktoken

    pattern = pattern_of(tok)
    if pattern is None:
        return None
    ranks = {}
    for line in path.read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    theirs = tiktoken.Encoding(
        path.stem, pat_str=pattern, mergeable_ranks=ranks, special_tokens=tok.special_tokens
    )
    return lambda text: theirs.encode(text, allowed_special="all")


def _sentencepiece(path: Path, tok: jeton.Tokenizer) -> Encode | None:
    import sentencepiece

    theirs: Any = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return lambda text: theirs.encode(text)
