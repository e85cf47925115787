"""Times text from ten thousand streams at once against its peers, and ids of a text in parts.

    python benchmarks/streams.py                      # two minutes
    python benchmarks/streams.py --streams 1000 --family BERT

Every stream is given one id in turn, as a server gives them, until all answers are written; the
texts are held against `decode` in the same run. `ids` is `encode_stream` beside `encode_array`, in
megabytes a second, for families that have places where tokens surely part. Needs the data of
`../shared`; without tokenizers or iree-tokenizer their columns are empty.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from speed.families import FAMILIES, Family
from speed.texts import KINDS, SHARED, text_of

import jeton
from jeton.errors import UnsupportedError

RUNS = 3
"""Of as many the best counts."""


def main() -> None:
    """Prints a row for each family and text."""
    names = [family.name for family in FAMILIES]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--tokens", type=int, default=100, help="of each stream")
    parser.add_argument("--mb", type=float, default=4.0, help="megabytes of text for ids")
    parser.add_argument("--family", nargs="+", choices=names, default=names)
    parser.add_argument("--text", nargs="+", choices=KINDS, default=["english", "multilingual"])
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        print("streams.py: skipped, since the texts and vocabularies of ../shared are not here")
        return
    print(f"{arguments.streams:,} streams of {arguments.tokens} tokens, microseconds a token")
    print(
        "family            text          jeton  tokenizers  times        iree  times   "
        "ids, MB/s   of encode_array"
    )
    for kind in arguments.text:
        text = text_of(kind, max(arguments.mb, arguments.streams * arguments.tokens / 1e5))
        for family in FAMILIES:
            if family.name in arguments.family:
                print(row(family, kind, text, arguments), flush=True)


def row(family: Family, kind: str, text: str, arguments: argparse.Namespace) -> str:
    """The figures of a family and a text."""
    tok = family.load()
    ids = tok.encode_array(text[:2_000_000])
    number, length = arguments.streams, arguments.tokens
    starts = np.linspace(0, len(ids) - length, number).astype(int)
    answers = [ids[start : start + length].tolist() for start in starts]
    expected = [tok.decode(answer) for answer in answers]

    def ours() -> list[str]:
        streams = [tok.decode_stream() for _ in answers]
        texts: list[list[str]] = [[] for _ in answers]
        for place in range(length):
            for stream, answer, written in zip(streams, answers, texts, strict=True):
                written.append(stream.push(answer[place]))
        return [
            "".join(written) + stream.finish()
            for stream, written in zip(streams, texts, strict=True)
        ]

    seconds, texts = _best(ours)
    assert texts == expected, f"{family.name}: streams give other texts than decode"
    own = seconds / number / length * 1e6
    beside = "  ".join(
        f"{peer:>10.2f} {peer / own:>6.1f}" if peer else f"{'-':>10} {'-':>6}"
        for peer in (_tokenizers(family, answers), _iree(family, answers, expected))
    )
    return f"{family.name:<18}{kind:<12}{own:>7.2f}  {beside}   {_ids(tok, text, arguments.mb)}"


def _best(call: Callable[[], list[str]]) -> tuple[float, list[str]]:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return min(times), found


def _tokenizers(family: Family, answers: list[list[int]]) -> float | None:
    """Microseconds a token of tokenizers' streams, where it reads this family."""
    try:
        import tokenizers
        from tokenizers.decoders import DecodeStream

        peer = tokenizers.Tokenizer.from_file(str(family.json()))
    except Exception:
        return None

    def theirs() -> list[str]:
        streams: list[Any] = [DecodeStream(skip_special_tokens=False) for _ in answers]
        for place in range(len(answers[0])):
            for stream, answer in zip(streams, answers, strict=True):
                stream.step(peer, answer[place])
        return []

    seconds, _ = _best(theirs)
    return seconds / len(answers) / len(answers[0]) * 1e6


def _iree(family: Family, answers: list[list[int]], expected: list[str]) -> float | None:
    """Microseconds a token of iree-tokenizer's streams, where it reads this family and agrees."""
    try:
        from iree.tokenizer import Tokenizer

        peer = Tokenizer.from_file(str(family.json()))
    except Exception:
        return None

    def theirs() -> list[str]:
        streams = [peer.decode_stream(skip_special_tokens=False) for _ in answers]
        texts: list[list[str]] = [[] for _ in answers]
        for place in range(len(answers[0])):
            for stream, answer, written in zip(streams, answers, texts, strict=True):
                written.append(stream.feed([answer[place]]))
        return [
            "".join(written) + stream.finalize()
            for stream, written in zip(streams, texts, strict=True)
        ]

    seconds, texts = _best(theirs)
    return seconds / len(answers) / len(answers[0]) * 1e6 if texts == expected else None


def _ids(tok: jeton.Tokenizer, text: str, megabytes: float) -> str:
    """The speed of `encode_stream`, and its share of one call for the whole."""
    text = text[: int(megabytes * 1e6)]
    parts = [text[at : at + 65_536] for at in range(0, len(text), 65_536)]
    try:
        tok.encode_stream([""])
    except UnsupportedError:
        return "no places to cut at"
    times, whole = [], []
    for _ in range(RUNS):
        start = time.perf_counter()
        streamed = np.concatenate(list(tok.encode_stream(parts)))
        middle = time.perf_counter()
        at_once = tok.encode_array(text)
        whole.append(time.perf_counter() - middle)
        times.append(middle - start)
    assert np.array_equal(streamed, at_once), "the stream gives other ids than the whole"
    size = len(text.encode()) / 1e6
    return f"{size / min(times):>9.0f}   {min(whole) / min(times):>8.2f}"


if __name__ == "__main__":
    main()
