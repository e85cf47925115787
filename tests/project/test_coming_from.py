"""Every public name of tiktoken, tokenizers, transformers and sentencepiece is on its page.

`docs/howto/tiktoken.md` and its neighbours set the calls of those libraries beside jeton's. A name
has a row, which `test_docs.py` runs, or stands among those that have none, with the reason.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import jeton
from guide import NO_ROWS, TABLE, cells
from jeton.components import decoders, normalizers, post_processors, pre_tokenizers
from jeton.encoding.other_names import IN_JETON

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Peer:
    """A library, and what its page calls its objects."""

    name: str
    objects: dict[str, str]
    """What has the names: a module or a class, by what comes before the dot on the page."""
    more: dict[str, str] | None = None
    """Attributes that only an object has, or a few of many, by what comes before the dot."""
    has_aliases: bool = False
    """Whether `EncodeAsIds` and `encode_as_ids` are one."""

    def of(self, prefix: str) -> Any:
        return _found(self.objects[prefix])

    def names(self) -> set[str]:
        owners = {prefix: self.of(prefix) for prefix in self.objects}
        found = {
            f"{prefix}.{self.told(name)}"
            for prefix, owner in owners.items()
            for name in _public(owner)
            if not any(
                hasattr(base, name)
                for base in getattr(owner, "__bases__", ())
                if base in owners.values()
            )
        }
        for prefix, names in (self.more or {}).items():
            found |= {f"{prefix}.{name}" for name in names.split()}
        return found

    def told(self, name: str) -> str:
        """A name as it is compared."""
        return name.replace("_", "").lower() if self.has_aliases else name


STAGES = [
    ("normalizers", "Normalizer", normalizers),
    ("pre_tokenizers", "PreTokenizer", pre_tokenizers),
    ("processors", "PostProcessor", post_processors),
    ("decoders", "Decoder", decoders),
]

PEERS = [
    Peer(
        "tiktoken",
        {"tiktoken": "tiktoken", "tiktoken.load": "tiktoken.load", "enc": "tiktoken:Encoding"},
        {
            "enc": "name max_token_value",
            "tiktoken.model": "MODEL_TO_ENCODING MODEL_PREFIX_TO_ENCODING",
            "tiktoken.registry": "ENCODINGS ENCODING_CONSTRUCTORS",
        },
    ),
    Peer(
        "tokenizers",
        {
            "tokenizers": "tokenizers",
            "hf": "tokenizers:Tokenizer",
            "encoding": "tokenizers:Encoding",
            "added": "tokenizers:AddedToken",
            "token": "tokenizers:Token",
            "normalized": "tokenizers:NormalizedString",
            "pre_tokenized": "tokenizers:PreTokenizedString",
            "models": "tokenizers.models",
            "normalizers": "tokenizers.normalizers",
            "pre_tokenizers": "tokenizers.pre_tokenizers",
            "processors": "tokenizers.processors",
            "decoders": "tokenizers.decoders",
            "trainers": "tokenizers.trainers",
            "model": "tokenizers.models:Model",
            "bpe": "tokenizers.models:BPE",
            "unigram": "tokenizers.models:Unigram",
            "wordpiece": "tokenizers.models:WordPiece",
            "word_level": "tokenizers.models:WordLevel",
            "bpe_trainer": "tokenizers.trainers:BpeTrainer",
            "unigram_trainer": "tokenizers.trainers:UnigramTrainer",
            "wordpiece_trainer": "tokenizers.trainers:WordPieceTrainer",
            "word_level_trainer": "tokenizers.trainers:WordLevelTrainer",
            "normalizer": "tokenizers.normalizers:Normalizer",
            "pre_tokenizer": "tokenizers.pre_tokenizers:PreTokenizer",
            "processor": "tokenizers.processors:PostProcessor",
            "decoder": "tokenizers.decoders:Decoder",
            "stream": "tokenizers.decoders:DecodeStream",
        },
        {
            "tokenizers": "EncodeInput InputSequence Offsets PreTokenizedEncodeInput "
            "PreTokenizedInputSequence TextEncodeInput",
            "it": "save_model from_spm normalize",
        },
    ),
    Peer(
        "transformers",
        {
            "hf": "transformers:PreTrainedTokenizerFast",
            "batch": "transformers:BatchEncoding",
        },
        {
            "hf": "bos_token eos_token unk_token sep_token pad_token cls_token mask_token "
            "bos_token_id eos_token_id unk_token_id sep_token_id pad_token_id cls_token_id "
            "mask_token_id extra_special_tokens chat_template model_max_length name_or_path "
            "init_kwargs clean_up_tokenization_spaces split_special_tokens response_template "
            "chat_control_tokens add_prefix_space backend files_loaded init_inputs verbose "
            "deprecation_warnings "
            "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
            "slow": "build_inputs_with_special_tokens create_token_type_ids_from_sequences "
            "prepare_for_model prepare_for_tokenization truncate_sequences",
        },
    ),
    Peer(
        "sentencepiece",
        {
            "sentencepiece": "sentencepiece",
            "sp": "sentencepiece:SentencePieceProcessor",
            "SentencePieceTrainer": "sentencepiece:SentencePieceTrainer",
            "normalizer": "sentencepiece:SentencePieceNormalizer",
        },
        has_aliases=True,
    ),
]


def _found(path: str) -> Any:
    module, _, name = path.partition(":")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = importlib.import_module(module)
        return getattr(found, name) if name else found


def _public(owner: Any) -> Iterator[str]:
    """What an owner has of its own: no modules, and nothing that it imported from elsewhere."""
    package = owner.__name__.partition(".")[0]
    for name in dir(owner):
        if name.startswith("_"):
            continue
        member = getattr(owner, name, None)
        if isinstance(owner, types.ModuleType):
            of = getattr(member, "__module__", None)
            of_others = isinstance(of, str) and of.partition(".")[0] not in (package, "builtins")
            if isinstance(member, types.ModuleType) or of_others or "__future__" in str(of):
                continue
        yield name


def _has(owners: set[Any], name: str) -> bool:
    return any(hasattr(owner, name) for owner in owners)


def _codes(peer: Peer, tables: re.Pattern[str]) -> list[str]:
    text = (HOWTO / f"{peer.name}.md").read_text(encoding="utf-8")
    rows = [row for table in tables.finditer(text) for row in cells(table["table"])]
    return [code for row in rows for code in CODE.findall(row[0])]


def _named(peer: Peer, codes: list[str]) -> set[str]:
    """The names that pieces of code use, each with what comes before its dot."""
    known = sorted({*peer.objects, *(peer.more or {})}, key=len, reverse=True)
    prefixes = "|".join(map(re.escape, known))
    used = re.compile(rf"(?<![\w.])({prefixes})\.(\w+)")
    return {f"{prefix}.{peer.told(name)}" for code in codes for prefix, name in used.findall(code)}


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_name_has_a_row_or_a_reason(peer: Peer) -> None:
    pytest.importorskip(peer.name)
    names = peer.names()
    rows, reasons = _named(peer, _codes(peer, TABLE)), _named(peer, _codes(peer, NO_ROWS))
    assert not sorted(names - rows - reasons), "neither a row nor a reason"
    assert not sorted(rows & reasons), "a row, and a reason why there is none"
    assert not sorted(reasons - names), f"{peer.name} has no such thing any more"


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_name_with_a_row_is_known_to_a_tokenizer(peer: Peer) -> None:
    """`tok.get_vocab` is an error that says what jeton calls it."""
    pytest.importorskip(peer.name)
    rows = _named(peer, _codes(peer, TABLE))
    for prefix in {"enc", "hf", "sp"} & {*peer.objects}:
        names = {*_public(peer.of(prefix)), *(peer.more or {}).get(prefix, "").split()}
        told = {name for name in names if f"{prefix}.{peer.told(name)}" in rows}
        assert not told - {*IN_JETON, *dir(jeton.Tokenizer)}


def test_components_have_the_parameters_of_theirs() -> None:
    """Under the same names, as arguments and as attributes."""
    pytest.importorskip("tokenizers")
    others = {"prepend", "alphabet"}  # the text of `Prepend`; a method that returns 256 characters
    for stage, base, ours in STAGES:
        theirs = importlib.import_module(f"tokenizers.{stage}")
        general = getattr(theirs, base)
        for name in _public(theirs):
            kind = getattr(theirs, name)
            if not isinstance(kind, type) or not issubclass(kind, general) or kind is general:
                continue
            parameters = inspect.signature(getattr(ours, name)).parameters
            for attribute in set(_public(kind)) - set(dir(general)) - others:
                assert attribute in parameters, f"{stage}.{name}.{attribute}"
