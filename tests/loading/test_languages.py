"""Languages of translation and speech models: the ids are those of transformers' classes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.errors import ArgumentError, ArgumentTypeError, FormatWarning, UnsupportedError

transformers = pytest.importorskip("transformers")

PIECES = [("▁a", -1.0), ("▁b", -1.5), ("▁", -2.0), ("a", -3.0), ("b", -3.0)]
FIRST = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]


def pieces(*codes: str) -> list[tuple[str, float]]:
    return [*FIRST, *PIECES, *((code, 0.0) for code in codes), ("<mask>", 0.0)]


def saved(name: str, folder: Path, **options: Any) -> Any:
    """A tokenizer of a class of transformers, which a folder has."""
    if name == "NllbTokenizer":
        words = [it for it, _ in pieces("eng_Latn", "deu_Latn", "fra_Latn")]
        vocab: Any = {word: id for id, word in enumerate(words)}
        options["merges"] = [("▁", "a"), ("▁", "b")]
    else:
        vocab = pieces("en_XX", "de_DE", "fr_XX")
    theirs = getattr(transformers, name)(vocab=vocab, **options)
    theirs.save_pretrained(folder)
    return theirs


CASES = {
    "mBART": ("MBartTokenizer", {}, "de_DE", "fr_XX"),
    "mBART-50": ("MBart50Tokenizer", {}, "de_DE", "fr_XX"),
    "NLLB": ("NllbTokenizer", {}, "deu_Latn", "fra_Latn"),
    "NLLB, legacy": ("NllbTokenizer", {"legacy_behaviour": True}, "deu_Latn", "fra_Latn"),
}


@pytest.mark.large
@pytest.mark.parametrize("case", CASES)
def test_texts_and_labels_have_their_languages(case: str, tmp_path: Path) -> None:
    name, options, source, target = CASES[case]
    theirs = saved(name, tmp_path, **options)
    theirs.src_lang, theirs.tgt_lang = source, target
    tok = jeton.load(tmp_path).replace(src_lang=source, tgt_lang=target)
    for text, label in (("a b", "b a"), (["a", "b"], ["b", "a"])):
        ours = tok(text, text_target=label)
        expected = theirs(text, text_target=label)
        assert ours["input_ids"] == expected["input_ids"]
        assert ours["labels"] == expected["labels"] != ours["input_ids"]
    assert tok(text_target="b")["input_ids"] == theirs(text_target="b")["input_ids"]
    assert tok("a", "b")["input_ids"] == theirs("a", "b")["input_ids"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)  # it names another class
        tok.save(tmp_path / "again")
    again = jeton.load(tmp_path / "again")
    assert again("a", text_target="b") == tok("a", text_target="b")
    assert (again.settings.config["src_lang"], again.settings.config["tgt_lang"]) == (
        source,
        target,
    )


@pytest.mark.large
def test_labels_without_a_target_language_are_in_the_source_language_and_a_warning_says_so(
    tmp_path: Path,
) -> None:
    theirs = saved("MBartTokenizer", tmp_path)
    tok = jeton.load(tmp_path)
    for _ in range(2):  # each call
        with pytest.warns(UserWarning, match="no tgt_lang") as warned:
            labels = tok("a", text_target="b")["labels"]
        assert warned[0].filename == __file__
    assert labels == theirs("a", text_target="b")["labels"]
    assert tok("a")["input_ids"] == theirs("a")["input_ids"]


WHISPER = [
    "<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|zh|>", "<|de|>", "<|translate|>",
    "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>",
]  # fmt: skip


def whisper(folder: Path) -> Any:
    """Whisper's class with a small vocabulary."""
    vocab = {"a": 0, "b": 1, "Ġ": 2, "Ġb": 3}
    theirs = transformers.WhisperTokenizer(vocab=vocab, merges=[("Ġ", "b")])
    theirs.add_special_tokens({"additional_special_tokens": WHISPER[1:]})
    theirs.set_prefix_tokens()
    theirs.save_pretrained(folder)
    return theirs


@pytest.mark.large
@pytest.mark.parametrize(
    "options",
    [
        {"language": "german"},
        {"language": "de", "task": "translate"},
        {"language": "English", "task": "transcribe"},
        {"language": "mandarin"},
        {"task": "transcribe"},
    ],
)
def test_whisper_is_told_language_and_task(options: dict[str, str], tmp_path: Path) -> None:
    theirs = whisper(tmp_path)
    theirs.set_prefix_tokens(**options)
    tok = jeton.load(tmp_path).replace(**options)  # type: ignore[arg-type]
    assert tok("a b")["input_ids"] == theirs("a b")["input_ids"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)  # it names another class
        tok.save(tmp_path / "again")
    assert jeton.load(tmp_path / "again")("a b")["input_ids"] == tok("a b")["input_ids"]


@pytest.mark.large
def test_languages_that_a_model_does_not_have_are_refused(tmp_path: Path) -> None:
    saved("MBart50Tokenizer", tmp_path / "a")
    tok = jeton.load(tmp_path / "a")
    with pytest.raises(ArgumentError, match=r"no language 'de_De'.*did you mean 'de_DE'"):
        tok.replace(src_lang="de_De")
    with pytest.raises(ArgumentError, match="tgt_lang: the model has no language 'xx'"):
        tok.replace(tgt_lang="xx")
    with pytest.raises(ArgumentError, match="a MBart50 tokenizer has src_lang"):
        tok.replace(language="de")
    with pytest.raises(ArgumentTypeError, match="src_lang must be a str"):
        tok.replace(src_lang=5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="pass one of them"):
        tok.replace(src_lang="de_DE", post_processor=None)
    whisper(tmp_path / "b")
    tok = jeton.load(tmp_path / "b")
    with pytest.raises(ArgumentError, match="no language 'klingon'"):
        tok.replace(language="klingon")
    with pytest.raises(ArgumentError, match="task must be"):
        tok.replace(task="sing")
    with pytest.raises(ArgumentError, match="a Whisper tokenizer has language"):
        tok.replace(src_lang="de")
    with pytest.raises(UnsupportedError, match="no languages"):
        jeton.CharTrainer().train("a").replace(src_lang="de_DE")
