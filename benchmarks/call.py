"""Times `tok(...)` beside transformers on the same tokenizer, which must agree, and tuetoken.

    python benchmarks/call.py [--texts 1000] [--runs 5]

Batches of texts of 2,000 characters become padded arrays: whole, with offsets, cut to 512 tokens,
in windows, as pairs, and as words; one short text becomes lists. Of several runs the best counts,
of the others of two. tuetoken is timed where it is installed, reads the tokenizer, and returns the
columns that were asked for. It needs ../shared/data, and transformers.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jeton
from jeton.components import post_processors

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

TENSORS: dict[str, Any] = {"padding": True, "return_tensors": "np"}
LIMIT: dict[str, Any] = {"truncation": True, "max_length": 512}
WINDOWS: dict[str, Any] = {"return_overflowing_tokens": True, "stride": 64}


def tokenizers() -> dict[str, jeton.Tokenizer]:
    """Tokenizers of real vocabularies, each with a pad token."""
    folder = DATA / "vocab"
    gpt_2 = jeton.load(folder / "gpt2_vocab.json", merges=folder / "gpt2_merges.txt")
    end = "<|endoftext|>"
    around = (end, gpt_2.vocab[end])
    llama_2 = jeton.load(folder / "llama2_sentencepiece_bpe.model").to_json()
    return {
        "BERT": jeton.load(folder / "bert_uncased_vocab.txt"),
        "GPT-2": gpt_2.replace(roles={"pad": end}),
        "RoBERTa": gpt_2.replace(
            roles={"pad": end},
            post_processor=post_processors.RobertaProcessing(sep=around, cls=around),
        ),
        "Llama 2": jeton.Tokenizer.from_json(llama_2).replace(roles={"pad": "</s>"}),
        "NeoX": jeton.load(folder / "neox"),
    }


def theirs(tok: jeton.Tokenizer) -> Any:
    """The same tokenizer as transformers has it."""
    import tokenizers
    import transformers

    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer.from_str(tok.to_json()),
        model_input_names=list(tok("")),
        pad_token=tok.roles["pad"],
    )
    fast.padding_side = "right"
    return fast


def tuetokens(tok: jeton.Tokenizer) -> Any:
    """The same tokenizer as tuetoken has it, or nothing where it does not read it."""
    try:
        import tuetoken
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokenizer.json"
        file.write_text(tok.to_json(), encoding="utf-8")
        try:
            return tuetoken.AutoTokenizer.from_file(str(file), {"pad_token": tok.roles["pad"]})
        except (TypeError, ValueError):
            return None


def best(call: Callable[..., object], given: tuple[Any, ...], options: Any, runs: int) -> float:
    """The seconds of a call in the shortest of several runs; a run has many short calls."""
    calls = 200 if isinstance(given[0], str) else 1
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(calls):
            call(*given, **options)
        times.append(time.perf_counter() - start)
    return min(times) / calls


def is_same(mine: Any, other: Any) -> bool:
    """Whether two results hold the same columns."""
    if list(mine) != list(other):
        return False
    return all(
        np.array_equal(mine[name], column)
        if isinstance(column, np.ndarray)
        else mine[name] == column
        for name, column in other.items()
    )


def beside(
    peer: Any, given: tuple[Any, ...], arguments: dict[str, Any], mine: Any, seconds: float
) -> str:
    """The time of tuetoken, if it returns what was asked for, and how often jeton's fits in it."""
    try:
        columns = {"return_token_type_ids": "token_type_ids" in mine}
        other = peer(*given, **arguments, **columns)
    except Exception:  # what it refuses, it refuses in many ways
        return f"{'-':>9}"
    if set(other) != set(mine) or len(other["input_ids"]) != len(mine["input_ids"]):
        return f"{'-':>9}"
    if not is_same({name: other[name] for name in mine}, mine):
        return f"{'differs':>9}"
    times = best(peer, given, {**arguments, **columns}, 2)
    return f"{times * 1e3:9.3f} {times / seconds:6.1f}"


def main() -> None:
    """Prints a row for each tokenizer and kind of call."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--texts", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    whole = (DATA / "text" / "english.txt").read_text(encoding="utf-8")
    texts = [whole[at : at + 2_000] for at in range(0, 2_000 * options.texts, 2_000)]
    short = "The weather is nice today."
    calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "padded": ((texts,), TENSORS),
        "with offsets": ((texts,), {**TENSORS, "return_offsets_mapping": True}),
        "cut to 512": ((texts,), {**TENSORS, **LIMIT}),
        "windows of 512": ((texts,), {**TENSORS, **LIMIT, **WINDOWS}),
        "pairs": ((texts[::2], texts[1::2]), TENSORS),
        "words": (([text.split() for text in texts],), {**TENSORS, "is_split_into_words": True}),
        "lists": ((texts,), {}),
        "one short text": ((short,), {}),
        "one, as an array": ((short,), {"return_tensors": "np"}),
    }
    print(f"{len(texts)} texts of 2,000 characters; {os.cpu_count()} cores; ms")
    head = f"{'jeton':>9} {'transformers':>13} {'times':>6} {'tuetoken':>9} {'times':>6}"
    print(f"{'':8} {'':17} {head}")
    for name, tok in tokenizers().items():
        fast, peer = theirs(tok), tuetokens(tok)
        for kind, (given, arguments) in calls.items():
            mine = tok(*given, **arguments)
            other = fast(*given, **arguments, split_special_tokens=True)
            if not is_same(mine, other):
                raise SystemExit(f"{name}, {kind}: not the same")
            seconds = best(tok, given, arguments, options.runs)
            others = best(fast, given, {**arguments, "split_special_tokens": True}, 2)
            figures = f"{seconds * 1e3:9.3f} {others * 1e3:13.3f} {others / seconds:6.1f}"
            print(f"{name:8} {kind:17} {figures} {beside(peer, given, arguments, mine, seconds)}")


if __name__ == "__main__":
    main()
