"""Two experiments with the tiny GPT, as tables and pictures: tokenizers, and kinds of positions.

    python examples/tiny_gpt/compare.py tokenizers --text input.txt --flops 1e13 --out runs
    python examples/tiny_gpt/compare.py positions --text input.txt --flops 1e13 --out runs

`tokenizers` trains on characters and on byte pair encodings of several sizes with equal work, and
compares bits per byte. `positions` trains with each kind of positions, and then asks for windows
longer than any that was trained on. A run that is there is not done again. The tables go to
`OUT/NAME.md`, the pictures to `OUT/NAME.svg`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))

import train

import jeton
from jeton.data import TokenDataset
from jeton.errors import ArgumentError
from jeton.nn import GPT, GPTConfig

TOKENIZERS = ("characters", "bpe:300", "bpe:512", "bpe:1024", "bpe:2048", "bpe:4096")
POSITIONS = ("learned", "sinusoidal", "rotary", "alibi")
LENGTHS = (64, 128, 256, 512)
TRAINED = 128
"""Tokens in a window in training."""

TITLE: dict[str, Any] = {"loc": "left", "fontsize": 11, "color": "#222222"}
COLOURS = ("#3b6ea5", "#c2703d", "#4f8f5b", "#8a5ea8", "#a33f4f", "#666666")

Row = tuple[str, Mapping[str, float | str | None]]


def run(options: argparse.Namespace, tokenizer: str, kind: str) -> Path:
    """The folder of a run, which is done first, or brought to its end if it was cut."""
    folder: Path = options.out / f"{tokenizer.replace(':', '-')}-{kind}"
    given = ["--out", str(folder), "--sample", "0", "--eval-every", "500", "--save-every", "100"]
    given += ["--context", str(TRAINED)]
    if (folder / "checkpoint.pt").exists():
        if not finished(folder):
            train.main([*given, "--resume"])
        return folder
    shutil.rmtree(folder, ignore_errors=True)  # cut before its first save
    given += ["--tokenizer", tokenizer, "--positions", kind, "--flops", str(options.flops)]
    train.main(given + (["--text", str(options.text)] if options.text else []))
    return folder


def finished(folder: Path) -> bool:
    """Whether a run went up to its last step."""
    saved = torch.load(folder / "checkpoint.pt", weights_only=True)
    return bool(saved["step"] == saved["options"]["steps"])


def opened(folder: Path) -> tuple[GPT, jeton.Tokenizer, TokenDataset]:
    """A trained model, its tokenizer, and the tokens to validate with."""
    saved = torch.load(folder / "checkpoint.pt", weights_only=True)
    model = GPT(GPTConfig(**saved["config"]))
    model.load_state_dict(saved["model"])
    tok = jeton.load(folder / "tokenizer.json")
    return model, tok, TokenDataset(folder / "data", split="val", tokenizer=tok)


def last(folder: Path) -> Mapping[str, float]:
    """The last line of a run's log."""
    entry: Mapping[str, float] = json.loads((folder / "log.jsonl").read_text().splitlines()[-1])
    return entry


def tokenizers(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for name in options.tokenizers:
        folder = run(options, name, "rotary")
        model, tok, validation = opened(folder)
        size = len(tok.decode_bytes(validation[:]))
        rows.append(
            (
                name,
                {
                    "tokens": tok.vocab_size,
                    "bytes per token": size / len(validation),
                    "parameters": sum(p.numel() for p in model.parameters()),
                    "steps": last(folder)["step"],
                    "seconds": round(last(folder)["seconds"]),
                    "bits per byte": last(folder)["bits_per_byte"],
                },
            )
        )
    return rows


def positions(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for kind in POSITIONS:
        folder = run(options, "bpe:1024", kind)
        model, tok, validation = opened(folder)
        found: dict[str, float | str | None] = {}
        for length in LENGTHS:
            try:
                found[str(length)] = train.bits_per_byte(model, validation, tok, length)
            except ArgumentError:
                found[str(length)] = None  # learned positions end where training did
        rows.append((kind, found))
    return rows


def table(first: str, rows: Sequence[Row]) -> str:
    """Rows as a table of Markdown."""
    names = list(rows[0][1])
    lines = [f"| {first} | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for name, values in rows:
        lines.append(f"| {name} | " + " | ".join(shown(value) for value in values.values()) + " |")
    return "\n".join(lines) + "\n"


def shown(value: float | str | None) -> str:
    if value is None:
        return "—"
    if isinstance(value, float) and value != int(value):
        return f"{value:.3f}"
    return f"{int(value):,}" if isinstance(value, (int, float)) else value


def picture(name: str, rows: Sequence[Row], path: Path) -> None:
    """Bars for tokenizers, lines over length for positions."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "jeton"})
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.add_subplot()
    if name == "tokenizers":
        labels = [label.replace("bpe:", "BPE ") for label, _ in rows]
        values = [float(row["bits per byte"] or 0) for _, row in rows]
        best = min(values)
        colours = [COLOURS[0] if value == best else "#a9bfd6" for value in values]
        bars = axes.bar(labels, values, color=colours, width=0.6)
        axes.bar_label(bars, fmt="%.2f", fontsize=9, color="#333333", padding=2)
        axes.set_ylim(0, max(values) * 1.12)
        axes.set_title("Bits for a byte of text, at equal work", **TITLE)
    else:
        ends = []
        for (kind, row), colour in zip(rows, COLOURS, strict=False):
            known = [(int(length), value) for length, value in row.items() if value is not None]
            axes.plot(*zip(*known, strict=True), marker="o", markersize=4, color=colour)
            ends.append((float(known[-1][1]), int(known[-1][0]), kind, colour))
        axes.axvline(TRAINED, color="#bbbbbb", linestyle=":", linewidth=1.2, zorder=0)
        low, high = axes.get_ylim()
        shown_at = low
        for value, length, kind, colour in sorted(ends):
            # Names stand at the ends of their lines, one above another.
            shown_at = max(value, shown_at + 0.06 * (high - low))
            axes.annotate(
                kind,
                (length, value),
                xytext=(length * 1.07, shown_at),
                va="center",
                fontsize=9,
                color=colour,
            )
        axes.text(TRAINED * 1.03, high, "trained length", fontsize=8, color="#777777", va="top")
        axes.set_xscale("log", base=2)
        axes.set_xlim(LENGTHS[0] * 0.9, LENGTHS[-1] * 1.6)
        axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
        axes.minorticks_off()
        axes.set_xlabel("tokens in a window", fontsize=9, color="#555555")
        axes.set_title("Beyond the trained length", **TITLE)
    axes.set_ylabel("bits per byte (less is better)", fontsize=9, color="#555555")
    axes.tick_params(colors="#555555", labelsize=9, length=3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#bbbbbb")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {}, dpi=150)


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("experiment", choices=("tokenizers", "positions"))
    parser.add_argument("--text", type=Path)
    parser.add_argument("--flops", type=float, default=1e13)
    parser.add_argument("--out", type=Path, default=Path("tiny-gpt-runs"))
    parser.add_argument("--tokenizers", nargs="+", default=TOKENIZERS, help="to compare")
    options = parser.parse_args(given)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = tokenizers(options) if options.experiment == "tokenizers" else positions(options)
    first = "tokenizer" if options.experiment == "tokenizers" else "positions"
    text = table(first, rows)
    (options.out / f"{options.experiment}.md").write_text(text, encoding="utf-8")
    picture(options.experiment, rows, options.out / f"{options.experiment}.svg")
    print(text, end="")


if __name__ == "__main__":
    main()
