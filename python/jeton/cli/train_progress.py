"""The progress of `jeton train`: a line on a terminal, or JSON lines for logs."""

from __future__ import annotations

import time
from collections.abc import Callable

from jeton.cli.command import echo_note, is_quiet
from jeton.cli.progress import JsonLines, ProgressBar
from jeton.cli.terminal import human_bytes
from jeton.corpora.progress import Progress as Step


def watcher(as_json: bool) -> TrainJsonLines | TerminalLine:
    """An object that shows the progress until it is closed."""
    return TrainJsonLines() if as_json and not is_quiet() else TerminalLine()


class TrainJsonLines(JsonLines):
    """JSON lines on standard error."""

    def __call__(self, step: Step) -> None:
        # Training reports first when it has an alphabet; counting begins at once.
        is_counting = step.phase == "counting"
        # Pipes have no size: only the text read so far shows their progress.
        done = step.done or step.text if is_counting and not step.total else step.done
        text = {"text": step.text} if is_counting else {}
        self.tell(step.phase, done, step.total, text, timed_from_start=is_counting)


class TerminalLine(ProgressBar):
    """A line for each phase, removed when the phase ends, and a note after counting."""

    def __init__(self) -> None:
        super().__init__()
        self._created = time.monotonic()
        #: The bytes of text that were counted, until the note says so.
        self._text: int | None = None

    def __call__(self, step: Step) -> None:
        if step.phase == "counting":
            self._text = step.text
        elif self._text is not None:
            self.close()
            seconds = time.monotonic() - self._created
            echo_note(f"counted {human_bytes(self._text)} in {seconds:.1f} s")
            self._text = None
        self.show(
            step.phase, step.done if step.total else step.text, step.total, _UNITS[step.phase]
        )
        if step.done == step.total != 0:
            self.close()


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
