"""The known classes, each with its default tokens.

To add a class, write its builder in the module for its kind of vocabulary, in this folder.
"""

from __future__ import annotations

from collections.abc import Mapping

from jeton.loading.class_folders import merges, pieces, ranks, wordpieces
from jeton.loading.class_folders.built import KnownClass
from jeton.loading.class_folders.configuration import Token

__all__ = ["CLASSES", "MODEL_TYPES"]


def _roles(**tokens: str | None) -> dict[str, Token | None]:
    """The token of each role; a mask strips the white space in front of it."""
    roles: dict[str, Token | None] = {}
    for role, content in tokens.items():
        token: Token | None = None if content is None else {"content": content}
        if token is not None and role == "mask":
            token["lstrip"] = True
        roles[role] = token
    return roles


def _with_plain_mask(**tokens: str | None) -> dict[str, Token | None]:
    """The same, with a mask that strips nothing."""
    roles = _roles(**tokens)
    mask = roles["mask"] or {}
    return {**roles, "mask": {**mask, "lstrip": False}}


_FIRST = {"add_bos_token": "the bos token in front of a text"}
_LLAMA = _roles(unk="<unk>", bos="<s>", eos="</s>", pad=None)
_XLM_R = _roles(
    bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="<unk>", pad="<pad>", mask="<mask>"
)
_T5 = _roles(eos="</s>", unk="<unk>", pad="<pad>")
_BERT = _with_plain_mask(unk="[UNK]", sep="[SEP]", pad="[PAD]", cls="[CLS]", mask="[MASK]")
_END = "<|endoftext|>"
_GPT2 = _roles(unk=_END, bos=_END, eos=_END, pad=None)
_SEPARATED: Mapping[str, str | None] = {
    "bos": "[CLS]",
    "eos": "[SEP]",
    "sep": "[SEP]",
    "cls": "[CLS]",
    "mask": "[MASK]",
}

CLASSES: Mapping[str, KnownClass] = {
    "Llama": KnownClass(
        pieces.llama, _LLAMA, unsaid={**_FIRST, "legacy": "a space after special tokens in text"}
    ),
    "CodeLlama": KnownClass(pieces.code_llama, _LLAMA),
    "Gemma": KnownClass(
        pieces.gemma,
        _roles(unk="<unk>", bos="<bos>", eos="<eos>", pad="<pad>"),
        unsaid=_FIRST,
    ),
    "T5": KnownClass(pieces.t5, _T5),
    "MT5": KnownClass(pieces.t5, _T5),
    "XLMRoberta": KnownClass(pieces.xlm_roberta, _XLM_R),
    "Camembert": KnownClass(
        pieces.camembert, _XLM_R, further=("<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED")
    ),
    "MBart": KnownClass(pieces.mbart, _XLM_R),
    "MBart50": KnownClass(
        pieces.mbart50, {role: token for role, token in _XLM_R.items() if role != "bos"}
    ),
    "Nllb": KnownClass(pieces.nllb, _XLM_R),
    "M2M100": KnownClass(
        pieces.m2m100, _roles(bos="<s>", eos="</s>", sep="</s>", pad="<pad>", unk="<unk>")
    ),
    "Marian": KnownClass(pieces.marian, _roles(unk="<unk>", eos="</s>", pad="<pad>")),
    "Pegasus": KnownClass(
        pieces.pegasus, _with_plain_mask(pad="<pad>", eos="</s>", unk="<unk>", mask="<mask_2>")
    ),
    "BigBird": KnownClass(
        pieces.with_cls_and_sep,
        _roles(**{**_SEPARATED, "unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}),
    ),
    "DebertaV2": KnownClass(
        pieces.deberta_v2, _with_plain_mask(**{**_SEPARATED, "unk": "[UNK]", "pad": "[PAD]"})
    ),
    "Albert": KnownClass(pieces.albert, _roles(**{**_SEPARATED, "unk": "<unk>", "pad": "<pad>"})),
    "XLNet": KnownClass(
        pieces.xlnet,
        _roles(
            bos="<s>", eos="</s>", unk="<unk>", sep="<sep>", pad="<pad>", cls="<cls>", mask="<mask>"
        ),
        further=("<eop>", "<eod>"),
    ),
    "Bert": KnownClass(wordpieces.bert, _BERT),
    "DistilBert": KnownClass(wordpieces.bert, _BERT),
    "Electra": KnownClass(wordpieces.bert, _BERT),
    "MobileBert": KnownClass(wordpieces.bert, _BERT),
    "MPNet": KnownClass(
        wordpieces.mpnet,
        _roles(
            bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="[UNK]", pad="<pad>", mask="<mask>"
        ),
    ),
    "GPT2": KnownClass(merges.gpt2, _GPT2),
    "CodeGen": KnownClass(merges.gpt2, _GPT2),
    "Roberta": KnownClass(merges.roberta, _XLM_R),
    "Bart": KnownClass(merges.roberta, _XLM_R),
    "Longformer": KnownClass(merges.roberta, _XLM_R),
    "LED": KnownClass(merges.roberta, _XLM_R),
    "Deberta": KnownClass(merges.deberta, _roles(**{**_SEPARATED, "unk": "[UNK]", "pad": "[PAD]"})),
    "Qwen2": KnownClass(merges.qwen2, _roles(unk=_END, bos=None, eos=_END, pad=_END)),
    "Whisper": KnownClass(merges.whisper, _GPT2),
    "CLIP": KnownClass(merges.clip, _roles(unk=_END, bos="<|startoftext|>", eos=_END, pad=_END)),
    "CTRL": KnownClass(merges.ctrl, _roles(unk="<unk>")),
    "QWen": KnownClass(ranks.qwen),
    "TikToken": KnownClass(ranks.kimi, _roles(bos="[BOS]", eos="[EOS]", unk=None, pad=None)),
}
"""The classes by their names without `Tokenizer` and `Fast`."""

_TYPES: Mapping[str, str] = {
    "Albert": "albert nystromformer yoso",
    "Bart": "bart",
    "Bert": "bert ernie megatron-bert nezha qdqbert visual_bert",
    "BigBird": "big_bird",
    "CLIP": "clip clipseg groupvit owlvit owlv2",
    "CTRL": "ctrl",
    "Camembert": "camembert",
    "CodeGen": "codegen phi",
    "CodeLlama": "code_llama",
    "Deberta": "deberta",
    "DebertaV2": "deberta-v2",
    "DistilBert": "distilbert",
    "Electra": "electra",
    "GPT2": "gpt2 gpt_bigcode gpt_neo gptj granite granitemoe opt starcoder2",
    "Gemma": "gemma gemma2 gemma3 gemma3_text gemma3n recurrent_gemma",
    "LED": "led",
    "Llama": "llama ministral mistral mistral3 mixtral persimmon phi3 phimoe",
    "Longformer": "longformer",
    "M2M100": "m2m_100",
    "MBart": "mbart",
    "MBart50": "mbart50",
    "MPNet": "mpnet",
    "MT5": "mt5",
    "Marian": "marian",
    "MobileBert": "mobilebert",
    "Nllb": "nllb nllb-moe",
    "Pegasus": "bigbird_pegasus pegasus pegasus_x",
    "Qwen2": "qwen2 qwen2_5_vl qwen2_moe qwen2_vl qwen3 qwen3_moe qwen3_next",
    "Roberta": "data2vec-text ibert roberta roberta-prelayernorm",
    "T5": "longt5 switch_transformers t5 umt5",
    "Whisper": "whisper",
    "XLMRoberta": "xlm-roberta xlm-roberta-xl xmod",
    "XLNet": "xlnet",
}

MODEL_TYPES: Mapping[str, str] = {
    model_type: name for name, listed in _TYPES.items() for model_type in listed.split()
}
"""The class for each `model_type` of `config.json`, if `tokenizer_config.json` names none."""
