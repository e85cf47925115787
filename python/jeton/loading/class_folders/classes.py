"""The known classes, each with the tokens that it has unless a folder names others.

To add a class, write its builder in the module for its kind of vocabulary, beside this one.
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


_LLAMA = _roles(unk="<unk>", bos="<s>", eos="</s>", pad=None)
_XLM_R = _roles(
    bos="<s>", eos="</s>", sep="</s>", cls="<s>", unk="<unk>", pad="<pad>", mask="<mask>"
)
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
    "Llama": KnownClass(pieces.llama, _LLAMA),
    "CodeLlama": KnownClass(
        pieces.code_llama, _LLAMA, further=("▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>")
    ),
    "Gemma": KnownClass(pieces.gemma, _roles(unk="<unk>", bos="<bos>", eos="<eos>", pad="<pad>")),
    "T5": KnownClass(pieces.t5, _roles(eos="</s>", unk="<unk>", pad="<pad>")),
    "MT5": KnownClass(pieces.t5, _roles(eos="</s>", unk="<unk>", pad="<pad>")),
    "XLMRoberta": KnownClass(pieces.xlm_roberta, _XLM_R),
    "Camembert": KnownClass(
        pieces.camembert, _XLM_R, further=("<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED")
    ),
    "MBart": KnownClass(pieces.mbart, _XLM_R),
    "MBart50": KnownClass(pieces.mbart50, _XLM_R),
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

MODEL_TYPES: Mapping[str, str] = {
    "albert": "Albert",
    "bart": "Bart",
    "bert": "Bert",
    "big_bird": "BigBird",
    "camembert": "Camembert",
    "clip": "CLIP",
    "codegen": "CodeGen",
    "ctrl": "CTRL",
    "deberta": "Deberta",
    "deberta-v2": "DebertaV2",
    "distilbert": "DistilBert",
    "electra": "Electra",
    "gemma": "Gemma",
    "gemma2": "Gemma",
    "gpt2": "GPT2",
    "led": "LED",
    "llama": "Llama",
    "longformer": "Longformer",
    "m2m_100": "M2M100",
    "marian": "Marian",
    "mbart": "MBart",
    "mistral": "Llama",
    "mixtral": "Llama",
    "mobilebert": "MobileBert",
    "mpnet": "MPNet",
    "mt5": "MT5",
    "pegasus": "Pegasus",
    "phi": "CodeGen",
    "qwen2": "Qwen2",
    "qwen2_moe": "Qwen2",
    "roberta": "Roberta",
    "t5": "T5",
    "whisper": "Whisper",
    "xlm-roberta": "XLMRoberta",
    "xlnet": "XLNet",
}
"""The class for each `model_type` of `config.json`, where `tokenizer_config.json` names none."""
