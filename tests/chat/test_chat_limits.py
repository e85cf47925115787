"""Templates of strangers end, in time and in size, and get at nothing outside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest

from chat_cases import HELLO, byte_level
from jeton.chat import limits
from jeton.chat.templates import isolation, rendering
from jeton.chat.templates.filters import filters_of
from jeton.chat.templates.limits import emptied_at_end, running
from jeton.chat.templates.sandbox import Sandbox
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, UnsupportedError

pytestmark = pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
"""What templates leave out is the matter of `test_chat_unprinted.py`."""

LONG_TEXTS = "{% set a = 'a' * 3 * 10**7 ~ 'b' %}{% set b = 'a' * 3 * 10**7 ~ 'c' %}"
PAIRS = "{% set n = namespace(t=1) %}{% for i in range(60) %}{% set n.t = (n.t, n.t) %}{% endfor %}"
NAMES = "".join(f"{{% if 1 %}}{{% set a{number} = 1 %}}{{% endif %}}" for number in range(3200))

TOO_MUCH = {
    "a long range": "{% for i in range(10**12) %}{% endfor %}",
    "nested ranges": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "a list in itself": "{% set r = range(99999)|list %}{% for a in r %}{% for b in r %}{% endfor %}"
    "{% endfor %}",
    "text times": "{{ 'a' * 10**10 }}",
    "text times, twice": "{% set x = 'a' * 10**7 %}{{ x * 10**7 }}",
    "data times": "{{ messages[0].content * 10**10 }}",
    "a list times": "{{ ([1] * 10**10)|length }}",
    "a list of lists": "{{ ([range(99999)|list] * 99999)|sum(start=[])|length }}",
    "doubled": "{% set n = namespace(t='ab') %}{% for i in range(99) %}{% set n.t = n.t + n.t %}"
    "{% endfor %}",
    "doubled by ~": "{% set n = namespace(t='ab') %}{% for i in range(99) %}{% set n.t = n.t ~ n.t %}"
    "{% endfor %}",
    "kept": "{% set n = namespace(t=[]) %}{% for i in range(99999) %}"
    "{% set n.t = n.t + ['a' * 10**7 ~ i] %}{% endfor %}",
    "printed": "{% for i in range(99999) %}{{ 'a' * 10**6 }}{% endfor %}",
    "power": "{{ 10 ** (10 ** 10) }}",
    "squared": "{% set n = namespace(t=9) %}{% for i in range(99) %}{% set n.t = n.t * n.t %}"
    "{% endfor %}",
    "center": "{{ 'a'|center(10**10) }}",
    "center, a constant": "{{ 'a'|center(10000000000) }}",
    "ljust": "{{ 'a'.ljust(10**10) }}",
    "zfill": "{{ messages[0].content.zfill(10**10) }}",
    "indent": "{{ 'a\nb'|indent(10**10) }}",
    "percent": "{{ '%10000000000d' % 1 }}",
    "percent, a star": "{{ '%*d' % (10**10, 1) }}",
    "precision": "{{ '%.9999999999f' % 1.0 }}",
    "format": "{{ '{:10000000000}'.format(1) }}",
    "format, nested": "{{ '{:{}}'.format(1, 10**10) }}",
    "round": "{{ 5|round(-10**9) }}",
    "batch": "{{ 'ab'|batch(10**9, 'x')|list }}",
    "slice": "{{ 'ab'|slice(10**9)|list }}",
    "tabs": "{{ '\t\t'.expandtabs(10**9) }}",
    "replace": "{{ ('a' * 10**5).replace('a', 'b' * 10**5) }}",
    "replace in safe text": "{{ (('a' * 20_000)|safe).replace('a', 'b' * 20_000)|length }}",
    "join": "{{ ('b' * 10**5).join('a' * 10**5) }}",
    "bytes": "{{ (5).to_bytes(10**10, 'big') }}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "recursion of two": "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}"
    "{{ f() }}",
    "a loop that calls itself with a long list": "{% set r = range(99999)|list * 600 %}"
    "{% for x in r recursive %}{% if not loop.depth0 %}{{ loop(r) }}{% endif %}{% endfor %}",
    "a loop that calls itself": "{% for x in [[]] recursive %}{{ loop([x]) }}{% endfor %}",
    "lists in lists": "{% set n = namespace(a=[1]) %}{% for i in range(60) %}"
    "{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a }}",
    "lists in lists, as JSON": "{% set n = namespace(a=[1]) %}{% for i in range(60) %}"
    "{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a|tojson }}",
    "lists in lists, compared": "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}"
    "{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}",
    "lists in lists, sorted": "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}"
    "{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ [n.a, n.b]|sort }}",
    "a filter over pairs": "{% set r = range(9999)|list %}{% for i in r %}"
    "{{ r|map('string')|select('in', r)|list|length }}{% endfor %}",
    "replaced, each letter": "{{ ('a' * 6 * 10**7).replace('a', 'b') }}",
    "split": "{{ ('a ' * 3 * 10**7).split() }}",
    "split, data": "{{ (messages[0].content * 3 * 10**6).split() }}",
    "lines": "{{ ('a\n' * 3 * 10**7).splitlines() }}",
    "letters of data": "{{ (messages[0].content * 3 * 10**6)|list }}",
    "stripped of many": "{{ ('b' * 3 * 10**7).strip('a' * 3 * 10**7 ~ 'b') }}",
    "trimmed of many": "{{ ('b' * 3 * 10**7)|trim('a' * 3 * 10**7 ~ 'b') }}",
    "long texts, sorted": LONG_TEXTS + "{{ ([b, a] * 10**5)|sort }}",
    "long texts, the most": LONG_TEXTS + "{{ ([b, a] * 10**5)|max }}",
    "long texts, looked for": LONG_TEXTS + "{{ b in [a] * 10**6 }}",
    "long texts, counted": LONG_TEXTS + "{{ ([a] * 10**6).count(b) }}",
    "long texts, compared": LONG_TEXTS + "{{ [a] * 10**6 == [b] * 10**6 }}",
    "rounded up": "{{ 1.5|round(6 * 10**7, 'ceil') }}",
    "wrapped": "{{ ('a ' * 3 * 10**7)|wordwrap(1) }}",
    "wrapped, one word": "{{ ('a' * 6 * 10**7)|wordwrap(1) }}",
    "titles": "{{ ('a b ' * 10**7)|title }}",
    "wrapped by long text": "{{ ('a ' * 10**5)|wordwrap(1, wrapstring='x' * 10**5) }}",
    "indented by long text": "{{ ('a\n' * 10**6)|indent('x' * 10**5) }}",
    "a long list, joined": "{{ (['a'] * 6 * 10**7)|join|length }}",
    "a long list, joined by a text": "{{ ''.join(['a'] * 6 * 10**7)|length }}",
    "a long list, summed": "{{ ([1] * 6 * 10**7)|sum }}",
    "much of data and template": "{{ ((messages[0].content ~ 'x') * 10**7)|upper|length }}",
    "much of data and template, as JSON": "{% set a = ('x' * 10**6).replace('x', 'x' ~ "
    "messages[0].content) %}{{ a|tojson|length }}",
    "links": "{{ ('www.a ' * 10**7)|urlize }}",
    "translated": "{{ ('a' * 3 * 10**7).translate({97: 'b' * 1000}) }}",
    "per cent": "{{ '%%' * 3 * 10**7 % () }}",
    "braces": "{{ ('{{' * 3 * 10**7).format() }}",
    "a long date": "{{ strftime_now('%c' * 10**7) }}",
    "sought backwards": "{{ ('a' * 2 * 10**7).rfind('ab' ~ 'a' * 10**7) }}",
    "sought backwards, an index": "{{ ('a' * 2 * 10**7).rindex('ab' ~ 'a' * 10**7) }}",
    "sought backwards, bytes": "{{ ('a' * 2 * 10**7).encode().rfind(('ab' ~ 'a' * 10**7).encode()) }}",
    "sought backwards, safe": "{{ (('a' * 2 * 10**7)|safe).rfind('ab' ~ 'a' * 10**7) }}",
    "split backwards": "{{ ('a' * 2 * 10**7).rsplit('ab' ~ 'a' * 10**7) }}",
    "parted backwards": "{{ ('a' * 2 * 10**7).rpartition('ab' ~ 'a' * 10**7) }}",
    "pairs in pairs, a key": PAIRS + "{{ {n.t: 1} }}",
    "pairs in pairs, looked up": PAIRS + "{{ {1: 1}[n.t] }}",
    "pairs in pairs, got": PAIRS + "{{ {1: 1}.get(n.t) }}",
    "pairs in pairs, keys": PAIRS + "{{ dict.fromkeys([n.t]) }}",
    "pairs in pairs, of a dict": PAIRS + "{{ dict([(n.t, 1)]) }}",
    "pairs in pairs, changed": PAIRS + "{% for i in [1, 2] %}{{ loop.changed(n.t) }}{% endfor %}",
    "pairs in pairs, unique": PAIRS + "{{ [n.t, n.t]|unique|list }}",
    "pairs in pairs, a name": PAIRS + "{{ 1|attr(n.t) }}",
    "pairs in pairs, a filter": PAIRS + "{{ [1]|map(n.t)|list }}",
    "pairs in pairs, an attribute": PAIRS + "{{ [{}]|map(attribute=n.t)|list }}",
    "pairs in pairs, in a format": PAIRS + "{{ '{}'.format(n.t) }}",
    "pairs in pairs, per cent": PAIRS + "{{ '%s' % (n.t,) }}",
    "pairs in pairs, pretty": PAIRS + "{{ n|pprint }}",
    "pairs in pairs, a view": PAIRS + "{{ {1: n.t}.values() }}",
    "pairs in pairs, a mapping": PAIRS + "{{ {1: n.t}.keys().mapping }}",
    "pairs of arguments": "{% set n = namespace(t=1) %}{% macro f() %}{% set n.t = varargs %}{% endmacro %}"
    "{% for i in range(60) %}{{ f(n.t, n.t) }}{% endfor %}{{ {n.t: 1} }}",
    "pairs in pairs, very deep": "{% set n = namespace(t=1) %}{% for i in range(90000) %}"
    "{% set n.t = (n.t,) %}{% endfor %}{{ {n.t: 1} }}",
    "digits": "{{ ('f' * 5 * 10**6)|int(0, 16) % 7 }}",
    "digits of bytes": "{{ (5).from_bytes('ab'.encode() * 10**6, 'big') // 3 }}",
    "names": NAMES,
    "per cent, one long value": "{{ ('%s' * 10**6) % (('a' * 10**6,) * 10**6) }}",
    "per cent, one long name": "{{ ('%(a)s' * 10**6) % {'a': 'a' * 10**6} }}",
    "per cent of bytes": "{{ ('%99999999d' * 99).encode() % ((1,) * 99) }}",
    "format, one long value": "{{ ('{0}' * 10**6).format('a' * 10**6) }}",
    "format, one long value, safe": "{{ (('{0}' * 10**6)|safe).format('a' * 10**6) }}",
    "format, safe": "{{ ('{:{}}'|safe).format(1, 10**9) }}",
    "centred, safe": "{{ ('a'|safe).center(10**9) }}",
    "filled, safe": "{{ ('a'|safe).zfill(width=10**9) }}{{ ('a'|safe).zfill(10**9) }}",
    "tabs, safe": "{{ ('\t'|safe).expandtabs(tabsize=10**9) }}",
    "translated, safe": "{{ (('a' * 10**6)|safe).translate({97: 'b' * 10**5}) }}",
    "translated by a list": "{{ ('a' * 10**6).translate(['b' * 10**5] * 100) }}",
    "joined bytes": "{{ ('a' * 10**6).encode().join(['b'.encode()] * 10**5) }}",
    "a number in bytes": "{{ (5).to_bytes(3000000000, 'big') }}",
    "a number in bytes, by name": "{{ (5).to_bytes(length=3000000000, byteorder='big') }}",
    "slices": "{% set a = 'a' * 6 * 10**7 %}{% set n = namespace(l=[]) %}{% for i in range(99) %}"
    "{% set n.l = n.l + [a[i:]] %}{% endfor %}",
    "a long list as an argument": "{{ 'a'.join([0] * 60000000) }}",
    "long lists as arguments": "{{ cycler([0] * 60000000, [0] * 60000000) }}",
    "a long text": "{{ 'a' * 60000000 }}",
    "a long text of arguments": "{{ 'a'.join(*('a' * 60000000)) }}",
    "a long list of arguments": "{% macro f() %}{% endmacro %}{{ f(*(range(99999)|list * 80)) }}",
    "arguments without end": "{% macro f() %}{% endmacro %}{% set r = range(99999)|list %}"
    "{{ f(*((r * 80)|map('string'))) }}",
    "arguments of a filter": "{{ [1]|map(*('a' * 60000000))|list }}",
    "arguments by name": "{% macro f() %}{{ kwargs|length }}{% endmacro %}{% set d = "
    "dict.fromkeys(range(9999)|map('string'), 1) %}{% for i in range(9999) %}{{ f(**d) }}{% endfor %}",
    "keys that collide": "{{ dict.fromkeys(range(0, 99999 * 2305843009213693951, 2305843009213693951)) }}",
    "texts of two": "{% set n = namespace(l='') %}{% for i in range(10**5) %}{% for i in range(10**5) %}ab"
    "{% endfor %}{% endfor %}",
    "texts of two, kept": "{% set x %}{% for i in range(10**5) %}{% for i in range(10**5) %}ab{% endfor %}"
    "{% endfor %}{% endset %}",
    "lists of a long list": "{% set n = namespace(t=[]) %}{% for i in range(10**5) %}"
    "{% set n.t = [n.t, " + "1, " * 1000 + "] %}{% endfor %}",
    "an encoding in quadratic time": "{{ ('é' * 10**6).encode('punycode') }}",
    "constants": "{% set n = namespace(l=[]) %}{% for i in range(99) %}"
    "{% set n.l = n.l + [['a']|batch(6 * 10**7, 'x')|list] %}{% endfor %}",
}


@pytest.mark.large
@pytest.mark.parametrize("name", TOO_MUCH)
def test_endless_templates_are_ended(name: str) -> None:
    with limits(seconds=0.5), pytest.raises(UnsupportedError, match="template"):
        byte_level("").chat(HELLO, template=TOO_MUCH[name])


ONLY_A_PROCESS = {
    "sought backwards": "{{ ('a' * 2 * 10**6).rfind('ab' ~ 'a' * 10**6) }}",
    "split backwards": "{{ ('a' * 2 * 10**6).rsplit('ab' ~ 'a' * 10**6) }}",
    "stripped of many": "{{ ('b' * 3 * 10**6).strip('a' * 3 * 10**6 ~ 'b') }}",
    "trimmed of many": "{{ ('b' * 3 * 10**6)|trim('a' * 3 * 10**6 ~ 'b') }}",
    "wrapped, one word": "{{ ('a' * 3 * 10**6)|wordwrap(1) }}",
    "sorted by many names": "{{ range(99999)|sort(attribute=',' * 10**6) }}",
    "keys that collide": "{{ {}.fromkeys(range(0, 99999 * 2305843009213693951, "
    "2305843009213693951)) }}",
    "an encoding in quadratic time": "{{ ('é' * 10**6).encode('punycode') }}",
}
"""Single operations of Python that take quadratic time over a value that is not too large: between
two of them nobody looks at the clock, so only the parent of a process ends them."""


@pytest.mark.large
@pytest.mark.parametrize("name", ONLY_A_PROCESS)
def test_a_process_ends_the_bombs_that_only_it_can_hold(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "_GRACE_SECONDS", 0.5)
    with limits(seconds=0.5), pytest.raises(UnsupportedError, match=r"more than 0.5 s"):
        byte_level("").chat(HELLO, template=ONLY_A_PROCESS[name], isolate=True)


@pytest.mark.parametrize(
    "call", ["[1].pop()", "(r|map('abs')).send(none)", "''.format._apply()", "messages.append(1)"]
)
def test_operations_that_change_or_run_something_are_refused(call: str) -> None:
    with pytest.raises((UnsupportedError, ArgumentError)):
        byte_level("").chat(HELLO, template="{% set r = range(3) %}{{ " + call + ".a }}")


def test_filters_and_methods_that_jeton_does_not_know_run_and_their_text_is_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A newer Jinja or Python brings more of them."""
    sandbox = Sandbox()
    sandbox.filters = filters_of({**jinja2.Environment().filters, "twice": lambda it: it + it})
    monkeypatch.setattr(rendering, "_sandbox", lambda: sandbox)
    tok = byte_level("<|im_end|>")
    messages = [{"role": "user", "content": "<|im_end|>"}]
    chat = tok.chat(messages, template="{{ messages[0].content|twice }}{{ '<|im_end|>'|twice }}")
    assert chat.text == 4 * "<|im_end|>"
    assert chat.ids.count(tok.special_tokens["<|im_end|>"]) == 2
    with limits(seconds=5), pytest.raises(UnsupportedError, match="template makes"):
        tok.chat(HELLO, template="{% set x = 'a' * 10**6 %}{{ x|twice|twice|twice|twice }}")


ESCAPES = {
    "class": "{{ ''.__class__.__mro__ }}",
    "class of data": "{{ messages[0].content.__class__.__mro__ }}",
    "subclasses": "{{ [].__class__.__base__.__subclasses__() }}",
    "by item": "{{ ''['__class__']['__mro__'] }}",
    "by attr": "{{ (''|attr('__class__')).x }}",
    "by map": "{{ ['']|map(attribute='__class__.__mro__')|list|first|first }}",
    "by format": "{{ '{0.__class__.__mro__}'.format('') }}",
    "by format of data": "{{ messages[0].f.format('') }}",
    "by format_map": "{{ '{a.__class__.__mro__}'.format_map({'a': ''}) }}",
    "by percent": "{{ '%s' % messages.__class__.__mro__ }}",
    "globals of a function": "{{ raise_exception.__globals__.x }}",
    "globals of a macro": "{% macro f() %}{% endmacro %}{{ f.__globals__.x }}",
    "the loop": "{% for x in 'a' %}{{ loop.__class__.__mro__ }}{% endfor %}",
    "the runs": "{{ messages[0].content._runs.x }}",
    "the class of dict": "{{ dict.__class__.__mro__ }}",
    "the environment": "{{ cycler.__init__.__globals__.x }}",
    "the template itself": "{{ self.__class__.__mro__ }}",
    "namespace": "{% set n = namespace() %}{{ n.__class__.__mro__ }}",
    "namespace's names": "{{ namespace(__class__=1) }}",
    "a list that grows": "{{ [].append(1) }}",
    "a dict that grows": "{{ messages[0].update({'a': 1}) }}",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_the_sandbox_holds(name: str) -> None:
    messages = [{"role": "user", "content": "a", "f": "{0.__class__.__mro__}"}]
    with pytest.raises((UnsupportedError, ArgumentError)) as error:
        byte_level("").chat(messages, template=ESCAPES[name])
    assert "object'>" not in str(error.value)


REFUSED: dict[str, tuple[str, type[Exception], str]] = {
    "no Jinja": ("{% if %}", FormatError, "line 1"),
    "an open block": ("a\n{% for x in y %}", FormatError, "line 2"),
    "a break outside of loops": ("{% break %}", FormatError, "'break' outside loop"),
    "loops nested too deep": (
        "{% for x in 'a' %}" * 30 + "{% endfor %}" * 30,
        FormatError,
        "nested",
    ),
    "an unknown tag": ("{% wizard %}", FormatError, "wizard"),
    "an unknown filter": ("{{ 1|wizard }}", FormatError, "wizard"),
    "too long": ("{{ 1 }}" * 40_000, FormatError, "characters"),
    "nested too deep": ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", UnsupportedError, "itself"),
    "an include": ("{% include 'x' %}", ArgumentError, "fails"),
    "an import": ("{% import 'x' as y %}", ArgumentError, "fails"),
    "an extension": ("{% extends 'x' %}", ArgumentError, "fails"),
    "escaping": ("{% autoescape true %}{{ 1 }}{% endautoescape %}", FormatError, "HTML"),
    "raise_exception": ("{{ raise_exception('no ' ~ 1) }}", ArgumentError, "refuses.*no 1"),
    "something undefined": ("\n{{ a.b.c }}", ArgumentError, "line 2 of the template"),
    "a wrong operation": ("{{ 1 + 'a' }}", ArgumentError, "TypeError"),
    "bytes of data": ("{{ messages[0].content.encode() }}", ArgumentError, "bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_templates_say_what_is_wrong(name: str) -> None:
    template, kind, says = REFUSED[name]
    with pytest.raises(kind, match=says):
        byte_level("").chat(HELLO, template=template)


@pytest.mark.parametrize(
    "failing", ["raise_exception(x)", "{}[x].a", "x|urlencode|int + x", "x is " + "a" * 9999]
)
def test_errors_stay_short(failing: str) -> None:
    template = "{% set x = 'long ' * 10**5 %}{{ " + failing + " }}"
    with pytest.raises((ArgumentError, FormatError)) as error:
        byte_level("").chat(HELLO, template=template)
    assert len(str(error.value)) < 3000


@pytest.mark.parametrize(
    ("seconds", "kind"), [("1", ArgumentTypeError), (True, ArgumentTypeError), (0, ArgumentError)]
)
def test_limits_are_checked(seconds: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="seconds"), limits(seconds=seconds):
        pass


@pytest.mark.large
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_fuzzer_of_templates_runs(tmp_path: Path) -> None:
    fuzzer = Path(__file__).parents[2] / "fuzz" / "templates.py"
    options = ["-seed=1", "-runs=25", "-max_total_time=300", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(
        [sys.executable, str(fuzzer), *options], capture_output=True, text=True, check=False
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (0, []), done.stdout + done.stderr
    assert "number_of_executed_units: 25" in done.stdout


def test_a_message_that_spells_the_end_of_the_last_many_times() -> None:
    messages = [
        {"role": "user", "content": "CONTINUE_FINAL_MESSAGE_TAG <x>" * 20_000},
        {"role": "assistant", "content": "hi"},
    ]
    template = "{% for m in messages|reverse %}{{ m.content|replace('x', 'yz') }}{% endfor %}"
    chat = byte_level("").chat(messages, template=template, continue_final_message=True)
    assert chat.text == "hi"


def test_few_long_templates_stay_compiled() -> None:
    tok = byte_level("")
    for number in range(8):
        for size in (10, 120_000):
            template = f"{{{{ {number} }}}}{{#{'x' * size}#}}"
            assert tok.chat(HELLO, template=template).text == str(number)
    assert sum(map(len, rendering._COMPILED)) <= rendering._CACHED
    assert len(rendering._COMPILED) > 4
    assert template in rendering._COMPILED


def test_the_text_is_in_proportion_to_the_input() -> None:
    tok = byte_level("")
    messages = [{"role": "user", "content": "abcd" * 20_000}]
    long = "{% for i in range(COUNT) %}{{ messages[0].content }}{% endfor %}"
    assert tok.chat(messages, template=long.replace("COUNT", "40")).text == "abcd" * 800_000
    with pytest.raises(UnsupportedError, match="a text of 4,800,000 characters"):
        tok.chat(messages, template=long.replace("COUNT", "60"))


def test_a_namespace_is_emptied_when_its_template_ends() -> None:
    """It may hold itself, and Python frees such circles late."""
    names: dict[str, Any] = {"a": 1}
    with running(0):
        emptied_at_end(names)
        assert names
    assert not names


def test_long_chats_are_not_bombs() -> None:
    messages = [{"role": "user", "content": "ab " * 2000}, {"role": "assistant", "content": "c"}]
    template = (
        "{% set n = namespace(t='') %}{% for m in messages %}{% set n.t = n.t + m.content %}"
        "{% endfor %}{{ n.t }}"
    )
    chat = byte_level("").chat(messages * 50, template=template)
    assert len(chat.text) == 50 * 6001


@pytest.mark.large
@pytest.mark.parametrize(
    "expression",
    [
        "m.split('\n')|join('\n')",
        "m.split()|length",
        "m.splitlines()|join('\n') ~ '\n'",
        "m|list|join",
        "m.replace('a', 'bb')|length",
        "m|replace(' ', '')|trim|length",
        "m|title|length",
        "m|wordcount",
        "m|wordwrap|length",
        "[m, m, m]|sort|first",
        "m.strip('ab \n')|length",
        "(m ~ '%s') % m",
        "m|tojson|length",
        "m|center(2 * 10**6)|length",
        "m is gt(2) if m is number else 1700000001 is gt 1700000000",
    ],
)
def test_long_messages_are_not_bombs(expression: str) -> None:
    messages = [{"role": "user", "content": "ab " * 100_000 + "\n"}]
    template = "{% set m = messages[0].content %}{{ " + expression + " }}"
    assert byte_level("").chat(messages, template=template).text
