"""Components as values: they are what a `tokenizer.json` holds, and come back from it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import jeton
from jeton.components import (
    Regex,
    decoders,
    models,
    normalizers,
    post_processors,
    pre_tokenizers,
)

CHARSMAP = (Path(__file__).parents[2] / "testdata" / "charsmap.bin").read_bytes()

COMPONENTS: list[tuple[ModuleType, Any]] = [
    *(
        (normalizers, component)
        for component in (
            normalizers.NFC(),
            normalizers.NFD(),
            normalizers.NFKC(),
            normalizers.NFKD(),
            normalizers.Lowercase(),
            normalizers.StripAccents(),
            normalizers.Strip(left=False),
            normalizers.Nmt(),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Replace("a", "b"),
            normalizers.Prepend("▁"),
            normalizers.BertNormalizer(strip_accents=False),
            normalizers.ByteLevel(),
            normalizers.SentencePiece(CHARSMAP, False, user_defined_symbols=("<a>", "é")),
            normalizers.Sequence([normalizers.NFC(), normalizers.SentencePiece()]),
        )
    ),
    *(
        (pre_tokenizers, component)
        for component in (
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            pre_tokenizers.BertPreTokenizer(),
            pre_tokenizers.Metaspace("_", "first", split=False),
            pre_tokenizers.Whitespace(),
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.CharDelimiterSplit("-"),
            pre_tokenizers.Split(Regex(r"\d"), "merged_with_next", invert=True),
            pre_tokenizers.Split("-", "contiguous"),
            pre_tokenizers.Punctuation("merged_with_previous"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.UnicodeScripts(),
            pre_tokenizers.FixedLength(3),
            pre_tokenizers.Matches(Regex(r"\w+|\W+")),
            pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits()]),
        )
    ),
    *(
        (post_processors, component)
        for component in (
            post_processors.TemplateProcessing("[A] $A", "[A] $A $B:1", special_tokens={"[A]": 3}),
            post_processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
            post_processors.RobertaProcessing(("</s>", 2), ("<s>", 1), trim_offsets=False),
            post_processors.ByteLevel(trim_offsets=False),
            post_processors.Sequence([post_processors.ByteLevel()]),
        )
    ),
    *(
        (decoders, component)
        for component in (
            decoders.ByteLevel(),
            decoders.WordPiece("@@", cleanup=False),
            decoders.Metaspace("_", "never"),
            decoders.BPEDecoder("</x>"),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip("_", 1, 2),
            decoders.Replace("▁", " "),
            decoders.CTC("<p>", "/", cleanup=False),
            decoders.SentencePiece(
                unk_piece="<?>",
                unk_surface="?",
                byte_fallback=True,
                leading_spaces="drop_one",
                denormalizer=normalizers.SentencePiece(CHARSMAP),
            ),
            decoders.Sequence([decoders.ByteFallback(), decoders.SentencePiece()]),
        )
    ),
]


def only_ours(component: Any) -> bool:
    """Whether tokenizers knows no such component."""
    steps = getattr(component, "steps", (component,))
    ours = (pre_tokenizers.Matches, normalizers.SentencePiece, decoders.SentencePiece)
    return any(isinstance(step, ours) for step in steps)


@pytest.mark.parametrize(("module", "component"), COMPONENTS, ids=lambda value: str(value)[:60])
def test_there_and_back(module: ModuleType, component: Any) -> None:
    if not only_ours(component):
        assert module.from_json(component.to_json()) == component
    stage = component.STAGE
    model = models.WordLevel({"a": 8, "?": 9}, unk_token="?")
    frame = component._tokens() if stage == "post_processor" else []
    added = [jeton.AddedToken(name, id, special=True) for name, id in dict.fromkeys(frame)]
    tok = jeton.Tokenizer(model, **{stage: component}, added_tokens=added)
    assert getattr(tok.stages, stage) == component
    without: Any = {stage: None}
    assert tok.replace(**without) == jeton.Tokenizer(model, added_tokens=added)
    assert hash(component) == hash(getattr(tok.stages, stage))
    with pytest.raises(AttributeError):
        component.new = 1


@pytest.mark.parametrize(("module", "component"), COMPONENTS, ids=lambda value: str(value)[:60])
def test_the_library_reads_them(module: ModuleType, component: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    if only_ours(component):
        pytest.skip("the library has no such component")
    file = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"a": 0, "?": 1}, "unk_token": "?"},
        component.STAGE: component.to_dict(),
    }
    theirs = tokenizers.Tokenizer.from_str(json.dumps(file))
    written = json.loads(theirs.to_str())[component.STAGE]
    assert module.from_json(json.dumps(written)) == component


def test_every_kind_appears() -> None:
    for module in (normalizers, pre_tokenizers, post_processors, decoders):
        tested = {type(component).__name__ for _, component in COMPONENTS if _ is module}
        base = {
            "Normalizer",
            "Normalized",
            "PreTokenizer",
            "PostProcessor",
            "Decoder",
            "TemplatePiece",
            "Function",  # no file holds it: tests/tokenizer/test_functions.py
        }
        kinds = {name for name in module.__all__ if name[0].isupper()}
        assert kinds - base - {"TemplateToken", "Precompiled"} == tested


MODELS: list[models.Model] = [
    models.BPE({b"a": 0, b"b": 1, b"ab": 2}, [(b"a", b"b")], dropout=0.5),
    models.BPE(
        {b"?": 0, b"a</w>": 1},
        [],
        alphabet="characters",
        unk_token="?",
        fuse_unk=True,
        end_of_word_suffix="</w>",
    ),
    models.BPE({bytes([byte]): byte for byte in range(256)}, None),
    models.WordLevel({b"a": 0}, unk_token="a"),
    models.WordPiece({b"a": 0, b"##b": 1}, unk_token="a", max_input_chars_per_word=9),
    models.Unigram([(b"a", -1.0), (b"b", -2.5)], unk_id=1),
    models.Characters({b"a": 0, b"<?>": 1}, unk_id=1),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_models_come_back(model: models.Model) -> None:
    tok = jeton.Tokenizer(model)
    assert tok.stages.model == model
    assert jeton.Tokenizer(tok.stages.model) == tok
    assert repr(model).startswith(type(model).__name__)


def test_scores_survive_a_file() -> None:
    """Numbers of up to fifteen digits do; what is no number is refused."""
    rng = random.Random(1)
    pieces = [("?", 0.0), *((f"t{at}", round(-rng.expovariate(0.1), 12)) for at in range(5000))]
    tok = jeton.Tokenizer(models.Unigram(pieces, unk_id=0))
    assert jeton.Tokenizer.from_json(tok.to_json()) == tok
    library = pytest.importorskip("tokenizers").Tokenizer.from_str(tok.to_json())
    assert jeton.Tokenizer.from_json(library.to_str(pretty=True)).vocab == tok.vocab
    endless = jeton.Tokenizer(models.Unigram([("a", float("-inf"))]))
    with pytest.raises(jeton.errors.UnsupportedError, match='the score of "a" is -inf'):
        endless.to_json()


def test_text_stands_for_its_bytes() -> None:
    assert jeton.Tokenizer(models.WordLevel({"é": 0})) == jeton.Tokenizer(
        models.WordLevel({"é".encode(): 0})
    )
