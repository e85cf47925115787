"""How far `jeton train` has come: a line on a terminal, or JSON lines for logs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import click

from jeton.cli.command import echo_note, is_quiet
from jeton.cli.terminal import Progress, human_bytes
from jeton.corpus import Progress as Step

__all__ = ["watcher"]


def watcher(as_json: bool) -> Callable[[Step], None]:
    """What shows the progress: a line on a terminal, or JSON lines, at most one a second."""
    start = time.monotonic()
    shown: dict[str, Any] = {"phase": None, "next": 0.0}

    def line(step: Step) -> None:
        now = time.monotonic()
        is_last = step.done == step.total
        if step.phase == shown["phase"] and now < shown["next"] and not is_last:
            return
        if step.phase != shown["phase"]:
            # What is there when a phase begins was not made in it.
            shown.update(began=now, first=step.done if step.phase != "counting" else 0)
        shown.update(phase=step.phase, next=now + 1.0)
        told: dict[str, Any] = {"phase": step.phase, "done": step.done, "total": step.total}
        if step.phase == "counting":
            told["text"] = step.text
        elapsed = now - shown["began"]
        rate = (step.done - shown["first"]) / elapsed if elapsed > 0 else 0.0
        left = round((step.total - step.done) / rate, 1) if rate else None
        told.update(seconds=round(now - start, 1), rate=round(rate, 1), left=left)
        click.echo(json.dumps(told), err=True)

    def bar(step: Step) -> None:
        if step.phase != shown["phase"]:
            if (old := shown.get("bar")) is not None:
                old.__exit__(None, None, None)
            if shown["phase"] == "counting":
                seconds = time.monotonic() - start
                echo_note(f"counted {human_bytes(shown['text'])} of text in {seconds:.1f} s")
            unit = _UNITS[step.phase]
            shown.update(phase=step.phase, bar=Progress(step.phase, step.total or None, unit))
        progress: Progress = shown["bar"]
        progress.total = step.total or None
        if step.phase == "counting":
            shown["text"] = step.text
        # Files are read ahead of what is known of them: text tells sooner where none is compressed.
        done = max(step.done, min(step.text, step.total)) if step.total else step.text
        progress.advance(done - progress.done)
        if step.phase in ("merging", "fitting") and step.done == step.total:
            progress.__exit__(None, None, None)

    return line if as_json and not is_quiet() else bar


def _tokens(count: float) -> str:
    return f"{count:,.0f} tokens"


def _steps(count: float) -> str:
    return f"{count:,.0f} steps"


_UNITS: dict[str, Callable[[float], str]] = {
    "counting": human_bytes,
    "merging": _tokens,
    "seeding": _steps,
    "fitting": _steps,
}
