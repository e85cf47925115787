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

import torch

sys.path.insert(0, str(Path(__file__).parent))

import train
from model import GPT, POSITIONS, Config

import jeton
from jeton.data import TokenDataset
from jeton.errors import ArgumentError

TOKENIZERS = ("characters", "bpe:300", "bpe:512", "bpe:1024", "bpe:2048", "bpe:4096")
LENGTHS = (64, 128, 256, 512)
COLOURS = ("#3b6ea5", "#c2703d", "#4f8f5b", "#8a5ea8", "#a33f4f", "#666666")

Row = tuple[str, Mapping[str, float | str | None]]


def run(options: argparse.Namespace, tokenizer: str, kind: str) -> Path:
    """The folder of a run, which is done first, or brought to its end if it was cut."""
    folder: Path = options.out / f"{tokenizer.replace(':', '-')}-{kind}"
    given = ["--out", str(folder), "--sample", "0", "--eval-every", "500", "--save-every", "100"]
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
    model = GPT(Config(**saved["config"]))
    model.load_state_dict(saved["model"])
    tok = jeton.load(folder / "tokenizer.json")
    return model, tok, TokenDataset(folder / "data", split="val", tokenizer=tok)


def last(folder: Path) -> Mapping[str, float]:
    """The last line of a run's log."""
    entry: Mapping[str, float] = json.loads((folder / "log.jsonl").read_text().splitlines()[-1])
    return entry


def tokenizers(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for name in TOKENIZERS:
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
        labels = [label for label, _ in rows]
        values = [float(row["bits per byte"] or 0) for _, row in rows]
        bars = axes.bar(labels, values, color=COLOURS[0], width=0.6)
        axes.bar_label(bars, fmt="%.2f", fontsize=9, color="#333333", padding=2)
        axes.set_ylim(0, max(values) * 1.12)
    else:
        for (kind, row), colour in zip(rows, COLOURS, strict=False):
            known = [(int(length), value) for length, value in row.items() if value is not None]
            axes.plot(*zip(*known, strict=True), marker="o", color=colour, label=kind)
        axes.axvline(128, color="#999999", linestyle=":", linewidth=1)
        axes.annotate(
            "trained length",
            (128, axes.get_ylim()[1]),
            xytext=(4, -10),
            fontsize=8,
            textcoords="offset points",
            color="#777777",
        )
        axes.set_xscale("log", base=2)
        axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
        axes.set_xlabel("tokens in a window", fontsize=9)
        axes.legend(frameon=False, fontsize=9)
    axes.set_ylabel("bits per byte (less is better)", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {})


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("experiment", choices=("tokenizers", "positions"))
    parser.add_argument("--text", type=Path)
    parser.add_argument("--flops", type=float, default=1e13)
    parser.add_argument("--out", type=Path, default=Path("tiny-gpt-runs"))
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
