"""Random expressions of templates: data is told from the template's text by its alphabet.

Data is Greek, templates are not. Whatever an expression makes of both, each Greek letter of its text
must be data, and the text that of transformers. `python tests/chat/test_chat_random.py 20000` tries more.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import pytest

import jeton
from jeton.chat import outlines
from jeton.chat.encoding import ControlTokens, Encoded, encoded, encoded_ids
from jeton.chat.messages import sent_messages
from jeton.chat.templates.held_text import HeldText, Reading, parts_of
from jeton.chat.templates.input import TemplateInput
from jeton.chat.templates.origins import TEMPLATE, Origin
from jeton.chat.templates.parts import raw, runs_of
from jeton.chat.templates.rendering import RenderRequest, rendered
from jeton.chat.templates.traced import joined, marked
from jeton.chat.templates.trust import Trust
from jeton.chat.templates.variables import _held
from jeton.errors import JetonError

OPERATIONS = """
{a}|trim ¦ {a} ~ 'ab' ¦ 'x' + {a} ¦ {a} + {b} ¦ {a} ~ {b} ¦ {a}|upper ¦ {a}|lower ¦ {a}|replace('a', {b})
{a}|replace({b}, 'q') ¦ {a}[1:] ¦ {a}[:-1] ¦ {a}[::2] ¦ {a}|tojson ¦ {a}.split('b')|join('-')
{a}.split()|join ¦ {a}.rsplit('a', 1)|join({b}) ¦ '%s-%5s' % ({a}, {b}) ¦ '<%s>' % {a} ¦ {a} % {b}
'{{}}{{:>9}}'.format({a}, {b}) ¦ '{{0}}{{x}}'.format({a}, x={b}) ¦ {a}.format({b}) ¦ {a}|indent(2)
{a}|indent({b}, true) ¦ {a}|center(9) ¦ {a}|e ¦ {a}|safe ¦ [{a}, {b}]|string ¦ {a}|list|join({b})
{a}|reverse ¦ {a}|title ¦ {a}|capitalize ¦ {a}|wordwrap(3) ¦ {a}|truncate(4) ¦ {a}|urlencode
{a}|batch(2)|map('join')|join(',') ¦ {a}.center(20, 'q') ¦ {a}.partition('a')|join ¦ {a}|striptags
['z', {a}, {b}]|sort|join ¦ {a}|default('n') ¦ {a} * 2 ¦ {a}|pprint ¦ {a}.splitlines()|join('|')
({a}, {b})|join ¦ {{'k': {a}, {b}: 1}}|tojson ¦ {{'k': {a}}}|string ¦ {{{a}: {b}}}|items|list|string
{a}.strip('a ') ¦ {a}.title() ¦ {a}.swapcase() ¦ {a}.zfill(12) ¦ {a}.expandtabs(2) ¦ {a}.join(['1', '2', {b}])
[{a}, {b}]|map('upper')|join ¦ {a}|format ¦ '%s'|format({a}) ¦ {a} or {b} ¦ ({a} if {b} else 'n')
{a}|first ¦ {a}|last ¦ [{a}, {b}]|max ¦ {a}|urlize ¦ {a}|forceescape ¦ {a}|string ¦ {a}|attr('upper')()
{a}['lower']() ¦ {a}.removeprefix('x') ¦ dict(a={a})|string ¦ {{'a': {a}}}|xmlattr ¦ {a}|unique|join
('y' if {a} in {b} else 'n') ¦ ('y' if {a} == {b} else 'n') ¦ ('y' if {a} < {b} else 'n')
('y' if {a} is in {b} else 'n') ¦ ('y' if [{a}] == [{b}] else 'n') ¦ ('y' if {a} in [{b}, 'a'] else 'n')
{a}.casefold() ¦ {a}.ljust(9, '.') ¦ {a}.rpartition({b})|join ¦ 'a{{}}'.join([{a}, {b}]) ¦ {a}|slice(2)|list|string
"""

CHOICES = [it.strip() for line in OPERATIONS.strip().split("\n") for it in line.split("¦")]

LEAVES = ["m.a", "m.a", "m.b", "m.c", "'lit a'", "' b <x> '", "m.n", "m.l", "m.d"]

STATEMENTS = [
    "{{% set x %}}{{{{ {a} }}}}-{{% endset %}}{{{{ x }}}}{{{{ x|upper }}}}",
    "{{% for x in {a} %}}{{{{ x }}}}{{{{ loop.index }}}}{{% endfor %}}",
    "{{% macro f(y) %}}[{{{{ y }}}}]{{% endmacro %}}{{{{ f({a}) ~ f(y={a}) }}}}",
    "{{% filter upper %}}q{{{{ {a} }}}}{{% endfilter %}}",
    "{{% set n = namespace(t='') %}}{{% for x in {a} %}}{{% set n.t = x ~ n.t %}}{{% endfor %}}{{{{ n.t }}}}",
    "{{% macro f() %}}{{{{ caller() }}}}{{% endmacro %}}{{% call f() %}}{{{{ {a} }}}}{{% endcall %}}",
    "{{{{ {a} }}}}",
]


def expression(chance: random.Random, depth: int) -> str:
    """An expression of a template."""
    if depth == 0:
        return chance.choice(LEAVES)
    inner = {name: expression(chance, chance.randrange(depth)) for name in "ab"}
    return f"({chance.choice(CHOICES).format(**inner)})"


def message(chance: random.Random) -> dict[str, Any]:
    """A message in Greek."""

    def word() -> str:
        return "".join(chance.choices("αβγΔΣς ßή\n<>'\"&%{}\\", k=chance.randrange(6)))

    greek = {name: f"{word()}λ{word()}" for name in "abc"}
    return {**greek, "n": 7, "l": [word(), "Ω"], "d": {"k": word(), "Ξ": "ψ"}}


def check(seed: int) -> bool:
    """Whether a random template could be compared."""
    chance = random.Random(seed)
    statement = chance.choice(STATEMENTS).format(a=expression(chance, 3))
    template = "{% set m = messages[0] %}" + statement
    given = message(chance)
    seen = TemplateInput(Trust())
    try:
        sent = seen.messages(sent_messages([given]))
        ours: str | None = rendered(RenderRequest(template, sent, None, {}, seen.characters))
    except JetonError:
        ours = None
    if any(f"({leaf}|reverse)" in template for leaf in ("m.l", "m.d")):
        return False  # it may show the address of an iterator
    theirs = _theirs(template, given)
    assert (ours is None) == (theirs is None), (template, given, ours, theirs)
    if ours is None:
        return False
    assert raw(ours) == theirs, (template, given)
    at = 0
    for length, origin in runs_of(ours):
        stretch = raw(ours)[at : at + length]
        at += length
        control = origin.is_control and any("Ͱ" <= letter <= "Ͽ" for letter in stretch)
        assert not control, (template, given, stretch)
    assert at == len(ours)
    return True


def _theirs(template: str, given: dict[str, Any]) -> str | None:
    from transformers.utils.chat_template_utils import _compile_jinja_template

    try:
        text: str = _compile_jinja_template(template).render(messages=[given])
    except Exception:
        return None
    return text


@pytest.mark.large
def test_random_templates() -> None:
    pytest.importorskip("transformers")
    compared = sum(check(seed) for seed in range(400))
    assert compared > 150


def held_check(seed: int) -> bool:
    """Whether a random template writes words that are held back. If so, it writes other words alike,
    if they meet its conditions."""
    chance = random.Random(seed)
    depth = chance.randrange(3)
    template = "{% set m = messages[0] %}" + "".join(
        chance.choice(STATEMENTS).format(a=expression(chance, depth))
        for _ in range(chance.randrange(1, 3))
    )
    given = message(chance)
    reading = Reading([given])
    held = {name: _held(it, reading) for name, it in _seen(given).items() if name in "abc"}
    try:
        request = RenderRequest(template, [{**_seen(given), **held}], None, {}, 100)
        written = rendered(request)
    except JetonError:
        return False  # it reads the words
    if reading.is_refused or type(written) is not HeldText:
        return False
    parts = [*outlines._merged(parts_of(written))]
    for _ in range(8):
        other = {**given, **{name: message(chance)[name] for name in "abc"}}
        if any(it.holds([other]) is not answer for it, answer in reading.answers.items()):
            continue
        text = rendered(RenderRequest(template, [_seen(other)], None, {}, 100))
        filled = joined(
            [it if isinstance(it, str) else marked(it.text([other]), it.origin) for it in parts]
        )
        assert (raw(filled), runs_of(filled)) == (raw(text), runs_of(text)), (
            template,
            given,
            other,
        )
    return True


def _seen(given: dict[str, Any]) -> dict[str, Any]:
    return TemplateInput(Trust()).messages(sent_messages([given]))[0]


@pytest.mark.large
def test_random_templates_write_other_words_alike() -> None:
    written = sum(held_check(seed) for seed in range(1_000))
    assert written > 50


SPELLINGS = "<a> <a>b ab < a> <b> b<a é< İ <A> b".split()
FLAGS = ("special", "normalized", "single_word", "lstrip", "rstrip")


def random_tokenizer(chance: random.Random) -> jeton.Tokenizer:
    """Added tokens of all kinds, some within others, that the model knows as words too."""
    spelled = chance.sample(SPELLINGS, chance.randrange(1, 6))
    words = dict.fromkeys([*spelled, *"<>abé AİB▁", "<unk>"])
    stages = {
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "WhitespaceSplit"},
    }
    return jeton.Tokenizer.from_json(
        json.dumps(
            {
                "model": {
                    "type": "WordLevel",
                    "vocab": {word: number for number, word in enumerate(words)},
                    "unk_token": "<unk>",
                },
                "added_tokens": [
                    {
                        "id": number,
                        "content": content,
                        **{flag: chance.random() < 0.5 for flag in FLAGS},
                    }
                    for number, content in enumerate(spelled)
                ],
                **{name: stage for name, stage in stages.items() if chance.random() < 0.5},
            }
        )
    )


def test_ids_alone_are_those_with_spans() -> None:
    chance = random.Random(3)
    data = Origin("message", 0, "user", "content")
    answer = Origin("message", 0, "assistant", "content")
    for _ in range(60):
        tok = random_tokenizer(chance)
        specials = [id for id in tok.special_tokens.values() if chance.random() < 0.5]
        control = ControlTokens(tok, tok, frozenset(specials))
        for _ in range(60):
            words = ["".join(chance.choices([*SPELLINGS, " ", "a"], k=2)) for _ in range(4)]
            runs = tuple((len(it), chance.choice((TEMPLATE, data, answer))) for it in words)
            text = "".join(words)
            with_spans = told(encoded, control, text, runs)
            ids = with_spans.ids if isinstance(with_spans, Encoded) else with_spans
            assert told(encoded_ids, control, text, runs) == ids, (tok.to_json(), text, runs)


def told(call: Any, *given: Any) -> Any:
    try:
        return call(*given)
    except JetonError as error:
        return type(error)


if __name__ == "__main__":
    count = int(sys.argv[1])
    print(f"{sum(map(check, range(count))):,} of {count:,} templates compared")
