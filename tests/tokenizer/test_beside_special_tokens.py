"""Text beside added tokens of SentencePiece models: it is the same as in the text without them.

A space is put in front of a text, and of nothing behind an added token; spaces are removed at the
ends of a text alone. So what is decoded is the text that was encoded.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import pickle
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import AddedToken, decoders, models, normalizers
from shared_data import VOCABULARIES, needed

LLAMA2 = VOCABULARIES / "llama2_sentencepiece_bpe.model"

CASES: dict[str, tuple[str, list[int]]] = {
    # What LlamaTokenizer of transformers 5.24 gives with legacy=False, and with mistral-common's
    # models the order of a space and a word.
    "behind a token at the front": ("<s>user", [1, 1792]),
    "a space behind it": ("<s> user", [1, 1404]),
    "between letters": ("a</s>b", [263, 2, 29890]),
    "spaces on both sides": ("a </s> b", [263, 29871, 2, 289]),
    "token behind token": ("</s></s>a", [2, 2, 29874]),
    "a chat": ("<s>[INST] What", [1, 29961, 25580, 29962, 1724]),
    "no token": ("user", [1404]),
    "tokens alone": ("<s></s>", [1, 2]),
    # What SentencePiece gives for the text; transformers puts no space in front of one.
    "a space at the front": (" user</s>", [29871, 1404, 2]),
}


@cache
def llama2() -> jeton.Tokenizer:
    return jeton.load(needed(LLAMA2))


@cache
def proto_of(tok: jeton.Tokenizer) -> bytes:
    """The `.model` of a tokenizer that has one."""
    assert isinstance(tok.stages.model, models.SentencePiece)
    return tok.stages.model.proto


def small(*, collapses: bool, model_type: str = "bpe") -> jeton.Tokenizer:
    """A model trained here, with bytes, so that all text is known."""
    sentencepiece = pytest.importorskip("sentencepiece")
    import io

    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the weather there (a)", "then the theory, b"] * 20),
        model_writer=file,
        vocab_size=310 if model_type == "bpe" else 290,
        model_type=model_type,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=collapses,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return jeton.Tokenizer(models.SentencePiece(file.getvalue()))


@pytest.mark.parametrize("name", CASES)
def test_ids(name: str) -> None:
    text, ids = CASES[name]
    tok = llama2()
    assert tok.encode(text, special="allow") == ids
    assert tok.encode_with_spans(text, special="allow").ids == ids
    assert tok.decode(ids) == text


PARTS = ["<s>", "</s>", "the", " the", "a", " ", "  ", "\n", "é", "(", "<tool>", " <tool>", "<to"]


def some_text(numbers: random.Random) -> str:
    return "".join(numbers.choice(PARTS) for _ in range(numbers.randint(0, 9)))


TOKENIZERS: dict[str, Any] = {
    "BPE": lambda: small(collapses=False),
    "Unigram": lambda: small(collapses=False, model_type="unigram"),
    "BPE that collapses spaces": lambda: small(collapses=True),
    "Unigram that collapses spaces": lambda: small(collapses=True, model_type="unigram"),
    "Llama 2": llama2,
}


def single_spaced(text: str) -> str:
    """The text without the spaces that a model removes which collapses them."""
    return " ".join(part for part in text.strip(" ").split(" ") if part)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_every_way_gives_the_text_again(name: str) -> None:
    tok = TOKENIZERS[name]().with_added_tokens([AddedToken("<tool>")])
    tool = tok.stages.added_tokens[-1].id
    again = pickle.loads(pickle.dumps(tok))
    for seed in range(120):
        text = some_text(random.Random(seed))
        ids = tok.encode(text, special="allow")
        expected = single_spaced(text) if "collapses" in name else text
        assert tok.decode(ids) == expected, text
        assert ids.count(tool) == text.count("<tool>"), text
        encoding = tok.encode_with_spans(text, special="allow")
        assert encoding.ids == ids == again.encode(text, special="allow")
        assert tok.count(text, special="allow") == len(ids)
        assert tok.encode_batch([text], special="allow").tolist() == [ids]
        assert tok.explain(text, special="allow").ids == ids
        stream = tok.decode_stream()
        assert "".join([*map(stream.push, ids), stream.finish()]) == expected
        for id, (start, end) in zip(encoding.ids, encoding.spans, strict=True):
            if id == tool:
                assert text[start:end] == "<tool>"
        # Text is text.
        plain = tok.encode(text)
        assert tok.decode(plain) == expected
        assert not {1, 2} & {*plain}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_chats_are_decoded_to_their_text(name: str) -> None:
    if "collapses" in name:
        pytest.skip("line ends are kept, but spaces beside them are not")
    control = [AddedToken(name, special=True) for name in ("<|im_start|>", "<|im_end|>")]
    tok = TOKENIZERS[name]().with_added_tokens(control)
    said = ["What is it?", " <s> a", "", "  ", "<|im_end|>", "it<|im_end|>\n<|im_start|>system\nx "]
    for first, second in itertools.product(said, said):
        messages = [
            {"role": "user", "content": first},
            {"role": "assistant", "content": second},
            {"role": "user", "content": first},
        ]
        for template in ("chatml", "mistral", "llama2"):
            chat = tok.chat(messages, template=template)
            assert tok.decode(chat.ids) == chat.text


@pytest.mark.parametrize(
    "text", ["a<tool>b", "\n<tool>", "(<tool>)", "<tool>", " <tool>  a", "<tool><tool>"]
)
def test_plain_added_tokens_are_found_everywhere(text: str) -> None:
    for name in TOKENIZERS:
        tok = TOKENIZERS[name]().with_added_tokens([AddedToken("<tool>")])
        assert not tok.stages.added_tokens[-1].normalized
        ids = tok.encode(text)
        assert ids.count(tok.stages.added_tokens[-1].id) == text.count("<tool>")
        assert tok.decode(ids) == (single_spaced(text) if "collapses" in name else text)
        assert tok.stages.encoding_plan().is_fast


def legacy(tok: jeton.Tokenizer) -> jeton.Tokenizer:
    assert isinstance(tok.stages.normalizer, normalizers.SentencePiece)
    return tok.replace(normalizer=dataclasses.replace(tok.stages.normalizer, legacy=True))


def test_legacy_puts_a_space_behind_each_token() -> None:
    tok = legacy(llama2())
    rows = {"<s>user": [1, 1404], "a</s>b": [263, 2, 289], "</s></s>a": [2, 2, 263]}
    for text, ids in rows.items():
        assert tok.encode(text, special="allow") == ids
        assert tok.encode_with_spans(text, special="allow").ids == ids
    assert "legacy" in repr(tok.stages.normalizer)
    assert pickle.loads(pickle.dumps(tok)) == tok


@pytest.mark.large
@pytest.mark.parametrize("is_legacy", [False, True])
def test_a_tokenizer_json_means_the_same(is_legacy: bool, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok = legacy(llama2()) if is_legacy else llama2()
    tok.save(tmp_path / "tokenizer.json", lossy=True)
    converted = jeton.load(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert converted.stages.encoding_plan().strategy == "metaspace"
    for seed in range(300):
        text = some_text(random.Random(seed))
        ids = tok.encode(text, special="allow")
        assert converted.encode(text, special="allow") == ids, text
        assert converted.encode_with_spans(text, special="allow").ids == ids
        assert theirs.encode(text, add_special_tokens=False).ids == ids, text
        assert (
            theirs.decode(ids, skip_special_tokens=False)
            == converted.decode(ids)
            == tok.decode(ids)
        )


def test_a_model_file_holds_no_legacy(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    tok = legacy(small(collapses=False))
    with pytest.warns(jeton.errors.FormatWarning, match="spaces after special tokens"):
        tok.save(path)
    assert jeton.load(path) == small(collapses=False)
    document = json.loads(tok.to_json())
    assert document["normalizer"]["normalizers"][0] == {"type": "Prepend", "prepend": "▁"}
    converted = jeton.Tokenizer.from_json(tok.to_json())
    with pytest.warns(jeton.errors.FormatWarning, match="spaces after special tokens"):
        converted.save(path)
    again = jeton.load(path)
    for text in ("the weather</s> there", "a</s>b", "<s>the"):
        assert again.encode(text) == converted.encode(text) == tok.encode(text)
        assert converted.encode(text, special="allow") == tok.encode(text, special="allow")
        ids = small(collapses=False).encode(text, special="allow")
        assert again.encode(text, special="allow") == ids


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "legacy": {"legacy": True},
    "not legacy": {"legacy": False},
    "no space in front": {"legacy": False, "add_prefix_space": False},
    "a token with a role": {"legacy": False, "pad_token": "<|user|>"},
    "a token that the model lacks": {
        "legacy": True,
        "added_tokens_decoder": {
            "2": {"content": "</s>", "special": True},
            "309": {"content": "<|user|>", "special": True},
            "310": {"content": "<tool>", "special": False, "normalized": False},
        },
    },
}
"""What transformers 4 and 5 read alike. Without `legacy` they differ; jeton goes by 4's class."""


def test_a_folder_that_does_not_say_is_read_as_by_the_class(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(proto_of(small(collapses=False)))
    texts = ("the</s>there", "a</s> b</s>c")

    def ids_with(**said: Any) -> list[list[int]]:
        config = json.dumps({"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, **said})
        (tmp_path / "tokenizer_config.json").write_text(config)
        return [jeton.load(tmp_path).encode(text, special="allow") for text in texts]

    legacy = ids_with(legacy=True)
    with pytest.warns(jeton.errors.FormatWarning, match="does not set legacy"):
        assert ids_with() == ids_with(add_prefix_space=False) == legacy != ids_with(legacy=False)


@pytest.mark.large
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", CONFIGURATIONS)
def test_the_files_beside_a_model_count_as_in_transformers(row: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    (tmp_path / "tokenizer.model").write_bytes(proto_of(small(collapses=False)))
    config = {"tokenizer_class": "LlamaTokenizer", **CONFIGURATIONS[row]}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tok = jeton.load(tmp_path)
    assert jeton.load(tmp_path / "tokenizer.model") == small(collapses=False)
    for text in ("the</s>there", "<|user|>then</s>the (a)<tool>b", "a<|user|><|user|>weather"):
        ids = theirs(text, add_special_tokens=False)["input_ids"]
        assert tok.encode(text, special="allow") == ids, text
        assert tok.encode_with_spans(text, special="allow").ids == ids
        assert tok.decode(ids) == theirs.decode(ids), text
    tok.save(tmp_path / "again")
    again = jeton.load(tmp_path / "again")
    for seed in range(60):
        text = some_text(random.Random(seed))
        assert again.encode(text, special="allow") == tok.encode(text, special="allow")


def test_a_flag_beside_a_model_is_true_or_false(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(proto_of(small(collapses=False)))
    (tmp_path / "tokenizer_config.json").write_text('{"legacy": "yes"}')
    with pytest.raises(jeton.errors.FormatError, match=r"config\.json: legacy: expected true or"):
        jeton.load(tmp_path)


def test_sentencepiece_hides_control_pieces_and_jeton_shows_them() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    tok = small(collapses=True)
    assert isinstance(tok.stages.model, models.SentencePiece) and isinstance(
        tok.stages.decoder, decoders.SentencePiece
    )
    theirs = sentencepiece.SentencePieceProcessor(model_proto=tok.stages.model.proto)
    from jeton.sentencepiece import SentencePieceProcessor

    ours = SentencePieceProcessor(model_proto=tok.stages.model.proto)
    ids = [1, *theirs.encode("the weather"), 2, *theirs.encode("the"), 2]
    assert ours.decode(ids) == theirs.decode(ids) == "the weather the"
    assert tok.decode(ids, skip_special_tokens=True) == "the weather the"
    assert tok.decode(ids) == "<s> the weather</s> the</s>"
