"""The server of `jeton play`: who may ask, what it answers, and what it does with bad questions."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import jeton
from jeton import samples
from jeton.cli import main

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx")

from jeton.play import Page, server  # noqa: E402  (needs the packages above)
from jeton.play.documents import MAX_TEXT, TabTexts  # noqa: E402
from jeton.play.guard import Guard  # noqa: E402
from jeton.play.ids import numbers_of  # noqa: E402
from jeton.play.shelf import MAX_CARDS, Shelf  # noqa: E402

SPECIAL = ["<|im_start|>", "<|im_end|>"]


@pytest.fixture(scope="module")
def tok() -> jeton.Tokenizer:
    texts = samples.read_all().values()
    return jeton.BPETrainer(vocab_size=800, pattern="gpt4", special_tokens=SPECIAL).train(texts)


@pytest.fixture(scope="module")
def page(tok: jeton.Tokenizer) -> Iterator[Page]:
    with Page({"mine": tok}, text="the weather") as page:
        yield page


def ask(page: Page, route: str, question: Any = None, **extra: Any) -> Any:
    content = json.dumps(question or {})
    return httpx.post(f"{page.url}api/{route}", content=content, timeout=60, **extra)


def ask_url(url: str, route: str) -> int:
    """The status of an answer, however long it takes; 0 if there is none."""
    try:
        return int(httpx.post(f"{url}api/{route}", content="{}", timeout=None).status_code)
    except httpx.TransportError:
        return 0


def columns(content: bytes) -> list[dict[str, Any]]:
    """The cards of an answer with their columns."""
    size = int.from_bytes(content[:4], "little")
    head, at = json.loads(content[4 : 4 + size]), 4 + size
    for card in head["cards"]:
        length = card["stop"] - card["start"]
        for name in ("ids", "starts", "ends"):
            card[name] = np.frombuffer(content, "<u4", length, at).tolist()
            at += 4 * length
        card["flags"] = list(content[at : at + length])
        at += length + -length % 4
    return list(head["cards"])


def encoded(page: Page, **question: Any) -> list[dict[str, Any]]:
    answer = ask(page, "encode", {"cards": [1], "version": 1, "document": "a", **question})
    assert answer.status_code == 200, answer.text
    return columns(answer.content)


REFUSED: list[tuple[str, dict[str, str], int]] = [
    ("another host", {"host": "evil.example"}, 421),
    ("another origin", {"origin": "http://evil.example"}, 403),
    ("no origin at all", {"origin": "null"}, 403),
    ("another site", {"sec-fetch-site": "cross-site"}, 403),
]


@pytest.mark.parametrize(
    ("headers", "status"), [it[1:] for it in REFUSED], ids=[it[0] for it in REFUSED]
)
def test_only_the_page_may_ask(page: Page, headers: dict[str, str], status: int) -> None:
    answer = ask(page, "start", headers=headers)
    assert (answer.status_code, answer.content) == (status, b"")


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "x", str(1 << 40)])
def test_a_body_that_is_too_large_is_not_read(page: Page, length: str) -> None:
    host, port = page.url.split("/")[2].split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        path = "/" + page.url.split("/", 3)[3]
        head = f"POST {path}api/start HTTP/1.1\r\nHost: {host}:{port}\r\n"
        head += f"Content-Length: {length}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).split(b" ")[1] in (b"400", b"413")


@pytest.mark.parametrize("path", ["", "api/start", "wrong/api/start", "wrong/", "wrong/main.js"])
def test_without_the_secret_there_is_nothing(page: Page, path: str) -> None:
    root = page.url.rsplit("/", 2)[0]
    for answer in (httpx.get(f"{root}/{path}"), httpx.post(f"{root}/{path}")):
        assert (answer.status_code, answer.content) == (404, b"")


@pytest.mark.parametrize("name", ["../server.py", "..%2fserver.py", "%2e%2e/guard.py", "none.js"])
def test_no_other_file_is_served(page: Page, name: str) -> None:
    assert httpx.get(page.url + name).status_code == 404


def test_the_page_loads_nothing_from_elsewhere(page: Page) -> None:
    answer = httpx.get(page.url)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    for name in ("main.js", "share.js", "style.css"):
        text = httpx.get(page.url + name).text
        assert "innerHTML" not in text
        assert [it for it in ("https://", "//cdn") if it in text] == []


HOSTS: list[tuple[str, str]] = [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1")]
if socket.has_ipv6:
    HOSTS += [("::1", "[::1]"), ("::", "[::1]")]


def test_an_address_that_cannot_be_listened_on_is_named() -> None:
    with Page({}) as page:
        port = int(page.url.split("/")[2].rsplit(":", 1)[1])
        with pytest.raises(OSError, match=rf"listen on '127.0.0.1', port {port}: Address already"):
            Page({}, port=port)
    with pytest.raises(OSError, match=r"cannot listen on 'nowhere\.invalid', port 0: "):
        Page({}, host="nowhere.invalid")


@pytest.mark.parametrize(("host", "named"), HOSTS, ids=[it[0] for it in HOSTS])
def test_the_address_is_one_that_a_browser_opens(host: str, named: str) -> None:
    try:
        page = Page({}, host=host)
    except OSError as error:
        pytest.skip(f"this machine has no {host}: {error}")
    with page:
        assert page.url.startswith(f"http://{named}:")
        assert httpx.get(page.url).status_code == 200
        port = page.url.split("/")[2].rsplit(":", 1)[1]
        # A name, and the address of another machine, as if they resolved to this one.
        for wrong in ("evil.example", "192.0.2.200", named + ".example"):
            answer = httpx.get(page.url, headers={"host": f"{wrong}:{port}"})
            assert answer.status_code == 421


def test_every_address_of_this_machine_is_answered(tok: jeton.Tokenizer) -> None:
    """With `0.0.0.0`, a browser on the network names the address that it connects to."""
    with Page({"mine": tok}, host="0.0.0.0") as page:
        other = page.url.replace("127.0.0.1", "127.0.0.2")
        try:
            answer = httpx.get(other)
        except httpx.ConnectError:
            pytest.skip("127.0.0.2 is not this machine's here")
        assert answer.status_code == 200
        origin = "http://" + other.split("/")[2]
        assert httpx.post(f"{other}api/start", headers={"origin": origin}).status_code == 200
        answer = httpx.post(f"{page.url}api/start", headers={"origin": origin})
        assert answer.status_code == 403


@pytest.mark.parametrize("port", [-1, 65536, 10**12])
def test_invalid_ports_are_refused(port: int) -> None:
    with pytest.raises(jeton.errors.ArgumentError, match="port must be 0 to 65535"):
        Page({}, port=port)


def test_more_tokenizers_than_the_page_shows_are_refused(tok: jeton.Tokenizer) -> None:
    with pytest.raises(jeton.errors.ArgumentError, match="up to 6 tokenizers, not 7"):
        Page({str(at): tok for at in range(7)})


TEXTS = [
    "",
    "the weather",
    "un café 😀 <|im_end|>",
    "\x00\u202eabc\r\n\t",
    "e\u0301" * 5,
    "図書館" * 9,
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("special", ["ignore", "allow"])
def test_tokens_are_those_of_the_tokenizer(
    page: Page, tok: jeton.Tokenizer, text: str, special: Any
) -> None:
    (card,) = encoded(page, text=text, special=special)
    expected = tok.encode_with_spans(text, unit="utf-16", special=special)
    assert card["ids"] == expected.ids
    assert list(zip(card["starts"], card["ends"], strict=True)) == expected.spans
    control = {SPECIAL[0], SPECIAL[1]} if special == "allow" else set()
    assert sum(flag & 1 for flag in card["flags"]) == sum(text.count(it) for it in control)


def test_edits_give_the_tokens_of_the_whole(page: Page, tok: jeton.Tokenizer) -> None:
    encoded(page, text="the 😀 weather")
    edit = {"base": 1, "start": 4, "removed": 2, "inserted": "fine\n"}
    (card,) = encoded(page, **edit, version=2)
    assert card["ids"] == tok.encode("the fine\n weather")
    for wrong in ({**edit, "base": 7}, {**edit, "base": 2, "start": 900}):
        answer = ask(page, "encode", {"cards": [1], "version": 3, "document": "a", **wrong})
        assert answer.json() == {"resend": True}


def test_a_surrogate_that_stands_alone_keeps_its_place() -> None:
    document = TabTexts().whole("a", 1, "x\ud800y\udc00")
    assert (document.text, len(document)) == ("x�y�", 4)


def test_a_window_of_the_tokens(page: Page, tok: jeton.Tokenizer) -> None:
    text = "the weather and the tide\n" * 3000
    (card,) = encoded(page, text=text)
    question = {"document": "a", "cards": [1]}
    found = columns(ask(page, "window", {**question, "start": 50, "stop": 60}).content)[0]
    assert found["ids"] == card["ids"][50:60]


ANSWERS: list[tuple[str, dict[str, Any], Any]] = [
    ("token", {"id": 300}, lambda it: it["id"] == 300 and it["tree"]["parts"]),
    ("neighbours", {"id": 300}, lambda it: it["into"] and "of" in it),
    ("gotchas", {}, lambda it: {f["name"] for f in it["found"]} >= {"trailing-space"}),
    ("steps", {"text": "weather"}, lambda it: it["frames"][0]["title"] == "The text"),
    ("vocabulary", {"query": "the", "stop": 5}, lambda it: 0 < len(it["rows"]) <= 5),
    ("vocabulary", {"query": "20 74", "kind": "bytes"}, lambda it: it["total"] > 0),
    ("vocabulary", {"query": "300-302", "kind": "id"}, lambda it: it["total"] == 3),
    ("vocabulary", {"query": "^ [a-c]", "kind": "regex"}, lambda it: it["total"] > 0),
    ("vocabulary", {"sort": "length", "descending": True}, lambda it: it["rows"][0]["length"] > 4),
    ("vocabulary", {"sort": "frequency", "descending": True}, lambda it: it["rows"][0]["used"] > 0),
    ("unreachable", {}, lambda it: it["found"] >= 0),
    ("train", {"kind": "BPE", "size": 270, "text": "ab ab ab abc"}, lambda it: it["merges"]),
    ("train", {"kind": "Unigram", "size": 20, "text": "ab ab ab abc " * 9}, lambda it: it["card"]),
    ("train", {"kind": "BPE", "size": 258, "text": "cd cd"}, lambda it: it["counts"][-1] == [2, 2]),
    ("heat", {"cards": [1]}, lambda it: sum(it["cards"][0]["counts"]) > 1),
    ("guess", {"merges": 0, "document": "words"}, lambda it: any(p["best"] for p in it["pairs"])),
    ("decode", {"ids": "[72, 105]"}, lambda it: len(it["tokens"]) == 2),
    ("save", {}, lambda it: it["version"]),
]


@pytest.mark.parametrize(("route", "question", "fits"), ANSWERS, ids=[it[0] for it in ANSWERS])
def test_answers(page: Page, route: str, question: dict[str, Any], fits: Any) -> None:
    encoded(page, text="the weather ", version=1)
    encoded(page, text="never seven eleven", version=1, document="words")
    answer = ask(page, route, {"card": 1, "document": "a", **question})
    assert answer.status_code == 200, answer.text
    assert fits(answer.json()), answer.text[:400]


def test_a_chat_says_who_wrote_what(page: Page) -> None:
    messages = [{"role": "user", "content": "hi<|im_end|>"}, {"role": "assistant", "content": "ho"}]
    found = ask(page, "chat", {"card": 1, "messages": messages, "template": "chatml"}).json()
    assert sum(it["special"] for it in found["tokens"]) == 4
    assert [it["text"] for it in found["pieces"] if it["look"] == "spelled"] == ["<|im_end|>"]
    learnt = "".join(
        found["text"][it["start"] : it["end"]] for it in found["tokens"] if it["learnt"]
    )
    assert learnt == "ho<|im_end|>"


def test_marks_without_a_token_are_said(page: Page) -> None:
    question = {"card": 1, "messages": [{"role": "user", "content": "hi <|eot_id|>"}]}
    found = ask(page, "chat", {**question, "template": "llama3"}).json()
    [said] = found["left_out"]
    assert said.startswith("this tokenizer has no token for 3 marks of the template")
    assert "<|start_header_id|>, <|end_header_id|>, <|eot_id|>" in said
    assert ask(page, "chat", {**question, "template": "chatml"}).json()["left_out"] == []


BAD: list[tuple[str, Any, str]] = [
    ("token", {"card": 99, "id": 1}, "no longer here"),
    ("token", {"card": 1, "id": 10**9}, "1000000000"),
    ("token", {"card": 1}, "lacks 'id'"),
    ("token", [1], "JSON object"),
    ("token", {"card": 1, "id": 1e400}, "not a whole number"),
    ("token", {"card": 1, "id": True}, "not a whole number"),
    ("token", {"card": [1], "id": 1}, "not a whole number"),
    ("encode", {"document": "a", "version": 1, "cards": [1], "text": 7}, "not a string"),
    ("encode", {"document": "a", "version": 1, "cards": {}, "text": ""}, "not a list"),
    ("encode", {"document": "a" * 1000, "version": 1, "cards": [1], "text": ""}, "name of a text"),
    ("train", {"kind": "BPE", "size": 300, "text": ["a"]}, "not a string"),
    ("chat", {"card": 1, "messages": "[" * 100_000, "template": "chatml"}, "not JSON"),
    ("load", {"name": "/etc/passwd"}, "not a name that jeton knows"),
    ("load", {"name": "org/name"}, "not a name that jeton knows"),
    ("steps", {"card": 1, "text": "a" * 5000}, "too many to explain"),
    ("vocabulary", {"card": 1, "query": "(", "kind": "regex"}, ""),
    ("vocabulary", {"card": 1, "query": "x", "kind": "id"}, "number or a range"),
    ("vocabulary", {"card": 1, "query": "zz", "kind": "bytes"}, "hexadecimal"),
    ("train", {"kind": "BPE", "size": 10**9, "text": "a"}, "20,000"),
    ("train", {"kind": "None", "size": 300, "text": "a"}, "BPE"),
    ("train", {"kind": "BPE", "size": 300, "text": " "}, "no text"),
    ("decode", {"card": 1, "ids": "[1, -2]"}, "never negative"),
    ("decode", {"card": 1, "ids": "99999999"}, "99999999"),
    ("chat", {"card": 1, "messages": "{", "template": "chatml"}, "not JSON"),
    ("chat", {"card": 1, "messages": [], "template": "{% for"}, ""),
    ("guess", {"document": "short", "merges": 0}, "a few words"),
    ("guess", {"document": "unknown", "merges": 0}, "no longer here"),
    ("heat", {"document": "unknown", "cards": [1]}, "no longer here"),
    ("heat", {"document": "short", "cards": [99]}, "no longer here"),
    ("load", {"name": "qwen"}, "jeton play Qwen/"),
    ("load", {"name": "gtp2"}, "Did you mean gpt2?"),
    ("window", {"document": "unknown", "cards": [1], "start": 0, "stop": 1}, "no longer here"),
]


@pytest.mark.parametrize(("route", "question", "words"), BAD)
def test_bad_questions_have_an_answer(page: Page, route: str, question: Any, words: str) -> None:
    encoded(page, text="a b", version=1, document="short")
    answer = ask(page, route, question)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert "/tmp" not in answer.text and "Traceback" not in answer.text


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a":' * 50_000, b"\xff", b"9" * 5000])
@pytest.mark.parametrize("route", ["start", "encode", "upload"])
def test_malformed_requests_are_answered(page: Page, route: str, content: bytes) -> None:
    answer = httpx.post(f"{page.url}api/{route}", content=content, timeout=60)
    assert answer.status_code == 400 and "question" in answer.json()["error"]


def upload(page: Page, files: dict[str, bytes]) -> Any:
    head = {"names": [*files], "sizes": [*map(len, files.values())]}
    return sent(page, head, b"".join(files.values()))


def sent(page: Page, head: Any, content: bytes) -> Any:
    content = json.dumps(head).encode() + b"\n" + content
    return httpx.post(f"{page.url}api/upload", content=content, timeout=60)


def test_a_file_that_is_dropped_is_a_card(page: Page, tok: jeton.Tokenizer) -> None:
    summary = upload(page, {"tokenizer.json": tok.to_json().encode()}).json()
    assert (summary["name"], summary["digest"]) == ("tokenizer.json", tok.digest[:12])
    wrong = upload(page, {"../../evil.json": b"{}"})
    assert wrong.status_code == 400 and "jeton-play" not in wrong.text


ODD: list[tuple[str, dict[str, int], bytes, str]] = [
    ("the folder above", {"..": 2}, b"{}", "is not the name of a file"),
    ("a folder", {"a/": 2}, b"{}", "is not the name of a file"),
    ("a NUL", {"a\0b": 2}, b"{}", "is not the name of a file"),
    ("a long name", {"a" * 300: 2}, b"{}", "is not the name of a file"),
    ("one name twice", {"a/x.json": 1, "b/x.json": 1}, b"{}", "the same name"),
    ("more than was sent", {"x.json": 10**12}, b"{}", "do not fit the upload"),
    ("less than was sent", {"x.json": 1}, b"{}", "do not fit the upload"),
    ("less than nothing", {"x.json": 4, "y.json": -2}, b"{}", "do not fit the upload"),
    ("no file", {}, b"", "1 to 32 files"),
    ("thousands", {str(at): 0 for at in range(5000)}, b"", "1 to 32 files"),
    ("nested deeply", {"tokenizer.json": 500_000}, b'{"a":' * 100_000, "tokenizer.json"),
]


@pytest.mark.parametrize(
    ("sizes", "content", "words"), [it[1:] for it in ODD], ids=[it[0] for it in ODD]
)
def test_odd_uploads_have_an_answer(
    page: Page, sizes: dict[str, int], content: bytes, words: str
) -> None:
    answer = sent(page, {"names": [*sizes], "sizes": [*sizes.values()]}, content)
    assert answer.status_code == 400
    assert words in answer.json()["error"] and "jeton-play" not in answer.text


def test_a_file_names_no_other_file(page: Page) -> None:
    """Paths in an uploaded file are not followed."""
    config = json.dumps({"vocab_file": "/etc/passwd", "tokenizer_class": "BertTokenizer"})
    summary = upload(page, {"tokenizer_config.json": config.encode(), "vocab.txt": b"[UNK]\na\n"})
    assert summary.json()["size"] == 6  # with the four that the class adds


def model(**model: Any) -> dict[str, bytes]:
    """A file of a tokenizer, as a stranger may write it."""
    return {"tokenizer.json": json.dumps({"version": "1.0", "model": model}).encode()}


def test_merges_of_empty_tokens_make_no_endless_tree(page: Page) -> None:
    vocab = {"": 0, "a": 1, "b": 2, "ab": 3}
    merges = [["", ""], ["", "a"], ["a", "b"]]
    card = upload(page, model(type="BPE", vocab=vocab, merges=merges)).json()["card"]
    for id in vocab.values():
        found = ask(page, "token", {"card": card, "id": id}).json()
        assert ("parts" in found["tree"]) == (id == 3)


def test_of_long_tokens_the_beginning_is_shown(page: Page) -> None:
    vocab = {f"{id}{'x' * 100_000}": id for id in range(40)} | {"u": 40}
    card = upload(page, model(type="WordLevel", vocab=vocab, unk_token="u")).json()["card"]
    rows = ask(page, "vocabulary", {"card": card}).json()["rows"]
    assert rows[7]["length"] == 100_001 and len(rows[7]["shown"]) == 401
    answer = ask(page, "token", {"card": card, "id": 7})
    assert len(answer.content) < 5000 and answer.json()["bytes"].endswith("78 …")
    answer = ask(page, "decode", {"card": card, "ids": "7 " * 1000})
    assert answer.status_code == 400 and "32 MB" in answer.json()["error"]


def test_the_tokenizer_that_was_used_longest_ago_is_forgotten(tok: jeton.Tokenizer) -> None:
    """A page can train and load without end; the tokenizers that it began with stay."""
    shelf = Shelf({"first": tok})
    numbers = [shelf.add(str(at), tok).number for at in range(MAX_CARDS)]
    shelf[numbers[0]]
    shelf.add("one more", tok)
    assert [it.name for it in shelf][:2] == ["first", "0"]
    with pytest.raises(jeton.errors.ArgumentError, match="no longer here"):
        shelf[numbers[1]]
    assert len([*shelf]) == MAX_CARDS + 1


def test_a_new_tab_begins_with_the_first_cards(tok: jeton.Tokenizer) -> None:
    """The cards that other tabs added are known to it, but not shown."""
    with Page({"mine": tok}) as page:
        added = ask(page, "load", {"name": "jeton-4k"}).json()["card"]
        found = ask(page, "start").json()
    assert [it["card"] for it in found["cards"]] == [*found["first"], added]


def test_cards_of_one_name_are_told_apart(tok: jeton.Tokenizer) -> None:
    shelf = Shelf({})
    first = shelf.add("tokenizer.json", tok)
    assert shelf.add("tokenizer.json", tok) is first
    other = shelf.add("tokenizer.json", jeton.CharTrainer().train("a"))
    assert other.name == f"tokenizer.json ({other.number})"
    assert shelf.add("tokenizer.json", jeton.CharTrainer().train("a")) is other


def test_texts_of_closed_tabs_are_forgotten() -> None:
    documents = TabTexts()
    for name in ("a", "b", "c"):
        documents.whole(name, 1, "x" * (MAX_TEXT // 2))
    with pytest.raises(jeton.errors.ArgumentError, match="no longer here"):
        documents["a"]
    assert len(documents["b"]) == len(documents["c"]) == MAX_TEXT // 2


def test_warnings_of_training_are_said_on_the_page(page: Page) -> None:
    found = ask(page, "train", {"kind": "BPE", "size": 5000, "text": "ab ab"}).json()
    (note,) = found["card"]["notes"]
    assert "vocab_size=5,000 was not reached" in note


def test_a_page_that_is_closed_answers_what_it_was_asked(tok: jeton.Tokenizer) -> None:
    """No exception is written to the terminal when a slow answer is given up."""

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": "/s/", "server": ("127.0.0.1", 1),
        "headers": [(b"host", b"127.0.0.1:1")],
    }  # fmt: skip
    asyncio.run(Guard(slow, "s", [])(scope, None, send))
    assert sent[0]["status"] == 503


NOTATIONS = [
    ("[1, 2, 3]", [1, 2, 3]),
    ("1 2\n3", [1, 2, 3]),
    ("array([  1, 22], dtype=uint32)", [1, 22]),
    ("tensor([[1, 2]], device='cuda:0')", [1, 2]),
    ("0x1F,0x20", [31, 32]),
    ("{'input_ids': [5, 6]}", [5, 6]),
    ("1_000 | 8.0", [1000, 8]),
    ("", []),
    ("<tf.Tensor: shape=(1, 3), dtype=int32, numpy=array([[4, 5, 6]], dtype=int32)>", [4, 5, 6]),
    ("Array([7, 8], dtype=int32)", [7, 8]),
    ("tensor([[101]], device='cuda:0', dtype=torch.int64)", [101]),
    ("[np.uint32(5), np.int64(6)]", [5, 6]),
    ("[1 2\n 3]; vec![4u32, 5]", None),
    ("1;2\t3|4 /5,6,", [1, 2, 3, 4, 5, 6]),
    ("tensor([1., 2.])", [1, 2]),
    ("[0.5]", None),
    ("1e3", None),
    ("0b101", None),
    ("[1 2 3 ... 998 999]", None),
    ("9" * 5000, None),
    (" " * 5_000_000, None),
]


@pytest.mark.parametrize(("text", "ids"), NOTATIONS)
def test_ids_in_any_notation(text: str, ids: list[int] | None) -> None:
    if ids is None:
        with pytest.raises(jeton.errors.ArgumentError):
            numbers_of(text)
    else:
        assert numbers_of(text) == ids


def test_ids_show_a_character_that_is_split_in_each_of_its_tokens(
    page: Page, tok: jeton.Tokenizer
) -> None:
    ids = tok.encode("😀")
    found = ask(page, "decode", {"card": 1, "ids": str(ids)}).json()
    assert [it["shown"] for it in found["tokens"]] == [
        f"😀‹{at}/{len(ids)}›" for at in range(1, len(ids) + 1)
    ]


@pytest.mark.large
def test_slow_questions_keep_no_quick_one_waiting(
    tok: jeton.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(server, "shown_chat", lambda *_: go_on.wait(60))
    with Page({"mine": tok}) as page:
        question = {"card": 1, "messages": []}
        slow = [threading.Thread(target=ask, args=(page, "chat", question)) for _ in range(24)]
        for thread in slow:
            thread.start()
        try:
            assert ask(page, "token", {"card": 1, "id": 300}).status_code == 200
            assert ask(page, "steps", {"card": 1, "text": "tide"}).status_code == 200
        finally:
            go_on.set()
            for thread in slow:
                thread.join()


@pytest.mark.large
def test_the_command_ends_by_an_interrupt() -> None:
    command = [sys.executable, "-m", "jeton", "play", "jeton-4k", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        url = run.stdout.readline().strip()
        assert httpx.get(url, timeout=60).status_code == 200
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 0


STUCK = """
import sys, threading
from jeton.cli import main
from jeton.play.server import _RouteAnswers

def start(self, asked):
    print("asked", flush=True)
    threading.Event().wait()

_RouteAnswers.start = start
sys.argv = ["jeton", "play", "jeton-4k", "--no-open"]
main()
"""


def test_the_command_ends_while_a_question_is_answered() -> None:
    """A question that would take forever does not keep it, and leaves nothing in the terminal."""
    command = [sys.executable, "-c", STUCK]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as run:
        assert run.stdout is not None and run.stderr is not None
        url = run.stdout.readline().strip()
        asking = threading.Thread(target=lambda: ask_url(url, "start"), daemon=True)
        asking.start()
        assert run.stdout.readline().strip() == "asked"
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 0
        assert run.stderr.read() == "Ctrl-C ends it\n"
        asking.join(60)


def test_a_page_is_closed_while_a_question_is_answered(
    tok: jeton.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, end = threading.Event(), threading.Event()

    def start(*_: Any) -> dict[str, str]:
        asked.set()
        end.wait()
        return {}

    monkeypatch.setattr(server._RouteAnswers, "start", start)
    statuses: list[int] = []
    with Page({"mine": tok}) as page:
        asking = threading.Thread(target=lambda: statuses.append(ask_url(page.url, "start")))
        asking.start()
        assert asked.wait(60)
    asking.join(60)
    end.set()
    assert statuses == [503]


def test_a_fault_of_jeton_is_said(
    tok: jeton.Tokenizer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server._RouteAnswers, "start", lambda *_: 1 // 0)
    with Page({"mine": tok}) as page:
        answer = ask(page, "start")
    assert answer.status_code == 500 and "a fault of jeton" in answer.json()["error"]
    assert "ZeroDivisionError" in caplog.text and "ZeroDivisionError" not in answer.text


@pytest.mark.parametrize("options", [["--port", "-1"], ["--port", "65536"], [*"abcdefg"]])
def test_bad_options_of_the_command_are_usage_errors(options: list[str]) -> None:
    result = CliRunner().invoke(main, ["play", "--no-open", *options])
    assert result.exit_code == 2, result.output


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_the_extra_the_command_says_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    result = CliRunner().invoke(main, ["play", "--no-open"])
    assert result.exit_code == 1 and "pip install 'jeton[play]'" in result.output


def test_a_port_that_is_taken_is_said(page: Page) -> None:
    port = page.url.split(":")[2].split("/")[0]
    result = CliRunner().invoke(main, ["play", "--no-open", "--port", port])
    assert result.exit_code == 1 and "in use" in result.output
