"""`evaluate` and `compare`: what they count, that order and cutting do not matter, bad input."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import runpy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from jeton import _core, analysis
from jeton.analysis import Comparison, Evaluation, evaluate, measures, texts
from jeton.analysis.known_measures import MEASURES
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    EncodeError,
    FormatError,
    MissingFileError,
    UnknownNameError,
)
from kinds import KINDS, each_kind, ranks, word_piece

TEXTS = ["the weather there", "", "père: x = 1\n", "the the"]


def values(measured: analysis.Measured) -> dict[str, Any]:
    return {name: value.value for name, value in measured.values.items()}


@each_kind
def test_counts_are_those_of_encode(tok: jeton.Tokenizer) -> None:
    result = evaluate(tok, {"it": TEXTS})
    found = result["it"]
    ids = [tok.encode(text) for text in TEXTS]
    tokens = sum(map(len, ids))
    counts = Counter(id for row in ids for id in row)
    assert (found["tokens"], found["documents"]) == (tokens, 3)
    assert found["bytes"] == sum(len(text.encode()) for text in TEXTS)
    assert found["characters"] == sum(map(len, TEXTS))
    assert found["words"] == 8
    assert found["type_token_ratio"] == pytest.approx(len(counts) / tokens)
    assert found["entropy"] == pytest.approx(
        -sum(n / tokens * math.log2(n / tokens) for n in counts.values())
    )
    pairs = Counter(pair for row in ids for pair in itertools.pairwise(row))
    total = sum(pairs.values())
    assert found["bigram_entropy"] == pytest.approx(
        -sum(n / total * math.log2(n / total) for n in pairs.values())
    )
    exact = sum(tok.decode(tok.encode(line)) == line for line in lines(TEXTS))
    assert found["exact_round_trips"] == exact / len(lines(TEXTS))
    assert result.is_lossy or exact == len(lines(TEXTS))
    assert values(result["all"]) == values(found)
    assert result.tokenizer == tok.digest and result.version == jeton.__version__
    assert result.digests == {"it": tok.usage(TEXTS).corpus}
    assert set(found.values) | set(result.overall.values) <= MEASURES.keys()


def lines(given: list[str]) -> list[str]:
    return [line for text in given for line in text.split("\n") if line]


@pytest.mark.large
@given(st.lists(st.text(max_size=30), max_size=6), st.randoms())
def test_the_order_of_texts_does_not_matter(given: list[str], random: Any) -> None:
    tok = KINDS["byte-level"]()
    shuffled = random.sample(given, len(given))
    one, other = evaluate(tok, given), evaluate(tok, shuffled)
    assert values(one["all"]) == pytest.approx(values(other["all"]))
    assert one.lossy == other.lossy


@pytest.mark.large
@given(st.lists(st.text(max_size=20), max_size=6), st.integers(0, 6))
def test_corpora_add_up(given: list[str], at: int) -> None:
    tok = KINDS["WordPiece"]()
    result = evaluate(tok, {"a": given[:at], "b": given[at:]})
    whole = evaluate(tok, given)["corpus"]
    for name in ("tokens", "bytes", "characters", "words", "documents"):
        parts = (result["a"][name], result["b"][name])
        assert sum(part or 0 for part in parts) == result["all"][name] == whole[name], name
    assert values(result["all"]) == pytest.approx(values(whole))


def test_files_of_every_kind_measure_alike(tmp_path: Path) -> None:
    tok = ranks()
    given = [text for text in TEXTS if text]
    (tmp_path / "texts").mkdir()
    for number, text in enumerate(given):
        (tmp_path / "texts" / f"{number}.txt").write_bytes(text.encode())
    records = "".join(json.dumps({"text": text}) + "\n" for text in given)
    (tmp_path / "lines.jsonl").write_text(records, encoding="utf-8")
    (tmp_path / "lines.jsonl.gz").write_bytes(gzip.compress(records.encode()))
    expected = values(evaluate(tok, given)["all"])
    names = ["texts", "lines.jsonl", "lines.jsonl.gz"]
    try:
        from pyarrow import parquet, table
    except ImportError:
        pass
    else:
        parquet.write_table(table({"text": given}), tmp_path / "table.parquet")
        names.append("table.parquet")
    for name in names:
        result = evaluate(tok, tmp_path / name)
        assert values(result["all"]) == pytest.approx(expected), name
        assert result.digests["corpus"] == tok.usage(tmp_path / name).corpus, name
    assert evaluate(tok, tmp_path / "lines.jsonl", field="text")["all"]["documents"] == 3


def test_long_texts_are_cut_behind_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tok = ranks()
    text = "the weather there\nthe theory\n\nx" * 40
    (tmp_path / "a.txt").write_bytes(("\ufeff" + text).encode())

    def found(data: Any) -> dict[str, Any]:
        # Pairs across a cut are not counted.
        of_pairs = ("bigram_entropy", "conditional_entropy")
        measured = values(evaluate(tok, data)["all"])
        return {name: value for name, value in measured.items() if name not in of_pairs}

    expected = found([text])
    monkeypatch.setattr(texts, "LONGEST", 64)
    monkeypatch.setattr(texts, "_READ", 100)
    assert found([text]) == pytest.approx(expected)
    assert found(tmp_path / "a.txt") == pytest.approx(expected)


@given(st.text(alphabet="ab \n\t.", max_size=200), st.integers(1, 50))
def test_parts_are_the_text(text: str, longest: int) -> None:
    parts = texts.cut(text, longest)
    assert "".join(parts) == text and max(map(len, parts)) <= longest
    assert all(parts) or not text


def parts_of(text: str) -> _core.TextParts:
    parts = _core.TextParts(texts.LONGEST)
    parts.add(text)
    return parts


@given(st.lists(st.text("abc", max_size=30), max_size=30), st.randoms())
def test_a_sample_does_not_depend_on_the_order(given: list[str], random: Any) -> None:
    before = texts.SAMPLE
    texts.SAMPLE = 100  # type: ignore[misc]
    try:
        one, other = texts.Sample(), texts.Sample()
        for text in given:
            one.add(parts_of(text))
        for text in random.sample(given, len(given)):
            other.add(parts_of(text))
        assert one.parts() == other.parts()
        at = len(given) // 2
        halves = texts.Sample(), texts.Sample()
        for number, text in enumerate(given):
            halves[number >= at].add(parts_of(text))
        assert halves[0].joined(halves[1:]).parts() == one.parts()
    finally:
        texts.SAMPLE = before  # type: ignore[misc]


@pytest.mark.large
def test_values_are_what_they_were(tmp_path: Path) -> None:
    """Of a corpus with samples, rare words, several kinds of files and bytes that are not UTF-8."""
    testdata = Path(__file__).parents[2] / "testdata"
    saved = json.loads((testdata / "evaluation.json").read_text(encoding="utf-8"))
    assert runpy.run_path(str(testdata / "make_evaluation.py"))["measured"](tmp_path) == saved


def test_results_are_asked_by_name() -> None:
    found = evaluate(ranks(), {"a": ["the\n\ntheory", ""]}, parallel={"en": ["the"]})
    assert list(found) == ["a", "all", "en"] and "a" in found and "b" not in found
    measured = found["a"]
    assert dict(measured.values) == {name: measured.values[name] for name in measured}
    assert "tokens" in measured and len(measured) == len(measured.values)
    assert measured["premium"] is None and "premium" not in measured
    assert measured["exact_round_trips"] == 1.0
    assert measured.values["exact_round_trips"].how == "over all lines that are not empty"
    with pytest.raises(UnknownNameError, match="did you mean 'bytes_per_token'"):
        measured["bytes_per_tokn"]
    with pytest.raises(UnknownNameError, match="there are a, all, en"):
        found["news"]
    with pytest.raises(UnknownNameError, match="there are its"):
        Comparison({"its": found})["it"]


def test_a_sample_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "SAMPLE", 20)
    found = evaluate(ranks(), ["the theory", "the weather", "there then"])["all"]
    assert "chosen by a hash" in found.values["bigram_entropy"].how
    assert "of a sample" in found.values["exact_round_trips"].how
    assert "all texts" in found.values["entropy"].how


@pytest.mark.parametrize(
    "texts",
    [
        ["(the) -er", "the\n the", " \t", ""],
        ["the\u00a0weather\u2003there\x1cthen", "x" * 300_000],
        ["the weather, there"] * 5_000,
    ],
)
def test_fertility_between_spaces(texts: list[str]) -> None:
    """All tokens by the words of `str.split`, beside words by UAX #29."""
    tok = ranks()
    found = evaluate(tok, texts)["all"]
    words = sum(len(text.split()) for text in texts)
    tokens = sum(map(tok.count, texts))
    if "x" * 300_000 in texts:
        words += 1  # a word that is longer than a part is one in each part
    assert found["fertility_by_spaces"] == pytest.approx(tokens / words)
    assert found.values["fertility_by_spaces"].unit == "tokens/word"


def test_words_behind_spaces_are_encoded_as_they_stand() -> None:
    tok = ranks()
    found = evaluate(tok, ["the the"])["all"]
    assert (found["fertility"], found["single_token_words"]) == (1.0, 1.0)
    found = evaluate(tok, ["(the) -er"])["all"]
    assert found["words"] == 2 and found["fertility"] == 1.0
    assert evaluate(word_piece(), ["the weathers"])["all"]["fertility"] == 1.5
    unknown = evaluate(word_piece(), ["the thing"])["all"]
    assert (unknown["fertility"], unknown["single_token_words"]) == (1.0, 0.5)
    assert unknown["unknown_rate"] == 0.5


def test_causes_of_lost_text_are_named() -> None:
    result = evaluate(word_piece(), ["The weather\nthe  weather\nthe thing\nthe weather"])
    assert result["all"]["exact_round_trips"] == 0.25
    assert set(result["all"].examples) == {"lower case", "white space", "unknown tokens"}
    assert result["all"].examples["lower case"] == ("The weather", "the weather")
    assert [reason.split(" (")[0] for reason in result.lossy[:3]] == [
        "unknown tokens", "lower case", "white space",
    ] or result.is_lossy  # fmt: skip
    assert not evaluate(ranks(), ["The weather"]).is_lossy


def test_lines_may_hold_the_character_of_broken_bytes() -> None:
    tok = jeton.BPETrainer(256, pattern="gpt2").train(["x"])
    found = evaluate(tok, ["\ufffd a\nb \ufffd\ufffd\nx"])
    assert found["all"]["exact_round_trips"] == 1.0 and not found.is_lossy


def test_nothing_measured_is_none_and_never_0() -> None:
    found = evaluate(ranks(), [])["all"]
    assert found["tokens"] == 0
    for name in ("bytes_per_token", "fertility", "entropy", "unknown_rate", "vocabulary_used"):
        assert found[name] is None, name
    assert evaluate(ranks(), ["the"]).overall["gini"] is None
    characters = evaluate(jeton.CharTrainer().train("low"), ["low"])
    assert characters.overall["digits_left"] is None and characters.is_lossy


def test_parallel_text() -> None:
    tok = jeton.CharTrainer().train("ab c")
    parallel = {"en": ["a", "ab", ""], "de": ["abc", "ab c", "a"]}
    result = evaluate(tok, parallel=parallel)
    assert (result["de"]["tokens_per_line"], result["de"]["premium"]) == (3.5, 7 / 3)
    assert result["en"]["premium"] == 1.0 and result["en"]["documents"] == 2
    assert result.overall["gini"] == pytest.approx(4 / (2 * 4 * 2.5))
    assert evaluate(tok, parallel=parallel, pivot="de")["en"]["premium"] == 3 / 7
    assert evaluate(tok, parallel={"de": ["a"], "fr": ["b"]})["de"]["premium"] is None
    assert list(result.languages) == ["en", "de"] and result["all"]["tokens"] == 0


def test_parallel_files(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("a\nab\n", encoding="utf-8")
    (tmp_path / "de.txt").write_text("abc\nab", encoding="utf-8")
    tok = jeton.CharTrainer().train("ab c")
    found = evaluate(tok, parallel={lang: tmp_path / f"{lang}.txt" for lang in ("en", "de")})
    assert found["de"]["premium"] == 5 / 3


def test_morphemes() -> None:
    tok = jeton.Tokenizer.from_ranks(
        {**{bytes([i]): i for i in range(256)}, b" u": 256, b"be": 257, b"bl": 258},
        pattern="gpt4",
    )
    result = evaluate(tok, morphemes={"unbel": ["un", "bel"]}).overall
    # " u|n|be|l": cuts at 1, 2 and 4, of which the boundary is at 2.
    assert (result["morpheme_precision"], result["morpheme_recall"]) == (1 / 3, 1.0)
    assert result["morpheme_f1"] == 0.5
    assert evaluate(tok).overall["morpheme_f1"] is None


def test_numbers_and_code() -> None:
    digits = jeton.BPETrainer(256, pattern="gpt2").train(["x"])
    found = evaluate(digits).overall
    assert (found["digits_single"], found["digits_left"]) == (1.0, 0.0)
    assert found["arithmetic_alignment"] == 1.0
    assert found["whole_operators"] == 0.0 and (found["indentation_tokens"] or 0) > 2
    assert found["identifier_boundaries"] == 1.0 and found["case_cost"] == 1.0
    assert found["punctuation_kept"] == 1.0


def test_saved_and_loaded(tmp_path: Path) -> None:
    toks = {"ranks": ranks(), "words": word_piece()}
    result = analysis.compare(toks, {"a": TEXTS}, parallel={"en": ["the"], "de": ["er"]})
    result.save(tmp_path / "it.json")
    loaded = Comparison.load(tmp_path / "it.json")
    assert loaded.to_dict() == result.to_dict() and result.changes(loaded) == []
    result["ranks"].save(tmp_path / "one.json")
    assert Evaluation.load(tmp_path / "one.json").to_dict() == result["ranks"].to_dict()
    told = result["ranks"].to_dict()["measures"]
    assert set(told) == {name for _, it in result["ranks"].parts() for name in it.values}
    assert told["premium"]["source"] and told["fertility"]["formula"].startswith("Σ count")
    for wrong in ("it.json", "one.json"):
        other = Evaluation if wrong == "it.json" else Comparison
        with pytest.raises(FormatError, match=f"{wrong} is not a saved "):
            other.load(tmp_path / wrong)
    record = result["ranks"].to_dict()
    earlier = {key: it for key, it in record.items() if key != "measures"}
    assert Evaluation.from_dict(earlier).to_dict() == record
    for key in record:
        with pytest.raises(FormatError, match="record is not a saved evaluation"):
            Evaluation.from_dict({**record, key: 7.5})


ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**400,
    1e308,
    float("nan"),
    "",
    "x\0",
    [],
    {},
    [[]],
    {"a": 1},
    ["a"],
)
"""What somebody may have put into a saved result."""


def _places(record: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    if isinstance(record, dict):
        for key in record:
            yield from _places(record[key], (*place, key))
    elif record and isinstance(record, list):
        yield from _places(record[0], (*place, 0))


def _with(record: Any, place: tuple[Any, ...], odd: object) -> Any:
    if not place:
        return odd
    copy = record.copy()
    copy[place[0]] = _with(record[place[0]], place[1:], odd)
    return copy


@pytest.mark.large
def test_edited_files_are_refused_or_shown() -> None:
    result = analysis.compare({"it": ranks()}, {"a": ["the"]}, parallel={"en": ["the"]})
    record = result.to_dict()
    kept = ("tokens", "fertility", "premium", "gini")
    for place in _places(record):
        if "values" in place[:-1] and place[place.index("values") + 1] not in kept:
            continue
        for odd in ODD:
            try:
                edited = Comparison.from_dict(_with(record, place, odd))
            except FormatError:
                continue
            json.dumps(edited.to_dict(), allow_nan=False)
            assert edited.html() and repr(edited) and edited._repr_html_()
            result.changes(edited)


def test_no_number_that_json_lacks_is_loaded(tmp_path: Path) -> None:
    result = analysis.compare({"it": ranks()}, {"a": ["the"]})
    result.save(tmp_path / "it.json")
    text = (tmp_path / "it.json").read_text(encoding="utf-8")
    for number in ("NaN", "Infinity", "1e999"):
        edited = text.replace('"value": 1,', f'"value": {number},', 1)
        assert edited != text
        (tmp_path / "it.json").write_text(edited, encoding="utf-8")
        with pytest.raises(FormatError, match=r"it\.json"):
            Comparison.load(tmp_path / "it.json")


def test_results_hold_what_they_say() -> None:
    [it] = analysis.compare([ranks()], ["the"]).evaluations.values()
    with pytest.raises(ArgumentTypeError, match="each name of evaluations"):
        Comparison({5: it})  # type: ignore[dict-item]
    with pytest.raises(ArgumentTypeError, match="values"):
        analysis.Measured("x", {})  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="values"):
        analysis.Measured({"tokens": 5}, {})  # type: ignore[dict-item]


def test_a_mapping_in_a_mapping_is_no_corpus() -> None:
    with pytest.raises(ArgumentTypeError, match=r"corpora\['a'\] must be texts or files"):
        evaluate(ranks(), {"a": {"b": ["the"]}})


def test_a_corpus_and_a_language_have_names_of_their_own() -> None:
    with pytest.raises(ArgumentError, match="'en' is also a corpus"):
        analysis.compare([ranks()], {"en": ["the"]}, parallel={"en": ["there"]})


def test_changes_name_what_is_new() -> None:
    before = analysis.compare({"it": ranks()}, ["the"])
    after = analysis.compare({"it": ranks(), "new": ranks()}, ["the the"])
    found = {(it.tokenizer, it.where, it.measure): it for it in before.changes(after)}
    assert str(found["it", "all", "bytes"]) == "it, all: bytes 3 -> 7"
    assert str(found["new", "all", "bytes"]) == "new, all: bytes not measured -> 7"
    assert ("it", "all", "fertility") not in found


def test_compare_reads_once_and_gives_what_evaluate_does() -> None:
    toks = {"ranks": ranks(), "words": word_piece()}
    result = analysis.compare(toks, {"a": iter(TEXTS), "b": ["the"]})
    for name, tok in toks.items():
        alone = evaluate(tok, {"a": TEXTS, "b": ["the"]}, name=name)
        assert alone.to_dict() == result[name].to_dict()
    twice = analysis.compare([ranks(), ranks()], ["the"])
    assert list(twice.evaluations) == ["BPE 266", "BPE 266 (2)"]


def test_progress_is_reported(tmp_path: Path) -> None:
    steps: list[jeton.Progress] = []
    (tmp_path / "a.txt").write_text("the theory", encoding="utf-8")
    evaluate(ranks(), tmp_path, watch=steps.append)
    assert steps[-1] == jeton.Progress("counting", 10, 10, 10)


def test_the_curve_of_types_does_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    tok = ranks()
    given = [f"the weather {number} there" for number in range(60)]
    ids = [id for text in given for id in tok.encode(text)]
    points = [64 << n for n in range(20) if 64 << n <= len(ids)]
    expected = {at: len(set(ids[:at])) for at in [*points, len(ids)]}
    for size in (1 << 20, 100, 7):
        monkeypatch.setattr(texts, "_READ", size)
        curve = evaluate(tok, given).curves["type_token"]
        assert dict(zip(curve.x, curve.y, strict=True)) == expected


def test_every_measure_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs/measures.md").read_text(encoding="utf-8")
    missing = [it.name for it in MEASURES.values() if it.family != "counts"]
    assert [name for name in missing if f"`{name}`" not in page] == []
    # The page has one row for two measures, or says "the same".
    apart = (
        "digits_left",
        "digits_right",
        "digits_single",
        "digits_mixed",
        "renyi_efficiency_used",
    )
    formulas = {it.name: it.formula for it in MEASURES.values() if it.family != "counts"}
    assert [it for it in formulas if formulas[it] not in page and it not in apart] == []
    assert all(it.source for it in MEASURES.values())
    for name in measures.__all__:
        told = getattr(measures, name).__doc__
        assert name in ("ModelCost", "cost_of_model", "grouping_of") or "Unit: " in told, name


def test_bad_input(tmp_path: Path) -> None:
    tok = ranks()
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n{"no": 1}\n', encoding="utf-8")
    (tmp_path / "worse.jsonl").write_text("{\n", encoding="utf-8")
    cases: list[tuple[type[Exception], str, Any]] = [
        (MissingFileError, "no such file", lambda: evaluate(tok, tmp_path / "none")),
        (FormatError, "not UTF-8", lambda: evaluate(tok, tmp_path / "bad.txt")),
        (FormatError, 'line 2.*"text"', lambda: evaluate(tok, tmp_path / "bad.jsonl")),
        (FormatError, "no JSON object", lambda: evaluate(tok, tmp_path / "worse.jsonl")),
        (ArgumentError, "surrogate", lambda: evaluate(tok, {"a": ["\ud800"]})),
        (ArgumentError, "named 'all'", lambda: evaluate(tok, {"all": ["a"]})),
        (ArgumentError, "named ''", lambda: evaluate(tok, {"": ["a"]})),
        (ArgumentTypeError, r"corpora\['a'\]", lambda: evaluate(tok, {"a": 3})),
        (ArgumentTypeError, "data must be", lambda: evaluate(tok, 3)),  # type: ignore[arg-type]
        (ArgumentError, "field", lambda: evaluate(tok, ["a"], field="text")),
        (ArgumentError, "'en' has 1 .* 'de' has 2|'en' has 1", lambda: evaluate(
            tok, parallel={"en": ["a"], "de": ["a", "b"]})),
        (ArgumentError, "pivot", lambda: evaluate(tok, parallel={"en": ["a"]}, pivot="fr")),
        (ArgumentTypeError, "parallel", lambda: evaluate(tok, parallel=["a"])),  # type: ignore[arg-type]
        (ArgumentTypeError, r"parallel\['en'\]", lambda: evaluate(tok, parallel={"en": 3})),  # type: ignore[dict-item]
        (ArgumentError, "joined", lambda: evaluate(tok, morphemes={"ab": ["a"]})),
        (ArgumentTypeError, "morphemes", lambda: evaluate(tok, morphemes={"ab": "ab"})),
        (ArgumentError, "none to measure", lambda: analysis.compare([], ["a"])),
        (ArgumentTypeError, "tokenizers", lambda: analysis.compare(tok, ["a"])),  # type: ignore[arg-type]
        (ArgumentTypeError, "watch", lambda: evaluate(tok, ["a"], watch=3)),  # type: ignore[arg-type]
        (EncodeError, "closed, corpus 'corpus'", lambda: analysis.compare(
            {"closed": jeton.CharTrainer().train("a")}, ["b"])),
    ]  # fmt: skip
    for kind, message, call in cases:
        with pytest.raises(kind, match=message):
            call()
    assert evaluate(tok, ["a\ud800b"], errors="replace")["all"]["characters"] == 3
    assert evaluate(tok, ["a\ud800b"], errors="ignore")["all"]["characters"] == 2
    assert evaluate(tok, tmp_path / "bad.txt", errors="ignore")["all"]["characters"] == 3
