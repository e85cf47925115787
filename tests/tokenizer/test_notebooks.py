"""What notebooks show: every kind of result, escaped, without scripts, and never too much."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import jeton
from jeton.analysis import check, compare
from jeton.components import models
from kinds import byte_level, each_kind, word_piece

HOSTILE = "</b><script>bad()</script><img src=x onerror=bad()>\"'&\u202e"


class Shape(HTMLParser):
    """Checks that tags are closed in order, and collects them with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(thing: Any) -> str:
    html: str = thing._repr_html_()
    shape = Shape(html)
    assert not shape.tags & {"script", "img", "iframe", "style", "link"}
    assert shape.names <= {"style", "title"}
    assert "\u202e" not in html and not re.search(r"https?:", html)
    return html


@each_kind
def test_each_kind(tok: jeton.Tokenizer) -> None:
    assert f"{tok.vocab_size:,} tokens" in shown(tok)
    encoding = tok.encode_with_spans("the weather")
    assert all(f"<small>{id}</small>" in shown(encoding) for id in encoding.ids)
    assert "2 texts" in shown(tok.encode_batch(["the", "weather"]))
    health = check(tok)
    assert all(finding.rule in shown(health) for finding in health)
    assert "bytes per token" in shown(compare({"it": tok}, ["the weather"]))


def test_hostile_text_stays_text() -> None:
    names = {"[UNK]": 0, HOSTILE: 1, "a": 2}
    tok = jeton.Tokenizer(
        models.WordLevel(names, unk_token="[UNK]"),
        added_tokens=[jeton.AddedToken(f"<{HOSTILE}>", 3, special=True)],
    )
    for thing in (
        tok,
        tok.encode_with_spans(HOSTILE),
        check(tok),
        compare({HOSTILE: word_piece()}, {HOSTILE: ["The weather"]}),
    ):
        assert "&lt;script&gt;" in shown(thing)


def test_much_is_cut() -> None:
    tok = byte_level()
    assert "more" in shown(tok.encode_with_spans("q7" * 1_000))
    assert "80 more" in shown(tok.encode_batch(["the"] * 100))
    assert len(shown(tok.encode_batch(["q7" * 5_000]))) < 2_000


def test_nothing() -> None:
    tok = byte_level()
    assert "0 tokens" in shown(tok.encode_with_spans(""))
    assert "0 texts, 0 tokens" in shown(tok.encode_batch([]))
    assert "Nothing was found" in shown(check(tok, only=["id-gap"]))


@pytest.mark.parametrize("texts", [["a"], []])
def test_tokenizers_that_lose_text_are_marked(texts: list[str]) -> None:
    assert "loses text" in shown(compare({"it": word_piece()}, texts))
