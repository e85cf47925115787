"""How the time of each public call grows when its text, ids or messages double.

Run it by hand: `python benchmarks/calls_growth.py [CALL …]`. A call that takes time in proportion
to its input takes twice as long for twice as much. The ratio is that of one doubling, over two, as
a single one may be the step at which the input no longer fits the processor's cache; rows with 2.6
or more are marked. Times are of the processor, the best of several runs. `growth.py` has texts made
to be slow.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import jeton

LIMIT = 2.6
RUNS = 3
ENOUGH = 0.02
"""Minimum seconds for the shorter input, whose size is doubled until it takes as long."""

Call = Callable[[int], Callable[[], object]]
"""Prepares a call for a size, which is not timed."""

SENTENCE = "The weather is fine, naïve 図書館 and 12.5 times “better” than last week.\n"
TOK = jeton.load("jeton-4k")
UNIGRAM = jeton.UnigramTrainer(40, hard_vocab_limit=False).train([SENTENCE] * 9)


def text(size: int) -> str:
    """Text of about this many kilobytes."""
    return SENTENCE * (size * 12)


def ids(size: int) -> list[int]:
    """Its ids."""
    return TOK.encode(text(size))


def messages(size: int) -> list[dict[str, Any]]:
    """This many questions and answers."""
    turn = [{"role": "user", "content": SENTENCE}, {"role": "assistant", "content": SENTENCE}]
    return turn * size


def of_text(call: Callable[[str], object]) -> Call:
    def prepared(size: int) -> Callable[[], object]:
        given = text(size)
        return lambda: call(given)

    return prepared


def of_ids(call: Callable[[list[int]], object]) -> Call:
    def prepared(size: int) -> Callable[[], object]:
        given = ids(size)
        return lambda: call(given)

    return prepared


def of_messages(call: Callable[[list[dict[str, Any]]], object]) -> Call:
    def prepared(size: int) -> Callable[[], object]:
        given = messages(size)
        return lambda: call(given)

    return prepared


def pushed(stream: Any, given: list[Any]) -> None:
    """Everything, item by item, into a stream."""
    for item in given:
        stream.push(item)
    stream.finish()


def counted(given: str) -> int:
    """A text that grows line by line, counted at each."""
    grown = TOK.counted_text()
    for line in given.splitlines(keepends=True):
        grown.append(line)
        grown.count()
    return grown.count()


def answer(size: int) -> Callable[[], object]:
    """An answer with this many calls of tools."""
    call = '<tool_call>\n{"name": "look", "arguments": {"place": "here"}}\n</tool_call>\n'
    given = call * size + "<|im_end|>"
    return lambda: TOK.parse(given, format="hermes")


def parsed_stream(size: int) -> Callable[[], object]:
    """The ids of such an answer, one by one."""
    given = TOK.encode('<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>\n' * size)
    return lambda: pushed(TOK.parse_stream(format="hermes"), given)


def extended(given: list[dict[str, Any]]) -> object:
    """One turn more."""
    chat = TOK.chat(given, template="chatml", add_generation_prompt=True)
    return chat.extend(TOK.encode("Well."), messages=[{"role": "user", "content": SENTENCE}])


def trained(trainer: Callable[[], Any]) -> Call:
    def prepared(size: int) -> Callable[[], object]:
        lines = text(size).splitlines()
        return lambda: trainer().train(lines)

    return prepared


CALLS: dict[str, Call] = {
    "encode": of_text(TOK.encode),
    "encode_array": of_text(TOK.encode_array),
    "encode_with_spans": of_text(TOK.encode_with_spans),
    "encode_array, spans": of_text(lambda it: TOK.encode_array(it, spans="characters")),
    "encode_batch": of_text(lambda it: TOK.encode_batch(it.splitlines())),
    "encode_batch with spans": of_text(
        lambda it: TOK.encode_batch(it.splitlines(), spans="characters")
    ),
    "tokens": of_text(TOK.tokens),
    "post_process": of_text(lambda it: TOK.stages.post_process(TOK.encode_with_spans(it))),
    "split": of_text(jeton.split),
    "align": of_text(lambda it: jeton.align(TOK, TOK, it)),
    "nbest": of_text(lambda it: UNIGRAM.nbest(it[: len(it) // 8], 3)),
    "encode, Unigram": of_text(UNIGRAM.encode),
    "encode, sampled": of_text(lambda it: UNIGRAM.encode(it, alpha=0.5, seed=1)),
    "evaluate": of_text(lambda it: jeton.analysis.evaluate(TOK, it.splitlines())),
    "diff": of_text(lambda it: jeton.analysis.diff(TOK, UNIGRAM, it.splitlines())),
    "encode_stream": of_text(lambda it: list(TOK.encode_stream(it.splitlines(keepends=True)))),
    "count": of_text(TOK.count),
    "count_batch": of_text(lambda it: TOK.count_batch(it.splitlines())),
    "counted_text": of_text(counted),
    "exceeds": of_text(lambda it: TOK.exceeds(it, len(it) // 4)),
    "truncate": of_text(lambda it: TOK.truncate(it, 10**9)),
    "truncate, a half": of_text(lambda it: TOK.truncate(it, len(it) // 10)),
    "chunk": of_text(lambda it: TOK.chunk(it, 100)),
    "chunk with overlap": of_text(lambda it: TOK.chunk(it, 100, overlap=20)),
    "chunk_batch": of_text(lambda it: list(TOK.chunk_batch(it.splitlines(), 100))),
    "tok(text)": of_text(lambda it: TOK(it)),
    "tok(texts) with windows": of_text(
        lambda it: TOK([it], max_length=128, truncation=True, return_overflowing_tokens=True)
    ),
    "explain": of_text(lambda it: TOK.explain(it[: len(it) // 8])),
    "gotchas": of_text(TOK.gotchas),
    "usage": of_text(lambda it: TOK.usage(it.splitlines())),
    "decode": of_ids(TOK.decode),
    "decode_bytes": of_ids(TOK.decode_bytes),
    "decode_batch": of_ids(lambda it: TOK.decode_batch([it[at : at + 9] for at in range(len(it))])),
    "spans_of": of_ids(TOK.spans_of),
    "heal": of_ids(TOK.heal),
    "decode_stream": of_ids(lambda it: pushed(TOK.decode_stream(), it)),
    "decode_stream with stops": of_ids(
        lambda it: pushed(TOK.decode_stream(stop=["never there", "nor this"]), it)
    ),
    "chat": of_messages(lambda it: TOK.chat(it, template="chatml")),
    "count_messages": of_messages(lambda it: TOK.count_messages(it, template="chatml")),
    "fit_messages": of_messages(lambda it: TOK.fit_messages(it, 10**6, template="chatml")),
    "fit_messages, a half": of_messages(
        lambda it: TOK.fit_messages(it, 60 + len(it) * 20, template="chatml")
    ),
    "chat.truncate": of_messages(
        lambda it: TOK.chat(it, template="chatml").truncate(60 + len(it) * 20)
    ),
    "chat.loss_mask": of_messages(lambda it: TOK.chat(it, template="chatml").loss_mask()),
    "chat.extend": of_messages(extended),
    "parse": answer,
    "parse_stream": parsed_stream,
    "as_tiktoken().encode": of_text(lambda it: TOK.as_tiktoken().encode(it)),
    "as_sentencepiece().encode": of_text(
        lambda it: UNIGRAM.as_sentencepiece().encode(it, out_type="immutable_proto")
    ),
    "as_sentencepiece().decode": of_text(
        lambda it: UNIGRAM.as_sentencepiece().decode(UNIGRAM.encode(it))
    ),
    "as_tiktoken().decode_with_offsets": of_ids(
        lambda it: TOK.as_tiktoken().decode_with_offsets(it)
    ),
    "BPETrainer": trained(lambda: jeton.BPETrainer(300)),
    "WordPieceTrainer": trained(lambda: jeton.WordPieceTrainer(60)),
    "UnigramTrainer": trained(lambda: jeton.UnigramTrainer(40, hard_vocab_limit=False)),
    "CharTrainer": trained(jeton.CharTrainer),
}


def seconds(call: Callable[[], object]) -> float:
    """Processor time of the fastest run."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    names = sys.argv[1:] or list(CALLS)
    print(f"{'call':36}{'size':>8}{'once':>10}{'fourfold':>10}{'ratio':>7}")
    for name in names:
        size = 4
        try:
            while (once := seconds(CALLS[name](size))) < ENOUGH and size < 1 << 12:
                size *= 2
            fourfold = seconds(CALLS[name](4 * size))
        except jeton.errors.JetonError as error:
            print(f"{name:36}{error!s:.90}")
            continue
        ratio = (fourfold / max(once, 1e-6)) ** 0.5
        mark = "  more than in proportion" if ratio >= LIMIT else ""
        print(f"{name:36}{size:8}{once:9.3f}s{fourfold:9.3f}s{ratio:7.2f}{mark}")


if __name__ == "__main__":
    main()
