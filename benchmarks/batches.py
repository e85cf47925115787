"""Times batches: windows, mixtures and packed rows beside nanoGPT's way and bare reading.

    python benchmarks/batches.py [--tokens 100_000_000]

Of several runs the median counts. The set is of random tokens in documents of about 1,000.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from jeton.data import TokenDataset, layouts, mix, pack

BATCH, BLOCK = 32, 1024


def made(folder: Path, tokens: int) -> np.ndarray:
    """A set of random documents; gives their lengths."""
    draw = np.random.default_rng(0)
    lengths = draw.geometric(1 / 1000, tokens // 1000)
    flat = draw.integers(0, 50_257, int(lengths.sum()), np.uint16)
    for layout in ("jeton", "nanogpt"):
        with layouts.create(layout, folder / layout, dtype="uint16") as writer:
            writer.append(flat, lengths)
            writer.finish()
    return lengths


def median(action: Callable[[], object], times: int = 15) -> float:
    """Seconds, in the middle of several runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def nanogpt(path: Path) -> Callable[[], object]:
    """What nanoGPT's training loop does for a batch: map the file, draw places, stack."""

    def batch() -> object:
        data = np.memmap(path, np.uint16, "r")
        places = torch.randint(len(data) - BLOCK, (BATCH,))
        x = [torch.from_numpy(data[at : at + BLOCK].astype(np.int64)) for at in places]
        y = [torch.from_numpy(data[at + 1 : at + 1 + BLOCK].astype(np.int64)) for at in places]
        return torch.stack(x), torch.stack(y)

    return batch


def bare(path: Path) -> Callable[[], object]:
    """The least that gives the batches of an unshuffled loader: the next slice of a mapped file."""
    data = np.memmap(path, np.uint16, "r")
    starts = iter(range(0, len(data) - BATCH * BLOCK, BATCH * BLOCK))

    def batch() -> object:
        at = next(starts)
        tokens = torch.from_numpy(data[at : at + BATCH * BLOCK + 1].astype(np.int64))
        return tokens[:-1].view(BATCH, BLOCK), tokens[1:].view(BATCH, BLOCK)

    return batch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tokens", type=int, default=100_000_000)
    tokens = parser.parse_args().tokens
    if tokens < 10_000_000:
        parser.error("the passes over loaders take ten million tokens or more")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lengths = made(folder, tokens)
        dataset = TokenDataset(folder / "jeton")
        batches = iter(dataset.loader(BATCH, BLOCK, device="cpu"))
        ordered = iter(dataset.loader(BATCH, BLOCK, shuffle=False, device="cpu"))
        thirds = np.array_split(np.arange(len(lengths)), 3)
        for number, third in enumerate(thirds):
            with layouts.create("jeton", folder / f"source-{number}", dtype="uint16") as writer:
                for at in third.tolist():
                    writer.append(dataset.documents[at], lengths[at : at + 1])
                writer.finish()
        weights = {str(folder / f"source-{at}"): weight for at, weight in enumerate((5, 3, 2))}
        mixture = mix(weights, tokens=tokens // 3)
        mixed = iter(mixture.loader(BATCH, BLOCK, device="cpu"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            packed = mixture.pack(BLOCK, "bins", too_long="split")
        rows_of_mixture = iter(packed.loader(BATCH, device="cpu"))
        print(f"batches of {BATCH} windows of {BLOCK:,} tokens, tensors:")
        for what, action in (
            ("bare reading", bare(folder / "nanogpt" / "train.bin")),
            ("in order", lambda: next(ordered)),
            ("nanoGPT's way", nanogpt(folder / "nanogpt" / "train.bin")),
            ("get_batch", lambda: dataset.get_batch(BATCH, BLOCK, device="cpu")),
            ("loader", lambda: next(batches)),
            ("mixture", lambda: next(mixed)),
            ("packed mixture", lambda: next(rows_of_mixture)),
        ):
            seconds = median(action, 200)
            print(f"  {what:<14} {seconds * 1e3:6.2f} ms, {BATCH * BLOCK / seconds / 1e6:,.0f} M/s")
        print(f"packing {len(lengths):,} documents into rows of {2 * BLOCK:,} tokens:")
        options = {"concatenate": {}, "best_fit_crop": {}, "bins": {"too_long": "crop"}}
        for method, more in options.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the report says what best_fit_crop crops
                packing = pack(dataset, 2 * BLOCK, method, **more)
            planned = time.perf_counter() - start
            rows = median(lambda packing=packing: packing[100 : 100 + BATCH])
            print(
                f"  {method:<12} planned in {planned:.2f} s, {rows * 1e3:.1f} ms for {BATCH} rows; "
                f"{packing.report.padding_share:.2%} padding, "
                f"{packing.report.cropped_share:.2%} lost"
            )


if __name__ == "__main__":
    main()
