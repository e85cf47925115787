"""The progress of preparing, as a bar or as JSON lines, and the note when it is stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from jeton.cli.command import echo_note, is_quiet
from jeton.cli.progress import JsonLines, ProgressBar
from jeton.cli.terminal import human_bytes

if TYPE_CHECKING:
    from jeton.data import PrepareProgress

Watch = Callable[["PrepareProgress"], None]


@contextlib.contextmanager
def progress_shown(as_json: bool) -> Iterator[Watch | None]:
    """A function that shows the progress; `None` with `--quiet`."""
    if is_quiet():
        yield None
    else:
        with contextlib.closing(_PrepareJsonLines() if as_json else _PrepareBars()) as shown:
            yield shown


@contextlib.contextmanager
def note_on_resuming() -> Iterator[None]:
    """Says, if a signal stops the work, that the same command resumes."""
    try:
        yield
    except KeyboardInterrupt:
        echo_note("stopped; the same command resumes")
        raise


class _PrepareJsonLines(JsonLines):
    def __call__(self, step: PrepareProgress) -> None:
        counts = {"documents": step.documents, "tokens": step.tokens}
        disk = {"disk": step.disk_needed, "free": step.disk_free} if step.disk_needed else {}
        self.tell(step.phase, step.done, step.total, counts | disk)


class _PrepareBars(ProgressBar):
    """A bar for each phase, and a note on the disk that the set needs."""

    _has_told_disk = False

    def __call__(self, step: PrepareProgress) -> None:
        if step.disk_needed and not self._has_told_disk:
            self._has_told_disk = True
            echo_note(
                f"the set needs about {human_bytes(step.disk_needed)} of disk; "
                f"{human_bytes(step.disk_free)} are free"
            )
        note = f"{step.tokens:,} tokens"
        self.show(step.phase, step.done, step.total, first=step.done, note=note)
