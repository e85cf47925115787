"""`jeton learn` by keys: textual's own pilot, and one real pseudo-terminal."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("textual", reason="jeton learn steps by keys with textual")

from jeton import learn, textbook
from jeton.display.views.screen import Learn
from jeton.learn.merging import frames_of_merging, start_rows
from terminals import in_a_terminal

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


@pytest.mark.large
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


@pytest.mark.large
def test_a_real_terminal() -> None:
    keys = {"1/5": "\x1b[C", "2/5": "\x1b[F", "5/5": "?", "one step back": "?"}
    code, shown = in_a_terminal("learn", "bpe", "--merges", "3", answers={**keys, "learned": "q"})
    assert code == 0
    assert re.search(r"\x1b\[[0-9;]*48;[25];", shown)


@pytest.mark.large
@pytest.mark.parametrize(("options", "variables"), [(["--no-color"], {}), ([], {"NO_COLOR": "1"})])
def test_a_real_terminal_without_colour(options: list[str], variables: dict[str, str]) -> None:
    answers = {"1/3": " ", "* e s": "q"}
    arguments = ["learn", "bpe", "--merges", "1", *options]
    code, shown = in_a_terminal(*arguments, answers=answers, columns=40, variables=variables)
    assert code == 0
    assert not re.search(r"\x1b\[[0-9;]*(38|48);[25];", shown)
    assert not re.search(r"\x1b\[(3[1-7]|4[1-7]|9[0-7])m", shown)


@pytest.mark.large
def test_ctrl_c_leaves_the_terminal_as_it_was() -> None:
    code, shown = in_a_terminal("learn", "bytes", answers={"1/4": "\x03"})
    assert code == 0 and "\x1b[?1049l" in shown  # back from the other screen


def test_exercises_ask_in_a_terminal() -> None:
    code, _ = in_a_terminal(
        "learn", "--exercise", "1", answers={"> ": "w e\r", "Wrong.": "e s\r", "Right.": ""}
    )
    assert code == 0


def test_a_dumb_terminal_gets_all_in_print() -> None:
    code, shown = in_a_terminal(
        "learn", "bpe", "--merges", "1", answers={"3/3": ""}, variables={"TERM": "dumb"}
    )
    assert code == 0 and "\x1b" not in shown
