"""Folders as `transformers` has them: saved as they were loaded, but for what was edited."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import models, normalizers
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    FormatWarning,
    MissingFileError,
)
from kinds import KINDS, LLAMA, byte_level, each_kind, unigram, word_piece

TEMPLATE = "{% for m in messages %}{{ m['content'] }}<|end|>{% endfor %}"
CONFIG = """{
    "tokenizer_class": "OurTokenizer",
    "eos_token": "<|end|>",
    "pad_token": {"content": "<|pad|>", "lstrip": false, "__type": "AddedToken"},
    "unk_token": null,
    "image_token": "<|end|>",
    "model_max_length": 2048,
    "padding_side": "left", "add_bos_token": false, "ünïcode": [1.50, {"a": null}]
}"""


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, by name."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder with all the files that may stand beside a `tokenizer.json`."""
    folder = tmp_path / "published"
    tok = byte_level().with_added_tokens(["<|pad|>"])
    tok.save(folder)
    for name, text in {
        "tokenizer_config.json": CONFIG,
        "special_tokens_map.json": '{"eos_token":   "<|end|>"}',
        "added_tokens.json": '{"<|end|>": 0}',
        "chat_template.jinja": TEMPLATE,
        "additional_chat_templates/tool_use.jinja": TEMPLATE + " ",
        "additional_chat_templates/rag.jinja": "ü",
    }.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_a_folder_comes_back_unchanged(published: Path, tmp_path: Path) -> None:
    jeton.load(published).save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(published)


def test_settings_of_a_folder_are_read(published: Path) -> None:
    tok = jeton.load(published)
    assert tok.roles == {"eos": "<|end|>", "pad": "<|pad|>", "image": "<|end|>"}
    assert tok.roles.ids["pad"] == tok.special_tokens["<|pad|>"]
    assert tok.settings.model_max_length == 2048
    assert tok.settings.chat_template == {
        "default": TEMPLATE,
        "tool_use": TEMPLATE + " ",
        "rag": "ü",
    }
    assert tok.settings.config["padding_side"] == "left"
    assert tok.settings.config == json.loads(CONFIG)


def test_settings_travel_and_do_not_count(published: Path) -> None:
    tok = jeton.load(published)
    alone = jeton.load(published / "tokenizer.json")
    assert alone.roles == {} and alone.settings.chat_template is None
    assert tok == alone and hash(tok) == hash(alone) and tok.digest == alone.digest
    for other in (
        pickle.loads(pickle.dumps(tok)),
        tok.replace(),
        tok.with_added_tokens(["<|x|>"]),
        tok.replace(normalizer=normalizers.Lowercase()),
    ):
        assert other.roles == tok.roles
        assert other.settings.chat_template == tok.settings.chat_template
        assert other.settings.config == tok.settings.config


def test_only_what_was_edited_changes(published: Path, tmp_path: Path) -> None:
    tok, before = jeton.load(published), contents(published)
    config = json.loads(CONFIG)

    tok.save(tmp_path / "roles", roles={"bos": "<|end|>", "pad": None})
    after = contents(tmp_path / "roles")
    assert json.loads(after["tokenizer_config.json"]) == config | {
        "bos_token": "<|end|>",
        "pad_token": None,
    }
    assert json.loads(after["special_tokens_map.json"]) == {
        "eos_token": "<|end|>",
        "bos_token": "<|end|>",
    }
    changed = {"tokenizer_config.json", "special_tokens_map.json"}
    assert {name for name in before if before[name] != after[name]} == changed
    assert jeton.load(tmp_path / "roles").roles == {
        "bos": "<|end|>",
        "eos": "<|end|>",
        "image": "<|end|>",
    }

    tok.save(tmp_path / "template", chat_template="{{ x }}")
    after = contents(tmp_path / "template")
    gone = {f"additional_chat_templates/{name}.jinja" for name in ("rag", "tool_use")}
    assert {name for name in before if before[name] != after.get(name)} == {
        "chat_template.jinja",
        *gone,
    }
    assert jeton.load(tmp_path / "template").settings.chat_template == "{{ x }}"

    tok.replace(model_max_length=9).save(tmp_path / "length")
    after = contents(tmp_path / "length")
    assert json.loads(after["tokenizer_config.json"]) == config | {"model_max_length": 9}
    assert {name for name in before if before[name] != after[name]} == {"tokenizer_config.json"}


def test_added_tokens_change_what_lists_them(published: Path, tmp_path: Path) -> None:
    config = json.loads(CONFIG)
    decoder = {"0": {"content": "<|end|>", "special": True}}
    listed = {"added_tokens_decoder": decoder, "additional_special_tokens": ["<|end|>", "<|pad|>"]}
    (published / "tokenizer_config.json").write_text(json.dumps(config | listed))
    tok = jeton.load(published)

    more = tok.with_added_tokens(["<|more|>"])
    more.save(tmp_path / "more")
    before, after = contents(published), contents(tmp_path / "more")
    assert {name for name in before if before[name] != after[name]} == {
        "tokenizer.json",
        "tokenizer_config.json",
    }
    listed["additional_special_tokens"] = ["<|end|>", "<|pad|>", "<|more|>"]
    assert json.loads(after["tokenizer_config.json"]) == config | listed
    assert jeton.load(tmp_path / "more") == more

    fewer = tok.replace(
        added_tokens=[it for it in tok.stages.added_tokens if it.content != "<|pad|>"]
    )
    fewer.save(tmp_path / "fewer")
    again = jeton.load(tmp_path / "fewer")
    assert again == fewer
    assert again.roles == fewer.roles == {"eos": "<|end|>", "image": "<|end|>"}
    assert again.settings.config["additional_special_tokens"] == ["<|end|>"]
    assert again.settings.config["padding_side"] == "left"


def test_changed_stages_are_not_rebuilt_by_a_class(published: Path, tmp_path: Path) -> None:
    tok = jeton.load(published)
    assert tok.settings.config["tokenizer_class"] == "OurTokenizer"
    tok.with_added_tokens(["<|x|>"]).save(tmp_path / "same")
    assert jeton.load(tmp_path / "same").settings.config["tokenizer_class"] == "OurTokenizer"
    tok.replace(normalizer=normalizers.Lowercase()).save(tmp_path / "other")
    assert (
        jeton.load(tmp_path / "other").settings.config["tokenizer_class"]
        == "PreTrainedTokenizerFast"
    )


@each_kind
def test_saving_replaces_all_earlier_files_of_a_folder(
    tok: jeton.Tokenizer, published: Path, tmp_path: Path
) -> None:
    if isinstance(tok.stages.model, models.LongestMatch):
        pytest.skip("a tokenizer.json has no such model")
    (tmp_path / "there").mkdir()
    (published / "weights.bin").write_bytes(b"\0")
    for folder in ("new", "there", "published", "v1.5/"):
        tok.save(f"{tmp_path}/{folder}")
    expected = contents(tmp_path / "new")
    assert set(expected) == {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"}
    assert contents(tmp_path / "there") == contents(tmp_path / "v1.5") == expected
    assert contents(published) == {**expected, "weights.bin": b"\0"}
    assert jeton.load(tmp_path / "new").roles == tok.roles


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (word_piece, {"unk": "[UNK]", "sep": "[SEP]", "cls": "[CLS]"}),
        (unigram, {"unk": "<unk>"}),
        (byte_level, {}),
        (KINDS["characters"], {"unk": "<UNK>"}),
        (
            lambda: jeton.UnigramTrainer(15).train(["the weather there"] * 9),
            {"bos": "<s>", "eos": "</s>", "unk": "<unk>"},
        ),
    ],
)
def test_stages_tell_roles(make: Any, expected: dict[str, str]) -> None:
    assert make().roles == expected


@pytest.mark.parametrize("value", [["<|end|>"], 0, True])
@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_a_role_that_is_no_token_is_refused(value: Any, file: str, tmp_path: Path) -> None:
    """As transformers refuses it."""
    byte_level().save(tmp_path)
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        content = {"eos_token": value} if name == file else {}
        (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(FormatError, match="eos_token: expected a token, found "):
        jeton.load(tmp_path)


def test_a_list_that_gives_no_role_is_said(tmp_path: Path) -> None:
    byte_level().save(tmp_path)
    config = {"image_token": ["<|end|>"], "add_bos_token": True, "eos_token": "<|end|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.warns(FormatWarning, match="a list is not a token, so image_token gives no role"):
        tok = jeton.load(tmp_path)
    assert tok.roles == {"eos": "<|end|>"}


def test_roles_that_are_set(tmp_path: Path) -> None:
    tok = byte_level()
    with pytest.raises(ArgumentError, match=r"'<\|eos\|>' is not a token of this tokenizer"):
        tok.save(tmp_path / "x", roles={"eos": "<|eos|>"})
    assert not (tmp_path / "x").exists()
    with pytest.raises(ArgumentError, match="'e' is a token of ordinary text"):
        tok.save(tmp_path / "x", roles={"eos": "e"})
    with_roles = tok.replace(roles={"eos": "<|end|>", "pad": "<|end|>x"})
    assert tok.roles == {}
    assert with_roles.replace(roles={"pad": None}).roles == {"eos": "<|end|>"}
    assert with_roles.with_added_tokens(["<|z|>"]).replace(roles={"own": "<|z|>"}).roles == {
        "eos": "<|end|>",
        "pad": "<|end|>x",
        "own": "<|z|>",
    }
    more = tok.with_added_tokens(["<|y|>"]).replace(roles={"eos": "<|y|>"})
    assert more.roles == {"eos": "<|y|>"}
    assert more.replace(added_tokens=tok.stages.added_tokens).roles == {}
    bert = word_piece()
    assert bert.replace(roles={"cls": None}).roles == {"unk": "[UNK]", "sep": "[SEP]"}
    bert.save(tmp_path / "bert", roles={"cls": None})
    assert jeton.load(tmp_path / "bert").roles == {"unk": "[UNK]", "sep": "[SEP]"}


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"roles": ["eos"]}, ArgumentTypeError, "roles must map roles to tokens"),
        ({"roles": {"eos": 1}}, ArgumentTypeError, "must be a str, not int"),
        ({"roles": {1: "<|end|>"}}, ArgumentTypeError, "each role must be a str"),
        ({"roles": {"eos_token": "<|end|>"}}, ArgumentError, r"is not a role \(write 'eos'\)"),
        ({"roles": {"EOS_token": "<|end|>"}}, ArgumentError, r"is not a role \(write 'eos'\)"),
        ({"roles": {"Pad": "<|end|>"}}, ArgumentError, r"is not a role \(write 'pad'\)"),
        ({"roles": {"": "<|end|>"}}, ArgumentError, "is not a role"),
        ({"chat_template": 1}, ArgumentTypeError, "chat_template must be a str, or a dict"),
        ({"chat_template": {}}, ArgumentTypeError, "chat_template must be a str, or a dict"),
        ({"chat_template": {"a": 1}}, ArgumentTypeError, r"chat_template\['a'\] must be a str"),
        ({"chat_template": {"../a": ""}}, ArgumentError, "cannot be the name of a file"),
        ({"chat_template": {"": ""}}, ArgumentError, "cannot be the name of a file"),
        ({"model_max_length": "9"}, ArgumentTypeError, "model_max_length must be an int"),
        ({"model_max_length": 0}, ArgumentError, "model_max_length must be from 1 on"),
        ({"padding": []}, ArgumentTypeError, "padding must be a dict"),
        ({"padding": {"length": 9}}, ArgumentError, "padding must have the fields strategy"),
        (
            {"truncation": {"direction": "Right", "max_length": "9", "strategy": "", "stride": 0}},
            ArgumentTypeError,
            r"truncation\['max_length'\] must not be '9'",
        ),
    ],
)
def test_settings_that_make_no_sense(
    arguments: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        byte_level().replace(**arguments)


def test_folders_alone_hold_roles_and_templates(tmp_path: Path) -> None:
    for name in ("x.json", "x.tiktoken", "x.model"):
        for arguments in ({"roles": {"eos": "<|end|>"}}, {"chat_template": "x"}):
            with pytest.raises(ArgumentError, match=r"= goes with a folder or a .gguf, not "):
                byte_level().save(tmp_path / name, **arguments)
            assert not (tmp_path / name).exists()


def test_no_folder_is_made_for_a_user_who_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingFileError, match="there is no user 'no such user'"):
        byte_level().save("~no such user/x")
    assert not any(tmp_path.iterdir())
    byte_level().save("./~no such user/x")
    byte_level().save("~no such user/y.json")
    byte_level().save("~mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["~mine", "~no such user"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tokenizer_config.json", "[]", "tokenizer_config.json: expected an object"),
        ("tokenizer_config.json", "{", "tokenizer_config.json: "),
        ("tokenizer_config.json", '{"chat_template": 7}', "chat_template must be a str"),
        ("tokenizer_config.json", '{"chat_template": [7]}', "must have a name and a template"),
        ("tokenizer_config.json", '{"chat_template": {"/": ""}}', "cannot be the name of a file"),
        ("tokenizer_config.json", '{"eos_token": {"special": true}}', "eos_token"),
        ("tokenizer_config.json", '{"model_max_length": "9"}', "expected a number, found '9'"),
        ("special_tokens_map.json", "7", "special_tokens_map.json: expected an object"),
        ("added_tokens.json", '{"<|z|>": "9"}', "added_tokens.json: <|z|>: expected a whole"),
        ("chat_template.jinja", "\udcff", "chat_template.jinja: 'utf-8' codec"),
    ],
)
def test_broken_files_are_named(name: str, content: str, said: str, tmp_path: Path) -> None:
    byte_level().save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(FormatError) as raised:
        jeton.load(tmp_path)
    assert said in str(raised.value) and str(tmp_path) in str(raised.value)


def test_templates_as_old_files_have_them(tmp_path: Path) -> None:
    byte_level().save(tmp_path)
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"chat_template": "a", "model_max_length": 1e30}')
    tok = jeton.load(tmp_path)
    assert tok.settings.chat_template == "a" and tok.settings.model_max_length is None
    named = [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}]
    config.write_text(json.dumps({"chat_template": named}))
    before = contents(tmp_path)
    tok = jeton.load(tmp_path)
    assert tok.settings.chat_template == {"default": "a", "rag": "b"}
    tok.save(tmp_path)
    assert contents(tmp_path) == before
    tok.save(tmp_path, chat_template={"default": "c", "rag": "b"})
    assert "chat_template" not in json.loads(config.read_text())
    assert jeton.load(tmp_path).settings.chat_template == {"default": "c", "rag": "b"}


def test_tokens_that_a_folder_names_and_its_tokenizer_lacks(tmp_path: Path) -> None:
    jeton.BPETrainer(300, **LLAMA).train(["the weather"] * 9).save(tmp_path / "tokenizer.model")
    (tmp_path / "tokenizer_config.json").write_text('{"pad_token": "[PAD]", "eos_token": "</s>"}')
    tok = jeton.load(tmp_path)  # added, as transformers does
    assert tok.roles == {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "[PAD]"}
    assert tok.special_tokens["[PAD]"] == tok.vocab.max_id == tok.vocab_size - 1
    (tmp_path / "tokenizer_config.json").write_text('{"pad_token": ""}')
    with pytest.warns(FormatWarning, match=r"tokens that it does not have: pad \(\)"):
        assert "pad" not in jeton.load(tmp_path).roles


def test_padding_and_truncation_are_kept(tmp_path: Path) -> None:
    padding = {
        "strategy": {"Fixed": 9},
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<|end|>",
    }
    truncation = {"direction": "Right", "max_length": 9, "strategy": "LongestFirst", "stride": 1}
    tok = byte_level().replace(padding=padding, truncation=truncation)
    assert (tok.settings.padding, tok.settings.truncation, tok.roles) == (
        padding,
        truncation,
        {"pad": "<|end|>"},
    )
    tok.save(tmp_path / "x.json")
    again = jeton.load(tmp_path / "x.json")
    assert (
        again == tok
        and again.settings.padding == padding
        and again.settings.truncation == truncation
    )
    plain = again.replace(padding=None, truncation=None)
    assert plain == byte_level() and plain.settings.padding is plain.settings.truncation is None
