"""Frames on a screen, by textual: forward and back by keys, for any size of the window.

Look here for the keys of `jeton learn`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.widgets import Static

from jeton.display.human_readable import without_controls
from jeton.display.palette import STRONG
from jeton.display.views.frames import Frame
from jeton.display.views.printed import renderable

PLAY_SECONDS = 1.5
"""How long each step is shown while the steps play."""

HELP = """Keys

  → space n    one step on
  ← b          one step back
  p            play, a step every 1.5 seconds; again: pause
  Home g       to the first step
  End G        to the last step
  ↑ ↓ PgUp     scroll, where a step is
  PgDn         longer than the window
  ?            this help, and back
  q Esc        leave
"""


class _CurrentStep(Static):
    """The current step, laid out again when the width changes."""

    def render(self) -> RenderableType:
        app = self.app
        assert isinstance(app, Learn)
        if app.is_helping:
            return Text(HELP)
        frame = app.frames[app.at]
        return renderable(frame, self.size.width or 80, colour=app.colour)


class _StepNumber(Static):
    """The number of the step and of all steps, as a line."""

    def render(self) -> RenderableType:
        app = self.app
        assert isinstance(app, Learn)
        count = len(app.frames)
        width = max(10, self.size.width)
        place = f" {app.at + 1}/{count} "
        plays = "pause" if app.is_playing else "play"
        keys = f" ← → steps  p {plays}  ? keys  q quit " if width >= 52 else " ← → p ? q "
        room = max(0, width - len(place) - len(keys))
        filled = round(room * (app.at + 1) / count)
        line = Text(place, "bold")
        line.append("━" * filled, STRONG["best"] if app.colour else "")
        line.append("─" * (room - filled), STRONG["dim"] if app.colour else "")
        line.append(keys, STRONG["dim"] if app.colour else "")
        return line


@contextlib.contextmanager
def _colour_choice(colour: bool) -> Iterator[None]:
    """Sets in the environment whether there are colours: textual looks only there."""
    before = os.environ.pop("NO_COLOR", None)
    if not colour:
        os.environ["NO_COLOR"] = "1"
    try:
        yield
    finally:
        os.environ.pop("NO_COLOR", None)
        if before is not None:
            os.environ["NO_COLOR"] = before


class Learn(App[None]):
    """Steps forward and back.

    Args:
        frames: The steps, at least one.
        title: What they are of.
        colour: Whether tokens differ by colour; if not, by signs.
    """

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; background: black; color: white; }
    #title { height: 1; padding: 0 1; text-style: bold; }
    #body { height: 1fr; padding: 1 1 0 1; scrollbar-size-vertical: 1; }
    #shown { height: auto; }
    #place { height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space,n,enter", "step(1)", "on", priority=True),
        Binding("left,b,backspace", "step(-1)", "back", priority=True),
        Binding("p", "play", "play", priority=True),
        Binding("home,g", "go(0)", "first", priority=True),
        Binding("end,G", "go(-1)", "last", priority=True),
        Binding("question_mark,h,f1", "help", "keys", priority=True),
        Binding("q,escape,ctrl+c", "leave", "quit", priority=True),
    ]

    def __init__(self, frames: Sequence[Frame], title: str, *, colour: bool = True) -> None:
        with _colour_choice(colour):
            super().__init__(ansi_color=None if colour else True)
        self.frames = frames
        self.heading = without_controls(title)
        self.colour = colour
        self.at = 0
        self.is_helping = False
        self._clock: Timer | None = None

    @property
    def is_playing(self) -> bool:
        """Whether the steps play."""
        return self._clock is not None

    def compose(self) -> ComposeResult:
        yield Static(Text(self.heading, no_wrap=True, overflow="ellipsis"), id="title")
        with VerticalScroll(id="body"):
            yield _CurrentStep(id="shown")
        yield _StepNumber(id="place")

    def action_step(self, by: int) -> None:
        """Goes some steps on or back, and pauses."""
        self._pause()
        if self.is_helping:
            self.is_helping = False
            by = 0
        self._go(self.at + by)

    def action_play(self) -> None:
        """Plays the steps, from the first if the last one is shown; or pauses."""
        if self._clock is not None:
            self._pause()
        else:
            self.is_helping = False
            if self.at == len(self.frames) - 1:
                self._go(0)
            self._clock = self.set_interval(PLAY_SECONDS, self._play_on)
        self.query_one("#place", _StepNumber).refresh()

    def _play_on(self) -> None:
        self._go(self.at + 1)
        if self.at == len(self.frames) - 1:
            self._pause()

    def _pause(self) -> None:
        if self._clock is not None:
            self._clock.stop()
            self._clock = None

    def action_go(self, to: int) -> None:
        """Goes to a step; below 0, from the end."""
        self._pause()
        self.is_helping = False
        self._go(to % len(self.frames))

    def action_help(self) -> None:
        """Shows the keys, or the step again."""
        self.is_helping = not self.is_helping
        self._go(self.at)

    def action_leave(self) -> None:
        """Leaves the help, or the program."""
        if self.is_helping:
            self.action_help()
        else:
            self.exit()

    def _go(self, to: int) -> None:
        self.at = max(0, min(len(self.frames) - 1, to))
        self.query_one("#shown", _CurrentStep).refresh(layout=True)
        self.query_one("#place", _StepNumber).refresh()
        self.query_one("#body", VerticalScroll).scroll_home(animate=False)

    def on_resize(self) -> None:
        """Lays the step out for the new width."""
        self.call_after_refresh(lambda: self.query_one("#shown", _CurrentStep).refresh(layout=True))


def show(frames: Sequence[Frame], title: str, *, colour: bool) -> None:
    """Shows the steps until the reader leaves."""
    Learn(frames, title, colour=colour).run()
