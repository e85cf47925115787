"""What transformers 5 builds by the class of a folder, against transformers itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import jeton
from jeton import analysis
from jeton.components import models, normalizers, pre_tokenizers
from jeton.loading.transformers_stages import rebuilt

LINES = ["the theory of the weather there, then: père, 東京 x = 12345 HelloWorld I'LL"] * 9
TEXTS = [*LINES[:1], " a  b   c", "line\r\n\n x", "中文，字", "e\u0301 é", "~~ 1234 ½", "a_b-c"]


def _byte_level() -> jeton.Tokenizer:
    """Numbers by their digits, then words: StarCoder's way, with tokens of other numbers."""
    tok = jeton.BPETrainer(
        400,
        pre_tokenizer=pre_tokenizers.ByteLevel(False, use_regex=False),
        special_tokens=["<|endoftext|>", "<s>", "</s>", "<unk>", "<pad>", "<mask>"],
    ).train([*LINES, *["It's 12345 years"] * 9])
    steps = (pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False))
    return tok.replace(pre_tokenizer=pre_tokenizers.Sequence(steps))


def _sentencepiece() -> jeton.Tokenizer:
    """Spaces as `▁`, split before each: not as Llama has it."""
    return jeton.BPETrainer(
        120,
        alphabet="characters",
        unk_token="<unk>",
        special_tokens=["<unk>", "<s>", "</s>"],
        pre_tokenizer=pre_tokenizers.Metaspace(),
    ).train(LINES)


def _bert() -> jeton.Tokenizer:
    return jeton.WordPieceTrainer(
        200, normalizer=normalizers.BertNormalizer(lowercase=False)
    ).train(LINES)


ROWS = [
    ("GPT2Tokenizer", _byte_level),
    ("RobertaTokenizer", _byte_level),
    ("Qwen2Tokenizer", _byte_level),
    ("GPTNeoXTokenizer", _byte_level),
    ("CodeGenTokenizer", _byte_level),
    ("WhisperTokenizer", _byte_level),
    ("DebertaTokenizer", _byte_level),
    ("LlamaTokenizer", _sentencepiece),
    ("BertTokenizer", _bert),
    ("ElectraTokenizer", _bert),
    ("MobileBertTokenizer", _bert),
    ("SqueezeBertTokenizer", _bert),
]


@pytest.mark.filterwarnings("ignore:.*transformers 5 gives other ids")
@pytest.mark.parametrize(("name", "make"), ROWS, ids=[row[0] for row in ROWS])
def test_classes_build_the_stages_of_transformers(name: str, make: object, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", minversion="5.0")
    assert callable(make)
    tok = make()
    tok.save(tmp_path, lossy=True)
    path = tmp_path / "tokenizer_config.json"
    config = {**json.loads(path.read_text()), "tokenizer_class": name}
    path.write_text(json.dumps(config))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    built = rebuilt(config, json.loads((tmp_path / "tokenizer.json").read_text()))
    assert built is not None
    ours = jeton.Tokenizer.from_json(json.dumps(built))
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False), text
    finding = analysis.check(jeton.load(tmp_path), only=["class-differs"])
    differs = any(tok.encode(text) != ours.encode(text) for text in TEXTS)
    assert bool(list(finding)) or not differs
    with pytest.warns(jeton.errors.FormatWarning, match="PreTrainedTokenizerFast"):
        jeton.load(tmp_path).save(tmp_path / "again")
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "again")
    for text in TEXTS:
        assert again.encode(text, add_special_tokens=False) == tok.encode(text), text
    assert not list(analysis.check(jeton.load(tmp_path / "again"), only=["class-differs"]))


def test_a_finding_names_texts(tmp_path: Path) -> None:
    _byte_level().save(tmp_path, lossy=True)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(
        json.dumps({**json.loads(path.read_text()), "tokenizer_class": "GPT2Tokenizer"})
    )
    (finding,) = analysis.check(jeton.load(tmp_path), only=["class-differs"])
    assert any("12345" in case.name and "by the class" in case.told for case in finding.cases)


def test_a_class_that_is_not_known_is_not_checked(tmp_path: Path) -> None:
    rows = [
        (
            "CohereTokenizer",
            _byte_level,
            "jeton does not know which stages CohereTokenizer of transformers 5 builds",
        ),
        (
            "BertTokenizer",
            _byte_level,
            "jeton does not know which stages BertTokenizer of transformers 5 builds",
        ),
        ("LlamaTokenizer", _byte_level, None),  # keeps the file's own stages
        ("PreTrainedTokenizerFast", _byte_level, None),
    ]
    for name, make, why in rows:
        make().save(tmp_path, lossy=True)
        path = tmp_path / "tokenizer_config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "tokenizer_class": name}))
        found = analysis.check(jeton.load(tmp_path), only=["class-differs"])
        assert not list(found)
        assert found.skipped.keys() == ({"class-differs"} if why else set())
        assert why is None or found.skipped["class-differs"].startswith(why)


def test_other_classes_are_left_alone() -> None:
    file = {"model": {"type": "BPE", "vocab": {}, "merges": []}}
    assert rebuilt({"tokenizer_class": "PreTrainedTokenizerFast"}, file) is None
    assert rebuilt({"tokenizer_class": "BertTokenizer"}, file) is None
    assert models.BPE({}, []).merges == []
