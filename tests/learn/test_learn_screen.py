"""`jeton learn` by keys: textual's own pilot, and one real pseudo-terminal."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("textual", reason="jeton learn steps by keys with textual")

from jeton import learn, textbook
from jeton.display.views.screen import Learn
from jeton.learn.merging import frames_of_merging, start_rows

WIDE, NARROW = (90, 30), (40, 12)


def app(colour: bool = True) -> Learn:
    counts = textbook.LOW_COUNTS
    steps = list(learn.watch_bpe(counts, 5))
    return Learn(frames_of_merging(start_rows(counts, "</w>"), steps), "BPE: low", colour=colour)


def piloted(
    play: Callable[[Learn, Any], Awaitable[None]],
    size: tuple[int, int] = WIDE,
    colour: bool = True,
) -> None:
    async def run() -> None:
        shown = app(colour)
        async with shown.run_test(size=size) as pilot:
            await play(shown, pilot)

    asyncio.run(run())


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
def test_the_screen_is_white_on_black_in_every_theme(theme: str) -> None:
    """`test_contrast.py` holds the colours of steps against black, and not against a dark grey."""

    async def play(shown: Learn, pilot: Any) -> None:
        shown.theme = theme
        await pilot.pause()
        for part in ("#title", "#shown", "#place"):
            style = shown.query_one(part).rich_style
            assert style.color is not None and style.bgcolor is not None
            assert style.color.get_truecolor().hex == "#ffffff", part
            assert style.bgcolor.get_truecolor().hex == "#000000", part

    piloted(play)


def lines_of(shown: Learn) -> list[str]:
    """What is on the screen."""
    return [
        "".join(segment.text for segment in strip)
        for strip in shown.screen._compositor.render_strips()
    ]


def test_steps_play_and_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(shown: Learn, pilot: Any) -> None:
        monkeypatch.setattr("jeton.display.views.screen.PLAY_SECONDS", 600)
        await pilot.press("p")
        assert shown.is_playing and "pause" in lines_of(shown)[-1]
        await pilot.press("right")
        assert not shown.is_playing and shown.at == 1
        await pilot.press("p", "p")
        assert not shown.is_playing and "play" in lines_of(shown)[-1]
        await pilot.press("end", "p")
        assert shown.is_playing and shown.at == 0  # from the first again
        await pilot.press("p")
        monkeypatch.setattr("jeton.display.views.screen.PLAY_SECONDS", 0.01)
        await pilot.press("p")
        while shown.is_playing:
            await pilot.pause(0.01)
        assert shown.at == len(shown.frames) - 1

    piloted(play)


KEYS: dict[str, tuple[list[str], int]] = {
    "on": (["right"], 1),
    "space": (["space", "space"], 2),
    "letters": (["n", "n", "b"], 1),
    "back": (["right", "right", "left"], 1),
    "not before the first": (["left", "left"], 0),
    "end": (["end"], 6),
    "not behind the last": (["end", "right", "space"], 6),
    "home": (["end", "home"], 0),
    "capital G and g": (["G", "g", "right"], 1),
    "help and back by a step": (["right", "question_mark", "right"], 1),
    "help and back": (["right", "question_mark", "question_mark"], 1),
    "escape leaves the help": (["right", "question_mark", "escape"], 1),
    "keys of no meaning": (["x", "1", "tab", "f5"], 0),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys(name: str) -> None:
    keys, at = KEYS[name]

    async def play(shown: Learn, pilot: Any) -> None:
        await pilot.press(*keys)
        await pilot.pause()
        assert shown.at == at and not shown.is_helping
        screen = "\n".join(lines_of(shown))
        assert f"{at + 1}/7" in screen
        assert shown.frames[at].title in screen

    piloted(play)


@pytest.mark.parametrize("key", ["q", "escape"])
def test_leaving(key: str) -> None:
    async def play(shown: Learn, pilot: Any) -> None:
        await pilot.press(key)
        await pilot.pause()
        assert not shown.is_running

    piloted(play)


def test_help() -> None:
    async def play(shown: Learn, pilot: Any) -> None:
        await pilot.press("question_mark")
        await pilot.pause()
        assert "one step back" in "\n".join(lines_of(shown))

    piloted(play)


def test_a_narrow_screen_and_a_resize() -> None:
    async def play(shown: Learn, pilot: Any) -> None:
        await pilot.press("right")
        await pilot.pause()
        narrow = lines_of(shown)
        assert all(len(line) <= NARROW[0] for line in narrow)
        assert any(line.strip().startswith("first.") or "tie" in line for line in narrow)
        await pilot.resize_terminal(*WIDE)
        await pilot.pause()
        wide = lines_of(shown)
        assert len(wide) == WIDE[1]
        assert any("3 pairs tie; it wins: it was seen first." in line for line in wide)
        await pilot.resize_terminal(*NARROW)
        await pilot.pause()
        assert lines_of(shown) == narrow

    piloted(play, NARROW)


def test_a_step_that_is_longer_than_the_screen_scrolls() -> None:
    async def play(shown: Learn, pilot: Any) -> None:
        await pilot.press("right")
        await pilot.pause()
        top = lines_of(shown)
        await pilot.press("pagedown", "pagedown", "pagedown")
        await pilot.pause(0.5)
        assert lines_of(shown) != top and shown.at == 1
        await pilot.press("right", "left")
        await pilot.pause()
        assert lines_of(shown) == top

    piloted(play, NARROW)


def test_without_colour_signs_tell() -> None:
    async def play(shown: Learn, pilot: Any) -> None:
        await pilot.press("right")
        await pilot.pause()
        screen = "\n".join(lines_of(shown))
        assert "* e s" in screen and "n│e│w│es*│t" in screen

    piloted(play, colour=False)


@pytest.mark.parametrize("before", [None, "1"])
def test_the_environment_stays_as_it_was(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if before is not None:
        monkeypatch.setenv("NO_COLOR", before)
    assert app(colour=False).no_color and not app(colour=True).no_color
    assert os.environ.get("NO_COLOR") == before


# A real pseudo-terminal


IN_ITS_TERMINAL = (
    "import fcntl, runpy, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "sys.argv[0] = 'jeton'; runpy.run_module('jeton', run_name='__main__')"
)
"""Makes the terminal on standard input the one that signals come from, and runs jeton."""


class Terminal:
    """`jeton` in a terminal of its own."""

    def __init__(self, *arguments: str, size: tuple[int, int] = (80, 24), **env: str) -> None:
        self.fd, inner = pty.openpty()
        self.resize(*size)
        around = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COLUMNS", "LINES", "NO_COLOR")
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", IN_ITS_TERMINAL, *arguments],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            env={**around, "TERM": "xterm-256color", **env},
        )
        os.close(inner)
        self.shown = ""

    def resize(self, columns: int, rows: int) -> None:
        """Gives the terminal another size; the system tells the program."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, text: str, seconds: float = 30.0) -> None:
        """Reads until a text was shown."""
        end = time.monotonic() + seconds
        while text not in self.plain():
            ready, _, _ = select.select([self.fd], [], [], 0.1)
            if ready:
                try:
                    self.shown += os.read(self.fd, 65_536).decode(errors="replace")
                except OSError:  # the program has ended
                    break
            assert time.monotonic() < end, self.shown[-2000:]
        assert text in self.plain(), self.shown[-2000:]

    def plain(self) -> str:
        """What was shown, without styles and places."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.shown)

    def press(self, keys: str) -> None:
        """Types; what was shown before does not count any more."""
        self.shown = ""
        os.write(self.fd, keys.encode())

    def end(self) -> int:
        """Waits for the end; the exit code."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.fd], [], [], 0.1)
            if ready:
                try:
                    self.shown += os.read(self.fd, 65_536).decode(errors="replace")
                except OSError:
                    break
        return self.process.wait(timeout=30)

    def close(self) -> None:
        """Ends what is still there."""
        self.process.kill()
        self.process.wait(timeout=30)
        os.close(self.fd)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    """Opens terminals, and closes them."""
    opened: list[Terminal] = []

    def open_one(*arguments: str, **options: Any) -> Terminal:
        opened.append(Terminal(*arguments, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.mark.medium
def test_a_real_terminal(terminal: Callable[..., Terminal]) -> None:
    there = terminal("learn", "bpe", "--merges", "3")
    there.wait_for("1/5")
    there.press("\x1b[C")
    there.wait_for("2/5")
    assert re.search(r"\x1b\[[0-9;]*48;[25];", there.shown)
    there.press("\x1b[F")
    there.wait_for("5/5")
    there.press("\x1b[H")
    there.wait_for("1/5")
    there.press("?")
    there.wait_for("one step back")
    there.press("?")
    there.wait_for("The words")
    there.resize(40, 12)
    there.press(" ")
    there.wait_for("2/5")
    there.press("q")
    assert there.end() == 0


@pytest.mark.medium
def test_a_real_terminal_without_colour(terminal: Callable[..., Terminal]) -> None:
    for arguments, env in ((["--no-color"], {}), ([], {"NO_COLOR": "1"})):
        there = terminal("learn", "bpe", "--merges", "1", *arguments, size=(40, 20), **env)
        there.wait_for("1/3")
        there.press(" ")
        there.wait_for("* e s")
        assert not re.search(r"\x1b\[[0-9;]*(38|48);[25];", there.shown)
        assert not re.search(r"\x1b\[(3[1-7]|4[1-7]|9[0-7])m", there.shown)
        there.press("q")
        assert there.end() == 0


@pytest.mark.medium
def test_ctrl_c_leaves_the_terminal_as_it_was(terminal: Callable[..., Terminal]) -> None:
    there = terminal("learn", "bytes")
    there.wait_for("1/4")
    there.press("\x03")
    assert there.end() == 0
    assert "\x1b[?1049l" in there.shown  # back from the other screen


def test_exercises_ask_in_a_terminal(terminal: Callable[..., Terminal]) -> None:
    there = terminal("learn", "--exercise", "1")
    there.wait_for("> ")
    there.press("w e\r")
    there.wait_for("Wrong.")
    there.press("e s\r")
    there.wait_for("Right.")
    assert there.end() == 0


def test_a_dumb_terminal_gets_all_in_print(terminal: Callable[..., Terminal]) -> None:
    there = terminal("learn", "bpe", "--merges", "1", TERM="dumb")
    there.wait_for("3/3")
    assert there.end() == 0
    assert "\x1b" not in there.shown
