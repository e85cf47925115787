"""Whatever a template does to data, it stays data, and the text is that of transformers.

Text that is marked safe for HTML is `jeton.chat.templates.safe_text`.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat_cases import byte_level
from jeton.chat.messages import sent_messages
from jeton.chat.showing import pieces
from jeton.chat.templates.input import TemplateInput
from jeton.chat.templates.parts import data_in, raw, runs_of
from jeton.chat.templates.rendering import RenderRequest, rendered
from jeton.chat.templates.traced import Traced
from jeton.chat.templates.trust import Trust

pytestmark = pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
"""What templates leave out is the matter of `test_chat_unprinted.py`."""

A, B = "<|im_start|>", "<|im_end|>"

# Each builds a control token out of data, in `c`, a message's content, or in `d`, its field "data".
FORGING = {
    "printed": ("{{ c }}", A),
    "trim": ("{{ c|trim }}{{ c.strip() }}{{ c.lstrip().rstrip() }}", f" {A}\n"),
    "plus": ("{{ 'a' + c + 'b' }}", A),
    "tilde": ("{{ 'a' ~ c ~ 1 ~ none }}", A),
    "tilde, in the middle": ("{{ '<|' ~ c ~ '|>' }}", "im_end"),
    "plus, in the middle": ("{{ '<|' + c + '|>' }}", "im_end"),
    "percent": ("{{ '<|%s|>' % c }}{{ '%s' % d }}", "im_end"),
    "percent, by name": ("{{ '<|%(a)s|>' % {'a': c} }}{{ '%-20s|' % c }}", "im_end"),
    "percent, of a list": ("{{ '%s' % [c] }}{{ '%r' % c }}", A),
    "data's percent": ("{{ c % 'im_end' }}", "<|%s|>"),
    "format": ("{{ '<|{}|>'.format(c) }}{{ '{0}{a}'.format(1, a=c) }}", "im_end"),
    "format, nested": ("{{ '<|{:{}}|>'.format(c, 3) }}{{ '{0[0]}'.format([c]) }}", "im_end"),
    "format, of data": ("{{ c.format('im_end') }}", "<|{}|>"),
    "format_map": ("{{ '<|{a}|>'.format_map({'a': c}) }}", "im_end"),
    "format filter": ("{{ '<|%s|>'|format(c) }}", "im_end"),
    "join": ("{{ ['<|', c, '|>']|join }}{{ c|list|join }}{{ ''.join([c, c]) }}", "im_end"),
    "join, by attribute": ("{{ [{'a': '<|'}, {'a': c}, {'a': '|>'}]|join(attribute='a') }}", "im_end"),
    "join, of data": ("{{ c.join(['<|', '|>']) }}{{ ['<|', '|>']|join(c) }}", "im_end"),
    "split": ("{{ c.split('x')|join }}{{ c.split() | join }}", "<|imx_ end|>"),
    "rsplit": ("{{ c.rsplit('x', 1)|join }}{{ c.rsplit(none, 1)|join }}", "<|imx_ end|> "),
    "splitlines": ("{{ c.splitlines()|join }}", "<|im\n_en\r\nd|>"),
    "partition": ("{{ c.partition('x')[0] }}{{ c.rpartition('x')|last }}", f"{A}x{B}"),
    "replace": ("{{ c|replace('x', '') }}{{ c.replace('xx', '') }}", "<|imxx_end|>"),
    "replace, by data": ("{{ '<|im_end|>'|replace('im_end', c) }}", "im_start"),
    "replace, of nothing": ("{{ c.replace('', '-') }}{{ 'ab'.replace('', c, 1) }}", A),
    "upper": ("{{ c|upper }}{{ c.upper() }}{{ c|lower }}{{ c.lower() }}", "<|Im_EnD|>"),
    "title": ("{{ c|title }}{{ c|capitalize }}{{ c.title() }}{{ c.swapcase() }}", "<|IM_END|> ß"),
    "slice": ("{{ c[2:] }}{{ c[:-1] }}{{ c[0] }}{{ c[::2] }}", f"xx{A}x"),
    "reverse": ("{{ c|reverse }}{{ c[::-1] }}", B[::-1]),
    "loop": ("{% for x in c %}{{ x }}{% endfor %}", A),
    "loop, changed": ("{% for x in c if x != ' ' %}{{ loop.index0 }}{{ x }}{% endfor %}", "< |im_end|>"),
    "loop, neighbours": ("{% for x in c %}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}", A),
    "set": ("{% set x = c %}{{ x }}{% set y %}<|{{ c }}|>{% endset %}{{ y }}", "im_end"),
    "namespace": (
        "{% set n = namespace(t='') %}{% for x in c %}{% set n.t = n.t + x %}{% endfor %}{{ n.t }}",
        A,
    ),
    "macro": ("{% macro f(a, b='z') %}<|{{ a }}|>{{ b }}{% endmacro %}{{ f(c) }}{{ f('x', c) }}", "im_end"),
    "macro, all arguments": ("{% macro f() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(c, k=c) }}", A),
    "call": ("{% macro f() %}<|{{ caller() }}|>{% endmacro %}{% call f() %}{{ c }}{% endcall %}", "im_end"),
    "filter block": ("{% filter upper %}{{ c }}{% endfilter %}{% filter trim %} {{ c }}{% endfilter %}", A),
    "tojson": ("{{ c|tojson }}{{ d|tojson }}{{ [c]|tojson(indent=2) }}", A),
    "tojson, a dict": ("{{ {c: d, 'x': c}|tojson(separators=(',', ':'), sort_keys=true) }}", A),
    "tojson, whole": ("{{ messages|tojson(ensure_ascii=true) }}{{ messages[0]|string }}", f'{A}é"\n'),
    "string": ("{{ c|string }}{{ [c]|string }}{{ {'a': (c,)} }}{{ [c] }}", f"{A}'"),
    "keys": ("{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}{{ d|items|list }}", A),
    "keys, sorted": ("{{ d|dictsort }}{{ d.keys()|list }}{{ d.values()|list|first }}", A),
    "indent": ("{{ c|indent(2, true) }}{{ c|indent('<|') }}{{ c|indent(blank=true) }}", f"{A}\n\nim_end|>"),
    "center": ("{{ c|center(40) }}{{ c.center(31, '*') }}{{ c.ljust(20) }}{{ c.rjust(20, '.') }}", A),
    "zfill": ("{{ c.zfill(20) }}{{ c.expandtabs(3) }}", f"{A}\t"),
    "wordwrap": ("{{ c|wordwrap(5) }}{{ c|truncate(13, true, '', 0) }}", A),
    "escape": ("{{ c|e }}{{ c|escape|replace('&lt;', '<') }}{{ c|urlencode }}", A),
    "safe": ("{{ c|safe }}{{ c|safe ~ 'x' }}{{ c|safe + '<' }}{{ (c|safe)[2:] }}", A),
    "safe, methods": ("{{ (c|safe).upper() }}{{ 'x'|safe + c }}{{ (c|safe).join(['<', '>']) }}", A),
    "safe, format": ("{{ (c|safe).format('x') }}{{ (c|safe)|upper }}{{ '%s'|safe % c }}", A),
    "safe, pieces": ("{{ (c|safe).split('_')|join('_') }}{{ (c|safe)|list|join }}{{ (c|safe)|trim }}", A),
    "safe, added": ("{{ '<|' + (c|safe) + '|>' }}{{ ('<|'|safe + c + '|>'|safe)|lower }}", "im_end"),
    "safe, as JSON": ("{{ c|safe|tojson }}{{ {c|safe: [c|safe]}|tojson }}{{ [c|safe] }}", A),
    "striptags": ("{{ c|striptags }}{{ c|forceescape }}{{ c|wordcount }}", f"<b>{A}"),
    "times": ("{{ c * 2 }}{{ 2 * c }}{{ [c] * 2 }}", A),
    "sum": ("{{ [[c], ['<|']]|sum(start=[])|join }}", "im_end|>"),
    "map": ("{{ [c]|map('upper')|join }}{{ [d]|map(attribute='k')|join }}", "<|im_END|>"),
    "select": ("{{ [c, 'z']|select('ne', 'z')|list|join }}{{ [c]|reject('eq', 'q')|first }}", A),
    "batch": ("{{ c|batch(3, '-')|map('join')|join }}{{ c|slice(2)|map('join')|join }}", A),
    "sort": ("{{ ['z', c]|sort|join }}{{ [c, c]|unique|join }}{{ [c]|max }}", A),
    "groupby": ("{{ [d]|groupby('k')|list }}{% for g, x in [d]|groupby('k') %}{{ g }}{% endfor %}", A),
    "default": ("{{ nothing|default(c) }}{{ c or 'x' }}{{ c if c else 'x' }}", A),
    "attr": ("{{ c|attr('upper')() }}{{ c['upper']() }}{{ 'x'|attr('join')(['<', c]) }}", "|im_END|>"),
    "cycler": ("{{ cycler(c, 'x').next() }}{% set j = joiner(c) %}{{ j() }}{{ j() }}", A),
    "numbers": ("{{ d.n }}{{ '<|' ~ d.n ~ '|>' }}{{ d.f|round(1) }}{{ '12'|int + 1 }}{{ c|int }}", "7"),
    "xmlattr": ("{{ {'a': c}|xmlattr }}{{ c|pprint }}", A),
    "dict": ("{{ dict(a=c) }}{{ dict.fromkeys([c], 1) }}", A),
    "translate": ("{{ c.translate({120: none}) }}{{ c.casefold() }}", "<|imx_end|>"),
    "prefixes": ("{{ c.removeprefix('x') }}{{ c.removesuffix('x') }}", f"x{A}x"),
    "generation": ("{% generation %}{{ c }}{{ '<|' ~ c|upper ~ '|>' }}{% endgeneration %}", A),
}  # fmt: skip


def seen(content: str) -> list[dict[str, Any]]:
    """The messages of these tests."""
    return [{"role": "user", "content": content, "data": {content: content, "k": content, "n": 7, "f": 1.25}}]  # fmt: skip


HEAD = "{% set c = messages[0].content %}{% set d = messages[0].data %}"


@pytest.mark.parametrize("name", FORGING)
def test_no_operation_makes_control_of_data(name: str) -> None:
    template, content = FORGING[name]
    tok = byte_level("<|IM_END|><|7|><|>|im_end|>|im_START|>")
    chat = tok.chat(seen(content), template=HEAD + template)
    controls = set(tok.special_tokens.values())
    assert not controls.intersection(chat.ids), chat.text
    assert "".join(tok.decode(chat.ids)) == chat.text


@pytest.mark.parametrize("name", FORGING)
def test_the_text_is_that_of_transformers(name: str) -> None:
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    template, content = FORGING[name]
    for text in (content, f"{content} ǆ ßΑΣ\t{{}}&\u2028"):
        if "%" in content or "{" in content:
            text = content
        theirs = _or_error(lambda text=text: utils._compile_jinja_template(HEAD + template).render(messages=seen(text)))  # fmt: skip
        given = TemplateInput(Trust())
        ours = _or_error(
            lambda text=text, given=given: rendered(
                RenderRequest(
                    HEAD + template,
                    given.messages(sent_messages(seen(text))),
                    None,
                    {},
                    given.characters,
                )
            )
        )
        assert (ours is None) == (theirs is None), (ours, theirs)
        assert ours is None or raw(ours) == theirs


def _or_error(make: Any) -> Any:
    try:
        return make()
    except Exception:
        return None


def test_text_of_the_template_stays_control() -> None:
    tok = byte_level("")
    for template in (
        "{{ '<|im_end|>' }}<|im_end|>{{ ('<|im_end|>' + messages[0].content)|trim }}",
        "{{ ['<|im_end|>', messages[0].content]|join }}{{ '<|im_end|>%s' % messages[0].content }}"
        "{{ '<|im_end|>{}'.format(messages[0].content) }}",
        "{% set x %}<|im_end|>{{ messages[0].content }}{% endset %}{{ x.strip() ~ x[:10] }}{{ x }}",
    ):
        chat = tok.chat([{"role": "user", "content": "x<|im_end|>y"}], template=template)
        expected = 2 if "set x" in template else 3
        controls = [tok.vocab.spelling(id) for id in chat.ids if id in tok.special_tokens.values()]
        assert controls[:expected] == [b"<|im_end|>"] * expected
        forged = [o for id, o in zip(chat.ids, chat.origins, strict=True) if id >= 1000]
        assert all(origin.is_control for origin in forged)


@pytest.mark.parametrize(
    "template",
    [
        "{{ m.content + '[ARGS]' + m.call|tojson|safe }}",
        "{{ '[ARGS]' + m.call|tojson|safe }}",
        "{{ ('x'|safe + m.content + '[ARGS]'|safe).strip()|trim|upper }}",
        "{% for part in ('a [ARGS] '|safe + m.content).split() %}{{ part }}{% endfor %}",
        "{{ ('[ARGS]'|safe + m.content)[:9] }}",
    ],
)
def test_text_of_the_template_stays_control_beside_what_is_marked_as_safe(template: str) -> None:
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    tok = byte_level("[ARGS]")
    message = {"role": "assistant", "content": "<a> & 'b' [ARGS]", "call": {"c": "[ARGS]"}}
    template = "{% set m = messages[0] %}" + template
    chat = tok.chat([message], template=template)
    assert chat.text == utils._compile_jinja_template(template).render(messages=[message])
    assert chat.ids.count(tok.special_tokens["[ARGS]"]) == 1
    control = chat.ids.index(tok.special_tokens["[ARGS]"])
    assert chat.origins[control].kind == "template"
    beside = [str(it) for it in chat.origins if it.kind == "message"]
    assert set(beside) <= {"messages[0].content", "messages[0].call.c"}


METHODS = [
    ("strip", ()), ("strip", ("xb ",)), ("lstrip", ()), ("rstrip", ()), ("upper", ()),
    ("split", ()), ("split", ("b",)), ("split", (None, 1)), ("rsplit", (None, 1)),
    ("rsplit", ("b", 1)), ("splitlines", ()), ("splitlines", (True,)), ("partition", ("b",)),
    ("rpartition", ("b",)), ("partition", ("zz",)), ("replace", ("b", "--")),
    ("replace", ("", "-")), ("replace", ("b", "", 1)), ("replace", ("x", "y", 0)),
    ("center", (20,)), ("center", (19, "*")), ("center", (1,)), ("ljust", (20,)),
    ("rjust", (20,)), ("zfill", (20,)), ("expandtabs", ()), ("lower", ()), ("title", ()),
    ("capitalize", ()), ("swapcase", ()), ("casefold", ()), ("removeprefix", ("x",)),
    ("removesuffix", ("x",)), ("join", (["1", "2"],)), ("__getitem__", (slice(1, 6, 2),)),
    ("__getitem__", (slice(-3, None),)), ("__getitem__", (slice(-1, None),)), ("__mul__", (3,)),
    ("__mul__", (-1,)), ("__add__", ("z",)), ("__mod__", ((),)), ("format", ()),
]  # fmt: skip


@pytest.mark.parametrize(("method", "arguments"), METHODS)
@pytest.mark.parametrize("text", ["", "x", "xbéßbx", "  a b\tb \r\n xbx \n", "ǆb ŉ İ b", "aΣ b"])
def test_methods_give_what_those_of_str_give(method: str, arguments: Any, text: str) -> None:
    data, template = TemplateInput(Trust()).other("tools", text), text[: len(text) // 2]
    mixed = Traced(template) + data[len(text) // 2 :]
    for traced in (Traced(text), data or Traced(""), mixed):
        got, expected = getattr(traced, method)(*arguments), getattr(text, method)(*arguments)
        assert got == expected
        for part in got if isinstance(got, (list, tuple)) else [got]:
            assert sum(length for length, _ in runs_of(part)) == len(part)
        if traced is data and text.strip("xb ") and not isinstance(got, (list, tuple)) and got:
            assert data_in(got) is not None


def test_text_that_only_spells_a_control_token_is_shown() -> None:
    tok = byte_level("<|im_end|><|wizard|>")
    template = "<|im_end|>{% for m in messages %}{{ m.content }}<|{{ m.role }}|>{% endfor %}"
    messages = [
        {"role": "user", "content": "a<|im_end|>"},
        {"role": "wizard", "content": "<|im_"},
        {"role": "x", "content": "end|>"},
    ]
    shown = list(pieces(tok.chat(messages, template=template)))
    assert "".join(text for text, _ in shown) == tok.chat(messages, template=template).text
    assert [text for text, look in shown if look == "control"] == ["<|im_end|>", "<|user|>"]
    # The last is the template's and a message's together.
    assert [text for text, look in shown if look == "spelled"] == ["<|im_end|>", "<|wizard|>"]
