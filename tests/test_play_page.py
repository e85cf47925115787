"""The page of `jeton play` in a real browser: each view, by mouse and by keyboard."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import samples

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no browser here (chromium, chromium-browser or google-chrome)"
)

SPECIAL = ["<|im_start|>", "<|im_end|>"]
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>\x1b[2J\u202e'


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, jeton.Tokenizer]:
    texts = list(samples.read_all().values())
    bpe = jeton.BPETrainer(vocab_size=900, pattern="gpt4", special_tokens=SPECIAL).train(texts)
    unigram = jeton.UnigramTrainer(vocab_size=1200).train(texts)
    return {"bytes": bpe, "pieces": unigram}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as run:
        browser = run.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, tokenizers: dict[str, jeton.Tokenizer]) -> Iterator[Any]:
    """The page, open; nothing may be written to its console."""
    from jeton.play import Page

    context = browser.new_context(viewport={"width": 1300, "height": 900})
    with Page(tokenizers, text="the weather, the tide") as served:
        tab = context.new_page()
        problems: list[str] = []
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", lambda it: problems.extend([it.text] if it.type == "error" else []))
        tab.goto(served.url)
        tab.wait_for_selector(".flow .t")
        yield tab
        # What the server refuses is said on the page, and by the browser, too.
        assert [it for it in problems if "400" not in it] == []
    context.close()


def write(page: Any, text: str) -> None:
    page.fill("textarea[aria-label=Text]", text)


def drawn(page: Any, card: int = 0) -> str:
    return str(page.locator(".card .flow").nth(card).inner_text())


def waits_for(page: Any, expression: str, seconds: float = 20) -> None:
    """Waits until an expression is true; the page's policy lets playwright's own loop not in."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(50)


def test_typing_shows_the_tokens(page: Any, tokenizers: dict[str, jeton.Tokenizer]) -> None:
    text = "the tide waits"
    write(page, text)
    count = len(tokenizers["bytes"].encode(text))
    waits_for(page, f"document.querySelector('.card .count').textContent === '{count} tokens'")
    assert drawn(page) == text.replace(" ", "·")
    page.get_by_role("button", name="White space").click()
    assert drawn(page) == text
    page.get_by_role("button", name="Ids", exact=True).click()
    shown = page.locator(".card .flow").first.locator(".t").all_inner_texts()
    assert shown == [str(id) for id in tokenizers["bytes"].encode(text)]


def test_hover_marks_the_same_characters_in_each_card(page: Any) -> None:
    write(page, "weather")
    waits_for(page, "document.querySelector('.flow').textContent === 'weather'")
    page.locator(".card .flow").nth(0).locator(".t").first.hover()
    assert page.locator(".card .flow").nth(1).locator(".hot").count() >= 1


def test_keys_go_from_token_to_token(page: Any) -> None:
    write(page, "the weather and the tide")
    page.locator(".card .flow").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("#rail .big-token")
    assert "token 3 of" in page.locator("#rail").inner_text()
    page.keyboard.press("Home")
    waits_for(page, "document.querySelector('#rail').innerText.includes('token 1 of')")
    page.keyboard.press("Escape")
    waits_for(page, "document.querySelector('#rail').innerText.includes('No token selected')")


def test_characters_that_are_split_are_drawn_with_their_part(page: Any) -> None:
    write(page, "😀")
    waits_for(
        page, "document.querySelectorAll('.card .flow')[0].querySelectorAll('.part').length > 1"
    )
    assert "😀⟨1/" in drawn(page)


def test_only_differences(page: Any) -> None:
    write(page, "the weather 12345")
    page.get_by_role("button", name="Only differences").click()
    waits_for(page, "document.querySelector('.t.same')")
    assert page.locator(".card .flow").first.locator(".t:not(.same)").count() >= 1


def test_special_tokens_are_text_until_they_are_allowed(page: Any) -> None:
    write(page, "a<|im_end|>")
    waits_for(page, "document.querySelector('.flow').textContent.startsWith('a<')")
    assert page.locator(".t.special").count() == 0
    page.get_by_role("button", name="Special tokens").click()
    waits_for(page, "document.querySelectorAll('.t.special').length === 1")


def test_gotchas_mend_the_text(page: Any) -> None:
    write(page, "the weather ")
    page.wait_for_selector(".gotcha")
    assert "trailing-space" in page.locator("#rail").inner_text()


def test_steps(page: Any) -> None:
    page.click("#tab-steps")
    page.fill("input[aria-label='The word or sentence']", "weather")
    waits_for(page, "document.querySelector('.frame')?.innerText.includes('7 characters')")
    page.wait_for_timeout(2000)
    page.get_by_role("button", name="On", exact=True).click()
    assert "step 2 of" in page.locator("main").inner_text()
    chips = page.locator("[aria-label='Take tokens apart'] .chip:not([disabled])")
    before = page.locator("[aria-label='Take tokens apart'] .chip").count()
    chips.first.click()
    assert page.locator("[aria-label='Take tokens apart'] .chip").count() == before + 1


def test_vocabulary(page: Any, tokenizers: dict[str, jeton.Tokenizer]) -> None:
    page.click("#tab-vocabulary")
    waits_for(page, f"document.querySelector('main').innerText.includes('{900:,} tokens')")
    page.fill("input[type=search]", " wa")
    waits_for(page, "document.querySelectorAll('.grid .line[aria-rowindex]').length < 10")
    page.locator(".grid .line[aria-rowindex]").first.click()
    page.wait_for_selector("[aria-label='Merges of a token']:not([hidden]) .tree")


def test_chat(page: Any) -> None:
    page.click("#tab-chat")
    page.wait_for_selector(".look-spelled:not(li)")
    assert "stayed text" in page.locator("main").inner_text()
    page.get_by_role("button", name="Loss mask").click()
    assert page.locator(".t.learnt").count() > 0


def test_train_and_show_as_a_card(page: Any) -> None:
    write(page, "the weather and the tide, " * 40)
    page.click("#tab-train")
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_selector(".merges li")
    page.get_by_role("button", name="Show it as a card").click()
    page.click("#tab-tokens")
    waits_for(page, "document.querySelectorAll('.card').length === 3")


def test_ids_to_text(page: Any, tokenizers: dict[str, jeton.Tokenizer]) -> None:
    page.click("#tab-ids")
    ids = tokenizers["bytes"].encode("the weather")
    page.fill("textarea[aria-label=Ids]", f"tensor({ids})")
    waits_for(page, "document.querySelector('.rendered').textContent === 'the weather'")


def test_files_that_are_dropped(
    page: Any, tokenizers: dict[str, jeton.Tokenizer], tmp_path: Path
) -> None:
    tokenizers["bytes"].save(tmp_path / "tokenizer.json")
    (tmp_path / "text.md").write_text("a text from a file", "utf-8")
    (tmp_path / "wrong.model").write_bytes(b"\x00nothing")
    field = page.locator("input[type=file]")
    field.set_input_files([str(tmp_path / "tokenizer.json"), str(tmp_path / "text.md")])
    waits_for(page, "document.querySelectorAll('.card').length === 3")
    waits_for(page, "document.querySelector('textarea').value === 'a text from a file'")
    field.set_input_files([str(tmp_path / "wrong.model")])
    page.wait_for_selector("#problem:not([hidden])")


def test_sharing_and_opening_again(page: Any) -> None:
    write(page, "shared: un café 😀")
    page.get_by_role("button", name="Ids", exact=True).click()
    page.click("#share")
    page.get_by_role("button", name="Copy address").click()
    address = page.evaluate("location.href")
    again = page.context.new_page()
    again.goto(address)
    again.wait_for_selector(".flow.ids .t")
    assert again.input_value("textarea[aria-label=Text]") == "shared: un café 😀"


@pytest.mark.parametrize("view", ["tokens", "steps", "vocabulary", "chat", "ids"])
def test_hostile_text_is_only_text(page: Any, view: str) -> None:
    write(page, HOSTILE)
    page.click(f"#tab-{view}")
    if view == "chat":
        page.fill("textarea[aria-label='Message 2']", HOSTILE)
    page.wait_for_timeout(500)
    assert page.title() == "jeton play"
    assert page.locator("main img, main script").count() == 0


def test_a_server_that_stopped_is_said(
    browser: Any, tokenizers: dict[str, jeton.Tokenizer]
) -> None:
    from jeton.play import Page

    with Page(tokenizers) as served:
        tab = browser.new_page()
        tab.goto(served.url)
        tab.wait_for_selector(".flow .t")
    write(tab, "more")
    tab.wait_for_selector("#problem:not([hidden])")
    assert "still running" in tab.locator("#problem").inner_text()
    tab.close()


def test_ten_megabytes_stay_usable(page: Any) -> None:
    text = "the weather and the tide are what they were yesterday.\n" * 190_000
    page.evaluate(
        "text => { const area = document.querySelector('textarea'); area.value = text;"
        "area.dispatchEvent(new Event('input')); }",
        text,
    )
    waits_for(page, "document.querySelector('.card .count').textContent.length > 14", 120)
    flow = page.locator(".card .flow").first
    flow.evaluate("it => { it.scrollTop = it.scrollHeight / 2; }")
    page.wait_for_timeout(1500)
    assert page.locator(".flow .t").count() < 20_000
    assert "weather" in flow.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["tokens", "steps", "vocabulary", "chat", "train", "ids"])
def test_no_violation_of_accessibility(page: Any, view: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_core_python")
    page.emulate_media(color_scheme=scheme)
    page.click(f"#tab-{view}")
    page.wait_for_timeout(500)
    # The policy of the page lets no script in; the tools of the browser may.
    script = files(axe.__name__).joinpath("axe.min.js").read_text("utf-8")
    page.evaluate(script)
    found = page.evaluate("axe.run()")["violations"]
    told = [(it["id"], [node["html"][:120] for node in it["nodes"][:3]]) for it in found]
    assert told == [], json.dumps(told, indent=1)


def test_a_narrow_window_has_one_column(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Details").click()
    assert page.locator("#rail").get_attribute("class") == "open"
