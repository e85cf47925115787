"""`jeton check`: planted defects are found, each by its rule, and nothing else is said of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jeton
from command_line import Run, error_of, here, run  # noqa: F401
from jeton.analysis import RULES, Finding, Health, check
from jeton.analysis.health import encoding_rules
from jeton.analysis.health.attack import is_part_of_utf8
from jeton.analysis.health.embedding_rules import by_direction, by_length
from jeton.analysis.health.rules import SEVERITIES
from jeton.analysis.health.sarif import to_sarif
from jeton.analysis.health.subject import Subject
from jeton.analysis.health.vocabulary_rules import is_damaged
from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
from jeton.components.component import read_stored
from jeton.encoding.base_tokenizer import stages
from jeton.errors import ArgumentError, FormatError
from jeton.loading.model_file import UNUSED, ModelFile
from kinds import byte_level, each_kind, ranks, word_piece
from sarif_rules import faults
from shared_data import VOCABULARIES, needed

BYTES = {bytes([byte]): byte for byte in range(256)}
UNREACHABLE = [name for name in RULES if name.startswith("unreachable-")]


def bpe(
    more: dict[bytes, int], merges: list[tuple[bytes, bytes]] | None = None, **stages: Any
) -> jeton.Tokenizer:
    """Bytes, and more tokens."""
    model = models.BPE({**BYTES, **more}, [] if merges is None else merges)
    return jeton.Tokenizer(model, decoder=decoders.ByteLevel(), **stages)


def pieces(*rows: tuple[str, float]) -> jeton.Tokenizer:
    """A Unigram of these pieces, after the unknown one."""
    return jeton.Tokenizer(models.Unigram([("<unk>", 0.0), *rows], unk_id=0))


def words(*tokens: str, **stages: Any) -> jeton.Tokenizer:
    """A WordPiece of these tokens, after the unknown one."""
    names = ["[UNK]", *tokens]
    return jeton.Tokenizer(models.WordPiece({name: id for id, name in enumerate(names)}), **stages)


def found(tok: jeton.Tokenizer, rule: str, **options: Any) -> Finding:
    finding = check(tok, **options)[rule]
    assert finding is not None, rule
    return finding


_THINKS = (
    "{{% for m in messages %}}<|im_start|>{{{{ m.role }}}}\n{{% if m.role == 'assistant' %}}{}"
    "{{% endif %}}{{{{ m.content }}}}<|im_end|>\n{{% endfor %}}"
)
_TURNS = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"

PLANTED = {
    "unreachable-bytes": (bpe({}), {0xC0, 0xC1, *range(0xF5, 0x100)}),
    "unreachable-merge": (bpe({b"ab": 256, b"abc": 257}, [(b"a", b"b")]), {257}),
    "unreachable-merge, another comes first": (
        bpe({b"ab": 256, b"bc": 257, b"abc": 258}, [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")]),
        {258},
    ),
    "unreachable-score": (pieces(("a", -1.0), ("b", -1.0), ("ab", -5.0)), {3}),
    "unreachable-match": (words("a", "a" * 101), {2}),
    "unreachable-normalizer": (words("the", "The", normalizer=normalizers.Lowercase()), {2}),
    "unreachable-cut": (
        words("a", "a-b", pre_tokenizer=pre_tokenizers.BertPreTokenizer()),
        {2},
    ),
    "unreachable-added": (
        bpe({b"xy": 256}, [(b"x", b"y")], added_tokens=[jeton.AddedToken("y", 257)]),
        {121, 256},
    ),
    "id-gap": (bpe({b"ab": 260}, [(b"a", b"b")]), set()),
    "duplicate-token": (pieces(("a", -1.0), ("a", -2.0), ("b", -1.0)), {1, 2}),
    "part-of-character": (bpe({b"\xa9\xc3": 256}, [(b"\xa9", b"\xc3")]), {256}),
    "whitespace-token": (bpe({b"  ": 256}, [(b" ", b" ")]), {256}),
    "encoding-damage": (words("cafÃ©", "é"), {1}),
    "markup": (words("</div", "div"), {1}),
    "url": (words("https://", "s"), {1}),
    "mixed-scripts": (words("pаypal", "東のア"), {1}),
    "long-token": (words("x" * 41, "x" * 40), {1}),
    "special-in-text": (ranks(), {300, 301}),
    "control-in-text": (
        bpe({}, added_tokens=[jeton.AddedToken("<|im_end|>", 256), jeton.AddedToken("ok", 257)]),
        {256},
    ),
    "unknown-text": (words("a"), set()),
    "decoder": (words("a", "##n", "##s", "i"), set()),
    "split-words": (
        jeton.Tokenizer(models.BPE({b"i": 0, b"n": 1}, [], alphabet="characters")),
        set(),
    ),
    "dropped-text": (
        jeton.Tokenizer(models.BPE({b"a": 0}, [], alphabet="characters")),
        set(),
    ),
    "missing-bytes": (
        jeton.Tokenizer(
            models.BPE({token: id for token, id in BYTES.items() if token != b"a"}, [])
        ),
        set(),
    ),
    "other-alone": (
        words("a", "##b", decoder=decoders.WordPiece(), pre_tokenizer=pre_tokenizers.Punctuation()),
        {2},
    ),
    "special-not-found": (
        words(
            "a",
            normalizer=normalizers.Replace("END", "x"),
            added_tokens=[
                jeton.AddedToken("<END>", 2, special=True, normalized=True),
                jeton.AddedToken("<E", 3, special=True),
            ],
        ),
        {2},
    ),
    "unreached": (
        # All characters that begin with the byte C3 are pieces; that they are all is not proved.
        jeton.Tokenizer(
            models.Unigram(
                [
                    ("<unk>", 0.0),
                    *((f"<0x{byte:02X}>", -9.0) for byte in range(256)),
                    *((chr(number), -1.0) for number in range(0xC0, 0x100)),
                ],
                unk_id=0,
                byte_fallback=True,
            )
        ),
        {1 + 0xC3},
    ),
    "format-loss": (bpe({}), set()),
    "template-fails": (bpe({}).replace(chat_template="{{ messages[7].content }}"), set()),
    "template-python": (bpe({}).replace(chat_template=f"{_TURNS}{{{{ tools }}}}"), set()),
    "template-rewrites": (bpe({}).replace(chat_template="{{ messages | length }}"), set()),
    "template-unclosed": (
        bpe({}).replace(chat_template=f"{_TURNS}<think>{{% if no %}}</think>{{% endif %}}"),
        set(),
    ),
    "template-unclosed, without its end": (
        bpe({}).replace(chat_template=_THINKS.format("<think>\n")),
        set(),
    ),
    "template-unclosed, in capitals": (
        bpe({}).replace(chat_template=_THINKS.format("[THINK]")),
        set(),
    ),
    "template-unclosed, in a call": (
        bpe({}).replace(
            chat_template=_THINKS.format(
                "{% for c in m.tool_calls %}<tool_call>{{ c.function.name }}{% endfor %}"
            )
        ),
        set(),
    ),
    "template-sorts": (
        bpe({}).replace(chat_template=_TURNS + "{{ (tools or 0) | tojson(sort_keys=true) }}"),
        set(),
    ),
    "template-sorts, tools": (
        bpe({}).replace(
            chat_template=_TURNS
            + "{% for it in (tools or [])|sort(attribute='function.name') %}{{ it.function.name }}"
            "{% endfor %}"
        ),
        set(),
    ),
    "template-sorts, arguments": (
        bpe({}).replace(
            chat_template=_TURNS
            + "{% for it in messages[-1].tool_calls %}{{ it.function.arguments|dictsort }}"
            "{% endfor %}"
        ),
        set(),
    ),
    "template-clock": (
        bpe({}).replace(chat_template="{{ strftime_now('%d %B %Y') }}" + _TURNS),
        set(),
    ),
}


@pytest.mark.parametrize(("name", "planted"), PLANTED.items(), ids=PLANTED)
def test_planted_defects(name: str, planted: tuple[jeton.Tokenizer, set[int]]) -> None:
    tok, ids = planted
    finding = found(tok, name.partition(",")[0])
    assert set(finding.ids) == ids
    assert finding.cases and finding.message
    # The proof text is run here again, and does not give the token.
    for case in finding.cases:
        if finding.rule in UNREACHABLE and case.tried is not None:
            assert tok.encode(case.tried) == list(case.gave or ())
            assert case.id not in tok.encode(case.tried)


def test_a_batch_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    encode = Subject.encode

    def other_ids_of_a(subject: Subject, texts: list[str]) -> jeton.TokenBatch:
        return encode(subject, ["b" if text == "a" else text for text in texts])

    monkeypatch.setattr(Subject, "encode", other_ids_of_a)
    (finding,) = encoding_rules.batches(Subject(bpe({})))
    assert "'a'" in {case.name for case in finding.cases}
    assert (finding.severity, finding.evidence) == ("error", "observed")


def test_a_special_token_that_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Subject, "ids_of", lambda *_: [300])
    finding = found(ranks(), "special-leaks")
    assert (finding.ids, finding.severity) == ([300], "error")


@pytest.mark.large
def test_pieces_that_the_file_lists_as_unused(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    jeton.UnigramTrainer(20, hard_vocab_limit=False).train(["low lower lowest"] * 9).save(path)
    file = ModelFile.parse(path.read_bytes())
    last = len(file.pieces) - 1
    pieces = [replace(p, kind=UNUSED) if at == last else p for at, p in enumerate(file.pieces)]
    path.write_bytes(file.with_pieces(pieces))
    finding = found(jeton.load(path), "unused-piece")
    assert (finding.ids, finding.evidence) == ([last], "proved")


def test_a_frame_with_the_id_of_another_token() -> None:
    frame = post_processors.TemplateProcessing("<end> $A", special_tokens={"<end>": 0})
    tok = ranks().with_added_tokens([jeton.AddedToken("<end>", special=True)])
    document = json.loads(tok.to_json()) | {"post_processor": frame.to_dict()}
    with pytest.warns(jeton.errors.FormatWarning, match="the id 0"):
        loaded = jeton.Tokenizer.from_json(json.dumps(document))
    finding = found(loaded, "frame-ids")
    assert (finding.ids, finding.severity) == ([0], "error")


def test_each_rule_has_a_planted_defect() -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    assert not [name for name in RULES if f'"{name}"' not in tests]


TRIED_OTHERWISE = {
    "class-differs",
    "format-loss",
    "never-used",
    "small-embedding",
    "unused-direction",
}
"""Rules that see a file or a corpus, not what a text becomes."""


@pytest.mark.parametrize(("name", "planted"), PLANTED.items(), ids=PLANTED)
def test_observed_texts_are_shown(name: str, planted: tuple[jeton.Tokenizer, set[int]]) -> None:
    for finding in check(planted[0]):
        assert (finding.evidence == "proved") is all(c.evidence == "proved" for c in finding.cases)
        for case in finding.cases:
            if case.evidence == "observed":
                assert case.tried is not None or finding.rule in TRIED_OTHERWISE


@pytest.mark.large
def test_proved_and_observed_cases_are_told_apart() -> None:
    assert found(PLANTED["unreachable-cut"][0], "unreachable-cut").evidence == "proved"
    by_expression = words("a", "a-b", pre_tokenizer=pre_tokenizers.Split("-", "isolated"))
    finding = found(by_expression, "unreached")
    assert (finding.ids, finding.evidence) == ([2], "observed")
    assert {case.evidence for case in finding.cases} == {"observed"}
    for tok, _ in PLANTED.values():
        assert all(it.evidence == "proved" for it in check(tok) if it.rule in UNREACHABLE)


@pytest.mark.large
def test_messages_about_one_token_are_singular() -> None:
    for tok, _ in PLANTED.values():
        for finding in check(tok):
            assert not re.search(r"\b1 (tokens|bytes|ids|texts|rows|characters)\b", finding.message)


@pytest.mark.large
def test_byte_tokens_that_characters_make_needless() -> None:
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    rows = [("<unk>", 0.0), ("A", -1.0), *((name, -9.0) for name in names)]
    tok = jeton.Tokenizer(models.Unigram(rows, unk_id=0, byte_fallback=True))
    assert found(tok, "spare-byte").ids == [tok.vocab["<0x41>"]]
    assert len(found(tok, "unreachable-bytes").ids) == 13
    assert check(tok)["unreached"] is None and check(tok)["missing-bytes"] is None


@each_kind
def test_no_text_gives_a_token_that_is_proved_unreachable(tok: jeton.Tokenizer) -> None:
    health = check(tok)
    ids = {id for rule in UNREACHABLE for id in getattr(health[rule], "ids", [])}
    around = ["", " ", "a", "the", "\n", "1", "é", "##", "_", "東", "🙂", "x."]
    texts = [tok.vocab.token_bytes(id).decode(errors="replace") for id in sorted(ids)]
    attacks = [left + text + right for text in texts for left in around for right in around]
    assert not ids & set(tok.encode_batch(attacks).ids.tolist())


@each_kind
def test_each_kind_is_without_errors_and_comes_back_from_json(
    tok: jeton.Tokenizer, tmp_path: Path
) -> None:
    health = check(tok)
    assert health.worst != "error"
    assert health["batch-differs"] is health["special-leaks"] is None
    health.save(tmp_path / "health.json")
    loaded = Health.load(tmp_path / "health.json")
    assert loaded.to_dict() == health.to_dict()
    assert len(loaded.since(health)) == len(health.since(loaded)) == 0


def test_only_what_is_new_is_left() -> None:
    before = bpe({b"  ": 256}, [(b" ", b" ")])
    after = bpe({b"\n\n": 256, b"  ": 257}, [(b"\n", b"\n"), (b" ", b" ")])
    new = check(after).since(check(before))
    assert [case.token for finding in new for case in finding.cases] == [b"\n\n"]


def test_rules_can_be_chosen() -> None:
    assert [it.rule for it in check(ranks(), only=["id-gap"])] == ["id-gap"]
    assert check(ranks(), ignore=["id-gap"])["id-gap"] is None
    with pytest.raises(ArgumentError, match="did you mean 'id-gap'"):
        check(ranks(), only=["id-gaps"])


def test_a_corpus_tells_what_is_never_used() -> None:
    tok = byte_level()
    assert check(tok).skipped["never-used"] == "there is no corpus"
    health = check(tok, corpus=["the weather"])
    finding = health["never-used"]
    assert finding is not None and health.corpus == tok.usage(["the weather"]).corpus
    assert not set(finding.ids) & set(tok.encode("the weather"))
    assert check(tok, corpus=tok.usage(["the weather"])).to_dict() == health.to_dict()
    with pytest.raises(ArgumentError, match="another tokenizer"):
        check(tok, corpus=ranks().usage(["the weather"]))


class TestEmbeddings:
    @pytest.fixture
    def table(self) -> np.ndarray:
        """Rows about a direction they share; those of unused bytes and of token 97 are short."""
        draw = np.random.default_rng(3)
        table = draw.normal(size=(264, 16)) + 2.0
        unused = [*range(0xF5, 0x100), 0xC0, 0xC1, 97, *range(256, 264)]
        shared = 0.1 * draw.normal(size=16)
        table[unused] = shared + 0.001 * draw.normal(size=(len(unused), 16))
        table[97] = 0.9 * shared
        return table.astype(np.float32)

    @pytest.mark.parametrize("dtype", ["<f4", "<f8", "<f2", "bf16"])
    def test_planted_rows_are_found(self, table: np.ndarray, dtype: str, tmp_path: Path) -> None:
        path = tmp_path / "model.safetensors"
        write_safetensors(path, {"model.embed_tokens.weight": table}, dtype)
        health = check(bpe({}), embeddings=path)
        assert found(bpe({}), "small-embedding", embeddings=path).ids == [97]
        direction = health["unused-direction"]
        assert direction is not None and 97 in direction.ids
        assert "never-used" in health.skipped and "small-embedding" not in health.skipped

    def test_the_indicators_are_the_published_ones(self, table: np.ndarray) -> None:
        assert np.allclose(by_length(table), np.linalg.norm(table, axis=1))
        unused = np.arange(256, 264)
        component = np.linalg.svd(table - table.mean(0), full_matrices=False)[2][0]
        left = table - np.outer(table @ component, component)
        mean = left[unused].mean(0)
        expected = 1 - left @ mean / np.linalg.norm(left, axis=1) / np.linalg.norm(mean)
        assert np.allclose(by_direction(table, unused), expected, atol=1e-3)

    def test_tables_that_do_not_fit(self, table: np.ndarray, tmp_path: Path) -> None:
        path = tmp_path / "model.safetensors"
        write_safetensors(path, {"wte.weight": table[:200], "odd": table}, "<f4")
        with pytest.raises(ArgumentError, match="200 rows"):
            check(bpe({}), embeddings=path)
        with pytest.raises(ArgumentError, match="no table 'x'"):
            check(bpe({}), embeddings=path, tensor="x")
        assert found(bpe({}), "small-embedding", embeddings=path, tensor="odd").ids == [97]
        path.write_bytes(b"nothing")
        with pytest.raises(FormatError, match="safetensors"):
            check(bpe({}), embeddings=path)


def write_safetensors(path: Path, tables: dict[str, np.ndarray], dtype: str) -> None:
    names = {"<f4": "F32", "<f8": "F64", "<f2": "F16", "bf16": "BF16"}
    header: dict[str, Any] = {}
    data = b""
    for name, table in tables.items():
        if dtype == "bf16":
            raw = (table.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        else:
            raw = table.astype(dtype).tobytes()
        place = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": names[dtype], "shape": list(table.shape), "data_offsets": place}
        data += raw
    packed = json.dumps(header).encode()
    path.write_bytes(len(packed).to_bytes(8, "little") + packed + data)


@pytest.mark.parametrize(
    ("data", "is_part"),
    [(b"", True), (b"a\xc3", True), (b"\xa9a", True), (b"\xc0", False), (b"\xed\xa0", False),
     (b"\x80\x80\x80", True), (b"\x80\x80\x80\x80", False), (b"\xe4\xb8a", False),
     (b"\xf4\x90", False), (b"\xf4\x8f", True)],
)  # fmt: skip
def test_parts_of_utf8(data: bytes, is_part: bool) -> None:
    assert is_part_of_utf8(data) is is_part


@pytest.mark.parametrize("text", ["naïve", "ÃO", "£20", "Ökonomie", "тест", "Åñ", "«à»", "½"])
def test_text_that_is_not_damaged(text: str) -> None:
    assert not is_damaged(text)
    damaged = text.encode().decode("cp1252", "ignore")
    assert is_damaged(damaged) or not any("\u00a0" <= c < "\u0180" for c in text)


def test_sarif_names_the_rules_and_the_file() -> None:
    health = check(byte_level())
    (log,) = to_sarif(health, "a folder/tok%.json")["runs"]
    rules = log["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    for result, finding in zip(log["results"], health, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.rule
        assert result["level"] == finding.severity
        assert result["occurrenceCount"] == len(finding.cases)
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == "a%20folder/tok%25.json"
        assert result["properties"]["evidence"] == finding.evidence


@each_kind
def test_sarif_is_valid(tok: jeton.Tokenizer) -> None:
    log = to_sarif(check(tok), "tok.json")
    assert faults(log) == []
    assert json.loads(json.dumps(log)) == log


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda log: log.pop("version"), "log: no version"),
        (lambda log: log.update(version="2.0"), "log.version"),
        (lambda log: log["runs"][0].pop("tool"), "log.runs.0: no tool"),
        (lambda log: log["runs"][0]["results"][0].update(level="grave"), "results.0.level"),
        (lambda log: log["runs"][0]["results"][0].update(ruleIndex=99), "results.0.ruleIndex"),
        (lambda log: log["runs"][0]["results"][0].update(more=1), "results.0: unknown more"),
        (lambda log: log["runs"][0].update(results={}), "log.runs.0.results"),
    ],
)
def test_faults_of_sarif_are_seen(damage: Any, told: str) -> None:
    log = to_sarif(check(byte_level()), "tok.json")
    damage(log)
    assert any(told in fault for fault in faults(log)), faults(log)


class TestCommand:
    def test_exit_codes(self, run: Run, here: Path) -> None:  # noqa: F811
        words("The", normalizer=normalizers.Lowercase()).save("tok.json")
        run("check", "tok.json")
        run("check", "tok.json", "--fail-on", "warning", code=1)
        run("check", "tok.json", "--fail-on", "note", code=1)
        run("check", "tok.json", "--fail-on", "never")
        run("check", "tok.json", "--fail-on", "warning", "--ignore", "unreachable-normalizer")
        run("check", "tok.json", "--only", "nonsense", code=2)
        run("check", "tok.json", "--tensor", "x", code=2)
        assert "missing.json" in error_of(run("check", "missing.json", code=1))

    def test_a_baseline(self, run: Run, here: Path) -> None:  # noqa: F811
        ranks().save("tok.json", lossy=True)
        run("check", "tok.json", "--format", "json", "-o", "known.json")
        output = run("check", "tok.json", "--baseline", "known.json", "--fail-on", "note").stdout
        assert "nothing new" in output
        (here / "bad.json").write_text("{}")
        assert "bad.json" in error_of(run("check", "tok.json", "--baseline", "bad.json", code=1))

    def test_forms(self, run: Run, here: Path) -> None:  # noqa: F811
        ranks().save("tok.json", lossy=True)
        table = run("check", "tok.json").stdout
        assert "special-in-text" in table and "→" in table and "\x1b" not in table
        assert "\x1b[" in run("check", "tok.json", "--color", "always").stdout
        lines = run("check", "tok.json", "--format", "plain").stdout.splitlines()
        assert all(line.split("\t")[1] in ("error", "warning", "note") for line in lines)
        every = run("check", "tok.json", "--format", "plain", "--all").stdout.splitlines()
        assert len(every) > len(lines)
        assert (
            json.loads(run("check", "tok.json", "--format", "json").stdout)["counts"]["error"] == 0
        )
        assert (
            json.loads(run("check", "tok.json", "--format", "sarif").stdout)["version"] == "2.1.0"
        )
        assert run("check", "--rules", "x").stdout.count("\n") >= len(RULES)

    def test_a_corpus(self, run: Run, here: Path) -> None:  # noqa: F811
        ranks().save("tok.json", lossy=True)
        (here / "a.txt").write_text("the the")
        assert "never-used" in run("check", "tok.json", "--corpus", "a.txt").stdout


def test_every_rule_has_a_severity_and_all_its_texts() -> None:
    for it in RULES.values():
        assert it.severity in SEVERITIES and it.title and it.why and it.remedy, it.name


def test_word_pieces_are_told_by_the_stage_that_loses_them() -> None:
    tok = word_piece()
    finding = found(tok, "other-alone")
    assert {case.told for case in finding.cases} <= {"continues a word", ""}


REAL = {
    "gpt2_vocab.json": {},
    "cl100k_base.tiktoken": {},
    "o200k_base.tiktoken": {},
    "llama3_ranks.model": {},
    "llama2_sentencepiece_bpe.model": {},
    "t5_style_unigram.model": {},
    "neox": {"duplicate-token": 46, "unreachable-added": 221},
    "bert_uncased_vocab.txt": {"unreachable-normalizer": 244, "unreachable-cut": 1087},
}


@pytest.mark.large
@pytest.mark.parametrize(("name", "expected"), REAL.items(), ids=REAL)
def test_published_tokenizers(name: str, expected: dict[str, int]) -> None:
    needed(VOCABULARIES / name)
    merges = VOCABULARIES / "gpt2_merges.txt" if name == "gpt2_vocab.json" else None
    health = check(jeton.load(VOCABULARIES / name, merges=merges))
    grave = {it.rule: len(it.cases) for it in health if it.severity != "note"}
    assert grave == expected


def test_a_character_map_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tok = jeton.UnigramTrainer(20, normalizer=normalizers.Precompiled.named("nmt_nfkc")).train(
        ["low lower lowest", "the new widest way"]
    )
    read: list[str] = []

    def noted(stage: str, stored: Any) -> Any:
        read.append(stage)
        return read_stored(stage, stored)

    monkeypatch.setattr(stages, "read_stored", noted)
    check(tok)
    assert sorted(read) == sorted(set(read)), "each stage once"
    assert tok.stages.normalizer is tok.stages.normalizer
