"""Presses Ctrl-C in the midst of long calls: a program for `test_interrupts.py`.

    python interrupted_calls.py NAME...

For each named call, prints its name, what it ended by and how many seconds after the signal. A call
that was over before the signal is made again with a longer text.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jeton
from jeton.components import Regex, models, normalizers, pre_tokenizers
from kinds import LLAMA, byte_level, characters, unigram, word_piece

DELAY = 0.1
"""Seconds from the beginning of a call to the signal."""

LARGEST = 1 << 28
"""Bytes of text that take long enough on any machine."""

WORDS = "The weather, père 東京 would've been Ωμέγα 12345 un able theory x=1\n"


def prose(size: int) -> str:
    """Words that were hardly ever met before."""
    lines = (f"{WORDS}{number * 2654435761 % 4294967296:x} " for number in range(size // 96 + 1))
    return "".join(lines)


def one_word(size: int) -> str:
    return "ab" * (size // 2)


def one_letter(size: int) -> str:
    return "a" * size


def spaces(size: int) -> str:
    return " " * size


def chinese(size: int) -> str:
    """One word to some, and one of each character to others."""
    return "天地玄黃宇宙洪荒" * (size // 24)


def digits(size: int) -> str:
    return "31415926535" * (size // 11)


def lone_surrogates(size: int) -> str:
    return "ab\ud800 " * (size // 4)


def ids_of(tok: jeton.Tokenizer, size: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    few = tok.encode_array(WORDS * 64)
    return np.tile(few, size // len(few) + 1)


def sentencepiece(kind: str) -> jeton.Tokenizer:
    texts = [WORDS, "the theory of the weather there"] * 4
    if kind == "bpe":
        return jeton.BPETrainer(300, **LLAMA).train(texts)
    return jeton.UnigramTrainer(45).train(texts)


def of_text(
    call: Callable[[jeton.Tokenizer, str], object],
    make: Callable[[], jeton.Tokenizer] = byte_level,
    text: Callable[[int], str] = prose,
) -> Callable[[int], Callable[[], object]]:
    def prepared(size: int) -> Callable[[], object]:
        tok, given = make(), text(size)
        tok.encode(given[:5000])
        return lambda: call(tok, given)

    return prepared


def columns_of(name: str) -> Callable[[int], Callable[[], object]]:
    def prepared(size: int) -> Callable[[], object]:
        encoding = byte_level().encode_with_spans(prose(size))
        return lambda: getattr(encoding, name)

    return prepared


def of_ids(call: Callable[[jeton.Tokenizer, Any], object]) -> Callable[[int], Callable[[], object]]:
    def prepared(size: int) -> Callable[[], object]:
        tok = byte_level()
        given = ids_of(tok, size)
        return lambda: call(tok, given)

    return prepared


def normalizing() -> jeton.Tokenizer:
    stages = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    return characters().replace(normalizer=normalizers.Sequence(stages))


def splitting(source: str) -> Callable[[], jeton.Tokenizer]:
    split = pre_tokenizers.Split(Regex(source), "isolated")
    return lambda: byte_level().replace(pre_tokenizer=split)


def replacing(pattern: Regex | str) -> Callable[[], jeton.Tokenizer]:
    return lambda: characters().replace(normalizer=normalizers.Replace(pattern, "-"))


def file_of(size: int) -> Path:
    """A file of about that many bytes."""
    vocab = {f"w{number}": number for number in range(size // 16)}
    small = jeton.Tokenizer(models.WordLevel({"w0": 0}, unk_token="w0")).to_json()
    stages = json.loads(small)
    stages["model"]["vocab"] = vocab
    path = Path(tempfile.mkdtemp()) / "tokenizer.json"
    path.write_text(json.dumps(stages), "utf-8")
    return path


def loading(size: int) -> Callable[[], object]:
    path = file_of(size)
    return lambda: jeton.load(path)


def saving(name: str) -> Callable[[int], Callable[[], object]]:
    def prepared(size: int) -> Callable[[], object]:
        path = file_of(size)
        tok = jeton.load(path)
        return lambda: tok.save(path.parent / name)

    return prepared


def saving_words(size: int) -> Callable[[], object]:
    vocab = {"[UNK]": 0, **{f"w{number}": number + 1 for number in range(size // 16)}}
    path = Path(tempfile.mkdtemp()) / "vocab.txt"
    path.write_text("\n".join(vocab), "utf-8")
    tok = jeton.load(path)
    return lambda: tok.save(path.parent / "other.txt")


def adding(size: int) -> Callable[[], object]:
    tok = byte_level().with_added_tokens([f"<{number}>" for number in range(size >> 6)])
    return lambda: tok.with_added_tokens(["<new>"])


def approximating(size: int) -> Callable[[], object]:
    tok = sentencepiece("bpe")
    return lambda: [tok.approximation("tokenizer.json") for _ in range(size >> 10)]


def training(trainer: Any) -> Callable[[int], Callable[[], object]]:
    def prepared(size: int) -> Callable[[], object]:
        counts = trainer.count(prose(size).splitlines())
        return lambda: trainer.train(counts)

    return prepared


CALLS: dict[str, Callable[[int], Callable[[], object]]] = {
    "encode": of_text(lambda tok, text: tok.encode(text)),
    "encode a word": of_text(lambda tok, text: tok.encode(text), text=one_word),
    "encode a letter": of_text(lambda tok, text: tok.encode_array(text), text=one_letter),
    "encode a letter with spans": of_text(
        lambda tok, text: tok.encode_array(text, spans="characters"), text=one_letter
    ),
    "encode spaces": of_text(lambda tok, text: tok.encode_array(text), text=spaces),
    "encode digits": of_text(lambda tok, text: tok.encode_array(text), text=digits),
    "encode Chinese": of_text(lambda tok, text: tok.encode_array(text), text=chinese),
    "encode Chinese with spans": of_text(
        lambda tok, text: tok.encode_with_spans(text), text=chinese
    ),
    "encode lone surrogates": of_text(lambda tok, text: tok.count(text), text=lone_surrogates),
    "encode, special tokens raise": of_text(lambda tok, text: tok.encode(text, special="raise")),
    "encode, special tokens allowed": of_text(lambda tok, text: tok.encode(text, special="allow")),
    "encode with dropout": of_text(lambda tok, text: tok.encode(text, dropout=0.1)),
    "encode to an array": of_text(lambda tok, text: tok.encode_array(text)),
    "encode with spans": of_text(lambda tok, text: tok.encode_with_spans(text)),
    "the spans of an encoding": columns_of("spans"),
    "the tokens of an encoding": columns_of("tokens"),
    "the words of an encoding": columns_of("word_ids"),
    "encode a pair with spans": of_text(lambda tok, text: tok.encode_with_spans(text, text)),
    "encode a batch": of_text(lambda tok, text: tok.encode_batch([text] * 3)),
    "encode a batch of lines": of_text(lambda tok, text: tok.encode_batch(text.split("\n"))),
    "count": of_text(lambda tok, text: tok.count(text)),
    "count a batch": of_text(lambda tok, text: tok.count_batch([text] * 3)),
    "exceeds": of_text(lambda tok, text: tok.exceeds(text, len(text))),
    "WordPiece": of_text(lambda tok, text: tok.encode(text), word_piece),
    "WordPiece with spans": of_text(lambda tok, text: tok.encode_with_spans(text), word_piece),
    "WordPiece, Chinese": of_text(
        lambda tok, text: tok.encode_array(text), word_piece, text=chinese
    ),
    "WordPiece, a letter": of_text(
        lambda tok, text: tok.encode_array(text), word_piece, text=one_letter
    ),
    "Unigram": of_text(lambda tok, text: tok.encode(text), unigram),
    "Unigram, a word": of_text(lambda tok, text: tok.encode(text), unigram, one_word),
    "Unigram, the best": of_text(lambda tok, text: tok.nbest(text, 8), unigram),
    "characters": of_text(lambda tok, text: tok.encode(text), characters),
    "SentencePiece BPE": of_text(lambda tok, text: tok.encode(text), lambda: sentencepiece("bpe")),
    "SentencePiece BPE, a word": of_text(
        lambda tok, text: tok.encode(text), lambda: sentencepiece("bpe"), one_word
    ),
    "SentencePiece BPE, a letter": of_text(
        lambda tok, text: tok.encode_array(text), lambda: sentencepiece("bpe"), one_letter
    ),
    "SentencePiece Unigram, a letter": of_text(
        lambda tok, text: tok.encode_array(text), lambda: sentencepiece("unigram"), one_letter
    ),
    "SentencePiece Unigram, Chinese": of_text(
        lambda tok, text: tok.encode_array(text), lambda: sentencepiece("unigram"), chinese
    ),
    "SentencePiece BPE, spaces": of_text(
        lambda tok, text: tok.count(text), lambda: sentencepiece("bpe"), spaces
    ),
    "SentencePiece Unigram": of_text(
        lambda tok, text: tok.encode(text), lambda: sentencepiece("unigram")
    ),
    "SentencePiece Unigram, drawn": of_text(
        lambda tok, text: tok.encode(text, alpha=0.5), lambda: sentencepiece("unigram")
    ),
    "SentencePiece Unigram, the best": of_text(
        lambda tok, text: tok.nbest(text, 8), lambda: sentencepiece("unigram")
    ),
    "normalizers": of_text(lambda tok, text: tok.encode(text), normalizing),
    "an expression": of_text(
        lambda tok, text: tok.encode(text), splitting(r"\p{L}{1,3}|\p{N}+|[^\p{L}\p{N}]")
    ),
    "an expression with a group": of_text(
        lambda tok, text: tok.encode(text), splitting(r"(\p{L})\1|(?>\w+)|\W")
    ),
    "an expression that is nowhere": of_text(
        lambda tok, text: tok.encode(text), splitting(r"[ab]+c"), one_word
    ),
    "a large expression that is nowhere": of_text(
        lambda tok, text: tok.encode(text), splitting(r"[ab]*a[ab]{20}c"), one_word
    ),
    "a look that is nowhere": of_text(
        lambda tok, text: tok.encode(text), splitting(r"[ab]+c(?=d)"), one_word
    ),
    "an expression that goes to the end and back": of_text(
        lambda tok, text: tok.encode(text), splitting("(?:a{300})*b|a"), one_letter
    ),
    "replacing an expression that is nowhere": of_text(
        lambda tok, text: tok.count(text), replacing(Regex("[ab]+c")), one_word
    ),
    "a normalizer by itself": of_text(lambda _, text: normalizers.NFKD()(text), characters),
    "a pre-tokenizer by itself": of_text(
        lambda _, text: pre_tokenizers.BertPreTokenizer()(text), characters
    ),
    "decode": of_ids(lambda tok, ids: tok.decode(ids)),
    "decode a list": of_ids(lambda tok, ids: tok.decode(ids.tolist())),
    "decode without special tokens": of_ids(
        lambda tok, ids: tok.decode(ids, skip_special_tokens=True)
    ),
    "decode to bytes": of_ids(lambda tok, ids: tok.decode_bytes(ids)),
    "decode a batch": of_ids(lambda tok, ids: tok.decode_batch([ids] * 4)),
    "train Unigram": training(jeton.UnigramTrainer(2_000)),
    "train SentencePiece's BPE": training(jeton.BPETrainer(2_000, alphabet="sentencepiece")),
    "load": loading,
    "save": saving("other.json"),
    "save a folder": saving("folder"),
    "save a vocab.txt": saving_words,
    "with_added_tokens": adding,
    "approximation": approximating,
}


def interrupted(prepare: Callable[[int], Callable[[], object]]) -> tuple[str, float]:
    """What a call ended by, and how long after the signal."""
    size = 1 << 22
    while True:
        call = prepare(size)
        sent: list[float] = []
        done = threading.Event()

        def send(sent: list[float] = sent, done: threading.Event = done) -> None:
            if not done.wait(DELAY):
                sent.append(time.perf_counter())
                os.kill(os.getpid(), signal.SIGINT)

        sender = threading.Thread(target=send)
        try:
            sender.start()
            call()
            done.set()
            sender.join()
            ended_by = "nothing"
        except BaseException as error:
            ended_by = type(error).__name__
        ended = time.perf_counter()
        done.set()
        sender.join()
        if sent and ended_by == "KeyboardInterrupt":
            return ended_by, ended - sent[0]
        if ended_by != "nothing" or size >= LARGEST:
            return ended_by, 0.0
        size *= 4


def main() -> None:
    for name in sys.argv[1:]:
        ended_by, seconds = interrupted(CALLS[name])
        print(name, ended_by, f"{seconds:.3f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
