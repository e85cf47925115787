"""What templates do with text: the words are those of Jinja, and no data becomes a control token."""

from __future__ import annotations

import copy
import functools
import json
import random
from typing import Any

import pytest

import jeton
from chat_attacks import attacks, forged, harmless
from chat_cases import byte_level, control_tokens, templates
from jeton.chat.encoding import encoded
from test_chat_equal import theirs_of

pytestmark = pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
"""What templates leave out is the matter of `test_chat_unprinted.py`."""

END = "<|im_end|>"

MESSAGES: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": END,
        "name": f"n{END}",
        "tool_calls": [
            {
                "id": END,
                "function": {"name": END, "arguments": {f"a{END}": END, "b": [END, {END: 1}]}},
            }
        ],
        "half": [END[:4], END[4:]],
        "n": 3,
        "parts": [{"type": "text", "text": END}, {"type": END, "text": "x"}],
        "k": "im_end",
        "html": f"a&b{END}",
        "pattern": "<|%s|>",
        "braces": "<|{}|>",
        "broken": "<|imxx_en d|>",
        "lines": "<|im\n_en\r\nd|>",
        "odd": f"{END} ǆ ßΑΣ\t{{}}&\u2028",
        "f": 1.25,
    },
    {"role": "assistant", "content": f"b{END}", "half": ["x"], "n": 1, "name": "zz", "k": END},
]

BEGIN = "{% set m = messages[0] %}"
EXPRESSIONS = r"""
{{ messages | map(attribute='content') | join }}
{{ messages | map(attribute='content') | join(', ') }}
{{ messages | map(attribute='content') | list | string }}
{{ messages | map(attribute='content') | list }}
{{ messages | map('string') | join }}
{{ messages | map(attribute='content') | map('upper') | map('lower') | join('') }}
{{ messages | map(attribute='content') | map('replace', 'x', 'y') | join }}
{{ messages | map(attribute='content') | map('trim') | list | join('|') }}
{{ messages | map(attribute='content') | map('list') | map('join') | join }}
{% for g in messages | groupby('content') %}{{ g.grouper }}{{ g.list | length }}{% endfor %}
{% for a, b in messages | groupby('k') %}{{ a }}{% endfor %}
{% for a, b in messages | groupby('k', case_sensitive=false, default='') %}{{ a }}{% endfor %}
{{ messages | groupby('name') }}
{{ m | tojson }}
{{ m | tojson(indent=2) }}
{{ m.tool_calls | tojson(indent=4) }}
{{ m.tool_calls[0].function.arguments | tojson(ensure_ascii=True) }}
{{ m.tool_calls[0].function.arguments | tojson(separators=(',', ':')) }}
{{ m.tool_calls[0].function.arguments | tojson(sort_keys=True) }}
{{ {'a': m.content} | xmlattr }}
{{ {m.k: 'x', 'z': m.content} | xmlattr }}
{{ {m.k: 'x'} | xmlattr(false) }}
{{ '%s' | format(m.content) }}
{{ '%(a)s' | format(a=m.content) }}
{{ '%10s|%-12.9s' | format(m.content, messages[1].content) }}
{{ '<|%s|>' | format(m.k) }}
{{ '<|{}|>'.format(m.k) }}
{{ '<|{0.k}|>'.format(m) }}
{{ '<|{x[k]}|>'.format(x=m) }}
{{ '{:>20}'.format(m.content) }}
{{ '{!r}'.format(m.content) }}
{{ '<|{a}|>'.format_map({'a': m.k}) }}
{{ '<|%s|>' % m.k }}
{{ '<|%(k)s|>' % m }}
{{ '<|' ~ m.k ~ '|>' }}
{{ '<|' + m.k + '|>' }}
{{ ['<|', m.k, '|>'] | join }}
{{ ''.join(['<|', m.k, '|>']) }}
{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t ~ m.content %}{% endfor %}{{ ns.t }}
{% set ns = namespace(t=[]) %}{% for m in messages %}{% set ns.t = ns.t + [m.content] %}{% endfor %}{{ ns.t | join }}{{ ns }}
{% for m in messages %}{{ loop.previtem.content if loop.previtem is defined else '' }}{{ loop.nextitem.content }}{% endfor %}
{% for m in messages %}{{ loop.cycle(m.content, 'a') }}{% endfor %}
{% for m in messages %}{{ loop }}{% endfor %}
{% for k, v in m | dictsort %}{{ k }}={{ v }}{% endfor %}
{% for k, v in m.tool_calls[0].function.arguments | dictsort %}{{ k }}={{ v }}{% endfor %}
{% for k, v in m.tool_calls[0].function.arguments | items %}{{ k }}={{ v }}{% endfor %}
{% for k, v in m.tool_calls[0].function.arguments.items() %}{{ k }}={{ v }}{% endfor %}
{% for k in m.tool_calls[0].function.arguments %}{{ k }}{% endfor %}
{{ m.tool_calls[0].function.arguments.keys() | list | join }}
{{ m.tool_calls[0].function.arguments.keys() }}
{{ m.tool_calls[0].function.arguments.values() }}
{{ m.tool_calls[0].function.arguments.items() }}
{{ m.tool_calls[0].function.arguments.get('x', m.content) }}
{{ m | string }}
{{ messages | string }}
{{ m.content | list | join }}
{{ m.content | list | reverse | list | reverse | join }}
{{ m.content | reverse | reverse }}
{{ m.content[::-1][::-1] }}
{{ m.content[::-1] | reverse }}
{{ m.content[::2] ~ m.content[1::2] }}
{{ m.content[-10:] }}{{ m.content[0] ~ m.content[1:] }}
{% set c = m.content %}{% for i in range(c|length) %}{{ c[i] }}{% endfor %}
{% set c = m.content %}{% for i in range(c|length) %}{{ c[i:i+1] }}{% endfor %}
{{ m.content | replace('|', '|') }}
{{ 'abc' | replace('b', m.content) }}
{{ 'abc'.replace('b', m.content) }}
{{ '<|x|>' | replace('x', m.k) }}
{{ '<|x|>'.replace('x', m.k) }}
{{ m.content.replace('|', '') | replace('<', '<|') | replace('>', '|>') }}
{{ m.content.split('|') | join('|') }}
{{ '|'.join(m.content.split('|')) }}
{{ m.content.partition('im') | join }}
{{ m.content.rpartition('im') | join }}
{{ m.content.rsplit('|', 1) | join('|') }}
{{ m.content.splitlines() | join }}
{{ m.content | wordwrap(3, wrapstring='') }}
{{ m.content | truncate(4, true, '') }}{{ m.content | truncate(100) }}
{{ m.content | indent(2, true) }}
{{ ('a\\n' ~ m.content) | indent(m.content) }}
{{ 'a\\nb' | indent(m.content) }}
{{ m.content | center(30) }}
{{ m.content | title | lower }}
{{ m.content | capitalize }}
{{ m.content | urlize }}
{{ m.content | escape | replace('&lt;', '<') | replace('&gt;', '>') }}
{{ m.content | e }}
{{ m.content | safe }}
{{ m.content | forceescape }}
{{ m.html | striptags }}
{{ m.content | urlencode }}
{{ m.content | pprint }}
{{ messages | pprint }}
{{ m.content | default('x') }}{{ nothing | default(m.content) }}
{{ m.half | sum(start='') }}
{{ m.half | join }}
{{ m.half | first ~ m.half | last }}
{{ m.half[0] + m.half[1] }}
{{ messages | map(attribute='half') | sum(start=[]) | join }}
{{ messages | map(attribute='half.0') | join }}
{{ messages | sum(attribute='half', start=[]) | join }}
{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | first }}
{{ messages | rejectattr('role', 'in', ['x']) | map(attribute='content') | list | last }}
{{ messages | map(attribute='content') | select('string') | max }}
{{ messages | map(attribute='content') | min }}
{{ messages | map(attribute='content') | sort | join }}
{{ messages | sort(attribute='content') | map(attribute='content') | join }}
{{ messages | map(attribute='content') | unique | join }}
{{ messages | batch(1) | list }}
{{ messages | slice(2) | list }}
{{ m.content | batch(2) | map('join') | join }}
{{ m.content | slice(3) | map('join') | join }}
{{ (m.content | attr('strip'))() }}
{{ m.content * 2 }}{{ 2 * m.content }}
{{ (m.half * 2) | join }}
{{ m.content or 'x' }}{{ m.content and m.content }}
{{ m.content if true else '' }}
{% set x %}{{ m.content }}{% endset %}{{ x }}
{% set x | upper | lower %}{{ m.content }}{% endset %}{{ x }}
{% filter upper %}{{ m.content }}{% endfilter %}
{% filter lower %}{{ m.content | upper }}{% endfilter %}
{% macro f(x) %}{{ x }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(m.content, m.k, z=m.content) }}
{% macro f(x=m.content) %}{{ x }}{% endmacro %}{{ f() }}{{ f() | upper | lower }}
{% macro f() %}{{ caller(m.content) }}{% endmacro %}{% call(x) f() %}{{ x }}{% endcall %}
{% for m in messages recursive %}{{ m.content }}{% if m.n == 3 %}{{ loop([messages[1]]) }}{% endif %}{% endfor %}
{% with x = m.content %}{{ x }}{% endwith %}
{{ {m.content: 1} }}{{ {m.content: 1} | list | first }}
{{ (m.content,) }}{{ [m.content] }}
{{ cycler(m.content, 'a').next() }}
{% set j = joiner(m.content) %}{{ j() }}{{ j() }}
<|{{ m.k }}|>
{{ m.content.translate({97: 98}) }}
{{ m.content.expandtabs() }}{{ m.content.zfill(20) }}{{ m.content.ljust(20, m.content[0]) }}{{ 'a'.center(20, m.content[0]) }}
{{ m.content.casefold() }}{{ m.content.swapcase().swapcase() }}
{{ m.content.removeprefix('<') }}{{ ('<' + m.content).removeprefix('<') }}
{{ 'x'.join(m.content) | replace('x', '') }}
{{ ''.join(m.content) }}
{{ ''.join(messages | map(attribute='content')) }}
{{ m.content.join(['', '', '']) }}
{{ ['a', 'b'] | join(m.content) }}
{{ m.content.__str__() }}
{{ m.content | int }}{{ m.n | string }}{{ m.content | float }}
{{ m.content | wordcount }}{{ m.content | length }}
{{ m.tool_calls[0].function.arguments | xmlattr }}
{{ m.parts | map(attribute='text') | join }}{{ m.parts | map(attribute='type') | join }}
{{ m['con' ~ 'tent'] }}{{ m.get('content') }}
{% set d = {} %}{{ d | default(m.content, true) }}
{{ [m.content, 'a'] | sort | first }}{{ [m.content] | map('default', 'z') | first }}
{{ namespace(a=m.content).a }}{{ namespace(**m).content }}
{{ m.content is string and m.content }}
{% for x in m.content %}{{ x }}{% endfor %}
{% for x in m.content if x != 'q' %}{{ x }}{% endfor %}
{% for x, y in [m.half] %}{{ x }}{{ y }}{% endfor %}
{% for c in (m.content ~ '')|list %}{{ loop.previtem | default('') }}{% if loop.last %}{{ c }}{% endif %}{% endfor %}
{{ m.items() | list }}{{ m.items() | map('last') | map('string') | join }}
{{ m | items | map('join') | join }}
{{ m.values() | list | tojson }}
{{ strftime_now(m.content) }}
{{ (m.content ~ '%Y') | string }}
{{ m.content < 'z' }}{{ m.content == '<|im_end|>' and m.content }}
{{ m.content | list | unique | join }}{{ m.content | map('lower') | join }}{{ m.content | select | join }}{{ m.content | sort | join }}
{{ m.content | map('upper') | map('lower') | join }}
{{ m.half | map('trim') | join }}{{ m.half | map('string') | join }}{{ m.half | map('replace', 'q', '') | join }}
{{ m.half | map('format') | join }}{{ m.half | map('indent') | join }}
{{ m.half | map('center', 1) | join }}{{ m.half | map('e') | join }}{{ m.half | map('safe') | join }}
{{ m.half | map('striptags') | join }}{{ m.half | map('wordwrap') | join }}{{ m.half | map('truncate') | join }}
{{ (m.half[0] | safe) ~ (m.half[1] | safe) }}{{ (m.half[0] | safe) + m.half[1] }}{{ m.half[0] + (m.half[1] | safe) }}
{{ (m.half | map('safe') | list) | join }}{{ ('' | safe).join(m.half) }}{{ ('%s%s' | safe) % (m.half[0], m.half[1]) }}{{ ('{}{}' | safe).format(m.half[0] | safe, m.half[1] | safe) }}
{{ (m.content | safe)[:] }}{{ (m.content | safe)[::-1][::-1] }}{{ (m.content | safe).strip() }}{{ (m.content | safe).unescape() }}{{ (m.content | e).unescape() }}{{ (m.content | e).striptags() }}
{{ (m.content | safe) | list | join }}{% for c in m.content | safe %}{{ c }}{% endfor %}
{{ (m.content | safe).partition('i') | join }}{{ (m.content | safe).split('i') | join('i') }}{{ (m.content | safe) | replace('q', '') }}{{ ('a' | safe) | replace('a', m.content | safe) }}
{{ (m.content | safe) | upper | lower }}{{ (m.content | safe) * 1 }}{{ (m.content | safe) | string }}{{ [m.content | safe] | tojson }}{{ {'a': m.content | safe} }}
{{ (m.content | safe) | trim }}{{ (m.content | safe) | indent }}{{ (m.content | safe) | title | lower }}{{ (m.content | safe) | center(30) }}{{ (m.content|safe)|reverse|reverse }}
{{ (m.content|safe)|first ~ (m.content|safe)[1:] }}{{ (m.content|safe)|format }}{{ (m.content|safe).format() }}
{{ m.content | reverse | list | reverse | join }}{{ m.half | reverse | list | reverse | join }}
{{ m.content.format(1) }}{{ (m.content ~ '{}').format(m.k) }}{{ (m.content ~ '%s') % m.k }}
{{ '{0[0]}{0[1]}'.format(m.half) }}{{ '{a[0]}{a[1]}'.format_map({'a': m.half}) }}
{{ '{.content}{[content]}'.format(m, m) }}{{ '{.k}{}'.format(m, m.k) }}
{% set x = m.half %}{{ x | join }}{{ x.index(x[1]) }}{{ x.count(x[0]) }}
{{ m.content.count('i') }}{{ m.content.find('i') }}
{{ range(3) | map('string') | join(m.content) }}
{{ [[m.half[0], m.half[1]]] | map('join') | join }}
{{ messages | map(attribute='parts', default=[]) | map('string') | join }}
{{ messages | tojson | replace('x', 'y') }}{{ messages | tojson | upper | lower }}{{ (messages | tojson)[1:-1] }}
{{ messages | map('tojson') | join }}{{ messages | map(attribute='content') | map('tojson') | join }}
{% if m.content is in m.content %}{{ m.content }}{% endif %}
{%- set parts = m.content.split('_') -%}{{ parts[0] ~ '_' ~ parts[1] }}
{%- set ns = namespace(s='') -%}{% for c in m.content %}{% set ns.s = c ~ ns.s %}{% endfor %}{{ ns.s | reverse }}{{ ns.s[::-1] }}
{% generation %}{{ m.content }}{{ m.half | join }}{% endgeneration %}
{% set x = m.content %}{% set x = x.lstrip('<') %}{{ '<' + x }}{{ '<' ~ x }}
{{ ('<' ~ m.content[1:]) }}{{ m.content[:1] ~ '|im_end|>' }}{{ m.content[:-1] ~ '>' }}
{% block x %}{{ m.content }}{% endblock %}{{ self.x() }}{{ self.x() | upper | lower }}
{{ m.content | int(default=m.content) }}
{{ m.content | int(m.content) }}{{ m.content | float(m.content) }}
{{ messages | map(attribute='zz', default=m.content) | join }}
{{ ['a'] | batch(3, m.content) | list }}{{ [1,2,3,4] | slice(3, m.content) | map('join') | join }}
{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa' | truncate(15, end=m.content) }}{{ 'aa bb cc' | wordwrap(2, wrapstring=m.content) }}
{{ 'http://x.com' | urlize(target=m.content, rel=m.content) }}
{{ 'abc'.translate({98: m.content}) }}{{ 'abc'.translate('a'.maketrans('b', 'x')) }}{{ 'abc'.translate('a'.maketrans({'b': m.content})) }}
{{ m.content.find('i') }}{{ 'a_b'.split('_') | join(m.content) }}{{ 'a_b'.replace('_', m.content) }}{{ 'ab'.join([m.content]) }}
{{ 'abcdefghij'.translate(m.content) }}
{% for k, v in m | dictsort(false, 'value') if k == 'content' or k == 'k' %}{{ v }}{% endfor %}
{{ dict(m).content }}{{ dict.fromkeys([m.content], m.content) }}
{% for m in messages %}{% if loop.changed(m.content) %}{{ m.content }}{% endif %}{% endfor %}
{{ '<|reserved_' ~ m.n ~ '|>' }}{{ '%05d' % m.n }}{{ '{:05d}'.format(m.n) }}{{ '%s%s' % (m.half[0], m.half[1]) }}
{{ '{:{w}}'.format(m.content, w=20) }}{{ '{!s}{!s}'.format(m.half[0], m.half[1]) }}{{ '{!a}'.format(m.content) }}
{% for m in messages %}{{ m.content }}{% else %}x{% endfor %}
{{ m.content.splitlines(true) | join }}{{ (m.content ~ '\\n') .splitlines(true) | join }}
{% set x, y = m.half %}{{ x }}{{ y }}
{{ (m.half | list)[::-1] | reverse | join }}{{ (m.half + []) | join }}{{ ((m.half | first) ~ (m.half | last)) }}
{{ m.half | tojson | replace('", "', '') }}{{ m.half | string | replace("', '", '') }}
{{ m.half | join | list | tojson | replace('", "', '') }}
{{ m.half | pprint | replace("', '", '') }}
{{ m.half | map('tojson') | join | replace('""', '') }}
{{ ['<', '|', 'i'] | join ~ m.content[3:] }}
{{ m.content | wordwrap(1) | replace('\\n', '') }}{{ m.content | wordwrap(5, true, '') }}
{{ m.content | urlencode | replace('%3C', '<') | replace('%7C', '|') | replace('%3E', '>') }}
{{ m.content | escape | string | replace('&lt;', '<') }}
{{ (m.content | tojson(ensure_ascii=true)) }}{{ 'é' ~ m.content | tojson(ensure_ascii=true) }}
{{ m.content.title().lower() }}{{ m.content.capitalize() }}
{{ m.content.upper().lower() }}{{ m.content | upper | lower }}
{%- macro m(t) -%}{%- if t -%}{{ t[0] }}{{ m(t[1:]) }}{%- endif -%}{%- endmacro -%}{{ m(m.content) }}
{% set ns = namespace() %}{% set ns.x = m.content %}{% set ns.y = ns.x.strip() %}{{ ns.y }}{{ ns.x ~ '' }}{{ [ns.x, ''] | join }}
{% set t = m.content %}{% set t %}{{ t | trim }}{% endset %}{{ t ~ '' }}
{{ messages | selectattr('content', 'defined') | map(attribute='content') | join }}{{ messages | map(attribute='tool_calls') | select('defined') | map('first') | map(attribute='function.name') | join }}
{{ messages | map(attribute='tool_calls.0.function.name', default='') | join }}
{% for c in m.tool_calls %}{{ c.function | items | list }}{% for k, v in c.function.arguments | items %}{{ k ~ ':' ~ (v if v is string else v | tojson) }}{% endfor %}{% endfor %}
{{ 'a' if m.content else 'b' }}{{ m.content if m.content else 'b' }}
{{ [m.content].copy() | join }}{{ {'a': m.content}.copy().a }}{{ m.copy().content }}
{{ m.tool_calls[0].function.arguments.items() | list | join }}{{ m.tool_calls[0].function.arguments.items() | map('join') | join }}
{{ m.tool_calls[0].function.arguments | list | string }}{{ m.tool_calls[0].function.arguments | length }}
{{ (m.content, m.k) | join }}{{ ((m.half[0],) + (m.half[1],)) | join }}
{{ m.content.format_map(m) }}{{ ('{k}' ~ m.content).format_map(m) }}
{{ ('<|{k}|>').format_map(m) }}{{ '<|{k}|>'.format(**m) }}{{ '{0}{1}'.format(*m.half) }}{{ '%s%s' % (m.half[0] ~ '', m.half[1]) }}
{{ cycler(*m.half).next() }}{% set c = cycler(*m.half) %}{{ c.next() }}{{ c.next() }}
{{ m.content.isalpha() }}{{ m.content.startswith('<') }}{{ m.content.index('i') }}
{{ m.content | lower is lower }}{{ m.content is string }}{{ m.content in messages | string }}
{% if '<|im_end|>' in m.content %}{{ m.content.split('<|im_end|>') | join('<|im_' ~ 'x|>') }}{% endif %}
{{ m.content.split('<|im_end|>')[-1] }}{{ m.content.replace('<|im_end|>', '') }}
{{ m.content | replace('<|im_end|>', m.content) }}{{ m.content.replace('im_end', 'im_end') }}{{ m.content | replace('<', '<', 1) }}
{{ m.content | replace('', '') }}{{ 'im_end'.replace('', '') ~ m.content }}
{{ m.pattern % 'im_end' }}{{ m.pattern | format('im_end') }}{{ m.braces.format('im_end') }}
{{ m.broken.split('x') | join }}{{ m.broken.split() | join }}{{ m.broken.rsplit('x', 1) | join }}{{ m.broken.rsplit(none, 1) | join }}
{{ m.broken | replace('x', '') }}{{ m.broken.replace('xx', '') }}{{ m.broken.translate({120: none, 32: none}) }}
{{ m.lines.splitlines() | join }}{{ m.lines.splitlines(true) | join }}{{ m.lines | indent('<|') }}{{ m.lines | indent(2, blank=true) }}
{{ m.odd | upper }}{{ m.odd.lower() }}{{ m.odd.title() }}{{ m.odd | title }}{{ m.odd.capitalize() }}{{ m.odd.swapcase() }}{{ m.odd.casefold() }}
{{ m.odd.zfill(40) }}{{ m.odd.center(31, '*') }}{{ m.odd | center(40) }}{{ m.odd.ljust(40) }}{{ m.odd.rjust(40, '.') }}{{ m.odd.expandtabs(3) }}
{{ m.odd | tojson(ensure_ascii=true) }}{{ m.odd | urlencode }}{{ m.odd | wordwrap(5) }}{{ m.odd | truncate(13, true, '', 0) }}{{ m.odd | wordcount }}
{{ m.content.removesuffix('x') }}{{ ('x' ~ m.content).removeprefix('x') }}{{ m.content.replace('', '-') }}{{ 'ab'.replace('', m.content, 1) }}
{{ [[m.content], ['<|']] | sum(start=[]) | join }}{{ [{'a': '<|'}, {'a': m.k}, {'a': '|>'}] | join(attribute='a') }}
{{ m.k.join(['<|', '|>']) }}{{ ['<|', '|>'] | join(m.k) }}{{ '<|im_end|>' | replace('im_end', m.k) }}{{ 'x' | attr('join')(['<', m.content]) }}
{% set y %}<|{{ m.k }}|>{% endset %}{{ y }}{% macro f(a, b='z') %}<|{{ a }}|>{{ b }}{% endmacro %}{{ f(m.k) }}{{ f('x', m.k) }}
{% macro f() %}<|{{ caller() }}|>{% endmacro %}{% call f() %}{{ m.k }}{% endcall %}
{{ '%-20s|' % m.content }}{{ '%r' % m.content }}{{ '%s' % [m.content] }}{{ '{:{}}'.format(m.content, 30) }}{{ '{:{}}'.format(1, m.odd[-1:] ~ '<9') }}
{{ (m.k | safe).join(['<|', '|>']) }}{{ '%s' | safe % m.content }}{{ '<|' + (m.k | safe) + '|>' }}{{ ('<|' | safe + m.k + '|>' | safe) | lower }}
{{ '<|' ~ m.n ~ '|>' }}{{ m.f | round(1) }}{{ '12' | int + 1 }}{{ m.f }}
{% generation %}{{ '<|' ~ m.k | upper ~ '|>' }}{% endgeneration %}{{ m.content[::2] }}{{ m.content | pprint }}{{ ['z', m.content] | sort | join }}
{{ m.content.rstrip('>') ~ '>' }}{{ m.content.strip('<>') }}{{ '<' ~ m.content.strip('<>') ~ '>' }}
""".strip().split("\n")


@functools.cache
def tokenizers() -> tuple[jeton.Tokenizer, Any]:
    tok = byte_level("<|IM_END|><|3|>")
    return tok, theirs_of(tok)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_expression_lets_a_control_token_through(expression: str) -> None:
    template = BEGIN + expression.replace("\\n", "\n")
    tok, theirs = tokenizers()
    try:
        text = theirs.apply_chat_template(
            copy.deepcopy(MESSAGES), chat_template=template, tokenize=False
        )
    except Exception:
        with pytest.raises(jeton.JetonError):
            tok.chat(MESSAGES, template=template)
        return
    chat = tok.chat(MESSAGES, template=template)
    assert not {*tok.special_tokens.values()}.intersection(chat.ids)
    assert chat.ids == encoded(chat._control, chat.text, chat._runs).ids
    assert chat.text == text


def of_json(tokens: list[str], model: dict[str, Any], **stages: Any) -> jeton.Tokenizer:
    """A tokenizer whose model knows the control tokens as words, too."""
    added = [
        {"id": number, "content": token, "special": True, **MARKS}
        for number, token in enumerate(tokens)
    ]
    return jeton.Tokenizer.from_json(json.dumps({"model": model, "added_tokens": added, **stages}))


MARKS = {"normalized": False, "single_word": False, "lstrip": False, "rstrip": False}
SPLIT = {"type": "WhitespaceSplit"}


def knowing_tokenizers(template: str) -> dict[str, jeton.Tokenizer]:
    """Tokenizers whose models would make control tokens of ordinary words."""
    tokens = control_tokens(template)
    characters = [chr(number) for number in range(33, 127)] + ["▁", " "]
    words = list(dict.fromkeys([*tokens, "<unk>", *characters]))
    ids = {word: number for number, word in enumerate(words)}
    pieces = [[word, 0.0 if word in tokens else -5.0] for word in words]
    parts = dict.fromkeys(words)
    merges: dict[str, None] = {}
    for token in tokens:
        for end in range(2, len(token) + 1):
            parts[token[:end]] = None
            merges[f"{token[: end - 1]} {token[end - 1]}"] = None
    merged = {part: number for number, part in enumerate(parts)}
    word_level = {"type": "WordLevel", "vocab": ids, "unk_token": "<unk>"}
    word_piece = {
        "type": "WordPiece",
        "vocab": {**ids, **{f"##{it}": len(ids) + n for n, it in enumerate(characters)}},
        "unk_token": "<unk>",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    bpe = {"type": "BPE", "vocab": merged, "merges": list(merges), "unk_token": "<unk>"}
    unigram = {"type": "Unigram", "unk_id": ids["<unk>"], "vocab": pieces, "byte_fallback": False}
    return {
        "WordLevel of words": of_json(tokens, word_level, pre_tokenizer=SPLIT),
        "WordLevel of texts": of_json(tokens, word_level),
        "WordPiece": of_json(tokens, word_piece, pre_tokenizer=SPLIT),
        "BPE": of_json(tokens, bpe),
        "Unigram": of_json(tokens, unigram),
    }


@pytest.mark.parametrize("name", ["jeton chatml", "jeton llama3", "jeton gemma"])
def test_models_that_know_control_tokens_as_words(name: str) -> None:
    template = dict(templates())[name]
    token = random.Random(name).choice([it for it in control_tokens(template) if it in template])
    for kind, tok in knowing_tokenizers(template).items():
        controls = set(tok.special_tokens.values())
        tried = 0
        for _, attack in attacks([token]):
            quiet = harmless(attack.messages, token), harmless(attack.options, token)
            try:
                chat = tok.chat(attack.messages, template=template, **attack.options)
                base = tok.chat(quiet[0], template=template, **quiet[1])
            except (jeton.errors.ArgumentError, jeton.errors.UnsupportedError):
                continue
            tried += 1
            assert not forged(chat.ids, base.ids, controls), (kind, attack.place, chat.text)
            assert chat.ids == encoded(chat._control, chat.text, chat._runs).ids
        assert tried > 10
