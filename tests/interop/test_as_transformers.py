"""`as_transformers()` encodes as jeton does, and folders mean the same to both.

The judge is jeton's own answer and that of `AutoTokenizer` on the folder that `save` writes.
"""

from __future__ import annotations

import functools
import json
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from jeton import samples
from jeton.components import models, post_processors, pre_tokenizers
from jeton.errors import FormatWarning
from kinds import KINDS, LLAMA, byte_level, word_piece
from shared_data import VOCABULARIES, needed

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    transformers = pytest.importorskip("transformers")

LINES = ["the theory of the weather there, then: père, 東京, 🙂🙂 \n\n  x = 1\n"] * 4
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
TEXTS = [
    "a [more] b[more]  <mask> c <r>  d word swords",
    "",
    "the weather",
    "The Theory's weather isn't there -- 1,204 times!",
    "the<|end|>x there<|endoftext|>",
    " a  b\n\n\tc \u00a0d",
    "[CLS] e[UNK]<unk><s> the</s>",
    "père, 東京 🙂👍🏽 ｈａｌｆ ﬁ½",
    "un\u0301 \u200b\ufeff\u0000 \x85",
]
ROLES = {"eos": "<|end|>", "pad": "<|pad|>", "mask": "<mask>", "image": "<|end|>x"}


def configured() -> jeton.Tokenizer:
    """One with everything that a folder holds."""
    tok = byte_level().with_added_tokens(
        [
            "<|pad|>",
            "<|extra|>",
            jeton.AddedToken("[more]"),
            jeton.AddedToken("<mask>", special=True, lstrip=True),
            jeton.AddedToken("<r>", special=True, rstrip=True, normalized=True),
            jeton.AddedToken("word", special=True, single_word=True),
        ]
    )
    return tok.replace(
        roles=ROLES,
        chat_template={"default": TEMPLATE, "short": "{{ messages[-1].content }}"},
        model_max_length=77,
        padding={
            "strategy": "BatchLongest",
            "direction": "Left",
            "pad_to_multiple_of": None,
            "pad_id": tok.special_tokens["<|pad|>"],
            "pad_type_id": 0,
            "pad_token": "<|pad|>",
        },
        truncation={
            "direction": "Left",
            "max_length": 9,
            "strategy": "LongestFirst",
            "stride": 2,
        },
        post_processor=post_processors.TemplateProcessing(
            "$A <|end|>", special_tokens={"<|end|>": tok.special_tokens["<|end|>"]}
        ),
    )


def word_level() -> jeton.Tokenizer:
    return jeton.Tokenizer(
        models.WordLevel({b"[UNK]": 0, b"the": 1, b"weather": 2}),
        pre_tokenizer=pre_tokenizers.Whitespace(),
    )


def with_suffix() -> jeton.Tokenizer:
    return jeton.BPETrainer(
        60,
        alphabet="characters",
        end_of_word_suffix="</w>",
        pattern="whitespace",
        unk_token="<unk>",
        special_tokens=["<unk>"],
    ).train(LINES)


def sentencepiece_unigram() -> jeton.Tokenizer:
    return jeton.UnigramTrainer(80, hard_vocab_limit=False).train(LINES)


MADE: dict[str, Callable[[], jeton.Tokenizer]] = {
    **{name: make for name, make in KINDS.items() if name not in ("longest match", "superwords")},
    "everything set": configured,
    "words": word_level,
    "characters with </w>": with_suffix,
    "SentencePiece BPE": lambda: jeton.BPETrainer(280, **LLAMA).train(LINES),
    "trained WordPiece": lambda: jeton.WordPieceTrainer(80).train(LINES),
    "SentencePiece Unigram, nearly": lambda: sentencepiece_unigram().approximation(
        "tokenizer.json"
    ),
    "Unigram of tokenizers": lambda: jeton.UnigramTrainer(39, style="huggingface").train(LINES),
    "GPT-2's pattern": lambda: byte_level("gpt2"),
}
REAL: dict[str, Callable[[], jeton.Tokenizer]] = {
    "cl100k_base": lambda: jeton.load(VOCABULARIES / "cl100k_base.tiktoken"),
    "o200k_base": lambda: jeton.load(VOCABULARIES / "o200k_base.tiktoken"),
    "r50k_base": lambda: jeton.load(VOCABULARIES / "r50k_base.tiktoken"),
    "GPT-2": lambda: jeton.load(
        VOCABULARIES / "gpt2_vocab.json", merges=VOCABULARIES / "gpt2_merges.txt"
    ),
    "Llama 3": lambda: jeton.load(VOCABULARIES / "llama3_ranks.model"),
    "Llama 2": lambda: jeton.load(VOCABULARIES / "llama2_sentencepiece_bpe.model"),
    "a translation model, nearly": lambda: jeton.load(
        VOCABULARIES / "t5_style_unigram.model"
    ).approximation("tokenizer.json"),
    "BERT": lambda: jeton.load(VOCABULARIES / "bert_uncased_vocab.txt"),
    "GPT-NeoX": lambda: jeton.load(VOCABULARIES / "neox"),
}


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks a network for anything."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def auto(folder: Path) -> Any:
    """The folder as transformers loads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.AutoTokenizer.from_pretrained(folder)


def texts() -> Iterator[str]:
    yield from TEXTS
    for text in samples.read_all().values():
        yield from islice(text.split("\n\n"), 12)


def expect_the_same(tok: jeton.Tokenizer, theirs: Any, name: str) -> None:
    """Ids, text, special tokens, roles, templates and lengths of both."""
    # A role of an ordinary token, such as `<unk>` in a `.model`, follows from the stages alone.
    roles = {
        f"{role}_token": token for role, token in tok.roles.items() if token in tok.special_tokens
    }
    standard = {
        name: token for name, token in roles.items() if name in theirs.SPECIAL_TOKENS_ATTRIBUTES
    }
    assert theirs.special_tokens_map == {**standard, **theirs.special_tokens_map} == roles, name
    assert theirs.chat_template == tok.settings.chat_template, name
    assert theirs.model_max_length == (tok.settings.model_max_length or theirs.model_max_length), (
        name
    )
    assert len(theirs) == tok.vocab_size, name
    assert theirs.added_tokens_encoder == {it.content: it.id for it in tok.stages.added_tokens}, (
        name
    )
    unknown = tok.roles.ids.get("unk")
    special = set(tok.special_tokens.values()) - {unknown}
    for text in texts():
        ids = theirs(text, add_special_tokens=False)["input_ids"]
        assert tok.encode(text, special="allow") == ids, (name, text)
        assert tok.decode(ids) == theirs.decode(ids), (name, text)
        assert tok.decode(ids, skip_special_tokens=True) == theirs.decode(
            ids, skip_special_tokens=True
        ), (name, text)
        framed = theirs(text)["input_ids"]
        assert tok.encode(text, special="allow", add_special_tokens=True) == framed, (name, text)
        split = theirs.encode(text, add_special_tokens=False, split_special_tokens=True)
        # There a Unigram makes a special token of text all the same, if it is a piece.
        assert tok.encode(text) == split or set(split) & special, (name, text)
        assert not set(tok.encode(text)) & special, (name, text)


def expect_everywhere_the_same(make: Callable[[], jeton.Tokenizer], folder: Path) -> None:
    made = make()
    fast = made.as_transformers()
    made.save(folder / "ours")
    fast.save_pretrained(folder / "theirs")
    # What a folder says of special tokens: those that have a role are such.
    tok, again = jeton.load(folder / "ours"), jeton.load(folder / "theirs")
    expect_the_same(tok, fast, "as_transformers")
    expect_the_same(tok, auto(folder / "ours"), "AutoTokenizer")
    expect_the_same(again, fast, "saved by transformers")
    assert (tok.stages.added_tokens, tok.roles) == (again.stages.added_tokens, again.roles)
    assert fast.all_special_tokens == auto(folder / "ours").all_special_tokens
    if not made.settings.config:  # or transformers said which ones it knows of
        assert set(fast.all_special_tokens) == set(tok.special_tokens)
    roles = {*made.roles.values()}
    assert [it for it in tok.stages.added_tokens if it.content not in roles] == [
        it for it in made.stages.added_tokens if it.content not in roles
    ]


@pytest.mark.filterwarnings("ignore:.* decodes the unknown token")
@pytest.mark.large
@pytest.mark.parametrize("name", MADE)
def test_every_family(name: str, tmp_path: Path) -> None:
    expect_everywhere_the_same(MADE[name], tmp_path)


@pytest.mark.filterwarnings("ignore:.* decodes the unknown token")
def test_an_unknown_token_that_is_ordinary_stays_ordinary_in_folders(tmp_path: Path) -> None:
    made = MADE["SentencePiece BPE"]()
    assert "<unk>" not in made.special_tokens and made.roles["unk"] == "<unk>"
    made.save(tmp_path / "ours")
    made.as_transformers().save_pretrained(tmp_path / "theirs")
    as_text = made.encode("<unk>")
    for name in ("ours", "theirs"):
        tok, theirs = jeton.load(tmp_path / name), auto(tmp_path / name)
        assert "<unk>" not in tok.special_tokens and tok.roles["unk"] == "<unk>"
        assert theirs("<unk>", add_special_tokens=False)["input_ids"] == as_text
        assert tok.encode("<unk>", special="allow") == tok.encode("<unk>") == as_text


@pytest.mark.filterwarnings("ignore:.* decodes the unknown token")
@pytest.mark.large
@pytest.mark.parametrize("name", REAL)
def test_real_ones(name: str, tmp_path: Path) -> None:
    needed(VOCABULARIES)
    expect_everywhere_the_same(REAL[name], tmp_path)


@functools.cache
def both(name: str) -> tuple[jeton.Tokenizer, Any]:
    """One as its folder has it, where the tokens of roles are special, and that of transformers."""
    tok = MADE[name]()
    with tempfile.TemporaryDirectory() as folder:
        tok.save(folder)
        return jeton.load(folder), tok.as_transformers()


SPELLED = st.sampled_from(["<|end|>", "<|end|>x", "<|pad|>", "[more]", "[CLS]", "the ", "\n", " "])
MIXED = st.lists(SPELLED | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)).map(
    "".join
)


@pytest.mark.filterwarnings("ignore:.* decodes the unknown token")
@pytest.mark.parametrize("name", MADE)
@given(text=MIXED)
def test_random_texts_have_the_same_ids(name: str, text: str) -> None:
    tok, fast = both(name)
    ids = fast(text, add_special_tokens=False)["input_ids"]
    assert tok.encode(text, special="allow") == ids
    assert tok.decode(ids, skip_special_tokens=True) == fast.decode(ids, skip_special_tokens=True)


def test_configuration_fields_are_kept(tmp_path: Path) -> None:
    fast = configured().as_transformers()
    assert isinstance(fast, transformers.PreTrainedTokenizerFast)
    assert isinstance(fast, transformers.PreTrainedTokenizerBase)
    assert (fast.padding_side, fast.truncation_side) == ("left", "left")
    assert fast.clean_up_tokenization_spaces is False
    assert (fast.eos_token, fast.pad_token, fast.mask_token, fast.image_token) == tuple(
        ROLES.values()
    )
    assert fast.name_or_path == ""
    messages = [{"role": "user", "content": "the weather"}]
    assert fast.apply_chat_template(messages, tokenize=False) == "user: the weather\n"
    short = fast.apply_chat_template(messages, chat_template="short", tokenize=False)
    assert short == "the weather"
    again = pickle.loads(pickle.dumps(fast))
    assert again("the weather<|end|>") == fast("the weather<|end|>")
    # What is saved names no folder of this machine.
    fast.save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert "jeton-" not in json.dumps(saved)
    assert not {"is_local", "local_files_only", "name_or_path"} & {*saved}


def test_a_file_says_how_to_pad_and_cut() -> None:
    tok = configured()
    fast = tok.as_transformers()
    rows = fast(["the", "the weather there"], padding=True)["input_ids"]
    expected = tok.encode_batch(["the", "the weather there"], add_special_tokens=True)
    assert rows == expected.pad(side="left").ids.tolist()
    cut = fast("the theory of the weather there", truncation=True, max_length=4)["input_ids"]
    assert cut == [*tok.encode("the theory of the weather there")[-3:], tok.roles.ids["eos"]]


def test_models_of_pairs_are_told_which_text_is_which(tmp_path: Path) -> None:
    tok = word_piece()
    pair = tok.encode_with_spans("the", "weathers", add_special_tokens=True)
    tok.save(tmp_path)
    for fast in (tok.as_transformers(), auto(tmp_path)):
        assert fast("the", "weathers")["token_type_ids"] == pair.type_ids
    assert "token_type_ids" not in byte_level().as_transformers()("the", "weather")


def test_settings_of_model_classes_are_kept(tmp_path: Path) -> None:
    word_piece().save(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    config = json.loads(path.read_text())
    del config["model_input_names"]
    path.write_text(json.dumps({**config, "tokenizer_class": "BertTokenizer"}))
    fast = jeton.load(tmp_path).as_transformers()
    assert fast.model_input_names == auto(tmp_path).model_input_names
    assert "token_type_ids" in fast("the")
    path.write_text(json.dumps({**config, "tokenizer_class": "XLNetTokenizer"}))
    assert jeton.load(tmp_path).as_transformers().padding_side == "left"


def test_the_file_counts_whatever_class_the_configuration_names(tmp_path: Path) -> None:
    byte_level().save(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "tokenizer_class": "GPT2Tokenizer"}))
    tok = jeton.load(tmp_path)
    text = "the weather\n\n there, 1,204 x = 1"
    assert tok.as_transformers()(text)["input_ids"] == tok.encode(text) == byte_level().encode(text)


CLASSES = {
    "GPT2Tokenizer": "GPT-2's pattern",
    "RobertaTokenizer": "GPT-2's pattern",
    "Qwen2Tokenizer": "GPT-2's pattern",
    "BartTokenizer": "GPT-2's pattern",
    "BertTokenizer": "trained WordPiece",
    "DistilBertTokenizer": "trained WordPiece",
    "LlamaTokenizer": "SentencePiece BPE",
    "GemmaTokenizer": "SentencePiece BPE",
    "T5Tokenizer": "SentencePiece Unigram, nearly",
    "XLMRobertaTokenizer": "SentencePiece Unigram, nearly",
    "XLNetTokenizer": "SentencePiece Unigram, nearly",
}
"""Classes of transformers for one model each, and whose vocabulary one is made of here."""

NOT_KNOWN_TO_BUILD_THE_SAME = {
    name for name in CLASSES if name.startswith(("Llama", "Gemma", "T5", "XL"))
}
"""Those of which a saved folder names another class, with a warning."""


@pytest.mark.parametrize("name", CLASSES)
def test_folders_of_other_classes(name: str, tmp_path: Path) -> None:
    model = json.loads(MADE[CLASSES[name]]().to_json())["model"]
    vocab, merges = model["vocab"], model.get("merges")
    if isinstance(vocab, list):
        vocab = [tuple(piece) for piece in vocab]
    options = {"merges": [tuple(pair) for pair in merges]} if merges else {}
    getattr(transformers, name)(vocab=vocab, **options).save_pretrained(tmp_path / "theirs")
    tok = jeton.load(tmp_path / "theirs")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        tok.save(tmp_path / "ours")
    theirs, again, fast = auto(tmp_path / "theirs"), auto(tmp_path / "ours"), tok.as_transformers()
    kept = not any(it.category is FormatWarning for it in caught)
    assert kept == (name not in NOT_KNOWN_TO_BUILD_THE_SAME)
    assert type(again) is (type(theirs) if kept else transformers.TokenizersBackend)
    for text in texts():
        ids = theirs(text)["input_ids"]
        assert ids == again(text)["input_ids"] == fast(text)["input_ids"], text
        assert tok.encode(text, special="allow", add_special_tokens=True) == ids, text
        assert tok.decode(ids) == theirs.decode(ids) == fast.decode(ids), text
    for attribute in ("special_tokens_map", "model_input_names", "padding_side", "chat_template"):
        assert getattr(fast, attribute) == getattr(theirs, attribute), attribute
        assert getattr(again, attribute) == getattr(theirs, attribute), attribute
    assert set(fast.all_special_tokens) == set(theirs.all_special_tokens)


def test_special_tokens_that_come_later_are_told(tmp_path: Path) -> None:
    byte_level().save(tmp_path / "first")
    more = jeton.load(tmp_path / "first").with_added_tokens(["<|later|>"])
    assert more.as_transformers().all_special_tokens == ["<|end|>", "<|end|>x", "<|later|>"]
    more.save(tmp_path / "second")
    assert jeton.load(tmp_path / "second") == more


def test_components_that_no_file_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = byte_level().with_added_tokens([jeton.AddedToken("§§")])
    with pytest.raises(jeton.errors.UnsupportedError, match="§§"):
        odd.as_transformers()
    with pytest.raises(jeton.errors.UnsupportedError, match=r"Tokenizer\.approximation"):
        sentencepiece_unigram().as_transformers()
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(jeton.errors.UnsupportedError, match="pip install transformers"):
        byte_level().as_transformers()
