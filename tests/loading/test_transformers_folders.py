"""Folders between jeton and transformers: tokens and their roles, templates, and the same ids."""

from __future__ import annotations

import json
import math
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import normalizers, post_processors, pre_tokenizers
from jeton.errors import FormatWarning
from jeton.loading.transformers_classes import AS_IT_STANDS
from jeton.loading.transformers_stages import builds_other_stages
from kinds import LLAMA, byte_level, characters, unigram, word_piece
from shared_data import VOCABULARIES, needed

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    transformers = pytest.importorskip("transformers")

TEXTS = ["the weather", "the<|end|>x there", " a  b\n", "[CLS] e[UNK]", "<unk> the", "père, 東京"]


def auto(folder: Path) -> Any:
    """The folder as transformers loads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.AutoTokenizer.from_pretrained(folder)


def bert() -> jeton.Tokenizer:
    return jeton.WordPieceTrainer(60).train(["the weather there"] * 4)


def sentencepiece_bpe() -> jeton.Tokenizer:
    return jeton.BPETrainer(280, **LLAMA).train(["the weather there"] * 4)


def with_pad() -> jeton.Tokenizer:
    return byte_level().with_added_tokens(["<|pad|>"])


@pytest.mark.filterwarnings("ignore:.* decodes the unknown token")
@pytest.mark.parametrize(
    ("make", "roles"),
    [
        (word_piece, {}),
        (bert, {}),
        (unigram, {}),
        (characters, {}),
        (sentencepiece_bpe, {}),
        (byte_level, {}),
        (with_pad, {"eos": "<|end|>", "pad": "<|pad|>", "image": "<|end|>x"}),
    ],
)
def test_transformers_knows_the_roles(
    make: Any, roles: dict[str, str | None], tmp_path: Path
) -> None:
    tok = make()
    tok.save(tmp_path, roles=roles, chat_template="{{ messages[0]['content'] }}!")
    theirs, again = auto(tmp_path), jeton.load(tmp_path)
    expected = {f"{role}_token": token for role, token in {**tok.roles, **roles}.items()}
    # A role in the files would make an ordinary unknown token special.
    special = {*again.special_tokens}
    assert theirs.special_tokens_map == {role: it for role, it in expected.items() if it in special}
    assert {f"{role}_token": token for role, token in again.roles.items()} == expected
    for role, id in again.roles.ids.items():
        if again.roles[role] in special:
            assert theirs.convert_tokens_to_ids(again.roles[role]) == id
    assert theirs.chat_template == again.settings.chat_template == "{{ messages[0]['content'] }}!"
    assert theirs.apply_chat_template([{"role": "", "content": "hi"}], tokenize=False) == "hi!"
    for text in TEXTS:
        if make is characters and not set(text) <= set("the weather é"):
            continue
        found = theirs(text, add_special_tokens=False)["input_ids"]
        assert again.encode(text, special="allow") == found, text
        found = theirs(text)["input_ids"]
        assert again.encode(text, special="allow", add_special_tokens=True) == found, text
        if type(tok.stages.model) is type(again.stages.model):
            assert again == tok


def test_folders_saved_by_transformers_load(tmp_path: Path) -> None:
    tok = with_pad().replace(
        post_processor=post_processors.TemplateProcessing(
            "$A <|end|>", special_tokens={"<|end|>": 0}
        )
    )
    tok.save(tmp_path / "ours", roles={"eos": "<|end|>"})
    theirs = auto(tmp_path / "ours")
    theirs.add_special_tokens({"pad_token": "<|pad|>", "extra_special_tokens": ["<|new|>"]})
    theirs.chat_template = {"default": "a", "rag": "b"}
    theirs.model_max_length = 77
    theirs.save_pretrained(tmp_path / "theirs")
    again = jeton.load(tmp_path / "theirs")
    assert again.roles == {"eos": "<|end|>", "pad": "<|pad|>"}
    assert again.settings.chat_template == {"default": "a", "rag": "b"}
    assert again.settings.model_max_length == 77
    assert again.special_tokens["<|new|>"] == theirs.convert_tokens_to_ids("<|new|>")
    again.save(tmp_path / "again")
    for path in (tmp_path / "theirs").rglob("*.*"):
        if path.is_file() and path.name != "tokenizer.json":
            copy = tmp_path / "again" / path.relative_to(tmp_path / "theirs")
            assert copy.read_bytes() == path.read_bytes(), path.name
    last = auto(tmp_path / "again")
    for text in [*TEXTS, "<|new|>x"]:
        assert last(text)["input_ids"] == theirs(text)["input_ids"]
        assert (
            again.encode(text, special="allow", add_special_tokens=True) == last(text)["input_ids"]
        )


OLD_FILES: dict[str, dict[str, Any]] = {
    "a map says more than the configuration": {
        "tokenizer_config.json": {"eos_token": "<|a|>", "pad_token": "<|b|>"},
        "special_tokens_map.json": {"eos_token": "<|c|>"},
    },
    "a configuration that lists tokens says more than the map": {
        "tokenizer_config.json": {
            "eos_token": "<|a|>",
            "added_tokens_decoder": {"294": {"content": "<|a|>", "special": True}},
        },
        "special_tokens_map.json": {"eos_token": "<|c|>", "pad_token": "<|d|>"},
    },
    "a list of added tokens": {
        "tokenizer_config.json": {"eos_token": "<|b|>"},
        "added_tokens.json": {"<|b|>": 295, "<|a|>": 294, "<|end|>": 0},
    },
    "tokens with options": {
        "tokenizer_config.json": {},
        "special_tokens_map.json": {
            "pad_token": {"content": "<|p|>", "lstrip": True, "rstrip": False, "single_word": False}
        },
    },
    "tokens of a model": {
        "tokenizer_config.json": {
            "extra_special_tokens": {"image_token": "<|i|>"},
            "boi_token": "<|j|>",
            "eos_token": "<|a|>",
        },
    },
    "further special tokens": {
        "tokenizer_config.json": {"additional_special_tokens": ["<|a|>", "<|b|>"]},
    },
    "further special tokens of a model": {
        "tokenizer_config.json": {
            "additional_special_tokens": ["<|a|>"],
            "extra_special_tokens": {"image_token": "<|i|>"},
        },
    },
    "an empty list of further special tokens": {
        "tokenizer_config.json": {
            "additional_special_tokens": ["<|a|>"],
            "extra_special_tokens": [],
        },
    },
    "numbers that only Python writes": {
        "tokenizer_config.json": {"eos_token": "<|a|>", "scale": math.nan, "most": math.inf},
        "special_tokens_map.json": {"pad_token": "<|b|>", "least": -math.inf},
        "added_tokens.json": {"<|b|>": 295, "<|a|>": 294},
    },
    "a token of a model that the map calls something else": {
        "tokenizer_config.json": {"image_token": "<|i|>"},
        "special_tokens_map.json": {"image_token": "<|j|>", "eos_token": "<|a|>"},
    },
}


def write_files(files: dict[str, dict[str, Any]], folder: Path) -> None:
    byte_level().save(folder)
    (folder / "special_tokens_map.json").unlink()
    for name, content in files.items():
        (folder / name).write_text(json.dumps({**content, **_class_in(name)}))


@pytest.mark.parametrize("row", OLD_FILES)
def test_files_of_all_ages_are_read_alike(row: str, tmp_path: Path) -> None:
    write_files(OLD_FILES[row], tmp_path)
    theirs, ours = auto(tmp_path), jeton.load(tmp_path)
    expected = {name: token for name, token in theirs.special_tokens_map.items() if token}
    assert {
        f"{role}_token".replace("_token_token", "_token"): it for role, it in ours.roles.items()
    } == expected
    tokens = {token.content: token.id for token in ours.stages.added_tokens}
    assert tokens == {str(it): id for id, it in theirs.added_tokens_decoder.items()}
    for text in [" <|a|><|b|>x", "<|c|> <|d|>", "x <|p|> y", "<|i|><|j|>", *TEXTS]:
        found = theirs(text, add_special_tokens=False)["input_ids"]
        assert ours.encode(text, special="allow") == found, text
    ours.save(tmp_path / "again")
    for name in OLD_FILES[row]:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()


MAPS: dict[str, dict[str, dict[str, Any]]] = {
    **OLD_FILES,
    "an older list in a map": {
        "tokenizer_config.json": {"eos_token": "<|a|>"},
        "special_tokens_map.json": {"additional_special_tokens": ["<|c|>"], "pad_token": "<|d|>"},
    },
    "a list in a map": {
        "tokenizer_config.json": {"extra_special_tokens": ["<|a|>"]},
        "special_tokens_map.json": {"extra_special_tokens": [{"content": "<|c|>"}]},
    },
    "names in a map": {
        "tokenizer_config.json": {"eos_token": "<|a|>"},
        "special_tokens_map.json": {"extra_special_tokens": {"image_token": "<|c|>"}},
    },
}


@pytest.mark.parametrize("row", MAPS)
def test_files_of_all_ages_say_the_same_after_a_change(row: str, tmp_path: Path) -> None:
    write_files(MAPS[row], tmp_path)
    ours, theirs = jeton.load(tmp_path), auto(tmp_path)
    changed = jeton.edit.prune(ours, size=ours.vocab_size - 1, corpus=TEXTS).tok
    changed.save(tmp_path / "again")
    again, last = jeton.load(tmp_path / "again"), auto(tmp_path / "again")
    assert again == changed and again.roles == ours.roles
    assert last.special_tokens_map == theirs.special_tokens_map
    assert {*theirs.all_special_tokens} == {*last.all_special_tokens}
    for text in [" <|a|><|b|>x", "<|c|> <|d|>", "x <|p|> y", "<|i|><|j|>", *TEXTS]:
        found = last(text, add_special_tokens=False)["input_ids"]
        assert again.encode(text, special="allow") == found, text


def test_a_map_without_a_configuration_is_kept(tmp_path: Path) -> None:
    tokens = [jeton.AddedToken("<|a|>", special=False)]
    byte_level().with_added_tokens(tokens).save(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    listed = {"eos_token": "<|end|>", "additional_special_tokens": ["<|a|>"]}
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(listed))
    theirs = auto(tmp_path)
    jeton.load(tmp_path).save(tmp_path / "again")
    assert {*theirs.all_special_tokens} <= {*auto(tmp_path / "again").all_special_tokens}


def test_a_renamed_token_leaves_the_list_of_added_tokens(tmp_path: Path) -> None:
    write_files({"tokenizer_config.json": {}, "added_tokens.json": {"<|end|>": 0}}, tmp_path)
    jeton.edit.rename(jeton.load(tmp_path), {"<|end|>": "<|stop|>"}).tok.save(tmp_path / "again")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "<|end|>" not in jeton.load(tmp_path / "again").special_tokens


_TWO_LISTS = (
    "transformers reads one list of special tokens, and so does jeton; of "
    "additional_special_tokens these are not special: '<|a|>'"
)
LEFT_OUT: dict[str, tuple[dict[str, dict[str, Any]], list[str], str]] = {
    # The files, the tokens that are left out, and what is said.
    "two lists": (
        {
            "tokenizer_config.json": {
                "additional_special_tokens": ["<|a|>", "<|b|>"],
                "extra_special_tokens": ["<|b|>"],
            },
        },
        ["<|a|>"],
        _TWO_LISTS,
    ),
    "lists in two files": (
        {
            "tokenizer_config.json": {"additional_special_tokens": ["<|b|>"]},
            "special_tokens_map.json": {"additional_special_tokens": ["<|a|>"]},
        },
        ["<|a|>"],
        _TWO_LISTS,
    ),
    "an id that belongs to another token": (
        {"tokenizer_config.json": {}, "added_tokens.json": {"<|a|>": 0, "<|b|>": 294}},
        ["<|a|>"],
        'added_tokens.json: "<|a|>" is not added, as in transformers: "<|end|>" has its id, 0',
    ),
    "an id for two tokens": (
        {"tokenizer_config.json": {}, "added_tokens.json": {"<|a|>": 294, "<|b|>": 294}},
        ["<|a|>"],
        'added_tokens.json: "<|a|>" is not added, as in transformers: "<|b|>" has its id, 294',
    ),
}


@pytest.mark.parametrize("row", LEFT_OUT)
def test_tokens_that_transformers_leaves_out_are_said(row: str, tmp_path: Path) -> None:
    files, left_out, said = LEFT_OUT[row]
    write_files(files, tmp_path)
    with pytest.warns(FormatWarning) as caught:
        ours = jeton.load(tmp_path)
    assert [str(it.message) for it in caught] == [f"{tmp_path}: {said}"]
    theirs = auto(tmp_path)
    tokens = {token.content: token.id for token in ours.stages.added_tokens}
    assert tokens == {str(it): id for id, it in theirs.added_tokens_decoder.items()}
    assert "<|b|>" in tokens and not {*left_out} & {*tokens}


def _class_in(name: str) -> dict[str, str]:
    return {"tokenizer_class": "PreTrainedTokenizerFast"} if "config" in name else {}


FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
SPELLINGS = ("<s>", "</s>", "<p>", "<q>", "<x>", "<y>", "<z>", "a")


class RandomFolder:
    """Files that name special tokens, and contradict each other."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        spellings = ["<unk>", "a", "b", "c", "<s>", "</s>", "<p>", "<q>"]
        self.vocab = {token: id for id, token in enumerate(spellings)}
        added = rng.sample(SPELLINGS, rng.randrange(5))
        new = [token for token in added if token not in self.vocab]
        id_of = {**self.vocab, **{token: id for id, token in enumerate(new, len(self.vocab))}}
        tokens = sorted((id_of[token], self.flags(token)) for token in added)
        config: dict[str, Any] = _class_in("config")
        config |= self.names(lambda token: {"__type": "AddedToken", **token})
        self.files: dict[str, Any] = {
            "tokenizer.json": {
                "version": "1.0",
                "added_tokens": [{"id": id, **token} for id, token in tokens],
                "pre_tokenizer": {"type": "WhitespaceSplit"},
                "model": {"type": "WordLevel", "vocab": self.vocab, "unk_token": "<unk>"},
                **dict.fromkeys(
                    ("truncation", "padding", "normalizer", "post_processor", "decoder")
                ),
            },
            "tokenizer_config.json": config,
        }
        if rng.random() < 0.5:
            self.files["special_tokens_map.json"] = self.names(lambda token: token)
        if rng.random() < 0.6:
            some = rng.sample(SPELLINGS, rng.randrange(4))
            self.files["added_tokens.json"] = {token: rng.randrange(13) for token in some}
        if rng.random() < 0.15:
            ids, some = rng.sample(range(12), 3), rng.sample(SPELLINGS, 3)
            config["added_tokens_decoder"] = {
                str(id): self.flags(token) for id, token in zip(ids, some, strict=True)
            }

    def flags(self, token: str) -> dict[str, Any]:
        flags = {name: self.rng.random() < 0.25 for name in FLAGS}
        return {"content": token, **flags, "special": self.rng.random() < 0.6}

    def names(self, typed: Any) -> dict[str, Any]:
        """The fields of a file that name tokens."""
        rng, fields = self.rng, dict[str, Any]()
        for name in ("bos", "eos", "pad", "unk", "image"):
            if rng.random() < 0.25:
                token = rng.choice(SPELLINGS)
                is_text = rng.random() < 0.7
                fields[f"{name}_token"] = token if is_text else typed(self.flags(token))
        for name in ("additional_special_tokens", "extra_special_tokens"):
            kind, some = rng.random(), rng.sample(SPELLINGS, rng.randrange(3))
            if kind < 0.3:
                fields[name] = some
            elif kind < 0.35:
                fields[name] = None
            elif kind < 0.45 and name == "extra_special_tokens":
                fields[name] = {f"n{at}_token": token for at, token in enumerate(some)}
        return fields


@pytest.mark.filterwarnings("ignore::jeton.errors.FormatWarning")
@pytest.mark.parametrize("seed", range(2))
def test_files_that_contradict_each_other_are_read_as_by_transformers(
    seed: int, tmp_path: Path
) -> None:
    for number in range(20 * seed, 20 * seed + 20):
        files = RandomFolder(number).files
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content))
        theirs, ours = auto(folder), jeton.load(folder)
        tokens = {token.content: token.id for token in ours.stages.added_tokens}
        assert tokens == {str(it): id for id, it in theirs.added_tokens_decoder.items()}, number
        special = {id for id in range(len(theirs)) if not theirs.decode([id], True)}
        assert {*ours.special_tokens.values()} == special, number
        for token in SPELLINGS:
            for text in (f"b{token}c", f"b {token}c", f"b{token} c", f" {token} "):
                found = theirs(text, add_special_tokens=False)["input_ids"]
                assert ours.encode(text, special="allow") == found, (number, text)


PUBLISHED: dict[str, tuple[str, int, list[str]]] = {
    # Name: its file, the largest id, and the names that share an id with another one.
    "r50k_base": ("r50k_base.tiktoken", 50_256, []),
    "cl100k_base": ("cl100k_base.tiktoken", 100_276, []),
    "o200k_base": ("o200k_base.tiktoken", 200_018, []),
    "o200k_harmony": ("o200k_base.tiktoken", 201_087, ["<|reserved_200018|>"]),
    "llama3": ("llama3_ranks.model", 128_255, []),
    "llama3.1": ("llama3_ranks.model", 128_255, []),
}


@pytest.mark.large
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_encoding_has_no_more_ids_in_a_folder(name: str, tmp_path: Path) -> None:
    """Gaps between ids stay gaps, and a second name of an id is no token of its own."""
    file, largest, second_names = PUBLISHED[name]
    tok = jeton.load(needed(VOCABULARIES / file), encoding=name)
    assert tok.vocab.max_id == largest
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        tok.save(tmp_path / "folder")
        fast = tok.as_transformers()
    told = [str(it.message) for it in caught if it.category is FormatWarning]
    if second_names:
        token = f'the special token "{second_names[0]}"'
        assert told == [
            f"folder does not hold {token} (pass it again when you load the file)",
            f"transformers' tokenizer leaves out {token}: it has one name per id",
        ]
    else:
        assert told == []
    again = jeton.load(tmp_path / "folder")
    assert again.vocab_size == tok.vocab_size
    assert again.vocab.max_id == largest
    for theirs in (fast, auto(tmp_path / "folder")):
        assert len(theirs) == tok.vocab_size
        assert max(theirs.get_vocab().values()) == largest
        for token, id in tok.special_tokens.items():
            if token not in second_names:
                assert theirs.convert_tokens_to_ids(token) == id


@pytest.mark.large
def test_a_role_of_a_second_name_is_saved_by_the_first(tmp_path: Path) -> None:
    tok = jeton.load(needed(VOCABULARIES / "o200k_base.tiktoken"), encoding="o200k_harmony")
    tok = tok.replace(roles={"pad": "<|reserved_200018|>"})
    tok.save(tmp_path, lossy=True)
    again = jeton.load(tmp_path)
    assert again.roles["pad"] == "<|endofprompt|>"
    assert again.roles.ids["pad"] == tok.roles.ids["pad"] == 200_018
    assert len(auto(tmp_path)) == again.vocab_size == 201_088
    again.with_added_tokens(["<|more|>"]).save(tmp_path / "more")
    assert len(auto(tmp_path / "more")) == 201_089


def classes() -> dict[str, Any]:
    """All tokenizers that transformers knows by name."""
    from transformers.models.auto import tokenization_auto

    names = {name for name in dir(transformers) if "Tokenizer" in name}
    names |= {name for name in tokenization_auto.TOKENIZER_MAPPING_NAMES.values() if name}
    found = {name: tokenization_auto.tokenizer_class_from_name(name) for name in sorted(names)}
    base = transformers.tokenization_utils_base.PreTrainedTokenizerBase
    return {name: it for name, it in found.items() if isinstance(it, type) and issubclass(it, base)}


def test_the_classes_that_build_stages_of_their_own_are_known() -> None:
    backend = transformers.TokenizersBackend
    # AutoTokenizer takes the backend for the bases of Python's, too.
    as_it_stands = {"PreTrainedTokenizer", "PreTrainedTokenizerBase"}
    other = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor"))
    for name, kind in classes().items():
        own = not issubclass(kind, backend) or kind.__init__ is not backend.__init__
        found = builds_other_stages({"tokenizer_class": name}, json.dumps({**other, "model": {}}))
        assert found == (own and name not in as_it_stands), name


def qwen2() -> jeton.Tokenizer:
    tok = jeton.BPETrainer(300, pattern="qwen2", special_tokens=["<|endoftext|>"]).train(TEXTS * 9)
    return tok.replace(normalizer=normalizers.NFC())


def gpt2(**options: Any) -> jeton.Tokenizer:
    tokens = ["<|endoftext|>", "<|a|>"]
    tok = jeton.BPETrainer(300, pattern="gpt2", special_tokens=tokens).train(TEXTS * 9)
    return tok.replace(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False), **options)


def starcoder() -> jeton.Tokenizer:
    digits = pre_tokenizers.Digits(individual_digits=True)
    return gpt2().replace(
        pre_tokenizer=pre_tokenizers.Sequence(
            [digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    )


def whisper() -> jeton.Tokenizer:
    tok = gpt2()
    frame = post_processors.TemplateProcessing(
        "<|a|> $A <|endoftext|>", special_tokens=tok.special_tokens
    )
    return tok.replace(post_processor=frame)


def untaught() -> jeton.Tokenizer:
    """GPT-2's stages, without the token that its class takes for all roles."""
    return byte_level("gpt2").replace(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False)
    )


def cased_bert() -> jeton.Tokenizer:
    return bert().replace(normalizer=normalizers.BertNormalizer(lowercase=False))


FOLDERS: dict[str, tuple[Any, dict[str, Any], bool]] = {
    # What makes it, its configuration, and whether the class builds what the file has.
    "GPT-2": (gpt2, {"tokenizer_class": "GPT2Tokenizer"}, True),
    "GPT-2, before version 5": (
        gpt2,
        {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": False},
        True,
    ),
    "GPT-2 with another space": (
        gpt2,
        {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True},
        False,
    ),
    "StarCoder": (starcoder, {"tokenizer_class": "GPT2Tokenizer"}, False),
    "a token that GPT-2's class would add": (
        untaught,
        {"tokenizer_class": "GPT2Tokenizer"},
        False,
    ),
    "and that the folder names": (
        untaught,
        {
            "tokenizer_class": "GPT2Tokenizer",
            **dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|end|>"),
        },
        True,
    ),
    "Whisper": (whisper, {"tokenizer_class": "WhisperTokenizer"}, False),
    "Qwen 2": (qwen2, {"tokenizer_class": "Qwen2Tokenizer"}, True),
    "Qwen 2 without a normalizer": (
        lambda: qwen2().replace(normalizer=None),
        {"tokenizer_class": "Qwen2Tokenizer"},
        False,
    ),
    "BERT without a class": (bert, {"do_lower_case": True}, True),
    "BERT": (bert, {"tokenizer_class": "BertTokenizer"}, True),
    "BERT without a frame": (
        lambda: bert().replace(post_processor=None),
        {"tokenizer_class": "BertTokenizerFast"},
        False,
    ),
    "BERT that keeps upper case": (cased_bert, {"tokenizer_class": "BertTokenizer"}, False),
    "and says so": (
        cased_bert,
        {"tokenizer_class": "BertTokenizer", "do_lower_case": False},
        True,
    ),
    "Llama with byte-level stages": (gpt2, {"tokenizer_class": "LlamaTokenizerFast"}, False),
    "a class of somebody's own": (starcoder, {"tokenizer_class": "MyTokenizer"}, True),
}


@pytest.mark.parametrize("row", FOLDERS)
def test_a_saved_folder_is_read_as_its_file_means_it(row: str, tmp_path: Path) -> None:
    make, config, same = FOLDERS[row]
    made = make()
    made.save(tmp_path / "published")
    (tmp_path / "published" / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "published" / "special_tokens_map.json").unlink()
    with warnings.catch_warnings():
        # Of what the class means, which is not what the file says.
        warnings.filterwarnings("ignore", ".*: for Whisper.* transformers 5 gives", FormatWarning)
        tok = jeton.load(tmp_path / "published")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        tok.save(tmp_path / "again", lossy=True)
    again = json.loads((tmp_path / "again" / "tokenizer_config.json").read_text())
    name = config.get("tokenizer_class")
    said = [str(it.message) for it in caught if it.category is FormatWarning]
    if same:
        assert again == config and said == []
    else:
        assert said == [
            f"again names the class {AS_IT_STANDS}, not {name}, for which transformers 5 builds "
            "its own stages instead of those of tokenizer.json"
        ]
        assert again["tokenizer_class"] == AS_IT_STANDS
        assert again.get("padding_side") == ("left" if name == "LlamaTokenizerFast" else None)
    theirs = auto(tmp_path / "again")
    assert len(theirs) == tok.vocab_size
    for text in [*TEXTS, "The 1234 weathers it's e\u0301", " 12  ab\n\n c"]:
        for add in (False, True):
            found = theirs(text, add_special_tokens=add)["input_ids"]
            assert tok.encode(text, special="allow", add_special_tokens=add) == found, text


def test_changed_stages_are_read_beside_a_model_that_names_a_class(tmp_path: Path) -> None:
    """A folder without a class is read by that of the model which lies beside."""
    jeton.WordPieceTrainer(60).train(TEXTS).save(tmp_path / "bert")
    (tmp_path / "bert" / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    tok = jeton.load(tmp_path / "bert").replace(normalizer=normalizers.NFC())
    tok.save(tmp_path / "changed")
    (tmp_path / "changed" / "config.json").write_text('{"model_type": "bert"}')
    theirs = auto(tmp_path / "changed")
    assert theirs("The Weather")["input_ids"] == tok.encode("The Weather", add_special_tokens=True)
