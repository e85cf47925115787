"""The options of small models by which `compare` and `sweep` judge tokenizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

import jeton
from jeton.analysis import TinyModel
from jeton.cli.progress import ProgressBar
from jeton.cli.terminal import human_bytes


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--operations` and `--seeds`."""
    command = click.option(
        "--seeds",
        type=click.IntRange(1, 1000),
        help=f"Number of small models per tokenizer.  [default: {TinyModel.seeds}]",
    )(command)
    return click.option(
        "--operations",
        type=click.FloatRange(1, 1e30),
        metavar="N",
        help="Floating-point operations to train each, as in 3e12: about a minute.  "
        f"[default: {TinyModel.operations:g}]".replace("e+", "e"),
    )(command)


def tiny_model(
    is_wanted: bool, wanted_by: str, operations: float | None, seeds: int | None
) -> TinyModel | None:
    """The models that the options describe; `None` if none are wanted."""
    given = {"operations": operations, "seeds": seeds}
    values = {name: value for name, value in given.items() if value is not None}
    if not is_wanted:
        for name in values:
            raise click.UsageError(f"--{name} is of the models that {wanted_by} asks for.")
        return None
    return TinyModel(**values)  # type: ignore[arg-type]


def follow(bars: ProgressBar, label: str, step: jeton.Progress) -> None:
    """Shows a step of measuring or of training models: a bar for each phase and label."""
    name = f"{label}: {step.phase}" if label else step.phase
    unit = human_bytes if step.phase == "counting" else "{:,.0f}".format
    bars.show(name, step.done, step.total, unit)
