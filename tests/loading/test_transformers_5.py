"""Folders for which transformers 5 gives other ids: a warning says so, and it is right."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import jeton
from jeton.errors import ArgumentTypeError, FormatWarning

transformers = pytest.importorskip("transformers")

TEXTS = ("a b", "a  b", " a", "a\nb", "a ", "a<x>b", "a<x> b", "ab")
METASPACE: dict[str, Any] = {"replacement": "▁", "prepend_scheme": "always"}


def unigram(split: bool) -> Tokenizer:
    vocab = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    vocab += [("a", -3.0), ("b", -3.0), ("▁a", -1.0), ("▁b", -1.0), ("\n", -3.0)]
    tok = Tokenizer(models.Unigram([*vocab, ("<mask>", 0.0)], unk_id=3))
    metaspace = pre_tokenizers.Metaspace(**METASPACE)
    steps = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])
    tok.pre_tokenizer = steps if split else metaspace
    tok.decoder = decoders.Metaspace(**METASPACE)
    tok.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return tok


def llama(normalizes: bool, scheme: str = "first") -> Tokenizer:
    letters = ["<unk>", "<s>", "</s>", "▁", "a", "b", "\n"]
    vocab = {it: id for id, it in enumerate([*letters, "▁a", "▁b"])}
    tok = Tokenizer(models.BPE(vocab, [("▁", "a"), ("▁", "b")], unk_token="<unk>", fuse_unk=True))
    if normalizes:
        steps = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        tok.normalizer = normalizers.Sequence(steps)
    else:
        tok.pre_tokenizer = pre_tokenizers.Metaspace("▁", scheme, split=False)
    tok.add_special_tokens(["<unk>", "<s>", "</s>", "<x>"])
    return tok


CASES: dict[str, tuple[Tokenizer, dict[str, Any], bool]] = {
    "XLM-R without a split": (unigram(False), {"tokenizer_class": "XLMRobertaTokenizer"}, True),
    "XLM-R": (unigram(True), {"tokenizer_class": "XLMRobertaTokenizer"}, False),
    "XLM-R, read unchanged": (
        unigram(False),
        {"tokenizer_class": "PreTrainedTokenizerFast"},
        False,
    ),
    "Llama, legacy in the file alone": (
        llama(True),
        {"tokenizer_class": "LlamaTokenizer", "legacy": False},
        True,
    ),
    "Llama, legacy in both, by a normalizer": (
        llama(True),
        {"tokenizer_class": "LlamaTokenizer", "legacy": True},
        True,
    ),
    "Llama, legacy in both": (
        llama(False, "always"),
        {"tokenizer_class": "LlamaTokenizer", "legacy": True},
        False,
    ),
    "Llama, not legacy": (
        llama(False),
        {"tokenizer_class": "LlamaTokenizer", "legacy": False},
        False,
    ),
    "Llama, legacy in the class alone": (
        llama(False),
        {"tokenizer_class": "LlamaTokenizer", "legacy": True},
        True,
    ),
}


@pytest.mark.large
@pytest.mark.parametrize("name", CASES)
def test_a_warning_says_where_transformers_5_gives_other_ids(name: str, tmp_path: Path) -> None:
    tok, config, differs = CASES[name]
    tok.save(str(tmp_path / "tokenizer.json"))
    specials = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**specials, **config}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = jeton.load(tmp_path)
        theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    said = [str(it.message) for it in caught if it.category is FormatWarning]
    expected = [theirs(it, add_special_tokens=False)["input_ids"] for it in TEXTS]
    found = [ours.encode(it, special="allow") for it in TEXTS]
    assert found == [tok.encode(it, add_special_tokens=False).ids for it in TEXTS]
    assert (
        (found != expected) == differs == any("transformers 5 gives other ids" in it for it in said)
    )


def of_bytes(steps: bool) -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {it: id for id, it in enumerate([*alphabet, "ab", "12"])}
    vocab |= {f"filler {id}": id for id in range(len(vocab), 100_001)}
    tok = Tokenizer(models.BPE(vocab, [("a", "b"), ("1", "2")]))
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(Regex(r"\p{L}+|\p{N}+|\s+|."), "isolated")
    tok.pre_tokenizer = pre_tokenizers.Sequence([split, plain]) if steps else plain
    return tok


@pytest.mark.large
@pytest.mark.parametrize("steps", [True, False])
def test_the_pattern_of_mistral_replaces_the_one_of_the_file(steps: bool, tmp_path: Path) -> None:
    texts = ["ab12 HelloWorld's  \n x/\n", "aB AB 1212"]
    of_bytes(steps).save(str(tmp_path / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    about = {"model_type": "mistral", "transformers_version": "4.50.0"}
    (tmp_path / "config.json").write_text(json.dumps(about))
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path, fix_mistral_regex=True)
    plain = jeton.load(tmp_path)
    fixed = jeton.load(tmp_path, fix_mistral_regex=True)
    assert [fixed.encode(it) for it in texts] == [theirs(it)["input_ids"] for it in texts]
    assert fixed.encode("12") != plain.encode("12")
    configured = {**config, "fix_mistral_regex": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(configured))
    assert jeton.load(tmp_path).encode(texts[0]) == fixed.encode(texts[0])
    again = jeton.load(tmp_path, fix_mistral_regex=False)
    assert again.encode(texts[0]) == plain.encode(texts[0])


def test_the_pattern_of_mistral_has_no_effect_on_other_tokenizers(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    jeton.CharTrainer().train("ab").save(path)
    with pytest.warns(FormatWarning, match="no effect"):
        assert jeton.load(path, fix_mistral_regex=True) == jeton.load(path)
    with pytest.raises(ArgumentTypeError, match="fix_mistral_regex"):
        jeton.load(path, fix_mistral_regex=1)  # type: ignore[arg-type]


WHISPER = [
    "<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|zh|>", "<|de|>", "<|translate|>",
    "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>",
]  # fmt: skip


@pytest.mark.large
@pytest.mark.parametrize(
    ("before", "config", "differs"),
    [
        ("<|startoftranscript|> <|notimestamps|>", {}, False),
        ("<|startoftranscript|>", {}, True),
        ("<|startoftranscript|> <|en|> <|transcribe|> <|notimestamps|>", {}, True),
        (
            "<|startoftranscript|> <|de|> <|transcribe|> <|notimestamps|>",
            {"language": "German", "task": "transcribe"},
            False,
        ),
        ("<|startoftranscript|> <|notimestamps|>", {"language": "de"}, True),
        ("<|startoftranscript|> <|notimestamps|>", {"predict_timestamps": True}, True),
        ("", {}, True),
    ],
)
def test_a_warning_says_where_whispers_class_puts_other_tokens_in_front(
    before: str, config: dict[str, Any], differs: bool, tmp_path: Path
) -> None:
    """The ids of jeton are those of the file, as in transformers 4."""
    vocab = {"a": 0, "b": 1, "Ġ": 2, "Ġb": 3}
    tok = Tokenizer(models.BPE(vocab, [("Ġ", "b")]))
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.add_special_tokens(WHISPER)
    if before:
        around = [*before.split(), "<|endoftext|>"]
        ids = {it: tok.token_to_id(it) for it in around}
        tok.post_processor = processors.TemplateProcessing(
            single=f"{before} $A <|endoftext|>",
            pair=f"{before} $A $B <|endoftext|>",
            special_tokens=[*ids.items()],
        )
    tok.save(str(tmp_path / "tokenizer.json"))
    roles = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    values = {"tokenizer_class": "WhisperTokenizer", **roles, **config}
    values["additional_special_tokens"] = WHISPER[1:]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(values))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = jeton.load(tmp_path)
        theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    said = [str(it.message) for it in caught if it.category is FormatWarning]
    found = ours.encode("a b", add_special_tokens=True)
    assert found == tok.encode("a b").ids
    assert (found != theirs("a b")["input_ids"]) == differs
    assert any("transformers 5 gives other ids" in it for it in said) == differs


@pytest.mark.large
@pytest.mark.parametrize(
    ("config", "differs"),
    [
        ({}, True),
        ({"mask_token": "<mask>"}, True),
        ({"mask_token": {"__type": "AddedToken", "content": "<mask>", "lstrip": True}}, False),
        ({"mask_token": {"__type": "AddedToken", "content": "<mask>", "lstrip": False}}, False),
        ({"added_tokens_decoder": {"8": {"content": "<mask>", "lstrip": True}}}, False),
    ],
)
@pytest.mark.parametrize("name", ["Roberta", "Bart", "Longformer", "LED"])
def test_a_warning_says_where_the_mask_of_roberta_strips_no_space(
    name: str, config: dict[str, Any], differs: bool, tmp_path: Path
) -> None:
    words = ["<s>", "<pad>", "</s>", "<unk>", "a", "b", "Ġ", "Ġb", "<mask>"]
    (tmp_path / "vocab.json").write_text(json.dumps({it: id for id, it in enumerate(words)}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\nĠ b\n")
    for token in config.get("added_tokens_decoder", {}).values():
        flags = ("rstrip", "normalized", "single_word")
        token.update({"special": True, **dict.fromkeys(flags, False)})
    values = {"tokenizer_class": f"{name}Tokenizer", **config}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(values))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = jeton.load(tmp_path)
        theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    said = [str(it.message) for it in caught if it.category is FormatWarning]
    texts = ["a <mask> b", "a<mask>b", "a  <mask>"]
    expected = [theirs(it, add_special_tokens=False)["input_ids"] for it in texts]
    assert ([ours.encode(it, special="allow") for it in texts] != expected) == differs
    assert any("a space in front of '<mask>'" in it for it in said) == differs
