"""The page of `jeton play` in a real browser: each view, by mouse and by keyboard.

Nothing is looked at before it is there: `expect` and `waits_for` wait. With `JETON_DOCS=write` the
pictures of `docs/play.md` are taken again.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import jeton
from browser import BROWSER, in_a_browser
from jeton import samples
from jeton.display import palette
from jeton.display.human_readable import visible

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)
pytestmark = [pytest.mark.large, in_a_browser]

SPECIAL = ["<|im_start|>", "<|im_end|>"]
VIEWS = ["tokens", "steps", "heat", "vocabulary", "chat", "train", "ids"]
PICTURES = Path(__file__).parents[2] / "docs" / "pictures" / "play"
PICTURED = """The lighthouse keeper's daughter counted 1,204 waves before breakfast.
Wer später kommt, sieht weniger: 灯台 and naïve cafés.

    for wave in range(12):
        print(wave)
"""
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
    """The opened page; nothing may be written to its console."""
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
        # The browser logs what the server refuses; the page shows it.
        assert [it for it in problems if "400" not in it] == []
    context.close()


def write(page: Any, text: str) -> None:
    """Types a text, and waits until its tokens are drawn."""
    page.fill("textarea[aria-label=Text]", text)
    if len(text) < 1000:
        size = f"{len(text):,} characters"
        expect(page.locator(".text > .row .num")).to_contain_text(size)


def paste(page: Any, text: str) -> None:
    """Puts a text of any size into the area, as pasting does."""
    page.evaluate(
        "text => { const area = document.querySelector('textarea'); area.value = text;"
        "area.dispatchEvent(new Event('input')); }",
        text,
    )


def drawn(page: Any, card: int = 0) -> str:
    return str(page.locator(".card .flow").nth(card).inner_text())


def waits_for(page: Any, expression: str, seconds: float = 20) -> None:
    """Waits until an expression is true; the page's policy keeps out playwright's own loop."""
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
    expect(page.locator(".card .flow").first).to_have_text(text)
    page.get_by_role("button", name="Ids", exact=True).click()
    shown = [str(id) for id in tokenizers["bytes"].encode(text)]
    expect(page.locator(".card .flow").first.locator(".t")).to_have_text(shown)


def test_hues_are_those_of_python(page: Any, tokenizers: dict[str, jeton.Tokenizer]) -> None:
    text = "the the the the tide, the the weather 1234567"
    write(page, text)
    classes = [re.compile(rf"\bh{hue}\b") for hue in palette.hues(tokenizers["bytes"].encode(text))]
    expect(page.locator(".card .flow").first.locator(".t")).to_have_class(classes)


def test_hover_marks_the_same_characters_in_each_card(page: Any) -> None:
    write(page, "weather")
    expect(page.locator(".flow").first).to_have_text("weather")
    page.locator(".card .flow").nth(0).locator(".t").first.hover()
    expect(page.locator(".card .flow").nth(1).locator(".hot").first).to_be_visible()


def test_keys_go_from_token_to_token(page: Any) -> None:
    write(page, "the weather and the tide")
    page.locator(".card .flow").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#rail")).to_contain_text("token 3 of")
    page.keyboard.press("Home")
    expect(page.locator("#rail")).to_contain_text("token 1 of")
    page.keyboard.press("Escape")
    expect(page.locator("#rail")).to_contain_text("No token selected")


def test_characters_that_are_split_are_drawn_with_their_part(page: Any) -> None:
    write(page, "😀")
    expect(page.locator(".card .flow").first).to_contain_text("😀⟨1/")
    expect(page.locator(".card .flow").first.locator(".part").nth(1)).to_be_visible()


def test_only_differences(page: Any) -> None:
    write(page, "the weather 12345")
    page.get_by_role("button", name="Only differences").click()
    expect(page.locator(".t.same").first).to_be_visible()
    expect(page.locator(".card .flow").first.locator(".t:not(.same)").first).to_be_visible()


def test_special_tokens_are_text_until_they_are_allowed(page: Any) -> None:
    write(page, "a<|im_end|>")
    expect(page.locator(".flow").first).to_contain_text("a<")
    expect(page.locator(".t.special")).to_have_count(0)
    page.get_by_role("button", name="Special tokens").click()
    expect(page.locator(".t.special")).to_have_count(1)


def test_gotchas_mend_the_text(page: Any) -> None:
    write(page, "the weather ")
    expect(page.locator("#rail")).to_contain_text("trailing-space")
    page.locator(".gotcha", has_text="trailing-space").get_by_role("button").click()
    expect(page.locator("textarea[aria-label=Text]")).to_have_value("the weather")
    expect(page.locator("#rail")).not_to_contain_text("trailing-space")


def test_steps(page: Any, tokenizers: dict[str, jeton.Tokenizer]) -> None:
    page.click("#tab-steps")
    page.fill("[aria-label='The word or sentence']", "weather")
    expect(page.locator(".frame")).to_contain_text("7 characters")
    apart = page.locator("[aria-label='Take tokens apart']")
    ids = tokenizers["bytes"].encode("weather")
    tokens = [tokenizers["bytes"].decode([id]) for id in ids]
    expect(apart.locator(".chip b")).to_have_text(tokens)
    page.get_by_role("button", name="On", exact=True).click()
    expect(page.locator("main")).to_contain_text("step 2 of")
    apart.locator(".chip:not([disabled])").first.click()
    expect(apart.locator(".chip")).to_have_count(len(tokens) + 1)
    page.get_by_role("button", name="All merges again").click()
    expect(apart.locator(".chip b")).to_have_text(tokens)
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator("main")).to_contain_text("step 3 of")
    # The lattice of a Unigram.
    page.select_option("[aria-label=Steps] select", label="pieces")
    unigram = tokenizers["pieces"]
    pieces = [unigram.vocab.spelling(id).decode() for id in unigram.encode("weather")]
    expect(apart.locator(".chip b")).to_have_text(pieces)
    page.locator("input[aria-label=Step]").press("End")
    expect(page.get_by_text(re.compile(r"^step (\d+) of \1$"))).to_be_visible()


def test_vocabulary(page: Any, tokenizers: dict[str, jeton.Tokenizer]) -> None:
    page.click("#tab-vocabulary")
    found = page.locator("#main [role=status]")
    expect(found).to_have_text("900 tokens")
    page.get_by_role("button", name="Length").click()
    longest = max(len(token) for token in tokenizers["bytes"].vocab)
    lines = page.locator(".grid .line[aria-rowindex]")
    expect(lines.first.locator("span").nth(2)).to_have_text(str(longest))
    page.fill("input[type=search]", " wa")
    expect(found).to_have_text(
        f"{sum(b' wa' in token for token in tokenizers['bytes'].vocab)} tokens"
    )
    lines.first.click()
    expect(page.locator("[aria-label='Merges of a token'] .tree").first).to_be_visible()
    page.select_option("[aria-label='Search by']", "regex")
    page.fill("input[type=search]", "^[0-9]+$")
    expect(found).to_have_text(
        f"{sum(token.isdigit() for token in tokenizers['bytes'].vocab)} tokens"
    )
    page.fill("input[type=search]", "(")
    expect(page.locator(".panel .problem")).to_be_visible()
    page.get_by_role("button", name="Find unreachable tokens").click()
    expect(page.get_by_role("button", name="that no text gives")).to_be_visible()


def test_chat(page: Any) -> None:
    page.click("#tab-chat")
    expect(page.locator(".look-spelled:not(li)")).to_have_text("<|im_end|>")
    expect(page.locator("main")).to_contain_text("stayed text")
    page.get_by_role("button", name="Loss mask").click()
    expect(page.locator(".t.learnt").first).to_be_visible()
    page.fill("textarea[aria-label='What a model wrote']", "A piece of text.<|im_end|>")
    message = page.locator("[aria-label='The message']")
    expect(message).to_contain_text('"content": "A piece of text."')
    expect(page.locator("[aria-label='An answer'] [role=status]")).to_have_text("complete")
    page.get_by_role("button", name="As JSON").click()
    page.fill("textarea[aria-label='Messages as JSON']", '[{"role": "user", "content": "Hi"}]')
    expect(page.get_by_label("Rendered chat")).to_contain_text("Hi")
    expect(page.get_by_label("Rendered chat")).not_to_contain_text("What is a token?")
    page.select_option("select[aria-label=Template]", "pasted")
    page.fill("textarea[aria-label='Template in Jinja']", "{{ messages[0].content }}!")
    expect(page.get_by_label("Rendered chat")).to_have_text("Hi!")
    page.fill("textarea[aria-label='Template in Jinja']", "{% for it in range(10**9) %}x{% endfor")
    expect(page.locator("main .problem:not([hidden])")).to_be_visible()


def test_train_and_show_as_a_card(page: Any) -> None:
    write(page, "the weather and the tide, " * 40)
    page.click("#tab-train")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".merges li").first).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as tokenizer.json").click()
    assert jeton.load(saved.value.path()).vocab_size > 256
    page.locator("input[aria-label='Merges learnt']").press("Home")
    expect(page.locator(".merges li")).to_have_count(0)
    page.get_by_role("button", name="Show it as a card").click()
    page.click("#tab-tokens")
    expect(page.locator(".card")).to_have_count(3)


def test_training_shows_the_text_getting_shorter(
    page: Any, tokenizers: dict[str, jeton.Tokenizer]
) -> None:
    text = samples.read("tales")[:3000]
    write(page, text)
    paste(page, text)
    page.click("#tab-train")
    page.get_by_role("button", name="Train", exact=True).click()
    size = int(page.input_value("input[aria-label='Vocabulary size']"))
    trained = jeton.BPETrainer(vocab_size=size).train(text.splitlines(keepends=True))
    joined = page.locator(".joined .t")
    slider = page.locator("input[aria-label='Merges learnt']")
    for learnt in (len(trained.vocab.merges), 0, 20):
        slider.evaluate(
            "(it, at) => { it.value = at; it.dispatchEvent(new Event('input')); }", str(learnt)
        )
        smaller = jeton.BPETrainer(vocab_size=256 + learnt).train(text.splitlines(keepends=True))
        tokens = len(smaller.encode(text[:700]))
        expect(joined).to_have_count(tokens)
        expect(page.locator("#main [role=status]").first).to_contain_text(f"{tokens:,} tokens")
    expect(page.locator(".falling span.now")).to_have_count(1)
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator("#main [role=status]").first).not_to_contain_text("20 merges:")


@pytest.mark.parametrize("sample", [*samples.NAMES])
def test_each_sample_has_the_text_for_the_size_that_is_offered(page: Any, sample: str) -> None:
    page.select_option("[aria-label='A sample']", sample)
    assert page.input_value("textarea[aria-label=Text]")[-1:] in ("\n", ".", "”", '"')
    page.click("#tab-train")
    size = page.locator("input[aria-label='Vocabulary size']")
    size.press("End")
    page.get_by_role("button", name="Train", exact=True).click()
    wanted = int(size.input_value())
    expect(page.locator("[aria-label='What was learnt'] h2")).to_contain_text(f"BPE {wanted:,} ")


def test_the_game_shows_words_and_counts_and_takes_any_of_equals(page: Any) -> None:
    write(page, "seven " * 5 + "eleven " * 5 + "never")
    page.click("#tab-train")
    page.get_by_role("button", name="Guess the next merge").click()
    game = page.locator("section[aria-label='Guess the next merge']")
    expect(game.locator(".words .row")).to_have_count(3)
    expect(game.locator(".words .row").first).to_contain_text("5 ×seven")
    expect(page.locator(".merges li")).to_have_count(0)
    expect(game).to_contain_text("of equals any is right")
    buttons = game.locator(".row.mono > button")
    assert not re.search(r"\d", " ".join(buttons.all_inner_texts()))
    buttons.filter(has_text="v + e").click()  # as often as e + v, which is seen first
    expect(game.locator("[role=status]")).to_contain_text("Right. e + v is merged, the first of")
    expect(buttons.filter(has_text="v + e")).to_have_text("v + e · 11")
    game.get_by_role("button", name="Next").click()
    expect(game).to_contain_text("Learnt so far: ev")
    for _ in range(12):
        if not game.locator(".row.mono > button").count():
            break
        game.locator(".row.mono > button").first.click()
        game.get_by_role("button", name="Next").click()
        expect(game.get_by_role("button", name="Next")).to_have_count(0)
    expect(game).to_contain_text("nothing is left to merge")


def test_merges_happen_in_place_with_their_numbers(
    page: Any, tokenizers: dict[str, jeton.Tokenizer]
) -> None:
    page.click("#tab-steps")
    page.fill("[aria-label='The word or sentence']", " weather")
    numbers = {pair: number for number, pair in enumerate(tokenizers["bytes"].vocab.merges, 1)}
    step = page.locator("input[aria-label=Step]")
    while page.locator(".joining").count() == 0:
        page.get_by_role("button", name="On", exact=True).click()
    line = page.locator(".joining")
    row = [bytes([it]) for it in b" weather"]
    while True:
        shown = [visible(it) for it in row]
        expect(line.locator("b")).to_have_text(shown)
        beside = [numbers.get(pair) for pair in itertools.pairwise(row)]
        expect(line.locator("i")).to_have_text(["" if it is None else str(it) for it in beside])
        if not any(beside):
            break
        at = min((it, place) for place, it in enumerate(beside) if it)[1]
        expect(line.locator("b.next")).to_have_text(shown[at : at + 2])
        row[at : at + 2] = [row[at] + row[at + 1]]
        step.press("ArrowRight")
        expect(line.locator("b.made")).to_have_text(visible(row[at]))


def test_the_heat_map_counts_the_tokens_of_each_sentence(
    page: Any, tokenizers: dict[str, jeton.Tokenizer]
) -> None:
    sentences = ["The tide waits. ", "Naïve cafés 😀 count. ", "No."]
    write(page, "".join(sentences))
    page.click("#tab-heat")
    rows = page.locator(".heat tbody tr")
    expect(rows).to_have_count(3)
    for column, tok in enumerate(tokenizers.values()):
        _, spans = tok.encode_array("".join(sentences), spans="characters")
        end = 0
        for row, sentence in enumerate(sentences):
            start, end = end, end + len(sentence)
            count = sum(start <= span[0] < end for span in spans.tolist())
            cell = rows.nth(row).locator("td").nth(column)
            expect(cell).to_have_text(f"{count / len(sentence):.2f}")
            expect(cell).to_have_attribute("title", re.compile(f"^{count} tokens for"))
    page.get_by_role("button", name="Most expensive first").click()
    expect(rows.first.locator("th")).to_contain_text("Naïve")


def test_two_templates_stand_side_by_side(page: Any) -> None:
    page.click("#tab-chat")
    expect(page.get_by_label("Rendered chat")).to_contain_text("<|im_start|>")
    page.select_option("[aria-label='Second template']", "llama3")
    expect(page.get_by_label("Rendered by the second template")).to_contain_text(
        "<|start_header_id|>"
    )
    expect(page.get_by_label("Rendered chat")).to_contain_text("<|im_start|>")
    page.select_option("[aria-label='Second template']", "")
    expect(page.get_by_label("Rendered by the second template")).to_be_hidden()


def test_a_failed_rendering_takes_the_old_one_away(page: Any) -> None:
    page.click("#tab-chat")
    expect(page.get_by_label("Rendered chat")).to_contain_text("You are brief.")
    page.select_option("select[aria-label=Template]", "pasted")
    page.fill("textarea[aria-label='Template in Jinja']", "{% if %}")
    expect(page.locator("main .problem:not([hidden])")).to_be_visible()
    expect(page.get_by_label("Rendered chat")).to_have_text("")
    expect(page.get_by_label("Tokens of the chat")).to_have_text("")


def test_its_own_template_is_offered_only_where_there_is_one(page: Any) -> None:
    page.click("#tab-chat")
    own = page.locator("select[aria-label=Template] option[value=own]")
    expect(own).to_have_count(0)


def test_an_error_message_can_be_closed_or_goes_with_its_cause(page: Any) -> None:
    said = page.locator("#problem")
    name = page.get_by_label("The name of a tokenizer")
    ways: tuple[Callable[[], Any], ...] = (
        lambda: said.get_by_role("button", name="Close this message").click(),
        lambda: page.click("#tab-steps"),
        lambda: name.press("a"),
    )
    for leave in ways:
        page.click("#tab-tokens")
        name.fill("no such name")
        page.get_by_role("button", name="Add tokenizer").click()
        expect(said).to_contain_text("is not a name that jeton knows")
        leave()
        expect(said).to_be_hidden()


def test_names_complete_as_one_types(page: Any) -> None:
    name = page.get_by_label("The name of a tokenizer")
    options = page.locator("#names [role=option]")
    name.press_sequentially("JETON")
    expect(options).to_have_count(1)
    expect(options.first).to_contain_text("jeton-4k")
    name.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    name.press("Enter")
    expect(page.locator(".card")).to_have_count(3)
    expect(page.locator(".card h2").last).to_have_text("jeton-4k")
    name.press_sequentially("gpt")
    expect(options).to_have_count(8)
    name.press("Escape")
    expect(page.locator("#names")).to_be_hidden()


@pytest.mark.parametrize(
    ("typed", "words"),
    [("qwen", "jeton play Qwen/"), ("gtp2", "Did you mean gpt2?"), ("zzz", "Drop")],
)
def test_an_unknown_name_gets_a_hint(page: Any, typed: str, words: str) -> None:
    page.get_by_label("The name of a tokenizer").fill(typed)
    page.get_by_role("button", name="Add tokenizer").click()
    expect(page.locator("#problem")).to_contain_text(words)


def test_a_character_that_is_split_stays_in_one_line(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    write(page, "☕" * 60)
    groups = page.locator(".card .flow").first.locator(".together")
    expect(groups.first).to_be_visible()
    for group in groups.all():
        assert len({it.bounding_box()["y"] for it in group.locator(".t").all()}) == 1


@pytest.mark.parametrize("view", VIEWS)
def test_the_details_belong_to_the_tab_of_tokens(page: Any, view: str) -> None:
    page.click(f"#tab-{view}")
    shown = page.locator("#rail")
    if view == "tokens":
        expect(shown).to_be_visible()
    else:
        expect(shown).to_be_hidden()


def test_on_a_phone_all_tabs_are_in_reach_and_hints_speak_of_touch(
    browser: Any, tokenizers: dict[str, jeton.Tokenizer]
) -> None:
    from jeton.play import Page

    with Page(tokenizers, text="the tide") as served:
        context = browser.new_context(
            viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
        )
        tab = context.new_page()
        tab.goto(served.url)
        tab.wait_for_selector(".flow .t")
        for view in VIEWS:
            box = tab.locator(f"#tab-{view}").bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 390
            tab.locator(f"#tab-{view}").tap()
            expect(tab.locator(f"#tab-{view}")).to_have_attribute("aria-selected", "true")
            words = tab.locator("body").inner_text()
            assert not re.search(r"\b(click|drop|arrow keys)\b", words, re.IGNORECASE), view
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        context.close()


def test_ids_to_text(page: Any, tokenizers: dict[str, jeton.Tokenizer]) -> None:
    page.click("#tab-ids")
    ids = tokenizers["bytes"].encode("the weather")
    page.fill("textarea[aria-label=Ids]", f"tensor({ids})")
    expect(page.locator(".rendered")).to_have_text("the weather")
    page.fill("textarea[aria-label=Ids]", "1 2 4000000")
    expect(page.locator(".panel .problem")).to_be_visible()


def test_files_that_are_dropped(
    page: Any, tokenizers: dict[str, jeton.Tokenizer], tmp_path: Path
) -> None:
    tokenizers["bytes"].save(tmp_path / "tokenizer.json")
    (tmp_path / "text.md").write_text("a text from a file", "utf-8")
    (tmp_path / "wrong.model").write_bytes(b"\x00nothing")
    field = page.locator("input[type=file]")
    field.set_input_files([str(tmp_path / "tokenizer.json"), str(tmp_path / "text.md")])
    expect(page.locator(".card")).to_have_count(3)
    expect(page.locator("textarea[aria-label=Text]")).to_have_value("a text from a file")
    field.set_input_files([str(tmp_path / "wrong.model")])
    expect(page.locator("#problem")).to_be_visible()


def test_a_file_is_dropped_by_the_mouse(page: Any) -> None:
    dropped = page.evaluate_handle(
        "() => { const it = new DataTransfer();"
        "it.items.add(new File(['a text that was dropped'], 'notes.txt')); return it; }"
    )
    page.dispatch_event("body", "dragenter", {"dataTransfer": dropped})
    expect(page.locator("#drop")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": dropped})
    expect(page.locator("textarea[aria-label=Text]")).to_have_value("a text that was dropped")
    expect(page.locator("#drop")).to_be_hidden()


def test_sharing_and_opening_again(page: Any) -> None:
    write(page, "shared: un café 😀")
    page.get_by_role("button", name="Ids", exact=True).click()
    page.click("#share")
    page.get_by_role("button", name="Copy address").click()
    waits_for(page, "location.hash.length > 10")
    again = page.context.new_page()
    again.goto(page.evaluate("location.href"))
    expect(again.locator(".flow.ids .t").first).to_be_visible()
    expect(again.locator("textarea[aria-label=Text]")).to_have_value("shared: un café 😀")


@pytest.mark.parametrize("kind", ["JSON", "SVG", "HTML"])
def test_a_shared_file_restores_the_page(
    page: Any, tokenizers: dict[str, jeton.Tokenizer], kind: str
) -> None:
    text = "<b>un café</b> & 😀"
    write(page, text)
    page.click("#share")
    with page.expect_download() as saved:
        page.get_by_role("button", name=kind, exact=True).click()
    content = Path(saved.value.path()).read_text("utf-8")
    if kind == "JSON":
        found = json.loads(content)
        assert found["text"] == text
        ids = {it["name"]: it["ids"] for it in found["tokenizers"]}
        assert ids == {name: tok.encode(text) for name, tok in tokenizers.items()}
    elif kind == "SVG":
        text = "".join(ElementTree.fromstring(content).itertext())
        assert all(name in text for name in tokenizers)
    else:
        again = page.context.new_page()
        again.set_content(content)
        assert again.locator("b, script").count() == 0
        assert again.locator("span").count() == sum(
            len(tok.encode(text)) for tok in tokenizers.values()
        )


def test_shared_python_code_runs(
    page: Any, tokenizers: dict[str, jeton.Tokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(page, 'a "text" \\ with\nlines')
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#share")
    page.get_by_role("button", name="Copy Python").click()
    expect(page.locator("dialog [role=status]")).to_contain_text("copied")
    program = page.evaluate("navigator.clipboard.readText()")
    monkeypatch.setattr(jeton, "load", tokenizers.__getitem__)
    names: dict[str, Any] = {}
    exec(program, names)
    assert names["text"] == 'a "text" \\ with\nlines'


def test_the_whole_state_is_shared(page: Any, tokenizers: dict[str, jeton.Tokenizer]) -> None:
    """The selected token and the input of each view."""
    write(page, "the weather and the tide")
    page.locator(".card .flow").nth(1).locator(".t").nth(2).click()
    expect(page.locator("#rail")).to_contain_text("token 3 of")
    page.click("#tab-steps")
    page.fill("[aria-label='The word or sentence']", "lighthouse")
    page.click("#tab-vocabulary")
    page.fill("input[type=search]", "th")
    expect(page.locator("#main [role=status]")).not_to_have_text("900 tokens")
    page.click("#tab-chat")
    page.select_option("select[aria-label=Template]", "pasted")
    page.fill("textarea[aria-label='Template in Jinja']", "{{ messages[0].content }}!")
    page.click("#tab-ids")
    page.fill("textarea[aria-label=Ids]", "72 105")
    page.click("#share")
    page.get_by_role("button", name="Copy address").click()
    waits_for(page, "location.hash.length > 10")
    again = page.context.new_page()
    again.goto(page.evaluate("location.href"))
    expect(again.locator("textarea[aria-label=Ids]")).to_have_value("72 105")
    expect(again.locator(".rendered")).to_have_text(tokenizers["bytes"].decode([72, 105]))
    again.click("#tab-tokens")
    expect(again.locator("#rail")).to_contain_text("token 3 of")
    expect(again.locator("#rail h2").first).to_have_text("pieces")
    again.click("#tab-steps")
    expect(again.get_by_label("The word or sentence")).to_have_value("lighthouse")
    again.click("#tab-vocabulary")
    expect(again.locator("input[type=search]")).to_have_value("th")
    again.click("#tab-chat")
    expect(again.get_by_label("Rendered chat")).to_have_text("You are brief.!")
    expect(again.locator("textarea[aria-label='Template in Jinja']")).to_be_visible()


def test_an_address_that_is_pasted_into_an_open_page(page: Any) -> None:
    write(page, "first")
    page.click("#share")
    page.get_by_role("button", name="Copy address").click()
    waits_for(page, "location.hash.length > 10")
    shared = page.evaluate("location.hash")
    page.get_by_role("button", name="Close", exact=True).click()
    write(page, "second")
    page.evaluate("history.replaceState(null, '', '#')")
    page.evaluate("hash => { location.hash = hash; }", shared)
    expect(page.locator("textarea[aria-label=Text]")).to_have_value("first")


def test_an_address_that_holds_nonsense_opens(page: Any) -> None:
    """The state of an address is restored as far as it is valid."""
    page.evaluate(
        """async () => {
        const state = { text: "a", view: [], cards: [null, {}], model: 7, word: {}, ids: [], picked: { name: "bytes", index: "x" },
          search: { query: 1, kind: "none" }, chat: { messages: [null, { role: 1 }], template: {}, tools: 3, prompt: "x" } };
        const stream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
        const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
        location.hash = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
        }"""  # noqa: E501
    )
    expect(page.locator("textarea[aria-label=Text]")).to_have_value("a")
    for view in VIEWS:
        page.click(f"#tab-{view}")
        expect(page.locator("#main section").first).to_be_visible()
    page.click("#tab-chat")
    expect(page.get_by_label("Rendered chat")).to_contain_text("You are brief.")


def test_a_page_that_another_device_opens(
    browser: Any, tokenizers: dict[str, jeton.Tokenizer]
) -> None:
    """It is not a secure context: there is no `randomUUID` and no clipboard."""
    from jeton.play import Page

    context = browser.new_context()
    context.add_init_script(
        "delete Crypto.prototype.randomUUID;"
        "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
    )
    with Page(tokenizers, text="the tide") as served:
        tab = context.new_page()
        tab.goto(served.url)
        expect(tab.locator(".flow .t").first).to_be_visible()
        tab.click("#share")
        tab.get_by_role("button", name="Copy Python").click()
        expect(tab.locator("dialog [role=status]")).to_contain_text("import jeton")
    context.close()


def test_a_page_without_a_tokenizer(browser: Any) -> None:
    from jeton.play import Page

    with Page({}) as served:
        tab = browser.new_page()
        tab.goto(served.url)
        expect(tab.locator("textarea[aria-label=Text]")).to_be_visible()
        tab.click("#tab-steps")
        expect(tab.locator("main")).to_contain_text("There is no tokenizer yet")
        tab.fill("[aria-label='The name of a tokenizer']", "jeton-4k")
        tab.get_by_role("button", name="Add tokenizer").click()
        expect(tab.locator(".frame")).to_be_visible()
        tab.close()


def test_the_selected_token_follows_the_text(page: Any) -> None:
    write(page, "the weather and the tide")
    flow = page.locator(".card .flow").first
    token = flow.locator(".t").last
    text = token.inner_text()
    token.click()
    expect(page.locator("#rail .big-token")).to_have_text(text)
    page.locator("textarea[aria-label=Text]").press("Home")
    page.locator("textarea[aria-label=Text]").press_sequentially("Now ")
    expect(page.locator(".text > .row .num")).to_contain_text("28 characters")
    expect(page.locator("#rail")).to_contain_text("–28 UTF-16")
    expect(flow.locator(".t.picked")).to_have_text(text)
    write(page, "else")
    expect(page.locator("#rail")).to_contain_text("No token selected")


def test_line_ends_stay_when_something_else_is_typed(page: Any, tmp_path: Path) -> None:
    """A text area has one character for both kinds; the text keeps its own."""
    (tmp_path / "windows.txt").write_bytes(b"a\r\nb\r\nc\rd")
    page.locator("input[type=file]").set_input_files([str(tmp_path / "windows.txt")])
    size = page.locator(".text > .row .num")
    expect(size).to_contain_text("9 characters")
    area = page.locator("textarea[aria-label=Text]")
    area.press("Control+End")
    area.press_sequentially("!")
    expect(size).to_contain_text("10 characters")
    area.press("Control+Home")
    area.press("ArrowDown")
    area.press("Backspace")
    expect(size).to_contain_text("8 characters")
    expect(area).to_have_value("ab\nc\nd!")


def test_text_that_is_moved_within_the_area_is_no_new_text(page: Any) -> None:
    write(page, "the weather")
    page.evaluate(
        "() => { const it = new DataTransfer(); it.setData('text', 'the');"
        "const area = document.querySelector('textarea');"
        "for (const name of ['dragstart', 'dragenter', 'drop', 'dragend'])"
        " area.dispatchEvent(new DragEvent(name, { dataTransfer: it, bubbles: true })); }"
    )
    expect(page.locator("#drop")).to_be_hidden()
    expect(page.locator("textarea[aria-label=Text]")).to_have_value("the weather")


def test_text_without_tokens_is_drawn(browser: Any) -> None:
    """With a tokenizer that loses text: white space, and characters it does not know."""
    from jeton.play import Page

    tok = jeton.WordPieceTrainer(vocab_size=60).train(["the weather and the tide"] * 3)
    with Page({"words": tok}, text="the  \x07tide ") as served:
        tab = browser.new_page()
        tab.goto(served.url)
        expect(tab.locator(".flow .t").first).to_be_visible()
        flow = tab.locator(".flow")
        assert flow.inner_text().replace("\n", "") == "the··␇tide·"
        held = "".join(flow.locator(".t").all_inner_texts())
        assert held == "thetide"
        expect(flow.locator(".gap.lost")).to_contain_text("␇")
        tab.close()


def test_the_word_of_a_token_has_the_space_of_its_first_token(page: Any) -> None:
    write(page, "the lighthouses\n\n")
    flow = page.locator(".card .flow").first
    flow.locator(".t", has_text="s").nth(-1).click()
    page.click("#tab-steps")
    expect(page.get_by_label("The word or sentence")).to_have_value(" lighthouses")
    page.click("#tab-tokens")
    page.locator(".card .flow").first.locator(".t").last.click()
    page.click("#tab-steps")
    expect(page.get_by_label("The word or sentence")).to_have_value("\n\n")


@pytest.mark.parametrize("messages", ["null", "[1]", '{"role": "user"}', '[{"content": "a"}]', "["])
def test_messages_that_are_none_are_said(page: Any, messages: str) -> None:
    page.click("#tab-chat")
    page.get_by_role("button", name="As JSON").click()
    page.fill("textarea[aria-label='Messages as JSON']", messages)
    expect(page.locator("main .problem:not([hidden])")).to_contain_text("The messages are")
    page.get_by_role("button", name="As JSON").click()
    expect(page.get_by_label("Message 1", exact=True)).to_have_value("You are brief.")


def test_the_vocabulary_by_keyboard(page: Any) -> None:
    page.click("#tab-vocabulary")
    expect(page.locator("#main [role=status]")).to_have_text("900 tokens")
    grid = page.locator(".grid")
    grid.press("ArrowDown")
    expect(grid).to_have_attribute("aria-activedescendant", "row-0")
    expect(page.locator("#row-0")).to_have_attribute("aria-selected", "true")
    grid.press("End")
    expect(grid).to_have_attribute("aria-activedescendant", "row-899")
    page.get_by_role("button", name="Length").click()
    header = page.locator("[role=columnheader]", has_text="Length")
    expect(header).to_have_attribute("aria-sort", "descending")


def test_of_many_merges_the_last_are_listed(page: Any) -> None:
    paste(page, "".join(samples.read_all().values()))
    page.click("#tab-train")
    page.locator("input[aria-label='Vocabulary size']").fill("900")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".merges li")).to_have_count(400)
    count = int(page.locator("input[aria-label='Merges learnt']").input_value())
    expect(page.locator(".merges")).to_have_attribute("start", str(count - 399))


def test_by_keyboard_alone(page: Any) -> None:
    """From the text to a token, through the tabs, and into the dialog and out."""
    press = page.keyboard.press
    page.focus("textarea[aria-label=Text]")
    press("Control+A")
    page.keyboard.type("the tide")
    expect(page.locator(".text > .row .num")).to_contain_text("8 characters")
    for _ in range(40):
        if page.evaluate("document.activeElement.classList.contains('flow')"):
            break
        press("Tab")
    press("ArrowRight")
    expect(page.locator("#rail")).to_contain_text("token 1 of")
    expect(page.locator("#said")).to_contain_text("token 1 of")
    page.focus("#tab-tokens")
    for view in (*VIEWS[1:], "tokens"):
        press("ArrowRight")
        expect(page.locator(f"#tab-{view}")).to_be_focused()
        expect(page.locator(f"#tab-{view}")).to_have_attribute("aria-selected", "true")
    page.focus("#share")
    press("Enter")
    expect(page.locator("dialog")).to_be_visible()
    press("Escape")
    expect(page.locator("dialog")).to_be_hidden()
    expect(page.locator("#share")).to_be_focused()


def test_three_tabs_do_not_disturb_each_other(page: Any) -> None:
    tabs = [page, page.context.new_page(), page.context.new_page()]
    for tab in tabs[1:]:
        tab.goto(page.url)
        tab.wait_for_selector(".flow .t")
    for number, tab in enumerate(tabs):
        write(tab, f"text {number} " + "and more " * number)
    for number, tab in enumerate(tabs):
        expect(tab.locator(".flow").first).to_contain_text(f"{number}")
        write(tab, f"again {number}")
        expect(tab.locator(".flow").first).to_have_text(f"again·{number}")


def test_a_tab_has_the_cards_that_it_added(page: Any) -> None:
    page.fill("[aria-label='The name of a tokenizer']", "jeton-4k")
    page.get_by_role("button", name="Add tokenizer").click()
    expect(page.locator(".card")).to_have_count(3)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".card .count").nth(1)).to_contain_text("tokens")
    expect(other.locator(".card")).to_have_count(2)


def test_a_tab_that_is_loaded_again_shows_what_it_showed(page: Any) -> None:
    write(page, "kept by the tab")
    page.get_by_role("button", name="Close pieces").click()
    page.fill("[aria-label='The name of a tokenizer']", "jeton-4k")
    page.get_by_role("button", name="Add tokenizer").click()
    expect(page.get_by_role("region", name="jeton-4k")).to_be_visible()
    page.reload()
    expect(page.locator("textarea[aria-label=Text]")).to_have_value("kept by the tab")
    expect(page.locator(".card h2")).to_have_text(["bytes", "jeton-4k"])


def test_a_card_that_the_server_has_not_is_said(page: Any) -> None:
    page.evaluate(
        """async () => {
        const { snapshot } = await import("./share.js");
        const state = { ...JSON.parse(snapshot("tokens")), cards: [{ name: "gone.model", digest: "0" }] };
        const stream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
        const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
        location.hash = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
        }"""  # noqa: E501
    )
    expect(page.locator("#problem")).to_contain_text("gone.model is not here")


def test_undo_reaches_over_changes_of_the_page_and_other_views(page: Any) -> None:
    area = page.locator("textarea[aria-label=Text]")
    area.press("Control+A")
    page.keyboard.type("the tide ")
    expect(page.locator("#rail")).to_contain_text("trailing-space")
    mend = page.locator(".gotcha", has_text="trailing-space").get_by_role("button")
    mend.click()
    expect(area).to_have_value("the tide")
    page.click("#tab-steps")
    expect(area).to_be_hidden()
    page.click("#tab-tokens")
    area.press("Control+Z")
    expect(area).to_have_value("the tide ")
    expect(page.locator(".text > .row .num")).to_contain_text("9 characters")
    for _ in range(len("the tide ")):  # A browser undoes several keys at a time.
        area.press("Control+Z")
    expect(area).to_have_value("the weather, the tide")


def test_a_long_line_is_held_in_parts_and_many_lines_whole(page: Any) -> None:
    """A browser's time for a key grows with the square of the length of a line."""
    part = page.get_by_label("The part that is edited")
    paste(page, "a line of text\n" * 20_000)
    expect(page.locator(".text > .row .num")).to_contain_text("300,000 characters")
    expect(part).to_be_hidden()
    paste(page, "a line of text " * 20_000)
    expect(part).to_contain_text("Undo reaches back")
    expect(part).to_contain_text("of 300,000")


@pytest.mark.parametrize(
    ("view", "route", "name", "doing"),
    [
        ("vocabulary", "unreachable", "Find unreachable tokens", "Looking"),
        ("train", "train", "Train", "Training"),
    ],
)
def test_long_work_shows_the_seconds_and_can_be_stopped(
    page: Any, view: str, route: str, name: str, doing: str
) -> None:
    page.click(f"#tab-{view}")
    page.route(f"**/api/{route}", lambda route: None)
    button = page.get_by_role("button", name=name, exact=True)
    button.click()
    waiting = page.get_by_role("button", name=re.compile(rf"{doing}, [1-9]\d* s · Stop"))
    waiting.click()
    expect(button).to_be_visible()
    expect(page.locator("#main .problem")).to_be_hidden()
    page.unroute(f"**/api/{route}")


def test_findings_of_one_tokenizer_are_not_shown_for_another(page: Any) -> None:
    page.click("#tab-vocabulary")
    page.get_by_role("button", name="Find unreachable tokens").click()
    expect(page.get_by_role("button", name="that no text gives")).to_be_visible()
    page.select_option("select[aria-label=Tokenizer]", label="pieces")
    expect(page.get_by_role("button", name="Find unreachable tokens")).to_be_visible()


def test_a_hostile_tokenizer_is_only_text(browser: Any) -> None:
    """Tokens, names, special tokens and a template that look like code and like escapes."""
    from jeton.play import Page

    tok = jeton.BPETrainer(vocab_size=300, special_tokens=[HOSTILE[:40], "\u202e<b>"]).train(
        [HOSTILE] * 9
    )
    tok = tok.replace(chat_template=f"{HOSTILE}{{{{ messages[0].content }}}}")
    context = browser.new_context()
    with Page({HOSTILE: tok}, text=HOSTILE) as served:
        tab = context.new_page()
        tab.goto(served.url)
        tab.wait_for_selector(".flow .t")
        for view in ("tokens", "steps", "vocabulary", "chat", "ids"):
            tab.click(f"#tab-{view}")
            if view == "chat":
                tab.select_option("select[aria-label=Template]", "own")
                expect(tab.get_by_label("Rendered chat")).to_contain_text("You are brief.")
            expect(tab.locator("main")).to_contain_text("<img")
            assert tab.title() == "jeton play"
            assert tab.locator("main img, main script, aside img, aside script").count() == 0
    context.close()


@pytest.mark.parametrize("view", ["tokens", "steps", "vocabulary", "chat", "ids"])
def test_hostile_text_is_only_text(page: Any, view: str) -> None:
    write(page, HOSTILE)
    page.click(f"#tab-{view}")
    if view == "chat":
        page.fill("textarea[aria-label='Message 2']", HOSTILE)
    if view != "ids":
        page.wait_for_load_state("networkidle")
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
    tab.fill("textarea[aria-label=Text]", "more")
    expect(tab.locator("#problem")).to_contain_text("still running")
    tab.close()


def test_a_server_that_began_again_is_said(
    browser: Any, tokenizers: dict[str, jeton.Tokenizer]
) -> None:
    """It has another secret, so the page of the one before knows nothing of it."""
    from jeton.play import Page

    tab = browser.new_page()
    with Page(tokenizers) as served:
        tab.goto(served.url)
        tab.wait_for_selector(".flow .t")
    port = int(served.url.split("/")[2].split(":")[1])
    with Page(tokenizers, port=port):
        tab.fill("textarea[aria-label=Text]", "more")
        expect(tab.locator("#problem")).to_contain_text("a jeton play that has ended")
    tab.close()


def test_a_file_that_is_too_large_is_said(page: Any) -> None:
    """It is not sent."""
    page.evaluate(
        """async () => {
        const { upload } = await import("./server.js");
        const { problem } = await import("./dom.js");
        await upload([{ name: "model.gguf", size: 4e9 }]).catch((error) => problem(error.message));
        }"""
    )
    expect(page.locator("#problem")).to_contain_text("model.gguf has more than 250 MB")


def test_a_long_text_is_cleared_by_a_button(page: Any) -> None:
    """Selecting all of the area selects the part that it holds."""
    paste(page, "a line of text " * 20_000)
    page.get_by_role("button", name="Clear all").click()
    expect(page.locator(".text > .row .num")).to_have_text("0 characters · 0 bytes")
    expect(page.get_by_role("button", name="Clear all")).to_be_hidden()


def test_ten_megabytes_stay_usable(page: Any) -> None:
    text = "the weather and the tide are what they were yesterday.\n" * 190_000
    paste(page, text)
    waits_for(page, "document.querySelector('.card .count').textContent.length > 14", 120)
    flow = page.locator(".card .flow").first
    flow.evaluate("it => { it.scrollTop = it.scrollHeight / 2; }")
    # The blocks of the beginning stay for a moment after the scroll: look far beyond them.
    in_sight = (
        "[...document.querySelectorAll('.flow > div')]"
        ".find(it => it.number > 100 && it.near && it.held)"
    )
    waits_for(page, f"{in_sight}?.innerText.includes('weather')")
    assert page.locator(".flow .t").count() < 20_000
    # The area holds only a part of so long a text; the part follows the selected token.
    area = page.locator("textarea[aria-label=Text]")
    assert len(area.input_value()) <= 100_000
    number = page.evaluate(f"{in_sight}.number")
    flow.locator(":scope > div").nth(number).locator(".t").first.click()
    part = page.get_by_label("The part that is edited")
    expect(part).not_to_contain_text("characters 1 to")
    page.get_by_role("button", name="Later").click()
    area.press_sequentially("!!!")
    size = f"{len(text) + 3:,} characters"
    expect(page.locator(".text > .row .num")).to_contain_text(size)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_violation_of_accessibility(page: Any, view: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_core_python")
    page.emulate_media(color_scheme=scheme)
    page.click(f"#tab-{view}")
    page.wait_for_load_state("networkidle")
    # The policy of the page allows no other script; the tools of the browser may add one.
    script = files(axe.__name__).joinpath("axe.min.js").read_text("utf-8")
    page.evaluate(script)
    found = page.evaluate("axe.run()")["violations"]
    violations = [(it["id"], [node["html"][:120] for node in it["nodes"][:3]]) for it in found]
    assert violations == [], json.dumps(violations, indent=1)


def test_a_narrow_window_has_one_column(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    for view in VIEWS:
        page.click(f"#tab-{view}")
        waits_for(page, "document.documentElement.scrollWidth <= innerWidth")
    page.click("#tab-tokens")
    details = page.get_by_role("button", name="Details")
    details.click()
    expect(page.locator("#rail")).to_have_class("open")
    page.keyboard.press("Escape")
    expect(page.locator("#rail")).not_to_have_class("open")
    expect(details).to_be_focused()


def test_twice_as_large(page: Any) -> None:
    """A zoom of 200 % leaves half the pixels, and nothing to scroll sideways for."""
    page.set_viewport_size({"width": 650, "height": 450})
    for view in VIEWS:
        page.click(f"#tab-{view}")
        waits_for(page, "document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.skipif(os.environ.get("JETON_DOCS") != "write", reason="JETON_DOCS=write takes them")
@pytest.mark.parametrize("look", ["light", "dark", "phone"])
@pytest.mark.parametrize("view", VIEWS)
def test_pictures(browser: Any, view: str, look: str) -> None:
    """Takes the pictures of the page that `docs/play.md` shows."""
    from jeton.play import Page

    texts = list(samples.read_all().values())
    tokenizers = {
        "bytes.json": jeton.BPETrainer(
            vocab_size=3000, pattern="gpt4", special_tokens=SPECIAL
        ).train(texts),
        "unigram.model": jeton.UnigramTrainer(vocab_size=3000).train(texts),
        "bert.txt": jeton.WordPieceTrainer(vocab_size=3000).train(texts),
    }
    size = {"width": 390, "height": 780} if look == "phone" else {"width": 1280, "height": 800}
    context = browser.new_context(
        viewport=size, color_scheme="dark" if look == "dark" else "light", reduced_motion="reduce"
    )
    with Page(tokenizers, text=PICTURED) as served:
        tab = context.new_page()
        tab.goto(served.url)
        tab.wait_for_selector(".flow .t")
        if view == "tokens" and look != "phone":
            tab.locator(".card .flow").first.focus()
            for _ in range(6):
                tab.keyboard.press("ArrowRight")
            expect(tab.locator("#rail")).to_contain_text("token 6 of")
        tab.click(f"#tab-{view}")
        if view == "steps":
            tab.fill("[aria-label='The word or sentence']", " lighthouses")
            expect(tab.locator(".frame")).to_contain_text("12 characters")
            for _ in range(7):
                tab.get_by_role("button", name="On", exact=True).click()
        elif view == "vocabulary":
            tab.fill("input[type=search]", "th")
            expect(tab.locator("#main [role=status]")).not_to_contain_text("3,000")
            tab.locator(".grid .line[aria-rowindex]").nth(3).click()
        elif view == "heat":
            tab.click("#tab-tokens")
            tab.select_option("[aria-label='A sample']", "languages")
            tab.click("#tab-heat")
            expect(tab.locator(".heat tbody tr").nth(9)).to_be_visible()
        elif view == "chat":
            tab.select_option("[aria-label='Second template']", "llama3")
            expect(tab.get_by_label("Rendered by the second template")).to_contain_text("eot_id")
        elif view == "train":
            tab.click("#tab-tokens")
            tab.select_option("[aria-label='A sample']", "essays")
            tab.click("#tab-train")
            tab.get_by_role("button", name="Train", exact=True).click()
            expect(tab.locator(".merges li").first).to_be_visible()
            tab.locator("input[aria-label='Merges learnt']").evaluate(
                "it => { it.value = 120; it.dispatchEvent(new Event('input')); }"
            )
        elif view == "ids":
            tab.fill("textarea[aria-label=Ids]", str(tokenizers["bytes.json"].encode(PICTURED)))
            expect(tab.locator(".rendered")).to_contain_text("lighthouse")
        tab.wait_for_load_state("networkidle")
        tab.wait_for_timeout(1000)
        PICTURES.mkdir(exist_ok=True)
        tab.screenshot(path=PICTURES / f"{view}-{look}.png")
    context.close()
