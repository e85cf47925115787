"""Named patterns of byte-level tokenizers, against the module `regex`, and on the fast path."""

from __future__ import annotations

import random

import pytest
import regex

import jeton
import jeton._core as _core

NEW = "kimi_k2 starcoder falcon bloom viking deepseek_coder deepseek_llm superbpe".split()
EXPRESSIONS = {name: expressions for name, _, _, expressions in _core.named_patterns()}
PARTS = ["a", "B", "é", "中", "文", "あ", "한", "ا", "'s", "'LL", "e\u0301", "12", "3", "456", "½"]
PARTS += [" ", "  ", "\n", "\r\n", "\t", "\u3000", "~", "$+", "...", "！", "。", "«x»", "🙂"]
PARTS += ["HelloWorld", "_"]


def _split(expressions: list[str], text: str) -> list[str]:
    """What lies in the matches of one expression after another, and between them."""
    pieces = [text] if text else []
    for expression in expressions:
        # Oniguruma, as `regex`'s newer version, has intersections of classes.
        escaped = regex.sub(r"\\x\{(\w+)\}", lambda it: rf"\u{int(it[1], 16):04x}", expression)
        compiled = regex.compile(escaped.replace(r"\z", r"\Z"), regex.V1)
        finer: list[str] = []
        for piece in pieces:
            start = 0
            for match in compiled.finditer(piece):
                finer += [piece[start : match.start()], match[0]]
                start = match.end()
            finer.append(piece[start:])
        pieces = [piece for piece in finer if piece]
    return pieces


@pytest.mark.parametrize("name", NEW)
def test_a_named_pattern_splits_as_its_expressions(name: str) -> None:
    tok = jeton.BPETrainer(300, pattern=name).train(["a text"])
    assert tok.stages.pre_tokenizer is not None
    rng = random.Random(3)
    for _ in range(400):
        text = "".join(rng.choices(PARTS, k=rng.randint(0, 12)))
        pieces = [text[start:end] for _, (start, end) in tok.stages.pre_tokenizer(text)]
        assert pieces == _split(EXPRESSIONS[name], text), text


@pytest.mark.parametrize("name", NEW)
def test_a_named_pattern_is_fast(name: str) -> None:
    tok = jeton.BPETrainer(300, pattern=name).train(["a text"])
    assert tok.stages.encoding_plan().strategy in ("byte_level", "cached_pieces")


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("command-r", "starcoder"),
        ("granite", "starcoder"),
        ("glm4", "llama3"),
        ("llama4", "o200k"),
        ("mpt", "gpt2"),
        ("kimi-k2", "kimi_k2"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    made = [jeton.BPETrainer(300, pattern=it).train(["a text"]) for it in (alias, name)]
    assert made[0].stages.pre_tokenizer == made[1].stages.pre_tokenizer
