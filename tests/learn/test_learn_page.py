"""The page of `jeton learn --html` in a real browser: keys, buttons, light, a narrow window."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import BROWSER, in_a_browser
from jeton import learn, textbook
from jeton.display.views.frames import Frame
from jeton.display.views.page import page
from jeton.encoding.explaining.view_frames import frames_of_encoding
from jeton.learn.merging import frames_of_merging, start_rows
from jeton.learn.unigram import frames_of_unigram


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page in a browser; it may have no errors and load nothing but itself."""
    playwright = pytest.importorskip("playwright.sync_api")
    file = tmp_path / "steps.html"
    errors: list[str] = []
    loaded: list[str] = []
    with playwright.sync_playwright() as run:
        browser = run.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])

        def open_page(text: str, width: int = 1000) -> Any:
            file.write_text(text)
            tab = browser.new_page(viewport={"width": width, "height": 800})
            tab.on("pageerror", lambda error: errors.append(str(error)))
            tab.on("request", lambda request: loaded.append(request.url))
            tab.goto(file.as_uri())
            return tab

        yield open_page
        browser.close()
    assert (errors, loaded) == ([], [file.as_uri()])


def steps(tab: Any) -> tuple[str, list[int]]:
    """Which step the page says it shows, and those that it shows."""
    shown = "its => its.filter(it => it.offsetHeight > 0).map(it => Number(it.dataset.step))"
    return tab.inner_text("#place"), tab.locator("section").evaluate_all(shown)


def some_frames() -> list[Frame]:
    counts = textbook.LOW_COUNTS
    return frames_of_merging(start_rows(counts, "</w>"), list(learn.watch_bpe(counts, 4)))


@pytest.mark.large
@in_a_browser
def test_keys_and_buttons(opened: Callable[..., Any]) -> None:
    tab = opened(page(some_frames(), "BPE"))
    assert steps(tab) == ("1 / 6", [1])
    keys = [("ArrowRight", 2), ("Space", 3), ("ArrowLeft", 2), ("End", 6), ("ArrowRight", 6)]
    for key, step in [*keys, ("Home", 1), ("ArrowLeft", 1)]:
        tab.keyboard.press(key)
        assert steps(tab) == (f"{step} / 6", [step]), key
    for button, step in [("on", 2), ("back", 1), ("last", 6), ("first", 1)]:
        tab.click(f"#{button}")
        assert steps(tab) == (f"{step} / 6", [step]), button
    tab.fill("#slider", "3")
    assert steps(tab) == ("3 / 6", [3]) and tab.url.endswith("#3")
    tab.keyboard.press("a")
    assert steps(tab)[1] == [1, 2, 3, 4, 5, 6]
    tab.keyboard.press("a")
    assert steps(tab) == ("3 / 6", [3])


@pytest.mark.large
@in_a_browser
def test_steps_play_and_pause(opened: Callable[..., Any]) -> None:
    tab = opened(page(some_frames(), "BPE"))
    tab.evaluate("window.setInterval = (step) => { window.tick = step; return 1; }")
    pressed = [("#play", "1 / 6", "true"), ("tick", "2 / 6", "true"), ("p", "2 / 6", "false")]
    pressed += [("p", "2 / 6", "true"), ("ArrowLeft", "1 / 6", "false"), ("End", "6 / 6", "false")]
    for what, place, playing in [*pressed, ("p", "1 / 6", "true"), ("tick", "2 / 6", "true")]:
        if what == "tick":
            tab.evaluate("window.tick()")
        elif what.startswith("#"):
            tab.click(what)
        else:
            tab.keyboard.press(what)
        assert steps(tab)[0] == place, what
        assert tab.get_attribute("#play", "aria-pressed") == playing, what


@pytest.mark.large
@in_a_browser
def test_light_and_dark(opened: Callable[..., Any]) -> None:
    tab = opened(page(some_frames(), "BPE"))
    grounds = []
    for key in ("t", "t", "t"):
        tab.keyboard.press(key)
        grounds.append(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] == grounds[2] != grounds[1]


@pytest.mark.large
@in_a_browser
def test_a_narrow_window(opened: Callable[..., Any]) -> None:
    tok = textbook.hug_pug_pun_bun_hugs("unigram")
    told, hug = tok.explain("unhugspun" * 9), textbook.HUG_COUNTS
    frames = [
        *some_frames(),
        *frames_of_encoding(told.text, told.steps),
        *frames_of_unigram(hug, list(learn.watch_unigram(hug, 10))),
    ]
    tab = opened(page(frames, "narrow " * 40), width=500)
    tab.keyboard.press("a")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(steps(tab)[1]) == len(frames)


def test_the_page_holds_all_that_it_needs() -> None:
    text = page(some_frames(), "<BPE> & co")
    assert "<title>&lt;BPE&gt; &amp; co</title>" in text
    assert not re.search(r"https?:|src=|href=|url\(|@import", text)
    assert "default-src 'none'" in text and text.count("<section") == 6
    # Without scripts all steps are there: it is the script that hides the others.
    assert 'class="jeton"' in text and "jeton steps" not in text


def test_a_page_of_nothing() -> None:
    assert "<main>" in page([], "nothing")
