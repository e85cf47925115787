"""How long Ctrl-C waits inside one call: on 100 MB of text, on its ids, or with huge files.

    python benchmarks/interrupts.py        # every tokenizer, text and call: some hours
    python benchmarks/interrupts.py --tokenizers r50k bert --texts a chinese --calls encode_array
    python benchmarks/interrupts.py --files    # loading and saving hundreds of thousands of tokens

Each call is made once to its end, while a signal comes every few milliseconds: the longest time in
which none is heard is the longest that Ctrl-C waits anywhere in it. Then it is made again for some
moments at which Ctrl-C comes, after which what is there by then is freed. A call that makes Python
objects of every token has a fifth of the text; decoding has 20 million ids or more. Prints a row
for each tokenizer, text and call: how long the whole call takes, and the longest wait, both in
seconds of the processor, all threads together: a machine with other work to do counts the same.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import pickle
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import jeton
from jeton.components import models, normalizers, pre_tokenizers

VOCAB = Path(__file__).resolve().parents[2] / "shared" / "data" / "vocab"


def trained_unigram() -> jeton.Tokenizer:
    texts = [english(200_000), chinese(20_000), russian(20_000)]
    return jeton.UnigramTrainer(2000, style="huggingface", hard_vocab_limit=False).train(texts)


def trained_word_piece() -> jeton.Tokenizer:
    return jeton.WordPieceTrainer(2000).train([english(200_000), chinese(20_000)])


def words() -> jeton.Tokenizer:
    vocab = {"<unk>": 0, "the": 1, "weather": 2}
    return jeton.Tokenizer(
        models.WordLevel(vocab, unk_token="<unk>"), pre_tokenizer=pre_tokenizers.WhitespaceSplit()
    )


TOKENIZERS: dict[str, Callable[[], jeton.Tokenizer]] = {
    "r50k": lambda: jeton.load(VOCAB / "r50k_base.tiktoken", pattern="gpt2"),
    "cl100k": lambda: jeton.load(VOCAB / "cl100k_base.tiktoken", pattern="cl100k"),
    "o200k": lambda: jeton.load(VOCAB / "o200k_base.tiktoken", pattern="o200k"),
    "llama2": lambda: jeton.load(VOCAB / "llama2_sentencepiece_bpe.model"),
    "llama3": lambda: jeton.load(VOCAB / "llama3_ranks.model", pattern="llama3"),
    "t5": lambda: jeton.load(VOCAB / "t5_style_unigram.model"),
    "neox": lambda: jeton.load(VOCAB / "neox" / "tokenizer.json"),
    "bert": lambda: jeton.load(VOCAB / "bert_uncased_vocab.txt"),
    "unigram": trained_unigram,
    "wordpiece": trained_word_piece,
    "words": words,
}


def repeated(text: str, size: int) -> str:
    """So many bytes of UTF-8, about."""
    return text * (size // len(text.encode()))


def english(size: int) -> str:
    line = "The weather there would've been fine, they said; 12345 people x=1 went out again.\n"
    return repeated(line, size)


def chinese(size: int) -> str:
    return repeated("天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏", size)


def russian(size: int) -> str:
    return repeated("превысокомногорассмотрительствующий", size)


def letters(size: int) -> str:
    draw = random.Random(1)
    return repeated("".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000)), size)


def mixed(size: int) -> str:
    """Every character of the first planes in some order: combining marks, controls and all."""
    points = [*range(0x20, 0xD800), *range(0xE000, 0x1_2000), *range(0x1_F000, 0x1_FB00)]
    random.Random(2).shuffle(points)
    return repeated("".join(map(chr, points)), size)


TEXTS: dict[str, Callable[[int], str]] = {
    "a": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "newlines": lambda size: "\n" * size,
    "digits": lambda size: repeated("31415926535", size),
    "letters": letters,
    "english": english,
    "chinese": chinese,
    "russian": russian,
    "emoji": lambda size: repeated("🙂👩‍🚀", size),
    "marks": lambda size: repeated("a\u0301\u0323", size),
    "mixed": mixed,
    "surrogates": lambda size: "\ud800" * (size // 3),
    "surrogate words": lambda size: "ab\ud800 " * (size // 6),
}


def streamed(tok: jeton.Tokenizer, text: str) -> None:
    part = 1 << 24
    for _ in tok.encode_stream(text[at : at + part] for at in range(0, len(text), part)):
        pass


CALLS: dict[str, Callable[[jeton.Tokenizer, Any], object]] = {
    "encode": lambda tok, text: tok.encode(text),
    "encode_array": lambda tok, text: tok.encode_array(text),
    "encode_array, spans": lambda tok, text: tok.encode_array(text, spans="characters"),
    "in bytes": lambda tok, text: tok.encode_array(text, spans="bytes"),
    "encode_with_spans": lambda tok, text: tok.encode_with_spans(text),
    "pair with spans": lambda tok, text: tok.encode_with_spans(text, text),
    "pairs": lambda tok, text: tok.encode_batch([(text, text)]),
    "pairs with spans": lambda tok, text: tok.encode_batch([(text, text)], spans="characters"),
    "call with a pair": lambda tok, text: tok(text, text),
    "truncating call": lambda tok, text: tok(text, text, truncation=True, max_length=512),
    "in UTF-16": lambda tok, text: tok.encode_array(text, spans="utf-16"),
    "spans": lambda tok, text: tok.encode_with_spans(text).spans,
    "tokens": lambda tok, text: tok.encode_with_spans(text).tokens,
    "word_ids": lambda tok, text: tok.encode_with_spans(text).word_ids,
    "type_ids": lambda tok, text: tok.encode_with_spans(text).type_ids,
    "count": lambda tok, text: tok.count(text),
    "exceeds": lambda tok, text: tok.exceeds(text, 10**9),
    "allow": lambda tok, text: tok.encode_array(text, special="allow"),
    "raise": lambda tok, text: tok.encode_array(text, special="raise"),
    "encode_batch": lambda tok, text: tok.encode_batch([text]),
    "encode_batch with spans": lambda tok, text: tok.encode_batch([text], spans="characters"),
    "split words": lambda tok, text: tok.encode_batch([text.split()], is_split_into_words=True),
    "tolist": lambda tok, text: tok.encode_batch([text]).tolist(),
    "count_batch": lambda tok, text: tok.count_batch([text]),
    "call": lambda tok, text: tok(text),
    "call with offsets": lambda tok, text: tok(text, return_offsets_mapping=True),
    "chunk": lambda tok, text: tok.chunk(text, 512),
    "truncate": lambda tok, text: tok.truncate(text, 10**9),
    "explain": lambda tok, text: tok.explain(text),
    "encode_stream": streamed,
}

LARGE = {
    *("spans", "tokens", "word_ids", "type_ids", "split words", "tolist", "call"),
    *("call with offsets", "call with a pair", "truncating call", "chunk", "explain"),
}
"""They make Python objects of hundreds of bytes per token: a fifth of the text is enough."""


def decoded_in_parts(tok: jeton.Tokenizer, ids: Any) -> None:
    stream = tok.decode_stream()
    part = 1 << 24
    for at in range(0, len(ids), part):
        stream.push(ids[at : at + part])


def huge() -> jeton.Tokenizer:
    """Of a million words, and 200,000 added tokens."""
    vocab = {f"w{number}": number for number in range(1_000_000)}
    tok = jeton.Tokenizer(models.WordLevel(vocab, unk_token="w0"))
    return tok.with_added_tokens([f"▁{number}" for number in range(200_000)])


def files(folder: Path) -> dict[str, jeton.Tokenizer]:
    """Tokenizers of hundreds of thousands of tokens by the name that says their format."""
    lines = ["[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(1_000_000))]
    (folder / "lines.txt").write_text("\n".join(lines), "utf-8")
    return {
        "tokenizer.json": huge(),
        "vocab.txt": jeton.load(folder / "lines.txt"),
        "vocab.json": TOKENIZERS["neox"](),
        "ranks.tiktoken": TOKENIZERS["o200k"](),
        "t5.model": TOKENIZERS["t5"](),
    }


def filed() -> dict[str, Callable[[], object]]:
    """Loading and saving something huge, and turning a tokenizer into one of another format."""
    folder = Path(tempfile.mkdtemp())
    calls: dict[str, Callable[[], object]] = {}
    toks = files(folder)
    for name, tok in toks.items():
        try:
            tok.save(folder / name)
        except jeton.JetonError as error:
            print(f"  {name}: {error}", file=sys.stderr)
            continue
        pattern = "o200k" if "ranks" in name else None
        calls[f"load {name}"] = partial(jeton.load, folder / name, pattern=pattern)
        calls[f"save {name}"] = partial(tok.save, folder / name)
    tok, t5 = toks["tokenizer.json"], toks["t5.model"]
    stored = tok.to_json()
    return {
        **calls,
        "save a folder": lambda: tok.save(folder / "folder"),
        "to_json": tok.to_json,
        "from_json": lambda: jeton.Tokenizer.from_json(stored),
        "pickle": lambda: pickle.dumps(tok),
        "approximation": lambda: t5.approximation("tokenizer.json"),
        "with_added_tokens": lambda: tok.with_added_tokens(["<new>"]),
        "added_tokens": lambda: tok.stages.added_tokens,
        "replace": lambda: tok.replace(normalizer=normalizers.NFC()),
        "replace added_tokens": lambda: tok.replace(added_tokens=tok.stages.added_tokens[1:]),
        "vocab": lambda: tok.vocab.items(),
        "model": lambda: tok.stages.model,
        "special_tokens": lambda: tok.special_tokens,
        "digest": lambda: tok.digest,
    }


DECODINGS: dict[str, Callable[[jeton.Tokenizer, Any], object]] = {
    "decode": lambda tok, ids: tok.decode(ids),
    "decode, strict": lambda tok, ids: tok.decode(ids, errors="strict"),
    "decode_bytes": lambda tok, ids: tok.decode_bytes(ids),
    "decode_batch": lambda tok, ids: tok.decode_batch([ids]),
    "decode a list": lambda tok, ids: tok.decode(ids),
    "decode_batch of lists": lambda tok, ids: tok.decode_batch([ids]),
    "decode_stream": decoded_in_parts,
    "skip": lambda tok, ids: tok.decode(ids, skip_special_tokens=True),
}


BETWEEN = 0.005
"""Seconds of the processor from one signal to the next."""


def waited(call: Callable[[], object], after: float) -> float:
    """Seconds from a signal, sent this long after the call, to its exception; 0 if it was over."""
    gc.collect()
    began = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, after)
        call()
        signal.setitimer(signal.ITIMER_PROF, 0)
    except KeyboardInterrupt:
        return max(time.process_time() - began - after, 0.0)
    except jeton.JetonError:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return 0.0


def unheard(call: Callable[[], object]) -> tuple[float, float, float]:
    """Seconds that the call takes, the longest in which it hears no signal, and where, 0 to 1."""
    gc.collect()
    heard = [time.process_time()]
    before = signal.signal(signal.SIGPROF, lambda number, frame: heard.append(time.process_time()))
    signal.setitimer(signal.ITIMER_PROF, BETWEEN, BETWEEN)
    try:
        call()
    except jeton.JetonError as error:
        print(f"  {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        heard.append(time.process_time())
        signal.signal(signal.SIGPROF, before)
    whole = heard[-1] - heard[0]
    longest, start = max((stop - start, start) for start, stop in itertools.pairwise(heard))
    return whole, longest, (start - heard[0]) / max(whole, BETWEEN)


def longest(call: Callable[[], object], moments: int) -> tuple[float, float, float]:
    """Seconds that the call takes, the longest wait, and where in the call that was, 0 to 1."""
    whole, wait, place = unheard(call)
    # Most of what is done in one go stands at the beginning.
    parts = [((moment + 0.5) / moments) ** 2 for moment in range(moments)]
    waits = [(waited(call, whole * part), part) for part in parts]
    return (whole, *max((wait, place), *waits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tokenizers", nargs="*", choices=TOKENIZERS, default=list(TOKENIZERS))
    parser.add_argument("--texts", nargs="*", choices=TEXTS, default=list(TEXTS))
    every = [*CALLS, *DECODINGS]
    parser.add_argument("--calls", nargs="*", choices=every, default=every)
    parser.add_argument("--files", action="store_true", help="only loading, saving and the like")
    parser.add_argument("--size", type=int, default=100_000_000, help="bytes of text")
    parser.add_argument("--moments", type=int, default=3, help="times that each is ended")
    options = parser.parse_args()
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    print("| tokenizer | text | call | takes | waits | at |\n| --- | --- | --- | --: | --: | --: |")
    if options.files:
        for call, work in filed().items():
            whole, wait, place = longest(work, options.moments)
            print(f"| | | {call} | {whole:.2f} | {wait:.3f} | {place:.2f} |", flush=True)
        return
    for text_name in options.texts:
        text = TEXTS[text_name](options.size)
        for name in options.tokenizers:
            tok = TOKENIZERS[name]()
            tok.encode("to begin with " * 1000)
            ids = None
            for call in options.calls:
                if call in CALLS:
                    given = text[: len(text) // 5] if call in LARGE else text
                    work = partial(CALLS[call], tok, given)
                else:
                    if ids is None:
                        ids = tok.encode_array(text)
                        if len(ids) < 20_000_000:
                            ids = np.tile(ids, 20_000_000 // (len(ids) + 1) + 1)
                    given = ids.tolist() if "list" in call else ids
                    work = partial(DECODINGS[call], tok, given)
                whole, wait, place = longest(work, options.moments)
                row = f"| {name} | {text_name} | {call} | {whole:.2f} | {wait:.3f} | {place:.2f} |"
                print(row, flush=True)


if __name__ == "__main__":
    main()
