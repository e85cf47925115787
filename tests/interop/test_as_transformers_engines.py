"""The methods that vLLM, SGLang, TGI and TRL call on a tokenizer, tried on `as_transformers()`.

Which program calls which method is from the sources of vLLM 0.33.0, SGLang 0.5.23 and TRL 1.16.0;
of TGI, from its `causal_lm.py`.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import samples
from jeton.chat import TEMPLATES

pytest.importorskip("transformers")

MESSAGES = [{"role": "user", "content": "Hello there."}]
TEXT = "Hello there, é🙂."
TOK = (
    jeton.BPETrainer(600, special_tokens=["<|im_start|>", "<|im_end|>", "<|pad|>"])
    .train(samples.read_all().values())
    .replace(
        roles={"eos": "<|im_end|>", "pad": "<|pad|>"},
        chat_template=TEMPLATES["chatml"],
        model_max_length=4096,
    )
)
IDS = TOK.encode(TEXT)
END = TOK.special_tokens["<|im_end|>"]
PROMPT = TOK.chat(MESSAGES, add_generation_prompt=True)


def _cached(fast: Any) -> Any:
    """A copy with a subclass that knows some properties, as vLLM makes one."""
    cached = copy.copy(fast)
    cached.__class__ = type("Cached", (type(fast),), {"all_special_ids": fast.all_special_ids})
    return cached


CALLED: dict[str, tuple[str, Callable[[Any], Any], Any]] = {
    "encode": ("vLLM, SGLang", lambda it: it.encode(TEXT), IDS),
    "encode without special tokens": (
        "vLLM", lambda it: it.encode(TEXT, add_special_tokens=False), IDS
    ),
    "a call": ("vLLM, SGLang, TRL", lambda it: it(TEXT)["input_ids"], IDS),
    "a batch": ("TGI, TRL", lambda it: it([TEXT, "a"])["input_ids"], [IDS, TOK.encode("a")]),
    "offsets": (
        "vLLM, TRL", lambda it: it(TEXT, return_offsets_mapping=True)["offset_mapping"],
        TOK.encode_with_spans(TEXT).spans,
    ),
    "truncation": (
        "TGI", lambda it: it(TEXT, truncation=True, max_length=2)["input_ids"], IDS[:2]
    ),
    "decode": ("vLLM, SGLang, TRL", lambda it: it.decode(IDS), TEXT),
    "decode one id": ("SGLang", lambda it: it.decode(IDS[0]), TOK.decode(IDS[:1])),
    "decode and skip": (
        "vLLM, SGLang", lambda it: it.decode([*IDS, END], skip_special_tokens=True), TEXT
    ),
    "batch_decode": (
        "vLLM, SGLang, TRL", lambda it: it.batch_decode([IDS, [END]]), [TEXT, "<|im_end|>"]
    ),
    "convert_ids_to_tokens": (
        "vLLM, SGLang, TRL",
        lambda it: it.convert_tokens_to_string(it.convert_ids_to_tokens(IDS)), TEXT,
    ),
    "convert_tokens_to_ids": (
        "vLLM, SGLang, TRL", lambda it: it.convert_tokens_to_ids("<|im_end|>"), END
    ),
    "get_vocab": ("vLLM, SGLang, TRL", lambda it: sorted(it.get_vocab().values()), [*range(600)]),
    "get_added_vocab": ("vLLM, SGLang, TRL", lambda it: it.get_added_vocab(), TOK.special_tokens),
    "added_tokens_decoder": (
        "vLLM", lambda it: {str(k): v for v, k in it.added_tokens_decoder.items()},
        TOK.special_tokens,
    ),
    "all_special_ids": (
        "vLLM", lambda it: sorted(it.all_special_ids), sorted(TOK.special_tokens.values())
    ),
    "all_special_tokens": (
        "vLLM", lambda it: sorted(it.all_special_tokens), sorted(TOK.special_tokens)
    ),
    "eos_token_id": ("vLLM, SGLang, TRL", lambda it: it.eos_token_id, END),
    "eos_token": ("vLLM, SGLang, TRL", lambda it: it.eos_token, "<|im_end|>"),
    "pad_token_id": (
        "vLLM, SGLang, TRL", lambda it: it.pad_token_id, TOK.special_tokens["<|pad|>"]
    ),
    "bos_token_id": ("vLLM, SGLang, TRL", lambda it: it.bos_token_id, None),
    "vocab_size and len": ("vLLM, SGLang", lambda it: len(it), 600),
    "max_token_id": ("vLLM", lambda it: max(it.get_vocab().values()), TOK.vocab.max_id),
    "model_max_length": ("SGLang, TRL", lambda it: it.model_max_length, 4096),
    "is_fast": ("vLLM", lambda it: it.is_fast, True),
    "num_special_tokens_to_add": ("vLLM, SGLang", lambda it: it.num_special_tokens_to_add(), 0),
    "chat_template": ("vLLM, SGLang, TRL", lambda it: it.chat_template, TEMPLATES["chatml"]),
    "get_chat_template": ("vLLM", lambda it: it.get_chat_template(), TEMPLATES["chatml"]),
    "apply_chat_template": (
        "vLLM, SGLang, TRL",
        lambda it: it.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=True),
        PROMPT.text,
    ),
    "apply_chat_template to ids": (
        "SGLang, TRL",
        lambda it: it.apply_chat_template(MESSAGES, add_generation_prompt=True)["input_ids"],
        PROMPT.ids,
    ),
    "pad": (
        "SGLang",
        lambda it: it.pad({"input_ids": [[1], [1, 2]]})["attention_mask"], [[1, 0], [1, 1]],
    ),
    "padded tensors": (
        "TGI",
        lambda it: it(
            [TEXT, "a"], return_tensors="np", padding=True, return_token_type_ids=False,
            truncation=True, max_length=2,
        )["attention_mask"].tolist(),
        [[1, 1], [1, 0]],
    ),
    "pad_token": ("vLLM, SGLang, TRL", lambda it: it.pad_token, "<|pad|>"),
    "unk_token_id": ("SGLang, TRL", lambda it: it.unk_token_id, None),
    "vocab": ("TRL", lambda it: len(it.vocab), 600),
    "special_tokens_map": (
        "vLLM, SGLang", lambda it: it.special_tokens_map["eos_token"], "<|im_end|>"
    ),
    "model_input_names": (
        "vLLM", lambda it: it.model_input_names, ["input_ids", "attention_mask"]
    ),
    "init_kwargs": ("vLLM, SGLang", lambda it: str(it.init_kwargs["eos_token"]), "<|im_end|>"),
    "name_or_path": ("vLLM, SGLang", lambda it: it.name_or_path, ""),
    "hash": ("vLLM", lambda it: isinstance(hash(it), int), True),
    "a copy of a class of its own": ("vLLM", lambda it: _cached(it).encode(TEXT), IDS),
    "add_special_tokens": (
        "vLLM, SGLang",
        lambda it: copy.deepcopy(it).add_special_tokens({"sep_token": "<|new|>"}), 1,
    ),
    "add_tokens": ("vLLM, SGLang, TRL", lambda it: copy.deepcopy(it).add_tokens(["<|new|>"]), 1),
    "padding_side": ("vLLM, SGLang, TRL", lambda it: it.padding_side, "right"),
    "truncation_side": ("vLLM", lambda it: it.truncation_side, "right"),
    "deepcopy": ("vLLM", lambda it: copy.deepcopy(it).encode(TEXT), IDS),
    "pickle": ("vLLM", lambda it: pickle.loads(pickle.dumps(it)).encode(TEXT), IDS),
    "backend_tokenizer": (
        "vLLM, SGLang, TRL",
        lambda it: json.loads(it.backend_tokenizer.to_str())["model"]["type"], "BPE",
    ),
}  # fmt: skip
"""By name: who calls it, the call, and what jeton says of the same."""


@pytest.fixture(scope="module")
def fast() -> Any:
    return TOK.as_transformers()


@pytest.mark.parametrize("name", CALLED)
def test_methods_that_engines_call_work(name: str, fast: Any) -> None:
    _, called, expected = CALLED[name]
    found = called(fast)
    assert (list(found) if isinstance(expected, list) else found) == expected


def test_files_that_trainers_save_load_again(fast: Any, tmp_path: Path) -> None:
    fast.save_pretrained(tmp_path)
    loaded = jeton.load(tmp_path)
    assert loaded.encode(TEXT) == IDS and loaded.settings.chat_template == TEMPLATES["chatml"]


def test_streams_of_engines(fast: Any) -> None:
    """An engine decodes the tokens so far again and sends what is new."""
    for at in range(1, len(IDS)):
        before, after = fast.decode(IDS[:at]), fast.decode(IDS[: at + 1])
        assert after.startswith(before.rstrip("\ufffd"))
