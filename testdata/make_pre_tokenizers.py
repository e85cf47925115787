"""Computes pre_tokenizers.toml with the library whose behaviour it pins, Hugging Face tokenizers.

Run it when a pre-tokenizer or a text is added: python testdata/make_pre_tokenizers.py
"""

import json
import unicodedata
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

Component = dict[str, Any]

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)
DEEPSEEK = [
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
]


def byte_level(space: bool = False, regex: bool = True) -> Component:
    return {
        "type": "ByteLevel",
        "add_prefix_space": space,
        "trim_offsets": True,
        "use_regex": regex,
    }


def metaspace(scheme: str, cut: bool = True, written: str = "▁") -> Component:
    return {
        "type": "Metaspace",
        "replacement": written,
        "prepend_scheme": scheme,
        "split": cut,
    }


def split(
    pattern: str, behavior: str = "Isolated", invert: bool = False, regex: bool = True
) -> Component:
    return {
        "type": "Split",
        "pattern": {"Regex" if regex else "String": pattern},
        "behavior": behavior,
        "invert": invert,
    }


def sequence(*stages: Component) -> Component:
    return {"type": "Sequence", "pretokenizers": list(stages)}


WORDS = "Hello,  world! I'll DON'T  go\n\n "
NASTY = "e\u0301a\u0300\u0327 漢字かなカナー한글 👩\u200d👩\u200d👧🏽x \u00a0y\u0085z\u2028w\r\nq ٣٤५Ⅷ²½ \u200bŁódź"
HYPHENS = "the-final--countdown"
ROWS: list[tuple[str, Component, tuple[str, ...]]] = []


def add(name: str, component: Component, *texts: str) -> None:
    ROWS.append((name, component, texts))


BEHAVIORS = [
    "Removed",
    "Isolated",
    "MergedWithPrevious",
    "MergedWithNext",
    "Contiguous",
]
add(
    "byte level",
    byte_level(),
    WORDS,
    NASTY,
    "",
    "  ",
    "a  b",
    " 12 34",
    "it's 'S can't",
    "'ſ",
)
add(
    "byte level with a space in front",
    byte_level(True),
    WORDS,
    NASTY,
    "",
    " a",
    "\ta",
    "é",
)
add("byte level without its pattern", byte_level(True, False), WORDS, NASTY, "")
add("byte level without anything", byte_level(False, False), "aé€😀 b", "")
add(
    "bert",
    {"type": "BertPreTokenizer"},
    WORDS,
    NASTY,
    "",
    "a$b+c~d`e^f|g=h<i>",
    "«¿a»‹x›…—",
    "$\u20ac£¢",
    "  ",
)
for s in ["always", "never", "first"]:
    for cut in [True, False]:
        add(
            f"metaspace {s}{'' if cut else ' without cut'}",
            metaspace(s, cut),
            "Hey my friend  how are▁you ",
            "▁a b",
            " a",
            "",
            NASTY,
            "▁▁a",
        )
add("metaspace written otherwise", metaspace("always", True, "_"), "a_b c_", " x")
add(
    "metaspace first after a cut",
    sequence({"type": "WhitespaceSplit"}, metaspace("first")),
    "ab cd",
    " ab cd",
)
add(
    "metaspace always after a cut",
    sequence({"type": "Digits", "individual_digits": True}, metaspace("always")),
    "a1 b 2",
)
add(
    "whitespace",
    {"type": "Whitespace"},
    WORDS,
    NASTY,
    "",
    "a_b¹ ²x\u200d\u200cy",
    "नमस्ते दुनिया",
    "  ",
    "--a__b--",
)
add(
    "whitespace split",
    {"type": "WhitespaceSplit"},
    WORDS,
    NASTY,
    "",
    "  ",
    "\u1680a\u3000b\u200bc\u0085d\u2029e\u001cf",
)
add(
    "char delimiter",
    {"type": "CharDelimiterSplit", "delimiter": "é"},
    "éaébééc",
    "",
    "é",
    "xyz",
)
add("char delimiter space", {"type": "CharDelimiterSplit", "delimiter": " "}, NASTY)
for b in BEHAVIORS:
    for inv in [False, True]:
        add(
            f"split at a literal, {b}{', inverted' if inv else ''}",
            split("-", b, inv, False),
            HYPHENS,
            "--a-b--",
            "-",
            "",
            "abc",
            "--",
        )
        add(
            f"split at a pattern, {b}{', inverted' if inv else ''}",
            split(r"\d+|-", b, inv),
            "a-1-22b33--",
            "7",
            "",
            "é٣-€",
        )
        add(
            f"split at the empty text, {b}{', inverted' if inv else ''}",
            split("", b, inv, False),
            "aé€",
            "",
        )
        add(
            f"split at empty matches, {b}{', inverted' if inv else ''}",
            split("x*", b, inv),
            "axxé x",
            "x",
        )
    add(
        f"punctuation {b}",
        {"type": "Punctuation", "behavior": b},
        WORDS,
        "a?!b...c",
        "‽⁂x。、",
        "",
        "$a^",
        "!!",
    )
add(
    "split at a literal of special characters",
    split(".*[", "Isolated", False, False),
    "a.*[b.*",
    "",
)
add("split at words", split(r"\w+", "Removed", True), "a²b\u200dc d_e", NASTY)
add("split at lines", split(r"^.*$", "Isolated"), "ab\ncd\r\nef\n")
add("split by look-behind", split(r"(?<=[a-z])(?=[A-Z])", "Isolated"), "camelCaseWordsX")
add("split by back-reference", split(r"(.)\1", "Isolated"), "aabbcdde漢漢")
add("split without case", split(r"(?i)ss", "Isolated"), "aSSbßcſsd")
add("split with an interval and a plus", split(r"a{1,2}+b", "Isolated"), "aaaaab aab")
for n, p in [
    (
        "gpt2",
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    ),
    ("llama3", LLAMA3),
    ("qwen2", QWEN2),
    ("o200k", O200K),
]:
    add(
        f"split by {n}",
        split(p),
        WORDS,
        NASTY,
        "",
        "I'LL 'ſ 'K don'T 12345678",
        "a   b\n\n  c \r\n\r\n\td  ",
        "   ",
        "\n",
        "CamelCASEWord ǅx ʰa",
        "x\u3000\u3000y ",
        "/path//to/\n\n",
    )
add(
    "split by deepseek_v3",
    sequence(*[split(p) for p in DEEPSEEK], byte_level(False, False)),
    WORDS,
    NASTY,
    "",
    "x=12345+y!abc",
    "漢字123かなabc",
    "a   b\n\n  c \r\n\r\n\td  ",
)
add(
    "split by llama3, then bytes",
    sequence(split(LLAMA3), byte_level(False, False)),
    WORDS,
    NASTY,
)
add(
    "digits",
    {"type": "Digits", "individual_digits": False},
    "a123b4",
    NASTY,
    "",
    "一二三 ①Ⅷ½²",
)
add(
    "digits alone",
    {"type": "Digits", "individual_digits": True},
    "a123b4",
    NASTY,
    "",
    "12",
)
add(
    "scripts",
    {"type": "UnicodeScripts"},
    "どこで生れ。Yes",
    "Apples are りんご 林檎",
    "  abc",
    "   ",
    "a b",
    "ab漢ー",
    "\u0378a\u0378に",
    "",
    NASTY,
    "a\u0301б\u0301",
    "\u0589a\u0953b\u061cc",
    "ⴧ𞤀a𐵀b",
    "abc 123 def",
)
add(
    "fixed length",
    {"type": "FixedLength", "length": 5},
    "Hello world",
    "",
    "abc",
    "漢字かなカナe\u0301",
    "👩\u200d👩\u200d👧🏽",
)
add("fixed length one", {"type": "FixedLength", "length": 1}, "aé😀")
add("sequence of nothing", sequence(), "a b")
add(
    "sequence",
    sequence(
        {"type": "Punctuation", "behavior": "Isolated"},
        {"type": "WhitespaceSplit"},
        {"type": "Digits", "individual_digits": True},
    ),
    WORDS,
    NASTY,
)
add(
    "sequence that rewrites first",
    sequence(metaspace("always", False), split("▁", "MergedWithPrevious", False, False)),
    "a b  c",
    " a",
)
add("bytes of bytes", sequence(byte_level(True), byte_level(False)), "é a")
add(
    "prefix after a cut",
    sequence({"type": "WhitespaceSplit"}, byte_level(True)),
    "a b  é",
)


def library(component: Component) -> Any:
    """The library's pre-tokenizer for a component as tokenizer.json writes it."""
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    file = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": component,
        "model": model,
    }
    return Tokenizer.from_str(json.dumps(file)).pre_tokenizer


def ours(component: Component) -> Any:
    """The same component as jeton's own types are stored."""
    fields = {name: value for name, value in component.items() if name != "type"}
    match component["type"]:
        case "BertPreTokenizer":
            return "Bert"
        case "Sequence":
            return {"Sequence": [ours(stage) for stage in fields["pretokenizers"]]}
        case "ByteLevel":
            fields["printable"] = True
        case "Metaspace":
            fields["prepend_scheme"] = fields["prepend_scheme"].capitalize()
        case "Split":
            [(kind, source)] = fields["pattern"].items()
            regex = {"source": source, "dialect": "Oniguruma"}
            fields["pattern"] = {"Regex": regex} if kind == "Regex" else {"Literal": source}
    return {component["type"]: fields} if fields else component["type"]


def toml(value: Any) -> str:
    """An inline TOML value; characters that cannot be distinguished by eye are escaped."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            return f'"{"".join(map(character, value))}"'
        case dict():
            return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
        case _:
            return f"[{', '.join(map(toml, value))}]"


def character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c == " " or unicodedata.category(c)[0] not in "ZCM":
        return c
    return f"\\u{ord(c):04X}" if ord(c) < 0x10000 else f"\\U{ord(c):08X}"


def main() -> None:
    lines = [
        "# What each pre-tokenizer makes of a text: the pieces, and their spans in characters of",
        "# the text, as Hugging Face tokenizers does (`pre_tokenize_str`).",
        "# Computed by make_pre_tokenizers.py. Columns: text, pieces as (piece, start, end).",
    ]
    for name, component, texts in ROWS:
        pre_tokenizer = library(component)
        lines += [
            "",
            "[[row]]",
            f"name = {toml(name)}",
            f"is = {toml(ours(component))}",
        ]
        lines.append("cases = [")
        for text in texts:
            pieces = pre_tokenizer.pre_tokenize_str(text)
            found = [[piece, start, end] for piece, (start, end) in pieces]
            lines.append(f"  [{toml(text)}, {toml(found)}],")
        lines.append("]")
    Path(__file__).with_name("pre_tokenizers.toml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
