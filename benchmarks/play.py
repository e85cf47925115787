"""How long the page of `jeton play` takes, in a real browser: to be seen, and to follow the keys.

    python benchmarks/play.py --out docs/benchmarks

Two tokenizers are shown, a byte-level BPE and a Unigram of 3,000 tokens each. In the last row the
Unigram is a model of SentencePiece, which has no safe split points: each key encodes the whole
text. A key counts from the event until the browser has drawn the new tokens. Needs Chromium and
playwright. Prints a table, and writes it to `play.md` in the folder of `--out`.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import shutil
import statistics
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import jeton
from jeton import samples
from jeton.play import Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
KEYS = 21
SIZES = {"1 kB": 1_000, "100 kB": 100_000, "1 MB": 1_000_000, "10 MB": 10_000_000}

# Milliseconds from an edit until the frame in which the tokens of the new text are on the screen.
EDIT = """([at, added]) => new Promise((done) => {
  const area = document.querySelector("textarea");
  const told = document.querySelector(".text > .row .num");
  const start = performance.now();
  const watcher = new MutationObserver(() => {
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  });
  watcher.observe(told, { childList: true, characterData: true, subtree: true });
  const from = Number(document.querySelector(".moving input").value);
  area.setRangeText(added, at - from, at - from, "end");
  area.dispatchEvent(new InputEvent("input"));
})"""
# The area holds a part of a long text: the part around a place.
MOVE = """(at) => {
  const place = document.querySelector(".moving input");
  place.value = Math.max(0, at - 50_000);
  place.dispatchEvent(new Event("change"));
}"""
PAINTED = """() => {
  const [it] = performance.getEntriesByName("first-contentful-paint");
  return it ? performance.timeOrigin + it.startTime : 0;
}"""


def tokenizers(style: Any = "huggingface") -> dict[str, jeton.Tokenizer]:
    texts = list(samples.read_all().values())
    return {
        "bytes": jeton.BPETrainer(vocab_size=3000, pattern="gpt4").train(texts),
        "pieces": jeton.UnigramTrainer(vocab_size=3000, style=style).train(texts),
    }


def text_of(size: int) -> str:
    whole = "\n\n".join(samples.read_all().values())
    return (whole * (1 + size // len(whole)))[:size]


def first_paint(browser: Any, shown: dict[str, jeton.Tokenizer]) -> float:
    """Milliseconds from the start of the server until something is on the screen."""
    tab = browser.new_page()
    start = time.time()
    with Page(shown) as served:
        tab.goto(served.url)
        tab.wait_for_selector(".flow .t")
        painted = tab.evaluate(PAINTED)
    tab.close()
    return float(painted - 1000 * start)


def keys(browser: Any, shown: dict[str, jeton.Tokenizer], size: int) -> tuple[float, list[float]]:
    """Milliseconds until a text of `size` characters is shown, and then for each key."""
    tab = browser.new_page()
    with Page(shown) as served:
        tab.goto(served.url)
        tab.wait_for_selector(".flow .t")
        whole = float(tab.evaluate(EDIT, [0, text_of(size)]))
        places = [size * it // KEYS for it in range(KEYS)]
        times = []
        for at in places:
            tab.evaluate(MOVE, at)
            times.append(float(tab.evaluate(EDIT, [at, "x"])))
    tab.close()
    return whole, times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="The folder that play.md is written to.")
    out = parser.parse_args().out
    browser_path = next(filter(None, map(shutil.which, NAMES)), None)
    shown = tokenizers()
    lines = [
        "| text | whole text, ms | a key, ms: median | slowest of 21 |",
        "|---|---:|---:|---:|",
    ]
    with sync_playwright() as run:
        browser = run.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        painted = statistics.median(first_paint(browser, shown) for _ in range(5))
        rows = [(name, shown, size) for name, size in SIZES.items()]
        name, _, size = rows[-1]
        rows.append((f"{name}, SentencePiece", tokenizers("sentencepiece"), size))
        for name, tokens_of, size in rows:
            whole, times = keys(browser, tokens_of, size)
            lines.append(
                f"| {name} | {whole:.0f} | {statistics.median(times):.0f} | {max(times):.0f} |"
            )
            print(lines[-1], flush=True)
        version = browser.version
        browser.close()
    page = f"""# Times of the page

{datetime.date.today()}; {platform.machine()}, 2 cores, Python {platform.python_version()}, Chromium
{version}; jeton {jeton.__version__}. Made by `python benchmarks/play.py --out docs/benchmarks`.

Two tokenizers are shown, a byte-level BPE and a Unigram of 3,000 tokens each. In the last row the
Unigram is a model of SentencePiece, which has no safe split points: each key encodes the whole
text. From the start of the server to the first paint it takes {painted:.0f} ms (median of 5). A key
counts from its event until the browser has drawn the new tokens; the keys are spread over the
whole text.

{chr(10).join(lines)}
"""
    print(page)
    if out:
        (out / "play.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
