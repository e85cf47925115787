"""Reports: what is on the page, and the page in a real browser: sorting, filters, hostile text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import jeton
from browser import BROWSER, in_a_browser
from command_line import Run, error_of, here, run  # noqa: F401
from jeton.analysis import Comparison, Point, SkippedSize, Sweep, compare
from jeton.analysis.evaluation import best_of
from jeton.analysis.report.svg_charts import Series, bars, lines, points
from jeton.errors import ArgumentTypeError
from kinds import byte_level, ranks, word_piece
from shared_data import SHARED, VOCABULARIES, needed

HOSTILE = (
    "</script></style><img src=x onerror=\"document.title='bad'\"><script>bad()</script>&'\u202e"
)

TEXTS = {
    "news": ["the weather there", "then the theory"] * 9,
    f"bad {HOSTILE}": [HOSTILE, "the the"],
}
PARALLEL = {"en": ["the weather", "there"], "xx": ["wether w e", "th er e"]}


@pytest.fixture(scope="module")
def toks() -> dict[str, jeton.Tokenizer]:
    return {"bytes": byte_level(), "words": word_piece(), HOSTILE: byte_level("gpt2")}


@pytest.fixture(scope="module")
def found(toks: dict[str, jeton.Tokenizer]) -> Comparison:
    return compare(toks, TEXTS, parallel=PARALLEL)


@pytest.fixture(scope="module")
def page(found: Comparison, toks: dict[str, jeton.Tokenizer]) -> str:
    lines = {**TEXTS, **PARALLEL}
    return found.html(f"A {HOSTILE} title", tokenizers=toks, lines=lines, sweep=ladder())


def ladder() -> Sweep:
    """A sweep of three families, one of which loses lines and has a hostile name."""
    points = [
        Point(
            family,
            size,
            size,
            100,
            each,
            lost,
            size * 20,
            1.0,
            1.0,
            1.0,
            size / each,
            0.25,
            1.0,
            "d",
            size - 256,
            size // 50,
        )
        for family, lost in (("bpe", 0), ("unigram", 0), (HOSTILE, 3))
        for size, each in ((400, 2.0), (800, 3.5), (1600, 4.0))
    ]
    skipped = (SkippedSize("bpe", 100, f"too few {HOSTILE}"),)
    return Sweep(tuple(points), {"width": 10}, "c", "h", 1234, 7, skipped=skipped)


WATCHING = """
const seen = { errors: [] };
addEventListener("error", (event) => seen.errors.push(event.message));
addEventListener("securitypolicyviolation", (event) => seen.errors.push(event.violatedDirective));
const column = (table, at) => [...document.querySelectorAll("#" + table + " tbody tr")]
  .filter((row) => !row.hidden).map((row) => row.children[at].textContent);
const press = (table, at) => document.querySelectorAll("#" + table + " thead button")[at].click();
const sort = () => document.querySelectorAll("#glance thead th")[1].getAttribute("aria-sort");
addEventListener("load", () => {
  seen.start = column("glance", 1);
  press("glance", 1); seen.down = column("glance", 1); seen.order = [sort()];
  press("glance", 1); seen.up = column("glance", 1); seen.order.push(sort());
  press("glance", 0); seen.names = column("glance", 0); seen.order.push(sort());
  press("heat", 2); seen.heat = column("heat", 2);
  const filter = document.getElementById("filter"), where = document.getElementById("where");
  seen.all = column("values", 1).length;
  filter.value = "fertil"; filter.dispatchEvent(new Event("input"));
  seen.filtered = column("values", 1);
  where.value = "news"; where.dispatchEvent(new Event("change"));
  seen.news = column("values", 0);
  seen.kept = document.getElementById("kept").textContent;
  seen.charts = [...document.querySelectorAll("svg.chart")].map((it) => {
    const box = it.getBoundingClientRect();
    const shapes = [...it.querySelectorAll("rect, circle, path.line")]
      .filter((shape) => shape.getBoundingClientRect().width > 0).length;
    const colours = [...it.querySelectorAll("g")].every((group) => {
      const shape = group.querySelector("rect, circle, path.line"), style = getComputedStyle(shape);
      return style.fill !== "rgb(0, 0, 0)" && (style.fill !== "none" || style.stroke !== "none");
    });
    return [box.width > 100 && box.height > 50, shapes, colours,
      it.getAttribute("role"), it.querySelector("title").textContent.length > 3];
  });
  const before = document.querySelectorAll("svg.chart .s0 rect")[0];
  document.querySelector(".legend button").click();
  seen.hidden = before.getBoundingClientRect().width === 0;
  document.querySelector(".legend button").click();
  const ground = () => getComputedStyle(document.body).backgroundColor;
  seen.grounds = [ground()];
  document.getElementById("light").click(); seen.grounds.push(ground());
  document.getElementById("light").click(); seen.grounds.push(ground());
  document.getElementById("ids").click();
  document.body.classList.add("dark");
  const rules = [...document.styleSheets[0].cssRules];
  seen.darkInPrint = rules.some((rule) => rule.selectorText?.includes("dark")
    && rule.style.getPropertyValue("--ground"));
  const beside = (name) => getComputedStyle(document.querySelector(".tokens i." + name)).display;
  seen.beside = [beside("id"), beside("bytes")];
  document.getElementById("bytes").click();
  document.getElementById("ids").click();
  seen.beside.push(beside("id"), beside("bytes"));
  seen.bytes = document.querySelector(".tokens .bytes").textContent;
  seen.pressed = ["ids", "bytes"]
    .map((id) => document.getElementById(id).getAttribute("aria-pressed"));
  seen.images = document.images.length;
  seen.scripts = document.scripts.length;
  seen.heading = document.querySelector("h1").textContent;
  seen.hover = document.querySelector(".tokens span").title;
  seen.fits = document.documentElement.scrollWidth <= innerWidth;
  seen.loaded = performance.getEntriesByType("resource").length;
  seen.unnamed = [...document.querySelectorAll("button, input, select")]
    .filter((it) => !it.textContent.trim() && !it.labels?.length).length;
  document.title = "seen:" + JSON.stringify(seen);
});
"""


def watched(text: str, folder: Path, *options: str) -> dict[str, Any]:
    """What a script sees that the page's policy is made to allow, and what the browser says."""
    assert BROWSER is not None
    digest = base64.b64encode(hashlib.sha256(WATCHING.encode()).digest()).decode()
    assert text.count("script-src 'sha256-") == 1
    text = text.replace("script-src ", f"script-src 'sha256-{digest}' ")
    file = folder / "report.html"
    at = text.rindex("<script>")
    file.write_text(f"{text[:at]}<script>{WATCHING}</script>\n{text[at:]}", encoding="utf-8")
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=4000",
        "--enable-logging=stderr", *options, "--dump-dom", file.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    title = re.search("<title>seen:(.*?)</title>", done.stdout.decode(), re.DOTALL)
    assert title is not None, done.stderr[-2000:]
    seen: dict[str, Any] = json.loads(html.unescape(title[1]))
    seen["console"] = [it for it in done.stderr.decode().splitlines() if "CONSOLE" in it]
    return seen


@pytest.mark.large
@in_a_browser
@pytest.mark.parametrize("width", [1280, 500])
def test_in_a_browser(page: str, tmp_path: Path, width: int) -> None:
    seen = watched(page, tmp_path, f"--window-size={width},900")
    assert seen["errors"] == seen["console"] == []
    assert seen["loaded"] == 0 and seen["fits"] and seen["unnamed"] == 0

    # Sorting, by numbers and by names, down and up.
    sizes = [int(it.replace(",", "")) for it in seen["start"]]
    assert [int(it.replace(",", "")) for it in seen["down"]] == sorted(sizes, reverse=True)
    assert [int(it.replace(",", "")) for it in seen["up"]] == sorted(sizes)
    assert seen["order"] == ["descending", "ascending", None]
    assert len({*seen["names"]}) == 3
    assert sorted(seen["heat"], key=float, reverse=True) == seen["heat"]

    # Filters.
    assert 0 < len(seen["filtered"]) < seen["all"]
    assert {*seen["filtered"]} == {"tokens per word (fertility)"}
    assert seen["news"] == ["news"] and seen["kept"] == "1 row"

    # Pictures: each is drawn, in colours, with a name.
    assert len(seen["charts"]) == 3 + 2 + 5 + 1
    for drawn, shapes, coloured, role, is_named in seen["charts"]:
        assert drawn and shapes >= 3 and coloured and role == "img" and is_named
    assert seen["hidden"]
    assert seen["beside"] == ["inline", "none", "none", "inline"]
    assert re.fullmatch("[0-9a-f ]+", seen["bytes"]) and seen["pressed"] == ["false", "true"]
    first, other, back = seen["grounds"]
    assert first == back != other and not seen["darkInPrint"]

    # Hostile text stays text.
    assert seen["images"] == 0 and seen["scripts"] == 2
    assert HOSTILE.replace("\u202e", "‹U+202E›") in seen["heading"]
    assert re.fullmatch(r"id \d+ · bytes [0-9a-f ]+", seen["hover"])


@pytest.mark.large
@in_a_browser
def test_the_policy_lets_no_other_script_run(page: str, tmp_path: Path) -> None:
    planted = page.replace("<main>", '<main><script>document.body.id = "bad"</script>', 1)
    seen = watched(planted, tmp_path)
    assert any("script-src" in it for it in seen["errors"] + seen["console"])
    assert 'id="bad"' not in (tmp_path / "report.html").read_text().split("<script>")[0]


def test_the_page_holds_all_that_it_needs(page: str) -> None:
    assert not re.search(r"https?:|url\(|@import", page)
    tags = re.findall(r"<[a-z][^>]*>", re.sub(r'"[^"]*"', '""', page))
    assert not [it for it in tags if re.search(r"\s(?:src|style|on\w+)=", it)]
    assert page.count("<script>") == 1 and "\u202e" not in page
    assert "default-src 'none'" in page and "unsafe" not in page
    assert HOSTILE not in page and html.escape("</script></style><img") in page


def test_tokenizers_that_lose_text_are_marked(page: str, found: Comparison) -> None:
    assert found["words"].lossy and not found["bytes"].lossy
    assert "Some tokenizers lose text" in page and page.count('title="loses text') >= 2
    exact = compare({"bytes": byte_level()}, ["the weather"]).html()
    assert "lose text" not in exact and "loses text; see" not in exact


def test_no_star_for_what_loses_text() -> None:
    exact, lossy = byte_level(), word_piece()
    toks = {"bytes": exact, "other": ranks(), "words": lossy}
    page = compare(toks, ["the weather 12+34"]).html()
    [row] = [row for row in page.split("<tr>") if "loses text; see" in row and "data-v" in row]
    starred = re.findall(r'class="best"[^>]*>([^<]*)', row)
    assert starred and all("%" in it for it in starred), "no measures that count tokens"
    assert "0%" in page


@pytest.mark.parametrize(
    ("measure", "values", "expected"),
    [
        ("bytes_per_token", [4.0, 5.0, 9.0], {1}),
        ("bytes_per_token", [4.0, 4.0, 9.0], set()),
        ("fertility", [2.0, 1.5, 1.0], {1}),
        ("exact_round_trips", [1.0, 1.0, 0.5], {0, 1}),
        ("unknown_rate", [0.2, None, 0.1], {2}),
        ("words", [1.0, 2.0, 3.0], set()),
    ],
)
def test_a_tokenizer_that_loses_text_is_not_the_best_by_its_tokens(
    measure: str, values: list[float | None], expected: set[int], found: Comparison
) -> None:
    lossless, lossy = found["bytes"], found["words"]
    assert best_of(measure, [lossless, lossless, lossy], values) == expected


def test_a_ladder_of_sizes(page: str, found: Comparison) -> None:
    assert '<section id="sweep"' in page and "1,234 bytes" in page
    assert page.count("bends here") == 3
    # Of 400, 800, 1600 tokens 144, 544, 1344 are learned, and 8, 16, 32 of them are rare.
    assert page.count("largest with few rare tokens") == 3
    assert "up to 3 of 7 lines are not restored" in page
    [row] = [row for row in page.split("<tr>") if "bpe</th>" in row and "bends here" in row]
    assert "fewest operations" not in row and page.count("fewest operations") == 3
    assert page.count("⚠ 3 lines are not restored") == 3
    assert "bpe of 100 tokens is skipped: too few " in page
    assert 'data-v="800"' in row and 'data-v="3.5"' in row and 'data-v="16000"' in row
    assert 'id="sweep"' not in found.html()
    assert 'id="sweep"' not in found.html(sweep=Sweep((), {}, "c", "h", 0, 0))
    unmeasured = Point(
        "bpe", 300, 300, 0, None, 0, 6000, None, None, None, None, 0.5, None, "d", 9, 9
    )
    told = found.html(sweep=Sweep((unmeasured,), {}, "c", "h", 0, 0))
    assert '<td data-v="">–</td>' in told


def test_pages_of_little() -> None:
    assert "0 tokenizers" in Comparison({}).html()
    tok = byte_level()
    assert "<table" in compare({"a": tok}, []).html()
    nothing = compare({"a": tok}, [""]).html(tokenizers={"a": tok}, lines={"x": []})
    assert "nan" not in nothing and "Infinity" not in nothing
    chars = jeton.CharTrainer().train("ab")
    cut = compare({"a": chars}, ["ab"]).html(tokenizers={"a": chars}, lines={"x": ["zz"]})
    assert "cannot be encoded" in cut


@pytest.mark.large
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"title": 5}, "title"),
        ({"tokenizers": [1]}, "tokenizers"),
        ({"tokenizers": {"a": 5}, "lines": {"x": ["y"]}}, "tokenizers"),
        ({"lines": ["x"]}, "lines"),
        ({"sweep": "sweep.json"}, "sweep"),
        ({"lines": {"x": "text"}}, "lines"),
        ({"lines": {"x": [5]}}, "lines"),
    ],
)
def test_wrong_values(found: Comparison, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ArgumentTypeError, match=told):
        found.html(**options)


def test_a_premium_of_nothing_is_a_number() -> None:
    chars = compare({"a": word_piece()}, [], parallel={"en": ["the"], "xx": ["\u200d"]})
    assert chars["a"]["xx"]["tokens"] == 0 == chars["a"]["xx"]["premium"]
    assert '<td data-v="0.0" class="heat0">0.00</td>' in chars.html()


def test_charts_of_odd_numbers() -> None:
    assert lines("none", [Series("a", 0, (), ())], "x", "y") is None
    assert points("none", [], "x", "y") is None
    assert lines("log", [Series("a", 0, (0, 0), (1, 2))], "x", "y", x_log=True) is None
    one = points("one", [Series("a<b", 13, (5.0,), (0.0,))], "x", "y")
    assert one is not None and "a&lt;b" in one and 'class="s1"' in one and "nan" not in one
    drawn = bars("bars", [("a", 0, None), ("b", 1, 0.0)], 0.0, {"b"})
    assert "–" in drawn and "b ⚠" in drawn and "nan" not in drawn


def test_pictures_are_files(found: Comparison, tmp_path: Path) -> None:
    names = found.pictures(tmp_path / "new")
    assert names == [f"{name}.svg" for name in PICTURES]
    for name in names:
        root = ElementTree.parse(tmp_path / "new" / name).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in (tmp_path / "new" / name).read_text(encoding="utf-8")
    svg = (tmp_path / "new" / "premiums.svg").read_text(encoding="utf-8")
    assert "<script" not in svg and "&lt;/script" in svg
    again = found.pictures(tmp_path / "again")
    assert all(
        (tmp_path / "again" / name).read_bytes() == (tmp_path / "new" / name).read_bytes()
        for name in again
    )


PICTURES = (
    "compression", "languages", "premiums", "sizes",
    "token-lengths", "token-lengths-in-text", "rank-frequency", "types-tokens",
)  # fmt: skip


def test_pictures_without_data_are_left_out(tmp_path: Path) -> None:
    assert Comparison({}).pictures(tmp_path) == []
    odd = {"$x_1$": byte_level(), "_": byte_level(), "東 🙂": byte_level()}
    assert compare(odd, ["the"]).pictures(tmp_path)


class TestCommand:
    @pytest.mark.large
    def test_a_page(self, run: Run, here: Path) -> None:  # noqa: F811
        byte_level().save("a.json")
        word_piece().save("b.json")
        for name in ("x", "en", "de"):
            (here / f"{name}.txt").write_text("the weather\nthere\n")
        parts = ["--corpus", "news=x.txt", "--parallel", "en=en.txt", "--parallel", "de=de.txt"]
        run("report", "a.json", "mine=b.json", *parts, "-o", "r.html", "--save", "c.json")
        page = (here / "r.html").read_text()
        assert all(it in page for it in ("news", "mine", ">de<", "Lines side by side"))
        ladder().save("s.json")
        again = ["--title", "Again", "-o", "again.html", "--pictures", "p", "--sweep", "s.json"]
        run("report", "--from", "c.json", *again)
        assert "A ladder of sizes" in (here / "again.html").read_text()
        assert (here / "p" / "premiums.svg").exists()
        assert "<title>Again</title>" in (here / "again.html").read_text()

    def test_wrong_lines(self, run: Run, here: Path) -> None:  # noqa: F811
        byte_level().save("a.json")
        (here / "x.txt").write_text("the weather\n")
        for line in (
            [],
            ["a.json"],
            ["a.json", "--from", "c.json"],
            ["a.json", "--parallel", "x.txt"],
            ["a=a.json", "a=a.json", "--corpus", "x.txt"],
            ["a.json", "--corpus", "x=x.txt", "--corpus", "x=a.json"],
            ["--from", "c.json", "--corpus", "x.txt"],
        ):
            run("report", *line, "-o", "r.html", code=2)
        (here / "s.json").write_text("{}")
        swept = run(
            "report", "a.json", "--corpus", "x.txt", "--sweep", "s.json", "-o", "r.html", code=1
        )
        assert "not a saved sweep" in error_of(swept)
        missing = run("report", "a.json", "--corpus", "none.txt", "-o", "r.html", code=1)
        assert "none.txt" in error_of(missing)
        assert not (here / "r.html").exists()


PUBLISHED = {
    "GPT-2": "r50k_base.tiktoken",
    "cl100k": "cl100k_base.tiktoken",
    "o200k": "o200k_base.tiktoken",
    "Llama 2": "llama2_sentencepiece_bpe.model",
    "Llama 3": "llama3_ranks.model",
    "NeoX": "neox",
    "BERT": "bert_uncased_vocab.txt",
    "T5-style": "t5_style_unigram.model",
}


@pytest.mark.large
@in_a_browser
def test_eight_published_tokenizers(tmp_path: Path) -> None:
    text = needed(SHARED / "text")
    toks = {name: jeton.load(needed(VOCABULARIES / path)) for name, path in PUBLISHED.items()}
    parallel = {path.stem: path for path in sorted((text / "parallel").glob("*.txt"))}
    found = compare(toks, {"plays": text / "tinyshakespeare.txt"}, parallel=parallel)
    assert {name for name in toks if found[name].lossy} == {"NeoX", "BERT", "T5-style"}
    lines = {
        name: path.read_text(encoding="utf-8").splitlines()[:99] for name, path in parallel.items()
    }
    seen = watched(found.html(tokenizers=toks, lines=lines), tmp_path, "--window-size=1280,900")
    assert seen["errors"] == seen["console"] == []
    assert seen["fits"] and len(seen["names"]) == 8
    assert len(seen["charts"]) == 2 + 12 + 5
    assert all(drawn and shapes >= 8 and coloured for drawn, shapes, coloured, *_ in seen["charts"])
