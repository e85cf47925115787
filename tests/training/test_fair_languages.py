"""Training that is fair to languages: what the merges are, files and saved counts, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError
from shared_data import SHARED, needs

VARIANTS = SHARED / "variants"
PARALLEL = SHARED / "text" / "parallel"

CORPORA = {
    "en": ["the cat and the dog", "the dog and the hen"] * 4,
    "de": ["die katze und der hund", "der hund und das huhn"],
    "el": ["η γάτα και ο σκύλος"],
}
SPLIT = pre_tokenizers.ByteLevel(add_prefix_space=False)


def made(tok: jeton.Tokenizer) -> list[str]:
    return [(left + right).decode(errors="replace") for left, right in tok.vocab.merges]


def test_the_language_with_most_tokens_is_next() -> None:
    trainer = jeton.BPETrainer(256 + 6, languages="base", pattern="gpt2")
    greek = ["α" * 40]
    tok = trainer.train(CORPORA, development={"en": ["a cat"], "de": ["ein hund"], "el": greek})
    assert all(
        b"\xce" in left + right or b"\xcf" in left + right for left, right in tok.vocab.merges
    )
    english = trainer.train(CORPORA, development={"en": ["a" * 90], "de": ["b"], "el": ["c"]})
    assert made(english) == made(
        jeton.BPETrainer(262, tie_break="spelling", pattern="gpt2").train(CORPORA["en"])
    )


def test_training_on_a_single_language_is_plain_training() -> None:
    for texts in CORPORA.values():
        plain = jeton.BPETrainer(290, tie_break="spelling", min_frequency=2)
        for languages in ("base", "window"):
            fair: Any = jeton.BPETrainer(290, languages=languages, min_frequency=2)
            with pytest.warns(jeton.errors.TrainingWarning, match="was not reached"):
                expected = plain.train(texts)
            with pytest.warns(jeton.errors.TrainingWarning, match="was not reached"):
                assert fair.train({"one": texts}) == expected


def test_only_global_merges_are_plain_training() -> None:
    texts = [text for corpus in CORPORA.values() for text in corpus]
    fair = jeton.BPETrainer(280, languages="base", global_merges=99).train(CORPORA)
    assert fair == jeton.BPETrainer(280, tie_break="spelling").train(texts)


def test_files_and_saved_counts_are_corpora(tmp_path: Path) -> None:
    trainer = jeton.BPETrainer(300, languages={"en": 1, "de": 1.5, "el": 2.5})
    expected = trainer.train(CORPORA)
    files, counts = {}, {}
    for language, texts in CORPORA.items():
        files[language] = tmp_path / f"{language}.txt"
        files[language].write_text("\n".join(texts) + "\n", encoding="utf-8", newline="")
        path = tmp_path / f"{language}.counts"
        trainer.count(texts).save(path)
        counts[language] = jeton.WordCounts.load(path)
    assert trainer.train(counts) == expected
    by_line = {name: [f"{text}\n" for text in texts] for name, texts in CORPORA.items()}
    assert trainer.train(files, documents="line", memory="2GB") == trainer.train(by_line)


def test_several_sizes_are_those_of_each() -> None:
    trainer = jeton.BPETrainer([270, 290], languages="window", window_size=3, alpha=1.0)
    trained = trainer.train_all(CORPORA, development=CORPORA)
    for size, tok in trained.items():
        alone = jeton.BPETrainer(size, languages="window", window_size=3, alpha=1.0)
        assert tok == alone.train(CORPORA, development=CORPORA)


def test_training_continues_from_a_tokenizer() -> None:
    start = jeton.BPETrainer(280, languages="base", special_tokens=["<a>"]).train(CORPORA)
    more = jeton.BPETrainer(new_tokens=10, languages="base", start_from=start).train(CORPORA)
    whole = jeton.BPETrainer(290, languages="base", special_tokens=["<a>"]).train(CORPORA)
    assert more == whole


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"languages": "fair"}, ArgumentError, 'languages must be one of .*"base", "window"'),
        ({"languages": 3}, ArgumentTypeError, 'must be one of .*"base", "window", not int'),
        ({"languages": {}}, ArgumentError, "no ratios"),
        ({"languages": {"en": 0}}, ArgumentError, r"languages\['en'\] must be a finite number"),
        ({"languages": {"en": "1"}}, ArgumentTypeError, r"languages\['en'\] must be a number"),
        ({"languages": {1: 1.0}}, ArgumentTypeError, "name of a language must be a str"),
        ({"languages": {"en": float("nan")}}, ArgumentError, "above 0"),
        ({"global_merges": 3}, ArgumentError, "global_merges is for languages"),
        ({"alpha": 3.0}, ArgumentError, "alpha is for languages"),
        ({"languages": "base", "alpha": 3.0}, ArgumentError, "alpha is for languages='window'"),
        ({"languages": "window", "alpha": -1.0}, ArgumentError, "alpha must be a finite number"),
        ({"languages": "window", "window_size": 0}, ArgumentError, "window_size must be at least"),
        ({"languages": "base", "global_merges": -1}, ArgumentError, "global_merges must be at"),
        ({"languages": "base", "tie_break": "huggingface"}, ArgumentError, "tie_break"),
        ({"languages": "base", "alphabet": "sentencepiece"}, ArgumentError, "sentencepiece"),
    ],
)
def test_parameters_that_make_no_sense(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        jeton.BPETrainer(300, **options)


@pytest.mark.parametrize(
    ("languages", "data", "development", "error", "message"),
    [
        ("base", ["text"], None, ArgumentTypeError, "must map each language to its corpus.*a list"),
        ("base", {}, None, ArgumentError, "data is empty"),
        ("base", {3: ["text"]}, None, ArgumentTypeError, "name of a language"),
        ("base", {"en": ["text"], "de": []}, None, TrainingError, "corpus of 'de' has no words"),
        ("base", CORPORA, {"en": ["text"]}, ArgumentError, r"same languages.*\['de', 'el'\]"),
        ({"en": 1.0}, CORPORA, None, ArgumentError, r"same languages.*\['de', 'el'\]"),
        (dict.fromkeys(CORPORA, 1.0), CORPORA, CORPORA, ArgumentError, "leave out one"),
        (None, CORPORA, None, ArgumentError, "which is for BPETrainer"),
        (None, ["text"], CORPORA, ArgumentError, "development is for BPETrainer"),
    ],
)
def test_corpora_that_make_no_sense(
    languages: Any, data: Any, development: Any, error: type[Exception], message: str
) -> None:
    trainer = jeton.BPETrainer([280, 300], languages=languages)
    for train in (trainer.train, trainer.train_all):
        with pytest.raises(error, match=re.compile(message, re.DOTALL)):
            train(data, development=development)
    with pytest.raises(ArgumentError, match="which is for BPETrainer"):
        trainer.count(CORPORA)


@needs(VARIANTS)
@pytest.mark.parametrize("name", ["base_global0", "base_global300", "window_global0"])
def test_merges_are_those_of_the_judge_by_development_texts(name: str) -> None:
    check_file(name)


@needs(VARIANTS)
def test_merges_are_those_of_the_judge_by_ratios() -> None:
    check_file("ratio_global0")


def check_file(name: str) -> None:
    expected = json.loads((VARIANTS / f"parity_{name}.json").read_text(encoding="utf-8"))
    given = expected["parameters"]
    languages = expected["languages"]

    def lines(language: str) -> list[str]:
        text = (PARALLEL / f"{language}.txt").read_text(encoding="utf-8")
        return [line for line in text.split("\n") if line.strip()]

    ratios = given.get("ratio")
    trainer = jeton.BPETrainer(
        256 + len(expected["merges"]),
        pre_tokenizer=SPLIT,
        languages=dict(zip(languages, ratios, strict=True)) if ratios else given["variant"],
        global_merges=given["global_merges"],
        window_size=given.get("window_size"),
        alpha=given.get("alpha"),
    )
    tok = trainer.train(
        {language: lines(language)[:600] for language in languages},
        development=None
        if ratios
        else {language: lines(language)[600:800] for language in languages},
    )
    written = json.loads(tok.to_json())["model"]["merges"]
    assert written == expected["merges"][: len(written)]
    assert len(written) >= len(expected["merges"])
