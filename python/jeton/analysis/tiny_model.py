"""Bits per byte of small GPTs that are trained with each tokenizer, with equal compute.

Look here for what is trained, what equal compute means, and over which text bits are counted.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.analysis import measures
from jeton.analysis.texts import Sample
from jeton.analysis.values import Value
from jeton.arguments import checked_int, checked_number
from jeton.corpora.progress import Progress
from jeton.errors import ArgumentError, UnsupportedError
from jeton.tokenizer import Tokenizer

if TYPE_CHECKING:
    from jeton.nn import GPT, GPTConfig

TRAINING_BYTES: Final = 64 << 20
"""Maximum bytes of the sample that models are trained on."""

_JUDGED_BYTES: Final = 1 << 18
"""Bytes of a corpus on which bits are counted: the first parts of its sample."""

_LOGITS: Final = 1 << 24
"""Maximum numbers in the logits of a batch when bits are counted: 64 MB."""

_LEARNING_RATE: Final = 2e-3

Watch = Callable[[Progress], None]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TinyModel:
    """A small GPT by which tokenizers are judged: its shape, and the work to train it.

    Attributes:
        operations: Floating-point operations of one training, forward and backward, the output
            layer included: 6 for each weight and token, and those of attention. The same for each
            tokenizer, so that one with a larger vocabulary sees fewer tokens.
        seeds: How many models are trained with each tokenizer; the spread of their results shows
            which differences mean something.
        width: Numbers in a vector; a multiple of 2 · heads.
        depth: Layers.
        heads: Attention heads per layer.
        context: Tokens in a window.
        batch: Windows in a step.

    Raises:
        ArgumentTypeError, ArgumentError: A value is not a number, or too small; the width does
            not fit the heads.

    Example:
        >>> from jeton.analysis import TinyModel
        >>> TinyModel(operations=1e12, seeds=2).width
        128
    """

    operations: float = 3e12
    seeds: int = 3
    width: int = 128
    depth: int = 4
    heads: int = 4
    context: int = 128
    batch: int = 16

    def __post_init__(self) -> None:
        checked_number("operations", self.operations, least=1)
        for name in ("seeds", "width", "depth", "heads", "batch"):
            checked_int(name, getattr(self, name), 1)
        checked_int("context", self.context, 2)
        if self.width % (2 * self.heads):
            raise ArgumentError(
                f"width must be a multiple of 2 · heads, {2 * self.heads:,}, not {self.width:,}"
            )

    def __str__(self) -> str:
        return ", ".join(f"{it.name} {getattr(self, it.name):,.0f}" for it in fields(self))


def bits_per_byte(
    model: TinyModel,
    toks: Mapping[str, Tokenizer],
    train: Sample,
    held_out: Mapping[str, Sample],
    watch: Watch | None = None,
) -> dict[str, dict[str, dict[str, Value]]]:
    """The measures of models trained with each tokenizer, by tokenizer and held-out text.

    Raises:
        ArgumentError: The text to train on has fewer tokens than a window.
        EncodeError: As `Tokenizer.encode`.
    """
    import torch

    parts = train.parts()
    texts = {place: _first_parts(it) for place, it in held_out.items()}
    # The caller may have switched gradients off.
    with torch.random.fork_rng([]), torch.inference_mode(False), torch.enable_grad():
        trials = {name: _Trial.of(name, tok, model, parts) for name, tok in toks.items()}
        total, done = model.seeds * sum(it.steps for it in trials.values()), 0

        def tell(steps: int) -> None:
            if watch is not None:
                watch(Progress("modelling", done + steps, total))

        found: dict[str, dict[str, dict[str, Value]]] = {}
        for name, trial in trials.items():
            ids = {place: _ids(toks[name], it) for place, it in texts.items()}
            bits: dict[str, list[float]] = {place: [] for place in texts}
            for seed in range(model.seeds):
                gpt = trial.trained(seed, tell)
                done += trial.steps
                for place, own in ids.items():
                    bits[place].append(_bits(gpt, own))
            found[name] = {
                place: trial.values(bits[place], len(ids[place]), _bytes_of(it))
                for place, it in texts.items()
            }
    return found


@dataclass
class _Trial:
    """The models of one tokenizer."""

    model: TinyModel
    config: GPTConfig
    ids: Ids
    per_token: int
    """Operations to train on a token."""
    steps: int

    @classmethod
    def of(cls, name: str, tok: Tokenizer, model: TinyModel, parts: Sequence[str]) -> _Trial:
        from jeton.nn import GPT, GPTConfig

        ids = _ids(tok, parts)
        if len(ids) <= model.context:
            raise ArgumentError(
                f"train: {len(ids):,} tokens of {name} are fewer than a window of "
                f"{model.context:,} and the token behind it; give more text"
            )
        size = tok.vocab.max_id + 1
        config = GPTConfig(size, model.context, model.depth, model.heads, model.width)
        per_token = GPT(config).flops_per_token()
        steps = round(model.operations / (per_token * model.batch * model.context))
        return cls(model, config, ids, per_token, max(steps, 1))

    def trained(self, seed: int, tell: Callable[[int], None]) -> GPT:
        """A model trained on windows at random places, its learning rate linear to 0."""
        import torch

        from jeton.nn import GPT

        torch.manual_seed(seed)
        gpt, rng = GPT(self.config), np.random.default_rng(seed)
        optimizer = torch.optim.AdamW(gpt.parameter_groups(0.1), betas=(0.9, 0.95))
        warm = max(self.steps // 20, 1)
        for step in range(self.steps):
            for group in optimizer.param_groups:
                rising, falling = (step + 1) / warm, (self.steps - step) / self.steps
                group["lr"] = _LEARNING_RATE * min(rising, falling)
            starts = rng.integers(0, len(self.ids) - self.model.context, self.model.batch)
            places = starts[:, None] + np.arange(self.model.context + 1)
            windows = torch.from_numpy(self.ids[places])
            _, loss = gpt(windows[:, :-1], windows[:, 1:])
            assert loss is not None
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(gpt.parameters(), 1.0)
            optimizer.step()
            tell(step + 1)
        return gpt

    def values(self, bits: Sequence[float], tokens: int, size: int) -> dict[str, Value]:
        """The measures of a held-out text."""
        epochs = self.steps * self.model.batch * self.model.context / len(self.ids)
        how = (
            f"{self.model}: {self.steps:,} steps, {epochs:.2g} times over {len(self.ids):,} "
            f"tokens; measured on {size:,} bytes"
        )
        per_byte = [it / size for it in bits] if size else []
        return {
            "bits_per_byte": measures.bits_per_byte(per_byte, how),
            "bits_per_byte_spread": measures.bits_per_byte_spread(per_byte),
            "serving_operations": measures.serving_operations(self.per_token, tokens, size),
        }


def check_for_torch() -> None:
    """Fails, before any work, unless PyTorch is installed."""
    if importlib.util.find_spec("torch") is None:
        raise UnsupportedError(
            "bits per byte need PyTorch, by which small models are trained: "
            "pip install 'jeton[torch]'"
        )


def sample_of(batches: Iterable[_core.TextParts], size: int) -> Sample:
    """The parts of a corpus, at most `size` bytes, chosen by a hash and in its order."""
    sample = Sample(limit=size)
    for batch in batches:
        sample.add(batch)
    return sample


def _first_parts(sample: Sample) -> list[str]:
    parts: list[str] = []
    size = 0
    for part in sample.parts():
        if size >= _JUDGED_BYTES:
            break
        parts.append(part)
        size += len(part.encode())
    return parts


def _bytes_of(parts: Sequence[str]) -> int:
    return sum(len(part.encode()) for part in parts)


def _ids(tok: Tokenizer, parts: Sequence[str]) -> Ids:
    return tok.encode_batch(parts).ids.astype(np.int64)


def _bits(model: GPT, ids: Ids) -> float:
    """The bits of a text.

    Windows overlap by half: except in the first one, each token is predicted from at least half a
    context. The first token costs as if all were equally likely.
    """
    import torch
    from torch.nn import functional

    context, size = model.config.context, model.config.vocab_size
    if not len(ids):
        return 0.0
    half = context // 2
    starts = np.arange(0, max(len(ids) - 1 - half, 1), context - half)
    padded = np.concatenate([ids, np.full(context, -100)])
    nats = math.log(size)
    rows = max(_LOGITS // (context * size), 1)
    model.eval()
    with torch.no_grad():
        for first in range(0, len(starts), rows):
            places = starts[first : first + rows, None] + np.arange(context)
            targets = padded[places + 1]
            targets[1 if first == 0 else 0 :, :half] = -100
            logits, _ = model(torch.from_numpy(padded[places].clip(0)))
            nats += float(
                functional.cross_entropy(
                    logits.flatten(0, 1), torch.from_numpy(targets).flatten(), reduction="sum"
                )
            )
    return nats / math.log(2)
