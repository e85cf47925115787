"""Calls of tokenizers at random, and the same by transformers: for tests of `tok(...)`.

`TOKENIZERS` has one of each family, made here; `published` has those of real vocabularies.
"""

from __future__ import annotations

import dataclasses
import json
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jeton
from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
from kinds import byte_level, word_piece
from shared_data import VOCABULARIES, needed

WORDS = [
    *"the weather there unable theory thes , . ! x = 1 , père the the".split(" "),
    *["e\u0301", "東京", "🙂", "👩\u200d👧", "\n", "\t", "İ", "ﬁ", "", " ", "  ", "the weather"],
    *[" the", "<|end|>", "[SEP]", "a\u00a0b"],
]


def bert() -> jeton.Tokenizer:
    """As BERT's."""
    return word_piece().with_added_tokens(["[PAD]"])


def gpt() -> jeton.Tokenizer:
    """As GPT-2's: nothing around a text."""
    return byte_level("gpt2").with_added_tokens(["<pad>"])


def roberta() -> jeton.Tokenizer:
    """As RoBERTa's: spans without spaces, but one at the front."""
    return gpt().replace(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
        post_processor=post_processors.RobertaProcessing(sep=("<|end|>", 0), cls=("<|end|>", 0)),
    )


def llama() -> jeton.Tokenizer:
    """As Llama 3's: `<s>` in front of both texts, spans without spaces."""
    return gpt().replace(
        post_processor=post_processors.Sequence(
            [
                post_processors.ByteLevel(add_prefix_space=False),
                post_processors.TemplateProcessing(
                    "<|end|> $A", "<|end|> $A <|end|>:1 $B:1", special_tokens={"<|end|>": 0}
                ),
            ]
        )
    )


def lacking_bytes(unk_token: str | None) -> jeton.Tokenizer:
    """As RoBERTa's; the bytes of `東`, `x`, `,` and the line feed are no tokens."""
    tok = roberta()
    model = tok.stages.model
    assert isinstance(model, models.BPE) and model.merges is not None
    gone = {bytes([byte]) for byte in "東x,\n".encode()}
    merges = [pair for pair in model.merges if gone.isdisjoint(pair)]
    vocab = {token: id for token, id in model.vocab.items() if token not in gone}
    if unk_token is not None:
        vocab[unk_token.encode()] = tok.vocab.max_id + 1
    model = dataclasses.replace(
        model, vocab=vocab, merges=merges, unk_token=unk_token, fuse_unk=True
    )
    return tok.replace(model=model)


def spelled_bytes() -> jeton.Tokenizer:
    """As RoBERTa's, with bytes written as characters by the normalizer, before text is cut."""
    tok = roberta()
    file = json.loads(tok.to_json())
    file["normalizer"] = {"type": "ByteLevel"}
    cut = {"type": "Split", "pattern": {"String": "Ġ"}, "invert": False}
    file["pre_tokenizer"] = {**cut, "behavior": "MergedWithNext"}
    return jeton.Tokenizer.from_json(json.dumps(file))


def t5() -> jeton.Tokenizer:
    """As T5's: `</s>` after each text."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), ("▁the", -3.0)]
    pieces += [(letter, -4.0) for letter in "theawrunbl,.1x="] + [("▁un", -5.0), ("able", -6.0)]
    return jeton.Tokenizer(
        models.Unigram(pieces, unk_id=2),
        normalizer=normalizers.NFKC(),
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoders.Metaspace(),
        post_processor=post_processors.TemplateProcessing(
            "$A </s>", "$A </s> $B </s>", special_tokens={"</s>": 1}
        ),
        added_tokens=[jeton.AddedToken(name, special=True) for name in ("<pad>", "</s>", "<unk>")],
    )


def llama_2() -> jeton.Tokenizer:
    """As Llama 2's in a `tokenizer.json`: a BPE of characters with bytes for others."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens += [*"▁theawrunbl", "▁t", "he", "▁the", "er", "un", "▁un"]
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("e", "r"), ("u", "n"), ("▁", "un")]
    return jeton.Tokenizer(
        models.BPE(
            {token: id for id, token in enumerate(tokens)},
            merges=merges,
            alphabet="characters",
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        ),
        normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        decoder=decoders.Sequence(
            [
                decoders.Replace("▁", " "),
                decoders.ByteFallback(),
                decoders.Fuse(),
                decoders.Strip(" ", start=1),
            ]
        ),
        post_processor=post_processors.TemplateProcessing(
            "<s> $A", "<s> $A <s>:1 $B:1", special_tokens={"<s>": 1}
        ),
        added_tokens=[jeton.AddedToken(name, special=True) for name in ("<unk>", "<s>", "</s>")],
    )


def swapped() -> jeton.Tokenizer:
    """With the second text in front."""
    return bert().replace(
        post_processor=post_processors.TemplateProcessing(
            "$A [SEP]", "$B:1 [SEP]:1 $A [CLS]", special_tokens={"[CLS]": 1, "[SEP]": 2}
        )
    )


def bare() -> jeton.Tokenizer:
    """Without a post-processor."""
    return bert().replace(post_processor=None)


TOKENIZERS: dict[str, Callable[[], jeton.Tokenizer]] = {
    "BERT": bert,
    "GPT-2": gpt,
    "RoBERTa": roberta,
    "bytes that are unknown": lambda: lacking_bytes("<unk>"),
    "bytes that are dropped": lambda: lacking_bytes(None),
    "bytes as characters": spelled_bytes,
    "Llama 2": llama_2,
    "Llama 3": llama,
    "T5": t5,
    "the second text first": swapped,
    "no post-processor": bare,
}


def published(name: str) -> jeton.Tokenizer:
    """The tokenizer of a real vocabulary, as its models use it; or a skip where there is none."""
    needed(VOCABULARIES)
    if name == "BERT":
        return jeton.load(VOCABULARIES / "bert_uncased_vocab.txt")
    if name in ("GPT-2", "RoBERTa"):
        tok = jeton.load(VOCABULARIES / "gpt2_vocab.json", merges=VOCABULARIES / "gpt2_merges.txt")
        end: str = "<|endoftext|>"
        tok = tok.replace(roles={"pad": end})
        if name == "GPT-2":
            return tok
        return tok.replace(
            post_processor=post_processors.RobertaProcessing(
                sep=(end, tok.vocab[end]), cls=(end, tok.vocab[end])
            )
        )
    if name == "Llama 2":
        tok = jeton.load(VOCABULARIES / "llama2_sentencepiece_bpe.model")
    else:
        tok = jeton.load(VOCABULARIES / "t5_style_unigram.model").approximation("tokenizer.json")
    tok = jeton.Tokenizer.from_json(tok.to_json())
    if "</s>" not in tok.special_tokens:
        tok = tok.with_added_tokens(["</s>"])
    template = post_processors.TemplateProcessing(
        "$A </s>", "$A </s> $B </s>", special_tokens={"</s>": tok.special_tokens["</s>"]}
    )
    return tok.replace(post_processor=template)


PUBLISHED = ("BERT", "GPT-2", "RoBERTa", "Llama 2", "T5")


def theirs(tok: jeton.Tokenizer) -> Any:
    """The same tokenizer as transformers has it."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    names = ["input_ids", "token_type_ids", "attention_mask"]
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer.from_str(tok.to_json()), model_input_names=names
    )
    pad = tok.roles.get("pad") or next(
        (token for token in tok.special_tokens if "pad" in token.lower()), None
    )
    fast.pad_token = pad or next(iter(tok.special_tokens))
    fast.padding_side = "right"
    return fast


def some_text(numbers: random.Random, most: int = 12) -> str:
    """Words in a row."""
    return " ".join(numbers.choices(WORDS, k=numbers.randint(0, most)))


def some_words(numbers: random.Random, most: int = 9) -> list[str]:
    """A text as words, some of them empty or of several."""
    return numbers.choices(WORDS, k=numbers.randint(0, most))


def some_call(numbers: random.Random) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """The texts and the options of a call."""
    is_split, is_pair = numbers.random() < 0.3, numbers.random() < 0.5
    make = some_words if is_split else some_text
    text: Any = make(numbers)
    pair: Any = make(numbers) if is_pair else None
    if numbers.random() < 0.8:
        count = numbers.randint(1, 4)
        text = [make(numbers) for _ in range(count)]
        pair = [make(numbers) for _ in range(count)] if is_pair else None
        if is_pair and numbers.random() < 0.3:
            text = [
                (one, other) if numbers.random() < 0.7 or is_split else one
                for one, other in zip(text, pair, strict=True)
            ]
            pair = None
        elif is_split and not is_pair and text == [[]]:
            text = [["the"]]
    options: dict[str, Any] = {
        "is_split_into_words": is_split,
        "add_special_tokens": numbers.random() < 0.8,
        "padding": numbers.choice([False, True, "longest", "max_length", "do_not_pad"]),
        "truncation": numbers.choice(
            [None, False, True, "longest_first", "only_first", "only_second"]
        ),
        "max_length": numbers.choice([None, numbers.randint(0, 30), numbers.randint(4, 16)]),
        "stride": numbers.choice([0, 0, 1, 2, 5]),
        "pad_to_multiple_of": numbers.choice([None, None, None, 2, 8]),
        "padding_side": numbers.choice([None, "right", "left"]),
        "return_overflowing_tokens": numbers.random() < 0.5,
        "return_special_tokens_mask": numbers.random() < 0.5,
        "return_offsets_mapping": numbers.random() < 0.7,
        "return_length": numbers.random() < 0.3,
        "return_tensors": numbers.choice([None, None, "np"]),
    }
    return (text, pair), options


def quietly(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a function gives, or the exception that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **options)
        except BaseException as error:  # a panic of Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            return error


def rows_of(batch: Any) -> list[Any]:
    """The ids of a batch, row by row, whatever they are held in."""
    return [np.asarray(row).tolist() for row in batch["input_ids"]]
