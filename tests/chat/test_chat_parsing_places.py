"""What streams learn of tokens: a stream that knows every step reads as one that knows none."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import pytest

import jeton
from answer_cases import BROKEN, MARKS, TOOL, WRITTEN, random_text
from chat_cases import KINDS, WEATHER, byte_level
from jeton.chat import FORMATS, Event, Parsed, ParsedCall, ParseStream
from jeton.chat.answers import places
from jeton.chat.answers.machine import Machine
from jeton.chat.answers.marks import compiled
from jeton.chat.answers.parsed import event
from jeton.chat.answers.places import NOWHERE, Places
from jeton.errors import ArgumentError, ArgumentTypeError

TOOLS: list[Any] = [None, [WEATHER], [WEATHER, TOOL], [{"name": "f", "parameters": {}}]]
PIECES = [
    *"\n \"'\\{}[]<,:3é",
    "héé 🙂 你好",
    "text of words, and a\n\nline",
    "get_weather",
    "functions.look_up:0",
    "city",
    '{"name": "get_weather", "arguments": {"city": "a\\n\\"b", "o": {"x": [1, {"y": null}]}}}',
    "[get_weather(city='é\\n', days=[1, 2]), f(a=\"'\", b={'k': None})]",
    'call:f{a:<|"|>x "y"<|"|>,b:[1,{c:2}]}',
    '{"arguments": {"city": "a"}, "id": "7", "name": "f"}, {"name": "f", "parameters": "{}"}',
]


@functools.cache
def of_long_tokens() -> jeton.Tokenizer:
    """Tokens that end anywhere: within marks, quotes, characters and names."""
    rng = random.Random(1)
    ranks = {bytes([byte]): byte for byte in range(256)}
    texts = [*PIECES, *MARKS, *(it[0] for answers in WRITTEN.values() for it in answers)]
    for text in map(str.encode, texts):
        for _ in range(len(text)):
            at = rng.randrange(len(text))
            ranks.setdefault(text[at : at + rng.randrange(2, 9)], len(ranks))
    first = len(ranks)
    tokens = {mark: first + number for number, mark in enumerate(MARKS)}
    return jeton.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens=tokens)


def answer(rng: random.Random, format: str) -> str:
    """An answer in a format, with other text in it."""
    written = rng.choice(WRITTEN[format])[0]
    others = [*MARKS, *PIECES, *(it[1] for it in BROKEN.values()), random_text(rng, MARKS)]
    pieces = [written] * rng.choice((0, 1, 1, 2)) + rng.choices(others, k=rng.randrange(5))
    rng.shuffle(pieces)
    return "".join(pieces)


@functools.cache
def vocabulary(tok: jeton.Tokenizer) -> dict[bytes, int]:
    special = set(tok.special_tokens.values())
    return {tok.token_bytes(id): id for id in tok.vocab.values() if id not in special}


def ids_of(rng: random.Random, tok: jeton.Tokenizer, text: str) -> list[int]:
    """Any ids with this text; a few may be lost, or be out of the vocabulary."""
    special, known = tok.special_tokens, vocabulary(tok)
    ids: list[int] = []
    for stretch in re.split(f"({'|'.join(map(re.escape, special))})", text):
        if stretch in special and rng.random() < 0.9:
            ids.append(special[stretch])
            continue
        rest = stretch.encode()
        while rest:
            token = rng.choice([it for n in range(1, 10) if (it := rest[:n]) in known])
            ids.append(known[token])
            rest = rest[len(token) :]
    for _ in range(rng.choice((0, 0, 0, 3))):
        at = rng.randrange(len(ids) + 1)
        wrong = [10**6, rng.randrange(256), *special.values()]
        ids[at : at + rng.randrange(2)] = [rng.choice(wrong)]
    return ids


def read(stream: ParseStream, ids: Iterable[Any]) -> tuple[list[list[Event]], Parsed]:
    """The events of each id and of the end, and the answer."""
    events = [stream.push(id) for id in ids]
    return [*events, stream.finish()], stream.parsed


def read_plainly(stream: ParseStream, ids: Iterable[Any]) -> tuple[list[list[Event]], Parsed]:
    """The same by the machine alone."""
    with mock.patch.object(Places, "at", lambda *_: NOWHERE):
        stream._place = NOWHERE
        return read(stream, ids)


def of_prompt(rng: random.Random, tok: jeton.Tokenizer) -> list[int] | None:
    """Nothing, or a prompt that ends with a token, with words or within a character."""
    words, known = [*b"Well"], vocabulary(tok)
    return rng.choice([None, [*tok.special_tokens.values()][:1], [known["é".encode()[:1]]],
                       [known[bytes([it])] for it in words]])  # fmt: skip


@pytest.mark.large
@pytest.mark.parametrize("make", [of_long_tokens, lambda: byte_level("".join(MARKS))])
def test_steps_are_what_the_machine_would_say(make: Any) -> None:
    """Id by id, by formats, tools and prompts that share what is learnt."""
    tok, rng = make(), random.Random(make().vocab_size)
    for _ in range(1200):
        format, tools, prompt = rng.choice([*FORMATS]), rng.choice(TOOLS), of_prompt(rng, tok)
        ids = ids_of(rng, tok, answer(rng, format))

        stream = functools.partial(tok.parse_stream, format=format, tools=tools, prompt=prompt)
        events, parsed = read_plainly(stream(), ids)
        for _ in range(2):
            assert read(stream(), ids) == (events, parsed), (format, tools, prompt, ids)
        assert tok.parse(ids, format=format, tools=tools, prompt=prompt) == parsed


@pytest.mark.large
@pytest.mark.parametrize("kind", [*KINDS, "text"])
def test_steps_by_text_are_what_the_machine_would_say(kind: str) -> None:
    """Where the decoder joins more than bytes, and where there are no ids."""
    make, rng = KINDS.get(kind, byte_level), random.Random(kind)
    tok = make("".join(MARKS))
    for _ in range(400):
        format, tools = rng.choice([*FORMATS]), rng.choice(TOOLS)
        text = answer(rng, format)
        pieces: list[Any] = tok.encode(text, special="allow")
        if kind == "text":
            pieces = re.findall(r"(?s).{1,4}|\s+", text)
        elif rng.random() < 0.3:
            pieces.insert(rng.randrange(len(pieces) + 1), rng.choice([10**6, rng.randrange(250)]))
        stream = functools.partial(tok.parse_stream, format=format, tools=tools)
        events, parsed = read_plainly(stream(), pieces)
        for _ in range(2):
            assert read(stream(), pieces) == (events, parsed), (format, tools, pieces)


VALUES = ["12", "-0.5", "true", "null", '[1, {"a": [2]}]', "{'k': None}", "", " 7 ", "\n8\n", '"q"', "é",
          "1e999", "[", "9<think>9", "5</think>", "<arg_key>"]  # fmt: skip


@pytest.mark.medium
def test_values_between_tokens_are_what_the_machine_would_say() -> None:
    tok, rng = of_long_tokens(), random.Random(8)
    keys = ["count", "ratio", "flag", "items", "more", "text", "unknown"]
    for _ in range(150):
        text = ""
        for _ in range(rng.randrange(1, 4)):
            text += "<tool_call>look_up" + rng.choice(("", "\n"))
            for key in rng.choices(keys, k=rng.randrange(5)):
                value = "".join(rng.choices(VALUES, k=rng.choice((1, 1, 2))))
                text += f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"
            text += "</tool_call>"
        ids = ids_of(rng, tok, text)
        stream = functools.partial(tok.parse_stream, format="glm", tools=[WEATHER, TOOL])
        expected = read_plainly(stream(), ids)
        for _ in range(2):
            assert read(stream(), ids) == expected, text


@pytest.mark.medium
def test_ids_come_in_any_portions() -> None:
    tok, rng = of_long_tokens(), random.Random(5)
    for _ in range(200):
        format = rng.choice([*FORMATS])
        ids = ids_of(rng, tok, answer(rng, format))
        events, parsed = read(tok.parse_stream(format=format), ids)
        stream, at, portions = tok.parse_stream(format=format), 0, []
        while at < len(ids):
            size = rng.randrange(4)
            portions += stream.push(ids[at : at + size] if size else ids[at])
            at += size or 1
        portions += stream.finish()
        assert portions == [it for part in events for it in part]
        assert stream.parsed == parsed


def test_no_id_of_a_list_is_read_if_one_is_none() -> None:
    tok = of_long_tokens()
    for wrong in (-1, 1 << 32, "x", None):
        stream = tok.parse_stream(format="hermes")
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            stream.push([65, wrong])  # type: ignore[list-item]
        assert [it.text for it in stream.push([66])] == ["B"]
        stream.finish()
        assert stream.parsed.content == "B"


def test_a_token_within_a_string_ends_nothing_once_its_steps_are_known() -> None:
    """In one text, the fence in front of the token would be part of the mark."""
    tok = byte_level("".join(MARKS))
    begin = (
        '<|thought_start|>\n<|thought_end|>\n<|tool_call_start|>\n```python\nget_weather(city="a'
    )
    ids = tok.encode(f'{begin}\n```\n<|tool_call_end|>b", days=3)', special="allow")
    events = read_plainly(tok.parse_stream(format="minicpm3", tools=[WEATHER]), ids)
    for _ in range(3):
        assert read(tok.parse_stream(format="minicpm3", tools=[WEATHER]), ids) == events


def test_a_call_that_the_prompt_began_is_whole_when_it_ends() -> None:
    tok = byte_level("<|im_start|><|im_end|><think></think><tool_call></tool_call>")
    begun = '<|im_start|>assistant\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "V'
    ids = tok.encode('ik"}}\n</tool_call>', special="allow")
    prompt = tok.encode(begun, special="allow")
    for _ in range(3):
        events, parsed = read(tok.parse_stream(template="qwen", prompt=prompt), ids)
        (done,) = [it.done for part in events for it in part if it.kind == "call_end"]
        assert (done,) == parsed.calls == (ParsedCall("get_weather", {"city": "Vik"}),)


@pytest.mark.medium
def test_marks_are_found_as_their_expressions_find_them() -> None:
    rng = random.Random(6)
    for format in FORMATS.values():
        states = compiled(format, {}, ["<|im_end|>"]).states.values()
        for _ in range(30):
            text = "".join(answer(rng, format.name) for _ in range(rng.choice((1, 4))))
            text, at = text[: rng.randrange(len(text) + 1)], rng.randrange(9)
            for state in states:
                for last, expression in ((False, state.expression), (True, state.last_expression)):
                    found, expected = state.mark(text, at, last=last), expression.search(text, at)
                    assert (found and found.span()) == (expected and expected.span())
                expected = state.tail_expression.search(text, at)
                assert state.tail(text, at) == (expected.start() if expected else len(text))


CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Vik", "days": [1, 2]}}\n</tool_call>'
XML = (
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Vik, by the sea</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>12</arg_value>\n</tool_call>"
)
READ = {
    # an answer, and the tokens that the machine reads although they have been read before
    "words": ("hermes", "Well, 3 < 4.\n\nIt is 你好 and 🙂.\n" * 9, 0),
    "reasoning and words": ("hermes", "<think>\nHm, so.\n</think>\n\nYes.\n", 0),
    "channels": (
        "gpt-oss",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>So.",
        0,
    ),
    "a call as JSON": ("hermes", f"I look.\n{CALL}", 0),
    "calls as JSON": ("hermes", f"{CALL}\n{CALL}\n{CALL}", 0),
    "calls as marks": ("glm", XML + XML, 0),
    "a call as Python": ("lfm2", "<|tool_call_start|>[get_weather(city='a\\nb c')]", 5),
}


@pytest.mark.parametrize("name", READ)
def test_the_machine_reads_little_that_was_read_before(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    format, text, least = READ[name]
    tok = byte_level("".join(MARKS))
    ids = tok.encode(text, special="allow")
    fed: list[str] = []
    feed = Machine.feed

    def counted(machine: Machine, text: str) -> None:
        fed.append(text)
        feed(machine, text)

    first = read(tok.parse_stream(format=format, tools=[WEATHER]), ids)
    monkeypatch.setattr(Machine, "feed", counted)
    assert read(tok.parse_stream(format=format, tools=[WEATHER]), ids) == first
    assert len(fed) <= least, fed


@pytest.mark.medium
def test_nothing_that_a_model_wrote_outlives_its_answer() -> None:
    """Places hold words of formats and tools, steps the text of one token."""
    tok, rng = of_long_tokens(), random.Random(9)
    secret = "Zyzzyva 4711 Qwxjk"
    seen = 0
    shown = {name: "".join(it[0] for it in WRITTEN[name]) for name in FORMATS}
    for format in FORMATS:
        for _ in range(3):
            text = "".join(
                secret.join(piece for piece in re.split(r"(Bergen|abc|Hm|So|city)", it) if piece)
                for it in (shown[format], answer(rng, format))
            )
            stream = tok.parse_stream(format=format, tools=[WEATHER])
            read(stream, ids_of(rng, tok, text))
            kept = [*stream._places._places.values()]
            seen += len(kept)
            for place in kept:
                assert not re.search(r"Zy|47|Qw", repr(place.where)), place.where
                steps = [*place.values(), *place.of_calls.values()]
                texts = [it.text for it in steps] + [it.text for it in place.known.values()]
                for text in texts:
                    assert len(text) < 10 or re.sub(r"\ufffd|\[unknown id \d+\]", "", text) in [
                        "",
                        *MARKS,
                    ]
                for said in [said for it in steps for said in it.events]:
                    assert not re.search(r"Zyzzyva|4711", said.text) and said.done is None
    assert seen > 100


def test_learnt_steps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    tok, rng = of_long_tokens(), random.Random(2)
    monkeypatch.setattr(places, "_MAX_PLACES", 20)
    monkeypatch.setattr(places, "_MAX_STEPS", 60)
    shared = Places()
    for _ in range(60):
        ids = ids_of(rng, tok, answer(rng, "hermes"))
        expected = read_plainly(tok.parse_stream(format="hermes", tools=[WEATHER]), ids)
        stream = tok.parse_stream(format="hermes", tools=[WEATHER])
        stream._places, stream._place = shared, NOWHERE
        events = []
        for id in ids:
            events.append(stream.push(id))
            assert len(shared._places) <= 20
            kept: list[dict[Any, Any]] = [*shared._places.values(), *shared._known.values()]
            kept += [it.of_calls for it in shared._places.values()]
            assert sum(map(len, kept)) <= 60
        assert ([*events, stream.finish()], stream.parsed) == expected


class _Forgetting(str):
    """A text with whose second hash another thread forgets all places."""

    hashes = 0
    forget: Callable[[], None]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        self.hashes += 1
        if self.hashes == 2:
            self.forget()
        return id(self)


def test_a_place_or_step_added_while_all_are_forgotten_is_not_kept() -> None:
    shared, text = Places(), _Forgetting("a")
    text.forget = shared._forget
    where = NOWHERE.where._replace(state="start", held=text)
    place = shared.at(where, b"", places.Continuation)
    assert place.is_forgotten and not shared._places
    assert not shared.at(where, b"", places.Continuation).is_forgotten
    for events in ((), (event("call", "f", 0),)):
        first, last = (
            shared.at(where._replace(held=held), b"", places.Continuation) for held in ("", "b")
        )
        key = _Forgetting("c")
        key.forget, key.hashes = shared._forget, 1
        shared.learn(first, key, places.Step(events, "c", last))
        assert not first and not first.of_calls and first.is_forgotten


@pytest.mark.medium
def test_streams_of_many_threads_share_what_they_learn() -> None:
    tok, rng = of_long_tokens().replace(), random.Random(3)
    jobs = [(it, ids_of(rng, tok, answer(rng, it))) for it in [*FORMATS] * 3]
    expected = [read_plainly(tok.parse_stream(format=it), ids) for it, ids in jobs]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda job: read(tok.parse_stream(format=job[0]), job[1]), jobs * 4)
    assert [*found] == expected * 4


VALUE = "<tool_call:opensource>¦f¦<tool_sep:opensource>¦\n¦<arg_key:opensource>¦a¦</arg_key:opensource>¦\n¦"
AFTER = {
    # a format, an answer that was read before, and one that is read; `¦` is between tokens
    "two calls in one token": (
        "hermes", '<tool_call>¦{"name":"f"},{"name":"g"}', '<tool_call>¦{"name":"f"},{"name":"g"}',
    ),
    "two calls in one token, in Python's syntax": (
        "lfm2", "<|tool_call_start|>¦[f(),g()]", "<|tool_call_start|>¦[f(),g()]",
    ),
    "a call in an object": (
        "hermes",
        '<tool_call>¦{"name":"f","arguments":¦{"a":¦1¦}}¦\n¦</tool_call>',
        '<tool_call>¦{"type":"function","function":¦{"name":"f","arguments":¦{"a":¦1¦}}¦}¦</tool_call>',
    ),
    "a call in a list": (
        "hermes",
        '<tool_call>¦[¦{"name":"f","arguments":¦{"a":¦1¦}}]¦</tool_call>',
        '<tool_call>¦{"name":"f","arguments":¦{"a":¦1¦}}]¦</tool_call>',
    ),
    "quotes at the beginning of a string": (
        "lfm2", '<|tool_call_start|>¦[f(a=¦"¦b¦""c¦")]', '<|tool_call_start|>¦[f(a=¦"¦""c¦")]',
    ),
    "a mark of plain text in front of a token": (
        "hunyuan",
        f"<tool_calls:opensource>¦\n¦{VALUE}<arg_value:opensource>¦1¦<arg_key:opensource>",
        f"<tool_calls:opensource>¦\n¦{VALUE}<arg_value:opensource>¦1¦</arg_value:opensource>\n¦"
        "<arg_key:opensource>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AFTER)
def test_what_was_read_before_decides_nothing(name: str) -> None:
    format, before, after = AFTER[name]
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": ["integer", "string"]}}}}]
    tokens = [*dict.fromkeys([*before.split("¦"), *after.split("¦")])]
    marks = [it for it in tokens if it in MARKS]
    ranks = {bytes([byte]): byte for byte in range(256)}
    for it in tokens:
        ranks.setdefault(it.encode(), len(ranks))
    tok = jeton.Tokenizer.from_ranks(
        ranks,
        pattern="gpt2",
        special_tokens={it: len(ranks) + number for number, it in enumerate(marks)},
    )
    ids_before, ids = (
        [tok.special_tokens.get(it, ranks[it.encode()]) for it in text.split("¦")]
        for text in (before, after)
    )
    stream = functools.partial(tok.parse_stream, format=format, tools=tools)
    expected = read_plainly(stream(), ids)
    for _ in range(2):
        read(stream(), ids_before)
        assert read(stream(), ids) == expected
