"""Trains a small GPT on two cores in minutes, and says how many bits it takes for a byte of text.

    python examples/tiny_gpt/train.py                               # on text that comes with jeton
    python examples/tiny_gpt/train.py --text input.txt --tokenizer bpe:1000 --steps 2000
    python examples/tiny_gpt/train.py --data prepared/ --tokenizer tokenizer.json --out run
    python examples/tiny_gpt/train.py --out run --resume            # goes on where it stopped

Bits per byte, and not the loss per token, is what makes models of different tokenizers comparable:
longer tokens are harder to predict, and there are fewer of them. `--flops` gives all of them the
same work. Look here for a whole training loop; the model is `jeton.nn.GPT`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sized
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

import jeton
from jeton import samples
from jeton.data import TokenDataset, layouts
from jeton.nn import GPT, GPTConfig


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--text", type=Path, help="a file to train on (default: jeton's sample text)")
    add("--data", type=Path, help="a prepared token set, instead of --text")
    add("--tokenizer", default="characters", help="characters, bpe:SIZE, or a tokenizer file")
    add("--out", type=Path, default=Path("tiny-gpt"), help="the folder of the run")
    add("--resume", action="store_true", help="go on with the run in --out")
    add("--positions", default="rotary", help="learned, sinusoidal, rotary or alibi")
    add("--depth", type=int, default=4, help="layers")
    add("--heads", type=int, default=4)
    add("--width", type=int, default=128, help="numbers in a vector")
    add("--context", type=int, default=128, help="tokens that a prediction sees")
    add("--batch-size", type=int, default=16)
    add("--learning-rate", type=float, default=2e-3)
    add("--steps", type=int, default=500)
    add("--flops", type=float, help="work to do, instead of --steps: 2e13 takes some minutes")
    add("--stop-after", type=int, help="stop at this step, as if interrupted; see --resume")
    add("--eval-every", type=int, default=100)
    add("--save-every", type=int, default=500, help="steps after which a cut run can go on")
    add("--sample", type=int, default=200, metavar="TOKENS", help="tokens to write at the end")
    add("--prompt", default="\n")
    add("--seed", type=int, default=0)
    return parser.parse_args(given)


def open_data(options: argparse.Namespace) -> tuple[jeton.Tokenizer, TokenDataset, TokenDataset]:
    """The tokenizer, and the tokens to train on and to validate with."""
    data, saved = options.data or options.out / "data", options.out / "tokenizer.json"
    if options.resume:
        tok = jeton.load(saved)
        return tok, *token_sets(data, tok)
    if (options.out / "checkpoint.pt").exists():
        sys.exit(f"{options.out} holds a run already: --resume it, or name another --out")
    if saved.exists() or (options.data is None and data.exists()):
        sys.exit(
            f"{options.out} holds a tokenizer or data and no checkpoint, as of a run that was cut "
            "before it began: remove them, or name another --out"
        )
    text = read_text(options.text)
    cut = len(text) * 9 // 10
    tok = make_tokenizer(options.tokenizer, text[:cut], text)
    if options.data is None:
        parts = {"train": tok.encode_array(text[:cut]), "val": tok.encode_array(text[cut:])}
        check_lengths(options, *parts.values())
        options.out.mkdir(parents=True, exist_ok=True)
        for split, ids in parts.items():
            dtype = layouts.dtype_for(tok.vocab.max_id)
            with layouts.create("jeton", data, dtype=dtype, split=split) as writer:
                writer.append(ids, np.array([len(ids)]))
                writer.finish()
    train, validation = token_sets(data, tok)
    check_lengths(options, train, validation)
    options.out.mkdir(parents=True, exist_ok=True)
    tok.save(saved)
    return tok, train, validation


def token_sets(data: Path, tok: jeton.Tokenizer) -> tuple[TokenDataset, TokenDataset]:
    return (
        TokenDataset(data, split="train", tokenizer=tok),
        TokenDataset(data, split="val", tokenizer=tok),
    )


def check_lengths(options: argparse.Namespace, train: Sized, validation: Sized) -> None:
    """Ends before anything is written if there is not a single window to learn or to judge."""
    for part, use in ((train, "train on"), (validation, "validate with")):
        if len(part) <= options.context:
            sys.exit(
                f"{len(part)} tokens to {use} are too few for windows of {options.context}: "
                "give more text, or a smaller --context"
            )


def read_text(path: Path | None) -> str:
    if path is None:
        return "\n".join(samples.read_all().values())
    return path.read_text(encoding="utf-8")


def make_tokenizer(name: str, training_text: str, text: str) -> jeton.Tokenizer:
    """By name; merges are learned from the part that the model is trained on."""
    if name == "characters":
        return jeton.CharTrainer().train(text)
    if name.startswith("bpe:"):
        return jeton.BPETrainer(int(name[4:]), pattern="gpt4").train([training_text])
    return jeton.load(name)


def bits_per_byte(model: GPT, data: TokenDataset, tok: jeton.Tokenizer, length: int) -> float:
    """What the model pays for a byte of the validation text, in windows of this many tokens."""
    windows = data.loader(32, length, shuffle=False, device="cpu")
    nats, size = 0.0, 0
    model.eval()
    with torch.no_grad():
        for x, y in windows:
            _, loss = model(x, y)
            assert loss is not None
            nats += float(loss) * y.numel()
            size += len(tok.decode_bytes(y.flatten().numpy()))
    model.train()
    return nats / math.log(2) / size


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Up in the first twentieth, then down to a tenth along a cosine."""
    warm = max(steps // 20, 1)
    if step < warm:
        return peak * (step + 1) / warm
    share = (step - warm) / max(steps - warm, 1)
    return peak * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * share)))


def endless(loader: Any) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    while True:
        yield from loader


def main(given: list[str] | None = None) -> None:
    options = arguments(given)
    torch.manual_seed(options.seed)
    saved: dict[str, Any] = {}
    if options.resume:
        if not (options.out / "checkpoint.pt").exists():
            sys.exit(f"{options.out} holds no checkpoint.pt: there is no run to resume")
        saved = torch.load(options.out / "checkpoint.pt", weights_only=True)
        for name in ("batch_size", "learning_rate", "seed", "steps"):
            setattr(options, name, saved["options"][name])
        if saved["options"]["data"]:
            options.data = Path(saved["options"]["data"])
    tok, train, validation = open_data(options)
    config = (
        GPTConfig(**saved["config"])
        if saved
        else GPTConfig(
            vocab_size=tok.vocab.max_id + 1,
            context=options.context,
            depth=options.depth,
            heads=options.heads,
            width=options.width,
            positions=options.positions,
        )
    )
    model = GPT(config)
    optimizer = torch.optim.AdamW(model.parameter_groups(0.1), betas=(0.9, 0.95))
    loader = train.loader(options.batch_size, config.context, seed=options.seed, device="cpu")
    per_step = options.batch_size * config.context * model.flops_per_token()
    steps = options.steps
    if options.flops and not saved:
        steps = max(round(options.flops / per_step), 1)
    first, spent = 0, 0.0
    if saved:
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])
        first, spent = saved["step"], saved["seconds"]
    print(
        f"{tok!r}: {len(train):,} tokens to train on, {len(validation):,} to validate\n"
        f"{sum(p.numel() for p in model.parameters()):,} parameters, {config.positions} positions, "
        f"{steps:,} steps of {per_step:.2g} operations",
        flush=True,
    )
    batches = endless(loader)
    started = time.perf_counter() - spent
    log_path = options.out / "log.jsonl"
    if saved:  # what was logged after the last save is done again
        lines = log_path.read_text(encoding="utf-8").splitlines(keepends=True)
        log_path.write_text("".join(lines[:first]), encoding="utf-8")
    else:
        log_path.touch()
        save(options, steps, config, model, optimizer, loader, 0, 0.0)
    done = first
    with log_path.open("a" if saved else "w", encoding="utf-8") as log:
        for step in range(first, steps):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, steps, options.learning_rate)
            x, y = next(batches)
            _, loss = model(x, y)
            assert loss is not None
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            done = step + 1
            seconds = time.perf_counter() - started
            entry = {"step": done, "loss": float(loss.detach()), "seconds": round(seconds, 1)}
            if done % options.eval_every == 0 or done == steps:
                entry["bits_per_byte"] = bits_per_byte(model, validation, tok, config.context)
                print(
                    f"step {done:>5}   loss {entry['loss']:.3f}   "
                    f"{entry['bits_per_byte']:.3f} bits per byte   "
                    f"{seconds:.0f} s",
                    flush=True,
                )
            print(json.dumps(entry), file=log, flush=True)
            last = done == options.stop_after or done == steps
            if last or done % options.save_every == 0:
                save(options, steps, config, model, optimizer, loader, done, seconds)
            if last:
                break
    if done == steps and options.sample:
        write_sample(model, tok, options)


def save(
    options: argparse.Namespace,
    steps: int,
    config: GPTConfig,
    model: GPT,
    optimizer: torch.optim.Optimizer,
    loader: Any,
    step: int,
    seconds: float,
) -> None:
    """Writes all that the run needs to go on, beside, and then in its place."""
    state = {
        "options": {
            "batch_size": options.batch_size,
            "learning_rate": options.learning_rate,
            "seed": options.seed,
            "steps": steps,
            "data": str(options.data.resolve()) if options.data else "",
        },
        "config": asdict(config),
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "loader": loader.state_dict(),
        "step": step,
        "seconds": seconds,
    }
    with tempfile.NamedTemporaryFile(dir=options.out, delete=False) as beside:
        torch.save(state, beside)
    Path(beside.name).replace(options.out / "checkpoint.pt")


def write_sample(model: GPT, tok: jeton.Tokenizer, options: argparse.Namespace) -> None:
    """Writes what the model makes up, as it makes it up."""
    model.eval()
    ids = model.sample(tok.encode(options.prompt) or [0], seed=options.seed)
    seen: list[int] = []
    shown = 0
    for _, id in zip(range(options.sample), ids, strict=False):
        seen.append(id)
        text = tok.decode(seen)
        # The last character may still be half of one.
        certain = text.rstrip("\ufffd")
        print(certain[shown:], end="", flush=True)
        shown = max(shown, len(certain))
    print()


if __name__ == "__main__":
    main()
