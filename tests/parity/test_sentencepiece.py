"""SentencePiece models of all options, made here, against SentencePiece: ids, spans, decoding.

Look here for what a `.model` file is held to. Spans are SentencePiece's, but for a token that holds
part of a character or of what a character became: it has the span of the whole character.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jeton
from conftest import Scale
from jeton.errors import FormatError, FormatWarning
from model_bytes import field, piece

sentencepiece = pytest.importorskip("sentencepiece")

OPTIONS: dict[str, list[Any]] = {
    "model_type": ["unigram", "bpe", "word", "char"],
    "byte_fallback": [False, True],
    "normalization_rule_name": [
        "nmt_nfkc",
        "nmt_nfkc_cf",
        "nfkc",
        "nfkc_cf",
        "identity",
    ],
    "add_dummy_prefix": [True, False],
    "remove_extra_whitespaces": [True, False],
    "treat_whitespace_as_suffix": [False, True],
    "split_by_whitespace": [True, False],
    "split_by_unicode_script": [True, False],
    "split_digits": [False, True],
    "allow_whitespace_only_pieces": [False, True],
    "user_defined_symbols": [[], ["<sep>", "the", "  ", "▁x", "ﬁ", "é"]],
    "control_symbols": [[], ["<cls>", "[MASK]"]],
    "vocab_size": [120, 300],
    "pad_id": [-1, 3],
    "unk_surface": [" \u2047 ", "?"],
    "character_coverage": [0.98, 1.0],
}

LINES = [
    "the quick brown fox jumps over the lazy dog",
    "hello world this is a test of the tokenizer",
    "Ｈｅｌｌｏ　ｗｏｒｌｄ ① ㍿ ﷺ ½ ﬁ",
    "日本語のテキストです。これはテストです。",
    "привет мир это тест",
    "가나다라 한국어 문장",
    "مرحبا بالعالم",
    "she sells sea shells by the sea shore",
    "  spaces   here and   there ",
    "tests tested testing tester",
] * 30

SPACES = " \t\n\r\u00a0\u2003\u3000\u200b\u2028\u1680\ufeff\u0085\x0b"
WHOLE = [
    "<s>",
    "</s>",
    "<unk>",
    "<0x41>",
    "<sep>",
    "ﷺ",
    "①",
    "㍿",
    "ﬁ",
    "Å",
    "é",
    "▁",
    "\u200d",
]
# Presentation forms, jamo, half and full width, private use, unassigned, controls, …
BLOCKS = [
    (0x00, 0x250), (0x300, 0x460), (0x600, 0x6FF), (0x900, 0x980), (0x1100, 0x1200),
    (0x2000, 0x2200), (0x2460, 0x2500), (0x3000, 0x3100), (0x4E00, 0x4E80), (0xAC00, 0xAC80),
    (0xE000, 0xE010), (0xFB00, 0xFDFF), (0xFE70, 0xFFFE), (0x1D400, 0x1D440),
    (0x1F300, 0x1F350), (0x378, 0x37A), (0x10FFF0, 0x10FFFE),
]  # fmt: skip


def nasty(rng: random.Random) -> str:
    """A short text of what the models know, white space of every kind, and odd characters."""
    known = "".join(LINES[:10])
    parts: list[str] = []
    while len(parts) < rng.choice((1, 3, 8, 30)):
        kind = rng.random()
        if kind < 0.4:
            parts.append(rng.choice(known))
        elif kind < 0.55:
            parts.append(rng.choice(SPACES) * rng.choice((1, 1, 2, 4)))
        elif kind < 0.65:
            parts.append(rng.choice(WHOLE))
        elif kind < 0.75:
            parts.append(rng.choice(known) * rng.randint(2, 6))
        else:
            parts.append(chr(rng.randrange(*rng.choice(BLOCKS))))
    return "".join(parts)


def nasty_strings(count: int, *, seed: int) -> Iterator[str]:
    """Yields `count` of these texts, drawn from `seed`."""
    rng = random.Random(seed)
    for _ in range(count):
        yield nasty(rng)


def train(options: dict[str, Any], **more: Any) -> bytes:
    options = dict(options)
    if options["byte_fallback"]:
        options["vocab_size"] += 256
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_writer=file,
        hard_vocab_limit=False,
        minloglevel=3,
        num_threads=1,
        **options,
        **more,
    )
    return file.getvalue()


def spans_agree(judge: Any, text: str, mapping: Any, spans: list[tuple[int, int]]) -> bool:
    _, starts = judge.normalize(text, with_offsets=True)
    for id, (begin, end), (our_begin, our_end) in zip(
        mapping["ids"], mapping["offsets"], spans, strict=True
    ):
        if (begin, end) == (our_begin, our_end) or judge.is_byte(id):
            continue
        inside = our_end in starts and not any(end < start < our_end for start in starts)
        if begin != our_begin or end > our_end or not inside:
            return False
    return True


@pytest.mark.parametrize("number", range(80))
def test_trained_models(number: int, tmp_path: Path) -> None:
    """Ids, spans and decoding are SentencePiece's; the file is written byte for byte."""
    rng = random.Random(number)
    options = {name: rng.choice(values) for name, values in OPTIONS.items()}
    options["model_type"] = OPTIONS["model_type"][number % 4]
    file = train(options)
    path = tmp_path / "test.model"
    path.write_bytes(file)
    judge = sentencepiece.SentencePieceProcessor(model_proto=file)
    tokenizer = jeton.load(path)

    tokenizer.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == file

    for text in ["", " ", "▁", *(nasty(rng) for _ in range(150))]:
        mapping = judge.encode(text, return_type="offset_mapping")
        encoding = tokenizer.encode_with_spans(text)
        ids = list(encoding.ids)
        spans = [(begin, end) for begin, end in encoding.spans]
        assert ids == mapping["ids"], (options, text)
        assert spans_agree(judge, text, mapping, spans), (options, text, spans)
        decoded = tokenizer.decode(ids, skip_special_tokens=True)
        assert decoded == judge.decode(ids), (options, text)
    for _ in range(100):
        ids = [rng.randrange(judge.vocab_size()) for _ in range(rng.randint(1, 12))]
        decoded = tokenizer.decode(ids, skip_special_tokens=True)
        shown = [id for id in ids if not judge.is_control(id)]
        assert decoded == judge.decode(shown), (options, ids)
        # A control piece parts bytes there; here those on its sides may make one character.
        kinds = "".join("b" if judge.is_byte(id) else "pc"[judge.is_control(id)] for id in ids)
        if not re.search("bc+b", kinds):
            assert decoded == judge.decode(ids), (options, ids)


FIRST = {name: values[0] for name, values in OPTIONS.items()}


@pytest.mark.large
@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("symbols", [["<sep>", "the", "é", "ﬁ"], ["▁x", "the"], ["  ", "a b"]])
def test_spans_beside_pieces_of_the_user(
    symbols: list[str], prefix: bool, tmp_path: Path, scale: Scale
) -> None:
    """Spans from the lengths of tokens, where the text is left as it is, are those of the stages."""
    options = {"model_type": "bpe", "normalization_rule_name": "identity", "byte_fallback": True}
    kept = {"remove_extra_whitespaces": False, "add_dummy_prefix": prefix}
    file = train({**FIRST, **options, **kept, "user_defined_symbols": symbols})
    path = tmp_path / "test.model"
    path.write_bytes(file)
    tokenizer = jeton.load(path)
    judge = sentencepiece.SentencePieceProcessor(model_proto=file)
    for text in nasty_strings(scale.strings, seed=5):
        encoding = tokenizer.encode_with_spans(text)
        mapping = judge.encode(text, return_type="offset_mapping")
        assert spans_agree(judge, text, mapping, list(encoding.spans)), text
        for unit in ("characters", "bytes", "utf-16"):
            ids, spans = tokenizer.encode_array(text, spans=unit)
            one_by_one = tokenizer.encode_with_spans(text, unit=unit)
            assert ids.tolist() == list(one_by_one.ids) == judge.encode(text), text
            assert spans.tolist() == [list(span) for span in one_by_one.spans], (unit, text)


@pytest.mark.parametrize("model_type", OPTIONS["model_type"])
def test_self_test_data(model_type: str, tmp_path: Path) -> None:
    """The samples that a file brings along pass; of a file that fails one, a warning tells."""
    file = train({**FIRST, "model_type": model_type, "byte_fallback": False})
    judge = sentencepiece.SentencePieceProcessor(model_proto=file)
    samples = b""
    rng = random.Random(3)
    for text in [*LINES[:10], *(nasty(rng) for _ in range(40))]:
        text = text.replace("\0", "")
        pieces = " ".join(judge.encode(text, out_type=str))
        samples += field(1, field(1, text.encode()) + field(2, pieces.encode()))
    path = tmp_path / "test.model"
    path.write_bytes(file + field(4, samples))
    assert jeton.load(path).encode(LINES[0]) == judge.encode(LINES[0])

    wrong = field(1, field(1, b"the test") + field(2, "▁the ▁ tes t x".encode()))
    path.write_bytes(file + field(4, samples + wrong))
    with pytest.warns(FormatWarning, match="self_test_data: sample 50"):
        assert jeton.load(path).encode(LINES[0]) == judge.encode(LINES[0])


def test_denormalization(tmp_path: Path) -> None:
    """Decoded text goes through the character map that the file has for it."""
    rules = tmp_path / "rules.tsv"
    rules.write_text("74\t54 54\n65 73\t45\n", encoding="utf-8")
    file = train(FIRST, denormalization_rule_tsv=str(rules))
    path = tmp_path / "test.model"
    path.write_bytes(file)
    judge = sentencepiece.SentencePieceProcessor(model_proto=file)
    tokenizer = jeton.load(path)
    assert "TT" in judge.decode(judge.encode("the tests"))
    rng = random.Random(2)
    for text in ["the tests", *(nasty(rng) for _ in range(200))]:
        ids = judge.encode(text)
        assert tokenizer.encode(text) == ids, text
        assert tokenizer.decode(ids) == judge.decode(ids), text


NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

#: A piece that is spelled as another one is.
TWINS = {
    "text as a control piece": ("<s>", NORMAL),
    "text as the unknown piece": ("<unk>", NORMAL),
    "text as a byte": ("<0x61>", NORMAL),
    "user-defined as a control piece": ("<s>", USER_DEFINED),
    "unused as a control piece": ("<s>", UNUSED),
    "control as text": ("a", CONTROL),
    "a word": ("▁<s>", CONTROL),
    "two of text": ("a", USER_DEFINED),
    "two control pieces": ("<s>", CONTROL),
}


@pytest.mark.parametrize("model_type", [1, 2, 3, 4])
@pytest.mark.parametrize("twin", TWINS)
def test_pieces_of_one_spelling(twin: str, model_type: int, tmp_path: Path) -> None:
    """They are refused where SentencePiece refuses them, and mean the same where not."""
    rows = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("▁<s>", -1.0, NORMAL)]
    rows += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    rows += [(text, -3.0, NORMAL) for text in ("▁", "a", "b", "<", ">", "s", "<s", "▁a")]
    rows.append((TWINS[twin][0], -1.0, TWINS[twin][1]))
    trainer = field(2, bytes([3 << 3, model_type, 0x98, 0x02, 1]))
    file = b"".join(piece(*row) for row in rows) + trainer + field(3, b"")
    path = tmp_path / "test.model"
    path.write_bytes(file)
    try:
        judge = sentencepiece.SentencePieceProcessor(model_proto=file)
    except RuntimeError:
        with pytest.raises(FormatError, match="has two ids"):
            jeton.load(path)
        return
    tokenizer = jeton.load(path)
    for text in ("", "a", "a b", "<s>", "x<s>a", "<unk> <s>", "<0x61>a", "<s> <s>é"):
        ids = judge.encode(text)
        assert tokenizer.encode(text) == ids, text
        assert tokenizer.decode(ids, skip_special_tokens=True) == judge.decode(ids), text
        if model_type == 1 and ids:
            assert tokenizer.nbest(text, 5) == judge.nbest_encode(text, nbest_size=5), text
    for id in range(len(rows)):
        for ids in ([id], [id] * 3000):
            assert tokenizer.decode(ids, skip_special_tokens=True) == judge.decode(ids), id
    tokenizer.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == file


def test_damaged_character_maps(tmp_path: Path) -> None:
    """What SentencePiece refuses is refused; what both read means the same."""
    rules = tmp_path / "rules.tsv"
    rules.write_text("41\t61\n65 301\tE9\nFF76 FF9E\t30AC\n42\t\n43\t62 62\n", encoding="utf-8")
    file = train(FIRST, normalization_rule_tsv=str(rules))
    tokenizer = jeton.Tokenizer(jeton.components.models.SentencePiece(file))
    charsmap = tokenizer.stages.normalizer.charsmap  # type: ignore[union-attr]
    at = file.index(charsmap)
    rng = random.Random(9)
    path = tmp_path / "test.model"
    texts = ["ABC cafe\u0301 ｶﾞ", " A", *(nasty(rng) for _ in range(5))]
    refused = 0
    for _ in range(600):
        damaged = bytearray(file)
        for _ in range(rng.randint(1, 2)):
            damaged[at + 4 + rng.randrange(len(charsmap) - 4)] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            judge = sentencepiece.SentencePieceProcessor(model_file=str(path))
        except RuntimeError:
            refused += 1
            with pytest.raises(FormatError, match="normalizer_spec: the precompiled character map"):
                jeton.load(path)
            continue
        with contextlib.suppress(FormatError):
            tokenizer = jeton.load(path)
            for text in texts:
                assert tokenizer.encode(text) == judge.encode(text), text
    assert refused > 50
