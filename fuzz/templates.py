"""Fuzzes chat templates of strangers: whatever one does, the process that asks gets an answer in time.

    python fuzz/templates.py [-max_total_time=SECONDS] [-runs=COUNT] [-seed=NUMBER]
                             [-artifact_prefix=PATH] [FILE | FOLDER]...

An input chooses the parts of a template: sized values, and every method, filter, test and operator
that templates have, with arguments of any kind. A process asks for its chat with `isolate=True` and
encodes the text; the one that watches it reads from outside how long that takes, and how much memory
the asking process has. A file is tried again and shown. Without files, those of the folders are
tried and then random ones, until the time is over.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

SECONDS: Final = 0.2
"""The limit that templates run under."""
PATIENCE: Final = 60.0
"""Seconds after which there must be an answer, a new process to start on a busy machine included."""
MEGABYTES: Final = 200
"""What the process that asks may take beyond what it began with."""

NUMBERS = (
    "0 1 2 3 7 64 1000 9999 100000 3000000 50000000 3000000000 -1 -2 -100000 0.5 1e300".split()
)


def choices(lines: str) -> list[str]:
    """Patterns that stand apart by ¦ or on lines of their own."""
    lines = re.sub("(?<!})}}}(?!})", "} }}", lines.strip())
    return [it.strip() for line in lines.split("\n") for it in line.split("¦")]


TEXTS = r"""
'' 'a' 'ab' '\x20' '\n' '<' '&lt;' '((' 'é' '\U0001f600' '%s' '%%' '%(a)s' '%*d' '%999999d' '{}' '{0}'
'{a}' '{:>99999}' '{:{}}' '{!r}' '{0[0]}' '{0.a}' 'a.b' 'a,b' 'www.a.b' 'a@b.c' '0x1' '9' '1_0' '\t'
'utf-8' 'idna' 'big' '<!--' '-->' '&amp;' 'a-b' '\x1c' '\u2028' 'upper' 'join' 'in' 'string'
""".split()
NAMES = "x y n.a n.b m.content m.n m.list m.dict messages r t".split()
SIZED = choices("""
({text} * {number}) ¦ ({text} * {number} ~ {text}) ¦ (m.content * {number}) ¦ ({text} * {number})|safe
([{value}] * {number}) ¦ (({value},) * {number}) ¦ (r * {number}) ¦ range({number}) ¦ range({number})|list
([{value}, {value}] * {number}) ¦ ({text} * {number}).encode() ¦ ({number} ** {number}) ¦ m.content|safe
(({text} ~ m.content) * {number}) ¦ dict.fromkeys(r, {value}) ¦ {{{value}: {value}, {text}: {value}}}
(m.content ~ {text} * {number} ~ m.content) ¦ r|map('string') ¦ t|items ¦ n ¦ cycler({value}, {value})
{{}}.fromkeys({value}, {value}) ¦ dict(r|batch(2)) ¦ dict(a={value}) ¦ joiner({text}) ¦ n.a ¦ n.b
dict.fromkeys(range(0, {number}, 2305843009213693951)) ¦ {value}[{value}:] ¦ {value}[:{value}:{value}]
""")
METHODS = """
capitalize casefold center count encode endswith expandtabs find format format_map index isalnum
isalpha isascii isdigit isidentifier islower isspace istitle isupper join ljust lower lstrip
maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip
split splitlines startswith strip swapcase title translate upper zfill escape striptags unescape
decode hex fromhex from_bytes to_bytes bit_length as_integer_ratio conjugate is_integer copy get
items keys values fromkeys isdisjoint next reset current cycle changed union send throw mapping
""".split()
FILTERS = """
abs attr batch capitalize center count d default dictsort e escape filesizeformat first float
forceescape format groupby indent int items join last length list lower map max min pprint random
reject rejectattr replace reverse round safe select selectattr slice sort string striptags sum title
tojson trim truncate unique upper urlencode urlize wordcount wordwrap xmlattr
""".split()
TESTS = """
boolean callable defined divisibleby eq escaped even false filter float ge gt in integer iterable le
lower lt mapping ne none number odd sameas sequence string test true undefined upper
""".split()
FITTING = choices("""
{t}.{searching}({t}) ¦ {t}.{searching}({t}, {i}) ¦ {t}.{plain}() ¦ {t}.strip({t}) ¦ {t}.rstrip({t}) ¦ {t}.lstrip({t})
{t}.{padding}({i}) ¦ {t}.ljust({i}, {c}) ¦ {t}.expandtabs({i}) ¦ {t}.replace({t}, {t}) ¦ {t}.replace({t}, {t}, {i})
{t}.translate({{97: {t}, 98: {t}}}) ¦ {t}.translate({l}) ¦ {t}.join({l}) ¦ {t}.join({t}) ¦ {t}.splitlines(true)|join
{t}.split({t})|join({t}) ¦ {t}.split()|join({t}) ¦ {t}.encode().decode() ¦ {t}|{printing} ¦ {l}|{printing} ¦ {t}|trim({t})
{t}|replace({t}, {t}) ¦ {t}|indent({i}) ¦ {t}|indent({t}) ¦ {t}|center({i}) ¦ {t}|wordwrap({i}) ¦ {t}|wordwrap(3, true, {t})
{t}|truncate({i}) ¦ {t}|truncate(3, true, {t}, 0) ¦ {t}|urlize({i}) ¦ {t}|urlize(none, true, {t}, {t}) ¦ {t} % {t}
{t} % ({t}, {i}) ¦ {t} % {{'a': {t}}} ¦ ({p} * {i}) % {{'a': {t}}} ¦ ({p} * {i}) % ({l}|list) ¦ ({p} * 3).format({t}, {i}, a={t})
{p}.format({t}, {i}, a={t}) ¦ ({p} * {i}).format_map({{'a': {t}}}) ¦ ({p}|safe).format({t}, {i}, a={t}) ¦ ({p}|safe) % ({t},)
{t} ~ {t} ¦ {t} + {t} ¦ {t} ~ {l} ¦ {t} * {i} ¦ {t}[:{i}] ¦ {t}[::{i}] ¦ {t}[{i}:] ¦ {t}|safe ¦ {t}|e ¦ {l}|tojson ¦ {l}|tojson({i})
{l}|tojson(none, {t}) ¦ {l}|string ¦ {l}|pprint ¦ {l}|join({t}) ¦ {t}|reverse ¦ {t}|format({t}) ¦ {t}|first ¦ {t}|last
{{'a': {t}, 'b': {l}}}|xmlattr ¦ {{'a': {t}}}|urlencode ¦ {t}|string ¦ {i}|string ¦ {l}|string|upper ¦ {i}.to_bytes({i}, 'big')|string
""")
LISTS = choices("""
{l} + {l} ¦ {l} * {i} ¦ {l}|list ¦ {t}|list ¦ {l}|sort ¦ {t}|sort ¦ {l}|unique|list ¦ {l}|reverse|list ¦ {l}|map('string')|list
{t}.split({t}) ¦ {t}.rsplit({t}, {i}) ¦ {t}.partition({t}) ¦ {t}.rpartition({t}) ¦ {t}.splitlines() ¦ {t}.split() ¦ {l}[:{i}]
{l}|batch({i})|list ¦ {l}|batch({i}, {t})|list ¦ {l}|slice({i}, {t})|list ¦ {t}|batch({i}, 'x')|list ¦ {l}|groupby(0) ¦ messages|groupby('role')
{l}|map('upper')|list ¦ {l}|select('in', {l})|list ¦ {l}|reject('eq', {t})|list ¦ {l}|sum(start=[]) ¦ [{l}, {l}] ¦ [{t}, {l}, {i}] ¦ ({l}, {l})
{l}|map('replace', {t}, {t})|list ¦ {l}|map('center', {i})|list ¦ {l}|map('list')|list ¦ {{1: {l}, {t}: {l}}}|dictsort ¦ {{'a': {l}}}|items|list
dict.fromkeys({l}, {t})|list ¦ {{}}.fromkeys({l}, {l}).items()|list ¦ range({i})|list ¦ r ¦ messages ¦ [{t}] * {i} ¦ {l}[::{i}] ¦ {l}.copy()
messages|map(attribute='content')|list ¦ messages|sort(attribute={t}) ¦ r|sort(attribute=',' * {i}) ¦ [{l}]|map(attribute='0')|list
""")
INTEGERS = choices("""
{l}|length ¦ {t}|length ¦ {t}.count({t}) ¦ {t}.rfind({t}) ¦ {t}.find({t}) ¦ {l}.count({t}) ¦ {t}|int(0, 16) ¦ {i} * {i} ¦ {i} ** {i}
{i} // {i} ¦ {i} % {i} ¦ {i}|round(-{i})|int ¦ {t}|wordcount ¦ {l}|sum ¦ {l}|list|length ¦ {i} - {i} ¦ {i} + {i} ¦ {i}.bit_length() ¦ {t}.encode()|length
""")
SEARCHING = "count find index rfind rindex startswith endswith removeprefix removesuffix".split()
PLAIN = "upper lower title capitalize swapcase casefold strip isalpha isspace islower".split()
PADDING = "center ljust rjust zfill".split()
PRINTING = """
upper lower title capitalize e forceescape urlencode urlize striptags wordcount string pprint trim
wordwrap truncate tojson safe indent list reverse length first last filesizeformat
""".split()
KEYWORDS = """
attribute default case_sensitive reverse width indent first blank separators sort_keys ensure_ascii
length killwords end leeway wrapstring break_long_words base precision method start fill_with by
trim_url_limit nofollow target rel extra_schemes sep maxsplit a b encoding errors fillchar tabsize
""".split()
OPERATORS = [*"+ - * / // % ** ~ == != < <= > >= in and or".split(), "not in"]
STATEMENTS = choices("""
{{{{ {value} }}}}
{{% set x = {value} %}}
{{% set y = {value} %}}
{{% set n.a = {value} %}}
{{% set n.b = {value} %}}
{{% for i in range({number}) %}}{statement}{{% endfor %}}
{{% for i in range(60) %}}{{% set n.a = (n.a, n.a) %}}{{% endfor %}}
{{% for i in range(60) %}}{{% set n.a = [n.a, n.b, {value}] %}}{statement}{{% endfor %}}
{{% for i in range(40) %}}{{% set n.a = n.a + n.a %}}{{% endfor %}}
{{% for i in range(40) %}}{{% set n.a = n.a ~ n.a %}}{{% endfor %}}
{{% for i in range(99999) %}}{{% set n.a = [n.a] %}}{{% endfor %}}
{{% for i in range(99999) %}}{{% set n.a = {{i: n.a}} %}}{{% endfor %}}
{{% for x in {value} %}}{statement}{{% endfor %}}
{{% for x, y in {value} %}}{statement}{{% endfor %}}
{{% for x in {value} recursive %}}{{{{ loop({value}) }}}}{{% endfor %}}
{{% for x in {value} %}}{{{{ loop.changed({value}) }}}}{{{{ loop.length }}}}{{% endfor %}}
{{% for x in {value} if {value} %}}{{{{ loop.cycle({value}, {value}) }}}}{{% endfor %}}
{{% set x %}}{statement}{{% endset %}}
{{% set y | {filter}({value}) %}}{statement}{{% endset %}}
{{% macro f(a, b={value}) %}}{{% set n.b = varargs %}}{statement}{{% endmacro %}}{{{{ f({value}, {value}, {value}) }}}}
{{% macro g(a) %}}{{{{ caller({value}) }}}}{{% endmacro %}}{{% call(a) g({value}) %}}{statement}{{% endcall %}}
{{% filter {filter} %}}{statement}{{% endfilter %}}
{{% block {block} %}}{statement}{{% endblock %}}{{{{ self.z1() }}}}{{{{ self.z1() }}}}
{{% with x = {value} %}}{statement}{{% endwith %}}
{{% if {value} %}}{statement}{{% else %}}{statement}{{% endif %}}
{{% generation %}}{statement}{{% endgeneration %}}
{{{{ raise_exception({value}) }}}}
{{{{ strftime_now({value}) }}}}
{{% include {value} %}}
{statement}{statement}
{statement}{statement}
{statement}{statement}
""")
BEGIN = "{% set m = messages[0] %}{% set n = namespace(a=1, b='b') %}{% set r = range(99999)|list %}{% set t = {'a': 'b', 1: 2} %}"

MESSAGES = [
    {"role": "user", "content": "Hello <b>%s</b> {} é", "n": 3, "list": ["a", 1, ["b"]], "dict": {"a": "b"}},
    {"role": "assistant", "content": "x " * 500},
]  # fmt: skip


TYPES = {
    "t": (
        ["m.content", "x", "y", "n.b", "{text}", "{text}", *["({text} * {number})"] * 30],
        FITTING,
    ),
    "l": (["r", "messages", "n.a", "m.list", "[{text}, {text}]", "([{text}] * {number})"], LISTS),
    "i": ([*NUMBERS[:9], "m.n"], INTEGERS),
}
FIELDS = {
    "searching": SEARCHING, "plain": PLAIN, "padding": PADDING, "printing": PRINTING,
    "c": ["'a'", "'é'", "m.content[0]"],
    "p": ["'%s'", "'%(a)s'", "'{}'", "'{a}'", "'{0}{1}'", "'%r'", "'{!r:>9}'", "'{a:{a}}'"],
}  # fmt: skip
"""What fields of patterns stand for."""


class Grammar:
    """Writes a template by the bytes of an input."""

    def __init__(self, data: bytes) -> None:
        self.data = iter(data)
        self.left = 60
        self.blocks = 0

    def choose(self, options: Any) -> Any:
        return options[next(self.data, 0) % len(options)]

    def filled(self, pattern: str, depth: int) -> str:
        """A pattern whose fields are chosen, each for itself."""
        found = []
        for part in pattern.replace("{{", "\0").replace("}}", "\1").split("{"):
            name, closed, rest = part.partition("}")
            found.append(self.field(name, depth) + rest if closed else part)
        return "".join(found).replace("\0", "{").replace("\1", "}")

    def field(self, name: str, depth: int) -> str:
        if name == "number":
            return str(self.choose(NUMBERS))
        if name == "block":
            self.blocks += 1
            return f"z{self.blocks}"
        if name == "text":
            return str(self.choose(TEXTS))
        if name == "filter":
            return str(self.choose(FILTERS))
        if name in FIELDS:
            return str(self.choose(FIELDS[name]))
        if name in TYPES:
            return self.typed(name, depth - 1)
        return self.value(depth - 1) if name == "value" else self.statement(depth - 1)

    def typed(self, kind: str, depth: int) -> str:
        """An expression that is likely a text (t), a list (l) or a whole number (i)."""
        self.left -= 1
        leaves, inner = TYPES[kind]
        if depth <= 0 or self.left < 0 or not next(self.data, 0) % 3:
            return self.filled(self.choose(leaves), 1)
        return f"({self.filled(self.choose(inner), depth)})"

    def value(self, depth: int) -> str:
        """An expression."""
        self.left -= 1
        if depth > 0 and next(self.data, 0) % 4:
            return self.typed(self.choose("ttlli"), depth)
        kind = next(self.data, 0) % 16
        if depth <= 0 or self.left < 0 or kind < 2:
            return str(self.choose([*NAMES, *NUMBERS, *TEXTS, "none", "true", "undefined"]))
        if kind < 5:
            return self.filled(self.choose(SIZED), depth)
        inner = self.value(depth - 1)
        if kind < 9:
            return f"({inner}|{self.choose(FILTERS)}{self.arguments(depth)})"
        if kind < 13:
            return f"({inner}).{self.choose(METHODS)}{self.arguments(depth)}"
        if kind == 13:
            return f"({inner} is {self.choose(TESTS)}{self.arguments(depth)})"
        if kind == 14:
            return f"({inner} {self.choose(OPERATORS)} {self.value(depth - 1)})"
        return f"({inner})[{self.value(depth - 1)}]"

    def arguments(self, depth: int) -> str:
        given = [self.value(depth - 1) for _ in range(self.choose((0, 1, 1, 1, 2, 2, 3)))]
        if given and not next(self.data, 0) % 8:
            given[-1] = f"*({given[-1]})"
        elif given and not next(self.data, 0) % 4:
            given[-1] = f"{self.choose(KEYWORDS)}={given[-1]}"
        return f"({', '.join(given)})"

    def statement(self, depth: int) -> str:
        self.left -= 1
        if depth <= 0 or self.left < 0:
            return self.filled(STATEMENTS[0], depth + 2)
        return self.filled(self.choose(STATEMENTS), depth)


def template(data: bytes) -> str:
    """The template that an input stands for."""
    grammar = Grammar(data)
    return BEGIN + "".join(grammar.statement(3) for _ in range(grammar.choose((1, 1, 2, 4))))


def render() -> None:
    """Renders what comes in, a template a line, and says of each how it went."""
    import resource
    import warnings

    import jeton
    import jeton.chat

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    tok = jeton.BPETrainer(vocab_size=260, special_tokens=["<|end|>"]).train(["a b"])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        try:
            with jeton.chat.limits(seconds=SECONDS, isolate=True):
                chat = tok.chat(MESSAGES, template=json.loads(line))
            assert len(chat.ids) == len(chat.spans) == len(chat.origins)
            said = "fine"
        except jeton.JetonError as error:
            said = f"{type(error).__name__}: {error}"
            if isinstance(error, jeton.errors.InternalError) or "nonsense" in said:
                said = f"FOUND {said}"
        except BaseException as error:
            said = f"FOUND {type(error).__name__}: {error}"
        print(said.replace("\n", " ")[:300], file=answers, flush=True)


class Watched:
    """The process that renders, watched from outside."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "-render"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdin and self.process.stdout
        self.input, self.output = self.process.stdin, self.process.stdout
        self.proc = Path(f"/proc/{self.process.pid}")
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.output, selectors.EVENT_READ)
        self.output.readline()
        self.first_megabytes = self.megabytes()

    def megabytes(self) -> float:
        for line in (self.proc / "status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0

    def tried(self, text: str) -> str:
        """What became of a template; the process is over where it begins with FOUND."""
        self.input.write(json.dumps(text).encode() + b"\n")
        self.input.flush()
        begun, most = time.monotonic(), 0.0
        while not self.selector.select(0.02):
            most = max(most, self.megabytes() - self.first_megabytes)
            taken = time.monotonic() - begun
            if taken > PATIENCE or most > MEGABYTES:
                self.end()
                return f"FOUND {taken:.1f} s, {most:.0f} MB"
        line = self.output.readline().decode().strip()
        if not line:
            self.process.wait()
            line = f"FOUND the process ended by {self.process.returncode}"
        elif line.startswith("FOUND"):
            self.end()
        return line

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def main() -> int:
    options = dict(it[1:].split("=", 1) for it in sys.argv[1:] if it[0] == "-" and "=" in it)
    paths = [Path(it) for it in sys.argv[1:] if it[0] != "-"]
    files = [path for path in paths if path.is_file()]
    prefix = options.get("artifact_prefix", "")
    watched = Watched()
    for file in files:
        text = template(file.read_bytes())
        print(text, watched.tried(text), sep="\n")
    if files:
        return 0
    chance = random.Random(int(options.get("seed", 0)) or None)
    first = [file.read_bytes() for path in paths for file in sorted(path.iterdir())]
    until = time.monotonic() + float(options.get("max_total_time", 60))
    runs = int(options.get("runs", 1 << 60))
    count, fine, found = 0, 0, 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        while time.monotonic() < until and count < runs:
            data = first.pop() if first else chance.randbytes(chance.choice((40, 120, 400)))
            said = watched.tried(template(data))
            count += 1
            fine += said == "fine"
            if said.startswith("FOUND"):
                found += 1
                path = f"{prefix}{hashlib.sha256(data).hexdigest()[:16]}"
                Path(path).write_bytes(data)
                print(path, said, template(data), sep="\n", flush=True)
                watched = Watched()
    finally:
        watched.end()
        print(f"rendered without an error: {fine}; found: {found}")
        print(f"stat::number_of_executed_units: {count}")
    return min(found, 1)


if __name__ == "__main__":
    if "-render" in sys.argv:
        render()
    else:
        sys.exit(main())
