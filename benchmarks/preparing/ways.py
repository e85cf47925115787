"""Ways from JSON lines or text to files of tokens: ours, and those of other projects.

Each takes the inputs and an empty folder, and gives the seconds that it took, without imports and
without loading its tokenizer; `ids_of` gives what it wrote as bytes. The vocabulary is GPT-2's.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from preparing.corpus import SHARED, texts_of

CORES = 2
END = 50256
END_TEXT = "<|endoftext|>"
AT_ONCE = 50_000_000
"""How many characters `encode_batch` is given at a time."""


def _jeton() -> Any:
    import jeton

    return jeton.load("r50k_base", folder=SHARED / "vocab")


def in_memory(inputs: list[Path], folder: Path) -> float:
    """`encode_batch` alone, on texts that are in memory; nothing is written."""
    tok = _jeton()
    tok.encode_batch(["the weather"])
    batches: list[list[str]] = [[]]
    size = 0
    for text in texts_of(inputs):
        if size > AT_ONCE:
            batches.append([])
            size = 0
        batches[-1].append(text)
        size += len(text)
    seconds = 0.0
    for batch in batches:
        start = time.perf_counter()
        tok.encode_batch(batch)
        seconds += time.perf_counter() - start
    return seconds


def ours(layout: str) -> Callable[[list[Path], Path], float]:
    """`jeton.data.prepare` into a layout."""

    def way(inputs: list[Path], folder: Path) -> float:
        from jeton.data import prepare

        tok = _jeton()
        options: Any = {"layout": layout}
        start = time.perf_counter()
        prepare(inputs, tok, folder, name="gpt2", **options)
        return time.perf_counter() - start

    return way


def small_cache(inputs: list[Path], folder: Path) -> float:
    """As `ours`, where the tokenizer remembers few words: what else takes memory shows."""
    import jeton

    jeton.set_cache_limit(10_000_000)
    return ours("jeton")(inputs, folder)


def shuffled(inputs: list[Path], folder: Path) -> float:
    """`jeton.data.prepare` with documents shuffled and parted."""
    from jeton.data import prepare

    tok = _jeton()
    start = time.perf_counter()
    prepare(inputs, tok, folder, shuffle=1, validation=0.01, split="hash")
    return time.perf_counter() - start


def _tiktoken() -> Any:
    import tiktoken

    same = _jeton().as_tiktoken()
    return tiktoken.Encoding(
        "gpt2",
        pat_str=same._pat_str,
        mergeable_ranks=same._mergeable_ranks,
        special_tokens={END_TEXT: END},
    )


_encoding: Any = None


def nanogpt(inputs: list[Path], folder: Path) -> float:
    """The way of nanoGPT's scripts: `datasets.map` over all cores, then into one mapped file."""
    global _encoding
    import datasets

    datasets.disable_progress_bars()
    _encoding = _tiktoken()

    def process(row: dict[str, str]) -> dict[str, Any]:
        ids = _encoding.encode_ordinary(row["text"])
        ids.append(END)
        return {"ids": ids, "len": len(ids)}

    start = time.perf_counter()
    rows = datasets.load_dataset(
        "json", data_files=list(map(str, inputs)), split="train", cache_dir=str(folder / "cache")
    )
    # Its function travels to the processes with the encoding, which pickles as its ranks.
    done = rows.map(process, remove_columns=["text"], num_proc=CORES)
    total = int(np.sum(done["len"], dtype=np.uint64))
    written = np.memmap(folder / "train.bin", np.uint16, "w+", shape=(total,))
    at, shards = 0, min(1024, len(done))
    for number in range(shards):
        batch = done.shard(shards, number, contiguous=True).with_format("numpy")
        ids = np.concatenate(batch["ids"][:])
        written[at : at + len(ids)] = ids
        at += len(ids)
    written.flush()
    return time.perf_counter() - start


def datatrove(inputs: list[Path], folder: Path) -> float:
    """datatrove's reader of JSON lines and its tokenizer, a task for each file."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer
    from datatrove.utils.logging import logger

    logger.remove()
    saved = folder / "tokenizer.json"
    _jeton().save(saved)
    start = time.perf_counter()
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(str(inputs[0].parent), glob_pattern="*.jsonl"),
            DocumentTokenizer(
                output_folder=str(folder / "tokens"),
                tokenizer_name_or_path=str(saved),
                eos_token=END_TEXT,
                shuffle_documents=False,
            ),
        ],
        tasks=len(inputs),
        workers=CORES,
        logging_dir=str(folder / "logs"),
    ).run()
    return time.perf_counter() - start


def _megatron_begin() -> None:
    global _encoding
    _encoding = _tiktoken()


def _megatron_encode(line: str) -> list[int]:
    ids: list[int] = _encoding.encode_ordinary(json.loads(line)["text"])
    ids.append(END)
    return ids


def megatron(inputs: list[Path], folder: Path) -> float:
    """The way of Megatron's preprocess_data: a pool that encodes lines, 32 at a time, and its own
    builder of indexed data sets, which gets one document after another."""
    from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder

    start = time.perf_counter()
    builder = IndexedDatasetBuilder(str(folder / "train.bin"), dtype=np.uint16)
    with multiprocessing.get_context("fork").Pool(CORES, _megatron_begin) as pool:
        for path in inputs:
            with path.open(encoding="utf-8", newline="\n") as file:
                for ids in pool.imap(_megatron_encode, file, 32):
                    builder.add_document(ids, [len(ids)])
    builder.finalize(str(folder / "train.idx"))
    return time.perf_counter() - start


WAYS: dict[str, Callable[[list[Path], Path], float]] = {
    "`encode_batch` in memory": in_memory,
    "`jeton prepare`": ours("jeton"),
    "`--layout nanogpt`": ours("nanogpt"),
    "`--layout megatron`": ours("megatron"),
    "`--layout datatrove`": ours("datatrove"),
    "`--layout parquet`": ours("parquet"),
    "`--layout llm.c`": ours("llm.c"),
    "shuffled and split by a hash": shuffled,
    "`jeton prepare`, `jeton.set_cache_limit` at 10 MB": small_cache,
    "nanoGPT's: `datasets.map` with tiktoken, both cores": nanogpt,
    "Megatron's: its builder, with tokenizers": megatron,
    "datatrove": datatrove,
}
"""What can be timed, by name."""


def ids_of(folder: Path) -> str:
    """The SHA-256 of all tokens that a way wrote flat, one file after another."""
    files = sorted(folder.glob("train*.bin")) or sorted(folder.glob("tokens/*.ds"))
    files = files or sorted(folder.glob("train/*.ds"))
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()
