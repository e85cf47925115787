"""The known classes, each with its default tokens.

To add a class, write its builder in the module for its kind of vocabulary, in this folder.
"""

from __future__ import annotations

from collections.abc import Mapping

from jeton.loading.class_folders import (
    merge_classes,
    piece_classes,
    rank_classes,
    wordpiece_classes,
)
from jeton.loading.class_folders.configuration import Token
from jeton.loading.class_folders.known_class import KnownClass


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
        piece_classes.llama,
        _LLAMA,
        unsaid={**_FIRST, "legacy": "a space after special tokens in text"},
    ),
    "CodeLlama": KnownClass(piece_classes.code_llama, _LLAMA),
    "Gemma": KnownClass(
        piece_classes.gemma,
        _roles(unk="<unk>", bos="<bos>", eos="<eos>", pad="<pad>"),
        unsaid=_FIRST,
    ),
    "T5": KnownClass(piece_classes.t5, _T5),
    "MT5": KnownClass(piece_classes.t5, _T5),
    "XLMRoberta": KnownClass(piece_classes.xlm_roberta, _XLM_R),
    "Camembert": KnownClass(
        piece_classes.camembert, _XLM_R, further=("<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED")
    ),
    "MBart": KnownClass(piece_classes.mbart, _XLM_R),
    "MBart50": KnownClass(
        piece_classes.mbart50, {role: token for role, token in _XLM_R.items() if role != "bos"}
    ),
    "Nllb": KnownClass(piece_classes.nllb, _XLM_R),
    "M2M100": KnownClass(
        piece_classes.m2m100, _roles(bos="<s>", eos="</s>", sep="</s>", pad="<pad>", unk="<unk>")
    ),
    "Marian": KnownClass(piece_classes.marian, _roles(unk="<unk>", eos="</s>", pad="<pad>")),
    "Pegasus": KnownClass(
        piece_classes.pegasus,
        _with_plain_mask(pad="<pad>", eos="</s>", unk="<unk>", mask="<mask_2>"),
    ),
    "BigBird": KnownClass(
        piece_classes.with_cls_and_sep,
        _roles(**{**_SEPARATED, "unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}),
    ),
    "DebertaV2": KnownClass(
        piece_classes.deberta_v2, _with_plain_mask(**{**_SEPARATED, "unk": "[UNK]", "pad": "[PAD]"})
    ),
    "Albert": KnownClass(
        piece_classes.albert, _roles(**{**_SEPARATED, "unk": "<unk>", "pad": "<pad>"})
    ),
    "XLNet": KnownClass(
        piece_classes.xlnet,
        _roles(
            bos="<s>", eos="</s>", unk="<unk>", sep="<sep>", pad="<pad>", cls="<cls>", mask="<mask>"
        ),
        further=("<eop>", "<eod>"),
    ),
    "Bert": KnownClass(wordpiece_classes.bert, _BERT),
    "DistilBert": KnownClass(wordpiece_classes.bert, _BERT),
    "Electra": KnownClass(wordpiece_classes.bert, _BERT),
    "MobileBert": KnownClass(wordpiece_classes.bert, _BERT),
    "MPNet": KnownClass(
        wordpiece_classes.mpnet,
        _roles(
            bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="[UNK]", pad="<pad>", mask="<mask>"
        ),
    ),
    "GPT2": KnownClass(merge_classes.gpt2, _GPT2),
    "CodeGen": KnownClass(merge_classes.gpt2, _GPT2),
    "Roberta": KnownClass(merge_classes.roberta, _XLM_R),
    "Bart": KnownClass(merge_classes.roberta, _XLM_R),
    "Longformer": KnownClass(merge_classes.roberta, _XLM_R),
    "LED": KnownClass(merge_classes.roberta, _XLM_R),
    "Deberta": KnownClass(
        merge_classes.deberta, _roles(**{**_SEPARATED, "unk": "[UNK]", "pad": "[PAD]"})
    ),
    "Qwen2": KnownClass(merge_classes.qwen2, _roles(unk=_END, bos=None, eos=_END, pad=_END)),
    "Whisper": KnownClass(merge_classes.whisper, _GPT2),
    "CLIP": KnownClass(
        merge_classes.clip, _roles(unk=_END, bos="<|startoftext|>", eos=_END, pad=_END)
    ),
    "CTRL": KnownClass(merge_classes.ctrl, _roles(unk="<unk>")),
    "QWen": KnownClass(rank_classes.qwen),
    "TikToken": KnownClass(rank_classes.kimi, _roles(bos="[BOS]", eos="[EOS]", unk=None, pad=None)),
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
