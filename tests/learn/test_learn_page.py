"""The page of `jeton learn --html` in a real browser: keys, buttons, light, a narrow window.

The browser runs the page with a script at its end that presses keys and notes what is to be seen,
and prints what became of the page.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
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

WATCHING = """
<script>
const seen = {};
window.onerror = (message) => { seen.error = message; };
const press = (key) => dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
const shown = () => [...document.querySelectorAll("section")]
  .filter((it) => it.offsetHeight > 0).map((it) => Number(it.dataset.step));
const note = (name) => {
  seen[name] = [document.getElementById("place").textContent, shown(), location.hash];
};
const ground = () => getComputedStyle(document.body).backgroundColor;
const click = (id) => document.getElementById(id).click();
addEventListener("load", () => {
  note("start");
  press("ArrowRight"); note("right"); press(" "); note("space"); press("ArrowLeft"); note("left");
  press("End"); note("end"); press("ArrowRight"); note("after the end");
  press("Home"); note("home"); press("ArrowLeft"); note("before the start");
  click("on"); note("button on"); click("back"); note("button back");
  click("last"); note("button last"); click("first"); note("button first");
  const slider = document.getElementById("slider");
  slider.value = 3; slider.oninput(); note("slider");
  press("a"); note("all"); press("a"); note("one");
  let tick = null;
  window.setInterval = (step) => { tick = step; return 1; };
  const playing = () => document.getElementById("play").getAttribute("aria-pressed");
  press("Home"); click("play"); seen.playing = [playing()]; tick(); note("played on");
  press("p"); seen.playing.push(playing());
  press("p"); press("ArrowLeft"); seen.playing.push(playing()); note("a step pauses");
  press("End"); press("p"); note("from the start"); tick(); press("p"); press("End");
  seen.playing.push(playing()); slider.value = 3; slider.oninput();
  seen.grounds = [ground()]; press("t"); seen.grounds.push(ground());
  press("t"); seen.grounds.push(ground());
  seen.fits = document.documentElement.scrollWidth <= innerWidth;
  seen.loaded = performance.getEntriesByType("resource").length;
  seen.policy = document.querySelector("meta[http-equiv]").content;
  document.title = "seen:" + JSON.stringify(seen);
});
</script>
</body>
"""


def some_frames() -> list[Frame]:
    counts = textbook.LOW_COUNTS
    return frames_of_merging(start_rows(counts, "</w>"), list(learn.watch_bpe(counts, 4)))


def watched(text: str, folder: Path, width: int = 1000) -> dict[str, Any]:
    """What was seen of a page in a browser."""
    assert BROWSER is not None
    file = folder / "steps.html"
    file.write_text(text.replace("</body>\n", WATCHING))
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={width},800",
        "--virtual-time-budget=3000",
        "--dump-dom",
        file.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    title = re.search("<title>seen:(.*?)</title>", done.stdout.decode(), re.DOTALL)
    assert title is not None, done.stdout[-2000:]
    seen: dict[str, Any] = json.loads(html.unescape(title[1]))
    return seen


@pytest.mark.medium
@in_a_browser
def test_keys_buttons_and_light(tmp_path: Path) -> None:
    seen = watched(page(some_frames(), "BPE"), tmp_path)
    assert "error" not in seen
    expected = {
        "start": 1,
        "right": 2,
        "space": 3,
        "left": 2,
        "end": 6,
        "after the end": 6,
        "home": 1,
        "before the start": 1,
        "button on": 2,
        "button back": 1,
        "button last": 6,
        "button first": 1,
        "slider": 3,
        "one": 3,
    }
    for name, step in expected.items():
        assert seen[name][:2] == [f"{step} / 6", [step]], name
    assert seen["playing"] == ["true", "false", "false", "false"]
    assert seen["played on"][0] == "2 / 6" and seen["from the start"][0] == "1 / 6"
    assert seen["slider"][2] == "#3"
    assert seen["all"][1] == [1, 2, 3, 4, 5, 6]
    first, other, back = seen["grounds"]
    assert first == back != other
    assert seen["loaded"] == 0 and seen["policy"].startswith("default-src 'none'")


@pytest.mark.medium
@in_a_browser
def test_a_narrow_window(tmp_path: Path) -> None:
    tok = textbook.hug_pug_pun_bun_hugs("unigram")
    told, hug = tok.explain("unhugspun" * 9), textbook.HUG_COUNTS
    frames = [
        *some_frames(),
        *frames_of_encoding(told.text, told.steps),
        *frames_of_unigram(hug, list(learn.watch_unigram(hug, 10))),
    ]
    seen = watched(page(frames, "narrow " * 40), tmp_path, width=500)
    assert seen["fits"] and "error" not in seen
    assert len(seen["all"][1]) == len(frames)


def test_the_page_holds_all_that_it_needs() -> None:
    text = page(some_frames(), "<BPE> & co")
    assert "<title>&lt;BPE&gt; &amp; co</title>" in text
    assert not re.search(r"https?:|src=|href=|url\(|@import", text)
    assert text.count("<section") == 6
    # Without scripts all steps are there: it is the script that hides the others.
    assert 'class="jeton"' in text and "jeton steps" not in text


def test_a_page_of_nothing() -> None:
    assert "<main>" in page([], "nothing")
